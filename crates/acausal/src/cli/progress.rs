//! A progress bar that appears when the work takes long, on a terminal only.
//!
//! A thread of its own waits for [`SHOW_AFTER`] and then shows the bar, so that quick work never draws anything and
//! slow compilation shows up although it reports nothing.

use std::io::IsTerminal;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that takes longer than this shows its progress.
const SHOW_AFTER: Duration = Duration::from_secs(1);
/// How often the bar is redrawn while nothing is reported.
const TICK: Duration = Duration::from_millis(200);
/// Resolution of the bar.
const STEPS: u64 = 1000;

/// See the module.
pub struct Progress {
    shown: Option<Shown>,
}

struct Shown {
    bar: ProgressBar,
    /// Dropped at the end: wakes the thread that waits to show the bar.
    finished: Option<Sender<()>>,
    waiting: Option<std::thread::JoinHandle<()>>,
}

impl Progress {
    /// Starts to wait; `wanted` is false for quiet runs and for programs.
    pub fn start(wanted: bool) -> Progress {
        if !wanted || !std::io::stderr().is_terminal() {
            return Progress { shown: None };
        }
        let bar = ProgressBar::hidden();
        bar.set_length(STEPS);
        if let Ok(style) =
            ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} %  {elapsed}")
        {
            bar.set_style(style);
        }
        bar.set_message("compiling");
        let (finished, wait) = channel::<()>();
        let late = bar.clone();
        let waiting = std::thread::spawn(move || {
            if wait.recv_timeout(SHOW_AFTER) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.enable_steady_tick(TICK);
            }
        });
        Progress {
            shown: Some(Shown {
                bar,
                finished: Some(finished),
                waiting: Some(waiting),
            }),
        }
    }

    /// The simulation begins.
    pub fn simulating(&self) {
        if let Some(s) = &self.shown {
            s.bar.set_message("simulating");
        }
    }

    /// A fraction of the time span is done.
    pub fn advance(&self, fraction: f64) {
        if let Some(s) = &self.shown {
            s.bar.set_position((fraction * STEPS as f64) as u64);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(s) = &mut self.shown {
            s.finished = None;
            if let Some(w) = s.waiting.take() {
                // The thread only waits and draws; when it failed there is no bar to clear.
                let _ = w.join();
            }
            s.bar.finish_and_clear();
        }
    }
}
