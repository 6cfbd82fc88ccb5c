//! What is differentiated and may jump: a signal of known pieces drives something that needs its first or second derivative. Where a derivative that is differentiated again
//! jumps there is no solution behind it, and the run must end there, with that instant in its message and nothing written after it. Where only the last one jumps (a kink), or where
//! jumps at one instant cancel, the answer is the derivative in closed form.
//!
//! Pieces begin by a relation of time or of a state, a Boolean, an Integer, a `when` clause, a sample or a delay; some signals are small or large throughout, and have such a nominal value. The signal goes through aliases, signs and elements of arrays to a rate, a
//! capacitor, an inductor, a mass, a gear or an array. One of ten models is a pair of rigid inertias that are struck (`strike`).

mod strike;

use std::fmt::Write;

use acausal::{InMemory, Settings};

use super::attempt::{Attempt, Job, TrialLimits, attempt};
use super::case::{Disagreement, RandomCase, RandomOutcome, TRAJECTORY, compare_columns};
use super::draw::{Draw, number, rounded};
use super::shrink::shorter;

const STOP: f64 = 1.0;
const INTERVAL: f64 = 0.05;
/// Rows so near to the beginning of a piece are on either side of it.
const BESIDE: f64 = 1e-6;

/// `height*(time - at)^degree` from `at` on.
#[derive(Clone, Copy, Debug)]
struct Piece {
    at: f64,
    height: f64,
    degree: i32,
    by: By,
}

/// How a piece begins.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Time,
    Boolean,
    Integer,
    When,
    Sample,
    State,
    /// A discrete variable that has jumped before.
    Delayed,
}

/// What a delayed jump waits for.
const LAG: f64 = 0.0625;

impl Piece {
    /// Its derivative of an order.
    fn value(&self, t: f64, order: i32) -> f64 {
        if t < self.at || order > self.degree {
            return 0.0;
        }
        let factor: i32 = (self.degree - order + 1..=self.degree).product();
        self.height * f64::from(factor) * (t - self.at).powi(self.degree - order)
    }

    fn expression(&self, k: usize, declarations: &mut String, equations: &mut String) -> String {
        let (at, height) = (number(self.at), number(self.height));
        let time = if self.by == By::State { "y" } else { "time" };
        let power = match self.degree {
            0 => String::new(),
            1 => format!("*({time} - {at})"),
            d => format!("*({time} - {at})^{d}"),
        };
        match self.by {
            By::Time | By::State => format!("(if {time} < {at} then 0 else {height}{power})"),
            By::Boolean => {
                let _ = writeln!(declarations, "  Boolean b{k} = time >= {at};");
                format!("(if b{k} then {height}{power} else 0)")
            }
            By::Integer => {
                let _ = writeln!(
                    declarations,
                    "  Integer n{k} = if time < {at} then 0 else 1;"
                );
                format!("n{k}*{height}{power}")
            }
            By::When | By::Sample | By::Delayed => {
                let condition = match self.by {
                    By::When => format!("time >= {at}"),
                    By::Delayed => format!("time >= {}", number(self.at - LAG)),
                    _ => format!("sample({at}, 100)"),
                };
                let _ = writeln!(
                    declarations,
                    "  discrete Real d{k}(start = 0, fixed = true);"
                );
                let _ = writeln!(
                    equations,
                    "  when {condition} then d{k} = {height}; end when;"
                );
                match self.by {
                    By::Delayed => format!("delay(d{k}, {LAG}){power}"),
                    _ => format!("d{k}{power}"),
                }
            }
        }
    }
}

/// How a variable follows from the one before it.
#[derive(Clone, Copy, Debug)]
enum Alias {
    Plain,
    Element,
    /// Two equations for two unknowns.
    Loop,
}

/// What the signal drives, with a factor.
#[derive(Clone, Copy, Debug)]
enum Driven {
    Rate,
    Capacitor,
    Inductor,
    Mass,
    Gear,
    Array,
}

/// See the module.
#[derive(Clone, Debug)]
struct Signal {
    pieces: Vec<Piece>,
    /// `a + b*sin(w*time) + c*z`, where `z' = -z` begins with one.
    smooth: [f64; 4],
    /// Variables between the signal and what it drives, each with its factor.
    aliases: Vec<(f64, Alias)>,
    driven: Driven,
    factor: f64,
    /// The size of all of this, and its nominal value if it is not 1.
    size: f64,
}

/// Number `k` of a sequence.
pub fn case(draw: &mut Draw) -> Box<dyn RandomCase> {
    if draw.chance(10) {
        return strike::case(draw);
    }
    let driven = *draw.one(&[
        Driven::Rate,
        Driven::Capacitor,
        Driven::Inductor,
        Driven::Mass,
        Driven::Gear,
        Driven::Array,
    ]);
    let order = driven.order();
    let by = |draw: &mut Draw| {
        *draw.one(&[
            By::Time,
            By::Boolean,
            By::Integer,
            By::When,
            By::Sample,
            By::State,
            By::Delayed,
        ])
    };
    let height = |draw: &mut Draw| {
        let size = 10f64.powf(6.0 * draw.unit() - 3.0);
        let height = rounded(size).max(1e-3);
        if draw.chance(50) { height } else { -height }
    };
    let size = match driven {
        Driven::Rate | Driven::Array => *draw.one(&[1.0, 1.0, 1e-9, 1e-4, 1e6]),
        _ => 1.0,
    };
    let mut pieces = Vec::new();
    for _ in 0..draw.range(1, 3) {
        // Mostly without a jump, so that what lies behind it is looked at as well.
        let degree = if draw.chance(80) {
            order
        } else {
            draw.below(order as usize) as i32
        };
        let piece = Piece {
            at: draw.real(0.1, 0.9),
            height: size * height(draw),
            degree,
            by: by(draw),
        };
        pieces.push(piece);
        if degree < order && draw.chance(60) {
            // The instant of a state or a delay is its own, up to rounding.
            let other = match (piece.by, by(draw)) {
                (By::State | By::Delayed, _) | (_, By::State | By::Delayed) => piece.by,
                (_, other) => other,
            };
            pieces.push(Piece {
                height: -piece.height,
                by: other,
                ..piece
            });
        }
    }
    let some = |draw: &mut Draw, percent| {
        if draw.chance(percent) {
            size * draw.signed(0.1, 5.0)
        } else {
            0.0
        }
    };
    let smooth = [
        some(draw, 50),
        some(draw, 70),
        draw.real(0.5, 9.0),
        some(draw, 50),
    ];
    let mut aliases = Vec::new();
    for _ in 0..draw.below(4) {
        let factor = *draw.one(&[1.0, 1.0, -1.0, 2.5, -0.5]);
        aliases.push((
            factor,
            *draw.one(&[Alias::Plain, Alias::Element, Alias::Loop]),
        ));
    }
    Box::new(Signal {
        pieces,
        smooth,
        aliases,
        driven,
        factor: draw.real(0.2, 4.0),
        size,
    })
}

impl Driven {
    /// The derivative that is needed.
    fn order(self) -> i32 {
        match self {
            Driven::Mass | Driven::Gear => 2,
            _ => 1,
        }
    }

    /// Variables that are compared: name, factor beside that of the case or not, order of the derivative.
    fn observed(self, factor: f64) -> Vec<(&'static str, f64, i32)> {
        match self {
            Driven::Rate => vec![("f", factor, 1)],
            Driven::Capacitor => vec![("c.p.i", factor, 1), ("c.p.v", 1.0, 0)],
            Driven::Inductor => vec![("v", factor, 1)],
            Driven::Mass => vec![("m.f", factor, 2), ("m.v", 1.0, 1)],
            Driven::Gear => vec![("tau", 3.0 * factor, 2), ("w", 3.0, 1)],
            Driven::Array => vec![
                ("f[1]", factor, 1),
                ("f[2]", 2.0 * factor, 1),
                ("f[3]", 3.0 * factor, 1),
            ],
        }
    }

    /// Classes, declarations and equations; `nominal` is the modification of an array that is as large as the signal.
    fn text(self, factor: &str, u: &str, nominal: &str) -> [String; 3] {
        let [classes, declarations, equations] = match self {
            Driven::Rate => ["".into(), "Real f;".into(), format!("f = {factor}*der({u});")],
            Driven::Capacitor => [
                "connector Pin Real v; flow Real i; end Pin;
model Source Pin p, n; input Real u; equation p.v - n.v = u; p.i + n.i = 0; end Source;
model Capacitor Pin p, n; parameter Real C; Real v; equation v = p.v - n.v; p.i + n.i = 0; p.i = C*der(v); end Capacitor;
model Ground Pin p; equation p.v = 0; end Ground;\n".into(),
                format!("Source s(u = {u}); Capacitor c(C = {factor}); Ground g;"),
                "connect(s.p, c.p); connect(s.n, c.n); connect(s.n, g.p);".into(),
            ],
            Driven::Inductor => ["".into(), "Real v, i;".into(), format!("i = {u}; v = {factor}*der(i);")],
            Driven::Mass => [
                "model Mass parameter Real m; Real x, v, f; equation v = der(x); f = m*der(v); end Mass;\n".into(),
                format!("Mass m(m = {factor});"),
                format!("m.x = {u};"),
            ],
            Driven::Gear => [
                "".into(),
                "Real phi, w, tau;".into(),
                format!("phi/3 = {u}; w = der(phi); tau = {factor}*der(w);"),
            ],
            Driven::Array => [
                "".into(),
                format!("Real q[3]{nominal}, f[3];"),
                format!("for k in 1:3 loop q[k] = k*{u}; f[k] = {factor}*der(q[k]); end for;"),
            ],
        };
        [classes, declarations, equations]
    }
}

impl Signal {
    /// The derivative of an order at a time.
    fn value(&self, t: f64, order: i32) -> f64 {
        let [a, b, w, c] = self.smooth;
        let smooth = match order {
            0 => a + b * (w * t).sin() + c * (-t).exp(),
            1 => b * w * (w * t).cos() - c * (-t).exp(),
            _ => -b * w * w * (w * t).sin() + c * (-t).exp(),
        };
        let pieces: f64 = self.pieces.iter().map(|p| p.value(t, order)).sum();
        self.aliases.iter().map(|a| a.0).product::<f64>() * (smooth + pieces)
    }

    /// Instants at which something jumps that is differentiated, the earliest first.
    fn jumps(&self) -> Vec<f64> {
        let mut instants: Vec<f64> = self.pieces.iter().map(|p| p.at).collect();
        instants.sort_by(f64::total_cmp);
        instants.dedup();
        let jumps = |at: &f64| {
            (0..self.driven.order()).any(|order| {
                let there = self.pieces.iter().filter(|p| p.at == *at);
                let jump: f64 = there.map(|p| p.value(*at, order)).sum();
                jump.abs() > 1e-9 * self.size
            })
        };
        instants.retain(jumps);
        instants
    }

    /// Compares rows with the answer.
    fn compare(
        &self,
        result: &acausal_results::ResultSet,
        tolerance: f64,
    ) -> Result<f64, Disagreement> {
        let observed = self.driven.observed(self.factor);
        let times = result.time();
        let mut scale = self.size;
        let mut answers = Vec::new();
        for &t in times {
            let beside = self.pieces.iter().any(|p| (p.at - t).abs() < BESIDE);
            let values = observed.iter().map(|&(_, factor, order)| {
                let value = factor * self.value(t, order);
                scale = scale.max(value.abs());
                if beside { f64::NAN } else { value }
            });
            answers.push(values.collect::<Vec<f64>>());
        }
        let mut columns = Vec::new();
        for (name, ..) in observed {
            let values = result.values(name).ok_or(Disagreement::missing(name))?;
            columns.push((name.to_string(), values));
        }
        compare_columns(times, &columns, TRAJECTORY * tolerance * scale, &answers)
    }

    /// A run that was refused: for the right reason, at the right instant, with nothing wrong before and nothing after it?
    fn judge_refusal(
        &self,
        code: &'static str,
        text: String,
        rows: Option<&acausal_results::ResultSet>,
        limits: &TrialLimits,
    ) -> RandomOutcome {
        let jumps = self.jumps();
        let time = text.split_once("at time = ").and_then(|(_, rest)| {
            let end = rest.find(|c: char| c == ',' || c.is_whitespace())?;
            rest[..end].parse::<f64>().ok()
        });
        let named = match time {
            Some(t) => (t - jumps[0]).abs() < BESIDE,
            // What the compiler sees has a condition instead of an instant.
            None => (self.pieces.iter().enumerate()).any(|(k, p)| {
                let condition = match p.by {
                    By::Boolean => format!("`b{k}`"),
                    _ => format!("< {}", number(p.at)),
                };
                jumps.contains(&p.at) && text.contains(&condition)
            }),
        };
        if code != "impulse" || !named {
            return RandomOutcome::Refused { code, text };
        }
        let Some(rows) = rows.filter(|r| !r.time().is_empty()) else {
            return RandomOutcome::Right { ratio: 0.0 };
        };
        let last = rows.time().last().copied().unwrap_or(0.0);
        if last > jumps[0] + BESIDE {
            let deviation = Disagreement {
                signal: "the last row".to_string(),
                time: last,
                found: last,
                expected: jumps[0],
                bound: 0.0,
            };
            return RandomOutcome::Wrong { deviation };
        }
        match self.compare(rows, limits.tolerance) {
            Ok(ratio) => RandomOutcome::Right { ratio },
            Err(deviation) => RandomOutcome::Wrong { deviation },
        }
    }
}

impl RandomCase for Signal {
    fn settings(&self) -> Settings {
        Settings {
            stop: STOP,
            interval: INTERVAL,
            ..Settings::default()
        }
    }

    fn text(&self) -> String {
        let (mut declarations, mut equations) = (String::new(), String::new());
        let [a, b, w, c] = self.smooth.map(number);
        let mut terms = vec![a];
        if self.smooth[1] != 0.0 {
            terms.push(format!("{b}*sin({w}*time)"));
        }
        if self.smooth[3] != 0.0 {
            declarations.push_str("  Real z(start = 1, fixed = true);\n");
            equations.push_str("  der(z) = -z;\n");
            terms.push(format!("{c}*z"));
        }
        if self.pieces.iter().any(|p| p.by == By::State) {
            declarations.push_str("  Real y(start = 0, fixed = true);\n");
            equations.push_str("  der(y) = 1;\n");
        }
        for (k, piece) in self.pieces.iter().enumerate() {
            terms.push(piece.expression(k, &mut declarations, &mut equations));
        }
        let nominal = match self.size {
            1.0 => String::new(),
            size => format!("(each nominal = {})", number(size)),
        };
        let scalar = nominal.replace("each ", "");
        let _ = writeln!(declarations, "  Real u{scalar};");
        let _ = writeln!(equations, "  u = {};", terms.join(" + "));
        let mut name = "u".to_string();
        for (k, &(factor, alias)) in self.aliases.iter().enumerate() {
            let from = match factor {
                1.0 => name.clone(),
                -1.0 => format!("-{name}"),
                f => format!("{}*{name}", number(f)),
            };
            match alias {
                Alias::Plain => {
                    let _ = writeln!(declarations, "  Real e{k}{scalar};");
                    let _ = writeln!(equations, "  e{k} = {from};");
                }
                Alias::Element => {
                    let _ = writeln!(
                        declarations,
                        "  Real e{k}[2]{nominal} = {{7*{name}, {from}}};"
                    );
                }
                Alias::Loop => {
                    let _ = writeln!(declarations, "  Real e{k}{scalar}, g{k}{scalar};");
                    let _ = writeln!(
                        equations,
                        "  2*e{k} + g{k} = 3*({from}); e{k} + 2*g{k} = 3*({from});"
                    );
                }
            }
            name = match alias {
                Alias::Element => format!("e{k}[2]"),
                _ => format!("e{k}"),
            };
        }
        let [classes, own, driven] = self.driven.text(&number(self.factor), &name, &nominal);
        format!(
            "{classes}model M\n{declarations}  {own}\nequation\n{equations}  {driven}\nend M;\n"
        )
    }

    fn judge(&self, run: &InMemory, tolerance: f64) -> Result<f64, Disagreement> {
        self.compare(&run.result, tolerance)
    }

    fn singular(&self) -> bool {
        !self.jumps().is_empty()
    }

    fn attempt(&self, limits: &TrialLimits) -> RandomOutcome {
        let job = Job::of(self, limits);
        match (attempt(&job, limits.slow), self.singular()) {
            (Attempt::Refused { code, text, rows }, true) => {
                self.judge_refusal(code, text, rows.as_deref(), limits)
            }
            (ran, _) => self.outcome(ran, limits),
        }
    }

    fn smaller(&self) -> Vec<Box<dyn RandomCase>> {
        let mut all: Vec<Signal> = Vec::new();
        let mut add = |change: &dyn Fn(&mut Signal)| {
            let mut other = self.clone();
            change(&mut other);
            all.push(other);
        };
        for pieces in shorter(&self.pieces) {
            add(&|s| s.pieces = pieces.clone());
        }
        for aliases in shorter(&self.aliases) {
            add(&|s| s.aliases = aliases.clone());
        }
        for k in [0, 1, 3].into_iter().filter(|k| self.smooth[*k] != 0.0) {
            add(&|s| s.smooth[k] = 0.0);
        }
        if self.factor != 1.0 {
            add(&|s| s.factor = 1.0);
        }
        all.retain(|s| !s.pieces.is_empty());
        all.into_iter()
            .map(|s| Box::new(s) as Box<dyn RandomCase>)
            .collect()
    }
}
