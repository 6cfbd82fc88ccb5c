//! `inStream` and `actualStream` of stream connectors (MLS 3.6 §15).
//!
//! In: a reference to a `stream` variable. Out: an access to the variable that holds what flows in, one for each stream
//! variable that is asked for. The variables themselves and their equations come from the connection sets
//! (`crate::connect::stream`), which are known only later; here only numbers are given out, beginning after those of
//! the declared variables.
//!
//! `actualStream(p.h)` is `if p.m_flow > 0 then inStream(p.h) else p.h`. As a factor of a product it makes no event: the product
//! with the flow is continuous (MLS 3.6 §15.3).

use acausal_expr::{Node, RelOp, Ty, ValueKind, VarId};
use acausal_syntax::ast::{Call, Callee, Expr, ExprKind, FlowPrefix};

use super::{Context, Env, Result, Tensor, Value, error};
use acausal_instance::instance::{InstId, InstanceKind};

/// The companion of a stream variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InStream {
    /// The variable with the value that flows in.
    pub inside: VarId,
    /// The flow of the same connector.
    pub flow: VarId,
}

impl Context {
    pub(super) fn stream_call(&mut self, env: &Env<'_>, name: &str, call: &Call) -> Result<Value> {
        self.expect_count(call, 1, 1)?;
        let e = &call.args[0];
        let value = self.expr(env, e)?;
        let wrong = |what: String| {
            error("no-stream", e.span, what)
                .hint(format!("`{name}` takes a `stream` variable of a connector"))
        };
        let Value::Tensor(t) = &value else {
            let found = self.describe(&value);
            return Err(wrong(format!("`{name}` of {found}")));
        };
        if env.shape || t.dims.contains(&0) {
            return Ok(value);
        }
        let Node::Var(access) = self.exprs.node(t.body) else {
            return Err(wrong(format!("`{name}` of an expression")));
        };
        let inst = self.var_insts.get(access.var.index()).copied();
        let is_stream =
            inst.is_some_and(|i| self.instances.data(i).prefixes.flow == Some(FlowPrefix::Stream));
        let Some(inst) = inst.filter(|_| is_stream && access.kind == ValueKind::Value) else {
            return Err(wrong(format!(
                "`{name}` of a variable without the prefix `stream`"
            )));
        };
        let Some(flow) = self.stream_flow(inst) else {
            return Err(error(
                "no-stream",
                e.span,
                "a connector with stream variables must have one scalar flow variable",
            )
            .label(self.instances.data(inst).span, "the stream variable"));
        };
        let inside = self.in_stream(access.var, flow).inside;
        let subs = self.exprs.list(access.subs).to_vec();
        let mut body = self.exprs.var(inside, ValueKind::Value, &subs, Ty::Real);
        if name == "actualStream" {
            let path = self.instances.full_path(self.var_insts[flow.index()]);
            let rank = path.iter().map(|p| self.instances.data(p.1).rank as usize);
            let rank = rank.sum::<usize>().min(subs.len());
            let f = self
                .exprs
                .var(flow, ValueKind::Value, &subs[..rank], Ty::Real);
            let zero = self.exprs.real(0.0);
            let into = self.exprs.rel(RelOp::Gt, f, zero);
            body = self.exprs.if_(into, body, t.body);
        }
        Ok(Value::Tensor(Tensor { body, ..t.clone() }))
    }

    /// The companion of a stream variable, made on first use.
    pub fn in_stream(&mut self, stream: VarId, flow: VarId) -> InStream {
        let next = VarId((self.var_insts.len() + self.streams.len()) as u32);
        *self
            .streams
            .entry(stream)
            .or_insert(InStream { inside: next, flow })
    }

    /// The flow variable of the connector that a stream variable belongs to.
    pub fn stream_flow(&mut self, stream: InstId) -> Option<VarId> {
        let mut at = self.instances.parent(stream)?;
        while matches!(self.instances.kind(at), InstanceKind::Record { .. }) {
            at = self.instances.parent(at)?;
        }
        if !matches!(self.instances.kind(at), InstanceKind::Connector { .. }) {
            return None;
        }
        let mut flows = Vec::new();
        for member in self.instances.components(at) {
            if self.instances.data(member).prefixes.flow == Some(FlowPrefix::Flow) {
                flows.extend(self.vars.get(member));
            }
        }
        match flows[..] {
            [flow] => Some(flow),
            _ => None,
        }
    }

    /// An `actualStream` that is a factor of a product: its switching is no event.
    pub(super) fn factor_without_events(&mut self, e: &Expr, value: Value) -> Value {
        let ExprKind::Call(call) = &e.kind else {
            return value;
        };
        match (&call.function, value) {
            (Callee::Ref(r), Value::Tensor(t)) if super::reference::text(r) == "actualStream" => {
                let ty = t.ty;
                Value::Tensor(t.map(&mut self.exprs, ty, |x, e| x.no_event(e)))
            }
            (_, value) => value,
        }
    }
}
