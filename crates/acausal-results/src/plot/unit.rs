//! Units as people write them.

/// Turns Modelica's unit notation (MLS 3.6 §19.1) into common typography.
///
/// ```
/// use acausal_results::plot::pretty_unit;
/// assert_eq!(pretty_unit("kg.m2/s2"), "kg·m²/s²");
/// assert_eq!(pretty_unit("Ohm"), "Ω");
/// assert_eq!(pretty_unit("W/(m2.K)"), "W/(m²·K)");
/// assert_eq!(pretty_unit("s-1"), "s⁻¹");
/// ```
pub fn pretty_unit(unit: &str) -> String {
    let mut out = String::new();
    let mut symbol = String::new();
    for c in unit.chars() {
        if c.is_alphabetic() || c == '%' || c == '\'' {
            symbol.push(c);
            continue;
        }
        // A number is an exponent after a symbol, a factor elsewhere.
        let exponent = !symbol.is_empty() || out.ends_with(is_superscript);
        push_symbol(&mut out, &symbol);
        symbol.clear();
        match c {
            '.' => out.push('·'),
            '-' if exponent => out.push('⁻'),
            digit @ '0'..='9' if exponent => out.push(superscript(digit)),
            '*' => out.push('·'),
            other => out.push(other),
        }
    }
    push_symbol(&mut out, &symbol);
    out
}

fn push_symbol(out: &mut String, symbol: &str) {
    let known = match symbol {
        "Ohm" => "Ω",
        "kOhm" => "kΩ",
        "MOhm" => "MΩ",
        "degC" => "°C",
        "degF" => "°F",
        "deg" => "°",
        other => other,
    };
    match known.strip_prefix('u') {
        // Modelica writes micro as u; no unit of its own begins with it.
        Some(rest) if !rest.is_empty() => {
            out.push('µ');
            out.push_str(rest);
        }
        _ => out.push_str(known),
    }
}

fn superscript(digit: char) -> char {
    match digit {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    }
}

fn is_superscript(c: char) -> bool {
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁻".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        for (unit, pretty) in [
            ("", ""),
            ("1", "1"),
            ("rad/s", "rad/s"),
            ("m10", "m¹⁰"),
            ("degC", "°C"),
            ("uF", "µF"),
            ("N.m.s/rad", "N·m·s/rad"),
            ("1/min", "1/min"),
        ] {
            assert_eq!(pretty_unit(unit), pretty);
        }
    }
}
