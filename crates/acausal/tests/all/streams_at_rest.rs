//! Stream connectors where nothing flows: what mixes there changes on the scale of the least weight, `max(m, 1e-8)`, far below what flows are predicted to.
#![allow(clippy::unwrap_used)]

use crate::common::{near, run_text, values};
use acausal::Settings;

const CLASSES: &str = "
connector Port Real p; flow Real m; stream Real h; end Port;
model Boundary Port a; input Real p; parameter Real h; equation a.p = p; a.h = h; end Boundary;
model Pipe Port a, b; parameter Real gain = 0; equation a.m + b.m = 0; a.m = a.p - b.p;
  a.h = inStream(b.h) + gain; b.h = inStream(a.h) + gain; end Pipe;
";

fn settings() -> Settings {
    Settings {
        stop: 1.0,
        interval: 0.02,
        ..Settings::default()
    }
}

/// Two pipes in parallel to a dead end, with different gains. The pressure there is predicted to the tolerance, so each predicted flow around the two is on the wrong side of the
/// kinks; without new matrices behind them every other step fails (5,891 steps, and 932 beside a state).
#[test]
fn pipes_to_a_dead_end_do_not_shorten_the_steps() {
    for state in ["", "Real x(start = 1, fixed = true);"] {
        let equation = if state.is_empty() { "" } else { "der(x) = -x;" };
        let text = format!(
            "{CLASSES}model M Boundary s(p = 2 + sin(7*time), h = 40), e(p = 0.5, h = 60); Pipe through, one(gain = 11), two(gain = -7);
               Port dead; Real h = inStream(e.a.h); {state}
             equation connect(s.a, through.a); connect(through.b, e.a); connect(s.a, one.a); connect(s.a, two.a);
               connect(one.b, two.b); connect(one.b, dead); {equation} end M;"
        );
        let r = run_text(&text, &settings());
        assert!(r.summary.steps < 300, "{} steps", r.summary.steps);
        let (flow, h) = (values(&r, "through.a.m"), values(&r, "h"));
        for (k, t) in r.result.time().iter().enumerate() {
            near(flow[k], 1.5 + (7.0 * t).sin(), 1e-6);
            near(h[k], 40.0, 1e-4);
        }
    }
}

/// A flow changes its direction where p = 2.5, sin(7*t) = 0.5. The flow is an unknown of a loop beside a dead end; inside of long steps it was not solved for, and the last
/// of these instants was off by 1e-4.
#[test]
fn a_flow_beside_a_dead_end_turns_at_its_instant() {
    let text = format!(
        "{CLASSES}model M Boundary s(p = 2 + sin(7*time), h = 40), e(p = 2.5, h = 60); Pipe through, next, beside(gain = -20), dead(gain = 5);
           Real x(start = 1, fixed = true); Real h = actualStream(through.a.h);
         equation connect(s.a, through.a); connect(through.b, next.a); connect(next.b, e.a); connect(s.a, beside.a);
           connect(beside.b, through.b); connect(through.b, dead.a); der(x) = -x; end M;"
    );
    let r = run_text(&text, &settings());
    let times = r.result.time();
    let mut events: Vec<f64> = (times.windows(2))
        .filter(|pair| pair[0] == pair[1])
        .map(|pair| pair[0])
        .collect();
    events.dedup();
    let turn = 0.5f64.asin();
    let exact = [
        turn,
        std::f64::consts::PI - turn,
        turn + std::f64::consts::TAU,
    ];
    assert_eq!(events.len(), 3, "{events:?}");
    for (found, exact) in events.iter().zip(exact) {
        near(*found, exact / 7.0, 1e-9);
    }
}
