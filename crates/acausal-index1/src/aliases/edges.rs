//! The equations that say that a variable equals another one up to the sign.
//!
//! In: the equations, with the pair of accesses of each that is nothing but `a = b`, `a = -b`, `a - b = 0` or `a + b = 0`. Out: [`Edge`]s between variables that
//! give a *whole* variable. An equation of scalars, or of whole arrays, is an edge by itself. Equations of sections are taken together if they relate the same two
//! variables with the same sign: `a[1:3] = b[2:4]; a[4] = b[5]` give all of `a`. An edge that gives both variables can be used in both directions; one that
//! gives `a` by a section of `b`, or by one element of it, in one. Equations of sections that give no variable completely are no edges, unless what they leave out
//! follows by way of a third variable ([`Thirds`]).
//!
//! Cost: linear in the number of equations but for sorting those of sections; the lengths of arrays do not matter. Only among equations of the same box of one
//! variable is there a search.

use acausal_expr::flat::{Equation, FlatModel};
use acausal_expr::{Access, Exprs, Node, ValueKind, VarId};
use acausal_structure::segments::Span;
use rustc_hash::FxHashMap;
use std::ops::Range;

use super::map::{AccessMap, Section, merged};

/// Number of a map in [`Maps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MapId(u32);

impl MapId {
    /// The same element of an array of the same shape.
    pub const IDENTITY: MapId = MapId(u32::MAX);
}

/// The maps that are no identity.
#[derive(Default)]
pub(super) struct Maps(Vec<AccessMap>);

impl Maps {
    pub fn get(&self, id: MapId) -> Option<&AccessMap> {
        self.0.get(id.0 as usize)
    }

    /// From `a` to `c` by way of `b`.
    pub fn composed(
        &mut self,
        flat: &FlatModel,
        (a, ab): (VarId, MapId),
        (c, bc): (VarId, MapId),
    ) -> MapId {
        match (self.get(ab), self.get(bc)) {
            (_, None) => ab,
            (None, _) => bc,
            (Some(first), Some(second)) => {
                let map = first.then(second);
                self.add(flat, a, c, map)
            }
        }
    }

    fn add(&mut self, flat: &FlatModel, of: VarId, to: VarId, map: AccessMap) -> MapId {
        if map.is_identity(&flat.var(of).dims, &flat.var(to).dims) {
            return MapId::IDENTITY;
        }
        self.0.push(map);
        MapId(self.0.len() as u32 - 1)
    }
}

/// `a = sign*b`, by an equation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub a: VarId,
    pub b: VarId,
    /// The first one, if there are several.
    pub equation: u32,
    pub negative: bool,
    /// `a` by `b`, if all of `a` is given.
    pub forth: Option<MapId>,
    /// `b` by `a`, if all of `b` is given.
    pub back: Option<MapId>,
}

/// What equations of aliases say.
#[derive(Default)]
pub(super) struct Edges {
    pub edges: Vec<Edge>,
    pub maps: Maps,
    /// The other equations of edges that consist of several, by the first one.
    pub others: FxHashMap<u32, Vec<u32>>,
}

/// An equation between accesses that are no whole scalars; `a` comes before `b` in the model.
struct Part {
    vars: [VarId; 2],
    negative: bool,
    equation: u32,
    /// What it says about elements of `a`, and of `b`.
    sections: [Option<Section>; 2],
}

impl Part {
    fn new(x: &Exprs, eq: &Equation, equation: u32, negative: bool, sides: [Access; 2]) -> Part {
        let [a, b] = sides;
        let sections = [(a, b), (b, a)];
        Part {
            vars: [a.var, b.var],
            negative,
            equation,
            sections: sections.map(|(of, to)| Section::new(x, &eq.domain, of, to)),
        }
    }

    /// What it says about elements of one of its variables.
    fn of(&self, var: VarId) -> Option<&Section> {
        self.sections[usize::from(self.vars[1] == var)].as_ref()
    }

    fn other(&self, var: VarId) -> VarId {
        self.vars[usize::from(self.vars[0] == var)]
    }

    fn relation(&self) -> ([VarId; 2], bool) {
        (self.vars, self.negative)
    }
}

impl Edges {
    pub fn new(flat: &FlatModel, unknown: &[bool], equations: &[Equation]) -> Edges {
        let x = &flat.exprs;
        let mut out = Edges::default();
        let mut parts: Vec<Part> = Vec::new();
        for (k, eq) in equations.iter().enumerate() {
            let Some([(mut a, plus), (mut b, minus)]) = pair(x, unknown, eq) else {
                continue;
            };
            let (equation, negative) = (k as u32, plus != minus);
            let scalar = |a: Access| x.list(a.subs).is_empty();
            let of_an_element = |a: Access| x.list(a.subs).len() == flat.var(a.var).dims.len();
            if a.var == b.var || !of_an_element(a) || !of_an_element(b) {
                continue;
            }
            if eq.domain.is_empty() && scalar(a) && scalar(b) {
                out.edges.push(Edge {
                    a: a.var,
                    b: b.var,
                    equation,
                    negative,
                    forth: Some(MapId::IDENTITY),
                    back: Some(MapId::IDENTITY),
                });
                continue;
            }
            if a.var > b.var {
                std::mem::swap(&mut a, &mut b);
            }
            parts.push(Part::new(x, eq, equation, negative, [a, b]));
        }
        parts.sort_by_key(Part::relation);
        let mut open = Vec::new();
        let mut used = vec![false; parts.len()];
        let mut first = 0;
        for same in parts.chunk_by(|p, q| p.relation() == q.relation()) {
            let numbers = first..first + same.len();
            first = numbers.end;
            // One that gives a variable by itself, or all together. What else is said about the two stays an equation.
            let single = numbers.clone().map(|k| k..k + 1);
            let together = (same.len() > 1).then_some(numbers.clone());
            match single
                .chain(together)
                .find(|few| out.add(flat, &parts[few.clone()], None))
            {
                Some(few) => used[few].fill(true),
                None => open.push(numbers),
            }
        }
        Thirds::new(&parts).complete(flat, open, &mut used, &mut out);
        out
    }

    /// Adds the edge of equations between the same two variables, the last of which may follow from two others. False if they give neither variable.
    fn add(&mut self, flat: &FlatModel, parts: &[Part], last: Option<&Part>) -> bool {
        let vars = parts[0].vars;
        let whole = |k: usize| {
            let sections = parts.iter().chain(last).map(|p| p.sections[k].clone());
            whole(flat, vars[k], sections.collect::<Option<_>>()?)
        };
        let [forth, back] = [whole(0), whole(1)];
        if forth.is_none() && back.is_none() {
            return false;
        }
        let [a, b] = vars;
        let equation = parts[0].equation;
        let others: Vec<u32> = parts[1..].iter().chain(last).map(|p| p.equation).collect();
        if !others.is_empty() {
            self.others.insert(equation, others);
        }
        self.edges.push(Edge {
            a,
            b,
            equation,
            negative: parts[0].negative,
            forth: forth.map(|map| self.maps.add(flat, a, b, map)),
            back: back.map(|map| self.maps.add(flat, b, a, map)),
        });
        true
    }
}

/// Sections that two variables have in common with a third one.
///
/// A connection set says that all its members equal the first one. In a ladder the members are `r[2:n].p`, `r[1:n - 1].n`, `c[1:n - 1].p`, and the last cell is a
/// set of its own, `r[n].n` and `c[n].p`: that `r.n.v` is `c.p.v` altogether follows by way of `r.p.v`. So where the equations between two variables leave out
/// one box, it is looked for whether both equal the same section of a third variable there. One of these two equations then is *given*, and the other one, with it,
/// an equation between the two variables. Invariant: no equation is both given for one edge and taken out with another one by what is given to it, so that all of them
/// follow from the definitions and the equations that stay.
struct Thirds<'p> {
    parts: &'p [Part],
    /// By variable and box of its elements.
    at: FxHashMap<(VarId, &'p [Span]), Vec<usize>>,
    /// By variable, box of its elements, and the other variable.
    between: FxHashMap<(VarId, &'p [Span], VarId), usize>,
    given: Vec<bool>,
    taken: Vec<bool>,
}

impl<'p> Thirds<'p> {
    fn new(parts: &'p [Part]) -> Thirds<'p> {
        let mut thirds = Thirds {
            parts,
            at: FxHashMap::default(),
            between: FxHashMap::default(),
            given: vec![false; parts.len()],
            taken: vec![false; parts.len()],
        };
        for (k, part) in parts.iter().enumerate() {
            for var in part.vars {
                if let Some(section) = part.of(var) {
                    thirds.at.entry((var, &section.at)).or_default().push(k);
                    let between = (var, &section.at[..], part.other(var));
                    thirds.between.entry(between).or_insert(k);
                }
            }
        }
        thirds
    }

    fn complete(
        &mut self,
        flat: &FlatModel,
        open: Vec<Range<usize>>,
        used: &mut [bool],
        out: &mut Edges,
    ) {
        for numbers in open {
            if numbers.clone().any(|k| used[k]) {
                continue;
            }
            let parts = self.parts;
            let Some((given, taken, last)) = self.completion(flat, &parts[numbers.clone()], used)
            else {
                continue;
            };
            if out.add(flat, &parts[numbers.clone()], Some(&last)) {
                used[numbers].fill(true);
                used[taken] = true;
                self.given[given] = true;
                self.taken[taken] = true;
            }
        }
    }

    /// The equation that is given, the one that is taken out, and what both say about the two variables.
    fn completion(
        &self,
        flat: &FlatModel,
        parts: &[Part],
        used: &[bool],
    ) -> Option<(usize, usize, Part)> {
        let ([a, b], negative) = parts[0].relation();
        let sections: Option<Vec<Section>> = parts.iter().map(|p| p.of(a).cloned()).collect();
        let [known] = &merged(sections?)[..] else {
            return None;
        };
        let missing = rest(&known.at, &shape(flat, a))?;
        for &first in self.at.get(&(a, &missing[..]))? {
            let p = &self.parts[first];
            let third = p.other(a);
            let (Some(from_a), Some(to_a)) = (p.of(a), p.of(third)) else {
                continue;
            };
            let Some(&second) = self.between.get(&(third, &to_a.at[..], b)) else {
                continue;
            };
            let q = &self.parts[second];
            let (Some(from_b), Some(to_b)) = (q.of(b), q.of(third)) else {
                continue;
            };
            let free = |given: usize, taken: usize| {
                !self.taken[given] && !self.given[taken] && !used[taken]
            };
            let (given, taken) = match free(first, second) {
                true => (first, second),
                false if free(second, first) => (second, first),
                false => continue,
            };
            if (p.negative != q.negative) == negative {
                let last = Part {
                    vars: [a, b],
                    negative,
                    equation: self.parts[taken].equation,
                    sections: [from_a.through(to_b), from_b.through(to_a)].map(Some),
                };
                return Some((given, taken, last));
            }
        }
        None
    }
}

/// What is left of an array without a box at one of its ends, if that is one box.
fn rest(at: &[Span], shape: &[Span]) -> Option<Vec<Span>> {
    let mut differ = (0..shape.len()).filter(|&d| at[d] != shape[d]);
    let (d, None) = (differ.next()?, differ.next()) else {
        return None;
    };
    let (own, all) = (at[d], shape[d]);
    let left = match (own.lo == all.lo, own.hi == all.hi) {
        (true, false) => Span::new(own.hi + 1, all.hi),
        (false, true) => Span::new(all.lo, own.lo - 1),
        _ => return None,
    };
    let mut rest = shape.to_vec();
    rest[d] = left;
    Some(rest)
}

fn shape(flat: &FlatModel, var: VarId) -> Vec<Span> {
    let dims = flat.var(var).dims.iter();
    dims.map(|&d| Span::new(1, d as i64)).collect()
}

/// The map that gives each element of a variable once, from sections of it.
fn whole(flat: &FlatModel, var: VarId, sections: Vec<Section>) -> Option<AccessMap> {
    let mut all = merged(sections).into_iter();
    let (section, None) = (all.next()?, all.next()) else {
        return None;
    };
    (section.at == shape(flat, var)).then_some(section.map)
}

/// The two sides of an equation that says nothing but that two unknowns are equal up to the sign, each with its own.
fn pair(x: &Exprs, unknown: &[bool], eq: &Equation) -> Option<[(Access, bool); 2]> {
    // A side as a plain unknown and whether it is negative.
    let plain = |e| {
        let (e, negative) = match x.node(e) {
            Node::Mul(l) => match *x.list(l) {
                [c, rest] if x.as_f64(c) == Some(-1.0) => (rest, true),
                _ => return None,
            },
            _ => (e, false),
        };
        match x.node(e) {
            Node::Var(a) if a.kind == ValueKind::Value && unknown[a.var.index()] => {
                Some((a, negative))
            }
            _ => None,
        }
    };
    let of_sum = |sum, zero| {
        let Node::Add(l) = x.node(sum) else {
            return None;
        };
        match *x.list(l) {
            [a, b] if x.is_zero(zero) => {
                let (b, negative) = plain(b)?;
                Some([plain(a)?, (b, !negative)])
            }
            _ => None,
        }
    };
    match plain(eq.lhs) {
        Some(a) => Some([a, plain(eq.rhs)?]),
        None => of_sum(eq.lhs, eq.rhs).or_else(|| of_sum(eq.rhs, eq.lhs)),
    }
}
