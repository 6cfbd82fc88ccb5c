//! Sets of elements of an array: boxes, products of one arithmetic progression per dimension.
//!
//! `x[2*i - 1, 3] for i in 1:4` are the elements `{1, 3, 5, 7} × {3}`. Boxes answer whether two accesses can meet, and which elements are left
//! when some are taken away, without a look at single elements: the cost follows the number of boxes (and, where progressions of different steps
//! meet, the ratio of the steps).
//!
//! A subscript with two iterators (`x[i + 2*j]`), or an iterator in two subscripts (`x[i, i]`), gives a box that is too large;
//! [`Exprs::box_of`] says whether it is exact.

use crate::{Access, Exprs, IterId, Range};

/// One progression with a positive step per dimension, none of them empty; a scalar has no dimension.
pub type ElementBox = Vec<Range>;

impl Exprs {
    /// The elements that an access touches over a domain, and whether these are all of the box. `None` if a subscript is not affine in the
    /// iterators of the domain or a range is empty.
    pub fn box_of(&self, access: Access, domain: &[(IterId, Range)]) -> Option<(ElementBox, bool)> {
        let (mut exact, mut seen) = (true, Vec::new());
        let mut ranges = Vec::new();
        for &sub in self.list(access.subs) {
            let affine = self.affine(sub)?;
            let (mut low, mut high, mut step) = (affine.constant, affine.constant, 0i64);
            for &(iter, factor) in &affine.terms {
                let (_, r) = domain.iter().find(|d| d.0 == iter)?;
                if r.count <= 0 {
                    return None;
                }
                let ends = [r.at(0), r.last()].map(|i| factor.checked_mul(i));
                let (a, b) = (ends[0]?, ends[1]?);
                low = low.checked_add(a.min(b))?;
                high = high.checked_add(a.max(b))?;
                step = gcd(step, factor.checked_mul(r.step)?);
                exact &= !seen.contains(&iter);
                seen.push(iter);
            }
            exact &= affine.terms.len() <= 1;
            ranges.push(Range::from_to(low, step.max(1), high));
        }
        Some((ranges, exact))
    }
}

/// Number of elements.
pub fn box_len(b: &[Range]) -> usize {
    b.iter().map(|r| r.count.max(0) as usize).product()
}

/// The elements of both boxes.
pub fn intersection(a: &[Range], b: &[Range]) -> Option<ElementBox> {
    a.iter().zip(b).map(|(x, y)| common(*x, *y)).collect()
}

/// The elements of the first box that are not in the second one, as boxes without common elements.
pub fn difference(a: &[Range], b: &[Range]) -> Vec<ElementBox> {
    let Some(both) = intersection(a, b) else {
        return vec![a.to_vec()];
    };
    let mut rest = Vec::new();
    for (d, &inner) in both.iter().enumerate() {
        for outer in without(a[d], inner) {
            let mut piece = both[..d].to_vec();
            piece.push(outer);
            piece.extend(&a[d + 1..]);
            rest.push(piece);
        }
    }
    rest
}

/// The elements of a box that are in none of the others.
pub fn difference_all(a: &[Range], others: &[ElementBox]) -> Vec<ElementBox> {
    let mut rest = vec![a.to_vec()];
    for b in others {
        rest = rest.iter().flat_map(|r| difference(r, b)).collect();
    }
    rest
}

/// The common values of two progressions: again a progression, whose step is the least common multiple.
fn common(a: Range, b: Range) -> Option<Range> {
    let (s, t) = (i128::from(a.step), i128::from(b.step));
    let g = i128::from(gcd(a.step, b.step));
    let gap = i128::from(b.start) - i128::from(a.start);
    if gap % g != 0 {
        return None;
    }
    // a.start + s*k is in b for k = (gap/g) / (s/g) modulo t/g.
    let modulus = t / g;
    let k = (gap / g * inverse(s / g, modulus)).rem_euclid(modulus);
    let step = s * modulus;
    let first = i128::from(a.start) + s * k;
    let low = i128::from(a.start.max(b.start));
    let first = first + (low - first + step - 1).div_euclid(step).max(0) * step;
    let last = i128::from(a.last().min(b.last()));
    if first > last {
        return None;
    }
    let count = (last - first) / step + 1;
    let whole = |v: i128| i64::try_from(v).ok();
    Some(Range {
        start: whole(first)?,
        step: if count == 1 { 1 } else { whole(step)? },
        count: whole(count)?,
    })
}

/// A progression without some of its own values, which are a progression.
fn without(a: Range, inner: Range) -> Vec<Range> {
    let mut parts = Vec::new();
    let mut push = |start: i64, step: i64, stop: i64| {
        let r = Range::from_to(start, step, stop);
        if r.count > 0 {
            parts.push(r);
        }
    };
    push(a.start, a.step, inner.start - a.step);
    if inner.count > 1 {
        for skipped in 1..inner.step / a.step {
            let start = inner.start + skipped * a.step;
            push(start, inner.step, inner.last());
        }
    }
    push(inner.last() + a.step, a.step, a.last());
    parts
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

/// The inverse of `a` modulo `m`, for numbers without a common divisor.
fn inverse(a: i128, m: i128) -> i128 {
    let (mut r, mut s) = ((m, a.rem_euclid(m.max(1))), (0i128, 1i128));
    while r.1 != 0 {
        let q = r.0 / r.1;
        r = (r.1, r.0 - q * r.1);
        s = (s.1, s.0 - q * s.1);
    }
    s.0.rem_euclid(m.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn all() -> Vec<Range> {
        let mut list = Vec::new();
        for start in 1..5 {
            for step in 1..5 {
                list.extend((1..5).map(|count| Range { start, step, count }));
            }
        }
        list
    }

    /// Against sets of numbers.
    #[test]
    fn progressions_are_sets() {
        let set = |r: Range| r.values().collect::<BTreeSet<i64>>();
        for a in all() {
            for b in all() {
                let both: BTreeSet<i64> = set(a).intersection(&set(b)).copied().collect();
                let found = common(a, b).map_or_else(BTreeSet::new, set);
                assert_eq!(found, both, "{a:?} {b:?}");
                let rest: Vec<i64> = difference(&[a], &[b])
                    .iter()
                    .flat_map(|r| r[0].values().collect::<Vec<_>>())
                    .collect();
                let unique: BTreeSet<i64> = rest.iter().copied().collect();
                assert_eq!(unique.len(), rest.len(), "{a:?} {b:?}");
                let expected: BTreeSet<i64> = set(a).difference(&set(b)).copied().collect();
                assert_eq!(unique, expected, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_hole_in_a_matrix() {
        let whole = [Range::upto(4), Range::upto(5)];
        let hole = [Range::from_to(2, 1, 3), Range::from_to(1, 2, 5)];
        let rest = difference(&whole, &hole);
        assert_eq!(rest.iter().map(|b| box_len(b)).sum::<usize>(), 20 - 6);
        for (k, a) in rest.iter().enumerate() {
            assert!(intersection(a, &hole).is_none());
            assert!(rest[..k].iter().all(|b| intersection(a, b).is_none()));
        }
        assert!(difference_all(&hole, &[whole.to_vec()]).is_empty());
    }
}
