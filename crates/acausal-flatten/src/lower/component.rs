//! Components as values: variable accesses, known values, records of these.

use acausal_base::{Name, Span};
use acausal_expr::{ExprId, ValueKind, VarId};
use acausal_syntax::ast::VariabilityPrefix;

use super::{
    ComponentRange, Context, Env, Error, Record, Result, Subscript, Tensor, Type, Value, error,
};
use acausal_instance::instance::{InstId, InstanceKind, Role};

impl Context {
    pub(super) fn absent_error(&mut self, inst: InstId, span: Span) -> Error {
        let name = self.instances.display_name(inst);
        let at = self.instances.data(inst).span;
        Error::absent_component(
            span,
            format!("`{name}` does not exist: its condition is false"),
        )
        .label(at, "declared here")
    }

    /// The value of a component: a variable access, a known value, or a record of these.
    pub fn value_at(&mut self, env: &Env<'_>, place: &ComponentRange, span: Span) -> Result<Value> {
        let inst = place.inst;
        if let Some(ty) = self.primitive_type(inst) {
            return Ok(Value::Tensor(self.leaf(
                env,
                inst,
                ty,
                &place.slots,
                span,
            )?));
        }
        match self.instances.kind(inst) {
            InstanceKind::Record { .. } | InstanceKind::Connector { .. } => {
                let mut fields = Vec::new();
                for child in self.instances.components(inst) {
                    if self.absent.contains(&child) {
                        continue;
                    }
                    let mut slots = place.slots.clone();
                    slots.extend(self.dims(child)?.into_iter().map(|n| (n, Subscript::All)));
                    let value = self.value_at(env, &ComponentRange { inst: child, slots }, span)?;
                    fields.push((self.instances.data(child).name, value));
                }
                let class = self.instances.data(inst).class;
                Ok(Value::Record(Record {
                    class,
                    dims: place.dims(),
                    fields,
                }))
            }
            InstanceKind::Error => Err(error(
                "unknown-type",
                span,
                format!(
                    "the type of `{}` is not known",
                    self.instances.display_name(inst)
                ),
            )),
            _ => {
                let class = self.instances.class_name(inst);
                let name = self.instances.display_name(inst);
                Err(error(
                    "component-as-value",
                    span,
                    format!("`{name}` is a component of class {class}, not a value"),
                ))
            }
        }
    }

    fn leaf(
        &mut self,
        env: &Env<'_>,
        inst: InstId,
        ty: Type,
        slots: &[(usize, Subscript)],
        span: Span,
    ) -> Result<Tensor> {
        let variability = self.instances.data(inst).prefixes.variability;
        let known = match variability {
            Some(VariabilityPrefix::Constant) => true,
            Some(VariabilityPrefix::Parameter) => env.evaluate,
            _ => false,
        };
        if env.shape
            && (!known || ty == Type::Real && variability != Some(VariabilityPrefix::Constant))
        {
            let body = self
                .exprs
                .var(VarId(u32::MAX), ValueKind::Value, &[], ty.ty());
            let dims = ComponentRange {
                inst,
                slots: slots.to_vec(),
            }
            .dims();
            return Ok(Tensor::scalar(ty, body).fill(&mut self.exprs, &dims));
        }
        if known {
            let value = self.value(inst, span)?;
            let subs: Vec<Subscript> = slots.iter().map(|s| s.1.clone()).collect();
            return Ok(value.index(&mut self.exprs, &subs));
        }
        let Some(var) = self.vars.get(inst) else {
            let name = self.instances.display_name(inst);
            let at = self.instances.data(inst).span;
            if self.absent.contains(&inst) {
                return Err(self.absent_error(inst, span));
            }
            let message = if env.evaluate {
                format!("`{name}` varies, but a constant or parameter is needed here")
            } else {
                format!(
                    "`{name}` is not part of the model, and only constants can be used from classes"
                )
            };
            return Err(Error::not_constant(span, message).label(at, "declared here"));
        };
        if env.evaluate {
            let name = self.instances.display_name(inst);
            let at = self.instances.data(inst).span;
            return Err(Error::not_constant(
                span,
                format!("`{name}` varies, but a constant or parameter is needed here"),
            )
            .label(at, "declared here"));
        }
        let mut subs: Vec<ExprId> = Vec::with_capacity(slots.len());
        let (mut dims, mut iters) = (Vec::new(), Vec::new());
        for (n, s) in slots {
            match s {
                Subscript::Element(e) => subs.push(*e),
                Subscript::Vector(v) => {
                    let k = self.exprs.fresh_iter();
                    subs.push(v.over(&mut self.exprs, &[k]));
                    dims.push(v.dims[0]);
                    iters.push(k);
                }
                Subscript::All => {
                    let k = self.exprs.fresh_iter();
                    subs.push(self.exprs.iter(k));
                    dims.push(*n);
                    iters.push(k);
                }
            }
        }
        let body = self.exprs.var(var, ValueKind::Value, &subs, ty.ty());
        Ok(Tensor {
            ty,
            dims,
            iters,
            body,
        })
    }

    /// Components around a component that are arrays, outermost first; the component itself is left out.
    pub fn enclosing_arrays(&self, inst: InstId) -> Vec<InstId> {
        let mut out = Vec::new();
        let mut at = self.instances.parent(inst);
        while let Some(p) = at {
            let data = self.instances.data(p);
            if data.role != Role::Component {
                break;
            }
            if data.rank > 0 {
                out.push(p);
            }
            at = self.instances.parent(p);
        }
        out.reverse();
        out
    }
}

/// True when a component lies inside of (or is) another one.
pub fn is_inside(
    instances: &acausal_instance::instance::Instances,
    inner: InstId,
    outer: InstId,
) -> bool {
    let mut at = Some(inner);
    while let Some(i) = at {
        if i == outer {
            return true;
        }
        at = instances.parent(i);
    }
    false
}

/// Names from `outer` (left out) down to `inner`.
pub fn names_below(
    instances: &acausal_instance::instance::Instances,
    inner: InstId,
    outer: InstId,
) -> Vec<Name> {
    let mut names = Vec::new();
    let mut at = inner;
    while at != outer {
        names.push(instances.data(at).name);
        match instances.parent(at) {
            Some(p) => at = p,
            None => break,
        }
    }
    names.reverse();
    names
}
