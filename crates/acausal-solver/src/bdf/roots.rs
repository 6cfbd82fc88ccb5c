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
//! An even number of sign changes leaves the sign at the end of a step as it was. So indicators are looked at inside of steps as
//! well, as densely as they need it ([`super::indicator_sampling`], which says what is promised); and where the parabola through the last
//! three values of an indicator dips below [`DIP`] of the smaller end inside of the interval, the lowest point is sought by
//! repeated parabolas (at most [`DIP_EVALUATIONS`] per indicator) and a crossing there is located as usual.
//!
//! Worked example: g = t - 0.5, step [0, 1]: g(0) < 0 < g(1); the secant hits 0.5, where g = 0 is not yet a change, so
//! the bracket becomes [0.5, 1]; further cuts near `lo` shrink it to [0.5, 0.5 + tol] and hi is reported.

use super::indicator_sampling::{IndicatorSampling, MOST_CUTS};
use super::{RootCrossing, SolverError};
use crate::dae::{Dae, EvalReason, first_not_finite, indicators_len};
use crate::factors::StepFactors;
use crate::linear::LinearSolver;

/// Width of the final bracket in units of `eps * (|t| + |h|)` (IDA).
const BRACKET_WIDTH: f64 = 100.0;

/// Part of the first step after which indicators that started at zero take their sign (IDA).
const ZERO_START_FRACTION: f64 = 0.1;

/// A parabola that falls below this fraction of the smaller end is worth a closer look.
const DIP: f64 = 0.5;
/// Bound on evaluations per indicator in search of its lowest point.
const DIP_EVALUATIONS: usize = 6;
/// Bound on indicators looked at more closely per interval, the deepest first.
const DIP_INDICATORS: usize = 4;

/// Solution and derivative at a time inside of a step.
pub(crate) type Interpolant<'a> = dyn Fn(f64, &mut [f64], &mut [f64]) + 'a;

/// Where crossings are looked for: a model and its solution inside of the last step.
pub(crate) struct InteriorPoint<'a, D: ?Sized> {
    pub dae: &'a mut D,
    /// Solution and derivative at a time inside of the step.
    pub interpolant: &'a Interpolant<'a>,
    /// The factorised matrix of the step and its `cj`.
    pub factors: Option<(&'a mut (dyn LinearSolver + Send), f64)>,
    /// End of the step.
    pub end: f64,
    /// Its size.
    pub h: f64,
    /// Evaluations of the indicators so far.
    pub evaluations: &'a mut u64,
}

/// Signs and work space of the indicators.
#[derive(Debug, Default)]
pub(crate) struct RootFinder {
    found: Vec<RootCrossing>,
    /// Position up to which the indicators have been looked at.
    t_lo: f64,
    /// Sign at `t_lo`: 0 when not known yet.
    sign: Vec<i8>,
    /// Position and values before `t_lo` on the same smooth piece, if there are any.
    t_before: Option<f64>,
    g_before: Vec<f64>,
    g_lo: Vec<f64>,
    g_hi: Vec<f64>,
    g_mid: Vec<f64>,
    /// Whether a zero counts as a change because the step ends on it.
    zero_counts: Vec<bool>,
    y: Vec<f64>,
    yp: Vec<f64>,
    sampling: IndicatorSampling,
    /// Per indicator: its largest value since the start.
    largest: Vec<f64>,
}

impl RootFinder {
    /// Per indicator: its largest value since the start or restart.
    pub fn largest(&self) -> &[f64] {
        &self.largest
    }

    /// How exactly crossings are located in a step of size `h` that ends at `end`.
    pub fn crossing_error(&self, end: f64, h: f64) -> f64 {
        BRACKET_WIDTH * f64::EPSILON * (end.abs() + h)
    }

    /// The distance on which the indicators are smooth; infinite where it is not known.
    pub fn smooth_distance(&self) -> f64 {
        self.sampling.distance()
    }

    /// The values before the position say nothing about what follows.
    pub fn forget(&mut self) {
        self.t_before = None;
        self.sampling.forget();
    }

    /// Indicators that are negative at the position.
    pub fn negative(&self) -> impl Iterator<Item = usize> + '_ {
        let negative = self.sign.iter().enumerate().filter(|(_, s)| **s < 0);
        negative.map(|(i, _)| i)
    }

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
        if let Some(before) = self.t_before {
            self.sampling.remember(before, &mut self.g_before);
        }
        self.t_before = Some(self.t_lo);
        self.t_lo = t;
        std::mem::swap(&mut self.g_before, &mut self.g_lo);
        std::mem::swap(&mut self.g_lo, &mut self.g_hi);
        for (s, &g) in self.sign.iter_mut().zip(&self.g_lo) {
            if g != 0.0 {
                *s = sign_of(g);
            }
        }
        for (largest, &g) in self.largest.iter_mut().zip(&self.g_lo) {
            *largest = largest.max(g);
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

/// The lowest point inside of `(from, to)` of the parabola through three points, if it opens upwards and has one there.
fn lowest(points: &[(f64, f64); 3], from: f64, to: f64) -> Option<(f64, f64)> {
    let [(t0, g0), (t1, g1), (t2, g2)] = *points;
    let (d1, d2) = ((g1 - g0) / (t1 - t0), (g2 - g1) / (t2 - t1));
    let c = (d2 - d1) / (t2 - t0);
    if c <= 0.0 || !c.is_finite() {
        return None;
    }
    // In Newton's form the slope at t is d1 + c (2 t - t0 - t1).
    let t = 0.5 * (t0 + t1 - d1 / c);
    let inside = t > from && t < to;
    inside.then_some((t, g0 + (t - t0) * (d1 + c * (t - t1))))
}

impl RootFinder {
    /// Takes the indicators' signs at the start.
    pub fn start<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t: f64,
        y: &[f64],
        yp: &[f64],
        evaluations: &mut u64,
    ) -> Result<(), SolverError> {
        let m = indicators_len(dae);
        self.t_before = None;
        self.sampling.start(m);
        for g in [
            &mut self.g_before,
            &mut self.g_lo,
            &mut self.g_hi,
            &mut self.g_mid,
        ] {
            g.clear();
            g.resize(m, 0.0);
        }
        self.sign.clear();
        self.sign.resize(m, 0);
        self.zero_counts.clear();
        self.zero_counts.resize(m, false);
        self.largest.clear();
        self.t_lo = t;
        if m == 0 {
            return Ok(());
        }
        self.y.resize(y.len(), 0.0);
        self.yp.resize(yp.len(), 0.0);
        self.y.copy_from_slice(y);
        self.yp.copy_from_slice(yp);
        *evaluations += 1;
        self.evaluate(dae, t, 0.0, None)?;
        self.g_lo.copy_from_slice(&self.g_mid);
        self.largest.clone_from(&self.g_lo);
        for (s, &g) in self.sign.iter_mut().zip(&self.g_lo) {
            *s = sign_of(g);
        }
        Ok(())
    }

    /// Looks for the first crossing after the last position, up to `t_end` inside the last step.
    pub fn find<D: Dae + ?Sized>(
        &mut self,
        step: &mut InteriorPoint<D>,
        t_end: f64,
    ) -> Result<Option<f64>, SolverError> {
        self.found.clear();
        if self.sign.contains(&0) && self.t_lo < t_end {
            let part = self.t_lo + ZERO_START_FRACTION * (t_end - self.t_lo);
            if part > self.t_lo && part < t_end {
                self.roots_at(step, part)?;
                if let Some(t) = self.scan(step, part)? {
                    return Ok(Some(t));
                }
            }
        }
        loop {
            let end = self.look(step, t_end)?;
            if let Some(t) = self.scan(step, end)? {
                return Ok(Some(t));
            }
            if end >= t_end {
                return Ok(None);
            }
        }
    }

    /// Chooses the next place to look at, up to `t_end`; the values there are in `g_mid` afterwards.
    fn look<D: Dae + ?Sized>(
        &mut self,
        step: &mut InteriorPoint<D>,
        t_end: f64,
    ) -> Result<f64, SolverError> {
        let lo = self.t_lo;
        let before = self.t_before.map(|t| (t, &self.g_before[..]));
        let first = (self.sampling).next((lo, &self.g_lo), before, t_end, step.h);
        let mut end = first;
        for cut in 0.. {
            self.roots_at(step, end)?;
            if (0..self.g_mid.len()).any(|i| self.crossed(i, self.g_mid[i])) {
                return Ok(end);
            }
            let before = self.t_before.map(|t| (t, &self.g_before[..]));
            let (at, there) = ((lo, &self.g_lo[..]), (end, &self.g_mid[..]));
            match self.sampling.is_resolved(at, before, there) {
                // What nobody predicted says nothing about longer distances.
                None => return Ok(end),
                Some(true) => {
                    self.sampling.accept(end - lo, cut > 0);
                    return Ok(end);
                }
                Some(false) => {}
            }
            if cut == MOST_CUTS {
                break;
            }
            end = lo + 0.5 * (end - lo);
        }
        // What does not become smoother by looking closer has noise in it.
        self.sampling.give_up(first - lo);
        self.roots_at(step, first)?;
        Ok(first)
    }

    /// Looks for the first crossing in `(t_lo, t_end]`; the values at its end are in `g_mid`.
    fn scan<D: Dae + ?Sized>(
        &mut self,
        step: &mut InteriorPoint<D>,
        t_end: f64,
    ) -> Result<Option<f64>, SolverError> {
        let roots = &mut *self;
        std::mem::swap(&mut roots.g_hi, &mut roots.g_mid);
        for (flag, &g) in roots.zero_counts.iter_mut().zip(&roots.g_hi) {
            *flag = g == 0.0;
        }
        let mut t_hi = t_end;
        let mut decisive = roots.decisive();
        if decisive.is_none() {
            let Some(t_dip) = self.find_dip(step, t_end)? else {
                self.move_up(t_end);
                return Ok(None);
            };
            t_hi = t_dip;
            decisive = self.decisive();
        }
        let Some(mut index) = decisive else {
            return Ok(None);
        };
        let tolerance = self.crossing_error(step.end, step.h);
        let (mut lo, mut hi) = (self.t_lo, t_hi);
        let mut weight = 1.0;
        let mut last_side = 0i8;
        let mut same_side = 0;
        while hi - lo > tolerance {
            let (g_lo, g_hi) = (self.g_lo[index], self.g_hi[index]);
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
            self.roots_at(step, mid)?;
            let roots = &mut *self;
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
        let roots = &mut *self;
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

    /// Looks for a crossing inside of `(t_lo, t_end)` although all signs at the ends agree; on success the values there are
    /// those of the upper end.
    fn find_dip<D: Dae + ?Sized>(
        &mut self,
        step: &mut InteriorPoint<D>,
        t_end: f64,
    ) -> Result<Option<f64>, SolverError> {
        let lo = self.t_lo;
        let width = t_end - lo;
        if width <= 0.0 {
            return Ok(None);
        }
        let third = match self.t_before {
            Some(t) if t < lo => t,
            _ => {
                // The first interval after a start has no history; its middle serves.
                let mid = lo + 0.5 * width;
                self.roots_at(step, mid)?;
                if self.take_if_crossed() {
                    return Ok(Some(mid));
                }
                let roots = &mut *self;
                std::mem::swap(&mut roots.g_before, &mut roots.g_mid);
                mid
            }
        };
        let roots = &*self;
        let mut dips: Vec<(f64, usize, f64)> = Vec::new();
        for i in 0..roots.g_lo.len() {
            let s = f64::from(roots.sign[i]);
            let (a, b, c) = (roots.g_before[i] * s, roots.g_lo[i] * s, roots.g_hi[i] * s);
            if let Some((t, low)) = lowest(&[(third, a), (lo, b), (t_end, c)], lo, t_end)
                && low < DIP * b.min(c)
            {
                dips.push((low / b.min(c), i, t));
            }
        }
        dips.sort_by(|a, b| a.0.total_cmp(&b.0));
        for &(_, i, t) in dips.iter().take(DIP_INDICATORS) {
            let s = f64::from(self.sign[i]);
            let mut points = [(lo, s * self.g_lo[i]), (t, 0.0), (t_end, s * self.g_hi[i])];
            for _ in 0..DIP_EVALUATIONS {
                self.roots_at(step, points[1].0)?;
                let value = s * self.g_mid[i];
                let at = points[1].0;
                if self.take_if_crossed() {
                    return Ok(Some(at));
                }
                points[1].1 = value;
                let Some((next, low)) = lowest(&points, points[0].0, points[2].0) else {
                    break;
                };
                if low > DIP * value || (next - at).abs() < 1e-3 * (points[2].0 - points[0].0) {
                    break;
                }
                // Keep the neighbours of the new lowest point.
                points = if next < at {
                    [points[0], (next, 0.0), points[1]]
                } else {
                    [points[1], (next, 0.0), points[2]]
                };
            }
        }
        Ok(None)
    }

    /// If an indicator has crossed in `g_mid`, those values become the upper end.
    fn take_if_crossed(&mut self) -> bool {
        let roots = &mut *self;
        roots.zero_counts.fill(false);
        let crossed = (0..roots.g_mid.len()).any(|i| roots.crossed(i, roots.g_mid[i]));
        if crossed {
            std::mem::swap(&mut roots.g_hi, &mut roots.g_mid);
        }
        crossed
    }

    /// Evaluates the indicators on the dense output at `t` into `g_mid`.
    fn roots_at<D: Dae + ?Sized>(
        &mut self,
        step: &mut InteriorPoint<D>,
        t: f64,
    ) -> Result<(), SolverError> {
        (step.interpolant)(t, &mut self.y, &mut self.yp);
        *step.evaluations += 1;
        let at_end = t == step.end;
        let factors = (step.factors.as_mut())
            .map(|(solver, cj)| StepFactors::new(&mut **solver, *cj, at_end));
        self.evaluate(step.dae, t, step.h, factors)
    }

    fn evaluate<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t: f64,
        h: f64,
        factors: Option<StepFactors<'_>>,
    ) -> Result<(), SolverError> {
        let fail = |reason| SolverError::Evaluation { t, h, reason };
        if let Some(events) = dae.events() {
            events
                .indicators_inside(t, &mut self.y, &mut self.yp, factors, &mut self.g_mid)
                .map_err(|e| fail(e.reason()))?;
        }
        match first_not_finite(&self.g_mid) {
            Some(row) => Err(fail(EvalReason::NotFinite { row })),
            None => Ok(()),
        }
    }
}
