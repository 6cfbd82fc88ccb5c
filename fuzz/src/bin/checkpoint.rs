//! Checkpoints whose checksum is right, read and continued from.
//!
//! The first byte says what follows. `0`: a whole file, but for its checksum. `1`: its lines after the fingerprint, which is that of the
//! model, so that any values get to the simulation. The input ends before the checksum, which is made here.

#[path = "../../../crates/acausal/tests/all/common/whole.rs"]
#[allow(dead_code)]
mod whole;

use std::hash::Hasher;
use std::time::Duration;

use acausal::{Checkpoint, Load, Model, Observe, ResultSink, Settings};
use acausal_base::Fnv;

/// Everything that a checkpoint has a section for: states, an algebraic loop, discrete variables, a clock, a delay, transport, a relation that changes,
/// a parameter that is computed at the start.
const MODEL: &str = "model Busy
  Real x(start = 1, fixed = true), v(start = 0, fixed = true), z(start = 0.5), d, left, right;
  Integer n(start = 0, fixed = true);
  discrete Real held(start = 0, fixed = true);
  parameter Real k = 9;
  parameter Real free(fixed = false);
initial equation
  free = 2*x;
equation
  der(x) = v;
  der(v) = -k*x - 0.2*v + (if x > 0.3 then 1 else 0) + 0.1*d;
  z + 0.3*sin(z) = x;
  d = delay(z, 0.15);
  (left, right) = spatialDistribution(sin(20*time), z, free*x, v >= 0, {0, 0.5, 1}, {1, 2, 0});
  when sample(0.05, 0.3) then n = pre(n) + 1; held = x; end when;
  when x < -0.5 then reinit(v, v + 0.1); end when;
end Busy;";

fn main() {
    let load = Load {
        limits: acausal_fuzz::limits(),
        ..Load::default()
    };
    let model = Model::from_text("Busy.mo", MODEL, &load).unwrap_or_else(|f| panic!("{f}"));
    let settings = Settings {
        stop: 0.4,
        interval: 0.1,
        ..whole::settings()
    };
    let start = model.simulate_in_memory(&settings);
    let checkpoint = start.ok().and_then(|run| run.summary.checkpoint);
    let text = checkpoint.map(|c| c.to_text()).unwrap_or_default();
    let head: String = text.split_inclusive('\n').take(3).collect();
    if let Some(seed) = std::env::args().nth(1) {
        // A first input, to be mutated.
        let end = text.rfind("checksum").unwrap_or(0);
        return print!("{seed}{}", if seed == "0" { &text[..end] } else { &text[head.len()..end] });
    }
    let later = Settings {
        stop: 0.7,
        ..settings
    };
    acausal_fuzz::run(Duration::from_secs(5), move |data| {
        let text = String::from_utf8_lossy(data);
        let mut text = match text.strip_prefix('1') {
            Some(lines) => format!("{head}{lines}"),
            None => text.strip_prefix('0').unwrap_or(&text).to_string(),
        };
        let mut sum = Fnv::default();
        sum.write(text.as_bytes());
        text.push_str(&format!("checksum {:016x}\n", sum.finish()));
        let Ok(checkpoint) = Checkpoint::from_text(&text) else {
            return;
        };
        let mut sink = ResultSink::new(None, Observe::nothing(), Observe::everything());
        match acausal_runtime::resume(model.compiled.clone(), &checkpoint, &later, &mut sink) {
            Err(error) => drop(model.failed(&error).to_string()),
            Ok(_) => {
                if let Err(reason) = whole::finite(sink) {
                    panic!("{reason}");
                }
            }
        }
    });
}
