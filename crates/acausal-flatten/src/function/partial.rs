//! Functions defined as partial derivatives: `function f_x = der(f, x)` (MLS 3.6 §12.7.2).
//!
//! Such a function has the inputs and outputs of `f`, whose class it extends. A call is that of `f` with symbols in place of the inputs it is
//! differentiated by; the outputs are differentiated by these symbols one after the other, and the arguments put in.
//!
//! Example: `f(x, y) = x^2*y`, `der(f, x, y)` at `(t, 3)`: `s^2*r`, then `2*s*r`, then `2*s`, then `2*t`.

use acausal_base::Span;
use acausal_expr::{ExprId, Ty, ValueKind, VarId};
use acausal_symbolic::{Differentiate, Substitute};
use acausal_syntax::ast::{ClassBody, Ident};

use crate::lower::{Context, Error, Result, Tensor, Type, Value, error};
use acausal_instance::instance::InstId;

/// Symbols count down from here: no model has as many variables.
const FIRST_SYMBOL: u32 = u32::MAX - 1;

/// Inputs by which a function is differentiated.
#[derive(Default)]
pub(super) struct Partial {
    /// The symbol of each, and its argument, in the order of differentiation.
    symbols: Vec<(ExprId, ExprId)>,
}

impl Partial {
    /// Puts symbols in place of the inputs that `function` is differentiated by; nothing for all other functions.
    pub fn new(
        ctx: &mut Context,
        function: InstId,
        inputs: &mut [(InstId, Value)],
        span: Span,
    ) -> Result<Partial> {
        let mut partial = Partial::default();
        // A derivative of a derivative extends it: the innermost comes last.
        for part in ctx.instances.class_parts(function).into_iter().rev() {
            if let ClassBody::Der { variables, .. } = &part.class.body {
                for variable in variables {
                    partial.by(ctx, inputs, variable, span)?;
                }
            }
        }
        Ok(partial)
    }

    fn by(
        &mut self,
        ctx: &mut Context,
        inputs: &mut [(InstId, Value)],
        variable: &Ident,
        span: Span,
    ) -> Result<()> {
        let input = inputs
            .iter_mut()
            .find(|(i, _)| ctx.instances.data(*i).name == variable.name);
        let Some((_, value)) = input else {
            return Err(error(
                "unknown-name",
                variable.span,
                format!("`{variable}` is not an input of the function"),
            ));
        };
        let Value::Tensor(t) = value else {
            return Err(not_scalar(variable, span));
        };
        if t.ty != Type::Real || !t.is_scalar() {
            return Err(not_scalar(variable, span));
        }
        // By the same input again: its symbol is there already.
        if let Some(&known) = self.symbols.iter().find(|s| s.0 == t.body) {
            self.symbols.push(known);
            return Ok(());
        }
        let var = VarId(FIRST_SYMBOL - self.symbols.len() as u32);
        let symbol = ctx.exprs.scalar_var(var, ValueKind::Value, Ty::Real);
        self.symbols.push((symbol, t.body));
        *value = Value::scalar(Type::Real, symbol);
        Ok(())
    }

    /// The derivatives of the outputs; assertions since `pending` get the arguments, too.
    pub fn of_outputs(&self, ctx: &mut Context, pending: usize, outputs: Vec<Value>) -> Vec<Value> {
        if self.symbols.is_empty() {
            return outputs;
        }
        for k in pending..ctx.function_state.asserts.len() {
            let assert = ctx.function_state.asserts[k].clone();
            ctx.function_state.asserts[k].condition = self.with_arguments(ctx, assert.condition);
            ctx.function_state.asserts[k].message = self.with_arguments(ctx, assert.message);
        }
        let derivative = |t: &Tensor| {
            let mut body = t.body;
            for &(symbol, _) in &self.symbols {
                body = ctx.exprs.partial(body, symbol);
            }
            let body = self.with_arguments(ctx, body);
            Tensor { body, ..t.clone() }
        };
        let mut derivative = derivative;
        outputs
            .into_iter()
            .map(|v| v.map_leaves(&mut derivative))
            .collect()
    }

    fn with_arguments(&self, ctx: &mut Context, e: ExprId) -> ExprId {
        ctx.exprs.rewrite(e, |_, e| {
            let symbol = self.symbols.iter().find(|s| s.0 == e);
            symbol.map(|s| s.1)
        })
    }
}

fn not_scalar(variable: &Ident, span: Span) -> Error {
    error(
        "type-mismatch",
        span,
        format!("a function is differentiated by scalar Real inputs, which `{variable}` is not"),
    )
    .label(variable.span, "differentiated by this")
}
