//! Maximum matching between scalar equations and scalar variables (Hopcroft & Karp 1973).
//!
//! In: the incidence (per equation the variables it contains) and which variables are unknown. Out: for every equation
//! the variable assigned to it, as many assignments as possible. The array form, where an equation of length 9 may
//! share a variable of length 9 with others, is a flow with capacities (`acausal-structure`).
//!
//! Invariant: after each phase the assignments are a matching, and the next phase only follows shortest alternating
//! paths, so at most O(sqrt(n)) phases are needed; each walks the incidence once: O(E sqrt(n)), without recursion. A
//! greedy start (each equation takes the first free variable) leaves few phases in practice.
//!
//! Worked example: `e0: x0, x1`, `e1: x0`. The greedy start gives x0 to e0 and leaves e1 alone; the alternating path
//! e1 - x0 - e0 - x1 then moves e0 to x1.
//! ```
//! use acausal_graph::{Rows, VarId, matching::maximum_matching};
//! let m = maximum_matching(&Rows::of(&[&[0, 1], &[0]]), 2, |_| true);
//! assert_eq!(m.var_of_eq, [Some(VarId(1)), Some(VarId(0))]);
//! assert!(m.is_complete());
//! ```

use crate::{EqId, Rows, VarId};

const NONE: u32 = u32::MAX;

/// Who is assigned to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matching {
    /// The variable assigned to each equation.
    pub var_of_eq: Vec<Option<VarId>>,
    /// The equation assigned to each variable.
    pub eq_of_var: Vec<Option<EqId>>,
}

impl Matching {
    /// Number of assigned pairs.
    pub fn size(&self) -> usize {
        self.var_of_eq.iter().flatten().count()
    }

    /// Whether every equation has a variable.
    pub fn is_complete(&self) -> bool {
        self.var_of_eq.iter().all(Option::is_some)
    }

    /// The equations without a variable.
    pub fn unmatched_equations(&self) -> Vec<EqId> {
        (0..self.var_of_eq.len())
            .filter(|&e| self.var_of_eq[e].is_none())
            .map(EqId::new)
            .collect()
    }
}

/// A maximum matching of the equations with the variables for which `unknown` holds.
pub fn maximum_matching(
    incidence: &Rows<VarId>,
    variables: usize,
    unknown: impl Fn(VarId) -> bool,
) -> Matching {
    let n = incidence.len();
    let mut var_of = vec![NONE; n];
    let mut eq_of = vec![NONE; variables];
    let visible: Vec<bool> = (0..variables).map(|v| unknown(VarId::new(v))).collect();
    for (e, var) in var_of.iter_mut().enumerate() {
        let mut row = incidence.row(e).iter();
        if let Some(v) = row.find(|v| visible[v.index()] && eq_of[v.index()] == NONE) {
            *var = v.0;
            eq_of[v.index()] = e as u32;
        }
    }
    let mut search = Search {
        level: vec![NONE; n],
        cursor: vec![0; n],
        queue: Vec::new(),
        path: Vec::new(),
    };
    while search.layer(incidence, &visible, &var_of, &eq_of) {
        for e in 0..n {
            if var_of[e] == NONE {
                search.augment(incidence, &visible, &mut var_of, &mut eq_of, e);
            }
        }
    }
    Matching {
        var_of_eq: var_of
            .iter()
            .map(|&v| (v != NONE).then_some(VarId(v)))
            .collect(),
        eq_of_var: eq_of
            .iter()
            .map(|&e| (e != NONE).then_some(EqId(e)))
            .collect(),
    }
}

/// One phase: breadth-first levels of equations, then vertex-disjoint augmenting paths along increasing levels.
struct Search {
    level: Vec<u32>,
    cursor: Vec<usize>,
    queue: Vec<u32>,
    path: Vec<(u32, u32)>,
}

impl Search {
    /// Levels from all unmatched equations; true if some free variable can be reached.
    fn layer(
        &mut self,
        incidence: &Rows<VarId>,
        visible: &[bool],
        var_of: &[u32],
        eq_of: &[u32],
    ) -> bool {
        self.level.fill(NONE);
        self.queue.clear();
        for (e, &v) in var_of.iter().enumerate() {
            self.cursor[e] = incidence.slots(e).start;
            if v == NONE {
                self.level[e] = 0;
                self.queue.push(e as u32);
            }
        }
        let mut last = NONE; // level at which the first free variable was met
        let mut head = 0;
        while head < self.queue.len() {
            let e = self.queue[head] as usize;
            head += 1;
            if self.level[e] >= last {
                break;
            }
            for v in incidence.row(e) {
                if !visible[v.index()] {
                    continue;
                }
                let owner = eq_of[v.index()];
                if owner == NONE {
                    last = self.level[e];
                } else if self.level[owner as usize] == NONE {
                    self.level[owner as usize] = self.level[e] + 1;
                    self.queue.push(owner);
                }
            }
        }
        last != NONE
    }

    fn augment(
        &mut self,
        incidence: &Rows<VarId>,
        visible: &[bool],
        var_of: &mut [u32],
        eq_of: &mut [u32],
        root: usize,
    ) -> bool {
        self.path.clear();
        let mut e = root;
        'advance: loop {
            while self.cursor[e] < incidence.slots(e).end {
                let v = incidence.items()[self.cursor[e]];
                self.cursor[e] += 1;
                if !visible[v.index()] {
                    continue;
                }
                let owner = eq_of[v.index()];
                if owner == NONE {
                    self.path.push((e as u32, v.0));
                    for &(e, v) in &self.path {
                        var_of[e as usize] = v;
                        eq_of[v as usize] = e;
                    }
                    return true;
                }
                if self.level[owner as usize] == self.level[e] + 1 {
                    self.path.push((e as u32, v.0));
                    e = owner as usize;
                    continue 'advance;
                }
            }
            self.level[e] = NONE; // exhausted in this phase
            match self.path.pop() {
                Some((parent, _)) => e = parent as usize,
                None => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_alternating_path_without_recursion() {
        // e_i: {x_i, x_{i+1}}, last equation {x_0}: greedy takes x_i, then one path shifts all of them.
        let n = 200_000;
        let mut g: Rows<VarId> = (0..n - 1)
            .map(|i| [VarId::new(i), VarId::new(i + 1)])
            .collect();
        g.push([VarId(0)]);
        let m = maximum_matching(&g, n, |_| true);
        assert!(m.is_complete());
        assert_eq!(m.var_of_eq[0], Some(VarId(1)));
        assert_eq!(m.eq_of_var[0], Some(EqId::new(n - 1)));
    }

    #[test]
    fn invisible_variables_are_not_used() {
        let m = maximum_matching(&Rows::of(&[&[0, 1], &[0, 1]]), 2, |v| v == VarId(1));
        assert_eq!(m.size(), 1);
        assert_eq!(m.unmatched_equations(), [EqId(1)]);
    }
}
