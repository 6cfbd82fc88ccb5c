//! Working on arrays gives what working on their elements gives: as many states and the same trajectories. And the
//! order in which a model is written does not matter: the same states, the same trajectories.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::sync::Arc;

use acausal::{Failure, InMemory, Load, Model, Phases};
use acausal_index1::{Options, Report};

/// Compiles with options and simulates at a tight tolerance with 20 output instants.
fn simulate(
    flat: acausal_expr::flat::FlatModel,
    sources: acausal_syntax::SourceMap,
    options: &Options,
) -> (Report, InMemory) {
    let mut settings = acausal::experiment_settings(&flat.experiment);
    settings.tolerance = 1e-9;
    settings.max_steps = 100_000;
    settings.interval = (settings.stop - settings.start) / 20.0;
    let (dae, report) = match acausal_index1::transform_with(flat, options) {
        Ok(done) => done,
        Err(diagnostics) => panic!(
            "{}",
            Failure {
                diagnostics,
                sources
            }
        ),
    };
    let compiled = acausal_codegen::compile(dae).unwrap_or_else(|e| panic!("{:?}", e.1));
    let model = Model {
        compiled: Arc::new(compiled),
        sources,
        warnings: Vec::new(),
        phases: Phases::default(),
    };
    let run = model
        .simulate_in_memory(&settings)
        .unwrap_or_else(|f| panic!("{f}"));
    (report, run)
}

fn example(file: &str, set: &[&str], options: &Options) -> (Report, InMemory) {
    let load = Load {
        set: set.iter().map(|s| s.to_string()).collect(),
        ..Load::default()
    };
    let path = common::example_path(file);
    let (flat, _, sources) =
        acausal::flatten_target(path.to_str().unwrap(), &load).unwrap_or_else(|f| panic!("{f}"));
    simulate(flat, sources, options)
}

fn text(text: &str) -> (Report, InMemory) {
    let mut libraries = acausal_model::class::Libraries::new();
    let classes = libraries
        .load_text("Test.mo", text)
        .unwrap_or_else(|d| panic!("{d:?}\n{text}"));
    let (flat, _) = acausal_model::flatten::flatten(&mut libraries, classes.last().unwrap(), &[])
        .unwrap_or_else(|d| panic!("{d:?}\n{text}"));
    simulate(
        flat,
        std::mem::take(libraries.sources_mut()),
        &Options::default(),
    )
}

/// Asserts that two runs agree in all signals within a tolerance relative to the size of each signal.
#[track_caller]
fn same_trajectories(what: &str, a: &InMemory, b: &InMemory, tolerance: f64) {
    let mut compared = 0;
    for signal in a.result.signals() {
        let (x, y) = (
            common::values(a, &signal.name),
            common::values(b, &signal.name),
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

/// Number of scalar states: each name stands for a piece of an array.
fn scalar_states(r: &Report, run: &InMemory) -> usize {
    assert!(r.states.len() <= run.summary.states, "{:?}", r.states);
    run.summary.states
}

#[test]
fn ar_1_array_result_is_the_scalarised_result() {
    let scalarise = Options {
        scalarise: true,
        ..Options::default()
    };
    for (file, set) in [
        ("seeds/OE_3_1_SlidingMass.mo", &[] as &[&str]),
        ("seeds/OE_3_1_SlidingMass.mo", &["n={0.6,0,0.8}"]),
        ("seeds/OE_3_2_MS18.mo", &[]),
        ("seeds/OE_3_3_Chain.mo", &[]),
        ("seeds/OE_3_4b_SliderCrank.mo", &[]),
        ("seeds/M_4_6_Bordered.mo", &[]),
        ("seeds/CK_H7_4_Linear.mo", &[]),
        ("HeatedRod.mo", &["N=20"]),
        ("HeatedRodFlux.mo", &["N=20"]),
        ("RCLadder.mo", &["N=10"]),
    ] {
        let (ra, a) = example(file, set, &Options::default());
        let (rb, b) = example(file, set, &scalarise);
        let what = format!("{file} {set:?}");
        assert_eq!(
            (ra.equations, ra.unknowns),
            (rb.equations, rb.unknowns),
            "{what}"
        );
        assert_eq!(scalar_states(&ra, &a), scalar_states(&rb, &b), "{what}");
        assert_eq!(ra.structural_index, rb.structural_index, "{what}");
        same_trajectories(&what, &a, &b, 3e-6);
    }
}

#[test]
fn ar_1_full_form_gives_the_same_trajectories() {
    let full = Options {
        no_state_selection: true,
        ..Options::default()
    };
    for file in [
        "seeds/OE_3_1_SlidingMass.mo",
        "seeds/OE_3_4a_PendulumXY.mo",
        "seeds/CK_5_4_CapacitorAtSource.mo",
        "seeds/CK_5_5_ParallelCapacitors.mo",
        "seeds/M_4_3_Rigid.mo",
    ] {
        let (_, a) = example(file, &[], &Options::default());
        let (_, b) = example(file, &[], &full);
        same_trajectories(file, &a, &b, 1e-5);
    }
}

/// All orders that a rotation and a reversal give, of the lines between `equation` and the annotation, and of the
/// declarations.
fn rewritten(file: &str, turn: usize, reverse: bool) -> String {
    let source = std::fs::read_to_string(common::example_path(file)).unwrap();
    let (head, rest) = source.split_once("\nequation\n").unwrap();
    let (body, tail) = rest.split_once("  annotation").unwrap();
    // A statement ends with its semicolon at the end of a line.
    let shuffle = |part: &str| -> String {
        let mut items: Vec<&str> = part
            .split_inclusive(";\n")
            .filter(|l| !l.trim().is_empty())
            .collect();
        let n = items.len().max(1);
        items.rotate_left(turn % n);
        if reverse {
            items.reverse();
        }
        items.concat()
    };
    let (first, declarations) = head.split_once('\n').unwrap();
    let (declarations, initial) = match declarations.split_once("initial equation\n") {
        Some((d, i)) => (d.to_string(), format!("initial equation\n{i}\n")),
        None => (format!("{declarations}\n"), String::new()),
    };
    format!(
        "{first}\n{}{initial}equation\n{}  annotation{tail}",
        shuffle(&declarations),
        shuffle(body)
    )
}

#[test]
fn order_of_equations_and_declarations_does_not_matter() {
    for file in [
        "seeds/OE_3_1_SlidingMass.mo",
        "seeds/OE_3_2_MS18.mo",
        "seeds/OE_3_4a_PendulumXY.mo",
        "seeds/OE_3_4b_SliderCrank.mo",
        "seeds/OE_3_7_Figure1.mo",
        "seeds/OE_3_7_Figure1Grounded.mo",
        "seeds/CK_5_1_RLC.mo",
        "seeds/CK_5_2_ResistorLoop.mo",
        "seeds/CK_5_3_Potentials.mo",
        "seeds/CK_5_4_CapacitorAtSource.mo",
        "seeds/CK_5_6_PendulumAngle.mo",
        "seeds/M_4_3_Rigid.mo",
    ] {
        let (original, a) = example(file, &[], &Options::default());
        let mut states = original.states.clone();
        states.sort();
        for (turn, reverse) in [(0, true), (1, false), (3, true), (5, false)] {
            let (r, b) = text(&rewritten(file, turn, reverse));
            let mut found = r.states.clone();
            found.sort();
            let what = format!("{file}, rotated by {turn}, reversed: {reverse}");
            assert_eq!(found, states, "{what}");
            // Which unknowns are torn may depend on the order, but not how many unknowns there are.
            assert_eq!(r.form, original.form, "{what}");
            same_trajectories(&what, &a, &b, 1e-5);
        }
    }
}
