//! Numerical reliability of tearing: which assignments of a loop are given up because errors would grow along them.
//!
//! Tearing is Gaussian elimination with a pivot order that structure has chosen. Let B be the (triangular) coefficients of the
//! solved variables v in the solved equations and C those of the open variables w, so that `v = -B⁻¹C w + ...`. Then
//! - an error δ of the open variables is one of `‖B⁻¹C‖ δ` in what is assigned, of which the corrector that iterates on w
//!   knows nothing;
//! - the Schur complement `S = E - D B⁻¹C` of the residuals has `‖S⁻¹‖ <= ‖A⁻¹‖` (it is a part of the inverse of the whole matrix A) and
//!   `‖S‖ <= ‖E‖ + ‖B⁻¹C‖ ‖D‖`: its condition is at most `1 + ‖B⁻¹C‖` times that of A (Higham, *Accuracy and Stability of
//!   Numerical Algorithms*, §13.3).
//!
//! So one number decides, the row sums of |B⁻¹C|. They are bounded along the order of evaluation by `g(v) = b + Σ |c_w / c_v| g(w)`: b is the
//! sum of the ratios of the open variables, and the sum goes over the solved ones. A step that does not expand (the ratios of
//! its solved variables sum up to at most one) adds to errors what its own open variables bring: along n such steps errors grow
//! at most n times, as in every sum of n terms, and never exponentially; it counts as `g(v) = max(b, g(w))`. The moments along a rigid
//! shaft, `tau[i] = tau[i + 1] + J*der(w)`, are such a sum. **Invariant:** what remains solved has `g <= MOST_GROWTH`. A pair that
//! exceeds it is given up: its variable is open (g = 1), its equation a residual, for the sparse factors, which choose pivots by value.
//! A coefficient that is not known now has no bound, and its equation is given up, too.
//!
//! *Scales.* Volts and amperes are not compared: the rows and columns of the loop are equilibrated first (Ruiz 2001: each row and column is divided
//! by the square root of its largest entry, a few times), and g is the growth of errors relative to these scales. Then `u = R*i` is neutral for every R.
//!
//! *Recurrences.* In pieces of arrays an access reaches elements of several pieces, of which each element uses one. A component of
//! pieces that use each other along the array is one step for each of its elements: if its ratios of solved variables sum up to
//! at most one the bound holds for every length, otherwise there is none. `T[i + 1] = 2.5*T[i] - T[i - 1]` has the sum 3.5. So the length
//! of an array does not decide.
//!
//! Cost: linear in the coefficients of the loop.
//!
//! Worked example: the chain `z1 = 3 z0`, `z2 = 3 z1 - 3 z0`, `z3 = 3 z2 - 3 z1`, closed by `z3 = -3 z0`. Column scales stay of one
//! size; g(z1) = 3, g(z2) = 3 + 3*3: z2 is open.
//! ```
//! use acausal_structure::{EqId, VarId, tearing::growth::{Growth, Term}};
//! let row = |terms: &[(usize, f64)]| terms.iter().map(|&(v, c)| Term::scalar(VarId::new(v), c)).collect::<Vec<_>>();
//! let rows = [row(&[(0, 3.0), (1, 1.0)]), row(&[(0, 3.0), (1, 3.0), (2, 1.0)]), row(&[(1, 3.0), (2, 3.0), (3, 1.0)]), row(&[(0, 3.0), (3, 1.0)])];
//! let unknowns: Vec<VarId> = (0..4).map(VarId).collect();
//! let equations: Vec<EqId> = (0..4).map(EqId).collect();
//! let growth = Growth::new(&unknowns, &equations, |e| rows[e.index()].clone());
//! let solved = [(EqId(0), VarId(1)), (EqId(1), VarId(2)), (EqId(2), VarId(3))];
//! let checked = growth.check(&solved, |_| false);
//! assert!(checked.given_up.iter().any(|g| g.variable == VarId(2)) && checked.kept.contains(&(EqId(0), VarId(1))));
//! ```

use crate::blt::strong_components;
use crate::{EqId, Rows, VarId};

/// Largest bound of the growth of errors along assignments. Threshold pivoting in sparse factors accepts pivots of a tenth of the largest entry
/// (Duff, Erisman & Reid, *Direct Methods for Sparse Matrices*, §5.2), which is the same factor for one step of an elimination; here it
/// holds for all steps together. What is assigned is then wrong by at most ten times what the corrector leaves of an error, which is a
/// hundredth of the tolerance.
pub const MOST_GROWTH: f64 = 10.0;

/// Passes of the equilibration. Each one halves the logarithm of how far a largest entry is from one: 10^12 becomes 1.5 in six.
const PASSES: usize = 6;

/// One access of an equation to a variable with its coefficient.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// The pieces of the variable that the access reaches; one for a scalar.
    pub variables: Vec<VarId>,
    /// The piece that the equation would be solved for through this access.
    pub solves: Option<VarId>,
    /// Smallest absolute value of the coefficient over the elements; 0 if it is not known.
    pub least: f64,
    /// Largest one; infinite if it is not known.
    pub most: f64,
}

impl Term {
    /// The term of a scalar variable.
    pub fn scalar(v: VarId, coefficient: f64) -> Term {
        Term {
            variables: vec![v],
            solves: Some(v),
            least: coefficient.abs(),
            most: coefficient.abs(),
        }
    }
}

/// A pair that is not solved because errors would grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GivenUp {
    /// The equation, which stays a residual.
    pub equation: EqId,
    /// The variable, which stays an unknown.
    pub variable: VarId,
    /// The bound of the growth; infinite if it follows the length of an array, none if coefficients are not known.
    pub growth: Option<f64>,
}

/// What is left of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// Pairs that stay solved, in evaluation order.
    pub kept: Vec<(EqId, VarId)>,
    /// Pairs that are given up.
    pub given_up: Vec<GivenUp>,
}

/// The coefficients of a loop.
#[derive(Debug)]
pub struct Growth {
    /// Sorted.
    unknowns: Vec<VarId>,
    /// Sorted, with the number of the row.
    equations: Vec<(EqId, u32)>,
    rows: Rows<Term>,
    scale: Vec<f64>,
}

impl Growth {
    /// The loop of `equations` in `unknowns`; all other variables are known.
    pub fn new(
        unknowns: &[VarId],
        equations: &[EqId],
        terms: impl Fn(EqId) -> Vec<Term>,
    ) -> Growth {
        let mut unknowns = unknowns.to_vec();
        unknowns.sort_unstable();
        let mut rows = Rows::new();
        for &e in equations {
            let row = terms(e).into_iter().filter_map(|mut t| {
                t.variables.retain(|v| unknowns.binary_search(v).is_ok());
                (!t.variables.is_empty()).then_some(t)
            });
            rows.push(row);
        }
        let mut numbered: Vec<(EqId, u32)> = equations.iter().copied().zip(0..).collect();
        numbered.sort_unstable();
        let mut out = Growth {
            scale: vec![1.0; unknowns.len()],
            unknowns,
            equations: numbered,
            rows,
        };
        out.equilibrate();
        out
    }

    /// Column scales: a coefficient times the scale of its variable is its size in the equilibrated loop.
    fn equilibrate(&mut self) {
        let mut row_scale = vec![1.0f64; self.rows.len()];
        for _ in 0..PASSES {
            let mut column_most = vec![0.0f64; self.scale.len()];
            for (k, row) in self.rows.iter().enumerate() {
                let mut most = 0.0f64;
                for (v, c) in self.known(row) {
                    let size = c * self.scale[v] * row_scale[k];
                    most = most.max(size);
                    column_most[v] = column_most[v].max(size);
                }
                if most > 0.0 && most.is_finite() {
                    row_scale[k] /= most.sqrt();
                }
            }
            for (s, most) in self.scale.iter_mut().zip(column_most) {
                if most > 0.0 && most.is_finite() {
                    *s /= most.sqrt();
                }
            }
        }
    }

    /// The known coefficients of a row by number of the variable.
    fn known<'a>(&'a self, row: &'a [Term]) -> impl Iterator<Item = (usize, f64)> + 'a {
        let known = row.iter().filter(|t| t.most.is_finite());
        known.flat_map(|t| t.variables.iter().map(|v| (self.number(*v), t.most)))
    }

    fn number(&self, v: VarId) -> usize {
        // Rows hold unknowns only.
        self.unknowns.partition_point(|u| *u < v)
    }

    /// Whether all coefficients of an equation are known.
    pub fn is_known(&self, e: EqId) -> bool {
        self.row(e).iter().all(|t| t.most.is_finite())
    }

    fn row(&self, e: EqId) -> &[Term] {
        match self.equations.binary_search_by_key(&e, |p| p.0) {
            Ok(k) => self.rows.row(self.equations[k].1 as usize),
            Err(_) => &[],
        }
    }

    /// Checks solved pairs in their order of evaluation. Those for which `fixed` holds stay whatever their growth.
    pub fn check(&self, solved: &[(EqId, VarId)], fixed: impl Fn(EqId) -> bool) -> Checked {
        let mut pair_of: Vec<Option<u32>> = vec![None; self.unknowns.len()];
        for (k, (_, v)) in solved.iter().enumerate() {
            pair_of[self.number(*v)] = Some(k as u32);
        }
        let uses = |k: usize| {
            let (e, v) = solved[k];
            let others = self.row(e).iter().filter(move |t| t.solves != Some(v));
            let used = others.flat_map(|t| t.variables.iter());
            used.filter_map(|w| pair_of[self.number(*w)].map(|p| p as usize))
        };
        let mut state = Progress {
            is_solved: pair_of.iter().map(Option::is_some).collect(),
            growth: vec![1.0; self.unknowns.len()],
            inside: vec![false; self.unknowns.len()],
        };
        let mut out = Checked::default();
        for component in strong_components(solved.len(), uses).iter() {
            let members = component.iter().map(|&k| self.number(solved[k].1));
            for v in members.clone() {
                state.inside[v] = true;
            }
            let cyclic = component.len() > 1 || uses(component[0]).any(|k| k == component[0]);
            let steps = component.iter().map(|&k| self.step(solved[k], &state));
            let bound = steps.map(|s| s.growth(cyclic)).fold(0.0, f64::max);
            for v in members {
                state.inside[v] = false;
            }
            for &k in component {
                let (equation, variable) = solved[k];
                let v = self.number(variable);
                if bound <= MOST_GROWTH {
                    state.growth[v] = bound;
                    out.kept.push((equation, variable));
                } else if fixed(equation) {
                    out.kept.push((equation, variable));
                } else {
                    state.is_solved[v] = false;
                    out.given_up.push(GivenUp {
                        equation,
                        variable,
                        growth: self.is_known(equation).then_some(bound),
                    });
                }
            }
        }
        out
    }

    /// What one assignment does to errors.
    fn step(&self, (e, v): (EqId, VarId), state: &Progress) -> Step {
        let row = self.row(e);
        let mut step = Step::default();
        let Some(pivot) = row.iter().find(|t| t.solves == Some(v)) else {
            step.open = f64::INFINITY;
            return step;
        };
        let pivot_size = pivot.least * self.scale[self.number(v)];
        for t in row.iter().filter(|t| t.solves != Some(v)) {
            let reached = || t.variables.iter().map(|w| self.number(*w));
            let ratio = |w: usize| t.most * self.scale[w] / pivot_size;
            let most = |of: &dyn Fn(usize) -> f64| reached().map(of).fold(0.0, f64::max);
            if reached().any(|w| state.is_solved[w]) {
                step.ratios += most(&ratio);
                // Elements of the component itself start from those outside.
                let from = |w: usize| {
                    if state.inside[w] {
                        0.0
                    } else {
                        state.growth[w]
                    }
                };
                step.before = step.before.max(most(&from));
                step.sum += most(&|w| ratio(w) * from(w));
            } else {
                step.open += most(&ratio);
            }
        }
        step
    }
}

/// What is known so far about each unknown.
struct Progress {
    is_solved: Vec<bool>,
    growth: Vec<f64>,
    /// It belongs to the component at hand.
    inside: Vec<bool>,
}

/// What one assignment does to errors.
#[derive(Clone, Copy, Default)]
struct Step {
    /// Sum of the ratios of open variables.
    open: f64,
    /// Sum of the ratios of solved variables.
    ratios: f64,
    /// Largest growth of a solved variable.
    before: f64,
    /// Sum of ratios times growth.
    sum: f64,
}

impl Step {
    fn growth(self, cyclic: bool) -> f64 {
        // Scales are square roots: equal ratios may differ in their last bits.
        const ROUNDING: f64 = 1e-9;
        let growth = if self.ratios <= 1.0 + ROUNDING {
            self.open.max(self.before)
        } else if cyclic {
            f64::INFINITY
        } else {
            self.open + self.sum
        };
        if growth.is_nan() {
            f64::INFINITY
        } else {
            growth
        }
    }
}
