//! From text to flat models, every class of it; what is printed is read again; and the messages.

use std::time::Duration;

fn main() {
    acausal_fuzz::run(Duration::from_secs(2), |data| {
        acausal_fuzz::fuzzed::flat(&String::from_utf8_lossy(data), acausal_fuzz::limits()).map(drop)
    });
}
