//! Which piece of an equation can be solved for which piece of a variable without losing solutions.
//!
//! "Retained solution space" (Otter & Elmqvist 2017, §4.6): only a coefficient that is a literal, not zero, may be
//! divided by; a parameter may become zero. For arrays the access must be elementwise and cover exactly the piece; other
//! accesses to the same piece must reach elements that an ascending loop has computed before (a recurrence).

use acausal_expr::flat::FlatModel;
use acausal_expr::{ExprId, Node};
use acausal_structure::segments::size_of;
use acausal_structure::{EqId, VarId as NodeId};
use rustc_hash::FxHashMap;

use crate::nodes::{EquationNode, Nodes, Touched, VariableNode};

/// For each pair that can be solved: the access to solve for.
#[derive(Debug, Default)]
pub struct Solvable {
    accesses: FxHashMap<(EqId, NodeId), ExprId>,
    constant_linear: Vec<bool>,
}

impl Solvable {
    /// Looks at all pairs of original equations and variables.
    pub fn new(flat: &mut FlatModel, nodes: &Nodes) -> Solvable {
        let mut out = Solvable::default();
        let original = nodes.differentiated.original_variables;
        for (e, eq) in nodes.equations.iter().enumerate() {
            let id = EqId::new(e);
            let row: Vec<NodeId> = nodes.differentiated.graph.row(id).to_vec();
            let residual = flat.exprs.sub(eq.piece.lhs, eq.piece.rhs);
            let mut constant = eq.piece.domain.is_empty();
            for t in &eq.touched {
                let linear = flat.exprs.linear_in(residual, t.node).map(|(c, _)| c);
                let literal = linear.filter(|&c| flat.exprs.as_f64(c).is_some_and(|v| v != 0.0));
                constant &= linear.is_some_and(|c| flat.exprs.as_f64(c).is_some());
                let Some(_) = literal else { continue };
                for &v in row.iter().filter(|v| v.index() < original) {
                    if admissible(flat, eq, t, &nodes.variables[v.index()]) {
                        out.accesses.insert((id, v), t.node);
                    }
                }
            }
            out.constant_linear.push(constant);
        }
        out
    }

    /// The access to solve original equation `e` for, if it can be solved for `v`.
    pub fn access(&self, e: EqId, v: NodeId) -> Option<ExprId> {
        self.accesses.get(&(e, v)).copied()
    }

    /// Whether an original equation is a scalar equation, linear with literal coefficients.
    pub fn is_constant_linear(&self, e: EqId) -> bool {
        self.constant_linear
            .get(e.index())
            .copied()
            .unwrap_or(false)
    }
}

fn admissible(flat: &FlatModel, eq: &EquationNode, t: &Touched, v: &VariableNode) -> bool {
    if t.var != v.var || t.order != v.order || !t.elementwise || t.spans != v.spans {
        return false;
    }
    if size_of(&v.spans) != eq.piece.len() as u64 {
        return false;
    }
    // Other accesses to the same piece: only to elements that come earlier in the loop.
    eq.touched
        .iter()
        .filter(|o| o.node != t.node && o.var == v.var && o.order == v.order)
        .all(|o| {
            let apart = o
                .spans
                .iter()
                .zip(&v.spans)
                .any(|(a, b)| a.hi < b.lo || b.hi < a.lo);
            apart || is_earlier(flat, eq, t.node, o.node)
        })
}

/// Over a domain of one iterator: the other access is behind the solved one by a constant distance.
fn is_earlier(flat: &FlatModel, eq: &EquationNode, solved: ExprId, other: ExprId) -> bool {
    let [(iter, range)] = eq.piece.domain.as_slice() else {
        return false;
    };
    let x = &flat.exprs;
    let (Node::Var(a), Node::Var(b)) = (x.node(solved), x.node(other)) else {
        return false;
    };
    let (sa, sb) = (x.list(a.subs), x.list(b.subs));
    let mut behind = false;
    for (&p, &q) in sa.iter().zip(sb) {
        let (Some(p), Some(q)) = (x.affine(p), x.affine(q)) else {
            return false;
        };
        if p.terms != q.terms {
            return false;
        }
        let direction = p.coefficient(*iter) * range.step;
        let distance = q.constant - p.constant;
        if direction == 0 && distance != 0 {
            return false;
        }
        if direction != 0 {
            behind = distance * direction < 0;
        }
    }
    behind
}
