//! The pivots, and by them the sign of the determinant.
//!
//! The factors are P S A Q = L U within the diagonal blocks of a block triangular matrix, with positive scale factors S, so that
//! the determinant of A is the product of the pivots times the sign of the permutation that takes the column of each pivot to its row.
//! What is above the blocks has no part in it. Linear in the size.
//!
//! Scaling a row by s scales the pivot in it by s and leaves L's and U's other quotients alone: a pivot of A is that of S A over s.
//!
//! Worked example: `[0 2; 3 1]` has the pivots 3 (row 1, column 0) and 2 (row 0, column 1). The permutation is an exchange: the determinant is -6.

use super::SparseLu;

impl SparseLu {
    /// Row, column and value of each pivot, as those of the matrix without scaling. Only after a successful factorisation.
    pub fn pivots(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let values = (self.inverse.iter().zip(&self.scale)).map(|(i, s)| 1.0 / (i * s));
        let places = self.row.iter().zip(&self.col);
        places
            .zip(values)
            .map(|((row, col), value)| (*row as usize, *col as usize, value))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::LinearSolver;
    use super::*;
    use crate::pattern::Pattern;

    /// The determinant by Laplace's expansion along the first of the rows that are left.
    fn expanded(rows: &[Vec<f64>], cols: &[usize]) -> f64 {
        let Some((row, rest)) = rows.split_first() else {
            return 1.0;
        };
        let mut sum = 0.0;
        for (k, &c) in cols.iter().enumerate() {
            let others: Vec<usize> = cols.iter().copied().filter(|o| *o != c).collect();
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            sum += sign * row[c] * expanded(rest, &others);
        }
        sum
    }

    fn determinant(lu: &SparseLu, n: usize) -> f64 {
        let mut row_of = vec![0; n];
        let mut product = 1.0;
        for (row, col, pivot) in lu.pivots() {
            row_of[col] = row;
            product *= pivot;
        }
        // An exchange for each column that is not where it belongs.
        for k in 0..n {
            while row_of[k] != k {
                let other = row_of[k];
                row_of.swap(k, other);
                product = -product;
            }
        }
        product
    }

    #[test]
    fn determinants_are_those_of_the_expansion() {
        let mut seed = 12345u64;
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
            ((seed >> 33) as f64) / (1u64 << 30) as f64 - 1.0
        };
        let mut regular = 0;
        for case in 0..300 {
            let n = 1 + case % 6;
            let mut a = vec![vec![0.0; n]; n];
            for v in a.iter_mut().flatten() {
                let x = random();
                *v = if x.abs() < 0.5 {
                    0.0
                } else {
                    x * 10f64.powf(3.0 * random())
                };
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
            for _ in 0..2 {
                let found = determinant(&lu, n);
                assert!(
                    (found - det).abs() <= 1e-9 * det.abs(),
                    "{a:?}: {found}, {det}"
                );
                // And with the pivots that are kept.
                lu.factor(&values).expect("the same matrix");
            }
        }
        assert!(regular > 100, "{regular} regular matrices");
    }
}
