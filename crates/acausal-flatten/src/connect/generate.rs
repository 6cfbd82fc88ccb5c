//! Equations of connection sets (MLS 3.6 §9.2).
//!
//! In: [`Connections`] over the variables of a flat model. Out: equations and assertions appended to the model.
//! - potentials: every member equals one reference member (the source, if the set is causal);
//! - flows: the sum over the members is zero, inside connectors counting positive, outside ones negative; a flow that
//!   nothing is connected to is zero;
//! - parameters and constants: asserted to be equal;
//! - streams: what flows in, where it is asked for (`stream`).
//!
//! The reference is chosen by declaration order, so the equations do not depend on the order of the `connect`s.

use acausal_base::Diagnostic;
use acausal_expr::flat::{
    Assert, AssertionLevel, Equation, FlatModel, Origin, OriginId, OriginKind, VarType,
};
use acausal_expr::{ExprId, IterId, Range, ReduceOp, RelOp, Ty, ValueKind};
use acausal_symbolic::Reduce;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::check::{check, source};
use super::compress::{IndexLine, Set, Strip, compress, key};
use super::link::{Connections, Face, LeafKind, Link, Port, translations};
use super::scalar::{Scalars, is_scalar};
use super::sets::connection_sets;

/// Appends the equations of all connection sets to the model. Links that make no sense are reported and left out.
pub fn generate(model: &mut FlatModel, connections: &Connections) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut shapes: IndexMap<Port, Vec<usize>, FxBuildHasher> = IndexMap::default();
    let mut links = Vec::new();
    let mut scalar_links = Vec::new();
    let add = |link: &Link, shapes: &mut IndexMap<_, _, _>, links: &mut Vec<_>| {
        for end in &link.ends {
            shapes
                .entry(end.port)
                .or_insert_with(|| model.var(end.port.var).dims.to_vec());
        }
        links.extend(translations(link));
    };
    for link in &connections.links {
        match check(model, connections, link) {
            Some(diagnostic) => diagnostics.push(diagnostic),
            None if is_scalar(link) => scalar_links.push(link),
            None => add(link, &mut shapes, &mut links),
        }
    }
    let scalars = Scalars::new(model.vars.len(), &scalar_links, |port| {
        shapes.contains_key(&port)
    });
    for link in scalar_links.iter().filter(|link| scalars.is_mixed(link)) {
        add(link, &mut shapes, &mut links);
    }
    // A flow that nothing is connected to is zero, a stream flows back into the component it came from.
    let leaves = &connections.leaves;
    let counts_alone = |kind| matches!(kind, LeafKind::Flow | LeafKind::Stream);
    for var in (leaves.of(LeafKind::Flow)).chain(leaves.of(LeafKind::Stream)) {
        let port = Port {
            var,
            face: Face::Inside,
        };
        if scalars.contains(port) {
            continue;
        }
        shapes
            .entry(port)
            .or_insert_with(|| model.var(var).dims.to_vec());
    }
    shapes.retain(|_, dims| dims.iter().all(|&n| n > 0));
    let alone =
        |port: Port| leaves.get(port.var).is_some_and(counts_alone) && port.face == Face::Inside;
    let mut writer = Writer {
        model,
        origins: IndexMap::default(),
    };
    // Both are in order of their first members, and so is what follows.
    let mut general = compress(connection_sets(&shapes, &links, alone));
    general.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut general = general.into_iter().peekable();
    let mut scalar = scalars.sets().peekable();
    let mut streams = Vec::new();
    loop {
        let first = match (general.peek(), scalar.peek()) {
            (Some(a), Some(b)) => key(a) <= key(b),
            (a, _) => a.is_some(),
        };
        let next = if first { general.next() } else { scalar.next() };
        let Some(set) = next else {
            break;
        };
        let Some(first) = set.strips.first() else {
            continue;
        };
        match connections.leaves.get(first.port.var) {
            Some(LeafKind::Flow) => writer.flow(&set),
            Some(LeafKind::Stream) => streams.push(set),
            Some(LeafKind::Parameter) => writer.equal(&set, None, true),
            _ => match source(writer.model, connections, &set) {
                Ok(source) => writer.equal(&set, source, false),
                Err(diagnostic) => diagnostics.push(diagnostic),
            },
        }
    }
    writer.streams(connections, streams);
    diagnostics
}

pub(super) struct Writer<'m> {
    pub(super) model: &'m mut FlatModel,
    /// Origins with the kind that fits the equation, made on demand.
    origins: IndexMap<(OriginId, OriginKind), OriginId, FxBuildHasher>,
}

/// The iterators of a family of sets: one per parameter, running over the indices of the reference member.
pub(super) struct Frame {
    pub(super) domain: Vec<(IterId, Range)>,
    /// Per parameter the index of the reference at `t = 0` and its step.
    base: Vec<(i64, i64)>,
}

impl Writer<'_> {
    /// `sum of the members = 0`.
    fn flow(&mut self, set: &Set) {
        let reference = reference(set);
        let frame = self.frame(set, reference);
        let mut terms = Vec::new();
        for strip in &set.strips {
            let mut free = Vec::new();
            let mut body = self.element(strip, &frame, |exprs, range| {
                let iter = exprs.new_iter("k");
                free.push((iter, range));
                exprs.iter(iter)
            });
            for &(iter, range) in free.iter().rev() {
                body = self.model.exprs.reduce(ReduceOp::Sum, iter, range, body);
            }
            let outside = strip.port.face == Face::Outside;
            terms.push(if outside {
                self.model.exprs.neg(body)
            } else {
                body
            });
        }
        let lhs = self.model.exprs.add(&terms);
        let rhs = self.model.exprs.real(0.0);
        let origin = match set.strips[reference].origin {
            Some(origin) => self.origin(origin, OriginKind::Flow),
            None => self.unconnected(&set.strips[reference]),
        };
        self.model.equations.push(Equation {
            domain: frame.domain.into(),
            lhs,
            rhs,
            origin,
        });
    }

    /// All members equal the reference; `checked` asks for assertions instead of equations.
    fn equal(&mut self, set: &Set, source: Option<usize>, checked: bool) {
        let reference = source.unwrap_or_else(|| reference(set));
        for (k, strip) in set.strips.iter().enumerate() {
            for part in rest(strip, k == reference) {
                let frame = self.frame(set, reference);
                let mut domain = frame.domain.clone();
                let a = self.element(&set.strips[reference], &frame, |exprs, range| {
                    exprs.int(range.start)
                });
                let b = self.element(&part, &frame, |exprs, range| {
                    if range.count == 1 {
                        return exprs.int(range.start);
                    }
                    let iter = exprs.new_iter("k");
                    domain.push((iter, range));
                    exprs.iter(iter)
                });
                let Some(origin) = strip.origin.or(set.strips[reference].origin) else {
                    continue;
                };
                let (lhs, rhs) = if source.is_some() { (b, a) } else { (a, b) };
                if checked {
                    self.assert_equal(domain, lhs, rhs, origin, [&set.strips[reference], strip]);
                } else {
                    let origin = self.origin(origin, OriginKind::Potential);
                    self.model.equations.push(Equation {
                        domain: domain.into(),
                        lhs,
                        rhs,
                        origin,
                    });
                }
            }
        }
    }

    fn assert_equal(
        &mut self,
        domain: Vec<(IterId, Range)>,
        a: ExprId,
        b: ExprId,
        origin: OriginId,
        strips: [&Strip; 2],
    ) {
        let names = strips.map(|s| self.model.var(s.port.var).name.plain());
        let text = format!(
            "connected parameters {} and {} must be equal",
            names[0], names[1]
        );
        let condition = self.model.exprs.rel(RelOp::Eq, a, b);
        let message = self.model.exprs.str(&text);
        let origin = self.origin(origin, OriginKind::Assert);
        self.model.asserts.push(Assert {
            domain,
            condition,
            message,
            level: AssertionLevel::Error,
            origin,
        });
    }

    /// Iterators over the indices of the reference, so that it is written `v[i]`.
    pub(super) fn frame(&mut self, set: &Set, reference: usize) -> Frame {
        let mut frame = Frame {
            domain: Vec::new(),
            base: Vec::new(),
        };
        for (p, &count) in set.params.iter().enumerate() {
            let along = |s: &Strip| {
                s.lines.iter().find_map(|l| match *l {
                    IndexLine::Along { param, start, step } if param == p => Some((start, step)),
                    _ => None,
                })
            };
            let (mut start, mut step) = along(&set.strips[reference]).unwrap_or((0, 1));
            // Steps that are no multiples of the reference's: count from zero instead.
            if set
                .strips
                .iter()
                .filter_map(along)
                .any(|(_, s)| s % step != 0)
            {
                (start, step) = (0, 1);
            }
            let mut range = Range { start, step, count };
            if step < 0 {
                range = Range {
                    start: range.last(),
                    step: -step,
                    count,
                };
            }
            let name = ["i", "j"].get(p).copied().unwrap_or("l");
            frame.domain.push((self.model.exprs.new_iter(name), range));
            frame.base.push((start, step));
        }
        frame
    }

    /// The element of a member for the values of the frame's iterators; `free` gives the subscript of a free line.
    pub(super) fn element(
        &mut self,
        strip: &Strip,
        frame: &Frame,
        mut free: impl FnMut(&mut acausal_expr::Exprs, Range) -> ExprId,
    ) -> ExprId {
        let ty = numeric_class(self.model.var(strip.port.var).ty);
        let exprs = &mut self.model.exprs;
        let mut subs = Vec::with_capacity(strip.lines.len());
        for line in &strip.lines {
            subs.push(match *line {
                IndexLine::At(i) => exprs.int(i),
                IndexLine::Free { start, step, count } => free(exprs, Range { start, step, count }),
                IndexLine::Along { param, start, step } => {
                    let (base, unit) = frame.base[param];
                    let factor = step / unit;
                    let iter = exprs.iter(frame.domain[param].0);
                    let factor_id = exprs.int(factor);
                    let scaled = exprs.mul(&[factor_id, iter]);
                    let shift = exprs.int(start - factor * base);
                    exprs.add(&[scaled, shift])
                }
            });
        }
        exprs.var(strip.port.var, ValueKind::Value, &subs, ty)
    }

    pub(super) fn origin(&mut self, of: OriginId, kind: OriginKind) -> OriginId {
        if self.model.origin(of).kind == kind {
            return of;
        }
        if let Some(&known) = self.origins.get(&(of, kind)) {
            return known;
        }
        let origin = Origin {
            kind,
            ..self.model.origin(of).clone()
        };
        self.model.origins.push(origin);
        let id = OriginId(self.model.origins.len() as u32 - 1);
        self.origins.insert((of, kind), id);
        id
    }

    pub(super) fn unconnected(&mut self, strip: &Strip) -> OriginId {
        let var = self.model.var(strip.port.var);
        let component = var.name.around();
        let origin = Origin {
            span: var.span,
            component: component.plain().into(),
            kind: OriginKind::Unconnected,
        };
        self.model.origins.push(origin);
        OriginId(self.model.origins.len() as u32 - 1)
    }
}

/// The member that the others are compared with: the first one that is a single element of each set.
fn reference(set: &Set) -> usize {
    let single = |s: &Strip| s.lines.iter().all(|l| l.free_range().is_none());
    set.strips.iter().position(single).unwrap_or(0)
}

/// The parts of a member that must equal the reference: all of it, or for the reference itself all but its first
/// element. The complement of a point in a box is one box per dimension: at the first index in the dimensions before,
/// beyond it in this one, anywhere in the dimensions after.
fn rest(strip: &Strip, is_reference: bool) -> Vec<Strip> {
    if !is_reference {
        return vec![strip.clone()];
    }
    let mut parts = Vec::new();
    let mut before = strip.clone();
    for d in 0..strip.lines.len() {
        if let IndexLine::Free { start, step, count } = strip.lines[d] {
            let mut part = before.clone();
            part.lines[d] = IndexLine::Free {
                start: start + step,
                step,
                count: count - 1,
            };
            if count > 1 {
                parts.push(part);
            }
            before.lines[d] = IndexLine::At(start);
        }
    }
    parts
}

/// The numeric class of a variable type.
fn numeric_class(ty: VarType) -> Ty {
    match ty {
        VarType::Real => Ty::Real,
        VarType::Integer | VarType::Enum(_) => Ty::Int,
        VarType::Boolean => Ty::Bool,
        VarType::String => Ty::Str,
    }
}
