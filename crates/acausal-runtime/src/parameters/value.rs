//! What a parameter can be set to.

use std::fmt;
use std::str::FromStr;

/// A value for a parameter or a start attribute.
///
/// ```
/// use acausal_runtime::ParameterValue;
/// assert_eq!("2.5".parse(), Ok(ParameterValue::Number(2.5)));
/// assert_eq!("{1, 2}".parse(), Ok(ParameterValue::from(vec![1.0, 2.0])));
/// assert_eq!("Mode.fast".parse(), Ok(ParameterValue::Literal("Mode.fast".into())));
/// assert!("2*R".parse::<ParameterValue>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// A Real or an Integer.
    Number(f64),
    /// A Boolean.
    Boolean(bool),
    /// A literal of an enumeration, with or without the name of its type.
    Literal(String),
    /// The elements of an array; of a matrix its rows.
    Array(Vec<ParameterValue>),
}

impl From<f64> for ParameterValue {
    fn from(value: f64) -> Self {
        ParameterValue::Number(value)
    }
}

impl From<bool> for ParameterValue {
    fn from(value: bool) -> Self {
        ParameterValue::Boolean(value)
    }
}

impl<V: Into<ParameterValue>> From<Vec<V>> for ParameterValue {
    fn from(values: Vec<V>) -> Self {
        ParameterValue::Array(values.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterValue::Number(v) => write!(f, "{v}"),
            ParameterValue::Boolean(v) => write!(f, "{v}"),
            ParameterValue::Literal(name) => f.write_str(name),
            ParameterValue::Array(values) => {
                f.write_str("{")?;
                for (k, v) in values.iter().enumerate() {
                    let comma = if k > 0 { ", " } else { "" };
                    write!(f, "{comma}{v}")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// The text is no value but, say, an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAValue;

/// Arrays in arrays: no model has a parameter of more dimensions.
const MOST_DIMENSIONS: usize = 32;

impl FromStr for ParameterValue {
    type Err = NotAValue;

    /// As Modelica writes it: `-1e-3`, `true`, `Mode.fast`, `{{1, 2}, {3, 4}}`.
    fn from_str(text: &str) -> Result<Self, NotAValue> {
        // Arrays that have begun; the last one is the innermost.
        let mut open: Vec<Vec<ParameterValue>> = Vec::new();
        let mut rest = text.trim();
        loop {
            if let Some(inside) = rest.strip_prefix('{') {
                if open.len() == MOST_DIMENSIONS {
                    return Err(NotAValue);
                }
                open.push(Vec::new());
                rest = inside.trim_start();
                continue;
            }
            let end = rest.find([',', '}']).unwrap_or(rest.len());
            let mut value = scalar(rest[..end].trim())?;
            rest = &rest[end..];
            // Closes all arrays that end here.
            loop {
                let Some(array) = open.last_mut() else {
                    return match rest.is_empty() {
                        true => Ok(value),
                        false => Err(NotAValue),
                    };
                };
                array.push(value);
                if let Some(next) = rest.strip_prefix(',') {
                    rest = next.trim_start();
                    break;
                }
                rest = rest.strip_prefix('}').ok_or(NotAValue)?.trim_start();
                value = ParameterValue::Array(open.pop().unwrap_or_default());
            }
        }
    }
}

fn scalar(text: &str) -> Result<ParameterValue, NotAValue> {
    match text {
        "true" => return Ok(ParameterValue::Boolean(true)),
        "false" => return Ok(ParameterValue::Boolean(false)),
        _ => {}
    }
    let (sign, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest.trim_start()),
        None => (1.0, text.strip_prefix('+').map_or(text, str::trim_start)),
    };
    // Rust also reads `inf` and `nan`, which are names in Modelica.
    let digits = magnitude.strip_prefix('.').unwrap_or(magnitude);
    if digits.starts_with(|c: char| c.is_ascii_digit()) {
        let number: f64 = magnitude.parse().map_err(|_| NotAValue)?;
        return Ok(ParameterValue::Number(sign * number));
    }
    let is_name = text.starts_with(|c: char| c.is_alphabetic() || "_'.".contains(c))
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || "_'.".contains(c) || text.contains('\''));
    match is_name {
        true => Ok(ParameterValue::Literal(text.to_string())),
        false => Err(NotAValue),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_modelica_writes_them() {
        let array = |v: &[f64]| ParameterValue::from(v.to_vec());
        for (text, value) in [
            (" -2 ", ParameterValue::Number(-2.0)),
            ("- 1e-3", ParameterValue::Number(-1e-3)),
            ("+.5", ParameterValue::Number(0.5)),
            ("true", ParameterValue::Boolean(true)),
            (
                ".P.Mode.slow",
                ParameterValue::Literal(".P.Mode.slow".into()),
            ),
            ("{ 1 , -2 }", array(&[1.0, -2.0])),
            (
                "{{1,2},{3,4}}",
                ParameterValue::Array(vec![array(&[1.0, 2.0]), array(&[3.0, 4.0])]),
            ),
        ] {
            assert_eq!(text.parse(), Ok(value), "{text}");
        }
        for text in [
            "", "{", "{1", "1}", "{}", "{1,}", "1 2", "2*3", "\"a\"", "f(1)", "{1}2", "--1", "1e",
            "{{1}", "nan+1",
        ] {
            assert_eq!(text.parse::<ParameterValue>(), Err(NotAValue), "{text}");
        }
        assert_eq!(
            "{{".repeat(100_000).parse::<ParameterValue>(),
            Err(NotAValue)
        );
    }

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["{{1, 2.5}, {-3, 4}}", "false", "Mode.slow", "1e300"] {
            let value: ParameterValue = text.parse().unwrap();
            assert_eq!(value.to_string().parse(), Ok(value));
        }
    }
}
