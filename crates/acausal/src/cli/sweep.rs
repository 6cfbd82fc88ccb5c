//! `acausal sweep`: one model with many values of parameters, on all cores, into a directory.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use acausal::sweep::design::{Axis, factorial, latin_hypercube};
use acausal::sweep::store::{Header, SweepStore, chunk_size};
use acausal::sweep::{Case, Outcome, Status, Sweep};
use acausal::{Model, Observe, ParameterValue, Settings};
use clap::{Args, ValueEnum};

use super::interrupt::Interruption;
use super::simulate::signal_names;
use super::{Structure, Target, misuse, note, out, out_json, print_diagnostics, report, usage};
use crate::command::{MessageFormat, exit};

/// Which cases there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Design {
    /// All combinations of the values.
    Factorial,
    /// A latin hypercube.
    Lhs,
}

/// Options of `sweep`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    structure: Structure,
    /// Values of a parameter: FROM:TO:COUNT, or {1, 2, 5}; may be repeated
    #[arg(long, value_name = "NAME=VALUES")]
    vary: Vec<String>,
    /// A distribution of a parameter: normal(MEAN,DEVIATION) or uniform(LOW,HIGH); may be repeated
    #[arg(long, value_name = "NAME=DISTRIBUTION")]
    sample: Vec<String>,
    /// Number of cases of a latin hypercube
    #[arg(long, value_name = "COUNT")]
    n: Option<usize>,
    /// Which cases there are: all combinations (factorial) or a latin hypercube (lhs) [default: lhs with --n or --sample]
    #[arg(
        long,
        value_enum,
        value_name = "factorial|lhs",
        hide_possible_values = true
    )]
    design: Option<Design>,
    /// Other numbers give another latin hypercube
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    seed: u64,
    /// The directory for the results
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Cases in one file of the results [default: about 32 MB]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    chunk: Option<u32>,
    /// Start time [default: experiment annotation, or 0]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    start: Option<f64>,
    /// Stop time [default: experiment annotation, or start + 1]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    stop: Option<f64>,
    /// Distance of output instants [default: annotation, or a 500th of the span]
    #[arg(long, value_name = "TIME")]
    interval: Option<f64>,
    /// Relative tolerance [default: annotation, or 1e-6]
    #[arg(long, value_name = "NUMBER")]
    tolerance: Option<f64>,
    /// Signals to store, e.g. T[1],*.v [default: all but parameters]
    #[arg(long, value_name = "SIGNALS")]
    observe: Option<String>,
    /// Cases at a time [default: number of cores]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// For whom the output is
    #[arg(long, value_enum, default_value_t = MessageFormat::Human, hide_possible_values = true, value_name = "human|json")]
    format: MessageFormat,
    /// Errors only
    #[arg(long)]
    quiet: bool,
}

/// Runs the verb.
pub fn run(o: &Options, interruption: &Interruption) -> u8 {
    match sweep(o, interruption) {
        Ok(code) | Err(code) => code,
    }
}

/// `Err` is an exit code as well: that of a failure that has been reported.
fn sweep(o: &Options, interruption: &Interruption) -> Result<u8, u8> {
    o.target.check().map_err(|d| misuse(d, o.format))?;
    let wrong = |m: String| usage("design", m, o.format);
    let (names, axes) = axes(o).map_err(wrong)?;
    let cases = cases(o, &axes).map_err(wrong)?;
    let model = Model::load(&o.target.target, &o.target.load_with(&o.structure))
        .map_err(|f| report(&f, o.format))?;
    if o.format == MessageFormat::Human && !o.quiet {
        print_diagnostics(&model.warnings, &model.sources);
    }
    let observe = observed(o, &model)?;
    let settings = settings(o, &model);
    let sweep = Sweep::new(&model, &settings, &observe, names.clone());
    let sweep = sweep.map_err(|f| report(&f, o.format))?;
    for case in &cases {
        sweep.check(case).map_err(|f| report(&f, o.format))?;
    }
    let chunk = match o.chunk {
        Some(chunk) => chunk as usize,
        None => chunk_size(sweep.grid.case_len()),
    };
    let signals = sweep.grid.signals.iter();
    let header = Header {
        model: &model,
        settings: &settings,
        names: &names,
        cases: &cases,
        chunk,
        signals: signals.map(|s| (s.name.clone(), s.unit.clone())).collect(),
        times: &sweep.grid.times,
    };
    let mut store =
        SweepStore::open(&o.output, &header).map_err(|m| usage("output", m, o.format))?;
    interruption.listen();
    let ended = simulate(o, &sweep, &cases, chunk, &mut store, interruption)?;
    tell(o, &model, cases.len(), &store, ended);
    Ok(match (ended.done < cases.len(), store.failed()) {
        (true, _) => exit::INTERRUPTED,
        (false, 0) => exit::FINE,
        (false, _) => exit::FAILED,
    })
}

/// How far a sweep got.
#[derive(Clone, Copy)]
struct Ended {
    /// Cases that are in the directory.
    done: usize,
    /// Cases that were simulated now.
    now: usize,
    seconds: f64,
}

fn simulate(
    o: &Options,
    sweep: &Sweep<'_>,
    cases: &[Case],
    chunk: usize,
    store: &mut SweepStore,
    interruption: &Interruption,
) -> Result<Ended, u8> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = o.threads.map_or_else(cores, usize::from);
    let clock = Instant::now();
    let mut told = clock;
    let (mut done, mut now) = (0, 0);
    for (k, part) in cases.chunks(chunk).enumerate() {
        if store.has(k) {
            done += part.len();
            continue;
        }
        let first = k * chunk;
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(part.len());
        let which = first..first + part.len();
        let ran = sweep.run(cases, which, threads, &interruption.stop, |outcome| {
            outcomes.push(outcome);
            now += 1;
            if !o.quiet && o.format == MessageFormat::Human && told.elapsed() > BETWEEN_LINES {
                told = Instant::now();
                let rate = now as f64 / clock.elapsed().as_secs_f64();
                let left = (cases.len() - done - outcomes.len()) as f64 / rate;
                let at = done + outcomes.len();
                note(&format!(
                    "note: {at} of {} cases, {rate:.1} per second, {left:.0} s left\n",
                    cases.len()
                ));
            }
            ControlFlow::Continue(())
        });
        ran.map_err(|e| {
            usage(
                "no-thread",
                format!("no thread could be started: {e}"),
                o.format,
            )
        })?;
        if outcomes.len() < part.len() {
            break;
        }
        outcomes.sort_by_key(|outcome| outcome.case);
        store
            .write(k, &outcomes)
            .map_err(|m| usage("output", m, o.format))?;
        for outcome in &outcomes {
            if let (Status::Failed { text, .. }, MessageFormat::Human) = (&outcome.status, o.format)
            {
                let first = text.lines().next().unwrap_or("");
                note(&format!("case {}: {first}\n", outcome.case));
            }
        }
        done += part.len();
    }
    let seconds = clock.elapsed().as_secs_f64();
    Ok(Ended { done, now, seconds })
}

/// A line about the progress comes after this time.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

fn tell(o: &Options, model: &Model, cases: usize, store: &SweepStore, ended: Ended) {
    let failed = store.failed();
    match o.format {
        MessageFormat::Json => out_json(&serde_json::json!({
            "ok": ended.done == cases && failed == 0,
            "model": model.compiled.symbols.name,
            "cases": cases,
            "done": ended.done,
            "simulated": ended.now,
            "failed": failed,
            "seconds": ended.seconds,
            "output": o.output.display().to_string(),
        })),
        MessageFormat::Human if o.quiet => {}
        MessageFormat::Human => {
            let before = match ended.done - ended.now.min(ended.done) {
                0 => String::new(),
                n => format!(" ({n} were there before)"),
            };
            out(&format!(
                "{}: {} of {cases} cases{before}, {failed} failed; {:.1} s\nresult: {}\n",
                model.compiled.symbols.name,
                ended.done,
                ended.seconds,
                o.output.display()
            ));
            if ended.done < cases {
                out("interrupted; the same command goes on with what is missing\n");
            }
        }
    }
}

/// Parameters and what they take, in the order of the options.
fn axes(o: &Options) -> Result<(Vec<String>, Vec<Axis>), String> {
    let mut found: Vec<(String, Axis)> = Vec::new();
    let vary = o.vary.iter().map(|item| (item, values as fn(&str) -> _));
    let sample = o
        .sample
        .iter()
        .map(|item| (item, distribution as fn(&str) -> _));
    for (item, read) in vary.chain(sample) {
        let (name, text) = crate::load::split_setting(item)
            .ok_or_else(|| format!("`{item}` needs the form name=.."))?;
        let axis: Option<Axis> = read(text.trim());
        let axis = axis.ok_or_else(|| {
            format!(
                "`{}` is none of FROM:TO:COUNT, {{1, 2}}, normal(0,1), uniform(0,1)",
                text.trim()
            )
        })?;
        axis.check().map_err(|m| format!("`{item}`: {m}"))?;
        let name = name.trim().to_string();
        if found.iter().any(|f| f.0 == name) {
            return Err(format!("`{name}` is given twice"));
        }
        found.push((name, axis));
    }
    match found.is_empty() {
        true => Err("nothing varies: give --vary or --sample".to_string()),
        false => Ok(found.into_iter().unzip()),
    }
}

/// Most values of one parameter that are written as a range.
const MOST_VALUES: usize = 10_000_000;

/// `1:5:20`, `{1, 2, 5}` or a single value.
fn values(text: &str) -> Option<Axis> {
    let parts: Vec<&str> = text.split(':').collect();
    if let [from, to, count] = parts[..] {
        let number = |t: &str| t.trim().parse().ok().filter(|v: &f64| v.is_finite());
        let count = count
            .trim()
            .parse()
            .ok()
            .filter(|n| (1..=MOST_VALUES).contains(n));
        return Some(Axis::linspace(number(from)?, number(to)?, count?));
    }
    match text.parse().ok()? {
        ParameterValue::Array(values) => Some(Axis::Values(values)),
        one => Some(Axis::Values(vec![one])),
    }
}

/// `normal(1, 0.1)`, `uniform(0, 1)`.
fn distribution(text: &str) -> Option<Axis> {
    let (name, rest) = text.split_once('(')?;
    let (a, b) = rest.strip_suffix(')')?.split_once(',')?;
    let (a, b) = (a.trim().parse().ok()?, b.trim().parse().ok()?);
    match name.trim() {
        "normal" => Some(Axis::Normal {
            mean: a,
            deviation: b,
        }),
        "uniform" => Some(Axis::Uniform { low: a, high: b }),
        _ => None,
    }
}

fn cases(o: &Options, axes: &[Axis]) -> Result<Vec<Case>, String> {
    let sampled = o.n.is_some() || !o.sample.is_empty();
    let usual = if sampled {
        Design::Lhs
    } else {
        Design::Factorial
    };
    match o.design.unwrap_or(usual) {
        Design::Lhs => match o.n {
            Some(n) if n > 0 => Ok(latin_hypercube(axes, n, o.seed)),
            _ => Err("a latin hypercube needs its number of cases, --n".to_string()),
        },
        Design::Factorial if o.n.is_some() => Err(
            "--n is for a latin hypercube; all combinations are as many as they are".to_string(),
        ),
        Design::Factorial => factorial(axes)
            .ok_or_else(|| "distributions have no combinations: use --design lhs".to_string()),
    }
}

fn settings(o: &Options, model: &Model) -> Settings {
    let mut experiment = model.compiled.symbols.experiment;
    if o.start.is_some() || o.stop.is_some() {
        experiment.start = o.start.or(experiment.start);
        experiment.stop = o.stop.or(experiment.stop);
    }
    let mut s = model.complete(&acausal::experiment_settings(&experiment));
    s.interval = o.interval.unwrap_or(s.interval);
    s.tolerance = o.tolerance.unwrap_or(s.tolerance);
    s
}

fn observed(o: &Options, model: &Model) -> Result<Observe, u8> {
    let Some(list) = &o.observe else {
        return Ok(Observe::everything());
    };
    let observe = Observe::patterns(signal_names(list));
    match observe.unmatched(&model.compiled) {
        None => Ok(observe),
        Some(pattern) => {
            let message = format!(
                "there is no signal `{pattern}` to store{}",
                model.suggest_signal(pattern)
            );
            Err(usage("unknown-signal", message, o.format))
        }
    }
}
