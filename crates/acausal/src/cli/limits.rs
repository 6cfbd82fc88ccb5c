//! Options for what a model may cost.

use acausal_expr::Limits;
use clap::Args;

/// What a model may cost before it is refused.
#[derive(Args, Debug)]
#[command(next_help_heading = "Limits")]
pub struct LimitOptions {
    /// Memory that may be used, e.g. 500M or 8G [default: what the machine has available]
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub memory_limit: Option<u64>,
    /// Instructions of one evaluation of functions and sums by the compiler, and of one call of a function at run time [default: 2e8]
    #[arg(long, value_name = "NUMBER", value_parser = count)]
    pub max_evaluation_steps: Option<u64>,
    /// Components of a model, arrays counted once [default: 2e7]
    #[arg(long, value_name = "NUMBER", value_parser = count)]
    pub max_components: Option<u64>,
}

impl LimitOptions {
    /// As the library wants it.
    pub fn limits(&self) -> Limits {
        let usual = Limits::default();
        Limits {
            memory: self.memory_limit.unwrap_or(usual.memory),
            evaluation_steps: self.max_evaluation_steps.unwrap_or(usual.evaluation_steps),
            instances: self.max_components.unwrap_or(usual.instances),
        }
    }
}

/// A whole number, also as `1e9`.
pub fn count(text: &str) -> Result<u64, String> {
    let complain =
        || format!("a positive whole number such as 1000 or 1e9 is needed, not `{text}`");
    let value: f64 = text.parse().map_err(|_| complain())?;
    match (1.0..1.8e19).contains(&value) && value.fract() == 0.0 {
        true => Ok(value as u64),
        false => Err(complain()),
    }
}

/// A number of bytes with a unit.
fn bytes(text: &str) -> Result<u64, String> {
    let complain = || format!("a number of bytes such as 500M or 8G is needed, not `{text}`");
    let body = text.trim_end_matches(['B', 'b']);
    let (digits, factor) = match body.chars().last().map(|c| c.to_ascii_uppercase()) {
        Some('K') => (&body[..body.len() - 1], 1e3),
        Some('M') => (&body[..body.len() - 1], 1e6),
        Some('G') => (&body[..body.len() - 1], 1e9),
        Some('T') => (&body[..body.len() - 1], 1e12),
        _ => (body, 1.0),
    };
    let value: f64 = digits.trim().parse().map_err(|_| complain())?;
    let value = value * factor;
    match (1.0..1.8e19).contains(&value) {
        true => Ok(value as u64),
        false => Err(complain()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units() {
        let table = [
            ("500M", 500_000_000),
            ("8G", 8_000_000_000),
            ("1.5gb", 1_500_000_000),
            ("1000", 1000),
        ];
        for (text, expected) in table {
            assert_eq!(bytes(text), Ok(expected));
        }
        for wrong in ["", "M", "-1G", "nan", "1X", "1e30"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        assert_eq!(count("1e9"), Ok(1_000_000_000));
        assert!(count("0.5").is_err());
    }
}
