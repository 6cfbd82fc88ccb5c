//! The elements of a class, prepared once and shared by all its instances.
//!
//! In: a class definition. Out: its [`ElementTable`]: components one by one (`Real x, y` are two), nested classes with their
//! indices, `extends` and `import` clauses, all in the order written. A short class `A = B(...)` has one `extends` clause and
//! no elements (MLS 3.6 §4.6.1).
//!
//! The invariant that makes large models cheap: what depends on the text of a class only is computed here, once per class; an
//! instance adds indices to it.

use std::sync::Arc;

use acausal_base::{Diagnostic, Name, Span};
use acausal_syntax::ast::{self, Expr, Path, Prefixes, TypePrefix, Visibility};
use rustc_hash::FxHashMap;

use super::modifier::{Deselected, Modifier};
use super::tree::ClassId;

/// Elements of one class.
#[derive(Debug, Default)]
pub(crate) struct ElementTable {
    /// In the order written; `extends` clauses have their place in it.
    pub items: Vec<ElementDecl>,
    /// Index into `items` of components and classes.
    pub by_name: FxHashMap<Name, u32>,
    /// Imported names (MLS 3.6 §13.2.1): qualified, renamed and listed ones.
    pub imports: FxHashMap<Name, Arc<[Name]>>,
    /// Packages imported with `.*`, with the place of the clause.
    pub open_imports: Vec<(Arc<[Name]>, Span)>,
    /// Mistakes in the class; kept here so that they are told again for the next model.
    pub diagnostics: Vec<Diagnostic>,
}

/// One element.
#[derive(Debug, Clone)]
pub(crate) enum ElementDecl {
    Component(Arc<ComponentDecl>),
    Class(Arc<ClassDecl>),
    Extends(Arc<ExtendsDecl>),
}

/// One component declaration.
#[derive(Debug)]
pub(crate) struct ComponentDecl {
    pub name: Name,
    pub name_span: Span,
    /// Shared by the components of a clause.
    pub clause: Arc<ClauseDecl>,
    /// Dimensions behind the name.
    pub subscripts: Box<[Arc<Expr>]>,
    pub modifier: Option<Arc<Modifier>>,
    pub condition: Option<Arc<Expr>>,
    pub span: Span,
    pub description: Option<Arc<ast::Description>>,
}

/// What the components of one clause have in common.
#[derive(Debug)]
pub(crate) struct ClauseDecl {
    pub prefixes: Prefixes,
    pub prefix: TypePrefix,
    pub visibility: Visibility,
    pub type_name: Path,
    /// Dimensions behind the type.
    pub subscripts: Box<[Arc<Expr>]>,
    pub constraint: Option<Arc<ConstrainingDecl>>,
}

/// A nested class or a redeclared one.
#[derive(Debug)]
pub(crate) struct ClassDecl {
    pub name: Name,
    pub name_span: Span,
    pub class: ClassId,
    pub prefixes: Prefixes,
    pub visibility: Visibility,
    pub constraint: Option<Arc<ConstrainingDecl>>,
    /// `class extends A`: builds on the inherited class of the same name.
    pub extends_inherited: bool,
}

/// `constrainedby A(...)`.
#[derive(Debug)]
pub(crate) struct ConstrainingDecl {
    pub base: Path,
    pub modifier: Option<Arc<Modifier>>,
}

/// `extends A(...)`, or what stands behind `=` in a short class.
#[derive(Debug)]
pub(crate) struct ExtendsDecl {
    pub base: Path,
    pub modifier: Option<Arc<Modifier>>,
    pub visibility: Visibility,
    pub deselected: Deselected,
    /// For a short class: names are looked up outside of it (MLS 3.6 §4.6.1).
    pub short: Option<ShortDecl>,
    pub span: Span,
}

/// The rest of a short class.
#[derive(Debug)]
pub(crate) struct ShortDecl {
    pub causality: Option<ast::CausalityPrefix>,
    pub subscripts: Box<[Arc<Expr>]>,
}

impl ElementDecl {
    /// Name, place of the name and visibility; none for `extends`.
    pub fn declared(&self) -> Option<(Name, Span)> {
        match self {
            ElementDecl::Component(decl) => Some((decl.name, decl.name_span)),
            ElementDecl::Class(decl) => Some((decl.name, decl.name_span)),
            ElementDecl::Extends(_) => None,
        }
    }
}
