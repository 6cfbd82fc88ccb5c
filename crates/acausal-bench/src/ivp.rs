//! Work and precision on the public test set for initial value problems.
//!
//! In: `examples/ivp/NAME.mo`, the problem in Modelica, and `examples/ivp/reference/NAME.csv`, values at its end point.
//! Out: a table of digits reached, steps and CPU time for each tolerance, and a verdict.
//!
//! The problems are those of Mazzia & Magherini, *Test Set for Initial Value Problem Solvers* (Bari, release 2.4). Those
//! of higher index are written with their position constraints; the compiler reduces them. Digits are counted as the test
//! set does (mixed error significant digits): `-log10 max |y - ref| / (|ref| + atol/rtol)`, where `atol/rtol` is a tenth
//! of the nominal value of the variable. A global error is not the local error that the tolerance bounds, so each problem
//! states how many digits it may lose; what is lost beyond that fails the run.
//!
//! Example: at tolerance 1e-6 a problem that may lose 1.5 digits must reach 4.5, unless its reference has fewer.

use std::collections::BTreeMap;
use std::path::Path;

use acausal::{Load, Model, Settings, Solver, Summary};
use acausal_compiled::Loc;
use acausal_runtime::{Machine, Sink, simulate};

use crate::cpu;

/// A problem of the test set.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// File without its ending.
    pub name: &'static str,
    /// The class to simulate, where it is not the only one of the file.
    pub class: Option<&'static str>,
    /// Differentiation index as written.
    pub index: u32,
    /// Digits that may be lost against the tolerance.
    pub lost: f64,
    /// Digits that the reference has.
    pub known: f64,
}

const fn problem(name: &'static str, index: u32, lost: f64, known: f64) -> Problem {
    Problem {
        name,
        class: None,
        index,
        lost,
        known,
    }
}

/// All problems, ordinary differential equations first.
///
/// `lost` is measured and rounded up to the next half digit; `known` is what our tightest runs and the published values
/// agree in, or what the test set says of its own reference.
pub const PROBLEMS: &[Problem] = &[
    problem("VanDerPol", 0, 1.5, 12.0),
    problem("Robertson", 0, 1.0, 12.0),
    problem("Oregonator", 0, 2.0, 12.0),
    problem("E5", 0, 1.5, 11.0),
    problem("Hires", 0, 2.0, 12.0),
    problem("Pollution", 0, 0.5, 12.0),
    problem("MedicalAkzoNobel", 0, 2.0, 10.0),
    problem("Emep", 0, 1.5, 11.0),
    problem("RingModulator", 0, 4.5, 12.0),
    problem("Beam", 0, 4.0, 12.0),
    problem("ChemicalAkzoNobel", 1, 1.0, 12.0),
    problem("TransistorAmplifier", 1, 1.5, 12.0),
    Problem {
        class: Some("NandGate.Gate"),
        ..problem("NandGate", 1, 2.0, 12.0)
    },
    Problem {
        class: Some("TwoBitAdder.Adder"),
        ..problem("TwoBitAdder", 1, 1.0, 6.0)
    },
    problem("ChargePump", 2, 4.5, 12.0),
    problem("WaterTubes", 2, 4.0, 12.0),
    problem("Fekete", 3, 0.5, 11.0),
    problem("CarAxis", 3, 3.5, 12.0),
    problem("Andrews", 3, 3.5, 12.0),
    problem("SliderCrank", 3, 2.5, 12.0),
    Problem {
        class: Some("Wheelset.Track"),
        ..problem("Wheelset", 3, 4.0, 5.5)
    },
];

/// IDA is judged by what is known of our integrator, so it may lose a little more.
const IDA_GRACE: f64 = 1.0;

/// What to run.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Names of problems; all without any.
    only: Vec<String>,
    /// Relative tolerances.
    #[arg(long, value_delimiter = ',', default_values_t = [1e-4, 1e-6, 1e-8, 1e-10])]
    tolerances: Vec<f64>,
    /// Run SUNDIALS IDA on the same compiled functions as well.
    #[arg(long)]
    ida: bool,
    /// Steps after which a run is given up.
    #[arg(long, default_value_t = 2_000_000)]
    max_steps: u64,
    /// Print every compared value.
    #[arg(long)]
    verbose: bool,
}

/// One run.
#[derive(Clone, Copy, Debug)]
pub struct IvpRun {
    /// Digits reached.
    pub digits: f64,
    /// Steps.
    pub steps: u64,
    /// Residual evaluations.
    pub residuals: u64,
    /// Jacobian evaluations.
    pub jacobians: u64,
    /// CPU seconds from the first to the last step.
    pub seconds: f64,
}

/// Runs the problems, prints the table, and reports what missed its digits.
pub fn run(options: &Options) -> Result<(), String> {
    if options.ida && !cfg!(feature = "sundials") {
        return Err("IDA is not built in; use `--features sundials`".into());
    }
    let unknown: Vec<&String> = options
        .only
        .iter()
        .filter(|n| !PROBLEMS.iter().any(|p| p.name == *n))
        .collect();
    if !unknown.is_empty() {
        return Err(format!("no such problem: {unknown:?}"));
    }
    let mut missed = Vec::new();
    print_head(options.ida);
    for p in PROBLEMS {
        if !options.only.is_empty() && !options.only.iter().any(|n| n == p.name) {
            continue;
        }
        let (model, reference) = match prepare(p) {
            Ok(both) => both,
            Err(e) => {
                println!("| {} | cannot be loaded: {e} |", p.name);
                missed.push(format!("{}: {e}", p.name));
                continue;
            }
        };
        for &tolerance in &options.tolerances {
            let ours = solve(&model, &reference, options, tolerance, Solver::Bdf);
            let ida = options
                .ida
                .then(|| solve(&model, &reference, options, tolerance, Solver::Ida));
            print_row(p, model.compiled.n, tolerance, &ours, ida.as_ref());
            for (who, run, grace) in [
                ("", Some(&ours), 0.0),
                (" with IDA", ida.as_ref(), IDA_GRACE),
            ] {
                let needed = (-tolerance.log10() - p.lost).min(p.known) - grace;
                match run {
                    Some(Err(e)) => missed.push(format!("{}{who} at {tolerance:e}: {e}", p.name)),
                    Some(Ok(r)) if r.digits.is_nan() || r.digits < needed => missed.push(format!(
                        "{}{who} at {tolerance:e}: {:.1} digits, {needed:.1} needed",
                        p.name, r.digits
                    )),
                    _ => {}
                }
            }
        }
    }
    if missed.is_empty() {
        println!("\nall problems reach their digits");
        return Ok(());
    }
    Err(format!(
        "{} runs miss their digits:\n  {}",
        missed.len(),
        missed.join("\n  ")
    ))
}

fn prepare(p: &Problem) -> Result<(Model, Vec<(String, f64)>), String> {
    let problems = crate::root().join("examples/ivp");
    let file = problems.join(p.name).with_extension("mo");
    let reference = problems
        .join("reference")
        .join(p.name)
        .with_extension("csv");
    let load = Load {
        class: p.class.map(str::to_string),
        ..Load::default()
    };
    let model = Model::load(&file.to_string_lossy(), &load).map_err(|f| f.to_string())?;
    Ok((model, read_reference(&reference)?))
}

/// Lines `name,value` after a heading; `#` starts a comment. A name may contain commas: `p[1,2]`.
pub fn read_reference(file: &Path) -> Result<Vec<(String, f64)>, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let lines = text
        .lines()
        .filter(|l| !l.starts_with('#') && !l.trim().is_empty());
    lines
        .skip(1)
        .map(|line| {
            let pair = line.rsplit_once(',');
            let number = pair.and_then(|(n, v)| Some((n.to_string(), v.trim().parse().ok()?)));
            number.ok_or_else(|| format!("{}: not `name,value`: {line}", file.display()))
        })
        .collect()
}

/// Takes the values of the reference's variables at the last row.
struct Last<'r> {
    reference: &'r [(String, f64)],
    places: Vec<Loc>,
    /// Absolute tolerance in units of the relative one.
    scales: Vec<f64>,
    values: Vec<f64>,
    start: f64,
}

/// Our absolute tolerance is this fraction of the relative one times the nominal value.
const ABSOLUTE_FRACTION: f64 = 0.1;

impl Sink for Last<'_> {
    fn begin(&mut self, machine: &Machine, y: &[f64], yp: &[f64]) -> Result<(), String> {
        let model = machine.model();
        let mut all = BTreeMap::new();
        for output in &model.outputs {
            for k in 0..model.symbols.var(output.var).len() {
                let name = model.element_name(output.var, acausal_expr::ValueKind::Value, k);
                let nominal = model.nominal_of.get(&output.var).map(|b| {
                    let place = Loc::new(acausal_jit::kernel::Bank::Mem, b + k);
                    machine.value(place, y, yp)
                });
                all.insert(name, (output.place.at(k), nominal.unwrap_or(1.0)));
            }
        }
        for (name, _) in self.reference {
            let (place, nominal) = all
                .get(name)
                .ok_or_else(|| format!("the model has no variable {name}"))?;
            self.places.push(*place);
            self.scales.push(ABSOLUTE_FRACTION * nominal.abs());
        }
        self.values = vec![f64::NAN; self.places.len()];
        self.start = cpu::seconds();
        Ok(())
    }

    fn row(&mut self, _: f64, machine: &Machine, y: &[f64], yp: &[f64]) -> Result<(), String> {
        for (v, place) in self.values.iter_mut().zip(&self.places) {
            *v = machine.value(*place, y, yp);
        }
        Ok(())
    }
}

fn solve(
    model: &Model,
    reference: &[(String, f64)],
    options: &Options,
    tolerance: f64,
    solver: Solver,
) -> Result<IvpRun, String> {
    let settings = model.settings();
    let settings = Settings {
        interval: settings.stop - settings.start,
        tolerance,
        solver,
        max_steps: options.max_steps,
        ..settings
    };
    let mut last = Last {
        reference,
        places: Vec::new(),
        scales: Vec::new(),
        values: Vec::new(),
        start: 0.0,
    };
    let summary: Summary = simulate(model.compiled.clone(), &settings, &mut last)
        .map_err(|e| first_line(&model.failed(&e).to_string()))?;
    let seconds = cpu::seconds() - last.start;
    let mut error: f64 = 0.0;
    for ((v, (name, r)), s) in last.values.iter().zip(reference).zip(&last.scales) {
        let e = (v - r).abs() / (r.abs() + s);
        if options.verbose {
            println!("  {name}: {v:e}, reference {r:e}, {:.2} digits", -e.log10());
        }
        error = if e.is_nan() { f64::NAN } else { error.max(e) };
    }
    Ok(IvpRun {
        digits: -error.max(f64::EPSILON).log10(),
        steps: summary.steps,
        residuals: summary.residual_evaluations,
        jacobians: summary.jacobian_evaluations,
        seconds,
    })
}

fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_string()
}

fn print_head(ida: bool) {
    let (titles, rule) = if ida {
        (
            " IDA digits | steps | residuals | CPU s |",
            "---:|---:|---:|---:|",
        )
    } else {
        ("", "")
    };
    println!(
        "| problem | index | unknowns | tolerance | digits | steps | residuals | Jacobians | CPU s |{titles}"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|{rule}");
}

fn print_row(
    p: &Problem,
    unknowns: usize,
    tolerance: f64,
    ours: &Result<IvpRun, String>,
    ida: Option<&Result<IvpRun, String>>,
) {
    print!("| {} | {} | {unknowns} | {tolerance:e} |", p.name, p.index);
    match ours {
        Ok(r) => print!(
            " {:.1} | {} | {} | {} | {:.4} |",
            r.digits, r.steps, r.residuals, r.jacobians, r.seconds
        ),
        Err(e) => print!(" {e} | | | | |"),
    }
    match ida {
        Some(Ok(r)) => print!(
            " {:.1} | {} | {} | {:.4} |",
            r.digits, r.steps, r.residuals, r.seconds
        ),
        Some(Err(e)) => print!(" {e} | | | |"),
        None => {}
    }
    println!();
}
