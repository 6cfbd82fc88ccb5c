//! Array expressions and the flat model.
//!
//! Expressions live in one hash-consed arena ([`Exprs`]): equal expressions are the same [`ExprId`], children come
//! before parents, so every pass is a loop over ascending indices and none recurses. Arrays are scalar bodies under
//! iterators (see [`node`]).
//!
//! ```
//! use acausal_expr::{Exprs, Kind, Ty, VarId};
//! let mut e = Exprs::default();
//! let x = e.scalar_var(VarId(0), Kind::Value, Ty::Real);
//! let two = e.int(2);
//! let square = e.pow(x, two);
//! let sum = e.add(&[square, square]);
//! let same = e.mul(&[two, square]);
//! assert_eq!(sum, same); // like terms are collected, equal expressions are shared
//! ```

mod affine;
mod arena;
mod assigned;
mod build;
mod differentiate;
mod domain;
mod evaluate;
pub mod fingerprint;
pub mod flat;
mod gradient;
mod gradient_chain;
mod integer;
pub mod limits;
pub mod memory;
pub mod native;
pub mod node;
mod packed;
mod print;
mod run_function;
mod solve;
pub mod subscripts;
mod substitute;
mod symbols;
mod table;
mod text;
pub mod unknown;
mod var_name;
mod visit;

pub use acausal_base::Few;
pub use affine::Affine;
pub use arena::Exprs;
pub use assigned::{Assigned, AssignedPart};
pub use domain::{AffineRelation, split_equation};
pub use evaluate::{EvalError, Value, apply_builtin};
pub use integer::LARGEST_INTEGER;
pub use limits::Limits;
pub use node::{
    Access, Builtin, ExprId, FuncId, IterId, Kind, List, Node, Range, ReduceOp, RelOp, StrId, Ty,
    VarId,
};
pub use print::{Printer, Scope, identifier, print_real, string_literal};
pub use run_function::{FunctionError, Functions, run_function};
pub use symbols::Symbols;
pub use text::{format_number, format_printf};
