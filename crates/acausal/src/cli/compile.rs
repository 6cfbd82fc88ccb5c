//! `acausal compile`: the compiled model as a file, to be simulated elsewhere and as often as needed.

use std::path::PathBuf;

use acausal::{EXTENSION, Model};
use acausal_base::{Diagnostic, Span};
use clap::Args;

use super::pending::PendingFile;
use super::progress::Progress;
use super::{
    Structure, Target, count, file_stem, json_diagnostics, misuse, out, out_json,
    print_diagnostics, report, usage,
};
use crate::command::{MessageFormat, exit};

/// Options of `compile`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    structure: Structure,
    /// The file; without it the name of the model with the extension .acm
    #[arg(short, long, value_name = "FILE.acm")]
    output: Option<PathBuf>,
    /// Leave the texts of the model out; messages then show equations without their lines
    #[arg(long)]
    without_sources: bool,
    /// For whom the output is
    #[arg(long, value_enum, default_value_t = MessageFormat::Human, hide_possible_values = true, value_name = "human|json")]
    format: MessageFormat,
}

/// Runs the verb.
pub fn run(options: &Options) -> u8 {
    match compile(options) {
        Ok(code) | Err(code) => code,
    }
}

/// `Err` is an exit code as well: that of a failure that has been reported.
fn compile(o: &Options) -> Result<u8, u8> {
    let target = o.target.check().and_then(|()| o.target.expect_text());
    target.map_err(|d| misuse(d, o.format))?;
    if let Some(path) = &o.output
        && path.extension().is_none_or(|e| e != EXTENSION)
    {
        let message = format!("{} does not end in .{EXTENSION}", path.display());
        let d = Diagnostic::error("output", Span::NONE, message);
        return Err(misuse(
            d.hint("that is how `acausal simulate` knows a compiled model"),
            o.format,
        ));
    }
    let progress = Progress::start(o.format == MessageFormat::Human);
    let model = Model::load(&o.target.target, &o.target.load_with(&o.structure));
    drop(progress);
    let mut model = model.map_err(|f| report(&f, o.format))?;
    let name = &model.compiled.symbols.name;
    let path = match &o.output {
        Some(path) => path.clone(),
        None => PathBuf::from(format!("{}.{EXTENSION}", file_stem(name))),
    };
    let warnings = std::mem::take(&mut model.warnings);
    let shown = json_diagnostics(&warnings, &model.sources);
    if o.format == MessageFormat::Human {
        print_diagnostics(&warnings, &model.sources);
    }
    if o.without_sources {
        model.sources = model.sources.excerpt([]);
    }
    let bytes = model.to_bytes().map_err(|f| report(&f, o.format))?;
    let written = PendingFile::create(&path).and_then(|file| file.write(&bytes));
    written.map_err(|e| {
        let message = format!("{} cannot be written: {e}", path.display());
        usage("output", message, o.format)
    })?;
    let c = &model.compiled;
    match o.format {
        MessageFormat::Human => out(&format!(
            "{}: {}, stored in {} ({} kB)\n",
            c.symbols.name,
            count(c.n as u64, "unknown"),
            path.display(),
            bytes.len().div_ceil(1000)
        )),
        MessageFormat::Json => out_json(&serde_json::json!({
            "ok": true,
            "model": c.symbols.name,
            "unknowns": c.n,
            "file": path.display().to_string(),
            "bytes": bytes.len(),
            "diagnostics": shown,
        })),
    }
    Ok(exit::FINE)
}
