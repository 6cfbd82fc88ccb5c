//! Plots signals of a result file: `plot_file RESULT (OUT.svg|OUT.png|OUT.html|-|ascii|colour) SIGNAL...`.

use std::path::Path;

use acausal_results::plot::{Plot, TerminalOptions};
use acausal_results::read_signals;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [result, target, names @ ..] = arguments.as_slice() else {
        return Err(
            "usage: plot_file RESULT (OUT.svg|OUT.png|OUT.html|-|ascii|colour) SIGNAL...".into(),
        );
    };
    let result = read_signals(Path::new(result), names)?;
    let plot = Plot::of_signals(&result, names)?;
    match Path::new(target).extension().and_then(|e| e.to_str()) {
        Some("svg") => std::fs::write(target, plot.to_svg())?,
        Some("png") => std::fs::write(target, plot.to_png(2.0))?,
        Some("html") => std::fs::write(target, plot.to_html())?,
        _ => print!(
            "{}",
            plot.to_terminal(&TerminalOptions {
                ascii: target == "ascii",
                colour: target == "colour",
                ..TerminalOptions::default()
            })
        ),
    }
    Ok(())
}
