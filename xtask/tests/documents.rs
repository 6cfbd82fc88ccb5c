//! What the documents for contributors say about files and functions is true.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Files on the way of one equation, at most.
const MOST_FILES: usize = 30;
const SECTION: &str = "## Follow one equation";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Texts between single backticks outside of blocks of code.
fn quoted(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            out.extend(line.split('`').skip(1).step_by(2));
        }
    }
    out
}

/// A file, a folder or a module of a crate (`acausal-solver/bdf/rate.rs`, `acausal-structure/tearing/growth`).
fn candidates(name: &str) -> Vec<PathBuf> {
    let mut out = vec![root().join(name), root().join("crates").join(name)];
    if let Some((folder, rest)) = name.split_once('/') {
        let sources = root().join("crates").join(folder).join("src").join(rest);
        out.push(sources.with_extension("rs"));
        out.push(sources);
    }
    out
}

/// The first part of the names that are taken for paths.
fn is_path(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let first = name.split('/').next().unwrap_or("");
    let known = [
        "crates", "python", "examples", "benches", "docs", "fuzz", "xtask", ".ci", ".github",
        ".cargo",
    ];
    name.contains('/')
        && name.chars().all(plain)
        && (known.contains(&first) || first == "acausal" || first.starts_with("acausal-"))
}

#[test]
fn named_files_exist() {
    let mut missing = Vec::new();
    let mut found = 0;
    for document in [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "README.md",
        "fuzz/README.md",
        "docs/reliability.md",
    ] {
        let text = read(document);
        for name in quoted(&text).into_iter().filter(|n| is_path(n)) {
            found += 1;
            if !candidates(name).iter().any(|p| p.exists()) {
                missing.push(format!("{document}: `{name}`"));
            }
        }
    }
    assert!(found > 50, "only {found} paths were found");
    assert!(missing.is_empty(), "not there:\n{}", missing.join("\n"));
}

/// The section: a stop of the way is a file in backticks, and the functions in backticks, `name()`, that follow it.
fn stops(section: &str) -> Vec<(&str, Vec<&str>)> {
    let mut stops: Vec<(&str, Vec<&str>)> = Vec::new();
    for name in quoted(section) {
        if name.starts_with("crates/") && name.ends_with(".rs") {
            stops.push((name, Vec::new()));
        } else if let Some(function) = name.strip_suffix("()") {
            let stop = stops.last_mut().expect("a file before the first function");
            stop.1.push(function);
        }
    }
    stops
}

/// Places where the way is not as short as the section promises: a function that is missing, a crate that is entered again.
fn complaints(stops: &[(&str, Vec<&str>)], read: impl Fn(&str) -> String) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut crates: Vec<&str> = Vec::new();
    for (file, functions) in stops {
        let text = read(file);
        for f in functions {
            let defined = text.contains(&format!("fn {f}(")) || text.contains(&format!("fn {f}<"));
            if !defined {
                wrong.push(format!("{file} has no function `{f}`"));
            }
        }
        let folder = file.split('/').nth(1).unwrap_or("");
        if crates.last() != Some(&folder) {
            if crates.contains(&folder) {
                wrong.push(format!("{file} enters {folder} again"));
            }
            crates.push(folder);
        }
    }
    let files: BTreeSet<&str> = stops.iter().map(|s| s.0).collect();
    if files.len() > MOST_FILES {
        wrong.push(format!("{} files, more than {MOST_FILES}", files.len()));
    }
    wrong
}

#[test]
fn one_equation_can_be_followed() {
    let text = read("ARCHITECTURE.md");
    let section = text.split(SECTION).nth(1).expect("the section");
    let section = section.split("\n## ").next().unwrap_or(section);
    let stops = stops(section);
    assert!(stops.len() >= 15, "only {} stops were found", stops.len());
    let idle: Vec<_> = stops
        .iter()
        .filter(|s| s.1.is_empty())
        .map(|s| s.0)
        .collect();
    assert!(idle.is_empty(), "files without a function: {idle:?}");
    let wrong = complaints(&stops, read);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn turning_back_is_found() {
    let section = "`crates/a/src/x.rs` `f()`, `crates/b/src/y.rs` `g()`, `crates/a/src/x.rs` `h()`";
    let found = complaints(&stops(section), |_| "fn f() {} fn g<T>() {}".to_string());
    assert_eq!(
        found,
        [
            "crates/a/src/x.rs has no function `h`",
            "crates/a/src/x.rs enters a again"
        ]
    );
}
