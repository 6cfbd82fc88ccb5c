//! Which variables become states, and what each equation is solved for (Otter & Elmqvist 2017, §4.6).
//!
//! | what | module |
//! |---|---|
//! | how far apart the elements are that an equation relates | [`distances`] |
//! | wishes of the user, and ties | [`preferences`] |
//! | which equation can be solved for which variable | [`solvable`] |

pub(crate) mod distances;
pub(crate) mod preferences;
pub(crate) mod solvable;
