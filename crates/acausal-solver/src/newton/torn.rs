//! Tearing inside a block: Newton's method for the torn unknowns only.
//!
//! In: a square block, and pairs (equation, unknown) in an order of evaluation such that each equation is linear in its
//! unknown with a constant coefficient and otherwise holds torn unknowns and unknowns of earlier pairs ([`Tearing`]).
//! Out: the same solution as without tearing. Given torn unknowns z, the others are v(z), so their guesses do not
//! matter; Newton's method works on the equations that are left, h(z, v(z)) = 0.
//!
//! Nothing is formed for z alone: with g(z, v) = 0 for the solved equations, the Newton step of the whole block
//! `[G_z L; H_z H_v]` from a point with g = 0 has the part `dz = -(H_z - H_v L^-1 G_z)^-1 h`, which is the step of the
//! torn equations. So the sparse factorisation of the block serves, whatever the number of torn unknowns, and the iteration
//! is that of [`Iteration`] with two changes: its norms see z only, and before it sees a residual, the point is brought to
//! g = 0 by *sweeps* `v -= L^-1 g`, L triangular with the entries of the last Jacobian below its diagonal.
//!
//! Invariant: after k sweeps the pairs of the first k levels (longest chains of pairs) are exact, whatever L holds below
//! the diagonal, because the coefficients are constant. Complexity: O(nnz) and one evaluation of the model per sweep; one
//! sweep and its check where the pairs depend on each other linearly, at most [`MOST_SWEEPS`]. Chains along which errors
//! would grow ([`MOST_GROWTH`]) are cut: the unknown becomes a torn one, as in multiple shooting.
//!
//! Worked example: `y = exp(x); z = y*y; x + z = 2` with the pairs (1, y), (2, z): two sweeps make y and z those of x,
//! and the iteration solves `x + exp(x)^2 = 2` for x alone. From x = 0, y = z = 1e6 the whole system starts at a
//! point where the step of y and z decides about the damping; here it starts at y = z = 1.

use super::iteration::{Iteration, Request};
use super::{NewtonError, NewtonOptions, NewtonStatistics};
use crate::dae::{DaeError, EvalReason};
use crate::pattern::Pattern;

/// Chooses what is torn.
pub trait Tearing {
    /// Pairs (equation, unknown) of a block in order of evaluation, by their positions in the block. An equation may be
    /// solved for an unknown where the entry is constant.
    fn pairs(&self, block: &UntornBlock) -> Vec<(u32, u32)>;

    /// Whether a block is torn at once, not only after it could not be solved as a whole.
    fn first(&self) -> bool {
        false
    }
}

/// A block as it is seen before it is torn.
pub struct UntornBlock<'a> {
    /// Its pattern.
    pub pattern: &'a Pattern,
    /// Its unknowns by their numbers in the whole system.
    pub cols: &'a [u32],
    /// The Jacobian at the guess; it may hold what is not finite.
    pub values: &'a [f64],
    /// Which entries do not change when the unknowns move.
    pub constant: &'a [bool],
}

/// Bound on the sweeps at one point: longer chains of nonlinear equations are no case for tearing, because every sweep
/// is an evaluation of the whole model.
const MOST_SWEEPS: usize = 40;
/// Bound on the factor by which errors grow along a chain of pairs.
const MOST_GROWTH: f64 = 1e6;
/// Relative change below which a sweep has changed nothing.
const SETTLED: f64 = 1e-12;
/// Where rounding errors keep the changes from falling further, they may be this large.
const NEARLY_SETTLED: f64 = 1e-8;

/// The solved equations of a block.
struct Solved {
    /// Equation, unknown and position of their entry.
    pairs: Vec<(u32, u32, u32)>,
    /// Per pair the range of `lower` with its entries for unknowns of earlier pairs.
    first: Vec<u32>,
    /// Earlier pair and position of the entry.
    lower: Vec<(u32, u32)>,
    /// Longest chain of pairs.
    levels: usize,
}

impl Solved {
    /// `size` are the sizes of the unknowns.
    fn new(block: &UntornBlock, chosen: &[(u32, u32)], size: impl Fn(usize) -> f64) -> Solved {
        let (pattern, values) = (block.pattern, block.values);
        const NONE: u32 = u32::MAX;
        let n = pattern.size();
        let mut pair_of_row = vec![NONE; n];
        let mut pair_of_col = vec![NONE; n];
        let mut all: Vec<(u32, u32, u32)> = Vec::with_capacity(chosen.len());
        for &(row, col) in chosen {
            let position = pattern.position(row as usize, col as usize);
            let usable = |&k: &usize| values[k] != 0.0 && values[k].is_finite();
            let free = pair_of_row[row as usize] == NONE && pair_of_col[col as usize] == NONE;
            if let Some(position) = position.filter(usable).filter(|_| free) {
                pair_of_row[row as usize] = all.len() as u32;
                pair_of_col[col as usize] = all.len() as u32;
                all.push((row, col, position as u32));
            }
        }
        // Entries of the solved equations for unknowns of other pairs, by equation.
        let mut below: Vec<Vec<(u32, u32)>> = vec![Vec::new(); all.len()];
        for (q, &(_, col, _)) in all.iter().enumerate() {
            for k in pattern.range(col as usize) {
                let p = pair_of_row[pattern.row_idx()[k] as usize];
                if p != NONE && p as usize != q {
                    below[p as usize].push((q as u32, k as u32));
                }
            }
        }
        // Chains are cut where errors grow, and where the order is not one of evaluation.
        let mut place = vec![NONE; all.len()];
        let mut growth: Vec<f64> = Vec::new();
        let mut level: Vec<usize> = Vec::new();
        let mut out = Solved {
            pairs: Vec::new(),
            first: vec![0],
            lower: Vec::new(),
            levels: 0,
        };
        for (p, &pair) in all.iter().enumerate() {
            let own = values[pair.2 as usize].abs() * size(pair.1 as usize);
            let (mut grown, mut chain, mut in_order) = (1.0, 1, true);
            for &(q, k) in &below[p] {
                let at = place[q as usize];
                if at == NONE {
                    in_order &= (q as usize) < p;
                    continue;
                }
                let entry = values[k as usize].abs() * size(all[q as usize].1 as usize);
                // What depends on the point says little at a guess.
                if block.constant[k as usize] {
                    grown += entry / own * growth[at as usize];
                }
                chain = chain.max(level[at as usize] + 1);
            }
            if !in_order || grown.is_nan() || grown > MOST_GROWTH {
                continue;
            }
            place[p] = out.pairs.len() as u32;
            growth.push(grown);
            level.push(chain);
            out.levels = out.levels.max(chain);
            out.pairs.push(pair);
            let earlier = below[p].iter().filter(|(q, _)| place[*q as usize] != NONE);
            out.lower
                .extend(earlier.map(|&(q, k)| (place[q as usize], k)));
            out.first.push(out.lower.len() as u32);
        }
        out
    }

    fn lower(&self, p: usize) -> &[(u32, u32)] {
        &self.lower[self.first[p] as usize..self.first[p + 1] as usize]
    }
}

fn finite_or_zero(v: &f64) -> f64 {
    if v.is_finite() { *v } else { 0.0 }
}

/// The torn iteration of one block, as a state machine like [`Iteration`].
pub(super) struct Torn {
    solved: Solved,
    iteration: Iteration,
    /// The last Jacobian that is finite where it counts.
    values: Vec<f64>,
    /// Change of the unknown of each pair.
    delta: Vec<f64>,
    sweeps: usize,
    /// Change of the sweep before.
    last: f64,
}

impl Torn {
    /// Nothing if no pair is left, so that there is nothing to gain.
    pub fn new(
        block: &UntornBlock,
        pairs: &[(u32, u32)],
        guess: &[f64],
        options: &NewtonOptions,
    ) -> Result<Option<Torn>, NewtonError> {
        let size = |j: usize| options.scale(j, guess[j]);
        let solved = Solved::new(block, pairs, size);
        if solved.pairs.is_empty() {
            return Ok(None);
        }
        let n = guess.len();
        let mut counted = vec![true; n];
        for &(_, col, _) in &solved.pairs {
            counted[col as usize] = false;
        }
        let mut iteration = Iteration::new(block.pattern, n, n)?;
        iteration.count_only(counted);
        iteration.begin(guess.iter().copied(), options);
        Ok(Some(Torn {
            delta: vec![0.0; solved.pairs.len()],
            solved,
            iteration,
            // An entry that is not finite says nothing about the pairs; sweeps do without.
            values: block.values.iter().map(finite_or_zero).collect(),
            sweeps: 0,
            last: f64::INFINITY,
        }))
    }

    /// Number of torn unknowns.
    #[cfg(test)]
    pub fn torn(&self) -> usize {
        self.iteration.x.len() - self.solved.pairs.len()
    }

    /// The solution, or why there is none.
    pub fn result(
        &self,
        options: &NewtonOptions,
    ) -> Result<(&[f64], NewtonStatistics), NewtonError> {
        let statistics = self.iteration.result(options)?;
        Ok((&self.iteration.x, statistics))
    }

    /// Where the model is to be evaluated.
    pub fn point(&self) -> &[f64] {
        self.iteration.point()
    }

    /// Where the residual is to be written.
    pub fn r(&mut self) -> &mut [f64] {
        &mut self.iteration.r
    }

    /// Where the Jacobian is to be written.
    pub fn values(&mut self) -> &mut [f64] {
        &mut self.iteration.values
    }

    /// The residual has been evaluated, or could not be.
    pub fn got_residual(
        &mut self,
        evaluated: Result<(), DaeError>,
        options: &NewtonOptions,
    ) -> Request {
        let settled = match evaluated {
            Ok(()) => self.sweep(options),
            Err(error) => Some(Err(error)),
        };
        match settled {
            None => Request::Residual,
            Some(end) => {
                self.sweeps = 0;
                self.last = f64::INFINITY;
                self.iteration.got_residual(end, options)
            }
        }
    }

    /// The Jacobian has been evaluated, or could not be.
    pub fn got_jacobian(
        &mut self,
        evaluated: Result<(), DaeError>,
        options: &NewtonOptions,
    ) -> Request {
        for (old, new) in self.values.iter_mut().zip(&self.iteration.values) {
            if new.is_finite() {
                *old = *new;
            }
        }
        self.iteration.got_jacobian(evaluated, options)
    }

    /// One sweep with the residual at hand; nothing if another residual is needed.
    fn sweep(&mut self, options: &NewtonOptions) -> Option<Result<(), DaeError>> {
        let (trial, r) = self.iteration.trial_and_residual();
        let (mut change, mut undefined) = (0.0f64, None);
        for (p, &(row, col, position)) in self.solved.pairs.iter().enumerate() {
            let mut sum = r[row as usize];
            if !sum.is_finite() {
                // Earlier pairs will make it finite, or nothing does.
                undefined.get_or_insert(row as usize);
                self.delta[p] = 0.0;
                continue;
            }
            for &(q, k) in self.solved.lower(p) {
                sum += self.values[k as usize] * self.delta[q as usize];
            }
            let delta = -sum / self.values[position as usize];
            self.delta[p] = if delta.is_finite() { delta } else { 0.0 };
            let size = options.scale(col as usize, trial[col as usize]);
            change = change.max((self.delta[p] / size).abs());
        }
        let stuck = change <= NEARLY_SETTLED && change >= 0.5 * self.last;
        if undefined.is_none() && (change <= SETTLED || stuck) {
            return Some(Ok(()));
        }
        self.sweeps += 1;
        self.last = change;
        if self.sweeps > MOST_SWEEPS.min(self.solved.levels + 2) {
            let row = undefined.unwrap_or(self.solved.pairs[0].0 as usize);
            return Some(Err(DaeError::Recoverable(EvalReason::NotFinite { row })));
        }
        for (&(_, col, _), delta) in self.solved.pairs.iter().zip(&self.delta) {
            let j = col as usize;
            trial[j] = options.inside_bounds(j, trial[j] + delta);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `y = exp(x); z = y*y; x + z = 2` of the module's example, with unknowns x, y, z.
    fn evaluate(x: &[f64]) -> ([f64; 3], [f64; 6]) {
        let r = [x[1] - x[0].exp(), x[2] - x[1] * x[1], x[0] + x[2] - 2.0];
        // By columns: x in equations 0 and 2, y in 0 and 1, z in 1 and 2.
        (r, [-x[0].exp(), 1.0, 1.0, -2.0 * x[1], 1.0, 1.0])
    }

    fn pattern() -> Pattern {
        Pattern::from_entries(3, [(0, 0), (2, 0), (0, 1), (1, 1), (1, 2), (2, 2)]).unwrap()
    }

    #[test]
    fn the_guesses_of_solved_unknowns_do_not_matter() {
        let options = NewtonOptions::default();
        for far in [1.0, 1e6, -1e12] {
            let guess = [0.0, far, far];
            let (_, values) = evaluate(&guess);
            let pairs = [(0, 1), (1, 2)];
            let pattern = pattern();
            let block = UntornBlock {
                pattern: &pattern,
                cols: &[0, 1, 2],
                values: &values,
                constant: &[false, true, true, false, true, true],
            };
            let mut torn = Torn::new(&block, &pairs, &guess, &options)
                .unwrap()
                .unwrap();
            assert_eq!(torn.torn(), 1);
            let (mut ask, mut evaluations) = (Request::Residual, 0);
            while ask != Request::Done {
                let (r, values) = evaluate(torn.point());
                ask = match ask {
                    Request::Residual => {
                        torn.r().copy_from_slice(&r);
                        torn.got_residual(Ok(()), &options)
                    }
                    _ => {
                        torn.values().copy_from_slice(&values);
                        torn.got_jacobian(Ok(()), &options)
                    }
                };
                evaluations += 1;
            }
            let (x, _) = torn.result(&options).unwrap();
            // By bisection in another program.
            assert!((x[0] - 0.273_149_588_836_611).abs() < 1e-13, "{x:?}");
            assert!((x[2] - (2.0 * x[0]).exp()).abs() < 1e-12, "{x:?}");
            assert!(evaluations < 40, "{evaluations}");
        }
    }

    #[test]
    fn a_chain_along_which_errors_grow_is_cut() {
        // x[i + 1] = 3 x[i] - x[i - 1]: marching multiplies errors by 2.6 in each step.
        let n = 60usize;
        let entries = (0..n)
            .flat_map(|i| [(i, i), (i, (i + 1) % n), (i, (i + n - 1) % n)])
            .filter(|&(i, j)| j < n && i.abs_diff(j) <= 1);
        let pattern = Pattern::from_entries(n, entries).unwrap();
        let mut values = vec![-1.0; pattern.nnz()];
        for j in 0..n {
            values[pattern.position(j, j).unwrap()] = 3.0;
        }
        let pairs: Vec<(u32, u32)> = (0..n as u32 - 1).map(|i| (i, i + 1)).collect();
        let cols: Vec<u32> = (0..n as u32).collect();
        let block = UntornBlock {
            pattern: &pattern,
            cols: &cols,
            values: &values,
            constant: &vec![true; pattern.nnz()],
        };
        let solved = Solved::new(&block, &pairs, |_| 1.0);
        // An error of one in each equation, with the worst signs.
        let mut errors: Vec<f64> = Vec::new();
        for (p, pair) in solved.pairs.iter().enumerate() {
            let carried = |&(q, k): &(u32, u32)| values[k as usize].abs() * errors[q as usize];
            let sum = 1.0 + solved.lower(p).iter().map(carried).sum::<f64>();
            errors.push(sum / values[pair.2 as usize].abs());
        }
        let largest = errors.iter().copied().fold(0.0, f64::max);
        assert!((1e4..=MOST_GROWTH).contains(&largest), "{largest}");
        let torn = n - solved.pairs.len();
        assert!((3..n / 2).contains(&torn), "{torn}");
    }
}
