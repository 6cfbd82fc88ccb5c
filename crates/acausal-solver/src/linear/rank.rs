//! Numerical rank of a square matrix, and which equations and unknowns are to blame when it is deficient.
//!
//! In: pattern and values (the matrix J of the special index-one form at the start point). Out: nothing if the matrix is
//! regular, else the rows of a dependent set, the columns of an undetermined set, and the two null vectors that say how:
//! `sum left[i] * row i = 0` and `A * right = 0`.
//!
//! Small matrices and small diagonal blocks: Gaussian elimination with complete pivoting on the row- and
//! column-equilibrated matrix, whose pivots reveal the rank (Golub & Van Loan, sec. 3.4.8). Larger ones: sparse LU; the
//! block in which a pivot vanishes is then looked at if it has at most [`DENSE_BLOCK`] unknowns.
//!
//! Worked example: `[1 1; 2 2]`: equilibrated `[1 1; 1 1]`, pivots 1, 0: rank 1, left null vector (2, -1), right (1, -1).

use super::btf::block_form;
use super::{LinearSolver, SparseLu, power_of_two_reciprocal};
use crate::pattern::Pattern;

/// Largest (block of a) matrix for which complete pivoting is used: 500^3 / 3 operations take some 50 ms.
pub const DENSE_BLOCK: usize = 500;

/// Pivots below this fraction of the largest count as zero: rounding errors of values computed in a few operations.
const RANK_TOLERANCE: f64 = 1e-13;

/// Condition beyond which a large regular factorisation is looked at as well.
const SUSPICIOUS_CONDITION: f64 = 1e14;

/// Entries of a null vector below this fraction of the largest do not take part.
const SUPPORT: f64 = 1e-8;

/// Why a matrix is singular.
#[derive(Clone, Debug, PartialEq)]
pub struct RankDeficiency {
    /// Number of missing pivots found (one per structural defect, else that of the block looked at).
    pub deficiency: usize,
    /// Equations that depend on each other.
    pub rows: Vec<usize>,
    /// Unknowns that are not determined.
    pub cols: Vec<usize>,
    /// Equations and unknowns that are left without a pivot; taken away, or bordered by, the block becomes regular.
    pub left_over: (Vec<usize>, Vec<usize>),
    /// Coefficients of the dependency, parallel to `rows`; empty if not computed.
    pub left: Vec<f64>,
    /// Direction in which the unknowns may move, parallel to `cols`; empty if not computed.
    pub right: Vec<f64>,
    /// Singular for every choice of values.
    pub structural: bool,
}

/// Looks for a numerical or structural rank deficiency.
pub fn rank_deficiency(pattern: &Pattern, values: &[f64]) -> Option<RankDeficiency> {
    let single = |row: usize, col: usize, structural: bool| RankDeficiency {
        deficiency: 1,
        rows: vec![row],
        cols: vec![col],
        left_over: (vec![row], vec![col]),
        left: Vec::new(),
        right: Vec::new(),
        structural,
    };
    let form = match block_form(pattern) {
        Ok(form) => form,
        Err(s) => return Some(single(s.row, s.col, true)),
    };
    if pattern.size() <= DENSE_BLOCK {
        return examine(pattern, values, &form.row, &form.col);
    }
    let mut lu = SparseLu::default();
    if let Err(s) = lu.analyse(pattern) {
        return Some(single(s.row, s.col, s.structural));
    }
    let failed_column = match lu.factor(values) {
        Ok(()) if lu.condition() < SUSPICIOUS_CONDITION => return None,
        Ok(()) => None,
        Err(s) => Some(s),
    };
    for bounds in form.block.windows(2) {
        let range = bounds[0] as usize..bounds[1] as usize;
        let wanted =
            failed_column.is_none_or(|s| form.col[range.clone()].contains(&(s.col as u32)));
        if wanted && range.len() <= DENSE_BLOCK {
            let found = examine(pattern, values, &form.row[range.clone()], &form.col[range]);
            if found.is_some() {
                return found;
            }
        }
    }
    failed_column.map(|s| single(s.row, s.col, false))
}

/// Complete pivoting on the submatrix of these rows and columns.
fn examine(
    pattern: &Pattern,
    values: &[f64],
    rows: &[u32],
    cols: &[u32],
) -> Option<RankDeficiency> {
    let n = rows.len();
    let mut place = vec![usize::MAX; pattern.size()];
    for (k, &row) in rows.iter().enumerate() {
        place[row as usize] = k;
    }
    let mut a = vec![0.0; n * n];
    for (j, &col) in cols.iter().enumerate() {
        for k in pattern.range(col as usize) {
            let i = place[pattern.row_idx()[k] as usize];
            if i != usize::MAX {
                a[i * n + j] = values[k];
            }
        }
    }
    let row_scale: Vec<f64> = a
        .chunks(n.max(1))
        .map(|r| power_of_two_reciprocal(max_abs(r.iter())))
        .collect();
    for (row, s) in a.chunks_mut(n.max(1)).zip(&row_scale) {
        row.iter_mut().for_each(|v| *v *= s);
    }
    let col_scale: Vec<f64> = (0..n)
        .map(|j| power_of_two_reciprocal(max_abs(a.iter().skip(j).step_by(n))))
        .collect();
    for row in a.chunks_mut(n.max(1)) {
        row.iter_mut().zip(&col_scale).for_each(|(v, s)| *v *= s);
    }
    let mut row_at: Vec<usize> = (0..n).collect();
    let mut col_at: Vec<usize> = (0..n).collect();
    let rank = eliminate(&mut a, n, &mut row_at, &mut col_at);
    if rank == n {
        return None;
    }
    // Right null vector with 1 at the first free column: U11 z = -u12; left one from the transposed problem.
    let mut right = vec![0.0; n];
    right[rank] = 1.0;
    for i in (0..rank).rev() {
        let sum: f64 = (i + 1..=rank).map(|j| a[i * n + j] * right[j]).sum();
        right[i] = -sum / a[i * n + i];
    }
    // Multipliers of the dependent row: y' L11 = -l21, i.e. back substitution with the unit lower part.
    let mut left = vec![0.0; n];
    left[rank] = 1.0;
    for i in (0..rank).rev() {
        left[i] = -((i + 1..=rank).map(|k| left[k] * a[k * n + i]).sum::<f64>());
    }
    let report =
        |vector: &[f64], at: &[usize], names: &[u32], scale: &[f64]| -> (Vec<usize>, Vec<f64>) {
            let largest = max_abs(vector.iter());
            let mut pairs: Vec<(usize, f64)> = vector
                .iter()
                .enumerate()
                .filter(|(_, v)| v.abs() > SUPPORT * largest)
                .map(|(k, v)| (names[at[k]] as usize, v * scale[at[k]]))
                .collect();
            pairs.sort_by_key(|p| p.0);
            pairs.into_iter().unzip()
        };
    let without = |at: &[usize], names: &[u32]| -> Vec<usize> {
        at[rank..].iter().map(|&k| names[k] as usize).collect()
    };
    let left_over = (without(&row_at, rows), without(&col_at, cols));
    let (rows_found, left) = report(&left, &row_at, rows, &row_scale);
    let (cols_found, right) = report(&right, &col_at, cols, &col_scale);
    Some(RankDeficiency {
        deficiency: n - rank,
        rows: rows_found,
        cols: cols_found,
        left_over,
        left,
        right,
        structural: false,
    })
}

fn max_abs<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    values.fold(0.0, |m, v| f64::max(m, v.abs()))
}

/// In-place LU with complete pivoting (row-major); returns the rank.
fn eliminate(a: &mut [f64], n: usize, row_at: &mut [usize], col_at: &mut [usize]) -> usize {
    let mut first = 0.0;
    for k in 0..n {
        let (mut best, mut size) = ((k, k), -1.0);
        for i in k..n {
            for j in k..n {
                let v = a[i * n + j].abs();
                if v > size {
                    (best, size) = ((i, j), v);
                }
            }
        }
        if k == 0 {
            first = size;
        }
        if size <= RANK_TOLERANCE * first || size == 0.0 {
            return k;
        }
        if best.0 != k {
            for j in 0..n {
                a.swap(k * n + j, best.0 * n + j);
            }
            row_at.swap(k, best.0);
        }
        if best.1 != k {
            for i in 0..n {
                a.swap(i * n + k, i * n + best.1);
            }
            col_at.swap(k, best.1);
        }
        let pivot = a[k * n + k];
        let (top, bottom) = a.split_at_mut((k + 1) * n);
        let pivot_row = &top[k * n..];
        for row in bottom.chunks_exact_mut(n) {
            let multiplier = row[k] / pivot;
            row[k] = multiplier;
            if multiplier != 0.0 {
                for (x, u) in row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]) {
                    *x -= multiplier * u;
                }
            }
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependent_rows_and_columns_are_named_with_their_coefficients() {
        // Rows 0 and 2 of a 4 x 4 matrix are proportional with factor 1000.
        let rows = [
            [1.0, 2.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 3.0],
            [1e3, 2e3, 0.0, 0.0],
            [1.0, 1.0, 5.0, 1.0],
        ];
        let pattern = Pattern::dense(4);
        let values: Vec<f64> = (0..4)
            .flat_map(|j| rows.iter().map(move |r| r[j]))
            .collect();
        let found = rank_deficiency(&pattern, &values).unwrap();
        assert_eq!(
            (found.deficiency, found.rows.as_slice(), found.structural),
            (1, [0, 2].as_slice(), false)
        );
        assert!(
            (found.left[0] / found.left[1] + 1e3).abs() < 1e-9,
            "{found:?}"
        );
        // A * right = 0.
        for row in rows {
            let product: f64 = found
                .cols
                .iter()
                .zip(&found.right)
                .map(|(&j, v)| row[j] * v)
                .sum();
            assert!(product.abs() < 1e-9 * 1e3, "{found:?}");
        }
    }

    #[test]
    fn regular_and_structurally_singular_matrices() {
        let diagonal = Pattern::from_entries(3, [(0, 0), (1, 1), (2, 2)]).unwrap();
        assert_eq!(rank_deficiency(&diagonal, &[1e-20, 1.0, 1e20]), None);
        assert_eq!(
            rank_deficiency(&diagonal, &[1.0, 0.0, 1.0]).unwrap().rows,
            [1]
        );
        let missing = Pattern::from_entries(2, [(0, 0), (0, 1)]).unwrap();
        assert!(rank_deficiency(&missing, &[1.0, 1.0]).unwrap().structural);
    }

    #[test]
    fn a_singular_block_inside_a_large_matrix_is_found() {
        // 2,000 chained unknowns and a singular 2 x 2 block {700, 701}.
        let n = 2000;
        let pattern = Pattern::from_entries(
            n,
            (0..n)
                .flat_map(|i| [(i, i), (i, (i + 1) % n)])
                .filter(|e| *e != (n - 1, 0))
                .chain([(701, 700)]),
        )
        .unwrap();
        let mut values = vec![2.0; pattern.nnz()];
        assert!(rank_deficiency(&pattern, &values).is_some());
        values[pattern.position(701, 701).unwrap()] = 3.0;
        assert_eq!(rank_deficiency(&pattern, &values), None);
        values[pattern.position(701, 701).unwrap()] = 2.0;
        let found = rank_deficiency(&pattern, &values).unwrap();
        assert_eq!((found.rows, found.cols), (vec![700, 701], vec![700, 701]));
    }
}
