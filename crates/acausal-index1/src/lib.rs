//! acausal-index1
