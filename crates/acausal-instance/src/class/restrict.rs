//! What the specialised classes may contain (MLS 3.6 §4.7, §12.2) and extend (§7.1.3).
//!
//! The rules here need the text of one class only. That a connector has as many flows as potentials, or that a block's connectors have a direction, needs
//! types and is not checked here.

use acausal_base::{Diagnostic, Span};
use acausal_syntax::ast::{
    ClassBody, ClassDef, ClassKind, Component, ComponentClause, Element, ElementKind, Section,
    SectionKind, VariabilityPrefix, Visibility,
};
use rustc_hash::FxHashSet;

use super::predefined::{ENUMERATION_ATTRIBUTES, TYPES};

/// True if a class of kind `derived` can extend one of kind `base`: the table of MLS 3.6 §7.1.3.
pub(crate) fn may_extend(derived: ClassKind, base: ClassKind) -> bool {
    use ClassKind::{Block, Class, Connector, Function, Model, Operator, Package, Record, Type};
    match (derived, base) {
        // The table lets `class` extend `class` only; as its contents are deprecated anyway, anything may pass.
        (_, Class) | (Class, _) => true,
        (Package, Package)
        | (Operator, Operator)
        | (Function { .. }, Function { .. })
        | (Type, Type)
        | (Record { operator: false }, Record { operator: false })
        | (Record { operator: true }, Record { operator: true })
        | (Connector { expandable: true }, Connector { expandable: true })
        | (
            Connector { expandable: false },
            Type | Record { .. } | Connector { expandable: false },
        )
        | (Block, Record { .. } | Block)
        | (Model, Record { .. } | Block | Model) => true,
        _ => false,
    }
}

/// Reports what a class of this kind must not contain.
pub(super) fn check(def: &ClassDef, diagnostics: &mut Vec<Diagnostic>) {
    if let ClassBody::Enumeration(Some(literals)) = &def.body {
        let mut seen = FxHashSet::default();
        for literal in literals {
            let name = literal.name.as_str();
            let message = if !seen.insert(literal.name.name) {
                format!("the literal `{name}` occurs twice")
            } else if ENUMERATION_ATTRIBUTES.contains(&name) {
                format!("`{name}` is an attribute of enumerations and cannot be a literal")
            } else {
                continue;
            };
            diagnostics.push(Diagnostic::error(
                "wrong-literal",
                literal.name.span,
                message,
            ));
        }
    }
    let Some(composition) = def.composition() else {
        return;
    };
    let mut checker = Checker { def, diagnostics };
    let mut algorithms = usize::from(composition.external.is_some());
    for section in &composition.sections {
        match &section.kind {
            SectionKind::Elements {
                visibility,
                elements,
            } => {
                for element in elements {
                    checker.element(element, *visibility);
                }
            }
            SectionKind::Equations { initial, .. } => checker.equations(section, *initial, false),
            SectionKind::Algorithm { initial, .. } => {
                algorithms += 1;
                checker.equations(section, *initial, true);
                if algorithms == 2 && matches!(def.kind, ClassKind::Function { .. }) {
                    checker.report(
                        section.span,
                        "can have one algorithm section or external clause only",
                    );
                }
            }
        }
    }
}

struct Checker<'a> {
    def: &'a ClassDef,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Checker<'_> {
    /// `the record R` and what it must not do.
    fn report(&mut self, span: Span, what: &str) {
        let (kind, name) = (self.def.kind.keyword(), &self.def.name);
        let message = format!("the {kind} `{name}` {what}");
        self.diagnostics
            .push(Diagnostic::error("class-restriction", span, message));
    }

    fn equations(&mut self, section: &Section, initial: bool, algorithm: bool) {
        let what = match (initial, algorithm) {
            (false, false) => "equations",
            (true, false) => "initial equations",
            (false, true) => "algorithms",
            (true, true) => "initial algorithms",
        };
        let allowed = match self.def.kind {
            ClassKind::Record { .. }
            | ClassKind::Connector { .. }
            | ClassKind::Package
            | ClassKind::Type
            | ClassKind::Operator => false,
            ClassKind::Function { .. } => algorithm && !initial,
            ClassKind::Class | ClassKind::Model | ClassKind::Block => true,
        };
        if !allowed {
            // The head of the section is enough to show.
            let head = Span {
                end: section.span.start + what.len().min(section.span.len() as usize) as u32,
                ..section.span
            };
            self.report(head, &format!("cannot have {what}"));
        }
    }

    fn element(&mut self, element: &Element, visibility: Visibility) {
        match &element.kind {
            ElementKind::Components(clause) => {
                for component in &clause.components {
                    self.reserved(component.name.as_str(), component.name.span);
                    self.component(element, clause, component, visibility);
                }
            }
            ElementKind::Class(class) => {
                self.reserved(class.name.as_str(), class.name.span);
                let allowed = match self.def.kind {
                    ClassKind::Operator => matches!(class.kind, ClassKind::Function { .. }),
                    _ => true,
                };
                if !allowed {
                    self.report(class.name.span, "can contain functions only");
                }
            }
            ElementKind::Import(_) | ElementKind::Extends(_) => {}
        }
    }

    /// Names of predefined types cannot be declared again (MLS 3.6 §4.9).
    fn reserved(&mut self, name: &str, span: Span) {
        if TYPES.iter().take(4).any(|(reserved, _)| *reserved == name) {
            self.diagnostics.push(Diagnostic::error(
                "reserved-name",
                span,
                format!("`{name}` is a predefined type and cannot be declared"),
            ));
        }
    }

    fn component(
        &mut self,
        element: &Element,
        clause: &ComponentClause,
        component: &Component,
        visibility: Visibility,
    ) {
        let span = component.name.span;
        let prefix = clause.prefix;
        let constant = prefix.variability == Some(VariabilityPrefix::Constant);
        let inner_outer = element.prefixes.inner || element.prefixes.outer;
        match self.def.kind {
            ClassKind::Record { .. } => {
                if visibility == Visibility::Protected {
                    self.report(span, "cannot have protected components");
                } else if inner_outer || prefix.flow.is_some() || prefix.causality.is_some() {
                    self.report(
                        span,
                        "cannot have components that are inner, outer, input, output, flow or stream",
                    );
                }
            }
            ClassKind::Connector { .. } => {
                if visibility == Visibility::Protected {
                    self.report(span, "cannot have protected components");
                } else if inner_outer {
                    self.report(span, "cannot have inner or outer components");
                }
            }
            ClassKind::Package if !constant => {
                self.report(span, "can have constants only, no variables");
            }
            ClassKind::Operator => self.report(span, "can contain functions only"),
            ClassKind::Function { .. } => {
                if inner_outer {
                    self.report(span, "cannot have inner or outer components");
                } else if visibility == Visibility::Protected && prefix.causality.is_some() {
                    self.report(span, "cannot have protected inputs and outputs");
                }
            }
            _ => {}
        }
    }
}
