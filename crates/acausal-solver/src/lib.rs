//! acausal-solver
