//! Splitting an equation where its array expression is irregular.
//!
//! The front end writes an irregular array as a comprehension too: `{a, b}` is `{a, b}[k]`, `cat(1, {a}, x)` is
//! `if k <= 1 then a else x[k-1]`. An equation over such a body is cut into equations whose bodies are regular: at the
//! boundaries of conditions that are affine in one iterator, and into single elements only along an iterator that
//! selects from different expressions. A selection from literals stays whole (it becomes a table).

use acausal_expr::flat::Equation;
use acausal_expr::{ExprId, Exprs, IterId, Node, Range, RelOp};

use crate::{AffineRelation, Substitute};

/// Cuts an equation into regular ones. The order is the order of elements.
pub fn split_equation(exprs: &mut Exprs, equation: Equation) -> Vec<Equation> {
    let mut done = Vec::new();
    let mut todo = vec![equation];
    while let Some(mut eq) = todo.pop() {
        if eq.is_empty() {
            continue;
        }
        if let Some(k) = eq.domain.iter().position(|(_, r)| r.count == 1) {
            // One value only: the iterator is a constant.
            let (iter, range) = eq.domain.remove(k);
            let value = exprs.int(range.start);
            eq.lhs = exprs.substitute_iter(eq.lhs, iter, value);
            eq.rhs = exprs.substitute_iter(eq.rhs, iter, value);
            todo.push(eq);
            continue;
        }
        match find_cut(exprs, &eq) {
            None => done.push(eq),
            Some(Cut::Elements(iter)) => {
                let k = position(&eq, iter);
                let range = eq.domain[k].1;
                for v in range.values().rev_collect() {
                    let mut one = eq.clone();
                    one.domain[k].1 = Range {
                        start: v,
                        step: 1,
                        count: 1,
                    };
                    todo.push(one);
                }
            }
            Some(Cut::Before(iter, count)) => {
                let k = position(&eq, iter);
                let range = eq.domain[k].1;
                let mut tail = eq.clone();
                tail.domain[k].1 = Range {
                    start: range.at(count),
                    step: range.step,
                    count: range.count - count,
                };
                eq.domain[k].1.count = count;
                todo.push(tail);
                todo.push(eq);
            }
            Some(Cut::Decided(condition, value)) => {
                let value = exprs.bool(value);
                eq.lhs = exprs.rewrite(eq.lhs, |_, e| (e == condition).then_some(value));
                eq.rhs = exprs.rewrite(eq.rhs, |_, e| (e == condition).then_some(value));
                todo.push(eq);
            }
        }
    }
    done
}

trait RevCollect: Iterator<Item = i64> + Sized {
    fn rev_collect(self) -> std::iter::Rev<std::vec::IntoIter<i64>> {
        self.collect::<Vec<_>>().into_iter().rev()
    }
}
impl<I: Iterator<Item = i64>> RevCollect for I {}

enum Cut {
    /// Into single elements along the iterator.
    Elements(IterId),
    /// Into the first `count` values and the rest.
    Before(IterId, i64),
    /// The condition has one value over the whole domain.
    Decided(ExprId, bool),
}

fn position(eq: &Equation, iter: IterId) -> usize {
    let place = eq.domain.iter().position(|(i, _)| *i == iter);
    place.expect("an equation is cut along one of its own iterators")
}

fn find_cut(exprs: &Exprs, eq: &Equation) -> Option<Cut> {
    for e in exprs.reachable(&[eq.lhs, eq.rhs]) {
        match exprs.node(e) {
            Node::Select(index, list) => {
                let literals = exprs
                    .list(list)
                    .iter()
                    .all(|&m| exprs.as_f64(m).is_some() || exprs.as_bool(m).is_some());
                if literals {
                    continue;
                }
                let used = eq
                    .domain
                    .iter()
                    .find(|(i, _)| exprs.depends_on_iter(index, *i));
                if let Some((iter, _)) = used {
                    return Some(Cut::Elements(*iter));
                }
            }
            Node::Rel(op, a, b) => {
                if let Some(cut) = relation_cut(exprs, eq, e, op, a, b) {
                    return Some(cut);
                }
            }
            _ => {}
        }
    }
    None
}

/// A relation between affine integer expressions of one iterator of the domain.
fn relation_cut(
    exprs: &Exprs,
    eq: &Equation,
    e: ExprId,
    op: RelOp,
    a: ExprId,
    b: ExprId,
) -> Option<Cut> {
    let (a, b) = (exprs.affine(a)?, exprs.affine(b)?);
    let mut iters: Vec<IterId> = a.terms.iter().chain(&b.terms).map(|t| t.0).collect();
    iters.sort_unstable();
    iters.dedup();
    // Inside of a reduction, `sum(if i == j then … for j in …)`, the domain does not decide.
    if !iters.iter().all(|i| eq.domain.iter().any(|d| d.0 == *i)) {
        return None;
    }
    let &iter = iters.first()?;
    if iters.len() > 1 {
        // Two iterators meet in one condition (`i == j`): single values of the first decide it.
        return Some(Cut::Elements(iter));
    }
    let relation = AffineRelation {
        op,
        constant: a.constant - b.constant,
        slope: a.coefficient(iter) - b.coefficient(iter),
        range: eq.domain[position(eq, iter)].1,
    };
    Some(match relation.change() {
        None => Cut::Decided(e, relation.holds(0)),
        Some(k) => Cut::Before(iter, k),
    })
}
