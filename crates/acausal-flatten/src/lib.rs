//! Flattening: from the instance tree to a flat model of array equations (MLS 3.6 §5.6).
//!
//! | step | module | gives |
//! |---|---|---|
//! | lower expressions | [`lower`] | typed, shaped values over [`acausal_expr::Exprs`] |
//! | execute functions | [`function`] | inlined calls, constant evaluation, run-time functions |
//! | connect | [`connect`] | equations of connection sets, kept as index ranges |
//! | algorithm sections | [`algorithm`] | equations and `when` clauses |
//! | take the clocks out | [`clock`] | discrete equations |
//! | put together | [`mod@flatten`] | [`acausal_expr::flat::FlatModel`] |
//!
//! The invariant of the whole crate: no step enumerates the elements of an array. `Resistor r[N]` is one instance, its
//! members are variables of shape `[N]`, its equations carry one iterator over `1:N`.

pub mod algorithm;
pub mod clock;
pub mod connect;
pub mod flatten;
pub mod function;
pub mod lower;

pub use flatten::{flatten, flatten_last, print_flat};
