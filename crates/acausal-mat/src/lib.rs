//! Reads matrices from MATLAB level 4 files, the format of trajectories and of tables in Modelica.
//!
//! A file is a row of matrices: a header of five 32-bit integers (type `MOPT`, rows, columns, whether there are imaginary parts, length of the
//! name with its NUL), the name, and the elements column by column. `M` is 0 for little-endian numbers, `P` tells their type
//! ([`Matrix::number`]). The list is found by the headers alone; elements are read when they are asked for, as many as are needed.
//!
//! ```
//! # fn main() -> Result<(), acausal_mat::Error> {
//! let mut bytes = Vec::new();
//! for n in [0i32, 2, 1, 0, 2] {
//!     bytes.extend(n.to_le_bytes());
//! }
//! bytes.extend(b"m\0");
//! for v in [1.0f64, 4.0] {
//!     bytes.extend(v.to_le_bytes());
//! }
//! let mut file = acausal_mat::Level4::open(std::io::Cursor::new(bytes))?;
//! let m = file.find("m").unwrap();
//! assert_eq!((m.rows, m.columns), (2, 1));
//! assert_eq!(file.numbers(m)?, [1.0, 4.0]);
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

/// Longest name that is accepted.
const LONGEST_NAME: i32 = 256;
const HEADER: u64 = 20;

/// Why a file cannot be read.
#[derive(Debug)]
pub enum Error {
    /// Reading failed.
    Io(io::Error),
    /// The bytes are no level 4 file, or not a whole one.
    Malformed(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(e) => e.fmt(f),
            Error::Malformed(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(e: io::Error) -> Error {
        match e.kind() {
            io::ErrorKind::UnexpectedEof => Error::Malformed("the file ends too early".to_string()),
            _ => Error::Io(e),
        }
    }
}

/// A matrix in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Bytes per element.
    pub width: usize,
    /// Digit `P` of the type.
    precision: i32,
    /// Where its elements begin; imaginary parts come after the real ones.
    at: u64,
}

impl Matrix {
    /// One element from its [`width`](Self::width) bytes: numbers of 64 and 32 bits, integers of 32 and 16 bits, 16 bits without a sign, and bytes.
    pub fn number(&self, bytes: &[u8]) -> f64 {
        match (self.precision, bytes) {
            (0, &[a, b, c, d, e, f, g, h]) => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
            (1, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
            (2, &[a, b, c, d]) => f64::from(i32::from_le_bytes([a, b, c, d])),
            (3, &[a, b]) => f64::from(i16::from_le_bytes([a, b])),
            (4, &[a, b]) => f64::from(u16::from_le_bytes([a, b])),
            (_, bytes) => bytes.first().map_or(f64::NAN, |&b| f64::from(b)),
        }
    }
}

/// A file and the list of its matrices.
pub struct Level4<R> {
    source: R,
    matrices: BTreeMap<String, Matrix>,
}

impl<R: Read + Seek> Level4<R> {
    /// Finds the matrices.
    pub fn open(mut source: R) -> Result<Self, Error> {
        let length = source.seek(SeekFrom::End(0))?;
        let mut matrices = BTreeMap::new();
        let mut at = 0;
        while at < length {
            source.seek(SeekFrom::Start(at))?;
            let mut fields = [0; 5];
            for field in &mut fields {
                let mut bytes = [0; 4];
                source.read_exact(&mut bytes)?;
                *field = i32::from_le_bytes(bytes);
            }
            let [kind, rows, columns, imaginary, name_length] = fields;
            let sane = (0..=99).contains(&kind)
                && rows >= 0
                && columns >= 0
                && (0..=1).contains(&imaginary)
                && (1..=LONGEST_NAME).contains(&name_length);
            if !sane {
                let reason = format!("no little-endian level 4 matrix begins at byte {at}");
                return Err(Error::Malformed(reason));
            }
            let width = match kind / 10 {
                0 => 8,
                1 | 2 => 4,
                3 | 4 => 2,
                5 => 1,
                _ => return Err(Error::Malformed(format!("matrix type {kind} is unknown"))),
            };
            let mut name = vec![0; name_length as usize];
            source.read_exact(&mut name)?;
            name.pop();
            let name = String::from_utf8_lossy(&name).into_owned();
            let matrix = Matrix {
                rows: rows as usize,
                columns: columns as usize,
                width,
                precision: kind / 10,
                at: at + HEADER + name_length as u64,
            };
            // A damaged header may claim more than any file holds.
            let elements = (rows as u64).saturating_mul(columns as u64);
            let size = elements.saturating_mul(width as u64 * (1 + imaginary as u64));
            at = matrix.at.saturating_add(size);
            if at > length {
                let reason = format!("the file ends inside the matrix `{name}`");
                return Err(Error::Malformed(reason));
            }
            matrices.insert(name, matrix);
        }
        Ok(Level4 { source, matrices })
    }

    /// A matrix by its name; of equal names the last counts.
    pub fn find(&self, name: &str) -> Option<Matrix> {
        self.matrices.get(name).copied()
    }

    /// The bytes of `count` elements from the element `first` on, in the order of storage.
    pub fn bytes(&mut self, m: Matrix, first: usize, count: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; count * m.width];
        let at = m.at + (first * m.width) as u64;
        self.source.seek(SeekFrom::Start(at))?;
        self.source.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// All (real parts of the) elements, column by column.
    pub fn numbers(&mut self, m: Matrix) -> Result<Vec<f64>, Error> {
        let bytes = self.bytes(m, 0, m.rows * m.columns)?;
        let elements = bytes.chunks_exact(m.width);
        Ok(elements.map(|b| m.number(b)).collect())
    }

    /// Calls `f` with the bytes of each column that has any.
    pub fn for_each_column(&mut self, m: Matrix, mut f: impl FnMut(&[u8])) -> Result<(), Error> {
        if m.rows == 0 {
            return Ok(());
        }
        let mut column = vec![0; m.rows * m.width];
        self.source.seek(SeekFrom::Start(m.at))?;
        for _ in 0..m.columns {
            self.source.read_exact(&mut column)?;
            f(&column);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn matrix(name: &str, header: [i32; 4], elements: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for n in header.iter().chain(&[name.len() as i32 + 1]) {
            bytes.extend(n.to_le_bytes());
        }
        bytes.extend(name.as_bytes());
        bytes.push(0);
        bytes.extend(elements);
        bytes
    }

    #[test]
    fn elements_of_every_type() {
        let file = [
            matrix("f", [10, 1, 1, 0], &1.5f32.to_le_bytes()),
            matrix("i", [20, 1, 1, 0], &(-7i32).to_le_bytes()),
            matrix("s", [30, 1, 1, 0], &(-3i16).to_le_bytes()),
            matrix("u", [40, 1, 1, 0], &65_000u16.to_le_bytes()),
            matrix("b", [51, 1, 2, 0], b"AB"),
            // Imaginary parts are passed over.
            matrix("c", [50, 1, 1, 1], &[3, 4]),
            matrix("last", [50, 2, 1, 0], &[5, 6]),
        ]
        .concat();
        let mut file = Level4::open(Cursor::new(file)).unwrap();
        for (name, values) in [
            ("f", vec![1.5]),
            ("i", vec![-7.0]),
            ("s", vec![-3.0]),
            ("u", vec![65_000.0]),
            ("b", vec![65.0, 66.0]),
            ("c", vec![3.0]),
            ("last", vec![5.0, 6.0]),
        ] {
            let m = file.find(name).unwrap();
            assert_eq!(file.numbers(m).unwrap(), values, "{name}");
        }
        assert_eq!(file.find("x"), None);
    }

    #[test]
    fn columns_come_one_by_one() {
        let bytes = matrix("m", [50, 2, 3, 0], &[1, 2, 3, 4, 5, 6]);
        let mut file = Level4::open(Cursor::new(bytes)).unwrap();
        let m = file.find("m").unwrap();
        let mut columns = Vec::new();
        file.for_each_column(m, |c| columns.push(c.to_vec()))
            .unwrap();
        assert_eq!(columns, [[1, 2], [3, 4], [5, 6]]);
        assert_eq!(file.bytes(m, 2, 2).unwrap(), [3, 4]);
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let good = matrix("m", [0, 2, 3, 0], &[0; 48]);
        for length in 1..good.len() {
            assert!(
                Level4::open(Cursor::new(&good[..length])).is_err(),
                "{length}"
            );
        }
        for header in [
            [100, 1, 1, 0],
            [0, -1, 1, 0],
            [0, i32::MAX, i32::MAX, 0],
            [60, 1, 1, 0],
            [0, 1, 1, 2],
        ] {
            let bytes = matrix("m", header, &[0; 8]);
            assert!(Level4::open(Cursor::new(bytes)).is_err(), "{header:?}");
        }
    }
}
