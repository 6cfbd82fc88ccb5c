//! What each stage makes of eight small models, as text to be read in a review: what was removed, what is differentiated, the blocks, and the
//! index-one form with its discrete part. `cargo insta review` shows what a change does to them.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fmt::Write;

use acausal_expr::Printer;
use acausal_flatten::flatten;
use acausal_index1::{Aliases, Dae, DiscreteEquation, FinalForm, Options, Report, transform_with};
use acausal_instance::class::Libraries;

/// A file of `examples/`.
fn example(file: &str) -> String {
    let path = format!("{}/../../examples/{file}", env!("CARGO_MANIFEST_DIR"));
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

fn form(out: &mut String, dae: &Dae, report: &Report) {
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
    let text = "
        connector Pin Real v; flow Real i; end Pin;
        model Diode Pin p, n; parameter Real on = 0.1; Boolean conducts;
          equation conducts = p.v > n.v; p.i = if conducts then (p.v - n.v)/on else 0; p.i + n.i = 0; end Diode;
        model Source Pin p, n; equation p.v - n.v = 12*sin(314*time) - p.i; p.i + n.i = 0; end Source;
        model Load Pin p, n; Real v(start = 0, fixed = true); equation v = p.v - n.v; p.i = 1e-3*der(v) + v/100; p.i + n.i = 0; end Load;
        model Ground Pin p; equation p.v = 0; end Ground;
        model Bridge
          Diode a, b, c, d; Source u; Load l; Ground g;
        equation
          connect(u.p, a.p); connect(u.p, b.n); connect(u.n, c.p); connect(u.n, d.n);
          connect(a.n, l.p); connect(c.n, l.p); connect(b.p, l.n); connect(d.p, l.n); connect(l.n, g.p);
        end Bridge;";
    insta::assert_snapshot!(stages(text, "Bridge"));
}

#[test]
fn clocked_controller() {
    let text = "
        model Controller
          Real y(start = 0, fixed = true), u, e, integral(start = 0);
        equation
          der(y) = -y + hold(u);
          e = 1 - sample(y, Clock(0.1));
          integral = previous(integral) + 0.3*e;
          u = 2*e + integral;
        end Controller;";
    insta::assert_snapshot!(stages(text, "Controller"));
}

#[test]
fn table() {
    let text = "
        function interpolate input Real u; input Real x[3]; input Real y[3]; output Real v;
        algorithm
          v := if u < x[2] then y[1] + (y[2] - y[1])*(u - x[1])/(x[2] - x[1]) else y[2] + (y[3] - y[2])*(u - x[2])/(x[3] - x[2]);
        end interpolate;
        model Heater
          parameter Real times[3] = {0, 1, 3}, powers[3] = {0, 100, 40};
          Real T(start = 20, fixed = true), P;
        equation
          P = interpolate(time, times, powers);
          500*der(T) = P - 2*(T - 20);
        end Heater;";
    insta::assert_snapshot!(stages(text, "Heater"));
}
