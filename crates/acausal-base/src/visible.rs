//! Text of others, made safe to show.
//!
//! Names, units, descriptions, messages and file names come from models that people exchange. A terminal obeys the control
//! characters in them: it changes its title or colours, or hides lines. Characters that reverse the direction of
//! writing make text look like other text. Both are shown as escapes, `\u{1b}`, at every border to a person: messages,
//! terminals, headers of result files, plots.

use std::borrow::Cow;

/// The text on one line, without anything that controls how it is shown.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |c| commands(c) || matches!(c, '\n' | '\t'))
}

/// The same for a text of several lines: line ends and tabs stay.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, commands)
}

fn escaped(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' | '\t' | '\r' if hidden(c) => out.extend(c.escape_default()),
            c if hidden(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Whether a character is a command to a terminal and not a sign, line ends and tabs aside: control characters (C0, DEL, C1), and
/// those that change the direction of what follows (Unicode annex 9).
pub fn commands(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_become_signs() {
        let table = [
            ("plain, Ω and 温度", "plain, Ω and 温度"),
            ("a\u{1b}]0;title\u{7}b", "a\\u{1b}]0;title\\u{7}b"),
            ("csi \u{9b}31m, del \u{7f}", "csi \\u{9b}31m, del \\u{7f}"),
            ("two\nlines\tand\r", "two\\nlines\\tand\\r"),
            ("\u{202e}reversed", "\\u{202e}reversed"),
        ];
        for (text, expected) in table {
            assert_eq!(visible(text), expected);
        }
        assert_eq!(visible_lines("a\n\tb\u{1b}\r"), "a\n\tb\\u{1b}\\r");
        assert!(matches!(visible("usual"), Cow::Borrowed(_)));
    }
}
