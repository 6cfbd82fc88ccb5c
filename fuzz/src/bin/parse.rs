//! Lexer, parser and printer: no text may end in a panic, and what was printed is parsed and printed alike.

use std::time::Duration;

fn main() {
    acausal_fuzz::run(Duration::from_secs(2), |data| {
        acausal_fuzz::mutate::check(&String::from_utf8_lossy(data))
    });
}
