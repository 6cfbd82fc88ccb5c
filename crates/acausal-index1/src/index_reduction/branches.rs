//! A warning where derivatives are not determined uniquely.
//!
//! If a highest derivative enters its equation nonlinearly, as in `x = der(x)^2`, there may be several solutions through
//! one point, and where they meet the equations are singular (Mattsson 1986, example 2.1; Cellier & Kofman 2006, (7.72)).
//! Such a model is not wrong, but which solution is followed depends on the start values of the derivatives, which is
//! worth a warning. Equations that were differentiated are linear in what they determine; only those as written are
//! looked at. A derivative that decides in a condition only (`if der(x) > 0 then ...`) does not count; one that has a name of
//! its own (`w = der(x); x = w^2`) does.

use acausal_base::Diagnostic;
use acausal_expr::flat::FlatModel;
use acausal_expr::{ExprId, Exprs, Node, Printer, VarId};
use acausal_symbolic::{Gradient, Solve};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::aliases::Reduced;
use crate::report::node_name;
use crate::segments::incidence::order_of;
use crate::segments::nodes::Nodes;
use crate::state_selection::Structure;

/// One warning per block with such derivatives.
pub(crate) fn warnings(
    flat: &mut FlatModel,
    structure: &Structure,
    reduced: &Reduced,
) -> Vec<Diagnostic> {
    let (nodes, blocks) = (&structure.nodes, &structure.blocks);
    let integral = nodes.differentiated.var_integral();
    let named = names_of_derivatives(flat, nodes);
    let mut out = Vec::new();
    for (equations, unknowns) in blocks.iter() {
        let mut names: Vec<String> = Vec::new();
        let mut origins = Vec::new();
        // The derivatives that the block determines; the first piece of each.
        let mut derivatives: FxHashMap<(VarId, u8), usize> = FxHashMap::default();
        for v in unknowns {
            let n = &nodes.variables[v.index()];
            if integral[v.index()].is_some() || named.contains(&n.var) {
                derivatives.entry((n.var, n.order)).or_insert(v.index());
            }
        }
        for e in equations {
            let Some(eq) = nodes.equations.get(e.index()) else {
                continue;
            };
            let (piece, mut here) = (eq.piece.clone(), false);
            for t in &eq.touched {
                let Some(&v) = derivatives.get(&(t.var, t.order)) else {
                    continue;
                };
                let plain = |side| is_plainly_linear(&flat.exprs, side, t.node);
                if plain(piece.lhs) && plain(piece.rhs) {
                    continue;
                }
                let residual = flat.exprs.sub(piece.lhs, piece.rhs);
                if is_nonlinear(&mut flat.exprs, residual, t.node) {
                    here = true;
                    let name = format!("`{}`", node_name(flat, &nodes.variables[v]));
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
            if here {
                let written = reduced.as_written(eq.source);
                let written = written.filter(|w| w.origin == piece.origin).cloned();
                origins.push(written.unwrap_or(piece));
            }
        }
        let Some(first) = origins.first() else {
            continue;
        };
        let message = format!(
            "{} {} nonlinearly, so that several solutions may pass through one point: {}",
            names.join(", "),
            if names.len() == 1 { "enters" } else { "enter" },
            Printer::new(flat).equation(first),
        );
        let mut d =
            Diagnostic::warning("several-solutions", flat.origin(first.origin).span, message);
        for more in &origins[1..] {
            d = d.label(flat.origin(more.origin).span, "and this equation");
        }
        out.push(d.hint(
            "the start values of the derivatives choose; where solutions meet, the simulation cannot go on",
        ));
    }
    out
}

/// The variables w of equations `w = der(x)`.
fn names_of_derivatives(flat: &FlatModel, nodes: &Nodes) -> FxHashSet<VarId> {
    let access = |e: ExprId| match flat.exprs.node(e) {
        Node::Var(a) => Some((a.var, order_of(a.kind)?)),
        _ => None,
    };
    let sides = nodes.equations.iter().filter_map(|e| {
        let (l, r) = (access(e.piece.lhs)?, access(e.piece.rhs)?);
        match (l.1, r.1) {
            (0, 1) => Some(l.0),
            (1, 0) => Some(r.0),
            _ => None,
        }
    });
    sides.collect()
}

/// Whether an expression is a sum of products in which the unknown is a factor or does not occur, as one sees without building a slope.
fn is_plainly_linear(exprs: &Exprs, e: ExprId, unknown: ExprId) -> bool {
    let product = |e: ExprId| {
        e == unknown
            || match exprs.node(e) {
                Node::Mul(l) => {
                    let factors = exprs.list(l).iter().filter(|&&f| f != unknown);
                    let (others, all) = (factors.clone().count(), exprs.list(l).len());
                    others + 1 >= all && !factors.clone().any(|&f| exprs.contains(f, unknown))
                }
                _ => !exprs.contains(e, unknown),
            }
    };
    match exprs.node(e) {
        Node::Add(l) => exprs.list(l).iter().all(|&t| product(t)),
        _ => product(e),
    }
}

/// Whether the slope of `e` with respect to `unknown` changes with it, other than by a condition.
fn is_nonlinear(exprs: &mut Exprs, e: ExprId, unknown: ExprId) -> bool {
    if exprs.linear_in(e, unknown).is_some() {
        return false;
    }
    let slopes = exprs.gradient(e, |_, n| n == unknown);
    let mut stack: Vec<ExprId> = slopes
        .into_iter()
        .filter(|(leaf, _)| *leaf == unknown)
        .map(|(_, slope)| slope)
        .collect();
    let mut seen = FxHashSet::default();
    while let Some(n) = stack.pop() {
        if n == unknown {
            return true;
        }
        if !seen.insert(n) {
            continue;
        }
        match exprs.node(n) {
            Node::Rel(..) => {}
            Node::If(_, a, b) => stack.extend([a, b]),
            _ => exprs.for_each_child(n, |c| stack.push(c)),
        }
    }
    false
}
