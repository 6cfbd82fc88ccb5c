//! Table files. The first byte says which kind of table reads it (of time, of one argument, of two) and its format: text, CSV, MAT.

use std::time::Duration;

use acausal_fuzz::tables::Tables;

fn main() {
    let tables = Tables::new(&std::env::temp_dir(), acausal_fuzz::limits());
    let tables = tables.unwrap_or_else(|e| panic!("{e}"));
    acausal_fuzz::run(Duration::from_secs(2), move |data| {
        tables.check(data).map(drop)
    });
}
