//! From selected states and sorted pieces to unknowns, local assignments and residuals.
//!
//! Every pair of an equation and the variable it is solved for is a candidate for a local assignment. It stays one if
//! the assignments remain free of cycles and substituting it does not add Jacobian entries (a Markowitz count on the
//! pieces; small models are always reduced as far as possible). Otherwise the variable is an algebraic unknown and the
//! equation a residual: for the integrator both are the same system.

use std::cmp::Reverse;

use acausal_base::Diagnostic;
use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Access, ExprId, IterId, Kind, Node, Range, VarId};
use acausal_structure::blt::strong_components;
use acausal_structure::segments::Span;
use acausal_structure::state_selection::{Form, Selection, Sorted};
use acausal_structure::tearing::Tear;
use acausal_structure::{EqId, Rows, VarId as NodeId};
use acausal_symbolic::{Differentiate, Solve};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::incidence::{is_unknown, kind_of, order_of};
use crate::jumps::{may_jump, visible_jump};
use crate::nodes::Nodes;
use crate::solvable::{Order, Solvable};
use crate::{
    Continuity, Dae, DiscreteEquation, FormReport, Local, Residual, hoist_reductions, linear,
    stabilise,
};
use acausal_expr::unknown::{Part, Role, RowKind, Unknown};

/// Models with at most this many scalar equations are reduced to the smallest form whatever the fill.
const SMALL: u64 = 500;

/// An equation of the differentiated system.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub domain: Vec<(IterId, Range)>,
    pub lhs: ExprId,
    pub rhs: ExprId,
    pub origin: OriginId,
    /// Original node and how often it was differentiated.
    pub root: EqId,
    pub times: u8,
}

/// `target := value` before it is decided whether it becomes a local assignment.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub equation: EqId,
    pub node: NodeId,
    pub target: ExprId,
    pub value: ExprId,
    /// The order of the loop.
    pub order: Order,
    /// The nodes of the graph that the value touches.
    pub reads: Vec<NodeId>,
}

/// Writes the DAE. `places` are the numbers of the equations in the source, if they have been put in another order: those that stay are residuals in the
/// order of the source, as the unknowns are.
#[allow(clippy::too_many_arguments)]
pub(crate) fn emit(
    mut flat: FlatModel,
    nodes: &Nodes,
    solvable: &Solvable,
    selection: &Selection,
    sorted: &Sorted,
    form: &Form,
    discrete: Vec<DiscreteEquation>,
    places: &[u32],
) -> Result<(Dae, GivenBack), Vec<Diagnostic>> {
    let (written, jumping) = write_equations(&mut flat, nodes)?;
    let mut residual_equations: Vec<(EqId, RowKind)> = Vec::new();
    residual_equations.extend(form.r0d.iter().map(|e| (*e, RowKind::Dynamic)));
    residual_equations.extend(form.r0a.iter().map(|e| (*e, RowKind::Algebraic)));
    residual_equations.extend(
        form.der0
            .iter()
            .chain(&form.der1)
            .map(|e| (*e, constraint(nodes, *e))),
    );
    let mut algebraic: Vec<NodeId> = selection.torn.clone();

    let mut back = GivenBack::default();
    // Lists of known length: what a growing list leaves behind adds to the largest amount of memory.
    let mut candidates = Vec::with_capacity(selection.dummies.len() + selection.explicit.len());
    let mut reader = Reader::new(&flat);
    let integral = nodes.differentiated.var_integral();
    for &(e, v) in selection.dummies.iter().chain(&selection.explicit) {
        match solve(&mut flat, &integral, &written, solvable, e, v) {
            Some(mut c) => {
                // While its value is at hand.
                c.reads = reader.reads(&flat, nodes, &c);
                candidates.push(c);
            }
            None => back.add(nodes, sorted, e, v),
        }
    }
    let mut given: linear::Given = FxHashMap::default();
    if !selection.linear.is_empty() {
        for (k, c) in candidates.iter().enumerate() {
            given.entry(c.target).or_insert(k);
        }
    }
    for set in &selection.linear {
        match linear::solve_set(&mut flat, nodes, &written, &candidates, &given, set) {
            Some(solved) => {
                for mut c in solved {
                    c.reads = reader.reads(&flat, nodes, &c);
                    given.entry(c.target).or_insert(candidates.len());
                    candidates.push(c);
                }
            }
            None => {
                for (e, v) in set.equations.iter().zip(&set.unknowns) {
                    back.add(nodes, sorted, *e, *v);
                }
            }
        }
    }
    let (ordered, rejected) = order(nodes, candidates);
    for c in rejected {
        back.add(nodes, sorted, c.equation, c.node);
    }
    let keep = limit_fill(&flat, nodes, &ordered);
    let mut locals: Vec<Local> = Vec::with_capacity(ordered.len());
    // What is given back to keep the Jacobian sparse is still known explicitly, which stabilisation makes use of.
    let mut explicit: Vec<Local> = Vec::new();
    let stabilises = !form.der1.is_empty();
    let mut amplified = Vec::new();
    let mut is_amplified = vec![false; nodes.variables.len()];
    for v in &selection.amplified {
        is_amplified[v.index()] = true;
    }
    for (c, keep) in ordered.iter().zip(keep) {
        let w = &written[c.equation.index()];
        let Node::Var(target) = flat.exprs.node(c.target) else {
            continue;
        };
        let first = locals.len();
        let value = if !keep || matches!(flat.exprs.node(c.value), Node::Reduce { .. }) {
            c.value
        } else {
            hoist(&mut flat, w, c.value, &mut locals)
        };
        let mut domain = w.domain.clone();
        if c.order == Order::Descending {
            for (_, r) in &mut domain {
                *r = Range {
                    start: r.last(),
                    step: -r.step,
                    count: r.count,
                };
            }
        }
        let local = Local {
            domain: domain.into(),
            target,
            value,
            origin: w.origin,
        };
        if keep {
            if is_amplified[c.node.index()] {
                amplified.push(locals.len());
            }
            locals.push(local);
            if stabilises {
                explicit.extend_from_slice(&locals[first..]);
            }
        } else {
            back.add(nodes, sorted, c.equation, c.node);
            if stabilises {
                explicit.push(local);
            }
        }
    }
    residual_equations.extend_from_slice(&back.rows);
    algebraic.extend_from_slice(&back.unknowns);
    let mut residuals = Vec::with_capacity(residual_equations.len());
    let place = |root: EqId| {
        let source = nodes.equations[root.index()].source;
        places.get(source).map_or(root, |&p| EqId(p))
    };
    residual_equations.sort_by_cached_key(|(e, _)| {
        let w = &written[e.index()];
        (place(w.root), w.root, w.times)
    });
    for (e, kind) in &residual_equations {
        let w = &written[e.index()];
        let value = flat.exprs.sub(w.lhs, w.rhs);
        let value = hoist(&mut flat, w, value, &mut locals);
        residuals.push(Residual {
            domain: w.domain.clone(),
            value,
            origin: w.origin,
            kind: *kind,
        });
    }
    let mut hidden = Vec::new();
    for e in &selection.dropped {
        let w = &written[e.index()];
        let value = flat.exprs.sub(w.lhs, w.rhs);
        let value = hoist(&mut flat, w, value, &mut locals);
        hidden.push(Residual {
            domain: w.domain.clone(),
            value,
            origin: w.origin,
            kind: RowKind::Dynamic,
        });
    }
    let mut continuous = Vec::with_capacity(jumping.len());
    for e in &jumping {
        let w = &written[e.index()];
        let scale = plain(&flat, w.lhs).or(plain(&flat, w.rhs));
        let sides = [w.lhs, w.rhs].map(|side| hoist(&mut flat, w, side, &mut locals));
        continuous.push(Continuity {
            domain: w.domain.clone(),
            sides,
            scale,
            origin: w.origin,
        });
        // What is differentiated in the model itself must not jump, even if it is assigned and moves with its equation.
        let zero = flat.exprs.real(0.0);
        for value in differentiated_accesses(&flat, nodes, w) {
            let scale = plain(&flat, value);
            continuous.push(Continuity {
                domain: w.domain.clone(),
                sides: [zero, value],
                scale,
                origin: w.origin,
            });
        }
    }
    let mut unknowns = Vec::new();
    let stabilised = stabilise::relations(
        &mut flat,
        nodes,
        &written,
        form,
        &form.der_relations,
        &mut unknowns,
        &mut residuals,
        &explicit,
        &mut locals,
    );
    for v in &selection.states {
        if !stabilised.contains(v) {
            unknowns.push(state(&flat, nodes, *v, None));
        }
    }
    algebraic.sort_unstable();
    for v in algebraic {
        // Where a constraint restricts the states, a force that enters with derivatives is of index two as an
        // algebraic unknown; its integral is not.
        let lambda = sorted.dynamic[v.index()] && !form.der0.is_empty();
        unknowns.push(algebraic_unknown(&flat, nodes, v, lambda));
    }
    unknowns.sort_by_key(|u| {
        (
            u.role as u8,
            u.value.or(u.derivative),
            u.elements.as_ref().map_or(0, |e| e.at(0)),
        )
    });
    let (n, m): (usize, usize) = (
        unknowns.iter().map(|u| u.len).sum(),
        residuals.iter().map(Residual::len).sum(),
    );
    if n != m {
        return Err(crate::transform::internal(&format!(
            "the index-one form has {m} equations for {n} unknowns"
        )));
    }
    let dae = Dae {
        flat,
        unknowns,
        locals,
        amplified,
        residuals,
        hidden,
        discrete,
        continuous,
        branching: false,
    };
    Ok((dae, back))
}

/// The variable that an expression is.
fn plain(flat: &FlatModel, e: ExprId) -> Option<VarId> {
    match flat.exprs.node(e) {
        Node::Var(a) if a.kind == Kind::Value => Some(a.var),
        _ => None,
    }
}

/// A constraint with its level.
fn constraint(nodes: &Nodes, e: EqId) -> RowKind {
    let derivative = &nodes.differentiated.eq_derivative;
    let chain = std::iter::successors(derivative[e.index()], |e| derivative[e.index()]);
    RowKind::Constraint {
        level: u8::try_from(chain.count()).unwrap_or(u8::MAX),
    }
}

/// How often a variable is differentiated further.
fn level(nodes: &Nodes, v: NodeId) -> u8 {
    let derivative = &nodes.differentiated.var_derivative;
    let chain = std::iter::successors(derivative[v.index()], |v| derivative[v.index()]);
    u8::try_from(chain.count()).unwrap_or(u8::MAX)
}

/// The accesses of an equation to quantities whose derivative occurs in the model as it was written.
fn differentiated_accesses(flat: &FlatModel, nodes: &Nodes, w: &Written) -> Vec<ExprId> {
    let original = nodes.differentiated.original_variables;
    let is_differentiated = |a: &Access| {
        let higher = order_of(a.kind).map(|order| nodes.by_quantity.get(a.var, order + 1));
        higher.is_some_and(|pieces| pieces.iter().any(|v| v.index() < original))
    };
    let mut found: Vec<ExprId> = [w.lhs, w.rhs]
        .iter()
        .flat_map(|side| flat.exprs.accesses(*side))
        .filter(|(_, a)| is_differentiated(a))
        .map(|(node, _)| node)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn hoist(flat: &mut FlatModel, w: &Written, value: ExprId, locals: &mut Vec<Local>) -> ExprId {
    hoist_reductions(
        flat,
        &w.domain,
        value,
        w.origin,
        acausal_expr::flat::Variability::Continuous,
        locals,
    )
}

/// All equations with their derivatives, symbolically; and those that are differentiated, if any of them may jump. All of them, because a jump goes on from one
/// to the next: `u = if b then 1 else 0; w = u; f = der(w)`.
fn write_equations(
    flat: &mut FlatModel,
    nodes: &Nodes,
) -> Result<(Vec<Written>, Vec<EqId>), Vec<Diagnostic>> {
    let mut differentiated = Vec::new();
    let mut jumps = false;
    let d = &nodes.differentiated;
    let mut written: Vec<Option<Written>> = vec![None; d.graph.elen.len()];
    let mut errors = Vec::new();
    for (k, e) in nodes.equations.iter().enumerate() {
        let mut w = Written {
            domain: e.piece.domain.clone().into(),
            lhs: e.piece.lhs,
            rhs: e.piece.rhs,
            origin: e.piece.origin,
            root: EqId::new(k),
            times: 0,
        };
        let mut id = EqId::new(k);
        loop {
            let next = d.eq_derivative[id.index()];
            written[id.index()] = Some(w.clone());
            let Some(n) = next else { break };
            if may_jump(flat, w.lhs) || may_jump(flat, w.rhs) {
                jumps = true;
                errors.extend(visible_jump(flat, &w));
            }
            differentiated.push(id);
            match differentiate(flat, &w) {
                Ok((lhs, rhs)) => {
                    w = Written {
                        lhs,
                        rhs,
                        times: w.times + 1,
                        ..w
                    }
                }
                Err(message) => errors.push(message),
            }
            id = n;
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    if !jumps {
        differentiated.clear();
    }
    Ok((written.into_iter().flatten().collect(), differentiated))
}

fn differentiate(flat: &mut FlatModel, w: &Written) -> Result<(ExprId, ExprId), Diagnostic> {
    let vars = &flat.vars;
    let mut input = None;
    for side in [w.lhs, w.rhs] {
        for (_, a) in flat.exprs.accesses(side) {
            let v = &vars[a.var.index()];
            if v.causality == acausal_expr::flat::Causality::Input && !v.is_discrete() {
                input = Some(v.name.plain());
            }
        }
    }
    if let Some(name) = input {
        let span = flat.origin(w.origin).span;
        return Err(Diagnostic::error(
            "input-derivative",
            span,
            format!("this equation must be differentiated, but the derivative of the input `{name}` is not known"),
        )
        .hint("make the derivative an input as well, or pass the input through a filter"));
    }
    let mut exprs = std::mem::take(&mut flat.exprs);
    let constant = |a: Access| vars[a.var.index()].is_discrete();
    let lhs = exprs.time_derivative(w.lhs, constant);
    let rhs = exprs.time_derivative(w.rhs, constant);
    flat.exprs = exprs;
    Ok((lhs, rhs))
}

/// Solves a (differentiated) equation for the (differentiated) access that the original can be solved for.
fn solve(
    flat: &mut FlatModel,
    integral: &[Option<NodeId>],
    written: &[Written],
    solvable: &Solvable,
    e: EqId,
    v: NodeId,
) -> Option<Candidate> {
    let w = &written[e.index()];
    let mut root = v;
    for _ in 0..w.times {
        root = integral[root.index()]?;
    }
    let (access, order) = solvable.access(w.root, root)?;
    let Node::Var(mut a) = flat.exprs.node(access) else {
        return None;
    };
    a.kind = kind_of(order_of(a.kind)? + w.times);
    let target = flat.exprs.access(a, acausal_expr::Ty::Real);
    let (value, _) = flat.exprs.solve_for(w.lhs, w.rhs, target)?;
    Some(Candidate {
        equation: e,
        node: v,
        target,
        value,
        order,
        reads: Vec::new(),
    })
}

/// Pairs that do not become local assignments after all: the variable is an unknown, the equation a residual.
#[derive(Default)]
pub(crate) struct GivenBack {
    rows: Vec<(EqId, RowKind)>,
    unknowns: Vec<NodeId>,
    /// What they add to the form.
    pub counts: FormReport,
}

impl GivenBack {
    fn add(&mut self, nodes: &Nodes, sorted: &Sorted, e: EqId, v: NodeId) {
        let graph = &nodes.differentiated.graph;
        let dynamic = graph.row(e).iter().any(|w| sorted.dynamic[w.index()]);
        let kind = if dynamic {
            RowKind::Dynamic
        } else {
            RowKind::Algebraic
        };
        self.rows.push((e, kind));
        self.unknowns.push(v);
        let (rows, length) = (graph.elen[e.index()], graph.vlen[v.index()]);
        self.counts.n += length;
        *(if dynamic {
            &mut self.counts.fd
        } else {
            &mut self.counts.fc
        }) += rows;
        if sorted.dynamic[v.index()] {
            self.counts.lambda += length;
        }
    }
}

/// Tells what candidates read.
struct Reader {
    unknown: Vec<bool>,
    /// Memory to work in.
    quantities: Vec<(VarId, u8)>,
}

impl Reader {
    fn new(flat: &FlatModel) -> Reader {
        Reader {
            unknown: flat.var_ids().map(|(id, _)| is_unknown(flat, id)).collect(),
            quantities: Vec::new(),
        }
    }

    /// The nodes of the graph that the value of a candidate touches.
    fn reads(&mut self, flat: &FlatModel, nodes: &Nodes, c: &Candidate) -> Vec<NodeId> {
        self.quantities.clear();
        flat.exprs.for_each_access(&[c.value], |_, a| {
            let known = self.unknown.get(a.var.index()).copied();
            if known.unwrap_or_else(|| is_unknown(flat, a.var)) {
                let order = order_of(a.kind);
                self.quantities.extend(order.map(|order| (a.var, order)));
            }
        });
        self.quantities.sort_unstable();
        self.quantities.dedup();
        nodes_of(nodes, c, &self.quantities)
    }
}

fn nodes_of(nodes: &Nodes, c: &Candidate, quantities: &[(VarId, u8)]) -> Vec<NodeId> {
    let row = nodes.differentiated.graph.row(c.equation);
    let quantity = |v: &NodeId| {
        let n = &nodes.variables[v.index()];
        (n.var, n.order)
    };
    // A linear set reads more than its own equation: then the quantities decide.
    let foreign = quantities
        .iter()
        .any(|q| !row.iter().any(|v| quantity(v) == *q));
    if foreign {
        let pieces = quantities.iter().map(|q| nodes.by_quantity.get(q.0, q.1));
        let mut all: Vec<NodeId> = pieces.flatten().copied().collect();
        all.sort_unstable();
        return all;
    }
    let row = row.iter().copied();
    row.filter(|v| quantities.binary_search(&quantity(v)).is_ok())
        .collect()
}

/// Orders candidates by dependence. Those that would close a cycle are given back, the busiest of each cycle first.
fn order(nodes: &Nodes, candidates: Vec<Candidate>) -> (Vec<Candidate>, Vec<Candidate>) {
    let mut by_node: Vec<Option<u32>> = vec![None; nodes.variables.len()];
    for (k, c) in candidates.iter().enumerate() {
        by_node[c.node.index()] = Some(k as u32);
    }
    let mut successors: Rows<NodeId> = Rows::new();
    for c in &candidates {
        let others = c.reads.iter().filter(|v| **v != c.node);
        let known = others.filter_map(|v| by_node[v.index()]);
        successors.push(known.map(NodeId));
    }
    let n = candidates.len();
    let parts = strong_components(n, |k| successors.row(k).iter().map(|v| v.index()));
    let mut rejected = vec![false; n];
    let mut tear = Tear::new(&successors, n);
    for part in parts.iter().filter(|p| p.len() > 1) {
        // Candidate k is a pair of equation k and unknown k; a pair is accepted if it closes no cycle.
        let inside: FxHashSet<usize> = part.iter().copied().collect();
        let busy = |k: usize| {
            let row = successors.row(k).iter();
            row.filter(|s| inside.contains(&s.index())).count()
        };
        let mut tried: Vec<(usize, Reverse<usize>)> =
            part.iter().map(|&k| (busy(k), Reverse(k))).collect();
        tried.sort_unstable();
        let unknowns: Vec<NodeId> = part.iter().map(|&k| NodeId::new(k)).collect();
        tear.begin(&unknowns);
        for (_, Reverse(k)) in tried {
            rejected[k] = !tear.try_solve(EqId::new(k), NodeId::new(k));
        }
    }
    let arcs = |k: usize| {
        let row: &[NodeId] = if rejected[k] { &[] } else { successors.row(k) };
        row.iter().map(|v| v.index()).filter(|&v| !rejected[v])
    };
    let sorted = strong_components(n, arcs);
    let mut all: Vec<Option<Candidate>> = candidates.into_iter().map(Some).collect();
    let kept = sorted.items().iter().filter(|&&k| !rejected[k]);
    let kept: Vec<Candidate> = kept.filter_map(|&k| all[k].take()).collect();
    (kept, all.into_iter().flatten().collect())
}

/// Which candidates to keep: not those whose substitution would add Jacobian entries.
fn limit_fill(flat: &FlatModel, nodes: &Nodes, ordered: &[Candidate]) -> Vec<bool> {
    let d = &nodes.differentiated;
    let total: u64 = (0..d.original_equations).map(|e| d.graph.elen[e]).sum();
    if total <= SMALL {
        return vec![true; ordered.len()];
    }
    // m: how many scalar equations use an element; k: on how many unknowns it depends.
    let mut uses: Vec<f64> = vec![0.0; nodes.variables.len()];
    let needed = needed(nodes, ordered);
    let equations = nodes.equations.iter().enumerate();
    for (e, eq) in equations.filter(|(e, _)| needed[*e]) {
        for v in d.graph.row(EqId::new(e)) {
            let node = &nodes.variables[v.index()];
            let accesses = eq
                .touched
                .iter()
                .filter(|t| t.var == node.var && t.order == node.order);
            let pairs: f64 = accesses
                .map(|t| {
                    if t.elementwise {
                        1.0
                    } else {
                        overlap_size(&t.spans, &node.spans)
                    }
                })
                .sum();
            uses[v.index()] +=
                pairs * d.graph.elen[e] as f64 / d.graph.vlen[v.index()].max(1) as f64;
        }
    }
    let mut depends: Vec<f64> = vec![1.0; nodes.variables.len()];
    let scalar = nodes.directions.is_empty();
    let mut keep = Vec::with_capacity(ordered.len());
    for c in ordered {
        let touched = &c.reads;
        let range = matches!(flat.exprs.node(c.value), Node::Reduce { .. });
        let mut k = 0.0;
        if scalar {
            // Each access is an unknown of its own.
            k = touched.iter().map(|v| depends[v.index()]).sum();
        } else {
            flat.exprs.for_each_access(&[c.value], |_, a| {
                // An access meets one element; which piece it lies in changes along the domain, so the worst one counts.
                let pieces = touched.iter().filter(|v| {
                    let node = &nodes.variables[v.index()];
                    a.var == node.var && order_of(a.kind) == Some(node.order)
                });
                let weights = pieces.map(|v| {
                    let own = depends[v.index()];
                    own * if range {
                        d.graph.vlen[v.index()] as f64
                    } else {
                        1.0
                    }
                });
                k += weights.fold(0.0, f64::max);
            });
        }
        // The equation that defines the element uses it too; it disappears with it.
        let m = (uses[c.node.index()] - 1.0).max(0.0);
        let sparse = k <= 1.0 || m <= 1.0 || k * m <= k + m + 1.0;
        if sparse {
            depends[c.node.index()] = k;
        }
        keep.push(sparse);
    }
    keep
}

/// Per equation: whether it is a residual, or an assignment that a residual needs. What is computed for results only adds nothing to the Jacobian.
fn needed(nodes: &Nodes, ordered: &[Candidate]) -> Vec<bool> {
    let graph = &nodes.differentiated.graph;
    let mut needed = vec![true; graph.elen.len()];
    for c in ordered {
        needed[c.equation.index()] = false;
    }
    let mut is_read = vec![false; nodes.variables.len()];
    for e in (0..needed.len()).filter(|&e| needed[e]) {
        for v in graph.row(EqId::new(e)) {
            is_read[v.index()] = true;
        }
    }
    for c in ordered.iter().rev() {
        if is_read[c.node.index()] {
            needed[c.equation.index()] = true;
            c.reads.iter().for_each(|v| is_read[v.index()] = true);
        }
    }
    needed
}

fn overlap_size(a: &[Span], b: &[Span]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(x, y)| (x.hi.min(y.hi) - x.lo.max(y.lo) + 1).max(0) as f64)
        .product()
}

/// A box of elements; `None` for the whole variable.
pub(crate) fn elements(flat: &FlatModel, var: VarId, spans: &[Span]) -> Option<Part> {
    let dims = &flat.var(var).dims;
    let whole = |(s, &d): (&Span, &usize)| s.lo == 1 && s.hi == d as i64;
    let all = spans.iter().zip(dims).all(whole);
    (!all).then(|| Part::new(dims, spans.iter().map(|s| (s.lo, s.hi))))
}

/// A state with its derivative; `derivative` overrides what the derivative is called.
pub(crate) fn state(
    flat: &FlatModel,
    nodes: &Nodes,
    v: NodeId,
    derivative: Option<VarId>,
) -> Unknown {
    let n = &nodes.variables[v.index()];
    let elements = elements(flat, n.var, &n.spans);
    let derivative = derivative.map_or((n.var, kind_of(n.order + 1)), |d| (d, Kind::Value));
    Unknown {
        value: Some((n.var, kind_of(n.order))),
        derivative: Some(derivative),
        elements,
        len: n.spans.iter().map(|s| s.size() as usize).product(),
        role: Role::State,
        level: level(nodes, v),
    }
}

fn algebraic_unknown(flat: &FlatModel, nodes: &Nodes, v: NodeId, lambda: bool) -> Unknown {
    let n = &nodes.variables[v.index()];
    let quantity = (n.var, kind_of(n.order));
    Unknown {
        value: (!lambda).then_some(quantity),
        derivative: lambda.then_some(quantity),
        elements: elements(flat, n.var, &n.spans),
        len: n.spans.iter().map(|s| s.size() as usize).product(),
        role: if lambda {
            Role::Lambda
        } else {
            Role::Algebraic
        },
        level: 0,
    }
}
