//! acausal-expr
