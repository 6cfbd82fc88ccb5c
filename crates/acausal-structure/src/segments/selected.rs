//! Pieces of arrays as state selection needs them.
//!
//! [`super::analyse`] cuts arrays where its matching of the highest derivatives changes. Inside a coupled block that
//! matching is arbitrary, and so are the cuts: the positions along a chain of bodies are cut where the matching
//! happens to give an acceleration to a balance of forces, and then no piece of the kinematic equations covers what it
//! would be solved for. What has a meaning in such a block is not the matching but which equation is *solved* for which
//! variable, so here the cuts come from there.
//!
//! In: a [`Model`], and [`StatePreferences`]: which accesses may be solved for, and what is preferred as a state. Out: [`Cut`]: boxes of
//! the equations and of the variables, such that every solved pair relates one box to one box.
//!
//! Method: the small model of cells that [`super::analyse`] works on (stretches between cuts shortened to a window) goes
//! through the scalar algorithms once more, now to the end: blocks, constraint sets, state selection. If the windows
//! are uniform (the same access solved for, the same orders), equal cells are joined. A window proves the whole
//! stretch as far as the pairs are concerned, because that no variable is solved for twice is a local condition. Whether the
//! pairs can be *evaluated* is not local; that is tested on the pieces, with distances ([`crate::tearing::loops`]). Invariant: the
//! boxes of a variable are disjoint and cover it. The cost does not depend on the array lengths.
//!
//! Worked example: `for i in 1:N: y[i] = f(x[i])`, `x[1] = 1`, `for i in 2:N: x[i] = g(y[i - 1])`, as constraints between
//! states. Solved from the left: x is cut into `{1}` and `2:N`, y stays whole although `y[N]` is used by nobody.

use std::collections::{BTreeMap, BTreeSet};

use super::frames::{Frames, Width};
use super::instance::{Assignment, Entry, Instance, NONE, Orders};
use super::lift::{CellBox, Labels, Pieces, boxes, spans};
use super::model::{Index, Model, Span, size_of};
use crate::blt::highest_blocks;
use crate::pantelides::{Differentiated, pantelides};
use crate::state_selection::{Pivot, Preferences, Selection, select};
use crate::{EqId, VarId};

/// Cells beyond which the exact algorithms are not run a second time.
const MOST_CELLS: u128 = 400_000;

/// What the caller knows of the equations and would like to see as states.
pub struct StatePreferences<'a> {
    /// What dividing by the coefficient of an access of an equation would mean.
    pub pivot: &'a dyn Fn(EqId, usize) -> Pivot,
    /// Class of the derivative of the given order of an undifferentiated variable: smaller is rather a state.
    pub class: &'a dyn Fn(VarId, u32) -> i32,
    /// Per undifferentiated variable: its place among those of the same class.
    pub variable_rank: &'a [usize],
    /// Per equation: equations with a smaller rank are tried first.
    pub equation_rank: &'a [usize],
}

/// Boxes of elements that are solved alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Boxes of the equations, by equation and position, and how often they are differentiated.
    pub equations: Vec<(EqId, Vec<Span>, u32)>,
    /// Boxes of the undifferentiated variables, by variable and position.
    pub variables: Vec<(VarId, Vec<Span>)>,
    /// Number of a box of an equation, and of the access that it is solved for.
    pub pairs: Vec<(usize, usize)>,
}

/// Cuts the arrays of a regular model by what is solved for what. `None` if no choice is uniform along the arrays.
pub fn cut_by_selection(model: &Model, wanted: &StatePreferences<'_>) -> Option<Cut> {
    for width in [Width::Narrow, Width::Wide] {
        let frames = Frames::new(model, &|_| false, true, width);
        if Instance::incidences(model, &frames) > MOST_CELLS {
            return None;
        }
        let instance = Instance::new(model, frames);
        let Ok(d) = pantelides(&instance.dae) else {
            continue; // too short to be regular
        };
        let orders = instance.orders(&d);
        let cells = Cells {
            model,
            instance: &instance,
            orders: &orders,
        };
        let selection = cells.select(&d, wanted)?;
        // What is solved on the last levels too, or only what decides about states.
        for all in [true, false] {
            if let Some(cut) = cells.cut(&d, &selection, all) {
                return Some(cut);
            }
        }
    }
    None
}

struct Cells<'a> {
    model: &'a Model,
    instance: &'a Instance,
    orders: &'a Orders,
}

impl Cells<'_> {
    /// State selection on the cells.
    fn select(&self, d: &Differentiated, wanted: &StatePreferences<'_>) -> Option<Selection> {
        let instance = self.instance;
        let blocks = highest_blocks(d).ok()?;
        // Undifferentiated cell and order of every node of the graph.
        let mut place: Vec<(u32, u32)> = vec![(NONE, 0); d.graph.vlen.len()];
        for (slot, &node) in instance.node.iter().enumerate() {
            if node != NONE && instance.root[slot] as usize == slot {
                let chain =
                    std::iter::successors(Some(VarId(node)), |v| d.var_derivative[v.index()]);
                for (order, v) in chain.enumerate() {
                    place[v.index()] = (slot as u32, order as u32);
                }
            }
        }
        let mut variables: Vec<_> = (place.iter().enumerate())
            .map(|(v, &(slot, order))| {
                let array = instance.variable_of(slot as usize);
                let class = (wanted.class)(VarId::new(array), order);
                (class, wanted.variable_rank[array], order, slot, v)
            })
            .collect();
        variables.sort_unstable();
        let mut preferences = Preferences {
            variable_rank: vec![0; d.graph.vlen.len()],
            equation_rank: vec![0; d.graph.elen.len()],
        };
        for (rank, v) in variables.iter().enumerate() {
            preferences.variable_rank[v.4] = rank as i32;
        }
        let mut equations: Vec<_> = (0..instance.entries.len())
            .map(|cell| (wanted.equation_rank[instance.equation_of(cell)], cell))
            .collect();
        equations.sort_unstable();
        for (rank, (_, cell)) in equations.iter().enumerate() {
            let chain =
                std::iter::successors(Some(EqId::new(*cell)), |e| d.eq_derivative[e.index()]);
            chain.for_each(|e| preferences.equation_rank[e.index()] = rank as i64);
        }
        let solvable = |e: EqId, v: VarId| match self.entry(e, v) {
            Some(entry) => (wanted.pivot)(
                EqId::new(instance.equation_of(e.index())),
                entry.access as usize,
            ),
            None => Pivot::No,
        };
        Some(select(d, &blocks, &preferences, solvable, |_| false))
    }

    /// The incidence through which an equation cell may be solved for a node: a single element, met by one access only.
    fn entry(&self, e: EqId, v: VarId) -> Option<Entry> {
        let graph = &self.instance.dae.graph;
        if graph.elen[e.index()] != 1 || graph.vlen.get(v.index()) != Some(&1) {
            return None;
        }
        let row = self.instance.entries.row(e.index()).iter();
        let mut meeting = row.filter(|entry| self.instance.node[entry.slot as usize] == v.0);
        let entry = meeting.next()?;
        let array = self.instance.equation_of(e.index());
        let index = &self.model.equations[array].accesses[entry.access as usize].index;
        let range = |i: &Index| matches!(i, Index::All(s) if s.size() > 1);
        (meeting.next().is_none() && !index.iter().any(range)).then_some(*entry)
    }

    /// Joins the cells that are solved alike.
    fn cut(&self, d: &Differentiated, selection: &Selection, all: bool) -> Option<Cut> {
        let instance = self.instance;
        let cells = instance.entries.len();
        let mut assignment = Assignment {
            by_equation: vec![Vec::new(); cells],
            owners: vec![Vec::new(); instance.root.len()],
            complete: true,
        };
        // A pair is stated for the original equation; its derivatives follow it.
        let explicit: &[(EqId, VarId)] = if all { &selection.explicit } else { &[] };
        for &(e, v) in selection.dummies.iter().chain(explicit) {
            if e.index() < d.original_equations && v.index() < d.original_variables {
                let entry = self.entry(e, v)?;
                assignment.by_equation[e.index()].push((entry, 1));
                assignment.owners[instance.root[entry.slot as usize] as usize]
                    .push((e.0, entry.access));
            }
        }
        let labels = self.labels(&assignment);
        let mut roots = vec![true; self.model.variables.len()];
        for v in self.model.variables.iter().filter_map(|v| v.derivative) {
            roots[v.index()] = false;
        }
        if !labels.irregular_frames(instance, &roots).is_empty() {
            return None;
        }
        let borders = Pieces::new(self.model, instance);
        let mut cut = Cut::default();
        let mut images: BTreeSet<(VarId, Vec<Span>)> = BTreeSet::new();
        for (e, grid) in instance.eq_grids.iter().enumerate() {
            let separate = |k: usize, b: &CellBox| {
                borders.begins_in_image(self.model, instance, &assignment, e, k, b)
            };
            for range in boxes(grid, &labels.equations, separate) {
                let at = |last: bool| {
                    let corner = range.iter().map(|r| if last { r.1 - 1 } else { r.0 });
                    grid.number(&corner.collect::<Vec<_>>())
                };
                let (first, last) = (at(false), at(true));
                for (a, b) in
                    (assignment.by_equation[first].iter()).zip(&assignment.by_equation[last])
                {
                    images.insert(self.image(a.0, b.0));
                    cut.pairs.push((cut.equations.len(), a.0.access as usize));
                }
                let spans = spans(&range, instance.frames.of_equation(e), &instance.frames);
                let order = self.orders.equations[first];
                cut.equations.push((EqId::new(e), spans, order));
            }
        }
        cut.variables.extend(images);
        for (v, grid) in instance.var_grids.iter().enumerate() {
            if !roots[v] || grid.len() == 0 {
                continue;
            }
            let separate = |k: usize, b: &CellBox| borders.begins(instance, v, k, b);
            for range in boxes(grid, &labels.variables, separate) {
                let corner: Vec<usize> = range.iter().map(|r| r.0).collect();
                if assignment.owners[grid.number(&corner)].is_empty() {
                    let spans = spans(&range, instance.frames.of_variable(v), &instance.frames);
                    cut.variables.push((VarId::new(v), spans));
                }
            }
        }
        cut.variables.sort();
        self.covers(&cut, &roots).then_some(cut)
    }

    /// The box of the undifferentiated variable between the cells that the corners of a box of an equation are solved for.
    fn image(&self, first: Entry, last: Entry) -> (VarId, Vec<Span>) {
        let instance = self.instance;
        let root = instance.root[first.slot as usize] as usize;
        let other = instance.root[last.slot as usize] as usize;
        let v = instance.variable_of(root);
        let grid = &instance.var_grids[v];
        let corners = grid.position(root).into_iter().zip(grid.position(other));
        let range: CellBox = corners.map(|(a, b)| (a.min(b), a.max(b) + 1)).collect();
        let dims = instance.frames.of_variable(v);
        (VarId::new(v), spans(&range, dims, &instance.frames))
    }

    /// Whether the boxes of every variable have as many elements as the variable. They contain each of its elements, so
    /// they are then disjoint.
    fn covers(&self, cut: &Cut, roots: &[bool]) -> bool {
        let mut elements = vec![0u64; self.model.variables.len()];
        for (v, spans) in &cut.variables {
            elements[v.index()] += size_of(spans);
        }
        let variables = self.model.variables.iter().enumerate();
        let mut undifferentiated = variables.filter(|(v, _)| roots[*v]);
        undifferentiated.all(|(v, variable)| elements[v] == size_of(&variable.shape))
    }

    /// Cells are alike if the whole chain of derivatives that they belong to is: orders, and what solves for each.
    fn labels(&self, assignment: &Assignment) -> Labels {
        let instance = self.instance;
        type Chain = (u32, Vec<(usize, u32, u32)>);
        let mut chains: BTreeMap<Chain, u32> = BTreeMap::new();
        let mut variables = vec![0; instance.root.len()];
        for (label, &root) in variables.iter_mut().zip(&instance.root) {
            let root = root as usize;
            let owner = |&(e, access): &(u32, u32)| {
                let e = e as usize;
                (instance.equation_of(e), access, self.orders.equations[e])
            };
            let mut owners: Vec<_> = assignment.owners[root].iter().map(owner).collect();
            owners.sort_unstable();
            let next = chains.len() as u32;
            let chain = (self.orders.variables[root], owners);
            *label = *chains.entry(chain).or_insert(next);
        }
        let mut known: BTreeMap<(u32, Option<(u32, u32)>), u32> = BTreeMap::new();
        let mut equations = vec![0; instance.entries.len()];
        for (cell, label) in equations.iter_mut().enumerate() {
            let solved = assignment.by_equation[cell].first();
            let solved = solved.map(|(entry, _)| (entry.access, variables[entry.slot as usize]));
            let next = known.len() as u32;
            let key = (self.orders.equations[cell], solved);
            *label = *known.entry(key).or_insert(next);
        }
        Labels {
            equations,
            variables,
        }
    }
}
