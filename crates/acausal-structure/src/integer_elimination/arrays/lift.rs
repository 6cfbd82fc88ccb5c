//! From decisions at three short lengths to those at the real length.

use super::elements::{Answer, Form, Place, Region};
use super::shrink::{Shrunk, lifted};
use super::{ArrayConstraint, ArrayDecisions, ArraySystem, ArrayTerm};
use crate::VarId;
use crate::segments::frames::{Coordinates, Dim};
use crate::segments::{Index, Span};

/// The decisions at the real lengths, if the three answers are the same with ends that move with the cuts.
pub(super) fn lift(
    system: &ArraySystem,
    coordinates: &Coordinates,
    sizes: &[Shrunk; 3],
    answers: &[Answer; 3],
) -> Option<ArrayDecisions> {
    let lift = Lift {
        system,
        coordinates,
        sizes,
    };
    let mut out = ArrayDecisions::default();
    for [a, b, c] in threes(answers, |a| &a.redundant)? {
        if a.0 != b.0 || a.0 != c.0 {
            return None;
        }
        let dim = |k| coordinates.of_equation(a.0 as usize, k);
        let spans = lift.spans([&a.1, &b.1, &c.1], dim)?;
        out.redundant.push((a.0 as usize, spans));
    }
    for [a, b, c] in threes(answers, |a| &a.free)? {
        if a.0 != b.0 || a.0 != c.0 {
            return None;
        }
        let dim = |k| coordinates.of_variable(a.0 as usize, k);
        let spans = lift.spans([&a.1, &b.1, &c.1], dim)?;
        out.free.push((VarId(a.0), spans));
    }
    for three in threes(answers, |a| &a.constraints)? {
        out.constraints.push(lift.constraint(three)?);
    }
    for three in threes(answers, |a| &a.parameter_constraints)? {
        out.parameter_constraints.push(lift.constraint(three)?);
    }
    Some(out)
}

/// The decisions about a system of which nothing was shortened.
pub(super) fn whole(
    system: &ArraySystem,
    coordinates: &Coordinates,
    size: &Shrunk,
    answer: &Answer,
) -> ArrayDecisions {
    debug_assert!(size.is_whole());
    let spans = |range: &Region, dim: &dyn Fn(usize) -> Dim| -> Vec<Span> {
        let ends = range.iter().enumerate();
        ends.map(|(k, &(a, b))| dim(k).indices(a, b - a + 1))
            .collect()
    };
    let constraint = |(e, range, form): &(u32, Region, Form)| {
        let dim = |k| coordinates.of_equation(*e as usize, k);
        let terms = form.iter().map(|(v, factor, places)| {
            let index = places.iter().enumerate().map(|(k, place)| {
                let var = coordinates.of_variable(*v as usize, k);
                match *place {
                    Place::Beside(j, distance) => beside(dim(j), var, j, distance),
                    Place::Between(a, b) => between(var, a, b),
                }
            });
            (VarId(*v), index.collect(), *factor)
        });
        ArrayConstraint {
            replaces: *e as usize,
            at: spans(range, &dim),
            terms: terms.map(|t| compact(system, t)).collect(),
        }
    };
    ArrayDecisions {
        redundant: answer
            .redundant
            .iter()
            .map(|(e, b)| {
                let dim = |k| coordinates.of_equation(*e as usize, k);
                (*e as usize, spans(b, &dim))
            })
            .collect(),
        free: answer
            .free
            .iter()
            .map(|(v, b)| {
                let dim = |k| coordinates.of_variable(*v as usize, k);
                (VarId(*v), spans(b, &dim))
            })
            .collect(),
        constraints: answer.constraints.iter().map(constraint).collect(),
        parameter_constraints: answer
            .parameter_constraints
            .iter()
            .map(constraint)
            .collect(),
        elements: 0,
    }
}

struct Lift<'a> {
    system: &'a ArraySystem,
    coordinates: &'a Coordinates,
    sizes: &'a [Shrunk; 3],
}

impl Lift<'_> {
    fn ends(&self, frame: usize, ranges: [(i64, i64); 3]) -> Option<(i64, i64)> {
        let from = lifted(self.sizes, frame, ranges.map(|r| r.0))?;
        let to = lifted(self.sizes, frame, ranges.map(|r| r.1))?;
        (from <= to).then_some((from, to))
    }

    fn spans(&self, ranges: [&Region; 3], dim: impl Fn(usize) -> Dim) -> Option<Vec<Span>> {
        (0..ranges[0].len())
            .map(|k| {
                let dim = dim(k);
                let (a, b) = self.ends(dim.frame, ranges.map(|r| r[k]))?;
                Some(dim.indices(a, b - a + 1))
            })
            .collect()
    }

    fn constraint(&self, three: [&(u32, Region, Form); 3]) -> Option<ArrayConstraint> {
        let [a, b, c] = three;
        if a.0 != b.0 || a.0 != c.0 || a.2.len() != b.2.len() || a.2.len() != c.2.len() {
            return None;
        }
        let dim = |k| self.coordinates.of_equation(a.0 as usize, k);
        let mut terms = Vec::new();
        for ((x, y), z) in a.2.iter().zip(&b.2).zip(&c.2) {
            if (x.0, x.1) != (y.0, y.1) || (x.0, x.1) != (z.0, z.1) {
                return None;
            }
            let mut index = Vec::new();
            for k in 0..x.2.len() {
                let var = self.coordinates.of_variable(x.0 as usize, k);
                index.push(match (x.2[k], y.2[k], z.2[k]) {
                    (p @ Place::Beside(j, distance), q, r) if p == q && p == r => {
                        beside(dim(j), var, j, distance)
                    }
                    (Place::Between(a, b), Place::Between(c, d), Place::Between(e, f)) => {
                        let (from, to) = self.ends(var.frame, [(a, b), (c, d), (e, f)])?;
                        between(var, from, to)
                    }
                    _ => return None,
                });
            }
            terms.push(compact(self.system, (VarId(x.0), index, x.1)));
        }
        Some(ArrayConstraint {
            replaces: a.0 as usize,
            at: self.spans([&a.1, &b.1, &c.1], dim)?,
            terms,
        })
    }
}

/// Items of three answers side by side, if there are as many in each.
fn threes<'a, T>(
    answers: &'a [Answer; 3],
    of: impl Fn(&'a Answer) -> &'a Vec<T>,
) -> Option<Vec<[&'a T; 3]>> {
    let [a, b, c] = [of(&answers[0]), of(&answers[1]), of(&answers[2])];
    let same = a.len() == b.len() && a.len() == c.len();
    same.then(|| (0..a.len()).map(|k| [&a[k], &b[k], &c[k]]).collect())
}

/// The index of the element at a distance from iterator `j`, in coordinates.
fn beside(it: Dim, var: Dim, j: usize, distance: i64) -> Index {
    Index::Affine {
        iterator: j,
        coefficient: var.sign * it.sign,
        offset: var.sign * (it.shift + distance - var.shift),
    }
}

fn between(var: Dim, from: i64, to: i64) -> Index {
    let s = var.indices(from, to - from + 1);
    if from == to {
        Index::Fixed(s.lo)
    } else {
        Index::All(s)
    }
}

/// Nothing to sum over where the array has one element.
fn compact(system: &ArraySystem, (v, mut index, factor): ArrayTerm) -> ArrayTerm {
    for (i, s) in index.iter_mut().zip(&system.variables[v.index()].shape) {
        if s.size() == 1 {
            *i = Index::Fixed(s.lo);
        }
    }
    (v, index, factor)
}
