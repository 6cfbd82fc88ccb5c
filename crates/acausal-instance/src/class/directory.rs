//! A package stored as a directory (MLS 3.6 §13.4.1).
//!
//! `A/package.mo` holds class `A`; `A/B.mo` and `A/C/package.mo` hold `A.B` and `A.C`. Listing the directory gives the names; the
//! files are read when a name is first asked for. `package.order` gives the order of the names.

use std::path::{Path, PathBuf};

use acausal_base::Name;
use indexmap::IndexMap;

/// Name of the file that holds the class of a directory.
pub(super) const PACKAGE_FILE: &str = "package.mo";

/// A directory with a `package.mo`.
#[derive(Debug)]
pub(super) struct Directory {
    /// Where the nested classes are stored, in the order of `package.order`, then by name.
    pub entries: IndexMap<Name, Entry>,
}

/// Where one class is stored.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// The file to parse: `B.mo` or `B/package.mo`.
    pub file: PathBuf,
    /// The directory, if the class is stored as one.
    pub directory: Option<PathBuf>,
}

/// Lists the classes stored in a directory, without those in its `package.mo`.
///
/// Unreadable directories give an empty list: that no class was found there is reported by name.
pub(super) fn list(directory: &Path) -> Directory {
    let mut found: Vec<(String, Entry)> = Vec::new();
    let listing = std::fs::read_dir(directory).into_iter().flatten().flatten();
    for item in listing {
        let file_name = item.file_name();
        let Some(text) = file_name.to_str() else {
            continue;
        };
        if let Some(stem) = text.strip_suffix(".mo") {
            if text != PACKAGE_FILE {
                found.push((
                    stem.to_string(),
                    Entry {
                        file: item.path(),
                        directory: None,
                    },
                ));
            }
        } else if item.file_type().is_ok_and(|kind| !kind.is_file()) {
            // Also a link to a directory; whether it is a package shows `package.mo`.
            let path = item.path();
            let file = path.join(PACKAGE_FILE);
            if file.is_file() {
                found.push((
                    text.to_string(),
                    Entry {
                        file,
                        directory: Some(path),
                    },
                ));
            }
        }
    }
    // The order in which a file system lists is not reproducible.
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let mut known: IndexMap<Name, Entry> = found
        .into_iter()
        .map(|(name, entry)| (Name::new(&name), entry))
        .collect();
    let mut entries = IndexMap::with_capacity(known.len());
    let order = std::fs::read_to_string(directory.join("package.order")).unwrap_or_default();
    for line in order.lines() {
        if let Some((name, entry)) = known.shift_remove_entry(&Name::new(line.trim())) {
            entries.insert(name, entry);
        }
    }
    entries.extend(known);
    Directory { entries }
}
