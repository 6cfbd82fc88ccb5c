//! Compiled evaluation of kernels: the interpreter and the machine-code backend.
pub mod kernel;
