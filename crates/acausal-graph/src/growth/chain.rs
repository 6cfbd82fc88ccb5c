//! Assignments that are accepted one by one, in their order of evaluation, as long as errors do not grow.
//!
//! What [`Growth::check`] finds out about a whole plan, [`Chain`] decides while the plan is made: a pair that would be given up is not taken, so that its equation and its variable
//! remain for others. It asks a little more of steep variables: where an equation has two unknowns, as a voltage between a node and ground has, the other
//! one counts as steep too. A variable that is refused ends a chain; the sooner, the fewer variables have to be opened behind it.
//!
//! Worked example, a source with an inner resistance and two diodes: `u = p - n` and `u = i` (0: p, 1: n, 2: u, 3: i), currents `a = f(p)`, `b = f(n)` (4, 5) by unknown slopes,
//! balances `i + a = 0`, `i = b`. From p follow a, i and u, but not n: it would depend on one slope, and b on the product of two.
//! ```
//! use acausal_graph::{EqId, VarId, growth::{Chain, Growth, Term}};
//! let known = |v: u32| Term::scalar(VarId(v), 1.0);
//! let unknown = |v: u32| Term { least: 0.0, most: f64::INFINITY, ..Term::scalar(VarId(v), 1.0) };
//! let rows = [
//!     vec![known(0), known(1), known(2)], vec![known(2), known(3)], vec![known(4), unknown(0)],
//!     vec![known(5), unknown(1)], vec![known(3), known(4)], vec![known(3), known(5)],
//! ];
//! let (v, e): (Vec<VarId>, Vec<EqId>) = ((0..6).map(VarId).collect(), (0..6).map(EqId).collect());
//! let growth = Growth::new(&v, &e, |_| false, |e| rows[e.index()].clone());
//! let mut chain = Chain::new(&growth);
//! chain.open(VarId(0));
//! let taken = [(2, 4), (4, 3), (1, 2), (0, 1)].map(|(e, v)| chain.solve(EqId(e), VarId(v)));
//! assert_eq!(taken, [true, true, true, false]);
//! ```

use super::step::{Amplification, Progress};
use super::{Growth, Reading};
use crate::{EqId, VarId};

/// A plan in the making.
#[derive(Debug)]
pub struct Chain<'a> {
    growth: &'a Growth,
    state: Progress,
    read: Vec<Reading>,
}

impl<'a> Chain<'a> {
    /// With nothing solved.
    pub fn new(growth: &'a Growth) -> Chain<'a> {
        Chain {
            growth,
            state: Progress::new(growth),
            read: growth.read_through_pairs(),
        }
    }

    /// Solves an equation for a variable, whose other variables are known by now, unless errors would grow.
    pub fn solve(&mut self, e: EqId, v: VarId) -> bool {
        let (k, bound) = self.bound(e, v);
        let accepted = bound.is_bounded(self.read[k]);
        if accepted {
            self.state.growth[k] = bound;
            self.state.is_solved[k] = true;
        }
        accepted
    }

    /// Solves an equation that is no choice of tearing.
    pub fn give(&mut self, e: EqId, v: VarId) {
        let (k, bound) = self.bound(e, v);
        let accepted = bound.is_bounded(self.read[k]);
        self.state.growth[k] = if accepted { bound } else { self.growth.open(k) };
        self.state.is_given[k] = true;
    }

    /// A variable is iterated on.
    pub fn open(&mut self, v: VarId) {
        let k = self.growth.number(v);
        self.state.growth[k] = self.growth.open(k);
        self.state.is_solved[k] = false;
    }

    /// The number of a variable, and what its assignment does to errors.
    fn bound(&mut self, e: EqId, v: VarId) -> (usize, Amplification) {
        let k = self.growth.number(v);
        self.state.inside[k] = true;
        let step = self.growth.step((e, v), &self.state);
        self.state.inside[k] = false;
        (k, step.amplification())
    }
}
