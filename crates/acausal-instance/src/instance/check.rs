//! Rules that a declaration can break: final elements, unknown modifiers, partial classes, recursion, redeclarations that do not fit.

use std::sync::Arc;

use acausal_base::{Diagnostic, Name, Span};
use acausal_syntax::ast::Visibility;

use super::Instances;
use super::environment::ReachingArgument;
use super::node::{AppliedModifier, Decl};
use super::shape::ClassShape;
use super::types::{BindingOrigin, InstId, InstPrefixes, InstanceKind, Role};
use super::unknown::with_hint;
use crate::class::modifier::Modifier;
use crate::class::predefined;
use crate::class::table::ComponentDecl;

/// A declaration may contain itself this often when redeclarations on the way can end the recursion.
const MAX_RECURSION: usize = 16;

impl Instances {
    /// A final element or modifier must not be modified from further outside (MLS 3.6 §7.2.6).
    pub(super) fn check_final(
        &mut self,
        hits: &[ReachingArgument],
        declared_final: bool,
        name: Name,
        place: Span,
    ) {
        let protected = hits.iter().rposition(|hit| hit.is_final);
        let (by, span) = match protected {
            _ if declared_final && !hits.is_empty() => (hits.len(), place),
            Some(position) => (position, hits[position].span),
            None => return,
        };
        let source = hits.get(by).map(|hit| hit.source);
        let offender = hits[..by].iter().find(|hit| Some(hit.source) != source);
        if let Some(hit) = offender {
            let what = match hit.origin {
                BindingOrigin::Setting => "set",
                _ => "modified",
            };
            self.report(
                Diagnostic::error(
                    "modified-final",
                    hit.span,
                    format!("`{name}` is final and cannot be {what}"),
                )
                .label(span, "made final here"),
            );
        }
    }

    /// Every argument must name an element of the class, or an attribute of the predefined type.
    pub(super) fn check_modifier_names(
        &mut self,
        env: &[AppliedModifier],
        class: InstId,
        shape: &ClassShape,
    ) {
        // Settings have been checked with messages of their own.
        for piece in env
            .iter()
            .filter(|piece| piece.origin != BindingOrigin::Setting)
        {
            self.check_arguments(&piece.modifier, class, shape, true);
        }
    }

    /// The same for one modifier; from outside of the class, protected elements cannot be modified (MLS 3.6 §4.1).
    pub(super) fn check_arguments(
        &mut self,
        modifier: &Modifier,
        class: InstId,
        shape: &ClassShape,
        outside: bool,
    ) {
        // What an unknown base class would have had is unknown, too.
        if shape.kind == InstanceKind::Error || shape.incomplete {
            return;
        }
        for arg in &modifier.args {
            if !self.has_element(shape, arg.name) {
                self.report_unknown_modifier(arg.name, arg.span, class, shape);
            } else if outside
                && let Some(&index) = shape.by_name.get(&arg.name)
                && shape.elements[index as usize].visibility == Visibility::Protected
            {
                let place = shape.elements[index as usize].item.declared();
                let class_name = self.class_name(class);
                let error = Diagnostic::error(
                    "modified-protected",
                    arg.span,
                    format!(
                        "`{}` is protected in `{class_name}` and cannot be modified from outside",
                        arg.name
                    ),
                );
                self.report(match place {
                    Some((_, place)) => error.label(place, "declared here"),
                    None => error,
                });
            }
        }
    }

    fn has_element(&self, shape: &ClassShape, name: Name) -> bool {
        if shape.by_name.contains_key(&name) {
            return true;
        }
        let attributes = attributes_of(shape);
        attributes.iter().any(|attribute| name == *attribute)
            || shape
                .layers
                .iter()
                .any(|layer| self.libraries.has_stored(layer.class, name))
    }

    fn report_unknown_modifier(
        &mut self,
        name: Name,
        span: Span,
        class: InstId,
        shape: &ClassShape,
    ) {
        let class_name = self.class_name(class);
        let what = if matches!(shape.kind, InstanceKind::Primitive(_)) {
            "attribute"
        } else {
            "element"
        };
        let error = Diagnostic::error(
            "unknown-modifier",
            span,
            format!("`{class_name}` has no {what} `{name}` to modify"),
        );
        let elements = shape.elements.iter().map(|element| element.name.as_str());
        let names: Vec<&str> = elements
            .chain(attributes_of(shape).iter().copied())
            .collect();
        let mut error = with_hint(error, &name, names.iter().copied());
        let place = self.data(class).span;
        if !place.is_none() && error.hint.is_none() {
            error = error.label(place, "the class is defined here");
        }
        self.report(error);
    }

    /// A component that contains itself has no end. Gives the class to use: [`InstId::ERROR`] at the end of the chain.
    pub(super) fn check_recursion(
        &mut self,
        parent: InstId,
        decl: &Arc<ComponentDecl>,
        class: InstId,
    ) -> InstId {
        let mut count = 0;
        let mut plain = true;
        let mut next = Some(parent);
        while let Some(at) = next {
            let node = self.data(at);
            if node.role == Role::Class {
                break;
            }
            if node.class == class && plain && node.role == Role::Root {
                count = MAX_RECURSION;
            }
            if let Decl::Component(other) = &node.decl
                && Arc::ptr_eq(other, decl)
            {
                count += 1;
                if node.class == class && plain {
                    count = MAX_RECURSION;
                }
            }
            // Only a redeclaration on the way can make the next turn different.
            plain &= self
                .pieces(at)
                .iter()
                .all(|piece| !piece.modifier.redeclares);
            next = self.parent(at);
        }
        if count < MAX_RECURSION {
            return class;
        }
        let name = self.class_name(class);
        let error = Diagnostic::error(
            "recursive-class",
            decl.name_span,
            format!(
                "class `{name}` contains a component `{}` of itself",
                decl.name
            ),
        )
        .note("an instance of it would have no end");
        let error = self.with_chain(error, parent);
        self.report(error);
        InstId::ERROR
    }

    /// Checks that wait until the members of an instance are asked for, so that disabled components are spared. True the first time.
    pub(super) fn check_expansion(&mut self, inst: InstId) -> bool {
        if self.node(inst).checked {
            return false;
        }
        self.node_mut(inst).checked = true;
        let shape = self.shape(inst);
        if self.data(inst).role == Role::Component
            && shape.partial
            && self
                .parent(inst)
                .is_some_and(|parent| self.data(parent).role != Role::Class)
        {
            let node = self.data(inst);
            let mut error = Diagnostic::error(
                "partial-class",
                node.span,
                format!(
                    "`{}` is of the partial class `{}`",
                    node.name,
                    self.class_name(inst)
                ),
            )
            .label(self.data(node.class).span, "declared partial here");
            error = match node.prefixes.replaceable {
                true => error.hint(format!("redeclare it: `redeclare ... {}`", node.name)),
                false => error.hint("use a class that extends it"),
            };
            let parent = self.parent(inst).unwrap_or(inst);
            let error = self.with_chain(error, parent);
            self.report(error);
        }
        true
    }

    /// Public variables of a function are inputs or outputs (MLS 3.6 §12.2).
    pub(super) fn check_function_variables(&mut self, components: &[InstId]) {
        for &inst in components {
            let node = self.data(inst);
            let prefixes = node.prefixes;
            if node.visibility == Visibility::Public
                && prefixes.causality.is_none()
                && prefixes.variability.is_none()
            {
                let error = Diagnostic::error(
                    "class-restriction",
                    node.span,
                    format!(
                        "the public variable `{}` of a function is neither input nor output",
                        node.name
                    ),
                )
                .hint("declare it under `protected`");
                self.report(error);
            }
        }
    }

    /// `input` or `output` twice on the way to a variable, and likewise `flow` or `stream` (MLS 3.6 §4.4.2.2).
    pub(super) fn check_prefix_conflict(&mut self, decl: &ComponentDecl, outer: InstPrefixes) {
        let own = decl.clause.prefix;
        let causality = own.causality.is_some() && outer.causality.is_some();
        let flow = own.flow.is_some() && outer.flow.is_some();
        if causality || flow {
            let what = if causality {
                "`input` or `output`"
            } else {
                "`flow` or `stream`"
            };
            let message = format!(
                "`{}` is {what}, and so is the component that it is part of",
                decl.name
            );
            self.report(
                Diagnostic::error("conflicting-prefixes", decl.span, message)
                    .hint("take the prefix away in one of the two places"),
            );
        }
    }

    pub(super) fn report_kind_change(
        &mut self,
        hit: &ReachingArgument,
        place: Span,
        old: &str,
        new: &str,
    ) {
        self.report(
            Diagnostic::error(
                "redeclare-mismatch",
                hit.span,
                format!("a {old} cannot be redeclared as a {new}"),
            )
            .label(place, format!("declared as a {old} here")),
        );
    }
}

/// Attributes that a modifier of this type may name.
pub(super) fn attributes_of(shape: &ClassShape) -> &'static [&'static str] {
    match (shape.kind, shape.predefined) {
        (_, Some(kind)) => predefined::attributes(kind),
        (InstanceKind::Primitive(_), None) => predefined::ENUMERATION_ATTRIBUTES,
        _ => &[],
    }
}
