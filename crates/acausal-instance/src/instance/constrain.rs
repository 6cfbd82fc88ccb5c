//! Rules for redeclarations: what is replaced must be replaceable, and what replaces it must fit the constraining type
//! (MLS 3.6 §7.3.2, §7.3.3).
//!
//! The declarations of an element are put in a row, from the original through redeclarations in derived classes to the one furthest outside. Each
//! must be allowed by the one before it; the one in force is compared with the constraining type, which is that of the last
//! constraining clause in the row, or the type of the original declaration.

use acausal_base::{Diagnostic, Name, Span};
use acausal_syntax::ast::{Path, VariabilityPrefix, Visibility};

use super::Instances;
use super::environment::ReachingArgument;
use super::shape::ShapeElement;
use super::types::{InstId, InstanceKind, Scope};
use crate::class::modifier::ArgKind;
use crate::class::table::{ClassDecl, ComponentDecl, ElementDecl};

/// One declaration of an element.
struct Step<'a> {
    replaceable: bool,
    is_final: bool,
    constant: bool,
    /// The type of a component; none for a class.
    type_name: Option<&'a Path>,
    constraint: Option<&'a Path>,
    scope: Scope,
    span: Span,
    /// Written in a modification, not as an element of a class.
    modifier: bool,
}

/// What a class in force must fit, to be checked once it is flattened.
#[derive(Debug, Clone)]
pub(super) struct Obligation {
    constraint: Path,
    scope: Scope,
    /// Where it was redeclared.
    span: Span,
    /// The original declaration.
    place: Span,
}

impl Instances {
    /// Checks the declarations of a redeclared component, whose class in force is `class`.
    pub(super) fn check_component_redeclare(
        &mut self,
        parent: InstId,
        element: &ShapeElement,
        hits: &[ReachingArgument],
        class: InstId,
    ) {
        let steps = steps(parent, element, hits);
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
            return;
        };
        if steps.len() < 2 || class == InstId::ERROR {
            return;
        }
        let (constraint, scope) = constraint_in_force(&steps)
            .or(first.type_name.map(|name| (name, first.scope)))
            .unzip();
        let (Some(constraint), Some(scope)) = (constraint, scope) else {
            return;
        };
        let Ok(constraining) = self.resolve_class(scope, constraint) else {
            return;
        };
        // A redeclaration with the same class may change dimensions and variability (§7.3.3).
        let same = constraining == class;
        if !self.check_steps(&steps, element.name, same) {
            return;
        }
        if let Some(why) = self.missing_for_subtype(class, constraining) {
            let name = last.type_name.map_or_else(String::new, ToString::to_string);
            let error = Diagnostic::error(
                "redeclare-mismatch",
                last.type_name.map_or(last.span, |name| name.span),
                format!("`{name}` cannot take the place of `{constraint}`: {why}"),
            )
            .label(first.span, "declared replaceable here");
            let error = self.with_chain(error, parent);
            self.report(error);
        }
    }

    /// Checks the declarations of a redeclared class; whether it fits is checked when it is flattened.
    pub(super) fn check_class_redeclare(
        &mut self,
        parent: InstId,
        element: &ShapeElement,
        hits: &[ReachingArgument],
        node: InstId,
    ) {
        let steps = steps(parent, element, hits);
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
            return;
        };
        if steps.len() < 2 || !self.check_steps(&steps, element.name, false) {
            return;
        }
        if let Some((constraint, scope)) = constraint_in_force(&steps) {
            let obligation = Obligation {
                constraint: constraint.clone(),
                scope,
                span: last.span,
                place: first.span,
            };
            self.obligations.insert(node, obligation);
        }
    }

    /// The second half of [`check_class_redeclare`](Self::check_class_redeclare).
    pub(super) fn check_obligation(&mut self, node: InstId) {
        let Some(obligation) = self.obligations.remove(&node) else {
            return;
        };
        let Ok(constraining) = self.resolve_class(obligation.scope, &obligation.constraint) else {
            return;
        };
        if let Some(why) = self.missing_for_subtype(node, constraining) {
            let name = self.data(node).name;
            self.report(
                Diagnostic::error(
                    "redeclare-mismatch",
                    obligation.span,
                    format!(
                        "this `{name}` does not fit `{}`: {why}",
                        obligation.constraint
                    ),
                )
                .label(obligation.place, "declared replaceable here"),
            );
        }
    }

    /// Each declaration must be allowed by the one before it.
    fn check_steps(&mut self, steps: &[Step], name: Name, same_class: bool) -> bool {
        for pair in steps.windows(2) {
            let (old, new) = (&pair[0], &pair[1]);
            let (what, label) = if old.is_final {
                ("is final and cannot be redeclared", "made final here")
            } else if old.constant {
                ("is a constant and cannot be redeclared", "declared here")
            } else if !old.replaceable && !same_class && old.modifier {
                self.report_overridden_redeclaration(old, new, name);
                continue;
            } else if !old.replaceable && !same_class {
                ("is not replaceable", "declared here without `replaceable`")
            } else {
                continue;
            };
            self.report(
                Diagnostic::error("not-replaceable", new.span, format!("`{name}` {what}"))
                    .label(old.span, label),
            );
            return false;
        }
        true
    }

    /// A redeclaration in a modification, of what an inner modification redeclares without `replaceable`.
    ///
    /// MLS 3.6 §7.3 makes the element final in this respect. Modifications merge with the outer one in force (§7.2.4, §7.3.2), and libraries in wide use rely on
    /// it (`replaceable Pump p(redeclare package Medium = Medium)`, redeclared with another medium): a warning.
    fn report_overridden_redeclaration(&mut self, old: &Step, new: &Step, name: Name) {
        self.report(
            Diagnostic::warning(
                "not-replaceable",
                new.span,
                format!("`{name}` is redeclared over a redeclaration that is not replaceable"),
            )
            .label(old.span, "redeclared here without `replaceable`")
            .hint(
                "the outer redeclaration is used; write `redeclare replaceable` in the inner one",
            ),
        );
    }

    /// Why one class cannot be used in place of another: the first public component it lacks, or a different kind (MLS 3.6 §6.4).
    ///
    /// Decision: types of the components in turn are not compared; that is left to the equations that use them.
    pub(super) fn missing_for_subtype(&mut self, class: InstId, wanted: InstId) -> Option<String> {
        if class == wanted || class == InstId::ERROR || wanted == InstId::ERROR {
            return None;
        }
        let (have, want) = (self.shape(class), self.shape(wanted));
        if have.kind == InstanceKind::Error || want.kind == InstanceKind::Error || have.incomplete {
            return None;
        }
        if matches!(have.kind, InstanceKind::Primitive(_))
            != matches!(want.kind, InstanceKind::Primitive(_))
            || matches!((have.kind, want.kind), (InstanceKind::Primitive(a), InstanceKind::Primitive(b)) if a != b)
        {
            return Some(format!(
                "`{}` is another type than `{}`",
                self.class_name(class),
                self.class_name(wanted)
            ));
        }
        let missing = want.elements.iter().find(|element| {
            let ElementDecl::Component(decl) = &element.item else {
                return false;
            };
            let conditional = decl.condition.is_some();
            element.visibility == Visibility::Public
                && !conditional
                && !have.by_name.contains_key(&element.name)
        })?;
        Some(format!(
            "`{}` has no component `{}`",
            self.class_name(class),
            missing.name
        ))
    }
}

fn steps<'a>(
    parent: InstId,
    element: &'a ShapeElement,
    hits: &'a [ReachingArgument],
) -> Vec<Step<'a>> {
    let mut found = Vec::new();
    for hit in hits {
        match &hit.kind {
            ArgKind::RedeclareComponent(decl) => {
                found.push(component_step(decl, hit.scope, hit.span, true));
            }
            ArgKind::RedeclareClass(decl) => {
                found.push(class_step(decl, hit.scope, hit.span, true));
            }
            ArgKind::Modify(_) => {}
        }
    }
    let mut next = Some(element);
    while let Some(element) = next {
        let scope = Scope {
            inst: parent,
            layer: element.layer,
        };
        match &element.item {
            ElementDecl::Component(decl) => {
                found.push(component_step(decl, scope, decl.name_span, false))
            }
            ElementDecl::Class(decl) => found.push(class_step(decl, scope, decl.name_span, false)),
            ElementDecl::Extends(_) => {}
        }
        next = element.replaced.as_deref();
    }
    found.reverse();
    found
}

fn component_step(decl: &ComponentDecl, scope: Scope, span: Span, modifier: bool) -> Step<'_> {
    let clause = &decl.clause;
    Step {
        replaceable: clause.prefixes.replaceable,
        is_final: clause.prefixes.is_final,
        constant: clause.prefix.variability == Some(VariabilityPrefix::Constant),
        type_name: Some(&clause.type_name),
        constraint: clause.constraint.as_ref().map(|found| &found.base),
        scope,
        span,
        modifier,
    }
}

fn class_step(decl: &ClassDecl, scope: Scope, span: Span, modifier: bool) -> Step<'_> {
    Step {
        replaceable: decl.prefixes.replaceable,
        is_final: decl.prefixes.is_final,
        constant: false,
        type_name: None,
        constraint: decl.constraint.as_ref().map(|found| &found.base),
        scope,
        span,
        modifier,
    }
}

/// The last constraining clause before the declaration in force.
fn constraint_in_force<'a>(steps: &[Step<'a>]) -> Option<(&'a Path, Scope)> {
    let before = steps.split_last().map_or(&[][..], |(_, before)| before);
    before
        .iter()
        .rev()
        .find_map(|step| step.constraint.map(|path| (path, step.scope)))
}
