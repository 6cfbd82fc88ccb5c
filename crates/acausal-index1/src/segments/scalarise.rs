//! Arrays taken apart into scalar equations: the oracle for the array passes (`--scalarise`), and the last resort where
//! pieces of arrays do not suffice.

use acausal_expr::ExprId;
use acausal_expr::flat::{Equation, FlatModel};
use acausal_symbolic::Substitute;

use acausal_symbolic::elements::for_each_point;

/// One equation per element.
pub fn scalarise(flat: &mut FlatModel, equations: Vec<Equation>) -> Vec<Equation> {
    let mut out = Vec::new();
    for eq in equations {
        if eq.domain.is_empty() {
            out.push(eq);
            continue;
        }
        let exprs = &mut flat.exprs;
        for_each_point(&eq.domain, |point| {
            let values: Vec<(acausal_expr::IterId, ExprId)> = eq
                .domain
                .iter()
                .zip(point)
                .map(|((i, _), &p)| (*i, exprs.int(p)))
                .collect();
            let lhs = exprs.substitute_iters(eq.lhs, &values);
            let rhs = exprs.substitute_iters(eq.rhs, &values);
            out.push(Equation {
                domain: Vec::new().into(),
                lhs,
                rhs,
                origin: eq.origin,
            });
        });
    }
    out
}
