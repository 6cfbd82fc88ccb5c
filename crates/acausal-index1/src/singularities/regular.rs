//! A quick look that tells most models have nothing to regularise.
//!
//! In: the equations of a model. Out: whether its integer equations are certainly independent of each other and determine all that nothing else
//! determines; `false` means that this quick look cannot tell, and for models with arrays it is not taken.
//!
//! Method: the integer equations as rows over the unknowns, and the integer sums of other equations (`split.rs`). (1) If they can be taken away one by one, each by an unknown that is neither a
//! state nor in a row that is left, they are a triangle: none is redundant, and none says something about states or parameters alone. (2) If
//! likewise each unknown that occurs in no other equation but in sums can be taken away by a row or sum in which it is the only one left,
//! none of them is free. (Sums do not matter for the first: each has a column of its own.) Both are sufficient. In a network without such singularities every branch has a law of its own, whose
//! voltage and current occur in one connection equation each, so that they hold at once. Cost: linear in the size of the equations, without
//! elimination and without names.
//!
//! Example: `u = p.v - n.v; i + j = 0; u = R*i; j = g(p.v)`: rows `u - p.v + n.v` and `i + j`; `u` and `i` are in one row each.

use acausal_expr::flat::{Equation, FlatModel};
use acausal_expr::{Access, ExprId, Node, ReduceOp, ValueKind};

use super::linear_form::{Factor, known, scale, scaled};
use super::split::Split;

/// Where an unknown occurs besides of the integer equations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    /// Nowhere.
    Local,
    /// With its value.
    Rest,
    /// With its derivative.
    State,
}

/// Whether there is certainly nothing to regularise. `unknown` says which variables the equations determine.
pub(super) fn is_regular(flat: &FlatModel, equations: &[Equation], unknown: &[bool]) -> bool {
    if equations.iter().any(|eq| !eq.domain.is_empty()) {
        return false;
    }
    let mut uses = vec![Use::Local; flat.vars.len()];
    let (mut rows, mut sums) = (Rows::default(), Rows::default());
    let mut row = Vec::new();
    let mut terms = Terms::default();
    let mut split = Split::default();
    let is_unknown = |a: Access| unknown[a.var.index()];
    for eq in equations {
        match integer_row(flat, unknown, eq, &mut terms, &mut row) {
            Row::Integer => rows.push(&mut row),
            Row::Unclear => return false,
            Row::Other => {
                split.of(flat, eq, is_unknown);
                for a in &split.used {
                    let here = match a.kind {
                        ValueKind::Pre => continue,
                        ValueKind::Value => Use::Rest,
                        ValueKind::Der(_) => Use::State,
                    };
                    if let Some(known) = uses.get_mut(a.var.index()) {
                        *known = here.max(*known);
                    }
                }
                for sum in &split.sums {
                    row.clear();
                    for t in &sum.terms {
                        let Factor::Unknown(a) = t.factor else {
                            continue;
                        };
                        if !flat.exprs.list(a.subs).is_empty() {
                            return false;
                        }
                        row.push((a.var.0, t.coefficient));
                    }
                    sums.push(&mut row);
                }
            }
        }
    }
    rows.independent(&uses) && {
        rows.extend(&sums);
        rows.nothing_free(&uses)
    }
}

enum Row {
    /// The terms have been found.
    Integer,
    /// No integer equation.
    Other,
    /// Something with arrays.
    Unclear,
}

/// What an integer equation is made of; kept for the next one.
#[derive(Default)]
struct Terms {
    todo: Vec<(ExprId, f64)>,
    /// Unknowns (known expressions have no number) with their coefficients.
    found: Vec<(Option<u32>, f64)>,
}

/// The unknowns of an integer equation with their coefficients. Follows [`super::linear_form::integer_terms`].
fn integer_row(
    flat: &FlatModel,
    unknown: &[bool],
    eq: &Equation,
    terms: &mut Terms,
    row: &mut Vec<(u32, i64)>,
) -> Row {
    let x = &flat.exprs;
    let Terms { todo, found } = terms;
    found.clear();
    todo.clear();
    todo.extend([(eq.rhs, -1.0), (eq.lhs, 1.0)]);
    while let Some((e, coefficient)) = todo.pop() {
        match x.node(e) {
            Node::Add(l) => todo.extend(x.list(l).iter().map(|&t| (t, coefficient))),
            Node::Var(a) if a.kind == ValueKind::Value && unknown[a.var.index()] => {
                if !x.list(a.subs).is_empty() {
                    return Row::Unclear;
                }
                found.push((Some(a.var.0), coefficient));
            }
            Node::Reduce {
                op: ReduceOp::Sum, ..
            } if known(flat, e).is_none() => return Row::Unclear,
            Node::Real(_) | Node::Int(_) if x.is_zero(e) => {}
            Node::Real(_) | Node::Int(_) => found.push((None, coefficient)),
            _ => match scaled(x, e) {
                Some((f, part)) if f.fract() == 0.0 || known(flat, part).is_none() => {
                    todo.push((part, coefficient * f));
                }
                _ if known(flat, e).is_some() => found.push((None, coefficient)),
                _ => return Row::Other,
            },
        }
    }
    if found.iter().all(|t| t.0.is_none()) {
        return Row::Other;
    }
    let Some(by) = scale(found.iter().map(|t| t.1)) else {
        return Row::Other;
    };
    row.clear();
    let unknowns = found.iter().filter_map(|&(v, c)| v.map(|v| (v, c)));
    row.extend(unknowns.map(|(v, c)| (v, (c * by).round() as i64)));
    Row::Integer
}

/// The integer equations: which unknowns have a coefficient other than zero.
#[derive(Default)]
pub(super) struct Rows {
    ends: Vec<u32>,
    columns: Vec<u32>,
}

impl Rows {
    pub(super) fn push(&mut self, row: &mut [(u32, i64)]) {
        row.sort_unstable();
        for terms in row.chunk_by(|a, b| a.0 == b.0) {
            // Coefficients are below 1e9 and a row does not have that many terms.
            if terms.iter().map(|t| t.1).sum::<i64>() != 0 {
                self.columns.push(terms[0].0);
            }
        }
        self.ends.push(self.columns.len() as u32);
    }

    fn extend(&mut self, others: &Rows) {
        let offset = self.columns.len() as u32;
        self.columns.extend(&others.columns);
        self.ends.extend(others.ends.iter().map(|e| offset + e));
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn row(&self, r: usize) -> &[u32] {
        let start = if r == 0 { 0 } else { self.ends[r - 1] as usize };
        &self.columns[start..self.ends[r] as usize]
    }

    /// Whether the rows are a triangle in the unknowns that are no states.
    pub(super) fn independent(&self, uses: &[Use]) -> bool {
        // Per unknown: in how many rows that are left it occurs, and their numbers added up, so that of one row it is the number.
        let mut occurs: Vec<(u32, u32)> = vec![(0, 0); uses.len()];
        for r in 0..self.len() {
            for &c in self.row(r) {
                let (count, sum) = &mut occurs[c as usize];
                *count += 1;
                *sum = sum.wrapping_add(r as u32);
            }
        }
        let single = |occurs: &[(u32, u32)], c: u32| {
            occurs[c as usize].0 == 1 && uses[c as usize] != Use::State
        };
        let mut ready: Vec<u32> = Vec::new();
        let mut gone = vec![false; self.len()];
        let mut left = self.len();
        for r in 0..self.len() {
            ready.extend(self.row(r).iter().find(|&&c| single(&occurs, c)));
        }
        while let Some(c) = ready.pop() {
            let (count, r) = occurs[c as usize];
            if count != 1 || std::mem::replace(&mut gone[r as usize], true) {
                continue;
            }
            left -= 1;
            for &c in self.row(r as usize) {
                let (count, sum) = &mut occurs[c as usize];
                *count -= 1;
                *sum = sum.wrapping_sub(r);
                if single(&occurs, c) {
                    ready.push(c);
                }
            }
        }
        left == 0
    }

    /// Whether the unknowns that occur nowhere else are a triangle in the rows.
    fn nothing_free(&self, uses: &[Use]) -> bool {
        let local = |c: &&u32| uses[**c as usize] == Use::Local;
        let mut users: Vec<(u32, u32)> = Vec::new();
        // Per row: how many such unknowns are left in it, and their numbers added up.
        let mut occurs: Vec<(u32, u32)> = vec![(0, 0); self.len()];
        for (r, (count, sum)) in occurs.iter_mut().enumerate() {
            for &c in self.row(r).iter().filter(local) {
                users.push((c, r as u32));
                *count += 1;
                *sum = sum.wrapping_add(c);
            }
        }
        users.sort_unstable();
        let mut left = users.chunk_by(|a, b| a.0 == b.0).count();
        let mut ready: Vec<u32> = (0..self.len() as u32)
            .filter(|&r| occurs[r as usize].0 == 1)
            .collect();
        while let Some(r) = ready.pop() {
            let (count, c) = occurs[r as usize];
            if count != 1 {
                continue;
            }
            left -= 1;
            let from = users.partition_point(|u| u.0 < c);
            for &(_, r) in users[from..].iter().take_while(|u| u.0 == c) {
                let (count, sum) = &mut occurs[r as usize];
                *count -= 1;
                *sum = sum.wrapping_sub(c);
                if *count == 1 {
                    ready.push(r);
                }
            }
        }
        left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(all: &[&[(u32, i64)]]) -> Rows {
        let mut rows = Rows::default();
        all.iter().for_each(|r| rows.push(&mut r.to_vec()));
        rows
    }

    #[test]
    fn a_triangle_is_independent_and_a_ring_is_not() {
        let uses = [Use::Rest; 4];
        let chain = rows(&[&[(0, 1), (1, -1)], &[(1, 1), (2, -1)], &[(2, 1), (3, -1)]]);
        assert!(chain.independent(&uses));
        let ring = rows(&[&[(0, 1), (1, -1)], &[(1, 1), (2, -1)], &[(2, 1), (0, -1)]]);
        assert!(!ring.independent(&uses));
        // What cancels does not occur.
        let nothing = rows(&[&[(0, 1), (0, -1)]]);
        assert!(!nothing.independent(&uses));
        // Two states only: a constraint.
        let constraint = rows(&[&[(0, 1), (1, -1)]]);
        assert!(!constraint.independent(&[Use::State, Use::State]));
        assert!(constraint.independent(&[Use::State, Use::Rest]));
    }

    #[test]
    fn two_unknowns_of_one_row_are_not_both_determined() {
        let difference = rows(&[&[(0, 1), (1, -1), (2, 1)]]);
        assert!(!difference.nothing_free(&[Use::Local, Use::Local, Use::Rest]));
        assert!(difference.nothing_free(&[Use::Local, Use::Rest, Use::Rest]));
        let both = rows(&[&[(0, 1), (1, -1)], &[(1, 1), (2, 1)]]);
        assert!(both.nothing_free(&[Use::Local, Use::Local, Use::Rest]));
    }
}
