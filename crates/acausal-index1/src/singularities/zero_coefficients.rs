//! Cuts array equations where literal coefficients are zero.
//!
//! In `r = ex*s1 + ey*s2` with `constant Real ex[3] = {1, 0, 0}` the third component holds neither s1 nor s2. As one
//! array equation `r[i] = {1, 0, 0}[i]*s1 + {0, 1, 0}[i]*s2` it seems to hold both for every i, which would hide a
//! singular system (Otter & Elmqvist 2017, §3.3). So the domain is cut into runs on which each list of literals is zero
//! or not, and the zeros are put in. The lists are written in the source, so the cost follows its length; an equation
//! whose lists alternate more often than [`MOST_RUNS`] times is left whole. Parameters are not looked at: their zeros may
//! go away.
//!
//! In: equations. Out: equations with the same solutions; those without such lists are not touched.

use acausal_expr::flat::{Equation, FlatModel};
use acausal_expr::{ExprId, Exprs, IterId, Node, Range};
use acausal_symbolic::Substitute;

/// Largest number of parts that an equation is cut into along one iterator.
const MOST_RUNS: usize = 64;

/// Cuts all equations.
pub(crate) fn cut_at_zeros(flat: &mut FlatModel, equations: Vec<Equation>) -> Vec<Equation> {
    let mut out = Vec::with_capacity(equations.len());
    for eq in equations {
        // Iterators one after the other: pieces of a cut equation are looked at again.
        let mut work = vec![eq];
        while let Some(eq) = work.pop() {
            match cut(&mut flat.exprs, &eq) {
                Some(pieces) => work.extend(pieces.into_iter().rev()),
                None => out.push(eq),
            }
        }
    }
    out
}

/// A list of literals of which some are zero, indexed by `coefficient*iterator + offset`.
struct Table {
    node: ExprId,
    zero: Vec<bool>,
    coefficient: i64,
    offset: i64,
}

impl Table {
    fn is_zero(&self, value: i64) -> bool {
        let k = self.coefficient * value + self.offset - 1;
        usize::try_from(k)
            .ok()
            .and_then(|k| self.zero.get(k))
            .copied()
            .unwrap_or(false)
    }
}

/// The pieces along the first iterator that moves through such a list.
fn cut(exprs: &mut Exprs, eq: &Equation) -> Option<Vec<Equation>> {
    for (place, &(iter, range)) in eq.domain.iter().enumerate() {
        let tables = tables(exprs, eq, iter);
        if tables.is_empty() || range.count < 1 {
            continue;
        }
        let pattern =
            |k: i64| -> Vec<bool> { tables.iter().map(|t| t.is_zero(range.at(k))).collect() };
        let mut runs: Vec<(i64, i64, Vec<bool>)> = Vec::new();
        for k in 0..range.count {
            let here = pattern(k);
            match runs.last_mut() {
                Some(run) if run.2 == here => run.1 += 1,
                _ => runs.push((k, 1, here)),
            }
            if runs.len() > MOST_RUNS {
                break;
            }
        }
        let any_zero = runs.iter().any(|r| r.2.contains(&true));
        if runs.len() > MOST_RUNS || !any_zero {
            continue;
        }
        let mut pieces = Vec::new();
        for (first, count, zeros) in runs {
            let mut piece = eq.clone();
            piece.domain[place].1 = Range {
                start: range.at(first),
                step: range.step,
                count,
            };
            let gone: Vec<ExprId> = tables
                .iter()
                .zip(&zeros)
                .filter(|(_, z)| **z)
                .map(|(t, _)| t.node)
                .collect();
            let mut without =
                |side: ExprId| exprs.rewrite(side, |x, e| gone.contains(&e).then(|| x.int(0)));
            piece.lhs = without(piece.lhs);
            piece.rhs = without(piece.rhs);
            pieces.push(piece);
        }
        return Some(pieces);
    }
    None
}

/// The lists with zeros that an iterator moves through.
fn tables(exprs: &Exprs, eq: &Equation, iter: IterId) -> Vec<Table> {
    let mut out = Vec::new();
    for node in exprs.reachable(&[eq.lhs, eq.rhs]) {
        let Node::Select(index, items) = exprs.node(node) else {
            continue;
        };
        let Some(affine) = exprs.affine(index) else {
            continue;
        };
        let values: Option<Vec<f64>> = exprs.list(items).iter().map(|&e| exprs.as_f64(e)).collect();
        let (Some(values), [(i, c)]) = (values, affine.terms.as_slice()) else {
            continue;
        };
        let zero: Vec<bool> = values.iter().map(|v| *v == 0.0).collect();
        if *i == iter && zero.contains(&true) {
            out.push(Table {
                node,
                zero,
                coefficient: *c,
                offset: affine.constant,
            });
        }
    }
    out
}
