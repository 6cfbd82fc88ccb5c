//! How much of a library works: every model of a list is compiled, simulated and compared with its reference.
//!
//! ```text
//! list or library scan ─► one child process per model, limited in time and memory ─► table, reasons by kind, ratchet
//! ```
//!
//! A child is this program again with the hidden verb `msl-one` ([`one`]). It reports each [`Stage`] on a line of its
//! standard output as soon as it is reached, so what the operating system kills has still said how far it came. The
//! limits are those of the shell's `ulimit`, which a process cannot lift.
//!
//! A list is a CSV file with the columns `model`, and optionally `startTime`, `stopTime`, `tolerance`, `interval`,
//! `ref_interval`, `packed` (the file of the reference) and `signals` (separated by `|`). Where the list gives no output
//! interval the reference's own is used, because a tube around five thousand points says nothing about a curve of five
//! hundred. Without a list the models are all classes with an `experiment` annotation below the given package.

mod list;
mod one;
mod ratchet;
mod table;

use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub use list::Entry;
pub use one::{One, one};

/// How far a model came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Not even compiled.
    Nothing,
    /// There is machine code.
    Compiled,
    /// There is a consistent start.
    Initialised,
    /// The stop time was reached.
    Simulated,
    /// All signals lie in the tube of the reference.
    Verified,
}

impl Stage {
    /// All but [`Nothing`](Stage::Nothing), ascending.
    pub const REACHED: [Stage; 4] = [
        Stage::Compiled,
        Stage::Initialised,
        Stage::Simulated,
        Stage::Verified,
    ];

    /// As written in tables and between the processes.
    pub fn word(self) -> &'static str {
        match self {
            Stage::Nothing => "nothing",
            Stage::Compiled => "compiled",
            Stage::Initialised => "initialised",
            Stage::Simulated => "simulated",
            Stage::Verified => "verified",
        }
    }

    fn from_word(word: &str) -> Option<Stage> {
        [Stage::Nothing]
            .into_iter()
            .chain(Stage::REACHED)
            .find(|s| s.word() == word)
    }
}

/// Options of the run.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Directory that holds the library
    #[arg(long, value_name = "DIR", env = "MODELICAPATH")]
    pub library: PathBuf,
    /// Models, settings and signals [default: all classes with an experiment annotation below the package]
    #[arg(long, value_name = "CSV")]
    pub list: Option<PathBuf>,
    /// Directory of the reference trajectories
    #[arg(long, value_name = "DIR")]
    pub reference: Option<PathBuf>,
    /// The package that is searched where there is no list
    #[arg(long, value_name = "NAME", default_value = "Modelica")]
    pub package: String,
    /// Only models whose name contains one of these texts
    #[arg(long, value_name = "TEXTS", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Models at the same time
    #[arg(long, default_value_t = 2)]
    pub jobs: usize,
    /// Seconds of CPU time for one model
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub time: u64,
    /// Megabytes of address space for one model
    #[arg(long, value_name = "MB", default_value_t = 2048)]
    pub memory: u64,
    /// Write the table as Markdown
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Fail when a model comes less far than this file says
    #[arg(long, value_name = "FILE")]
    pub ratchet: Option<PathBuf>,
    /// Write how far the models came into the ratchet file
    #[arg(long, requires = "ratchet")]
    pub update: bool,
}

/// What became of one model.
#[derive(Clone, Debug)]
pub struct MslOutcome {
    /// The class.
    pub model: String,
    /// Whether there is a reference to compare with.
    pub compared: bool,
    /// How far it came.
    pub stage: Stage,
    /// Seconds of CPU time until the model was compiled and until it was simulated.
    pub seconds: (Option<f64>, Option<f64>),
    /// `code: message`, where something failed.
    pub error: Option<String>,
}

/// Runs the list and prints the summary. An error is what kept it from running, or a fall below the ratchet.
pub fn run(o: &Options) -> Result<(), String> {
    let mut entries = match &o.list {
        Some(file) => list::read(file, o.reference.as_deref())?,
        None => list::scan(&o.library, &o.package, o.reference.as_deref())?,
    };
    if !o.only.is_empty() {
        entries.retain(|e| o.only.iter().any(|text| e.model.contains(text.as_str())));
    }
    if entries.is_empty() {
        return Err("there is no model to run".to_string());
    }
    let outcomes = run_all(&entries, o)?;
    print!("{}", table::summary(&outcomes));
    if let Some(file) = &o.out {
        std::fs::write(file, table::markdown(&outcomes, o))
            .map_err(|e| format!("{} cannot be written: {e}", file.display()))?;
    }
    match &o.ratchet {
        Some(file) if o.update => ratchet::update(file, &outcomes),
        Some(file) => ratchet::check(file, &outcomes),
        None => Ok(()),
    }
}

fn run_all(entries: &[Entry], o: &Options) -> Result<Vec<MslOutcome>, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(entries.len()));
    let work = || {
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            let Some(entry) = entries.get(k) else { return };
            let outcome = run_one(&program, entry, o);
            if let Ok(mut done) = done.lock() {
                done.push((k, outcome.clone()));
                eprintln!(
                    "{:>4}/{} {:<11} {} {}",
                    done.len(),
                    entries.len(),
                    outcome.stage.word(),
                    outcome.model,
                    outcome.error.as_deref().unwrap_or("")
                );
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..o.jobs.max(1) {
            scope.spawn(work);
        }
    });
    let mut done = done
        .into_inner()
        .map_err(|_| "a worker failed".to_string())?;
    done.sort_by_key(|d| d.0);
    Ok(done.into_iter().map(|d| d.1).collect())
}

/// A child that sleeps rather than works would never meet its limit of CPU time; so much longer may it live.
const WALL_FACTOR: u64 = 20;

/// Runs a model in a child process.
fn run_one(program: &std::path::Path, entry: &Entry, o: &Options) -> MslOutcome {
    let mut outcome = MslOutcome {
        model: entry.model.clone(),
        compared: entry.reference.is_some(),
        stage: Stage::Nothing,
        seconds: (None, None),
        error: None,
    };
    let limits = format!(
        "ulimit -c 0; ulimit -v {}; ulimit -t {}; exec \"$0\" \"$@\"",
        o.memory * 1024,
        o.time
    );
    let mut command = Command::new("sh");
    command.arg("-c").arg(limits).arg(program).arg("msl-one");
    command.args(entry.arguments(&o.library));
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    let child = match command.spawn() {
        Ok(child) => child,
        Err(e) => {
            outcome.error = Some(format!("no-process: {e}"));
            return outcome;
        }
    };
    let (status, stdout, stderr) = wait(child, Duration::from_secs(o.time * WALL_FACTOR));
    for line in stdout.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if let Some(stage) = Stage::from_word(word) {
            outcome.stage = stage;
            match stage {
                Stage::Compiled => outcome.seconds.0 = rest.parse().ok(),
                Stage::Simulated => outcome.seconds.1 = rest.parse().ok(),
                _ => {}
            }
        } else if word == "error" {
            outcome.error.get_or_insert_with(|| rest.to_string());
        }
    }
    if outcome.error.is_none() && !matches!(&status, Some(s) if s.success()) {
        outcome.error = Some(death(status, &stderr, o));
    }
    outcome
}

/// Reads what the child says until it ends or the time is up.
fn wait(
    mut child: std::process::Child,
    limit: Duration,
) -> (Option<std::process::ExitStatus>, String, String) {
    let read = |mut pipe: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            // What came through before a broken pipe is still of use.
            let _ = pipe.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let stdout = child.stdout.take().map(|p| read(Box::new(p)));
    let stderr = child.stderr.take().map(|p| read(Box::new(p)));
    let begin = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if begin.elapsed() < limit => std::thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = child.kill();
                break child.wait().ok();
            }
        }
    };
    let text = |handle: Option<std::thread::JoinHandle<String>>| {
        handle.and_then(|h| h.join().ok()).unwrap_or_default()
    };
    (status, text(stdout), text(stderr))
}

/// Why a child ended without saying so itself.
fn death(status: Option<std::process::ExitStatus>, stderr: &str, o: &Options) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    const SIGKILL: i32 = 9;
    const SIGXCPU: i32 = 24;
    let panic = stderr
        .lines()
        .skip_while(|l| !l.contains("panicked at"))
        .take(2)
        .collect::<Vec<_>>()
        .join(" ");
    match status.and_then(|s| s.signal()) {
        _ if stderr.contains("memory allocation") => {
            format!("memory-limit: more than {} MB", o.memory)
        }
        _ if stderr.contains("overflowed its stack") => {
            "stack-overflow: the stack overflowed".to_string()
        }
        Some(SIGXCPU | SIGKILL) => format!("time-limit: more than {} s of CPU time", o.time),
        _ if !panic.is_empty() => format!("internal: {panic}"),
        Some(signal) => format!("signal: killed by signal {signal}"),
        None => format!("internal: {}", stderr.lines().next().unwrap_or("no reason")),
    }
}
