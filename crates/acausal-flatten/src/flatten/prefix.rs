//! Which prefixes a component may have (MLS 3.6 §4.4.2.2).
//!
//! Variability, causality, `flow` and `stream` say something about variables, so they stand before simple types, records and
//! connectors, never before models and blocks; and what flows is a Real.

use acausal_base::Diagnostic;
use acausal_syntax::ast::{CausalityPrefix, FlowPrefix, VariabilityPrefix};

use super::Flattener;
use acausal_instance::instance::{InstId, InstanceKind, Primitive};

impl Flattener {
    pub(super) fn check_prefixes(&mut self, inst: InstId) {
        let data = self.ctx.instances.data(inst);
        let (prefixes, span) = (data.prefixes, data.span);
        let flow = prefixes.flow.map(|f| match f {
            FlowPrefix::Flow => "flow",
            FlowPrefix::Stream => "stream",
        });
        let message = match self.ctx.instances.kind(inst) {
            InstanceKind::Model | InstanceKind::Block => {
                let variability = prefixes.variability.map(|v| match v {
                    VariabilityPrefix::Constant => "constant",
                    VariabilityPrefix::Parameter => "parameter",
                    VariabilityPrefix::Discrete => "discrete",
                });
                let causality = prefixes.causality.map(|c| match c {
                    CausalityPrefix::Input => "input",
                    CausalityPrefix::Output => "output",
                });
                let Some(prefix) = variability.or(causality).or(flow) else {
                    return;
                };
                let class = self.ctx.instances.class_name(inst);
                format!("`{class}` is a model or block, so a component of it cannot be `{prefix}`")
            }
            InstanceKind::Primitive(Primitive::Real) | InstanceKind::Error => return,
            InstanceKind::Primitive(_) => {
                let Some(prefix) = flow else { return };
                let name = self.ctx.instances.display_name(inst);
                format!("`{name}` is `{prefix}` and must be a Real")
            }
            _ => return,
        };
        self.ctx
            .errors
            .push(Diagnostic::error("wrong-prefix", span, message));
    }
}
