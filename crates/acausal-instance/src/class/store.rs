//! Reading one file of a library and checking it against its place (MLS 3.6 §13.4).

use std::path::Path;
use std::sync::Arc;

use acausal_base::{Diagnostic, FileId, Name, SourceMap, Span};
use acausal_expr::memory;
use acausal_syntax::Parsed;
use acausal_syntax::ast::{StoredClass, StoredDefinition};
use acausal_syntax::parser::parse_file;

use super::directory::{self, Entry};
use super::libraries::Libraries;
use super::tree::ClassId;

/// Reads and parses a file. `Err` when it cannot be read; mistakes in the text go to `diagnostics`.
pub(super) fn read(
    sources: &mut SourceMap,
    diagnostics: &mut Vec<Diagnostic>,
    path: &Path,
) -> Result<StoredDefinition, Box<Diagnostic>> {
    let bytes = std::fs::read(path).map_err(|error| {
        let message = format!("cannot read `{}`: {error}", path.display());
        Box::new(Diagnostic::error("unreadable-file", Span::NONE, message))
    })?;
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..valid]
                .iter()
                .filter(|&&byte| byte == b'\n')
                .count()
                + 1;
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            // Modelica text is UTF-8 (MLS 3.6 §13.4); old files in Latin-1 differ in comments only, so go on.
            diagnostics.push(
                Diagnostic::warning(
                    "not-utf8",
                    Span::NONE,
                    format!("`{}` is not UTF-8 (first at line {line})", path.display()),
                )
                .hint("convert the file: `iconv -f latin1 -t utf-8`"),
            );
            text
        }
    };
    Ok(parse_text(
        sources,
        diagnostics,
        &path.display().to_string(),
        &text,
    ))
}

/// Parses a text under a name.
pub(super) fn parse_text(
    sources: &mut SourceMap,
    diagnostics: &mut Vec<Diagnostic>,
    name: &str,
    text: &str,
) -> StoredDefinition {
    // A byte order mark counts as white space (MLS 3.6 §13.4).
    let file = sources.add_file(name, text.strip_prefix('\u{feff}').unwrap_or(text));
    let parsed = parse_apart(sources, file, text.len());
    diagnostics.extend(parsed.diagnostics);
    parsed.tree
}

/// Parses a file, a large one in a thread of its own. The tree of a large model goes before the model is complete; an allocator with
/// a heap per thread, such as that of the GNU C library, then has the nodes of the tree in pages of their own, which can be given back, while
/// nodes among what stays would hold all their pages.
fn parse_apart(sources: &SourceMap, file: FileId, bytes: usize) -> Parsed {
    if bytes < LARGE_TEXT {
        return parse_file(sources, file);
    }
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            memory::make_room(TREE_PER_BYTE * bytes);
            parse_file(sources, file)
        });
        match thread.join() {
            Ok(parsed) => parsed,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Bytes of the tree of one byte of text, about: that of a network with short names.
const TREE_PER_BYTE: usize = 10;

/// From this many bytes on a text has a tree of some tens of megabytes.
const LARGE_TEXT: usize = 1 << 20;

impl Libraries {
    /// Loads the class `name` that a library stores at `entry`, as an element of `parent`.
    pub(super) fn load_entry(
        &mut self,
        name: Name,
        entry: &Entry,
        parent: Option<ClassId>,
    ) -> Option<ClassId> {
        let tree = match read(&mut self.sources, &mut self.diagnostics, &entry.file) {
            Ok(tree) => tree,
            Err(error) => {
                self.diagnostics.push(*error);
                return None;
            }
        };
        self.check_within(&tree, parent);
        let stored = self.single_class(&tree, name, &entry.file)?;
        let class = self.arena.add(Arc::clone(&stored.class), parent);
        if let Some(path) = &entry.directory {
            self.arena.get_mut(class).directory = Some(directory::list(path));
        }
        Some(class)
    }

    /// The one class of a file of a library (MLS 3.6 §13.4.2).
    fn single_class<'t>(
        &mut self,
        tree: &'t StoredDefinition,
        name: Name,
        file: &Path,
    ) -> Option<&'t StoredClass> {
        if let Some(stored) = tree
            .classes
            .iter()
            .find(|stored| stored.class.name.name == name)
        {
            if let Some(extra) = tree
                .classes
                .iter()
                .find(|other| other.class.name.name != name)
            {
                self.diagnostics.push(
                    Diagnostic::error(
                        "several-classes",
                        extra.class.name.span,
                        format!("a file of a library holds one class, here `{name}`"),
                    )
                    .hint(format!("move `{}` to a file of its own", extra.class.name)),
                );
            }
            return Some(stored);
        }
        let (span, found) = match tree.classes.first() {
            Some(stored) => (
                stored.class.name.span,
                format!("it holds `{}`", stored.class.name),
            ),
            None => (tree.span, "it holds no class".to_string()),
        };
        self.diagnostics.push(
            Diagnostic::error(
                "wrong-class-name",
                span,
                format!("the file should hold class `{name}`, but {found}"),
            )
            .note(format!("read from `{}`", file.display())),
        );
        None
    }

    /// `within` must name the enclosing package (MLS 3.6 §13.4.3).
    fn check_within(&mut self, tree: &StoredDefinition, parent: Option<ClassId>) {
        let expected = parent
            .map(|id| self.arena.qualified_name(id))
            .unwrap_or_default();
        let (span, found) = match &tree.within {
            Some(within) => (
                within.span,
                within
                    .name
                    .as_ref()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
            ),
            // Needed only below the top level; old libraries leave it out, which is harmless.
            None => return,
        };
        if found == expected {
            return;
        }
        let should = match expected.as_str() {
            "" => "within;".to_string(),
            name => format!("within {name};"),
        };
        self.diagnostics.push(
            Diagnostic::error(
                "wrong-within",
                span,
                "the file is stored at another place than it says",
            )
            .label(span, format!("by its place it should be `{should}`"))
            .hint(format!("write `{should}` or move the file")),
        );
    }
}
