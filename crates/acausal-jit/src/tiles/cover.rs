//! Sets of numbers as ranges.

use std::ops::Range;

/// Numbers, as ranges in ascending order that do not touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Cover(pub Vec<Range<usize>>);

impl Cover {
    pub fn add(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let from = self.0.partition_point(|r| r.end < range.start);
        let to = self.0.partition_point(|r| r.start <= range.end);
        let start = self.0.get(from).filter(|_| from < to);
        let start = start.map_or(range.start, |r| r.start.min(range.start));
        let end = match to.checked_sub(1) {
            Some(last) if from < to => self.0[last].end.max(range.end),
            _ => range.end,
        };
        self.0.splice(from..to, std::iter::once(start..end));
    }

    /// What of a range is not covered.
    pub fn missing(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut missing = Vec::new();
        let mut at = range.start;
        let first = self.0.partition_point(|r| r.end <= range.start);
        for r in self.0[first..].iter().take_while(|r| r.start < range.end) {
            if at < r.start {
                missing.push(at..r.start);
            }
            at = at.max(r.end);
        }
        if at < range.end {
            missing.push(at..range.end);
        }
        missing
    }

    pub fn meets(&self, range: &Range<usize>) -> bool {
        self.missing(range.clone()) != [range.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_are_sets_of_numbers() {
        let mut cover = Cover::default();
        for range in [5..8, 10..12, 0..2, 7..10, 20..20] {
            cover.add(range);
        }
        assert_eq!(cover.0, [0..2, 5..12]);
        assert_eq!(cover.missing(1..15), [2..5, 12..15]);
        assert!(cover.meets(&(11..13)) && !cover.meets(&(2..5)));
    }
}
