//! A result file under construction: invisible under its final name until it is complete.
//!
//! The bytes go to `NAME.partial-PID-K` beside the target, and a rename on success gives the file its name. A run that
//! is killed leaves at most that clearly named file; a [`ResultFile`] that is dropped removes it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{ResultError, temporary};

/// Bytes collected in memory before they are handed to the system.
const FLUSH_BYTES: usize = 1 << 20;

/// Distinguishes the temporary files of one process.
static SERIAL: AtomicUsize = AtomicUsize::new(0);

/// An append-only file with a buffer whose content reaches the disk in whole records.
pub(crate) struct ResultFile {
    path: PathBuf,
    partial: PathBuf,
    file: File,
    /// Records not yet handed to the system.
    pub(crate) buffer: Vec<u8>,
    /// Where the records in the buffer end.
    ends: Vec<usize>,
    /// Length of the file up to the last record that was written without error.
    good: u64,
    failed: bool,
    done: bool,
}

impl ResultFile {
    /// Checks that `path` can become a result file and opens the temporary file beside it.
    pub(crate) fn create(path: &Path) -> Result<Self, ResultError> {
        let fail = |source| ResultError::Create {
            path: path.to_path_buf(),
            source,
        };
        // A link is followed, so that the rename replaces the file and not the link to it.
        let path = match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => return Err(fail(io::ErrorKind::IsADirectory.into())),
            Ok(meta) if !meta.is_file() => {
                return Err(fail(io::Error::other(
                    "it exists and is not a regular file",
                )));
            }
            Ok(meta) if meta.permissions().readonly() => {
                return Err(fail(io::ErrorKind::PermissionDenied.into()));
            }
            Ok(_) if path.is_symlink() => fs::canonicalize(path).map_err(fail)?,
            // A missing file, or one that cannot even be looked at: opening tells.
            _ => path.to_path_buf(),
        };
        let (partial, file) = open_beside(&path, "partial").map_err(fail)?;
        Ok(Self {
            path,
            partial,
            file,
            buffer: Vec::new(),
            ends: Vec::new(),
            good: 0,
            failed: false,
            done: false,
        })
    }

    /// The name that the file will have.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes appended so far, those in the buffer included.
    pub(crate) fn position(&self) -> u64 {
        self.good + self.buffer.len() as u64
    }

    /// Marks the end of a record; only whole records are ever written.
    pub(crate) fn end_record(&mut self) -> Result<(), ResultError> {
        self.ends.push(self.buffer.len());
        if self.buffer.len() >= FLUSH_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Hands the buffer to the system.
    pub(crate) fn flush(&mut self) -> Result<(), ResultError> {
        if self.failed {
            return Err(self.error(io::Error::other("an earlier write failed")));
        }
        let (written, result) = self.write_buffer();
        match result {
            Ok(()) => {
                self.good += self.buffer.len() as u64;
                self.buffer.clear();
                self.ends.clear();
                Ok(())
            }
            Err(e) => {
                // The records that fitted are kept; the torn one is cut off by `salvage`.
                let whole = self.ends.partition_point(|&end| end <= written);
                self.good += whole.checked_sub(1).map_or(0, |k| self.ends[k]) as u64;
                self.failed = true;
                Err(self.error(e))
            }
        }
    }

    /// `write_all` that also tells how much was written.
    fn write_buffer(&mut self) -> (usize, io::Result<()>) {
        let mut written = 0;
        while written < self.buffer.len() {
            match self.file.write(&self.buffer[written..]) {
                Ok(0) => return (written, Err(io::ErrorKind::WriteZero.into())),
                Ok(n) => written += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return (written, Err(e)),
            }
        }
        (written, Ok(()))
    }

    /// Replaces bytes that are already written, and returns to the end.
    pub(crate) fn patch(&mut self, offset: u64, bytes: &[u8]) -> Result<(), ResultError> {
        let patched = self
            .file
            .seek(SeekFrom::Start(offset))
            .and_then(|_| self.file.write_all(bytes))
            .and_then(|()| self.file.seek(SeekFrom::End(0)));
        patched.map(|_| ()).map_err(|e| {
            self.failed = true;
            self.error(e)
        })
    }

    /// After a failed write: drops the torn record and whatever followed it, so that the rest can be closed properly.
    /// Returns the length of the intact part.
    pub(crate) fn salvage(&mut self) -> Result<u64, ResultError> {
        if self.failed {
            self.cut(self.good)?;
        }
        Ok(self.position())
    }

    /// Drops everything from `length` on, written or not.
    pub(crate) fn cut(&mut self, length: u64) -> Result<(), ResultError> {
        self.buffer.clear();
        self.ends.clear();
        let cut = self
            .file
            .set_len(length)
            .and_then(|()| self.file.seek(SeekFrom::End(0)));
        cut.map_err(|e| self.error(e))?;
        self.good = length;
        self.failed = false;
        Ok(())
    }

    /// Reads a number that is already written.
    pub(crate) fn number_at(&mut self, offset: u64) -> Result<f64, ResultError> {
        let mut bytes = [0; 8];
        let read = self
            .file
            .seek(SeekFrom::Start(offset))
            .and_then(|_| self.file.read_exact(&mut bytes))
            .and_then(|()| self.file.seek(SeekFrom::End(0)));
        read.map_err(|e| self.error(e))?;
        Ok(f64::from_le_bytes(bytes))
    }

    /// Gives the file its name.
    pub(crate) fn commit(&mut self) -> Result<PathBuf, ResultError> {
        self.flush()?;
        let path = self.path.clone();
        self.rename(path)
    }

    /// Gives the file the name of an incomplete result: `x.csv` becomes `x.partial.csv`.
    pub(crate) fn commit_incomplete(&mut self) -> Result<PathBuf, ResultError> {
        self.flush()?;
        let path = incomplete_name(&self.path);
        self.rename(path)
    }

    /// Opens a scratch file beside the target; it is removed from the directory at once where the system allows it.
    pub(crate) fn scratch(&self) -> Result<TemporaryFile, ResultError> {
        let (path, file) = open_beside(&self.path, "scratch").map_err(|e| self.error(e))?;
        Ok(TemporaryFile { path, file })
    }

    /// A write error on this file.
    pub(crate) fn error(&self, source: io::Error) -> ResultError {
        ResultError::Write {
            path: self.path.clone(),
            source,
        }
    }

    fn rename(&mut self, to: PathBuf) -> Result<PathBuf, ResultError> {
        fs::rename(&self.partial, &to).map_err(|e| self.error(e))?;
        temporary::forget(&self.partial);
        self.done = true;
        Ok(to)
    }
}

impl Drop for ResultFile {
    fn drop(&mut self) {
        if !self.done {
            // Nobody is left to tell when this fails; the name says that the file is partial.
            let _ = fs::remove_file(&self.partial);
            temporary::forget(&self.partial);
        }
    }
}

/// A temporary file that disappears when dropped.
pub(crate) struct TemporaryFile {
    path: PathBuf,
    /// The open file.
    pub(crate) file: File,
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        temporary::forget(&self.path);
    }
}

/// `dir/x.csv` -> `dir/x.partial.csv`.
pub(crate) fn incomplete_name(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    name.push(".partial");
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

fn open_beside(path: &Path, label: &str) -> io::Result<(PathBuf, File)> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path names no file",
        ));
    };
    let mut temporary = name.to_os_string();
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    temporary.push(format!(".{label}-{}-{serial}", std::process::id()));
    let temporary = path.with_file_name(temporary);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&temporary)?;
    temporary::register(&temporary);
    Ok((temporary, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        let dir =
            std::env::temp_dir().join(format!("acausal-target-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        dir
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut all: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        all.sort();
        all
    }

    #[test]
    fn appears_only_when_complete() {
        let dir = directory("commit");
        let mut target = ResultFile::create(&dir.join("x.csv")).unwrap();
        target.buffer.extend(b"time\n0\n");
        target.flush().unwrap();
        assert!(names(&dir)[0].starts_with("x.csv.partial-"));
        target.commit().unwrap();
        assert_eq!(names(&dir), ["x.csv"]);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn dropped_leaves_nothing_and_keeps_the_old_file() {
        let dir = directory("drop");
        fs::write(dir.join("x.csv"), "old").unwrap();
        let mut target = ResultFile::create(&dir.join("x.csv")).unwrap();
        target.buffer.extend(b"new");
        drop(target);
        assert_eq!(names(&dir), ["x.csv"]);
        assert_eq!(fs::read(dir.join("x.csv")).unwrap(), b"old");
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn incomplete_has_its_own_name() {
        let dir = directory("incomplete");
        let mut target = ResultFile::create(&dir.join("a.b.mat")).unwrap();
        target.commit_incomplete().unwrap();
        assert_eq!(names(&dir), ["a.b.partial.mat"]);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn unwritable_is_an_error_with_the_path() {
        let dir = directory("unwritable");
        for path in [dir.join("missing/x.csv"), dir.clone()] {
            let Err(ResultError::Create { path: reported, .. }) = ResultFile::create(&path) else {
                panic!("{} must not be creatable", path.display());
            };
            assert_eq!(reported, path);
        }
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn a_link_stays_a_link() {
        let dir = directory("link");
        fs::create_dir(dir.join("store")).unwrap();
        fs::write(dir.join("store/real.csv"), "old").unwrap();
        std::os::unix::fs::symlink(dir.join("store/real.csv"), dir.join("x.csv")).unwrap();
        let mut target = ResultFile::create(&dir.join("x.csv")).unwrap();
        target.buffer.extend(b"new");
        target.commit().unwrap();
        assert!(dir.join("x.csv").is_symlink());
        assert_eq!(fs::read(dir.join("store/real.csv")).unwrap(), b"new");
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn torn_record_is_cut_off() {
        let dir = directory("torn");
        let mut target = ResultFile::create(&dir.join("x.csv")).unwrap();
        target.buffer.extend(b"whole\n");
        target.flush().unwrap();
        target.file.write_all(b"tor").unwrap(); // what a full disk leaves of the next record
        target.failed = true;
        assert!(target.flush().is_err());
        assert_eq!(target.salvage().unwrap(), 6);
        let path = target.commit_incomplete().unwrap();
        assert_eq!(fs::read(path).unwrap(), b"whole\n");
        fs::remove_dir_all(dir).unwrap();
    }
}
