//! Frames: dimensions whose indices run in step share a coordinate, and each frame is cut into cells.
//!
//! An access `x[i + 1]` ties the iterator i to the dimension of x. Dimensions tied together (by shifts or reversals) form
//! a *frame* with one integer coordinate. Where boxes begin or end, and where single elements are touched, the frame has
//! *cuts*. Near a cut every coordinate is a cell of its own; a long stretch without cuts looks the same everywhere, so a
//! short *window* of cells stands for it. A frame that no affine index uses is *loose*: its elements are always
//! touched together, so the stretch between two cuts is one heavy cell.

use super::model::{Model, Span};
use super::ties::{Numbering, Ties};

/// Shifts inside a frame larger than this make its arrays enumerated instead of compressed.
const LARGEST_SHIFT: i64 = 16;

/// A dimension of a variable or an iterator of an equation within its frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dim {
    /// The frame.
    pub(super) frame: usize,
    /// frame coordinate = sign * index + shift.
    pub(super) sign: i64,
    pub(super) shift: i64,
    /// The cells it covers.
    pub(super) first: usize,
    pub(super) count: usize,
}

impl Dim {
    pub(super) fn coordinate(&self, index: i64) -> i64 {
        self.sign * index + self.shift
    }

    /// The index range of frame coordinates `start..start+len`.
    pub(super) fn indices(&self, start: i64, len: i64) -> Span {
        let (a, b) = (
            self.sign * (start - self.shift),
            self.sign * (start + len - 1 - self.shift),
        );
        Span::new(a.min(b), a.max(b))
    }
}

/// A stretch of coordinates that is one node of the graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) start: i64,
    pub(super) len: i64,
    /// How many scalar elements it counts for: `len` if loose, else 1.
    pub(super) weight: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub(super) cells: Vec<Cell>,
    /// Windows (first cell, number of cells) that stand for longer stretches.
    pub(super) windows: Vec<(usize, usize)>,
    /// Some affine index runs along it.
    tight: bool,
    /// Indices do not run in step (strides, reflections, large shifts): enumerate.
    irregular: bool,
    reach: i64,
}

/// All frames, and the dimensions of variables (first) and equations.
pub(super) struct Frames {
    pub(super) frames: Vec<Frame>,
    var_dims: Vec<Vec<Dim>>,
    eq_dims: Vec<Vec<Dim>>,
}

impl Frames {
    pub(super) fn of_variable(&self, v: usize) -> &[Dim] {
        &self.var_dims[v]
    }

    pub(super) fn of_equation(&self, e: usize) -> &[Dim] {
        &self.eq_dims[e]
    }

    /// Numbers of the dimensions in a frame, as `enumerate` of [`Frames::new`] counts them.
    pub(super) fn dimensions(&self, frame: usize) -> impl Iterator<Item = usize> + '_ {
        let all = self
            .var_dims
            .iter()
            .chain(&self.eq_dims)
            .flatten()
            .enumerate();
        all.filter(move |(_, d)| d.frame == frame)
            .map(|(number, _)| number)
    }

    /// Whether some cells stand for longer stretches.
    pub(super) fn is_compressed(&self, frame: usize) -> bool {
        !self.frames[frame].windows.is_empty()
    }

    /// The shift of a regular affine index in cells, `None` if the frame is irregular there.
    pub(super) fn cell_shift(
        &self,
        iterator: Dim,
        coefficient: i64,
        offset: i64,
        dim: Dim,
    ) -> Option<i64> {
        if dim.frame != iterator.frame || dim.sign * coefficient * iterator.sign != 1 {
            return None;
        }
        // sign_v (c i + o) + shift_v with i = sign_e (f - shift_e)
        let k = dim.sign * offset + dim.shift - iterator.shift;
        (k.abs() <= LARGEST_SHIFT || self.frames[dim.frame].irregular).then_some(k)
    }

    /// The cell that holds a coordinate.
    pub(super) fn cell_at(&self, frame: usize, coordinate: i64) -> usize {
        self.frames[frame]
            .cells
            .partition_point(|c| c.start <= coordinate)
            .saturating_sub(1)
    }

    /// Builds the frames. `enumerate(dimension number)` asks for a dimension (and so its frame) to be enumerated;
    /// `pair` also ties iterators to ranges of the same length that they run over as a whole.
    pub(super) fn new(model: &Model, enumerate: &dyn Fn(usize) -> bool, pair: bool) -> Frames {
        let numbers = Numbering::new(model);
        let mut ties = Ties::new(numbers.total);
        for (v, variable) in model.variables.iter().enumerate() {
            if let Some(d) = variable.derivative {
                for k in 0..variable.shape.len() {
                    ties.tie(numbers.var(v, k), numbers.var(d.index(), k), 1, 0);
                }
            }
        }
        let mut irregular: Vec<usize> = (0..numbers.total).filter(|&d| enumerate(d)).collect();
        // Small offsets first, so that what is left of the others as a shift inside the frame stays small.
        let mut affine = Vec::new();
        numbers.for_affine(model, |it, dim, coefficient, offset| {
            affine.push((offset.abs(), it, dim, coefficient, offset));
        });
        affine.sort_by_key(|a| a.0);
        for (_, it, dim, coefficient, offset) in affine {
            if coefficient.abs() == 1 {
                ties.tie(it, dim, coefficient, offset);
            } else {
                irregular.extend([it, dim]);
            }
        }
        if pair {
            numbers.pair_ranges(model, &mut ties);
        }
        let (root_frame, count) = ties.roots();
        let mut frames = vec![Frame::default(); count];
        let locate = |ties: &Ties, d: usize| {
            let (root, sign, shift) = ties.find(d);
            Dim {
                frame: root_frame[root],
                sign,
                shift,
                first: 0,
                count: 0,
            }
        };
        numbers.for_affine(model, |it, dim, coefficient, offset| {
            let (i, d) = (locate(&ties, it), locate(&ties, dim));
            frames[i.frame].tight = true;
            frames[d.frame].tight = true;
            if i.frame == d.frame && d.sign * coefficient * i.sign == 1 {
                let k = (d.sign * offset + d.shift - i.shift).abs();
                frames[i.frame].reach = frames[i.frame].reach.max(k);
            } else {
                frames[i.frame].irregular = true;
                frames[d.frame].irregular = true;
            }
        });
        for d in irregular {
            let f = locate(&ties, d).frame;
            frames[f].irregular = true;
        }
        let mut cuts: Vec<Vec<i64>> = vec![Vec::new(); count];
        numbers.for_boxes(model, |d, span| {
            let dim = locate(&ties, d);
            let (a, b) = (dim.coordinate(span.lo), dim.coordinate(span.hi));
            cuts[dim.frame].extend([a.min(b), a.max(b) + 1]);
        });
        for (frame, cuts) in frames.iter_mut().zip(&mut cuts) {
            cuts.sort_unstable();
            cuts.dedup();
            frame.divide(cuts);
        }
        let mut result = Frames {
            frames,
            var_dims: Vec::new(),
            eq_dims: Vec::new(),
        };
        let place = |result: &Frames, d: usize, span: Span| {
            let mut dim = locate(&ties, d);
            if span.size() > 0 {
                let (a, b) = (dim.coordinate(span.lo), dim.coordinate(span.hi));
                dim.first = result.cell_at(dim.frame, a.min(b));
                dim.count = result.cell_at(dim.frame, a.max(b)) + 1 - dim.first;
            }
            dim
        };
        for (v, variable) in model.variables.iter().enumerate() {
            let dims = variable
                .shape
                .iter()
                .enumerate()
                .map(|(k, s)| place(&result, numbers.var(v, k), *s))
                .collect();
            result.var_dims.push(dims);
        }
        for (e, equation) in model.equations.iter().enumerate() {
            let dims = equation
                .iterators
                .iter()
                .enumerate()
                .map(|(k, s)| place(&result, numbers.eq(e, k), *s))
                .collect();
            result.eq_dims.push(dims);
        }
        result
    }
}

impl Frame {
    /// Divides the span of the cuts into cells.
    fn divide(&mut self, cuts: &[i64]) {
        // Distances within which an end of a stretch may differ from its middle, and how much of the middle is kept to
        // see that it is uniform: a matching is local, so a window wider than all shifts proves the whole stretch.
        let margin = 2 * self.reach + 4;
        let window = 2 * self.reach + 3;
        for pair in cuts.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let len = to - from;
            let mut push = |start: i64, len: i64, weight: u64| {
                self.cells.push(Cell { start, len, weight });
            };
            if !self.tight {
                push(from, len, len as u64);
            } else if self.irregular || self.reach > LARGEST_SHIFT || len <= 2 * margin + window {
                (from..to).for_each(|at| push(at, 1, 1));
            } else {
                (from..from + margin).for_each(|at| push(at, 1, 1));
                let rest = to - margin - window + 1; // the first cell of the window stands for the stretch
                push(from + margin, rest - from - margin, 1);
                (rest..to).for_each(|at| push(at, 1, 1));
                let first = self.cells.len() - (margin + window) as usize;
                self.windows.push((first, window as usize));
            }
        }
    }
}
