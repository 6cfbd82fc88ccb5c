//! A file that is promised before the simulation and written after it.
//!
//! Promising creates a file of another name in the same directory, which shows at once whether the directory can be
//! written. Keeping the promise writes that file and renames it, so that nothing unfinished ever bears the name the
//! user asked for. A promise that is not kept leaves nothing behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use acausal_results::temporary;

/// See the module.
pub struct PendingFile {
    path: PathBuf,
    /// `None` when the path is a device or pipe, which is written directly.
    temporary: Option<PathBuf>,
}

impl PendingFile {
    /// Promises the file.
    pub fn create(path: &Path) -> io::Result<PendingFile> {
        match fs::metadata(path) {
            Ok(m) if m.is_dir() => return Err(io::Error::other("it is a directory")),
            Ok(m) if !m.is_file() => {
                return Ok(PendingFile {
                    path: path.to_path_buf(),
                    temporary: None,
                });
            }
            _ => {}
        }
        let Some(name) = path.file_name() else {
            return Err(io::Error::other("it names no file"));
        };
        let mut temporary = name.to_os_string();
        temporary.push(format!(".partial-{}", std::process::id()));
        let temporary = path.with_file_name(temporary);
        fs::File::create(&temporary)?;
        temporary::register(&temporary);
        Ok(PendingFile {
            path: path.to_path_buf(),
            temporary: Some(temporary),
        })
    }

    /// Writes the content and gives the file its name.
    pub fn write(mut self, content: &[u8]) -> io::Result<()> {
        match &self.temporary {
            None => fs::write(&self.path, content),
            Some(temporary) => {
                fs::write(temporary, content)?;
                fs::rename(temporary, &self.path)?;
                temporary::forget(temporary);
                self.temporary = None;
                Ok(())
            }
        }
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Nobody is left to tell when this fails; the name says that the file is partial.
            let _ = fs::remove_file(temporary);
            temporary::forget(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_promise_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        drop(PendingFile::create(&dir.path().join("x.svg")).unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        PendingFile::create(&dir.path().join("x.svg"))
            .unwrap()
            .write(b"picture")
            .unwrap();
        assert_eq!(fs::read(dir.path().join("x.svg")).unwrap(), b"picture");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_written_is_known_early() {
        let dir = tempfile::tempdir().unwrap();
        assert!(PendingFile::create(dir.path()).is_err());
        assert!(PendingFile::create(&dir.path().join("missing/x.svg")).is_err());
    }
}
