//! Where classes come from: files given by the user, and libraries found on the search path.

use std::path::PathBuf;
use std::sync::Arc;

use acausal_base::{Diagnostic, Name, SourceMap, Span};
use acausal_syntax::ast::{ClassBody, ElementKind, SectionKind};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashMap;

use super::directory::PACKAGE_FILE;
use super::predefined::{self, PredefinedType};
use super::table::ElementTable;
use super::tabulate::build_table;
use super::tree::{Arena, Class, ClassId};
use super::version::{self, Use};
use super::{store, suggest};

/// All source text, the search path, and the classes loaded so far.
///
/// Libraries are found as `Name/package.mo`, `Name.mo` or `Name 4.1.0/package.mo` in the directories of the search
/// path; a file is parsed when a class in it is first needed.
///
/// ```
/// use acausal_instance::class::Libraries;
/// let mut libraries = Libraries::new();
/// let names = libraries.load_text("a.mo", "model A end A; model B extends A; end B;").unwrap();
/// assert_eq!(names, ["A", "B"]);
/// ```
#[derive(Debug)]
pub struct Libraries {
    pub(super) sources: SourceMap,
    pub(super) arena: Arena,
    pub(super) diagnostics: Vec<Diagnostic>,
    search_path: Vec<PathBuf>,
    pub(super) top: IndexMap<Name, ClassId>,
    pub(super) predefined: FxHashMap<ClassId, PredefinedType>,
    /// How many of the top-level classes are predefined; they come first.
    predefined_count: usize,
    /// Versions asked for by `uses` annotations of loaded classes; the first one counts.
    pub(super) uses: IndexMap<String, Use>,
    /// Top-level names that were looked for in vain.
    pub(super) missing: IndexSet<Name>,
    /// What a model made from these classes may cost.
    pub limits: acausal_expr::Limits,
}

impl Default for Libraries {
    fn default() -> Libraries {
        Libraries::new()
    }
}

impl Libraries {
    /// No classes but the predefined ones, and an empty search path.
    pub fn new() -> Libraries {
        let mut libraries = Libraries {
            sources: SourceMap::new(),
            arena: Arena::default(),
            diagnostics: Vec::new(),
            search_path: Vec::new(),
            top: IndexMap::new(),
            predefined: FxHashMap::default(),
            predefined_count: 0,
            uses: IndexMap::new(),
            missing: IndexSet::new(),
            limits: acausal_expr::Limits::default(),
        };
        let mut mistakes = Vec::new();
        let tree = store::parse_text(
            &mut libraries.sources,
            &mut mistakes,
            "<predefined>",
            predefined::SOURCE,
        );
        debug_assert!(mistakes.is_empty(), "{mistakes:?}");
        for stored in &tree.classes {
            let name = stored.class.name.name;
            let class = libraries.arena.add(Arc::clone(&stored.class), None);
            libraries.top.insert(name, class);
            if let Some((_, kind)) = predefined::TYPES.iter().find(|(text, _)| name == *text) {
                libraries.predefined.insert(class, *kind);
            }
        }
        libraries.predefined_count = libraries.top.len();
        libraries
    }

    /// Adds a directory that contains libraries (`--library DIR`). A directory that is itself a package means the directory
    /// around it.
    pub fn add_search_path(&mut self, directory: impl Into<PathBuf>) {
        let mut directory = directory.into();
        if directory.join(PACKAGE_FILE).is_file() {
            directory.pop();
            if directory.as_os_str().is_empty() {
                directory.push(".");
            }
        }
        if !self.search_path.contains(&directory) {
            self.search_path.push(directory);
            self.missing.clear();
        }
    }

    /// Adds the directories of a list as in the variable MODELICAPATH (MLS 3.6 §13.3).
    pub fn add_modelica_path(&mut self, list: &std::ffi::OsStr) {
        for directory in std::env::split_paths(list).filter(|path| !path.as_os_str().is_empty()) {
            self.add_search_path(directory);
        }
    }

    /// The source texts, to show diagnostics with.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// For adding texts that are not classes, such as values on the command line.
    pub fn sources_mut(&mut self) -> &mut SourceMap {
        &mut self.sources
    }

    /// Lets all classes go. The sources stay, and so do messages that nobody has taken yet.
    pub fn forget_trees(&mut self) {
        let old = std::mem::take(self);
        self.sources = old.sources;
        self.diagnostics = old.diagnostics;
    }

    /// Lets the text of the components of a class go, if nobody else needs it. They are in the table of the class. Gives their number.
    pub(crate) fn forget_components(&mut self, class: ClassId) -> usize {
        let mut forgotten = 0;
        if let Some(def) = Arc::get_mut(&mut self.arena.get_mut(class).def)
            && let ClassBody::Long(composition) = &mut def.body
        {
            for section in &mut composition.sections {
                if let SectionKind::Elements { elements, .. } = &mut section.kind {
                    let all = elements.len();
                    elements.retain(|e| !matches!(e.kind, ElementKind::Components(_)));
                    elements.shrink_to_fit();
                    forgotten += all - elements.len();
                }
            }
        }
        forgotten
    }

    /// Lets go what a class says in its own text, if nobody else needs it: its declarations are in its table, and its equations have been
    /// read. Descriptions, annotations and modifications as written are gone with it.
    pub(crate) fn forget_text(&mut self, class: ClassId) {
        if let Some(def) = Arc::get_mut(&mut self.arena.get_mut(class).def)
            && let ClassBody::Long(composition) = &mut def.body
        {
            composition.sections = Vec::new();
        }
    }

    /// Errors and warnings found since the last call while loading on demand.
    pub fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.diagnostics)
    }

    /// The class definition.
    pub fn class(&self, id: ClassId) -> &Class {
        self.arena.get(id)
    }

    /// The name with all enclosing classes: `A.B.C`.
    pub fn qualified_name(&self, id: ClassId) -> String {
        self.arena.qualified_name(id)
    }

    /// A class by its full name, loaded if need be; found where it is written, not by inheritance.
    pub fn find(&mut self, qualified: &str) -> Option<ClassId> {
        let mut parts = split_name(qualified).into_iter();
        let mut class = self.top_level(Name::new(parts.next()?))?;
        for part in parts {
            class = self.nested(class, Name::new(part))?;
        }
        Some(class)
    }

    /// Names of the classes stored in a class, in the order of the source and of `package.order`.
    pub fn nested_names(&mut self, id: ClassId) -> Vec<Name> {
        let table = self.table(id);
        let class = self.arena.get(id);
        let mut names: Vec<Name> = table
            .items
            .iter()
            .filter_map(|item| match item {
                super::table::ElementDecl::Class(decl) => Some(decl.name),
                _ => None,
            })
            .collect();
        if let Some(directory) = &class.directory {
            names.extend(
                directory
                    .entries
                    .keys()
                    .filter(|name| !table.by_name.contains_key(*name)),
            );
        }
        names
    }

    /// Full names of the models and blocks below a class, those nearest to it first: what a user who named a package may
    /// have meant. Stops after `limit` names, so that a large library is not loaded for a hint.
    pub fn models_within(&mut self, id: ClassId, limit: usize) -> Vec<String> {
        use acausal_syntax::ast::ClassKind;
        let mut found = Vec::new();
        let mut queue = std::collections::VecDeque::from([id]);
        while let Some(class) = queue.pop_front() {
            for name in self.nested_names(class) {
                if found.len() == limit {
                    return found;
                }
                let Some(nested) = self.nested(class, name) else {
                    continue;
                };
                let def = &self.class(nested).def;
                match def.kind {
                    ClassKind::Package => queue.push_back(nested),
                    ClassKind::Model | ClassKind::Block if !def.partial => {
                        found.push(self.qualified_name(nested));
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// What the user is told about an unknown top-level name: where it was looked for, and what is near.
    pub(crate) fn unknown_top_level(&self, name: Name, span: Span) -> Diagnostic {
        let message = format!("there is no class or library `{name}`");
        let error = Diagnostic::error("unknown-name", span, message);
        if let Some(hint) = suggest::hint(&name, self.top.keys().map(|name| name.as_str())) {
            return error.note(self.search_note()).hint(hint);
        }
        self.explain_missing(error, name)
    }

    /// For a name that may be that of a library: where it was looked for, which `uses` asks for it, what to do.
    pub(crate) fn explain_missing(&self, error: Diagnostic, name: Name) -> Diagnostic {
        let mut error = error.note(self.search_note());
        if let Some(wanted) = self.uses.get(name.as_str()) {
            let said = format!("version {} of {name} is asked for here", wanted.version);
            error = error.label(wanted.span, said);
        }
        error.hint(
            "give the directory that holds the library with `--library DIR` or in MODELICAPATH",
        )
    }

    /// Where libraries were looked for.
    pub(crate) fn search_note(&self) -> String {
        if self.search_path.is_empty() {
            return "no directories with libraries were given".to_string();
        }
        let places: Vec<String> = self
            .search_path
            .iter()
            .map(|path| format!("`{}`", path.display()))
            .collect();
        format!("libraries were looked for in {}", places.join(", "))
    }

    /// Names of the top-level classes loaded so far, predefined ones included.
    pub(crate) fn top_level_names(&self) -> impl Iterator<Item = Name> {
        self.top.keys().copied()
    }

    /// Names of the classes that MLS 3.6 itself defines.
    pub(crate) fn predefined_names(&self) -> impl Iterator<Item = Name> {
        self.top.keys().copied().take(self.predefined_count)
    }

    /// What is special about a predefined class.
    pub(crate) fn predefined(&self, id: ClassId) -> Option<PredefinedType> {
        self.predefined.get(&id).copied()
    }

    /// A top-level class, searched for in the libraries if it is not loaded (MLS 3.6 §13.3).
    pub(crate) fn top_level(&mut self, name: Name) -> Option<ClassId> {
        if let Some(&class) = self.top.get(&name) {
            return Some(class);
        }
        if self.missing.contains(&name) {
            return None;
        }
        let wanted = self
            .uses
            .get(name.as_str())
            .map(|wanted| wanted.version.clone());
        let entry = self
            .search_path
            .iter()
            .find_map(|directory| version::locate(directory, &name, wanted.as_deref()));
        let class = entry.and_then(|entry| self.load_entry(name, &entry, None));
        match class {
            Some(class) => {
                self.top.insert(name, class);
                self.note_uses(class);
            }
            None => {
                self.missing.insert(name);
            }
        }
        class
    }

    /// A class written in another class or stored in its directory; not an inherited one.
    pub(crate) fn nested(&mut self, id: ClassId, name: Name) -> Option<ClassId> {
        self.table(id);
        let class = self.arena.get(id);
        if let Some(&nested) = class.nested.get(&name) {
            return Some(nested);
        }
        let entry = class.directory.as_ref()?.entries.get(&name)?.clone();
        let nested = self.load_entry(name, &entry, Some(id));
        let class = self.arena.get_mut(id);
        match nested {
            Some(nested) => {
                class.nested.insert(name, nested);
            }
            // Do not read a broken file again.
            None => {
                if let Some(directory) = &mut class.directory {
                    directory.entries.shift_remove(&name);
                }
            }
        }
        nested
    }

    /// True if [`nested`](Libraries::nested) would find something, without loading it.
    pub(crate) fn has_stored(&self, id: ClassId, name: Name) -> bool {
        let directory = self.arena.get(id).directory.as_ref();
        directory.is_some_and(|directory| directory.entries.contains_key(&name))
    }

    /// The element table of a class.
    pub(crate) fn table(&mut self, id: ClassId) -> Arc<ElementTable> {
        if let Some(table) = &self.arena.get(id).table {
            return Arc::clone(table);
        }
        let table = Arc::new(build_table(&mut self.arena, id));
        self.arena.get_mut(id).table = Some(Arc::clone(&table));
        table
    }
}

/// Splits `A.'b.c'.D` at the dots outside of quotes.
fn split_name(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut quoted = false;
    let mut escaped = false;
    for (position, character) in name.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '\'' => quoted = !quoted,
            '.' if !quoted => {
                parts.push(&name[start..position]);
                start = position + 1;
            }
            _ => {}
        }
    }
    parts.push(&name[start..]);
    parts
}
