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
pub(crate) struct Dim {
    /// The frame.
    pub(crate) frame: usize,
    /// frame coordinate = sign * index + shift.
    pub(crate) sign: i64,
    pub(crate) shift: i64,
    /// The cells it covers.
    pub(super) first: usize,
    pub(super) count: usize,
}

impl Dim {
    pub(crate) fn coordinate(&self, index: i64) -> i64 {
        self.sign * index + self.shift
    }

    /// The index range of frame coordinates `start..start+len`.
    pub(crate) fn indices(&self, start: i64, len: i64) -> Span {
        let (a, b) = (
            self.sign * (start - self.shift),
            self.sign * (start + len - 1 - self.shift),
        );
        Span::new(a.min(b), a.max(b))
    }
}

/// How much of a long stretch is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// Just enough for a proof, if the margins suffice for what is special at the ends.
    Narrow,
    /// More, for ends whose influence reaches further.
    Wide,
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
    irregular: bool,
}

/// How far a frame reaches and where it is cut, before it is divided into cells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extent {
    /// Some affine index runs along it.
    pub(crate) tight: bool,
    /// Indices do not run in step (strides, reflections) or were asked to be enumerated.
    pub(crate) irregular: bool,
    /// The largest shift of an index.
    pub(crate) reach: i64,
    /// Where boxes begin, or the coordinate after they end; ascending.
    pub(crate) cuts: Vec<i64>,
}

impl Extent {
    /// Whether a long stretch between two cuts looks the same everywhere.
    pub(crate) fn is_regular(&self) -> bool {
        !self.irregular && self.reach <= LARGEST_SHIFT
    }
}

/// The dimensions of a model in their frames.
pub(crate) struct Coordinates {
    numbers: Numbering,
    dims: Vec<Dim>,
    pub(crate) extents: Vec<Extent>,
}

impl Coordinates {
    /// Dimension `k` of variable `v`.
    pub(crate) fn of_variable(&self, v: usize, k: usize) -> Dim {
        self.dims[self.numbers.var(v, k)]
    }

    /// Iterator `k` of equation `e`.
    pub(crate) fn of_equation(&self, e: usize, k: usize) -> Dim {
        self.dims[self.numbers.eq(e, k)]
    }

    /// Ties dimensions into frames; arguments as for [`Frames::new`].
    pub(crate) fn new(model: &Model, enumerate: &dyn Fn(usize) -> bool, pair: bool) -> Coordinates {
        let numbers = Numbering::new(model);
        let mut ties = Ties::new(numbers.total);
        numbers.tie_derivatives(model, &mut ties);
        let mut irregular: Vec<usize> = (0..numbers.total).filter(|&d| enumerate(d)).collect();
        // Small offsets first, so that what is left of the others as a shift inside the frame stays small.
        let mut affine = Vec::new();
        numbers.for_affine(model, |it, dim, coefficient, offset| {
            affine.push((offset.abs(), it, dim, coefficient, offset));
        });
        affine.sort_by_key(|a| a.0);
        for &(_, it, dim, coefficient, offset) in &affine {
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
        let dims: Vec<Dim> = (0..numbers.total)
            .map(|d| {
                let (root, sign, shift) = ties.find(d);
                Dim {
                    frame: root_frame[root],
                    sign,
                    shift,
                    first: 0,
                    count: 0,
                }
            })
            .collect();
        let mut extents = vec![Extent::default(); count];
        for (_, it, dim, coefficient, offset) in affine {
            let (i, d) = (dims[it], dims[dim]);
            extents[i.frame].tight = true;
            extents[d.frame].tight = true;
            if i.frame == d.frame && d.sign * coefficient * i.sign == 1 {
                let k = (d.sign * offset + d.shift - i.shift).abs();
                extents[i.frame].reach = extents[i.frame].reach.max(k);
            } else {
                extents[i.frame].irregular = true;
                extents[d.frame].irregular = true;
            }
        }
        for d in irregular {
            extents[dims[d].frame].irregular = true;
        }
        numbers.for_boxes(model, |d, span| {
            let dim = dims[d];
            let (a, b) = (dim.coordinate(span.lo), dim.coordinate(span.hi));
            extents[dim.frame].cuts.extend([a.min(b), a.max(b) + 1]);
        });
        for extent in &mut extents {
            extent.cuts.sort_unstable();
            extent.cuts.dedup();
        }
        Coordinates {
            numbers,
            dims,
            extents,
        }
    }
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
    pub(super) fn new(
        model: &Model,
        enumerate: &dyn Fn(usize) -> bool,
        pair: bool,
        width: Width,
    ) -> Frames {
        let c = Coordinates::new(model, enumerate, pair);
        let divided = c.extents.iter().map(|e| Frame::new(e, width));
        let frames = divided.collect();
        let mut result = Frames {
            frames,
            var_dims: Vec::new(),
            eq_dims: Vec::new(),
        };
        let place = |result: &Frames, mut dim: Dim, span: Span| {
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
                .map(|(k, s)| place(&result, c.of_variable(v, k), *s))
                .collect();
            result.var_dims.push(dims);
        }
        for (e, equation) in model.equations.iter().enumerate() {
            let dims = equation
                .iterators
                .iter()
                .enumerate()
                .map(|(k, s)| place(&result, c.of_equation(e, k), *s))
                .collect();
            result.eq_dims.push(dims);
        }
        result
    }
}

impl Frame {
    /// Divides a frame into cells.
    fn new(extent: &Extent, width: Width) -> Frame {
        let mut frame = Frame {
            irregular: extent.irregular,
            ..Frame::default()
        };
        // Distances within which an end of a stretch may differ from its middle, and how much of the middle is kept to
        // see that it is uniform: a matching is local, so a window that holds a cell with all its neighbours proves the
        // whole stretch.
        let (margin, window) = match width {
            Width::Narrow => (extent.reach + 1, 2 * extent.reach + 2),
            Width::Wide => (2 * extent.reach + 4, 2 * extent.reach + 3),
        };
        for pair in extent.cuts.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let len = to - from;
            let mut push = |start: i64, len: i64, weight: u64| {
                frame.cells.push(Cell { start, len, weight });
            };
            if !extent.tight {
                push(from, len, len as u64);
            } else if !extent.is_regular() || len <= 2 * margin + window {
                (from..to).for_each(|at| push(at, 1, 1));
            } else {
                (from..from + margin).for_each(|at| push(at, 1, 1));
                let rest = to - margin - window + 1; // the first cell of the window stands for the stretch
                push(from + margin, rest - from - margin, 1);
                (rest..to).for_each(|at| push(at, 1, 1));
                let first = frame.cells.len() - (margin + window) as usize;
                frame.windows.push((first, window as usize));
            }
        }
        frame
    }
}
