//! From the flat model to the special index-one DAE.
//!
//! The folders are the stages of the transformation, in the words of Otter & Elmqvist, *Transformation of Differential
//! Array Equations to Index One Form* (Modelica Conference 2017); [`transform`] calls them in order.
//!
//! | what | module |
//! |---|---|
//! | the stages in order | `transform` |
//! | the choices of the user | `options`: [`Options`] |
//! | the time of each stage | `passes` |
//! | long products, cut into parts | `products` |
//! | equations of discrete variables, their start, derivatives that initial equations ask for | `discrete` |
//! | variables that equal others | `aliases` |
//! | redundant equations and hidden constraints | `singularities` |
//! | arrays cut into pieces that behave alike | `segments` |
//! | equations that are differentiated | `index_reduction` |
//! | states, and what equations are solved for | `state_selection` |
//! | unknowns, local assignments, residuals | `emission` |
//! | what was done, in the user's names | `report` |
//! | the result | `dae`: [`IndexOneDae`] |

mod aliases;
mod dae;
mod discrete;
mod emission;
mod index_reduction;
mod options;
mod passes;
mod products;
mod report;
mod segments;
mod singularities;
mod state_selection;
mod transform;

pub use acausal_symbolic::Local;
pub use dae::{Continuity, DiscreteEquation, IndexOneDae, Residual};
pub use options::{Aliases, Options};
pub use report::{BlockReport, FinalForm, FormReport, Report, StepReport};
pub use singularities::Regularised;
pub use transform::{transform, transform_noted, transform_with};
