//! Every model of `examples/` runs as its annotation says and gives the right answer.
//!
//! Right means: a closed solution, an invariant, or a Runge-Kutta integration written in this file.
#![allow(clippy::unwrap_used)]

use std::f64::consts::PI;

use crate::common::{at, example_path, last, near, rk4, run, run_with, values};

/// Whoever adds an example adds a test; this list is the reminder.
const TESTED: [&str; 22] = [
    "BouncingBall",
    "ChemicalReactor",
    "DCMotor",
    "Decay",
    "Epidemic",
    "HeatedRod",
    "HeatedRodFlux",
    "Lorenz",
    "Orbit",
    "Pendulum",
    "PredatorPrey",
    "QuarterCar",
    "RCLadder",
    "RLC",
    "Rectifier",
    "Robertson",
    "Rocket",
    "SampledController",
    "Shower",
    "Thermostat",
    "TrafficLight",
    "TwoTanks",
];
/// Tested in `literature.rs` besides.
const ALSO: [&str; 1] = ["VanDerPol"];

#[test]
fn every_example_has_a_test() {
    let mut names: Vec<String> = std::fs::read_dir(example_path(""))
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "mo"))
        .map(|p| p.file_stem().unwrap().to_str().unwrap().to_string())
        .collect();
    names.sort();
    let mut expected: Vec<String> = TESTED.iter().chain(&ALSO).map(|s| s.to_string()).collect();
    expected.sort();
    assert_eq!(names, expected);
}

#[test]
fn bouncing_ball_comes_to_rest() {
    let r = run("BouncingBall.mo");
    // The n-th impact leaves a speed of 0.8^n sqrt(2 g); the 38th is the first below 1 mm/s.
    assert_eq!(last(&r, "bounces"), 38.0);
    assert_eq!(last(&r, "flying"), 0.0);
    assert_eq!(last(&r, "v"), 0.0);
    near(last(&r, "h"), 0.0, 1e-6);
    // Impacts happen at sqrt(2/g) (1 + 2 (e + e^2 + ...)).
    let (g, e): (f64, f64) = (9.81, 0.8);
    let rest = (2.0 / g).sqrt() * (1.0 + 2.0 * e * (1.0 - e.powi(37)) / (1.0 - e));
    let flying = values(&r, "flying");
    let k = flying.iter().position(|f| *f == 0.0).unwrap();
    near(r.result.time()[k], rest, 1e-4);
    assert!(values(&r, "h").iter().all(|h| *h > -1e-6));
}

#[test]
fn chemical_reactor_ignites() {
    let f = |coolant: f64| {
        move |_: f64, y: &[f64; 2]| {
            let rate = 7.2e10 * (-8750.0 / y[1]).exp() * y[0];
            [
                1.0 - y[0] - rate,
                350.0 - y[1] + 209.2 * rate - 2.09 * (y[1] - coolant),
            ]
        }
    };
    let y = rk4(f(300.0), [0.88, 324.0], (0.0, 5.0), 20_000);
    let y = rk4(f(305.0), y, (5.0, 20.0), 60_000);
    let r = run("ChemicalReactor.mo");
    near(last(&r, "c"), y[0], 1e-3);
    near(last(&r, "T"), y[1], 0.1);
    let hottest = values(&r, "T").iter().fold(0.0f64, |a, b| a.max(*b));
    assert!(hottest > 380.0, "{hottest}");
}

#[test]
fn dc_motor_under_load() {
    let f = |load: f64| {
        move |_: f64, y: &[f64; 2]| {
            [
                (24.0 - y[0] - 0.1 * y[1]) / 5e-3,
                (0.1 * y[0] - 1e-4 * y[1] - load) / 1e-3,
            ]
        }
    };
    let y = rk4(f(0.0), [0.0, 0.0], (0.0, 0.6), 6000);
    let y = rk4(f(0.5), y, (0.6, 1.2), 6000);
    let r = run("DCMotor.mo");
    near(last(&r, "i"), y[0], 1e-3);
    near(last(&r, "w"), y[1], 1e-2);
    near(last(&r, "tau"), 0.1 * y[0], 1e-4);
}

#[test]
fn decay_is_exponential() {
    let r = run("Decay.mo");
    near(last(&r, "x"), (-5.0f64).exp(), 1e-6);
    near(last(&r, "exact"), (-5.0f64).exp(), 1e-15);
}

#[test]
fn epidemic_with_and_without_lockdown() {
    for lockdown in [1.0, 0.3] {
        let f = move |c: f64| {
            move |_: f64, y: &[f64; 2]| {
                let new = 0.5 * c * y[0] * y[1] / 1e4;
                [-new, new - 0.2 * y[1]]
            }
        };
        let y = rk4(f(1.0), [9990.0, 10.0], (0.0, 20.0), 2000);
        let y = rk4(f(lockdown), y, (20.0, 80.0), 6000);
        let r = run_with("Epidemic.mo", &[&format!("lockdown={lockdown}")], |_| {});
        near(last(&r, "S"), y[0], 0.1);
        near(last(&r, "I"), y[1], 0.1);
        near(last(&r, "R"), 1e4 - y[0] - y[1], 0.2);
    }
}

/// The rod by separation of variables: T = B(t) - sum c_k(t) sin(l_k x) with l_k = (k + 1/2) pi and B = 1 - exp(-10 t).
fn rod(x: f64, t: f64) -> f64 {
    let mut temperature = 1.0 - (-10.0 * t).exp();
    for k in 0..200 {
        let l = (k as f64 + 0.5) * PI;
        let c = 20.0 / l * ((-10.0 * t).exp() - (-l * l * t).exp()) / (l * l - 10.0);
        temperature -= c * (l * x).sin();
    }
    temperature
}

#[test]
fn heated_rod_in_both_forms() {
    // The first form is of first order at the insulated end, the second of second order everywhere.
    let n = 400;
    let r = run_with("HeatedRod.mo", &["N=400"], |s| s.interval = 0.1);
    for (i, t) in [(100, 0.1), (200, 0.5), (400, 1.0)] {
        let x = (i - 1) as f64 / (n - 1) as f64;
        near(at(&r, &format!("T[{i}]"), t), rod(x, t), 3e-3);
    }
    let n = 100;
    let r = run_with("HeatedRodFlux.mo", &["N=100"], |s| s.interval = 0.1);
    for (i, t) in [(25, 0.1), (50, 0.5), (100, 1.0)] {
        let x = (i as f64 - 0.5) / n as f64;
        near(at(&r, &format!("T[{i}]"), t), rod(x, t), 1e-4);
    }
    near(last(&r, "q[101]"), 0.0, 0.0);
}

/// In a fine rod the first cell bends 10^9 times as much as it rises, so the first step must be tiny.
#[test]
fn heated_rod_with_many_cells() {
    let r = run_with("HeatedRodFlux.mo", &["N=10000"], |s| s.interval = 1.0);
    near(last(&r, "T[5001]"), rod(0.50005, 1.0), 1e-5);
}

#[test]
fn lorenz_stays_on_its_attractor() {
    let r = run("Lorenz.mo");
    let z = values(&r, "z");
    assert!(z.iter().all(|z| *z > 0.0 && *z < 50.0));
    // At such an accuracy the first ten seconds are determined.
    let f = |_: f64, y: &[f64; 3]| {
        [
            10.0 * (y[1] - y[0]),
            y[0] * (28.0 - y[2]) - y[1],
            y[0] * y[1] - 8.0 / 3.0 * y[2],
        ]
    };
    let y = rk4(f, [1.0, 1.0, 1.0], (0.0, 6.0), 60_000);
    near(at(&r, "x", 6.0), y[0], 1e-3);
    near(at(&r, "z", 6.0), y[2], 1e-3);
}

#[test]
fn orbit_is_a_kepler_ellipse() {
    let axis: f64 = 1.0 / (2.0 - 1.5625);
    let period = axis.powf(1.5);
    let r = run_with("Orbit.mo", &[], |s| {
        s.stop = period;
        s.interval = period / 100.0;
    });
    near(last(&r, "r[1]"), 1.0, 1e-5);
    near(last(&r, "r[2]"), 0.0, 1e-5);
    for e in values(&r, "energy") {
        near(e, -4.0 * PI * PI / (2.0 * axis), 1e-6);
    }
    for m in values(&r, "momentum") {
        near(m, 2.5 * PI, 1e-6);
    }
}

#[test]
fn pendulum_swings() {
    let r = run("Pendulum.mo");
    let f = |_: f64, y: &[f64; 2]| [y[1], -9.81 * y[0].sin()];
    let y = rk4(f, [1.0, 0.0], (0.0, 5.0), 20_000);
    near(last(&r, "phi"), y[0], 1e-6);
    near(last(&r, "w"), y[1], 1e-6);
    for (phi, w) in values(&r, "phi").iter().zip(values(&r, "w")) {
        near(w * w / 2.0 - 9.81 * phi.cos(), -9.81 * 1.0f64.cos(), 1e-5);
    }
}

#[test]
fn predator_and_prey_keep_their_invariant() {
    let r = run("PredatorPrey.mo");
    let first = 0.1 * 10.0 - 0.4 * 10f64.ln() + 0.4 * 5.0 - 1.1 * 5f64.ln();
    for v in values(&r, "invariant") {
        near(v, first, 1e-5);
    }
}

#[test]
fn quarter_car_over_a_bump() {
    let f = |bump: bool| {
        move |t: f64, y: &[f64; 4]| {
            let [zb, zw, vb, vw] = *y;
            let road = if bump {
                0.05 * (1.0 - (2.0 * PI * 10.0 * (t - 0.5)).cos()) / 2.0
            } else {
                0.0
            };
            let suspension = 18e3 * (zw - zb) + 1.2e3 * (vw - vb);
            [
                vb,
                vw,
                suspension / 300.0,
                (180e3 * (road - zw) - suspension) / 40.0,
            ]
        }
    };
    let r = run_with("QuarterCar.mo", &[], |s| s.interval = 0.1);
    let y = rk4(f(true), [0.0; 4], (0.5, 0.6), 2000);
    near(at(&r, "z_body", 0.6), y[0], 1e-5);
    near(at(&r, "z_wheel", 0.6), y[1], 1e-5);
    let y = rk4(f(false), y, (0.6, 1.0), 4000);
    near(at(&r, "z_body", 1.0), y[0], 1e-5);
    near(at(&r, "v_wheel", 1.0), y[3], 1e-3);
    near(at(&r, "z_body", 0.4), 0.0, 1e-12);
}

#[test]
fn rc_ladder_at_any_length() {
    // The same circuit, equation by equation.
    let f = |_: f64, v: &[f64; 20]| -> [f64; 20] {
        std::array::from_fn(|k| {
            let left = if k == 0 { 1.0 } else { v[k - 1] };
            let right = if k == 19 { v[k] } else { v[k + 1] };
            (left - 2.0 * v[k] + right) * 400.0
        })
    };
    let v = rk4(f, [0.0; 20], (0.0, 0.5), 2000);
    let r = run("RCLadder.mo");
    for k in [0, 9, 19] {
        near(at(&r, &format!("c[{}].v", k + 1), 0.5), v[k], 1e-5);
    }
    // A longer ladder is the same cable, so its end shows the diffusion into a closed end.
    let r = run_with("RCLadder.mo", &["N=300"], |s| s.interval = 0.5);
    let exact: f64 = 1.0
        - (0..50)
            .map(|k| {
                let l = (k as f64 + 0.5) * PI;
                2.0 / l * (-l * l * 0.5).exp() * l.sin()
            })
            .sum::<f64>();
    near(at(&r, "c[300].v", 0.5), exact, 3e-3);
}

#[test]
fn rlc_step_response() {
    let r = run_with("RLC.mo", &[], |s| s.interval = 0.005);
    let (damping, frequency) = (250.0, (1e5f64 - 62_500.0).sqrt());
    for t in [0.005, 0.015, 0.02, 0.05] {
        let s = t - 0.01;
        let v = if s < 0.0 {
            0.0
        } else {
            let swing = (frequency * s).cos() + damping / frequency * (frequency * s).sin();
            10.0 * (1.0 - (-damping * s).exp() * swing)
        };
        near(at(&r, "capacitor.v", t), v, 1e-4);
    }
    // Kirchhoff at every instant.
    for (a, b) in values(&r, "source.p.i")
        .iter()
        .zip(values(&r, "inductor.i"))
    {
        near(*a, -b, 1e-9);
    }
}

#[test]
fn rectifier_conducts_one_way() {
    let r = run("Rectifier.mo");
    // The limit from the left at an event lies beyond the threshold by less than the tolerance: 1e-6 of 12 V, over 0.5 Ohm.
    assert!(values(&r, "i").iter().all(|i| *i >= -2.4e-5));
    // Small Euler steps need no events.
    let (n, stop) = (2_000_000, 0.1);
    let h = stop / n as f64;
    let mut v = 0.0;
    for k in 0..n {
        let u = 12.0 * (2.0 * PI * 50.0 * k as f64 * h).sin();
        let i = if u > v { (u - v) / 0.5 } else { 0.0 };
        v += h * (i - v / 100.0) / 1e-3;
    }
    near(last(&r, "v"), v, 1e-3);
}

#[test]
fn robertson_conserves_mass() {
    let r = run("Robertson.mo");
    for ((a, b), c) in values(&r, "y1")
        .iter()
        .zip(values(&r, "y2"))
        .zip(values(&r, "y3"))
    {
        near(a + b + c, 1.0, 1e-9);
    }
}

#[test]
fn rocket_returns() {
    let r = run("Rocket.mo");
    assert_eq!(
        r.summary.terminated.as_deref(),
        Some("the rocket is back on the ground")
    );
    let f = |burning: bool| {
        move |_: f64, y: &[f64; 3]| {
            let [h, v, fuel] = *y;
            let drag = 1.225 * (-h / 8500.0).exp() * 0.01 * v * v.abs() / 2.0;
            let thrust = if burning { 4000.0 } else { 0.0 };
            [
                v,
                (thrust - drag) / (40.0 + fuel) - 9.81,
                if burning { -2.0 } else { 0.0 },
            ]
        }
    };
    let y = rk4(f(true), [0.0, 0.0, 60.0], (0.0, 30.0), 30_000);
    near(at(&r, "fuel", 30.0), 0.0, 1e-6);
    near(at(&r, "h", 30.0), y[0], 1.0);
    near(at(&r, "v", 30.0), y[1], 0.1);
    let highest = values(&r, "h").iter().fold(0.0f64, |a, b| a.max(*b));
    near(last(&r, "apogee"), highest, 1e-3);
    near(last(&r, "h"), 0.0, 1e-6);
    assert!(last(&r, "v") < -100.0);
    assert!(r.summary.reached < 600.0);
}

#[test]
fn sampled_controller_follows_its_difference_equation() {
    let r = run_with("SampledController.mo", &[], |s| s.interval = 0.05);
    let (mut y, mut integral, decay) = (0.0, 0.0, (-0.1f64).exp());
    for k in 0..50 {
        integral += 0.1 * 3.0 * (1.0 - y);
        let u = 2.0 * (1.0 - y) + integral;
        near(at(&r, "u", 0.1 * k as f64 + 0.05), u, 1e-4);
        y = y * decay + u * (1.0 - decay);
    }
    near(last(&r, "y"), y, 1e-4);
}

#[test]
fn shower_by_the_method_of_steps() {
    let r = run_with("Shower.mo", &[], |s| s.interval = 0.5);
    for t in [1.0, 3.0, 6.0, 10.0] {
        let mut error = 0.0;
        let mut factorial = 1.0;
        for j in 0..20 {
            let age = t - (j as f64 - 1.0) * 2.0;
            if j > 0 && age < 0.0 {
                break;
            }
            factorial *= if j > 0 { j as f64 } else { 1.0 };
            error += (-0.6f64).powi(j) * age.powi(j) / factorial;
        }
        near(at(&r, "T_mixer", t), 38.0 - 23.0 * error, 1e-2);
    }
}

#[test]
fn thermostat_switches_at_its_limits() {
    let r = run("Thermostat.mo");
    // Between its limits the room warms and cools exponentially; both take 3600 ln(15.5/14.5) seconds.
    let first = 3600.0 * (20.0f64 / 14.5).ln();
    let half = 3600.0 * (15.5f64 / 14.5).ln();
    let switches = 1 + ((7200.0 - first) / half) as u64;
    let on = values(&r, "on");
    assert_eq!(
        on.windows(2).filter(|w| w[0] != w[1]).count() as u64,
        switches
    );
    let since = 7200.0 - first - (switches - 1) as f64 * half;
    let decay = (-since / 3600.0).exp();
    let expected = if switches % 2 == 1 {
        5.0 + 15.5 * decay
    } else {
        35.0 - 15.5 * decay
    };
    near(last(&r, "T"), expected, 1e-3);
    assert_eq!(last(&r, "on"), if switches % 2 == 1 { 0.0 } else { 1.0 });
}

#[test]
fn traffic_light_counts_cars() {
    let r = run("TrafficLight.mo");
    for (t, colour) in [
        (10.0, 1.0),
        (21.0, 2.0),
        (30.0, 3.0),
        (38.0, 4.0),
        (50.0, 1.0),
        (78.0, 4.0),
    ] {
        assert_eq!(at(&r, "light", t), colour, "at {t}");
    }
    // Green from 22 to 37 s of each 40: eight cars.
    assert_eq!(last(&r, "cars"), 24.0);
}

#[test]
fn two_tanks_run_empty() {
    let r = run("TwoTanks.mo");
    // Torricelli: the root of the level falls linearly.
    let rate = 1e-3 / 0.5 * (2.0f64 * 9.81).sqrt() / 2.0;
    near(
        at(&r, "h1", 240.0),
        (2.0f64.sqrt() - rate * 240.0).powi(2),
        1e-4,
    );
    let f = |_: f64, y: &[f64; 2]| {
        let v = |h: f64| 1e-3 / 0.5 * (2.0 * 9.81 * h.max(0.0)).sqrt();
        [-v(y[0]), v(y[0]) - v(y[1])]
    };
    let y = rk4(f, [2.0, 0.5], (0.0, 240.0), 24_000);
    near(at(&r, "h2", 240.0), y[1], 1e-4);
    near(last(&r, "h1"), 0.0, 1e-4);
    near(last(&r, "h2"), 0.0, 1e-4);
}

/// Connections make most variables of a component model another name for one that is computed; they have its place, and
/// what nobody but the user reads is not computed in each evaluation of the residuals.
#[test]
fn other_names_cost_nothing_in_a_residual() {
    let file = example_path("../benches/models/DiodeBridges.mo");
    let load = acausal::Load {
        class: Some("DiodeBridges.Network".into()),
        set: vec!["N=5".into()],
        ..acausal::Load::default()
    };
    let model = acausal::Model::load(&file.to_string_lossy(), &load).unwrap();
    let values = |program: &acausal_jit::kernel::Program| -> usize {
        program.iter().map(|c| c.count * c.outputs.len()).sum()
    };
    let needed = values(&model.compiled.locals);
    let flat = &model.compiled.symbols;
    let all: usize = flat
        .vars
        .iter()
        .filter(|v| !v.is_parameter())
        .map(|v| v.len())
        .sum();
    assert!(needed > 0 && 5 * needed <= 3 * all, "{needed} of {all}");
    assert!(!model.compiled.other_locals.is_empty());
    // Both names have the same values.
    let settings = acausal::Settings {
        stop: 0.01,
        ..acausal::Settings::default()
    };
    let r = model.simulate_in_memory(&settings).unwrap().result;
    for (a, b) in [
        ("cell[3].d1.p.v", "cell[3].source.p.v"),
        ("cell[2].load.p.v", "cell[2].c.v"),
    ] {
        assert_eq!(r.values(a).unwrap(), r.values(b).unwrap(), "{a} and {b}");
    }
}
