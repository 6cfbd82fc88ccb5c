//! The time of each pass.

use std::time::Instant;

/// Times passes.
pub(crate) struct Stopwatch {
    /// The passes in order with the seconds of each; a pass that runs twice counts twice.
    pub(crate) passes: Vec<(&'static str, f64)>,
    last: Instant,
}

impl Stopwatch {
    pub(crate) fn start() -> Stopwatch {
        Stopwatch {
            passes: Vec::new(),
            last: Instant::now(),
        }
    }

    /// The time since the last call belongs to this pass.
    pub(crate) fn lap(&mut self, pass: &'static str) {
        let now = Instant::now();
        let seconds = (now - self.last).as_secs_f64();
        self.last = now;
        match self.passes.iter_mut().find(|p| p.0 == pass) {
            Some(p) => p.1 += seconds,
            None => self.passes.push((pass, seconds)),
        }
    }
}
