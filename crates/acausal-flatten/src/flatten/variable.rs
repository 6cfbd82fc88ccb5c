//! Attributes and bindings of flat variables (MLS 3.6 §4.4, §4.9).
//!
//! Parameters and constants keep their binding; the binding of a variable becomes an equation.

use std::sync::Arc;

use acausal_base::{Diagnostic, Severity};
use acausal_expr::flat::{
    Attributes, Causality, Comprehension, Equation, Experiment, OriginKind, StateSelect, Text,
    Variability,
};
use acausal_expr::{ExprId, Range, ValueKind, VarId};
use acausal_syntax::ast;

use super::Flattener;
use crate::lower::{Error, Result, Tensor, Type};
use acausal_instance::instance::InstId;

impl Flattener {
    pub(super) fn variables(&mut self) {
        for k in 0..self.leaves.len() {
            let inst = self.leaves[k];
            let id = VarId(k as u32);
            let result = self.attributes(id, inst);
            self.ctx.keep(result);
            let printed = self.ctx.function_state.prints.len();
            let result = self.binding(id, inst);
            self.ctx.keep(result);
            self.function_prints(printed, &[], false);
            let asserts = self.function_asserts(&[], inst);
            self.model.asserts.extend(asserts);
            if self.model.vars[k].is_parameter() && self.evaluate_annotation(inst) {
                self.evaluated.insert(id);
            }
        }
        self.check_settings();
    }

    /// A setting of some elements replaces part of a value, so there must be one.
    fn check_settings(&mut self) {
        for setting in &self.ctx.instances.element_settings {
            if !setting.used {
                let message = format!(
                    "`{}` sets some elements of what has no value of its own",
                    setting.path
                );
                let message = Diagnostic::error("wrong-setting", setting.value.span, message)
                    .hint("set all elements: `name={...}`");
                self.ctx.errors.push(message);
            }
        }
    }

    /// What is known only after all equations: which parameters are structural, which variables discrete.
    pub(super) fn finish_variables(&mut self) {
        for k in 0..self.leaves.len() {
            let inst = self.leaves[k];
            let evaluate = self.evaluated.contains(&VarId(k as u32));
            let is_final = self.ctx.instances.data(inst).prefixes.is_final;
            let discrete = self.discrete.contains(&VarId(k as u32));
            let v = &mut self.model.vars[k];
            if discrete {
                if !v.is_discrete() {
                    self.by_when.push(VarId(k as u32));
                }
                v.variability = v.variability.min(Variability::Discrete);
            }
            v.structural = v.is_parameter()
                && (v.variability == Variability::Constant
                    || is_final
                    || evaluate
                    || self.ctx.structural.contains(&inst));
        }
    }

    fn attributes(&mut self, id: VarId, inst: InstId) -> Result<()> {
        let description = self.ctx.instances.description(inst).cloned();
        if !self.ctx.instances.has_attributes(inst) {
            if let Some(description) = description {
                let said = Attributes {
                    description,
                    ..Attributes::default()
                };
                self.model.vars[id.index()].attributes = Some(self.shared(said));
            }
            return Ok(());
        }
        let own = self.ctx.primitive_type(inst);
        let slot =
            |this: &mut Self, name: &str, ty: Option<Type>| -> Result<Option<Comprehension>> {
                let Some(binding) = this.ctx.instances.attribute(inst, name) else {
                    return Ok(None);
                };
                let t = this.ctx.attribute_value(inst, &binding, ty, false)?;
                let t = this.ctx.with_settings(inst, Some(name), t, false)?;
                Ok(Some(Comprehension {
                    iters: t.iters.into(),
                    body: t.body,
                }))
            };
        let start = slot(self, "start", own)?;
        let fixed = slot(self, "fixed", Some(Type::Boolean))?;
        if let Some(value) = &fixed {
            self.check_fixed(inst, value.body)?;
        }
        let min = slot(self, "min", own)?;
        let max = slot(self, "max", own)?;
        let nominal = slot(self, "nominal", own)?;
        let unit = self.text_attribute(inst, "unit")?;
        let display_unit = self.text_attribute(inst, "displayUnit")?;
        let state_select = match self.ctx.instances.attribute(inst, "stateSelect") {
            None => StateSelect::Default,
            Some(binding) => {
                let ty = self.state_select_type();
                let t = self.ctx.attribute_value(inst, &binding, ty, true)?;
                match self.ctx.exprs.as_int(t.body) {
                    Some(1) => StateSelect::Never,
                    Some(2) => StateSelect::Avoid,
                    Some(4) => StateSelect::Prefer,
                    Some(5) => StateSelect::Always,
                    _ => StateSelect::Default,
                }
            }
        };
        self.model.vars[id.index()].state_select = state_select;
        let said = Attributes {
            start,
            fixed,
            min,
            max,
            nominal,
            unit,
            display_unit,
            description: description.unwrap_or_default(),
        };
        if said != Attributes::default() {
            self.model.vars[id.index()].attributes = Some(self.shared(said));
        }
        Ok(())
    }

    /// What is said about a variable, shared with all others about which the same is said.
    fn shared(&mut self, said: Attributes) -> Arc<Attributes> {
        match self.said.get(&said) {
            Some(known) => Arc::clone(known),
            None => {
                let new = Arc::new(said);
                self.said.insert(Arc::clone(&new));
                new
            }
        }
    }

    fn state_select_type(&mut self) -> Option<Type> {
        self.ctx
            .instances
            .predefined_enum("StateSelect")
            .map(Type::Enum)
    }

    /// A constant String attribute; of an array the one of the first element counts.
    fn text_attribute(&mut self, inst: InstId, name: &str) -> Result<Text> {
        let Some(binding) = self.ctx.instances.attribute(inst, name) else {
            return Ok(Text::default());
        };
        let t = self
            .ctx
            .attribute_value(inst, &binding, Some(Type::String), true)?;
        let first = vec![1; t.rank()];
        let e = t.element(&mut self.ctx.exprs, &first);
        match self.ctx.exprs.node(e) {
            acausal_expr::Node::Str(s) => Ok(self.ctx.exprs.string(s).into()),
            _ => Err(Error::not_constant(
                binding.expr.span,
                format!("`{name}` must be a constant String"),
            )),
        }
    }

    fn binding(&mut self, id: VarId, inst: InstId) -> Result<()> {
        let parameter = self.model.vars[id.index()].is_parameter();
        let Some((holder, binding)) = self.ctx.instances.binding_in_records(inst) else {
            if parameter {
                self.unbound_parameter(id, inst);
            }
            return Ok(());
        };
        let constant = self.model.vars[id.index()].variability == Variability::Constant;
        let t = if constant {
            self.ctx.value(inst, binding.span)?
        } else {
            self.ctx.bound(inst, holder, &binding, false)?
        };
        if parameter {
            self.check_parameter(&t, inst, &binding)?;
            self.model.vars[id.index()].binding = Some(Comprehension {
                iters: t.iters.into(),
                body: t.body,
            });
            return Ok(());
        }
        let v = &mut self.model.vars[id.index()];
        if v.causality == Causality::Input {
            v.causality = Causality::Local;
        }
        let component = self.ctx.instances.parent(inst).unwrap_or(self.root);
        let origin = self.origin(binding.span, component, OriginKind::Binding);
        let subs: Vec<_> = t.iters.iter().map(|&i| self.ctx.exprs.iter(i)).collect();
        let ty = self.ctx.primitive_type(inst).unwrap_or(Type::Real).ty();
        let lhs = self.ctx.exprs.var(id, ValueKind::Value, &subs, ty);
        let domain = t
            .iters
            .iter()
            .zip(&t.dims)
            .map(|(&i, &n)| (i, Range::upto(n)))
            .collect();
        self.push(
            false,
            Equation {
                domain,
                lhs,
                rhs: t.body,
                origin,
            },
        );
        Ok(())
    }

    /// A parameter may depend on parameters and constants only (MLS 3.6 §3.8.3).
    fn check_parameter(
        &mut self,
        t: &Tensor,
        inst: InstId,
        binding: &acausal_instance::instance::Binding,
    ) -> Result<()> {
        let Some(name) = self.varying_part(t.body) else {
            return Ok(());
        };
        let own = self.ctx.instances.display_name(inst);
        Err(Error::not_constant(
            binding.expr.span,
            format!("the parameter `{own}` cannot depend on `{name}`, which varies"),
        ))
    }

    /// Which values are given at the start is known before it (MLS 3.6 §4.9).
    fn check_fixed(&mut self, inst: InstId, value: ExprId) -> Result<()> {
        let Some(name) = self.varying_part(value) else {
            return Ok(());
        };
        let own = self.ctx.instances.display_name(inst);
        let binding = self.ctx.instances.attribute(inst, "fixed");
        let span = binding.map_or(self.ctx.instances.data(inst).span, |b| b.expr.span);
        Err(Error::not_constant(
            span,
            format!("`fixed` of `{own}` cannot depend on `{name}`, which varies"),
        ))
    }

    /// The name of something in an expression that varies during the simulation.
    fn varying_part(&self, e: ExprId) -> Option<String> {
        let parts = self.ctx.exprs.reachable(&[e]).into_iter();
        let mut varying = parts.filter_map(|e| match self.ctx.exprs.node(e) {
            acausal_expr::Node::Time => Some("time".to_string()),
            acausal_expr::Node::Var(a) => {
                let v = &self.model.vars[a.var.index()];
                (!v.is_parameter()).then(|| v.name.plain())
            }
            _ => None,
        });
        varying.next()
    }

    /// A parameter without binding: free if `fixed = false`, else its start value counts (MLS 3.6 §8.6).
    fn unbound_parameter(&mut self, id: VarId, inst: InstId) {
        let v = &self.model.vars[id.index()];
        let free = v
            .fixed
            .as_ref()
            .is_some_and(|f| self.ctx.exprs.as_bool(f.body) != Some(true));
        // Where the attribute depends on other parameters, its value decides at the start of the simulation.
        if free {
            return;
        }
        let name = self.ctx.instances.display_name(inst);
        let span = v.span;
        let start = v.start.clone();
        let (value, with) = match start {
            Some(start) => (start, "its start value is used"),
            None => {
                let ty = self.ctx.primitive_type(inst).unwrap_or(Type::Real);
                let zero = crate::lower::tensor::zero(&mut self.ctx.exprs, ty);
                let iters = v
                    .dims
                    .clone()
                    .into_iter()
                    .map(|_| self.ctx.exprs.fresh_iter())
                    .collect();
                (Comprehension { iters, body: zero }, "zero is used")
            }
        };
        self.model.vars[id.index()].binding = Some(value);
        self.ctx.warnings.push(
            Diagnostic::warning(
                "parameter-without-value",
                span,
                format!("the parameter `{name}` has no value; {with}"),
            )
            .hint(format!("give it a value: `{name} = ...`")),
        );
    }

    fn evaluate_annotation(&mut self, inst: InstId) -> bool {
        self.ctx
            .instances
            .annotation(inst)
            .and_then(|a| a.get("Evaluate"))
            .and_then(|m| m.binding.as_ref())
            .is_some_and(|b| matches!(&b.value, ast::BindingValue::Expr(e) if matches!(e.kind, ast::ExprKind::Bool(true))))
    }

    /// `annotation(experiment(StartTime = 0, StopTime = 1, Tolerance = 1e-6, Interval = 0.01))`
    pub(super) fn experiment(&mut self) {
        let mut found = Experiment::default();
        for part in self
            .ctx
            .instances
            .class_annotations(self.root)
            .into_iter()
            .take(1)
        {
            let Some(modification) = part.annotation().and_then(|a| a.get("experiment")) else {
                continue;
            };
            for argument in &modification.arguments {
                let ast::ArgumentKind::Modify {
                    name,
                    modification: Some(m),
                    ..
                } = &argument.kind
                else {
                    continue;
                };
                let Some(ast::BindingValue::Expr(e)) = m.binding.as_ref().map(|b| &b.value) else {
                    continue;
                };
                let slot = match name.parts.last().map(|p| p.as_str()) {
                    Some("StartTime") => &mut found.start,
                    Some("StopTime") => &mut found.stop,
                    Some("Tolerance") => &mut found.tolerance,
                    Some("Interval") => &mut found.interval,
                    _ => continue,
                };
                let env = crate::lower::Env::new(part.scope).evaluating();
                match self.ctx.scalar(&env, e, Type::Real) {
                    Ok(v) => *slot = self.ctx.exprs.as_f64(v),
                    Err(e) => self.ctx.warnings.push(Diagnostic {
                        severity: Severity::Warning,
                        ..e.into()
                    }),
                }
            }
        }
        self.model.experiment = found;
    }
}
