//! The schedule of the Jacobian: its pattern, and the multiply-adds that fill it.
//!
//! In: per item where its value lies, what it accesses and where the partial derivatives are. Out ([`Schedule`]): the pattern in
//! compressed sparse columns and runs of multiply-adds ([`MulAdds`]) in an order in which every row is complete before it is
//! read.
//!
//! Array items are not walked element by element: `regular` cuts them into blocks of rows that differ by constant steps
//! only. What follows no rule is walked row by row (`elements`). Both give the columns of each row, from which the
//! places of all entries follow (`pattern`); a block becomes one run for each multiply-add of a row, cut only where
//! the distance of the places changes, and nothing is stored for each element.
//!
//! Example: `der(T[i]) = T[i-1] - 2*T[i] + T[i+1]` over `2:9` has four accesses and becomes four runs of eight, with the step
//! 3 through the values of a tridiagonal matrix, however long the array is.
//!
//! Complexity: linear in the entries of the pattern, with a few instructions for each; memory that of the pattern, and
//! linear in what follows no rule.

mod elements;
mod pattern;
mod regular;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

use acausal_cpu::{LEAST_SHARED, Shared, Team, team};
use acausal_jit::kernel::Bank;

use crate::jacobian::{ItemRows, JacobianColumns, MulAdds, Sparsity};
use crate::location::Loc;
use elements::Walk;
use pattern::Numbering;
use regular::BlockOps;

/// The first entries of the accumulator are the units of `x` and `x'`.
const UNITS: u32 = 2;

/// How the values of a matrix are put together from partial derivatives.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// The multiply-adds that fill the rows of local assignments in the accumulator, in order.
    pub locals: GroupedMulAdds,
    /// Those that fill the values of the pattern from it, in order.
    pub values: GroupedMulAdds,
    /// Length of the accumulator: two units, then the rows of local assignments.
    pub acc_len: usize,
    /// Some multiply-adds only add, so that rows of local assignments must be zero before.
    pub clears_locals: bool,
    /// The same for the values.
    pub clears_values: bool,
    /// The pattern.
    pub sparsity: Sparsity,
}

/// Multiply-adds, those of one block of rows together.
#[derive(Clone, Debug, Default)]
pub struct GroupedMulAdds {
    /// All of them.
    pub runs: Vec<MulAdds>,
    /// Of every group the end among the runs and the number of its rows.
    groups: Vec<(u32, u32)>,
}

impl GroupedMulAdds {
    /// Ends a group of so many rows.
    fn close(&mut self, rows: usize) {
        self.groups.push((self.runs.len() as u32, rows as u32));
    }

    /// Calls `f` with the multiply-adds in an order that keeps that of each entry; those of a long block that satisfies `apart` from all
    /// threads, each with a part of its rows.
    fn for_each(
        &self,
        mut team: Option<&mut Team>,
        apart: impl Fn(&[MulAdds]) -> bool,
        f: impl Fn(&MulAdds) + Sync,
    ) {
        let mut first = 0;
        for &(end, rows) in &self.groups {
            let runs = &self.runs[first..end as usize];
            first = end as usize;
            let team = team
                .as_deref_mut()
                .filter(|_| rows as usize >= LEAST_SHARED);
            match team.filter(|_| apart(runs)) {
                Some(team) => {
                    let least = LEAST_SHARED / 2;
                    team::split(Some(team), rows as usize, (ROWS as usize, least), |part| {
                        some_rows(runs, part.start as u32..part.end as u32, &f);
                    });
                }
                None if rows <= ROWS || runs.len() == 1 || runs.len() > MOST_RUNS => {
                    runs.iter().for_each(&f);
                }
                None => some_rows(runs, 0..rows, &f),
            }
        }
    }
}

/// The rows of a long block are taken some at a time through all of its runs, so that their entries are still in the cache when the
/// next run comes to them.
fn some_rows(runs: &[MulAdds], rows: Range<u32>, f: impl Fn(&MulAdds)) {
    for from in rows.clone().step_by(ROWS as usize) {
        let to = rows.end.min(from + ROWS);
        for run in runs {
            let start = run.row.max(from);
            let end = (run.row + run.count).min(to);
            if start < end {
                f(&run.part(start - run.row, end - start));
            }
        }
    }
}

/// Numbers in a line of a cache, where parts begin.
const LINE: usize = 8;

/// Rows that are taken at a time: the entries of a few columns of them fit the first-level cache.
const ROWS: u32 = 512;
/// A group with more runs is taken run by run.
const MOST_RUNS: usize = 256;

/// The size of a matrix.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct MatrixSize {
    /// Unknowns.
    pub n: usize,
    /// Rows.
    pub rows: usize,
}

/// The schedule of items in order. `one` is the place of a partial derivative that is 1, where there are unknowns in `Mem`.
pub(crate) fn schedule<'a>(
    items: impl Iterator<Item = &'a ItemRows> + Clone,
    size: MatrixSize,
    columns: &JacobianColumns,
    one: usize,
) -> Schedule {
    let mut locals = LocalRows::default();
    let mut chunks: Vec<(&ItemRows, Chunk)> = Vec::new();
    let mut units = Vec::new();
    if let JacobianColumns::Separate { units: places, .. } = columns {
        let mut column = 2 * size.n;
        for &(first, count) in places {
            units.push(locals.unit(first, count, column, one));
            column += count;
        }
    }
    let cols = columns.count(size.n);
    let mut walk = Walk::new(columns, cols);
    for item in items {
        let continued = item.count > 0 && walk.is_at(item.target.at(0));
        if !continued {
            walk.leave(&mut locals);
        }
        let segments = match continued || sequential(item) {
            true => vec![regular::Segment {
                from: 0,
                to: item.count,
                block: None,
            }],
            false => regular::segments(item, columns, &locals),
        };
        for s in segments {
            let chunk = match s.block {
                Some(mut block) => {
                    walk.leave(&mut locals);
                    locals.add(&mut block);
                    Chunk::Block(block)
                }
                None => {
                    walk.find(item, s.from..s.to, &mut locals);
                    Chunk::Elements(s.from, s.to)
                }
            };
            chunks.push((item, chunk));
        }
    }
    walk.leave(&mut locals);
    let mut numbering = Numbering::new(size.rows, cols);
    let blocks = chunks.iter().filter_map(|(_, c)| match c {
        Chunk::Block(b) if b.bank == Bank::Out => Some(b),
        _ => None,
    });
    let (sparsity, blocks, positions) = numbering.number(blocks, &walk.rows);
    let mut out = Schedule {
        acc_len: locals.next as usize,
        clears_locals: walk.walked.0,
        clears_values: walk.walked.1,
        sparsity,
        ..Schedule::default()
    };
    for block in &units {
        local_runs(block, &mut out.locals);
    }
    let mut blocks = blocks.into_iter();
    walk.again();
    for (item, chunk) in &chunks {
        match chunk {
            Chunk::Block(block) if block.bank == Bank::Mem => {
                walk.pass(block);
                local_runs(block, &mut out.locals);
            }
            Chunk::Block(block) => {
                walk.pass(block);
                let spots = blocks.next().expect("the places of each block");
                value_runs(block, &spots, &mut out.values);
            }
            Chunk::Elements(from, to) => walk.fill(
                item,
                *from..*to,
                sequential(item),
                &locals,
                &positions,
                &mut out,
            ),
        }
    }
    out
}

/// Part of an item.
enum Chunk {
    Block(BlockOps),
    /// Points that are walked one by one.
    Elements(usize, usize),
}

/// The runs of a block of rows of local assignments.
fn local_runs(block: &BlockOps, out: &mut GroupedMulAdds) {
    let width = block.columns.len();
    for op in &block.ops {
        out.runs.push(MulAdds {
            count: block.count as u32,
            row: 0,
            sets: op.sets,
            dst: block.entry + op.column as u32,
            partial: op.partial as u32,
            partial_step: op.partial_step as u32,
            src: op.src as u32,
            dst_step: width as i32,
            src_step: op.src_step as i32,
        });
    }
    out.close(block.count);
}

/// The runs of a block of rows of the matrix, whose entries lie at the given places.
fn value_runs(block: &BlockOps, spots: &pattern::Spots, out: &mut GroupedMulAdds) {
    for op in &block.ops {
        let places = &spots.0[op.column];
        for (k, s) in places.iter().enumerate() {
            let end = places.get(k + 1).map_or(block.count as u32, |s| s.row);
            out.runs.push(MulAdds {
                count: end - s.row,
                row: s.row,
                sets: op.sets,
                dst: s.at,
                partial: (op.partial + op.partial_step * s.row as usize) as u32,
                partial_step: op.partial_step as u32,
                src: (op.src + op.src_step * s.row as i64) as u32,
                dst_step: s.step,
                src_step: op.src_step as i32,
            });
        }
    }
    out.close(block.count);
}

/// A row of a local assignment that was walked.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// First entry of the accumulator.
    entry: u32,
    /// Number of entries.
    len: u32,
    /// Where their columns stand.
    columns: u32,
}

const PAGE: usize = 1024;

/// The rows of local assignments that are known so far.
struct LocalRows {
    /// Blocks, by their first place in `Mem`.
    blocks: BTreeMap<usize, BlockOps>,
    /// Other rows, by place in `Mem`: pages of [`PAGE`] places, those without a row empty. There may be one row behind a
    /// million places of arrays.
    pages: Vec<Vec<Row>>,
    /// Columns of the entries of other rows.
    columns: Vec<u32>,
    /// The next free entry of the accumulator.
    next: u32,
}

impl Default for LocalRows {
    fn default() -> LocalRows {
        LocalRows {
            blocks: BTreeMap::new(),
            pages: Vec::new(),
            columns: Vec::new(),
            next: UNITS,
        }
    }
}

impl LocalRows {
    /// Gives the rows of a block of local assignments their entries.
    fn add(&mut self, block: &mut BlockOps) {
        if block.bank == Bank::Mem {
            block.entry = self.next;
            self.next += (block.count * block.columns.len()) as u32;
            let ops = std::mem::take(&mut block.ops);
            self.blocks.insert(block.first, block.clone());
            block.ops = ops;
        }
    }

    /// The rows of unknowns in `Mem` are unit vectors, like those of local assignments with one entry.
    fn unit(&mut self, first: usize, count: usize, column: usize, one: usize) -> BlockOps {
        let mut block = BlockOps {
            count,
            bank: Bank::Mem,
            first,
            entry: 0,
            columns: vec![regular::Progression {
                first: column as i64,
                step: 1,
            }],
            ops: vec![regular::Op {
                column: 0,
                sets: true,
                partial: one,
                partial_step: 0,
                src: 0,
                src_step: 0,
            }],
        };
        self.add(&mut block);
        block
    }

    /// The block that a place lies in, with its first place.
    fn block_at(&self, place: usize) -> Option<(usize, &BlockOps)> {
        let (first, block) = self.blocks.range(..=place).next_back()?;
        (place < first + block.count).then_some((*first, block))
    }

    /// The row of a place that lies in no block; no entries if there is none.
    fn row_at(&self, place: usize) -> Row {
        let page = self.pages.get(place / PAGE);
        page.and_then(|p| p.get(place % PAGE))
            .copied()
            .unwrap_or_default()
    }

    fn set_row(&mut self, place: usize, row: Row) {
        let number = place / PAGE;
        if self.pages.len() <= number {
            self.pages.resize(number + 1, Vec::new());
        }
        let page = &mut self.pages[number];
        if page.is_empty() {
            page.resize(PAGE, Row::default());
        }
        page[place % PAGE] = row;
    }
}

/// Rows that read rows of the same item must be complete one after the other.
fn sequential(item: &ItemRows) -> bool {
    !item.independent && reads_itself(item)
}

/// Whether an item may read places that it writes.
fn reads_itself(item: &ItemRows) -> bool {
    let Some(target) = extent(&item.target, item.count) else {
        return false;
    };
    item.accesses
        .iter()
        .filter_map(|(l, _)| extent(l, item.count))
        .any(|a| a.0 <= target.1 && target.0 <= a.1)
}

/// The smallest and largest place in `Mem`.
fn extent(locations: &crate::locations::Locations, count: usize) -> Option<(usize, usize)> {
    let join = |e: Option<(usize, usize)>, l: Loc| {
        if l.bank() != Bank::Mem {
            return e;
        }
        let (low, high) = e.unwrap_or((l.index(), l.index()));
        Some((low.min(l.index()), high.max(l.index())))
    };
    match locations.runs(count) {
        Some(runs) => (runs.iter().filter(|r| r.count > 0))
            .flat_map(|r| [r.at(r.first), r.at(r.first + r.count - 1)])
            .fold(None, join),
        None => (0..count).map(|j| locations.at(j)).fold(None, join),
    }
}

impl Schedule {
    /// Runs the multiply-adds. `one` and `cj` are the units of `x` and `x'`; `acc` is the accumulator. Threads take parts of what
    /// is long; the result is the same.
    pub fn accumulate(
        &self,
        mut team: Option<&mut Team>,
        partials: &[f64],
        (one, cj): (f64, f64),
        acc: &mut [f64],
        values: &mut [f64],
    ) {
        if self.clears_locals {
            acc.fill(0.0);
        }
        acc[0] = one;
        acc[1] = cj;
        let inside = Shared::new(acc);
        // Rows that are read are complete: none of them is of the block that is filled.
        let apart = |runs: &[MulAdds]| {
            let first = runs.iter().map(|run| run.dst).min().unwrap_or(0);
            runs.iter().all(|run| row_is_before(run, first))
        };
        // SAFETY: rows have no entry in common, and threads fill different rows of a block; those that are read are complete (`apart`).
        let fill = |run: &MulAdds| unsafe { run.apply(partials, inside, inside) };
        self.locals.for_each(team.as_deref_mut(), apart, fill);
        if self.clears_values {
            let cleared = Shared::new(&mut *values);
            let least = LEAST_SHARED / 2;
            team::split(team.as_deref_mut(), cleared.len(), (LINE, least), |part| {
                // SAFETY: parts are apart.
                unsafe { cleared.part(part).fill(0.0) };
            });
        }
        let filled = Shared::new(values);
        // SAFETY: as above; nothing is filled in what is read.
        let fill = |run: &MulAdds| unsafe { run.apply(partials, inside, filled) };
        self.values.for_each(team, |_| true, fill);
    }
}

/// Whether everything a run reads lies before a place, and everything it writes behind it.
fn row_is_before(run: &MulAdds, place: u32) -> bool {
    let last = run.src as i64 + run.src_step as i64 * (run.count as i64 - 1);
    run.dst_step >= 0 && last.max(run.src as i64) < place as i64
}

impl MulAdds {
    /// Some of them in succession.
    fn part(&self, first: u32, count: u32) -> MulAdds {
        let moved = |place: u32, step: i32| place.wrapping_add((step as u32).wrapping_mul(first));
        MulAdds {
            count,
            row: self.row + first,
            dst: moved(self.dst, self.dst_step),
            partial: self.partial + self.partial_step * first,
            src: moved(self.src, self.src_step),
            ..*self
        }
    }

    /// Reads complete rows from `acc` and fills entries of `dst`.
    ///
    /// # Safety
    /// No other thread sets what is read or uses what is filled.
    unsafe fn apply(&self, partials: &[f64], acc: Shared<'_>, dst: Shared<'_>) {
        // SAFETY: the same contract.
        unsafe {
            match self.sets {
                true => self.apply_by(partials, acc, dst, |_, v| v),
                false => self.apply_by(partials, acc, dst, |d, v| d + v),
            }
        }
    }

    /// # Safety
    /// As for [`MulAdds::apply`].
    #[inline(always)]
    unsafe fn apply_by(
        &self,
        partials: &[f64],
        acc: Shared<'_>,
        dst: Shared<'_>,
        put: impl Fn(f64, f64) -> f64,
    ) {
        if self.count == 0 {
            return;
        }
        let count = self.count as isize;
        let (dst_step, src_step) = (self.dst_step as isize, self.src_step as isize);
        let partial_step = self.partial_step as isize;
        // All places lie between the first and the last one.
        let are_inside = |first: u32, step: isize, len: usize| {
            let last = first as isize + step * (count - 1);
            (first as usize) < len && (0..len as isize).contains(&last)
        };
        assert!(
            are_inside(self.dst, dst_step, dst.len())
                && are_inside(self.src, src_step, acc.len())
                && are_inside(self.partial, partial_step, partials.len())
        );
        // SAFETY: every place is inside (asserted above); no other thread interferes by the contract.
        unsafe {
            let place = dst.as_mut_ptr().add(self.dst as usize);
            let src = acc.as_mut_ptr().add(self.src as usize);
            let partial = partials.as_ptr().add(self.partial as usize);
            if src_step == 0 && partial_step == 0 && row_is_before(self, self.dst) {
                let increment = *partial * *src;
                for k in 0..count {
                    let place = place.offset(k * dst_step);
                    *place = put(*place, increment);
                }
                return;
            }
            for k in 0..count {
                let increment = *partial.offset(k * partial_step) * *src.offset(k * src_step);
                let place = place.offset(k * dst_step);
                *place = put(*place, increment);
            }
        }
    }
}

#[cfg(test)]
mod tests;
