//! The font of the pictures: widths of texts for the layout, outlines for the PNG.
//!
//! DejaVu Sans Condensed is compiled in, so that pictures look the same everywhere.

use std::sync::OnceLock;

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

/// Straight pieces of the outlines of a text that begins at the origin, in units of its size, y upwards.
pub(super) fn outline(text: &str, weight: Weight) -> Vec<[(f64, f64); 2]> {
    let Some(face) = face(weight) else {
        return Vec::new();
    };
    let mut pen = Pen {
        scale: 1.0 / f64::from(face.units_per_em()),
        shift: 0.0,
        start: (0.0, 0.0),
        at: (0.0, 0.0),
        pieces: Vec::new(),
    };
    for c in text.chars() {
        let glyph = face.glyph_index(c).unwrap_or_default();
        face.outline_glyph(glyph, &mut pen);
        pen.shift += f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * pen.scale;
    }
    pen.pieces
}

/// Flattens curves; at the sizes of labels eight pieces are smooth.
const PIECES: u32 = 8;

struct Pen {
    scale: f64,
    shift: f64,
    start: (f64, f64),
    at: (f64, f64),
    pieces: Vec<[(f64, f64); 2]>,
}

impl Pen {
    fn point(&self, x: f32, y: f32) -> (f64, f64) {
        (
            f64::from(x) * self.scale + self.shift,
            f64::from(y) * self.scale,
        )
    }

    fn to(&mut self, p: (f64, f64)) {
        self.pieces.push([self.at, p]);
        self.at = p;
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.at = self.point(x, y);
        self.start = self.at;
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.to(self.point(x, y));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (a, b, c) = (self.at, self.point(x1, y1), self.point(x, y));
        for i in 1..=PIECES {
            let t = f64::from(i) / f64::from(PIECES);
            let blend = |a: f64, b: f64, c: f64| {
                (1.0 - t) * (1.0 - t) * a + 2.0 * t * (1.0 - t) * b + t * t * c
            };
            self.to((blend(a.0, b.0, c.0), blend(a.1, b.1, c.1)));
        }
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (a, b, c, d) = (
            self.at,
            self.point(x1, y1),
            self.point(x2, y2),
            self.point(x, y),
        );
        for i in 1..=PIECES {
            let t = f64::from(i) / f64::from(PIECES);
            let s = 1.0 - t;
            let blend = |a, b, c, d| {
                s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d
            };
            self.to((blend(a.0, b.0, c.0, d.0), blend(a.1, b.1, c.1, d.1)));
        }
    }

    fn close(&mut self) {
        self.to(self.start);
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
