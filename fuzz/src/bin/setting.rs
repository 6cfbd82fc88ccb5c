//! Values of `--set`, one per line, of a model with every kind of parameter.

use std::time::Duration;

use acausal::{Load, Model};

const MODEL: &str = "model Set
  type E = enumeration(one, two);
  record R Real a = 1; Integer n = 2; end R;
  model Part parameter Real g = 1; Real y(start = 0, fixed = true); equation der(y) = g - y; end Part;
  parameter Real p = 1, q[3] = {1, 2, 3}, m[2, 2] = [1, 2; 3, 4];
  parameter Integer n = 2;
  parameter Boolean b = true;
  parameter String s = \"text\";
  parameter E e = E.one;
  parameter R r;
  final parameter Real f = 2*p;
  Part part[2];
  Real x(start = p, fixed = true);
equation
  der(x) = if b then -p*x*f else q[n] + m[1, n]*r.a;
end Set;";

fn main() {
    acausal_fuzz::run(Duration::from_secs(2), |data| {
        let text = String::from_utf8_lossy(data);
        let load = Load {
            set: text.lines().map(str::to_string).collect(),
            limits: acausal_fuzz::limits(),
            ..Load::default()
        };
        if let Err(failure) = Model::from_text("Set.mo", MODEL, &load) {
            drop(failure.to_string());
        }
    });
}
