//! The sparse Jacobian by the chain rule over kernels.
//!
//! Each item (residual or local assignment) has a *partial kernel* that computes its derivatives with respect to the
//! accesses in it. The Jacobian row of a residual is the sum over its accesses of partial × row of what is accessed:
//! a unit vector for an unknown, `cj` times a unit vector for a derivative, and for a local assignment the row that was
//! put together before. All of this is one list of multiply-adds `acc[dst] += partial[p] * acc[src]`, made once;
//! `acc[0] = 1` and `acc[1] = cj` stand for the unit vectors. The pattern is exact and the cost of an evaluation is the
//! number of these operations.

use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Access, ExprId, Kind, Node};
use acausal_jit::kernel::{Bank, Program};

use crate::CodegenError;
use crate::address::{Locations, domain_len};
use crate::items::{Item, merge};
use crate::layout::Loc;
use crate::lower::Lowering;

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
    /// Partial derivatives that are literals: `(first, count, value)`.
    pub constants: Vec<(usize, usize, f64)>,
    /// Number of partial derivatives.
    pub partials_len: usize,
    /// The multiply-adds, in order.
    pub ops: Vec<MulAdd>,
    /// Length of the accumulator: two units, the rows of local assignments, then the values of the pattern.
    pub acc_len: usize,
    /// Where the values of the pattern start in the accumulator.
    pub values: usize,
    /// The pattern.
    pub sparsity: Sparsity,
}

/// `acc[dst] += partial[p] * acc[src]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MulAdd {
    /// Accumulated entry.
    pub dst: u32,
    /// Partial derivative.
    pub partial: u32,
    /// Entry of a row that is complete, or one of the two units.
    pub src: u32,
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
struct ItemRows {
    target: Locations,
    /// Per access: location of the accessed scalar and first partial derivative.
    accesses: Vec<(Locations, usize)>,
    count: usize,
}

impl Lowering<'_> {
    /// The Jacobian of residual items (targets in bank `Out`, rows from 0) through the local items.
    pub fn jacobian(
        &mut self,
        locals: &[Item],
        residuals: &[Item],
        rows: usize,
        columns: Columns<'_>,
    ) -> Result<Jacobian, CodegenError> {
        let mut jac = Jacobian::default();
        let mut item_rows = Vec::new();
        for item in locals.iter().chain(residuals) {
            item_rows.push(self.partials_of(item, &mut jac)?);
        }
        jac.partials = merge(std::mem::take(&mut jac.partials));
        let n = self.layout.n;
        let cols = match columns {
            Columns::Combined => n,
            Columns::Separate { units } => 2 * n + units.iter().map(|u| u.1).sum::<usize>(),
        };
        schedule(
            &mut jac,
            &item_rows,
            self.layout.mem_len,
            n,
            rows,
            cols,
            columns,
        );
        Ok(jac)
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
        let mut outputs = Vec::new();
        let mut places = Vec::new();
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
            let first = jac.partials_len;
            jac.partials_len += count;
            match self.flat.exprs.as_f64(partial) {
                Some(v) => jac.constants.push((first, count, v)),
                None => {
                    outputs.push(partial);
                    places.push(Locations::Strided {
                        bank: Bank::Out,
                        base: first,
                        stride: 1,
                    });
                }
            }
            accesses.push((locations, first));
        }
        if !outputs.is_empty() && count > 0 {
            self.new_cells = false;
            let lowered = self.lower(&x.domain, &outputs, item.origin);
            self.new_cells = true;
            let lowered = lowered?;
            let calls = self.outputs_calls(&lowered, &x.domain, places, item.origin)?;
            jac.partials.extend(calls);
        }
        Ok(ItemRows {
            target,
            accesses,
            count,
        })
    }

    /// The gradient with respect to accesses that depend on the unknowns.
    fn active_gradient(
        &mut self,
        item: &Item,
        x: &crate::items::Expanded,
    ) -> Result<Vec<(Access, ExprId)>, CodegenError> {
        use acausal_jit::kernel::Store;
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

/// Row of a local assignment: entries `first..first+len` of the column list.
#[derive(Clone, Copy, Default)]
struct LocalRow {
    first: u32,
    len: u32,
}

/// Collects the entries of one row; each column once.
struct RowBuilder {
    /// Per column: stamp of the row that used it last, and its entry there.
    mark: Vec<(u32, u32)>,
    stamp: u32,
}

impl RowBuilder {
    fn entry(&mut self, col: usize, next: &mut u32, cols: &mut Vec<u32>) -> u32 {
        if self.mark[col].0 != self.stamp {
            self.mark[col] = (self.stamp, *next);
            cols.push(col as u32);
            *next += 1;
        }
        self.mark[col].1
    }
}

fn schedule(
    jac: &mut Jacobian,
    items: &[ItemRows],
    mem_len: usize,
    n: usize,
    rows: usize,
    cols: usize,
    columns: Columns<'_>,
) {
    const UNITS: u32 = 2;
    let mut local_rows: Vec<LocalRow> = vec![LocalRow::default(); mem_len];
    let mut entry_cols: Vec<u32> = Vec::new();
    let mut row_start: Vec<u32> = vec![0; rows + 1];
    let mut builder = RowBuilder {
        mark: vec![(0, 0); cols],
        stamp: 0,
    };
    let mut next = UNITS;
    let mut current: Option<Loc> = None;
    let mut current_first = UNITS;
    let mut row_of_entry: Vec<(u32, u32)> = Vec::new(); // (row, first entry) of residual rows, in order
    if let Columns::Separate { units } = columns
        && !units.is_empty()
    {
        // The row of an unknown in `Mem` is a unit vector, like that of a local assignment with one entry.
        let one = jac.partials_len as u32;
        jac.constants.push((one as usize, 1, 1.0));
        jac.partials_len += 1;
        let places = units.iter().flat_map(|&(first, len)| first..first + len);
        for (k, place) in places.enumerate() {
            local_rows[place] = LocalRow {
                first: next,
                len: 1,
            };
            entry_cols.push((2 * n + k) as u32);
            jac.ops.push(MulAdd {
                dst: next,
                partial: one,
                src: 0,
            });
            next += 1;
        }
        current_first = next;
    }
    for item in items {
        for j in 0..item.count {
            let target = item.target.at(j);
            if current != Some(target) {
                finish_row(
                    current,
                    current_first,
                    next,
                    &mut local_rows,
                    &mut row_of_entry,
                );
                builder.stamp += 1;
                current = Some(target);
                current_first = next;
            }
            for (locations, first) in &item.accesses {
                let source = locations.at(j);
                let partial = (first + j) as u32;
                match source.bank() {
                    Bank::Y => {
                        let dst = builder.entry(source.index(), &mut next, &mut entry_cols);
                        jac.ops.push(MulAdd {
                            dst,
                            partial,
                            src: 0,
                        });
                    }
                    Bank::Yp => {
                        let (col, src) = match columns {
                            Columns::Combined => (source.index(), 1),
                            Columns::Separate { .. } => (n + source.index(), 0),
                        };
                        let dst = builder.entry(col, &mut next, &mut entry_cols);
                        jac.ops.push(MulAdd { dst, partial, src });
                    }
                    Bank::Mem => {
                        let row = local_rows[source.index()];
                        for k in row.first..row.first + row.len {
                            let col = entry_cols[(k - UNITS) as usize] as usize;
                            let dst = builder.entry(col, &mut next, &mut entry_cols);
                            jac.ops.push(MulAdd {
                                dst,
                                partial,
                                src: k,
                            });
                        }
                    }
                    Bank::Out => {}
                }
            }
        }
    }
    finish_row(
        current,
        current_first,
        next,
        &mut local_rows,
        &mut row_of_entry,
    );
    let _ = &mut row_start;
    number_by_columns(jac, &entry_cols, &row_of_entry, next, rows, cols);
}

fn finish_row(
    current: Option<Loc>,
    first: u32,
    next: u32,
    local_rows: &mut [LocalRow],
    residual_rows: &mut Vec<(u32, u32)>,
) {
    match current {
        Some(loc) if loc.bank() == Bank::Mem => {
            local_rows[loc.index()] = LocalRow {
                first,
                len: next - first,
            }
        }
        Some(loc) => residual_rows.push((loc.index() as u32, first)),
        None => {}
    }
}

/// Renumbers the entries of residual rows so that they come last, in the order of compressed sparse columns.
fn number_by_columns(
    jac: &mut Jacobian,
    entry_cols: &[u32],
    residual_rows: &[(u32, u32)],
    next: u32,
    rows: usize,
    cols: usize,
) {
    const UNITS: usize = 2;
    // Residual rows follow the local rows, so their entries are contiguous from the first residual row on.
    let first_value = residual_rows.first().map_or(next, |r| r.1) as usize;
    let count = next as usize - first_value;
    let mut row_of = vec![0u32; count];
    for (k, &(row, first)) in residual_rows.iter().enumerate() {
        let end = residual_rows.get(k + 1).map_or(next, |r| r.1);
        for e in first..end {
            row_of[e as usize - first_value] = row;
        }
    }
    let mut col_ptr = vec![0usize; cols + 1];
    for e in 0..count {
        col_ptr[entry_cols[first_value - UNITS + e] as usize + 1] += 1;
    }
    for c in 0..cols {
        col_ptr[c + 1] += col_ptr[c];
    }
    // Rows ascending: entries are visited in order of rows.
    let mut by_row: Vec<u32> = (0..count as u32).collect();
    if !row_of.is_sorted() {
        by_row.sort_by_key(|&e| row_of[e as usize]);
    }
    let mut fill = col_ptr.clone();
    let mut row_idx = vec![0u32; count];
    let mut position = vec![0u32; count];
    for e in by_row {
        let c = entry_cols[first_value - UNITS + e as usize] as usize;
        row_idx[fill[c]] = row_of[e as usize];
        position[e as usize] = fill[c] as u32;
        fill[c] += 1;
    }
    for op in &mut jac.ops {
        if op.dst as usize >= first_value {
            op.dst = first_value as u32 + position[op.dst as usize - first_value];
        }
    }
    jac.values = first_value;
    jac.acc_len = next as usize;
    jac.sparsity = Sparsity {
        rows,
        cols,
        col_ptr,
        row_idx,
    };
}

impl Jacobian {
    /// Partial derivatives that never change, written once.
    pub fn fill_constants(&self, partials: &mut [f64]) {
        for &(first, count, v) in &self.constants {
            partials[first..first + count].fill(v);
        }
    }

    /// Runs the multiply-adds. `one` and `cj` are the units of `x` and `x'`.
    pub fn accumulate(&self, partials: &[f64], one: f64, cj: f64, acc: &mut [f64]) {
        acc.fill(0.0);
        acc[0] = one;
        acc[1] = cj;
        for op in &self.ops {
            acc[op.dst as usize] += partials[op.partial as usize] * acc[op.src as usize];
        }
    }
}
