//! What the integrator does, move by move, for a trace that a person reads.
//!
//! Recorded only with [`super::BdfOptions::trace`]; the caller takes the moves after each step ([`super::Bdf::take_trace`])
//! and puts them in its own words, as only it knows the names of variables.

use super::Statistics;
use crate::dae::EvalReason;

/// One move of the integrator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Move {
    /// A step is tried.
    Attempt {
        /// Start of the step.
        t: f64,
        /// Its size.
        h: f64,
        /// Its order.
        order: usize,
    },
    /// The iteration matrix is made and factorised.
    Matrix {
        /// Its leading coefficient.
        cj: f64,
    },
    /// An iteration of the corrector.
    Iteration {
        /// Number, from 1.
        number: u32,
        /// Weighted norm of the correction.
        norm: f64,
        /// Variable with the largest weighted correction.
        variable: usize,
    },
    /// The corrector did not converge.
    Convergence {
        /// Variable with the largest weighted correction.
        variable: usize,
        /// Equation that is furthest from being satisfied.
        row: usize,
    },
    /// The model could not be evaluated.
    Evaluation(EvalReason),
    /// The matrix has no inverse.
    Singular {
        /// Equation left without a pivot.
        row: usize,
        /// Unknown left without a pivot.
        col: usize,
    },
    /// The local error was too large.
    ErrorTest {
        /// Its norm; one is allowed.
        norm: f64,
        /// Variable with the largest weighted error.
        variable: usize,
    },
    /// The step was accepted.
    Accepted {
        /// Its end.
        t: f64,
        /// Norm of the local error; one is allowed.
        norm: f64,
        /// Variable with the largest weighted error.
        variable: usize,
    },
}

/// Work of an integrator beyond its counters, for statistics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IntegratorProfile {
    /// Per variable: how often it contributed most to a failed error test.
    pub limiting: Vec<u64>,
    /// Per variable: how often its correction was the largest when the corrector did not converge.
    pub diverging: Vec<u64>,
    /// Entries of the iteration matrix.
    pub matrix_entries: usize,
    /// Entries of its factors, where the solver knows.
    pub factor_entries: Option<usize>,
    /// Seconds in factorisations (with [`super::BdfOptions::profile`]).
    pub factor_seconds: f64,
    /// Seconds in triangular solves (with [`super::BdfOptions::profile`]).
    pub solve_seconds: f64,
}

/// What an integrator writes down while it works.
#[derive(Debug)]
pub(crate) struct Journal {
    pub statistics: Statistics,
    /// Per variable: see [`IntegratorProfile::limiting`] and [`IntegratorProfile::diverging`].
    pub limiting: Vec<u64>,
    pub diverging: Vec<u64>,
    pub moves: Vec<Move>,
    trace: bool,
}

impl Journal {
    pub fn new(n: usize, trace: bool) -> Journal {
        Journal {
            statistics: Statistics::default(),
            limiting: vec![0; n],
            diverging: vec![0; n],
            moves: Vec::new(),
            trace,
        }
    }

    /// Keeps a move, if moves are asked for.
    pub fn note(&mut self, m: Move) {
        if self.trace {
            self.moves.push(m);
        }
    }
}
