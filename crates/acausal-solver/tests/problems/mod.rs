//! Model problems shared by the integration tests: a closure-based [`Dae`] with a dense pattern, and a driver.
#![allow(dead_code)]

use acausal_solver::{Bdf, BdfOptions, Dae, DaeError, Events, Pattern, SolverError, StepOutcome};

type Residual = Box<dyn FnMut(f64, &[f64], &[f64], &mut [f64])>;

/// Residual by closure, Jacobian by differences: for problems of a few unknowns.
pub struct Dense {
    pattern: Pattern,
    residual: Residual,
    roots: Option<(usize, Residual)>,
}

impl Dense {
    pub fn new(n: usize, residual: impl FnMut(f64, &[f64], &[f64], &mut [f64]) + 'static) -> Self {
        Self {
            pattern: Pattern::dense(n),
            residual: Box::new(residual),
            roots: None,
        }
    }

    pub fn with_roots(
        mut self,
        m: usize,
        roots: impl FnMut(f64, &[f64], &[f64], &mut [f64]) + 'static,
    ) -> Self {
        self.roots = Some((m, Box::new(roots)));
        self
    }
}

impl Dae for Dense {
    fn residual(&mut self, t: f64, y: &[f64], yp: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
        (self.residual)(t, y, yp, r);
        Ok(())
    }

    fn jacobian(
        &mut self,
        t: f64,
        y: &[f64],
        yp: &[f64],
        cj: f64,
        values: &mut [f64],
    ) -> Result<(), DaeError> {
        let n = self.pattern.size();
        let (mut y, mut yp) = (y.to_vec(), yp.to_vec());
        let (mut low, mut high) = (vec![0.0; n], vec![0.0; n]);
        for j in 0..n {
            let (y_j, yp_j) = (y[j], yp[j]);
            let step = 1e-6 * y_j.abs().max(yp_j.abs() / cj).max(1e-6);
            for (sign, r) in [(1.0, &mut high), (-1.0, &mut low)] {
                y[j] = y_j + sign * step;
                yp[j] = yp_j + sign * step * cj;
                (self.residual)(t, &y, &yp, r);
            }
            y[j] = y_j;
            yp[j] = yp_j;
            for i in 0..n {
                values[j * n + i] = (high[i] - low[i]) / (2.0 * step);
            }
        }
        Ok(())
    }

    fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    fn events(&mut self) -> Option<&mut dyn Events> {
        Some(self)
    }
}

impl Events for Dense {
    fn indicators_len(&self) -> usize {
        self.roots.as_ref().map_or(0, |r| r.0)
    }

    fn indicators(&mut self, t: f64, y: &[f64], yp: &[f64], g: &mut [f64]) -> Result<(), DaeError> {
        if let Some((_, roots)) = &mut self.roots {
            roots(t, y, yp, g);
        }
        Ok(())
    }
}

/// Options with one absolute tolerance.
pub fn tolerances(rtol: f64, atol: f64) -> BdfOptions {
    BdfOptions {
        rtol,
        atol: vec![atol],
        ..BdfOptions::default()
    }
}

/// Integrates to the end, ignoring roots.
pub fn run<D: Dae>(
    dae: &mut D,
    options: BdfOptions,
    t_end: f64,
    y: &[f64],
    yp: &[f64],
) -> Result<Bdf, SolverError> {
    let mut bdf = Bdf::new(options, 0.0, y, yp)?;
    while bdf.step(dae, t_end)? != StepOutcome::StopReached {}
    Ok(bdf)
}
