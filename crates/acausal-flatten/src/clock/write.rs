//! Clocked equations as discrete equations.
//!
//! In: the ticks of all classes. Out: one Boolean and one counter per grid, one Boolean per clock, and each clocked equation as
//!
//! ```text
//! v = if edge(tick) then value else pre(v)
//! ```
//!
//! for the variable that it determines. An equation `v = value` determines `v`; between two variables, as connections give them, the one
//! that nothing else determines (unit propagation). Other equations are solved for a variable that is left.

use acausal_base::Diagnostic;
use acausal_expr::flat::{
    Action, Causality, Comprehension, Equation, FlatModel, OriginId, VarType, Variability, Variable,
};
use acausal_expr::{Access, Builtin, ExprId, IterId, Node, Range, RelOp, Ty, ValueKind, VarId};
use acausal_symbolic::{Solve, Substitute};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::Clocks;
use super::infer::{Grids, Ticks};
use super::partition::Partitions;

/// The variables of a grid.
struct GridVars {
    tick: VarId,
    count: VarId,
    /// The interval of a step; for a clock with a condition a variable.
    step: ExprId,
}

pub(super) fn write(
    model: &mut FlatModel,
    clocks: &Clocks,
    classes: &Partitions,
    grids: &Grids,
) -> Vec<Diagnostic> {
    let mut writer = Writer {
        parameter: model.vars.iter().map(|v| v.is_parameter()).collect(),
        by_condition: (0..model.vars.len())
            .map(|k| by_condition(model, classes, grids, VarId(k as u32)))
            .collect(),
        model,
        grids: Vec::new(),
        ticks: IndexMap::default(),
        added: Vec::new(),
    };
    for (k, g) in grids.grids.iter().enumerate() {
        writer.grid(k, g);
    }
    let mut messages = Vec::new();
    let all = std::mem::take(&mut writer.model.equations);
    let mut kept = Vec::new();
    let mut clocked: Vec<(Equation, Ticks)> = Vec::new();
    for (eq, class) in all.into_iter().zip(&classes.equations) {
        let about_clocks = writer.is_about_clocks(clocks, &eq);
        match class.and_then(|c| grids.ticks.get(&c)) {
            _ if about_clocks => {}
            Some(&ticks) => clocked.push((eq, ticks)),
            None => kept.push(eq),
        }
    }
    let sides = choose(writer.model, clocks, classes, &clocked);
    for ((eq, ticks), side) in clocked.into_iter().zip(sides) {
        match side {
            Some((target, value)) => writer.clocked(eq, ticks, target, value),
            None => messages.push(Diagnostic::error(
                "clock-equation",
                writer.model.origin(eq.origin).span,
                "no variable is left that this clocked equation could determine",
            )),
        }
    }
    // What is continuous reads clocked variables through `hold`.
    for eq in &mut kept {
        let (lhs, rhs) = (eq.lhs, eq.rhs);
        eq.lhs = writer.plain(lhs, None);
        eq.rhs = writer.plain(rhs, None);
    }
    for k in 0..writer.parameter.len() {
        let class = classes.of(VarId(k as u32));
        if grids.ticks.contains_key(&class) && !writer.parameter[k] {
            writer.model.vars[k].variability = Variability::Discrete;
        }
    }
    let mut variables: Vec<VarId> = clocks.variables.iter().copied().collect();
    variables.sort();
    for var in variables {
        if let Some(&ticks) = grids.ticks.get(&classes.of(var)) {
            writer.clock_variable(var, ticks);
        }
    }
    kept.append(&mut writer.added);
    writer.model.equations = kept;
    messages
}

struct Writer<'m> {
    model: &'m mut FlatModel,
    /// Parameters and constants, which have no left limit, among the variables that the user declared.
    parameter: Vec<bool>,
    /// Variables of clocks with a condition, among the same.
    by_condition: Vec<bool>,
    grids: Vec<GridVars>,
    /// The Boolean of each clock.
    ticks: IndexMap<(usize, i64, i64), VarId, FxBuildHasher>,
    added: Vec<Equation>,
}

impl Writer<'_> {
    /// An equation between clocks.
    fn is_about_clocks(&self, clocks: &Clocks, eq: &Equation) -> bool {
        [eq.lhs, eq.rhs]
            .iter()
            .any(|&e| match self.model.exprs.node(e) {
                Node::Var(a) => clocks.variables.contains(&a.var),
                Node::Call(Builtin::Clock | Builtin::EventClock, _) => true,
                _ => false,
            })
    }

    /// A new discrete variable.
    fn variable(&mut self, name: String, ty: VarType, start: Option<ExprId>) -> VarId {
        let mut variable = Variable {
            protected: true,
            auxiliary: true,
            ..Variable::new(&name, Vec::new(), ty, Variability::Discrete)
        };
        if let Some(start) = start {
            variable.attributes_mut().start = Some(Comprehension::scalar(start));
        }
        self.model.vars.push(variable);
        VarId(self.model.vars.len() as u32 - 1)
    }

    fn equation(&mut self, var: VarId, ty: Ty, value: ExprId, origin: OriginId) {
        let lhs = self.model.exprs.scalar_var(var, ValueKind::Value, ty);
        self.added.push(Equation {
            domain: Vec::new().into(),
            lhs,
            rhs: value,
            origin,
        });
    }

    fn edge(&mut self, tick: VarId) -> ExprId {
        let tick = self
            .model
            .exprs
            .scalar_var(tick, ValueKind::Value, Ty::Bool);
        self.model.exprs.call(Builtin::Edge, &[tick])
    }

    /// The Boolean and the counter of a grid.
    fn grid(&mut self, number: usize, grid: &super::infer::Grid) {
        let Node::Call(f, args) = self.model.exprs.node(grid.clock) else {
            return;
        };
        let args = self.model.exprs.list(args).to_vec();
        let name = |what: &str| format!("{what} of clock {}", number + 1);
        let minus_one = self.model.exprs.int(-1);
        let tick = self.variable(name("tick"), VarType::Boolean, None);
        let count = self.variable(name("count"), VarType::Integer, Some(minus_one));
        let now = self.model.experiment.start.unwrap_or(0.0);
        let x = &mut self.model.exprs;
        let (condition, step) = if f == Builtin::Clock {
            let fine = x.real(grid.fine as f64);
            let step = x.div(args[0], fine);
            let start = x.real(now);
            (x.call(Builtin::Sample, &[start, step]), step)
        } else {
            (args[0], x.real(0.0))
        };
        self.equation(tick, Ty::Bool, condition, grid.origin);
        let edge = self.edge(tick);
        let x = &mut self.model.exprs;
        let before = x.scalar_var(count, ValueKind::Pre, Ty::Int);
        let one = x.int(1);
        let next = x.add(&[before, one]);
        let value = x.if_(edge, next, before);
        self.equation(count, Ty::Int, value, grid.origin);
        let step = match f {
            Builtin::Clock => step,
            _ => self.event_interval(&name, edge, args[1], count, grid.origin),
        };
        self.grids.push(GridVars { tick, count, step });
    }

    /// The time since the tick before, of a clock with a condition.
    fn event_interval(
        &mut self,
        name: &dyn Fn(&str) -> String,
        edge: ExprId,
        start: ExprId,
        count: VarId,
        origin: OriginId,
    ) -> ExprId {
        let last = self.variable(name("time"), VarType::Real, None);
        let interval = self.variable(name("interval"), VarType::Real, Some(start));
        let x = &mut self.model.exprs;
        let now = x.time();
        let before = x.scalar_var(last, ValueKind::Pre, Ty::Real);
        let value = x.if_(edge, now, before);
        self.equation(last, Ty::Real, value, origin);
        let x = &mut self.model.exprs;
        let n = x.scalar_var(count, ValueKind::Value, Ty::Int);
        let zero = x.int(0);
        let first = x.rel(RelOp::Le, n, zero);
        let passed = x.sub(now, before);
        let value = x.if_(first, start, passed);
        let held = x.scalar_var(interval, ValueKind::Pre, Ty::Real);
        let value = x.if_(edge, value, held);
        self.equation(interval, Ty::Real, value, origin);
        self.model
            .exprs
            .scalar_var(interval, ValueKind::Value, Ty::Real)
    }

    /// The Boolean that is true while a clock ticks.
    fn tick(&mut self, t: Ticks, origin: OriginId) -> VarId {
        let (base, count) = (self.grids[t.grid].tick, self.grids[t.grid].count);
        if (t.period, t.offset) == (1, 0) {
            return base;
        }
        let key = (t.grid, t.period, t.offset);
        if let Some(&var) = self.ticks.get(&key) {
            return var;
        }
        let name = format!(
            "tick of clock {} every {} from {}",
            t.grid + 1,
            t.period,
            t.offset
        );
        let var = self.variable(name, VarType::Boolean, None);
        self.ticks.insert(key, var);
        let x = &mut self.model.exprs;
        let n = x.scalar_var(count, ValueKind::Value, Ty::Int);
        let (offset, period, zero) = (x.int(t.offset), x.int(t.period), x.int(0));
        let since = x.sub(n, offset);
        let begun = x.rel(RelOp::Ge, since, zero);
        let rest = x.call(Builtin::Mod, &[since, period]);
        let due = x.rel(RelOp::Eq, rest, zero);
        let now = x.scalar_var(base, ValueKind::Value, Ty::Bool);
        let due = x.and(begun, due);
        let value = x.and(now, due);
        self.equation(var, Ty::Bool, value, origin);
        var
    }

    fn clocked(&mut self, eq: Equation, t: Ticks, target: Access, value: ExprId) {
        let tick = self.tick(t, eq.origin);
        let value = self.plain(value, Some(t));
        let edge = self.edge(tick);
        let ty = match self.model.var(target.var).ty {
            VarType::Real => Ty::Real,
            VarType::Integer | VarType::Enum(_) => Ty::Int,
            VarType::Boolean => Ty::Bool,
            VarType::String => Ty::Str,
        };
        let x = &mut self.model.exprs;
        let lhs = x.access(target, ty);
        let kind = ValueKind::Pre;
        let before = x.access(Access { kind, ..target }, ty);
        let rhs = x.if_(edge, value, before);
        self.added.push(Equation { lhs, rhs, ..eq });
    }

    /// A clock that the user declared is true while it ticks.
    fn clock_variable(&mut self, var: VarId, t: Ticks) {
        let v = self.model.var(var);
        if v.causality == Causality::Input {
            return;
        }
        let (dims, span) = (v.dims.clone(), v.span);
        self.model.origins.push(acausal_expr::flat::Origin {
            span,
            component: "".into(),
            kind: acausal_expr::flat::OriginKind::Auxiliary,
        });
        let origin = OriginId(self.model.origins.len() as u32 - 1);
        let tick = self.tick(t, origin);
        let x = &mut self.model.exprs;
        let iters: Vec<IterId> = dims.iter().map(|_| x.fresh_iter()).collect();
        let subs: Vec<ExprId> = iters.iter().map(|&i| x.iter(i)).collect();
        let lhs = x.var(var, ValueKind::Value, &subs, Ty::Bool);
        let rhs = x.scalar_var(tick, ValueKind::Value, Ty::Bool);
        let ranges = dims.iter().map(|&n| Range::upto(n));
        self.added.push(Equation {
            domain: iters.iter().copied().zip(ranges).collect(),
            lhs,
            rhs,
            origin,
        });
    }

    /// The expression without operators of clocks, at the ticks of a clock or outside of any.
    fn plain(&mut self, e: ExprId, t: Option<Ticks>) -> ExprId {
        let step = t.map(|t| (self.grids[t.grid].step, self.grids[t.grid].count, t));
        let (parameter, by_condition) = (&self.parameter, &self.by_condition);
        // Inner operators are rewritten before the ones around them.
        self.model.exprs.rewrite_upwards(e, |x, node| {
            let Node::Call(f, args) = x.node(node) else {
                return None;
            };
            let args = x.list(args).to_vec();
            let left = |x: &mut acausal_expr::Exprs, e: ExprId| {
                x.rewrite(e, |x, n| match x.node(n) {
                    Node::Var(a)
                        if a.kind == ValueKind::Value
                            && parameter.get(a.var.index()) != Some(&true) =>
                    {
                        let ty = x.ty(n);
                        let kind = ValueKind::Pre;
                        Some(x.access(Access { kind, ..a }, ty))
                    }
                    _ => None,
                })
            };
            Some(match f {
                Builtin::ClockedSample | Builtin::Previous | Builtin::NoClock => left(x, args[0]),
                // The condition of the clock may depend on what is held. It has become true before the clock ticks, and sees
                // what the tick changes in the next round of the event iteration.
                Builtin::Hold
                    if x.any(args[0], |x, n| match x.node(n) {
                        Node::Var(a) => by_condition.get(a.var.index()) == Some(&true),
                        _ => false,
                    }) =>
                {
                    left(x, args[0])
                }
                Builtin::Hold
                | Builtin::SubSample
                | Builtin::SuperSample
                | Builtin::ShiftSample
                | Builtin::BackSample => args[0],
                Builtin::Interval => {
                    let (step, _, t) = step?;
                    let period = x.int(t.period);
                    x.mul(&[period, step])
                }
                Builtin::FirstTick => {
                    let (_, count, t) = step?;
                    let n = x.scalar_var(count, ValueKind::Value, Ty::Int);
                    let offset = x.int(t.offset);
                    x.rel(RelOp::Eq, n, offset)
                }
                _ => return None,
            })
        })
    }
}

/// Whether a variable has a clock with a condition.
fn by_condition(model: &FlatModel, classes: &Partitions, grids: &Grids, var: VarId) -> bool {
    (grids.ticks.get(&classes.of(var))).is_some_and(|ticks| {
        let clock = grids.grids[ticks.grid].clock;
        matches!(model.exprs.node(clock), Node::Call(Builtin::EventClock, _))
    })
}

/// A variable that an equation can determine, and the value that it gives it.
type Side = (Access, ExprId);

/// What each equation determines.
fn choose(
    model: &mut FlatModel,
    clocks: &Clocks,
    classes: &Partitions,
    equations: &[(Equation, Ticks)],
) -> Vec<Option<Side>> {
    let assigned: Vec<VarId> = (model.whens.iter())
        .flat_map(|w| w.branches.iter().flat_map(|b| &b.actions))
        .filter_map(|a| match a {
            Action::Assign { target, .. } => Some(target.var),
            _ => None,
        })
        .collect();
    let determinable = |model: &FlatModel, a: Access| {
        let v = model.var(a.var);
        a.kind == ValueKind::Value
            && !v.is_parameter()
            && v.causality != Causality::Input
            && classes.is_clocked(classes.of(a.var))
            && !clocks.variables.contains(&a.var)
            && !assigned.contains(&a.var)
    };
    let mut sides: Vec<Vec<Side>> = Vec::new();
    for (eq, _) in equations {
        let mut own = Vec::new();
        for (side, other) in [(eq.lhs, eq.rhs), (eq.rhs, eq.lhs)] {
            if let Node::Var(a) = model.exprs.node(side)
                && determinable(model, a)
            {
                own.push((a, other));
            }
        }
        if own.is_empty() {
            own = solved(model, eq, &determinable);
        }
        sides.push(own);
    }
    let mut chosen: Vec<Option<Side>> = vec![None; equations.len()];
    let mut readers: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
    for (k, own) in sides.iter().enumerate() {
        for (a, _) in own {
            readers.entry(a.var).or_default().push(k);
        }
    }
    let mut ready: Vec<usize> = (0..sides.len())
        .rev()
        .filter(|&k| sides[k].len() == 1)
        .collect();
    let mut next = 0;
    loop {
        while let Some(k) = ready.pop() {
            let Some(&side) = sides[k].first().filter(|_| chosen[k].is_none()) else {
                continue;
            };
            chosen[k] = Some(side);
            let own = region(model, side.0, &equations[k].0.domain);
            for &other in readers.get(&side.0.var).into_iter().flatten() {
                if other == k || chosen[other].is_some() {
                    continue;
                }
                let domain = &equations[other].0.domain;
                let before = sides[other].len();
                sides[other].retain(|(a, _)| {
                    a.var != side.0.var || !meet(&own, &region(model, *a, domain))
                });
                if sides[other].len() == 1 && before > 1 {
                    ready.push(other);
                }
            }
        }
        // A choice is left: the first equation determines its left side.
        while next < sides.len() && (chosen[next].is_some() || sides[next].is_empty()) {
            next += 1;
        }
        if next == sides.len() {
            return chosen;
        }
        sides[next].truncate(1);
        ready.push(next);
    }
}

/// Variables that an equation without a variable on either side can be solved for.
fn solved(
    model: &mut FlatModel,
    eq: &Equation,
    determinable: &dyn Fn(&FlatModel, Access) -> bool,
) -> Vec<Side> {
    let mut out = Vec::new();
    let mut accesses = model.exprs.accesses(eq.lhs);
    accesses.extend(model.exprs.accesses(eq.rhs));
    for (unknown, a) in accesses {
        if determinable(model, a)
            && out.iter().all(|(b, _): &Side| *b != a)
            && let Some((value, _)) = model.exprs.solve_for(eq.lhs, eq.rhs, unknown)
        {
            out.push((a, value));
        }
    }
    out
}

/// The first and last index in each dimension.
fn region(model: &FlatModel, a: Access, domain: &[(IterId, Range)]) -> Vec<(i64, i64)> {
    let x = &model.exprs;
    (x.list(a.subs).iter().zip(&model.var(a.var).dims))
        .map(|(&sub, &n)| {
            let Some(affine) = x.affine(sub) else {
                return (1, n as i64);
            };
            let mut ends = (affine.constant, affine.constant);
            for &(iter, factor) in &affine.terms {
                let Some((_, r)) = domain.iter().find(|d| d.0 == iter) else {
                    return (1, n as i64);
                };
                let (p, q) = (factor * r.start, factor * r.last());
                ends = (ends.0 + p.min(q), ends.1 + p.max(q));
            }
            ends
        })
        .collect()
}

fn meet(a: &[(i64, i64)], b: &[(i64, i64)]) -> bool {
    a.iter().zip(b).all(|(x, y)| x.0 <= y.1 && y.0 <= x.1)
}
