//! Everything about trajectories after they are computed.
//!
//! A simulation hands over a list of [`Signal`]s once and then one row of numbers per output time. This crate
//! writes them to a file while they come ([`create`], [`ResultWriter`]), reads files back ([`read`]), compares two
//! results with a tube ([`compare`](mod@compare)) and draws them ([`plot`]). It depends on no other crate of the workspace, so that
//! any program that has numbers over time can use it.
//!
//! | what | module |
//! |---|---|
//! | signals and where their values are stored | `signal` |
//! | writing while it is computed; into memory | `writer`, `memory` |
//! | a whole result, values between samples | `result_set`, `interpolate` |
//! | formats | `csv`, `mat`, `parquet`; numbers and strings in them: `number` |
//! | files that have no name before they are complete | `target`, `temporary` |
//! | comparison with a reference | [`compare`](mod@compare) |
//! | pictures | [`plot`] |
//! | what can go wrong | `error` |
//!
//! ```
//! use acausal_results::{MemoryWriter, ResultWriter, RunInfo, Signal};
//!
//! # fn main() -> Result<(), acausal_results::ResultError> {
//! let signals = [
//!     Signal::column("x", 0).with_unit("m"),
//!     Signal::alias("spring.s", 0, true), // always -x, stored once
//!     Signal::constant("m", 2.0).with_unit("kg"),
//! ];
//! let mut writer = MemoryWriter::new();
//! writer.begin(&signals, &RunInfo::new("Oscillator"))?;
//! writer.row(0.0, &[1.0])?;
//! writer.row(0.5, &[0.7])?;
//! let result = writer.into_result()?;
//! assert_eq!(result.values("spring.s").unwrap().as_ref(), [-1.0, -0.7]);
//! assert_eq!(result.values("m").unwrap().as_ref(), [2.0, 2.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Times never decrease; a repeated time marks an event, the first row holding the left and the second the right limit.

pub mod compare;
pub mod csv;
mod error;
mod interpolate;
pub mod mat;
mod memory;
pub mod number;
pub mod parquet;
pub mod plot;
mod result_set;
mod signal;
mod target;
pub mod temporary;
mod writer;

pub use error::ResultError;
pub use memory::MemoryWriter;
pub use result_set::{ResultSet, normalise_name, read, read_signals};
pub use signal::{RunInfo, Signal, SignalKind, SignalSource};
pub use writer::{Format, ResultWriter, create};
