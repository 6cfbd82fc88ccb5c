//! The start of a simulation (MLS 3.6 §8.6): each rule with a small model whose start follows from the text.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::{at, last, near, run_text, values};
use acausal::{InMemory, Load, Model, Settings};

fn short() -> Settings {
    Settings {
        stop: 1.0,
        interval: 0.1,
        ..Settings::default()
    }
}

fn start(text: &str) -> InMemory {
    run_text(text, &short())
}

fn notes(run: &InMemory) -> String {
    let notes = run.summary.notes.iter().map(|n| n.text.clone());
    notes.collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn first(run: &InMemory, name: &str, expected: f64) {
    near(
        values(run, name)[0],
        expected,
        1e-9 * expected.abs().max(1.0),
    );
}

#[track_caller]
fn refused(text: &str, parts: &[&str]) {
    let model =
        Model::from_text("Test.mo", text, &Load::default()).unwrap_or_else(|f| panic!("{f}"));
    let said = match model.simulate_in_memory(&short()) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(f) => f.to_string(),
    };
    for part in parts {
        assert!(said.contains(part), "`{part}` is missing in\n{said}");
    }
    assert!(!said.contains('$'), "a made-up name in\n{said}");
    assert!(!said.contains("residual 0.000e0"), "{said}");
}

#[test]
fn parameters_that_are_not_fixed() {
    // -6 = -2*p*x with x = 1; q depends on p; x(1) = exp(-6).
    let r = start(
        "model P parameter Real p(start = 2, fixed = false); parameter Real q = 2*p;
           Real x(start = 1, fixed = true);
         equation der(x) = -q*x; initial equation der(x) = -6; end P;",
    );
    first(&r, "p", 3.0);
    first(&r, "q", 6.0);
    near(last(&r, "x"), (-6f64).exp(), 1e-6);
}

#[test]
fn a_fixed_start_may_depend_on_a_parameter_that_is_not() {
    // x(0) = p and p + x(0) = 8.
    let r = start(
        "model P parameter Real p(fixed = false); Real x(start = p, fixed = true);
         equation der(x) = 0*time; initial equation p + x = 8; end P;",
    );
    first(&r, "p", 4.0);
    near(last(&r, "x"), 4.0, 1e-9);
}

#[test]
fn arrays_of_parameters_and_whether_they_are_fixed_is_a_parameter() {
    let text = "model P parameter Boolean free = true; parameter Integer n = 3;
           parameter Real k[n](each start = 5, each fixed = not free); Real x[n](each start = 1, each fixed = true);
         equation for i in 1:n loop der(x[i]) = -k[i]*x[i]; end for;
         initial equation if free then for i in 1:n loop der(x[i]) = -i; end for; end if; end P;";
    let r = start(text);
    for i in 1..=3 {
        first(&r, &format!("k[{i}]"), i as f64);
    }
    let r = start(&text.replace("free = true", "free = false"));
    first(&r, "k[2]", 5.0);
}

#[test]
fn a_parameter_without_an_equation_keeps_its_start_and_that_is_said() {
    let r = start(
        "model P parameter Real p(start = 2, fixed = false); Real x(start = 1, fixed = true);
         equation der(x) = -p*x; end P;",
    );
    first(&r, "p", 2.0);
    assert!(notes(&r).contains("p = 2"), "{}", notes(&r));
}

#[test]
fn discrete_variables_by_initial_equations() {
    let r = start(
        "model D Integer n(start = 1); discrete Real d; Boolean b; parameter Integer m(fixed = false);
           Real x(start = 2, fixed = true);
         equation der(x) = d;
           when time > 0.5 then n = pre(n) + 1; d = pre(d) + 1; end when;
           b = pre(b) or time > 0.75;
         initial equation pre(n) = 7; d = 3; pre(b) = false; m = 4; end D;",
    );
    near(at(&r, "n", 0.2), 7.0, 0.0);
    near(last(&r, "n"), 8.0, 0.0);
    near(last(&r, "x"), 2.0 + 1.5 + 2.0, 1e-6);
    near(values(&r, "m")[0], 4.0, 0.0);
    near(values(&r, "b")[0], 0.0, 0.0);
}

#[test]
fn blocks_are_solved_one_after_the_other() {
    // From m = 0 the whole system is singular, its blocks are not.
    let r = start(
        "model B parameter Real p = 2; Real m, x(start = 0, fixed = true);
         equation p*m = 3 + 0*x; m*der(x) = 1; end B;",
    );
    first(&r, "m", 1.5);
    near(last(&r, "x"), 2.0 / 3.0, 1e-9);
    let r = start(
        "model B Real m, y, x(start = 0, fixed = true);
         equation m + 0.1*sin(m) = 3 + x; m*y + 0.1*sin(y) = 1; m*y*der(x) + der(x)^3 = 2; end B;",
    );
    let m = values(&r, "m")[0];
    near(m + 0.1 * m.sin(), 3.0, 1e-10);
}

#[test]
fn fixed_starts_of_variables_that_are_no_states() {
    // y = 2*x is fixed, x is the state.
    let r = start(
        "model F Real x(stateSelect = StateSelect.always), y(start = 4, fixed = true);
         equation der(x) = -x; y = 2*x; end F;",
    );
    first(&r, "x", 2.0);
    near(last(&r, "y"), 4.0 * (-1f64).exp(), 1e-5);
    // A fixed algebraic variable is a condition like any other.
    let r = start(
        "model F Real x, y(start = 3, fixed = true); equation der(x) = 1; y + 0.1*y^3 = x; end F;",
    );
    first(&r, "x", 3.0 + 2.7);
}

#[test]
fn redundant_conditions_are_named_and_contradictions_refused() {
    let text = "model R Real x(start = 1, fixed = true), y(start = 1, fixed = true);
         equation der(x) = -x; y = x; end R;";
    let r = start(text);
    assert!(notes(&r).contains("y = 1"), "{}", notes(&r));
    let bad = text.replace("y(start = 1", "y(start = 2");
    refused(
        &bad,
        &["error[initial-inconsistent]", "y = 2", "Test.mo:1:"],
    );
    let r = start(
        "model R Real x(start = 1, fixed = true); equation der(x) = -2*x; initial equation der(x) = -2; end R;",
    );
    assert!(notes(&r).contains("imply"), "{}", notes(&r));
    refused(
        "model R Real x(start = 1, fixed = true); equation der(x) = -2*x;\n  initial equation der(x) = -3; end R;",
        &["error[initial-inconsistent]", "Test.mo:"],
    );
}

#[test]
fn what_is_said_twice_counts_once() {
    // By structure the two initial equations could determine x and y, and the fixed start of x would be left over.
    let r = start(
        "model Twice Real x(start = 3, fixed = true), y(start = 0.5); initial equation y - 2*x = 1; y - 2*x = 1;
         equation der(x) = -x; der(y) = x - y; end Twice;",
    );
    first(&r, "x", 3.0);
    first(&r, "y", 7.0);
}

#[test]
fn what_is_missing_comes_from_start_values() {
    // One initial equation for two states: the one without a written start is free.
    let r = start(
        "model M Real x(start = 1), v; equation der(x) = v; der(v) = -x; initial equation x + v = 3; end M;",
    );
    first(&r, "x", 1.0);
    first(&r, "v", 2.0);
    assert!(notes(&r).contains("not fixed") && notes(&r).contains("x = 1"));
    // stateSelect decides between two written starts.
    let r = start(
        "model M Real x(start = 1), v(start = 5, stateSelect = StateSelect.prefer); equation der(x) = v; der(v) = -x;
         initial equation x + v = 3; end M;",
    );
    first(&r, "v", 5.0);
    first(&r, "x", -2.0);
}

#[test]
fn start_values_are_kept_where_the_rest_follows_from_them() {
    // x^2 + y^2 = 1 at x = 1, y = 0: keeping x says nothing about y.
    let r = start(
        "model P Real x(start = 1), y(start = 0), u, v, F; equation
           der(x) = u; der(y) = v; der(u) = -F*x; der(v) = -F*y - 9.81; x^2 + y^2 = 1; end P;",
    );
    first(&r, "x", 1.0);
    first(&r, "y", 0.0);
    let r = start(
        "model P Real x(start = 0.9), y(start = 0), u, v, F; equation
           der(x) = u; der(y) = v; der(u) = -F*x; der(v) = -F*y - 9.81; x^2 + y^2 = 1; end P;",
    );
    first(&r, "y", 0.0);
    first(&r, "x", 1.0);
}

#[test]
fn steady_state_on_request() {
    let steady = Settings {
        steady_state: true,
        ..short()
    };
    // x = u/k, and it stays there.
    let text = "model S Real x(start = 7, fixed = true), v; equation der(x) = v; der(v) = 8 - 2*x - v; end S;";
    let r = run_text(text, &steady);
    first(&r, "x", 4.0);
    first(&r, "v", 0.0);
    near(last(&r, "x"), 4.0, 1e-9);
    assert!(notes(&r).contains("x = 7"), "{}", notes(&r));
    // An integrator has no steady state of its own: it keeps its start value.
    let text = "model S Real x(start = 7), v; equation der(x) = v; der(v) = -v; end S;";
    let r = run_text(text, &steady);
    first(&r, "x", 7.0);
    first(&r, "v", 0.0);
    // Nonlinear: cos(x) = x.
    let r = run_text(
        "model S Real x; equation der(x) = cos(x) - x; end S;",
        &steady,
    );
    first(&r, "x", 0.739_085_133_215_160_6);
}

#[test]
fn guesses_of_derivatives_choose_the_branch() {
    // x = der(x)^2: x = (1 + t/2)^2 or (1 - t/2)^2.
    for (guess, end) in [(1.0, 2.25), (-1.0, 0.25)] {
        let r = start(&format!(
            "model T Real x(start = 1, fixed = true), v(start = {guess}); equation v = der(x); x = v^2; end T;"
        ));
        near(last(&r, "x"), end, 1e-5);
    }
}

#[test]
fn homotopy_leads_to_the_solution_that_newton_misses() {
    // exp-like steep equation: from x = 0 Newton's method runs away; the simplified one is linear.
    let text = |actual: &str, simplified: &str| {
        format!(
            "model H Real x, s(start = 0, fixed = true); equation der(s) = 1;
             homotopy({actual}, {simplified}) = 0; end H;"
        )
    };
    // atan(10*(x - 30)) has no slope at x = 0 to speak of; x - 29 leads near.
    let r = start(&text("atan(100*(x - 30)) + 1e-9*s", "x - 29"));
    first(&r, "x", 30.0);
}

#[test]
fn initial_is_true_in_the_equations_of_the_start_only() {
    let r = start(
        "model I Real x(start = 1, fixed = true), y; Boolean b; equation der(x) = -x;
         y = if b then 5 else 2; b = initial(); end I;",
    );
    near(last(&r, "y"), 2.0, 0.0);
}

#[test]
fn guesses_at_which_an_equation_is_not_defined() {
    // log(0) at the guess of a variable without a start value.
    let r = start(
        "model L Real y, x(start = 2, fixed = true); equation der(x) = -x; log(y) + y = x; end L;",
    );
    let y = values(&r, "y")[0];
    near(y.ln() + y, 2.0, 1e-10);
    assert!(notes(&r).contains("guess for y"), "{}", notes(&r));
    refused(
        "model L Real y(start = -1), x(start = 2, fixed = true);\n  equation der(x) = -x; sqrt(y - 5) + sqrt(-y) = x; end L;",
        &["error[initial-", "Test.mo:2:", "y"],
    );
}

#[test]
fn a_block_without_solution_is_shown_with_guess_and_residual() {
    refused(
        "model N\n  Real a, b(start = 3);\nequation\n  a + sin(a) = time;\n  b^2 + 1 + a = 0;\nend N;",
        &[
            "error[initial-",
            "Test.mo:5:3",
            "b^2 + 1 + a = 0",
            "block 2 of 2",
            "b = 3 (the guess)",
        ],
    );
}

#[test]
fn a_dependent_set_is_named_with_its_direction() {
    refused(
        "model D\n  Real x(start = 1), y(start = 1), z;\nequation\n  x*y + sin(z) = 1;\n  x*y*2 + sin(z) = 2 + time;\n  z + 0.1*z^3 = 0*time;\nend D;",
        &[
            "error[initial-singular]",
            "Test.mo:4:3",
            "x*y*2 + sin(z) = 2 + time",
            "`x`",
            "`y`",
            "x by 1, y by -1",
        ],
    );
}

#[test]
fn clocks_may_start_at_a_parameter_that_is_not_fixed() {
    let text = "model C parameter Real t0(fixed = false); Integer n(start = 0, fixed = true);
         initial equation t0 = time;
         equation when sample(t0 + 0.25, 0.5) then n = pre(n) + 1; end when; end C;";
    let settings = Settings {
        start: 10.0,
        stop: 11.0,
        interval: 0.1,
        ..Settings::default()
    };
    let r = run_text(text, &settings);
    near(at(&r, "n", 10.2), 0.0, 0.0);
    near(at(&r, "n", 10.3), 1.0, 0.0);
    near(last(&r, "n"), 2.0, 0.0);
}

#[test]
fn equalities_of_discrete_variables_give_the_one_that_has_no_other_equation() {
    let r = start(
        "model E Boolean a, b, c[2], d; equation a = b; b = c[1]; c[1] = time > 0.5; d = c[2]; c[2] = not a; end E;",
    );
    near(at(&r, "a", 0.2), 0.0, 0.0);
    near(last(&r, "a"), 1.0, 0.0);
    near(last(&r, "d"), 0.0, 0.0);
}

#[test]
fn solutions_that_meet_end_the_run() {
    // x = der(x)^2 with der(x) = -1: (1 - t/2)^2 until t = 2, then x = 0 for any time.
    let text = "model T\n  Real x(start = 1, fixed = true), v(start = -1);\nequation\n  v = der(x);\n  x = der(x)^2;\nend T;";
    let model =
        Model::from_text("Test.mo", text, &Load::default()).unwrap_or_else(|f| panic!("{f}"));
    let settings = Settings {
        stop: 5.0,
        interval: 0.01,
        ..Settings::default()
    };
    let said = match model.simulate_in_memory(&settings) {
        Ok(_) => panic!("went on"),
        Err(f) => f.to_string(),
    };
    for part in [
        "error[solutions-meet]",
        "at time = ",
        "Test.mo:5:3",
        "der(x)",
    ] {
        assert!(said.contains(part), "`{part}` is missing in\n{said}");
    }
    let (_, t) = said.split_once("at time = ").unwrap();
    let t: f64 = t.split(':').next().unwrap().parse().unwrap();
    near(t, 2.0, 1e-3);
}

#[test]
fn failures_inside_of_functions_are_named() {
    let text = "model F\n  function f\n    input Real u;\n    output Real y;\n  protected\n    Real s;\n  algorithm\n    s := u;\n    while s > 1 loop s := s - 1; end while;\n    assert(u < 0.5, \"u is too large\");\n    y := s + u;\n  end f;\n  Real x(start = 0, fixed = true);\nequation\n  der(x) = 1 + 0.1*f(x);\nend F;";
    let model =
        Model::from_text("Test.mo", text, &Load::default()).unwrap_or_else(|f| panic!("{f}"));
    let said = match model.simulate_in_memory(&short()) {
        Ok(_) => panic!("went on"),
        Err(f) => f.to_string(),
    };
    assert!(said.contains("u is too large"), "{said}");
}

/// Derivatives in initial equations of variables that are differentiated nowhere else.
#[test]
fn derivatives_of_variables_that_are_no_states() {
    // y = 2*x + z[1], z = {3*x, x}: der(y) = 5*der(x) = -10 gives x = 2.
    let r = start(
        "model D Real x(stateSelect = StateSelect.always), y, z[2]; equation der(x) = -x; y = 2*x + z[1]; z = {3*x, x};
         initial equation der(y) = -10; end D;",
    );
    first(&r, "x", 2.0);
    // The acceleration of the start, through a name for the speed: a = -4*phi + 2*u at phi = 1 gives u = 3.
    let r = start(
        "model A Real phi(start = 1, fixed = true), w(start = 0, fixed = true), v; parameter Real u(fixed = false);
         equation der(phi) = w; der(w) = -4*phi + 2*u; v = 3*w; initial equation der(v) = 6; end A;",
    );
    first(&r, "u", 3.0);
    // Algebraic loops are differentiated as well: i + i^3 = x, der(i) = der(x)/(1 + 3*i^2) = -10/13 ... at x = 10, i = 2.
    let r = start(
        "model L Real x(start = 9), i(start = 1.8); equation der(x) = -x; i + i^3 = x;
         initial equation der(i) = -10/13; end L;",
    );
    first(&r, "x", 10.0);
}

/// `pre(v)` is an unknown of the start: an initial equation about `active` determines the left limits behind it, against
/// the direction in which the equations are evaluated later.
#[test]
fn initial_equations_determine_left_limits() {
    for (given, expected) in [("true", 1.0), ("false", 0.0)] {
        let text = format!(
            "model Step Boolean active, localActive, newActive, oldActive; Boolean go = time > 0.5; Integer n(start = 0, fixed = true);
             initial equation active = {given}; pre(newActive) = pre(localActive); pre(oldActive) = pre(localActive);
             equation active = localActive; localActive = pre(newActive);
             newActive = if go then not oldActive else localActive;
             when change(go) then oldActive = localActive; n = pre(n) + 1; end when; end Step;"
        );
        let run = start(&text);
        for name in ["active", "localActive", "newActive", "oldActive"] {
            first(&run, name, expected);
        }
        near(at(&run, "active", 0.4), expected, 0.0);
        near(last(&run, "active"), 1.0 - expected, 0.0);
        near(last(&run, "n"), 1.0, 0.0);
    }
}

/// A parameter that is zero takes an unknown out of its equation: `i*R = v - w` determines the current unless R is zero.
/// Without resistance w = v and i = C; without capacity i = 0 and w = v; with both it is a low pass.
#[test]
fn zero_parameters_change_the_structure() {
    for (r, c) in [("0", "1"), ("2", "1"), ("2", "0")] {
        let text = format!(
            "model Zero parameter Real R = {r}; parameter Real R1 = R; parameter Real C = {c};
             Real v, w(start = 0), i; equation v = time; i*R1 = v - w; i = C*der(w) - 0*v; end Zero;"
        );
        let model = Model::from_text("Zero.mo", &text, &Load::default());
        let run = model
            .unwrap_or_else(|f| panic!("{f}"))
            .simulate_in_memory(&short());
        let run = run.unwrap_or_else(|f| panic!("R = {r}, C = {c}: {f}"));
        let t = 0.5;
        let w = match (r, c) {
            ("2", "1") => t - 2.0 * (1.0 - f64::exp(-t / 2.0)),
            _ => t,
        };
        near(at(&run, "w", t), w, 1e-5);
        near(at(&run, "v", t), t, 1e-12);
    }
}

/// What a flow carries through a point without volume: with no flow the enthalpy there lies between those of the two sides.
/// An `if` that says the same is taken as it is written and leaves it open: it stays at its guess, which is told.
#[test]
fn what_a_flow_carries_when_nothing_flows() {
    let model = |h: &str| {
        format!(
            "model Rest Real m, h; equation m = if time < 2 then 0 else 1; {h}; annotation(experiment(StopTime = 1)); end Rest;"
        )
    };
    let r = start(&model("semiLinear(m, h, 100) + semiLinear(-m, h, 300) = 0"));
    first(&r, "h", 200.0);
    let text = model("(if m >= 0 then m*h else m*100) + (if -m >= 0 then -m*h else -m*300) = 0");
    let model = Model::from_text(
        "Rest.mo",
        &text.replace("h;", "h(start = 7);"),
        &Load::default(),
    );
    let mut settings = short();
    settings.stop = 3.0;
    let run = (model.unwrap_or_else(|f| panic!("{f}"))).simulate_in_memory(&settings);
    let run = run.unwrap_or_else(|f| panic!("{f}"));
    near(at(&run, "h", 1.0), 7.0, 1e-12);
    // The flow begins, and brings the enthalpy of where it comes from.
    near(at(&run, "h", 2.5), 300.0, 1e-9);
    let told = run.summary.warnings.join("\n");
    assert!(told.contains("do not determine h at time = 0"), "{told}");
    assert!(told.contains("h = 7"), "{told}");
}

#[test]
fn start_values_choose_where_the_numbers_leave_something_open() {
    // Two nodes without a way for their charge: der(q) = 0 holds for every charge. The written start value is kept.
    let r = start(
        "model Floating parameter Real g[2] = {0, 0}, leak = 0; Real q[2](start = {0.3, 0.1}), v[2](each start = 7);
         initial equation der(q[1]) = 0; der(q[2]) = 0;
         equation for i in 1:2 loop q[i] = 2*v[i]; der(q[i]) = -g[i]*v[i] - leak*v[i]^3; end for; end Floating;",
    );
    first(&r, "q[1]", 0.3);
    first(&r, "v[2]", 0.05);
    let said = notes(&r);
    for part in [
        "the conditions of the start do not determine q[1], q[2]",
        "were used: q[1] = 0.3, q[2] = 0.1",
        "that the others imply: `der(q[1]) = 0`, `der(q[2]) = 0`",
    ] {
        assert!(said.contains(part), "{said}");
    }
    // The same as a steady state on request, where the slopes of zero are left out.
    let text = "model Floating parameter Real g = 0; Real q(start = 0.3), w(start = 5), v;
         equation q = 2*v; der(q) = -g*v; der(w) = 3 - w; end Floating;";
    let steady = Settings {
        steady_state: true,
        ..short()
    };
    let r = run_text(text, &steady);
    first(&r, "q", 0.3);
    first(&r, "w", 3.0);
    assert!(notes(&r).contains("were used: q = 0.3"), "{}", notes(&r));
    // With a source there is no steady state at all, and that is an error.
    refused(
        "model Fed parameter Real g = 0; Real q(start = 0.3), v;
         initial equation der(q) = 0; equation q = 2*v; der(q) = 1 - g*v; end Fed;",
        &[
            "error[initial-inconsistent]: `der(q) = 0` contradicts the other conditions",
            "residual 1.000e0",
        ],
    );
}

#[test]
fn elements_of_arrays_are_named_without_names_of_the_compiler() {
    refused(
        "model Springs parameter Integer n = 4;
           Real x[n](start = {1, 2, 3, 4}, each fixed = true), v[n](each fixed = true), L;
         equation der(x) = v; for i in 1:n-1 loop der(v[i]) = -x[i]; end for; sum(x) = 5; L = der(v[n]); end Springs;",
        &["error[initial-inconsistent]: `x[4] = 4` contradicts"],
    );
    // An equation between whole arrays has no iterator of the user's.
    refused(
        "model Loop parameter Real A[2, 2] = {{1, 1}, {1, 1}}; Real x[2](start = {1, 0});
         equation A*x.^3 = {1, 2}; end Loop;",
        &["initial-", "element ["],
    );
    // One that the user calls `i1` is the user's.
    refused(
        "model Loop parameter Real A[2, 2] = {{1, 1}, {1, 1}}; Real x[2](start = {1, 0});
         equation for i1 in 1:2 loop A[i1, :]*x.^3 = i1; end for; end Loop;",
        &["initial-", "for i1 = "],
    );
}

/// Large enough to start by division, with equations in another order than their unknowns and of very different size: every slope comes from
/// its own equation.
#[test]
fn slopes_of_large_explicit_models_come_from_their_own_equations() {
    let run = start(
        "model Swapped
          constant Integer N = 1500;
          Real x[N](each start = 1, each fixed = true);
          Real y[N](each start = 0, each fixed = true);
          Real slope = der(x[7]);
        equation
          for k in 1:N loop
            1e12*der(y[k]) = -1e12*y[k];
          end for;
          for k in 1:N loop
            der(x[k]) = -3*x[k];
          end for;
        end Swapped;",
    );
    first(&run, "slope", -3.0);
}

/// Two inductors in a ring carry a current that nothing else determines; the choice of what is held at the start is the same whatever the unit of time is. (From 1e-8 s on `l10.i` was not
/// determined: derivatives counted in units per second.)
#[test]
fn the_choice_of_start_values_does_not_depend_on_the_unit_of_time() {
    for unit in [1e6, 1.0, 1e-6, 1e-8, 1e-9, 1e-12] {
        let text = format!(
            "connector Pin Real v; flow Real i; end Pin;
            partial model OnePort Pin p, n; Real v, i; equation v = p.v - n.v; 0 = p.i + n.i; i = p.i; end OnePort;
            model Resistor extends OnePort; parameter Real R = 1; equation v = R*i; end Resistor;
            model Inductor extends OnePort; parameter Real L; equation L*der(i) = v; end Inductor;
            model Capacitor extends OnePort; parameter Real C; equation C*der(v) = i; end Capacitor;
            model Ground Pin p; equation p.v = 0; end Ground;
            model Ring
              parameter Real T = {unit};
              Inductor l0(L = T), l4(L = T), l10(L = T);
              Resistor r2, l5;
              Capacitor c7(C = T);
              Ground ground;
            equation
              connect(l0.p, l5.p);
              connect(l0.n, r2.p);
              connect(r2.p, c7.p);
              connect(r2.n, l4.p);
              connect(l4.p, c7.n);
              connect(c7.n, l10.p);
              connect(l4.n, l10.n);
              connect(l5.n, ground.p);
            end Ring;"
        );
        let run = start(&text);
        first(&run, "l0.i", 0.0);
        first(&run, "l4.i", -values(&run, "l10.i")[0]);
    }
}

/// An input at the top that nothing drives has its start value, not zero.
#[test]
fn inputs_that_nobody_gives_have_their_start_values() {
    let run = start(
        "model M input Real u(start = 3); input Real w[2](start = {1, 2}); input Integer k(start = 4);
         Real x(start = 0, fixed = true); equation der(x) = u + w[2] + k; end M;",
    );
    first(&run, "w[2]", 2.0);
    near(last(&run, "x"), 9.0, 1e-9);
}
