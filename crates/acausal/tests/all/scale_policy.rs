//! No hidden regimes: what is done from some size on gives the same on small models.
//!
//! Each threshold of [`Scale`] is forced to both of its sides on models of a few unknowns, at a tolerance of 1e-9. Where the same numbers are computed in another arrangement,
//! the bits are the same. Where sums have another order the results agree to rounding, and where other equations with the same solution are integrated, or a system is solved by another
//! iteration, to the tolerance: each threshold has its bound, relative to the range of a signal.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::command::Place;
use crate::common::every::{Example, examples};
use acausal::{InMemory, Model, Observe};
use acausal_base::Scale;

/// Examples of all kinds: chains, rings, networks, mechanisms, events, constraints.
const MODELS: [&str; 17] = [
    "BouncingBall",
    "CK_5_7_TwoBranches",
    "CK_H7_2_Nonlinear",
    "CK_H7_4_Linear",
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

/// The same numbers, in another arrangement. (A history in single precision needs a tolerance above 1e-9.)
const SAME_BITS: [&str; 3] = ["large_from=0", "impasses_to=1000", "start_choice_to=0"];

/// Others, and how far results may be apart. Of all 54 examples none but a closed loop of bodies (3e-6 of a force) was further off.
const SAME_SOLUTION: [(&str, f64); 7] = [
    // The equations are evaluated at other points before: sums of partial derivatives in another order.
    ("impasses_to=0", 1e-12),
    // Newton's iteration for blocks, or for all unknowns at once.
    ("blocks_to=0", 1e-6),
    // Other equations.
    ("aliases_from=0", 1e-6),
    ("smallest_form_to=0", 1e-6),
    ("taken_apart_to=0", 1e-6),
    // Several at once.
    ("small", 1e-6),
    ("large", 1e-6),
];

fn assert_same_bits(a: &InMemory, b: &InMemory, what: &str) {
    let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(a.result.time()), bits(b.result.time()), "{what}: time");
    for s in b.result.signals() {
        let x = a.result.values(&s.name).expect("a signal of both");
        let y = b.result.values_of(s);
        assert_eq!(bits(&x), bits(&y), "{what}: {}", s.name);
    }
}

#[test]
fn another_arrangement_gives_the_same_bits() {
    for example in chosen() {
        let plain = run(&example, Scale::default(), None);
        for policy in SAME_BITS {
            let other = run(&example, policy.parse().unwrap(), None);
            assert_same_bits(&plain, &other, &format!("{} with {policy}", example.file));
        }
    }
}

#[test]
fn another_way_gives_the_same_solution() {
    for example in chosen() {
        let plain = run(&example, Scale::default(), None);
        for (policy, bound) in SAME_SOLUTION {
            let other = run(&example, policy.parse().unwrap(), None);
            let worst = deviation(&plain, &other);
            eprintln!("{} {policy}: {worst:e}", example.file);
            assert!(worst < bound, "{} with {policy}: {worst:e}", example.file);
        }
    }
}

/// Rows compute what a few signals need where that is little: one element of an array of 400. Interpolated states and what is assigned from them are the same numbers; where
/// there are algebraic unknowns, a row that is computed as a whole satisfies their equations more closely than one that has been found to be close enough.
#[test]
fn one_signal_is_that_of_all() {
    for (file, names, same) in [
        ("HeatedRod.mo", ["T[7]", "T[400]"], true),
        ("HeatedRodFlux.mo", ["T[7]", "q[3]"], true),
        ("RCLadder.mo", ["c[100].v", "r[20].p.i"], false),
    ] {
        let mut example = chosen().into_iter().find(|e| e.file == file).expect(file);
        example.load.set = vec!["N=400".to_string()];
        let plain = run(&example, Scale::default(), None);
        for name in names {
            let scale = "selected_rows_from=0".parse().unwrap();
            let some = run(&example, scale, Some(name));
            assert_eq!(some.result.signals().len(), 1, "{file}");
            match same {
                true => assert_same_bits(&plain, &some, file),
                false => {
                    let worst = deviation(&plain, &some);
                    assert!(worst < 1e-8, "{file}, {name}: {worst:e}");
                }
            }
        }
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
