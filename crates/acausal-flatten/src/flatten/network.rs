//! Collects the connection graph before equations are lowered (MLS 3.6 §9.4): equations ask it for `rooted` and `cardinality`.
//!
//! Only models that use these operators or have overdetermined connectors pay for the additional walk over their equations.

use acausal_base::{Diagnostic, Span};
use acausal_expr::flat::{Equation, OriginId};
use acausal_expr::{Affine, IterId, Range};
use acausal_syntax::ast::{
    self, Call, Callee, ComponentRef, EquationKind, Expr, ExprKind, SectionKind,
};

use rustc_hash::FxHashSet;

use super::equation::LoweredItem;
use super::loops::expressions;
use super::{EquationContext, Flattener};
use crate::connect::Link;
use crate::lower::{
    Arguments, ComponentRange, Env, IterationRange, Result, Subscript, Type, Value, graph,
};
use acausal_instance::instance::{InstId, InstanceKind};

impl Flattener {
    pub(super) fn network(&mut self) {
        self.counts_connections = self.uses_cardinality();
        if !self.counts_connections && !self.has_overdetermined() {
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
                let spot = EquationContext {
                    env: framed.env,
                    domain: framed.domain,
                    component,
                    initial: false,
                    when: false,
                };
                self.collect(&spot, equations);
            }
        }
        for (inst, _) in self.ctx.graph.solve() {
            let name = self.ctx.instances.display_name(inst);
            let span = self.ctx.instances.data(inst).span;
            let message =
                format!("no root can be chosen for the connected set that contains `{name}`");
            self.ctx
                .errors
                .push(Diagnostic::error("no-root", span, message));
        }
    }

    /// Looks for overdetermined components, once per class.
    fn has_overdetermined(&mut self) -> bool {
        let mut seen: FxHashSet<InstId> = FxHashSet::default();
        for k in 0..self.composites.len() + self.leaves.len() {
            let inst = match self.composites.get(k) {
                Some(&inst) => inst,
                None => self.leaves[k - self.composites.len()],
            };
            if seen.insert(self.ctx.instances.data(inst).class)
                && self.ctx.equality_constraint(inst).is_some()
            {
                return true;
            }
        }
        false
    }

    /// Looks for `cardinality`, once per section of a class.
    fn uses_cardinality(&mut self) -> bool {
        let mut texts: FxHashSet<usize> = FxHashSet::default();
        for k in 0..self.composites.len() {
            let inst = self.composites[k];
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

    /// The branch of an `if` whose conditions can be evaluated now. Without one there is no answer; the lowering proper
    /// meets the same conditions and says what is wrong with them.
    pub(super) fn taken_branch<'e>(
        &mut self,
        env: &Env<'_>,
        branches: &'e [(Expr, Vec<ast::Equation>)],
        otherwise: &'e [ast::Equation],
    ) -> Option<&'e [ast::Equation]> {
        for (condition, body) in branches {
            let value = self.ctx.scalar(&env.evaluating(), condition, Type::Boolean);
            if self.ctx.exprs.as_bool(value.ok()?)? {
                return Some(body);
            }
        }
        Some(otherwise)
    }

    /// Errors are left to the lowering proper, which meets the same equations.
    fn collect(&mut self, spot: &EquationContext<'_>, equations: &[ast::Equation]) {
        for e in equations {
            match &e.kind {
                EquationKind::Connect(a, b) => self.collect_connect(spot, a, b),
                EquationKind::Call(call) => self.collect_call(spot, call),
                EquationKind::If {
                    branches,
                    otherwise,
                } => {
                    if let Some(body) = self.taken_branch(&spot.env, branches, otherwise) {
                        self.collect(spot, body);
                    }
                }
                EquationKind::For { indices, body } => {
                    let mut inner = spot.clone();
                    let mut known = true;
                    for index in indices {
                        match self.ctx.iteration(&inner.env, index, &[]) {
                            Ok(IterationRange::Range(ty, range)) if range.count > 0 => {
                                let k = self.ctx.iterator(Some(index.name.name), range);
                                let value = Value::scalar(ty, self.ctx.exprs.iter(k));
                                inner.env.loops.push((index.name.name, value));
                                inner.domain.push((k, range));
                            }
                            _ => known = false,
                        }
                    }
                    if known {
                        self.collect(&inner, body);
                    }
                }
                EquationKind::Equal(..) | EquationKind::When { .. } => {}
            }
        }
    }

    fn collect_connect(&mut self, spot: &EquationContext<'_>, a: &ComponentRef, b: &ComponentRef) {
        let (Ok(p), Ok(q)) = (self.ctx.place(&spot.env, a), self.ctx.place(&spot.env, b)) else {
            return;
        };
        // Elements are looked at only where an equation asks for their number.
        if self.counts_connections {
            for (_, a, b) in self
                .element_pairs(&spot.domain, (&p, p.inst), (&q, q.inst))
                .1
            {
                self.ctx.graph.count((p.inst, a), (q.inst, b));
            }
        }
        for (x, y) in self.overdetermined(p.inst, q.inst) {
            for (_, a, b) in self.element_pairs(&spot.domain, (&p, x), (&q, y)).1 {
                self.ctx.graph.connect((x, a), (y, b));
            }
        }
    }

    /// Pairs of overdetermined components in two connectors.
    fn overdetermined(&mut self, a: InstId, b: InstId) -> Vec<(InstId, InstId)> {
        let mut out = Vec::new();
        let mut todo = vec![(a, b)];
        while let Some((a, b)) = todo.pop() {
            // A frame that is switched off is no node.
            if self.ctx.absent.contains(&a) || self.ctx.absent.contains(&b) {
                continue;
            }
            if self.ctx.equality_constraint(a).is_some() {
                out.push((a, b));
                continue;
            }
            if matches!(self.ctx.instances.kind(a), InstanceKind::Primitive(_)) {
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

    fn collect_call(&mut self, spot: &EquationContext<'_>, call: &Call) {
        let Callee::Ref(r) = &call.function else {
            return;
        };
        let [package, operator] = r.parts.as_slice() else {
            return;
        };
        if package.name.as_str() != "Connections" {
            return;
        }
        let mut places: Vec<ComponentRange> = Vec::new();
        for e in &call.args {
            if let Some(r) = e.as_component_ref()
                && let Ok(place) = self.ctx.place(&spot.env, r)
            {
                places.push(place);
            }
        }
        match (operator.name.as_str(), places.as_slice()) {
            ("branch", [a, b]) => {
                for (_, x, y) in self.element_pairs(&spot.domain, (a, a.inst), (b, b.inst)).1 {
                    self.ctx.graph.branch((a.inst, x), (b.inst, y));
                }
            }
            ("root", [a]) => {
                for (_, x, _) in self.element_pairs(&spot.domain, (a, a.inst), (a, a.inst)).1 {
                    self.ctx.graph.root((a.inst, x));
                }
            }
            ("potentialRoot", [a, ..]) => {
                let priority = call
                    .args
                    .get(1)
                    .or_else(|| call.named.first().map(|n| &n.value));
                let env = spot.env.evaluating();
                let priority = priority
                    .and_then(|e| self.ctx.scalar(&env, e, Type::Integer).ok())
                    .and_then(|p| self.ctx.exprs.as_int(p));
                for (_, x, _) in self.element_pairs(&spot.domain, (a, a.inst), (a, a.inst)).1 {
                    self.ctx
                        .graph
                        .potential_root((a.inst, x), priority.unwrap_or(0));
                }
            }
            _ => {}
        }
    }

    /// The elements of two places that belong together, with the values of the iterators: those around the equation, then one
    /// for each whole dimension. `x` and `y` lie inside of the places; their own dimensions count as whole.
    fn element_pairs(
        &mut self,
        outer: &[(IterId, Range)],
        (a, x): (&ComponentRange, InstId),
        (b, y): (&ComponentRange, InstId),
    ) -> (Domain, Vec<ElementPair>) {
        let mut domain = outer.to_vec();
        let (Ok(a), Ok(b)) = (self.inside(a, x), self.inside(b, y)) else {
            return (domain, Vec::new());
        };
        let (a, b) = (self.ctx.node_place(&a), self.ctx.node_place(&b));
        let mut sides = Vec::new();
        for (side, place) in [&a, &b].into_iter().enumerate() {
            let mut next = outer.len();
            let mut subs = Vec::new();
            for (n, s) in &place.slots {
                let count = match s {
                    Subscript::Element(e) => {
                        subs.push(*e);
                        continue;
                    }
                    Subscript::Vector(v) => v.dims[0],
                    Subscript::All => *n,
                };
                if side == 0 {
                    let k = self.ctx.iterator(None, Range::upto(count));
                    domain.push((k, Range::upto(count)));
                }
                let Some(&(k, _)) = domain.get(next) else {
                    return (domain, Vec::new());
                };
                next += 1;
                subs.push(match s {
                    Subscript::Vector(v) => v.over(&mut self.ctx.exprs, &[k]),
                    _ => self.ctx.exprs.iter(k),
                });
            }
            sides.push(subs);
        }
        let exprs = &self.ctx.exprs;
        let pairs = graph::points(&domain)
            .into_iter()
            .filter_map(|point| {
                let a = graph::element(exprs, &sides[0], &domain, &point)?;
                let b = graph::element(exprs, &sides[1], &domain, &point)?;
                Some((point, a, b))
            })
            .collect();
        (domain, pairs)
    }

    /// A component inside of a place, its own dimensions whole.
    fn inside(&mut self, place: &ComponentRange, inst: InstId) -> Result<ComponentRange> {
        let mut out = place.clone();
        let mut path = Vec::new();
        let mut at = inst;
        while at != place.inst {
            path.push(at);
            match self.ctx.instances.parent(at) {
                Some(p) => at = p,
                None => break,
            }
        }
        for i in path.into_iter().rev() {
            let dims = self.ctx.dims(i)?;
            out.slots
                .extend(dims.into_iter().map(|n| (n, Subscript::All)));
            out.inst = i;
        }
        Ok(out)
    }

    /// Replaces the equality of overdetermined components by their constraint where the graph is broken. Where it is not, links
    /// stay over their ranges.
    pub(super) fn break_loops(
        &mut self,
        spot: &EquationContext<'_>,
        refs: [&ComponentRef; 2],
        links: Vec<Link>,
        span: Span,
        origin: OriginId,
        out: &mut Vec<LoweredItem>,
    ) -> Result<()> {
        let mut kept = links;
        if self.ctx.graph.is_unbroken() {
            out.extend(kept.into_iter().map(LoweredItem::Link));
            return Ok(());
        }
        if let (Ok(a), Ok(b)) = (
            self.ctx.place(&spot.env, refs[0]),
            self.ctx.place(&spot.env, refs[1]),
        ) {
            for (x, y) in self.overdetermined(a.inst, b.inst) {
                let (_, pairs) = self.element_pairs(&spot.domain, (&a, x), (&b, y));
                let graph = &self.ctx.graph;
                let broken =
                    |p: &ElementPair| graph.is_broken(&(x, p.1.clone()), &(y, p.2.clone()));
                if !pairs.iter().any(broken) {
                    continue;
                }
                let (cut, whole): (Vec<_>, Vec<_>) = pairs.into_iter().partition(broken);
                let (instances, insts) = (&self.ctx.instances, &self.ctx.var_insts);
                let (inner, rest): (Vec<Link>, Vec<Link>) = kept.into_iter().partition(|l| {
                    crate::lower::is_inside(instances, insts[l.ends[0].port.var.index()], x)
                });
                kept = rest;
                for (_, p, q) in &whole {
                    kept.extend(inner.iter().map(|l| at_element(l, p, q)));
                }
                for (_, p, q) in cut {
                    let values = [
                        self.element_value(spot, x, &p, span)?,
                        self.element_value(spot, y, &q, span)?,
                    ];
                    self.constrain(spot, x, values, span, origin, out)?;
                }
            }
        }
        out.extend(kept.into_iter().map(LoweredItem::Link));
        Ok(())
    }

    /// `equalityConstraint(a, b) = 0`
    fn constrain(
        &mut self,
        spot: &EquationContext<'_>,
        inst: InstId,
        values: [Value; 2],
        span: Span,
        origin: OriginId,
        out: &mut Vec<LoweredItem>,
    ) -> Result<()> {
        let Some(function) = self.ctx.equality_constraint(inst) else {
            return Ok(());
        };
        let arguments = Arguments {
            positional: values.into_iter().map(|v| (v, span)).collect(),
            named: Vec::new(),
        };
        let residue = crate::function::call(&mut self.ctx, &spot.env, function, arguments, span)?;
        let t = self.ctx.as_tensor(residue, span)?;
        if t.is_empty() {
            return Ok(()); // what is equal by construction gives no equation; the function may assert that it is
        }
        let domain = t
            .iters
            .iter()
            .zip(&t.dims)
            .map(|(&i, &n)| (i, Range::upto(n)))
            .collect();
        let lhs = self.ctx.exprs.real(0.0);
        out.push(LoweredItem::Equation(Equation {
            domain,
            lhs,
            rhs: t.body,
            origin,
        }));
        Ok(())
    }

    /// The value of one element of a component.
    fn element_value(
        &mut self,
        spot: &EquationContext<'_>,
        inst: InstId,
        subs: &[i64],
        span: Span,
    ) -> Result<Value> {
        let mut slots = Vec::new();
        let mut next = subs.iter();
        for array in self.ctx.enclosing_arrays(inst).into_iter().chain([inst]) {
            for n in self.ctx.dims(array)? {
                let s = match next.next() {
                    Some(&k) => Subscript::Element(self.ctx.exprs.int(k)),
                    None => Subscript::All,
                };
                slots.push((n, s));
            }
        }
        self.ctx
            .value_at(&spot.env, &ComponentRange { inst, slots }, span)
    }
}

type Domain = Vec<(IterId, Range)>;

/// Values of the iterators, and the elements of both sides.
type ElementPair = (Vec<i64>, Box<[i64]>, Box<[i64]>);

/// A link for one element of the components that it belongs to: their subscripts are constant, the others stay.
fn at_element(link: &Link, a: &[i64], b: &[i64]) -> Link {
    let mut link = link.clone();
    for (end, element) in link.ends.iter_mut().zip([a, b]) {
        for (sub, &k) in end.subs.iter_mut().zip(element) {
            *sub = Affine {
                constant: k,
                terms: Vec::new(),
            };
        }
    }
    let used = |i: IterId| {
        link.ends
            .iter()
            .flat_map(|e| &e.subs)
            .any(|s| s.coefficient(i) != 0)
    };
    let domain = link.domain.iter().copied().filter(|d| used(d.0)).collect();
    Link { domain, ..link }
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
