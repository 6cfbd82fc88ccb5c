//! Fill-reducing ordering: approximate minimum degree on the quotient graph.
//!
//! In: a symmetric adjacency structure. Out: an elimination order. The next pivot is always a vertex of (approximately)
//! smallest degree in the graph that elimination has produced so far. That graph is never formed: an eliminated vertex
//! stays as an *element* that stands for the clique of its neighbours (Amestoy, Davis & Duff, "An approximate minimum
//! degree ordering algorithm", SIAM J. Matrix Anal. Appl. 17, 1996). Used here: approximate external degree, element
//! absorption (also aggressive), supervariables, mass elimination, and vertices with very many neighbours last.
//! Nearly linear in practice.
//!
//! All lists lie in one array, as in the paper: a variable's list (its elements, then its variables) only ever shrinks in
//! its place, and the list of a new element replaces that of its pivot or is put at the end, for which a fifth more than
//! the graph is set aside; when that is used up, the lists that are still in use are moved together. So the memory is the
//! graph and thirteen numbers per vertex, and nothing is allocated per vertex.
//!
//! Vertices of equal degree are taken first in, first out. A chain is then eliminated from both ends alternately, which
//! gives the triangular solves two independent recurrences to overlap.
//!
//! Worked example: the path 0-1-2-3-4. Degrees 1,2,2,2,1: pivots 0, 4 (degree 1), then 1, 3, then 2. No fill.

mod adjacency;
mod queues;
#[cfg(test)]
mod tests;

pub(crate) use adjacency::{Adjacency, block_graph};
use queues::Queues;

/// Vertices with more than this many times sqrt(n) neighbours are put last (AMD's default).
const DENSE_FACTOR: f64 = 10.0;
/// But never those with fewer neighbours than this.
const DENSE_LEAST: usize = 16;

const NONE: u32 = u32::MAX;

/// What a vertex is at present.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Variable,
    /// Eliminated, stands for a clique.
    Element,
    /// Merged into another vertex or absorbed.
    Gone,
}

struct Graph {
    kind: Vec<Kind>,
    /// Of a variable its elements and then the variables that no element covers; of an element its variables, among them
    /// some that are gone.
    lists: Vec<u32>,
    start: Vec<u32>,
    len: Vec<u32>,
    /// How many entries of a variable's list are elements.
    elements: Vec<u32>,
    /// Number of original vertices in a supervariable.
    weight: Vec<u32>,
    /// Of a variable the approximate external degree, of an element the weight of its variables.
    degree: Vec<u32>,
    /// Original vertices follow their representative in the order: a chain per representative, with its end.
    follower: Vec<u32>,
    last_follower: Vec<u32>,
}

/// Time-stamped scratch arrays.
struct Work {
    /// Variables of the pivot's clique.
    mark: Vec<u32>,
    /// Weight of an element outside the pivot's clique.
    outside: Vec<u32>,
    /// Elements whose `outside` is current, and variables during the comparison.
    seen: Vec<u32>,
    stamp: u32,
    list: Vec<u32>,
    hashes: Vec<(u64, u32)>,
}

/// Elimination order of the graph with these (symmetric, loop-free) neighbour lists.
pub(crate) fn minimum_degree(neighbours: Adjacency) -> Vec<u32> {
    let n = neighbours.start.len() - 1;
    let dense_limit = ((DENSE_FACTOR * (n as f64).sqrt()) as usize).max(DENSE_LEAST);
    let mut g = Graph::new(neighbours);
    let dense = g.put_aside(dense_limit);
    let mut queues = Queues::new(n);
    for v in 0..n {
        if g.kind[v] == Kind::Variable {
            queues.push(v as u32, g.degree[v]);
        }
    }
    let mut work = Work {
        mark: vec![NONE; n],
        outside: vec![0; n],
        seen: vec![NONE; n],
        stamp: 0,
        list: Vec::new(),
        hashes: Vec::new(),
    };
    let mut order: Vec<u32> = Vec::with_capacity(n);
    let mut left = n - dense.len();
    while left > 0 {
        let pivot = queues.pop();
        left -= g.weight[pivot as usize] as usize;
        left -= g.eliminate(pivot, left, &mut queues, &mut work);
        let mut v = pivot;
        while v != NONE {
            order.push(v);
            v = g.follower[v as usize];
        }
    }
    order.extend(dense);
    order
}

impl Graph {
    fn new(neighbours: Adjacency) -> Graph {
        let Adjacency {
            mut start,
            list: mut lists,
        } = neighbours;
        let n = start.len() - 1;
        let len: Vec<u32> = start.windows(2).map(|w| w[1] - w[0]).collect();
        start.truncate(n);
        lists.reserve_exact(lists.len() / 5 + n);
        Graph {
            kind: vec![Kind::Variable; n],
            lists,
            start,
            degree: len.clone(),
            len,
            elements: vec![0; n],
            weight: vec![1; n],
            follower: vec![NONE; n],
            last_follower: (0..n as u32).collect(),
        }
    }

    /// Takes vertices with too many neighbours out of the graph; they are returned, those with most neighbours last.
    fn put_aside(&mut self, limit: usize) -> Vec<u32> {
        let n = self.kind.len();
        let mut dense: Vec<u32> = (0..n as u32)
            .filter(|&v| self.degree[v as usize] as usize > limit)
            .collect();
        if dense.is_empty() {
            return dense;
        }
        dense.sort_by_key(|&v| self.degree[v as usize]);
        for &v in &dense {
            self.kind[v as usize] = Kind::Gone;
        }
        for v in 0..n {
            let start = self.start[v] as usize;
            let mut kept = start;
            for k in start..start + self.len[v] as usize {
                let u = self.lists[k];
                if self.kind[u as usize] == Kind::Variable {
                    self.lists[kept] = u;
                    kept += 1;
                }
            }
            self.len[v] = (kept - start) as u32;
            self.degree[v] = self.len[v];
        }
        dense
    }

    fn list(&self, v: usize) -> std::ops::Range<usize> {
        let start = self.start[v] as usize;
        start..start + self.len[v] as usize
    }

    /// Turns variable `pivot` into an element, updates its neighbours' lists and degrees. Returns the weight of the
    /// variables that could be eliminated together with it.
    fn eliminate(
        &mut self,
        pivot: u32,
        left: usize,
        queues: &mut Queues,
        work: &mut Work,
    ) -> usize {
        work.stamp += 1;
        let p = pivot as usize;
        let clique_weight = self.make_element(pivot, queues, work);
        self.weigh_elements(p, work);
        let mut together = 0;
        work.hashes.clear();
        for k in self.list(p) {
            let v = self.lists[k];
            let i = v as usize;
            let (degree, hash) = self.shorten(v, pivot, work);
            if degree == 0 {
                // Nothing but the clique: eliminating it now causes no further fill.
                together += self.weight[i] as usize;
                self.follow(pivot, v);
                continue;
            }
            let own = self.weight[i];
            let bound = (left as u32).saturating_sub(own);
            let grown = self.degree[i].saturating_add(clique_weight - own);
            self.degree[i] = (degree + clique_weight - own).min(grown).min(bound);
            work.hashes.push((hash, v));
        }
        self.merge_indistinguishable(work);
        let start = self.start[p] as usize;
        let mut kept = start;
        let mut weight = 0;
        for k in self.list(p) {
            let v = self.lists[k];
            if self.kind[v as usize] == Kind::Variable {
                self.lists[kept] = v;
                kept += 1;
                weight += self.weight[v as usize];
                queues.push(v, self.degree[v as usize]);
            }
        }
        self.len[p] = (kept - start) as u32;
        self.degree[p] = weight;
        together
    }

    /// Gathers the clique of `pivot`, takes its variables out of the queues, and absorbs the elements of the pivot.
    /// Returns the weight of the clique.
    fn make_element(&mut self, pivot: u32, queues: &mut Queues, work: &mut Work) -> u32 {
        let p = pivot as usize;
        let stamp = work.stamp;
        work.mark[p] = stamp;
        let mut clique = std::mem::take(&mut work.list);
        clique.clear();
        let mut weight = 0;
        let mut take = |u: u32, kind: &[Kind], own: &[u32], degree: &[u32]| {
            let i = u as usize;
            if kind[i] == Kind::Variable && work.mark[i] != stamp {
                work.mark[i] = stamp;
                clique.push(u);
                weight += own[i];
                queues.remove(u, degree[i]);
            }
        };
        let (first, elements) = (self.start[p] as usize, self.elements[p] as usize);
        for k in first + elements..first + self.len[p] as usize {
            take(self.lists[k], &self.kind, &self.weight, &self.degree);
        }
        for k in first..first + elements {
            let e = self.lists[k] as usize;
            if self.kind[e] != Kind::Element {
                continue;
            }
            for k in self.list(e) {
                take(self.lists[k], &self.kind, &self.weight, &self.degree);
            }
            self.kind[e] = Kind::Gone;
        }
        self.kind[p] = Kind::Element;
        if clique.len() > self.len[p] as usize {
            if self.lists.len() + clique.len() > self.lists.capacity() {
                self.len[p] = 0;
                self.move_together(clique.len());
            }
            self.start[p] = self.lists.len() as u32;
            self.lists.extend_from_slice(&clique);
        } else {
            let start = self.start[p] as usize;
            self.lists[start..start + clique.len()].copy_from_slice(&clique);
        }
        self.len[p] = clique.len() as u32;
        work.list = clique;
        weight
    }

    /// Moves the lists in use together, with room for `more` entries and a fifth on top.
    fn move_together(&mut self, more: usize) {
        let n = self.kind.len();
        let used = (0..n).filter(|&v| self.kind[v] != Kind::Gone);
        let live: usize = used.map(|v| self.len[v] as usize).sum();
        let mut lists = Vec::with_capacity(live + live / 5 + n / 4 + more);
        for v in 0..n {
            if self.kind[v] != Kind::Gone {
                let range = self.list(v);
                self.start[v] = lists.len() as u32;
                lists.extend_from_slice(&self.lists[range]);
            }
        }
        self.lists = lists;
    }

    /// Sets `outside` for all elements next to the clique of element `p`: the weight of their variables that are not in
    /// it.
    fn weigh_elements(&mut self, p: usize, work: &mut Work) {
        for k in self.list(p) {
            let i = self.lists[k] as usize;
            let first = self.start[i] as usize;
            for k in first..first + self.elements[i] as usize {
                let e = self.lists[k] as usize;
                if self.kind[e] != Kind::Element {
                    continue;
                }
                if work.seen[e] != work.stamp {
                    work.seen[e] = work.stamp;
                    work.outside[e] = self.degree[e];
                }
                work.outside[e] -= self.weight[i];
            }
        }
    }

    /// Takes what the new element covers out of the list of variable `v`. Returns its degree outside of the clique and a
    /// hash of the list.
    fn shorten(&mut self, v: u32, pivot: u32, work: &mut Work) -> (u32, u64) {
        let i = v as usize;
        let first = self.start[i] as usize;
        let middle = first + self.elements[i] as usize;
        let end = first + self.len[i] as usize;
        let (mut degree, mut hash) = (0u32, 0u64);
        let list = &mut work.list;
        list.clear();
        for k in first..middle {
            let e = self.lists[k];
            if self.kind[e as usize] != Kind::Element {
                continue;
            }
            let outside = work.outside[e as usize];
            if outside == 0 {
                // Aggressive absorption: the element lies inside the new clique.
                self.kind[e as usize] = Kind::Gone;
                continue;
            }
            degree += outside;
            hash = hash.wrapping_add(u64::from(e) + 1);
            list.push(e);
        }
        list.push(pivot);
        let elements = list.len();
        for k in middle..end {
            let u = self.lists[k];
            if self.kind[u as usize] == Kind::Variable && work.mark[u as usize] != work.stamp {
                degree += self.weight[u as usize];
                hash = hash.wrapping_add(u64::from(u) + 1);
                list.push(u);
            }
        }
        // The pivot was in this list, or an element that it absorbed: there is room.
        self.lists[first..first + list.len()].copy_from_slice(list);
        self.len[i] = list.len() as u32;
        self.elements[i] = elements as u32;
        (degree, hash)
    }

    /// Puts `v` and all that follows it behind `representative`.
    fn follow(&mut self, representative: u32, v: u32) {
        self.kind[v as usize] = Kind::Gone;
        let end = self.last_follower[representative as usize];
        self.follower[end as usize] = v;
        self.last_follower[representative as usize] = self.last_follower[v as usize];
    }

    /// Merges variables with equal neighbourhoods: they will stay together to the end.
    fn merge_indistinguishable(&mut self, work: &mut Work) {
        work.hashes.sort_unstable();
        for at in 0..work.hashes.len() {
            let (hash, v) = work.hashes[at];
            let i = v as usize;
            let others = work.hashes[at + 1..].iter();
            let alike = others.take_while(|&&(other, _)| other == hash).count();
            if self.kind[i] != Kind::Variable || alike == 0 {
                continue;
            }
            // A new stamp marks the neighbourhood of i in `seen`.
            work.stamp += 1;
            for &u in &self.lists[self.list(i)] {
                work.seen[u as usize] = work.stamp;
            }
            for &(_, w) in &work.hashes[at + 1..at + 1 + alike] {
                let j = w as usize;
                let equal = self.kind[j] == Kind::Variable
                    && self.elements[j] == self.elements[i]
                    && self.len[j] == self.len[i]
                    && self.lists[self.list(j)]
                        .iter()
                        .all(|&u| work.seen[u as usize] == work.stamp);
                if equal {
                    self.weight[i] += self.weight[j];
                    self.degree[i] = self.degree[i].saturating_sub(self.weight[j]);
                    self.follow(v, w);
                }
            }
        }
    }
}
