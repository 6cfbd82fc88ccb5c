//! acausal-structure
