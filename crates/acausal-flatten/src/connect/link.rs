//! What is connected: pairs of variables over iteration domains.
//!
//! A [`Link`] says: for all values of the iterators of `domain`, element `a[subs]` and element `b[subs]` belong to the
//! same connection set. [`translations`] brings links to the form that the later steps work on: every subscript is a
//! constant or `offset ± k` for one iterator `k = 0..count`, and no iterator occurs twice at one end. A link that is
//! not of this form (`a[2*i]`, `a[i, i]`, `a[i+j]`) is enumerated along the iterators that spoil it.

use acausal_expr::flat::OriginId;
use acausal_expr::{Affine, IterId, Range, ThinVec, VarId};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// From which side a connector is seen (MLS 3.6 §9.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Face {
    /// A connector of a component, connected in the class that holds the component.
    Inside,
    /// A connector of the class itself, connected within this class. Its flow counts negative.
    Outside,
}

/// A member of connection sets: a primitive variable (a leaf of a connector) seen from one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Port {
    /// The flat variable.
    pub var: VarId,
    /// The side.
    pub face: Face,
}

/// What a primitive variable of a connector is declared as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeafKind {
    /// No prefix: all members of a set are equal.
    Potential,
    /// `flow`: the members of a set sum to zero.
    Flow,
    /// `stream`: no equation from the set itself (MLS 3.6 §15.2).
    Stream,
    /// `parameter` or `constant`: asserted to be equal.
    Parameter,
    /// `input`: equal, and a sink seen from outside.
    Input,
    /// `output`: equal, and a source seen from outside.
    Output,
}

/// One end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// The variable and its side.
    pub port: Port,
    /// One subscript per dimension of the variable, from 1.
    pub subs: ThinVec<Affine>,
}

/// A connection of two primitive variables over an iteration domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Iterators; all others in the subscripts are errors of the caller and count as zero.
    pub domain: ThinVec<(IterId, Range)>,
    /// Both ends.
    pub ends: [End; 2],
    /// The `connect` that it comes from.
    pub origin: OriginId,
}

/// All connections of a model.
#[derive(Clone, Debug, Default)]
pub struct Connections {
    /// The primitive variables of all connectors.
    pub leaves: Leaves,
    /// The connections, in order.
    pub links: Vec<Link>,
    /// The stream variables of all connectors.
    pub streams: IndexMap<VarId, Stream, FxBuildHasher>,
}

/// What the primitive variables of connectors are declared as: a table by variable, since most variables are in connectors.
#[derive(Clone, Debug, Default)]
pub struct Leaves(Vec<Option<LeafKind>>);

impl Leaves {
    /// What a variable is declared as, if it is in a connector.
    pub fn get(&self, var: VarId) -> Option<LeafKind> {
        self.0.get(var.index()).copied().flatten()
    }

    /// The variables of one kind, in order of declaration.
    pub fn of(&self, kind: LeafKind) -> impl Iterator<Item = VarId> {
        let all = (0..).map(VarId).zip(&self.0);
        all.filter(move |(_, k)| **k == Some(kind)).map(|(v, _)| v)
    }

    fn insert(&mut self, var: VarId, kind: LeafKind) {
        if self.0.len() <= var.index() {
            self.0.resize(var.index() + 1, None);
        }
        self.0[var.index()] = Some(kind);
    }
}

/// A stream variable of a connector and what belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The variable with the value that flows in, where it is asked for.
    pub inside: Option<VarId>,
    /// The flow of the same connector.
    pub flow: VarId,
    /// The flow can have one sign only.
    pub one_way: Option<OneWay>,
}

/// The sign that `min` and `max` of a flow allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneWay {
    /// `min >= 0`: into the component.
    In,
    /// `max <= 0`: out of the component.
    Out,
}

impl Connections {
    /// Tells a primitive variable of a connector. Flow variables must all be told: unconnected ones are zero.
    pub fn leaf(&mut self, var: VarId, kind: LeafKind) {
        self.leaves.insert(var, kind);
    }

    /// Connects two primitive variables.
    pub fn link(&mut self, link: Link) {
        self.links.push(link);
    }
}

/// A subscript `offset + sign*k` of iterator `k`, or the constant `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSubscript {
    /// Which iterator of the translation.
    pub iter: Option<usize>,
    /// Runs downwards.
    pub flip: bool,
    /// Value at `k = 0`.
    pub offset: i64,
}

/// A link whose subscripts are constants or translations (possibly reversed) of one iterator each.
#[derive(Clone, Debug)]
pub struct Translation {
    /// Number of values of each iterator, all at least 2; iterators run from 0.
    pub counts: Vec<i64>,
    /// Both ends: port and one subscript per dimension.
    pub ends: [(Port, Vec<LinkSubscript>); 2],
    /// Where it came from.
    pub origin: OriginId,
}

/// Writes a link as translations; several if it has to be enumerated along some iterators.
pub fn translations(link: &Link) -> Vec<Translation> {
    let mut done = Vec::new();
    // Values already fixed for the first iterators of the work item; `None` keeps an iterator.
    let mut todo: Vec<Vec<Option<i64>>> = vec![vec![None; link.domain.len()]];
    if link.domain.iter().any(|(_, r)| r.count <= 0) {
        return done;
    }
    while let Some(fixed) = todo.pop() {
        match spoiler(link, &fixed) {
            Some(k) => {
                // Pushed in reverse, so that results come in the order of the elements.
                let range = link.domain[k].1;
                for position in (0..range.count).rev() {
                    let mut next = fixed.clone();
                    next[k] = Some(range.at(position));
                    todo.push(next);
                }
            }
            None => done.push(star(translation(link, &fixed))),
        }
    }
    done
}

/// A chain `a[i] -- a[i+1]` makes one set of all its elements, and so does `a[1] -- a[i+1]`. Seen as a chain every cut of `a` would
/// be carried to all elements; seen as a star, `a` has two cells whatever its length.
fn star(mut link: Translation) -> Translation {
    let [(p, a), (q, b)] = &link.ends;
    if p != q {
        return link;
    }
    let mut different = (0..a.len()).filter(|&d| a[d] != b[d]);
    let (Some(d), None) = (different.next(), different.next()) else {
        return link;
    };
    let step = b[d].offset - a[d].offset;
    let (Some(k), true) = (a[d].iter, step.abs() == 1) else {
        return link;
    };
    if (a[d].iter, a[d].flip) != (b[d].iter, b[d].flip) {
        return link;
    }
    let last = link.counts[k] - 1;
    let first = match a[d].flip {
        true => a[d].offset.min(b[d].offset) - last,
        false => a[d].offset.min(b[d].offset),
    };
    link.ends[0].1[d] = LinkSubscript {
        iter: None,
        flip: false,
        offset: first,
    };
    link.ends[1].1[d] = LinkSubscript {
        iter: Some(k),
        flip: false,
        offset: first + 1,
    };
    link
}

/// The coefficient of the k-th iterator, counted per position of its range; zero once it has a value.
fn slope(link: &Link, fixed: &[Option<i64>], sub: &Affine, k: usize) -> i64 {
    let (iter, range) = link.domain[k];
    match fixed[k] {
        Some(_) => 0,
        None if range.count == 1 => 0,
        None => sub.coefficient(iter) * range.step,
    }
}

/// An iterator that has to be enumerated.
fn spoiler(link: &Link, fixed: &[Option<i64>]) -> Option<usize> {
    let n = link.domain.len();
    for end in &link.ends {
        let mut used = vec![false; n];
        for sub in &end.subs {
            let mut seen = None;
            for (k, used) in used.iter_mut().enumerate() {
                let slope = slope(link, fixed, sub, k);
                if slope == 0 {
                    continue;
                }
                if slope.abs() != 1 || *used || seen.is_some() {
                    // Of two iterators in one subscript the shorter one is enumerated.
                    return Some(match seen {
                        Some(other) if shorter(link, other, k) => other,
                        _ => k,
                    });
                }
                *used = true;
                seen = Some(k);
            }
        }
    }
    None
}

fn shorter(link: &Link, a: usize, b: usize) -> bool {
    link.domain[a].1.count < link.domain[b].1.count
}

fn translation(link: &Link, fixed: &[Option<i64>]) -> Translation {
    let n = link.domain.len();
    let occurs = |k: usize| {
        link.ends
            .iter()
            .any(|end| end.subs.iter().any(|s| slope(link, fixed, s, k) != 0))
    };
    let kept: Vec<usize> = (0..n).filter(|&k| occurs(k)).collect();
    let ends = [0, 1].map(|side| {
        let end = &link.ends[side];
        let subs = end.subs.iter().map(|sub| {
            let mut out = LinkSubscript {
                iter: None,
                flip: false,
                offset: sub.constant,
            };
            for (k, (iter, range)) in link.domain.iter().enumerate() {
                out.offset += sub.coefficient(*iter) * fixed[k].unwrap_or(range.start);
                let slope = slope(link, fixed, sub, k);
                if slope != 0 {
                    out.iter = kept.iter().position(|&m| m == k);
                    out.flip = slope < 0;
                }
            }
            out
        });
        (end.port, subs.collect())
    });
    Translation {
        counts: kept.iter().map(|&k| link.domain[k].1.count).collect(),
        ends,
        origin: link.origin,
    }
}
