//! Structural algorithms for differential-algebraic equations, on graphs only.
//!
//! An equation-based model is a set of (array) equations in (array) unknowns and their derivatives. Before anything is
//! computed, its *structure* says which equations must be differentiated, what can be solved for what and in which
//! order, and where it is singular. This crate works on that structure: numbers, lengths, incidence and integers. It
//! knows no modelling language and no expressions, so any tool that handles such equations can use it.
//!
//! | question | module |
//! |---|---|
//! | which equation determines which unknown? | [`matching`] (scalars), [`flow`] (arrays, as capacities) |
//! | what is over- or under-determined? is the index finite? | [`dulmage_mendelsohn`] |
//! | which equations must be differentiated? | [`pantelides`] |
//! | in which order are they solved, what are the loops and constraint sets? | [`blt`] |
//! | which unknowns of a loop must be iterated? | [`tearing`] |
//! | which states, which dummy states, how large is the index-one form? | [`state_selection`] |
//! | are there singularities in the connection equations? | [`integer_elimination`] |
//! | lengths, incidence and colours that the array algorithms share | `graph` |
//! | all of this for long arrays, independent of their length? | [`segments`] |
//!
//! The algorithms follow Otter & Elmqvist, *Transformation of Differential Array Equations to Index One Form* (Modelica
//! Conference 2017), with the corrections given in the modules. All are deterministic (nothing depends on hash order),
//! none recurses (a chain of a million equations is ordinary input), and nearly all are linear in the incidence.
//!
//! # A first example
//! The pendulum in Cartesian coordinates: `der(x) = vx`, `der(y) = vy`, `der(vx) = F*x`, `der(vy) = F*y - g`,
//! `x^2 + y^2 = 1`.
//! ```
//! use acausal_structure::{EqId, VarId, blt, flow::Graph, pantelides::{NodeDae, pantelides}, tearing::tear};
//! use acausal_structure::state_selection::{Preferences, select, sort};
//!
//! // Variables 0..4 are x, y, vx, vy; 4..8 their derivatives; 8 is F. One row per equation; all are scalar.
//! let rows: [&[usize]; 5] = [&[2, 4], &[3, 5], &[0, 6, 8], &[1, 7, 8], &[0, 1]];
//! let graph = Graph::new(&[1; 5], &[1; 9], &rows);
//! let derivative = (0..9).map(|v| (v < 4).then(|| VarId::new(v + 4))).collect();
//!
//! // The constraint is differentiated twice, the definitions of the velocities once.
//! let system = pantelides(&NodeDae { graph, derivative })?;
//! let times: Vec<usize> = (0..5).map(|e| system.differentiations(EqId(e))).collect();
//! assert_eq!(times, [1, 1, 0, 0, 2]);
//!
//! // The five highest-derivative equations are one loop, which one tearing variable opens.
//! let blocks = blt::highest_blocks(&system)?;
//! assert_eq!((blocks.len(), blocks.equations(0).len()), (1, 5));
//! let loop_ = tear(&system.graph.incidence, system.graph.vlen.len(), blocks.unknowns(0), blocks.equations(0), |_, _| true);
//! assert!(loop_.tearing.len() <= 2);
//!
//! // Only vx and vy may be solved for; the stabilised form has six equations with one multiplier of the constraint.
//! let solvable = |e: EqId, v: VarId| (e, v) == (EqId(0), VarId(2)) || (e, v) == (EqId(1), VarId(3));
//! let selection = select(&system, &blocks, &Preferences::default(), solvable, |_| false);
//! let form = selection.form(&system, &sort(&system, &selection)?);
//! assert_eq!((form.unknowns(), form.mu), (6, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod blt;
pub mod dulmage_mendelsohn;
pub mod flow;
mod graph;
pub mod integer_elimination;
pub mod pantelides;
pub mod segments;
pub mod state_selection;
pub mod tearing;

pub use acausal_graph::{EqId, Rows, VarId, matching};
