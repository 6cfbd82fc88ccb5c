//! Expressions of the syntax tree to scalar bodies under iterators.
