//! Checks of one input from outside each: a text to be flattened, settings, a result file, a checkpoint. For the targets of `fuzz/` and, on a few inputs
//! with a fixed seed, `tests/all/mutation.rs`.
//!
//! An input ends in messages or in values that are numbers; what is wrong is returned, and the caller catches panics.

use std::hash::Hasher;
use std::path::Path;

use acausal::{Checkpoint, Limits, Load, Model, Observe, ResultSink, Settings};
use acausal_base::{Fnv, SourceMap};
use acausal_flatten::{flatten, print_flat};
use acausal_instance::class::Libraries;
use acausal_results::compare::{CompareOptions, compare};
use acausal_results::plot::Plot;
use acausal_results::{MemoryWriter, ResultError};

use super::whole::{finite, settings};

/// Flattens every class of the text and renders the messages; gives how many were flattened. A flat model that is printed is read without errors.
pub fn flat(text: &str, limits: Limits) -> Result<usize, String> {
    let mut libraries = Libraries::new();
    libraries.limits = limits;
    let mut messages = Vec::new();
    let mut flattened = 0;
    match libraries.load_text("fuzz.mo", text) {
        Err(found) => messages = found,
        Ok(classes) => {
            for class in classes {
                match flatten(&mut libraries, &class, &[]) {
                    Ok((model, _)) => {
                        match print_flat(&model) {
                            // The bodies of functions that are called at run time are not in the text.
                            Ok(printed) if model.functions.is_empty() => reads(&printed)?,
                            Ok(_) => {}
                            Err(found) => messages.push(found),
                        }
                        flattened += 1;
                    }
                    Err(found) => messages.extend(found),
                }
            }
        }
    }
    for message in messages {
        message.render(libraries.sources(), false);
    }
    Ok(flattened)
}

fn reads(printed: &str) -> Result<(), String> {
    let mut sources = SourceMap::new();
    let file = sources.add_file("flat.mo", printed);
    let parsed = acausal_syntax::parse_file(&sources, file);
    if parsed.has_errors() {
        return Err(format!(
            "a flat model is printed wrongly: {:?}\n{printed}",
            parsed.diagnostics
        ));
    }
    Ok(())
}

/// Every kind of parameter.
const SETTABLE: &str = "model Set
  type E = enumeration(one, two);
  record R Real a = 1; Integer n = 2; end R;
  model Part parameter Real g = 1; Real y(start = 0, fixed = true); equation der(y) = g - y; end Part;
  parameter Real p = 1, q[3] = {1, 2, 3}, m[2, 2] = [1, 2; 3, 4];
  parameter Integer n = 2;
  parameter Boolean b = true;
  parameter String s = \"text\";
  parameter E e = E.one;
  parameter R r;
  final parameter Real f = 2*p;
  Part part[2];
  Real x(start = p, fixed = true);
equation
  der(x) = if b then -p*x*f else q[n] + m[1, n]*r.a;
end Set;";

/// What `--set` is given, one per line, and a short simulation with it; gives whether it came to its end.
pub fn set(lines: &str, limits: Limits) -> Result<bool, String> {
    let load = Load {
        set: lines.lines().map(str::to_string).collect(),
        limits,
        ..Load::default()
    };
    let model = match Model::from_text("Set.mo", SETTABLE, &load) {
        Ok(model) => model,
        Err(failure) => {
            drop(failure.to_string());
            return Ok(false);
        }
    };
    let mut sink = sink();
    let done = acausal_runtime::simulate(model.compiled.clone(), &settings(), &mut sink);
    if let Err(error) = &done {
        drop(model.failed(error).to_string());
    }
    finite(sink).map(|()| done.is_ok())
}

/// The endings of the result files, by the first byte of an input.
pub const ENDINGS: [&str; 4] = ["csv", "csv.gz", "mat", "parquet"];

/// Reads a result file and does with it what the command does: values of all signals, a copy, a plot, a comparison with itself; gives
/// whether it could be read.
pub fn result(file: &Path) -> Result<bool, String> {
    let result = match acausal_results::read(file) {
        Ok(result) => result,
        Err(error) => {
            drop(error.to_string());
            return Ok(false);
        }
    };
    let told = |error: ResultError| format!("what was read cannot be used: {error}");
    for signal in result.signals() {
        if result.values_of(signal).len() != result.time().len() {
            return Err(format!("{} is not as long as time", signal.name));
        }
    }
    result.write_to(&mut MemoryWriter::new()).map_err(told)?;
    let names: Vec<&str> = result.signals().iter().map(|s| s.name.as_str()).collect();
    let plot = Plot::of_signals(&result, &names[..names.len().min(4)]).map_err(told)?;
    drop(plot.to_svg());
    // A reference that is no reference is refused.
    if let Ok(verdicts) = compare(&result, &result, None, &CompareOptions::default()) {
        for verdict in verdicts {
            drop(verdict.to_string());
        }
    }
    Ok(true)
}

/// Everything that a checkpoint has a section for: states, an algebraic loop, discrete variables, a clock, a delay, transport, a relation that changes,
/// a parameter that is computed at the start.
const BUSY: &str = "model Busy
  Real x(start = 1, fixed = true), v(start = 0, fixed = true), z(start = 0.5), d, left, right;
  Integer n(start = 0, fixed = true);
  discrete Real held(start = 0, fixed = true);
  parameter Real k = 9;
  parameter Real free(fixed = false);
initial equation
  free = 2*x;
equation
  der(x) = v;
  der(v) = -k*x - 0.2*v + (if x > 0.3 then 1 else 0) + 0.1*d;
  z + 0.3*sin(z) = x;
  d = delay(z, 0.05);
  (left, right) = spatialDistribution(sin(20*time), z, free*x, v >= 0, {0, 0.5, 1}, {1, 2, 0});
  when sample(0.05, 0.3) then n = pre(n) + 1; held = x; end when;
  when x < 0.5 then reinit(v, v + 0.1); end when;
end Busy;";

/// A model with a checkpoint, whose changes are read and continued from.
pub struct Continued {
    model: Model,
    later: Settings,
    /// The lines up to the fingerprint of the model, without which nothing is continued.
    head: String,
    /// The lines after it, without the checksum.
    rest: String,
}

impl Continued {
    /// Simulates up to the checkpoint.
    pub fn new(limits: Limits) -> Result<Continued, String> {
        let load = Load {
            limits,
            ..Load::default()
        };
        let model = Model::from_text("Busy.mo", BUSY, &load).map_err(|f| f.to_string())?;
        // A short file, as mutations do little to a long one.
        let settings = Settings {
            stop: 0.12,
            interval: 0.04,
            tolerance: 1e-3,
            ..settings()
        };
        let run = model
            .simulate_in_memory(&settings)
            .map_err(|f| f.to_string())?;
        let checkpoint = run.summary.checkpoint.ok_or("no checkpoint")?;
        let text = checkpoint.to_text();
        let end = text.rfind("checksum").ok_or("no checksum")?;
        let head: String = text.split_inclusive('\n').take(3).collect();
        Ok(Continued {
            rest: text[head.len()..end].to_string(),
            model,
            later: Settings {
                stop: 0.4,
                ..settings
            },
            head,
        })
    }

    /// An input that is the checkpoint itself: whole (`0`) or from the line after the fingerprint on (`1`).
    pub fn seed(&self, kind: char) -> String {
        let head = if kind == '0' { &self.head } else { "" };
        format!("{kind}{head}{}", self.rest)
    }

    /// Reads what follows the first byte as a checkpoint with the right checksum, and continues from it; gives whether it could.
    pub fn check(&self, input: &str) -> Result<bool, String> {
        let mut text = match input.strip_prefix('1') {
            Some(lines) => format!("{}{lines}", self.head),
            None => input.strip_prefix('0').unwrap_or(input).to_string(),
        };
        let mut sum = Fnv::default();
        sum.write(text.as_bytes());
        text.push_str(&format!("checksum {:016x}\n", sum.finish()));
        let Ok(checkpoint) = Checkpoint::from_text(&text) else {
            return Ok(false);
        };
        let mut sink = sink();
        let compiled = self.model.compiled.clone();
        let done = acausal_runtime::resume(compiled, &checkpoint, &self.later, &mut sink);
        if let Err(error) = &done {
            drop(self.model.failed(error).to_string());
        }
        finite(sink).map(|()| done.is_ok())
    }
}

fn sink() -> ResultSink<'static> {
    ResultSink::new(None, Observe::nothing(), Observe::everything())
}
