//! Arrays stay arrays: matching, index reduction and sorting at a cost that does not depend on array lengths.
//!
//! In: a [`Model`]: array variables, array equations over iteration boxes, and accesses like `x[i-1]`, `x[1]`, `sum(x)`.
//! Out: an [`Analysis`] that equals what the same algorithms give for the scalarised model, but stated for *segments*
//! (boxes of elements that behave alike): how often each is differentiated, what it determines, and blocks that are
//! elementwise, recurrences or coupled.
//!
//! Method.
//! 1. Dimensions whose indices run in step share a *frame*; boxes and single elements cut it ([`frames`](self)).
//! 2. A stretch between two cuts that is much longer than all index shifts is replaced by a short one: margins at both
//!    ends and a window in the middle. What is left is a small model of the same kind, as if N were 17.
//! 3. The exact scalar algorithms run on it: Pantelides, then a complete matching of the highest derivatives.
//! 4. If the windows are uniform (same differentiation order, same choice of access), everything is lifted back: the
//!    conditions that make a matching complete and the orders consistent are local, so repeating a uniform window keeps
//!    them true. Equal cells are joined into segments.
//! 5. If a window is not uniform, or the small model is singular where it was shortened, the arrays of just that frame are
//!    enumerated element by element and the analysis repeats; the result says which ones ([`Analysis::enumerated`]).
//!
//! A singular model is reported only from elements that were not shortened, so the verdict is exact too.
//! Equations whose iterators no index uses, and dimensions that are only touched as ranges, are single nodes with a
//! capacity (full incidence), as in [`crate::flow`].
//!
//! Worked example: `z[1] = 1; for i in 2:N: z[i] = f(z[i-1])` with a million elements. The frame of i is cut at 1, 2 and
//! N+1, the model shrinks to some twenty cells; two segments come out, the second a recurrence, not a loop.
//! ```
//! use acausal_structure::segments::{Direction, Index, Kind, Model, Span, analyse};
//! let n = 1_000_000;
//! let mut m = Model::default();
//! let z = m.variable(&[Span::new(1, n)], 0);
//! m.equation(&[], &[(z, &[Index::Fixed(1)])]);
//! m.equation(&[Span::new(2, n)], &[(z, &[Index::shifted(0, 0)]), (z, &[Index::shifted(0, -1)])]);
//! let a = analyse(&m).unwrap();
//! assert!(a.cells < 60 && a.enumerated.equations.is_empty());
//! assert_eq!(a.segments[1].spans, [Span::new(2, n)]);
//! let kinds: Vec<&Kind> = a.blocks.iter().map(|b| &b.kind).collect();
//! assert_eq!(kinds, [&Kind::Elementwise, &Kind::Recurrence(vec![Direction::Ascending])]);
//! ```

mod frames;
mod instance;
mod lift;
mod model;
mod order;

use std::collections::BTreeSet;
use std::fmt;

pub use model::{Access, BadAccess, Equation, Index, Model, Span, Variable, size_of};
pub use order::{Block, Direction, Kind};

use crate::dulmage_mendelsohn::Part;
use crate::flow::Reached;
use crate::pantelides::pantelides;
use crate::{EqId, VarId};
use frames::Frames;
use instance::{Assignment, Instance, Orders, Variant};
use lift::{CellBox, Labels, Pieces, boxes, spans};
use order::{Arc, Node};

/// The graph may have this many incidences; more come only from enumerated arrays that touch each other as a whole.
pub const MAX_INCIDENCES: u128 = 100_000_000;

/// A box of elements of one equation that behave alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The equation.
    pub equation: EqId,
    /// The range of each iterator.
    pub spans: Vec<Span>,
    /// How often these elements are differentiated.
    pub differentiations: u32,
    /// What they determine: one entry unless whole ranges are involved.
    pub determines: Vec<Determined>,
    /// Number of the block it belongs to.
    pub block: usize,
}

/// Elements of a variable's highest derivative that a segment determines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Determined {
    /// Number of the access of the equation through which it contains them.
    pub access: usize,
    /// The undifferentiated variable.
    pub variable: VarId,
    /// Order of the highest derivative.
    pub order: u32,
    /// Its elements. If `elements` is less than their number, only so many of them: which ones is left open.
    pub spans: Vec<Span>,
    /// Number of elements determined.
    pub elements: u64,
}

/// A box of elements of an undifferentiated variable with the same highest derivative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableSegment {
    /// The variable.
    pub variable: VarId,
    /// Its elements.
    pub spans: Vec<Span>,
    /// Order of their highest derivative after index reduction.
    pub order: u32,
}

/// Arrays whose elements were enumerated in the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enumerated {
    /// Equations.
    pub equations: Vec<EqId>,
    /// Variables.
    pub variables: Vec<VarId>,
}

/// Result of [`analyse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// Segments of the equations, by equation and position.
    pub segments: Vec<Segment>,
    /// Segments of the variables, by variable and position.
    pub variables: Vec<VariableSegment>,
    /// Blocks in solving order.
    pub blocks: Vec<Block>,
    /// What had to be enumerated.
    pub enumerated: Enumerated,
    /// Number of equation nodes of the graph that was solved.
    pub cells: usize,
}

/// Why a model cannot be analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// An index leaves its array.
    BadAccess(BadAccess),
    /// The model is structurally singular, whatever is differentiated.
    Singular {
        /// Over-determined sets: equation elements and the variable elements they have.
        over: Vec<ElementSet>,
        /// Under-determined sets.
        under: Vec<ElementSet>,
    },
    /// Enumerating the elements would take too many incidences.
    TooLarge {
        /// How many.
        incidences: u128,
    },
}

/// Boxes of elements of equations and variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementSet {
    /// Equation elements.
    pub equations: Vec<(EqId, Vec<Span>)>,
    /// Variable elements.
    pub variables: Vec<(VarId, Vec<Span>)>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::BadAccess(b) => b.fmt(f),
            Error::Singular { over, under } => {
                write!(
                    f,
                    "structurally singular: {} over- and {} under-determined sets",
                    over.len(),
                    under.len()
                )
            }
            Error::TooLarge { incidences } => {
                write!(f, "the graph would need {incidences} incidences")
            }
        }
    }
}

impl std::error::Error for Error {}

/// Index reduction, matching and sorting of a model of arrays.
///
/// # Errors
/// If an index leaves its array, the model is structurally singular, or would need too large a graph.
pub fn analyse(model: &Model) -> Result<Analysis, Error> {
    model.check().map_err(Error::BadAccess)?;
    let mut expanded: BTreeSet<usize> = BTreeSet::new();
    let mut pair = true;
    loop {
        let frames = Frames::new(model, &|d| expanded.contains(&d), pair);
        let incidences = Instance::incidences(model, &frames);
        if incidences > MAX_INCIDENCES {
            if pair {
                pair = false;
                continue;
            }
            return Err(Error::TooLarge { incidences });
        }
        let instance = Instance::new(model, frames);
        let retry: BTreeSet<usize> = match pantelides(&instance.dae) {
            Ok(d) => {
                let orders = instance.orders(&d);
                match regular(model, &instance, &orders) {
                    Ok((labels, assignment)) => {
                        let what = enumerated(model, &instance, &expanded);
                        return Ok(lifted(
                            model,
                            &instance,
                            &orders,
                            &labels,
                            &assignment,
                            what,
                        ));
                    }
                    Err(frames) => frames,
                }
            }
            Err(not_regular) => {
                let check = not_regular.0;
                let over: Vec<Part> = check.over.into_iter().map(|o| o.2).collect();
                let under: Vec<Part> = check.under.into_iter().map(|u| u.2).collect();
                let shortened: Vec<BTreeSet<usize>> = over
                    .iter()
                    .chain(&under)
                    .map(|p| compressed_frames(&instance, p))
                    .collect();
                if shortened.iter().any(BTreeSet::is_empty) {
                    // This set is what it is in the full model: the verdict stands.
                    let keep = |parts: &[Part]| {
                        let exact = parts
                            .iter()
                            .filter(|p| compressed_frames(&instance, p).is_empty());
                        exact.map(|p| element_set(&instance, p)).collect()
                    };
                    return Err(Error::Singular {
                        over: keep(&over),
                        under: keep(&under),
                    });
                }
                shortened.into_iter().flatten().collect()
            }
        };
        expanded.extend(retry.iter().flat_map(|&f| instance.frames.dimensions(f)));
        pair = false;
    }
}

/// A matching whose windows are uniform, or the frames where none of the attempts was.
fn regular(
    model: &Model,
    instance: &Instance,
    orders: &Orders,
) -> Result<(Labels, Assignment), BTreeSet<usize>> {
    let mut roots = vec![true; model.variables.len()];
    for d in model.variables.iter().filter_map(|v| v.derivative) {
        roots[d.index()] = false;
    }
    let mut bad = BTreeSet::new();
    for (k, (backwards, last_access_first)) in
        [(false, false), (false, true), (true, false), (true, true)]
            .into_iter()
            .enumerate()
    {
        let assignment = instance.assign(
            orders,
            Variant {
                backwards,
                last_access_first,
            },
        );
        debug_assert!(
            assignment.complete,
            "Pantelides ends with a complete matching"
        );
        let labels = Labels::new(model, instance, orders, &assignment);
        let frames = labels.irregular_frames(instance, &roots);
        if frames.is_empty() {
            return Ok((labels, assignment));
        }
        if k == 0 {
            bad = frames;
        }
    }
    Err(bad)
}

/// The frames with windows that a set of cells touches.
fn compressed_frames(instance: &Instance, part: &Part) -> BTreeSet<usize> {
    let mut out = BTreeSet::new();
    for e in &part.equations {
        let array = instance.equation_of(e.index());
        out.extend(instance.frames.of_equation(array).iter().map(|d| d.frame));
    }
    for v in &part.variables {
        let array = instance.variable_of(instance.slot_of_node[v.index()] as usize);
        out.extend(instance.frames.of_variable(array).iter().map(|d| d.frame));
    }
    out.retain(|&f| instance.frames.is_compressed(f));
    out
}

fn element_set(instance: &Instance, part: &Part) -> ElementSet {
    let Reached {
        equations,
        variables,
    } = part;
    let mut out = ElementSet::default();
    let mut marks = vec![u32::MAX; instance.entries.len()];
    for e in equations {
        marks[e.index()] = 1;
    }
    for (e, grid) in instance.eq_grids.iter().enumerate() {
        let dims = instance.frames.of_equation(e);
        for range in boxes(grid, &marks, |_, _| false) {
            if marks[corner(grid, &range)] == 1 {
                out.equations
                    .push((EqId::new(e), spans(&range, dims, &instance.frames)));
            }
        }
    }
    let mut marks = vec![u32::MAX; instance.node.len()];
    for v in variables {
        marks[instance.slot_of_node[v.index()] as usize] = 1;
    }
    for (v, grid) in instance.var_grids.iter().enumerate() {
        let dims = instance.frames.of_variable(v);
        for range in boxes(grid, &marks, |_, _| false) {
            if marks[corner(grid, &range)] == 1 {
                out.variables
                    .push((VarId::new(v), spans(&range, dims, &instance.frames)));
            }
        }
    }
    out
}

fn corner(grid: &instance::Grid, range: &CellBox) -> usize {
    grid.number(&range.iter().map(|r| r.0).collect::<Vec<_>>())
}

fn enumerated(model: &Model, instance: &Instance, expanded: &BTreeSet<usize>) -> Enumerated {
    let mut number = 0;
    let mut touches = |dims: &[frames::Dim]| {
        let range = number..number + dims.len();
        number = range.end;
        expanded.range(range).next().is_some()
    };
    Enumerated {
        variables: (0..model.variables.len())
            .filter(|&v| touches(instance.frames.of_variable(v)))
            .map(VarId::new)
            .collect(),
        equations: (0..model.equations.len())
            .filter(|&e| touches(instance.frames.of_equation(e)))
            .map(EqId::new)
            .collect(),
    }
}

/// Joins cells into segments, sorts them, and states everything for the arrays.
fn lifted(
    model: &Model,
    instance: &Instance,
    orders: &Orders,
    labels: &Labels,
    assignment: &Assignment,
    enumerated: Enumerated,
) -> Analysis {
    let frames = &instance.frames;
    let pieces = Pieces::new(model, instance);
    let mut segments = Vec::new();
    let mut nodes = Vec::new();
    let mut segment_of = vec![0usize; instance.entries.len()];
    for (e, grid) in instance.eq_grids.iter().enumerate() {
        let dims = frames.of_equation(e);
        let separate =
            |k: usize, b: &CellBox| pieces.begins_in_image(model, instance, assignment, e, k, b);
        for range in boxes(grid, &labels.equations, separate) {
            let number = segments.len();
            let within = instance::Grid {
                offset: 0,
                counts: range.iter().map(|r| r.1 - r.0).collect(),
            };
            within.for_cells(|_, at| {
                let position: Vec<usize> = at.iter().zip(&range).map(|(a, r)| a + r.0).collect();
                segment_of[grid.number(&position)] = number;
            });
            let spans = spans(&range, dims, frames);
            let cell = corner(grid, &range);
            let last = grid.number(&range.iter().map(|r| r.1 - 1).collect::<Vec<_>>());
            let determines = determined(
                model,
                instance,
                orders,
                assignment,
                e,
                cell,
                last,
                size_of(&spans),
            );
            nodes.push(Node {
                equation: e,
                sizes: spans.iter().map(|s| s.size()).collect(),
            });
            let differentiations = orders.equations[cell];
            segments.push(Segment {
                equation: EqId::new(e),
                spans,
                differentiations,
                determines,
                block: 0,
            });
        }
    }
    let mut arcs = BTreeSet::new();
    for (cell, &from) in segment_of.iter().enumerate() {
        for entry in instance.highest(orders, cell) {
            for &(owner, own_access) in
                &assignment.owners[instance.root[entry.slot as usize] as usize]
            {
                let to = segment_of[owner as usize];
                arcs.insert(Arc {
                    from,
                    to,
                    use_access: entry.access,
                    own_access,
                });
            }
        }
    }
    let blocks = order::sort(model, frames, &nodes, &arcs);
    for (b, block) in blocks.iter().enumerate() {
        for &s in &block.segments {
            segments[s].block = b;
        }
    }
    let mut variables = Vec::new();
    for (v, grid) in instance.var_grids.iter().enumerate() {
        if grid.len() > 0 && instance.root[grid.offset] as usize == grid.offset {
            let dims = frames.of_variable(v);
            for range in boxes(grid, &labels.variables, |k, b| {
                pieces.begins(instance, v, k, b)
            }) {
                let order = orders.variables[corner(grid, &range)];
                variables.push(VariableSegment {
                    variable: VarId::new(v),
                    spans: spans(&range, dims, frames),
                    order,
                });
            }
        }
    }
    Analysis {
        segments,
        variables,
        blocks,
        enumerated,
        cells: instance.entries.len(),
    }
}

/// What a segment with the given first and last cells determines.
#[expect(
    clippy::too_many_arguments,
    reason = "all of it is the context of one analysis"
)]
fn determined(
    model: &Model,
    instance: &Instance,
    orders: &Orders,
    assignment: &Assignment,
    e: usize,
    first: usize,
    last: usize,
    size: u64,
) -> Vec<Determined> {
    let chosen = &assignment.by_equation[first];
    chosen
        .iter()
        .enumerate()
        .map(|(k, &(entry, amount))| {
            let root = instance.root[entry.slot as usize] as usize;
            let v = instance.variable_of(root);
            let grid = &instance.var_grids[v];
            let dims = instance.frames.of_variable(v);
            // Alike cells determine cells that follow each other, so the corners span the box.
            let other = instance.root[assignment.by_equation[last][k].0.slot as usize] as usize;
            let range: CellBox = grid
                .position(root)
                .into_iter()
                .zip(grid.position(other))
                .map(|(a, b)| (a.min(b), a.max(b) + 1))
                .collect();
            Determined {
                access: entry.access as usize,
                variable: VarId::new(v),
                order: orders.variables[root],
                spans: spans(&range, dims, &instance.frames),
                // every cell of the segment determines this much
                elements: amount * (size / instance.dae.graph.elen[first].max(1)),
            }
        })
        .inspect(|d| debug_assert!(d.access < model.equations[e].accesses.len()))
        .collect()
}
