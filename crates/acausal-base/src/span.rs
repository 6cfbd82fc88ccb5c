//! Where a piece of text lies: file identifiers, byte ranges and the table of source files.
//!
//! A [`Span`] is twelve bytes and `Copy`, so that every node of the syntax tree carries one.
//! Lines and columns are computed only when a message is shown, by binary search in a line
//! index that [`SourceMap::add_file`] builds once.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;

/// Index of a file in its [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileId(pub u32);

impl FileId {
    /// The file of [`Span::NONE`]; no source map ever gives out this number.
    pub const NONE: FileId = FileId(u32::MAX);
}

/// A half-open range of bytes `start..end` in one file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// The file the range lies in.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset one past the last byte.
    pub end: u32,
}

impl Span {
    /// A span for things that no one wrote: built-in classes and generated equations.
    pub const NONE: Span = Span {
        file: FileId::NONE,
        start: 0,
        end: 0,
    };

    /// The range `start..end` of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Span {
        Span { file, start, end }
    }

    /// True for [`Span::NONE`].
    pub fn is_none(self) -> bool {
        self.file == FileId::NONE
    }

    /// The smallest span that covers both; a span without a place (or in another file) is ignored.
    pub fn to(self, other: Span) -> Span {
        if self.is_none() {
            return other;
        }
        if other.file != self.file {
            return self;
        }
        Span {
            file: self.file,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// The empty span just behind this one, where a missing token belongs.
    pub fn after(self) -> Span {
        Span {
            start: self.end,
            ..self
        }
    }

    /// Number of bytes.
    pub fn len(self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    /// True when the span covers no byte.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            return f.write_str("-");
        }
        write!(f, "{}:{}..{}", self.file.0, self.start, self.end)
    }
}

/// A place as people name it; both numbers count from one, the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    /// Line number, from 1.
    pub line: u32,
    /// Column in characters (not bytes), from 1.
    pub column: u32,
}

/// One source text with its line index.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path or name under which messages show the file.
    pub name: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
    /// True if the text was longer than [`SourceMap::MAX_FILE_BYTES`] and is cut.
    pub truncated: bool,
    line_starts: Vec<u32>,
}

impl SourceFile {
    fn new(name: Arc<str>, text: Arc<str>, truncated: bool) -> SourceFile {
        let mut line_starts = vec![0];
        for (offset, byte) in text.bytes().enumerate() {
            if byte == b'\n' {
                line_starts.push(offset as u32 + 1);
            }
        }
        SourceFile {
            name,
            text,
            truncated,
            line_starts,
        }
    }

    /// Number of lines; an empty text has one.
    pub fn line_count(&self) -> u32 {
        self.line_starts.len() as u32
    }

    /// Index (from 0) of the line that holds the byte `offset`.
    pub fn line_index(&self, offset: u32) -> u32 {
        // The table starts with 0, so at least one entry is not greater than the offset.
        self.line_starts.partition_point(|&start| start <= offset) as u32 - 1
    }

    /// Byte range of a line (index from 0) without its line end; empty behind the last line.
    pub fn line_range(&self, index: u32) -> std::ops::Range<usize> {
        let Some(&start) = self.line_starts.get(index as usize) else {
            return self.text.len()..self.text.len();
        };
        let start = start as usize;
        let end = match self.line_starts.get(index as usize + 1) {
            Some(&next) => next as usize - 1,
            None => self.text.len(),
        };
        let line = self.text[start..end].trim_end_matches('\r');
        start..start + line.len()
    }

    /// Line and column of a byte offset; an offset behind the text means its end.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_index(offset as u32);
        let start = self.line_starts[line as usize] as usize;
        LineColumn {
            line: line + 1,
            column: self.text[start..offset].chars().count() as u32 + 1,
        }
    }
}

/// All source texts of one compilation.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Offsets are 32-bit numbers, so a longer text cannot be addressed.
    pub const MAX_FILE_BYTES: usize = u32::MAX as usize - 1;

    /// An empty table.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a text under a name and gives its identifier.
    ///
    /// A text above [`SourceMap::MAX_FILE_BYTES`] is cut there, which
    /// the parser reports.
    pub fn add_file(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> FileId {
        let mut text: Arc<str> = text.into();
        let truncated = text.len() > SourceMap::MAX_FILE_BYTES;
        if truncated {
            let mut end = SourceMap::MAX_FILE_BYTES;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text = Arc::from(&text[..end]);
        }
        let id = FileId(self.files.len() as u32);
        self.files
            .push(SourceFile::new(name.into(), text, truncated));
        id
    }

    /// Adds the bytes of a file, which should be UTF-8 (MLS 3.6 §13.4).
    ///
    /// Bytes that are not UTF-8 are read as Latin-1, in which old models are often written, and
    /// reported once.
    pub fn add_bytes(
        &mut self,
        name: impl Into<Arc<str>>,
        bytes: Vec<u8>,
    ) -> (FileId, Option<Diagnostic>) {
        let bytes = match String::from_utf8(bytes) {
            Ok(text) => return (self.add_file(name, text), None),
            Err(error) => error.into_bytes(),
        };
        let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
        let mut first = None;
        let mut count = 0;
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                first.get_or_insert(text.len() as u32);
                count += 1;
                text.extend(chunk.invalid().iter().copied().map(char::from));
            }
        }
        let file = self.add_file(name, text);
        let first = first.unwrap_or(0);
        let diagnostic = Diagnostic::error(
            "syntax-encoding",
            Span::new(file, first, first + 1),
            format!("the file is not UTF-8 ({count} invalid byte sequences, the first here)"),
        )
        .note("the bytes are read as Latin-1")
        .hint("save the file as UTF-8");
        (file, Some(diagnostic))
    }

    /// The same files, without the texts of those that none of the places lies in.
    pub fn excerpt(&self, places: impl IntoIterator<Item = Span>) -> SourceMap {
        let mut used = vec![false; self.files.len()];
        for place in places {
            if let Some(used) = used.get_mut(place.file.0 as usize) {
                *used = true;
            }
        }
        let mut files = self.files.clone();
        for (file, _) in files.iter_mut().zip(used).filter(|(_, used)| !used) {
            *file = SourceFile::new(file.name.clone(), Arc::from(""), file.truncated);
        }
        SourceMap { files }
    }

    /// The file with this identifier.
    pub fn get(&self, file: FileId) -> Option<&SourceFile> {
        self.files.get(file.0 as usize)
    }

    /// All files in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        (0..).map(FileId).zip(&self.files)
    }

    /// The text under a span; empty when the span has no place.
    pub fn text(&self, span: Span) -> &str {
        self.get(span.file)
            .and_then(|file| file.text.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }

    /// Line and column of the start of a span.
    pub fn line_column(&self, span: Span) -> Option<LineColumn> {
        Some(self.get(span.file)?.line_column(span.start))
    }

    /// `file:line:column` of the start of a span, as editors understand it.
    pub fn location(&self, span: Span) -> String {
        match self.get(span.file) {
            Some(file) => {
                let place = file.line_column(span.start);
                format!("{}:{}:{}", file.name, place.line, place.column)
            }
            None => "<generated>".to_string(),
        }
    }
}

/// Names and texts; where lines begin is found again.
impl Serialize for SourceMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let file = |f: &'_ SourceFile| (Arc::clone(&f.name), Arc::clone(&f.text), f.truncated);
        serializer.collect_seq(self.files.iter().map(file))
    }
}

impl<'de> Deserialize<'de> for SourceMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SourceMap, D::Error> {
        let files = Vec::<(Arc<str>, Arc<str>, bool)>::deserialize(deserializer)?;
        let file = |(name, text, truncated)| SourceFile::new(name, text, truncated);
        Ok(SourceMap {
            files: files.into_iter().map(file).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns() {
        let mut map = SourceMap::new();
        let id = map.add_file("a.mo", "model A\r\n  Réal x;\nend A;");
        let file = map.get(id).unwrap();
        assert_eq!(file.line_count(), 3);
        assert_eq!(&file.text[file.line_range(0)], "model A");
        let x = file.text.find('x').unwrap() as u32;
        assert_eq!(file.line_column(x), LineColumn { line: 2, column: 8 });
        assert_eq!(
            file.line_column(9999),
            LineColumn { line: 3, column: 7 },
            "behind the end means the end"
        );
        assert_eq!(map.location(Span::new(id, x, x + 1)), "a.mo:2:8");
        assert_eq!(map.text(Span::new(id, x, x + 1)), "x");
    }

    #[test]
    fn latin_1_is_reported_and_readable() {
        let mut map = SourceMap::new();
        let (file, diagnostic) = map.add_bytes("l.mo", b"// gr\xf6\xdfe".to_vec());
        assert_eq!(&*map.get(file).unwrap().text, "// größe");
        let diagnostic = diagnostic.unwrap();
        assert_eq!(diagnostic.code, "syntax-encoding");
        assert_eq!(map.location(diagnostic.span()), "l.mo:1:6");
        let (_, diagnostic) = map.add_bytes("u.mo", "// größe".as_bytes().to_vec());
        assert_eq!(diagnostic, None);
    }

    #[test]
    fn joining_ignores_places_that_do_not_exist() {
        let a = Span::new(FileId(0), 3, 5);
        let b = Span::new(FileId(0), 9, 10);
        assert_eq!(a.to(b), Span::new(FileId(0), 3, 10));
        assert_eq!(b.to(a), Span::new(FileId(0), 3, 10));
        assert_eq!(Span::NONE.to(a), a);
        assert_eq!(a.to(Span::NONE), a);
    }
}
