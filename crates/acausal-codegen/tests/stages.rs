//! The compiled form of the eight small models of `acausal-index1/tests/stages.rs`, as text to be read in a review: where values lie, and each call with its kernel written
//! out. `j` counts the repetitions of a call. `cargo insta review` shows what a change does to them.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fmt::Write;

use acausal_codegen::compile;
use acausal_compiled::CompiledModel;
use acausal_expr::ValueKind;
use acausal_flatten::flatten;
use acausal_index1::{Options, transform_with};
use acausal_instance::class::Libraries;
use acausal_jit::kernel::{Address, Call, Kernel, Op, Program, Store};

/// The compiled form of a class in a file below the workspace.
fn compiled(file: &str, class: &str) -> String {
    let path = format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut libraries = Libraries::new();
    libraries.load_text("Test.mo", &text).unwrap();
    let (flat, _) = flatten(&mut libraries, class, &[]).unwrap();
    let (dae, _) = transform_with(flat, &Options::default()).unwrap();
    let model = compile(dae).unwrap();
    let mut out = String::new();
    places(&mut out, &model);
    for (title, program) in [
        ("parameters", &model.parameters),
        ("start values", &model.starts),
        ("assignments for the residuals", &model.locals),
        ("other assignments", &model.other_locals),
        ("residuals", &model.residuals),
        ("partial derivatives", &model.jacobian.partials),
        ("event indicators", &model.events.indicators),
        ("discrete", &model.events.discrete),
    ] {
        calls(&mut out, title, &model.kernels, program);
    }
    out
}

/// The first element of each variable that has a place.
fn places(out: &mut String, model: &CompiledModel) {
    writeln!(
        out,
        "{} unknowns, {} numbers in Mem",
        model.n, model.mem_len
    )
    .unwrap();
    for o in model.outputs.iter().chain(&model.derivatives) {
        let at = o.place.at(0);
        let name = model.element_name(o.var, o.kind, 0);
        writeln!(out, "  {name}: {:?}[{}]", at.bank(), at.index()).unwrap();
        assert!(matches!(o.kind, ValueKind::Value | ValueKind::Der(_)));
    }
}

fn calls(out: &mut String, title: &str, kernels: &[Kernel], program: &Program) {
    if !program.is_empty() {
        writeln!(out, "{title}").unwrap();
    }
    for call in program {
        let kernel = &kernels[call.kernel as usize];
        for ((to, store), node) in call.outputs.iter().zip(&kernel.outputs) {
            let sign = match store {
                Store::Set => ":=".to_string(),
                other => format!("{other:?}="),
            };
            let value = expression(kernel, call, *node as usize);
            let times = match call.count {
                1 => String::new(),
                n => format!("    ({n} times)"),
            };
            writeln!(out, "  {} {sign} {value}{times}", address(to, call.count)).unwrap();
        }
    }
}

/// A place, or where it is in repetition `j`.
fn address(a: &Address, count: usize) -> String {
    match a {
        Address::Affine { bank, base, stride } => match stride {
            _ if count == 1 => format!("{bank:?}[{base}]"),
            0 => format!("{bank:?}[{base}]"),
            1 => format!("{bank:?}[{base} + j]"),
            2.. => format!("{bank:?}[{base} + {stride}*j]"),
            _ => format!("{bank:?}[{base} - {}*j]", -stride),
        },
        Address::Table { bank, table } => format!("{bank:?}{table:?}"),
        Address::Counter { start, step } => format!("({start} + {step}*j)"),
    }
}

fn expression(kernel: &Kernel, call: &Call, node: usize) -> String {
    let of = |n: &u32| expression(kernel, call, *n as usize);
    match &kernel.nodes[node] {
        Op::Const(v) => format!("{v:?}"),
        Op::Slot(s) => address(&call.slots[*s as usize], call.count),
        Op::Unary(f, a) => format!("{f:?}({})", of(a)),
        Op::Binary(f, a, b) => {
            let sign = match format!("{f:?}").as_str() {
                "Add" => "+".to_string(),
                "Sub" => "-".to_string(),
                "Mul" => "*".to_string(),
                "Div" => "/".to_string(),
                other => other.to_string(),
            };
            format!("({} {sign} {})", of(a), of(b))
        }
        Op::Select(c, a, b) => format!("(if {} then {} else {})", of(c), of(a), of(b)),
        Op::Apply {
            function,
            args,
            output,
            wrt,
        } => {
            let args: Vec<String> = args.iter().map(of).collect();
            let wrt = match wrt.as_slice() {
                [] => String::new(),
                wrt => format!(" by {wrt:?}"),
            };
            format!("f{function}.{output}({}){wrt}", args.join(", "))
        }
    }
}

macro_rules! stages {
    ($($name:ident: $file:literal, $class:literal;)*) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(compiled($file, $class));
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
