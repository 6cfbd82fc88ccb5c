//! Discrete Reals that feed back into the continuous equations they are computed from.
//!
//! `when sample(0, T) then u = k*(r - y)` with a `y` that depends on `u` at the same instant is an equation for `u`. Solving the
//! continuous equations for given values `x` of the discrete Reals and evaluating the clauses gives `g(x)`; wanted is
//! `g(x) = x`. Taking `g(x)` as the next `x` converges for small gains only and leaves changes in the last digits, so the
//! sequence is extrapolated (Anderson 1965; Walker and Ni, "Anderson acceleration for fixed-point iterations", SIAM J. Numer.
//! Anal. 49, 2011): with `f_j = g(x_j) - x_j`, the combination of the last points for which a linear `f` vanishes. For
//! linear equations it ends after as many points as there are independent feedbacks, whatever the gain; nonlinear ones
//! converge like a secant method.
//!
//! It has settled when `f` is below the accuracy that the continuous equations are solved to, relative to the larger of value
//! and one as there. (A solution that is confirmed is not known better, so no further digit could be gained.)
//!
//! Example: g(x) = 3 - 4 x from x = 0: g = 3; x = 3: g = -9. f = 3, -12, so the combination is 0.8 * 3 + 0.2 * (-9) = 0.6.

use acausal_solver::NewtonOptions;

/// Points that are combined, at most.
const MEMORY: usize = 20;
/// A direction that is this small once the others are taken out of it says nothing.
const DEPENDENT: f64 = 1e-8;

/// The points so far, all with the same relations.
#[derive(Default)]
pub(super) struct FixedPoint {
    /// `g(x_j)` and `f_j`, weighted by the sizes at the first point.
    points: Vec<(Vec<f64>, Vec<f64>)>,
    sizes: Vec<f64>,
}

impl FixedPoint {
    /// Forgets the points: the equations have become others.
    pub fn forget(&mut self) {
        self.points.clear();
    }

    /// The next `x`, from `x` and `g(x)`; nothing when it has settled.
    pub fn next(&mut self, x: &[f64], g: &[f64]) -> Option<Vec<f64>> {
        if self.points.is_empty() {
            self.sizes = g.iter().map(|v| v.abs().max(1.0)).collect();
        }
        let change = |k: usize| (g[k] - x[k]).abs() / g[k].abs().max(1.0);
        let size = (0..g.len()).map(change).fold(0.0, f64::max);
        if size <= NewtonOptions::default().tolerance || !size.is_finite() {
            return None;
        }
        let weighted = |v: &dyn Fn(usize) -> f64| -> Vec<f64> {
            (0..g.len()).map(|k| v(k) / self.sizes[k]).collect()
        };
        let point = (weighted(&|k| g[k]), weighted(&|k| g[k] - x[k]));
        self.points.push(point);
        if self.points.len() > MEMORY {
            self.points.remove(0);
        }
        let mut next = self.combined();
        for (v, size) in next.iter_mut().zip(&self.sizes) {
            *v *= size;
        }
        Some(next)
    }

    /// `g_k - sum c_j (g_j - g_k)` with the `c` for which the same combination of `f` is shortest, by Gram and Schmidt.
    fn combined(&self) -> Vec<f64> {
        let Some(((g, f), before)) = self.points.split_last() else {
            return Vec::new();
        };
        let (mut next, mut rest) = (g.clone(), f.clone());
        let mut basis: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        // The latest points first: what the others add to them is least reliable.
        for (g_j, f_j) in before.iter().rev() {
            let difference = |a: &[f64], b: &[f64]| -> Vec<f64> {
                a.iter().zip(b).map(|(a, b)| a - b).collect()
            };
            let (mut dg, mut df) = (difference(g_j, g), difference(f_j, f));
            let whole = norm(&df);
            for (bg, bf) in &basis {
                let c = dot(&df, bf);
                add(&mut df, -c, bf);
                add(&mut dg, -c, bg);
            }
            let length = norm(&df);
            if length <= DEPENDENT * whole || !length.is_finite() {
                continue;
            }
            df.iter_mut().for_each(|v| *v /= length);
            dg.iter_mut().for_each(|v| *v /= length);
            let c = dot(&rest, &df);
            add(&mut rest, -c, &df);
            add(&mut next, -c, &dg);
            basis.push((dg, df));
        }
        next
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn add(a: &mut [f64], c: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += c * b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(g: impl Fn(&[f64]) -> Vec<f64>, mut x: Vec<f64>) -> (Vec<f64>, usize) {
        let mut fixed = FixedPoint::default();
        for round in 0..50 {
            let value = g(&x);
            match fixed.next(&x, &value) {
                None => return (value, round),
                Some(next) => x = next,
            }
        }
        panic!("not settled");
    }

    /// Linear feedback of any gain ends after one point per feedback and one to begin with.
    #[test]
    fn linear_equations() {
        let (x, rounds) = solve(|x| vec![3.0 - 4.0 * x[0]], vec![0.0]);
        assert!((x[0] - 0.6).abs() < 1e-14 && rounds <= 5, "{x:?} {rounds}");
        let g = |x: &[f64]| vec![1.0 + 2.0 * x[1], 2.0 - 5.0 * x[0] + x[1]];
        let (x, rounds) = solve(g, vec![0.0, 0.0]);
        // x0 = 1 + 2 x1, 0 = 2 - 5 x0
        assert!((x[0] - 0.4).abs() < 1e-13 && (x[1] + 0.3).abs() < 1e-13);
        assert!(rounds <= 7, "{rounds}");
    }

    /// Noise in the last digits is no change.
    #[test]
    fn last_digits_settle() {
        let calls = std::cell::Cell::new(0.0);
        let g = |x: &[f64]| {
            calls.set(1.0 - calls.get());
            vec![0.3 * x[0] + 1.0 + 1e-15 * calls.get()]
        };
        let (x, _) = solve(g, vec![0.0]);
        assert!((x[0] - 1.0 / 0.7).abs() < 1e-10);
    }
}
