//! `acausal flatten`: the flat model as readable Modelica.

use acausal::flatten_target;
use clap::Args;

use super::{Target, print_diagnostics, report};
use crate::{Format, exit};

/// Options of `flatten`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    target: Target,
}

/// Runs the verb.
pub fn run(options: &Options) -> u8 {
    match flatten_target(&options.target.target, &options.target.load()) {
        Ok((flat, warnings, sources)) => {
            print_diagnostics(&warnings, &sources);
            print!("{}", acausal_model::flatten::print_flat(&flat));
            exit::FINE
        }
        Err(f) => report(&f, Format::Human),
    }
}
