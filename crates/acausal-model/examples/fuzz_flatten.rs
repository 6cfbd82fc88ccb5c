//! Mutates Modelica sources and checks that loading, flattening and printing survive, for a given time.
//!
//! `cargo run --release -p acausal-model --example fuzz_flatten -- --seconds 60 [--seed 1] [DIR]`
//!
//! Takes the `.mo` files below DIR (the project's examples if absent) of at most 20 kB. A mutant that panics, or that
//! takes longer than the limit, is printed, and the exit code is 1.

#[path = "../../acausal-syntax/tests/common/mutate.rs"]
#[allow(dead_code)]
mod mutate;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use acausal_model::class::Libraries;
use acausal_model::flatten::{flatten, print_flat};
use mutate::{Random, mutant};

const MAX_SOURCE_BYTES: usize = 20_000;
/// Stack of the checking thread, as the command has it.
const STACK_BYTES: usize = 256 << 20;
/// A mutant may not take longer; the examples take milliseconds.
const MAX_SECONDS: f64 = 20.0;

fn main() -> ExitCode {
    let worker = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(run);
    match worker.map(|w| w.join()) {
        Ok(Ok(code)) => code,
        _ => ExitCode::from(1),
    }
}

fn run() -> ExitCode {
    let mut seconds = 60;
    let mut seed = 1;
    let mut root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
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
    let (mut count, mut flat) = (0u64, 0u64);
    while start.elapsed() < Duration::from_secs(seconds) {
        let text = mutant(&sources[random.below(sources.len())], &mut random);
        let clock = Instant::now();
        match std::panic::catch_unwind(|| check(&text)) {
            Ok(valid) => flat += u64::from(valid),
            Err(_) => {
                println!("{text}\n-- mutant {count} of seed {seed}: panic");
                return ExitCode::from(1);
            }
        }
        if clock.elapsed().as_secs_f64() > MAX_SECONDS {
            println!(
                "{text}\n-- mutant {count} of seed {seed}: {:.0} s",
                clock.elapsed().as_secs_f64()
            );
            return ExitCode::from(1);
        }
        count += 1;
    }
    println!(
        "{count} mutants of {} sources in {seconds} s, {flat} of them flattened",
        sources.len()
    );
    ExitCode::SUCCESS
}

/// Flattens every class of the text; true if one was valid.
fn check(text: &str) -> bool {
    let mut libraries = Libraries::new();
    let classes = match libraries.load_text("mutant.mo", text) {
        Ok(classes) => classes,
        Err(messages) => {
            for m in messages {
                m.render(libraries.sources(), false);
            }
            return false;
        }
    };
    let mut valid = false;
    for class in classes {
        match flatten(&mut libraries, &class, &[]) {
            Ok((model, _)) => {
                print_flat(&model);
                valid = true;
            }
            Err(messages) => {
                for m in messages {
                    m.render(libraries.sources(), false);
                }
            }
        }
    }
    valid
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
