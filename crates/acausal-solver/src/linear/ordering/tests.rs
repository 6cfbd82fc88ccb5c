//! Orders of small graphs whose fill is counted by elimination.

use super::*;

fn order_of(lists: &[Vec<u32>]) -> Vec<u32> {
    let mut start = vec![0];
    for list in lists {
        start.push(start[start.len() - 1] + list.len() as u32);
    }
    let list = lists.concat();
    minimum_degree(Adjacency { start, list })
}

fn is_permutation(order: &[u32], n: usize) -> bool {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    sorted.iter().copied().eq(0..n as u32)
}

#[test]
fn a_path_is_taken_from_both_ends() {
    let order = order_of(&[vec![1], vec![0, 2], vec![1, 3], vec![2, 4], vec![3]]);
    assert_eq!(order, [0, 4, 1, 3, 2]);
}

#[test]
fn the_hub_of_a_star_comes_last() {
    let n = 1000;
    let mut lists = vec![vec![0]; n];
    lists[0] = (1..n as u32).collect();
    let order = order_of(&lists);
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
    let order = order_of(&lists);
    assert!(is_permutation(&order, m * m));
    let natural: Vec<u32> = (0..(m * m) as u32).collect();
    let (ours, banded) = (fill(&lists, &order), fill(&lists, &natural));
    assert!(ours * 2 < banded, "{ours} against {banded}");
}

/// Random graphs, small ones with many merged vertices among them: a permutation, and on average not far above the fill
/// of exact minimum degree.
#[test]
fn random_graphs_have_about_the_fill_of_exact_minimum_degree() {
    let mut state = 7u64;
    let mut random = move |n: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let (mut ours, mut exact) = (0, 0);
    for _ in 0..300 {
        let n = 2 + random(40);
        let mut sets = vec![std::collections::BTreeSet::new(); n];
        for _ in 0..random(3 * n) {
            let (a, b) = (random(n), random(n));
            if a != b {
                sets[a].insert(b as u32);
                sets[b].insert(a as u32);
            }
        }
        let lists: Vec<Vec<u32>> = sets.iter().map(|s| s.iter().copied().collect()).collect();
        let order = order_of(&lists);
        assert!(is_permutation(&order, n));
        ours += fill(&lists, &order);
        let mut best = Vec::new();
        let mut left: Vec<usize> = (0..n).collect();
        while let Some(&v) = left.iter().min_by_key(|&&v| sets[v].len()) {
            left.retain(|&u| u != v);
            best.push(v as u32);
            let around = std::mem::take(&mut sets[v]);
            for &a in &around {
                sets[a as usize].remove(&(v as u32));
                sets[a as usize].extend(around.iter().copied().filter(|&b| b != a));
            }
        }
        exact += fill(&lists, &best);
    }
    assert!(ours * 100 < exact * 103, "{ours} against {exact}");
}
