//! Arithmetic progressions in connection sets.
//!
//! Where sets had to be cut into elements, or a model writes its connections out one by one, the result often is
//! regular again. Four passes find that:
//! - members of one set that differ in one index only, in constant steps, become one member with a free range;
//! - free ranges of one set that lie side by side become one;
//! - neighbouring cells that nothing is connected to become one;
//! - sets that differ in constant indices only, by the same amount from one to the next, become one family with a new
//!   parameter.
//!
//! Example: `a[i] -- a[i+1]` for i in 1:9 gives one set `{a[1], .., a[10]}`, compressed to `{a[1:10]}`; then the
//! potentials are `a[1] = a[k]` for k in 2:10 and the flows `sum(a[k] for k in 1:10) = 0`.
//!
//! Cost: sorting, `O(n log n)`.

use acausal_expr::Range;
use acausal_expr::flat::OriginId;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::link::Port;
use super::sets::{DimensionMap, SetFamily};

/// Runs shorter than this stay as they are.
const SHORTEST_RUN: usize = 3;

/// The indices of one dimension of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IndexLine {
    /// One index.
    At(i64),
    /// `start + step*t` for the parameter's values `t = 0..`.
    Along {
        /// Which parameter.
        param: usize,
        /// Index at `t = 0`.
        start: i64,
        /// Increment, not zero.
        step: i64,
    },
    /// All of these, in the same set.
    Free {
        /// First index.
        start: i64,
        /// Increment.
        step: i64,
        /// How many.
        count: i64,
    },
}

impl IndexLine {
    /// The range of a free line.
    pub fn free_range(self) -> Option<Range> {
        match self {
            IndexLine::Free { start, step, count } => Some(Range { start, step, count }),
            _ => None,
        }
    }
}

/// Part of a port in a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    /// The variable and its side.
    pub port: Port,
    /// One line per dimension.
    pub lines: Vec<IndexLine>,
    /// The first connection that touches it.
    pub origin: Option<OriginId>,
}

/// A family of connection sets, one per value of the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// Number of values of each parameter.
    pub params: Vec<i64>,
    /// The members, sorted by port and indices.
    pub strips: Vec<Strip>,
}

/// Compresses all sets; the result is sorted by the first member.
pub fn compress(classes: Vec<SetFamily>) -> Vec<Set> {
    let (alone, connected): (Vec<SetFamily>, Vec<SetFamily>) = classes
        .into_iter()
        .partition(|c| matches!(&c.members[..], [m] if m.origin.is_none()));
    let connected = connected.into_iter().map(|class| members(set(class)));
    let mut sets: Vec<Set> = connected.chain(boxes(alone)).collect();
    sets.sort_by(|a, b| key(a).cmp(&key(b)));
    families(sets)
}

/// The first member: sets are disjoint, so it orders them.
pub(super) fn key(set: &Set) -> Option<(Port, &[IndexLine])> {
    set.strips.first().map(|s| (s.port, s.lines.as_slice()))
}

fn set(class: SetFamily) -> Set {
    let mut params = Vec::new();
    let number: Vec<usize> = class
        .params
        .iter()
        .map(|param| {
            params.extend(*param);
            params.len().wrapping_sub(1)
        })
        .collect();
    let strips = class.members.into_iter().map(|m| {
        let lines = m.dims.iter().enumerate().map(|(d, map)| {
            let (start, count) = (m.start[d], m.count[d]);
            match *map {
                DimensionMap::Const => IndexLine::At(start),
                DimensionMap::Free => IndexLine::Free {
                    start,
                    step: 1,
                    count,
                },
                DimensionMap::Param { param, flip: false } => IndexLine::Along {
                    param: number[param],
                    start,
                    step: 1,
                },
                DimensionMap::Param { param, flip: true } => IndexLine::Along {
                    param: number[param],
                    start: start + count - 1,
                    step: -1,
                },
            }
        });
        Strip {
            port: m.port,
            lines: lines.collect(),
            origin: m.origin,
        }
    });
    Set {
        params,
        strips: strips.collect(),
    }
}

/// Joins unconnected cells of one port that lie side by side.
fn boxes(alone: Vec<SetFamily>) -> Vec<Set> {
    type Box = Vec<(i64, i64)>; // first index and number, per dimension
    let mut ports: IndexMap<Port, Vec<Box>, FxBuildHasher> = IndexMap::default();
    for member in alone.into_iter().flat_map(|c| c.members) {
        let cell = member
            .start
            .iter()
            .copied()
            .zip(member.count.iter().copied())
            .collect();
        ports.entry(member.port).or_default().push(cell);
    }
    let mut out = Vec::new();
    for (port, mut cells) in ports {
        let dims = cells.first().map_or(0, Vec::len);
        for d in (0..dims).rev() {
            // Neighbours along d follow each other when sorted by everything else first.
            cells.sort_by_key(|c| {
                let mut others = c.clone();
                let own = others.remove(d);
                (others, own)
            });
            let mut joined: Vec<Box> = Vec::new();
            for cell in cells {
                if let Some(last) = joined.last_mut()
                    && (0..dims).all(|e| e == d || last[e] == cell[e])
                    && last[d].0 + last[d].1 == cell[d].0
                {
                    last[d].1 += cell[d].1;
                } else {
                    joined.push(cell);
                }
            }
            cells = joined;
        }
        for cell in cells {
            let mut set = Set {
                params: Vec::new(),
                strips: Vec::new(),
            };
            let lines = cell.iter().map(|&(start, count)| {
                if count == 1 {
                    return IndexLine::At(start);
                }
                set.params.push(count);
                IndexLine::Along {
                    param: set.params.len() - 1,
                    start,
                    step: 1,
                }
            });
            let lines = lines.collect();
            set.strips.push(Strip {
                port,
                lines,
                origin: None,
            });
            out.push(set);
        }
    }
    out
}

/// Joins members of one set that differ in one index only.
fn members(mut set: Set) -> Set {
    set.strips
        .sort_by(|a, b| (a.port, &a.lines).cmp(&(b.port, &b.lines)));
    if set.strips.len() < 2 {
        return set;
    }
    let dims = set.strips.iter().map(|s| s.lines.len()).max().unwrap_or(0);
    for d in (0..dims).rev() {
        // Groups that agree in all but dimension d, which is a single index.
        type Indices = Vec<(i64, Option<OriginId>)>;
        let mut groups: IndexMap<(Port, Vec<IndexLine>), Indices, FxBuildHasher> =
            IndexMap::default();
        let mut rest = Vec::new();
        for strip in set.strips {
            match strip.lines.get(d) {
                Some(&IndexLine::At(i)) => {
                    let mut others = strip.lines;
                    others[d] = IndexLine::At(0);
                    groups
                        .entry((strip.port, others))
                        .or_default()
                        .push((i, strip.origin));
                }
                _ => rest.push(strip),
            }
        }
        for ((port, lines), mut indices) in groups {
            indices.sort_unstable();
            let starts: Vec<[i64; 1]> = indices.iter().map(|i| [i.0]).collect();
            for (first, count) in runs(&starts) {
                let mut lines = lines.clone();
                lines[d] = match count {
                    1 => IndexLine::At(indices[first].0),
                    _ => IndexLine::Free {
                        start: indices[first].0,
                        step: indices[first + 1].0 - indices[first].0,
                        count: count as i64,
                    },
                };
                rest.push(Strip {
                    port,
                    lines,
                    origin: indices[first].1,
                });
            }
        }
        set.strips = side_by_side(rest, d);
    }
    set.strips
        .sort_by(|a, b| (a.port, &a.lines).cmp(&(b.port, &b.lines)));
    set
}

/// Joins free ranges of members that agree in all but dimension d with the ranges and single indices next to them: what a chain gives,
/// `a[1]` and all of `a[2:10]`, is all of `a[1:10]`.
fn side_by_side(strips: Vec<Strip>, d: usize) -> Vec<Strip> {
    let extent = |s: &Strip| match s.lines.get(d) {
        Some(&IndexLine::At(i)) => Some((i, 1)),
        Some(&IndexLine::Free {
            start,
            step: 1,
            count,
        }) => Some((start, count)),
        _ => None,
    };
    let (mut joinable, mut out): (Vec<Strip>, Vec<Strip>) =
        strips.into_iter().partition(|s| extent(s).is_some());
    if !joinable
        .iter()
        .any(|s| matches!(s.lines[d], IndexLine::Free { .. }))
    {
        out.append(&mut joinable);
        return out;
    }
    let others = |s: &Strip| {
        let mut lines = s.lines.clone();
        lines[d] = IndexLine::At(0);
        (s.port, lines)
    };
    joinable.sort_by_cached_key(|s| (others(s), extent(s)));
    let mut joined: Vec<Strip> = Vec::new();
    for strip in joinable {
        if let Some(last) = joined.last_mut()
            && let (Some((start, count)), Some((next, more))) = (extent(last), extent(&strip))
            && start + count == next
            && count + more > 2
            && others(last) == others(&strip)
        {
            last.lines[d] = IndexLine::Free {
                start,
                step: 1,
                count: count + more,
            };
        } else {
            joined.push(strip);
        }
    }
    out.append(&mut joined);
    out
}

/// What sets of one family have in common: everything but the constant indices.
fn shape(set: &Set) -> (Vec<i64>, Vec<(Port, Vec<IndexLine>)>) {
    let blank = |s: &Strip| {
        let line = |l: &IndexLine| {
            if let IndexLine::At(_) = l {
                IndexLine::At(0)
            } else {
                *l
            }
        };
        (s.port, s.lines.iter().map(line).collect())
    };
    (set.params.clone(), set.strips.iter().map(blank).collect())
}

fn constants(set: &Set) -> Vec<i64> {
    let lines = set.strips.iter().flat_map(|s| &s.lines);
    lines
        .filter_map(|l| {
            if let IndexLine::At(i) = l {
                Some(*i)
            } else {
                None
            }
        })
        .collect()
}

/// Joins sets that differ in constant indices only, in constant steps.
fn families(sets: Vec<Set>) -> Vec<Set> {
    let mut groups: IndexMap<_, Vec<Set>, FxBuildHasher> = IndexMap::default();
    for set in sets {
        groups.entry(shape(&set)).or_default().push(set);
    }
    let mut out = Vec::new();
    for (_, group) in groups {
        let starts: Vec<Vec<i64>> = group.iter().map(constants).collect();
        let found = runs(&starts);
        for (first, count) in found {
            let mut set = group[first].clone();
            if count > 1 {
                let param = set.params.len();
                set.params.push(count as i64);
                let steps = starts[first]
                    .iter()
                    .zip(&starts[first + 1])
                    .map(|(a, b)| b - a);
                let mut steps = steps.collect::<Vec<i64>>().into_iter();
                for line in set.strips.iter_mut().flat_map(|s| &mut s.lines) {
                    if let IndexLine::At(start) = *line
                        && let Some(step) = steps.next()
                        && step != 0
                    {
                        *line = IndexLine::Along { param, start, step };
                    }
                }
            }
            out.push(set);
        }
    }
    out.sort_by(|a, b| key(a).cmp(&key(b)));
    out
}

/// Cuts a list of points into runs `(first, count)` of constant difference; runs that are too short become singles.
fn runs<P: AsRef<[i64]>>(points: &[P]) -> Vec<(usize, usize)> {
    let step = |k: usize| -> Vec<i64> {
        let (a, b) = (points[k].as_ref(), points[k + 1].as_ref());
        a.iter().zip(b).map(|(a, b)| b - a).collect()
    };
    let mut out = Vec::new();
    let mut first = 0;
    while first < points.len() {
        let mut count = 1;
        if first + 1 < points.len() {
            let delta = step(first);
            if delta.iter().any(|&d| d != 0) {
                count = 2;
                while first + count < points.len() && step(first + count - 1) == delta {
                    count += 1;
                }
            }
        }
        if count >= SHORTEST_RUN {
            out.push((first, count));
        } else {
            count = 1;
            out.push((first, 1));
        }
        first += count;
    }
    out
}
