//! Functions by the letter of the specification: partial derivatives, inverses, recursion, Integers that overflow, and what prints when.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::{at, last, near, run_text, values};
use acausal::{InMemory, Load, Model, Settings};

fn settings() -> Settings {
    Settings {
        stop: 1.0,
        interval: 0.25,
        ..Settings::default()
    }
}

#[track_caller]
fn failure(text: &str) -> String {
    let model = Model::from_text("Test.mo", text, &Load::default());
    let model = model.unwrap_or_else(|f| panic!("{f}"));
    match model.simulate_in_memory(&settings()) {
        Ok(_) => panic!("it runs"),
        Err(failure) => failure.to_string(),
    }
}

/// MLS 3.6 §12.7.2: scalars, several variables, arrays and records as inputs and outputs, branches, loops and calls.
#[test]
fn partial_derivatives_of_functions() {
    let text = "function f input Real x; input Real y; output Real z; algorithm z := x^2*y + sin(y); end f;
        function f_x = der(f, x); function f_xy = der(f, x, y); function f_yy = der(f, y, y);
        function poly input Real a[3]; input Real x; output Real y; algorithm y := a[1] + x*a[2] + x^2*a[3]; end poly;
        function poly_x = der(poly, x);
        function v input Real x; output Real y[2]; protected Real s; algorithm s := exp(x); y := {s, x*s}; end v;
        function v_x = der(v, x);
        record R Real u; Real w; end R;
        function r input R p; input Real x; output R q; algorithm q.u := p.u*x^3; q.w := sin(x)*p.w; end r;
        function r_x = der(r, x);
        function g input Real x; input Real y; output Real z; algorithm z := if x > y then x^2 else y*x;
            for i in 1:3 loop z := z*x; end for; end g;
        function g_x = der(g, x); function g_xx = der(g, x, x);
        function h input Real x; output Real y; algorithm y := f(x, 2*x); end h;
        function h_x = der(h, x);
        model M Real a = f_x(time, 2), b = f_xy(time, 3), c = f_yy(time, 0.5), d = poly_x({1, 2, 3}, time), e[2] = v_x(time);
            R q = r_x(R(2, 3), time); Real k = g_x(time, 0.6), l = g_xx(time, 0.6), m = h_x(time); end M;";
    let run = run_text(text, &settings());
    for t in [0.25, 0.5, 0.75, 1.0] {
        let expected = [
            ("a", 4.0 * t),
            ("b", 2.0 * t),
            ("c", -0.5f64.sin()),
            ("d", 2.0 + 6.0 * t),
            ("e[1]", t.exp()),
            ("e[2]", (1.0 + t) * t.exp()),
            ("q.u", 6.0 * t * t),
            ("q.w", 3.0 * t.cos()),
            (
                "k",
                if t > 0.6 {
                    5.0 * t.powi(4)
                } else {
                    2.4 * t.powi(3)
                },
            ),
            (
                "l",
                if t > 0.6 {
                    20.0 * t.powi(3)
                } else {
                    7.2 * t.powi(2)
                },
            ),
            ("m", 6.0 * t * t + 2.0 * (2.0 * t).cos()),
        ];
        for (name, value) in expected {
            near(at(&run, name, t), value, 1e-12);
        }
    }
}

/// `annotation(inverse(..))` is a promise that need not be used; it must not be in the way either.
#[test]
fn inverses_are_accepted() {
    let text = "function f input Real x; output Real y; algorithm y := x^3 + x; annotation(inverse(x = g(y))); end f;
        function g input Real y; output Real x; protected Real d; algorithm x := y/3;
            for i in 1:60 loop d := (x^3 + x - y)/(3*x^2 + 1); x := x - d; end for; annotation(inverse(y = f(x))); end g;
        model M Real a, b; equation f(a) = 10*sin(time); b = g(10*sin(time)); end M;";
    let run = run_text(text, &settings());
    for t in [0.25, 0.5, 1.0] {
        let a = at(&run, "a", t);
        near(a.powi(3) + a, 10.0 * t.sin(), 1e-5);
        near(at(&run, "b", t), a, 1e-6);
    }
}

fn both(x: [f64; 3], n: u32, first: bool) -> [f64; 3] {
    if n == 0 {
        let s = if first { 1.0 } else { x.iter().sum() };
        return x.map(|v| v * s);
    }
    let shift = if first { 1.0 } else { -1.0 };
    let a = both(x.map(|v| v + shift), n - 1, true);
    let b = both(x.map(|v| if first { v } else { 2.0 * v }), n - 1, false);
    let weight = if first { 0.5 } else { 0.25 };
    [0, 1, 2].map(|k| 0.5 * a[k] + weight * b[k])
}

/// A hundred calls, with three outputs each: not three times as many at each level, 46,656 in all.
#[test]
fn arrays_from_recursive_functions() {
    let text = "function f input Real x[3]; input Integer n; output Real y[3]; algorithm
            if n == 0 then y := x; else y := 0.5*f(x .+ 1, n - 1) + 0.5*g(x, n - 1); end if; end f;
        function g input Real x[3]; input Integer n; output Real y[3]; protected Real s; algorithm s := sum(x);
            if n == 0 then y := x*s; else y := 0.5*f(x .- 1, n - 1) + 0.25*g(x*2, n - 1); end if; end g;
        model M Integer n(start = 6, fixed = true); Real y[3] = f({time, 2, 3}, n);
        equation when time > 2 then n = 6; end when; end M;";
    let run = run_text(text, &settings());
    let expected = both([1.0, 2.0, 3.0], 6, true);
    for (k, value) in expected.iter().enumerate() {
        near(
            last(&run, &format!("y[{}]", k + 1)),
            *value,
            1e-9 * value.abs(),
        );
    }
}

/// Integers are exact up to 2^53 and an error beyond, in equations, algorithms, functions and inside of expressions.
#[test]
fn integers_that_overflow() {
    let variable = "model M Integer k(start = 1, fixed = true); equation when sample(0, 0.01) then k = pre(k)*3; end when; end M;";
    let text = failure(variable);
    // 3^34 is the first above 2^53, at the 34th tick.
    assert!(
        text.contains("integer-overflow") && text.contains("0.33"),
        "{text}"
    );
    let function = "function f input Integer n; output Integer r; algorithm r := 1;
        for i in 1:n loop r := r*i; end for; end f; model M Integer n = integer(30*time); Integer r = f(n); end M;";
    let text = failure(function);
    assert!(text.contains("Integer arithmetic in function f"), "{text}");
    let inside = "model M Integer s(start = 12345, fixed = true); Integer a(start = 3037000500, fixed = true);
        equation when sample(0.1, 0.1) then a = pre(a); s = mod(pre(a)*pre(a), 1000); end when; end M;";
    let text = failure(inside);
    assert!(text.contains('s') && text.contains("time = 0.1"), "{text}");
    // Up to there numbers are exact.
    let fine = "model M Integer s(start = 12345, fixed = true); equation
        when sample(0, 0.1) then s = mod(16807*pre(s), 2147483647); end when; end M;";
    let run = run_text(fine, &settings());
    let mut s = 12345u64;
    (0..11).for_each(|_| s = 16807 * s % 2147483647);
    assert_eq!(last(&run, "s"), s as f64);
}

const PRINT: &str = "package Modelica package Utilities package Streams
    function print input String string = \"\"; input String fileName = \"\"; external \"C\" ModelicaInternal_print(string, fileName); end print;
    end Streams; end Utilities; end Modelica;";

fn printed(body: &str) -> Vec<String> {
    let text = format!("{PRINT} {body}");
    let run: InMemory = run_text(&text, &settings());
    run.summary.printed
}

/// Outside of `when` a text is printed at the start and after steps and events, where it is another one than before.
#[test]
fn prints_outside_of_when() {
    let body = "function f input Real x; output Real y; algorithm y := x^2;
            if x > 0.5 then Modelica.Utilities.Streams.print(\"above\"); end if; end f;
        model M parameter Real p = 3; Real x(start = 0, fixed = true), z(start = 1), y = f(x); Integer k;
        initial algorithm Modelica.Utilities.Streams.print(\"p is \" + String(p));
        equation der(x) = 1; z^3 + z = 2 + x; Modelica.Utilities.Streams.print(\"k is \" + String(k));
            if x > 0.7 then Modelica.Utilities.Streams.print(\"beyond\"); end if;
        algorithm k := integer(2*x + 0.1);
            when k > 0 then Modelica.Utilities.Streams.print(\"when\"); end when; end M;";
    let mut found = printed(body);
    let count = |found: &[String], text: &str| found.iter().filter(|t| *t == text).count();
    for text in [
        "p is 3", "k is 0", "k is 1", "k is 2", "above", "beyond", "when",
    ] {
        let shown: &[String] = &found;
        assert_eq!(count(shown, text), 1, "{text}: {shown:?}");
    }
    found.sort();
    assert_eq!(found.len(), 7, "{found:?}");
}

/// The history of a delay is as dense as the delayed expression needs, whatever the steps of the states are.
#[test]
fn delays_of_what_changes_faster_than_the_states() {
    let text = "model M Real x(start = 0, fixed = true), y; equation der(x) = 2; y = delay(sin(20*time), 0.5); end M;";
    let long = Settings {
        stop: 5.0,
        interval: 0.01,
        ..Settings::default()
    };
    let run = run_text(text, &long);
    let times = values(&run, "time");
    for (t, y) in times.iter().zip(values(&run, "y")) {
        let expected = if *t < 0.5 {
            0.0
        } else {
            (20.0 * (t - 0.5)).sin()
        };
        near(y, expected, 1e-4);
    }
}

/// `cardinality` in loops with steps, up and down.
#[test]
fn selections_in_loops_with_steps() {
    let text = "connector C Real v; flow Real i; end C; model T C p; equation p.i = p.v; end T;
        model M T c[9]; T d[9]; Real k[9]; equation
        connect(c[5].p, d[5].p); connect(c[1].p, d[1].p); connect(c[1].p, d[2].p);
        connect(c[7].p, d[7].p); connect(c[7].p, d[8].p); connect(c[7].p, d[9].p); connect(c[4].p, d[4].p);
        for i in 1:2:9 loop k[i] = cardinality(c[i].p); end for;
        for i in 8:-2:2 loop k[i] = 10 + cardinality(c[i].p); end for; end M;";
    let run = run_text(text, &settings());
    let expected = [2.0, 10.0, 0.0, 11.0, 1.0, 10.0, 3.0, 10.0, 0.0];
    for (k, value) in expected.iter().enumerate() {
        assert_eq!(last(&run, &format!("k[{}]", k + 1)), *value, "{k}");
    }
}

/// With a delay time T that changes, `der(delay(x, T))` is `x'(t - T)*(1 - T')`.
#[test]
fn derivatives_of_delays() {
    let text = "model M Real x(start = 0, fixed = true), y, w; equation der(x) = cos(time);
        y = delay(x, 0.2 + 0.1*time, 1); w = der(y); end M;";
    let run = run_text(text, &settings());
    for t in [0.5, 0.75, 1.0] {
        near(at(&run, "w", t), 0.9 * (0.9 * t - 0.2f64).cos(), 1e-5);
    }
}

/// What an algorithm assigns it determines, also where no such statement is ever executed: the variable keeps its start value, one of a clause its left limit
/// (MLS 3.6 §11.1.2). Elements of arrays that are never assigned belong to other equations.
#[test]
fn assignments_that_are_never_executed() {
    for (body, n) in [
        ("Real n(start = 3); algorithm if false then n := 1; end if;", 3.0),
        ("Real n(start = 3); algorithm for i in 1:0 loop n := i; end for;", 3.0),
        ("Real n(start = 3); algorithm while false loop n := 1; end while;", 3.0),
        (
            "Integer n(start = 3, fixed = true); algorithm when time > 0.5 then if 1 > 2 then n := 1; end if; end when;",
            3.0,
        ),
        (
            "Integer a(start = 0, fixed = true), n(start = 3, fixed = true); algorithm
             when time > 0.5 then a := 4; if a < 0 then n := 1; end if; elsewhen time > 0.7 then a := n; end when;",
            3.0,
        ),
        (
            "Integer n(start = 3, fixed = true); algorithm
             when time > 0.5 then for i in 1:0 loop n := i; end for; elsewhen time > 0.7 then n := n + 1; end when;",
            4.0,
        ),
        (
            "record R Real u; Real w; end R; R r(u(start = 3), w(start = 4)); Real n = r.u; algorithm
             if false then r := R(1, 2); end if;",
            3.0,
        ),
        (
            "Real y[2], n = y[1]; equation y[1] = 5; algorithm for i in 2:2 loop y[i] := i; end for;",
            5.0,
        ),
    ] {
        let run = run_text(&format!("model M {body} end M;"), &settings());
        assert_eq!(last(&run, "n"), n, "{body}");
    }
}

/// MLS 3.6 §12.4.4: what no statement assigned has no value. Nothing assigns it on any way: an error of the compiler. Some way does not: an error at the
/// instant at which that way is taken; inlined, left to run time and run by the compiler alike.
#[test]
fn what_is_used_was_assigned() {
    let model = |function: &str, rest: &str| {
        format!("model M function f input Real a; {function} end f; {rest} end M;")
    };
    let x = "Real x = f(time);";
    let compiler = [
        (
            "output Real y; protected Real z; algorithm z := a;",
            x,
            "output `y` of `M.f`",
        ),
        (
            "output Real y; protected Real z; algorithm y := z;",
            x,
            "variable `z` of `M.f`",
        ),
        (
            "output Real y; output Real z; algorithm y := a;",
            "Real x, z; equation (x, z) = f(time);",
            "output `z` of `M.f`",
        ),
        (
            "output Real y; output Real z; algorithm z := a;",
            "Real x = f(time) + 1;",
            "output `y` of `M.f`",
        ),
        (
            "output Real y; output Real z; algorithm y := a;",
            "Real x, z; algorithm (x, z) := f(time);",
            "output `z` of `M.f`",
        ),
        (
            "output Real y[4]; algorithm for i in 1:3 loop y[i] := a; end for;",
            "Real x[4] = f(time);",
            "element 4 of output `y`",
        ),
        (
            "output Real y[20]; algorithm for i in 2:20 loop y[i] := i*a; end for;",
            "Real x[20] = f(time);",
            "element 1 of output `y`",
        ),
        (
            "output Complex y; algorithm y.re := a;",
            "record Complex Real re; Real im; end Complex; Complex x = f(time);",
            "output `y.im`",
        ),
        (
            "output Real y; algorithm if a > 0.5 then y := a; end if;",
            "constant Real k = f(0.2); Real x = k*time;",
            "output `y`",
        ),
        (
            "output Boolean y; algorithm if a > 0.5 then y := true; end if;",
            "parameter Integer n = if f(0.2) then 1 else 2; Real x[n] = fill(time, n);",
            "output `y`",
        ),
        // Too long to be executed symbolically.
        (
            "output Real y; protected Real s = 0; algorithm while s < 2e4 loop s := s + 1; end while; if a > 0.5 then y := s; end if;",
            "constant Real k = f(0.2); Real x = k*time;",
            "output `y`",
        ),
    ];
    for (function, rest, says) in compiler {
        let text = model(function, rest);
        let failed = Model::from_text("Test.mo", &text, &Load::default());
        let failed = failed.map(|_| ()).expect_err(&text).to_string();
        assert!(
            failed.contains("error[unassigned-output]") && failed.contains(says),
            "{text}\n{failed}"
        );
    }
    // Each fails when `time` reaches the instant.
    let at_run_time = [
        (
            "output Real y; algorithm if a < 0.5 then y := a; end if;",
            x,
            "output `y` of `M.f`",
            "0.5",
        ),
        (
            "output Real y; algorithm if a > 0.5 then y := a; end if;",
            x,
            "output `y` of `M.f`",
            "time = 0",
        ),
        (
            "output Integer y; algorithm if a < 0.5 then y := 1; elseif a > 2 then y := 3; end if;",
            "Integer x = f(time);",
            "output `y`",
            "0.5",
        ),
        (
            "output Boolean y; algorithm if a < 0.5 then y := true; end if;",
            "Boolean x = f(time);",
            "output `y`",
            "0.5",
        ),
        (
            "output Real y; protected Real z; algorithm if a > 0.5 then z := 1; end if; y := if a > 0.25 then z else a;",
            x,
            "variable `z`",
            "0.25",
        ),
        (
            "output Real y[3]; protected Integer k; algorithm k := if a < 0.5 then 1 else 2; y[k] := a; y[2] := 1; y[3] := 2;",
            "Real x[3] = f(time);",
            "output `y`",
            "0.5",
        ),
        (
            "output Real y; algorithm if a > -1 then if a < 0.5 then y := 1; end if; else y := 2; end if;",
            "parameter Real p = 1; Real x = p*f(time);",
            "output `y`",
            "0.5",
        ),
        // Left to run time: what is assigned depends on how often the loop runs.
        (
            "output Real y; protected Real s; algorithm s := 8 + a; while s < 10 loop s := s + 1; if s < 9.5 then y := s; end if; end while;",
            x,
            "output `y`",
            "0.5",
        ),
        (
            "output Real y; protected Real s; Real z[2]; algorithm s := 8 + a; while s < 9.5 loop s := s + 1; if s < 9.5 then z[2] := s; end if; end while; y := z[2];",
            x,
            "element 2 of variable `z`",
            "0.5",
        ),
        (
            "output Real y; protected Real s; algorithm s := 8 + a; while s < 10 loop s := s + 1; if s < 9.5 then y := s; end if; end while;",
            "Real x(start = 0, fixed = true); equation der(x) = f(time);",
            "output `y`",
            "after time = 0.4999",
        ),
    ];
    for (function, rest, says, when) in at_run_time {
        let failed = failure(&model(function, rest));
        for part in ["error[unassigned-output]", says, when] {
            assert!(failed.contains(part), "{part}: {function} {rest}\n{failed}");
        }
    }
}

/// All ways assign, or nobody looks.
#[test]
fn what_is_assigned_on_all_ways_has_a_value() {
    let cases = [
        (
            "output Real y; algorithm if a > 0.5 then y := 1; else y := 2; end if;",
            "Real x = f(time);",
            1.0,
        ),
        (
            "output Real y; output Real z; algorithm y := a;",
            "Real x, z = 0; equation (x, ) = f(time);",
            1.0,
        ),
        (
            "output Real y; output Real z; algorithm z := a;",
            "Real x; equation (, x) = f(time);",
            1.0,
        ),
        (
            "output Real y; output Real z; algorithm y := a;",
            "Real x = f(time);",
            1.0,
        ),
        (
            "output Real y = 3; algorithm if a > 5 then y := 1; end if;",
            "Real x = f(time);",
            3.0,
        ),
        (
            "output Real y; protected Real z; algorithm if a > 0.5 then z := 1; end if; y := if a > 0.5 then z else a;",
            "Real x = f(time);",
            1.0,
        ),
        (
            "output Real y; protected Real z; algorithm if a > 5 then z := 1; end if; y := if a > 5 and z > 0 then z else a;",
            "Real x = f(time);",
            1.0,
        ),
        (
            "output Real y; protected Real z[3]; algorithm z[1] := a; for i in 2:3 loop z[i] := 2*z[i - 1]; end for; y := z[3];",
            "Real x = f(time);",
            4.0,
        ),
        (
            "output Real y; protected Real z[3]; algorithm z[3] := a; y := z[3];",
            "Real x = f(time);",
            1.0,
        ),
        (
            "output Real y; protected Real z[30]; algorithm z[1] := 1; for i in 2:30 loop z[i] := i*a; end for; y := z[1] + z[30];",
            "Real x = f(time);",
            31.0,
        ),
        (
            "output Real y[0]; algorithm",
            "Real x = sum(f(time)) + 1;",
            1.0,
        ),
        (
            "output Real y; algorithm if a > -1 then y := a; else assert(false, \"no\"); end if;",
            "Real x = f(time);",
            1.0,
        ),
        (
            "output Real y; protected Real s = 8; algorithm while s < 10 + a loop s := s + 1; y := s; end while;",
            "Real x = f(time);",
            11.0,
        ),
        (
            "output Real y; protected Real s; Real z[2]; algorithm s := a; z[1] := 1; while s < 9 loop s := s + 1; z[2] := z[1] + s; end while; y := z[2];",
            "Real x = f(time);",
            10.0,
        ),
        (
            "output Real y; algorithm y := if a > 3 then g(a) else a;",
            "function g input Real a; output Real y; algorithm if a > 3 then y := 1; end if; end g; Real x = f(time);",
            1.0,
        ),
    ];
    for (function, rest, value) in cases {
        let text = format!("model M function f input Real a; {function} end f; {rest} end M;");
        println!("{text}");
        near(last(&run_text(&text, &settings()), "x"), value, 1e-9);
    }
}

/// A call that does not end takes seconds. The solver may try another point, but not again and again.
#[test]
fn endless_calls_end_the_run() {
    let text = "model M function fib input Integer n; output Integer y; algorithm y := if n < 2 then n else fib(n - 1) + fib(n - 2); end fib;
        Real x = fib(if time > 0.5 then 60 else 50); end M;";
    let load = Load {
        limits: acausal_expr::Limits {
            evaluation_steps: 1_000_000,
            ..Default::default()
        },
        ..Load::default()
    };
    let model = Model::from_text("Test.mo", text, &load).unwrap();
    let failed = model
        .simulate_in_memory(&settings())
        .unwrap_err()
        .to_string();
    assert!(
        failed
            .contains("error[evaluation-steps]: function M.fib does not end within 1000000 steps"),
        "{failed}"
    );
}

/// Functions of media give records of which each region sets other fields, and functions that take them read what the region has.
#[test]
fn a_record_with_other_fields_on_each_way_is_handed_on() {
    let text = "record R Real a; Real b; end R;
        function region input Real x; output R r; protected Integer k = 0; algorithm
          while k < 3 loop k := k + 1; end while;
          if x > 0.5 then r.a := x; else r.b := 2*x; end if; end region;
        function read input Real x; input R r; output Real y; algorithm
          if x > 0.5 then y := r.a; else y := r.b; end if; end read;
        model M Real y = read(time, region(time)); parameter Real p = read(0.2, region(0.2)); end M;";
    let run = run_text(text, &settings());
    assert_eq!(last(&run, "p"), 0.4);
    near(last(&run, "y"), settings().stop, 1e-12);
}
