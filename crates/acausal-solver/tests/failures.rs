//! Failures are typed and name time, variable and equation.

mod problems;

use acausal_solver::{
    Bdf, BdfOptions, Dae, DaeError, EvalReason, InvalidInput, Pattern, SolverError, StepLimit,
    StepOutcome,
};
use problems::{Dense, run, tolerances};

#[test]
fn a_model_that_ends_in_nan_stops_there_and_names_the_row() {
    let mut dae = Dense::new(2, |t, _, yp, r| {
        r[0] = yp[0] - 1.0;
        r[1] = yp[1] - (1.0 - t).sqrt();
    });
    let error = run(
        &mut dae,
        tolerances(1e-6, 1e-6),
        2.0,
        &[0.0, 0.0],
        &[1.0, 1.0],
    )
    .err()
    .unwrap();
    let t = match error {
        SolverError::Evaluation {
            t,
            reason: EvalReason::NotFinite { row: 1 },
            ..
        } => t,
        SolverError::StepTooSmall {
            t,
            limit: StepLimit::Evaluation(EvalReason::NotFinite { row: 1 }),
            ..
        } => t,
        other => panic!("{other:?}"),
    };
    assert!(t <= 1.0 && t > 0.999, "{t}");
}

#[test]
fn a_finite_escape_is_reported_with_its_variable() {
    // y' = y^2 blows up at t = 1.
    let mut dae = Dense::new(2, |_, y, yp, r| {
        r[0] = yp[0] + y[0];
        r[1] = yp[1] - y[1] * y[1];
    });
    let error = run(
        &mut dae,
        tolerances(1e-6, 1e-6),
        2.0,
        &[1.0, 1.0],
        &[-1.0, 1.0],
    )
    .err()
    .unwrap();
    match error {
        SolverError::StepTooSmall { t, .. } | SolverError::RepeatedFailure { t, .. } => {
            assert!((t - 1.0).abs() < 1e-3, "{error:?}");
        }
        SolverError::Evaluation { t, .. } => assert!((t - 1.0).abs() < 1e-3, "{error:?}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn singular_matrices_name_row_and_column() {
    // x + y = t and 2 (x + y) = 2 t: dependent.
    let mut dae = Dense::new(3, |t, y, yp, r| {
        r[0] = yp[0] + y[0];
        r[1] = y[1] + y[2] - t;
        r[2] = 2.0 * (y[1] + y[2] - t);
    });
    let error = run(
        &mut dae,
        tolerances(1e-6, 1e-6),
        1.0,
        &[1.0, 0.0, 0.0],
        &[-1.0, 0.5, 0.5],
    )
    .err()
    .unwrap();
    match error {
        SolverError::SingularMatrix {
            row: 1 | 2,
            col: 1 | 2,
            structural: false,
            ..
        } => {}
        other => panic!("{other:?}"),
    }
}

struct Structural(Pattern);

impl Dae for Structural {
    fn residual(&mut self, _t: f64, _y: &[f64], yp: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
        r[0] = yp[0];
        r[1] = yp[0] - 1.0;
        Ok(())
    }
    fn jacobian(
        &mut self,
        _t: f64,
        _y: &[f64],
        _yp: &[f64],
        cj: f64,
        v: &mut [f64],
    ) -> Result<(), DaeError> {
        v.fill(cj);
        Ok(())
    }
    fn pattern(&self) -> &Pattern {
        &self.0
    }
}

#[test]
fn structural_singularity_is_found_before_the_first_step() {
    let mut dae = Structural(Pattern::from_entries(2, [(0, 0), (1, 0)]).unwrap());
    let mut bdf = Bdf::new(BdfOptions::default(), 0.0, &[0.0; 2], &[0.0; 2]).unwrap();
    let error = bdf.step(&mut dae, 1.0).unwrap_err();
    assert!(
        matches!(
            error,
            SolverError::SingularMatrix {
                col: 1,
                structural: true,
                ..
            }
        ),
        "{error:?}"
    );
}

struct Refusing(Pattern, bool);

impl Dae for Refusing {
    fn residual(&mut self, t: f64, y: &[f64], yp: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
        r[0] = yp[0] + y[0];
        match (t > 0.5, self.1) {
            (true, true) => Err(DaeError::Fatal(EvalReason::Caller { code: 7 })),
            (true, false) => Err(DaeError::Recoverable(EvalReason::Caller { code: 8 })),
            _ => Ok(()),
        }
    }
    fn jacobian(
        &mut self,
        _t: f64,
        _y: &[f64],
        _yp: &[f64],
        cj: f64,
        v: &mut [f64],
    ) -> Result<(), DaeError> {
        v[0] = cj + 1.0;
        Ok(())
    }
    fn pattern(&self) -> &Pattern {
        &self.0
    }
}

#[test]
fn reasons_of_the_caller_come_back() {
    let fatal = run(
        &mut Refusing(Pattern::dense(1), true),
        tolerances(1e-6, 1e-6),
        1.0,
        &[1.0],
        &[-1.0],
    );
    match fatal.err().unwrap() {
        SolverError::Evaluation {
            reason: EvalReason::Caller { code: 7 },
            t,
            ..
        } => assert!(t <= 0.5),
        other => panic!("{other:?}"),
    }
    let recoverable = run(
        &mut Refusing(Pattern::dense(1), false),
        tolerances(1e-6, 1e-6),
        1.0,
        &[1.0],
        &[-1.0],
    );
    match recoverable.err().unwrap() {
        SolverError::Evaluation {
            reason: EvalReason::Caller { code: 8 },
            t,
            ..
        }
        | SolverError::StepTooSmall {
            limit: StepLimit::Evaluation(EvalReason::Caller { code: 8 }),
            t,
            ..
        } => {
            // Smaller steps were tried before giving up.
            assert!(t > 0.49 && t <= 0.5, "{t}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn limits_and_wrong_input() {
    let mut dae = Dense::new(1, |t, _, yp, r| r[0] = yp[0] - (50.0 * t).cos());
    let options = BdfOptions {
        max_steps: 10,
        ..tolerances(1e-8, 1e-8)
    };
    let error = run(&mut dae, options, 10.0, &[0.0], &[1.0]).err().unwrap();
    assert!(
        matches!(error, SolverError::TooManySteps { steps: 10, .. }),
        "{error:?}"
    );

    let error = run(&mut dae, tolerances(1e-18, 0.0), 10.0, &[1.0], &[1.0])
        .err()
        .unwrap();
    assert!(
        matches!(error, SolverError::TooMuchAccuracy { .. }),
        "{error:?}"
    );

    let invalid = |options: BdfOptions| match Bdf::new(options, 0.0, &[0.0], &[0.0]) {
        Err(SolverError::InvalidInput { what, .. }) => what,
        _ => panic!("accepted"),
    };
    assert_eq!(
        invalid(tolerances(-1.0, 1.0)),
        InvalidInput::RelativeTolerance
    );
    assert_eq!(
        invalid(tolerances(0.0, 0.0)),
        InvalidInput::AbsoluteTolerance
    );
    assert_eq!(
        invalid(BdfOptions {
            max_order: 6,
            ..BdfOptions::default()
        }),
        InvalidInput::Order
    );
    assert_eq!(
        invalid(BdfOptions {
            error_test: vec![false],
            ..BdfOptions::default()
        }),
        InvalidInput::ErrorTestMask
    );

    let mut bdf = Bdf::new(BdfOptions::default(), 1.0, &[0.0], &[1.0]).unwrap();
    let error = bdf.step(&mut dae, 0.0).unwrap_err();
    assert!(matches!(
        error,
        SolverError::InvalidInput {
            what: InvalidInput::StopTime,
            ..
        }
    ));
    assert_eq!(bdf.step(&mut dae, 1.0).unwrap(), StepOutcome::StopReached);
}
