//! Small models of everything that happens at events, each with the value that follows from the text.
#![allow(clippy::unwrap_used)]

mod common;

use acausal::Settings;
use common::{at, last, near, run_text, values};

fn until(stop: f64) -> Settings {
    Settings {
        stop,
        interval: stop / 100.0,
        ..Settings::default()
    }
}

/// Relations of time change at their instant, whether strict or not, from either side.
#[test]
fn relations_of_time() {
    for (condition, expected) in [
        ("time > 1", 1.0),
        ("time >= 1", 1.0),
        ("1 < time", 1.0),
        ("time < 1", 1.0),
        ("time <= 1", 1.0),
        ("not time > 1", 1.0),
        ("time > 0", 2.0),
        ("time >= 0", 2.0),
        ("10*time > 3", 1.7),
        ("time - 100 >= -99.7", 1.7),
        ("time > 2", 0.0),
    ] {
        let text = format!(
            "model M Real x(start = 0, fixed = true); Boolean b = {condition};
             equation der(x) = if b then 1 else 0; end M;"
        );
        let r = run_text(&text, &until(2.0));
        near(last(&r, "x"), expected, 1e-9);
        let direct = format!(
            "model M Real x(start = 0, fixed = true); equation der(x) = if {condition} then 1 else 0; end M;"
        );
        near(last(&run_text(&direct, &until(2.0)), "x"), expected, 1e-9);
    }
}

/// The first instant of `sample` may be the start time; the initial value holds before it.
#[test]
fn sample_begins_at_the_start() {
    let text = "model M Integer n(start = 0, fixed = true); equation
        when sample(0, 0.5) then n = pre(n) + 1; end when; end M;";
    let r = run_text(text, &until(1.2));
    for (t, n) in [(0.1, 1.0), (0.6, 2.0), (1.1, 3.0)] {
        assert_eq!(at(&r, "n", t), n, "at {t}");
    }
}

/// Continuous equations that use `pre` are solved with its last value.
#[test]
fn equations_with_left_limits() {
    let text = "model M Integer n(start = 0, fixed = true); Real y, z; equation
        y = 2*pre(n); z + sin(z) = pre(n);
        when sample(0.25, 0.5) then n = pre(n) + 1; end when; end M;";
    let r = run_text(text, &until(1.0));
    for (t, n) in [(0.1, 0.0), (0.5, 1.0), (0.9, 2.0)] {
        near(at(&r, "y", t), 2.0 * n, 1e-9);
        let z = at(&r, "z", t);
        near(z + z.sin(), n, 1e-6);
    }
}

/// A ball by left limits of a continuous variable.
#[test]
fn reinit_with_pre() {
    let text = "model M Real h(start = 1, fixed = true), v(start = 0, fixed = true); equation
        der(h) = v; der(v) = -10; when h <= 0 then reinit(v, -0.5*pre(v)); end when; end M;";
    let r = run_text(text, &until(0.8));
    let fall = (0.2f64).sqrt();
    let v = values(&r, "v");
    let rebound = v.iter().fold(f64::MIN, |a, b| a.max(*b));
    near(rebound, 0.5 * 10.0 * fall, 1e-6);
    let s = 0.8 - fall;
    near(last(&r, "h"), rebound * s - 5.0 * s * s, 1e-5);
}

/// Branches that are not taken may be undefined.
#[test]
fn guarded_functions() {
    for guard in ["h > 0", "noEvent(h > 0)"] {
        let text = format!(
            "model M Real h(start = 1, fixed = true); equation
             der(h) = -(if {guard} then sqrt(h) else 0); end M;"
        );
        let r = run_text(&text, &until(3.0));
        near(at(&r, "h", 1.5), 0.0625, 1e-5);
        near(last(&r, "h"), 0.0, 1e-5);
    }
}

/// `noEvent` gives no events, also where its argument is the whole expression.
#[test]

fn no_event_gives_no_event() {
    for right in [
        "if noEvent(x > 0.5) then -x else -2*x + 0.5",
        "noEvent(if x > 0.5 then -x else -2*x + 0.5)",
    ] {
        let text =
            format!("model M Real x(start = 1, fixed = true); equation der(x) = {right}; end M;");
        let r = run_text(&text, &until(3.0));
        assert_eq!(r.summary.events, 0, "{right}");
    }
}

/// Values at events are stored on both sides.
#[test]
fn rows_on_both_sides_of_an_event() {
    let text = "model M Boolean b = time >= 1; Real y = if b then 2 else 1; end M;";
    let r = run_text(text, &until(2.0));
    let rows: Vec<usize> = (0..r.result.time().len())
        .filter(|&k| r.result.time()[k] == 1.0)
        .collect();
    let y = values(&r, "y");
    assert_eq!((y[rows[0]], y[*rows.last().unwrap()]), (1.0, 2.0));
}
