//! Which part of a system has too many equations, which too few, and the smallest culprits (Dulmage & Mendelsohn 1958).
//!
//! In: a [`Graph`] with lengths (scalars are length one) and the unknown variables. Out: the coarse split into an
//! over-determined part (more equations than unknowns), an under-determined part and the well-determined rest. The
//! split does not depend on which maximum matching was found. [`Decomposition::over_set`] and
//! [`Decomposition::under_set`] give the part that belongs to one surplus equation or one undetermined variable: this is
//! what a diagnostic should name.
//!
//! [`finite_index`] applies it to the *extended system* of Pantelides (1988): one additional equation h(x, der x) for
//! every differentiated variable. If and only if that has a complete matching, index reduction terminates.
//!
//! Complexity: one maximum flow plus one pass over the incidence.
//!
//! Worked example: `e0: x`, `e1: x`, `e2: y, z`: two equations for x, one for y and z.
//! ```
//! use acausal_structure::{EqId, VarId, dulmage_mendelsohn::decompose, flow::Graph};
//! let g = Graph::new(&[1, 1, 1], &[1, 1, 1], &[&[0], &[0], &[1, 2]]);
//! let dm = decompose(&g, |_| true);
//! assert_eq!(dm.over.equations, [EqId(0), EqId(1)]);
//! assert_eq!(dm.under.variables, [VarId(1), VarId(2)]);
//! assert_eq!(dm.over_set(&g, EqId(1)).variables, [VarId(0)]);
//! ```

use crate::flow::{Flow, Graph, Reached};
use crate::graph::Marks;
use crate::{EqId, Rows, VarId};

/// Equations with variables, in ascending order.
pub type Part = Reached;

/// The coarse decomposition.
#[derive(Clone, Debug)]
pub struct Decomposition {
    /// Equations reachable from an unassigned equation, and their variables: more equations than variables.
    pub over: Part,
    /// Variables reachable from an undetermined variable, and their equations: more variables than equations.
    pub under: Part,
    /// The rest: as many equations as unknowns, completely assigned.
    pub well: Part,
    /// Equations with unassigned elements, and how many.
    pub surplus: Vec<(EqId, u64)>,
    /// Unknowns with undetermined elements, and how many.
    pub undetermined: Vec<(VarId, u64)>,
    /// The maximum flow on which all this is based.
    pub flow: Flow,
    visible: Vec<bool>,
}

/// Splits the system with the variables for which `unknown` holds.
pub fn decompose(graph: &Graph, unknown: impl Fn(VarId) -> bool) -> Decomposition {
    let visible: Vec<bool> = (0..graph.vlen.len())
        .map(|v| unknown(VarId::new(v)))
        .collect();
    let flow = Flow::maximum(graph, |v| visible[v.index()]);
    let surplus: Vec<(EqId, u64)> = ids(graph.elen.len(), EqId::new)
        .map(|e| (e, flow.missing(e)))
        .filter(|&(_, m)| m > 0)
        .collect();
    let undetermined: Vec<(VarId, u64)> = ids(graph.vlen.len(), VarId::new)
        .filter(|v| visible[v.index()])
        .map(|v| (v, flow.spare(graph, v)))
        .filter(|&(_, m)| m > 0)
        .collect();

    let mut marks = Marks::default();
    marks.clear(graph);
    let roots: Vec<EqId> = surplus.iter().map(|&(e, _)| e).collect();
    let over = sorted(flow.reach(graph, &visible, &roots, &mut marks));
    let by_variable = graph.incidence.transposed(graph.vlen.len());
    let roots: Vec<VarId> = undetermined.iter().map(|&(v, _)| v).collect();
    let under = sorted(reach_back(graph, &by_variable, &flow, &roots, &mut marks));
    let well = Part {
        equations: ids(graph.elen.len(), EqId::new)
            .filter(|&e| marks.equation(e))
            .collect(),
        variables: ids(graph.vlen.len(), VarId::new)
            .filter(|&v| visible[v.index()] && marks.variable(v))
            .collect(),
    };
    Decomposition {
        over,
        under,
        well,
        surplus,
        undetermined,
        flow,
        visible,
    }
}

impl Decomposition {
    /// Whether every equation is assigned and every unknown determined.
    pub fn is_square_and_regular(&self) -> bool {
        self.surplus.is_empty() && self.undetermined.is_empty()
    }

    /// The over-determined set of one surplus equation: its equations have too few variables, and taking away any one of
    /// them (as many elements as are missing) cures it.
    pub fn over_set(&self, graph: &Graph, surplus: EqId) -> Part {
        let mut marks = Marks::default();
        marks.clear(graph);
        sorted(
            self.flow
                .reach(graph, &self.visible, &[surplus], &mut marks),
        )
    }

    /// The under-determined set of one undetermined variable: fixing any one of its variables cures it.
    pub fn under_set(&self, graph: &Graph, undetermined: VarId) -> Part {
        let mut marks = Marks::default();
        marks.clear(graph);
        let by_variable = graph.incidence.transposed(graph.vlen.len());
        sorted(reach_back(
            graph,
            &by_variable,
            &self.flow,
            &[undetermined],
            &mut marks,
        ))
    }
}

/// The extended system of Pantelides: `derivative[v]` is the variable that is the derivative of `v`, if there is one.
/// The dummy equation of the k-th differentiated variable has number `graph.elen.len() + k`.
pub fn extended_system(graph: &Graph, derivative: &[Option<VarId>]) -> Graph {
    let mut extended = graph.clone();
    for (v, d) in derivative.iter().enumerate() {
        if let Some(d) = *d {
            extended.add_equation(graph.vlen[v], [VarId::new(v), d]);
        }
    }
    extended
}

/// Outcome of the finite-index check. All sets speak of the original equations and variables (dummies left out).
#[derive(Clone, Debug)]
pub struct FiniteIndex {
    /// Assigned elements of the extended system.
    pub matched: u64,
    /// Elements of all equations of the extended system.
    pub equations: u64,
    /// Elements of all its variables.
    pub variables: u64,
    /// Surplus equations with the elements missing, each with its over-determined set. A surplus that falls on a dummy
    /// equation is reported at the first original equation of its set.
    pub over: Vec<(EqId, u64, Part)>,
    /// Undetermined variables with their number of elements, each with its under-determined set.
    pub under: Vec<(VarId, u64, Part)>,
    /// The whole over-determined part.
    pub over_part: Part,
    /// The whole under-determined part.
    pub under_part: Part,
}

impl FiniteIndex {
    /// Whether every equation and every variable is matched.
    pub fn is_complete(&self) -> bool {
        self.matched == self.equations && self.matched == self.variables
    }
}

/// Only this many culprits get their own set in a [`FiniteIndex`] report; a model with more is broken anyway, and each
/// set may be as large as the model.
pub const MAX_REPORTED_SETS: usize = 20;

/// Checks that differentiating equations can lead to a regular system (Pantelides 1988, Otter & Elmqvist 2017 §4.2).
pub fn finite_index(graph: &Graph, derivative: &[Option<VarId>]) -> FiniteIndex {
    let extended = extended_system(graph, derivative);
    let n = graph.elen.len();
    let dm = decompose(&extended, |_| true);
    let originals = |mut p: Part| {
        p.equations.retain(|e| e.index() < n);
        p
    };
    let over = dm
        .surplus
        .iter()
        .take(MAX_REPORTED_SETS)
        .map(|&(e, missing)| {
            let set = originals(dm.over_set(&extended, e));
            let named = if e.index() < n {
                e
            } else {
                set.equations.first().copied().unwrap_or(e)
            };
            (named, missing, set)
        })
        .collect();
    let under = dm
        .undetermined
        .iter()
        .take(MAX_REPORTED_SETS)
        .map(|&(v, missing)| (v, missing, originals(dm.under_set(&extended, v))))
        .collect();
    FiniteIndex {
        matched: dm.flow.total(),
        equations: extended.elen.iter().sum(),
        variables: extended.vlen.iter().sum(),
        over,
        under,
        over_part: originals(dm.over),
        under_part: originals(dm.under),
    }
}

/// Alternating paths backwards: from a variable to every equation that contains it, from there to what it determines.
fn reach_back(
    graph: &Graph,
    by_variable: &Rows<EqId>,
    flow: &Flow,
    roots: &[VarId],
    marks: &mut Marks,
) -> Reached {
    let mut out = Reached::default();
    out.variables
        .extend(roots.iter().copied().filter(|&v| marks.variable(v)));
    let mut head = 0;
    while head < out.variables.len() {
        let v = out.variables[head];
        head += 1;
        for &e in by_variable.row(v.index()) {
            if marks.equation(e) {
                out.equations.push(e);
                out.variables.extend(
                    flow.assigned(graph, e)
                        .map(|(w, _)| w)
                        .filter(|&w| marks.variable(w)),
                );
            }
        }
    }
    out
}

fn sorted(mut part: Part) -> Part {
    part.equations.sort_unstable();
    part.variables.sort_unstable();
    part
}

fn ids<T>(n: usize, id: fn(usize) -> T) -> impl Iterator<Item = T> {
    (0..n).map(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn array_of_three_equations_for_two_unknowns() {
        // e0[3]: x[2]; e1[1]: y
        let g = Graph::new(&[3, 1], &[2, 1], &[&[0], &[1]]);
        let dm = decompose(&g, |_| true);
        assert_eq!(dm.surplus, [(EqId(0), 1)]);
        assert_eq!(dm.over.variables, [VarId(0)]);
        assert_eq!(dm.well.equations, [EqId(1)]);
        assert!(!dm.is_square_and_regular());
    }

    #[test]
    fn extended_system_finds_a_variable_that_only_its_derivative_knows() {
        // x - y = 0 twice with der(x) present nowhere else: x, y, der x; equations a: x,y  b: x,y
        let g = Graph::new(&[1, 1], &[1, 1, 1], &[&[0, 1], &[0, 1]]);
        let r = finite_index(&g, &[Some(VarId(2)), None, None]);
        assert!(
            r.is_complete(),
            "x and y from a and b, der(x) from the dummy"
        );
        // a third equation between x and y makes it impossible
        let g = Graph::new(&[1, 1, 1], &[1, 1, 1], &[&[0, 1], &[0, 1], &[0, 1]]);
        let r = finite_index(&g, &[Some(VarId(2)), None, None]);
        assert_eq!((r.matched, r.equations, r.variables), (3, 4, 3));
        assert_eq!(r.over[0].2.equations, [EqId(0), EqId(1), EqId(2)]);
    }
}
