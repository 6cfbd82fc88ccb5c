//! Which piece of an equation can be solved for which piece of a variable without losing solutions.
//!
//! "Retained solution space" (Otter & Elmqvist 2017, §4.6): what is divided by must not be zero. Two kinds of coefficients
//! qualify.
//! - A literal other than zero: always ([`Pivot::Certain`], or [`Pivot::Dominant`] if no other literal of the equation is
//!   larger: `z[i] = 0.5*z[i-1] + 1` may be solved for both, but a chain of solutions for `z[i-1]` doubles errors each time).
//! - An expression of parameters whose value is known now, is not zero, and is not much smaller than the other known
//!   coefficients of its equation ([`LEAST_PIVOT`], a threshold as in sparse elimination): conditionally. State
//!   selection takes these where they serve the preferences or save tearing variables. A parameter that is set to zero
//!   before compiling is no pivot; its equation stays a residual, which needs no division. A parameter that is computed at
//!   the start (`fixed = false`) is none either, because its value is not known. Should a value become zero later, the
//!   quotient is not finite, and the simulation stops with the name of the variable and its equation: nothing is
//!   divided by zero silently.
//!
//! For arrays the access must be elementwise and cover exactly the piece; other accesses to the same piece must reach
//! elements that the loop has computed before (a recurrence), in ascending or in descending order. A coefficient of parameters must be a pivot for all
//! elements. Usually they have one value ([`is_alike`]); different ones are compared one by one in short pieces only, so
//! that the cost does not follow the array lengths.
//!
//! Worked example: `u = R*i` can be solved for u (literal 1), and with `parameter Real R = 100` for i; with `R = 0` only
//! for u. `x^2 + y^2 = 1` can be solved for nothing.

mod assumptions;
mod coefficients;
mod magnitudes;
#[cfg(test)]
mod tests;

use acausal_expr::flat::FlatModel;
use acausal_expr::{ExprId, IterId, Node};
use acausal_structure::segments::size_of;
use acausal_structure::state_selection::Pivot;
use acausal_structure::{EqId, VarId as NodeId};

use crate::segments::nodes::{EquationNode, Nodes, Touched, VariableNode};
use coefficients::{Coefficient, Sum, read_coefficients};

pub(crate) use assumptions::assumptions;

/// Coefficients that differ from element to element are looked at one by one in pieces of at most this many elements.
const MOST_POINTS: usize = 64;

/// Smallest pivot of parameters, relative to the largest known coefficient of its equation. Units make coefficients differ by
/// many decades without anything being wrong: `v1 - v2 = R*i` with a resistance of a microohm. What counts are rounding
/// errors of the other terms, which the division makes larger by at most 1/[`LEAST_PIVOT`]: to 2e-9 of them, far below
/// usual tolerances.
const LEAST_PIVOT: f64 = 1e-7;

/// Which pairs are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairScope {
    /// All of them.
    All,
    /// Equations with one unknown (functions of time), so that constraints are kept; and with `names` also
    /// those that give a derivative a name, `v = der(x)`.
    Given {
        /// Whether names of derivatives are no unknowns of their own.
        names: bool,
    },
}

/// The order in which the elements of a piece are solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As the loop is written.
    Ascending,
    /// From the last one back: `x[i] = x[i + 1]` gives x from its end.
    Descending,
}

/// For each pair that can be solved: the access to solve for.
#[derive(Debug, Default)]
pub struct Solvable {
    /// Per equation, in their order: variables with the access, the order of the loop and what is divided by.
    pairs: Vec<(NodeId, ExprId, Order, Pivot)>,
    /// Where the pairs of each equation end.
    ends: Vec<u32>,
    constant_linear: Vec<bool>,
    by_element: Vec<bool>,
    /// Of the accesses of equations in loops: how large their coefficients are.
    magnitudes: Vec<magnitudes::Magnitude>,
    /// Per equation: where its magnitudes begin.
    magnitude_starts: Vec<Option<u32>>,
}

impl Solvable {
    /// Looks at pairs of original equations and variables. `in_loop` says of which equations the coefficients are kept.
    pub fn new(
        flat: &mut FlatModel,
        nodes: &Nodes,
        scope: PairScope,
        in_loop: impl Fn(EqId) -> bool,
    ) -> Solvable {
        let mut out = Solvable::default();
        let original = nodes.differentiated.original_variables;
        let mut sum = Sum::default();
        let mut coefficients: Vec<Coefficient> = Vec::new();
        for (e, eq) in nodes.equations.iter().enumerate() {
            let id = EqId::new(e);
            let row = nodes.differentiated.graph.row(id);
            read_coefficients(flat, eq, &mut sum, &mut coefficients);
            let in_scope = match scope {
                PairScope::All => true,
                PairScope::Given { names } => {
                    row.len() == 1 || names && is_name_of_derivative(flat, eq, &coefficients)
                }
            };
            if in_loop(id) {
                let start = out.magnitudes.len() as u32;
                out.magnitude_starts.resize(e, None);
                out.magnitude_starts.push(Some(start));
                let own = magnitudes::magnitudes(flat, eq, &coefficients);
                out.magnitudes.extend(own);
            }
            let literal = |c: &Coefficient| c.literal(&flat.exprs).is_some();
            out.constant_linear.push(
                scope == PairScope::All
                    && eq.piece.domain.is_empty()
                    && coefficients.iter().all(literal),
            );
            if !in_scope {
                out.by_element.push(false);
                out.ends.push(out.pairs.len() as u32);
                continue;
            }
            let pivots = pivots(flat, eq, &coefficients);
            let solvable = |(t, p): (&Touched, &Pivot)| t.elementwise && *p != Pivot::No;
            out.by_element
                .push(eq.touched.iter().zip(&pivots).any(solvable));
            for (t, pivot) in eq.touched.iter().zip(pivots) {
                let wanted = scope == PairScope::All || row.len() == 1 || t.order == 0;
                if pivot == Pivot::No || !wanted {
                    continue;
                }
                for &v in row.iter().filter(|v| v.index() < original) {
                    if let Some(order) = admissible(flat, eq, t, &nodes.variables[v.index()]) {
                        out.pairs.push((v, t.node, order, pivot));
                    }
                }
            }
            out.ends.push(out.pairs.len() as u32);
        }
        out
    }

    /// The access to solve original equation `e` for, if it can be solved for `v`, and the order of the loop.
    pub fn access(&self, e: EqId, v: NodeId) -> Option<(ExprId, Order)> {
        self.pair(e, v).map(|p| (p.1, p.2))
    }

    /// The pairs that the pieces were cut for.
    pub fn hints(&self, nodes: &Nodes) -> Vec<(EqId, NodeId)> {
        let pairs = nodes.pairs.iter().filter_map(|&(e, access)| {
            let node = nodes.equations[e].touched[access].node;
            let id = EqId::new(e);
            let mut row = nodes.differentiated.graph.row(id).iter();
            let v = row.find(|v| self.access(id, **v).is_some_and(|a| a.0 == node))?;
            Some((id, *v))
        });
        pairs.collect()
    }

    /// Whether original equation `e` can be solved for `v`.
    pub fn pivot(&self, e: EqId, v: NodeId) -> Pivot {
        self.pair(e, v).map_or(Pivot::No, |p| p.3)
    }

    /// The last pair of an equation and a variable: equations have few.
    fn pair(&self, e: EqId, v: NodeId) -> Option<&(NodeId, ExprId, Order, Pivot)> {
        let end = *self.ends.get(e.index())? as usize;
        let start = e.index().checked_sub(1).map_or(0, |k| self.ends[k]) as usize;
        self.pairs[start..end].iter().rev().find(|p| p.0 == v)
    }

    /// Whether each element of an original equation can be solved for an element of a variable, in whatever piece.
    pub fn is_solvable_by_element(&self, e: EqId) -> bool {
        self.by_element.get(e.index()).copied().unwrap_or(false)
    }

    /// Whether an original equation is a scalar equation, linear with literal coefficients.
    pub fn is_constant_linear(&self, e: EqId) -> bool {
        self.constant_linear
            .get(e.index())
            .copied()
            .unwrap_or(false)
    }
}

/// What dividing by the coefficient of each access of an equation would mean, for every element: accesses that are not
/// elementwise are no pivots.
pub fn access_pivots(flat: &mut FlatModel, eq: &EquationNode) -> Vec<Pivot> {
    let mut coefficients = Vec::new();
    read_coefficients(flat, eq, &mut Sum::default(), &mut coefficients);
    let pivots = pivots(flat, eq, &coefficients);
    let admitted = eq.touched.iter().zip(pivots);
    admitted
        .map(|(t, p)| if t.elementwise { p } else { Pivot::No })
        .collect()
}

/// `v = der(x)`, up to a factor: a variable and the derivative of another one, and nothing else.
fn is_name_of_derivative(
    flat: &FlatModel,
    eq: &EquationNode,
    coefficients: &[Coefficient],
) -> bool {
    let [a, b] = &eq.touched[..] else {
        return false;
    };
    let bare = |e: ExprId| matches!(flat.exprs.node(e), Node::Var(_));
    (a.order == 0) != (b.order == 0)
        && a.var != b.var
        && bare(eq.piece.lhs)
        && bare(eq.piece.rhs)
        && !coefficients.contains(&Coefficient::Unusable)
}

/// What dividing by each coefficient of an equation would mean.
fn pivots(flat: &FlatModel, eq: &EquationNode, coefficients: &[Coefficient]) -> Vec<Pivot> {
    let literals = coefficients.iter().map(|c| c.literal(&flat.exprs));
    let mut values: Vec<Option<f64>> = literals.collect();
    let largest = values.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
    let of_literal = |v: f64| match v.abs() {
        0.0 => Pivot::No,
        size if size >= largest => Pivot::Dominant,
        _ => Pivot::Certain,
    };
    // None of the points at which the coefficients are looked at may speak against a pivot.
    let mut pivots: Vec<Pivot> = values
        .iter()
        .map(|v| v.map_or(Pivot::Conditional, of_literal))
        .collect();
    if values.iter().all(Option::is_some) {
        return pivots;
    }
    // An access that is not elementwise is never solved for; its coefficient may be a sum over a long array.
    let known: Vec<Option<Coefficient>> = coefficients
        .iter()
        .zip(&eq.touched)
        .map(|(c, t)| Some(*c).filter(|c| t.elementwise && c.is_of_parameters(flat)))
        .collect();
    for (p, k) in pivots.iter_mut().zip(&known) {
        if k.is_none() && *p == Pivot::Conditional {
            *p = Pivot::No;
        }
    }
    if !pivots.contains(&Pivot::Conditional) {
        return pivots;
    }
    let alike = known.iter().flatten().all(|c| match *c {
        Coefficient::Expression(c) => is_alike(flat, eq, c),
        // Literals and scalar parameters.
        _ => true,
    });
    if !alike && eq.piece.len() > MOST_POINTS {
        for p in &mut pivots {
            if *p == Pivot::Conditional {
                *p = Pivot::No;
            }
        }
        return pivots;
    }
    let mut look = |point: &[(IterId, i64)]| {
        for (v, c) in values.iter_mut().zip(&known) {
            if let Some(c) = c {
                *v = c.value(flat, point);
            }
        }
        let largest = values.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
        for (p, v) in pivots.iter_mut().zip(&values) {
            let fits =
                v.is_some_and(|v| v.is_finite() && v != 0.0 && v.abs() >= LEAST_PIVOT * largest);
            if *p == Pivot::Conditional && !fits {
                *p = Pivot::No;
            }
        }
    };
    let at = |point: &[i64]| -> Vec<(IterId, i64)> {
        let iters = eq.piece.domain.iter().map(|d| d.0);
        iters.zip(point.iter().copied()).collect()
    };
    if alike {
        let first: Vec<i64> = eq.piece.domain.iter().map(|(_, r)| r.start).collect();
        look(&at(&first));
    } else {
        acausal_symbolic::elements::for_each_point(&eq.piece.domain, |point| look(&at(point)));
    }
    pivots
}

/// Whether a coefficient is the same for all elements of a piece: its iterators only choose elements of parameters whose
/// elements all have one value, such as `each R = 100` of an array of resistors.
fn is_alike(flat: &FlatModel, eq: &EquationNode, c: ExprId) -> bool {
    let moves = |e: ExprId| {
        let mut iters = eq.piece.domain.iter().filter(|(_, r)| r.count > 1);
        iters.any(|(i, _)| flat.exprs.depends_on_iter(e, *i))
    };
    let mut stack = vec![c];
    while let Some(e) = stack.pop() {
        if !moves(e) {
            continue;
        }
        match flat.exprs.node(e) {
            Node::Var(a) => {
                let var = flat.var(a.var);
                let Some(binding) = var.binding.as_ref().or(var.start.as_ref()) else {
                    return false;
                };
                let uses = |i: &IterId| flat.exprs.depends_on_iter(binding.body, *i);
                if binding.iters.iter().any(uses) {
                    return false;
                }
            }
            Node::Iter(_) => return false,
            _ => flat.exprs.for_each_child(e, |child| stack.push(child)),
        }
    }
    true
}

/// Whether a piece of an equation can be solved for a piece of a variable through an access, and in which order.
fn admissible(flat: &FlatModel, eq: &EquationNode, t: &Touched, v: &VariableNode) -> Option<Order> {
    if t.var != v.var || t.order != v.order || !t.elementwise || t.spans != v.spans {
        return None;
    }
    if size_of(&v.spans) != eq.piece.len() as u64 {
        return None;
    }
    // Other accesses to the same piece: only to elements that the loop has computed before.
    let mut order = None;
    for o in &eq.touched {
        if o.node == t.node || o.var != v.var || o.order != v.order {
            continue;
        }
        let apart = o
            .spans
            .iter()
            .zip(&v.spans)
            .any(|(a, b)| a.hi < b.lo || b.hi < a.lo);
        if apart {
            continue;
        }
        let needed = recurrence(flat, eq, t.node, o.node)?;
        if order.is_some_and(|o| o != needed) {
            return None;
        }
        order = Some(needed);
    }
    Some(order.unwrap_or(Order::Ascending))
}

/// The order in which the other access reaches elements that were solved before: the outermost iterator along which the two are
/// apart decides, if they are apart by a constant distance there. `T[i, j, k]` and `T[i - 1, 2, k]` are one i apart, whatever
/// their other subscripts are.
fn recurrence(flat: &FlatModel, eq: &EquationNode, solved: ExprId, other: ExprId) -> Option<Order> {
    let x = &flat.exprs;
    let (Node::Var(a), Node::Var(b)) = (x.node(solved), x.node(other)) else {
        return None;
    };
    let (sa, sb) = (x.list(a.subs), x.list(b.subs));
    for (iter, range) in eq.piece.domain.iter().filter(|(_, r)| r.count > 1) {
        // The solved access is elementwise: one of its subscripts follows the iterator.
        let mut pairs = sa.iter().zip(sb);
        let (&p, &q) = pairs.find(|(p, _)| x.depends_on_iter(**p, *iter))?;
        let (p, q) = (x.affine(p)?, x.affine(q)?);
        if p.terms != q.terms {
            return None;
        }
        let ahead = (q.constant - p.constant) * p.coefficient(*iter) * range.step;
        match ahead.signum() {
            0 => {}
            -1 => return Some(Order::Ascending),
            _ => return Some(Order::Descending),
        }
    }
    None
}
