//! Diagnostics on annotated source: `tests/slips/*.mo`.
//!
//! A comment `// ^ code: message` expects a message whose place begins above the (first) caret, in the
//! last line that is not such a comment; `// EOF code: message` expects one at the end of the file.
//! Every message must be expected, so cascades show up as failures.

use std::fmt::Write;
use std::path::Path;

use acausal_base::SourceMap;
use acausal_syntax::parse_file;

#[test]
fn messages_stand_where_the_comments_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slips");
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    assert!(paths.len() >= 10, "the folder has not been found whole");
    let mut failures = String::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let expected = expectations(&text);
        let found = messages(&text);
        if expected != found {
            let name = path.file_name().unwrap().display();
            writeln!(failures, "== {name}").unwrap();
            for line in expected.iter().filter(|line| !found.contains(line)) {
                writeln!(failures, "missing:    {line:?}").unwrap();
            }
            for line in found.iter().filter(|line| !expected.contains(line)) {
                writeln!(failures, "unexpected: {line:?}").unwrap();
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

type Message = (usize, usize, String);

fn messages(text: &str) -> Vec<Message> {
    let mut sources = SourceMap::new();
    let file = sources.add_file("slip.mo", text);
    let mut messages = Vec::new();
    for diagnostic in parse_file(&sources, file).diagnostics {
        let place = sources.line_column(diagnostic.span()).unwrap();
        let rendered = diagnostic.render(&sources, false);
        assert!(rendered.contains(&format!("slip.mo:{}:{}", place.line, place.column)));
        messages.push((
            place.line as usize,
            place.column as usize,
            format!("{}: {}", diagnostic.code, diagnostic.message),
        ));
    }
    messages.sort();
    messages
}

fn expectations(text: &str) -> Vec<Message> {
    let mut expected = Vec::new();
    let mut source_line = 0;
    let end = text.lines().count() + 1;
    for (index, line) in text.lines().enumerate() {
        let comment = line.trim_start().strip_prefix("//").map(str::trim_start);
        match comment {
            Some(comment) if comment.starts_with('^') => {
                let column = line.chars().position(|character| character == '^').unwrap() + 1;
                let message = comment.trim_start_matches('^').trim();
                expected.push((source_line, column, message.to_string()));
            }
            Some(comment) if comment.starts_with("EOF ") => {
                expected.push((end, 1, comment["EOF ".len()..].to_string()));
            }
            _ => source_line = index + 1,
        }
    }
    expected.sort();
    expected
}
