//! Instances of classes with their modifications (MLS 3.6 §5.6, §7). Pure structure: nothing is evaluated.
//!
//! [`Instances`] is an arena of instances of *any* class: the model, its components (an array of components is one
//! instance), but also packages, functions and types, so that `Modelica.Constants.pi` is the member `pi` of an instance of the
//! package and the inputs of a function are the components of an instance of it. Everything is made on first use.
//!
//! Errors are collected ([`Instances::take_diagnostics`]); what could not be found has [`Kind::Error`].

mod node;
mod types;

pub use types::*;

use acausal_syntax::ast::{Expr, Path};
use acausal_syntax::{Diagnostic, Name, Span};

use crate::class::Libraries;

/// The instance tree with the libraries it draws from.
#[derive(Debug)]
pub struct Instances {
    libraries: Libraries,
    nodes: Vec<Instance>,
    diagnostics: Vec<Diagnostic>,
}

impl Instances {
    /// An empty tree over these libraries.
    pub fn new(libraries: Libraries) -> Instances {
        Instances {
            libraries,
            nodes: Vec::new(),
            diagnostics: Vec::new(),
        }
    }

    /// The libraries.
    pub fn libraries(&self) -> &Libraries {
        &self.libraries
    }

    /// Gives the libraries back, with all that has been loaded.
    pub fn into_libraries(self) -> Libraries {
        self.libraries
    }

    /// Errors and warnings found since the last call.
    pub fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.diagnostics)
    }

    /// Instantiates a class as the model. `set` are the outermost modifiers: dotted names with values, whose
    /// names are looked up in the model.
    pub fn instantiate_root(
        &mut self,
        class: &str,
        set: &[(String, Expr)],
    ) -> Result<InstId, Box<Diagnostic>> {
        let _ = set;
        Err(Box::new(Diagnostic::error(
            "unknown-class",
            Span::NONE,
            format!("there is no class `{class}`"),
        )))
    }

    /// The instance.
    pub fn data(&self, inst: InstId) -> &Instance {
        &self.nodes[inst.0 as usize]
    }

    /// Components in declaration order, inherited ones at the place of their `extends` clause. Components that are only
    /// `outer` are left out: they are others' components.
    pub fn components(&mut self, inst: InstId) -> Vec<InstId> {
        let _ = inst;
        Vec::new()
    }

    /// Instances that [`components`](Instances::components) of the root did not have when first asked, because only a deeper
    /// `outer` made them necessary (MLS 3.6 §5.4). Ask after walking the model, walk these too, and repeat until empty.
    pub fn take_added_inners(&mut self) -> Vec<InstId> {
        Vec::new()
    }

    /// The component or class with this name; an `outer` one is replaced by its `inner`.
    pub fn member(&mut self, inst: InstId, name: Name) -> Option<InstId> {
        let _ = (inst, name);
        None
    }

    /// What `name` means behind the dot of `inst.name`; `span` is where to point if it is unknown.
    pub fn find_member(&mut self, inst: InstId, name: Name, span: Span) -> Found {
        let _ = inst;
        Found::NotFound(Box::new(unknown(name, span)))
    }

    /// What the first identifier of a reference means (MLS 3.6 §5.3.1).
    pub fn find(&mut self, scope: Scope, name: Name, span: Span) -> Found {
        let _ = scope;
        Found::NotFound(Box::new(unknown(name, span)))
    }

    /// What the first identifier of a reference with a leading dot means (MLS 3.6 §5.3.3).
    pub fn find_global(&mut self, name: Name, span: Span) -> Found {
        self.find(Scope::of(InstId::GLOBAL), name, span)
    }

    /// What a name with dots means (MLS 3.6 §5.3.2).
    pub fn find_path(&mut self, scope: Scope, path: &Path) -> Found {
        let first = path.parts[0].name;
        self.find(scope, first, path.span)
    }

    /// The value of a component after merging all modifications.
    pub fn binding(&mut self, inst: InstId) -> Option<Binding> {
        let _ = inst;
        None
    }

    /// An attribute of a component of predefined type (`start`, `unit`, `fixed`...), also of a short class of one.
    pub fn attribute(&mut self, inst: InstId, name: &str) -> Option<Binding> {
        let _ = (inst, name);
        None
    }

    /// Array dimensions: of the declaration, then of its type.
    pub fn dims(&mut self, inst: InstId) -> Vec<Dim> {
        let _ = inst;
        Vec::new()
    }

    /// `if condition` of the declaration.
    pub fn condition(&self, inst: InstId) -> Option<Condition> {
        let _ = inst;
        None
    }

    /// Equation and algorithm sections, those of base classes first.
    pub fn sections(&mut self, inst: InstId) -> Vec<SectionRef> {
        let _ = inst;
        Vec::new()
    }

    /// The `external` clause of a function.
    pub fn external(&mut self, inst: InstId) -> Option<ExternalRef> {
        let _ = inst;
        None
    }

    /// Annotations of the class of an instance, then of its base classes (`experiment`, `Inline`, `derivative`...).
    pub fn class_annotations(&mut self, inst: InstId) -> Vec<AnnotationRef> {
        let _ = inst;
        Vec::new()
    }

    /// What the instance is an instance of.
    pub fn kind(&mut self, inst: InstId) -> Kind {
        let _ = inst;
        Kind::Error
    }

    /// True for instances of a `connector` class, also one of a predefined type (`connector RealInput = input Real`).
    pub fn is_connector(&mut self, inst: InstId) -> bool {
        let _ = inst;
        false
    }

    /// The enumeration type.
    pub fn enum_type(&self, id: EnumId) -> &EnumType {
        let _ = id;
        const {
            &EnumType {
                name: String::new(),
                literals: Vec::new(),
                descriptions: Vec::new(),
            }
        }
    }

    /// The predefined enumeration with this name (`StateSelect`, `AssertionLevel`).
    pub fn predefined_enum(&mut self, name: &str) -> Option<EnumId> {
        let _ = name;
        None
    }

    /// Names from the root to the component, the root itself left out: `a.b.c` is `[a, b, c]`.
    pub fn full_path(&self, inst: InstId) -> Vec<(Name, InstId)> {
        let _ = inst;
        Vec::new()
    }

    /// The dotted name of a component from the root, or the full name of a class.
    pub fn display_name(&self, inst: InstId) -> String {
        let _ = inst;
        String::new()
    }

    /// Full name of the class that an instance is made from.
    pub fn class_name(&self, inst: InstId) -> String {
        let _ = inst;
        String::new()
    }

    /// Description string of the declaration.
    pub fn description(&self, inst: InstId) -> Option<&str> {
        let _ = inst;
        None
    }

    /// Annotation of the declaration (for the class's own see [`class_annotations`](Instances::class_annotations)).
    pub fn annotation(&self, inst: InstId) -> Option<&acausal_syntax::ast::Annotation> {
        let _ = inst;
        None
    }
}

fn unknown(name: Name, span: Span) -> Diagnostic {
    Diagnostic::error("unknown-name", span, format!("`{name}` is not declared"))
}
