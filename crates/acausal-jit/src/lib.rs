//! acausal-jit
