//! The syntax tree of Modelica 3.6 (MLS 3.6 appendix A.2): what was written, in the order written.
//!
//! - **Every node has a `span`.** All structs below are declared with `node!`, which adds the field.
//! - **Equality ignores spans.** `node!` derives `PartialEq` from all fields but the span, so `==`
//!   means "the same tree up to layout, comments and redundant parentheses". This is what the round
//!   trip `parse(print(tree)) == tree` is stated in.
//! - **Depth is bounded** by [`MAX_NESTING`](crate::parser::MAX_NESTING) for every tree the parser
//!   gives, so recursion over *depth* is safe. Length is not bounded: a sum of 10⁵ terms is one flat
//!   [`ExprKind::Chain`], an `else if` ladder is one flat [`ExprKind::If`].
//! - **Classes are shared**: [`ClassDef`] sits in an `Arc`, so that a class tree can hold on to
//!   parts of a file without copying.
//! - Parentheses are not kept; the printer puts them back where precedence asks for them. Adjacent
//!   pieces of a description string (`"a" + "b"`) are joined.

use std::sync::Arc;

use acausal_base::name::Name;
use acausal_base::span::Span;

/// Declares a struct with an additional `span`, whose equality ignores that span.
macro_rules! node {
    ($(#[$meta:meta])* $name:ident { $( $(#[$field_meta:meta])* $field:ident : $type:ty, )* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone)]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $type, )*
            /// Where it was written.
            pub span: Span,
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                true $( && self.$field == other.$field )*
            }
        }
    };
}

mod class;
mod component;
mod equation;
mod expr;
mod modification;

pub use class::*;
pub use component::*;
pub use equation::*;
pub use expr::*;
pub use modification::*;

node! {
    /// A file (MLS 3.6 A.2.1).
    StoredDefinition {
        /// `within A.B;`
        within: Option<Within>,
        /// The classes in the file; usually one.
        classes: Vec<StoredClass>,
    }
}

node! {
    /// `within A.B;` or `within;` (MLS 3.6 §13.2.2.4).
    Within {
        /// The enclosing package; absent for a top-level class.
        name: Option<Path>,
    }
}

node! {
    /// A class at the top of a file.
    StoredClass {
        /// `final` before the class.
        is_final: bool,
        /// The class.
        class: Arc<ClassDef>,
    }
}

node! {
    /// One identifier.
    Ident {
        /// Its text, interned.
        name: Name,
    }
}

node! {
    /// A name or type specifier: `A.B.C` or `.A.B.C`; at least one part.
    Path {
        /// True with a leading dot: lookup starts outside of all classes.
        global: bool,
        /// The identifiers between the dots.
        parts: Vec<Ident>,
    }
}

node! {
    /// A description string or the language of an external function, without quotes and escapes.
    Text {
        /// The characters meant.
        value: Arc<str>,
    }
}

node! {
    /// What may follow most things: `"text" annotation(...)`. The span is empty when both are absent.
    Description {
        /// The description string.
        text: Option<Text>,
        /// The annotation.
        annotation: Option<Box<Annotation>>,
    }
}

node! {
    /// `annotation(...)` (MLS 3.6 §18).
    Annotation {
        /// The arguments between the parentheses.
        arguments: Vec<Argument>,
    }
}

impl Ident {
    /// An identifier at a place.
    pub fn new(name: Name, span: Span) -> Ident {
        Ident { name, span }
    }

    /// The text of the identifier.
    pub fn as_str(&self) -> &'static str {
        self.name.as_str()
    }
}

impl std::fmt::Display for Ident {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.name.fmt(f)
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.global {
            f.write_str(".")?;
        }
        for (position, part) in self.parts.iter().enumerate() {
            if position > 0 {
                f.write_str(".")?;
            }
            f.write_str(part.as_str())?;
        }
        Ok(())
    }
}

impl Description {
    /// Neither text nor annotation.
    pub fn none(span: Span) -> Description {
        Description {
            text: None,
            annotation: None,
            span,
        }
    }

    /// True when there is neither text nor annotation.
    pub fn is_none(&self) -> bool {
        self.text.is_none() && self.annotation.is_none()
    }
}

impl Annotation {
    /// The modification of the first argument with this (single-part) name: `annotation(name...)`.
    pub fn get(&self, name: &str) -> Option<&Modification> {
        find_argument(&self.arguments, name)
    }
}

/// The modification of the first element modification with this single-part name in a list.
pub fn find_argument<'tree>(
    arguments: &'tree [Argument],
    name: &str,
) -> Option<&'tree Modification> {
    arguments.iter().find_map(|argument| match &argument.kind {
        ArgumentKind::Modify {
            name: path,
            modification,
            ..
        } if path.parts.len() == 1 && path.parts[0].as_str() == name => modification.as_ref(),
        _ => None,
    })
}
