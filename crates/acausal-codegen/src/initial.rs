//! The system that holds at the start (MLS 3.6 §8.6), as kernels with an exact sparse Jacobian.
//!
//! In: the index-one DAE with its initial equations and attributes. Out ([`InitialCode`]): rows that follow the residual
//! rows, and columns that follow `x` and `x'`:
//!
//! ```text
//!              x      x'     free parameters
//! residuals    .      .      .
//! hidden       .      .      .        highest derivatives of constraints
//! equations    .      .      .        initial equations
//! starts       .      .      .        v = start, where v is no component of x or its start depends on a free parameter
//! ```
//!
//! A parameter is *free* when it has no binding and its `fixed` attribute is not literally true; whether it really is
//! unknown is decided by the value of the attribute. Parameters that depend on free ones are local assignments of this
//! system. Fixed starts of components of `x` need no row: their column is known.
//!
//! Initial equations that give a discrete variable (or its left limit) a value are assignments: `pre(b) = true`. They are
//! evaluated before the continuous equations are solved, in every round of the event iteration at the start.
//!
//! Example: `parameter Real p(fixed = false); Real x(start = 1, fixed = true); equation der(x) = -p*x; initial equation
//! der(x) = -3`: rows `der(x) + p*x`, `der(x) + 3`; columns `x` (known), `der(x)`, `p`.

use acausal_compiled::{FreeParameter, InitialCode, InitialRow};
use acausal_expr::flat::{Causality, Equation, Origin, OriginId, OriginKind, Variability};
use acausal_expr::{Access, Builtin, ExprId, IterId, Node, Range, Ty, ValueKind, VarId};
use acausal_index1::{DiscreteEquation, Local};
use acausal_jit::kernel::Bank;
use acausal_symbolic::{auxiliary, hoist_reductions};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::CodegenError;
use crate::address::domain_len;
use crate::items::{Item, ItemTarget};
use crate::lower::Lowering;
use crate::plan::{GroupOrder, Plan};
use acausal_compiled::Place;
use acausal_compiled::RowGroup;
use acausal_compiled::{Jacobian, JacobianColumns};

/// What the initial system is made of.
pub(crate) struct Parts<'a> {
    /// Items of all parameters, in evaluation order.
    pub parameters: &'a [Item],
    /// Local assignments.
    pub locals: &'a [Item],
    /// All of them, with those that are only another name.
    pub aliases: &'a [Local],
    /// Residuals.
    pub residuals: &'a [Item],
    /// The Jacobian of the residuals, and the local assignments that it does not need.
    pub jacobian: (&'a Jacobian, &'a Plan),
    /// Highest derivatives of constraints.
    pub hidden: &'a [acausal_index1::Residual],
    /// Parameters without a value that the initial equations may determine.
    pub free_parameters: &'a [VarId],
    /// Initial equations for continuous unknowns.
    pub equations: &'a [Equation],
    /// Assignments of discrete variables and left limits at the start.
    pub discrete: &'a [DiscreteEquation],
    /// Where start values lie.
    pub start_of: &'a FxHashMap<VarId, usize>,
}

impl Lowering<'_> {
    /// Compiles the initial system; `first` is the number of residual rows.
    pub(crate) fn initial_code(
        &mut self,
        parts: Parts<'_>,
        first: usize,
    ) -> Result<InitialCode, CodegenError> {
        let mut code = InitialCode::default();
        for &var in parts.free_parameters {
            if let Some(&Place::Whole(Bank::Mem, base)) = self.layout.place((var, ValueKind::Value))
            {
                let len = self.flat.var(var).len();
                code.free.push(FreeParameter { var, base, len });
                self.active.insert(var);
            }
        }
        let dependent = self.dependent_items(parts.parameters);
        let mut rows = Rows {
            next: first,
            items: Vec::new(),
            hoisted: Vec::new(),
        };
        for r in parts.hidden {
            rows.push(&mut code, InitialRow::Hidden, &r.domain, r.value, r.origin);
        }
        code.hidden_len = rows.next - first;
        let mut given = Vec::new();
        for eq in parts.equations {
            self.add_given(eq, &mut code, &mut given)?;
            let value = self.flat.exprs.sub(eq.lhs, eq.rhs);
            let value = self.hoist(&eq.domain, value, eq.origin, &mut rows.hoisted);
            rows.push(
                &mut code,
                InitialRow::Equation,
                &eq.domain,
                value,
                eq.origin,
            );
        }
        for (var, depends) in self.start_conditions() {
            let place = parts.start_of.get(&var).copied();
            if depends {
                self.flat.inlined_starts.push(var);
            }
            let (domain, value, origin) = self.start_condition(var, place.filter(|_| !depends));
            let value = self.hoist(&domain, value, origin, &mut rows.hoisted);
            rows.push(&mut code, InitialRow::Start(var), &domain, value, origin);
        }
        code.len = rows.next - first;
        code.given_values = self.ordered_program(&given)?;
        let assignments = parts.discrete;
        let found: FxHashSet<VarId> = (assignments.iter().map(|a| a.target.var))
            .filter(|&v| self.flat.var(v).is_parameter())
            .collect();
        code.discrete_parameters = !found.is_empty();
        let mut assignments = self.discrete_items(assignments);
        assignments.extend(self.reading(parts.parameters, found));
        code.discrete = self.ordered_program(&assignments)?;
        let dependent = self.plan(&dependent, GroupOrder::Dependent)?;
        let hoisted = self.plan(&rows.hoisted, GroupOrder::Dependent)?;
        let own = self.plan(&rows.items, GroupOrder::Free)?;
        code.dependent = self.program(&dependent)?;
        code.residuals = self.program(&hoisted)?;
        code.residuals.extend(self.program(&own)?);
        let columns = JacobianColumns::Separate {
            n: self.layout.n,
            units: code.free.iter().map(|f| (f.base, f.len)).collect(),
        };
        code.jacobian = if self.active.is_empty() {
            let (base, rest) = parts.jacobian;
            self.jacobian_beyond(base, &[rest, &hoisted], &[&own], rows.next, columns)?
        } else {
            // Derivatives with respect to free parameters make other shapes.
            let locals = self.plan(parts.locals, GroupOrder::Dependent)?;
            let residuals = self.plan(parts.residuals, GroupOrder::Free)?;
            self.jacobian(
                &[&dependent, &locals, &hoisted],
                &[&residuals, &own],
                rows.next,
                columns,
            )?
        };
        self.active.clear();
        code.aliases = self.start_aliases(parts.aliases)?;
        let x = &self.flat.exprs;
        code.homotopy = x
            .ids()
            .any(|e| matches!(x.node(e), Node::Call(Builtin::Homotopy, _)));
        code.asks_initial = x
            .ids()
            .any(|e| matches!(x.node(e), Node::Call(Builtin::Initial, _)));
        Ok(code)
    }

    /// The items that read a free parameter, directly or through others; their targets become active.
    fn dependent_items(&mut self, items: &[Item]) -> Vec<Item> {
        let dependent = self.reading(items, self.active.clone());
        let targets = dependent.iter().filter_map(|i| match i.target {
            ItemTarget::Access(target) => Some(target.var),
            _ => None,
        });
        self.active.extend(targets);
        dependent
    }

    /// The items that read one of some unknown parameters, directly or through others.
    fn reading(&self, items: &[Item], unknown: FxHashSet<VarId>) -> Vec<Item> {
        let mut dependent = Vec::new();
        if unknown.is_empty() {
            return dependent;
        }
        let mut read = unknown.clone();
        for item in items {
            let ItemTarget::Access(target) = item.target else {
                continue;
            };
            let accesses = self.flat.exprs.accesses(item.value);
            let reads = accesses.iter().any(|(_, a)| read.contains(&a.var));
            // The guess of an unknown parameter may depend on another one; it stays a guess.
            if reads && !unknown.contains(&target.var) {
                read.insert(target.var);
                dependent.push(item.clone());
            }
        }
        dependent
    }

    fn hoist(
        &mut self,
        domain: &[(IterId, Range)],
        value: ExprId,
        origin: OriginId,
        items: &mut Vec<Item>,
    ) -> ExprId {
        let mut locals = Vec::new();
        let kind = Variability::Continuous;
        let value = hoist_reductions(self.flat, domain, value, origin, kind, &mut locals);
        for l in locals {
            let len = self.flat.var(l.target.var).len();
            self.layout.add_mem((l.target.var, ValueKind::Value), len);
            items.push(Item {
                domain: l.domain.into(),
                value: l.value,
                target: ItemTarget::Access(l.target),
                origin: l.origin,
            });
        }
        value
    }

    /// Assignments of discrete values and left limits; those without a place in memory are not read anywhere.
    fn discrete_items(&mut self, assignments: &[DiscreteEquation]) -> Vec<Item> {
        let mut items = Vec::new();
        for a in assignments {
            if (self.layout.place((a.target.var, a.target.kind))).is_none() {
                continue;
            }
            let value = self.hoist(&a.domain, a.value, a.origin, &mut items);
            items.push(Item {
                domain: a.domain.clone(),
                value,
                target: ItemTarget::Access(a.target),
                origin: a.origin,
            });
        }
        items
    }

    /// Variables whose fixed start needs a row, and whether it depends on variables.
    fn start_conditions(&self) -> Vec<(VarId, bool)> {
        let literally_free = |f: ExprId| self.flat.exprs.as_bool(f) == Some(false);
        let mut vars = Vec::new();
        for (id, v) in self.flat.var_ids() {
            let may_be_fixed = v.fixed.as_ref().is_some_and(|f| !literally_free(f.body));
            if v.is_discrete() || v.auxiliary || v.is_empty() || !may_be_fixed {
                continue;
            }
            let Some(place) = self.layout.place((id, ValueKind::Value)) else {
                continue;
            };
            let component = matches!(place, Place::Whole(Bank::Y, _)) && !self.layout.is_alias(id);
            // A start that is written with variables (MLS 3.6 §4.4.4 wants parameters) is an equation of the start like others.
            let depends = v.start.as_ref().is_some_and(|s| {
                self.flat.exprs.any(s.body, |x, e| match x.node(e) {
                    Node::Time => true,
                    Node::Var(a) => {
                        self.active.contains(&a.var) || !self.flat.var(a.var).is_parameter()
                    }
                    _ => false,
                })
            });
            if (!component || depends) && v.causality != Causality::Input {
                vars.push((id, depends));
            }
        }
        vars
    }

    /// `v = start`. The start is read from its place where it has one, so that a simulation may give it another value.
    fn start_condition(
        &mut self,
        var: VarId,
        place: Option<usize>,
    ) -> (Vec<(IterId, Range)>, ExprId, OriginId) {
        let v = self.flat.var(var);
        let (dims, start, span) = (v.dims.clone(), v.start.clone(), v.span);
        self.flat.origins.push(Origin {
            span,
            component: "".into(),
            kind: OriginKind::Binding,
        });
        let origin = OriginId(self.flat.origins.len() as u32 - 1);
        let x = &mut self.flat.exprs;
        let (iters, value) = match (start, place) {
            (Some(start), None) => (start.iters, start.body),
            (start, _) => {
                let fresh = || dims.iter().map(|_| x.fresh_iter()).collect();
                (start.map_or_else(fresh, |s| s.iters), x.real(0.0))
            }
        };
        let domain: Vec<(IterId, Range)> = iters
            .iter()
            .copied()
            .zip(dims.iter().map(|&d| Range::upto(d)))
            .collect();
        let value = match place {
            Some(base) => {
                let stored = auxiliary(self.flat, &domain, Variability::Parameter);
                let q = (stored.var, ValueKind::Value);
                self.layout.set(q, Place::Whole(Bank::Mem, base));
                self.flat.exprs.access(stored, Ty::Real)
            }
            None => value,
        };
        let x = &mut self.flat.exprs;
        let subs: Vec<ExprId> = iters.iter().map(|&i| x.iter(i)).collect();
        let subs = x.make_list(&subs);
        let access = Access {
            var,
            kind: ValueKind::Value,
            subs,
        };
        let access = x.access(access, Ty::Real);
        (domain, x.sub(access, value), origin)
    }
}

/// Rows under construction.
struct Rows {
    next: usize,
    items: Vec<Item>,
    /// Reductions inside of the rows.
    hoisted: Vec<Item>,
}

impl Rows {
    fn push(
        &mut self,
        code: &mut InitialCode,
        kind: InitialRow,
        domain: &[(IterId, Range)],
        value: ExprId,
        origin: OriginId,
    ) {
        let len = domain_len(domain);
        code.rows.push(RowGroup {
            first: self.next,
            len,
            origin,
            domain: domain.to_vec(),
            value,
        });
        code.kinds.push(kind);
        self.items.push(Item {
            domain: domain.to_vec(),
            value,
            target: ItemTarget::Consecutive(Bank::Out, self.next),
            origin,
        });
        self.next += len;
    }
}
