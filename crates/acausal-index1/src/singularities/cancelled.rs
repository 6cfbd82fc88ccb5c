//! What numbers cancel and structure does not see: integer equations of a block that do not determine its unknowns.
//!
//! In: the blocks of the sorted highest-derivative equations. Out: the equations with one of each dependent set replaced by
//! what follows from the set, so that index reduction sees it; then the structural analysis is done again.
//!
//! Why: index reduction takes every coefficient for a number without relation to others. Let a capacitor lie in parallel to
//! a source, both off the ground: `c.v = a - b`, `u(t) = p - n`, `a = p`, `b = n`. Structurally these are four
//! equations for four potentials; in numbers they have rank three, and their sum says `c.v = u(t)`: a constraint of the
//! state. [`super::hidden`] does not find it when other equations determine the potentials, and before index reduction nobody knows
//! which. The right question is that of the *mixed matrices* of Murota (Systems Analysis by Matroids, 2000, §4.2 and
//! §6.3): the highest-derivative equations are regular for general parameters if and only if there is a matching whose columns
//! in the integer rows are independent in the sense of linear algebra. Here the part of it that needs no search
//! is asked: if the integer rows of one block are dependent in the unknowns of the block, its determinant is zero
//! whatever the other coefficients are. So a regular block is never touched, and a touched one was singular.
//!
//! Invariant: a row is replaced by a combination of rows with a coefficient other than zero for itself; the solutions stay.
//! Rows of a block that were differentiated equally often are looked at together, in their original form.
//! Cost: linear in the size of the blocks (a triangle is recognised at once); exact elimination of what is not a triangle.
//! Coefficients that are parameters are a matter of [`super::generic`]. Limit: blocks with arrays are not looked at.

use std::collections::BTreeMap;

use acausal_expr::flat::{Equation, FlatModel, OriginKind};
use acausal_expr::{ExprId, Node, Printer, Ty, ValueKind, VarId};
use acausal_structure::integer_elimination::{Class, IntegerSystem, decide};

use super::linear_form::{is_integer, scale, scaled};
use super::regular::{Rows, Use};
use super::{Regularised, generic};
use crate::segments::incidence::{is_unknown, order_of};
use crate::state_selection::Structure;

/// An equation of a block with integer coefficients of the unknowns of the block.
struct Row {
    equation: usize,
    /// Rather replaced than others.
    late: bool,
    /// Unknowns of the block.
    inside: Vec<(VarId, i64)>,
    /// Other unknowns with integer coefficients.
    outside: Vec<(VarId, i64)>,
    /// All else, with factors.
    rest: Vec<(f64, ExprId)>,
}

/// Replaces equations and notes what was done. False if there is nothing to do.
pub(crate) fn expose(
    flat: &mut FlatModel,
    equations: &mut [Equation],
    structure: &Structure,
    done: &mut Regularised,
) -> bool {
    let (nodes, blocks) = (&structure.nodes, &structure.blocks);
    // Each step takes away a matching; were there a model for which they do not end, numerics would refuse it.
    if done.replaced.len() > equations.len() {
        return false;
    }
    let mut integral = None;
    // The order of the unknowns of the block at hand.
    let mut order: Vec<Option<u8>> = Vec::new();
    let mut new: Vec<(usize, Equation)> = Vec::new();
    for (members, unknowns) in blocks.iter() {
        let unknowns = || unknowns.iter().map(|v| &nodes.variables[v.index()]);
        if members.len() < 2 || unknowns().any(|v| !v.spans.is_empty()) {
            continue;
        }
        let integral = integral.get_or_insert_with(|| nodes.differentiated.eq_integral());
        order.resize(flat.vars.len(), None);
        unknowns().for_each(|v| order[v.var.index()] = Some(v.order));
        let mut levels: BTreeMap<u8, (Vec<Row>, Vec<generic::Row>)> = BTreeMap::new();
        for e in members {
            let (mut e, mut times) = (*e, 0u8);
            while let Some(before) = integral[e.index()] {
                (e, times) = (before, times + 1);
            }
            let source = nodes.equations[e.index()].source;
            let eq = &equations[source];
            let (integer, linear) = levels.entry(times).or_default();
            integer.extend(row(flat, eq, source, times, &order));
            linear.extend(generic::row(flat, eq, source, times, &order));
        }
        unknowns().for_each(|v| order[v.var.index()] = None);
        for (integer, linear) in levels.into_values() {
            let before = new.len();
            if !is_triangle(&integer) {
                dependent(flat, equations, integer, &mut new);
            }
            // Where integers tell, what follows from them is simpler.
            if new.len() == before {
                generic::dependent(flat, equations, linear, &mut new);
            }
        }
    }
    let any = !new.is_empty();
    for (k, eq) in new {
        let printer = Printer::new(flat);
        let texts = (printer.equation(&equations[k]), printer.equation(&eq));
        done.replaced.push(texts);
        equations[k] = eq;
    }
    any
}

/// The equation as a row, if the unknowns of the block (those with an order) have integer coefficients in it and occur nowhere else.
fn row(
    flat: &FlatModel,
    eq: &Equation,
    equation: usize,
    times: u8,
    order: &[Option<u8>],
) -> Option<Row> {
    if !eq.domain.is_empty() {
        return None;
    }
    let x = &flat.exprs;
    let belongs = |v: VarId, kind: ValueKind| {
        order_of(kind).is_some_and(|k| order[v.index()] == Some(k.saturating_add(times)))
    };
    let (mut inside, mut outside, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    let mut todo = vec![(eq.rhs, -1.0), (eq.lhs, 1.0)];
    while let Some((e, coefficient)) = todo.pop() {
        match x.node(e) {
            Node::Add(l) => todo.extend(x.list(l).iter().rev().map(|&t| (t, coefficient))),
            Node::Var(a) if a.kind == ValueKind::Value && x.list(a.subs).is_empty() => {
                if belongs(a.var, a.kind) {
                    inside.push((coefficient, a.var));
                } else if is_unknown(flat, a.var) {
                    outside.push((coefficient, e, a.var));
                } else {
                    rest.push((coefficient, e));
                }
            }
            _ if x.is_zero(e) => {}
            _ => match scaled(x, e) {
                Some((f, part)) => todo.push((part, coefficient * f)),
                None => {
                    let mut taken = false;
                    x.for_each_access(&[e], |_, a| taken |= belongs(a.var, a.kind));
                    if taken {
                        return None;
                    }
                    rest.push((coefficient, e));
                }
            },
        }
    }
    let by = scale(inside.iter().map(|t| t.0)).filter(|_| !inside.is_empty())?;
    let count = |c: f64| (c * by).round() as i64;
    let mut whole = Vec::new();
    for (c, e, v) in outside {
        if is_integer(c * by) {
            whole.push((v, count(c)));
        } else {
            rest.push((c, e));
        }
    }
    let kind = flat.origin(eq.origin).kind;
    Some(Row {
        equation,
        late: matches!(
            kind,
            OriginKind::Potential | OriginKind::Flow | OriginKind::Unconnected
        ),
        inside: inside.into_iter().map(|(c, v)| (v, count(c))).collect(),
        outside: whole,
        rest: rest.into_iter().map(|(c, e)| (c * by, e)).collect(),
    })
}

/// Whether the rows can be taken away one by one, each by an unknown of the block that is in no other.
fn is_triangle(rows: &[Row]) -> bool {
    let mut columns: Vec<VarId> = rows.iter().flat_map(|r| &r.inside).map(|t| t.0).collect();
    columns.sort_unstable();
    columns.dedup();
    let mut triangle = Rows::default();
    let mut terms = Vec::new();
    for r in rows {
        let column = |v: VarId| columns.partition_point(|c| *c < v) as u32;
        terms.clear();
        terms.extend(r.inside.iter().map(|&(v, c)| (column(v), c)));
        triangle.push(&mut terms);
    }
    triangle.independent(&vec![Use::Rest; columns.len()])
}

/// What follows from rows that are dependent in the unknowns of their block, each in the place of a row.
fn dependent(
    flat: &mut FlatModel,
    equations: &[Equation],
    mut rows: Vec<Row>,
    new: &mut Vec<(usize, Equation)>,
) {
    // Columns in the order of names and rows in the order of columns, so that the source's order does not matter.
    let unknowns = rows.iter().flat_map(|r| r.inside.iter().chain(&r.outside));
    let mut names: Vec<(String, VarId)> = unknowns
        .map(|t| (flat.var(t.0).name.plain(), t.0))
        .collect();
    names.sort_unstable();
    names.dedup();
    let place: BTreeMap<VarId, usize> = (names.iter().enumerate()).map(|(k, n)| (n.1, k)).collect();
    let terms = |r: &Row| {
        let all = r.inside.iter().chain(&r.outside);
        let mut terms: Vec<(usize, i64)> = all.map(|(v, c)| (place[v], *c)).collect();
        terms.sort_unstable();
        terms
    };
    rows.sort_by_cached_key(|r| (r.late, terms(r)));
    let mut system = IntegerSystem {
        classes: vec![Class::State; names.len()],
        rows: Vec::with_capacity(rows.len()),
    };
    for r in &rows {
        r.inside
            .iter()
            .for_each(|t| system.classes[place[&t.0]] = Class::Rest);
        let mut row = terms(r);
        // All else in a row is one more quantity.
        row.push((system.classes.len(), 1));
        system.classes.push(Class::State);
        system.rows.push(row);
    }
    for c in decide(&system).constraints {
        let Some(found) = c.as_i64() else { continue };
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let mut add = |flat: &mut FlatModel, factor: f64, e: ExprId| {
            let size = flat.exprs.real(factor.abs());
            let e = flat.exprs.mul(&[size, e]);
            if factor > 0.0 {
                left.push(e);
            } else {
                right.push(e);
            }
        };
        for (v, factor) in found {
            let factor = factor as f64;
            match names.get(v.index()) {
                Some((_, var)) => {
                    let e = flat.exprs.var(*var, ValueKind::Value, &[], Ty::Real);
                    add(flat, factor, e);
                }
                None => {
                    for (f, e) in &rows[v.index() - names.len()].rest {
                        add(flat, factor * f, *e);
                    }
                }
            }
        }
        let equation = rows[c.replaces].equation;
        let (lhs, rhs) = (flat.exprs.add(&left), flat.exprs.add(&right));
        let eq = Equation {
            lhs,
            rhs,
            ..equations[equation].clone()
        };
        new.push((equation, eq));
    }
}
