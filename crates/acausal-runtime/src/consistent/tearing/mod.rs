//! Which unknowns of a block are torn.
//!
//! In: the pattern of a block and which of its entries are constant: there an equation is linear in an unknown with a
//! coefficient that cannot vanish. Out: pairs (equation, unknown) in order of evaluation. The choice is that of
//! [`acausal_graph::cellier::tear_in_order`], with the unknowns in the order in which their guesses deserve
//! trust: first those with a written start value, then others, then derivatives, whose guess is zero because nobody can write
//! one, and at last unknowns at whose guess an equation is not defined. Among equals those that enter most equations
//! nonlinearly, then those that enter most equations. Linear in the size of the block, up to sorting.
//!
//! A block is solved as a whole first: on random loops that has the solution in 4 to 10 Jacobians where tearing needs 7 to
//! 20, and fails less often (test `the_whole_block_is_the_better_first_attempt`). Tearing is for what the whole cannot do: an equation
//! that is undefined at the guess of an unknown which another equation gives, or guesses many powers of ten away.
//!
//! Example: `i = is*(exp(u/vt) - 1); u + v = 5; v = r*i`: u enters nonlinearly and is torn; v follows from the second
//! equation, i from the third, and the first one is left for u. A guess for i or v is not needed.

use acausal_graph::cellier::tear_in_order;
use acausal_graph::{EqId, Rows, VarId};
use acausal_solver::newton::{Tearing, UntornBlock};

/// Tearing by structure and by what the user has given.
pub(super) struct ByTrust<'a> {
    /// Per unknown of the whole system: how far its guess can be trusted, larger is better. May be empty.
    pub trust: &'a [u8],
    /// Tear before the block is tried as a whole, which the tests do.
    pub first: bool,
}

impl Tearing for ByTrust<'_> {
    fn first(&self) -> bool {
        self.first
    }

    fn pairs(&self, probed: &UntornBlock) -> Vec<(u32, u32)> {
        let (block, constant) = (probed.pattern, probed.constant);
        let n = block.size();
        let mut row_ptr = vec![0u32; n + 1];
        for &row in block.row_idx() {
            row_ptr[row as usize + 1] += 1;
        }
        for row in 0..n {
            row_ptr[row + 1] += row_ptr[row];
        }
        let mut next = row_ptr.clone();
        let mut entries = vec![VarId(0); block.nnz()];
        for col in 0..n {
            for &row in block.rows_of(col) {
                let at = &mut next[row as usize];
                entries[*at as usize] = VarId(col as u32);
                *at += 1;
            }
        }
        let incidence = Rows::from_parts(row_ptr, entries);
        let mut unknowns: Vec<VarId> = (0..n as u32).map(VarId).collect();
        unknowns.sort_by_key(|v| {
            let range = block.range(v.index());
            let trust = self.trust.get(probed.cols[v.index()] as usize).copied();
            let defined = probed.values[range.clone()].iter().all(|v| v.is_finite());
            let nonlinear = range.clone().filter(|&k| !constant[k]).count();
            std::cmp::Reverse((defined, trust, nonlinear, range.len()))
        });
        let equations: Vec<EqId> = (0..n as u32).map(EqId).collect();
        let admissible =
            |e: EqId, v: VarId| (block.position(e.index(), v.index())).is_some_and(|k| constant[k]);
        let torn = tear_in_order(&incidence, n, &unknowns, &equations, admissible);
        torn.solved.iter().map(|(e, v)| (e.0, v.0)).collect()
    }
}

#[cfg(test)]
mod tests;
