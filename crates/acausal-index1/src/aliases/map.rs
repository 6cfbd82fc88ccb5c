//! Which element of one array another array has: affine maps of subscripts.
//!
//! `a[i, j] = b[j, n + 1 - i, 3]` says that element `(x1, x2)` of `a` is the element `(x2, n + 1 - x1, 3)` of `b`: per subscript of `b` a constant and at
//! most one subscript of `a` with a factor. Such maps are closed under composition, and what was affine in iterators stays so. Nothing here looks at elements:
//! the cost is that of the number of dimensions.
//!
//! A relation of a part of an array is a box of its elements with a map ([`Section`]). Sections next to each other whose maps agree are one
//! ([`merged`]): `a[1:3] = b[2:4]; a[4] = b[5]` is `a[x] = b[x + 1]` for `x` in 1:4. Invariant: where a box has one element along a dimension, its map does not
//! follow that dimension; the factor comes from its neighbour, or from what two such neighbours need.

use acausal_expr::{Access, ExprId, Exprs};
use acausal_structure::segments::Span;
use acausal_symbolic::elements::Domain;

/// One subscript: `constant + factor*(subscript number dim)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Subscript {
    /// Dimension and factor, which is not zero; nothing for a constant.
    pub along: Option<(usize, i64)>,
    pub constant: i64,
}

impl Subscript {
    pub fn constant(constant: i64) -> Subscript {
        Subscript {
            along: None,
            constant,
        }
    }

    /// Its value where the subscript of that dimension is known, if it follows that one.
    fn at(self, dim: usize, value: i64) -> Option<i64> {
        let (d, factor) = self.along?;
        (d == dim).then_some(self.constant + factor * value)
    }

    /// What is left of it where the other subscripts are these of a third array.
    fn after(self, others: &[Subscript]) -> Subscript {
        let Some((dim, factor)) = self.along else {
            return self;
        };
        Subscript {
            along: others[dim].along.map(|(d, f)| (d, f * factor)),
            constant: self.constant + factor * others[dim].constant,
        }
    }
}

/// The subscripts of the other array, by those of the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AccessMap(Vec<Subscript>);

impl AccessMap {
    /// From `a` to `c`, of this one from `a` to `b` and one from `b` to `c`.
    pub fn then(&self, next: &AccessMap) -> AccessMap {
        AccessMap(next.0.iter().map(|s| s.after(&self.0)).collect())
    }

    /// Whether it names the same element, for arrays of these shapes.
    pub fn is_identity(&self, from: &[usize], to: &[usize]) -> bool {
        let same = |(d, s): (usize, &Subscript)| match s.along {
            Some(along) => along == (d, 1) && s.constant == 0,
            None => from[d] == 1 && s.constant == 1,
        };
        from == to && self.0.iter().enumerate().all(same)
    }

    /// The subscripts of the other array for an access to the first one.
    pub fn of(&self, x: &mut Exprs, subs: &[ExprId]) -> Vec<ExprId> {
        let all = self.0.iter();
        all.map(|s| {
            let constant = x.int(s.constant);
            let Some((dim, factor)) = s.along else {
                return constant;
            };
            let factor = x.int(factor);
            let scaled = x.mul(&[factor, subs[dim]]);
            x.add(&[scaled, constant])
        })
        .collect()
    }
}

/// The elements `at` of an array are those of another one, under a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub at: Vec<Span>,
    pub map: AccessMap,
}

impl Section {
    /// What an equation between two accesses says about elements of the first one. `None` if it does not give each of a box of elements once, or if
    /// subscripts are not affine in one iterator each.
    pub fn new(x: &Exprs, domain: &Domain, of: Access, to: Access) -> Option<Section> {
        // Per iterator with several values: the dimension that it moves along, with `iterator = factor*subscript + constant`.
        let mut follows: Vec<Option<Subscript>> = vec![None; domain.len()];
        let mut at = Vec::new();
        for (d, &sub) in x.list(of.subs).iter().enumerate() {
            let (constant, term) = in_one_iterator(x, domain, sub)?;
            let Some((k, factor)) = term else {
                at.push(Span::new(constant, constant));
                continue;
            };
            let range = domain[k].1;
            if follows[k].is_some() || factor.abs() != 1 || range.step.abs() != 1 {
                return None;
            }
            follows[k] = Some(Subscript {
                along: Some((d, factor)),
                constant: -factor * constant,
            });
            let ends = [range.start, range.last()].map(|i| constant + factor * i);
            at.push(Span::new(ends[0].min(ends[1]), ends[0].max(ends[1])));
        }
        let mut all = domain.iter().zip(&follows);
        if all.any(|((_, r), along)| r.count != 1 && along.is_none()) {
            return None;
        }
        let subscript = |&sub: &ExprId| {
            let (constant, term) = in_one_iterator(x, domain, sub)?;
            let Some((k, factor)) = term else {
                return Some(Subscript::constant(constant));
            };
            let along = follows[k]?;
            Some(Subscript {
                along: along.along.map(|(d, f)| (d, f * factor)),
                constant: constant + factor * along.constant,
            })
        };
        let map = x.list(to.subs).iter().map(subscript).collect::<Option<_>>();
        Some(Section {
            at,
            map: AccessMap(map?),
        })
    }

    /// What it says by way of the array that it is a section of, of which the same elements are a section of a third one.
    pub fn through(&self, next: &Section) -> Section {
        let mut map = self.map.then(&next.map);
        for s in &mut map.0 {
            // A factor along one element says nothing.
            if let Some((dim, factor)) = s.along.filter(|a| self.at[a.0].size() == 1) {
                *s = Subscript::constant(s.constant + factor * self.at[dim].lo);
            }
        }
        Section {
            at: self.at.clone(),
            map,
        }
    }

    /// The section of both, if this one ends along a dimension where the other one begins, and their maps agree.
    fn joined(&self, next: &Section, dim: usize) -> Option<Section> {
        let (a, b) = (self.at[dim], next.at[dim]);
        let others = |s: &Section| [&s.at[..dim], &s.at[dim + 1..]].concat();
        if a.hi + 1 != b.lo || others(self) != others(next) {
            return None;
        }
        let single = |s: Span| s.size() == 1;
        let agree = |(p, q): (&Subscript, &Subscript)| match (p.along, q.along) {
            _ if p == q => Some(*p),
            (None, Some(_)) if single(a) => {
                q.at(dim, a.lo).filter(|&c| c == p.constant).map(|_| *q)
            }
            (Some(_), None) if single(b) => {
                p.at(dim, b.lo).filter(|&c| c == q.constant).map(|_| *p)
            }
            (None, None) if single(a) && single(b) => {
                let factor = q.constant - p.constant;
                Some(Subscript {
                    along: Some((dim, factor)),
                    constant: p.constant - factor * a.lo,
                })
            }
            _ => None,
        };
        let map: Option<Vec<_>> = self.map.0.iter().zip(&next.map.0).map(agree).collect();
        let mut at = self.at.clone();
        at[dim].hi = b.hi;
        Some(Section {
            at,
            map: AccessMap(map?),
        })
    }
}

/// An affine subscript of at most one iterator with several values: its constant part, and the number of the iterator with its coefficient.
fn in_one_iterator(x: &Exprs, domain: &Domain, sub: ExprId) -> Option<(i64, Option<(usize, i64)>)> {
    let affine = x.affine(sub)?;
    let (mut constant, mut term) = (affine.constant, None);
    for (iter, factor) in affine.terms {
        let k = domain.iter().position(|d| d.0 == iter)?;
        let range = domain[k].1;
        if range.count == 1 {
            constant += factor * range.start;
        } else if term.replace((k, factor)).is_some() {
            return None;
        }
    }
    Some((constant, term))
}

/// The sections with those next to each other joined, along the last dimension first. All are of one array.
pub(super) fn merged(mut sections: Vec<Section>) -> Vec<Section> {
    let dims = sections.first().map_or(0, |s| s.at.len());
    for dim in (0..dims).rev() {
        sections.sort_by_cached_key(|s| {
            let mut key: Vec<(i64, i64)> = s.at.iter().map(|s| (s.lo, s.hi)).collect();
            let along = key.remove(dim);
            key.push(along);
            key
        });
        let mut out: Vec<Section> = Vec::with_capacity(sections.len());
        for s in sections {
            match out
                .last_mut()
                .and_then(|last| Some((last.joined(&s, dim)?, last)))
            {
                Some((both, last)) => *last = both,
                None => out.push(s),
            }
        }
        sections = out;
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;
    use acausal_expr::{IterId, Range, Ty, ValueKind, VarId};

    /// `a[subs of i] = b[subs of i]` for `i` in a range, each as `factor*i + constant`.
    fn section(range: Range, of: (i64, i64), to: (i64, i64)) -> Option<Section> {
        let mut x = Exprs::default();
        let i = IterId(1);
        let mut access = |var, (factor, constant): (i64, i64)| {
            let (f, c, i) = (x.int(factor), x.int(constant), x.iter(i));
            let scaled = x.mul(&[f, i]);
            let sub = x.add(&[scaled, c]);
            Access {
                var: VarId(var),
                kind: ValueKind::Value,
                subs: {
                    let e = x.var(VarId(var), ValueKind::Value, &[sub], Ty::Real);
                    match x.node(e) {
                        acausal_expr::Node::Var(a) => a.subs,
                        _ => unreachable!("an access"),
                    }
                },
            }
        };
        let (of, to) = (access(0, of), access(1, to));
        Section::new(&x, &[(i, range)], of, to)
    }

    fn along(at: (i64, i64), factor: i64, constant: i64) -> Section {
        let along = (factor != 0).then_some((0, factor));
        Section {
            at: vec![Span::new(at.0, at.1)],
            map: AccessMap(vec![Subscript { along, constant }]),
        }
    }

    #[test]
    fn equations_between_accesses_are_sections() {
        let r = Range::from_to;
        // a[i] = b[i + 1]; a[i - 1] = b[2*i]; a[10 - i] = b[i]; a[i] = b[3]
        assert_eq!(
            section(r(1, 1, 4), (1, 0), (1, 1)),
            Some(along((1, 4), 1, 1))
        );
        assert_eq!(
            section(r(2, 1, 4), (1, -1), (2, 0)),
            Some(along((1, 3), 2, 2))
        );
        assert_eq!(
            section(r(1, 1, 9), (-1, 10), (1, 0)),
            Some(along((1, 9), -1, 10))
        );
        assert_eq!(
            section(r(1, 1, 4), (1, 0), (0, 3)),
            Some(along((1, 4), 0, 3))
        );
        // One element: the map says nothing about a direction.
        assert_eq!(
            section(r(4, 1, 4), (1, 0), (1, 1)),
            Some(along((4, 4), 0, 5))
        );
        // a[2*i] and a[3] are not a box of elements, each once.
        assert_eq!(section(r(1, 1, 4), (2, 0), (1, 0)), None);
        assert_eq!(section(r(1, 1, 4), (0, 3), (1, 0)), None);
    }

    #[test]
    fn sections_next_to_each_other_are_one() {
        let all = |list: &[Section]| merged(list.to_vec());
        assert_eq!(
            all(&[along((4, 4), 0, 5), along((1, 3), 1, 1)]),
            [along((1, 4), 1, 1)]
        );
        assert_eq!(
            all(&[along((1, 1), 0, 3), along((2, 2), 0, 2)]),
            [along((1, 2), -1, 4)]
        );
        assert_eq!(all(&[along((1, 3), 1, 1), along((4, 4), 0, 6)]).len(), 2);
        assert_eq!(all(&[along((1, 3), 1, 1), along((5, 6), 1, 1)]).len(), 2);
    }

    /// a[x] = b[n + 1 - x] and b[x] = c[x + 2] give a[x] = c[n + 3 - x].
    #[test]
    fn chains_compose() {
        let chain = along((1, 4), -1, 5).map.then(&along((1, 4), 1, 2).map);
        assert_eq!(chain, along((1, 4), -1, 7).map);
        let twice = along((1, 4), -1, 5).map.then(&along((1, 4), -1, 5).map);
        assert!(twice.is_identity(&[4], &[4]));
    }
}
