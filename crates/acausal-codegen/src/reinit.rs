//! What `reinit` may set (MLS 3.6 §8.3.6): states, and each of them in one `when` clause only.
//!
//! Clauses may be active at one instant, and then nothing says which of two values counts. The branches of one clause are never active together.
//! Looked at are the places of the elements, so that arrays that overlap and other names of a state are seen. Linear in the number of places.

use acausal_compiled::{ActionCode, EventCode, Loc};
use acausal_expr::unknown::{Unknown, UnknownRole};
use acausal_jit::kernel::Bank;
use rustc_hash::FxHashMap;

use crate::CodegenError;

/// What `reinit` sets must be states (MLS 3.6 §8.3.6): anything else is computed anew right after it.
pub(crate) fn expect_states(unknowns: &[Unknown], events: &EventCode) -> Result<(), CodegenError> {
    let mut ends = Vec::with_capacity(unknowns.len());
    let mut end = 0;
    for u in unknowns {
        end += u.len;
        ends.push(end);
    }
    let is_state = |place: &Loc| {
        place.bank() == Bank::Y
            && unknowns
                .get(ends.partition_point(|&e| e <= place.index()))
                .is_some_and(|u| u.role == UnknownRole::State)
    };
    for when in &events.whens {
        for action in when.branches.iter().flat_map(|b| &b.actions) {
            if let ActionCode::Set {
                targets,
                reinit: true,
                target,
                ..
            } = action
                && !targets.iter().all(is_state)
            {
                return Err(CodegenError::NotAState {
                    access: *target,
                    origin: when.origin,
                });
            }
        }
    }
    Ok(())
}

/// A state is set by one branch of one clause at a time.
pub(crate) fn expect_single(events: &EventCode) -> Result<(), CodegenError> {
    // Per place: clause, point and branch that set it last.
    let mut set: FxHashMap<Loc, (usize, usize, usize)> = FxHashMap::default();
    for (w, when) in events.whens.iter().enumerate() {
        for (b, branch) in when.branches.iter().enumerate() {
            for action in &branch.actions {
                let ActionCode::Set {
                    targets,
                    inner,
                    reinit: true,
                    target,
                    ..
                } = action
                else {
                    continue;
                };
                for (k, &place) in targets.iter().enumerate() {
                    let point = k / (*inner).max(1);
                    let Some((clause, p, branch)) = set.insert(place, (w, point, b)) else {
                        continue;
                    };
                    if (clause, p) != (w, point) || branch == b {
                        return Err(CodegenError::SetTwice {
                            access: *target,
                            origin: when.origin,
                            other: events.whens[clause].origin,
                        });
                    }
                }
            }
        }
    }
    Ok(())
}
