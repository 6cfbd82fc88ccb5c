//! What a case is: text, settings, an answer, and smaller cases of the same family.

use std::borrow::Cow;
use std::fmt;

use acausal::{InMemory, Settings};

use super::attempt::{Attempt, Job, TrialLimits, attempt};

/// A model with an independent answer.
pub trait RandomCase {
    /// The model as Modelica text; the last class is simulated.
    fn text(&self) -> String;

    /// Start, stop and interval; the tolerance comes from the [`TrialLimits`].
    fn settings(&self) -> Settings;

    /// The largest error over its bound, or what is wrong.
    fn judge(&self, run: &InMemory, tolerance: f64) -> Result<f64, Disagreement>;

    /// The model has no solution, or more than one: it must be refused.
    fn singular(&self) -> bool {
        false
    }

    /// Similar cases with less in them, the smallest first.
    fn smaller(&self) -> Vec<Box<dyn RandomCase>>;

    /// Simulates and judges.
    fn attempt(&self, limits: &TrialLimits) -> RandomOutcome {
        self.outcome(attempt(&Job::of(self, limits), limits.slow), limits)
    }

    /// What came of a run.
    fn outcome(&self, ran: Attempt, limits: &TrialLimits) -> RandomOutcome {
        match (ran, self.singular()) {
            (Attempt::Done(_), true) => RandomOutcome::Accepted,
            (Attempt::Refused { .. }, true) => RandomOutcome::Right { ratio: 0.0 },
            (Attempt::Done(run), false) => match self.judge(&run, limits.tolerance) {
                Ok(ratio) => RandomOutcome::Right { ratio },
                Err(deviation) => RandomOutcome::Wrong { deviation },
            },
            (Attempt::Refused { code, text, .. }, false) => RandomOutcome::Refused { code, text },
            (Attempt::Slow(seconds), _) => RandomOutcome::Slow { seconds },
            (Attempt::Crashed(text), _) => RandomOutcome::Crashed { text },
        }
    }
}

/// What came of a case.
#[derive(Clone, Debug)]
pub enum RandomOutcome {
    /// Agrees with the answer.
    Right {
        /// The largest error over its bound.
        ratio: f64,
    },
    /// Does not agree, without a message.
    Wrong {
        /// Where.
        deviation: Disagreement,
    },
    /// A singular model was accepted.
    Accepted,
    /// Refused with a message although it is right.
    Refused {
        /// Identifier of the message.
        code: &'static str,
        /// The message.
        text: String,
    },
    /// Takes too long.
    Slow {
        /// Processor time, infinite if it was given up.
        seconds: f64,
    },
    /// A panic.
    Crashed {
        /// Its message.
        text: String,
    },
}

impl RandomOutcome {
    /// Whether two cases fail in the same way.
    pub fn same_failure(&self, other: &RandomOutcome) -> bool {
        use RandomOutcome::{Accepted, Crashed, Refused, Slow, Wrong};
        match (self, other) {
            (Wrong { .. }, Wrong { .. })
            | (Accepted, Accepted)
            | (Slow { .. }, Slow { .. })
            | (Crashed { .. }, Crashed { .. }) => true,
            (Refused { code: a, .. }, Refused { code: b, .. }) => a == b,
            _ => false,
        }
    }
}

impl fmt::Display for RandomOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RandomOutcome::Right { ratio } => {
                write!(f, "right ({:.1} % of the bound)", 100.0 * ratio)
            }
            RandomOutcome::Wrong { deviation } => write!(f, "wrong: {deviation}"),
            RandomOutcome::Accepted => write!(f, "wrong: singular, but accepted"),
            RandomOutcome::Refused { text, .. } => write!(f, "refused: {}", text.trim_end()),
            RandomOutcome::Slow { seconds } => write!(f, "slow: {seconds:.1} s"),
            RandomOutcome::Crashed { text } => write!(f, "crashed: {text}"),
        }
    }
}

/// A value that is not as it should be.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// Which signal.
    pub signal: String,
    /// When.
    pub time: f64,
    /// What came out.
    pub found: f64,
    /// What is right.
    pub expected: f64,
    /// What would be forgiven.
    pub bound: f64,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} at {} is {}, right is {}, off by {:.2e} where {:.1e} is allowed",
            self.signal,
            self.time,
            self.found,
            self.expected,
            (self.found - self.expected).abs(),
            self.bound
        )
    }
}

impl Disagreement {
    /// A signal that the result lacks, or one with something else than a number.
    pub fn missing(signal: &str) -> Disagreement {
        Disagreement {
            signal: signal.to_string(),
            time: f64::NAN,
            found: f64::NAN,
            expected: f64::NAN,
            bound: 0.0,
        }
    }
}

/// How far the error of an unknown of an algebraic loop may be above the tolerance times the scale.
pub const ALLOWED: f64 = 10.0;

/// The same for states and what follows from them: the tolerance is that of one step, and the error of a trajectory is the
/// sum over its steps, carried along by the equations.
pub const TRAJECTORY: f64 = 100.0;

/// Compares the rows with an answer, all signals on one scale (at least 1): `expected(t)` gives the values at `t` in the
/// order of the names; NaN stands for "anything". Gives the largest error over the bound, which is relative to the scale.
pub fn compare_within(
    run: &InMemory,
    names: &[String],
    relative: f64,
    mut expected: impl FnMut(f64) -> Vec<f64>,
) -> Result<f64, Disagreement> {
    let times = run.result.time();
    let answers: Vec<Vec<f64>> = times.iter().map(|&t| expected(t)).collect();
    let scale = answers
        .iter()
        .flatten()
        .filter(|v| v.is_finite())
        .fold(1.0f64, |m, v| m.max(v.abs()));
    compare_bounded(run, names, relative * scale, &answers)
}

/// Compares the rows with given answers, row by row, within an absolute bound.
pub fn compare_bounded(
    run: &InMemory,
    names: &[String],
    bound: f64,
    answers: &[Vec<f64>],
) -> Result<f64, Disagreement> {
    let mut columns = Vec::new();
    for name in names {
        match run.result.values(name) {
            Some(values) => columns.push((name.clone(), values)),
            None => return Err(Disagreement::missing(name)),
        }
    }
    compare_columns(run.result.time(), &columns, bound, answers)
}

/// Compares named columns with given answers, row by row, within an absolute bound.
pub fn compare_columns(
    times: &[f64],
    columns: &[(String, Cow<'_, [f64]>)],
    bound: f64,
    answers: &[Vec<f64>],
) -> Result<f64, Disagreement> {
    let mut worst: Option<Disagreement> = None;
    let mut largest = 0.0f64;
    for (k, (name, values)) in columns.iter().enumerate() {
        for ((&time, &found), answer) in times.iter().zip(values.iter()).zip(answers) {
            let expected = answer[k];
            if expected.is_nan() {
                continue;
            }
            // What is not a number is as wrong as can be.
            let error = match (found - expected).abs() {
                e if e.is_nan() => f64::INFINITY,
                e => e,
            };
            if worst.is_none() || error > largest {
                largest = error;
                worst = Some(Disagreement {
                    signal: name.clone(),
                    time,
                    found,
                    expected,
                    bound,
                });
            }
        }
    }
    match worst {
        Some(d) if largest > bound => Err(d),
        _ if bound > 0.0 => Ok(largest / bound),
        _ => Ok(0.0),
    }
}
