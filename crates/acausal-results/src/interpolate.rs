//! Values between samples.

/// The piecewise linear curve through the samples (at least one, time ascending) at `t`, by binary search; before the first and after the last sample it is constant, at a jump the right value counts.
pub(crate) fn interpolate(time: &[f64], value: &[f64], t: f64) -> f64 {
    let after = time.partition_point(|&s| s <= t);
    if after == 0 {
        return value[0];
    }
    let j = after - 1;
    if after == time.len() || time[j] == t {
        return value[j];
    }
    let slope = (value[after] - value[j]) / (time[after] - time[j]);
    slope * (t - time[j]) + value[j]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_beside_and_at_a_jump() {
        let (time, value) = ([0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 5.0, 7.0]);
        for (t, expected) in [
            (-1.0, 0.0),
            (0.25, 0.25),
            (1.0, 5.0),
            (1.5, 6.0),
            (2.0, 7.0),
            (9.0, 7.0),
        ] {
            assert_eq!(interpolate(&time, &value, t), expected, "t = {t}");
        }
        assert_eq!(interpolate(&[3.0], &[4.0], 0.0), 4.0);
    }
}
