//! Numbering of all dimensions, and which of them are tied to each other by indices that run in step.

use super::model::{Equation, Index, Model, Span, size_of};

/// Numbers of all dimensions: those of the variables, then the iterators.
pub(super) struct Numbering {
    var_first: Vec<usize>,
    eq_first: Vec<usize>,
    pub(super) total: usize,
}

impl Numbering {
    pub(super) fn new(model: &Model) -> Self {
        let mut n = Numbering {
            var_first: Vec::new(),
            eq_first: Vec::new(),
            total: 0,
        };
        for v in &model.variables {
            n.var_first.push(n.total);
            n.total += v.shape.len();
        }
        for e in &model.equations {
            n.eq_first.push(n.total);
            n.total += e.iterators.len();
        }
        n
    }

    pub(super) fn var(&self, v: usize, k: usize) -> usize {
        self.var_first[v] + k
    }

    pub(super) fn eq(&self, e: usize, k: usize) -> usize {
        self.eq_first[e] + k
    }

    /// A derivative runs in step with its variable.
    pub(super) fn tie_derivatives(&self, model: &Model, ties: &mut Ties) {
        for (v, variable) in model.variables.iter().enumerate() {
            if let Some(d) = variable.derivative {
                for k in 0..variable.shape.len() {
                    ties.tie(self.var(v, k), self.var(d.index(), k), 1, 0);
                }
            }
        }
    }

    /// Visits (iterator, dimension, coefficient, offset) of every affine index.
    pub(super) fn for_affine(&self, model: &Model, mut visit: impl FnMut(usize, usize, i64, i64)) {
        for (e, equation) in nonempty(model) {
            for access in &equation.accesses {
                for (k, index) in access.index.iter().enumerate() {
                    if let Index::Affine {
                        iterator,
                        coefficient,
                        offset,
                    } = *index
                    {
                        visit(
                            self.eq(e, iterator),
                            self.var(access.variable.index(), k),
                            coefficient,
                            offset,
                        );
                    }
                }
            }
        }
    }

    /// Visits every box that is a unit somewhere: whole arrays, iteration boxes, single elements and ranges.
    pub(super) fn for_boxes(&self, model: &Model, mut visit: impl FnMut(usize, Span)) {
        let mut visit = |d: usize, s: Span| {
            if s.size() > 0 {
                visit(d, s);
            }
        };
        for (v, variable) in model.variables.iter().enumerate() {
            variable
                .shape
                .iter()
                .enumerate()
                .for_each(|(k, s)| visit(self.var(v, k), *s));
        }
        for (e, equation) in nonempty(model) {
            equation
                .iterators
                .iter()
                .enumerate()
                .for_each(|(k, s)| visit(self.eq(e, k), *s));
            for access in &equation.accesses {
                for (k, index) in access.index.iter().enumerate() {
                    let d = self.var(access.variable.index(), k);
                    match *index {
                        Index::Fixed(i) => visit(d, Span::new(i, i)),
                        Index::All(s) => visit(d, s),
                        Index::Affine { .. } => {}
                    }
                }
            }
        }
    }

    /// Ties an iterator to a range of equal length in an access that does not use the iterator: `A*x = b` pairs the rows
    /// of the equation with the elements of x, so that both are compressed alike.
    pub(super) fn pair_ranges(&self, model: &Model, ties: &mut Ties) {
        for (e, equation) in nonempty(model) {
            for access in &equation.accesses {
                let used = |it: usize| {
                    access
                        .index
                        .iter()
                        .any(|i| matches!(i, Index::Affine { iterator, .. } if *iterator == it))
                };
                for (k, index) in access.index.iter().enumerate() {
                    let Index::All(s) = *index else { continue };
                    let free = (0..equation.iterators.len()).find(|&it| {
                        !used(it) && equation.iterators[it].size() == s.size() && s.size() > 1
                    });
                    if let Some(it) = free {
                        let (a, b) = (self.eq(e, it), self.var(access.variable.index(), k));
                        if ties.find(a).0 != ties.find(b).0 {
                            ties.tie(a, b, 1, s.lo - equation.iterators[it].lo);
                        }
                    }
                }
            }
        }
    }
}

/// Union-find over dimensions with an affine relation (sign, shift) to the root.
pub(super) struct Ties {
    parent: Vec<(usize, i64, i64)>,
}

impl Ties {
    pub(super) fn new(n: usize) -> Self {
        Ties {
            parent: (0..n).map(|d| (d, 1, 0)).collect(),
        }
    }

    /// (root, sign, shift): root coordinate = sign * index + shift.
    pub(super) fn find(&self, d: usize) -> (usize, i64, i64) {
        let (mut at, mut sign, mut shift) = (d, 1, 0);
        while self.parent[at].0 != at {
            let (p, s, t) = self.parent[at];
            (sign, shift) = (s * sign, s * shift + t);
            at = p;
        }
        (at, sign, shift)
    }

    /// Declares index of b = sign * index of a + shift, unless the two are tied already.
    pub(super) fn tie(&mut self, a: usize, b: usize, sign: i64, shift: i64) {
        let ((ra, sa, ta), (rb, sb, tb)) = (self.find(a), self.find(b));
        // short paths: relink both to their roots
        self.parent[a] = (ra, sa, ta);
        self.parent[b] = (rb, sb, tb);
        if ra != rb {
            // coordinate_b = sb*(sign*ia + shift) + tb and ia = sa*(coordinate_a - ta)
            let s = sb * sign * sa;
            self.parent[rb] = (ra, s, -s * (sb * shift + tb) + ta);
        }
    }

    /// Frame numbers of the roots, in order of their first dimension.
    pub(super) fn roots(&self) -> (Vec<usize>, usize) {
        let mut frame = vec![usize::MAX; self.parent.len()];
        let mut count = 0;
        for d in 0..self.parent.len() {
            let root = self.find(d).0;
            if frame[root] == usize::MAX {
                frame[root] = count;
                count += 1;
            }
        }
        (frame, count)
    }
}

/// The equations that have elements.
fn nonempty(model: &Model) -> impl Iterator<Item = (usize, &Equation)> {
    let all = model.equations.iter().enumerate();
    all.filter(|(_, e)| size_of(&e.iterators) > 0)
}
