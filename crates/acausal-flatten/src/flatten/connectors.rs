//! Connectors must have as many flow variables as potentials (MLS 3.6 §9.3.1).
//!
//! Counted are the scalars of the variables that are not parameters, constants, inputs, outputs or streams. An overdetermined
//! record counts as many potentials as its `equalityConstraint` has residuals: `R` of a MultiBody frame has 12 variables, but
//! counts 3. Connectors inside of connectors are members of these; expandable and partial connectors need not be balanced.
//!
//! Example: `connector C Real e1; Real e2; flow Real f; end C;` has 2 potentials and 1 flow. Whatever connects it has one
//! equation too few or one too many, which would be reported far away from here.
//!
//! Cost: every class of connectors is counted once.

use acausal_base::Diagnostic;
use acausal_syntax::ast::{CausalityPrefix, FlowPrefix, VariabilityPrefix};
use rustc_hash::FxHashSet;

use super::Flattener;
use acausal_instance::instance::{InstId, InstanceKind};

impl Flattener {
    pub(super) fn check_connectors(&mut self) {
        let mut seen: FxHashSet<InstId> = FxHashSet::default();
        for k in 0..self.composites.len() {
            let inst = self.composites[k];
            let class = self.ctx.instances.data(inst).class;
            let parent = self.ctx.instances.parent(inst);
            if self.ctx.instances.kind(inst) != (InstanceKind::Connector { expandable: false })
                || parent.is_some_and(|p| self.ctx.instances.is_connector(p))
                || inst == self.root
                || !seen.insert(class)
            {
                continue;
            }
            self.check_connector(inst);
        }
    }

    fn check_connector(&mut self, connector: InstId) {
        let (mut potentials, mut flows) = (0usize, 0usize);
        // Members with the number of elements of the arrays that they are in.
        let mut todo: Vec<(InstId, usize)> = Vec::new();
        for child in self.ctx.instances.components(connector) {
            todo.push((child, 1));
        }
        while let Some((inst, around)) = todo.pop() {
            if self.ctx.absent.contains(&inst) {
                continue;
            }
            let Ok(dims) = self.ctx.dims(inst) else {
                return; // reported elsewhere
            };
            let count = around * dims.iter().product::<usize>();
            let prefixes = &self.ctx.instances.data(inst).prefixes;
            let (flow, causality, variability) =
                (prefixes.flow, prefixes.causality, prefixes.variability);
            if matches!(
                variability,
                Some(VariabilityPrefix::Constant | VariabilityPrefix::Parameter)
            ) || flow == Some(FlowPrefix::Stream)
                || flow.is_none()
                    && matches!(
                        causality,
                        Some(CausalityPrefix::Input | CausalityPrefix::Output)
                    )
            {
                continue;
            }
            // Overdetermined components, of which an array may be one.
            let nodes = |this: &mut Self, dims: &[usize]| {
                let own = dims.len().saturating_sub(this.ctx.node_rank(inst));
                around * dims[..own].iter().product::<usize>()
            };
            match self.ctx.instances.kind(inst) {
                InstanceKind::Primitive(_) if flow == Some(FlowPrefix::Flow) => flows += count,
                InstanceKind::Primitive(_) => match self.residuals(inst) {
                    Some(n) => potentials += nodes(self, &dims) * n,
                    None => potentials += count,
                },
                InstanceKind::Record { .. } | InstanceKind::Connector { expandable: false } => {
                    if let Some(n) = self.residuals(inst) {
                        potentials += nodes(self, &dims) * n;
                        continue;
                    }
                    for child in self.ctx.instances.components(inst) {
                        todo.push((child, count));
                    }
                }
                _ => return,
            }
        }
        if potentials == flows {
            return;
        }
        let class = self.ctx.instances.class_name(connector);
        let class_node = self.ctx.instances.data(connector).class;
        let span = self.ctx.instances.data(class_node).span;
        let message = format!(
            "the connector `{class}` is not balanced: {} and {}",
            counted(potentials, "potential"),
            counted(flows, "flow variable")
        );
        let error = Diagnostic::error("unbalanced-connector", span, message)
            .note("a connection gives one equation for every potential and one for every flow variable (MLS 3.6 §9.3.1)")
            .hint("declare `flow` variables, or `input` and `output` for signals, so that both numbers are equal");
        let error = self.ctx.instances.with_chain(error, connector);
        self.ctx.errors.push(error);
    }

    /// The number of residuals of an overdetermined component, `None` if it is none or they are not known.
    fn residuals(&mut self, inst: InstId) -> Option<usize> {
        let function = self.ctx.equality_constraint(inst)?;
        for c in self.ctx.instances.components(function) {
            if self.ctx.instances.data(c).prefixes.causality == Some(CausalityPrefix::Output) {
                return self.ctx.dims(c).ok().map(|d| d.iter().product());
            }
        }
        None
    }
}

fn counted(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}
