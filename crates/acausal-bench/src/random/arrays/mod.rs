//! Array expressions: slices, ranges, index vectors, comprehensions, reductions, products of matrices, `cat`, `transpose` and
//! the constructors, nested at random, against plain evaluation in Rust.
//!
//! A model has arrays whose elements are linear in time, and outputs that are expressions of them and of earlier outputs, as
//! bindings or equations. Nothing is integrated, so results must agree to rounding.

mod expr;
mod make;

use std::fmt::Write;

use acausal::{InMemory, Settings};

use super::case::{Disagreement, RandomCase, compare_bounded};
use super::draw::{Draw, number};
use super::shrink::shorter;
use expr::{Expr, Value};

/// Larger intermediate values are not kept: they would hide what is wrong in small ones.
const LARGEST: f64 = 1e5;
/// Rounding of a few hundred operations on values up to [`LARGEST`].
const BOUND: f64 = 1e-8;
/// Relative error of a sine whose argument, a sum of some products, is as large as [`LARGEST`]: the order of the sum decides about the last digits.
const SINE: f64 = 8.0 * f64::EPSILON * LARGEST;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Arrays {
    bases: Vec<Base>,
    outputs: Vec<Output>,
    /// Sizes are written as parameters.
    named_sizes: bool,
}

/// An array whose elements are `a + b*time`.
#[derive(Clone, Debug)]
struct Base {
    dims: Vec<usize>,
    constant: Vec<f64>,
    slope: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Output {
    dims: Vec<usize>,
    expr: Expr,
    /// An equation instead of a binding.
    equation: bool,
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

/// Names of arrays: bases, then outputs.
fn name(bases: usize, k: usize) -> String {
    match k < bases {
        true => format!("A{k}"),
        false => format!("y{}", k - bases),
    }
}

impl Arrays {
    /// The values of all arrays at a time; nothing if one is too large on the way.
    fn evaluate(&self, t: f64) -> Option<Vec<Value>> {
        let mut all: Vec<Value> = Vec::new();
        for b in &self.bases {
            let data = b.constant.iter().zip(&b.slope).map(|(a, b)| a + b * t);
            all.push(Value {
                dims: b.dims.clone(),
                data: data.collect(),
            });
        }
        for o in &self.outputs {
            let mut largest = 0.0f64;
            let value = o.expr.value(&all, t, &[], &mut largest);
            if largest.is_nan() || largest >= LARGEST {
                return None;
            }
            debug_assert_eq!(value.dims, o.dims);
            all.push(value);
        }
        Some(all)
    }

    fn moderate(&self) -> bool {
        [0.0, 0.25, 0.5, 0.75, 1.0]
            .iter()
            .all(|t| self.evaluate(*t).is_some())
    }

    fn size(&self, n: usize) -> String {
        if self.named_sizes {
            format!("n{n}")
        } else {
            n.to_string()
        }
    }
}

impl RandomCase for Arrays {
    fn settings(&self) -> Settings {
        Settings {
            interval: 0.25,
            ..Settings::default()
        }
    }

    fn text(&self) -> String {
        let mut out = "model M\n".to_string();
        let mut equations = String::new();
        let dims = |d: &[usize]| match d.is_empty() {
            true => String::new(),
            false => {
                let all: Vec<String> = d.iter().map(|n| self.size(*n)).collect();
                format!("[{}]", all.join(", "))
            }
        };
        if self.named_sizes {
            for n in 1..=9 {
                let _ = writeln!(out, "  parameter Integer n{n} = {n};");
            }
        }
        for (k, b) in self.bases.iter().enumerate() {
            let elements: Vec<String> = b
                .constant
                .iter()
                .zip(&b.slope)
                .map(|(a, b)| match b {
                    0.0 => format!("{a:?}"),
                    b => format!("{a:?} + {}*time", number(*b)),
                })
                .collect();
            let _ = writeln!(
                out,
                "  Real A{k}{} = {};",
                dims(&b.dims),
                nested(&b.dims, &elements)
            );
        }
        for (k, o) in self.outputs.iter().enumerate() {
            let text = o.expr.text(self);
            let shape = dims(&o.dims);
            let _ = match o.equation {
                true => writeln!(out, "  Real y{k}{shape};")
                    .and_then(|()| writeln!(equations, "  y{k} = {text};")),
                false => writeln!(out, "  Real y{k}{shape} = {text};"),
            };
        }
        if !equations.is_empty() {
            let _ = write!(out, "equation\n{equations}");
        }
        out.push_str("end M;\n");
        out
    }

    fn judge(&self, run: &InMemory, _tolerance: f64) -> Result<f64, Disagreement> {
        let mut names = Vec::new();
        for (k, o) in self.outputs.iter().enumerate() {
            for place in 0..o.dims.iter().product() {
                names.push(format!("y{k}{}", subscripts(&o.dims, place)));
            }
        }
        let answers: Vec<Vec<f64>> = run
            .result
            .time()
            .iter()
            .map(|t| {
                // Not at the events of conditions, where one instant has two values.
                if (4.0 * t).fract() != 0.0 {
                    return vec![f64::NAN; names.len()];
                }
                let all = self.evaluate(*t).unwrap_or_default();
                all.into_iter()
                    .skip(self.bases.len())
                    .flat_map(|v| v.data)
                    .collect()
            })
            .collect();
        let largest = answers.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
        compare_bounded(run, &names, BOUND.max(SINE * largest), &answers)
    }

    fn smaller(&self) -> Vec<Box<dyn RandomCase>> {
        let mut all: Vec<Arrays> = Vec::new();
        let n = self.bases.len();
        // Outputs that no other output reads.
        for k in (0..self.outputs.len()).rev() {
            if self.outputs.iter().all(|o| !o.expr.reads(n + k)) && self.outputs.len() > 1 {
                let mut other = self.clone();
                other.outputs.remove(k);
                for o in &mut other.outputs {
                    o.expr.renumber(n + k);
                }
                all.push(other);
            }
        }
        for k in (0..n).rev() {
            if self.outputs.iter().all(|o| !o.expr.reads(k)) {
                let mut other = self.clone();
                other.bases.remove(k);
                for o in &mut other.outputs {
                    o.expr.renumber(k);
                }
                all.push(other);
            }
        }
        for (k, o) in self.outputs.iter().enumerate() {
            for (dims, expr) in o.expr.smaller(self) {
                // Another shape only if nobody reads it.
                if dims == o.dims || self.outputs.iter().all(|o| !o.expr.reads(n + k)) {
                    let mut other = self.clone();
                    other.outputs[k] = Output {
                        dims,
                        expr,
                        equation: o.equation,
                    };
                    all.push(other);
                }
            }
        }
        if self.named_sizes {
            let mut other = self.clone();
            other.named_sizes = false;
            all.push(other);
        }
        for (k, b) in self.bases.iter().enumerate() {
            if b.slope.iter().any(|s| *s != 0.0) {
                let mut other = self.clone();
                other.bases[k].slope.fill(0.0);
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

/// `{{a, b}, {c, d}}`.
fn nested(dims: &[usize], elements: &[String]) -> String {
    match dims.split_first() {
        None => elements[0].clone(),
        Some((_, rest)) => {
            let step: usize = rest.iter().product();
            let parts: Vec<String> = elements.chunks(step).map(|c| nested(rest, c)).collect();
            format!("{{{}}}", parts.join(", "))
        }
    }
}

/// `[2,1]` of a place.
fn subscripts(dims: &[usize], place: usize) -> String {
    let mut all = Vec::new();
    let mut rest = place;
    for d in dims.iter().rev() {
        all.push((rest % d + 1).to_string());
        rest /= d;
    }
    all.reverse();
    match all.is_empty() {
        true => String::new(),
        false => format!("[{}]", all.join(",")),
    }
}

/// Lists with a part left out, for shrinking.
fn fewer<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    shorter(items)
        .into_iter()
        .filter(|l| !l.is_empty())
        .collect()
}
