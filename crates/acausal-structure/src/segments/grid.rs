//! Grids of cells: numbering of the cells of arrays, and walking over them.

/// The cells of one array, row-major.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) offset: usize,
    pub(crate) counts: Vec<usize>,
}

impl Grid {
    pub(crate) fn len(&self) -> usize {
        self.counts.iter().product()
    }

    /// Calls `visit` with the number of each cell and its position in each dimension, row-major.
    pub(crate) fn for_cells(&self, mut visit: impl FnMut(usize, &[usize])) {
        let mut at = vec![0; self.counts.len()];
        for n in 0..self.len() {
            visit(self.offset + n, &at);
            for k in (0..at.len()).rev() {
                at[k] += 1;
                if at[k] < self.counts[k] {
                    break;
                }
                at[k] = 0;
            }
        }
    }

    pub(crate) fn number(&self, at: &[usize]) -> usize {
        self.offset + at.iter().zip(&self.counts).fold(0, |n, (a, c)| n * c + a)
    }

    /// Inverse of [`Grid::number`].
    pub(crate) fn position(&self, number: usize) -> Vec<usize> {
        let mut n = number - self.offset;
        let mut at = vec![0; self.counts.len()];
        for k in (0..at.len()).rev() {
            at[k] = n % self.counts[k];
            n /= self.counts[k];
        }
        at
    }
}

/// The array that holds a cell.
pub(crate) fn array_of(grids: &[Grid], cell: usize) -> usize {
    let mut at = grids.partition_point(|g| g.offset <= cell) - 1;
    while grids[at].len() == 0 {
        at -= 1; // empty arrays share their offset with the next one
    }
    at
}

/// Visits all points of a product of ranges (first, count).
pub(crate) fn for_product(ranges: &[(usize, usize)], mut visit: impl FnMut(&[usize])) {
    if ranges.iter().any(|r| r.1 == 0) {
        return;
    }
    let mut at: Vec<usize> = ranges.iter().map(|r| r.0).collect();
    loop {
        visit(&at);
        let Some(k) = (0..at.len())
            .rev()
            .find(|&k| at[k] + 1 < ranges[k].0 + ranges[k].1)
        else {
            return;
        };
        at[k] += 1;
        for j in k + 1..at.len() {
            at[j] = ranges[j].0;
        }
    }
}
