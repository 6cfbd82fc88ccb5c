//! Plots on a terminal, with Braille dots or in plain ASCII.
//!
//! A character cell is 2 by 4 Braille dots, so an 80 by 20 terminal shows some 140 by 70 points. Curves are told apart by colour, or, without colour,
//! by a letter that is set into the curve here and there. ASCII draws each curve with a letter of its own.

use std::fmt::Write;

use super::decimate::decimate;
use super::grid::{Grid, dots_per_cell, scaled};
use super::ticks::ticks;
use super::{Plot, pretty_unit};
use crate::number::tick_labels;

/// Size and style of a terminal plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalOptions {
    /// Columns of the whole plot.
    pub width: usize,
    /// Lines of the whole plot; more when there are more panels than fit.
    pub height: usize,
    /// Use ANSI colours.
    pub colour: bool,
    /// Use ASCII only.
    pub ascii: bool,
}

impl Default for TerminalOptions {
    fn default() -> Self {
        Self {
            width: 80,
            height: 20,
            colour: false,
            ascii: false,
        }
    }
}

/// ANSI 256-colour codes that resemble [`PALETTE`](super::PALETTE) on dark and light backgrounds.
const COLOURS: [u8; 8] = [33, 208, 35, 169, 99, 136, 37, 245];
/// Fewest lines of a panel.
const LEAST_LINES: usize = 4;
/// Columns between two letters set into the same curve.
const LETTER_SPACING: usize = 24;

pub(super) fn draw(plot: &Plot<'_>, options: &TerminalOptions) -> String {
    let mut panels = plot.panels();
    if panels.is_empty() {
        panels.push(Vec::new());
    }
    let width = options.width.max(30);
    let pen = Pen {
        options: *options,
        single: plot.curves.len() <= 1,
    };
    let legends: Vec<Vec<String>> = panels.iter().map(|p| pen.legend(plot, p, width)).collect();
    let overhead =
        usize::from(!plot.title.is_empty()) + legends.iter().map(Vec::len).sum::<usize>() + 3;
    // A Boolean needs few lines; the others share what is left.
    let booleans = panels.iter().filter(|p| plot.is_switch(p)).count();
    let others = (panels.len() - booleans).max(1);
    let left = options
        .height
        .saturating_sub(overhead + booleans * LEAST_LINES);
    let lines_of = |panel: &[usize]| {
        if plot.is_switch(panel) {
            LEAST_LINES
        } else {
            (left / others).max(LEAST_LINES)
        }
    };

    let y_ranges: Vec<(f64, f64)> = panels.iter().map(|p| plot.y_range(p)).collect();
    let labels: Vec<Vec<(usize, String)>> = panels
        .iter()
        .zip(&y_ranges)
        .map(|(p, r)| pen.y_labels(plot, p, *r, lines_of(p)))
        .collect();
    let margin = labels
        .iter()
        .flatten()
        .map(|(_, l)| l.chars().count())
        .max()
        .unwrap_or(0);
    let columns = width.saturating_sub(margin + 2).max(10);

    let mut out = String::new();
    if !plot.title.is_empty() {
        let indent = margin + 2;
        push(
            &mut out,
            format_args!(
                "{:indent$}{}\n",
                "",
                clip(&pen.plain(&plot.title), width - indent.min(width))
            ),
        );
    }
    let x_range = plot.x_range();
    for (((panel, range), labels), legend) in
        panels.iter().zip(&y_ranges).zip(&labels).zip(&legends)
    {
        for line in legend {
            push(
                &mut out,
                format_args!("{:indent$}{line}\n", "", indent = margin + 2),
            );
        }
        let lines = lines_of(panel);
        let grid = pen.grid(plot, panel, x_range, *range, (columns, lines));
        for row in 0..lines {
            let label = labels
                .iter()
                .find(|(r, _)| *r == row)
                .map_or("", |(_, l)| l);
            let axis = match (label.is_empty(), options.ascii) {
                (true, false) => '│',
                (false, false) => '┤',
                (true, true) => '|',
                (false, true) => '+',
            };
            push(&mut out, format_args!("{label:>margin$} {axis}"));
            pen.push_row(&mut out, &grid, row);
            out.push('\n');
        }
    }
    pen.x_axis(&mut out, plot, x_range, margin, columns);
    out
}

/// What a drawn character depends on.
struct Pen {
    options: TerminalOptions,
    single: bool,
}

impl Pen {
    /// ASCII has no typographic characters.
    fn plain(&self, text: &str) -> String {
        if !self.options.ascii {
            return text.to_string();
        }
        let replaced = text
            .replace('−', "-")
            .replace('·', ".")
            .replace('µ', "u")
            .replace('Ω', "Ohm")
            .replace('°', "deg ");
        replaced
            .chars()
            .map(|c| if c.is_ascii() { c } else { '?' })
            .collect()
    }

    fn letter(&self, curve: usize) -> char {
        if self.single && self.options.ascii {
            '*'
        } else {
            (b'A' + (curve % 26) as u8) as char
        }
    }

    fn coloured(&self, curve: usize, text: &str) -> String {
        if self.options.colour {
            format!("\x1b[38;5;{}m{text}\x1b[0m", COLOURS[curve % COLOURS.len()])
        } else {
            text.to_string()
        }
    }

    /// The names of a panel's curves with their unit, in as many lines as needed.
    fn legend(&self, plot: &Plot<'_>, panel: &[usize], width: usize) -> Vec<String> {
        let room = width.saturating_sub(12).max(12);
        let mut lines: Vec<(usize, String)> = Vec::new();
        for &i in panel {
            let curve = &plot.curves[i];
            let unit = match curve.unit.as_str() {
                "" => String::new(),
                // ASCII keeps Modelica's own spelling.
                unit if self.options.ascii => format!(" [{unit}]"),
                unit => format!(" [{}]", pretty_unit(unit)),
            };
            let sample = match (
                self.options.ascii || !self.options.colour,
                self.options.ascii,
            ) {
                (true, _) if !self.single || self.options.ascii => self.letter(i).to_string(),
                _ => "──".to_string(),
            };
            let text = clip(
                &self.plain(&format!("{}{unit}", curve.label)),
                room.saturating_sub(sample.chars().count() + 1),
            );
            let length = sample.chars().count() + 1 + text.chars().count();
            let entry = format!("{} {text}", self.coloured(i, &sample));
            match lines.last_mut() {
                Some((used, line)) if *used + 3 + length <= room => {
                    *used += 3 + length;
                    line.push_str("   ");
                    line.push_str(&entry);
                }
                _ => lines.push((length, entry)),
            }
        }
        lines.into_iter().map(|(_, line)| line).collect()
    }

    /// Labels of the vertical axis and the lines they stand at.
    fn y_labels(
        &self,
        plot: &Plot<'_>,
        panel: &[usize],
        (low, high): (f64, f64),
        lines: usize,
    ) -> Vec<(usize, String)> {
        let per_line = dots_per_cell(self.options.ascii).1;
        let row = |v: f64| {
            (scaled((high - v) / (high - low), lines * per_line).max(0) as usize / per_line)
                .min(lines - 1)
        };
        if plot.is_switch(panel) {
            return vec![
                (row(1.0), "true".to_string()),
                (row(0.0), "false".to_string()),
            ];
        }
        let ticks = ticks(low, high, (lines / 2).max(2));
        let texts = tick_labels(&ticks.values, ticks.step);
        let mut labels: Vec<(usize, String)> = ticks
            .values
            .iter()
            .zip(texts)
            .map(|(&v, text)| (row(v), self.plain(&text)))
            .collect();
        labels.dedup_by_key(|(row, _)| *row);
        labels
    }

    fn grid(
        &self,
        plot: &Plot<'_>,
        panel: &[usize],
        x_range: (f64, f64),
        y_range: (f64, f64),
        size: (usize, usize),
    ) -> Grid {
        let mut grid = Grid::new(size, self.options.ascii);
        let cell = dots_per_cell(self.options.ascii);
        let (dots_x, dots_y) = (size.0 * cell.0, size.1 * cell.1);
        for &i in panel {
            let curve = &plot.curves[i];
            let column = |x: f64| scaled((x - x_range.0) / (x_range.1 - x_range.0), dots_x);
            let row = |y: f64| scaled((y_range.1 - y) / (y_range.1 - y_range.0), dots_y);
            let mut top_of_column = vec![None; size.0];
            for line in decimate(&curve.x, &curve.y, x_range, dots_x) {
                let dots: Vec<(i64, i64)> =
                    line.iter().map(|&(x, y)| (column(x), row(y))).collect();
                for pair in dots.windows(2) {
                    grid.line(pair[0], pair[1], i, &mut top_of_column);
                }
                if let [dot] = dots[..] {
                    grid.line(dot, dot, i, &mut top_of_column);
                }
            }
            if !self.options.colour && !self.options.ascii && !self.single {
                let first = 3 + (i * 7) % LETTER_SPACING;
                for c in (first..size.0).step_by(LETTER_SPACING) {
                    if let Some(row) = top_of_column[c] {
                        grid.set_letter(row, c, self.letter(i));
                    }
                }
            }
        }
        grid
    }

    fn push_row(&self, out: &mut String, grid: &Grid, row: usize) {
        let mut colour = None;
        for column in 0..grid.used_columns(row) {
            let cell = grid.cell(row, column);
            let c = match (cell.dots, cell.letter) {
                (_, Some(letter)) => letter,
                (0, None) => ' ',
                (_, None) if self.options.ascii => self.letter(cell.curve),
                (dots, None) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or('?'),
            };
            let wanted = (self.options.colour && c != ' ').then_some(cell.curve);
            if wanted.is_some() && wanted != colour {
                push(
                    out,
                    format_args!("\x1b[38;5;{}m", COLOURS[cell.curve % COLOURS.len()]),
                );
                colour = wanted;
            }
            out.push(c);
        }
        if colour.is_some() {
            out.push_str("\x1b[0m");
        }
    }

    fn x_axis(
        &self,
        out: &mut String,
        plot: &Plot<'_>,
        (low, high): (f64, f64),
        margin: usize,
        columns: usize,
    ) {
        let ticks = ticks(low, high, (columns / 14).max(2));
        let (corner, flat, mark) = if self.options.ascii {
            ('+', '-', '+')
        } else {
            ('└', '─', '┬')
        };
        let mut axis = vec![flat; columns];
        let mut labels = vec![' '; margin + 2 + columns];
        let mut free = 0;
        let texts = tick_labels(&ticks.values, ticks.step);
        for (&value, text) in ticks.values.iter().zip(texts) {
            let c = ((value - low) / (high - low) * (columns as f64 - 1.0)).round() as usize;
            axis[c.min(columns - 1)] = mark;
            let text: Vec<char> = self.plain(&text).chars().collect();
            let start = (margin + 2 + c)
                .saturating_sub(text.len() / 2)
                .min(labels.len().saturating_sub(text.len()));
            if start >= free && start + text.len() <= labels.len() {
                labels[start..start + text.len()].copy_from_slice(&text);
                free = start + text.len() + 1;
            }
        }
        let axis: String = axis.into_iter().collect();
        push(out, format_args!("{:margin$} {corner}{axis}\n", ""));
        let labels: String = labels.into_iter().collect();
        push(out, format_args!("{}\n", labels.trim_end()));
        let title = self.plain(&plot.x_title());
        let indent = margin + 2 + columns.saturating_sub(title.chars().count()) / 2;
        push(out, format_args!("{:indent$}{title}\n", ""));
    }
}

/// The first `limit` characters, with an ellipsis when some are missing.
fn clip(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_string();
    }
    let dots = if text.is_ascii() { "..." } else { "…" };
    let kept = limit.saturating_sub(dots.chars().count());
    text.chars().take(kept).chain(dots.chars()).collect()
}

fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use super::super::tests::curve;
    use super::*;

    #[test]
    fn ascii_picture() {
        let mut plot = Plot::new("Ramp");
        plot.curves
            .push(curve("x", "N.m", &[0.0, 10.0], &[0.0, 10.0]));
        let text = plot.to_terminal(&TerminalOptions {
            width: 34,
            height: 12,
            colour: false,
            ascii: true,
        });
        let expected = [
            "    Ramp",
            "    * x [N.m]",
            "10 +                           ***",
            "   |                      *****",
            "   |                 *****",
            " 5 +             ****",
            "   |        *****",
            "   |   *****",
            " 0 +***",
            "   ++--------------+-------------+",
            "    0              5            10",
            "               time [s]",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn braille_dots_of_a_step() {
        let mut plot = Plot::new("");
        plot.curves
            .push(curve("x", "", &[0.0, 1.0, 1.0, 2.0], &[0.0, 0.0, 1.0, 1.0]));
        let text = plot.to_terminal(&TerminalOptions::default());
        let dots = text
            .chars()
            .filter(|c| ('\u{2801}'..='\u{28ff}').contains(c))
            .count();
        assert!(dots > 70, "{text}");
        assert!(text.lines().all(|l| l.chars().count() <= 80));
    }

    #[test]
    fn colours_are_closed_and_letters_need_no_colour() {
        let mut plot = Plot::new("");
        plot.curves.push(curve("a", "m", &[0.0, 1.0], &[0.0, 1.0]));
        plot.curves.push(curve("b", "m", &[0.0, 1.0], &[1.0, 0.0]));
        let coloured = plot.to_terminal(&TerminalOptions {
            colour: true,
            ..TerminalOptions::default()
        });
        assert_eq!(
            coloured
                .lines()
                .filter(|l| l.contains("38;5;") && !l.ends_with("m"))
                .count(),
            1,
            "the legend"
        );
        assert!(
            coloured
                .lines()
                .filter(|l| l.contains("38;5;"))
                .all(|l| l.contains("\x1b[0m"))
        );
        let plain = plot.to_terminal(&TerminalOptions::default());
        assert!(!plain.contains('\x1b'));
        assert!(plain.contains("A a [m]   B b [m]"), "{plain}");
        assert!(
            plain.matches('A').count() >= 3 && plain.matches('B').count() >= 3,
            "{plain}"
        );
    }
}
