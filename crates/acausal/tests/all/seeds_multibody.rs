//! Mechanical examples of the literature the compiler is built on, against tabulated solutions to six digits:
//! Otter & Elmqvist 2017, (8), (11)-(16), (18), and Cellier & Kofman 2006, (7.74), (7.78).
#![allow(clippy::unwrap_used)]

use crate::common::{at, digits, near, run_with, values};

/// Output instants that hit the tabulated times.
fn every(interval: f64, stop: f64) -> impl Fn(&mut acausal::Settings) {
    move |s| {
        s.tolerance = 1e-8;
        s.interval = interval;
        s.stop = stop;
    }
}

#[test]
fn sm_1_sliding_mass() {
    let r = run_with("seeds/OE_3_1_SlidingMass.mo", &[], every(0.1, 2.0));
    let n = [2.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0];
    for (t, s, ds, dds) in [
        (0.0, 0.5, 0.0, -19.04),
        (0.1, 0.4126588103, -1.6547202655, -13.5470297261),
        (0.5, -0.5570723887, -1.5043263125, 10.3954623431),
        (1.0, -0.2658226545, 1.4049548192, -2.7043432756),
        (2.0, -0.3652477034, 0.1917628229, 2.2076669404),
    ] {
        near(at(&r, "s", t), s, 1e-6);
        for (k, n) in n.iter().enumerate() {
            near(at(&r, &format!("r[{}]", k + 1), t), n * s, 1e-6);
            near(at(&r, &format!("v[{}]", k + 1), t), n * ds, 1e-6);
            let spring = -(50.0 * s + 4.0 * ds) * n;
            near(at(&r, &format!("u[{}]", k + 1), t), spring, 1e-5);
        }
        // The acceleration shows in the balance of forces only: n·u/m + n·g = s''.
        let u: f64 = (0..3)
            .map(|k| n[k] * at(&r, &format!("u[{}]", k + 1), t))
            .sum();
        near(u / 2.0 - 9.81 * n[2], dds, 1e-5);
        for (k, f) in [-8.72, 4.36, 10.9].iter().enumerate() {
            digits(at(&r, &format!("f[{}]", k + 1), t), *f, 6);
        }
    }
}

#[test]
fn sm_1_sliding_mass_along_an_axis_with_a_zero_and_along_one_that_is_not_a_unit() {
    // der2(s) = (n·g)/(n·n) - (c s + d s')/m with s(0) = 0.5, s'(0) = 0: a damped oscillation about its rest.
    for (set, ng, nn) in [("n={0.6,0,0.8}", -7.848, 1.0), ("n={1,1,1}", -9.81, 3.0)] {
        let r = run_with("seeds/OE_3_1_SlidingMass.mo", &[set], every(0.5, 2.0));
        let rest: f64 = ng / nn / 25.0;
        let (a, w) = (0.5 - rest, 24f64.sqrt());
        for t in [0.5f64, 1.0, 2.0] {
            let s = rest + (-t).exp() * a * ((w * t).cos() + (w * t).sin() / w);
            near(at(&r, "s", t), s, 1e-6);
        }
    }
}

#[test]
fn ms_2_constraints_of_several_orders() {
    let r = run_with("seeds/OE_3_2_MS18.mo", &[], every(0.5, 5.0));
    let names = ["x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x2d"];
    let table: [(f64, [f64; 9]); 5] = [
        (
            0.0,
            [
                0.0,
                0.0,
                -3.4,
                1.0,
                224.4588661190,
                0.0,
                0.0,
                2.5541959528,
                0.0,
            ],
        ),
        (
            0.5,
            [
                -3.3229050285,
                -2.8434794899,
                -1.8839889122,
                -0.1019707668,
                -236.4137671979,
                -0.1830526520,
                0.2249852959,
                2.3400374772,
                -2.7407573191,
            ],
        ),
        (
            1.0,
            [
                -0.4140239633,
                0.4274470215,
                -2.6306337348,
                -2.6619364737,
                241.8374244698,
                0.3549297183,
                -0.4304439384,
                2.8152551292,
                6.7345992381,
            ],
        ),
        (
            2.0,
            [
                0.4857738678,
                1.3950712947,
                -2.7350242292,
                -4.1486026935,
                307.6684604165,
                0.6273798055,
                -0.7181866931,
                2.4746416088,
                10.8487157331,
            ],
        ),
        (
            5.0,
            [
                0.6057684109,
                -0.3531558637,
                -2.2969846103,
                -3.2893664736,
                199.6255126694,
                0.7047887654,
                -0.4215459067,
                2.7521912656,
                10.8377515659,
            ],
        ),
    ];
    table_digits(&r, &names, &table);
}

/// Six significant digits of each value, to half a unit of the last.
#[track_caller]
fn table_digits<const N: usize>(
    r: &acausal::InMemory,
    names: &[&str; N],
    table: &[(f64, [f64; N])],
) {
    for (t, row) in table {
        for (name, value) in names.iter().zip(row) {
            let first_digit = if *value == 0.0 {
                0.0
            } else {
                value.abs().log10().floor()
            };
            near(at(r, name, *t), *value, 0.5 * 10f64.powf(first_digit - 5.0));
        }
    }
}

/// phi, dphi, x, y, F of the pendulum that starts at rest at 1 rad.
const PENDULUM: [(f64, [f64; 5]); 6] = [
    (
        0.25,
        [
            0.7496142510,
            -1.9391137691,
            0.6813564611,
            0.7319517559,
            10.9406089346,
        ],
    ),
    (
        0.5,
        [
            0.1042584241,
            -2.9854199687,
            0.1040696484,
            0.9945700118,
            18.6694642048,
        ],
    ),
    (
        1.0,
        [
            -0.9800669929,
            -0.5718037207,
            -0.8305346852,
            0.5569669081,
            5.7908048631,
        ],
    ),
    (
        2.0,
        [
            0.9207938272,
            1.1283018575,
            0.7960822858,
            0.6051883957,
            7.2099632430,
        ],
    ),
    (
        5.0,
        [
            -0.5303474545,
            -2.5147755787,
            -0.5058330968,
            0.8626313686,
            14.7865099375,
        ],
    ),
    (
        10.0,
        [
            -0.4632527687,
            2.6365495135,
            -0.4468604048,
            0.8946036992,
            15.7274556267,
        ],
    ),
];

#[test]
fn mb_1_cartesian_pendulum() {
    let r = run_with("seeds/OE_3_4a_PendulumXY.mo", &[], every(0.25, 10.0));
    for (t, [phi, dphi, x, y, f]) in PENDULUM {
        near(at(&r, "x", t), x, 1e-6);
        near(at(&r, "y", t), y, 1e-6);
        near(at(&r, "vx", t), dphi * phi.cos(), 3e-6);
        near(at(&r, "vy", t), -dphi * phi.sin(), 3e-6);
        near(at(&r, "F", t), f, 1e-5);
    }
}

#[test]
fn mb_1_pendulum_with_its_angle() {
    let r = run_with("seeds/CK_5_6_PendulumAngle.mo", &[], every(0.25, 10.0));
    for (t, [phi, dphi, x, y, f]) in PENDULUM {
        near(at(&r, "phi", t), phi, 1e-6);
        near(at(&r, "x", t), x, 1e-6);
        near(at(&r, "y", t), y, 1e-6);
        near(at(&r, "vx", t), dphi * phi.cos(), 3e-6);
        near(at(&r, "F", t), f, 1e-5);
    }
}

/// phi and its derivative for phi(0) = 0, dphi(0) = 7: the pendulum goes over the top.
const ROTATION: [(f64, f64, f64); 3] = [
    (0.5, 2.6714920693, 3.4479448993),
    (1.0, 4.4730475693, 4.9728087272),
    (2.0, 9.6249739210, 3.1861980390),
];

#[test]
fn mb_1_full_rotations() {
    let r = run_with(
        "seeds/OE_3_4a_PendulumXY.mo",
        &["x0=0", "vx0=7", "y.start=1"],
        every(0.5, 2.0),
    );
    for (t, phi, dphi) in ROTATION {
        near(at(&r, "x", t), phi.sin(), 1e-6);
        near(at(&r, "y", t), phi.cos(), 1e-6);
        near(at(&r, "vx", t), dphi * phi.cos(), 1e-5);
    }
    let r = run_with(
        "seeds/CK_5_6_PendulumAngle.mo",
        &["phi0=0", "w0=7"],
        every(0.5, 2.0),
    );
    for (t, phi, _) in ROTATION {
        near(at(&r, "phi", t), phi, 1e-6);
    }
}

/// The largest constraint error and the largest change of energy of the Cartesian pendulum in 100 s.
fn constraint_and_drift(set: &[&str]) -> (f64, f64) {
    let r = run_with("seeds/OE_3_4a_PendulumXY.mo", set, every(0.05, 100.0));
    let [x, y, vx, vy] = ["x", "y", "vx", "vy"].map(|name| values(&r, name));
    let energy = |k: usize| 0.5 * (vx[k] * vx[k] + vy[k] * vy[k]) - 9.81 * y[k];
    let mut worst = (0f64, 0f64);
    for k in 0..x.len() {
        worst.0 = worst.0.max((x[k] * x[k] + y[k] * y[k] - 1.0).abs());
        worst.1 = worst.1.max((energy(k) - energy(0)).abs());
    }
    println!(
        "{set:?}: constraint {:.1e}, energy {:.1e}; {:?}",
        worst.0, worst.1, r.summary
    );
    worst
}

#[test]
fn mb_1_pendulum_keeps_length_and_energy_for_100_s() {
    for set in [&[] as &[&str], &["x0=0", "vx0=7", "y.start=1"]] {
        let (length, energy) = constraint_and_drift(set);
        assert!(length < 1e-9, "constraint error {length:e}");
        assert!(energy < 1e-4, "energy drift {energy:e}");
    }
}

#[test]
fn mb_1_steps_keep_the_length() {
    // The stop time is the end of a step: nothing is interpolated there.
    for stop in [0.37, 0.71, 1.13, 1.91, 2.77, 3.3, 4.1, 5.3, 20.0] {
        let r = run_with("seeds/OE_3_4a_PendulumXY.mo", &[], every(stop, stop));
        let (x, y) = (at(&r, "x", stop), at(&r, "y", stop));
        near(x * x + y * y, 1.0, 1e-9);
    }
}

#[test]
fn mb_1_slider_crank() {
    let r = run_with("seeds/OE_3_4b_SliderCrank.mo", &[], every(0.5, 3.0));
    let names = ["q[1]", "v[1]", "q[2]", "q[3]", "v[3]", "lam[1]", "lam[2]"];
    let table: [(f64, [f64; 7]); 5] = [
        (
            0.0,
            [
                0.5,
                2.0,
                -0.1604966697,
                1.9195133306,
                -0.6214965953,
                0.24753568,
                -4.26030035,
            ],
        ),
        (
            0.5,
            [
                1.0332960739,
                0.5343396646,
                -0.2903946809,
                1.6931915779,
                -0.2703747389,
                1.30572603,
                -5.30658526,
            ],
        ),
        (
            1.0,
            [
                1.1540051926,
                -0.0202286688,
                -0.3097258701,
                1.6310399291,
                0.0105588391,
                1.03789765,
                -5.28318037,
            ],
        ),
        (
            2.0,
            [
                0.4120005346,
                -2.3389045428,
                -0.1338806757,
                1.9447378191,
                0.6126284059,
                -1.30776470,
                -3.77712182,
            ],
        ),
        (
            3.0,
            [
                -3.1127661453,
                -4.0391951287,
                0.0096076532,
                1.0001384978,
                -0.0388137550,
                11.03433304,
                -4.13068958,
            ],
        ),
    ];
    table_digits(&r, &names, &table);
}

#[test]
fn mb_1_constraint_written_in_another_variable() {
    // The pendulum with x and y as differences: the gradient is (2x, 2y), as written it seems to be (-2y, -2x).
    let text = "model P
  Real x(start = 0.8414709848078965, fixed = true), y(start = 0.54), u;
  Real vx(start = 0, fixed = true), vy, F;
equation
  u = x + y;
  der(x) = vx;
  der(y) = vy;
  der(vx) = -F*x;
  der(vy) = 9.81 - F*y;
  (u - y)^2 + (u - x)^2 = 1;
end P;";
    let mut settings = acausal::Settings::default();
    every(0.25, 10.0)(&mut settings);
    settings.max_steps = 100_000;
    let r = crate::common::run_text(text, &settings);
    for (t, [_, _, x, y, f]) in PENDULUM {
        near(at(&r, "x", t), x, 1e-6);
        near(at(&r, "y", t), y, 1e-6);
        near(at(&r, "F", t), f, 1e-5);
    }
}

#[test]
fn mb_1_closed_four_bar_keeps_its_energy() {
    let r = run_with("seeds/OE_3_4c_FourBar.mo", &[], every(0.05, 10.0));
    let energy = values(&r, "energy");
    let (x, phi) = (values(&r, "x[3]"), values(&r, "phi[3]"));
    for k in 0..energy.len() {
        near(energy[k], energy[0], 1e-4);
        near(x[k] + phi[k].cos(), 3.0, 1e-8);
    }
    // It moves: the crank swings.
    assert!(values(&r, "phi[1]").iter().any(|p| *p < 0.0));
}
