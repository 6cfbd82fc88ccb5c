//! Writes a scene as SVG.

use std::fmt::Write;

use super::font::Weight;
use super::scene::{Anchor, Colour, Scene, Shape};

/// The complete document. Text stays text, so that it can be selected and edited.
pub(super) fn write(scene: &Scene) -> String {
    let (w, h) = (number(scene.width), number(scene.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"Inter, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans Condensed', sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    let mut clips = 0;
    let mut last_clip = None;
    for shape in &scene.shapes {
        match shape {
            Shape::Line {
                points,
                colour,
                width,
                clip,
            } => {
                let mut clip_attribute = String::new();
                if let Some(frame) = clip {
                    let corner = (number(frame.left), number(frame.top));
                    if last_clip.as_ref() != Some(&corner) {
                        clips += 1;
                        let size = (number(frame.width), number(frame.height));
                        push(
                            &mut out,
                            format_args!(
                                "<clipPath id=\"panel{clips}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n",
                                corner.0, corner.1, size.0, size.1
                            ),
                        );
                        last_clip = Some(corner);
                    }
                    clip_attribute =
                        format!(" clip-path=\"url(#panel{clips})\" stroke-linejoin=\"round\"");
                }
                push(
                    &mut out,
                    format_args!(
                        "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{clip_attribute} d=\"",
                        hex(*colour),
                        number(*width)
                    ),
                );
                for (i, &(x, y)) in points.iter().enumerate() {
                    push(
                        &mut out,
                        format_args!(
                            "{}{} {}",
                            if i == 0 { "M" } else { "L" },
                            number(x),
                            number(y)
                        ),
                    );
                }
                out.push_str("\"/>\n");
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
                let anchor = match anchor {
                    Anchor::Start => "",
                    Anchor::Middle => " text-anchor=\"middle\"",
                    Anchor::End => " text-anchor=\"end\"",
                };
                let bold = if *weight == Weight::Bold {
                    " font-weight=\"600\""
                } else {
                    ""
                };
                let (x, y) = (number(at.0), number(at.1));
                let turn = if *upright {
                    format!(" transform=\"rotate(-90 {x} {y})\"")
                } else {
                    String::new()
                };
                push(
                    &mut out,
                    format_args!(
                        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" fill=\"{}\"{anchor}{bold}{turn}>{}</text>\n",
                        number(*size),
                        hex(*colour),
                        escape(text)
                    ),
                );
            }
        }
    }
    out.push_str("</svg>\n");
    out
}

fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(arguments);
}

/// Two decimals at most.
fn number(v: f64) -> String {
    // Far outside of every panel; keeps numbers short where a value is huge.
    let v = (v.clamp(-1e6, 1e6) * 100.0).round() / 100.0;
    format!("{}", if v == 0.0 { 0.0 } else { v })
}

fn hex([r, g, b]: Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Text for XML and HTML content.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML 1.0 has no place for other control characters.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
