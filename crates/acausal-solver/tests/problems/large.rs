//! Large sparse problems with hand-written Jacobians: the heat equation in two forms and a lossless transmission line.
//!
//! The same problems, in the same order of unknowns, as the C yardstick programs `heat` and `tline`.

use acausal_solver::{Dae, DaeError, Pattern};

/// Form of the heat equation `T_t = T_xx` on `[0, 1]` with `T(0) = 1 - exp(-10 t)` and an insulated right end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeatForm {
    /// Unknown temperatures only; the two ends are algebraic.
    Direct,
    /// Cell temperatures and face fluxes `q0 T0 q1 T1 .. qN`, fluxes algebraic.
    Flux,
}

/// The heat equation.
pub struct Heat {
    form: HeatForm,
    cells: usize,
    dx: f64,
    pattern: Pattern,
}

impl Heat {
    pub fn new(cells: usize, form: HeatForm) -> Self {
        let n = match form {
            HeatForm::Direct => cells,
            HeatForm::Flux => 2 * cells + 1,
        };
        let dx = match form {
            HeatForm::Direct => 1.0 / (cells - 1) as f64,
            HeatForm::Flux => 1.0 / cells as f64,
        };
        let entries = (0..n).flat_map(|i| {
            let neighbours = match form {
                HeatForm::Direct if i == 0 => 0..1,
                HeatForm::Direct if i == n - 1 => i - 1..n,
                HeatForm::Flux if i == n - 1 => i..n,
                _ => i.saturating_sub(1)..(i + 2).min(n),
            };
            neighbours.map(move |j| (i, j))
        });
        let pattern = Pattern::from_entries(n, entries).expect("indices are below n");
        Self {
            form,
            cells,
            dx,
            pattern,
        }
    }

    /// Consistent start: everything zero but the slope at the left end.
    pub fn start(&self) -> (Vec<f64>, Vec<f64>) {
        let n = self.pattern.size();
        let mut yp = vec![0.0; n];
        yp[0] = match self.form {
            HeatForm::Direct => 10.0,
            HeatForm::Flux => 20.0 / self.dx,
        };
        (vec![0.0; n], yp)
    }
}

fn boundary(t: f64) -> f64 {
    1.0 - (-10.0 * t).exp()
}

impl Dae for Heat {
    fn residual(&mut self, t: f64, y: &[f64], yp: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
        let n = self.pattern.size();
        let (y, yp, r) = (&y[..n], &yp[..n], &mut r[..n]);
        match self.form {
            HeatForm::Direct => {
                let c = 1.0 / (self.dx * self.dx);
                r[0] = y[0] - boundary(t);
                for i in 1..n - 1 {
                    r[i] = yp[i] - c * (y[i - 1] - 2.0 * y[i] + y[i + 1]);
                }
                r[n - 1] = y[n - 1] - y[n - 2];
            }
            HeatForm::Flux => {
                let c = 1.0 / self.dx;
                r[0] = y[0] - (boundary(t) - y[1]) * 2.0 * c;
                r[n - 1] = y[n - 1];
                for i in 0..self.cells {
                    let k = 2 * i + 1;
                    r[k] = yp[k] - (y[k - 1] - y[k + 1]) * c;
                    if i > 0 {
                        r[k - 1] = y[k - 1] - (y[k - 2] - y[k]) * c;
                    }
                }
            }
        }
        Ok(())
    }

    fn jacobian(
        &mut self,
        _t: f64,
        _y: &[f64],
        _yp: &[f64],
        cj: f64,
        values: &mut [f64],
    ) -> Result<(), DaeError> {
        let n = self.pattern.size();
        let mut k = 0;
        for j in 0..n {
            for &row in self.pattern.rows_of(j) {
                let i = row as usize;
                values[k] = match self.form {
                    HeatForm::Direct => {
                        let c = 1.0 / (self.dx * self.dx);
                        match (i == 0 || i == n - 1, i == j) {
                            (true, true) => 1.0,
                            (true, false) => -1.0,
                            (false, true) => cj + 2.0 * c,
                            (false, false) => -c,
                        }
                    }
                    HeatForm::Flux => {
                        let c = 1.0 / self.dx;
                        if i == j {
                            if i % 2 == 1 { cj } else { 1.0 }
                        } else if i % 2 == 1 {
                            if j < i { -c } else { c }
                        } else if i == 0 {
                            2.0 * c
                        } else if j < i {
                            -c
                        } else {
                            c
                        }
                    }
                };
                k += 1;
            }
        }
        Ok(())
    }

    fn pattern(&self) -> &Pattern {
        &self.pattern
    }
}

/// Transmission line of N cells (ScalableTestSuite, `TransmissionLineEquations`): a filtered unit step runs along a line
/// that is closed with its characteristic resistance. Unknowns `vvol, vol1, cur1, vol2, cur2, .., volN, curN`.
pub struct TransmissionLine {
    cells: usize,
    length: f64,
    pattern: Pattern,
}

const RESISTANCE: f64 = 48e-6;
const CAPACITANCE: f64 = 101e-12;
const INDUCTANCE: f64 = 253e-9;
const FILTER: f64 = 5e6;

impl TransmissionLine {
    pub fn new(cells: usize) -> Self {
        let n = 2 * cells + 1;
        let entries = (0..n).flat_map(|i| {
            let neighbours = match i {
                0 | 1 => 0..2,
                _ => i - 1..(i + 2).min(n),
            };
            neighbours.map(move |j| (i, j))
        });
        let pattern = Pattern::from_entries(n, entries).expect("indices are below n");
        Self {
            cells,
            length: 100.0 / cells as f64,
            pattern,
        }
    }

    pub fn start(&self) -> (Vec<f64>, Vec<f64>) {
        let n = self.pattern.size();
        let mut yp = vec![0.0; n];
        yp[0] = FILTER * FILTER;
        (vec![0.0; n], yp)
    }

    fn load() -> f64 {
        (INDUCTANCE / CAPACITANCE).sqrt()
    }
}

impl Dae for TransmissionLine {
    fn residual(&mut self, _t: f64, y: &[f64], yp: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
        let n = self.pattern.size();
        let (y, yp, r) = (&y[..n], &yp[..n], &mut r[..n]);
        let il = 1.0 / self.length;
        r[0] = y[0] - yp[1];
        r[1] = 1.0 - (y[1] + 2.0 / FILTER * yp[1] + yp[0] / (FILTER * FILTER));
        for i in 0..self.cells - 1 {
            let c = 2 * i + 2;
            r[c] = INDUCTANCE * yp[c] + RESISTANCE * y[c] + (y[c + 1] - y[c - 1]) * il;
            r[c + 1] = CAPACITANCE * yp[c + 1] - (y[c] - y[c + 2]) * il;
        }
        r[n - 1] = y[n - 2] - y[n - 1] * Self::load();
        Ok(())
    }

    fn jacobian(
        &mut self,
        _t: f64,
        _y: &[f64],
        _yp: &[f64],
        cj: f64,
        values: &mut [f64],
    ) -> Result<(), DaeError> {
        let n = self.pattern.size();
        let il = 1.0 / self.length;
        let mut k = 0;
        for j in 0..n {
            for &row in self.pattern.rows_of(j) {
                let i = row as usize;
                values[k] = match (i, j) {
                    (0, 0) => 1.0,
                    (0, _) => -cj,
                    (1, 0) => -cj / (FILTER * FILTER),
                    (1, _) => -1.0 - 2.0 / FILTER * cj,
                    _ if i == n - 1 => {
                        if j == i {
                            -Self::load()
                        } else {
                            1.0
                        }
                    }
                    _ if i == j => {
                        if i.is_multiple_of(2) {
                            INDUCTANCE * cj + RESISTANCE
                        } else {
                            CAPACITANCE * cj
                        }
                    }
                    _ if j > i => il,
                    _ => -il,
                };
                k += 1;
            }
        }
        Ok(())
    }

    fn pattern(&self) -> &Pattern {
        &self.pattern
    }
}
