//! Mutates Modelica sources and checks that parser and printer survive, for a given time.
//!
//! `cargo run --release -p acausal-syntax --example fuzz_parse -- --seconds 60 [--seed 1] [DIR]`
//!
//! Takes the `.mo` files below DIR (this crate's test sources if absent) of at most 20 kB. A mutant that
//! panics, hangs or changes in the round trip is printed, and the exit code is 1.

#[path = "../tests/common/mutate.rs"]
mod mutate;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use mutate::{Random, check, mutant};

const MAX_SOURCE_BYTES: usize = 20_000;

fn main() -> ExitCode {
    let mut seconds = 60;
    let mut seed = 1;
    let mut root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|value| value.parse().ok());
        match argument.as_str() {
            "--seconds" => seconds = number().unwrap_or(seconds),
            "--seed" => seed = number().unwrap_or(seed),
            path => root = PathBuf::from(path),
        }
    }

    let sources = sources_below(root);
    if sources.is_empty() {
        eprintln!("no Modelica sources");
        return ExitCode::from(2);
    }
    let mut random = Random::new(seed);
    let start = Instant::now();
    let (mut count, mut valid) = (0u64, 0u64);
    while start.elapsed() < Duration::from_secs(seconds) {
        let text = mutant(&sources[random.below(sources.len())], &mut random);
        let result = std::panic::catch_unwind(|| check(&text));
        let reason = match result {
            Ok(Ok(())) => None,
            Ok(Err(reason)) => Some(reason),
            Err(_) => Some("panic".to_string()),
        };
        if let Some(reason) = reason {
            println!("{text}\n-- mutant {count} of seed {seed}: {reason}");
            return ExitCode::from(1);
        }
        count += 1;
        valid += u64::from(!acausal_syntax::parse(acausal_base::FileId(0), &text).has_errors());
    }
    println!(
        "{count} mutants of {} sources in {seconds} s, {valid} of them valid",
        sources.len()
    );
    ExitCode::SUCCESS
}

fn sources_below(root: PathBuf) -> Vec<String> {
    let mut paths = Vec::new();
    let mut open = vec![root];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            open.extend(entries.map(|entry| entry.path()));
        } else if path.extension().is_some_and(|extension| extension == "mo") {
            paths.push(path);
        }
    }
    paths.sort();
    let texts = paths
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok());
    texts
        .filter(|text| text.len() <= MAX_SOURCE_BYTES)
        .collect()
}
