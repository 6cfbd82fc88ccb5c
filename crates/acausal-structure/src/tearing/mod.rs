//! Tearing: solve as many equations of a loop as possible one after the other, iterate over the rest.
//!
//! [`Tear`] (Otter & Elmqvist 2017, §4.6) decides pair by pair: "solve equation e for variable v" is accepted if no
//! cycle arises. The cycle test is incremental (Algorithm N of Bender, Fineman, Gilbert & Tarjan 2009). In: incidence,
//! unknowns, the order in which equations are tried, and which pairs are admissible (explicitly solvable without losing
//! solutions, equal length). Out: [`Torn`]: solved pairs in evaluation order, residual equations, tearing variables.
//! [`cellier`] has the greedy heuristic of Cellier & Kofman for small sets, which needs no given order; [`loops`] accepts
//! recurrences between pieces of arrays as well, and [`growth`] gives up pairs along which errors would grow.
//!
//! Invariant: for every accepted pair (v from e) and every other unknown w of e, `level(v) < level(w)`. A new pair whose
//! variable nobody uses yet gets a level below all others at once; otherwise levels are raised along the arcs until they
//! fit or the search meets v itself, which is the cycle. (Comparing levels instead of identities, as published code did,
//! rejects valid pairs.) On the chain `0 = f_i(z_i, z_{i-1})`, `z_0 = z_n` every arc is visited at most twice.
//!
//! Worked example: `e0: z0 = f(z3)`, `e1: z1 = f(z0, z4)`, `e2: z2 = f(z1, z0)`, `e3: z3 = f(z2, z1)`; e3 would close
//! the cycle z3 -> z2 -> z1 -> z0 -> z3, so it stays as the residual, and z3 (and z4, which nothing determines) are torn.
//! ```
//! use acausal_structure::{EqId, Rows, VarId, tearing::tear};
//! let g = Rows::of(&[&[0, 3], &[1, 0, 4], &[2, 1, 0], &[3, 2, 1]]);
//! let order: Vec<EqId> = (0..4).map(EqId).collect();
//! let unknowns: Vec<VarId> = (0..5).map(VarId).collect();
//! let torn = tear(&g, 5, &unknowns, &order, |e, v| e.0 == v.0); // only left-hand sides
//! assert_eq!(torn.residuals, [EqId(3)]);
//! assert_eq!(torn.tearing, [VarId(3), VarId(4)]);
//! assert_eq!(torn.solved[0], (EqId(0), VarId(0)));
//! torn.check(&g, &unknowns, &order).unwrap();
//! ```

pub mod loops;

pub use acausal_graph::{Invalid, Torn, cellier, growth};

use crate::{EqId, Rows, VarId};

/// Pairs of one set are accepted one by one.
pub trait TearSet {
    /// Starts a new set with nothing solved. Variables that are not among the `unknowns` count as known.
    fn begin(&mut self, unknowns: &[VarId]);
    /// Solves equation `e` for its unknown `v`, unless one of them is taken or they could not be evaluated in any order.
    fn try_solve(&mut self, e: EqId, v: VarId) -> bool;
    /// The result; `order` are the equations that may remain as residuals.
    fn finish(&mut self, order: &[EqId]) -> Torn;
}

impl TearSet for Tear<'_> {
    fn begin(&mut self, unknowns: &[VarId]) {
        Tear::begin(self, unknowns);
    }

    fn try_solve(&mut self, e: EqId, v: VarId) -> bool {
        Tear::try_solve(self, e, v)
    }

    fn finish(&mut self, order: &[EqId]) -> Torn {
        Tear::finish(self, order)
    }
}

/// Tears the equations `order` (tried in this order) with respect to `unknowns`. An equation is solved for the first of
/// its unknowns, in the order of its row, that is admissible, not yet solved for, and closes no cycle.
pub fn tear(
    incidence: &Rows<VarId>,
    variables: usize,
    unknowns: &[VarId],
    order: &[EqId],
    admissible: impl Fn(EqId, VarId) -> bool,
) -> Torn {
    let mut t = Tear::new(incidence, variables);
    t.begin(unknowns);
    for &e in order {
        t.solve_for_first(e, &admissible);
    }
    t.finish(order)
}

/// Tearing step by step, for callers with preferences of their own, set after set: [`Tear::begin`], pairs,
/// [`Tear::finish`]. The cost of a set depends on its size only, so thousands of small sets may share one `Tear`.
#[derive(Debug)]
pub struct Tear<'a> {
    incidence: &'a Rows<VarId>,
    unknowns: Vec<VarId>,
    is_unknown: Vec<bool>,
    solved_by: Vec<Option<EqId>>,
    is_solved: Vec<bool>,
    seen: Vec<bool>,
    level: Vec<i64>,
    lowest: i64,
    visits: usize,
    accepted: Vec<VarId>,
    stack: Vec<(VarId, VarId)>,
    changed: Vec<(VarId, i64)>,
}

const NO_LEVEL: i64 = i64::MIN;

impl<'a> Tear<'a> {
    /// For sets of these equations.
    pub fn new(incidence: &'a Rows<VarId>, variables: usize) -> Self {
        Tear {
            incidence,
            unknowns: Vec::new(),
            is_unknown: vec![false; variables],
            solved_by: vec![None; variables],
            is_solved: vec![false; incidence.len()],
            seen: vec![false; variables],
            level: vec![NO_LEVEL; variables],
            lowest: 0,
            visits: 0,
            accepted: Vec::new(),
            stack: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// Starts a new set with nothing solved. Variables that are not among the `unknowns` count as known.
    pub fn begin(&mut self, unknowns: &[VarId]) {
        for v in self.accepted.drain(..) {
            if let Some(e) = self.solved_by[v.index()] {
                self.is_solved[e.index()] = false;
            }
            self.seen[v.index()] = false;
        }
        for v in self.unknowns.drain(..) {
            self.is_unknown[v.index()] = false;
            self.solved_by[v.index()] = None;
            self.level[v.index()] = NO_LEVEL;
        }
        self.unknowns.extend_from_slice(unknowns);
        for v in unknowns {
            self.is_unknown[v.index()] = true;
        }
        self.lowest = 0;
        self.visits = 0;
    }

    /// Whether equation `e` has been solved for something.
    pub fn is_solved(&self, e: EqId) -> bool {
        self.is_solved[e.index()]
    }

    /// Solves `e` for the first possible of its unknowns, in the order of its row.
    pub fn solve_for_first(
        &mut self,
        e: EqId,
        admissible: impl Fn(EqId, VarId) -> bool,
    ) -> Option<VarId> {
        let row = self.incidence.row(e.index());
        row.iter()
            .copied()
            .find(|&v| admissible(e, v) && self.try_solve(e, v))
    }

    /// Solves equation `e` for its unknown `v`, unless one of them is taken or a cycle would arise.
    pub fn try_solve(&mut self, e: EqId, v: VarId) -> bool {
        let i = v.index();
        if !self.is_unknown[i] || self.solved_by[i].is_some() || self.is_solved[e.index()] {
            return false;
        }
        let incidence = self.incidence;
        if self.level[i] == NO_LEVEL {
            // No accepted equation uses v: nothing can lead back to it, and all existing levels are higher.
            self.lowest -= 1;
            self.level[i] = self.lowest;
            for w in incidence.row(e.index()) {
                if self.is_unknown[w.index()] && self.level[w.index()] == NO_LEVEL {
                    self.level[w.index()] = self.lowest + 1;
                }
            }
            self.accept(e, v);
            return true;
        }
        self.solved_by[i] = Some(e);
        self.push_arcs(v, e);
        while let Some((x, y)) = self.stack.pop() {
            self.visits += 1;
            if y == v {
                for (w, level) in self.changed.drain(..).rev() {
                    self.level[w.index()] = level;
                }
                self.stack.clear();
                self.solved_by[i] = None;
                return false;
            }
            let (below, own) = (self.level[x.index()], self.level[y.index()]);
            if own <= below {
                self.changed.push((y, own));
                self.level[y.index()] = below + 1;
                if let Some(by) = self.solved_by[y.index()] {
                    self.push_arcs(y, by);
                }
            }
        }
        self.changed.clear();
        self.accept(e, v);
        true
    }

    /// The result; `order` are the equations that may remain as residuals.
    pub fn finish(&mut self, order: &[EqId]) -> Torn {
        let tearing = self
            .unknowns
            .iter()
            .copied()
            .filter(|v| self.solved_by[v.index()].is_none())
            .collect();
        let residuals = order
            .iter()
            .copied()
            .filter(|e| !self.is_solved[e.index()])
            .collect();
        Torn {
            solved: self.evaluation_order(),
            residuals,
            tearing,
            visits: self.visits,
        }
    }

    fn accept(&mut self, e: EqId, v: VarId) {
        self.solved_by[v.index()] = Some(e);
        self.is_solved[e.index()] = true;
        self.accepted.push(v);
    }

    /// Arcs from `v`, solved from `e`, to every other unknown of `e`.
    fn push_arcs(&mut self, v: VarId, e: EqId) {
        let row = self.incidence.row(e.index());
        self.stack.extend(
            row.iter()
                .filter(|w| **w != v && self.is_unknown[w.index()])
                .map(|&w| (v, w)),
        );
    }

    /// Post-order of a depth-first search through the solved variables: what is used comes first.
    fn evaluation_order(&mut self) -> Vec<(EqId, VarId)> {
        let mut out = Vec::with_capacity(self.accepted.len());
        let mut work: Vec<(EqId, VarId, std::slice::Iter<'_, VarId>)> = Vec::new();
        for &root in &self.accepted {
            let mut enter = Some(root);
            loop {
                if let Some(v) = enter.take()
                    && let Some(e) = self.solved_by[v.index()]
                    && !std::mem::replace(&mut self.seen[v.index()], true)
                {
                    work.push((e, v, self.incidence.row(e.index()).iter()));
                }
                let Some((e, v, rest)) = work.last_mut() else {
                    break;
                };
                match rest.next() {
                    Some(&w) => enter = Some(w),
                    None => {
                        out.push((*e, *v));
                        work.pop();
                    }
                }
            }
        }
        out
    }
}
