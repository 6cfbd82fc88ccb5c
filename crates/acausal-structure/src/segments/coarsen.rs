//! Puts together what only the choice of a matching has cut apart.
//!
//! Inside a coupled block it does not matter which equation determines which unknown. The analysis still cuts the
//! equations of such a block where its matching happens to change: in the sliding mass of N dimensions one element of
//! each vector equation determines something else than the others. [`Analysis::coarsened`] joins these segments again
//! where they form boxes, and states what they determine as numbers of elements of joined boxes.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Span, size_of};
use super::order::{Block, Kind};
use super::result::{Analysis, Determined, Segment};
use crate::{EqId, VarId};

impl Analysis {
    /// The same analysis with the segments of each coupled block joined where they form boxes of the same equation with
    /// the same number of differentiations. What a joined segment determines may be *some* elements of a box.
    #[must_use]
    pub fn coarsened(&self) -> Analysis {
        let mut segments: Vec<Segment> = Vec::new();
        for (b, block) in self.blocks.iter().enumerate() {
            let members = block.segments.iter().map(|&s| &self.segments[s]);
            if block.kind == Kind::Coupled {
                segments.extend(joined(b, members.collect()));
            } else {
                segments.extend(members.cloned());
            }
        }
        segments.sort_by(|a, b| (a.equation, &a.spans).cmp(&(b.equation, &b.spans)));
        let number: BTreeMap<(EqId, &[Span]), usize> = segments
            .iter()
            .enumerate()
            .map(|(k, s)| ((s.equation, &s.spans[..]), k))
            .collect();
        let renumber = |s: &usize| {
            number
                .get(&(self.segments[*s].equation, &self.segments[*s].spans[..]))
                .copied()
        };
        let mut blocks: Vec<Block> = self.blocks.clone();
        for (b, block) in blocks.iter_mut().enumerate() {
            if block.kind == Kind::Coupled {
                block.segments = (0..segments.len())
                    .filter(|&s| segments[s].block == b)
                    .collect();
                block.groups = vec![block.segments.clone()];
            } else {
                block.segments = block.segments.iter().filter_map(renumber).collect();
                let groups = block
                    .groups
                    .iter()
                    .map(|g| g.iter().filter_map(renumber).collect());
                block.groups = groups.collect();
            }
        }
        Analysis {
            segments,
            blocks,
            ..self.clone()
        }
    }
}

/// The segments of coupled block `b`, joined.
fn joined(b: usize, members: Vec<&Segment>) -> Vec<Segment> {
    let mut unknowns: BTreeMap<(VarId, u32), Vec<Vec<Span>>> = BTreeMap::new();
    let mut equations: BTreeMap<(EqId, u32), Vec<Vec<Span>>> = BTreeMap::new();
    for s in &members {
        equations
            .entry((s.equation, s.differentiations))
            .or_default()
            .push(s.spans.clone());
        for d in &s.determines {
            unknowns
                .entry((d.variable, d.order))
                .or_default()
                .push(d.spans.clone());
        }
    }
    for boxes in unknowns.values_mut() {
        join(boxes);
    }
    let mut out = Vec::new();
    for ((equation, differentiations), mut boxes) in equations {
        join(&mut boxes);
        let of_equation: Vec<&&Segment> =
            members.iter().filter(|s| s.equation == equation).collect();
        for spans in boxes {
            let inside = of_equation.iter().filter(|s| contains(&spans, &s.spans));
            // (variable, order, joined box) -> (first access, elements)
            let mut found: BTreeMap<(VarId, u32, Vec<Span>), (usize, u64)> = BTreeMap::new();
            for d in inside.flat_map(|s| &s.determines) {
                let homes = unknowns.get(&(d.variable, d.order)).into_iter().flatten();
                let home = homes
                    .clone()
                    .find(|home| contains(home, &d.spans))
                    .unwrap_or(&d.spans);
                let entry = found
                    .entry((d.variable, d.order, home.clone()))
                    .or_insert((d.access, 0));
                entry.1 += d.elements;
            }
            let determines = found
                .into_iter()
                .map(
                    |((variable, order, spans), (access, elements))| Determined {
                        access,
                        variable,
                        order,
                        spans,
                        elements,
                    },
                )
                .collect();
            out.push(Segment {
                equation,
                spans,
                differentiations,
                determines,
                block: b,
            });
        }
    }
    out
}

fn contains(outer: &[Span], inner: &[Span]) -> bool {
    outer.iter().zip(inner).all(|(o, i)| o.contains(*i))
}

/// Removes repeated boxes and joins neighbours that form a box, one dimension after the other, the last first.
fn join(boxes: &mut Vec<Vec<Span>>) {
    let distinct: BTreeSet<Vec<Span>> = boxes.drain(..).collect();
    let mut all: Vec<Vec<Span>> = distinct.into_iter().filter(|b| size_of(b) > 0).collect();
    let dims = all.first().map_or(0, Vec::len);
    for k in (0..dims).rev() {
        let others =
            |b: &Vec<Span>| -> Vec<Span> { (0..dims).filter(|&d| d != k).map(|d| b[d]).collect() };
        all.sort_by_cached_key(|b| (others(b), b[k]));
        let mut next: Vec<Vec<Span>> = Vec::new();
        for b in all {
            match next.last_mut() {
                Some(last) if others(last) == others(&b) && last[k].hi + 1 >= b[k].lo => {
                    last[k].hi = last[k].hi.max(b[k].hi);
                }
                _ => next.push(b),
            }
        }
        all = next;
    }
    *boxes = all;
}
