//! Arrays of which `when` assigns some elements: these are discrete, the others are what their equations say.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::{at, near, run_text, values};
use acausal::{InMemory, Load, Model, Settings};

fn settings() -> Settings {
    Settings {
        stop: 1.0,
        interval: 0.05,
        ..Settings::default()
    }
}

/// A signal at every row, but those at and beside events.
#[track_caller]
fn follows(run: &InMemory, name: &str, expected: impl Fn(f64) -> f64) {
    let times = values(run, "time");
    let events: Vec<f64> = times
        .windows(2)
        .filter(|w| w[0] == w[1])
        .map(|w| w[0])
        .collect();
    let beside = |t: f64| events.iter().any(|e| (e - t).abs() < 1e-9);
    for (k, v) in values(run, name).iter().enumerate() {
        if !beside(times[k]) {
            near(*v, expected(times[k]), 1e-5);
        }
    }
}

#[test]
fn one_element_of_a_vector() {
    let text = "model M Real v[2]; equation when time > 0.5 then v[1] = 3; end when; v[2] = sin(time); end M;";
    let run = run_text(text, &settings());
    follows(&run, "v[1]", |t| if t < 0.5 { 0.0 } else { 3.0 });
    follows(&run, "v[2]", f64::sin);
}

/// A loop in `when` over elements with a step, the rest algebraic and states; a parameter decides the size.
#[test]
fn a_part_with_a_step() {
    let text = "model M parameter Integer n = 7; Real v[n](each start = 1, each fixed = true); Real y; equation
        when sample(0.25, 0.5) then for i in 2:2:n loop v[i] = pre(v[i]) + i; end for; end when;
        for i in 1:2:n loop der(v[i]) = -i*v[i]; end for;
        y = sum(v); end M;";
    let run = run_text(text, &settings());
    let ticks = |t: f64| f64::from(u8::from(t > 0.25)) + f64::from(u8::from(t > 0.75));
    for i in 1..=7 {
        let name = format!("v[{i}]");
        let n = f64::from(i);
        match i % 2 {
            0 => follows(&run, &name, |t| 1.0 + n * ticks(t)),
            _ => follows(&run, &name, |t| (-n * t).exp()),
        }
    }
    follows(&run, "y", |t| {
        let decays: f64 = [1.0f64, 3.0, 5.0, 7.0].iter().map(|n| (-n * t).exp()).sum();
        decays + 3.0 + 12.0 * ticks(t)
    });
}

/// Of an array of components one is discrete by a modification.
#[test]
fn one_of_several_components() {
    let text = "model M
        model C parameter Boolean sampled = false; input Real u; Real d(start = 0);
        equation if sampled then when sample(0.25, 0.25) then d = u; end when; else d = u; end if; end C;
        C c[3](sampled = {false, true, false}, each u = time^2); Real held; Boolean above;
        equation held = pre(c[2].d); above = c[2].d > 0.2; end M;";
    let run = run_text(text, &settings());
    let held = |t: f64| ((t / 0.25).floor() * 0.25).powi(2);
    for k in [1, 3] {
        follows(&run, &format!("c[{k}].d"), |t| t * t);
    }
    follows(&run, "c[2].d", held);
    follows(&run, "held", held);
    assert_eq!(
        [at(&run, "above", 0.45), at(&run, "above", 0.55)],
        [0.0, 1.0]
    );
}

/// Integers and Booleans: some by `when`, some by equations, in any order.
#[test]
fn integers_and_booleans() {
    let text = "model M Integer k[3](each start = 0, each fixed = true); Boolean b[3](each start = false, each fixed = true);
        Real x = time; equation
        when time > 0.5 then k[1] = 3; b[2] = true; end when;
        k[3] = if x > 0.25 then k[1] + k[2] else 0; k[2] = integer(3*x);
        b[1] = x > 0.3; b[3] = b[2] and x > 0.7; end M;";
    let run = run_text(text, &settings());
    let step = |t: f64, at: f64| f64::from(u8::from(t > at));
    let k2 = |t: f64| (3.0 * t + 1e-9).floor();
    follows(&run, "k[1]", |t| 3.0 * step(t, 0.5));
    follows(&run, "k[2]", k2);
    follows(&run, "k[3]", |t| {
        step(t, 0.25) * (3.0 * step(t, 0.5) + k2(t))
    });
    follows(&run, "b[1]", |t| step(t, 0.3));
    follows(&run, "b[3]", |t| step(t, 0.7));
}

/// Algorithms name elements; the diagonal of a matrix is no box.
#[test]
fn algorithms_and_diagonals() {
    let text = "model M Real a[2, 2](each start = 0); Real w[3](each start = 0); algorithm
        when time > 0.5 then w[2] := 5*time; end when;
        equation w[1] = time; w[3] = 2*w[1]; when time > 0.25 then for i in 1:2 loop a[i, i] = i; end for; end when;
        a[1, 2] = cos(time); a[2, 1] = a[1, 2] + a[2, 2]; end M;";
    let run = run_text(text, &settings());
    follows(&run, "w[1]", |t| t);
    follows(&run, "w[2]", |t| if t < 0.5 { 0.0 } else { 2.5 });
    follows(&run, "w[3]", |t| 2.0 * t);
    follows(&run, "a[1,1]", |t| if t < 0.25 { 0.0 } else { 1.0 });
    follows(&run, "a[1,2]", f64::cos);
    follows(&run, "a[2,1]", |t| {
        t.cos() + if t < 0.25 { 0.0 } else { 2.0 }
    });
}

#[track_caller]
fn refused(text: &str) -> String {
    match Model::from_text("Test.mo", text, &Load::default()) {
        Ok(_) => panic!("it is accepted"),
        Err(failure) => failure.to_string(),
    }
}

#[test]
fn what_is_wrong_stays_wrong() {
    let both = "model M Real v[2]; equation when time > 0.5 then v[1] = 3; end when; v[1] = 2; v[2] = 1; end M;";
    assert!(refused(both).contains("too many"), "{}", refused(both));
    let pre = "model M Real v[2], y; equation when time > 0.5 then v[1] = 3; end when; v[2] = time; y = pre(v[2]); end M;";
    assert!(
        refused(pre).contains("pre-of-continuous"),
        "{}",
        refused(pre)
    );
    let declared = "model M discrete Real v[2]; equation when time > 0.5 then v[1] = 3; end when; v[2] = time; end M;";
    assert!(
        refused(declared).contains("variability"),
        "{}",
        refused(declared)
    );
}
