//! Matrices in files: the text format of the Modelica tables, comma-separated values, and MATLAB level 4.
//!
//! ```text
//! #1
//! double T(2,3)   # rows and columns
//! 0  1  2
//! 1, 3, 4
//! ```

use std::io::Cursor;

use acausal_mat::Level4;

use super::NativeMatrix;

/// Reads a matrix by name from a text or MAT file.
pub fn read_matrix(file: &str, name: &str) -> Result<NativeMatrix, String> {
    let path = plain_path(file);
    let bytes = std::fs::read(path).map_err(|e| format!("the file {path} cannot be read: {e}"))?;
    let found = match extension(path).as_str() {
        "mat" => from_mat(&bytes, name),
        _ => from_text(&String::from_utf8_lossy(&bytes), name),
    };
    found.map_err(|m| format!("{path}: {m}"))
}

/// Reads a file of separated values, all lines but the first few.
pub(super) fn read_csv(file: &str, delimiter: &str, header: usize) -> Result<NativeMatrix, String> {
    let path = plain_path(file);
    let text = std::fs::read_to_string(path)
        .map_err(|e| format!("the file {path} cannot be read: {e}"))?;
    from_csv(&text, delimiter.chars().next().unwrap_or(','), header)
        .map_err(|m| format!("{path}: {m}"))
}

/// Rows and columns of a matrix in a file.
pub fn matrix_size(file: &str, name: &str) -> Result<(usize, usize), String> {
    let m = read_matrix(file, name)?;
    Ok((m.rows, m.columns))
}

pub(super) fn is_csv(file: &str) -> bool {
    extension(file) == "csv"
}

fn plain_path(file: &str) -> &str {
    file.strip_prefix("file://").unwrap_or(file)
}

fn extension(path: &str) -> String {
    path.rsplit('.').next().unwrap_or("").to_ascii_lowercase()
}

fn from_text(text: &str, name: &str) -> Result<NativeMatrix, String> {
    if !text.trim_start().starts_with("#1") {
        return Err("the first line of a table file is `#1`".to_string());
    }
    let mut lines = text.lines().map(|l| l.split('#').next().unwrap_or(""));
    for line in lines.by_ref() {
        let Some((rows, columns)) = heading(line, name) else {
            continue;
        };
        let Some(count) = rows.checked_mul(columns) else {
            return Err(format!("the table `{name}` has too many numbers"));
        };
        // The file cannot have more numbers than half of its characters.
        let mut values = Vec::with_capacity(count.min(text.len() / 2 + 1));
        while values.len() < count {
            let Some(line) = lines.next() else {
                return Err(format!(
                    "the table `{name}` has only {} of {rows} times {columns} numbers",
                    values.len()
                ));
            };
            for word in line.split([' ', '\t', ',', ';', '\r']) {
                if !word.is_empty() {
                    values.push(number(word)?);
                }
            }
        }
        values.truncate(count);
        return Ok(NativeMatrix {
            rows,
            columns,
            values,
        });
    }
    Err(format!("there is no table `{name}`"))
}

/// `double name(rows,columns)`
fn heading(line: &str, name: &str) -> Option<(usize, usize)> {
    let line = line.trim();
    let rest = ["double", "float"]
        .iter()
        .find_map(|t| line.strip_prefix(t))?;
    let (found, sizes) = rest.split_once('(')?;
    if found.trim() != name {
        return None;
    }
    let (rows, columns) = sizes.trim_end().strip_suffix(')')?.split_once(',')?;
    Some((rows.trim().parse().ok()?, columns.trim().parse().ok()?))
}

fn from_csv(text: &str, delimiter: char, header: usize) -> Result<NativeMatrix, String> {
    let mut values = Vec::new();
    let (mut rows, mut columns) = (0, 0);
    for line in text.lines().skip(header).filter(|l| !l.trim().is_empty()) {
        let before = values.len();
        for word in line.split(delimiter) {
            values.push(number(word.trim())?);
        }
        let count = values.len() - before;
        if rows > 0 && count != columns {
            return Err(format!(
                "row {} has {count} numbers, the first has {columns}",
                rows + 1
            ));
        }
        columns = count;
        rows += 1;
    }
    Ok(NativeMatrix {
        rows,
        columns,
        values,
    })
}

fn number(word: &str) -> Result<f64, String> {
    word.parse()
        .map_err(|_| format!("`{word}` is not a number"))
}

/// Level 4 stores columns, a table has rows.
fn from_mat(bytes: &[u8], name: &str) -> Result<NativeMatrix, String> {
    if bytes.starts_with(b"MATLAB") {
        return Err("MAT files of level 5 and later are not supported yet; level 4 is".to_string());
    }
    let mut file = Level4::open(Cursor::new(bytes)).map_err(|e| e.to_string())?;
    let Some(found) = file.find(name) else {
        return Err(format!("there is no matrix `{name}`"));
    };
    let numbers = file.numbers(found).map_err(|e| e.to_string())?;
    let (rows, columns) = (found.rows, found.columns);
    let values = (0..rows * columns)
        .map(|k| numbers[(k % columns) * rows + k / columns])
        .collect();
    Ok(NativeMatrix {
        rows,
        columns,
        values,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_tables_are_found_by_name() {
        let text = "#1\nfloat a(1,1)\n7\ndouble b(2,2) # comment\n1 2,\n3\t4.5e1\n";
        let m = from_text(text, "b").unwrap();
        assert_eq!((m.rows, m.columns), (2, 2));
        assert_eq!(m.values, [1.0, 2.0, 3.0, 45.0]);
        assert!(from_text(text, "c").unwrap_err().contains("no table `c`"));
        assert!(from_text("#1\ndouble b(2,2)\n1 2 3", "b").is_err());
        // Sizes beyond memory and beyond numbers.
        assert!(from_text("#1\ndouble b(4000000000,40)\n1 2 3", "b").is_err());
        assert!(from_text("#1\ndouble b(9000000000000000000,9)\n1", "b").is_err());
    }

    #[test]
    fn level_4_matrices_are_stored_by_columns() {
        let mut bytes = Vec::new();
        for n in [0i32, 2, 3, 0, 2] {
            bytes.extend(n.to_le_bytes());
        }
        bytes.extend(b"m\0");
        for v in [1.0f64, 4.0, 2.0, 5.0, 3.0, 6.0] {
            bytes.extend(v.to_le_bytes());
        }
        let m = from_mat(&bytes, "m").unwrap();
        assert_eq!(m.values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!(from_mat(&bytes[..30], "m").is_err());
    }

    #[test]
    fn separated_values_have_equal_rows() {
        assert_eq!(from_csv("t;y\n0;1\n1;2\n", ';', 1).unwrap().rows, 2);
        assert!(from_csv("0,1\n1\n", ',', 0).is_err());
    }
}
