//! The flattened class of an instance: all elements, own and inherited, without their types (MLS 3.6 §5.6.1.4).
//!
//! A shape belongs to a class in its place and is shared by all instances of it. It is a list of *layers*, one per class of the
//! inheritance tree in depth-first order, and a list of elements that each point to the layer they were written in:
//!
//! ```text
//! model D extends B(x = 1); Real y; end D;      layers    0: D            1: B  (modifiers of its elements: x = 1, in scope 0)
//! model B extends A; Real x; end B;                       2: A
//! model A Real z; end A;                        elements  z (2), x (1), y (0)
//! ```
//!
//! The layers below a layer are contiguous, so "declared in `B` or inherited by it" is a comparison of indices.

use std::sync::Arc;

use acausal_base::Name;
use acausal_syntax::ast::{CausalityPrefix, ComponentRef, Expr, Visibility};
use rustc_hash::{FxHashMap, FxHashSet};

use super::node::OwnDims;
use super::types::{InstId, InstanceKind, Scope};
use crate::class::ClassId;
use crate::class::modifier::Modifier;
use crate::class::predefined::PredefinedType;
use crate::class::table::ElementDecl;

/// A flattened class.
#[derive(Debug)]
pub(crate) struct ClassShape {
    pub layers: Vec<Layer>,
    /// In declaration order, inherited ones at the place of their `extends` clause.
    pub elements: Vec<ShapeElement>,
    pub by_name: FxHashMap<Name, u32>,
    /// Further layers that declare an element, for elements that several do.
    pub also_in: Vec<(Name, u16)>,
    pub kind: InstanceKind,
    /// The predefined type it is made from, if any.
    pub predefined: Option<PredefinedType>,
    pub is_connector: bool,
    /// `partial`, of the class itself or, for a short class, of what it stands for.
    pub partial: bool,
    /// A base class could not be found, so elements may be missing.
    pub incomplete: bool,
    /// `input` or `output` of a short class.
    pub causality: Option<CausalityPrefix>,
    /// Dimensions of a short class.
    pub dims: Vec<(Arc<Expr>, LayerScope)>,
    /// Pairs of elements of one name that are not identical as written: the one that is kept and the other one, to be compared once names can be looked up.
    pub disputed: Vec<(ShapeElement, ShapeElement)>,
    /// Nested classes whose modifiers use variables of the instance; see [`super::sharing`].
    pub dependent: FxHashSet<Name>,
}

/// One class of the inheritance tree.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    pub class: ClassId,
    /// The instance with [`Role::Class`](super::Role::Class) that was extended; that of the shape itself for layer 0.
    pub node: InstId,
    /// Where lookup goes on outside of the class.
    pub enclosing: Scope,
    /// One past the last layer below this one.
    pub end: u16,
    /// Modifiers of the `extends` clauses that lead here, outermost first.
    pub modifiers: Vec<LayerModifier>,
    /// The class has been inherited before: its equations count once (MLS 3.6 §7.1).
    pub repeated: bool,
    /// Connections left out by `break connect(...)`.
    pub removed_connections: Arc<[(ComponentRef, ComponentRef)]>,
}

/// A modifier of an `extends` clause or short class.
#[derive(Debug, Clone)]
pub(crate) struct LayerModifier {
    pub modifier: Arc<Modifier>,
    pub scope: LayerScope,
    pub own: OwnDims,
}

/// A scope that may be relative to the instance the shape is used for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LayerScope {
    /// Written in this layer of the instance.
    Layer(u16),
    /// Written elsewhere.
    Fixed(Scope),
}

impl LayerScope {
    /// For an instance.
    pub fn at(self, inst: InstId) -> Scope {
        match self {
            LayerScope::Layer(layer) => Scope { inst, layer },
            LayerScope::Fixed(scope) => scope,
        }
    }

    /// In a list of layers where what was layer 0 is layer `offset`.
    pub fn shifted(self, offset: u16) -> LayerScope {
        match self {
            LayerScope::Layer(layer) => LayerScope::Layer(layer + offset),
            fixed @ LayerScope::Fixed(_) => fixed,
        }
    }
}

/// A component or class of the flattened class.
#[derive(Debug, Clone)]
pub(crate) struct ShapeElement {
    pub name: Name,
    /// Where it was written.
    pub layer: u16,
    /// A component or class.
    pub item: ElementDecl,
    pub visibility: Visibility,
    /// The inherited element that it replaces by `redeclare`.
    pub replaced: Option<Arc<ShapeElement>>,
}

impl ShapeElement {
    /// Its declarations from the one in force to the original, each with its scope in an instance and whether it is the original.
    pub fn declarations(&self, inst: InstId) -> impl Iterator<Item = (&ElementDecl, Scope, bool)> {
        let all = std::iter::successors(Some(self), |e| e.replaced.as_deref());
        all.map(move |e| {
            let layer = e.layer;
            (&e.item, Scope { inst, layer }, e.replaced.is_none())
        })
    }
}

impl ClassShape {
    /// A class without any elements.
    pub fn empty(kind: InstanceKind, node: InstId) -> ClassShape {
        ClassShape {
            layers: vec![Layer {
                class: ClassId(0),
                node,
                enclosing: Scope::of(InstId::GLOBAL),
                end: 1,
                modifiers: Vec::new(),
                repeated: false,
                removed_connections: Arc::new([]),
            }],
            elements: Vec::new(),
            by_name: FxHashMap::default(),
            also_in: Vec::new(),
            kind,
            predefined: None,
            is_connector: false,
            partial: false,
            incomplete: false,
            causality: None,
            dims: Vec::new(),
            disputed: Vec::new(),
            dependent: FxHashSet::default(),
        }
    }

    /// The index of an element that text written in a layer can see.
    pub fn visible(&self, name: Name, layer: u16) -> Option<u32> {
        let index = *self.by_name.get(&name)?;
        if layer == 0 {
            return Some(index);
        }
        let range = layer..self.layers.get(usize::from(layer))?.end;
        let declared = range.contains(&self.elements[index as usize].layer)
            || self
                .also_in
                .iter()
                .any(|(other, at)| *other == name && range.contains(at));
        declared.then_some(index)
    }
}
