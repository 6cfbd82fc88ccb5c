//! Partial state selection (Otter & Elmqvist 2017, §4.7) and sorting with the states known.
//!
//! In: the differentiated system with its blocks, which variable an equation may be explicitly solved for (without
//! losing solutions), which equations are linear with constant coefficients, and a preference per variable. Out: a
//! [`Selection`]: dummy states with the equations that give them, the remaining states, and the residual equations of
//! each kind. [`Selection::form`] counts and lists the parts of the special index-one form (17) of the paper; with
//! nothing solvable it is form (17) itself. [`sort`] then orders *all* equations with the states known.
//!
//! Method: each block is followed from its lowest constraints upwards. The equations that are new on a level are torn,
//! unpreferred variables first; what they are solved for are dummy states. The derivative of a solved pair is solved the
//! same way one level up, the derivative of a residual stays a residual. A square level with new residuals only, linear with
//! constant coefficients, is solved completely. On the last level an equation is never solved for a derivative, but it may be for
//! an algebraic variable. Invariant: as many residuals and derivative relations as entries of x. Linear in the incidence
//! but for the tearing.
//!
//! Worked example, `x^2 + y^2 = 1` in the pendulum: nothing may be solved for x or y (a root would lose half of the
//! circle), but `vx = der(x)` gives vx. What remains is the stabilised form with 6 equations:
//! ```
//! use acausal_structure::{VarId, blt::highest_blocks, flow::Graph, pantelides::{NodeDae, pantelides}};
//! use acausal_structure::state_selection::{Preferences, select, sort};
//! // x y vx vy, their derivatives, F;  c: x' vx, d: y' vy, a: vx' F x, b: vy' F y, e: x y
//! let g = Graph::new(&[1; 5], &[1; 9], &[&[2, 4], &[3, 5], &[0, 6, 8], &[1, 7, 8], &[0, 1]]);
//! let a = (0..9).map(|v| (v < 4).then(|| VarId::new(v + 4))).collect();
//! let d = pantelides(&NodeDae { graph: g, derivative: a }).unwrap();
//! let blocks = highest_blocks(&d).unwrap();
//! let solvable = |e: acausal_structure::EqId, v: VarId| (e.0 == 0 && v.0 == 2) || (e.0 == 1 && v.0 == 3);
//! let s = select(&d, &blocks, &Preferences::default(), solvable, |_| false);
//! assert_eq!(s.states, [VarId(0), VarId(1), VarId(4), VarId(5)]); // x, y, x', y'
//! let form = s.form(&d, &sort(&d, &s).unwrap());
//! assert_eq!((form.unknowns(), form.fd, form.fc, form.mu), (6, 4, 2, 1));
//! ```

mod form;
mod level;

pub use form::{Form, Sorted, sort};

use crate::blt::{Blocks, constraint_sets};
use crate::pantelides::Differentiated;
use crate::tearing::growth::{GivenUp, Term};
use crate::tearing::loops::{Dependences, LoopTear};
use crate::tearing::{Tear, TearSet};
use crate::{EqId, VarId};

/// What the caller would like to see as states, and in which order decisions are to be taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    /// Per variable: the smaller, the rather it becomes a state (missing entries count as 0).
    pub variable_rank: Vec<i32>,
    /// Per equation: equations with a smaller rank are tried first (missing entries count as 0); ties by number. With
    /// ranks from a canonical order (say, of names) the result does not depend on the numbering.
    pub equation_rank: Vec<i64>,
}

impl Preferences {
    fn variable(&self, v: VarId) -> i32 {
        self.variable_rank.get(v.index()).copied().unwrap_or(0)
    }

    fn equation(&self, e: EqId) -> i64 {
        self.equation_rank.get(e.index()).copied().unwrap_or(0)
    }
}

/// A square linear set with constant coefficients that is solved at once: the explicit assignments of its level
/// substituted, these equations give these unknowns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearSet {
    /// Equations left over by tearing.
    pub equations: Vec<EqId>,
    /// Unknowns left over by tearing.
    pub unknowns: Vec<VarId>,
}

/// The outcome of state selection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Variables with a derivative that were not solved for.
    pub states: Vec<VarId>,
    /// Dummy states and the equations they are computed from (lower levels).
    pub dummies: Vec<(EqId, VarId)>,
    /// What the last levels are explicitly solved for (highest derivatives of dummy states, algebraic variables).
    pub explicit: Vec<(EqId, VarId)>,
    /// Linear sets, on any level.
    pub linear: Vec<LinearSet>,
    /// Residuals of the last levels (r0).
    pub residuals: Vec<EqId>,
    /// Unsolved constraints that are no derivatives (rDER0).
    pub constraints: Vec<EqId>,
    /// Unsolved derivatives of constraints (rDER1): each element needs one μ.
    pub constraint_derivatives: Vec<EqId>,
    /// Highest derivatives of unsolved constraints: not part of the index-one form, but they determine the highest
    /// derivatives if all equations are evaluated.
    pub dropped: Vec<EqId>,
    /// Algebraic variables that stay unknowns.
    pub torn: Vec<VarId>,
    /// Pairs that are not solved because errors would grow ([`crate::tearing::growth`]).
    pub given_up: Vec<GivenUp>,
    /// What is solved for on the last levels although errors of the unknowns are larger in it ([`crate::tearing::growth::Checked::amplified`]).
    pub amplified: Vec<VarId>,
    /// Loops in which errors were found not to grow along what is solved.
    pub reliable: Vec<ReliableLoop>,
}

/// One level of a loop with what is solved in it, to be looked at again for other coefficients ([`crate::tearing::growth`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReliableLoop {
    /// Its unknowns, ascending.
    pub unknowns: Vec<VarId>,
    /// Those that are no choice of tearing.
    pub given: Vec<bool>,
    /// Its equations.
    pub equations: Vec<EqId>,
    /// What they are solved for, in order of evaluation, and whether that stays so in any case.
    pub solved: Vec<(EqId, VarId, bool)>,
}

/// Whether an equation may be solved for a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pivot {
    /// It must not: solutions could be lost.
    No,
    /// It is divided by a number that no other number in the equation exceeds (`z` in `z = 0.5*y + 1`): errors are not
    /// amplified along a chain of such equations. Taken first in loops.
    Dominant,
    /// What is divided by is never zero.
    Certain,
    /// What is divided by is not zero for the values that are known now. Such a pivot is taken after the certain ones;
    /// in a loop of algebraic unknowns only if it saves tearing variables.
    Conditional,
}

impl From<bool> for Pivot {
    fn from(solvable: bool) -> Pivot {
        if solvable { Pivot::Certain } else { Pivot::No }
    }
}

/// The coefficients of an original equation.
pub type Terms<'a> = &'a dyn Fn(EqId) -> Vec<Term>;

/// What state selection may know beyond the graph.
#[derive(Clone, Copy)]
pub struct Knowledge<'a> {
    /// How far apart the elements are that an equation relates ([`crate::tearing::loops`]): recurrences between pieces of
    /// arrays then count as solved.
    pub dependences: Option<Dependences<'a>>,
    /// Pairs that are tried before all others.
    pub hints: &'a [(EqId, VarId)],
    /// The coefficients of an original equation: errors then do not grow along what is solved
    /// ([`crate::tearing::growth`]).
    pub terms: Option<Terms<'a>>,
    /// Whether loops of algebraic unknowns are torn.
    pub tearing: bool,
}

impl Default for Knowledge<'_> {
    fn default() -> Self {
        Knowledge {
            dependences: None,
            hints: &[],
            terms: None,
            tearing: true,
        }
    }
}

/// Selects states. `solvable(e, v)` says whether original equation `e` can be solved for `v` (asked only for equal
/// lengths; a [`Pivot`] or just true or false), `constant_linear(e)` whether original equation `e` is linear with
/// constant coefficients in all unknowns.
pub fn select<P: Into<Pivot>>(
    d: &Differentiated,
    blocks: &Blocks,
    preferences: &Preferences,
    solvable: impl Fn(EqId, VarId) -> P,
    constant_linear: impl Fn(EqId) -> bool,
) -> Selection {
    let knowledge = Knowledge::default();
    select_knowing(d, blocks, preferences, solvable, constant_linear, knowledge)
}

/// The same with more knowledge.
pub fn select_knowing<P: Into<Pivot>>(
    d: &Differentiated,
    blocks: &Blocks,
    preferences: &Preferences,
    solvable: impl Fn(EqId, VarId) -> P,
    constant_linear: impl Fn(EqId) -> bool,
    knowledge: Knowledge<'_>,
) -> Selection {
    let (rows, variables) = (&d.graph.incidence, d.graph.vlen.len());
    let loops = knowledge
        .dependences
        .map(|g| LoopTear::new(rows, variables, g));
    let mut hints = vec![None; d.original_equations];
    for (e, v) in knowledge.hints {
        hints[e.index()] = Some(*v);
    }
    let var_integral = d.var_integral();
    let eq_integral = d.eq_integral();
    let lifted = |e: EqId| terms_of(d, &eq_integral, knowledge.terms, e);
    let terms: Option<Terms<'_>> = match knowledge.terms {
        Some(_) => Some(&lifted),
        None => None,
    };
    let mut out = Selection::default();
    let mut is_dummy = vec![false; d.graph.vlen.len()];
    let mut sets = Sets {
        plain: Tear::new(rows, variables),
        loops,
    };
    for levels in constraint_sets(d, blocks) {
        let mut below = Solved::default();
        for (m, level) in levels.iter().enumerate() {
            let top = m + 1 == levels.len();
            let new: Vec<EqId> = level
                .equations
                .iter()
                .copied()
                .filter(|e| eq_integral[e.index()].is_none())
                .collect();
            let pivot = |e: EqId, v: VarId| {
                let possible = d.graph.elen[e.index()] == d.graph.vlen[v.index()]
                    && !(top && var_integral[v.index()].is_some());
                if possible {
                    solvable(e, v).into()
                } else {
                    Pivot::No
                }
            };
            let mut solved = lift(d, &below);
            let task = level::Task {
                graph: &d.graph,
                level,
                new: &new,
                top,
                hints: &hints,
                terms,
                tearing: knowledge.tearing,
                integral: &var_integral,
            };
            task.tear(&mut sets, &mut solved, preferences, pivot);
            if !top && level.is_square(&d.graph) {
                // The derivative of a constraint that is left over below needs its multiplier (rDER1), so it cannot be solved away here.
                solved.keep_linear(|e| eq_integral[e.index()].is_none() && constant_linear(e));
            }
            if top {
                out.take_top(&mut solved, &eq_integral, &var_integral);
            } else {
                out.take_dummies(&solved, &eq_integral, &mut is_dummy);
            }
            out.linear.extend_from_slice(&solved.linear);
            out.given_up.append(&mut solved.given_up);
            out.reliable.extend(solved.reliable.take());
            below = solved;
        }
    }
    out.states = (0..d.graph.vlen.len())
        .map(VarId::new)
        .filter(|v| d.var_derivative[v.index()].is_some() && !is_dummy[v.index()])
        .collect();
    out
}

impl Selection {
    /// Takes what a last level has solved.
    fn take_top(
        &mut self,
        solved: &mut Solved,
        eq_integral: &[Option<EqId>],
        var_integral: &[Option<VarId>],
    ) {
        let (derivatives, others) = (&mut self.dropped, &mut self.residuals);
        distribute(&solved.residuals, eq_integral, derivatives, others);
        self.explicit.extend_from_slice(&solved.pairs);
        let open = solved.open.iter().copied();
        let algebraic = open.filter(|v| var_integral[v.index()].is_none());
        self.torn.extend(algebraic);
        self.amplified.append(&mut solved.amplified);
    }

    /// Takes what a lower level has solved: dummy states.
    fn take_dummies(
        &mut self,
        solved: &Solved,
        eq_integral: &[Option<EqId>],
        is_dummy: &mut [bool],
    ) {
        let (derivatives, others) = (&mut self.constraint_derivatives, &mut self.constraints);
        distribute(&solved.residuals, eq_integral, derivatives, others);
        let in_sets = solved.linear.iter().flat_map(|l| &l.unknowns);
        for v in solved.pairs.iter().map(|p| &p.1).chain(in_sets) {
            is_dummy[v.index()] = true;
        }
        self.dummies.extend_from_slice(&solved.pairs);
    }
}

/// Residuals that are derivatives go to one list, the others to the other.
fn distribute(
    residuals: &[EqId],
    eq_integral: &[Option<EqId>],
    derivatives: &mut Vec<EqId>,
    others: &mut Vec<EqId>,
) {
    for &e in residuals {
        if eq_integral[e.index()].is_some() {
            derivatives.push(e)
        } else {
            others.push(e)
        }
    }
}

/// The two ways of accepting pairs.
struct Sets<'a> {
    plain: Tear<'a>,
    loops: Option<LoopTear<'a>>,
}

impl Sets<'_> {
    fn of(&mut self, loops: bool) -> &mut dyn TearSet {
        match &mut self.loops {
            Some(tear) if loops => tear,
            _ => &mut self.plain,
        }
    }
}

/// What a level has solved, and what is left.
#[derive(Default)]
struct Solved {
    /// Some pairs form recurrences.
    loops: bool,
    pairs: Vec<(EqId, VarId)>,
    linear: Vec<LinearSet>,
    residuals: Vec<EqId>,
    open: Vec<VarId>,
    given_up: Vec<GivenUp>,
    amplified: Vec<VarId>,
    reliable: Option<ReliableLoop>,
}

impl Solved {
    /// Residuals that are all linear with constant coefficients are a set that is solved at once; its derivatives follow on every
    /// level above.
    fn keep_linear(&mut self, constant_linear: impl Fn(EqId) -> bool) {
        if !self.residuals.iter().all(|&e| constant_linear(e)) {
            return;
        }
        let equations = std::mem::take(&mut self.residuals);
        let unknowns = std::mem::take(&mut self.open);
        if !equations.is_empty() {
            self.linear.push(LinearSet {
                equations,
                unknowns,
            });
        }
    }
}

/// The derivatives of what the level below has solved, and of its residuals.
fn lift(d: &Differentiated, below: &Solved) -> Solved {
    // Everything on a lower level has derivatives: that is why it is lower.
    let equation = |e: EqId| d.eq_derivative[e.index()].unwrap_or(e);
    let variable = |v: VarId| d.var_derivative[v.index()].unwrap_or(v);
    Solved {
        loops: below.loops,
        pairs: below
            .pairs
            .iter()
            .map(|&(e, v)| (equation(e), variable(v)))
            .collect(),
        linear: below
            .linear
            .iter()
            .map(|l| LinearSet {
                equations: l.equations.iter().map(|&e| equation(e)).collect(),
                unknowns: l.unknowns.iter().map(|&v| variable(v)).collect(),
            })
            .collect(),
        residuals: below.residuals.iter().map(|&e| equation(e)).collect(),
        open: Vec::new(),
        given_up: Vec::new(),
        amplified: Vec::new(),
        reliable: None,
    }
}

/// The coefficients of an equation or a derivative of one: a derivative is linear in the highest derivatives, with the
/// coefficients that its integral has, where that is linear. They are as many as those of the integral, in the same order.
pub fn terms_of(
    d: &Differentiated,
    eq_integral: &[Option<EqId>],
    terms: Option<Terms<'_>>,
    e: EqId,
) -> Vec<Term> {
    let (mut root, mut times) = (e, 0);
    while let Some(i) = eq_integral[root.index()] {
        (root, times) = (i, times + 1);
    }
    let derivative = |v: VarId| (0..times).try_fold(v, |v, _| d.var_derivative[v.index()]);
    let mut out = terms.map_or_else(Vec::new, |terms| terms(root));
    for t in &mut out {
        t.variables = t.variables.iter().filter_map(|v| derivative(*v)).collect();
        t.solves = t.solves.and_then(derivative);
    }
    out
}
