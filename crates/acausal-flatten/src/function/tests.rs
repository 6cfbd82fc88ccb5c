//! Calls of functions in small models, by the flat equations they give.

use crate::flatten::{flatten, print_flat};
use acausal_expr::flat::FlatModel;
use acausal_expr::{Functions, Printer};
use acausal_instance::class::Libraries;
use acausal_symbolic::Substitute;

/// Flattens `model M ... end M` with the given functions in front of it.
fn model(functions: &str, body: &str) -> Result<FlatModel, Vec<String>> {
    let mut libraries = Libraries::new();
    let text = format!("{functions}\nmodel M\n{body}\nend M;");
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

/// The right sides of the equations of the model.
fn right_sides(functions: &str, body: &str) -> Vec<String> {
    let model = model(functions, body).unwrap_or_else(|e| panic!("{e:#?}"));
    let printer = Printer::new(&model);
    model
        .equations
        .iter()
        .map(|eq| printer.expr(eq.rhs))
        .collect()
}

const POWER: &str = "function power
  input Real x; input Integer n = 3; output Real y;
algorithm
  y := 1;
  for i in 1:n loop y := y*x; end for;
end power;";

#[test]
fn a_loop_with_known_bounds_is_inlined() {
    let out = right_sides(
        POWER,
        "Real u = time; Real v = power(u); Real w = power(u, n = 1);",
    );
    assert_eq!(out, ["time", "u*u*u", "u"]);
}

#[test]
fn constants_are_evaluated() {
    let f = "function gcd
      input Integer a; input Integer b; output Integer g;
    protected Integer x = a; Integer y = b; Integer r;
    algorithm
      while y <> 0 loop r := mod(x, y); x := y; y := r; end while;
      g := x;
    end gcd;
    function first
      input Real v[:]; input Real limit; output Integer k;
    algorithm
      k := 0;
      for i in 1:size(v, 1) loop
        k := i;
        if v[i] > limit then break; end if;
      end for;
    end first;
    function fact
      input Integer n; output Integer f;
    algorithm
      if n <= 1 then f := 1; return; end if;
      f := n*fact(n - 1);
    end fact;";
    let out = right_sides(
        f,
        "constant Integer n = gcd(84, 36); Real x[n] = ones(gcd(84, 36))*time;
         Real y = first({1, 2, 5, 7}, 4)*time; Real z = fact(10)*time;",
    );
    assert_eq!(out, ["time", "3*time", "3628800*time"]);
}

#[test]
fn an_unknown_condition_merges_branches() {
    let f = "function clip
      input Real u; output Real y;
    algorithm
      if u > 1 then y := 1; elseif u < -1 then y := -1; else y := u; end if;
    end clip;";
    let out = right_sides(f, "Real u = time; Real v = clip(u);");
    assert_eq!(
        out[1],
        "if noEvent(u > 1) then 1.0 else if noEvent(u < -1) then -1.0 else u"
    );
}

#[test]
fn arrays_records_and_several_outputs() {
    let f = "record R Real a; Real b[2]; end R;
    function f
      input Real u[:]; output R r; output Real s;
    protected Real t[size(u, 1)];
    algorithm
      t := 2*u;
      t[1] := 7;
      r.a := t[1];
      r.b[2] := t[2];
      r.b[1] := sum(t);
      s := t[end];
    end f;";
    let out = right_sides(
        f,
        "Real x[2] = {time, 3*time}; R r; Real s;
         equation (r, s) = f(x);",
    );
    assert_eq!(
        out[out.len() - 4..],
        ["7.0", "2*x[2] + 7.0", "2*x[2]", "2*x[2]"]
    );
}

#[test]
fn a_scalar_function_is_applied_to_every_element() {
    let f = "function sq input Real u; output Real y; algorithm y := u*u; end sq;";
    let model = model(f, "Real x[1000] = fill(time, 1000); Real y[1000] = sq(x);").expect("fine");
    assert_eq!(model.equations.len(), 2);
    let equation = &model.equations[1];
    assert_eq!(equation.len(), 1000);
    let i = model.exprs.iter_name(equation.domain[0].0);
    let text = Printer::new(&model).expr(equation.rhs);
    assert_eq!(text, format!("x[{i}]*x[{i}]"));
}

const NEWTON: &str = "function root \"square root by Newton's method\"
  input Real a; output Real x;
protected Real old;
algorithm
  x := a; old := 0;
  while abs(x - old) > 1e-12*x loop
    old := x;
    x := 0.5*(x + a/x);
  end while;
end root;";

#[test]
fn a_loop_with_unknown_end_becomes_a_run_time_function() {
    let model = model(
        NEWTON,
        "Real u = time; Real v = root(u); Real w = root(3*u);",
    )
    .expect("fine");
    assert_eq!(model.functions.len(), 1, "{:?}", print_flat(&model));
    let functions = Functions::new(&model).expect("compiles");
    let func = acausal_expr::FuncId(0);
    let value = functions.run(func, &[2.0], &[]).expect("defined")[0];
    assert!((value - 2f64.sqrt()).abs() < 1e-12);
    // The derivative of the last iterate converges, too.
    let slope = functions.run(func, &[2.0], &[0]).expect("defined")[0];
    assert!((slope - 0.5 / 2f64.sqrt()).abs() < 1e-6);
    assert_eq!(
        Printer::new(&model).expr(model.equations[2].rhs),
        "root(3*u)[1]"
    );
}

#[test]
fn a_run_time_function_of_constants_is_evaluated_at_once() {
    let f = "function collatz
      input Integer n; output Integer steps;
    protected Integer k = n;
    algorithm
      steps := 0;
      while k <> 1 loop
        if mod(k, 2) == 0 then k := div(k, 2); else k := 3*k + 1; end if;
        steps := steps + 1;
      end while;
    end collatz;
    function total
      input Integer n; output Integer s;
    protected Integer a[n];
    algorithm
      for i in 1:n loop a[i] := collatz(i); end for;
      s := sum(a);
    end total;";
    // 111 steps from 27; the sum of the steps of 1..2000 is 136 949, beyond what is executed symbolically.
    let expected: i64 = (1..=2000i64)
        .map(|mut k| {
            let mut steps = 0;
            while k != 1 {
                k = if k % 2 == 0 { k / 2 } else { 3 * k + 1 };
                steps += 1;
            }
            steps
        })
        .sum();
    let out = right_sides(f, "Real x = collatz(27)*time; Real y = total(2000)*time;");
    assert_eq!(out, ["111*time".to_string(), format!("{expected}*time")]);
}

#[test]
fn arrays_in_run_time_functions() {
    let f = "function settle \"bubble sort\"
      input Real u[:]; output Real y[size(u, 1)];
    protected Boolean swapped = true; Real t;
    algorithm
      y := u;
      while swapped loop
        swapped := false;
        for i in 1:size(u, 1) - 1 loop
          if y[i] > y[i + 1] then
            t := y[i]; y[i] := y[i + 1]; y[i + 1] := t;
            swapped := true;
          end if;
        end for;
      end while;
      y := y[end:-1:1];
    end settle;";
    let model = model(f, "Real u[4] = {time, 2, -time, 5}; Real v[4] = settle(u);").expect("fine");
    let functions = Functions::new(&model).expect("compiles");
    let func = acausal_expr::FuncId(0);
    let args = [3.0, 2.0, -3.0, 5.0];
    assert_eq!(
        functions.run(func, &args, &[]),
        Ok(vec![5.0, 3.0, 2.0, -3.0])
    );
    assert_eq!(
        functions.run(func, &args, &[0]),
        Ok(vec![0.0, 1.0, 0.0, 0.0])
    );
}

#[test]
fn functions_as_arguments() {
    let f = "partial function Base input Real u; output Real y; end Base;
    function cube extends Base; input Real k = 1; algorithm y := k*u^3; end cube;
    function simpson
      input Base f; input Real a; input Real b; output Real q;
    algorithm
      q := (b - a)/6*(f(a) + 4*f((a + b)/2) + f(b));
    end simpson;";
    let out = right_sides(f, "Real x = simpson(function cube(k = 4), 0, 2)*time;");
    assert_eq!(out, ["16.0*time"]);
}

#[test]
fn external_functions() {
    let f = "function mysin input Real x; output Real y; external \"C\" y = sin(x); end mysin;
    function table input Real x; output Real y; external \"C\" y = lookup_table(x); end table;";
    assert_eq!(right_sides(f, "Real x = mysin(time);"), ["sin(time)"]);
    let errors = model(f, "Real x = table(time);").expect_err("not known");
    assert_eq!(
        errors,
        ["unsupported: the external function `lookup_table` of table is not supported yet"]
    );
}

#[test]
fn wrong_calls_are_explained() {
    let cases = [
        (
            "power()",
            "missing-argument: the input `x` of power is not given and has no default",
        ),
        (
            "power(1, 2, 3)",
            "argument-count: power has 2 inputs, but 3 arguments are given",
        ),
        (
            "power(1, m = 2)",
            "unknown-argument: power has no input `m`",
        ),
        ("power(1, x = 2)", "argument-twice: `x` is given twice"),
        (
            "power(true)",
            "type-mismatch: the input `x` of power is Real, but this is Boolean",
        ),
    ];
    for (call, expected) in cases {
        let errors = model(POWER, &format!("Real y = {call};")).expect_err(call);
        assert_eq!(errors, [expected], "{call}");
    }
}

#[test]
fn assertions() {
    let f = "function positive
      input Real x; output Real y;
    algorithm
      assert(x > 0, \"x must be positive\");
      y := x;
    end positive;";
    let errors = model(f, "Real y = positive(-1)*time;").expect_err("fails");
    assert_eq!(
        errors,
        ["assertion: assertion in positive failed: x must be positive"]
    );
    assert_eq!(right_sides(f, "Real y = positive(2)*time;"), ["2.0*time"]);
}

#[test]
fn independent_rounds_stay_an_array() {
    let f = "function f
      input Real u[:]; output Real y[size(u, 1)]; output Real A[size(u, 1), 2*size(u, 1)];
    algorithm
      for i in 2:size(u, 1) loop
        y[i] := u[i] + i;
        if y[i] > 3 then y[i] := 2*y[i] - u[i - 1]; end if;
      end for;
      for i in 1:size(u, 1), j in 1:2*size(u, 1) loop A[i, j] := u[i]*j; end for;
    end f;";
    // 20 000 rounds and 8e8 elements: were the loop unrolled, this would exceed what is executed symbolically.
    let m = model(
        f,
        "parameter Integer n = 20000; Real u[n] = fill(time, n); Real y[n]; Real A[n, 2*n];
         equation (y, A) = f(u);",
    )
    .expect("fine");
    assert!(m.functions.is_empty());
    let lengths: Vec<usize> = m.equations.iter().map(|eq| eq.len()).collect();
    assert_eq!(lengths, [20000, 1, 19999, 800000000]);
}

#[test]
fn rounds_that_depend_on_each_other_are_executed_in_order() {
    let f = "function f
      input Real u; output Real y[12];
    algorithm
      y[1] := u;
      for i in 2:12 loop y[i] := 2*y[i - 1]; end for;
    end f;";
    let out = right_sides(f, "Real y[12] = f(time);");
    assert_eq!(out[11], "2048*time");
}

#[test]
fn fields_of_an_output_take_their_bindings() {
    let f = "record C Real re; Real im; end C;
    function make input Real a; input Real b = 0; output C c(re = a, im = b); algorithm end make;";
    assert_eq!(right_sides(f, "C c = make(time);"), ["time", "0.0"]);
}

#[test]
fn relations_of_arguments_stay_events() {
    let f = "function pick input Boolean b; input Real u; output Real y;
    algorithm y := if b and u > 1 then u else -u; end pick;";
    let out = right_sides(f, "Real x = pick(time > 2, time);");
    assert_eq!(
        out,
        ["if time > 2 and noEvent(time > 1) then time else -time"]
    );
}

#[test]
fn assertions_hold_for_all_elements() {
    let f = "function positive input Real x; output Real y;
    algorithm assert(x > 0, \"x must be positive\"); y := x; end positive;";
    let m = model(f, "Real u[20] = fill(time, 20); Real v[20] = positive(u);").expect("fine");
    let text = Printer::new(&m).expr(m.asserts[0].condition);
    assert!(text.starts_with("noEvent(min("), "{text}");
}

#[test]
fn integer_parameters_decide_sizes_and_recursion() {
    let f = "function split
      input Integer m; output Real y[m];
    algorithm
      if mod(m, 2) == 0 then
        y[1:div(m, 2)] := split(div(m, 2));
        y[div(m, 2) + 1:m] := split(div(m, 2)) + fill(m, div(m, 2));
      else
        y := {k for k in 1:m};
      end if;
    end split;";
    let m = model(
        f,
        "parameter Integer m = 6; parameter Real p[m] = split(m); Real x[m] = p*time;",
    );
    let m = m.unwrap_or_else(|e| panic!("{e:#?}"));
    let binding = m.vars[1].binding.as_ref().expect("bound");
    let element = |k: i64| {
        let mut exprs = m.exprs.clone();
        let k = exprs.int(k);
        let e = exprs.substitute_iter(binding.body, binding.iters[0], k);
        exprs
            .evaluate(e, |_, _, _| None)
            .ok()
            .and_then(acausal_expr::ScalarValue::as_f64)
    };
    let all: Vec<Option<f64>> = (1..=6).map(element).collect();
    assert_eq!(all, [1.0, 2.0, 3.0, 7.0, 8.0, 9.0].map(Some));
}

#[test]
fn sums_become_reductions() {
    let f = "function energy
      input Real v[:]; output Real e; output Integer positive;
    algorithm
      e := 1;
      positive := 0;
      for i in 1:size(v, 1) loop
        e := e + v[i]*v[i] - i;
        if v[i] > 0 then positive := positive + 1; end if;
      end for;
    end energy;";
    let out = right_sides(
        f,
        "Real v[1000] = fill(time, 1000); Real e; Integer n;
         equation (e, n) = energy(v);",
    );
    assert!(
        out[1].starts_with("sum(v[i]*v[i] - i for i in 1:1000) + 1"),
        "{out:?}"
    );
    assert!(
        out[2].starts_with("sum(if noEvent(v[i] > 0) then 1 else 0 for i in 1:1000)"),
        "{out:?}"
    );
}

/// Each function calls the one before twice: fₙ(x) = 3ⁿ x + 2ⁿ, in 2ⁿ⁺¹ - 1 calls.
fn doubling(n: usize) -> String {
    let first = "function f0 input Real x; output Real y = x + 1; end f0;".to_string();
    let others = (1..=n).map(|k| {
        let before = k - 1;
        format!(
            "function f{k} input Real x; output Real y;
             algorithm y := f{before}(x) + f{before}(2*x); end f{k};"
        )
    });
    std::iter::once(first)
        .chain(others)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn calls_inside_of_calls_are_inlined_up_to_a_total() {
    let inlined = |n: usize| {
        let body = format!("Real x = f{n}(time); Real y = f{n}(2*time);");
        let model = model(&doubling(n), &body).unwrap_or_else(|e| panic!("{e:#?}"));
        model.functions.is_empty()
    };
    assert!(inlined(6));
    assert!(!inlined(17), "2^18 calls");
    // 10^9 calls would not end here.
    assert!(!inlined(30));
}

/// 60 steps of Newton's method share their iterates; written out, each is more than twice as long as the one before.
#[test]
fn texts_of_what_is_shared_end() {
    let f = "function g input Real y; output Real x; protected Real d;
      algorithm x := y/3; for i in 1:60 loop d := (x^3 + x - y)/(3*x^2 + 1); x := x - d; end for; end g;";
    let mut model = model(f, "Real a; equation a = g(time);").expect("fine");
    assert!(model.functions.is_empty());
    // As a message shows it, and as it decides about an order.
    for (printer, most) in [
        (Printer::new(&model), 2_100),
        (Printer::nameless(&model), 20_100),
    ] {
        let text = printer.equation(&model.equations[0]);
        assert!(printer.has_cut() && text.len() < most, "{}", text.len());
    }
    // 1 MB of text.
    model.exprs.limits.memory = 16 << 20;
    let message = print_flat(&model).expect_err("too long");
    assert_eq!(message.code, "too-large");
    assert!(
        message.message.contains("1.0 MB of text"),
        "{}",
        message.message
    );
    assert!(!message.labels.is_empty());
}

#[test]
fn many_constant_calls_are_left_to_the_interpreter() {
    let expected = 3f64.powi(17) + 2f64.powi(17);
    let shown = right_sides(&doubling(17), "constant Real c = f17(1); Real x = c*time;");
    assert_eq!(shown, [format!("{expected:?}*time")]);
}
