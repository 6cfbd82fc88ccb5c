//! Variables that equal another one up to the sign are taken out of the structural analysis.
//!
//! In: the continuous equations. Out: fewer equations for fewer unknowns, and one assignment for each variable that was taken out. In a
//! network that is written out, more than half of the equations only say that two potentials are equal or that a current flows through; without
//! them every later pass has less than half of the work.
//!
//! The equations `a = b`, `a = -b`, `a + b = 0` and `a - b = 0` between scalars or arrays are edges, if they give at least one of the two completely
//! ([`edges`]): element by element, or under an affine map of subscripts, `a[i] = b[n + 1 - i]`, `a[i] = b[i + 1]` with a longer `b`, `a[i] = s` ([`map`]).
//! They are directed towards the variable that deserves most to stay ([`forest`]), so that every other variable belongs to one edge, that with
//! its parent. It is taken out with the equations of this edge unless something is said about it that what takes its place does not say too ([`said`]);
//! where it occurs in equations its *image* takes its place: a variable that stays, a sign, and a map. `when` clauses, assertions and initial equations are not
//! changed: they read the assignment. What is left is put in the order of its graph ([`crate::aliases::breadth_first`]).
//!
//! ```text
//! c.v = c.p.v;  r.n.v = c.p.v;  C*der(c.v) = c.p.i;  r.n.i + c.p.i = 0;  r.p.i + r.n.i = 0;  r.p.v - r.n.v = R*r.p.i
//! C*der(c.v) = c.p.i;  r.p.v - c.v = -R*c.p.i;  with  c.p.v := c.v;  r.n.v := c.v;  r.n.i := -c.p.i;  r.p.i := c.p.i
//! ```
//!
//! A tree in which an equation closes a cycle stays as it is; [`crate::singularities`] has told about it. Messages about the smaller system
//! speak of the equations as they were written ([`Reduced::messages_as_written`]). Time is linear in the size of the equations, whatever the lengths of arrays.

pub(crate) mod breadth_first;
mod edges;
mod forest;
mod map;
mod said;

use acausal_base::Diagnostic;
use acausal_expr::flat::{Equation, FlatModel, OriginId};
use acausal_expr::{Access, ExprId, Exprs, IterId, Node, Range, Ty, ValueKind, VarId};
use acausal_symbolic::Substitute;

use acausal_structure::Rows;

use crate::options::Aliases;
use crate::segments::incidence::is_unknown;
use crate::{Local, Options, index_reduction};
use breadth_first::LEAST;
use edges::{Edges, MapId, Maps};
use forest::Parent;
use said::Place;

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

/// What is left without aliases. `None` if there are none.
fn reduce(flat: &mut FlatModel, equations: &[Equation], options: &Options) -> Option<Reduced> {
    let unknown = replaceable(flat, options);
    let mut edges = Edges::new(flat, &unknown, equations);
    if edges.edges.is_empty() {
        return None;
    }
    let special = said::special(flat);
    let parents = forest::parents(flat, &special, &edges);
    let mut images = Images {
        image: vec![None; flat.vars.len()],
        maps: std::mem::take(&mut edges.maps),
    };
    // Per variable that is taken out: the equation that says so.
    let mut reason = vec![0u32; flat.vars.len()];
    let mut gone = vec![false; equations.len()];
    let mut count = 0;
    for parent in &parents {
        let image = images.by(flat, parent);
        let place = Place {
            to: image.to,
            negative: image.negative,
            map: images.maps.get(image.map),
        };
        if special[parent.of.index()] || !said::says_nothing(flat, parent.of, &place) {
            continue;
        }
        images.image[parent.of.index()] = Some(image);
        reason[parent.of.index()] = parent.equation;
        gone[parent.equation as usize] = true;
        for &other in edges.others.get(&parent.equation).into_iter().flatten() {
            gone[other as usize] = true;
        }
        count += 1;
    }
    if count == 0 {
        return None;
    }
    drop((parents, edges));
    let mut left = Vec::with_capacity(equations.len() - count);
    let numbers = remaining(flat, equations, &gone, &unknown, &images.image);
    for &k in &numbers {
        let mut eq = equations[k as usize].clone();
        eq.lhs = images.replace(&mut flat.exprs, eq.lhs);
        eq.rhs = images.replace(&mut flat.exprs, eq.rhs);
        left.push(eq);
    }
    let mut locals = Vec::with_capacity(count);
    for (k, equation) in reason.into_iter().enumerate() {
        if images.image[k].is_some() {
            let origin = equations[equation as usize].origin;
            locals.extend(images.assignment(flat, VarId(k as u32), origin));
            flat.vars[k].alias = true;
        }
    }
    Some(Reduced {
        equations: left,
        numbers,
        locals,
        before: Vec::new(),
    })
}

/// The unknowns that may be replaced by what they equal.
fn replaceable(flat: &FlatModel, options: &Options) -> Vec<bool> {
    let unknown = flat.var_ids().map(|(id, _)| is_unknown(flat, id));
    let mut unknown: Vec<bool> = unknown.collect();
    if !options.prefer_states.is_empty() {
        // What the user wants as a state is not replaced by what it equals.
        for (k, v) in flat.vars.iter().enumerate() {
            unknown[k] &= !options.prefer_states.contains(&v.name.plain());
        }
    }
    unknown
}

/// What takes the place of a variable.
#[derive(Clone, Copy)]
struct Image {
    to: VarId,
    negative: bool,
    map: MapId,
}

/// What takes the place of variables.
struct Images {
    /// Per variable that is taken out: a variable that is not, whether the sign differs, and which of its elements.
    image: Vec<Option<Image>>,
    maps: Maps,
}

impl Images {
    /// The image of a variable whose parent has got its own.
    fn by(&mut self, flat: &FlatModel, p: &Parent) -> Image {
        match self.image[p.parent.index()] {
            Some(of_parent) => Image {
                to: of_parent.to,
                negative: p.negative != of_parent.negative,
                map: self
                    .maps
                    .composed(flat, (p.of, p.map), (of_parent.to, of_parent.map)),
            },
            None => Image {
                to: p.parent,
                negative: p.negative,
                map: p.map,
            },
        }
    }

    /// What an access to a value is replaced by.
    fn of(&self, x: &mut Exprs, a: Access, ty: Ty) -> Option<ExprId> {
        let image = self.image[a.var.index()]?;
        let subs = match self.maps.get(image.map) {
            None => a.subs,
            Some(map) => {
                let subs = x.list(a.subs).to_vec();
                let subs = map.of(x, &subs);
                x.make_list(&subs)
            }
        };
        let access = Access {
            var: image.to,
            subs,
            ..a
        };
        let value = x.access(access, ty);
        Some(if image.negative { x.neg(value) } else { value })
    }

    /// A side of an equation with the representatives.
    fn replace(&self, x: &mut Exprs, side: ExprId) -> ExprId {
        let new = |x: &mut Exprs, e: ExprId| match x.node(e) {
            Node::Var(a) if a.kind == ValueKind::Value => self.of(x, a, x.ty(e)),
            _ => None,
        };
        match x.node(side) {
            Node::Var(_) => new(x, side).unwrap_or(side),
            Node::Real(_) | Node::Int(_) => side,
            _ => x.rewrite(side, new),
        }
    }

    /// The assignment of a variable that is taken out.
    fn assignment(&self, flat: &mut FlatModel, var: VarId, origin: OriginId) -> Option<Local> {
        let FlatModel { exprs: x, vars, .. } = flat;
        let iterator = |&size: &usize| (x.fresh_iter(), Range::upto(size));
        let domain: Vec<(IterId, Range)> = vars[var.index()].dims.iter().map(iterator).collect();
        let subs: Vec<ExprId> = domain.iter().map(|d| x.iter(d.0)).collect();
        let target = Access {
            var,
            kind: ValueKind::Value,
            subs: x.make_list(&subs),
        };
        Some(Local {
            value: self.of(x, target, Ty::Real)?,
            domain: domain.into(),
            target,
            origin,
        })
    }
}

/// The numbers of the equations that stay, along the graph of what they share if there are many.
fn remaining(
    flat: &FlatModel,
    equations: &[Equation],
    gone: &[bool],
    unknown: &[bool],
    image: &[Option<Image>],
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
                row.push(image[a.var.index()].map_or(a.var, |i| i.to).0);
            }
        });
        row.sort_unstable();
        row.dedup();
        rows.push(row.drain(..));
    }
    let order = breadth_first::breadth_first_order(&rows, flat.vars.len());
    order.into_iter().map(|k| numbers[k as usize]).collect()
}
