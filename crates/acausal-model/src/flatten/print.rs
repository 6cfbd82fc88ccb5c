//! The flat model as Modelica text, for people.

use std::fmt::Write;

use acausal_expr::flat::{
    Action, Assert, Causality, Comprehension, FlatModel, Variability, Variable,
};
use acausal_expr::{IterId, Printer, Range};

/// The model as readable Modelica.
pub fn print_flat(model: &FlatModel) -> String {
    let p = Printer::complete(model);
    let mut out = String::new();
    let _ = writeln!(out, "model {}", model.name);
    for v in &model.vars {
        let _ = writeln!(out, "  {};", declaration(model, &p, v));
    }
    section(
        &mut out,
        "initial equation",
        model.initial_equations.iter().map(|e| p.equation(e)),
    );
    section(
        &mut out,
        "equation",
        model.equations.iter().map(|e| p.equation(e)),
    );
    for when in &model.whens {
        for (k, branch) in when.branches.iter().enumerate() {
            let conditions: Vec<String> = branch.conditions.iter().map(|&c| p.expr(c)).collect();
            let condition = if conditions.len() == 1 {
                conditions[0].clone()
            } else {
                format!("{{{}}}", conditions.join(", "))
            };
            let keyword = if k == 0 { "when" } else { "elsewhen" };
            let _ = writeln!(
                out,
                "  {}{keyword} {condition} then",
                if k == 0 {
                    loops(model, &when.domain)
                } else {
                    String::new()
                }
            );
            for action in &branch.actions {
                let _ = writeln!(out, "    {};", action_text(model, &p, action));
            }
        }
        let _ = writeln!(
            out,
            "  end when;{}",
            " end for;".repeat(usize::from(!when.domain.is_empty()))
        );
    }
    for a in &model.asserts {
        let _ = writeln!(out, "  {};", assert_text(model, &p, a));
    }
    for f in &model.functions {
        let _ = writeln!(
            out,
            "  // run-time function {} ({} inputs, {} outputs)",
            f.name,
            f.inputs,
            f.outputs.len()
        );
    }
    let _ = writeln!(out, "end {};", model.name);
    out
}

fn section(out: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let mut any = false;
    for line in lines {
        if !any {
            let _ = writeln!(out, "{title}");
            any = true;
        }
        let _ = writeln!(out, "  {line};");
    }
}

fn loops(model: &FlatModel, domain: &[(IterId, Range)]) -> String {
    if domain.is_empty() {
        return String::new();
    }
    let heads: Vec<String> = domain
        .iter()
        .map(|(i, r)| {
            let name = model.exprs.iter_name(*i);
            if r.step == 1 {
                format!("{name} in {}:{}", r.start, r.last())
            } else {
                format!("{name} in {}:{}:{}", r.start, r.step, r.last())
            }
        })
        .collect();
    format!("for {} loop ", heads.join(", "))
}

fn declaration(model: &FlatModel, p: &Printer<'_>, v: &Variable) -> String {
    let mut out = String::new();
    if v.flow {
        out.push_str("flow ");
    }
    out.push_str(match v.variability {
        Variability::Constant => "constant ",
        Variability::Parameter => "parameter ",
        Variability::Discrete if v.ty == acausal_expr::flat::VarType::Real => "discrete ",
        _ => "",
    });
    out.push_str(match v.causality {
        Causality::Input => "input ",
        Causality::Output => "output ",
        Causality::Local => "",
    });
    out.push_str(model.type_name(v.ty));
    out.push(' ');
    out.push_str(&v.name.plain());
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
        if let Some(c) = value {
            attributes.push(format!("{name} = {}", comprehension(model, p, c, &v.dims)));
        }
    }
    if !v.unit.is_empty() {
        attributes.push(format!("unit = {:?}", v.unit));
    }
    if v.state_select != Default::default() {
        attributes.push(format!(
            "stateSelect = StateSelect.{}",
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

fn comprehension(model: &FlatModel, p: &Printer<'_>, c: &Comprehension, dims: &[usize]) -> String {
    let body = p.expr(c.body);
    let used: Vec<String> = c
        .iters
        .iter()
        .zip(dims)
        .filter(|(i, _)| model.exprs.depends_on_iter(c.body, **i))
        .map(|(i, n)| format!("{} in 1:{n}", model.exprs.iter_name(*i)))
        .collect();
    if used.is_empty() {
        body
    } else {
        format!("{{{body} for {}}}", used.join(", "))
    }
}

fn action_text(model: &FlatModel, p: &Printer<'_>, action: &Action) -> String {
    match action {
        Action::Assign {
            domain,
            target,
            value,
        } => format!(
            "{}{} = {}",
            loops(model, domain),
            p.access(*target),
            p.expr(*value)
        ),
        Action::Reinit {
            domain,
            target,
            value,
        } => format!(
            "{}reinit({}, {})",
            loops(model, domain),
            p.access(*target),
            p.expr(*value)
        ),
        Action::Assert(a) => assert_text(model, p, a),
        Action::Print { message, .. } => {
            format!("Modelica.Utilities.Streams.print({})", p.expr(*message))
        }
        Action::Terminate { message, .. } => format!("terminate({})", p.expr(*message)),
    }
}

fn assert_text(model: &FlatModel, p: &Printer<'_>, a: &Assert) -> String {
    let level = if a.warning {
        ", AssertionLevel.warning"
    } else {
        ""
    };
    format!(
        "{}assert({}, {}{level})",
        loops(model, &a.domain),
        p.expr(a.condition),
        p.expr(a.message)
    )
}
