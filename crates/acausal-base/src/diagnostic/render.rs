//! Diagnostics for people: the source line, marks below it, notes and the hint.
//!
//! A mark is `^` at the primary place and `-` elsewhere. A place that spans several lines shows its
//! first and its last line. Tabs become [`TAB_WIDTH`] blanks and wide characters count two columns, so
//! that marks stand below what they mean; lines longer than [`MAX_COLUMNS`] are cut around the mark.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use super::{Diagnostic, Severity};
use crate::span::{FileId, SourceFile, SourceMap};
use crate::visible::{commands, visible, visible_lines};

/// Columns per tab in excerpts.
pub const TAB_WIDTH: usize = 4;

/// Longest excerpt of a line; generated models have lines of megabytes.
pub const MAX_COLUMNS: usize = 160;

const RESET: &str = "\x1b[0m";
const BOLD: &str = "\x1b[1m";
const BLUE: &str = "\x1b[1;34m";

impl Diagnostic {
    /// The message with excerpts of the source, ending in a line end. `colour` adds ANSI escapes.
    pub fn render(&self, sources: &SourceMap, colour: bool) -> String {
        let paint = Paint { colour };
        let strong = match self.severity {
            Severity::Error => "\x1b[1;31m",
            Severity::Warning => "\x1b[1;33m",
            Severity::Note => "\x1b[1;32m",
        };
        let mut out = String::new();
        let head = format!("{}[{}]", self.severity.as_str(), self.code);
        push(
            &mut out,
            format_args!(
                "{}{}\n",
                paint.wrap(strong, &head),
                paint.wrap(BOLD, &format!(": {}", visible_lines(&self.message)))
            ),
        );

        let files = self.marks_by_file(sources);
        let gutter = files
            .iter()
            .flat_map(|file| file.lines.keys())
            .map(|line| (line + 1).to_string().len())
            .max()
            .unwrap_or(1);
        let blank = " ".repeat(gutter);
        let bar = paint.wrap(BLUE, "|");
        for (position, file) in files.iter().enumerate() {
            let arrow = if position == 0 { "-->" } else { ":::" };
            let arrow = paint.wrap(BLUE, arrow);
            let at = file.source.line_column(file.start);
            push(
                &mut out,
                format_args!(
                    "{blank} {arrow} {}:{}:{}\n{blank}  {bar}\n",
                    visible(&file.source.name),
                    at.line,
                    at.column
                ),
            );
            let mut previous: Option<u32> = None;
            for (&line, marks) in &file.lines {
                if previous.is_some_and(|previous| line > previous + 1) {
                    push(
                        &mut out,
                        format_args!("{blank}{}\n", paint.wrap(BLUE, "...")),
                    );
                }
                previous = Some(line);
                let number = format!("{:>gutter$}", line + 1);
                let excerpt = Excerpt::new(file.source, line, marks);
                push(
                    &mut out,
                    format_args!(
                        " {} {bar} {}\n",
                        paint.wrap(BLUE, &number),
                        excerpt.text.trim_end()
                    ),
                );
                for mark in marks {
                    let (column, width) = excerpt.columns(&mark.range);
                    let sign = if mark.primary { "^" } else { "-" };
                    let colour = if mark.primary { strong } else { BLUE };
                    let mut signs = sign.repeat(width);
                    if !mark.text.is_empty() {
                        signs.push(' ');
                        signs.push_str(&visible(&mark.text));
                    }
                    push(
                        &mut out,
                        format_args!(
                            " {blank} {bar} {}{}\n",
                            " ".repeat(column),
                            paint.wrap(colour, &signs)
                        ),
                    );
                }
            }
        }
        let equals = paint.wrap(BLUE, "=");
        for label in &self.labels {
            if sources.get(label.span.file).is_none() && !label.text.is_empty() {
                push(
                    &mut out,
                    format_args!("{blank}  {equals} note: {}\n", visible(&label.text)),
                );
            }
        }
        for note in &self.notes {
            let note = visible_lines(note);
            push(&mut out, format_args!("{blank}  {equals} note: {note}\n"));
        }
        if let Some(hint) = &self.hint {
            let hint = visible_lines(hint);
            push(&mut out, format_args!("{blank}  {equals} hint: {hint}\n"));
        }
        out
    }

    /// Cuts the labels into marks of one line each; the file of the primary label comes first.
    fn marks_by_file<'map>(&self, sources: &'map SourceMap) -> Vec<FileMarks<'map>> {
        let mut files: Vec<FileMarks> = Vec::new();
        for label in &self.labels {
            let Some(source) = sources.get(label.span.file) else {
                continue;
            };
            let known = files.iter().position(|file| file.id == label.span.file);
            let known = known.unwrap_or_else(|| {
                files.push(FileMarks {
                    id: label.span.file,
                    source,
                    start: label.span.start,
                    lines: BTreeMap::new(),
                });
                files.len() - 1
            });
            let lines = &mut files[known].lines;
            let length = source.text.len() as u32;
            let start = label.span.start.min(length);
            let end = label.span.end.clamp(start, length);
            let first = source.line_index(start);
            // A span that ends with a line end does not reach into the next line.
            let last = source.line_index(end.saturating_sub(1).max(start));
            let mut add = |line: u32, range: Range<usize>, text: &str| {
                lines.entry(line).or_default().push(Mark {
                    range,
                    text: text.to_string(),
                    primary: label.primary,
                });
            };
            if first == last {
                add(first, start as usize..end as usize, &label.text);
            } else {
                add(
                    first,
                    start as usize..source.line_range(first).end,
                    "from here",
                );
                add(
                    last,
                    source.line_range(last).start..end as usize,
                    &label.text,
                );
            }
        }
        files
    }
}

/// The marks in one file, by line index.
struct FileMarks<'map> {
    id: FileId,
    source: &'map SourceFile,
    start: u32,
    lines: BTreeMap<u32, Vec<Mark>>,
}

/// A marked byte range inside one line.
struct Mark {
    range: Range<usize>,
    text: String,
    primary: bool,
}

/// A source line as it is shown: tabs expanded, control characters replaced, long lines cut.
struct Excerpt {
    text: String,
    /// Byte offset in the file and display column of each character shown, and of the end.
    columns: Vec<(usize, usize)>,
}

impl Excerpt {
    fn new(source: &SourceFile, line: u32, marks: &[Mark]) -> Excerpt {
        let range = source.line_range(line);
        let line = &source.text[range.clone()];
        // Begin so far before the first mark that it is in view.
        let first_mark = marks.iter().map(|mark| mark.range.start).min();
        let first_mark = first_mark
            .unwrap_or(range.start)
            .saturating_sub(range.start);
        let mut skip = if line.len() > MAX_COLUMNS {
            first_mark.saturating_sub(MAX_COLUMNS / 2)
        } else {
            0
        };
        while !line.is_char_boundary(skip) {
            skip -= 1;
        }
        let mut excerpt = Excerpt {
            text: String::new(),
            columns: Vec::new(),
        };
        let mut column = 0;
        if skip > 0 {
            excerpt.text.push_str("...");
            column = 3;
        }
        let mut end = range.start + skip;
        for (offset, character) in line[skip..].char_indices() {
            let offset = range.start + skip + offset;
            end = offset;
            if column >= MAX_COLUMNS {
                excerpt.columns.push((end, column));
                excerpt.text.push_str("...");
                return excerpt;
            }
            excerpt.columns.push((offset, column));
            match character {
                '\t' => {
                    let width = TAB_WIDTH - column % TAB_WIDTH;
                    excerpt.text.extend(std::iter::repeat_n(' ', width));
                    column += width;
                }
                control if commands(control) => {
                    excerpt.text.push('\u{fffd}');
                    column += 1;
                }
                other => {
                    excerpt.text.push(other);
                    column += display_width(other);
                }
            }
            end = offset + character.len_utf8();
        }
        excerpt.columns.push((end, column));
        excerpt
    }

    /// First column and width of a byte range; the width is at least one.
    fn columns(&self, range: &Range<usize>) -> (usize, usize) {
        let column = |offset: usize| {
            let next = self.columns.partition_point(|&(start, _)| start < offset);
            let found = self.columns.get(next).or(self.columns.last());
            found.map_or(0, |&(_, column)| column)
        };
        let start = column(range.start);
        (start, column(range.end).saturating_sub(start).max(1))
    }
}

/// Columns a terminal gives a character: none for combining marks, two for East Asian wide forms and
/// emoji (the blocks of Unicode annex 11 that occur in model texts), else one.
fn display_width(character: char) -> usize {
    match character as u32 {
        0x0300..=0x036f | 0x200b..=0x200f | 0xfe00..=0xfe0f | 0x20d0..=0x20ff => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

struct Paint {
    colour: bool,
}

impl Paint {
    fn wrap(&self, escape: &str, text: &str) -> String {
        if self.colour {
            format!("{escape}{text}{RESET}")
        } else {
            text.to_string()
        }
    }
}

fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Span;

    fn span_of(sources: &SourceMap, file: FileId, needle: &str) -> Span {
        let start = sources.get(file).unwrap().text.find(needle).unwrap() as u32;
        Span::new(file, start, start + needle.len() as u32)
    }

    #[test]
    fn marks_labels_notes_and_hint() {
        let mut sources = SourceMap::new();
        let file = sources.add_file("A.mo", "model A\n\tReal π = y;\n  Real y;\nend B;\n");
        let y = span_of(&sources, file, "y");
        let second = span_of(&sources, file, "Real y");
        let shown = Diagnostic::error("demo", y, "`y` is used too early")
            .label(y, "used here")
            .label(second, "declared here")
            .note("order matters in this example")
            .hint("swap the lines")
            .render(&sources, false);
        assert_eq!(
            shown,
            "\
error[demo]: `y` is used too early
  --> A.mo:2:11
   |
 2 |     Real π = y;
   |              ^ used here
 3 |   Real y;
   |   ------ declared here
   = note: order matters in this example
   = hint: swap the lines
"
        );
    }

    #[test]
    fn several_lines_wide_characters_and_end_of_file() {
        let mut sources = SourceMap::new();
        let file = sources.add_file("B.mo", "\"漢字\" x\n1\n2\nlast");
        let x = span_of(&sources, file, "x\n1\n2\nlast");
        let shown = Diagnostic::warning("demo", x, "long").render(&sources, false);
        assert_eq!(
            shown,
            "\
warning[demo]: long
  --> B.mo:1:6
   |
 1 | \"漢字\" x
   |        ^ from here
 ...
 4 | last
   | ^^^^
"
        );
        let end = Span::new(file, 9999, 10_000);
        let shown = Diagnostic::error("demo", end, "end").render(&sources, false);
        assert!(shown.contains(" 4 | last\n   |     ^\n"), "{shown}");
    }

    #[test]
    fn places_without_source_become_notes() {
        let shown = Diagnostic::error("demo", Span::NONE, "built-in")
            .label(Span::NONE, "from the library")
            .render(&SourceMap::new(), false);
        assert_eq!(
            shown,
            "error[demo]: built-in\n   = note: from the library\n"
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_mark() {
        let mut sources = SourceMap::new();
        let text = format!("{}x{}", "a".repeat(5000), "b".repeat(5000));
        let file = sources.add_file("L.mo", text);
        let x = span_of(&sources, file, "x");
        let shown = Diagnostic::error("demo", x, "long").render(&sources, false);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[3].len() < 200 && lines[3].contains('x'));
        assert_eq!(lines[3].find('x'), lines[4].find('^'));
    }

    #[test]
    fn colour_is_opt_in() {
        let shown = Diagnostic::error("demo", Span::NONE, "m").render(&SourceMap::new(), true);
        assert!(shown.starts_with("\x1b[1;31merror[demo]\x1b[0m"));
    }
}
