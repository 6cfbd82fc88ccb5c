//! The schedule of the Jacobian: its pattern, and the multiply-adds that fill it.
//!
//! In: per item where its value lies, what it accesses and where the partial derivatives are. Out: the pattern in
//! compressed sparse columns and runs of multiply-adds ([`MulAdds`]) in an order in which every row is complete before it is
//! read.
//!
//! The rows are walked twice. The first walk finds the columns of each row, from which the places of all entries follow.
//! The second joins multiply-adds that belong to the same access of successive rows and move by constant steps, so that
//! an array equation becomes a few long runs, cut only where its neighbourhood changes, and nothing is stored for each
//! element. Where nothing is regular a run is a single multiply-add.
//!
//! Example: `der(T[i]) = T[i-1] - 2*T[i] + T[i+1]` over `2:9` has four accesses and becomes four runs of eight, with the step
//! 3 through the values of a tridiagonal matrix, however long the array is.
//!
//! Complexity: linear in the number of multiply-adds; memory linear in the entries of the pattern and of the rows of local
//! assignments.

use acausal_jit::kernel::Bank;

use crate::address::Locations;
use crate::jacobian::{Columns, ItemRows, Jacobian, MulAdds, Sparsity};
use crate::layout::Loc;

/// The first entries of the accumulator are the units of `x` and `x'`.
const UNITS: u32 = 2;

/// Fills in the pattern and the multiply-adds.
pub(crate) fn schedule(
    jac: &mut Jacobian,
    items: &[ItemRows],
    mem_len: usize,
    n: usize,
    rows: usize,
    columns: Columns<'_>,
) {
    let cols = match columns {
        Columns::Combined => n,
        Columns::Separate { units } => 2 * n + units.iter().map(|u| u.1).sum::<usize>(),
    };
    let mut one = 0;
    if matches!(columns, Columns::Separate { units } if !units.is_empty()) {
        one = jac.partials_len as u32;
        jac.constants.push((jac.partials_len, 1.0));
        jac.partials_len += 1;
    }
    let mut walk = Walk {
        items,
        columns,
        n,
        one,
        mark: vec![(0, 0); cols],
        stamp: 0,
        next: UNITS,
        local_rows: vec![LocalRow::default(); mem_len],
        entry_cols: Vec::new(),
        residual_rows: Vec::with_capacity(rows),
        first: true,
    };
    walk.run(&mut Nothing);
    let first_value = walk.residual_rows.first().map_or(walk.next, |r| r.1);
    let (sparsity, position) = number_by_columns(
        &walk.entry_cols[(first_value - UNITS) as usize..],
        &walk.residual_rows,
        first_value,
        rows,
        cols,
    );
    jac.sparsity = sparsity;
    jac.values = first_value as usize;
    jac.acc_len = walk.next as usize;
    walk.first = false;
    walk.next = UNITS;
    let mut runs = Runs {
        lanes: Vec::new(),
        first_value,
        position,
        done: Vec::new(),
    };
    walk.run(&mut runs);
    jac.runs = runs.done;
}

/// Row of a local assignment: entries `first..first + len` of the accumulator.
#[derive(Clone, Copy, Default)]
struct LocalRow {
    first: u32,
    len: u32,
}

/// A walk over all rows, in order.
struct Walk<'a> {
    items: &'a [ItemRows],
    columns: Columns<'a>,
    n: usize,
    /// A partial derivative that is 1, where there are unknowns in `Mem`.
    one: u32,
    /// Per column: stamp of the row that used it last, and its entry there.
    mark: Vec<(u32, u32)>,
    stamp: u32,
    /// The next free entry of the accumulator.
    next: u32,
    /// By place in `Mem`.
    local_rows: Vec<LocalRow>,
    /// Column of each entry after the units.
    entry_cols: Vec<u32>,
    /// Row and first entry of residual rows, in order.
    residual_rows: Vec<(u32, u32)>,
    /// The first walk records entries and rows.
    first: bool,
}

/// What is done with the multiply-adds of a walk.
trait Visit {
    /// The multiply-add number `lane` of a row.
    fn op(&mut self, lane: usize, dst: u32, partial: u32, src: u32);
    /// All before this is complete.
    fn flush(&mut self);
}

struct Nothing;

impl Visit for Nothing {
    fn op(&mut self, _: usize, _: u32, _: u32, _: u32) {}
    fn flush(&mut self) {}
}

impl Walk<'_> {
    fn run(&mut self, visit: &mut impl Visit) {
        self.units(visit);
        let mut current: Option<Loc> = None;
        let mut current_first = self.next;
        for item in self.items {
            // Rows that read rows of the same item must be complete one after the other.
            let sequential = !item.independent && reads_itself(item);
            for j in 0..item.count {
                let target = item.target.at(j);
                if current != Some(target) {
                    self.finish_row(current, current_first);
                    if sequential {
                        visit.flush();
                    }
                    self.stamp += 1;
                    current = Some(target);
                    current_first = self.next;
                }
                self.row(item, j, visit);
            }
            visit.flush();
        }
        self.finish_row(current, current_first);
    }

    /// The row of an unknown in `Mem` is a unit vector, like that of a local assignment with one entry.
    fn units(&mut self, visit: &mut impl Visit) {
        let Columns::Separate { units } = self.columns else {
            return;
        };
        let places = units.iter().flat_map(|&(first, len)| first..first + len);
        for (k, place) in places.enumerate() {
            self.local_rows[place] = LocalRow {
                first: self.next,
                len: 1,
            };
            if self.first {
                self.entry_cols.push((2 * self.n + k) as u32);
            }
            visit.op(0, self.next, self.one, 0);
            self.next += 1;
        }
        visit.flush();
    }

    fn row(&mut self, item: &ItemRows, j: usize, visit: &mut impl Visit) {
        let mut lane = 0;
        for (locations, partials) in &item.accesses {
            let source = locations.at(j);
            let partial = (partials.first + j * partials.step) as u32;
            match source.bank() {
                Bank::Y => {
                    let dst = self.entry(source.index());
                    visit.op(lane, dst, partial, 0);
                    lane += 1;
                }
                Bank::Yp => {
                    let (column, src) = match self.columns {
                        Columns::Combined => (source.index(), 1),
                        Columns::Separate { .. } => (self.n + source.index(), 0),
                    };
                    let dst = self.entry(column);
                    visit.op(lane, dst, partial, src);
                    lane += 1;
                }
                Bank::Mem => {
                    let row = self.local_rows[source.index()];
                    for k in row.first..row.first + row.len {
                        let dst = self.entry(self.entry_cols[(k - UNITS) as usize] as usize);
                        visit.op(lane, dst, partial, k);
                        lane += 1;
                    }
                }
                Bank::Out => {}
            }
        }
    }

    /// The entry of a column in the current row; each column once.
    fn entry(&mut self, column: usize) -> u32 {
        let mark = &mut self.mark[column];
        if mark.0 != self.stamp {
            *mark = (self.stamp, self.next);
            self.next += 1;
            if self.first {
                self.entry_cols.push(column as u32);
            }
        }
        mark.1
    }

    fn finish_row(&mut self, current: Option<Loc>, first: u32) {
        match current {
            Some(loc) if loc.bank() == Bank::Mem => {
                self.local_rows[loc.index()] = LocalRow {
                    first,
                    len: self.next - first,
                }
            }
            Some(loc) if self.first => self.residual_rows.push((loc.index() as u32, first)),
            _ => {}
        }
    }
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
fn extent(locations: &Locations, count: usize) -> Option<(usize, usize)> {
    match locations {
        Locations::Strided { bank, .. } => {
            let ends = [locations.at(0), locations.at(count.max(1) - 1)].map(|l| l.index());
            (*bank == Bank::Mem).then(|| (ends[0].min(ends[1]), ends[0].max(ends[1])))
        }
        Locations::List(list) => list
            .iter()
            .filter(|l| l.bank() == Bank::Mem)
            .map(|l| l.index())
            .fold(None, |e, k| {
                let (low, high) = e.unwrap_or((k, k));
                Some((low.min(k), high.max(k)))
            }),
    }
}

/// Joins multiply-adds of one lane that move by constant steps.
struct Runs {
    /// Per lane: the run that may still grow.
    lanes: Vec<Option<MulAdds>>,
    first_value: u32,
    /// Place of each value in compressed columns.
    position: Vec<u32>,
    done: Vec<MulAdds>,
}

impl Visit for Runs {
    fn op(&mut self, lane: usize, dst: u32, partial: u32, src: u32) {
        let dst = match dst.checked_sub(self.first_value) {
            Some(value) => self.first_value + self.position[value as usize],
            None => dst,
        };
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
            self.done.push(*run);
        }
        *open = Some(MulAdds {
            count: 1,
            dst,
            partial,
            partial_step: 0,
            src,
            dst_step: 0,
            src_step: 0,
        });
    }

    fn flush(&mut self) {
        self.done
            .extend(self.lanes.iter_mut().filter_map(Option::take));
    }
}

/// The pattern of the residual rows in compressed columns, and the place of each of their entries in it.
fn number_by_columns(
    entry_cols: &[u32],
    residual_rows: &[(u32, u32)],
    first_value: u32,
    rows: usize,
    cols: usize,
) -> (Sparsity, Vec<u32>) {
    let count = entry_cols.len();
    // Where the entries of each row stand. Residual rows follow the local rows, so their entries are contiguous.
    let mut entries_of = vec![(0u32, 0u32); rows];
    for (k, &(row, first)) in residual_rows.iter().enumerate() {
        let end = residual_rows
            .get(k + 1)
            .map_or(first_value + count as u32, |r| r.1);
        entries_of[row as usize] = (first - first_value, end - first_value);
    }
    let mut col_ptr = vec![0usize; cols + 1];
    for &c in entry_cols {
        col_ptr[c as usize + 1] += 1;
    }
    for c in 0..cols {
        col_ptr[c + 1] += col_ptr[c];
    }
    // Entries are visited in order of rows, so that rows ascend in each column.
    let mut fill: Vec<u32> = col_ptr[..cols].iter().map(|&p| p as u32).collect();
    let mut row_idx = vec![0u32; count];
    let mut position = vec![0u32; count];
    for (row, &(first, end)) in entries_of.iter().enumerate() {
        for e in first as usize..end as usize {
            let place = &mut fill[entry_cols[e] as usize];
            row_idx[*place as usize] = row as u32;
            position[e] = *place;
            *place += 1;
        }
    }
    let sparsity = Sparsity {
        rows,
        cols,
        col_ptr,
        row_idx,
    };
    (sparsity, position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jacobian::Partials;

    fn strided(bank: Bank, base: usize, stride: isize) -> Locations {
        Locations::Strided { bank, base, stride }
    }

    fn each(first: usize) -> Partials {
        Partials { first, step: 1 }
    }

    /// `d[j] = x[j+1] - x[j]` (local), `0 = x'[j] - d[j]`: the runs give the matrix, whatever the length is.
    #[test]
    fn runs_do_not_grow_with_the_array() {
        for count in [5usize, 50] {
            let items = [
                ItemRows {
                    target: strided(Bank::Mem, 0, 1),
                    accesses: vec![
                        (strided(Bank::Y, 1, 1), each(0)),
                        (strided(Bank::Y, 0, 1), each(count)),
                    ],
                    count,
                    independent: false,
                },
                ItemRows {
                    target: strided(Bank::Out, 0, 1),
                    accesses: vec![
                        (strided(Bank::Yp, 0, 1), each(2 * count)),
                        // All points have this one in common.
                        (
                            strided(Bank::Mem, 0, 1),
                            Partials {
                                first: 3 * count,
                                step: 0,
                            },
                        ),
                    ],
                    count,
                    independent: false,
                },
            ];
            let mut jac = Jacobian::default();
            schedule(&mut jac, &items, count, count + 1, count, Columns::Combined);
            assert!(jac.runs.len() <= 12, "{:?}", jac.runs);
            let mut partials = vec![1.0; 3 * count + 1];
            partials[count..2 * count].fill(-1.0);
            partials[3 * count] = -1.0;
            let mut acc = vec![0.0; jac.acc_len];
            let cj = 10.0;
            jac.accumulate(&partials, 1.0, cj, &mut acc);
            let s = &jac.sparsity;
            assert_eq!(s.row_idx.len(), 2 * count);
            for c in 0..s.cols {
                for k in s.col_ptr[c]..s.col_ptr[c + 1] {
                    // Row j is cj*x[j] - (x[j+1] - x[j]).
                    let expected = if s.row_idx[k] as usize == c {
                        cj + 1.0
                    } else {
                        -1.0
                    };
                    assert_eq!(acc[jac.values + k], expected, "column {c}");
                }
            }
        }
    }

    /// A recurrence in one item: `d[j] = d[j-1] + x[j]` with `d[0] = x[0]`.
    #[test]
    fn rows_that_read_their_item_are_complete_in_order() {
        let count = 4;
        let items = [
            ItemRows {
                target: strided(Bank::Mem, 0, 1),
                accesses: vec![(strided(Bank::Y, 0, 1), each(0))],
                count: 1,
                independent: false,
            },
            ItemRows {
                target: strided(Bank::Mem, 1, 1),
                accesses: vec![
                    (strided(Bank::Mem, 0, 1), each(1)),
                    (strided(Bank::Y, 1, 1), each(1 + count)),
                ],
                count,
                independent: false,
            },
            ItemRows {
                target: strided(Bank::Out, 0, 1),
                accesses: vec![(strided(Bank::Mem, count, 1), each(1 + 2 * count))],
                count: 1,
                independent: false,
            },
        ];
        let mut jac = Jacobian::default();
        schedule(&mut jac, &items, count + 1, count + 1, 1, Columns::Combined);
        let partials: Vec<f64> = (0..2 + 2 * count).map(|p| (p + 1) as f64).collect();
        let mut acc = vec![0.0; jac.acc_len];
        jac.accumulate(&partials, 1.0, 0.0, &mut acc);
        // By hand: the factor of x[k] is its own partial times all the later factors of d.
        let mut expected = vec![partials[0]];
        for j in 0..count {
            expected.iter_mut().for_each(|e| *e *= partials[1 + j]);
            expected.push(partials[1 + count + j]);
        }
        expected
            .iter_mut()
            .for_each(|e| *e *= partials[1 + 2 * count]);
        assert_eq!(acc[jac.values..], expected[..]);
    }
}
