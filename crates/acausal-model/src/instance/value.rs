//! Values, attributes, dimensions and conditions of a component: what its modifiers and declaration say (MLS 3.6 §7.2).

use std::sync::Arc;

use acausal_syntax::Name;

use super::Instances;
use super::environment::Hit;
use super::node::Decl;
use super::types::{Binding, Condition, Dim, InstId, Kind};
use crate::class::modifier::{ArgKind, Value};

impl Instances {
    /// The value of a component after merging all modifications; none if there is none or it was removed by `break`.
    ///
    /// A value of a record or array of records is at the record; its fields have those from modifiers and declarations of their own. A value at the
    /// record wins over [`BindingOrigin::Declaration`](super::BindingOrigin) of its fields.
    pub fn binding(&mut self, inst: InstId) -> Option<Binding> {
        let node = self.data(inst);
        for piece in self.pieces(inst) {
            match &piece.modifier.value {
                Some(Value::Expr(expr)) => {
                    return Some(Binding {
                        expr: Arc::clone(expr),
                        scope: piece.scope,
                        levels: piece.levels,
                        each: piece.each,
                        is_final: piece.is_final || node.prefixes.is_final,
                        origin: piece.origin,
                        span: piece.span,
                    });
                }
                Some(Value::Break) => return None,
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
        if !matches!(shape.kind, Kind::Primitive(_)) {
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
                Some(Value::Expr(expr)) => return Some(attribute(expr, &hit, inherited_final)),
                Some(Value::Break) => return None,
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
    pub fn condition(&self, inst: InstId) -> Option<Condition> {
        let node = self.data(inst);
        let Decl::Component(decl) = &node.decl else {
            return None;
        };
        if let Some(expr) = &decl.condition {
            return Some(Condition {
                expr: Arc::clone(expr),
                scope: self.scope_of(inst),
            });
        }
        // The grammar has no condition in a redeclaring modifier: that of the original stays.
        let (original, scope) = self.originals.get(&inst)?;
        let expr = original.condition.as_ref()?;
        Some(Condition {
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

fn attribute(expr: &Arc<acausal_syntax::ast::Expr>, hit: &Hit, inherited_final: bool) -> Binding {
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
