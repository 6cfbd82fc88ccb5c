//! Modelica semantics: from syntax trees to a flat model of array equations (MLS 3.6).
//!
//! | step | module | gives |
//! |---|---|---|
//! | find and load classes | [`class`] | a tree of classes, libraries loaded on demand |
//! | instantiate | [`instance`] | components, modifications, redeclarations, inner/outer; evaluates nothing |
//! | lower expressions | [`lower`] | typed, shaped values over [`acausal_expr::Exprs`] |
//! | execute functions | [`function`] | inlined calls, constant evaluation, run-time functions |
//! | connect | [`connect`] | equations of connection sets, kept as index ranges |
//! | algorithm sections | [`algorithm`] | equations and `when` clauses |
//! | take the clocks out | [`clock`] | discrete equations |
//! | put together | [`flatten`] | [`acausal_expr::flat::FlatModel`] |
//!
//! The invariant of the whole crate: no step enumerates the elements of an array. `Resistor r[N]` is one instance, its
//! members are variables of shape `[N]`, its equations carry one iterator over `1:N`.

pub mod algorithm;
pub mod class;
pub mod clock;
pub mod connect;
pub mod flatten;
pub mod function;
pub mod instance;
pub mod lower;
