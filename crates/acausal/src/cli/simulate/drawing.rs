//! Which signals are drawn, and where to.

use std::io::IsTerminal;
use std::path::Path;

use acausal::Model;
use acausal_results::ResultSet;
use acausal_results::plot::{Plot, TerminalOptions};

use crate::cli::pending::PendingFile;

/// Elements drawn of an array that is named as a whole.
const ELEMENT_CURVES: usize = 5;
/// Pixels of a PNG per pixel of the drawing, for sharp pictures on today's screens.
const PNG_SCALE: f64 = 2.0;
/// Columns and lines of a plot on a terminal, at least and at most.
const TERMINAL_COLUMNS: (usize, usize) = (60, 120);
/// See [`TERMINAL_COLUMNS`].
const TERMINAL_LINES: (usize, usize) = (16, 24);

/// Splits at commas, but not inside of brackets: `a,b[1,2]` are two names.
pub fn signal_names(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut depth = 0usize;
    for c in list.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                names.push(std::mem::take(&mut name));
                continue;
            }
            _ => {}
        }
        name.push(c);
    }
    names.push(name);
    // Names of elements are written without blanks.
    names
        .iter()
        .map(|n| n.split_whitespace().collect::<String>())
        .filter(|n| !n.is_empty())
        .collect()
}

/// The name of an array stands for some of its elements, evenly spread.
pub fn elements(model: &Model, name: &str) -> Vec<String> {
    if name == "time" || model.has_signal(name) {
        return vec![name.to_string()];
    }
    let is_element = |n: &String| {
        n.strip_prefix(name).is_some_and(|rest| {
            rest.starts_with('[') && rest.find(']').is_some_and(|k| k + 1 == rest.len())
        })
    };
    let all: Vec<String> = model.signal_names().filter(is_element).collect();
    match all.len() {
        0 => vec![name.to_string()],
        n if n <= ELEMENT_CURVES => all,
        n => (0..ELEMENT_CURVES)
            .map(|k| all[k * (n - 1) / (ELEMENT_CURVES - 1)].clone())
            .collect(),
    }
}

/// Promises the plot file.
pub fn promise_plot(path: &Path) -> Result<PendingFile, String> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("svg" | "png" | "html") => {}
        _ => {
            return Err(format!(
                "a plot file ends in .svg, .png or .html, not {}",
                path.display()
            ));
        }
    }
    PendingFile::create(path)
        .map_err(|e| format!("the plot {} cannot be written: {e}", path.display()))
}

/// The curves of a result.
pub fn picture<'d>(result: &'d ResultSet, curves: &[String]) -> Result<Plot<'d>, String> {
    Plot::of_signals(result, curves).map_err(|e| e.to_string())
}

/// The content of a plot file.
pub fn render(path: &Path, plot: &Plot<'_>) -> Vec<u8> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("png") => plot.to_png(PNG_SCALE),
        Some("html") => plot.to_html().into_bytes(),
        _ => plot.to_svg().into_bytes(),
    }
}

/// As wide as the terminal within reason; colours only where they show.
pub fn terminal_options() -> TerminalOptions {
    let mut options = TerminalOptions::default();
    let stdout = console::Term::stdout();
    if std::io::stdout().is_terminal() {
        options.colour = std::env::var_os("NO_COLOR").is_none();
        if let Some((lines, columns)) = stdout.size_checked() {
            options.width = usize::from(columns).clamp(TERMINAL_COLUMNS.0, TERMINAL_COLUMNS.1);
            options.height = usize::from(lines)
                .saturating_sub(6)
                .clamp(TERMINAL_LINES.0, TERMINAL_LINES.1);
        }
    }
    options.ascii = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|v| std::env::var(v).ok().filter(|s| !s.is_empty()))
        .is_some_and(|locale| locale == "C" || locale == "POSIX");
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_matrix_elements_keep_their_comma() {
        assert_eq!(
            signal_names("a, b[1, 2],c.d[3],"),
            ["a", "b[1,2]", "c.d[3]"]
        );
        assert!(signal_names(" ,").is_empty());
    }
}
