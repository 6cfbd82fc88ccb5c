//! The answer: a direct solve for every row.

use acausal::InMemory;

use super::{Basis, Loop, Manufactured, Nonlinear, STOP, State, WORST_CONDITION};
use crate::random::case::{ALLOWED, Disagreement, TRAJECTORY, compare_bounded, compare_within};
use crate::random::matrix::{DenseMatrix, zeros};
use crate::random::orthogonal::Qr;

/// Values of the modulation at which a matrix is looked at. (With 9 the determinant of one of some 30,000 loops changed its sign twice in between.)
const POINTS: usize = 33;

/// An estimate of the worst condition number over time; infinite for a matrix that is or becomes singular (then the sign
/// of its determinant changes).
pub(super) fn condition(case: &Loop) -> f64 {
    let points = if case.modulation.is_some() { POINTS } else { 1 };
    let mut worst = 0.0f64;
    let mut sign = None;
    for k in 0..points {
        let sine = if points == 1 {
            0.0
        } else {
            2.0 * k as f64 / (POINTS - 1) as f64 - 1.0
        };
        let Some(qr) = Qr::new(matrix(case, sine)) else {
            return f64::INFINITY;
        };
        if *sign.get_or_insert(qr.negative) != qr.negative {
            return f64::INFINITY;
        }
        worst = worst.max(qr.condition());
    }
    worst
}

/// The matrix when the sine of the modulation has a value.
fn matrix(case: &Loop, sine: f64) -> DenseMatrix {
    let n = case.rows.len();
    let mut a = zeros(n, n);
    for (i, row) in case.rows.iter().enumerate() {
        for &(j, c) in &row.terms {
            let factor = match case.modulation {
                Some((amplitude, _)) if i == j => 1.0 + amplitude * sine,
                _ => 1.0,
            };
            a[i][j] += c * factor;
        }
    }
    a
}

/// Compares all unknowns, the state and what is sampled.
///
/// The state is a trajectory, whose error is the sum over the steps (and each tick begins with small steps of low order); where it drives itself through the
/// loop, errors are carried along. The unknowns have no history: they are those of a direct solve *with the state of the same row*, and so is what was held
/// with that of the tick. So a loop that amplifies the state is not blamed for the integration, and has no part in its larger bound.
pub(super) fn judge(case: &Loop, run: &InMemory, tolerance: f64) -> Result<f64, Disagreement> {
    let Some(answer) = Answer::new(case) else {
        // `make` and `smaller` leave singular matrices out.
        return Err(Disagreement::missing("a regular matrix"));
    };
    let times = run.result.time();
    let mut worst = 0.0f64;
    let states = match case.state {
        None => vec![0.0; times.len()],
        Some(_) => {
            let x = "x".to_string();
            let expected = |t: f64| vec![answer.state(t)];
            worst = compare_within(run, &[x], TRAJECTORY * tolerance, expected)?;
            run.result.values("x").unwrap_or_default().into_owned()
        }
    };
    let mut names: Vec<String> = (0..case.rows.len()).map(|k| case.signal(k)).collect();
    let mut answers: Vec<Vec<f64>> = times
        .iter()
        .zip(&states)
        .map(|(&t, &x)| answer.unknowns(t, x))
        .collect();
    if let Some(s) = case.sampled {
        names.extend(["held".to_string(), "ticks".to_string()]);
        // What was held last, once there has been a tick.
        let (mut held, mut ticked) = (0.0, -1.0);
        for (&t, values) in times.iter().zip(&mut answers) {
            let ticks = (t - s.start) / s.period;
            if ticks.round() >= 0.0 && (ticks - ticks.round()).abs() * s.period < ON_TICK {
                // There is a row before the tick and one after it, with the same continuous values.
                (held, ticked) = (values[s.of.0] + values[s.of.1], ticks.round());
                values.extend([f64::NAN; 2]);
                continue;
            }
            if ticks.floor().max(-1.0) != ticked {
                return Err(Disagreement::missing("a row at each tick"));
            }
            values.extend([held, ticked + 1.0]);
        }
    }
    let scale = answers
        .iter()
        .flatten()
        .filter(|v| v.is_finite())
        .fold(1.0f64, |m, v| m.max(v.abs()));
    let bound = ALLOWED * tolerance * scale;
    Ok(worst.max(compare_bounded(run, &names, bound, &answers)?))
}

/// A row that is this near to a tick, in seconds, belongs to it.
const ON_TICK: f64 = 1e-9;

struct Answer<'c> {
    case: &'c Loop,
    /// Solutions for each function of the basis, while the matrix is constant.
    parts: Option<Vec<Vec<f64>>>,
    /// The state at multiples of the step.
    table: Vec<(f64, f64)>,
}

/// Whether the state grows by itself: errors then grow with it, and tell nothing about the loop.
pub(super) fn grows(case: &Loop) -> bool {
    const MOST: f64 = 10.0;
    let last = Answer::new(case).and_then(|a| a.table.last().copied());
    // What has overflowed is not a number.
    last.is_some_and(|(x, _)| x.is_nan() || x.abs() > MOST)
}

/// Steps of the classical Runge-Kutta method for the state: errors far below any tolerance here.
const STEPS: usize = 4000;

impl<'c> Answer<'c> {
    fn new(case: &'c Loop) -> Option<Answer<'c>> {
        let parts = match case.modulation {
            Some(_) => None,
            None => {
                let qr = Qr::new(matrix(case, 0.0))?;
                Some(
                    (0..case.basis.len())
                        .map(|b| qr.solve(&right(case, b)))
                        .collect(),
                )
            }
        };
        let mut answer = Answer {
            case,
            parts,
            table: Vec::new(),
        };
        if let Some(state) = case.state {
            answer.table = answer.integrate(state);
        }
        Some(answer)
    }

    fn slope(&self, s: State, t: f64, x: f64) -> f64 {
        let driven = match (s.gain, self.case.manufactured, &self.parts) {
            (0.0, _, _) => 0.0,
            (_, Some(m), _) => m.value(t, self.case.subscript(s.of)),
            (_, None, Some(parts)) => self.combine(parts, t, x, s.of),
            // The matrix changes with time only where nothing depends on it.
            (_, None, None) => f64::NAN,
        };
        -s.rate * x + s.gain * driven
    }

    fn integrate(&self, s: State) -> Vec<(f64, f64)> {
        let h = STOP / STEPS as f64;
        let f = |t: f64, x: f64| self.slope(s, t, x);
        let mut x = 1.0;
        let mut table = vec![(x, f(0.0, x))];
        for k in 0..STEPS {
            let t = k as f64 * h;
            let k1 = f(t, x);
            let k2 = f(t + h / 2.0, x + h / 2.0 * k1);
            let k3 = f(t + h / 2.0, x + h / 2.0 * k2);
            let k4 = f(t + h, x + h * k3);
            x += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
            table.push((x, f(t + h, x)));
        }
        table
    }

    /// The state by cubic Hermite interpolation.
    fn state(&self, t: f64) -> f64 {
        if self.table.is_empty() {
            return 0.0;
        }
        let h = STOP / STEPS as f64;
        let k = ((t / h) as usize).min(STEPS - 1);
        let ((a, da), (b, db)) = (self.table[k], self.table[k + 1]);
        let s = t / h - k as f64;
        let (s2, s3) = (s * s, s * s * s);
        (2.0 * s3 - 3.0 * s2 + 1.0) * a
            + (s3 - 2.0 * s2 + s) * h * da
            + (3.0 * s2 - 2.0 * s3) * b
            + (s3 - s2) * h * db
    }

    fn combine(&self, parts: &[Vec<f64>], t: f64, x: f64, k: usize) -> f64 {
        let each = self.case.basis.iter().zip(parts);
        each.map(|(b, part)| b.value(t, x) * part[k]).sum()
    }

    fn unknowns(&self, t: f64, x: f64) -> Vec<f64> {
        let case = self.case;
        let n = case.rows.len();
        if let Some(m) = case.manufactured {
            return (0..n).map(|k| m.value(t, case.subscript(k))).collect();
        }
        if let Some(parts) = &self.parts {
            return (0..n).map(|k| self.combine(parts, t, x, k)).collect();
        }
        let sine = case.modulation.map_or(0.0, |(_, w)| (w * t).sin());
        let right: Vec<f64> = case
            .rows
            .iter()
            .map(|r| {
                r.sources
                    .iter()
                    .map(|&(b, c)| c * case.basis[b].value(t, x))
                    .sum()
            })
            .collect();
        // `condition` looks at a few instants; at others the matrix may come near to a singular one, and has no answer to compare with there.
        Qr::new(matrix(case, sine))
            .filter(|qr| qr.condition() < WORST_CONDITION)
            .map_or(vec![f64::NAN; n], |qr| qr.solve(&right))
    }
}

/// The right-hand side for one function of the basis.
fn right(case: &Loop, basis: usize) -> Vec<f64> {
    let part = |(b, c): &(usize, f64)| if *b == basis { *c } else { 0.0 };
    case.rows
        .iter()
        .map(|r| r.sources.iter().map(part).sum())
        .collect()
}

impl Basis {
    fn value(self, t: f64, x: f64) -> f64 {
        match self {
            Basis::One => 1.0,
            Basis::Time => t,
            Basis::Sin(w) => (w * t).sin(),
            Basis::Cos(w) => (w * t).cos(),
            Basis::State => x,
        }
    }
}

impl Manufactured {
    fn value(&self, t: f64, subscript: usize) -> f64 {
        let angle = self.frequency * t + self.phase * subscript as f64;
        self.middle + self.swing * angle.sin()
    }
}

impl Nonlinear {
    /// As Modelica text.
    pub(super) fn text(self, of: &str) -> String {
        match self {
            Nonlinear::Cube => format!("({of})^3"),
            Nonlinear::Tanh => format!("tanh({of})"),
            Nonlinear::Exp => format!("exp(0.5*({of}))"),
        }
    }
}
