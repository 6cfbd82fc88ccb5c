//! The flat model of the eight small models of `acausal-index1/tests/stages.rs`, as text to be read in a review: names, connections as equations, arrays as arrays.
//! `cargo insta review` shows what a change does to them.
#![allow(clippy::unwrap_used, clippy::panic)]

use acausal_flatten::{flatten, print_flat};
use acausal_instance::class::Libraries;

/// The flat model of a class in a file below the workspace.
fn flat(file: &str, class: &str) -> String {
    let path = format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut libraries = Libraries::new();
    libraries.load_text("Test.mo", &text).unwrap();
    let (flat, warnings) = flatten(&mut libraries, class, &[]).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    print_flat(&flat).unwrap()
}

macro_rules! stages {
    ($($name:ident: $file:literal, $class:literal;)*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(flat($file, $class));
        })*
    };
}

stages! {
    sliding_mass: "examples/seeds/OE_3_1_SlidingMass.mo", "OE_3_1_SlidingMass";
    pendulum: "examples/seeds/OE_3_4a_PendulumXY.mo", "OE_3_4a_PendulumXY";
    four_bar: "examples/seeds/OE_3_4c_FourBar.mo", "OE_3_4c_FourBar";
    rc_ladder: "examples/RCLadder.mo", "RCLadder";
    figure_1: "examples/seeds/OE_3_7_Figure1Components.mo", "OE_3_7_Figure1Components.Figure1";
    diode_bridge: "crates/acausal-index1/tests/models/DiodeBridge.mo", "Bridge";
    clocked_controller: "crates/acausal-index1/tests/models/ClockedController.mo", "Controller";
    table: "crates/acausal-index1/tests/models/Table.mo", "Heater";
}
