//! Greedy choice of tearing variables for small loops (Cellier & Kofman 2006, §7.4).
//!
//! First, unknowns that no equation may be solved for are torn. Peel: an equation with one unknown left (for which it may be solved) is solved. When nothing can be peeled, tear a
//! variable: among the equations with most unknowns, among their variables those with most occurrences, the one that
//! makes most equations causal. Residual equations are *not* fixed in advance but are whatever is left at the end: a
//! fixed pair of residual and tearing variable may be artificially singular (figure 7.29 there).
//!
//! Every candidate is tried by peeling, so the cost is about the square of the size per torn variable: use
//! [`tear_greedily`] for small sets. [`tear_some`] takes the first candidate instead and gives up after a number of torn
//! variables, each of which costs a pass over the set: for large sets, of which it may leave parts to tearing in a given order.
//!
//! Which pairs may be solved is asked twice ([`Pivots`]): whether a pair is one at all, and, when its turn has come and all other variables of the equation are
//! known, whether it is taken. The second answer may depend on what has been solved before: errors must not grow along the chain.
//!
//! Worked example, three resistors in a loop: the six equations need one tearing variable.
//! ```
//! use acausal_graph::{EqId, Rows, VarId, cellier::tear_greedily};
//! // 0..3 = u1 u2 u3, 3..6 = i1 i2 i3
//! let g = Rows::of(&[&[0, 3], &[1, 4], &[2, 5], &[0, 2], &[1, 2], &[3, 4, 5]]);
//! let (e, v): (Vec<EqId>, Vec<VarId>) = ((0..6).map(EqId).collect(), (0..6).map(VarId).collect());
//! let torn = tear_greedily(&g, 6, &v, &e, |_, _| true);
//! assert_eq!(torn.tearing.len(), 1);
//! torn.check(&g, &v, &e).unwrap();
//! ```

use crate::{EqId, Rows, Torn, VarId};

/// Which equations may be solved for which variables.
pub trait Pivots {
    /// Whether the equation may be solved for the variable at all.
    fn may(&self, e: EqId, v: VarId) -> bool;

    /// Solves an equation, all other variables of which are known by now; or refuses to.
    fn solve(&mut self, e: EqId, v: VarId) -> bool {
        self.may(e, v)
    }

    /// A variable is torn.
    fn open(&mut self, _v: VarId) {}
}

impl<F: Fn(EqId, VarId) -> bool> Pivots for F {
    fn may(&self, e: EqId, v: VarId) -> bool {
        self(e, v)
    }
}

/// Tears `equations` with respect to `unknowns` by the greedy heuristic.
pub fn tear_greedily(
    incidence: &Rows<VarId>,
    variables: usize,
    unknowns: &[VarId],
    equations: &[EqId],
    admissible: impl Pivots,
) -> Torn {
    let choice = Choice::MostCausal;
    greedy(
        incidence, variables, unknowns, equations, admissible, choice,
    )
}

/// The same without trials and with at most `most` choices of a variable. What is then still open counts as torn.
pub fn tear_some(
    incidence: &Rows<VarId>,
    variables: usize,
    unknowns: &[VarId],
    equations: &[EqId],
    admissible: impl Pivots,
    most: usize,
) -> Torn {
    let choice = Choice::First(most);
    greedy(
        incidence, variables, unknowns, equations, admissible, choice,
    )
}

/// Tears the unknowns in their order as far as they cannot be solved for: what comes first in the list is torn if
/// anything has to be. Linear.
pub fn tear_in_order(
    incidence: &Rows<VarId>,
    variables: usize,
    unknowns: &[VarId],
    equations: &[EqId],
    admissible: impl Pivots,
) -> Torn {
    let choice = Choice::InOrder;
    greedy(
        incidence, variables, unknowns, equations, admissible, choice,
    )
}

/// Which unknown is torn when nothing can be peeled.
#[derive(Clone, Copy)]
enum Choice {
    /// The candidate of the heuristic that makes most equations causal.
    MostCausal,
    /// The first candidate, so many times.
    First(usize),
    /// The first unknown that is open.
    InOrder,
}

fn greedy(
    incidence: &Rows<VarId>,
    variables: usize,
    unknowns: &[VarId],
    equations: &[EqId],
    mut admissible: impl Pivots,
    choice: Choice,
) -> Torn {
    let mut open = vec![false; variables];
    for v in unknowns {
        open[v.index()] = true;
    }
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); variables];
    for (k, e) in equations.iter().enumerate() {
        for v in incidence.row(e.index()) {
            if open[v.index()] {
                users[v.index()].push(k);
            }
        }
    }
    let mut p = Peel {
        incidence,
        equations,
        left: equations
            .iter()
            .map(|e| {
                incidence
                    .row(e.index())
                    .iter()
                    .filter(|v| open[v.index()])
                    .count()
            })
            .collect(),
        solved: vec![false; equations.len()],
        users,
        open,
        visits: 0,
    };
    let mut out = Torn::default();
    // Whatever no equation may be solved for is torn in any case.
    let mut hopeless = p.open.clone();
    for &e in equations {
        for &v in incidence.row(e.index()) {
            if hopeless[v.index()] && admissible.may(e, v) {
                hopeless[v.index()] = false;
            }
        }
    }
    for &v in unknowns {
        if hopeless[v.index()] {
            out.tearing.push(v);
            admissible.open(v);
            p.close(v);
        }
    }
    let all: Vec<usize> = (0..equations.len()).collect();
    out.solved.extend(p.peel(all, &mut admissible));
    let mut chosen = 0;
    let mut next_open = 0;
    loop {
        while next_open < unknowns.len() && !p.open[unknowns[next_open].index()] {
            next_open += 1;
        }
        let Some(&first) = unknowns.get(next_open) else {
            break;
        };
        let candidates = match choice {
            Choice::InOrder => vec![first],
            Choice::First(most) if chosen >= most => Vec::new(),
            _ => p.candidates(),
        };
        chosen += 1;
        let torn = match (candidates.as_slice(), choice) {
            ([], _) => {
                // No equation is left: what remains cannot be determined. Or it would take too long.
                out.tearing
                    .extend(unknowns.iter().copied().filter(|v| p.open[v.index()]));
                break;
            }
            (_, Choice::MostCausal) => p.most_causal(&candidates, &mut admissible),
            ([v, ..], _) => *v,
        };
        out.tearing.push(torn);
        admissible.open(torn);
        let next = p.close(torn);
        out.solved.extend(p.peel(next, &mut admissible));
    }
    out.residuals = (0..equations.len())
        .filter(|&k| !p.solved[k])
        .map(|k| equations[k])
        .collect();
    out.visits = p.visits;
    out
}

struct Peel<'a> {
    incidence: &'a Rows<VarId>,
    equations: &'a [EqId],
    left: Vec<usize>, // unknowns left per equation
    solved: Vec<bool>,
    users: Vec<Vec<usize>>,
    open: Vec<bool>,
    visits: usize,
}

impl Peel<'_> {
    /// Solves equations with one unknown left, starting from the candidates `work`.
    fn peel(&mut self, work: Vec<usize>, admissible: &mut impl Pivots) -> Vec<(EqId, VarId)> {
        let mut solved = Vec::new();
        let mut work = std::collections::VecDeque::from(work);
        while let Some(k) = work.pop_front() {
            self.visits += 1;
            if self.solved[k] || self.left[k] != 1 {
                continue;
            }
            let e = self.equations[k];
            let row = self.incidence.row(e.index());
            if let Some(&v) = row.iter().find(|v| self.open[v.index()])
                && admissible.solve(e, v)
            {
                self.solved[k] = true;
                solved.push((e, v));
                work.extend(self.close(v));
            }
        }
        solved
    }

    /// Makes a variable known; returns the equations that use it.
    fn close(&mut self, v: VarId) -> Vec<usize> {
        self.open[v.index()] = false;
        for &k in &self.users[v.index()] {
            self.left[k] -= 1;
        }
        self.users[v.index()].clone()
    }

    /// The most used unknowns of the equations with most unknowns.
    fn candidates(&self) -> Vec<VarId> {
        let open = (0..self.equations.len()).filter(|&k| !self.solved[k] && self.left[k] > 0);
        let most = open.clone().map(|k| self.left[k]).max().unwrap_or(0);
        let mut found: Vec<VarId> = open
            .filter(|&k| self.left[k] == most)
            .flat_map(|k| {
                self.incidence
                    .row(self.equations[k].index())
                    .iter()
                    .copied()
            })
            .filter(|v| self.open[v.index()])
            .collect();
        found.sort_unstable();
        found.dedup();
        let uses = |v: &VarId| {
            self.users[v.index()]
                .iter()
                .filter(|&&k| !self.solved[k])
                .count()
        };
        let best = found.iter().map(uses).max().unwrap_or(0);
        found.retain(|v| uses(v) == best);
        found
    }

    /// The candidate after whose tearing most equations can be solved (the first of them).
    fn most_causal(&mut self, candidates: &[VarId], admissible: &mut impl Pivots) -> VarId {
        let mut best = (candidates[0], 0);
        if candidates.len() > 1 {
            for &v in candidates {
                let before = self.left.clone();
                admissible.open(v);
                let next = self.close(v);
                let solved = self.peel(next, admissible);
                if solved.len() > best.1 {
                    best = (v, solved.len());
                }
                self.left = before;
                self.open[v.index()] = true;
                for (e, w) in solved {
                    self.open[w.index()] = true;
                    if let Some(k) = self.equations.iter().position(|&x| x == e) {
                        self.solved[k] = false;
                    }
                }
            }
        }
        best.0
    }
}
