//! `inner` and `outer` (MLS 3.6 §5.4, §5.5).
//!
//! An `outer` component stands for the nearest `inner` one with its name in the components around it. Where there is none, one is added to
//! the model if its class allows, with a warning: the last rule of §5.4.

use acausal_base::{Diagnostic, Name};
use acausal_syntax::ast::{BindingValue, ExprKind, Visibility};

use super::Instances;
use super::node::{Decl, ModifierRange};
use super::types::{InstId, InstPrefixes, Instance, Role};
use crate::class::table::ElementDecl;

impl Instances {
    /// Instances that [`components`](Instances::components) of the root does not have, because only a deeper
    /// `outer` made them necessary (MLS 3.6 §5.4). Ask after walking the model, walk these too, and repeat until empty.
    pub fn take_added_inners(&mut self) -> Vec<InstId> {
        std::mem::take(&mut self.added_inners)
    }

    /// The `inner` element that an `outer` one stands for; any other is itself.
    pub fn inner_of(&mut self, member: InstId) -> InstId {
        if !self.data(member).prefixes.outer {
            return member;
        }
        if let Some(&known) = self.inners.get(&member) {
            return known;
        }
        let found = self.find_inner(member);
        self.inners.insert(member, found);
        found
    }

    fn find_inner(&mut self, member: InstId) -> InstId {
        let name = self.data(member).name;
        let mut at = self.parent(member);
        // In a class looked into by name there is no hierarchy of instances around it.
        if at.is_none_or(|parent| self.data(parent).role == Role::Class) {
            return member;
        }
        while let Some(component) = at {
            at = match self.data(component).role {
                Role::Component => self.parent(component),
                _ => None,
            };
            let Some(around) = at else { break };
            let shape = self.shape(around);
            let Some(&index) = shape.by_name.get(&name) else {
                continue;
            };
            // Asking the declaration first keeps components that are not concerned from being made.
            let declared_inner = match &shape.elements[index as usize].item {
                ElementDecl::Component(decl) => {
                    decl.clause.prefixes.inner || decl.clause.prefixes.redeclare
                }
                ElementDecl::Class(decl) => decl.prefixes.inner || decl.prefixes.redeclare,
                ElementDecl::Extends(_) => false,
            };
            if declared_inner
                && let Some(candidate) = self.child(around, name)
                && self.data(candidate).prefixes.inner
            {
                self.check_inner(candidate, member);
                return candidate;
            }
        }
        self.added_inner(member, name)
    }

    /// The `inner` must be usable in place of the `outer` (MLS 3.6 §5.4).
    fn check_inner(&mut self, inner: InstId, outer: InstId) {
        if self.data(inner).role != self.data(outer).role {
            self.report_inner(inner, outer, "one is a class, the other a component");
            return;
        }
        let (inner_class, outer_class) = (self.data(inner).class, self.data(outer).class);
        if let Some(missing) = self.missing_for_subtype(inner_class, outer_class) {
            self.report_inner(inner, outer, &missing);
        }
    }

    fn report_inner(&mut self, inner: InstId, outer: InstId, why: &str) {
        let name = self.data(outer).name;
        let error = Diagnostic::error(
            "inner-outer-mismatch",
            self.data(outer).span,
            format!("the `inner` element `{name}` does not fit this `outer` one: {why}"),
        )
        .label(
            self.data(inner).span,
            format!("`inner` of class `{}`", self.class_name(inner)),
        );
        let error = self.with_chain(error, outer);
        self.report(error);
    }

    /// Adds the missing `inner` to the model.
    fn added_inner(&mut self, outer: InstId, name: Name) -> InstId {
        let Some(root) = self.root else { return outer };
        let class = self.data(outer).class;
        let class_name = self.class_name(outer);
        if let Some(&known) = self.automatic_inners.get(&name) {
            if self.data(known).class != class {
                let error = Diagnostic::error(
                    "missing-inner",
                    self.data(outer).span,
                    format!("there is no `inner` component `{name}`, and the `outer` ones have different classes"),
                )
                .label(self.data(known).span, format!("of class `{}`", self.class_name(known)));
                self.report(error);
            }
            return known;
        }
        let message = self.missing_inner_message(class);
        let span = self.data(outer).span;
        let partial = self.shape(class).partial || self.data(outer).role == Role::Class;
        if partial {
            let mut error = Diagnostic::error(
                "missing-inner",
                span,
                format!("there is no `inner` element `{name}` for this `outer` one"),
            )
            .hint(format!(
                "declare `inner ... {name}` of a class derived from `{class_name}` in the model"
            ));
            error.notes.extend(message);
            let error = self.with_chain(error, outer);
            self.report(error);
            return outer;
        }
        let mut warning = Diagnostic::warning(
            "missing-inner",
            span,
            format!(
                "there is no `inner` component `{name}`; the model gets one of class `{class_name}`"
            ),
        )
        .hint(format!("declare `inner {class_name} {name};` in the model"));
        warning.notes.extend(message);
        let warning = self.with_chain(warning, outer);
        self.report(warning);

        let shape = self.shape(class);
        let node = self.data(outer);
        let Decl::Component(decl) = &node.decl else {
            return outer;
        };
        let added = Instance {
            name,
            role: Role::Component,
            class,
            prefixes: InstPrefixes {
                inner: true,
                outer: false,
                ..node.prefixes
            },
            visibility: Visibility::Public,
            span,
            rank: node.rank,
            layer: node.layer,
            decl: Decl::Component(decl.clone()),
            shape: Some(shape),
        };
        let place = self.node(outer).place;
        let id = self.add(added, Some(root), place, ModifierRange::default());
        self.automatic_inners.insert(name, id);
        self.added_inners.push(id);
        id
    }

    /// `annotation(missingInnerMessage = "...")` of a class (MLS 3.6 §18.6).
    fn missing_inner_message(&mut self, class: InstId) -> Option<String> {
        self.class_annotations(class).iter().find_map(|reference| {
            let modification = reference.annotation()?.get("missingInnerMessage")?;
            match &modification.binding.as_ref()?.value {
                BindingValue::Expr(expr) => match &expr.kind {
                    ExprKind::Str(text) => Some(text.to_string()),
                    _ => None,
                },
                BindingValue::Break => None,
            }
        })
    }
}
