//! Starts: linear differential and algebraic equations with initial conditions of many kinds. The answer: a direct solve at the start, and the matrix
//! exponential from there.
//!
//! ```text
//! x' = A x + B z + P p + u      states
//! z  = C x + D z + v            algebraic unknowns, small D
//! p  constant, wherever it must be (fixed = false)
//! ```
//!
//! There are as many conditions as states and free parameters: fixed starts, given derivatives, steady states, given algebraic unknowns, sums of states,
//! derivatives that equal something else. All unknowns of the start together are one linear system; it is drawn again until it is well-conditioned. Some cases
//! have one condition more, which says the same once again (accepted) or something else (refused).

use std::fmt::Write;

use acausal::{InMemory, Settings};

use super::case::{ALLOWED, Disagreement, RandomCase, TRAJECTORY, compare_bounded};
use super::draw::{Draw, number};
use super::matrix::{DenseMatrix, exponential, times, zeros};
use super::orthogonal::Qr;

const STOP: f64 = 1.0;
const INTERVAL: f64 = 0.05;
/// Starts with a larger condition number are drawn again.
const WORST_CONDITION: f64 = 1e4;
/// So are answers that grow beyond this, since errors grow with them.
const LARGEST: f64 = 100.0;

/// See the module. Unknowns of the start are numbered: states, derivatives, algebraic unknowns, parameters.
#[derive(Clone, Debug)]
struct Start {
    states: usize,
    algebraic: usize,
    free: usize,
    /// `x' = ...` and `z = ...`: coefficients of states, algebraic unknowns and parameters, then a constant.
    equations: Vec<Equation>,
    conditions: Vec<Condition>,
    /// A last condition that has nothing left to determine.
    surplus: Option<Surplus>,
    /// States are an array.
    array: bool,
    /// Guesses of what is not fixed.
    guesses: Vec<f64>,
    order: u64,
}

#[derive(Clone, Debug)]
struct Equation {
    terms: Vec<(usize, f64)>,
    constant: f64,
}

#[derive(Clone, Debug)]
enum Condition {
    /// `x(start = v, fixed = true)`.
    Fixed(usize, f64),
    /// An initial equation: the sum of terms equals a value.
    Sum(Vec<(usize, f64)>, f64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Surplus {
    /// The first condition that is an equation once again.
    Same,
    /// A state at another value than it has.
    Other(usize, f64),
}

/// Number `k` of a sequence.
pub fn case(draw: &mut Draw) -> Box<dyn RandomCase> {
    loop {
        let case = once(draw);
        if let Some((answer, condition)) = case.start()
            && condition < WORST_CONDITION
            && answer.iter().all(|v| v.abs() < LARGEST)
            && case
                .trajectory(&answer)
                .iter()
                .flatten()
                .all(|v| v.abs() < LARGEST)
        {
            return Box::new(case);
        }
    }
}

fn once(draw: &mut Draw) -> Start {
    let (n, m) = (draw.range(1, 7), draw.below(5));
    let free = if draw.chance(30) { draw.range(1, 2) } else { 0 };
    let mut equations = Vec::new();
    for k in 0..n + m {
        let mut terms: Vec<(usize, f64)> = Vec::new();
        let mut add = |at: usize, c: f64| {
            if terms.iter().all(|t| t.0 != at) {
                terms.push((at, c));
            }
        };
        // States decay by themselves; algebraic unknowns do not contain themselves.
        if k < n {
            add(k, -draw.real(0.3, 3.0));
        }
        for _ in 0..draw.range(1, 3) {
            let c = draw.signed(0.1, 1.0);
            match draw.chance(30) && m > 0 {
                true => {
                    let z = draw.below(m);
                    if k != n + z {
                        add(2 * n + z, 0.4 * c);
                    }
                }
                false => add(draw.below(n), c),
            }
        }
        if k < n && free > 0 && draw.chance(50) {
            add(2 * n + m + draw.below(free), draw.signed(0.5, 2.0));
        }
        let constant = if draw.chance(60) {
            draw.signed(0.2, 2.0)
        } else {
            0.0
        };
        equations.push(Equation { terms, constant });
    }
    let mut fixed: Vec<usize> = Vec::new();
    let mut conditions = Vec::new();
    for _ in 0..n + free {
        let k = draw.below(n);
        let value = draw.signed(0.0, 2.0);
        conditions.push(match draw.below(7) {
            0..=2 if !fixed.contains(&k) => {
                fixed.push(k);
                Condition::Fixed(k, value)
            }
            0 | 1 => Condition::Sum(vec![(n + k, 1.0)], 0.0),
            2 | 3 => Condition::Sum(vec![(n + k, 1.0)], value),
            4 if m > 0 => Condition::Sum(vec![(2 * n + draw.below(m), 1.0)], value),
            5 => Condition::Sum(
                vec![(n + k, 1.0), (draw.below(n), draw.signed(0.5, 2.0))],
                value,
            ),
            _ => {
                let other = draw.below(n);
                let mut sum = vec![(k, 1.0)];
                if other != k {
                    sum.push((other, draw.signed(0.5, 2.0)));
                }
                Condition::Sum(sum, value)
            }
        });
    }
    Start {
        states: n,
        algebraic: m,
        free,
        equations,
        conditions,
        surplus: match draw.below(20) {
            0 => Some(Surplus::Same),
            1 => Some(Surplus::Other(draw.below(n), draw.signed(0.5, 2.0))),
            _ => None,
        },
        array: draw.chance(40),
        guesses: (0..n).map(|_| draw.signed(0.0, 2.0)).collect(),
        order: if draw.chance(50) { draw.bits() | 1 } else { 0 },
    }
}

impl Start {
    /// All unknowns at the start, and the condition number of their equations; nothing if they are not independent.
    fn start(&self) -> Option<(Vec<f64>, f64)> {
        let (n, m) = (self.states, self.algebraic);
        let size = 2 * n + m + self.free;
        let mut a = zeros(size, size);
        let mut b = vec![0.0; size];
        for (k, e) in self.equations.iter().enumerate() {
            // The derivative of state k stands at n + k, algebraic unknown k - n at 2 n + k - n.
            a[k][n + k] += 1.0;
            for &(j, c) in &e.terms {
                a[k][j] -= c;
            }
            b[k] = e.constant;
        }
        for (k, c) in self.conditions.iter().enumerate() {
            let row = n + m + k;
            match c {
                Condition::Fixed(j, v) => (a[row][*j], b[row]) = (1.0, *v),
                Condition::Sum(terms, v) => {
                    for &(j, c) in terms {
                        a[row][j] += c;
                    }
                    b[row] = *v;
                }
            }
        }
        let qr = Qr::new(a)?;
        Some((qr.solve(&b), qr.condition()))
    }

    /// States, algebraic unknowns at multiples of the interval, from all unknowns at the start.
    fn trajectory(&self, start: &[f64]) -> Vec<Vec<f64>> {
        let (n, m) = (self.states, self.algebraic);
        // z = (1 - D)^-1 (C x + v), column by column; the last one is the constant.
        let mut loops = super::matrix::identity(m);
        let mut right = zeros(m, n + 1);
        let mut slope = zeros(n + 1, n + 1);
        let mut couples = zeros(n, m);
        for (k, e) in self.equations.iter().enumerate() {
            for &(j, c) in &e.terms {
                match (k < n, j) {
                    (true, j) if j < n => slope[k][j] += c,
                    (true, j) if j < 2 * n + m => couples[k][j - 2 * n] += c,
                    (true, j) => slope[k][n] += c * start[j],
                    (false, j) if j < n => right[k - n][j] += c,
                    (false, j) => loops[k - n][j - 2 * n] -= c,
                }
            }
            match k < n {
                true => slope[k][n] += e.constant,
                false => right[k - n][n] += e.constant,
            }
        }
        let mut z: DenseMatrix = zeros(m, n + 1);
        if let Some(qr) = Qr::new(loops) {
            for j in 0..=n {
                let column: Vec<f64> = right.iter().map(|r| r[j]).collect();
                for (k, v) in qr.solve(&column).into_iter().enumerate() {
                    z[k][j] = v;
                }
            }
        }
        for k in 0..n {
            for j in 0..=n {
                slope[k][j] += (0..m).map(|i| couples[k][i] * z[i][j]).sum::<f64>();
            }
        }
        let scaled: DenseMatrix = slope
            .iter()
            .map(|r| r.iter().map(|v| v * INTERVAL).collect())
            .collect();
        let step = exponential(&scaled);
        let mut x: Vec<f64> = start[..n].to_vec();
        x.push(1.0);
        let mut rows = Vec::new();
        for _ in 0..=(STOP / INTERVAL).round() as usize {
            let mut row = x[..n].to_vec();
            row.extend(times(&z, &x));
            rows.push(row);
            x = times(&step, &x);
        }
        rows
    }

    fn name(&self, k: usize) -> String {
        let (n, m) = (self.states, self.algebraic);
        match k {
            k if k < n && self.array => format!("x[{}]", k + 1),
            k if k < n => format!("x{}", k + 1),
            k if k < 2 * n => format!("der({})", self.name(k - n)),
            k if k < 2 * n + m => format!("z{}", k - 2 * n + 1),
            k => format!("p{}", k - 2 * n - m + 1),
        }
    }

    fn sum(&self, terms: &[(usize, f64)]) -> String {
        let each = terms
            .iter()
            .map(|&(j, c)| format!("{}*{}", number(c), self.name(j)));
        each.collect::<Vec<_>>().join(" + ")
    }
}

impl RandomCase for Start {
    fn settings(&self) -> Settings {
        Settings {
            stop: STOP,
            interval: INTERVAL,
            ..Settings::default()
        }
    }

    fn singular(&self) -> bool {
        let Some(Surplus::Other(k, off)) = self.surplus else {
            return false;
        };
        self.start().is_some_and(|(x, _)| x[k] + off != x[k])
    }

    fn text(&self) -> String {
        let (n, m) = (self.states, self.algebraic);
        let fixed = |k: usize| {
            self.conditions.iter().find_map(|c| match c {
                Condition::Fixed(j, v) if *j == k => Some(*v),
                _ => None,
            })
        };
        let mut out = "model M\n".to_string();
        match self.array {
            true => {
                let starts: Vec<String> = (0..n)
                    .map(|k| number(fixed(k).unwrap_or(self.guesses[k])))
                    .collect();
                let which: Vec<String> = (0..n).map(|k| fixed(k).is_some().to_string()).collect();
                let _ = writeln!(
                    out,
                    "  Real x[{n}](start = {{{}}}, fixed = {{{}}});",
                    starts.join(", "),
                    which.join(", ")
                );
            }
            false => {
                for k in 0..n {
                    let _ = match fixed(k) {
                        Some(v) => writeln!(out, "  Real x{}(start = {v:?}, fixed = true);", k + 1),
                        None => writeln!(out, "  Real x{}(start = {:?});", k + 1, self.guesses[k]),
                    };
                }
            }
        }
        for k in 0..m {
            let _ = writeln!(out, "  Real z{};", k + 1);
        }
        for k in 0..self.free {
            let _ = writeln!(
                out,
                "  parameter Real p{}(fixed = false, start = 0.3);",
                k + 1
            );
        }
        let mut initial: Vec<String> = Vec::new();
        for c in &self.conditions {
            if let Condition::Sum(terms, v) = c {
                initial.push(format!("{} = {};", self.sum(terms), number(*v)));
            }
        }
        match self.surplus {
            Some(Surplus::Same) => initial.extend(initial.first().cloned()),
            Some(Surplus::Other(k, off)) => {
                let value = self.start().map_or(0.0, |(x, _)| x[k]);
                initial.push(format!("{} = {:?};", self.name(k), value + off));
            }
            None => {}
        }
        let mut equations: Vec<String> = Vec::new();
        for (k, e) in self.equations.iter().enumerate() {
            let constant = match e.constant {
                0.0 => String::new(),
                c => format!(" + {}", number(c)),
            };
            let sum = match e.terms.is_empty() {
                true => "0".to_string(),
                false => self.sum(&e.terms),
            };
            equations.push(format!("{} = {sum}{constant};", self.name(n + k)));
        }
        if self.order != 0 {
            let mut draw = Draw::new(self.order, 0);
            draw.shuffle(&mut initial);
            draw.shuffle(&mut equations);
        }
        if !initial.is_empty() {
            let _ = writeln!(out, "initial equation\n  {}", initial.join("\n  "));
        }
        let _ = writeln!(out, "equation\n  {}", equations.join("\n  "));
        out.push_str("end M;\n");
        out
    }

    fn judge(&self, run: &InMemory, tolerance: f64) -> Result<f64, Disagreement> {
        let Some((start, _)) = self.start() else {
            return Err(Disagreement::missing("a regular start"));
        };
        let (n, m) = (self.states, self.algebraic);
        let rows = self.trajectory(&start);
        let names: Vec<String> = (0..n)
            .chain(2 * n..2 * n + m)
            .map(|k| self.name(k))
            .collect();
        let of = |t: f64| ((t / INTERVAL).round() as usize).min(rows.len() - 1);
        let answers: Vec<Vec<f64>> = run
            .result
            .time()
            .iter()
            .map(|&t| rows[of(t)].clone())
            .collect();
        let scale = start.iter().fold(1.0f64, |m, v| m.max(v.abs()));
        // At the start there is no history, and parameters keep what they have there.
        let mut begin = answers.clone();
        begin.iter_mut().skip(1).for_each(|row| row.fill(f64::NAN));
        let exact = compare_bounded(run, &names, ALLOWED * tolerance * scale, &begin)?;
        let parameters = 2 * n + m..2 * n + m + self.free;
        let free: Vec<String> = parameters.clone().map(|k| self.name(k)).collect();
        let values = vec![start[parameters].to_vec(); answers.len()];
        let free = compare_bounded(run, &free, ALLOWED * tolerance * scale, &values)?;
        let later = compare_bounded(run, &names, TRAJECTORY * tolerance * scale, &answers)?;
        Ok(exact.max(free).max(later))
    }

    fn smaller(&self) -> Vec<Box<dyn RandomCase>> {
        let mut all: Vec<Start> = Vec::new();
        let mut change = |f: &dyn Fn(&mut Start)| {
            let mut other = self.clone();
            f(&mut other);
            all.push(other);
        };
        for k in 0..self.equations.len() {
            for t in 0..self.equations[k].terms.len() {
                change(&|c| {
                    c.equations[k].terms.remove(t);
                });
            }
            if self.equations[k].constant != 0.0 {
                change(&|c| c.equations[k].constant = 0.0);
            }
        }
        if self.order != 0 {
            change(&|c| c.order = 0);
        }
        if self.array {
            change(&|c| c.array = false);
        }
        all.retain(|c| c.start().is_some_and(|(_, k)| k < WORST_CONDITION));
        all.into_iter()
            .map(|c| Box::new(c) as Box<dyn RandomCase>)
            .collect()
    }
}
