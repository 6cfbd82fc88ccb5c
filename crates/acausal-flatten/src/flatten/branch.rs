//! `if` equations (MLS 3.6 §8.3.4).
//!
//! - A condition of parameters and constants chooses its branch now; the parameters become structural.
//! - A condition of iterators cuts the domain: `if i == 1 then ... else ...` in a loop gives the first and the other elements.
//! - Any other condition merges its branches, which must have the same number of equations: equations for the same
//!   left side `v` become `v = if c then a else b`, the others `0 = if c then l1 - r1 else l2 - r2`.

use acausal_base::Span;
use acausal_expr::flat::{Equation, OriginId, OriginKind};
use acausal_expr::{ExprId, IterId, Node, Range, Ty, ValueKind, VarId};
use acausal_symbolic::{Substitute, split_equation};
use acausal_syntax::ast::{self, Expr, VariabilityPrefix};

use super::equation::LoweredItem;
use super::{EquationContext, Flattener};
use crate::lower::{Error, Result, Type, error};

/// Domains with conditions that are no relations of iterators are cut element by element up to this size.
const ENUMERATE: i64 = 10_000;

type Domain = Vec<(IterId, Range)>;

impl Flattener {
    pub(super) fn if_equation(
        &mut self,
        spot: &EquationContext<'_>,
        branches: &[(Expr, Vec<ast::Equation>)],
        otherwise: &[ast::Equation],
        span: Span,
        out: &mut Vec<LoweredItem>,
    ) -> Result<()> {
        let Some(((condition, body), rest)) = branches.split_first() else {
            return self.equations(spot, otherwise, out);
        };
        let c = self.ctx.scalar(&spot.env, condition, Type::Boolean)?;
        let c = self.structural_condition(c)?;
        match self.ctx.exprs.as_bool(c) {
            Some(true) => return self.equations(spot, body, out),
            Some(false) => return self.if_equation(spot, rest, otherwise, span, out),
            None => {}
        }
        if self.depends_on_iterators_only(c) {
            let mut result = Ok(());
            for (domain, holds) in self.cut(&spot.domain, c, condition.span)? {
                let part = self.restricted(spot, domain);
                result = if holds {
                    self.equations(&part, body, out)
                } else {
                    self.if_equation(&part, rest, otherwise, span, out)
                };
                if result.is_err() {
                    break;
                }
            }
            self.restricted(spot, spot.domain.clone());
            return result;
        }
        let (mut yes, mut no) = (Vec::new(), Vec::new());
        self.equations(spot, body, &mut yes)?;
        self.if_equation(spot, rest, otherwise, span, &mut no)?;
        self.merge(spot, c, yes, no, span, out)
    }

    /// The condition with parameters replaced by their values, if it depends on nothing but them (and iterators).
    fn structural_condition(&mut self, c: ExprId) -> Result<ExprId> {
        for e in self.ctx.exprs.reachable(&[c]) {
            match self.ctx.exprs.node(e) {
                Node::Var(a) => {
                    let inst = self.ctx.var_insts[a.var.index()];
                    let v = self.ctx.instances.data(inst).prefixes.variability;
                    let free = self.ctx.instances.attribute(inst, "fixed").is_some();
                    if v.is_none_or(|v| v > VariabilityPrefix::Parameter) || free {
                        return Ok(c);
                    }
                }
                Node::Time | Node::Apply { .. } => return Ok(c),
                Node::Call(f, _)
                    if acausal_expr::apply_builtin(f, &[1.0, 1.0])
                        .or(acausal_expr::apply_builtin(f, &[1.0]))
                        .is_none() =>
                {
                    return Ok(c);
                }
                _ => {}
            }
        }
        self.ctx.with_known_parameters(c)
    }

    fn depends_on_iterators_only(&self, c: ExprId) -> bool {
        !self.ctx.exprs.any(c, |x, e| {
            matches!(
                x.node(e),
                Node::Var(_) | Node::Time | Node::Call(..) | Node::Apply { .. }
            )
        })
    }

    /// Cuts a domain into parts where the condition has one value.
    fn cut(&mut self, domain: &Domain, c: ExprId, span: Span) -> Result<Vec<(Domain, bool)>> {
        let x = &mut self.ctx.exprs;
        let (one, zero) = (x.int(1), x.int(0));
        let lhs = x.if_(c, one, zero);
        // An access to nothing whose subscripts are the iterators: they tell what became of each.
        let subs: Vec<ExprId> = domain.iter().map(|d| x.iter(d.0)).collect();
        let rhs = x.var(VarId(u32::MAX), ValueKind::Value, &subs, Ty::Real);
        let probe = Equation {
            domain: domain.clone().into(),
            lhs,
            rhs,
            origin: OriginId(0),
        };
        let mut out = Vec::new();
        let mut todo = split_equation(x, probe);
        todo.reverse();
        while let Some(piece) = todo.pop() {
            let Node::Var(a) = x.node(piece.rhs) else {
                continue;
            };
            let subs = x.list(a.subs).to_vec();
            let part: Domain = domain
                .iter()
                .zip(subs)
                .map(|(&(iter, _), s)| match x.as_int(s) {
                    Some(v) => (
                        iter,
                        Range {
                            start: v,
                            step: 1,
                            count: 1,
                        },
                    ),
                    None => (
                        iter,
                        piece
                            .domain
                            .iter()
                            .find(|d| d.0 == iter)
                            .map_or(Range::upto(0), |d| d.1),
                    ),
                })
                .collect();
            match x.as_int(piece.lhs) {
                Some(v) => out.push((part, v == 1)),
                None => {
                    // No relation of one iterator: look at each value of an iterator that is left.
                    let k = piece
                        .domain
                        .iter()
                        .position(|d| x.depends_on_iter(piece.lhs, d.0));
                    let Some(k) = k.filter(|&k| piece.domain[k].1.count <= ENUMERATE) else {
                        return Err(error(
                            "irregular-condition",
                            span,
                            "the condition depends on the iterators in an irregular way",
                        ));
                    };
                    let range = piece.domain[k].1;
                    for v in range.values().collect::<Vec<_>>().into_iter().rev() {
                        let mut single = piece.clone();
                        single.domain[k].1 = Range {
                            start: v,
                            step: 1,
                            count: 1,
                        };
                        let mut pieces = split_equation(x, single);
                        pieces.reverse();
                        todo.extend(pieces);
                    }
                }
            }
        }
        Ok(out)
    }

    /// The same place for a part of the domain; bounds checks see that part only.
    fn restricted<'a>(
        &mut self,
        spot: &EquationContext<'a>,
        domain: Domain,
    ) -> EquationContext<'a> {
        for (iter, range) in &domain {
            self.ctx.ranges.insert(*iter, *range);
        }
        EquationContext {
            domain,
            ..spot.clone()
        }
    }

    /// `if c then yes else no` for lowered equations.
    pub(super) fn merge(
        &mut self,
        spot: &EquationContext<'_>,
        c: ExprId,
        yes: Vec<LoweredItem>,
        no: Vec<LoweredItem>,
        span: Span,
        out: &mut Vec<LoweredItem>,
    ) -> Result<()> {
        let mut no = no;
        let yes = super::reinit::take_common(&mut self.ctx.exprs, c, yes, &mut no, out);
        let not_c = self.ctx.exprs.not(c);
        let first = self.conditional(yes, c, span, out)?;
        let second = self.conditional(no, not_c, span, out)?;
        self.expect_balanced(spot, &first, &second, span)?;
        let mut second: Vec<Option<Equation>> = second.into_iter().map(Some).collect();
        let mut unmatched = Vec::new();
        for e in first {
            let partner = second.iter().position(|o| {
                o.as_ref().is_some_and(|o| {
                    let moved = self.aligned(o, &e.domain);
                    moved.is_some_and(|(lhs, _)| lhs == e.lhs)
                })
            });
            match partner.and_then(|k| second[k].take()) {
                Some(o) => {
                    let (_, rhs) = self.aligned(&o, &e.domain).unwrap_or((o.lhs, o.rhs));
                    let rhs = self.ctx.exprs.if_(c, e.rhs, rhs);
                    out.push(LoweredItem::Equation(Equation { rhs, ..e }));
                }
                None => unmatched.push(e),
            }
        }
        let rest = second.into_iter().flatten();
        for (e, o) in unmatched.into_iter().zip(rest) {
            let merged = self.merged_residual(spot, c, e, &o, span)?;
            out.push(LoweredItem::Equation(merged));
        }
        Ok(())
    }

    /// What of a branch holds while `active` is true: its equations are given back, all else is put out with the condition.
    fn conditional(
        &mut self,
        items: Vec<LoweredItem>,
        active: ExprId,
        span: Span,
        out: &mut Vec<LoweredItem>,
    ) -> Result<Vec<Equation>> {
        let mut equations = Vec::new();
        for item in items {
            match item {
                LoweredItem::Equation(e) => equations.push(e),
                LoweredItem::Assert(mut a) => {
                    // It must hold in this branch only.
                    let inactive = self.ctx.exprs.not(active);
                    a.condition = self.ctx.exprs.or(inactive, a.condition);
                    out.push(LoweredItem::Assert(a));
                }
                LoweredItem::Link(l) => {
                    let span = self.model.origin(l.origin).span;
                    return Err(error(
                        "connect-in-if",
                        span,
                        "`connect` in an `if` needs a condition of parameters",
                    )
                    .note("which components are connected cannot change during simulation"));
                }
                LoweredItem::When(w) => {
                    let span = self.model.origin(w.origin).span;
                    return Err(error(
                        "when-in-if",
                        span,
                        "`when` in an `if` needs a condition of parameters",
                    ));
                }
                LoweredItem::Reinit {
                    domain,
                    target,
                    value,
                    span,
                } => {
                    // In the other branch the state keeps its value.
                    let ty = Ty::Real;
                    let keep = self.ctx.exprs.access(target, ty);
                    let value = self.ctx.exprs.if_(active, value, keep);
                    out.push(LoweredItem::Reinit {
                        domain,
                        target,
                        value,
                        span,
                    });
                }
                LoweredItem::Print {
                    domain,
                    message,
                    origin,
                } => {
                    let nothing = self.ctx.exprs.str("");
                    let message = self.ctx.exprs.if_(active, message, nothing);
                    out.push(LoweredItem::Print {
                        domain,
                        message,
                        origin,
                    });
                }
                LoweredItem::Terminate { .. } => {
                    return Err(Error::unsupported(
                        span,
                        "`terminate` in an `if` with a varying condition is not supported yet",
                    ));
                }
            }
        }
        Ok(equations)
    }

    /// Both branches must have the same number of equations.
    fn expect_balanced(
        &self,
        spot: &EquationContext<'_>,
        first: &[Equation],
        second: &[Equation],
        span: Span,
    ) -> Result<()> {
        let count = |list: &[Equation]| list.iter().map(Equation::len).sum::<usize>();
        if count(first) == count(second) {
            return Ok(());
        }
        let outer: usize = spot
            .domain
            .iter()
            .map(|d| d.1.count.max(0) as usize)
            .product::<usize>()
            .max(1);
        let (a, b) = (count(first) / outer, count(second) / outer);
        let plural = |n: usize| if n == 1 { "equation" } else { "equations" };
        Err(error("if-unbalanced", span, format!("the branches of this `if` have different numbers of equations: {a} {} and {b}", plural(a)))
            .note("the condition can change during simulation, so each branch must determine the same unknowns (MLS 3.6 §8.3.4)")
            .hint("give every branch, also `else`, the same number of equations, or make the condition depend on parameters only"))
    }

    /// `0 = if c then l1 - r1 else l2 - r2`
    fn merged_residual(
        &mut self,
        spot: &EquationContext<'_>,
        c: ExprId,
        e: Equation,
        other: &Equation,
        span: Span,
    ) -> Result<Equation> {
        let Some((l, r)) = self.aligned(other, &e.domain) else {
            return Err(error(
                "if-shapes",
                span,
                "the equations in the branches of this `if` differ in size",
            )
            .hint(
                "write the equations of all branches in the same order and with the same sizes",
            ));
        };
        let numeric = [e.lhs, l]
            .iter()
            .all(|&s| matches!(self.ctx.exprs.ty(s), Ty::Real | Ty::Int));
        if !numeric {
            return Err(error(
                "if-targets",
                span,
                "the branches of this `if` must have equations for the same Boolean or String variables",
            ));
        }
        let x = &mut self.ctx.exprs;
        let (p, q) = (x.sub(e.lhs, e.rhs), x.sub(l, r));
        let rhs = x.if_(c, p, q);
        let lhs = x.real(0.0);
        let origin = self.origin(span, spot.component, OriginKind::Equation);
        Ok(Equation {
            domain: e.domain,
            lhs,
            rhs,
            origin,
        })
    }

    /// The sides of an equation over the iterators of another domain of the same sizes. Dimensions of one element do not count:
    /// a row is as long as a vector.
    fn aligned(&mut self, e: &Equation, domain: &[(IterId, Range)]) -> Option<(ExprId, ExprId)> {
        let mut pairs = Vec::new();
        let long = |d: &&(IterId, Range)| d.1.count != 1;
        let (from, to): (Vec<_>, Vec<_>) = if e.domain.len() == domain.len() {
            (e.domain.iter().collect(), domain.iter().collect())
        } else {
            for &(iter, range) in e.domain.iter().filter(|d| d.1.count == 1) {
                pairs.push((iter, self.ctx.exprs.int(range.start)));
            }
            (
                e.domain.iter().filter(long).collect(),
                domain.iter().filter(long).collect(),
            )
        };
        if from.len() != to.len() {
            return None;
        }
        for (&(from, r), &(to, s)) in from.into_iter().zip(to) {
            if r.count != s.count {
                return None;
            }
            if from == to {
                if r != s {
                    return None;
                }
                continue;
            }
            // The value at the same position: r.start + r.step*((to - s.start)/s.step).
            let x = &mut self.ctx.exprs;
            let to = x.iter(to);
            if r.step % s.step != 0 {
                return None;
            }
            let factor = r.step / s.step;
            let (factor_e, offset) = (x.int(factor), x.int(r.start - factor * s.start));
            let scaled = x.mul(&[factor_e, to]);
            pairs.push((from, x.add(&[scaled, offset])));
        }
        let lhs = self.ctx.exprs.substitute_iters(e.lhs, &pairs);
        let rhs = self.ctx.exprs.substitute_iters(e.rhs, &pairs);
        Some((lhs, rhs))
    }
}
