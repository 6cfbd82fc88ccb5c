//! Matrices that are triangular up to the order of rows and columns: solved by substitution on the matrix itself.
//!
//! Explicit differential equations have such Jacobians at the start (every row determines one derivative), and so have
//! cascades in which nothing acts back. No factor is formed: the order is found once, the values are kept as they are.
//!
//! In: a pattern. Out of [`substitution_order`]: pairs of row and column such that the column of each pair has, apart
//! from its own row, only rows of later pairs; nothing if there is no such order. A row with one column left is taken, its
//! column is crossed out in all other rows, and so on. Invariant: `left[r]` is the number of columns of row r that are not
//! crossed out, and `sum[r]` their exclusive or, which *is* the column once one is left: the rows need no lists. Linear in
//! the number of entries. The order is unique up to independent pairs, so there are no pivots to choose.
//!
//! Worked example: rows {0, 1}, {1}: row 1 has one column and gives (1, 1); crossing out column 1 leaves row 0 with (0, 0).

#[cfg(doc)]
use super::LinearSolver;
use super::Singular;
use crate::pattern::Pattern;

/// One substitution: `row` gives the value of `col`, with the entry at `position` of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    row: u32,
    col: u32,
    position: u32,
}

/// The order of substitutions, if the pattern is triangular up to permutations.
pub(crate) fn substitution_order(pattern: &Pattern) -> Option<Vec<Pair>> {
    let n = pattern.size();
    let mut left = vec![0u32; n];
    let mut sum = vec![0u32; n];
    for col in 0..n {
        for &row in pattern.rows_of(col) {
            left[row as usize] += 1;
            sum[row as usize] ^= col as u32;
        }
    }
    let mut order: Vec<Pair> = Vec::with_capacity(n);
    let mut queue: Vec<u32> = (0..n as u32).filter(|&r| left[r as usize] == 1).collect();
    if queue.is_empty() {
        return None;
    }
    let mut at = 0;
    while let Some(&row) = queue.get(at) {
        at += 1;
        // Two rows may be left with the same column: then this one has none any more.
        if left[row as usize] != 1 {
            return None;
        }
        let col = sum[row as usize];
        let position = pattern.position(row as usize, col as usize)? as u32;
        order.push(Pair { row, col, position });
        for &other in pattern.rows_of(col as usize) {
            let r = other as usize;
            left[r] -= 1;
            sum[r] ^= col;
            if left[r] == 1 {
                queue.push(other);
            }
        }
    }
    (order.len() == n).then_some(order)
}

/// Substitution in a fixed order.
#[derive(Clone, Debug)]
pub struct Substitution {
    pattern: Pattern,
    order: Vec<Pair>,
    values: Vec<f64>,
    work: Vec<f64>,
}

impl Substitution {
    /// For a pattern and the order found for it.
    pub(crate) fn new(pattern: &Pattern, order: Vec<Pair>) -> Substitution {
        Substitution {
            pattern: pattern.clone(),
            order,
            values: Vec::new(),
            work: vec![0.0; pattern.size()],
        }
    }

    /// As [`LinearSolver::factor`].
    pub(crate) fn factor(&mut self, values: &[f64]) -> Result<(), Singular> {
        for pair in &self.order {
            let pivot = values[pair.position as usize];
            if pivot == 0.0 || !pivot.is_finite() {
                return Err(Singular {
                    row: pair.row as usize,
                    col: pair.col as usize,
                    structural: false,
                });
            }
        }
        self.values.clear();
        self.values.extend_from_slice(values);
        Ok(())
    }

    /// As [`LinearSolver::solve`].
    pub(crate) fn solve(&mut self, rhs: &mut [f64]) {
        let pattern = &self.pattern;
        self.work.copy_from_slice(rhs);
        for pair in &self.order {
            let col = pair.col as usize;
            let value = self.work[pair.row as usize] / self.values[pair.position as usize];
            rhs[col] = value;
            for k in pattern.range(col) {
                self.work[pattern.row_idx()[k] as usize] -= self.values[k] * value;
            }
        }
    }

    /// As [`LinearSolver::solve_transposed`].
    pub(crate) fn solve_transposed(&mut self, rhs: &mut [f64]) {
        let pattern = &self.pattern;
        // work[row] is the solution; an entry of a column that belongs to a later pair is known when the pair comes.
        self.work.fill(0.0);
        for pair in self.order.iter().rev() {
            let range = pattern.range(pair.col as usize);
            let rows = &pattern.row_idx()[range.clone()];
            let known = rows.iter().zip(&self.values[range]);
            let known: f64 = known.map(|(&r, a)| a * self.work[r as usize]).sum();
            let value = rhs[pair.col as usize] - known;
            self.work[pair.row as usize] = value / self.values[pair.position as usize];
        }
        rhs.copy_from_slice(&self.work);
    }

    /// As [`LinearSolver::factor_entries`].
    pub(crate) fn factor_entries(&self) -> usize {
        self.pattern.nnz()
    }

    /// As [`LinearSolver::factor_work`].
    pub(crate) fn factor_work(&self) -> f64 {
        // Keeping the values costs less than substituting them.
        0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{DenseLu, LinearSolver};

    /// Random lower triangular matrices with shuffled rows and columns, against the dense LU; one more entry that closes a
    /// cycle, and there is no order.
    #[test]
    fn shuffled_triangles_agree_with_dense_elimination() {
        let mut state = 3u64;
        let mut random = move |n: usize| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as usize % n
        };
        for _ in 0..100 {
            let n = 2 + random(20);
            let mut shuffle = || {
                let mut p: Vec<usize> = (0..n).collect();
                for k in (1..n).rev() {
                    p.swap(k, random(k + 1));
                }
                p
            };
            let (rows, cols) = (shuffle(), shuffle());
            let mut entries: Vec<(usize, usize)> = (0..n).map(|k| (rows[k], cols[k])).collect();
            for _ in 0..2 * n {
                let (i, j) = (random(n), random(n));
                if i > j {
                    entries.push((rows[i], cols[j]));
                }
            }
            let pattern = Pattern::from_entries(n, entries.clone()).unwrap();
            let values: Vec<f64> = (0..pattern.nnz())
                .map(|_| (1 + random(9)) as f64 / 4.0)
                .collect();
            let mut ours = Substitution::new(&pattern, substitution_order(&pattern).unwrap());
            let mut dense = DenseLu::default();
            dense.analyse(&pattern).unwrap();
            ours.factor(&values).unwrap();
            dense.factor(&values).unwrap();
            let rhs: Vec<f64> = (0..n).map(|_| random(100) as f64 - 50.0).collect();
            let near = |a: &[f64], b: &[f64]| {
                let size = b.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
                assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9 * size));
            };
            let (mut a, mut b) = (rhs.clone(), rhs.clone());
            ours.solve(&mut a);
            dense.solve(&mut b);
            near(&a, &b);
            let (mut a, mut b) = (rhs.clone(), rhs);
            ours.solve_transposed(&mut a);
            dense.solve_transposed(&mut b);
            near(&a, &b);
            entries.push((rows[0], cols[n - 1]));
            entries.push((rows[n - 1], cols[0]));
            let cycle = Pattern::from_entries(n, entries).unwrap();
            assert_eq!(substitution_order(&cycle), None);
        }
    }

    #[test]
    fn a_zero_on_the_way_is_singular_and_equal_rows_have_no_order() {
        let pattern = Pattern::from_entries(2, [(0, 0), (0, 1), (1, 1)]).unwrap();
        let mut s = Substitution::new(&pattern, substitution_order(&pattern).unwrap());
        let error = s.factor(&[1.0, 1.0, 0.0]).unwrap_err();
        assert_eq!((error.row, error.col), (1, 1));
        let equal = Pattern::from_entries(2, [(0, 0), (1, 0)]).unwrap();
        assert_eq!(substitution_order(&equal), None);
    }
}
