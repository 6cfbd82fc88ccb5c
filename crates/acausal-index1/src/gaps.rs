//! How far apart the elements are that a piece of an equation relates.
//!
//! In: the pieces, and which access each pair is solved for. Out: for an arc from the solved variable to one that the equation uses,
//! the distances along the directions of their arrays ([`acausal_structure::tearing::loops`]), by which state
//! selection tells recurrences from loops.
//!
//! An access has a coordinate along a direction, `sign*(c*i + o) + shift`; the distance is the difference of two of them,
//! bounded over the iteration box of the piece, and by the boxes of the two pieces of variables. The differentiated
//! equation relates the same elements as the equation itself, so a pair is looked up by the originals.
//!
//! Example: `a[i + 1] = b[i]` solved for `a` uses b one behind; the gap is -1 in the direction of i.

use acausal_structure::segments::{Index, Span};
use acausal_structure::tearing::loops::{Gap, Reach};
use acausal_structure::{EqId, VarId as NodeId};

use crate::nodes::{EquationNode, Nodes, Touched, VariableNode};
use crate::solvable::Solvable;

/// Distances between elements, for the pieces of a model.
pub struct Distances<'a> {
    nodes: &'a Nodes,
    solvable: &'a Solvable,
    eq_integral: Vec<Option<EqId>>,
    var_integral: Vec<Option<NodeId>>,
}

impl<'a> Distances<'a> {
    /// For pieces and what they can be solved for.
    pub fn new(nodes: &'a Nodes, solvable: &'a Solvable) -> Self {
        Distances {
            nodes,
            solvable,
            eq_integral: nodes.differentiated.eq_integral(),
            var_integral: nodes.differentiated.var_integral(),
        }
    }

    /// The gaps between `v`, which `e` is solved for, and what it uses of `w`. An access without a common direction gives an
    /// empty gap.
    pub fn gaps(&self, e: EqId, v: NodeId, w: NodeId) -> Vec<Gap> {
        let (mut root, mut solved, mut times) = (e, Some(v), 0);
        while let Some(integral) = self.eq_integral[root.index()] {
            root = integral;
            solved = solved.and_then(|v| self.var_integral[v.index()]);
            times += 1;
        }
        let eq = &self.nodes.equations[root.index()];
        let used = &self.nodes.variables[w.index()];
        let own = solved
            .and_then(|v| self.solvable.access(root, v))
            .and_then(|(node, _)| eq.touched.iter().find(|t| t.node == node));
        let Some(own) = own else {
            return vec![Gap::new()];
        };
        let meets = |t: &&Touched| {
            t.node != own.node
                && t.var == used.var
                && (t.order..=t.order + times).contains(&used.order)
                && (t.spans.iter().zip(&used.spans)).all(|(a, b)| a.lo <= b.hi && b.lo <= a.hi)
        };
        let v = &self.nodes.variables[v.index()];
        let accesses = eq.touched.iter().filter(meets);
        accesses.map(|t| self.gap(eq, own, v, t, used)).collect()
    }

    fn gap(
        &self,
        eq: &EquationNode,
        own: &Touched,
        v: &VariableNode,
        t: &Touched,
        w: &VariableNode,
    ) -> Gap {
        let (Some(from), Some(to)) = (
            self.nodes.directions.get(&own.var),
            self.nodes.directions.get(&t.var),
        ) else {
            return Gap::new();
        };
        let mut gap = Gap::new();
        for (k, &(direction, sign, shift)) in from.iter().enumerate() {
            // An array with two dimensions in one direction is followed along the first.
            let along = |d: &&(usize, i64, i64)| d.0 == direction;
            let first = from.iter().position(|d| along(&d)) == Some(k);
            let Some(j) = to.iter().position(|d| along(&d)).filter(|_| first) else {
                continue;
            };
            let mut distance = Linear::new(&eq.spans);
            distance.add(t.index[j], to[j].1, to[j].2);
            distance.subtract(own.index[k], sign, shift);
            let (lo, hi) = distance.bounds(&eq.spans);
            let (there, here) = (
                coordinates(w.spans[j], to[j].1, to[j].2),
                coordinates(v.spans[k], sign, shift),
            );
            gap.push(Reach {
                direction,
                lo: lo.max(there.lo - here.hi),
                hi: hi.min(there.hi - here.lo),
            });
        }
        gap
    }
}

/// The coordinates of a range of indices.
fn coordinates(s: Span, sign: i64, shift: i64) -> Span {
    let (a, b) = (sign * s.lo + shift, sign * s.hi + shift);
    Span::new(a.min(b), a.max(b))
}

/// A linear form of iterators, with a constant part between two bounds.
struct Linear {
    coefficients: Vec<i64>,
    lo: i64,
    hi: i64,
}

impl Linear {
    fn new(spans: &[Span]) -> Linear {
        Linear {
            coefficients: vec![0; spans.len()],
            lo: 0,
            hi: 0,
        }
    }

    fn add(&mut self, index: Index, sign: i64, shift: i64) {
        match index {
            Index::Affine {
                iterator,
                coefficient,
                offset,
            } => {
                self.coefficients[iterator] += sign * coefficient;
                self.constant(sign * offset + shift, sign * offset + shift);
            }
            Index::Fixed(i) => self.constant(sign * i + shift, sign * i + shift),
            Index::All(s) => {
                let s = coordinates(s, sign, shift);
                self.constant(s.lo, s.hi);
            }
        }
    }

    fn subtract(&mut self, index: Index, sign: i64, shift: i64) {
        self.add(index, -sign, -shift);
    }

    fn constant(&mut self, lo: i64, hi: i64) {
        self.lo += lo;
        self.hi += hi;
    }

    fn bounds(&self, spans: &[Span]) -> (i64, i64) {
        let (mut lo, mut hi) = (self.lo, self.hi);
        for (c, s) in self.coefficients.iter().zip(spans) {
            let (a, b) = (c * s.lo, c * s.hi);
            lo += a.min(b);
            hi += a.max(b);
        }
        (lo, hi)
    }
}
