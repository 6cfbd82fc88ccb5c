//! Writes a small result in the format of its extension: `write_demo FILE [SIGNALS [ROWS]]`, and prints the speed.

use std::path::Path;
use std::time::Instant;

use acausal_results::{RunInfo, Signal, SignalKind, create};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments
        .first()
        .ok_or("usage: write_demo FILE [SIGNALS [ROWS]]")?;
    let count =
        |i: usize, default: usize| arguments.get(i).map_or(Ok(default), |a| a.parse::<usize>());
    let (columns, rows) = (count(1, 3)?.max(1), count(2, 1001)?);

    let mut signals: Vec<Signal> = (0..columns)
        .map(|c| {
            Signal::column(format!("body[{}].x", c + 1), c)
                .with_unit("m")
                .with_description("Position")
        })
        .collect();
    signals.push(Signal::alias("spring.s[1,2]", 0, true).with_unit("m"));
    signals.push(
        Signal::constant("m", 2.5)
            .with_unit("kg")
            .with_description("Mass"),
    );
    signals.push(Signal::column("count", columns).with_kind(SignalKind::Integer));
    signals.push(
        Signal::column("closed", columns + 1)
            .with_kind(SignalKind::Boolean)
            .with_description("In contact"),
    );

    let start = Instant::now();
    let mut writer = create(Path::new(path))?;
    writer.begin(&signals, &RunInfo::new("Demo"))?;
    let mut row = vec![0.0; columns + 2];
    for i in 0..rows {
        let t = i as f64 / 100.0;
        for (c, value) in row[..columns].iter_mut().enumerate() {
            *value = (t + 0.01 * c as f64).sin();
        }
        row[columns] = i as f64;
        row[columns + 1] = f64::from(i % 100 < 50);
        if let Err(error) = writer.row(t, &row) {
            eprintln!("{error}");
            println!("kept {}", writer.finish_incomplete()?.display());
            return Ok(());
        }
    }
    let path = writer.finish()?;
    let seconds = start.elapsed().as_secs_f64();
    let megabytes = std::fs::metadata(&path)?.len() as f64 / 1e6;
    println!(
        "{}: {megabytes:.1} MB in {seconds:.3} s, {:.0} MB/s",
        path.display(),
        megabytes / seconds
    );
    Ok(())
}
