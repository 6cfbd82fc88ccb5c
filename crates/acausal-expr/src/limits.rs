//! What a model may cost before it is refused.
//!
//! Sizes, loops and recursions are written in a few characters: `Real x[2147483647]`, `sum(i for i in 1:1000000000)`. Whoever
//! allocates or computes what such a text asks for looks here first and says no with a message, instead of being ended by
//! the system. The arena of a model carries its limits ([`Exprs::limits`](crate::Exprs::limits)), so every pass knows them.
//!
//! Limits are about what the user asked for, never about what is right: a run below them gives the same result with any
//! values of them.

use std::sync::OnceLock;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that may be allocated.
    pub memory: u64,
    /// Instructions of one evaluation by the compiler, or of one call of a function at run time.
    pub evaluation_steps: u64,
    /// Components of a model, arrays of them counted once.
    pub instances: u64,
}

/// One or two seconds of work.
const EVALUATION_STEPS: u64 = 200_000_000;
/// Twenty times the largest models that were written out so far; a few gigabytes.
const INSTANCES: u64 = 20_000_000;

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            memory: available_memory(),
            evaluation_steps: EVALUATION_STEPS,
            instances: INSTANCES,
        }
    }
}

impl Limits {
    /// Whether this many items of a size fit into memory.
    pub fn allows(&self, items: u64, bytes_each: u64) -> bool {
        items
            .checked_mul(bytes_each)
            .is_some_and(|b| b <= self.memory)
    }
}

impl Limits {
    /// Longest text. A text is joined from shorter ones, which are kept as well, and copied a few times on its way.
    pub fn text_length(&self) -> u64 {
        self.memory / 16
    }
}

/// Memory that the system could give to this program, without making others wait for the disk; asked once.
pub fn available_memory() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let known = std::fs::read_to_string("/proc/meminfo").ok();
        // Where the system does not tell there is no limit but its own.
        let machine = known.and_then(|text| parse(&text)).unwrap_or(u64::MAX);
        machine.min(container_memory().unwrap_or(u64::MAX))
    })
}

/// What a container may use, which the machine does not tell (control groups of Linux, versions 2 and 1).
fn container_memory() -> Option<u64> {
    let files = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ];
    let text = files.iter().find_map(|f| std::fs::read_to_string(f).ok())?;
    // Without a limit it says `max`.
    text.trim().parse().ok()
}

fn parse(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Bytes in words: `1.5 GB`.
pub fn bytes_text(bytes: f64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = bytes;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{value:.0} bytes"),
        _ => format!("{value:.1} {}", units[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_tells() {
        let text = "MemTotal:       24000000 kB\nMemFree: 1 kB\nMemAvailable:   2048 kB\n";
        assert_eq!(parse(text), Some(2048 * 1024));
        assert_eq!(parse("MemTotal: 1 kB\n"), None);
    }

    #[test]
    fn sizes_that_overflow_are_not_allowed() {
        let limits = Limits {
            memory: u64::MAX,
            ..Limits::default()
        };
        assert!(limits.allows(1 << 40, 8));
        assert!(!limits.allows(u64::MAX, 8));
    }

    #[test]
    fn bytes_in_words() {
        assert_eq!(bytes_text(17.0), "17 bytes");
        assert_eq!(bytes_text(17_179_869_208.0), "17.2 GB");
    }
}
