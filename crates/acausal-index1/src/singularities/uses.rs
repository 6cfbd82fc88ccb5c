//! Which elements of the unknowns occur outside of integer equations and sums.
//!
//! In: accesses with the equations they stand in. Out: [`Uses`] per variable, as boxes of elements, each with the class
//! that follows: [`Class::Rest`] for a value, [`Class::State`] for a derivative. Accesses that are no box are listed
//! element by element, unless there are too many.

use acausal_expr::flat::{Equation, FlatModel};
use acausal_expr::{Access, IterId, Range, ValueKind, VarId};
use acausal_structure::integer_elimination::Class;
use acausal_structure::segments::Span;

use acausal_symbolic::elements::{flat_affine, for_each_point};

/// Uses of an array that are no box are listed element by element up to this many.
const MOST_LISTED: usize = 200_000;

/// How many uses of an array are compared with a new one, so that equal ones are not kept twice.
const RECENT: usize = 4;

/// The uses of one variable.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    pub(super) boxes: Vec<(Vec<Span>, Class)>,
    /// Some could not be listed.
    pub(super) incomplete: bool,
}

/// The uses of all variables, from the accesses and the numbers of their equations.
pub(super) fn uses(
    flat: &FlatModel,
    equations: &[Equation],
    used: &[(usize, Access)],
) -> Vec<Uses> {
    let mut all = vec![Uses::default(); flat.vars.len()];
    for (equation, a) in used {
        let class = match a.kind {
            ValueKind::Pre => continue,
            ValueKind::Value => Class::Rest,
            ValueKind::Der(_) => Class::State,
        };
        all[a.var.index()].add(flat, &equations[*equation], *a, class);
    }
    all
}

impl Uses {
    /// Whether the elements of a box are certainly all used.
    pub(super) fn cover(&self, at: &[Span]) -> bool {
        if let [span] = at {
            // Boxes next to each other cover together what each of them does not.
            let mut spans: Vec<Span> = self.boxes.iter().map(|b| b.0[0]).collect();
            spans.sort_unstable_by_key(|s| s.lo);
            let mut next = span.lo;
            for s in spans.iter().take_while(|s| s.lo <= span.hi) {
                if s.lo > next {
                    break;
                }
                next = next.max(s.hi + 1);
            }
            return next > span.hi;
        }
        let contains = |b: &[Span]| b.iter().zip(at).all(|(b, s)| b.contains(*s));
        self.boxes.iter().any(|b| contains(&b.0))
    }

    fn add(&mut self, flat: &FlatModel, eq: &Equation, a: Access, class: Class) {
        let shape = variable_shape(flat, a.var);
        let mut spans = shape.clone();
        let mut seen: Vec<IterId> = Vec::new();
        let mut is_box = true;
        for (&s, span) in flat.exprs.list(a.subs).iter().zip(&mut spans) {
            // A subscript that is not known here, or the iterator of a sum, may touch everything.
            let Some(affine) = flat.exprs.affine(s) else {
                continue;
            };
            match affine.terms.as_slice() {
                [] => *span = Span::new(affine.constant, affine.constant),
                [(i, c)] => {
                    let Some((_, r)) = eq.domain.iter().find(|(j, _)| i == j) else {
                        continue;
                    };
                    let dense = image(*r, *c, affine.constant).filter(|_| !seen.contains(i));
                    seen.push(*i);
                    match dense {
                        Some(d) => *span = d,
                        None => is_box = false,
                    }
                }
                _ => is_box = false,
            }
        }
        if is_box {
            self.add_box(&shape, spans, class);
            return;
        }
        let Some(index) = flat_affine(flat, &eq.domain, a) else {
            self.add_box(&shape, shape.clone(), class);
            return;
        };
        if eq.len() > MOST_LISTED {
            self.incomplete = true;
            return;
        }
        let dims = &flat.var(a.var).dims;
        for_each_point(&eq.domain, |p| {
            let sum: i64 = p.iter().zip(&index.coefficients).map(|(x, c)| x * c).sum();
            let mut k = index.constant + sum;
            let mut at: Vec<Span> = Vec::with_capacity(dims.len());
            for &d in dims.iter().rev() {
                at.push(Span::new(k % d as i64 + 1, k % d as i64 + 1));
                k /= d as i64;
            }
            at.reverse();
            self.add_box(&shape, at, class);
        });
    }

    fn add_box(&mut self, shape: &[Span], spans: Vec<Span>, class: Class) {
        let known = |u: &(Vec<Span>, Class)| u.0 == spans && (u.1 == class || u.1 == Class::State);
        let inside = spans.iter().zip(shape).all(|(s, d)| d.contains(*s));
        let recent = &self.boxes[self.boxes.len().saturating_sub(RECENT)..];
        if inside && !recent.iter().any(known) {
            self.boxes.push((spans, class));
        }
    }
}

/// The index ranges of a variable.
pub(super) fn variable_shape(flat: &FlatModel, v: VarId) -> Vec<Span> {
    let dims = flat.var(v).dims.iter();
    dims.map(|&d| Span::new(1, d as i64)).collect()
}

/// The values of `c*i + constant`, if they follow each other without gaps.
pub(super) fn image(r: Range, c: i64, constant: i64) -> Option<Span> {
    let (a, b) = (c * r.start + constant, c * r.last() + constant);
    let dense = r.count <= 1 || (c * r.step).abs() == 1;
    dense.then(|| Span::new(a.min(b), a.max(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_next_to_each_other_cover_together() {
        let uses = |spans: &[(i64, i64)]| Uses {
            boxes: (spans.iter())
                .map(|s| (vec![Span::new(s.0, s.1)], Class::Rest))
                .collect(),
            incomplete: false,
        };
        let whole = [Span::new(1, 9)];
        assert!(uses(&[(5, 9), (1, 1), (2, 4)]).cover(&whole));
        assert!(!uses(&[(5, 9), (1, 1), (2, 3)]).cover(&whole));
        assert!(!uses(&[(2, 9)]).cover(&whole));
        assert!(!uses(&[]).cover(&whole));
        assert!(!uses(&[]).cover(&[]));
    }
}
