//! Making the [`ElementTable`] of a class from its definition. See [`super::table`].

use std::sync::Arc;

use acausal_base::{Diagnostic, Name, Span};
use acausal_syntax::ast::{
    self, ClassBody, ClassDef, ElementKind, Expr, ImportKind, Path, SectionKind, Visibility,
};

use super::modifier::Deselected;
use super::restrict;
use super::table::{
    ClassDecl, ClauseDecl, ComponentDecl, ConstrainingDecl, ElementDecl, ElementTable, ExtendsDecl,
    ShortDecl,
};
use super::tree::{Arena, ClassId};

/// Makes the table of one class; gives indices to nested and redeclaring classes on the way.
pub(crate) struct TableBuilder<'a> {
    pub(super) arena: &'a mut Arena,
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
    class: ClassId,
}

/// The element table of a class.
pub(super) fn build_table(arena: &mut Arena, class: ClassId) -> ElementTable {
    let def = Arc::clone(&arena.get(class).def);
    let mut diagnostics = Vec::new();
    restrict::check(&def, &mut diagnostics);
    let mut builder = TableBuilder {
        arena,
        diagnostics: &mut diagnostics,
        class,
    };
    let mut table = match &def.body {
        ClassBody::Long(_) => builder.long(&def, None),
        ClassBody::ClassExtends { modification, .. } => builder.long(&def, Some(modification)),
        ClassBody::Short(short) => builder.short(short),
        ClassBody::Enumeration(_) => ElementTable::default(),
        // The inputs and outputs are those of the function; a call differentiates (`acausal_flatten::function`).
        ClassBody::Der { function, .. } => {
            let extends = ExtendsDecl {
                base: function.clone(),
                modifier: builder.arguments(&[], def.span),
                visibility: Visibility::Public,
                deselected: Deselected::default(),
                short: None,
                span: def.span,
            };
            ElementTable {
                items: vec![ElementDecl::Extends(Arc::new(extends))],
                ..ElementTable::default()
            }
        }
    };
    table.diagnostics = diagnostics;
    table
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
            items: vec![ElementDecl::Extends(Arc::new(extends))],
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
            table.items.push(ElementDecl::Extends(Arc::new(ExtendsDecl {
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
        for section in sections {
            let SectionKind::Elements {
                visibility,
                elements,
            } = &section.kind
            else {
                continue;
            };
            for element in elements {
                match &element.kind {
                    ElementKind::Import(import) => self.import(&mut table, import),
                    ElementKind::Extends(extends) => {
                        let (modifier, deselected) =
                            self.extends_arguments(&extends.modification, extends.span);
                        table.items.push(ElementDecl::Extends(Arc::new(ExtendsDecl {
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
                            table.items.push(ElementDecl::Class(Arc::new(decl)));
                        }
                    }
                    ElementKind::Components(clause) => {
                        let shared_clause = self.clause(element, clause, *visibility);
                        for component in &clause.components {
                            let decl = self.component(component, Arc::clone(&shared_clause));
                            if self.insert(&mut table, decl.name, decl.name_span) {
                                table.items.push(ElementDecl::Component(Arc::new(decl)));
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
        self.component(component, shared_clause)
    }

    fn component(&mut self, component: &ast::Component, clause: Arc<ClauseDecl>) -> ComponentDecl {
        ComponentDecl {
            name: component.name.name,
            name_span: component.name.span,
            clause,
            subscripts: shared(&component.subscripts),
            modifier: component
                .modification
                .as_ref()
                .and_then(|m| self.modification(m)),
            condition: component.condition.as_deref().cloned().map(Arc::new),
            span: component.span,
            description: component.description.clone(),
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

    fn constraint(&mut self, element: &ast::Element) -> Option<Arc<ConstrainingDecl>> {
        let clause = element.constraining.as_ref()?;
        let modifier = self.arguments(&clause.modification, clause.span);
        Some(Arc::new(ConstrainingDecl {
            base: clause.base.clone(),
            modifier,
        }))
    }
}

fn shared(expressions: &[Expr]) -> Box<[Arc<Expr>]> {
    expressions.iter().cloned().map(Arc::new).collect()
}
