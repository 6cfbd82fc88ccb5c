//! What this process is doing, for messages about work that takes long or needs too much memory.
//!
//! One word for the whole process: with several models at once it is that of the one that changed last.

use std::sync::atomic::{AtomicU8, Ordering};

/// Parts of the work, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Activity {
    /// Files are read and parsed.
    Reading,
    /// Classes become equations.
    Flattening,
    /// Equations are sorted and differentiated.
    Structure,
    /// Equations become code.
    Code,
    /// The start values are computed.
    Starting,
    /// Time runs.
    Simulating,
}

static NOW: AtomicU8 = AtomicU8::new(Activity::Reading as u8);

impl Activity {
    const ALL: [Activity; 6] = [
        Activity::Reading,
        Activity::Flattening,
        Activity::Structure,
        Activity::Code,
        Activity::Starting,
        Activity::Simulating,
    ];

    /// Says that this begins.
    pub fn begin(self) {
        NOW.store(self as u8, Ordering::Relaxed);
    }

    /// What is being done.
    pub fn now() -> Activity {
        Activity::ALL[usize::from(NOW.load(Ordering::Relaxed)) % Activity::ALL.len()]
    }

    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Activity::Reading => "reading the model",
            Activity::Flattening => "flattening the model",
            Activity::Structure => "analysing the structure of the equations",
            Activity::Code => "generating code",
            Activity::Starting => "computing the start values",
            Activity::Simulating => "simulating",
        }
    }
}
