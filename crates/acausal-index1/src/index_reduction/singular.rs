//! Messages for structurally singular models, in the user's own equations and variables.

use acausal_base::Diagnostic;
use acausal_expr::flat::{Equation, FlatModel, OriginKind};
use acausal_structure::segments::{ElementSet, Span as IndexSpan};

use rustc_hash::FxHashMap;

use crate::segments::incidence::Incidence;

/// How many equations or variables a message lists.
const SHOWN: usize = 8;

/// One message per over- and under-determined set.
pub(crate) fn diagnostics(
    flat: &FlatModel,
    equations: &[Equation],
    inc: &Incidence,
    over: &[ElementSet],
    under: &[ElementSet],
) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for set in over {
        let variables = names(flat, inc, set);
        let surplus: u64 = set.equations.iter().map(|(_, s)| size(s)).sum();
        let Some((first, _)) = set.equations.first() else {
            continue;
        };
        let origin = flat.origin(equations[first.index()].origin);
        let one = surplus == 1;
        let what = match (variables.is_empty(), one) {
            (true, true) => "contains no unknown at all".to_string(),
            (true, false) => "contain no unknown at all".to_string(),
            (false, _) => format!(
                "{} only {}",
                if one { "determines" } else { "determine" },
                variables.join(", ")
            ),
        };
        let mut d = Diagnostic::error(
            "overdetermined",
            origin.span,
            format!("too many equations: {surplus} of them {what}"),
        );
        for (e, _) in set.equations.iter().skip(1).take(SHOWN) {
            let o = flat.origin(equations[e.index()].origin);
            d = d.label(o.span, describe(o.kind, &o.component));
        }
        d = d.hint(
            "remove one of these equations, or use an unknown that they do not determine yet",
        );
        out.push(d);
    }
    for set in under {
        let variables = names(flat, inc, set);
        let Some((v, _)) = set.variables.first() else {
            continue;
        };
        let (var, _) = inc.quantity[v.index()];
        let equations_size = set.equations.iter().map(|(_, s)| size(s)).sum::<u64>();
        let unknowns = chains(inc, set).map(|(_, s)| size(s)).sum::<u64>();
        let mut d = Diagnostic::error(
            "underdetermined",
            flat.var(var).span,
            format!(
                "too few equations: {} {} not determined ({} for {})",
                variables.join(", "),
                if unknowns == 1 { "is" } else { "are" },
                count(equations_size, "equation"),
                count(unknowns, "unknown"),
            ),
        );
        for (e, _) in set.equations.iter().take(SHOWN) {
            let o = flat.origin(equations[e.index()].origin);
            d = d.label(o.span, describe(o.kind, &o.component));
        }
        out.push(d.hint("add an equation for one of these variables"));
    }
    if out.is_empty() {
        let span = flat
            .vars
            .first()
            .map_or(acausal_base::Span::NONE, |v| v.span);
        out.push(Diagnostic::error(
            "singular",
            span,
            "the equations do not determine the unknowns",
        ));
    }
    out
}

/// The elements of a set without those that are derivatives of others in it: `x` and `der(x)` are one unknown.
fn chains<'a>(
    inc: &'a Incidence,
    set: &'a ElementSet,
) -> impl Iterator<Item = &'a (acausal_structure::VarId, Vec<IndexSpan>)> {
    let mut lowest: FxHashMap<(acausal_expr::VarId, &[IndexSpan]), u8> = FxHashMap::default();
    for (v, spans) in &set.variables {
        let (var, order) = inc.quantity[v.index()];
        let least = lowest.entry((var, spans)).or_insert(order);
        *least = order.min(*least);
    }
    set.variables.iter().filter(move |(v, spans)| {
        let (var, order) = inc.quantity[v.index()];
        lowest.get(&(var, spans.as_slice())) == Some(&order)
    })
}

/// `1 unknown`, `2 unknowns`.
fn count(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

fn size(spans: &[IndexSpan]) -> u64 {
    spans.iter().map(|s| s.size()).product()
}

fn describe(kind: OriginKind, component: &str) -> String {
    let what = match kind {
        OriginKind::Potential | OriginKind::Flow => "this connection",
        OriginKind::Unconnected => "not connected, so its flow is zero",
        OriginKind::Binding => "this declaration",
        _ => "this equation",
    };
    if component.is_empty() {
        what.to_string()
    } else {
        format!("{what}, in component {component}")
    }
}

/// The variables of a set, with index ranges; auxiliary ones are left out.
fn names(flat: &FlatModel, inc: &Incidence, set: &ElementSet) -> Vec<String> {
    let mut out = Vec::new();
    for (v, spans) in chains(inc, set) {
        let (var, order) = inc.quantity[v.index()];
        let texts: Vec<String> = spans
            .iter()
            .map(|s| {
                if s.size() == 1 {
                    s.lo.to_string()
                } else {
                    format!("{}:{}", s.lo, s.hi)
                }
            })
            .collect();
        let name = flat.var(var).name.with_subscripts(&texts);
        let name = format!(
            "{}{name}{}",
            "der(".repeat(order as usize),
            ")".repeat(order as usize)
        );
        out.push(format!("`{name}`"));
    }
    let more = out.len().saturating_sub(SHOWN);
    out.truncate(SHOWN);
    if more > 0 {
        out.push(format!("and {more} more"));
    }
    out
}
