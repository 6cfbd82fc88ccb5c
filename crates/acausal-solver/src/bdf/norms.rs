//! Weighted sums of squares over long vectors, the same bits on any number of threads.
//!
//! A vector is cut into *pieces* that have one tolerance and lie in one block of [`BLOCK`] unknowns. Threads write the sums of pieces to places of
//! their own, and one thread adds them up in a fixed order: from both ends of the vector to its middle.
//!
//! Each thread goes through its blocks towards the middle, too: what was solved for last is still in a cache then, and the next prediction begins there.

use super::kernels::{Sums, Weights};
use super::tolerances::Tolerances;
use crate::parallel::in_parts_of;
use acausal_cpu::{LEAST_SHARED, Shared, Team};
use std::ops::Range;

/// Unknowns whose norms are added up at a time.
const BLOCK: usize = 1 << 15;

/// The blocks of a vector, and memory for the sums of their pieces.
pub(super) struct Norms {
    blocks: Vec<SumBlock>,
    /// Blocks that are added up from the first one on; the others follow from the last one back.
    front: usize,
    sums: Vec<Sums>,
}

struct SumBlock {
    range: Range<usize>,
    /// The place of its first piece.
    first: usize,
}

impl Norms {
    /// For vectors with these tolerances.
    pub fn new(tolerances: &Tolerances, n: usize) -> Norms {
        // At the end of a cache line.
        let middle = match n < LEAST_SHARED {
            true => n,
            false => (n / 2).next_multiple_of(8),
        };
        let cut = |from: usize, to: usize| {
            let starts = (from..to).step_by(BLOCK);
            starts.map(move |start| start..(start + BLOCK).min(to))
        };
        let front = cut(0, middle).count();
        let mut pieces = 0;
        let blocks = cut(0, middle).chain(cut(middle, n)).map(|range| {
            let first = pieces;
            pieces += tolerances.pieces(range.clone()).count();
            SumBlock { range, first }
        });
        let blocks: Vec<SumBlock> = blocks.collect();
        Norms {
            blocks,
            front,
            sums: vec![Sums::default(); pieces],
        }
    }

    /// The sums of all pieces, where `piece` gives those of one, from its range, weights and mask.
    pub fn add_up(
        &mut self,
        team: Option<&mut Team>,
        tolerances: &Tolerances,
        y: &[f64],
        piece: impl Fn(Range<usize>, Weights<'_>, Option<&[f64]>) -> Sums + Sync,
    ) -> Sums {
        let (blocks, front, n) = (&self.blocks, self.front, y.len());
        let places = Shared::new(&mut self.sums);
        in_parts_of(team, blocks.len(), (n, VECTORS), |mine| {
            let (ahead, back) = (
                mine.start..mine.end.min(front),
                mine.start.max(front)..mine.end,
            );
            for k in ahead.chain(back.rev()) {
                let SumBlock { range, first } = &blocks[k];
                for (at, p) in tolerances.pieces(range.clone()).enumerate() {
                    let w = tolerances.weights(&p, y);
                    let mut sums = piece(p.range, w, p.mask);
                    if !p.tested {
                        sums.errors = [0.0; 4];
                    }
                    // SAFETY: the pieces of a block have places of their own, and each block is of one part.
                    unsafe { places.set(first + at, sums) };
                }
            }
        });
        let end = |k: usize| blocks.get(k + 1).map_or(self.sums.len(), |next| next.first);
        let sum = |total: Sums, k: usize| {
            let own = &self.sums[blocks[k].first..end(k)];
            own.iter().fold(total, |total, sums| total + *sums)
        };
        let ahead = (0..front).fold(Sums::default(), sum);
        match front == blocks.len() {
            true => ahead,
            false => ahead + (front..blocks.len()).rev().fold(Sums::default(), sum),
        }
    }
}

/// Vectors that the norms of a correction are made of: it, the weights, and three differences.
const VECTORS: usize = 5;
