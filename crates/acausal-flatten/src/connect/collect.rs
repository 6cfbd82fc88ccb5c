//! `connect(a, b)` to links of primitive variables (MLS 3.6 §9.1, §9.3).
//!
//! Both references are resolved to places: a component and one subscript per dimension on its path. Dimensions that are
//! left whole (`connect(r.p, bus.pin)`, slices) must have equal sizes and are paired by an iterator. Then both connectors
//! are walked in step, member by member, and every pair of primitive variables becomes one [`Link`].

use acausal_base::Span;
use acausal_expr::flat::OriginId;
use acausal_expr::{Affine, ExprId, IterId, Node, Range};
use acausal_symbolic::Substitute;
use acausal_syntax::ast::{
    CausalityPrefix, ComponentRef, FlowPrefix, VariabilityPrefix, Visibility,
};

use super::link::{Connections, End, Face, LeafKind, Link, Port};
use crate::lower::{Context, Env, Error, ErrorKind, Result, Subscript, error};
use acausal_instance::instance::{InstId, InstPrefixes, InstanceKind};

/// Records a `connect` equation. `domain` are the iterators around it: of `for` equations and enclosing arrays of components.
/// A connection of a component that does not exist is left out (MLS 3.6 §4.4.5).
pub fn connect(
    ctx: &mut Context,
    env: &Env<'_>,
    domain: &[(IterId, Range)],
    refs: [&ComponentRef; 2],
    origin: OriginId,
    out: &mut Connections,
) -> Result<()> {
    let span = refs[0].span.to(refs[1].span);
    let mut sides = Vec::with_capacity(2);
    for r in refs {
        match side(ctx, env, r) {
            Ok(side) => sides.push(side),
            Err(e) if e.kind() == ErrorKind::AbsentComponent => return Ok(()),
            Err(e) => return Err(e),
        }
    }
    let [a, mut b] = <[Side; 2]>::try_from(sides)
        .map_err(|_| error("connect-no-connector", span, "two connectors are expected"))?;
    let sizes = |s: &Side| s.open.iter().map(|o| o.1.count).collect::<Vec<i64>>();
    if sizes(&a) != sizes(&b) {
        let (x, y) = (sizes(&a), sizes(&b));
        return Err(error(
            "connect-size",
            span,
            "connected arrays must have the same size",
        )
        .label(refs[0].span, format!("this has the size {x:?}"))
        .label(refs[1].span, format!("this has the size {y:?}")));
    }
    // Whole dimensions run together: the iterators of b become those of a.
    let pairs: Vec<(IterId, ExprId)> = a
        .open
        .iter()
        .zip(&b.open)
        .map(|(x, y)| (y.0, ctx.exprs.iter(x.0)))
        .collect();
    for sub in &mut b.subs {
        *sub = ctx.exprs.substitute_iters(*sub, &pairs);
    }
    let mut full = domain.to_vec();
    full.extend(&a.open);
    let walk = Walk {
        refs,
        span,
        origin,
        faces: [a.face, b.face],
        hidden: [a.hidden, b.hidden],
    };
    walk.pair(ctx, [(a.inst, a.subs), (b.inst, b.subs)], full, out)
}

/// Tells all flow and stream variables of the model, connected or not.
pub fn flow_leaves(ctx: &Context, out: &mut Connections) {
    for (k, &inst) in ctx.var_insts.iter().enumerate() {
        let kind = match ctx.instances.data(inst).prefixes.flow {
            Some(FlowPrefix::Flow) => LeafKind::Flow,
            Some(FlowPrefix::Stream) => LeafKind::Stream,
            None => continue,
        };
        out.leaf(acausal_expr::VarId(k as u32), kind);
    }
}

/// One argument of a `connect`.
struct Side {
    inst: InstId,
    face: Face,
    /// A protected connector of the class itself: no signal can enter the class through it (MLS 3.6 §9.2).
    hidden: bool,
    subs: Vec<ExprId>,
    /// Iterators of the dimensions that were left whole.
    open: Vec<(IterId, Range)>,
}

fn side(ctx: &mut Context, env: &Env<'_>, r: &ComponentRef) -> Result<Side> {
    let (place, first) = ctx.place_and_first(env, r)?;
    if !ctx.instances.is_connector(place.inst) {
        let name = ctx.instances.display_name(place.inst);
        let class = ctx.instances.class_name(place.inst);
        let message = format!("`{name}` is not a connector but of class {class}");
        return Err(error("connect-no-connector", r.span, message));
    }
    let outside = first.is_some_and(|first| ctx.instances.is_connector(first));
    let hidden = outside
        && first.is_some_and(|first| ctx.instances.data(first).visibility == Visibility::Protected);
    let mut subs = Vec::new();
    let mut open = Vec::new();
    for (n, subscript) in &place.slots {
        let count = match subscript {
            Subscript::Element(e) => {
                subs.push(*e);
                continue;
            }
            Subscript::Vector(v) => v.dims[0],
            Subscript::All => *n,
        };
        let k = ctx.iterator(None, Range::upto(count));
        open.push((k, Range::upto(count)));
        subs.push(match subscript {
            Subscript::Vector(v) => v.over(&mut ctx.exprs, &[k]),
            _ => ctx.exprs.iter(k),
        });
    }
    let face = if outside { Face::Outside } else { Face::Inside };
    Ok(Side {
        inst: place.inst,
        face,
        hidden,
        subs,
        open,
    })
}

/// What stays the same while two connectors are walked.
struct Walk<'r> {
    refs: [&'r ComponentRef; 2],
    span: Span,
    origin: OriginId,
    faces: [Face; 2],
    hidden: [bool; 2],
}

impl Walk<'_> {
    /// Connects two (parts of) connectors. Recursion is over the nesting of connector classes.
    fn pair(
        &self,
        ctx: &mut Context,
        sides: [(InstId, Vec<ExprId>); 2],
        domain: Vec<(IterId, Range)>,
        out: &mut Connections,
    ) -> Result<()> {
        let insts = [sides[0].0, sides[1].0];
        let kinds = insts.map(|i| ctx.instances.kind(i));
        let expandable = kinds == [InstanceKind::Connector { expandable: true }; 2];
        match kinds {
            [InstanceKind::Error, _] | [_, InstanceKind::Error] => Ok(()), // already reported
            [InstanceKind::Primitive(_), InstanceKind::Primitive(_)] => {
                self.leaf(ctx, sides, domain, out)
            }
            [InstanceKind::Primitive(_), _] | [_, InstanceKind::Primitive(_)] => {
                Err(self.mismatch(ctx, insts))
            }
            _ => {
                let members = insts.map(|i| ctx.instances.components(i));
                let known = |ctx: &Context, list: &[InstId], inst: InstId| {
                    let name = ctx.instances.data(inst).name;
                    list.iter()
                        .copied()
                        .find(|&other| ctx.instances.data(other).name == name)
                };
                for &extra in &members[1] {
                    if !expandable && known(ctx, &members[0], extra).is_none() {
                        return Err(self.missing(ctx, extra, insts[0]));
                    }
                }
                for &left in &members[0] {
                    let Some(right) = known(ctx, &members[1], left) else {
                        if expandable {
                            continue; // declared on one side, and connected nowhere
                        }
                        return Err(self.missing(ctx, left, insts[1]));
                    };
                    if ctx.absent.contains(&left) || ctx.absent.contains(&right) {
                        continue;
                    }
                    let dims = [ctx.dims(left)?, ctx.dims(right)?];
                    if dims[0] != dims[1] {
                        return Err(self.mismatch(ctx, [left, right]));
                    }
                    let mut inner = domain.clone();
                    let [mut x, mut y] = [sides[0].1.clone(), sides[1].1.clone()];
                    for &n in &dims[0] {
                        let k = ctx.iterator(None, Range::upto(n));
                        inner.push((k, Range::upto(n)));
                        let e = ctx.exprs.iter(k);
                        x.push(e);
                        y.push(e);
                    }
                    self.pair(ctx, [(left, x), (right, y)], inner, out)?;
                }
                Ok(())
            }
        }
    }

    /// Connects two primitive variables.
    fn leaf(
        &self,
        ctx: &mut Context,
        sides: [(InstId, Vec<ExprId>); 2],
        domain: Vec<(IterId, Range)>,
        out: &mut Connections,
    ) -> Result<()> {
        let insts = [sides[0].0, sides[1].0];
        if ctx.primitive_type(insts[0]) != ctx.primitive_type(insts[1]) {
            return Err(self.mismatch(ctx, insts));
        }
        let mut ports = Vec::with_capacity(2);
        for (k, inst) in insts.into_iter().enumerate() {
            // Constants without a variable of their own have nothing to be connected.
            let Some(var) = ctx.vars.get(inst) else {
                return Ok(());
            };
            let kind = match leaf_kind(&ctx.instances.data(inst).prefixes) {
                LeafKind::Input if self.hidden[k] => LeafKind::Potential,
                kind => kind,
            };
            out.leaf(var, kind);
            let face = self.faces[k];
            ports.push(Port { var, face });
        }
        let [a, b] = sides.map(|s| s.1);
        self.links(ctx, &ports, [a, b], domain, out)
    }

    /// Writes subscripts in affine form; where one is not, the iterators in it are enumerated.
    fn links(
        &self,
        ctx: &mut Context,
        ports: &[Port],
        subs: [Vec<ExprId>; 2],
        domain: Vec<(IterId, Range)>,
        out: &mut Connections,
    ) -> Result<()> {
        let mut todo = vec![(subs, domain)];
        while let Some((mut subs, domain)) = todo.pop() {
            let mut wild = None;
            for e in subs.iter_mut().flatten() {
                if ctx.exprs.affine(*e).is_none() {
                    *e = ctx.with_known_parameters(*e)?;
                }
                if ctx.exprs.affine(*e).is_none() {
                    wild = Some(*e);
                    break;
                }
            }
            let Some(e) = wild else {
                let affine = |ctx: &Context, subs: &[ExprId]| -> Vec<Affine> {
                    subs.iter().filter_map(|&e| ctx.exprs.affine(e)).collect()
                };
                let ends = [0, 1].map(|k| End {
                    port: ports[k],
                    subs: affine(ctx, &subs[k]).into(),
                });
                out.link(Link {
                    domain: domain.into(),
                    ends,
                    origin: self.origin,
                });
                continue;
            };
            let Some(k) = domain
                .iter()
                .position(|(i, _)| ctx.exprs.depends_on_iter(e, *i))
            else {
                return Err(self.not_constant(ctx, e));
            };
            let (iter, range) = domain[k];
            for v in range.values().collect::<Vec<_>>().into_iter().rev() {
                let value = ctx.exprs.int(v);
                let mut next = subs.clone();
                for s in next.iter_mut().flatten() {
                    *s = ctx.exprs.substitute_iter(*s, iter, value);
                }
                let mut rest = domain.clone();
                rest.remove(k);
                todo.push((next, rest));
            }
        }
        Ok(())
    }

    fn not_constant(&self, ctx: &Context, e: ExprId) -> Error {
        let message = "a subscript in `connect` must be a constant or parameter expression";
        let mut out = Error::not_constant(self.span, message);
        let variable =
            ctx.exprs
                .reachable(&[e])
                .into_iter()
                .find_map(|n| match ctx.exprs.node(n) {
                    Node::Var(a) => ctx.var_insts.get(a.var.index()).copied(),
                    _ => None,
                });
        if let Some(inst) = variable {
            out = out.note(format!(
                "it depends on `{}`",
                ctx.instances.display_name(inst)
            ));
        }
        out
    }

    fn missing(&self, ctx: &Context, member: InstId, other: InstId) -> Error {
        let name = ctx.instances.data(member).name;
        let message = format!(
            "`{}` has no member `{name}` that could be connected with `{}`",
            ctx.instances.display_name(other),
            ctx.instances.display_name(member),
        );
        self.explain(ctx, error("connect-members", self.span, message), member)
    }

    fn mismatch(&self, ctx: &mut Context, insts: [InstId; 2]) -> Error {
        let what = insts.map(|i| {
            let name = ctx.instances.display_name(i);
            let sizes = ctx.dims(i).unwrap_or_default();
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            let class = ctx.instances.class_name(i);
            match sizes.is_empty() {
                true => format!("`{name}` ({class})"),
                false => format!("`{name}` ({class}[{}])", sizes.join(", ")),
            }
        });
        let message = format!("cannot connect {} with {}", what[0], what[1]);
        self.explain(ctx, error("connect-types", self.span, message), insts[0])
    }

    fn explain(&self, ctx: &Context, error: Error, declared: InstId) -> Error {
        let at = ctx.instances.data(declared).span;
        let (a, b) = (self.refs[0].span, self.refs[1].span);
        error
            .label(a, "first connector")
            .label(b, "second connector")
            .label(at, "declared here")
    }
}

/// What a primitive variable of a connector is declared as.
fn leaf_kind(prefixes: &InstPrefixes) -> LeafKind {
    match (prefixes.flow, prefixes.variability, prefixes.causality) {
        (Some(FlowPrefix::Flow), ..) => LeafKind::Flow,
        (Some(FlowPrefix::Stream), ..) => LeafKind::Stream,
        (_, Some(VariabilityPrefix::Constant | VariabilityPrefix::Parameter), _) => {
            LeafKind::Parameter
        }
        (_, _, Some(CausalityPrefix::Input)) => LeafKind::Input,
        (_, _, Some(CausalityPrefix::Output)) => LeafKind::Output,
        _ => LeafKind::Potential,
    }
}
