//! Joins cells into segments, sorts them into blocks, and states everything for the arrays.

use std::collections::BTreeSet;

use super::corner;
use super::grid::Grid;
use super::instance::{Assignment, Instance, Orders};
use super::lift::{CellBox, Labels, Pieces, boxes, spans};
use super::model::{Model, size_of};
use super::order::{Arc, Kind, Node, Sorted, sort};
use super::result::{Analysis, Determined, Enumerated, Segment, VariableSegment};
use crate::{EqId, VarId};

/// Segments of a block that do not cover the same elements are split so that they do; this often at most. What is left
/// then is described a little coarser than the scalar blocks are.
const MAX_REFINEMENTS: usize = 4;

/// A solved and uniform graph of cells.
pub(super) struct Solved<'a> {
    pub(super) model: &'a Model,
    pub(super) instance: &'a Instance,
    pub(super) orders: &'a Orders,
    pub(super) labels: &'a Labels,
    pub(super) assignment: &'a Assignment,
}

/// A segment in terms of cells.
struct Piece {
    equation: usize,
    range: CellBox,
}

impl Solved<'_> {
    /// The result for the arrays.
    pub(super) fn state(&self, enumerated: Enumerated) -> Analysis {
        let borders = Pieces::new(self.model, self.instance);
        let mut pieces = Vec::new();
        for (e, grid) in self.instance.eq_grids.iter().enumerate() {
            let separate = |k: usize, b: &CellBox| {
                borders.begins_in_image(self.model, self.instance, self.assignment, e, k, b)
            };
            let ranges = boxes(grid, &self.labels.equations, separate).into_iter();
            pieces.extend(ranges.map(|range| Piece { equation: e, range }));
        }
        let mut sorted = self.sort(&pieces);
        for _ in 0..MAX_REFINEMENTS {
            let cuts = self.unequal(&pieces, &sorted);
            if cuts.is_empty() {
                break;
            }
            pieces = split(pieces, &cuts);
            sorted = self.sort(&pieces);
        }
        let mut segments: Vec<Segment> = pieces.iter().map(|p| self.segment(p)).collect();
        let blocks: Vec<_> = sorted.into_iter().map(|s| s.block).collect();
        for (b, block) in blocks.iter().enumerate() {
            for &s in &block.segments {
                segments[s].block = b;
            }
        }
        let cells = self.instance.entries.len();
        let variables = self.variables(&borders);
        Analysis {
            segments,
            variables,
            blocks,
            enumerated,
            cells,
        }
    }

    fn sort(&self, pieces: &[Piece]) -> Vec<Sorted> {
        let mut segment_of = vec![0usize; self.instance.entries.len()];
        let mut nodes = Vec::with_capacity(pieces.len());
        for (number, Piece { equation, range }) in pieces.iter().enumerate() {
            let grid = &self.instance.eq_grids[*equation];
            let within = Grid {
                offset: 0,
                counts: range.iter().map(|r| r.1 - r.0).collect(),
            };
            within.for_cells(|_, at| {
                let position: Vec<usize> = at.iter().zip(range).map(|(a, r)| a + r.0).collect();
                segment_of[grid.number(&position)] = number;
            });
            let spans = spans(
                range,
                self.instance.frames.of_equation(*equation),
                &self.instance.frames,
            );
            nodes.push(Node {
                equation: *equation,
                sizes: spans.iter().map(|s| s.size()).collect(),
            });
        }
        let mut arcs = BTreeSet::new();
        for (cell, &from) in segment_of.iter().enumerate() {
            for entry in self.instance.highest(self.orders, cell) {
                let root = self.instance.root[entry.slot as usize] as usize;
                for &(owner, own_access) in &self.assignment.owners[root] {
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
        sort(self.model, &self.instance.frames, &nodes, &arcs)
    }

    /// Where the segments of a block that is not coupled begin or end at different elements: (segment, iterator, cell)
    /// at which to split so that every element of the block has the same segments.
    fn unequal(&self, pieces: &[Piece], sorted: &[Sorted]) -> BTreeSet<(usize, usize, usize)> {
        let mut cuts = BTreeSet::new();
        for Sorted { block, dims } in sorted {
            if block.segments.len() < 2 || block.kind == Kind::Coupled {
                continue;
            }
            for k in 0..dims[0].len() {
                let ends = |i: usize| {
                    let Piece { equation, range } = &pieces[block.segments[i]];
                    let dim = self.instance.frames.of_equation(*equation)[dims[i][k]];
                    let cells = &self.instance.frames.frames[dim.frame].cells[dim.first..];
                    let (from, to) = range[dims[i][k]];
                    let end = cells[to - 1].start + cells[to - 1].len;
                    (
                        cells,
                        from,
                        to,
                        [cells[from].start, end],
                        block.alignment[i][k],
                    )
                };
                let all = 0..block.segments.len();
                let borders: BTreeSet<i64> = all
                    .clone()
                    .flat_map(|i| ends(i).3.map(|at| at + block.alignment[i][k]))
                    .collect();
                for i in all {
                    let (cells, from, to, [start, end], alignment) = ends(i);
                    for at in borders.range(start + alignment + 1..end + alignment) {
                        // A border inside a stretch that one cell stands for cannot be expressed: leave it coarse.
                        if let Ok(cell) =
                            cells[from..to].binary_search_by_key(&(at - alignment), |c| c.start)
                        {
                            cuts.insert((block.segments[i], dims[i][k], from + cell));
                        }
                    }
                }
            }
        }
        cuts
    }

    fn segment(&self, piece: &Piece) -> Segment {
        let e = piece.equation;
        let grid = &self.instance.eq_grids[e];
        let spans = spans(
            &piece.range,
            self.instance.frames.of_equation(e),
            &self.instance.frames,
        );
        let first = corner(grid, &piece.range);
        let last = grid.number(&piece.range.iter().map(|r| r.1 - 1).collect::<Vec<_>>());
        Segment {
            equation: EqId::new(e),
            differentiations: self.orders.equations[first],
            determines: self.determined(first, last, size_of(&spans)),
            spans,
            block: 0,
        }
    }

    /// What a segment with the given first and last cells determines.
    fn determined(&self, first: usize, last: usize, size: u64) -> Vec<Determined> {
        let Solved {
            instance,
            assignment,
            ..
        } = self;
        let chosen = assignment.by_equation[first]
            .iter()
            .zip(&assignment.by_equation[last]);
        chosen
            .map(|(&(entry, amount), &(opposite, _))| {
                let root = instance.root[entry.slot as usize] as usize;
                let other = instance.root[opposite.slot as usize] as usize;
                let v = instance.variable_of(root);
                let grid = &instance.var_grids[v];
                // Alike cells determine cells that follow each other, so the corners span the box.
                let corners = grid.position(root).into_iter().zip(grid.position(other));
                let range: CellBox = corners.map(|(a, b)| (a.min(b), a.max(b) + 1)).collect();
                Determined {
                    access: entry.access as usize,
                    variable: VarId::new(v),
                    order: self.orders.variables[root],
                    spans: spans(&range, instance.frames.of_variable(v), &instance.frames),
                    // every cell of the segment determines this much
                    elements: amount * (size / instance.dae.graph.elen[first].max(1)),
                }
            })
            .collect()
    }

    fn variables(&self, borders: &Pieces) -> Vec<VariableSegment> {
        let instance = self.instance;
        let mut out = Vec::new();
        for (v, grid) in instance.var_grids.iter().enumerate() {
            if grid.len() == 0 || instance.root[grid.offset] as usize != grid.offset {
                continue;
            }
            let separate = |k: usize, b: &CellBox| borders.begins(instance, v, k, b);
            for range in boxes(grid, &self.labels.variables, separate) {
                out.push(VariableSegment {
                    variable: VarId::new(v),
                    spans: spans(&range, instance.frames.of_variable(v), &instance.frames),
                    order: self.orders.variables[corner(grid, &range)],
                });
            }
        }
        out
    }
}

/// Splits segments at (segment, iterator, cell); keeps the order by equation and position.
fn split(pieces: Vec<Piece>, cuts: &BTreeSet<(usize, usize, usize)>) -> Vec<Piece> {
    let mut out = Vec::new();
    for (s, piece) in pieces.into_iter().enumerate() {
        let mut parts = vec![piece.range];
        for k in 0..parts[0].len() {
            for &(_, _, at) in cuts.range((s, k, 0)..(s, k + 1, 0)) {
                let mut next = Vec::with_capacity(2 * parts.len());
                for part in parts {
                    if part[k].0 < at && at < part[k].1 {
                        let (mut low, mut high) = (part.clone(), part);
                        low[k].1 = at;
                        high[k].0 = at;
                        next.extend([low, high]);
                    } else {
                        next.push(part);
                    }
                }
                parts = next;
            }
        }
        parts.sort();
        out.extend(parts.into_iter().map(|range| Piece {
            equation: piece.equation,
            range,
        }));
    }
    out
}
