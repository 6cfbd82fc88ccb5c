//! Cutting the index space of each port into cells that links map onto each other.
//!
//! Every dimension of a port has a set of *cuts*: `c` is a cut when a new segment begins at index `c`. The first cuts
//! are the ends of the ranges that links access. A cut inside the range of a link's iterator holds at the other end,
//! too, shifted; cuts are carried along links until nothing changes. A cell is a product of segments; by construction
//! a link restricted to one segment per iterator maps one cell onto one cell.
//!
//! Example: `a[1:9] -- b[2:10]` and `b[5] -- c`. Cuts of b: 1, 2, 5, 6, 11; carried to a: 1, 4, 5, 10. So
//! `a[1:3] -- b[2:4]`, `a[4] -- b[5]`, `a[5:9] -- b[6:10]`, `b[5] -- c`.
//!
//! The number of cuts is finite (at most one per element), so the loop ends. A chain `a[i] -- a[i+1]` is
//! seen as a star ([`super::link`]). A chain through several arrays (`a[i] -- b[i]`, `b[i] -- a[i+1]`) cuts them everywhere: all
//! their elements are one set. [`super::compress`] finds the ranges again.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::link::{LinkSubscript, Port, Translation};

/// The cuts of every port: per dimension the first index of each segment, and one past the end.
#[derive(Clone, Debug, Default)]
pub struct PortCuts {
    /// Ports in order of first appearance, with the sorted cuts of each dimension.
    pub ports: IndexMap<Port, Vec<Vec<i64>>, FxBuildHasher>,
}

/// One iterator of a link that runs along a dimension at each of its ends, as seen from one end.
struct Carrier {
    /// Subscript at this end.
    from: LinkSubscript,
    /// Where cuts go: port, dimension and subscript there.
    to: (usize, usize, LinkSubscript),
    count: i64,
}

/// Cuts of one dimension.
struct Axis {
    cuts: BTreeSet<i64>,
    carriers: Vec<Carrier>,
}

impl PortCuts {
    /// Cuts the ports (with their shapes) so that every link maps cells onto cells. `enumerate` holds ranges
    /// `(port, dimension, first, last)` to be cut at every element.
    pub fn new(
        shapes: &IndexMap<Port, Vec<usize>, FxBuildHasher>,
        links: &[Translation],
        enumerate: &[(Port, usize, i64, i64)],
    ) -> PortCuts {
        let mut axes: Vec<Vec<Axis>> = shapes
            .values()
            .map(|dims| {
                let whole = |&n: &usize| Axis {
                    cuts: BTreeSet::from([1, n as i64 + 1]),
                    carriers: Vec::new(),
                };
                dims.iter().map(whole).collect()
            })
            .collect();
        // (port, dimension, cut) still to be carried along.
        let mut todo: Vec<(usize, usize, i64)> = Vec::new();
        let position =
            |port: &Port| (shapes.get_index_of(port)).expect("a port of each link has a shape");
        for link in links {
            for (side, (port, subs)) in link.ends.iter().enumerate() {
                let p = position(port);
                let (other_port, other_subs) = &link.ends[1 - side];
                for (d, sub) in subs.iter().enumerate() {
                    let (low, high) = match sub.iter {
                        None => (sub.offset, sub.offset),
                        Some(k) => span(sub, link.counts[k]),
                    };
                    todo.push((p, d, low));
                    todo.push((p, d, high + 1));
                    let Some(k) = sub.iter else { continue };
                    if let Some(m) = other_subs.iter().position(|s| s.iter == Some(k)) {
                        axes[p][d].carriers.push(Carrier {
                            from: *sub,
                            to: (position(other_port), m, other_subs[m]),
                            count: link.counts[k],
                        });
                    }
                }
            }
        }
        for &(port, d, first, last) in enumerate {
            todo.extend((first..=last).map(|cut| (position(&port), d, cut)));
        }
        while let Some((p, d, cut)) = todo.pop() {
            let axis = &mut axes[p][d];
            if !axis.cuts.insert(cut) {
                continue;
            }
            for carrier in &axis.carriers {
                // The cut as "a new segment begins at k", strictly inside of the iterator's range.
                let k = to_iterator(&carrier.from, cut);
                if k > 0 && k < carrier.count {
                    let (q, m, sub) = carrier.to;
                    todo.push((q, m, from_iterator(&sub, k)));
                }
            }
        }
        let ports = shapes.keys().zip(axes).map(|(&port, axes)| {
            (
                port,
                axes.into_iter()
                    .map(|axis| axis.cuts.into_iter().collect())
                    .collect(),
            )
        });
        PortCuts {
            ports: ports.collect(),
        }
    }

    /// The segments of an iterator of a link: `(first k, number of values)`.
    pub fn pieces(&self, link: &Translation, k: usize) -> Vec<(i64, i64)> {
        let count = link.counts[k];
        let along = link.ends.iter().find_map(|(port, subs)| {
            let d = subs.iter().position(|s| s.iter == Some(k))?;
            Some((&self.ports.get(port)?[d], &subs[d]))
        });
        let mut starts = vec![0];
        if let Some((cuts, sub)) = along {
            let (low, high) = span(sub, count);
            let first = cuts.partition_point(|&c| c <= low);
            let inner = cuts[first..].iter().take_while(|&&c| c <= high);
            starts.extend(inner.map(|&c| to_iterator(sub, c)));
            starts.sort_unstable();
        }
        let ends = starts.iter().skip(1).copied().chain([count]);
        starts.iter().zip(ends).map(|(&s, e)| (s, e - s)).collect()
    }
}

/// Smallest and largest value of a subscript.
fn span(sub: &LinkSubscript, count: i64) -> (i64, i64) {
    if sub.flip {
        (sub.offset - count + 1, sub.offset)
    } else {
        (sub.offset, sub.offset + count - 1)
    }
}

/// The iterator value at which a new segment begins, for a cut of the dimension.
fn to_iterator(sub: &LinkSubscript, cut: i64) -> i64 {
    if sub.flip {
        sub.offset - cut + 1
    } else {
        cut - sub.offset
    }
}

/// The cut of the dimension, for an iterator value at which a new segment begins.
fn from_iterator(sub: &LinkSubscript, k: i64) -> i64 {
    if sub.flip {
        sub.offset - k + 1
    } else {
        sub.offset + k
    }
}
