//! `acausal flatten`: the flat model as readable Modelica.

use acausal::{Failure, flatten_target};
use clap::Args;

use super::progress::Progress;
use super::{Target, json_diagnostics, misuse, out, out_json, print_diagnostics, report};
use crate::command::{MessageFormat, exit};

/// Options of `flatten`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
    /// For whom the output is
    #[arg(long, value_enum, default_value_t = MessageFormat::Human, hide_possible_values = true, value_name = "human|json")]
    format: MessageFormat,
}

/// Runs the verb.
pub fn run(options: &Options) -> u8 {
    if let Err(d) = (options.target.check()).and_then(|()| options.target.expect_text()) {
        return misuse(d, options.format);
    }
    let progress = Progress::start(options.format == MessageFormat::Human);
    let flattened = flatten_target(&options.target.target, &options.target.load());
    drop(progress);
    let (flat, warnings, sources) = match flattened {
        Ok(parts) => parts,
        Err(f) => return report(&f, options.format),
    };
    let text = match acausal_flatten::print_flat(&flat) {
        Ok(text) => text,
        Err(message) => {
            let failure = Failure {
                diagnostics: warnings.into_iter().chain([message]).collect(),
                sources,
            };
            return report(&failure, options.format);
        }
    };
    match options.format {
        MessageFormat::Human => {
            print_diagnostics(&warnings, &sources);
            out(&text);
        }
        MessageFormat::Json => {
            let object = serde_json::json!({
                "ok": true,
                "model": flat.name,
                "flat": text,
                "diagnostics": json_diagnostics(&warnings, &sources),
            });
            out_json(&object);
        }
    }
    exit::FINE
}
