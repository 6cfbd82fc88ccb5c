//! Lays a plot out as shapes on a page; SVG and PNG draw the same shapes.
//!
//! ```text
//! title
//! ── a  ── b                legend of the panel
//! ┌───────────────────┐
//! │ panel: grid, axes │     one panel per unit, axis label turned upright at the left
//! └───────────────────┘
//! 0      5       10         tick labels under the lowest panel only
//!       time [s]
//! ```

use super::decimate::decimate;
use super::font::{self, Weight};
use super::ticks::{Ticks, ticks};
use super::{PALETTE, Plot, pretty_unit};
use crate::number::tick_labels;

/// A colour of the page.
pub(super) type Colour = [u8; 3];

const INK: Colour = [0x1f, 0x24, 0x2b];
const MUTED: Colour = [0x57, 0x60, 0x6a];
const GRID: Colour = [0xe6, 0xe9, 0xed];
const FRAME: Colour = [0xb4, 0xbb, 0xc4];
const ZERO: Colour = [0xc6, 0xcc, 0xd3];

const TITLE_SIZE: f64 = 15.0;
const LABEL_SIZE: f64 = 12.0;
const TICK_SIZE: f64 = 11.0;
const LEGEND_LINE: f64 = 18.0;
const SAMPLE: f64 = 20.0;
const EDGE: f64 = 16.0;
const CURVE_WIDTH: f64 = 1.6;
/// Height of a panel unless the plot prescribes one, by the number of panels.
const PANEL_HEIGHTS: [f64; 3] = [360.0, 220.0, 160.0];
const LEAST_PANEL: f64 = 40.0;
/// Height of a Boolean panel relative to the others.
const SWITCH_SHARE: f64 = 0.45;

/// Where a text is anchored horizontally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A rectangle: left, top, width, height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

/// Something to draw.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    /// A polyline, cut off at `clip`.
    Line {
        points: Vec<(f64, f64)>,
        colour: Colour,
        width: f64,
        clip: Option<Frame>,
    },
    Text {
        at: (f64, f64),
        text: String,
        size: f64,
        weight: Weight,
        colour: Colour,
        anchor: Anchor,
        /// Turned by 90 degrees to read upwards.
        upright: bool,
    },
}

/// A page of shapes on white.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
}

/// A panel before its place is known.
struct Panel {
    curves: Vec<usize>,
    y_range: (f64, f64),
    /// Height relative to an ordinary panel.
    share: f64,
    legend: Vec<Vec<Entry>>,
}

struct Entry {
    curve: usize,
    text: String,
    left: f64,
}

pub(super) fn layout(plot: &Plot<'_>) -> Scene {
    let width = plot.width.clamp(200.0, 10_000.0);
    let mut panels = plot.panels();
    if panels.is_empty() {
        panels.push(Vec::new());
    }
    let title_height = if plot.title.is_empty() {
        0.0
    } else {
        TITLE_SIZE + 12.0
    };
    let below = 44.0;
    let count = panels.len();
    let default_height = PANEL_HEIGHTS[(count - 1).min(2)];

    // Legends need the width of the panels, which needs the tick labels, which need the height; heights are set first.
    let y_ranges: Vec<(f64, f64)> = panels.iter().map(|p| plot.y_range(p)).collect();
    let widest_tick = panels
        .iter()
        .zip(&y_ranges)
        .flat_map(|(p, r)| y_ticks(plot, p, *r, default_height))
        .map(|(_, label)| font::width(&label, Weight::Regular) * TICK_SIZE)
        .fold(0.0, f64::max);
    let units = plot.curves.iter().any(|c| !c.unit.is_empty());
    let left = EDGE + if units { LABEL_SIZE + 8.0 } else { 0.0 } + widest_tick + 8.0;
    let inner = (width - left - EDGE - 6.0).max(50.0);
    let panels: Vec<Panel> = panels
        .into_iter()
        .zip(y_ranges)
        .map(|(curves, y_range)| Panel {
            share: if plot.is_switch(&curves) {
                SWITCH_SHARE
            } else {
                1.0
            },
            legend: legend(plot, &curves, inner),
            curves,
            y_range,
        })
        .collect();
    let legends: f64 = panels
        .iter()
        .map(|p| p.legend.len() as f64 * LEGEND_LINE + 6.0)
        .sum();
    let gaps = 12.0 * (count as f64 - 1.0);
    let fixed = EDGE + title_height + legends + gaps + below;
    let shares: f64 = panels.iter().map(|p| p.share).sum();
    let panel_height = match plot.height {
        Some(height) => ((height - fixed) / shares).max(LEAST_PANEL),
        None => default_height,
    };

    let mut scene = Scene {
        width,
        height: fixed + panel_height * shares,
        shapes: Vec::new(),
    };
    let mut top = EDGE;
    if !plot.title.is_empty() {
        let title = font::shorten(
            &plot.title,
            (width - left - EDGE) / TITLE_SIZE,
            Weight::Bold,
        );
        scene.text(
            (left, top + TITLE_SIZE - 3.0),
            title,
            TITLE_SIZE,
            INK,
            Anchor::Start,
        );
        scene.embolden();
        top += title_height;
    }
    let x_range = plot.x_range();
    let x_ticks = ticks(x_range.0, x_range.1, (inner / 72.0) as usize);
    for (i, panel) in panels.iter().enumerate() {
        draw_legend(&mut scene, panel, left, top);
        top += panel.legend.len() as f64 * LEGEND_LINE + 6.0;
        let frame = Frame {
            left,
            top,
            width: inner,
            height: panel_height * panel.share,
        };
        draw_panel(&mut scene, plot, panel, frame, x_range, &x_ticks);
        top += frame.height;
        if i + 1 == count {
            draw_x_axis(&mut scene, plot, frame, x_range, &x_ticks);
        }
        top += 12.0;
    }
    scene
}

impl Scene {
    fn text(
        &mut self,
        at: (f64, f64),
        text: impl Into<String>,
        size: f64,
        colour: Colour,
        anchor: Anchor,
    ) {
        self.shapes.push(Shape::Text {
            at,
            text: text.into(),
            size,
            weight: Weight::Regular,
            colour,
            anchor,
            upright: false,
        });
    }

    /// Makes the last text bold.
    fn embolden(&mut self) {
        if let Some(Shape::Text { weight, .. }) = self.shapes.last_mut() {
            *weight = Weight::Bold;
        }
    }

    /// Turns the last text upright.
    fn turn(&mut self) {
        if let Some(Shape::Text { upright, .. }) = self.shapes.last_mut() {
            *upright = true;
        }
    }

    fn line(&mut self, points: Vec<(f64, f64)>, colour: Colour, width: f64) {
        self.shapes.push(Shape::Line {
            points,
            colour,
            width,
            clip: None,
        });
    }
}

/// Places the entries in as few lines as fit.
fn legend(plot: &Plot<'_>, curves: &[usize], width: f64) -> Vec<Vec<Entry>> {
    let mut lines: Vec<Vec<Entry>> = Vec::new();
    let mut left = f64::INFINITY;
    for &curve in curves {
        let limit = (width - SAMPLE - 6.0) / LABEL_SIZE;
        let text = font::shorten(&plot.curves[curve].label, limit, Weight::Regular);
        let entry_width = SAMPLE + 6.0 + font::width(&text, Weight::Regular) * LABEL_SIZE;
        if left + entry_width > width {
            lines.push(Vec::new());
            left = 0.0;
        }
        if let Some(line) = lines.last_mut() {
            line.push(Entry { curve, text, left });
        }
        left += entry_width + 18.0;
    }
    lines
}

fn draw_legend(scene: &mut Scene, panel: &Panel, left: f64, top: f64) {
    for (i, line) in panel.legend.iter().enumerate() {
        let baseline = top + LEGEND_LINE * i as f64 + LABEL_SIZE;
        for entry in line {
            let x = left + entry.left;
            let y = baseline - 0.33 * LABEL_SIZE;
            scene.line(vec![(x, y), (x + SAMPLE, y)], colour_of(entry.curve), 2.4);
            scene.text(
                (x + SAMPLE + 6.0, baseline),
                entry.text.clone(),
                LABEL_SIZE,
                INK,
                Anchor::Start,
            );
        }
    }
}

fn draw_panel(
    scene: &mut Scene,
    plot: &Plot<'_>,
    panel: &Panel,
    frame: Frame,
    x_range: (f64, f64),
    x_ticks: &Ticks,
) {
    let (bottom, right) = (frame.top + frame.height, frame.left + frame.width);
    let x_at = |x: f64| frame.left + (x - x_range.0) / (x_range.1 - x_range.0) * frame.width;
    let (y0, y1) = panel.y_range;
    let y_at = |y: f64| bottom - (y - y0) / (y1 - y0) * frame.height;
    for &x in &x_ticks.values {
        let x = crisp(x_at(x));
        scene.line(vec![(x, frame.top), (x, bottom)], GRID, 1.0);
    }
    for (value, label) in y_ticks(plot, &panel.curves, panel.y_range, frame.height) {
        let y = crisp(y_at(value));
        let colour = if value == 0.0 { ZERO } else { GRID };
        scene.line(vec![(frame.left, y), (right, y)], colour, 1.0);
        scene.text(
            (frame.left - 8.0, y + 0.36 * TICK_SIZE),
            label,
            TICK_SIZE,
            MUTED,
            Anchor::End,
        );
    }
    for &i in &panel.curves {
        let curve = &plot.curves[i];
        // Two buckets per pixel, because PNG is usually painted with two device pixels per pixel.
        for line in decimate(&curve.x, &curve.y, x_range, 2 * frame.width as usize) {
            let mut points: Vec<(f64, f64)> =
                line.into_iter().map(|(x, y)| (x_at(x), y_at(y))).collect();
            if let [(x, y)] = points[..] {
                // A single sample between gaps is a short dash, or nobody would see it.
                points = vec![(x - 1.5, y), (x + 1.5, y)];
            }
            scene.shapes.push(Shape::Line {
                points,
                colour: colour_of(i),
                width: CURVE_WIDTH,
                clip: Some(frame),
            });
        }
    }
    let (l, t, r, b) = (
        crisp(frame.left),
        crisp(frame.top),
        crisp(right),
        crisp(bottom),
    );
    scene.line(vec![(l, t), (r, t), (r, b), (l, b), (l, t)], FRAME, 1.0);

    let unit = panel
        .curves
        .first()
        .map_or("", |&i| plot.curves[i].unit.as_str());
    if !unit.is_empty() {
        let label = font::shorten(
            &format!("[{}]", pretty_unit(unit)),
            frame.height / LABEL_SIZE,
            Weight::Regular,
        );
        let at = (EDGE + LABEL_SIZE - 4.0, frame.top + 0.5 * frame.height);
        scene.text(at, label, LABEL_SIZE, INK, Anchor::Middle);
        scene.turn();
    }
}

fn draw_x_axis(
    scene: &mut Scene,
    plot: &Plot<'_>,
    frame: Frame,
    x_range: (f64, f64),
    x_ticks: &Ticks,
) {
    let bottom = frame.top + frame.height;
    let labels = tick_labels(&x_ticks.values, x_ticks.step);
    for (&value, label) in x_ticks.values.iter().zip(labels) {
        let x = crisp(frame.left + (value - x_range.0) / (x_range.1 - x_range.0) * frame.width);
        scene.line(vec![(x, bottom), (x, bottom + 4.0)], FRAME, 1.0);
        scene.text(
            (x, bottom + 6.0 + TICK_SIZE),
            label,
            TICK_SIZE,
            MUTED,
            Anchor::Middle,
        );
    }
    let at = (frame.left + 0.5 * frame.width, bottom + 36.0);
    scene.text(at, plot.x_title(), LABEL_SIZE, INK, Anchor::Middle);
}

/// Ticks of a panel with their labels.
fn y_ticks(
    plot: &Plot<'_>,
    curves: &[usize],
    range: (f64, f64),
    height: f64,
) -> Vec<(f64, String)> {
    if plot.is_switch(curves) {
        return vec![(0.0, "false".to_string()), (1.0, "true".to_string())];
    }
    let ticks = ticks(range.0, range.1, (height / 34.0).max(2.0) as usize);
    let labels = tick_labels(&ticks.values, ticks.step);
    ticks.values.into_iter().zip(labels).collect()
}

pub(super) fn colour_of(curve: usize) -> Colour {
    PALETTE[curve % PALETTE.len()]
}

/// Moves a line of width one onto whole pixels.
fn crisp(v: f64) -> f64 {
    v.floor() + 0.5
}
