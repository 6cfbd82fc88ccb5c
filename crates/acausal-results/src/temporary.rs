//! Temporary files of this process, so that whoever ends it early can remove them.
//!
//! A file that is dropped removes itself. But a process that ends at once (a second Ctrl-C, a signal while a model is compiled, no
//! memory left) drops nothing; it calls [`remove_all`] instead.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, TryLockError};

static FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Remembers a temporary file.
pub fn register(path: &Path) {
    if let Ok(mut files) = FILES.lock() {
        files.push(path.to_path_buf());
    }
}

/// Forgets a file that was removed or has got its name.
pub fn forget(path: &Path) {
    if let Ok(mut files) = FILES.lock() {
        files.retain(|f| f != path);
    }
}

/// Removes all temporary files; to be called right before the process ends. Does not wait, so that it can be called from anywhere.
pub fn remove_all() {
    let mut files = match FILES.try_lock() {
        Ok(files) => files,
        Err(TryLockError::Poisoned(files)) => files.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    for file in files.drain(..) {
        // Nobody is left to tell when this fails; the name says that the file is partial.
        let _ = std::fs::remove_file(file);
    }
}
