//! Drive trains: inertias with springs, dampers, gears and rigid couplings between them, torques and prescribed motions. Rigid
//! parts are constraints between states (index three). The answer: rigid parts have one coordinate each, what is left is
//! `M q'' + D q' + K q = f(t)`, and the matrix exponential of it together with its sources (sines are states too) is exact.

mod answer;

use std::fmt::Write;

use acausal::{InMemory, Settings};

use super::case::{Disagreement, RandomCase};
use super::draw::{Draw, number};
use super::shrink::simpler;

const STOP: f64 = 1.0;
const INTERVAL: f64 = 0.02;

/// See the module.
#[derive(Clone, Debug)]
struct Train {
    /// Moments of inertia.
    inertias: Vec<f64>,
    /// Inertia `k + 1` hangs on an earlier one.
    parents: Vec<(usize, Joint)>,
    /// Further springs and dampers; to the housing if there is no second inertia.
    links: Vec<(usize, Option<usize>, Joint)>,
    /// Torques: inertia, amplitude, frequency.
    torques: Vec<(usize, f64, f64)>,
    /// A prescribed angle: inertia, amplitude, frequency.
    motion: Option<(usize, f64, f64)>,
    /// Angle and speed at the start, by inertia; the first of each rigid part counts.
    starts: Vec<(f64, f64)>,
    /// All starts are given instead of one per rigid part.
    redundant: bool,
    order: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Joint {
    Rigid,
    Gear(f64),
    /// Two gears without anything between them.
    Gears(f64, f64),
    /// Stiffness and damping in parallel.
    Spring(f64, f64),
}

impl Joint {
    /// The ratio of a rigid joint: angle here over angle there.
    fn ratio(self) -> Option<f64> {
        match self {
            Joint::Rigid => Some(1.0),
            Joint::Gear(r) => Some(r),
            Joint::Gears(r, s) => Some(r * s),
            Joint::Spring(..) => None,
        }
    }
}

/// Number `k` of a sequence.
pub fn case(draw: &mut Draw) -> Box<dyn RandomCase> {
    let n = draw.size(1, 12);
    let spring = |draw: &mut Draw| match draw.below(3) {
        0 => Joint::Spring(draw.real(1.0, 50.0), 0.0),
        1 => Joint::Spring(0.0, draw.real(0.05, 2.0)),
        _ => Joint::Spring(draw.real(1.0, 50.0), draw.real(0.05, 2.0)),
    };
    let parents = (1..n)
        .map(|k| {
            let joint = match draw.below(6) {
                0 => Joint::Rigid,
                1 | 2 => Joint::Gear(draw.signed(0.4, 2.5)),
                3 => Joint::Gears(draw.signed(0.5, 2.0), draw.signed(0.5, 2.0)),
                _ => spring(draw),
            };
            (draw.below(k), joint)
        })
        .collect();
    let links = (0..draw.below(4))
        .map(|_| {
            let (a, b) = (draw.below(n), draw.below(n));
            let b = (a != b && draw.chance(50)).then_some(b);
            (a, b, spring(draw))
        })
        .collect();
    let torques = (0..draw.range(1, 2))
        .map(|_| (draw.below(n), draw.signed(0.5, 10.0), draw.real(0.5, 10.0)))
        .collect();
    Box::new(Train {
        inertias: (0..n).map(|_| draw.real(0.1, 2.0)).collect(),
        parents,
        links,
        torques,
        motion: draw
            .chance(25)
            .then(|| (draw.below(n), draw.signed(0.2, 1.0), draw.real(0.5, 5.0))),
        starts: (0..n)
            .map(|_| (draw.signed(0.0, 1.0), draw.signed(0.0, 2.0)))
            .collect(),
        redundant: draw.chance(25),
        order: if draw.chance(70) { draw.bits() | 1 } else { 0 },
    })
}

impl RandomCase for Train {
    fn settings(&self) -> Settings {
        Settings {
            stop: STOP,
            interval: INTERVAL,
            ..Settings::default()
        }
    }

    fn text(&self) -> String {
        let parts = self.parts();
        let mut components: Vec<String> = Vec::new();
        let mut connections: Vec<String> = Vec::new();
        for (k, j) in self.inertias.iter().enumerate() {
            let (first, ratio) = parts.of[k];
            let driven = self.motion.is_some_and(|m| parts.of[m.0].0 == first);
            let given = !driven && (self.redundant || first == k);
            let start = match given {
                false => String::new(),
                true => {
                    let (phi, w) = self.starts[first];
                    let (phi, w) = (phi * ratio, w * ratio);
                    format!(", phi(start = {phi:?}, fixed = true), w(start = {w:?}, fixed = true)")
                }
            };
            components.push(format!("Inertia j{k}(J = {j:?}{start})"));
        }
        let mut join = |a: String, b: Option<String>, joint: Joint, name: String| match joint {
            Joint::Rigid => connections.extend(b.map(|b| format!("connect({a}, {b})"))),
            Joint::Gear(r) => {
                components.push(format!("Gear {name}(ratio = {r:?})"));
                connections.push(format!("connect({a}, {name}.a)"));
                connections.extend(b.map(|b| format!("connect({name}.b, {b})")));
            }
            Joint::Gears(r, s) => {
                components.push(format!("Gear {name}(ratio = {r:?})"));
                components.push(format!("Gear {name}second(ratio = {s:?})"));
                connections.push(format!("connect({a}, {name}.a)"));
                connections.push(format!("connect({name}.b, {name}second.a)"));
                connections.extend(b.map(|b| format!("connect({name}second.b, {b})")));
            }
            Joint::Spring(c, d) => {
                let b = b.unwrap_or_else(|| {
                    components.push(format!("Fixed {name}housing"));
                    format!("{name}housing.a")
                });
                for (class, value) in [("Spring", c), ("Damper", d)] {
                    if value != 0.0 {
                        let own = format!("{name}{}", class.to_lowercase());
                        components.push(format!("{class} {own}(c = {value:?})"));
                        connections.push(format!("connect({a}, {own}.a)"));
                        connections.push(format!("connect({own}.b, {b})"));
                    }
                }
            }
        };
        for (k, (parent, joint)) in self.parents.iter().enumerate() {
            join(
                format!("j{parent}.b"),
                Some(format!("j{}.a", k + 1)),
                *joint,
                format!("g{k}"),
            );
        }
        for (k, (from, to, joint)) in self.links.iter().enumerate() {
            let to = to.map(|t| format!("j{t}.a"));
            join(format!("j{from}.b"), to, *joint, format!("k{k}"));
        }
        for (k, (at, a, w)) in self.torques.iter().enumerate() {
            components.push(format!("Torque t{k}(u = {}*sin({w:?}*time))", number(*a)));
            connections.push(format!("connect(t{k}.a, j{at}.a)"));
        }
        if let Some((at, a, w)) = self.motion {
            components.push(format!("Motion motion(u = {}*sin({w:?}*time))", number(a)));
            connections.push(format!("connect(motion.a, j{at}.b)"));
        }
        if self.order != 0 {
            let mut draw = Draw::new(self.order, 0);
            draw.shuffle(&mut components);
            draw.shuffle(&mut connections);
        }
        let mut out = String::new();
        for line in CLASSES.lines() {
            let name = line.split_whitespace().nth(1).unwrap_or_default();
            let used = |c: &String| c.split_whitespace().next() == Some(name);
            if name == "Flange" || components.iter().any(used) {
                let _ = writeln!(out, "{line}");
            }
        }
        let _ = writeln!(out, "model M");
        for c in &components {
            let _ = writeln!(out, "  {c};");
        }
        let _ = writeln!(out, "equation");
        for c in &connections {
            let _ = writeln!(out, "  {c};");
        }
        let _ = writeln!(out, "end M;");
        out
    }

    fn judge(&self, run: &InMemory, tolerance: f64) -> Result<f64, Disagreement> {
        answer::judge(self, run, tolerance)
    }

    fn smaller(&self) -> Vec<Box<dyn RandomCase>> {
        let mut all: Vec<Train> = Vec::new();
        let mut change = |f: &dyn Fn(&mut Train)| {
            let mut other = self.clone();
            f(&mut other);
            all.push(other);
        };
        for gone in (0..self.inertias.len()).rev() {
            // Only those that nothing hangs on.
            if gone > 0 && self.parents.iter().all(|p| p.0 != gone) {
                change(&|c| c.remove(gone));
            }
        }
        for k in 0..self.links.len() {
            change(&|c| {
                c.links.remove(k);
            });
        }
        for k in 0..self.torques.len() {
            change(&|c| {
                c.torques.remove(k);
            });
        }
        if self.motion.is_some() {
            change(&|c| c.motion = None);
        }
        if self.redundant {
            change(&|c| c.redundant = false);
        }
        if self.order != 0 {
            change(&|c| c.order = 0);
        }
        for k in 0..self.parents.len() {
            let simple = match self.parents[k].1 {
                Joint::Rigid => vec![],
                Joint::Gear(r) => {
                    let mut all = vec![Joint::Rigid];
                    all.extend(simpler(r).into_iter().map(Joint::Gear));
                    all
                }
                Joint::Gears(r, _) => vec![Joint::Rigid, Joint::Gear(r)],
                Joint::Spring(c, d) if c != 0.0 && d != 0.0 => {
                    vec![Joint::Spring(c, 0.0), Joint::Spring(0.0, d)]
                }
                Joint::Spring(c, d) if c != 1.0 && d != 1.0 => {
                    vec![Joint::Spring(c.min(1.0).round(), d.min(1.0).round())]
                }
                Joint::Spring(..) => vec![],
            };
            for joint in simple {
                if joint != self.parents[k].1 {
                    change(&|c| c.parents[k].1 = joint);
                }
            }
        }
        for k in 0..self.inertias.len() {
            for x in simpler(self.inertias[k]) {
                change(&|c| c.inertias[k] = x);
            }
        }
        all.into_iter()
            .map(|c| Box::new(c) as Box<dyn RandomCase>)
            .collect()
    }
}

const CLASSES: &str = "\
connector Flange Real phi; flow Real tau; end Flange;
model Inertia Flange a, b; parameter Real J; Real phi, w, acceleration; equation a.phi = phi; b.phi = phi; w = der(phi); \
acceleration = der(w); J*acceleration = a.tau + b.tau; end Inertia;
model Gear Flange a, b; parameter Real ratio; equation a.phi = ratio*b.phi; 0 = ratio*a.tau + b.tau; end Gear;
model Spring Flange a, b; parameter Real c; equation b.tau = c*(b.phi - a.phi); a.tau = -b.tau; end Spring;
model Damper Flange a, b; parameter Real c; Real slip; equation slip = b.phi - a.phi; b.tau = c*der(slip); a.tau = -b.tau; end Damper;
model Fixed Flange a; equation a.phi = 0; end Fixed;
model Torque Flange a; input Real u; equation a.tau = -u; end Torque;
model Motion Flange a; input Real u; equation a.phi = u; end Motion;
";

/// For each inertia the first one of its rigid part, and its angle over that one's.
struct Parts {
    of: Vec<(usize, f64)>,
}

impl Train {
    fn parts(&self) -> Parts {
        let mut of = vec![(0, 1.0)];
        for (k, (parent, joint)) in self.parents.iter().enumerate() {
            of.push(match joint.ratio() {
                Some(r) => (of[*parent].0, of[*parent].1 / r),
                None => (k + 1, 1.0),
            });
        }
        Parts { of }
    }

    fn remove(&mut self, gone: usize) {
        let place = |k: usize| if k > gone { k - 1 } else { k };
        self.inertias.remove(gone);
        self.starts.remove(gone);
        self.parents.remove(gone - 1);
        for p in &mut self.parents {
            p.0 = place(p.0);
        }
        self.links.retain(|l| l.0 != gone && l.1 != Some(gone));
        for l in &mut self.links {
            (l.0, l.1) = (place(l.0), l.1.map(place));
        }
        self.torques.retain(|t| t.0 != gone);
        for t in &mut self.torques {
            t.0 = place(t.0);
        }
        self.motion = self
            .motion
            .filter(|m| m.0 != gone)
            .map(|m| (place(m.0), m.1, m.2));
    }
}
