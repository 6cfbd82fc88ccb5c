//! The private part of an instance.

/// What the instance tree keeps per instance besides the public facts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Body {}
