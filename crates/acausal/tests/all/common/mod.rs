//! What the tests of whole simulations share: running examples, and an integrator of its own as oracle.
#![allow(clippy::unwrap_used, clippy::panic)]

pub mod command;
pub mod every;
pub mod fuzzed;
pub mod tables;
pub mod whole;

use std::path::PathBuf;

use acausal::{InMemory, Load, Model, Settings};

/// The file of an example, e.g. `Pendulum.mo` or `seeds/M_4_2_Slip.mo`.
pub fn example_path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(file)
}

/// Loads an example with `--set` options.
pub fn load(file: &str, set: &[&str]) -> Model {
    let load = Load {
        set: set.iter().map(|s| s.to_string()).collect(),
        ..Load::default()
    };
    let path = example_path(file);
    Model::load(path.to_str().unwrap(), &load).unwrap_or_else(|f| panic!("{file}: {f}"))
}

/// Simulates an example as its annotation says.
pub fn run(file: &str) -> InMemory {
    run_with(file, &[], |_| {})
}

/// Simulates an example with `--set` options and changed settings.
pub fn run_with(file: &str, set: &[&str], change: impl Fn(&mut Settings)) -> InMemory {
    let model = load(file, set);
    let mut settings = model.settings();
    change(&mut settings);
    let done = model.simulate_in_memory(&settings);
    done.unwrap_or_else(|f| panic!("{file}: {f}"))
}

/// Simulates a model from its text.
pub fn run_text(text: &str, settings: &Settings) -> InMemory {
    let model =
        Model::from_text("Test.mo", text, &Load::default()).unwrap_or_else(|f| panic!("{f}"));
    let done = model.simulate_in_memory(settings);
    done.unwrap_or_else(|f| panic!("{f}"))
}

/// The last value of a signal.
pub fn last(run: &InMemory, name: &str) -> f64 {
    *values(run, name).last().unwrap()
}

/// All values of a signal.
pub fn values(run: &InMemory, name: &str) -> Vec<f64> {
    run.result
        .values(name)
        .unwrap_or_else(|| panic!("no signal {name}"))
        .into_owned()
}

/// The value at a time that is an output instant.
pub fn at(run: &InMemory, name: &str, t: f64) -> f64 {
    run.result
        .value_at(name, t)
        .unwrap_or_else(|| panic!("no signal {name}"))
}

/// Asserts that two numbers agree within an absolute tolerance.
#[track_caller]
pub fn near(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "found {found}, expected {expected} within {tolerance:e}: off by {:e}",
        found - expected
    );
}

/// What structural analysis says about a flat model, and the model ready to run.
pub fn compiled(
    what: &str,
    flat: acausal_expr::flat::FlatModel,
    sources: acausal_base::SourceMap,
    options: &acausal_index1::Options,
) -> (acausal_index1::Report, acausal::Model) {
    let (dae, report) = match acausal_index1::transform_with(flat, options) {
        Ok(done) => done,
        Err(diagnostics) => panic!(
            "{what}: {}",
            acausal::Failure {
                diagnostics,
                sources
            }
        ),
    };
    let compiled = acausal_codegen::compile(dae).unwrap_or_else(|e| panic!("{e:?}"));
    let model = acausal::Model {
        compiled: std::sync::Arc::new(compiled),
        sources,
        warnings: Vec::new(),
        phases: acausal::PhaseSeconds::default(),
        set: Vec::new(),
    };
    (report, model)
}

/// Asserts that two numbers agree to a number of significant digits.
#[track_caller]
pub fn digits(found: f64, expected: f64, digits: i32) {
    near(
        found,
        expected,
        0.5 * 10f64.powi(1 - digits) * expected.abs(),
    );
}

/// The classical Runge-Kutta method with `n` steps: an oracle that shares nothing with the simulator.
pub fn rk4<const N: usize>(
    f: impl Fn(f64, &[f64; N]) -> [f64; N],
    mut y: [f64; N],
    span: (f64, f64),
    n: usize,
) -> [f64; N] {
    let h = (span.1 - span.0) / n as f64;
    let shifted = |y: &[f64; N], k: &[f64; N], a: f64| -> [f64; N] {
        std::array::from_fn(|i| y[i] + a * k[i])
    };
    for step in 0..n {
        let t = span.0 + step as f64 * h;
        let k1 = f(t, &y);
        let k2 = f(t + h / 2.0, &shifted(&y, &k1, h / 2.0));
        let k3 = f(t + h / 2.0, &shifted(&y, &k2, h / 2.0));
        let k4 = f(t + h, &shifted(&y, &k3, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    y
}
