//! From the decisions of the elimination to changed equations.
//!
//! In: systems with their decisions. Out: the equations with redundant ones removed (a point of an array equation is cut
//! out of its domain), constraints in place of hidden ones, and `v = 0` for free unknowns. Unknowns are only set free
//! when at least as many equations were superfluous: otherwise the model lacks equations, which is for the structural
//! analysis to say.

use std::collections::BTreeMap;

use acausal_expr::flat::{Equation, FlatModel, Origin, OriginId, OriginKind};
use acausal_expr::{ExprId, IterId, Kind, Printer, Range, Ty, VarId};
use acausal_structure::integer_elimination::{Class, Constraint, Decisions};
use acausal_syntax::Diagnostic;

use super::Regularised;
use super::evaluate::value;
use super::system::{Column, Row, System};

/// Known quantities are equal up to this share of their size.
const EQUAL: f64 = 1e-12;

/// An unknown that nothing determines: the element, or the whole array over a box.
struct Free {
    var: VarId,
    element: Option<u32>,
    shape: Vec<usize>,
}

/// What is to be changed.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) report: Regularised,
    errors: Vec<Diagnostic>,
    /// Points to be cut out, per equation; `None` stands for the whole equation.
    gone: BTreeMap<usize, Option<Vec<usize>>>,
    added: Vec<Equation>,
    free: Vec<Free>,
    superfluous: usize,
}

impl Plan {
    /// Takes over the decisions about one system.
    pub(super) fn add(
        &mut self,
        flat: &mut FlatModel,
        equations: &[Equation],
        system: &System,
        decisions: &Decisions,
    ) {
        let copies: usize = system.shape.iter().product();
        for &k in &decisions.redundant {
            self.superfluous += copies;
            self.remove(flat, equations, &system.rows[k]);
        }
        for c in &decisions.parameter_constraints {
            if self.check(flat, equations, system, c) {
                self.superfluous += copies;
                self.remove(flat, equations, &system.rows[c.replaces]);
            }
        }
        for c in &decisions.constraints {
            let row = &system.rows[c.replaces];
            let visible =
                |t: &(usize, i64)| matches!(system.classes[t.0], Class::State | Class::Parameter);
            // A row that holds states only is visible as it is.
            if row.terms.iter().all(visible) {
                continue;
            }
            let Some((domain, lhs, rhs)) = written(flat, system, c) else {
                continue;
            };
            let new = Equation {
                domain,
                lhs,
                rhs,
                origin: equations[row.equation].origin,
            };
            let text = Printer::new(flat).equation(&new);
            self.report
                .replaced
                .push((row_text(flat, equations, row), text));
            self.cut(row);
            self.added.push(new);
        }
        for v in &decisions.free {
            if let Column::Unknown { var, element } = system.columns[v.index()] {
                self.free.push(Free {
                    var,
                    element,
                    shape: system.shape.clone(),
                });
            }
        }
    }

    fn remove(&mut self, flat: &mut FlatModel, equations: &[Equation], row: &Row) {
        self.report.removed.push(row_text(flat, equations, row));
        self.cut(row);
    }

    fn cut(&mut self, row: &Row) {
        let entry = self
            .gone
            .entry(row.equation)
            .or_insert_with(|| Some(Vec::new()));
        match (row.point, entry) {
            (Some(p), Some(points)) => points.push(p),
            (_, entry) => *entry = None,
        }
    }

    /// Whether known quantities satisfy a constraint; if not, that is an error.
    fn check(
        &mut self,
        flat: &mut FlatModel,
        equations: &[Equation],
        system: &System,
        c: &Constraint,
    ) -> bool {
        let holds = points(&system.shape).all(|p| {
            let common: Vec<(IterId, i64)> = system.iters.iter().copied().zip(p).collect();
            let (mut sum, mut size) = (0.0, 0.0f64);
            for (v, factor) in &c.terms {
                let Column::Known { value: e, at } = &system.columns[v.index()] else {
                    return false;
                };
                let at = if at.is_empty() { &common } else { at };
                let (Some(x), Some(f)) = (value(flat, *e, at), i64::try_from(factor).ok()) else {
                    return false;
                };
                sum += f as f64 * x;
                size = size.max((f as f64 * x).abs());
            }
            sum.abs() <= EQUAL * size
        });
        let text = match written(flat, system, c) {
            Some((domain, lhs, rhs)) => {
                let origin = equations[system.rows[c.replaces].equation].origin;
                Printer::new(flat).equation(&Equation {
                    domain,
                    lhs,
                    rhs,
                    origin,
                })
            }
            None => "a relation between them".to_string(),
        };
        // The equations that bring the known quantities in.
        let involved = |r: &&Row| {
            r.terms
                .iter()
                .any(|t| c.terms.iter().any(|(v, _)| v.index() == t.0))
        };
        let mut places: Vec<OriginId> = system
            .rows
            .iter()
            .filter(involved)
            .map(|r| equations[r.equation].origin)
            .collect();
        places.dedup();
        let span = places
            .first()
            .map_or(acausal_syntax::Span::NONE, |o| flat.origin(*o).span);
        if holds {
            self.report.notes.push(Diagnostic::remark(
                "redundant-known",
                span,
                format!("the equations require `{text}` of known quantities; it holds with their present values"),
            ));
            return true;
        }
        let mut d = Diagnostic::error(
            "contradiction",
            span,
            format!("the equations require `{text}`, which does not hold"),
        );
        for o in places {
            let origin = flat.origin(o);
            let place = if origin.component.is_empty() {
                "this equation".to_string()
            } else {
                format!("this equation of component `{}`", origin.component)
            };
            d = d.label(origin.span, place);
        }
        self.errors.push(d.hint(
            "ideal sources in parallel (or in series, for flows) contradict each other; put a resistance between them",
        ));
        false
    }

    /// Changes the equations.
    pub(super) fn carry_out(
        mut self,
        flat: &mut FlatModel,
        equations: &mut Vec<Equation>,
    ) -> Result<Regularised, Vec<Diagnostic>> {
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let open: usize = self
            .free
            .iter()
            .map(|f| f.shape.iter().product::<usize>())
            .sum();
        if open <= self.superfluous {
            for f in std::mem::take(&mut self.free) {
                self.set_to_zero(flat, &f);
            }
        }
        if !self.gone.is_empty() {
            let mut kept = Vec::with_capacity(equations.len());
            for (k, eq) in std::mem::take(equations).into_iter().enumerate() {
                match self.gone.get_mut(&k) {
                    None => kept.push(eq),
                    Some(None) => {}
                    Some(Some(points)) => {
                        points.sort_unstable();
                        without(eq, points, &mut kept);
                    }
                }
            }
            *equations = kept;
        }
        equations.append(&mut self.added);
        Ok(self.report)
    }

    fn set_to_zero(&mut self, flat: &mut FlatModel, f: &Free) {
        let (domain, iters) = box_domain(flat, &f.shape);
        let lhs = unknown(flat, f.var, f.element, &iters);
        let rhs = flat.exprs.real(0.0);
        let var = flat.var(f.var);
        let (span, flow) = (var.span, var.flow);
        let name = match f.element {
            Some(_) => Printer::new(flat).expr(lhs),
            None => var.name.plain(),
        };
        let (what, why) = if flow {
            ("flow", " (ideal parts side by side?)")
        } else {
            ("potential", " (no ground?)")
        };
        self.report.notes.push(Diagnostic::warning(
            "undetermined-potential",
            span,
            format!("the {what} `{name}` is not determined by the equations{why}; it was set to 0"),
        ));
        self.report.freed.push(name);
        flat.origins.push(Origin {
            span,
            component: String::new(),
            kind: OriginKind::Auxiliary,
        });
        let origin = OriginId(flat.origins.len() as u32 - 1);
        self.added.push(Equation {
            domain,
            lhs,
            rhs,
            origin,
        });
    }
}

/// A row as the user wrote it, at its point.
fn row_text(flat: &mut FlatModel, equations: &[Equation], row: &Row) -> String {
    let mut eq = equations[row.equation].clone();
    if let Some(p) = row.point
        && !eq.domain.is_empty()
    {
        let mut rest = p as i64;
        let mut values = Vec::new();
        for (i, r) in std::mem::take(&mut eq.domain).into_iter().rev() {
            values.push((i, flat.exprs.int(r.at(rest % r.count))));
            rest /= r.count;
        }
        eq.lhs = flat.exprs.substitute_iters(eq.lhs, &values);
        eq.rhs = flat.exprs.substitute_iters(eq.rhs, &values);
    }
    Printer::new(flat).equation(&eq)
}

/// All points of a box, from 1; one empty point for no box.
fn points(shape: &[usize]) -> impl Iterator<Item = Vec<i64>> + use<> {
    let shape = shape.to_vec();
    (0..shape.iter().product::<usize>()).map(move |mut k| {
        let mut p = vec![1; shape.len()];
        for (x, &n) in p.iter_mut().zip(&shape).rev() {
            *x = (k % n) as i64 + 1;
            k /= n;
        }
        p
    })
}

type Domain = Vec<(IterId, Range)>;

fn box_domain(flat: &mut FlatModel, shape: &[usize]) -> (Domain, Vec<ExprId>) {
    let mut domain = Vec::new();
    let mut iters = Vec::new();
    for &n in shape {
        let i = flat.exprs.fresh_iter();
        domain.push((i, Range::upto(n)));
        iters.push(flat.exprs.iter(i));
    }
    (domain, iters)
}

fn unknown(flat: &mut FlatModel, var: VarId, element: Option<u32>, iters: &[ExprId]) -> ExprId {
    let mut subs = iters.to_vec();
    if let Some(mut k) = element.map(|e| e as usize) {
        subs.clear();
        for &d in flat.vars[var.index()].dims.iter().rev() {
            subs.push(flat.exprs.int((k % d) as i64 + 1));
            k /= d;
        }
        subs.reverse();
    }
    flat.exprs.var(var, Kind::Value, &subs, Ty::Real)
}

/// A constraint as an equation: positive terms on the left, negative ones on the right. `None` when a coefficient does
/// not fit into a machine integer.
fn written(
    flat: &mut FlatModel,
    system: &System,
    c: &Constraint,
) -> Option<(Domain, ExprId, ExprId)> {
    let terms = c.as_i64()?;
    let (domain, iters) = box_domain(flat, &system.shape);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for (v, factor) in terms {
        let e = match &system.columns[v.index()] {
            Column::Unknown { var, element } => unknown(flat, *var, *element, &iters),
            Column::Known { value, at } => {
                let mut values: Vec<(IterId, ExprId)> = system
                    .iters
                    .iter()
                    .copied()
                    .zip(iters.iter().copied())
                    .collect();
                values.extend(at.iter().map(|(i, k)| (*i, flat.exprs.int(*k))));
                flat.exprs.substitute_iters(*value, &values)
            }
        };
        let size = flat.exprs.real(factor.unsigned_abs() as f64);
        let term = flat.exprs.mul(&[size, e]);
        if factor > 0 {
            left.push(term)
        } else {
            right.push(term)
        }
    }
    let lhs = flat.exprs.add(&left);
    let rhs = flat.exprs.add(&right);
    Some((domain, lhs, rhs))
}

/// The equation without the given points (ascending, counted in the order of the domain), as boxes.
fn without(eq: Equation, gone: &[usize], out: &mut Vec<Equation>) {
    if gone.len() >= eq.len() {
        return;
    }
    // Boxes still to be cut along a dimension, with the points in them that go.
    let mut todo = vec![(eq, 0, gone.to_vec())];
    while let Some((eq, dimension, gone)) = todo.pop() {
        if gone.is_empty() {
            out.push(eq);
            continue;
        }
        let Some((_, range)) = eq.domain.get(dimension).copied() else {
            continue; // a single point, and it goes
        };
        let inner: usize = eq.domain[dimension + 1..]
            .iter()
            .map(|(_, r)| r.count as usize)
            .product();
        let part = |from: i64, to: i64| {
            let mut piece = eq.clone();
            piece.domain[dimension].1 = Range {
                start: range.at(from),
                step: range.step,
                count: to - from,
            };
            piece
        };
        let mut next = 0;
        let mut k = 0;
        while k < gone.len() {
            let slice = (gone[k] / inner) as i64;
            if slice > next {
                out.push(part(next, slice));
            }
            let mut inside = Vec::new();
            while k < gone.len() && (gone[k] / inner) as i64 == slice {
                inside.push(gone[k] % inner);
                k += 1;
            }
            if inside.len() < inner {
                todo.push((part(slice, slice + 1), dimension + 1, inside));
            }
            next = slice + 1;
        }
        if next < range.count {
            out.push(part(next, range.count));
        }
    }
}
