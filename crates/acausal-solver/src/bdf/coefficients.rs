//! Coefficients of the fixed-leading-coefficient BDF on a variable grid.
//!
//! The solution history is kept as modified divided differences `phi[0..=k]`; the coefficients here turn them into
//! predictor, corrector, error estimates and dense output. Notation and formulas: Brenan, Campbell & Petzold,
//! "Numerical Solution of Initial-Value Problems in DAEs" (1996), sec. 5.2; Hindmarsh et al., IDA user guide, ch. 2.
//!
//! `psi[i] = t_n - t_(n-i-1)`, `alpha[i] = h / psi[i]`, `beta[i]` rescales the differences of the last step to the new
//! grid, `sigma[i]` belongs to the error constant of order i, and `gamma[i]` differentiates the predictor.
//!
//! Worked example: for constant h, `psi[i] = (i + 1) h`, `alpha[i] = 1 / (i + 1)`, all `beta = 1`,
//! `sigma[i] = 1 / (i + 1)`, and `phi[i]` is the i-th backward difference; the leading coefficient is
//! `cj = (1 + 1/2 + .. + 1/k) / h`.

use super::options::MAX_ORDER;

pub const LEN: usize = MAX_ORDER + 1;

/// Coefficients of the current step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coefficients {
    pub psi: [f64; LEN],
    pub alpha: [f64; LEN],
    pub beta: [f64; LEN],
    pub sigma: [f64; LEN],
    pub gamma: [f64; LEN],
    /// Steps taken with the present order and step size, plus one.
    pub steps_constant: usize,
    /// Leading coefficient: `y' = cj * y + ...`.
    pub cj: f64,
    /// Factor of the error test.
    pub error_factor: f64,
}

impl Coefficients {
    /// Coefficients for a step of size `h` with order `k` after a step of `h_used` with `k_used`.
    pub fn advance(&mut self, h: f64, k: usize, h_used: f64, k_used: usize) {
        if h != h_used || k != k_used {
            self.steps_constant = 0;
        }
        self.steps_constant = (self.steps_constant + 1).min(k_used + 2);
        if k + 1 >= self.steps_constant {
            self.beta[0] = 1.0;
            self.alpha[0] = 1.0;
            self.gamma[0] = 0.0;
            self.sigma[0] = 1.0;
            let mut spread = h;
            for i in 1..=k {
                let old = self.psi[i - 1];
                self.psi[i - 1] = spread;
                self.beta[i] = self.beta[i - 1] * self.psi[i - 1] / old;
                spread = old + h;
                self.alpha[i] = h / spread;
                self.sigma[i] = i as f64 * self.sigma[i - 1] * self.alpha[i];
                self.gamma[i] = self.gamma[i - 1] + self.alpha[i - 1] / h;
            }
            self.psi[k] = spread;
        }
        let mut alpha_s = 0.0;
        let mut alpha_0 = 0.0;
        for i in 0..k {
            alpha_s -= 1.0 / (i + 1) as f64;
            alpha_0 -= self.alpha[i];
        }
        self.cj = -alpha_s / h;
        self.error_factor = (self.alpha[k] + alpha_s - alpha_0).abs().max(self.alpha[k]);
    }

    /// Undoes [`Coefficients::advance`] after a failed attempt; `phi[steps_constant..=k]` must be divided by `beta`.
    pub fn retreat(&mut self, h: f64, k: usize) {
        for i in 1..=k {
            self.psi[i - 1] = self.psi[i] - h;
        }
    }

    /// Weights of `phi[0..=k]` for the solution and for its derivative at `t_n + delta` (`delta <= 0` inside the step).
    pub fn interpolation(&self, delta: f64, k: usize) -> ([f64; LEN], [f64; LEN]) {
        let mut value = [0.0; LEN];
        let mut slope = [0.0; LEN];
        let (mut c, mut d) = (1.0, 0.0);
        let mut gam = delta / self.psi[0];
        value[0] = 1.0;
        for j in 1..=k {
            d = d * gam + c / self.psi[j - 1];
            c *= gam;
            gam = (delta + self.psi[j - 1]) / self.psi[j];
            value[j] = c;
            slope[j] = d;
        }
        (value, slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_step_gives_the_classical_formulas() {
        let h = 0.25;
        let mut c = Coefficients::default();
        c.psi[0] = h;
        let (mut k_used, mut h_used) = (0, 0.0);
        for step in 0..20 {
            let k = (step / 4 + 1).min(3);
            c.advance(h, k, h_used, k_used);
            (k_used, h_used) = (k, h);
        }
        for i in 0..=3 {
            assert!((c.alpha[i] - 1.0 / (i + 1) as f64).abs() < 1e-14);
            assert!((c.sigma[i] - 1.0 / (i + 1) as f64).abs() < 1e-14);
            assert!((c.beta[i] - 1.0).abs() < 1e-14);
        }
        // BDF3: leading coefficient 11/6.
        assert!((c.cj * h - 11.0 / 6.0).abs() < 1e-14);
        // Dense output reproduces the value one step back: y(t - h) = phi0 - phi1.
        let (value, _) = c.interpolation(-h, 3);
        for (v, expected) in value.iter().zip([1.0, -1.0, 0.0, 0.0]) {
            assert!((v - expected).abs() < 1e-14);
        }
    }
}
