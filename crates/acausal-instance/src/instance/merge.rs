//! Elements of the same name in one class: merged if identical, replaced by `redeclare`, else an error (MLS 3.6 §7.1, §7.3).
//!
//! Elements inherited twice are compared as written, without descriptions and annotations. Those that differ are compared again when the class is
//! complete, by what they mean: after the redeclarations on their way, types and short classes by the class that their names lead to.
//! Decision: other modifiers on the way do not count. The first one is kept.
//!
//! ```text
//! model Port  replaceable package Medium = A; ... end Port;
//! model Index replaceable package Medium = B; ... end Index;
//! model Sensor extends Port; extends Index(redeclare package Medium = Medium); end Sensor;   // one Medium, A
//! ```

use std::sync::Arc;

use acausal_base::{Diagnostic, Span};
use acausal_syntax::ast::{Path, Visibility};

use super::Instances;
use super::node::Decl;
use super::shape::{ClassShape, ShapeElement};
use super::types::{InstId, Scope};
use crate::class::modifier::{Arg, ArgKind, Modifier};
use crate::class::table::{ClassDecl, ComponentDecl, ElementDecl, ExtendsDecl};
use crate::class::{ClassId, Libraries};

impl Instances {
    /// Enters an element, or merges it with the one of the same name (MLS 3.6 §7.1, §7.3).
    pub(super) fn add_element(&mut self, shape: &mut ClassShape, mut new: ShapeElement) {
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
            let pair = (known.clone(), new);
            shape.disputed.push(pair);
        }
    }

    /// Compares elements of one name by what they mean.
    pub(super) fn check_disputed(&mut self, inst: InstId, shape: &ClassShape) {
        for (known, new) in &shape.disputed {
            if !self.means_the_same(inst, shape, known, new) {
                self.report_conflict(shape, known, new);
            }
        }
    }

    fn means_the_same(
        &mut self,
        inst: InstId,
        shape: &ClassShape,
        known: &ShapeElement,
        new: &ShapeElement,
    ) -> bool {
        let (first, second) = (in_force(inst, shape, known), in_force(inst, shape, new));
        match (first, second) {
            ((ElementDecl::Component(a), at), (ElementDecl::Component(b), other)) => {
                same_except_type(&a, &b)
                    && same_modifier(
                        &self.libraries,
                        a.modifier.as_deref(),
                        b.modifier.as_deref(),
                    )
                    && self.same_meaning((&a.clause.type_name, at), (&b.clause.type_name, other))
            }
            ((ElementDecl::Class(a), at), (ElementDecl::Class(b), other)) => {
                let [a, b] = [&a, &b].map(|decl| self.short_class(decl.class));
                let (Some(a), Some(b)) = (a, b) else {
                    return false;
                };
                same_modifier(
                    &self.libraries,
                    a.modifier.as_deref(),
                    b.modifier.as_deref(),
                ) && self.same_meaning((&a.base, at), (&b.base, other))
            }
            _ => false,
        }
    }

    /// Whether two names lead to one class.
    fn same_meaning(&mut self, a: (&Path, Scope), b: (&Path, Scope)) -> bool {
        let (Ok(a), Ok(b)) = (self.resolve_class(a.1, a.0), self.resolve_class(b.1, b.0)) else {
            return false;
        };
        a == b || self.unabridged(a) == self.unabridged(b)
    }

    /// The class that a short class stands for, if it changes nothing: `package Medium = Water`.
    fn unabridged(&mut self, class: InstId) -> InstId {
        const LONGEST: usize = 100; // short classes that lead to each other in a circle are reported elsewhere
        let mut at = class;
        for _ in 0..LONGEST {
            let Decl::Class(id) = self.data(at).decl else {
                break;
            };
            let plain = self.pieces(at).is_empty() && !self.constraints.contains_key(&at);
            let Some(short) = self
                .short_class(id)
                .filter(|s| plain && s.modifier.is_none())
            else {
                break;
            };
            match self.resolve_class(self.scope_of(at), &short.base) {
                Ok(next) if next != InstId::ERROR => at = next,
                _ => break,
            }
        }
        at
    }

    /// The definition of a short class without dimensions and prefixes.
    fn short_class(&mut self, class: ClassId) -> Option<Arc<ExtendsDecl>> {
        let table = self.element_table(class);
        let Some(ElementDecl::Extends(extends)) = table.items.first() else {
            return None;
        };
        let short = extends.short.as_ref()?;
        let plain = short.subscripts.is_empty() && short.causality.is_none();
        plain.then(|| Arc::clone(extends))
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
    fn report_conflict(&mut self, shape: &ClassShape, known: &ShapeElement, new: &ShapeElement) {
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
            (ElementDecl::Component(a), ElementDecl::Component(b))
                if same_except_modifiers(a, b) =>
            {
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
    fn identical(&self, left: &ElementDecl, right: &ElementDecl) -> bool {
        match (left, right) {
            (ElementDecl::Component(a), ElementDecl::Component(b)) => {
                Arc::ptr_eq(a, b) || same_component(&self.libraries, a, b)
            }
            (ElementDecl::Class(a), ElementDecl::Class(b)) => same_class(&self.libraries, a, b),
            _ => false,
        }
    }
}

/// The declaration of an element after the redeclarations in `extends` clauses, and where its names are looked up.
fn in_force(inst: InstId, shape: &ClassShape, element: &ShapeElement) -> (ElementDecl, Scope) {
    let modifiers = shape.layers.get(usize::from(element.layer));
    for entry in modifiers.map_or(&[][..], |layer| &layer.modifiers) {
        for arg in entry.modifier.args_for(element.name) {
            let item = match &arg.kind {
                ArgKind::RedeclareComponent(decl) => ElementDecl::Component(Arc::clone(decl)),
                ArgKind::RedeclareClass(decl) => ElementDecl::Class(Arc::clone(decl)),
                ArgKind::Modify(_) => continue,
            };
            return (item, entry.scope.at(inst));
        }
    }
    let scope = Scope {
        inst,
        layer: element.layer,
    };
    (element.item.clone(), scope)
}

/// True for `redeclare` as an element.
pub(super) fn redeclares(item: &ElementDecl) -> bool {
    match item {
        ElementDecl::Component(decl) => decl.clause.prefixes.redeclare,
        ElementDecl::Class(decl) => decl.prefixes.redeclare || decl.extends_inherited,
        ElementDecl::Extends(_) => false,
    }
}

/// Place of the name of an element.
pub(super) fn span(item: &ElementDecl) -> Span {
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
    a.clause.type_name == b.clause.type_name && same_except_type(a, b)
}

/// The same dimensions, prefixes, condition and value.
fn same_except_type(a: &ComponentDecl, b: &ComponentDecl) -> bool {
    let value = |decl: &ComponentDecl| decl.modifier.as_ref().and_then(|m| m.value.clone());
    a.clause.prefixes == b.clause.prefixes
        && a.clause.prefix == b.clause.prefix
        && a.clause.visibility == b.clause.visibility
        && a.clause.subscripts == b.clause.subscripts
        && a.subscripts == b.subscripts
        && a.condition == b.condition
        && value(a) == value(b)
}
