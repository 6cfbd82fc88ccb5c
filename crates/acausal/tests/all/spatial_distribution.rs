//! `spatialDistribution` (MLS 3.6 §3.7.4.2) against characteristics: what leaves now entered at the last instant at which its label was at an end.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::{last, near, run_text, values};
use acausal::{InMemory, Load, Model, Settings};

fn until(stop: f64) -> Settings {
    Settings {
        stop,
        interval: stop / 200.0,
        ..Settings::default()
    }
}

/// Rows that are not at an event.
fn rows(run: &InMemory, name: &str) -> Vec<(f64, f64)> {
    let times = values(run, "time");
    let v = values(run, name);
    let alone =
        |k: usize| (k == 0 || times[k - 1] < times[k]) && times.get(k + 1) != Some(&times[k]);
    (0..times.len())
        .filter(|&k| alone(k))
        .map(|k| (times[k], v[k]))
        .collect()
}

#[test]
fn a_constant_velocity_is_a_delay() {
    let text = "model M Real x(start = 0, fixed = true), a, b, d; equation der(x) = 2;
        (a, b) = spatialDistribution(sin(5*time) + 3, 7, x, true); d = delay(sin(5*time) + 3, 0.5); end M;";
    let run = run_text(text, &until(3.0));
    for (t, a) in rows(&run, "a") {
        near(a, (5.0 * t).sin() + 3.0, 1e-9);
    }
    for (t, b) in rows(&run, "b") {
        let expected = if t < 0.5 {
            0.0
        } else {
            (5.0 * (t - 0.5)).sin() + 3.0
        };
        near(b, expected, 2e-5);
    }
    // The front comes out at its instant.
    let times = values(&run, "time");
    assert!(
        times
            .windows(2)
            .any(|w| w[0] == w[1] && (w[0] - 0.5).abs() < 1e-9)
    );
}

/// The value at an end for `x(t)`, by looking back in time.
fn by_characteristics(
    t: f64,
    right: bool,
    x: impl Fn(f64) -> f64,
    inputs: [fn(f64) -> f64; 2],
    start: impl Fn(f64) -> f64,
) -> f64 {
    let label = if right { 1.0 - x(t) } else { -x(t) };
    // Place of this fluid at time s; it entered where that was 0 or 1 last.
    let place = |s: f64| label + x(s);
    let steps = 200_000;
    let h = t / f64::from(steps);
    let inside = |s: f64| (0.0..=1.0).contains(&place(s));
    let mut s = t - h;
    if !inside(s) {
        return f64::NAN;
    }
    while s > 0.0 {
        if !inside(s) {
            let (mut out, mut within) = (s, s + h);
            for _ in 0..60 {
                let middle = 0.5 * (out + within);
                if inside(middle) {
                    within = middle
                } else {
                    out = middle
                }
            }
            return inputs[usize::from(place(out) > 1.0)](within);
        }
        s -= h;
    }
    start(place(0.0))
}

/// The flow turns; the profile at the start has a jump; fluid that entered comes back.
#[test]
fn a_flow_that_turns() {
    let text = "model M Real x, v, a, b, e; equation x = 1.3*sin(time); v = 1.3*cos(time);
        (a, b) = spatialDistribution(cos(3*time), 2 + sin(2*time), x, v >= 0, {0.0, 0.4, 0.4, 1.0}, {1.0, 2.0, 5.0, 0.0});
        der(e) = b - e; initial equation e = 0; end M;";
    let settings = Settings {
        tolerance: 1e-7,
        ..until(9.0)
    };
    let run = run_text(text, &settings);
    let x = |t: f64| 1.3 * t.sin();
    let start = |y: f64| {
        if y < 0.4 {
            1.0 + y / 0.4
        } else {
            5.0 * (1.0 - y) / 0.6
        }
    };
    let inputs: [fn(f64) -> f64; 2] = [|t| (3.0 * t).cos(), |t| 2.0 + (2.0 * t).sin()];
    let mut compared = 0;
    for (name, right) in [("a", false), ("b", true)] {
        for (t, found) in rows(&run, name) {
            let leaves = right == (t.cos() >= 0.0);
            let expected = match (leaves, t) {
                (false, _) => inputs[usize::from(right)](t),
                (true, t) if t < 0.01 => start(f64::from(u8::from(right))),
                (true, _) => by_characteristics(t, right, x, inputs, start),
            };
            // Beside a jump the instant of its event decides.
            let beside = [-1e-4, 1e-4].map(|d| match leaves && t > 0.01 {
                true => by_characteristics(t + d, right, x, inputs, start),
                false => expected,
            });
            if (beside[0] - beside[1]).abs() < 0.02 && expected.is_finite() {
                near(found, expected, 3e-4);
                compared += 1;
            }
        }
    }
    assert!(compared > 350, "{compared}");
}

/// Two in a row are one of twice the length; vectors are several.
#[test]
fn rows_and_vectors() {
    let text = "model M Real x(start = 0, fixed = true), a, b, c, d, q[2], r[2], u; equation
        der(x) = 1 + 0.5*sin(3*time); u = exp(-time)*cos(4*time);
        (a, b) = spatialDistribution(u, c, x, true, {0, 1}, {1, 1});
        (c, d) = spatialDistribution(b, 5, x, true, {0, 1}, {1, 1});
        (q, r) = spatialDistribution({u, time}, {0, 0}, x, true, {0.0, 0.5, 1.0}, {1, 2, 3}); end M;";
    let run = run_text(text, &until(4.0));
    let x = |t: f64| t + (1.0 - (3.0 * t).cos()) / 6.0;
    let u = |t: f64| (-t).exp() * (4.0 * t).cos();
    let entry = |past: f64| {
        let (mut low, mut high) = (0.0, 4.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if x(middle) < past {
                low = middle
            } else {
                high = middle
            }
        }
        0.5 * (low + high)
    };
    for (t, d) in rows(&run, "d") {
        let expected = if x(t) < 2.0 {
            1.0
        } else {
            u(entry(x(t) - 2.0))
        };
        if (x(t) - 2.0).abs() > 1e-4 && (x(t) - 1.0).abs() > 1e-4 {
            near(d, expected, 2e-4);
        }
    }
    for (t, r) in rows(&run, "r[2]") {
        let expected = if x(t) < 1.0 {
            3.0 - 2.0 * x(t)
        } else {
            entry(x(t) - 1.0)
        };
        near(r, expected, 1e-4);
    }
    for (t, r) in rows(&run, "r[1]") {
        if (x(t) - 1.0).abs() > 1e-4 {
            let expected = if x(t) < 1.0 {
                3.0 - 2.0 * x(t)
            } else {
                u(entry(x(t) - 1.0))
            };
            near(r, expected, 1e-4);
        }
    }
}

/// In steps in which fluid passes the pipe many times the outlet is the inlet, nearly.
#[test]
fn a_fast_flow() {
    let text = "model M Real x(start = 0, fixed = true), y(start = 0, fixed = true), a, b; equation der(x) = 1e4;
        (a, b) = spatialDistribution(sin(time), 0, x, true); der(y) = b - y; end M;";
    let run = run_text(text, &until(2.0));
    near(last(&run, "b"), (2.0f64 - 1e-4).sin(), 1e-6);
    // y' = sin(t) - y
    let expected = |t: f64| 0.5 * (t.sin() - t.cos() + (-t).exp());
    near(last(&run, "y"), expected(2.0), 2e-4);
}

#[test]
fn points_must_ascend() {
    let text = "model M Real a, b; equation (a, b) = spatialDistribution(1, 2, time, true, {0.0, 1.5}, {0, 0}); end M;";
    let failure = Model::from_text("Test.mo", text, &Load::default())
        .err()
        .unwrap();
    assert!(failure.to_string().contains("initial-points"), "{failure}");
}
