//! Names that every model can use without declaring them: types and their attributes (MLS 3.6 §4.9), functions and
//! operators (§3.7, §8, §10.3, §16, §17).
//!
//! The predefined types are written in Modelica below and parsed like any class; what is special about them is the
//! [`PredefinedType`] that their class index maps to. They have no members: attributes are modifiers that only the predefined types know.

/// Predefined types that are not enumerations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PredefinedType {
    Real,
    Integer,
    Boolean,
    String,
    Clock,
    /// Base class of all external objects (MLS 3.6 §12.9.7).
    ExternalObject,
}

/// Top-level classes that exist before any file is loaded, with what is special about them.
pub(crate) const TYPES: [(&str, PredefinedType); 6] = [
    ("Real", PredefinedType::Real),
    ("Integer", PredefinedType::Integer),
    ("Boolean", PredefinedType::Boolean),
    ("String", PredefinedType::String),
    ("Clock", PredefinedType::Clock),
    ("ExternalObject", PredefinedType::ExternalObject),
];

/// Source of the predefined classes. The enumerations are those of MLS 3.6 §4.9.7.
pub(crate) const SOURCE: &str = r#"
type Real end Real;
type Integer end Integer;
type Boolean end Boolean;
type String end String;
type Clock end Clock;
partial class ExternalObject end ExternalObject;
type StateSelect = enumeration(
  never "Do not use as state at all",
  avoid "Use as state, if it cannot be avoided (but only if variable appears differentiated and no other potential state with attribute default, prefer, or always can be selected)",
  default "Use as state if appropriate, but only if variable appears differentiated",
  prefer "Prefer it as state over those having the default value (also variables can be selected, which do not appear differentiated)",
  always "Do use it as a state");
type AssertionLevel = enumeration(warning "Only a warning", error "Stops the simulation");
"#;

/// Attributes of the predefined types. Enumerations have those of [`ENUMERATION_ATTRIBUTES`].
pub(crate) fn attributes(of: PredefinedType) -> &'static [&'static str] {
    match of {
        PredefinedType::Real => &[
            "quantity",
            "unit",
            "displayUnit",
            "min",
            "max",
            "start",
            "fixed",
            "nominal",
            "unbounded",
            "stateSelect",
        ],
        PredefinedType::Integer => &["quantity", "min", "max", "start", "fixed"],
        PredefinedType::Boolean | PredefinedType::String => &["quantity", "start", "fixed"],
        PredefinedType::Clock | PredefinedType::ExternalObject => &[],
    }
}

/// Attributes of enumeration types.
pub(crate) const ENUMERATION_ATTRIBUTES: &[&str] = &["quantity", "min", "max", "start", "fixed"];

/// Functions and operators that a call may name anywhere. Sorted, for binary search.
///
/// `der`, `initial` and `pure` are keywords and never looked up. The record of an enumeration conversion (`Integer(e)`, `String(x)`)
/// is found as a type.
pub(crate) const FUNCTIONS: &[&str] = &[
    "abs",
    "acos",
    "activeState",
    "actualStream",
    "array",
    "asin",
    "assert",
    "atan",
    "atan2",
    "backSample",
    "cardinality",
    "cat",
    "ceil",
    "change",
    "cos",
    "cosh",
    "cross",
    "delay",
    "diagonal",
    "div",
    "edge",
    "exp",
    "fill",
    "firstTick",
    "floor",
    "getInstanceName",
    "hold",
    "homotopy",
    "identity",
    "inStream",
    "initialState",
    "integer",
    "interval",
    "linspace",
    "log",
    "log10",
    "matrix",
    "max",
    "min",
    "mod",
    "ndims",
    "noClock",
    "noEvent",
    "ones",
    "outerProduct",
    "pre",
    "previous",
    "product",
    "promote",
    "reinit",
    "rem",
    "rooted",
    "sample",
    "scalar",
    "semiLinear",
    "shiftSample",
    "sign",
    "sin",
    "sinh",
    "size",
    "skew",
    "smooth",
    "spatialDistribution",
    "sqrt",
    "subSample",
    "sum",
    "superSample",
    "symmetric",
    "tan",
    "tanh",
    "terminal",
    "terminate",
    "ticksInState",
    "timeInState",
    "transition",
    "transpose",
    "vector",
    "zeros",
];

/// The package of operators on connection graphs (MLS 3.6 §9.4.1): `Connections.branch(...)`.
pub(crate) const CONNECTIONS: &str = "Connections";

/// Its operators.
pub const CONNECTION_OPERATORS: &[&str] = &[
    "branch",
    "isRoot",
    "potentialRoot",
    "root",
    "rooted",
    "uniqueRoot",
    "uniqueRootIndices",
];

/// True for a name in [`FUNCTIONS`].
pub(crate) fn is_function(name: &str) -> bool {
    FUNCTIONS.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(FUNCTIONS.is_sorted());
        assert!(CONNECTION_OPERATORS.is_sorted());
        assert!(is_function("semiLinear") && !is_function("Semilinear"));
    }
}
