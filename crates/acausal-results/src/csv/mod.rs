//! Comma separated values: a header row of signal names, then one row per time; the first column is `time`.
//!
//! Names that hold a comma, a quote or a blank are quoted (RFC 4180); numbers have the fewest digits that read back to the same `f64`.
//! Booleans are 0 and 1. Constants are repeated in every row, because most readers of CSV know nothing else.

mod read;
mod write;

pub(crate) use read::read;
pub use write::CsvWriter;
