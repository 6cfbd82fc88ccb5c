//! Coordinates for the elements of arrays, by which recurrences are told from loops ([`crate::tearing::loops`]).
//!
//! In: a model. Out: per dimension of a variable a direction, and the sign and shift that make a coordinate of an index. Dimensions
//! whose indices run in step, `x[i]` and `y[i + 1]`, have one direction, as in a frame. Where an equation relates single
//! elements, `x[3] = y[2]`, their dimensions get one direction too if nothing else says so: a chain of which a part was
//! written out is still a chain. Any choice of coordinates is right, a good one only shows more recurrences; so nothing
//! has to be proved here. Cost: near-linear in the accesses.

use super::model::{Index, Model};
use super::ties::{Numbering, Ties};
use crate::VarId;

/// The directions along which the arrays of a model run.
pub struct Directions {
    numbers: Numbering,
    /// Per dimension: direction, sign and shift.
    dims: Vec<(usize, i64, i64)>,
}

impl Directions {
    /// The directions of a model.
    pub fn new(model: &Model) -> Directions {
        let numbers = Numbering::new(model);
        let mut ties = Ties::new(numbers.total);
        numbers.tie_derivatives(model, &mut ties);
        // Small offsets first, as for frames.
        let mut affine = Vec::new();
        numbers.for_affine(model, |it, dim, coefficient, offset| {
            if coefficient.abs() == 1 {
                affine.push((offset.abs(), it, dim, coefficient, offset));
            }
        });
        affine.sort_by_key(|a| a.0);
        for (_, it, dim, coefficient, offset) in affine {
            ties.tie(it, dim, coefficient, offset);
        }
        for equation in &model.equations {
            for pair in equation.accesses.windows(2) {
                let (a, b) = (&pair[0], &pair[1]);
                for (k, (i, j)) in a.index.iter().zip(&b.index).enumerate() {
                    if let (Index::Fixed(i), Index::Fixed(j)) = (i, j) {
                        let dim = |v: VarId| numbers.var(v.index(), k);
                        ties.tie(dim(a.variable), dim(b.variable), 1, j - i);
                    }
                }
            }
        }
        let (direction, _) = ties.roots();
        let place = |d: usize| {
            let (root, sign, shift) = ties.find(d);
            (direction[root], sign, shift)
        };
        let dims = (0..numbers.total).map(place).collect();
        Directions { numbers, dims }
    }

    /// Direction of dimension `k` of variable `v`, and the sign and shift that make a coordinate of an index:
    /// `sign*index + shift`.
    pub fn of_variable(&self, v: VarId, k: usize) -> (usize, i64, i64) {
        self.dims[self.numbers.var(v.index(), k)]
    }
}
