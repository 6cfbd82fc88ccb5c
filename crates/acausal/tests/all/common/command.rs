//! Runs the built command in a directory of its own.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A directory that disappears, with the command in it.
pub struct Place {
    dir: tempfile::TempDir,
}

/// What the command said.
#[derive(Debug)]
pub struct Said {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Place {
    /// An empty directory.
    pub fn new() -> Place {
        Place {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// A directory with one file.
    pub fn with(name: &str, text: &str) -> Place {
        let place = Place::new();
        place.write(name, text);
        place
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Place {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    /// A path in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Sorted names of all files.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Runs `acausal` with arguments.
    pub fn acausal(&self, arguments: &[&str]) -> Said {
        let output = Command::new(env!("CARGO_BIN_EXE_acausal"))
            .args(arguments)
            .current_dir(self.dir.path())
            .env_remove("MODELICAPATH")
            .env_remove("LC_ALL")
            .env_remove("LC_CTYPE")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = Said {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(
            !said.err.contains("panicked"),
            "{arguments:?}: {}",
            said.err
        );
        said
    }
}

impl Said {
    /// Asserts the exit code.
    #[track_caller]
    pub fn code(self, expected: i32) -> Said {
        assert_eq!(self.code, expected, "\n{}\n{}", self.out, self.err);
        self
    }

    /// Asserts that standard error contains all of these.
    #[track_caller]
    pub fn complains(self, parts: &[&str]) -> Said {
        for part in parts {
            assert!(
                self.err.contains(part),
                "`{part}` is missing in\n{}",
                self.err
            );
        }
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|e| panic!("{e}: {}\n{}", self.out, self.err))
    }
}

/// The full path of an example.
pub fn example(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(file);
    path.canonicalize().unwrap().to_str().unwrap().to_string()
}
