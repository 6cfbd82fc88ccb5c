//! Names for the numbers of the Parquet format, and the encoding of one column chunk.

use super::thrift::{Writer, varint};
use crate::SignalKind;

/// Physical types (`parquet.thrift`, enum `Type`).
pub(super) mod physical {
    pub const BOOLEAN: i32 = 0;
    pub const INT64: i32 = 2;
    pub const DOUBLE: i32 = 5;
}

/// Encodings (`parquet.thrift`, enum `Encoding`).
pub(super) mod encoding {
    pub const PLAIN: i32 = 0;
    pub const RLE: i32 = 3;
    pub const RLE_DICTIONARY: i32 = 8;
}

/// Page types (`parquet.thrift`, enum `PageType`).
pub(super) mod page {
    pub const DATA: i32 = 0;
    pub const DICTIONARY: i32 = 2;
}

/// The physical type of a signal's column.
pub(super) fn physical_type(kind: SignalKind) -> i32 {
    match kind {
        SignalKind::Real => physical::DOUBLE,
        SignalKind::Integer | SignalKind::Enumeration => physical::INT64,
        SignalKind::Boolean => physical::BOOLEAN,
    }
}

/// Where the pages of a chunk lie, relative to its start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk {
    /// Offset of the data page when a dictionary page precedes it.
    pub after_dictionary: Option<usize>,
    /// Bytes of the whole chunk.
    pub length: usize,
}

/// Appends the pages of a column to `out`.
pub(super) fn encode_chunk(out: &mut Vec<u8>, kind: SignalKind, values: &[f64]) -> Chunk {
    let start = out.len();
    let physical = physical_type(kind);
    let mut body = Vec::new();
    let first = values.first().copied().unwrap_or(0.0);
    // A Boolean takes a bit anyway, and readers disagree on dictionaries of Booleans.
    let uniform = physical != physical::BOOLEAN
        && values.len() > 8
        && values.iter().all(|v| v.to_bits() == first.to_bits());
    if uniform {
        plain(&mut body, physical, &[first]);
        page_header(out, page::DICTIONARY, body.len(), 1, encoding::PLAIN);
        out.append(&mut body);
        let data_at = out.len() - start;
        // Bit width 1, then one run: its length shifted left by the flag 0 for "repeated", and the index 0.
        body.push(1);
        varint(&mut body, (values.len() as u64) << 1);
        body.push(0);
        page_header(
            out,
            page::DATA,
            body.len(),
            values.len(),
            encoding::RLE_DICTIONARY,
        );
        out.append(&mut body);
        Chunk {
            after_dictionary: Some(data_at),
            length: out.len() - start,
        }
    } else {
        plain(&mut body, physical, values);
        page_header(out, page::DATA, body.len(), values.len(), encoding::PLAIN);
        out.append(&mut body);
        Chunk {
            after_dictionary: None,
            length: out.len() - start,
        }
    }
}

fn plain(out: &mut Vec<u8>, physical: i32, values: &[f64]) {
    match physical {
        physical::BOOLEAN => {
            for eight in values.chunks(8) {
                let bits = eight
                    .iter()
                    .enumerate()
                    .map(|(i, v)| u8::from(*v != 0.0) << i);
                out.push(bits.fold(0, |a, b| a | b));
            }
        }
        physical::INT64 => out.extend(values.iter().flat_map(|v| (v.round() as i64).to_le_bytes())),
        _ => out.extend(values.iter().flat_map(|v| v.to_le_bytes())),
    }
}

fn page_header(out: &mut Vec<u8>, page_type: i32, bytes: usize, values: usize, encoding: i32) {
    let mut w = Writer::new(out);
    w.i32(1, page_type);
    w.i32(2, bytes as i32);
    w.i32(3, bytes as i32);
    w.open(if page_type == page::DATA { 5 } else { 7 });
    w.i32(1, values as i32);
    w.i32(2, encoding);
    if page_type == page::DATA {
        // Required columns have no levels, but the header still names their encoding.
        w.i32(3, encoding::RLE);
        w.i32(4, encoding::RLE);
    }
    w.close();
    w.close();
}
