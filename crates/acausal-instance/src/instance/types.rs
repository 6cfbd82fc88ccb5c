//! What the instance tree is made of and what questions to it return. Types only; see [`super`].

use std::sync::Arc;

use acausal_base::{Diagnostic, Name, Span};
use acausal_syntax::ast::{
    Annotation, CausalityPrefix, ClassDef, ComponentRef, Expr, FlowPrefix, Section,
    VariabilityPrefix, Visibility,
};

/// Index of an instance: of the model, a component, or a class that names are looked up in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstId(pub u32);

impl InstId {
    /// The unnamed class around all top-level classes (MLS 3.6 §5.2).
    pub const GLOBAL: InstId = InstId(0);
}

/// Index of an enumeration type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EnumId(pub u32);

/// Where the names of an expression, equation or declaration are looked up (MLS 3.6 §5.3).
///
/// Opaque to callers: take it from a [`Binding`], [`Dim`] or [`SectionRef`] and hand it back to
/// [`Instances::find`](super::Instances::find). An instance of class `D` with `extends B` has two scopes: what was written in `B`
/// sees the members of the instance that `B` declares or inherits, then the classes around `B`; what was written in
/// `D` sees all members, then the classes around `D`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope {
    /// The instance whose members are seen.
    pub inst: InstId,
    /// Which class of its inheritance tree the text was written in; 0 is the class itself.
    pub layer: u16,
}

impl Scope {
    /// The scope of text written in the class of the instance itself (not in a base class).
    pub fn of(inst: InstId) -> Scope {
        Scope { inst, layer: 0 }
    }
}

/// One array dimension of a component.
#[derive(Clone, Debug)]
pub struct Dim {
    /// The size: an Integer expression, `Boolean` or an enumeration type name, or
    /// [`ExprKind::Colon`](acausal_syntax::ast::ExprKind::Colon) when it follows from the binding.
    pub expr: Arc<Expr>,
    /// Where to look up its names.
    pub scope: Scope,
}

/// `if condition` of a component declaration (MLS 3.6 §4.4.5).
#[derive(Clone, Debug)]
pub struct ComponentCondition {
    /// The condition.
    pub expr: Arc<Expr>,
    /// Where to look up its names.
    pub scope: Scope,
}

/// The value of a component or attribute that is left after merging all modifications (MLS 3.6 §7.2.3).
#[derive(Clone, Debug)]
pub struct Binding {
    /// The value.
    pub expr: Arc<Expr>,
    /// Where to look up its names.
    pub scope: Scope,
    /// How many of the *last* dimensions of the enclosing components the value has in front of its own (MLS 3.6 §7.2.5).
    ///
    /// Concatenate the dimensions of all enclosing components from the model down to the parent (for an attribute: down
    /// to the component itself): the value covers the last `levels` of these, and is the same for all elements
    /// of the ones before. `R r[3](R = {1,2,3})` gives 1 for `r.R`; `r[3](each R = 1)` gives 0; `parameter Real R = 1` in the
    /// class gives 0.
    pub levels: u8,
    /// Written with `each`.
    pub each: bool,
    /// Written with `final`, or on a final declaration.
    pub is_final: bool,
    /// Where it came from.
    pub origin: BindingOrigin,
    /// The whole modifier or declaration.
    pub span: Span,
}

/// Where a [`Binding`] was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingOrigin {
    /// In the declaration of the component itself: `Real x = 1`.
    Declaration,
    /// In a modifier of an enclosing declaration, a short class or an `extends` clause: `A a(x = 1)`.
    Modifier,
    /// From outside of all source text: `--set a.x=1`.
    Setting,
}

/// What an instance is an instance of (MLS 3.6 §4.7), after following all base classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceKind {
    /// Real, Integer, Boolean, String, an enumeration or Clock.
    Primitive(Primitive),
    /// `record`.
    Record {
        /// `operator record`.
        operator: bool,
    },
    /// `connector` with members (a connector of a primitive type is [`InstanceKind::Primitive`]; see
    /// [`Instances::is_connector`](super::Instances::is_connector)).
    Connector {
        /// `expandable connector`.
        expandable: bool,
    },
    /// `model` or `class`.
    Model,
    /// `block`.
    Block,
    /// `package`.
    Package,
    /// `function` of any kind.
    Function,
    /// `operator`.
    Operator,
    /// A class that extends ExternalObject (MLS 3.6 §12.9.7).
    ExternalObject,
    /// The class could not be found; a diagnostic has been given, say nothing more about it.
    Error,
}

/// The predefined types (MLS 3.6 §4.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// `Real`
    Real,
    /// `Integer`
    Integer,
    /// `Boolean`
    Boolean,
    /// `String`
    String,
    /// An enumeration.
    Enum(EnumId),
    /// `Clock` (MLS 3.6 §16.2.1).
    Clock,
}

/// An enumeration type with its literals.
#[derive(Clone, Debug)]
pub struct EnumType {
    /// Full name of the type.
    pub name: String,
    /// Literals in order; the first is number 1.
    pub literals: Vec<Name>,
    /// Description strings of the literals, empty where absent.
    pub descriptions: Vec<Arc<str>>,
}

/// What role an instance plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A class as such: a package, function or type that names are looked up in. Has no modifiers from a component.
    Class,
    /// A component of a class.
    Component,
    /// The model given to [`Instances::instantiate_root`](super::Instances::instantiate_root).
    Root,
}

/// Prefixes of a component, those of enclosing components and of its type taken into account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct InstPrefixes {
    /// The strictest of `constant`, `parameter`, `discrete` on the way from the model (MLS 3.6 §4.5).
    pub variability: Option<VariabilityPrefix>,
    /// `input` or `output` of the component, its type (`connector RealInput = input Real`) or an enclosing one.
    pub causality: Option<CausalityPrefix>,
    /// `flow` or `stream` of the component or an enclosing one.
    pub flow: Option<FlowPrefix>,
    /// `final` on the declaration or an enclosing one.
    pub is_final: bool,
    /// `inner` on the declaration.
    pub inner: bool,
    /// `outer` on the declaration.
    pub outer: bool,
    /// `replaceable` on the declaration that is in force.
    pub replaceable: bool,
}

/// What is known of an instance by its declaration: the pin `p` of one resistor has it in common with the pin `p` of all others. Where
/// it stands, sizes, conditions, kinds and bindings are asked for with the methods of [`Instances`](super::Instances).
#[derive(Clone, Debug)]
pub struct Instance {
    /// Name in its parent; the class name for the root.
    pub name: Name,
    /// What it is there for.
    pub role: Role,
    /// The class it is an instance of, itself an instance with [`Role::Class`] (that of a class is itself).
    pub class: InstId,
    /// Prefixes, propagated.
    pub prefixes: InstPrefixes,
    /// `public` or `protected`.
    pub visibility: Visibility,
    /// Where it was declared: the component with its modification, or the class.
    pub span: Span,
    /// Number of array dimensions, those of its type included.
    pub rank: u8,
    /// The layer of the scope that it was declared in.
    pub(super) layer: u16,
    /// What declares it.
    pub(super) decl: super::node::Decl,
    /// The flattened class, if it is known; for a component that of its type.
    pub(super) shape: Option<Arc<super::shape::ClassShape>>,
}

impl Instance {
    /// Whether two instances are the same in all that is known of them here.
    pub(super) fn is_same(&self, other: &Instance) -> bool {
        use super::node::Decl;
        let declared = match (&self.decl, &other.decl) {
            (Decl::Component(a), Decl::Component(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        let shaped = match (&self.shape, &other.shape) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        declared
            && shaped
            && (self.name, self.role, self.class) == (other.name, other.role, other.class)
            && (self.prefixes, self.visibility) == (other.prefixes, other.visibility)
            && (self.span, self.rank, self.layer) == (other.span, other.rank, other.layer)
    }
}

/// What a name means.
#[derive(Clone, Debug)]
pub enum Found {
    /// A component; a constant if it was found in a class and not in an instance. An `outer` one has
    /// been replaced by its `inner`.
    Component(InstId),
    /// A class: package, function, record, type...
    Class(InstId),
    /// A literal of an enumeration with its number from 1.
    EnumLiteral(EnumId, i64),
    /// A predefined function or operator (`sin`, `der`, `size`, `pre`...; MLS 3.6 §3.7, §10.3).
    BuiltinFunction(Name),
    /// The variable `time`.
    Time,
    /// Nothing; the diagnostic is ready to be reported. Boxed because it is large and rare.
    NotFound(Box<Diagnostic>),
}

/// An equation or algorithm section of an instance.
#[derive(Clone, Debug)]
pub struct SectionRef {
    /// Where to look up its names.
    pub scope: Scope,
    /// The class it was written in.
    pub class: Arc<ClassDef>,
    pub(super) index: u32,
    /// `break connect(a, b)` of `extends` clauses around it: these connections are to be left out (MLS 3.6 §7.4).
    pub removed_connections: Arc<[(ComponentRef, ComponentRef)]>,
}

impl SectionRef {
    /// The section.
    pub fn section(&self) -> &Section {
        // The index was taken from this very class, which is immutable.
        &self
            .class
            .composition()
            .map_or(&[][..], |c| &c.sections[..])[self.index as usize]
    }
}

/// An annotation with the scope of its names, and the class it is written in.
#[derive(Clone, Debug)]
pub struct AnnotationRef {
    /// Where to look up its names.
    pub scope: Scope,
    /// The class that carries it.
    pub class: Arc<ClassDef>,
}

impl AnnotationRef {
    /// The annotation of the class.
    pub fn annotation(&self) -> Option<&Annotation> {
        self.class.description.annotation.as_deref()
    }
}

/// The `external` clause of a function with the scope of its names.
#[derive(Clone, Debug)]
pub struct ExternalRef {
    /// Where to look up its names.
    pub scope: Scope,
    /// The class it is written in.
    pub class: Arc<ClassDef>,
}

impl ExternalRef {
    /// The clause.
    pub fn external(&self) -> Option<&acausal_syntax::ast::External> {
        self.class.composition()?.external.as_ref()
    }
}
