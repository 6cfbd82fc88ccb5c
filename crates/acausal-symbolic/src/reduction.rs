//! The normal form of reductions (`sum(… for i in …)`, `product`, `min`, `max`).
//!
//! A reduction over few values, or one that selects from a list by its iterator, is written out; one whose body has a
//! condition on the iterator is cut where the condition changes; a sum of what does not depend on the iterator is a
//! product. What is left is a node with an iterator, however long its range is.
//!
//! Unlike those of the other constructors this form is not decided by a look at the operands: it substitutes and cuts
//! ranges, so it is calculus and stands here, and not among the constructors of `acausal-expr`.

use acausal_expr::{Builtin, ExprId, Exprs, IterId, Node, Range, ReduceOp};

use crate::{AffineRelation, Substitute};

/// Reductions over this many values are written out, so that small vector products need no loop.
const WRITE_OUT: i64 = 8;

/// The constructor of reductions.
pub trait Reduce {
    /// A reduction; short ones are written out.
    fn reduce(&mut self, op: ReduceOp, iter: IterId, range: Range, body: ExprId) -> ExprId;
}

impl Reduce for Exprs {
    fn reduce(&mut self, op: ReduceOp, iter: IterId, range: Range, body: ExprId) -> ExprId {
        if range.count <= WRITE_OUT {
            return written_out(self, op, iter, range, body);
        }
        if let Some(parts) = reduction_parts(self, iter, range, body) {
            let terms: Vec<ExprId> = parts
                .into_iter()
                .map(|(range, body)| self.reduce(op, iter, range, body))
                .collect();
            return combine(self, op, &terms);
        }
        // Behind the cuts: of `cat(1, 1:n, {a, b})` only the last two values select from a list.
        let irregular = self.any(body, |e, n| match e.node(n) {
            Node::Select(index, _) => e.any(index, |e, m| e.node(m) == Node::Iter(iter)),
            _ => false,
        });
        if irregular {
            return written_out(self, op, iter, range, body);
        }
        if op == ReduceOp::Sum && !self.depends_on_iter(body, iter) {
            let n = self.int(range.count);
            return self.mul(&[n, body]);
        }
        self.reduction(op, iter, range, body)
    }
}

/// The reduction with an expression for each value.
fn written_out(
    exprs: &mut Exprs,
    op: ReduceOp,
    iter: IterId,
    range: Range,
    body: ExprId,
) -> ExprId {
    let terms: Vec<ExprId> = range
        .values()
        .map(|v| {
            let v = exprs.int(v);
            exprs.substitute_iter(body, iter, v)
        })
        .collect();
    combine(exprs, op, &terms)
}

/// The reduction of expressions that are written out.
fn combine(exprs: &mut Exprs, op: ReduceOp, terms: &[ExprId]) -> ExprId {
    match op {
        ReduceOp::Sum => exprs.add(terms),
        ReduceOp::Product => exprs.mul(terms),
        ReduceOp::Min => fold(exprs, Builtin::Min, terms, f64::MAX),
        ReduceOp::Max => fold(exprs, Builtin::Max, terms, f64::MIN),
    }
}

fn fold(exprs: &mut Exprs, f: Builtin, terms: &[ExprId], empty: f64) -> ExprId {
    match terms.split_first() {
        None => exprs.real(empty),
        Some((&first, rest)) => rest.iter().fold(first, |acc, &t| exprs.call(f, &[acc, t])),
    }
}

/// Cuts a reduction where a condition of its iterator changes, as [`split_equation`](crate::split_equation) cuts an equation: parts of the range, each with the
/// expression that holds there. `None` if there is no such condition.
///
/// Example: `if j < 9 then x[j+1] else 0` over `1:9` gives `x[j+1]` over `1:8` and `0` over `9:9`.
fn reduction_parts(
    exprs: &mut Exprs,
    iter: IterId,
    range: Range,
    body: ExprId,
) -> Option<Vec<(Range, ExprId)>> {
    condition_of(exprs, iter, range, body)?;
    let (mut parts, mut todo) = (Vec::new(), vec![(range, body)]);
    while let Some((range, body)) = todo.pop() {
        let Some((condition, relation)) = condition_of(exprs, iter, range, body) else {
            parts.push((range, body));
            continue;
        };
        match relation.change() {
            None => {
                let value = exprs.bool(relation.holds(0));
                let body = exprs.rewrite(body, |_, e| (e == condition).then_some(value));
                todo.push((range, body));
            }
            Some(k) => {
                let tail = Range {
                    start: range.at(k),
                    step: range.step,
                    count: range.count - k,
                };
                todo.extend([(tail, body), (Range { count: k, ..range }, body)]);
            }
        }
    }
    Some(parts)
}

/// A relation that depends on nothing but the iterator.
fn condition_of(
    exprs: &Exprs,
    iter: IterId,
    range: Range,
    body: ExprId,
) -> Option<(ExprId, AffineRelation)> {
    exprs.reachable(&[body]).into_iter().find_map(|e| {
        let Node::Rel(op, a, b) = exprs.node(e) else {
            return None;
        };
        let (a, b) = (exprs.affine(a)?, exprs.affine(b)?);
        let own = |t: &(IterId, i64)| t.0 == iter;
        if !a.terms.iter().chain(&b.terms).all(own) || a.terms.len() + b.terms.len() == 0 {
            return None;
        }
        let relation = AffineRelation {
            op,
            constant: a.constant - b.constant,
            slope: a.coefficient(iter) - b.coefficient(iter),
            range,
        };
        Some((e, relation))
    })
}
