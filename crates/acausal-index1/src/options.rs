//! The choices of the user.

use acausal_base::Scale;

/// Choices of the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Work on single elements instead of arrays: the oracle for the array passes.
    pub scalarise: bool,
    /// Keep all constraints and stabilise them: the full form (17).
    pub no_state_selection: bool,
    /// Leave every loop of algebraic unknowns to the solver as it is: the oracle for tearing.
    pub no_tearing: bool,
    /// In the full form: a name for a derivative (`v = der(x)`) is no unknown of its own. With state selection it never
    /// is.
    pub derivative_names: bool,
    /// Variables that shall be states if possible, by name.
    pub prefer_states: Vec<String>,
    /// From which size on the same is done otherwise.
    pub scale: Scale,
    /// Leave variables that equal others in the analysis: the oracle for aliases.
    pub keep_aliases: bool,
}
