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
//! A coefficient that is not known now has no bound, and its equation is given up, too. Pairs that are no choice of tearing count as
//! open variables for those that are.
//!
//! *Scales.* Volts and amperes are not compared: the rows and columns of the loop are equilibrated first (Ruiz 2001: each row and column is divided
//! by the square root of its largest entry, a few times), and g is the growth of errors relative to these scales. Then `u = R*i` is neutral for every R.
//!
//! *Recurrences.* In pieces of arrays an access reaches elements of several pieces, of which each element uses one. A component of
//! pieces that use each other along the array is one step for each of its elements: if its ratios inside of the component sum up to
//! at most one the step does not expand, whatever the length; otherwise there is no bound. `T[i + 1] = 2.5*T[i] - T[i - 1]` has the sum
//! 3.5. So the length of an array does not decide.
//!
//! Cost: linear in the coefficients of the loop.
//!
//! Worked example: `z[k+2] = c*z[k+1] - z[k]` from two open variables on. With c = 2.5 errors grow by 3.5 per step, and the chain is cut; `z[k+2] =
//! z[k+1] + z[0]` is a sum, which stays.
//! ```
//! use acausal_structure::{EqId, VarId, tearing::growth::{Growth, Term}};
//! let term = |v: u32, c: f64| Term::scalar(VarId(v), c);
//! let given_up = |row: &dyn Fn(u32) -> Vec<Term>| {
//!     let unknowns: Vec<VarId> = (0..22).map(VarId).collect();
//!     let solved: Vec<(EqId, VarId)> = (0..20).map(|k| (EqId(k), VarId(k + 2))).collect();
//!     let equations: Vec<EqId> = (0..20).map(EqId).collect();
//!     Growth::new(&unknowns, &equations, |e| row(e.0)).check(&solved, |_| false).given_up.len()
//! };
//! assert!(given_up(&|k| vec![term(k, 1.0), term(k + 1, 2.5), term(k + 2, 1.0)]) >= 3);
//! assert_eq!(given_up(&|k| vec![term(0, 1.0), term(k + 1, 1.0), term(k + 2, 1.0)]), 0);
//! ```

use crate::blt::strong_components;
use crate::{EqId, Rows, VarId};

/// Largest bound of the growth of errors along assignments. Threshold pivoting in sparse factors accepts pivots of a tenth of the
/// largest entry (Duff, Erisman & Reid, *Direct Methods for Sparse Matrices*, §5.2), which is the same factor for each step of an
/// elimination; here it holds for all steps together. Ten times the depth of the chain was tried: on ladders whose solution decays
/// along them errors of the large values then exceed the small ones, and the corrector does not converge.
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
            is_solved: vec![false; self.unknowns.len()],
            growth: vec![1.0; self.unknowns.len()],
            inside: vec![false; self.unknowns.len()],
        };
        let mut out = Checked::default();
        for component in strong_components(solved.len(), uses).iter() {
            let members = component.iter().map(|&k| self.number(solved[k].1));
            for v in members.clone() {
                state.inside[v] = true;
            }
            let mut step = Step::default();
            for &k in component {
                step = step.worse(self.step(solved[k], &state));
            }
            let bound = step.growth();
            for v in members {
                state.inside[v] = false;
            }
            for &k in component {
                let (equation, variable) = solved[k];
                let v = self.number(variable);
                if fixed(equation) || bound <= MOST_GROWTH {
                    if bound <= MOST_GROWTH {
                        state.growth[v] = bound;
                    }
                    state.is_solved[v] = !fixed(equation);
                    out.kept.push((equation, variable));
                } else {
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
            step.inside = f64::INFINITY;
            return step;
        };
        let pivot_size = pivot.least * self.scale[self.number(v)];
        for t in row.iter().filter(|t| t.solves != Some(v)) {
            let ratio = |w: usize| t.most * self.scale[w] / pivot_size;
            let (mut inside, mut solved, mut before, mut outside) =
                (0.0f64, 0.0f64, 0.0f64, 0.0f64);
            for w in t.variables.iter().map(|w| self.number(*w)) {
                if state.inside[w] {
                    inside = inside.max(ratio(w));
                    continue;
                }
                outside = outside.max(ratio(w) * state.growth[w]);
                if state.is_solved[w] {
                    solved = solved.max(ratio(w));
                    before = before.max(state.growth[w]);
                }
            }
            step.inside += inside;
            step.outside += outside;
            if solved > 0.0 {
                step.solved += solved;
                step.before = step.before.max(before);
            } else {
                step.open += outside;
            }
        }
        step
    }
}

/// What is known so far about each unknown.
struct Progress {
    /// It is given by an assignment that tearing has chosen.
    is_solved: Vec<bool>,
    growth: Vec<f64>,
    /// It belongs to the component at hand.
    inside: Vec<bool>,
}

/// What one assignment does to errors.
#[derive(Clone, Copy, Default)]
struct Step {
    /// Sum of the ratios inside of the component.
    inside: f64,
    /// Sum of the ratios outside of it, times the growth there.
    outside: f64,
    /// That of open variables alone.
    open: f64,
    /// Sum of the ratios of solved variables outside of the component.
    solved: f64,
    /// Largest growth of these.
    before: f64,
}

impl Step {
    fn worse(self, other: Step) -> Step {
        Step {
            inside: self.inside.max(other.inside),
            outside: self.outside.max(other.outside),
            open: self.open.max(other.open),
            solved: self.solved.max(other.solved),
            before: self.before.max(other.before),
        }
    }

    fn growth(self) -> f64 {
        // Scales are square roots: equal ratios may differ in their last bits.
        const MOST: f64 = 1.0 + 1e-9;
        let growth = if self.inside > MOST {
            f64::INFINITY
        } else if self.inside + self.solved <= MOST {
            self.open.max(self.before)
        } else {
            self.outside
        };
        if growth.is_nan() {
            f64::INFINITY
        } else {
            growth
        }
    }
}
