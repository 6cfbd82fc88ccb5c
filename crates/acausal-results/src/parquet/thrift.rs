//! The part of the Thrift compact protocol that Parquet footers and page headers use.
//!
//! A struct is a sequence of fields, each a byte `(field id - previous id) << 4 | type` and a value, ended by a zero byte; integers are
//! zigzag varints; strings and lists carry their length. Example: field 1 = `i32` 5, then field 3 = "a" is
//! `15 0a | 28 01 61 | 00`.

/// Field and element types of the compact protocol.
pub(super) mod kind {
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const BYTE: u8 = 3;
    pub const I16: u8 = 4;
    pub const I32: u8 = 5;
    pub const I64: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const STRUCT: u8 = 12;
}

/// Deepest nesting that a reader follows; a Parquet footer has five levels.
const DEEPEST: usize = 16;

/// Writes one struct (with those nested in it) into a byte vector.
pub(super) struct Writer<'o> {
    out: &'o mut Vec<u8>,
    last: Vec<i16>,
}

impl<'o> Writer<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, last: vec![0] }
    }

    fn field(&mut self, id: i16, kind: u8) {
        let last = self.last.last().copied().unwrap_or(0);
        // All structs written here have ascending ids with gaps below 16, so the short form always fits.
        self.out.push(((id - last) as u8) << 4 | kind);
        if let Some(last) = self.last.last_mut() {
            *last = id;
        }
    }

    pub(super) fn i32(&mut self, id: i16, value: i32) {
        self.field(id, kind::I32);
        varint(self.out, zigzag(i64::from(value)));
    }

    pub(super) fn i64(&mut self, id: i16, value: i64) {
        self.field(id, kind::I64);
        varint(self.out, zigzag(value));
    }

    pub(super) fn string(&mut self, id: i16, value: &str) {
        self.field(id, kind::BINARY);
        self.element_string(value);
    }

    /// Opens a list; its elements follow by the `element_` functions.
    pub(super) fn list(&mut self, id: i16, element: u8, length: usize) {
        self.field(id, kind::LIST);
        if length < 15 {
            self.out.push((length as u8) << 4 | element);
        } else {
            self.out.push(0xf0 | element);
            varint(self.out, length as u64);
        }
    }

    pub(super) fn element_i32(&mut self, value: i32) {
        varint(self.out, zigzag(i64::from(value)));
    }

    pub(super) fn element_string(&mut self, value: &str) {
        varint(self.out, value.len() as u64);
        self.out.extend_from_slice(value.as_bytes());
    }

    /// Opens a struct that is a field.
    pub(super) fn open(&mut self, id: i16) {
        self.field(id, kind::STRUCT);
        self.last.push(0);
    }

    /// Opens a struct that is a list element.
    pub(super) fn open_element(&mut self) {
        self.last.push(0);
    }

    /// Closes the innermost struct; the outermost one too.
    pub(super) fn close(&mut self) {
        self.out.push(0);
        self.last.pop();
    }
}

/// A decoded value; numbers of all widths are `Int`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ThriftValue<'b> {
    Int(i64),
    Binary(&'b [u8]),
    List(Vec<ThriftValue<'b>>),
    Struct(Vec<(i16, ThriftValue<'b>)>),
}

impl<'b> ThriftValue<'b> {
    pub(super) fn get(&self, id: i16) -> Option<&ThriftValue<'b>> {
        match self {
            ThriftValue::Struct(fields) => fields.iter().find(|(i, _)| *i == id).map(|(_, v)| v),
            _ => None,
        }
    }

    pub(super) fn int(&self, id: i16) -> Option<i64> {
        match self.get(id) {
            Some(ThriftValue::Int(v)) => Some(*v),
            _ => None,
        }
    }

    pub(super) fn text(&self, id: i16) -> Option<&'b str> {
        match self.get(id) {
            Some(ThriftValue::Binary(b)) => std::str::from_utf8(b).ok(),
            _ => None,
        }
    }

    pub(super) fn list(&self, id: i16) -> &[ThriftValue<'b>] {
        match self.get(id) {
            Some(ThriftValue::List(values)) => values,
            _ => &[],
        }
    }
}

/// Decodes a struct at the start of `bytes`; also returns how many bytes it took.
pub(super) fn decode(bytes: &[u8]) -> Option<(ThriftValue<'_>, usize)> {
    let mut reader = Reader { bytes, at: 0 };
    let value = reader.structure(0)?;
    Some((value, reader.at))
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte
    }

    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let end = self.at.checked_add(length)?;
        let bytes = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(bytes)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn structure(&mut self, depth: usize) -> Option<ThriftValue<'b>> {
        let mut fields = Vec::new();
        let mut id: i16 = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(ThriftValue::Struct(fields));
            }
            id = match head >> 4 {
                0 => unzigzag(self.varint()?) as i16,
                delta => id.checked_add(i16::from(delta))?,
            };
            let value = match head & 0x0f {
                kind::TRUE => ThriftValue::Int(1),
                kind::FALSE => ThriftValue::Int(0),
                kind => self.value(kind, depth + 1)?,
            };
            fields.push((id, value));
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<ThriftValue<'b>> {
        if depth > DEEPEST {
            return None;
        }
        Some(match kind {
            kind::TRUE | kind::FALSE | kind::BYTE => ThriftValue::Int(i64::from(self.byte()?)),
            kind::I16 | kind::I32 | kind::I64 => ThriftValue::Int(unzigzag(self.varint()?)),
            kind::DOUBLE | kind::BINARY => {
                let length = if kind == kind::DOUBLE {
                    8
                } else {
                    usize::try_from(self.varint()?).ok()?
                };
                ThriftValue::Binary(self.take(length)?)
            }
            kind::LIST | kind::SET => {
                let head = self.byte()?;
                let length = match head >> 4 {
                    15 => self.varint()?,
                    short => u64::from(short),
                };
                // Every element takes at least a byte, so a longer list is a lie.
                if length > self.bytes.len() as u64 {
                    return None;
                }
                let mut values = Vec::new();
                for _ in 0..length {
                    values.push(self.value(head & 0x0f, depth + 1)?);
                }
                ThriftValue::List(values)
            }
            kind::STRUCT => self.structure(depth)?,
            _ => return None,
        })
    }
}

/// Appends `value` with 7 bits per byte, low ones first.
pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_the_example() {
        let mut out = Vec::new();
        let mut w = Writer::new(&mut out);
        w.i32(1, 5);
        w.string(3, "a");
        w.close();
        assert_eq!(out, [0x15, 0x0a, 0x28, 0x01, 0x61, 0x00]);
        let (value, used) = decode(&out).unwrap();
        assert_eq!((value.int(1), value.text(3), used), (Some(5), Some("a"), 6));
    }

    #[test]
    fn zigzag_and_varint() {
        for v in [0, -1, 1, 63, -64, 300, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            varint(&mut out, zigzag(v));
            let mut reader = Reader { bytes: &out, at: 0 };
            assert_eq!(reader.varint().map(unzigzag), Some(v));
        }
    }

    #[test]
    fn damaged_input_is_refused() {
        assert!(decode(&[]).is_none());
        assert!(decode(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0x7f]).is_none()); // a list of 2^28 structs
        assert!(decode(&[0x1c; 100]).is_none()); // endless nesting
        assert!(decode(&[0x18, 0x05, b'a']).is_none()); // a string longer than the file
    }
}
