//! Pictures of trajectories: on the terminal, as SVG, as PNG, and as a page to zoom in.
//!
//! A [`Plot`] is a title and some [`Curve`]s over a common horizontal axis. Curves of the same unit share a panel; panels
//! are stacked, so that no axis ever carries two units. All pictures come from the same panels, ticks and
//! colours. A million samples per curve are fine: what a pixel column cannot show apart is reduced to
//! its extremes, which looks the same (the module `decimate`).

mod decimate;
mod font;
mod grid;
mod html;
mod raster;
mod scene;
mod svg;
mod terminal;
mod ticks;
mod unit;

use std::borrow::Cow;

use crate::{ResultError, ResultSet, SignalKind};

pub use terminal::TerminalOptions;
pub use unit::pretty_unit;

/// Colours of the curves, in order; told apart in grey and by most colour-blind people.
pub const PALETTE: [[u8; 3]; 8] = [
    [0x1f, 0x6f, 0xb4], // blue
    [0xd9, 0x5f, 0x02], // orange
    [0x1b, 0x8a, 0x5a], // green
    [0xb8, 0x2e, 0x6a], // magenta
    [0x6b, 0x4f, 0xc4], // violet
    [0x8a, 0x6a, 0x14], // ochre
    [0x0f, 0x8f, 0xa8], // teal
    [0x55, 0x5b, 0x63], // grey
];

/// One line of a plot.
#[derive(Debug, Clone)]
pub struct Curve<'d> {
    /// Name in the legend.
    pub label: String,
    /// Unit in Modelica notation; curves of equal unit share a panel.
    pub unit: String,
    /// Booleans get an axis of two ticks and a panel of their own.
    pub kind: SignalKind,
    /// Horizontal positions, ascending; a repeated one is a jump.
    pub x: Cow<'d, [f64]>,
    /// Values; NaN leaves a gap.
    pub y: Cow<'d, [f64]>,
}

/// A picture to be drawn.
#[derive(Debug, Clone)]
pub struct Plot<'d> {
    /// Shown above the panels; may be empty.
    pub title: String,
    /// Name of the horizontal axis.
    pub x_label: String,
    /// Unit of the horizontal axis.
    pub x_unit: String,
    /// The lines.
    pub curves: Vec<Curve<'d>>,
    /// Width in pixels (of CSS, where that differs from pixels of the device).
    pub width: f64,
    /// Height of the whole picture, or `None` to give every panel a pleasant height.
    pub height: Option<f64>,
}

impl<'d> Plot<'d> {
    /// An empty plot over time.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            x_label: "time".to_string(),
            x_unit: "s".to_string(),
            curves: Vec::new(),
            width: 900.0,
            height: None,
        }
    }

    /// The named signals of a result over time, titled with the model's name.
    pub fn of_signals(
        result: &'d ResultSet,
        names: &[impl AsRef<str>],
    ) -> Result<Self, ResultError> {
        let mut plot = Self::new(result.info().model.clone());
        for name in names {
            let y = result.require(name.as_ref())?;
            let signal = result.find(name.as_ref());
            plot.curves.push(Curve {
                label: signal.map_or("time", |s| &s.name).to_string(),
                unit: signal.map_or("s", |s| &s.unit).to_string(),
                kind: signal.map_or(SignalKind::Real, |s| s.kind),
                x: Cow::Borrowed(result.time()),
                y,
            });
        }
        Ok(plot)
    }

    /// A picture in SVG 1.1.
    pub fn to_svg(&self) -> String {
        svg::write(&scene::layout(self))
    }

    /// The same picture as PNG; `scale` device pixels per pixel, 2 suits most screens.
    pub fn to_png(&self, scale: f64) -> Vec<u8> {
        raster::encode(&scene::layout(self), scale)
    }

    /// A page without external resources: zoom by wheel or by dragging, values under the pointer, curves switched in the legend.
    pub fn to_html(&self) -> String {
        html::write(self)
    }

    /// Lines of text for a terminal, each ended by a line break.
    pub fn to_terminal(&self, options: &TerminalOptions) -> String {
        terminal::draw(self, options)
    }

    /// The curves by panel, as positions: first by unit, Booleans apart, in order of first appearance.
    fn panels(&self) -> Vec<Vec<usize>> {
        let key = |c: &Curve<'_>| (c.kind == SignalKind::Boolean, c.unit.clone());
        let mut keys = Vec::new();
        let mut panels: Vec<Vec<usize>> = Vec::new();
        for (i, curve) in self.curves.iter().enumerate() {
            let wanted = key(curve);
            match keys.iter().position(|k| *k == wanted) {
                Some(p) => panels[p].push(i),
                None => {
                    keys.push(wanted);
                    panels.push(vec![i]);
                }
            }
        }
        panels
    }

    /// First and last horizontal position of all curves.
    fn x_range(&self) -> (f64, f64) {
        let all = self
            .curves
            .iter()
            .flat_map(|c| [c.x.first(), c.x.last()])
            .flatten()
            .copied();
        ticks::span(all, false)
    }

    /// Range of the vertical axis of a panel, with some air.
    fn y_range(&self, panel: &[usize]) -> (f64, f64) {
        if self.is_switch(panel) {
            return (-0.15, 1.15);
        }
        ticks::span(
            panel.iter().flat_map(|&i| self.curves[i].y.iter().copied()),
            true,
        )
    }

    /// Whether a panel shows Booleans.
    fn is_switch(&self, panel: &[usize]) -> bool {
        !panel.is_empty()
            && panel
                .iter()
                .all(|&i| self.curves[i].kind == SignalKind::Boolean)
    }

    /// `time [s]`.
    fn x_title(&self) -> String {
        match self.x_unit.as_str() {
            "" => self.x_label.clone(),
            unit => format!("{} [{}]", self.x_label, pretty_unit(unit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn curve(label: &str, unit: &str, x: &[f64], y: &[f64]) -> Curve<'static> {
        Curve {
            label: label.to_string(),
            unit: unit.to_string(),
            kind: SignalKind::Real,
            x: Cow::Owned(x.to_vec()),
            y: Cow::Owned(y.to_vec()),
        }
    }

    #[test]
    fn curves_of_one_unit_share_a_panel() {
        let mut plot = Plot::new("");
        for (label, unit) in [("a", "m"), ("b", "m/s"), ("c", "m")] {
            plot.curves
                .push(curve(label, unit, &[0.0, 1.0], &[0.0, 1.0]));
        }
        let mut switch = curve("s", "m", &[0.0, 1.0], &[0.0, 1.0]);
        switch.kind = SignalKind::Boolean;
        plot.curves.push(switch);
        assert_eq!(plot.panels(), [vec![0, 2], vec![1], vec![3]]);
    }

    /// Every picture of plots that are hard to draw: nothing panics, nothing is NaN.
    #[test]
    fn degenerate_plots_are_drawn() {
        let nan = f64::NAN;
        for (x, y) in [
            (vec![], vec![]),
            (vec![1.0], vec![2.0]),
            (vec![0.0, 0.0], vec![1.0, 2.0]),
            (vec![0.0, 1.0], vec![nan, nan]),
            (vec![0.0, 1.0, 2.0], vec![5.0, nan, 5.0]),
            (vec![0.0, 1.0], vec![f64::INFINITY, 1.0]),
            (vec![0.0, 1.0], vec![-1.7e308, 1.7e308]),
            (vec![0.0, 1e-300], vec![1e-310, 0.0]),
            (vec![1e9, 1e9 + 1e-6], vec![1e12, 1e12]),
        ] {
            let mut plot = Plot::new("<&>");
            plot.curves.push(curve("x", "", &x, &y));
            let svg = plot.to_svg();
            assert!(
                !svg.contains("NaN") && !svg.contains("inf"),
                "{x:?} {y:?}\n{svg}"
            );
            assert!(svg.contains("&lt;&amp;&gt;"));
            assert!(plot.to_png(1.0).len() > 100);
            assert!(plot.to_html().contains("</html>"));
            for ascii in [false, true] {
                let text = plot.to_terminal(&TerminalOptions {
                    ascii,
                    ..TerminalOptions::default()
                });
                assert!(text.lines().count() > 5);
            }
        }
        assert!(Plot::new("empty").to_svg().contains("</svg>"));
        assert!(Plot::new("empty").to_png(1.0).len() > 100);
        assert!(
            !Plot::new("empty")
                .to_terminal(&TerminalOptions::default())
                .is_empty()
        );
    }
}
