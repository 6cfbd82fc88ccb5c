//! What the accesses of an equation are multiplied with, read off where the equation is a sum.
//!
//! In: a piece of an equation. Out: one [`Coefficient`] per access. Symbolic algebra is asked only for what is no sum of products. Linear in
//! the size of the equation.

use acausal_expr::flat::FlatModel;
use acausal_expr::{ExprId, Exprs, IterId, Node, ValueKind};
use acausal_symbolic::Solve;

use crate::segments::nodes::EquationNode;
use crate::singularities::evaluate;

/// Whether an expression holds parameters and numbers only.
pub(super) fn is_of_parameters(flat: &FlatModel, e: ExprId) -> bool {
    flat.exprs
        .reachable(&[e])
        .iter()
        .all(|&n| match flat.exprs.node(n) {
            Node::Var(a) => a.kind == ValueKind::Value && flat.var(a.var).is_parameter(),
            Node::Time => false,
            _ => true,
        })
}

/// What an access is multiplied with. Most coefficients of a large model are literals and parameters; those are not written as expressions, which would
/// have to be looked for among all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Coefficient {
    /// The equation is not linear in the access.
    Nonlinear,
    /// It is, with a coefficient of unknowns.
    Unusable,
    Literal(f64),
    /// The factors of a product that are literals and scalar parameters, times a literal.
    Product(ExprId, f64),
    Expression(ExprId),
}

impl Coefficient {
    pub(super) fn literal(&self, x: &Exprs) -> Option<f64> {
        match *self {
            Coefficient::Literal(c) => Some(c),
            Coefficient::Expression(c) => x.as_f64(c),
            Coefficient::Nonlinear | Coefficient::Unusable | Coefficient::Product(..) => None,
        }
    }

    /// Whether it holds parameters and numbers only.
    pub(super) fn is_of_parameters(&self, flat: &FlatModel) -> bool {
        match *self {
            Coefficient::Nonlinear | Coefficient::Unusable => false,
            Coefficient::Literal(_) | Coefficient::Product(..) => true,
            Coefficient::Expression(c) => is_of_parameters(flat, c),
        }
    }

    /// Its value, as far as it is known now.
    pub(super) fn value(&self, flat: &FlatModel, at: &[(IterId, i64)]) -> Option<f64> {
        let x = &flat.exprs;
        match *self {
            Coefficient::Nonlinear | Coefficient::Unusable => None,
            Coefficient::Literal(c) => Some(c),
            Coefficient::Expression(c) => evaluate::value(flat, c, at),
            Coefficient::Product(product, factor) => {
                let Node::Mul(l) = x.node(product) else {
                    return Some(factor);
                };
                let mut known = x.list(l).iter().filter(|&&f| is_known(flat, f));
                let literals = known.clone().filter_map(|&f| x.as_f64(f));
                let literal: f64 = literals.fold(factor, |v, c| v * c);
                known.try_fold(literal, |v, &f| match x.as_f64(f) {
                    Some(_) => Some(v),
                    None => Some(v * evaluate::value(flat, f, at)?),
                })
            }
        }
    }
}

/// The coefficient of each access of an equation.
pub(super) fn read_coefficients(
    flat: &mut FlatModel,
    eq: &EquationNode,
    sum: &mut Sum,
    out: &mut Vec<Coefficient>,
) {
    sum.read(flat, eq.piece.lhs, eq.piece.rhs);
    out.clear();
    let mut residual = None;
    for t in &eq.touched {
        let coefficient = sum.coefficient(t.node).unwrap_or_else(|| {
            let x = &mut flat.exprs;
            let (lhs, rhs) = (eq.piece.lhs, eq.piece.rhs);
            let residual = *residual.get_or_insert_with(|| x.sub(lhs, rhs));
            let parts = x.linear_in(residual, t.node);
            parts.map_or(Coefficient::Nonlinear, |(c, _)| Coefficient::Expression(c))
        });
        out.push(coefficient);
    }
}

/// An equation as a sum of terms `literal * access`, `literal * parameter * access` or `parameter * (sum of such)`, of products of scalar variables,
/// and of other terms. Most equations of a network are nothing but such a sum, and then the coefficients are read off instead of being found by symbolic
/// algebra.
#[derive(Default)]
pub(super) struct Sum {
    terms: Vec<(ExprId, f64)>,
    /// Products of parameters and one access, or a sum with it: the access, the product, and its literal factor.
    products: Vec<(ExprId, ExprId, f64)>,
    /// Factors that are unknowns or other variables, of products with several of them: the factor and the number of its product.
    factors: Vec<(ExprId, u32)>,
    /// What occurs in the other terms.
    inside: Vec<ExprId>,
    todo: Vec<(ExprId, f64)>,
}

impl Sum {
    fn read(&mut self, flat: &FlatModel, lhs: ExprId, rhs: ExprId) {
        let x = &flat.exprs;
        self.terms.clear();
        self.products.clear();
        self.factors.clear();
        self.todo.clear();
        self.todo.extend([(rhs, -1.0), (lhs, 1.0)]);
        let mut others = Vec::new();
        let mut number = 0;
        while let Some((e, factor)) = self.todo.pop() {
            match x.node(e) {
                Node::Add(l) => self.todo.extend(x.list(l).iter().map(|&t| (t, factor))),
                Node::Var(_) => self.terms.push((e, factor)),
                Node::Mul(l) => match (x.list(l), x.list(l).first().and_then(|&c| x.as_f64(c))) {
                    (&[_, rest], Some(c)) => self.todo.push((rest, factor * c)),
                    (factors, _) => match one_access(flat, factors) {
                        Some(access) => self.products.push((access, e, factor)),
                        None if self.read_sum(flat, e, factors, factor) => {}
                        None if factors.iter().all(|&f| is_scalar(x, f)) => {
                            let varies = factors.iter().filter(|&&f| !is_known(flat, f));
                            self.factors.extend(varies.map(|&f| (f, number)));
                            number += 1;
                        }
                        None => others.push(e),
                    },
                },
                Node::Real(_) | Node::Int(_) => {}
                _ => others.push(e),
            }
        }
        self.inside = match others.is_empty() {
            true => Vec::new(),
            false => x.reachable(&others),
        };
    }

    /// Reads `parameter * (a - 2*b)`; false, and nothing done, if the product is no such one.
    fn read_sum(&mut self, flat: &FlatModel, e: ExprId, factors: &[ExprId], factor: f64) -> bool {
        let x = &flat.exprs;
        let mut others = factors.iter().filter(|&&f| !is_known(flat, f));
        let (Some(&sum), None) = (others.next(), others.next()) else {
            return false;
        };
        let Node::Add(l) = x.node(sum) else {
            return false;
        };
        let known = self.products.len();
        for &term in x.list(l) {
            let (access, c) = match x.node(term) {
                Node::Var(_) => (term, 1.0),
                Node::Real(_) | Node::Int(_) => continue,
                Node::Mul(l) => match (x.list(l), x.list(l).first().and_then(|&c| x.as_f64(c))) {
                    (&[_, access], Some(c)) if matches!(x.node(access), Node::Var(_)) => {
                        (access, c)
                    }
                    _ => {
                        self.products.truncate(known);
                        return false;
                    }
                },
                _ => {
                    self.products.truncate(known);
                    return false;
                }
            };
            self.products.push((access, e, factor * c));
        }
        true
    }

    /// The coefficient of an access that occurs in the terms only, or in one product only.
    fn coefficient(&self, access: ExprId) -> Option<Coefficient> {
        if self.inside.contains(&access) {
            return None;
        }
        let mut products = self.products.iter().filter(|p| p.0 == access);
        let mut factors = self.factors.iter().filter(|f| f.0 == access);
        let terms = self.terms.iter().filter(|t| t.0 == access);
        match (products.next(), factors.next()) {
            (None, None) => Some(Coefficient::Literal(terms.map(|t| t.1).sum())),
            (Some(&(_, product, factor)), None) => {
                let single = products.next().is_none() && terms.count() == 0;
                single.then_some(Coefficient::Product(product, factor))
            }
            (None, Some(&(_, product))) => {
                let single = factors.next().is_none() && terms.count() == 0;
                // The other one is no parameter, and cannot be divided by.
                let other = |f: &(ExprId, u32)| f.1 == product && f.0 != access;
                let coefficient = single && self.factors.iter().any(other);
                coefficient.then_some(Coefficient::Unusable)
            }
            (Some(_), Some(_)) => None,
        }
    }
}

/// A literal or a scalar variable.
fn is_scalar(x: &Exprs, e: ExprId) -> bool {
    match x.node(e) {
        Node::Var(a) => x.list(a.subs).is_empty(),
        _ => x.as_f64(e).is_some(),
    }
}

/// A literal or a scalar parameter.
pub(super) fn is_known(flat: &FlatModel, e: ExprId) -> bool {
    match flat.exprs.node(e) {
        Node::Var(a) => {
            let v = flat.var(a.var);
            a.kind == ValueKind::Value && v.is_parameter() && v.dims.is_empty()
        }
        _ => flat.exprs.as_f64(e).is_some(),
    }
}

/// The only factor that is no scalar parameter or literal, if it is an access.
fn one_access(flat: &FlatModel, factors: &[ExprId]) -> Option<ExprId> {
    let mut others = factors.iter().copied().filter(|&f| !is_known(flat, f));
    let access = others.next()?;
    let single = others.next().is_none() && matches!(flat.exprs.node(access), Node::Var(_));
    single.then_some(access)
}
