//! Problems of a few unknowns with known solutions.

mod problems;

use acausal_solver::{Bdf, BdfOptions, StepOutcome};
use problems::{Dense, run, tolerances};

#[test]
fn decay_error_follows_the_tolerance() {
    let mut last = f64::INFINITY;
    for rtol in [1e-4, 1e-6, 1e-8, 1e-10] {
        let mut dae = Dense::new(1, |_, y, yp, r| r[0] = yp[0] + y[0]);
        let mut bdf = run(
            &mut dae,
            tolerances(rtol, rtol * 1e-2),
            2.0,
            &[1.0],
            &[-1.0],
        )
        .unwrap();
        let error = (bdf.y()[0] / (-2.0f64).exp() - 1.0).abs();
        assert!(error < 100.0 * rtol, "rtol {rtol}: error {error}");
        assert!(
            error < 0.2 * last,
            "rtol {rtol}: error {error} after {last}"
        );
        last = error;
    }
}

/// Robertson's reactions with the conservation law as constraint; values of the IDA example `idaRoberts_dns` (they agree
/// with Hairer & Wanner II, p. 144 at t = 0.4 .. 4e10).
#[test]
fn robertson_reaches_the_literature_values() {
    let expected = [
        (0.4, 9.851641e-1, 3.386242e-5),
        (4.0, 9.055097e-1, 2.240338e-5),
        (4e1, 7.158009e-1, 9.185037e-6),
        (4e2, 4.505440e-1, 3.223217e-6),
        (4e3, 1.831964e-1, 8.942051e-7),
        (4e4, 3.898104e-2, 1.621656e-7),
        (4e5, 4.938672e-3, 1.985172e-8),
        (4e6, 5.166093e-4, 2.067499e-9),
        (4e7, 5.206409e-5, 2.082671e-10),
        (4e8, 5.211072e-6, 2.084440e-11),
        (4e9, 5.213064e-7, 2.085226e-12),
        (4e10, 5.213001e-8, 2.085200e-13),
    ];
    let mut dae = Dense::new(3, |_, y, yp, r| {
        let rate = 0.04 * y[0] - 1e4 * y[1] * y[2];
        r[0] = yp[0] + rate;
        r[1] = yp[1] - rate + 3e7 * y[1] * y[1];
        r[2] = y[0] + y[1] + y[2] - 1.0;
    });
    let options = BdfOptions {
        rtol: 1e-7,
        atol: vec![1e-11, 1e-15, 1e-10],
        ..BdfOptions::default()
    };
    let mut bdf = Bdf::new(options, 0.0, &[1.0, 0.0, 0.0], &[-0.04, 0.04, 0.0]).unwrap();
    for (t, y1, y2) in expected {
        while bdf.step(&mut dae, t).unwrap() != StepOutcome::StopReached {}
        assert_eq!(bdf.t(), t);
        let y = bdf.y();
        // The printed values come from a run with rtol 1e-4.
        assert!((y[0] / y1 - 1.0).abs() < 1e-3, "t = {t}: {} and {y1}", y[0]);
        assert!((y[1] / y2 - 1.0).abs() < 1e-3, "t = {t}: {} and {y2}", y[1]);
        // The difference Jacobian of the test has nine digits.
        assert!(
            (y[0] + y[1] + y[2] - 1.0).abs() < 1e-10,
            "{}",
            y[0] + y[1] + y[2] - 1.0
        );
    }
    assert!(bdf.statistics().steps < 3000, "{:?}", bdf.statistics());
}

/// van der Pol's equation, mu = 1000. Reference by the period: the relaxation oscillation jumps at t = 807 and t = 1614;
/// values at t = 2000 from the Test Set for IVP Solvers (Mazzia & Magherini), scaled problem `vdpol` at t = 2.
#[test]
fn stiff_van_der_pol() {
    let mut dae = Dense::new(2, |_, y, yp, r| {
        r[0] = yp[0] - y[1];
        // Scaled time: eps = 1e-6, the form of the test set.
        r[1] = 1e-6 * yp[1] - ((1.0 - y[0] * y[0]) * y[1] - y[0]);
    });
    let mut bdf = run(
        &mut dae,
        tolerances(1e-8, 1e-8),
        2.0,
        &[2.0, 0.0],
        &[0.0, -2e6],
    )
    .unwrap();
    let expected = [1.7061677321707, -0.89280970247776];
    for (y, e) in bdf.y().iter().zip(expected) {
        assert!((y - e).abs() < 1e-5, "{y} and {e}");
    }
    assert!(bdf.statistics().steps < 5000, "{:?}", bdf.statistics());
}

/// Lorenz' equations against a Runge-Kutta solution of order four with step 1e-4 (error below 1e-11 at t = 2).
#[test]
fn lorenz_for_a_short_time() {
    let f = |y: &[f64]| {
        [
            10.0 * (y[1] - y[0]),
            y[0] * (28.0 - y[2]) - y[1],
            y[0] * y[1] - 8.0 / 3.0 * y[2],
        ]
    };
    let mut y = [1.0, 1.0, 1.0];
    let h = 1e-4;
    for _ in 0..20_000 {
        let add = |y: &[f64; 3], k: &[f64; 3], c: f64| -> [f64; 3] {
            std::array::from_fn(|i| y[i] + c * k[i])
        };
        let k1 = f(&y);
        let k2 = f(&add(&y, &k1, h / 2.0));
        let k3 = f(&add(&y, &k2, h / 2.0));
        let k4 = f(&add(&y, &k3, h));
        for i in 0..3 {
            y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    let mut dae = Dense::new(3, move |_, y, yp, r| {
        for (i, f) in f(y).iter().enumerate() {
            r[i] = yp[i] - f;
        }
    });
    let start = f(&[1.0; 3]);
    let mut bdf = run(&mut dae, tolerances(1e-9, 1e-9), 2.0, &[1.0; 3], &start).unwrap();
    for i in 0..3 {
        assert!((bdf.y()[i] - y[i]).abs() < 1e-4, "{:?} and {y:?}", bdf.y());
    }
}

/// `x' = -z`, `z = x^2 + y`, `y = sin t` solved for y, z as algebraic unknowns, against the tight solution of the
/// explicit form by the same closed formula in a Runge-Kutta method.
#[test]
fn algebraic_variables_of_an_index_one_system() {
    let f = |t: f64, x: f64| -(x * x + t.sin());
    let (mut x, h) = (1.0f64, 1e-4);
    for i in 0..10_000 {
        let t = f64::from(i) * h;
        let k1 = f(t, x);
        let k2 = f(t + h / 2.0, x + h / 2.0 * k1);
        let k3 = f(t + h / 2.0, x + h / 2.0 * k2);
        let k4 = f(t + h, x + h * k3);
        x += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
    let mut dae = Dense::new(3, |t, v, vp, r| {
        r[0] = vp[0] + v[2];
        r[1] = v[2] - v[0] * v[0] - v[1];
        r[2] = v[1] - t.sin();
    });
    let mut bdf = run(
        &mut dae,
        tolerances(1e-8, 1e-10),
        1.0,
        &[1.0, 0.0, 1.0],
        &[-1.0, 1.0, -1.0],
    )
    .unwrap();
    assert!((bdf.y()[0] - x).abs() < 1e-6, "{} and {x}", bdf.y()[0]);
    assert!((bdf.y()[2] - (x * x + 1f64.sin())).abs() < 2e-6);
    // The derivative at the end of a step satisfies the residual.
    assert!((bdf.yp()[0] + bdf.y()[2]).abs() < 1e-6);
}

/// Cartesian pendulum in stabilised (GGL) form: unknowns x, y, vx, vy, lambda_int, mu_int; mu_int stays out of the error
/// test. Reference from phi'' = -g sin(phi).
#[test]
fn stabilised_pendulum_keeps_its_constraint() {
    const G: f64 = 9.81;
    let (x0, y0) = (1f64.sin(), 1f64.cos());
    // lambda = F / 2 with F = g cos(phi).
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
    let mut errors = Vec::new();
    for rtol in [1e-4, 1e-6, 1e-8] {
        let mut dae = Dense::new(6, |_, v, vp, r| {
            let (x, y, vx, vy) = (v[0], v[1], v[2], v[3]);
            let (lambda, mu) = (vp[4], vp[5]);
            r[0] = vp[0] - vx + 2.0 * x * mu;
            r[1] = vp[1] - vy + 2.0 * y * mu;
            r[2] = vp[2] + 2.0 * x * lambda;
            r[3] = vp[3] + 2.0 * y * lambda - G;
            r[4] = x * x + y * y - 1.0;
            r[5] = 2.0 * x * vx + 2.0 * y * vy;
        });
        let options = BdfOptions {
            error_test: vec![true, true, true, true, true, false],
            // A well converged corrector keeps the constraint and saves 40 % of the steps (see the option).
            newton_tolerance: 0.01,
            ..tolerances(rtol, 0.1 * rtol)
        };
        let mut bdf = Bdf::new(options, 0.0, &start, &slope).unwrap();
        let mut violation = 0.0f64;
        while bdf.step(&mut dae, 10.0).unwrap() != StepOutcome::StopReached {
            let (x, y) = (bdf.y()[0], bdf.y()[1]);
            violation = violation.max((x * x + y * y - 1.0).abs());
        }
        // At every step within the corrector tolerance, i.e. far inside the error tolerance.
        assert!(violation < 0.1 * rtol, "rtol {rtol}: {violation}");
        let (x, y) = (bdf.y()[0], bdf.y()[1]);
        let phi = x.atan2(y);
        errors.push((phi + 0.4632527687).abs());
        assert!(
            bdf.statistics().steps < 6000,
            "rtol {rtol}: {:?}",
            bdf.statistics()
        );
        // F = 2 lambda at the end of the last step.
        assert!(
            (2.0 * bdf.yp()[4] - 15.7274556267).abs() < 2e4 * rtol,
            "rtol {rtol}: {}",
            2.0 * bdf.yp()[4]
        );
    }
    // IDA: 4.8e-3, 5.6e-5, 4.3e-7.
    assert!(
        errors[0] < 2e-2 && errors[1] < 2e-4 && errors[2] < 2e-6,
        "{errors:?}"
    );
}
