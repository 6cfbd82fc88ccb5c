//! Splitting an equation where its array expression is irregular.
//!
//! The front end writes an irregular array as a comprehension too: `{a, b}` is `{a, b}[k]`, `cat(1, {a}, x)` is
//! `if k <= 1 then a else x[k-1]`. An equation over such a body is cut into equations whose bodies are regular: at the
//! boundaries of conditions that are affine in one iterator, and into single elements only along an iterator that
//! selects from different expressions. A selection from literals stays whole (it becomes a table).

use crate::flat::Equation;
use crate::{ExprId, Exprs, IterId, Node, Range, RelOp};

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
    eq.domain.iter().position(|(i, _)| *i == iter).unwrap_or(0)
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

/// `constant + slope*i` compared with zero, for `i` in a range. The left side is monotonic along the range, so that the truth changes at most once
/// (twice for `==` and `<>`).
#[derive(Clone, Copy, Debug)]
pub struct AffineRelation {
    /// How it is compared with zero.
    pub op: RelOp,
    /// The part without the iterator.
    pub constant: i64,
    /// The coefficient of the iterator.
    pub slope: i64,
    /// The values of the iterator.
    pub range: Range,
}

impl AffineRelation {
    fn value(&self, k: i64) -> i128 {
        let i = i128::from(self.range.start) + i128::from(self.range.step) * i128::from(k);
        i128::from(self.constant) + i128::from(self.slope) * i
    }

    /// Whether it holds at a position of the range, from 0.
    pub fn holds(&self, k: i64) -> bool {
        let sign = self.value(k).signum() as f64;
        crate::evaluate::compare(self.op, sign, 0.0)
    }

    /// The position at which the left side is zero.
    pub fn root(&self) -> Option<i64> {
        let rate = i128::from(self.slope) * i128::from(self.range.step);
        let start = self.value(0);
        if rate == 0 || start % rate != 0 {
            return None;
        }
        let k = -start / rate;
        (0..i128::from(self.range.count))
            .contains(&k)
            .then_some(k as i64)
    }

    /// The number of values at the beginning of the range with the truth of the first one; `None` if all have it.
    pub fn change(&self) -> Option<i64> {
        let last = self.range.count - 1;
        if self.slope == 0 || last < 1 {
            return None;
        }
        if matches!(self.op, RelOp::Eq | RelOp::Ne) {
            return self.root().map(|k| k.max(1));
        }
        let first = self.holds(0);
        if self.holds(last) == first {
            return None;
        }
        let (mut low, mut high) = (0, last);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.holds(middle) == first {
                low = middle
            } else {
                high = middle
            }
        }
        Some(high)
    }

    /// The part of the range where it holds, if that is one range; else the whole.
    pub fn narrowed(&self) -> Range {
        let range = self.range;
        let from = |k: i64, count: i64| Range {
            start: range.at(k),
            step: range.step,
            count,
        };
        if range.count <= 0 {
            return range;
        }
        match (self.op, self.root()) {
            _ if self.slope == 0 && !self.holds(0) => from(0, 0),
            _ if self.slope == 0 => range,
            (RelOp::Eq, Some(k)) => from(k, 1),
            (RelOp::Eq, None) => from(0, 0),
            (RelOp::Ne, Some(0)) => from(1, range.count - 1),
            // A hole in the middle is no range.
            (RelOp::Ne, Some(k)) if k == range.count - 1 => from(0, k),
            (RelOp::Ne, _) => range,
            _ => match (self.holds(0), self.change()) {
                (true, None) => range,
                (false, None) => from(0, 0),
                (true, Some(k)) => from(0, k),
                (false, Some(k)) => from(k, range.count - k),
            },
        }
    }
}

impl Exprs {
    /// Cuts a reduction where a condition of its iterator changes, as [`split_equation`] cuts an equation: parts of the range, each with the
    /// expression that holds there. `None` if there is no such condition.
    ///
    /// Example: `if j < 9 then x[j+1] else 0` over `1:9` gives `x[j+1]` over `1:8` and `0` over `9:9`.
    pub(crate) fn reduction_parts(
        &mut self,
        iter: IterId,
        range: Range,
        body: ExprId,
    ) -> Option<Vec<(Range, ExprId)>> {
        self.condition_of(iter, range, body)?;
        let (mut parts, mut todo) = (Vec::new(), vec![(range, body)]);
        while let Some((range, body)) = todo.pop() {
            let Some((condition, relation)) = self.condition_of(iter, range, body) else {
                parts.push((range, body));
                continue;
            };
            match relation.change() {
                None => {
                    let value = self.bool(relation.holds(0));
                    let body = self.rewrite(body, |_, e| (e == condition).then_some(value));
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
        &self,
        iter: IterId,
        range: Range,
        body: ExprId,
    ) -> Option<(ExprId, AffineRelation)> {
        self.reachable(&[body]).into_iter().find_map(|e| {
            let Node::Rel(op, a, b) = self.node(e) else {
                return None;
            };
            let (a, b) = (self.affine(a)?, self.affine(b)?);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the truth at each value.
    #[test]
    fn relations_narrow_ranges() {
        let ops = [
            RelOp::Lt,
            RelOp::Le,
            RelOp::Gt,
            RelOp::Ge,
            RelOp::Eq,
            RelOp::Ne,
        ];
        for (op, slope) in ops
            .into_iter()
            .flat_map(|op| [-2, -1, 0, 1, 3].map(|s| (op, s)))
        {
            for (constant, (start, step)) in
                (-9..9).flat_map(|c| [(1, 1), (5, -2), (-3, 3)].map(|r| (c, r)))
            {
                let range = Range {
                    start,
                    step,
                    count: 5,
                };
                let relation = AffineRelation {
                    op,
                    constant,
                    slope,
                    range,
                };
                let holds: Vec<i64> = range
                    .values()
                    .filter(|i| crate::evaluate::compare(op, (constant + slope * i) as f64, 0.0))
                    .collect();
                let narrowed: Vec<i64> = relation.narrowed().values().collect();
                let hole = op == RelOp::Ne && holds.len() == 4 && narrowed.len() == 5;
                assert!(hole || narrowed == holds, "{relation:?}: {narrowed:?}");
                if let Some(k) = relation.change() {
                    assert!((1..5).contains(&k) && relation.holds(k) != relation.holds(k - 1));
                }
            }
        }
    }
}
