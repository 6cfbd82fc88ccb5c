//! Models of the literature that must be refused, and what is said about them (checklist DI-1): the message names the
//! equation at its line.
#![allow(clippy::unwrap_used, clippy::panic)]

use acausal::{Failure, Load, Model};

/// What is said about a text, compiled and simulated.
fn complaint(text: &str, set: &[&str]) -> String {
    let load = Load {
        set: set.iter().map(|s| s.to_string()).collect(),
        ..Load::default()
    };
    let run = || -> Result<(), Failure> {
        let model = Model::from_text("Test.mo", text, &load)?;
        let mut settings = model.settings();
        settings.max_steps = 100_000;
        model.simulate_in_memory(&settings).map(|_| ())
    };
    match run() {
        Ok(()) => panic!("accepted:\n{text}"),
        Err(failure) => failure.to_string(),
    }
}

fn seed(file: &str) -> String {
    std::fs::read_to_string(crate::common::example_path(&format!("seeds/{file}.mo"))).unwrap()
}

#[track_caller]
fn says(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "`{part}` is missing in\n{said}");
    }
}

#[test]
fn di_1_energy_pendulum_is_singular_at_rest() {
    let said = complaint(&seed("M_4_1_EnergyPendulum"), &[]);
    says(
        &said,
        &[
            "error[initial-singular]",
            "Test.mo:6:3",
            "der(x)^2 + der(y)^2",
            "`der(x)` and `der(y)`",
            // The circle, differentiated, is what it is solved with.
            "x^2 + y^2 = l^2",
        ],
    );
}

#[test]
fn di_1_two_branches_without_a_choice() {
    // At der(x) = 0 neither branch of x = der(x)^2 is nearer.
    let text = "model B\n  Real x(start = 1, fixed = true);\nequation\n  x - der(x)^2 = 0;\nend B;";
    says(
        &complaint(text, &[]),
        &["error[initial-singular]", "Test.mo:4:3", "der(x)"],
    );
}

#[test]
fn di_1_solutions_that_meet_end_the_run() {
    // (1 - t/2)^2 meets x = 0 at t = 2, whether the derivative has a name or not; the other branch meets nothing.
    let direct = "model B\n  Real x(start = 1, fixed = true);\ninitial equation\n  der(x) = -1;\nequation\n  x - der(x)^2 = 0;\n  annotation(experiment(StopTime = 3));\nend B;";
    let named = seed("CK_5_7_TwoBranches").replace("StopTime = 2", "StopTime = 3");
    for (text, set) in [(direct, &[][..]), (&named, &["w0=-1"])] {
        let said = complaint(text, set);
        says(&said, &["error[solutions-meet]", "Test.mo:6:3"]);
        let at = said
            .split("time = ")
            .nth(1)
            .and_then(|s| s.split(':').next());
        crate::common::near(at.unwrap_or(&said).parse().unwrap(), 2.0, 1e-3);
    }
    let load = Load::default();
    let model = Model::from_text("Test.mo", &named, &load).unwrap_or_else(|f| panic!("{f}"));
    assert!(model.simulate_in_memory(&model.settings()).is_ok());
}

#[test]
fn di_1_inertias_that_cancel() {
    let said = complaint(&seed("M_4_3_Rigid"), &["J2=-2"]);
    says(&said, &["error[initial-singular]", "Test.mo:", "der(w1)"]);
}

#[test]
fn di_1_equation_without_slope() {
    // (18h) at x8 = 0: d/dx8 (x8 - sin(x8)) = 0.
    let text =
        "model H\n  Real x8(start = 0);\nequation\n  0 = sin(8*time) + x8 - sin(x8);\nend H;";
    says(
        &complaint(text, &[]),
        &["error[initial-singular]", "Test.mo:4:3", "x8"],
    );
}

#[test]
fn di_1_parallel_sources() {
    let text = "model P\n  parameter Real V1 = 10, V2 = 11, R = 5;\n  Real v, i1, i2, iR;\nequation\n  v = V1;\n  \
                v = V2;\n  v = R*iR;\n  i1 + i2 = iR;\nend P;";
    let said = complaint(text, &[]);
    says(
        &said,
        &["error[contradiction]", "V1 = V2", "v = V1", "v = V2"],
    );
}

#[test]
fn di_1_as_many_equations_as_unknowns_but_not_everywhere() {
    // sin keeps the equations out of the exact elimination.
    let text = "model S\n  Real x, y, z;\nequation\n  sin(x) = 0.5;\n  cos(x) = time;\n  sin(y) = x;\nend S;";
    let said = complaint(text, &[]);
    says(
        &said,
        &[
            "error[overdetermined]",
            "Test.mo:4:3",
            "cos(x) = time",
            "error[underdetermined]",
            "`z` is not determined",
            "Test.mo:2:14",
        ],
    );
}

#[test]
fn di_1_one_equation_too_many_or_too_few() {
    let over = "model O\n  Real x(start = 1), y;\nequation\n  der(x) = -x;\n  y = 2*x;\n  y = 3*x + 1;\nend O;";
    says(
        &complaint(over, &[]),
        &[
            "3 equations for 2 unknowns",
            "overdetermined",
            "y = 3*x + 1",
            "`y`",
        ],
    );
    let under =
        "model U\n  Real x(start = 1), y, z;\nequation\n  der(x) = -x + y;\n  y + z = 2*x;\nend U;";
    says(
        &complaint(under, &[]),
        &[
            "2 equations for 3 unknowns",
            "underdetermined",
            "y + z = 2*x",
            "`z`",
        ],
    );
}

/// The warnings for a text that compiles.
fn warnings(text: &str) -> Vec<String> {
    let model = Model::from_text("Test.mo", text, &Load::default()).unwrap();
    let render = |d: &acausal_base::Diagnostic| d.render(&model.sources, false);
    model.warnings.iter().map(render).collect()
}

#[test]
fn di_1_nonlinear_derivatives_are_a_warning() {
    // Mattsson's example 2.1 and (7.72): the derivatives enter with squares.
    let said = warnings(&seed("M_4_1_EnergyPendulum")).concat();
    says(
        &said,
        &[
            "warning[several-solutions]",
            "`der(x)`, `der(y)` enter nonlinearly",
            "Test.mo:6:3",
        ],
    );
    let text = "model B\n  Real x(start = 1, fixed = true);\nequation\n  x - der(x)^2 = 0;\nend B;";
    says(
        &warnings(text).concat(),
        &[
            "warning[several-solutions]",
            "`der(x)` enters nonlinearly",
            "Test.mo:4:3",
        ],
    );
    // Linear, a product with a state, and a derivative in a condition only: nothing to say.
    for equation in [
        "2*der(x) = -x",
        "x*der(x) = -1",
        "(if der(x) > 0 then 2*der(x) else der(x)) = -x",
    ] {
        let text = format!("model L Real x(start = 1); equation {equation}; end L;");
        assert_eq!(warnings(&text), [""; 0], "{equation}");
    }
}

#[test]
fn di_1_counts_of_unknowns() {
    // x and der(x) are one unknown.
    let text = "model U\n  Real x, y;\nequation\n  der(y) = sin(y) + x;\n  sin(y) = 1;\n  cos(y) = 0;\nend U;";
    let said = complaint(text, &[]);
    assert!(
        !said.contains("1 unknowns") && !said.contains("1 equations"),
        "{said}"
    );
    let text = "model Z\n  Real x, y, z;\nequation\n  sin(x) = 0.5;\n  cos(x) = time;\n  der(y) + der(z) = 1;\nend Z;";
    says(&complaint(text, &[]), &["(1 equation for 2 unknowns)"]);
}
