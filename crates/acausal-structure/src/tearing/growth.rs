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
//! *Unknown coefficients.* Where a coefficient is not known now, g has no bound. Elimination is stable all the same if the other factor is small: `‖D B⁻¹‖`,
//! the multipliers. What has been substituted so far has made no row larger than g times its own entries. The multipliers of a further assignment, from
//! which nothing else is computed, are the coefficients of its variable in the other equations, divided by the pivot: that is partial pivoting, for
//! which large entries in the pivot's own row do not matter. So `i = f(v)` is solved for i, whatever f is, if i enters the other
//! equations with known coefficients of at most [`MOST_GROWTH`] times the pivot; but nothing is then computed from i in turn. Everything else with
//! unknown coefficients is given up.
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
//! use acausal_structure::{EqId, VarId, tearing::growth::{Growth, Term}};
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

use crate::blt::strong_components;
use crate::{EqId, Rows, VarId};

/// Largest bound of the growth of errors along assignments. Rounding errors become 2e-14 of a solution at most. Measured on random loops
/// (`acausal-bench random --kind loops`, bands, rings, grids, ladders and random sparse ones of 3 to 500 unknowns): with 100 none of 2,000 was slow or
/// refused, with 10 none of 500, with 200 one of 900 was slow; with ten times the length of the chain, up to 600, a ladder whose solution decays along
/// it no longer converges, because errors of its large values exceed the small ones. With 10 a start of the test set
/// (`TwoBitAdder`) is refused, whose floating nodes are tied by leakage only.
pub const MOST_GROWTH: f64 = 100.0;

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
    given: Vec<bool>,
    row_scale: Vec<f64>,
    columns: Vec<Column>,
}

/// The entries of a variable in the equilibrated rows.
#[derive(Clone, Copy, Debug, Default)]
struct Column {
    largest: f64,
    /// The row of the largest one.
    row: u32,
    second: f64,
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
            columns: vec![Column::default(); unknowns.len()],
            unknowns,
            equations: numbered,
            rows,
        };
        out.equilibrate();
        out.read_columns();
        out
    }

    fn read_columns(&mut self) {
        let mut columns = std::mem::take(&mut self.columns);
        for (k, row) in self.rows.iter().enumerate() {
            for t in row {
                let size = t.most * self.row_scale[k];
                for v in &t.variables {
                    let c = &mut columns[self.number(*v)];
                    if c.largest > 0.0 && c.row == k as u32 {
                        // A second access of the same equation.
                        c.largest += size;
                    } else if size > c.largest {
                        c.second = c.largest;
                        (c.largest, c.row) = (size, k as u32);
                    } else {
                        c.second = c.second.max(size);
                    }
                }
            }
        }
        self.columns = columns;
    }

    /// Whether an equation with unknown coefficients may be solved for a variable that nothing else is computed from: its pivot
    /// is not much smaller than the other entries of its column.
    pub fn is_partial_pivot(&self, e: EqId, v: VarId) -> bool {
        let Ok(at) = self.equations.binary_search_by_key(&e, |p| p.0) else {
            return false;
        };
        let row = self.equations[at].1;
        let terms = self.rows.row(row as usize);
        let Some(pivot) = terms.iter().find(|t| t.solves == Some(v)) else {
            return false;
        };
        let reads_itself = |t: &Term| t.solves != Some(v) && t.variables.contains(&v);
        let column = self.columns[self.number(v)];
        let others = match column.row == row {
            true => column.second,
            false => column.largest,
        };
        let size = pivot.least * self.row_scale[row as usize];
        size > 0.0 && others <= MOST_GROWTH * size && !terms.iter().any(reads_itself)
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
            is_given: self.given.clone(),
            growth: vec![1.0; self.unknowns.len()],
            inside: vec![false; self.unknowns.len()],
        };
        // What another assignment reads is no partial pivot.
        let mut is_read = vec![false; self.unknowns.len()];
        for (e, v) in solved {
            for t in self.row(*e).iter().filter(|t| t.solves != Some(*v)) {
                for w in &t.variables {
                    is_read[self.number(*w)] = true;
                }
            }
        }
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
            if let [k] = *component
                && !is_read[self.number(solved[k].1)]
                && !self.is_known(solved[k].0)
                && self.is_partial_pivot(solved[k].0, solved[k].1)
            {
                out.kept.push(solved[k]);
                continue;
            }
            for &k in component {
                let (equation, variable) = solved[k];
                let v = self.number(variable);
                if fixed(equation) || bound <= MOST_GROWTH {
                    if bound <= MOST_GROWTH {
                        state.growth[v] = bound;
                    }
                    state.is_solved[v] = !fixed(equation);
                    state.is_given[v] = fixed(equation);
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
            let mut reach = Step::default();
            for w in t.variables.iter().map(|w| self.number(*w)) {
                let ratio = ratio(w);
                if state.inside[w] {
                    reach.inside = reach.inside.max(ratio);
                    continue;
                }
                reach.outside = reach.outside.max(ratio * state.growth[w]);
                if state.is_solved[w] {
                    reach.solved = reach.solved.max(ratio);
                    reach.before = reach.before.max(state.growth[w]);
                } else if state.is_given[w] {
                    reach.given = reach.given.max(ratio * state.growth[w]);
                } else {
                    reach.open = reach.open.max(ratio);
                }
            }
            // Each element uses one of the pieces.
            step.inside += reach.inside;
            step.outside += reach.outside;
            step.solved += reach.solved;
            step.before = step.before.max(reach.before);
            step.given += reach.given;
            step.open += reach.open;
        }
        step
    }
}

/// What is known so far about each unknown.
struct Progress {
    /// It is given by an assignment that tearing has chosen.
    is_solved: Vec<bool>,
    is_given: Vec<bool>,
    growth: Vec<f64>,
    /// It belongs to the component at hand.
    inside: Vec<bool>,
}

/// What one assignment does to errors: sums of ratios.
#[derive(Clone, Copy, Default)]
struct Step {
    /// Of variables inside of the component.
    inside: f64,
    /// Of all others, times their growth.
    outside: f64,
    /// Of solved variables outside of the component.
    solved: f64,
    /// Largest growth of these.
    before: f64,
    /// Of given variables, times their growth.
    given: f64,
    /// Of other open variables.
    open: f64,
}

impl Step {
    fn worse(self, other: Step) -> Step {
        Step {
            inside: self.inside.max(other.inside),
            outside: self.outside.max(other.outside),
            solved: self.solved.max(other.solved),
            before: self.before.max(other.before),
            given: self.given.max(other.given),
            open: self.open.max(other.open),
        }
    }

    fn growth(self) -> f64 {
        // Scales are square roots: equal ratios may differ in their last bits.
        const ONE: f64 = 1.0 + 1e-9;
        let assigned = self.inside + self.solved;
        let growth = if assigned <= ONE && self.open == 0.0 {
            self.given.max(self.before)
        } else if assigned + self.given + self.open <= ONE {
            self.before.max(1.0)
        } else if self.inside < 1.0 / ONE {
            self.outside / (1.0 - self.inside)
        } else {
            f64::INFINITY
        };
        if growth.is_nan() {
            f64::INFINITY
        } else {
            growth
        }
    }
}
