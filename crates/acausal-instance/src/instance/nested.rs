//! Making an instance of a nested class: which definition is in force and which modifiers reach it (MLS 3.6 §7.3).
//!
//! The rules are those of [`super::component`]. For a short class, modifiers of the constraining type rank behind its own modifiers but
//! before those inside of the class it is made from, so they are kept aside and put there when the class is flattened.

use std::sync::Arc;

use acausal_base::Diagnostic;
use acausal_syntax::ast::ClassBody;

use super::Instances;
use super::environment::ReachingArgument;
use super::node::{AppliedModifier, OwnDims};
use super::shape::{ClassShape, ShapeElement};
use super::types::{InstId, InstPrefixes, Scope};
use crate::class::modifier::ArgKind;
use crate::class::table::{ClassDecl, ElementDecl};

impl Instances {
    pub(super) fn make_class(
        &mut self,
        parent: InstId,
        shape: Option<&ClassShape>,
        element: &ShapeElement,
        declared: &Arc<ClassDecl>,
    ) -> InstId {
        let hits = self.hits(parent, shape, element.layer, element.name);
        self.make_class_with(parent, element, declared, &hits)
    }

    /// The inherited class that `class extends A` builds on (MLS 3.6 §7.3.1).
    pub(super) fn inherited_class(&mut self, node: InstId) -> Option<InstId> {
        let parent = self.parent(node)?;
        let Some(inherited) = self.inherited.get(&node).cloned() else {
            let span = self.data(node).span;
            let name = self.data(node).name;
            let message = format!("no class `{name}` is inherited that could be extended");
            self.report(
                Diagnostic::error("nothing-to-redeclare", span, message).hint(format!(
                    "write `extends ...` with a class that has a replaceable `{name}` before it"
                )),
            );
            return None;
        };
        let ElementDecl::Class(declared) = &inherited.item else {
            return None;
        };
        let shape = if self.is_building(parent) {
            None
        } else {
            Some(self.shape(parent))
        };
        // Modifiers from outside of the parent reach the class in force; here only those on the way of inheritance count.
        let mut hits = self.hits(parent, shape.as_deref(), inherited.layer, inherited.name);
        let outside = self.pieces(parent).len() as u32;
        hits.retain(|hit| hit.source >= outside && !hit.is_redeclare());
        Some(self.make_class_with(parent, &inherited, declared, &hits))
    }

    fn make_class_with(
        &mut self,
        parent: InstId,
        element: &ShapeElement,
        declared: &Arc<ClassDecl>,
        hits: &[ReachingArgument],
    ) -> InstId {
        let here = Scope {
            inst: parent,
            layer: element.layer,
        };
        let redeclare = hits.iter().position(ReachingArgument::is_redeclare);
        let (decl, scope) = match redeclare.map(|position| &hits[position]) {
            Some(ReachingArgument {
                kind: ArgKind::RedeclareClass(decl),
                scope,
                ..
            }) => (Arc::clone(decl), *scope),
            Some(hit) => {
                self.report_kind_change(hit, declared.name_span, "class", "component");
                (Arc::clone(declared), here)
            }
            None => (Arc::clone(declared), here),
        };
        self.check_final(
            hits,
            declared.prefixes.is_final,
            element.name,
            declared.name_span,
        );

        let outer = redeclare.unwrap_or(hits.len());
        let mut env: Vec<AppliedModifier> = hits[..outer]
            .iter()
            .filter_map(ReachingArgument::piece)
            .collect();
        let inner = redeclare.map_or(&[][..], |position| &hits[position + 1..]);
        let source = redeclare.map(|position| hits[position].source);
        env.extend(
            inner
                .iter()
                .filter(|hit| Some(hit.source) == source)
                .filter_map(ReachingArgument::piece),
        );
        let mut constraints: Vec<AppliedModifier> = inner
            .iter()
            .filter(|hit| Some(hit.source) != source)
            .filter_map(ReachingArgument::piece)
            .collect();
        constraints.extend(self.constraints_of(parent, element, &decl, hits, outer));

        let node = self.add_class_node(element.name, parent, decl.class, scope);
        if matches!(
            self.libraries.class(decl.class).def.body,
            ClassBody::Short(_)
        ) {
            if !constraints.is_empty() {
                self.constraints.insert(node, constraints.into());
            }
        } else {
            env.extend(constraints);
        }
        let env = self.keep_pieces(env);
        self.node_mut(node).env = env;
        let instance = self.data_mut(node);
        instance.visibility = element.visibility;
        instance.prefixes = InstPrefixes {
            is_final: decl.prefixes.is_final,
            inner: decl.prefixes.inner,
            outer: decl.prefixes.outer,
            replaceable: decl.prefixes.replaceable,
            ..InstPrefixes::default()
        };
        if redeclare.is_some() || element.replaced.is_some() {
            self.check_class_redeclare(parent, element, hits, node);
        }
        if decl.extends_inherited
            && let Some(replaced) = &element.replaced
        {
            self.inherited.insert(node, Arc::clone(replaced));
        }
        node
    }

    /// The modifiers of the constraining types: of the constraining clauses of all declarations in turn, from the one in force to the original; if
    /// that one has no such clause and is a short class, of that (MLS 3.6 §7.3.2).
    fn constraints_of(
        &mut self,
        parent: InstId,
        element: &ShapeElement,
        decl: &ClassDecl,
        hits: &[ReachingArgument],
        outer: usize,
    ) -> Vec<AppliedModifier> {
        let of_clause = |decl: &ClassDecl, scope| {
            let modifier = decl.constraint.as_ref()?.modifier.as_ref()?;
            Some(AppliedModifier::constraint(modifier, scope))
        };
        let mut found = Vec::new();
        for hit in hits.iter().skip(outer) {
            if let ArgKind::RedeclareClass(redeclared) = &hit.kind {
                found.extend(of_clause(redeclared, hit.scope));
            }
        }
        for (item, scope, is_original) in element.declarations(parent) {
            let ElementDecl::Class(declared) = item else {
                continue;
            };
            found.extend(of_clause(declared, scope));
            let original = is_original && declared.constraint.is_none();
            if !original || declared.class == decl.class || decl.extends_inherited {
                continue;
            }
            let table = self.element_table(declared.class);
            if let Some(ElementDecl::Extends(extends)) = table.items.first()
                && extends.short.is_some()
                && let Some(modifier) = &extends.modifier
            {
                found.push(AppliedModifier {
                    own: OwnDims::Last(0),
                    ..AppliedModifier::constraint(modifier, scope)
                });
            }
        }
        found
    }
}
