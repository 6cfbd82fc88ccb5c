//! Array expressions and the flat model.
//!
//! Expressions live in one hash-consed arena ([`Exprs`]): equal expressions are the same [`ExprId`], children come
//! before parents, so every pass is a loop over ascending indices and none recurses. Arrays are scalar bodies under
//! iterators (see [`node`]).
//!
//! This is the data: nodes, constructors whose normal form is decided by a look at the operands, text and values. A compiled
//! model carries it to the simulation. What makes new expressions by a walk over old ones (derivatives, substitution,
//! solve-for) is calculus, which only the compiler needs: `acausal-symbolic`.
//!
//! | what | module |
//! |---|---|
//! | kinds of nodes | [`node`]; in memory: `packed` |
//! | the arena | `arena`: [`Exprs`]; its hash table: `table` |
//! | constructors in normal form | `build`; sums and products: `arithmetic` |
//! | walks without recursion | [`visit`] |
//! | affine subscripts, sets of elements | `affine`: [`Affine`], [`subscripts`] |
//! | the flat model | [`flat`]; names: `var_name`; unknowns and rows of the index-one form: [`unknown`] |
//! | what is left of it when it is compiled | `symbols`: [`Symbols`] |
//! | what the compiler took for granted about parameters | [`assumption`] |
//! | printing | `print`: [`Printer`]; names and literals: `literal`; numbers: `text` |
//! | values of expressions | `evaluate`: [`ScalarValue`]; exact Integers: `integer` |
//! | bounds of partial derivatives | `derivative_bounds`: [`derivative_bound`] |
//! | functions of the model, interpreted | `run_function`: [`Functions`] |
//! | external functions and objects | [`native`] |
//! | what a model may cost | [`limits`]: [`Limits`], [`memory`] |
//!
//! ```
//! use acausal_expr::{Exprs, ValueKind, Ty, VarId};
//! let mut e = Exprs::default();
//! let x = e.scalar_var(VarId(0), ValueKind::Value, Ty::Real);
//! let two = e.int(2);
//! let square = e.pow(x, two);
//! let sum = e.add(&[square, square]);
//! let same = e.mul(&[two, square]);
//! assert_eq!(sum, same); // like terms are collected, equal expressions are shared
//! ```

mod affine;
mod arena;
mod arithmetic;
pub mod assumption;
mod build;
mod derivative_bounds;
mod evaluate;
pub mod flat;
mod integer;
pub mod limits;
mod literal;
pub mod memory;
pub mod native;
pub mod node;
mod packed;
mod print;
mod run_function;
pub mod subscripts;
mod symbols;
mod table;
mod text;
pub mod unknown;
mod var_name;
pub mod visit;

pub use acausal_base::ThinVec;
pub use affine::Affine;
pub use arena::Exprs;
pub use arithmetic::Num;
pub use derivative_bounds::{Interval, derivative_bound, magnitude};
pub use evaluate::{EvalError, ScalarValue, apply_builtin, compare};
pub use integer::LARGEST_INTEGER;
pub use limits::Limits;
pub use literal::{identifier, print_real, string_literal};
pub use node::{
    Access, Builtin, ExprId, FuncId, IterId, List, Node, Range, ReduceOp, RelOp, StrId, Ty,
    ValueKind, VarId,
};
pub use print::{Declarations, Printer};
pub use run_function::{FunctionError, Functions, NOT_ASSIGNED, run_function};
pub use symbols::Symbols;
pub use text::{format_number, format_printf};
