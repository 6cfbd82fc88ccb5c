//! Event location, stop times, dense output, restarts.

mod problems;

use acausal_solver::{Bdf, RootCrossing, StepOutcome};
use problems::{Dense, tolerances};

/// A ball dropped from 1 m with restitution 0.8 bounces at t1 = sqrt(2/g), then after 2 * 0.8^k * t1 each.
#[test]
fn bouncing_ball_times() {
    const G: f64 = 9.81;
    let mut dae = Dense::new(2, |_, y, yp, r| {
        r[0] = yp[0] - y[1];
        r[1] = yp[1] + G;
    })
    .with_roots(1, |_, y, _, g| g[0] = y[0]);
    let mut bdf = Bdf::new(tolerances(1e-10, 1e-10), 0.0, &[1.0, 0.0], &[0.0, -G]).unwrap();
    let fall = (2.0 / G).sqrt();
    let mut expected = fall;
    let mut bounces = 0;
    while bounces < 8 {
        if bdf.step(&mut dae, 10.0).unwrap() != StepOutcome::Roots {
            continue;
        }
        let crossing = bdf.found_roots()[0];
        if crossing.rising {
            continue;
        }
        assert!(
            (bdf.t() - expected).abs() < 1e-7,
            "bounce {bounces}: {} and {expected}",
            bdf.t()
        );
        assert!(
            bdf.y()[0] <= 0.0 && bdf.y()[0] > -1e-12,
            "the state stands behind the crossing"
        );
        let v = -0.8 * bdf.y()[1];
        bdf.restart(bdf.t(), &[0.0, v], &[v, -G]).unwrap();
        bounces += 1;
        expected += 2.0 * 0.8f64.powi(bounces) * fall;
    }
    assert_eq!(bdf.statistics().restarts, 8);
}

#[test]
fn all_crossings_of_a_sine_are_found_in_order_without_restart() {
    let mut dae = Dense::new(2, |_, y, yp, r| {
        r[0] = yp[0] - y[1];
        r[1] = yp[1] + y[0];
    })
    .with_roots(2, |t, y, _, g| {
        g[0] = y[0];
        // Several crossings per step of the smooth solution.
        g[1] = (40.0 * t).sin();
    });
    let mut bdf = Bdf::new(tolerances(1e-8, 1e-8), 0.0, &[0.0, 1.0], &[1.0, 0.0]).unwrap();
    let mut last = 0.0;
    let mut slow = Vec::new();
    let options_max = 0.05;
    let mut t_stop = options_max;
    loop {
        match bdf.step(&mut dae, t_stop).unwrap() {
            StepOutcome::Roots => {
                assert!(bdf.t() > last);
                last = bdf.t();
                if let Some(r) = bdf.found_roots().iter().find(|r| r.index == 0) {
                    slow.push((bdf.t(), r.rising));
                }
            }
            StepOutcome::StopReached => {
                assert_eq!(bdf.t(), t_stop);
                if t_stop >= 20.0 {
                    break;
                }
                t_stop = (t_stop + options_max).min(20.0);
            }
            StepOutcome::Step => {}
        }
    }
    assert_eq!(slow.len(), 6, "{slow:?}");
    for (k, (t, rising)) in slow.iter().enumerate() {
        assert!(
            (t - (k + 1) as f64 * std::f64::consts::PI).abs() < 1e-6,
            "{t}"
        );
        assert_eq!(*rising, k % 2 == 1);
    }
}

#[test]
fn simultaneous_crossings_are_reported_together() {
    let mut dae = Dense::new(1, |_, _, yp, r| r[0] = yp[0] - 1.0).with_roots(3, |_, y, _, g| {
        g[0] = y[0] - 0.5;
        g[1] = 3.0 * (0.5 - y[0]);
        g[2] = y[0] - 0.75;
    });
    let mut bdf = Bdf::new(tolerances(1e-6, 1e-6), 0.0, &[0.0], &[1.0]).unwrap();
    let mut found = Vec::new();
    loop {
        match bdf.step(&mut dae, 1.0).unwrap() {
            StepOutcome::Roots => found.push((bdf.t(), bdf.found_roots().to_vec())),
            StepOutcome::StopReached => break,
            StepOutcome::Step => {}
        }
    }
    assert_eq!(found.len(), 2, "{found:?}");
    let both = [
        RootCrossing {
            index: 0,
            rising: true,
        },
        RootCrossing {
            index: 1,
            rising: false,
        },
    ];
    assert_eq!(found[0].1, both);
    assert!((found[0].0 - 0.5).abs() < 1e-12);
    assert!((found[1].0 - 0.75).abs() < 1e-12);
}

#[test]
fn an_indicator_that_is_zero_at_the_start_does_not_stick() {
    // g = y starts at zero and rises; a second one is zero throughout; the third falls through zero later.
    let mut dae = Dense::new(1, |_, _, yp, r| r[0] = yp[0] - 1.0).with_roots(3, |_, y, _, g| {
        g[0] = y[0];
        g[1] = 0.0;
        g[2] = 0.3 - y[0];
    });
    let mut bdf = Bdf::new(tolerances(1e-6, 1e-6), 0.0, &[0.0], &[1.0]).unwrap();
    let mut found = Vec::new();
    loop {
        match bdf.step(&mut dae, 1.0).unwrap() {
            StepOutcome::Roots => {
                found.extend_from_slice(bdf.found_roots());
                // Restart exactly on the crossing, as after an event.
                let (t, y) = (bdf.t(), bdf.y().to_vec());
                bdf.restart(t, &y, &[1.0]).unwrap();
            }
            StepOutcome::StopReached => break,
            StepOutcome::Step => {}
        }
    }
    assert_eq!(
        found,
        [RootCrossing {
            index: 2,
            rising: false
        }]
    );
}

#[test]
fn stop_times_are_hit_exactly_and_dense_output_is_accurate() {
    let mut dae = Dense::new(1, |t, _, yp, r| r[0] = yp[0] - t.cos());
    let mut bdf = Bdf::new(tolerances(1e-8, 1e-8), 0.0, &[0.0], &[1.0]).unwrap();
    for k in 1..=7 {
        let t_stop = f64::from(k) / 7.0 * std::f64::consts::PI;
        loop {
            let outcome = bdf.step(&mut dae, t_stop).unwrap();
            assert!(bdf.t() <= t_stop);
            let (mut y, mut yp) = ([0.0], [0.0]);
            for part in 0..=4 {
                let t = bdf.step_start() + 0.25 * f64::from(part) * bdf.last_step();
                bdf.interpolate(t, &mut y, &mut yp);
                assert!((y[0] - t.sin()).abs() < 1e-6, "t = {t}");
                assert!((yp[0] - t.cos()).abs() < 1e-4, "t = {t}");
            }
            if outcome == StepOutcome::StopReached {
                break;
            }
        }
        assert_eq!(bdf.t(), t_stop);
        assert_eq!(
            bdf.step(&mut dae, t_stop).unwrap(),
            StepOutcome::StopReached
        );
    }
}

#[test]
fn a_model_without_unknowns_still_has_events() {
    let mut dae = Dense::new(0, |_, _, _, _| {}).with_roots(1, |t, _, _, g| g[0] = t - 0.25);
    let mut bdf = Bdf::new(tolerances(1e-6, 1e-6), 0.0, &[], &[]).unwrap();
    let mut events = 0;
    loop {
        match bdf.step(&mut dae, 1.0).unwrap() {
            StepOutcome::Roots => {
                assert!((bdf.t() - 0.25).abs() < 1e-12);
                events += 1;
            }
            StepOutcome::StopReached => break,
            StepOutcome::Step => {}
        }
    }
    assert_eq!(events, 1);
    assert!(bdf.statistics().steps < 30);
}
