//! The connection graph of overdetermined connectors (MLS 3.6 §9.4).
//!
//! An overdetermined type (a record or type with a function `equalityConstraint`, such as the orientation of a frame) has more
//! variables than degrees of freedom, so a loop of connections must be broken at one `connect`: there the equations
//! `a.R = b.R` are replaced by `equalityConstraint(a.R, b.R) = 0`.
//!
//! In: nodes (components of overdetermined type), branches (`Connections.branch`), connects, roots. Out: which connects are
//! broken, which nodes are roots, and which end of a branch is nearer to its root.
//!
//! Example: `root(w); connect(w, a); branch(a, b); connect(b, c); branch(c, d); connect(d, a)` with nodes w, a, b, c, d: the tree
//! takes both branches, then `w-a` and `b-c`; `d-a` would close a loop and is broken. `a` is rooted, `b` is not.
//!
//! Complexity: one union-find pass over the edges and one breadth-first search, so near-linear in their number.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::instance::InstId;

/// The graph, and what was decided by [`ConnectionGraph::solve`].
#[derive(Clone, Debug, Default)]
pub struct ConnectionGraph {
    connections: FxHashMap<InstId, i64>,
    nodes: IndexSet<InstId, FxBuildHasher>,
    branches: Vec<(InstId, InstId)>,
    connects: Vec<(InstId, InstId)>,
    roots: Vec<InstId>,
    potential_roots: IndexMap<InstId, i64, FxBuildHasher>,
    broken: FxHashSet<(InstId, InstId)>,
    chosen: FxHashSet<InstId>,
    depth: FxHashMap<InstId, usize>,
}

impl ConnectionGraph {
    /// Counts a `connect` for both connectors.
    pub fn count(&mut self, a: InstId, b: InstId) {
        for i in [a, b] {
            *self.connections.entry(i).or_insert(0) += 1;
        }
    }

    /// `Connections.branch(a, b)`: an edge that cannot be broken.
    pub fn branch(&mut self, a: InstId, b: InstId) {
        self.nodes.extend([a, b]);
        self.branches.push((a, b));
    }

    /// `connect(a, b)` of overdetermined components: an edge that can be broken.
    pub fn connect(&mut self, a: InstId, b: InstId) {
        self.nodes.extend([a, b]);
        self.connects.push((a, b));
    }

    /// `Connections.root(a)`
    pub fn root(&mut self, a: InstId) {
        self.nodes.insert(a);
        self.roots.push(a);
    }

    /// `Connections.potentialRoot(a, priority)`
    pub fn potential_root(&mut self, a: InstId, priority: i64) {
        self.nodes.insert(a);
        self.potential_roots.insert(a, priority);
    }

    /// Breaks loops and chooses roots. Gives a component of each tree that has no root at all.
    pub fn solve(&mut self) -> Vec<InstId> {
        let index = |g: &Self, i: InstId| g.nodes.get_index_of(&i).unwrap_or(0);
        let n = self.nodes.len();
        let mut sets = Sets {
            parent: (0..n).collect(),
            rooted: vec![false; n],
        };
        for &r in &self.roots {
            let k = index(self, r);
            sets.rooted[k] = true;
            self.chosen.insert(r);
        }
        let mut tree: Vec<Vec<usize>> = vec![Vec::new(); n];
        let mut edge = |a: usize, b: usize| {
            tree[a].push(b);
            tree[b].push(a);
        };
        for &(a, b) in &self.branches {
            let (a, b) = (index(self, a), index(self, b));
            sets.unite(a, b);
            edge(a, b);
        }
        for &(a, b) in &self.connects {
            let (p, q) = (index(self, a), index(self, b));
            let (x, y) = (sets.find(p), sets.find(q));
            if x == y || sets.rooted[x] && sets.rooted[y] {
                self.broken.insert((a, b));
            } else {
                sets.unite(x, y);
                edge(p, q);
            }
        }
        // Trees without a root take the potential root of the smallest priority, the first one declared.
        let mut best: IndexMap<usize, (i64, InstId), FxBuildHasher> = IndexMap::default();
        for (&node, &priority) in &self.potential_roots {
            let set = sets.find(index(self, node));
            if !sets.rooted[set] {
                let entry = best.entry(set).or_insert((priority, node));
                if priority < entry.0 {
                    *entry = (priority, node);
                }
            }
        }
        for (set, (_, node)) in best {
            sets.rooted[set] = true;
            self.chosen.insert(node);
        }
        let mut missing = IndexMap::<usize, InstId, FxBuildHasher>::default();
        for (k, &node) in self.nodes.iter().enumerate() {
            let set = sets.find(k);
            if !sets.rooted[set] {
                missing.entry(set).or_insert(node);
            }
        }
        let mut queue: Vec<usize> = Vec::new();
        for (k, node) in self.nodes.iter().enumerate() {
            if self.chosen.contains(node) {
                self.depth.insert(*node, 0);
                queue.push(k);
            }
        }
        let mut next = 0;
        while next < queue.len() {
            let k = queue[next];
            next += 1;
            let depth = self.depth.get(&self.nodes[k]).copied().unwrap_or(0);
            for &m in &tree[k] {
                if !self.depth.contains_key(&self.nodes[m]) {
                    self.depth.insert(self.nodes[m], depth + 1);
                    queue.push(m);
                }
            }
        }
        missing.into_values().collect()
    }

    /// Number of connections of a connector (MLS 3.6 §3.7.4.3).
    pub fn cardinality(&self, connector: InstId) -> i64 {
        self.connections.get(&connector).copied().unwrap_or(0)
    }

    /// Whether the equality of two connected components is replaced by their equality constraint.
    pub fn is_broken(&self, a: InstId, b: InstId) -> bool {
        self.broken.contains(&(a, b))
    }

    /// Whether the component was chosen as a root.
    pub fn is_root(&self, a: InstId) -> bool {
        self.chosen.contains(&a)
    }

    /// Whether the component is nearer to its root than the other end of its branch.
    pub fn is_rooted(&self, a: InstId) -> bool {
        let depth = |i: InstId| self.depth.get(&i).copied().unwrap_or(usize::MAX);
        self.branches
            .iter()
            .any(|&(x, y)| x == a && depth(x) <= depth(y) || y == a && depth(y) <= depth(x))
    }
}

/// Disjoint sets with the mark whether one member is a root.
struct Sets {
    parent: Vec<usize>,
    rooted: Vec<bool>,
}

impl Sets {
    fn find(&mut self, mut k: usize) -> usize {
        while self.parent[k] != k {
            self.parent[k] = self.parent[self.parent[k]];
            k = self.parent[k];
        }
        k
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a] = b;
        self.rooted[b] |= self.rooted[a];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_broken_once_and_branches_point_away_from_the_root() {
        let [w, a, b, c, d] = [1, 2, 3, 4, 5].map(InstId);
        let mut g = ConnectionGraph::default();
        g.root(w);
        g.connect(w, a);
        g.branch(a, b);
        g.connect(b, c);
        g.branch(c, d);
        g.connect(d, a);
        assert!(g.solve().is_empty());
        assert!(g.is_broken(d, a) && !g.is_broken(w, a) && !g.is_broken(b, c));
        assert!(g.is_rooted(a) && !g.is_rooted(b) && g.is_rooted(c) && !g.is_rooted(d));
        assert!(g.is_root(w) && !g.is_root(a));
    }

    #[test]
    fn potential_roots_by_priority_and_trees_without_root() {
        let [a, b, c] = [1, 2, 3].map(InstId);
        let mut g = ConnectionGraph::default();
        g.potential_root(a, 2);
        g.potential_root(b, 1);
        g.connect(a, b);
        g.branch(c, InstId(4));
        assert_eq!(g.solve(), [c]);
        assert!(g.is_root(b) && !g.is_root(a));
    }

    #[test]
    fn two_roots_are_never_joined() {
        let [a, b] = [1, 2].map(InstId);
        let mut g = ConnectionGraph::default();
        g.root(a);
        g.root(b);
        g.connect(a, b);
        g.solve();
        assert!(g.is_broken(a, b));
    }
}
