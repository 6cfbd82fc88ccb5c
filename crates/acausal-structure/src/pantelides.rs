//! Index reduction: which (array) equations must be differentiated, and how often (Pantelides 1988; arrays: Otter &
//! Elmqvist 2017, §4.2-4.3, here in capacity form).
//!
//! In: a [`NodeDae`], i.e. a [`Graph`] plus the association vector A (`derivative[v]` is the variable that is the time
//! derivative of v; chains x -> der x -> der2 x are allowed). Out: [`Differentiated`]: the graph with the derivative
//! variables and equations appended, A and B, a complete flow of the highest-derivative equations into the
//! highest-derivative variables, and the list of [`Step`]s: every differentiation with the over-determined set that
//! called for it. If no number of differentiations helps, the finite-index check says so with the culprits.
//!
//! Method, in rounds: find a maximum flow of the newest equations into the variables without derivative (Dinic, warm
//! start). Whatever alternating paths reach from an unassigned equation is structurally over-determined: differentiate
//! all of it once, move the flow to the derivatives, repeat. Invariant: only equations that *must* be differentiated
//! are, so the counts do not depend on the order of the equations. The work per round is proportional to the part that
//! is searched; nothing depends on the array lengths.
//!
//! Worked example, the pendulum: `x' = w; y' = z; w' = T x; z' = T y - g; x^2 + y^2 = 1`. The last equation holds no
//! highest derivative at all: differentiate it. Its derivative contains x' and y', which the first two equations have
//! taken, three equations for two unknowns: differentiate these three. Now all is assigned.
//! ```
//! use acausal_structure::{EqId, VarId, flow::Graph, pantelides::{NodeDae, pantelides}};
//! // 0..4 = x y w z, 4..8 = their derivatives, 8 = T
//! let g = Graph::new(&[1; 5], &[1; 9], &[&[2, 4], &[3, 5], &[0, 6, 8], &[1, 7, 8], &[0, 1]]);
//! let a = (0..9).map(|v| (v < 4).then(|| VarId::new(v + 4))).collect();
//! let d = pantelides(&NodeDae { graph: g, derivative: a }).unwrap();
//! assert_eq!((0..5).map(|e| d.differentiations(EqId(e))).collect::<Vec<_>>(), [1, 1, 0, 0, 2]);
//! assert_eq!(d.steps[0].equations, [EqId(4)]);
//! assert_eq!(d.steps[1].equations, [EqId(0), EqId(1), EqId(5)]);
//! ```

use std::fmt;

use crate::dulmage_mendelsohn::{FiniteIndex, finite_index};
use crate::flow::{Flow, Graph};
use crate::graph::Marks;
use crate::{EqId, VarId};

/// A system with derivatives: the graph and, for each variable, the variable that is its time derivative (vector A).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeDae {
    /// Lengths and incidence.
    pub graph: Graph,
    /// A: the derivative of each variable, if it occurs.
    pub derivative: Vec<Option<VarId>>,
}

/// The differentiated system.
#[derive(Clone, Debug)]
pub struct Differentiated {
    /// Original and differentiated equations and variables, the original ones first and unchanged.
    pub graph: Graph,
    /// A: the derivative of each variable.
    pub var_derivative: Vec<Option<VarId>>,
    /// B: the derivative of each equation.
    pub eq_derivative: Vec<Option<EqId>>,
    /// Assignment of the equations with B = none to the variables with A = none (complete).
    pub flow: Flow,
    /// What was differentiated, and why, in order.
    pub steps: Vec<Step>,
    /// Number of equations before.
    pub original_equations: usize,
    /// Number of variables before.
    pub original_variables: usize,
}

/// One over-determined set; all its equations were differentiated once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The equation that found no variable.
    pub root: EqId,
    /// How many of its elements found none.
    pub missing: u64,
    /// The equations of the set, ascending. What an earlier step of the same round has taken is not repeated.
    pub equations: Vec<EqId>,
    /// The highest-derivative variables these equations have: fewer elements than the equations.
    pub variables: Vec<VarId>,
    /// Steps of one round were found together.
    pub round: u32,
}

/// The system stays singular however often its equations are differentiated.
#[derive(Clone, Debug)]
pub struct NotRegular(pub Box<FiniteIndex>);

impl fmt::Display for NotRegular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let r = &self.0;
        write!(
            f,
            "structurally singular: {} equations and {} unknowns in the extended system, but only {} can be matched",
            r.equations, r.variables, r.matched
        )
    }
}

impl std::error::Error for NotRegular {}

/// Differentiates what must be differentiated.
///
/// # Errors
/// If the extended system has no complete matching (Pantelides' termination criterion).
pub fn pantelides(dae: &NodeDae) -> Result<Differentiated, NotRegular> {
    let mut d = Differentiated {
        graph: dae.graph.clone(),
        var_derivative: dae.derivative.clone(),
        eq_derivative: vec![None; dae.graph.elen.len()],
        flow: Flow::default(),
        steps: Vec::new(),
        original_equations: dae.graph.elen.len(),
        original_variables: dae.graph.vlen.len(),
    };
    d.flow.grow(&d.graph);
    let mut visible: Vec<bool> = d.var_derivative.iter().map(Option::is_none).collect();
    let mut open: Vec<EqId> = (0..d.original_equations).map(EqId::new).collect();
    d.flow.maximise(&d.graph, &visible, &open);
    open.retain(|&e| d.flow.missing(e) > 0);
    let is_determined = |v: usize| !visible[v] || d.flow.spare(&d.graph, VarId::new(v)) == 0;
    if open.is_empty() && (0..visible.len()).all(is_determined) {
        return Ok(d); // then the extended system is regular too: each dummy equation takes its undifferentiated variable
    }
    let check = finite_index(&dae.graph, &dae.derivative);
    if !check.is_complete() {
        return Err(NotRegular(Box::new(check)));
    }
    // The rounds end because the extended system is regular.
    let mut marks = Marks::default();
    let mut position = Vec::new();
    for round in 0.. {
        if open.is_empty() {
            break;
        }
        marks.clear(&d.graph);
        let first = d.steps.len();
        for &root in &open {
            let mut set = d.flow.reach(&d.graph, &visible, &[root], &mut marks);
            if set.equations.is_empty() {
                continue; // reached from an earlier root of this round
            }
            set.equations.sort_unstable();
            set.variables.sort_unstable();
            let missing = d.flow.missing(root);
            d.steps.push(Step {
                root,
                missing,
                equations: set.equations,
                variables: set.variables,
                round,
            });
        }
        d.reserve_round(first);
        for step in first..d.steps.len() {
            for k in 0..d.steps[step].variables.len() {
                let v = d.steps[step].variables[k];
                let derivative = d.graph.add_variable(d.graph.vlen[v.index()]);
                d.var_derivative[v.index()] = Some(derivative);
                d.var_derivative.push(None);
                visible[v.index()] = false;
                visible.push(true);
            }
            // All variables of a round come before its equations: an equation may contain those of an earlier step.
        }
        for step in first..d.steps.len() {
            for k in 0..d.steps[step].equations.len() {
                let e = d.steps[step].equations[k];
                d.differentiate_equation(e, &mut position);
            }
        }
        for e in &mut open {
            *e = d.newest(*e);
        }
        d.flow.maximise(&d.graph, &visible, &open);
        open.retain(|&e| d.flow.missing(e) > 0);
    }
    Ok(d)
}

impl Differentiated {
    /// How often original equation `e` was differentiated.
    pub fn differentiations(&self, e: EqId) -> usize {
        std::iter::successors(self.eq_derivative[e.index()], |d| {
            self.eq_derivative[d.index()]
        })
        .count()
    }

    /// The highest derivative of equation `e`.
    pub fn newest(&self, e: EqId) -> EqId {
        let mut e = e;
        while let Some(d) = self.eq_derivative[e.index()] {
            e = d;
        }
        e
    }

    /// The equations with B = none: square and regular in the unknowns (10a).
    pub fn highest_equations(&self) -> impl Iterator<Item = EqId> + '_ {
        (0..self.eq_derivative.len())
            .filter(|&e| self.eq_derivative[e].is_none())
            .map(EqId::new)
    }

    /// Whether `v` has no derivative, i.e. is an unknown of the highest-derivative equations.
    pub fn is_highest(&self, v: VarId) -> bool {
        self.var_derivative[v.index()].is_none()
    }

    /// Inverse of A: the variable of which each variable is the derivative.
    pub fn var_integral(&self) -> Vec<Option<VarId>> {
        let mut inverse = vec![None; self.var_derivative.len()];
        for (v, d) in self.var_derivative.iter().enumerate() {
            if let Some(d) = d {
                inverse[d.index()] = Some(VarId::new(v));
            }
        }
        inverse
    }

    /// Inverse of B: the equation of which each equation is the derivative.
    pub fn eq_integral(&self) -> Vec<Option<EqId>> {
        let mut inverse = vec![None; self.eq_derivative.len()];
        for (e, d) in self.eq_derivative.iter().enumerate() {
            if let Some(d) = d {
                inverse[d.index()] = Some(EqId::new(e));
            }
        }
        inverse
    }

    /// Makes room for the derivatives of the steps from `first` on.
    fn reserve_round(&mut self, first: usize) {
        let steps = &self.steps[first..];
        let variables: usize = steps.iter().map(|s| s.variables.len()).sum();
        let equations: usize = steps.iter().map(|s| s.equations.len()).sum();
        let of = |e: &EqId| 2 * self.graph.incidence.slots(e.index()).len();
        let slots: usize = steps.iter().flat_map(|s| &s.equations).map(of).sum();
        self.graph.vlen.reserve(variables);
        self.graph.elen.reserve(equations);
        self.graph.incidence.reserve(equations, slots);
        self.var_derivative.reserve(variables);
        self.eq_derivative.reserve(equations);
        self.flow.reserve(equations, variables, slots);
    }

    /// Appends the derivative of `e`: the same variables and their derivatives, each once, in this order. The flow of
    /// `e` moves to it. `position` is scratch: where a variable stands in the new row.
    fn differentiate_equation(&mut self, e: EqId, position: &mut Vec<u32>) {
        const ABSENT: u32 = u32::MAX;
        position.resize(self.graph.vlen.len(), ABSENT);
        let old = self.graph.incidence.slots(e.index());
        let mut row: Vec<VarId> = Vec::with_capacity(2 * old.len());
        let mut add = |v: VarId| {
            if position[v.index()] == ABSENT {
                position[v.index()] = row.len() as u32;
                row.push(v);
            }
        };
        for &v in self.graph.row(e) {
            add(v);
        }
        for &v in self.graph.row(e) {
            // Every variable of a reached equation has a derivative: it had one before, or was reached too.
            add(self.var_derivative[v.index()].unwrap_or(v));
        }
        let first = self.graph.incidence.items().len();
        let derivative = self
            .graph
            .add_equation(self.graph.elen[e.index()], row.iter().copied());
        self.eq_derivative[e.index()] = Some(derivative);
        self.eq_derivative.push(None);
        self.flow.grow(&self.graph);
        for slot in old {
            let f = self.flow.take(&self.graph, slot);
            if f > 0 {
                let v = self.graph.incidence.items()[slot];
                let d = self.var_derivative[v.index()].unwrap_or(v);
                self.flow
                    .put(&self.graph, first + position[d.index()] as usize, f);
            }
        }
        self.flow.retire(e);
        for v in row {
            position[v.index()] = ABSENT;
        }
    }
}
