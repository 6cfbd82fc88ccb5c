//! `acausal parse`: syntax only, over files or whole directories.

use std::path::{Path, PathBuf};

use acausal_syntax::{SourceMap, parse_file};
use clap::Args;

use super::print_diagnostics;
use crate::exit;

/// Options of `parse`.
#[derive(Args, Debug)]
pub struct Options {
    /// Files, or directories whose `.mo` files are all parsed.
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Only the summary.
    #[arg(long)]
    quiet: bool,
}

/// Runs the verb.
pub fn run(options: &Options) -> u8 {
    let clock = std::time::Instant::now();
    let mut files = Vec::new();
    for path in &options.paths {
        if let Err(e) = collect(path, &mut files) {
            return super::usage(&format!("{} cannot be read: {e}", path.display()));
        }
    }
    let (mut errors, mut bytes) = (0, 0);
    for file in &files {
        let text = match std::fs::read(file) {
            Ok(t) => t,
            Err(e) => return super::usage(&format!("{} cannot be read: {e}", file.display())),
        };
        bytes += text.len();
        let mut sources = SourceMap::default();
        let name = file.display().to_string();
        match String::from_utf8(text) {
            Ok(text) => {
                let id = sources.add_file(name, text);
                let parsed = parse_file(&sources, id);
                errors += parsed.diagnostics.len();
                if !options.quiet {
                    print_diagnostics(&parsed.diagnostics, &sources);
                }
            }
            Err(e) => {
                errors += 1;
                let at = e.utf8_error().valid_up_to();
                eprintln!("error[encoding]: {name} is not UTF-8 (byte {at})");
            }
        }
    }
    let seconds = clock.elapsed().as_secs_f64();
    println!("{} files, {:.1} MB, {errors} errors, {seconds:.3} s", files.len(), bytes as f64 / 1e6);
    if errors == 0 { exit::FINE } else { exit::FAILED }
}

/// All `.mo` files below a path, in a fixed order.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut stack = vec![path.to_path_buf()];
    while let Some(path) = stack.pop() {
        if path.is_dir() {
            let mut entries: Vec<PathBuf> =
                std::fs::read_dir(&path)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
            entries.sort();
            entries.retain(|e| e.is_dir() || e.extension().is_some_and(|x| x == "mo"));
            stack.extend(entries.into_iter().rev());
        } else {
            std::fs::metadata(&path)?;
            files.push(path);
        }
    }
    Ok(())
}
