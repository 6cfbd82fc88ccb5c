//! What can be wrong with a class as a whole: its base classes, what it takes out of them and what it redeclares.

use acausal_base::{Diagnostic, Span};
use acausal_syntax::ast::ClassDef;

use super::Instances;
use super::merge::{redeclares, span};
use super::node::Decl;
use super::shape::ClassShape;
use super::types::{InstId, InstanceKind};
use super::unknown::with_hint;
use crate::class::ClassId;
use crate::class::restrict::may_extend;
use crate::class::table::{ElementDecl, ExtendsDecl};

impl Instances {
    pub(super) fn check_deselected(&mut self, extends: &ExtendsDecl, base: &ClassShape) {
        for ident in &extends.deselected.components {
            if !base.by_name.contains_key(&ident.name) {
                let names = base.elements.iter().map(|element| element.name.as_str());
                let error = Diagnostic::error(
                    "unknown-name",
                    ident.span,
                    format!("`{}` has no component `{ident}` to take out", extends.base),
                );
                self.report(with_hint(error, ident.as_str(), names));
            }
        }
    }

    /// `redeclare` as an element needs something inherited to replace (MLS 3.6 §7.3).
    pub(super) fn check_redeclarations(&mut self, shape: &ClassShape) {
        for element in shape.elements.iter().filter(|element| element.layer == 0) {
            if redeclares(&element.item) && element.replaced.is_none() {
                let names = shape.elements.iter().map(|other| other.name.as_str());
                let error = Diagnostic::error(
                    "nothing-to-redeclare",
                    span(&element.item),
                    format!("no inherited element is called `{}`", element.name),
                );
                let error = with_hint(error, &element.name, names);
                self.report(error);
            }
        }
    }

    /// What is made from a simple or array type has no elements of its own (MLS 3.6 §4.6.2).
    pub(super) fn check_simple_type(&mut self, def: &ClassDef, shape: &ClassShape) {
        let simple = matches!(shape.kind, InstanceKind::Primitive(_)) || !shape.dims.is_empty();
        let extra = shape.elements.iter().find(|element| {
            matches!(element.item, ElementDecl::Component(_))
                && (shape.predefined.is_some() || element.layer == 0)
        });
        if let (true, Some(element)) = (simple, extra) {
            self.report(Diagnostic::error(
                "type-with-components",
                span(&element.item),
                format!(
                    "`{}` is made from a simple or array type and cannot have components",
                    def.name
                ),
            ));
        }
    }

    /// Only some kinds of classes can be derived from each other (MLS 3.6 §7.1.3).
    pub(super) fn check_base_kind(&mut self, class: ClassId, base: InstId, extends: &ExtendsDecl) {
        let Decl::Class(base_class) = self.data(base).decl else {
            return;
        };
        let kind = self.libraries.class(class).def.kind;
        let base_kind = self.libraries.class(base_class).def.kind;
        if may_extend(kind, base_kind) {
            return;
        }
        let name = self.libraries.class(class).name;
        self.report(
            Diagnostic::error(
                "wrong-base-class",
                extends.base.span,
                format!(
                    "the {} `{name}` cannot be made from a {}",
                    kind.keyword(),
                    base_kind.keyword()
                ),
            )
            .label(
                self.data(base).span,
                format!("this is a {}", base_kind.keyword()),
            ),
        );
    }

    pub(super) fn report_cycle(&mut self, node: InstId, base: InstId, span: Span) {
        let name = self.class_name(node);
        let base_name = self.class_name(base);
        let message = if node == base {
            format!("class `{name}` extends itself")
        } else {
            format!("class `{name}` extends `{base_name}`, which extends it in turn")
        };
        let mut error = Diagnostic::error("cyclic-inheritance", span, message);
        // The way round, from the class that is met again to the one that extends it.
        let from = self.extending.iter().position(|e| e.0 == base);
        for &(class, at) in &self.extending[from.unwrap_or(self.extending.len())..] {
            let text = format!("`{}` extends this", self.class_name(class));
            error = error.label(at, text);
        }
        self.report(error);
    }
}
