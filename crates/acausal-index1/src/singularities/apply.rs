//! From the decisions of the elimination to changed equations.
//!
//! In: systems with their decisions. Out: the equations with redundant ones removed (a box of an array equation is cut out of
//! its domain), constraints in place of hidden ones, and `v = 0` for free unknowns. Unknowns are only set free
//! when at least as many equations were superfluous: otherwise the model lacks equations, which is for the structural
//! analysis to say. Cost: linear in the number of decisions, each for a box of elements.

use std::collections::BTreeMap;

use acausal_base::Diagnostic;
use acausal_expr::assumption::{Points, RedundantAssumption};
use acausal_expr::flat::{Equation, FlatModel, Origin, OriginId, OriginKind};
use acausal_expr::{ExprId, IterId, Printer, Range, ReduceOp, Ty, ValueKind, VarId};
use acausal_structure::integer_elimination::arrays::{
    ArrayConstraint, ArrayDecisions, ArrayRow, ArrayTerm,
};
use acausal_structure::segments::{Index, Span, size_of};
use acausal_symbolic::{Reduce, Substitute};

use super::Regularised;
use super::evaluate::{may_change, value};
use super::system::{Column, System};

/// Known quantities are equal up to this share of their size.
const EQUAL: f64 = 1e-12;

/// What is to be changed.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) report: Regularised,
    errors: Vec<Diagnostic>,
    /// Boxes to be cut out, per equation; iterators count from 0.
    gone: BTreeMap<usize, Vec<Vec<Span>>>,
    added: Vec<Equation>,
    /// Elements that nothing determines.
    free: Vec<(VarId, Vec<Span>)>,
    superfluous: u64,
}

impl Plan {
    /// Takes over the decisions about one system.
    pub(super) fn add(
        &mut self,
        flat: &mut FlatModel,
        equations: &[Equation],
        system: &System,
        decisions: ArrayDecisions,
    ) {
        for (row, at) in decisions.redundant {
            self.remove(flat, equations, system.equations[row], at);
        }
        for c in &decisions.parameter_constraints {
            if self.check(flat, equations, system, c) {
                self.remove(flat, equations, system.equations[c.replaces], c.at.clone());
            }
        }
        for c in decisions.constraints {
            let replaced = system.equations[c.replaces];
            let origin = equations[replaced].origin;
            let new = written(flat, system, &c, origin);
            let text = Printer::new(flat).equation(&new);
            let before = row_text(flat, &equations[replaced], &c.at);
            self.report.replaced.push((before, text));
            self.gone.entry(replaced).or_default().push(c.at);
            self.added.push(new);
        }
        for (v, at) in decisions.free {
            if let Column::Unknown(var) = system.columns[v.index()] {
                self.free.push((var, at));
            }
        }
    }

    fn remove(
        &mut self,
        flat: &mut FlatModel,
        equations: &[Equation],
        equation: usize,
        at: Vec<Span>,
    ) {
        let text = row_text(flat, &equations[equation], &at);
        self.report.removed.push(text);
        self.superfluous += size_of(&at);
        self.gone.entry(equation).or_default().push(at);
    }

    /// Whether known quantities satisfy a constraint; if not, that is an error.
    fn check(
        &mut self,
        flat: &mut FlatModel,
        equations: &[Equation],
        system: &System,
        c: &ArrayConstraint,
    ) -> bool {
        let holds = points(&c.at).all(|p| {
            let (mut sum, mut size) = (0.0, 0.0f64);
            for (v, index, factor) in &c.terms {
                let Column::Known(e, iters) = &system.columns[v.index()] else {
                    return false;
                };
                for element in points(&ranges(index, &p)) {
                    let at: Vec<(IterId, i64)> = iters.iter().copied().zip(element).collect();
                    let Some(x) = value(flat, *e, &at) else {
                        return false;
                    };
                    sum += *factor as f64 * x;
                    size = size.max((*factor as f64 * x).abs());
                }
            }
            sum.abs() <= EQUAL * size
        });
        let origin = equations[system.equations[c.replaces]].origin;
        let new = written(flat, system, c, origin);
        let text = Printer::new(flat).equation(&new);
        // The equations that bring the known quantities in.
        let involved = |r: &ArrayRow| {
            r.terms
                .iter()
                .any(|t| c.terms.iter().any(|(v, _, _)| *v == t.0))
        };
        let rows = system.arrays.rows.iter().zip(&system.equations);
        let mut places: Vec<OriginId> = rows
            .filter(|(r, _)| involved(r))
            .map(|(_, &e)| equations[e].origin)
            .collect();
        places.dedup();
        let span = places
            .first()
            .map_or(acausal_base::Span::NONE, |o| flat.origin(*o).span);
        if holds {
            let value = flat.exprs.sub(new.lhs, new.rhs);
            if may_change(flat, value) {
                let domain = new.domain.clone();
                let points = Points {
                    domain,
                    every: true,
                };
                self.report.assumed.push(RedundantAssumption {
                    value,
                    points,
                    origin,
                });
            }
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
        let open: u64 = self.free.iter().map(|f| size_of(&f.1)).sum();
        if open <= self.superfluous {
            for (v, at) in std::mem::take(&mut self.free) {
                self.set_to_zero(flat, v, &at);
            }
        }
        if !self.gone.is_empty() {
            let mut kept = Vec::with_capacity(equations.len());
            for (k, eq) in std::mem::take(equations).into_iter().enumerate() {
                match self.gone.get(&k) {
                    None => kept.push(eq),
                    Some(gone) => kept.extend(without(&eq, gone)),
                }
            }
            *equations = kept;
        }
        equations.append(&mut self.added);
        Ok(self.report)
    }

    fn set_to_zero(&mut self, flat: &mut FlatModel, v: VarId, at: &[Span]) {
        let (domain, iters) = box_domain(flat, at);
        let lhs = flat.exprs.var(v, ValueKind::Value, &iters, Ty::Real);
        let rhs = flat.exprs.real(0.0);
        let name = part_name(flat, v, at);
        let (span, flow) = (flat.var(v).span, flat.var(v).flow);
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
            component: "".into(),
            kind: OriginKind::Auxiliary,
        });
        let origin = OriginId(flat.origins.len() as u32 - 1);
        self.added.push(Equation {
            domain: domain.into(),
            lhs,
            rhs,
            origin,
        });
    }
}

/// The part of a variable by name: `x` for all of it, else `x[1]` or `x[2:5]`.
fn part_name(flat: &FlatModel, v: VarId, at: &[Span]) -> String {
    let var = flat.var(v);
    let whole = |(s, d): (&Span, &usize)| s.lo == 1 && s.hi == *d as i64;
    if !at.is_empty() && size_of(at) > 1 && at.iter().zip(&var.dims).all(whole) {
        return var.name.plain();
    }
    let subs: Vec<String> = at
        .iter()
        .map(|s| match s.size() {
            1 => s.lo.to_string(),
            _ => format!("{}:{}", s.lo, s.hi),
        })
        .collect();
    var.name.with_subscripts(&subs)
}

/// An equation as the user wrote it, over a box of its iterators.
fn row_text(flat: &mut FlatModel, eq: &Equation, at: &[Span]) -> String {
    let mut eq = eq.clone();
    let (mut values, mut left) = (Vec::new(), Vec::new());
    for (&(i, r), s) in eq.domain.iter().zip(at) {
        if s.size() == 1 {
            values.push((i, flat.exprs.int(r.at(s.lo))));
        } else {
            left.push((i, part(r, *s)));
        }
    }
    eq.domain = left.into();
    eq.lhs = flat.exprs.substitute_iters(eq.lhs, &values);
    eq.rhs = flat.exprs.substitute_iters(eq.rhs, &values);
    Printer::new(flat).equation(&eq)
}

/// The part of a range, counted from 0.
fn part(r: Range, s: Span) -> Range {
    Range {
        start: r.at(s.lo),
        step: r.step,
        count: s.size() as i64,
    }
}

/// The elements that an index means at a point of the iterators.
fn ranges(index: &[Index], point: &[i64]) -> Vec<Span> {
    let spans = index.iter().map(|i| match *i {
        Index::Fixed(i) => Span::new(i, i),
        Index::All(s) => s,
        Index::Affine {
            iterator,
            coefficient,
            offset,
        } => {
            let i = coefficient * point[iterator] + offset;
            Span::new(i, i)
        }
    });
    spans.collect()
}

/// All points of a box; one empty point for no box.
fn points(spans: &[Span]) -> impl Iterator<Item = Vec<i64>> + use<> {
    let spans = spans.to_vec();
    (0..size_of(&spans)).map(move |mut k| {
        let mut p = vec![0; spans.len()];
        for (x, s) in p.iter_mut().zip(&spans).rev() {
            *x = s.lo + (k % s.size()) as i64;
            k /= s.size();
        }
        p
    })
}

type Domain = Vec<(IterId, Range)>;

/// Iterators over a box and the values they take; a dimension of one element needs none.
fn box_domain(flat: &mut FlatModel, at: &[Span]) -> (Domain, Vec<ExprId>) {
    let mut domain = Vec::new();
    let mut values = Vec::new();
    for s in at {
        if s.size() == 1 {
            values.push(flat.exprs.int(s.lo));
            continue;
        }
        let i = flat.exprs.fresh_iter();
        domain.push((
            i,
            Range {
                start: s.lo,
                step: 1,
                count: s.size() as i64,
            },
        ));
        values.push(flat.exprs.iter(i));
    }
    (domain, values)
}

/// A constraint as an equation: positive terms on the left, negative ones on the right.
fn written(
    flat: &mut FlatModel,
    system: &System,
    c: &ArrayConstraint,
    origin: OriginId,
) -> Equation {
    // Iterators count so that the first subscript that moves with them is the iterator itself.
    let shift = |k: usize| {
        let index = c.terms.iter().flat_map(|t| &t.1);
        let mut own = index.filter_map(|i| match *i {
            Index::Affine {
                iterator,
                coefficient: 1,
                offset,
            } if iterator == k => Some(offset),
            _ => None,
        });
        own.next().unwrap_or(0)
    };
    let at = c.at.iter().enumerate();
    let shifted: Vec<Span> = at
        .map(|(k, s)| Span::new(s.lo + shift(k), s.hi + shift(k)))
        .collect();
    let (domain, mut iters) = box_domain(flat, &shifted);
    for (k, i) in iters.iter_mut().enumerate() {
        let back = flat.exprs.int(-shift(k));
        *i = flat.exprs.add(&[*i, back]);
    }
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for t in &c.terms {
        let e = term(flat, system, t, &iters);
        let size = flat.exprs.real(t.2.unsigned_abs() as f64);
        let e = flat.exprs.mul(&[size, e]);
        if t.2 > 0 { left.push(e) } else { right.push(e) }
    }
    let lhs = flat.exprs.add(&left);
    let rhs = flat.exprs.add(&right);
    Equation {
        domain: domain.into(),
        lhs,
        rhs,
        origin,
    }
}

/// `variable[index]`, or its sum over ranges.
fn term(
    flat: &mut FlatModel,
    system: &System,
    (v, index, _): &ArrayTerm,
    iters: &[ExprId],
) -> ExprId {
    let mut sums: Domain = Vec::new();
    let mut subs = Vec::new();
    for i in index {
        let x = &mut flat.exprs;
        subs.push(match *i {
            Index::Fixed(i) => x.int(i),
            Index::All(s) => {
                let (mut domain, values) = box_domain(flat, &[s]);
                sums.append(&mut domain);
                values[0]
            }
            Index::Affine {
                iterator,
                coefficient,
                offset,
            } => {
                let (c, o) = (x.int(coefficient), x.int(offset));
                let scaled = x.mul(&[c, iters[iterator]]);
                x.add(&[scaled, o])
            }
        });
    }
    let mut e = match &system.columns[v.index()] {
        Column::Unknown(var) => flat.exprs.var(*var, ValueKind::Value, &subs, Ty::Real),
        // Such a column is gone before what is left of a row is a constraint (`split.rs`).
        Column::Sum(_) => unreachable!("a sum is in one row only"),
        Column::Known(value, iters) => {
            let values: Vec<(IterId, ExprId)> = iters.iter().copied().zip(subs).collect();
            flat.exprs.substitute_iters(*value, &values)
        }
    };
    for (i, r) in sums.into_iter().rev() {
        e = flat.exprs.reduce(ReduceOp::Sum, i, r, e);
    }
    e
}

/// The equation without the given boxes of its iterators, as boxes.
fn without(eq: &Equation, gone: &[Vec<Span>]) -> Vec<Equation> {
    let whole: Vec<Span> = eq
        .domain
        .iter()
        .map(|(_, r)| Span::new(0, r.count - 1))
        .collect();
    // Boxes in order; a box that goes is followed by nothing but what lies around it.
    let mut left = vec![whole];
    for hole in gone {
        left = left.iter().flat_map(|b| around(b, hole)).collect();
    }
    left.sort_unstable();
    let equations = left.iter().map(|b| {
        let mut piece = eq.clone();
        for (d, s) in piece.domain.iter_mut().zip(b) {
            d.1 = part(d.1, *s);
        }
        piece
    });
    equations.collect()
}

/// What is left of a box without another.
fn around(b: &[Span], hole: &[Span]) -> Vec<Vec<Span>> {
    let meets = b
        .iter()
        .zip(hole)
        .all(|(s, h)| s.lo <= h.hi && h.lo <= s.hi);
    if !meets {
        return vec![b.to_vec()];
    }
    let mut out = Vec::new();
    let mut rest = b.to_vec();
    for k in 0..b.len() {
        let (s, h) = (rest[k], hole[k]);
        for side in [Span::new(s.lo, h.lo - 1), Span::new(h.hi + 1, s.hi)] {
            if side.size() > 0 {
                let mut piece = rest.clone();
                piece[k] = side;
                out.push(piece);
            }
        }
        rest[k] = Span::new(s.lo.max(h.lo), s.hi.min(h.hi));
    }
    out
}
