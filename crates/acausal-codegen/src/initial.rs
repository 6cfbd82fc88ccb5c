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

use acausal_base::Span;
use acausal_expr::flat::{
    Causality, Equation, FlatModel, Origin, OriginId, OriginKind, VarType, Variability,
};
use acausal_expr::{Access, Builtin, ExprId, IterId, Kind, Node, Range, Ty, VarId};
use acausal_index1::{DiscreteEquation, Local, discrete_start, discrete_target, hoist_reductions};
use acausal_jit::kernel::{Bank, Program};
use rustc_hash::FxHashSet;

use crate::CodegenError;
use crate::address::domain_len;
use crate::compile::{Compiled, RowGroup};
use crate::given::GivenStart;
use crate::items::{Item, Target};
use crate::jacobian::{Columns, Jacobian};
use crate::layout::Place;
use crate::lower::Lowering;
use crate::plan::{Order, Plan};
use crate::start_alias::StartAlias;

/// What is evaluated at the start only.
#[derive(Clone, Debug, Default)]
pub struct InitialCode {
    /// The rows after the residual rows, into `Out`.
    pub residuals: Program,
    /// Number of hidden rows; they come first.
    pub hidden_len: usize,
    /// Number of rows after the residual rows.
    pub len: usize,
    /// Groups of these rows.
    pub rows: Vec<RowGroup>,
    /// What each group is.
    pub kinds: Vec<InitialRow>,
    /// Jacobian of all rows with separate columns for `x`, `x'` and free parameters.
    pub jacobian: Jacobian,
    /// Free parameters, in the order of their columns.
    pub free: Vec<FreeParameter>,
    /// Assigns the parameters that depend on free ones.
    pub dependent: Program,
    /// Initial equations that only give values to unknowns.
    pub given: Vec<GivenStart>,
    /// Evaluates those that are no literals.
    pub given_values: Program,
    /// Assigns discrete variables and left limits that initial equations determine, parameters that are no Reals among them, and
    /// then the parameters that depend on these.
    pub discrete: Program,
    /// There are such parameters.
    pub discrete_parameters: bool,
    /// Start values that are guesses for unknowns under another name.
    pub aliases: Vec<StartAlias>,
    /// `homotopy` occurs in the model.
    pub homotopy: bool,
    /// `initial()` occurs in the model: its equations are others after the start.
    pub asks_initial: bool,
    /// A derivative enters its equation nonlinearly: solutions may meet, and the equations are singular there.
    pub branching: bool,
}

/// A parameter that may be unknown at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeParameter {
    /// The parameter.
    pub var: VarId,
    /// First place in `Mem`.
    pub base: usize,
    /// Number of scalars.
    pub len: usize,
}

/// Kinds of rows after the residual rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialRow {
    /// Highest derivative of a constraint.
    Hidden,
    /// An initial equation.
    Equation,
    /// `v = start`; it counts where the `fixed` attribute of the element is true.
    Start(VarId),
}

impl InitialCode {
    /// Number of scalar free parameters.
    pub fn free_len(&self) -> usize {
        self.free.iter().map(|f| f.len).sum()
    }

    /// Whether the values of some parameters are known only when the start has been solved.
    pub fn parameters_wait(&self) -> bool {
        !self.free.is_empty() || self.discrete_parameters
    }

    /// The free parameter of a column (from 0) and the element.
    pub fn free_at(&self, mut column: usize) -> Option<(FreeParameter, usize)> {
        for f in &self.free {
            if column < f.len {
                return Some((*f, column));
            }
            column -= f.len;
        }
        None
    }
}

/// Parameters without a value that the initial equations may determine.
pub(crate) fn free_parameters(flat: &FlatModel) -> Vec<VarId> {
    flat.var_ids()
        .filter(|(_, v)| {
            let fixed = v.fixed.as_ref().map(|f| flat.exprs.as_bool(f.body));
            v.variability == Variability::Parameter
                && v.ty == VarType::Real
                && v.binding.is_none()
                && !v.auxiliary
                && !v.is_empty()
                && fixed.is_some_and(|f| f != Some(true))
        })
        .map(|(id, _)| id)
        .collect()
}

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
    /// Initial equations.
    pub equations: &'a [Equation],
    /// Equations of discrete variables.
    pub discrete: &'a [DiscreteEquation],
}

impl Lowering<'_> {
    /// Compiles the initial system; `first` is the number of residual rows.
    pub(crate) fn initial_code(
        &mut self,
        parts: Parts<'_>,
        first: usize,
    ) -> Result<InitialCode, CodegenError> {
        let mut code = InitialCode::default();
        for var in free_parameters(self.flat) {
            if let Some(&Place::Whole(Bank::Mem, base)) = self.layout.place((var, Kind::Value)) {
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
            if discrete_target(self.flat, eq).is_some() {
                continue;
            }
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
        for var in self.start_conditions() {
            let (domain, value, origin) = self.start_condition(var);
            let value = self.hoist(&domain, value, origin, &mut rows.hoisted);
            rows.push(&mut code, InitialRow::Start(var), &domain, value, origin);
        }
        code.len = rows.next - first;
        code.given_values = self.ordered_program(&given)?;
        let assignments = discrete_start(self.flat, parts.discrete);
        let found: FxHashSet<VarId> = (assignments.iter().map(|a| a.target.var))
            .filter(|&v| self.flat.var(v).is_parameter())
            .collect();
        code.discrete_parameters = !found.is_empty();
        let mut assignments = self.discrete_items(&assignments);
        assignments.extend(self.reading(parts.parameters, found));
        code.discrete = self.ordered_program(&assignments)?;
        let dependent = self.plan(&dependent, Order::Dependent)?;
        let hoisted = self.plan(&rows.hoisted, Order::Dependent)?;
        let own = self.plan(&rows.items, Order::Free)?;
        code.dependent = self.program(&dependent)?;
        code.residuals = self.program(&hoisted)?;
        code.residuals.extend(self.program(&own)?);
        let columns = Columns::Separate {
            n: self.layout.n,
            units: code.free.iter().map(|f| (f.base, f.len)).collect(),
        };
        code.jacobian = if self.active.is_empty() {
            let (base, rest) = parts.jacobian;
            self.jacobian_beyond(base, &[rest, &hoisted], &[&own], rows.next, columns)?
        } else {
            // Derivatives with respect to free parameters make other shapes.
            let locals = self.plan(parts.locals, Order::Dependent)?;
            let residuals = self.plan(parts.residuals, Order::Free)?;
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
            Target::Access(target) => Some(target.var),
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
            let Target::Access(target) = item.target else {
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
            self.layout.add_mem((l.target.var, Kind::Value), len);
            items.push(Item {
                domain: l.domain.into(),
                value: l.value,
                target: Target::Access(l.target),
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
                target: Target::Access(a.target),
                origin: a.origin,
            });
        }
        items
    }

    /// Variables whose fixed start needs a row.
    fn start_conditions(&self) -> Vec<VarId> {
        let literally_free = |f: ExprId| self.flat.exprs.as_bool(f) == Some(false);
        let mut vars = Vec::new();
        for (id, v) in self.flat.var_ids() {
            let may_be_fixed = v.fixed.as_ref().is_some_and(|f| !literally_free(f.body));
            if v.is_discrete() || v.auxiliary || v.is_empty() || !may_be_fixed {
                continue;
            }
            let Some(place) = self.layout.place((id, Kind::Value)) else {
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
                vars.push(id);
            }
        }
        vars
    }

    fn start_condition(&mut self, var: VarId) -> (Vec<(IterId, Range)>, ExprId, OriginId) {
        let v = self.flat.var(var);
        let (dims, start, span) = (v.dims.clone(), v.start.clone(), v.span);
        self.flat.origins.push(Origin {
            span,
            component: "".into(),
            kind: OriginKind::Binding,
        });
        let origin = OriginId(self.flat.origins.len() as u32 - 1);
        let x = &mut self.flat.exprs;
        let (iters, value) = match start {
            Some(start) => (start.iters, start.body),
            None => {
                let iters = dims.iter().map(|_| x.fresh_iter()).collect();
                (iters, x.real(0.0))
            }
        };
        let domain: Vec<(IterId, Range)> = iters
            .iter()
            .copied()
            .zip(dims.iter().map(|&d| Range::upto(d)))
            .collect();
        let subs: Vec<ExprId> = iters.iter().map(|&i| x.iter(i)).collect();
        let subs = x.make_list(&subs);
        let access = Access {
            var,
            kind: Kind::Value,
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
            target: Target::Consecutive(Bank::Out, self.next),
            origin,
        });
        self.next += len;
    }
}

impl Compiled {
    /// The name of a scalar free parameter, by its column (from 0).
    pub fn free_name(&self, column: usize) -> String {
        match self.initial.free_at(column) {
            Some((f, k)) => self.element_name(f.var, Kind::Value, k),
            None => format!("parameter {}", column + 1),
        }
    }

    /// Whether the fixed starts of a variable are rows of the initial system.
    pub fn has_start_rows(&self, var: VarId) -> bool {
        self.initial.kinds.contains(&InitialRow::Start(var))
    }

    /// Whether a row comes from an initial equation.
    pub fn is_initial_equation(&self, row: usize) -> bool {
        (self.initial.rows.iter().zip(&self.initial.kinds))
            .any(|(g, k)| (g.first..g.first + g.len).contains(&row) && *k == InitialRow::Equation)
    }

    /// `v[3] = start` for a row that is a fixed start value, given the values of `Mem`.
    pub fn start_row_text(&self, row: usize, mem: Option<&[f64]>) -> Option<String> {
        let (group, kind) = (self.initial.rows.iter().zip(&self.initial.kinds))
            .find(|(g, _)| (g.first..g.first + g.len).contains(&row))?;
        let InitialRow::Start(var) = kind else {
            return None;
        };
        let name = self.element_name(*var, Kind::Value, row - group.first);
        let place = self.start_of.get(var).map(|b| b + row - group.first);
        Some(match mem.zip(place).and_then(|(m, k)| m.get(k)) {
            Some(value) => format!("{name} = {value}"),
            None => format!("{name} = its start value"),
        })
    }

    /// The declaration of component `i` of `x`.
    pub fn unknown_span(&self, i: usize) -> Span {
        let mut first = 0;
        for u in &self.unknowns {
            if i < first + u.len {
                return u.value.map_or(Span::NONE, |q| self.flat.var(q.0).span);
            }
            first += u.len;
        }
        Span::NONE
    }
}
