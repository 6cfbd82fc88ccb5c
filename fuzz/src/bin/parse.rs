//! Lexer, parser and printer: no text may end in a panic, and what was printed is parsed and printed alike.

#[path = "../../../crates/acausal-syntax/tests/common/mutate.rs"]
#[allow(dead_code)]
mod mutate;

fn main() {
    afl::fuzz!(|data: &[u8]| {
        let text = String::from_utf8_lossy(data);
        if let Err(reason) = mutate::check(&text) {
            panic!("{reason}");
        }
    });
}
