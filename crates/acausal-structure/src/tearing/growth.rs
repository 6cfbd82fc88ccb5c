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
//! So one number decides, the row sums of |B⁻¹C|. They are bounded along the order of evaluation by
//! `g(v) = Σ |c_w / c_v| g(w)`, with g = 1 for open variables. **Invariant:** what remains solved has `g <= MOST_GROWTH`. A pair that
//! exceeds it is given up: its variable is open (g = 1), its equation a residual, for the sparse factors, which choose pivots by value.
//! A coefficient that is not known now has no bound, and its equation is given up, too.
//!
//! *Scales.* Volts and amperes are not compared: the rows and columns of the loop are equilibrated first (Ruiz 2001: each row and column is divided
//! by the square root of its largest entry, a few times), and g is the growth of errors relative to these scales. Then `u = R*i` is neutral for every R.
//!
//! *Recurrences.* In pieces of arrays an access reaches elements of several pieces, of which each element uses one. For a
//! component of pieces that use each other along the array, with ratios summing to at most ρ inside of it, e outside, and m for the
//! elements that the recurrence starts from: `g <= max(m, e/(1 - ρ))` if ρ < 1, `g <= m` if ρ = 1 and e = 0, and no bound for all
//! lengths otherwise. `T[i + 1] = 2.5*T[i] - T[i - 1]` has ρ = 3.5.
//!
//! Cost: linear in the coefficients of the loop.
//!
//! Worked example: the chain `z1 = 3 z0`, `z2 = 3 z1 - 3 z0`, `z3 = 3 z2 - 3 z1`, closed by `z3 = -3 z0`. Column scales stay of one
//! size; g(z1) = 3, g(z2) = 12: z2 is open.
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
    /// The bound of the growth; infinite if coefficients are not known, or if it depends on the length of an array.
    pub growth: f64,
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
        let components = strong_components(solved.len(), uses);
        let mut growth = vec![1.0f64; self.unknowns.len()];
        let mut inside = vec![false; self.unknowns.len()];
        let mut out = Checked::default();
        for component in components.iter() {
            let members = component.iter().map(|&k| self.number(solved[k].1));
            for v in members.clone() {
                inside[v] = true;
            }
            let bounds = component
                .iter()
                .map(|&k| self.bound(solved[k], &growth, &inside));
            let bound = bounds.fold(Bound::default(), Bound::worse).growth();
            for v in members {
                inside[v] = false;
            }
            for &k in component {
                let (equation, variable) = solved[k];
                if bound <= MOST_GROWTH {
                    growth[self.number(variable)] = bound;
                    out.kept.push((equation, variable));
                } else if fixed(equation) {
                    out.kept.push((equation, variable));
                } else {
                    out.given_up.push(GivenUp {
                        equation,
                        variable,
                        growth: bound,
                    });
                }
            }
        }
        out
    }

    /// The ratios of one pair to its pivot, in scaled variables.
    fn bound(&self, (e, v): (EqId, VarId), growth: &[f64], inside: &[bool]) -> Bound {
        let row = self.row(e);
        let mut bound = Bound::default();
        let Some(pivot) = row.iter().find(|t| t.solves == Some(v)) else {
            bound.outside = f64::INFINITY;
            return bound;
        };
        let pivot_size = pivot.least * self.scale[self.number(v)];
        for t in row.iter().filter(|t| t.solves != Some(v)) {
            let ratio = |w: usize| t.most * self.scale[w] / pivot_size;
            let reached = || t.variables.iter().map(|w| self.number(*w));
            let outside = reached().filter(|&w| !inside[w]);
            let outside = outside.map(|w| ratio(w) * growth[w]).fold(0.0, f64::max);
            let within = reached().filter(|&w| inside[w]).map(ratio);
            match within.reduce(f64::max) {
                Some(r) => {
                    bound.inside += r;
                    bound.start += outside;
                }
                None => bound.outside += outside,
            }
        }
        bound
    }
}

/// What bounds the growth of a component.
#[derive(Clone, Copy, Default)]
struct Bound {
    /// Ratios of what lies inside of the component.
    inside: f64,
    /// Growth through accesses to what lies outside.
    outside: f64,
    /// Growth of the elements that a recurrence starts from.
    start: f64,
}

impl Bound {
    fn worse(self, other: Bound) -> Bound {
        Bound {
            inside: self.inside.max(other.inside),
            outside: self.outside.max(other.outside),
            start: self.start.max(other.start),
        }
    }

    fn growth(self) -> f64 {
        // Scales are square roots: equal ratios may differ in their last bits.
        const ROUNDING: f64 = 1e-9;
        let own = match self.inside {
            0.0 => self.outside,
            r if r < 1.0 - ROUNDING => self.outside / (1.0 - r),
            r if r <= 1.0 + ROUNDING && self.outside == 0.0 => 0.0,
            _ => f64::INFINITY,
        };
        let growth = own.max(self.start);
        if growth.is_nan() {
            f64::INFINITY
        } else {
            growth
        }
    }
}
