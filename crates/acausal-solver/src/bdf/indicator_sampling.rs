//! How densely event indicators are looked at inside of a step.
//!
//! The step size follows the states. An indicator may be faster than they are (`sin(50*time) > 0.5` beside a state that decays)
//! and change its sign twice between two steps. What is promised, whatever the output interval:
//!
//! 1. Two sign changes of an indicator that are further apart than half a step ([`SAMPLES_PER_STEP`]) are found, unless the indicator was
//!    far away: at its last speed it would have needed more than [`DISTANT`] times the rest of the step to reach zero.
//! 2. Closer ones are found where the indicator is smooth on the scale of the looks. Each look is predicted from the three
//!    before it (a parabola); if the prediction misses by more than [`TRUST`] of the distance from zero, and by more than
//!    [`SMALL`] of the largest value so far, the indicator is not resolved and the look is moved closer, up to
//!    2^[`MOST_CUTS`] times. The distance that was good is kept for the next
//!    looks and at most doubled by each of them, so that an oscillation that was resolved once stays so however long the
//!    steps become.
//!
//! 3. The first looks of an integration are [`FIRST`] of its first step apart, and each may be twice as far as the one before: the scale on which the
//!    indicators are smooth is found from below, where three looks cannot mistake an oscillation for a slower one. So the crossings of `sin(1e9*time)` are all found whatever
//!    the first step is.
//!
//! What can still be lost is a dip shorter than half a step that none of the values before it announces. An indicator that
//! does not become smoother by looking closer (noise) is left out of the second rule until the next event. (Not by the third rule: what begins at zero is noise until it has
//! moved by more than its last digits.)
//!
//! Cost: some thirty evaluations at the start, once; then one evaluation per step for indicators that are far from zero, two otherwise; more only while rule 2 asks for it.

/// Looks per step, at least.
const SAMPLES_PER_STEP: f64 = 2.0;
/// See the module.
const DISTANT: f64 = 4.0;
/// See the module: periods down to a billionth of the first step are resolved.
const FIRST: f64 = 1e-10;
/// See the module. With it about ten looks follow a period of a sine.
const TRUST: f64 = 0.1;
/// See the module: what rises from nothing is never predicted well, and what comes near zero by so little is a matter of the
/// tolerance.
const SMALL: f64 = 1e-3;
/// Least distance of looks in units of `eps * (|t| + |h|)`: ten times what a crossing is located to.
const LEAST: f64 = 1e3;
/// See the module.
pub(super) const MOST_CUTS: usize = 10;

/// A position and the indicators there.
type At<'a> = (f64, &'a [f64]);

/// What is known about the smoothness of the indicators.
#[derive(Debug)]
pub(super) struct IndicatorSampling {
    /// Longest distance of looks.
    distance: f64,
    /// It grows from [`FIRST`]: no indicator has limited it yet.
    growing: bool,
    /// A position before the last two, if there is one on the same smooth piece.
    earlier: Option<f64>,
    values: Vec<f64>,
    /// Per indicator: its largest value so far.
    scales: Vec<f64>,
    /// Indicators that are not resolved by any distance.
    noisy: Vec<bool>,
    /// Those that were not resolved by the last look.
    missed: Vec<usize>,
}

impl Default for IndicatorSampling {
    fn default() -> IndicatorSampling {
        IndicatorSampling {
            distance: f64::INFINITY,
            growing: false,
            earlier: None,
            values: Vec::new(),
            scales: Vec::new(),
            noisy: Vec::new(),
            missed: Vec::new(),
        }
    }
}

impl IndicatorSampling {
    /// Begins a smooth piece with `m` indicators. The distance of looks stays: what oscillates does so after an event too.
    pub fn start(&mut self, m: usize) {
        self.earlier = None;
        self.values.clear();
        self.values.resize(m, 0.0);
        self.scales.resize(m, 0.0);
        self.noisy.clear();
        self.noisy.resize(m, false);
    }

    /// Forgets the values.
    pub fn forget(&mut self) {
        self.earlier = None;
    }

    /// Keeps values that are no longer among the last two; gives a buffer of the same length.
    pub fn remember(&mut self, t: f64, values: &mut Vec<f64>) {
        self.earlier = Some(t);
        std::mem::swap(&mut self.values, values);
    }

    /// Where to look next in a step of size `h`, at most at `t_end`.
    pub fn next(&mut self, lo: At<'_>, before: Option<At<'_>>, t_end: f64, h: f64) -> f64 {
        if self.distance.is_infinite() {
            (self.distance, self.growing) = (FIRST * h, true);
        }
        self.growing &= self.distance < h / SAMPLES_PER_STEP;
        let rest = t_end - lo.0;
        let distant = before.is_some_and(|before| {
            let time = lo.0 - before.0;
            let mut values = lo.1.iter().zip(before.1);
            time > 0.0 && values.all(|(g, b)| g.abs() * time > DISTANT * rest * (g - b).abs())
        });
        let longest = match distant {
            true => self.distance,
            false => self.distance.min(h / SAMPLES_PER_STEP),
        };
        let longest = longest.max(LEAST * f64::EPSILON * (t_end.abs() + h));
        // A last interval that is hardly longer than the others is not cut.
        if rest > 1.01 * longest {
            lo.0 + longest
        } else {
            t_end
        }
    }

    /// Whether the values at a place are what the three looks before let expect; nothing where there are not three, behind an event.
    pub fn is_resolved(
        &mut self,
        lo: At<'_>,
        before: Option<At<'_>>,
        there: At<'_>,
    ) -> Option<bool> {
        self.missed.clear();
        for (scale, g) in self.scales.iter_mut().zip(there.1) {
            *scale = scale.max(g.abs());
        }
        let (before, t0) = (before?, self.earlier?);
        let least = LEAST * f64::EPSILON * there.0.abs();
        if there.0 - lo.0 <= least {
            return Some(true);
        }
        let (t1, t2, t) = (before.0, lo.0, there.0);
        // Lagrange's weights of the parabola through the three.
        let w0 = (t - t1) * (t - t2) / ((t0 - t1) * (t0 - t2));
        let w1 = (t - t0) * (t - t2) / ((t1 - t0) * (t1 - t2));
        let w2 = (t - t0) * (t - t1) / ((t2 - t0) * (t2 - t1));
        for (i, g) in there.1.iter().enumerate() {
            let predicted = w0 * self.values[i] + w1 * before.1[i] + w2 * lo.1[i];
            let away = 0.5 * (lo.1[i].abs() + g.abs());
            let miss = (predicted - g).abs();
            if !self.noisy[i] && miss > TRUST * away && miss > SMALL * self.scales[i] {
                self.missed.push(i);
            }
        }
        Some(self.missed.is_empty())
    }

    /// A look at this distance was as predicted; `cut` if a longer one was not.
    pub fn accept(&mut self, distance: f64, cut: bool) {
        self.growing &= !cut;
        self.distance = match cut {
            true => 2.0 * distance,
            false => self.distance.max(2.0 * distance),
        };
    }

    /// The distance on which the indicators are smooth, as far as that is known.
    pub fn distance(&self) -> f64 {
        self.distance
    }

    /// No distance up to this one was good: the indicators that were missed are not smooth.
    pub fn give_up(&mut self, distance: f64) {
        if self.growing {
            self.distance = self.distance.max(2.0 * distance);
            return;
        }
        for &i in &self.missed {
            self.noisy[i] = true;
        }
    }
}
