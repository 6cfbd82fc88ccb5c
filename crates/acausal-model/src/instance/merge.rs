//! Elements of the same name in one class: merged if identical, replaced by `redeclare`, else an error (MLS 3.6 §7.1, §7.3).
//!
//! Decision: elements inherited twice are compared *as written*, without the modifiers on the way and without descriptions and
//! annotations; the first one is kept.

use std::sync::Arc;

use acausal_syntax::ast::Visibility;
use acausal_syntax::{Diagnostic, Span};

use super::Instances;
use super::shape::{Shape, ShapeElement};
use crate::class::Libraries;
use crate::class::modifier::{Arg, ArgKind, Modifier};
use crate::class::table::{ClassDecl, ComponentDecl, Item};

impl Instances {
    /// Enters an element, or merges it with the one of the same name (MLS 3.6 §7.1, §7.3).
    pub(super) fn add_element(&mut self, shape: &mut Shape, mut new: ShapeElement) {
        let Some(&index) = shape.by_name.get(&new.name) else {
            shape.by_name.insert(new.name, shape.elements.len() as u32);
            shape.elements.push(new);
            return;
        };
        let known = &mut shape.elements[index as usize];
        shape.also_in.push((new.name, known.layer.max(new.layer)));
        if new.layer == 0 && redeclares(&new.item) {
            // The replaced element keeps its place in the order.
            let old = std::mem::replace(known, new.clone());
            if old.visibility != new.visibility {
                self.report_visibility_change(&new, &old);
            }
            known.visibility = old.visibility;
            known.replaced = Some(Arc::new(old));
        } else if known.layer == 0 && redeclares(&known.item) {
            // Inherited twice and redeclared: the first inherited one is replaced.
            if known.replaced.is_none() {
                new.replaced = None;
                known.visibility = new.visibility;
                known.replaced = Some(Arc::new(new));
            }
        } else if redeclares(&new.item) && !redeclares(&known.item) && new.replaced.is_some() {
            // Of two inherited ones, one redeclared on its way: the redeclaration is in force.
            *known = new;
        } else if known.replaced.is_none() && !self.identical(&known.item, &new.item) {
            let (known, new) = (known.clone(), new);
            self.report_conflict(shape, &known, &new);
        }
    }

    /// Redeclaring does not change visibility (MLS 3.6 §7.3.3).
    fn report_visibility_change(&mut self, new: &ShapeElement, old: &ShapeElement) {
        let text = |element: &ShapeElement| match element.visibility {
            Visibility::Public => "public",
            Visibility::Protected => "protected",
        };
        self.report(
            Diagnostic::error(
                "redeclare-mismatch",
                span(&new.item),
                format!(
                    "`{}` is {} and cannot be redeclared as {}",
                    new.name,
                    text(old),
                    text(new)
                ),
            )
            .label(span(&old.item), format!("declared {} here", text(old))),
        );
    }

    /// Two declarations of one name that are not identical.
    ///
    /// MLS 3.6 §7.1 calls this an error. Libraries in wide use repeat a declaration with other attributes (`m_flow` of
    /// Modelica.Fluid), so where only modifiers differ the first is kept and a warning given.
    fn report_conflict(&mut self, shape: &Shape, known: &ShapeElement, new: &ShapeElement) {
        let class = |layer: u16| {
            let class = shape
                .layers
                .get(usize::from(layer))
                .map(|layer| layer.class);
            class.map_or_else(String::new, |class| self.libraries.qualified_name(class))
        };
        let (old_span, new_span) = (span(&known.item), span(&new.item));
        let (old_text, new_text) = (class(known.layer), class(new.layer));
        let diagnostic = match (&known.item, &new.item) {
            (Item::Component(a), Item::Component(b)) if same_except_modifiers(a, b) => {
                Diagnostic::warning(
                    "conflicting-modifiers",
                    new_span,
                    format!("`{}` is inherited twice with different modifiers", new.name),
                )
                .hint("the first declaration is used")
            }
            _ => Diagnostic::error(
                "conflicting-elements",
                new_span,
                format!(
                    "`{}` is declared differently in two classes that are put together",
                    new.name
                ),
            )
            .hint("rename one of them, or use `redeclare` if the inherited one is `replaceable`"),
        };
        self.report(
            diagnostic
                .label(new_span, format!("declared here in `{new_text}`"))
                .label(old_span, format!("declared here in `{old_text}`")),
        );
    }

    /// The same declaration, as written.
    fn identical(&self, left: &Item, right: &Item) -> bool {
        match (left, right) {
            (Item::Component(a), Item::Component(b)) => {
                Arc::ptr_eq(a, b) || same_component(&self.libraries, a, b)
            }
            (Item::Class(a), Item::Class(b)) => same_class(&self.libraries, a, b),
            _ => false,
        }
    }
}

/// True for `redeclare` as an element.
pub(super) fn redeclares(item: &Item) -> bool {
    match item {
        Item::Component(decl) => decl.clause.prefixes.redeclare,
        Item::Class(decl) => decl.prefixes.redeclare || decl.extends_inherited,
        Item::Extends(_) => false,
    }
}

/// Place of the name of an element.
pub(super) fn span(item: &Item) -> Span {
    item.declared().map_or(Span::NONE, |(_, span)| span)
}

fn same_component(libraries: &Libraries, a: &ComponentDecl, b: &ComponentDecl) -> bool {
    // Descriptions and annotations do not count: libraries repeat declarations with other icons.
    same_modifier(libraries, a.modifier.as_deref(), b.modifier.as_deref())
        && same_except_modifiers(a, b)
}

/// The same class as written.
fn same_class(libraries: &Libraries, a: &ClassDecl, b: &ClassDecl) -> bool {
    let (first, second) = (&libraries.class(a.class).def, &libraries.class(b.class).def);
    // Descriptions and annotations do not count.
    a.class == b.class
        || (first.kind == second.kind
            && first.partial == second.partial
            && first.encapsulated == second.encapsulated
            && first.body == second.body
            && a.prefixes == b.prefixes
            && a.visibility == b.visibility)
}

/// The same arguments and the same value. The recursion is over the nesting of modifiers, which the parser bounds.
fn same_modifier(libraries: &Libraries, a: Option<&Modifier>, b: Option<&Modifier>) -> bool {
    let (Some(a), Some(b)) = (a, b) else {
        return a.is_none() && b.is_none();
    };
    let same = |(a, b): (&Arg, &Arg)| {
        (a.name, a.each, a.is_final) == (b.name, b.each, b.is_final)
            && match (&a.kind, &b.kind) {
                (ArgKind::Modify(a), ArgKind::Modify(b)) => {
                    same_modifier(libraries, Some(a), Some(b))
                }
                (ArgKind::RedeclareComponent(a), ArgKind::RedeclareComponent(b)) => {
                    same_component(libraries, a, b)
                }
                (ArgKind::RedeclareClass(a), ArgKind::RedeclareClass(b)) => {
                    same_class(libraries, a, b)
                }
                _ => false,
            }
    };
    a.value == b.value && a.args.len() == b.args.len() && a.args.iter().zip(&b.args).all(same)
}

/// The same type, dimensions, prefixes, condition and value.
fn same_except_modifiers(a: &ComponentDecl, b: &ComponentDecl) -> bool {
    let value = |decl: &ComponentDecl| decl.modifier.as_ref().and_then(|m| m.value.clone());
    a.clause.prefixes == b.clause.prefixes
        && a.clause.prefix == b.clause.prefix
        && a.clause.visibility == b.clause.visibility
        && a.clause.type_name == b.clause.type_name
        && a.clause.subscripts == b.clause.subscripts
        && a.subscripts == b.subscripts
        && a.condition == b.condition
        && value(a) == value(b)
}
