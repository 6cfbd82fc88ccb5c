//! Rows that follow no rule, one by one.
//!
//! In: points of items, in order. The first walk ([`Walk::find`]) notes the columns of every row; the second
//! ([`Walk::fill`]), when the places of the entries are known, makes the multiply-adds and joins those that belong to the same
//! access of successive rows and move by constant steps. Where nothing is regular a run is a single multiply-add.
//!
//! Invariant: both walks meet the same rows in the same order and give their entries the same numbers.
//!
//! Linear in the number of multiply-adds.

use std::ops::Range;

use acausal_jit::kernel::Bank;

use super::regular::BlockOps;
use super::{ItemRows, JacobianColumns, LocalRows, MulAdds, Row, Schedule, UNITS};
use crate::location::Loc;

/// A walk over rows.
pub(super) struct Walk<'a> {
    columns: &'a JacobianColumns,
    /// Per column: stamp of the row that used it last, and its entry there.
    mark: Vec<(u32, u32)>,
    stamp: u32,
    /// The row that is being put together.
    current: Option<Loc>,
    /// Its first entry, and the columns of its entries so far.
    first: u32,
    fresh: Vec<u32>,
    /// The next entry of the accumulator and of the rows of the matrix.
    next: (u32, u32),
    /// The rows of the matrix that were walked.
    pub rows: WalkedRows,
    /// Rows of local assignments, rows of the matrix were walked.
    pub walked: (bool, bool),
}

/// Rows of a matrix in compressed rows.
#[derive(Default)]
pub(super) struct WalkedRows {
    /// Row and its first entry.
    pub rows: Vec<(u32, u32)>,
    /// Column of each entry.
    pub columns: Vec<u32>,
}

impl WalkedRows {
    /// The entries of the `k`-th row.
    pub fn entries(&self, k: usize) -> Range<usize> {
        let end = (self.rows.get(k + 1)).map_or(self.columns.len(), |r| r.1 as usize);
        self.rows[k].1 as usize..end
    }
}

impl<'a> Walk<'a> {
    pub fn new(columns: &'a JacobianColumns, cols: usize) -> Walk<'a> {
        Walk {
            columns,
            mark: vec![(0, 0); cols],
            stamp: 0,
            current: None,
            first: 0,
            fresh: Vec::new(),
            next: (UNITS, 0),
            rows: WalkedRows::default(),
            walked: (false, false),
        }
    }

    /// Whether the row of a place is being put together.
    pub fn is_at(&self, place: Loc) -> bool {
        self.current == Some(place)
    }

    /// The first walk over some points of an item.
    pub fn find(&mut self, item: &ItemRows, points: Range<usize>, locals: &mut LocalRows) {
        for j in points {
            let target = item.target.at(j);
            if self.current != Some(target) {
                self.leave(locals);
                self.enter(target, locals.next);
            }
            for (locations, _) in &item.accesses {
                let source = locations.at(j);
                match source.bank() {
                    Bank::Y | Bank::Yp => {
                        if let Some((column, _)) = self.columns.of(source.bank(), source.index()).0
                        {
                            self.note(column);
                        }
                    }
                    Bank::Mem => {
                        let place = source.index();
                        if let Some((first, block)) = locals.block_at(place) {
                            for p in &block.columns {
                                self.note(p.at(place - first) as usize);
                            }
                        } else {
                            let row = locals.row_at(place);
                            for k in row.columns..row.columns + row.len {
                                self.note(locals.columns[k as usize] as usize);
                            }
                        }
                    }
                    Bank::Out => {}
                }
            }
        }
    }

    fn enter(&mut self, target: Loc, next: u32) {
        self.stamp += 1;
        self.current = Some(target);
        match target.bank() {
            Bank::Mem => {
                self.walked.0 = true;
                self.next.0 = next;
                self.first = next;
            }
            _ => {
                self.walked.1 = true;
                self.first = self.next.1;
            }
        }
    }

    /// Completes the row that is being put together.
    pub fn leave(&mut self, locals: &mut LocalRows) {
        let Some(target) = self.current.take() else {
            return;
        };
        if target.bank() == Bank::Mem {
            let row = Row {
                entry: self.first,
                len: self.fresh.len() as u32,
                columns: locals.columns.len() as u32,
            };
            locals.next = self.next.0;
            locals.set_row(target.index(), row);
            locals.columns.append(&mut self.fresh);
        } else {
            self.rows.rows.push((target.index() as u32, self.first));
            self.rows.columns.append(&mut self.fresh);
        }
    }

    /// Notes a column of the current row.
    fn note(&mut self, column: usize) {
        if self.entry(column).1 {
            self.fresh.push(column as u32);
        }
    }

    /// The entry of a column in the current row, and whether it is new; each column once.
    fn entry(&mut self, column: usize) -> (u32, bool) {
        let mark = &mut self.mark[column];
        let new = mark.0 != self.stamp;
        if new {
            let next = match self.current {
                Some(l) if l.bank() == Bank::Mem => &mut self.next.0,
                _ => &mut self.next.1,
            };
            *mark = (self.stamp, *next);
            *next += 1;
        }
        (mark.1, new)
    }

    /// Begins the second walk.
    pub fn again(&mut self) {
        self.current = None;
        self.next = (UNITS, 0);
    }

    /// In the second walk: rows that are not walked.
    pub fn pass(&mut self, _: &BlockOps) {
        self.current = None;
    }

    /// The second walk over some points of an item: its multiply-adds. `positions` are the places of the entries of
    /// walked rows.
    pub fn fill(
        &mut self,
        item: &ItemRows,
        points: Range<usize>,
        sequential: bool,
        locals: &LocalRows,
        positions: &[u32],
        out: &mut Schedule,
    ) {
        let mut runs = Runs::default();
        for j in points {
            let target = item.target.at(j);
            let local = target.bank() == Bank::Mem;
            let done = match local {
                true => &mut out.locals,
                false => &mut out.values,
            };
            if self.current != Some(target) {
                if sequential || runs.local != local {
                    runs.flush(&mut done.runs);
                }
                runs.local = local;
                self.enter(target, locals.row_at(target.index()).entry);
            }
            let mut lane = 0;
            for (locations, partials) in &item.accesses {
                let source = locations.at(j);
                let partial = (partials.first + j * partials.step) as u32;
                let mut op = |walk: &mut Self, column: usize, src: u32| {
                    let entry = walk.entry(column).0;
                    let dst = match local {
                        true => entry,
                        false => positions[entry as usize],
                    };
                    runs.op(lane, dst, partial, src, &mut done.runs);
                    lane += 1;
                };
                match source.bank() {
                    Bank::Y | Bank::Yp => {
                        let found = self.columns.of(source.bank(), source.index()).0;
                        if let Some((column, unit)) = found {
                            op(self, column, unit);
                        }
                    }
                    Bank::Mem => {
                        let place = source.index();
                        if let Some((first, block)) = locals.block_at(place) {
                            let row = place - first;
                            let entry = block.entry + (row * block.columns.len()) as u32;
                            for (e, p) in block.columns.iter().enumerate() {
                                op(self, p.at(row) as usize, entry + e as u32);
                            }
                        } else {
                            let row = locals.row_at(place);
                            for k in 0..row.len {
                                let column = locals.columns[(row.columns + k) as usize];
                                op(self, column as usize, row.entry + k);
                            }
                        }
                    }
                    Bank::Out => {}
                }
            }
        }
        let done = match runs.local {
            true => &mut out.locals,
            false => &mut out.values,
        };
        runs.flush(&mut done.runs);
        // Rows that follow no rule are taken run by run.
        out.locals.close(0);
        out.values.close(0);
    }
}

/// Joins multiply-adds of one lane that move by constant steps.
#[derive(Default)]
struct Runs {
    /// Per lane: the run that may still grow.
    lanes: Vec<Option<MulAdds>>,
    /// They fill rows of local assignments.
    local: bool,
}

impl Runs {
    /// The multiply-add number `lane` of a row.
    fn op(&mut self, lane: usize, dst: u32, partial: u32, src: u32, done: &mut Vec<MulAdds>) {
        if lane >= self.lanes.len() {
            self.lanes.resize(lane + 1, None);
        }
        let open = &mut self.lanes[lane];
        if let Some(run) = open {
            if run.count == 1 && partial.wrapping_sub(run.partial) <= 1 {
                run.partial_step = partial - run.partial;
                run.dst_step = dst.wrapping_sub(run.dst) as i32;
                run.src_step = src.wrapping_sub(run.src) as i32;
            }
            let k = run.count;
            if partial == run.partial + run.partial_step * k
                && dst == run.dst.wrapping_add((run.dst_step as u32).wrapping_mul(k))
                && src == run.src.wrapping_add((run.src_step as u32).wrapping_mul(k))
            {
                run.count += 1;
                return;
            }
            done.push(*run);
        }
        *open = Some(MulAdds {
            count: 1,
            row: 0,
            sets: false,
            dst,
            partial,
            partial_step: 0,
            src,
            dst_step: 0,
            src_step: 0,
        });
    }

    /// All before this is complete.
    fn flush(&mut self, done: &mut Vec<MulAdds>) {
        done.extend(self.lanes.iter_mut().filter_map(Option::take));
    }
}
