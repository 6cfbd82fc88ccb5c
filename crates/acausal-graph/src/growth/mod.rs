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
//! So one number decides, the row sums of |B⁻¹C|. They are bounded along the order of evaluation by `g(v) = Σ |c_w / c_v| g(w)`, with g = 1
//! for open variables. **Invariant:** what remains solved has `g <= MOST_GROWTH`, but for sums of given variables: highest derivatives, and what
//! lower levels have solved, are no choice of tearing, and the moments along a rigid shaft, `tau[i] = tau[i + 1] + J*der(w)`, have
//! the error of a sum, which grows with the number of its terms as the sum itself does. Such a step, whose ratios of solved variables sum up to at
//! most one and that has no other open variables, counts as `max(b, g(w))`, b being the ratios of the given ones; and one whose ratios are
//! altogether at most one as `max(1, g(w))`. A pair that exceeds the bound is given up: its variable is open (g = 1), its equation a
//! residual, for the sparse factors, which choose pivots by value.
//!
//! *Unknown coefficients.* Let φ be the largest of the slopes that are not known now. It is an entry of A, and so may be one of S: elimination is stable
//! as long as no entry of S is more than a bounded multiple of the largest entry of A. So g has two parts, `g + h φ` (`Amplification` in `step.rs`): `i = f(v)` has h = 1, and
//! what is computed from i by known ratios, say by a law of Kirchhoff, has the sum of theirs. What must not arise is a product of two unknown slopes, neither in what
//! is assigned nor in S. So nothing with h > 0 is assigned to a variable that any other equation reads with an unknown coefficient (a *steep* one), and
//! h is bounded as g is. (For an assignment that nothing else is computed from, that is partial pivoting, for which large entries in the
//! pivot's own row do not matter; the chain of assignments that follow has bounded multipliers.) A voltage of a diode is steep, the currents may have
//! h > 0: a network of diodes is iterated on its voltages, as nodal analysis does.
//!
//! *Derivatives.* A derivative of a state is open like other unknowns, but what is iterated on is the state: `der(x) = cj*x + ...`, and cj grows as the step
//! gets shorter. Where equations are linear this is no harm, since rows are solved for what they show. But the corrector begins with a predicted
//! derivative, wrong by cj times the tolerance, and an exponential of a voltage that is computed from it, `u = u0 - R*C*der(x)`, is then
//! evaluated far from where Newton's method converges; a shorter step makes it worse. So what is read nonlinearly, with a slope that nothing bounds, is not computed
//! from derivatives of states but iterated on, and predicted from its own past.
//!
//! *Scales.* Volts and amperes are not compared: the rows and columns of the loop are equilibrated first (Ruiz 2001: each row and column is divided
//! by the square root of its largest entry, a few times), and g is the growth of errors relative to these scales. Then `u = R*i` is neutral for every R.
//!
//! *Recurrences.* In pieces of arrays an access reaches elements of several pieces, of which each element uses one. A component of
//! pieces that use each other along the array is one step for each of its elements. With the sum ρ of the ratios inside of it and e for the rest,
//! `g <= e/(1 - ρ)` if ρ < 1; for ρ = 1 there is a bound for the two kinds of steps above only, and none for ρ > 1: `T[i + 1] = 2.5*T[i] -
//! T[i - 1]` has ρ = 3.5. So the length of an array does not decide.
//!
//! Cost: linear in the coefficients of the loop.
//!
//! Worked example: `z[k+2] = c*z[k+1] - z[k]` from two open variables on. With c = 2.5 errors grow by 3.5 per step, and the chain is cut; `z[k+2] =
//! z[k+1] + z[0]` is a sum, which stays if the first variables are given ones.
//! ```
//! use acausal_graph::{EqId, VarId, growth::{Growth, Term}};
//! let term = |v: u32, c: f64| Term::scalar(VarId(v), c);
//! let given_up = |row: &dyn Fn(u32) -> Vec<Term>| {
//!     let unknowns: Vec<VarId> = (0..22).map(VarId).collect();
//!     let solved: Vec<(EqId, VarId)> = (0..20).map(|k| (EqId(k), VarId(k + 2))).collect();
//!     let equations: Vec<EqId> = (0..20).map(EqId).collect();
//!     Growth::new(&unknowns, &equations, |v| v.0 < 2, |e| row(e.0)).check(&solved, |_| false).given_up.len()
//! };
//! assert!(given_up(&|k| vec![term(k, 1.0), term(k + 1, 2.5), term(k + 2, 1.0)]) >= 3);
//! assert_eq!(given_up(&|k| vec![term(0, 1.0), term(k + 1, 1.0), term(k + 2, 1.0)]), 0);
//! ```

mod chain;
mod step;

pub use chain::Chain;
use step::{Amplification, Progress, Step};

use crate::{EqId, Rows, VarId, strong_components};

/// Largest bound of the growth of errors along assignments. Rounding errors become 2e-14 of a solution at most. Measured on random loops
/// (`acausal-bench random --kind loops`, bands, rings, grids, ladders and random sparse ones of 3 to 500 unknowns): with 100 none of 2,000 was slow or
/// refused, with 10 none of 500, with 200 one of 900 was slow; with ten times the length of the chain, up to 600, a ladder whose solution decays along
/// it no longer converges, because errors of its large values exceed the small ones. With 10 a start of the test set
/// (`TwoBitAdder`) is refused, whose floating nodes are tied by leakage only.
pub const MOST_GROWTH: f64 = 100.0;

/// Growth that who iterates need not care for: a corrector stops when a tenth of the tolerance is left.
const HARMLESS: f64 = 10.0;

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
    /// The equation is nonlinear in it.
    pub nonlinear: bool,
}

impl Term {
    /// The term of a scalar variable.
    pub fn scalar(v: VarId, coefficient: f64) -> Term {
        Term {
            variables: vec![v],
            solves: Some(v),
            least: coefficient.abs(),
            most: coefficient.abs(),
            nonlinear: false,
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
    /// Variables of pairs that stay although errors of what is iterated on may be larger in them: by more than ten, by an unknown slope, or relative to a small
    /// difference of large values. Who iterates must look at them too. None where all coefficients are numbers and the growth is small: one
    /// correction then leaves nothing.
    pub amplified: Vec<VarId>,
}

/// How the equations of a loop read a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reading {
    /// With known coefficients.
    Known,
    /// With an unknown coefficient.
    Steep,
    /// Nonlinearly, with an unknown slope.
    Nonlinear,
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
    given: Vec<bool>,
    row_scale: Vec<f64>,
    read: Vec<Reading>,
    /// Some coefficient is not one number.
    varies: bool,
}

impl Growth {
    /// The loop of `equations` in `unknowns`; all other variables are known. `given` says which unknowns are no choice of tearing.
    pub fn new(
        unknowns: &[VarId],
        equations: &[EqId],
        given: impl Fn(VarId) -> bool,
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
            given: unknowns.iter().map(|v| given(*v)).collect(),
            row_scale: vec![1.0; rows.len()],
            read: vec![Reading::Known; unknowns.len()],
            varies: rows.items().iter().any(|t: &Term| t.least < t.most),
            unknowns,
            equations: numbered,
            rows,
        };
        out.equilibrate();
        out.find_readings();
        out
    }

    fn find_readings(&mut self) {
        let mut read = std::mem::take(&mut self.read);
        for t in self.rows.items().iter().filter(|t| !t.most.is_finite()) {
            let reading = match t.nonlinear {
                true => Reading::Nonlinear,
                false => Reading::Steep,
            };
            for v in t.variables.iter().map(|v| self.number(*v)) {
                read[v] = read[v].max(reading);
            }
        }
        self.read = read;
    }

    /// The errors of an unknown that is iterated on.
    fn open(&self, k: usize) -> Amplification {
        Amplification {
            rates: self.given[k],
            ..Amplification::OPEN
        }
    }

    /// Column scales: a coefficient times the scale of its variable is its size in the equilibrated loop.
    fn equilibrate(&mut self) {
        let mut row_scale = std::mem::take(&mut self.row_scale);
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
        self.row_scale = row_scale;
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
        self.scaled_row(e).map_or(&[], |r| r.0)
    }

    /// The coefficients of an equation, and by what its row is multiplied in the equilibrated loop.
    fn scaled_row(&self, e: EqId) -> Option<(&[Term], f64)> {
        let k = self.equations.binary_search_by_key(&e, |p| p.0).ok()?;
        let row = self.equations[k].1 as usize;
        Some((self.rows.row(row), self.row_scale[row]))
    }

    /// How variables are read, also through those that they give in an equation of two unknowns.
    fn read_through_pairs(&self) -> Vec<Reading> {
        let mut read = self.read.clone();
        let only = |t: &Term| match t.variables[..] {
            [v] if t.most.is_finite() => Some(self.number(v)),
            _ => None,
        };
        let pair = |row: &[Term]| match row {
            [a, b] => only(a).zip(only(b)),
            _ => None,
        };
        let pairs: Vec<(usize, usize)> = self.rows.iter().filter_map(pair).collect();
        let mut neighbours = vec![Vec::new(); read.len()];
        for (a, b) in pairs {
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
        let mut work: Vec<usize> = (0..read.len()).collect();
        work.retain(|&v| read[v] > Reading::Known);
        while let Some(v) = work.pop() {
            for &w in &neighbours[v] {
                if read[w] < read[v] {
                    read[w] = read[v];
                    work.push(w);
                }
            }
        }
        read
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
        let mut state = Progress::new(self);
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
            let bound = step.amplification();
            for v in members {
                state.inside[v] = false;
            }
            for &k in component {
                let (equation, variable) = solved[k];
                let v = self.number(variable);
                let is_bounded = bound.is_bounded(self.read[v]);
                if fixed(equation) || is_bounded {
                    if is_bounded {
                        state.growth[v] = bound;
                    }
                    state.is_solved[v] = !fixed(equation);
                    state.is_given[v] = fixed(equation);
                    out.kept.push((equation, variable));
                    if self.varies || bound.known > HARMLESS {
                        out.amplified.push(variable);
                    }
                } else {
                    out.given_up.push(GivenUp {
                        equation,
                        variable,
                        growth: (bound.slopes == 0.0).then_some(bound.known),
                    });
                }
            }
        }
        out
    }
}
