//! The places of entries in compressed columns.
//!
//! In: the rows of a matrix, as blocks of progressions and one by one. Out: the pattern, in each column by ascending
//! rows, and where the entries of every row stand in it: for a block some runs with constant distances per column of
//! the block ([`Spots`]), for other rows a list.
//!
//! Two passes over the entries: one counts those of each column, one puts them down in the order of rows. Linear.

use super::Sparsity;
use super::elements::WalkedRows;
use super::regular::BlockOps;

/// From row `row` of a block on, an entry stands at `at`, and in each row after it `step` further.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub row: u32,
    pub at: u32,
    pub step: i32,
}

/// Per column of a block: where its entries stand.
#[derive(Default)]
pub(super) struct Spots(pub Vec<Vec<Spot>>);

/// The pattern under construction.
pub(super) struct Numbering {
    rows: usize,
    cols: usize,
    /// In front of each column the place where its next entry comes: `next[c + 1]` for column `c`.
    next: Vec<u32>,
}

impl Numbering {
    pub fn new(rows: usize, cols: usize) -> Numbering {
        Numbering {
            rows,
            cols,
            next: vec![0; cols + 2],
        }
    }

    /// The pattern, the spots of the blocks in their order, and the places of the entries of other rows.
    pub fn number<'a>(
        &mut self,
        blocks: impl Iterator<Item = &'a BlockOps>,
        walked: &WalkedRows,
    ) -> (Sparsity, Vec<Spots>, Vec<u32>) {
        let blocks: Vec<&BlockOps> = blocks.collect();
        for block in &blocks {
            for p in &block.columns {
                let mut c = p.first;
                for _ in 0..block.count {
                    self.next[c as usize + 2] += 1;
                    c += p.step;
                }
            }
        }
        for &c in &walked.columns {
            self.next[c as usize + 2] += 1;
        }
        let mut sum = 0;
        for n in &mut self.next {
            sum += *n;
            *n = sum;
        }
        // Rows in ascending order: (first row, number of the block or of the walked row).
        let mut order: Vec<(u32, u32)> = Vec::with_capacity(blocks.len() + walked.rows.len());
        order.extend((blocks.iter().enumerate()).map(|(k, b)| (b.first as u32, k as u32)));
        let others = blocks.len() as u32;
        order.extend((walked.rows.iter().enumerate()).map(|(k, r)| (r.0, others + k as u32)));
        if !order.is_sorted() {
            order.sort_unstable();
        }
        let mut row_idx = vec![0u32; sum as usize];
        let mut positions = vec![0u32; walked.columns.len()];
        let mut spots: Vec<Spots> = Vec::new();
        spots.resize_with(blocks.len(), Spots::default);
        for (row, k) in order {
            if k < others {
                spots[k as usize] = self.put_block(blocks[k as usize], &mut row_idx);
                continue;
            }
            for e in walked.entries((k - others) as usize) {
                let at = &mut self.next[walked.columns[e] as usize + 1];
                row_idx[*at as usize] = row;
                positions[e] = *at;
                *at += 1;
            }
        }
        let mut col_ptr = std::mem::take(&mut self.next);
        col_ptr.truncate(self.cols + 1);
        let sparsity = Sparsity {
            rows: self.rows,
            cols: self.cols,
            col_ptr,
            row_idx,
        };
        (sparsity, spots, positions)
    }

    fn put_block(&mut self, block: &BlockOps, row_idx: &mut [u32]) -> Spots {
        let mut spots = vec![Vec::new(); block.columns.len()];
        // Per column: the column itself, where its entry is expected, and what it would be after that.
        let mut open: Vec<(i64, i64, Option<Spot>)> =
            block.columns.iter().map(|p| (p.first, 0, None)).collect();
        for j in 0..block.count {
            let row = (block.first + j) as u32;
            for ((p, (column, expected, spot)), done) in
                (block.columns.iter().zip(&mut open)).zip(&mut spots)
            {
                let next = &mut self.next[*column as usize + 1];
                let at = *next;
                *next += 1;
                row_idx[at as usize] = row;
                *column += p.step;
                match spot {
                    Some(s) if at as i64 == *expected => *expected += s.step as i64,
                    // The second entry of a run tells the distance.
                    Some(s) if s.row + 1 == j as u32 => {
                        s.step = (at as i64 - s.at as i64) as i32;
                        *expected = at as i64 + s.step as i64;
                    }
                    _ => {
                        done.extend(*spot);
                        *spot = Some(Spot {
                            row: j as u32,
                            at,
                            step: 0,
                        });
                        // No entry stands there, so the next one tells the distance.
                        *expected = -1;
                    }
                }
            }
        }
        for ((_, _, spot), done) in open.into_iter().zip(&mut spots) {
            done.extend(spot);
        }
        Spots(spots)
    }
}
