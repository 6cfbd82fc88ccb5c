//! Strong components, sorting of array equations into blocks (block lower triangular form), and constraint sets.
//!
//! [`blocks`] applies Tarjan's algorithm ([`strong_components`]) to a matched
//! system: an equation depends on all its unknowns, an unknown on the equations that determine some of its elements.
//! Since every equation contains what it determines, equations and unknowns that belong together come out as one
//! component, and the sum of the equation lengths of a block equals the sum of its unknowns' lengths (Otter & Elmqvist
//! 2017, §4.4; checked). Blocks come in the order in which they can be solved. Linear in the incidence, whatever the
//! array lengths.
//!
//! [`constraint_sets`] (§4.5) follows each block down its derivative chains: level 0 are the constraints themselves, the
//! last level is the block. Beware: what a lower level uses may be computed in a *later* block, so after state selection
//! everything is sorted once more.
//!
//! Worked example: `e0: x0, x1`, `e1: x0, x1`, `e2: x2, x0`: the first two are a loop, the third follows.
//! ```
//! use acausal_structure::{EqId, VarId, blt::blocks, flow::{Flow, Graph}};
//! let g = Graph::new(&[1; 3], &[1; 3], &[&[0, 1], &[0, 1], &[2, 0]]);
//! let b = blocks(&g, &Flow::maximum(&g, |_| true), |_| true).unwrap();
//! assert_eq!(b.len(), 2);
//! assert_eq!((b.equations(0), b.unknowns(0)), (&[EqId(0), EqId(1)][..], &[VarId(0), VarId(1)][..]));
//! assert_eq!((b.equations(1), b.unknowns(1)), (&[EqId(2)][..], &[VarId(2)][..]));
//! ```

use std::fmt;

pub use acausal_graph::strong_components;

use crate::flow::{Flow, Graph};
use crate::pantelides::Differentiated;
use crate::{EqId, Rows, VarId};

/// Blocks in solving order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    equations: Rows<EqId>,
    unknowns: Rows<VarId>,
}

impl Blocks {
    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.equations.len()
    }

    /// Whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.equations.is_empty()
    }

    /// The equations of block `b`, ascending.
    pub fn equations(&self, b: usize) -> &[EqId] {
        self.equations.row(b)
    }

    /// What block `b` determines, ascending. Which equation determines which of them is meaningless inside a block.
    pub fn unknowns(&self, b: usize) -> &[VarId] {
        self.unknowns.row(b)
    }

    /// The blocks in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[EqId], &[VarId])> + '_ {
        (0..self.len()).map(|b| (self.equations(b), self.unknowns(b)))
    }

    pub(crate) fn push(
        &mut self,
        equations: impl IntoIterator<Item = EqId>,
        unknowns: impl IntoIterator<Item = VarId>,
    ) {
        self.equations.push(equations);
        self.unknowns.push(unknowns);
    }
}

/// A block whose equations and unknowns differ in number: the flow was not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unbalanced {
    /// Its equations.
    pub equations: Vec<EqId>,
    /// Its unknowns.
    pub unknowns: Vec<VarId>,
}

impl fmt::Display for Unbalanced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the equations {:?} do not determine just as many unknowns ({:?}): the matching is not complete",
            self.equations, self.unknowns
        )
    }
}

impl std::error::Error for Unbalanced {}

/// Sorts the equations that carry flow (or have no elements) with respect to the variables for which `unknown` holds.
///
/// # Errors
/// If a block does not have as many equations as unknowns.
pub fn blocks(
    graph: &Graph,
    flow: &Flow,
    unknown: impl Fn(VarId) -> bool,
) -> Result<Blocks, Unbalanced> {
    sort(graph, flow, |_| true, unknown)
}

/// Sorts the highest-derivative equations of a differentiated system (10a).
///
/// # Errors
/// Never, if `d` comes from [`crate::pantelides::pantelides`].
pub fn highest_blocks(d: &Differentiated) -> Result<Blocks, Unbalanced> {
    sort(
        &d.graph,
        &d.flow,
        |e| d.eq_derivative[e.index()].is_none(),
        |v| d.is_highest(v),
    )
}

fn sort(
    graph: &Graph,
    flow: &Flow,
    included: impl Fn(EqId) -> bool,
    unknown: impl Fn(VarId) -> bool,
) -> Result<Blocks, Unbalanced> {
    let n = graph.elen.len();
    let visible: Vec<bool> = (0..graph.vlen.len())
        .map(|v| unknown(VarId::new(v)))
        .collect();
    let included: Vec<bool> = (0..n).map(|e| included(EqId::new(e))).collect();
    let parts = strong_components(n + graph.vlen.len(), |node| {
        if node >= n {
            Successors::Owners(flow.owner_slots(VarId::new(node - n)))
        } else if included[node] {
            Successors::Unknowns {
                row: graph.row(EqId::new(node)).iter(),
                visible: &visible,
                offset: n,
            }
        } else {
            Successors::None
        }
    });
    let mut out = Blocks::default();
    for part in parts.iter() {
        let split = part.partition_point(|&node| node < n);
        let equations = part[..split].iter().map(|&e| EqId::new(e));
        let unknowns = part[split..].iter().map(|&v| VarId::new(v - n));
        if split == 0 || !included[part[0]] {
            continue; // a known variable, one that nothing determines, or an equation left out
        }
        let supply: u64 = equations.clone().map(|e| graph.elen[e.index()]).sum();
        let demand: u64 = unknowns.clone().map(|v| graph.vlen[v.index()]).sum();
        if supply != demand {
            return Err(Unbalanced {
                equations: equations.collect(),
                unknowns: unknowns.collect(),
            });
        }
        out.push(equations, unknowns);
    }
    Ok(out)
}

enum Successors<'a, O> {
    Unknowns {
        row: std::slice::Iter<'a, VarId>,
        visible: &'a [bool],
        offset: usize,
    },
    Owners(O),
    None,
}

impl<O: Iterator<Item = usize>> Iterator for Successors<'_, O> {
    type Item = usize;
    fn next(&mut self) -> Option<usize> {
        match self {
            Successors::Unknowns {
                row,
                visible,
                offset,
            } => row
                .find(|v| visible[v.index()])
                .map(|v| v.index() + *offset),
            Successors::Owners(owners) => owners.next(),
            Successors::None => None,
        }
    }
}

/// One level of a constraint set: equations and the unknowns they are about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// The equations of this level, in the order of the block.
    pub equations: Vec<EqId>,
    /// Their unknowns, in the order of the block: at least as many elements as the equations, equally many on the last level.
    pub unknowns: Vec<VarId>,
}

impl Level {
    /// Whether there are as many elements of unknowns as of equations.
    pub fn is_square(&self, graph: &Graph) -> bool {
        let supply = self.equations.iter().map(|e| graph.elen[e.index()]);
        let demand = self.unknowns.iter().map(|v| graph.vlen[v.index()]);
        supply.sum::<u64>() == demand.sum::<u64>()
    }
}

/// For each block its levels, lowest derivatives first, the block itself last.
pub fn constraint_sets(d: &Differentiated, blocks: &Blocks) -> Vec<Vec<Level>> {
    let (var_integral, eq_integral) = (d.var_integral(), d.eq_integral());
    let descend = |(equations, unknowns): (&[EqId], &[VarId])| {
        let mut levels = vec![Level {
            equations: equations.to_vec(),
            unknowns: unknowns.to_vec(),
        }];
        loop {
            let above = &levels[levels.len() - 1];
            let equations: Vec<EqId> = above
                .equations
                .iter()
                .filter_map(|e| eq_integral[e.index()])
                .collect();
            if equations.is_empty() {
                break;
            }
            let unknowns = above
                .unknowns
                .iter()
                .filter_map(|v| var_integral[v.index()])
                .collect();
            levels.push(Level {
                equations,
                unknowns,
            });
        }
        levels.reverse();
        levels
    };
    blocks.iter().map(descend).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_of_a_million_nodes_is_one_component() {
        let n = 1_000_000;
        let c = strong_components(n, |i| std::iter::once((i + 1) % n));
        assert_eq!(c.len(), 1);
        assert_eq!(c.row(0).len(), n);
    }

    #[test]
    fn incomplete_flow_is_an_error() {
        let g = Graph::new(&[1], &[2], &[&[0]]);
        let e = blocks(&g, &Flow::maximum(&g, |_| true), |_| true).unwrap_err();
        assert_eq!(
            e,
            Unbalanced {
                equations: vec![EqId(0)],
                unknowns: vec![VarId(0)]
            }
        );
    }
}
