//! Reduces a curve to what a picture of a given width can show.
//!
//! Of the samples that fall into one column of pixels, the first, the lowest, the highest and the last are kept, in their order. A
//! line through these covers the same pixels of the column as a line through all of them, so the picture does not change, while its size
//! is bounded by four points per column. One pass, O(samples).

/// Points of a line without gaps.
pub(super) type Line = Vec<(f64, f64)>;

/// The curve inside `x0..=x1` as lines without gaps; NaN and infinite values separate lines.
pub(super) fn decimate(x: &[f64], y: &[f64], (x0, x1): (f64, f64), columns: usize) -> Vec<Line> {
    let per_column = columns.max(1) as f64 / (x1 - x0);
    let mut lines = Vec::new();
    let mut line = Line::new();
    let mut bucket = Bucket::default();
    for (&x, &y) in x.iter().zip(y) {
        if !x.is_finite() || !y.is_finite() {
            bucket.empty_into(&mut line);
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            continue;
        }
        let column = ((x - x0) * per_column).floor();
        if bucket.count > 0 && column != bucket.column {
            bucket.empty_into(&mut line);
        }
        bucket.add(column, (x, y));
    }
    bucket.empty_into(&mut line);
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// The extremes of one column, each with its position in the sequence.
#[derive(Default)]
struct Bucket {
    column: f64,
    count: usize,
    first: (f64, f64),
    last: (f64, f64),
    low: (usize, (f64, f64)),
    high: (usize, (f64, f64)),
}

impl Bucket {
    fn add(&mut self, column: f64, point: (f64, f64)) {
        if self.count == 0 {
            self.column = column;
            self.first = point;
            self.low = (0, point);
            self.high = (0, point);
        }
        if point.1 < self.low.1.1 {
            self.low = (self.count, point);
        }
        if point.1 > self.high.1.1 {
            self.high = (self.count, point);
        }
        self.last = point;
        self.count += 1;
    }

    fn empty_into(&mut self, line: &mut Line) {
        if self.count == 0 {
            return;
        }
        let mut kept = [
            (0, self.first),
            self.low,
            self.high,
            (self.count - 1, self.last),
        ];
        kept.sort_by_key(|k| k.0);
        let mut previous = usize::MAX;
        for (position, point) in kept {
            if position != previous {
                line.push(point);
            }
            previous = position;
        }
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_are_kept() {
        let (x, y) = ([0.0, 0.5, 0.5, 1.0], [0.0, 1.0, -1.0, 0.0]);
        assert_eq!(
            decimate(&x, &y, (0.0, 1.0), 100),
            [x.iter().copied().zip(y).collect::<Vec<_>>()]
        );
    }

    #[test]
    fn extremes_survive() {
        let n = 100_000;
        let x: Vec<f64> = (0..n).map(f64::from).collect();
        let mut y: Vec<f64> = x.iter().map(|x| (x * 0.001).sin()).collect();
        y[54_321] = 7.0;
        y[54_322] = -9.0;
        let lines = decimate(&x, &y, (0.0, x[x.len() - 1]), 200);
        let points: Vec<f64> = lines.concat().iter().map(|p| p.1).collect();
        assert!(points.len() <= 4 * 201, "{}", points.len());
        assert!(points.contains(&7.0) && points.contains(&-9.0));
        assert!(lines[0].windows(2).all(|w| w[0].0 <= w[1].0));
    }

    #[test]
    fn gaps_separate() {
        let y = [1.0, f64::NAN, 2.0, 3.0];
        assert_eq!(
            decimate(&[0.0, 1.0, 2.0, 3.0], &y, (0.0, 3.0), 10),
            [vec![(0.0, 1.0)], vec![(2.0, 2.0), (3.0, 3.0)]]
        );
    }
}
