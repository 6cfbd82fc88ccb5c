//! Looking names up (MLS 3.6 §5.3).
//!
//! A simple name is looked for in the members of the instance that the text can see, then among the imports of the class it was written in, then
//! the same in the class around it, up to one that is `encapsulated`, and at last among the predefined names. Classes of the way are
//! instances themselves, so that a redeclared package around a function gives the function the redeclared meaning of names.

use acausal_base::{Diagnostic, Name, Span};
use acausal_syntax::ast::{Path, VariabilityPrefix, Visibility};

use super::Instances;
use super::node::Decl;
use super::types::{EnumId, Found, InstId, InstanceKind, Primitive, Role, Scope};
use super::unknown::Wanted;
use crate::class::ClassId;
use crate::class::predefined;
use crate::class::table::{ElementDecl, ElementTable};

/// What a name means, when it means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Component(InstId),
    Class(InstId),
    Literal(EnumId, i64),
    Function(Name),
    Time,
}

impl Target {
    fn found(self) -> Found {
        match self {
            Target::Component(inst) => Found::Component(inst),
            Target::Class(inst) => Found::Class(inst),
            Target::Literal(id, number) => Found::EnumLiteral(id, number),
            Target::Function(name) => Found::BuiltinFunction(name),
            Target::Time => Found::Time,
        }
    }
}

impl Instances {
    /// What the first identifier of a reference means (MLS 3.6 §5.3.1). Iteration variables are the caller's business and come first.
    pub fn find(&mut self, scope: Scope, name: Name, span: Span) -> Found {
        match self.lookup(scope, name) {
            Some((target, own)) => self.usable(scope, target, own, span),
            None => Found::NotFound(Box::new(self.unknown_name(
                scope,
                name,
                span,
                Wanted::Anything,
            ))),
        }
    }

    /// What the first identifier of a reference with a leading dot means (MLS 3.6 §5.3.3).
    pub fn find_global(&mut self, name: Name, span: Span) -> Found {
        match self.lookup_top(name) {
            Some(target) => target.found(),
            None => Found::NotFound(Box::new(self.libraries.unknown_top_level(name, span))),
        }
    }

    /// What `name` means behind the dot of `inst.name`; `span` is where to point if it is unknown.
    pub fn find_member(&mut self, inst: InstId, name: Name, span: Span) -> Found {
        self.find_member_of(inst, name, span, Wanted::Anything)
    }

    fn find_member_of(&mut self, inst: InstId, name: Name, span: Span, wanted: Wanted) -> Found {
        match self.lookup_member(inst, name) {
            Some(Target::Component(member) | Target::Class(member))
                if self.data(member).visibility == Visibility::Protected =>
            {
                Found::NotFound(Box::new(self.protected_access(inst, member, span)))
            }
            Some(target) => target.found(),
            None => Found::NotFound(Box::new(self.unknown_member(inst, name, span, wanted))),
        }
    }

    /// What a name with dots means (MLS 3.6 §5.3.2).
    pub fn find_path(&mut self, scope: Scope, path: &Path) -> Found {
        self.find_path_of(scope, path, Wanted::Anything)
    }

    fn find_path_of(&mut self, scope: Scope, path: &Path, wanted: Wanted) -> Found {
        let mut found = None;
        let first_wanted = match wanted {
            Wanted::Class if path.parts.len() > 1 => Wanted::Package,
            other => other,
        };
        for part in &path.parts {
            let (name, span) = (part.name, part.span);
            let next = match found {
                None if path.global => self.find_global(name, span),
                None if wanted == Wanted::Class
                    && let Some(place) = self.own_component(scope, name) =>
                {
                    let message = format!("`{name}` is a component, not a class");
                    let error = Diagnostic::error("not-a-class", path.span, message)
                        .label(place, "declared here")
                        .hint("rename the component, or begin the class name with a dot");
                    Found::NotFound(Box::new(error))
                }
                None => match self.lookup(scope, name) {
                    Some((target, own)) => self.usable(scope, target, own, span),
                    None => Found::NotFound(Box::new(self.unknown_name(
                        scope,
                        name,
                        span,
                        first_wanted,
                    ))),
                },
                Some(Found::Component(inst) | Found::Class(inst)) => {
                    self.find_member_of(inst, name, span, wanted)
                }
                Some(Found::BuiltinFunction(package)) if package == predefined::CONNECTIONS => {
                    self.connection_operator(name, span)
                }
                Some(_) => {
                    let message = format!(
                        "`{path}` is not a name: there is nothing inside of what stands before `{name}`"
                    );
                    Found::NotFound(Box::new(Diagnostic::error("unknown-name", span, message)))
                }
            };
            if let Found::NotFound(_) = next {
                return next;
            }
            found = Some(next);
        }
        // The parser gives no path without parts.
        found.unwrap_or_else(|| {
            Found::NotFound(Box::new(Diagnostic::error(
                "unknown-name",
                path.span,
                "a name is missing",
            )))
        })
    }

    /// A component of an enclosing class can be used if it is a constant (MLS 3.6 §5.3.1).
    fn usable(&mut self, scope: Scope, target: Target, own: bool, span: Span) -> Found {
        match target {
            Target::Component(found)
                if !own
                    && self.data(found).prefixes.variability
                        != Some(VariabilityPrefix::Constant) =>
            {
                Found::NotFound(Box::new(self.not_constant(scope, found, span)))
            }
            _ => target.found(),
        }
    }

    /// The component or class with this name; an `outer` one is replaced by its `inner`.
    pub fn member(&mut self, inst: InstId, name: Name) -> Option<InstId> {
        match self.lookup_member(inst, name)? {
            Target::Component(member) | Target::Class(member) => Some(member),
            _ => None,
        }
    }

    /// A class by a name with dots.
    pub(super) fn resolve_class(
        &mut self,
        scope: Scope,
        path: &Path,
    ) -> Result<InstId, Box<Diagnostic>> {
        match self.find_path_of(scope, path, Wanted::Class) {
            Found::Class(class) => Ok(class),
            Found::NotFound(error) => Err(error),
            Found::Component(component) => {
                let place = self.data(component).span;
                Err(Box::new(
                    Diagnostic::error(
                        "not-a-class",
                        path.span,
                        format!("`{path}` is a component, not a class"),
                    )
                    .label(place, "declared here"),
                ))
            }
            _ => Err(Box::new(Diagnostic::error(
                "not-a-class",
                path.span,
                format!("`{path}` is not a class"),
            ))),
        }
    }

    /// A simple name; the flag says that it is a member of the instance of the scope itself.
    pub(super) fn lookup(&mut self, scope: Scope, name: Name) -> Option<(Target, bool)> {
        let mut at = scope;
        loop {
            if at.inst == InstId::GLOBAL {
                return self.lookup_top(name).map(|target| (target, false));
            }
            if let Some(member) = self.visible_member(at, name) {
                return Some((self.target(member), at.inst == scope.inst));
            }
            let (class, enclosing) = self.layer_of(at)?;
            if let Some(target) = self.lookup_import(class, name) {
                return Some((target, false));
            }
            if self.libraries.class(class).def.encapsulated {
                return self.lookup_predefined(name).map(|target| (target, false));
            }
            at = enclosing;
        }
    }

    /// A member by name, classes and enumeration literals included.
    pub(super) fn lookup_member(&mut self, inst: InstId, name: Name) -> Option<Target> {
        if inst == InstId::GLOBAL {
            return self.lookup_top(name);
        }
        if let Some(member) = self.child(inst, name) {
            return Some(self.target(member));
        }
        if let InstanceKind::Primitive(Primitive::Enum(id)) = self.kind(inst) {
            let literals = &self.enums[id.0 as usize].literals;
            let position = literals.iter().position(|literal| *literal == name)?;
            return Some(Target::Literal(id, position as i64 + 1));
        }
        None
    }

    /// A top-level class or predefined name.
    pub(super) fn lookup_top(&mut self, name: Name) -> Option<Target> {
        if let Some(class) = self.child(InstId::GLOBAL, name) {
            return Some(Target::Class(class));
        }
        self.lookup_predefined(name)
    }

    /// Only what MLS 3.6 itself defines.
    fn lookup_predefined(&mut self, name: Name) -> Option<Target> {
        if name == "time" {
            return Some(Target::Time);
        }
        if predefined::is_function(&name) || name == predefined::CONNECTIONS {
            return Some(Target::Function(name));
        }
        if self.predefined_names.contains(&name) {
            return self.child(InstId::GLOBAL, name).map(Target::Class);
        }
        None
    }

    fn connection_operator(&mut self, name: Name, span: Span) -> Found {
        let operators = predefined::CONNECTION_OPERATORS;
        if operators.contains(&name.as_str()) {
            return Found::BuiltinFunction(Name::new(&format!(
                "{}.{name}",
                predefined::CONNECTIONS
            )));
        }
        let error = Diagnostic::error(
            "unknown-name",
            span,
            format!("there is no operator `Connections.{name}`"),
        );
        Found::NotFound(Box::new(super::unknown::with_hint(
            error,
            &name,
            operators.iter().copied(),
        )))
    }

    /// What a raw member stands for: the `inner` one for `outer`.
    fn target(&mut self, member: InstId) -> Target {
        let member = self.inner_of(member);
        match self.data(member).role {
            Role::Class => Target::Class(member),
            Role::Component | Role::Root => Target::Component(member),
        }
    }

    /// A member that text of this scope can see.
    fn visible_member(&mut self, scope: Scope, name: Name) -> Option<InstId> {
        if scope.layer > 0 {
            let shape = self.shape(scope.inst);
            if shape.visible(name, scope.layer).is_some() {
                return self.child(scope.inst, name);
            }
            // Classes stored in files of their own are in no table.
            let layers = shape.layers.get(usize::from(scope.layer))?;
            let range = usize::from(scope.layer)..usize::from(layers.end);
            let stored = shape.layers[range]
                .iter()
                .any(|layer| self.libraries.has_stored(layer.class, name));
            return if stored {
                self.child(scope.inst, name)
            } else {
                None
            };
        }
        self.child(scope.inst, name)
    }

    /// The class that text of this scope was written in, and the scope around it.
    pub(super) fn layer_of(&mut self, scope: Scope) -> Option<(ClassId, Scope)> {
        let node = self.data(scope.inst);
        if scope.layer == 0
            && node.role == Role::Class
            && let Decl::Class(class) = node.decl
        {
            return Some((class, self.scope_of(scope.inst)));
        }
        let shape = self.shape(scope.inst);
        let layer = shape.layers.get(usize::from(scope.layer))?;
        Some((layer.class, layer.enclosing))
    }

    /// A name brought in by the import clauses of a class (MLS 3.6 §13.2).
    fn lookup_import(&mut self, class: ClassId, name: Name) -> Option<Target> {
        let table = self.element_table(class);
        if table.imports.is_empty() && table.open_imports.is_empty() {
            return None;
        }
        if let Some(known) = self.imported.get(&(class, name)) {
            return Some(*known);
        }
        let target = self.lookup_import_uncached(class, &table, name);
        // A miss can be temporary, while base classes are being looked up.
        if let Some(target) = target {
            self.imported.insert((class, name), target);
        }
        target
    }

    fn lookup_import_uncached(
        &mut self,
        class: ClassId,
        table: &ElementTable,
        name: Name,
    ) -> Option<Target> {
        // Lookup of the imported name starts at top level (MLS 3.6 §13.2.1.1).
        if let Some(path) = table.imports.get(&name) {
            let found = self.lookup_from_top(path);
            if found.is_none() {
                self.report_unknown_import(class, path);
            }
            return found;
        }
        let mut found: Option<(Target, Span)> = None;
        for (path, span) in &table.open_imports {
            let package = match self.lookup_from_top(path) {
                Some(Target::Class(package)) => package,
                _ => {
                    self.report_unknown_import(class, path);
                    continue;
                }
            };
            // A class that is being flattened shows its own elements only; that is enough for imports.
            let Some(member) = self.child(package, name) else {
                continue;
            };
            if self.data(member).visibility == Visibility::Protected {
                continue;
            }
            let target = self.target(member);
            match found {
                Some((known, first)) if known != target => {
                    self.report(
                        Diagnostic::error(
                            "ambiguous-import",
                            *span,
                            format!("`{name}` is imported by two import clauses"),
                        )
                        .label(first, "the other one")
                        .hint("import the name you mean: `import A.B.name`"),
                    );
                }
                Some(_) => {}
                None => found = Some((target, *span)),
            }
        }
        found.map(|(target, _)| target)
    }

    fn lookup_from_top(&mut self, path: &[Name]) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let mut target = self.lookup_top(*first)?;
        for name in rest {
            let (Target::Class(inst) | Target::Component(inst)) = target else {
                return None;
            };
            target = self.lookup_member(inst, *name)?;
        }
        Some(target)
    }

    /// Where a scope declares a component of this name, without making the component: its type may need what is looked up here.
    fn own_component(&mut self, scope: Scope, name: Name) -> Option<Span> {
        if scope.inst == InstId::GLOBAL {
            return None;
        }
        let item = if self.data(scope.inst).role == Role::Class && scope.layer == 0 {
            let (class, _) = self.layer_of(scope)?;
            let table = self.element_table(class);
            table.items[*table.by_name.get(&name)? as usize].clone()
        } else {
            let shape = self.shape(scope.inst);
            let index = shape.visible(name, scope.layer)?;
            shape.elements[index as usize].item.clone()
        };
        match item {
            ElementDecl::Component(decl) => Some(decl.name_span),
            _ => None,
        }
    }

    /// True while the base classes of a class are being looked up.
    pub(super) fn is_building(&self, inst: InstId) -> bool {
        self.node(inst).building
    }
}
