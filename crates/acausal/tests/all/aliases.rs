//! Variables that equal others are taken out of the structural analysis. That changes neither trajectories nor messages, whatever the model:
//! with and without it they are the same.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::every::{examples, same};
use acausal::{Failure, InMemory, Load, Model};
use acausal_index1::{Aliases, Options};

/// With aliases taken out, or left in.
fn options(keep_aliases: bool) -> Options {
    Options {
        aliases: match keep_aliases {
            true => Aliases::None,
            false => Aliases::All,
        },
        ..Options::default()
    }
}

fn run(text: &str, load: &Load, keep: bool, stop: f64) -> Result<InMemory, Failure> {
    let load = Load {
        structure: options(keep),
        ..load.clone()
    };
    let model = Model::from_text("Test.mo", text, &load)?;
    let mut settings = model.settings();
    settings.tolerance = 1e-9;
    settings.max_steps = 200_000;
    settings.stop = settings.stop.min(settings.start + stop);
    settings.interval = (settings.stop - settings.start) / 19.37;
    model.simulate_in_memory(&settings)
}

#[test]
fn every_example_gives_the_same_trajectories() {
    for example in examples() {
        let text = example.text();
        let [a, b] = [true, false].map(|keep| run(&text, &example.load, keep, example.stop));
        if let (Err(a), Err(b)) = (&a, &b) {
            assert_eq!(a.to_string(), b.to_string(), "{}", example.file);
        }
        same(&example.file, &a, &b, 1e-5);
        if let (Ok(a), Ok(b)) = (&a, &b) {
            let names = |r: &InMemory| -> Vec<String> {
                r.result.signals().iter().map(|s| s.name.clone()).collect()
            };
            assert_eq!(names(a), names(b), "{}", example.file);
        }
    }
}

const CLASSES: &str = "
  connector Pin Real v; flow Real i; end Pin;
  model Resistor Pin p, n; parameter Real R = 1; equation p.v - n.v = R*p.i; p.i + n.i = 0; end Resistor;
  model Capacitor Pin p, n; parameter Real C = 1; Real v(start = 0, fixed = true);
    equation v = p.v - n.v; C*der(v) = p.i; p.i + n.i = 0; end Capacitor;
  model Source Pin p, n; equation p.v - n.v = 1; p.i + n.i = 0; end Source;
  model Ground Pin p; equation p.v = 0; end Ground;
  model Wire Pin p, n; equation p.v = n.v; p.i + n.i = 0; end Wire;
";

fn circuit(body: &str) -> String {
    format!("model Test {CLASSES} {body} end Test;")
}

/// Numbers of unknowns, and of equations that the analysis sees: those that are no assignments of an alias.
fn sizes(text: &str, keep: bool) -> (usize, usize) {
    let mut libraries = acausal_instance::class::Libraries::new();
    libraries.load_text("Test.mo", text).unwrap();
    let (flat, _) = acausal_flatten::flatten(&mut libraries, "Test", &[]).unwrap();
    let all = flat.equations.len();
    let (dae, _) = acausal_index1::transform_noted(flat, &options(keep)).unwrap();
    let aliases = dae.flat.vars.iter().filter(|v| v.alias).count();
    (dae.len(), all - aliases)
}

#[test]
fn a_circuit_is_reduced_to_its_branches_and_nodes() {
    let text = circuit(
        "Source u; Resistor r1, r2(R = 2); Wire w; Capacitor c1, c2(C = 3); Ground g; equation
         connect(u.p, r1.p); connect(r1.n, c1.p); connect(r1.n, w.p); connect(w.n, r2.p); connect(r2.n, c2.p);
         connect(u.n, g.p); connect(c1.n, g.p); connect(c2.n, g.p);",
    );
    let (whole, reduced) = (sizes(&text, true), sizes(&text, false));
    assert_eq!((whole.0, reduced.0), (2, 2));
    // 27 scalars: per element a law and `p.i + n.i = 0`, the latter an alias; eight connections, all of them with equal potentials,
    // and of the five sums of currents those at two pins.
    assert!(
        whole.1 >= 27 && reduced.1 <= 13,
        "{} equations, {} without aliases",
        whole.1,
        reduced.1
    );
    let [a, b] = [true, false].map(|keep| run(&text, &Load::default(), keep, 3.0));
    same("circuit", &a, &b, 1e-6);
}

/// What the user is told does not show that anything was taken out.
#[test]
fn messages_speak_of_the_equations_as_written() {
    for (what, body) in [
        (
            "a loop of wires: one balance is redundant, a current is free",
            "Source u; Wire a, b; Resistor r; Ground g; equation connect(u.p, a.p); connect(u.p, b.p);
             connect(a.n, r.p); connect(b.n, r.p); connect(r.n, g.p); connect(u.n, g.p);",
        ),
        (
            "no ground",
            "Source u; Resistor r; equation connect(u.p, r.p); connect(u.n, r.n);",
        ),
        (
            "two sources in parallel",
            "Source u, w; Resistor r; Ground g; equation connect(u.p, w.p); connect(u.n, w.n);
             connect(u.p, r.p); connect(r.n, g.p); connect(u.n, g.p);",
        ),
        (
            "a source that is short-circuited",
            "Source u; Wire w; Ground g; equation connect(u.p, w.p); connect(u.n, w.n); connect(u.n, g.p);",
        ),
        (
            "an equation too many and one too few",
            "Real x, y, z; equation x = y; x = -y; x = time;",
        ),
    ] {
        let text = circuit(body);
        let told = |keep| match run(&text, &Load::default(), keep, 1.0) {
            Ok(run) => {
                let texts: Vec<&String> = run.summary.warnings.iter().collect();
                format!("{texts:?}")
            }
            Err(f) => f.to_string(),
        };
        let notes = |keep| {
            let load = Load {
                structure: options(keep),
                ..Load::default()
            };
            match Model::from_text("Test.mo", &text, &load) {
                Ok(m) => {
                    let w = m.warnings.iter();
                    w.map(|d| d.render(&m.sources, false)).collect::<String>()
                }
                Err(f) => f.to_string(),
            }
        };
        assert_eq!(told(true), told(false), "{what}");
        assert_eq!(notes(true), notes(false), "{what}");
    }
}

/// What is said about a variable decides whether it can be replaced.
#[test]
fn states_starts_and_preferences_stay() {
    for body in [
        // The alias has the start value.
        "Real x, y(start = 2, fixed = true); equation der(x) = -x; y = x;",
        "Real x(start = 1), y(start = 2, fixed = true); equation der(x) = -x; y = -x;",
        // Both are differentiated: index two.
        "Real x(start = 1, fixed = true), p, q, y, f; equation der(x) = f; 2*der(y) = -f - y; x = p; p = q; q = y;",
        // The alias is the state.
        "Real x, y(stateSelect = StateSelect.always, start = 3, fixed = true); equation der(x) = -x; x + y = 0;",
        // Set anew through an alias.
        "Real x(start = 1, fixed = true), y; equation der(x) = 1; y = x; when y > 1.5 then reinit(x, 0); end when;",
        "Real x, y(start = 1, fixed = true); equation der(x) = 1; y = x; when x > 1.5 then reinit(y, 0); end when;",
        // The initial equations ask for the derivative of an alias.
        "Real x, y; initial equation der(y) = 2; equation der(x) = -x; y = x;",
        // Read by a discrete equation, an assertion and a clause.
        "Real x(start = 0, fixed = true), y; Boolean b; discrete Real z(start = 0, fixed = true); equation der(x) = 1; y = -x;
         b = y < -0.5; assert(y > -10, \"far\"); when b then z = y; end when;",
    ] {
        let text = format!("model Test {body} end Test;");
        let [a, b] = [true, false].map(|keep| run(&text, &Load::default(), keep, 1.0));
        if let Err(f) = &a {
            panic!("{body}: {f}");
        }
        same(body, &a, &b, 1e-6);
    }
}

/// The variables that are taken out of a model, by name, for a size of its arrays.
fn taken_out(body: &str, n: usize) -> Vec<String> {
    let mut libraries = acausal_instance::class::Libraries::new();
    let text = format!("model Test parameter Integer n = {n}; {body} end Test;");
    libraries.load_text("Test.mo", &text).unwrap();
    let (flat, _) = acausal_flatten::flatten(&mut libraries, "Test", &[]).unwrap();
    let (dae, _) = acausal_index1::transform_noted(flat, &options(false)).unwrap();
    let aliases = dae.flat.vars.iter().filter(|v| v.alias);
    let mut names: Vec<String> = aliases.map(|v| v.name.plain()).collect();
    names.sort();
    names
}

/// Arrays as a whole, whatever their length, and with the trajectories of the model as it is written, whole and element by element.
#[test]
fn arrays_are_taken_out_like_scalars() {
    let x = "Real x[n](start = {i for i in 1:n}, each fixed = true)";
    for (body, expected) in [
        (format!("{x}, y[n], z[n]; equation y = x; z = -y; for i in 1:n loop der(x[i]) = z[i] + i; end for;"), "y z"),
        (format!("{x}, y[n]; equation for i in 1:n loop y[i] = -x[n + 1 - i]; der(x[i]) = y[i] + i; end for;"), "y"),
        // A map after a map: z[i] = -x[i].
        (
            format!("{x}, y[n], z[n]; equation for i in 1:n loop y[i] = x[n + 1 - i]; z[n + 1 - i] = -y[i]; der(x[i]) = z[i] + i; end for;"),
            "y z",
        ),
        // A section of a longer array, and every second element of one.
        ("Real x[n + 1](start = {i for i in 1:n + 1}, each fixed = true), y[n]; equation
          for i in 1:n loop y[i] = x[i + 1]; der(x[i]) = -y[i]; end for; der(x[n + 1]) = 1;".into(), "y"),
        ("Real x[2*n](start = {i for i in 1:2*n}, each fixed = true), y[n]; equation
          for i in 1:n loop y[i] = x[2*i]; der(x[2*i]) = -y[i]; der(x[2*i - 1]) = y[i]; end for;".into(), "y"),
        // Given in two parts, the second one an element.
        (
            format!("{x}, y[n]; equation for i in 1:n - 1 loop y[i] = x[i]; end for; y[n] = x[n]; for i in 1:n loop der(x[i]) = -i*y[i]; end for;"),
            "y",
        ),
        // Two parts with different maps.
        (
            format!("{x}, y[n]; equation for i in 1:n - 1 loop y[i] = x[i + 1]; end for; y[n] = x[1]; for i in 1:n loop der(x[i]) = -i*y[i]; end for;"),
            "",
        ),
        // One value for all elements, and an element for a scalar.
        ("Real s(start = 1, fixed = true), y[n], t; equation for i in 1:n loop y[i] = s; end for; der(s) = -sum(y); t = y[3];".into(), "t y"),
        ("Real a[n, 4](start = fill(1, n, 4), each fixed = true), b[4, n]; equation
          for i in 1:n, j in 1:4 loop b[j, i] = -a[i, j]; der(a[i, j]) = i*b[j, i] + j; end for;".into(), "b"),
        // What closes a cycle of maps stays: x[i] = x[i + 1].
        (
            "Real x[n], y[n]; equation for i in 1:n loop y[i] = x[i]; end for; for i in 1:n - 1 loop x[i] = y[i + 1]; end for; x[n] = time;".into(),
            "y",
        ),
        // p is -x altogether, but for the last element by way of h, as in a connection set.
        (
            format!("{x}, h[n], p[n]; equation h[1] = time; for i in 2:n loop h[i] = -p[i - 1]; h[i] = x[i - 1]; end for; p[n] = -x[n];
                     for i in 1:n loop der(x[i]) = h[i] + p[i]; end for;"),
            "p",
        ),
        // The same without a last element, and with another sign of it: nothing is given altogether.
        (
            format!("{x}, h[n], p[n]; equation h[1] = time; for i in 2:n loop h[i] = -p[i - 1]; h[i] = x[i - 1]; end for; p[n] = x[n];
                     for i in 1:n loop der(x[i]) = h[i] + p[i]; end for;"),
            "",
        ),
        // Read by a clause, an assertion, an initial equation, and with a subscript that changes.
        (
            "Real x[n](each start = 1), y[n], s, t; Boolean b; Integer k; discrete Real z(start = 0, fixed = true); initial equation y = fill(-1, n);
             equation y = -x; for i in 1:n loop der(x[i]) = i; end for; k = if time > 0.5 then 2 else 1; s = y[k] + t; t = sum(y[i]^2 for i in 1:n);
             b = y[2] < -2; when b then z = y[1]; end when; assert(y[1] > -10, \"far\");".into(),
            "y",
        ),
        // What is said stays: other starts, a derivative, a wish.
        (format!("{x}, y[n](start = {{2*i for i in 1:n}}); equation y = x; der(x) = -y;"), ""),
        (format!("{x}, y[n](start = {{i for i in 1:n}}); equation y = x; der(x) = -y;"), "y"),
        (format!("{x}, y[n](start = {{-i for i in 1:n}}); equation y = -x; der(x) = y;"), "y"),
        (format!("{x}, y[n](start = {{i for i in 1:n}}); equation y = -x; der(x) = y;"), ""),
        (format!("{x}, y[n](start = {{n + 1 - i for i in 1:n}}); equation for i in 1:n loop y[i] = x[n + 1 - i]; der(x[i]) = -y[i]; end for;"), "y"),
        (format!("{x}, y[n](each stateSelect = StateSelect.avoid); equation y = x; der(x) = -y;"), ""),
        ("Real x[n](each start = 1, each fixed = true), y[n], z[n]; equation y = x; der(y) = -z; z = y;".into(), "z"),
    ] {
        for n in [5, 1000] {
            assert_eq!(taken_out(&body, n).join(" "), expected, "{body}");
        }
        let text = format!("model Test parameter Integer n = 5; {body} end Test;");
        let [a, b] = [true, false].map(|keep| run(&text, &Load::default(), keep, 1.0));
        if let Err(f) = &a {
            panic!("{body}: {f}");
        }
        same(&body, &a, &b, 1e-6);
        let mut load = Load::default();
        load.structure.scalarise = true;
        same(&body, &run(&text, &load, true, 1.0), &b, 1e-6);
    }
}

/// The last section of a ladder is a piece of its own. It is solved for like the others, at any length: 3,001 unknowns would have been one more than states, and no
/// band of three diagonals.
#[test]
fn a_piece_of_one_element_is_solved_for_like_the_rest() {
    let ladder = include_str!("../../../../examples/RCLadder.mo");
    for n in [20, 600, 3000] {
        let text = ladder.replace(
            "parameter Integer N = 20",
            &format!("parameter Integer N = {n}"),
        );
        let mut libraries = acausal_instance::class::Libraries::new();
        libraries.load_text("RCLadder.mo", &text).unwrap();
        for keep in [true, false] {
            let (flat, _) = acausal_flatten::flatten(&mut libraries, "RCLadder", &[]).unwrap();
            let (dae, _) = acausal_index1::transform_noted(flat, &options(keep)).unwrap();
            assert_eq!(dae.len(), n, "{keep}");
        }
    }
}
