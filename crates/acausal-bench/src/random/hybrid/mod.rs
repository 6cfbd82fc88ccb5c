//! Hybrid automata: several devices in one model, each with events whose instants are known exactly (roots of linear,
//! quadratic and exponential functions), and counters over them. A device is simulated here from event to event with its
//! closed solution.
//!
//! Between events values must agree with the solution; counters must agree to the unit, so a lost or doubled event is seen
//! in all rows after it. Rows closer than `NEAR` to an event are not looked at, since its instant is found to the tolerance
//! only.

mod devices;

use std::fmt::Write;

use acausal::{InMemory, Settings};

use super::case::{Disagreement, RandomCase, TRAJECTORY, compare_within};
use super::draw::Draw;
use super::shrink::shorter;
use devices::Device;

const STOP: f64 = 2.0;
/// Rows this close to an event are not compared.
const NEAR: f64 = 2e-4;

/// See the module.
#[derive(Clone, Debug)]
struct Automata {
    devices: Vec<Device>,
    /// Devices whose events are counted together.
    counted: Vec<usize>,
    /// A sum of the counters.
    total: bool,
    interval: f64,
    order: u64,
}

/// Number `k` of a sequence.
pub fn case(draw: &mut Draw) -> Box<dyn RandomCase> {
    let n = draw.size(1, 6);
    let devices: Vec<Device> = (0..n).map(|_| Device::make(draw)).collect();
    let counted = match draw.chance(50) {
        true => (0..n).filter(|_| draw.chance(60)).collect(),
        false => Vec::new(),
    };
    Box::new(Automata {
        devices,
        counted,
        total: draw.chance(50),
        interval: *draw.one(&[0.01, 0.02, 0.05, 0.1, 0.37]),
        order: if draw.chance(70) { draw.bits() | 1 } else { 0 },
    })
}

/// What a device does: its events, and its signals at any time.
struct Track {
    events: Vec<f64>,
    names: Vec<String>,
    values: Box<dyn Fn(f64) -> Vec<f64>>,
}

impl Automata {
    /// Counters of events, as far as events of different devices lie apart (else one event may do for both).
    fn tracks(&self) -> Vec<Track> {
        let each = self.devices.iter().enumerate();
        // An event right after the end may come right before it in the simulation.
        each.map(|(k, d)| d.track(k, STOP + NEAR)).collect()
    }

    fn apart(&self) -> bool {
        let tracks = self.tracks();
        let mut all: Vec<f64> = Vec::new();
        for &k in &self.counted {
            all.extend(&tracks[k].events);
        }
        all.sort_by(f64::total_cmp);
        all.windows(2).all(|w| w[1] - w[0] > 1e-4)
    }
}

/// Events up to a time.
fn passed(events: &[f64], t: f64) -> f64 {
    events.iter().filter(|e| **e <= t).count() as f64
}

impl RandomCase for Automata {
    fn settings(&self) -> Settings {
        Settings {
            stop: STOP,
            interval: self.interval,
            ..Settings::default()
        }
    }

    fn text(&self) -> String {
        let mut declarations = Vec::new();
        let mut equations = Vec::new();
        for (k, d) in self.devices.iter().enumerate() {
            d.declare(k, &mut declarations);
            d.equations(k, &mut equations);
        }
        if !self.counted.is_empty() && self.apart() {
            declarations.push("Integer together(start = 0, fixed = true);".to_string());
            let changes: Vec<String> = self
                .counted
                .iter()
                .map(|k| format!("change(n{k})"))
                .collect();
            equations.push(format!(
                "when {{{}}} then together = pre(together) + 1; end when;",
                changes.join(", ")
            ));
        }
        if self.total {
            let sum: Vec<String> = (0..self.devices.len()).map(|k| format!("n{k}")).collect();
            declarations.push("Integer total;".to_string());
            equations.push(format!("total = {};", sum.join(" + ")));
        }
        if self.order != 0 {
            let mut draw = Draw::new(self.order, 0);
            draw.shuffle(&mut declarations);
            draw.shuffle(&mut equations);
        }
        let mut out = "model M\n".to_string();
        for d in declarations {
            let _ = writeln!(out, "  {d}");
        }
        out.push_str("equation\n");
        for e in equations {
            let _ = writeln!(out, "  {e}");
        }
        out.push_str("end M;\n");
        out
    }

    fn judge(&self, run: &InMemory, tolerance: f64) -> Result<f64, Disagreement> {
        let tracks = self.tracks();
        let mut names: Vec<String> = tracks.iter().flat_map(|t| t.names.clone()).collect();
        names.extend((0..tracks.len()).map(|k| format!("n{k}")));
        let together = !self.counted.is_empty() && self.apart();
        if together {
            names.push("together".to_string());
        }
        if self.total {
            names.push("total".to_string());
        }
        compare_within(run, &names, TRAJECTORY * tolerance, |t| {
            let near = |events: &[f64]| events.iter().any(|e| (e - t).abs() < NEAR);
            let mut values = Vec::new();
            for track in &tracks {
                let mut own = (track.values)(t);
                if near(&track.events) {
                    own.fill(f64::NAN);
                }
                values.extend(own);
            }
            let count = |track: &Track| match near(&track.events) {
                true => f64::NAN,
                false => passed(&track.events, t),
            };
            let counts: Vec<f64> = tracks.iter().map(count).collect();
            values.extend(&counts);
            if together {
                values.push(self.counted.iter().map(|k| counts[*k]).sum());
            }
            if self.total {
                values.push(counts.iter().sum());
            }
            values
        })
    }

    fn smaller(&self) -> Vec<Box<dyn RandomCase>> {
        let mut all: Vec<Automata> = Vec::new();
        for devices in shorter(&self.devices) {
            if !devices.is_empty() {
                let counted = (0..devices.len())
                    .filter(|k| self.counted.contains(k))
                    .collect();
                all.push(Automata {
                    devices,
                    counted,
                    ..self.clone()
                });
            }
        }
        if !self.counted.is_empty() {
            all.push(Automata {
                counted: Vec::new(),
                ..self.clone()
            });
        }
        if self.total {
            all.push(Automata {
                total: false,
                ..self.clone()
            });
        }
        if self.order != 0 {
            all.push(Automata {
                order: 0,
                ..self.clone()
            });
        }
        for k in 0..self.devices.len() {
            for device in self.devices[k].simpler() {
                let mut other = self.clone();
                other.devices[k] = device;
                all.push(other);
            }
        }
        all.into_iter()
            .map(|c| Box::new(c) as Box<dyn RandomCase>)
            .collect()
    }
}
