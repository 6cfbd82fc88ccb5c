//! What examples of the Modelica Standard Library rely on at the start and at events, each as the smallest model that shows it.
#![allow(clippy::unwrap_used)]

use crate::common::{at, last, near, run_text, values};
use acausal::{Load, Model, Settings};

fn until(stop: f64) -> Settings {
    Settings {
        stop,
        interval: stop / 100.0,
        ..Settings::default()
    }
}

/// `seed` is known before the start, so are the parameter, the start value and the clock that depend on it
/// (Modelica.Blocks.Noise: the global seed).
#[test]
fn an_initial_equation_gives_an_integer_parameter_its_value_first() {
    let text = "model M parameter Integer fixedSeed = 7; parameter Integer seed(fixed = false);
        parameter Integer used = if fixedSeed > 0 then seed + 1 else 0; parameter Real T = 0.1*seed;
        Real x(start = used, fixed = true); Integer n(start = 0, fixed = true); Integer s(start = 0);
        initial equation seed = fixedSeed; pre(s) = used; equation der(x) = 0;
        when sample(T, 1) then n = pre(n) + 1; s = pre(s) + used; end when; end M;";
    let r = run_text(text, &until(1.0));
    assert_eq!(last(&r, "x"), 8.0);
    assert_eq!([at(&r, "n", 0.65), at(&r, "n", 0.75)], [0.0, 1.0]);
    assert_eq!([at(&r, "s", 0.65), at(&r, "s", 0.75)], [8.0, 16.0]);
}

/// The same where the value follows from a variable at the start: parameters that depend on it follow as well.
#[test]
fn parameters_depend_on_what_the_start_determines() {
    let text = "model M parameter Integer k(fixed = false); parameter Integer twice = 2*k;
        Real x(start = 3.5, fixed = true); Real y = twice + x; initial equation k = integer(x);
        equation der(x) = 1; end M;";
    let r = run_text(text, &until(1.0));
    near(values(&r, "y")[0], 9.5, 1e-12);
    near(last(&r, "y"), 10.5, 1e-9);
}

/// What changes right after the start comes out of a delay as a jump (Modelica.Electrical.Digital: TransportDelay).
#[test]
fn a_change_right_after_the_start_is_a_jump_of_the_history() {
    let text = "model M Real u = if time > 0 then 3 else 1; Real y = delay(u, 0.5);
        Integer n = integer(delay(u, 0.5)); end M;";
    let r = run_text(text, &until(1.0));
    assert!(values(&r, "y").iter().all(|y| *y == 1.0 || *y == 3.0));
    assert!(values(&r, "n").iter().all(|n| *n == 1.0 || *n == 3.0));
    assert_eq!([at(&r, "y", 0.495), at(&r, "y", 0.505)], [1.0, 3.0]);
}

/// An amplifier with positive feedback starts at either limit or between them; `simplified` says which one is meant, whether the
/// limits are events or not (OpAmps.SignalGenerator, OpAmps.Multivibrator).
#[test]
fn homotopy_chooses_among_the_solutions_of_the_start() {
    for simplified in [-1.0, 1.0] {
        for limits in [
            "if v > 1 then 1 else if v < -1 then -1 else v",
            "smooth(0, noEvent(if v > 1 then 1 else if v < -1 then -1 else v))",
        ] {
            let text = format!(
                "model M Real y, v; Real x(start = 0, fixed = true); equation v = 100*(y - x);
                 y = homotopy(actual = {limits}, simplified = {simplified}); der(x) = y; end M;"
            );
            let r = run_text(&text, &until(0.5));
            assert_eq!(values(&r, "y")[0], simplified, "{limits}");
            near(last(&r, "x"), 0.5 * simplified, 1e-9);
        }
    }
}

/// A clock that ticks each time an angle has moved on by 0.5 since its last tick (Clocked: RotationalClock). The angle is 2 t.
#[test]
fn the_condition_of_a_clock_may_depend_on_what_it_samples() {
    let text = "model M Real angle = 2*time; Real s, last; Integer n(start = 0); Boolean moved;
        Clock c = Clock(moved); equation s = sample(angle, c); last = hold(s); n = previous(n) + sample(1, c);
        moved = angle - last > 0.5; end M;";
    let r = run_text(text, &until(1.1));
    for (t, ticks) in [(0.2, 0.0), (0.3, 1.0), (0.6, 2.0), (0.8, 3.0), (1.05, 4.0)] {
        assert_eq!(at(&r, "n", t), ticks, "at {t}");
        near(at(&r, "last", t), 0.5 * ticks, 1e-9);
    }
}

/// What is sampled or previous is remembered until the next tick, also without a variable of its own. The clock ticks at 0, 0.1, ..,
/// `n` counts 1, 2, .., and the shifted clock ticks half an interval later.
#[test]
fn operators_of_clocks_may_be_nested() {
    let text = "model M Real y, z; Integer n(start = 0); Clock c = Clock(1, 10); equation
        y = hold(sample(time, c)); n = previous(n) + integer(sample(1.5, c));
        z = hold(shiftSample(previous(n), 1, 2)); end M;";
    let r = run_text(text, &until(1.0));
    for (t, y, n, z) in [
        (0.33, 0.3, 4.0, 2.0),
        (0.37, 0.3, 4.0, 3.0),
        (0.42, 0.4, 5.0, 3.0),
    ] {
        near(at(&r, "y", t), y, 1e-9);
        assert_eq!([at(&r, "n", t), at(&r, "z", t)], [n, z], "at {t}");
    }
}

/// In a run of ten picoseconds a tenth of one is not "now" (Spice3: the rise times of pulses).
#[test]
fn instants_of_a_short_run_are_told_apart() {
    let text = "model M Real x(start = 0, fixed = true); equation
        der(x) = if time < 1e-13 then 1e13 else 0; end M;";
    near(last(&run_text(text, &until(1e-11)), "x"), 1.0, 1e-9);
    let text =
        "model M Real u = if time > 2e-15 then 1 else 0; Real x(start = 0, fixed = true); equation
        der(x) = 1e14*delay(u, 3e-15); end M;";
    near(last(&run_text(text, &until(1e-14)), "x"), 0.5, 1e-9);
}

/// The name begins with that of the simulated class without its packages (MLS 3.6 §3.7.4); lengths tell names apart.
#[test]
fn the_name_of_an_instance_begins_with_the_simulated_model() {
    let text = "package Lib
        function length input String s; output Integer n; external \"C\" n = ModelicaStrings_length(s); end length;
        model Engine Integer n = length(getInstanceName()); end Engine;
        model Vehicle Engine engine; Integer n = length(getInstanceName()); end Vehicle;
        end Lib;";
    let load = Load {
        class: Some("Lib.Vehicle".into()),
        ..Load::default()
    };
    let model = Model::from_text("Lib.mo", text, &load).unwrap();
    let r = model.simulate_in_memory(&until(1.0)).unwrap();
    assert_eq!(last(&r, "n"), "Vehicle".len() as f64);
    assert_eq!(last(&r, "engine.n"), "Vehicle.engine".len() as f64);
}

/// The branch of a cubic ends at u = 2/(3*sqrt(3)), and nothing moves at the start that would tell how fast the model is: the other branch is looked for at a distance of some
/// steps, not of seconds (Modelica.Electrical.Spice3 runs for 1e-11 s; before, the step became too small there).
#[test]
fn another_solution_is_looked_for_near_the_end_of_the_first() {
    let text =
        "model Fold Real u = 2e11*time - 1; Real y(start = -1.3); equation y^3 - y = u; end Fold;";
    let r = run_text(text, &until(1e-11));
    // The real root of y^3 - y = 1.
    near(last(&r, "y"), 1.324717957244746, 1e-8);
}
