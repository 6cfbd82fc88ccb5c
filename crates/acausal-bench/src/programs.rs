//! Where the C programs of the baseline are, as options of the commands that run them.

use std::path::PathBuf;

use crate::root;

/// The C programs of the baseline.
#[derive(Clone, Debug, clap::Args)]
pub struct Programs {
    /// Directory with `build.sh`, which builds the C programs.
    #[arg(long, value_name = "DIR", env = "ACAUSAL_YARDSTICK", default_value_os_t = root().join("../shared/bench/ida-baseline"))]
    pub baseline: PathBuf,
    /// Where the C programs are built.
    #[arg(long, value_name = "DIR", default_value_os_t = root().join("target/ida-baseline"))]
    pub build: PathBuf,
}
