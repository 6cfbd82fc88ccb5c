//! `cargo bench -p acausal-bench`: the yardstick with its default options.

use acausal_bench::yardstick::{Options, run};

fn main() -> Result<(), String> {
    run(&Options::default()).map(|_| ())
}
