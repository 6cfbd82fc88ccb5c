//! Building the [`Shape`] of a class: inheritance (MLS 3.6 §7.1, §5.6.1.4).
//!
//! In: a class in its place (an instance with [`Role::Class`]). Out: its shape, made by putting the shapes of its base classes in the
//! place of the `extends` clauses. Layers of a base class move up by an offset; the modifiers of the clause go before those the
//! base class has already. Each class is flattened once, so the cost is the number of elements, inherited ones included.
//!
//! While the base classes of a class are looked up, its inherited elements are not visible: an `extends` clause must not influence
//! the lookup of another one in the same class (MLS 3.6 §5.6.1.4). Decisions the specification leaves open:
//! - Elements inherited twice must be identical *as written*; modifiers on the way are not compared, the first way is kept.
//! - A class inherited twice contributes its equations once, also when the two ways modify it differently.

use std::sync::Arc;

use acausal_syntax::ast::{ClassBody, ClassKind, Visibility};
use acausal_syntax::{Diagnostic, Span};

use super::Instances;
use super::node::{Decl, OwnDims, ShapeState};
use super::shape::{Layer, LayerModifier, LayerScope, Shape, ShapeElement};
use super::types::{InstId, Kind, Primitive, Role, Scope};
use super::unknown::with_hint;
use crate::class::ClassId;
use crate::class::predefined::PredefinedType;
use crate::class::table::{ComponentDecl, ExtendsDecl, Item};

/// More layers than any real class has; guards the 16-bit index.
const MAX_LAYERS: usize = 60_000;

impl Instances {
    /// The flattened class of an instance.
    pub(super) fn shape(&mut self, inst: InstId) -> Arc<Shape> {
        match &self.data(inst).body.shape {
            ShapeState::Known(shape) => return Arc::clone(shape),
            // A class that needs itself; reported where the cycle closes.
            ShapeState::Building => return Arc::new(Shape::empty(Kind::Error, inst)),
            ShapeState::Unknown => {}
        }
        let shape = if self.data(inst).role == Role::Class {
            self.node_mut(inst).body.shape = ShapeState::Building;
            Arc::new(self.build_shape(inst))
        } else {
            let class = self.data(inst).class;
            self.shape(class)
        };
        self.node_mut(inst).body.shape = ShapeState::Known(Arc::clone(&shape));
        shape
    }

    fn build_shape(&mut self, node: InstId) -> Shape {
        let Decl::Class(class) = self.data(node).body.decl else {
            return Shape::empty(Kind::Error, node);
        };
        let def = Arc::clone(&self.libraries.class(class).def);
        let table = self.libraries.table(class);
        let enclosing = self.data(node).scope;
        let mut shape = Shape::empty(Kind::Error, node);
        shape.layers[0].class = class;
        shape.layers[0].enclosing = enclosing;
        let predefined = self.libraries.predefined(class);
        shape.predefined = predefined;
        shape.partial = def.partial;
        shape.kind = match (&def.body, predefined) {
            (_, Some(kind)) => predefined_kind(kind),
            (ClassBody::Enumeration(_), None) => {
                Kind::Primitive(Primitive::Enum(self.enumeration(class)))
            }
            _ => kind_of(def.kind),
        };
        shape.is_connector = matches!(def.kind, ClassKind::Connector { .. });
        for item in &table.items {
            match item {
                Item::Component(decl) => {
                    let visibility = decl.clause.visibility;
                    self.add_element(&mut shape, element(decl.name, item, visibility));
                }
                Item::Class(decl) => {
                    self.add_element(&mut shape, element(decl.name, item, decl.visibility));
                }
                Item::Extends(extends) => self.add_base(&mut shape, node, class, extends),
            }
        }
        let layers = shape.layers.len() as u16;
        shape.layers[0].end = layers;
        if !shape.incomplete {
            self.check_redeclarations(&shape);
        }
        let env = self.data(node).body.env.clone();
        self.check_modifier_names(&env, node, &shape);
        shape.dependent = self.dependent_classes(&shape);
        shape
    }

    /// Puts a base class in the place of an `extends` clause.
    fn add_base(
        &mut self,
        shape: &mut Shape,
        node: InstId,
        class: ClassId,
        extends: &Arc<ExtendsDecl>,
    ) {
        let Some(base) = self.base_class(node, class, extends) else {
            shape.incomplete = true;
            return;
        };
        if matches!(self.data(base).body.shape, ShapeState::Building) {
            self.report_cycle(node, base, extends.base.span);
            shape.incomplete = true;
            return;
        }
        let base_shape = self.shape(base);
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
        let own = base_shape.dims.len()
            + extends
                .short
                .as_ref()
                .map_or(0, |short| short.subscripts.len());
        let own = OwnDims::Last(own.min(usize::from(u8::MAX)) as u8);

        // Modifiers of the clause, then what modifies the base class in its place.
        let mut outer: Vec<LayerModifier> = Vec::new();
        let scope = match &extends.short {
            // Names in a short class are looked up outside of it (MLS 3.6 §4.6.1).
            Some(_) => LayerScope::Fixed(self.data(node).scope),
            None => LayerScope::Layer(0),
        };
        shape.incomplete |= base_shape.incomplete;
        if let Some(modifier) = &extends.modifier {
            self.check_arguments(modifier, base, &base_shape);
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
        outer.extend(
            self.data(base)
                .body
                .env
                .iter()
                .map(|piece| fixed(piece, own)),
        );

        for layer in &base_shape.layers {
            let repeated = shape.layers.iter().any(|other| other.node == layer.node);
            let mut modifiers = outer.clone();
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
        self.check_deselected(extends, &base_shape);
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

        // What a class is when it says nothing of its own: `type Voltage = Real`.
        shape.predefined = shape.predefined.or(base_shape.predefined);
        match base_shape.kind {
            Kind::Primitive(_) | Kind::ExternalObject => shape.kind = base_shape.kind,
            Kind::Record { operator: true } if matches!(shape.kind, Kind::Record { .. }) => {
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
            shape.dims.extend(
                short
                    .subscripts
                    .iter()
                    .map(|expr| (Arc::clone(expr), scope)),
            );
        } else {
            shape.causality = shape.causality.or(base_shape.causality);
        }
        let dims = base_shape
            .dims
            .iter()
            .map(|(expr, at)| (Arc::clone(expr), at.shifted(offset)));
        shape.dims.extend(dims);
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
            Some(_) => self.data(node).scope,
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

    /// Enters an element, or merges it with the one of the same name (MLS 3.6 §7.1, §7.3).
    fn add_element(&mut self, shape: &mut Shape, mut new: ShapeElement) {
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

    fn check_deselected(&mut self, extends: &ExtendsDecl, base: &Shape) {
        for ident in &extends.deselected.components {
            if !base.by_name.contains_key(&ident.name) {
                let names = base.elements.iter().map(|element| element.name.as_str());
                let error = Diagnostic::error(
                    "unknown-name",
                    ident.span,
                    format!("`{}` has no component `{ident}` to take out", extends.base),
                );
                self.report(with_hint(error, ident.as_str(), names));
            }
        }
    }

    /// `redeclare` as an element needs something inherited to replace (MLS 3.6 §7.3).
    fn check_redeclarations(&mut self, shape: &Shape) {
        for element in shape.elements.iter().filter(|element| element.layer == 0) {
            if redeclares(&element.item) && element.replaced.is_none() {
                let names = shape.elements.iter().map(|other| other.name.as_str());
                let error = Diagnostic::error(
                    "nothing-to-redeclare",
                    span(&element.item),
                    format!("no inherited element is called `{}`", element.name),
                );
                let error = with_hint(error, &element.name, names);
                self.report(error);
            }
        }
    }

    fn report_cycle(&mut self, node: InstId, base: InstId, span: Span) {
        let name = self.class_name(node);
        let base_name = self.class_name(base);
        let place = self.data(base).span;
        let message = if node == base {
            format!("class `{name}` extends itself")
        } else {
            format!("class `{name}` extends `{base_name}`, which extends it in turn")
        };
        self.report(
            Diagnostic::error("cyclic-inheritance", span, message)
                .label(place, "the cycle closes here"),
        );
    }

    /// The same declaration, as written.
    fn identical(&self, left: &Item, right: &Item) -> bool {
        match (left, right) {
            (Item::Component(a), Item::Component(b)) => Arc::ptr_eq(a, b) || same_component(a, b),
            (Item::Class(a), Item::Class(b)) => {
                let (first, second) = (
                    &self.libraries.class(a.class).def,
                    &self.libraries.class(b.class).def,
                );
                // Descriptions and annotations do not count.
                a.class == b.class
                    || (first.kind == second.kind
                        && first.partial == second.partial
                        && first.encapsulated == second.encapsulated
                        && first.body == second.body
                        && a.prefixes == b.prefixes
                        && a.visibility == b.visibility)
            }
            _ => false,
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

fn element(name: acausal_syntax::Name, item: &Item, visibility: Visibility) -> ShapeElement {
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

fn fixed(piece: &super::node::Piece, own: OwnDims) -> LayerModifier {
    LayerModifier {
        modifier: Arc::clone(&piece.modifier),
        scope: LayerScope::Fixed(piece.scope),
        own,
    }
}

fn redeclares(item: &Item) -> bool {
    match item {
        Item::Component(decl) => decl.clause.prefixes.redeclare,
        Item::Class(decl) => decl.prefixes.redeclare || decl.extends_inherited,
        Item::Extends(_) => false,
    }
}

fn span(item: &Item) -> Span {
    item.declared().map_or(Span::NONE, |(_, span)| span)
}

fn same_component(a: &ComponentDecl, b: &ComponentDecl) -> bool {
    // Descriptions and annotations do not count: libraries repeat declarations with other icons.
    match (a.component(), b.component()) {
        (Some(first), Some(second)) => {
            first.modification == second.modification && same_except_modifiers(a, b)
        }
        _ => false,
    }
}

/// The same type, dimensions, prefixes, condition and value.
fn same_except_modifiers(a: &ComponentDecl, b: &ComponentDecl) -> bool {
    let value = |decl: &ComponentDecl| {
        let modification = decl.component()?.modification.as_ref()?;
        modification.binding.clone()
    };
    a.clause.prefixes == b.clause.prefixes
        && a.clause.prefix == b.clause.prefix
        && a.clause.visibility == b.clause.visibility
        && a.clause.type_name == b.clause.type_name
        && a.clause.subscripts == b.clause.subscripts
        && a.subscripts == b.subscripts
        && a.condition == b.condition
        && value(a) == value(b)
}

fn predefined_kind(kind: PredefinedType) -> Kind {
    match kind {
        PredefinedType::Real => Kind::Primitive(Primitive::Real),
        PredefinedType::Integer => Kind::Primitive(Primitive::Integer),
        PredefinedType::Boolean => Kind::Primitive(Primitive::Boolean),
        PredefinedType::String => Kind::Primitive(Primitive::String),
        PredefinedType::Clock => Kind::Primitive(Primitive::Clock),
        PredefinedType::ExternalObject => Kind::ExternalObject,
    }
}

fn kind_of(kind: ClassKind) -> Kind {
    match kind {
        ClassKind::Class | ClassKind::Model | ClassKind::Type => Kind::Model,
        ClassKind::Record { operator } => Kind::Record { operator },
        ClassKind::Block => Kind::Block,
        ClassKind::Connector { expandable } => Kind::Connector { expandable },
        ClassKind::Package => Kind::Package,
        ClassKind::Function { .. } => Kind::Function,
        ClassKind::Operator => Kind::Operator,
    }
}
