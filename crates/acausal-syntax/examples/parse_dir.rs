//! Parses all `.mo` files below a directory on one core and says how long it took.
//!
//! `cargo run --release -p acausal-syntax --example parse_dir -- DIR [--print] [--quiet]`
//!
//! With `--print`, each tree is printed and parsed again, and must come out the same.
//! Exit code 1 if there is an error.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use acausal_base::{FileId, SourceMap};
use acausal_syntax::parser::{Parsed, parse, parse_file};
use acausal_syntax::printer::print;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let Some(root) = arguments.iter().find(|argument| !argument.starts_with('-')) else {
        eprintln!("usage: parse_dir DIR [--print] [--quiet]");
        return ExitCode::from(2);
    };

    let mut sources = SourceMap::new();
    let mut diagnostics = Vec::new();
    let mut files = Vec::new();
    let mut bytes = 0;
    for path in modelica_files(Path::new(root)) {
        match std::fs::read(&path) {
            Ok(content) => {
                bytes += content.len();
                let (file, encoding) = sources.add_bytes(path.display().to_string(), content);
                diagnostics.extend(encoding);
                files.push(file);
            }
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                return ExitCode::from(2);
            }
        }
    }

    let start = Instant::now();
    let cpu_start = cpu_time();
    let trees: Vec<_> = files
        .iter()
        .map(|&file| parse_file(&sources, file))
        .collect();
    let time = start.elapsed();
    let cpu = cpu_time().zip(cpu_start).map(|(end, start)| end - start);

    let mut changed = 0;
    if flag("--print") {
        changed = round_trip(&sources, &files, &trees);
    }
    for parsed in trees {
        diagnostics.extend(parsed.diagnostics);
    }
    if !flag("--quiet") {
        for diagnostic in &diagnostics {
            print!("{}", diagnostic.render(&sources, false));
        }
    }
    let errors = diagnostics.iter().filter(|d| d.is_error()).count();
    println!(
        "{} files, {:.2} MB, {errors} errors, {} other messages, {:.3} s on one core{}",
        files.len(),
        bytes as f64 / 1e6,
        diagnostics.len() - errors,
        time.as_secs_f64(),
        cpu.map_or(String::new(), |cpu| format!(
            " ({:.3} s of processor time)",
            cpu.as_secs_f64()
        )),
    );
    ExitCode::from(u8::from(errors > 0 || changed > 0))
}

/// Processor time of this thread, where Linux tells it; on a busy machine this is the number to look at.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}

/// All files with the extension `mo`, sorted by path.
fn modelica_files(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            open.extend(entries.map(|entry| entry.path()));
        } else if path.extension().is_some_and(|extension| extension == "mo") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Prints and parses again; says which files came out different, and how many.
fn round_trip(sources: &SourceMap, files: &[FileId], trees: &[Parsed]) -> usize {
    let mut changed = 0;
    let mut printing = Duration::ZERO;
    for (&file, parsed) in files.iter().zip(trees) {
        if parsed.has_errors() {
            continue;
        }
        let start = Instant::now();
        let text = print(&parsed.tree);
        printing += start.elapsed();
        let again = parse(file, &text);
        if again.has_errors() || again.tree != parsed.tree {
            changed += 1;
            let name = sources.get(file).map_or("?", |source| &source.name);
            println!("{name}: printed and parsed, the tree is different");
        }
    }
    println!("{changed} trees changed by the round trip; printing took {printing:.3?}");
    changed
}
