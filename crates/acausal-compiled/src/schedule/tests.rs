//! The schedule against rows that are put together densely.

use super::*;
use crate::jacobian::Partials;
use crate::locations::Locations;

fn strided(bank: Bank, base: usize, stride: isize) -> Locations {
    Locations::Strided { bank, base, stride }
}

fn each(first: usize) -> Partials {
    Partials { first, step: 1 }
}

fn item(target: Locations, accesses: Vec<(Locations, Partials)>, count: usize) -> ItemRows {
    ItemRows {
        target,
        accesses,
        count,
        independent: false,
    }
}

fn made(items: &[ItemRows], n: usize, rows: usize, columns: &JacobianColumns) -> Schedule {
    schedule(items.iter(), MatrixSize { n, rows }, columns, 0)
}

/// The values of a schedule as a dense matrix; the memory holds rubbish before.
fn filled(s: &Schedule, partials: &[f64], one: f64, cj: f64) -> Vec<Vec<f64>> {
    let mut acc = vec![7.0; s.acc_len];
    let p = &s.sparsity;
    let mut values = vec![7.0; p.row_idx.len()];
    s.accumulate(None, partials, (one, cj), &mut acc, &mut values);
    let mut dense = vec![vec![0.0; p.cols]; p.rows];
    let columns = (0..p.cols).map(|c| (c, p.entries(c)));
    for (c, entries) in columns {
        let rows = &p.row_idx[entries.clone()];
        let ascending = rows.is_sorted_by(|a, b| a < b);
        assert!(ascending, "rows of column {c}: {rows:?}");
        for (k, r) in entries.zip(rows) {
            dense[*r as usize][c] = values[k];
        }
    }
    dense
}

/// `d[j] = x[j+1] - x[j]` (local), `0 = x'[j] - d[j]`: the runs give the matrix, whatever the length is.
#[test]
fn runs_do_not_grow_with_the_array() {
    for count in [5usize, 50] {
        let common = Partials {
            first: 3 * count,
            step: 0,
        };
        let items = [
            item(
                strided(Bank::Mem, 0, 1),
                vec![
                    (strided(Bank::Y, 1, 1), each(0)),
                    (strided(Bank::Y, 0, 1), each(count)),
                ],
                count,
            ),
            item(
                strided(Bank::Out, 0, 1),
                vec![
                    (strided(Bank::Yp, 0, 1), each(2 * count)),
                    (strided(Bank::Mem, 0, 1), common),
                ],
                count,
            ),
        ];
        let s = made(&items, count + 1, count, &JacobianColumns::Combined);
        assert!(s.locals.runs.len() + s.values.runs.len() <= 12, "{s:?}");
        assert_eq!(s.sparsity.row_idx.len(), 2 * count);
        let mut partials = vec![1.0; 3 * count + 1];
        partials[count..2 * count].fill(-1.0);
        partials[3 * count] = -1.0;
        let cj = 10.0;
        for (j, row) in filled(&s, &partials, 1.0, cj).iter().enumerate() {
            // Row j is cj*x[j] - (x[j+1] - x[j]).
            let mut expected = vec![0.0; count + 1];
            (expected[j], expected[j + 1]) = (cj + 1.0, -1.0);
            assert_eq!(row, &expected);
        }
    }
}

/// A recurrence in one item: `d[j] = d[j-1] + x[j]` with `d[0] = x[0]`.
#[test]
fn rows_that_read_their_item_are_complete_in_order() {
    let count = 4;
    let items = [
        item(
            strided(Bank::Mem, 0, 1),
            vec![(strided(Bank::Y, 0, 1), each(0))],
            1,
        ),
        item(
            strided(Bank::Mem, 1, 1),
            vec![
                (strided(Bank::Mem, 0, 1), each(1)),
                (strided(Bank::Y, 1, 1), each(1 + count)),
            ],
            count,
        ),
        item(
            strided(Bank::Out, 0, 1),
            vec![(strided(Bank::Mem, count, 1), each(1 + 2 * count))],
            1,
        ),
    ];
    let s = made(&items, count + 1, 1, &JacobianColumns::Combined);
    let partials: Vec<f64> = (0..2 + 2 * count).map(|p| (p + 1) as f64).collect();
    // By hand: the factor of x[k] is its own partial times all the later factors of d.
    let mut expected = vec![partials[0]];
    for j in 0..count {
        expected.iter_mut().for_each(|e| *e *= partials[1 + j]);
        expected.push(partials[1 + count + j]);
    }
    let last = partials[1 + 2 * count];
    expected.iter_mut().for_each(|e| *e *= last);
    assert_eq!(filled(&s, &partials, 1.0, 0.0)[0], expected);
}

/// A block that is taken some rows at a time: `0 = p[j]*x'[j] + q[j]*x[j+1] + r*x[j] + s[j]*d[j]`, `d[j] = u[j]*x[j] + v*x[j+2]`.
#[test]
fn long_blocks_are_filled_completely() {
    let count = 3 * ROWS as usize + 5;
    let common = |first| Partials { first, step: 0 };
    let items = [
        item(
            strided(Bank::Mem, 0, 1),
            vec![
                (strided(Bank::Y, 0, 1), each(0)),
                (strided(Bank::Y, 2, 1), common(4 * count)),
            ],
            count,
        ),
        item(
            strided(Bank::Out, 0, 1),
            vec![
                (strided(Bank::Yp, 0, 1), each(count)),
                (strided(Bank::Y, 1, 1), each(2 * count)),
                (strided(Bank::Y, 0, 1), common(4 * count + 1)),
                (strided(Bank::Mem, 0, 1), each(3 * count)),
            ],
            count,
        ),
    ];
    let s = made(&items, count + 2, count, &JacobianColumns::Combined);
    let partials: Vec<f64> = (0..4 * count + 2).map(|k| 1.0 + (k % 13) as f64).collect();
    let expected = dense(
        &items,
        count + 2,
        count,
        count,
        &JacobianColumns::Combined,
        &partials,
        3.0,
    );
    assert!(filled(&s, &partials, 1.0, 3.0) == expected);
}

/// `x[j] + 2*x[20 - j]`: both columns are one in row 10.
#[test]
fn columns_that_meet_are_one_entry() {
    let two = Partials { first: 1, step: 0 };
    let one = Partials { first: 0, step: 0 };
    let items = [item(
        strided(Bank::Out, 0, 1),
        vec![
            (strided(Bank::Y, 0, 1), one),
            (strided(Bank::Y, 20, -1), two),
        ],
        21,
    )];
    let s = made(&items, 21, 21, &JacobianColumns::Combined);
    let dense = filled(&s, &[1.0, 2.0], 1.0, 0.0);
    assert_eq!(s.sparsity.row_idx.len(), 41);
    assert_eq!(dense[10][10], 3.0);
    assert_eq!((dense[3][3], dense[3][17]), (1.0, 2.0));
}

/// Numbers without a pattern, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) % n.max(1) as u64) as usize
    }

    /// Places of one of the banks that `count` points can read, in one of the ways there are.
    fn access(&mut self, n: usize, written: usize, count: usize) -> Locations {
        let bank = [Bank::Y, Bank::Yp, Bank::Mem][self.below(3)];
        let size = if bank == Bank::Mem { written } else { n };
        if size == 0 {
            return strided(Bank::Y, self.below(n), 0);
        }
        match self.below(4) {
            0 => strided(bank, self.below(size), 0),
            1 => {
                let list = (0..count).map(|_| Loc::new(bank, self.below(size)));
                Locations::List(list.collect())
            }
            2 if count > 1 => {
                let cut = 1 + self.below(count - 1);
                let run = |dice: &mut Dice, first, count| {
                    let (base, stride) = dice.fit(size, count);
                    crate::locations::StridedRun {
                        first,
                        count,
                        bank,
                        base,
                        stride,
                    }
                };
                Locations::Runs(vec![run(self, 0, cut), run(self, cut, count - cut)])
            }
            _ => {
                let (base, stride) = self.fit(size, count);
                strided(bank, base, stride)
            }
        }
    }

    fn fit(&mut self, size: usize, count: usize) -> (usize, isize) {
        let widest = (size - 1) / count.saturating_sub(1).max(1);
        let stride = self.below(widest.min(3) + 1);
        let base = self.below(size - stride * (count - 1));
        match self.below(2) {
            0 => (base, stride as isize),
            _ => (base + stride * (count - 1), -(stride as isize)),
        }
    }
}

/// Random items of all kinds: local assignments of local assignments, lists, strides, recurrences.
#[test]
fn agrees_with_dense_rows() {
    for seed in 0..400 {
        let dice = &mut Dice(seed);
        let n = 30;
        let mut items = Vec::new();
        let (mut written, mut rows, mut partials_len) = (0, 0, 0);
        for k in 0..8 {
            let local = k < 5;
            let count = [1, 2, 7, 25][dice.below(4)];
            let accesses = (0..dice.below(4))
                .map(|_| {
                    let step = dice.below(2);
                    let partials = Partials {
                        first: partials_len,
                        step,
                    };
                    partials_len += 1 + step * (count - 1);
                    (dice.access(n, written, count), partials)
                })
                .collect();
            let next = if local { &mut written } else { &mut rows };
            let bank = if local { Bank::Mem } else { Bank::Out };
            let target = match dice.below(3) {
                0 => Locations::List((0..count).map(|j| Loc::new(bank, *next + j)).collect()),
                _ => strided(bank, *next, 1),
            };
            *next += count;
            items.push(item(target, accesses, count));
        }
        let partials: Vec<f64> = (0..partials_len)
            .map(|_| 1.0 + dice.below(5) as f64)
            .collect();
        let known = vec![(3, 9), (20, 26)];
        for columns in [
            JacobianColumns::Combined,
            JacobianColumns::Consistent { known },
            JacobianColumns::Separate {
                n,
                units: Vec::new(),
            },
        ] {
            let s = made(&items, n, rows, &columns);
            let (one, cj) = match columns {
                JacobianColumns::Combined => (1.0, 3.0),
                _ => (1.0, 1.0),
            };
            let expected = dense(&items, n, rows, written, &columns, &partials, cj);
            assert_eq!(
                filled(&s, &partials, one, cj),
                expected,
                "seed {seed}, {columns:?}"
            );
            let entries = pattern_of(&items, n, rows, written, &columns);
            assert_eq!(
                s.sparsity.row_idx.len(),
                entries,
                "seed {seed}, {columns:?}"
            );
        }
    }
}

/// The rows by the chain rule, as vectors.
fn dense(
    items: &[ItemRows],
    n: usize,
    rows: usize,
    mem: usize,
    columns: &JacobianColumns,
    partials: &[f64],
    cj: f64,
) -> Vec<Vec<f64>> {
    let cols = columns.count(n);
    let mut locals = vec![vec![0.0; cols]; mem];
    let mut out = vec![vec![0.0; cols]; rows];
    for item in items {
        for j in 0..item.count {
            let mut row = vec![0.0; cols];
            for (l, p) in &item.accesses {
                let partial = partials[p.first + j * p.step];
                let source = l.at(j);
                let k = source.index();
                let known = |r: &(usize, usize)| (r.0..r.1).contains(&k);
                match (source.bank(), columns) {
                    (Bank::Y, JacobianColumns::Consistent { known: list })
                        if list.iter().any(known) => {}
                    (Bank::Yp, JacobianColumns::Separate { .. }) => row[n + k] += partial,
                    (Bank::Yp, JacobianColumns::Combined) => row[k] += partial * cj,
                    (Bank::Y | Bank::Yp, _) => row[k] += partial,
                    _ => (row.iter_mut().zip(&locals[k])).for_each(|(r, v)| *r += partial * v),
                }
            }
            let target = item.target.at(j);
            match target.bank() {
                Bank::Mem => locals[target.index()] = row,
                _ => out[target.index()] = row,
            }
        }
    }
    out
}

/// Number of entries: all partial derivatives are positive, so none of them vanishes.
fn pattern_of(
    items: &[ItemRows],
    n: usize,
    rows: usize,
    mem: usize,
    columns: &JacobianColumns,
) -> usize {
    let partials = vec![1.0; 10_000];
    let all = dense(items, n, rows, mem, columns, &partials, 1.0);
    all.iter().flatten().filter(|v| **v != 0.0).count()
}
