//! Problems of a few unknowns with known solutions.

mod problems;

use acausal_solver::{Bdf, BdfOptions, StepOutcome};
use problems::{Dense, run, tolerances};

#[test]
fn decay_error_follows_the_tolerance() {
    let mut last = f64::INFINITY;
    for rtol in [1e-4, 1e-6, 1e-8, 1e-10] {
        let mut dae = Dense::new(1, |_, y, yp, r| r[0] = yp[0] + y[0]);
        let bdf = run(
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
        assert!((y[0] + y[1] + y[2] - 1.0).abs() < 1e-12);
    }
    assert!(bdf.statistics().steps < 3000, "{:?}", bdf.statistics());
}
