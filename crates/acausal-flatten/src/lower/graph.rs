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

use acausal_base::{Name, Span};
use acausal_expr::{ExprId, Exprs, IterId, Range};
use acausal_syntax::ast::CausalityPrefix;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::{ComponentRange, Context, Error, Result, Subscript, error};
use acausal_instance::instance::{InstId, InstanceKind};

/// An overdetermined component; of an array of components one element, by its subscripts. An array that `equalityConstraint` takes as a whole
/// (`input Angle theta[:]`) is one node.
pub type GraphNode = (InstId, Box<[i64]>);

/// The graph, and what was decided by [`ConnectionGraph::solve`].
#[derive(Clone, Debug, Default)]
pub struct ConnectionGraph {
    connections: FxHashMap<GraphNode, i64>,
    nodes: IndexSet<GraphNode, FxBuildHasher>,
    branches: Vec<(GraphNode, GraphNode)>,
    connects: Vec<(GraphNode, GraphNode)>,
    roots: Vec<GraphNode>,
    potential_roots: IndexMap<GraphNode, i64, FxBuildHasher>,
    broken: FxHashSet<(GraphNode, GraphNode)>,
    chosen: FxHashSet<GraphNode>,
    depth: FxHashMap<GraphNode, usize>,
    rooted: FxHashSet<GraphNode>,
}

impl ConnectionGraph {
    /// Counts a `connect` for both connectors.
    pub fn count(&mut self, a: GraphNode, b: GraphNode) {
        for i in [a, b] {
            *self.connections.entry(i).or_insert(0) += 1;
        }
    }

    /// `Connections.branch(a, b)`: an edge that cannot be broken.
    pub fn branch(&mut self, a: GraphNode, b: GraphNode) {
        self.nodes.extend([a.clone(), b.clone()]);
        self.branches.push((a, b));
    }

    /// `connect(a, b)` of overdetermined components: an edge that can be broken.
    pub fn connect(&mut self, a: GraphNode, b: GraphNode) {
        self.nodes.extend([a.clone(), b.clone()]);
        self.connects.push((a, b));
    }

    /// `Connections.root(a)`
    pub fn root(&mut self, a: GraphNode) {
        self.nodes.insert(a.clone());
        self.roots.push(a);
    }

    /// `Connections.potentialRoot(a, priority)`
    pub fn potential_root(&mut self, a: GraphNode, priority: i64) {
        self.nodes.insert(a.clone());
        self.potential_roots.insert(a, priority);
    }

    /// Breaks loops and chooses roots. Gives a component of each tree that has no root at all.
    pub fn solve(&mut self) -> Vec<GraphNode> {
        let index =
            |g: &Self, i: &GraphNode| (g.nodes.get_index_of(i)).expect("what is named is a node");
        let n = self.nodes.len();
        let mut sets = Sets {
            parent: (0..n).collect(),
            rooted: vec![false; n],
        };
        for r in &self.roots {
            let k = index(self, r);
            sets.rooted[k] = true;
            self.chosen.insert(r.clone());
        }
        let mut tree: Vec<Vec<usize>> = vec![Vec::new(); n];
        let mut edge = |a: usize, b: usize| {
            tree[a].push(b);
            tree[b].push(a);
        };
        for (a, b) in &self.branches {
            let (a, b) = (index(self, a), index(self, b));
            sets.unite(a, b);
            edge(a, b);
        }
        for (a, b) in &self.connects {
            let (p, q) = (index(self, a), index(self, b));
            let (x, y) = (sets.find(p), sets.find(q));
            if x == y || sets.rooted[x] && sets.rooted[y] {
                self.broken.insert((a.clone(), b.clone()));
            } else {
                sets.unite(x, y);
                edge(p, q);
            }
        }
        // Trees without a root take the potential root of the smallest priority, the first one declared.
        let mut best: IndexMap<usize, (i64, GraphNode), FxBuildHasher> = IndexMap::default();
        for (node, &priority) in &self.potential_roots {
            let set = sets.find(index(self, node));
            if !sets.rooted[set] {
                let entry = best.entry(set).or_insert((priority, node.clone()));
                if priority < entry.0 {
                    *entry = (priority, node.clone());
                }
            }
        }
        for (set, (_, node)) in best {
            sets.rooted[set] = true;
            self.chosen.insert(node);
        }
        let mut missing = IndexMap::<usize, GraphNode, FxBuildHasher>::default();
        for (k, node) in self.nodes.iter().enumerate() {
            let set = sets.find(k);
            if !sets.rooted[set] {
                missing.entry(set).or_insert(node.clone());
            }
        }
        let mut queue: Vec<usize> = Vec::new();
        for (k, node) in self.nodes.iter().enumerate() {
            if self.chosen.contains(node) {
                self.depth.insert(node.clone(), 0);
                queue.push(k);
            }
        }
        let mut next = 0;
        while next < queue.len() {
            let k = queue[next];
            next += 1;
            let depth = self.depth[&self.nodes[k]];
            for &m in &tree[k] {
                if !self.depth.contains_key(&self.nodes[m]) {
                    self.depth.insert(self.nodes[m].clone(), depth + 1);
                    queue.push(m);
                }
            }
        }
        let depth = |i: &GraphNode| self.depth.get(i).copied().unwrap_or(usize::MAX);
        for (x, y) in &self.branches {
            let near = if depth(x) <= depth(y) { x } else { y };
            self.rooted.insert(near.clone());
        }
        missing.into_values().collect()
    }

    /// Number of connections of a connector (MLS 3.6 §3.7.4.3).
    pub fn cardinality(&self, connector: &GraphNode) -> i64 {
        self.connections.get(connector).copied().unwrap_or(0)
    }

    /// True when no connection is broken.
    pub fn is_unbroken(&self) -> bool {
        self.broken.is_empty()
    }

    /// Whether the equality of two connected components is replaced by their equality constraint.
    pub fn is_broken(&self, a: &GraphNode, b: &GraphNode) -> bool {
        self.broken.contains(&(a.clone(), b.clone()))
    }

    /// Whether the component was chosen as a root.
    pub fn is_root(&self, a: &GraphNode) -> bool {
        self.chosen.contains(a)
    }

    /// Whether the component is nearer to its root than the other end of its branch.
    pub fn is_rooted(&self, a: &GraphNode) -> bool {
        self.rooted.contains(a)
    }
}

impl Context {
    /// The function that makes the type of a component overdetermined.
    pub fn equality_constraint(&mut self, inst: InstId) -> Option<InstId> {
        let class = self.instances.data(inst).class;
        let name = Name::new("equalityConstraint");
        let function = self.instances.member(class, name)?;
        (self.instances.kind(function) == InstanceKind::Function).then_some(function)
    }

    /// How many of the last dimensions of a component belong to one node: those of the arrays that its function takes.
    pub fn node_rank(&mut self, inst: InstId) -> usize {
        let Some(function) = self.equality_constraint(inst) else {
            return 0;
        };
        let inputs = self.instances.components(function);
        let rank = inputs.into_iter().find_map(|input| {
            let data = self.instances.data(input);
            (data.prefixes.causality == Some(CausalityPrefix::Input)).then_some(data.rank)
        });
        usize::from(rank.unwrap_or(0))
    }

    /// A place without the dimensions that belong to one node.
    pub fn node_place(&mut self, place: &ComponentRange) -> ComponentRange {
        let rank = self.node_rank(place.inst);
        let mut place = place.clone();
        let whole = place.slots.iter().rev().take(rank);
        let whole = whole.take_while(|(_, s)| matches!(s, Subscript::All));
        let count = whole.count();
        place.slots.truncate(place.slots.len() - count);
        place
    }

    /// A property of nodes for the elements that a place stands for: a literal if it is the same for all, else a selection by
    /// the iterators in its subscripts.
    pub(super) fn per_element(
        &mut self,
        place: &ComponentRange,
        span: Span,
        property: impl Fn(&ConnectionGraph, &GraphNode) -> bool,
    ) -> Result<ExprId> {
        self.literal_per_element(place, span, |x, g, n| x.bool(property(g, n)))
    }

    /// The same for a literal of any type.
    pub(super) fn literal_per_element(
        &mut self,
        place: &ComponentRange,
        span: Span,
        property: impl Fn(&mut Exprs, &ConnectionGraph, &GraphNode) -> ExprId,
    ) -> Result<ExprId> {
        let place = self.node_place(place);
        let mut subs = Vec::new();
        for (_, s) in &place.slots {
            match s {
                Subscript::Element(e) => subs.push(*e),
                _ => {
                    let message = "one component is expected here, not an array of them";
                    return Err(error("argument-shape", span, message));
                }
            }
        }
        let mut domain: Vec<(IterId, Range)> = Vec::new();
        for &s in &subs {
            for (i, _) in self.exprs.affine(s).map_or(Vec::new(), |a| a.terms) {
                if let Some(&r) = self.ranges.get(&i)
                    && !domain.iter().any(|d| d.0 == i)
                {
                    domain.push((i, r));
                }
            }
        }
        let mut values = Vec::new();
        for point in points(&domain) {
            let Some(element) = element(&self.exprs, &subs, &domain, &point) else {
                let message = "the subscripts of this component must be known";
                return Err(Error::not_constant(span, message));
            };
            let node = (place.inst, element);
            values.push(property(&mut self.exprs, &self.graph, &node));
        }
        let selected = self.selected(&domain, values);
        Ok(selected.unwrap_or_else(|| self.exprs.bool(false)))
    }

    /// The values at all [`points`] of a domain as a selection by its iterators. The subscript of a selection is `iterator - lowest + 1`, which stays
    /// affine, so that with an increment other than one there are values in between that nobody selects.
    pub fn selected(&mut self, domain: &[(IterId, Range)], values: Vec<ExprId>) -> Option<ExprId> {
        let mut values = values;
        for (iter, range) in domain.iter().rev() {
            let k = self.exprs.iter(*iter);
            let n = range.count.max(1) as usize;
            let lowest = range.start.min(range.at(n as i64 - 1));
            let shift = self.exprs.int(lowest - 1);
            let index = self.exprs.sub(k, shift);
            let width = range.step.unsigned_abs() as usize * (n - 1) + 1;
            values = values
                .chunks(n)
                .map(|row| {
                    let mut list = vec![row[0]; width];
                    for (j, &value) in row.iter().enumerate() {
                        list[(range.at(j as i64) - lowest) as usize] = value;
                    }
                    self.exprs.select(index, &list)
                })
                .collect();
        }
        values.first().copied()
    }
}

/// All values of the iterators, the last one fastest.
pub fn points(domain: &[(IterId, Range)]) -> Vec<Vec<i64>> {
    let mut out = vec![Vec::new()];
    for (_, range) in domain {
        out = out
            .into_iter()
            .flat_map(|p: Vec<i64>| {
                range.values().map(move |v| {
                    let mut q = p.clone();
                    q.push(v);
                    q
                })
            })
            .collect();
    }
    out
}

/// The subscripts at one point; `None` if one is not affine in the iterators.
pub fn element(
    exprs: &Exprs,
    subs: &[ExprId],
    domain: &[(IterId, Range)],
    point: &[i64],
) -> Option<Box<[i64]>> {
    subs.iter()
        .map(|&s| {
            let affine = exprs.affine(s)?;
            affine
                .terms
                .iter()
                .try_fold(affine.constant, |sum, (i, c)| {
                    let k = domain.iter().position(|d| d.0 == *i)?;
                    Some(sum + c * point[k])
                })
        })
        .collect()
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

    fn node(k: u32) -> GraphNode {
        (InstId(k), Box::new([]))
    }

    #[test]
    fn a_loop_is_broken_once_and_branches_point_away_from_the_root() {
        let [w, a, b, c, d] = [1, 2, 3, 4, 5].map(node);
        let mut g = ConnectionGraph::default();
        g.root(w.clone());
        g.connect(w.clone(), a.clone());
        g.branch(a.clone(), b.clone());
        g.connect(b.clone(), c.clone());
        g.branch(c.clone(), d.clone());
        g.connect(d.clone(), a.clone());
        assert!(g.solve().is_empty());
        assert!(g.is_broken(&d, &a) && !g.is_broken(&w, &a) && !g.is_broken(&b, &c));
        assert!(g.is_rooted(&a) && !g.is_rooted(&b) && g.is_rooted(&c) && !g.is_rooted(&d));
        assert!(g.is_root(&w) && !g.is_root(&a));
    }

    #[test]
    fn potential_roots_by_priority_and_trees_without_root() {
        let [a, b, c] = [1, 2, 3].map(node);
        let mut g = ConnectionGraph::default();
        g.potential_root(a.clone(), 2);
        g.potential_root(b.clone(), 1);
        g.connect(a.clone(), b.clone());
        g.branch(c.clone(), node(4));
        assert_eq!(g.solve(), [c]);
        assert!(g.is_root(&b) && !g.is_root(&a));
    }

    #[test]
    fn two_roots_are_never_joined() {
        let [a, b] = [1, 2].map(node);
        let mut g = ConnectionGraph::default();
        g.root(a.clone());
        g.root(b.clone());
        g.connect(a.clone(), b.clone());
        g.solve();
        assert!(g.is_broken(&a, &b));
    }
}
