//! Statements of algorithm sections that must be executed at run time.
//!
//! The statement becomes a run-time function. Its inputs are the values that the assigned variables hold before it, and
//! every variable of the model that it reads: one by one where the element is known, as a block where the subscript
//! is computed inside. Its outputs are the variables that it assigns.

use acausal_expr::flat::{Function, Statement as Run};
use acausal_expr::{Access, Builtin, ExprId, FuncId, IterId, Node, Ty, ValueKind, VarId};
use acausal_symbolic::Substitute;
use acausal_syntax::ast::Statement;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::target::{references, root};
use crate::function::execute::{Executor, Write};
use crate::function::run_time::FunctionLowering;
use crate::lower::{Context, Error, Result, Tensor, Value};
use acausal_instance::instance::InstId;

/// Executes a statement through a run-time function: the assigned variables then hold its outputs.
pub fn package(executor: &mut Executor<'_, '_>, s: &Statement) -> Result<()> {
    let base = executor.base.clone();
    let outer = outer_iterators(executor.ctx, &base.arrays);
    let mut assigned: Vec<InstId> = Vec::new();
    for r in references(s) {
        let variable = root(executor.ctx, &base, r, true)?.0;
        if !assigned.contains(&variable) {
            assigned.push(variable);
        }
    }
    let mut args: Vec<ExprId> = Vec::new();
    let mut lowering = FunctionLowering::in_env(executor.ctx, base, executor.name.clone());
    for &variable in &executor.order {
        let Some(value) = executor.locals.get(&variable) else {
            continue;
        };
        let blocks = lowering.blocks(value, s.span)?;
        elements(lowering.ctx, value, &mut args);
        lowering.locals.insert(variable, blocks);
    }
    let own = lowering.frame;
    lowering.statement(s)?;
    let mut outputs = Vec::new();
    let mut shapes: Vec<(InstId, Value)> = Vec::new();
    for &variable in &assigned {
        let Some(value) = lowering.locals.get(&variable).cloned() else {
            continue;
        };
        value.for_each_leaf(&mut Vec::new(), &mut |_, t| {
            if let Some((first, len)) = lowering.block(t) {
                outputs.extend(first..first + len);
            }
        });
        shapes.push((variable, value));
    }
    let (mut body, frame, unassigned) = lowering.finish();
    let ctx = &mut *executor.ctx;
    let reads = Reads::collect(ctx, &body, own, &outer)?;
    reads.replace(ctx, &mut body);
    args.extend(reads.args(ctx));
    let func = FuncId(ctx.functions.len() as u32);
    ctx.functions.push(Function {
        name: executor.name.clone(),
        inputs: own + reads.count,
        outputs,
        frame: frame + reads.count,
        unassigned,
        body,
        external: None,
        span: s.span,
    });
    let mut position = 0;
    for (variable, shape) in shapes {
        let mut paths = Vec::new();
        shape.for_each_leaf(&mut Vec::new(), &mut |path, _| paths.push(path.to_vec()));
        let ctx = &mut *executor.ctx;
        let value = shape.map_leaves(&mut |t| {
            let list: Vec<ExprId> = (0..t.len())
                .map(|k| {
                    ctx.exprs
                        .apply(func, &args, position + k as u32, &[], t.ty.ty())
                })
                .collect();
            position += t.len() as u32;
            Tensor::from_elements(&mut ctx.exprs, t.ty, &t.dims, &list)
        });
        executor.set(variable, value);
        for path in paths {
            executor.writes.push(Write {
                variable,
                path,
                positions: None,
            });
        }
    }
    Ok(())
}

fn elements(ctx: &mut Context, value: &Value, out: &mut Vec<ExprId>) {
    let mut leaves = Vec::new();
    value.for_each_leaf(&mut Vec::new(), &mut |_, t| leaves.push(t.clone()));
    for t in leaves {
        out.extend(t.elements(&mut ctx.exprs));
    }
}

/// Iterators of the arrays of components around the section: they stand outside of the function.
fn outer_iterators(ctx: &Context, arrays: &[(InstId, Vec<ExprId>)]) -> FxHashSet<IterId> {
    let subs: Vec<ExprId> = arrays.iter().flat_map(|a| a.1.iter().copied()).collect();
    let nodes = ctx.exprs.reachable(&subs);
    nodes
        .into_iter()
        .filter_map(|n| match ctx.exprs.node(n) {
            Node::Iter(i) => Some(i),
            _ => None,
        })
        .collect()
}

/// A block of elements of a variable: fixed subscripts, and whole dimensions where there is none.
type Block = (VarId, ValueKind, Vec<Option<ExprId>>);

/// What a body reads from the model.
struct Reads {
    /// Frame scalars before the new inputs; later ones move up.
    own: u32,
    /// Single values and their places.
    single: IndexMap<ExprId, u32, FxBuildHasher>,
    /// Blocks with their place and the sizes of their whole dimensions.
    blocks: IndexMap<Block, (u32, Vec<usize>), FxBuildHasher>,
    /// Number of new inputs.
    count: u32,
    outer: FxHashSet<IterId>,
}

impl Reads {
    fn collect(
        ctx: &mut Context,
        body: &[Run],
        own: u32,
        outer: &FxHashSet<IterId>,
    ) -> Result<Reads> {
        let mut reads = Reads {
            own,
            single: IndexMap::default(),
            blocks: IndexMap::default(),
            count: 0,
            outer: outer.clone(),
        };
        let mut roots = Vec::new();
        expressions(body, &mut roots);
        for e in ctx.exprs.reachable(&roots) {
            if reads.is_single(ctx, e) {
                let place = own + reads.count;
                if reads.single.insert(e, place).is_none() {
                    reads.count += 1;
                }
            } else if let Node::Var(access) = ctx.exprs.node(e) {
                let key = reads.block(ctx, access);
                if reads.blocks.contains_key(&key) {
                    continue;
                }
                let sizes = sizes(ctx, access.var)?;
                let open: Vec<usize> = sizes
                    .iter()
                    .zip(&key.2)
                    .filter(|(_, s)| s.is_none())
                    .map(|(&n, _)| n)
                    .collect();
                let len: usize = open.iter().product();
                reads.blocks.insert(key, (own + reads.count, open));
                reads.count += len as u32;
            }
        }
        Ok(reads)
    }

    /// A value that is the same wherever the body uses it.
    fn is_single(&self, ctx: &Context, e: ExprId) -> bool {
        match ctx.exprs.node(e) {
            Node::Time => true,
            Node::Var(access) => ctx
                .exprs
                .list(access.subs)
                .iter()
                .all(|&s| self.is_fixed(ctx, s)),
            Node::Call(f, l) => {
                let special = matches!(
                    f,
                    Builtin::Start
                        | Builtin::Edge
                        | Builtin::Change
                        | Builtin::Initial
                        | Builtin::Terminal
                        | Builtin::Sample
                        | Builtin::Delay
                        | Builtin::Spatial
                );
                special && ctx.exprs.list(l).iter().all(|&a| self.is_fixed(ctx, a))
            }
            _ => false,
        }
    }

    fn is_fixed(&self, ctx: &Context, e: ExprId) -> bool {
        !ctx.exprs.any(e, |x, n| match x.node(n) {
            Node::Local { .. } => true,
            Node::Iter(i) => !self.outer.contains(&i),
            _ => false,
        })
    }

    fn block(&self, ctx: &Context, access: Access) -> Block {
        let subs = ctx.exprs.list(access.subs).to_vec();
        let subs = subs
            .into_iter()
            .map(|s| self.is_fixed(ctx, s).then_some(s))
            .collect();
        (access.var, access.kind, subs)
    }

    /// The arguments for the new inputs, in order of their places.
    fn args(&self, ctx: &mut Context) -> Vec<ExprId> {
        let zero = ctx.exprs.int(0);
        let mut args = vec![zero; self.count as usize];
        for (&e, &place) in &self.single {
            args[(place - self.own) as usize] = e;
        }
        for ((var, kind, subs), (place, open)) in &self.blocks {
            let ty = ctx.var_insts.get(var.index()).copied();
            let ty = ty
                .and_then(|i| ctx.primitive_type(i))
                .map_or(Ty::Real, |t| t.ty());
            let len: usize = open.iter().product();
            for k in 0..len {
                let mut indices = super::subscripts(open, k).into_iter();
                let mut full = Vec::with_capacity(subs.len());
                for s in subs {
                    full.push(match s {
                        Some(e) => *e,
                        None => {
                            let i = indices.next().expect("one for each open dimension");
                            ctx.exprs.int(i)
                        }
                    });
                }
                args[(place - self.own) as usize + k] = ctx.exprs.var(*var, *kind, &full, ty);
            }
        }
        args
    }

    /// Puts the new inputs in place of what the body read.
    fn replace(&self, ctx: &mut Context, body: &mut [Run]) {
        map(
            body,
            &mut |place| shifted(place, self.own, self.count),
            &mut |e| {
                let moved = ctx.exprs.rewrite(e, |x, n| match x.node(n) {
                    // Only offsets that hold no other places are moved here; the others follow with their parents.
                    Node::Local { base, len, offset } if base >= self.own => {
                        let ty = x.ty(n);
                        let offset = self.moved(x, offset);
                        Some(x.local(base + self.count, len, offset, ty))
                    }
                    _ => None,
                });
                self.inputs(ctx, moved)
            },
        );
    }

    /// An offset with its own places moved. Offsets nest as deep as subscripts do in the source.
    fn moved(&self, x: &mut acausal_expr::Exprs, e: ExprId) -> ExprId {
        x.rewrite(e, |x, n| match x.node(n) {
            Node::Local { base, len, offset } if base >= self.own => {
                let ty = x.ty(n);
                let offset = self.moved(x, offset);
                Some(x.local(base + self.count, len, offset, ty))
            }
            _ => None,
        })
    }

    fn inputs(&self, ctx: &mut Context, root: ExprId) -> ExprId {
        let mut e = root;
        // A subscript may read a variable itself: each round replaces one level.
        loop {
            let mut found: Vec<(ExprId, ExprId)> = Vec::new();
            for n in ctx.exprs.reachable(&[e]) {
                let ty = ctx.exprs.ty(n);
                if let Some(&place) = self.single.get(&n) {
                    let zero = ctx.exprs.int(0);
                    found.push((n, ctx.exprs.local(place, 1, zero, ty)));
                } else if let Node::Var(access) = ctx.exprs.node(n) {
                    let key = self.block(ctx, access);
                    let Some((place, open)) = self.blocks.get(&key) else {
                        continue;
                    };
                    let subs = ctx.exprs.list(access.subs).to_vec();
                    let x = &mut ctx.exprs;
                    let mut offset = x.int(0);
                    let one = x.int(1);
                    let moving = subs.iter().zip(&key.2).filter(|(_, s)| s.is_none());
                    for ((&s, _), &n) in moving.zip(open) {
                        let n = x.int(n as i64);
                        let rows = x.mul(&[offset, n]);
                        let k = x.sub(s, one);
                        offset = x.add(&[rows, k]);
                    }
                    let len: usize = open.iter().product();
                    found.push((n, x.local(*place, len as u32, offset, ty)));
                }
            }
            if found.is_empty() {
                return e;
            }
            e = ctx
                .exprs
                .rewrite(e, |_, n| found.iter().find(|f| f.0 == n).map(|f| f.1));
        }
    }
}

fn shifted(place: u32, own: u32, count: u32) -> u32 {
    if place >= own { place + count } else { place }
}

/// Sizes of a flat variable: of the arrays of components around it, then its own.
fn sizes(ctx: &mut Context, var: VarId) -> Result<Vec<usize>> {
    let Some(&inst) = ctx.var_insts.get(var.index()) else {
        let message = "a variable of the compiler is read in an algorithm";
        return Err(Error::unsupported(acausal_base::Span::NONE, message));
    };
    let mut out = Vec::new();
    for array in ctx.enclosing_arrays(inst) {
        out.extend(ctx.dims(array)?);
    }
    out.extend(ctx.dims(inst)?);
    Ok(out)
}

/// All expressions of statements. Recursion is over the nesting of statements, which the parser bounds.
fn expressions(body: &[Run], out: &mut Vec<ExprId>) {
    for s in body {
        match s {
            Run::Assign { target, value } => out.extend([*target, *value]),
            Run::If {
                branches,
                otherwise,
            } => {
                for (c, b) in branches {
                    out.push(*c);
                    expressions(b, out);
                }
                expressions(otherwise, out);
            }
            Run::While { condition, body } => {
                out.push(*condition);
                expressions(body, out);
            }
            Run::For {
                start,
                step,
                stop,
                body,
                ..
            } => {
                out.extend([*start, *step, *stop]);
                expressions(body, out);
            }
            Run::Assert { condition, .. } => out.push(*condition),
            Run::Break | Run::Return => {}
        }
    }
}

/// Rewrites frame places of iterators and all expressions.
fn map(body: &mut [Run], place: &mut impl FnMut(u32) -> u32, f: &mut impl FnMut(ExprId) -> ExprId) {
    for s in body {
        match s {
            Run::Assign { target, value } => {
                *target = f(*target);
                *value = f(*value);
            }
            Run::If {
                branches,
                otherwise,
            } => {
                for (c, b) in branches {
                    *c = f(*c);
                    map(b, place, f);
                }
                map(otherwise, place, f);
            }
            Run::While { condition, body } => {
                *condition = f(*condition);
                map(body, place, f);
            }
            Run::For {
                iterator,
                start,
                step,
                stop,
                body,
            } => {
                *iterator = place(*iterator);
                *start = f(*start);
                *step = f(*step);
                *stop = f(*stop);
                map(body, place, f);
            }
            Run::Assert { condition, .. } => *condition = f(*condition),
            Run::Break | Run::Return => {}
        }
    }
}
