//! A page that shows a plot interactively, without external resources.
//!
//! The samples are embedded as base64 of little-endian `f64`, each time vector once. A curve of more than
//! [`EMBEDDED_SAMPLES`] samples is reduced to the extremes of [`EMBEDDED_COLUMNS`] columns first, which keeps the
//! page loadable and still allows zooming in by a factor of a hundred.

use std::borrow::Cow;

use serde_json::json;

use super::decimate::decimate;
use super::svg::escape;
use super::{Plot, pretty_unit};
use crate::SignalKind;

const PAGE: &str = include_str!("viewer.html");

/// Curves longer than this are reduced.
const EMBEDDED_SAMPLES: usize = 400_000;
/// Columns to which long curves are reduced.
const EMBEDDED_COLUMNS: usize = 80_000;

pub(super) fn write(plot: &Plot<'_>) -> String {
    let title = if plot.title.is_empty() {
        "Plot"
    } else {
        &plot.title
    };
    // The data come last, so that nothing in them can be taken for a placeholder.
    let (head, tail) = PAGE.split_once("/*DATA*/").unwrap_or((PAGE, ""));
    let mut out = head.replace("<!--TITLE-->", &escape(title));
    out.push_str(&data(plot));
    out.push_str(tail);
    out
}

/// `{title, x, axes: [base64..], panels: [{unit, boolean, curves: [{name, colour, x: index, y: base64}]}]}`.
fn data(plot: &Plot<'_>) -> String {
    let mut axes: Vec<Cow<'_, [f64]>> = Vec::new();
    let mut panels = Vec::new();
    for panel in &plot.panels() {
        let mut curves = Vec::new();
        for &i in panel {
            let curve = &plot.curves[i];
            let (x, y) = reduced(plot, i);
            let known = axes
                .iter()
                .position(|a| a.as_ptr() == x.as_ptr() && a.len() == x.len() || *a == x);
            let axis = known.unwrap_or_else(|| {
                axes.push(x);
                axes.len() - 1
            });
            let [r, g, b] = super::scene::colour_of(i);
            curves.push(json!({
                "name": curve.label,
                "colour": format!("#{r:02x}{g:02x}{b:02x}"),
                // Between its events a discrete signal holds its value; nothing is to be interpolated.
                "discrete": curve.kind != SignalKind::Real,
                "x": axis,
                "y": base64(&y),
            }));
        }
        let unit = panel.first().map(|&i| pretty_unit(&plot.curves[i].unit));
        panels.push(json!({
            "unit": unit.unwrap_or_default(),
            "boolean": plot.is_switch(panel),
            "curves": curves,
        }));
    }
    let data = json!({
        "title": plot.title,
        "x": plot.x_title(),
        "panels": panels,
        "axes": axes.iter().map(|a| base64(a)).collect::<Vec<_>>(),
    });
    // The text stands inside of a script. Only strings can contain this character.
    data.to_string().replace('<', "\\u003c")
}

/// The samples of a curve, at most as many as a page should carry.
fn reduced<'p>(plot: &'p Plot<'_>, curve: usize) -> (Cow<'p, [f64]>, Cow<'p, [f64]>) {
    let curve = &plot.curves[curve];
    if curve.x.len() <= EMBEDDED_SAMPLES {
        return (Cow::Borrowed(&curve.x), Cow::Borrowed(&curve.y));
    }
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for line in decimate(&curve.x, &curve.y, plot.x_range(), EMBEDDED_COLUMNS) {
        if let (Some(&last), Some(_)) = (x.last(), line.first()) {
            x.push(last);
            y.push(f64::NAN); // the gap between lines
        }
        x.extend(line.iter().map(|p| p.0));
        y.extend(line.iter().map(|p| p.1));
    }
    (Cow::Owned(x), Cow::Owned(y))
}

/// Base64 (RFC 4648) of the little-endian bytes.
fn base64(values: &[f64]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let mut out = String::with_capacity(bytes.len() * 4 / 3 + 4);
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0, |w, &b| w << 8 | u32::from(b)) << (8 * (3 - three.len()));
        for i in 0..4 {
            let letter = ALPHABET[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= three.len() {
                letter as char
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::curve;
    use super::*;

    #[test]
    fn base64_of_known_numbers() {
        assert_eq!(base64(&[1.0]), "AAAAAAAA8D8="); // 00 00 00 00 00 00 f0 3f
        assert_eq!(base64(&[]), "");
    }

    #[test]
    fn the_page_stands_alone_and_cannot_be_broken_by_names() {
        let mut plot = Plot::new("</script><b>");
        plot.curves
            .push(curve("a</script>/*DATA*/", "m", &[0.0, 1.0], &[0.0, 1.0]));
        plot.curves.push(curve("b", "s", &[0.0, 1.0], &[2.0, 1.0]));
        let page = plot.to_html();
        assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("src="));
        assert_eq!(page.matches("</script>").count(), 1);
        assert!(page.contains("&lt;/script&gt;&lt;b&gt;"));
        assert_eq!(
            page.matches("\"axes\":[\"AAAAAAAAAAAAAAAAAADwPw==\"]")
                .count(),
            1,
            "equal time vectors are stored once"
        );
    }

    #[test]
    fn long_curves_are_reduced() {
        let n = 1_000_000;
        let x: Vec<f64> = (0..n).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| (x * 0.37).sin()).collect();
        let mut plot = Plot::new("");
        plot.curves.push(curve("x", "", &x, &y));
        assert!(plot.to_html().len() < 8_000_000);
    }
}
