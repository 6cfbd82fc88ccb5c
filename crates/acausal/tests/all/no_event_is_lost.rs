//! No event is lost: random piecewise dynamics against a brute-force integration with small steps.
//!
//! A damped oscillator whose stiffness, damping and drive change with relations of its position, its speed and a sine of
//! time. The model counts how often each relation becomes true. The oracle integrates the same equations with a thousand
//! steps per unit of time by the classical Runge-Kutta method, bisecting every step in which a relation changes. Cases in
//! which a relation nearly touches its threshold are left out: there the count depends on rounding.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::last;
use acausal::{Load, Model, Settings};

const MODEL: &str = "model Switched
  parameter Real a = 0; parameter Real b = 0; parameter Real s = 0; parameter Real c = 1;
  parameter Real k1 = 1; parameter Real k2 = 1; parameter Real d1 = 0; parameter Real d2 = 0;
  parameter Real p = 0; parameter Real q = 0; parameter Real x0 = 1;
  Real x(start = x0, fixed = true); Real v(start = 0, fixed = true);
  Integer nx(start = 0, fixed = true); Integer nv(start = 0, fixed = true); Integer ns(start = 0, fixed = true);
  Integer nb(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -(if x > a then k1 else k2)*x - (if v > b then d1 else d2)*v + (if sin(c*time) > s then p else q);
  when x > a then nx = pre(nx) + 1; end when;
  when v > b then nv = pre(nv) + 1; end when;
  when sin(c*time) > s then ns = pre(ns) + 1; end when;
  when x*x + v*v < b*b + 0.1 then nb = pre(nb) + 1; end when;
end Switched;";

const STOP: f64 = 12.0;
const STEP: f64 = 1e-3;

/// A small generator, so that the cases are the same everywhere.
struct Random(u64);

impl Random {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        low + (high - low) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }
}

#[derive(Clone, Copy, Debug)]
struct Case {
    a: f64,
    b: f64,
    s: f64,
    c: f64,
    k: [f64; 2],
    d: [f64; 2],
    p: f64,
    q: f64,
    x0: f64,
}

impl Case {
    fn random(r: &mut Random) -> Case {
        Case {
            a: r.between(-1.5, 1.5),
            b: r.between(-1.5, 1.5),
            s: r.between(-0.999, 0.999),
            c: r.between(0.5, 6.0),
            k: [r.between(0.5, 9.0), r.between(0.5, 9.0)],
            d: [r.between(0.0, 0.4), r.between(0.0, 0.4)],
            p: r.between(-1.0, 1.0),
            q: r.between(-1.0, 1.0),
            x0: r.between(-2.0, 2.0),
        }
    }

    fn set(&self) -> Vec<String> {
        let pairs = [
            ("a", self.a),
            ("b", self.b),
            ("s", self.s),
            ("c", self.c),
            ("k1", self.k[0]),
            ("k2", self.k[1]),
            ("d1", self.d[0]),
            ("d2", self.d[1]),
            ("p", self.p),
            ("q", self.q),
            ("x0", self.x0),
        ];
        pairs.map(|(n, v)| format!("{n}={v:?}")).to_vec()
    }

    /// Distances of the four relations from their thresholds; positive when true.
    fn gaps(&self, t: f64, y: [f64; 2]) -> [f64; 4] {
        let [x, v] = y;
        [
            x - self.a,
            v - self.b,
            (self.c * t).sin() - self.s,
            self.b * self.b + 0.1 - x * x - v * v,
        ]
    }

    fn slope(&self, y: [f64; 2], on: [bool; 4]) -> [f64; 2] {
        let [x, v] = y;
        let pick = |i: usize, pair: [f64; 2]| if on[i] { pair[0] } else { pair[1] };
        let drive = pick(2, [self.p, self.q]);
        [v, -pick(0, self.k) * x - pick(1, self.d) * v + drive]
    }

    fn step(&self, y: [f64; 2], h: f64, on: [bool; 4]) -> [f64; 2] {
        let along = |y: [f64; 2], k: [f64; 2], h: f64| [y[0] + h * k[0], y[1] + h * k[1]];
        let k1 = self.slope(y, on);
        let k2 = self.slope(along(y, k1, h / 2.0), on);
        let k3 = self.slope(along(y, k2, h / 2.0), on);
        let k4 = self.slope(along(y, k3, h), on);
        [0, 1].map(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
    }

    /// Counts and final state by brute force, and how near a relation came to touching its threshold.
    fn brute_force(&self) -> ([u64; 4], [f64; 2], f64) {
        let (mut t, mut y) = (0.0, [self.x0, 0.0]);
        let mut g = self.gaps(t, y);
        let mut on = g.map(|g| g > 0.0);
        let mut counts = [0; 4];
        let mut touch = g.iter().fold(f64::INFINITY, |m, g| m.min(g.abs()));
        let mut before = g;
        let mut switches = 0;
        while t < STOP {
            let mut h = STEP.min(STOP - t);
            let truth = |h: f64| self.gaps(t + h, self.step(y, h, on)).map(|g| g > 0.0);
            if truth(h) != on {
                let (mut low, mut high) = (0.0, h);
                while high - low > 1e-13 {
                    let mid = 0.5 * (low + high);
                    if truth(mid) == on {
                        low = mid
                    } else {
                        high = mid
                    }
                }
                h = high;
                switches += 1;
                if switches > 1000 {
                    // A sliding mode: there is no count.
                    return (counts, y, 0.0);
                }
            }
            (y, t) = (self.step(y, h, on), t + h);
            let next = self.gaps(t, y);
            for i in 0..4 {
                // An extremum of a distance: how near was it?
                if (g[i] - before[i]) * (next[i] - g[i]) < 0.0 {
                    touch = touch.min(g[i].abs());
                }
                let now = next[i] > 0.0;
                counts[i] += u64::from(now && !on[i]);
                on[i] = now;
            }
            (before, g) = (g, next);
        }
        (counts, y, touch)
    }
}

#[test]
fn random_piecewise_dynamics() {
    let mut random = Random(7);
    let mut compared = 0;
    for number in 0..60 {
        let case = Case::random(&mut random);
        let (counts, y, touch) = case.brute_force();
        if touch < 2e-3 {
            continue;
        }
        compared += 1;
        let load = Load {
            set: case.set(),
            ..Load::default()
        };
        let model = Model::from_text("Switched.mo", MODEL, &load).unwrap();
        for tolerance in [1e-4, 1e-8] {
            let settings = Settings {
                stop: STOP,
                interval: STOP / 20.0,
                tolerance,
                ..Settings::default()
            };
            let run = model.simulate_in_memory(&settings).unwrap();
            let found = ["nx", "nv", "ns", "nb"].map(|n| last(&run, n) as u64);
            assert_eq!(found, counts, "case {number} at {tolerance}: {case:?}");
            let error = (last(&run, "x") - y[0])
                .abs()
                .max((last(&run, "v") - y[1]).abs());
            assert!(
                error < 200.0 * tolerance,
                "case {number} at {tolerance}: {error} in {case:?}"
            );
        }
    }
    assert!(compared >= 30, "only {compared} cases are clear");
}
