//! The start of discrete variables: initial equations, equations and `pre` together (MLS 3.6 §8.6).
//!
//! At the start a discrete variable `v` and its left limit `pre(v)` are two unknowns. Known are the initial equations, the
//! equations of discrete variables, and `v = pre(v)` for what a `when` clause assigns that is not active at the start;
//! what is left over takes its start value. So an initial equation about `v` can determine `pre` of another variable,
//! against the direction in which the equations are evaluated later.
//!
//! In: the flat model and its discrete equations as they are evaluated later. Out: assignments to values and left limits, in
//! order. They are evaluated before the discrete equations, which then find the left limits they need.
//!
//! Equations `q = e` with an expression `e` can only be used one way. Equations between two such unknowns are edges that
//! can be used either way, but only once: from a known unknown to one that nothing else determines (unit propagation).
//! Example, a step of a state machine:
//!
//! ```text
//! active = localActive;  localActive = pre(newActive);            equations
//! active = true;  pre(newActive) = pre(localActive);              initial equations
//! active := true;  localActive := active;  pre(newActive) := localActive;  pre(localActive) := pre(newActive)
//! ```
//!
//! Elements of arrays count by the ranges of their subscripts. Linear in the number of equations, if few of them are about
//! one variable.

use std::collections::VecDeque;

use acausal_expr::flat::{Action, Equation, FlatModel, OriginId, VarType, Variability};
use acausal_expr::{Access, Builtin, ExprId, IterId, Node, Range, Ty, ValueKind, VarId};
use acausal_symbolic::elements::overlap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::given_parameters::{bind_given, free_parameters};
use crate::{DiscreteEquation, IndexOneDae};

type Domain = Vec<(IterId, Range)>;
type Quantity = (VarId, ValueKind);

/// An initial equation of the form `d = e`, `pre(d) = e` (or turned round) for a discrete variable, or `p = e` for a
/// parameter without a value that is no Real.
pub(super) fn discrete_target(flat: &FlatModel, eq: &Equation) -> Option<(Access, ExprId)> {
    for (side, other) in [(eq.lhs, eq.rhs), (eq.rhs, eq.lhs)] {
        let Node::Var(a) = flat.exprs.node(side) else {
            continue;
        };
        let v = flat.var(a.var);
        let takes = match v.variability {
            Variability::Constant => false,
            Variability::Parameter => v.ty != VarType::Real && v.binding.is_none(),
            _ => v.is_discrete(),
        };
        if takes && v.ty != VarType::String && matches!(a.kind, ValueKind::Value | ValueKind::Pre) {
            return Some((a, other));
        }
    }
    None
}

/// Prepares the start: parameters that initial equations give a value become bound, assignments of discrete variables are found, and
/// what is left of the initial equations are conditions for continuous unknowns, each of them once.
pub(crate) fn prepare(dae: &mut IndexOneDae) {
    let flat = &mut dae.flat;
    dae.free_parameters = free_parameters(flat);
    bind_given(flat, &dae.free_parameters);
    dae.discrete_start = discrete_start(flat, &dae.discrete);
    let mut equations = std::mem::take(&mut flat.initial_equations);
    // Two components that start alike and are connected say the same word for word. The structure of the start would let each of them determine an
    // unknown of its own. Expressions are hash-consed and names are replaced by what they stand for, so equal sides are equal numbers.
    let mut seen = FxHashSet::default();
    equations.retain(|e| !e.domain.is_empty() || seen.insert((e.lhs, e.rhs)));
    equations.retain(|e| discrete_target(flat, e).is_none());
    flat.initial_equations = equations;
}

/// The assignments of the start.
fn discrete_start(flat: &mut FlatModel, discrete: &[DiscreteEquation]) -> Vec<DiscreteEquation> {
    let mut start = Start::default();
    for k in 0..flat.initial_equations.len() {
        let eq = flat.initial_equations[k].clone();
        let Some((target, value)) = discrete_target(flat, &eq) else {
            continue;
        };
        match unknown(flat, value) {
            Some(other) => start.edge(target, other, eq.domain.into(), eq.origin, true),
            None => start.roots.push(DiscreteEquation {
                domain: eq.domain.into(),
                target,
                value,
                origin: eq.origin,
            }),
        }
    }
    if start.roots.is_empty() && start.edges.is_empty() {
        return Vec::new();
    }
    for e in discrete {
        match unknown(flat, e.value) {
            Some(other) => start.edge(e.target, other, e.domain.clone(), e.origin, false),
            None => {
                start.determined.insert((e.target.var, e.target.kind));
            }
        }
    }
    start.clauses(flat);
    start.solve(flat);
    start.assignments
}

/// The unknown that an expression consists of.
fn unknown(flat: &FlatModel, e: ExprId) -> Option<Access> {
    match flat.exprs.node(e) {
        Node::Var(a) if matches!(a.kind, ValueKind::Value | ValueKind::Pre) => {
            let v = flat.var(a.var);
            (v.is_discrete() && !v.is_parameter() && v.ty != VarType::String).then_some(a)
        }
        _ => None,
    }
}

/// `sides[0] = sides[1]`
struct Edge {
    sides: [Access; 2],
    domain: Domain,
    origin: OriginId,
    /// An initial equation.
    initial: bool,
    used: bool,
}

#[derive(Default)]
struct Start {
    roots: Vec<DiscreteEquation>,
    edges: Vec<Edge>,
    at: FxHashMap<Quantity, Vec<usize>>,
    /// What equations with an expression determine.
    determined: FxHashSet<Quantity>,
    known: FxHashMap<Quantity, Vec<(Access, Domain)>>,
    queue: VecDeque<(Access, Domain)>,
    assignments: Vec<DiscreteEquation>,
}

impl Start {
    fn edge(&mut self, a: Access, b: Access, domain: Domain, origin: OriginId, initial: bool) {
        for q in [(a.var, a.kind), (b.var, b.kind)] {
            self.at.entry(q).or_default().push(self.edges.len());
        }
        self.edges.push(Edge {
            sides: [a, b],
            domain,
            origin,
            initial,
            used: false,
        });
    }

    /// `v = pre(v)` for what clauses assign, unless they may be active at the start.
    fn clauses(&mut self, flat: &mut FlatModel) {
        let mut assigned: Vec<(VarId, OriginId, bool)> = Vec::new();
        for when in &flat.whens {
            for branch in &when.branches {
                let at_start = branch.conditions.iter().any(|&c| {
                    flat.exprs.any(c, |x, n| {
                        matches!(x.node(n), Node::Call(Builtin::Initial, _))
                    })
                });
                for action in &branch.actions {
                    if let Action::Assign { target, .. } = action {
                        assigned.push((target.var, when.origin, at_start));
                    }
                }
            }
        }
        assigned.sort_by_key(|a| (a.0, !a.2));
        assigned.dedup_by_key(|a| a.0);
        for (var, origin, at_start) in assigned {
            let v = flat.var(var);
            if !v.is_discrete() || v.ty == VarType::String || v.is_empty() {
                continue;
            }
            if at_start {
                self.determined.insert((var, ValueKind::Value));
                continue;
            }
            let dims = v.dims.clone();
            let x = &mut flat.exprs;
            let domain: Domain = dims
                .iter()
                .map(|&d| (x.fresh_iter(), Range::upto(d)))
                .collect();
            let subs: Vec<ExprId> = domain.iter().map(|d| x.iter(d.0)).collect();
            let subs = x.make_list(&subs);
            let of = |kind| Access { var, kind, subs };
            self.edge(
                of(ValueKind::Value),
                of(ValueKind::Pre),
                domain,
                origin,
                false,
            );
        }
    }

    fn solve(&mut self, flat: &mut FlatModel) {
        for root in std::mem::take(&mut self.roots) {
            self.set(root);
        }
        self.propagate(flat);
        // A value that is given and whose left limit is not: nothing changes at the start.
        for k in 0..self.assignments.len() {
            let given = self.assignments[k].clone();
            let kind = match given.target.kind {
                ValueKind::Value => ValueKind::Pre,
                _ => ValueKind::Value,
            };
            let twin = Access {
                kind,
                ..given.target
            };
            if flat.var(twin.var).is_parameter()
                || self.is_known(flat, twin, &given.domain)
                || self.determined.contains(&(twin.var, kind))
            {
                continue;
            }
            let value = access(flat, given.target);
            self.set(DiscreteEquation {
                target: twin,
                value,
                ..given
            });
            self.propagate(flat);
        }
        // What is left of the initial equations: one side keeps its start value.
        for k in 0..self.edges.len() {
            let e = &self.edges[k];
            if !e.initial || e.used {
                continue;
            }
            let fixed = |a: Access| {
                let fixed = flat.var(a.var).fixed.as_ref();
                fixed.is_some_and(|f| flat.exprs.as_bool(f.body) == Some(true))
            };
            let source = usize::from(!fixed(e.sides[0]) || fixed(e.sides[1]));
            self.follow(flat, k, source);
            self.propagate(flat);
        }
    }

    fn propagate(&mut self, flat: &mut FlatModel) {
        while let Some((known, domain)) = self.queue.pop_front() {
            let edges = self.at.get(&(known.var, known.kind));
            for k in edges.cloned().unwrap_or_default() {
                let e = &self.edges[k];
                if e.used {
                    continue;
                }
                let is_source = |side: usize| {
                    let a = e.sides[side];
                    (a.var, a.kind) == (known.var, known.kind)
                        && overlap(flat, (known, &domain), (a, &e.domain))
                };
                match (is_source(0), is_source(1)) {
                    (true, _) => self.follow(flat, k, 0),
                    (false, true) => self.follow(flat, k, 1),
                    (false, false) => {}
                }
            }
        }
    }

    /// Uses an edge: the other side takes the value of the source, if nothing else determines it.
    fn follow(&mut self, flat: &mut FlatModel, k: usize, source: usize) {
        let e = &mut self.edges[k];
        e.used = true;
        let (from, to) = (e.sides[source], e.sides[1 - source]);
        let (domain, origin) = (e.domain.clone(), e.origin);
        if self.is_known(flat, to, &domain) || self.determined.contains(&(to.var, to.kind)) {
            return;
        }
        let value = access(flat, from);
        self.set(DiscreteEquation {
            domain,
            target: to,
            value,
            origin,
        });
    }

    fn set(&mut self, assignment: DiscreteEquation) {
        let piece = (assignment.target, assignment.domain.clone());
        let quantity = (assignment.target.var, assignment.target.kind);
        self.known.entry(quantity).or_default().push(piece.clone());
        self.queue.push_back(piece);
        self.assignments.push(assignment);
    }

    fn is_known(&self, flat: &FlatModel, a: Access, domain: &Domain) -> bool {
        let pieces = self.known.get(&(a.var, a.kind));
        let mut pieces = pieces.into_iter().flatten();
        pieces.any(|(b, other)| overlap(flat, (*b, other), (a, domain)))
    }
}

fn access(flat: &mut FlatModel, a: Access) -> ExprId {
    let ty = match flat.var(a.var).ty {
        VarType::Real => Ty::Real,
        VarType::Boolean => Ty::Bool,
        VarType::String => Ty::Str,
        _ => Ty::Int,
    };
    flat.exprs.access(a, ty)
}
