//! Positions of a band whose rows and unknowns follow a rule.
//!
//! The unknowns of a line are two arrays, taken in turns: positions 0, 1, 2, 3, ... are elements 0, 1000, 1, 1001, ... Two [`Lane`]s
//! with their starts and steps describe them, however many there are, so that a substitution reads no index. In each turn the rows
//! are the same elements as the unknowns, in any order; intermediate results can therefore take the place of the right-hand side,
//! and those of a turn are all read before one of its unknowns is set.
//!
//! [`Lanes::find`] looks for the longest stretch of such turns, in time linear in the number of positions for each number of lanes.
//! Example: rows `9 0 5 1 6 2 7`, unknowns `9 5 0 6 1 7 2` are two lanes from position 1 on, three turns.

/// Most lanes.
pub(super) const MOST_LANES: usize = 3;

/// Positions before the first turn, at most: boundary conditions and the like.
const MOST_BEFORE: usize = 16;

/// One element in every turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lane {
    first: isize,
    step: isize,
}

impl Lane {
    /// The element of a turn.
    #[inline(always)]
    pub fn at(self, turn: usize) -> isize {
        self.first + self.step * turn as isize
    }
}

/// A stretch of positions in turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lanes {
    /// Its first position.
    pub start: usize,
    pub turns: usize,
    pub lanes: usize,
    /// The elements of the rows and of the unknowns.
    pub row: [Lane; MOST_LANES],
    pub col: [Lane; MOST_LANES],
}

impl Lanes {
    /// The longest stretch among the first `own` positions; empty if it is not most of them.
    pub fn find(row: &[u32], col: &[u32], own: usize) -> Lanes {
        let mut best = Lanes::default();
        for lanes in 1..=MOST_LANES {
            for start in 0..MOST_BEFORE.min(own) {
                let (row, col) = (&row[start..own], &col[start..own]);
                let found = Lanes::from(row, col, lanes);
                if found.positions() > best.positions() {
                    best = Lanes { start, ..found };
                }
                if 2 * best.positions() > own {
                    return best;
                }
            }
        }
        Lanes::default()
    }

    fn from(row: &[u32], col: &[u32], lanes: usize) -> Lanes {
        let turns = follows(row, lanes).min(follows(col, lanes));
        if turns < 2 {
            return Lanes::default();
        }
        let both = [row, col].map(|list| {
            std::array::from_fn(|c| match c < lanes {
                false => Lane::default(),
                true => Lane {
                    first: list[c] as isize,
                    step: list[lanes + c] as isize - list[c] as isize,
                },
            })
        });
        let mut sets: [[Lane; MOST_LANES]; 2] = both;
        for set in &mut sets {
            set[..lanes].sort_by_key(|l| (l.first, l.step));
        }
        match sets[0] == sets[1] {
            false => Lanes::default(),
            true => Lanes {
                start: 0,
                turns,
                lanes,
                row: both[0],
                col: both[1],
            },
        }
    }

    /// Number of positions.
    pub fn positions(&self) -> usize {
        self.turns * self.lanes
    }

    /// The first position behind it.
    pub fn end(&self) -> usize {
        self.start + self.positions()
    }

    /// Whether all elements are below a bound.
    pub fn are_below(&self, bound: usize) -> bool {
        let ends = |lane: &Lane| [lane.at(0), lane.at(self.turns.saturating_sub(1))];
        let mut all = self.row[..self.lanes].iter().flat_map(ends);
        all.all(|i| i >= 0 && (i as usize) < bound)
    }
}

/// Turns from the beginning on in which every element is as far from the one before as in the first.
fn follows(list: &[u32], lanes: usize) -> usize {
    if list.len() < 2 * lanes {
        return 0;
    }
    let distance = |k: usize| list[k + lanes] as isize - list[k] as isize;
    let rule = |k: &usize| distance(*k) == distance(k % lanes);
    let len = lanes + (0..list.len() - lanes).take_while(rule).count();
    len / lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example() {
        let (row, col) = ([9, 0, 5, 1, 6, 2, 7], [9, 5, 0, 6, 1, 7, 2]);
        let found = Lanes::find(&row, &col, 7);
        assert_eq!((found.start, found.turns, found.lanes), (1, 3, 2));
        assert_eq!(found.end(), 7);
        for p in 1..7 {
            assert_eq!(found.row[(p - 1) % 2].at((p - 1) / 2), row[p] as isize);
            assert_eq!(found.col[(p - 1) % 2].at((p - 1) / 2), col[p] as isize);
        }
        assert!(found.are_below(8) && !found.are_below(7));
    }

    /// No rule, or rows that are other elements than the unknowns of their turn: nothing.
    #[test]
    fn without_a_rule_there_are_no_lanes() {
        let mixed: Vec<u32> = (0..200u32).map(|k| k * k % 199).collect();
        assert_eq!(Lanes::find(&mixed, &mixed, 200), Lanes::default());
        let rows: Vec<u32> = (0..200).collect();
        let shifted: Vec<u32> = (1..201).collect();
        assert_eq!(Lanes::find(&rows, &shifted, 200), Lanes::default());
        let down: Vec<u32> = (0..200).rev().collect();
        assert_eq!(Lanes::find(&down, &down, 200).positions(), 200);
    }
}
