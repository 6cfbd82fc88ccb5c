//! Fraction-free Gaussian elimination of a dense integer matrix (Bareiss 1968; Otter & Elmqvist 2017, Algorithm 1,
//! repaired): the reference against which the sparse elimination is tested.
//!
//! In: `A` and a right-hand side `B` with as many rows. Out: both in upper trapezoidal form, the rank of `A` and the
//! row and column orders. Every row below the pivot is updated, also those with a zero in the pivot column: the printed
//! algorithm skips them, after which the division is no longer exact and the rank may come out wrong.
//! Cost O(rows² columns) multiplications; entries stay minors of the input.
//!
//! Worked example, where the printed algorithm finds rank 2:
//! ```
//! use acausal_structure::integer_elimination::dense::bareiss;
//! let t = bareiss(&[vec![2, 0, 0], vec![0, 1, 1], vec![0, 1, 2]], &[vec![], vec![], vec![]]);
//! assert_eq!(t.rank, 3);
//! ```

use num_bigint::BigInt;

/// The result of [`bareiss`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trapezoid {
    /// `A`, rows and columns permuted, upper trapezoidal.
    pub a: Vec<Vec<BigInt>>,
    /// The right-hand side after the same row operations.
    pub b: Vec<Vec<BigInt>>,
    /// Rank of `A`.
    pub rank: usize,
    /// Original number of each row.
    pub rows: Vec<usize>,
    /// Original number of each column.
    pub columns: Vec<usize>,
}

/// Eliminates. The pivot is the first non-zero entry, columns left to right.
///
/// # Panics
/// If `a` and `b` have different numbers of rows, or rows of `a` or of `b` different lengths.
pub fn bareiss(a: &[Vec<i64>], b: &[Vec<i64>]) -> Trapezoid {
    assert_eq!(a.len(), b.len(), "as many right-hand sides as rows");
    let big = |m: &[Vec<i64>]| -> Vec<Vec<BigInt>> {
        m.iter()
            .map(|r| r.iter().map(|&x| BigInt::from(x)).collect())
            .collect()
    };
    let columns = a.first().map_or(0, Vec::len);
    let right = b.first().map_or(0, Vec::len);
    assert!(
        a.iter().all(|r| r.len() == columns) && b.iter().all(|r| r.len() == right),
        "rows of equal length"
    );
    let mut t = Trapezoid {
        a: big(a),
        b: big(b),
        rank: a.len(),
        rows: (0..a.len()).collect(),
        columns: (0..columns).collect(),
    };
    let mut old = BigInt::from(1);
    for k in 0..a.len() {
        let pivot = (k..columns).find_map(|c| {
            (k..a.len())
                .find(|&r| t.a[r][c] != BigInt::ZERO)
                .map(|r| (r, c))
        });
        let Some((r, c)) = pivot else {
            t.rank = k;
            break;
        };
        t.a.swap(k, r);
        t.b.swap(k, r);
        t.rows.swap(k, r);
        for row in &mut t.a {
            row.swap(k, c);
        }
        t.columns.swap(k, c);
        let (top, below) = t.a.split_at_mut(k + 1);
        let (top_b, below_b) = t.b.split_at_mut(k + 1);
        let (pivot_row, pivot_b) = (&top[k], &top_b[k]);
        for (row, row_b) in below.iter_mut().zip(below_b) {
            let factor = row[k].clone();
            for (x, p) in row
                .iter_mut()
                .zip(pivot_row)
                .chain(row_b.iter_mut().zip(pivot_b))
            {
                *x = (&pivot_row[k] * &*x - &factor * p) / &old;
            }
        }
        old = t.a[k][k].clone();
    }
    t
}

/// Rank of an integer matrix.
pub fn rank(a: &[Vec<i64>]) -> usize {
    bareiss(a, &vec![Vec::new(); a.len()]).rank
}
