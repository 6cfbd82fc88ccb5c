//! Networks written out: no arrays in the text, one declaration and one `connect` per component.

use std::fmt::Write;

/// An RC ladder of `components` resistors and capacitors (half of each), each with a value of its own.
pub fn ladder(components: usize) -> String {
    let pairs = (components / 2).max(1);
    let mut text = String::from(
        "model RCLadderWritten
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  model Resistor
    Pin p, n;
    parameter Real R = 1;
  equation
    p.v - n.v = R*p.i;
    p.i + n.i = 0;
  end Resistor;
  model Capacitor
    Pin p;
    parameter Real C = 1;
    Real v(start = 0, fixed = true);
  equation
    v = p.v;
    C*der(v) = p.i;
  end Capacitor;
  model Source
    Pin p;
  equation
    p.v = 1;
  end Source;
  Source source;
",
    );
    for k in 1..=pairs {
        // Values differ a little, as they do in a drawn network; so nothing can be shared by equal modifiers alone.
        let value = 1.0 + 0.5 * ((k % 7) as f64) / 7.0;
        let small = value / pairs as f64;
        // Writing to a String cannot fail. Resistances do not fall with the size, so that they stay pivots.
        let _ = writeln!(text, "  Resistor r{k}(R = {value});");
        let _ = writeln!(text, "  Capacitor c{k}(C = {small:e});");
    }
    text.push_str("equation\n  connect(source.p, r1.p);\n");
    for k in 1..=pairs {
        let _ = writeln!(text, "  connect(r{k}.n, c{k}.p);");
        if k < pairs {
            let _ = writeln!(text, "  connect(r{k}.n, r{}.p);", k + 1);
        }
    }
    text.push_str(
        "  annotation(experiment(StopTime = 2, Interval = 0.1));\nend RCLadderWritten;\n",
    );
    text
}

/// The library of [`supply`].
const SUPPLY: &str = "package Supply
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  connector Port
    Real T(start = 20);
    flow Real Q;
  end Port;
  partial model TwoPin
    Pin p, n;
    Real u \"voltage\";
    Real i \"current\";
  equation
    u = p.v - n.v;
    i = p.i;
    p.i + n.i = 0;
  end TwoPin;
  model Line
    extends TwoPin;
    parameter Real R(min = 0) = 1;
  equation
    u = R*i;
  end Line;
  model Cable
    extends TwoPin(i(start = 0, fixed = true));
    parameter Real R = 1, L = 0.1;
  equation
    L*der(i) = u - R*i;
  end Cable;
  model Battery
    Pin p;
    parameter Real C = 1, v0 = 1;
    Real charge(start = v0*C, fixed = true);
  equation
    charge = C*p.v;
    der(charge) = p.i;
  end Battery;
  model Heater
    Pin p;
    Port port;
    parameter Real G = 0.01;
    Real power;
  equation
    p.i = G*p.v;
    power = p.v*p.i;
    port.Q = -power;
  end Heater;
  model Wall
    Port port;
    parameter Real C = 10;
    parameter Real loss = 0.1;
    outer Outside outside;
    Real T(start = 20, fixed = true);
  equation
    port.T = T;
    C*der(T) = port.Q - loss*(T - outside.T);
  end Wall;
  model Outside
    Real T = 20 + 5*sin(time);
  end Outside;
  model Source
    Pin p;
    parameter Real v = 1;
  equation
    p.v = v;
  end Source;
end Supply;
";

/// A supply network of `components` lines, cables, batteries, heaters and walls in shuffled order, most of them with values of their own. It
/// is what is drawn by hand rather than generated: classes that extend others, modifiers of different kinds, two physical domains,
/// declarations and connections in no order.
pub fn supply(components: usize) -> String {
    let mut text = format!(
        "{SUPPLY}model SupplyWritten
  inner Supply.Outside outside;
  Supply.Source source;
"
    );
    // Per node of the network: a battery, a heater with a wall, and two lines or cables to earlier nodes.
    let nodes = (components / 5).max(2);
    let mut random = Random(1);
    let mut declarations = Vec::new();
    let mut connections = Vec::new();
    declarations.push("Supply.Line feed(R = 0.5);".to_string());
    connections.push("connect(source.p, feed.p);".to_string());
    connections.push("connect(feed.n, b1.p);".to_string());
    for k in 1..=nodes {
        let value = 1.0 + random.below(1000) as f64 / 1000.0;
        declarations.push(format!("Supply.Battery b{k}(C = {value});"));
        declarations.push(match k % 3 {
            0 => format!("Supply.Heater h{k};"),
            1 => format!("Supply.Heater h{k}(G = {});", 0.01 * value),
            _ => format!("Supply.Heater h{k}(G = 0.02, power(start = 0));"),
        });
        declarations.push(format!(
            "Supply.Wall w{k}(C = {}, T(start = {}));",
            10.0 * value,
            15.0 + value
        ));
        connections.push(format!("connect(h{k}.p, b{k}.p);"));
        connections.push(format!("connect(w{k}.port, h{k}.port);"));
        for (from, name) in [(k - 1, "a"), (k - 1 - random.below(4).min(k - 1), "c")] {
            if from == 0 {
                continue;
            }
            let (class, values) = match random.below(2) {
                0 => ("Line", format!("R = {value}")),
                _ => ("Cable", format!("R = {value}, L = {}", 0.1 * value)),
            };
            declarations.push(format!("Supply.{class} {name}{k}({values});"));
            connections.push(format!("connect({name}{k}.p, b{from}.p);"));
            connections.push(format!("connect(b{k}.p, {name}{k}.n);"));
        }
    }
    random.shuffle(&mut declarations);
    random.shuffle(&mut connections);
    for d in &declarations {
        let _ = writeln!(text, "  {d}");
    }
    text.push_str("equation\n");
    for c in &connections {
        let _ = writeln!(text, "  {c}");
    }
    text.push_str("  annotation(experiment(StopTime = 2, Interval = 0.1));\nend SupplyWritten;\n");
    text
}

/// Numbers that look random and are the same each time (Knuth's linear congruences modulo 2^64).
struct Random(u64);

impl Random {
    /// A number from 0 to `n - 1`.
    fn below(&mut self, n: usize) -> usize {
        let (a, c) = (6_364_136_223_846_793_005, 1_442_695_040_888_963_407);
        self.0 = self.0.wrapping_mul(a).wrapping_add(c);
        (self.0 >> 33) as usize % n.max(1)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for k in (1..items.len()).rev() {
            items.swap(k, self.below(k + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use acausal::{InMemory, Load, Model};

    /// A network with its declarations and connections in no order is analysed along its graph. That changes nothing but time: the results are those of an
    /// analysis of all equations in the order of the source.
    #[test]
    fn a_shuffled_network_has_the_trajectories_of_its_equations_as_written() {
        let text = super::supply(1200);
        let run = |aliases| -> InMemory {
            let structure = acausal_index1::Options {
                aliases,
                ..Default::default()
            };
            let load = Load {
                structure,
                ..Load::default()
            };
            let model = match Model::from_text("SupplyWritten.mo", &text, &load) {
                Ok(model) => model,
                Err(failure) => panic!("{failure}"),
            };
            let mut settings = model.settings();
            settings.tolerance = 1e-9;
            match model.simulate_in_memory(&settings) {
                Ok(run) => run,
                Err(failure) => panic!("{failure}"),
            }
        };
        let [graph, source] =
            [acausal_index1::Aliases::All, acausal_index1::Aliases::None].map(run);
        assert!(graph.result.signals().len() > 4_000);
        for (a, b) in graph.result.signals().iter().zip(source.result.signals()) {
            assert_eq!(a.name, b.name);
            let (x, y) = (graph.result.values_of(a), source.result.values_of(b));
            let (x, y) = (x[x.len() - 1], y[y.len() - 1]);
            assert!(
                (x - y).abs() <= 1e-6 * y.abs().max(1e-3),
                "{}: {x} {y}",
                a.name
            );
        }
    }
}
