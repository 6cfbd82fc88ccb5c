//! What the integrator did, in the names of the model.

use acausal_compiled::CompiledModel;
use acausal_solver::Integrator;

use crate::Summary;

/// Work of the integrator beyond its main counters.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Iterations of the corrector, one linear solve each.
    pub newton_iterations: u64,
    /// Evaluations of the model that failed and were repeated with a smaller step.
    pub evaluation_failures: u64,
    /// Evaluations of event indicators.
    pub root_evaluations: u64,
    /// Output rows and looks at the indicators inside of steps that were corrected with the factors of the step.
    pub inner_points: u64,
    /// Iterations of these corrections, one residual and one solve each.
    pub inner_iterations: u64,
    /// Those that had to be solved from scratch.
    pub inner_solutions: u64,
    /// Relations and assignments of discrete variables that were evaluated at events.
    pub event_evaluations: u64,
    /// Restarts after events.
    pub restarts: u64,
    /// Times the order was held at two because of an undamped oscillation.
    pub order_holds: u64,
    /// Variables by the number of failed error tests to which they contributed most, largest number first.
    pub limiting: Vec<(String, u64)>,
    /// Variables by the number of failed corrector iterations in which they changed most.
    pub diverging: Vec<(String, u64)>,
    /// Entries of the Jacobian.
    pub jacobian_entries: usize,
    /// Entries of its factors.
    pub factor_entries: Option<usize>,
}

/// How many variables are named.
const NAMED: usize = 10;

impl Summary {
    /// Adds the counters of an integrator that is done.
    pub(crate) fn add(&mut self, bdf: &dyn Integrator, model: &CompiledModel) {
        let s = bdf.statistics();
        self.steps += s.steps;
        self.residual_evaluations += s.residual_evaluations;
        self.jacobian_evaluations += s.jacobian_evaluations;
        self.factorisations += s.factorisations;
        self.error_test_failures += s.error_test_failures;
        self.convergence_failures += s.convergence_failures;
        for (sum, steps) in self.steps_by_order.iter_mut().zip(s.steps_by_order) {
            *sum += steps;
        }
        let p = bdf.profile();
        self.seconds.factor += p.factor_seconds;
        self.seconds.solve += p.solve_seconds;
        let profile = &mut self.profile;
        profile.newton_iterations += s.newton_iterations;
        profile.evaluation_failures += s.evaluation_failures;
        profile.root_evaluations += s.root_evaluations;
        profile.restarts += s.restarts;
        profile.order_holds += s.order_holds;
        name_largest(&mut profile.limiting, &p.limiting, model);
        name_largest(&mut profile.diverging, &p.diverging, model);
        profile.jacobian_entries = p.matrix_entries;
        profile.factor_entries = p.factor_entries;
    }
}

/// Adds the largest counts under the names of their unknowns. Ties keep the order of the unknowns.
fn name_largest(named: &mut Vec<(String, u64)>, counts: &[u64], model: &CompiledModel) {
    let mut order: Vec<usize> = (0..counts.len()).filter(|&k| counts[k] > 0).collect();
    order.sort_by_key(|&k| std::cmp::Reverse(counts[k]));
    for k in order.into_iter().take(NAMED) {
        let name = crate::error::unknown_text(model, k);
        match named.iter_mut().find(|n| n.0 == name) {
            Some(n) => n.1 += counts[k],
            None => named.push((name, counts[k])),
        }
    }
    named.sort_by_key(|n| std::cmp::Reverse(n.1));
    named.truncate(NAMED);
}
