//! acausal-sim
