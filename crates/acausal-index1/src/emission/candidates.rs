//! What may become a local assignment: pairs of an equation and the variable it is solved for, and small linear sets.
//!
//! In: the selected states and the written equations. Out: candidates in the order of their dependences, free of cycles; what cannot be
//! solved, or would close a cycle, is an unknown with a residual ([`Unsolved`]). Linear in the size of the values.

use std::cmp::Reverse;

use acausal_expr::flat::FlatModel;
use acausal_expr::unknown::RowKind;
use acausal_expr::{ExprId, Node, VarId};
use acausal_structure::blt::strong_components;
use acausal_structure::state_selection::Sorted;
use acausal_structure::tearing::Tear;
use acausal_structure::{EqId, Rows, VarId as NodeId};
use acausal_symbolic::Solve;
use rustc_hash::{FxHashMap, FxHashSet};

use super::linear_sets;
use crate::FormReport;
use crate::index_reduction::derivatives::Written;
use crate::segments::incidence::{is_unknown, kind_of, order_of};
use crate::segments::nodes::Nodes;
use crate::state_selection::Structure;
use crate::state_selection::solvable::{Order, Solvable};

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

/// The candidates, in the order of their dependences.
pub(super) fn candidates(
    flat: &mut FlatModel,
    structure: &Structure,
    written: &[Written],
    unsolved: &mut Unsolved,
) -> Vec<Candidate> {
    let Structure {
        nodes,
        solvable,
        selection,
        sorted,
        ..
    } = structure;
    // Lists of known length: what a growing list leaves behind adds to the largest amount of memory.
    let mut candidates = Vec::with_capacity(selection.dummies.len() + selection.explicit.len());
    let mut reader = Reader::new(flat);
    let integral = nodes.differentiated.var_integral();
    for &(e, v) in selection.dummies.iter().chain(&selection.explicit) {
        match solve(flat, &integral, written, solvable, e, v) {
            Some(mut c) => {
                // While its value is at hand.
                c.reads = reader.reads(flat, nodes, &c);
                candidates.push(c);
            }
            None => unsolved.add(nodes, sorted, e, v),
        }
    }
    let mut given: linear_sets::Given = FxHashMap::default();
    if !selection.linear.is_empty() {
        for (k, c) in candidates.iter().enumerate() {
            given.entry(c.target).or_insert(k);
        }
    }
    for set in &selection.linear {
        match linear_sets::solve_set(flat, nodes, written, &candidates, &given, set) {
            Some(solved) => {
                for mut c in solved {
                    c.reads = reader.reads(flat, nodes, &c);
                    given.entry(c.target).or_insert(candidates.len());
                    candidates.push(c);
                }
            }
            None => {
                for (e, v) in set.equations.iter().zip(&set.unknowns) {
                    unsolved.add(nodes, sorted, *e, *v);
                }
            }
        }
    }
    let (ordered, rejected) = order(nodes, candidates);
    for c in rejected {
        unsolved.add(nodes, sorted, c.equation, c.node);
    }
    ordered
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
pub(crate) struct Unsolved {
    pub rows: Vec<(EqId, RowKind)>,
    pub unknowns: Vec<NodeId>,
    /// What they add to the form.
    pub counts: FormReport,
}

impl Unsolved {
    pub(super) fn add(&mut self, nodes: &Nodes, sorted: &Sorted, e: EqId, v: NodeId) {
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

/// Orders candidates by dependence. Those that would close a cycle are rejected, the busiest of each cycle first.
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
