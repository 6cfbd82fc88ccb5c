//! Modifications, prepared for merging (MLS 3.6 §7.2).
//!
//! In: the arguments of a modification as written. Out: a [`Modifier`], in which every argument names one element of the modified
//! class. Dotted names become nesting, with `each` and `final` on the last part only (MLS 3.6 §7.2.4):
//!
//! ```text
//! A a(final x.unit = "V", x = 5)     ==>     x(final unit = "V"),  x = 5
//! ```
//!
//! Expressions are put in `Arc`s once here, so that an instance refers to a value without copying it.

use std::sync::Arc;

use acausal_base::{Diagnostic, Name, Span};
use acausal_syntax::ast::{
    self, Argument, ArgumentKind, BindingValue, ComponentRef, ElementKind, Expr, Modification,
};
use rustc_hash::FxHashMap;

use super::table::{ClassDecl, ComponentDecl};
use super::tabulate::TableBuilder;

/// A modification: nested arguments and a value, both optional.
#[derive(Debug)]
pub(crate) struct Modifier {
    /// Arguments in the order written; one name can occur twice when different parts of it are modified.
    pub args: Box<[Arg]>,
    /// What stands behind `=`.
    pub value: Option<ModifierValue>,
    /// The whole modification.
    pub span: Span,
    /// True if there is a redeclaration anywhere in it.
    pub redeclares: bool,
}

/// What stands behind `=`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ModifierValue {
    Expr(Arc<Expr>),
    /// `break`: no value (MLS 3.6 §7.2.7).
    Break,
}

/// One argument: what it changes in the element called `name`.
#[derive(Debug)]
pub(crate) struct Arg {
    pub name: Name,
    /// The name as written here.
    pub span: Span,
    pub each: bool,
    pub is_final: bool,
    pub kind: ArgKind,
}

/// The forms of an argument.
#[derive(Debug, Clone)]
pub(crate) enum ArgKind {
    Modify(Arc<Modifier>),
    RedeclareComponent(Arc<ComponentDecl>),
    RedeclareClass(Arc<ClassDecl>),
}

/// What `break` in an `extends` clause takes out of a base class (MLS 3.6 §7.4).
#[derive(Debug, Default)]
pub(crate) struct Deselected {
    pub components: Vec<ast::Ident>,
    pub connections: Vec<(ComponentRef, ComponentRef)>,
}

impl Modifier {
    /// A modification of these parts.
    pub fn new(args: Box<[Arg]>, value: Option<ModifierValue>, span: Span) -> Modifier {
        let redeclares = args.iter().any(|arg| match &arg.kind {
            ArgKind::Modify(inner) => inner.redeclares,
            _ => true,
        });
        Modifier {
            args,
            value,
            span,
            redeclares,
        }
    }

    /// True when there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.args.is_empty() && self.value.is_none()
    }

    /// The arguments for one element.
    pub fn args_for(&self, name: Name) -> impl Iterator<Item = &Arg> {
        self.args.iter().filter(move |arg| arg.name == name)
    }
}

impl TableBuilder<'_> {
    /// A modification of a declaration; `None` when it says nothing.
    pub fn modification(&mut self, modification: &Modification) -> Option<Arc<Modifier>> {
        let args = self.args(&modification.arguments, None);
        let value = modification
            .binding
            .as_ref()
            .map(|binding| match &binding.value {
                BindingValue::Expr(expr) => ModifierValue::Expr(Arc::clone(expr)),
                BindingValue::Break => ModifierValue::Break,
            });
        let modifier = Modifier::new(args, value, modification.span);
        (!modifier.is_empty()).then(|| Arc::new(modifier))
    }

    /// A list of arguments without value; `None` when it is empty.
    pub fn arguments(&mut self, arguments: &[Argument], span: Span) -> Option<Arc<Modifier>> {
        let args = self.args(arguments, None);
        (!args.is_empty()).then(|| Arc::new(Modifier::new(args, None, span)))
    }

    /// The arguments of an `extends` clause, where `break` may also deselect elements.
    pub fn extends_arguments(
        &mut self,
        arguments: &[Argument],
        span: Span,
    ) -> (Option<Arc<Modifier>>, Deselected) {
        let mut deselected = Deselected::default();
        let args = self.args(arguments, Some(&mut deselected));
        let modifier = (!args.is_empty()).then(|| Arc::new(Modifier::new(args, None, span)));
        (modifier, deselected)
    }

    fn args(
        &mut self,
        arguments: &[Argument],
        mut deselected: Option<&mut Deselected>,
    ) -> Box<[Arg]> {
        let mut args = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match &argument.kind {
                ArgumentKind::Modify {
                    name, modification, ..
                } => {
                    if let Some(arg) = self.modify(argument, name, modification.as_ref()) {
                        args.push(arg);
                    }
                }
                ArgumentKind::Redeclare(element) => args.extend(self.redeclare(argument, element)),
                ArgumentKind::BreakComponent(name) => match &mut deselected {
                    Some(list) => list.components.push(name.clone()),
                    None => self.misplaced_break(argument.span),
                },
                ArgumentKind::BreakConnect(left, right) => match &mut deselected {
                    Some(list) => list.connections.push((left.clone(), right.clone())),
                    None => self.misplaced_break(argument.span),
                },
            }
        }
        self.check_single_modification(&args);
        args.into()
    }

    fn modify(
        &mut self,
        argument: &Argument,
        path: &ast::Path,
        modification: Option<&Modification>,
    ) -> Option<Arg> {
        let (last, before) = path.parts.split_last()?;
        // A bare name (`final x`) modifies nothing but may protect.
        let modifier = modification
            .and_then(|m| self.modification(m))
            .unwrap_or_else(|| Arc::new(Modifier::new(Box::new([]), None, argument.span)));
        let mut arg = Arg {
            name: last.name,
            span: last.span,
            each: argument.each,
            is_final: argument.is_final,
            kind: ArgKind::Modify(modifier),
        };
        for part in before.iter().rev() {
            let inner = Modifier::new(Box::new([arg]), None, argument.span);
            arg = Arg {
                name: part.name,
                span: part.span,
                each: false,
                is_final: false,
                kind: ArgKind::Modify(Arc::new(inner)),
            };
        }
        Some(arg)
    }

    fn redeclare(&mut self, argument: &Argument, element: &ast::Element) -> Option<Arg> {
        let (name, kind) = match &element.kind {
            ElementKind::Class(def) => {
                let decl = self.class_decl(def, element, ast::Visibility::Public);
                (&def.name, ArgKind::RedeclareClass(Arc::new(decl)))
            }
            ElementKind::Components(clause) => {
                let component = clause.components.first()?;
                let decl = self.redeclared_component(element, clause, component);
                (&component.name, ArgKind::RedeclareComponent(Arc::new(decl)))
            }
            // The grammar has no other element here; the parser reported whatever stood there.
            ElementKind::Import(_) | ElementKind::Extends(_) => return None,
        };
        Some(Arg {
            name: name.name,
            span: name.span,
            each: argument.each,
            is_final: argument.is_final,
            kind,
        })
    }

    fn misplaced_break(&mut self, span: Span) {
        self.diagnostics.push(
            Diagnostic::error(
                "misplaced-break",
                span,
                "elements can be deselected only in an `extends` clause",
            )
            .hint("to remove a value write `name = break`"),
        );
    }

    /// Two arguments must not modify the same thing (MLS 3.6 §7.2.4).
    fn check_single_modification(&mut self, args: &[Arg]) {
        if args.len() < 2 {
            return;
        }
        let mut seen: FxHashMap<Name, &Arg> = FxHashMap::default();
        for arg in args {
            if let Some(&first) = seen.get(&arg.name) {
                if let Some((earlier, later)) = conflict(first, arg) {
                    self.diagnostics.push(
                        Diagnostic::error(
                            "duplicate-modifier",
                            later,
                            format!("`{}` is modified twice in one modification", arg.name),
                        )
                        .label(earlier, "first modified here"),
                    );
                }
            } else {
                seen.insert(arg.name, arg);
            }
        }
    }
}

/// Places of two modifiers of the same thing inside of two arguments for the same element.
fn conflict(first: &Arg, second: &Arg) -> Option<(Span, Span)> {
    match (&first.kind, &second.kind) {
        (ArgKind::Modify(a), ArgKind::Modify(b)) => {
            if a.value.is_some() && b.value.is_some() {
                return Some((first.span, second.span));
            }
            a.args.iter().find_map(|inner| {
                b.args_for(inner.name)
                    .find_map(|other| conflict(inner, other))
            })
        }
        // A redeclaration and a modifier of the same element are merged.
        (ArgKind::Modify(_), _) | (_, ArgKind::Modify(_)) => None,
        _ => Some((first.span, second.span)),
    }
}
