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
//! Worked example, `x1 + z = 4, x1 + x2 + 2z = 5, 2x1 - x2 + x3 + 3z = 6, x1 + x2 + x3 + z = 7` (Mattsson 1986, chapter 6):
//! if the third equation is solved for z first, everything else closes a cycle and three unknowns stay open. The greedy
//! plan tears z (it occurs in all equations) and solves the first three equations for x1, x2, x3.
//!
//! Cost: the incidences of the level times the logarithm of their number; the greedy plan is quadratic in the size of a
//! small block, and costs a bounded number of passes over a large one.

use super::{Pivot, Preferences, Sets, Solved};
use crate::blt::Level;
use crate::flow::Graph;
use crate::tearing::TearSet;
use crate::tearing::cellier::{tear_greedily, tear_in_order, tear_some};
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
        let mut best = self.plan(
            sets.of(solved.loops),
            &unknowns,
            &lifted,
            &order,
            preferences,
            &pairs,
        );
        let left = !self.top && !best.residuals.is_empty();
        if left && !solved.loops && sets.loops.is_some() && order.iter().any(long) {
            let plan = self.plan(
                sets.of(true),
                &unknowns,
                &lifted,
                &order,
                preferences,
                &pairs,
            );
            if plan.open < best.open {
                best = plan;
                solved.loops = true;
            }
        }
        solved.pairs = best.solved;
        solved.residuals.extend(best.residuals);
        solved.open = best.unsolved;
    }

    /// The best plan that one way of accepting pairs gives.
    fn plan(
        &self,
        tear: &mut dyn TearSet,
        unknowns: &[VarId],
        lifted: &[(EqId, VarId)],
        order: &[EqId],
        preferences: &Preferences,
        pairs: &[Pair],
    ) -> Plan {
        let hints: Vec<(EqId, VarId)> = match self.top {
            true => Vec::new(),
            false => pairs
                .iter()
                .filter(|p| self.is_hint(p))
                .map(Pair::pair)
                .collect(),
        };
        let mut best = Plan::new(tear, unknowns, lifted, order, &hints, pairs.iter());
        if !self.top && !best.residuals.is_empty() {
            // Taking dummy states from the least preferred variable on fixes an equation for each, which may be in the
            // way later; taking states from the most preferred one on leaves that open.
            let usable: Vec<&Pair> = pairs.iter().collect();
            let hints = self.greedy(unknowns, lifted, order, preferences, &usable);
            let plan = Plan::new(tear, unknowns, lifted, order, &hints, usable.into_iter());
            if plan.open < best.open {
                best = plan;
            }
        }
        if self.top && best.open > 0 {
            best = self.tear_loop(tear, unknowns, lifted, order, preferences, pairs);
        }
        best
    }

    fn is_hint(&self, pair: &Pair) -> bool {
        self.hints.get(pair.equation.index()) == Some(&Some(pair.variable))
    }

    /// The first plan with the fewest open unknowns: without conditional pivots before with them, dominant pivots first
    /// before preferences first, the greedy choice last.
    fn tear_loop(
        &self,
        tear: &mut dyn TearSet,
        unknowns: &[VarId],
        lifted: &[(EqId, VarId)],
        order: &[EqId],
        preferences: &Preferences,
        by_rank: &[Pair],
    ) -> Plan {
        // An unknown that no equation may be solved for is open in every plan, and one is in every loop.
        let mut solvable: Vec<VarId> = by_rank.iter().map(|p| p.variable).collect();
        solvable.sort_unstable();
        solvable.dedup();
        let unsolvable = (unknowns.len() - lifted.len()).saturating_sub(solvable.len());
        let least = unsolvable.max((order.len() > 1) as usize);
        let by_rank: Vec<&Pair> = by_rank.iter().collect();
        let mut by_pivot = by_rank.clone();
        by_pivot.sort_by_key(|p| (p.key.1, p.key));
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
            let hints = if greedy {
                self.greedy(unknowns, lifted, order, preferences, &usable)
            } else {
                Vec::new()
            };
            let plan = Plan::new(tear, unknowns, lifted, order, &hints, usable.into_iter());
            if best.as_ref().is_none_or(|p| plan.open < p.open) {
                best = Some(plan);
            }
        }
        best.unwrap_or_else(|| Plan::new(tear, unknowns, lifted, order, &[], std::iter::empty()))
    }

    /// The pairs of the greedy choice. Numbers are local, so that the cost does not depend on the rest of the model.
    fn greedy(
        &self,
        unknowns: &[VarId],
        lifted: &[(EqId, VarId)],
        order: &[EqId],
        preferences: &Preferences,
        usable: &[&Pair],
    ) -> Vec<(EqId, VarId)> {
        let equations: Vec<EqId> = order
            .iter()
            .copied()
            .chain(lifted.iter().map(|p| p.0))
            .collect();
        let mut by_rank = unknowns.to_vec();
        by_rank.sort_by_key(|&v| (preferences.variable(v), v));
        if self.top {
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
            rows.push(self.graph.row(e).iter().filter_map(|&v| number(v)));
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
        let may = |e, v| admissible.binary_search(&(e, v)).is_ok();
        let torn = if !self.top {
            tear_in_order(&rows, by_rank.len(), &unknowns, &numbers, may)
        } else if order.len() <= GREEDY_MOST {
            tear_greedily(&rows, by_rank.len(), &unknowns, &numbers, may)
        } else {
            tear_some(&rows, by_rank.len(), &unknowns, &numbers, may, SOME)
        };
        let solved = torn.solved.iter();
        solved
            .map(|(e, v)| (equations[e.index()], by_rank[v.index()]))
            .collect()
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

/// One way to tear a level.
struct Plan {
    solved: Vec<(EqId, VarId)>,
    residuals: Vec<EqId>,
    unsolved: Vec<VarId>,
    /// Number of unsolved variables: the unknowns of a level differ from plan to plan in nothing else.
    open: usize,
}

impl Plan {
    /// Solves the lifted pairs, then the hints, then the pairs in their order, as far as no cycle arises.
    fn new<'p>(
        tear: &mut dyn TearSet,
        unknowns: &[VarId],
        lifted: &[(EqId, VarId)],
        order: &[EqId],
        hints: &[(EqId, VarId)],
        pairs: impl Iterator<Item = &'p Pair>,
    ) -> Plan {
        tear.begin(unknowns);
        for &(e, v) in lifted {
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
        let torn = tear.finish(order);
        Plan {
            open: torn.tearing.len(),
            solved: torn.solved,
            residuals: torn.residuals,
            unsolved: torn.tearing,
        }
    }
}
