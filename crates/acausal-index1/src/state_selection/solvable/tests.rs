use acausal_expr::flat::{Comprehension, Equation, OriginId, VarType, Variability, Variable};
use acausal_expr::{ThinVec, Ty, ValueKind, VarId};
use acausal_symbolic::Solve;

use super::coefficients::is_of_parameters;
use super::*;
use crate::singularities::evaluate;

/// Two parameters, one without a value, and four unknowns.
fn model() -> (FlatModel, Vec<ExprId>) {
    let mut flat = FlatModel::default();
    let two = flat.exprs.real(2.0);
    for (k, name) in ["p", "q", "w", "x", "y", "z"].iter().enumerate() {
        let variability = match k {
            0 | 1 => Variability::Parameter,
            _ => Variability::Continuous,
        };
        let mut v = Variable::new(name, Vec::new(), VarType::Real, variability);
        v.binding = (k == 0).then(|| Comprehension::scalar(two));
        flat.vars.push(v);
    }
    let access = |k| {
        let var = VarId(k);
        flat.exprs.scalar_var(var, ValueKind::Value, Ty::Real)
    };
    let accesses = (0..6).map(access).collect();
    (flat, accesses)
}

/// The coefficients that are read off sums are those of symbolic algebra: the same literals, the same values of what is known, and no others.
#[test]
fn coefficients_are_those_of_the_derivative() {
    let (mut flat, v) = model();
    let x = &mut flat.exprs;
    let (minus, half) = (x.int(-1), x.real(0.5));
    let mut pool = vec![v[2], v[3], half];
    let sine = x.call(acausal_expr::Builtin::Sin, &[v[3]]);
    for factors in [
        &[minus, v[2]][..],
        &[half, v[3]],
        &[v[0], v[2]],
        &[v[1], v[3]],
        &[minus, v[0], v[1], v[3]],
        &[v[2], v[3]],
        &[v[0], v[2], v[4]],
        &[v[3], v[3]],
        &[v[2], sine],
        &[v[0], v[1]],
    ] {
        pool.push(x.mul(factors));
    }
    // A parameter times a sum, of which it need not be known whether it is a parameter.
    for (p, members) in [
        (v[0], &[v[2], pool[3]][..]),
        (v[0], &[v[2], pool[4], half]),
        (v[1], &[v[3], v[0]]),
        (v[0], &[v[3], pool[8]]),
    ] {
        let sum = x.add(members);
        pool.push(x.mul(&[minus, p, sum]));
    }
    let mut kinds = [0; 4];
    for a in 0..pool.len() {
        for b in 0..pool.len() {
            for c in 0..pool.len() {
                let lhs = flat.exprs.add(&[pool[a], pool[b]]);
                let rhs = pool[c];
                let mut touched: Vec<(ExprId, VarId)> = Vec::new();
                flat.exprs.for_each_access(&[lhs, rhs], |node, a| {
                    if a.var.index() > 1 {
                        touched.push((node, a.var));
                    }
                });
                let eq = equation(lhs, rhs, &touched);
                let mut fast = Vec::new();
                read_coefficients(&mut flat, &eq, &mut Sum::default(), &mut fast);
                for (c, t) in fast.iter().zip(&eq.touched) {
                    let residual = flat.exprs.sub(lhs, rhs);
                    let slow = flat.exprs.linear_in(residual, t.node).map(|s| s.0);
                    let literal = slow.and_then(|s| flat.exprs.as_f64(s));
                    assert_eq!(c.literal(&flat.exprs), literal, "{a} {b} {c:?}");
                    let known = slow.filter(|&s| is_of_parameters(&flat, s));
                    assert_eq!(c.is_of_parameters(&flat), known.is_some(), "{a} {b} {c:?}");
                    if let Some(known) = known {
                        let value = evaluate::value(&flat, known, &[]);
                        assert_eq!(c.value(&flat, &[]), value, "{a} {b} {c:?}");
                    }
                    kinds[match c {
                        Coefficient::Nonlinear | Coefficient::Unusable => 0,
                        Coefficient::Literal(_) => 1,
                        Coefficient::Product(..) => 2,
                        Coefficient::Expression(_) => 3,
                    }] += 1;
                }
            }
        }
    }
    assert!(kinds.iter().all(|&k| k > 100), "{kinds:?}");
}

fn equation(lhs: ExprId, rhs: ExprId, touched: &[(ExprId, VarId)]) -> EquationNode {
    let touch = |&(node, var): &(ExprId, VarId)| Touched {
        var,
        order: 0,
        spans: ThinVec::default(),
        index: ThinVec::default(),
        node,
        elementwise: true,
    };
    EquationNode {
        source: 0,
        piece: Equation {
            domain: ThinVec::default(),
            lhs,
            rhs,
            origin: OriginId(0),
        },
        spans: ThinVec::default(),
        touched: touched.iter().map(touch).collect(),
    }
}
