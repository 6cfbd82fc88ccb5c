//! What can go wrong with result files, each with the path and the reason.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// An error of writing, reading or looking into results.
#[derive(Debug)]
pub enum ResultError {
    /// The result file cannot be created. Raised before the simulation starts.
    Create {
        /// The file asked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Writing failed later, e.g. because the disk is full.
    Write {
        /// The file being written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be opened or read.
    Read {
        /// The file asked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No result format has this file name extension.
    UnknownExtension {
        /// The file asked for.
        path: PathBuf,
        /// The extensions that would do.
        known: &'static [&'static str],
    },
    /// The content is not what the format prescribes.
    Malformed {
        /// The file that was read.
        path: PathBuf,
        /// Name of the format.
        format: &'static str,
        /// What is wrong, and where.
        reason: String,
    },
    /// The result exceeds what the format can hold.
    TooLarge {
        /// The file being written.
        path: PathBuf,
        /// Name of the format.
        format: &'static str,
        /// The limit that was hit.
        limit: String,
    },
    /// The result has no signal of this name.
    NoSuchSignal {
        /// The name asked for.
        name: String,
        /// Names in the result that look similar, best first.
        similar: Vec<String>,
    },
    /// A row is shorter than the largest column that a signal refers to.
    ShortRow {
        /// Values needed per row.
        needed: usize,
        /// Values received.
        found: usize,
    },
    /// A column and the time vector differ in length.
    UnequalColumns {
        /// Position of the column.
        column: usize,
        /// Number of times.
        rows: usize,
        /// Number of values.
        found: usize,
    },
    /// A row or the end of the result arrived before [`begin`](crate::ResultWriter::begin), or `begin` came twice.
    OutOfOrder {
        /// The call that came too early or too often.
        call: &'static str,
    },
}

impl fmt::Display for ResultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { path, source } => {
                write!(
                    f,
                    "cannot create the result file {}: {source}",
                    path.display()
                )
            }
            Self::Write { path, source } => {
                write!(
                    f,
                    "cannot write to the result file {}: {source}",
                    path.display()
                )
            }
            Self::Read { path, source } => write!(f, "cannot read {}: {source}", path.display()),
            Self::UnknownExtension { path, known } => write!(
                f,
                "cannot tell the result format of {} from its name; known extensions: {}",
                path.display(),
                known.join(", ")
            ),
            Self::Malformed {
                path,
                format,
                reason,
            } => {
                write!(
                    f,
                    "{} is not a valid {format} result: {reason}",
                    path.display()
                )
            }
            Self::TooLarge {
                path,
                format,
                limit,
            } => {
                write!(
                    f,
                    "the result does not fit into the {format} file {}: {limit}",
                    path.display()
                )
            }
            Self::NoSuchSignal { name, similar } => {
                write!(f, "the result has no signal {name}")?;
                match similar.as_slice() {
                    [] => Ok(()),
                    names => write!(f, "; similar: {}", names.join(", ")),
                }
            }
            Self::ShortRow { needed, found } => {
                write!(
                    f,
                    "a result row has {found} values, but the signals refer to {needed} columns"
                )
            }
            Self::UnequalColumns {
                column,
                rows,
                found,
            } => {
                write!(
                    f,
                    "column {column} has {found} values, but there are {rows} times"
                )
            }
            Self::OutOfOrder { call } => {
                write!(
                    f,
                    "result writer: `{call}` was called out of order (begin, row..., finish)"
                )
            }
        }
    }
}

impl std::error::Error for ResultError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Create { source, .. }
            | Self::Write { source, .. }
            | Self::Read { source, .. } => Some(source),
            _ => None,
        }
    }
}
