//! Linear algebra under the names of LAPACK: `dgesv`, `dgetrf`, `dgetrs`, `dgetri`, `dgelsy`.
//!
//! In: the inputs of the Modelica functions that declare them, matrices row by row. Out: their outputs in order of
//! declaration, with LAPACK's `info` (0, or the number of the zero pivot). Pivots are chosen by value and everything else is
//! arithmetic on [`Number`]s, so that solutions carry derivatives.
//!
//! Elimination with row pivoting costs `2/3 n³`, the least-squares solution (Householder reflections with column pivoting, Golub
//! and Van Loan §5.4) `2mn²`. These are for the small systems of functions in libraries; the equations of a model are solved
//! elsewhere.
//!
//! Example: `dgesv([2, 1; 1, 3], {3, 5})` gives `{0.8, 1.4}` and `info = 0`.

use crate::Builtin;
use crate::run_function::Number;

/// A dense matrix, row by row.
struct Dense<T> {
    columns: usize,
    values: Vec<T>,
}

impl<T: Number> Dense<T> {
    fn at(&self, i: usize, j: usize) -> T {
        self.values[i * self.columns + j]
    }

    fn set(&mut self, i: usize, j: usize, v: T) {
        self.values[i * self.columns + j] = v;
    }

    fn swap_rows(&mut self, a: usize, b: usize) {
        if a != b {
            for j in 0..self.columns {
                self.values.swap(a * self.columns + j, b * self.columns + j);
            }
        }
    }
}

/// `P*L*U = A` with pivots from 1: factors in place of `A`, pivots, `info`.
fn factorise<T: Number>(a: &mut Dense<T>, rows: usize) -> (Vec<usize>, usize) {
    let n = rows.min(a.columns);
    let mut pivots = Vec::with_capacity(n);
    let mut info = 0;
    for k in 0..n {
        let size = |i: usize| a.at(i, k).value().abs();
        let p = (k + 1..rows).fold(k, |best, i| if size(i) > size(best) { i } else { best });
        pivots.push(p + 1);
        a.swap_rows(k, p);
        let pivot = a.at(k, k);
        if pivot.value() == 0.0 {
            info = if info == 0 { k + 1 } else { info };
            continue;
        }
        for i in k + 1..rows {
            let factor = a.at(i, k).div(pivot);
            a.set(i, k, factor);
            for j in k + 1..a.columns {
                a.set(i, j, a.at(i, j) - factor * a.at(k, j));
            }
        }
    }
    (pivots, info)
}

/// Solves with the factors; `b` becomes the solution.
fn substitute<T: Number>(lu: &Dense<T>, pivots: &[usize], b: &mut Dense<T>) {
    let n = pivots.len();
    for (k, &p) in pivots.iter().enumerate() {
        b.swap_rows(k, (p - 1).min(n - 1));
    }
    for j in 0..b.columns {
        for i in 0..n {
            let sum = (0..i).fold(b.at(i, j), |s, k| s - lu.at(i, k) * b.at(k, j));
            b.set(i, j, sum);
        }
        for i in (0..n).rev() {
            let sum = (i + 1..n).fold(b.at(i, j), |s, k| s - lu.at(i, k) * b.at(k, j));
            b.set(i, j, sum.div(lu.at(i, i)));
        }
    }
}

fn columns_of(shape: &[usize]) -> usize {
    shape.get(1).copied().unwrap_or(1)
}

/// The solution of `A*X = B`, then `info`.
pub(super) fn dgesv<T: Number>(a: (&[T], &[usize]), b: (&[T], &[usize])) -> Vec<T> {
    let n = a.1.first().copied().unwrap_or(0);
    let mut lu = Dense {
        columns: n,
        values: a.0.to_vec(),
    };
    let mut x = Dense {
        columns: columns_of(b.1),
        values: b.0.to_vec(),
    };
    let (pivots, info) = factorise(&mut lu, n);
    if info == 0 {
        substitute(&lu, &pivots, &mut x);
    }
    x.values.push(T::constant(info as f64));
    x.values
}

/// The factors of a matrix, its pivots and `info`.
pub(super) fn dgetrf<T: Number>(a: (&[T], &[usize])) -> Vec<T> {
    let mut lu = Dense {
        columns: columns_of(a.1),
        values: a.0.to_vec(),
    };
    let (pivots, info) = factorise(&mut lu, a.1.first().copied().unwrap_or(0));
    let mut out = lu.values;
    out.extend(pivots.iter().map(|&p| T::constant(p as f64)));
    out.push(T::constant(info as f64));
    out
}

/// The solution of `A*X = B` for factors of `A`; without `B` the inverse. Then `info`.
pub(super) fn dgetrs<T: Number>(
    lu: (&[T], &[usize]),
    pivots: (&[T], &[usize]),
    b: Option<(&[T], &[usize])>,
) -> Vec<T> {
    let n = lu.1.first().copied().unwrap_or(0);
    let lu = Dense {
        columns: n,
        values: lu.0.to_vec(),
    };
    let mut x = match b {
        Some(b) => Dense {
            columns: columns_of(b.1),
            values: b.0.to_vec(),
        },
        None => Dense {
            columns: n,
            values: (0..n * n)
                .map(|k| T::constant(if k / n == k % n { 1.0 } else { 0.0 }))
                .collect(),
        },
    };
    let info = (0..n).find(|&i| lu.at(i, i).value() == 0.0);
    if info.is_none() {
        let pivots: Vec<usize> = pivots
            .0
            .iter()
            .map(|p| (p.value() as usize).max(1))
            .collect();
        substitute(&lu, &pivots, &mut x);
    }
    x.values
        .push(T::constant(info.map_or(0.0, |i| (i + 1) as f64)));
    x.values
}

/// The solution of least norm among those of least `|A*X - B|`, `info` and the rank. `X` has `max(m, n)` rows; those after
/// the n-th are zero.
pub(super) fn dgelsy<T: Number>(a: (&[T], &[usize]), b: (&[T], &[usize]), least: f64) -> Vec<T> {
    let (m, n) = (a.1.first().copied().unwrap_or(0), columns_of(a.1));
    let k_max = m.min(n);
    let mut r = Dense {
        columns: n,
        values: a.0.to_vec(),
    };
    let mut c = Dense {
        columns: columns_of(b.1),
        values: b.0.to_vec(),
    };
    let mut order: Vec<usize> = (0..n).collect();
    let mut rank = 0;
    for k in 0..k_max {
        // The column with the largest rest comes next.
        let rest = |r: &Dense<T>, j: usize| (k..m).map(|i| r.at(i, j).value().powi(2)).sum::<f64>();
        let best = (k + 1..n).fold(k, |b, j| if rest(&r, j) > rest(&r, b) { j } else { b });
        order.swap(k, best);
        for i in 0..m {
            r.values.swap(i * n + k, i * n + best);
        }
        let size = rest(&r, k).sqrt();
        let first = r.at(0, 0).value().abs();
        let smallest = least.max(f64::EPSILON * m.max(n) as f64);
        if size == 0.0 || k > 0 && size <= smallest * first {
            break;
        }
        reflect(&mut r, &mut c, k, m);
        rank += 1;
    }
    let x = least_norm(&r, &c, rank, n);
    let mut out = vec![T::constant(0.0); m.max(n) * c.columns];
    for (j, &to) in order.iter().enumerate() {
        for l in 0..c.columns {
            out[to * c.columns + l] = x.at(j, l);
        }
    }
    out.extend([T::constant(0.0), T::constant(rank as f64)]);
    out
}

/// The Householder reflection that clears column `k` below the diagonal.
fn reflect<T: Number>(r: &mut Dense<T>, c: &mut Dense<T>, k: usize, m: usize) {
    let square = (k..m).fold(T::constant(0.0), |s, i| s + r.at(i, k) * r.at(i, k));
    let Some(mut norm) = square.unary(Builtin::Sqrt) else {
        return;
    };
    if r.at(k, k).value() > 0.0 {
        norm = -norm;
    }
    let mut v: Vec<T> = (k..m).map(|i| r.at(i, k)).collect();
    v[0] = v[0] - norm;
    let square = v.iter().fold(T::constant(0.0), |s, &e| s + e * e);
    if square.value() == 0.0 {
        return;
    }
    let two = T::constant(2.0);
    for target in [r, c] {
        for j in 0..target.columns {
            let dot = (k..m).fold(T::constant(0.0), |s, i| s + v[i - k] * target.at(i, j));
            let factor = (two * dot).div(square);
            for i in k..m {
                target.set(i, j, target.at(i, j) - factor * v[i - k]);
            }
        }
    }
}

/// `[R1 R2]*x = c` for the first `rank` rows: back substitution, or `x = R'*(R*R')⁻¹*c` where columns are left over.
fn least_norm<T: Number>(r: &Dense<T>, c: &Dense<T>, rank: usize, n: usize) -> Dense<T> {
    let zero = T::constant(0.0);
    let mut gram = Dense {
        columns: rank,
        values: vec![zero; rank * rank],
    };
    let upper = |i: usize, j: usize| if j < i { zero } else { r.at(i, j) };
    let full = rank == n;
    for i in 0..rank {
        for j in 0..rank {
            let dot = || (0..n).fold(zero, |s, k| s + upper(i, k) * upper(j, k));
            gram.set(i, j, if full { upper(i, j) } else { dot() });
        }
    }
    let mut y = Dense {
        columns: c.columns,
        values: c.values[..rank * c.columns].to_vec(),
    };
    let (pivots, _) = factorise(&mut gram, rank);
    if rank > 0 {
        substitute(&gram, &pivots, &mut y);
    }
    if full {
        return y;
    }
    let mut x = Dense {
        columns: c.columns,
        values: vec![zero; n * c.columns],
    };
    for j in 0..n {
        for l in 0..c.columns {
            let dot = (0..rank).fold(zero, |s, i| s + upper(i, j) * y.at(i, l));
            x.set(j, l, dot);
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() < 1e-12, "{found:?} instead of {expected:?}");
        }
    }

    #[test]
    fn square_systems() {
        // The first pivot is in the second row.
        let a = [0.0, 2.0, 1.0, 1.0, 1.0, 0.0, 3.0, 0.0, 1.0];
        let x = dgesv((&a, &[3, 3]), (&[7.0, 3.0, 6.0], &[3]));
        close(&x, &[1.0, 2.0, 3.0, 0.0]);
        let two = dgesv((&[1.0, 2.0, 2.0, 4.0], &[2, 2]), (&[1.0, 1.0], &[2]));
        assert_eq!(two[2], 2.0, "the second pivot is zero");
        let f = dgetrf((&a, &[3, 3]));
        let inverse = dgetrs((&f[..9], &[3, 3]), (&f[9..12], &[3]), None);
        // A * inverse = I
        for i in 0..3 {
            for j in 0..3 {
                let dot: f64 = (0..3).map(|k| a[i * 3 + k] * inverse[k * 3 + j]).sum();
                assert!((dot - if i == j { 1.0 } else { 0.0 }).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn least_squares() {
        // A line through (0, 1), (1, 3), (2, 5), (3, 7.4): the normal equations give 0.92 and 2.12.
        let a = [1.0, 0.0, 1.0, 1.0, 1.0, 2.0, 1.0, 3.0];
        let x = dgelsy((&a, &[4, 2]), (&[1.0, 3.0, 5.0, 7.4], &[4]), 0.0);
        close(&x, &[0.92, 2.12, 0.0, 0.0, 0.0, 2.0]);
        // x1 + x2 = 2 twice: the shortest solution is (1, 1), the rank 1.
        let x = dgelsy((&[1.0, 1.0, 1.0, 1.0], &[2, 2]), (&[2.0, 2.0], &[2]), 1e-10);
        close(&x, &[1.0, 1.0, 0.0, 1.0]);
        // One equation for three unknowns.
        let x = dgelsy((&[1.0, 2.0, 2.0], &[1, 3]), (&[9.0], &[1]), 0.0);
        close(&x, &[1.0, 2.0, 2.0, 0.0, 1.0]);
    }
}
