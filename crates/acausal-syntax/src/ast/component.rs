//! Component clauses (MLS 3.6 A.2.4).

use std::sync::Arc;

use super::{Description, Expr, Ident, Modification, Path};
use acausal_base::span::Span;

node! {
    /// `parameter Real x, y`.
    ComponentClause {
        /// `flow`, `parameter`, `input`...
        prefix: TypePrefix,
        /// The type.
        type_name: Path,
        /// Dimensions written behind the type; they come before those of a component.
        subscripts: Vec<Expr>,
        /// The components, at least one.
        components: Vec<Component>,
    }
}

/// Prefixes of a type (MLS 3.6 §4.4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TypePrefix {
    /// `flow` or `stream`.
    pub flow: Option<FlowPrefix>,
    /// `discrete`, `parameter` or `constant`.
    pub variability: Option<VariabilityPrefix>,
    /// `input` or `output`.
    pub causality: Option<CausalityPrefix>,
}

/// Connector prefixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlowPrefix {
    /// `flow`
    Flow,
    /// `stream`
    Stream,
}

/// Variability prefixes (MLS 3.6 §4.5), from the least to the most variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VariabilityPrefix {
    /// `constant`
    Constant,
    /// `parameter`
    Parameter,
    /// `discrete`
    Discrete,
}

/// Causality prefixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CausalityPrefix {
    /// `input`
    Input,
    /// `output`
    Output,
}

node! {
    /// One component of a component clause.
    Component {
        /// Its name.
        name: Ident,
        /// Its own dimensions.
        subscripts: Vec<Expr>,
        /// Modification and binding.
        modification: Option<Modification>,
        /// `if ...`: whether it exists.
        condition: Option<Box<Expr>>,
        /// Description and annotation, if there are any. Shared, so that whoever needs them can let the rest of the tree go.
        description: Option<Arc<Description>>,
    }
}
