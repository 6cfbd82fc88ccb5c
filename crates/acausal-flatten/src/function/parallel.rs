//! Loops whose rounds do not depend on each other: `for i in 2:n loop y[i] := f(u[i], i); end for`.
//!
//! If every assigned array is read and written at the subscripts of the round only, the loop is an array comprehension:
//! the body is executed once with the iterator as a symbol, and the element at index `k` is what round `k` assigns. The
//! cost does not depend on the number of rounds, and the array stays an array.
//!
//! A sum `s := s + e(i)` becomes a reduction.
//!
//! Example: `for i in 2:n loop y[i] := u[i]; if y[i] > 1 then y[i] := 1; end if; end for` executes once to
//! `E(i) = if u[i] > 1 then 1 else u[i]`; then `y` is `if k >= 2 then E(k) else old y[k]` for all `k`.

use acausal_base::{Name, Span};
use acausal_expr::{ExprId, IterId, Range, ReduceOp, RelOp};
use acausal_symbolic::{Reduce, Substitute};
use acausal_syntax::ast::{ComponentRef, Expr, ForIndex, Statement, StatementKind};

use super::execute::{Executed, Executor, Write, with_locals};
use super::independent::{independent, is_name};
use super::{bind, for_all};
use crate::lower::{IterationRange, Tensor, Value};
use acausal_instance::instance::InstId;

/// Shorter loops are unrolled.
const SHORTEST: i64 = 9;

/// An array that the loop assigns, or a scalar that it sums up.
struct Target {
    name: Name,
    variable: InstId,
    old: Tensor,
    /// Where each iterator of the loop stands among the subscripts; nothing for a sum.
    dims: Vec<usize>,
    /// Lowered subscripts.
    at: Vec<ExprId>,
    /// The element of this round; for a sum what this round adds.
    element: ExprId,
}

impl Executor<'_, '_> {
    /// Executes a loop at once if its rounds are independent; false if they are not (nothing has happened then).
    pub(super) fn parallel(
        &mut self,
        indices: &[ForIndex],
        body: &[Statement],
        span: Span,
    ) -> Executed<bool> {
        // Loops directly inside of each other are one loop over several iterators.
        let mut all: Vec<&ForIndex> = indices.iter().collect();
        let mut body = body;
        while let [
            Statement {
                kind:
                    StatementKind::For {
                        indices,
                        body: inner,
                    },
                ..
            },
        ] = body
        {
            all.extend(indices);
            body = inner;
        }
        let names: Vec<Name> = all.iter().map(|i| i.name.name).collect();
        let Some(found) = independent(&names, body) else {
            return Ok(false);
        };
        let Some(ranges) = self.ranges(&all) else {
            return Ok(false);
        };
        let rounds: i64 = ranges.iter().map(|r| r.1.count).product();
        // With constant arguments numbers are wanted, and a symbolic round might not give them.
        if rounds < SHORTEST || self.constant && rounds < super::execute::FUEL as i64 {
            return Ok(false);
        }
        let mark = self.base.loops.len();
        for (name, (iter, _)) in names.iter().zip(&ranges) {
            let value = self.ctx.exprs.iter(*iter);
            self.base
                .loops
                .push((*name, Value::scalar(crate::lower::Type::Integer, value)));
        }
        let pending = self.ctx.function_state.asserts.len();
        let result = self.rounds(found, &names, &ranges, body, span);
        self.base.loops.truncate(mark);
        match result {
            Ok(true) => for_all(self.ctx, pending, &ranges),
            _ => self.ctx.function_state.asserts.truncate(pending),
        }
        result
    }

    /// Iterators with constant ranges of step one, independent of each other.
    fn ranges(&mut self, indices: &[&ForIndex]) -> Option<Vec<(IterId, Range)>> {
        let mut out = Vec::with_capacity(indices.len());
        for index in indices {
            let env = with_locals(&self.base, &self.locals);
            match self.ctx.iteration(&env, index, &[]) {
                Ok(IterationRange::Range(crate::lower::Type::Integer, r))
                    if r.step == 1 && r.count > 0 =>
                {
                    out.push((self.ctx.iterator(Some(index.name.name), r), r));
                }
                // Anything else is for the ordinary execution, which also reports what is wrong.
                _ => return None,
            }
        }
        Some(out)
    }

    fn rounds(
        &mut self,
        found: Vec<(Name, Vec<Expr>)>,
        names: &[Name],
        ranges: &[(IterId, Range)],
        body: &[Statement],
        span: Span,
    ) -> Executed<bool> {
        let mut targets = Vec::with_capacity(found.len());
        for (name, subscripts) in found {
            match self.target(name, subscripts, names)? {
                Some(target) => targets.push(target),
                None => return Ok(false),
            }
        }
        let mark = self.base.loops.len();
        for t in &targets {
            let value = everywhere(t);
            self.base.loops.push((t.name, value));
        }
        let result = self.round(&mut targets, mark, body);
        self.base.loops.truncate(mark);
        if !result? {
            return Ok(false);
        }
        for t in targets {
            self.spend(t.at.len() as u64, span)?;
            let positions = self.written(&t, ranges);
            let variable = t.variable;
            let new = self.comprehension(t, ranges);
            if !self.in_function {
                self.writes.push(Write {
                    variable,
                    path: Vec::new(),
                    positions,
                });
            }
            self.set(variable, Value::Tensor(new));
        }
        Ok(true)
    }

    /// An assigned array before the loop; `None` when it is not a plain array of the right rank.
    fn target(
        &mut self,
        name: Name,
        subscripts: Vec<Expr>,
        names: &[Name],
    ) -> Executed<Option<Target>> {
        let env = with_locals(&self.base, &self.locals);
        let part = acausal_syntax::ast::RefPart {
            name: acausal_syntax::ast::Ident::new(name, Span::NONE),
            subscripts: acausal_base::ThinVec::default(),
            span: Span::NONE,
        };
        let whole = ComponentRef {
            global: false,
            parts: vec![part],
            span: Span::NONE,
        };
        let Ok(chain) = self.ctx.component_chain(&env, &whole) else {
            return Ok(None);
        };
        let [variable] = chain[..] else {
            return Ok(None);
        };
        let Some(Value::Tensor(old)) = self.locals.get(&variable).cloned() else {
            return Ok(None);
        };
        if old.rank() != subscripts.len() {
            return Ok(None);
        }
        let mut at = Vec::new();
        let lowered = self
            .ctx
            .subscripts(&env, &old.dims, &subscripts, Span::NONE, name.as_str());
        for s in lowered? {
            match s {
                crate::lower::Subscript::Element(e) => at.push(e),
                _ => return Ok(None),
            }
        }
        if subscripts.is_empty() {
            if !old.ty.is_numeric() {
                return Ok(None);
            }
            let element = crate::lower::tensor::zero(&mut self.ctx.exprs, old.ty);
            let dims = Vec::new();
            return Ok(Some(Target {
                name,
                variable,
                old,
                dims,
                at,
                element,
            }));
        }
        let place = |n: &Name| subscripts.iter().position(|s| is_name(s, *n));
        let Some(dims) = names.iter().map(place).collect::<Option<Vec<usize>>>() else {
            return Ok(None);
        };
        let old = old.renewed(&mut self.ctx.exprs);
        let element = old.at(&mut self.ctx.exprs, &at);
        Ok(Some(Target {
            name,
            variable,
            old,
            dims,
            at,
            element,
        }))
    }

    /// Executes one round; false when something else than an assignment or `if` is met.
    fn round(&mut self, targets: &mut [Target], mark: usize, body: &[Statement]) -> Executed<bool> {
        for s in body {
            self.spend(1, s.span)?;
            match &s.kind {
                StatementKind::Assign { target, value } => {
                    let value = self.value(value)?;
                    let t = self.ctx.as_tensor(value, s.span)?;
                    let name = target.parts[0].name.name;
                    let Some(k) = targets.iter().position(|t| t.name == name) else {
                        return Ok(false);
                    };
                    let ty = targets[k].old.ty;
                    let what = format!("an element of `{name}`");
                    let t = bind::convert(self.ctx, t, ty, &[], s.span, &what)?;
                    targets[k].element = t.body;
                    self.base.loops[mark + k].1 = everywhere(&targets[k]);
                }
                StatementKind::If {
                    branches,
                    otherwise,
                } => {
                    if !self.round_if(targets, mark, branches, otherwise)? {
                        return Ok(false);
                    }
                }
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    fn round_if(
        &mut self,
        targets: &mut [Target],
        mark: usize,
        branches: &[(Expr, Vec<Statement>)],
        otherwise: &[Statement],
    ) -> Executed<bool> {
        let start: Vec<ExprId> = targets.iter().map(|t| t.element).collect();
        let mut results: Vec<(ExprId, Vec<ExprId>)> = Vec::new();
        let mut last = otherwise;
        for (condition, body) in branches {
            let c = self.condition(condition)?;
            match self.ctx.exprs.as_bool(c) {
                Some(true) => {
                    last = body;
                    break;
                }
                Some(false) => continue,
                None => {}
            }
            if !self.round(targets, mark, body)? {
                return Ok(false);
            }
            results.push((c, targets.iter().map(|t| t.element).collect()));
            self.reset(targets, mark, &start);
        }
        if !self.round(targets, mark, last)? {
            return Ok(false);
        }
        for (c, elements) in results.into_iter().rev() {
            let merged: Vec<ExprId> = targets
                .iter()
                .zip(elements)
                .map(|(t, e)| self.ctx.exprs.if_(c, e, t.element))
                .collect();
            self.reset(targets, mark, &merged);
        }
        Ok(true)
    }

    fn reset(&mut self, targets: &mut [Target], mark: usize, elements: &[ExprId]) {
        for (k, (t, &e)) in targets.iter_mut().zip(elements).enumerate() {
            t.element = e;
            self.base.loops[mark + k].1 = everywhere(t);
        }
    }

    /// The array after all rounds.
    fn comprehension(&mut self, t: Target, ranges: &[(IterId, Range)]) -> Tensor {
        let x = &mut self.ctx.exprs;
        if t.at.is_empty() {
            let mut sum = t.element;
            for &(iter, range) in ranges.iter().rev() {
                sum = x.reduce(ReduceOp::Sum, iter, range, sum);
            }
            let body = x.add(&[t.old.body, sum]);
            return Tensor { body, ..t.old };
        }
        let mut guard = x.bool(true);
        let mut values: Vec<(IterId, ExprId)> = Vec::new();
        for (&(iter, range), &d) in ranges.iter().zip(&t.dims) {
            let k = x.iter(t.old.iters[d]);
            values.push((iter, k));
            if range.start > 1 {
                let low = x.int(range.start);
                let above = x.rel(RelOp::Ge, k, low);
                guard = x.and(guard, above);
            }
            if range.last() < t.old.dims[d] as i64 {
                let high = x.int(range.last());
                let below = x.rel(RelOp::Le, k, high);
                guard = x.and(guard, below);
            }
        }
        for (d, &sub) in t.at.iter().enumerate() {
            if !t.dims.contains(&d) {
                let k = x.iter(t.old.iters[d]);
                let same = x.rel(RelOp::Eq, k, sub);
                guard = x.and(guard, same);
            }
        }
        let element = x.substitute_iters(t.element, &values);
        let body = x.if_(guard, element, t.old.body);
        Tensor { body, ..t.old }
    }

    /// Positions of the elements that are written; `None` for all or unknown ones.
    fn written(&self, t: &Target, ranges: &[(IterId, Range)]) -> Option<Vec<usize>> {
        let mut spans = Vec::with_capacity(t.old.rank());
        for d in 0..t.old.rank() {
            spans.push(match t.dims.iter().position(|&e| e == d) {
                Some(k) => (ranges[k].1.start, ranges[k].1.last()),
                None => {
                    let index = self.ctx.exprs.as_int(t.at[d])?;
                    (index, index)
                }
            });
        }
        let whole = |(&(first, last), &n): (&(i64, i64), &usize)| first == 1 && last == n as i64;
        if spans.iter().zip(&t.old.dims).all(whole) {
            return None;
        }
        let mut positions = vec![0usize];
        for (&(first, last), &n) in spans.iter().zip(&t.old.dims) {
            let rows = positions.iter();
            positions = rows
                .flat_map(|p| (first..=last).map(move |i| p * n + (i as usize - 1)))
                .collect();
        }
        Some(positions)
    }
}

/// An array whose every element is the element of this round: what `y[i]` means inside of it.
fn everywhere(t: &Target) -> Value {
    Value::Tensor(Tensor {
        body: t.element,
        ..t.old.clone()
    })
}
