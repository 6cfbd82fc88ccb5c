//! Algorithm sections in small models, by the flat equations and clauses they give.

use acausal_expr::flat::FlatModel;
use acausal_expr::{Functions, Node, Printer};

use crate::flatten::{flatten, print_flat};
use acausal_instance::class::Libraries;

fn model(body: &str) -> Result<FlatModel, Vec<String>> {
    let mut libraries = Libraries::new();
    let text = format!("model M\n{body}\nend M;");
    libraries
        .load_text("test.mo", &text)
        .map_err(|d| vec![format!("{d:?}")])?;
    match flatten(&mut libraries, "M", &[]) {
        Ok((model, _)) => Ok(model),
        Err(messages) => Err(messages
            .iter()
            .map(|m| format!("{}: {}", m.code, m.message))
            .collect()),
    }
}

fn flat(body: &str) -> FlatModel {
    model(body).unwrap_or_else(|e| panic!("{e:#?}"))
}

/// The equations in text, those of bindings included.
fn equations(model: &FlatModel) -> Vec<String> {
    let printer = Printer::new(model);
    model
        .equations
        .iter()
        .map(|eq| printer.equation(eq))
        .collect()
}

/// `when` clauses: conditions and actions of each branch.
fn whens(model: &FlatModel) -> String {
    let text = print_flat(model).unwrap();
    let lines = text.lines().map(str::trim);
    let start = lines
        .clone()
        .position(|l| l.starts_with("when "))
        .unwrap_or(0);
    let kept: Vec<&str> = lines
        .skip(start)
        .take_while(|l| !l.starts_with("end M"))
        .collect();
    kept.join(" ")
}

#[test]
fn assignments_in_sequence_become_equations() {
    let m = flat(
        "Real u = time; Real y; Real z;
         algorithm
           y := 2*u;
           z := y + 1;
           if z > 2 then y := 1; z := z + y; end if;",
    );
    assert_eq!(
        equations(&m),
        [
            "u = time",
            "y = if 2*u + 1 > 2 then 1.0 else 2*u",
            "z = if 2*u + 1 > 2 then 2*u + 2.0 else 2*u + 1"
        ]
    );
}

#[test]
fn variables_start_from_start_values_or_left_limits() {
    let m = flat(
        "Real x(start = 2); Integer n(start = 3);
         algorithm
           x := x + time;
           if time > 1 then n := n + 1; end if;",
    );
    assert_eq!(
        equations(&m),
        [
            "x = time + 2",
            "n = if time > 1 then pre(n) + 1 else pre(n)"
        ]
    );
}

#[test]
fn elements_that_are_not_assigned_stay_free() {
    let m = flat(
        "Real x[3];
         equation x[2] = 5*time;
         algorithm x[1] := time; x[3] := x[1] + 1;",
    );
    let all = equations(&m);
    assert_eq!(all, ["x[2] = 5*time", "x[1] = time", "x[3] = time + 1"]);
}

#[test]
fn loops_fill_arrays() {
    let m = flat(
        "parameter Integer n = 4; Real x[n]; Real s;
         algorithm
           s := 0;
           for i in 1:n loop x[i] := i*time; s := s + x[i]; end for;",
    );
    let all = equations(&m);
    assert!(all.contains(&"x[3] = 3*time".to_string()), "{all:#?}");
    assert!(all.contains(&"s = 10*time".to_string()), "{all:#?}");
}

#[test]
fn when_statements_become_clauses() {
    let m = flat(
        "Real x(start = 1, fixed = true); discrete Real h(start = 0); Integer n(start = 0); Boolean b(start = false);
         equation der(x) = -x;
         algorithm
           when {sample(0, 1), x < 0.5} then
             n := pre(n) + 1;
             h := n*x;
           elsewhen time > 3 then
             h := 0;
             reinit(x, 2);
           end when;
           b := n > 2;",
    );
    assert_eq!(m.whens.len(), 1);
    let text = whens(&m);
    assert!(text.contains("n = pre(n) + 1"), "{text}");
    assert!(text.contains("h = (pre(n) + 1)*x"), "{text}");
    assert!(text.contains("reinit(x, 2"), "{text}");
    assert!(
        equations(&m).contains(&"b = n > 2".to_string()),
        "{:#?}",
        equations(&m)
    );
    assert_eq!(m.whens[0].branches[0].conditions.len(), 2);
}

#[test]
fn the_later_when_wins() {
    let m = flat(
        "Integer state(start = 0); Integer k(start = 0);
         algorithm
           when time > 1 then state := 1; k := 5; end when;
           when time > 2 then state := state + 10; end when;",
    );
    // One clause for k, one for the variable that both assign, with the second statement first.
    assert_eq!(m.whens.len(), 2);
    let shared = &m.whens[1];
    let printer = Printer::new(&m);
    let conditions: Vec<String> = shared
        .branches
        .iter()
        .map(|b| printer.expr(b.conditions[0]))
        .collect();
    assert_eq!(conditions, ["time > 2", "time > 1"]);
}

#[test]
fn a_loop_with_unknown_end_is_packaged() {
    let m = flat(
        "Real u = time; Real v[3] = {u, 2*u, 3*u}; Real y; Integer n;
         algorithm
           y := u;
           n := 0;
           while y < 100 and n < 50 loop
             y := 2*y + v[mod(n, 3) + 1];
             n := n + 1;
           end while;",
    );
    assert_eq!(m.functions.len(), 1);
    let y = m
        .equations
        .iter()
        .find(|eq| matches!(m.exprs.node(eq.rhs), Node::Apply { .. }))
        .expect("y");
    let Node::Apply { func, args, .. } = m.exprs.node(y.rhs) else {
        panic!()
    };
    // The values of all arguments for u = 1: every argument is u, n = 0 or an element of v.
    let value = |e| {
        let printer = Printer::new(&m);
        match printer.expr(e).as_str() {
            "u" => 1.0,
            "0" => 0.0,
            "v[1]" => 1.0,
            "v[2]" => 2.0,
            "v[3]" => 3.0,
            other => panic!("{other}"),
        }
    };
    let args: Vec<f64> = m.exprs.list(args).iter().map(|&a| value(a)).collect();
    let out = Functions::new(&m)
        .expect("compiles")
        .run(func, &args, &[])
        .expect("defined");
    let (mut y, mut n) = (1.0, 0);
    while y < 100.0 {
        y = 2.0 * y + [1.0, 2.0, 3.0][n % 3];
        n += 1;
    }
    assert_eq!(out, [y, n as f64]);
}

#[test]
fn sections_in_arrays_of_components() {
    let mut libraries = Libraries::new();
    let text = "block B parameter Real k = 1; Real u; Real y;
          equation u = k*time;
          algorithm y := u; if y > 1 then y := k; end if; end B;
        model M B b[50](k = 1:50); end M;";
    libraries.load_text("test.mo", text).expect("parses");
    let (m, _) = flatten(&mut libraries, "M", &[]).unwrap_or_else(|e| panic!("{e:#?}"));
    let eq = m.equations.last().expect("there");
    assert_eq!(eq.len(), 50);
    assert!(
        equations(&m).last().expect("there").contains("if b[i"),
        "{:#?}",
        equations(&m)
    );
}

#[test]
fn assertions_and_records() {
    let m = flat(
        "record R Real a; Real b[2]; end R; R r; Real y;
         algorithm
           assert(time < 10, \"too late\");
           r.b := {1, 2}*time;
           r.a := sum(r.b);
           y := r.a;",
    );
    assert_eq!(m.asserts.len(), 1);
    let all = equations(&m);
    assert!(all.contains(&"r.a = 3*time".to_string()), "{all:#?}");
    assert!(all.contains(&"y = 3*time".to_string()), "{all:#?}");
}

#[test]
fn mistakes_are_explained() {
    let cases = [
        (
            "parameter Real p = 1; algorithm p := 2;",
            "assign-parameter",
        ),
        (
            "Real x; algorithm x := 1; when time > 1 then x := 2; end when;",
            "unsupported",
        ),
        ("Real x; algorithm x := true;", "type-mismatch"),
        (
            "Real x; initial algorithm when time > 1 then x := 2; end when; equation x = 1;",
            "when-place",
        ),
        ("Real x[2]; algorithm x[3] := 1;", "subscript-bounds"),
    ];
    for (body, code) in cases {
        let errors = model(body).expect_err(body);
        assert!(
            errors.iter().any(|e| e.starts_with(code)),
            "{body}: {errors:#?}"
        );
    }
}
