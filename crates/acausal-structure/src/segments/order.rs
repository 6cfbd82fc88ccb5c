//! Sorting of segments, and what a block is made of: independent copies, a recurrence, or one coupled system.
//!
//! An arc leads from a segment to the segment that determines what it uses, with the offset between their positions. A
//! strong component of this graph is a block. If all its cycles have offset zero, it consists of independent copies, one
//! per element; if no cycle has a positive offset (or none a negative one), the copies can be solved one after the
//! other; with cycles of both signs, or arcs that touch whole ranges, it is one system. The test is the search for
//! alignments p with offset + p(to) - p(from) <= 0 on every arc (Bellman-Ford on the few segments of the block).

use std::collections::BTreeSet;

use super::frames::Frames;
use super::model::{Index, Model};
use crate::blt::strong_components;
use crate::tearing::loops::potentials;

/// How the elements of a block depend on each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Every element is a system of its own (or there is only one element).
    Elementwise,
    /// The elements can be solved one after the other; the direction of each dimension of the first segment's iterators
    /// that has more than one element.
    Recurrence(Vec<Direction>),
    /// One system of all elements.
    Coupled,
}

/// Direction of a recurrence along one iterator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// No dependence along this dimension.
    Independent,
    /// An element uses elements with smaller indices: solve in ascending order.
    Ascending,
    /// An element uses elements with larger indices.
    Descending,
}

/// A block of segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Numbers of its segments.
    pub segments: Vec<usize>,
    /// How its elements depend on each other.
    pub kind: Kind,
    /// The strong components for one element, in solving order (one group with all segments unless `kind` is a
    /// recurrence).
    pub groups: Vec<Vec<usize>>,
    /// Per segment of `segments`, per dimension with more than one element: the position of element i of this segment
    /// in the common order is i plus this alignment (in the direction of the frame). Empty if coupled.
    pub alignment: Vec<Vec<i64>>,
}

/// An arc between segments: the accesses through which one uses and the other determines a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arc {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) use_access: u32,
    pub(super) own_access: u32,
}

/// What this module needs to know of a segment.
pub(super) struct Node {
    pub(super) equation: usize,
    /// Elements per iterator.
    pub(super) sizes: Vec<u64>,
}

/// A block with, per segment, its iterators in the order of the block's dimensions (empty if coupled).
pub(super) struct Sorted {
    pub(super) block: Block,
    pub(super) dims: Vec<Vec<usize>>,
}

/// Sorts the segments and classifies the blocks.
pub(super) fn sort(
    model: &Model,
    frames: &Frames,
    nodes: &[Node],
    arcs: &BTreeSet<Arc>,
) -> Vec<Sorted> {
    let arcs: Vec<Arc> = arcs.iter().copied().collect();
    let first: Vec<usize> = (0..=nodes.len())
        .map(|n| arcs.partition_point(|a| a.from < n))
        .collect();
    let parts = strong_components(nodes.len(), |n| {
        arcs[first[n]..first[n + 1]].iter().map(|a| a.to)
    });
    let mut part_of = vec![0; nodes.len()];
    for (p, part) in parts.iter().enumerate() {
        for &n in part {
            part_of[n] = p;
        }
    }
    let mut out = Vec::with_capacity(parts.len());
    for (p, part) in parts.iter().enumerate() {
        let inner: Vec<Arc> = part
            .iter()
            .flat_map(|&n| &arcs[first[n]..first[n + 1]])
            .filter(|a| part_of[a.to] == p)
            .filter(|a| !is_own(model, nodes, a))
            .copied()
            .collect();
        out.push(classify(model, frames, nodes, part, &inner));
    }
    out
}

/// Whether each element of the segment just uses what it determines itself, and no other element's.
fn is_own(model: &Model, nodes: &[Node], arc: &Arc) -> bool {
    let node = &nodes[arc.from];
    let index = &model.equations[node.equation].accesses[arc.use_access as usize].index;
    let single = node.sizes.iter().all(|&s| s <= 1);
    let touches_range = index
        .iter()
        .any(|i| matches!(i, Index::All(s) if s.size() > 1));
    // Different elements touch different variables if every iterator appears.
    let appears = |k: usize| {
        index.iter().any(|i| {
            matches!(i, Index::Affine { iterator, coefficient, .. } if *iterator == k && *coefficient != 0)
        })
    };
    let one_to_one =
        !touches_range && (0..node.sizes.len()).all(|k| node.sizes[k] <= 1 || appears(k));
    arc.from == arc.to && (single || (arc.use_access == arc.own_access && one_to_one))
}

fn classify(
    model: &Model,
    frames: &Frames,
    nodes: &[Node],
    part: &[usize],
    inner: &[Arc],
) -> Sorted {
    let in_step = || {
        let relations: Option<Vec<Relation>> = (inner.iter())
            .map(|a| relation(model, frames, nodes, a))
            .collect();
        InStep::new(nodes, part, inner, &relations?)
    };
    let coupled = || Sorted {
        block: Block {
            segments: part.to_vec(),
            kind: Kind::Coupled,
            groups: vec![part.to_vec()],
            alignment: Vec::new(),
        },
        dims: Vec::new(),
    };
    let sorted = in_step().and_then(|block| block.sorted(frames, nodes, part, inner));
    sorted.unwrap_or_else(coupled)
}

/// Pairs of iterators that run in step, with their offset.
type Relation = Vec<(usize, usize, i64)>;

/// A block whose segments run in step.
struct InStep {
    /// Per segment: its iterators in the order of the block's dimensions.
    dims: Vec<Vec<usize>>,
    /// Per arc and dimension of the block.
    offsets: Vec<Vec<i64>>,
}

impl InStep {
    /// Arcs connect all members; they are followed in both directions until every member has its dimensions. `None` if iterators have no partner.
    fn new(
        nodes: &[Node],
        part: &[usize],
        inner: &[Arc],
        relations: &[Relation],
    ) -> Option<InStep> {
        let place = |n: usize| part.binary_search(&n).unwrap_or(0);
        let sizes = &nodes[part[0]].sizes;
        let mut dims: Vec<Option<Vec<usize>>> = vec![None; part.len()];
        dims[0] = Some((0..sizes.len()).filter(|&k| sizes[k] > 1).collect());
        loop {
            let mut changed = false;
            for (arc, relation) in inner.iter().zip(relations) {
                let (from, to) = (place(arc.from), place(arc.to));
                let (known, other, forward) = match (&dims[from], &dims[to]) {
                    (Some(d), None) => (d, to, true),
                    (None, Some(d)) => (d, from, false),
                    _ => continue,
                };
                let find = |it: &usize| {
                    let mut pairs = relation.iter();
                    if forward {
                        pairs.find(|r| r.0 == *it).map(|r| r.1)
                    } else {
                        pairs.find(|r| r.1 == *it).map(|r| r.0)
                    }
                };
                dims[other] = Some(known.iter().map(find).collect::<Option<_>>()?);
                changed = true;
            }
            if !changed {
                break;
            }
        }
        let dims = dims.into_iter().collect::<Option<Vec<_>>>()?;
        let offset = |(arc, relation): (&Arc, &Relation)| {
            let pairs = dims[place(arc.from)].iter().zip(&dims[place(arc.to)]);
            let along = |(from, to): (&usize, &usize)| {
                let pair = relation.iter().find(|r| r.0 == *from && r.1 == *to);
                pair.map(|r| r.2)
            };
            pairs.map(along).collect::<Option<Vec<_>>>()
        };
        let offsets = inner.iter().zip(relations).map(offset);
        let offsets = offsets.collect::<Option<_>>()?;
        Some(InStep { dims, offsets })
    }

    /// The block in an order of its elements. `None` if some dimension has none.
    fn sorted(
        self,
        frames: &Frames,
        nodes: &[Node],
        part: &[usize],
        inner: &[Arc],
    ) -> Option<Sorted> {
        let place = |n: usize| part.binary_search(&n).unwrap_or(0);
        let mut directions = Vec::new();
        let mut alignment = vec![Vec::new(); part.len()];
        for (k, &iterator) in self.dims[0].iter().enumerate() {
            let arcs: Vec<(usize, usize, i64)> = (inner.iter().zip(&self.offsets))
                .map(|(a, o)| (place(a.from), place(a.to), o[k]))
                .collect();
            let iterator = frames.of_equation(nodes[part[0]].equation)[iterator];
            let (direction, p) = direction(part.len(), &arcs, iterator.sign == 1)?;
            directions.push(direction);
            for (list, x) in alignment.iter_mut().zip(p) {
                list.push(x);
            }
        }
        // Arcs with no offset left are the algebraic loops of one element.
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); part.len()];
        for (arc, offsets) in inner.iter().zip(&self.offsets) {
            let (from, to) = (place(arc.from), place(arc.to));
            if (0..offsets.len()).all(|k| offsets[k] + alignment[to][k] - alignment[from][k] == 0) {
                next[from].push(to);
            }
        }
        let groups = strong_components(part.len(), |n| next[n].iter().copied());
        let groups = groups.iter().map(|g| g.iter().map(|&i| part[i]).collect());
        let kind = match directions.iter().all(|d| *d == Direction::Independent) {
            true => Kind::Elementwise,
            false => Kind::Recurrence(directions),
        };
        Some(Sorted {
            block: Block {
                segments: part.to_vec(),
                kind,
                groups: groups.collect(),
                alignment,
            },
            dims: self.dims,
        })
    }
}

/// The direction along one dimension in which elements can be computed, and how far segments are ahead of each other. The arcs are those between segments with
/// their offsets in the frame, along which the iterator runs forwards or backwards.
fn direction(
    segments: usize,
    arcs: &[(usize, usize, i64)],
    forwards: bool,
) -> Option<(Direction, Vec<i64>)> {
    let reversed: Vec<(usize, usize, i64)> = arcs.iter().map(|&(f, t, o)| (f, t, -o)).collect();
    let directions = match forwards {
        true => [Direction::Ascending, Direction::Descending],
        false => [Direction::Descending, Direction::Ascending],
    };
    let [ascending, descending] = directions;
    match (potentials(segments, arcs), potentials(segments, &reversed)) {
        (Some(p), Some(_)) => Some((Direction::Independent, p)),
        (Some(p), None) => Some((ascending, p)),
        (None, Some(p)) => Some((descending, p.iter().map(|x| -x).collect())),
        (None, None) => None,
    }
}

/// For each iterator of the using segment with more than one element: the iterator of the determining segment that runs
/// in step, and the offset between them in frame coordinates. `None` if the two do not run in step.
fn relation(model: &Model, frames: &Frames, nodes: &[Node], arc: &Arc) -> Option<Relation> {
    let (user, owner) = (&nodes[arc.from], &nodes[arc.to]);
    let uses = &model.equations[user.equation].accesses[arc.use_access as usize];
    let owns = &model.equations[owner.equation].accesses[arc.own_access as usize];
    let shift = |node: &Node, variable: usize, k: usize, index: Index| match index {
        Index::Affine {
            iterator,
            coefficient,
            offset,
        } => {
            let it = frames.of_equation(node.equation)[iterator];
            frames
                .cell_shift(it, coefficient, offset, frames.of_variable(variable)[k])
                .map(|s| (iterator, s))
        }
        _ => None,
    };
    let mut out: Vec<(usize, usize, i64)> = Vec::new();
    for k in 0..uses.index.len() {
        let from = shift(user, uses.variable.index(), k, uses.index[k]);
        let to = shift(owner, owns.variable.index(), k, owns.index[k]);
        if let (Some((i, a)), Some((j, b))) = (from, to)
            && (user.sizes[i] > 1 || owner.sizes[j] > 1)
        {
            out.push((i, j, a - b));
        }
    }
    // One-to-one, and complete on both sides.
    let count = |node: &Node| node.sizes.iter().filter(|&&s| s > 1).count();
    let distinct = |side: fn(&(usize, usize, i64)) -> usize| {
        out.iter().map(side).collect::<BTreeSet<_>>().len()
    };
    let complete = distinct(|r| r.0) == out.len()
        && distinct(|r| r.1) == out.len()
        && count(user) == out.len()
        && count(owner) == out.len()
        && out
            .iter()
            .all(|r| user.sizes[r.0] > 1 && owner.sizes[r.1] > 1);
    complete.then_some(out)
}
