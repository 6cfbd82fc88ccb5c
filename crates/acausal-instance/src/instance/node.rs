//! The private part of an instance: where it stands, the modifiers that reach it, and its members.

use std::sync::Arc;

use acausal_base::Span;

use super::types::{BindingOrigin, InstId, Scope};
use crate::class::ClassId;
use crate::class::modifier::Modifier;
use crate::class::table::ComponentDecl;

/// What an instance has of its own. A large model has a million of them, so this is small; what the instances of one declaration have in common is in
/// [`Instance`](super::Instance).
#[derive(Clone, Debug)]
pub(crate) struct InstanceNode {
    /// The instance it belongs to, or [`InstId::NONE`].
    pub parent: InstId,
    /// The instance in whose scope it was declared: the parent unless it was redeclared.
    pub place: InstId,
    /// Its place in `Instances::alike`.
    pub facts: u32,
    /// Modifiers that reach it from outside of its class, outermost first: a part of `Instances::pieces`.
    pub env: ModifierRange,
    /// Where its members begin in `Instances::slots`, for a component or the root: one per element, [`InstId::NONE`] where not made yet. Without any
    /// so far, [`NO_SLOTS`].
    pub slots: u32,
    /// Its base classes are being looked up: inherited elements are not visible (MLS 3.6 §5.6.1.4).
    pub building: bool,
    /// Whether its modifiers leave classes and constants alone; see `Instances::is_neutral`.
    pub neutral: Option<bool>,
    /// Whether the checks on expansion have been made.
    pub checked: bool,
}

impl InstId {
    /// No instance.
    pub(super) const NONE: InstId = InstId(u32::MAX);
    /// The class of components whose type is unknown.
    pub(super) const ERROR: InstId = InstId(1);
}

/// What declares an instance.
#[derive(Clone, Debug)]
pub(crate) enum Decl {
    Component(Arc<ComponentDecl>),
    Class(ClassId),
    /// The unnamed class around all, or the class that stands for what was not found.
    Nothing,
}

/// A part of the list of all modifiers. A large model has a million instances; each with lists of its own would take half as much memory again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ModifierRange {
    pub start: u32,
    pub end: u32,
}

/// No member has been made.
pub(crate) const NO_SLOTS: u32 = u32::MAX;

/// A modifier that reaches an instance.
#[derive(Clone, Debug)]
pub(crate) struct AppliedModifier {
    pub modifier: Arc<Modifier>,
    /// Where its names are looked up.
    pub scope: Scope,
    /// Number of dimensions of the enclosing components that its value spans.
    pub levels: u8,
    /// Which dimensions of the instance itself its nested arguments span.
    pub own: OwnDims,
    pub each: bool,
    pub is_final: bool,
    pub origin: BindingOrigin,
    /// The modifier of the enclosing instance that it is part of, by its place there: what decides between a value of a record and those of its fields.
    /// [`INSIDE`] if it was written in the class of that instance.
    pub source: u16,
    pub span: Span,
}

/// A modifier of a member that no modifier of the enclosing instance contains.
pub(crate) const INSIDE: u16 = u16::MAX;

/// Which dimensions of an instance the nested arguments of a modifier span when written without `each`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnDims {
    /// All: the modifier was written at the declaration or outside of it.
    All,
    /// The last ones, that come from its type: the modifier was written in a class.
    Last(u8),
}

impl OwnDims {
    /// How many of `rank` dimensions.
    pub fn count(self, rank: u8) -> u8 {
        match self {
            OwnDims::All => rank,
            OwnDims::Last(count) => count.min(rank),
        }
    }
}
