//! Two inertias on a gear without play, `w1 = r*w2`, turned by a constant torque and struck once: `reinit` gives new speeds. One of them is a new
//! start, and the other follows; both against the gear are a contradiction, which must be refused. Speeds are straight lines between.

use acausal::{InMemory, Settings};

use super::{Disagreement, Draw, INTERVAL, RandomCase, STOP, TRAJECTORY, number};
use crate::random::case::compare_within;

/// See the module.
#[derive(Clone, Debug)]
struct Strike {
    inertias: [f64; 2],
    ratio: f64,
    torque: f64,
    /// Speed of the second inertia at the start.
    start: f64,
    at: f64,
    /// Its speed after the strike.
    speed: f64,
    struck: Struck,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Struck {
    First,
    Second,
    /// The first one gets this much more than the gear allows.
    Contradiction(f64),
}

pub(super) fn case(draw: &mut Draw) -> Box<dyn RandomCase> {
    let struck = match draw.below(3) {
        0 => Struck::First,
        1 => Struck::Second,
        _ => Struck::Contradiction(10f64.powi(draw.below(6) as i32 - 2)),
    };
    Box::new(Strike {
        inertias: [draw.real(0.2, 4.0), draw.real(0.2, 4.0)],
        ratio: draw.signed(0.3, 3.0),
        torque: draw.signed(0.1, 5.0),
        start: draw.signed(0.1, 3.0),
        at: draw.real(0.1, 0.9),
        speed: draw.signed(0.1, 3.0),
        struck,
    })
}

impl Strike {
    fn speeds(&self, t: f64) -> [f64; 2] {
        let [a, b] = self.inertias;
        let slope = self.torque / (b + self.ratio * self.ratio * a);
        let (from, since) = match t < self.at {
            true => (self.start, t),
            false => (self.speed, t - self.at),
        };
        let w = from + slope * since;
        [self.ratio * w, w]
    }
}

impl RandomCase for Strike {
    fn settings(&self) -> Settings {
        Settings {
            stop: STOP,
            interval: INTERVAL,
            ..Settings::default()
        }
    }

    fn text(&self) -> String {
        let [a, b] = self.inertias.map(number);
        let [r, torque, at] = [self.ratio, self.torque, self.at].map(number);
        let (start, second) = (number(self.start), number(self.speed));
        let first = |more: f64| number(self.ratio * self.speed + more);
        let strikes = match self.struck {
            Struck::First => format!("reinit(w1, {});", first(0.0)),
            Struck::Second => format!("reinit(w2, {second});"),
            Struck::Contradiction(more) => {
                format!("reinit(w1, {}); reinit(w2, {second});", first(more))
            }
        };
        format!(
            "model M\n  Real w1, w2(start = {start}, fixed = true), tau;\nequation\n  w1 = {r}*w2;\n  {a}*der(w1) = tau;\n  {b}*der(w2) = {torque} - {r}*tau;\n  when time >= {at} then {strikes} end when;\nend M;\n"
        )
    }

    fn judge(&self, run: &InMemory, tolerance: f64) -> Result<f64, Disagreement> {
        let names = ["w1".to_string(), "w2".to_string()];
        compare_within(run, &names, TRAJECTORY * tolerance, |t| {
            match (t - self.at).abs() < 1e-9 {
                true => vec![f64::NAN; 2],
                false => self.speeds(t).to_vec(),
            }
        })
    }

    fn singular(&self) -> bool {
        matches!(self.struck, Struck::Contradiction(_))
    }

    fn smaller(&self) -> Vec<Box<dyn RandomCase>> {
        let mut all: Vec<Strike> = Vec::new();
        for (k, value) in self.inertias.iter().enumerate() {
            if *value != 1.0 {
                let mut other = self.clone();
                other.inertias[k] = 1.0;
                all.push(other);
            }
        }
        if self.ratio != 1.0 {
            all.push(Strike {
                ratio: 1.0,
                ..self.clone()
            });
        }
        all.into_iter()
            .map(|s| Box::new(s) as Box<dyn RandomCase>)
            .collect()
    }
}
