//! Short arrays in the place of long ones: where the cuts of each frame go.
//!
//! A stretch between two neighbouring cuts keeps its length or gets a shorter one; everything else moves along. Indices
//! keep their offsets, so what is needed is only where boxes begin and end ([`Shrunk::span`]), and the way back for a
//! coordinate that is known at three lengths ([`lifted`]).

use crate::segments::Span;
use crate::segments::frames::{Coordinates, Dim, Extent};

use super::PERIOD;

/// How short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lengths {
    /// A little longer than the shifts, growing by one; the first congruent to the real length modulo [`PERIOD`], so that
    /// what holds for every fourth length, say, is not overlooked by three in a row. Not so in frames that are simple (see
    /// [`super::simple_frames`]): what is repeated there is repeated after one or two elements, which three in a row show.
    Short,
    /// Longer, congruent to the real length modulo [`PERIOD`], growing by that.
    Congruent,
}

impl Lengths {
    fn growth(self) -> i64 {
        match self {
            Lengths::Short => 1,
            Lengths::Congruent => PERIOD,
        }
    }

    /// The shortest length of a stretch of `len` coordinates.
    fn first(self, reach: i64, simple: bool, len: i64) -> i64 {
        let base = match self {
            Lengths::Short if simple => return 2 * reach + 3,
            Lengths::Short => 2 * reach + 3,
            Lengths::Congruent => 4 * reach + 8,
        };
        base + (len - base).rem_euclid(PERIOD)
    }
}

/// One frame: its cuts, where they have gone, and how much each stretch has lost.
struct Frame {
    cuts: Vec<i64>,
    image: Vec<i64>,
    /// Of the stretches that were shortened, in order.
    lost: Vec<i64>,
}

/// All frames at one size.
pub(super) struct Shrunk {
    frames: Vec<Frame>,
    growth: i64,
}

impl Shrunk {
    /// Size number `k` of an attempt; `simple` says so for each frame.
    pub(super) fn new(
        coordinates: &Coordinates,
        simple: &[bool],
        lengths: Lengths,
        k: i64,
    ) -> Shrunk {
        let growth = lengths.growth();
        let frame = |(extent, &simple): (&Extent, &bool)| {
            Frame::new(&extent.cuts, |len| {
                let first = lengths.first(extent.reach, simple, len);
                // The longest of the three must still be shorter than the real one.
                let shorter = extent.is_regular() && first + 2 * growth < len;
                shorter.then_some(first + k * growth)
            })
        };
        Shrunk {
            frames: coordinates.extents.iter().zip(simple).map(frame).collect(),
            growth,
        }
    }

    /// Nothing shortened.
    pub(super) fn whole(coordinates: &Coordinates) -> Shrunk {
        let frame = |extent: &Extent| Frame::new(&extent.cuts, |_| None);
        Shrunk {
            frames: coordinates.extents.iter().map(frame).collect(),
            growth: 1,
        }
    }

    /// Whether nothing was shortened.
    pub(super) fn is_whole(&self) -> bool {
        self.frames.iter().all(|f| f.lost.is_empty())
    }

    /// The short form of a box that cuts its frame.
    pub(super) fn span(&self, dim: Dim, span: Span) -> Span {
        if span.size() == 0 {
            return span;
        }
        let (a, b) = (dim.coordinate(span.lo), dim.coordinate(span.hi));
        let frame = &self.frames[dim.frame];
        let (from, to) = (frame.at(a.min(b)), frame.at(a.max(b) + 1));
        dim.indices(from, to - from)
    }
}

impl Frame {
    fn new(cuts: &[i64], shorter: impl Fn(i64) -> Option<i64>) -> Frame {
        let mut frame = Frame {
            cuts: cuts.to_vec(),
            image: cuts.first().copied().into_iter().collect(),
            lost: Vec::new(),
        };
        let mut at = cuts.first().copied().unwrap_or(0);
        for pair in cuts.windows(2) {
            let len = pair[1] - pair[0];
            let short = shorter(len);
            frame.lost.extend(short.map(|s| len - s));
            at += short.unwrap_or(len);
            frame.image.push(at);
        }
        frame
    }

    fn at(&self, cut: i64) -> i64 {
        match self.cuts.binary_search(&cut) {
            Ok(k) => self.image[k],
            Err(_) => unreachable!("every box cuts its frame"),
        }
    }
}

/// The real coordinate of one that is known at three sizes: those that grew before it say by how much it moves.
pub(super) fn lifted(sizes: &[Shrunk; 3], frame: usize, at: [i64; 3]) -> Option<i64> {
    let growth = sizes[0].growth;
    let (a, b) = (at[1] - at[0], at[2] - at[1]);
    let lost = &sizes[0].frames[frame].lost;
    let before = usize::try_from(a / growth).ok()?;
    let fits = a == b && a % growth == 0 && before <= lost.len();
    fits.then(|| at[0] + lost[..before].iter().sum::<i64>())
}
