//! What the language allows and what it forbids (MLS 3.6): tables of models with their outcome.
//!
//! A model that is accepted names a signal and its value at the end (`time = 1`), from theory; one that is refused names the code of its message.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::{last, near, run_text};
use acausal::{Load, Model, Settings};

/// The code of the first error, from the compiler or from the simulation; with `--set` options.
fn refused(text: &str, set: &[&str]) -> String {
    let load = Load {
        set: set.iter().map(|s| s.to_string()).collect(),
        ..Load::default()
    };
    let failure = match Model::from_text("Test.mo", text, &load) {
        Err(failure) => failure,
        Ok(model) => match model.simulate_in_memory(&Settings::default()) {
            Err(failure) => failure,
            Ok(_) => panic!("accepted: {text}"),
        },
    };
    let first = failure.diagnostics.iter().find(|d| d.is_error()).unwrap();
    assert!(
        set.is_empty() || !first.message.is_empty(),
        "a message without text"
    );
    first.code.to_string()
}

fn flat(text: &str) -> acausal_expr::flat::FlatModel {
    let mut libraries = acausal_instance::class::Libraries::new();
    libraries.load_text("Test.mo", text).unwrap();
    let flattened = acausal_flatten::flatten(&mut libraries, "M", &[]);
    flattened.unwrap().0
}

fn check_refused(table: &[(&str, &str)]) {
    for (text, code) in table {
        assert_eq!(&refused(text, &[]), code, "{text}");
    }
}

fn check_values(table: &[(&str, &str, f64)]) {
    for (text, signal, value) in table {
        println!("{text}");
        near(
            last(&run_text(text, &Settings::default()), signal),
            *value,
            1e-6,
        );
    }
}

#[test]
fn a_branch_that_is_not_taken_has_no_bounds() {
    let chain = |condition: &str, n: usize| {
        format!(
            "model M parameter Integer N = {n}; Real x[N](start = {{i for i in 1:N}}, each fixed = true); Real d[N]; equation \
             for i in 1:N loop der(x[i]) = 0; d[i] = if {condition} then x[i+1] - 2*x[i] else -5; end for; end M;"
        )
    };
    // d[i] = i + 1 - 2*i = 1 - i below the last.
    for (condition, n) in [
        ("i < N", 4),
        ("i <> N", 4),
        ("i + 1 <= N", 50),
        ("2*i < 2*N - 1", 9),
    ] {
        let run = run_text(&chain(condition, n), &Settings::default());
        near(last(&run, &format!("d[{}]", n - 1)), 2.0 - n as f64, 1e-9);
        near(last(&run, &format!("d[{n}]")), -5.0, 1e-9);
    }
    check_values(&[
        // A parameter that decides nothing else.
        (
            "model M parameter Integer k = 3; Real x[4] = {i*time for i in 1:4}; Real d[4]; equation for i in 1:4 loop \
             d[i] = if i <= k then x[i+1] else x[1]; end for; end M;",
            "d[3]",
            4.0,
        ),
        // The other way round, in a comprehension, and in sums that are short and long.
        (
            "model M parameter Integer n = 4; Real x[n] = {i*time for i in 1:n}; Real d[n] = {if i == n then x[n] else x[i+1] for i in 1:n}; end M;",
            "d[4]",
            4.0,
        ),
        (
            "model M parameter Integer n = 4; Real x[n] = {i*time for i in 1:n}; Real s = sum(if j < n then x[j+1] else 0 for j in 1:n); end M;",
            "s",
            9.0,
        ),
        (
            "model M parameter Integer n = 20; Real x[n] = {i*time for i in 1:n}; Real s = sum(if j < n then x[j+1] else 0 for j in 1:n); end M;",
            "s",
            209.0,
        ),
        // Two iterators, and a condition that is not affine: written out.
        (
            "model M parameter Integer n = 4; Real x[n] = {i*time for i in 1:n}; Real y[n,n]; equation for i in 1:n, j in 1:n loop \
             y[i,j] = if i + j <= n then x[i+j] else 0; end for; end M;",
            "y[1,3]",
            4.0,
        ),
        (
            "model M parameter Integer n = 4; Real x[n] = {i*time for i in 1:n}; Real y[n]; equation for i in 1:n loop \
             y[i] = if mod(i, 2) == 1 then x[i+1] else -1; end for; end M;",
            "y[3]",
            4.0,
        ),
    ]);
    check_refused(&[
        (
            "model M parameter Integer n = 4; Real x[n] = {i*time for i in 1:n}; Real y[n]; equation for i in 1:n loop \
             y[i] = if i <= n then x[i+1] else 0; end for; end M;",
            "subscript-bounds",
        ),
        (
            "model M Real x[3] = {1, 2, 3}*time; Real y[3] = {x[i+1] for i in 1:3}; end M;",
            "subscript-bounds",
        ),
    ]);
}

#[test]
fn a_boundary_does_not_take_an_array_apart() {
    let text = "model M parameter Integer n = 1000; Real x[n](each start = 1, each fixed = true); equation for i in 1:n loop \
                der(x[i]) = if i < n then x[i+1] - x[i] else 0; end for; end M;";
    assert_eq!(flat(text).equations.len(), 2);
}

#[test]
fn ranges_depend_on_outer_iterators() {
    let x = "parameter Integer n = 4; Real x[n] = {i*time for i in 1:n};";
    check_values(&[
        (
            &format!("model M {x} Real z[n] = {{sum(x[j] for j in 1:i) for i in 1:n}}; end M;"),
            "z[4]",
            10.0,
        ),
        (
            &format!("model M {x} Real s = sum(sum(x[j] for j in 1:i) for i in 1:n); end M;"),
            "s",
            20.0, // 1 + 3 + 6 + 10
        ),
        (
            &format!("model M {x} Real s = sum(x[i]*x[j] for i in 1:j-1, j in 1:n); end M;"),
            "s",
            35.0, // (10^2 - 30)/2
        ),
        (
            &format!(
                "model M {x} Real m = max(max(x[j] for j in i:n) - x[i] for i in 1:n); end M;"
            ),
            "m",
            3.0,
        ),
        (
            &format!("model M {x} Real p = product(sum(1 for j in 1:i) for i in 1:n); end M;"),
            "p",
            24.0,
        ),
    ]);
    check_refused(&[(
        "model M Real a[3] = {1, 2, 3}*time; Integer k = integer(time); Real s = sum(a[i] for i in 1:k); end M;",
        "not-constant",
    )]);
}

#[test]
fn the_first_of_several_outputs_counts() {
    let f =
        "function f input Real a; output Real y; output Real z; algorithm y := a; z := 2*a; end f;";
    check_values(&[
        (
            &format!("model M {f} Real v[2] = {{5, f(time)}}; end M;"),
            "v[2]",
            1.0,
        ),
        (
            &format!("model M {f} Real w = if time < 0.5 then f(time) else 3; end M;"),
            "w",
            3.0,
        ),
        (
            &format!("model M {f} Real s = sum({{f(time), f(2*time)}}); end M;"),
            "s",
            3.0,
        ),
        (
            &format!("model M {f} Real s = sum(f(i*time) for i in 1:3); end M;"),
            "s",
            6.0,
        ),
        (
            &format!(
                "model M {f} function g input Real a; output Real y; algorithm y := sum({{a, f(a)}}); end g; Real q = g(time); end M;"
            ),
            "q",
            2.0,
        ),
    ]);
}

#[test]
fn semi_linear_has_the_size_of_its_arguments() {
    check_refused(&[
        (
            "model M Real x = time; Real y = semiLinear(x, 3, 1:3); end M;",
            "size-mismatch",
        ),
        (
            "model M Real x = time; Real y = semiLinear(x, 3, {1, 2}); end M;",
            "size-mismatch",
        ),
        (
            "model M Real y = semiLinear(time, {1, 2, 3}, {1, 2}); end M;",
            "argument-shape",
        ),
    ]);
    check_values(&[(
        "model M Real y[2] = semiLinear(time - 3, 3, {1, 2}); end M;",
        "y[2]",
        -4.0,
    )]);
}

#[test]
fn only_states_are_reinitialised() {
    check_refused(&[
        (
            "model M Real x = time; Real y(start = 0, fixed = true); equation der(y) = 1; when time > 0.5 then reinit(x, 3); end when; end M;",
            "reinit-not-a-state",
        ),
        (
            "model M Real x, y(start = 0, fixed = true); equation der(y) = 1; x = 2*y + 1; when time > 0.5 then reinit(x, 3); end when; end M;",
            "reinit-not-a-state",
        ),
        (
            "model M discrete Real d(start = 1, fixed = true); Real y(start = 0, fixed = true); equation der(y) = 1; when time > 0.2 then d = 2; \
             end when; when time > 0.5 then reinit(d, 3); end when; end M;",
            "reinit-not-a-state",
        ),
    ]);
    check_values(&[
        // Another name of a state is one.
        (
            "model M Real x, y(start = 0, fixed = true); equation der(y) = 1; x = y; when time > 0.5 then reinit(x, 3); end when; end M;",
            "y",
            3.5,
        ),
        (
            "model M Real x[3](each start = 0, each fixed = true); equation der(x) = {1, 1, 1}; when time > 0.5 then reinit(x[2], 3); end when; end M;",
            "x[2]",
            3.5,
        ),
    ]);
}

#[test]
fn a_state_is_reinitialised_in_one_clause() {
    let in_model = |rest: &str| {
        format!(
            "model M Real x(start = 0, fixed = true), y[4](each start = 0, each fixed = true); Real z = x; Boolean c = time > 0.2; \
             equation der(x) = 1; der(y) = ones(4); {rest} end M;"
        )
    };
    for twice in [
        "when time > 0.5 then reinit(x, 1); end when; when time > 0.6 then reinit(x, 2); end when;",
        "when time > 0.5 then reinit(x, 1); end when; algorithm when time > 0.6 then reinit(x, 2); end when;",
        "when time > 0.5 then reinit(x, 1); end when; when time > 0.6 then reinit(z, 2); end when;",
        "when time > 0.5 then reinit(x, 1); reinit(x, 2); end when;",
        "when time > 0.5 then reinit(x, 1); if c then reinit(x, 2); end if; end when;",
        "when time > 0.5 then reinit(y, {1, 2, 3, 4}); end when; when time > 0.6 then reinit(y[2], 2); end when;",
        "when time > 0.5 then reinit(y[1:3], {1, 2, 3}); end when; when time > 0.6 then reinit(y[3:4], {1, 2}); end when;",
        "for i in 1:2 loop when time > 0.1*i then reinit(x, i); end when; end for;",
        "when time > 0.5 then for i in 1:2 loop reinit(y[2], i); end for; end when;",
    ] {
        assert_eq!(refused(&in_model(twice), &[]), "reinit-twice", "{twice}");
    }
    // Half a second after what is set at 0.5; in an `if` one of the branches counts, whatever the other one says.
    for (once, signal, value) in [
        (
            "when time > 0.5 then reinit(x, 1); elsewhen time > 0.7 then reinit(x, 2); end when;",
            "x",
            2.3,
        ),
        (
            "when time > 0.5 then if c then reinit(x, 1); else reinit(x, 2); end if; end when;",
            "x",
            1.5,
        ),
        (
            "when time > 0.5 then if not c then reinit(x, 1); else reinit(x, 2); end if; end when;",
            "x",
            2.5,
        ),
        (
            "when time > 0.5 then if not c then reinit(x, 1); elseif time < 0.1 then reinit(x, 2); else reinit(x, 3); end if; end when;",
            "x",
            3.5,
        ),
        (
            "when time > 0.5 then if c then reinit(y, {1, 2, 3, 4}); else reinit(y, {5, 6, 7, 8}); end if; end when;",
            "y[3]",
            3.5,
        ),
        (
            "algorithm when time > 0.5 then if c then reinit(x, 1); else reinit(x, 2); end if; end when;",
            "x",
            1.5,
        ),
        (
            "algorithm when time > 0.5 then if not c then reinit(x, 1); else reinit(x, 2); end if; end when;",
            "x",
            2.5,
        ),
        (
            "when time > 0.5 then reinit(y[1:2:3], {1, 2}); end when; when time > 0.5 then reinit(y[2:2:4], {5, 6}); end when;",
            "y[4]",
            6.5,
        ),
        (
            "for i in 1:4 loop when time > 0.1*i then reinit(y[i], i); end when; end for;",
            "y[2]",
            2.8,
        ),
    ] {
        println!("{once}");
        near(
            last(&run_text(&in_model(once), &Settings::default()), signal),
            value,
            1e-6,
        );
    }
}

#[test]
fn left_limits_are_of_discrete_variables() {
    check_refused(&[
        (
            "model M Real x = time; Real y = pre(x); end M;",
            "pre-of-continuous",
        ),
        (
            "model M Real x = time; Boolean b = change(x); end M;",
            "pre-of-continuous",
        ),
        (
            "model M Real x = time, y; algorithm y := pre(x); end M;",
            "pre-of-continuous",
        ),
    ]);
    check_values(&[
        (
            "model M Real x = time; discrete Real y(start = 0, fixed = true); equation when time > 0.5 then y = pre(x); end when; end M;",
            "y",
            0.5,
        ),
        (
            "model M Real x = time; Real y(start = 0, fixed = true); algorithm when time > 0.5 then y := pre(x); end when; end M;",
            "y",
            0.5,
        ),
        // Assigned in `when`: discrete without saying so.
        (
            "model M Real y(start = 4, fixed = true); Real z = pre(y); equation when time > 0.5 then y = 7; end when; end M;",
            "z",
            7.0,
        ),
    ]);
}

#[test]
fn functions_assign_outputs_and_no_inputs() {
    check_refused(&[
        (
            "model M function f input Real a; output Real y; protected Real z; algorithm z := a; end f; Real x = f(time); end M;",
            "unassigned-output",
        ),
        (
            "model M function f input Real a; output Real y; output Real z; algorithm y := a; end f; Real x, z; equation (x, z) = f(time); end M;",
            "unassigned-output",
        ),
        (
            "model M function f input Real a; output Real y; algorithm a := 2*a; y := a; end f; Real x = f(time); end M;",
            "assign-target",
        ),
        // Behind a loop that is left to run time.
        (
            "model M function f input Real a; output Real y; algorithm y := 0; while y < a loop y := y + 1; end while; a := y; end f; \
             Real x = f(time); end M;",
            "assign-target",
        ),
    ]);
    check_values(&[
        (
            "model M function f input Real a; output Real y; output Real z; algorithm y := a; end f; Real x = f(time); end M;",
            "x",
            1.0,
        ),
        (
            "model M function f input Real a; output Real y = 2*a; algorithm end f; Real x = f(time); end M;",
            "x",
            2.0,
        ),
        (
            "model M record R Real a; Real b; end R; function f input Real a; output R r; algorithm r.a := a; r.b := 2; end f; R r = f(time); end M;",
            "r.a",
            1.0,
        ),
    ]);
}

#[test]
fn delays_are_not_negative_nor_too_long() {
    check_refused(&[
        ("model M Real x = delay(time, -0.1); end M;", "delay-time"),
        (
            "model M parameter Real d = -0.1; Real x = delay(time, d); end M;",
            "delay-time",
        ),
        (
            "model M Real x = delay(time, 0.5 - time, 1); end M;",
            "delay-time",
        ),
        (
            "model M Real x = delay(time, 2*time, 1); end M;",
            "delay-time",
        ),
    ]);
}

#[test]
fn integers_are_integers() {
    check_refused(&[
        ("model M Integer n = 2.5; end M;", "type-mismatch"),
        (
            "model M Real x = time; Integer n = x; end M;",
            "type-mismatch",
        ),
        (
            "model M Integer n; equation n = 2.5; end M;",
            "type-mismatch",
        ),
        (
            "model M Integer n(start = 0, fixed = true); equation when time > 0.5 then n = 2.7; end when; end M;",
            "type-mismatch",
        ),
        (
            "model M parameter Integer n = 9223372036854775807 + 1; end M;",
            "integer-overflow",
        ),
        // A literal that is no number of double precision.
        (
            "model M Integer i = 9007199254740993; end M;",
            "integer-overflow",
        ),
        (
            "model M constant Integer a = 4611686018427387904; constant Integer n = a*4; Real x = n; end M;",
            "integer-overflow",
        ),
        (
            "model M parameter Integer n = integer(1e30); end M;",
            "integer-overflow",
        ),
        (
            "model M function f input Integer k; output Integer y; algorithm y := 1; for i in 1:k loop y := y*i; end for; end f; \
             parameter Integer n = f(30); end M;",
            "integer-overflow",
        ),
        // Parameters have their values at the start only.
        (
            "model M parameter Integer n = 3037000500; parameter Integer m = n*n; Real x = m; end M;",
            "integer-overflow",
        ),
    ]);
    check_values(&[
        // An equation for the Real.
        (
            "model M Integer n = 3; Real x; equation n = x; end M;",
            "x",
            3.0,
        ),
        (
            "model M Real x = max(9007199254740993, 1) - 9007199254740992; end M;",
            "x",
            1.0,
        ),
        (
            "model M Real x = mod(-7, 3) + 10*mod(7, -3) + 100*div(-7, 2) + 1000*rem(-7, 3); end M;",
            "x",
            -1318.0,
        ),
    ]);
}

#[test]
fn what_varies_decides_what_it_may_be_given_to() {
    let record = "record R Real a; end R;";
    check_refused(&[
        (
            "model M parameter Real p = 2; constant Real c = p; Real x = c; end M;",
            "not-constant",
        ),
        (
            "model M Real x = time; constant Real c = x; end M;",
            "not-constant",
        ),
        (
            "model M Real x = time; parameter Real p = x; end M;",
            "not-constant",
        ),
        ("model M parameter Real p = time; end M;", "not-constant"),
        (
            "model M Integer n = if time > 0.5 then 1 else 2; parameter Integer p = n; end M;",
            "not-constant",
        ),
        (
            &format!("model M {record} Real x = time; parameter R r(a = x); end M;"),
            "not-constant",
        ),
        (
            &format!("model M {record} Real x = time; parameter R r = R(x); end M;"),
            "not-constant",
        ),
        (
            "model M model A constant Real c = 1; end A; parameter Real p = 3; A a(c = p); Real x = a.c; end M;",
            "not-constant",
        ),
        (
            "model M Real y = time; Real x(start = 2, fixed = y > 0); equation der(x) = 1; end M;",
            "not-constant",
        ),
        ("model M discrete Real d = time; end M;", "variability"),
        (
            "model M Real x = time; discrete Real d; equation d = sin(x); end M;",
            "variability",
        ),
        (
            "model M parameter Real z = 0; parameter Real p = sqrt(z - 1); Real x = if p > 0 then 1 else 2; end M;",
            "not-a-number",
        ),
        (
            "model M parameter Real z = 0; parameter Real p[2] = {1, 1/z}; end M;",
            "not-a-number",
        ),
    ]);
    check_values(&[
        (
            "model M discrete Real d = if time > 0.5 then 2 else 1; end M;",
            "d",
            2.0,
        ),
        // The guess of a free parameter may be anything.
        (
            "model M parameter Real p(fixed = false, start = 0); parameter Real q = 1/p; Real x(start = 2, fixed = true); initial equation \
             p = 2*x; equation der(x) = 0; end M;",
            "q",
            0.25,
        ),
    ]);
}

const COMPLEX: &str = "
operator record C
  Real re; Real im;
  encapsulated operator 'constructor'
    import M.C;
    function fromReal input Real re; input Real im = 0; output C result(re = re, im = im); algorithm end fromReal;
  end 'constructor';
  encapsulated operator function '0' import M.C; output C c; algorithm c := C(0, 0); end '0';
  encapsulated operator function '+' import M.C; input C a; input C b; output C c; algorithm c := C(a.re + b.re, a.im + b.im); end '+';
  encapsulated operator function '*' import M.C; input C a; input C b; output C c; algorithm
    c := C(a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re); end '*';
end C;";

#[test]
fn arrays_of_operator_records() {
    let model = |text: &str| format!("model M {COMPLEX} {text} end M;");
    let a = "C A[2,2] = {{C(1,0), C(0,1)}, {C(2,0), C(0,0)}}; C x[2] = {C(time, 0), C(0, time)};";
    check_values(&[
        (
            &model("C a[2] = {C(time, 1), C(2, 3)}; C s = sum(a);"),
            "s.im",
            4.0,
        ),
        (
            &model("C s = sum(C(i, time) for i in 1:30);"),
            "s.re",
            465.0,
        ),
        (&model("C a[0]; C s = sum(a);"), "s.re", 0.0),
        (&model(&format!("{a} C y[2] = A*x;")), "y[2].re", 2.0),
        (&model(&format!("{a} C y[2] = A*x;")), "y[1].re", 0.0), // t + i*(i*t)
        (&model(&format!("{a} C B[2,2] = A*A;")), "B[1,1].im", 2.0), // 1 + 2i
        (
            &model(&format!("{a} C y[2] = {{{{1, 2}}, {{3, 4}}}}*x;")),
            "y[2].im",
            4.0,
        ),
    ]);
}

#[test]
fn strings_are_compared() {
    check_values(&[
        (
            "model M parameter String s = \"abc\"; Real x = if s == \"abc\" then 1 else 2; end M;",
            "x",
            1.0,
        ),
        (
            "model M parameter String s = \"abc\", t = \"abd\"; Boolean b = s < t and s <> t and not s == t; end M;",
            "b",
            1.0,
        ),
    ]);
}

#[test]
fn functions_that_are_partial_derivatives() {
    let f = "function f input Real x; input Real y; output Real z; algorithm z := x^2*y; end f; \
             function fx = der(f, x); function fxy = der(f, x, y); function fxx = der(fx, x);";
    check_values(&[
        (
            &format!("model M {f} Real a = fx(time, 3); end M;"),
            "a",
            6.0,
        ),
        (
            &format!("model M {f} Real a = fxy(time, 3); end M;"),
            "a",
            2.0,
        ),
        (
            &format!("model M {f} Real a = fxx(5*time, 3); end M;"),
            "a",
            6.0,
        ),
        (
            &format!("model M {f} Real a[2] = fx({{time, 2}}, 3); end M;"),
            "a[2]",
            12.0,
        ),
    ]);
    check_refused(&[(
        "model M function f input Real x[2]; output Real z; algorithm z := x[1]*x[2]; end f; function fx = der(f, x); Real a = fx({time, 3}); end M;",
        "type-mismatch",
    )]);
}

const SETTABLE: &str = "model M parameter Real 'Odd name: a' = 1; parameter Real 'b=c.d[2]' = 1; Real x = 'Odd name: a' + 10*'b=c.d[2]'; \
    model A parameter Real k = 1; parameter Real v[2] = {1, 2}; Real y = k + 10*v[1] + 100*v[2]; Real z(start = 3, fixed = true); \
    equation der(z) = 0; end A; A a[3](k = {1, 2, 3}); A b; end M;";

#[test]
fn settings_reach_elements_and_quoted_names() {
    let table: [(&[&str], &str, f64); 8] = [
        (&["'Odd name: a'=2"], "x", 12.0),
        (&["'b=c.d[2]'=4"], "x", 41.0),
        (&["a[2].k=5"], "a[2].y", 215.0),
        (&["a[2].k=5"], "a[3].y", 213.0),
        (&["b.v[2]=7"], "b.y", 711.0),
        (&["a[2].v={5, 6}", "a[2].v[1]=4"], "a[2].y", 642.0),
        (&["a.k={7, 8, 9}", "a[1].k=5"], "a[1].y", 215.0),
        (&["a[2].z.start=9"], "a[2].z", 9.0),
    ];
    for (set, signal, value) in table {
        let load = Load {
            set: set.iter().map(|s| s.to_string()).collect(),
            ..Load::default()
        };
        let model = Model::from_text("Test.mo", SETTABLE, &load).unwrap();
        let run = model.simulate_in_memory(&Settings::default()).unwrap();
        near(last(&run, signal), value, 1e-9);
    }
    for (set, code) in [
        (&["b.k=2", "b.k=3"][..], "set-twice"),
        (&["a[4].k=5"], "subscript-bounds"),
        (&["a[1,2].k=5"], "wrong-setting"),
        (&["a[i].k=5"], "wrong-setting"),
        (&["b[1].k=5"], "wrong-setting"),
        (&["a[1].q=5"], "wrong-setting"),
        (&["a[1].k=true"], "type-mismatch"),
    ] {
        assert_eq!(refused(SETTABLE, set), code, "{set:?}");
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let each = a.iter().zip(b).filter(|(x, y)| x != y && !x.is_nan());
    each.map(|(x, y)| (x - y).abs()).fold(0.0, |m, d| {
        if d <= m { m } else { d } // what is not a number is not overlooked
    })
}

#[test]
fn the_flat_model_can_be_read_again() {
    let mut files: Vec<std::path::PathBuf> = ["", "seeds"]
        .iter()
        .flat_map(|dir| std::fs::read_dir(crate::common::example_path(dir)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "mo"))
        .collect();
    files.sort();
    let mut compared = 0;
    for file in files {
        let target = file.to_str().unwrap();
        // Some seeds are models that are to be refused.
        let Ok(model) = Model::load(target, &Load::default()) else {
            continue;
        };
        let Ok(expected) = model.simulate_in_memory(&model.settings()) else {
            continue;
        };
        let (flat, ..) = acausal::flatten_target(target, &Load::default()).unwrap();
        let text = acausal_flatten::print_flat(&flat).unwrap();
        let again = Model::from_text("Flat.mo", &text, &Load::default())
            .unwrap_or_else(|f| panic!("{target}: {f}"));
        assert_eq!(again.warnings.len(), model.warnings.len(), "{target}");
        let found = again.simulate_in_memory(&again.settings()).unwrap();
        // The same numbers, where the integrator takes the same steps. Each equation has a loop of its own now, and where that makes the compiler keep arrays that
        // it took apart before, other unknowns are iterated on and the steps are others: then the two differ by no more than a run with a tighter tolerance.
        let same_steps = expected.summary.unknowns == found.summary.unknowns
            && expected.summary.steps == found.summary.steps;
        let tight = (!same_steps).then(|| {
            let mut settings = model.settings();
            settings.tolerance *= 1e-2;
            model.simulate_in_memory(&settings).unwrap().result
        });
        let (expected, found) = (&expected.result, &found.result);
        assert_eq!(expected.signals().len(), found.signals().len(), "{target}");
        for (a, b) in expected.signals().iter().zip(found.signals()) {
            let (x, y) = (expected.values_of(a), found.values_of(b));
            assert_eq!(x.len(), y.len(), "{target}");
            let of = tight.as_ref().and_then(|t| t.values(&a.name));
            let off = of.map_or(0.0, |t| distance(&x, &t));
            let scale = x.iter().fold(1.0f64, |m, v| m.max(v.abs()));
            let bound = 10.0 * off + 1e-12 * scale;
            let found = distance(&x, &y);
            assert!(found <= bound, "{target}: {} {found} {bound}", a.name);
        }
        compared += 1;
    }
    assert!(compared > 50, "{compared}");
}

/// MLS 3.6 §5.3.1: of the classes around it a class sees constants only, in the text of a message as anywhere else.
#[test]
fn messages_name_no_variables_of_enclosing_classes() {
    let model = |x: &str, message: &str| {
        let statement = format!("assert(y < 2, \"too large: \" + {message});");
        [
            format!("model M {x} model A Real y = time; equation {statement} end A; A a; end M;"),
            format!(
                "model M {x} model A Real y; algorithm y := time; {statement} end A; A a; end M;"
            ),
            format!(
                "model M {x} function f input Real y; output Real z; algorithm {statement} z := y; end f; Real a = f(time); end M;"
            ),
            // Left to run time.
            format!(
                "model M {x} function f input Real y; output Real z; algorithm {statement} z := y; while z < 3 loop z := z + 1 + y; end while; end f; \
                 Real a = f(time); end M;"
            ),
        ]
    };
    for text in model("Real x = time;", "String(x)") {
        assert_eq!(refused(&text, &[]), "not-constant", "{text}");
    }
    for text in model("constant Real x = 3;", "String(x)") {
        Model::from_text("Test.mo", &text, &Load::default()).unwrap();
    }
}
