//! Tearing of one level of a constraint set.
//!
//! In: the equations that are new on the level, what was lifted from the level below, preferences, and which pairs may be
//! solved. Out: pairs in evaluation order, residuals, open unknowns.
//!
//! Below the last level the choice decides about states: dummy states are taken from the least preferred variable on, and
//! a pair that can be solved for the present parameters counts like one that always can. If that leaves residuals, a second
//! plan takes states from the most preferred variable on, and wins if it needs fewer of them. On the last level it only decides
//! how many unknowns are iterated on, so several plans compete: without conditional pivots before with them, dominant
//! pivots first before the order of preferences, and at last the greedy choice of Cellier & Kofman
//! ([`crate::tearing::cellier`], with trials in small blocks and a bounded number of choices in large ones). The first
//! plan with the fewest open unknowns is taken. Plans depend on ranks, not on the numbering, as far as ranks differ.
//!
//! Where something is left over, equations feed back on what they are computed from, and errors may grow along a chain of
//! solved pairs. If coefficients are given, each plan loses the pairs that [`crate::tearing::growth`] gives up before it is
//! compared with the others: on the last level also those along which unknown coefficients would be multiplied; below it those stay, because
//! formulas that give positions from coordinates are no choice of the solver. The greedy choice of the last level asks before it takes a pair
//! ([`crate::tearing::growth::Chain`]), so that the equation of a refused one remains for another variable.
//!
//! Worked example, `x1 + z = 4, x1 + x2 + 2z = 5, 2x1 - x2 + x3 + 3z = 6, x1 + x2 + x3 + z = 7` (Mattsson 1986, chapter 6):
//! if the third equation is solved for z first, everything else closes a cycle and three unknowns stay open. The greedy
//! plan tears z (it occurs in all equations) and solves the first three equations for x1, x2, x3.
//!
//! Cost: the incidences of the level times the logarithm of their number; the greedy plan is quadratic in the size of a
//! small block, and costs a bounded number of passes over a large one.

use std::cell::OnceCell;

use super::{Pivot, Preferences, ReliableLoop, Sets, Solved, Terms};
use crate::blt::Level;
use crate::flow::Graph;
use crate::tearing::TearSet;
use crate::tearing::cellier::{Pivots, tear_greedily, tear_in_order, tear_some};
use crate::tearing::growth::{Chain, GivenUp, Growth};
use crate::{EqId, Rows, VarId};

/// Largest number of equations of a level for which the greedy plan tries every candidate.
const GREEDY_MOST: usize = 100;
/// Largest number of greedy choices in larger levels.
const SOME: usize = 20;

/// What is to be torn.
pub(super) struct Task<'a> {
    pub graph: &'a Graph,
    pub level: &'a Level,
    /// Equations of the level that are no derivatives of lower ones.
    pub new: &'a [EqId],
    /// Whether this is the last level.
    pub top: bool,
    /// Per original equation: what it should be solved for below the last level.
    pub hints: &'a [Option<VarId>],
    /// The coefficients of an equation, if growth is to be bounded.
    pub terms: Option<Terms<'a>>,
    /// Whether loops of the last level are torn at all.
    pub tearing: bool,
    /// Per variable: what it is the derivative of.
    pub integral: &'a [Option<VarId>],
}

/// A pair that may be solved, with what decides about its turn.
struct Pair {
    key: (std::cmp::Reverse<i32>, Pivot, usize, usize),
    equation: EqId,
    variable: VarId,
}

impl Pair {
    fn pair(&self) -> (EqId, VarId) {
        (self.equation, self.variable)
    }
}

impl Task<'_> {
    /// Tears the level on top of what was lifted from below; `solved` becomes complete. Below the last level recurrences
    /// between pieces of arrays are accepted if that leaves fewer unknowns open, and then on all levels above as well,
    /// where the derivatives form the same ones.
    pub fn tear(
        &self,
        sets: &mut Sets<'_>,
        solved: &mut Solved,
        preferences: &Preferences,
        pivot: impl Fn(EqId, VarId) -> Pivot,
    ) {
        let unknowns = self.unknowns(solved);
        let mut order = self.new.to_vec();
        order.sort_by_key(|&e| (preferences.equation(e), e));
        let mut pairs = Vec::new();
        for (position, &e) in order.iter().enumerate() {
            for (k, &v) in self.graph.row(e).iter().enumerate() {
                let pivot = pivot(e, v);
                if pivot != Pivot::No {
                    let rank = std::cmp::Reverse(preferences.variable(v));
                    pairs.push(Pair {
                        key: (rank, pivot, position, k),
                        equation: e,
                        variable: v,
                    });
                }
            }
        }
        pairs.sort_by_key(|p| p.key);
        let lifted = std::mem::take(&mut solved.pairs);
        let long = |e: &EqId| self.graph.elen[e.index()] > 1;
        let set = Set {
            task: self,
            unknowns: &unknowns,
            lifted: &lifted,
            order: &order,
            preferences,
            growth: OnceCell::new(),
        };
        let mut best = set.plan(sets.of(solved.loops), &pairs);
        let left = !self.top && !best.residuals.is_empty();
        if left && !solved.loops && sets.loops.is_some() && order.iter().any(long) {
            let plan = set.plan(sets.of(true), &pairs);
            if plan.open < best.open {
                best = plan;
                solved.loops = true;
            }
        }
        solved.reliable = set.reliable_loop(&best);
        solved.pairs = best.solved;
        solved.residuals.extend(best.residuals);
        solved.open = best.unsolved;
        solved.given_up = best.given_up;
        solved.amplified = best.amplified;
    }

    fn is_hint(&self, pair: &Pair) -> bool {
        self.hints.get(pair.equation.index()) == Some(&Some(pair.variable))
    }

    /// The unknowns of the level without those of linear sets.
    fn unknowns(&self, solved: &Solved) -> Vec<VarId> {
        let mut by_linear: Vec<VarId> = solved
            .linear
            .iter()
            .flat_map(|l| l.unknowns.iter().copied())
            .collect();
        by_linear.sort_unstable();
        let unknowns = self.level.unknowns.iter().copied();
        unknowns
            .filter(|v| by_linear.binary_search(v).is_err())
            .collect()
    }
}

/// The level with what all plans share.
struct Set<'a> {
    task: &'a Task<'a>,
    unknowns: &'a [VarId],
    lifted: &'a [(EqId, VarId)],
    order: &'a [EqId],
    preferences: &'a Preferences,
    growth: OnceCell<Growth>,
}

impl Set<'_> {
    /// The best plan that one way of accepting pairs gives.
    fn plan(&self, tear: &mut dyn TearSet, pairs: &[Pair]) -> Plan {
        let top = self.task.top;
        let hints: Vec<(EqId, VarId)> = match top {
            true => Vec::new(),
            false => pairs
                .iter()
                .filter(|p| self.task.is_hint(p))
                .map(Pair::pair)
                .collect(),
        };
        let mut best = self.solve(tear, &hints, pairs.iter());
        if best.residuals.is_empty() || top && best.open == 0 {
            return best;
        }
        if top {
            return self.tear_loop(tear, pairs);
        }
        best = self.reliable(best);
        // Taking dummy states from the least preferred variable on fixes an equation for each, which may be in the
        // way later; taking states from the most preferred one on leaves that open.
        let usable: Vec<&Pair> = pairs.iter().collect();
        let hints = self.greedy(&usable);
        let plan = self.reliable(self.solve(tear, &hints, usable.into_iter()));
        if plan.open < best.open { plan } else { best }
    }

    /// The first plan with the fewest open unknowns: without conditional pivots before with them, dominant pivots first
    /// before preferences first, the greedy choice last.
    fn tear_loop(&self, tear: &mut dyn TearSet, by_rank: &[Pair]) -> Plan {
        let is_known = |p: &&Pair| self.growth().is_none_or(|g| g.is_known(p.equation));
        let (mut by_rank, mut steep): (Vec<&Pair>, Vec<&Pair>) = by_rank.iter().partition(is_known);
        let unknown = steep.clone();
        if !self.task.tearing {
            by_rank.clear();
            steep.clear();
        }
        // An unknown that no equation may be solved for is open in every plan, and one is in every loop.
        let candidates = by_rank.iter().chain(&steep);
        let mut solvable: Vec<VarId> = candidates.map(|p| p.variable).collect();
        solvable.sort_unstable();
        solvable.dedup();
        let unsolvable = (self.unknowns.len() - self.lifted.len()).saturating_sub(solvable.len());
        let least = unsolvable.max((self.order.len() > 1) as usize);
        let mut by_pivot = by_rank.clone();
        by_pivot.sort_by_key(|p| (p.key.1, p.key));
        // What little may be computed from comes last.
        by_rank.extend(&steep);
        by_pivot.extend(&steep);
        let plans = [
            (false, &by_pivot, false),
            (false, &by_rank, false),
            (true, &by_pivot, false),
            (true, &by_rank, false),
            (false, &by_rank, true),
            (true, &by_rank, true),
        ];
        let mut best: Option<Plan> = None;
        for (conditional, from, greedy) in plans {
            if best.as_ref().is_some_and(|p| p.open <= least) {
                break;
            }
            let usable = from.iter().copied();
            let usable: Vec<&Pair> = usable
                .filter(|p| conditional || p.key.1 != Pivot::Conditional)
                .collect();
            let candidates = if greedy {
                // The greedy choice knows how errors grow. What it leaves open it leaves for a reason, unless it gave up early.
                let hints = self.greedy(&usable);
                let more = self.solve(tear, &hints, usable.into_iter());
                vec![self.solve(tear, &hints, std::iter::empty()), more]
            } else {
                vec![self.solve(tear, &[], usable.into_iter())]
            };
            for plan in candidates {
                let plan = self.reliable(plan);
                if best.as_ref().is_none_or(|p| plan.open < p.open) {
                    best = Some(plan);
                }
            }
        }
        let mut best = best.unwrap_or_else(|| self.solve(tear, &[], std::iter::empty()));
        // What could have been solved if its coefficients were known.
        let (mut open, mut left) = (best.unsolved.clone(), best.residuals.clone());
        open.sort_unstable();
        left.sort_unstable();
        let mut told: Vec<EqId> = best.given_up.iter().map(|g| g.equation).collect();
        told.sort_unstable();
        let missed = unknown.into_iter().filter(|p| {
            told.binary_search(&p.equation).is_err()
                && open.binary_search(&p.variable).is_ok()
                && left.binary_search(&p.equation).is_ok()
        });
        let missed = missed.map(|p| GivenUp {
            equation: p.equation,
            variable: p.variable,
            growth: None,
        });
        best.given_up.extend(missed);
        best
    }

    /// The coefficients of the level, if they are given.
    fn growth(&self) -> Option<&Growth> {
        let terms = self.task.terms?;
        Some(self.growth.get_or_init(|| {
            let given = |v: VarId| self.task.integral[v.index()].is_some();
            Growth::new(self.unknowns, &self.equations(), given, terms)
        }))
    }

    /// Pairs that stay solved whatever their growth: derivatives of what lower levels have solved, and below the last level those that are not known.
    fn stays(&self, growth: &Growth, lifted: &[EqId], e: EqId) -> bool {
        lifted.binary_search(&e).is_ok() || !self.task.top && !growth.is_known(e)
    }

    /// What was found about the growth of errors, if anything was looked at.
    fn reliable_loop(&self, plan: &Plan) -> Option<ReliableLoop> {
        let growth = self.growth.get()?;
        let mut lifted: Vec<EqId> = self.lifted.iter().map(|p| p.0).collect();
        lifted.sort_unstable();
        let stays = |e: EqId| self.stays(growth, &lifted, e);
        let solved = plan.solved.iter().map(|&(e, v)| (e, v, stays(e)));
        let solved: Vec<(EqId, VarId, bool)> = solved.collect();
        if solved.iter().all(|s| s.2) {
            return None;
        }
        let mut unknowns = self.unknowns.to_vec();
        unknowns.sort_unstable();
        let given = |v: &VarId| self.task.integral[v.index()].is_some();
        Some(ReliableLoop {
            given: unknowns.iter().map(given).collect(),
            equations: self.equations(),
            unknowns,
            solved,
        })
    }

    /// All equations of the level.
    fn equations(&self) -> Vec<EqId> {
        let lifted = self.lifted.iter().map(|p| p.0);
        self.order.iter().copied().chain(lifted).collect()
    }

    /// A plan without the pairs along which errors grow.
    fn reliable(&self, mut plan: Plan) -> Plan {
        let Some(growth) = self.growth() else {
            return plan;
        };
        let mut lifted: Vec<EqId> = self.lifted.iter().map(|p| p.0).collect();
        lifted.sort_unstable();
        let fixed = |e: EqId| self.stays(growth, &lifted, e);
        let checked = growth.check(&plan.solved, fixed);
        plan.amplified = checked.amplified;
        if checked.given_up.is_empty() {
            return plan;
        }
        plan.solved = checked.kept;
        plan.given_up = checked.given_up;
        plan.open += plan.given_up.len();
        plan.residuals
            .extend(plan.given_up.iter().map(|g| g.equation));
        plan.residuals
            .sort_by_key(|&e| (self.preferences.equation(e), e));
        plan.unsolved
            .extend(plan.given_up.iter().map(|g| g.variable));
        plan.unsolved.sort_unstable();
        plan
    }

    /// Solves the lifted pairs, then the hints, then the pairs in their order, as far as no cycle arises.
    fn solve<'p>(
        &self,
        tear: &mut dyn TearSet,
        hints: &[(EqId, VarId)],
        pairs: impl Iterator<Item = &'p Pair>,
    ) -> Plan {
        tear.begin(self.unknowns);
        for &(e, v) in self.lifted {
            // The derivatives use each other as the lower equations do: no cycle can arise.
            let accepted = tear.try_solve(e, v);
            debug_assert!(
                accepted,
                "{e:?} must be solvable for {v:?} like its integral"
            );
        }
        for &(e, v) in hints {
            tear.try_solve(e, v);
        }
        for p in pairs {
            tear.try_solve(p.equation, p.variable);
        }
        let torn = tear.finish(self.order);
        Plan {
            open: torn.tearing.len(),
            solved: torn.solved,
            residuals: torn.residuals,
            unsolved: torn.tearing,
            given_up: Vec::new(),
            amplified: Vec::new(),
        }
    }

    /// The pairs of the greedy choice. Numbers are local, so that the cost does not depend on the rest of the model.
    fn greedy(&self, usable: &[&Pair]) -> Vec<(EqId, VarId)> {
        let &Set {
            task,
            order,
            lifted,
            preferences,
            ..
        } = self;
        let equations: Vec<EqId> = order
            .iter()
            .copied()
            .chain(lifted.iter().map(|p| p.0))
            .collect();
        let mut by_rank = self.unknowns.to_vec();
        by_rank.sort_by_key(|&v| (preferences.variable(v), v));
        if task.top {
            by_rank.reverse();
        }
        let mut local: Vec<(VarId, usize)> = by_rank.iter().copied().zip(0..).collect();
        local.sort_unstable();
        let number = |v: VarId| {
            let k = local.binary_search_by_key(&v, |l| l.0).ok()?;
            Some(VarId::new(local[k].1))
        };
        let mut rows: Rows<VarId> = Rows::new();
        for &e in &equations {
            rows.push(task.graph.row(e).iter().filter_map(|&v| number(v)));
        }
        // The third part of a key is the position of the equation in the order.
        let mut admissible: Vec<(EqId, VarId)> = usable
            .iter()
            .filter_map(|p| Some((EqId::new(p.key.2), number(p.variable)?)))
            .collect();
        for (k, (_, v)) in lifted.iter().enumerate() {
            admissible.extend(number(*v).map(|v| (EqId::new(order.len() + k), v)));
        }
        admissible.sort_unstable();
        let unknowns: Vec<VarId> = (0..by_rank.len()).map(VarId::new).collect();
        let numbers: Vec<EqId> = (0..equations.len()).map(EqId::new).collect();
        let pivots = Local {
            admissible: &admissible,
            chain: self.growth().filter(|_| task.top).map(Chain::new),
            equations: &equations,
            lifted: order.len(),
            variables: &by_rank,
        };
        let torn = if !task.top {
            tear_in_order(&rows, by_rank.len(), &unknowns, &numbers, pivots)
        } else if order.len() <= GREEDY_MOST {
            tear_greedily(&rows, by_rank.len(), &unknowns, &numbers, pivots)
        } else {
            tear_some(&rows, by_rank.len(), &unknowns, &numbers, pivots, SOME)
        };
        let solved = torn.solved.iter();
        solved
            .map(|(e, v)| (equations[e.index()], by_rank[v.index()]))
            .collect()
    }
}

/// Pairs by their numbers in a level; on the last one errors must not grow along what is solved.
struct Local<'a> {
    /// Sorted.
    admissible: &'a [(EqId, VarId)],
    chain: Option<Chain<'a>>,
    equations: &'a [EqId],
    /// Equations from this number on are solved below.
    lifted: usize,
    variables: &'a [VarId],
}

impl Pivots for Local<'_> {
    fn may(&self, e: EqId, v: VarId) -> bool {
        self.admissible.binary_search(&(e, v)).is_ok()
    }

    fn solve(&mut self, e: EqId, v: VarId) -> bool {
        if !self.may(e, v) {
            return false;
        }
        let Some(chain) = &mut self.chain else {
            return true;
        };
        let (equation, variable) = (self.equations[e.index()], self.variables[v.index()]);
        if e.index() >= self.lifted {
            chain.give(equation, variable);
            return true;
        }
        chain.solve(equation, variable)
    }

    fn open(&mut self, v: VarId) {
        if let Some(chain) = &mut self.chain {
            chain.open(self.variables[v.index()]);
        }
    }
}

/// One way to tear a level.
struct Plan {
    solved: Vec<(EqId, VarId)>,
    residuals: Vec<EqId>,
    unsolved: Vec<VarId>,
    /// Number of unsolved variables: the unknowns of a level differ from plan to plan in nothing else.
    open: usize,
    /// Pairs that could have been solved.
    given_up: Vec<GivenUp>,
    /// Solved variables in which errors are larger than in those that are not.
    amplified: Vec<VarId>,
}
