//! What each stage makes of eight small models, as text to be read in a review: what was removed, what is differentiated, the blocks, and the
//! index-one form with its discrete part. `cargo insta review` shows what a change does to them.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fmt::Write;

use acausal_expr::Printer;
use acausal_flatten::flatten;
use acausal_index1::{
    Aliases, DiscreteEquation, FinalForm, IndexOneDae, Options, Report, transform_with,
};
use acausal_instance::class::Libraries;

/// A file of `examples/`.
fn example(file: &str) -> String {
    let path = format!("{}/../../examples/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// A file of `models/`, which the tests of the stages before and after this one read as well.
fn model(file: &str) -> String {
    let path = format!("{}/tests/models/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn stages(text: &str, class: &str) -> String {
    let mut libraries = Libraries::new();
    libraries.load_text("Test.mo", text).unwrap();
    let (flat, _) = flatten(&mut libraries, class, &[]).unwrap();
    let options = Options {
        aliases: Aliases::All,
        ..Options::default()
    };
    let (dae, report) = transform_with(flat, &options).unwrap();
    let mut out = String::new();
    let n = report.equations;
    writeln!(out, "{n} equations for {} unknowns", report.unknowns).unwrap();
    before_the_form(&mut out, &report);
    form(&mut out, &dae, &report);
    out
}

fn list(out: &mut String, title: &str, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_some() {
        writeln!(out, "{title}").unwrap();
        lines.for_each(|l| writeln!(out, "  {l}").unwrap());
    }
}

fn before_the_form(out: &mut String, report: &Report) {
    let done = &report.regularised;
    list(out, "redundant", done.removed.clone());
    let replaced = done.replaced.iter();
    list(
        out,
        "replaced",
        replaced.map(|(a, b)| format!("{a}  =>  {b}")),
    );
    list(out, "set to zero", done.freed.clone());
    if report.aliases > 0 {
        writeln!(out, "aliases {}", report.aliases).unwrap();
    }
    let differentiated = report.differentiated_arrays.iter();
    list(
        out,
        "differentiated",
        differentiated.map(|(e, n)| format!("{n} x  {e}")),
    );
    let loops = report.blocks.iter().filter(|b| b.equations.len() > 1);
    list(
        out,
        "loops",
        loops.map(|b| match b.torn.as_slice() {
            [] => b.unknowns.join(", "),
            torn => format!("{}; iterates on {}", b.unknowns.join(", "), torn.join(", ")),
        }),
    );
    list(out, "states", report.states.clone());
}

fn form(out: &mut String, dae: &IndexOneDae, report: &Report) {
    let f = report.form;
    writeln!(
        out,
        "n {}, fd {}, fc {}, lambda {}, mu {}",
        f.n, f.fd, f.fc, f.lambda, f.mu
    )
    .unwrap();
    let form = FinalForm::of(dae);
    let unknowns = form.unknowns.iter();
    list(
        out,
        "unknowns",
        unknowns.map(|(role, name)| format!("{role:?} {name}")),
    );
    list(out, "assignments", form.locals);
    let residuals = form.residuals.iter();
    list(
        out,
        "residuals",
        residuals.map(|(kind, r)| format!("{r}    ({kind:?})")),
    );
    let printer = Printer::new(&dae.flat);
    let text =
        |e: &DiscreteEquation| format!("{} := {}", printer.access(e.target), printer.expr(e.value));
    list(out, "discrete", dae.discrete.iter().map(text));
    list(
        out,
        "discrete, at the start",
        dae.discrete_start.iter().map(text),
    );
}

#[test]
fn sliding_mass() {
    let text = example("seeds/OE_3_1_SlidingMass.mo");
    insta::assert_snapshot!(stages(&text, "OE_3_1_SlidingMass"));
}

#[test]
fn pendulum() {
    let text = example("seeds/OE_3_4a_PendulumXY.mo");
    insta::assert_snapshot!(stages(&text, "OE_3_4a_PendulumXY"));
}

#[test]
fn four_bar() {
    let text = example("seeds/OE_3_4c_FourBar.mo");
    insta::assert_snapshot!(stages(&text, "OE_3_4c_FourBar"));
}

#[test]
fn rc_ladder() {
    let text = example("RCLadder.mo");
    insta::assert_snapshot!(stages(&text, "RCLadder"));
}

#[test]
fn figure_1() {
    let text = example("seeds/OE_3_7_Figure1Components.mo");
    insta::assert_snapshot!(stages(&text, "OE_3_7_Figure1Components.Figure1"));
}

#[test]
fn diode_bridge() {
    let text = model("DiodeBridge.mo");
    insta::assert_snapshot!(stages(&text, "Bridge"));
}

#[test]
fn clocked_controller() {
    let text = model("ClockedController.mo");
    insta::assert_snapshot!(stages(&text, "Controller"));
}

#[test]
fn table() {
    let text = model("Table.mo");
    insta::assert_snapshot!(stages(&text, "Heater"));
}
