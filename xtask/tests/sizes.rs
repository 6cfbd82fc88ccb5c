//! Sources that fit into a head: no file above 600 lines, no function above 120.
//!
//! What is longer today stands in the two lists below, and these may only shrink: an entry that is no longer needed, or allows more lines
//! than there are, fails as well. Tests are free.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

const LINES_OF_A_FILE: usize = 600;
const LINES_OF_A_FUNCTION: usize = 120;

/// Files that are longer, and their lines.
const LONG_FILES: &[(&str, usize)] = &[];

/// Functions that are longer, and their lines.
const LONG_FUNCTIONS: &[(&str, usize)] = &[];

/// All sources of the workspace outside of tests, as paths below its root.
fn sources() -> Vec<PathBuf> {
    let root = root();
    let mut folders = vec![root.join("xtask/src"), root.join("python/src")];
    for entry in fs::read_dir(root.join("crates")).expect("the folder `crates`") {
        folders.push(entry.expect("a crate").path().join("src"));
    }
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("a file").path();
            let is_test = path.file_stem().is_some_and(|n| n == "tests");
            match path.extension() {
                _ if is_test => {}
                _ if path.is_dir() => folders.push(path),
                Some(e) if e == "rs" => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    assert!(files.len() > 100, "only {} sources were found", files.len());
    files
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
}

/// The longest function of each name, `function` or `Type::function`; modules of tests are left out.
#[derive(Default)]
struct Functions {
    lines: BTreeMap<String, usize>,
    /// The type of the `impl` around.
    owner: Option<String>,
}

impl Functions {
    fn add(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let lines = block.span().end().line - signature.span().start().line + 1;
        let name = match &self.owner {
            Some(owner) => format!("{owner}::{}", signature.ident),
            None => signature.ident.to_string(),
        };
        let longest = self.lines.entry(name).or_default();
        *longest = lines.max(*longest);
    }
}

impl<'a> Visit<'a> for Functions {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        if let syn::Type::Path(path) = &*item.self_ty {
            self.owner = path.path.segments.last().map(|s| s.ident.to_string());
        }
        visit::visit_item_impl(self, item);
        self.owner = None;
    }

    fn visit_item_fn(&mut self, f: &'a syn::ItemFn) {
        self.add(&f.sig, &f.block);
        visit::visit_item_fn(self, f);
    }

    fn visit_impl_item_fn(&mut self, f: &'a syn::ImplItemFn) {
        self.add(&f.sig, &f.block);
        visit::visit_impl_item_fn(self, f);
    }

    fn visit_trait_item_fn(&mut self, f: &'a syn::TraitItemFn) {
        if let Some(block) = &f.default {
            self.add(&f.sig, block);
        }
        visit::visit_trait_item_fn(self, f);
    }
}

/// What is wrong with what was found, given what is allowed by way of exception.
fn complaints(
    found: &BTreeMap<String, usize>,
    limit: usize,
    exceptions: &[(&str, usize)],
) -> Vec<String> {
    let allowed: BTreeMap<&str, usize> = exceptions.iter().copied().collect();
    let mut wrong = Vec::new();
    for (what, &lines) in found {
        match allowed.get(what.as_str()) {
            None if lines > limit => {
                wrong.push(format!("{what} has {lines} lines, more than {limit}"))
            }
            Some(&most) if lines > most => {
                wrong.push(format!("{what} has grown from {most} to {lines} lines"))
            }
            _ => {}
        }
    }
    for (what, most) in &allowed {
        let lines = found.get(*what).copied().unwrap_or(0);
        if lines <= limit {
            wrong.push(format!(
                "{what} is no exception any more: delete it from the list"
            ));
        } else if lines < *most {
            wrong.push(format!(
                "{what} has {lines} lines now: write so in the list instead of {most}"
            ));
        }
    }
    wrong
}

fn below_root(path: &Path) -> String {
    let below = path.strip_prefix(root()).expect("a path below the root");
    below.to_str().expect("a path in UTF-8").to_string()
}

#[test]
fn no_file_is_too_long() {
    let mut found = BTreeMap::new();
    for path in sources() {
        let text = fs::read_to_string(&path).expect("a text");
        // A module of tests at the end belongs to the tests.
        let code = text
            .split("\n#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or("");
        found.insert(below_root(&path), code.lines().count());
    }
    let wrong = complaints(&found, LINES_OF_A_FILE, LONG_FILES);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_function_is_too_long() {
    let mut found = BTreeMap::new();
    for path in sources() {
        let text = fs::read_to_string(&path).expect("a text");
        let file = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut functions = Functions::default();
        functions.visit_file(&file);
        // The name of the crate and of the function: files are moved and split more often.
        let path = below_root(&path);
        let folder = path
            .split('/')
            .take_while(|part| *part != "src")
            .last()
            .unwrap_or("");
        for (name, lines) in functions.lines {
            let longest: &mut usize = found.entry(format!("{folder}::{name}")).or_default();
            *longest = lines.max(*longest);
        }
    }
    let wrong = complaints(&found, LINES_OF_A_FUNCTION, LONG_FUNCTIONS);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lists_may_only_shrink() {
    let found = BTreeMap::from([("a".to_string(), 130), ("b".to_string(), 90)]);
    assert_eq!(complaints(&found, 120, &[("a", 130)]), [""; 0]);
    assert_eq!(
        complaints(&found, 120, &[]),
        ["a has 130 lines, more than 120"]
    );
    assert_eq!(
        complaints(&found, 120, &[("a", 125)]),
        ["a has grown from 125 to 130 lines"]
    );
    let stale = complaints(&found, 120, &[("a", 140), ("b", 125), ("c", 125)]);
    assert_eq!(stale.len(), 3, "{stale:?}");
}
