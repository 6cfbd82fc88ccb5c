//! Mutates Modelica sources and takes them through the whole pipeline: compile, 0.01 s of simulation, checkpoint, restart; for a given time.
//!
//! `cargo run --release -p acausal --example fuzz_pipeline -- --seconds 60 [--seed 1] [DIR]`
//!
//! Takes the `.mo` files below DIR (the project's examples if absent) of at most 20 kB. What panics, what takes longer than the limit of processor time, and a
//! checkpoint that is read although a byte of it was changed, is printed, and the exit code is 1.

#[path = "../../acausal-syntax/tests/common/mutate.rs"]
#[allow(dead_code)]
mod mutate;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use acausal::{Load, Model, Observe, ResultSink, Settings};
use acausal_runtime::Checkpoint;
use mutate::{Random, mutant};

const MAX_SOURCE_BYTES: usize = 20_000;
/// Stack of the checking thread, as the command has it.
const STACK_BYTES: usize = 256 << 20;
/// After this a simulation is told to stop, and after twice of it the mutant has hung.
const PATIENCE: Duration = Duration::from_secs(10);
/// The end of the simulations.
const STOP: f64 = 0.01;

#[derive(Default)]
struct Counts {
    mutants: u64,
    compiled: u64,
    simulated: u64,
    checkpoints: u64,
}

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
    let mut counts = Counts::default();
    while start.elapsed() < Duration::from_secs(seconds) {
        let text = mutant(&sources[random.below(sources.len())], &mut random);
        let place = random.below(1 << 30);
        let clock = Instant::now();
        let caught = std::panic::catch_unwind(|| check(&text, place));
        let reason = match caught {
            Ok(Ok(found)) if clock.elapsed() < 2 * PATIENCE => {
                counts.compiled += u64::from(found >= 1);
                counts.simulated += u64::from(found >= 2);
                counts.checkpoints += u64::from(found >= 3);
                counts.mutants += 1;
                continue;
            }
            Ok(Ok(_)) => format!("{:.0} s", clock.elapsed().as_secs_f64()),
            Ok(Err(reason)) => reason,
            Err(_) => "panic".to_string(),
        };
        let number = counts.mutants;
        println!("{text}\n-- mutant {number} of seed {seed}: {reason}");
        return ExitCode::from(1);
    }
    println!(
        "{} mutants of {} sources in {seconds} s, {} of them compiled, {} simulated, {} checkpoints changed",
        counts.mutants,
        sources.len(),
        counts.compiled,
        counts.simulated,
        counts.checkpoints
    );
    ExitCode::SUCCESS
}

/// How far the text came: 1 compiled, 2 simulated, 3 continued from a checkpoint. An error if a changed checkpoint is read.
fn check(text: &str, place: usize) -> Result<u32, String> {
    let Ok(model) = Model::from_text("mutant.mo", text, &Load::default()) else {
        return Ok(0);
    };
    let settings = Settings {
        start: 0.0,
        stop: STOP,
        interval: STOP / 4.0,
        max_steps: 20_000,
        max_events: 1000,
        checkpoint: true,
        threads: Some(1),
        ..Settings::default()
    };
    let flag = Arc::new(AtomicBool::new(false));
    let (watched, done) = (flag.clone(), Arc::new(AtomicBool::new(false)));
    let finished = done.clone();
    std::thread::spawn(move || {
        let clock = Instant::now();
        while clock.elapsed() < PATIENCE && !finished.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
        watched.store(true, Ordering::Relaxed);
    });
    let sink = || {
        ResultSink::new(None, Observe::nothing(), Observe::everything()).interrupt_by(flag.clone())
    };
    let summary = acausal_runtime::simulate(model.compiled.clone(), &settings, &mut sink());
    done.store(true, Ordering::Relaxed);
    let Ok(summary) = summary else {
        return Ok(1);
    };
    let Some(checkpoint) = summary.checkpoint else {
        return Ok(2);
    };
    let mut bytes = checkpoint.to_text().into_bytes();
    let at = place % bytes.len();
    bytes[at] ^= 1 << (place / bytes.len() % 7);
    if let Ok(changed) = String::from_utf8(bytes)
        && Checkpoint::from_text(&changed).is_ok()
    {
        return Err(format!("a checkpoint with another byte at {at} was read"));
    }
    let read = Checkpoint::from_text(&checkpoint.to_text())?;
    let later = Settings {
        stop: 2.0 * STOP,
        ..settings
    };
    // What cannot go on says so.
    let _ = acausal_runtime::resume(model.compiled.clone(), &read, &later, &mut sink());
    Ok(3)
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
