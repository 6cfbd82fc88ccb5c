//! String expressions: messages that contain numbers (MLS 3.6 §3.7.1.1).
//!
//! A message such as `"T = " + String(T)` is built at run time, when it is shown; [`Exprs::text`] does that.

use crate::{Builtin, EvalError, ExprId, Exprs, Node, ScalarValue};

/// `String(value, significantDigits, minimumLength, leftJustified)`.
pub fn format_number(value: ScalarValue, digits: usize, minimum: usize, left: bool) -> String {
    let text = match value {
        ScalarValue::Real(v) => general(v, digits),
        ScalarValue::Int(i) => i.to_string(),
        ScalarValue::Bool(b) => b.to_string(),
        ScalarValue::Str(_) => String::new(),
    };
    pad(text, ' ', minimum, left)
}

/// Fills up to a width.
fn pad(text: String, with: char, width: usize, left: bool) -> String {
    let missing = width.saturating_sub(text.chars().count());
    let fill = std::iter::repeat_n(with, missing);
    match left {
        true => text.chars().chain(fill).collect(),
        false => fill.chain(text.chars()).collect(),
    }
}

/// Significant decimal digits of which a number can have at most this many that are not zero.
const MOST_DIGITS: usize = 767;
/// Largest width and precision in a format.
const WIDEST: usize = 10_000;

/// C's `%.{digits}g`: exponent form for very large and small numbers, no trailing zeros.
fn general(v: f64, digits: usize) -> String {
    let digits = digits.clamp(1, MOST_DIGITS);
    if v == 0.0 || !v.is_finite() {
        return if v == 0.0 {
            "0".into()
        } else {
            format!("{v}").to_lowercase()
        };
    }
    let scientific = format!("{:.*e}", digits - 1, v);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |s: &str| {
        if s.contains('.') {
            s.trim_end_matches('0').trim_end_matches('.').to_string()
        } else {
            s.to_string()
        }
    };
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(mantissa), exponent.abs())
    } else {
        trim(&format!(
            "{:.*}",
            (digits as i32 - 1 - exponent).max(0) as usize,
            v
        ))
    }
}

/// C's `printf` for one number and a format such as `%8.3f` or `.3g`; `None` if the format is not one of these.
pub fn format_printf(format: &str, value: ScalarValue) -> Option<String> {
    let body = format.strip_prefix('%').unwrap_or(format);
    let kind = body.chars().last()?;
    let mut rest = &body[..body.len() - kind.len_utf8()];
    let (mut left, mut zero, mut plus) = (false, false, false);
    while let Some(flag) = rest.chars().next().filter(|c| "-+ #0".contains(*c)) {
        left |= flag == '-';
        zero |= flag == '0';
        plus |= flag == '+';
        rest = &rest[1..];
    }
    let (width, precision) = rest.split_once('.').unwrap_or((rest, ""));
    let width: usize = if width.is_empty() {
        0
    } else {
        width.parse().ok()?
    };
    let precision: usize = if precision.is_empty() {
        6
    } else {
        precision.parse().ok()?
    };
    if width > WIDEST || precision > WIDEST {
        return None;
    }
    let v = value.as_f64()?;
    let mut text = match kind {
        'd' | 'i' => format!("{}", v as i64),
        'f' => format!("{v:.precision$}"),
        'g' | 'G' => general(v, precision),
        'e' | 'E' => {
            let s = format!("{v:.precision$e}");
            let (m, e) = s.split_once('e')?;
            let e: i32 = e.parse().ok()?;
            format!("{m}e{}{:02}", if e < 0 { '-' } else { '+' }, e.abs())
        }
        _ => return None,
    };
    if plus && v >= 0.0 {
        text.insert(0, '+');
    }
    Some(match (left, zero) {
        (true, _) => pad(text, ' ', width, true),
        (false, true) => pad(text, '0', width, false),
        (false, false) => pad(text, ' ', width, false),
    })
}

impl Exprs {
    /// The text of a String expression, given the values of its leaves as in [`Exprs::evaluate`].
    pub fn text(
        &self,
        root: ExprId,
        leaf: &mut impl FnMut(&Exprs, ExprId, &[i64]) -> Option<ScalarValue>,
    ) -> Result<String, EvalError> {
        let mut out = String::new();
        // Pieces still to be written, the next one last.
        let mut todo = vec![root];
        while let Some(e) = todo.pop() {
            match self.node(e) {
                Node::Call(Builtin::Concat, parts) => todo.extend(self.list(parts).iter().rev()),
                Node::If(c, a, b) => match self.evaluate(c, &mut *leaf)? {
                    ScalarValue::Bool(true) => todo.push(a),
                    ScalarValue::Bool(false) => todo.push(b),
                    _ => return Err(EvalError::Undefined(c)),
                },
                Node::Select(i, l) => match self.evaluate(i, &mut *leaf)? {
                    ScalarValue::Int(k) if k >= 1 && k as usize <= self.list(l).len() => {
                        todo.push(self.list(l)[k as usize - 1])
                    }
                    _ => return Err(EvalError::Undefined(i)),
                },
                Node::Call(Builtin::Text, args) => {
                    let args = self.list(args);
                    let value = self.evaluate(args[0], &mut *leaf)?;
                    if let [_, format] = args {
                        let ScalarValue::Str(f) = self.evaluate(*format, &mut *leaf)? else {
                            return Err(EvalError::Undefined(*format));
                        };
                        out.push_str(
                            &format_printf(self.string(f), value).ok_or(EvalError::Undefined(e))?,
                        );
                        continue;
                    }
                    let mut setting = |k: usize| -> Result<f64, EvalError> {
                        match args.get(k) {
                            Some(&a) => self
                                .evaluate(a, &mut *leaf)?
                                .as_f64()
                                .ok_or(EvalError::Undefined(a)),
                            None => Ok(0.0),
                        }
                    };
                    let (digits, minimum, left) = (setting(1)?, setting(2)?, setting(3)?);
                    if minimum >= self.limits.text_length() as f64 {
                        return Err(EvalError::TooLong(e));
                    }
                    out.push_str(&format_number(
                        value,
                        digits as usize,
                        minimum as usize,
                        left != 0.0,
                    ));
                }
                _ => match self.evaluate(e, &mut *leaf)? {
                    ScalarValue::Str(s) => out.push_str(self.string(s)),
                    _ => return Err(EvalError::Undefined(e)),
                },
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_c_prints_them() {
        let cases = [
            (0.1, 6, "0.1"),
            (1234567.0, 6, "1.23457e+06"),
            (1e-5, 6, "1e-05"),
            (100000.0, 6, "100000"),
            (2.0 / 3.0, 3, "0.667"),
            (0.0, 6, "0"),
        ];
        for (v, digits, expected) in cases {
            assert_eq!(
                format_number(ScalarValue::Real(v), digits, 0, true),
                expected
            );
        }
        assert_eq!(format_number(ScalarValue::Int(42), 6, 5, false), "   42");
        assert_eq!(
            format_printf("%6.2f", ScalarValue::Real(1.2345)).as_deref(),
            Some("  1.23")
        );
        assert_eq!(
            format_printf("-8.3e", ScalarValue::Real(1234.5)).as_deref(),
            Some("1.234e+03")
        );
        assert_eq!(format_printf("%q", ScalarValue::Real(1.0)), None);
    }

    #[test]
    fn messages_are_put_together_from_their_pieces() {
        let mut x = Exprs::default();
        let time = x.time();
        let (digits, minimum, left) = (x.int(6), x.int(0), x.bool(true));
        let number = x.call(Builtin::Text, &[time, digits, minimum, left]);
        let (a, b) = (x.str("t = "), x.str(" s"));
        let message = x.call(Builtin::Concat, &[a, number, b]);
        assert_eq!(
            x.text(message, &mut |_, _, _| Some(ScalarValue::Real(0.25))),
            Ok("t = 0.25 s".into())
        );
    }
}
