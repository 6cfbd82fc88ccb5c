//! Problems that everybody solves, against published values.
//!
//! - Robertson and the stiff van der Pol oscillator: F. Mazzia, C. Magherini, *Test Set for Initial Value Problem
//!   Solvers*, University of Bari 2008, problems ROBER and VDPOL.
//! - Period of the van der Pol oscillator for moderate damping: computed to many digits by several authors, e.g.
//!   T(5) = 11.612230668.
//! - Lorenz: the shortest periodic orbit, D. Viswanath, *Symbolic dynamics and periodic orbits of the Lorenz attractor*,
//!   Nonlinearity 16 (2003) 1035.
#![allow(clippy::unwrap_used)]

use crate::common::{at, digits, last, near, run_text, run_with, values};
use acausal::Settings;

#[test]
fn robertson() {
    // The values become tiny; nominal values say that their digits matter.
    let nominal = ["y1.nominal=1e-7", "y2.nominal=1e-12"];
    let r = run_with("Robertson.mo", &nominal, |s| {
        s.stop = 1e11;
        s.interval = 1e11;
        s.tolerance = 1e-9;
    });
    digits(last(&r, "y1"), 0.208_334_014_970_125_5e-7, 4);
    digits(last(&r, "y2"), 0.833_336_077_033_471_3e-13, 4);
    digits(last(&r, "y3"), 0.999_999_979_166_505, 9);
    // The well-known intermediate value.
    let r = run_with("Robertson.mo", &[], |s| s.tolerance = 1e-9);
    digits(at(&r, "y1", 40.0), 0.715_827_068_7, 6);
    digits(at(&r, "y2", 40.0), 0.918_553_476_5e-5, 6);
}

#[test]
fn van_der_pol_stiff() {
    let text = "model V Real y1(start = 2, fixed = true), y2(start = 0, fixed = true);
        equation der(y1) = y2; 1e-6*der(y2) = (1 - y1^2)*y2 - y1; end V;";
    let settings = Settings {
        stop: 2.0,
        interval: 2.0,
        tolerance: 1e-8,
        ..Settings::default()
    };
    let r = run_text(text, &settings);
    near(last(&r, "y1"), 1.706_167_732_170_483, 1e-5);
    near(last(&r, "y2"), -0.892_809_701_024_797_5, 1e-5);
}

#[test]
fn van_der_pol_period() {
    let r = run_with("VanDerPol.mo", &[], |s| {
        s.stop = 60.0;
        s.interval = 1e-3;
        s.tolerance = 1e-9;
    });
    let (t, x) = (r.result.time(), values(&r, "x"));
    let rising: Vec<f64> = (1..x.len())
        .filter(|&k| x[k - 1] < 0.0 && x[k] >= 0.0)
        .map(|k| t[k - 1] - x[k - 1] * (t[k] - t[k - 1]) / (x[k] - x[k - 1]))
        .collect();
    let n = rising.len();
    assert!(n >= 4, "{rising:?}");
    near(rising[n - 1] - rising[n - 2], 11.612_230_668, 1e-5);
}

#[test]
fn lorenz_returns_after_a_period() {
    const PERIOD: f64 = 1.558_652_210_716_174_7;
    let start = [
        ("x", -13.763_610_682_134),
        ("y", -19.578_751_942_452),
        ("z", 27.0),
    ];
    let set: Vec<String> = start
        .iter()
        .map(|(n, v)| format!("{n}.start={v}"))
        .collect();
    let set: Vec<&str> = set.iter().map(String::as_str).collect();
    let r = run_with("Lorenz.mo", &set, |s| {
        s.stop = PERIOD;
        s.interval = PERIOD / 100.0;
        s.tolerance = 1e-10;
    });
    for (name, value) in start {
        near(last(&r, name), value, 1e-5);
    }
}

/// The error follows the tolerance: smaller by a factor of at least 30 over two decades, and never far above it.
#[test]
fn error_falls_with_the_tolerance() {
    let mut previous = f64::INFINITY;
    for exponent in 4..=10 {
        let tolerance = 10f64.powi(-exponent);
        let r = run_with("Decay.mo", &[], |s| s.tolerance = tolerance);
        let error = values(&r, "error")
            .iter()
            .fold(0.0f64, |a, e| a.max(e.abs()));
        assert!(
            error < 30.0 * tolerance,
            "error {error:e} at tolerance {tolerance:e}"
        );
        assert!(
            error < previous,
            "error {error:e} at tolerance {tolerance:e} after {previous:e}"
        );
        previous = error;
    }
    assert!(previous < 1e-8);
}
