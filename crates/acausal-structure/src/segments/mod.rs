//! Arrays stay arrays: matching, index reduction and sorting at a cost that does not depend on array lengths.
//!
//! In: a [`Model`]: array variables, array equations over iteration boxes, and accesses like `x[i-1]`, `x[1]`, `sum(x)`.
//! Out: an [`Analysis`] that equals what the same algorithms give for the scalarised model, but stated for *segments*
//! (boxes of elements that behave alike): how often each is differentiated, what it determines, and blocks that are
//! elementwise, recurrences or coupled.
//!
//! Method.
//! 1. Dimensions whose indices run in step share a *frame*; boxes and single elements cut it ([`frames`](self)).
//! 2. A stretch between two cuts that is much longer than all index shifts is replaced by a short one: margins at both
//!    ends and a window in the middle. What is left is a small model of the same kind, as if N were 17.
//! 3. The exact scalar algorithms run on it: Pantelides, then a complete matching of the highest derivatives.
//! 4. If the windows are uniform (same differentiation order, same choice of access), everything is lifted back: the
//!    conditions that make a matching complete and the orders consistent are local, so repeating a uniform window keeps
//!    them true. Equal cells are joined into segments.
//! 5. If a window is not uniform, or the small model is singular where it was shortened, wider margins are tried, and then
//!    the arrays of just that frame are enumerated element by element; the result says which ones
//!    ([`Analysis::enumerated`]).
//!
//! Inside a coupled block the cuts depend on an arbitrary matching; [`Analysis::coarsened`] removes them, and
//! [`cut_by_selection`] cuts by what is solved for what instead.
//!
//! A singular model is reported only from elements that were not shortened, so the verdict is exact too.
//! Equations whose iterators no index uses, and dimensions that are only touched as ranges, are single nodes with a
//! capacity (full incidence), as in [`crate::flow`].
//!
//! Worked example: `z[1] = 1; for i in 2:N: z[i] = f(z[i-1])` with a million elements. The frame of i is cut at 1, 2 and
//! N+1, the model shrinks to some twenty cells; two segments come out, the second a recurrence, not a loop.
//! ```
//! use acausal_structure::segments::{Direction, Index, Kind, Model, Span, analyse};
//! let n = 1_000_000;
//! let mut m = Model::default();
//! let z = m.variable(&[Span::new(1, n)], 0);
//! m.equation(&[], &[(z, &[Index::Fixed(1)])]);
//! m.equation(&[Span::new(2, n)], &[(z, &[Index::shifted(0, 0)]), (z, &[Index::shifted(0, -1)])]);
//! let a = analyse(&m).unwrap();
//! assert!(a.cells < 60 && a.enumerated.equations.is_empty());
//! assert_eq!(a.segments[1].spans, [Span::new(2, n)]);
//! let kinds: Vec<&Kind> = a.blocks.iter().map(|b| &b.kind).collect();
//! assert_eq!(kinds, [&Kind::Elementwise, &Kind::Recurrence(vec![Direction::Ascending])]);
//! ```

mod coarsen;
mod directions;
pub(crate) mod frames;
pub(crate) mod grid;
mod instance;
mod join;
pub(crate) mod lift;
mod model;
mod order;
mod result;
mod selected;
mod ties;

use std::collections::BTreeSet;

pub use directions::Directions;
pub use model::{Access, BadAccess, Equation, Index, Model, Span, Variable, size_of};
pub use order::{Block, Direction, Kind};
pub use result::{Analysis, Determined, ElementSet, Enumerated, Error, Segment, VariableSegment};
pub use selected::{Cut, StatePreferences, cut_by_selection};

use crate::dulmage_mendelsohn::Part;
use crate::flow::Reached;
use crate::pantelides::pantelides;
use crate::{EqId, VarId};
use frames::{Frames, Width};
use grid::Grid;
use instance::{Assignment, Instance, Orders, Variant};
use join::Solved;
use lift::{CellBox, Labels, boxes, spans};

/// The graph may have this many incidences; more come only from enumerated arrays that touch each other as a whole.
pub const MAX_INCIDENCES: u128 = 100_000_000;

/// Index reduction, matching and sorting of a model of arrays.
///
/// # Errors
/// If an index leaves its array, the model is structurally singular, or would need too large a graph.
///
/// # Panics
/// If the derivative of a variable does not exist, has another shape, or is the derivative of two variables (which
/// [`Model::variable`] makes impossible).
pub fn analyse(model: &Model) -> Result<Analysis, Error> {
    assert!(
        model.derivatives_are_chains(),
        "derivatives are arrays of the same shape, each of one variable"
    );
    model.check().map_err(Error::BadAccess)?;
    let mut expanded: BTreeSet<usize> = BTreeSet::new();
    let mut pair = true;
    let mut width = Width::Narrow;
    let mut verdict = None;
    loop {
        let frames = Frames::new(model, &|d| expanded.contains(&d), pair, width);
        let incidences = Instance::incidences(model, &frames);
        if incidences > MAX_INCIDENCES {
            if pair {
                pair = false;
                continue;
            }
            return Err(verdict.unwrap_or(Error::TooLarge { incidences }));
        }
        let instance = Instance::new(model, frames);
        let retry: BTreeSet<usize> = match pantelides(&instance.dae) {
            Ok(d) => {
                let orders = instance.orders(&d);
                match regular(model, &instance, &orders) {
                    Ok((labels, assignment)) => {
                        let what = enumerated(model, &instance, &expanded);
                        let solved = Solved {
                            model,
                            instance: &instance,
                            orders: &orders,
                            labels: &labels,
                            assignment: &assignment,
                        };
                        return Ok(solved.state(what));
                    }
                    Err(frames) => frames,
                }
            }
            Err(not_regular) => {
                let check = not_regular.0;
                let mut shortened = compressed_frames(&instance, &check.over_part);
                shortened.extend(compressed_frames(&instance, &check.under_part));
                let over = exact_sets(&instance, check.over.iter().map(|o| &o.2), &check.over_part);
                let under = exact_sets(
                    &instance,
                    check.under.iter().map(|u| &u.2),
                    &check.under_part,
                );
                // A set without shortened elements is what it is in the full model; look for the others all the same.
                if !over.is_empty() || !under.is_empty() {
                    verdict = Some(Error::Singular { over, under });
                }
                if shortened.is_empty()
                    && let Some(verdict) = verdict
                {
                    return Err(verdict);
                }
                shortened
            }
        };
        if width == Width::Narrow {
            width = Width::Wide;
            continue;
        }
        expanded.extend(retry.iter().flat_map(|&f| instance.frames.dimensions(f)));
        pair = false;
    }
}

/// A matching whose windows are uniform, or the frames where none of the attempts was.
fn regular(
    model: &Model,
    instance: &Instance,
    orders: &Orders,
) -> Result<(Labels, Assignment), BTreeSet<usize>> {
    let mut roots = vec![true; model.variables.len()];
    for d in model.variables.iter().filter_map(|v| v.derivative) {
        roots[d.index()] = false;
    }
    let mut bad = BTreeSet::new();
    for (k, (backwards, last_access_first)) in
        [(false, false), (false, true), (true, false), (true, true)]
            .into_iter()
            .enumerate()
    {
        let assignment = instance.assign(
            orders,
            Variant {
                backwards,
                last_access_first,
            },
        );
        debug_assert!(
            assignment.complete,
            "Pantelides ends with a complete matching"
        );
        let labels = Labels::new(model, instance, orders, &assignment);
        let frames = labels.irregular_frames(instance, &roots);
        if frames.is_empty() {
            return Ok((labels, assignment));
        }
        if k == 0 {
            bad = frames;
        }
    }
    Err(bad)
}

/// The over- or under-determined sets that touch nothing that was shortened. Sets of the same arrays become one, with
/// all elements that the whole `part` has of these arrays: a defect that repeats along an array is one defect.
fn exact_sets<'a>(
    instance: &Instance,
    sets: impl Iterator<Item = &'a Part>,
    part: &Part,
) -> Vec<ElementSet> {
    let equation = |e: &EqId| instance.equation_of(e.index());
    let variable = |v: &VarId| instance.variable_of(instance.slot_of_node[v.index()] as usize);
    let mut seen: BTreeSet<(BTreeSet<usize>, BTreeSet<usize>)> = BTreeSet::new();
    let mut out = Vec::new();
    for set in sets.filter(|set| compressed_frames(instance, set).is_empty()) {
        let arrays: (BTreeSet<usize>, BTreeSet<usize>) = (
            set.equations.iter().map(equation).collect(),
            set.variables.iter().map(variable).collect(),
        );
        if seen.contains(&arrays) {
            continue;
        }
        let of = |e: &&EqId| arrays.0.contains(&equation(e));
        let whole = Part {
            equations: part.equations.iter().filter(of).copied().collect(),
            variables: part
                .variables
                .iter()
                .filter(|v| arrays.1.contains(&variable(v)))
                .copied()
                .collect(),
        };
        out.push(element_set(instance, &whole));
        seen.insert(arrays);
    }
    // Only the first sets are known one by one; put the rest of the part together.
    let other_equation = |e: &&EqId| !seen.iter().any(|s| s.0.contains(&equation(e)));
    let other_variable = |v: &&VarId| !seen.iter().any(|s| s.1.contains(&variable(v)));
    let rest = Part {
        equations: part
            .equations
            .iter()
            .filter(other_equation)
            .copied()
            .collect(),
        variables: part
            .variables
            .iter()
            .filter(other_variable)
            .copied()
            .collect(),
    };
    let nonempty = !rest.equations.is_empty() || !rest.variables.is_empty();
    if nonempty && compressed_frames(instance, &rest).is_empty() {
        out.push(element_set(instance, &rest));
    }
    out
}

/// The frames with windows that a set of cells touches.
fn compressed_frames(instance: &Instance, part: &Part) -> BTreeSet<usize> {
    let mut out = BTreeSet::new();
    for e in &part.equations {
        let array = instance.equation_of(e.index());
        out.extend(instance.frames.of_equation(array).iter().map(|d| d.frame));
    }
    for v in &part.variables {
        let array = instance.variable_of(instance.slot_of_node[v.index()] as usize);
        out.extend(instance.frames.of_variable(array).iter().map(|d| d.frame));
    }
    out.retain(|&f| instance.frames.is_compressed(f));
    out
}

fn element_set(instance: &Instance, part: &Part) -> ElementSet {
    let Reached {
        equations,
        variables,
    } = part;
    let mut out = ElementSet::default();
    let mut marks = vec![u32::MAX; instance.entries.len()];
    for e in equations {
        marks[e.index()] = 1;
    }
    for (e, grid) in instance.eq_grids.iter().enumerate() {
        let dims = instance.frames.of_equation(e);
        for range in boxes(grid, &marks, |_, _| false) {
            if marks[corner(grid, &range)] == 1 {
                out.equations
                    .push((EqId::new(e), spans(&range, dims, &instance.frames)));
            }
        }
    }
    let mut marks = vec![u32::MAX; instance.node.len()];
    for v in variables {
        marks[instance.slot_of_node[v.index()] as usize] = 1;
    }
    for (v, grid) in instance.var_grids.iter().enumerate() {
        let dims = instance.frames.of_variable(v);
        for range in boxes(grid, &marks, |_, _| false) {
            if marks[corner(grid, &range)] == 1 {
                out.variables
                    .push((VarId::new(v), spans(&range, dims, &instance.frames)));
            }
        }
    }
    out
}

fn corner(grid: &Grid, range: &CellBox) -> usize {
    grid.number(&range.iter().map(|r| r.0).collect::<Vec<_>>())
}

fn enumerated(model: &Model, instance: &Instance, expanded: &BTreeSet<usize>) -> Enumerated {
    let mut number = 0;
    let mut touches = |dims: &[frames::Dim]| {
        let range = number..number + dims.len();
        number = range.end;
        expanded.range(range).next().is_some()
    };
    Enumerated {
        variables: (0..model.variables.len())
            .filter(|&v| touches(instance.frames.of_variable(v)))
            .map(VarId::new)
            .collect(),
        equations: (0..model.equations.len())
            .filter(|&e| touches(instance.frames.of_equation(e)))
            .map(EqId::new)
            .collect(),
    }
}
