//! The models that the benchmark `scale` measures, worked on as arrays, are what working on their elements gives: as many
//! equations, unknowns and states, the same index, the same trajectories. A thousand elements of each are compared by
//! `acausal-bench scale --check`.
#![allow(clippy::unwrap_used, clippy::panic)]

use acausal::{InMemory, Load};
use acausal_index1::{Options, Report};

/// A model of `benches/models` with its parameter `N`, from arrays and from single elements.
fn family(file: &str, n: usize) -> Report {
    let scalarise = Options {
        scalarise: true,
        ..Options::default()
    };
    let path = std::path::Path::new("../../benches/models").join(file);
    let [(ra, a), (rb, b)] = [Options::default(), scalarise].map(|options| {
        let load = Load {
            set: vec![format!("N={n}")],
            ..Load::default()
        };
        let target = path.to_str().unwrap();
        let (flat, _, sources) =
            acausal::flatten_target(target, &load).unwrap_or_else(|f| panic!("{f}"));
        simulate(flat, sources, &options)
    });
    let what = format!("{file} with N = {n}");
    assert_eq!(
        (ra.equations, ra.unknowns, ra.structural_index),
        (rb.equations, rb.unknowns, rb.structural_index),
        "{what}"
    );
    assert_eq!(a.summary.states, b.summary.states, "{what}");
    same_trajectories(&what, &a, &b, 1e-5);
    ra
}

/// The families that the benchmark `scale` measures.
const FAMILIES: [&str; 15] = [
    "RCLadder.mo",
    "HeatEquations.mo",
    "HeatComponents.mo",
    "Heat2D.mo",
    "LineEquations.mo",
    "LineComponents.mo",
    "Cascade.mo",
    "Oscillators.mo",
    "HeatExchanger.mo",
    "DCGrid.mo",
    "Bodies.mo",
    "Pendulums.mo",
    "Friction.mo",
    "PowerSystem.mo",
    "PowerSystemFull.mo",
];

#[test]
fn families_of_eight_are_the_scalarised_ones() {
    for file in FAMILIES {
        family(file, 8);
    }
}

/// Positions are recurrences through several arrays along the string, forces run back: the states are the angles.
#[test]
fn strings_of_bodies_are_the_scalarised_ones() {
    for n in [3, 12] {
        family("Bodies.mo", n);
    }
}

/// Positions and velocities are wanted as states, the directions of the rods are computed from them: `a[1] = r[1]` and
/// `a[k] = r[k] - r[k - 1]`. The stabilised constraints on the directions reach the positions through both, whether the directions
/// are put in (few bodies) or stay unknowns.
#[test]
fn chains_of_bodies_have_the_states_they_are_asked_for() {
    for n in [5, 51] {
        let report = family("BodyChain.mo", n);
        let wanted = |s: &&String| s.starts_with("r[") || s.starts_with("v[");
        let others: Vec<_> = report.states.iter().filter(|s| !wanted(s)).collect();
        assert!(others.is_empty(), "{others:?}");
    }
}

#[test]
fn families_of_a_hundred_are_the_scalarised_ones() {
    for file in [
        "HeatEquations.mo",
        "LineEquations.mo",
        "Cascade.mo",
        "Oscillators.mo",
        "Pendulums.mo",
    ] {
        family(file, 100);
    }
}

/// Compiles with options and simulates at a tight tolerance with 20 output instants.
fn simulate(
    flat: acausal_expr::flat::FlatModel,
    sources: acausal_base::SourceMap,
    options: &Options,
) -> (Report, InMemory) {
    let mut settings = acausal::experiment_settings(&flat.experiment);
    settings.tolerance = 1e-9;
    settings.max_steps = 100_000;
    settings.interval = (settings.stop - settings.start) / 20.0;
    let (report, model) = crate::common::compiled("family", flat, sources, options);
    let run = model
        .simulate_in_memory(&settings)
        .unwrap_or_else(|f| panic!("{f}"));
    (report, run)
}

/// Asserts that two runs agree in all signals within a tolerance relative to the size of each signal.
#[track_caller]
fn same_trajectories(what: &str, a: &InMemory, b: &InMemory, tolerance: f64) {
    let mut compared = 0;
    for signal in a.result.signals() {
        let (x, y) = (
            crate::common::values(a, &signal.name),
            crate::common::values(b, &signal.name),
        );
        assert_eq!(x.len(), y.len(), "{what}: {}", signal.name);
        let scale = x.iter().fold(1e-3f64, |m, v| m.max(v.abs()));
        for (k, (x, y)) in x.iter().zip(&y).enumerate() {
            let name = &signal.name;
            assert!(
                (x - y).abs() <= tolerance * scale,
                "{what}: {name} in row {k}: {x} and {y}"
            );
        }
        compared += 1;
    }
    assert!(compared > 0, "{what}: nothing to compare");
}
