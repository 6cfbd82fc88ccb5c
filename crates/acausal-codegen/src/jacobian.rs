//! The sparse Jacobian by the chain rule over kernels.
//!
//! Each item (residual or local assignment) has a *partial kernel* that computes its derivatives with respect to the
//! accesses in it. The Jacobian row of a residual is the sum over its accesses of partial × row of what is accessed:
//! a unit vector for an unknown, `cj` times a unit vector for a derivative, and for a local assignment the row that was
//! put together before. All of this is multiply-adds `acc[dst] += partial[p] * acc[src]`, made once ([`crate::schedule`]);
//! `acc[0] = 1` and `acc[1] = cj` stand for the unit vectors. An array equation gives a few long runs of them. A partial
//! derivative that is the same for all points of an array equation (a literal, a parameter) is kept and computed once. The
//! pattern is exact and the cost of an evaluation is the number of these operations.

use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Access, ExprId, IterId, Kind, Node, Range};
use acausal_jit::kernel::{Address, Bank, Call, Program, Store};

use crate::CodegenError;
use crate::address::{Locations, domain_len};
use crate::items::{Item, merge};
use crate::lower::Lowering;
use crate::plan::{Batch, Plan, Work};
use crate::schedule::schedule;

/// Compressed sparse columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sparsity {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Start of each column in `row_idx`, and the end of the last.
    pub col_ptr: Vec<usize>,
    /// Rows, ascending in each column.
    pub row_idx: Vec<u32>,
}

/// How the Jacobian is put together.
#[derive(Clone, Debug, Default)]
pub struct Jacobian {
    /// Computes the partial derivatives that change, into bank `Out`.
    pub partials: Program,
    /// Partial derivatives that are literals: where, and the value.
    pub constants: Vec<(usize, f64)>,
    /// Number of partial derivatives.
    pub partials_len: usize,
    /// The multiply-adds, in order.
    pub runs: Vec<MulAdds>,
    /// Length of the accumulator: two units, the rows of local assignments, then the values of the pattern.
    pub acc_len: usize,
    /// Where the values of the pattern start in the accumulator.
    pub values: usize,
    /// The pattern.
    pub sparsity: Sparsity,
}

/// `acc[dst + j*dst_step] += partial[partial + j*partial_step] * acc[src + j*src_step]` for `j` in `0..count`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MulAdds {
    /// Number of multiply-adds.
    pub count: u32,
    /// First accumulated entry.
    pub dst: u32,
    /// First partial derivative.
    pub partial: u32,
    /// 1, or 0 if all have the same.
    pub partial_step: u32,
    /// First entry of a row that is complete, or one of the two units.
    pub src: u32,
    /// Distance of accumulated entries.
    pub dst_step: i32,
    /// Distance of entries that are read.
    pub src_step: i32,
}

/// What the columns of the Jacobian are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns<'a> {
    /// `dF/dx + cj*dF/dx'`: n columns.
    Combined,
    /// `dF/dx`, `dF/dx'` and derivatives with respect to places in `Mem` side by side, for initialisation.
    Separate {
        /// `(first, number)` of the places in `Mem`.
        units: &'a [(usize, usize)],
    },
}

/// Rows of one item: where its target lies and which partials belong to which access.
pub(crate) struct ItemRows {
    /// Where the value lies, point by point.
    pub target: Locations,
    /// Per access: location of the accessed scalar and its partial derivatives.
    pub accesses: Vec<(Locations, Partials)>,
    /// Number of points.
    pub count: usize,
    /// No point reads the value of another one.
    pub independent: bool,
}

/// The partial derivatives of one access, point by point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Partials {
    /// The first.
    pub first: usize,
    /// 1, or 0 if all points have the same.
    pub step: usize,
}

impl Jacobian {
    /// Room for the partial derivatives of an access at `count` points, or for one that all have in common.
    fn partials_for(&mut self, count: usize, common: bool) -> Partials {
        let first = self.partials_len;
        self.partials_len += if common { 1 } else { count };
        let step = usize::from(!common);
        Partials { first, step }
    }
}

impl Lowering<'_> {
    /// The Jacobian of residual items (targets in bank `Out`, rows from 0) through the local items.
    pub fn jacobian(
        &mut self,
        locals: &[&Plan],
        residuals: &[&Plan],
        rows: usize,
        columns: Columns<'_>,
    ) -> Result<Jacobian, CodegenError> {
        let mut jac = Jacobian::default();
        let mut item_rows = Vec::new();
        let plans = locals.iter().chain(residuals);
        for work in plans.flat_map(|plan| &plan.works) {
            item_rows.push(match work {
                Work::One(item) => self.partials_of(item, &mut jac)?,
                Work::Batch(batch) => self.batch_partials(batch, &mut jac)?,
            });
        }
        jac.partials = merge(std::mem::take(&mut jac.partials));
        schedule(
            &mut jac,
            &item_rows,
            self.layout.mem_len,
            self.layout.n,
            rows,
            columns,
        );
        Ok(jac)
    }

    fn batch_partials(
        &mut self,
        batch: &Batch,
        jac: &mut Jacobian,
    ) -> Result<ItemRows, CodegenError> {
        let partials = self.shape_partials(batch.shape)?;
        let count = batch.targets.len();
        let mut outputs = Vec::new();
        let mut accesses = Vec::new();
        for &(leaf, literal) in &partials.entries {
            let partials = jac.partials_for(count, literal.is_some());
            match literal {
                Some(v) => jac.constants.push((partials.first, v)),
                None => outputs.push((
                    Address::Affine {
                        bank: Bank::Out,
                        base: partials.first,
                        stride: 1,
                    },
                    Store::Set,
                )),
            }
            let leaf = batch.leaves[leaf as usize].clone();
            accesses.push((Locations::List(leaf), partials));
        }
        if let Some((kernel, leaves)) = &partials.kernel {
            jac.partials.push(Call {
                kernel: *kernel,
                count,
                slots: batch.slots(leaves),
                outputs,
            });
        }
        Ok(ItemRows {
            target: Locations::List(batch.targets.clone()),
            accesses,
            count,
            independent: true,
        })
    }

    fn partials_of(&mut self, item: &Item, jac: &mut Jacobian) -> Result<ItemRows, CodegenError> {
        let x = self.expand(item);
        let count = domain_len(&x.domain);
        let target = if x.neutral.is_some()
            && matches!(item.target, crate::items::Target::Consecutive(..))
        {
            return Err(CodegenError::Expression {
                expr: item.value,
                origin: item.origin,
            });
        } else {
            self.locate_target(item.target, &x.domain, item.origin)?
        };
        let gradient = self.active_gradient(item, &x)?;
        // What differs from point to point, and what all points have in common.
        let mut each = (Vec::new(), Vec::new());
        let mut common = (Vec::new(), Vec::new());
        let mut accesses = Vec::new();
        for (access, partial) in gradient {
            let place =
                self.layout
                    .place((access.var, access.kind))
                    .ok_or(CodegenError::Unassigned {
                        access,
                        origin: item.origin,
                    })?;
            let locations =
                crate::address::locate(self.flat, place, &x.domain, access, item.origin)?;
            let literal = self.flat.exprs.as_f64(partial);
            let shared = literal.is_some() || self.is_common(partial, &x.domain);
            let partials = jac.partials_for(count, shared);
            match literal {
                Some(v) => jac.constants.push((partials.first, v)),
                None => {
                    let (outputs, places) = if shared { &mut common } else { &mut each };
                    outputs.push(partial);
                    places.push(Locations::Strided {
                        bank: Bank::Out,
                        base: partials.first,
                        stride: 1,
                    });
                }
            }
            accesses.push((locations, partials));
        }
        for ((outputs, places), domain) in [(each, &x.domain[..]), (common, &[])] {
            if outputs.is_empty() || count == 0 {
                continue;
            }
            self.new_cells = false;
            let lowered = self.lower(domain, &outputs, item.origin);
            self.new_cells = true;
            let lowered = lowered?;
            let calls = self.outputs_calls(&lowered, domain, places, item.origin)?;
            jac.partials.extend(calls);
        }
        Ok(ItemRows {
            target,
            accesses,
            count,
            independent: false,
        })
    }

    /// Whether a partial derivative is the same at all points of a domain. Those with relations are left out: their cells
    /// belong to points.
    fn is_common(&self, partial: ExprId, domain: &[(IterId, Range)]) -> bool {
        let exprs = &self.flat.exprs;
        let plain = |&n: &ExprId| {
            !matches!(
                exprs.node(n),
                Node::Rel(..) | Node::If(..) | Node::Reduce { .. }
            )
        };
        exprs.reachable(&[partial]).iter().all(plain)
            && domain.iter().all(|d| !exprs.depends_on_iter(partial, d.0))
    }

    /// The gradient with respect to accesses that depend on the unknowns.
    pub fn active_gradient(
        &mut self,
        item: &Item,
        x: &crate::items::Expanded,
    ) -> Result<Vec<(Access, ExprId)>, CodegenError> {
        let body = self.static_body(x.body, item.origin)?;
        let flat: &mut FlatModel = self.flat;
        let vars = &flat.vars;
        let unknown = &self.active;
        let active = |a: Access| {
            a.kind != Kind::Pre && (!vars[a.var.index()].is_discrete() || unknown.contains(&a.var))
        };
        let mut exprs = std::mem::take(&mut flat.exprs);
        let gradient = exprs.gradient(body, |e, n| matches!(e.node(n), Node::Var(_)));
        let mut out = Vec::new();
        for (leaf, mut partial) in gradient {
            let Node::Var(access) = exprs.node(leaf) else {
                continue;
            };
            if !active(access) {
                continue;
            }
            match (x.store, item.target) {
                (Store::Add | Store::Set, _) => {}
                (Store::Min | Store::Max, crate::items::Target::Access(result)) => {
                    // The extremum moves with the member that attains it.
                    let result = exprs.access(result, acausal_expr::Ty::Real);
                    let hit = exprs.rel(acausal_expr::RelOp::Eq, body, result);
                    let hit = exprs.no_event(hit);
                    let zero = exprs.real(0.0);
                    partial = exprs.if_(hit, partial, zero);
                }
                (Store::Mul, crate::items::Target::Access(result)) => {
                    let result = exprs.access(result, acausal_expr::Ty::Real);
                    let rest = exprs.div(result, body);
                    partial = exprs.mul(&[rest, partial]);
                }
                _ => {}
            }
            out.push((access, partial));
        }
        flat.exprs = exprs;
        Ok(out)
    }

    fn static_body(&mut self, body: ExprId, origin: OriginId) -> Result<ExprId, CodegenError> {
        self.resolve_dynamic(body, origin)
    }
}

impl Jacobian {
    /// Partial derivatives that never change, written once.
    pub fn fill_constants(&self, partials: &mut [f64]) {
        for &(place, v) in &self.constants {
            partials[place] = v;
        }
    }

    /// Runs the multiply-adds. `one` and `cj` are the units of `x` and `x'`.
    pub fn accumulate(&self, partials: &[f64], one: f64, cj: f64, acc: &mut [f64]) {
        acc.fill(0.0);
        acc[0] = one;
        acc[1] = cj;
        for run in &self.runs {
            let (mut dst, mut src) = (run.dst as usize, run.src as usize);
            let mut partial = run.partial as usize;
            if run.src_step == 0 && run.partial_step == 0 {
                let increment = partials[partial] * acc[src];
                for _ in 0..run.count {
                    acc[dst] += increment;
                    dst = dst.wrapping_add_signed(run.dst_step as isize);
                }
                continue;
            }
            for _ in 0..run.count {
                acc[dst] += partials[partial] * acc[src];
                dst = dst.wrapping_add_signed(run.dst_step as isize);
                src = src.wrapping_add_signed(run.src_step as isize);
                partial += run.partial_step as usize;
            }
        }
    }
}
