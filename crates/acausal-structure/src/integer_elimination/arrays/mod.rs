//! Integer elimination of array equations at a cost that does not depend on the lengths of the arrays.
//!
//! In: an [`ArraySystem`]: `sum(coefficient * x[index]) = 0` over boxes of iterators, and for each array which elements
//! are states, local and so on. Out: [`ArrayDecisions`], the decisions of [`super::decide`] as boxes of elements.
//!
//! Method: as in [`crate::segments`], dimensions that run in step share a frame, and a long stretch between two cuts of a
//! frame looks the same everywhere. It is replaced by a short one, and the short system is eliminated element by element,
//! exactly, at three lengths, of which the first is congruent to the real one modulo [`PERIOD`] unless the frame is simple
//! (`simple_frames`). Each decision is then a set of boxes whose ends move with the cuts: an end that is at the same
//! distance from the beginning of a stretch at all three lengths stands there in the long array too, one that keeps its
//! distance from the end likewise. If the three answers do not agree in this sense, three larger lengths follow that are all
//! congruent to the real one (`x[i+1] = -x[i]`, `x[1] = x[N]` is redundant for odd N only), and then
//! all elements, as long as they are not too many. Cost: that of the short eliminations.
//!
//! How sure is that? Whether rows depend on each other across a stretch of length n is a question of whether terms
//! like λⁿ meet a given ratio, where λ are the eigenvalues of the recurrence that the rows are. For λ = 0 and for roots of
//! unity of order 1, 2, 3, 4, 6, 12, which is what networks have, the answers at the lengths tried settle it. For other λ
//! it could happen at single lengths only, at which coefficients of the size λⁿ meet; a long array would need a
//! coefficient with as many digits.
//!
//! Worked example: `x[i] = x[i+1]` for i in 1:N-1 and `x[1] = x[N]`, all local: the last says nothing new, one x is free.
//! ```
//! use acausal_structure::VarId;
//! use acausal_structure::integer_elimination::arrays::{ArrayRow, ArraySystem, decide_arrays};
//! use acausal_structure::integer_elimination::{Class, decide_in_order};
//! use acausal_structure::segments::{Index, Span};
//! let n = 1_000_000;
//! let mut s = ArraySystem::default();
//! let x = s.variable(&[Span::new(1, n)], Class::Local);
//! let at = |k| vec![Index::shifted(0, k)];
//! s.row(&[Span::new(1, n - 1)], &[(x, at(0), 1), (x, at(1), -1)]);
//! s.row(&[], &[(x, vec![Index::Fixed(1)], 1), (x, vec![Index::Fixed(n)], -1)]);
//! s.rows[1].late = true; // a row that is rather removed than others
//! let d = decide_arrays(&s, &decide_in_order, usize::MAX).unwrap();
//! assert_eq!(d.redundant, [(1, vec![])]);
//! assert_eq!(d.free, [(x, vec![Span::new(1, 1)])]);
//! assert!(d.elements < 100);
//! ```

mod elements;
mod lift;
mod shrink;

use super::{Class, Decisions, IntegerSystem};
use crate::VarId;
use crate::segments::frames::Coordinates;
use crate::segments::{Access, Equation, Index, Model, Span, Variable};
use elements::Elements;
use shrink::{Lengths, Shrunk};

/// Lengths of the second attempt are congruent to the real ones modulo this.
pub const PERIOD: i64 = 12;

/// An array of unknowns or known values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayVariable {
    /// Index range of each dimension; none for a scalar.
    pub shape: Vec<Span>,
    /// The class of elements that no use names.
    pub class: Class,
    /// Boxes of elements with another class; [`Class::State`] wins over [`Class::Rest`].
    pub uses: Vec<(Vec<Span>, Class)>,
}

/// `coefficient * variable[index]`; an index [`Index::All`] sums over its range.
pub type ArrayTerm = (VarId, Vec<Index>, i64);

/// One row for each point of the box of iterators: the sum of its terms is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayRow {
    /// Range of each iterator; none for a single row.
    pub iterators: Vec<Span>,
    /// The terms.
    pub terms: Vec<ArrayTerm>,
    /// Where there is a choice, such rows are removed or replaced rather than others.
    pub late: bool,
}

/// Linear homogeneous array equations with integer coefficients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArraySystem {
    /// The arrays; where there is a choice, earlier ones and earlier elements are taken.
    pub variables: Vec<ArrayVariable>,
    /// The equations.
    pub rows: Vec<ArrayRow>,
}

/// A constraint for each point of a box of a row's iterators: the sum of its terms is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayConstraint {
    /// The row that it can replace.
    pub replaces: usize,
    /// At these points.
    pub at: Vec<Span>,
    /// The terms; iterators are those of the row.
    pub terms: Vec<ArrayTerm>,
}

/// What to do with an array system; fields as in [`Decisions`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrayDecisions {
    /// Rows, and the points of their boxes, that say nothing new.
    pub redundant: Vec<(usize, Vec<Span>)>,
    /// Local elements that nothing determines.
    pub free: Vec<(VarId, Vec<Span>)>,
    /// What replaces rows. Constraints with coefficients beyond 64 bits are left out.
    pub constraints: Vec<ArrayConstraint>,
    /// Constraints between parameters.
    pub parameter_constraints: Vec<ArrayConstraint>,
    /// How many rows were looked at, over all attempts.
    pub elements: usize,
}

impl ArraySystem {
    /// Adds an array.
    pub fn variable(&mut self, shape: &[Span], class: Class) -> VarId {
        self.variables.push(ArrayVariable {
            shape: shape.to_vec(),
            class,
            uses: Vec::new(),
        });
        VarId::new(self.variables.len() - 1)
    }

    /// Adds an equation.
    pub fn row(&mut self, iterators: &[Span], terms: &[ArrayTerm]) -> usize {
        self.rows.push(ArrayRow {
            iterators: iterators.to_vec(),
            terms: terms.to_vec(),
            late: false,
        });
        self.rows.len() - 1
    }

    /// Number of scalar rows of array equations; scalar equations do not count.
    fn array_elements(&self) -> usize {
        let ranges = |t: &ArrayTerm| t.1.iter().any(|i| matches!(i, Index::All(_)));
        self.rows
            .iter()
            .filter(|r| !r.iterators.is_empty() || r.terms.iter().any(ranges))
            .map(|r| {
                let widest = r.terms.iter().map(|t| summed(&t.1)).max().unwrap_or(1);
                crate::segments::size_of(&r.iterators).saturating_mul(widest) as usize
            })
            .sum()
    }

    /// The same arrays and accesses for the analysis of frames; a use cuts its array.
    fn model(&self) -> Model {
        let access = |variable, index| Access { variable, index };
        let mut model = Model::default();
        for row in &self.rows {
            let terms = row.terms.iter();
            model.equations.push(Equation {
                iterators: row.iterators.clone(),
                accesses: terms.map(|t| access(t.0, t.1.clone())).collect(),
            });
        }
        for (v, variable) in self.variables.iter().enumerate() {
            model.variables.push(Variable {
                shape: variable.shape.clone(),
                derivative: None,
            });
            // What is used as a whole has no cut of its own.
            for (spans, _) in variable.uses.iter().filter(|u| u.0 != variable.shape) {
                let index = spans.iter().map(|s| Index::All(*s)).collect();
                model.equations.push(Equation {
                    iterators: Vec::new(),
                    accesses: vec![access(VarId::new(v), index)],
                });
            }
        }
        model
    }
}

/// How many elements an access sums over.
fn summed(index: &[Index]) -> u64 {
    let sizes = index.iter().map(|i| match i {
        Index::All(s) => s.size(),
        _ => 1,
    });
    sizes.product()
}

/// Decides about an array system. `decide` is called with (short) scalar systems, whose columns and rows are in the order
/// of the arrays and their elements; it is [`super::decide`] or something around it. `None` if the arrays would have to be
/// taken apart into more than `most` elements.
///
/// # Panics
/// If an index leaves its array.
pub fn decide_arrays(
    system: &ArraySystem,
    decide: &dyn Fn(&IntegerSystem) -> Decisions,
    most: usize,
) -> Option<ArrayDecisions> {
    let model = system.model();
    assert!(model.check().is_ok(), "an index leaves its array");
    let coordinates = Coordinates::new(&model, &|_| false, false);
    let simple = simple_frames(system, &coordinates);
    let mut elements = 0;
    let mut look = |short: &Shrunk| {
        let e = Elements::new(system, &coordinates, short);
        elements += e.system.rows.len();
        let d = decide(&e.system);
        (e, d)
    };
    for attempt in [Lengths::Short, Lengths::Congruent] {
        let sizes: [Shrunk; 3] = [0, 1, 2].map(|k| Shrunk::new(&coordinates, &simple, attempt, k));
        let whole = sizes[0].is_whole();
        if whole || system.shrunk_elements(&coordinates, &sizes[2]) > most {
            break;
        }
        let looks = [look(&sizes[0]), look(&sizes[1]), look(&sizes[2])];
        let lifted = forms(&looks[0].1).iter().filter_map(|&beside| {
            let answers = [0, 1, 2].map(|k| {
                let (e, d) = &looks[k];
                e.decisions(&coordinates, d, beside)
            });
            lift::lift(system, &coordinates, &sizes, &answers)
        });
        if let Some(mut d) = lifted.min_by_key(|d| d.constraints.len()) {
            d.elements = elements;
            return Some(d);
        }
    }
    if system.array_elements() > most {
        return None;
    }
    let whole = Shrunk::whole(&coordinates);
    let (e, d) = look(&whole);
    let stated = forms(&d).iter().map(|&beside| {
        let answer = e.decisions(&coordinates, &d, beside);
        lift::whole(system, &coordinates, &whole, &answer)
    });
    let d = stated.min_by_key(|d| d.constraints.len())?;
    Some(ArrayDecisions { elements, ..d })
}

/// See [`simple_frames`].
const MANY: usize = 64;

/// Whether the arrays along each frame can be taken one after the other, each given by an equation with its neighbours and
/// arrays taken before. Such an array is a recurrence of order one: its eigenvalue is an integer or the reciprocal of one, and
/// only 1 and -1 bring anything back. Frames with many equations are not looked at.
fn simple_frames(system: &ArraySystem, coordinates: &Coordinates) -> Vec<bool> {
    let along = |v: usize, frame: usize| {
        let rank = system.variables[v].shape.len();
        (0..rank).any(|k| coordinates.of_variable(v, k).frame == frame)
    };
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); coordinates.extents.len()];
    for (e, row) in system.rows.iter().enumerate() {
        for k in 0..row.iterators.len() {
            let list = &mut rows[coordinates.of_equation(e, k).frame];
            if list.last() != Some(&e) {
                list.push(e);
            }
        }
    }
    let is_simple = |frame: usize| {
        if coordinates.extents[frame].reach > 1 || rows[frame].len() > MANY {
            return false;
        }
        let mut open: Vec<Vec<usize>> = rows[frame]
            .iter()
            .map(|&e| {
                let arrays = system.rows[e].terms.iter().map(|t| t.0.index());
                let mut arrays: Vec<usize> = arrays.filter(|&v| along(v, frame)).collect();
                arrays.sort_unstable();
                arrays.dedup();
                arrays
            })
            .collect();
        while let Some(v) = open.iter().find(|o| o.len() == 1).map(|o| o[0]) {
            open.iter_mut().for_each(|o| o.retain(|&w| w != v));
        }
        open.iter().all(Vec::is_empty)
    };
    (0..coordinates.extents.len()).map(is_simple).collect()
}

/// How near an element of a constraint must be to its row to be stated relative to it. `x[i] = x[i+1]` is best stated
/// so, `x[1] = x[i]` with all other places absolute; the fewer boxes come out, the better.
fn forms(d: &Decisions) -> &'static [i64] {
    let constraints = !d.constraints.is_empty() || !d.parameter_constraints.is_empty();
    if constraints { &[2, 0] } else { &[0] }
}
