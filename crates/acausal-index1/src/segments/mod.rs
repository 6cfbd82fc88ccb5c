//! Array equations and variables cut into pieces that behave alike, and what touches what (Otter & Elmqvist 2017, §4).
//!
//! | what | module |
//! |---|---|
//! | who touches whom, as a model of arrays for `acausal_structure::segments` | [`incidence`] |
//! | the pieces as nodes of one graph, after index reduction | [`nodes`] |
//! | one equation per element: the oracle and the last resort | [`scalarise`] |

pub(crate) mod incidence;
pub(crate) mod nodes;
pub(crate) mod scalarise;
