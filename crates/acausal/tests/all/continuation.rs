//! Checkpoints and continuation, Ctrl-C, statistics and traces: through the command, as a user would.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::command::Place;

/// States, algebraic loops, discrete variables, samples, delays, transport and a relation that changes.
const BUSY: &str = "model Busy
  Real x(start = 1, fixed = true), v(start = 0, fixed = true), z(start = 0.5), d, left, right;
  Integer n(start = 0, fixed = true);
  discrete Real held(start = 0, fixed = true);
  parameter Real k = 9;
equation
  der(x) = v;
  der(v) = -k*x - 0.2*v + (if x > 0.3 then 1 else 0) + 0.1*d;
  z + 0.3*sin(z) = x;
  d = delay(z, 0.15);
  (left, right) = spatialDistribution(sin(20*time), z, 3*x, v >= 0, {0, 0.5, 1}, {1, 2, 0});
  when sample(0.05, 0.3) then n = pre(n) + 1; held = x; end when;
  when x < -0.5 then reinit(v, v + 0.1); end when;
end Busy;
";

/// Rows of a CSV file as texts.
fn rows(place: &Place, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(place.path(file)).unwrap();
    text.lines().skip(1).map(str::to_string).collect()
}

/// Column of a CSV file.
fn column(place: &Place, file: &str, name: &str) -> Vec<(f64, f64)> {
    let text = std::fs::read_to_string(place.path(file)).unwrap();
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let k = header.iter().position(|h| h.trim_matches('"') == name);
    let k = k.unwrap_or_else(|| panic!("{name} in {header:?}"));
    text.lines()
        .skip(1)
        .map(|l| {
            let cells: Vec<&str> = l.split(',').collect();
            (cells[0].parse().unwrap(), cells[k].parse().unwrap())
        })
        .collect()
}

#[test]
fn a_continuation_is_bitwise_the_run_that_passed_the_checkpoint() {
    let place = Place::with("Busy.mo", BUSY);
    let run = |arguments: &[&str]| {
        let all: Vec<&str> = ["simulate", "Busy.mo", "--quiet", "--interval", "0.01"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        place.acausal(&all).code(0);
    };
    run(&["--stop", "2", "--output", "straight.csv"]);
    run(&[
        "--stop",
        "2",
        "--output",
        "passed.csv",
        "--checkpoint",
        "passed.state",
        "--checkpoint-at",
        "1",
    ]);
    run(&[
        "--stop",
        "1",
        "--output",
        "first.csv",
        "--checkpoint",
        "one.state",
    ]);
    run(&[
        "--from",
        "one.state",
        "--until",
        "2",
        "--output",
        "second.csv",
    ]);
    // The state on the way and at an end are the same, and so is everything after it.
    let text = |f: &str| std::fs::read_to_string(place.path(f)).unwrap();
    assert_eq!(text("passed.state"), text("one.state"));
    let passed = rows(&place, "passed.csv");
    let second = rows(&place, "second.csv");
    assert!(second.len() > 100, "{}", second.len());
    // The first row of the second file repeats the last one of the first; the row on the way may be interpolated.
    let skip = second.len() - 1;
    assert!(passed[passed.len() - skip..] == second[1..]);
    // And within the tolerance it is the run without a stop.
    let (straight, second) = (
        column(&place, "straight.csv", "x"),
        column(&place, "second.csv", "x"),
    );
    let end = |c: &[(f64, f64)]| c.last().copied().unwrap();
    assert!((end(&straight).1 - end(&second).1).abs() < 1e-4);
    assert_eq!(
        end(&column(&place, "straight.csv", "n")),
        end(&column(&place, "second.csv", "n"))
    );
}

/// Two brakes hold a shaft and leave open how they share its torque. A continuation finds that out again.
#[test]
fn what_is_open_stays_so_in_a_continuation() {
    let place = Place::with("Brakes.mo", include_str!("common/Brakes.mo"));
    let run = |arguments: &[&str]| {
        let first = ["simulate", "Brakes.mo", "--quiet", "--interval", "0.1"];
        let all: Vec<&str> = first.iter().chain(arguments).copied().collect();
        place.acausal(&all).code(0);
    };
    run(&["--stop", "0.5", "-o", "first.csv", "--checkpoint", "half"]);
    run(&["--from", "half", "--until", "2", "-o", "second.csv"]);
    run(&[
        "--stop",
        "2",
        "-o",
        "passed.csv",
        "--checkpoint",
        "passed",
        "--checkpoint-at",
        "0.5",
    ]);
    let (passed, second) = (rows(&place, "passed.csv"), rows(&place, "second.csv"));
    assert!(passed[passed.len() - second.len() + 1..] == second[1..]);
    let tau = column(&place, "second.csv", "tau1");
    let held = tau.iter().filter(|(t, _)| *t < 0.95);
    assert!(held.clone().count() > 3);
    for (t, tau) in held {
        assert!((tau - 2.0 - t / 2.0).abs() < 1e-6, "{tau} at {t}");
    }
    let w = column(&place, "second.csv", "w").last().copied().unwrap();
    assert!((w.1 - 1.75).abs() < 1e-5, "{w:?}");
}

#[test]
fn a_continuation_may_have_other_parameters() {
    let place = Place::with("Busy.mo", BUSY);
    place
        .acausal(&[
            "simulate",
            "Busy.mo",
            "--stop",
            "1",
            "--no-output",
            "--checkpoint",
            "s",
            "--quiet",
        ])
        .code(0);
    place
        .acausal(&[
            "simulate", "Busy.mo", "--from", "s", "--stop", "2", "--set", "k=1", "--quiet",
        ])
        .code(0);
    let x = column(&place, "Busy.csv", "x");
    assert_eq!(x[0].0, 1.0);
    assert_eq!(x.last().unwrap().0, 2.0);
}

#[test]
fn a_checkpoint_that_does_not_fit_is_refused() {
    let place = Place::with("Busy.mo", BUSY);
    place.write(
        "Other.mo",
        "model Other Real x(start = 1, fixed = true); equation der(x) = -x; end Other;",
    );
    place
        .acausal(&[
            "simulate",
            "Busy.mo",
            "--stop",
            "1",
            "--no-output",
            "--checkpoint",
            "s",
            "--quiet",
        ])
        .code(0);
    place
        .acausal(&["simulate", "Other.mo", "--from", "s", "--stop", "2"])
        .code(2)
        .complains(&["the checkpoint is of `Busy`", "does not fit `Other`"]);
    place
        .acausal(&["simulate", "Busy.mo", "--from", "s", "--stop", "0.5"])
        .code(2)
        .complains(&["lies before the time 1 of the checkpoint"]);
    place.write("cut", &std::fs::read(place.path("s")).unwrap()[..200]);
    place
        .acausal(&["simulate", "Busy.mo", "--from", "cut", "--stop", "2"])
        .code(2)
        .complains(&["cut cannot be read", "not complete"]);
    place
        .acausal(&["simulate", "Busy.mo", "--from", "Busy.mo", "--stop", "2"])
        .code(2)
        .complains(&["no checkpoint"]);
    place
        .acausal(&[
            "simulate",
            "Busy.mo",
            "--checkpoint",
            "t",
            "--checkpoint-at",
            "7",
            "--stop",
            "2",
        ])
        .code(2)
        .complains(&["the checkpoint at 7 lies outside"]);
}

/// Ctrl-C in the middle: the result up to there is a valid file, the state can be continued, the exit code is that of
/// the signal.
#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_computed() {
    let place = Place::with("Busy.mo", BUSY);
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_acausal"))
        .args([
            "simulate",
            "Busy.mo",
            "--stop",
            "1e5",
            "--interval",
            "0.01",
            "--checkpoint",
            "s",
        ])
        .current_dir(place.path(""))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Until the run is under way.
    let partial = || {
        place.files().iter().any(|f| {
            f.contains("csv") && std::fs::metadata(place.path(f)).is_ok_and(|m| m.len() > 100_000)
        })
    };
    for _ in 0..600 {
        if partial() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert!(partial(), "{:?}", place.files());
    std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains("interrupted at time = "), "{out}");
    assert!(out.contains("result: Busy.partial.csv"), "{out}");
    let x = column(&place, "Busy.partial.csv", "x");
    assert!(x.len() > 100);
    // From there it goes on.
    let reached: f64 = std::fs::read_to_string(place.path("s"))
        .unwrap()
        .lines()
        .find_map(|l| l.strip_prefix("time 1 "))
        .unwrap()
        .parse()
        .unwrap();
    assert!(reached >= x.last().unwrap().0);
    let stop = (reached + 1.0).to_string();
    place
        .acausal(&[
            "simulate", "Busy.mo", "--from", "s", "--until", &stop, "--quiet",
        ])
        .code(0);
}

#[test]
fn statistics_name_what_limits_the_step() {
    let place = Place::with(
        "Robertson.mo",
        "model Robertson Real a(start = 1, fixed = true), b(start = 0, fixed = true), c(start = 0, fixed = true); equation
         der(a) = -0.04*a + 1e4*b*c; der(b) = 0.04*a - 1e4*b*c - 3e7*b^2; der(c) = 3e7*b^2;
         annotation(experiment(StopTime = 1000, Tolerance = 1e-8)); end Robertson;",
    );
    let said = place
        .acausal(&["simulate", "Robertson.mo", "--stats", "--no-output"])
        .code(0);
    for part in [
        "steps by order",
        "corrector iterations",
        "refused steps",
        "Jacobian               3 x 3, 8 entries",
        "factors",
        "seconds of integrate   residual",
        "indicators",
    ] {
        assert!(said.out.contains(part), "{part} in\n{}", said.out);
    }
    let json = place
        .acausal(&[
            "simulate",
            "Robertson.mo",
            "--stats",
            "--no-output",
            "--format",
            "json",
        ])
        .code(0)
        .json();
    let orders = json["statistics"]["steps_by_order"].as_array().unwrap();
    let total: u64 = orders.iter().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(Some(total), json["steps"].as_u64());
    let failures: u64 = json["statistics"]["limiting"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| {
            assert!(
                ["a", "b", "c"].contains(&e["name"].as_str().unwrap()),
                "{e}"
            );
            e["count"].as_u64().unwrap()
        })
        .sum();
    assert_eq!(Some(failures), json["error_test_failures"].as_u64());
    assert_eq!(json["statistics"]["jacobian_entries"], 8);
}

#[test]
fn a_trace_tells_steps_iterations_and_events() {
    let place = Place::with("Busy.mo", BUSY);
    let said = place
        .acausal(&[
            "simulate",
            "Busy.mo",
            "--no-output",
            "--quiet",
            "--log",
            "steps,events,nonlinear",
        ])
        .code(0);
    for part in [
        "step from 0 h ",
        "order 1",
        "  new Jacobian",
        "  iteration 1: correction ",
        "of the tolerance, largest in ",
        "event at ",
        "`x > 0.3` is now false",
        "no relation changed",
    ] {
        assert!(
            said.err.contains(part),
            "{part} in\n{}",
            &said.err[..said.err.len().min(3000)]
        );
    }
}

/// Two tables; what one of them holds depends on a parameter that the start computes.
const TABLES: &str = r#"package P
  class Curve
    extends ExternalObject;
    function constructor
      input Real slope;
      output Curve curve;
      external "C" curve = ModelicaStandardTables_CombiTable1D_init3("NoName", "NoName", {{0, 0}, {1, slope}}, 2,
        2, {2}, 1, 1, 2, false, ",", 0);
    end constructor;
    function destructor
      input Curve curve;
      external "C" ModelicaStandardTables_CombiTable1D_close(curve);
    end destructor;
  end Curve;
  function value
    input Curve curve;
    input Real u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(curve, 1, u);
  end value;
  model Given
    Curve a = Curve(2), b = Curve(5);
    Real x(start = 1, fixed = true), y = value(a, time), z = value(b, time);
  equation
    der(x) = -x*y + sin(z);
  end Given;
  model Computed
    extends Given;
    parameter Real p(start = 1, fixed = false);
    Curve c = Curve(p);
    Real w = value(c, time);
  initial equation
    p*p = 9;
  end Computed;
end P;
"#;

#[test]
fn tables_are_made_again_by_a_continuation() {
    let place = Place::with("P.mo", TABLES);
    for model in ["P.Given", "P.Computed"] {
        let run = |arguments: &[&str]| {
            let first = ["simulate", "P.mo", "--model", model, "--quiet"];
            let interval = ["--stop", "2", "--interval", "0.1"];
            let all = [&first[..], &interval, arguments].concat();
            place.acausal(&all).code(0);
        };
        let at = ["--checkpoint", "at.state", "--checkpoint-at", "1"];
        run(&[&["--output", "passed.csv"], &at[..]].concat());
        run(&["--output", "rest.csv", "--from", "at.state"]);
        let slopes: &[_] = match model {
            "P.Given" => &[("y", 2.0), ("z", 5.0)],
            _ => &[("y", 2.0), ("z", 5.0), ("w", 3.0)],
        };
        for (name, slope) in slopes {
            let values = column(&place, "rest.csv", name);
            assert_eq!(values.len(), 11);
            for (t, v) in values {
                assert!((v - slope * t).abs() < 1e-12, "{model} {name} at {t}: {v}");
            }
        }
        if model == "P.Given" {
            let passed = rows(&place, "passed.csv");
            let rest = rows(&place, "rest.csv");
            assert_eq!(passed[passed.len() - rest.len()..], rest);
        }
    }
}
