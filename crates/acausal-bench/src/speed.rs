//! Integration time of compiled models against the same problems written by hand in C on SUNDIALS IDA with KLU.
//!
//! In: the C programs of the baseline (heat, transmission line) and of `benches/yardstick` (plate, diode bridges, chain of
//! bodies), and the models in `examples` and `benches/models`. Out: a table of CPU times, steps and ratios.
//!
//! Both sides run in turns, the fastest of several runs counts, and their solutions must agree. What is measured is the
//! integration, from the first to the last step: on either side with the symbolic analysis and all factorisations, without
//! the compilation and without the initial values. Tolerances are equal: our absolute tolerance is a tenth of the
//! relative one times the nominal value, so the nominal values are set to match the C programs.

use std::path::Path;
use std::process::Command;

use acausal::{Load, Model, Settings};
use acausal_compiled::Loc;
use acausal_runtime::{Machine, Sink, simulate};

use crate::programs::Programs;
use crate::{cpu, root};

/// Relative tolerance of both sides.
const TOLERANCE: f64 = 1e-6;

/// A run of the C program that takes longer, in seconds, is not repeated.
const LONG: f64 = 20.0;

/// What to measure.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Parts of the names of cases; all without any.
    only: Vec<String>,
    #[command(flatten)]
    programs: Programs,
    /// Runs of each side; the fastest counts.
    #[arg(long, default_value_t = 5)]
    repeats: usize,
    /// Fail when a ratio exceeds this.
    #[arg(long, default_value_t = 1.0)]
    limit: f64,
}

/// One comparison.
#[derive(Clone, Debug)]
struct Case {
    name: &'static str,
    /// The model's file below the root, and the class in it.
    file: &'static str,
    class: Option<&'static str>,
    /// Modifications, with `{N}` for the size.
    set: &'static [&'static str],
    size: usize,
    stop: f64,
    /// The C program and its arguments, with `{N}` for the size and `{E}` for the stop time.
    program: &'static str,
    arguments: &'static str,
    /// The variable that the C program prints, by size.
    watch: fn(usize) -> String,
    /// Largest accepted difference of the two.
    agreement: f64,
}

const HEAT_DIRECT: Case = Case {
    name: "heat, direct",
    file: "examples/HeatedRod.mo",
    class: None,
    set: &["N={N}", "T.nominal=fill(0.1, {N})"],
    size: 10_000,
    stop: 1.0,
    program: "heat",
    arguments: "{N} 0 1e-6 {E} 1",
    watch: |n| format!("T[{}]", ((n / 2) | 1) + 1),
    agreement: 1e-4,
};

const HEAT_FLUX: Case = Case {
    name: "heat, fluxes",
    file: "examples/HeatedRodFlux.mo",
    arguments: "{N} 1 1e-6 {E} 1",
    watch: |n| format!("T[{}]", n / 2 + 1),
    ..HEAT_DIRECT
};

const LINE: Case = Case {
    name: "transmission line",
    file: "benches/models/TransmissionLine.mo",
    set: &["N={N}"],
    size: 1000,
    stop: 4e-6,
    program: "tline",
    arguments: "{N} 1e-6 {E} 1",
    watch: |n| format!("v[{n}]"),
    agreement: 2e-3,
    ..HEAT_DIRECT
};

const PLATE: Case = Case {
    name: "plate",
    file: "benches/models/Heat2D.mo",
    set: &["N={N}", "T.nominal=fill(0.1, {N}, {N})"],
    size: 200,
    stop: 0.1,
    program: "plate",
    arguments: "{N} 1e-6 {E} 1",
    watch: |n| format!("T[{},{}]", n / 2 + 1, n / 2 + 1),
    agreement: 1e-6,
    ..HEAT_DIRECT
};

const BRIDGES: Case = Case {
    name: "diode bridges",
    file: "benches/models/DiodeBridges.mo",
    class: Some("DiodeBridges.Network"),
    set: &["N={N}"],
    size: 1000,
    stop: 0.04,
    program: "bridges",
    watch: |n| format!("cell[{}].c.v", n / 2 + 1),
    agreement: 1e-4,
    ..PLATE
};

const CHAIN: Case = Case {
    name: "chain of bodies",
    file: "benches/models/BodyChain.mo",
    class: None,
    size: 50,
    stop: 1.0,
    program: "chain",
    watch: |n| format!("r[{n},3]"),
    agreement: 1e-3,
    ..BRIDGES
};

fn cases() -> Vec<Case> {
    vec![
        HEAT_DIRECT,
        Case {
            size: 100_000,
            ..HEAT_DIRECT
        },
        HEAT_FLUX,
        Case {
            size: 100_000,
            ..HEAT_FLUX
        },
        LINE,
        // The C program needs steps in proportion to the number of cells; for the whole time they would take minutes.
        Case {
            size: 10_000,
            stop: 4e-7,
            ..LINE
        },
        PLATE,
        BRIDGES,
        CHAIN,
    ]
}

/// The fastest of the runs of one side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpeedSide {
    pub seconds: f64,
    unknowns: usize,
    pub steps: u64,
    residuals: u64,
    jacobians: u64,
    value: f64,
}

/// Builds the C programs, runs the cases, prints the table and fails where the limit is exceeded.
pub fn run(options: &Options) -> Result<(), String> {
    build(&options.programs)?;
    println!(
        "| case | N | unknowns | steps | residuals | Jacobians | CPU s | C: unknowns | steps | residuals | Jacobians | CPU s | ratio | difference |"
    );
    println!("|---|{}", "---:|".repeat(13));
    let mut failures = Vec::new();
    for case in cases() {
        let wanted = |part: &String| case.name.contains(part.as_str());
        if !options.only.is_empty() && !options.only.iter().any(wanted) {
            continue;
        }
        let (ours, theirs) = compare(&case, options)?;
        let ratio = ours.seconds / theirs.seconds;
        let difference = (ours.value - theirs.value).abs();
        println!(
            "| {} | {} | {} | {} | {} | {} | {:.4} | {} | {} | {} | {} | {:.4} | {ratio:.2} | {difference:.0e} |",
            case.name,
            case.size,
            ours.unknowns,
            ours.steps,
            ours.residuals,
            ours.jacobians,
            ours.seconds,
            theirs.unknowns,
            theirs.steps,
            theirs.residuals,
            theirs.jacobians,
            theirs.seconds,
        );
        if difference.is_nan() || difference > case.agreement {
            failures.push(format!(
                "{}: the solutions differ by {difference:e}",
                case.name
            ));
        }
        if ratio > options.limit {
            failures.push(format!(
                "{} {}: ratio {ratio:.2} exceeds {}",
                case.name, case.size, options.limit
            ));
        }
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("\n"))
    }
}

pub(crate) fn build(programs: &Programs) -> Result<(), String> {
    let Programs { baseline, build } = programs;
    let script = root().join("benches/yardstick/build.sh");
    if build.join("chain").is_file() && build.join("heat").is_file() {
        return Ok(());
    }
    if !baseline.join("build.sh").is_file() {
        return Err(format!(
            "{} holds no build.sh; name the directory of the baseline with --baseline",
            baseline.display()
        ));
    }
    eprintln!("building the C programs in {}", build.display());
    let status = Command::new("bash")
        .arg(&script)
        .arg(baseline)
        .arg(build)
        .stdout(std::process::Stdio::null())
        .status()
        .map_err(|e| format!("{} cannot be run: {e}", script.display()))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} failed: {status}", script.display()))
    }
}

fn compare(case: &Case, options: &Options) -> Result<(SpeedSide, SpeedSide), String> {
    let fill = |text: &str| text.replace("{N}", &case.size.to_string());
    let load = Load {
        class: case.class.map(str::to_string),
        set: case.set.iter().map(|s| fill(s)).collect(),
        ..Load::default()
    };
    let file = root().join(case.file);
    let model = Model::load(&file.to_string_lossy(), &load).map_err(|f| f.to_string())?;
    let program = options.programs.build.join(case.program);
    let arguments = fill(case.arguments).replace("{E}", &case.stop.to_string());
    let mut best: Option<(SpeedSide, SpeedSide)> = None;
    for _ in 0..options.repeats.max(1) {
        let ours = run_ours(&model, case)?;
        let theirs = run_c(&program, &arguments)?;
        let (a, b) = best.get_or_insert((ours, theirs));
        if ours.seconds < a.seconds {
            *a = ours;
        }
        if theirs.seconds < b.seconds {
            *b = theirs;
        }
        if theirs.seconds > LONG {
            break;
        }
    }
    best.ok_or_else(|| "nothing was run".to_string())
}

/// Keeps the last value of one variable and the CPU time at the start of the integration.
struct Watch {
    name: String,
    place: Option<Loc>,
    value: f64,
    start: f64,
}

impl Sink for Watch {
    fn begin(&mut self, machine: &Machine, _: &[f64], _: &[f64]) -> Result<(), String> {
        let model = machine.model();
        // Only the variable's own elements are named: a model may have millions of others.
        let stem = self.name.split('[').next().unwrap_or_default();
        for output in &model.outputs {
            let first = model.element_name(output.var, acausal_expr::ValueKind::Value, 0);
            if !first.starts_with(stem) || self.place.is_some() {
                continue;
            }
            self.place = (0..model.symbols.var(output.var).len())
                .find(|&k| {
                    model.element_name(output.var, acausal_expr::ValueKind::Value, k) == self.name
                })
                .map(|k| output.place.at(k));
        }
        if self.place.is_none() {
            return Err(format!("the model has no variable {}", self.name));
        }
        self.start = cpu::seconds();
        Ok(())
    }

    fn row(&mut self, _: f64, machine: &Machine, y: &[f64], yp: &[f64]) -> Result<(), String> {
        if let Some(place) = self.place {
            self.value = machine.value(place, y, yp);
        }
        Ok(())
    }
}

fn run_ours(model: &Model, case: &Case) -> Result<SpeedSide, String> {
    let settings = Settings {
        start: 0.0,
        stop: case.stop,
        interval: case.stop,
        tolerance: TOLERANCE,
        // As the C programs.
        threads: Some(1),
        ..Settings::default()
    };
    let mut watch = Watch {
        name: (case.watch)(case.size),
        place: None,
        value: f64::NAN,
        start: 0.0,
    };
    let summary = simulate(model.compiled.clone(), &settings, &mut watch)
        .map_err(|e| format!("{}: {}", case.name, model.failed(&e)))?;
    Ok(SpeedSide {
        seconds: cpu::seconds() - watch.start,
        unknowns: summary.unknowns,
        steps: summary.steps,
        residuals: summary.residual_evaluations,
        jacobians: summary.jacobian_evaluations,
        value: watch.value,
    })
}

pub(crate) fn run_c(program: &Path, arguments: &str) -> Result<SpeedSide, String> {
    let output = Command::new(program)
        .args(arguments.split_whitespace())
        .output()
        .map_err(|e| format!("{} cannot be run: {e}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} failed: {message}", program.display()));
    }
    let field = |name: &str| -> Result<f64, String> {
        let value = text.split_whitespace().find_map(|w| w.strip_prefix(name));
        let value = value.and_then(|v| v.trim_end_matches('s').parse().ok());
        value.ok_or_else(|| format!("{} printed no `{name}`: {text}", program.display()))
    };
    Ok(SpeedSide {
        seconds: field("cpu=")?,
        unknowns: field("neq=")? as usize,
        steps: field("steps=")? as u64,
        residuals: field("res=")? as u64,
        jacobians: field("jac=")? as u64,
        value: field("y[probe]=")?,
    })
}
