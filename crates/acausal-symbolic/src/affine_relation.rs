//! Relations between affine integer expressions of one iterator, decided over a whole range.

use acausal_expr::{Range, RelOp, compare};

/// `constant + slope*i` compared with zero, for `i` in a range. The left side is monotonic along the range, so that the truth changes at most once
/// (twice for `==` and `<>`).
#[derive(Clone, Copy, Debug)]
pub struct AffineRelation {
    /// How it is compared with zero.
    pub op: RelOp,
    /// The part without the iterator.
    pub constant: i64,
    /// The coefficient of the iterator.
    pub slope: i64,
    /// The values of the iterator.
    pub range: Range,
}

impl AffineRelation {
    fn value(&self, k: i64) -> i128 {
        let i = i128::from(self.range.start) + i128::from(self.range.step) * i128::from(k);
        i128::from(self.constant) + i128::from(self.slope) * i
    }

    /// Whether it holds at a position of the range, from 0.
    pub fn holds(&self, k: i64) -> bool {
        let sign = self.value(k).signum() as f64;
        compare(self.op, sign, 0.0)
    }

    /// The position at which the left side is zero.
    pub fn root(&self) -> Option<i64> {
        let rate = i128::from(self.slope) * i128::from(self.range.step);
        let start = self.value(0);
        if rate == 0 || start % rate != 0 {
            return None;
        }
        let k = -start / rate;
        (0..i128::from(self.range.count))
            .contains(&k)
            .then_some(k as i64)
    }

    /// The number of values at the beginning of the range with the truth of the first one; `None` if all have it.
    pub fn change(&self) -> Option<i64> {
        let last = self.range.count - 1;
        if self.slope == 0 || last < 1 {
            return None;
        }
        if matches!(self.op, RelOp::Eq | RelOp::Ne) {
            return self.root().map(|k| k.max(1));
        }
        let first = self.holds(0);
        if self.holds(last) == first {
            return None;
        }
        let (mut low, mut high) = (0, last);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.holds(middle) == first {
                low = middle
            } else {
                high = middle
            }
        }
        Some(high)
    }

    /// The part of the range where it holds, if that is one range; else the whole.
    pub fn narrowed(&self) -> Range {
        let range = self.range;
        let from = |k: i64, count: i64| Range {
            start: range.at(k),
            step: range.step,
            count,
        };
        if range.count <= 0 {
            return range;
        }
        match (self.op, self.root()) {
            _ if self.slope == 0 && !self.holds(0) => from(0, 0),
            _ if self.slope == 0 => range,
            (RelOp::Eq, Some(k)) => from(k, 1),
            (RelOp::Eq, None) => from(0, 0),
            (RelOp::Ne, Some(0)) => from(1, range.count - 1),
            // A hole in the middle is no range.
            (RelOp::Ne, Some(k)) if k == range.count - 1 => from(0, k),
            (RelOp::Ne, _) => range,
            _ => match (self.holds(0), self.change()) {
                (true, None) => range,
                (false, None) => from(0, 0),
                (true, Some(k)) => from(0, k),
                (false, Some(k)) => from(k, range.count - k),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the truth at each value.
    #[test]
    fn relations_narrow_ranges() {
        let ops = [
            RelOp::Lt,
            RelOp::Le,
            RelOp::Gt,
            RelOp::Ge,
            RelOp::Eq,
            RelOp::Ne,
        ];
        for (op, slope) in ops
            .into_iter()
            .flat_map(|op| [-2, -1, 0, 1, 3].map(|s| (op, s)))
        {
            for (constant, (start, step)) in
                (-9..9).flat_map(|c| [(1, 1), (5, -2), (-3, 3)].map(|r| (c, r)))
            {
                let range = Range {
                    start,
                    step,
                    count: 5,
                };
                let relation = AffineRelation {
                    op,
                    constant,
                    slope,
                    range,
                };
                let holds: Vec<i64> = range
                    .values()
                    .filter(|i| compare(op, (constant + slope * i) as f64, 0.0))
                    .collect();
                let narrowed: Vec<i64> = relation.narrowed().values().collect();
                let hole = op == RelOp::Ne && holds.len() == 4 && narrowed.len() == 5;
                assert!(hole || narrowed == holds, "{relation:?}: {narrowed:?}");
                if let Some(k) = relation.change() {
                    assert!((1..5).contains(&k) && relation.holds(k) != relation.holds(k - 1));
                }
            }
        }
    }
}
