//! Equations, unknowns and conditions in the user's own words.

use acausal_base::Span;
use acausal_compiled::CompiledModel;
use acausal_expr::{Printer, RelOp};

/// The source place and the text of a residual row.
pub fn row_text(model: &CompiledModel, row: usize) -> (Span, String) {
    let Some((group, k)) = model.row_group(row) else {
        return (Span::NONE, format!("equation {}", row + 1));
    };
    let origin = model.symbols.origin(group.origin);
    let mut text = equation_text(model, row);
    if !group.domain.is_empty() {
        text.push_str(&format!(" for {}", point_text(model, group, k)));
    }
    if !origin.component.is_empty() {
        text.push_str(&format!(" of component {}", origin.component));
    }
    (origin.span, text)
}

/// Which of the equations of a group row `k` is: the values of the iterators, or of an equation between whole arrays,
/// whose iterators are the compiler's own, the element.
pub(crate) fn point_text(
    model: &CompiledModel,
    group: &acausal_compiled::RowGroup,
    k: usize,
) -> String {
    let mut rest = k as i64;
    let mut values = Vec::new();
    for (iter, range) in group.domain.iter().rev() {
        values.push((*iter, range.at(rest % range.count)));
        rest /= range.count;
    }
    values.reverse();
    let own = |iter| model.symbols.exprs.is_fresh_iter(iter);
    let (fresh, named): (Vec<_>, Vec<_>) = values.into_iter().partition(|v| own(v.0));
    let mut parts: Vec<String> = (named.iter())
        .map(|(iter, v)| format!("{} = {v}", model.symbols.exprs.iter_name(*iter)))
        .collect();
    if !fresh.is_empty() {
        let subscripts: Vec<String> = fresh.iter().map(|(_, v)| v.to_string()).collect();
        parts.push(format!("element [{}]", subscripts.join(",")));
    }
    parts.join(", ")
}

/// The equation of a row; of a fixed start value `v = start`. What the compiler introduced is said in words.
pub(crate) fn equation_text(model: &CompiledModel, row: usize) -> String {
    let Some((group, _)) = model.row_group(row) else {
        return format!("equation {}", row + 1);
    };
    if let Some(text) = model.start_row_text(row, None) {
        return text;
    }
    let text = residual_text(model, group.value);
    // A long one (inlined functions) is better read where it stands, which the message shows.
    if text.contains('$') || text.len() > LONGEST {
        return "this equation".to_string();
    }
    format!("`{text}`")
}

/// Characters of an equation in a sentence.
const LONGEST: usize = 160;

/// A residual as an equation: what is added on the left, what is subtracted on the right.
fn residual_text(model: &CompiledModel, residual: acausal_expr::ExprId) -> String {
    use acausal_expr::Node;
    let printer = Printer::new(&model.symbols);
    let terms = match model.symbols.exprs.node(residual) {
        Node::Add(list) => model.symbols.exprs.list(list).to_vec(),
        _ => vec![residual],
    };
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for &term in &terms {
        let text = printer.expr(term);
        match text.strip_prefix('-') {
            Some(rest) => right.push(rest.to_string()),
            None if text.starts_with("if ") && terms.len() > 1 => left.push(format!("({text})")),
            None => left.push(text),
        }
    }
    if left.is_empty() {
        std::mem::swap(&mut left, &mut right);
    }
    let side = |terms: Vec<String>| match terms.is_empty() {
        true => "0".to_string(),
        false => terms.join(" + "),
    };
    format!("{} = {}", side(left), side(right))
}

/// A component of `x` in the user's words.
pub(crate) fn unknown_text(model: &CompiledModel, c: usize) -> String {
    in_words(model.unknown_name(c))
}

/// The derivative of a component of `x` in the user's words.
pub(crate) fn derivative_text(model: &CompiledModel, c: usize) -> String {
    in_words(model.derivative_name(c))
}

/// Names that the compiler made up say where they come from.
fn in_words(name: String) -> String {
    if let Some((_, of)) = name.split_once("$slope.") {
        return format!("der({})", of.trim_end_matches(')'));
    }
    if name.contains('$') {
        return "a multiplier of the constraints".to_string();
    }
    name
}

/// The condition as written, for messages.
pub fn condition_text(model: &CompiledModel, expr: acausal_expr::ExprId) -> String {
    let text = Printer::new(&model.symbols).expr(expr);
    // A sum or another reduction in it has a name of the compiler's own.
    match text.contains('$') {
        true => "this condition".to_string(),
        false => text,
    }
}

/// Whether a relation is true when its left side exceeds its right side.
pub fn true_above(op: RelOp) -> bool {
    matches!(op, RelOp::Gt | RelOp::Ge)
}
