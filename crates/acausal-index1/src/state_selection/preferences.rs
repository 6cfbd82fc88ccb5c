//! What is preferred as a state, and which equations are tried first.

use acausal_base::{Diagnostic, Span};
use acausal_expr::flat::{Action, Equation, FlatModel, OriginKind, StateSelect};
use acausal_expr::{Printer, VarId};
use acausal_structure::blt::Blocks;
use acausal_structure::state_selection::Preferences;

use crate::Options;
use crate::segments::incidence::is_unknown;
use crate::segments::nodes::Nodes;

/// Preference as a state: smaller is better. Names break ties, so that the order of the source does not matter. Where an
/// equation stands alone there are no ties: names and texts are made only for blocks of several equations.
pub(crate) fn preferences(
    flat: &FlatModel,
    nodes: &Nodes,
    blocks: &Blocks,
    options: &Options,
) -> Preferences {
    let d = &nodes.differentiated;
    let integral = d.eq_integral();
    let mut ties = vec![false; nodes.equations.len()];
    let mut named = vec![false; nodes.variables.len()];
    for (block, _) in blocks.iter().filter(|b| b.0.len() > 1) {
        for &e in block {
            let mut e = Some(e);
            while let Some(id) = e {
                d.graph.row(id).iter().for_each(|v| named[v.index()] = true);
                if id.index() < ties.len() {
                    ties[id.index()] = true;
                }
                e = integral[id.index()];
            }
        }
    }
    // Elements by number, not by digits: neighbours in a chain are neighbours here, which is what tearing likes. What needs no name comes first.
    let pieces = nodes.variables.iter().enumerate();
    let mut names: Vec<_> = pieces
        .filter(|(i, _)| named[*i])
        .map(|(i, v)| (flat.var(v.var).name.plain(), v.order, &v.spans[..], i))
        .collect();
    names.sort_unstable();
    let plain = (0..named.len()).filter(|&i| !named[i]);
    let by_name = names.iter().map(|n| n.3);
    let mut rank = vec![0i32; nodes.variables.len()];
    for (position, i) in plain.chain(by_name).enumerate() {
        let v = &nodes.variables[i];
        let class = class(flat, options, v.var, v.order > 0);
        rank[i] = class * SLOTS + (position as i32).min(SLOTS - 1);
    }
    let printer = Printer::nameless(flat);
    let mut texts: Vec<(u8, String, usize)> = nodes
        .equations
        .iter()
        .enumerate()
        .filter(|(k, _)| ties[*k])
        .map(|(k, e)| {
            let connection = is_connection(flat, &e.piece);
            (connection as u8, printer.equation(&e.piece), k)
        })
        .collect();
    texts.sort();
    let mut equation_rank = vec![0i64; d.graph.elen.len()];
    for (position, (_, _, k)) in texts.iter().enumerate() {
        let mut e = Some(acausal_structure::EqId::new(*k));
        while let Some(id) = e {
            equation_rank[id.index()] = position as i64;
            e = d.eq_derivative[id.index()];
        }
    }
    Preferences {
        variable_rank: rank,
        equation_rank,
    }
}

/// Room for the alphabetical position inside of one class of preference.
const SLOTS: i32 = 1 << 26;

fn is_fixed(flat: &FlatModel, var: VarId) -> bool {
    flat.var(var)
        .fixed
        .as_ref()
        .is_some_and(|f| flat.exprs.as_bool(f.body) == Some(true))
}

/// Class of preference of a variable, or of its derivatives, as a state: smaller is better.
pub(crate) fn class(flat: &FlatModel, options: &Options, var: VarId, derivative: bool) -> i32 {
    let v = flat.var(var);
    let select = match v.state_select {
        StateSelect::Always => 0,
        StateSelect::Prefer => 1,
        StateSelect::Default => 2,
        StateSelect::Avoid => 3,
        StateSelect::Never => 4,
    };
    let wished = options.prefer_states.iter().any(|p| *p == v.name.plain());
    let select = if wished { 0 } else { select };
    // A fixed start asks for a state most, a written start next; a derivative asks least.
    let start = if derivative {
        3
    } else if is_fixed(flat, var) {
        0
    } else if v.start.is_some() {
        1
    } else {
        2
    };
    select * 4 + start
}

/// Whether an equation stands for a connection.
pub(crate) fn is_connection(flat: &FlatModel, equation: &Equation) -> bool {
    matches!(
        flat.origin(equation.origin).kind,
        OriginKind::Potential | OriginKind::Flow | OriginKind::Unconnected
    )
}

/// What `reinit` gives a value must be a state (MLS 3.6 §8.3.6).
pub(crate) fn prefer_reinitialised(flat: &mut FlatModel) {
    let branches = flat.whens.iter().flat_map(|w| &w.branches);
    for action in branches.flat_map(|b| &b.actions) {
        if let Action::Reinit { target, .. } = action {
            flat.vars[target.var.index()].state_select = StateSelect::Always;
        }
    }
}

/// A preferred state that does not exist is a mistake of the user.
pub(crate) fn expect_unknowns(flat: &FlatModel, options: &Options) -> Result<(), Vec<Diagnostic>> {
    let errors: Vec<Diagnostic> = options
        .prefer_states
        .iter()
        .filter(|name| {
            !flat
                .var_ids()
                .any(|(id, v)| is_unknown(flat, id) && v.name.plain() == **name)
        })
        .map(|name| {
            let message = format!("there is no continuous variable `{name}` that could be a state");
            Diagnostic::error("wrong-setting", Span::NONE, message)
                .hint("name variables without subscripts, as `acausal flatten` shows them")
        })
        .collect();
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// Remarks about preferred states that could not be made states.
pub(crate) fn unfulfilled(
    flat: &FlatModel,
    options: &Options,
    states: &[String],
) -> Vec<Diagnostic> {
    if options.prefer_states.is_empty() {
        return Vec::new();
    }
    let is = |state: &String, name: &str| {
        state
            .strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
    };
    let variables = flat.var_ids().map(|(_, v)| v);
    variables
        .filter(|v| options.prefer_states.contains(&v.name.plain()))
        .filter(|v| !states.iter().any(|s| is(s, &v.name.plain())))
        .map(|v| {
            let message = format!("`{}` could not be made a state", v.name.plain());
            Diagnostic::remark("not-a-state", v.span, message)
        })
        .collect()
}
