//! Apache Parquet, for data frames: one column per signal, uncompressed, first column `time`.
//!
//! A Parquet file is `PAR1`, column chunks, a footer that says where each chunk lies, the length of the footer, and `PAR1`
//! again. Only the part of the format that a result needs is written here (a flat schema of required columns), which
//! every Parquet reader understands:
//!
//! - `Real` is DOUBLE, `Integer` and enumerations are INT64, `Boolean` is BOOLEAN;
//! - a column is one PLAIN page per row group, or, where all its values are equal (parameters), a dictionary of one entry and a run
//!   length, some 60 bytes however many rows there are;
//! - the footer's key-value metadata hold the model (`acausal.model`) and, as JSON, units and descriptions (`acausal.signals`).
//!
//! Parquet wants columns, a simulation gives rows: rows are collected, beyond 64 MB in a scratch file beside the
//! target, and transposed by blocks of columns once a row group is full.

mod layout;
mod read;
mod rows;
mod thrift;
mod write;

pub(crate) use read::read;
pub use write::ParquetWriter;

/// First and last four bytes of a file.
const MAGIC: &[u8; 4] = b"PAR1";

/// Key of the model's name in the footer's metadata.
const MODEL_KEY: &str = "acausal.model";
/// Key of units and descriptions in the footer's metadata.
const SIGNALS_KEY: &str = "acausal.signals";
