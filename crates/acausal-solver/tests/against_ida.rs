//! The same problems through our integrator and through SUNDIALS IDA: trajectories, events and effort must agree.
#![cfg(feature = "sundials")]

#[path = "problems/large.rs"]
mod large;
mod problems;

use acausal_solver::{Bdf, BdfOptions, Dae, Ida, Integrator, SolverError, StepOutcome};
use large::{Heat, HeatForm, TransmissionLine};
use problems::{Dense, tolerances};

/// Both integrators on fresh copies of a problem.
fn both<D: Dae>(
    make: impl Fn() -> D,
    options: &BdfOptions,
    y: &[f64],
    yp: &[f64],
    mut look: impl FnMut(&mut dyn Integrator, &mut D),
) {
    let mut bdf = Bdf::new(options.clone(), 0.0, y, yp).unwrap();
    look(&mut bdf, &mut make());
    let mut ida = Ida::new(options.clone(), 0.0, y, yp).unwrap();
    look(&mut ida, &mut make());
}

/// Values at the given times, by stopping there, and the number of steps.
fn sample(
    integrator: &mut dyn Integrator,
    dae: &mut dyn Dae,
    times: &[f64],
) -> (Vec<Vec<f64>>, u64) {
    let mut values = Vec::new();
    for &t in times {
        while integrator.step(dae, t).unwrap() != StepOutcome::StopReached {}
        assert_eq!(integrator.t(), t);
        values.push(integrator.y().to_vec());
    }
    (values, integrator.statistics().steps)
}

/// Compares with `factor` times the tolerance; steps within a factor.
fn compare<D: Dae>(
    name: &str,
    make: impl Fn() -> D,
    options: BdfOptions,
    (y, yp): (&[f64], &[f64]),
    times: &[f64],
    (factor, step_ratio): (f64, f64),
) {
    let mut runs = Vec::new();
    both(make, &options, y, yp, |integrator, dae| {
        runs.push(sample(integrator, dae, times))
    });
    let (ours, ida) = (&runs[0], &runs[1]);
    for (t, (a, b)) in times.iter().zip(ours.0.iter().zip(&ida.0)) {
        for i in 0..a.len() {
            let atol = options.atol[if options.atol.len() == 1 { 0 } else { i }];
            let bound = factor * (options.rtol * b[i].abs() + atol);
            let tested = options.error_test.get(i).copied().unwrap_or(true);
            assert!(
                !tested || (a[i] - b[i]).abs() <= bound,
                "{name} t = {t}, variable {i}: {} and {}",
                a[i],
                b[i]
            );
        }
    }
    let ratio = ours.1 as f64 / ida.1 as f64;
    assert!(
        ratio < step_ratio,
        "{name}: {} steps, IDA {}",
        ours.1,
        ida.1
    );
}

#[test]
fn robertson() {
    let make = || {
        Dense::new(3, |_, y, yp, r| {
            let rate = 0.04 * y[0] - 1e4 * y[1] * y[2];
            r[0] = yp[0] + rate;
            r[1] = yp[1] - rate + 3e7 * y[1] * y[1];
            r[2] = y[0] + y[1] + y[2] - 1.0;
        })
    };
    let options = BdfOptions {
        rtol: 1e-6,
        atol: vec![1e-10, 1e-14, 1e-10],
        ..BdfOptions::default()
    };
    let start = ([1.0, 0.0, 0.0], [-0.04, 0.04, 0.0]);
    compare(
        "robertson",
        make,
        options,
        (&start.0, &start.1),
        &[0.4, 4.0, 40.0, 400.0, 4e4],
        (100.0, 1.3),
    );
}

#[test]
fn van_der_pol() {
    let make = || {
        Dense::new(2, |_, y, yp, r| {
            r[0] = yp[0] - y[1];
            r[1] = 1e-6 * yp[1] - ((1.0 - y[0] * y[0]) * y[1] - y[0]);
        })
    };
    let start = ([2.0, 0.0], [0.0, -2e6]);
    compare(
        "van der Pol",
        make,
        tolerances(1e-7, 1e-7),
        (&start.0, &start.1),
        &[0.5, 2.0],
        (1000.0, 1.3),
    );
}

#[test]
fn heat_and_line() {
    for form in [HeatForm::Direct, HeatForm::Flux] {
        let (y, yp) = Heat::new(300, form).start();
        let make = || Heat::new(300, form);
        compare(
            "heat",
            make,
            tolerances(1e-6, 1e-8),
            (&y, &yp),
            &[0.01, 0.1, 1.0],
            (100.0, 1.2),
        );
    }
    let (y, yp) = TransmissionLine::new(200).start();
    let options = BdfOptions {
        max_order: 2,
        ..tolerances(1e-6, 1e-6)
    };
    compare(
        "line",
        || TransmissionLine::new(200),
        options,
        (&y, &yp),
        &[5e-7, 4e-6],
        (100.0, 1.2),
    );
}

#[test]
fn stabilised_pendulum() {
    const G: f64 = 9.81;
    let (x0, y0) = (1f64.sin(), 1f64.cos());
    let lambda = G * y0 / 2.0;
    let start = [x0, y0, 0.0, 0.0, 0.0, 0.0];
    let slope = [
        0.0,
        0.0,
        -2.0 * x0 * lambda,
        G - 2.0 * y0 * lambda,
        lambda,
        0.0,
    ];
    let make = || {
        Dense::new(6, |_, v, vp, r| {
            let (x, y, vx, vy) = (v[0], v[1], v[2], v[3]);
            r[0] = vp[0] - vx + 2.0 * x * vp[5];
            r[1] = vp[1] - vy + 2.0 * y * vp[5];
            r[2] = vp[2] + 2.0 * x * vp[4];
            r[3] = vp[3] + 2.0 * y * vp[4] - G;
            r[4] = x * x + y * y - 1.0;
            r[5] = 2.0 * x * vx + 2.0 * y * vy;
        })
    };
    let options = BdfOptions {
        error_test: vec![true, true, true, true, true, false],
        newton_tolerance: 0.01,
        ..tolerances(1e-7, 1e-8)
    };
    compare(
        "pendulum",
        make,
        options,
        (&start, &slope),
        &[1.0, 5.0],
        (3000.0, 1.3),
    );
}

#[test]
fn events_come_at_the_same_times() {
    let make = || {
        Dense::new(2, |_, y, yp, r| {
            r[0] = yp[0] - y[1];
            r[1] = yp[1] + y[0];
        })
        .with_roots(2, |_, y, _, g| {
            g[0] = y[0] - 0.5;
            g[1] = y[1] + 0.25;
        })
    };
    let mut events: Vec<Vec<(f64, usize, bool)>> = Vec::new();
    both(
        make,
        &tolerances(1e-9, 1e-9),
        &[0.0, 1.0],
        &[1.0, 0.0],
        |integrator, dae| {
            let mut list = Vec::new();
            loop {
                match integrator.step(dae, 20.0).unwrap() {
                    StepOutcome::Roots => {
                        let t = integrator.t();
                        list.extend(
                            integrator
                                .found_roots()
                                .iter()
                                .map(|r| (t, r.index, r.rising)),
                        );
                        let (y, yp) = (integrator.y().to_vec(), integrator.yp().to_vec());
                        integrator.restart(t, &y, &yp).unwrap();
                    }
                    StepOutcome::StopReached => break,
                    StepOutcome::Step => {
                        let (mut y, mut yp) = ([0.0; 2], [0.0; 2]);
                        let middle = integrator.t() - 0.5 * integrator.last_step();
                        integrator.interpolate(middle, &mut y, &mut yp);
                        assert!((y[0] - middle.sin()).abs() < 1e-5);
                    }
                }
            }
            events.push(list);
        },
    );
    assert_eq!(events[0].len(), events[1].len());
    assert!(events[0].len() >= 12);
    for (a, b) in events[0].iter().zip(&events[1]) {
        assert!(
            (a.0 - b.0).abs() < 1e-5 && a.1 == b.1 && a.2 == b.2,
            "{a:?} {b:?}"
        );
    }
}

#[test]
fn failures_are_typed_alike() {
    let mut dae = Dense::new(1, |t, _, yp, r| r[0] = yp[0] - (1.0 - t).sqrt());
    let mut ida = Ida::new(tolerances(1e-6, 1e-6), 0.0, &[0.0], &[1.0]).unwrap();
    let error = loop {
        if let Err(error) = ida.step(&mut dae, 2.0) {
            break error;
        }
    };
    assert!(
        matches!(
            error,
            SolverError::Evaluation { .. } | SolverError::StepTooSmall { .. }
        ),
        "{error:?}"
    );
    let mut dae = Dense::new(2, |_, y, yp, r| {
        r[0] = yp[0] + y[1];
        r[1] = yp[0] + y[1];
    });
    let mut ida = Ida::new(tolerances(1e-6, 1e-6), 0.0, &[0.0, 0.0], &[0.0, 0.0]).unwrap();
    let error = ida.step(&mut dae, 2.0).unwrap_err();
    assert!(
        matches!(error, SolverError::SingularMatrix { .. }),
        "{error:?}"
    );
}
