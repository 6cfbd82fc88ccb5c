//! What may vary when (MLS 3.6 §3.8), as far as it is known only once all equations are.
//!
//! - `pre(x)` of a Real outside of `when` needs a discrete `x`: a continuous one has no left limit that differs from it (§3.7.5).
//! - The equation of a variable that is declared `discrete` has a side that changes at events only (§3.8.5). Left to the simulation it would keep
//!   its first value for ever.
//!
//! What relations, `noEvent`, clocks and functions are made of is not looked at.

use acausal_expr::flat::{VarType, Variability};
use acausal_expr::{Builtin, ExprId, Kind, Node, VarId};

use super::Flattener;
use crate::lower::error;

impl Flattener {
    pub(super) fn check_variability(&mut self) {
        for (var, span) in std::mem::take(&mut self.ctx.left_limits) {
            let v = self.model.var(var);
            if v.variability == Variability::Continuous && v.ty == VarType::Real {
                let name = v.name.plain();
                let message = error(
                    "pre-of-continuous",
                    span,
                    format!("`{name}` is continuous: it has no left limit outside of `when`"),
                )
                .note("`pre`, `edge` and `change` take discrete variables (MLS 3.6 §3.7.5)")
                .hint("use `delay`, or sample it in a `when`");
                self.ctx.errors.push(message);
            }
        }
        let mut wrong = Vec::new();
        for equation in &self.model.equations {
            let sides = [(equation.lhs, equation.rhs), (equation.rhs, equation.lhs)];
            for (variable, value) in sides {
                // `y = d` with a continuous `y` is an equation for `y`.
                if let Some(var) = self.declared_discrete(variable)
                    && !matches!(self.ctx.exprs.node(value), Node::Var(_))
                    && let Some(name) = self.continuous_part(value)
                {
                    wrong.push((var, name, equation.origin));
                }
            }
        }
        if wrong.is_empty() || self.has_clocks() {
            return;
        }
        for (var, part, origin) in wrong {
            let name = self.model.var(var).name.plain();
            let span = self.model.origin(origin).span;
            let message = error(
                "not-discrete",
                span,
                format!("`{name}` is discrete, but `{part}` varies between events"),
            )
            .hint("assign it in a `when`, or leave out `discrete`");
            self.ctx.errors.push(message);
        }
    }

    /// A discrete Real that no `when` assigns.
    fn declared_discrete(&self, e: ExprId) -> Option<VarId> {
        match self.ctx.exprs.node(e) {
            Node::Var(a) if a.kind == Kind::Value => {
                let v = self.model.var(a.var);
                let declared = v.variability == Variability::Discrete && v.ty == VarType::Real;
                (declared && !self.discrete.contains(&a.var)).then_some(a.var)
            }
            _ => None,
        }
    }

    /// The name of something in an expression that varies between events.
    fn continuous_part(&self, e: ExprId) -> Option<String> {
        let x = &self.ctx.exprs;
        let mut todo = vec![e];
        while let Some(e) = todo.pop() {
            match x.node(e) {
                Node::Time => return Some("time".to_string()),
                Node::Var(a) => {
                    let v = self.model.var(a.var);
                    if a.kind != Kind::Pre
                        && v.variability == Variability::Continuous
                        && v.ty == VarType::Real
                    {
                        return Some(v.name.plain());
                    }
                }
                Node::Rel(..) | Node::NoEvent(_) | Node::Apply { .. } => {}
                Node::Call(f, _)
                    if f.is_clocked()
                        || matches!(
                            f,
                            Builtin::Floor
                                | Builtin::Ceil
                                | Builtin::Integer
                                | Builtin::Div
                                | Builtin::Mod
                                | Builtin::Rem
                                | Builtin::Sign
                                | Builtin::Sample
                                | Builtin::Edge
                                | Builtin::Change
                                | Builtin::Initial
                                | Builtin::Terminal
                        ) => {}
                _ => x.for_each_child(e, |c| todo.push(c)),
            }
        }
        None
    }

    fn has_clocks(&self) -> bool {
        let x = &self.ctx.exprs;
        let sides = self.model.equations.iter().flat_map(|e| [e.lhs, e.rhs]);
        let sides: Vec<ExprId> = sides.collect();
        x.reachable(&sides)
            .iter()
            .any(|&e| matches!(x.node(e), Node::Call(f, _) if f.is_clocked()))
    }
}
