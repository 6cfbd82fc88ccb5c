//! Readers of result files. The first byte says which: CSV, compressed CSV, MAT or Parquet.

use std::time::Duration;

fn main() {
    let folder = std::env::temp_dir();
    acausal_fuzz::run(Duration::from_secs(2), move |data| {
        let Some((kind, bytes)) = data.split_first() else {
            return;
        };
        let ending = ["csv", "csv.gz", "mat", "parquet"][usize::from(kind % 4)];
        let file = folder.join(format!("fuzz-{}.{ending}", std::process::id()));
        if std::fs::write(&file, bytes).is_ok() {
            let _ = acausal_results::read(&file);
            let _ = std::fs::remove_file(&file);
        }
    });
}
