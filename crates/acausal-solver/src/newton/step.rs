//! The linear problem of one Newton step, for square and rectangular Jacobians.
//!
//! - as many equations as unknowns: `J dx = -r`;
//! - fewer equations m than unknowns n: the dx of least weighted norm, from the augmented square system
//!   `[D J'; J 0] [dx; multiplier] = [0; -r]` with D = diag(1 / scale^2);
//! - more equations: least squares, from `[S J; J' 0] [residual; dx] = [-r; 0]` with S = I after row equilibration.
//!
//! - singular square Jacobian: the same augmented system with a small `-eps I` in place of the zero block, which gives
//!   (nearly) the step of least norm among those that reduce the linearised residual most (Tikhonov).
//!
//! The augmented systems keep the sparsity of J (the normal equations would square its condition and fill it), see
//! Bjorck, "Numerical Methods for Least Squares Problems" (1996), sec. 7.7.

use super::{NewtonError, NewtonOptions};
use crate::linear::{LinearSolver, Lu, Singular, power_of_two_reciprocal};
use crate::pattern::Pattern;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Square,
    Wide,
    Tall,
    /// Square, with regularisation.
    Regularised,
}

/// Regularisation against equilibrated rows and scaled unknowns: small enough to leave nine digits of the step.
const REGULARISATION: f64 = 1e-9;

pub(super) struct StepSolver {
    shape: Shape,
    unknowns: usize,
    equations: usize,
    jacobian: Pattern,
    /// The pattern that is factorised.
    augmented: Option<Pattern>,
    lu: Lu,
    values: Vec<f64>,
    row_scale: Vec<f64>,
    rhs: Vec<f64>,
}

impl StepSolver {
    pub fn new(jacobian: &Pattern, unknowns: usize, equations: usize) -> Result<Self, NewtonError> {
        let shape = match unknowns.cmp(&equations) {
            std::cmp::Ordering::Equal => Shape::Square,
            std::cmp::Ordering::Greater => Shape::Wide,
            std::cmp::Ordering::Less => Shape::Tall,
        };
        Self::with_shape(jacobian, unknowns, equations, shape)
    }

    /// The solver for singular square Jacobians.
    pub fn regularised(jacobian: &Pattern) -> Result<Self, NewtonError> {
        let n = jacobian.size();
        Self::with_shape(jacobian, n, n, Shape::Regularised)
    }

    fn with_shape(
        jacobian: &Pattern,
        unknowns: usize,
        equations: usize,
        shape: Shape,
    ) -> Result<Self, NewtonError> {
        if jacobian.size() != unknowns.max(equations) {
            return Err(NewtonError::InvalidOptions);
        }
        let augmented = match shape {
            Shape::Square => None,
            // First block row: D or S on the diagonal; the blocks of J and J' follow the order of [dx; multiplier]
            // resp. [residual; dx].
            _ => Some(augmented_pattern(jacobian, shape, unknowns, equations)?),
        };
        let mut lu = Lu::new();
        let size = augmented.as_ref().map_or(unknowns, Pattern::size);
        let as_singular = |s: Singular| match shape {
            Shape::Square => NewtonError::Singular {
                row: s.row,
                col: s.col,
            },
            _ => in_terms_of_jacobian(s, shape, unknowns, equations),
        };
        lu.analyse(augmented.as_ref().unwrap_or(jacobian))
            .map_err(as_singular)?;
        Ok(Self {
            shape,
            unknowns,
            equations,
            jacobian: jacobian.clone(),
            values: vec![0.0; augmented.as_ref().map_or(0, Pattern::nnz)],
            augmented,
            lu,
            row_scale: vec![1.0; equations],
            rhs: vec![0.0; size],
        })
    }

    /// The pattern of the Jacobian.
    pub fn pattern(&self) -> &Pattern {
        &self.jacobian
    }

    /// Norm of the residual with the rows as they were equilibrated last.
    pub fn residual_norm(&self, r: &[f64]) -> f64 {
        let sum: f64 = (r.iter().zip(&self.row_scale))
            .map(|(r, s)| (r * s) * (r * s))
            .sum();
        sum.sqrt()
    }

    /// Factorises the Jacobian at `x`.
    pub fn factor(
        &mut self,
        values: &[f64],
        x: &[f64],
        options: &NewtonOptions,
    ) -> Result<(), Singular> {
        self.factor_with(values, x, options, REGULARISATION)
    }

    /// Factorises the Jacobian with a given regularisation.
    pub fn factor_with(
        &mut self,
        values: &[f64],
        x: &[f64],
        options: &NewtonOptions,
        regularisation: f64,
    ) -> Result<(), Singular> {
        let Some(augmented) = &self.augmented else {
            return self.lu.factor(values);
        };
        // Rows of J are equilibrated here, because the LU sees them as rows and as columns.
        self.row_scale.fill(0.0);
        for (k, &row) in self.jacobian.row_idx().iter().enumerate() {
            let size = &mut self.row_scale[row as usize];
            *size = size.max(values[k].abs());
        }
        self.row_scale
            .iter_mut()
            .for_each(|s| *s = power_of_two_reciprocal(*s));
        let offset = self.unknowns.max(self.equations);
        let scale_of = |j: usize| options.scale(j, x.get(j).copied().unwrap_or(0.0));
        let mut at = 0;
        // Walk both patterns column by column; augmented columns hold the J entry positions in the same order.
        for column in 0..augmented.size() {
            for &row in augmented.rows_of(column) {
                let row = row as usize;
                self.values[at] = if row == column {
                    match self.shape {
                        Shape::Regularised if column >= offset => -regularisation,
                        Shape::Wide | Shape::Regularised => scale_of(column).powi(-2),
                        _ => 1.0,
                    }
                } else {
                    let (i, j) = self.entry_of_jacobian(row, column, offset);
                    let position = self.jacobian.position(i, j).unwrap_or(0);
                    values[position] * self.row_scale[i]
                };
                at += 1;
            }
        }
        self.lu.factor(&self.values).map_err(|s| {
            let error = in_terms_of_jacobian(s, self.shape, self.unknowns, self.equations);
            match error {
                NewtonError::Singular { row, col } => Singular {
                    row,
                    col,
                    structural: s.structural,
                },
                _ => s,
            }
        })
    }

    /// Row and column of J behind an off-diagonal entry of the augmented matrix.
    fn entry_of_jacobian(&self, row: usize, column: usize, offset: usize) -> (usize, usize) {
        match (self.shape, row >= offset) {
            // Wide: lower left block is J, upper right its transpose.
            (Shape::Wide | Shape::Regularised, true) => (row - offset, column),
            (Shape::Wide | Shape::Regularised, false) => (column - offset, row),
            // Tall: upper right block is J, lower left its transpose.
            (_, true) => (column, row - offset),
            (_, false) => (row, column - offset),
        }
    }

    /// The step for residual `r`.
    pub fn solve(&mut self, r: &[f64], dx: &mut [f64]) {
        match self.shape {
            Shape::Square => {
                for (d, r) in dx.iter_mut().zip(r) {
                    *d = -r;
                }
                self.lu.solve(dx);
            }
            Shape::Wide | Shape::Regularised => {
                self.rhs.fill(0.0);
                for (i, r) in r.iter().enumerate() {
                    self.rhs[self.unknowns + i] = -r * self.row_scale[i];
                }
                self.lu.solve(&mut self.rhs);
                dx.copy_from_slice(&self.rhs[..self.unknowns]);
            }
            Shape::Tall => {
                self.rhs.fill(0.0);
                for (i, r) in r.iter().enumerate() {
                    self.rhs[i] = -r * self.row_scale[i];
                }
                self.lu.solve(&mut self.rhs);
                dx.copy_from_slice(&self.rhs[self.equations..]);
            }
        }
    }

    /// Sum of |J| times the size of the unknowns, per equation.
    pub fn row_sizes(&self, values: &[f64], x: &[f64], options: &NewtonOptions) -> Vec<f64> {
        let mut sizes = vec![0.0; self.equations];
        for (j, &x) in x.iter().enumerate() {
            for k in self.jacobian.range(j) {
                sizes[self.jacobian.row_idx()[k] as usize] += values[k].abs() * options.scale(j, x);
            }
        }
        sizes
    }
}

fn augmented_pattern(
    jacobian: &Pattern,
    shape: Shape,
    unknowns: usize,
    equations: usize,
) -> Result<Pattern, NewtonError> {
    let offset = unknowns.max(equations);
    let diagonal = if shape == Shape::Regularised {
        unknowns + equations
    } else {
        offset
    };
    let mut entries: Vec<(usize, usize)> = (0..diagonal).map(|k| (k, k)).collect();
    for j in 0..jacobian.size() {
        for &i in jacobian.rows_of(j) {
            let i = i as usize;
            if i >= equations || j >= unknowns {
                return Err(NewtonError::InvalidOptions);
            }
            match shape {
                Shape::Wide | Shape::Regularised => {
                    entries.extend([(offset + i, j), (j, offset + i)])
                }
                _ => entries.extend([(i, offset + j), (offset + j, i)]),
            }
        }
    }
    Pattern::from_entries(unknowns + equations, entries).map_err(|_| NewtonError::InvalidOptions)
}

/// A pivot failure of the augmented matrix, as equation and unknown of the Jacobian where it has one.
fn in_terms_of_jacobian(
    s: Singular,
    shape: Shape,
    unknowns: usize,
    equations: usize,
) -> NewtonError {
    let offset = unknowns.max(equations);
    let part = |index: usize| {
        if index >= offset {
            (true, index - offset)
        } else {
            (false, index)
        }
    };
    let ((second_row, row), (second_col, col)) = (part(s.row), part(s.col));
    let wide = shape != Shape::Tall;
    // In the wide form second-part indices are equations, in the tall form unknowns.
    let equation = if wide == second_row { row } else { col };
    let unknown = if wide == second_col { row } else { col };
    NewtonError::Singular {
        row: equation.min(equations.saturating_sub(1)),
        col: unknown.min(unknowns.saturating_sub(1)),
    }
}
