//! The graph of cells: an ordinary (small) system on which the exact algorithms run.
//!
//! Every array becomes a grid of cells (the product of the cells of its dimensions), every access a set of incidences.
//! A cell weighs as many scalar elements as its loose dimensions have. Elements of a derivative array exist only where
//! some equation touches them (or a higher derivative): `der(x[2])` does not make x[1] differentiated.

use super::frames::Frames;
use super::grid::{Grid, array_of, for_product};
use super::model::{Index, Model};
use crate::flow::{Flow, Graph};
use crate::pantelides::{Differentiated, NodeDae};
use crate::{Rows, VarId};

/// An incidence: the cell of a variable that an access of the equation cell touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) slot: u32,
    pub(super) access: u32,
}

pub(super) struct Instance {
    pub(super) frames: Frames,
    pub(super) var_grids: Vec<Grid>,
    pub(super) eq_grids: Vec<Grid>,
    pub(super) entries: Rows<Entry>,
    pub(super) dae: NodeDae,
    /// Graph variable of each variable cell, `NONE` if the element does not exist.
    pub(super) node: Vec<u32>,
    pub(super) slot_of_node: Vec<u32>,
    /// For each variable cell the cell of the undifferentiated variable.
    pub(super) root: Vec<u32>,
}

pub(super) const NONE: u32 = u32::MAX;

impl Instance {
    /// The number of incidences that [`Instance::new`] would build.
    pub(super) fn incidences(model: &Model, frames: &Frames) -> u128 {
        let mut total = 0u128;
        for (e, equation) in model.equations.iter().enumerate() {
            let cells: u128 = frames
                .of_equation(e)
                .iter()
                .map(|d| d.count as u128)
                .product();
            for access in &equation.accesses {
                let dims = frames.of_variable(access.variable.index());
                let touched = access.index.iter().zip(dims).map(|(i, d)| match i {
                    Index::All(_) => d.count as u128,
                    _ => 1,
                });
                total += cells * touched.product::<u128>();
            }
        }
        total
    }

    pub(super) fn new(model: &Model, frames: Frames) -> Instance {
        let (mut slots, mut cells) = (0, 0);
        let grid = |dims: &[super::frames::Dim], total: &mut usize| {
            let g = Grid {
                offset: *total,
                counts: dims.iter().map(|d| d.count).collect(),
            };
            *total += g.len();
            g
        };
        let var_grids: Vec<Grid> = (0..model.variables.len())
            .map(|v| grid(frames.of_variable(v), &mut slots))
            .collect();
        let eq_grids: Vec<Grid> = (0..model.equations.len())
            .map(|e| grid(frames.of_equation(e), &mut cells))
            .collect();

        let mut entries = Rows::new();
        let mut present = vec![false; slots];
        let mut elen = Vec::with_capacity(cells);
        for (e, equation) in model.equations.iter().enumerate() {
            let dims = frames.of_equation(e);
            eq_grids[e].for_cells(|_, at| {
                elen.push(weight(&frames, dims, at));
                let mut row = Vec::new();
                for (a, access) in equation.accesses.iter().enumerate() {
                    let v = access.variable.index();
                    let ranges: Vec<(usize, usize)> = access
                        .index
                        .iter()
                        .zip(frames.of_variable(v))
                        .map(|(index, dim)| cells_of(&frames, *index, *dim, dims, at))
                        .collect();
                    for_product(&ranges, |position| {
                        let slot = var_grids[v].number(position) as u32;
                        present[slot as usize] = true;
                        row.push(Entry {
                            slot,
                            access: a as u32,
                        });
                    });
                }
                entries.push(row);
            });
        }

        let root = mark_derivatives(model, &var_grids, &mut present);
        let mut node = vec![NONE; slots];
        let mut slot_of_node = Vec::new();
        let mut graph = Graph {
            elen,
            ..Graph::default()
        };
        for (v, g) in var_grids.iter().enumerate() {
            let dims = frames.of_variable(v);
            g.for_cells(|slot, at| {
                if present[slot] {
                    node[slot] = graph.add_variable(weight(&frames, dims, at)).0;
                    slot_of_node.push(slot as u32);
                }
            });
        }
        let mut derivative = vec![None; graph.vlen.len()];
        for (v, variable) in model.variables.iter().enumerate() {
            if let Some(d) = variable.derivative {
                for n in 0..var_grids[v].len() {
                    let (from, to) = (
                        node[var_grids[v].offset + n],
                        node[var_grids[d.index()].offset + n],
                    );
                    if from != NONE && to != NONE {
                        derivative[from as usize] = Some(VarId(to));
                    }
                }
            }
        }
        let mut row = Vec::new();
        for list in entries.iter() {
            row.clear();
            row.extend(
                list.iter()
                    .map(|entry: &Entry| VarId(node[entry.slot as usize])),
            );
            row.sort_unstable();
            row.dedup();
            graph.incidence.push(row.iter().copied());
        }
        let dae = NodeDae { graph, derivative };
        Instance {
            frames,
            var_grids,
            eq_grids,
            entries,
            dae,
            node,
            slot_of_node,
            root,
        }
    }

    /// The variable that holds a cell.
    pub(super) fn variable_of(&self, slot: usize) -> usize {
        array_of(&self.var_grids, slot)
    }

    /// The equation that holds a cell.
    pub(super) fn equation_of(&self, cell: usize) -> usize {
        array_of(&self.eq_grids, cell)
    }

    /// Differentiations per equation cell, and per variable cell how many derivatives it has above it.
    pub(super) fn orders(&self, d: &Differentiated) -> Orders {
        let equations = (0..self.entries.len())
            .map(|e| d.differentiations(crate::EqId::new(e)) as u32)
            .collect();
        let variables = self
            .node
            .iter()
            .map(|&n| {
                if n == NONE {
                    return 0;
                }
                std::iter::successors(d.var_derivative[n as usize], |v| {
                    d.var_derivative[v.index()]
                })
                .count() as u32
            })
            .collect();
        Orders {
            equations,
            variables,
        }
    }

    /// The incidences of equation cell `e` that are highest derivatives after differentiation.
    pub(super) fn highest<'a>(
        &'a self,
        orders: &'a Orders,
        e: usize,
    ) -> impl Iterator<Item = Entry> + 'a {
        let order = orders.equations[e];
        self.entries
            .row(e)
            .iter()
            .copied()
            .filter(move |entry| orders.variables[entry.slot as usize] == order)
    }

    /// A complete assignment of the highest-derivative equations. The variants try equations and accesses in different
    /// orders: all are right, but some are more regular than others.
    pub(super) fn assign(&self, orders: &Orders, variant: Variant) -> Assignment {
        let n = self.entries.len();
        let number = |e: usize| if variant.backwards { n - 1 - e } else { e };
        let mut roots: Vec<u32> = self.root.clone();
        roots.sort_unstable();
        roots.dedup();
        let mut index = vec![NONE; self.root.len()];
        let mut graph = Graph::default();
        for &slot in &roots {
            index[slot as usize] = graph
                .add_variable(self.dae.graph.vlen[self.node[slot as usize] as usize])
                .0;
        }
        let mut choices: Rows<Entry> = Rows::new();
        for k in 0..n {
            let e = number(k);
            let mut row: Vec<Entry> = self.highest(orders, e).collect();
            if variant.last_access_first {
                row.reverse();
            }
            let to = row
                .iter()
                .map(|entry| VarId(index[self.root[entry.slot as usize] as usize]));
            graph.add_equation(self.dae.graph.elen[e], to.collect::<Vec<_>>());
            choices.push(row);
        }
        let flow = Flow::maximum_in_order(&graph);
        let mut by_equation: Vec<Vec<(Entry, u64)>> = vec![Vec::new(); n];
        let mut owners: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.root.len()];
        let mut complete = true;
        for k in 0..n {
            let e = number(k);
            complete &= flow.missing(crate::EqId::new(k)) == 0;
            for (slot, amount) in graph
                .incidence
                .slots(k)
                .zip(flow.amounts(&graph, crate::EqId::new(k)))
            {
                if amount > 0 {
                    let entry = choices.items()[slot];
                    by_equation[e].push((entry, amount));
                    owners[self.root[entry.slot as usize] as usize].push((e as u32, entry.access));
                }
            }
        }
        Assignment {
            by_equation,
            owners,
            complete,
        }
    }
}

/// Chains of derivatives: from the highest down, what has a derivative exists; undifferentiated ones always do. Gives the undifferentiated cell of each cell.
fn mark_derivatives(model: &Model, var_grids: &[Grid], present: &mut [bool]) -> Vec<u32> {
    let mut is_derivative = vec![false; model.variables.len()];
    for v in &model.variables {
        if let Some(d) = v.derivative {
            is_derivative[d.index()] = true;
        }
    }
    let mut root: Vec<u32> = (0..present.len() as u32).collect();
    for first in (0..model.variables.len()).filter(|&v| !is_derivative[v]) {
        let derivative = |&v: &usize| model.variables[v].derivative.map(VarId::index);
        let chain: Vec<usize> = std::iter::successors(Some(first), derivative).collect();
        for n in 0..var_grids[first].len() {
            let mut exists = false;
            for &v in chain.iter().rev() {
                let slot = var_grids[v].offset + n;
                exists |= present[slot] || v == first;
                present[slot] = exists;
                root[slot] = (var_grids[first].offset + n) as u32;
            }
        }
    }
    root
}

/// Order in which equations and accesses are tried.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Variant {
    pub(super) backwards: bool,
    pub(super) last_access_first: bool,
}

pub(super) struct Orders {
    pub(super) equations: Vec<u32>,
    /// Number of derivatives above each variable cell.
    pub(super) variables: Vec<u32>,
}

pub(super) struct Assignment {
    pub(super) by_equation: Vec<Vec<(Entry, u64)>>,
    /// Per undifferentiated variable cell: (equation cell, access) that determine (part of) its highest derivative.
    pub(super) owners: Vec<Vec<(u32, u32)>>,
    pub(super) complete: bool,
}

fn weight(frames: &Frames, dims: &[super::frames::Dim], at: &[usize]) -> u64 {
    dims.iter()
        .zip(at)
        .map(|(d, &k)| frames.frames[d.frame].cells[d.first + k].weight)
        .product()
}

/// The cells (first, count) of a dimension of a variable that an index touches from the equation cell at `at`.
fn cells_of(
    frames: &Frames,
    index: Index,
    dim: super::frames::Dim,
    iterators: &[super::frames::Dim],
    at: &[usize],
) -> (usize, usize) {
    match index {
        Index::Fixed(i) => (frames.cell_at(dim.frame, dim.coordinate(i)) - dim.first, 1),
        Index::All(s) if s.size() == 0 => (0, 0),
        Index::All(s) => {
            let (a, b) = (dim.coordinate(s.lo), dim.coordinate(s.hi));
            let first = frames.cell_at(dim.frame, a.min(b));
            (
                first - dim.first,
                frames.cell_at(dim.frame, a.max(b)) + 1 - first,
            )
        }
        Index::Affine {
            iterator,
            coefficient,
            offset,
        } => {
            let it = iterators[iterator];
            let cell = it.first + at[iterator];
            match frames.cell_shift(it, coefficient, offset, dim) {
                Some(k) => ((cell as i64 + k) as usize - dim.first, 1),
                None => {
                    // enumerated: every cell is one coordinate
                    let i = it.indices(frames.frames[it.frame].cells[cell].start, 1).lo;
                    (
                        frames.cell_at(dim.frame, dim.coordinate(coefficient * i + offset))
                            - dim.first,
                        1,
                    )
                }
            }
        }
    }
}
