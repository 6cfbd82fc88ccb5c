//! What is being done, for people who wait: a bar on a terminal, now and then a line elsewhere.
//!
//! A thread of its own waits for [`SHOW_AFTER`] and then shows what [`Activity`] says, so that quick work never draws anything and
//! slow compilation shows up although it reports nothing.

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use acausal::Activity;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::note;

/// Work that takes longer than this shows its progress on a terminal.
const SHOW_AFTER: Duration = Duration::from_secs(1);
/// How often the bar is redrawn while nothing is reported.
const TICK: Duration = Duration::from_millis(200);
/// The first line where there is no terminal; the next ones come after twice the time each.
const FIRST_LINE: Duration = Duration::from_secs(10);
/// Resolution of the bar.
const STEPS: u64 = 1000;

/// See the module.
pub struct Progress {
    shown: Option<Shown>,
}

struct Shown {
    bar: ProgressBar,
    /// Dropped at the end: wakes the thread that waits.
    finished: Option<Sender<()>>,
    waiting: Option<std::thread::JoinHandle<()>>,
}

impl Progress {
    /// Starts to wait; `wanted` is false for quiet runs and for programs.
    pub fn start(wanted: bool) -> Progress {
        if !wanted {
            return Progress { shown: None };
        }
        let bar = ProgressBar::hidden();
        bar.set_length(STEPS);
        if let Ok(style) =
            ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} %  {elapsed}")
        {
            bar.set_style(style);
        }
        let (finished, wait) = channel::<()>();
        let late = bar.clone();
        let terminal = std::io::stderr().is_terminal();
        let waiting = std::thread::spawn(move || match terminal {
            true => draw(&late, &wait),
            false => lines(&wait),
        });
        Progress {
            shown: Some(Shown {
                bar,
                finished: Some(finished),
                waiting: Some(waiting),
            }),
        }
    }

    /// A fraction of the time span is done.
    pub fn advance(&self, fraction: f64) {
        if let Some(s) = &self.shown {
            s.bar.set_position((fraction * STEPS as f64) as u64);
        }
    }
}

/// Shows the bar until the work is done.
fn draw(bar: &ProgressBar, done: &Receiver<()>) {
    if done.recv_timeout(SHOW_AFTER) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    bar.set_draw_target(ProgressDrawTarget::stderr());
    loop {
        bar.set_message(Activity::now().text());
        bar.tick();
        if done.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

/// Writes a line now and then until the work is done.
fn lines(done: &Receiver<()>) {
    let start = Instant::now();
    let mut wait = FIRST_LINE;
    while done.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        note(&format!(
            "note: still {} after {:.0} s\n",
            Activity::now().text(),
            start.elapsed().as_secs_f64()
        ));
        wait = start.elapsed();
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
