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
//! Example: `a[i + 1] = b[i]` solved for `a` uses b one behind; the distance is -1 in the direction of i.

use acausal_structure::segments::{Index, Span};
use acausal_structure::tearing::loops::{Dependence, Distance};
use acausal_structure::{EqId, VarId as NodeId};

use crate::segments::nodes::{EquationNode, Nodes, Touched, VariableNode};
use crate::state_selection::solvable::Solvable;

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

    /// The dependences between `v`, which `e` is solved for, and what it uses of `w`.
    pub fn dependences(&self, e: EqId, v: NodeId, w: NodeId) -> Vec<Dependence> {
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
            return vec![Dependence::default()];
        };
        let meets = |t: &&Touched| {
            t.node != own.node
                && t.var == used.var
                && (t.order..=t.order + times).contains(&used.order)
                && (t.spans.iter().zip(&used.spans)).all(|(a, b)| a.lo <= b.hi && b.lo <= a.hi)
        };
        let v = &self.nodes.variables[v.index()];
        let accesses = eq.touched.iter().filter(meets);
        accesses
            .map(|t| self.dependence(eq, own, v, t, used))
            .collect()
    }

    fn dependence(
        &self,
        eq: &EquationNode,
        own: &Touched,
        v: &VariableNode,
        t: &Touched,
        w: &VariableNode,
    ) -> Dependence {
        let place = |t: &Touched| Place(self.nodes.directions.get(&t.var).map_or(&[], |d| d));
        let (here, there) = (place(own), place(t));
        let box_ = within(&eq.spans, t, w);
        let mut directions: Vec<usize> = here.0.iter().map(|d| d.0).collect();
        directions.extend(there.0.iter().map(|d| d.0));
        directions.sort_unstable();
        directions.dedup();
        let reach = |direction| {
            let mut distance = Linear::new(&box_);
            if let Some((k, sign, shift)) = there.dimension(direction) {
                distance.add(t.index[k], sign, shift);
            }
            if let Some((k, sign, shift)) = here.dimension(direction) {
                distance.add(own.index[k], -sign, -shift);
            }
            let (mut lo, mut hi) = distance.bounds(&box_);
            let (a, b) = (there.extent(direction, w), here.extent(direction, v));
            lo = lo.max(a.lo - b.hi);
            hi = hi.min(a.hi - b.lo);
            Distance { direction, lo, hi }
        };
        Dependence {
            distances: directions.into_iter().map(reach).collect(),
            level: true,
        }
    }
}

/// Direction, sign and shift of every dimension of a variable.
struct Place<'a>(&'a [(usize, i64, i64)]);

impl Place<'_> {
    /// The dimension along a direction with its sign and shift. An array with two of them is followed along the first.
    fn dimension(&self, direction: usize) -> Option<(usize, i64, i64)> {
        let k = self.0.iter().position(|d| d.0 == direction)?;
        Some((k, self.0[k].1, self.0[k].2))
    }

    /// The coordinates of a piece along a direction; 0 without a dimension.
    fn extent(&self, direction: usize, v: &VariableNode) -> Span {
        let dimension = self.dimension(direction);
        dimension.map_or(Span::new(0, 0), |(k, sign, shift)| {
            coordinates(v.spans[k], sign, shift)
        })
    }
}

/// The part of an iteration box in which an access lies in a piece, as far as single iterators tell.
fn within(spans: &[Span], t: &Touched, w: &VariableNode) -> Vec<Span> {
    let mut out = spans.to_vec();
    for (index, s) in t.index.iter().zip(&w.spans) {
        if let Index::Affine {
            iterator,
            coefficient: c @ (1 | -1),
            offset,
        } = *index
        {
            let (a, b) = (c * (s.lo - offset), c * (s.hi - offset));
            let own = &mut out[iterator];
            *own = Span::new(own.lo.max(a.min(b)), own.hi.min(a.max(b)));
        }
    }
    out
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
                self.constant(Span::new(offset, offset), sign, shift);
            }
            Index::Fixed(i) => self.constant(Span::new(i, i), sign, shift),
            Index::All(s) => self.constant(s, sign, shift),
        }
    }

    fn constant(&mut self, s: Span, sign: i64, shift: i64) {
        let s = coordinates(s, sign, shift);
        self.lo += s.lo;
        self.hi += s.hi;
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
