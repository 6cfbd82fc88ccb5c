//! Where an axis has its ticks.
//!
//! Steps are 1, 2, 2.5 or 5 times a power of ten: the smallest of these that gives at most the wanted number of ticks. Example: 0..7.3 with six
//! ticks asks for a step of at least 1.46, so 2, and the ticks are 0, 2, 4, 6.

/// Ranges narrower than this share of the magnitude are rounding noise and are drawn as a constant.
const NOISE: f64 = 1e-13;
/// Largest magnitude that is drawn; beyond it widths overflow.
const LARGEST: f64 = 1e300;

/// The ticks inside `low..=high`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ticks {
    pub step: f64,
    pub values: Vec<f64>,
}

pub(super) fn ticks(low: f64, high: f64, wanted: usize) -> Ticks {
    let raw = (high - low) / wanted.max(1) as f64;
    if raw <= 0.0 || !raw.is_finite() {
        return Ticks {
            step: 1.0,
            values: vec![low],
        };
    }
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|m| m * power)
        .into_iter()
        .find(|&step| step >= raw * (1.0 - 1e-9))
        .unwrap_or(10.0 * power);
    let first = (low / step - 1e-9).ceil();
    let last = (high / step + 1e-9).floor();
    let count = (last - first).max(0.0) as usize + 1;
    let values = (0..count.min(4 * wanted + 4))
        .map(|i| (first + i as f64) * step)
        .collect();
    Ticks { step, values }
}

/// The range of the finite values, never empty; with air around it when `air` is set.
pub(super) fn span(values: impl Iterator<Item = f64>, air: bool) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for v in values.filter(|v| v.is_finite()) {
        low = low.min(v);
        high = high.max(v);
    }
    if low > high {
        return (0.0, 1.0);
    }
    (low, high) = (low.clamp(-LARGEST, LARGEST), high.clamp(-LARGEST, LARGEST));
    let magnitude = low.abs().max(high.abs());
    let range = high - low;
    if range <= NOISE * magnitude || range < 1e-290 {
        let half = if magnitude < 1e-290 {
            1.0
        } else {
            0.1 * magnitude
        };
        let middle = low + 0.5 * range;
        return (middle - half, middle + half);
    }
    let margin = if air { 0.06 * range } else { 0.0 };
    (low - margin, high + margin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (low, high, wanted, expected) in [
            (0.0, 7.3, 6, vec![0.0, 2.0, 4.0, 6.0]),
            (0.0, 10.0, 4, vec![0.0, 2.5, 5.0, 7.5, 10.0]),
            (-1.0, 1.0, 5, vec![-1.0, -0.5, 0.0, 0.5, 1.0]),
            (1e-6, 3e-6, 2, vec![1e-6, 2e-6, 3e-6]),
            (99.5, 100.5, 2, vec![99.5, 100.0, 100.5]),
        ] {
            let found = ticks(low, high, wanted).values;
            assert_eq!(found.len(), expected.len(), "{found:?}");
            assert!(
                found
                    .iter()
                    .zip(&expected)
                    .all(|(f, e)| (f - e).abs() < 1e-9 * e.abs().max(1e-9)),
                "{found:?}"
            );
        }
    }

    #[test]
    fn spans() {
        assert_eq!(span([f64::NAN].into_iter(), true), (0.0, 1.0));
        assert_eq!(span([0.0, 0.0].into_iter(), true), (-1.0, 1.0));
        assert_eq!(span([5.0].into_iter(), true), (4.5, 5.5));
        assert_eq!(
            span([0.0, 100.0, f64::INFINITY].into_iter(), true),
            (-6.0, 106.0)
        );
        assert_eq!(span([0.0, 10.0].into_iter(), false), (0.0, 10.0));
    }
}
