//! Readers of result files. The first byte says which: CSV, compressed CSV, MAT or Parquet.

fn main() {
    let folder = std::env::temp_dir();
    afl::fuzz!(|data: &[u8]| {
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
