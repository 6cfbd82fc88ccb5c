//! Values of `--set`, one per line, of a model with every kind of parameter, which is simulated with them.

use std::time::Duration;

fn main() {
    acausal_fuzz::run(Duration::from_secs(2), |data| {
        acausal_fuzz::fuzzed::set(&String::from_utf8_lossy(data), acausal_fuzz::limits()).map(drop)
    });
}
