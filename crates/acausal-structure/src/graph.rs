//! The graph that all array algorithms share: lengths and incidence, and colours on it.

use crate::{EqId, Rows, VarId};

/// Array equations and variables with their lengths, and who contains whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Number of scalar elements of each equation.
    pub elen: Vec<u64>,
    /// Number of scalar elements of each variable.
    pub vlen: Vec<u64>,
    /// The variables that each equation contains.
    pub incidence: Rows<VarId>,
}

impl Graph {
    /// A graph from plain numbers (one incidence row per equation).
    ///
    /// # Panics
    /// If the number of rows differs from the number of equation lengths, or a row names a variable that is not there.
    pub fn new(elen: &[u64], vlen: &[u64], rows: &[&[usize]]) -> Self {
        assert_eq!(elen.len(), rows.len(), "one incidence row per equation");
        assert!(
            rows.iter().all(|r| r.iter().all(|&v| v < vlen.len())),
            "unknown variable in an incidence row"
        );
        Graph {
            elen: elen.to_vec(),
            vlen: vlen.to_vec(),
            incidence: Rows::of(rows),
        }
    }

    /// A graph of scalars.
    pub fn scalar(incidence: Rows<VarId>, variables: usize) -> Self {
        Graph {
            elen: vec![1; incidence.len()],
            vlen: vec![1; variables],
            incidence,
        }
    }

    /// Appends an equation.
    pub fn add_equation(
        &mut self,
        length: u64,
        variables: impl IntoIterator<Item = VarId>,
    ) -> EqId {
        self.elen.push(length);
        EqId::new(self.incidence.push(variables))
    }

    /// Appends a variable.
    pub fn add_variable(&mut self, length: u64) -> VarId {
        self.vlen.push(length);
        VarId::new(self.vlen.len() - 1)
    }

    /// The variables of equation `e`.
    pub fn row(&self, e: EqId) -> &[VarId] {
        self.incidence.row(e.index())
    }
}

/// Equations and variables met by a search, in the order of discovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// The equations.
    pub equations: Vec<EqId>,
    /// The variables.
    pub variables: Vec<VarId>,
}

/// Colours that are cleared in constant time by starting a new epoch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    epoch: u32,
    equations: Vec<u32>,
    variables: Vec<u32>,
}

impl Marks {
    /// Everything uncoloured, for a graph of this size.
    pub(crate) fn clear(&mut self, graph: &Graph) {
        self.epoch += 1;
        self.equations.resize(graph.elen.len(), 0);
        self.variables.resize(graph.vlen.len(), 0);
    }

    /// Colours an equation; true if it was not coloured.
    pub(crate) fn equation(&mut self, e: EqId) -> bool {
        std::mem::replace(&mut self.equations[e.index()], self.epoch) != self.epoch
    }

    /// Colours a variable; true if it was not coloured.
    pub(crate) fn variable(&mut self, v: VarId) -> bool {
        std::mem::replace(&mut self.variables[v.index()], self.epoch) != self.epoch
    }
}
