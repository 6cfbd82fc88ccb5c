//! Building the [`ClassShape`] of a class: inheritance (MLS 3.6 §7.1, §5.6.1.4).
//!
//! In: a class in its place (an instance with [`Role::Class`]). Out: its shape, made by putting the shapes of its base classes in the
//! place of the `extends` clauses. Layers of a base class move up by an offset; the modifiers of the clause go before those the
//! base class has already. Each class is flattened once, so the cost is the number of elements, inherited ones included.
//!
//! While the base classes of a class are looked up, its inherited elements are not visible: an `extends` clause must not influence
//! the lookup of another one in the same class (MLS 3.6 §5.6.1.4).
//!
//! Decision the specification leaves open: a class inherited twice contributes its equations once, also when the two ways modify it
//! differently.

use std::sync::Arc;

use acausal_base::{Diagnostic, Span};
use acausal_syntax::ast::{ClassBody, ClassKind, Visibility};

use super::Instances;
use super::node::{Decl, OwnDims};
use super::shape::{ClassShape, Layer, LayerModifier, LayerScope, ShapeElement};
use super::types::{InstId, InstanceKind, Primitive, Role, Scope};
use crate::class::ClassId;
use crate::class::predefined::PredefinedType;
use crate::class::table::{ElementDecl, ExtendsDecl};

/// More layers than any real class has; guards the 16-bit index.
const MAX_LAYERS: usize = 60_000;

/// Longest chain of classes that each extend the next. The examples of the Modelica Standard Library 4.1.0 need 10; with
/// this limit the recursion stays inside of a thread stack of 2 MB in an unoptimised build.
const MAX_DEPTH: u16 = 100;

impl Instances {
    /// The flattened class of an instance.
    pub(super) fn shape(&mut self, inst: InstId) -> Arc<ClassShape> {
        if let Some(shape) = &self.data(inst).shape {
            return Arc::clone(shape);
        }
        if self.is_building(inst) {
            // A class that needs itself; reported where the cycle closes.
            return Arc::new(ClassShape::empty(InstanceKind::Error, inst));
        }
        let shape = if self.data(inst).role == Role::Class {
            if self.depth == MAX_DEPTH {
                return self.report_depth(inst);
            }
            self.node_mut(inst).building = true;
            self.depth += 1;
            let shape = self.build_shape(inst);
            self.depth -= 1;
            Arc::new(shape)
        } else {
            let class = self.data(inst).class;
            self.shape(class)
        };
        self.data_mut(inst).shape = Some(Arc::clone(&shape));
        self.node_mut(inst).building = false;
        self.check_obligation(inst);
        if self.data(inst).role == Role::Class {
            self.check_disputed(inst, &shape);
        }
        shape
    }

    fn report_depth(&mut self, inst: InstId) -> Arc<ClassShape> {
        let span = self.data(inst).span;
        let message = format!("more than {MAX_DEPTH} classes that each extend the next");
        self.report(Diagnostic::error("inheritance-depth", span, message));
        let mut shape = ClassShape::empty(InstanceKind::Error, inst);
        shape.incomplete = true;
        Arc::new(shape)
    }

    fn build_shape(&mut self, node: InstId) -> ClassShape {
        let Decl::Class(class) = self.data(node).decl else {
            return ClassShape::empty(InstanceKind::Error, node);
        };
        let def = Arc::clone(&self.libraries.class(class).def);
        let table = self.element_table(class);
        let enclosing = self.scope_of(node);
        let mut shape = ClassShape::empty(InstanceKind::Error, node);
        shape.layers[0].class = class;
        shape.layers[0].enclosing = enclosing;
        let predefined = self.libraries.predefined(class);
        shape.predefined = predefined;
        shape.partial = def.partial;
        shape.kind = match (&def.body, predefined) {
            (_, Some(kind)) => predefined_kind(kind),
            (ClassBody::Enumeration(_), None) => {
                InstanceKind::Primitive(Primitive::Enum(self.enumeration(class)))
            }
            _ => kind_of(def.kind),
        };
        shape.is_connector = matches!(def.kind, ClassKind::Connector { .. });
        for item in &table.items {
            match item {
                ElementDecl::Component(decl) => {
                    let visibility = decl.clause.visibility;
                    self.add_element(&mut shape, element(decl.name, item, visibility));
                }
                ElementDecl::Class(decl) => {
                    self.add_element(&mut shape, element(decl.name, item, decl.visibility));
                }
                ElementDecl::Extends(extends) => self.add_base(&mut shape, node, class, extends),
            }
        }
        let layers = shape.layers.len() as u16;
        shape.layers[0].end = layers;
        if !shape.incomplete {
            self.check_redeclarations(&shape);
        }
        let env = self.pieces(node).to_vec();
        self.check_modifier_names(&env, node, &shape);
        self.check_simple_type(&def, &shape);
        shape.dependent = self.dependent_classes(&shape);
        shape
    }

    /// Puts a base class in the place of an `extends` clause.
    fn add_base(
        &mut self,
        shape: &mut ClassShape,
        node: InstId,
        class: ClassId,
        extends: &Arc<ExtendsDecl>,
    ) {
        let Some(base) = self.base_class(node, class, extends) else {
            shape.incomplete = true;
            return;
        };
        if self.is_building(base) {
            self.report_cycle(node, base, extends.base.span);
            shape.incomplete = true;
            return;
        }
        self.extending.push((node, extends.base.span));
        let base_shape = self.shape(base);
        self.extending.pop();
        self.check_base_kind(class, base, extends);
        if shape.layers.len() + base_shape.layers.len() > MAX_LAYERS {
            let message = "too many base classes";
            self.report(Diagnostic::error(
                "too-many-base-classes",
                extends.span,
                message,
            ));
            return;
        }
        let offset = shape.layers.len() as u16;
        shape.incomplete |= base_shape.incomplete;
        let outer = self.clause_modifiers(node, base, &base_shape, extends);
        add_layers(shape, &base_shape, &outer, extends);
        self.check_deselected(extends, &base_shape);
        self.add_inherited(shape, &base_shape, offset, extends);
        self.specialise(shape, &base_shape, class, extends);
        let scope = self.clause_scope(node, extends);
        if let Some(short) = &extends.short {
            let own = short.subscripts.iter();
            shape.dims.extend(own.map(|expr| (Arc::clone(expr), scope)));
        }
        let dims = base_shape
            .dims
            .iter()
            .map(|(expr, at)| (Arc::clone(expr), at.shifted(offset)));
        shape.dims.extend(dims);
    }

    /// Where the names of an `extends` clause are looked up: those of a short class outside of it (MLS 3.6 §4.6.1).
    fn clause_scope(&self, node: InstId, extends: &ExtendsDecl) -> LayerScope {
        match &extends.short {
            Some(_) => LayerScope::Fixed(self.scope_of(node)),
            None => LayerScope::Layer(0),
        }
    }

    /// Modifiers of the clause, then what modifies the base class in its place.
    fn clause_modifiers(
        &mut self,
        node: InstId,
        base: InstId,
        base_shape: &ClassShape,
        extends: &ExtendsDecl,
    ) -> Vec<LayerModifier> {
        let own = base_shape.dims.len()
            + extends
                .short
                .as_ref()
                .map_or(0, |short| short.subscripts.len());
        let own = OwnDims::Last(own.min(usize::from(u8::MAX)) as u8);
        let mut outer: Vec<LayerModifier> = Vec::new();
        let scope = self.clause_scope(node, extends);
        if let Some(modifier) = &extends.modifier {
            self.check_arguments(modifier, base, base_shape, false);
            outer.push(LayerModifier {
                modifier: Arc::clone(modifier),
                scope,
                own,
            });
        }
        if extends.short.is_some() {
            let constraints = self.constraints.get(&node).map_or(&[][..], |pieces| pieces);
            outer.extend(constraints.iter().map(|piece| fixed(piece, own)));
        }
        outer.extend(self.pieces(base).iter().map(|piece| fixed(piece, own)));
        outer
    }

    /// The elements of the base class that the clause does not deselect.
    fn add_inherited(
        &mut self,
        shape: &mut ClassShape,
        base_shape: &ClassShape,
        offset: u16,
        extends: &ExtendsDecl,
    ) {
        for inherited in &base_shape.elements {
            if extends
                .deselected
                .components
                .iter()
                .any(|ident| ident.name == inherited.name)
            {
                continue;
            }
            let mut inherited = shift(inherited, offset);
            if extends.visibility == Visibility::Protected {
                inherited.visibility = Visibility::Protected;
            }
            self.add_element(shape, inherited);
        }
        shape.also_in.extend(
            base_shape
                .also_in
                .iter()
                .map(|(name, layer)| (*name, layer + offset)),
        );
    }

    /// What a class is when it says nothing of its own: `type Voltage = Real`.
    fn specialise(
        &self,
        shape: &mut ClassShape,
        base_shape: &ClassShape,
        class: ClassId,
        extends: &ExtendsDecl,
    ) {
        shape.predefined = shape.predefined.or(base_shape.predefined);
        match base_shape.kind {
            InstanceKind::Primitive(_) | InstanceKind::ExternalObject => {
                shape.kind = base_shape.kind
            }
            InstanceKind::Record { operator: true }
                if matches!(shape.kind, InstanceKind::Record { .. }) =>
            {
                shape.kind = base_shape.kind;
            }
            kind if extends.short.is_some() && self.is_type_or_class(class) => {
                shape.kind = kind;
                shape.is_connector |= base_shape.is_connector;
            }
            _ => {}
        }
        if let Some(short) = &extends.short {
            shape.partial |= base_shape.partial;
            shape.causality = short.causality.or(base_shape.causality);
        } else {
            shape.causality = shape.causality.or(base_shape.causality);
        }
    }

    /// The class that an `extends` clause names; none after an error.
    fn base_class(
        &mut self,
        node: InstId,
        class: ClassId,
        extends: &ExtendsDecl,
    ) -> Option<InstId> {
        if extends.short.is_none()
            && self.is_class_extends(class)
            && extends.base.span == self.name_span(class)
        {
            return self.inherited_class(node);
        }
        let scope = match &extends.short {
            Some(_) => self.scope_of(node),
            None => Scope::of(node),
        };
        match self.resolve_class(scope, &extends.base) {
            Ok(InstId::ERROR) => None,
            Ok(base) => Some(base),
            Err(error) => {
                let verb = if extends.short.is_some() {
                    "defined as"
                } else {
                    "extends"
                };
                let name = self.class_name(node);
                let error = *error;
                let error = error.note(format!("class `{name}` {verb} `{}`", extends.base));
                self.report(error);
                None
            }
        }
    }

    fn is_type_or_class(&self, class: ClassId) -> bool {
        matches!(
            self.libraries.class(class).def.kind,
            ClassKind::Type | ClassKind::Class
        )
    }

    fn is_class_extends(&self, class: ClassId) -> bool {
        matches!(
            self.libraries.class(class).def.body,
            ClassBody::ClassExtends { .. }
        )
    }

    fn name_span(&self, class: ClassId) -> Span {
        self.libraries.class(class).def.name.span
    }
}

/// The layers of a base class behind those that are there.
fn add_layers(
    shape: &mut ClassShape,
    base_shape: &ClassShape,
    outer: &[LayerModifier],
    extends: &ExtendsDecl,
) {
    let offset = shape.layers.len() as u16;
    for layer in &base_shape.layers {
        let repeated = shape.layers.iter().any(|other| other.node == layer.node);
        let mut modifiers = outer.to_vec();
        modifiers.extend(layer.modifiers.iter().map(|entry| LayerModifier {
            scope: entry.scope.shifted(offset),
            ..entry.clone()
        }));
        let removed = if extends.deselected.connections.is_empty() {
            Arc::clone(&layer.removed_connections)
        } else {
            let all = layer
                .removed_connections
                .iter()
                .chain(&extends.deselected.connections);
            all.cloned().collect()
        };
        shape.layers.push(Layer {
            end: layer.end + offset,
            modifiers,
            repeated: layer.repeated || repeated,
            removed_connections: removed,
            ..layer.clone()
        });
    }
}

fn element(name: acausal_base::Name, item: &ElementDecl, visibility: Visibility) -> ShapeElement {
    ShapeElement {
        name,
        layer: 0,
        item: item.clone(),
        visibility,
        replaced: None,
    }
}

fn shift(element: &ShapeElement, offset: u16) -> ShapeElement {
    ShapeElement {
        layer: element.layer + offset,
        replaced: element
            .replaced
            .as_ref()
            .map(|old| Arc::new(shift(old, offset))),
        ..element.clone()
    }
}

fn fixed(piece: &super::node::AppliedModifier, own: OwnDims) -> LayerModifier {
    LayerModifier {
        modifier: Arc::clone(&piece.modifier),
        scope: LayerScope::Fixed(piece.scope),
        own,
    }
}

fn predefined_kind(kind: PredefinedType) -> InstanceKind {
    match kind {
        PredefinedType::Real => InstanceKind::Primitive(Primitive::Real),
        PredefinedType::Integer => InstanceKind::Primitive(Primitive::Integer),
        PredefinedType::Boolean => InstanceKind::Primitive(Primitive::Boolean),
        PredefinedType::String => InstanceKind::Primitive(Primitive::String),
        PredefinedType::Clock => InstanceKind::Primitive(Primitive::Clock),
        PredefinedType::ExternalObject => InstanceKind::ExternalObject,
    }
}

fn kind_of(kind: ClassKind) -> InstanceKind {
    match kind {
        ClassKind::Class | ClassKind::Model | ClassKind::Type => InstanceKind::Model,
        ClassKind::Record { operator } => InstanceKind::Record { operator },
        ClassKind::Block => InstanceKind::Block,
        ClassKind::Connector { expandable } => InstanceKind::Connector { expandable },
        ClassKind::Package => InstanceKind::Package,
        ClassKind::Function { .. } => InstanceKind::Function,
        ClassKind::Operator => InstanceKind::Operator,
    }
}
