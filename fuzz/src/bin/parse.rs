//! Lexer, parser and printer: no text may end in a panic, and what was printed is parsed and printed alike.

#[path = "../../../crates/acausal-syntax/tests/common/mutate.rs"]
#[allow(dead_code)]
mod mutate;

use std::time::Duration;

fn main() {
    acausal_fuzz::run(Duration::from_secs(2), |data| {
        let text = String::from_utf8_lossy(data);
        if let Err(reason) = mutate::check(&text) {
            panic!("{reason}");
        }
    });
}
