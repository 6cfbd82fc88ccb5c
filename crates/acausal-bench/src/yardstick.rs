//! The heat equation, written in Modelica and compiled by acausal, against the same problem written by hand in C.
//!
//! Both run in turns in one process tree, so that both meet the same machine; of several runs the fastest counts. The
//! C program integrates `rtol = 1e-6, atol = 1e-8` to `t = 1` and prints the CPU time of that; of ours the same span
//! is measured, from the first to the last step. The solutions are compared too: a fast wrong answer is no answer.

use std::path::{Path, PathBuf};
use std::process::Command;

use acausal::{Load, Model, Settings, Summary};
use acausal_compiled::Loc;
use acausal_runtime::{Machine, Sink, simulate};

use crate::cpu;
use crate::programs::Programs;

/// Relative tolerance of both sides.
const TOLERANCE: f64 = 1e-6;
/// Makes our absolute tolerance, a tenth of `TOLERANCE` times the nominal value, that of the C program.
const NOMINAL: f64 = 0.1;
/// Largest accepted difference of the two solutions in the middle of the rod.
const AGREEMENT: f64 = 1e-4;

/// What to measure.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    #[command(flatten)]
    programs: Programs,
    /// Number of cells.
    #[arg(long, default_value_t = 10_000)]
    cells: usize,
    /// Runs of each side; the fastest counts.
    #[arg(long, default_value_t = 7)]
    repeats: usize,
    /// Fail when a ratio exceeds this.
    #[arg(long, default_value_t = 1.5)]
    limit: f64,
}

/// One side of a comparison: the fastest of its runs.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// CPU seconds of the integration.
    pub seconds: f64,
    /// Steps.
    pub steps: u64,
    /// Residual evaluations.
    pub residuals: u64,
    /// Jacobian evaluations.
    pub jacobians: u64,
    /// The temperature in the middle at the end.
    pub middle: f64,
}

/// Both sides of one form of the equation.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// The compiled Modelica model.
    pub ours: Side,
    /// The C program.
    pub baseline: Side,
}

impl Comparison {
    /// Our time in units of the baseline's.
    pub fn ratio(&self) -> f64 {
        self.ours.seconds / self.baseline.seconds
    }
}

/// Builds the C programs, runs both forms and prints the ratios.
pub fn run(options: &Options) -> Result<(), String> {
    let program = build(options)?;
    let mut worst: f64 = 0.0;
    for (form, file) in [("direct", "HeatedRod.mo"), ("flux", "HeatedRodFlux.mo")] {
        let c = compare(options, &program, form, file)?;
        println!("heat {form}, {} cells:", options.cells);
        for (name, s) in [("acausal", c.ours), ("C, IDA + KLU", c.baseline)] {
            println!(
                "  {name:<14} {:.4} s  {} steps, {} residual and {} Jacobian evaluations, T = {:.8}",
                s.seconds, s.steps, s.residuals, s.jacobians, s.middle
            );
        }
        println!("  ratio          {:.2}", c.ratio());
        if (c.ours.middle - c.baseline.middle).abs() > AGREEMENT {
            return Err(format!(
                "heat {form}: the solutions differ by more than {AGREEMENT:e}"
            ));
        }
        worst = worst.max(c.ratio());
    }
    match worst <= options.limit {
        true => Ok(()),
        false => Err(format!("the ratio {worst:.2} exceeds {}", options.limit)),
    }
}

fn build(options: &Options) -> Result<PathBuf, String> {
    let program = options.programs.build.join("heat");
    if program.is_file() {
        return Ok(program);
    }
    let script = options.programs.baseline.join("build.sh");
    if !script.is_file() {
        return Err(format!(
            "{} does not exist; name its directory with --baseline",
            script.display()
        ));
    }
    eprintln!(
        "building the C programs in {}",
        options.programs.build.display()
    );
    let status = Command::new("bash")
        .arg(&script)
        .arg(&options.programs.build)
        .stdout(std::process::Stdio::null())
        .status();
    match status {
        Ok(s) if s.success() => Ok(program),
        Ok(s) => Err(format!("{} failed: {s}", script.display())),
        Err(e) => Err(format!("{} cannot be run: {e}", script.display())),
    }
}

fn compare(
    options: &Options,
    program: &Path,
    form: &str,
    file: &str,
) -> Result<Comparison, String> {
    let path = crate::root().join("examples").join(file);
    let n = options.cells;
    let load = Load {
        set: vec![format!("N={n}"), format!("T.nominal=fill({NOMINAL}, {n})")],
        ..Load::default()
    };
    let model = Model::load(&path.to_string_lossy(), &load).map_err(|f| f.to_string())?;
    // The C program prints the unknown in the middle; this is the cell of that unknown, counted from one.
    let middle = if form == "flux" {
        n / 2 + 1
    } else {
        ((n / 2) | 1) + 1
    };
    let mut best: Option<Comparison> = None;
    for _ in 0..options.repeats.max(1) {
        let ours = run_ours(&model, middle)?;
        let baseline = run_c(program, form, n)?;
        let b = best.get_or_insert(Comparison { ours, baseline });
        if ours.seconds < b.ours.seconds {
            b.ours = ours;
        }
        if baseline.seconds < b.baseline.seconds {
            b.baseline = baseline;
        }
    }
    best.ok_or_else(|| "nothing was run".to_string())
}

/// Keeps the last value of one cell and the CPU time at the start of the integration.
struct Watch {
    place: Loc,
    value: f64,
    start: f64,
}

impl Sink for Watch {
    fn begin(&mut self, _: &Machine, _: &[f64], _: &[f64]) -> Result<(), String> {
        self.start = cpu::seconds();
        Ok(())
    }

    fn row(&mut self, _: f64, machine: &Machine, y: &[f64], yp: &[f64]) -> Result<(), String> {
        self.value = machine.value(self.place, y, yp);
        Ok(())
    }
}

fn run_ours(model: &Model, cell: usize) -> Result<Side, String> {
    let compiled = &model.compiled;
    let output = compiled
        .outputs
        .iter()
        .find(|o| compiled.element_name(o.var, acausal_expr::ValueKind::Value, 0) == "T[1]");
    let place = output
        .map(|o| o.place.at(cell - 1))
        .ok_or("the model has no temperatures T")?;
    let settings = Settings {
        start: 0.0,
        stop: 1.0,
        interval: 1.0,
        tolerance: TOLERANCE,
        // As the C programs.
        threads: Some(1),
        ..Settings::default()
    };
    let mut watch = Watch {
        place,
        value: f64::NAN,
        start: 0.0,
    };
    let summary: Summary = simulate(compiled.clone(), &settings, &mut watch)
        .map_err(|e| model.failed(&e).to_string())?;
    Ok(Side {
        seconds: cpu::seconds() - watch.start,
        steps: summary.steps,
        residuals: summary.residual_evaluations,
        jacobians: summary.jacobian_evaluations,
        middle: watch.value,
    })
}

fn run_c(program: &Path, form: &str, cells: usize) -> Result<Side, String> {
    let number = if form == "flux" { "1" } else { "0" };
    let output = Command::new(program)
        .args([&cells.to_string(), number, &TOLERANCE.to_string(), "1", "1"])
        .output()
        .map_err(|e| format!("{} cannot be run: {e}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let field = |name: &str| -> Result<f64, String> {
        let value = text.split_whitespace().find_map(|w| w.strip_prefix(name));
        let value = value.and_then(|v| v.trim_end_matches('s').parse().ok());
        value.ok_or_else(|| format!("{} printed no `{name}`: {text}", program.display()))
    };
    Ok(Side {
        seconds: field("cpu=")?,
        steps: field("steps=")? as u64,
        residuals: field("res=")? as u64,
        jacobians: field("jac=")? as u64,
        middle: field("y[probe]=")?,
    })
}
