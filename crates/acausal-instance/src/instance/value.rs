//! Values, attributes, dimensions and conditions of a component: what its modifiers and declaration say (MLS 3.6 §7.2).

use std::sync::Arc;

use acausal_base::Name;
use acausal_syntax::ast::VariabilityPrefix;

use super::Instances;
use super::environment::ReachingArgument;
use super::node::{Decl, INSIDE};
use super::types::{Binding, ComponentCondition, Dim, InstId, InstanceKind, Role};
use crate::class::modifier::{ArgKind, ModifierValue};

impl Instances {
    /// The value of a component after merging all modifications; none if there is none or it was removed by `break`.
    ///
    /// A value of a record or array of records is at the record; its fields have those from modifiers and declarations of their own. Which of them is
    /// in force says [`binding_in_records`](Self::binding_in_records).
    pub fn binding(&mut self, inst: InstId) -> Option<Binding> {
        self.placed_binding(inst).map(|(_, binding)| binding)
    }

    /// The value in force for a component, which may be that of a record around it, and the component that it is written for.
    ///
    /// Outer modifiers override inner ones (MLS 3.6 §7.2.4), whether they are for the record or for a field of it: in
    /// `G g(c = k)` the value of `c` wins over `C c(V = 0)` inside of `G`, and in `C c(V = 1) = k` both are of one modification and the field's own
    /// one wins. Each modifier of a field is part of one of the record, or was written inside of it; the place of that one among
    /// the modifiers of the record, outermost first, is compared with the place of the record's value.
    pub fn binding_in_records(&mut self, inst: InstId) -> Option<(InstId, Binding)> {
        let is_constant = |this: &Instances, inst| {
            this.data(inst).prefixes.variability == Some(VariabilityPrefix::Constant)
        };
        let found = self.placed_binding(inst);
        // Where the modifier in force stands among those of the component that the walk has come to.
        let mut place = found.as_ref().map_or(INSIDE, |(place, _)| *place);
        let mut best = found.map(|(_, binding)| (inst, binding));
        let parent = self.parent(inst);
        if best.is_some()
            && is_constant(self, inst)
            && !parent.is_some_and(|p| is_constant(self, p))
        {
            return best; // what is declared constant in a record is the same for all values of it
        }
        let mut at = inst;
        while let Some(parent) = self.parent(at) {
            let is_record = self.data(parent).role == Role::Component
                && matches!(
                    self.kind(parent),
                    InstanceKind::Record { .. } | InstanceKind::Connector { .. }
                );
            if !is_record {
                break;
            }
            place = match self.pieces(at).get(usize::from(place)) {
                Some(piece) => piece.source,
                None => INSIDE,
            };
            if let Some((outer, binding)) = self.placed_binding(parent)
                && outer < place
            {
                (place, best) = (outer, Some((parent, binding)));
            }
            at = parent;
        }
        best
    }

    /// The value of a component and its place among the modifiers.
    fn placed_binding(&self, inst: InstId) -> Option<(u16, Binding)> {
        let node = self.data(inst);
        for (place, piece) in self.pieces(inst).iter().enumerate() {
            match &piece.modifier.value {
                Some(ModifierValue::Expr(expr)) => {
                    let binding = Binding {
                        expr: Arc::clone(expr),
                        scope: piece.scope,
                        levels: piece.levels,
                        each: piece.each,
                        is_final: piece.is_final || node.prefixes.is_final,
                        origin: piece.origin,
                        span: piece.span,
                    };
                    return Some((u16::try_from(place).unwrap_or(INSIDE), binding));
                }
                Some(ModifierValue::Break) => return None,
                None => {}
            }
        }
        None
    }

    /// Whether any modifier could give an attribute of a component a value. In a large model few variables have one.
    pub fn has_attributes(&mut self, inst: InstId) -> bool {
        let shape = self.shape(inst);
        let node = self.data(inst);
        let class = self.pieces(node.class);
        let layer = shape.layers.last().map_or(&[][..], |l| &l.modifiers);
        let pieces = self.pieces(inst).iter().chain(class).map(|p| &p.modifier);
        let mut modifiers = pieces.chain(layer.iter().map(|m| &m.modifier));
        modifiers.any(|m| !m.args.is_empty())
    }

    /// An attribute of a component of predefined type (`start`, `unit`, `fixed`...), from modifiers and from its type.
    ///
    /// `levels` of the result also counts the dimensions of the component itself: `Real x[3](start = {1,2,3})` gives 1.
    pub fn attribute(&mut self, inst: InstId, name: &str) -> Option<Binding> {
        let shape = self.shape(inst);
        if !matches!(shape.kind, InstanceKind::Primitive(_)) {
            return None;
        }
        // The predefined type is the innermost base class: all modifiers on the way lead there.
        let layer = (shape.layers.len() - 1) as u16;
        let hits = self.hits(inst, Some(&shape), layer, Name::new(name));
        let inherited_final = self.data(inst).prefixes.is_final;
        for hit in hits {
            let ArgKind::Modify(modifier) = &hit.kind else {
                continue;
            };
            match &modifier.value {
                Some(ModifierValue::Expr(expr)) => {
                    return Some(attribute(expr, &hit, inherited_final));
                }
                Some(ModifierValue::Break) => return None,
                None => {}
            }
        }
        None
    }

    /// Array dimensions: behind the name, behind the type name, then those of the type itself (MLS 3.6 §10.1).
    pub fn dims(&mut self, inst: InstId) -> Vec<Dim> {
        if self.data(inst).rank == 0 {
            return Vec::new();
        }
        if let Some(dims) = self.augmented_dims.get(&inst) {
            return dims.clone();
        }
        let shape = self.shape(inst);
        let node = self.data(inst);
        let mut dims = Vec::with_capacity(usize::from(node.rank));
        if let Decl::Component(decl) = &node.decl {
            let (decl, scope) = match self.originals.get(&inst) {
                // A redeclaration without dimensions keeps those of the original (MLS 3.6 §7.3).
                Some((original, scope))
                    if decl.subscripts.is_empty() && decl.clause.subscripts.is_empty() =>
                {
                    (original, *scope)
                }
                _ => (decl, self.scope_of(inst)),
            };
            let written = decl.subscripts.iter().chain(&decl.clause.subscripts);
            dims.extend(written.map(|expr| Dim {
                expr: Arc::clone(expr),
                scope,
            }));
        }
        dims.extend(shape.dims.iter().map(|(expr, scope)| Dim {
            expr: Arc::clone(expr),
            scope: scope.at(inst),
        }));
        dims
    }

    /// `if condition` of the declaration (MLS 3.6 §4.4.5).
    pub fn condition(&self, inst: InstId) -> Option<ComponentCondition> {
        let node = self.data(inst);
        let Decl::Component(decl) = &node.decl else {
            return None;
        };
        if self.augmented_dims.contains_key(&inst) {
            // A member of a bus is there because what it was made like is: the condition of that one has been looked at.
            return None;
        }
        if let Some(expr) = &decl.condition {
            return Some(ComponentCondition {
                expr: Arc::clone(expr),
                scope: self.scope_of(inst),
            });
        }
        // The grammar has no condition in a redeclaring modifier: that of the original stays.
        let (original, scope) = self.originals.get(&inst)?;
        let expr = original.condition.as_ref()?;
        Some(ComponentCondition {
            expr: Arc::clone(expr),
            scope: *scope,
        })
    }

    /// Description string of the declaration.
    pub fn description(&self, inst: InstId) -> Option<&Arc<str>> {
        let text = match &self.data(inst).decl {
            Decl::Component(decl) => decl.description.as_ref()?.text.as_ref()?,
            Decl::Class(class) => self.libraries.class(*class).def.description.text.as_ref()?,
            Decl::Nothing => return None,
        };
        Some(&text.value)
    }

    /// Annotation of the declaration (for the class's own see [`class_annotations`](Instances::class_annotations)).
    pub fn annotation(&self, inst: InstId) -> Option<&acausal_syntax::ast::Annotation> {
        match &self.data(inst).decl {
            Decl::Component(decl) => decl.description.as_ref()?.annotation.as_deref(),
            Decl::Class(class) => self
                .libraries
                .class(*class)
                .def
                .description
                .annotation
                .as_deref(),
            Decl::Nothing => None,
        }
    }
}

fn attribute(
    expr: &Arc<acausal_syntax::ast::Expr>,
    hit: &ReachingArgument,
    inherited_final: bool,
) -> Binding {
    Binding {
        expr: Arc::clone(expr),
        scope: hit.scope,
        levels: hit.levels,
        each: hit.each,
        is_final: hit.is_final || inherited_final,
        origin: hit.origin,
        span: hit.span,
    }
}
