//! Paints a scene into pixels, anti-aliased.
//!
//! Both kinds of shape become a *coverage* per pixel, 0 to 1, which then mixes the colour in:
//! - a line covers a pixel by `half width + 1/2 - distance to the line`, clamped; of its segments the nearest counts, so joints are round
//!   and nowhere doubled;
//! - a text covers a pixel by the area of its outline inside. Each piece of the outline adds its signed
//!   area to the pixels it crosses, and a running sum along the row gives the inside (the accumulation method of
//!   font rasterisers).

use super::font::{self, Weight};
use super::scene::{Anchor, Colour, Frame, Scene, Shape};

/// Largest picture in pixels per side.
const LARGEST_SIDE: f64 = 16_384.0;

/// An opaque picture, three bytes per pixel, row by row from the top.
pub(super) struct Image {
    pub width: usize,
    pub height: usize,
    pub rgb: Vec<u8>,
}

pub(super) fn paint(scene: &Scene, scale: f64) -> Image {
    let largest = scene.width.max(scene.height);
    let scale = if scale.is_finite() {
        scale.clamp(0.1, LARGEST_SIDE / largest)
    } else {
        1.0
    };
    let width = (scene.width * scale).ceil().max(1.0) as usize;
    let height = (scene.height * scale).ceil().max(1.0) as usize;
    let mut canvas = Canvas {
        width,
        height,
        rgb: vec![255; 3 * width * height],
        coverage: vec![0.0; width * height],
    };
    for shape in &scene.shapes {
        match shape {
            Shape::Line {
                points,
                colour,
                width,
                clip,
            } => {
                let points: Vec<(f64, f64)> =
                    points.iter().map(|p| (p.0 * scale, p.1 * scale)).collect();
                let clip = clip.map(|f| Frame {
                    left: f.left * scale,
                    top: f.top * scale,
                    width: f.width * scale,
                    height: f.height * scale,
                });
                canvas.line(&points, *colour, width * scale, clip);
            }
            Shape::Text {
                at,
                text,
                size,
                weight,
                colour,
                anchor,
                upright,
            } => {
                let at = (at.0 * scale, at.1 * scale);
                canvas.text(
                    at,
                    text,
                    (size * scale, *weight),
                    *colour,
                    *anchor,
                    *upright,
                );
            }
        }
    }
    Image {
        width,
        height,
        rgb: canvas.rgb,
    }
}

struct Canvas {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
    /// All zero between shapes.
    coverage: Vec<f32>,
}

/// Pixels `x0..x1` by `y0..y1`.
#[derive(Clone, Copy)]
struct Pixels {
    x0: usize,
    x1: usize,
    y0: usize,
    y1: usize,
}

impl Canvas {
    /// The pixels that a rectangle touches.
    fn pixels(&self, (left, top): (f64, f64), (right, bottom): (f64, f64)) -> Pixels {
        let clamp = |v: f64, limit: usize| v.clamp(0.0, limit as f64) as usize;
        Pixels {
            x0: clamp(left.floor(), self.width),
            x1: clamp(right.ceil(), self.width),
            y0: clamp(top.floor(), self.height),
            y1: clamp(bottom.ceil(), self.height),
        }
    }

    fn line(&mut self, points: &[(f64, f64)], colour: Colour, width: f64, clip: Option<Frame>) {
        let reach = 0.5 * width + 0.5;
        let limits = match clip {
            Some(f) => self.pixels((f.left, f.top), (f.left + f.width, f.top + f.height)),
            None => self.pixels((0.0, 0.0), (self.width as f64, self.height as f64)),
        };
        for pair in points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            self.segment(a, b, reach, limits);
        }
        let all = bounds(points.iter().copied());
        let touched = self.pixels(
            (all.0.0 - reach, all.0.1 - reach),
            (all.1.0 + reach, all.1.1 + reach),
        );
        self.mix(intersect(touched, limits), colour);
    }

    /// Raises the coverage near the segment.
    fn segment(&mut self, a: (f64, f64), b: (f64, f64), reach: f64, limits: Pixels) {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let squared = dx * dx + dy * dy;
        let (low, high) = bounds([a, b].into_iter());
        let box_ = self.pixels(
            (low.0 - reach, low.1 - reach),
            (high.0 + reach, high.1 + reach),
        );
        let Pixels { x0, x1, y0, y1 } = intersect(box_, limits);
        for py in y0..y1 {
            let y = py as f64 + 0.5;
            // Of a long oblique segment only a few pixels of each row matter.
            let (from, to) = if dy.abs() > 1e-9 && dx.abs() > 1e-9 {
                let slope = dx / dy;
                let centre = a.0 + (y - a.1) * slope;
                let half = reach * (1.0 + slope * slope).sqrt() + reach;
                let from = (centre - half).max(x0 as f64) as usize;
                let to = (centre + half + 1.0).clamp(0.0, x1 as f64) as usize;
                (from, to)
            } else {
                (x0, x1)
            };
            for px in from..to {
                let (ox, oy) = (px as f64 + 0.5 - a.0, y - a.1);
                let along = if squared > 0.0 {
                    ((ox * dx + oy * dy) / squared).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let distance = (ox - along * dx).hypot(oy - along * dy);
                let cover = (reach - distance).clamp(0.0, 1.0) as f32;
                let cell = &mut self.coverage[py * self.width + px];
                *cell = cell.max(cover);
            }
        }
    }

    fn text(
        &mut self,
        at: (f64, f64),
        text: &str,
        (size, weight): (f64, Weight),
        colour: Colour,
        anchor: Anchor,
        upright: bool,
    ) {
        let length = font::width(text, weight) * size;
        let shift = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -0.5 * length,
            Anchor::End => -length,
        };
        // Baselines on whole pixels keep letters of a line alike.
        let place = |(x, y): (f64, f64)| {
            let (x, y) = (x * size + shift, -y * size);
            if upright {
                (at.0.round() + y, at.1 - x)
            } else {
                (at.0 + x, at.1.round() + y)
            }
        };
        let pieces: Vec<[(f64, f64); 2]> = font::outline(text, weight)
            .iter()
            .map(|p| p.map(place))
            .collect();
        let (low, high) = bounds(pieces.iter().flatten().copied());
        if low.0 > high.0 {
            return;
        }
        // One pixel more to the right, where the running sum returns to zero.
        let area = self.pixels((low.0, low.1), (high.0 + 2.0, high.1 + 1.0));
        for [a, b] in pieces {
            self.edge(a, b, area);
        }
        for y in area.y0..area.y1 {
            let mut sum = 0.0;
            for cell in &mut self.coverage[y * self.width + area.x0..y * self.width + area.x1] {
                sum += *cell;
                *cell = sum.abs().min(1.0);
            }
        }
        self.mix(area, colour);
    }

    /// Adds the signed area to the right of an outline piece to the rows it crosses.
    fn edge(&mut self, a: (f64, f64), b: (f64, f64), area: Pixels) {
        if a.1 == b.1 {
            return;
        }
        let (sign, top, bottom) = if a.1 < b.1 { (1.0, a, b) } else { (-1.0, b, a) };
        let slope = (bottom.0 - top.0) / (bottom.1 - top.1);
        let first = (top.1.floor().max(area.y0 as f64)) as usize;
        for y in first..area.y1 {
            let (y_from, y_to) = (top.1.max(y as f64), bottom.1.min(y as f64 + 1.0));
            if y_to <= y_from {
                break;
            }
            let height = sign * (y_to - y_from);
            let x_from = top.0 + (y_from - top.1) * slope;
            let x_to = top.0 + (y_to - top.1) * slope;
            self.edge_in_row(y, height, x_from.min(x_to), x_from.max(x_to), area);
        }
    }

    /// A piece within one row, from `left` to `right`: the share of each pixel to the right of it, as differences.
    fn edge_in_row(&mut self, y: usize, height: f64, left: f64, right: f64, area: Pixels) {
        let row = y * self.width;
        let (low, high) = (area.x0 as f64, area.x1 as f64 - 1.0);
        let (left, right) = (left.clamp(low, high), right.clamp(low, high));
        // Covered share of the pixels up to x, if the piece were spread evenly between left and right.
        let inside = |x: f64| {
            let mean = |from: f64, to: f64| 0.5 * (from + to);
            if x <= left {
                0.0
            } else if x >= right {
                x - mean(left, right)
            } else {
                0.5 * (x - left) * (x - left) / (right - left)
            }
        };
        let mut covered = 0.0;
        let mut pixel = left.floor() as usize;
        loop {
            let share = inside(pixel as f64 + 1.0) - inside(pixel as f64);
            if pixel < self.width {
                self.coverage[row + pixel] += (height * (share - covered)) as f32;
            }
            covered = share;
            if pixel as f64 >= right || pixel + 1 >= area.x1 {
                break;
            }
            pixel += 1;
        }
        // All pixels further right are covered fully.
        if pixel + 1 < area.x1 {
            self.coverage[row + pixel + 1] += (height * (1.0 - covered)) as f32;
        }
    }

    /// Mixes the colour in by coverage and clears the coverage.
    fn mix(&mut self, area: Pixels, colour: Colour) {
        for y in area.y0..area.y1 {
            for x in area.x0..area.x1 {
                let at = y * self.width + x;
                let cover = std::mem::take(&mut self.coverage[at]);
                if cover > 0.0 {
                    for (channel, ink) in self.rgb[3 * at..3 * at + 3].iter_mut().zip(colour) {
                        let old = f32::from(*channel);
                        *channel = (old + cover * (f32::from(ink) - old)).round() as u8;
                    }
                }
            }
        }
    }
}

fn bounds(points: impl Iterator<Item = (f64, f64)>) -> ((f64, f64), (f64, f64)) {
    points.fold(
        (
            (f64::INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, f64::NEG_INFINITY),
        ),
        |(low, high), p| {
            (
                (low.0.min(p.0), low.1.min(p.1)),
                (high.0.max(p.0), high.1.max(p.1)),
            )
        },
    )
}

fn intersect(a: Pixels, b: Pixels) -> Pixels {
    Pixels {
        x0: a.x0.max(b.x0),
        x1: a.x1.min(b.x1).max(a.x0.max(b.x0)),
        y0: a.y0.max(b.y0),
        y1: a.y1.min(b.y1).max(a.y0.max(b.y0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: Colour = [0, 0, 0];

    fn page(shapes: Vec<Shape>) -> Image {
        let scene = Scene {
            width: 60.0,
            height: 40.0,
            shapes,
        };
        paint(&scene, 1.0)
    }

    /// Blackness summed over all pixels: the area that was painted.
    fn ink(image: &Image) -> f64 {
        let green = image.rgb.iter().skip(1).step_by(3);
        green.map(|&g| 1.0 - f64::from(g) / 255.0).sum()
    }

    fn line(points: &[(f64, f64)], width: f64, clip: Option<Frame>) -> Shape {
        Shape::Line {
            points: points.to_vec(),
            colour: BLACK,
            width,
            clip,
        }
    }

    fn text(text: &str, size: f64, upright: bool) -> Shape {
        Shape::Text {
            at: (30.0, 20.0),
            text: text.to_string(),
            size,
            weight: Weight::Regular,
            colour: BLACK,
            anchor: Anchor::Middle,
            upright,
        }
    }

    #[test]
    fn lines_cover_their_area() {
        // Length times width and two half discs at the ends; whole pixels, then oblique.
        let ends = std::f64::consts::FRAC_PI_4 * 4.0;
        let level = page(vec![line(&[(10.0, 20.0), (50.0, 20.0)], 2.0, None)]);
        assert!(
            (ink(&level) - (40.0 * 2.0 + ends)).abs() < 2.0,
            "{}",
            ink(&level)
        );
        let oblique = page(vec![line(&[(10.0, 5.0), (40.0, 35.0)], 2.0, None)]);
        let area = 2.0 * 30.0 * std::f64::consts::SQRT_2 + ends;
        assert!(
            (ink(&oblique) - area).abs() < 0.03 * area,
            "{} {area}",
            ink(&oblique)
        );
    }

    #[test]
    fn joints_are_not_painted_twice() {
        let once = page(vec![line(&[(10.0, 20.0), (50.0, 20.0)], 1.5, None)]);
        let split: Vec<(f64, f64)> = (0..=80)
            .map(|i| (10.0 + 0.5 * f64::from(i), 20.0))
            .collect();
        assert_eq!(once.rgb, page(vec![line(&split, 1.5, None)]).rgb);
    }

    #[test]
    fn clipped_lines_stay_inside() {
        let frame = Frame {
            left: 20.0,
            top: 10.0,
            width: 10.0,
            height: 20.0,
        };
        let image = page(vec![line(&[(-1e5, 20.0), (1e5, 20.0)], 2.0, Some(frame))]);
        assert!((ink(&image) - 20.0).abs() < 1e-6, "{}", ink(&image));
    }

    #[test]
    fn text_covers_the_area_of_its_outline() {
        // Twice the signed area of a closed outline is the sum of x dy - y dx.
        let outline = font::outline("Hg8µ", Weight::Regular);
        let doubled: f64 = outline.iter().map(|[a, b]| a.0 * b.1 - a.1 * b.0).sum();
        for size in [9.0, 11.3, 16.0] {
            let area = 0.5 * doubled.abs() * size * size;
            for upright in [false, true] {
                let found = ink(&page(vec![text("Hg8µ", size, upright)]));
                assert!((found - area).abs() < 0.02 * area, "{found} {area}");
            }
        }
    }

    #[test]
    fn nothing_is_painted_outside_the_page() {
        let image = page(vec![text(
            "a text that is much wider than the page",
            20.0,
            false,
        )]);
        assert_eq!(image.rgb.len(), 3 * 60 * 40);
        assert!(ink(&image) > 10.0);
    }
}
