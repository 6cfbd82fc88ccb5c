//! The font of the pictures: widths of texts for the layout, outlines for the PNG.
//!
//! DejaVu Sans Condensed is compiled in, so that pictures look the same everywhere.

use std::sync::OnceLock;

use tiny_skia::{Path, PathBuilder, Point};
use ttf_parser::{Face, OutlineBuilder};

/// Text weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Regular,
    Bold,
}

/// The face of a weight; `None` only if the compiled-in file were damaged, and then text is left out.
fn face(weight: Weight) -> Option<&'static Face<'static>> {
    static REGULAR: OnceLock<Option<Face<'static>>> = OnceLock::new();
    static BOLD: OnceLock<Option<Face<'static>>> = OnceLock::new();
    match weight {
        Weight::Regular => {
            REGULAR.get_or_init(|| Face::parse(dejavu::sans_condensed::regular(), 0).ok())
        }
        Weight::Bold => BOLD.get_or_init(|| Face::parse(dejavu::sans_condensed::bold(), 0).ok()),
    }
    .as_ref()
}

/// Width of a text in units of its size.
pub(super) fn width(text: &str, weight: Weight) -> f64 {
    let Some(face) = face(weight) else {
        return 0.55 * text.chars().count() as f64;
    };
    let advance = |c: char| {
        let glyph = face.glyph_index(c).unwrap_or_default();
        f64::from(face.glyph_hor_advance(glyph).unwrap_or(0))
    };
    text.chars().map(advance).sum::<f64>() / f64::from(face.units_per_em())
}

/// Shortens a text in its middle until it is no wider than `limit` units of its size.
pub(super) fn shorten(text: &str, limit: f64, weight: Weight) -> String {
    if width(text, weight) <= limit {
        return text.to_string();
    }
    let chars: Vec<char> = text.chars().collect();
    let mut kept = chars.len();
    while kept > 2 {
        kept -= 1;
        let head: String = chars[..kept / 2].iter().collect();
        let tail: String = chars[chars.len() - (kept - kept / 2)..].iter().collect();
        let short = format!("{head}…{tail}");
        if width(&short, weight) <= limit {
            return short;
        }
    }
    "…".to_string()
}

/// The outlines of a text that begins at the origin, in units of its size, y upwards. `None` if there is nothing to see.
pub(super) fn outline(text: &str, weight: Weight) -> Option<Path> {
    let face = face(weight)?;
    let mut pen = Pen {
        scale: 1.0 / f32::from(face.units_per_em()),
        shift: 0.0,
        path: PathBuilder::new(),
    };
    for c in text.chars() {
        let glyph = face.glyph_index(c).unwrap_or_default();
        face.outline_glyph(glyph, &mut pen);
        pen.shift += f32::from(face.glyph_hor_advance(glyph).unwrap_or(0));
    }
    pen.path.finish()
}

struct Pen {
    scale: f32,
    /// Where the glyph begins, in units of the font.
    shift: f32,
    path: PathBuilder,
}

impl Pen {
    fn point(&self, x: f32, y: f32) -> Point {
        Point::from_xy((x + self.shift) * self.scale, y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let p = self.point(x, y);
        self.path.move_to(p.x, p.y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let p = self.point(x, y);
        self.path.line_to(p.x, p.y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (a, p) = (self.point(x1, y1), self.point(x, y));
        self.path.quad_to(a.x, a.y, p.x, p.y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (a, b, p) = (self.point(x1, y1), self.point(x2, y2), self.point(x, y));
        self.path.cubic_to(a.x, a.y, b.x, b.y, p.x, p.y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_labels_is_in_the_font() {
        let face = face(Weight::Regular).unwrap();
        for c in "abcXYZ019.,-−+[]()/·²³⁻¹°µΩ…<>'_#%".chars() {
            assert!(face.glyph_index(c).is_some(), "{c}");
        }
    }

    #[test]
    fn long_texts_are_shortened_in_the_middle() {
        let text = "system.plant.heatExchanger.pipe[12].medium.T";
        let short = shorten(text, 12.0, Weight::Regular);
        assert!(width(&short, Weight::Regular) <= 12.0);
        assert!(
            short.starts_with("sys") && short.ends_with(".T") && short.contains('…'),
            "{short}"
        );
    }
}
