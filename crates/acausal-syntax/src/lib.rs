//! acausal-syntax
