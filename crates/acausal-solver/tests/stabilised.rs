//! The extended Mattsson-Soderlind example (Otter & Elmqvist 2017, eq. 18) in the stabilised form with 21 equations:
//! three levels of constraints, six multipliers that must stay out of the error test.

mod problems;

use acausal_solver::BdfOptions;
use problems::{Dense, run, tolerances};

/// Order of the unknowns: x1 x2 x3 x4 x6 x7, first derivatives of x1 x2 x3 x6 x7, second derivatives of x6 x7, x8,
/// integral of x5, integrals of six multipliers.
const VALUE: [usize; 7] = [0, 1, 2, 4, 5, 9, 10];
const SLOPE: [usize; 7] = [6, 7, 8, 9, 10, 11, 12];

/// Jacobian of the differentiated constraints a', b', f', g', f'', g'' with respect to the slopes above.
const G: [[f64; 7]; 6] = [
    [1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [1.0, 1.0, -1.0, 0.0, 0.0, 1.0, 0.0],
    [0.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 3.0, 4.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 1.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 4.0],
];

fn residual(t: f64, x: &[f64], xp: &[f64], r: &mut [f64]) {
    let u = |k: f64| (k * t).sin();
    let du = |k: f64| k * (k * t).cos();
    let ddu = |k: f64| -k * k * (k * t).sin();
    let (x1, x2, x3, x4, x6, x7, x8) = (x[0], x[1], x[2], x[3], x[4], x[5], x[13]);
    let (x1d, x2d, x3d, x6d, x7d, x6dd, x7dd) = (x[6], x[7], x[8], x[9], x[10], x[11], x[12]);
    // Never differentiated equations d and e, with x5 as derivative of its integral.
    r[0] = u(4.0) + 2.0 * xp[6] + xp[7] + xp[8] + xp[3] + xp[11];
    r[1] = u(5.0) + 3.0 * xp[6] + 2.0 * xp[7] + xp[14] + 0.1 * x8;
    for k in 0..7 {
        let stabilisation: f64 = (0..6).map(|i| G[i][k] * xp[15 + i]).sum();
        r[2 + k] = xp[VALUE[k]] - x[SLOPE[k]] + stabilisation;
    }
    r[9] = -2.0 - 0.5 * u(8.0) + x8 - x8.sin();
    r[10] = u(1.0) + x1 - x2;
    r[11] = u(2.0) + x1 + x2 - x3 + x6d;
    r[12] = u(3.0) + x1 + x3d - x4;
    r[13] = u(6.0) + 2.0 * x6 + x7;
    r[14] = u(7.0) + 3.0 * x6 + 4.0 * x7;
    r[15] = du(1.0) + x1d - x2d;
    r[16] = du(2.0) + x1d + x2d - x3d + x6dd;
    r[17] = du(6.0) + 2.0 * x6d + x7d;
    r[18] = du(7.0) + 3.0 * x6d + 4.0 * x7d;
    r[19] = ddu(6.0) + 2.0 * x6dd + x7dd;
    r[20] = ddu(7.0) + 3.0 * x6dd + 4.0 * x7dd;
}

fn start() -> (Vec<f64>, Vec<f64>) {
    let (x6d, x7d, x8) = (-3.4, 0.8, 2.5541959528f64);
    let (x1dd, x6ddd, x7ddd) = (-314.6 / 7.0, 104.2, 7.6);
    let x3dd = 2.0 * x1dd + x6ddd;
    let mut x = vec![0.0; 21];
    let mut xp = vec![0.0; 21];
    (x[2], x[3], x[6], x[8], x[9], x[10], x[13]) = (-3.4, 1.0, -1.0, 1.0, x6d, x7d, x8);
    (xp[0], xp[2], xp[3], xp[4], xp[5]) = (-1.0, 1.0, 2.0 + x3dd, x6d, x7d);
    (xp[6], xp[7], xp[8], xp[11], xp[12]) = (x1dd, x1dd, x3dd, x6ddd, x7ddd);
    xp[13] = 4.0 / (1.0 - x8.cos());
    xp[14] = -5.0 * x1dd - 0.1 * x8;
    (x, xp)
}

#[test]
fn start_values_are_consistent() {
    let (x, xp) = start();
    let mut r = [0.0; 21];
    residual(0.0, &x, &xp, &mut r);
    assert!(r.iter().all(|r| r.abs() < 1e-9), "{r:?}");
    assert!((xp[14] - 224.4588661190).abs() < 1e-8);
}

#[test]
fn multipliers_outside_the_error_test() {
    let (x, xp) = start();
    let mut error_test = vec![true; 21];
    error_test[15..].fill(false);
    let options = BdfOptions {
        error_test,
        newton_tolerance: 0.01,
        ..tolerances(1e-8, 1e-10)
    };
    let mut bdf = run(&mut Dense::new(21, residual), options, 5.0, &x, &xp).unwrap();
    let expected = [
        (0, 0.6057684109),
        (1, -0.3531558637),
        (2, -2.2969846103),
        (3, -3.2893664736),
        (13, 2.7521912656),
    ];
    for (i, value) in expected {
        assert!(
            (bdf.y()[i] - value).abs() < 1e-6,
            "x[{i}] = {} and {value}",
            bdf.y()[i]
        );
    }
    // x5 and the multipliers are derivatives.
    assert!(
        (bdf.yp()[14] - 199.6255126694).abs() < 1e-2,
        "{}",
        bdf.yp()[14]
    );
    assert!(
        bdf.yp()[15..].iter().all(|mu| mu.abs() < 1e-3),
        "{:?}",
        &bdf.yp()[15..]
    );
    assert!(bdf.statistics().steps < 3000, "{:?}", bdf.statistics());
}
