//! Reductions over ranges that are known at run time only: `sum(d[i] for i in 1:k)` and `sum(d[1:k])` with an input `k` of a function.
//!
//! Expressions have no loops with variable bounds; statements have. Such a reduction is computed by a loop before the statement that
//! contains it and takes the place of the call as a variable:
//!
//! ```text
//! z := 1 + sum(d[i] for i in 1:k);      ==>      a := 0; for i in 1:k loop a := a + d[i]; end for;  z := 1 + a;
//! ```
//!
//! In a branch of an `if` expression the loop is under the condition of the branch, so that nothing is read that would not have been. What can be
//! lowered as it stands is left alone.

use acausal_base::{Name, Span};
use acausal_expr::flat::Statement as Run;
use acausal_syntax::ast::{
    BinOp, Call, Callee, Expr, ExprKind, ForIndex, Ident, Statement, StatementKind,
};

use super::execute::with_locals;
use super::rewrite::{named, reference, rewrite};
use super::run_time::FunctionLowering;
use crate::lower::{ErrorKind, Result, Type, Value, children};

/// A reduction with its iterators.
struct Reduction {
    function: Callee,
    body: Expr,
    indices: Vec<ForIndex>,
}

/// True when there is a reduction in an expression.
pub(super) fn mentions(e: &Expr) -> bool {
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        if reduction(e).is_some() {
            return true;
        }
        children(e, &mut stack);
    }
    false
}

/// The reduction that a call is: one with iterators, or one of a part of an array.
fn reduction(e: &Expr) -> Option<Reduction> {
    let ExprKind::Call(call) = &e.kind else {
        return None;
    };
    let Callee::Ref(function) = &call.function else {
        return None;
    };
    let name = function.as_ident()?.as_str();
    if !matches!(name, "sum" | "product" | "min" | "max") || !call.named.is_empty() {
        return None;
    }
    let [body] = call.args.as_slice() else {
        return None;
    };
    let (body, indices) = match call.indices.is_empty() {
        false => (body.clone(), call.indices.to_vec()),
        true => elementwise(body)?,
    };
    Some(Reduction {
        function: call.function.clone(),
        body,
        indices,
    })
}

/// `d[2, 1:k]` as `d[2, i] for i in 1:k`.
fn elementwise(e: &Expr) -> Option<(Expr, Vec<ForIndex>)> {
    let ExprKind::Ref(r) = &e.kind else {
        return None;
    };
    let mut r = r.clone();
    let mut indices = Vec::new();
    for part in &mut r.parts {
        let mut subscripts = part.subscripts.to_vec();
        for s in &mut subscripts {
            if let ExprKind::Range { .. } = s.kind {
                let name = Name::new(&format!("$element{}", indices.len()));
                indices.push(ForIndex {
                    name: Ident::new(name, s.span),
                    range: Some(s.clone()),
                    span: s.span,
                });
                *s = named(name, s.span);
            }
        }
        part.subscripts = subscripts.into();
    }
    let element = Expr::new(ExprKind::Ref(r), e.span);
    (!indices.is_empty()).then_some((element, indices))
}

impl FunctionLowering<'_, '_> {
    /// Replaces reductions that have to be computed by a loop by the variable that it computes; `None` if there are none. The variables are iterators
    /// of the environment, to be removed by the caller.
    pub(super) fn accumulate(&mut self, e: &Expr) -> Result<Option<Expr>> {
        if !mentions(e) {
            return Ok(None);
        }
        self.accumulated(e).map(Some)
    }

    /// Recursion is over the nesting of the expression, which the parser bounds.
    fn accumulated(&mut self, e: &Expr) -> Result<Expr> {
        rewrite(e, &mut |e| match &e.kind {
            ExprKind::If {
                branches,
                otherwise,
            } if mentions(e) => self.in_branches(branches, otherwise, e.span).map(Some),
            _ => match reduction(e) {
                Some(reduction) => self.by_loop(e, reduction),
                None => Ok(None),
            },
        })
    }

    fn in_branches(
        &mut self,
        branches: &[(Expr, Expr)],
        otherwise: &Expr,
        span: Span,
    ) -> Result<Expr> {
        let mut values = Vec::new();
        let mut open = Vec::new();
        for (condition, value) in branches {
            let condition = self.accumulated(condition)?;
            let env = with_locals(&self.base, &self.locals);
            let c = self.ctx.scalar(&env, &condition, Type::Boolean)?;
            let (value, body) = self.apart(value)?;
            values.push((condition, value));
            open.push((c, body));
        }
        let (last, otherwise) = self.apart(otherwise)?;
        if !otherwise.is_empty() || open.iter().any(|(_, body)| !body.is_empty()) {
            self.body.push(Run::If {
                branches: open,
                otherwise,
            });
        }
        let kind = ExprKind::If {
            branches: values,
            otherwise: Box::new(last),
        };
        Ok(Expr::new(kind, span))
    }

    /// The loops of an expression in a list of their own.
    fn apart(&mut self, e: &Expr) -> Result<(Expr, Vec<Run>)> {
        let outer = std::mem::take(&mut self.body);
        let value = self.accumulated(e);
        let body = std::mem::replace(&mut self.body, outer);
        Ok((value?, body))
    }

    fn by_loop(&mut self, e: &Expr, reduction: Reduction) -> Result<Option<Expr>> {
        let pending = self.ctx.function_state.asserts.len();
        let env = with_locals(&self.base, &self.locals);
        let attempt = self.ctx.expr(&env, e);
        self.ctx.function_state.asserts.truncate(pending);
        match attempt {
            Err(e) if e.kind() == ErrorKind::NotConstant => {}
            _ => return Ok(None), // what is wrong is said when the statement itself is lowered
        }
        let Reduction {
            function,
            body,
            indices,
        } = reduction;
        let ty = self.element_type(&body, &indices)?;
        let name = Name::new(&format!("$reduced{}", self.base.loops.len()));
        let place = Value::Tensor(self.variable(ty, &[]));
        let op = match &function {
            Callee::Ref(r) => r.as_ident().map_or("", |i| i.as_str()),
            _ => "",
        };
        let x = &mut self.ctx.exprs;
        let first = match (op, ty) {
            ("product", _) => x.int(1),
            ("min", Type::Integer) => x.int(i64::MAX),
            ("max", Type::Integer) => x.int(i64::MIN),
            ("min", _) => x.real(f64::MAX),
            ("max", _) => x.real(f64::MIN),
            _ => x.int(0),
        };
        self.store(&place, &Value::scalar(ty, first), e.span)?;
        self.base.loops.push((name, place));
        let so_far = named(name, e.span);
        let value = match op {
            "sum" => ExprKind::Binary(BinOp::Add, Box::new(so_far), Box::new(body)),
            "product" => ExprKind::Binary(BinOp::Mul, Box::new(so_far), Box::new(body)),
            _ => ExprKind::Call(Box::new(Call {
                function,
                args: vec![so_far, body],
                named: Default::default(),
                indices: Default::default(),
                span: e.span,
            })),
        };
        let assign = StatementKind::Assign {
            target: reference(name, e.span),
            value: Expr::new(value, e.span),
        };
        let statement = |kind| Statement {
            kind,
            description: None,
            span: e.span,
        };
        // The last iterator is the outermost one.
        let indices = indices.into_iter().rev().collect();
        self.statement(&statement(StatementKind::For {
            indices,
            body: vec![statement(assign)],
        }))?;
        Ok(Some(named(name, e.span)))
    }

    /// Integer if all elements are.
    fn element_type(&mut self, body: &Expr, indices: &[ForIndex]) -> Result<Type> {
        let mark = self.base.loops.len();
        for index in indices.iter().rev() {
            let ty = match index.range.as_ref().map(|r| &r.kind) {
                Some(ExprKind::Range { start, .. }) => self.bound(start)?.1,
                _ => Type::Integer,
            };
            let one = self.ctx.exprs.int(1);
            self.base
                .loops
                .push((index.name.name, Value::scalar(ty, one)));
        }
        let env = with_locals(&self.base, &self.locals);
        let value = self
            .ctx
            .for_shape(&env, &mut |ctx, env| ctx.expr(env, body));
        self.base.loops.truncate(mark);
        let ty = self.ctx.as_tensor(value?, body.span)?.ty;
        Ok(if ty == Type::Integer { ty } else { Type::Real })
    }
}
