//! Narrow bands, eliminated from both ends to the middle.
//!
//! Rods, lines and ladders, cell by cell in one dimension, have matrices that are a band of a few diagonals in a suitable order
//! ([`order`]). A general sparse LU stores an index with each number and goes through permutations and column
//! pointers; for a band none of this is needed: per row and half width B the factors are `2B + 1` numbers, read in the order of
//! memory. A recurrence waits for each result, so two of them run at a time, one from each end ([`half`]), and meet in B
//! rows in the middle, whose small matrix goes to the dense LU (the "twisted" factorisation, van der Vorst 1987).
//!
//! Pivots are those on the diagonal, which the first values choose. When a multiplier or a pivot says that others are needed, they
//! are chosen again, a few times; then [`Band::factor`] refuses, and [`super::Lu`] goes over to the sparse LU. Invariant: after a successful factorisation no multiplier
//! exceeds `1 / KEPT_PIVOT_TOLERANCE` (against equilibrated rows), as in the sparse LU.
//!
//! Cost per unknown: `2B + 1` numbers in a solve, and two indices where rows and unknowns are in another order than in memory; linear in the number of unknowns.

mod fused;
mod half;
mod lanes;
mod order;
mod substitute;

use super::sparse::{KEPT_PIVOT_TOLERANCE, PIVOT_TOLERANCE};
use super::{DenseLu, LinearSolver};
use crate::pattern::Pattern;
use acausal_cpu::{Shared, Team};
use half::{Half, Pivots};
use order::{BandOrder, band_order, may_be_band};
use substitute::{backward, forward};

/// Factors of a narrow band.
#[derive(Clone, Debug)]
pub struct Band {
    pattern: Pattern,
    width: usize,
    /// The first rows with the middle, and the last rows in reverse order, with the middle.
    halves: [Half; 2],
    middle: DenseLu,
    /// Its entries, by columns.
    middle_values: Vec<f64>,
    /// The pivots have served before.
    factored: bool,
    /// How often the diagonal was chosen by the size of its entries.
    pairings: u32,
}

/// How often that may happen. What is large in a column changes with the step size: `C*cj` against `1/R`.
const MOST_PAIRINGS: u32 = 3;

/// Calls a function with the half width as a constant.
macro_rules! by_width {
    ($width:expr, $self:ident . $f:ident ( $($arg:expr),* )) => {
        match $width {
            1 => $self.$f::<1>($($arg),*),
            2 => $self.$f::<2>($($arg),*),
            3 => $self.$f::<3>($($arg),*),
            _ => $self.$f::<4>($($arg),*),
        }
    };
}

impl Band {
    /// For a pattern that may be a narrow band, if it may.
    pub(crate) fn possible(pattern: &Pattern) -> Option<Band> {
        may_be_band(pattern).then(|| Band {
            pattern: pattern.clone(),
            width: 0,
            halves: Default::default(),
            middle: DenseLu::default(),
            middle_values: Vec::new(),
            factored: false,
            pairings: 0,
        })
    }

    /// Takes an order.
    fn arrange(&mut self, mut order: BandOrder) {
        let (n, b) = (self.pattern.size(), order.width);
        let own = (n - b) / 2;
        let first = Half::new(&self.pattern, &order, own, true);
        order.row.reverse();
        order.col.reverse();
        let last = Half::new(&self.pattern, &order, n - b - own, false);
        self.halves = [first, last];
        self.width = b;
        self.middle_values = vec![0.0; b * b];
        self.factored = false;
        let all = (0..b).flat_map(|j| (0..b).map(move |i| (i, j)));
        if let Ok(pattern) = Pattern::from_entries(b, all) {
            // A full matrix is not structurally singular.
            let _ = self.middle.analyse(&pattern);
        }
    }

    /// The pattern, for another solver.
    pub(crate) fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Factorises; false if the matrix is no band, or needs pivots beside the diagonal too often.
    pub(crate) fn factor(&mut self, mut team: Option<&mut Team>, values: &[f64]) -> bool {
        loop {
            let team = team.as_deref_mut();
            if self.width > 0 && by_width!(self.width, self.factor_by(team, values)) {
                self.factored = true;
                return true;
            }
            if self.pairings == MOST_PAIRINGS || self.width > 0 && !self.factored {
                return false;
            }
            let Some(order) = band_order(&self.pattern, values) else {
                return false;
            };
            self.pairings += 1;
            self.arrange(order);
        }
    }

    fn factor_by<const B: usize>(&mut self, team: Option<&mut Team>, values: &[f64]) -> bool {
        let tolerance = match self.factored {
            true => KEPT_PIVOT_TOLERANCE,
            false => PIVOT_TOLERANCE,
        };
        let most = 1.0 / tolerance;
        let [first, last] = &mut self.halves;
        let (mut p, mut q) = (Pivots::<B>::default(), Pivots::<B>::default());
        let both = first.own();
        let good = match team {
            Some(team) => {
                let all = |half: &mut Half, before: &mut Pivots<B>| {
                    (0..half.own()).all(|i| half.eliminate(i, values, most, before))
                };
                let (one, other) = team.both(|| all(first, &mut p), || all(last, &mut q));
                one && other
            }
            // In turns: neither waits for the result of its last row.
            None => (0..last.own()).all(|i| {
                let good = i >= both || first.eliminate(i, values, most, &mut p);
                last.eliminate(i, values, most, &mut q) && good
            }),
        };
        if !good {
            return false;
        }
        let middle = &mut self.middle_values;
        middle.fill(0.0);
        let good = first.eliminate_middle(values, most, &p, |t, c, v| middle[c * B + t] += v);
        // The last rows come to the middle from the other side.
        let end = B - 1;
        let also = last.eliminate_middle(values, most, &q, |t, c, v| {
            middle[(end - c) * B + end - t] += v;
        });
        good && also && self.middle.factor(middle).is_ok()
    }

    fn solve_by<const B: usize>(&mut self, mut team: Option<&mut Team>, rhs: &mut [f64]) {
        let vector = Shared::new(rhs);
        let [p, q] = forward::<B>(&mut self.halves, team.as_deref_mut(), vector);
        let x = self.solve_middle(p, q, rhs);
        // Seen from the first rows the middle begins with its first row, seen from the last ones with its last.
        let mut reversed = x;
        reversed.reverse();
        backward(&self.halves, team, Shared::new(rhs), [x, reversed]);
    }

    /// Solves the rows in the middle; `p`, `q` are the values next to it from both sides. (By value: what a reference points to stays in
    /// memory, also in the loops before.)
    fn solve_middle<const B: usize>(
        &mut self,
        p: [f64; B],
        q: [f64; B],
        rhs: &mut [f64],
    ) -> [f64; B] {
        let [first, last] = &self.halves;
        let own = first.own();
        let mut x: [f64; B] = std::array::from_fn(|t| {
            let known = first.in_middle(t, &p) + last.in_middle(B - 1 - t, &q);
            rhs[first.row(own + t)] - known
        });
        self.middle.solve(&mut x);
        for (t, &value) in x.iter().enumerate() {
            rhs[first.col(own + t)] = value;
        }
        x
    }

    fn solve_transposed_by<const B: usize>(&mut self, rhs: &mut [f64]) {
        let [first, last] = &mut self.halves;
        let own = first.own();
        let (y, a) = first.forward_transposed::<B>(rhs);
        let (z, b) = last.forward_transposed::<B>(rhs);
        let mut x: [f64; B] =
            std::array::from_fn(|t| rhs[first.col(own + t)] - (a[t] + b[B - 1 - t]));
        self.middle.solve_transposed(&mut x);
        first.backward_transposed(y, x, rhs);
        for (t, &value) in x.iter().enumerate() {
            rhs[first.row(own + t)] = value;
        }
        x.reverse();
        last.backward_transposed(z, x, rhs);
    }
}

impl Band {
    /// As [`LinearSolver::solve_on`].
    pub(crate) fn solve(&mut self, team: Option<&mut Team>, rhs: &mut [f64]) {
        by_width!(self.width, self.solve_by(team, rhs));
    }

    /// As [`LinearSolver::solve_transposed`].
    pub(crate) fn solve_transposed(&mut self, rhs: &mut [f64]) {
        by_width!(self.width, self.solve_transposed_by(rhs));
    }

    /// As [`LinearSolver::factor_entries`].
    pub(crate) fn factor_entries(&self) -> usize {
        (2 * self.width + 1) * self.pattern.size()
    }

    /// As [`LinearSolver::factor_work`]: each number of a row is read, and B rows of B numbers are subtracted from it.
    pub(crate) fn factor_work(&self) -> f64 {
        let b = self.width as f64;
        1.0 + b * b / (2.0 * b + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::Lu;

    fn numbers() -> impl FnMut() -> f64 {
        let mut state = 5u64;
        move || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        }
    }

    /// Random bands in different orders, rows of very different size, against the dense LU: both systems, on one thread and on two.
    #[test]
    fn bands_agree_with_dense_elimination() {
        let mut random = numbers();
        let mut team = Team::new(2).unwrap();
        let mut in_lanes = 0;
        for case in 0..200 {
            let width = 1 + case % 4;
            let n = 2 * width + 2 + (random() * 60.0) as usize;
            let mut shuffle = || {
                let mut p: Vec<usize> = (0..n).collect();
                for k in (1..n).rev() {
                    p.swap(k, (random() * (k + 1) as f64) as usize);
                }
                p
            };
            // In no order, in that of memory, and two or three arrays in turns, with rows and columns exchanged in each turn.
            let turns = |lanes: usize, forward: bool| -> Vec<usize> {
                let len = n / lanes;
                let place = |k: usize| match forward {
                    true => k % lanes * len + k / lanes,
                    false => (lanes - 1 - k % lanes) * len + k / lanes,
                };
                (0..lanes * len).map(place).chain(lanes * len..n).collect()
            };
            let (rows, cols) = match case / 4 % 4 {
                0 => (shuffle(), shuffle()),
                1 => ((0..n).collect(), (0..n).collect()),
                kind => (turns(kind, true), turns(kind, false)),
            };
            let near = |i: usize| i.saturating_sub(width)..(i + width + 1).min(n);
            let entries = (0..n).flat_map(|i| near(i).map(move |j| (i, j)));
            let shuffled = entries.map(|(i, j)| (rows[i], cols[j]));
            let pattern = Pattern::from_entries(n, shuffled).unwrap();
            let order = BandOrder {
                row: rows.iter().map(|&r| r as u32).collect(),
                col: cols.iter().map(|&c| c as u32).collect(),
                width,
            };
            let mut values = vec![0.0; pattern.nnz()];
            for i in 0..n {
                let size = 10f64.powf(20.0 * random() - 10.0);
                for j in near(i) {
                    let diagonal = if i == j { 2.0 * width as f64 } else { 0.0 };
                    values[pattern.position(rows[i], cols[j]).unwrap()] =
                        size * (diagonal + random());
                }
            }
            let mut band = Band::possible(&pattern).unwrap();
            band.arrange(order);
            let mut dense = DenseLu::default();
            dense.analyse(&pattern).unwrap();
            assert!(band.factor(None, &values));
            in_lanes += band.halves.iter().filter(|h| h.lanes.turns > 0).count();
            dense.factor(&values).unwrap();
            let rhs: Vec<f64> = (0..n).map(|_| random() - 0.5).collect();
            let (mut a, mut b) = (rhs.clone(), rhs.clone());
            band.solve(None, &mut a);
            dense.solve(&mut b);
            let close = |a: &[f64], b: &[f64]| {
                let size = b.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
                assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-11 * size));
            };
            close(&a, &b);
            // With a second thread: the same bits.
            let mut two = rhs.clone();
            assert!(band.factor(Some(&mut team), &values));
            band.solve(Some(&mut team), &mut two);
            assert!(a.iter().zip(&two).all(|(a, b)| a.to_bits() == b.to_bits()));
            let (mut a, mut b) = (rhs.clone(), rhs);
            band.solve_transposed(&mut a);
            dense.solve_transposed(&mut b);
            close(&a, &b);
        }
        assert!(in_lanes > 100, "{in_lanes}");
    }

    /// `[0 1; 1 0]` over and over has no pivots on the given diagonal: others are found, and the sparse solver takes over when it
    /// happens again and again.
    #[test]
    fn without_pivots_on_its_diagonal_a_band_is_paired_anew_and_then_given_up() {
        let n = 64;
        let entries = (0..n).flat_map(|k| [(k, k), (k, k ^ 1), (k, (k + 1).min(n - 1))]);
        let both = entries.flat_map(|(i, j)| [(i, j), (j, i)]);
        let pattern = Pattern::from_entries(n, both).unwrap();
        let matrix = |value: fn(usize, usize) -> f64| -> Vec<f64> {
            let column = |j: usize| pattern.rows_of(j).iter().map(move |&i| (i as usize, j));
            (0..n).flat_map(column).map(|(i, j)| value(i, j)).collect()
        };
        let exchange = matrix(|i, j| if i ^ 1 == j { 1.0 } else { 0.0 });
        let identity = matrix(|i, j| if i == j { 1.0 } else { 0.0 });
        let mut lu = Lu::new();
        lu.analyse(&pattern).unwrap();
        for turn in 0..2 * MOST_PAIRINGS {
            lu.factor(if turn % 2 == 0 { &identity } else { &exchange })
                .unwrap();
            assert_eq!(matches!(lu, Lu::Band(_)), turn < MOST_PAIRINGS, "{turn}");
            let mut x: Vec<f64> = (0..n).map(|k| k as f64).collect();
            lu.solve(&mut x);
            let expected = |k: usize| if turn % 2 == 0 { k } else { k ^ 1 } as f64;
            assert!(x.iter().enumerate().all(|(k, &v)| v == expected(k)));
        }
    }
}
