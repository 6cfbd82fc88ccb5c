//! Large sparse problems: accuracy and number of steps.

#[path = "problems/large.rs"]
mod large;
mod problems;

use acausal_solver::{BdfOptions, Dae};
use large::{Heat, HeatForm, TransmissionLine};
use problems::{run, tolerances};

/// Fourier solution of the heat equation with `T(0, t) = 1 - exp(-10 t)` and an insulated right end:
/// `T = 1 - exp(-10 t) - sum 2 / lambda_k * sin(lambda_k x) * 10 (exp(-10 t) - exp(-lambda_k^2 t)) / (lambda_k^2 - 10)`
/// with `lambda_k = (k + 1/2) pi`.
fn heat_exact(x: f64, t: f64) -> f64 {
    let source = (-10.0 * t).exp();
    let series: f64 = (0..200)
        .map(|k| {
            let lambda = (f64::from(k) + 0.5) * std::f64::consts::PI;
            let decay = (source - (-lambda * lambda * t).exp()) / (lambda * lambda - 10.0);
            20.0 / lambda * (lambda * x).sin() * decay
        })
        .sum();
    1.0 - source - series
}

#[test]
fn heat_equation_matches_the_fourier_solution() {
    let cells = 400;
    for form in [HeatForm::Direct, HeatForm::Flux] {
        let mut dae = Heat::new(cells, form);
        let (y, yp) = dae.start();
        let bdf = run(&mut dae, tolerances(1e-6, 1e-8), 0.5, &y, &yp).unwrap();
        let probe = cells / 2;
        let (value, x) = match form {
            HeatForm::Direct => (bdf.y()[probe], probe as f64 / (cells - 1) as f64),
            HeatForm::Flux => (bdf.y()[2 * probe + 1], (probe as f64 + 0.5) / cells as f64),
        };
        // The insulated end of the direct form is of first order in dx.
        assert!(
            (value - heat_exact(x, 0.5)).abs() < 2e-3,
            "{form:?}: {value}, {}",
            heat_exact(x, 0.5)
        );
        assert!(
            bdf.statistics().steps < 500,
            "{form:?}: {:?}",
            bdf.statistics()
        );
    }
}

#[test]
fn an_undamped_line_is_integrated_at_low_order() {
    let mut dae = TransmissionLine::new(1000);
    let (y, yp) = dae.start();
    let probe = dae.len() - 2;
    let bdf = run(&mut dae, tolerances(1e-6, 1e-6), 4e-6, &y, &yp).unwrap();
    assert!(bdf.statistics().steps < 1500, "{:?}", bdf.statistics());
    // IDA limited to order 2 at rtol 1e-8 gives 0.99990375.
    assert!(
        (bdf.y()[probe] - 0.99990375).abs() < 1e-5,
        "{}",
        bdf.y()[probe]
    );
}

#[test]
fn the_guard_is_needed_for_the_line_and_works_at_other_tolerances() {
    let steps = |rtol: f64, guard: bool| {
        let mut dae = TransmissionLine::new(300);
        let (y, yp) = dae.start();
        let options = BdfOptions {
            stability_detection: guard,
            ..tolerances(rtol, rtol)
        };
        run(&mut dae, options, 4e-6, &y, &yp)
            .unwrap()
            .statistics()
            .steps
    };
    for rtol in [1e-4, 1e-6] {
        let (with, without) = (steps(rtol, true), steps(rtol, false));
        assert!(2 * with < without, "rtol {rtol}: {with} against {without}");
    }
}
