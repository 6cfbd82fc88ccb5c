//! A solution is followed while a parameter moves from 0 to 1.
//!
//! In: the guess for parameter 0 and a solver of the problem at any parameter. Out: the solution at parameter 1. The
//! parameter is moved in steps that double after a success and are quartered after a failure; the guess of the next
//! problem is extrapolated from the last two solutions (secant predictor; Allgower & Georg, "Numerical Continuation
//! Methods", 1990, sec. 2). The path must be a function of the parameter: a path that turns back is not followed, and the
//! error of the last problem is given.
//!
//! Worked example: `x^3 + x = 100 s` from x = 0: parameters 0, 0.25, 0.75, 1 with guesses 0, 0, 5.6, ...

/// First step of the parameter.
const FIRST_STEP: f64 = 0.25;
/// Smaller steps are no progress: the path ends or turns back.
const SMALLEST_STEP: f64 = 1e-4;
/// Bound on the number of problems.
const MOST_PROBLEMS: u32 = 500;

/// A path that is followed by whoever solves the problems: told how each one ended, it says which comes next.
pub struct Path {
    /// Solution at `at`.
    x: Vec<f64>,
    /// The solution before, with its parameter.
    last: Option<(f64, Vec<f64>)>,
    at: f64,
    step: f64,
    next: f64,
    guess: Vec<f64>,
    solved: u32,
}

impl Path {
    /// A path whose first problem has parameter 0 and this guess.
    pub fn new(guess: &[f64]) -> Path {
        Path {
            x: guess.to_vec(),
            last: None,
            at: 0.0,
            step: FIRST_STEP,
            next: 0.0,
            guess: guess.to_vec(),
            solved: 0,
        }
    }

    /// The parameter of the problem to be solved.
    pub fn parameter(&self) -> f64 {
        self.next
    }

    /// Where to begin.
    pub fn guess(&self) -> &[f64] {
        &self.guess
    }

    /// Number of problems that were solved.
    pub fn solved(&self) -> u32 {
        self.solved
    }

    /// The problem has this solution; true at the end of the path.
    pub fn succeeded(&mut self, x: &[f64]) -> bool {
        if self.solved > 0 {
            self.last = Some((self.at, std::mem::take(&mut self.x)));
            self.step *= 2.0;
        }
        self.solved += 1;
        self.at = self.next;
        self.x = x.to_vec();
        self.choose();
        self.at >= 1.0
    }

    /// The problem could not be solved; true when the path cannot be followed further.
    pub fn failed(&mut self) -> bool {
        if self.solved == 0 {
            return true;
        }
        // An extrapolation may lead astray; the shorter step starts from the solution itself.
        self.last = None;
        self.step *= 0.25;
        self.choose();
        self.step < SMALLEST_STEP || self.solved > MOST_PROBLEMS
    }

    fn choose(&mut self) {
        self.next = if self.at + self.step > 1.0 - 1e-12 {
            1.0
        } else {
            self.at + self.step
        };
        self.guess.copy_from_slice(&self.x);
        if let Some((before, y)) = &self.last {
            let factor = (self.next - self.at) / (self.at - before);
            for ((g, now), before) in self.guess.iter_mut().zip(&self.x).zip(y) {
                *g = now + factor * (now - before);
            }
        }
    }
}

/// Follows the solution; `solve` improves the guess at a parameter. Gives the number of problems that were solved.
pub fn continuation<E>(
    x: &mut [f64],
    mut solve: impl FnMut(f64, &mut [f64]) -> Result<(), E>,
) -> Result<u32, E> {
    let mut path = Path::new(x);
    let mut guess = x.to_vec();
    loop {
        guess.copy_from_slice(path.guess());
        match solve(path.parameter(), &mut guess) {
            Ok(()) => {
                x.copy_from_slice(&guess);
                if path.succeeded(&guess) {
                    return Ok(path.solved());
                }
            }
            Err(error) => {
                if path.failed() {
                    return Err(error);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cubic_is_followed_to_its_end() {
        let mut x = [0.0];
        continuation(&mut x, |s, x| {
            // Three plain Newton steps only: far guesses fail.
            for _ in 0..3 {
                let f = x[0].powi(3) + x[0] - 100.0 * s;
                x[0] -= f / (3.0 * x[0] * x[0] + 1.0);
            }
            let f = x[0].powi(3) + x[0] - 100.0 * s;
            if f.abs() < 1e-3 { Ok(()) } else { Err(f) }
        })
        .unwrap();
        assert!((x[0] - 4.5703).abs() < 1e-3, "{x:?}");
    }

    #[test]
    fn a_path_that_turns_back_ends_with_the_error_of_its_last_problem() {
        let mut x = [0.0];
        // x^2 = 1/4 - s has no solution beyond 1/4.
        let end = continuation(&mut x, |s, x| {
            let d = 0.25 - s;
            x[0] = d.max(0.0).sqrt();
            if d >= 0.0 { Ok(()) } else { Err("no solution") }
        });
        assert_eq!(end, Err("no solution"));
        assert!(x[0] < 0.1, "{x:?}");
    }
}
