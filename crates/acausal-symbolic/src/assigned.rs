//! Which elements of variables `when` clauses assign.

use rustc_hash::FxHashMap;

use acausal_expr::flat::{Action, FlatModel, OriginId};
use acausal_expr::subscripts::{ElementBox, difference_all, intersection};
use acausal_expr::{Access, Exprs, IterId, Range, VarId};

/// The elements that the `when` clauses of a model assign.
#[derive(Debug, Default)]
pub struct Assigned {
    parts: FxHashMap<VarId, AssignedPart>,
}

/// The elements of one variable.
#[derive(Debug)]
pub struct AssignedPart {
    /// Boxes without common elements; `None` if subscripts do not tell, then it may be any element.
    pub boxes: Option<Vec<ElementBox>>,
    /// The first clause.
    pub origin: OriginId,
}

impl Assigned {
    /// All that is assigned.
    pub fn new(flat: &FlatModel) -> Assigned {
        let mut parts: FxHashMap<VarId, AssignedPart> = FxHashMap::default();
        for when in &flat.whens {
            for action in when.branches.iter().flat_map(|b| &b.actions) {
                let Action::Assign { domain, target, .. } = action else {
                    continue;
                };
                let part = parts.entry(target.var).or_insert_with(|| AssignedPart {
                    boxes: Some(Vec::new()),
                    origin: when.origin,
                });
                let domain: Vec<_> = when.domain.iter().chain(domain).copied().collect();
                if domain.iter().all(|d| d.1.count > 0) {
                    part.add(&flat.exprs, *target, &domain);
                }
            }
        }
        Assigned { parts }
    }

    /// What is assigned of a variable.
    pub fn part(&self, var: VarId) -> Option<&AssignedPart> {
        self.parts.get(&var)
    }

    /// Whether an access can be of an element that is assigned.
    pub fn meets(&self, x: &Exprs, access: Access, domain: &[(IterId, Range)]) -> bool {
        let Some(part) = self.parts.get(&access.var) else {
            return false;
        };
        match (&part.boxes, x.box_of(access, domain)) {
            (Some(boxes), Some((own, _))) => boxes.iter().any(|b| intersection(&own, b).is_some()),
            _ => true,
        }
    }
}

impl AssignedPart {
    fn add(&mut self, x: &Exprs, target: Access, domain: &[(IterId, Range)]) {
        let Some(boxes) = &mut self.boxes else {
            return;
        };
        let pieces = match x.box_of(target, domain) {
            Some((whole, true)) => Some(vec![whole]),
            Some((_, false)) => single_elements(x, target, domain),
            None => None,
        };
        let Some(pieces) = pieces else {
            self.boxes = None;
            return;
        };
        for piece in pieces {
            for new in difference_all(&piece, boxes) {
                // Algorithms name elements one after the other.
                match boxes.last_mut() {
                    Some(last) if follows(last, &new) => {
                        if let Some(range) = last.last_mut() {
                            range.count += 1;
                        }
                    }
                    _ => boxes.push(new),
                }
            }
        }
    }
}

/// A single element right behind a box without gaps, along the last dimension.
fn follows(last: &[Range], new: &[Range]) -> bool {
    let (Some((a, before)), Some((b, others))) = (last.split_last(), new.split_last()) else {
        return false;
    };
    let single = |r: &[Range]| r.iter().all(|r| r.count == 1);
    let next = b.count == 1 && a.step == 1 && b.start == a.last() + 1;
    next && single(others) && before == others
}

/// `x[i, i]` is no box: its elements one by one.
fn single_elements(
    x: &Exprs,
    target: Access,
    domain: &[(IterId, Range)],
) -> Option<Vec<ElementBox>> {
    let mut points: Vec<Vec<(IterId, i64)>> = vec![Vec::new()];
    for &(iter, range) in domain {
        let longer = points.iter().flat_map(|p| {
            range.values().map(move |v| {
                let mut p = p.clone();
                p.push((iter, v));
                p
            })
        });
        points = longer.collect();
    }
    let mut boxes = Vec::new();
    for point in points {
        let value = |i: IterId| point.iter().find(|p| p.0 == i).map(|p| p.1);
        let mut element = Vec::new();
        for &sub in x.list(target.subs) {
            let affine = x.affine(sub)?;
            let mut at = affine.constant;
            for (iter, factor) in affine.terms {
                at += factor * value(iter)?;
            }
            element.push(Range::from_to(at, 1, at));
        }
        boxes.push(element);
    }
    Some(boxes)
}
