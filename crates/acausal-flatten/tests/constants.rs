//! Constants that decide structure are put in where they are used; everything else stays as it is written.

mod common;

use acausal_expr::flat::{FlatModel, Variability};
use common::{errors, model, parameter};

fn equations(m: &FlatModel) -> Vec<String> {
    let printer = acausal_expr::Printer::new(m);
    m.equations.iter().map(|e| printer.equation(e)).collect()
}

#[test]
fn the_axis_of_a_joint_takes_unknowns_out_of_its_equations() {
    let m = model(
        "model M
           parameter Real n[3] = {0, 0, 2} annotation(Evaluate = true);
           Real w = time, w_rel[3], c;
         protected
           parameter Real e[3] = n/sqrt(n*n);
         equation
           w_rel = e*w;
           c = e[1]*w_rel[1] + e[3]*w_rel[3];
         end M;",
    );
    let lines = equations(&m);
    for expected in ["w_rel[3] = w", "c = w_rel[3]"] {
        assert!(lines.iter().any(|l| l == expected), "{lines:#?}");
    }
    assert_eq!(parameter(&m, "e").1, [0.0, 0.0, 1.0]);
}

#[test]
fn rows_of_a_matrix_are_joined_and_constants_go_on() {
    let m = model(
        "model M
           Real T[2, 2], S[2, 2], x[2] = {time, 2*time}, y[2];
         equation
           T = {{1, 0}, {0, 1}};
           for i in 1:2, j in 1:2 loop S[i, j] = T[i, j]; end for;
           y = S*x;
         end M;",
    );
    let lines = equations(&m);
    assert!(lines.iter().any(|l| l == "y[1] = x[1]"), "{lines:#?}");
    assert!(lines.iter().any(|l| l == "y[2] = x[2]"), "{lines:#?}");
}

#[test]
fn elements_of_which_some_are_constant_go_on_one_by_one() {
    let m = model(
        "model M final parameter Real e[3] = {0, 0, 1}; Real w = time, a[3], b[3], c;
         equation a = e*w; b = a; c = b[1]*w + b[2]*w*w + b[3]*w; end M;",
    );
    let lines = equations(&m);
    assert!(lines.iter().any(|l| l == "c = b[3]*w"), "{lines:#?}");
}

#[test]
fn whether_a_variable_is_a_state_is_decided() {
    let text = |b: &str| {
        format!(
            "model M parameter Boolean b = {b}; Real x(start = 1), y; equation x = time; y = if b then der(x) else 0; end M;"
        )
    };
    assert!(equations(&model(&text("true"))).contains(&"y = der(x)".to_string()));
    let m = model(&text("false"));
    assert!(
        equations(&m).contains(&"y = 0".to_string()),
        "{:?}",
        equations(&m)
    );
    assert!(m.vars[0].structural, "it cannot be changed after this");
}

#[test]
fn ordinary_parameters_and_numbers_stay() {
    let m = model(
        "model M parameter Boolean b = true; parameter Real p = 0; final parameter Real q = 5; Real x, y, z;
         equation x = p*time; y = q*time; z = if b then x else y; end M;",
    );
    let lines = equations(&m);
    assert_eq!(
        lines,
        ["x = p*time", "y = q*time", "z = if b then x else y"]
    );
}

#[test]
fn arrays_stay_whole_and_contradictions_stay_visible() {
    let m = model(
        "model M constant Integer N = 1000; final parameter Real a[N] = {if mod(i, 2) == 0 then 0 else 1 for i in 1:N};
         Real x[N](each start = 1); equation for i in 1:N loop der(x[i]) = -a[i]*x[i]; end for; end M;",
    );
    assert_eq!(m.equations.len(), 1, "{:?}", equations(&m));
    let m = model("model M Real x, y, z; equation x = 1; y = 2; x = y; z = x; end M;");
    let lines = equations(&m);
    assert!(lines.contains(&"x = y".to_string()), "{lines:?}");
}

#[test]
fn derivatives_of_constants_vanish() {
    let m = model("model M Real x, v, a; equation x = 5; v = der(x); a = v + time; end M;");
    let lines = equations(&m);
    assert!(lines.contains(&"v = 0.0".to_string()), "{lines:?}");
    assert!(lines.contains(&"a = v + time".to_string()), "{lines:?}");
}

#[test]
fn constant_texts_need_no_equation() {
    let m = model(
        "model M parameter String s = \"Y\"; String t = s + \"D\"; Real x; equation
           x = if t == \"YD\" then time else 0; end M;",
    );
    assert_eq!(equations(&m), ["x = time"]);
    let t = m.vars.iter().find(|v| v.name.plain() == "t").unwrap();
    assert_eq!(t.variability, Variability::Constant);
}

#[test]
fn algorithms_start_from_start_values() {
    let m = model(
        "model M parameter Integer i = 3; Real x(start = 7); algorithm if i == 4 then x := 3.0; end if; end M;",
    );
    assert_eq!(equations(&m), ["x = if i == 4 then 3.0 else 7"]);
}

#[test]
fn iterators_of_algorithms_without_range() {
    let m = model(
        "model M Real x[3], y[3] = {1, 2, 3}*time; algorithm for i loop x[i] := 2*y[i]; end for; end M;",
    );
    assert_eq!(m.equations.iter().map(|e| e.len()).sum::<usize>(), 6);
}

#[test]
fn operators_of_records_need_no_annotation() {
    let m = model(
        "package P
           operator record C Real re; Real im;
             encapsulated operator 'constructor' import P.C;
               function real input Real re; output C c; algorithm c.re := re; c.im := 0; end real;
             end 'constructor';
             encapsulated operator '-' import P.C;
               function negate input C a; output C c; algorithm c.re := -a.re; c.im := -a.im; end negate;
               function subtract input C a; input C b; output C c; algorithm c.re := a.re - b.re; c.im := a.im - b.im; end subtract;
             end '-';
           end C;
         end P;
         model M parameter P.C a(re = 2, im = 3), b = -a, c = b - 1; end M;",
    );
    assert_eq!(parameter(&m, "b.im").1, [-3.0]);
    assert_eq!(parameter(&m, "c.re").1, [-3.0]);
}

#[test]
fn protected_inputs_are_no_sources() {
    let m = model(
        "package P connector In = input Real; connector Out = output Real;
           block B In u; Out y; protected In v; equation connect(u, v); y = v; end B; end P;
         model M P.B b; Real x = time; equation b.u = x; end M;",
    );
    assert!(
        equations(&m).contains(&"b.v = b.u".to_string()),
        "{:?}",
        equations(&m)
    );
}

#[test]
fn bad_connectors_and_classes_say_how_they_got_there() {
    let text = "connector C Real a, b; flow Real f; end C; model R C c; end R; model M R r; end M;";
    let found = errors(text);
    let labels: Vec<&str> = found[0].labels.iter().map(|l| l.text.as_str()).collect();
    assert!(
        labels
            .iter()
            .any(|l| l.contains("in component `r` of class `R`")),
        "{labels:?}"
    );
}
