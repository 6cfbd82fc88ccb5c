//! Derivative relations between states and their stabilisation (form (17), after Gear, Gupta & Leimkuhler).
//!
//! If a state is kept and its derivative is a state too (or is given by an equation), `der(x) = x1` becomes a residual. If a derivative of a constraint is
//! a residual too, each of its elements gets a multiplier μ and the relation becomes `der(x) - x1 + G'·μ = 0` with
//! `G = ∂(constraint derivative)/∂x1`, taken symbolically with local assignments put in. The transposed product is written
//! per element of x1: an access `x1[c*i + o]` in row i contributes to element j through `i = (j - o)/c`. Where a constraint meets several
//! assignments along its array (`a[1] := r[1]`, `a[k] := r[k] - r[k - 1]` for the others), its rows are taken in pieces that meet one.
//!
//! Simplification: an assignment that uses elements of its own array (a recurrence) is put in once, so that of such a chain G holds the
//! nearest elements only. Any matrix in place of G' would do for which `G·G'` is regular, since μ is zero in the solution.

use acausal_expr::flat::{Equation, FlatModel, OriginId, Variability};
use acausal_expr::{Access, ExprId, IterId, Node, Range, ReduceOp, RelOp, Ty, ValueKind, VarId};
use acausal_structure::VarId as NodeId;
use acausal_structure::segments::Span;
use acausal_symbolic::{Gradient, Reduce, Substitute, auxiliary, hoist_reductions, split_equation};
use rustc_hash::{FxHashMap, FxHashSet};

use super::unknowns::state;
use crate::index_reduction::derivatives::Written;
use crate::segments::incidence::{kind_of, order_of};
use crate::segments::nodes::Nodes;
use crate::state_selection::Structure;
use crate::{Local, Residual};
use acausal_expr::unknown::{RowKind, Unknown, UnknownRole};

/// Adds the derivative relations as residuals. `explicit` are the variables that are known explicitly, in the order of evaluation, whether or not they
/// became local assignments. Gives the states with such relations and the multipliers as unknowns, and the nodes of these states.
pub(super) fn relations(
    flat: &mut FlatModel,
    structure: &Structure,
    written: &[Written],
    explicit: &[Local],
    residuals: &mut Vec<Residual>,
    locals: &mut Vec<Local>,
) -> (Vec<Unknown>, FxHashSet<NodeId>) {
    let nodes = &structure.nodes;
    let relations = &structure.form.der_relations;
    let mut unknowns = Vec::new();
    let multipliers = multipliers(flat, structure, written, relations, explicit, &mut unknowns);
    let partials = partials(flat, &multipliers);
    let origin = multipliers
        .first()
        .map_or(written.first().map(|w| w.origin), |(w, _)| Some(w.origin));
    let mut done = FxHashSet::default();
    for &(v, w) in relations {
        let Some(origin) = origin else { break };
        let (slope, relation) = relation(flat, nodes, (v, w), &multipliers, &partials, origin);
        for piece in split_equation(&mut flat.exprs, relation) {
            let value = flat.exprs.sub(piece.lhs, piece.rhs);
            let kind = Variability::Continuous;
            let value = hoist_reductions(flat, &piece.domain, value, origin, kind, locals);
            residuals.push(Residual {
                domain: piece.domain.into(),
                value,
                origin,
                kind: RowKind::Dynamic,
            });
        }
        unknowns.push(state(flat, nodes, v, Some(slope)));
        done.insert(v);
    }
    (unknowns, done)
}

/// The derivatives of constraints that are residuals too, each with its multiplier; in pieces that meet one assignment.
fn multipliers(
    flat: &mut FlatModel,
    structure: &Structure,
    written: &[Written],
    relations: &[(NodeId, NodeId)],
    explicit: &[Local],
    unknowns: &mut Vec<Unknown>,
) -> Vec<(Written, Access)> {
    let form = &structure.form;
    let mut targets: FxHashMap<(VarId, ValueKind), Vec<usize>> = FxHashMap::default();
    if !form.der1.is_empty() {
        for (k, l) in explicit.iter().enumerate() {
            let key = (l.target.var, l.target.kind);
            targets.entry(key).or_default().push(k);
        }
    }
    let kept = kept_derivatives(&structure.nodes, relations);
    let mut multipliers = Vec::new();
    for e in &form.der1 {
        let w = &written[e.index()];
        let mu = auxiliary(flat, &w.domain, Variability::Continuous);
        let pieces = through_locals(flat, w, &kept, &targets, explicit);
        multipliers.extend(pieces.into_iter().map(|piece| (piece, mu)));
        unknowns.push(Unknown {
            value: None,
            derivative: Some((mu.var, ValueKind::Value)),
            elements: None,
            len: w.domain.iter().map(|(_, r)| r.count as usize).product(),
            role: UnknownRole::Mu,
            level: 0,
        });
    }
    multipliers
}

/// `slope.x = x1 - G'*mu`, and the variable `slope.x`: the derivative of x under a name of its own, because der(x) as
/// written is the state x1.
fn relation(
    flat: &mut FlatModel,
    nodes: &Nodes,
    (v, w): (NodeId, NodeId),
    multipliers: &[(Written, Access)],
    partials: &Partials,
    origin: OriginId,
) -> (VarId, Equation) {
    let node = &nodes.variables[v.index()];
    let domain: Vec<(IterId, Range)> = (node.spans.iter())
        .map(|s| {
            let range = Range {
                start: s.lo,
                step: 1,
                count: s.size() as i64,
            };
            (flat.exprs.new_iter("j"), range)
        })
        .collect();
    let slope = auxiliary(flat, &[], Variability::Continuous).var;
    flat.vars[slope.index()].dims = flat.var(node.var).dims.clone();
    let name = flat.var(node.var).name.clone();
    flat.vars[slope.index()].name = prefixed("$slope", &name);
    let subs: Vec<ExprId> = domain.iter().map(|(i, _)| flat.exprs.iter(*i)).collect();
    let lhs = flat.exprs.var(slope, ValueKind::Value, &subs, Ty::Real);
    let x1 = &nodes.variables[w.index()];
    let direct = flat.exprs.var(x1.var, kind_of(x1.order), &subs, Ty::Real);
    let mut terms = vec![];
    for (k, access, product) in partials.get(&(x1.var, x1.order)).into_iter().flatten() {
        let (eq, _) = &multipliers[*k];
        terms.push(transpose(flat, eq, *access, *product, &domain));
    }
    let mut sum = vec![direct];
    for t in terms {
        sum.push(flat.exprs.neg(t));
    }
    let rhs = flat.exprs.add(&sum);
    let equation = Equation {
        domain: domain.into(),
        lhs,
        rhs,
        origin,
    };
    (slope, equation)
}

fn prefixed(prefix: &str, name: &acausal_expr::flat::VarName) -> acausal_expr::flat::VarName {
    let mut parts = name.parts();
    if let Some(first) = parts.first_mut() {
        first.0 = acausal_base::Name::new(&format!("{prefix}.{}", &*first.0));
    }
    acausal_expr::flat::VarName::new(&parts)
}

/// Most pieces that a constraint is taken in. What is left over then keeps an incomplete gradient.
const MOST_PIECES: usize = 100;

/// A constraint derivative with local assignments put in, in pieces each of which meets one assignment at each place.
fn through_locals(
    flat: &mut FlatModel,
    eq: &Written,
    kept: &Kept,
    targets: &FxHashMap<(VarId, ValueKind), Vec<usize>>,
    locals: &[Local],
) -> Vec<Written> {
    let mut out = Vec::new();
    let mut todo = vec![eq.clone()];
    while let Some(piece) = todo.pop() {
        let (done, cut) = put_in(flat, &piece, kept, targets, locals);
        match cut {
            Some(cut) if out.len() + todo.len() < MOST_PIECES => {
                let (below, above) = cut.apply(&piece);
                todo.extend([above, below]);
            }
            _ => out.push(done),
        }
    }
    out
}

/// A place where the rows of a piece begin to meet another assignment: behind this value of an iterator.
struct Cut {
    iter: IterId,
    last: i64,
}

impl Cut {
    fn apply(&self, eq: &Written) -> (Written, Written) {
        let part = |below: bool| {
            let mut piece = eq.clone();
            for (_, range) in piece.domain.iter_mut().filter(|d| d.0 == self.iter) {
                let (lo, hi) = (range.start.min(range.last()), range.start.max(range.last()));
                let (start, end) = match below {
                    true => (lo, self.last),
                    false => (self.last + 1, hi),
                };
                *range = Range {
                    start,
                    step: 1,
                    count: end - start + 1,
                };
            }
            piece
        };
        (part(true), part(false))
    }

    /// Where an access leaves or enters a box, if it is partly inside.
    fn at(
        x: &acausal_expr::Exprs,
        subs: &[ExprId],
        reached: &[(i64, i64)],
        place: &[(i64, i64)],
    ) -> Option<Cut> {
        let mut both = reached.iter().zip(place);
        if both.any(|(r, p)| r.1 < p.0 || p.1 < r.0) {
            return None;
        }
        let mut dims = subs.iter().zip(reached).zip(place);
        let ((&s, _), boundary) = dims.find_map(|(at, p)| {
            // The last subscript on the lower side of the boundary.
            let boundary = if at.1.0 < p.0 { p.0 - 1 } else { p.1 };
            (at.1.0 < p.0 || p.1 < at.1.1).then_some((at, boundary))
        })?;
        let affine = x.affine(s)?;
        let [(iter, c)] = affine.terms.as_slice() else {
            return None;
        };
        let i = c * (boundary - affine.constant);
        Some(Cut {
            iter: *iter,
            last: if *c > 0 { i } else { i - 1 },
        })
    }
}

/// A constraint derivative with local assignments put in, so that its gradient is complete: `der(u)` in it may stand for
/// `der(x) + der(y)`. The derivatives that are states of their own stay. Also where the rows would have to be cut first.
fn put_in(
    flat: &mut FlatModel,
    eq: &Written,
    kept: &Kept,
    targets: &FxHashMap<(VarId, ValueKind), Vec<usize>>,
    locals: &[Local],
) -> (Written, Option<Cut>) {
    let mut cut = None;
    let mut residual = flat.exprs.sub(eq.lhs, eq.rhs);
    // Each local assignment reads earlier ones only, so the last one that is read is put in first.
    let mut before = locals.len();
    loop {
        let accesses = flat.exprs.accesses(residual);
        let read = accesses.iter().filter_map(|(_, a)| {
            let list = targets.get(&(a.var, a.kind))?;
            let earlier = &list[..list.partition_point(|&k| k < before)];
            earlier.last().copied()
        });
        let Some(last) = read.max() else { break };
        before = last;
        let local = &locals[last];
        let subs: Vec<ExprId> = flat.exprs.list(local.target.subs).to_vec();
        let Some(place) = bounds(&flat.exprs, &subs, &local.domain) else {
            continue;
        };
        let own = order_of(local.target.kind).and_then(|o| kept.get(&(local.target.var, o)));
        let is_kept = own.into_iter().flatten().any(|spans| {
            let mut both = spans.iter().zip(&place);
            both.all(|(s, p)| s.lo <= p.1 && p.0 <= s.hi)
        });
        if is_kept {
            continue;
        }
        residual = flat.exprs.rewrite(residual, |x, e| {
            let Node::Var(a) = x.node(e) else { return None };
            if a.var != local.target.var || a.kind != local.target.kind {
                return None;
            }
            let found: Vec<ExprId> = x.list(a.subs).to_vec();
            let reached = bounds(x, &found, &eq.domain)?;
            if reached
                .iter()
                .zip(&place)
                .any(|(r, p)| r.0 < p.0 || p.1 < r.1)
            {
                cut = cut.take().or_else(|| Cut::at(x, &found, &reached, &place));
                return None;
            }
            let mut values: Vec<(IterId, ExprId)> = Vec::new();
            for (&s, &f) in subs.iter().zip(&found) {
                let affine = x.affine(s)?;
                if let [(iter, c)] = affine.terms.as_slice() {
                    let shift = x.int(-affine.constant);
                    let shifted = x.add(&[f, shift]);
                    let c = x.int(*c);
                    values.push((*iter, x.mul(&[c, shifted])));
                }
            }
            let known = local
                .domain
                .iter()
                .all(|(i, _)| values.iter().filter(|(j, _)| i == j).count() == 1);
            known.then(|| x.substitute_iters(local.value, &values))
        });
    }
    let rhs = flat.exprs.real(0.0);
    let done = Written {
        lhs: residual,
        rhs,
        ..eq.clone()
    };
    (done, cut)
}

/// Smallest and largest value of each subscript, if it is a number or one iterator (with step ±1) plus a number.
fn bounds(
    x: &acausal_expr::Exprs,
    subs: &[ExprId],
    domain: &[(IterId, Range)],
) -> Option<Vec<(i64, i64)>> {
    subs.iter()
        .map(|&s| {
            let affine = x.affine(s)?;
            match affine.terms.as_slice() {
                [] => Some((affine.constant, affine.constant)),
                [(iter, c)] if c.abs() == 1 => {
                    let (_, r) = domain.iter().find(|(i, _)| i == iter)?;
                    let ends = (
                        c * r.start + affine.constant,
                        c * r.last() + affine.constant,
                    );
                    (r.step.abs() == 1).then_some((ends.0.min(ends.1), ends.0.max(ends.1)))
                }
                _ => None,
            }
        })
        .collect()
}

/// Boxes of derivatives that are states of their own, by variable and order.
type Kept = FxHashMap<(VarId, u8), Vec<Vec<Span>>>;

fn kept_derivatives(nodes: &Nodes, relations: &[(NodeId, NodeId)]) -> Kept {
    let mut kept = Kept::default();
    for (_, w) in relations {
        let n = &nodes.variables[w.index()];
        kept.entry((n.var, n.order))
            .or_default()
            .push(n.spans.to_vec());
    }
    kept
}

/// The terms of `G'·μ` before they are transposed, by the variable and order they belong to: number of the constraint
/// derivative, access, and partial derivative times multiplier.
type Partials = FxHashMap<(VarId, u8), Vec<(usize, Access, ExprId)>>;

fn partials(flat: &mut FlatModel, multipliers: &[(Written, Access)]) -> Partials {
    let mut out = Partials::default();
    for (k, (eq, mu)) in multipliers.iter().enumerate() {
        let residual = flat.exprs.sub(eq.lhs, eq.rhs);
        let gradient = flat
            .exprs
            .gradient(residual, |x, n| matches!(x.node(n), Node::Var(_)));
        for (leaf, partial) in gradient {
            let Node::Var(a) = flat.exprs.node(leaf) else {
                continue;
            };
            let Some(order) = order_of(a.kind) else {
                continue;
            };
            let multiplier = flat.exprs.access(*mu, Ty::Real);
            let product = flat.exprs.mul(&[partial, multiplier]);
            out.entry((a.var, order)).or_default().push((k, a, product));
        }
    }
    out
}

/// Rewrites a row's contribution as a function of the element it goes to.
fn transpose(
    flat: &mut FlatModel,
    eq: &Written,
    access: Access,
    product: ExprId,
    elements: &[(IterId, Range)],
) -> ExprId {
    let subs: Vec<ExprId> = flat.exprs.list(access.subs).to_vec();
    let mut values: Vec<(IterId, ExprId)> = Vec::new();
    let mut conditions: Vec<ExprId> = Vec::new();
    for (&s, &(j, _)) in subs.iter().zip(elements) {
        let x = &mut flat.exprs;
        let j = x.iter(j);
        let affine = x.affine(s);
        match affine.as_ref().map(|a| (a.constant, a.terms.as_slice())) {
            Some((constant, [(iter, c)]))
                if c.abs() == 1 && !values.iter().any(|(i, _)| i == iter) =>
            {
                // i = c*(j - constant)
                let shift = x.int(-constant);
                let shifted = x.add(&[j, shift]);
                let c = x.int(*c);
                let i = x.mul(&[c, shifted]);
                if let Some((_, r)) = eq.domain.iter().find(|(k, _)| k == iter) {
                    let (lo, hi) = (r.start.min(r.last()), r.start.max(r.last()));
                    let (lo, hi) = (x.int(lo), x.int(hi));
                    conditions.push(x.rel(RelOp::Ge, i, lo));
                    conditions.push(x.rel(RelOp::Le, i, hi));
                }
                values.push((*iter, i));
            }
            _ => conditions.push(x.rel(RelOp::Eq, j, s)),
        }
    }
    let x = &mut flat.exprs;
    let mut value = x.substitute_iters(product, &values);
    let zero = x.real(0.0);
    for c in conditions {
        let c = x.substitute_iters(c, &values);
        value = x.if_(c, value, zero);
    }
    // Rows that the subscripts do not tell apart all contribute.
    for &(iter, range) in eq.domain.iter().rev() {
        if !values.iter().any(|(i, _)| *i == iter) {
            value = x.reduce(ReduceOp::Sum, iter, range, value);
        }
    }
    value
}
