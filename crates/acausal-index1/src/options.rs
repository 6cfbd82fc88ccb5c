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
    /// Which variables that equal others are left out of the analysis.
    pub aliases: Aliases,
}

/// When variables that equal others are taken out before the analysis. Trajectories do not depend on it (`tests/all/aliases.rs`), but which currents of a loop are
/// iterated on does, and so may whether Newton's method finds a start from guesses of zero (`TwoBitAdder` of the test set: only with its aliases).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aliases {
    /// From [`Scale::aliases_from`] scalar equations on, where they decide about the time of the analysis.
    #[default]
    OfLargeModels,
    /// Always.
    All,
    /// Never: the oracle.
    None,
}
