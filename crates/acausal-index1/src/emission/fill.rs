//! Which assignments keep the Jacobian sparse: a Markowitz count on the pieces.
//!
//! In: the candidates in their order. Out: which of them to keep. Substituting an element that m equations use and that depends on k
//! unknowns replaces k + m entries (and one of its own) by k*m. Linear in the incidence.

use acausal_base::Scale;
use acausal_expr::Node;
use acausal_expr::flat::FlatModel;
use acausal_structure::EqId;
use acausal_structure::segments::Span;

use super::candidates::Candidate;
use crate::segments::incidence::order_of;
use crate::segments::nodes::Nodes;

/// Which candidates to keep: not those whose substitution would add Jacobian entries.
pub(super) fn limit_fill(
    flat: &FlatModel,
    nodes: &Nodes,
    ordered: &[Candidate],
    scale: &Scale,
) -> Vec<bool> {
    let d = &nodes.differentiated;
    let total: u64 = (0..d.original_equations).map(|e| d.graph.elen[e]).sum();
    if total <= scale.smallest_form_to as u64 {
        return vec![true; ordered.len()];
    }
    // m: how many scalar equations use an element; k: on how many unknowns it depends.
    let mut uses: Vec<f64> = vec![0.0; nodes.variables.len()];
    let needed = needed(nodes, ordered);
    let equations = nodes.equations.iter().enumerate();
    for (e, eq) in equations.filter(|(e, _)| needed[*e]) {
        for v in d.graph.row(EqId::new(e)) {
            let node = &nodes.variables[v.index()];
            let accesses = eq.touched.iter();
            let accesses = accesses.filter(|t| t.var == node.var && t.order == node.order);
            // An element by element access uses each element of the piece that it meets once, any other one in every equation.
            let pairs = accesses.map(|t| {
                let met = overlap_size(&t.spans, &node.spans);
                met * if t.elementwise {
                    1.0
                } else {
                    d.graph.elen[e] as f64
                }
            });
            uses[v.index()] += pairs.sum::<f64>() / d.graph.vlen[v.index()].max(1) as f64;
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
