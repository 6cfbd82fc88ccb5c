//! What a result holds besides numbers: names, units, kinds, and where each signal's values are stored.
//!
//! A simulation of a million signals has far fewer independent columns, because most variables of an acausal model
//! are aliases (`resistor.p.v` is `capacitor.n.v`) or parameters. A signal therefore names the [`SignalSource`] of its
//! values instead of owning them.

/// What the numbers of a signal mean; all are stored as `f64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SignalKind {
    /// `Real`.
    #[default]
    Real,
    /// `Integer`.
    Integer,
    /// `Boolean`, 0 or 1.
    Boolean,
    /// An enumeration literal by its ordinal, counted from 1 (MLS 3.6 §4.9.5).
    Enumeration,
}

/// Where the values of a signal come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SignalSource {
    /// A parameter or constant: one value for the whole run.
    Constant(f64),
    /// A column of the rows handed to [`ResultWriter::row`](crate::ResultWriter::row). Several signals may share one.
    Column {
        /// Position in the row.
        column: usize,
        /// The signal is the negative of the column.
        negated: bool,
    },
}

/// One named trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    /// Modelica element name, e.g. `r[3].v`.
    pub name: String,
    /// The description string of the declaration; may be empty.
    pub description: String,
    /// Unit in Modelica notation, e.g. `N.m`; may be empty.
    pub unit: String,
    /// What the numbers mean.
    pub kind: SignalKind,
    /// Where the numbers are.
    pub source: SignalSource,
}

impl Signal {
    /// A varying `Real` stored in `column`.
    pub fn column(name: impl Into<String>, column: usize) -> Self {
        Self::alias(name, column, false)
    }

    /// A varying `Real` equal to `column`, or to its negative.
    pub fn alias(name: impl Into<String>, column: usize, negated: bool) -> Self {
        Self::with_source(name.into(), SignalSource::Column { column, negated })
    }

    /// A parameter or constant.
    pub fn constant(name: impl Into<String>, value: f64) -> Self {
        Self::with_source(name.into(), SignalSource::Constant(value))
    }

    /// Sets the unit.
    #[must_use]
    pub fn with_unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = unit.into();
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the kind.
    #[must_use]
    pub fn with_kind(mut self, kind: SignalKind) -> Self {
        self.kind = kind;
        self
    }

    /// Whether the signal is one value for the whole run.
    pub fn is_constant(&self) -> bool {
        matches!(self.source, SignalSource::Constant(_))
    }

    fn with_source(name: String, source: SignalSource) -> Self {
        Self {
            name,
            description: String::new(),
            unit: String::new(),
            kind: SignalKind::Real,
            source,
        }
    }
}

/// `-v` when `negated`, without turning 0 into -0.
pub(crate) fn signed(v: f64, negated: bool) -> f64 {
    if negated { 0.0 - v } else { v }
}

/// How long a row must be to serve all `signals`.
pub(crate) fn columns_needed(signals: &[Signal]) -> usize {
    signals
        .iter()
        .map(|s| match s.source {
            SignalSource::Constant(_) => 0,
            SignalSource::Column { column, .. } => column + 1,
        })
        .max()
        .unwrap_or(0)
}

/// Which run produced the result. Stored where the format has a place for it (Parquet metadata, plot titles).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunInfo {
    /// Full name of the simulated model.
    pub model: String,
    /// Program and version that wrote the result.
    pub generator: String,
}

impl RunInfo {
    /// A run of `model`, written by this version of the program.
    pub fn new(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            generator: concat!("acausal ", env!("CARGO_PKG_VERSION")).to_string(),
        }
    }
}
