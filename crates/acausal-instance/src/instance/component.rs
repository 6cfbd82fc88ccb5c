//! Making a component: which declaration is in force, which modifiers reach it, what its type is (MLS 3.6 §5.6.1.4, §7.3).
//!
//! # Redeclaration
//! The outermost `redeclare` among the modifiers replaces the declaration. From what it replaces it keeps (MLS 3.6 §7.3): prefixes of groups
//! it does not mention, dimensions if it has none, the condition, and the modifiers of the constraining type. These are, outermost first:
//!
//! 1. modifiers from outside of the redeclaration;
//! 2. the redeclaration's own;
//! 3. modifiers of the replaced element by inner `extends` clauses and components (§7.3.2: they also modify the constraining type);
//! 4. the constraining clauses of all declarations in turn, from the one in force to the original; if that one has no such clause, its arguments in
//!    parentheses. Decision: the value of the original declaration is kept like these arguments, as libraries expect it
//!    of `replaceable Data d[n] = {...}`.

use std::sync::Arc;

use acausal_base::Diagnostic;
use acausal_syntax::ast::VariabilityPrefix;

use super::Instances;
use super::environment::ReachingArgument;
use super::node::{AppliedModifier, Decl, INSIDE};
use super::shape::{ClassShape, ShapeElement};
use super::types::{InstId, InstPrefixes, Instance, Role, Scope};
use crate::class::modifier::ArgKind;
use crate::class::table::{ComponentDecl, ElementDecl};

/// A declaration and where it was written.
pub(super) type Placed = (Arc<ComponentDecl>, Scope);

impl Instances {
    pub(super) fn make_component(
        &mut self,
        parent: InstId,
        shape: Option<&ClassShape>,
        element: &ShapeElement,
        declared: &Arc<ComponentDecl>,
    ) -> InstId {
        if self.making.contains(&(parent, element.name)) {
            return self.report_hidden_class(declared);
        }
        self.making.push((parent, element.name));
        let made = self.make_component_unguarded(parent, shape, element, declared);
        self.making.pop();
        made
    }

    fn make_component_unguarded(
        &mut self,
        parent: InstId,
        shape: Option<&ClassShape>,
        element: &ShapeElement,
        declared: &Arc<ComponentDecl>,
    ) -> InstId {
        let here = Scope {
            inst: parent,
            layer: element.layer,
        };
        let hits = self.hits(parent, shape, element.layer, element.name);
        let redeclare = hits.iter().position(ReachingArgument::is_redeclare);
        let (decl, scope) = match redeclare.map(|position| &hits[position]) {
            Some(ReachingArgument {
                kind: ArgKind::RedeclareComponent(decl),
                scope,
                ..
            }) => (Arc::clone(decl), *scope),
            Some(hit) => {
                self.report_kind_change(hit, declared.name_span, "component", "class");
                (Arc::clone(declared), here)
            }
            None => (Arc::clone(declared), here),
        };
        let original =
            original_of(element, parent).filter(|(original, _)| !Arc::ptr_eq(original, &decl));
        self.check_final(
            &hits,
            declared.clause.prefixes.is_final,
            element.name,
            declared.name_span,
        );
        if !hits.is_empty() && declared.clause.prefixes.outer && !declared.clause.prefixes.inner {
            self.report_modified_outer(&hits[0], declared);
        }

        let env = component_environment(&hits, redeclare, &decl, scope, element, parent);
        let class = self.component_type(parent, element, &decl, scope, redeclare.is_some());
        let type_shape = self.shape(class);
        if redeclare.is_some() || element.replaced.is_some() {
            self.check_component_redeclare(parent, element, &hits, class);
        }

        let parent_node = self.data(parent);
        let inherited = match parent_node.role {
            Role::Class => InstPrefixes::default(),
            _ => parent_node.prefixes,
        };
        let prefixes = component_prefixes(
            &decl,
            original.as_ref(),
            inherited,
            type_shape.causality,
            &hits,
        );
        self.check_prefix_conflict(&decl, inherited);
        let rank = decl.subscripts.len() + decl.clause.subscripts.len();
        let rank = match &original {
            Some((original, _)) if rank == 0 => {
                original.subscripts.len() + original.clause.subscripts.len()
            }
            _ => rank,
        } + type_shape.dims.len();
        if rank > usize::from(u8::MAX) {
            let message = format!("`{}` has more than {} dimensions", element.name, u8::MAX);
            self.report(Diagnostic::error("too-many-dimensions", decl.span, message));
        }
        self.check_modifier_names(&env, class, &type_shape);
        let class = if type_shape.elements.is_empty() {
            class
        } else {
            self.check_recursion(parent, &decl, class)
        };

        let env = self.keep_pieces(env);
        let shape = match class == InstId::ERROR {
            true => self.shape(class),
            false => type_shape,
        };
        let facts = Instance {
            name: element.name,
            role: Role::Component,
            class,
            prefixes,
            visibility: element.visibility,
            span: decl.span,
            rank: rank.min(usize::from(u8::MAX)) as u8,
            layer: scope.layer,
            decl: Decl::Component(decl),
            shape: Some(shape),
        };
        let id = self.add_component(facts, parent, scope.inst, env);
        if let Some(original) = original {
            self.originals.insert(id, original);
        }
        id
    }

    /// The class of a component; [`InstId::ERROR`] after a diagnostic.
    ///
    /// What does not depend on the modifiers of the parent is looked up once per class, not per component.
    fn component_type(
        &mut self,
        parent: InstId,
        element: &ShapeElement,
        decl: &ComponentDecl,
        scope: Scope,
        redeclared: bool,
    ) -> InstId {
        let path = &decl.clause.type_name;
        let key = (self.data(parent).class, element.name);
        // Of the model itself there is one instance, whose components are asked for once.
        let cacheable = !redeclared && self.data(parent).role == Role::Component;
        if cacheable && let Some(&(known, own)) = self.types.get(&key) {
            let shape = self.shape(parent);
            if !own || self.is_neutral(parent, &shape) {
                return known;
            }
        }
        let class = match self.resolve_class(scope, path) {
            Ok(class) => class,
            Err(error) => {
                let error = self.with_chain(*error, scope.inst);
                self.report(error);
                InstId::ERROR
            }
        };
        if cacheable && class != InstId::ERROR {
            let first = path.parts.first().map(|part| part.name);
            let own = !path.global
                && first
                    .and_then(|name| self.lookup(scope, name))
                    .is_some_and(|(_, own)| own);
            let shape = self.shape(parent);
            let outer = own
                && first
                    .and_then(|name| self.child(parent, name))
                    .is_some_and(|class| self.data(class).prefixes.outer);
            if !own || !outer && first.is_some_and(|name| self.shares(parent, &shape, name)) {
                self.types.insert(key, (class, own));
            }
        }
        class
    }

    /// The type of a component is looked up, and the component itself is found (MLS 3.6 §5.3.2).
    fn report_hidden_class(&mut self, declared: &ComponentDecl) -> InstId {
        let name = declared.name;
        self.report(
            Diagnostic::error(
                "not-a-class",
                declared.clause.type_name.span,
                format!("the component `{name}` hides the class that is meant here"),
            )
            .label(declared.name_span, "this component is found first")
            .hint("rename the component, or begin the class name with a dot"),
        );
        InstId::ERROR
    }

    fn report_modified_outer(&mut self, hit: &ReachingArgument, declared: &ComponentDecl) {
        self.report(
            Diagnostic::error(
                "modified-outer",
                hit.span,
                format!("`{}` is `outer` and cannot be modified here", declared.name),
            )
            .label(declared.name_span, "declared `outer` here")
            .hint("modify the `inner` component instead"),
        );
    }
}

/// The first declaration of an element that was redeclared in classes.
pub(super) fn original_of(element: &ShapeElement, parent: InstId) -> Option<Placed> {
    match element.declarations(parent).last()? {
        (ElementDecl::Component(decl), scope, _) => Some((Arc::clone(decl), scope)),
        _ => None,
    }
}

/// All modifiers of a component, outermost first; see the module documentation.
fn component_environment(
    hits: &[ReachingArgument],
    redeclare: Option<usize>,
    decl: &Arc<ComponentDecl>,
    scope: Scope,
    element: &ShapeElement,
    parent: InstId,
) -> Vec<AppliedModifier> {
    let outer = redeclare.unwrap_or(hits.len());
    let mut env: Vec<AppliedModifier> = hits[..outer]
        .iter()
        .filter_map(ReachingArgument::piece)
        .collect();
    let inner = redeclare.map_or(&[][..], |position| &hits[position + 1..]);
    let source = redeclare.map(|position| hits[position].source);
    // `redeclare A x, x.start = 2` is one modification (§7.2.4).
    env.extend(
        inner
            .iter()
            .filter(|hit| Some(hit.source) == source)
            .filter_map(ReachingArgument::piece),
    );
    if let Some(modifier) = &decl.modifier {
        env.push(AppliedModifier {
            source: redeclare.map_or(INSIDE, |position| hits[position].place),
            ..AppliedModifier::declaration(modifier, scope, decl.clause.prefixes.is_final)
        });
    }
    env.extend(
        inner
            .iter()
            .filter(|hit| Some(hit.source) != source)
            .filter_map(ReachingArgument::piece),
    );

    // Declarations from the one in force to the original: what a constraining clause modifies holds for all later ones (§7.3.2).
    for hit in hits.iter().skip(outer) {
        if let ArgKind::RedeclareComponent(decl) = &hit.kind {
            env.extend(constraint_of(decl, hit.scope));
        }
    }
    for (item, scope, is_original) in element.declarations(parent) {
        let ElementDecl::Component(declared) = item else {
            continue;
        };
        env.extend(constraint_of(declared, scope));
        // Without a clause the original declaration is the constraining one.
        if is_original
            && declared.clause.constraint.is_none()
            && !Arc::ptr_eq(declared, decl)
            && let Some(modifier) = &declared.modifier
        {
            env.push(AppliedModifier::constraint(modifier, scope));
        }
    }
    env
}

/// The modifiers of the constraining clause of a declaration.
fn constraint_of(decl: &ComponentDecl, scope: Scope) -> Option<AppliedModifier> {
    let clause = decl.clause.constraint.as_ref()?;
    let modifier = clause.modifier.as_ref()?;
    Some(AppliedModifier::constraint(modifier, scope))
}

fn component_prefixes(
    decl: &ComponentDecl,
    original: Option<&Placed>,
    parent: InstPrefixes,
    type_causality: Option<acausal_syntax::ast::CausalityPrefix>,
    hits: &[ReachingArgument],
) -> InstPrefixes {
    let own = decl.clause.prefix;
    let old = original.map(|(original, _)| &original.clause);
    let variability: Option<VariabilityPrefix> = own
        .variability
        .or(old.and_then(|old| old.prefix.variability));
    let stricter = match (variability, parent.variability) {
        (Some(own), Some(outer)) => Some(own.min(outer)),
        (own, outer) => own.or(outer),
    };
    let (mut inner, mut outer) = (decl.clause.prefixes.inner, decl.clause.prefixes.outer);
    if !inner
        && !outer
        && let Some(old) = old
    {
        (inner, outer) = (old.prefixes.inner, old.prefixes.outer);
    }
    InstPrefixes {
        variability: stricter,
        causality: own
            .causality
            .or(old.and_then(|old| old.prefix.causality))
            .or(type_causality)
            .or(parent.causality),
        flow: own
            .flow
            .or(old.and_then(|old| old.prefix.flow))
            .or(parent.flow),
        is_final: decl.clause.prefixes.is_final
            || parent.is_final
            || hits.iter().any(|hit| hit.is_final),
        inner,
        outer,
        replaceable: decl.clause.prefixes.replaceable,
    }
}
