//! The character cells of a terminal panel and the dots in them.
//!
//! A cell is 2 by 4 Braille dots, or one ASCII character. Lines are drawn dot by dot (Bresenham 1965); a cell remembers the
//! last curve that set a dot in it, which decides its colour or its letter.

/// Dots of a character cell, across and down.
pub(super) fn dots_per_cell(ascii: bool) -> (usize, usize) {
    if ascii { (1, 1) } else { (2, 4) }
}

/// The dot at a share of the axis; what lies outside comes to lie just outside.
pub(super) fn scaled(share: f64, dots: usize) -> i64 {
    (share * (dots as f64 - 1.0))
        .round()
        .clamp(-1.0, dots as f64) as i64
}

/// The character cells of a panel.
pub(super) struct Grid {
    columns: usize,
    lines: usize,
    /// Dots per cell.
    size: (usize, usize),
    dots: Vec<u8>,
    owner: Vec<usize>,
    letters: Vec<(usize, usize, char)>,
}

impl Grid {
    pub(super) fn new((columns, lines): (usize, usize), ascii: bool) -> Self {
        Self {
            columns,
            lines,
            size: dots_per_cell(ascii),
            dots: vec![0; columns * lines],
            owner: vec![0; columns * lines],
            letters: Vec::new(),
        }
    }

    /// Sets the dots from `a` to `b` and notes in `top` the line in which the curve crosses each column.
    pub(super) fn line(
        &mut self,
        a: (i64, i64),
        b: (i64, i64),
        curve: usize,
        top: &mut [Option<usize>],
    ) {
        let (dx, dy) = ((b.0 - a.0).abs(), -(b.1 - a.1).abs());
        let (step_x, step_y) = ((b.0 - a.0).signum(), (b.1 - a.1).signum());
        let (mut x, mut y, mut error) = (a.0, a.1, dx + dy);
        loop {
            self.dot(x, y, curve, top);
            if (x, y) == b {
                return;
            }
            let doubled = 2 * error;
            if doubled >= dy {
                error += dy;
                x += step_x;
            }
            if doubled <= dx {
                error += dx;
                y += step_y;
            }
        }
    }

    fn dot(&mut self, x: i64, y: i64, curve: usize, top: &mut [Option<usize>]) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else {
            return;
        };
        let (column, line) = (x / self.size.0, y / self.size.1);
        if column >= self.columns || line >= self.lines {
            return;
        }
        let at = line * self.columns + column;
        // Unicode numbers the dots of a Braille cell 1-3 and 4-6 downwards, then 7 and 8 at the bottom.
        const BRAILLE: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        self.dots[at] |= BRAILLE[x % self.size.0][y % self.size.1];
        self.owner[at] = curve;
        top[column] = Some(line);
    }

    /// What a cell shows: its dots as the low byte of a Braille character, the curve, and a letter set over the dots.
    pub(super) fn cell(&self, row: usize, column: usize) -> Cell {
        let at = row * self.columns + column;
        let letter = self.letters.iter().find(|l| (l.0, l.1) == (row, column));
        Cell {
            dots: self.dots[at],
            curve: self.owner[at],
            letter: letter.map(|l| l.2),
        }
    }

    /// Columns of a row up to its last dot.
    pub(super) fn used_columns(&self, row: usize) -> usize {
        let cells = &self.dots[row * self.columns..(row + 1) * self.columns];
        cells.iter().rposition(|&d| d != 0).map_or(0, |i| i + 1)
    }

    /// Sets a letter over the dots.
    pub(super) fn set_letter(&mut self, row: usize, column: usize, letter: char) {
        self.letters.push((row, column, letter));
    }
}

/// See [`Grid::cell`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    pub dots: u8,
    pub curve: usize,
    pub letter: Option<char>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_have_their_braille_places() {
        let mut grid = Grid::new((2, 1), false);
        let mut top = vec![None; 2];
        grid.line((0, 0), (0, 3), 7, &mut top); // left half of the first cell
        grid.line((3, 3), (3, 3), 8, &mut top); // lower right corner of the second
        grid.line((9, 9), (-5, -5), 9, &mut top); // the diagonal, from outside to outside
        assert_eq!(grid.cell(0, 0).dots, 0x47 | 0x10);
        assert_eq!(grid.cell(0, 1).dots, 0x80 | 0x04);
        assert_eq!((grid.cell(0, 0).curve, grid.used_columns(0)), (9, 2));
        assert_eq!(top, [Some(0), Some(0)]);
    }
}
