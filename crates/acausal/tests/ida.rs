//! The same compiled model through both integrators (feature `sundials`).
#![cfg(feature = "sundials")]

use acausal::{Load, Model, Settings, Solver};

/// Trajectories of a model with algebraic unknowns and of one with events agree.
#[test]
fn both_integrators_agree() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/");
    for (file, signals) in [
        ("Robertson.mo", &["y1", "y3"][..]),
        ("VanDerPol.mo", &["x"]),
        ("BouncingBall.mo", &["h"]),
        ("HeatedRod.mo", &["T[2]", "T[20]"]),
    ] {
        let model = Model::load(&format!("{examples}{file}"), &Load::default())
            .unwrap_or_else(|f| panic!("{f}"));
        let settings = Settings {
            tolerance: 1e-8,
            ..model.settings()
        };
        let run = |solver| {
            model
                .simulate_in_memory(&Settings {
                    solver,
                    ..settings.clone()
                })
                .unwrap_or_else(|f| panic!("{file}: {f}"))
                .result
        };
        let (ours, ida) = (run(Solver::Bdf), run(Solver::Ida));
        for signal in signals {
            for k in 1..20 {
                let t = settings.start + (settings.stop - settings.start) * k as f64 / 20.0;
                let (a, b) = (ours.value_at(signal, t), ida.value_at(signal, t));
                let (a, b) = (a.expect("a value"), b.expect("a value"));
                assert!(
                    (a - b).abs() < 2e-5 * (1.0 + a.abs()),
                    "{file}: {signal}({t}) is {a} or {b}"
                );
            }
        }
    }
}
