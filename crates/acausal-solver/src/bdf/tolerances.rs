//! Absolute tolerances and which variables the error test looks at, as runs of equal ones.
//!
//! A vector of tolerances and one that says who is tested would be read in every pass over the norms. Unknowns come as arrays, and
//! the elements of an array have the same nominal value and role: a few runs describe a million of them. Where runs would be short,
//! in small models and those without arrays, vectors are kept.
//!
//! Invariant: the pieces cover a range in order. Example: nominal values `1 1 1 1 5 5` with the last two not tested are two
//! runs, up to 4 and up to 6.

use super::BdfOptions;
use super::kernels::{Tolerance, Weights};
use std::ops::Range;

/// Mean length from which on runs are worth it: each costs a few nanoseconds.
const LEAST_MEAN: usize = 64;

/// The tolerances of all variables.
#[derive(Clone, Debug)]
pub(crate) struct Tolerances {
    rtol: f64,
    form: Form,
    /// Number of variables in the error test.
    tested: f64,
}

#[derive(Clone, Debug)]
enum Form {
    Runs(Vec<ToleranceRun>),
    /// The mask is 1 for variables in the error test, 0 for others; absent when all are in.
    Each {
        atol: Vec<f64>,
        mask: Option<Vec<f64>>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct ToleranceRun {
    end: usize,
    atol: f64,
    tested: bool,
}

/// Variables with one tolerance, or one each.
pub(crate) struct UniformPiece<'a> {
    pub range: Range<usize>,
    pub atol: Tolerance<'a>,
    /// The factors of the error test; without them all variables of the piece count, or none.
    pub mask: Option<&'a [f64]>,
    pub tested: bool,
}

impl Tolerances {
    /// Those of n variables; the options were checked.
    pub fn new(options: &BdfOptions, n: usize) -> Tolerances {
        let atol = |i: usize| options.atol[if options.atol.len() == 1 { 0 } else { i }];
        let tested = |i: usize| options.error_test.get(i).copied().unwrap_or(true);
        let mut runs: Vec<ToleranceRun> = Vec::new();
        for i in 0..n {
            let run = ToleranceRun {
                end: i + 1,
                atol: atol(i),
                tested: tested(i),
            };
            match runs.last_mut() {
                Some(last) if (last.atol, last.tested) == (run.atol, run.tested) => {
                    last.end = i + 1
                }
                _ => runs.push(run),
            }
        }
        let all = (0..n).all(tested);
        let form = if runs.len() == 1 || runs.len() * LEAST_MEAN <= n {
            Form::Runs(runs)
        } else {
            let factor = |i| if tested(i) { 1.0 } else { 0.0 };
            Form::Each {
                atol: (0..n).map(atol).collect(),
                mask: (!all).then(|| (0..n).map(factor).collect()),
            }
        };
        Tolerances {
            rtol: options.rtol,
            form,
            // An empty system (events in time only) is allowed; its norms are zero.
            tested: (0..n).filter(|&i| tested(i)).count().max(1) as f64,
        }
    }

    /// Number of variables in the error test, at least one.
    pub fn tested(&self) -> f64 {
        self.tested
    }

    /// Whether all variables are in the error test.
    pub fn all_tested(&self) -> bool {
        match &self.form {
            Form::Runs(runs) => runs.iter().all(|r| r.tested),
            Form::Each { mask, .. } => mask.is_none(),
        }
    }

    /// The pieces of a range, in order.
    pub fn pieces(&self, range: Range<usize>) -> impl Iterator<Item = UniformPiece<'_>> {
        let (runs, each) = match &self.form {
            Form::Runs(runs) => (&runs[..], None),
            Form::Each { atol, mask } => (&[][..], Some((atol, mask))),
        };
        let mut start = range.start;
        let end = range.end;
        let first = runs.partition_point(|r| r.end <= start);
        let inside = runs[first..].iter().map_while(move |run| {
            let piece = start..run.end.min(end);
            start = piece.end;
            (!piece.is_empty()).then_some(UniformPiece {
                range: piece,
                atol: Tolerance::Uniform(run.atol),
                mask: None,
                tested: run.tested,
            })
        });
        let each = each.map(|(atol, mask)| UniformPiece {
            atol: Tolerance::Each(&atol[range.clone()]),
            mask: mask.as_ref().map(|m| &m[range.clone()]),
            tested: true,
            range,
        });
        inside.chain(each)
    }

    /// The error weight of variable i with value y.
    pub fn weight(&self, i: usize, y: f64) -> f64 {
        1.0 / (self.rtol * y.abs() + self.atol(i))
    }

    /// The same, zero if the variable is not in the error test.
    pub fn tested_weight(&self, i: usize, y: f64) -> f64 {
        let tested = match &self.form {
            Form::Runs(runs) => runs[run_of(runs, i)].tested,
            Form::Each { mask, .. } => mask.as_ref().is_none_or(|m| m[i] != 0.0),
        };
        if tested { self.weight(i, y) } else { 0.0 }
    }

    /// The weights of a piece of a solution.
    pub fn weights<'a>(&self, piece: &UniformPiece<'a>, y: &'a [f64]) -> Weights<'a> {
        Weights {
            y: &y[piece.range.clone()],
            rtol: self.rtol,
            atol: piece.atol,
        }
    }

    fn atol(&self, i: usize) -> f64 {
        match &self.form {
            Form::Runs(runs) => runs[run_of(runs, i)].atol,
            Form::Each { atol, .. } => atol[i],
        }
    }
}

fn run_of(runs: &[ToleranceRun], i: usize) -> usize {
    runs.partition_point(|r| r.end <= i)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both forms say what the options say.
    #[test]
    fn runs_and_vectors_tell_the_same() {
        for length in [1, 2, 63, 64, 100] {
            let n = 3 * length;
            let options = BdfOptions {
                rtol: 0.5,
                atol: (0..n).map(|i| (i / length) as f64 + 1.0).collect(),
                error_test: (0..n).map(|i| i >= length).collect(),
                ..BdfOptions::default()
            };
            let t = Tolerances::new(&options, n);
            assert_eq!(matches!(t.form, Form::Runs(_)), length >= LEAST_MEAN);
            assert_eq!(t.tested(), 2.0 * length as f64);
            assert!(!t.all_tested());
            for (a, b) in [(0, n), (0, n / 2), (n / 2, n), (length, 2 * length)] {
                let ends: Vec<Range<usize>> = t.pieces(a..b).map(|p| p.range).collect();
                let lengths: usize = ends.iter().map(ExactSizeIterator::len).sum();
                assert_eq!(lengths, b - a);
                assert_eq!(ends.first().map_or(a, |r| r.start), a);
                assert!(ends.windows(2).all(|w| w[0].end == w[1].start));
            }
            for i in 0..n {
                let weight = 1.0 / (0.5 * 3.0 + options.atol[i]);
                assert_eq!(t.weight(i, -3.0), weight);
                let expected = if options.error_test[i] { weight } else { 0.0 };
                assert_eq!(t.tested_weight(i, -3.0), expected);
            }
        }
    }
}
