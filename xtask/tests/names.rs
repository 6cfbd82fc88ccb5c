//! One meaning per name: two crates do not define public types of the same name, and names that only their author could look up do not come back.
//!
//! A reader meets the name of a public type far from its definition. Where two crates use one name for two things, the reader has to find out which is meant; where they
//! mean the same thing, there should be one type. Tests are free, and so is what a file keeps to itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

/// Names that several crates may use, and why.
const SHARED: &[(&str, &str)] = &[
    (
        "Error",
        "the error of a module by convention, with its path: `lower::Error`",
    ),
    (
        "Options",
        "of one verb of a command, or of one crate, with its path: `speed::Options`",
    ),
    // The structural crate knows integers only; what it calls so is the thing of the same name as the graph sees it, with its path.
    (
        "Access",
        "`segments::Access`: an access by ranges of numbers",
    ),
    (
        "Equation",
        "`segments::Equation`: an equation by what it touches",
    ),
    ("Variable", "`segments::Variable`: a variable by its sizes"),
    ("Model", "`segments::Model`: a model by its graph"),
    (
        "Class",
        "`integer_elimination::Class`: how an unknown is used elsewhere",
    ),
    ("Span", "`segments::Span`: a range of indices"),
];

/// Words that were names once and told nobody anything.
const PRIVATE_WORDS: &[&str] = &[
    "astray",
    "depart",
    "far",
    "few",
    "gaps",
    "given_back",
    "loose",
    "looks",
    "meeting",
    "quad",
    "two",
    "wishes",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace")
}

/// The sources of every crate outside of tests, with the name of the crate.
fn sources() -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join("crates")).expect("the folder `crates`") {
        let entry = entry.expect("a crate");
        let name = entry.file_name().into_string().expect("a name in UTF-8");
        let mut folders = vec![entry.path().join("src")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder of sources") {
                let path = entry.expect("a file").path();
                let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or("");
                match path.extension() {
                    _ if stem == "tests" || stem.ends_with("_tests") => {}
                    _ if path.is_dir() => folders.push(path),
                    Some(e) if e == "rs" => files.push((name.clone(), path)),
                    _ => {}
                }
            }
        }
    }
    files.sort();
    assert!(files.len() > 100, "only {} sources were found", files.len());
    files
}

/// The names that a file defines.
#[derive(Default)]
struct Defined {
    public_types: Vec<String>,
    /// Types, functions, modules, constants and fields of any visibility.
    items: Vec<String>,
}

impl Defined {
    fn of(text: &str) -> Defined {
        let file = syn::parse_file(text).expect("a source");
        let mut defined = Defined::default();
        defined.visit_file(&file);
        defined
    }

    fn add_type(&mut self, name: &syn::Ident, visibility: &syn::Visibility) {
        if matches!(visibility, syn::Visibility::Public(_)) {
            self.public_types.push(name.to_string());
        }
        self.items.push(name.to_string());
    }
}

impl<'a> Visit<'a> for Defined {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        self.items.push(module.ident.to_string());
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.add_type(&item.ident, &item.vis);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'a syn::ItemEnum) {
        self.add_type(&item.ident, &item.vis);
    }

    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.add_type(&item.ident, &item.vis);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'a syn::ItemType) {
        self.add_type(&item.ident, &item.vis);
    }

    fn visit_field(&mut self, field: &'a syn::Field) {
        self.items.extend(field.ident.iter().map(|i| i.to_string()));
    }

    fn visit_signature(&mut self, signature: &'a syn::Signature) {
        self.items.push(signature.ident.to_string());
    }
}

/// Names of public types with the crates that define them, where there are several.
fn ambiguous(found: &BTreeMap<String, BTreeSet<String>>, shared: &[(&str, &str)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, crates) in found.iter().filter(|f| f.1.len() > 1) {
        if !shared.iter().any(|s| s.0 == name) {
            let crates: Vec<&str> = crates.iter().map(String::as_str).collect();
            wrong.push(format!("`{name}` is a type of {}", crates.join(" and of ")));
        }
    }
    for (name, _) in shared {
        if found.get(*name).is_none_or(|crates| crates.len() < 2) {
            wrong.push(format!(
                "`{name}` is no exception any more: delete it from the list"
            ));
        }
    }
    wrong
}

#[test]
fn a_public_type_has_a_name_of_its_own() {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, path) in sources() {
        let text = fs::read_to_string(&path).expect("a text");
        for public in Defined::of(&text).public_types {
            found.entry(public).or_default().insert(name.clone());
        }
    }
    assert!(found.len() > 300, "only {} public types", found.len());
    let wrong = ambiguous(&found, SHARED);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_are_words_that_others_know() {
    let mut wrong = Vec::new();
    for (_, path) in sources() {
        let text = fs::read_to_string(&path).expect("a text");
        let items = Defined::of(&text).items;
        let private = items.iter().filter(|i| {
            let name = i.to_lowercase();
            PRIVATE_WORDS.contains(&name.as_str())
        });
        wrong.extend(private.map(|name| format!("{}: `{name}`", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_looked_for_is_found() {
    let text = "pub struct A { few: u8 } pub(crate) enum B {} mod m { pub trait C {} } mod tests { pub struct D; } fn far() {}";
    let defined = Defined::of(text);
    assert_eq!(defined.public_types, ["A", "C"]);
    assert_eq!(defined.items, ["A", "few", "B", "m", "C", "tests", "far"]);

    let crates = |names: &[&str]| names.iter().map(|n| n.to_string()).collect();
    let found = BTreeMap::from([
        ("One".to_string(), crates(&["a"])),
        ("Two".to_string(), crates(&["a", "b"])),
    ]);
    assert_eq!(ambiguous(&found, &[]), ["`Two` is a type of a and of b"]);
    assert_eq!(ambiguous(&found, &[("Two", "")]), [""; 0]);
    assert_eq!(
        ambiguous(&found, &[("Two", ""), ("One", "")]),
        ["`One` is no exception any more: delete it from the list"]
    );
}
