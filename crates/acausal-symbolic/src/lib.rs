//! Calculus on the expressions of `acausal-expr`: what the compiler does with equations and a simulation never does.
//!
//! Expressions themselves are data that travels with a compiled model: messages show them, Strings and functions are
//! evaluated from them. Whatever makes new expressions out of old ones by a walk over them is here, as one trait for each
//! module that adds methods to [`Exprs`](acausal_expr::Exprs), or as a function.
//!
//! | what | module |
//! |---|---|
//! | relations of an iterator, over a whole range | `affine_relation`: [`AffineRelation`] |
//! | which elements `when` clauses assign | `assigned`: [`Assigned`] |
//! | Integers that must not be rounded | `checked_integers`: [`checked_integers()`] |
//! | derivatives, forward | `differentiate`: [`Differentiate`] |
//! | equations cut where arrays are irregular | `domain`: [`split_equation`] |
//! | elements of array accesses over a domain | [`elements`] |
//! | a number that tells models apart | `fingerprint`: [`fingerprint()`] |
//! | derivatives, backward | `gradient`: [`Gradient`], `gradient_chain` for `if … elseif …` |
//! | long reductions as variables of their own | `hoist`: [`hoist_reductions()`], [`auxiliary()`] |
//! | sums and products over iterators | `reduction`: [`Reduce`] |
//! | linear forms, solve-for | `solve`: [`Solve`] |
//! | replacing parts | `substitute`: [`Substitute`] |
//!
//! ```
//! use acausal_expr::{Exprs, ValueKind, Ty, VarId};
//! use acausal_symbolic::{Differentiate, Solve};
//! let mut e = Exprs::default();
//! let [x, y] = [0, 1].map(|k| e.scalar_var(VarId(k), ValueKind::Value, Ty::Real));
//! let square = e.mul(&[x, x]);
//! let twice = e.add(&[x, x]);
//! assert_eq!(e.partial(square, x), twice);
//! let product = e.mul(&[x, y]);
//! let (solution, coefficient) = e.solve_for(product, square, y).expect("linear in y");
//! assert_eq!((solution, coefficient), (e.div(square, x), x));
//! ```

mod affine_relation;
mod assigned;
mod checked_integers;
mod differentiate;
mod domain;
pub mod elements;
mod fingerprint;
mod gradient;
mod gradient_chain;
mod hoist;
mod reduction;
mod solve;
mod substitute;

pub use affine_relation::AffineRelation;
pub use assigned::{Assigned, AssignedPart};
pub use checked_integers::checked_integers;
pub use differentiate::Differentiate;
pub use domain::split_equation;
pub use fingerprint::fingerprint;
pub use gradient::Gradient;
pub use hoist::{Local, auxiliary, hoist_reductions};
pub use reduction::Reduce;
pub use solve::Solve;
pub use substitute::Substitute;
