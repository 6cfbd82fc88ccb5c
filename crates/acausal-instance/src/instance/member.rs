//! Members of an instance by name, made on first use.
//!
//! Members of components lie in a slot per element of the [`ClassShape`]; those of classes (packages have thousands of elements, of which few are used) in one
//! table by name.

use std::sync::Arc;

use acausal_base::Name;
use acausal_syntax::ast::{Prefixes, Visibility};

use super::Instances;
use super::node::{Decl, ModifierRange, NO_SLOTS};
use super::shape::{ClassShape, ShapeElement};
use super::types::{InstId, InstPrefixes, Instance, InstanceKind, Role, Scope};
use crate::class::ClassId;
use crate::class::table::{ClassDecl, ElementDecl};

impl Instances {
    /// Components in declaration order, inherited ones at the place of their `extends` clause. Components that are only
    /// `outer` are left out: they are others' components.
    pub fn components(&mut self, inst: InstId) -> Vec<InstId> {
        let first = self.check_expansion(inst);
        let shape = self.shape(inst);
        let mut found = Vec::new();
        for (index, element) in shape.elements.iter().enumerate() {
            let ElementDecl::Component(_) = &element.item else {
                continue;
            };
            let member = match self.data(inst).role {
                Role::Class => self.child(inst, element.name),
                _ => self.child_at(inst, &shape, index as u32),
            };
            found.extend(member);
        }
        found.extend(
            self.augmented
                .get(&inst)
                .into_iter()
                .flat_map(|added| added.values()),
        );
        for &member in &found {
            // Now, so that a missing `inner` is added while the model is being walked and not when its value is needed.
            if self.data(member).prefixes.outer && self.condition(member).is_none() {
                self.inner_of(member);
            }
        }
        found.retain(|&member| {
            let prefixes = self.data(member).prefixes;
            !prefixes.outer || prefixes.inner
        });
        if first && shape.kind == InstanceKind::Function {
            self.check_function_variables(&found);
        }
        found
    }

    /// Classes nested in the class of an instance, inherited ones included, in the order declared: the functions of an operator, the
    /// contents of a package.
    pub fn classes(&mut self, inst: InstId) -> Vec<InstId> {
        let shape = self.shape(inst);
        let mut names: Vec<Name> = Vec::new();
        for element in &shape.elements {
            if let ElementDecl::Class(_) = element.item {
                names.push(element.name);
            }
        }
        for layer in &shape.layers {
            for name in self.libraries.nested_names(layer.class) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let found = names.into_iter().filter_map(|name| self.child(inst, name));
        found.collect()
    }

    /// The member with this name as declared here: `outer` ones are not replaced.
    pub(super) fn child(&mut self, inst: InstId, name: Name) -> Option<InstId> {
        if self.data(inst).role == Role::Class {
            return self.class_child(inst, name);
        }
        let shape = self.shape(inst);
        if let Some(&index) = shape.by_name.get(&name) {
            return self.child_at(inst, &shape, index);
        }
        if let Some(&added) = self.augmented.get(&inst).and_then(|added| added.get(&name)) {
            return Some(added);
        }
        // A class stored in a file of its own beside the class of the instance.
        let stored = shape
            .layers
            .iter()
            .any(|layer| self.libraries.has_stored(layer.class, name));
        let class = self.data(inst).class;
        if stored {
            self.class_child(class, name)
        } else {
            None
        }
    }

    /// The member of a component by the index of its element.
    fn child_at(&mut self, inst: InstId, shape: &Arc<ClassShape>, index: u32) -> Option<InstId> {
        // What has been made is not shared, whatever its element says: a connection in a large model is a look at four places in memory less.
        let made = self.node(inst).slots;
        if made != NO_SLOTS
            && let member = self.slots[made as usize + index as usize]
            && member != InstId::NONE
        {
            return Some(member);
        }
        let element = &shape.elements[index as usize];
        if let ElementDecl::Class(decl) = &element.item
            && !decl.prefixes.outer
            && self.shares(inst, shape, element.name)
        {
            // All components of the class share its nested classes, so that a function is one function.
            let class = self.data(inst).class;
            return self.class_child(class, element.name);
        }
        let mut first = self.node(inst).slots;
        if first == NO_SLOTS {
            first = self.slots.len() as u32;
            let end = self.slots.len() + shape.elements.len();
            self.slots.resize(end, InstId::NONE);
            self.node_mut(inst).slots = first;
        }
        let member = self.make_member(inst, Some(shape), element);
        self.slots[first as usize + index as usize] = member;
        Some(member)
    }

    fn class_child(&mut self, inst: InstId, name: Name) -> Option<InstId> {
        if let Some(&known) = self.class_members.get(&(inst, name)) {
            return Some(known);
        }
        let member = self.make_class_child(inst, name)?;
        self.class_members.insert((inst, name), member);
        Some(member)
    }

    fn make_class_child(&mut self, inst: InstId, name: Name) -> Option<InstId> {
        if inst == InstId::GLOBAL {
            let class = self.libraries.top_level(name)?;
            return Some(self.add_class_node(
                name,
                InstId::GLOBAL,
                class,
                Scope::of(InstId::GLOBAL),
            ));
        }
        let Decl::Class(class) = self.data(inst).decl else {
            return None;
        };
        let table = self.element_table(class);
        let known = self.data(inst).shape.is_some();
        // What the class declares itself is found without looking at its base classes, so that walking down a
        // library does not load what its packages inherit from.
        if !known && let Some(&index) = table.by_name.get(&name) {
            let item = &table.items[index as usize];
            let (visibility, redeclare) = match item {
                ElementDecl::Component(decl) => {
                    (decl.clause.visibility, decl.clause.prefixes.redeclare)
                }
                ElementDecl::Class(decl) => (
                    decl.visibility,
                    decl.prefixes.redeclare || decl.extends_inherited,
                ),
                ElementDecl::Extends(_) => return None,
            };
            if !redeclare || self.is_building(inst) {
                let element = ShapeElement {
                    name,
                    layer: 0,
                    item: item.clone(),
                    visibility,
                    replaced: None,
                };
                return Some(self.make_member(inst, None, &element));
            }
        }
        if let Some(stored) = self.libraries.nested(class, name)
            && !table.by_name.contains_key(&name)
        {
            return Some(self.make_member(inst, None, &stored_element(name, stored, 0)));
        }
        if self.is_building(inst) {
            return None;
        }
        let shape = self.shape(inst);
        if let Some(&index) = shape.by_name.get(&name) {
            return Some(self.make_member(inst, Some(&shape), &shape.elements[index as usize]));
        }
        for (layer, entry) in shape.layers.iter().enumerate().skip(1) {
            if self.libraries.has_stored(entry.class, name)
                && let Some(stored) = self.libraries.nested(entry.class, name)
            {
                let element = stored_element(name, stored, layer as u16);
                return Some(self.make_member(inst, Some(&shape), &element));
            }
        }
        None
    }

    fn make_member(
        &mut self,
        parent: InstId,
        shape: Option<&ClassShape>,
        element: &ShapeElement,
    ) -> InstId {
        match &element.item {
            ElementDecl::Component(decl) => self.make_component(parent, shape, element, decl),
            ElementDecl::Class(decl) => self.make_class(parent, shape, element, decl),
            // No element is an `extends` clause.
            ElementDecl::Extends(_) => InstId::ERROR,
        }
    }

    /// An instance of a class as such, without modifiers.
    pub(super) fn add_class_node(
        &mut self,
        name: Name,
        parent: InstId,
        class: ClassId,
        scope: Scope,
    ) -> InstId {
        let id = self.next_id();
        let span = self.libraries.class(class).def.name.span;
        let facts = Instance {
            name,
            role: Role::Class,
            class: id,
            prefixes: InstPrefixes::default(),
            visibility: Visibility::Public,
            span,
            rank: 0,
            layer: scope.layer,
            decl: Decl::Class(class),
            shape: None,
        };
        self.add(facts, Some(parent), scope.inst, ModifierRange::default())
    }

    pub(super) fn next_id(&self) -> InstId {
        InstId(self.nodes.len() as u32)
    }
}

/// A class in a file of its own has no prefixes.
fn stored_element(name: Name, class: ClassId, layer: u16) -> ShapeElement {
    let decl = ClassDecl {
        name,
        name_span: acausal_base::Span::NONE,
        class,
        prefixes: Prefixes::default(),
        visibility: Visibility::Public,
        constraint: None,
        extends_inherited: false,
    };
    ShapeElement {
        name,
        layer,
        item: ElementDecl::Class(Arc::new(decl)),
        visibility: Visibility::Public,
        replaced: None,
    }
}
