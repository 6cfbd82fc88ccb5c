//! Functions with algorithms: loops, branches, `while`, `break`, `return`, arrays, recursion, several outputs, against an
//! interpreter of the same syntax tree.
//!
//! Every function has a Real, an Integer and a vector of three as inputs, the same as outputs, and local variables of these
//! types. It may call those before it. The model calls the last one with arguments that depend on time, twice: once with all
//! Real outputs, once inside an expression. Nothing is integrated, so results must agree to rounding.

mod interpret;
mod make;
mod text;

use acausal::{InMemory, Settings};

use super::case::{Disagreement, RandomCase, compare_bounded};
use super::draw::Draw;
use super::shrink::parts;

/// Larger values are not kept.
const LARGEST: f64 = 1e4;
/// Rounding, through a few loops.
const BOUND: f64 = 1e-6;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Functions {
    functions: Vec<Function>,
    /// Calls in the model: which function, and its arguments.
    calls: Vec<(usize, Real, i64, [Real; 3])>,
}

#[derive(Clone, Debug, PartialEq)]
struct Function {
    body: Vec<Statement>,
    /// Calls itself with `n - 1` while `n > 0`.
    recursive: bool,
}

/// Real variables: input `x`, output `y`, locals `r1`, `r2`. Integers: input `n`, output `m`, locals `j1`, `j2`.
#[derive(Clone, Debug, PartialEq)]
enum Real {
    Literal(f64),
    Variable(usize),
    /// Element of input `v` (0) or of output `w` (1).
    Element(usize, Box<Integer>),
    Time,
    Binary(&'static str, Box<[Real; 2]>),
    /// `a/(1 + b^2)`.
    Quotient(Box<[Real; 2]>),
    Call(&'static str, Box<Real>),
    /// `min`, `max`.
    Call2(&'static str, Box<[Real; 2]>),
    If(Box<Condition>, Box<[Real; 2]>),
    Whole(Box<Integer>),
    /// The first output of an earlier function.
    Function(usize, Box<Real>, Box<Integer>),
    /// `sum` of `v` (0) or `w` (1).
    Sum(usize),
}

#[derive(Clone, Debug, PartialEq)]
enum Integer {
    Literal(i64),
    Variable(usize),
    /// The iterator of a loop, by depth.
    Iterator(usize),
    Binary(&'static str, Box<[Integer; 2]>),
    /// `mod`, `div`, `rem` by a literal.
    Divide(&'static str, Box<Integer>, i64),
    /// `integer` of a Real.
    Floor(Box<Real>),
}

#[derive(Clone, Debug, PartialEq)]
enum Condition {
    Reals(&'static str, Box<[Real; 2]>),
    Integers(&'static str, Box<[Integer; 2]>),
    Logical(&'static str, Box<[Condition; 2]>),
    Not(Box<Condition>),
}

#[derive(Clone, Debug, PartialEq)]
enum Statement {
    Real(usize, Real),
    /// Kept small: `mod(value, 97)`.
    Integer(usize, Integer),
    /// Element of the output `w`.
    Element(Integer, Real),
    /// `w := w*a + b*v` as a whole.
    Vector(f64, f64),
    If(Vec<(Condition, Vec<Statement>)>, Vec<Statement>),
    /// Over `1:n`, at a depth of iterators.
    For(usize, usize, Vec<Statement>),
    /// Over the elements of an array of integers.
    ForIn(usize, Vec<i64>, Vec<Statement>),
    /// While a counter is below a bound and a condition holds; the number says which counter.
    While(usize, i64, Condition, Vec<Statement>),
    Break(Condition),
    Return(Condition),
    /// `(r, j, w) := f(...)` of an earlier function.
    Outputs(usize, usize, usize, Real, Integer),
}

/// Number `k` of a sequence.
pub fn case(draw: &mut Draw) -> Box<dyn RandomCase> {
    loop {
        let case = make::make(draw);
        if case.moderate() {
            return Box::new(case);
        }
    }
}

const ROWS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

impl Functions {
    fn moderate(&self) -> bool {
        let fine = |t: &f64| match self.answer(*t) {
            Some(all) => all.iter().all(|v| v.abs() < LARGEST),
            None => false,
        };
        ROWS.iter().all(fine)
    }
}

impl RandomCase for Functions {
    fn settings(&self) -> Settings {
        Settings {
            interval: 0.25,
            ..Settings::default()
        }
    }

    fn text(&self) -> String {
        text::text(self)
    }

    fn judge(&self, run: &InMemory, _tolerance: f64) -> Result<f64, Disagreement> {
        let names: Vec<String> = (0..self.calls.len())
            .flat_map(|k| {
                [
                    format!("y{k}"),
                    format!("w{k}[1]"),
                    format!("w{k}[2]"),
                    format!("w{k}[3]"),
                    format!("z{k}"),
                ]
            })
            .collect();
        let nothing = vec![f64::NAN; names.len()];
        let times = run.result.time().iter();
        let answers: Vec<Vec<f64>> = times
            // Not at events, which inlined conditions may have: one instant has two values there.
            .map(|t| match (4.0 * t).fract() {
                0.0 => self.answer(*t).unwrap_or_else(|| nothing.clone()),
                _ => nothing.clone(),
            })
            .collect();
        compare_bounded(run, &names, BOUND, &answers)
    }

    fn smaller(&self) -> Vec<Box<dyn RandomCase>> {
        let mut all: Vec<Functions> = Vec::new();
        for k in 0..self.calls.len() {
            if self.calls.len() > 1 {
                let mut other = self.clone();
                other.calls.remove(k);
                all.push(other);
            }
        }
        for k in 0..self.functions.len() {
            if self.functions[k].recursive {
                let mut other = self.clone();
                other.functions[k].recursive = false;
                all.push(other);
            }
            for body in smaller_bodies(&self.functions[k].body) {
                let mut other = self.clone();
                other.functions[k].body = body;
                all.push(other);
            }
        }
        let length = self.text().len();
        all.retain(|c| c.text().len() < length && c.moderate());
        all.sort_by_key(|c| c.text().len());
        all.into_iter()
            .map(|c| Box::new(c) as Box<dyn RandomCase>)
            .collect()
    }
}

/// Bodies with statements left out, replaced by what is inside them, or with simpler expressions.
fn smaller_bodies(body: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all: Vec<Vec<Statement>> = Vec::new();
    for part in parts(body.len().max(1)) {
        all.push([&body[..part.start], &body[part.end.min(body.len())..]].concat());
    }
    for (k, s) in body.iter().enumerate() {
        let mut replace = |with: Vec<Statement>| {
            all.push([&body[..k], &with, &body[k + 1..]].concat());
        };
        match s {
            Statement::Real(v, e) if !matches!(e, Real::Literal(_)) => {
                replace(vec![Statement::Real(*v, Real::Literal(1.0))]);
                for e in e.parts() {
                    replace(vec![Statement::Real(*v, e)]);
                }
            }
            Statement::Element(i, e) if !matches!(e, Real::Literal(_)) => {
                replace(vec![Statement::Element(i.clone(), Real::Literal(1.0))]);
            }
            Statement::Integer(v, e) if !matches!(e, Integer::Literal(_)) => {
                replace(vec![Statement::Integer(*v, Integer::Literal(1))]);
            }
            Statement::If(branches, other) => {
                for (c, b) in branches {
                    for b in smaller_bodies(b) {
                        replace(vec![Statement::If(vec![(c.clone(), b)], other.clone())]);
                    }
                }
                for o in smaller_bodies(other) {
                    replace(vec![Statement::If(branches.clone(), o)]);
                }
            }
            Statement::For(d, n, b) => {
                for b in smaller_bodies(b) {
                    replace(vec![Statement::For(*d, *n, b)]);
                }
                if *n > 1 {
                    replace(vec![Statement::For(*d, 1, b.clone())]);
                }
            }
            Statement::ForIn(d, list, b) => {
                replace(vec![Statement::For(*d, 2, b.clone())]);
                for b in smaller_bodies(b) {
                    replace(vec![Statement::ForIn(*d, list.clone(), b)]);
                }
            }
            Statement::While(d, n, c, b) => {
                for b in smaller_bodies(b) {
                    replace(vec![Statement::While(*d, *n, c.clone(), b)]);
                }
            }
            _ => {}
        }
    }
    all
}

impl Real {
    /// Parts that are Real themselves.
    fn parts(&self) -> Vec<Real> {
        match self {
            Real::Binary(_, ab) | Real::Quotient(ab) | Real::Call2(_, ab) | Real::If(_, ab) => {
                ab.to_vec()
            }
            Real::Call(_, a) | Real::Function(_, a, _) => vec![(**a).clone()],
            _ => Vec::new(),
        }
    }
}
