//! Damped Newton: convergence, damping, bounds, undefined regions, rectangular systems, typed failures.

use acausal_solver::newton::{self, Nonlinear};
use acausal_solver::{DaeError, EvalReason, NewtonError, NewtonOptions, Pattern};

/// A system given by closures, with a full Jacobian of differences.
struct System<F: FnMut(&[f64], &mut [f64])> {
    unknowns: usize,
    equations: usize,
    pattern: Pattern,
    f: F,
}

impl<F: FnMut(&[f64], &mut [f64])> System<F> {
    fn new(equations: usize, unknowns: usize, f: F) -> Self {
        let entries = (0..equations).flat_map(|i| (0..unknowns).map(move |j| (i, j)));
        let pattern = Pattern::from_entries(equations.max(unknowns), entries).unwrap();
        Self {
            unknowns,
            equations,
            pattern,
            f,
        }
    }
}

impl<F: FnMut(&[f64], &mut [f64])> Nonlinear for System<F> {
    fn len(&self) -> usize {
        self.unknowns
    }

    fn equations(&self) -> usize {
        self.equations
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
        (self.f)(x, r);
        Ok(())
    }

    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), DaeError> {
        let mut x = x.to_vec();
        let (mut low, mut high) = (vec![0.0; self.equations], vec![0.0; self.equations]);
        for j in 0..self.unknowns {
            let (old, h) = (x[j], 1e-6 * x[j].abs().max(1e-2));
            x[j] = old + h;
            (self.f)(&x, &mut high);
            x[j] = old - h;
            (self.f)(&x, &mut low);
            x[j] = old;
            for i in 0..self.equations {
                values[j * self.equations + i] = (high[i] - low[i]) / (2.0 * h);
            }
        }
        Ok(())
    }

    fn pattern(&self) -> &Pattern {
        &self.pattern
    }
}

#[test]
fn square_root_of_two() {
    let mut x = [1.0];
    let statistics = newton::solve(
        &mut System::new(1, 1, |x, r| r[0] = x[0] * x[0] - 2.0),
        &mut x,
        &NewtonOptions::default(),
    )
    .unwrap();
    assert!((x[0] - 2f64.sqrt()).abs() < 1e-14);
    assert!(
        statistics.iterations <= 5 && statistics.damped_trials == 0,
        "{statistics:?}"
    );
}

#[test]
fn damping_is_needed_for_the_arc_tangent() {
    // Undamped iteration diverges for |x| > 1.39.
    for start in [3.0, 20.0, -100.0] {
        let mut x = [start];
        let statistics = newton::solve(
            &mut System::new(1, 1, |x, r| r[0] = x[0].atan()),
            &mut x,
            &NewtonOptions::default(),
        )
        .unwrap();
        assert!(
            x[0].abs() < 1e-12 && statistics.damped_trials > 0,
            "{x:?} {statistics:?}"
        );
    }
}

#[test]
fn badly_scaled_equations_do_not_matter() {
    // Powell's badly scaled function; solution from More, Garbow & Hillstrom 1981.
    let mut x = [0.0, 1.0];
    let options = NewtonOptions {
        nominal: vec![1e-5, 1.0],
        ..NewtonOptions::default()
    };
    newton::solve(
        &mut System::new(2, 2, |x, r| {
            r[0] = 1e4 * x[0] * x[1] - 1.0;
            r[1] = (-x[0]).exp() + (-x[1]).exp() - 1.0001;
        }),
        &mut x,
        &options,
    )
    .unwrap();
    assert!((x[0] / 1.098159e-5 - 1.0).abs() < 1e-5, "{x:?}");
    assert!((x[1] / 9.106146738 - 1.0).abs() < 1e-8, "{x:?}");
}

#[test]
fn undefined_trial_points_shorten_the_step() {
    // log(x) = 1 from x = 20: the full step lands at x = 20 - 20 (log 20 - 1) < 0.
    let mut x = [20.0];
    newton::solve(
        &mut System::new(1, 1, |x, r| r[0] = x[0].ln() - 1.0),
        &mut x,
        &NewtonOptions::default(),
    )
    .unwrap();
    assert!((x[0] - 1f64.exp()).abs() < 1e-12);
}

#[test]
fn bounds_choose_the_root() {
    // x^2 = 4 with x <= 0 from a start that would lead to +2.
    let options = NewtonOptions {
        upper: vec![0.0],
        lower: vec![-10.0],
        ..NewtonOptions::default()
    };
    let mut x = [-0.5];
    newton::solve(
        &mut System::new(1, 1, |x, r| r[0] = x[0] * x[0] - 4.0),
        &mut x,
        &options,
    )
    .unwrap();
    assert!((x[0] + 2.0).abs() < 1e-12);
}

#[test]
fn fewer_equations_than_unknowns_give_the_nearest_solution() {
    // x + y + z = 3 from (0, 0, 3.6): the nearest point moves all by the same amount.
    let mut x = [0.0, 0.0, 3.6];
    let options = NewtonOptions {
        nominal: vec![10.0; 3],
        ..NewtonOptions::default()
    };
    newton::solve(
        &mut System::new(1, 3, |x, r| r[0] = x[0] + x[1] + x[2] - 3.0),
        &mut x,
        &options,
    )
    .unwrap();
    for (x, expected) in x.iter().zip([-0.2, -0.2, 3.4]) {
        assert!((x - expected).abs() < 1e-9, "{x}");
    }
}

#[test]
fn more_equations_than_unknowns_must_agree() {
    let circle_and_lines = |offset: f64| {
        move |x: &[f64], r: &mut [f64]| {
            r[0] = x[0] * x[0] + x[1] * x[1] - 2.0;
            r[1] = x[0] - x[1];
            r[2] = x[0] + x[1] - 2.0 + offset;
        }
    };
    let mut x = [1.5, 0.5];
    newton::solve(
        &mut System::new(3, 2, circle_and_lines(0.0)),
        &mut x,
        &NewtonOptions::default(),
    )
    .unwrap();
    assert!((x[0] - 1.0).abs() < 1e-9 && (x[1] - 1.0).abs() < 1e-9);
    let error = newton::solve(
        &mut System::new(3, 2, circle_and_lines(0.5)),
        &mut x,
        &NewtonOptions::default(),
    );
    assert!(
        matches!(
            error,
            Err(NewtonError::Inconsistent { .. } | NewtonError::NoConvergence { .. })
        ),
        "{error:?}"
    );
}

#[test]
fn failures_name_equation_and_unknown() {
    let mut x = [1.0, 1.0];
    let singular = newton::solve(
        &mut System::new(2, 2, |x, r| {
            r[0] = x[0] + x[1] - 1.0;
            r[1] = 2.0 * (x[0] + x[1]) - 3.0;
        }),
        &mut x,
        &NewtonOptions::default(),
    );
    assert!(
        matches!(singular, Err(NewtonError::Singular { .. })),
        "{singular:?}"
    );
    // x^2 + 1 = 0 has no real solution; the iteration runs into the minimum of the parabola.
    let mut x = [0.7];
    let none = newton::solve(
        &mut System::new(1, 1, |x, r| r[0] = x[0] * x[0] + 1.0),
        &mut x,
        &NewtonOptions::default(),
    );
    assert!(
        matches!(
            none,
            Err(NewtonError::NoConvergence { row: 0, .. } | NewtonError::Singular { row: 0, .. })
        ),
        "{none:?}"
    );
    let mut x = [-1.0];
    let undefined = newton::solve(
        &mut System::new(1, 1, |x, r| r[0] = x[0].ln()),
        &mut x,
        &NewtonOptions::default(),
    );
    assert_eq!(
        undefined,
        Err(NewtonError::Evaluation {
            reason: EvalReason::NotFinite { row: 0 }
        })
    );
}

#[test]
fn a_singular_start_is_left_behind_and_redundant_equations_are_reported() {
    // x^2 + y = 3, x y = 2 from x = y = 0, where the second row of the Jacobian vanishes; solution (1, 2).
    let mut x = [0.0, 0.0];
    let statistics = newton::solve(
        &mut System::new(2, 2, |x, r| {
            r[0] = x[0] * x[0] + x[1] - 3.0;
            r[1] = x[0] * x[1] - 2.0;
        }),
        &mut x,
        &NewtonOptions::default(),
    )
    .unwrap();
    assert!(
        (x[0] * x[0] + x[1] - 3.0).abs() < 1e-10 && (x[0] * x[1] - 2.0).abs() < 1e-10,
        "{x:?}"
    );
    assert_eq!(statistics.singular, None);
    // The same equation twice: solvable, but not uniquely.
    let mut x = [3.0, 0.0];
    let statistics = newton::solve(
        &mut System::new(2, 2, |x, r| {
            r[0] = x[0] + x[1] - 1.0;
            r[1] = 2.0 * (x[0] + x[1] - 1.0);
        }),
        &mut x,
        &NewtonOptions::default(),
    )
    .unwrap();
    assert!((x[0] + x[1] - 1.0).abs() < 1e-9, "{x:?}");
    assert!(statistics.singular.is_some());
}
