//! What holds at the start, and the matrix with columns for `x`, `x'` and free parameters.

use acausal_compiled::Schedule;

use super::{Machine, ProgramId};

impl Machine {
    /// The value of a column of the initial Jacobian: `x`, `x'`, or a free parameter.
    pub(crate) fn column_value(&self, c: usize, y: &[f64], yp: &[f64]) -> f64 {
        let n = self.model.n;
        if c < n {
            y[c]
        } else if c < 2 * n {
            yp[c - n]
        } else {
            (self.model.initial.free_at(c - 2 * n)).map_or(f64::NAN, |(f, k)| self.mem[f.base + k])
        }
    }

    /// Sets the value of a column of the initial Jacobian.
    pub(crate) fn set_column(&mut self, c: usize, v: f64, y: &mut [f64], yp: &mut [f64]) {
        let n = self.model.n;
        if c < n {
            y[c] = v;
        } else if c < 2 * n {
            yp[c - n] = v;
        } else if let Some((f, k)) = self.model.initial.free_at(c - 2 * n) {
            self.mem[f.base + k] = v;
        }
    }

    /// The name of a column of the initial Jacobian.
    pub(crate) fn column_text(&self, c: usize) -> String {
        let n = self.model.n;
        if c < n {
            crate::error::unknown_text(&self.model, c)
        } else if c < 2 * n {
            crate::error::derivative_text(&self.model, c - n)
        } else {
            self.model.free_name(c - 2 * n)
        }
    }

    /// Residual rows followed by initial equations, into `r`.
    pub(crate) fn initial_residual(&mut self, t: f64, y: &[f64], yp: &[f64], r: &mut [f64]) {
        self.update_all(t, y, yp);
        self.run_to(ProgramId::Residuals, y, yp, r);
        self.run_to(ProgramId::InitialResiduals, y, yp, r);
    }

    /// Values of the initial Jacobian (columns `x`, then `x'`), in the order of its pattern.
    pub(crate) fn initial_jacobian(&mut self, t: f64, y: &[f64], yp: &[f64]) -> &[f64] {
        let j = &self.model.initial.jacobian;
        let s = j.schedule();
        let memory = &mut self.initial;
        if memory.partials.len() != j.partials_len || memory.acc.len() != s.acc_len {
            memory.partials = vec![0.0; j.partials_len];
            j.fill_constants(&mut memory.partials);
            memory.acc = vec![0.0; s.acc_len];
            memory.values = vec![0.0; s.sparsity.row_idx.len()];
        }
        self.update_all(t, y, yp);
        let mut partials = std::mem::take(&mut self.initial.partials);
        self.run_to(ProgramId::InitialPartials, y, yp, &mut partials);
        self.initial.partials = partials;
        let s = self.model.initial.jacobian.schedule();
        let memory = &mut self.initial;
        let (acc, values) = (&mut memory.acc, &mut memory.values);
        s.accumulate(None, &memory.partials, (1.0, 1.0), acc, values);
        &self.initial.values
    }

    /// The matrix of consistent values by its schedule ([`Compiled::consistent`]), in the order of its pattern.
    pub(crate) fn consistent_jacobian(
        &mut self,
        schedule: &Schedule,
        t: f64,
        y: &[f64],
        yp: &[f64],
        values: &mut [f64],
    ) {
        self.update_for_residual(t, y, yp);
        let mut partials = std::mem::take(&mut self.partials);
        self.run_to(ProgramId::Partials, y, yp, &mut partials);
        self.partials = partials;
        self.consistent_jacobian_at_hand(schedule, values);
    }

    /// The same at the point of the partial derivatives that were evaluated last, here or for the integrator.
    pub(crate) fn consistent_jacobian_at_hand(&mut self, schedule: &Schedule, values: &mut [f64]) {
        // Its rows of local assignments have no entry that those of the integrator's matrix have not.
        let acc = &mut self.acc[..schedule.acc_len];
        schedule.accumulate(None, &self.partials, (1.0, 1.0), acc, values);
    }
}
