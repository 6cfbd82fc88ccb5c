//! Collects the connection graph before equations are lowered (MLS 3.6 §9.4): equations ask it for `rooted` and `cardinality`.
//!
//! Only models that use these operators or have overdetermined connectors pay for the additional walk over their equations.

use acausal_expr::Range;
use acausal_expr::flat::{Equation, OriginId};
use acausal_syntax::ast::{
    self, Call, Callee, ComponentRef, EquationKind, Expr, ExprKind, SectionKind,
};
use acausal_syntax::{Name, Span};

use rustc_hash::FxHashSet;

use super::equation::Item;
use super::loops::expressions;
use super::{Flattener, Spot};
use crate::connect::Link;
use crate::instance::{InstId, Kind};
use crate::lower::{Arguments, Iteration, Place, Result, Type, Value, error};

impl Flattener {
    pub(super) fn network(&mut self) {
        if !self.needs_network() {
            return;
        }
        for k in 0..self.composites.len() {
            let component = self.composites[k];
            for section in self.ctx.instances.sections(component) {
                let SectionKind::Equations {
                    initial: false,
                    equations,
                } = &section.section().kind
                else {
                    continue;
                };
                let Ok(framed) = self.ctx.frame(section.scope) else {
                    continue;
                };
                let spot = Spot {
                    env: framed.env,
                    domain: framed.domain,
                    component,
                    initial: false,
                    when: false,
                };
                self.collect(&spot, equations);
            }
        }
        for inst in self.ctx.graph.solve() {
            let name = self.ctx.instances.display_name(inst);
            let span = self.ctx.instances.data(inst).span;
            let message =
                format!("no root can be chosen for the connected set that contains `{name}`");
            self.ctx.errors.push(*error("no-root", span, message));
        }
    }

    /// Looks for overdetermined components and for `cardinality`, once per class.
    fn needs_network(&mut self) -> bool {
        let mut seen: FxHashSet<InstId> = FxHashSet::default();
        let mut texts: FxHashSet<usize> = FxHashSet::default();
        for k in 0..self.composites.len() + self.leaves.len() {
            let inst = match self.composites.get(k) {
                Some(&inst) => inst,
                None => self.leaves[k - self.composites.len()],
            };
            if seen.insert(self.ctx.instances.data(inst).class)
                && self.equality_constraint(inst).is_some()
            {
                return true;
            }
            if k >= self.composites.len() {
                continue;
            }
            for section in self.ctx.instances.sections(inst) {
                if !texts.insert(section.section() as *const ast::Section as usize) {
                    continue;
                }
                if let SectionKind::Equations { equations, .. } = &section.section().kind
                    && expressions(equations).into_iter().any(mentions_cardinality)
                {
                    return true;
                }
            }
        }
        false
    }

    /// Errors are left to the lowering proper, which meets the same equations.
    fn collect(&mut self, spot: &Spot<'_>, equations: &[ast::Equation]) {
        for e in equations {
            match &e.kind {
                EquationKind::Connect(a, b) => self.collect_connect(spot, a, b),
                EquationKind::Call(call) => self.collect_call(spot, call),
                EquationKind::If {
                    branches,
                    otherwise,
                } => {
                    let mut taken = Some(otherwise);
                    for (condition, body) in branches {
                        let env = spot.env.evaluating();
                        let value = self.ctx.scalar(&env, condition, Type::Boolean);
                        match value.ok().and_then(|c| self.ctx.exprs.as_bool(c)) {
                            Some(true) => {
                                taken = Some(body);
                                break;
                            }
                            Some(false) => {}
                            None => {
                                taken = None;
                                break;
                            }
                        }
                    }
                    if let Some(body) = taken {
                        self.collect(spot, body);
                    }
                }
                EquationKind::For { indices, body } => {
                    let mut env = spot.env.clone();
                    let mut known = true;
                    for index in indices {
                        match self.ctx.iteration(&env, index, &[]) {
                            Ok(Iteration::Range(ty, range)) if range.count > 0 => {
                                let k = self.ctx.iterator(Some(index.name.name), range);
                                let value = Value::scalar(ty, self.ctx.exprs.iter(k));
                                env.loops.push((index.name.name, value));
                            }
                            _ => known = false,
                        }
                    }
                    if known {
                        self.collect(
                            &Spot {
                                env,
                                ..spot.clone()
                            },
                            body,
                        );
                    }
                }
                EquationKind::Equal(..) | EquationKind::When { .. } => {}
            }
        }
    }

    fn collect_connect(&mut self, spot: &Spot<'_>, a: &ComponentRef, b: &ComponentRef) {
        let (Ok(p), Ok(q)) = (self.ctx.place(&spot.env, a), self.ctx.place(&spot.env, b)) else {
            return;
        };
        self.ctx.graph.count(p.inst, q.inst);
        for (x, y) in self.overdetermined(p.inst, q.inst) {
            self.ctx.graph.connect(x, y);
        }
    }

    /// Pairs of overdetermined components in two connectors.
    fn overdetermined(&mut self, a: InstId, b: InstId) -> Vec<(InstId, InstId)> {
        let mut out = Vec::new();
        let mut todo = vec![(a, b)];
        while let Some((a, b)) = todo.pop() {
            if self.equality_constraint(a).is_some() {
                out.push((a, b));
                continue;
            }
            if matches!(self.ctx.instances.kind(a), Kind::Primitive(_)) {
                continue;
            }
            for child in self.ctx.instances.components(a) {
                let name = self.ctx.instances.data(child).name;
                if let Some(other) = self.ctx.instances.member(b, name) {
                    todo.push((child, other));
                }
            }
        }
        out
    }

    fn equality_constraint(&mut self, inst: InstId) -> Option<InstId> {
        let class = self.ctx.instances.data(inst).class;
        let function = self
            .ctx
            .instances
            .member(class, Name::new("equalityConstraint"))?;
        (self.ctx.instances.kind(function) == Kind::Function).then_some(function)
    }

    fn collect_call(&mut self, spot: &Spot<'_>, call: &Call) {
        let Callee::Ref(r) = &call.function else {
            return;
        };
        let [package, operator] = r.parts.as_slice() else {
            return;
        };
        if package.name.as_str() != "Connections" {
            return;
        }
        let mut places: Vec<Place> = Vec::new();
        for e in &call.args {
            if let Some(r) = e.as_component_ref()
                && let Ok(place) = self.ctx.place(&spot.env, r)
            {
                places.push(place);
            }
        }
        match (operator.name.as_str(), places.as_slice()) {
            ("branch", [a, b]) => self.ctx.graph.branch(a.inst, b.inst),
            ("root", [a]) => self.ctx.graph.root(a.inst),
            ("potentialRoot", [a, ..]) => {
                let priority = call
                    .args
                    .get(1)
                    .or_else(|| call.named.first().map(|n| &n.value));
                let env = spot.env.evaluating();
                let priority = priority
                    .and_then(|e| self.ctx.scalar(&env, e, Type::Integer).ok())
                    .and_then(|p| self.ctx.exprs.as_int(p));
                self.ctx.graph.potential_root(a.inst, priority.unwrap_or(0));
            }
            _ => {}
        }
    }

    /// Replaces the equality of overdetermined components by their constraint where the graph is broken.
    pub(super) fn break_loops(
        &mut self,
        spot: &Spot<'_>,
        refs: [&ComponentRef; 2],
        links: Vec<Link>,
        span: Span,
        origin: OriginId,
        out: &mut Vec<Item>,
    ) -> Result<()> {
        let mut kept = links;
        if let (Ok(a), Ok(b)) = (
            self.ctx.place(&spot.env, refs[0]),
            self.ctx.place(&spot.env, refs[1]),
        ) {
            for (x, y) in self.overdetermined(a.inst, b.inst) {
                if !self.ctx.graph.is_broken(x, y) {
                    continue;
                }
                let instances = &self.ctx.instances;
                let insts = &self.ctx.var_insts;
                kept.retain(|l| {
                    let inst = insts[l.ends[0].port.var.index()];
                    !crate::lower::is_inside(instances, inst, x)
                });
                let Some(function) = self.equality_constraint(x) else {
                    continue;
                };
                let values = [self.part(spot, &a, x, span)?, self.part(spot, &b, y, span)?];
                let arguments = Arguments {
                    positional: values.into_iter().map(|v| (v, span)).collect(),
                    named: Vec::new(),
                };
                let residue =
                    crate::function::call(&mut self.ctx, &spot.env, function, arguments, span)?;
                let t = self.ctx.as_tensor(residue, span)?;
                let mut domain = spot.domain.clone();
                domain.extend(
                    t.iters
                        .iter()
                        .zip(&t.dims)
                        .map(|(&i, &n)| (i, Range::upto(n))),
                );
                let lhs = self.ctx.exprs.real(0.0);
                out.push(Item::Equation(Equation {
                    domain,
                    lhs,
                    rhs: t.body,
                    origin,
                }));
            }
        }
        out.extend(kept.into_iter().map(Item::Link));
        Ok(())
    }

    /// The value of a component inside of a connector.
    fn part(
        &mut self,
        spot: &Spot<'_>,
        connector: &Place,
        inst: InstId,
        span: Span,
    ) -> Result<Value> {
        let mut place = connector.clone();
        let mut path = Vec::new();
        let mut at = inst;
        while at != connector.inst {
            path.push(at);
            match self.ctx.instances.data(at).parent {
                Some(p) => at = p,
                None => break,
            }
        }
        for i in path.into_iter().rev() {
            let dims = self.ctx.dims(i)?;
            place
                .slots
                .extend(dims.into_iter().map(|n| (n, crate::lower::Subscript::All)));
            place.inst = i;
        }
        self.ctx.value_at(&spot.env, &place, span)
    }
}

/// True when `cardinality` is called somewhere in an expression.
fn mentions_cardinality(e: &Expr) -> bool {
    let mut todo = vec![e];
    while let Some(e) = todo.pop() {
        if let ExprKind::Call(call) = &e.kind
            && let Callee::Ref(r) = &call.function
            && r.as_ident().is_some_and(|i| i.as_str() == "cardinality")
        {
            return true;
        }
        crate::lower::children(e, &mut todo);
    }
    false
}
