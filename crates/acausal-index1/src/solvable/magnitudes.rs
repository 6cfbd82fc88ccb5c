//! How large the coefficients of an equation are, for the growth of errors in loops ([`acausal_structure::tearing::growth`]).
//!
//! In: the coefficients of the accesses. Out: for each access the smallest and the largest absolute value over the elements of
//! the piece, (0, ∞) where it is not known now: nonlinear accesses, coefficients of variables or of time, sums over arrays, and
//! values of parameters that are computed at the start. Parameters count with their present value. Coefficients that differ from
//! element to element are looked at one by one in short pieces only, as pivots are.

use acausal_expr::flat::FlatModel;
use acausal_expr::{ExprId, IterId, Node};
use acausal_structure::segments::Span;
use acausal_structure::tearing::growth::Term;
use acausal_structure::{EqId, VarId as NodeId};

use super::{Coefficient, MOST_POINTS, Solvable, is_alike};
use crate::nodes::{EquationNode, Nodes, Touched};

/// Smallest and largest absolute value.
pub(super) type Magnitude = (f64, f64);

const UNKNOWN: Magnitude = (0.0, f64::INFINITY);

/// The magnitudes of the coefficients of an equation, by access.
pub(super) fn magnitudes(
    flat: &FlatModel,
    eq: &EquationNode,
    coefficients: &[Coefficient],
) -> Vec<Magnitude> {
    let both = coefficients.iter().zip(&eq.touched);
    both.map(|(c, t)| magnitude(flat, eq, c, t)).collect()
}

fn magnitude(flat: &FlatModel, eq: &EquationNode, c: &Coefficient, t: &Touched) -> Magnitude {
    if !t.elementwise && sums_over_elements(flat, eq, t.node) {
        return UNKNOWN;
    }
    if let Some(c) = c.literal(&flat.exprs) {
        return (c.abs(), c.abs());
    }
    if !c.is_of_parameters(flat) {
        return UNKNOWN;
    }
    let alike = match *c {
        Coefficient::Expression(c) => is_alike(flat, eq, c),
        _ => true,
    };
    let mut out = (f64::INFINITY, 0.0f64);
    let mut look = |point: &[i64]| {
        let iters = eq.piece.domain.iter().map(|d| d.0);
        let at: Vec<(IterId, i64)> = iters.zip(point.iter().copied()).collect();
        match c.value(flat, &at).map(f64::abs) {
            Some(v) if v.is_finite() => out = (out.0.min(v), out.1.max(v)),
            _ => out = UNKNOWN,
        }
    };
    if alike {
        let first: Vec<i64> = eq.piece.domain.iter().map(|(_, r)| r.start).collect();
        look(&first);
    } else if eq.piece.len() <= MOST_POINTS {
        crate::element::for_each_point(&eq.piece.domain, look);
    } else {
        out = UNKNOWN;
    }
    out
}

/// Whether one element of the equation reads several elements through an access: a subscript has an iterator that is not one of
/// the equation.
fn sums_over_elements(flat: &FlatModel, eq: &EquationNode, access: ExprId) -> bool {
    let Node::Var(a) = flat.exprs.node(access) else {
        return true;
    };
    let own = |i: IterId| eq.piece.domain.iter().any(|d| d.0 == i);
    let subs = flat.exprs.list(a.subs);
    let nodes = flat.exprs.reachable(subs);
    nodes
        .iter()
        .any(|&n| matches!(flat.exprs.node(n), Node::Iter(i) if !own(i)))
}

impl Solvable {
    /// The coefficients of an original equation of a loop.
    pub fn terms(&self, nodes: &Nodes, e: EqId) -> Vec<Term> {
        let eq = &nodes.equations[e.index()];
        let first = self.magnitude_starts.get(e.index()).copied().flatten();
        let row = nodes.differentiated.graph.row(e);
        let term = |(k, t): (usize, &Touched)| {
            let reached = row.iter().copied().filter(|v| {
                let n = &nodes.variables[v.index()];
                n.var == t.var && n.order == t.order && overlap(&n.spans, &t.spans)
            });
            let variables: Vec<NodeId> = reached.collect();
            let solves = variables.iter().copied();
            let solves = solves.filter(|v| self.access(e, *v).is_some_and(|a| a.0 == t.node));
            let (least, most) = first.map_or(UNKNOWN, |f| self.magnitudes[f as usize + k]);
            Term {
                solves: solves.last(),
                variables,
                least,
                most,
            }
        };
        eq.touched.iter().enumerate().map(term).collect()
    }
}

fn overlap(a: &[Span], b: &[Span]) -> bool {
    a.iter().zip(b).all(|(x, y)| x.lo <= y.hi && y.lo <= x.hi)
}
