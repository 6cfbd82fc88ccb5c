//! Ctrl-C, SIGTERM and SIGHUP: while time runs the simulation stops and what was computed is stored; before that there is nothing to
//! keep, and the program ends without leaving anything behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use acausal_base::{Diagnostic, Span};

use super::answer;
use crate::command::exit;

/// What signals tell a simulation.
#[derive(Clone, Debug, Default)]
pub struct Interruption {
    /// Stop at the next opportunity.
    pub stop: Arc<AtomicBool>,
    /// There is a simulation that looks at `stop`.
    listens: Arc<AtomicBool>,
}

impl Interruption {
    /// Installs the handlers.
    pub fn install() -> Interruption {
        let interruption = Interruption::default();
        let now = interruption.clone();
        let hangup_ignored = ignores_hangup();
        // Where no handler can be installed, signals keep their usual meaning.
        let _ = ctrlc::set_handler(move || now.signal());
        if hangup_ignored {
            ignore_hangup();
        }
        interruption
    }

    /// From now on a signal is a request.
    pub fn listen(&self) {
        self.listens.store(true, Ordering::Relaxed);
    }

    fn signal(&self) {
        let asked = self.stop.swap(true, Ordering::Relaxed);
        if asked || !self.listens.load(Ordering::Relaxed) {
            let d = Diagnostic::error("interrupted", Span::NONE, "interrupted");
            answer::end_with(&d, exit::INTERRUPTED);
        }
    }
}

const SIGHUP: i32 = 1;

/// `nohup` and others ask for a program that outlives its terminal.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|m| u64::from_str_radix(m.trim(), 16).ok());
    mask.is_some_and(|m| m & (1 << (SIGHUP - 1)) != 0)
}

#[cfg(unix)]
fn ignore_hangup() {
    unsafe extern "C" {
        fn signal(number: i32, handler: usize) -> usize;
    }
    /// `SIG_IGN` of every system that has `nohup`.
    const IGNORE: usize = 1;
    // SAFETY: the function of the C library with its documented arguments; no handler of ours is involved.
    unsafe {
        signal(SIGHUP, IGNORE);
    }
}

#[cfg(not(unix))]
fn ignore_hangup() {}
