//! Which modifiers reach an element (MLS 3.6 §7.2.2, §7.2.3).
//!
//! Nothing is merged ahead of time. An instance has a list of [`AppliedModifier`]s, outermost first; for the member `x` of it, the arguments
//! called `x` of these pieces are collected, then those of the `extends` clauses on the way to the class that declares `x`, and last the declaration's
//! own modification. The first value in that order is the one in force.
//!
//! # Example
//! ```text
//! model A  parameter Real p = 1; end A;
//! model B  extends A(p = 2);     end B;
//! model C  B b(p = 3);           end C;
//! C c(b(p = 4))
//! ```
//! For `c.b` the pieces are `(p = 4)`, `(p = 3)`; for `c.b.p` they are `= 4`, `= 3`, `= 2`, `= 1`. Costs: one scan of the arguments per member,
//! no allocation where no modifier applies.

use std::sync::Arc;

use acausal_base::{Name, Span};

use super::Instances;
use super::node::{AppliedModifier, INSIDE, OwnDims};
use super::shape::ClassShape;
use super::types::{BindingOrigin, InstId, Role, Scope};
use crate::class::modifier::{ArgKind, Modifier};

/// An argument that applies to an element.
#[derive(Clone, Debug)]
pub(super) struct ReachingArgument {
    pub kind: ArgKind,
    pub scope: Scope,
    pub levels: u8,
    pub each: bool,
    pub is_final: bool,
    pub origin: BindingOrigin,
    pub span: Span,
    /// Number of the modifier it was found in, counted from the outermost.
    pub source: u32,
    /// The same for modifiers of the enclosing instance; [`INSIDE`] for those of its class.
    pub place: u16,
}

impl Instances {
    /// The arguments for a member that was written in `layer`, outermost first.
    pub(super) fn hits(
        &self,
        inst: InstId,
        shape: Option<&ClassShape>,
        layer: u16,
        name: Name,
    ) -> Vec<ReachingArgument> {
        let node = self.data(inst);
        let mut hits = Vec::new();
        let mut source = 0;
        for piece in self.pieces(inst) {
            let levels = piece.levels.saturating_add(piece.own.count(node.rank));
            let place = u16::try_from(source).unwrap_or(INSIDE);
            collect(&mut hits, piece, levels, name, (source, place));
            source += 1;
        }
        if node.role != Role::Class {
            // What modifies the class as such modifies all components of it: of their dimensions it spans those of the class only, and
            // those around it only for components that stand beside the class.
            let beside = self.parent(node.class) == self.parent(inst);
            let own = shape.map_or(0, |shape| shape.dims.len().min(usize::from(u8::MAX)) as u8);
            for piece in self.pieces(node.class) {
                let levels = if beside { piece.levels } else { 0 };
                let levels = levels.saturating_add(own);
                collect(&mut hits, piece, levels, name, (source, INSIDE));
                source += 1;
            }
        }
        let modifiers = shape
            .and_then(|shape| shape.layers.get(usize::from(layer)))
            .map_or(&[][..], |layer| &layer.modifiers);
        for entry in modifiers {
            for arg in entry.modifier.args_for(name) {
                hits.push(ReachingArgument {
                    kind: arg.kind.clone(),
                    scope: entry.scope.at(inst),
                    levels: if arg.each {
                        0
                    } else {
                        entry.own.count(node.rank)
                    },
                    each: arg.each,
                    is_final: arg.is_final,
                    origin: BindingOrigin::Modifier,
                    span: arg.span,
                    source,
                    place: INSIDE,
                });
            }
            source += 1;
        }
        hits
    }
}

/// `levels` counts the dimensions that an argument without `each` spans; `source` and `place` are those of [`ReachingArgument`].
fn collect(
    hits: &mut Vec<ReachingArgument>,
    piece: &AppliedModifier,
    levels: u8,
    name: Name,
    (source, place): (u32, u16),
) {
    for arg in piece.modifier.args_for(name) {
        hits.push(ReachingArgument {
            kind: arg.kind.clone(),
            scope: piece.scope,
            // `each` also inhibits the split of the outer modifiers (MLS 3.6 §7.2.5, model E).
            levels: if arg.each { 0 } else { levels },
            each: arg.each,
            is_final: arg.is_final,
            origin: piece.origin,
            span: arg.span,
            source,
            place,
        });
    }
}

impl ReachingArgument {
    /// The modifier as a piece for the element, unless it is a redeclaration.
    pub fn piece(&self) -> Option<AppliedModifier> {
        match &self.kind {
            ArgKind::Modify(modifier) => Some(AppliedModifier {
                modifier: Arc::clone(modifier),
                scope: self.scope,
                levels: self.levels,
                own: OwnDims::All,
                each: self.each,
                is_final: self.is_final,
                origin: self.origin,
                source: self.place,
                span: self.span,
            }),
            _ => None,
        }
    }

    /// True for `redeclare`.
    pub fn is_redeclare(&self) -> bool {
        !matches!(self.kind, ArgKind::Modify(_))
    }
}

impl AppliedModifier {
    /// The modification of a declaration itself.
    pub fn declaration(modifier: &Arc<Modifier>, scope: Scope, is_final: bool) -> AppliedModifier {
        AppliedModifier {
            modifier: Arc::clone(modifier),
            scope,
            levels: 0,
            own: OwnDims::All,
            each: false,
            is_final,
            origin: BindingOrigin::Declaration,
            source: INSIDE,
            span: modifier.span,
        }
    }

    /// The modification of a constraining clause, which gives no value of its own.
    pub fn constraint(modifier: &Arc<Modifier>, scope: Scope) -> AppliedModifier {
        AppliedModifier {
            origin: BindingOrigin::Modifier,
            ..AppliedModifier::declaration(modifier, scope, false)
        }
    }
}
