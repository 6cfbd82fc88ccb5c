//! Graphs as lists of neighbours, and the graph of a diagonal block.

use crate::pattern::Pattern;

/// Neighbour lists, one after the other: those of vertex `v` are `list[start[v]..start[v + 1]]`.
pub(crate) struct Adjacency {
    pub start: Vec<u32>,
    pub list: Vec<u32>,
}

impl Adjacency {
    /// The neighbours of a vertex.
    pub fn neighbours(&self, v: u32) -> &[u32] {
        &self.list[self.start[v as usize] as usize..self.start[v as usize + 1] as usize]
    }

    /// How many there are.
    pub fn degree(&self, v: u32) -> usize {
        self.neighbours(v).len()
    }
}

/// The graph of `B + B'` for one diagonal block B: the given columns and the rows at positions from `start` to `end`.
pub(crate) fn block_graph(
    pattern: &Pattern,
    columns: &[u32],
    position_of_row: &[u32],
    start: usize,
    end: usize,
) -> Adjacency {
    let n = end - start;
    let entries = |each: &mut dyn FnMut(usize, usize)| {
        for (j, &column) in columns.iter().enumerate() {
            for &row in pattern.rows_of(column as usize) {
                let at = position_of_row[row as usize] as usize;
                if (start..end).contains(&at) && at - start != j {
                    each(at - start, j);
                }
            }
        }
    };
    // Two passes: count, then fill.
    let mut ptr = vec![0u32; n + 1];
    entries(&mut |i, j| {
        ptr[i + 1] += 1;
        ptr[j + 1] += 1;
    });
    for k in 0..n {
        ptr[k + 1] += ptr[k];
    }
    let mut list = vec![0u32; ptr[n] as usize];
    let mut next = ptr.clone();
    entries(&mut |i, j| {
        for (from, to) in [(i, j), (j, i)] {
            list[next[from] as usize] = to as u32;
            next[from] += 1;
        }
    });
    // Entries on both sides of the diagonal are there twice.
    let mut kept = 0;
    for k in 0..n {
        let range = std::mem::replace(&mut ptr[k], kept as u32) as usize..next[k] as usize;
        list[range.clone()].sort_unstable();
        let mut last = None;
        for at in range {
            if last != Some(list[at]) {
                last = Some(list[at]);
                list[kept] = list[at];
                kept += 1;
            }
        }
    }
    ptr[n] = kept as u32;
    list.truncate(kept);
    Adjacency { start: ptr, list }
}
