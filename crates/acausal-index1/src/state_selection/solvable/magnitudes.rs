//! How large the coefficients of an equation are, for the growth of errors in loops ([`acausal_structure::tearing::growth`]).
//!
//! In: the coefficients of the accesses. Out: for each access the smallest and the largest absolute value over the elements of
//! the piece. Parameters count with their present value. What is no number (a nonlinear access, a coefficient of variables or of
//! time) counts with the bound of its slope ([`derivative_bound`]), if there is one: `if locked then s else 1` has one. (0, ∞) stands
//! for what is not known now: unbounded slopes, sums over arrays, and parameters that are computed at the start. Coefficients
//! that differ from element to element are looked at one by one in short pieces only, as pivots are.

use acausal_expr::flat::FlatModel;
use acausal_expr::{ExprId, IterId, Node, ValueKind, derivative_bound};
use acausal_structure::segments::Span;
use acausal_structure::tearing::growth::Term;
use acausal_structure::{EqId, VarId as NodeId};

use super::coefficients::Coefficient;
use super::{MOST_POINTS, Solvable, is_alike};
use crate::segments::nodes::{EquationNode, Nodes, Touched};
use crate::singularities::evaluate;

/// Smallest and largest absolute value.
type Bounds = (f64, f64);

const UNKNOWN: Bounds = (0.0, f64::INFINITY);

/// What is known of a coefficient.
#[derive(Clone, Copy, Debug)]
pub(super) struct Magnitude {
    bounds: Bounds,
    /// There is none: the equation is nonlinear in the access.
    nonlinear: bool,
}

/// The magnitudes of the coefficients of an equation, by access.
pub(super) fn magnitudes(
    flat: &FlatModel,
    eq: &EquationNode,
    coefficients: &[Coefficient],
) -> Vec<Magnitude> {
    let both = coefficients.iter().zip(&eq.touched);
    both.map(|(c, t)| Magnitude {
        bounds: bounds(flat, eq, c, t),
        nonlinear: *c == Coefficient::Nonlinear,
    })
    .collect()
}

pub(super) fn bounds(flat: &FlatModel, eq: &EquationNode, c: &Coefficient, t: &Touched) -> Bounds {
    if !t.elementwise && sums_over_elements(flat, eq, t.node) {
        return UNKNOWN;
    }
    if let Some(c) = c.literal(&flat.exprs) {
        return (c.abs(), c.abs());
    }
    let is_number = c.is_of_parameters(flat);
    let alike = match *c {
        Coefficient::Expression(c) => is_number && is_alike(flat, eq, c),
        Coefficient::Nonlinear | Coefficient::Unusable => false,
        _ => true,
    };
    let mut out = (f64::INFINITY, 0.0f64);
    let mut look = |point: &[i64]| {
        let iters = eq.piece.domain.iter().map(|d| d.0);
        let at: Vec<(IterId, i64)> = iters.zip(point.iter().copied()).collect();
        let (least, most) = match c.value(flat, &at).filter(|_| is_number) {
            Some(v) => (v.abs(), v.abs()),
            None => slopes(flat, eq, t.node, &at),
        };
        out = match most.is_finite() {
            true => (out.0.min(least), out.1.max(most)),
            false => UNKNOWN,
        };
    };
    if alike || eq.piece.len() > MOST_POINTS {
        let first: Vec<i64> = eq.piece.domain.iter().map(|(_, r)| r.start).collect();
        look(&first);
        if !alike && is_number {
            return UNKNOWN;
        }
    } else {
        acausal_symbolic::elements::for_each_point(&eq.piece.domain, look);
    }
    out
}

/// The bound of the slope of an equation in an access. In long pieces parameters that differ from element to element are not known.
fn slopes(flat: &FlatModel, eq: &EquationNode, access: ExprId, at: &[(IterId, i64)]) -> Bounds {
    let long = eq.piece.len() > MOST_POINTS;
    let parameter = |p: ExprId| {
        let Node::Var(a) = flat.exprs.node(p) else {
            return None;
        };
        let known = a.kind == ValueKind::Value && flat.var(a.var).is_parameter();
        match known && (!long || is_alike(flat, eq, p)) {
            true => evaluate::value(flat, p, at),
            false => None,
        }
    };
    let side = |e: ExprId| derivative_bound(&flat.exprs, e, access, parameter);
    let ((a, b), (c, d)) = (side(eq.piece.lhs), side(eq.piece.rhs));
    acausal_expr::magnitude((a - d, b - c)).unwrap_or(UNKNOWN)
}

/// Whether one element of the equation reads several elements through an access: a subscript has an iterator that is not one of
/// the equation.
pub(super) fn sums_over_elements(flat: &FlatModel, eq: &EquationNode, access: ExprId) -> bool {
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
            let mut solves = solves.filter(|v| self.access(e, *v).is_some_and(|a| a.0 == t.node));
            let known = first.map(|f| self.magnitudes[f as usize + k]);
            let (least, most) = known.map_or(UNKNOWN, |m| m.bounds);
            Term {
                solves: solves.next_back(),
                variables,
                least,
                most,
                nonlinear: known.is_some_and(|m| m.nonlinear),
            }
        };
        eq.touched.iter().enumerate().map(term).collect()
    }
}

fn overlap(a: &[Span], b: &[Span]) -> bool {
    a.iter().zip(b).all(|(x, y)| x.lo <= y.hi && y.lo <= x.hi)
}
