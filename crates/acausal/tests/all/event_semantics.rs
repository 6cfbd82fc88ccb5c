//! What holds at events, by the letter of the specification: each model is the smallest that shows one rule, with the outcome
//! that follows from it (MLS 3.6 §3.7.5, §3.8, §8.3, §8.5, §8.6, appendix B).
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::{at, last, near, run_text, values};
use acausal::{InMemory, Load, Model, Settings};

fn until(stop: f64) -> Settings {
    Settings {
        stop,
        interval: stop / 100.0,
        ..Settings::default()
    }
}

/// The message of a run that fails.
#[track_caller]
fn failure(text: &str, settings: &Settings) -> String {
    let model = Model::from_text("Test.mo", text, &Load::default());
    let model = model.unwrap_or_else(|f| panic!("{f}"));
    match model.simulate_in_memory(settings) {
        Ok(_) => panic!("it runs"),
        Err(failure) => failure.to_string(),
    }
}

/// The values of a signal at the start, one per row with time zero.
fn at_start(run: &InMemory, name: &str) -> Vec<f64> {
    let times = values(run, "time");
    let rows = times.iter().take_while(|t| **t == 0.0).count();
    values(run, name)[..rows].to_vec()
}

/// A small generator, so that the cases are the same everywhere.
struct Random(u64);

impl Random {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = (self.0)
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        low + (high - low) * ((self.0 >> 11) as f64 / (1u64 << 53) as f64)
    }
}

/// Sampling unknowns of an algebraic loop: the last digits of a solution are not a change.
#[test]
fn sampled_loops_settle() {
    let text = "model M Real x(start = 1, fixed = true), a, b, c; discrete Real d(start = 0, fixed = true);
      equation der(x) = -x + 0.1*b; 3*a + b - c = sin(5*time) + x; a - 4*b + c = cos(3*time); a + b + 5*c = x;
      when sample(0.1, 0.1) then d = a + b; end when; end M;";
    let r = run_text(text, &until(1.05));
    // At 1.0 the rows say what was sampled.
    near(at(&r, "d", 1.05), at(&r, "a", 1.0) + at(&r, "b", 1.0), 1e-3);
}

/// The same with what was sampled fed back: d = g*(y - d) with y = s + k*d is an equation for d, of any gain.
#[test]
fn sampled_feedback_is_solved() {
    let mut r = Random(7);
    for case in 0..60 {
        let (k, g, s) = (
            r.between(-3.0, 3.0),
            r.between(-3.0, 3.0),
            r.between(-1.0, 1.0),
        );
        let determinant = 1.0 - g * k + g;
        if determinant.abs() < 0.05 {
            continue;
        }
        // y and z are a loop: y + z = 2*s + k*d, y - z = k*d, hence y = s + k*d.
        let text = format!(
            "model M Real y, z; discrete Real d(start = 0, fixed = true); equation
             y + z = 2*({s}) + ({k})*d + 0*exp(0*y); y - z = ({k})*d;
             when sample(0.1, 0.1) then d = ({g})*(y - d); end when; end M;"
        );
        let run = run_text(&text, &until(0.5));
        near(
            last(&run, "d"),
            g * s / determinant,
            1e-8 / determinant.abs(),
        );
        assert!(last(&run, "z").is_finite(), "{case}");
    }
}

/// Initial equations of discrete variables follow the relations that the start is solved with.
#[test]
fn discrete_initial_equations_follow_relations() {
    let edge = "model M Boolean on = time > 0.5; Boolean u = edge(on); Boolean y;
      initial equation pre(on) = false; y = u; equation when u then y = true; end when; end M;";
    let r = run_text(edge, &until(1.0));
    assert_eq!((at(&r, "y", 0.25), last(&r, "y")), (0.0, 1.0));
    let nested = "model M Real r = if time < 0.5 then 0 else 1; Boolean u = r > 0.01; Boolean y;
      initial equation y = u; equation when u then y = true; end when; end M;";
    let r = run_text(nested, &until(1.0));
    assert_eq!((at(&r, "y", 0.25), last(&r, "y")), (0.0, 1.0));
    let latch = "model M Real x = 0.96 + (if time < 1 then 0 else 1 - time);
      Boolean g(start = false, fixed = true) = not pre(g) and x > 0.95 or pre(g) and x > 0.9;
      Boolean l(start = false, fixed = true) = x < 0.85; Boolean y;
      initial equation y = not l and g;
      equation when {l, g} then y = not l and g; end when; end M;";
    let r = run_text(latch, &until(2.0));
    assert_eq!(
        (at(&r, "y", 0.0), at(&r, "y", 0.5), last(&r, "y")),
        (1.0, 1.0, 0.0)
    );
    // The counter starts at raw = 0 and follows it by one step.
    let counter = "model M Real q = if time < 0.5 then 0 else 3; Integer raw = if q > 2 then 2 elseif q > 1 then 1 else 0;
      Integer n; initial equation pre(n) = raw; equation when {initial(), change(raw)} then
      n = pre(n) + (if raw > pre(n) then 1 elseif raw < pre(n) then -1 else 0); end when; end M;";
    let r = run_text(counter, &until(1.0));
    assert_eq!((at(&r, "n", 0.25), last(&r, "n")), (0.0, 1.0));
}

/// Clauses become active in the event iteration that follows the start.
#[test]
fn clauses_after_the_start() {
    let chain = "model M Boolean a(start = false, fixed = true) = time >= -1;
      Boolean b(start = false, fixed = true) = pre(a);
      Integer n1(start = 0, fixed = true), n2(start = 0, fixed = true), n3(start = 0, fixed = true);
      equation when b then n1 = pre(n1) + 1; end when;
      when {initial(), b} then n2 = pre(n2) + 1; end when;
      when {b, time > 0.7} then n3 = pre(n3) + 1; end when; end M;";
    let r = run_text(chain, &until(1.0));
    let found = ["n1", "n2", "n3"].map(|n| last(&r, n));
    assert_eq!(found, [1.0, 2.0, 2.0]);
    let carried = "model M Real r = 0.5; Boolean u = r - s > 0.01; Boolean e = edge(u); Boolean p = pre(e); discrete Real s;
      initial equation pre(u) = false; pre(e) = false; pre(s) = 0;
      equation when p then s = r; end when; end M;";
    assert_eq!(last(&run_text(carried, &until(1.0)), "s"), 0.5);
    let changed = "model M Boolean u = time > -1; Boolean p = pre(u); Integer n;
      initial equation pre(u) = false; pre(n) = 5;
      equation when {initial(), change(p)} then n = pre(n) + 1; end when; end M;";
    assert_eq!(last(&run_text(changed, &until(1.0)), "n"), 7.0);
    // What is true at the start has not become true.
    let level = "model M Integer n(start = 0, fixed = true); equation
      when time > -1 then n = pre(n) + 1; end when; end M;";
    assert_eq!(last(&run_text(level, &until(1.0)), "n"), 0.0);
}

/// Right after the start: the row before belongs to the result, and there is one edge.
#[test]
fn events_right_after_the_start() {
    for condition in ["time > 0", "2*time > 0", "x > 0"] {
        let text = format!(
            "model M Real x(start = 0, fixed = true); Boolean b = {condition}; Integer n(start = 0, fixed = true);
             equation der(x) = 1; when b then n = pre(n) + 1; end when; end M;"
        );
        let r = run_text(&text, &until(1.0));
        assert_eq!(at_start(&r, "b"), [0.0, 1.0], "{condition}");
        assert_eq!(at_start(&r, "n"), [0.0, 1.0], "{condition}");
        assert_eq!(last(&r, "n"), 1.0, "{condition}");
    }
}

/// Steps that stand on their threshold at the start leave it at once; between 0 and 1 they have one value.
#[test]
fn steps_on_their_threshold() {
    for (step, start, later) in [
        ("ceil(time)", 0.0, 1.0),
        ("ceil(x)", 0.0, 1.0),
        ("integer(ceil(time - 4))", -4.0, -3.0),
        ("integer(ceil(x - 4))", -4.0, -3.0),
        ("floor(1 - time)", 1.0, 0.0),
        ("floor(1 - x)", 1.0, 0.0),
        ("floor(x)", 0.0, 0.0),
        ("div(-x, 1)", 0.0, 0.0),
    ] {
        let text = format!(
            "model M Real x(start = 0, fixed = true), z(start = 0, fixed = true); Real y = {step};
             equation der(x) = 1; der(z) = y; end M;"
        );
        let r = run_text(&text, &until(0.9));
        assert_eq!(at_start(&r, "y")[0], start, "{step}");
        assert_eq!(last(&r, "y"), later, "{step}");
        near(last(&r, "z"), 0.9 * later, 1e-9);
    }
}

/// `ceil`, `div`, `mod` and `rem` are events: integrals over their jumps are exact.
#[test]
fn steps_are_events() {
    for (step, integral) in [
        // 0.3*(0 + 1 + 2) + 0.1*3; the areas of three teeth and a third of one; and so on.
        ("div(time, 0.3)", 0.9 + 0.3),
        ("mod(time, 0.3)", 3.0 * 0.045 + 0.005),
        ("mod(-time, 0.3)", 3.0 * 0.045 + 0.3 * 0.1 - 0.005),
        ("rem(-time, 0.3)", -3.0 * 0.045 - 0.005),
        ("ceil(10*time)", 5.5),
    ] {
        let text =
            format!("model M Real z(start = 0, fixed = true); equation der(z) = {step}; end M;");
        let settings = Settings {
            tolerance: 1e-9,
            ..until(1.0)
        };
        near(last(&run_text(&text, &settings), "z"), integral, 1e-8);
    }
}

/// The assertion of an initial algorithm is one about the start.
#[test]
fn assertions_of_the_start() {
    let text = |limit: f64| {
        format!(
            "model M Real x(start = 1, fixed = true); initial algorithm assert(x < {limit}, \"only the start counts\");
             equation der(x) = 1; when sample(0.2, 0.2) then end when; end M;"
        )
    };
    near(last(&run_text(&text(1.4), &until(1.0)), "x"), 2.0, 1e-6);
    let message = failure(&text(0.5), &until(1.0));
    assert!(message.contains("only the start counts"), "{message}");
}

/// An assertion fails at its instant: h = 1 + t - t^2/4 = 1.99 at t = 2 - sqrt(0.04) = 1.8.
#[test]
fn assertions_are_events() {
    let model = |level: &str| {
        format!(
            "model M model Ball Real h(start = 1, fixed = true), v(start = 1, fixed = true); equation
               der(h) = v; der(v) = -0.5; assert(h <= 1.99, \"ceiling hit\"{level}); end Ball; Ball ball; end M;"
        )
    };
    for interval in [0.05, 5.0] {
        let settings = Settings {
            stop: 5.0,
            interval,
            ..Settings::default()
        };
        let message = failure(&model(""), &settings);
        let (_, rest) = message.split_once("time = ").unwrap();
        let (time, rest) = rest.split_once(':').unwrap();
        near(time.parse().unwrap(), 1.8, 1e-5);
        assert!(rest.contains("ceiling hit"), "{message}");
        assert!(rest.contains("in component ball"), "{message}");
        assert!(rest.contains("with ball.h = 1.99"), "{message}");
        let run = run_text(&model(", AssertionLevel.warning"), &settings);
        // It holds again at 2.2 and stays so.
        assert_eq!(run.summary.warnings.len(), 1, "{:?}", run.summary.warnings);
        assert!(run.summary.warnings[0].contains("ceiling hit"));
    }
}

/// Assertions that are no events are looked at in every row, however long the steps are: of functions whether inlined or not, and in `noEvent`.
#[test]
fn assertions_without_events() {
    let looped = "y := 0; while y < u loop y := y + 1; end while; assert(u < 0.55 or u > 0.6, \"between\"); y := u;";
    let inlined = "assert(u < 0.55 or u > 0.6, \"between\"); y := u;";
    let with = |body: &str, equation: &str| {
        format!(
            "model M function f input Real u; output Real y; algorithm {body} end f;
             Real z(start = 0, fixed = true), y; equation der(z) = 1; {equation} end M;"
        )
    };
    let of_time = "y = f(time);";
    let no_event = "y = time; assert(noEvent(y < 0.55 or y > 0.6), \"between\");";
    for text in [
        with(inlined, of_time),
        with(looped, of_time),
        with(inlined, no_event),
    ] {
        let message = failure(&text, &until(1.0));
        assert!(message.contains("between"), "{message}");
        let (_, rest) = message.split_once("time = ").unwrap();
        let (time, _) = rest.split_once(':').unwrap();
        let time: f64 = time.parse().unwrap();
        assert!((0.55..0.6).contains(&time), "{message}");
    }
    // Without rows in between, the end of a step tells it.
    let rising = looped.replace(" or u > 0.6", "");
    let settings = Settings {
        interval: 1.0,
        ..until(1.0)
    };
    let message = failure(&with(&rising, of_time), &settings);
    assert!(message.contains("between"), "{message}");
}

/// Two rooms and a door in ten layers: pressures that differ by rounding do not make the flows change their direction to and fro.
#[test]
fn flows_that_nearly_balance() {
    let text = "model Door
        parameter Integer n = 10; parameter Real V = 62.5, R = 287, cv = 718, cp = 1005, T0 = 293.15, p0 = 101325, g = 9.81, C = 0.01, d = 1e-5;
        parameter Real m0 = p0*V/(R*T0);
        Real mA(start = m0, fixed = true), mB(start = m0, fixed = true);
        Real UA(start = m0*cv*T0, fixed = true), UB(start = m0*cv*T0, fixed = true);
        Real TA, TB, pA, pB, dp[n], f[n], s[n], m[2], H[2];
      equation
        TA = UA/(mA*cv); TB = UB/(mB*cv); pA = mA*R*TA/V; pB = mB*R*TB/V;
        for i in 1:n loop
          dp[i] = pA - pB - (mA - mB)/V*g*((i - 0.5)/n - 0.5);
          f[i] = C*dp[i]/(dp[i]^2 + 1e-4)^0.25;
          s[i] = max(0, min(1, 0.5 + f[i]/d/2));
        end for;
        m[1] = sum(f[i]*s[i] for i in 1:n); m[2] = sum(f[i]*(1 - s[i]) for i in 1:n);
        for i in 1:2 loop H[i] = if m[i] >= 0 then m[i]*cp*TA else m[i]*cp*TB; end for;
        der(mA) = -sum(m); der(mB) = sum(m);
        der(UA) = -sum(H); der(UB) = sum(H) + 100*sin(2*3.14159265*time/3600);
      end Door;";
    let run = run_text(text, &until(7200.0));
    let m0 = 101325.0 * 62.5 / (287.0 * 293.15);
    near(last(&run, "mA") + last(&run, "mB"), 2.0 * m0, 1e-3);
    assert!(run.summary.events < 200, "{}", run.summary.events);
}

/// `pre(x)` of a state is its value after the last iteration of the same instant.
#[test]
fn left_limits_after_reinit() {
    let twice =
        "model M Real x(start = 1, fixed = true); Boolean a = time > 0.5; Boolean b = pre(a);
      equation der(x) = 0; when {a, b} then reinit(x, 2*pre(x)); end when; end M;";
    near(last(&run_text(twice, &until(1.0)), "x"), 4.0, 1e-12);
    let cradle =
        "model M \"the momentum passes from the first to the third ball within one instant\"
      Real x1(start = -1, fixed = true), x2(start = 0, fixed = true), x3(start = 0, fixed = true);
      Real v1(start = 1, fixed = true), v2(start = 0, fixed = true), v3(start = 0, fixed = true);
      Boolean c12 = x1 >= x2 and v1 > v2; Boolean c23 = x2 >= x3 and v2 > v3;
      equation der(x1) = v1; der(x2) = v2; der(x3) = v3; der(v1) = 0; der(v2) = 0; der(v3) = 0;
      when {c12, c23} then
        reinit(v1, if edge(c12) then pre(v2) else pre(v1));
        reinit(v2, if edge(c12) then pre(v1) else pre(v3));
        reinit(v3, if edge(c12) then pre(v3) else pre(v2));
      end when; end M;";
    let r = run_text(cradle, &until(2.0));
    for (v, expected) in [("v1", 0.0), ("v2", 0.0), ("v3", 1.0), ("x3", 1.0)] {
        near(last(&r, v), expected, 1e-9);
    }
}

/// Instants that are equal as decimals are one event, and so are ticks of clocks.
#[test]
fn coinciding_instants() {
    let text = "model M Integer a(start = 0, fixed = true), b(start = 0, fixed = true), k(start = 0, fixed = true);
      Integer bad(start = 0, fixed = true);
      equation when sample(0, 0.1) then a = pre(a) + 1; end when;
      when sample(0, 0.3) then k = pre(k) + 1; b = a; bad = pre(bad) + (if a <> 3*pre(k) + 1 then 1 else 0); end when;
      end M;";
    let r = run_text(text, &until(100.0));
    let found = ["a", "b", "k", "bad"].map(|n| last(&r, n));
    assert_eq!(found, [1001.0, 1000.0, 334.0, 0.0]);
    assert_eq!(r.summary.events, 1001);
    // A clock with a rational period and a sample with a decimal one.
    let clock = "model M Integer a(start = 0), ha, n(start = 0, fixed = true), bad(start = 0, fixed = true);
      equation when Clock(1, 10) then a = previous(a) + 1; end when; ha = hold(a);
      when sample(0, 0.3) then n = pre(n) + 1; bad = pre(bad) + (if ha <> 3*pre(n) + 1 then 1 else 0); end when; end M;";
    let r = run_text(clock, &until(100.0));
    assert_eq!((last(&r, "bad"), r.summary.events), (0.0, 1001));
    let with_time = "model M Integer a(start = 0, fixed = true), b(start = 0, fixed = true);
      equation when sample(0, 0.1) then a = pre(a) + 1; end when; when time >= 0.3 then b = a; end when; end M;";
    assert_eq!(last(&run_text(with_time, &until(1.0)), "b"), 4.0);
}

/// The condition of a clause comes before its assignments; an equation has no before.
#[test]
fn conditions_and_their_own_assignments() {
    let next =
        "model M discrete Real next(start = 0.1, fixed = true); Integer n(start = 0, fixed = true);
      equation when time >= next then next = time + 0.1; n = pre(n) + 1; end when; end M;";
    assert_eq!(last(&run_text(next, &until(0.55)), "n"), 5.0);
    let each = "model M discrete Real next[3](start = {0.1, 0.2, 0.3}, each fixed = true); Integer n[3](each start = 0, each fixed = true);
      equation for i in 1:3 loop when time >= next[i] then next[i] = time + 0.1*i; n[i] = pre(n[i]) + 1; end when; end for; end M;";
    let r = run_text(each, &until(1.05));
    assert_eq!(
        ["n[1]", "n[2]", "n[3]"].map(|n| last(&r, n)),
        [10.0, 5.0, 3.0]
    );
    let none = "model M Integer n(start = 0, fixed = true); Boolean tick = time >= 0.1*(n + 1);
      equation when tick then n = pre(n) + 1; end when; end M;";
    let message = failure(none, &until(0.5));
    assert!(message.contains("event-iteration"), "{message}");
    assert!(message.contains("time = 0.1 do not settle"), "{message}");
}

/// Integers and Booleans that change without a relation change at their instant.
#[test]
fn discrete_values_of_continuous_functions() {
    let functions = "function which input Real a; input Real b; output Integer k; algorithm
        k := if a < b then 1 else 2; end which;
      function order input Real a; input Real b; output Real y; output Integer k; algorithm
        if a < b then y := a; k := 1; else y := b; k := 2; end if; end order;
      function above input Real a; output Boolean y; algorithm y := a > 0.5; end above;";
    for (declaration, equation) in [
        ("Integer k = which(time, 0.5);", "k == 2"),
        ("Boolean k = which(time, 0.5) == 2;", "k"),
        ("Boolean k = above(time);", "k"),
        ("Real v = time; Boolean k = noEvent(v > 0.5);", "k"),
        ("Integer k = noEvent(integer(2*time));", "k == 1"),
        (
            "Integer k = if noEvent(time > 0.5) then 2 else 1;",
            "k == 2",
        ),
        ("Integer k = sign(time - 0.5);", "k == 1"),
        ("Real y; Integer k;", "k == 2"),
    ] {
        let extra = if declaration.starts_with("Real y") {
            "(y, k) = order(time, 0.5);"
        } else {
            ""
        };
        let text = format!(
            "model M {functions} Real x(start = 0, fixed = true); {declaration}
             equation {extra} der(x) = if {equation} then 1 else 0; end M;"
        );
        near(last(&run_text(&text, &until(0.9)), "x"), 0.4, 1e-9);
    }
    let clause = format!(
        "model M {functions} Integer n(start = 0, fixed = true); equation
         when noEvent(sin(10*time) > 0.5) then n = pre(n) + 1; end when; end M;"
    );
    // sin(10 t) rises through 0.5 at (pi/6 + 2 pi k)/10.
    assert_eq!(last(&run_text(&clause, &until(2.0)), "n"), 4.0);
}

/// A discrete Real has a discrete-time expression (MLS 3.6 §3.8).
#[test]
fn discrete_reals_of_continuous_expressions() {
    for wrong in [
        "discrete Real d = sin(time);",
        "Real x = time; discrete Real d; equation d = 2*x;",
        "Real x = time; discrete Real d; algorithm d := mod(x, 0.3);",
    ] {
        let text = format!("model M {wrong} end M;");
        let Err(message) = Model::from_text("Test.mo", &text, &Load::default()) else {
            panic!("{wrong} is accepted");
        };
        let message = message.to_string();
        assert!(
            message.contains("variability") && message.contains("`d`"),
            "{message}"
        );
    }
    for (right, value) in [
        ("discrete Real d = if time > 0.5 then 1 else 0;", 1.0),
        ("discrete Real d = floor(3*time) + 0.5;", 2.5),
        ("Integer n = integer(2*time); discrete Real d = 0.5*n;", 0.5),
        (
            "discrete Real d = if noEvent(time > 0.5) then 1 else 0;",
            1.0,
        ),
        (
            "Boolean b = time > 0.5; discrete Real d(start = 0, fixed = true) = if edge(b) then time else pre(d);",
            0.5,
        ),
    ] {
        let text = format!("model M {right} end M;");
        near(last(&run_text(&text, &until(0.9)), "d"), value, 1e-9);
    }
}

/// A start that is written with variables is an equation of the start.
#[test]
fn starts_of_variables() {
    let text =
        "model M Real x(start = 2*y, fixed = true); Real y = 3 + time; equation der(x) = 1; end M;";
    near(at(&run_text(text, &until(1.0)), "x", 0.0), 6.0, 1e-12);
}

/// Many independent events are no accumulation.
#[test]
fn quantisers_of_linear_motions() {
    let two = "model M Real x0(start = -0.949, fixed = true), q0, x1(start = 0.459, fixed = true), q1;
      equation der(x0) = -0.834; q0 = floor(50*x0 + 0.123); der(x1) = 0.909; q1 = floor(50*x1 + 0.123); end M;";
    let r = run_text(two, &until(1.0));
    // floor(50*(-1.783) + 0.123) and floor(50*1.368 + 0.123)
    assert_eq!((last(&r, "q0"), last(&r, "q1")), (-90.0, 68.0));
    let mut random = Random(3);
    for _ in 0..5 {
        let (mut declarations, mut equations, mut expected) =
            (String::new(), String::new(), Vec::new());
        for k in 0..40 {
            let (x, v) = (random.between(-1.0, 1.0), random.between(-1.0, 1.0));
            declarations += &format!("Real x{k}(start = {x}, fixed = true), q{k}; ");
            equations += &format!("der(x{k}) = {v}; q{k} = floor(50*x{k} + 0.123); ");
            expected.push((50.0 * (x + v) + 0.123).floor());
        }
        let text = format!("model M {declarations} equation {equations} end M;");
        let r = run_text(&text, &until(1.0));
        for (k, q) in expected.iter().enumerate() {
            assert_eq!(last(&r, &format!("q{k}")), *q);
        }
    }
}

/// Indicators that are faster than the states, whatever the distance of rows: sin(50 t) exceeds a level once per period.
#[test]
fn fast_indicators() {
    for level in ["0.5", "0.999"] {
        let text = format!(
            "model M Real x(start = 0, fixed = true); Integer m(start = 0, fixed = true);
             equation der(x) = -x; when sin(50*time) > {level} then m = pre(m) + 1; end when; end M;"
        );
        for interval in [0.02, 0.1, 1.0, 10.0] {
            let settings = Settings {
                stop: 30.0,
                interval,
                ..Settings::default()
            };
            // 30*50/(2 pi) = 238.7, and the level is reached in the last part.
            assert_eq!(
                last(&run_text(&text, &settings), "m"),
                239.0,
                "{level} {interval}"
            );
        }
    }
}

/// Discrete values that are no numbers are an error that names the variable and its equation.
#[test]
fn discrete_values_are_numbers() {
    for (text, name) in [
        (
            "Integer z = integer(time - 5) + 5; Integer n = div(7, z);",
            "`n` is inf at time = 0",
        ),
        (
            "discrete Real d(start = 1, fixed = true); equation when time > 0.5 then d = sqrt(-1 - time); end when;",
            "`d` is NaN at time = 0.5",
        ),
    ] {
        let message = failure(&format!("model M {text} end M;"), &until(1.0));
        assert!(message.contains("not-a-number"), "{message}");
        assert!(message.contains(name), "{message}");
        assert!(message.contains("because of this equation"), "{message}");
    }
}

/// Rows are read from the solution; how many are asked for changes nothing, to the last bit.
#[test]
fn the_output_interval_has_no_influence() {
    let text =
        "model M Real x(start = 1, fixed = true), v(start = 0, fixed = true), z(start = 0.5);
      equation der(x) = v; der(v) = -9*z + (if x > 0.3 then 1 else 0); z + 0.3*sin(z) = x;
      when x < -0.5 then reinit(v, v + 0.1); end when; end M;";
    let with = |interval: f64| {
        let run = run_text(
            text,
            &Settings {
                interval,
                ..until(5.0)
            },
        );
        ["x", "v", "z"].map(|name| last(&run, name).to_bits())
    };
    assert_eq!(with(0.5), with(0.01));
    assert_eq!(with(0.5), with(5.0));
}
