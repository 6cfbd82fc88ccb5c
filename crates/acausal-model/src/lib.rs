//! acausal-model
