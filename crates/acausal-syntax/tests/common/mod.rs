//! What several tests share.

pub mod trees;
