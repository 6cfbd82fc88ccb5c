//! Fill-reducing ordering: approximate minimum degree on the quotient graph.
//!
//! In: a symmetric adjacency structure. Out: an elimination order. The next pivot is always a vertex of (approximately)
//! smallest degree in the graph that elimination has produced so far. That graph is never formed: an eliminated vertex
//! stays as an *element* that stands for the clique of its neighbours (Amestoy, Davis & Duff, "An approximate minimum
//! degree ordering algorithm", SIAM J. Matrix Anal. Appl. 17, 1996). Used here: approximate external degree, element
//! absorption (also aggressive), supervariables, mass elimination, and vertices with very many neighbours last.
//! Nearly linear in practice; the memory is that of the graph.
//!
//! Vertices of equal degree are taken first in, first out. A chain is then eliminated from both ends alternately, which
//! gives the triangular solves two independent recurrences to overlap.
//!
//! Worked example: the path 0-1-2-3-4. Degrees 1,2,2,2,1: pivots 0, 4 (degree 1), then 1, 3, then 2. No fill.

use std::collections::VecDeque;

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
    /// Neighbours of a variable that no element covers.
    variables: Vec<Vec<u32>>,
    /// Elements next to a variable.
    elements: Vec<Vec<u32>>,
    /// Variables of an element.
    members: Vec<Vec<u32>>,
    /// Number of original vertices in a supervariable.
    weight: Vec<u32>,
    degree: Vec<u32>,
    /// Original vertices that follow their representative in the order.
    followers: Vec<Vec<u32>>,
}

/// Elimination order of the graph with these (symmetric, loop-free) neighbour lists.
pub(crate) fn minimum_degree(neighbours: Vec<Vec<u32>>) -> Vec<u32> {
    let n = neighbours.len();
    let dense_limit = ((DENSE_FACTOR * (n as f64).sqrt()) as usize).max(DENSE_LEAST);
    let mut order: Vec<u32> = Vec::with_capacity(n);
    let mut dense: Vec<u32> = Vec::new();
    let mut g = Graph {
        kind: vec![Kind::Variable; n],
        elements: vec![Vec::new(); n],
        members: vec![Vec::new(); n],
        weight: vec![1; n],
        degree: neighbours.iter().map(|list| list.len() as u32).collect(),
        followers: vec![Vec::new(); n],
        variables: neighbours,
    };
    for v in 0..n {
        if g.degree[v] as usize > dense_limit {
            dense.push(v as u32);
            g.kind[v] = Kind::Gone;
        }
    }
    if !dense.is_empty() {
        for v in 0..n {
            let kind = &g.kind;
            g.variables[v].retain(|&u| kind[u as usize] != Kind::Gone);
            g.degree[v] = g.variables[v].len() as u32;
        }
    }
    let mut left = n - dense.len();
    // Buckets by degree; an entry is stale when the vertex has moved on, which is found out when it is taken.
    let mut buckets: Vec<VecDeque<u32>> = vec![VecDeque::new(); n + 1];
    for v in 0..n {
        if g.kind[v] == Kind::Variable {
            buckets[g.degree[v] as usize].push_back(v as u32);
        }
    }
    let mut lowest = 0;
    let mut work = Work {
        mark: vec![NONE; n],
        outside: vec![0; n],
        seen: vec![NONE; n],
        stamp: 0,
    };
    while left > 0 {
        let Some(pivot) = buckets[lowest].pop_front() else {
            lowest += 1;
            continue;
        };
        let p = pivot as usize;
        if g.kind[p] != Kind::Variable || g.degree[p] as usize != lowest {
            continue;
        }
        left -= g.weight[p] as usize;
        left -= eliminate(&mut g, p, left, &mut work);
        emit(&g, pivot, &mut order);
        for index in 0..g.members[p].len() {
            let v = g.members[p][index] as usize;
            let degree = g.degree[v] as usize;
            lowest = lowest.min(degree);
            buckets[degree].push_back(v as u32);
        }
    }
    dense.sort_by_key(|&v| g.degree[v as usize]);
    order.extend(dense);
    order
}

/// Appends a representative and everything merged into it.
fn emit(g: &Graph, representative: u32, order: &mut Vec<u32>) {
    let mut stack = vec![representative];
    while let Some(v) = stack.pop() {
        order.push(v);
        stack.extend(g.followers[v as usize].iter().rev());
    }
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
}

/// Turns variable `p` into an element, updates its neighbours' lists and degrees. Returns the weight of the variables
/// that could be eliminated together with it.
fn eliminate(g: &mut Graph, p: usize, left: usize, work: &mut Work) -> usize {
    work.stamp += 1;
    let stamp = work.stamp;
    work.mark[p] = stamp;
    let mut clique: Vec<u32> = Vec::new();
    for u in std::mem::take(&mut g.variables[p]) {
        if g.kind[u as usize] == Kind::Variable && work.mark[u as usize] != stamp {
            work.mark[u as usize] = stamp;
            clique.push(u);
        }
    }
    for e in std::mem::take(&mut g.elements[p]) {
        if g.kind[e as usize] != Kind::Element {
            continue;
        }
        for u in std::mem::take(&mut g.members[e as usize]) {
            if g.kind[u as usize] == Kind::Variable && work.mark[u as usize] != stamp {
                work.mark[u as usize] = stamp;
                clique.push(u);
            }
        }
        g.kind[e as usize] = Kind::Gone;
    }
    g.kind[p] = Kind::Element;
    let clique_weight: u32 = clique.iter().map(|&v| g.weight[v as usize]).sum();

    // outside[e] = weight of the element's variables that are not in the clique.
    for &v in &clique {
        for &e in &g.elements[v as usize] {
            let e = e as usize;
            if g.kind[e] != Kind::Element {
                continue;
            }
            if work.seen[e] != stamp {
                work.seen[e] = stamp;
                let (kind, weight) = (&g.kind, &g.weight);
                g.members[e].retain(|&u| kind[u as usize] == Kind::Variable);
                work.outside[e] = g.members[e].iter().map(|&u| weight[u as usize]).sum();
            }
            work.outside[e] -= g.weight[v as usize];
        }
    }

    let mut together = 0;
    let mut hashes: Vec<(u64, u32)> = Vec::with_capacity(clique.len());
    for &v in &clique {
        let i = v as usize;
        let mut degree = 0u32;
        let mut hash = 0u64;
        let kind = &mut g.kind;
        g.elements[i].retain(|&e| {
            if kind[e as usize] != Kind::Element {
                return false;
            }
            if work.outside[e as usize] == 0 {
                // Aggressive absorption: the element lies inside the new clique.
                kind[e as usize] = Kind::Gone;
                return false;
            }
            degree += work.outside[e as usize];
            hash = hash.wrapping_add(u64::from(e) + 1);
            true
        });
        let (kind, weight, mark) = (&g.kind, &g.weight, &work.mark);
        g.variables[i].retain(|&u| {
            let keep = kind[u as usize] == Kind::Variable && mark[u as usize] != stamp;
            if keep {
                degree += weight[u as usize];
                hash = hash.wrapping_add(u64::from(u) + 1);
            }
            keep
        });
        if degree == 0 {
            // Nothing but the clique: eliminating it now causes no further fill.
            together += g.weight[i] as usize;
            g.kind[i] = Kind::Gone;
            g.followers[p].push(v);
            continue;
        }
        g.elements[i].push(p as u32);
        let own = g.weight[i];
        let bound = (left as u32).saturating_sub(own);
        let grown = g.degree[i].saturating_add(clique_weight - own);
        g.degree[i] = (degree + clique_weight - own).min(grown).min(bound);
        hashes.push((hash, v));
    }
    merge_indistinguishable(g, &mut hashes, work);
    let kind = &g.kind;
    clique.retain(|&v| kind[v as usize] == Kind::Variable);
    g.members[p] = clique;
    together
}

/// Merges variables with equal neighbourhoods: they will stay together to the end.
fn merge_indistinguishable(g: &mut Graph, hashes: &mut [(u64, u32)], work: &mut Work) {
    hashes.sort_unstable();
    for start in 0..hashes.len() {
        let (hash, v) = hashes[start];
        let i = v as usize;
        if g.kind[i] != Kind::Variable
            || hashes
                .get(start + 1)
                .is_none_or(|&(other, _)| other != hash)
        {
            continue;
        }
        // A new stamp marks the neighbourhood of i in `seen`.
        work.stamp += 1;
        for &u in g.elements[i].iter().chain(&g.variables[i]) {
            work.seen[u as usize] = work.stamp;
        }
        for &(_, w) in hashes[start + 1..]
            .iter()
            .take_while(|&&(other, _)| other == hash)
        {
            let j = w as usize;
            let equal = g.kind[j] == Kind::Variable
                && g.elements[j].len() == g.elements[i].len()
                && g.variables[j].len() == g.variables[i].len()
                && g.elements[j]
                    .iter()
                    .chain(&g.variables[j])
                    .all(|&u| work.seen[u as usize] == work.stamp);
            if equal {
                g.weight[i] += g.weight[j];
                g.degree[i] = g.degree[i].saturating_sub(g.weight[j]);
                g.kind[j] = Kind::Gone;
                g.followers[i].push(w);
                g.elements[j] = Vec::new();
                g.variables[j] = Vec::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_permutation(order: &[u32], n: usize) -> bool {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        sorted.iter().copied().eq(0..n as u32)
    }

    #[test]
    fn a_path_is_taken_from_both_ends() {
        let order = minimum_degree(vec![vec![1], vec![0, 2], vec![1, 3], vec![2, 4], vec![3]]);
        assert_eq!(order, [0, 4, 1, 3, 2]);
    }

    #[test]
    fn the_hub_of_a_star_comes_last() {
        let n = 1000;
        let mut lists = vec![vec![0]; n];
        lists[0] = (1..n as u32).collect();
        let order = minimum_degree(lists);
        assert!(is_permutation(&order, n));
        assert_eq!(order.last(), Some(&0));
    }

    /// Factor entries of an elimination order, by playing the elimination on sets.
    fn fill(lists: &[Vec<u32>], order: &[u32]) -> usize {
        let mut sets: Vec<std::collections::BTreeSet<u32>> =
            lists.iter().map(|l| l.iter().copied().collect()).collect();
        let mut total = 0;
        for &v in order {
            let around: Vec<u32> = std::mem::take(&mut sets[v as usize]).into_iter().collect();
            total += around.len();
            for &a in &around {
                sets[a as usize].remove(&v);
                sets[a as usize].extend(around.iter().copied().filter(|&b| b != a));
            }
        }
        total
    }

    #[test]
    fn a_grid_has_much_less_fill_than_in_natural_order() {
        let m = 30;
        let mut lists = vec![Vec::new(); m * m];
        for r in 0..m {
            for c in 0..m {
                let v = r * m + c;
                let mut add = |u: usize| lists[v].push(u as u32);
                if r > 0 {
                    add(v - m)
                }
                if c > 0 {
                    add(v - 1)
                }
                if c + 1 < m {
                    add(v + 1)
                }
                if r + 1 < m {
                    add(v + m)
                }
            }
        }
        let order = minimum_degree(lists.clone());
        assert!(is_permutation(&order, m * m));
        let natural: Vec<u32> = (0..(m * m) as u32).collect();
        let (ours, banded) = (fill(&lists, &order), fill(&lists, &natural));
        assert!(ours * 2 < banded, "{ours} against {banded}");
    }
}
