//! Other ways to solve a block from whose guess the Newton iteration does not converge.
//!
//! In: the block's pattern and guess. Out: its solution, or the last error. First Levenberg-Marquardt steps towards a
//! solution and Newton's method from there; then a Newton homotopy `F(x) = (1 - s) F(x0)` for s from 0 to 1, whose first
//! problem the guess solves.
//!
//! A state machine like [`Iteration`]: the blocks of a level that need help get it in lock step, one evaluation of the
//! model for all of them. (One after the other, a thousand rectifiers with as many different phases cost a thousand times
//! the evaluations of one, each of them of the whole model.)

use super::continuation::Path;
use super::iteration::{Iteration, Request};
use super::least_squares::LeastSquares;
use super::{NewtonError, NewtonOptions, NewtonStatistics};
use crate::dae::DaeError;
use crate::pattern::Pattern;

enum Phase {
    Descent(Box<LeastSquares>),
    /// Newton's method where the descent ended.
    Newton,
    /// The residual at the guess is asked for.
    Shift,
    Homotopy(Path),
    Over(Result<NewtonStatistics, NewtonError>),
}

/// The rescue of one block.
pub(super) struct Rescue {
    phase: Phase,
    guess: Vec<f64>,
    iteration: Iteration,
    /// `F(x0)`.
    first: Vec<f64>,
}

impl Rescue {
    /// For a square block with its guess; the first question is for the residual there.
    pub fn new(pattern: &Pattern, guess: Vec<f64>) -> Result<Self, NewtonError> {
        let n = guess.len();
        Ok(Self {
            phase: Phase::Descent(Box::new(LeastSquares::new(pattern, &guess)?)),
            iteration: Iteration::new(pattern, n, n)?,
            first: vec![0.0; n],
            guess,
        })
    }

    /// Where the model is to be evaluated.
    pub fn point(&self) -> &[f64] {
        match &self.phase {
            Phase::Descent(descent) => descent.point(),
            Phase::Shift => &self.guess,
            _ => self.iteration.point(),
        }
    }

    /// Where the residual is to be written.
    pub fn r(&mut self) -> &mut [f64] {
        match &mut self.phase {
            Phase::Descent(descent) => &mut descent.r,
            Phase::Shift => &mut self.first,
            _ => &mut self.iteration.r,
        }
    }

    /// Where the Jacobian is to be written.
    pub fn values(&mut self) -> &mut [f64] {
        match &mut self.phase {
            Phase::Descent(descent) => &mut descent.values,
            _ => &mut self.iteration.values,
        }
    }

    /// The solution, or why there is none.
    pub fn result(&self) -> Result<(&[f64], NewtonStatistics), NewtonError> {
        match &self.phase {
            Phase::Over(result) => result.map(|s| (&self.iteration.x[..], s)),
            _ => Err(NewtonError::InvalidOptions),
        }
    }

    /// The residual has been evaluated, or could not be.
    pub fn got_residual(
        &mut self,
        evaluated: Result<(), DaeError>,
        options: &NewtonOptions,
    ) -> Request {
        let ask = match &mut self.phase {
            Phase::Descent(descent) => descent.got_residual(evaluated, options),
            Phase::Shift => return self.begin_homotopy(evaluated, options),
            Phase::Homotopy(path) => {
                let left = 1.0 - path.parameter();
                for (r, f) in self.iteration.r.iter_mut().zip(&self.first) {
                    *r -= left * f;
                }
                self.iteration.got_residual(evaluated, options)
            }
            _ => self.iteration.got_residual(evaluated, options),
        };
        self.next(ask, options)
    }

    /// The Jacobian has been evaluated, or could not be.
    pub fn got_jacobian(
        &mut self,
        evaluated: Result<(), DaeError>,
        options: &NewtonOptions,
    ) -> Request {
        let ask = match &mut self.phase {
            Phase::Descent(descent) => descent.got_jacobian(evaluated, options),
            _ => self.iteration.got_jacobian(evaluated, options),
        };
        self.next(ask, options)
    }

    fn begin_homotopy(
        &mut self,
        evaluated: Result<(), DaeError>,
        options: &NewtonOptions,
    ) -> Request {
        if let Err(error) = evaluated {
            let reason = error.reason();
            return self.over(Err(NewtonError::Evaluation { reason }));
        }
        let path = Path::new(&self.guess);
        let ask = (self.iteration).begin(path.guess().iter().copied(), options);
        self.phase = Phase::Homotopy(path);
        ask
    }

    /// What follows when a part of the way has ended.
    fn next(&mut self, ask: Request, options: &NewtonOptions) -> Request {
        if ask != Request::Done {
            return ask;
        }
        match &mut self.phase {
            Phase::Descent(descent) => match descent.result() {
                Ok(()) => {
                    let ask = self.iteration.begin(descent.x.iter().copied(), options);
                    self.phase = Phase::Newton;
                    ask
                }
                Err(_) => self.back_to_the_guess(),
            },
            Phase::Newton => match self.iteration.result(options) {
                Ok(statistics) => self.over(Ok(statistics)),
                Err(_) => self.back_to_the_guess(),
            },
            Phase::Homotopy(path) => match self.iteration.result(options) {
                Ok(statistics) => {
                    if path.succeeded(&self.iteration.x) {
                        return self.over(Ok(statistics));
                    }
                    (self.iteration).begin(path.guess().iter().copied(), options)
                }
                Err(error) => {
                    if path.failed() {
                        return self.over(Err(error));
                    }
                    (self.iteration).begin(path.guess().iter().copied(), options)
                }
            },
            Phase::Shift | Phase::Over(_) => Request::Done,
        }
    }

    fn back_to_the_guess(&mut self) -> Request {
        self.phase = Phase::Shift;
        Request::Residual
    }

    fn over(&mut self, result: Result<NewtonStatistics, NewtonError>) -> Request {
        self.phase = Phase::Over(result);
        Request::Done
    }
}
