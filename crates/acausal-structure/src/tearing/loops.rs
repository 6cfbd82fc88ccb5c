//! Tearing of pieces of arrays: a cycle between pieces that is none between elements is a recurrence, and is accepted.
//!
//! The rotation matrices of a chain of bodies, `b[i] = R[i]*a[i]` and `a[i + 1] = b[i]`, are computed one body after
//! the other. Between the *arrays* a and b there is a cycle, and [`super::Tear`] would leave one of them over. This is
//! the question under which conditions statements can share a loop (Allen & Kennedy, *Automatic Translation of Fortran
//! Programs to Vector Form*, 1987), asked for every pair that tearing wants to accept.
//!
//! In: the same as for [`super::Tear`], and per arc from a solved variable to one that its equation uses the [`Dependence`]s: how far
//! ahead the used element lies, along each direction that both arrays have, as an interval. Out: [`super::Torn`]. A pair is
//! accepted if every strong component that it closes is a recurrence: along one direction all its cycles have a
//! negative total distance (the loop ascends), or all have a positive one (it descends).
//!
//! Test and proof: let the component have n arcs `v -> w` with the largest distance `hi`. [`potentials`] searches p with
//! `(n+1)*hi + 1 + p(w) - p(v) <= 0` on all arcs by the method of Bellman and Ford. Such p exist exactly if every cycle
//! has a negative total, because a total of -1 outweighs the ones of at most n arcs. Then `(n+1)*c + p(v)`, for the
//! element of v at coordinate c, is smaller for everything that the element uses: sorting by it is an order of evaluation,
//! whatever the array lengths. Conversely a cycle with total 0, or two with totals of both signs in long arrays, is a cycle
//! of elements. Intervals that are not points are met at their worse end, so an accepted pair is always right.
//!
//! Cost per pair that something accepted uses: the solved arcs that it reaches, and for a closed component Bellman and
//! Ford. That is for the few pieces of arrays, not for long lists of scalars: a set ends its search after
//! [`MOST_VISITS`] arcs and is then as strict as [`super::Tear`].
//!
//! Worked example: `b[i] = f(a[i])` and `a[i] = g(b[i - 1])`.
//! ```
//! use acausal_structure::{EqId, Rows, VarId, tearing::{loops::{Dependence, LoopTear, Distance}, TearSet}};
//! let rows = Rows::of(&[&[0, 1], &[0, 1]]); // variables a, b
//! let dependences = |_, v: VarId, w: VarId| {
//!     if v == w {
//!         return Vec::new(); // no second access to what is solved for
//!     }
//!     let ahead = if v == VarId(0) { -1 } else { 0 };
//!     vec![Dependence { distances: vec![Distance { direction: 0, lo: ahead, hi: ahead }], level: true }]
//! };
//! let mut t = LoopTear::new(&rows, 2, &dependences);
//! t.begin(&[VarId(0), VarId(1)]);
//! assert!(t.try_solve(EqId(0), VarId(1)) && t.try_solve(EqId(1), VarId(0)));
//! ```

use super::{TearSet, Torn};
use crate::{EqId, Rows, VarId};

/// Arcs that the searches of one set may look at.
pub const MOST_VISITS: usize = 20_000_000;

/// How far ahead of the element that is solved for a used element lies along one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distance {
    /// A direction: dimensions of arrays whose indices run in step have the same one.
    pub direction: usize,
    /// Smallest distance.
    pub lo: i64,
    /// Largest distance.
    pub hi: i64,
}

/// One access: its reach along the directions that one of the two arrays has. What has no dimension along a direction has
/// the coordinate 0 there: elements may be put anywhere, because the potentials move them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependence {
    /// By direction.
    pub distances: Vec<Distance>,
    /// The distance along all other directions is 0; else it is not known.
    pub level: bool,
}

impl Dependence {
    /// The distances along a direction.
    fn along(&self, direction: usize) -> Option<(i64, i64)> {
        let known = self.distances.iter().find(|r| r.direction == direction);
        known.map(|r| (r.lo, r.hi)).or(self.level.then_some((0, 0)))
    }
}

/// The accesses of an equation to a variable, seen from the variable that it is solved for. No access but the one that is
/// solved for may be missing; both variables may be the same.
pub type Dependences<'a> = &'a dyn Fn(EqId, VarId, VarId) -> Vec<Dependence>;

/// Tearing that accepts recurrences.
pub struct LoopTear<'a> {
    incidence: &'a Rows<VarId>,
    dependences: Dependences<'a>,
    unknowns: Vec<VarId>,
    is_unknown: Vec<bool>,
    solved_by: Vec<Option<EqId>>,
    is_solved: Vec<bool>,
    /// Some accepted equation uses the variable.
    used: Vec<bool>,
    accepted: Vec<VarId>,
    visits: usize,
    /// Number of the search that has met a variable.
    met: Vec<u32>,
    search: u32,
}

impl<'a> LoopTear<'a> {
    /// For sets of these equations.
    pub fn new(incidence: &'a Rows<VarId>, variables: usize, dependences: Dependences<'a>) -> Self {
        LoopTear {
            incidence,
            dependences,
            unknowns: Vec::new(),
            is_unknown: vec![false; variables],
            solved_by: vec![None; variables],
            is_solved: vec![false; incidence.len()],
            used: vec![false; variables],
            accepted: Vec::new(),
            visits: 0,
            met: vec![0; variables],
            search: 0,
        }
    }

    /// What `v` uses, if it is solved for.
    fn uses(&self, v: VarId) -> impl Iterator<Item = VarId> + '_ {
        let row = self.solved_by[v.index()].map_or(&[][..], |e| self.incidence.row(e.index()));
        let others = row.iter().copied();
        others.filter(move |w| *w != v && self.is_unknown[w.index()])
    }

    /// The solved variables that `v` leads to and that lead back to it, ascending; empty if there are none.
    fn component(&mut self, v: VarId) -> Vec<VarId> {
        self.search += 1;
        let mut reached = vec![v];
        let mut arcs: Vec<(VarId, VarId)> = Vec::new();
        let mut back = false;
        let mut head = 0;
        while head < reached.len() {
            let x = reached[head];
            head += 1;
            let next: Vec<VarId> = self.uses(x).collect();
            for y in next {
                self.visits += 1;
                if self.solved_by[y.index()].is_none() {
                    continue;
                }
                arcs.push((y, x));
                back |= y == v;
                if y != v && self.met[y.index()] != self.search {
                    self.met[y.index()] = self.search;
                    reached.push(y);
                }
            }
        }
        if !back {
            return Vec::new();
        }
        // Against the arcs from v on: whatever leads to it.
        arcs.sort_unstable();
        self.search += 1;
        let mut component = vec![v];
        let mut head = 0;
        while head < component.len() {
            let y = component[head];
            head += 1;
            let from = arcs.partition_point(|a| a.0 < y);
            for &(to, x) in &arcs[from..] {
                if to != y {
                    break;
                }
                if x != v && self.met[x.index()] != self.search {
                    self.met[x.index()] = self.search;
                    component.push(x);
                }
            }
        }
        component.sort_unstable();
        component
    }

    /// Whether a component of solved variables is a recurrence.
    fn is_recurrence(&self, component: &[VarId]) -> bool {
        let mut arcs: Vec<(usize, usize, Dependence)> = Vec::new();
        for (from, &v) in component.iter().enumerate() {
            let Some(e) = self.solved_by[v.index()] else {
                continue;
            };
            for w in self.incidence.row(e.index()) {
                if let Ok(to) = component.binary_search(w) {
                    let dependences = (self.dependences)(e, v, *w);
                    arcs.extend(
                        dependences
                            .into_iter()
                            .map(|dependence| (from, to, dependence)),
                    );
                }
            }
        }
        let mut directions: Vec<usize> = (arcs.iter())
            .flat_map(|a| a.2.distances.iter().map(|r| r.direction))
            .collect();
        directions.sort_unstable();
        directions.dedup();
        directions.into_iter().any(|direction| {
            let distances: Option<Vec<(i64, i64)>> =
                arcs.iter().map(|a| a.2.along(direction)).collect();
            distances.is_some_and(|distances| {
                let n = component.len();
                let along = || arcs.iter().zip(&distances);
                order(n, along().map(|(a, r)| (a.0, a.1, r.1))).is_some()
                    || order(n, along().map(|(a, r)| (a.0, a.1, -r.0))).is_some()
            })
        })
    }
}

impl TearSet for LoopTear<'_> {
    fn begin(&mut self, unknowns: &[VarId]) {
        for v in self.accepted.drain(..) {
            if let Some(e) = self.solved_by[v.index()] {
                self.is_solved[e.index()] = false;
                for w in self.incidence.row(e.index()) {
                    self.used[w.index()] = false;
                }
            }
        }
        for v in self.unknowns.drain(..) {
            self.is_unknown[v.index()] = false;
            self.solved_by[v.index()] = None;
        }
        self.unknowns.extend_from_slice(unknowns);
        for v in unknowns {
            self.is_unknown[v.index()] = true;
        }
        self.visits = 0;
    }

    fn try_solve(&mut self, e: EqId, v: VarId) -> bool {
        let i = v.index();
        if !self.is_unknown[i] || self.solved_by[i].is_some() || self.is_solved[e.index()] {
            return false;
        }
        self.solved_by[i] = Some(e);
        if self.used[i] {
            if self.visits > MOST_VISITS {
                self.solved_by[i] = None;
                return false;
            }
            let component = self.component(v);
            if !component.is_empty() && !self.is_recurrence(&component) {
                self.solved_by[i] = None;
                return false;
            }
        }
        self.is_solved[e.index()] = true;
        self.accepted.push(v);
        for w in self.incidence.row(e.index()) {
            self.used[w.index()] |= *w != v;
        }
        true
    }

    fn finish(&mut self, order: &[EqId]) -> Torn {
        let unsolved = |v: &VarId| self.solved_by[v.index()].is_none();
        let solved = self.accepted.iter();
        let solved = solved.filter_map(|&v| Some((self.solved_by[v.index()]?, v)));
        Torn {
            solved: solved.collect(),
            residuals: (order.iter().copied())
                .filter(|e| !self.is_solved[e.index()])
                .collect(),
            tearing: self.unknowns.iter().copied().filter(unsolved).collect(),
            visits: self.visits,
        }
    }
}

/// An order of `n` variables and all their elements: the element at coordinate c of variable v comes at
/// `(n + 1)*c + p(v)`, after everything it uses. The arcs are (user, used, largest distance ahead).
///
/// ```
/// use acausal_structure::tearing::loops::order;
/// assert_eq!(order(2, [(0, 1, 0), (1, 0, -1)]), Some(vec![0, -1])); // b[i] first, then a[i], then b[i + 1]
/// assert_eq!(order(2, [(0, 1, 0), (1, 0, 0)]), None);
/// assert_eq!(order(2, [(0, 1, 1), (1, 0, -1)]), None);
/// ```
pub fn order(n: usize, arcs: impl IntoIterator<Item = (usize, usize, i64)>) -> Option<Vec<i64>> {
    let steps = n as i64 + 1;
    let scaled = arcs.into_iter();
    let scaled = scaled.map(|(v, w, ahead)| (v, w, ahead.saturating_mul(steps).saturating_add(1)));
    potentials(n, &scaled.collect::<Vec<_>>())
}

/// Potentials p with `distance + p(to) - p(from) <= 0` on all arcs (from, to, distance), if there are any: if no cycle has a
/// positive total (Bellman and Ford; n rounds over the arcs at most).
pub fn potentials(n: usize, arcs: &[(usize, usize, i64)]) -> Option<Vec<i64>> {
    let mut p = vec![0i64; n];
    for _ in 0..=n {
        let mut changed = false;
        for &(from, to, distance) in arcs {
            let most = p[from].saturating_sub(distance);
            if p[to] > most {
                p[to] = most;
                changed = true;
            }
        }
        if !changed {
            return Some(p);
        }
    }
    None
}
