//! Location of event indicators' sign changes inside an accepted step.
//!
//! After a step the indicators g are compared with their signs at the last position. If some changed, a bracket
//! `[lo, hi]` with the sign change is narrowed by the Illinois variant of regula falsi (Dowell & Jarratt 1971; used in
//! the same way by IDA) on the dense output until it is `100 eps (|t| + |h|)` wide. The state is then placed at `hi`,
//! where the sign *has* changed, and all indicators that changed by then are reported together.
//!
//! Zeros: an indicator that is exactly zero at the start has no sign; it takes the sign it has after a tenth of the
//! first step, without being reported, so a restart at an event does not find the same event again. An indicator that
//! passes through zero is reported behind the zero; one that is exactly zero at the end of a step (and may stay there) is
//! reported where it reached zero.
//!
//! Worked example: g = t - 0.5, step [0, 1]: g(0) < 0 < g(1); the secant hits 0.5, where g = 0 is not yet a change, so
//! the bracket becomes [0.5, 1]; further cuts near `lo` shrink it to [0.5, 0.5 + tol] and hi is reported.

use super::{Bdf, RootCrossing, SolverError, kernels};
use crate::dae::{Dae, EvalReason, first_not_finite};

/// Width of the final bracket in units of `eps * (|t| + |h|)` (IDA).
const BRACKET_WIDTH: f64 = 100.0;

/// Part of the first step after which indicators that started at zero take their sign (IDA).
const ZERO_START_FRACTION: f64 = 0.1;

/// Signs and work space of the indicators.
#[derive(Debug, Default)]
pub(crate) struct RootFinder {
    found: Vec<RootCrossing>,
    /// Position up to which the indicators have been looked at.
    t_lo: f64,
    /// Sign at `t_lo`: 0 when not known yet.
    sign: Vec<i8>,
    g_lo: Vec<f64>,
    g_hi: Vec<f64>,
    g_mid: Vec<f64>,
    /// Whether a zero counts as a change because the step ends on it.
    zero_counts: Vec<bool>,
    y: Vec<f64>,
    yp: Vec<f64>,
}

impl RootFinder {
    pub fn reset(&mut self) {
        self.found.clear();
    }

    pub fn found(&self) -> &[RootCrossing] {
        &self.found
    }

    fn crossed(&self, i: usize, g: f64) -> bool {
        match self.sign[i] {
            0 => false,
            _ if g == 0.0 => self.zero_counts[i],
            s => sign_of(g) != s,
        }
    }

    /// Index of the crossing nearest to the lower end by linear interpolation, i.e. with the largest `|g_hi / (g_hi - g_lo)|`.
    fn decisive(&self) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for (i, &g) in self.g_hi.iter().enumerate() {
            if self.crossed(i, g) {
                let fraction = (g / (g - self.g_lo[i])).abs();
                if best.is_none_or(|(_, f)| fraction > f) {
                    best = Some((i, fraction));
                }
            }
        }
        best.map(|(i, _)| i)
    }

    /// Takes the values at the upper end as the new lower end.
    fn move_up(&mut self, t: f64) {
        self.t_lo = t;
        std::mem::swap(&mut self.g_lo, &mut self.g_hi);
        for (s, &g) in self.sign.iter_mut().zip(&self.g_lo) {
            if g != 0.0 {
                *s = sign_of(g);
            }
        }
    }
}

fn sign_of(g: f64) -> i8 {
    if g > 0.0 {
        1
    } else if g < 0.0 {
        -1
    } else {
        0
    }
}

impl Bdf {
    /// Takes the indicators' signs at the start.
    pub(super) fn start_roots<D: Dae + ?Sized>(&mut self, dae: &mut D) -> Result<(), SolverError> {
        let m = dae.roots_len();
        let roots = &mut self.roots;
        for g in [&mut roots.g_lo, &mut roots.g_hi, &mut roots.g_mid] {
            g.clear();
            g.resize(m, 0.0);
        }
        roots.sign.clear();
        roots.sign.resize(m, 0);
        roots.zero_counts.clear();
        roots.zero_counts.resize(m, false);
        roots.t_lo = self.tn;
        if m == 0 {
            return Ok(());
        }
        roots.y.resize(self.n, 0.0);
        roots.yp.resize(self.n, 0.0);
        roots.y.copy_from_slice(&self.y);
        roots.yp.copy_from_slice(&self.yp);
        self.evaluate_roots(dae, self.tn)?;
        let roots = &mut self.roots;
        roots.g_lo.copy_from_slice(&roots.g_mid);
        for (s, &g) in roots.sign.iter_mut().zip(&roots.g_lo) {
            *s = sign_of(g);
        }
        Ok(())
    }

    /// Looks for the first crossing after the last position, up to `t_end` inside the last step.
    pub(super) fn find_roots<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t_end: f64,
    ) -> Result<Option<f64>, SolverError> {
        self.roots.found.clear();
        if self.roots.sign.contains(&0) && self.roots.t_lo < t_end {
            let part = self.roots.t_lo + ZERO_START_FRACTION * (t_end - self.roots.t_lo);
            if part > self.roots.t_lo
                && part < t_end
                && let Some(t) = self.scan(dae, part)?
            {
                return Ok(Some(t));
            }
        }
        self.scan(dae, t_end)
    }

    /// Looks for the first crossing in `(t_lo, t_end]`.
    fn scan<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t_end: f64,
    ) -> Result<Option<f64>, SolverError> {
        self.roots_at(dae, t_end)?;
        let roots = &mut self.roots;
        std::mem::swap(&mut roots.g_hi, &mut roots.g_mid);
        for (flag, &g) in roots.zero_counts.iter_mut().zip(&roots.g_hi) {
            *flag = g == 0.0;
        }
        let Some(mut index) = roots.decisive() else {
            roots.move_up(t_end);
            return Ok(None);
        };
        let tolerance = BRACKET_WIDTH * f64::EPSILON * (self.tn.abs() + self.h_used);
        let (mut lo, mut hi) = (self.roots.t_lo, t_end);
        let mut weight = 1.0;
        let mut last_side = 0i8;
        let mut same_side = 0;
        while hi - lo > tolerance {
            let (g_lo, g_hi) = (self.roots.g_lo[index], self.roots.g_hi[index]);
            // Illinois: halve the value at an end that was kept twice; double it when the other end gets stuck.
            weight = match same_side {
                0 | 1 => 1.0,
                _ if last_side > 0 => weight * 0.5,
                _ => weight * 2.0,
            };
            let mut mid = hi - (hi - lo) * g_hi / (g_hi - weight * g_lo);
            let width = (hi - lo) / tolerance;
            let inset = if width > 5.0 { 0.1 } else { 0.5 / width } * (hi - lo);
            if mid.is_nan() || mid <= lo + 0.5 * tolerance {
                mid = lo + inset;
            }
            if mid >= hi - 0.5 * tolerance {
                mid = hi - inset;
            }
            if mid <= lo || mid >= hi {
                break;
            }
            self.roots_at(dae, mid)?;
            let roots = &mut self.roots;
            let upper = (0..roots.g_mid.len()).any(|i| roots.crossed(i, roots.g_mid[i]));
            let side = if upper {
                hi = mid;
                std::mem::swap(&mut roots.g_hi, &mut roots.g_mid);
                if let Some(i) = roots.decisive() {
                    index = i;
                }
                1
            } else {
                lo = mid;
                std::mem::swap(&mut roots.g_lo, &mut roots.g_mid);
                -1
            };
            same_side = if side == last_side { same_side + 1 } else { 1 };
            last_side = side;
        }
        let roots = &mut self.roots;
        for i in 0..roots.g_hi.len() {
            if roots.crossed(i, roots.g_hi[i]) {
                roots.found.push(RootCrossing {
                    index: i,
                    rising: roots.sign[i] < 0,
                });
                // An indicator that rests on zero has no sign until it leaves.
                roots.sign[i] = 0;
            }
        }
        roots.move_up(hi);
        Ok(Some(hi))
    }

    /// Evaluates the indicators on the dense output at `t` into `g_mid`.
    fn roots_at<D: Dae + ?Sized>(&mut self, dae: &mut D, t: f64) -> Result<(), SolverError> {
        let (value, slope) = self.c.interpolation(t - self.tn, self.k_used);
        kernels::combine(&self.phi, self.k_used, &value, &mut self.roots.y);
        kernels::combine(&self.phi, self.k_used, &slope, &mut self.roots.yp);
        self.evaluate_roots(dae, t)
    }

    fn evaluate_roots<D: Dae + ?Sized>(&mut self, dae: &mut D, t: f64) -> Result<(), SolverError> {
        self.statistics.root_evaluations += 1;
        let roots = &mut self.roots;
        let fail = |reason| SolverError::Evaluation {
            t,
            h: self.h_used,
            reason,
        };
        dae.roots(t, &roots.y, &roots.yp, &mut roots.g_mid)
            .map_err(|e| fail(e.reason()))?;
        match first_not_finite(&roots.g_mid) {
            Some(row) => Err(fail(EvalReason::NotFinite { row })),
            None => Ok(()),
        }
    }
}
