//! Checkpoints whose checksum is right, read and continued from.
//!
//! The first byte says what follows. `0`: a whole file, but for its checksum. `1`: its lines after the fingerprint, which is that of the
//! model, so that any values get to the simulation. The input ends before the checksum, which is made here.

use std::time::Duration;

use acausal_fuzz::fuzzed::Continued;

fn main() {
    let continued = Continued::new(acausal_fuzz::limits()).unwrap_or_else(|e| panic!("{e}"));
    if let Some(kind) = std::env::args().nth(1).and_then(|a| a.chars().next()) {
        // A first input, to be mutated.
        return print!("{}", continued.seed(kind));
    }
    acausal_fuzz::run(Duration::from_secs(5), move |data| {
        continued.check(&String::from_utf8_lossy(data)).map(drop)
    });
}
