//! The integer sums inside of equations that are no integer equations.
//!
//! In: an equation such as `p.v - n.v = R*p.i`. Out: its *integer sums*, here `p.v - n.v`, and the accesses outside of
//! them, here `p.i`. A sum is a maximal one: that of the whole equation, `lhs - rhs`, or one inside of a product, of an
//! argument, of a condition and so on: `p1.v - n1.v = n*(p2.v - n2.v)` has two.
//!
//! Why: with a name for each sum, `a = p.v - n.v`, the equation reads `a = R*p.i`, and the definition of `a` is an
//! integer equation. The elimination gets such definitions as rows beside the integer equations (`system.rs`), each with
//! a column of its own for `a`, and then sees that potentials occur in differences only, however the laws of the components
//! are written. Since the column of `a` is in no other row, its row is independent of all others: it is never redundant
//! and never becomes a constraint. So the names exist in the analysis only, no equation is rewritten, and what the analysis
//! finds free or redundant is so in the equations as they are: a shift of potentials that keeps every `a` keeps every residual.
//!
//! Terms belong to one sum if their coefficients are integers after scaling ([`scale`]); if those of all terms
//! are not, terms with equal ones do (`x + 0.37*(p.v - n.v)`). A term that is alone is no sum, it is used as it is.
//! Cost: n log n in the size of the expression; array equations are looked at once, whatever their length.

use std::collections::BinaryHeap;

use acausal_expr::flat::{Equation, FlatModel};
use acausal_expr::{Access, ExprId, IterId, Node, Range, ReduceOp, ValueKind};

use super::linear_form::{Factor, Term, scale, scaled};

/// The parts of an equation. Made once and used for many, so that small ones cost no allocation.
#[derive(Default)]
pub(super) struct Split {
    /// The integer sums.
    pub(super) sums: Vec<Sum>,
    /// What occurs outside of them, with value or derivative.
    pub(super) used: Vec<Access>,
    /// Reductions: the one around each, its iterator and its values. Number 0 is the equation itself.
    scopes: Vec<(u32, IterId, Range)>,
    /// Sums that are being taken apart.
    todo: Vec<(ExprId, f64, u32)>,
    /// The terms of a sum: coefficient, unknown, scope.
    terms: Vec<(f64, Access, u32)>,
    /// Expressions to be looked at. Parents are younger than their children: the youngest first meets each once.
    open: BinaryHeap<(ExprId, u32)>,
}

/// `sum(terms)`, for all values of the iterators of the equation and of the reductions around it.
pub(super) struct Sum {
    pub(super) terms: Vec<Term>,
    pub(super) around: Vec<(IterId, Range)>,
}

impl Split {
    /// Takes an equation apart. `unknown` says which variables the equations determine.
    pub(super) fn of(&mut self, flat: &FlatModel, eq: &Equation, unknown: impl Fn(Access) -> bool) {
        let x = &flat.exprs;
        self.sums.clear();
        self.used.clear();
        self.scopes.clear();
        self.todo.clear();
        self.todo.extend([(eq.lhs, 1.0, 0), (eq.rhs, -1.0, 0)]);
        self.sum(flat, 0, &unknown);
        let mut last = None;
        while let Some((e, scope)) = self.open.pop() {
            if last.replace(e) == Some(e) {
                continue;
            }
            match x.node(e) {
                Node::Add(_)
                | Node::Reduce {
                    op: ReduceOp::Sum, ..
                } => {
                    self.todo.push((e, 1.0, scope));
                    self.sum(flat, scope, &unknown);
                }
                Node::Reduce {
                    iter, range, body, ..
                } => {
                    let inside = self.inside(scope, iter, range);
                    self.open.push((body, inside));
                }
                node => {
                    if let Node::Var(a) = node
                        && a.kind != ValueKind::Pre
                    {
                        self.used.push(a);
                    }
                    x.for_each_child(e, |c| self.open.push((c, scope)));
                }
            }
        }
    }

    fn inside(&mut self, scope: u32, iter: IterId, range: Range) -> u32 {
        self.scopes.push((scope, iter, range));
        self.scopes.len() as u32
    }

    /// The iterators of the reductions from one scope out to another, the outermost first.
    fn iterators(&self, mut from: u32, to: u32) -> Vec<(IterId, Range)> {
        let mut out = Vec::new();
        while from != to {
            let (next, iter, range) = self.scopes[from as usize - 1];
            out.push((iter, range));
            from = next;
        }
        out.reverse();
        out
    }

    /// Takes apart the sum that is in `todo` and stands in a scope.
    fn sum(&mut self, flat: &FlatModel, scope: u32, unknown: &impl Fn(Access) -> bool) {
        let x = &flat.exprs;
        self.terms.clear();
        while let Some((e, coefficient, at)) = self.todo.pop() {
            match x.node(e) {
                Node::Add(l) => {
                    let members = x.list(l).iter();
                    self.todo.extend(members.map(|&t| (t, coefficient, at)));
                }
                Node::Reduce {
                    op: ReduceOp::Sum,
                    iter,
                    range,
                    body,
                } => {
                    let inside = self.inside(at, iter, range);
                    self.todo.push((body, coefficient, inside));
                }
                Node::Var(a) if a.kind == ValueKind::Value && unknown(a) => {
                    self.terms.push((coefficient, a, at));
                }
                _ => match scaled(x, e) {
                    Some((f, part)) => self.todo.push((part, coefficient * f, at)),
                    None => self.open.push((e, at)),
                },
            }
        }
        let mut terms = std::mem::take(&mut self.terms);
        if scale(terms.iter().map(|t| t.0)).is_some() {
            self.group(scope, &terms);
        } else {
            terms.sort_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
            for equal in terms.chunk_by(|a, b| a.0.abs() == b.0.abs()) {
                self.group(scope, equal);
            }
        }
        self.terms = terms;
    }

    /// Terms whose coefficients fit together.
    fn group(&mut self, scope: u32, terms: &[(f64, Access, u32)]) {
        let single = matches!(terms, [t] if t.2 == scope);
        let by = scale(terms.iter().map(|t| t.0)).filter(|_| !single);
        let Some(by) = by else {
            self.used.extend(terms.iter().map(|t| t.1));
            return;
        };
        let terms = terms.iter().map(|&(coefficient, a, at)| Term {
            coefficient: (coefficient * by).round() as i64,
            factor: Factor::Unknown(a),
            inner: self.iterators(at, scope),
        });
        let terms: Vec<Term> = terms.collect();
        if !terms.is_empty() {
            let around = self.iterators(scope, 0);
            self.sums.push(Sum { terms, around });
        }
    }
}
