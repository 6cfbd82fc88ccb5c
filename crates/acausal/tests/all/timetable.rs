//! Relations of `time` whose instants are known before the start: the work they cost, and that they mean what all relations mean.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::{last, run_text, values};
use acausal::{InMemory, Settings};

fn until(start: f64, stop: f64) -> Settings {
    Settings {
        start,
        stop,
        interval: 0.25,
        ..Settings::default()
    }
}

/// `n` Booleans that are declared one by one; each becomes true at an instant of its own.
fn declared(n: usize) -> String {
    let one = |k: usize| format!("Boolean b{k} = time > {k}/{n};");
    let all: String = (1..n).map(one).collect();
    format!("model M {all} end M;")
}

/// The same as an array.
fn array(n: usize) -> String {
    format!(
        "model M Boolean b[{n}]; equation for i in 1:{n} loop b[i] = time > i/({n} + 1); end for; end M;"
    )
}

/// A function of time with `n` steps, and a state that it drives.
fn steps(n: usize) -> String {
    let branch = |k: usize| format!("if time < {k}/{n} then {k} else");
    let all: String = (1..n).map(branch).collect::<Vec<_>>().join(" ");
    format!(
        "model M Real y = {all} {n}; Real x(start = 0, fixed = true); equation der(x) = y; end M;"
    )
}

/// Relations and assignments that are evaluated at the events of a run.
fn work(text: &str) -> f64 {
    let run = run_text(text, &until(0.0, 1.0));
    run.summary.profile.event_evaluations as f64
}

/// An event costs what depends on the relation that changes: four times the relations, each with its event, are four times
/// the work. (If every event evaluated all relations, it would be sixteen times.)
#[test]
fn the_work_of_an_event_does_not_depend_on_the_number_of_relations() {
    for model in [declared, array, steps] {
        let (some, many) = (work(&model(100)), work(&model(400)));
        assert!(many < 4.5 * some, "{some} and {many}: {}", model(3));
    }
}

/// The other relations of a model do not bring those of `time` back into the iteration.
#[test]
fn other_events_do_not_evaluate_relations_of_time() {
    // Some 20 events of x, 400 relations of time of which none is reached.
    let idle: String = (0..400)
        .map(|k| format!("Boolean b{k} = time > {};", 10 + k))
        .collect();
    let text = |idle: &str| {
        format!(
            "model M {idle} Real x(start = 0, fixed = true), v(start = 1, fixed = true); Boolean up = x > 0;
             equation der(x) = v; der(v) = -3600*x; end M;"
        )
    };
    let (alone, beside) = (work(&text("")), work(&text(&idle)));
    // Each of the 400 relations and Booleans is evaluated a few times at the start.
    assert!(beside < alone + 3.0 * 800.0, "{alone} and {beside}");
}

/// The sum of the steps k/n * 1/n: what drives x is right at every instant.
#[test]
fn steps_drive_a_state() {
    let run = run_text(&steps(50), &until(0.0, 1.0));
    let expected: f64 = (1..=50).map(|k| f64::from(k) / 50.0).sum();
    assert!(
        (last(&run, "x") - expected).abs() < 1e-6,
        "{}",
        last(&run, "x")
    );
}

/// Each relation stands beside one with the same threshold in a discrete variable, which takes part in the event iteration as all
/// relations do: every row is the same, on both sides of every event, and so is what is computed from them.
#[test]
fn relations_of_the_timetable_mean_what_others_mean() {
    let relations = [
        "time > C",
        "time >= C",
        "time < C",
        "C <= time",
        "-2*time > -2*C",
        "3*time - C >= 2*C",
        "not time < C",
        "time > C and time < C + 0.5",
    ];
    // Before and at the start, between, equal to 0.3 but for rounding, on a row, at the end and behind it.
    let instants = ["-1", "0", "0.3", "3*0.1", "0.5", "0.7", "2", "3"];
    for relation in relations {
        let mut text = String::from("model M parameter Real p[8] = {");
        text += &instants.join(", ");
        text += "}; Real x(start = 0, fixed = true);";
        for (k, _) in instants.iter().enumerate() {
            let written = relation.replace('C', &format!("p[{}]", k + 1));
            let held = relation.replace('C', &format!("c{k}"));
            text += &format!(
                "discrete Real c{k}(start = p[{n}], fixed = true);
                 Boolean a{k} = {written}; Boolean b{k} = {held};
                 Integer i{k} = if a{k} then 7 else -7; Integer j{k} = if b{k} then 7 else -7;
                 Real y{k} = (if a{k} then 2 else 3)*p[1] + i{k}; Real z{k} = (if b{k} then 2 else 3)*p[1] + j{k};
                 discrete Real s{k}(start = -1, fixed = true), t{k}(start = -1, fixed = true);",
                n = k + 1
            );
        }
        text += "equation der(x) = y2 - z2;";
        for (k, _) in instants.iter().enumerate() {
            text += &format!(
                "when x > 10 then c{k} = pre(c{k}) + 1; end when;
                 when a{k} then s{k} = time + i{k}; end when; when b{k} then t{k} = time + j{k}; end when;"
            );
        }
        text += "end M;";
        for (start, stop) in [(0.0, 2.0), (0.5, 1.0), (-1.5, 0.3)] {
            let run = run_text(&text, &until(start, stop));
            for (k, c) in instants.iter().enumerate() {
                for (known, held) in [("a", "b"), ("i", "j"), ("y", "z"), ("s", "t")] {
                    let (known, held) = (format!("{known}{k}"), format!("{held}{k}"));
                    let (a, b) = (values(&run, &known), values(&run, &held));
                    assert_eq!(
                        a, b,
                        "{known} of `{relation}` with {c} from {start} to {stop}"
                    );
                }
            }
            assert_eq!(last(&run, "x"), 0.0);
        }
    }
}

/// Left limits and edges of variables that follow from time alone see both sides of the event.
#[test]
fn left_limits_of_the_timetable() {
    let text = "model M
        Boolean b = time > 0.3; Boolean c = time > 0.6; Boolean d = b and not c;
        Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
      equation
        when {edge(b), edge(c)} then n = pre(n) + 1; end when;
        when change(d) then m = pre(m) + (if pre(d) then 10 else 1); end when;
      end M;";
    let run: InMemory = run_text(text, &until(0.0, 1.0));
    assert_eq!((last(&run, "n"), last(&run, "m")), (2.0, 11.0));
    assert_eq!(run.summary.events, 2);
}

/// Thresholds that the start determines are known only when it has been solved.
#[test]
fn thresholds_that_the_start_determines() {
    let text = "model M
        parameter Real T(fixed = false, start = 1); parameter Real k = 2;
        Boolean b = time > T; Boolean c = time > k*T; Boolean d = time > 0.1;
        Real x(start = 0, fixed = true), y(start = 0, fixed = true);
      initial equation
        T^3 = 0.027;
      equation
        der(x) = if b then 1 else 0; der(y) = if c and d then 1 else 0;
      end M;";
    let run = run_text(text, &until(0.0, 1.0));
    assert!((last(&run, "x") - 0.7).abs() < 1e-6, "{}", last(&run, "x"));
    assert!((last(&run, "y") - 0.4).abs() < 1e-6, "{}", last(&run, "y"));
}

/// What follows from the timetable and is no number is an error at its instant, as everywhere.
#[test]
fn what_is_no_number_is_found() {
    let text = "model M parameter Real zero = 0; Real y = (if time > 0.5 then 1 else 0)/(if time > 0.5 then zero else 1);
        Real x(start = 0, fixed = true); equation der(x) = 1; end M;";
    let model = acausal::Model::from_text("Test.mo", text, &acausal::Load::default()).unwrap();
    let Err(failure) = model.simulate_in_memory(&until(0.0, 1.0)) else {
        panic!("no error");
    };
    let message = failure.to_string();
    assert!(
        message.contains("0.5") && message.contains('y'),
        "{message}"
    );
}
