//! Messages, tested on annotated source: in every file of `diagnostics/` a comment `// error: ...` (or `// warning: ...`) stands
//! under the line that the message points at. The name of the file is the code of its messages.
//!
//! With `BLESS=1` the comments are written anew from what is found; read them before you commit them.

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use acausal_base::Diagnostic;
use acausal_flatten::flatten;
use acausal_instance::class::Libraries;

#[test]
fn messages_stand_where_they_belong() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut files: Vec<_> = std::fs::read_dir(&directory)
        .expect("the directory")
        .map(|f| f.expect("a file").path())
        .collect();
    files.sort();
    assert!(files.len() > 30, "only {} files", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let code = file
            .file_stem()
            .and_then(|s| s.to_str())
            .expect("a name")
            .to_string();
        let expected = annotations(&text);
        let (found, codes) = messages(&text);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, bless(&text, &found)).expect("to write");
        } else if found != expected {
            wrong.push(format!("{code}: expected {expected:#?}\nfound {found:#?}"));
        } else if codes.iter().any(|c| *c != code) {
            wrong.push(format!("{code}: the codes are {codes:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Line (from 1) to the messages at it.
type Found = BTreeMap<usize, Vec<String>>;

fn is_annotation(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("// ")?;
    (text.starts_with("error: ") || text.starts_with("warning: ")).then_some(text)
}

fn annotations(text: &str) -> Found {
    let mut out = Found::new();
    let mut line = 0;
    for (k, l) in text.lines().enumerate() {
        match is_annotation(l) {
            Some(message) => out.entry(line).or_default().push(message.to_string()),
            None => line = k + 1,
        }
    }
    out
}

fn messages(text: &str) -> (Found, Vec<&'static str>) {
    let mut libraries = Libraries::new();
    let classes = match libraries.load_text("test.mo", text) {
        Ok(classes) => classes,
        Err(messages) => return sorted(&libraries, messages),
    };
    let class = classes.last().expect("a class").clone();
    let messages = match flatten(&mut libraries, &class, &[]) {
        Ok((model, warnings)) => warnings.into_iter().chain(model.imbalance).collect(),
        Err(messages) => messages,
    };
    sorted(&libraries, messages)
}

fn sorted(libraries: &Libraries, messages: Vec<Diagnostic>) -> (Found, Vec<&'static str>) {
    let mut out = Found::new();
    let codes = messages.iter().map(|m| m.code).collect();
    for m in messages {
        let line = libraries
            .sources()
            .line_column(m.span())
            .map_or(0, |l| l.line as usize);
        out.entry(line)
            .or_default()
            .push(format!("{}: {}", m.severity.as_str(), m.message));
    }
    (out, codes)
}

fn bless(text: &str, found: &Found) -> String {
    let mut out = String::new();
    for (k, l) in text.lines().enumerate() {
        if is_annotation(l).is_some() {
            continue;
        }
        out.push_str(l);
        out.push('\n');
        let indent: String = l.chars().take_while(|c| *c == ' ').collect();
        for m in found.get(&(k + 1)).into_iter().flatten() {
            out.push_str(&format!("{indent}// {m}\n"));
        }
    }
    out
}
