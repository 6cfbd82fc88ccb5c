//! Classes and their elements (MLS 3.6 A.2.2, A.2.3).

use std::sync::Arc;

use super::{
    Annotation, Argument, CausalityPrefix, ComponentClause, ComponentRef, Description, Equation,
    Expr, Ident, Path, Statement, Text,
};
use acausal_base::span::Span;

node! {
    /// A class definition of any kind and form.
    ClassDef {
        /// `encapsulated`: lookup does not go to the enclosing class.
        encapsulated: bool,
        /// `partial`: cannot be instantiated.
        partial: bool,
        /// The specialised class.
        kind: ClassKind,
        /// Its name.
        name: Ident,
        /// The definition proper.
        body: ClassBody,
        /// Description string, and the annotation of the class itself.
        description: Description,
    }
}

/// Specialised classes (MLS 3.6 §4.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClassKind {
    /// `class`
    Class,
    /// `model`
    Model,
    /// `record`, `operator record`
    Record {
        /// `operator` before it.
        operator: bool,
    },
    /// `block`
    Block,
    /// `connector`, `expandable connector`
    Connector {
        /// `expandable` before it.
        expandable: bool,
    },
    /// `type`
    Type,
    /// `package`
    Package,
    /// `function`, `pure operator function`...
    Function {
        /// `pure` or `impure`, if written.
        purity: Option<Purity>,
        /// `operator` before it.
        operator: bool,
    },
    /// `operator`
    Operator,
}

/// Whether a function has side effects (MLS 3.6 §12.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purity {
    /// `pure`
    Pure,
    /// `impure`
    Impure,
}

/// The forms of a class definition (MLS 3.6 §4.6.1).
#[derive(Debug, Clone, PartialEq)]
pub enum ClassBody {
    /// `class A ... end A`.
    Long(Composition),
    /// `class extends A(...) ... end A` (MLS 3.6 §7.3.1).
    ClassExtends {
        /// The modification of the inherited class.
        modification: Vec<Argument>,
        /// What is added.
        composition: Composition,
    },
    /// `class A = input B[n](...)`.
    Short(ShortClass),
    /// `type A = enumeration(a, b)`; `None` for `enumeration(:)`.
    Enumeration(Option<Vec<EnumLiteral>>),
    /// `function A = der(f, x, y)` (MLS 3.6 §12.7.2).
    Der {
        /// The function that is differentiated.
        function: Path,
        /// The inputs it is differentiated by, at least one.
        variables: Vec<Ident>,
    },
}

node! {
    /// The right-hand side of `class A = input B[n](...)`.
    ShortClass {
        /// `input` or `output`.
        causality: Option<CausalityPrefix>,
        /// The class it is made from.
        base: Path,
        /// Array dimensions.
        subscripts: Vec<Expr>,
        /// Modification.
        modification: Vec<Argument>,
    }
}

node! {
    /// One literal of an enumeration.
    EnumLiteral {
        /// Its name.
        name: Ident,
        /// Description and annotation.
        description: Description,
    }
}

node! {
    /// The body of a class in long form.
    Composition {
        /// Sections in the order written. Elements before any `public` are the first section.
        sections: Vec<Section>,
        /// The `external` clause.
        external: Option<External>,
    }
}

node! {
    /// One section of a class.
    Section {
        /// Its contents.
        kind: SectionKind,
    }
}

/// The forms of a section.
#[derive(Debug, Clone, PartialEq)]
pub enum SectionKind {
    /// Declarations.
    Elements {
        /// Whether they are visible from outside.
        visibility: Visibility,
        /// The declarations.
        elements: Vec<Element>,
    },
    /// `equation` or `initial equation`.
    Equations {
        /// True for `initial equation`.
        initial: bool,
        /// The equations.
        equations: Vec<Equation>,
    },
    /// `algorithm` or `initial algorithm`.
    Algorithm {
        /// True for `initial algorithm`.
        initial: bool,
        /// The statements.
        statements: Vec<Statement>,
    },
}

/// Visibility of an element section (MLS 3.6 §4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Visibility {
    /// `public`, the default.
    Public,
    /// `protected`.
    Protected,
}

node! {
    /// `external "C" y = f(x) annotation(...)` (MLS 3.6 §12.9).
    External {
        /// The language; C if absent.
        language: Option<Text>,
        /// The call; absent if it follows from the declaration.
        call: Option<ExternalCall>,
        /// Annotation of the clause (Library, Include...).
        annotation: Option<Annotation>,
    }
}

node! {
    /// `y = f(x)` in an external clause.
    ExternalCall {
        /// What gets the return value.
        output: Option<ComponentRef>,
        /// The foreign function.
        function: Ident,
        /// The arguments.
        args: Vec<Expr>,
    }
}

node! {
    /// One declaration of a class.
    Element {
        /// What is declared. Import and extends clauses have no prefixes.
        kind: ElementKind,
        /// `redeclare`, `final`, `inner`, `outer`, `replaceable`.
        prefixes: Prefixes,
        /// `constrainedby ...`, only with `replaceable`.
        constraining: Option<Box<ConstrainingClause>>,
    }
}

/// Prefixes of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Prefixes {
    /// `redeclare`
    pub redeclare: bool,
    /// `final`
    pub is_final: bool,
    /// `inner`
    pub inner: bool,
    /// `outer`
    pub outer: bool,
    /// `replaceable`
    pub replaceable: bool,
}

/// The forms of an element.
#[derive(Debug, Clone, PartialEq)]
pub enum ElementKind {
    /// `import ...`
    Import(Box<Import>),
    /// `extends ...`
    Extends(Box<Extends>),
    /// A nested class.
    Class(Arc<ClassDef>),
    /// Components of one type.
    Components(ComponentClause),
}

node! {
    /// An import clause (MLS 3.6 §13.2.1).
    Import {
        /// The package or class named.
        path: Path,
        /// Which names it brings in.
        kind: ImportKind,
        /// Description and annotation.
        description: Description,
    }
}

/// The forms of an import clause.
#[derive(Debug, Clone, PartialEq)]
pub enum ImportKind {
    /// `import A.B.C;`
    Qualified,
    /// `import D = A.B.C;`
    Renamed(Ident),
    /// `import A.B.*;`
    All,
    /// `import A.B.{C, D};`
    List(Vec<Ident>),
}

node! {
    /// `extends A(...) annotation(...)` (MLS 3.6 §7.1).
    Extends {
        /// The base class.
        base: Path,
        /// Its modification.
        modification: Vec<Argument>,
        /// Annotation.
        annotation: Option<Annotation>,
    }
}

node! {
    /// `constrainedby A(...) "text"` (MLS 3.6 §7.3.2).
    ConstrainingClause {
        /// The constraining type.
        base: Path,
        /// Its modification.
        modification: Vec<Argument>,
        /// Description and annotation.
        description: Description,
    }
}

impl ClassDef {
    /// The body of a class in long form (`class extends` included).
    pub fn composition(&self) -> Option<&Composition> {
        match &self.body {
            ClassBody::Long(composition) | ClassBody::ClassExtends { composition, .. } => {
                Some(composition)
            }
            _ => None,
        }
    }

    /// All elements in the order written, with their visibility; none for the short forms.
    pub fn elements(&self) -> impl Iterator<Item = (Visibility, &Element)> {
        self.composition()
            .into_iter()
            .flat_map(|composition| &composition.sections)
            .filter_map(|section| match &section.kind {
                SectionKind::Elements {
                    visibility,
                    elements,
                } => Some(elements.iter().map(|element| (*visibility, element))),
                _ => None,
            })
            .flatten()
    }

    /// The nested class with this name.
    pub fn nested(&self, name: &str) -> Option<&Arc<ClassDef>> {
        self.elements()
            .find_map(|(_, element)| match &element.kind {
                ElementKind::Class(class) if class.name.as_str() == name => Some(class),
                _ => None,
            })
    }
}

impl ClassKind {
    /// As written, with its prefixes.
    pub fn keyword(self) -> &'static str {
        match self {
            ClassKind::Class => "class",
            ClassKind::Model => "model",
            ClassKind::Record { operator: false } => "record",
            ClassKind::Record { operator: true } => "operator record",
            ClassKind::Block => "block",
            ClassKind::Connector { expandable: false } => "connector",
            ClassKind::Connector { expandable: true } => "expandable connector",
            ClassKind::Type => "type",
            ClassKind::Package => "package",
            ClassKind::Function { purity, operator } => match (purity, operator) {
                (None, false) => "function",
                (None, true) => "operator function",
                (Some(Purity::Pure), false) => "pure function",
                (Some(Purity::Pure), true) => "pure operator function",
                (Some(Purity::Impure), false) => "impure function",
                (Some(Purity::Impure), true) => "impure operator function",
            },
            ClassKind::Operator => "operator",
        }
    }
}
