//! The sign of the determinant, and how small the smallest pivot is.
//!
//! The factors are P S A Q = L U within the diagonal blocks of a block triangular matrix, with positive scale factors S, so that
//! sign(det A) = sign(P) sign(Q) times the signs of the pivots, and what is above the blocks has no part in it. Linear in the size.
//!
//! Scaling a row by s scales the pivot in it by s and leaves L's and U's other quotients alone: a pivot of A is that of S A over s.
//!
//! Worked example: `[0 2; 3 1]` is eliminated with rows exchanged, pivots 3 and 2: the sign is that of the exchange, minus.

use super::SparseLu;

/// What the factors say about the determinant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Determinant {
    /// Whether it is negative.
    pub negative: bool,
    /// The smallest pivot, by its size.
    pub smallest_pivot: f64,
    /// The row of that pivot.
    pub row: usize,
    /// Its column.
    pub col: usize,
}

impl SparseLu {
    /// Only after a successful factorisation.
    pub fn determinant(&self) -> Determinant {
        let mut found = Determinant {
            negative: is_odd(&self.row) != is_odd(&self.col),
            smallest_pivot: f64::INFINITY,
            row: 0,
            col: 0,
        };
        for (at, (inverse, scale)) in self.inverse.iter().zip(&self.scale).enumerate() {
            found.negative ^= *inverse < 0.0;
            let pivot = 1.0 / (inverse * scale).abs();
            if pivot < found.smallest_pivot {
                found.smallest_pivot = pivot;
                (found.row, found.col) = (self.row[at] as usize, self.col[at] as usize);
            }
        }
        found
    }
}

/// Whether a permutation is a product of an odd number of exchanges: a cycle of length k is one of k - 1.
fn is_odd(permutation: &[u32]) -> bool {
    let mut seen = vec![false; permutation.len()];
    let mut odd = false;
    for first in 0..permutation.len() {
        let mut at = first;
        while !std::mem::replace(&mut seen[at], true) {
            at = permutation[at] as usize;
            odd ^= at != first;
        }
    }
    odd
}

#[cfg(test)]
mod tests {
    use super::super::super::LinearSolver;
    use super::*;
    use crate::pattern::Pattern;

    /// The determinant by Laplace's expansion.
    fn expanded(a: &[Vec<f64>], cols: &[usize]) -> f64 {
        let Some(row) = a.len().checked_sub(cols.len()).and_then(|r| a.get(r)) else {
            return 1.0;
        };
        let mut sum = 0.0;
        for (k, &c) in cols.iter().enumerate() {
            let others: Vec<usize> = cols.iter().copied().filter(|o| *o != c).collect();
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            sum += sign * row[c] * expanded(a, &others);
        }
        sum
    }

    #[test]
    fn signs_are_those_of_the_expansion() {
        let mut seed = 12345u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            ((seed >> 33) as f64) / (1u64 << 30) as f64 - 1.0
        };
        let mut regular = 0;
        for case in 0..300 {
            let n = 1 + case % 6;
            let mut a = vec![vec![0.0; n]; n];
            for row in &mut a {
                for v in row.iter_mut() {
                    let x = random();
                    *v = if x.abs() < 0.5 {
                        0.0
                    } else {
                        x * 10f64.powf(3.0 * random())
                    };
                }
            }
            let det = expanded(&a, &(0..n).collect::<Vec<_>>());
            let (mut ptr, mut rows, mut values) = (vec![0u32], Vec::new(), Vec::new());
            for j in 0..n {
                for (i, row) in a.iter().enumerate().filter(|(_, r)| r[j] != 0.0) {
                    rows.push(i as u32);
                    values.push(row[j]);
                }
                ptr.push(rows.len() as u32);
            }
            let pattern = Pattern::new(n, ptr, rows).expect("a pattern");
            let mut lu = SparseLu::default();
            if lu.analyse(&pattern).is_err() || lu.factor(&values).is_err() {
                assert!(det.abs() < 1e-9, "{a:?} has the determinant {det}");
                continue;
            }
            regular += 1;
            assert_eq!(lu.determinant().negative, det < 0.0, "{a:?}");
            // And with the pivots that are kept.
            lu.factor(&values).expect("the same matrix");
            assert_eq!(lu.determinant().negative, det < 0.0, "{a:?}");
        }
        assert!(regular > 100, "{regular} regular matrices");
    }

    #[test]
    fn pivots_are_those_without_scaling() {
        let pattern = Pattern::new(2, vec![0, 1, 2], vec![0, 1]).expect("a pattern");
        let mut lu = SparseLu::default();
        lu.analyse(&pattern).expect("a diagonal");
        lu.factor(&[1000.0, -0.25]).expect("a regular matrix");
        let expected = Determinant {
            negative: true,
            smallest_pivot: 0.25,
            row: 1,
            col: 1,
        };
        assert_eq!(lu.determinant(), expected);
    }
}
