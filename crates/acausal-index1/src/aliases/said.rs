//! What is said about variables beyond their equations: it decides which of those that equal each other stay.

use acausal_expr::flat::{Action, Comprehension, FlatModel, StateSelect, Variable};
use acausal_expr::{Builtin, ExprId, Node, ValueKind, VarId};
use acausal_symbolic::Substitute;

use super::map::AccessMap;

/// Variables of which more than the value is asked for: derivatives, left limits, start values, and states that are set anew.
pub(super) fn special(flat: &FlatModel) -> Vec<bool> {
    let x = &flat.exprs;
    let mut special = vec![false; flat.vars.len()];
    for e in x.ids() {
        match x.node(e) {
            Node::Var(a) if a.kind != ValueKind::Value => {
                // Shapes of values that were not needed in the end are accesses to no variable.
                if let Some(s) = special.get_mut(a.var.index()) {
                    *s = true;
                }
            }
            Node::Call(Builtin::Start, l) => {
                for (_, a) in x.list(l).iter().flat_map(|&e| x.accesses(e)) {
                    if let Some(s) = special.get_mut(a.var.index()) {
                        *s = true;
                    }
                }
            }
            _ => {}
        }
    }
    let branches = flat.whens.iter().flat_map(|w| &w.branches);
    for action in branches.flat_map(|b| &b.actions) {
        if let Action::Reinit { target, .. } | Action::Assign { target, .. } = action {
            special[target.var.index()] = true;
        }
    }
    special
}

/// Whether something is said about a variable that another one, which takes its place, has to say too.
pub(super) fn is_said(v: &Variable) -> bool {
    let attributes = v.attributes.as_ref();
    let said =
        attributes.is_some_and(|a| a.fixed.is_some() || a.start.is_some() || a.nominal.is_some());
    said || v.state_select != StateSelect::Default
}

/// What takes the place of a variable: this one or its negative, with the map of subscripts unless it is the identity.
pub(super) struct Place<'m> {
    pub to: VarId,
    pub negative: bool,
    pub map: Option<&'m AccessMap>,
}

/// Whether everything that is said about a variable is said about what takes its place too.
pub(super) fn says_nothing(flat: &mut FlatModel, of: VarId, place: &Place<'_>) -> bool {
    let (v, w) = (flat.var(of), flat.var(place.to));
    if !is_said(v) {
        return true;
    }
    if v.fixed.is_some() || v.state_select != StateSelect::Default {
        return false;
    }
    let (start, nominal) = (
        [v.start.clone(), w.start.clone()],
        [v.nominal.clone(), w.nominal.clone()],
    );
    // Nominal values are magnitudes.
    same(flat, start, place, place.negative) && same(flat, nominal, place, false)
}

/// Whether an attribute of a variable is not written, or what that of its place gives for it.
fn same(
    flat: &mut FlatModel,
    [own, other]: [Option<Comprehension>; 2],
    place: &Place<'_>,
    negative: bool,
) -> bool {
    let (own, other) = match (own, other) {
        (None, _) => return true,
        (Some(_), None) => return false,
        (Some(own), Some(other)) => (own, other),
    };
    let x = &mut flat.exprs;
    let mut subs: Vec<ExprId> = own.iters.iter().map(|&i| x.iter(i)).collect();
    if let Some(map) = place.map {
        subs = map.of(x, &subs);
    }
    let values: Vec<_> = other.iters.iter().copied().zip(subs).collect();
    let other = x.substitute_iters(other.body, &values);
    let difference = match negative {
        true => x.add(&[own.body, other]),
        false if own.body == other => return true,
        false => x.sub(own.body, other),
    };
    x.is_zero(difference)
}

/// What speaks for a variable as the representative, most important first; the largest wins, and among equals the first by name.
pub(super) fn merit(v: &Variable, special: bool) -> u8 {
    let wish = match v.state_select {
        StateSelect::Never => 0,
        StateSelect::Avoid => 1,
        StateSelect::Default => 2,
        StateSelect::Prefer => 3,
        StateSelect::Always => 4,
    };
    let said = |slot: &Option<Comprehension>| u8::from(slot.is_some());
    let (fixed, start, nominal) = match &v.attributes {
        None => (0, 0, 0),
        Some(a) => (said(&a.fixed), said(&a.start), said(&a.nominal)),
    };
    let written = u8::from(!v.auxiliary);
    u8::from(special) << 7 | fixed << 6 | wish << 3 | start << 2 | nominal << 1 | written
}
