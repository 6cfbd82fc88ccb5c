//! Segments against the scalarised model: orders, matching and blocks must agree, at a cost that does not grow with N.

mod families;
mod random;
mod scalarised;
mod selected;
