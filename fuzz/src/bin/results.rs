//! Readers of result files and what is done with what they read. The first byte says which: CSV, compressed CSV, MAT or Parquet.

use std::time::Duration;

use acausal_fuzz::fuzzed::{ENDINGS, result};

fn main() {
    let folder = std::env::temp_dir();
    acausal_fuzz::run(Duration::from_secs(2), move |data| {
        let Some((kind, bytes)) = data.split_first() else {
            return Ok(());
        };
        let ending = ENDINGS[usize::from(*kind) % ENDINGS.len()];
        let file = folder.join(format!("fuzz-{}.{ending}", std::process::id()));
        std::fs::write(&file, bytes).map_err(|e| e.to_string())?;
        let checked = result(&file).map(drop);
        std::fs::remove_file(&file).map_err(|e| e.to_string())?;
        checked
    });
}
