//! acausal-kernel
