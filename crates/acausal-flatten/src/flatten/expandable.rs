//! Expandable connectors (MLS 3.6 §9.1.3): what a bus carries follows from the connections.
//!
//! In: the instance tree with its expandable connectors still empty. Out: each of them with the members that some connection
//! needs: `connect(bus.speed, sensor.y)` gives the bus a `speed` like `sensor.y`, and `connect(bus, part.bus)` gives both
//! what either has. Members that are declared but that nothing is connected with do not exist.
//!
//! The connections are gone through again and again until nothing is added; each round adds a member, so the work is
//! at most the number of connections times the number of members.

use std::sync::Arc;

use acausal_base::Name;
use acausal_syntax::ast::{self, ComponentRef, EquationKind, Expr, ExprKind, SectionKind};
use rustc_hash::FxHashSet;

use super::Flattener;
use crate::lower::{Env, IterationRange, Type, Value};
use acausal_instance::instance::{Dim, Found, InstId, InstanceKind, Scope};

/// A `connect` with the environment it is written in.
struct Connect {
    env: Env<'static>,
    refs: [ComponentRef; 2],
}

/// What a reference in `connect` names.
enum End {
    /// A component.
    Known(InstId),
    /// A member that an expandable connector does not have yet, with the subscripts behind it.
    New(InstId, Name, Vec<Expr>),
    /// A member of a member that is not there yet, or a mistake that the lowering of the equation reports.
    Open,
}

impl Flattener {
    /// Completes the expandable connectors and gives their members variables.
    pub(super) fn expandable(&mut self) {
        if self.expandables.is_empty() {
            return;
        }
        let known = self.leaves.len();
        let connects = self.all_connects();
        let mut present: FxHashSet<InstId> = FxHashSet::default();
        loop {
            let mut changed = false;
            for c in &connects {
                changed |= self.augment(c, &mut present);
            }
            if !changed {
                break;
            }
        }
        let mut todo = std::mem::take(&mut self.expandables);
        while let Some(bus) = todo.pop() {
            for member in self.ctx.instances.components(bus) {
                // Parameters give sizes, whether something is connected with them or not.
                let parameter = matches!(
                    self.ctx.instances.data(member).prefixes.variability,
                    Some(ast::VariabilityPrefix::Constant | ast::VariabilityPrefix::Parameter)
                );
                if parameter || present.contains(&member) {
                    self.visit(member);
                } else {
                    self.ctx.absent.insert(member);
                }
            }
            // Buses in buses.
            todo.append(&mut self.expandables);
        }
        self.name_leaves(known);
    }

    /// One round for one connection: true when something was added.
    fn augment(&mut self, c: &Connect, present: &mut FxHashSet<InstId>) -> bool {
        let ends = [self.end(&c.env, &c.refs[0]), self.end(&c.env, &c.refs[1])];
        match ends {
            [End::Known(a), End::Known(b)] => {
                let mut changed = self.note(a, present) | self.note(b, present);
                let kinds = [a, b].map(|i| self.ctx.instances.kind(i));
                if kinds == [InstanceKind::Connector { expandable: true }; 2] {
                    changed |= self.mirror(a, b, present) | self.mirror(b, a, present);
                }
                changed
            }
            [End::New(bus, name, subs), End::Known(like)] => {
                self.add(c, (bus, name, &subs), (like, &c.refs[1]), present)
            }
            [End::Known(like), End::New(bus, name, subs)] => {
                self.add(c, (bus, name, &subs), (like, &c.refs[0]), present)
            }
            _ => false,
        }
    }

    /// A connected member of an expandable connector exists.
    fn note(&mut self, inst: InstId, present: &mut FxHashSet<InstId>) -> bool {
        let parent = self.ctx.instances.parent(inst);
        let of_bus = parent.is_some_and(|p| {
            self.ctx.instances.kind(p) == InstanceKind::Connector { expandable: true }
        });
        of_bus && present.insert(inst)
    }

    /// Gives `to` what `from` has.
    fn mirror(&mut self, from: InstId, to: InstId, present: &mut FxHashSet<InstId>) -> bool {
        let mut changed = false;
        for member in self.ctx.instances.components(from) {
            if !present.contains(&member) {
                continue;
            }
            let name = self.ctx.instances.data(member).name;
            let other = match self.ctx.instances.member(to, name) {
                Some(other) => other,
                None => {
                    let dims = self.ctx.instances.dims(member);
                    self.ctx.instances.augment(to, name, member, dims)
                }
            };
            changed |= present.insert(other);
            if self.ctx.instances.kind(member) == (InstanceKind::Connector { expandable: true }) {
                changed |=
                    self.mirror(member, other, present) | self.mirror(other, member, present);
            }
        }
        changed
    }

    /// Adds a member like the other end of the connection.
    fn add(
        &mut self,
        c: &Connect,
        (bus, name, subs): (InstId, Name, &[Expr]),
        (like, r): (InstId, &ComponentRef),
        present: &mut FxHashSet<InstId>,
    ) -> bool {
        let Ok(place) = self.ctx.place(&c.env, r) else {
            return false;
        };
        let mut sizes = Vec::new();
        for e in subs {
            // The largest subscript is the size as far as this connection says.
            let body = self.ctx.scalar(&c.env, e, Type::Integer);
            let Some((_, high)) = body.ok().and_then(|b| self.ctx.bounds(b)) else {
                return false;
            };
            sizes.push(high.max(0) as usize);
        }
        sizes.extend(place.dims());
        let scope = Scope::of(bus);
        let dims: Vec<Dim> = sizes
            .into_iter()
            .map(|n| Dim {
                expr: Arc::new(Expr::new(ExprKind::Integer(n as i64), r.span)),
                scope,
            })
            .collect();
        let added = self.ctx.instances.augment(bus, name, like, dims);
        let _ = self.note(like, present);
        present.insert(added);
        true
    }

    fn end(&mut self, env: &Env<'_>, r: &ComponentRef) -> End {
        let mut at = None;
        for (k, part) in r.parts.iter().enumerate() {
            let name = part.name.name;
            let next = match at {
                None => match self.ctx.instances.find(env.scope, name, part.name.span) {
                    Found::Component(inst) => Some(inst),
                    _ => None,
                },
                Some(inst) => self.ctx.instances.member(inst, name),
            };
            let Some(next) = next else {
                return match at {
                    Some(bus)
                        if k + 1 == r.parts.len()
                            && self.ctx.instances.kind(bus)
                                == (InstanceKind::Connector { expandable: true }) =>
                    {
                        End::New(bus, name, part.subscripts.to_vec())
                    }
                    _ => End::Open,
                };
            };
            if self.ctx.absent.contains(&next) {
                return End::Open;
            }
            at = Some(next);
        }
        at.map_or(End::Open, End::Known)
    }

    /// All connections of the model, those in `for` and `if` included.
    fn all_connects(&mut self) -> Vec<Connect> {
        let mut out = Vec::new();
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
                self.connects_of(&framed.env, equations, &mut out);
            }
        }
        out
    }

    /// Recursion is over the nesting of equations. Mistakes are left to the lowering proper.
    fn connects_of(
        &mut self,
        env: &Env<'static>,
        equations: &[ast::Equation],
        out: &mut Vec<Connect>,
    ) {
        for e in equations {
            match &e.kind {
                EquationKind::Connect(a, b) => out.push(Connect {
                    env: env.clone(),
                    refs: [a.clone(), b.clone()],
                }),
                EquationKind::If {
                    branches,
                    otherwise,
                } => {
                    if let Some(body) = self.taken_branch(env, branches, otherwise) {
                        self.connects_of(env, body, out);
                    }
                }
                EquationKind::For { indices, body } => {
                    let mut inner = env.clone();
                    let mut known = true;
                    for index in indices {
                        match self.ctx.iteration(&inner, index, &[]) {
                            Ok(IterationRange::Range(ty, range)) if range.count > 0 => {
                                let k = self.ctx.iterator(Some(index.name.name), range);
                                let value = Value::scalar(ty, self.ctx.exprs.iter(k));
                                inner.loops.push((index.name.name, value));
                            }
                            _ => known = false,
                        }
                    }
                    if known {
                        self.connects_of(&inner, body, out);
                    }
                }
                EquationKind::Equal(..) | EquationKind::When { .. } | EquationKind::Call(_) => {}
            }
        }
    }
}
