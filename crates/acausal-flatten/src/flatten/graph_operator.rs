//! `Connections.root(a.R)`, `Connections.branch(a.R, b.R)` and `Connections.potentialRoot(a.R, priority)` as equations
//! (MLS 3.6 §9.4.1).
//!
//! They say how the connection graph looks; `network` has collected them before the first equation is lowered and has passed
//! over what it could not use. Here every call is looked at once more for what is wrong with it. They give no equation.
//!
//! Example: `Connections.branch(frame_a, frame_b)` is refused, since the overdetermined component is `frame_a.R`.

use acausal_base::Span;
use acausal_syntax::ast::{Call, ComponentRef};

use super::{EquationContext, Flattener};
use crate::lower::{ErrorKind, Result, Type, error};
use acausal_instance::class::CONNECTION_OPERATORS;

impl Flattener {
    /// Checks a call of an operator of the package `Connections`.
    pub(super) fn graph_operator(
        &mut self,
        spot: &EquationContext<'_>,
        function: &ComponentRef,
        call: &Call,
        span: Span,
    ) -> Result<()> {
        let operator = function.parts[1].name.as_str();
        let (components, usage) = match operator {
            "root" => (1, "`Connections.root(a.R)` takes one component"),
            "branch" => (2, "`Connections.branch(a.R, b.R)` takes two components"),
            "potentialRoot" => (
                1,
                "`Connections.potentialRoot(a.R, priority)` takes a component and a number",
            ),
            known if CONNECTION_OPERATORS.contains(&known) => {
                let message = format!("`Connections.{known}` is an expression, not an equation");
                return Err(error("misplaced-call", span, message));
            }
            other => {
                let message = format!("there is no operator `Connections.{other}`");
                return Err(error("unknown-name", function.span, message)
                    .note(format!("there are {}", CONNECTION_OPERATORS.join(", "))));
            }
        };
        if spot.when || spot.initial {
            let message = format!("`Connections.{operator}` cannot be in `when` or initial");
            return Err(error("misplaced-call", span, message));
        }
        let priority = call.args.get(components).or_else(|| {
            let named = call.named.iter().find(|n| n.name.as_str() == "priority");
            named.map(|n| &n.value)
        });
        let given = call.args.len() + call.named.len();
        let most = components + usize::from(operator == "potentialRoot");
        if call.args.len() < components || given > most || given > components && priority.is_none()
        {
            return Err(error("argument-count", call.span, usage));
        }
        for e in &call.args[..components] {
            let Some(r) = e.as_component_ref() else {
                return Err(error("argument-type", e.span, usage));
            };
            let place = match self.ctx.place(&spot.env, r) {
                Ok(place) => place,
                Err(e) if e.kind() == ErrorKind::AbsentComponent => continue,
                Err(e) => return Err(e),
            };
            if self.ctx.equality_constraint(place.inst).is_none() {
                let class = self.ctx.instances.class_name(place.inst);
                let name = self.ctx.instances.display_name(place.inst);
                return Err(error(
                    "not-overdetermined",
                    e.span,
                    format!("`{name}` is not overdetermined: {class} has no function `equalityConstraint`"),
                )
                .hint("name the overdetermined record inside of the connector, such as `frame_a.R`"));
            }
        }
        if let Some(e) = priority {
            self.ctx.scalar(&spot.env.evaluating(), e, Type::Integer)?;
        }
        Ok(())
    }
}
