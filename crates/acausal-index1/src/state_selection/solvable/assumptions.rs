//! What was taken for granted about coefficients of parameters, so that it can be looked at again when a simulation sets parameters
//! ([`acausal_expr::assumption`]).
//!
//! In: what is solved for what. Out: of the pairs with conditional pivots the coefficients that are divided by, of the loops in which growth was bounded the
//! coefficients of all equations, each as an expression of parameters. Only where a parameter that can be set occurs. Linear in the
//! equations of these; an array is one item.

use acausal_expr::assumption::{
    Assumptions, CoefficientSize, LoopAssumption, LoopRow, LoopTerm, PivotAssumption, Points,
};
use acausal_expr::flat::FlatModel;
use acausal_expr::{ExprId, Node};
use acausal_structure::state_selection::{Pivot, ReliableLoop, Selection, terms_of};
use acausal_structure::tearing::growth::{Growth, Term};
use acausal_structure::{EqId, VarId as NodeId};

use super::coefficients::{Coefficient, Sum, is_known, read_coefficients};
use super::magnitudes::{bounds, sums_over_elements};
use super::{LEAST_PIVOT, MOST_POINTS, Solvable, is_alike};
use crate::segments::nodes::{EquationNode, Nodes, Touched};
use crate::singularities::evaluate::{self, may_change};

/// What the selection takes for granted.
pub(crate) fn assumptions(
    flat: &mut FlatModel,
    nodes: &Nodes,
    solvable: &Solvable,
    selection: &Selection,
) -> Assumptions {
    let mut out = Assumptions::default();
    let mut reader = Reader::default();
    let integral = nodes.differentiated.eq_integral();
    let root = |mut e: EqId| {
        while let Some(i) = integral[e.index()] {
            e = i;
        }
        e
    };
    // Derivatives divide by what their integrals divide by.
    let solved = selection.dummies.iter().chain(&selection.explicit);
    for &(e, v) in solved.filter(|p| integral[p.0.index()].is_none()) {
        if solvable.pivot(e, v) == Pivot::Conditional
            && let Some((access, _)) = solvable.access(e, v)
        {
            let eq = &nodes.equations[e.index()];
            out.pivots.extend(reader.pivot(flat, eq, access));
        }
    }
    for l in &selection.reliable {
        let terms = |e: EqId| {
            let of_root = |e: EqId| solvable.terms(nodes, e);
            terms_of(&nodes.differentiated, &integral, Some(&of_root), e)
        };
        let equation = |e: EqId| &nodes.equations[root(e).index()];
        out.loops.extend(reader.torn_loop(flat, l, terms, equation));
    }
    out
}

/// Reads coefficients.
#[derive(Default)]
struct Reader {
    sum: Sum,
    coefficients: Vec<Coefficient>,
}

impl Reader {
    fn read(&mut self, flat: &mut FlatModel, eq: &EquationNode) {
        read_coefficients(flat, eq, &mut self.sum, &mut self.coefficients);
    }

    fn pivot(
        &mut self,
        flat: &mut FlatModel,
        eq: &EquationNode,
        access: ExprId,
    ) -> Option<PivotAssumption> {
        self.read(flat, eq);
        let k = eq.touched.iter().position(|t| t.node == access)?;
        let (value, factor) = expression(flat, &self.coefficients[k])?;
        if !may_change(flat, value) {
            return None;
        }
        let literals = self.coefficients.iter();
        let largest = literals
            .filter_map(|c| c.literal(&flat.exprs))
            .fold(0.0f64, |m, v| m.max(v.abs()));
        Some(PivotAssumption {
            value,
            least: LEAST_PIVOT * largest / factor.abs(),
            points: points(flat, eq, &[value]),
            origin: eq.piece.origin,
        })
    }

    fn torn_loop<'n>(
        &mut self,
        flat: &mut FlatModel,
        l: &ReliableLoop,
        terms: impl Fn(EqId) -> Vec<Term>,
        equation: impl Fn(EqId) -> &'n EquationNode,
    ) -> Option<LoopAssumption> {
        let number = |v: &NodeId| l.unknowns.binary_search(v).ok().map(|k| k as u32);
        let mut rows = Vec::with_capacity(l.equations.len());
        for &e in &l.equations {
            let eq = equation(e);
            self.read(flat, eq);
            let mut row = LoopRow {
                sides: [eq.piece.lhs, eq.piece.rhs],
                points: points(flat, eq, &[]),
                terms: Vec::new(),
                unknown: Vec::new(),
                origin: eq.piece.origin,
            };
            let both = eq.touched.iter().zip(&self.coefficients);
            for (term, (t, c)) in terms(e).iter().zip(both) {
                let variables: Vec<u32> = term.variables.iter().filter_map(number).collect();
                if variables.is_empty() {
                    continue;
                }
                row.terms.push(LoopTerm {
                    variables,
                    solves: term.solves.as_ref().and_then(number),
                    size: size(flat, eq, t, c, &mut row.unknown),
                    nonlinear: term.nonlinear,
                });
            }
            let values = row.terms.iter().filter_map(|t| match t.size {
                CoefficientSize::Value(e) => Some(e),
                _ => None,
            });
            row.points = points(flat, eq, &values.collect::<Vec<_>>());
            // Slopes are not compared between elements; in short arrays all are looked at.
            let mut terms = row.terms.iter();
            row.points.every |= eq.piece.len() <= MOST_POINTS
                && terms.any(|t| matches!(t.size, CoefficientSize::Slope(_)));
            row.unknown.sort_unstable();
            row.unknown.dedup();
            rows.push(row);
        }
        let known = |t: &LoopTerm| matches!(t.size, CoefficientSize::Known(..));
        if rows.iter().flat_map(|r| &r.terms).all(known) {
            return None;
        }
        let rows_of = equation_numbers(&l.equations);
        let mut solved: Vec<(u32, u32, bool)> = (l.solved.iter())
            .filter_map(|(e, v, stays)| Some((rows_of(*e)?, number(v)?, *stays)))
            .collect();
        keep_what_was_kept(l, &terms, &mut solved);
        Some(LoopAssumption {
            given: l.given.clone(),
            rows,
            solved,
        })
    }
}

/// The number of each equation of a loop.
fn equation_numbers(equations: &[EqId]) -> impl Fn(EqId) -> Option<u32> {
    let mut sorted: Vec<(EqId, u32)> = equations.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    move |e| {
        let k = sorted.binary_search_by_key(&e, |p| p.0).ok()?;
        Some(sorted[k].1)
    }
}

/// What a second look at the same coefficients would give up stays in any case: bounds of circles change when a part of them is open.
fn keep_what_was_kept(
    l: &ReliableLoop,
    terms: impl Fn(EqId) -> Vec<Term>,
    solved: &mut [(u32, u32, bool)],
) {
    let given = |v: NodeId| (l.unknowns.binary_search(&v)).is_ok_and(|k| l.given[k]);
    let growth = Growth::new(&l.unknowns, &l.equations, given, terms);
    let mut fixed: Vec<EqId> = (l.solved.iter().filter(|s| s.2)).map(|s| s.0).collect();
    fixed.sort_unstable();
    let pairs: Vec<(EqId, NodeId)> = l.solved.iter().map(|s| (s.0, s.1)).collect();
    let again = growth.check(&pairs, |e| fixed.binary_search(&e).is_ok());
    for g in again.given_up {
        let given_up = l.solved.iter().zip(solved.iter_mut());
        for (_, s) in given_up.filter(|(p, _)| p.0 == g.equation) {
            s.2 = true;
        }
    }
}

/// A coefficient of parameters as an expression, and its literal factor.
fn expression(flat: &mut FlatModel, c: &Coefficient) -> Option<(ExprId, f64)> {
    match *c {
        Coefficient::Nonlinear | Coefficient::Unusable | Coefficient::Literal(_) => None,
        Coefficient::Expression(e) => Some((e, 1.0)),
        Coefficient::Product(product, factor) => {
            let Node::Mul(l) = flat.exprs.node(product) else {
                return None;
            };
            let factors = flat.exprs.list(l).to_vec();
            let known: Vec<ExprId> = factors.into_iter().filter(|&f| is_known(flat, f)).collect();
            Some((flat.exprs.mul(&known), factor))
        }
    }
}

fn points(flat: &FlatModel, eq: &EquationNode, values: &[ExprId]) -> Points {
    Points {
        domain: eq.piece.domain.clone(),
        every: !values.iter().all(|&v| is_alike(flat, eq, v)),
    }
}

/// How large a coefficient is, in the form in which it can be asked again.
fn size(
    flat: &mut FlatModel,
    eq: &EquationNode,
    t: &Touched,
    c: &Coefficient,
    unknown: &mut Vec<ExprId>,
) -> CoefficientSize {
    let (least, most) = bounds(flat, eq, c, t);
    let now = CoefficientSize::Known(least, most);
    let sides = [eq.piece.lhs, eq.piece.rhs];
    let settable = sides.iter().any(|&side| may_change(flat, side));
    let sums = !t.elementwise && sums_over_elements(flat, eq, t.node);
    if !settable || sums || c.literal(&flat.exprs).is_some() {
        return now;
    }
    let first: Vec<_> = (eq.piece.domain.iter())
        .map(|(i, r)| (*i, r.start))
        .collect();
    let long = eq.piece.len() > MOST_POINTS;
    if c.is_of_parameters(flat) && c.value(flat, &first).is_some() {
        let Some((value, factor)) = expression(flat, c) else {
            return now;
        };
        // Different elements of long arrays are not known.
        if !may_change(flat, value) || long && !is_alike(flat, eq, value) {
            return now;
        }
        let factor = flat.exprs.real(factor);
        return CoefficientSize::Value(flat.exprs.mul(&[factor, value]));
    }
    for (access, a) in sides.iter().flat_map(|&s| flat.exprs.accesses(s)) {
        if flat.var(a.var).is_parameter()
            && (long && !is_alike(flat, eq, access)
                || evaluate::value(flat, access, &first).is_none())
        {
            unknown.push(access);
        }
    }
    CoefficientSize::Slope(t.node)
}
