//! Diagnostics for programs, one JSON object each.
//!
//! Written by hand: the format is small, and the crate stays free of dependencies.

use std::fmt::Write;

use super::Diagnostic;
use crate::span::SourceMap;

impl Diagnostic {
    /// One JSON object on one line:
    ///
    /// `{"severity", "code", "message", "labels": [{"file", "start": {"line", "column", "offset"},
    /// "end": {...}, "text", "primary"}], "notes": [...], "hint"}`
    ///
    /// Lines and columns count from one, columns in characters, offsets in bytes from zero. A label
    /// without a place has no `file`, `start` and `end`. `hint` is `null` if there is none.
    pub fn to_json(&self, sources: &SourceMap) -> String {
        let mut out = String::new();
        out.push_str("{\"severity\":");
        push_string(&mut out, self.severity.as_str());
        out.push_str(",\"code\":");
        push_string(&mut out, self.code);
        out.push_str(",\"message\":");
        push_string(&mut out, &self.message);
        out.push_str(",\"labels\":[");
        for (position, label) in self.labels.iter().enumerate() {
            out.push_str(if position > 0 { ",{" } else { "{" });
            if let Some(file) = sources.get(label.span.file) {
                out.push_str("\"file\":");
                push_string(&mut out, &file.name);
                for (key, offset) in [("start", label.span.start), ("end", label.span.end)] {
                    let place = file.line_column(offset);
                    push_format(
                        &mut out,
                        format_args!(
                            ",\"{key}\":{{\"line\":{},\"column\":{},\"offset\":{offset}}}",
                            place.line, place.column
                        ),
                    );
                }
                out.push(',');
            }
            out.push_str("\"text\":");
            push_string(&mut out, &label.text);
            push_format(&mut out, format_args!(",\"primary\":{}}}", label.primary));
        }
        out.push_str("],\"notes\":[");
        for (position, note) in self.notes.iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            push_string(&mut out, note);
        }
        out.push_str("],\"hint\":");
        match &self.hint {
            Some(hint) => push_string(&mut out, hint),
            None => out.push_str("null"),
        }
        out.push('}');
        out
    }
}

fn push_format(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(arguments);
}

fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if (control as u32) < 0x20 => {
                push_format(out, format_args!("\\u{:04x}", control as u32));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;

    #[test]
    fn one_object_with_places() {
        let mut sources = SourceMap::new();
        let file = sources.add_file("a\\b.mo", "model A\n x\nend A;");
        let span = Span::new(file, 9, 10);
        let json = Diagnostic::error("some-code", span, "say \"x\"")
            .label(span, "here")
            .label(Span::NONE, "built-in")
            .note("one\ttab")
            .to_json(&sources);
        assert_eq!(
            json,
            concat!(
                r#"{"severity":"error","code":"some-code","message":"say \"x\"","labels":["#,
                r#"{"file":"a\\b.mo","start":{"line":2,"column":2,"offset":9},"#,
                r#""end":{"line":2,"column":3,"offset":10},"text":"here","primary":true},"#,
                r#"{"text":"built-in","primary":false}],"notes":["one\ttab"],"hint":null}"#
            )
        );
    }
}
