//! Numbers as people read them: `%g`, axis labels.

/// Formats like C's `%.{digits}g`: `digits` significant digits, no trailing zeros, an exponent where that is shorter.
///
/// ```
/// use acausal_results::number::general;
/// assert_eq!(general(0.1 + 0.2, 6), "0.3");
/// assert_eq!(general(1.0e-7, 6), "1e-07");
/// assert_eq!(general(1234567.0, 6), "1.23457e+06");
/// ```
pub fn general(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "nan".to_string();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_string();
    }
    let digits = digits.clamp(1, 17);
    // The exponent counts after rounding, which {:e} does for us: 9.9999999 has the exponent 1 with 6 digits.
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim_zeros(mantissa), exponent.abs())
    } else {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        trim_zeros(&format!("{value:.decimals$}")).to_string()
    }
}

/// The labels of an axis whose ticks lie `step` apart: digits enough to tell neighbours apart, one power of ten (a
/// multiple of three) for all where numbers are large or small, a true minus sign.
///
/// ```
/// use acausal_results::number::tick_labels;
/// assert_eq!(tick_labels(&[-0.25, 0.0, 0.25], 0.25), ["−0.25", "0.00", "0.25"]);
/// assert_eq!(tick_labels(&[0.0, 5e5, 1e6], 5e5), ["0", "0.5e6", "1.0e6"]);
/// ```
pub fn tick_labels(values: &[f64], step: f64) -> Vec<String> {
    let step = step.abs();
    let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let exponent = if largest == 0.0 || (1e-3..1e6).contains(&largest) {
        0
    } else {
        3 * ((largest.log10() + 1e-9) / 3.0).floor() as i32
    };
    let decimals = (exponent - step_exponent(step)).clamp(0, 15) as usize;
    let label = |&value: &f64| {
        // What is left of a subtraction of ticks is not a number to show.
        let value = if value.abs() < 1e-9 * step {
            0.0
        } else {
            value
        };
        let text = match exponent {
            0 => format!("{value:.decimals$}"),
            _ if value == 0.0 => "0".to_string(),
            // Dividing by a power is exact where multiplying by its inverse is not; 1e-309 has no power of its own.
            _ if exponent < -300 => format!("{value:e}"),
            _ => format!("{:.decimals$}e{exponent}", value / 10f64.powi(exponent)),
        };
        text.replace('-', "−")
    };
    values.iter().map(label).collect()
}

/// The decimal place of the last digit that matters in multiples of `step`: -2 for 0.25, 0 for 5, 1 for 20.
fn step_exponent(step: f64) -> i32 {
    if step <= 0.0 || !step.is_finite() {
        return 0;
    }
    let mut exponent = step.log10().floor() as i32;
    for _ in 0..3 {
        let scaled = step / 10f64.powi(exponent);
        if (scaled - scaled.round()).abs() < 1e-6 * scaled {
            break;
        }
        exponent -= 1;
    }
    exponent
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_is_percent_g() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-0.5, "-0.5"),
            (100000.0, "100000"),
            (999999.5, "1e+06"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (123.456789, "123.457"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(general(value, 6), text);
        }
    }

    #[test]
    fn ticks() {
        for (values, step, labels) in [
            (vec![0.0, 20.0, 40.0], 20.0, vec!["0", "20", "40"]),
            (vec![0.3, 0.4], 0.1, vec!["0.3", "0.4"]),
            (vec![1.0, 1.25], 0.25, vec!["1.00", "1.25"]),
            (vec![1013.0], 0.5, vec!["1013.0"]),
            (
                vec![5e-8, 1e-7, 1.5e-7],
                5e-8,
                vec!["50e−9", "100e−9", "150e−9"],
            ),
            (vec![0.0, 1e9, 2e9], 1e9, vec!["0", "1e9", "2e9"]),
            (vec![-0.002, 1e-19], 0.002, vec!["−0.002", "0.000"]),
            (vec![1.0e7, 1.25e7], 2.5e6, vec!["10.0e6", "12.5e6"]),
            (vec![0.0], 1.0, vec!["0"]),
        ] {
            assert_eq!(tick_labels(&values, step), labels, "step {step}");
        }
    }
}
