//! Products that vanish because an equation sets one of their factors to zero.
//!
//! In: equations whose structure is singular. Out: equations with the same solutions, in which no product holds a factor that an equation of the form `x = 0` determines; whether
//! there was any.
//!
//! Why: a planar mechanism written with vectors of three components has directions `e = {cos(phi), sin(phi), 0}` and positions `rb = ra + L*e`. The third component of the
//! closing equation says `0 = 0` for every value of L, but `L*e[3]` is no integer term, and the elimination of integer equations ([`crate::singularities`]) does not
//! look into it. Without the product it sees `rb[3] = ra[3]`. (Zeros that are written as literals in the product itself are found before: [`crate::singularities::zero_coefficients`].)
//!
//! Method: a queue of equations. An array equation is cut where a factor begins to be zero. What is a sum of zeros but for one unknown makes this one zero, too, and the
//! equations that use it are looked at again. Cost: linear in the accesses of the equations, times the known boxes of a variable.
//!
//! Example: `e[3] = 0; ra[i] = 0 for i in 1:3; rb[i] = ra[i] + L*e[i] for i in 1:3` becomes `rb[i] = ra[i] + L*e[i] for i in 1:2; rb[3] = ra[3]`, and rb[3] is zero.

use std::collections::VecDeque;

use acausal_expr::flat::{Equation, FlatModel};
use acausal_expr::{Access, ExprId, Exprs, IterId, Node, Printer, Range, ValueKind, VarId};
use acausal_symbolic::Substitute;

use crate::Regularised;
use crate::segments::incidence::is_unknown;

/// Smallest and largest subscript of each dimension.
type Box = Vec<(i64, i64)>;

/// Removes vanishing products and notes what was done. False if there are none.
pub(crate) fn remove_vanishing(
    flat: &mut FlatModel,
    equations: &mut Vec<Equation>,
    done: &mut Regularised,
) -> bool {
    let mut zeros: Vec<Vec<Box>> = vec![Vec::new(); flat.vars.len()];
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); flat.vars.len()];
    for (k, eq) in equations.iter().enumerate() {
        register(flat, eq, k, &mut users);
    }
    let mut queue: VecDeque<usize> = (0..equations.len()).collect();
    let before = done.replaced.len();
    while let Some(k) = queue.pop_front() {
        let mut gone = Vec::new();
        match look(flat, &equations[k], &zeros, &mut gone) {
            Some(cut) => {
                let (below, above) = cut.apply(&equations[k]);
                equations[k] = below;
                register(flat, &above, equations.len(), &mut users);
                queue.extend([k, equations.len()]);
                equations.push(above);
                continue;
            }
            None if !gone.is_empty() => {
                let old = Printer::new(flat).equation(&equations[k]);
                let eq = &mut equations[k];
                for side in [&mut eq.lhs, &mut eq.rhs] {
                    *side = (flat.exprs).rewrite(*side, |x, e| gone.contains(&e).then(|| x.int(0)));
                }
                let new = Printer::new(flat).equation(&equations[k]);
                done.replaced.push((old, new));
            }
            None => {}
        }
        if let Some((var, place)) = zero(flat, &equations[k], &zeros) {
            let known = &mut zeros[var.index()];
            if !known.iter().any(|b| contains(b, &place)) {
                known.push(place);
                queue.extend(&users[var.index()]);
            }
        }
    }
    done.replaced.len() > before
}

/// Notes which unknowns an equation uses.
fn register(flat: &FlatModel, eq: &Equation, k: usize, users: &mut [Vec<usize>]) {
    flat.exprs.for_each_access(&[eq.lhs, eq.rhs], |_, a| {
        let list = &mut users[a.var.index()];
        if is_unknown(flat, a.var) && list.last() != Some(&k) {
            list.push(k);
        }
    });
}

/// Behind this value of an iterator other elements are met.
struct Cut {
    iter: IterId,
    /// Number of values of the iterator before the cut.
    count: i64,
}

impl Cut {
    fn apply(&self, eq: &Equation) -> (Equation, Equation) {
        let (mut below, mut above) = (eq.clone(), eq.clone());
        for (piece, first) in [(&mut below, true), (&mut above, false)] {
            for (_, r) in piece.domain.iter_mut().filter(|d| d.0 == self.iter) {
                *r = match first {
                    true => Range {
                        count: self.count,
                        ..*r
                    },
                    false => Range {
                        start: r.at(self.count),
                        step: r.step,
                        count: r.count - self.count,
                    },
                };
            }
        }
        (below, above)
    }
}

/// Products and quotients of an equation that are zero, or where it is to be cut to have such.
fn look(
    flat: &FlatModel,
    eq: &Equation,
    zeros: &[Vec<Box>],
    gone: &mut Vec<ExprId>,
) -> Option<Cut> {
    let x = &flat.exprs;
    for node in x.reachable(&[eq.lhs, eq.rhs]) {
        let factors = match x.node(node) {
            Node::Mul(l) => x.list(l),
            Node::Div(above, _) => &[above][..],
            _ => continue,
        };
        for &factor in factors {
            let Node::Var(a) = x.node(factor) else {
                continue;
            };
            match meets(x, eq, a, zeros) {
                Meets::Inside => gone.push(node),
                Meets::Partly(cut) => return Some(cut),
                Meets::Outside => {}
            }
        }
    }
    None
}

/// How the elements that an access means lie to those that are zero.
enum Meets {
    Inside,
    Partly(Cut),
    Outside,
}

fn meets(x: &Exprs, eq: &Equation, a: Access, zeros: &[Vec<Box>]) -> Meets {
    let boxes = &zeros[a.var.index()];
    if boxes.is_empty() || a.kind != ValueKind::Value {
        return Meets::Outside;
    }
    let Some(subs) = subscripts(x, eq, a) else {
        return Meets::Outside;
    };
    for b in boxes {
        let mut dims = subs.iter().zip(b);
        if dims
            .clone()
            .any(|(s, b)| s.bounds.1 < b.0 || b.1 < s.bounds.0)
        {
            continue;
        }
        let partly = dims.find_map(|(s, b)| s.cut(*b));
        return partly.map_or(Meets::Inside, Meets::Partly);
    }
    Meets::Outside
}

/// A subscript `coefficient*iterator + constant`.
struct Subscript {
    bounds: (i64, i64),
    along: Option<(IterId, Range, i64, i64)>,
}

impl Subscript {
    /// Where the subscript enters or leaves an interval, if it is partly inside.
    fn cut(&self, (low, high): (i64, i64)) -> Option<Cut> {
        let (iter, range, coefficient, constant) = self.along?;
        let inside = |k: i64| (low..=high).contains(&(coefficient * range.at(k) + constant));
        // The subscript is monotonic: what is inside at both ends is inside.
        let (first, last) = (inside(0), inside(range.count - 1));
        if first && last {
            return None;
        }
        let step = coefficient * range.step;
        let start = coefficient * range.start + constant;
        let count = match first {
            // How many values stay inside from the first on.
            true if step > 0 => (high - start) / step + 1,
            true => (start - low) / -step + 1,
            // How many come before the first inside; none may be, between two values.
            false if step > 0 => (low - start + step - 1) / step,
            false => (start - high - step - 1) / -step,
        };
        (0 < count && count < range.count).then_some(Cut { iter, count })
    }
}

/// The subscripts of an access over the domain of its equation, if each is a number or holds one iterator.
fn subscripts(x: &Exprs, eq: &Equation, a: Access) -> Option<Vec<Subscript>> {
    let of = |&s: &ExprId| {
        let affine = x.affine(s)?;
        match affine.terms.as_slice() {
            [] => Some(Subscript {
                bounds: (affine.constant, affine.constant),
                along: None,
            }),
            &[(iter, coefficient)] => {
                let &(_, range) = eq.domain.iter().find(|d| d.0 == iter)?;
                let at = |v: i64| coefficient * v + affine.constant;
                let (a, b) = (at(range.start), at(range.last()));
                Some(Subscript {
                    bounds: (a.min(b), a.max(b)),
                    along: Some((iter, range, coefficient, affine.constant)),
                })
            }
            _ => None,
        }
    };
    x.list(a.subs).iter().map(of).collect()
}

/// The elements that an equation makes zero: it is a sum of zeros and one unknown.
fn zero(flat: &FlatModel, eq: &Equation, zeros: &[Vec<Box>]) -> Option<(VarId, Box)> {
    let x = &flat.exprs;
    let mut found: Option<Access> = None;
    let mut todo = vec![eq.lhs, eq.rhs];
    while let Some(e) = todo.pop() {
        match x.node(e) {
            _ if x.is_zero(e) => {}
            Node::Add(l) => todo.extend(x.list(l)),
            Node::Mul(l) => {
                let literal = |e: &&ExprId| x.as_f64(**e).is_some_and(|f| f != 0.0);
                let (numbers, others): (Vec<&ExprId>, Vec<&ExprId>) =
                    x.list(l).iter().partition(literal);
                let [other] = others[..] else { return None };
                if numbers.is_empty() {
                    return None;
                }
                todo.push(*other);
            }
            Node::Div(above, below) if x.as_f64(below).is_some_and(|f| f != 0.0) => {
                todo.push(above);
            }
            Node::Var(a) if a.kind == ValueKind::Value && is_unknown(flat, a.var) => {
                if matches!(meets(x, eq, a, zeros), Meets::Inside) {
                    continue;
                }
                if found.replace(a).is_some() {
                    return None;
                }
            }
            _ => return None,
        }
    }
    let a = found?;
    let subs = subscripts(x, eq, a)?;
    // The elements are a box if each subscript moves by an iterator of its own, one by one.
    let along = || subs.iter().filter_map(|s| s.along);
    let single = along().all(|(_, r, c, _)| (c * r.step).abs() == 1 || r.count == 1);
    let own = along().all(|(i, ..)| along().filter(|(j, ..)| i == *j).count() == 1);
    (single && own).then(|| (a.var, subs.iter().map(|s| s.bounds).collect()))
}

fn contains(outer: &Box, inner: &Box) -> bool {
    (outer.iter().zip(inner)).all(|(o, i)| o.0 <= i.0 && i.1 <= o.1)
}
