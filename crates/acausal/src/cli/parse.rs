//! `acausal parse`: syntax only, over files or whole directories.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use acausal_base::{Diagnostic, SourceMap, Span};
use acausal_syntax::parse_file;
use clap::Args;

use super::{count, json_diagnostics, out, out_json, print_diagnostics, usage};
use crate::command::{MessageFormat, exit};

/// Options of `parse`.
#[derive(Args, Debug)]
pub struct Options {
    /// Files, or directories whose .mo files are all parsed
    #[arg(required = true, value_name = "FILE|DIRECTORY")]
    paths: Vec<PathBuf>,
    /// For whom the output is
    #[arg(long, value_enum, default_value_t = MessageFormat::Human, hide_possible_values = true, value_name = "human|json")]
    format: MessageFormat,
    /// Print the summary only
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the verb.
pub fn run(o: &Options) -> u8 {
    let clock = Instant::now();
    let mut files = Vec::new();
    for path in &o.paths {
        if let Err((path, e)) = collect(path, &mut files) {
            return usage(
                "unreadable-file",
                format!("{} cannot be read: {e}", path.display()),
                o.format,
            );
        }
    }
    let (mut errors, mut bytes) = (0u64, 0);
    let mut messages = Vec::new();
    for file in &files {
        let text = match std::fs::read(file) {
            Ok(t) => t,
            Err(e) => {
                return usage(
                    "unreadable-file",
                    format!("{} cannot be read: {e}", file.display()),
                    o.format,
                );
            }
        };
        bytes += text.len();
        // Each file has a source map of its own, so that memory does not grow with the number of files.
        let mut sources = SourceMap::default();
        let diagnostics = check(file, text, &mut sources);
        errors += diagnostics.iter().filter(|d| d.is_error()).count() as u64;
        match o.format {
            _ if o.quiet => {}
            MessageFormat::Human => print_diagnostics(&diagnostics, &sources),
            MessageFormat::Json => {
                if let serde_json::Value::Array(more) = json_diagnostics(&diagnostics, &sources) {
                    messages.extend(more);
                }
            }
        }
    }
    let seconds = clock.elapsed().as_secs_f64();
    match o.format {
        MessageFormat::Human => out(&format!(
            "{}, {:.1} MB, {}, {seconds:.3} s\n",
            count(files.len() as u64, "file"),
            bytes as f64 / 1e6,
            count(errors, "error")
        )),
        MessageFormat::Json => {
            let object = serde_json::json!({
                "ok": errors == 0,
                "files": files.len(),
                "bytes": bytes,
                "errors": errors,
                "seconds": seconds,
                "diagnostics": messages,
            });
            out_json(&object);
        }
    }
    if errors == 0 {
        exit::FINE
    } else {
        exit::FAILED
    }
}

fn check(file: &Path, text: Vec<u8>, sources: &mut SourceMap) -> Vec<Diagnostic> {
    let name = file.display().to_string();
    if text.contains(&0) {
        return vec![Diagnostic::error(
            "binary-file",
            Span::NONE,
            format!("{name} is a binary file, not Modelica text"),
        )];
    }
    let (id, warning) = sources.add_bytes(name, text);
    let mut diagnostics = parse_file(sources, id).diagnostics;
    diagnostics.extend(warning);
    diagnostics
}

/// All `.mo` files below a path, in a fixed order. A directory that links lead to twice is entered once.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), (PathBuf, std::io::Error)> {
    let mut entered = BTreeSet::new();
    let mut stack = vec![path.to_path_buf()];
    while let Some(path) = stack.pop() {
        let failed = |e| (path.clone(), e);
        if !path.is_dir() {
            std::fs::metadata(&path).map_err(failed)?;
            files.push(path);
            continue;
        }
        if !entered.insert(path.canonicalize().map_err(failed)?) {
            continue;
        }
        let entries = std::fs::read_dir(&path).map_err(failed)?;
        let mut entries: Vec<PathBuf> = entries
            .map(|e| e.map(|e| e.path()))
            .collect::<Result<_, _>>()
            .map_err(failed)?;
        entries.sort();
        entries.retain(|e| e.is_dir() || e.extension().is_some_and(|x| x == "mo"));
        stack.extend(entries.into_iter().rev());
    }
    Ok(())
}
