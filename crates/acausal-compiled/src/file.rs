//! A compiled model as bytes: written by one process, simulated by another.
//!
//! ```text
//! 8 bytes   "ACAUSAL" and 0x1a
//! 4 bytes   number of the format ([`FORMAT`])
//! 8 bytes   length of what follows the head
//! 8 bytes   checksum of what follows the head
//! rest      the model and the sources that its messages show, in postcard's encoding
//! ```
//! Numbers are little-endian. The same model gives the same bytes.
//!
//! There is no machine code in it: that is made when it is loaded, for the processor at hand, or not at all. What can be made from the rest (the
//! pattern of the Jacobian and the multiply-adds that fill it) is not in it either, so that arrays cost the same at every length.
//!
//! A file that is cut off or changed is refused by its length and checksum before anything in it is looked at: every step of the checksum is a bijection of the
//! 64 bits before, so a change of one word is always seen and any other with a probability of 1 - 2^-64. That is no protection against a forger: what is behind the checksum is trusted, as
//! machine code in a library would be.

use std::fmt;

use acausal_base::{SourceMap, Span};
use serde::{Deserialize, Serialize};

use crate::CompiledModel;
use crate::shared_rows::SharedRows;

/// First bytes of a file. The last one ends the output of a file that is shown as text on some systems.
const MAGIC: &[u8; 8] = b"ACAUSAL\x1a";

/// Number of the format: raised whenever a file of an earlier version could be misread.
pub const FORMAT: u32 = 3;

/// Length of the head.
const HEAD: usize = 28;

/// Why a file is not a compiled model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// It begins otherwise.
    NotAModel,
    /// It was written by a version with another format.
    Format(u32),
    /// It ends too early.
    Truncated {
        /// Length of the file that was begun.
        expected: u64,
        /// Length of the file.
        found: u64,
    },
    /// Its checksum is another one.
    Altered,
    /// Its content does not fit together, although it is as it was written.
    Content(String),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::NotAModel => write!(f, "this is not a compiled model"),
            FileError::Format(format) if *format > FORMAT => write!(
                f,
                "this model was compiled by a newer version (format {format}, this one reads {FORMAT})"
            ),
            FileError::Format(format) => write!(
                f,
                "this model was compiled by an older version (format {format}, this one reads {FORMAT}): compile it again"
            ),
            FileError::Truncated { expected, found } => {
                write!(f, "the file is cut off: it has {found} bytes of {expected}")
            }
            FileError::Altered => write!(f, "the file was changed after it was written"),
            FileError::Content(what) => write!(f, "the content does not fit together: {what}"),
        }
    }
}

impl std::error::Error for FileError {}

#[derive(Serialize)]
struct Written<'a> {
    model: &'a CompiledModel,
    rows: SharedRows,
    sources: SourceMap,
}

#[derive(Deserialize)]
struct Read {
    model: CompiledModel,
    rows: SharedRows,
    sources: SourceMap,
}

/// The bytes of a model with those sources that its messages may show.
pub fn write(model: &CompiledModel, sources: &SourceMap) -> Result<Vec<u8>, FileError> {
    let written = Written {
        model,
        rows: SharedRows::new(model),
        sources: sources.excerpt(places(model)),
    };
    let head = vec![0; HEAD];
    let mut bytes =
        postcard::to_extend(&written, head).map_err(|e| FileError::Content(e.to_string()))?;
    let (head, rest) = bytes.split_at_mut(HEAD);
    head[..8].copy_from_slice(MAGIC);
    head[8..12].copy_from_slice(&FORMAT.to_le_bytes());
    head[12..20].copy_from_slice(&(rest.len() as u64).to_le_bytes());
    head[20..].copy_from_slice(&checksum(rest).to_le_bytes());
    Ok(bytes)
}

/// The model of a file, and the sources for its messages.
pub fn read(bytes: &[u8]) -> Result<(CompiledModel, SourceMap), FileError> {
    if !bytes.starts_with(MAGIC) {
        return Err(FileError::NotAModel);
    }
    let Some((head, rest)) = bytes.split_at_checked(HEAD) else {
        return Err(FileError::Truncated {
            expected: HEAD as u64,
            found: bytes.len() as u64,
        });
    };
    let number = |from: usize| {
        head[from..from + 8]
            .iter()
            .rev()
            .fold(0u64, |n, &b| n << 8 | u64::from(b))
    };
    let format = head[8..12]
        .iter()
        .rev()
        .fold(0u32, |n, &b| n << 8 | u32::from(b));
    if format != FORMAT {
        return Err(FileError::Format(format));
    }
    let len = number(12);
    if (rest.len() as u64) < len {
        return Err(FileError::Truncated {
            expected: len.saturating_add(HEAD as u64),
            found: bytes.len() as u64,
        });
    }
    if rest.len() as u64 > len || checksum(rest) != number(20) {
        return Err(FileError::Altered);
    }
    let read: Read = postcard::from_bytes(rest).map_err(|e| FileError::Content(e.to_string()))?;
    let mut model = read.model;
    let restored = read.rows.restore(&mut model);
    restored.map_err(|what| FileError::Content(what.to_string()))?;
    Ok((model, read.sources))
}

/// Where declarations, equations and functions stand.
fn places(model: &CompiledModel) -> impl Iterator<Item = Span> + '_ {
    let symbols = &model.symbols;
    let vars = symbols.vars.iter().map(|v| v.span);
    let origins = symbols.origins.iter().map(|o| o.span);
    let functions = symbols.functions.iter().map(|f| f.span);
    vars.chain(origins).chain(functions)
}

/// Word by word; the length is part of the head.
fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |word: u64| sum = (sum.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        add(u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    add(u64::from_le_bytes(last));
    sum
}
