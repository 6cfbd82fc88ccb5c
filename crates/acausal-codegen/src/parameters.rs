//! Values of parameters and start attributes: programs that run before the simulation.

use acausal_expr::flat::{Comprehension, Equation, OriginId, VarType, Variability};
use acausal_expr::{Access, ExprId, IterId, Node, Range, ValueKind, VarId};
use acausal_jit::kernel::{Bank, Program};
use acausal_symbolic::{hoist_reductions, split_equation};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::CodegenError;
use crate::items::{Item, ItemTarget};
use crate::lower::Lowering;
use crate::plan::GroupOrder;
use acausal_compiled::Place;

impl Lowering<'_> {
    /// Assigns parameters and constants, in the order of their dependencies. A parameter without a value takes its
    /// start attribute (MLS 3.6 §4.4.4).
    pub fn parameter_items(&mut self, origin: OriginId) -> Result<Vec<Item>, CodegenError> {
        let mut items = Vec::new();
        for id in self.parameter_order()? {
            let var = self.flat.var(id);
            if var.ty == VarType::String {
                continue;
            }
            if let Some(value) = var.binding.clone().or(var.start.clone()) {
                let bound = var.binding.is_some();
                let place = self.layout.place((id, ValueKind::Value));
                // Every parameter lies in `Mem` in one piece. The guess of a free one is evaluated with the others.
                if let (true, Some(&Place::Whole(Bank::Mem, base))) = (bound, place)
                    && self.write_literal(id, &value, base)
                {
                    continue;
                }
                self.array_items(id, &value, ItemTarget::Access, origin, &mut items)?;
            }
        }
        Ok(items)
    }

    /// A literal needs no evaluation: it is written when the memory is made. False when the value is none.
    fn write_literal(&mut self, id: VarId, value: &Comprehension, base: usize) -> bool {
        let x = &self.flat.exprs;
        let truth = x.as_bool(value.body).map(f64::from);
        let literal = x.as_f64(value.body).or(truth);
        let count = self.flat.var(id).len();
        self.literals.extend(literal.map(|v| (base, count, v)));
        literal.is_some()
    }

    /// Items that evaluate an array value into elements of a variable or consecutive places.
    fn array_items(
        &mut self,
        id: VarId,
        value: &Comprehension,
        target: impl Fn(Access) -> ItemTarget,
        origin: OriginId,
        items: &mut Vec<Item>,
    ) -> Result<(), CodegenError> {
        let dims = self.flat.var(id).dims.clone();
        if dims.contains(&0) {
            return Ok(());
        }
        let domain: Vec<(IterId, Range)> = value
            .iters
            .iter()
            .copied()
            .zip(dims.iter().map(|&d| Range::upto(d)))
            .collect();
        let mut locals = Vec::new();
        let body = hoist_reductions(
            self.flat,
            &domain,
            value.body,
            origin,
            Variability::Parameter,
            &mut locals,
        );
        for local in locals {
            self.layout.add_mem(
                (local.target.var, ValueKind::Value),
                self.flat.var(local.target.var).len(),
            );
            items.push(Item {
                domain: local.domain.into(),
                value: local.value,
                target: ItemTarget::Access(local.target),
                origin,
            });
        }
        let subs: Vec<ExprId> = value
            .iters
            .iter()
            .map(|&i| self.flat.exprs.iter(i))
            .collect();
        // Cut where the value changes its form: a branch that is not taken may have no elements there.
        let ty = self.flat.exprs.ty(body);
        let whole = Equation {
            domain: domain.into(),
            lhs: self.flat.exprs.var(id, ValueKind::Value, &subs, ty),
            rhs: body,
            origin,
        };
        for piece in split_equation(&mut self.flat.exprs, whole) {
            let Node::Var(access) = self.flat.exprs.node(piece.lhs) else {
                continue;
            };
            items.push(Item {
                domain: piece.domain.into(),
                value: piece.rhs,
                target: target(access),
                origin,
            });
        }
        Ok(())
    }

    /// Evaluates an attribute of every variable into consecutive places of `Mem`; gives the places.
    pub fn attribute_program(
        &mut self,
        pick: impl Fn(&acausal_expr::flat::Variable) -> Option<Comprehension>,
        wanted: impl Fn(&acausal_expr::flat::Variable) -> bool,
        origin: OriginId,
    ) -> Result<(Program, FxHashMap<VarId, usize>), CodegenError> {
        let ids: Vec<VarId> = self
            .flat
            .var_ids()
            .filter(|(_, v)| v.ty != VarType::String && wanted(v))
            .map(|(id, _)| id)
            .collect();
        let mut bases = FxHashMap::default();
        let mut items = Vec::new();
        for id in ids {
            let Some(value) = pick(self.flat.var(id)) else {
                continue;
            };
            let base = self.layout.reserve(self.flat.var(id).len());
            bases.insert(id, base);
            if !self.write_literal(id, &value, base) {
                let target = |access| ItemTarget::Elements(Bank::Mem, base, access);
                self.array_items(id, &value, target, origin, &mut items)?;
            }
        }
        let plan = self.plan(&items, GroupOrder::Dependent)?;
        Ok((self.program(&plan)?, bases))
    }

    /// Parameters such that each one comes after those its value depends on.
    fn parameter_order(&self) -> Result<Vec<VarId>, CodegenError> {
        let params: Vec<VarId> = self
            .flat
            .var_ids()
            // Values that the compiler hoists out are computed where they are used; external objects have a value of their own.
            .filter(|(_, v)| v.is_parameter() && (!v.auxiliary || v.binding.is_some()))
            .map(|(id, _)| id)
            .collect();
        let mut done: FxHashSet<VarId> = FxHashSet::default();
        let mut order = Vec::with_capacity(params.len());
        for &start in &params {
            // Depth first with an explicit stack; a parameter on the stack that is met again closes a cycle.
            let mut stack = vec![(start, false)];
            let mut open: Vec<VarId> = Vec::new();
            while let Some((id, leave)) = stack.pop() {
                if leave {
                    open.pop();
                    if done.insert(id) {
                        order.push(id);
                    }
                    continue;
                }
                if done.contains(&id) {
                    continue;
                }
                if open.contains(&id) {
                    let names = open
                        .iter()
                        .map(|v| self.flat.var(*v).name.plain())
                        .collect();
                    return Err(CodegenError::ParameterCycle {
                        names,
                        span: self.flat.var(id).span,
                    });
                }
                open.push(id);
                stack.push((id, true));
                let var = self.flat.var(id);
                if let Some(value) = var.binding.as_ref().or(var.start.as_ref()) {
                    for (_, a) in self.flat.exprs.accesses(value.body) {
                        if a.var != id
                            && self.flat.var(a.var).is_parameter()
                            && !done.contains(&a.var)
                        {
                            stack.push((a.var, false));
                        }
                    }
                }
            }
        }
        Ok(order)
    }
}
