//! Time and memory over the size of a model, for families of models that are sized by one parameter.
//!
//! In: the families of [`family`]. Out: one line per family and size with the number of scalar equations, seconds of
//! CPU time (of an integration step the time that passes, since two threads may work on it) and the growth per decade (of scalar equations) of each phase (parse, flatten, structure, code generation, initialisation, one
//! integration step) and the peak of memory. The baseline of each line is the size before it in the same run: a phase
//! that does not look at elements has a growth near 1, one that is linear 10.
//!
//! Every case runs in a process of its own ([`case`]), because the peak of memory (`VmHWM`) is one of a process. A case
//! that fails is printed with its error; one that exceeds the limit of time is ended, and larger ones are left out.
//!
//! [`check`] compares working on arrays with working on their elements instead of measuring.

pub mod case;
pub mod check;
pub mod family;
pub(crate) mod written;

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use case::Measured;
use family::Family;

/// What to measure.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Families, by a part of their name [default: all]
    pub families: Vec<String>,
    /// Sizes instead of those of each family.
    #[arg(long, value_delimiter = ',')]
    pub sizes: Vec<usize>,
    /// Largest size.
    #[arg(long, default_value_t = 1_000_000)]
    pub largest: usize,
    /// Seconds after which a case is ended.
    #[arg(long, default_value_t = 120.0)]
    pub limit: f64,
    /// Stop time instead of that of each model.
    #[arg(long)]
    pub stop: Option<f64>,
    /// Threads of the integration.
    #[arg(long)]
    pub threads: Option<usize>,
    /// Runs of each case; the fastest counts.
    #[arg(long, default_value_t = 1)]
    pub repeats: usize,
    /// Compare arrays with single elements instead of measuring: structure at N = 8, trajectories at about N = 1000.
    #[arg(long)]
    pub check: bool,
}

/// Runs the cases and prints the table. An error when a case failed.
pub fn run(options: &Options) -> Result<(), String> {
    if options.check {
        return check::run(options);
    }
    let mut failures = 0;
    for family in family::all() {
        let named = |f: &String| family.name.to_lowercase().contains(&f.to_lowercase());
        if !options.families.is_empty() && !options.families.iter().any(named) {
            continue;
        }
        failures += run_family(&family, options)?;
    }
    match failures {
        0 => Ok(()),
        n => Err(format!("{n} cases failed or were ended")),
    }
}

fn run_family(family: &Family, options: &Options) -> Result<usize, String> {
    println!("\n{}: {}", family.name, family.text);
    println!(
        "{:>9} {:>10} {:>15} {:>15} {:>15} {:>15} {:>15} {:>6} {:>17} {:>8} {:>9}",
        "N",
        "equations",
        "parse",
        "flatten",
        "structure",
        "codegen",
        "initialise",
        "steps",
        "ms/step",
        "total s",
        "peak MB"
    );
    let mut before: Option<Measured> = None;
    let mut failures = 0;
    let sizes = if options.sizes.is_empty() {
        family.sizes
    } else {
        &options.sizes
    };
    for &n in sizes.iter().filter(|n| **n <= options.largest) {
        match best(family, n, options) {
            Ok(m) => {
                print_line(n, &m, before.as_ref());
                before = Some(m);
            }
            Err(Failed::Case(text)) => {
                println!("{n:>9} failed: {}", text.trim());
                failures += 1;
            }
            Err(Failed::TooLong) => {
                println!(
                    "{n:>9} ended after {} s; larger sizes are left out",
                    options.limit
                );
                failures += 1;
                break;
            }
            Err(Failed::Start(text)) => return Err(text),
        }
    }
    Ok(failures)
}

fn print_line(n: usize, m: &Measured, before: Option<&Measured>) {
    let cell = |pick: fn(&Measured) -> f64, scale: f64| {
        let now = pick(m);
        match before {
            Some(b) if b.equations < m.equations => {
                let decades = (m.equations as f64 / b.equations as f64).log10();
                let growth = (now / pick(b).max(1e-6)).powf(1.0 / decades);
                format!("{:>8.4} {:>6}", now * scale, format!("x{growth:.1}"))
            }
            _ => format!("{:>8.4} {:>6}", now * scale, ""),
        }
    };
    println!(
        "{n:>9} {:>10} {} {} {} {} {} {:>6} {:>17} {:>8.3} {:>9.1}",
        m.equations,
        cell(|m| m.parse, 1.0),
        cell(|m| m.flatten, 1.0),
        cell(|m| m.structure, 1.0),
        cell(|m| m.codegen, 1.0),
        cell(|m| m.initialise, 1.0),
        m.steps,
        cell(Measured::per_step, 1e3),
        m.total(),
        m.peak / 1e6,
    );
}

enum Failed {
    /// The case itself failed, with its message.
    Case(String),
    TooLong,
    /// The process could not be started.
    Start(String),
}

/// One size of a family in a process of its own, the fastest of each phase over the repeats.
pub fn measure(family: &str, n: usize, options: &Options) -> Result<Measured, String> {
    let found = family::by_name(family).ok_or_else(|| format!("there is no family `{family}`"))?;
    best(&found, n, options).map_err(|failed| match failed {
        Failed::Case(text) | Failed::Start(text) => format!("{family} {n}: {text}"),
        Failed::TooLong => format!("{family} {n}: ended after {} s", options.limit),
    })
}

/// The fastest of each phase over the repeats.
fn best(family: &Family, n: usize, options: &Options) -> Result<Measured, Failed> {
    let mut best = child(family, n, options)?;
    for _ in 1..options.repeats.max(1) {
        best = best.fastest(&child(family, n, options)?);
    }
    Ok(best)
}

/// Runs one case in a process of its own.
fn child(family: &Family, n: usize, options: &Options) -> Result<Measured, Failed> {
    let mut arguments = vec!["scale-case".to_string(), family.name.into(), n.to_string()];
    if let Some(stop) = options.stop {
        arguments.extend(["--stop".to_string(), stop.to_string()]);
    }
    if let Some(threads) = options.threads {
        arguments.extend(["--threads".to_string(), threads.to_string()]);
    }
    let printed = process(&arguments, options.limit)?;
    Measured::read(&printed).map_err(Failed::Case)
}

/// Runs this program with arguments in a process of its own, for so many seconds at most: what it printed.
fn process(arguments: &[String], limit: f64) -> Result<String, Failed> {
    let start = |e: std::io::Error| Failed::Start(e.to_string());
    let program = std::env::current_exe().map_err(start)?;
    let mut command = Command::new(program);
    command.args(arguments);
    let (out, errors) = (output_file("out")?, output_file("err")?);
    let mut process = command
        .stdout(Stdio::from(std::fs::File::create(&out).map_err(start)?))
        .stderr(Stdio::from(std::fs::File::create(&errors).map_err(start)?))
        .spawn()
        .map_err(start)?;
    let clock = Instant::now();
    let status = loop {
        if let Some(status) = process.try_wait().map_err(start)? {
            break status;
        }
        if clock.elapsed().as_secs_f64() > limit {
            process.kill().map_err(start)?;
            process.wait().map_err(start)?;
            return Err(Failed::TooLong);
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let text = |path: &PathBuf| {
        let mut text = String::new();
        let read = std::fs::File::open(path).and_then(|mut f| f.read_to_string(&mut text));
        read.map(|_| text).map_err(start)
    };
    let (printed, messages) = (text(&out)?, text(&errors)?);
    if !status.success() {
        return Err(Failed::Case(format!("{status}\n{messages}")));
    }
    Ok(printed)
}

/// A file for the output of a case: a pipe could fill up while nobody reads it.
fn output_file(kind: &str) -> Result<PathBuf, Failed> {
    let dir = std::env::temp_dir();
    Ok(dir.join(format!("acausal-scale-{}.{kind}", std::process::id())))
}
