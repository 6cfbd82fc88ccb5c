//! Rules of the source that the compiler does not check (ARCHITECTURE.md).

use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folders of all crates, that of the Python package included.
fn packages() -> Vec<PathBuf> {
    let entries = fs::read_dir(crates()).unwrap();
    let mut packages: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    packages.push(crates().join("../python"));
    packages
}

/// The Rust files below a folder, in order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The modules that a file declares, those of tests left out.
fn declared(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut before = "";
    for line in text.lines() {
        let name = line
            .trim_start_matches("pub ")
            .trim_start_matches("pub(crate) ")
            .strip_prefix("mod ")
            .and_then(|rest| rest.strip_suffix(';'));
        if let Some(name) = name
            && before != "#[cfg(test)]"
        {
            names.push(name);
        }
        before = line;
    }
    names
}

/// Every crate begins with a table of its modules that leaves none out.
#[test]
fn every_module_is_in_the_table_of_its_crate() {
    let mut missing = Vec::new();
    let mut tables = 0;
    for package in packages() {
        let lib = package.join("src/lib.rs");
        let Ok(text) = fs::read_to_string(&lib) else {
            continue;
        };
        let rows: Vec<&str> = text.lines().filter(|l| l.starts_with("//! |")).collect();
        let table = rows.join("\n");
        tables += 1;
        for name in declared(&text) {
            if !table.contains(&format!("`{name}`")) && !table.contains(&format!("`mod@{name}`")) {
                missing.push(format!("{}: {name}", lib.display()));
            }
        }
    }
    assert!(tables > 15, "{tables} crates found");
    missing.sort();
    assert!(missing.is_empty(), "in no table:\n{}", missing.join("\n"));
}

/// A module of several files is a folder with a `mod.rs`: there is no `x.rs` beside a folder `x`.
#[test]
fn modules_of_several_files_are_folders() {
    let mut beside = Vec::new();
    for package in packages() {
        for file in sources(&package.join("src")) {
            if file.with_extension("").is_dir() {
                beside.push(file.display().to_string());
            }
        }
    }
    beside.sort();
    assert!(
        beside.is_empty(),
        "should be `mod.rs`:\n{}",
        beside.join("\n")
    );
}

/// The front end decides on kinds of errors. Codes and texts of diagnostics are for those who read them.
#[test]
fn the_front_end_does_not_look_at_codes_of_messages() {
    let forbidden = [
        ".code ==",
        ".code !=",
        "match message.code",
        ".code, \"",
        ".code {",
        ".code = ",
        ".message ==",
        ".message !=",
        ".message.contains(",
        ".message.starts_with(",
        ".message.split",
        ".message.strip_",
    ];
    let mut found = Vec::new();
    for name in ["acausal-syntax", "acausal-instance", "acausal-flatten"] {
        for file in sources(&crates().join(name).join("src")) {
            if file.to_string_lossy().contains("tests") {
                continue;
            }
            let text = fs::read_to_string(&file).unwrap();
            for (k, line) in text.lines().enumerate() {
                let is_comment = line.trim_start().starts_with("//");
                if !is_comment && forbidden.iter().any(|f| line.contains(f)) {
                    found.push(format!("{}:{}: {}", file.display(), k + 1, line.trim()));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
