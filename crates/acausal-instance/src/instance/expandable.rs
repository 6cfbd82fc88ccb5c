//! Expandable connectors: components that only a connection names (MLS 3.6 §9.1.3).
//!
//! `connect(bus.speed, sensor.y)` with an expandable `bus` that has no `speed` gives it one like `sensor.y`. Which connections do so, and in
//! which order, is for the one who knows all of them; here is the place to add the component.

use acausal_base::Name;
use acausal_syntax::ast::Visibility;

use super::Instances;
use super::node::ModifierRange;
use super::types::{Dim, InstId, InstPrefixes, Instance, Role};

impl Instances {
    /// Gives an expandable connector a component like another one, but with its own dimensions and without value and causality. If it
    /// has a component of that name, that one is returned unchanged.
    pub fn augment(
        &mut self,
        connector: InstId,
        name: Name,
        like: InstId,
        dims: Vec<Dim>,
    ) -> InstId {
        if let Some(known) = self.child(connector, name) {
            return known;
        }
        let class = self.data(like).class;
        let shape = self.shape(class);
        let node = self.data(like);
        let added = Instance {
            name,
            role: Role::Component,
            class,
            prefixes: InstPrefixes {
                variability: node.prefixes.variability,
                flow: node.prefixes.flow,
                ..InstPrefixes::default()
            },
            visibility: Visibility::Public,
            span: node.span,
            rank: dims.len().min(usize::from(u8::MAX)) as u8,
            layer: 0,
            decl: node.decl.clone(),
            shape: Some(shape),
        };
        let id = self.add(added, Some(connector), connector, ModifierRange::default());
        self.augmented_dims.insert(id, dims);
        self.augmented
            .entry(connector)
            .or_default()
            .insert(name, id);
        id
    }
}
