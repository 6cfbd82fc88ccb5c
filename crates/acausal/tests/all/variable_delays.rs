//! What jumps comes out of a delay that changes when `t - d(t)` reaches the instant of the jump, not when the present delay says so. Each integral of a
//! delayed signal has a closed form between those instants, which are found here by bisection.
#![allow(clippy::unwrap_used)]

use crate::common::{last, near, run_text, values};
use acausal::Settings;

fn until(stop: f64) -> Settings {
    Settings {
        stop,
        interval: stop / 10.0,
        ..Settings::default()
    }
}

/// All t in (0, stop) at which `instant(t) = jump`.
fn instants(instant: impl Fn(f64) -> f64, jump: f64, stop: f64) -> Vec<f64> {
    let n = 100_000;
    let at = |k: usize| stop * k as f64 / n as f64;
    let mut found = Vec::new();
    for k in 0..n {
        let (mut a, mut b) = (at(k), at(k + 1));
        let below = instant(a) < jump;
        if below == (instant(b) < jump) {
            continue;
        }
        for _ in 0..100 {
            let middle = 0.5 * (a + b);
            if (instant(middle) < jump) == below {
                a = middle;
            } else {
                b = middle;
            }
        }
        found.push(b);
    }
    found
}

/// A step at 1 in a delay that shrinks: 5/3 - (1.5 - 0.5*5/3) = 1. By the delay at the jump it would be 2.
#[test]
fn a_step_comes_out_of_a_delay_that_shrinks() {
    let text = "model M Real u, d, x(start = 0, fixed = true); equation
        u = if time < 1 then 0 else 1; d = delay(u, 1.5 - 0.5*time, 2); der(x) = d; end M;";
    let r = run_text(text, &until(2.5));
    near(last(&r, "x"), 2.5 - 5.0 / 3.0, 1e-10);
    let step: Vec<f64> = (r.result.time().iter().zip(values(&r, "d")))
        .filter(|(_, d)| *d == 1.0)
        .map(|(t, _)| *t)
        .collect();
    near(step[0], 5.0 / 3.0, 1e-11);
}

/// The same in one that grows: t - (0.2 + 0.5*t) = 1 at 2.4, and by the delay at the jump 1.7.
#[test]
fn a_step_comes_out_of_a_delay_that_grows() {
    let text = "model M Real u, x(start = 0, fixed = true); equation
        u = if time < 1 then 0 else 1; der(x) = delay(u, 0.2 + 0.5*time, 4); end M;";
    let r = run_text(text, &until(4.0));
    near(last(&r, "x"), 4.0 - 2.4, 1e-10);
}

/// Teeth of a saw, each of which comes out once.
#[test]
fn a_saw_comes_out_of_a_delay_that_swings() {
    let stop = 8.0;
    for (mean, swing, omega) in [(0.5, 0.3, 1.0), (1.0, 0.9, 1.1), (0.2, 0.01, 20.0)] {
        let text = format!(
            "model M Real x(start = 0, fixed = true); equation
               der(x) = delay(time - floor(time), {mean} + {swing}*sin({omega}*time), 3); end M;"
        );
        let settings = Settings {
            tolerance: 1e-9,
            ..until(stop)
        };
        let r = run_text(&text, &settings);
        let instant = |t: f64| t - mean - swing * (omega * t).sin();
        let integral = |t: f64| 0.5 * t * t - mean * t + swing / omega * (omega * t).cos();
        let mut cuts: Vec<f64> = (0..8)
            .flat_map(|k| instants(instant, k as f64, stop))
            .collect();
        // One event where the input jumps and one where that comes out.
        assert!(
            r.summary.events <= cuts.len() as u64 + 8,
            "{}",
            r.summary.events
        );
        cuts.push(stop);
        let mut exact = 0.0;
        for pair in cuts.windows(2) {
            let tooth = instant(0.5 * (pair[0] + pair[1])).floor();
            exact += integral(pair[1]) - integral(pair[0]) - tooth * (pair[1] - pair[0]);
        }
        near(last(&r, "x"), exact, 1e-8);
    }
}

/// Where the delay grows faster than time, a jump goes back in and comes out again.
#[test]
fn a_step_comes_out_several_times() {
    for (mean, swing, omega, jump, times) in [
        (1.0, 0.8, 3.0, 1.0, 3),
        (2.0, 1.5, 4.0, 3.5, 5),
        (2.0, 1.8, 6.0, 4.0, 7),
    ] {
        let stop = 8.0;
        let text = format!(
            "model M Real u, x(start = 0, fixed = true); equation
               u = if time < {jump} then 3 else 5;
               der(x) = delay(u, {mean} + {swing}*sin({omega}*time), 5); end M;"
        );
        let r = run_text(&text, &until(stop));
        let out = instants(|t| t - mean - swing * (omega * t).sin(), jump, stop);
        assert_eq!(out.len(), times);
        let mut exact = 3.0 * out[0];
        for (k, t) in out.iter().enumerate() {
            let next = out.get(k + 1).copied().unwrap_or(stop);
            exact += (if k % 2 == 0 { 5.0 } else { 3.0 }) * (next - t);
        }
        near(last(&r, "x"), exact, 1e-9);
    }
}

/// A delay that depends on a state: z = 1 - exp(-t), and t - 0.3 - 0.4*z = 0.7.
#[test]
fn a_step_comes_out_of_a_delay_by_a_state() {
    let text = "model M Real u, z(start = 0, fixed = true), x(start = 0, fixed = true); equation
        der(z) = 1 - z; u = if time < 0.7 then 0 else 1; der(x) = delay(u, 0.3 + 0.4*z, 2); end M;";
    let settings = Settings {
        tolerance: 1e-9,
        ..until(3.0)
    };
    let r = run_text(text, &settings);
    let out = instants(|t| t - 0.3 - 0.4 * (1.0 - (-t).exp()), 0.7, 3.0);
    near(last(&r, "x"), 3.0 - out[0], 1e-8);
    // By an algebraic unknown of a nonlinear equation, w + w^3 = 2*z.
    let text = "model M Real u, w, z(start = 0, fixed = true), x(start = 0, fixed = true); equation
        der(z) = 1 - z; w + w^3 = 2*z; u = if time < 0.7 then 0 else 1; der(x) = delay(u, 0.3 + 0.4*w, 2); end M;";
    let r = run_text(text, &settings);
    let w = |t: f64| {
        let (z, mut w) = (1.0 - (-t).exp(), 0.5);
        for _ in 0..50 {
            w -= (w + w * w * w - 2.0 * z) / (1.0 + 3.0 * w * w);
        }
        w
    };
    let out = instants(|t| t - 0.3 - 0.4 * w(t), 0.7, 3.0);
    near(last(&r, "x"), 3.0 - out[0], 1e-8);
}

/// A delay that jumps: at 2 it reaches back to before the step, which comes out at 1.5 and again at 1 + 1.5 = 2.5. Smaller, it passes the step at once.
#[test]
fn a_delay_that_jumps_reads_what_it_points_at() {
    let text = "model M Real u, x(start = 0, fixed = true); equation
        u = if time < 1 then 0 else 1;
        der(x) = delay(u, if time < 2 then 0.2 + 0.2*time else 0.25 + 0.5*time, 4); end M;";
    let r = run_text(text, &until(4.0));
    near(last(&r, "x"), (2.0 - 1.5) + (4.0 - 2.5), 1e-9);
    let text = "model M Real u, x(start = 0, fixed = true); equation
        u = if time < 1 then 0 else 1;
        der(x) = delay(u, if time < 2 then time else 0.1*time, 4); end M;";
    let r = run_text(text, &until(4.0));
    near(last(&r, "x"), 2.0, 1e-9);
}

/// Before the start the value at the start holds, also where the delay begins with zero and grows faster than time.
#[test]
fn a_delay_that_grows_from_zero() {
    let text = "model M Real x(start = 0, fixed = true); equation
        der(x) = delay(2 + sin(5*time), 2*time, 10); end M;";
    near(last(&run_text(text, &until(4.0)), "x"), 8.0, 1e-9);
    // Without a delay, a jump comes out at once.
    let text = "model M Real u, x(start = 0, fixed = true); equation
        u = if time < 1 then 0 else 1; der(x) = delay(u, max(0, 0.5 - time), 1); end M;";
    near(last(&run_text(text, &until(3.0)), "x"), 2.0, 1e-9);
}

/// An array of delays of one signal with two steps, 1 at 1 and 3 at 1.5: t = (1 + 0.1*k)/0.75.
#[test]
fn an_array_of_delays() {
    let text =
        "model M parameter Integer n = 4; Real u, x[n](each start = 0, each fixed = true); equation
        u = if time < 1 then 0 elseif time < 1.5 then 1 else 3;
        for k in 1:n loop der(x[k]) = delay(u, 0.1*k + 0.25*time, 4); end for; end M;";
    let r = run_text(text, &until(4.0));
    for k in 1..=4 {
        let out = |jump: f64| (jump + 0.1 * k as f64) / 0.75;
        let exact = (4.0 - out(1.0)) + 2.0 * (4.0 - out(1.5));
        near(last(&r, &format!("x[{k}]")), exact, 1e-9);
    }
}

/// The delay of a delay: both change, and each passes the step on.
#[test]
fn a_delay_of_a_delay() {
    let text = "model M Real u, a, x(start = 0, fixed = true); equation
        u = if time < 1 then 0 else 1; a = delay(u, 1.5 - 0.5*time, 2); der(x) = delay(a, 0.2 + 0.25*time, 2); end M;";
    let r = run_text(text, &until(2.9));
    near(last(&r, "x"), 2.9 - (5.0 / 3.0 + 0.2) / 0.75, 1e-9);
}
