//! The frame of a run-time function: blocks for variables, and statements that write to them.
//!
//! Arrays are assigned by loops over frame iterators, short ones element by element; if the right side reads the variable
//! that is written, through a temporary block.

use acausal_base::Span;
use acausal_expr::flat::Statement as Run;
use acausal_expr::{ExprId, Node};
use acausal_syntax::ast::{ComponentRef, Expr, ExprKind};

use super::assertion::plain_text;
use super::bind;
use super::run_time::FunctionLowering;
use crate::lower::{Error, Record, Result, Tensor, Type, Value, error};

/// Arrays up to this length are assigned element by element instead of in a loop.
const UNROLL: usize = 12;

impl FunctionLowering<'_, '_> {
    /// A new block of the frame.
    pub fn variable(&mut self, ty: Type, dims: &[usize]) -> Tensor {
        let base = self.frame;
        let len: u32 = dims.iter().product::<usize>() as u32;
        self.frame += len;
        Tensor::build(&mut self.ctx.exprs, ty, dims, |x, subs| {
            // Row by row, from zero.
            let mut offset = x.int(0);
            let one = x.int(1);
            for (&n, &s) in dims.iter().zip(subs) {
                let n = x.int(n as i64);
                let rows = x.mul(&[offset, n]);
                let k = x.sub(s, one);
                offset = x.add(&[rows, k]);
            }
            x.local(base, len, offset, ty.ty())
        })
    }

    /// The block of the frame that an array is.
    pub fn block(&self, t: &Tensor) -> Option<(u32, u32)> {
        match self.ctx.exprs.node(t.body) {
            Node::Local { base, len, .. } => Some((base, len)),
            _ => None,
        }
    }

    /// Blocks for a value of the same shape.
    pub fn blocks(&mut self, shape: &Value, span: Span) -> Result<Value> {
        match shape {
            Value::Tensor(t) if t.ty == Type::String => {
                let message = format!(
                    "{} needs a String variable at run time, which is not supported yet",
                    self.name
                );
                Err(Error::unsupported(span, message))
            }
            Value::Tensor(t) => Ok(Value::Tensor(self.variable(t.ty, &t.dims))),
            Value::Record(r) => {
                let mut fields = Vec::with_capacity(r.fields.len());
                for (name, v) in &r.fields {
                    fields.push((*name, self.blocks(v, span)?));
                }
                Ok(Value::Record(Record {
                    class: r.class,
                    dims: r.dims.clone(),
                    fields,
                }))
            }
            other => Ok(other.clone()),
        }
    }

    /// A new scalar of the frame.
    pub(super) fn slot(&mut self) -> u32 {
        self.frame += 1;
        self.frame - 1
    }

    /// An Integer scalar of the frame.
    pub(super) fn local(&mut self, slot: u32) -> ExprId {
        let zero = self.ctx.exprs.int(0);
        self.ctx.exprs.local(slot, 1, zero, acausal_expr::Ty::Int)
    }

    /// The places that an assignment writes to.
    pub(super) fn place(&mut self, target: &ComponentRef) -> Result<Value> {
        let e = Expr::new(ExprKind::Ref(target.clone()), target.span);
        let value = self.value(&e)?;
        let mut fine = true;
        value.for_each_leaf(&mut Vec::new(), &mut |_, t| {
            fine &= t.is_empty() || matches!(self.ctx.exprs.node(t.body), Node::Local { .. });
        });
        if !fine || matches!(value, Value::Function(_) | Value::Tuple(_)) {
            let name = plain_text(target);
            let message = format!("`{name}` cannot be assigned in {}", self.name);
            return Err(error("assign-target", target.span, message));
        }
        Ok(value)
    }

    /// Writes a value to places of the same shape.
    pub(super) fn store(&mut self, target: &Value, value: &Value, span: Span) -> Result<()> {
        match (target, value) {
            (Value::Tensor(t), Value::Tensor(v)) => {
                let v = bind::convert(self.ctx, v.clone(), t.ty, &t.dims, span, "the target")?;
                self.store_array(t, &v);
                Ok(())
            }
            (Value::Record(_), Value::Record(r)) => {
                for (name, v) in &r.fields {
                    if let Some(t) = target.field(*name) {
                        self.store(t, v, span)?;
                    }
                }
                Ok(())
            }
            (target, Value::Tuple(values)) if !values.is_empty() => {
                self.store(target, &values[0], span)
            }
            _ => {
                let (a, b) = (self.ctx.describe(target), self.ctx.describe(value));
                Err(error(
                    "type-mismatch",
                    span,
                    format!("{b} cannot be assigned to {a}"),
                ))
            }
        }
    }

    fn store_array(&mut self, target: &Tensor, value: &Tensor) {
        if target.is_empty() {
            return;
        }
        let written = self.block(target).map_or(u32::MAX, |b| b.0);
        let reads_itself = self.ctx.exprs.any(
            value.body,
            |x, n| matches!(x.node(n), Node::Local { base, .. } if base == written),
        );
        if !target.is_scalar() && reads_itself {
            let copy = self.variable(target.ty, &target.dims);
            self.copy(&copy, value);
            self.copy(target, &copy);
        } else {
            self.copy(target, value);
        }
    }

    fn copy(&mut self, target: &Tensor, value: &Tensor) {
        if target.len() <= UNROLL {
            let targets = target.elements(&mut self.ctx.exprs);
            let values = value.elements(&mut self.ctx.exprs);
            for (target, value) in targets.into_iter().zip(values) {
                self.body.push(Run::Assign { target, value });
            }
            return;
        }
        let slots: Vec<u32> = target.dims.iter().map(|_| self.slot()).collect();
        let subs: Vec<ExprId> = slots.iter().map(|&s| self.local(s)).collect();
        let place = target.at(&mut self.ctx.exprs, &subs);
        let value = value.at(&mut self.ctx.exprs, &subs);
        let mut statement = Run::Assign {
            target: place,
            value,
        };
        let one = self.ctx.exprs.int(1);
        for (&iterator, &n) in slots.iter().zip(&target.dims).rev() {
            let stop = self.ctx.exprs.int(n as i64);
            statement = Run::For {
                iterator,
                start: one,
                step: one,
                stop,
                body: vec![statement],
            };
        }
        self.body.push(statement);
    }
}
