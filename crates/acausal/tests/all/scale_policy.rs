//! No hidden regimes: what is done from some size on gives the same on small models.
//!
//! Each threshold of [`Scale`] is forced to both of its sides on models of a few unknowns. The form of the equations, the order of sums and the way rows are computed
//! may differ then, and with them the steps of the integrator; so trajectories at a tolerance of 1e-9 are compared, with 1e-6 of the range of each signal. Where the same
//! computation is only arranged otherwise, the bits are the same.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::command::Place;
use crate::common::every::{Example, examples};
use acausal::{InMemory, Model, Observe};
use acausal_base::Scale;

/// Examples of all kinds: chains, rings, networks, mechanisms, events, constraints.
const MODELS: [&str; 14] = [
    "BouncingBall",
    "ChemicalReactor",
    "DCMotor",
    "HeatedRod",
    "HeatedRodFlux",
    "Pendulum",
    "QuarterCar",
    "RCLadder",
    "Rectifier",
    "Robertson",
    "SampledController",
    "Shower",
    "Thermostat",
    "TwoTanks",
];

fn run(example: &Example, scale: Scale, some: Option<&str>) -> InMemory {
    let mut load = example.load.clone();
    load.structure.scale = scale;
    let model = Model::from_text(&example.file, &example.text(), &load);
    let model = model.unwrap_or_else(|f| panic!("{}: {f}", example.file));
    let mut settings = model.settings();
    settings.stop = settings.stop.min(settings.start + example.stop);
    settings.interval = (settings.stop - settings.start) / 20.0;
    settings.tolerance = 1e-9;
    settings.scale = scale;
    let run = match some {
        None => model.simulate_in_memory(&settings),
        Some(name) => model.simulate_observing(&settings, Observe::patterns([name])),
    };
    run.unwrap_or_else(|f| panic!("{} with {scale:?}: {f}", example.file))
}

fn chosen() -> Vec<Example> {
    let is = |e: &Example| {
        let name = e.file.rsplit('/').next();
        MODELS.iter().any(|m| name == Some(&format!("{m}.mo")))
    };
    let found: Vec<Example> = examples().into_iter().filter(is).collect();
    assert!(found.len() >= MODELS.len(), "{} models", found.len());
    found
}

/// The largest deviation of two trajectories, relative to the range of the signal.
fn deviation(a: &InMemory, b: &InMemory) -> f64 {
    let mut worst = 0.0f64;
    for s in b.result.signals() {
        let (Some(x), y) = (a.result.values(&s.name), b.result.values_of(s)) else {
            continue;
        };
        assert_eq!(x.len(), y.len(), "rows of {}", s.name);
        let range = x.iter().fold(1e-3f64, |m, v| m.max(v.abs()));
        for (x, y) in x.iter().zip(&*y) {
            worst = worst.max((x - y).abs() / range);
        }
    }
    worst
}

#[test]
fn every_way_gives_the_same() {
    let forced: Vec<(&str, bool)> = vec![
        ("small", false),
        ("large", false),
        ("aliases_from=0", false),
        ("smallest_form_to=0", false),
        ("taken_apart_to=0", false),
        ("blocks_to=0", false),
        ("selected_rows_from=0", false),
        ("large_from=0", false),
    ];
    for example in chosen() {
        let plain = run(&example, Scale::default(), None);
        for (policy, _) in &forced {
            let other = run(&example, policy.parse().unwrap(), None);
            let worst = deviation(&plain, &other);
            eprintln!("{} {policy}: {worst:e}", example.file);
            assert!(worst < 1e-6, "{} with {policy}: {worst:e}", example.file);
        }
    }
}

#[test]
fn one_signal_is_that_of_all() {
    for example in chosen() {
        let plain = run(&example, Scale::default(), None);
        let name = plain.result.signals()[0].name.to_string();
        let scale = "selected_rows_from=0".parse().unwrap();
        let some = run(&example, scale, Some(&name));
        let worst = deviation(&plain, &some);
        assert!(worst < 1e-6, "{}, {name}: {worst:e}", example.file);
    }
}

#[test]
fn the_command_takes_a_policy() {
    let text = "model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;";
    let place = Place::with("M.mo", text);
    for policy in ["small", "large", "large,blocks_to=3"] {
        let arguments = ["simulate", "M.mo", "--no-output", "--scale-policy", policy];
        place.acausal(&arguments).code(0);
    }
    let arguments = ["simulate", "M.mo", "--scale-policy", "tiny"];
    place.acausal(&arguments).code(2).complains(&["tiny"]);
    let help = place.acausal(&["simulate", "--help"]).code(0);
    assert!(!help.out.contains("scale-policy"));
}
