//! Equations against unknowns (MLS 3.6 §4.8).
//!
//! Only numbers are compared here; the message goes along with the model, because which equations and unknowns do not
//! fit is the business of the structural analysis.

use acausal_expr::VarId;
use acausal_expr::flat::{Action, Causality, When};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::Flattener;
use crate::lower::error;

impl Flattener {
    pub(super) fn balance(&mut self) {
        let model = &self.model;
        let unknowns: usize = model
            .vars
            .iter()
            .filter(|v| !v.is_parameter() && v.causality != Causality::Input)
            .map(|v| v.len())
            .sum();
        let unknowns = unknowns - self.unassigned;
        let equations: usize = model.equations.iter().map(|e| e.len()).sum();
        let assigned: usize = model.whens.iter().map(|w| self.assigned(w)).sum();
        let total = equations + assigned;
        if total == unknowns {
            return;
        }
        let span = self.span;
        let (equations_text, unknowns_text) =
            (count(total, "equation"), count(unknowns, "unknown"));
        let relation = if total < unknowns {
            "too few"
        } else {
            "too many"
        };
        let mut message = error(
            "unbalanced",
            span,
            format!(
                "{relation} equations in {}: {equations_text} for {unknowns_text}",
                model.name
            ),
        );
        if total < unknowns {
            let used: FxHashSet<VarId> = model
                .equations
                .iter()
                .flat_map(|e| [e.lhs, e.rhs])
                .flat_map(|e| model.exprs.accesses(e))
                .map(|(_, a)| a.var)
                .collect();
            let unused: Vec<String> = model
                .var_ids()
                .filter(|(id, v)| {
                    !v.is_parameter()
                        && v.causality != Causality::Input
                        && !used.contains(id)
                        && !self.discrete.contains(id)
                        && !v.is_empty()
                })
                .map(|(_, v)| format!("`{}`", v.name.plain()))
                .take(10)
                .collect();
            if !unused.is_empty() {
                message = message.note(format!("no equation contains {}", unused.join(", ")));
            }
            message = message.hint(format!("add {}", count(unknowns - total, "equation")));
        } else {
            message = message.hint(format!("remove {}", count(total - unknowns, "equation")));
        }
        self.model.imbalance = Some(message.into());
    }

    /// Scalars that a `when` determines: each variable once, although several branches may assign it.
    fn assigned(&self, when: &When) -> usize {
        let outer: usize = when
            .domain
            .iter()
            .map(|d| d.1.count.max(0) as usize)
            .product();
        let mut most: IndexMap<VarId, usize, FxBuildHasher> = IndexMap::default();
        for branch in &when.branches {
            let mut here: IndexMap<VarId, usize, FxBuildHasher> = IndexMap::default();
            for action in &branch.actions {
                if let Action::Assign { domain, target, .. } = action {
                    let n: usize = domain.iter().map(|d| d.1.count.max(0) as usize).product();
                    *here.entry(target.var).or_insert(0) += n;
                }
            }
            for (var, n) in here {
                let slot = most.entry(var).or_insert(0);
                *slot = (*slot).max(n);
            }
        }
        outer * most.values().sum::<usize>()
    }
}

fn count(n: usize, what: &str) -> String {
    if n == 1 {
        format!("1 {what}")
    } else {
        format!("{n} {what}s")
    }
}
