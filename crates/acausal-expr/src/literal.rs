//! Names and literals as Modelica reads them.

/// A name as an identifier: in quotes unless it is one (MLS 3.6 §2.3.1).
pub fn identifier(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next();
    let plain = first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
    let inside = name.strip_prefix('\'').and_then(|n| n.strip_suffix('\''));
    let quoted = inside.is_some_and(|n| !n.replace("\\'", "").contains('\''));
    if plain || quoted {
        return name.to_string();
    }
    format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// A String literal (MLS 3.6 §2.4.4).
pub fn string_literal(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A Real literal that Modelica reads back as the same Real.
pub fn print_real(v: f64) -> String {
    let magnitude = v.abs();
    if magnitude != 0.0 && !(1e-5..1e16).contains(&magnitude) {
        return format!("{v:e}");
    }
    let text = format!("{v}");
    if text.contains('.') || !v.is_finite() {
        text
    } else {
        format!("{text}.0")
    }
}
