//! `acausal check`: every error of a model at once.

use acausal::Model;
use clap::Args;

use super::progress::Progress;
use super::{
    Structure, Target, count, json_diagnostics, misuse, out, out_json, print_diagnostics, report,
};
use crate::command::{MessageFormat, exit};

/// Options of `check`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    structure: Structure,
    /// For whom the output is
    #[arg(long, value_enum, default_value_t = MessageFormat::Human, hide_possible_values = true, value_name = "human|json")]
    format: MessageFormat,
}

/// Runs the verb.
pub fn run(options: &Options) -> u8 {
    if let Err(d) = options.target.check() {
        return misuse(d, options.format);
    }
    let progress = Progress::start(options.format == MessageFormat::Human);
    let model = Model::load(
        &options.target.target,
        &options.target.load_with(&options.structure),
    );
    drop(progress);
    let model = match model {
        Ok(m) => m,
        Err(f) => return report(&f, options.format),
    };
    let c = &model.compiled;
    match options.format {
        MessageFormat::Human => {
            print_diagnostics(&model.warnings, &model.sources);
            out(&format!(
                "{}: no errors, {}\n",
                c.symbols.name,
                count(c.n as u64, "unknown")
            ));
        }
        MessageFormat::Json => {
            let object = serde_json::json!({
                "ok": true,
                "model": c.symbols.name,
                "unknowns": c.n,
                "diagnostics": json_diagnostics(&model.warnings, &model.sources),
            });
            out_json(&object);
        }
    }
    exit::FINE
}
