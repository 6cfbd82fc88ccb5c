//! Parameters that depend on themselves.
//!
//! A value may *seem* to depend on itself: `T = if use_T then T0 else T_of(h)` together with `h = if use_T then h_of(T) else h0`.
//! Where a cycle is met, the conditions in it that are known are decided, their parameters become structural, and the cycle is
//! looked for again. What remains is an error that names the way round.

use acausal_base::Diagnostic;
use acausal_expr::{ExprId, Node, VarId};
use acausal_symbolic::Substitute;
use rustc_hash::FxHashMap;

use super::Flattener;

impl Flattener {
    /// Parameters must not depend on themselves. Arrays may, element by element, so they end a search.
    pub(super) fn cyclic_parameters(&mut self) {
        loop {
            let cycles = self.cycles();
            let mut decided = false;
            for cycle in &cycles {
                for &var in cycle {
                    decided |= self.decide_conditions(var);
                }
            }
            if decided {
                continue;
            }
            for cycle in cycles {
                let mut names: Vec<String> = cycle
                    .iter()
                    .map(|&v| format!("`{}`", self.model.var(v).name.plain()))
                    .collect();
                names.push(names[0].clone());
                let span = self.model.var(cycle[0]).span;
                let message = format!("the value of {} depends on itself", names[0]);
                let message = Diagnostic::error("cyclic-value", span, message)
                    .note(format!("the dependency is {}", names.join(" -> ")));
                self.ctx.errors.push(message);
            }
            return;
        }
    }

    /// Puts the values of known conditions into a binding. Says whether that changed it.
    fn decide_conditions(&mut self, var: VarId) -> bool {
        let Some(body) = self.model.var(var).binding.as_ref().map(|b| b.body) else {
            return false;
        };
        let mut values: FxHashMap<ExprId, bool> = FxHashMap::default();
        for e in self.ctx.exprs.reachable(&[body]) {
            // A condition without a value stays as it is: the cycle through it is an error of its own.
            if let Node::If(c, ..) = self.ctx.exprs.node(e)
                && let Ok(known) = self.ctx.with_known_parameters(c)
                && let Some(value) = self.ctx.exprs.as_bool(known)
            {
                values.insert(c, value);
            }
        }
        let new = self
            .ctx
            .exprs
            .rewrite(body, |x, e| values.get(&e).map(|&v| x.bool(v)));
        if let Some(binding) = &mut self.model.vars[var.index()].binding {
            binding.body = new;
        }
        new != body
    }

    /// One cycle for each variable that closes one, in the order of its dependencies.
    fn cycles(&self) -> Vec<Vec<VarId>> {
        let model = &self.model;
        let scalar_parameters = |id: VarId| {
            let v = model.var(id);
            match &v.binding {
                Some(b) if v.dims.is_empty() => self.ctx.exprs.accesses(b.body),
                _ => Vec::new(),
            }
        };
        // Depth-first with an explicit stack; a parameter that is met again while it is open closes a cycle.
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut state = vec![State::New; model.vars.len()];
        let mut cycles = Vec::new();
        for root in 0..model.vars.len() as u32 {
            let mut path: Vec<(VarId, Vec<VarId>)> = Vec::new();
            let mut next = Some(VarId(root)).filter(|id| state[id.index()] == State::New);
            loop {
                if let Some(id) = next.take() {
                    state[id.index()] = State::Open;
                    let uses = scalar_parameters(id)
                        .into_iter()
                        .map(|(_, a)| a.var)
                        .filter(|v| v.index() < model.vars.len())
                        .collect();
                    path.push((id, uses));
                }
                let Some((id, uses)) = path.last_mut() else {
                    break;
                };
                match uses.pop() {
                    None => {
                        state[id.index()] = State::Done;
                        path.pop();
                    }
                    Some(v) => match state[v.index()] {
                        State::New => next = Some(v),
                        State::Done => {}
                        State::Open => {
                            let from = path.iter().position(|p| p.0 == v);
                            let from = from.expect("what is open is on the path");
                            cycles.push(path[from..].iter().map(|p| p.0).collect());
                        }
                    },
                }
            }
        }
        cycles
    }
}
