//! Which variable takes the place of which others.
//!
//! In: the edges. Out: for each variable that can be taken out its parent, parents first. Edges that can be used in both directions connect variables to trees.
//! Each tree has a *representative*, the variable that deserves most to stay (a derivative, a fixed or written start, a wish of the user; then by
//! name), and is directed towards it, so that every other variable belongs to one equation, that with its parent. A tree in which an edge closes a cycle
//! stays as it is.
//!
//! An edge for one direction gives a variable of a tree by a section of a variable of another tree, `a[i] = b[i + 1]` with a longer `b`, or `a[i] = s`. If nothing is
//! said about the representative, the tree is directed towards that variable instead, and the section is a parent like any other: the representative has an
//! equation to be taken out with. Of several such edges the one that leads to the worthiest representative is used, the others stay equations, as do those of trees that
//! lead to each other in circles.
//!
//! Each variable has at most one parent and no variable is its own ancestor: so definitions can be put in one after the other, and as many equations go as variables.
//! Cost: linear in the edges, but for the comparison of names.

use acausal_expr::VarId;
use acausal_expr::flat::FlatModel;

use super::edges::{Edge, Edges, MapId};
use super::said::{is_said, merit};

/// A variable, the one next to it on the way to the representative, and the equation between them.
pub(super) struct Parent {
    pub of: VarId,
    pub parent: VarId,
    /// The elements of the parent.
    pub map: MapId,
    pub equation: u32,
    pub negative: bool,
}

/// The parents of all variables that have one, parents before their children.
pub(super) fn parents(flat: &FlatModel, special: &[bool], edges: &Edges) -> Vec<Parent> {
    let forest = Forest::new(flat, special, &edges.edges);
    let mut out = Vec::with_capacity(edges.edges.len());
    let mut written = vec![false; forest.trees.len()];
    let mut waiting = Vec::new();
    for tree in 0..forest.trees.len() {
        // The trees on the way, the last one of which leads no further or to what is there already.
        let mut next = Some(tree);
        while let Some(t) = next.filter(|&t| !std::mem::replace(&mut written[t], true)) {
            waiting.push(t);
            next = forest.trees[t]
                .section
                .map(|p| forest.tree(forest.one_way[p].parent));
        }
        while let Some(t) = waiting.pop() {
            forest.direct(&forest.trees[t], &mut out);
        }
    }
    out
}

const NONE: u32 = u32::MAX;

/// Variables that equal each other element by element.
struct Tree {
    representative: VarId,
    /// Whether an edge closes a cycle.
    cyclic: bool,
    /// The section that takes its place, by the number of the edge.
    section: Option<usize>,
}

/// The edges of the variables, as lists through one table.
struct Forest<'e> {
    edges: &'e [Edge],
    /// Per variable: the last end at it of an edge for both directions, plus one. End `2*k` is `a` of edge `k`, end `2*k + 1` is `b`.
    last: Vec<u32>,
    /// Per end: the end before it at the same variable, plus one.
    before: Vec<u32>,
    /// The edges for one direction.
    one_way: Vec<Parent>,
    trees: Vec<Tree>,
    /// Per variable with an edge: its tree.
    tree_of: Vec<u32>,
}

impl Forest<'_> {
    fn new<'e>(flat: &FlatModel, special: &[bool], edges: &'e [Edge]) -> Forest<'e> {
        let mut forest = Forest {
            edges,
            last: vec![0; flat.vars.len()],
            before: Vec::with_capacity(2 * edges.len()),
            one_way: Vec::new(),
            trees: Vec::new(),
            tree_of: vec![NONE; flat.vars.len()],
        };
        for edge in edges {
            let ends = [(edge.a, edge.b, edge.forth), (edge.b, edge.a, edge.back)];
            if let [(.., Some(_)), (.., Some(_))] = ends {
                for (v, ..) in ends {
                    forest.before.push(forest.last[v.index()]);
                    forest.last[v.index()] = forest.before.len() as u32;
                }
                continue;
            }
            // Ends are counted by edges.
            forest.before.extend([0; 2]);
            for (of, parent, map) in ends {
                forest.one_way.extend(map.map(|map| Parent {
                    of,
                    parent,
                    map,
                    equation: edge.equation,
                    negative: edge.negative,
                }));
            }
        }
        forest.find_trees(flat, special);
        forest.find_sections(flat, special);
        forest
    }

    /// The edges at a variable and the variables at their other ends.
    fn at(&self, v: VarId) -> impl Iterator<Item = (usize, VarId)> {
        let mut end = self.last[v.index()] as usize;
        std::iter::from_fn(move || {
            let k = end.checked_sub(1)? / 2;
            end = self.before[end - 1] as usize;
            let edge = &self.edges[k];
            Some((k, if edge.a == v { edge.b } else { edge.a }))
        })
    }

    fn tree(&self, v: VarId) -> usize {
        self.tree_of[v.index()] as usize
    }

    /// As many edges as members, or more, are no tree.
    fn find_trees(&mut self, flat: &FlatModel, special: &[bool]) {
        let mut related: Vec<bool> = self.last.iter().map(|&end| end != 0).collect();
        for edge in &self.one_way {
            related[edge.of.index()] = true;
            related[edge.parent.index()] = true;
        }
        let merit = |v: VarId| merit(flat.var(v), special[v.index()]);
        let name = |v: VarId| &flat.var(v).name;
        let mut members: Vec<VarId> = Vec::new();
        for (first, _) in related.iter().enumerate().filter(|r| *r.1) {
            if self.tree_of[first] != NONE {
                continue;
            }
            let tree = self.trees.len() as u32;
            self.tree_of[first] = tree;
            members.clear();
            members.push(VarId(first as u32));
            let (mut head, mut ends) = (0, 0);
            while let Some(&v) = members.get(head) {
                head += 1;
                let mut end = self.last[v.index()] as usize;
                while let Some(k) = end.checked_sub(1) {
                    end = self.before[k] as usize;
                    let edge = &self.edges[k / 2];
                    let other = if edge.a == v { edge.b } else { edge.a };
                    ends += 1;
                    if self.tree_of[other.index()] == NONE {
                        self.tree_of[other.index()] = tree;
                        members.push(other);
                    }
                }
            }
            let (mut representative, mut most) = (members[0], merit(members[0]));
            for &v in &members[1..] {
                let own = merit(v);
                if own > most || own == most && name(v) < name(representative) {
                    (representative, most) = (v, own);
                }
            }
            self.trees.push(Tree {
                representative,
                cyclic: ends / 2 >= members.len(),
                section: None,
            });
        }
    }

    /// Chooses among the edges for one direction.
    fn find_sections(&mut self, flat: &FlatModel, special: &[bool]) {
        let name = |v: VarId| &flat.var(v).name;
        let worth = |k: usize| {
            let to = self.trees[self.tree(self.one_way[k].parent)].representative;
            merit(flat.var(to), special[to.index()])
        };
        let names = |k: usize| (name(self.one_way[k].parent), name(self.one_way[k].of));
        let mut chosen: Vec<Option<usize>> = vec![None; self.trees.len()];
        for (k, edge) in self.one_way.iter().enumerate() {
            let own = self.tree(edge.of);
            let tree = &self.trees[own];
            let said =
                special[tree.representative.index()] || is_said(flat.var(tree.representative));
            if said || tree.cyclic || own == self.tree(edge.parent) {
                continue;
            }
            let better = |&old: &usize| {
                worth(k) > worth(old) || worth(k) == worth(old) && names(k) < names(old)
            };
            if chosen[own].as_ref().is_none_or(better) {
                chosen[own] = Some(k);
            }
        }
        // Trees that lead to each other keep their representatives.
        let mut visit = vec![NONE; self.trees.len()];
        for first in 0..self.trees.len() {
            let next = |t: usize, chosen: &[Option<usize>]| {
                chosen[t].map(|k| self.tree(self.one_way[k].parent))
            };
            let mut at = Some(first);
            while let Some(t) = at.filter(|&t| visit[t] == NONE) {
                visit[t] = first as u32;
                at = next(t, &chosen);
            }
            // What is met again on the same way lies on a cycle.
            while let Some(t) = at.filter(|&t| visit[t] == first as u32) {
                at = next(t, &chosen);
                chosen[t] = None;
            }
        }
        for (tree, section) in self.trees.iter_mut().zip(chosen) {
            tree.section = section;
        }
    }

    /// The edges of a tree from the variable that stays, or is a section of another tree, outwards.
    fn direct(&self, tree: &Tree, out: &mut Vec<Parent>) {
        if tree.cyclic {
            return;
        }
        let mut root = tree.representative;
        if let Some(edge) = tree.section.map(|k| &self.one_way[k]) {
            root = edge.of;
            out.push(Parent { ..*edge });
        }
        let mut todo = vec![(root, usize::MAX)];
        while let Some((v, from)) = todo.pop() {
            for (k, of) in self.at(v).filter(|(k, _)| *k != from) {
                let edge = &self.edges[k];
                let map = if edge.a == of { edge.forth } else { edge.back };
                out.extend(map.map(|map| Parent {
                    of,
                    parent: v,
                    map,
                    equation: edge.equation,
                    negative: edge.negative,
                }));
                todo.push((of, k));
            }
        }
    }
}
