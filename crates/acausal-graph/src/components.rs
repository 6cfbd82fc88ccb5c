//! Strong components: Tarjan's algorithm (1972) without recursion, on any graph.

use crate::Rows;

/// The strong components of a graph with nodes `0..n`, in an order where each comes after those it points to; members in
/// ascending order. Linear in nodes and arcs.
///
/// ```
/// use acausal_graph::strong_components;
/// let arcs = [vec![1], vec![0, 2], vec![]];
/// let c = strong_components(3, |i| arcs[i].iter().copied());
/// assert_eq!(c.row(0), [2]);
/// assert_eq!(c.row(1), [0, 1]);
/// ```
pub fn strong_components<I: Iterator<Item = usize>>(
    n: usize,
    successors: impl Fn(usize) -> I,
) -> Rows<usize> {
    const UNSEEN: u32 = u32::MAX;
    const CLOSED: u32 = u32::MAX - 1;
    let mut low = vec![UNSEEN; n]; // smallest number reachable inside the open part; CLOSED once the component is out
    let mut open: Vec<usize> = Vec::new();
    let mut work: Vec<(usize, u32, I)> = Vec::new();
    let mut counter = 0;
    let mut out = Rows::new();
    for root in 0..n {
        if low[root] != UNSEEN {
            continue;
        }
        let mut enter = Some(root);
        loop {
            if let Some(node) = enter.take() {
                low[node] = counter;
                open.push(node);
                work.push((node, counter, successors(node)));
                counter += 1;
            }
            let Some((node, number, arcs)) = work.last_mut() else {
                break;
            };
            let node = *node;
            for to in arcs.by_ref() {
                if low[to] == UNSEEN {
                    enter = Some(to);
                    break;
                }
                if low[to] != CLOSED {
                    low[node] = low[node].min(low[to]);
                }
            }
            if enter.is_some() {
                continue;
            }
            let own = low[node] == *number;
            work.pop();
            if let Some((parent, _, _)) = work.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
            if own {
                let from = open.iter().rposition(|&x| x == node);
                let from = from.expect("the root of a component is open");
                open[from..].sort_unstable();
                for &member in &open[from..] {
                    low[member] = CLOSED;
                }
                out.push(open.drain(from..));
            }
        }
    }
    out
}
