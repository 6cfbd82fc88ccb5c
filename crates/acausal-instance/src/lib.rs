//! Classes and their instances: what every name of a Modelica text means (MLS 3.6 §5, §7, §13).
//!
//! | step | module | gives |
//! |---|---|---|
//! | find and load classes | [`class`] | a tree of classes, libraries loaded on demand |
//! | instantiate | [`instance`] | components, modifications, redeclarations, inner/outer |
//!
//! Nothing is evaluated here: sizes, conditions and values are expressions with the [`Scope`](instance::Scope) they stand in. The language
//! makes this border possible: no condition, size or value decides which class a name means (MLS 3.6 §5.3), so instances
//! never ask for the value of an expression. What needs values is left to the flattening, in a crate of its own, which asks the instance tree and is
//! never asked by it.
//!
//! The invariant: an array of components is one instance, whatever its size.

pub mod class;
pub mod instance;
