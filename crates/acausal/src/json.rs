//! Diagnostics for programs, one JSON object each.

use acausal_base::{Diagnostic, Label, SourceMap};
use serde_json::{Value, json};

/// `{"severity", "code", "message", "labels": [{"file", "start": {"line", "column", "offset"}, "end": {...}, "text", "primary"}], "notes": [...], "hint"}`
///
/// Lines and columns count from one, columns in characters, offsets in bytes from zero. A label without a place has no `file`, `start` and `end`. `hint` is `null` if
/// there is none.
pub fn diagnostic_json(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let labels: Vec<Value> = (diagnostic.labels.iter())
        .map(|label| label_json(label, sources))
        .collect();
    json!({
        "severity": diagnostic.severity.as_str(),
        "code": diagnostic.code,
        "message": diagnostic.message,
        "labels": labels,
        "notes": diagnostic.notes,
        "hint": diagnostic.hint,
    })
}

fn label_json(label: &Label, sources: &SourceMap) -> Value {
    let mut object = json!({ "text": label.text, "primary": label.primary });
    if let Some(file) = sources.get(label.span.file) {
        object["file"] = (&*file.name).into();
        for (key, offset) in [("start", label.span.start), ("end", label.span.end)] {
            let place = file.line_column(offset);
            object[key] = json!({ "line": place.line, "column": place.column, "offset": offset });
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use acausal_base::Span;

    #[test]
    fn one_object_with_places() {
        let mut sources = SourceMap::new();
        let file = sources.add_file("a\\b.mo", "model A\n x\nend A;");
        let span = Span::new(file, 9, 10);
        let diagnostic = Diagnostic::error("some-code", span, "say \"x\"")
            .label(span, "here")
            .label(Span::NONE, "built-in")
            .note("one\ttab");
        assert_eq!(
            diagnostic_json(&diagnostic, &sources),
            json!({
                "severity": "error",
                "code": "some-code",
                "message": "say \"x\"",
                "labels": [
                    {
                        "file": "a\\b.mo",
                        "start": { "line": 2, "column": 2, "offset": 9 },
                        "end": { "line": 2, "column": 3, "offset": 10 },
                        "text": "here",
                        "primary": true,
                    },
                    { "text": "built-in", "primary": false },
                ],
                "notes": ["one\ttab"],
                "hint": null,
            })
        );
    }
}
