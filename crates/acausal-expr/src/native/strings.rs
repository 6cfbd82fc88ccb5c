//! Functions on strings, as Modelica.Utilities.Strings declares them. Positions count bytes from 1, as in C.

/// The part from `start` to `end`, both included.
pub fn substring(text: &str, start: i64, end: i64) -> String {
    let bytes = text.as_bytes();
    let first = (start.max(1) - 1) as usize;
    // A negative end means the one byte at the start.
    let last = if end < 0 { first + 1 } else { end as usize }.min(bytes.len());
    if first >= last {
        return String::new();
    }
    String::from_utf8_lossy(&bytes[first..last]).into_owned()
}

/// 1, 2, 3 when the first is less than, equal to or greater than the second.
pub fn compare(a: &str, b: &str, case_sensitive: bool) -> i64 {
    let order = if case_sensitive {
        a.cmp(b)
    } else {
        a.to_lowercase().cmp(&b.to_lowercase())
    };
    order as i64 + 2
}

/// The first position from `start` on that is not white space.
pub fn skip_white_space(text: &str, start: i64) -> i64 {
    let from = (start.max(1) - 1) as usize;
    let bytes = text.as_bytes().get(from..).unwrap_or(&[]);
    let blanks = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
    (from + blanks + 1) as i64
}

/// The next position and the number there; without a number the next position is `start`.
pub fn scan_real(text: &str, start: i64, unsigned: bool) -> (i64, f64) {
    let (begin, rest) = after_blanks(text, start);
    let length = number_length(rest, unsigned, true);
    match rest.get(..length).and_then(|s| s.parse::<f64>().ok()) {
        Some(value) if length > 0 => ((begin + length) as i64, value),
        _ => (start, 0.0),
    }
}

/// The next position and the whole number there; without one, or where a real number stands, the next position is `start`.
pub fn scan_integer(text: &str, start: i64, unsigned: bool) -> (i64, i64) {
    let (begin, rest) = after_blanks(text, start);
    let length = number_length(rest, unsigned, false);
    let next = rest.as_bytes().get(length);
    if matches!(next, Some(b'.' | b'e' | b'E')) {
        return (start, 0);
    }
    match rest.get(..length).and_then(|s| s.parse::<i64>().ok()) {
        Some(value) if length > 0 => ((begin + length) as i64, value),
        _ => (start, 0),
    }
}

/// The next position and the contents of the string literal there.
pub fn scan_string(text: &str, start: i64) -> (i64, String) {
    let (begin, rest) = after_blanks(text, start);
    let Some(inner) = rest.strip_prefix('"') else {
        return (start, String::new());
    };
    let mut escaped = false;
    for (at, c) in inner.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return ((begin + at + 2) as i64, inner[..at].to_string()),
            _ => {}
        }
    }
    (start, String::new())
}

/// The next position and the identifier there.
pub fn scan_identifier(text: &str, start: i64) -> (i64, String) {
    let (begin, rest) = after_blanks(text, start);
    let starts = rest.starts_with(|c: char| c.is_ascii_alphabetic());
    let length = rest
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
        .count();
    match starts {
        true => ((begin + length) as i64, rest[..length].to_string()),
        false => (start, String::new()),
    }
}

/// The hash of a string by Jenkins (*Dr. Dobb's Journal*, September 1997), as a signed number of 32 bits.
pub fn hash(text: &str) -> i64 {
    let bytes = text.as_bytes();
    let word = |chunk: &[u8], k: usize| {
        (0..4).fold(0u32, |w, b| {
            w | (chunk.get(k + b).copied().unwrap_or(0) as u32) << (8 * b)
        })
    };
    let (mut i, mut j, mut h) = (0x9e37_79b9_u32, 0x9e37_79b9_u32, 0xfeed_beef_u32);
    let mut rest = bytes;
    while rest.len() >= 12 {
        i = i.wrapping_add(word(rest, 0));
        j = j.wrapping_add(word(rest, 4));
        h = h.wrapping_add(word(rest, 8));
        mix(&mut i, &mut j, &mut h);
        rest = &rest[12..];
    }
    h = h.wrapping_add(bytes.len() as u32);
    i = i.wrapping_add(word(rest, 0));
    j = j.wrapping_add(word(rest, 4));
    // The lowest byte of the third word is the length.
    h = h.wrapping_add(word(rest, 8) << 8);
    mix(&mut i, &mut j, &mut h);
    h as i32 as i64
}

fn mix(a: &mut u32, b: &mut u32, c: &mut u32) {
    for (right, left, last) in [(13, 8, 13), (12, 16, 5), (3, 10, 15)] {
        *a = a.wrapping_sub(*b).wrapping_sub(*c) ^ (*c >> right);
        *b = b.wrapping_sub(*c).wrapping_sub(*a) ^ (*a << left);
        *c = c.wrapping_sub(*a).wrapping_sub(*b) ^ (*b >> last);
    }
}

/// The position behind white space, and the text from there.
fn after_blanks(text: &str, start: i64) -> (usize, &str) {
    let begin = skip_white_space(text, start) as usize;
    (begin, text.get(begin - 1..).unwrap_or(""))
}

/// Bytes of the number at the beginning of a text.
fn number_length(text: &str, unsigned: bool, real: bool) -> usize {
    let b = text.as_bytes();
    let digits = |from: usize| {
        b[from.min(b.len())..]
            .iter()
            .take_while(|c| c.is_ascii_digit())
            .count()
    };
    let mut at = usize::from(!unsigned && matches!(b.first(), Some(b'+' | b'-')));
    let whole = digits(at);
    at += whole;
    let mut fraction = 0;
    if real && b.get(at) == Some(&b'.') {
        fraction = digits(at + 1);
        at += 1 + fraction;
    }
    if whole + fraction == 0 {
        return 0;
    }
    if real && matches!(b.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(b.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    at
}
