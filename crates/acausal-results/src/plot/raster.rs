//! Paints a scene into pixels, anti-aliased, and encodes them as PNG.

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Mask, Paint, PathBuilder, Pixmap, Rect, Stroke, Transform,
};

use super::font::{self, Weight};
use super::scene::{Anchor, Colour, Frame, Scene, Shape};

/// Largest picture in pixels per side.
const LARGEST_SIDE: f64 = 16_384.0;

/// The scene as a PNG file.
pub(super) fn encode(scene: &Scene, scale: f64) -> Vec<u8> {
    let Some(canvas) = paint(scene, scale) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, canvas.width(), canvas.height());
    encoder.set_color(png::ColorType::Rgb);
    let written = encoder
        .write_header()
        .and_then(|mut w| w.write_image_data(&opaque(&canvas)));
    // Writing to a Vec cannot fail.
    debug_assert!(written.is_ok());
    out
}

/// Three bytes per pixel, row by row from the top: nothing on the page is transparent.
fn opaque(canvas: &Pixmap) -> Vec<u8> {
    let pixels = canvas.pixels().iter();
    pixels
        .flat_map(|p| [p.red(), p.green(), p.blue()])
        .collect()
}

/// `None` if there is no memory for the picture.
fn paint(scene: &Scene, scale: f64) -> Option<Pixmap> {
    let largest = scene.width.max(scene.height);
    let scale = if scale.is_finite() {
        scale.clamp(0.1, LARGEST_SIDE / largest)
    } else {
        1.0
    };
    let side = |length: f64| (length * scale).ceil().max(1.0) as u32;
    let mut canvas = Pixmap::new(side(scene.width), side(scene.height))?;
    canvas.fill(Color::WHITE);
    // The curves of a panel come one after the other.
    let mut clip: Option<(Frame, Mask)> = None;
    for shape in &scene.shapes {
        match shape {
            Shape::Line {
                points,
                colour,
                width,
                clip: frame,
            } => {
                if let Some(frame) = frame
                    && clip.as_ref().is_none_or(|c| c.0 != *frame)
                {
                    clip = Some((*frame, mask(&canvas, *frame, scale)?));
                }
                let mask = frame.and(clip.as_ref()).map(|c| &c.1);
                line(&mut canvas, points, (*colour, *width), scale, mask);
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
                let place = place(*at, text, (size * scale, *weight), *anchor, *upright, scale);
                if let Some(path) = font::outline(text, *weight) {
                    canvas.fill_path(&path, &solid(*colour), FillRule::Winding, place, None);
                }
            }
        }
    }
    Some(canvas)
}

fn solid([r, g, b]: Colour) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(r, g, b, 255);
    paint
}

/// The pixels of a frame.
fn mask(canvas: &Pixmap, f: Frame, scale: f64) -> Option<Mask> {
    let mut mask = Mask::new(canvas.width(), canvas.height())?;
    let scaled = |v: f64| (v * scale) as f32;
    let corner = (scaled(f.left).floor(), scaled(f.top).floor());
    let end = (
        scaled(f.left + f.width).ceil(),
        scaled(f.top + f.height).ceil(),
    );
    let frame = Rect::from_ltrb(corner.0, corner.1, end.0, end.1)?;
    let path = PathBuilder::from_rect(frame);
    mask.fill_path(&path, FillRule::Winding, false, Transform::identity());
    Some(mask)
}

fn line(
    canvas: &mut Pixmap,
    points: &[(f64, f64)],
    (colour, width): (Colour, f64),
    scale: f64,
    mask: Option<&Mask>,
) {
    let mut path = PathBuilder::new();
    for (k, &(x, y)) in points.iter().enumerate() {
        let (x, y) = ((x * scale) as f32, (y * scale) as f32);
        match k {
            0 => path.move_to(x, y),
            _ => path.line_to(x, y),
        }
    }
    let stroke = Stroke {
        width: (width * scale) as f32,
        line_cap: LineCap::Round,
        line_join: LineJoin::Round,
        ..Stroke::default()
    };
    if let Some(path) = path.finish() {
        canvas.stroke_path(&path, &solid(colour), &stroke, Transform::identity(), mask);
    }
}

/// Where the outline of a text goes, which begins at the origin, has the size one and y upwards.
fn place(
    at: (f64, f64),
    text: &str,
    (size, weight): (f64, Weight),
    anchor: Anchor,
    upright: bool,
    scale: f64,
) -> Transform {
    let length = font::width(text, weight) * size;
    let shift = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -0.5 * length,
        Anchor::End => -length,
    };
    let (x, y) = (at.0 * scale, at.1 * scale);
    let size = size as f32;
    // Baselines on whole pixels keep letters of a line alike.
    if upright {
        Transform::from_row(0.0, -size, -size, 0.0, x.round() as f32, (y - shift) as f32)
    } else {
        Transform::from_row(size, 0.0, 0.0, -size, (x + shift) as f32, y.round() as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: Colour = [0, 0, 0];

    fn page(shapes: Vec<Shape>) -> Pixmap {
        let scene = Scene {
            width: 60.0,
            height: 40.0,
            shapes,
        };
        paint(&scene, 1.0).unwrap()
    }

    /// Blackness summed over all pixels: the area that was painted.
    fn ink(image: &Pixmap) -> f64 {
        let green = image.pixels().iter().map(|p| p.green());
        green.map(|g| 1.0 - f64::from(g) / 255.0).sum()
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
        let split = page(vec![line(&split, 1.5, None)]);
        assert!((ink(&once) - ink(&split)).abs() < 0.01 * ink(&once));
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
        // Large letters have it to a thousandth.
        let large = Scene {
            width: 2000.0,
            height: 1000.0,
            shapes: vec![Shape::Text {
                at: (10.0, 700.0),
                text: "Hg8µ".to_string(),
                size: 500.0,
                weight: Weight::Regular,
                colour: BLACK,
                anchor: Anchor::Start,
                upright: false,
            }],
        };
        let unit = ink(&paint(&large, 1.0).unwrap()) / (500.0 * 500.0);
        for size in [9.0, 11.3, 16.0] {
            let area = unit * size * size;
            for upright in [false, true] {
                let found = ink(&page(vec![text("Hg8µ", size, upright)]));
                assert!((found - area).abs() < 0.05 * area, "{found} {area}");
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
        assert_eq!(opaque(&image).len(), 3 * 60 * 40);
        assert!(ink(&image) > 10.0);
    }

    #[test]
    fn pixels_can_be_read_back() {
        let scene = Scene {
            width: 60.0,
            height: 40.0,
            shapes: vec![line(&[(5.0, 5.0), (55.0, 35.0)], 3.0, None)],
        };
        let file = encode(&scene, 2.0);
        let mut reader = png::Decoder::new(std::io::Cursor::new(file))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height), (120, 80));
        assert_eq!(pixels, opaque(&paint(&scene, 2.0).unwrap()));
    }
}
