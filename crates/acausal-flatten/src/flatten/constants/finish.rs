//! The model after the pass: equations in their order, constants in attributes, `when` clauses and assertions.

use std::sync::Arc;

use acausal_expr::flat::{
    Action, Assert, Attributes, Comprehension, Equation, VarType, Variability,
};
use acausal_expr::{IterId, Node};

use super::Pass;
use super::known::Sub;

impl Pass<'_> {
    /// A String variable that is a constant: there is nothing to compute at run time, so its equation becomes its binding.
    fn constant_text(&mut self, e: &Equation) -> bool {
        let Node::Var(a) = self.model.exprs.node(e.lhs) else {
            return false;
        };
        let v = self.model.var(a.var);
        if v.ty != VarType::String || v.is_parameter() {
            return false;
        }
        let Some([piece]) = self.known.get(&a.var).map(Vec::as_slice) else {
            return false;
        };
        let iters = piece.subs.iter().map(|s| match s {
            Sub::All(i) => Some(*i),
            Sub::At(_) => None,
        });
        let Some(iters) = iters.collect::<Option<Vec<IterId>>>() else {
            return false;
        };
        let body = piece.body;
        let v = &mut self.model.vars[a.var.index()];
        v.binding = Some(Comprehension {
            iters: iters.into(),
            body,
        });
        v.variability = Variability::Constant;
        true
    }

    /// What is said about a variable, if a constant occurs in it.
    fn put_in_attributes(&mut self, said: &Attributes) -> Option<Attributes> {
        let mut own = said.clone();
        let slots = [
            &mut own.start,
            &mut own.fixed,
            &mut own.min,
            &mut own.max,
            &mut own.nominal,
        ];
        let mut changed = false;
        for c in slots.into_iter().flatten() {
            let body = self.put_in(c.body);
            changed |= body != c.body;
            c.body = body;
        }
        changed.then_some(own)
    }

    /// The rest of the model, and the equations in their order.
    pub(super) fn finish(mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.retain(|e| !e.gone);
        entries.sort_by_key(|e| e.order);
        for entry in entries {
            if self.constant_text(&entry.equation) {
                continue;
            }
            let changed = (entry.equation.lhs, entry.equation.rhs) != entry.original;
            if changed {
                let pieces =
                    acausal_symbolic::split_equation(&mut self.model.exprs, entry.equation);
                self.model.equations.extend(pieces);
            } else {
                self.model.equations.push(entry.equation);
            }
        }
        for k in 0..self.model.vars.len() {
            let v = &mut self.model.vars[k];
            let (mut binding, mut attributes) = (v.binding.take(), v.attributes.take());
            if let Some(c) = &mut binding {
                c.body = self.put_in(c.body);
            }
            if let Some(shared) = &mut attributes
                && let Some(own) = self.put_in_attributes(shared)
            {
                *shared = Arc::new(own);
            }
            let v = &mut self.model.vars[k];
            (v.binding, v.attributes) = (binding, attributes);
        }
        for k in 0..self.model.initial_equations.len() {
            let e = &self.model.initial_equations[k];
            let (l, r) = (e.lhs, e.rhs);
            let (lhs, rhs) = (self.put_in(l), self.put_in(r));
            if self.has_unknown(lhs) || self.has_unknown(rhs) {
                let e = &mut self.model.initial_equations[k];
                (e.lhs, e.rhs) = (lhs, rhs);
            }
        }
        let mut whens = std::mem::take(&mut self.model.whens);
        for branch in whens.iter_mut().flat_map(|w| &mut w.branches) {
            for c in &mut branch.conditions {
                *c = self.put_in(*c);
            }
            for action in &mut branch.actions {
                match action {
                    Action::Assign { value, .. } | Action::Reinit { value, .. } => {
                        *value = self.put_in(*value);
                    }
                    Action::Assert(a) => self.assertion(a),
                    Action::Terminate { .. } | Action::Print { .. } => {}
                }
            }
        }
        self.model.whens = whens;
        let mut asserts = std::mem::take(&mut self.model.asserts);
        for a in &mut asserts {
            self.assertion(a);
        }
        asserts.retain(|a| self.model.exprs.as_bool(a.condition) != Some(true));
        self.model.asserts = asserts;
    }

    /// An assertion that fails for all times stays as it was: its message tells more.
    fn assertion(&mut self, a: &mut Assert) {
        let condition = self.put_in(a.condition);
        if self.model.exprs.as_bool(condition) != Some(false) {
            a.condition = condition;
        }
    }
}
