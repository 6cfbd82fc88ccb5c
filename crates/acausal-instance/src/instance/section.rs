//! Equations, algorithms, external clauses and class annotations of an instance, inherited ones included.

use std::sync::Arc;

use acausal_syntax::ast::SectionKind;

use super::Instances;
use super::shape::ClassShape;
use super::types::{AnnotationRef, ExternalRef, InstId, Scope, SectionRef};

impl Instances {
    /// Equation and algorithm sections, those of base classes first (MLS 3.6 §7.1: at the place of the `extends` clause, which
    /// stands before all sections).
    pub fn sections(&mut self, inst: InstId) -> Vec<SectionRef> {
        let shape = self.shape(inst);
        let mut sections = Vec::new();
        for layer in bases_first(&shape) {
            let entry = &shape.layers[usize::from(layer)];
            if entry.repeated {
                continue;
            }
            let def = &self.libraries.class(entry.class).def;
            let Some(composition) = def.composition() else {
                continue;
            };
            for (index, section) in composition.sections.iter().enumerate() {
                if !matches!(section.kind, SectionKind::Elements { .. }) {
                    sections.push(SectionRef {
                        scope: Scope { inst, layer },
                        class: Arc::clone(def),
                        index: index as u32,
                        removed_connections: Arc::clone(&entry.removed_connections),
                    });
                }
            }
        }
        sections
    }

    /// The `external` clause of a function.
    pub fn external(&mut self, inst: InstId) -> Option<ExternalRef> {
        let shape = self.shape(inst);
        (0..shape.layers.len() as u16).find_map(|layer| {
            let def = &self
                .libraries
                .class(shape.layers[usize::from(layer)].class)
                .def;
            def.composition()?.external.as_ref()?;
            Some(ExternalRef {
                scope: Scope { inst, layer },
                class: Arc::clone(def),
            })
        })
    }

    /// Annotations of the class of an instance, then of its base classes (`experiment`, `Inline`, `derivative`...).
    pub fn class_annotations(&mut self, inst: InstId) -> Vec<AnnotationRef> {
        let mut parts = self.class_parts(inst);
        parts.retain(|part| part.class.description.annotation.is_some());
        parts
    }

    /// The class of an instance, then its base classes.
    pub fn class_parts(&mut self, inst: InstId) -> Vec<AnnotationRef> {
        let shape = self.shape(inst);
        let mut found = Vec::new();
        for (layer, entry) in shape.layers.iter().enumerate() {
            let def = &self.libraries.class(entry.class).def;
            let scope = Scope {
                inst,
                layer: layer as u16,
            };
            found.push(AnnotationRef {
                scope,
                class: Arc::clone(def),
            });
        }
        found
    }
}

/// Layers in an order where base classes come before what extends them.
///
/// Layers are in depth-first preorder; a layer is put out when all below it are. Linear in the number of layers.
fn bases_first(shape: &ClassShape) -> Vec<u16> {
    let mut order = Vec::with_capacity(shape.layers.len());
    let mut open: Vec<u16> = Vec::new();
    for layer in 0..shape.layers.len() as u16 {
        while let Some(&last) = open.last()
            && shape.layers[usize::from(last)].end <= layer
        {
            order.push(last);
            open.pop();
        }
        open.push(layer);
    }
    order.extend(open.into_iter().rev());
    order
}
