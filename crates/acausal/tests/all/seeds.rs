//! The examples of the literature the compiler is built on, against their closed solutions to six digits.
//!
//! Mattsson 1986, example 3.1; Cellier & Kofman 2006, (7.1), (7.5) and homework H7.1 to H7.4.
#![allow(clippy::unwrap_used)]

use crate::common::{at, digits, last, run_with};

/// Output instants that hit the tabulated times.
fn every(interval: f64) -> impl Fn(&mut acausal::Settings) {
    move |s| {
        s.tolerance = 1e-8;
        s.interval = interval;
    }
}

#[test]
fn slip_coupling() {
    let r = run_with("seeds/M_4_2_Slip.mo", &[], every(0.1));
    for (t, w1, w2, q) in [
        (0.1, 0.5169350290, 2.8661299420, 7.0475847388),
        (0.5, 1.1918011775, 1.1163976450, -0.2262105977),
        (1.0, 1.1683159682, 0.6633680636, -1.5148437140),
        (2.0, 0.8516644518, 0.2966710964, -1.6649800660),
    ] {
        digits(at(&r, "w1", t), w1, 6);
        digits(at(&r, "w2", t), w2, 6);
        digits(at(&r, "Qr1", t), q, 6);
        digits(at(&r, "Ql2", t), -q, 6);
    }
}

#[test]
fn rlc_without_loops() {
    let r = run_with("seeds/CK_5_1_RLC.mo", &[], every(0.05));
    for (t, u) in [
        (0.05, 2.0445562188),
        (0.1, 3.3924107490),
        (0.2, 4.8667463830),
    ] {
        digits(at(&r, "uC", t), u, 6);
        digits(at(&r, "iL", t), 20.0 * t, 6);
        digits(at(&r, "uL", t), 10.0, 6);
    }
    digits(at(&r, "i0", 0.1), 5.3037946255, 6);
    digits(at(&r, "iC", 0.1), 2.1729910425, 6);
}

#[test]
fn loop_of_six_equations() {
    let r = run_with("seeds/CK_5_2_ResistorLoop.mo", &[], every(0.5));
    for t in [0.0, 0.5, 1.0] {
        digits(at(&r, "i3", t), 20.0 / 11.0, 6);
        digits(at(&r, "u3", t), 60.0 / 11.0, 6);
        digits(at(&r, "u2", t), 60.0 / 11.0, 6);
        digits(at(&r, "i1", t), 50.0 / 11.0, 6);
        digits(at(&r, "i2", t), 30.0 / 11.0, 6);
        digits(at(&r, "uL", t), 10.0, 6);
    }
    digits(last(&r, "iL"), 20.0, 6);
}

#[test]
fn controlled_source() {
    let r = run_with("seeds/CK_H7_1_Circuit.mo", &[], every(1e-6));
    for (t, u3, ic) in [
        (1e-6, 0.8146863497, 0.065714579855),
        (5e-6, 2.2170425627, 0.018628294773),
        (1e-5, 2.8839167646, 0.010628517641),
        (2e-5, 3.7946464353, 0.008043709659),
        (5e-5, 5.5673999004, 0.004193011570),
    ] {
        digits(at(&r, "u3", t), u3, 6);
        digits(at(&r, "iC", t), ic, 6);
    }
    digits(at(&r, "iL", 5e-5), 0.182563006588, 6);
}

#[test]
fn nonlinear_equations_one_after_another() {
    let r = run_with("seeds/CK_H7_2_Nonlinear.mo", &[], every(0.5));
    for (name, value) in [("x1", 2.0), ("x2", 1.0), ("x3", 3.0)] {
        digits(last(&r, name), value, 8);
    }
}

#[test]
fn branching_pipe() {
    let r = run_with("seeds/CK_H7_3_Pipes.mo", &[], every(0.5));
    digits(last(&r, "p1"), 3.0, 8);
    // Each pressure drop is 2, so the flows are k times its root.
    for (name, k) in [("q1", 3.0), ("q2", 1.0), ("q3", 2.0)] {
        digits(last(&r, name), k * 2f64.sqrt(), 8);
    }
}

#[test]
fn linear_equations() {
    let r = run_with("seeds/CK_H7_4_Linear.mo", &[], every(0.5));
    for (name, value) in [("x[1]", 1.0), ("x[2]", 2.0), ("x[3]", 3.0)] {
        digits(last(&r, name), value, 10);
    }
}
