//! Small models of everything that happens at events, each with the value that follows from the text.
#![allow(clippy::unwrap_used)]

use crate::common::{at, last, near, run_text, values};
use acausal::Settings;

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

/// The message of a simulation that must fail.
fn failure(text: &str, settings: &Settings) -> String {
    let model = acausal::Model::from_text("M.mo", text, &acausal::Load::default()).unwrap();
    model.simulate_in_memory(settings).unwrap_err().to_string()
}

/// A ball without a rule for rest: the instants of its bounces accumulate at three times the time of the first fall.
#[test]
fn accumulating_events_end_with_condition_time_and_count() {
    for e in [0.1, 0.5, 0.9] {
        let text = format!(
            "model M Real h(start = 1, fixed = true), v(start = 0, fixed = true); equation
             der(h) = v; der(v) = -10; when h <= 0 then reinit(v, -{e}*pre(v)); end when; end M;"
        );
        let message = failure(&text, &until(20.0));
        let limit = (0.2f64).sqrt() * (1.0 + 2.0 * e / (1.0 - e));
        for part in ["accumulating-events", "`h <= 0`", "changes so far"] {
            assert!(message.contains(part), "{part} in {message}");
        }
        let named = message.split("accumulate at time = ").nth(1).unwrap();
        near(
            named.split(':').next().unwrap().parse().unwrap(),
            limit,
            1e-4,
        );
    }
}

/// Both sides of the threshold lead back to it: a sliding mode.
#[test]
fn a_sliding_mode_ends_with_condition_time_and_count() {
    let text = "model M Real x(start = 0.5, fixed = true); equation
        der(x) = if x > 0 then -1 else 1; end M;";
    let message = failure(text, &until(2.0));
    for part in ["chattering", "`x > 0`", "1001 times", "time = 0.5"] {
        assert!(message.contains(part), "{part} in {message}");
    }
}

/// A relation may oscillate as fast as it likes: rising edges of `sin(w*time)` in 5000 periods and a part of the next one. (From 1e7 on 4062 were counted.) The second model counts from an
/// instant inside of a period on, where another event had begun: the period behind it was skipped.
#[test]
fn fast_oscillations_are_counted_exactly() {
    for w in [1e3, 1e5, 1e7, 1e9, 1e11] {
        let stop = (10_000.0 * std::f64::consts::PI + 1.7) / w;
        let half = 0.5 * stop;
        let plain = format!("sin({w}*time) > 0");
        let gated = format!("sin({w}*(time - {half})) > 0 and time > {}", half + 0.5 / w);
        for (condition, edges) in [(plain, 5001.0), (gated, 2501.0)] {
            let text = format!(
                "model M Integer n(start = 0, fixed = true); equation
                 when {condition} then n = pre(n) + 1; end when; end M;"
            );
            let r = run_text(&text, &until(stop));
            assert_eq!(last(&r, "n"), edges, "{condition}");
        }
    }
}

/// Five thousand changes in a ten-millionth of the simulated time are no standstill if each of them leaves its threshold: a sine, and a sawtooth of a nanometre.
#[test]
fn fast_regular_changes_are_no_chattering() {
    for model in [
        "equation when sin(1e11*time) > 0 then n = pre(n) + 1; end when;",
        "Real x(start = 0, fixed = true); equation der(x) = 10; when x > 1e-9 then reinit(x, 0); n = pre(n) + 1; end when;",
    ] {
        let text = format!(
            "model M Integer n(start = 0, fixed = true); {model} when n >= 5000 then terminate(\"\"); end when; end M;"
        );
        let r = run_text(&text, &until(1.0));
        assert_eq!(last(&r, "n"), 5000.0, "{model}");
    }
}

/// Discrete equations that contradict themselves; the grammar follows the number.
#[test]
fn what_does_not_settle_is_named() {
    let message = failure(
        "model M Boolean b(start = false, fixed = true), c; Real x(start = 0, fixed = true); equation
         der(x) = 1; c = x > 0.5; b = if c then not pre(b) else false; end M;",
        &until(1.0),
    );
    for part in ["event-iteration", "time = 0.5", "`b` keeps changing"] {
        assert!(message.contains(part), "{part} in {message}");
    }
}

/// `sample` is true at its instants only, also where a variable takes its value.
#[test]
fn a_variable_that_samples() {
    let text = "model M Boolean b; Integer n(start = 0, fixed = true); equation
        b = sample(0.1, 0.2); when b then n = pre(n) + 1; end when; end M;";
    let r = run_text(text, &until(1.0));
    assert_eq!(last(&r, "n"), 5.0);
    assert_eq!(at(&r, "b", 0.2), 0.0);
}

/// Clauses that read what others assign in the same instant, and the order of priority.
#[test]
fn clauses_depend_on_each_other() {
    let text = "model M Integer a(start = 0, fixed = true), b(start = 0, fixed = true), c(start = 0, fixed = true);
        equation
        when b > 2 then c = b + 1; end when;
        when a > pre(a) then b = a + 1; end when;
        when time > 0.75 then a = 30; elsewhen time > 0.5 then a = 20; elsewhen {time > 0.25, time > 0.5} then a = 10;
        end when; end M;";
    let r = run_text(text, &until(1.0));
    for (t, a) in [(0.2, 0.0), (0.4, 10.0), (0.6, 20.0), (0.9, 30.0)] {
        assert_eq!(at(&r, "a", t), a, "at {t}");
    }
    for (t, b) in [(0.4, 11.0), (0.6, 21.0), (0.9, 31.0)] {
        assert_eq!(at(&r, "b", t), b, "at {t}");
    }
    assert_eq!(last(&r, "c"), 12.0);
}

/// Two conditions that change at the same instant are handled together.
#[test]
fn simultaneous_events() {
    let text = "model M Real x(start = 0, fixed = true), y(start = 1, fixed = true);
        Integer n(start = 0, fixed = true); equation
        der(x) = 1; der(y) = -1;
        when {x > 0.5, y < 0.5} then n = pre(n) + 1; end when; end M;";
    let r = run_text(text, &until(1.0));
    assert_eq!(last(&r, "n"), 1.0);
    assert_eq!(r.summary.events, 1);
}

/// Time events are hit exactly, far from zero too.
#[test]
fn time_events_are_exact() {
    let text = "model M discrete Real t(start = 0, fixed = true); equation
        when sample(1000, 0.1) then t = time; end when; end M;";
    let settings = Settings {
        start: 1000.0,
        stop: 1001.0,
        interval: 0.5,
        ..Settings::default()
    };
    let r = run_text(text, &settings);
    let expected: Vec<f64> = (0..=10).map(|k| 1000.0 + f64::from(k) * 0.1).collect();
    let mut seen = values(&r, "t").to_vec();
    seen.dedup();
    assert_eq!(seen[seen.len() - 11..], expected[..]);
}

/// `terminal()` is true in one last event.
#[test]
fn terminal_is_an_event() {
    let text = "model M Real x(start = 0, fixed = true); discrete Real e(start = -1, fixed = true); equation
        der(x) = 2; when terminal() then e = x; end when; end M;";
    let r = run_text(text, &until(3.0));
    near(last(&r, "e"), 6.0, 1e-6);
}

/// A jump comes out of a delay as a jump, at its instant.
#[test]
fn a_jump_comes_out_of_a_delay() {
    let text = "model M Real u, d, x(start = 0, fixed = true); equation
        u = if time < 0.3 then 0 else 1; d = delay(u, 0.21); der(x) = d; end M;";
    let r = run_text(text, &until(1.0));
    near(last(&r, "x"), 1.0 - 0.51, 1e-9);
    near(at(&r, "d", 0.5), 0.0, 1e-12);
    near(at(&r, "d", 0.52), 1.0, 1e-12);
}

/// A relation that is exactly on its threshold at the start takes part in the motion from there.
#[test]
fn a_relation_on_its_threshold_at_the_start() {
    let text = "model M Real x(start = 0, fixed = true); Integer n(start = 0, fixed = true); Real y; equation
        der(x) = cos(time); y = if x > 0 then 1 else -1;
        when x > 0 then n = pre(n) + 1; end when; end M;";
    let r = run_text(text, &until(10.0));
    // sin(t) > 0 in (0, pi), (2 pi, 3 pi).
    for (t, y) in [(1.0, 1.0), (4.0, -1.0), (7.0, 1.0), (9.6, -1.0)] {
        near(at(&r, "y", t), y, 1e-12);
    }
    assert_eq!(last(&r, "n"), 2.0);
}

/// Connections of discrete signals have no direction: each one determines the side that nothing else determines.
#[test]
fn discrete_connections_have_no_direction() {
    let text = "model M Real x(start = 0, fixed = true); Boolean a, b, c, d[3], e; Integer n[2], m; equation
        der(x) = 1; a = b; e = d[3]; d[1] = a; d[2] = d[1]; b = x > 0.5; c = d[2]; c = d[3];
        n[1] = m; m = if e then 7 else 3; n[2] = n[1] + 1; end M;";
    let r = run_text(text, &until(1.0));
    for name in ["a", "b", "c", "d[1]", "d[2]", "d[3]", "e"] {
        assert_eq!((at(&r, name, 0.4), at(&r, name, 0.6)), (0.0, 1.0), "{name}");
    }
    assert_eq!((at(&r, "n[2]", 0.4), at(&r, "n[2]", 0.6)), (4.0, 8.0));
}

/// Values of a clocked variable at instants.
fn clocked(text: &str, stop: f64, expected: &[(&str, f64, f64)]) {
    let r = run_text(text, &until(stop));
    for &(name, t, value) in expected {
        near(at(&r, name, t), value, 1e-9);
    }
}

/// `sample` is the left limit, `previous` the value at the tick before, `hold` the last value.
#[test]
fn clocks_sample_and_hold() {
    clocked(
        "model M Real u = 10*time; Real y, s(start = 0), h; Integer n(start = 0); equation y = sample(u, Clock(0.1));
         s = previous(s) + y; n = previous(n) + (if y < 0 then 0 else 1); h = hold(s); end M;",
        0.5,
        &[
            ("y", 0.15, 1.0),
            ("y", 0.35, 3.0),
            ("s", 0.05, 0.0),
            ("s", 0.35, 6.0),
            ("h", 0.35, 6.0),
            ("n", 0.05, 1.0),
            ("n", 0.45, 5.0),
        ],
    );
}

/// Feedback through a sampled controller: x' = u, u = hold(-k*sample(x)), so that x(n+1) = (1 - k*T)*x(n).
#[test]
fn clocks_in_a_control_loop() {
    let text = "model M Real x(start = 1, fixed = true), u, y(start = 0), e; Clock c = Clock(1, 10); equation der(x) = u;
        e = sample(x, c); y = -5*e; u = hold(y); end M;";
    let r = run_text(text, &until(1.0));
    for n in 1..10 {
        near(at(&r, "x", 0.1 * n as f64), 0.5_f64.powi(n), 1e-6);
    }
}

/// Derived clocks tick at common instants; what is faster reads the last value of what is slower.
#[test]
fn clocks_of_other_rates() {
    let text = "model M Integer n(start = 0), sub, super, shift(start = -1), back(start = -1), count(start = 0); equation
        when Clock(0.1) then n = previous(n) + 1; end when; sub = subSample(n, 3); super = superSample(n, 2);
        count = previous(count) + (if super > 0 then 1 else 0); shift = shiftSample(n, 1, 2); back = backSample(shift, 1, 2); end M;";
    clocked(
        text,
        1.0,
        &[
            ("n", 0.05, 1.0),
            ("n", 0.95, 10.0),
            // The ticks of n are at 0, 0.1, ..; every third one is at 0, 0.3, 0.6.
            ("sub", 0.25, 1.0),
            ("sub", 0.35, 4.0),
            ("sub", 0.65, 7.0),
            ("super", 0.35, 4.0),
            // Twice as fast: ticks at 0, 0.05, 0.1: 7 ticks until 0.32.
            ("count", 0.32, 7.0),
            ("shift", 0.04, -1.0),
            ("shift", 0.06, 1.0),
            ("shift", 0.14, 1.0),
            ("shift", 0.16, 2.0),
            // Back on the ticks of n: the last value of shift.
            ("back", 0.12, 1.0),
        ],
    );
}

/// A clock with a condition ticks when it becomes true; `interval` is the time since the tick before.
#[test]
fn clocks_with_a_condition() {
    clocked(
        "model M Boolean b = sin(2*3.14159265358979*time) > 0.0 and time > 0.6; Integer n(start = 0); Real d; Boolean f; equation
         when Clock(b, 0.25) then n = previous(n) + 1; d = interval(n); f = firstTick(n); end when; end M;",
        4.0,
        &[
            ("n", 0.9, 0.0),
            ("n", 1.1, 1.0),
            ("n", 3.1, 3.0),
            ("d", 1.1, 0.25),
            ("d", 2.1, 1.0),
            ("f", 1.1, 1.0),
            ("f", 2.1, 0.0),
        ],
    );
}

/// The factor of `subSample` follows from the clocks of both sides; connected clocks are one.
#[test]
fn clocks_are_inferred() {
    let text = "model M block Every Clock c; parameter Real p; equation c = Clock(p); end Every; Every a(p = 0.2);
        Clock c; Real y(start = 0), z, T; Integer k(start = 0); equation c = subSample(a.c, 2); y = sample(time, a.c);
        z = subSample(y); T = interval(k); when c then k = previous(k) + (if z < 0 then 0 else 1); end when; end M;";
    clocked(
        text,
        1.0,
        &[
            ("y", 0.3, 0.2),
            ("z", 0.7, 0.4),
            ("k", 0.7, 2.0),
            ("T", 0.7, 0.4),
        ],
    );
}

/// What clocks cannot do is said at the equation.
#[test]
fn clocks_that_do_not_fit() {
    for (text, said) in [
        (
            "Real y; equation y = sample(time);",
            "no clock can be found",
        ),
        (
            "Real y; equation y = sample(time, Clock(0.1)) + sample(time, Clock(0.2));",
            "two different clocks",
        ),
        (
            "Real x, y; equation der(x) = y; y = sample(time, Clock(0.1));",
            "derivatives in clocked equations are not supported",
        ),
        (
            "Real u = time, y, z; equation y = sample(u, Clock(0.1)); z = hold(y) + y;",
            "both clocked and continuous",
        ),
        (
            "Real y, z; equation y = sample(time, Clock(time > 1)); z = superSample(y, 2);",
            "cannot be divided further",
        ),
        (
            "Real y, z; equation y = sample(time, Clock(1)); z = backSample(y, 1, 2);",
            "before the first one",
        ),
        (
            "Real u, v, w, y, z; equation u = sample(time, Clock(1)); v = superSample(u, 2147483647); w = superSample(v, 2147483629);
             y = superSample(w, 2147483587); z = hold(y);",
            "no common grid",
        ),
    ] {
        let text = format!("model M {text} end M;");
        let failed = acausal::Model::from_text("M.mo", &text, &acausal::Load::default());
        let messages = failed.map(|_| ()).unwrap_err().to_string();
        assert!(messages.contains(said), "{text}\n{messages}");
    }
}

/// A relation of an acceleration that is solved for together with a force: the derivatives of the integrator's polynomial
/// are wrong by the step size, and must not make events. x = cos(t), the acceleration -x changes its sign at odd
/// multiples of pi/2.
#[test]
fn a_relation_of_an_acceleration_changes_once_per_crossing() {
    let text = "model M Real x(start = 1, fixed = true), v(start = 0, fixed = true), a, f;
        Boolean forward = a > 0; discrete Real t1(start = 0, fixed = true);
        equation der(x) = v; a = der(v); a = f - 2*x; f = x*(1 + 0.1*(a + x)^2);
        when forward then t1 = time; end when; end M;";
    let r = run_text(text, &until(7.0));
    assert_eq!(r.summary.events, 2);
    near(last(&r, "t1"), std::f64::consts::FRAC_PI_2, 1e-4);
}

/// Dry friction as the library writes it, with the path parameter `sa`: a mass under a growing force sticks until the
/// force is 2, then slides against 1.5: v' = t - 1.5 from t = 2 on.
#[test]
fn friction_sticks_and_slides() {
    let text = "model M
      Real v(start = 0, fixed = true), a, sa, f, tau0 = 1.5, peak = 2;
      Boolean startForward(start = false, fixed = true), locked(start = false);
      Integer mode(start = 3, fixed = true);
    equation
      a = der(v);
      a = time - f;
      startForward = pre(mode) == 0 and (sa > peak or pre(startForward) and sa > tau0) or initial() and v > 0;
      locked = not (pre(mode) == 1 or startForward);
      a = if locked then 0 else if startForward then sa - peak else sa - peak;
      f = if locked then sa else tau0;
      mode = if (pre(mode) == 1 or startForward) and v > 0 then 1 else 0;
    end M;";
    let r = run_text(text, &until(4.0));
    for (t, v) in [(1.0, 0.0), (2.0, 0.0), (3.0, 1.0), (4.0, 3.0)] {
        near(at(&r, "v", t), v, 1e-4);
    }
    assert!(r.summary.events < 10, "{}", r.summary.events);
}

/// Both sides of a relation are zero up to rounding: nothing happens.
#[test]
fn rounding_errors_are_no_events() {
    let text = "model M Real x(start = 0.1, fixed = true), y(start = 0.3, fixed = true), s; Integer n(start = 0, fixed = true);
        equation der(x) = x; der(y) = y; s = (y + x) - (x + y) + (3*x - y)*1e-3;
        when s > 0 then n = pre(n) + 1; end when; end M;";
    let r = run_text(text, &until(3.0));
    assert!(last(&r, "n") <= 1.0 && r.summary.events <= 2);
}

/// A whole number stays one in a delay: `integer(delay(n, d))` follows n exactly, d later.
#[test]
fn a_delayed_integer() {
    let text = "model M Integer n(start = 1, fixed = true), m; Real r = n;
        equation when sample(0.3, 0.3) then n = pre(n) + 1; end when;
        m = integer(delay(r, 0.1)); end M;";
    let r = run_text(text, &until(2.0));
    for (t, m) in [
        (0.2, 1.0),
        (0.38, 1.0),
        (0.42, 2.0),
        (0.98, 3.0),
        (1.02, 4.0),
        (2.0, 7.0),
    ] {
        near(at(&r, "m", t), m, 0.0);
    }
    assert!(r.summary.events < 20, "{}", r.summary.events);
}

/// A line without losses, matched at its end: what goes in comes out one delay later, a bend included.
#[test]
fn a_matched_line_delays() {
    let text = "model Line Real v1, v2, i1, i2, es, er; parameter Real Z = 50, T = 0.25;
        equation v1 = (if time < 0.5 then 0 else time - 0.5) - 50*i1; v2 = -50*i2;
        v1 = Z*i1 + es; v2 = Z*i2 + er;
        es = 2*delay(v2, T) - delay(er, T); er = 2*delay(v1, T) - delay(es, T); end Line;";
    let r = run_text(text, &until(2.0));
    for t in [0.7, 1.0, 1.5, 2.0] {
        near(at(&r, "v2", t), 0.5 * (t - 0.75f64).max(0.0), 1e-5);
    }
}

/// An amplifier with limits and positive feedback, without events: its output jumps where the solution that was followed
/// ends, at inputs of 5.0 upwards and -5.0 downwards (a third of the limits and the linear range).
#[test]
fn a_schmitt_trigger_without_events_switches() {
    let text = "model Trigger Real u, y, d(start = 5); parameter Real g = 1e4;
        equation u = 8*sin(time); d = y/3 - u;
        y = smooth(0, noEvent(if g*d > 15 then 15 else if g*d < -15 then -15 else g*d)); end Trigger;";
    let r = run_text(text, &until(9.0));
    let switches = [(0.625f64).asin(), std::f64::consts::PI + (0.625f64).asin()];
    for (k, t) in switches.into_iter().enumerate() {
        let after = if k == 0 { -15.0 } else { 15.0 };
        near(at(&r, "y", t - 0.05), -after, 1e-6);
        near(at(&r, "y", t + 0.05), after, 1e-6);
    }
    // It is said once.
    let said = r.summary.warnings.iter();
    assert_eq!(said.filter(|w| w.contains("solution ends")).count(), 1);
}

/// The same amplifier with negative feedback: the narrow linear range is found from everywhere, and small currents are
/// solved for as they must be. y = 2 u.
#[test]
fn an_amplifier_with_limits_is_linear_inside() {
    let text = "model Amplifier Real u, y, d, i, x(start = 0, fixed = true); parameter Real g = 15000, R = 1e6;
        equation u = 5*cos(3*time); d = u - R*i; y - R*i = R*i; der(x) = y;
        y = smooth(0, noEvent(if g*d > 15 then 15 else if g*d < -15 then -15 else g*d)); end Amplifier;";
    let r = run_text(text, &until(3.0));
    for t in [0.0, 0.6, 1.5, 2.4, 3.0] {
        near(
            at(&r, "y", t),
            10.0 * (3.0 * t).cos() / (1.0 + 2.0 / 15000.0),
            1e-4,
        );
    }
}

/// Relations of `time` change at instants that are known in advance; the integrator watches the others only, however many there are.
#[test]
fn relations_of_time_have_no_indicators() {
    let text = "model M constant Integer N = 1000; Boolean b[N], high = x > 0.5; Real x(start = 0, fixed = true);
      equation for i in 1:N loop b[i] = time > i/N; end for; der(x) = if b[500] then 1 else 0; end M;";
    let model = acausal::Model::from_text("Test.mo", text, &acausal::Load::default());
    let compiled = model.unwrap().compiled;
    let machine =
        acausal_runtime::Machine::new(compiled, &*acausal_jit::default_backend()).unwrap();
    assert_eq!(acausal_solver::Events::indicators_len(&machine), 1);
    let run = run_text(text, &until(2.0));
    // x = time - 0.5 from t = 0.5 on: 1,000 instants, and the crossing at t = 1, which is one of them.
    near(last(&run, "x"), 1.5, 1e-6);
    assert_eq!(at(&run, "high", 1.5), 1.0);
}
