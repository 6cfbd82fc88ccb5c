//! What several tests share.

#[allow(dead_code)]
pub mod mutate;
#[allow(dead_code)]
pub mod trees;
