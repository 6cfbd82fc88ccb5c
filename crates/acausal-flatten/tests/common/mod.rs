//! What the tests share: flattening text, evaluating expressions of a flat model.
#![allow(dead_code)]

use acausal_base::Diagnostic;
use acausal_expr::flat::{Comprehension, FlatModel};
use acausal_expr::{ExprId, Exprs, Node, Range, ScalarValue, ValueKind};
use acausal_flatten::flatten;
use acausal_instance::class::Libraries;

/// The flat model of the last class in the text; panics with the rendered messages if there are errors.
pub fn model(text: &str) -> FlatModel {
    model_and_warnings(text).0
}

/// The same with its warnings.
pub fn model_and_warnings(text: &str) -> (FlatModel, Vec<Diagnostic>) {
    let mut libraries = Libraries::new();
    let classes = libraries
        .load_text("test.mo", text)
        .expect("the text must parse");
    match flatten(&mut libraries, classes.last().expect("a class"), &[]) {
        Ok(result) => result,
        Err(messages) => {
            let texts: Vec<String> = messages
                .iter()
                .map(|m| m.render(libraries.sources(), false))
                .collect();
            panic!("{}\n{text}", texts.join("\n"));
        }
    }
}

/// The messages of a text that must not flatten.
pub fn errors(text: &str) -> Vec<Diagnostic> {
    let mut libraries = Libraries::new();
    let classes = match libraries.load_text("test.mo", text) {
        Ok(classes) => classes,
        Err(messages) => return messages,
    };
    match flatten(&mut libraries, classes.last().expect("a class"), &[]) {
        Ok((model, warnings)) => warnings.into_iter().chain(model.imbalance).collect(),
        Err(messages) => messages,
    }
}

/// Gives variables their values: by flat name with subscripts, such as `x[2]`, `der(x)`, `pre(n)`.
pub type Leaves<'a> = &'a dyn Fn(&str) -> Option<f64>;

/// The value of an expression. Parameters and constants take the value of their binding, other leaves that of `leaves`.
pub fn value(model: &FlatModel, e: ExprId, leaves: Leaves<'_>) -> f64 {
    let result = model
        .exprs
        .evaluate(e, |_, leaf, subs| scalar(model, leaf, subs, leaves));
    match result {
        Ok(v) => v.as_f64().expect("a number"),
        Err(why) => panic!("{why:?}: {}", acausal_expr::Printer::new(model).expr(e)),
    }
}

fn scalar(
    model: &FlatModel,
    leaf: ExprId,
    subs: &[i64],
    leaves: Leaves<'_>,
) -> Option<ScalarValue> {
    let access = match model.exprs.node(leaf) {
        Node::Time => return leaves("time").map(ScalarValue::Real),
        Node::Var(a) => a,
        _ => return None,
    };
    let v = model.var(access.var);
    if let Some(binding) = &v.binding {
        return Some(element(model, binding, subs, leaves));
    }
    let subs: Vec<usize> = subs.iter().map(|&s| s as usize).collect();
    let name = v.name.element(&subs);
    let name = match access.kind {
        ValueKind::Value => name,
        ValueKind::Der(n) => format!(
            "{}{name}{}",
            "der(".repeat(n as usize),
            ")".repeat(n as usize)
        ),
        ValueKind::Pre => format!("pre({name})"),
    };
    let number = leaves(&name).unwrap_or_else(|| panic!("no value for {name}"));
    Some(match v.ty {
        acausal_expr::flat::VarType::Boolean => ScalarValue::Bool(number != 0.0),
        acausal_expr::flat::VarType::Real => ScalarValue::Real(number),
        _ => ScalarValue::Int(number as i64),
    })
}

/// One element of an array value.
pub fn element(
    model: &FlatModel,
    c: &Comprehension,
    subs: &[i64],
    leaves: Leaves<'_>,
) -> ScalarValue {
    let at = |_: &Exprs, leaf: ExprId, inner: &[i64]| match model.exprs.node(leaf) {
        Node::Iter(i) => c
            .iters
            .iter()
            .position(|&j| j == i)
            .map(|k| ScalarValue::Int(subs[k])),
        _ => scalar(model, leaf, inner, leaves),
    };
    match model.exprs.evaluate(c.body, at) {
        Ok(v) => v,
        Err(why) => panic!(
            "{why:?}: {}",
            acausal_expr::Printer::new(model).expr(c.body)
        ),
    }
}

/// All elements of the binding of a parameter, row by row.
pub fn parameter(model: &FlatModel, name: &str) -> (Vec<usize>, Vec<f64>) {
    let v = model
        .vars
        .iter()
        .find(|v| v.name.plain() == name)
        .unwrap_or_else(|| panic!("no variable {name}"));
    let binding = v
        .binding
        .as_ref()
        .unwrap_or_else(|| panic!("{name} has no binding"));
    (v.dims.to_vec(), all(model, binding, &v.dims))
}

/// All elements of an array value, row by row.
pub fn all(model: &FlatModel, c: &Comprehension, dims: &[usize]) -> Vec<f64> {
    positions(&dims.iter().map(|&n| Range::upto(n)).collect::<Vec<_>>())
        .into_iter()
        .map(|subs| {
            element(model, c, &subs, &|_| None)
                .as_f64()
                .expect("a number")
        })
        .collect()
}

/// All values of iterators, the last one fastest.
pub fn positions(ranges: &[Range]) -> Vec<Vec<i64>> {
    let mut out = vec![Vec::new()];
    for r in ranges {
        out = out
            .into_iter()
            .flat_map(|p| r.values().map(move |v| [p.clone(), vec![v]].concat()))
            .collect();
    }
    out
}

/// The residuals `lhs - rhs` of all scalar equations for given values.
pub fn residuals(model: &FlatModel, leaves: Leaves<'_>) -> Vec<f64> {
    let mut out = Vec::new();
    for e in &model.equations {
        let ranges: Vec<Range> = e.domain.iter().map(|d| d.1).collect();
        for p in positions(&ranges) {
            let side = |body: ExprId| {
                let c = Comprehension {
                    iters: e.domain.iter().map(|d| d.0).collect(),
                    body,
                };
                element(model, &c, &p, leaves).as_f64().expect("a number")
            };
            out.push(side(e.lhs) - side(e.rhs));
        }
    }
    out
}
