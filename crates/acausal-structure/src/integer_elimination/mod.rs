//! Finding and curing singularities of linear equations with integer coefficients (Otter & Elmqvist 2017, §5).
//!
//! A circuit without ground has one superfluous current balance and one undetermined potential; two inductors in series
//! have a constraint between their states hidden in many connection equations. Structural methods see neither. Since
//! connection equations have integer coefficients, exact elimination finds both.
//!
//! In: the equations `sum(coefficient * variable) = 0` and the [`Class`] of each variable. Out: [`Decisions`]: which
//! equations say nothing new, which variables may be chosen freely, which equations are to be replaced by explicit
//! constraints between states, and which constraints bind parameters only. With everything removed or replaced, the row
//! space is unchanged and the constraints are visible to index reduction.
//!
//! Method: eliminate the columns of [`Class::Local`], then [`Class::Rest`] (rank `rk` together), in what remains the
//! states (`rkx`), then the parameters. `rk + rkx < equations` if and only if something is redundant (or a parameter
//! constraint); the published criterion compares with the number of variables and is wrong. Arithmetic is exact:
//! checked 64 bits, then 128, then arbitrary size. On networks the pivots are ±1 and the fill stays small: near-linear.
//!
//! Worked example: two capacitors in parallel, `v1 = p - n`, `v2 = p - n`, where v1, v2 are states and the potentials
//! occur nowhere else. One equation gives p; the other is replaced by `v1 - v2 = 0`; n is free.
//! ```
//! use acausal_structure::{VarId, integer_elimination::{Class, IntegerSystem, decide}};
//! let s = IntegerSystem {
//!     classes: vec![Class::State, Class::State, Class::Local, Class::Local], // v1 v2 p n
//!     rows: vec![vec![(0, -1), (2, 1), (3, -1)], vec![(1, -1), (2, 1), (3, -1)]],
//! };
//! let d = decide(&s);
//! assert_eq!((d.rank, d.state_rank, d.redundant.len()), (1, 1, 0));
//! assert_eq!(d.constraints[0].as_i64().unwrap(), [(VarId(0), 1), (VarId(1), -1)]);
//! assert_eq!(d.free.len(), 1);
//! ```

pub mod arrays;
mod choose;
pub mod dense;
mod scalar;
mod sparse;

use std::collections::BTreeMap;

pub use choose::decide_in_order;
pub use num_bigint::BigInt;
pub use scalar::{Overflow, Scalar};

use crate::VarId;
use sparse::Sparse;

/// How a variable of the integer equations is used in the rest of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// v_x: its derivative occurs.
    State,
    /// v_y: it occurs in no other equation.
    Local,
    /// v_r: it occurs in other equations.
    Rest,
    /// v_c: a parameter expression.
    Parameter,
}

/// Linear homogeneous equations with integer coefficients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegerSystem {
    /// The class of each variable.
    pub classes: Vec<Class>,
    /// Per equation its (variable, coefficient) pairs; pairs of one variable add up.
    pub rows: Vec<Vec<(usize, i64)>>,
}

/// An equation `sum(coefficient * variable) = 0` that replaces (or rather: is what is left of) an original one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// The original equation that it can replace.
    pub replaces: usize,
    /// Coefficients without common factor, the first positive, by ascending variable.
    pub terms: Vec<(VarId, BigInt)>,
}

impl Constraint {
    /// The terms in machine integers, if they fit.
    pub fn as_i64(&self) -> Option<Vec<(VarId, i64)>> {
        self.terms
            .iter()
            .map(|(v, c)| i64::try_from(c).ok().map(|c| (*v, c)))
            .collect()
    }
}

/// What to do with an integer system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decisions {
    /// rk: rank with respect to the variables that are neither states nor parameters.
    pub rank: usize,
    /// rkx: number of constraints between states.
    pub state_rank: usize,
    /// Equations to remove: combinations of the others.
    pub redundant: Vec<usize>,
    /// Local variables that the equations leave open: fix them (at zero) and say so.
    pub free: Vec<VarId>,
    /// Equations to replace by constraints between states (and parameters).
    pub constraints: Vec<Constraint>,
    /// Constraints between parameters only: an error unless the values happen to satisfy them.
    pub parameter_constraints: Vec<Constraint>,
    /// The equations that were solved, each with the variable it was eliminated by.
    pub pivots: Vec<(usize, VarId)>,
}

/// Eliminates and classifies.
///
/// # Panics
/// If a row names a variable without class.
pub fn decide(system: &IntegerSystem) -> Decisions {
    let width = system.classes.len();
    assert!(
        system.rows.iter().flatten().all(|&(v, _)| v < width),
        "a variable without class"
    );
    // Exact at every width; a wider type is only tried if a narrower one cannot hold an intermediate value.
    match decide_with::<i64>(system)
        .or_else(|_| decide_with::<i128>(system))
        .or_else(|_| decide_with::<BigInt>(system))
    {
        Ok(decisions) => decisions,
        Err(Overflow) => unreachable!("arbitrary integers do not overflow"),
    }
}

fn decide_with<T: Scalar>(system: &IntegerSystem) -> Result<Decisions, Overflow> {
    let mut s: Sparse<T> = Sparse::new(&system.rows, system.classes.len())?;
    let columns = |class: Class| -> Vec<u32> {
        (0..system.classes.len())
            .filter(|&v| system.classes[v] == class)
            .map(|v| v as u32)
            .collect()
    };
    let free = s.eliminate(&columns(Class::Local))?;
    for class in [Class::Rest, Class::State, Class::Parameter] {
        s.eliminate(&columns(class))?;
    }
    let mut d = Decisions {
        free: free.into_iter().map(VarId).collect(),
        ..Decisions::default()
    };
    for i in 0..system.rows.len() {
        let Some(column) = s.pivot_column[i] else {
            d.redundant.push(i);
            continue;
        };
        match system.classes[column as usize] {
            Class::Local | Class::Rest => d.pivots.push((i, VarId(column))),
            Class::State => d.constraints.push(constraint(i, s.row(i))),
            Class::Parameter => d.parameter_constraints.push(constraint(i, s.row(i))),
        }
    }
    d.rank = d.pivots.len();
    d.state_rank = d.constraints.len();
    Ok(d)
}

fn constraint<T: Scalar>(replaces: usize, row: &BTreeMap<u32, T>) -> Constraint {
    let mut terms: Vec<(VarId, BigInt)> =
        row.iter().map(|(&c, x)| (VarId(c), x.to_big())).collect();
    let gcd = terms
        .iter()
        .try_fold(BigInt::ZERO, |g, (_, x)| g.gcd(x))
        .unwrap_or(BigInt::from(1));
    let negative = terms.first().is_some_and(|(_, x)| *x < BigInt::ZERO);
    let divisor = if negative { -gcd } else { gcd };
    if divisor != BigInt::ZERO {
        for (_, x) in &mut terms {
            *x = &*x / &divisor;
        }
    }
    Constraint { replaces, terms }
}
