//! The command `acausal`.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: acausal::Limited = acausal::Limited;

fn main() -> ExitCode {
    ExitCode::from(acausal::command::run(std::env::args_os()))
}
