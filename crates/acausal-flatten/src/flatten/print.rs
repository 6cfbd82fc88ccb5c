//! The flat model as Modelica text, for people and to be read again.
//!
//! The text is a model of its own with the same equations, so that simulating it gives the same trajectories. A variable `a[i].k` of shape `[3]` has the
//! name `'a.k'` and one subscript. Values of enumerations are their ordinals, so their variables are Integers. What cannot be read again are the bodies
//! of run-time functions: a comment says which ones there are.
//!
//! Expressions share what they have in common and a text repeats it, so the text of a few inlined functions can be longer than any memory: it is given
//! up when it is longer than the limits of the model allow.

use std::fmt::Write;

use acausal_base::{Diagnostic, Span};
use acausal_expr::flat::{
    Action, Assert, AssertionLevel, Causality, Comprehension, Equation, FlatModel, VarType,
    Variability, Variable,
};
use acausal_expr::limits::bytes_text;
use acausal_expr::{IterId, Node, Printer, Range, identifier, print_real, string_literal};

/// The model as readable Modelica; a message where it would be too long.
pub fn print_flat(model: &FlatModel) -> Result<String, Diagnostic> {
    let p = Printer::source(model);
    let mut out = String::new();
    let name = identifier(&model.name);
    let _ = writeln!(out, "model {name}");
    for v in &model.vars {
        let _ = writeln!(out, "  {};", declaration(model, &p, v));
        check_length(model, &p, &out, v.span)?;
    }
    let span = |origin| model.origin(origin).span;
    let equation = |e: &Equation| (p.equation(e), span(e.origin));
    let asserts = (model.asserts.iter()).map(|a| (assert_text(&p, a), span(a.origin)));
    let whens = (model.whens.iter()).map(|w| (when_text(&p, w), span(w.origin)));
    let initial = model.initial_equations.iter().map(equation);
    let always = (model.equations.iter().map(equation))
        .chain(whens)
        .chain(asserts);
    section(model, &p, &mut out, "initial equation", initial)?;
    section(model, &p, &mut out, "equation", always)?;
    for f in &model.functions {
        let _ = writeln!(
            out,
            "  // run-time function {} ({} inputs, {} outputs)",
            f.name,
            f.inputs,
            f.outputs.len()
        );
    }
    let _ = write!(out, "{}", experiment(model));
    let _ = writeln!(out, "end {name};");
    Ok(out)
}

/// After the text of each item, which is no longer than the limit itself: nothing has been cut off, and all are not too long together.
fn check_length(
    model: &FlatModel,
    p: &Printer<'_>,
    out: &str,
    span: Span,
) -> Result<(), Diagnostic> {
    let limits = &model.exprs.limits;
    if !p.has_cut() && out.len() as u64 <= limits.text_length() {
        return Ok(());
    }
    let message = format!(
        "the flat model has more than {} of text up to here, more than the memory limit of {} allows",
        bytes_text(limits.text_length() as f64),
        bytes_text(limits.memory as f64)
    );
    let hint = "functions are inlined, and the text repeats what their results share; otherwise raise `--memory-limit`";
    Err(Diagnostic::error("too-large", span, message).hint(hint))
}

fn section(
    model: &FlatModel,
    p: &Printer<'_>,
    out: &mut String,
    title: &str,
    lines: impl Iterator<Item = (String, Span)>,
) -> Result<(), Diagnostic> {
    let mut any = false;
    for (line, span) in lines {
        if !any {
            let _ = writeln!(out, "{title}");
            any = true;
        }
        let _ = writeln!(out, "  {line};");
        check_length(model, p, out, span)?;
    }
    Ok(())
}

fn experiment(model: &FlatModel) -> String {
    let e = &model.experiment;
    let settings = [
        ("StartTime", e.start),
        ("StopTime", e.stop),
        ("Tolerance", e.tolerance),
        ("Interval", e.interval),
    ];
    let given: Vec<String> = settings
        .iter()
        .filter_map(|(name, value)| value.map(|v| format!("{name} = {}", print_real(v))))
        .collect();
    match given.is_empty() {
        true => String::new(),
        false => format!("  annotation(experiment({}));\n", given.join(", ")),
    }
}

/// A text for all values of a domain.
fn in_loops(p: &Printer<'_>, domain: &[(IterId, Range)], text: &str) -> String {
    if domain.is_empty() {
        return text.to_string();
    }
    let heads: Vec<String> = domain
        .iter()
        .map(|(i, r)| {
            let name = p.iter_name(*i);
            if r.step == 1 {
                format!("{name} in {}:{}", r.start, r.last())
            } else {
                format!("{name} in {}:{}:{}", r.start, r.step, r.last())
            }
        })
        .collect();
    format!("for {} loop {text}; end for", heads.join(", "))
}

fn declaration(model: &FlatModel, p: &Printer<'_>, v: &Variable) -> String {
    let mut out = String::new();
    out.push_str(match v.variability {
        Variability::Constant => "constant ",
        Variability::Parameter => "parameter ",
        Variability::Discrete if v.ty == VarType::Real => "discrete ",
        _ => "",
    });
    out.push_str(match v.causality {
        Causality::Input => "input ",
        Causality::Output => "output ",
        Causality::Local => "",
    });
    out.push_str(match v.ty {
        VarType::Enum(_) => "Integer",
        ty => model.type_name(ty),
    });
    out.push(' ');
    out.push_str(&identifier(&v.name.plain()));
    if !v.dims.is_empty() {
        let dims: Vec<String> = v.dims.iter().map(|d| d.to_string()).collect();
        let _ = write!(out, "[{}]", dims.join(", "));
    }
    let mut attributes = Vec::new();
    for (name, value) in [
        ("start", &v.start),
        ("fixed", &v.fixed),
        ("min", &v.min),
        ("max", &v.max),
        ("nominal", &v.nominal),
    ] {
        let Some(c) = value else { continue };
        let varies = c
            .iters
            .iter()
            .any(|&i| model.exprs.depends_on_iter(c.body, i));
        attributes.push(match varies || v.dims.is_empty() {
            true => format!("{name} = {}", comprehension(model, p, c, &v.dims)),
            false => format!("each {name} = {}", p.expr(c.body)),
        });
    }
    let each = if v.dims.is_empty() { "" } else { "each " };
    if !v.unit.is_empty() {
        attributes.push(format!("{each}unit = {}", string_literal(&v.unit)));
    }
    if v.state_select != Default::default() {
        attributes.push(format!(
            "{each}stateSelect = StateSelect.{}",
            format!("{:?}", v.state_select).to_lowercase()
        ));
    }
    if !attributes.is_empty() {
        let _ = write!(out, "({})", attributes.join(", "));
    }
    if let Some(b) = &v.binding {
        let _ = write!(out, " = {}", comprehension(model, p, b, &v.dims));
    }
    out
}

/// An array value over all its dimensions, the first one outermost.
fn comprehension(model: &FlatModel, p: &Printer<'_>, c: &Comprehension, dims: &[usize]) -> String {
    let mut loops: Vec<(IterId, usize)> =
        c.iters.iter().copied().zip(dims.iter().copied()).collect();
    let mut text = p.expr(c.body);
    // `{a, b, c}[i] for i in 1:3` is what was written as `{a, b, c}`.
    if let Some(&(i, n)) = loops.last()
        && let Node::Select(index, members) = model.exprs.node(c.body)
        && model.exprs.node(index) == Node::Iter(i)
        && model.exprs.list(members).len() == n
    {
        let members = model.exprs.list(members).iter().map(|&m| p.expr(m));
        text = format!("{{{}}}", members.collect::<Vec<_>>().join(", "));
        loops.pop();
    }
    loops.iter().rev().fold(text, |text, &(i, n)| {
        format!("{{{text} for {} in 1:{n}}}", p.iter_name(i))
    })
}

fn when_text(p: &Printer<'_>, when: &acausal_expr::flat::When) -> String {
    let mut out = String::new();
    for (k, branch) in when.branches.iter().enumerate() {
        let conditions: Vec<String> = branch.conditions.iter().map(|&c| p.expr(c)).collect();
        let condition = if conditions.len() == 1 {
            conditions[0].clone()
        } else {
            format!("{{{}}}", conditions.join(", "))
        };
        let keyword = if k == 0 { "when" } else { "  elsewhen" };
        let _ = writeln!(out, "{keyword} {condition} then");
        for action in &branch.actions {
            let _ = writeln!(out, "    {};", action_text(p, action));
        }
    }
    out.push_str("  end when");
    in_loops(p, &when.domain, &out)
}

fn action_text(p: &Printer<'_>, action: &Action) -> String {
    match action {
        Action::Assign {
            domain,
            target,
            value,
        } => in_loops(
            p,
            domain,
            &format!("{} = {}", p.access(*target), p.expr(*value)),
        ),
        Action::Reinit {
            domain,
            target,
            value,
        } => in_loops(
            p,
            domain,
            &format!("reinit({}, {})", p.access(*target), p.expr(*value)),
        ),
        Action::Assert(a) => assert_text(p, a),
        Action::Print { message, .. } => {
            format!("Modelica.Utilities.Streams.print({})", p.expr(*message))
        }
        Action::Terminate { message, .. } => format!("terminate({})", p.expr(*message)),
    }
}

fn assert_text(p: &Printer<'_>, a: &Assert) -> String {
    let level = if a.level == AssertionLevel::Warning {
        ", AssertionLevel.warning"
    } else {
        ""
    };
    let text = format!(
        "assert({}, {}{level})",
        p.expr(a.condition),
        p.expr(a.message)
    );
    in_loops(p, &a.domain, &text)
}
