//! The special index-one form `x = [x_d; x_a; λ_int; μ_int]`, `[f_d(x', x, t); f_c(x, t)] = 0` by parts, and the final
//! sorting of all equations.

use super::Selection;
use crate::blt::{Blocks, Unbalanced, blocks};
use crate::flow::{Flow, Graph};
use crate::pantelides::Differentiated;
use crate::{EqId, VarId};

/// All equations but the unsolved constraints, sorted with the states known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sorted {
    /// Blocks in solving order, over the equations and variables of the differentiated system.
    pub blocks: Blocks,
    /// Per variable: whether it is or depends on the derivative of a state (false for states).
    pub dynamic: Vec<bool>,
}

/// Sorts all equations (all levels) with the states known: matching and strong components once more. This is needed
/// because a constraint of an early block may use what a later block computes.
///
/// # Errors
/// If the selection does not belong to the system, so that no complete matching exists.
pub fn sort(d: &Differentiated, selection: &Selection) -> Result<Sorted, Unbalanced> {
    let mut is_state = vec![false; d.graph.vlen.len()];
    for v in &selection.states {
        is_state[v.index()] = true;
    }
    // Unsolved constraints hold states only; they determine nothing, so they take no part.
    let mut graph = Graph {
        elen: d.graph.elen.clone(),
        vlen: d.graph.vlen.clone(),
        ..Graph::default()
    };
    let mut left_out = vec![false; d.graph.elen.len()];
    for e in selection
        .constraints
        .iter()
        .chain(&selection.constraint_derivatives)
    {
        left_out[e.index()] = true;
        graph.elen[e.index()] = 0;
    }
    for (e, row) in d.graph.incidence.iter().enumerate() {
        graph
            .incidence
            .push(row.iter().copied().filter(|_| !left_out[e]));
    }
    let flow = Flow::maximum(&graph, |v| !is_state[v.index()]);
    let all = blocks(&graph, &flow, |v| !is_state[v.index()])?;
    let var_integral = d.var_integral();
    let mut sorted = Sorted {
        blocks: Blocks::default(),
        dynamic: vec![false; d.graph.vlen.len()],
    };
    for (equations, unknowns) in all.iter() {
        if left_out[equations[0].index()] {
            continue;
        }
        let differential = |v: &VarId| var_integral[v.index()].is_some_and(|i| is_state[i.index()]);
        let used = equations.iter().flat_map(|e| graph.row(*e));
        let dynamic =
            unknowns.iter().any(differential) || used.clone().any(|v| sorted.dynamic[v.index()]);
        for v in unknowns {
            sorted.dynamic[v.index()] = dynamic;
        }
        sorted
            .blocks
            .push(equations.iter().copied(), unknowns.iter().copied());
    }
    Ok(sorted)
}

/// The parts of the index-one form, with the number of scalar unknowns and equations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// States, in ascending order.
    pub xd: Vec<VarId>,
    /// Algebraic unknowns whose equations depend on no derivative.
    pub xa: Vec<VarId>,
    /// Algebraic unknowns that enter as der(λ_int).
    pub lambda: Vec<VarId>,
    /// Number of μ: one per element of [`Form::der1`].
    pub mu: u64,
    /// States whose derivative is a state too, or is given by an equation: `der(x)[first] = x[second]` is an equation of its own, because `x[second]`
    /// and the slope of `x[first]` in the integrator are different things.
    pub der_relations: Vec<(VarId, VarId)>,
    /// Residuals that depend on derivatives.
    pub r0d: Vec<EqId>,
    /// Residuals that do not.
    pub r0a: Vec<EqId>,
    /// Constraints.
    pub der0: Vec<EqId>,
    /// Derivatives of constraints.
    pub der1: Vec<EqId>,
    /// Scalar length of xd, xa and λ together.
    pub variables: u64,
    /// Scalar equations f_d.
    pub fd: u64,
    /// Scalar equations f_c.
    pub fc: u64,
}

impl Form {
    /// Length of x.
    pub fn unknowns(&self) -> u64 {
        self.variables + self.mu
    }

    /// Whether there are as many equations as unknowns (always, for a result of [`super::select`]).
    pub fn is_square(&self) -> bool {
        self.unknowns() == self.fd + self.fc
    }
}

impl Selection {
    /// Lists and counts the parts of the index-one form.
    pub fn form(&self, d: &Differentiated, sorted: &Sorted) -> Form {
        let mut given = vec![false; d.graph.vlen.len()];
        let solved = self.dummies.iter().chain(&self.explicit).map(|p| &p.1);
        let in_sets = self.linear.iter().flat_map(|l| &l.unknowns);
        for v in self.states.iter().chain(solved).chain(in_sets) {
            given[v.index()] = true;
        }
        let (lambda, xa) = self.torn.iter().partition(|v| sorted.dynamic[v.index()]);
        // A residual depends on derivatives if it uses a dynamic variable (or determines one: its own block does).
        let dynamic = |e: &EqId| d.graph.row(*e).iter().any(|v| sorted.dynamic[v.index()]);
        let (r0d, r0a): (Vec<EqId>, Vec<EqId>) = self.residuals.iter().partition(|e| dynamic(e));
        let der_relations: Vec<(VarId, VarId)> = self
            .states
            .iter()
            .filter_map(|&v| d.var_derivative[v.index()].map(|w| (v, w)))
            .filter(|(_, w)| given[w.index()])
            .collect();
        let supply = |l: &[EqId]| -> u64 { l.iter().map(|e| d.graph.elen[e.index()]).sum() };
        let length = |l: &[VarId]| -> u64 { l.iter().map(|v| d.graph.vlen[v.index()]).sum() };
        let relations: u64 = der_relations
            .iter()
            .map(|(v, _)| d.graph.vlen[v.index()])
            .sum();
        let mut form = Form {
            xd: self.states.clone(),
            xa,
            lambda,
            mu: supply(&self.constraint_derivatives),
            der_relations,
            r0d,
            r0a,
            der0: self.constraints.clone(),
            der1: self.constraint_derivatives.clone(),
            variables: length(&self.states) + length(&self.torn),
            fd: 0,
            fc: 0,
        };
        form.fd = supply(&form.r0d) + relations;
        form.fc = supply(&form.r0a) + supply(&form.der0) + supply(&form.der1);
        form
    }
}
