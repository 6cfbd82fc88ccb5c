//! Loading what the user names: single files with any number of classes, files of a package, package directories; and the versions
//! they ask for.

use std::path::Path;
use std::sync::Arc;

use acausal_base::{Diagnostic, Name, Span};
use acausal_syntax::ast::StoredDefinition;

use super::directory::{Entry, PACKAGE_FILE};
use super::libraries::Libraries;
use super::store;
use super::tree::ClassId;
use super::version::{self, Use};

impl Libraries {
    /// Loads a file or a package directory given by the user and gives the full names of its classes.
    ///
    /// A file that is part of a package (`package.mo` beside it) loads the top-level package around it. All errors of the file are
    /// given; warnings are kept for [`take_diagnostics`](Libraries::take_diagnostics).
    pub fn load_file(&mut self, path: &Path) -> Result<Vec<String>, Vec<Diagnostic>> {
        let file = if path.is_dir() {
            path.join(PACKAGE_FILE)
        } else {
            path.to_path_buf()
        };
        let before = self.diagnostics.len();
        let names = match version::package_directories(&file).pop() {
            Some(root) => self.load_package_file(&file, &root),
            None => match store::read(&mut self.sources, &mut self.diagnostics, &file) {
                Ok(tree) => self.enter(&tree),
                Err(error) => {
                    self.diagnostics.push(*error);
                    Vec::new()
                }
            },
        };
        self.outcome(before, names)
    }

    /// Loads text as if it were a file with this name.
    pub fn load_text(&mut self, name: &str, text: &str) -> Result<Vec<String>, Vec<Diagnostic>> {
        let before = self.diagnostics.len();
        let tree = store::parse_text(&mut self.sources, &mut self.diagnostics, name, text);
        let names = self.enter(&tree);
        self.outcome(before, names)
    }

    /// Ends a loading function: errors since `before` make it fail.
    fn outcome(
        &mut self,
        before: usize,
        names: Vec<String>,
    ) -> Result<Vec<String>, Vec<Diagnostic>> {
        let (errors, rest): (Vec<_>, Vec<_>) = self
            .diagnostics
            .split_off(before)
            .into_iter()
            .partition(Diagnostic::is_error);
        self.diagnostics.extend(rest);
        if errors.is_empty() {
            Ok(names)
        } else {
            Err(errors)
        }
    }

    /// Loads the top-level package at `root` and gives the name of the class that `file` holds.
    fn load_package_file(&mut self, file: &Path, root: &Path) -> Vec<String> {
        let folder = std::fs::canonicalize(root).ok();
        let stem = folder
            .as_ref()
            .and_then(|path| path.file_name())
            .and_then(|name| name.to_str());
        let Some(stem) = stem else { return Vec::new() };
        // `Modelica 4.1.0` holds `Modelica`.
        let name = Name::new(stem.split_once(' ').map_or(stem, |(name, _)| name));
        if !self.top.contains_key(&name) {
            let entry = Entry {
                file: root.join(PACKAGE_FILE),
                directory: Some(root.to_path_buf()),
            };
            let Some(class) = self.load_entry(name, &entry, None) else {
                return Vec::new();
            };
            self.top.insert(name, class);
            self.note_uses(class);
        }
        let Ok(inside) = file.strip_prefix(root) else {
            return Vec::new();
        };
        let mut names = vec![name.to_string()];
        for part in inside.iter().filter_map(|part| part.to_str()) {
            if part != PACKAGE_FILE {
                names.push(part.strip_suffix(".mo").unwrap_or(part).to_string());
            }
        }
        let qualified = names.join(".");
        match self.find(&qualified) {
            Some(_) => vec![qualified],
            None => Vec::new(),
        }
    }

    /// Enters the classes of a file that stands alone.
    fn enter(&mut self, tree: &StoredDefinition) -> Vec<String> {
        let within = tree.within.as_ref().and_then(|within| within.name.as_ref());
        let parent = match within {
            None => None,
            Some(path) => match self.find(&path.to_string()) {
                Some(parent) => Some(parent),
                None => {
                    self.diagnostics.push(
                        Diagnostic::error(
                            "wrong-within",
                            path.span,
                            format!("there is no package `{path}` to put the class into"),
                        )
                        .hint("load the package first, or give its directory with `--library DIR`"),
                    );
                    return Vec::new();
                }
            },
        };
        let mut names = Vec::new();
        for stored in &tree.classes {
            let name = stored.class.name.name;
            let known = match parent {
                None => self.top.get(&name).copied(),
                Some(parent) => self.nested(parent, name),
            };
            if let Some(known) = known {
                self.duplicate_class(stored.class.name.span, name, known);
                continue;
            }
            let class = self.arena.add(Arc::clone(&stored.class), parent);
            match parent {
                None => {
                    self.top.insert(name, class);
                    self.missing.shift_remove(&name);
                    self.note_uses(class);
                }
                Some(parent) => {
                    self.arena.get_mut(parent).nested.insert(name, class);
                }
            }
            names.push(self.arena.qualified_name(class));
        }
        names
    }

    fn duplicate_class(&mut self, span: Span, name: Name, known: ClassId) {
        let mut error = Diagnostic::error(
            "duplicate-class",
            span,
            format!("class `{name}` is already defined"),
        );
        if self.predefined.contains_key(&known) {
            error = error.note(format!("`{name}` is a predefined type"));
        } else {
            error = error.label(self.arena.get(known).def.name.span, "first defined here");
        }
        self.diagnostics.push(error);
    }

    /// Remembers which versions a top-level class uses, and compares them with what is loaded.
    pub(super) fn note_uses(&mut self, class: ClassId) {
        let def = Arc::clone(&self.arena.get(class).def);
        if let Some(wanted) = self.uses.get(def.name.as_str()).cloned() {
            self.check_version(class, &wanted);
        }
        for wanted in version::uses(&def) {
            if let Some(&loaded) = self.top.get(&Name::new(&wanted.library)) {
                self.check_version(loaded, &wanted);
            }
            self.uses.entry(wanted.library.clone()).or_insert(wanted);
        }
    }

    fn check_version(&mut self, class: ClassId, wanted: &Use) {
        let def = &self.arena.get(class).def;
        let Some(found) = version::version(def) else {
            return;
        };
        if found == wanted.version || version::compatible_with(def, &wanted.version) {
            return;
        }
        self.diagnostics.push(
            Diagnostic::warning(
                "version-mismatch",
                wanted.span,
                format!(
                    "version {} of {} is asked for, version {found} is loaded",
                    wanted.version, wanted.library
                ),
            )
            .label(def.name.span, format!("this is version {found}")),
        );
    }
}
