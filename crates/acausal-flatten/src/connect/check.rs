//! What is wrong with connections: kinds that do not fit, indices out of bounds, several sources of one signal.

use acausal_base::{Diagnostic, Span};
use acausal_expr::flat::FlatModel;

use super::compress::{Set, Strip};
use super::link::{Connections, Face, LeafKind, Link};

/// What is wrong with a link.
pub(super) fn check(
    model: &FlatModel,
    connections: &Connections,
    link: &Link,
) -> Option<Diagnostic> {
    let span = model.origin(link.origin).span;
    let name = |k: usize| model.var(link.ends[k].port.var).name.plain();
    let kinds = link
        .ends
        .each_ref()
        .map(|end| connections.leaves.get(end.port.var));
    let [Some(a), Some(b)] = kinds else {
        let k = if kinds[0].is_none() { 0 } else { 1 };
        let message = format!("`{}` is not part of a connector", name(k));
        return Some(Diagnostic::error("connect-no-connector", span, message));
    };
    if family(a) != family(b) {
        let message = format!(
            "cannot connect `{}` ({}) with `{}` ({})",
            name(0),
            describe(a),
            name(1),
            describe(b)
        );
        return Some(Diagnostic::error("connect-kind", span, message).hint(
            "connected variables must both be `flow`, both `stream`, both parameters, or none of these",
        ));
    }
    for (k, end) in link.ends.iter().enumerate() {
        for (d, sub) in end.subs.iter().enumerate() {
            let size = model.var(end.port.var).dims.get(d).map_or(0, |&n| n as i64);
            let (mut low, mut high) = (sub.constant, sub.constant);
            for (iter, range) in &link.domain {
                if range.count <= 0 {
                    return None; // no elements, nothing to check
                }
                let c = sub.coefficient(*iter);
                let (first, last) = (c * range.start, c * range.last());
                low += first.min(last);
                high += first.max(last);
            }
            if low < 1 || high > size {
                let wrong = if low < 1 { low } else { high };
                let message = format!(
                    "index {wrong} of `{}` is outside of 1:{size} (dimension {} of the connected array)",
                    name(k),
                    d + 1
                );
                return Some(Diagnostic::error("connect-index", span, message));
            }
        }
    }
    None
}

/// Kinds that may be connected with each other.
fn family(kind: LeafKind) -> LeafKind {
    match kind {
        LeafKind::Input | LeafKind::Output => LeafKind::Potential,
        other => other,
    }
}

fn describe(kind: LeafKind) -> &'static str {
    match kind {
        LeafKind::Potential => "a potential",
        LeafKind::Flow => "`flow`",
        LeafKind::Stream => "`stream`",
        LeafKind::Parameter => "a parameter",
        LeafKind::Input => "an `input`",
        LeafKind::Output => "an `output`",
    }
}

/// The member that determines a causal set: an output of a component, or an input of the class itself. At most one.
pub(super) fn source(
    model: &FlatModel,
    connections: &Connections,
    set: &Set,
) -> Result<Option<usize>, Diagnostic> {
    let is_source = |strip: &&Strip| {
        matches!(
            (connections.leaves.get(strip.port.var), strip.port.face),
            (Some(LeafKind::Output), Face::Inside) | (Some(LeafKind::Input), Face::Outside)
        )
    };
    let sources: Vec<&Strip> = set.strips.iter().filter(is_source).collect();
    let several = sources.len() > 1
        || sources
            .iter()
            .any(|s| s.lines.iter().any(|l| l.free_range().is_some()));
    if several {
        let element = |s: &&Strip| format!("`{}`", model.var(s.port.var).name.plain());
        let mut names: Vec<String> = sources.iter().map(element).collect();
        names.dedup();
        let span = sources
            .iter()
            .find_map(|s| s.origin)
            .map_or(Span::NONE, |o| model.origin(o).span);
        let message = format!("several outputs drive one signal: {}", names.join(", "));
        return Err(Diagnostic::error("connect-two-sources", span, message)
            .hint("connect every input with one output only"));
    }
    Ok(set.strips.iter().position(|s| is_source(&s)))
}
