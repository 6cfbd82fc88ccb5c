//! External functions and objects through Modelica source: tables, strings, random numbers.

#![allow(clippy::unwrap_used)]

use crate::common::{at as value_at, last as final_value, run_text};
use acausal::{InMemory, Load, Model, Settings};
use acausal_expr::Node;

fn simulated(text: &str) -> InMemory {
    let settings = Settings {
        interval: 0.01,
        ..Settings::default()
    };
    run_text(text, &settings)
}

fn messages(text: &str) -> String {
    let failed = Model::from_text("Test.mo", text, &Load::default());
    failed.map(|_| ()).unwrap_err().to_string()
}

/// Tables as libraries declare them.
const TABLES: &str = r#"
package T
  class Curve
    extends ExternalObject;
    function constructor
      input Real table[:, :];
      input Integer columns[:];
      input Integer smoothness;
      input Integer extrapolation;
      output Curve curve;
      external "C" curve = ModelicaStandardTables_CombiTable1D_init3("NoName", "NoName", table, size(table, 1),
        size(table, 2), columns, size(columns, 1), smoothness, extrapolation, false, ",", 0);
    end constructor;
    function destructor
      input Curve curve;
      external "C" ModelicaStandardTables_CombiTable1D_close(curve);
    end destructor;
  end Curve;
  function value
    input Curve curve;
    input Integer column;
    input Real u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(curve, column, u);
  end value;
  function least
    input Curve curve;
    output Real u;
    external "C" u = ModelicaStandardTables_CombiTable1D_minimumAbscissa(curve);
  end least;

  class TimeTable
    extends ExternalObject;
    function constructor
      input Real table[:, :];
      input Integer smoothness;
      input Integer extrapolation;
      output TimeTable t;
      external "C" t = ModelicaStandardTables_CombiTimeTable_init3("NoName", "NoName", table, size(table, 1),
        size(table, 2), 0.0, {2}, 1, smoothness, extrapolation, 0.0, 1, false, ",", 0);
    end constructor;
    function destructor
      input TimeTable t;
      external "C" ModelicaStandardTables_CombiTimeTable_close(t);
    end destructor;
  end TimeTable;
  function at
    input TimeTable t;
    input Real time_;
    input Real next;
    input Real before;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTimeTable_getValue(t, 1, time_, next, before);
  end at;
  function nextEvent
    input TimeTable t;
    input Real time_;
    output Real next;
    external "C" next = ModelicaStandardTables_CombiTimeTable_nextTimeEvent(t, time_);
  end nextEvent;
  block TimeSource
    parameter Real table[:, :];
    parameter Integer smoothness = 1;
    parameter Integer extrapolation = 1;
    Real y;
  protected
    parameter TimeTable t = TimeTable(table, smoothness, extrapolation);
    discrete Real next(start = 0, fixed = true);
  equation
    when {time >= pre(next), initial()} then
      next = nextEvent(t, time);
    end when;
    y = at(t, time, next, pre(next));
  end TimeSource;
end T;
"#;

fn with_tables(model: &str) -> String {
    format!("{TABLES}\n{model}")
}

#[test]
fn a_table_drives_an_equation() {
    // x' = f(x) with f(x) = 1 - x by a line: x = 1 - exp(-t).
    let run = simulated(&with_tables(
        "model M parameter Real line[:, :] = [0, 1; 1, 0]; \
         parameter T.Curve c = T.Curve(line, {2}, 1, 2); Real x(start = 0, fixed = true); parameter Real least = T.least(c); \
         equation der(x) = T.value(c, 1, x); end M;",
    ));
    assert!((final_value(&run, "x") - (1.0 - (-1.0f64).exp())).abs() < 1e-5);
    assert_eq!(final_value(&run, "least"), 0.0);
}

#[test]
fn tables_in_arrays_of_components_are_their_own() {
    let run = simulated(&with_tables(
        "model M model C parameter Real slope; T.Curve c = T.Curve([0, 0; 1, slope], {2}, 1, 2); Real y; \
         equation y = T.value(c, 1, time); end C; C c[3](slope = {1, 2, 3}); end M;",
    ));
    for k in 1..=3 {
        assert!((final_value(&run, &format!("c[{k}].y")) - k as f64).abs() < 1e-12);
    }
}

#[test]
fn a_table_is_differentiated_by_index_reduction() {
    // y = f(x) with a smooth table and x = sin(t): v must be f'(x)*cos(t), here by differences of the result.
    let run = simulated(&with_tables(
        "model M parameter T.Curve c = T.Curve([-2, 4; -1, 1; 0, 0; 1, 1; 2, 4], {2}, 2, 2); \
         Real x; Real y; Real v; equation x = 0.9*sin(time); y = T.value(c, 1, x); v = der(y); end M;",
    ));
    for t in [0.2, 0.5, 0.8] {
        let h = 0.01;
        let slope = (value_at(&run, "y", t + h) - value_at(&run, "y", t - h)) / (2.0 * h);
        assert!((value_at(&run, "v", t) - slope).abs() < 2e-3, "at {t}");
    }
}

#[test]
fn a_time_table_jumps_at_its_events() {
    // 1 until 0.25, then 3 until 0.75, then 0: the integral is 0.25 + 1.5.
    let run = simulated(&with_tables(
        "model M T.TimeSource s(table = [0, 1; 0.25, 1; 0.25, 3; 0.75, 3; 0.75, 0; 1, 0]); Real x(start = 0, fixed = true); \
         equation der(x) = s.y; end M;",
    ));
    assert!((final_value(&run, "x") - 1.75).abs() < 1e-6);
}

#[test]
fn a_periodic_table_of_steps_repeats() {
    // Period 0.4: 2 for 0.1, then 0 for 0.3. In one unit of time it is 2 during 0.1 three times.
    let run = simulated(&with_tables(
        "model M T.TimeSource s(table = [0, 2; 0.1, 0; 0.4, 0], smoothness = 3, extrapolation = 3); \
         Real x(start = 0, fixed = true); equation der(x) = s.y; end M;",
    ));
    assert!((final_value(&run, "x") - 0.6).abs() < 1e-6);
}

#[test]
fn strings_are_evaluated_before_the_simulation() {
    let run = simulated(
        r#"model M
          function length input String s; output Integer n; external "C" n = ModelicaStrings_length(s); end length;
          function part input String s; input Integer a; input Integer b; output String p;
            external "C" p = ModelicaStrings_substring(s, a, b); end part;
          function scan input String s; input Integer start; output Integer next; output Real x;
            external "C" ModelicaStrings_scanReal(s, start, 0, next, x); end scan;
          function number input String s; output Real x; protected Integer next; algorithm (next, x) := scan(s, 1); end number;
          parameter Integer n = length(part("acausal", 2, 4));
          parameter Boolean same = part("acausal", 2, 4) == "cau";
          parameter Real x = number(" 2.5e1 V");
          Real y = time;
        end M;"#,
    );
    assert_eq!(final_value(&run, "n"), 3.0);
    assert_eq!(final_value(&run, "same"), 1.0);
    assert_eq!(final_value(&run, "x"), 25.0);
}

#[test]
fn random_numbers_follow_their_state() {
    // Two generators with the same state give the same numbers, and these differ from step to step.
    let run = simulated(
        r#"model M
          function random input Integer s[2]; output Real r; output Integer n[2];
            external "C" ModelicaRandom_xorshift64star(s, n, r); end random;
          discrete Real a(start = 0, fixed = true); discrete Real b(start = 0, fixed = true);
          Integer p[2](start = {1, 0}, each fixed = true); Integer q[2](start = {1, 0}, each fixed = true);
        equation
          when sample(0.25, 0.25) then
            (a, p) = random(pre(p)); (b, q) = random(pre(q));
          end when;
        end M;"#,
    );
    let at = |t: f64| value_at(&run, "a", t);
    assert_eq!(value_at(&run, "b", 0.9), at(0.9));
    assert!(at(0.3) != at(0.6) && at(0.6) != at(0.9));
    // The first number from the state 1, see the published generator.
    let word = 5_180_492_295_206_395_165_u64 as i64 as f64;
    assert!((at(0.3) - (word / 2f64.powi(64) + 0.5)).abs() < 1e-15);
}

#[test]
fn an_unknown_external_function_is_named() {
    let text = messages(
        r#"model M function f input Real x; output Real y; external "C" y = my_function(x); end f; Real y = f(time); end M;"#,
    );
    assert!(text.contains("`my_function`"), "{text}");
}

#[test]
fn what_a_table_refuses_is_said() {
    let text = messages(&with_tables(
        "model M constant Real line[:, :] = [1, 0; 0, 1]; parameter T.Curve c = T.Curve(line, {2}, 1, 2); \
         Real y = T.value(c, 1, time); end M;",
    ));
    assert!(text.contains("must ascend strictly"), "{text}");
}

/// Linear systems under the names of LAPACK, as libraries declare them, with constant and with varying numbers.
#[test]
fn linear_systems() {
    let text = r#"
        model M
          function solve
            input Real A[:, size(A, 1)]; input Real b[size(A, 1)]; output Real x[size(A, 1)] = b; output Integer info;
          protected
            Real work[size(A, 1), size(A, 1)] = A; Integer pivots[size(A, 1)];
            external "FORTRAN 77" dgesv(size(A, 1), 1, work, size(A, 1), pivots, x, size(A, 1), info);
          end solve;
          function least
            input Real A[:, :]; input Real b[size(A, 1)]; input Real rcond = 0;
            output Real x[max(size(A, 1), size(A, 2))] = b; output Integer info; output Integer rank;
            external "FORTRAN 77" dgelsy(x, info, rank);
          end least;
          parameter Real p[2] = solve([0, 2; 1, 1], {4, 5});
          parameter Real line[3] = least([1, 0; 1, 1; 1, 2], {1, 3, 5});
          Real y[2], z(start = 1, fixed = true);
        equation
          y = solve([1, time; 0, 2], {time, 4});
          der(z) = y[1];
        end M;"#;
    let r = simulated(text);
    assert_eq!(final_value(&r, "p[1]"), 3.0);
    assert_eq!(final_value(&r, "p[2]"), 2.0);
    // y2 = 2, y1 = t - 2*t; z = 1 - t²/2.
    assert!((final_value(&r, "y[1]") + 1.0).abs() < 1e-9);
    assert!((final_value(&r, "z") - 0.5).abs() < 1e-5);
    assert!((final_value(&r, "line[1]") - 1.0).abs() < 1e-12);
    assert!((final_value(&r, "line[2]") - 2.0).abs() < 1e-12);
}

/// The Fourier transform of one period of a cosine: everything is at the first frequency.
#[test]
fn fourier_transform() {
    let text = r#"
        model M
          function raw
            input Real u[:]; output Integer info; output Real a[div(size(u, 1), 2) + 1]; output Real phi[div(size(u, 1), 2) + 1];
          protected
            Real work[3*size(u, 1) + 2*(div(size(u, 1), 2) + 1)];
            external "C" info = ModelicaFFT_kiss_fftr(u, size(u, 1), work, size(work, 1), a, phi);
          end raw;
          function amplitudes
            input Real u[:]; output Real a[div(size(u, 1), 2) + 1];
          protected Integer info; Real phi[div(size(u, 1), 2) + 1];
          algorithm (info, a, phi) := raw(u);
          end amplitudes;
          parameter Real a[4] = amplitudes({3*cos(2*3.141592653589793*k/6) for k in 0:5});
          Real y = time;
        end M;"#;
    let r = simulated(text);
    // |c| = 3*6/2 at the first frequency, divided by the number of frequencies.
    for (k, expected) in [0.0, 9.0 / 4.0, 0.0, 0.0].into_iter().enumerate() {
        let found = final_value(&r, &format!("a[{}]", k + 1));
        assert!((found - expected).abs() < 1e-12, "{k}: {found}");
    }
}

#[test]
fn a_constant_read_from_a_table_is_folded_but_the_table_is_no_constant() {
    // The number of points decides a size: 3 at u = 1.
    let text = with_tables(
        "model M final parameter T.Curve c = T.Curve([0, 0; 1, 3], {2}, 1, 2); \
         parameter Integer n = integer(T.value(c, 1, 1)); Real x[n]; Real y; \
         equation x = {k*time for k in 1:n}; y = T.value(c, 1, time); end M;",
    );
    let model = Model::from_text("Test.mo", &text, &Load::default()).unwrap();
    // An object is a number that means something to one simulation: the model has the call that makes it.
    let flat = &model.compiled.symbols;
    let mut objects = flat.vars.iter().filter(|v| v.auxiliary && v.is_parameter());
    let binding = objects.next().unwrap().binding.as_ref().unwrap();
    assert!(matches!(flat.exprs.node(binding.body), Node::Apply { .. }));
    assert_eq!(objects.count(), 0);
    let run = model.simulate_in_memory(&Settings::default()).unwrap();
    assert_eq!(final_value(&run, "x[3]"), 3.0);
    assert_eq!(final_value(&run, "y"), 3.0);
}

#[test]
fn simulations_at_the_same_time_have_tables_of_their_own() {
    let text = with_tables(
        "model M parameter Real slope = 1; parameter T.Curve c = T.Curve([0, 0; 1, slope], {2}, 1, 2); \
         Real x(start = 0, fixed = true); equation der(x) = T.value(c, 1, time); end M;",
    );
    let slopes: Vec<f64> = (1..=16).map(f64::from).collect();
    let finals: Vec<f64> = std::thread::scope(|scope| {
        let simulate = |slope: f64| {
            let set = vec![format!("slope={slope}")];
            let load = Load {
                set,
                ..Load::default()
            };
            let model = Model::from_text("Test.mo", &text, &load).unwrap();
            let runs = (0..4).map(|_| model.simulate_in_memory(&Settings::default()).unwrap());
            let finals: Vec<f64> = runs.map(|r| final_value(&r, "x")).collect();
            assert!(finals.iter().all(|x| x.to_bits() == finals[0].to_bits()));
            finals[0]
        };
        let threads: Vec<_> = (slopes.iter())
            .map(|&slope| scope.spawn(move || simulate(slope)))
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    // x' = slope*t, so x(1) = slope/2.
    for (slope, x) in slopes.into_iter().zip(finals) {
        assert!((x - slope / 2.0).abs() < 1e-5 * slope, "{slope}: {x}");
    }
}
