//! Random circuits, and whether they are regular.

use super::answer::Tableau;
use super::{Circuit, Element, Part, Units, Wave};
use crate::random::draw::Draw;

/// What a circuit must do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Simulate; all states are independent.
    Free,
    /// Simulate; states depend on each other.
    Dependent,
    /// Be refused.
    Singular,
    /// Too close to say, or with an answer that is badly conditioned or grows without bound: not tried.
    Unclear,
}

/// Above this a matrix is singular, below `REGULAR` it is not.
const SINGULAR: f64 = 1e13;
const REGULAR: f64 = 1e7;
/// Answers are kept in scale: who amplifies more than this amplifies errors as well.
const LARGEST: f64 = 300.0;

/// Decides by the pencil.
pub(super) fn class(circuit: &Circuit) -> Class {
    let tableau = Tableau::new(circuit);
    let conditions = [0.61, 1.37, 2.9].map(|s| tableau.condition(s));
    if conditions.iter().all(|c| *c > SINGULAR) {
        return Class::Singular;
    }
    if conditions.iter().any(|c| *c > REGULAR) {
        return Class::Unclear;
    }
    let class = match tableau.static_condition() {
        c if c < REGULAR => Class::Free,
        c if c > SINGULAR => Class::Dependent,
        _ => return Class::Unclear,
    };
    // What depends on others starts at rest.
    if (class == Class::Free) != circuit.free_start && !circuit.singular {
        return Class::Unclear;
    }
    match tableau.largest(circuit) {
        Some(v) if v < LARGEST => class,
        _ => Class::Unclear,
    }
}

/// One circuit; drawn again until its class is clear.
pub(super) fn make(draw: &mut Draw, grounded: bool) -> Circuit {
    let spoil = grounded && draw.chance(10);
    loop {
        let mut circuit = once(draw, grounded);
        if spoil {
            spoiled(draw, &mut circuit);
        }
        match class(&circuit) {
            Class::Singular if spoil && circuit.all_grounded() => {
                circuit.singular = true;
                return circuit;
            }
            Class::Free | Class::Dependent if !spoil => return circuit,
            // The start was free but must not be: at rest it may be tried.
            Class::Unclear if !spoil && circuit.free_start => {
                circuit.at_rest();
                if class(&circuit) == Class::Dependent {
                    return circuit;
                }
            }
            _ => {}
        }
    }
}

impl Circuit {
    fn at_rest(&mut self) {
        self.free_start = false;
        for e in &mut self.elements {
            e.part = match e.part {
                Part::Inductor(l, _) => Part::Inductor(l, 0.0),
                Part::Capacitor(c, _) => Part::Capacitor(c, 0.0),
                Part::Voltage(w) => Part::Voltage(w.smooth()),
                Part::Current(w) => Part::Current(w.smooth()),
                other => other,
            };
        }
    }

    /// Every part that hangs together has a ground.
    fn all_grounded(&self) -> bool {
        let islands = super::answer::islands(self);
        let grounded = |island: &usize| self.grounds.iter().any(|g| islands.get(g) == Some(island));
        islands.values().all(grounded)
    }
}

impl Wave {
    fn smooth(self) -> Wave {
        match self {
            Wave::Constant(a) => Wave::Smooth(a, 3.0),
            Wave::Sine(a, w) | Wave::Smooth(a, w) => Wave::Smooth(a, w),
        }
    }
}

fn once(draw: &mut Draw, grounded: bool) -> Circuit {
    let nodes = draw.range(2, 7);
    let mut c = Builder {
        draw,
        elements: Vec::new(),
        nodes,
    };
    // A tree that reaches all nodes, then more branches.
    for k in 1..nodes {
        let to = c.draw.below(k);
        c.branch(to, k);
    }
    for _ in 0..c.draw.range(1, 6) {
        let (a, b) = (c.draw.below(nodes), c.draw.below(nodes));
        if a != b {
            c.branch(a, b);
        }
    }
    match c.draw.below(4) {
        0 => c.two_port(grounded),
        1 => c.stage(),
        _ => {}
    }
    let (nodes, elements) = (c.nodes, c.elements);
    let mut grounds = vec![draw.below(nodes)];
    if !grounded {
        grounds.clear();
    }
    let mut circuit = Circuit {
        units: Units::PLAIN,
        elements,
        grounds,
        free_start: true,
        singular: false,
        terse: draw.chance(40),
        order: draw.bits() | 1,
    };
    if grounded {
        // A ground in each part that hangs together.
        let islands = super::answer::islands(&circuit);
        let mut done: Vec<usize> = Vec::new();
        circuit.grounds.retain(|g| islands.contains_key(g));
        done.extend(circuit.grounds.iter().filter_map(|g| islands.get(g)));
        for (node, island) in &islands {
            if !done.contains(island) {
                done.push(*island);
                circuit.grounds.push(*node);
            }
        }
    }
    circuit
}

/// A second voltage source beside the first, or a current source that leads nowhere.
fn spoiled(draw: &mut Draw, circuit: &mut Circuit) {
    let k = draw.below(circuit.elements.len());
    let nodes = circuit.elements[k].nodes.clone();
    let fresh = circuit
        .elements
        .iter()
        .flat_map(|e| &e.nodes)
        .max()
        .map_or(0, |m| m + 1);
    let wave = Wave::Sine(draw.real(0.5, 5.0), 2.0);
    let new = |part, nodes: Vec<usize>, k: usize| Element {
        part,
        nodes,
        name: format!("x{k}"),
    };
    match draw.below(3) {
        0 => {
            circuit
                .elements
                .push(new(Part::Voltage(wave), nodes[..2].to_vec(), 1));
            circuit
                .elements
                .push(new(Part::Voltage(wave.smooth()), nodes[..2].to_vec(), 2));
        }
        1 => circuit
            .elements
            .push(new(Part::Current(wave), vec![nodes[0], fresh], 1)),
        _ => {
            circuit
                .elements
                .push(new(Part::Current(wave), vec![nodes[0], fresh], 1));
            circuit
                .elements
                .push(new(Part::Current(wave.smooth()), vec![fresh, nodes[1]], 2));
        }
    }
}

struct Builder<'d> {
    draw: &'d mut Draw,
    elements: Vec<Element>,
    nodes: usize,
}

impl Builder<'_> {
    fn add(&mut self, part: Part, nodes: Vec<usize>) {
        let stem = match part {
            Part::Resistor(_) => "r",
            Part::Inductor(..) => "l",
            Part::Capacitor(..) => "c",
            Part::Voltage(_) => "u",
            Part::Current(_) => "j",
            Part::Transformer(_) => "t",
            Part::Gyrator(_) => "y",
            Part::OpAmp => "a",
        };
        let name = format!("{stem}{}", self.elements.len());
        self.elements.push(Element { part, nodes, name });
    }

    fn wave(&mut self) -> Wave {
        match self.draw.chance(30) {
            true => Wave::Constant(self.draw.signed(0.5, 10.0)),
            false => Wave::Sine(self.draw.real(0.5, 10.0), self.draw.real(0.5, 10.0)),
        }
    }

    fn branch(&mut self, a: usize, b: usize) {
        let part = match self.draw.below(10) {
            0..=3 => Part::Resistor(self.draw.real(0.5, 10.0)),
            4 | 5 => Part::Inductor(self.draw.real(0.05, 1.0), self.draw.signed(0.0, 2.0)),
            6 | 7 => Part::Capacitor(self.draw.real(0.05, 1.0), self.draw.signed(0.0, 2.0)),
            8 => Part::Voltage(self.wave()),
            _ => Part::Current(self.wave()),
        };
        self.add(part, vec![a, b]);
    }

    /// A transformer or gyrator between two pairs of nodes, or to a part of its own.
    fn two_port(&mut self, grounded: bool) {
        let count = self.nodes;
        let pair = |draw: &mut Draw| {
            let a = draw.below(count);
            vec![a, (a + 1 + draw.below(count - 1)) % count]
        };
        let mut nodes = pair(self.draw);
        let apart = grounded || self.draw.chance(60);
        if apart {
            nodes.extend([self.nodes, self.nodes + 1]);
        } else {
            nodes.extend(pair(self.draw));
        }
        let ratio = self.draw.real(0.3, 3.0);
        let part = match self.draw.chance(60) {
            true => Part::Transformer(ratio),
            false => Part::Gyrator(ratio),
        };
        self.add(part, nodes);
        if apart {
            let (a, b) = (self.nodes, self.nodes + 1);
            self.nodes += 2;
            for _ in 0..self.draw.range(1, 2) {
                self.branch(a, b);
            }
        }
    }

    /// An amplifier as people build them: a resistor in, a resistor (and a capacitor) back, a load.
    fn stage(&mut self) {
        let (input, common) = (0, 1);
        let (summing, output) = (self.nodes, self.nodes + 1);
        self.nodes += 2;
        let (inwards, back, load) = (
            self.draw.real(0.5, 10.0),
            self.draw.real(0.5, 10.0),
            self.draw.real(0.5, 10.0),
        );
        self.add(Part::Resistor(inwards), vec![input, summing]);
        self.add(Part::Resistor(back), vec![summing, output]);
        if self.draw.chance(50) {
            let (c, v) = (self.draw.real(0.05, 1.0), self.draw.signed(0.0, 2.0));
            self.add(Part::Capacitor(c, v), vec![summing, output]);
        }
        self.add(Part::Resistor(load), vec![output, common]);
        self.add(Part::OpAmp, vec![common, summing, output, common]);
    }
}
