//! The elements of a class, prepared once and shared by all its instances.
//!
//! In: a class definition. Out: its [`ElementTable`]: components one by one (`Real x, y` are two), nested classes with their
//! indices, `extends` and `import` clauses, all in the order written. A short class `A = B(...)` has one `extends` clause and
//! no elements (MLS 3.6 §4.6.1).
//!
//! The invariant that makes large models cheap: what depends on the text of a class only is computed here, once per class; an
//! instance adds indices to it.

use std::sync::Arc;

use acausal_syntax::ast::{
    self, ClassBody, ClassDef, ElementKind, Expr, ImportKind, Path, Prefixes, SectionKind,
    TypePrefix, Visibility,
};
use acausal_syntax::{Diagnostic, Name, Span};
use rustc_hash::FxHashMap;

use super::modifier::{Deselected, Modifier};
use super::restrict;
use super::tree::{Arena, ClassId};

/// Elements of one class.
#[derive(Debug, Default)]
pub(crate) struct ElementTable {
    /// In the order written; `extends` clauses have their place in it.
    pub items: Vec<Item>,
    /// Index into `items` of components and classes.
    pub by_name: FxHashMap<Name, u32>,
    /// Imported names (MLS 3.6 §13.2.1): qualified, renamed and listed ones.
    pub imports: FxHashMap<Name, Arc<[Name]>>,
    /// Packages imported with `.*`, with the place of the clause.
    pub open_imports: Vec<(Arc<[Name]>, Span)>,
}

/// One element.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    Component(Arc<ComponentDecl>),
    Class(Arc<ClassDecl>),
    Extends(Arc<ExtendsDecl>),
}

/// One component declaration.
#[derive(Debug)]
pub(crate) struct ComponentDecl {
    pub name: Name,
    pub name_span: Span,
    /// Shared by the components of a clause.
    pub clause: Arc<ClauseDecl>,
    /// Dimensions behind the name.
    pub subscripts: Box<[Arc<Expr>]>,
    pub modifier: Option<Arc<Modifier>>,
    pub condition: Option<Arc<Expr>>,
    pub span: Span,
    pub source: Source,
}

/// What the components of one clause have in common.
#[derive(Debug)]
pub(crate) struct ClauseDecl {
    pub prefixes: Prefixes,
    pub prefix: TypePrefix,
    pub visibility: Visibility,
    pub type_name: Path,
    /// Dimensions behind the type.
    pub subscripts: Box<[Arc<Expr>]>,
    pub constraint: Option<Arc<Constraint>>,
}

/// A nested class or a redeclared one.
#[derive(Debug)]
pub(crate) struct ClassDecl {
    pub name: Name,
    pub name_span: Span,
    pub class: ClassId,
    pub prefixes: Prefixes,
    pub visibility: Visibility,
    pub constraint: Option<Arc<Constraint>>,
    /// `class extends A`: builds on the inherited class of the same name.
    pub extends_inherited: bool,
}

/// `constrainedby A(...)`.
#[derive(Debug)]
pub(crate) struct Constraint {
    pub base: Path,
    pub modifier: Option<Arc<Modifier>>,
}

/// `extends A(...)`, or what stands behind `=` in a short class.
#[derive(Debug)]
pub(crate) struct ExtendsDecl {
    pub base: Path,
    pub modifier: Option<Arc<Modifier>>,
    pub visibility: Visibility,
    pub deselected: Deselected,
    /// For a short class: names are looked up outside of it (MLS 3.6 §4.6.1).
    pub short: Option<ShortDecl>,
    pub span: Span,
}

/// The rest of a short class.
#[derive(Debug)]
pub(crate) struct ShortDecl {
    pub causality: Option<ast::Causality>,
    pub subscripts: Box<[Arc<Expr>]>,
}

/// Where a component was written, to get at its description and annotation without keeping copies.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// In a class: indices of section, element and component.
    Class {
        def: Arc<ClassDef>,
        section: u32,
        element: u32,
        component: u32,
    },
    /// In a redeclaring modifier.
    Redeclared(Arc<ast::Element>),
}

impl ComponentDecl {
    /// What was written.
    pub fn component(&self) -> Option<&ast::Component> {
        match &self.source {
            Source::Class {
                def,
                section,
                element,
                component,
            } => {
                let section = def.composition()?.sections.get(*section as usize)?;
                let SectionKind::Elements { elements, .. } = &section.kind else {
                    return None;
                };
                clause_of(elements.get(*element as usize)?)?
                    .components
                    .get(*component as usize)
            }
            Source::Redeclared(element) => clause_of(element)?.components.first(),
        }
    }
}

fn clause_of(element: &ast::Element) -> Option<&ast::ComponentClause> {
    match &element.kind {
        ElementKind::Components(clause) => Some(clause),
        _ => None,
    }
}

impl Item {
    /// Name, place of the name and visibility; none for `extends`.
    pub fn declared(&self) -> Option<(Name, Span)> {
        match self {
            Item::Component(decl) => Some((decl.name, decl.name_span)),
            Item::Class(decl) => Some((decl.name, decl.name_span)),
            Item::Extends(_) => None,
        }
    }
}

/// Makes the table of one class; gives indices to nested and redeclaring classes on the way.
pub(crate) struct TableBuilder<'a> {
    pub(super) arena: &'a mut Arena,
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
    class: ClassId,
}

/// The element table of a class.
pub(super) fn build_table(
    arena: &mut Arena,
    diagnostics: &mut Vec<Diagnostic>,
    class: ClassId,
) -> ElementTable {
    let def = Arc::clone(&arena.get(class).def);
    restrict::check(&def, diagnostics);
    let mut builder = TableBuilder {
        arena,
        diagnostics,
        class,
    };
    match &def.body {
        ClassBody::Long(_) => builder.long(&def, None),
        ClassBody::ClassExtends { modification, .. } => builder.long(&def, Some(modification)),
        ClassBody::Short(short) => builder.short(short),
        ClassBody::Enumeration(_) => ElementTable::default(),
        ClassBody::Der { function, .. } => {
            builder.diagnostics.push(Diagnostic::error(
                "unsupported-der-function",
                def.span,
                format!("functions defined as partial derivatives (`der({function}, ...)`) are not supported yet"),
            ));
            ElementTable::default()
        }
    }
}

impl TableBuilder<'_> {
    fn short(&mut self, short: &ast::ShortClass) -> ElementTable {
        let modifier = self.arguments(&short.modification, short.span);
        let extends = ExtendsDecl {
            base: short.base.clone(),
            modifier,
            visibility: Visibility::Public,
            deselected: Deselected::default(),
            short: Some(ShortDecl {
                causality: short.causality,
                subscripts: shared(&short.subscripts),
            }),
            span: short.span,
        };
        ElementTable {
            items: vec![Item::Extends(Arc::new(extends))],
            ..ElementTable::default()
        }
    }

    /// `class_extends` holds the modification of `class extends A(...)`: the base is found by the instance tree.
    fn long(
        &mut self,
        def: &Arc<ClassDef>,
        class_extends: Option<&Vec<ast::Argument>>,
    ) -> ElementTable {
        let mut table = ElementTable::default();
        if let Some(arguments) = class_extends {
            let (modifier, deselected) = self.extends_arguments(arguments, def.name.span);
            table.items.push(Item::Extends(Arc::new(ExtendsDecl {
                base: Path {
                    global: false,
                    parts: vec![def.name.clone()],
                    span: def.name.span,
                },
                modifier,
                visibility: Visibility::Public,
                deselected,
                short: None,
                span: def.name.span,
            })));
        }
        let sections = def
            .composition()
            .map_or(&[][..], |composition| &composition.sections);
        for (section, kind) in sections.iter().enumerate() {
            let SectionKind::Elements {
                visibility,
                elements,
            } = &kind.kind
            else {
                continue;
            };
            for (index, element) in elements.iter().enumerate() {
                match &element.kind {
                    ElementKind::Import(import) => self.import(&mut table, import),
                    ElementKind::Extends(extends) => {
                        let (modifier, deselected) =
                            self.extends_arguments(&extends.modification, extends.span);
                        table.items.push(Item::Extends(Arc::new(ExtendsDecl {
                            base: extends.base.clone(),
                            modifier,
                            visibility: *visibility,
                            deselected,
                            short: None,
                            span: extends.span,
                        })));
                    }
                    ElementKind::Class(class) => {
                        let decl = self.class_decl(class, element, *visibility);
                        if self.insert(&mut table, decl.name, decl.name_span) {
                            self.arena
                                .get_mut(self.class)
                                .nested
                                .insert(decl.name, decl.class);
                            table.items.push(Item::Class(Arc::new(decl)));
                        }
                    }
                    ElementKind::Components(clause) => {
                        let shared_clause = self.clause(element, clause, *visibility);
                        for (position, component) in clause.components.iter().enumerate() {
                            let source = Source::Class {
                                def: Arc::clone(def),
                                section: section as u32,
                                element: index as u32,
                                component: position as u32,
                            };
                            let decl =
                                self.component(component, Arc::clone(&shared_clause), source);
                            if self.insert(&mut table, decl.name, decl.name_span) {
                                table.items.push(Item::Component(Arc::new(decl)));
                            }
                        }
                    }
                }
            }
        }
        table
    }

    /// Enters a name for the next item; false (and a diagnostic) if the class declares it already (MLS 3.6 §4.6).
    fn insert(&mut self, table: &mut ElementTable, name: Name, span: Span) -> bool {
        if let Some(&first) = table.by_name.get(&name) {
            let mut error = Diagnostic::error(
                "duplicate-element",
                span,
                format!("`{name}` is declared twice in this class"),
            );
            if let Some((_, place)) = table.items[first as usize].declared() {
                error = error.label(place, "first declared here");
            }
            self.diagnostics.push(error);
            return false;
        }
        table.by_name.insert(name, table.items.len() as u32);
        true
    }

    fn import(&mut self, table: &mut ElementTable, import: &ast::Import) {
        let path: Vec<Name> = import.path.parts.iter().map(|part| part.name).collect();
        let mut enter = |name: Name, path: Vec<Name>, diagnostics: &mut Vec<Diagnostic>| {
            let known = table.imports.insert(name, path.clone().into());
            if known.is_some_and(|known| *known != *path) {
                diagnostics.push(Diagnostic::error(
                    "duplicate-import",
                    import.span,
                    format!("another import clause of this class already defines `{name}`"),
                ));
            }
        };
        match &import.kind {
            ImportKind::Qualified => {
                if let Some(&last) = path.last() {
                    enter(last, path, self.diagnostics);
                }
            }
            ImportKind::Renamed(name) => enter(name.name, path, self.diagnostics),
            ImportKind::All => table.open_imports.push((path.into(), import.span)),
            ImportKind::List(names) => {
                for name in names {
                    let mut full = path.clone();
                    full.push(name.name);
                    enter(name.name, full, self.diagnostics);
                }
            }
        }
    }

    /// A class element, nested or redeclaring; its definition gets an index.
    pub(super) fn class_decl(
        &mut self,
        def: &Arc<ClassDef>,
        element: &ast::Element,
        visibility: Visibility,
    ) -> ClassDecl {
        let class = self.arena.add(Arc::clone(def), Some(self.class));
        ClassDecl {
            name: def.name.name,
            name_span: def.name.span,
            class,
            prefixes: element.prefixes,
            visibility,
            constraint: self.constraint(element),
            extends_inherited: matches!(def.body, ClassBody::ClassExtends { .. }),
        }
    }

    /// The component of a redeclaring modifier.
    pub(super) fn redeclared_component(
        &mut self,
        element: &ast::Element,
        clause: &ast::ComponentClause,
        component: &ast::Component,
    ) -> ComponentDecl {
        let shared_clause = self.clause(element, clause, Visibility::Public);
        self.component(
            component,
            shared_clause,
            Source::Redeclared(Arc::new(element.clone())),
        )
    }

    fn component(
        &mut self,
        component: &ast::Component,
        clause: Arc<ClauseDecl>,
        source: Source,
    ) -> ComponentDecl {
        ComponentDecl {
            name: component.name.name,
            name_span: component.name.span,
            clause,
            subscripts: shared(&component.subscripts),
            modifier: component
                .modification
                .as_ref()
                .and_then(|m| self.modification(m)),
            condition: component.condition.clone().map(Arc::new),
            span: component.span,
            source,
        }
    }

    fn clause(
        &mut self,
        element: &ast::Element,
        clause: &ast::ComponentClause,
        visibility: Visibility,
    ) -> Arc<ClauseDecl> {
        Arc::new(ClauseDecl {
            prefixes: element.prefixes,
            prefix: clause.prefix,
            visibility,
            type_name: clause.type_name.clone(),
            subscripts: shared(&clause.subscripts),
            constraint: self.constraint(element),
        })
    }

    fn constraint(&mut self, element: &ast::Element) -> Option<Arc<Constraint>> {
        let clause = element.constraining.as_ref()?;
        let modifier = self.arguments(&clause.modification, clause.span);
        Some(Arc::new(Constraint {
            base: clause.base.clone(),
            modifier,
        }))
    }
}

fn shared(expressions: &[Expr]) -> Box<[Arc<Expr>]> {
    expressions.iter().cloned().map(Arc::new).collect()
}
