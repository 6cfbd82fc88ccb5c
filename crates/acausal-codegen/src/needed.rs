//! Which local assignments the residuals need.
//!
//! In: local assignments in evaluation order, residuals. Out: those assignments that some residual reads, directly or
//! through others, and the rest; aliases, which the layout has taken over, are in neither. An integrator evaluates
//! residuals several times for each step; currents that nobody reads but the user wait for its end.
//!
//! Invariant: both lists keep the order, and no assignment of the first reads one of the second, so the first may be
//! evaluated alone. One walk from the last assignment to the first, linear in the size of the expressions.
//!
//! Example: `v := p - n; i := G*v; loss := v*i; 0 = i - C*der(u)` needs `v` and `i`; `loss` is of the rest.

use acausal_expr::flat::FlatModel;
use acausal_expr::unknown::Quantity;
use acausal_expr::{ExprId, ValueKind};
use acausal_index1::Local;
use rustc_hash::FxHashSet;

use crate::items::{Item, ItemTarget};
use acausal_compiled::Layout;

/// The assignments that the residuals need, and the others.
pub(crate) fn split_locals(
    flat: &FlatModel,
    layout: &Layout,
    locals: &[Local],
    residuals: &[Item],
) -> (Vec<Item>, Vec<Item>) {
    let mut needed = Needed {
        values: vec![false; flat.vars.len()],
        others: FxHashSet::default(),
    };
    residuals.iter().for_each(|i| needed.read(flat, i.value));
    let mut is_core = vec![false; locals.len()];
    for (k, local) in locals.iter().enumerate().rev() {
        let target = local.target;
        is_core[k] = needed.contains((target.var, target.kind));
        if is_core[k] {
            needed.read(flat, local.value);
            // Subscripts of the place may be values as well.
            for &s in flat.exprs.list(target.subs) {
                needed.read(flat, s);
            }
        }
    }
    let (mut core, mut rest) = (Vec::new(), Vec::new());
    for ((local, is_core), &(_, values)) in locals.iter().zip(is_core).zip(&layout.locals) {
        let list = match (values, is_core) {
            (0, _) => continue,
            (_, true) => &mut core,
            (_, false) => &mut rest,
        };
        list.push(Item {
            domain: local.domain.clone().into(),
            value: local.value,
            target: ItemTarget::Access(local.target),
            origin: local.origin,
        });
    }
    (core, rest)
}

/// Quantities that something reads: values by variable, the rest by key.
struct Needed {
    values: Vec<bool>,
    others: FxHashSet<Quantity>,
}

impl Needed {
    /// Adds what an expression reads.
    fn read(&mut self, flat: &FlatModel, e: ExprId) {
        flat.exprs.for_each_access(&[e], |_, a| {
            match (a.kind, self.values.get_mut(a.var.index())) {
                (ValueKind::Value, Some(needed)) => *needed = true,
                _ => {
                    self.others.insert((a.var, a.kind));
                }
            }
        });
    }

    fn contains(&self, q: Quantity) -> bool {
        match (q.1, self.values.get(q.0.index())) {
            (ValueKind::Value, Some(needed)) => *needed,
            _ => self.others.contains(&q),
        }
    }
}
