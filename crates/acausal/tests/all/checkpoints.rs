//! Continuations whose values or parameters are others than those of the run that wrote them.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::hash::Hasher;

use acausal::{Checkpoint, Load, Model, Observe, ResultSink, Settings};
use acausal_base::Fnv;
use acausal_results::ResultSet;

/// Everything that has a past.
const BUSY: &str = "model Busy
  Real x(start = 1, fixed = true), d, left, right;
  Integer n(start = 0, fixed = true);
equation
  der(x) = -x;
  d = delay(x, 0.15);
  (left, right) = spatialDistribution(sin(20*time), 0, time, true, {0, 0.5, 1}, {1, 2, 0});
  when sample(0.05, 0.1) then n = pre(n) + 1; end when;
end Busy;";

fn model(text: &str, set: &[&str]) -> Model {
    let load = Load {
        set: set.iter().map(|s| s.to_string()).collect(),
        ..Load::default()
    };
    Model::from_text("M.mo", text, &load).unwrap_or_else(|f| panic!("{f}"))
}

fn settings(stop: f64) -> Settings {
    Settings {
        stop,
        interval: 0.1,
        checkpoint: true,
        ..Settings::default()
    }
}

fn written(model: &Model, stop: f64) -> String {
    let run = model.simulate_in_memory(&settings(stop));
    let run = run.unwrap_or_else(|f| panic!("{f}"));
    run.summary.checkpoint.unwrap().to_text()
}

fn resumed(model: &Model, checkpoint: &str, stop: f64) -> Result<ResultSet, String> {
    let checkpoint = Checkpoint::from_text(checkpoint)?;
    let mut sink = ResultSink::new(None, Observe::nothing(), Observe::everything());
    acausal_runtime::resume(
        model.compiled.clone(),
        &checkpoint,
        &settings(stop),
        &mut sink,
    )
    .map_err(|e| model.failed(&e).to_string())?;
    sink.into_parts().1
}

/// The checkpoint with other numbers in a section, and the checksum of that.
fn forged(checkpoint: &str, section: &str, change: impl Fn(&mut Vec<f64>)) -> String {
    let mut text = String::new();
    let mut found = false;
    for line in checkpoint.lines().filter(|l| !l.starts_with("checksum")) {
        let mut words = line.split(' ');
        if found || words.next() != Some(section) {
            text += &format!("{line}\n");
            continue;
        }
        let mut numbers: Vec<f64> = words.skip(1).map(|w| w.parse().unwrap()).collect();
        change(&mut numbers);
        text += &format!("{section} {}", numbers.len());
        for number in numbers {
            text += &format!(" {number:?}");
        }
        text += "\n";
        found = true;
    }
    assert!(found, "{section}");
    let mut sum = Fnv::default();
    sum.write(text.as_bytes());
    format!("{text}checksum {:016x}\n", sum.finish())
}

/// Instants 0, 0.1 .. 1 are 11; then 1.5, 2, 2.5 and 3 of the other interval.
#[test]
fn a_clock_with_another_interval_goes_on_at_its_next_instant() {
    let text = "model Ticks
      parameter Real T = 0.1;
      Real x(start = 0, fixed = true);
      Integer n(start = 0, fixed = true);
    equation
      der(x) = 1;
      when sample(0, T) then n = pre(n) + 1; end when;
    end Ticks;";
    for end in [1.0, 1.05] {
        let checkpoint = written(&model(text, &[]), end);
        for (interval, stop, expected) in [("0.1", 1.52, 16.0), ("0.5", 3.2, 15.0)] {
            let changed = model(text, &[&format!("T={interval}")]);
            let result = resumed(&changed, &checkpoint, stop).unwrap();
            let n = result.values("n").unwrap().to_vec();
            assert_eq!(n.first(), Some(&11.0), "from {end} with {interval}");
            assert_eq!(n.last(), Some(&expected), "from {end} with {interval}");
        }
    }
}

/// A checksum is no proof of who made it, and what interpolates in a history relies on its order.
#[test]
fn a_past_that_no_run_can_have_is_refused() {
    let busy = model(BUSY, &[]);
    let checkpoint = written(&busy, 0.4);
    assert!(resumed(&busy, &forged(&checkpoint, "y", |_| {}), 0.7).is_ok());
    type Change = fn(&mut Vec<f64>);
    let changes: [(&str, Change); 15] = [
        ("delay", |v| v.clear()),
        ("delay", |v| v[0] = -1.0),
        ("delay", |v| v[0] = f64::NAN),
        ("delay", |v| v[2] = 1e300),
        ("delay", |v| v[3] = -1.0),
        ("delay", |v| v[5] = 1e300),
        ("delay", |v| v[5] = 2.5),
        ("delay", |v| v[6] = 0.39),
        ("delay", |v| v[8] = f64::NAN),
        ("delay", |v| v[6] = f64::NEG_INFINITY),
        ("distribution", |v| v[0] = 1e300),
        ("distribution", |v| v[2] = 5.0),
        ("distribution", |v| v[1] = f64::INFINITY),
        ("samples", |v| v.clear()),
        ("origin", |v| v[0] = -1e300),
    ];
    for (k, (section, change)) in changes.into_iter().enumerate() {
        let message = resumed(&busy, &forged(&checkpoint, section, change), 0.7);
        let message = message.err().unwrap_or_default();
        assert!(
            message.contains("a past that no run can have"),
            "{k}, {section}: {message}"
        );
    }
}

/// Iterators without names, and those that are called like one, tell equations apart by their places.
#[test]
fn a_checkpoint_of_transposed_equations_is_refused() {
    let array = |right: &str| {
        let start = "Real x[2, 2](start = {{1, 2}, {3, 4}}, each fixed = true);";
        format!("model M {start} equation der(x) = {right}; end M;")
    };
    let loops = |right: &str| {
        let start = "Real x[2, 2](start = {{1, 2}, {3, 4}}, each fixed = true);";
        format!(
            "model M {start} equation for i1 in 1:2 loop for i2 in 1:2 loop der(x[i1, i2]) = {right}; end for; end for; end M;"
        )
    };
    let pairs = [
        [array("x"), array("transpose(x)")],
        [loops("x[i1, i2]"), loops("x[i2, i1]")],
        [loops("i1"), loops("i2")],
    ];
    for [one, other] in pairs {
        let (one, other) = (model(&one, &[]), model(&other, &[]));
        let checkpoint = written(&one, 0.5);
        assert!(resumed(&one, &checkpoint, 1.0).is_ok());
        assert!(resumed(&other, &checkpoint, 1.0).is_err());
    }
}
