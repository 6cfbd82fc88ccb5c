//! Connection sets of cells: union-find where the members of a class are whole index ranges.
//!
//! A class stands for a family of connection sets, one per value of its parameters `t1, .., tm`. A member is a cell
//! together with how its dimensions follow the parameters: along one (possibly reversed), constant, or *free*. All
//! elements along a free dimension belong to the same set.
//!
//! A link restricted to cells unites two classes: iterators that run along both ends identify a parameter of one
//! class with one of the other; an iterator that runs along one end only (all to one) makes that parameter free in
//! all members. If both ends already are in one class, the link must agree with it; one that does not (`a[i] --
//! a[N+1-i]`) is reported, its cells are cut into elements and everything starts again.
//!
//! Invariant: every member of a class has every living parameter along exactly one of its dimensions.
//! Cost: the smaller class is rewritten, so `O(n log n)` in the number of cells and links between cells.

use acausal_expr::flat::OriginId;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::cells::PortCuts;
use super::link::{Port, Translation};

/// How a dimension of a member follows the parameters of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DimensionMap {
    /// One index only.
    Const,
    /// Position `t` (from 0) of the segment, or its mirror image.
    Param {
        /// Which parameter.
        param: usize,
        /// Mirrored.
        flip: bool,
    },
    /// All elements belong to the same set.
    Free,
}

/// A cell in a class.
#[derive(Clone, Debug)]
pub struct Member {
    /// The variable and its side.
    pub port: Port,
    /// First index of each dimension.
    pub start: Vec<i64>,
    /// Number of indices of each dimension.
    pub count: Vec<i64>,
    /// How each dimension follows the parameters.
    pub dims: Vec<DimensionMap>,
    /// The first connection that touches it; none for unconnected cells.
    pub origin: Option<OriginId>,
}

/// A family of connection sets.
#[derive(Clone, Debug, Default)]
pub struct SetFamily {
    /// Number of values of each parameter; `None` once the parameter has become free.
    pub params: Vec<Option<i64>>,
    /// The cells.
    pub members: Vec<Member>,
}

/// The families of connection sets of all links. Ports in `alone` contribute unconnected cells, too.
pub fn connection_sets(
    shapes: &IndexMap<Port, Vec<usize>, FxBuildHasher>,
    links: &[Translation],
    alone: impl Fn(Port) -> bool,
) -> Vec<SetFamily> {
    let mut enumerate = Vec::new();
    loop {
        let grid = PortCuts::new(shapes, links, &enumerate);
        let mut forest = Forest::new(&grid);
        for link in links {
            forest.link(link);
        }
        if forest.irregular.is_empty() {
            for port in grid.ports.keys().filter(|&&port| alone(port)) {
                forest.all_cells(*port);
            }
            return forest
                .classes
                .into_iter()
                .filter(|c| !c.members.is_empty())
                .collect();
        }
        // Each round cuts at least one more segment, so the loop ends.
        enumerate.append(&mut forest.irregular);
    }
}

/// A cell by its segment numbers.
type CellKey = (Port, Box<[u32]>);

struct Forest<'a> {
    grid: &'a PortCuts,
    cells: FxHashMap<CellKey, usize>,
    /// Class and position in its members, per cell.
    place: Vec<(usize, usize)>,
    /// Cell of each member, parallel to the members of a class.
    cell_of: Vec<Vec<usize>>,
    classes: Vec<SetFamily>,
    irregular: Vec<(Port, usize, i64, i64)>,
}

impl<'a> Forest<'a> {
    fn new(grid: &'a PortCuts) -> Forest<'a> {
        Forest {
            grid,
            cells: FxHashMap::default(),
            place: Vec::new(),
            cell_of: Vec::new(),
            classes: Vec::new(),
            irregular: Vec::new(),
        }
    }

    /// Unites the cells of a link, one combination of segments of its iterators after the other.
    fn link(&mut self, link: &Translation) {
        let pieces: Vec<Vec<(i64, i64)>> = (0..link.counts.len())
            .map(|k| self.grid.pieces(link, k))
            .collect();
        let mut at = vec![0; pieces.len()];
        loop {
            let box_: Vec<(i64, i64)> = at.iter().zip(&pieces).map(|(&i, p)| p[i]).collect();
            self.link_box(link, &box_);
            // The next combination, the last iterator fastest.
            let Some(k) = (0..at.len()).rev().find(|&k| at[k] + 1 < pieces[k].len()) else {
                break;
            };
            at[k] += 1;
            at[k + 1..].fill(0);
        }
    }

    fn link_box(&mut self, link: &Translation, pieces: &[(i64, i64)]) {
        let ends = [0, 1].map(|side| {
            let (port, subs) = &link.ends[side];
            let low = subs.iter().map(|sub| match sub.iter {
                None => sub.offset,
                Some(k) if sub.flip => sub.offset - pieces[k].0 - pieces[k].1 + 1,
                Some(k) => sub.offset + pieces[k].0,
            });
            let low: Vec<i64> = low.collect();
            self.cell(*port, &low, Some(link.origin))
        });
        let dim = |side: usize, k: usize| link.ends[side].1.iter().position(|s| s.iter == Some(k));
        let pairs: Vec<[Option<usize>; 2]> = (0..pieces.len())
            .filter(|&k| pieces[k].1 > 1)
            .map(|k| [dim(0, k), dim(1, k)])
            .collect();
        let flips: Vec<bool> = pairs
            .iter()
            .map(|pair| match pair {
                [Some(a), Some(b)] => link.ends[0].1[*a].flip != link.ends[1].1[*b].flip,
                _ => false,
            })
            .collect();
        self.unite(ends, &pairs, &flips);
    }

    /// The cell that begins at the given indices.
    fn cell(&mut self, port: Port, low: &[i64], origin: Option<OriginId>) -> usize {
        let axes = &self.grid.ports[&port];
        let segments: Box<[u32]> = low
            .iter()
            .zip(axes)
            .map(|(&l, cuts)| (cuts.partition_point(|&c| c <= l) - 1) as u32)
            .collect();
        if let Some(&cell) = self.cells.get(&(port, segments.clone())) {
            return cell;
        }
        let count: Vec<i64> = segments
            .iter()
            .zip(axes)
            .map(|(&s, cuts)| cuts[s as usize + 1] - cuts[s as usize])
            .collect();
        let mut class = SetFamily::default();
        let dims = count.iter().map(|&n| {
            if n == 1 {
                return DimensionMap::Const;
            }
            class.params.push(Some(n));
            DimensionMap::Param {
                param: class.params.len() - 1,
                flip: false,
            }
        });
        let dims = dims.collect();
        class.members.push(Member {
            port,
            start: low.to_vec(),
            count,
            dims,
            origin,
        });
        let cell = self.place.len();
        self.place.push((self.classes.len(), 0));
        self.classes.push(class);
        self.cell_of.push(vec![cell]);
        self.cells.insert((port, segments), cell);
        cell
    }

    /// Makes sure that every cell of a port exists.
    fn all_cells(&mut self, port: Port) {
        let axes: Vec<Vec<i64>> = self.grid.ports[&port].clone();
        if axes.iter().any(|cuts| cuts.len() < 2) {
            return; // a dimension of size zero
        }
        let mut at = vec![0; axes.len()];
        loop {
            let low: Vec<i64> = at.iter().zip(&axes).map(|(&i, cuts)| cuts[i]).collect();
            self.cell(port, &low, None);
            let Some(k) = (0..at.len()).rev().find(|&k| at[k] + 2 < axes[k].len()) else {
                break;
            };
            at[k] += 1;
            at[k + 1..].fill(0);
        }
    }

    fn parameter_of(&self, cell: usize, dim: Option<usize>) -> Option<(usize, bool)> {
        let (class, member) = self.place[cell];
        match self.classes[class].members[member].dims[dim?] {
            DimensionMap::Param { param, flip } => Some((param, flip)),
            _ => None,
        }
    }

    /// Unites two cells: `pairs` are the dimensions that one iterator runs along, `flips` whether in opposite
    /// directions.
    fn unite(&mut self, cells: [usize; 2], pairs: &[[Option<usize>; 2]], flips: &[bool]) {
        // An iterator that runs along a parameter at one end only makes the parameter free. That can uncover another
        // such pair, when both ends are in one class.
        loop {
            let mut changed = false;
            for pair in pairs {
                let found = [
                    self.parameter_of(cells[0], pair[0]),
                    self.parameter_of(cells[1], pair[1]),
                ];
                for side in [0, 1] {
                    if let (Some((param, _)), None) = (found[side], found[1 - side]) {
                        self.free(self.place[cells[side]].0, param);
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let [a, b] = cells.map(|c| self.place[c].0);
        let mut same: Vec<(usize, usize, bool)> = Vec::new(); // parameter of a, parameter of b, reversed
        for (pair, &flip) in pairs.iter().zip(flips) {
            let found = (
                self.parameter_of(cells[0], pair[0]),
                self.parameter_of(cells[1], pair[1]),
            );
            if let (Some((p, fp)), Some((q, fq))) = found {
                same.push((p, q, flip ^ fp ^ fq));
            }
        }
        if a == b {
            if same.iter().any(|&(p, q, flip)| p != q || flip) {
                self.report(cells[0]);
            }
            return;
        }
        let (keep, drop, swap) = if self.classes[a].members.len() >= self.classes[b].members.len() {
            (a, b, false)
        } else {
            (b, a, true)
        };
        let moved = std::mem::take(&mut self.classes[drop].members);
        let moved_cells = std::mem::take(&mut self.cell_of[drop]);
        for (mut member, cell) in moved.into_iter().zip(moved_cells) {
            for map in &mut member.dims {
                if let DimensionMap::Param { param, flip } = map {
                    let image = same.iter().find_map(|&(p, q, f)| {
                        let (from, to) = if swap { (p, q) } else { (q, p) };
                        (from == *param).then_some((to, f))
                    });
                    // Every living parameter is in `same`, by the invariant.
                    *map = match image {
                        Some((to, f)) => DimensionMap::Param {
                            param: to,
                            flip: *flip ^ f,
                        },
                        None => DimensionMap::Free,
                    };
                }
            }
            self.place[cell] = (keep, self.classes[keep].members.len());
            self.classes[keep].members.push(member);
            self.cell_of[keep].push(cell);
        }
    }

    /// Makes a parameter free in all members of a class.
    fn free(&mut self, class: usize, param: usize) {
        let class = &mut self.classes[class];
        class.params[param] = None;
        for member in &mut class.members {
            for map in &mut member.dims {
                if matches!(map, DimensionMap::Param { param: p, .. } if *p == param) {
                    *map = DimensionMap::Free;
                }
            }
        }
    }

    /// Asks for the elements of a cell: its class is connected to itself in another order.
    fn report(&mut self, cell: usize) {
        let (class, member) = self.place[cell];
        let member = &self.classes[class].members[member];
        for (d, map) in member.dims.iter().enumerate() {
            if matches!(map, DimensionMap::Param { .. }) {
                let (first, count) = (member.start[d], member.count[d]);
                self.irregular
                    .push((member.port, d, first, first + count - 1));
            }
        }
    }
}
