//! The sparse Jacobian by the chain rule over kernels.
//!
//! Each item (residual or local assignment) has a *partial kernel* that computes its derivatives with respect to the
//! accesses in it. The Jacobian row of a residual is the sum over its accesses of partial × row of what is accessed:
//! a unit vector for an unknown, `cj` times a unit vector for a derivative, and for a local assignment the row that was
//! put together before. All of this is multiply-adds `acc[dst] += partial[p] * acc[src]`, made once ([`crate::schedule`]);
//! `acc[0] = 1` and `acc[1] = cj` stand for the unit vectors. An array equation gives a few long runs of them. A partial
//! derivative that is the same for all points of an array equation (a literal, a parameter) is kept and computed once. The
//! pattern is exact and the cost of an evaluation is the number of these operations.

use std::sync::{Arc, OnceLock};

use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Access, ExprId, IterId, Kind, Node, Range};
use acausal_jit::kernel::{Address, Bank, Call, Program, Store};
use acausal_symbolic::Gradient;

use crate::CodegenError;
use crate::address::{Locations, domain_len};
use crate::items::{Item, merge};
use crate::lower::Lowering;
use crate::plan::{Batch, Plan, Work};
use crate::schedule::{Schedule, Size, schedule};

/// Compressed sparse columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sparsity {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Start of each column in `row_idx`, and the end of the last.
    pub col_ptr: Vec<u32>,
    /// Rows, ascending in each column.
    pub row_idx: Vec<u32>,
}

impl Sparsity {
    /// The places of the entries of a column.
    pub fn entries(&self, column: usize) -> std::ops::Range<usize> {
        self.col_ptr[column] as usize..self.col_ptr[column + 1] as usize
    }
}

/// How a Jacobian is put together.
#[derive(Clone, Debug, Default)]
pub struct Jacobian {
    /// Computes the partial derivatives that change, into bank `Out`.
    pub partials: Program,
    /// Partial derivatives that are literals: where, and the value.
    pub constants: Vec<(usize, f64)>,
    /// Number of partial derivatives.
    pub partials_len: usize,
    /// Rows of all items, those of local assignments first.
    items: Vec<Arc<ItemRows>>,
    /// Number of items that are local assignments.
    locals: usize,
    size: Size,
    columns: Columns,
    /// Place of a partial derivative that is 1, where there are unknowns in `Mem`.
    one: usize,
    /// Made when it is first asked for.
    schedule: OnceLock<Schedule>,
}

/// `acc[dst + j*dst_step] += partial[partial + j*partial_step] * acc[src + j*src_step]` for `j` in `0..count`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MulAdds {
    /// Number of multiply-adds.
    pub count: u32,
    /// Which row of its block the first one belongs to.
    pub row: u32,
    /// What was there before does not count: the product is put there, not added.
    pub sets: bool,
    /// First entry that is filled, in the accumulator or among the values of the pattern.
    pub dst: u32,
    /// First partial derivative.
    pub partial: u32,
    /// 1, or 0 if all have the same.
    pub partial_step: u32,
    /// First entry of a row that is complete, or one of the two units; in the accumulator.
    pub src: u32,
    /// Distance of entries that are filled.
    pub dst_step: i32,
    /// Distance of entries that are read.
    pub src_step: i32,
}

/// What the columns of a Jacobian are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// `dF/dx + cj*dF/dx'`: n columns.
    #[default]
    Combined,
    /// For consistent values with known states: `dF/dx'` for those, `dF/dx` for the others; n columns.
    Consistent {
        /// `(first, end)` of the components of `x` that are known, ascending.
        known: Vec<(usize, usize)>,
    },
    /// `dF/dx`, `dF/dx'` and derivatives with respect to places in `Mem` side by side, for initialisation.
    Separate {
        /// Number of unknowns.
        n: usize,
        /// `(first, number)` of the places in `Mem`.
        units: Vec<(usize, usize)>,
    },
}

impl Columns {
    /// Number of columns for `n` unknowns.
    pub(crate) fn count(&self, n: usize) -> usize {
        match self {
            Columns::Combined | Columns::Consistent { .. } => n,
            Columns::Separate { units, .. } => 2 * n + units.iter().map(|u| u.1).sum::<usize>(),
        }
    }

    /// The column of a component of `x` or `x'` and the entry of the accumulator that is its unit; nothing if it is known. And the
    /// range of components for which this holds, each with the column next to that of its neighbour.
    #[inline]
    pub(crate) fn of(&self, bank: Bank, index: usize) -> (Option<(usize, u32)>, (usize, usize)) {
        let all = (0, usize::MAX);
        match (self, bank) {
            (Columns::Combined, Bank::Yp) => (Some((index, 1)), all),
            (Columns::Consistent { known }, Bank::Y) => {
                let after = known.partition_point(|r| r.0 <= index);
                let end = known.get(after).map_or(usize::MAX, |r| r.0);
                match after.checked_sub(1).map(|k| known[k]) {
                    Some(range) if index < range.1 => (None, range),
                    before => (Some((index, 0)), (before.map_or(0, |r| r.1), end)),
                }
            }
            (Columns::Separate { n, .. }, Bank::Yp) => (Some((n + index, 0)), all),
            _ => (Some((index, 0)), all),
        }
    }
}

/// Rows of one item: where its target lies and which partials belong to which access.
#[derive(Debug)]
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
        columns: Columns,
    ) -> Result<Jacobian, CodegenError> {
        self.jacobian_beyond(&Jacobian::default(), locals, residuals, rows, columns)
    }

    /// The same with more local items and residuals than another one, whose partial derivatives are taken over.
    pub fn jacobian_beyond(
        &mut self,
        base: &Jacobian,
        locals: &[&Plan],
        residuals: &[&Plan],
        rows: usize,
        columns: Columns,
    ) -> Result<Jacobian, CodegenError> {
        let mut jac = Jacobian {
            constants: base.constants.clone(),
            partials_len: base.partials_len,
            size: Size {
                n: self.layout.n,
                rows,
            },
            columns,
            ..Jacobian::default()
        };
        let (base_locals, base_residuals) = base.items.split_at(base.locals);
        let mut items = base_locals.to_vec();
        items.extend(self.rows_of(locals, &mut jac)?);
        jac.locals = items.len();
        items.extend_from_slice(base_residuals);
        items.extend(self.rows_of(residuals, &mut jac)?);
        jac.items = items;
        let more = merge(std::mem::take(&mut jac.partials));
        jac.partials = base.partials.iter().cloned().chain(more).collect();
        jac.add_unit();
        Ok(jac)
    }

    /// The rows of the items of plans; their partial derivatives become part of the Jacobian.
    fn rows_of(
        &mut self,
        plans: &[&Plan],
        jac: &mut Jacobian,
    ) -> Result<Vec<Arc<ItemRows>>, CodegenError> {
        let mut items = Vec::new();
        for work in plans.iter().flat_map(|plan| &plan.works) {
            items.push(Arc::new(match work {
                Work::One(item) => self.partials_of(item, jac)?,
                Work::Batch(batch) => self.batch_partials(batch, jac)?,
            }));
        }
        Ok(items)
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
        // Partial derivatives are numbered by 32 bits.
        if count > u32::MAX as usize {
            return Err(CodegenError::TooDense {
                points: count as u64,
                origin: item.origin,
            });
        }
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
    /// A partial derivative that is 1, for the rows of unknowns in `Mem`.
    fn add_unit(&mut self) {
        if matches!(&self.columns, Columns::Separate { units, .. } if !units.is_empty()) {
            self.one = self.partials_len;
            self.constants.push((self.one, 1.0));
            self.partials_len += 1;
        }
    }

    /// The pattern and the multiply-adds.
    pub fn schedule(&self) -> &Schedule {
        self.schedule
            .get_or_init(|| self.schedule_of(&self.columns))
    }

    /// Those of the same rows with other columns.
    pub(crate) fn schedule_of(&self, columns: &Columns) -> Schedule {
        let items = self.items.iter().map(|i| &**i);
        schedule(items, self.size, columns, self.one)
    }

    /// The pattern.
    pub fn sparsity(&self) -> &Sparsity {
        &self.schedule().sparsity
    }

    /// Partial derivatives that never change, written once.
    pub fn fill_constants(&self, partials: &mut [f64]) {
        for &(place, v) in &self.constants {
            partials[place] = v;
        }
    }
}
