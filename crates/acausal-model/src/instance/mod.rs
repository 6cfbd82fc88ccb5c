//! Instances of classes with their modifications (MLS 3.6 §5.6, §7).
