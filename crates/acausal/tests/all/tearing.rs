//! Loops give what a direct solve gives, at every size and in every form: errors do not grow along assignments.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::command::Place;
use acausal::{Load, Model};
use acausal_index1::Options;

/// `T[i+1] - 2*T[i] + T[i-1] = 0.5*T[i]` between a given end and one with a loss. Solved for `T[i+1]`, errors grow as 2^N.
fn chain(n: usize, middle: &str) -> String {
    format!(
        "model Chain parameter Integer N = {n}; Real T[N], x(start = 0, fixed = true);
         equation der(x) = T[N] - x; T[1] = 100*time;
         for i in 2:N-1 loop T[i+1] - {middle}*T[i] + T[i-1] = 0.5*T[i]; end for;
         T[N] - T[N-1] = -0.1*T[N];
         annotation(experiment(StopTime = 1)); end Chain;"
    )
}

/// The solution at `T[1] = 100` by elimination from the far end, where every pivot dominates.
fn exact(n: usize, middle: f64) -> Vec<f64> {
    // T[i+1] = c[i]*T[i]: from T[N] = T[N-1]/1.1 backwards.
    let mut c = vec![0.0; n];
    c[n - 2] = 1.0 / 1.1;
    for i in (0..n - 2).rev() {
        c[i] = 1.0 / (middle + 0.5 - c[i + 1]);
    }
    let mut t = vec![100.0; n];
    for i in 1..n {
        t[i] = c[i - 1] * t[i - 1];
    }
    t
}

fn options() -> [(&'static str, Options); 4] {
    let plain = Options::default;
    [
        ("arrays", plain()),
        (
            "scalarise",
            Options {
                scalarise: true,
                ..plain()
            },
        ),
        (
            "no state selection",
            Options {
                no_state_selection: true,
                ..plain()
            },
        ),
        (
            "no tearing",
            Options {
                no_tearing: true,
                ..plain()
            },
        ),
    ]
}

fn run(text: &str, options: &Options) -> acausal::InMemory {
    let load = Load {
        structure: options.clone(),
        ..Load::default()
    };
    let model = Model::from_text("Test.mo", text, &load).unwrap_or_else(|f| panic!("{f}"));
    let settings = model.settings();
    model
        .simulate_in_memory(&settings)
        .unwrap_or_else(|f| panic!("{f}"))
}

#[test]
fn a_chain_whose_recurrence_doubles_errors_is_solved_at_every_length() {
    for n in [3, 5, 10, 20, 40, 100, 400, 2000] {
        // With coefficients that are known, that depend on a parameter, and that are known at run time only.
        for (middle, value) in [("2", 2.0), ("(2 + 0*time)", 2.0), ("(1 + N/N)", 2.0)] {
            let expected = exact(n, value);
            for (form, options) in options() {
                let found = run(&chain(n, middle), &options);
                for i in [1, 2, n / 2, n - 1, n] {
                    let i = i.max(1);
                    let t = crate::common::last(&found, &format!("T[{i}]"));
                    let error = (t - expected[i - 1]).abs();
                    assert!(
                        error < 1e-6 * 100.0,
                        "N = {n}, {middle}, {form}: T[{i}] off by {error:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn explain_says_why_an_unknown_is_kept() {
    // The recurrence with a state as coefficient.
    let text = "model K Real x(start = 2, fixed = true), T[6]; equation der(x) = -x; T[1] = time;
      for i in 2:5 loop T[i+1] - x*T[i] + T[i-1] = 0; end for; T[6] = 0.5*T[5] + 1; end K;";
    let place = Place::with("K.mo", text);
    let said = place.acausal(&["explain", "K.mo"]).code(0).out;
    assert!(said.contains("stays an unknown: to solve"), "{said}");
    assert!(
        said.contains("factors that are not known before the run"),
        "{said}"
    );
}

#[test]
fn constraints_that_amplify_are_not_followed_blindly() {
    // The chain as a constraint between states: one of them moves, the others follow.
    let text = "model States parameter Integer N = 40; Real T[N], w[N];
      equation T[1] = 100*sin(time);
      for i in 2:N-1 loop T[i+1] - 2*T[i] + T[i-1] = 0.5*T[i]; end for;
      T[N] - T[N-1] = -0.1*T[N];
      der(T) = w;
      annotation(experiment(StopTime = 1)); end States;";
    let found = run(text, &Options::default());
    let expected = exact(40, 2.0);
    for i in [1, 2, 20, 40] {
        let scale = 1f64.sin();
        crate::common::near(
            crate::common::last(&found, &format!("T[{i}]")),
            expected[i - 1] * scale,
            1e-3,
        );
        let speed = crate::common::last(&found, &format!("w[{i}]"));
        crate::common::near(speed, expected[i - 1] * 1f64.cos(), 1e-2);
    }
}

/// Rectifiers in a row: nodal analysis has two voltages per bridge beside the capacitor, and the currents of the diodes follow from them by slopes that no one
/// knows beforehand. One slope is no harm; a chain of two would be.
#[test]
fn currents_of_diodes_are_assigned_and_balance_in_every_row() {
    let bridges = include_str!("../../../../benches/models/DiodeBridges.mo");
    for n in [3, 10, 1000] {
        let load = Load {
            class: Some("DiodeBridges.Network".into()),
            set: vec![format!("N={n}")],
            ..Load::default()
        };
        let model = Model::from_text("DiodeBridges.mo", bridges, &load).unwrap();
        assert!(model.compiled.n <= 3 * n + 2, "{n}: {}", model.compiled.n);
        if n > 3 {
            continue;
        }
        let settings = model.settings();
        let run = model.simulate_in_memory(&settings).unwrap();
        let of = |name: &str| run.result.values(name).unwrap();
        for cell in 1..=n {
            let pin = |of: &str| format!("cell[{cell}].{of}.i");
            let [source, up, down] = ["source.p", "d1.p", "d3.n"].map(|p| of(&pin(p)));
            for (k, s) in source.iter().enumerate() {
                // The unknowns are voltages; the currents are no less exact (2.4e-6 if only voltages are looked at).
                let sum = (s + up[k] + down[k]).abs();
                assert!(
                    sum <= settings.tolerance * 0.7,
                    "cell {cell}, row {k}: {sum}"
                );
            }
        }
    }
}

/// `i0` is a thousandth of the currents it is the difference of; what counts is its own tolerance (2e-7 was left where it was not looked at).
#[test]
fn small_differences_of_assigned_variables_satisfy_their_equations() {
    let text = "model Difference Real i0, i3, d0, u1, v0(start = 0, fixed = true);
        equation
          0 = i3 - i0 - 0.0125*u1 + 1.4*sin(12.8*time);
          i3 = 2.155*tanh(15.56*(v0 - u1)) + 0.02*(v0 - u1);
          d0 + v0 = u1;
          0.595*der(v0) = i0 - i3 - 0.5*v0;
          i0 = 1.701*d0^3 + 0.01*d0;
        annotation(experiment(StopTime = 1, Interval = 0.02)); end Difference;";
    for (form, options) in options() {
        let run = run(text, &options);
        let of = |name: &str| run.result.values(name).unwrap();
        let law = |(i, d): (&f64, &f64)| (i - 1.701 * d.powi(3) - 0.01 * d).abs();
        let (i, d) = (of("i0"), of("d0"));
        let worst = i.iter().zip(d.iter()).map(law).fold(0.0, f64::max);
        assert!(worst <= 1e-9, "{form}: {worst}");
    }
}

/// A ring whose recursion has a growing and a decaying solution: well conditioned, but the diagonal as pivot lets the
/// closing columns grow until one seems to be zero. It was refused as singular.
#[test]
fn a_ring_is_not_taken_for_singular() {
    let text = "model Ring Real T[300]; Real x(start = 1, fixed = true);
        equation
          der(x) = -1.884*x;
          (-0.937)*T[1] + 0.624*T[2] + (-0.547)*T[300] = (-0.867)*cos(3.0*time) + 3.86*sin(2.966*time);
          for i in 2:299 loop (-0.547)*T[i - 1] + (-0.937)*T[i] + 0.624*T[i + 1] = 0; end for;
          0.624*T[1] + (-0.547)*T[299] + (-0.937)*T[300] = 0;
        annotation(experiment(StopTime = 1, Interval = 0.1)); end Ring;";
    for (form, options) in options() {
        let run = run(text, &options);
        let of = |i: usize| {
            run.result
                .values(&format!("T[{}]", (i + 299) % 300 + 1))
                .unwrap()
        };
        let time = run.result.values("time").unwrap();
        for i in 1..=300 {
            let (before, here, after) = (of(i - 1), of(i), of(i + 1));
            for (k, t) in time.iter().enumerate() {
                let source = match i {
                    1 => -0.867 * (3.0 * t).cos() + 3.86 * (2.966 * t).sin(),
                    _ => 0.0,
                };
                let sum = -0.547 * before[k] - 0.937 * here[k] + 0.624 * after[k];
                assert!((sum - source).abs() <= 1e-6, "{form}, T[{i}], row {k}");
            }
        }
    }
}

/// A voltage in an exponential is not computed from derivatives of states, whose predictions are wrong by the tolerance over the step: the corrector
/// failed 47,790 times, the more often the shorter the step, and in 890 steps even with a new matrix in every iteration.
#[test]
fn exponentials_do_not_read_predicted_derivatives() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/ivp/TransistorAmplifier.mo"
    );
    let model = Model::load(file, &Load::default()).unwrap();
    let settings = acausal_runtime::Settings {
        tolerance: 1e-4,
        ..model.settings()
    };
    let summary = model.simulate_in_memory(&settings).unwrap().summary;
    assert_eq!((summary.unknowns, summary.states), (7, 5));
    assert!(
        summary.convergence_failures < 20,
        "{} failures of the corrector",
        summary.convergence_failures
    );
}
