//! `cargo bench -p acausal-bench`: the yardstick with its default options.

use acausal_bench::yardstick::{Options, run};
use clap::Parser;

#[derive(Parser)]
struct Defaults {
    #[command(flatten)]
    options: Options,
}

fn main() -> Result<(), String> {
    // What cargo hands over (`--bench`) is not for us.
    run(&Defaults::parse_from(["yardstick"]).options)
}
