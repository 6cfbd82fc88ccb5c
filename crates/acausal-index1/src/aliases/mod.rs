//! Variables that equal another one up to the sign are taken out of the structural analysis.
//!
//! In: the continuous equations. Out: fewer equations for fewer unknowns, and one assignment for each variable that was taken out. In a
//! network that is written out, more than half of the equations only say that two potentials are equal or that a current flows through; without
//! them every later pass has less than half of the work.
//!
//! The equations `a = b`, `a = -b`, `a + b = 0` and `a - b = 0` between scalars are the edges of a forest. Each tree has a *representative*, the
//! variable that deserves most to stay (a derivative, a fixed or written start, a wish of the user; then by name). The forest is
//! directed towards the representatives, so that every other variable belongs to one equation, that with its parent. It is taken out with this
//! equation unless something is said about it that the representative does not say too; where it occurs in equations
//! the representative takes its place. `when` clauses, assertions and initial equations are not changed: they read the assignment. What is left is put in
//! the order of its graph ([`crate::aliases::breadth_first`]).
//!
//! ```text
//! c.v = c.p.v;  r.n.v = c.p.v;  C*der(c.v) = c.p.i;  r.n.i + c.p.i = 0;  r.p.i + r.n.i = 0;  r.p.v - r.n.v = R*r.p.i
//! C*der(c.v) = c.p.i;  r.p.v - c.v = -R*c.p.i;  with  c.p.v := c.v;  r.n.v := c.v;  r.n.i := -c.p.i;  r.p.i := c.p.i
//! ```
//!
//! A tree in which an equation closes a cycle stays as it is; [`crate::singularities`] has told about it. Messages about the smaller system
//! speak of the equations as they were written ([`Reduced::messages_as_written`]). Time is linear in the size of the equations.
//!
//! Arrays are not looked at.

pub(crate) mod breadth_first;

use acausal_base::Diagnostic;
use acausal_expr::flat::{Action, Equation, FlatModel, StateSelect, Variable};
use acausal_expr::{Builtin, ExprId, Exprs, Node, ValueKind, VarId};
use acausal_symbolic::Substitute;

use acausal_structure::Rows;

use crate::options::Aliases;
use crate::segments::incidence::is_unknown;
use crate::{Local, Options, index_reduction};
use breadth_first::LEAST;

/// The smaller system.
#[derive(Default)]
pub(crate) struct Reduced {
    /// What is left of the equations.
    pub(crate) equations: Vec<Equation>,
    /// Their numbers among the equations before; empty if these are the same.
    pub(crate) numbers: Vec<u32>,
    /// Assignments of the variables that were taken out, in their order: each reads a variable that stays.
    pub(crate) locals: Vec<Local>,
    /// The equations before; empty if these are the same.
    before: Vec<Equation>,
}

impl Reduced {
    /// An equation before aliases were taken out, by its number among what was left.
    pub(crate) fn as_written(&self, equation: usize) -> Option<&Equation> {
        // Equations that were taken apart since then have other numbers.
        let same = self.numbers.len() == self.equations.len();
        let number = self.numbers.get(equation).filter(|_| same)?;
        self.before.get(*number as usize)
    }

    /// Messages about the structure of what is left, told of the equations as they were written. Those of the
    /// smaller system stay if only that one is singular.
    pub(crate) fn messages_as_written(
        &mut self,
        flat: &mut FlatModel,
        messages: Vec<Diagnostic>,
    ) -> Vec<Diagnostic> {
        if self.locals.is_empty() {
            return messages;
        }
        for local in &self.locals {
            flat.vars[local.target.var.index()].alias = false;
        }
        let before = index_reduction::reduce(flat, &mut self.before);
        before.err().unwrap_or(messages)
    }

    /// What emission needs of it.
    pub(crate) fn without_equations(self) -> Reduced {
        Reduced {
            numbers: self.numbers,
            locals: self.locals,
            ..Reduced::default()
        }
    }
}

/// Takes aliases out of the equations.
pub(crate) fn remove(flat: &mut FlatModel, equations: Vec<Equation>, options: &Options) -> Reduced {
    let wanted = match options.aliases {
        Aliases::All => true,
        Aliases::OfLargeModels => {
            equations.iter().map(Equation::len).sum::<usize>() >= options.scale.aliases_from
        }
        Aliases::None => false,
    };
    // The full form has all equations.
    if !wanted || options.no_state_selection {
        return unchanged(equations);
    }
    match reduce(flat, &equations, options) {
        Some(reduced) => Reduced {
            before: equations,
            ..reduced
        },
        None => unchanged(equations),
    }
}

fn unchanged(equations: Vec<Equation>) -> Reduced {
    Reduced {
        equations,
        ..Reduced::default()
    }
}

/// `a = sign*b`, by an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Edge {
    a: VarId,
    b: VarId,
    equation: u32,
    negative: bool,
}

/// What is left without aliases. `None` if there are none.
fn reduce(flat: &mut FlatModel, equations: &[Equation], options: &Options) -> Option<Reduced> {
    let facts = Facts::new(flat, options);
    // Per variable of an edge: an access to it.
    let mut accesses = vec![ExprId::default(); flat.vars.len()];
    let mut edges: Vec<Edge> = Vec::new();
    for (k, eq) in equations.iter().enumerate() {
        if let Some((edge, [a, b])) = edge(&flat.exprs, &facts.unknown, eq, k as u32) {
            accesses[edge.a.index()] = a;
            accesses[edge.b.index()] = b;
            edges.push(edge);
        }
    }
    if edges.is_empty() {
        return None;
    }
    let special = special(flat);
    let parents = Forest::new(flat.vars.len(), &edges).directed(flat, &special);
    drop(edges);
    // Per variable that is taken out: its representative, and whether the sign differs.
    let mut image: Vec<Option<(VarId, bool)>> = vec![None; flat.vars.len()];
    // And the equation that says so.
    let mut reason = vec![0u32; flat.vars.len()];
    let mut gone = vec![false; equations.len()];
    let mut count = 0;
    for Parent {
        of,
        parent,
        negative,
        equation,
    } in parents
    {
        // Parents come first, so their images are known.
        let (to, negative) = match image[parent.index()] {
            Some((to, sign)) => (to, sign != negative),
            None => (parent, negative),
        };
        let silent = facts.silent[of.index()] || says_nothing(flat, of, to);
        if special[of.index()] || !silent {
            continue;
        }
        image[of.index()] = Some((to, negative));
        reason[of.index()] = equation;
        gone[equation as usize] = true;
        count += 1;
    }
    if count == 0 {
        return None;
    }
    let images = Images { image, accesses };
    let mut left = Vec::with_capacity(equations.len() - count);
    let numbers = remaining(flat, equations, &gone, &facts.unknown, &images.image);
    for &k in &numbers {
        let mut eq = equations[k as usize].clone();
        eq.lhs = images.replace(&mut flat.exprs, eq.lhs);
        eq.rhs = images.replace(&mut flat.exprs, eq.rhs);
        left.push(eq);
    }
    let mut locals = Vec::with_capacity(count);
    let subs = flat.exprs.make_list(&[]);
    for (k, equation) in reason.into_iter().enumerate() {
        let of = VarId(k as u32);
        if let Some(value) = images.of(&mut flat.exprs, of) {
            flat.vars[k].alias = true;
            locals.push(Local {
                domain: Vec::new().into(),
                target: acausal_expr::Access {
                    var: of,
                    kind: ValueKind::Value,
                    subs,
                },
                value,
                origin: equations[equation as usize].origin,
            });
        }
    }
    Some(Reduced {
        equations: left,
        numbers,
        locals,
        before: Vec::new(),
    })
}

/// What is asked about variables in any order, which are large themselves.
struct Facts {
    /// A scalar unknown.
    unknown: Vec<bool>,
    /// Nothing is said about it.
    silent: Vec<bool>,
}

impl Facts {
    fn new(flat: &FlatModel, options: &Options) -> Facts {
        let unknown = |(id, v): (VarId, &Variable)| is_unknown(flat, id) && v.dims.is_empty();
        let silent =
            |v: &Variable| v.attributes.is_none() && v.state_select == StateSelect::Default;
        let mut unknown: Vec<bool> = flat.var_ids().map(unknown).collect();
        if !options.prefer_states.is_empty() {
            // What the user wants as a state is not replaced by what it equals.
            for (k, v) in flat.vars.iter().enumerate() {
                unknown[k] &= !options.prefer_states.contains(&v.name.plain());
            }
        }
        Facts {
            unknown,
            silent: flat.vars.iter().map(silent).collect(),
        }
    }
}

/// What takes the place of variables.
struct Images {
    /// Per variable that is taken out: its representative, and whether the sign differs.
    image: Vec<Option<(VarId, bool)>>,
    /// Per variable of an edge, as all representatives are: an access to it.
    accesses: Vec<ExprId>,
}

impl Images {
    /// What a variable is replaced by.
    fn of(&self, x: &mut Exprs, var: VarId) -> Option<ExprId> {
        let (to, negative) = self.image[var.index()]?;
        let access = self.accesses[to.index()];
        Some(if negative { x.neg(access) } else { access })
    }

    /// A side of an equation with the representatives.
    fn replace(&self, x: &mut Exprs, side: ExprId) -> ExprId {
        let new = |x: &mut Exprs, e: ExprId| match x.node(e) {
            Node::Var(a) if a.kind == ValueKind::Value => self.of(x, a.var),
            _ => None,
        };
        match x.node(side) {
            Node::Var(a) if x.list(a.subs).is_empty() => new(x, side).unwrap_or(side),
            Node::Real(_) | Node::Int(_) => side,
            _ => x.rewrite(side, new),
        }
    }
}

/// The numbers of the equations that stay, along the graph of what they share if there are many.
fn remaining(
    flat: &FlatModel,
    equations: &[Equation],
    gone: &[bool],
    unknown: &[bool],
    image: &[Option<(VarId, bool)>],
) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..equations.len() as u32).collect();
    numbers.retain(|&k| !gone[k as usize]);
    if numbers.len() < LEAST {
        return numbers;
    }
    let mut rows: Rows<u32> = Rows::new();
    let mut row: Vec<u32> = Vec::new();
    for &k in &numbers {
        let eq = &equations[k as usize];
        flat.exprs.for_each_access(&[eq.lhs, eq.rhs], |_, a| {
            if unknown[a.var.index()] {
                row.push(image[a.var.index()].map_or(a.var, |i| i.0).0);
            }
        });
        row.sort_unstable();
        row.dedup();
        rows.push(row.drain(..));
    }
    let order = breadth_first::breadth_first_order(&rows, flat.vars.len());
    order.into_iter().map(|k| numbers[k as usize]).collect()
}

/// Whether an equation is one between two scalar unknowns up to the sign; with the accesses to them.
fn edge(x: &Exprs, unknown: &[bool], eq: &Equation, equation: u32) -> Option<(Edge, [ExprId; 2])> {
    if !eq.domain.is_empty() {
        return None;
    }
    // A side as a plain unknown and whether it is negative.
    let plain = |e: ExprId| -> Option<(VarId, bool, ExprId)> {
        let (e, negative) = match x.node(e) {
            Node::Mul(l) => match *x.list(l) {
                [c, rest] if x.as_f64(c) == Some(-1.0) => (rest, true),
                _ => return None,
            },
            _ => (e, false),
        };
        match x.node(e) {
            Node::Var(a) if a.kind == ValueKind::Value && unknown[a.var.index()] => {
                Some((a.var, negative, e))
            }
            _ => None,
        }
    };
    let of_sum = |sum: ExprId, zero: ExprId| -> Option<[(VarId, bool, ExprId); 2]> {
        let Node::Add(l) = x.node(sum) else {
            return None;
        };
        match *x.list(l) {
            [a, b] if x.is_zero(zero) => {
                let (b, negative, access) = plain(b)?;
                Some([plain(a)?, (b, !negative, access)])
            }
            _ => None,
        }
    };
    let [a, b] = match plain(eq.lhs) {
        Some(a) => [a, plain(eq.rhs)?],
        None => of_sum(eq.lhs, eq.rhs).or_else(|| of_sum(eq.rhs, eq.lhs))?,
    };
    let edge = Edge {
        a: a.0,
        b: b.0,
        equation,
        negative: a.1 != b.1,
    };
    (a.0 != b.0).then_some((edge, [a.2, b.2]))
}

/// Variables of which more than the value is asked for: derivatives, left limits, start values, and states that are set anew.
fn special(flat: &FlatModel) -> Vec<bool> {
    let x = &flat.exprs;
    let mut special = vec![false; flat.vars.len()];
    for e in x.ids() {
        match x.node(e) {
            Node::Var(a) if a.kind != ValueKind::Value => {
                // Shapes of values that were not needed in the end are accesses to no variable.
                if let Some(s) = special.get_mut(a.var.index()) {
                    *s = true;
                }
            }
            Node::Call(Builtin::Start, l) => {
                for (_, a) in x.list(l).iter().flat_map(|&e| x.accesses(e)) {
                    if let Some(s) = special.get_mut(a.var.index()) {
                        *s = true;
                    }
                }
            }
            _ => {}
        }
    }
    let branches = flat.whens.iter().flat_map(|w| &w.branches);
    for action in branches.flat_map(|b| &b.actions) {
        if let Action::Reinit { target, .. } | Action::Assign { target, .. } = action {
            special[target.var.index()] = true;
        }
    }
    special
}

/// Whether everything that is said about a variable is said about its representative too.
fn says_nothing(flat: &FlatModel, of: VarId, to: VarId) -> bool {
    let (v, w) = (flat.var(of), flat.var(to));
    if v.attributes.is_none() {
        return v.state_select == StateSelect::Default;
    }
    let same = |a: &Option<acausal_expr::flat::Comprehension>,
                b: &Option<acausal_expr::flat::Comprehension>| a.is_none() || a == b;
    v.fixed.is_none()
        && v.state_select == StateSelect::Default
        && same(&v.start, &w.start)
        && same(&v.nominal, &w.nominal)
}

/// What speaks for a variable as the representative, most important first; the largest wins, and among equals the first by name.
fn merit(v: &Variable, special: bool) -> u8 {
    let wish = match v.state_select {
        StateSelect::Never => 0,
        StateSelect::Avoid => 1,
        StateSelect::Default => 2,
        StateSelect::Prefer => 3,
        StateSelect::Always => 4,
    };
    let said = |slot: &Option<acausal_expr::flat::Comprehension>| u8::from(slot.is_some());
    let (fixed, start, nominal) = match &v.attributes {
        None => (0, 0, 0),
        Some(a) => (said(&a.fixed), said(&a.start), said(&a.nominal)),
    };
    let written = u8::from(!v.auxiliary);
    u8::from(special) << 7 | fixed << 6 | wish << 3 | start << 2 | nominal << 1 | written
}

/// A variable, the one next to it on the way to the representative, and the equation between them.
struct Parent {
    of: VarId,
    parent: VarId,
    equation: u32,
    negative: bool,
}

/// The edges of the variables, as lists through one table.
struct Forest<'e> {
    edges: &'e [Edge],
    /// Per variable: the last end at it, plus one. End `2*k` is `a` of edge `k`, end `2*k + 1` is `b`.
    last: Vec<u32>,
    /// Per end: the end before it at the same variable, plus one.
    before: Vec<u32>,
}

impl Forest<'_> {
    fn new(vars: usize, edges: &[Edge]) -> Forest<'_> {
        let mut forest = Forest {
            edges,
            last: vec![0; vars],
            before: Vec::with_capacity(2 * edges.len()),
        };
        for edge in edges {
            for v in [edge.a, edge.b] {
                forest.before.push(forest.last[v.index()]);
                forest.last[v.index()] = forest.before.len() as u32;
            }
        }
        forest
    }

    /// The edges at a variable and the variables at their other ends.
    fn at(&self, v: VarId) -> impl Iterator<Item = (usize, VarId)> {
        let mut end = self.last[v.index()] as usize;
        std::iter::from_fn(move || {
            let k = end.checked_sub(1)? / 2;
            end = self.before[end - 1] as usize;
            let edge = &self.edges[k];
            Some((k, if edge.a == v { edge.b } else { edge.a }))
        })
    }

    /// The edges of the trees from their representatives outwards. One tree after the other: what is needed of it is at hand from the search for
    /// its members. As many edges as members, or more, are no tree.
    fn directed(&self, flat: &FlatModel, special: &[bool]) -> Vec<Parent> {
        let merits: Vec<u8> = (flat.vars.iter().zip(special))
            .map(|(v, special)| merit(v, *special))
            .collect();
        let name = |v: VarId| &flat.var(v).name;
        let mut found = vec![false; self.last.len()];
        let mut members: Vec<VarId> = Vec::new();
        let mut todo: Vec<(VarId, usize)> = Vec::new();
        let mut out = Vec::with_capacity(self.edges.len());
        for first in 0..self.last.len() {
            if self.last[first] == 0 || found[first] {
                continue;
            }
            found[first] = true;
            members.clear();
            members.push(VarId(first as u32));
            let (mut head, mut ends) = (0, 0);
            while let Some(&v) = members.get(head) {
                head += 1;
                for (_, other) in self.at(v) {
                    ends += 1;
                    if !std::mem::replace(&mut found[other.index()], true) {
                        members.push(other);
                    }
                }
            }
            if ends / 2 >= members.len() {
                continue;
            }
            let mut representative = members[0];
            for &v in &members[1..] {
                let (own, most) = (merits[v.index()], merits[representative.index()]);
                if own > most || own == most && name(v) < name(representative) {
                    representative = v;
                }
            }
            todo.push((representative, usize::MAX));
            while let Some((v, from)) = todo.pop() {
                for (k, of) in self.at(v).filter(|(k, _)| *k != from) {
                    out.push(Parent {
                        of,
                        parent: v,
                        equation: self.edges[k].equation,
                        negative: self.edges[k].negative,
                    });
                    todo.push((of, k));
                }
            }
        }
        out
    }
}
