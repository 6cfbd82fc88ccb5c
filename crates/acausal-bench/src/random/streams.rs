//! Networks of pipes with stream connectors (MLS 3.6 §15). The answer: pressures by a direct solve, then what flows where, then specific enthalpies by the balance of
//! each node.
//!
//! Pipes, heated pipes, pipes in a component of their own (connectors on its border) with a sensor in series, and two pipes in parallel inside of one component; between nodes
//! where any number of them meet. Pressures of the boundaries swing, so that flows change their direction. Where a flow is nearly zero nothing defines its enthalpy,
//! and none is looked at.

use std::fmt::Write;

use acausal::{InMemory, Settings};

use super::case::{ALLOWED, Disagreement, RandomCase, compare_bounded};
use super::draw::{Draw, number};
use super::matrix::{identity, zeros};
use super::orthogonal::Qr;
use super::shrink::shorter;

const STOP: f64 = 1.0;
const INTERVAL: f64 = 0.02;
/// Flows below this are nearly zero (conductances and differences of pressure are about one): enthalpies of the whole network are not looked at, since other flows may come from there.
const SMALL: f64 = 1e-2;
/// Below this a pipe is a dead end.
const DEAD: f64 = 1e-9;

/// See the module.
#[derive(Clone, Debug)]
struct Network {
    nodes: usize,
    pipes: Vec<Pipe>,
    sources: Vec<Source>,
    /// A state beside it, so that there are steps.
    state: bool,
    order: u64,
}

/// From a node to another one.
#[derive(Clone, Copy, Debug)]
struct Pipe {
    from: usize,
    to: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Conductance.
    Plain(f64),
    /// Conductance, and what the enthalpy gains on the way.
    Heated(f64, f64),
    /// The same inside of a component, with a sensor in series.
    Boxed(f64, f64),
    /// Two of them in parallel inside of a component.
    Double([(f64, f64); 2]),
}

impl Kind {
    /// Conductance and gain of each of its pipes.
    fn parts(self) -> Vec<(f64, f64)> {
        match self {
            Kind::Plain(k) => vec![(k, 0.0)],
            Kind::Heated(k, d) | Kind::Boxed(k, d) => vec![(k, d)],
            Kind::Double(parts) => parts.to_vec(),
        }
    }

    /// Conductance, and gain of what leaves it: the mean over its pipes by their flows.
    fn whole(self) -> (f64, f64) {
        let parts = self.parts();
        let k: f64 = parts.iter().map(|p| p.0).sum();
        (k, parts.iter().map(|p| p.0 * p.1).sum::<f64>() / k)
    }
}

/// Pressure `p + swing*sin(w*time)` at a node, and the enthalpy of what comes out.
#[derive(Clone, Copy, Debug)]
struct Source {
    node: usize,
    p: f64,
    swing: f64,
    w: f64,
    h: f64,
}

/// Number `k` of a sequence.
pub fn case(draw: &mut Draw) -> Box<dyn RandomCase> {
    let nodes = draw.size(2, 12);
    let mut pipes = Vec::new();
    let mut add = |draw: &mut Draw, from: usize, to: usize| {
        let k = |draw: &mut Draw| draw.real(0.2, 3.0);
        let d = |draw: &mut Draw| draw.signed(1.0, 30.0);
        let kind = match draw.below(5) {
            0 | 1 => Kind::Plain(k(draw)),
            2 => Kind::Heated(k(draw), d(draw)),
            3 => Kind::Boxed(k(draw), d(draw)),
            _ => Kind::Double([(k(draw), d(draw)), (k(draw), d(draw))]),
        };
        let (from, to) = if draw.chance(50) {
            (from, to)
        } else {
            (to, from)
        };
        pipes.push(Pipe { from, to, kind });
    };
    for k in 1..nodes {
        let other = draw.below(k);
        add(draw, other, k);
    }
    for _ in 0..draw.below(nodes + 1) {
        let (a, b) = (draw.below(nodes), draw.below(nodes));
        if a != b {
            add(draw, a, b);
        }
    }
    let places = draw.permutation(nodes);
    let count = draw.range(2, 4.min(nodes));
    let sources = (0..count)
        .map(|s| Source {
            node: places[s],
            p: draw.real(1.0, 3.0),
            swing: if draw.chance(60) {
                draw.real(0.1, 1.5)
            } else {
                0.0
            },
            w: draw.real(1.0, 8.0),
            h: draw.real(10.0, 100.0),
        })
        .collect();
    Box::new(Network {
        nodes,
        pipes,
        sources,
        state: draw.chance(50),
        order: if draw.chance(50) { draw.bits() | 1 } else { 0 },
    })
}

const CLASSES: &str = "\
connector Port Real p; flow Real m; stream Real h; end Port;
model Boundary Port a; input Real p; parameter Real h; equation a.p = p; a.h = h; end Boundary;
model Pipe Port a, b; parameter Real k; parameter Real gain = 0; Real m; Real ha, hb; equation a.m + b.m = 0; m = a.m; m = k*(a.p - b.p);
  a.h = inStream(b.h) + gain; b.h = inStream(a.h) + gain; ha = actualStream(a.h); hb = actualStream(b.h); end Pipe;
model Sensor Port a, b; Real h; equation a.m + b.m = 0; a.p = b.p; a.h = inStream(b.h); b.h = inStream(a.h); h = actualStream(a.h); end Sensor;
model Boxed Port a, b; parameter Real k; parameter Real gain; Real m = a.m; Pipe pipe(k = k, gain = gain); Sensor sensor; Real ha, hb;
equation connect(a, pipe.a); connect(pipe.b, sensor.a); connect(sensor.b, b); ha = actualStream(a.h); hb = actualStream(b.h); end Boxed;
model Double Port a, b; parameter Real k[2]; parameter Real gain[2]; Real m = a.m; Pipe pipe[2](k = k, gain = gain); Real ha, hb;
equation for i in 1:2 loop connect(a, pipe[i].a); connect(pipe[i].b, b); end for; ha = actualStream(a.h); hb = actualStream(b.h); end Double;
";

impl Network {
    /// Flow and enthalpies at both ends of each pipe; NaN where nothing defines them. Nothing if the pressures are not determined.
    fn solve(&self, t: f64) -> Option<Vec<f64>> {
        let n = self.nodes;
        let mut a = zeros(n, n);
        let mut b = vec![0.0; n];
        for pipe in &self.pipes {
            let (k, _) = pipe.kind.whole();
            for (i, j) in [(pipe.from, pipe.to), (pipe.to, pipe.from)] {
                a[i][i] += k;
                a[i][j] -= k;
            }
        }
        for s in &self.sources {
            a[s.node] = vec![0.0; n];
            a[s.node][s.node] = 1.0;
            b[s.node] = s.p + s.swing * (s.w * t).sin();
        }
        let pressure = Qr::new(a)?.solve(&b);
        let flows: Vec<f64> = self
            .pipes
            .iter()
            .map(|p| p.kind.whole().0 * (pressure[p.from] - pressure[p.to]))
            .collect();
        // Balance of each node: what comes in times its enthalpy.
        let mut inflow = vec![0.0; n];
        let mut a = zeros(n, n);
        let mut b = vec![0.0; n];
        let mut out = vec![0.0; n];
        for (pipe, &flow) in self.pipes.iter().zip(&flows) {
            let (up, down) = match flow > 0.0 {
                true => (pipe.from, pipe.to),
                false => (pipe.to, pipe.from),
            };
            let flow = flow.abs();
            out[up] += flow;
            inflow[down] += flow;
            a[down][up] -= flow;
            b[down] += flow * pipe.kind.whole().1;
        }
        for s in &self.sources {
            let from = out[s.node] - inflow[s.node];
            if from > 0.0 {
                inflow[s.node] += from;
                b[s.node] += from * s.h;
            }
        }
        for k in 0..n {
            a[k][k] += inflow[k];
        }
        let still: Vec<bool> = inflow.iter().map(|f| *f <= DEAD).collect();
        let turning = flows.iter().any(|f| (DEAD..SMALL).contains(&f.abs()));
        let unit = identity(n);
        for k in 0..n {
            if still[k] {
                (a[k], b[k]) = (unit[k].clone(), 0.0);
            }
        }
        let h = Qr::new(a)?.solve(&b);
        let mut values = Vec::new();
        for (pipe, &flow) in self.pipes.iter().zip(&flows) {
            values.push(flow);
            let gain = pipe.kind.whole().1;
            let (up, ends) = match flow > 0.0 {
                true => (pipe.from, [0.0, gain]),
                false => (pipe.to, [gain, 0.0]),
            };
            let defined = flow.abs() > SMALL && !still[up] && !turning;
            values.extend(ends.map(|g| if defined { h[up] + g } else { f64::NAN }));
        }
        Some(values)
    }
}

impl RandomCase for Network {
    fn settings(&self) -> Settings {
        Settings {
            stop: STOP,
            interval: INTERVAL,
            ..Settings::default()
        }
    }

    fn text(&self) -> String {
        let mut declarations = Vec::new();
        let mut equations = Vec::new();
        let mut ports: Vec<Vec<String>> = vec![Vec::new(); self.nodes];
        for (k, s) in self.sources.iter().enumerate() {
            let swing = match s.swing {
                0.0 => String::new(),
                a => format!(" + {}*sin({}*time)", number(a), number(s.w)),
            };
            declarations.push(format!(
                "Boundary s{k}(p = {}{swing}, h = {});",
                number(s.p),
                number(s.h)
            ));
            ports[s.node].push(format!("s{k}.a"));
        }
        for (k, p) in self.pipes.iter().enumerate() {
            declarations.push(match p.kind {
                Kind::Plain(c) => format!("Pipe p{k}(k = {});", number(c)),
                Kind::Heated(c, d) => {
                    format!("Pipe p{k}(k = {}, gain = {});", number(c), number(d))
                }
                Kind::Boxed(c, d) => {
                    format!("Boxed p{k}(k = {}, gain = {});", number(c), number(d))
                }
                Kind::Double([(c, d), (e, f)]) => format!(
                    "Double p{k}(k = {{{}, {}}}, gain = {{{}, {}}});",
                    number(c),
                    number(e),
                    number(d),
                    number(f)
                ),
            });
            ports[p.from].push(format!("p{k}.a"));
            ports[p.to].push(format!("p{k}.b"));
        }
        let mut draw = Draw::new(self.order, 0);
        for mut node in ports {
            if self.order != 0 {
                draw.shuffle(&mut node);
            }
            for pair in node.windows(2) {
                equations.push(format!("connect({}, {});", pair[0], pair[1]));
            }
        }
        if self.state {
            declarations.push("Real x(start = 1, fixed = true);".to_string());
            equations.push("der(x) = -x;".to_string());
        }
        if self.order != 0 {
            draw.shuffle(&mut declarations);
            draw.shuffle(&mut equations);
        }
        let mut out = format!("{CLASSES}model M\n");
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
        let names: Vec<String> = (0..self.pipes.len())
            .flat_map(|k| ["m", "ha", "hb"].map(|v| format!("p{k}.{v}")))
            .collect();
        let times = run.result.time();
        let answers: Option<Vec<Vec<f64>>> = times.iter().map(|&t| self.solve(t)).collect();
        let answers = answers.ok_or(Disagreement::missing("pressures"))?;
        let scale = answers
            .iter()
            .flatten()
            .filter(|v| v.is_finite())
            .fold(1.0f64, |m, v| m.max(v.abs()));
        compare_bounded(run, &names, ALLOWED * tolerance * scale, &answers)
    }

    fn smaller(&self) -> Vec<Box<dyn RandomCase>> {
        let mut all: Vec<Network> = Vec::new();
        for pipes in shorter(&self.pipes) {
            all.push(Network {
                pipes,
                ..self.clone()
            });
        }
        for sources in shorter(&self.sources) {
            all.push(Network {
                sources,
                ..self.clone()
            });
        }
        for k in 0..self.pipes.len() {
            let (c, d) = self.pipes[k].kind.whole();
            let simpler = match self.pipes[k].kind {
                Kind::Plain(1.0) => None,
                Kind::Plain(_) => Some(Kind::Plain(1.0)),
                Kind::Heated(..) => Some(Kind::Plain(c)),
                Kind::Boxed(..) | Kind::Double(_) => Some(Kind::Heated(c, d)),
            };
            if let Some(kind) = simpler {
                let mut other = self.clone();
                other.pipes[k].kind = kind;
                all.push(other);
            }
        }
        for k in 0..self.sources.len() {
            if self.sources[k].swing != 0.0 {
                let mut other = self.clone();
                other.sources[k].swing = 0.0;
                all.push(other);
            }
        }
        if self.state {
            let mut other = self.clone();
            other.state = false;
            all.push(other);
        }
        if self.order != 0 {
            let mut other = self.clone();
            other.order = 0;
            all.push(other);
        }
        // A component with a connector that nothing is connected to is allowed, but pressures must be determined.
        all.retain(|c| !c.pipes.is_empty() && c.solve(0.1).is_some());
        all.into_iter()
            .map(|c| Box::new(c) as Box<dyn RandomCase>)
            .collect()
    }
}
