//! The sparse Jacobian by the chain rule over kernels.
//!
//! Each item (residual or local assignment) has a *partial kernel* that computes its derivatives with respect to the
//! accesses in it. The Jacobian row of a residual is the sum over its accesses of partial × row of what is accessed:
//! a unit vector for an unknown, `cj` times a unit vector for a derivative, and for a local assignment the row that was
//! put together before. All of this is multiply-adds `acc[dst] += partial[p] * acc[src]`, made once (`acausal-compiled`, `schedule`);
//! `acc[0] = 1` and `acc[1] = cj` stand for the unit vectors. An array equation gives a few long runs of them. A partial
//! derivative that is the same for all points of an array equation (a literal, a parameter) is kept and computed once. The
//! pattern is exact and the cost of an evaluation is the number of these operations.

use acausal_compiled::{ItemRows, Jacobian, JacobianColumns};
use std::sync::Arc;

use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Access, ExprId, IterId, Node, Range, ValueKind};
use acausal_jit::kernel::{Address, Bank, Call, Store};
use acausal_symbolic::Gradient;

use crate::CodegenError;
use crate::address::domain_len;
use crate::items::{Item, merge};
use crate::lower::Lowering;
use crate::plan::{Plan, ShapeGroup, Work};
use acausal_compiled::Locations;
use acausal_compiled::MatrixSize;

impl Lowering<'_> {
    /// The Jacobian of residual items (targets in bank `Out`, rows from 0) through the local items.
    pub fn jacobian(
        &mut self,
        locals: &[&Plan],
        residuals: &[&Plan],
        rows: usize,
        columns: JacobianColumns,
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
        columns: JacobianColumns,
    ) -> Result<Jacobian, CodegenError> {
        let size = MatrixSize {
            n: self.layout.n,
            rows,
        };
        let mut jac = Jacobian::new(size, columns);
        jac.constants = base.constants.clone();
        jac.partials_len = base.partials_len;
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
        batch: &ShapeGroup,
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
            && matches!(item.target, crate::items::ItemTarget::Consecutive(..))
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
            a.kind != ValueKind::Pre
                && (!vars[a.var.index()].is_discrete() || unknown.contains(&a.var))
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
                (Store::Min | Store::Max, crate::items::ItemTarget::Access(result)) => {
                    // The extremum moves with the member that attains it.
                    let result = exprs.access(result, acausal_expr::Ty::Real);
                    let hit = exprs.rel(acausal_expr::RelOp::Eq, body, result);
                    let hit = exprs.no_event(hit);
                    let zero = exprs.real(0.0);
                    partial = exprs.if_(hit, partial, zero);
                }
                (Store::Mul, crate::items::ItemTarget::Access(result)) => {
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
