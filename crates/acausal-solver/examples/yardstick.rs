//! CPU time of this integrator against hand-written C programs on SUNDIALS IDA + KLU, in one run.
//!
//! usage: `yardstick [DIR]` with the directory of the C programs `heat` and `tline`; without it only our times are
//! printed. Each problem runs several times on both sides, alternating; the minimum counts.
#![allow(missing_docs)]

use acausal_solver::{Bdf, BdfOptions, Dae, StepOutcome};
use std::path::PathBuf;
use std::process::Command;

#[path = "../tests/problems/large.rs"]
#[allow(dead_code)]
mod large;

#[path = "support/clock.rs"]
mod clock;

use clock::cpu_seconds;
use large::{Heat, HeatForm, TransmissionLine};

const REPEATS: usize = 7;

fn main() {
    let directory = std::env::args().nth(1).map(PathBuf::from);
    let heat = |form: HeatForm, n: usize| {
        let c = [
            n.to_string(),
            (form == HeatForm::Flux).to_string(),
            "1e-6".into(),
            "1".into(),
            "1".into(),
        ];
        let c = c.map(|a| {
            if a == "true" {
                "1".into()
            } else if a == "false" {
                "0".into()
            } else {
                a
            }
        });
        compare(
            &format!("heat {form:?} {n}"),
            directory.as_ref().map(|d| d.join("heat")),
            &c,
            &|| {
                let dae = Heat::new(n, form);
                let (y, yp) = dae.start();
                let probe = (dae.pattern().size() / 2) | 1;
                run(dae, &y, &yp, 1e-6, 1e-8, 1.0, probe)
            },
        );
    };
    heat(HeatForm::Direct, 10_000);
    heat(HeatForm::Flux, 10_000);
    heat(HeatForm::Direct, 100_000);
    let line = |n: usize| {
        let c = [n.to_string(), "1e-6".into(), "4e-6".into(), "1".into()];
        compare(
            &format!("tline {n}"),
            directory.as_ref().map(|d| d.join("tline")),
            &c,
            &|| {
                let dae = TransmissionLine::new(n);
                let (y, yp) = dae.start();
                let probe = dae.pattern().size() - 2;
                run(dae, &y, &yp, 1e-6, 1e-6, 4e-6, probe)
            },
        );
    };
    line(1000);
}

/// Seconds and a line of statistics.
type Outcome = (f64, String);

fn run(
    mut dae: impl Dae,
    y: &[f64],
    yp: &[f64],
    rtol: f64,
    atol: f64,
    t_end: f64,
    probe: usize,
) -> Outcome {
    let start = cpu_seconds();
    let options = BdfOptions {
        rtol,
        atol: vec![atol],
        ..BdfOptions::default()
    };
    let mut bdf = Bdf::new(options, 0.0, y, yp).expect("valid options");
    loop {
        match bdf.step(&mut dae, t_end) {
            Ok(StepOutcome::StopReached) => break,
            Ok(_) => {}
            Err(error) => return (f64::NAN, error.to_string()),
        }
    }
    let seconds = cpu_seconds() - start;
    let value = bdf.y()[probe];
    let s = bdf.statistics();
    let text = format!(
        "steps={} res={} jac={} newton={} errfail={} convfail={} orders={:?} holds={} y[probe]={:.10e}",
        s.steps,
        s.residual_evaluations,
        s.jacobian_evaluations,
        s.newton_iterations,
        s.error_test_failures,
        s.convergence_failures,
        &s.steps_by_order[1..],
        s.order_holds,
        value
    );
    (seconds, text)
}

fn compare(name: &str, program: Option<PathBuf>, arguments: &[String], ours: &dyn Fn() -> Outcome) {
    let mut best_ours = (f64::INFINITY, String::new());
    let mut best_c = (f64::INFINITY, String::new());
    for _ in 0..REPEATS {
        let outcome = ours();
        if outcome.0 < best_ours.0 || best_ours.1.is_empty() {
            best_ours = outcome;
        }
        if let Some(program) = &program
            && let Ok(output) = Command::new(program).args(arguments).output()
        {
            let text = String::from_utf8_lossy(&output.stdout).trim().to_string();
            let seconds = text
                .split("cpu=")
                .nth(1)
                .and_then(|s| s.split('s').next())
                .and_then(|s| s.parse().ok());
            if let Some(seconds) = seconds
                && seconds < best_c.0
            {
                best_c = (seconds, text);
            }
        }
    }
    println!(
        "{name}: {:.4} s, C {:.4} s, ratio {:.2}",
        best_ours.0,
        best_c.0,
        best_ours.0 / best_c.0
    );
    println!("  ours {}", best_ours.1);
    if best_c.0.is_finite() {
        println!("  C    {}", best_c.1);
    }
}
