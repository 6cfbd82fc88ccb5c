//! `reinit` of one state in several branches of an `if` (MLS 3.6 §8.3.6): one `reinit` whose value depends on the branch.
//!
//! Example: inside of `when`, `if c then reinit(x, 1); else reinit(x, 2); end if` is `reinit(x, if c then 1 else 2)`. As two of them, each of which
//! keeps `x` where its branch is not taken, the second one would undo the first.

use acausal_expr::{Access, ExprId, Exprs, IterId, Range};
use acausal_symbolic::Substitute;

use super::equation::LoweredItem;

/// New values of a state.
pub(crate) struct Reinit<'a> {
    /// Iterators over its elements.
    pub domain: &'a [(IterId, Range)],
    /// The state.
    pub target: Access,
    /// Its new value.
    pub value: ExprId,
}

/// The value of `if c then yes else no` over the iterators of `yes`, if both set the same elements.
pub(crate) fn merged(
    exprs: &mut Exprs,
    c: ExprId,
    yes: &Reinit<'_>,
    no: &Reinit<'_>,
) -> Option<ExprId> {
    let ranges = |r: &Reinit<'_>| r.domain.iter().map(|d| d.1).collect::<Vec<_>>();
    if yes.target.var != no.target.var || ranges(yes) != ranges(no) {
        return None;
    }
    let names: Vec<(IterId, ExprId)> = (no.domain.iter().zip(yes.domain))
        .filter(|(n, y)| n.0 != y.0)
        .map(|(n, y)| (n.0, exprs.iter(y.0)))
        .collect();
    let subs = exprs.list(no.target.subs).to_vec();
    let subs: Vec<ExprId> = subs
        .into_iter()
        .map(|s| exprs.substitute_iters(s, &names))
        .collect();
    if exprs.list(yes.target.subs) != subs {
        return None;
    }
    let other = exprs.substitute_iters(no.value, &names);
    Some(exprs.if_(c, yes.value, other))
}

/// Takes the states that both branches of an `if` set out of them; what sets them is appended to `out`.
pub(super) fn take_common(
    exprs: &mut Exprs,
    c: ExprId,
    yes: Vec<LoweredItem>,
    no: &mut Vec<LoweredItem>,
    out: &mut Vec<LoweredItem>,
) -> Vec<LoweredItem> {
    let mut rest = Vec::with_capacity(yes.len());
    for item in yes {
        let Some(first) = of_item(&item) else {
            rest.push(item);
            continue;
        };
        let partner = (no.iter().enumerate()).find_map(|(k, other)| {
            let value = merged(exprs, c, &first, &of_item(other)?)?;
            Some((k, value))
        });
        match (partner, item) {
            (
                Some((k, value)),
                LoweredItem::Reinit {
                    domain,
                    target,
                    span,
                    ..
                },
            ) => {
                no.remove(k);
                out.push(LoweredItem::Reinit {
                    domain,
                    target,
                    value,
                    span,
                });
            }
            (_, item) => rest.push(item),
        }
    }
    rest
}

fn of_item(item: &LoweredItem) -> Option<Reinit<'_>> {
    match item {
        LoweredItem::Reinit {
            domain,
            target,
            value,
            ..
        } => Some(Reinit {
            domain,
            target: *target,
            value: *value,
        }),
        _ => None,
    }
}
