//! `acausal check`: every error of a model at once.

use acausal::Model;
use clap::Args;

use super::{Target, json_diagnostics, print_diagnostics, report};
use crate::{Format, exit};

/// Options of `check`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// For whom the output is.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// Runs the verb.
pub fn run(options: &Options) -> u8 {
    let model = match Model::load(&options.target.target, &options.target.load()) {
        Ok(m) => m,
        Err(f) => return report(&f, options.format),
    };
    let c = &model.compiled;
    match options.format {
        Format::Human => {
            print_diagnostics(&model.warnings, &model.sources);
            println!("{}: no errors; {} unknowns", c.flat.name, c.n);
        }
        Format::Json => println!(
            "{}",
            serde_json::json!({
                "ok": true,
                "model": c.flat.name,
                "unknowns": c.n,
                "diagnostics": json_diagnostics(&model.warnings, &model.sources),
            })
        ),
    }
    exit::FINE
}
