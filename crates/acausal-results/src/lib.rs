//! acausal-results
