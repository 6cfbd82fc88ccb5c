//! Which nested classes mean the same for all components of a class, so that they are instantiated once.
//!
//! A class nested in a model may use constants of the model only (MLS 3.6 §5.3.1), with one exception: the modifiers and dimensions of a
//! *short* class are looked up outside of it, where they may use anything:
//!
//! ```text
//! model Wall
//!   parameter Real k;
//!   replaceable model Layer = Conductor(G = k);      // different for every wall
//!   function area ... end area;                      // the same for all
//! end Wall;
//! ```
//!
//! A component shares the nested class of its class if (1) its modifiers touch neither classes nor constants and (2) the nested class is not such a
//! dependent short class, nor (unless it is a function or package) could use one. Sharing makes ten thousand components with a function
//! each have one function.

use acausal_base::Name;
use acausal_syntax::ast::{ClassKind, Expr, ExprKind, VariabilityPrefix};
use rustc_hash::FxHashSet;

use super::Instances;
use super::shape::{ClassShape, LayerScope};
use super::types::InstId;
use crate::class::ClassId;
use crate::class::modifier::{ArgKind, Modifier, ModifierValue};
use crate::class::table::{ComponentDecl, ElementDecl};

impl Instances {
    /// True if a component uses the nested class of its class instead of one of its own.
    pub(super) fn shares(&mut self, inst: InstId, shape: &ClassShape, name: Name) -> bool {
        if !self.is_neutral(inst, shape) {
            return false;
        }
        if shape.dependent.is_empty() {
            return true;
        }
        let Some(&index) = shape.by_name.get(&name) else {
            return true;
        };
        let ElementDecl::Class(decl) = &shape.elements[index as usize].item else {
            return true;
        };
        let kind = self.libraries.class(decl.class).def.kind;
        !shape.dependent.contains(&name)
            && matches!(kind, ClassKind::Function { .. } | ClassKind::Package)
    }

    /// True if the modifiers of a component touch neither classes nor constants of its class.
    pub(super) fn is_neutral(&mut self, inst: InstId, shape: &ClassShape) -> bool {
        if let Some(known) = self.node(inst).neutral {
            return known;
        }
        let neutral = self.pieces(inst).iter().all(|piece| {
            piece.modifier.args.iter().all(|arg| {
                let ArgKind::Modify(_) = arg.kind else {
                    return false;
                };
                let Some(&index) = shape.by_name.get(&arg.name) else {
                    return true;
                };
                match &shape.elements[index as usize].item {
                    ElementDecl::Component(decl) => !is_constant(decl),
                    _ => false,
                }
            })
        });
        self.node_mut(inst).neutral = Some(neutral);
        neutral
    }

    /// Nested classes whose modifiers or dimensions mention a variable of the instance.
    pub(super) fn dependent_classes(&mut self, shape: &ClassShape) -> FxHashSet<Name> {
        let is_variable = |name: Name| match shape.by_name.get(&name) {
            Some(&index) => match &shape.elements[index as usize].item {
                ElementDecl::Component(decl) => !is_constant(decl),
                _ => false,
            },
            None => false,
        };
        let mut dependent = FxHashSet::default();
        if !shape
            .elements
            .iter()
            .any(|element| matches!(element.item, ElementDecl::Component(_)))
        {
            return dependent;
        }
        for element in &shape.elements {
            let ElementDecl::Class(decl) = &element.item else {
                continue;
            };
            let constraint = decl
                .constraint
                .as_ref()
                .and_then(|found| found.modifier.as_ref());
            let mut depends = self.short_class_mentions(decl.class, &is_variable)
                || constraint
                    .is_some_and(|modifier| self.modifier_mentions(modifier, &is_variable));
            // `extends A(redeclare model M = N(p = k))` is looked up in the instance as well.
            for entry in &shape.layers[usize::from(element.layer)].modifiers {
                if let LayerScope::Layer(_) = entry.scope {
                    depends = depends
                        || entry
                            .modifier
                            .args_for(element.name)
                            .any(|arg| self.argument_mentions(&arg.kind, &is_variable));
                }
            }
            if depends {
                dependent.insert(element.name);
            }
        }
        dependent
    }

    fn short_class_mentions(&mut self, class: ClassId, wanted: &dyn Fn(Name) -> bool) -> bool {
        if !matches!(
            self.libraries.class(class).def.body,
            acausal_syntax::ast::ClassBody::Short(_)
        ) {
            return false;
        }
        let table = self.element_table(class);
        table.items.iter().any(|item| match item {
            ElementDecl::Extends(extends) => {
                let dims = extends.short.iter().flat_map(|short| &short.subscripts);
                dims.into_iter().any(|expr| mentions(expr, wanted))
                    || extends
                        .modifier
                        .as_ref()
                        .is_some_and(|modifier| self.modifier_mentions(modifier, wanted))
            }
            _ => false,
        })
    }

    fn modifier_mentions(&mut self, modifier: &Modifier, wanted: &dyn Fn(Name) -> bool) -> bool {
        matches!(&modifier.value, Some(ModifierValue::Expr(expr)) if mentions(expr, wanted))
            || modifier
                .args
                .iter()
                .any(|arg| self.argument_mentions(&arg.kind, wanted))
    }

    fn argument_mentions(&mut self, kind: &ArgKind, wanted: &dyn Fn(Name) -> bool) -> bool {
        match kind {
            ArgKind::Modify(modifier) => self.modifier_mentions(modifier, wanted),
            ArgKind::RedeclareClass(decl) => self.short_class_mentions(decl.class, wanted),
            ArgKind::RedeclareComponent(decl) => {
                let dims = decl.subscripts.iter().chain(&decl.clause.subscripts);
                dims.into_iter().any(|expr| mentions(expr, wanted))
                    || decl
                        .modifier
                        .as_ref()
                        .is_some_and(|modifier| self.modifier_mentions(modifier, wanted))
            }
        }
    }
}

fn is_constant(decl: &ComponentDecl) -> bool {
    decl.clause.prefix.variability == Some(VariabilityPrefix::Constant)
}

/// True if an expression begins a reference with a wanted name. Depth is bounded by the parser.
fn mentions(expr: &Expr, wanted: &dyn Fn(Name) -> bool) -> bool {
    let any = |list: &[Expr]| list.iter().any(|expr| mentions(expr, wanted));
    match &expr.kind {
        ExprKind::Real(_)
        | ExprKind::Integer(_)
        | ExprKind::Str(_)
        | ExprKind::Bool(_)
        | ExprKind::End
        | ExprKind::Colon
        | ExprKind::Error => false,
        ExprKind::Ref(reference) => {
            (!reference.global
                && reference
                    .parts
                    .first()
                    .is_some_and(|part| wanted(part.name.name)))
                || reference.parts.iter().any(|part| any(&part.subscripts))
        }
        ExprKind::Chain(first, rest) => {
            mentions(first, wanted) || rest.iter().any(|(_, expr)| mentions(expr, wanted))
        }
        ExprKind::Binary(_, left, right) => mentions(left, wanted) || mentions(right, wanted),
        ExprKind::Unary(_, inner) | ExprKind::Field(inner, _) => mentions(inner, wanted),
        ExprKind::If {
            branches,
            otherwise,
        } => {
            mentions(otherwise, wanted)
                || branches.iter().any(|(condition, value)| {
                    mentions(condition, wanted) || mentions(value, wanted)
                })
        }
        ExprKind::Call(call) => {
            any(&call.args)
                || call
                    .named
                    .iter()
                    .any(|named| mentions(&named.value, wanted))
                || call
                    .indices
                    .iter()
                    .filter_map(|index| index.range.as_ref())
                    .any(|range| mentions(range, wanted))
        }
        ExprKind::PartialApplication(call) => call
            .named
            .iter()
            .any(|named| mentions(&named.value, wanted)),
        ExprKind::Array(items) => any(items),
        ExprKind::ArrayFor { body, indices } => {
            mentions(body, wanted)
                || indices
                    .iter()
                    .filter_map(|index| index.range.as_ref())
                    .any(|range| mentions(range, wanted))
        }
        ExprKind::Matrix(rows) => rows.iter().any(|row| any(row)),
        ExprKind::Range { start, step, stop } => {
            mentions(start, wanted)
                || mentions(stop, wanted)
                || step.as_ref().is_some_and(|step| mentions(step, wanted))
        }
        ExprKind::Tuple(items) => items.iter().flatten().any(|expr| mentions(expr, wanted)),
        ExprKind::Index(inner, subscripts) => mentions(inner, wanted) || any(subscripts),
    }
}
