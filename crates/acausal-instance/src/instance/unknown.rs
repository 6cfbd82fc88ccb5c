//! Messages about names that mean nothing, with the nearest name that does.

use acausal_base::{Diagnostic, Name, Span};

use super::Instances;
use super::types::{InstId, InstanceKind, Primitive, Role, Scope};
use crate::class::table::ElementDecl;
use crate::class::{ClassId, predefined, suggest};

/// Enclosing components named in a message at most.
const MAX_CHAIN: usize = 4;

/// What a name should have meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Anything,
    Class,
    /// A class with something in it.
    Package,
}

impl Instances {
    /// For a simple name that was looked up in a scope.
    pub(super) fn unknown_name(
        &mut self,
        scope: Scope,
        name: Name,
        span: Span,
        wanted: Wanted,
    ) -> Diagnostic {
        if scope.inst == InstId::GLOBAL {
            return self.libraries.unknown_top_level(name, span);
        }
        let class = self.layer_of(scope).map(|(class, _)| class);
        let place = class.map_or_else(String::new, |class| {
            format!(" in `{}`", self.libraries.qualified_name(class))
        });
        let error = Diagnostic::error(
            "unknown-name",
            span,
            format!("`{name}` is not declared{place}"),
        );
        let visible = self.visible_names(scope, wanted);
        let mut error = with_hint(error, &name, visible.iter().map(|name| name.as_str()));
        if error.hint.is_none() && wanted == Wanted::Package {
            // The first part of a name with dots is often a library that was not found.
            error = self.libraries.explain_missing(error, name);
        }
        self.with_chain(error, scope.inst)
    }

    /// For a name behind a dot.
    pub(super) fn unknown_member(
        &mut self,
        inst: InstId,
        name: Name,
        span: Span,
        wanted: Wanted,
    ) -> Diagnostic {
        if inst == InstId::GLOBAL {
            return self.libraries.unknown_top_level(name, span);
        }
        let class = self.class_name(inst);
        let message = match self.data(inst).role {
            Role::Class => format!("`{class}` has no element `{name}`"),
            Role::Component => format!(
                "`{}` of class `{class}` has no element `{name}`",
                self.data(inst).name
            ),
            Role::Root => format!("the model `{class}` has no element `{name}`"),
        };
        let error = Diagnostic::error("unknown-name", span, message);
        let names = self.member_names(inst, wanted);
        with_hint(error, &name, names.iter().map(|name| name.as_str()))
    }

    /// For a variable of an enclosing class.
    pub(super) fn not_constant(&mut self, scope: Scope, found: InstId, span: Span) -> Diagnostic {
        let name = self.data(found).name;
        let error = Diagnostic::error(
            "not-constant",
            span,
            format!("`{name}` of an enclosing class is not a constant and cannot be used here"),
        )
        .label(self.data(found).span, "declared here")
        .hint("pass it as a parameter or input");
        self.with_chain(error, scope.inst)
    }

    /// For a protected element behind a dot (MLS 3.6 §4.1).
    pub(super) fn protected_access(
        &mut self,
        inst: InstId,
        member: InstId,
        span: Span,
    ) -> Diagnostic {
        let node = self.data(member);
        let class = self.class_name(inst);
        Diagnostic::error(
            "protected-access",
            span,
            format!(
                "`{}` is protected in `{class}` and cannot be accessed from outside",
                node.name
            ),
        )
        .label(node.span, "declared here")
    }

    pub(super) fn report_unknown_import(&mut self, class: ClassId, path: &[Name]) {
        let def = &self.libraries.class(class).def;
        let names: Vec<&str> = path.iter().map(|name| name.as_str()).collect();
        let text = names.join(".");
        let span = def
            .elements()
            .find_map(|(_, element)| match &element.kind {
                acausal_syntax::ast::ElementKind::Import(import)
                    if text.starts_with(&import.path.to_string()) =>
                {
                    Some(import.span)
                }
                _ => None,
            })
            .unwrap_or(def.name.span);
        let error = match path.first() {
            Some(first) if self.lookup_top(*first).is_none() => {
                self.libraries.unknown_top_level(*first, span)
            }
            _ => Diagnostic::error(
                "unknown-import",
                span,
                format!("there is no class or constant `{text}` to import"),
            ),
        };
        self.report(error);
    }

    /// Says in which components of which classes the text of a message is used.
    pub fn with_chain(&self, mut diagnostic: Diagnostic, inst: InstId) -> Diagnostic {
        let mut next = Some(inst);
        let mut count = 0;
        while let Some(inst) = next {
            let node = self.data(inst);
            if node.role != Role::Component || count == MAX_CHAIN {
                break;
            }
            let text = format!(
                "in component `{}` of class `{}`, declared here",
                node.name,
                self.class_name(inst)
            );
            diagnostic = diagnostic.label(node.span, text);
            count += 1;
            next = self.parent(inst);
        }
        diagnostic
    }

    /// All names that a scope can see, nearest first.
    fn visible_names(&mut self, scope: Scope, wanted: Wanted) -> Vec<Name> {
        let mut names = Vec::new();
        let mut at = scope;
        while at.inst != InstId::GLOBAL {
            names.extend(self.member_names(at.inst, wanted));
            let Some((class, enclosing)) = self.layer_of(at) else {
                break;
            };
            let table = self.element_table(class);
            let mut imported: Vec<Name> = table.imports.keys().copied().collect();
            imported.sort();
            names.extend(imported);
            if self.libraries.class(class).def.encapsulated {
                break;
            }
            at = enclosing;
        }
        names.extend(self.libraries.top_level_names());
        if wanted == Wanted::Anything {
            names.extend(predefined::FUNCTIONS.iter().map(|name| Name::new(name)));
            names.push(Name::new("time"));
        }
        names
    }

    fn member_names(&mut self, inst: InstId, wanted: Wanted) -> Vec<Name> {
        if let InstanceKind::Primitive(Primitive::Enum(id)) = self.kind(inst) {
            return self.enums[id.0 as usize].literals.clone();
        }
        let shape = self.shape(inst);
        let mut names: Vec<Name> = shape
            .elements
            .iter()
            .filter(|element| {
                wanted == Wanted::Anything || matches!(element.item, ElementDecl::Class(_))
            })
            .map(|element| element.name)
            .collect();
        for layer in &shape.layers {
            if inst != InstId::ERROR
                && self.data(layer.node).role == Role::Class
                && layer.node != InstId::ERROR
            {
                names.extend(self.libraries.nested_names(layer.class));
            }
        }
        names
    }
}

/// Adds "did you mean" if a known name is near.
pub(super) fn with_hint<'c>(
    diagnostic: Diagnostic,
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Diagnostic {
    match suggest::hint(name, candidates) {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}
