//! One file per verb; what they share is here: what to load, and how messages reach people and programs.
//!
//! What a verb produces goes to standard output, messages go to standard error. With `--format json` everything,
//! messages included, is one JSON object on standard output, so that a program has one place to look.

pub mod answer;
pub mod check;
pub mod compare;
pub mod compile;
pub mod explain;
pub mod flatten;
pub mod interrupt;
pub mod limits;
pub mod parse;
mod pending;
mod progress;
pub mod simulate;
pub mod summary;
pub mod sweep;

use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use acausal::{Failure, Load};
use acausal_base::visible::{commands, visible_lines};
use acausal_base::{Diagnostic, Scale, SourceMap, Span};
use clap::Args;

use crate::command::{MessageFormat, exit};

/// Bytes at the start of a file in which a NUL shows that it is no text.
const BINARY_PROBE_BYTES: u64 = 8192;

/// What to load.
#[derive(Args, Debug)]
pub struct Target {
    /// A file (Circuit.mo, or compiled: Circuit.acm) or the name of a class in a library
    /// (Modelica.Blocks.Examples.PID_Controller)
    #[arg(value_name = "FILE.mo|FILE.acm|CLASS")]
    pub target: String,
    /// The class to take; without it the last one of the file
    #[arg(long, value_name = "CLASS")]
    pub model: Option<String>,
    /// A directory with libraries; may be repeated. MODELICAPATH is searched after these
    #[arg(long, value_name = "DIR")]
    pub library: Vec<PathBuf>,
    /// Set a parameter or start value, e.g. --set N=100 or --set body.v.start=2; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    #[command(flatten)]
    pub limits: limits::LimitOptions,
}

/// How the equations are brought into the form that is integrated.
#[derive(Args, Debug)]
#[command(next_help_heading = "Structure")]
pub struct Structure {
    /// Work on single elements instead of arrays
    #[arg(long)]
    pub scalarise: bool,
    /// Keep all constraints as equations and stabilise them instead of selecting states
    #[arg(long)]
    pub no_state_selection: bool,
    /// Leave every loop of algebraic unknowns to the solver as it is (slower; a check of tearing)
    #[arg(long)]
    pub no_tearing: bool,
    /// With --no-state-selection: a name for a derivative (v = der(x)) is no unknown of its own
    #[arg(long, requires = "no_state_selection")]
    pub derivative_names: bool,
    /// From which size on the same is done otherwise: small, large, NAME=NUMBER,.. (for developers; see ARCHITECTURE.md)
    #[arg(long, hide = true, value_name = "POLICY")]
    pub scale_policy: Option<Scale>,
    /// Variables that shall be states if possible, separated by commas; may be repeated
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub prefer_state: Vec<String>,
}

impl Structure {
    /// As the library wants it.
    pub fn options(&self) -> acausal_index1::Options {
        acausal_index1::Options {
            scalarise: self.scalarise,
            no_state_selection: self.no_state_selection,
            no_tearing: self.no_tearing,
            derivative_names: self.derivative_names,
            prefer_states: self.prefer_state.clone(),
            scale: self.scale_policy.unwrap_or_default(),
            ..Default::default()
        }
    }
}

impl Target {
    /// As the library wants it.
    pub fn load(&self) -> Load {
        Load {
            class: self.model.clone(),
            libraries: self.library.clone(),
            set: self.set.clone(),
            limits: self.limits.limits(),
            ..Load::default()
        }
    }

    /// The same with options for the structure.
    pub fn load_with(&self, structure: &Structure) -> Load {
        Load {
            structure: structure.options(),
            ..self.load()
        }
    }

    /// Refuses a compiled model where its text is needed.
    pub fn expect_text(&self) -> Result<(), Diagnostic> {
        if !acausal::is_stored(&self.target) {
            return Ok(());
        }
        let message = format!("{} is compiled: it has no text any more", self.target);
        Err(Diagnostic::error("compiled-model", Span::NONE, message)
            .hint("name the Modelica file that it was made from"))
    }

    /// Mistakes that are plain before anything is parsed.
    pub fn check(&self) -> Result<(), Diagnostic> {
        check_target(&self.target, &self.library)
    }
}

/// Mistakes that are plain before anything is parsed: no such file, a directory, no text.
pub fn check_target(target: &str, libraries: &[PathBuf]) -> Result<(), Diagnostic> {
    let complain = |code, message: String| Err(Diagnostic::error(code, Span::NONE, message));
    for dir in libraries {
        if !dir.is_dir() {
            return complain(
                "no-directory",
                format!("--library {} is not a directory", dir.display()),
            );
        }
    }
    let path = Path::new(target);
    if acausal::is_stored(target) {
        return match path.is_file() {
            true => Ok(()),
            false => complain(
                "no-file",
                format!("there is no file {}{}", target, similar_file(path)),
            ),
        };
    }
    if !target.ends_with(".mo") {
        if path.is_dir() {
            let d = Diagnostic::error(
                "is-directory",
                Span::NONE,
                format!("{} is a directory", target),
            );
            return Err(
                d.hint("name a file, or a class and its library: `Library.Class --library DIR`")
            );
        }
        if path.is_file() {
            let d = Diagnostic::error(
                "not-modelica",
                Span::NONE,
                format!("{} does not end in .mo", target),
            );
            return Err(d.hint("Modelica files have the extension .mo"));
        }
        return Ok(());
    }
    if path.is_dir() {
        return complain(
            "is-directory",
            format!("{} is a directory, not a file", target),
        );
    }
    match is_binary(path) {
        Ok(false) => Ok(()),
        Ok(true) => complain(
            "binary-file",
            format!("{} is a binary file, not Modelica text", target),
        ),
        Err(e) if e.kind() == ErrorKind::NotFound => complain(
            "no-file",
            format!("there is no file {}{}", target, similar_file(path)),
        ),
        Err(e) => complain("unreadable-file", format!("{} cannot be read: {e}", target)),
    }
}

/// True when a NUL byte stands near the beginning.
pub fn is_binary(path: &Path) -> std::io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?
        .take(BINARY_PROBE_BYTES)
        .read_to_end(&mut head)?;
    Ok(head.contains(&0))
}

/// `; did you mean x.mo?` when a file differs from the wanted one in case only.
fn similar_file(path: &Path) -> String {
    let directory = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let wanted = path.file_name().map(|n| n.to_string_lossy().to_lowercase());
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|n| Some(n.to_lowercase()) == wanted)
        .collect();
    names.sort();
    names
        .first()
        .map(|n| format!("; did you mean {}?", path.with_file_name(n).display()))
        .unwrap_or_default()
}

/// Writes text for people to standard output. What could command a terminal is shown as an escape.
pub fn out(text: &str) {
    write_out(&visible_lines(text));
}

/// Prints the JSON object, which is the only one.
pub fn out_json(object: &serde_json::Value) {
    if answer::first() {
        write_out(&format!("{}\n", json_text(object)));
    }
}

/// A JSON object as text. Control characters that JSON allows in strings are escaped as well, for those who look at it.
pub fn json_text(object: &serde_json::Value) -> String {
    let text = object.to_string();
    if !text.contains(commands) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match commands(c) {
            // All of them are below U+FFFF.
            true => out.push_str(&format!("\\u{:04x}", c as u32)),
            false => out.push(c),
        }
    }
    out
}

/// Writes to standard output as it is. A reader that has gone away, as in `acausal flatten M.mo | head`, ends the program
/// quietly.
pub fn write_out(text: &str) {
    let mut stdout = std::io::stdout().lock();
    if let Err(e) = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        if e.kind() == ErrorKind::BrokenPipe {
            std::process::exit(exit::FINE.into());
        }
        note(&format!(
            "error[output]: standard output cannot be written: {e}\n"
        ));
        std::process::exit(exit::FAILED.into());
    }
}

/// Writes text for people to standard error.
pub fn note(text: &str) {
    note_rendered(&visible_lines(text));
}

/// Writes to standard error what is safe to show. Nobody is left to tell when that fails.
pub fn note_rendered(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// `1 step`, `2 steps`.
pub fn count(n: impl Into<u64>, noun: &str) -> String {
    match n.into() {
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}

/// Prints messages for people on standard error.
pub fn print_diagnostics(diagnostics: &[Diagnostic], sources: &SourceMap) {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    for d in diagnostics {
        note_rendered(&d.render(sources, colour));
    }
}

/// Messages as JSON values.
pub fn json_diagnostics(diagnostics: &[Diagnostic], sources: &SourceMap) -> serde_json::Value {
    let json = |d: &Diagnostic| acausal::diagnostic_json(d, sources);
    serde_json::Value::Array(diagnostics.iter().map(json).collect())
}

/// Reports a failure in the wanted format; gives the exit code.
pub fn report(failure: &Failure, format: MessageFormat) -> u8 {
    report_with(failure, format, serde_json::Map::new())
}

/// The same with more members for the JSON object.
pub fn report_with(
    failure: &Failure,
    format: MessageFormat,
    more: serde_json::Map<String, serde_json::Value>,
) -> u8 {
    match format {
        MessageFormat::Human => {
            print_diagnostics(&failure.diagnostics, &failure.sources);
            let errors = failure.diagnostics.iter().filter(|d| d.is_error()).count();
            if errors > 1 {
                note(&format!("{errors} errors\n"));
            }
        }
        MessageFormat::Json => {
            let mut object = serde_json::Map::new();
            object.insert("ok".into(), false.into());
            object.extend(more);
            object.insert(
                "diagnostics".into(),
                json_diagnostics(&failure.diagnostics, &failure.sources),
            );
            out_json(&serde_json::Value::Object(object));
        }
    }
    if failure
        .diagnostics
        .iter()
        .filter(|d| d.is_error())
        .all(|d| is_about_options(d, &failure.sources))
    {
        exit::USAGE
    } else {
        exit::FAILED
    }
}

/// True when a message is about an option and not about the model: the text of a `--set`, a time, a class that does not exist.
fn is_about_options(d: &Diagnostic, sources: &SourceMap) -> bool {
    let about_set = matches!(d.code, "set-form" | "wrong-setting");
    match sources.get(d.span().file) {
        Some(file) => file.name.starts_with("--set") || about_set,
        None => {
            about_set
                || matches!(
                    d.code,
                    "settings" | "compiled-model" | "unknown-name" | "not-a-class"
                )
        }
    }
}

/// Reports wrong use.
pub fn misuse(diagnostic: Diagnostic, format: MessageFormat) -> u8 {
    report(
        &Failure {
            diagnostics: vec![diagnostic],
            sources: SourceMap::default(),
        },
        format,
    );
    exit::USAGE
}

/// The same for a plain sentence.
pub fn usage(code: &'static str, message: impl Into<String>, format: MessageFormat) -> u8 {
    misuse(Diagnostic::error(code, Span::NONE, message), format)
}

/// The last part of a class name is the stem of its default files.
pub fn file_stem(class: &str) -> String {
    let last = class.rsplit('.').next().unwrap_or(class).trim_matches('\'');
    last.chars()
        .map(|c| if c == '/' || c.is_control() { '_' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_stem_is_a_file_name() {
        assert_eq!(file_stem("Modelica.Blocks.PID"), "PID");
        assert_eq!(file_stem("'a/b'"), "a_b");
    }
}
