//! Linear circuits: resistors, inductors, capacitors, sources, ideal transformers, gyrators and operational amplifiers, as
//! components with connectors. The answer is that of the sparse tableau `E x' + A x = b(t)` (all node potentials and branch
//! currents) by Radau IIA of order 5 with 1000 steps per second; its error is below 10^-6 of the scale, a
//! hundredth of the bound at the default tolerance (see the tests).
//!
//! Whether a circuit is regular is decided by its pencil `s E + A`: a *regular* one must come out right, a *singular* one
//! (loops of voltage sources, cut sets of current sources) must be refused. Circuits whose capacitor voltages and inductor
//! currents are independent start anywhere; where they depend on each other (index two and more) the circuit starts at rest,
//! with sources that begin smoothly, so that the start is consistent whichever states are chosen.
//!
//! *Ungrounded* circuits lack a ground in at least one of their parts; voltages and currents must come out right, potentials
//! are free.
//!
//! *Scaled* circuits are the same in other `Units`: kiloohms and nanoseconds, or milliohms and hours. Voltages are what they were, currents and times are those of the unscaled circuit, times a
//! factor; the currents' nominal value says which. A simulator has to give the same digits.

mod answer;
mod make;
mod text;

use acausal::{InMemory, Settings};

use super::case::{Disagreement, RandomCase};
use super::draw::Draw;
use super::shrink::{shorter, simpler};

/// Number `k` of a sequence.
pub fn case(draw: &mut Draw, grounded: bool) -> Box<dyn RandomCase> {
    Box::new(make::make(draw, grounded))
}

/// The same in other units.
pub fn scaled(draw: &mut Draw) -> Box<dyn RandomCase> {
    let mut circuit = make::make(draw, true);
    let power = |draw: &mut Draw, most: f64| 10f64.powf(draw.real(-most, most).round());
    circuit.units = Units {
        ohm: power(draw, 6.0),
        second: power(draw, 9.0),
    };
    Box::new(circuit)
}

/// What an ohm and a second of the circuit are in its text: with 1e6 and 1e-6 it is one of megaohms, picofarads, henries and microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Units {
    ohm: f64,
    second: f64,
}

impl Units {
    const PLAIN: Units = Units {
        ohm: 1.0,
        second: 1.0,
    };

    /// A part with its values in these units.
    fn of(self, part: Part) -> Part {
        let Units { ohm, second } = self;
        let wave = |w: Wave, size: f64| match w {
            Wave::Constant(a) => Wave::Constant(a * size),
            Wave::Sine(a, w) => Wave::Sine(a * size, w / second),
            Wave::Smooth(a, w) => Wave::Smooth(a * size, w / second),
        };
        match part {
            Part::Resistor(r) => Part::Resistor(r * ohm),
            Part::Inductor(l, i) => Part::Inductor(l * ohm * second, i / ohm),
            Part::Capacitor(c, v) => Part::Capacitor(c * second / ohm, v),
            Part::Voltage(w) => Part::Voltage(wave(w, 1.0)),
            Part::Current(w) => Part::Current(wave(w, 1.0 / ohm)),
            Part::Gyrator(g) => Part::Gyrator(g / ohm),
            Part::Transformer(_) | Part::OpAmp => part,
        }
    }
}

const STOP: f64 = 1.0;
const INTERVAL: f64 = 0.02;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Circuit {
    elements: Vec<Element>,
    /// Nodes that are grounded.
    grounds: Vec<usize>,
    /// The start is given for all capacitors and inductors.
    free_start: bool,
    /// Singular: must be refused.
    singular: bool,
    /// Ports are written `p.v - n.v` instead of with a voltage of their own.
    terse: bool,
    /// Order of components and connections.
    order: u64,
    units: Units,
}

#[derive(Clone, Debug, PartialEq)]
struct Element {
    part: Part,
    /// Two or four nodes.
    nodes: Vec<usize>,
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Resistor(f64),
    /// Inductance and current at the start.
    Inductor(f64, f64),
    /// Capacitance and voltage at the start.
    Capacitor(f64, f64),
    Voltage(Wave),
    Current(Wave),
    /// Ratio: `v1 = n*v2`, `i2 = -n*i1`.
    Transformer(f64),
    /// Conductance: `i1 = g*v2`, `i2 = -g*v1`.
    Gyrator(f64),
    /// `v1 = 0`, `i1 = 0`.
    OpAmp,
}

/// A function of time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wave {
    Constant(f64),
    /// `a*sin(w*time)`.
    Sine(f64, f64),
    /// `a*sin(w*time)^3`: the first two derivatives are zero at the start.
    Smooth(f64, f64),
}

impl RandomCase for Circuit {
    fn text(&self) -> String {
        text::text(self)
    }

    fn settings(&self) -> Settings {
        Settings {
            stop: STOP * self.units.second,
            interval: INTERVAL * self.units.second,
            ..Settings::default()
        }
    }

    fn singular(&self) -> bool {
        self.singular
    }

    fn judge(&self, run: &InMemory, tolerance: f64) -> Result<f64, Disagreement> {
        answer::judge(self, run, tolerance)
    }

    fn smaller(&self) -> Vec<Box<dyn RandomCase>> {
        let mut all = Vec::new();
        let mut add = |c: Circuit| {
            if make::class(&c) == make::class(self) {
                all.push(Box::new(c) as Box<dyn RandomCase>);
            }
        };
        for elements in shorter(&self.elements) {
            let present = |n: &usize| elements.iter().any(|e| e.nodes.contains(n));
            let grounds: Vec<usize> = self.grounds.iter().copied().filter(present).collect();
            if !elements.is_empty() {
                add(Circuit {
                    elements,
                    grounds,
                    ..self.clone()
                });
            }
        }
        for units in [
            Units::PLAIN,
            Units {
                ohm: 1.0,
                ..self.units
            },
            Units {
                second: 1.0,
                ..self.units
            },
        ] {
            if units != self.units {
                add(Circuit {
                    units,
                    ..self.clone()
                });
            }
        }
        if self.terse {
            add(Circuit {
                terse: false,
                ..self.clone()
            });
        }
        if self.order != 0 {
            add(Circuit {
                order: 0,
                ..self.clone()
            });
        }
        for k in 0..self.elements.len() {
            for part in self.elements[k].part.simpler() {
                let mut other = self.clone();
                other.elements[k].part = part;
                add(other);
            }
        }
        all
    }
}

impl Part {
    fn ports(self) -> usize {
        match self {
            Part::Transformer(_) | Part::Gyrator(_) | Part::OpAmp => 2,
            _ => 1,
        }
    }

    /// The same with simpler numbers, and resistors in the place of others.
    fn simpler(self) -> Vec<Part> {
        let waves = |w: Wave| match w {
            Wave::Constant(a) => simpler(a).into_iter().map(Wave::Constant).collect(),
            Wave::Sine(a, w) => {
                let mut all: Vec<Wave> = simpler(a).into_iter().map(|a| Wave::Sine(a, w)).collect();
                all.extend(simpler(w).into_iter().map(|w| Wave::Sine(a, w)));
                all
            }
            Wave::Smooth(a, w) => {
                let mut all: Vec<Wave> =
                    simpler(a).into_iter().map(|a| Wave::Smooth(a, w)).collect();
                all.extend(simpler(w).into_iter().map(|w| Wave::Smooth(a, w)));
                all
            }
        };
        match self {
            Part::Resistor(r) => simpler(r).into_iter().map(Part::Resistor).collect(),
            Part::Inductor(l, i) => {
                let mut all = vec![Part::Resistor(1.0)];
                all.extend(simpler(l).into_iter().map(|l| Part::Inductor(l, i)));
                all.extend((i != 0.0).then_some(Part::Inductor(l, 0.0)));
                all
            }
            Part::Capacitor(c, v) => {
                let mut all = vec![Part::Resistor(1.0)];
                all.extend(simpler(c).into_iter().map(|c| Part::Capacitor(c, v)));
                all.extend((v != 0.0).then_some(Part::Capacitor(c, 0.0)));
                all
            }
            Part::Voltage(w) => waves(w).into_iter().map(Part::Voltage).collect(),
            Part::Current(w) => waves(w).into_iter().map(Part::Current).collect(),
            Part::Transformer(n) => simpler(n).into_iter().map(Part::Transformer).collect(),
            Part::Gyrator(g) => simpler(g).into_iter().map(Part::Gyrator).collect(),
            Part::OpAmp => Vec::new(),
        }
    }
}

impl Wave {
    fn value(self, t: f64) -> f64 {
        match self {
            Wave::Constant(a) => a,
            Wave::Sine(a, w) => a * (w * t).sin(),
            Wave::Smooth(a, w) => a * (w * t).sin().powi(3),
        }
    }
}
