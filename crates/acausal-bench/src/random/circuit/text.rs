//! A circuit as Modelica text: classes of its own, components, connections.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Circuit, Part, Units, Wave};
use crate::random::draw::{Draw, number};

/// With a voltage and a current of their own, as in the Modelica Standard Library.
const WITH_PORTS: &str = "\
connector Pin Real v; flow Real i; end Pin;
partial model OnePort Pin p, n; Real v, i; equation v = p.v - n.v; 0 = p.i + n.i; i = p.i; end OnePort;
partial model TwoPort Pin p1, n1, p2, n2; Real v1, v2, i1, i2; equation v1 = p1.v - n1.v; v2 = p2.v - n2.v; \
0 = p1.i + n1.i; 0 = p2.i + n2.i; i1 = p1.i; i2 = p2.i; end TwoPort;
model Resistor extends OnePort; parameter Real R; equation v = R*i; end Resistor;
model Inductor extends OnePort; parameter Real L; equation L*der(i) = v; end Inductor;
model Capacitor extends OnePort; parameter Real C; equation C*der(v) = i; end Capacitor;
model Voltage extends OnePort; input Real u; equation v = u; end Voltage;
model Current extends OnePort; input Real u; equation i = u; end Current;
model Transformer extends TwoPort; parameter Real n; equation v1 = n*v2; i2 = -n*i1; end Transformer;
model Gyrator extends TwoPort; parameter Real g; equation i1 = g*v2; i2 = -g*v1; end Gyrator;
model OpAmp extends TwoPort; equation v1 = 0; i1 = 0; end OpAmp;
model Ground Pin p; equation p.v = 0; end Ground;
";

/// Without: only what the pins have.
const TERSE: &str = "\
connector Pin Real v; flow Real i; end Pin;
partial model OnePort Pin p, n; equation p.i + n.i = 0; end OnePort;
partial model TwoPort Pin p1, n1, p2, n2; equation p1.i + n1.i = 0; p2.i + n2.i = 0; end TwoPort;
model Resistor extends OnePort; parameter Real R; equation p.v - n.v = R*p.i; end Resistor;
model Inductor extends OnePort; parameter Real L; equation p.v - n.v = L*der(p.i); end Inductor;
model Capacitor extends OnePort; parameter Real C; Real v; equation v = p.v - n.v; p.i = C*der(v); end Capacitor;
model Voltage extends OnePort; input Real u; equation p.v = n.v + u; end Voltage;
model Current extends OnePort; input Real u; equation p.i = u; end Current;
model Transformer extends TwoPort; parameter Real n; equation p1.v - n1.v = n*(p2.v - n2.v); p2.i + n*p1.i = 0; end Transformer;
model Gyrator extends TwoPort; parameter Real g; equation p1.i = g*(p2.v - n2.v); p2.i = -g*(p1.v - n1.v); end Gyrator;
model OpAmp extends TwoPort; equation p1.v = n1.v; p1.i = 0; end OpAmp;
model Ground Pin p; equation p.v = 0; end Ground;
";

/// The model.
pub(super) fn text(circuit: &Circuit) -> String {
    let mut draw = Draw::new(circuit.order, 0);
    let mut mix = |all: &mut Vec<String>| {
        if circuit.order != 0 {
            draw.shuffle(all);
        }
    };
    let mut components: Vec<String> = Vec::new();
    let mut pins: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for e in &circuit.elements {
        components.push(format!(
            "  {};",
            component(circuit, circuit.units.of(e.part), &e.name)
        ));
        let names: &[&str] = match e.part.ports() {
            1 => &["p", "n"],
            _ => &["p1", "n1", "p2", "n2"],
        };
        for (node, pin) in e.nodes.iter().zip(names) {
            pins.entry(*node)
                .or_default()
                .push(format!("{}.{pin}", e.name));
        }
    }
    for (k, node) in circuit.grounds.iter().enumerate() {
        components.push(format!("  Ground ground{k};"));
        pins.entry(*node).or_default().push(format!("ground{k}.p"));
    }
    mix(&mut components);
    let mut connections = Vec::new();
    for pins in pins.values_mut() {
        mix(pins);
        for pair in pins.windows(2) {
            connections.push(format!("  connect({}, {});", pair[0], pair[1]));
        }
    }
    mix(&mut connections);
    let classes = if circuit.terse { TERSE } else { WITH_PORTS };
    let mut used: Vec<&str> = Vec::new();
    for line in classes.lines() {
        let name = line.split_whitespace().nth(1).unwrap_or_default();
        let base = ["Pin", "model"].contains(&name);
        if base
            || components
                .iter()
                .any(|c| c.split_whitespace().next() == Some(name))
        {
            used.push(line);
        }
    }
    let mut out = String::new();
    let mut classes = used.join("\n");
    if circuit.units != Units::PLAIN {
        let nominal = format!("(nominal = {:?})", 1.0 / circuit.units.ohm);
        for (plain, stated) in [
            ("flow Real i;", format!("flow Real i{nominal};")),
            ("Real v, i;", format!("Real v, i{nominal};")),
            ("v2, i1, i2;", format!("v2, i1{nominal}, i2{nominal};")),
        ] {
            classes = classes.replace(plain, &stated);
        }
    }
    let _ = writeln!(out, "{classes}");
    let _ = writeln!(out, "model M\n{}", components.join("\n"));
    if circuit.terse && circuit.free_start {
        let starts: Vec<String> = circuit
            .elements
            .iter()
            .filter_map(|e| match circuit.units.of(e.part) {
                Part::Inductor(_, i) => Some(format!("  {}.p.i = {};", e.name, number(i))),
                Part::Capacitor(_, v) => {
                    Some(format!("  {0}.p.v - {0}.n.v = {1};", e.name, number(v)))
                }
                _ => None,
            })
            .collect();
        if !starts.is_empty() {
            let _ = writeln!(out, "initial equation\n{}", starts.join("\n"));
        }
    }
    let _ = writeln!(out, "equation\n{}\nend M;", connections.join("\n"));
    out
}

fn component(circuit: &Circuit, part: Part, name: &str) -> String {
    let given = circuit.free_start && !circuit.terse;
    let start = |what: &str, value: f64| match given {
        true => format!(", {what}(start = {value:?}, fixed = true)"),
        false => String::new(),
    };
    match part {
        Part::Resistor(r) => format!("Resistor {name}(R = {r:?})"),
        Part::Inductor(l, i) => format!("Inductor {name}(L = {l:?}{})", start("i", i)),
        Part::Capacitor(c, v) => format!("Capacitor {name}(C = {c:?}{})", start("v", v)),
        Part::Voltage(w) => format!("Voltage {name}(u = {})", w.text()),
        Part::Current(w) => format!("Current {name}(u = {})", w.text()),
        Part::Transformer(n) => format!("Transformer {name}(n = {n:?})"),
        Part::Gyrator(g) => format!("Gyrator {name}(g = {g:?})"),
        Part::OpAmp => format!("OpAmp {name}"),
    }
}

impl Wave {
    fn text(self) -> String {
        match self {
            Wave::Constant(a) => format!("{a:?}"),
            Wave::Sine(a, w) => format!("{a:?}*sin({w:?}*time)"),
            Wave::Smooth(a, w) => format!("{a:?}*sin({w:?}*time)^3"),
        }
    }
}
