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
