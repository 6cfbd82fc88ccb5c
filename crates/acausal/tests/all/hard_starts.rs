//! Starts that need more than Newton's method from the guesses: tearing, homotopy, and unknowns that stay open.
#![allow(clippy::unwrap_used)]

use acausal::{InMemory, Load, Model, Settings};

const BRAKES: &str = include_str!("common/Brakes.mo");

fn run(text: &str, stop: f64) -> InMemory {
    let model = Model::from_text("Test.mo", text, &Load::default());
    let model = model.unwrap_or_else(|f| panic!("{f}"));
    let settings = Settings {
        stop,
        interval: stop / 10.0,
        ..Settings::default()
    };
    model
        .simulate_in_memory(&settings)
        .unwrap_or_else(|f| panic!("{f}"))
}

/// Runs a model whose start must be found without a remark about guesses.
fn silent(text: &str) -> InMemory {
    let r = run(text, 0.01);
    let notes: Vec<&String> = r.summary.notes.iter().map(|n| &n.text).collect();
    assert!(
        notes.iter().all(|n| !n.contains("other guesses")),
        "{notes:?}"
    );
    r
}

fn refusal(text: &str) -> String {
    let model = Model::from_text("Test.mo", text, &Load::default());
    let model = model.unwrap_or_else(|f| panic!("{f}"));
    let run = model.simulate_in_memory(&model.settings());
    run.map(|_| String::new()).unwrap_or_else(|f| f.to_string())
}

#[track_caller]
fn near(r: &InMemory, name: &str, t: f64, expected: f64, tolerance: f64) {
    let v = r.result.value_at(name, t).unwrap();
    let error = (v - expected).abs();
    assert!(
        error <= tolerance * expected.abs().max(1.0),
        "{name}({t}) = {v}, not {expected}"
    );
}

/// The guess of a derivative is zero, and nobody can write another one: log(der(a)) is undefined there. But the first
/// equation gives der(a) from a. With b = -1: (exp(a) + 1)*exp(a) = e.
#[test]
fn a_derivative_follows_from_a_torn_state() {
    let r = silent(
        "model Torn
           Real a(start = 0), b(start = -1, fixed = true);
         equation
           der(a) = exp(a) - b;
           der(b) = -b;
         initial equation
           log(der(a)) + a = 1;
         end Torn;",
    );
    let e = std::f64::consts::E;
    let a = ((-1.0 + (1.0 + 4.0 * e).sqrt()) / 2.0).ln();
    near(&r, "a", 0.0, a, 1e-10);
}

/// A parameter and two states with nonlinear conditions on their slopes: six unknowns in one loop, of which the slopes follow
/// from the others. sqrt(der(x)) = p, der(y) = log(der(x)) + y, x + y = 4, with der(x) = x*p, der(y) = p*y.
#[test]
fn slopes_and_a_free_parameter() {
    let r = silent(
        "model Free
           parameter Real p(fixed = false, start = 1);
           Real x(start = 1), y(start = 1);
         equation
           der(x) = x*p;
           der(y) = p*y;
         initial equation
           sqrt(der(x)) = p;
           der(y) = log(der(x)) + y;
           x + y = 4;
         end Free;",
    );
    // x = p, so y = 4 - p and (p - 1)*(4 - p) = 2*log(p): p = 1, or a root above it.
    let (p, y) = (
        r.result.value_at("p", 0.0).unwrap(),
        r.result.value_at("y", 0.0).unwrap(),
    );
    assert!(
        ((p - 1.0) * y - 2.0 * p.ln()).abs() < 1e-9,
        "p = {p}, y = {y}"
    );
    near(&r, "x", 0.0, p, 1e-9);
    near(&r, "y", 0.0, 4.0 - p, 1e-9);
}

/// The operating point of a common emitter stage without guesses (Ebers-Moll transistor). Expected values: nested
/// bisection in another program.
#[test]
fn the_operating_point_of_an_amplifier_stage() {
    let r = silent(
        "model Stage
           parameter Real Is = 1e-14, Vt = 0.02585, bf = 100, br = 1;
           parameter Real Vcc = 12, R1 = 47e3, R2 = 10e3, Rc = 2.2e3, Re = 470, Cin = 1e-6, Ce = 100e-6;
           Real vb, vc, ve, ib, ic, uin, ue;
         equation
           ic = Is*(exp((vb - ve)/Vt) - exp((vb - vc)/Vt)) - Is/br*(exp((vb - vc)/Vt) - 1);
           ib = Is/bf*(exp((vb - ve)/Vt) - 1) + Is/br*(exp((vb - vc)/Vt) - 1);
           (Vcc - vb)/R1 - vb/R2 - ib + Cin*der(uin) = 0;
           uin = 0.01*sin(6283*time) - vb;
           (Vcc - vc)/Rc = ic;
           ue = ve;
           ib + ic = ve/Re + Ce*der(ue);
         initial equation
           der(uin) = 0;
           der(ue) = 0;
         end Stage;",
    );
    near(&r, "vb", 0.0, 1.894_189_367_109_576_6, 1e-9);
    near(&r, "vc", 0.0, 6.368_371_622_339_19, 1e-9);
    near(&r, "ve", 0.0, 1.215_151_814_029_563_6, 1e-9);
    near(&r, "ic", 0.0, 2.559_831_080_754_914e-3, 1e-9);
}

const PIPES: &str = "
    parameter Real k[5] = {4, 4, 1, 8/sqrt(160), 2};
    Real p[2], q[5], dp[5];
  equation
    dp = {169 - p[1], 169 - p[2], p[1] - p[2], p[1], p[2]};
    q[1] = q[3] + q[4];
    q[2] + q[3] = q[5] + 0*time;";

/// Five pipes between two nodes; all guesses are zero, where the square root has no finite derivative. With p = (160, 144)
/// the differences are 9, 25, 16, 160, 144.
#[test]
fn a_network_of_pipes_from_zero() {
    let with = |law: &str| format!("model Pipes {PIPES} {law} end Pipes;");
    let actual = "sign(dp[i])*sqrt(abs(dp[i]))";
    let r = silent(&with(&format!(
        "for i in 1:5 loop q[i] = k[i]*homotopy(actual = {actual}, simplified = dp[i]/13); end for;"
    )));
    near(&r, "p[1]", 0.0, 160.0, 1e-9);
    near(&r, "p[2]", 0.0, 144.0, 1e-9);
    near(&r, "q[3]", 0.0, 4.0, 1e-9);
    // Without homotopy other guesses are tried, and that is said.
    let r = run(
        &with(&format!("for i in 1:5 loop q[i] = k[i]*{actual}; end for;")),
        0.01,
    );
    near(&r, "p[1]", 0.0, 160.0, 1e-9);
    let notes: Vec<&String> = r.summary.notes.iter().map(|n| &n.text).collect();
    assert!(
        notes.iter().any(|n| n.contains("other guesses")),
        "{notes:?}"
    );
}

/// In an array constructor, as the argument of a function, and one inside of the other. log(0) is undefined at the guesses.
#[test]
fn homotopy_inside_of_other_expressions() {
    let r = silent(
        "model Nested
           function soft
             input Real u;
             output Real y;
           algorithm
             y := u^3 + u;
           end soft;
           Real x[3], y, z;
         equation
           {homotopy(actual = log(x[i]/i), simplified = x[i] - 2) for i in 1:3} = {0*time, 0, 0};
           soft(homotopy(actual = log(y/5), simplified = y - 4)) = 0;
           homotopy(actual = log(z/7) + homotopy(actual = sqrt(z - 3), simplified = z/4), simplified = z - 6) = 2;
         end Nested;",
    );
    for k in 1..=3 {
        near(&r, &format!("x[{k}]"), 0.0, f64::from(k), 1e-9);
    }
    near(&r, "y", 0.0, 5.0, 1e-9);
    near(&r, "z", 0.0, 7.0, 1e-9);
}

/// The simplified model has three blocks, the actual one is a loop of all unknowns.
#[test]
fn the_simplified_model_has_blocks_of_its_own() {
    let r = silent(
        "model Blocks
           Real x, y, z;
         equation
           0 = homotopy(actual = log(x/3) + 0.1*(z - 1), simplified = x - 2);
           0 = homotopy(actual = log(y/2) + 0.1*(x - 3), simplified = y - 0.75*x);
           0 = homotopy(actual = log(z) + 0.05*(y - 2), simplified = z - 0.6*y) + 0*time;
         end Blocks;",
    );
    near(&r, "x", 0.0, 3.0, 1e-9);
    near(&r, "y", 0.0, 2.0, 1e-9);
    near(&r, "z", 0.0, 1.0, 1e-9);
}

/// Two brakes hold a shaft: only the sum of their torques is determined. They share it, the shaft stands still, and when
/// they let go it moves as it must: 2*der(w) = 2 + t from t = 1 on.
#[test]
fn two_brakes_share_what_no_equation_divides() {
    let r = run(BRAKES, 2.0);
    for t in [0.0, 0.4, 0.8] {
        near(&r, "tau1", t, 2.0 + t / 2.0, 1e-6);
        near(&r, "tau2", t, 2.0 + t / 2.0, 1e-6);
        near(&r, "w", t, 0.0, 1e-12);
    }
    near(&r, "w", 2.0, 1.75, 1e-6);
    let warnings = &r.summary.warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    for part in ["do not determine s1, s2 at time = 0", "s1 = 2, s2 = 2"] {
        assert!(warnings[0].contains(part), "{warnings:?}");
    }
}

/// What is open at the start only is taken from an instant later: time*(s2 - 1) = 0 holds for every s2 at time = 0, and for
/// s2 = 1 from then on.
#[test]
fn what_is_open_for_an_instant_is_continuous() {
    let r = run(
        &BRAKES.replace("then 0 else s2", "then time*(s2 - 1) else s2"),
        2.0,
    );
    for t in [0.0, 0.4, 0.8] {
        near(&r, "tau2", t, 1.0, 1e-5);
        near(&r, "tau1", t, 3.0 + t, 1e-5);
    }
    near(&r, "w", 2.0, 1.75, 1e-6);
    let warnings = r.summary.warnings.join("\n");
    assert!(
        warnings.contains("that they determine an instant later was taken: s1 = 3, s2 = 1"),
        "{warnings}"
    );
}

/// The same for five brakes, which leave four directions open.
#[test]
fn five_brakes_share_alike() {
    let r = run(
        "model Five
           parameter Integer N = 5;
           Boolean locked = time < 1;
           Real w(start = 0, fixed = true), a = der(w), tau[N], s[N];
         equation
           2*a = 10 + time - sum(tau);
           for i in 1:N loop
             tau[i] = if locked then s[i] else 1/N;
             a = if locked then 0 else s[i];
           end for;
         end Five;",
        2.0,
    );
    for k in 1..=5 {
        near(&r, &format!("tau[{k}]"), 0.6, 10.6 / 5.0, 1e-6);
    }
    // From 1 on 2*der(w) = 9 + t.
    near(&r, "w", 2.0, 5.25, 1e-6);
}

/// Two friction elements with the limits 1 and 2 under a growing torque 4*t. They share it until one has reached its limit, at
/// t = 1/2; the other one takes the rest. Whatever the shares, the shaft breaks away when both limits are reached: at
/// t = 3/4, and then der(w) = 4*t - 3.
#[test]
fn friction_breaks_away_at_the_sum_of_the_limits() {
    let r = run(
        "model Slip
           parameter Real tau0[2] = {1, 2};
           Real w(start = 0, fixed = true), a = der(w), sa[2], tau[2];
           Integer mode[2](each start = 0, each fixed = true);
           Boolean startForward[2](each start = false, each fixed = true), locked[2];
         equation
           a = 4*time - tau[1] - tau[2];
           for i in 1:2 loop
             startForward[i] = pre(mode[i]) == 0 and sa[i] > tau0[i];
             locked[i] = not (pre(mode[i]) == 1 or startForward[i]);
             a = if locked[i] then 0 else sa[i] - tau0[i];
             tau[i] = if locked[i] then sa[i] else tau0[i];
             mode[i] = if (pre(mode[i]) == 1 or startForward[i]) and w > 0 then 1 else 0;
           end for;
         end Slip;",
        1.0,
    );
    near(&r, "tau[1]", 0.3, 0.6, 1e-6);
    near(&r, "tau[2]", 0.3, 0.6, 1e-6);
    near(&r, "tau[1]", 0.7, 1.0, 1e-6);
    near(&r, "tau[2]", 0.7, 1.8, 1e-6);
    near(&r, "w", 0.7, 0.0, 1e-12);
    near(&r, "w", 1.0, 0.125, 1e-5);
}

/// Brakes that want different things have no solution, and what depends on each other is said.
#[test]
fn brakes_that_fight_are_refused() {
    let said = refusal(&BRAKES.replace("then 0 else s2", "then 1 else s2"));
    for part in [
        "error[initial-singular]",
        "Test.mo:7:3",
        "and this one",
        "s1 by 1, s2 by -1",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// What is open and moves the shaft is not harmless.
#[test]
fn an_open_acceleration_is_refused() {
    let said = refusal(
        "model Open
           Boolean b = time < 1;
           Real w(start = 0, fixed = true), s;
         equation
           der(w) + s = 1;
           (if b then 2*der(w) + 2*s else s) = 2;
         end Open;",
    );
    assert!(said.contains("error[initial-singular]"), "{said}");
    assert!(said.contains("der(w)"), "{said}");
}

/// A large block that is singular: no outlet, so that nothing determines the levels. The message is short.
#[test]
fn a_large_singular_block_is_told_in_a_few_lines() {
    let text = "model Closed
           parameter Integer N = 600;
           Real h[N](each start = 1), q[N + 1];
         equation
           q[1] = 0;
           q[N + 1] = 0;
           for i in 1:N - 1 loop q[i + 1] = (h[i] - h[i + 1])^3 + h[i] - h[i + 1]; end for;
           for i in 1:N loop der(h[i]) = q[i] - q[i + 1]; end for;
         initial equation
           for i in 1:N - 1 loop der(h[i]) = 0; end for;
           der(h[N]) = 0.5;
         end Closed;";
    let said = refusal(text);
    for part in ["for i = 600", "h[1] by 1, h[2] by 1", "and 592 more"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(said.lines().count() < 15, "{said}");
}

/// An assertion of level warning inside of a function is shown once.
#[test]
fn functions_warn_once() {
    let r = run(
        "model Warn
           function f
             input Real u;
             output Real y;
           algorithm
             assert(u < 0.5, \"u is large\", AssertionLevel.warning);
             y := u;
             while y > 0.1 loop
               y := y - 0.1;
             end while;
           end f;
           Real x(start = 0, fixed = true), y;
         equation
           der(x) = 1;
           y = f(x);
         end Warn;",
        1.0,
    );
    let warnings = &r.summary.warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("u is large"), "{warnings:?}");
}

/// A value that is not finite is shown where it arises, not only where it arrives.
#[test]
fn what_is_not_finite_is_shown_where_it_arises() {
    let said = refusal(
        "model Cause
           Real x(start = -1), y;
         equation
           der(x) = -y;
           y = log(x);
         end Cause;",
    );
    for part in [
        "error[initial-not-finite]",
        "der(x) = -y",
        "`y` is NaN here",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

/// Where only the derivative is infinite, that is said.
#[test]
fn an_infinite_derivative_is_no_infinite_value() {
    let said =
        refusal("model Slope Real x(start = 0); equation sqrt(abs(x)) = -1 - time; end Slope;");
    for part in ["no finite derivative at the start", "x = 0 (the guess)"] {
        assert!(said.contains(part), "{said}");
    }
}

/// A slope that no steady state can change is listed with its value.
#[test]
fn what_cannot_be_steady_is_listed() {
    let text = "model Counter Real x(start = 1, fixed = true), y(start = 0); equation der(x) = 2; der(y) = 3 - y; end Counter;";
    let model = Model::from_text("Test.mo", text, &Load::default());
    let model = model.unwrap_or_else(|f| panic!("{f}"));
    let settings = Settings {
        steady_state: true,
        ..model.settings()
    };
    let r = (model.simulate_in_memory(&settings)).unwrap_or_else(|f| panic!("{f}"));
    near(&r, "x", 0.0, 1.0, 1e-12);
    near(&r, "y", 0.0, 3.0, 1e-9);
    let notes: Vec<&String> = r.summary.notes.iter().map(|n| &n.text).collect();
    let told = |n: &&&String| n.contains("do not allow a steady state of these: der(x) = 2");
    assert_eq!(notes.iter().filter(told).count(), 1, "{notes:?}");
}

/// A homotopy that leads nowhere says how far it led: x^2 + 1 has no zero.
#[test]
fn a_homotopy_that_ends_says_where() {
    let with = |simplified: &str| {
        format!(
            "model End Real x; equation homotopy(actual = x^2 + 1 + time, simplified = {simplified}) = 0; end End;"
        )
    };
    // s*(x^2 + 1) + (1 - s)*(x - 1) = 0 has real roots while 1 + 2*s - 7*s^2 >= 0: up to s = 0.5469.
    let said = refusal(&with("x - 1"));
    assert!(said.contains("was followed over 54 % of the way"), "{said}");
    let said = refusal(&with("exp(x) + 1"));
    assert!(
        said.contains("the simplified equations were not solved either"),
        "{said}"
    );
}
