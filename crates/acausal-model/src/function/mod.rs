//! Calls of user functions (MLS 3.6 §12).
