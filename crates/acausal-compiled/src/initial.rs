//! The system that holds at the start (MLS 3.6 §8.6): rows that follow the residual rows, columns that follow `x` and `x'`.

use acausal_base::Span;
use acausal_expr::{ValueKind, VarId};
use acausal_jit::kernel::Program;
use serde::{Deserialize, Serialize};

use crate::compiled::{CompiledModel, RowGroup};
use crate::jacobian::Jacobian;
use crate::location::Loc;

/// What is evaluated at the start only.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InitialCode {
    /// The rows after the residual rows, into `Out`.
    pub residuals: Program,
    /// Number of hidden rows; they come first.
    pub hidden_len: usize,
    /// Number of rows after the residual rows.
    pub len: usize,
    /// Groups of these rows.
    pub rows: Vec<RowGroup>,
    /// What each group is.
    pub kinds: Vec<InitialRow>,
    /// Jacobian of all rows with separate columns for `x`, `x'` and free parameters.
    pub jacobian: Jacobian,
    /// Free parameters, in the order of their columns.
    pub free: Vec<FreeParameter>,
    /// Assigns the parameters that depend on free ones.
    pub dependent: Program,
    /// Initial equations that only give values to unknowns.
    pub given: Vec<GivenStart>,
    /// Evaluates those that are no literals.
    pub given_values: Program,
    /// Assigns discrete variables and left limits that initial equations determine, parameters that are no Reals among them, and
    /// then the parameters that depend on these.
    pub discrete: Program,
    /// There are such parameters.
    pub discrete_parameters: bool,
    /// Start values that are guesses for unknowns under another name.
    pub aliases: Vec<StartAlias>,
    /// `homotopy` occurs in the model.
    pub homotopy: bool,
    /// `initial()` occurs in the model: its equations are others after the start.
    pub asks_initial: bool,
    /// A derivative enters its equation nonlinearly: solutions may meet, and the equations are singular there.
    pub branching: bool,
}

/// A parameter that may be unknown at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreeParameter {
    /// The parameter.
    pub var: VarId,
    /// First place in `Mem`.
    pub base: usize,
    /// Number of scalars.
    pub len: usize,
}

/// Kinds of rows after the residual rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InitialRow {
    /// Highest derivative of a constraint.
    Hidden,
    /// An initial equation.
    Equation,
    /// `v = start`; it counts where the `fixed` attribute of the element is true.
    Start(VarId),
}

impl InitialCode {
    /// Number of scalar free parameters.
    pub fn free_len(&self) -> usize {
        self.free.iter().map(|f| f.len).sum()
    }

    /// Whether the values of some parameters are known only when the start has been solved.
    pub fn parameters_wait(&self) -> bool {
        !self.free.is_empty() || self.discrete_parameters
    }

    /// The free parameter of a column (from 0) and the element.
    pub fn free_at(&self, mut column: usize) -> Option<(FreeParameter, usize)> {
        for f in &self.free {
            if column < f.len {
                return Some((*f, column));
            }
            column -= f.len;
        }
        None
    }
}

/// Values of unknowns that an initial equation gives.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GivenStart {
    /// The group among the rows of the start.
    pub group: usize,
    /// Where the unknowns lie in `Y`: first, number, distance; in the order of the rows.
    pub places: Vec<(usize, usize, isize)>,
    /// Their values.
    pub values: GivenValues,
}

/// The values of a [`GivenStart`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum GivenValues {
    /// All the same.
    Literal(f64),
    /// In `Mem` from here on, when [`InitialCode::given_values`] has run.
    Mem(usize),
}

/// The start values of `var` are guesses for unknowns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StartAlias {
    /// The variable whose start is written.
    pub var: VarId,
    /// It is the negative of the unknown.
    pub negative: bool,
    /// Elements of the variable (from 0).
    pub elements: Vec<u32>,
    /// The place of the unknown for each of them, in `Y` or `Yp`.
    pub places: Vec<Loc>,
}

impl CompiledModel {
    /// The name of a scalar free parameter, by its column (from 0).
    pub fn free_name(&self, column: usize) -> String {
        match self.initial.free_at(column) {
            Some((f, k)) => self.element_name(f.var, ValueKind::Value, k),
            None => format!("parameter {}", column + 1),
        }
    }

    /// Whether the fixed starts of a variable are rows of the initial system.
    pub fn has_start_rows(&self, var: VarId) -> bool {
        self.initial.kinds.contains(&InitialRow::Start(var))
    }

    /// Whether a row comes from an initial equation.
    pub fn is_initial_equation(&self, row: usize) -> bool {
        (self.initial.rows.iter().zip(&self.initial.kinds))
            .any(|(g, k)| (g.first..g.first + g.len).contains(&row) && *k == InitialRow::Equation)
    }

    /// `v[3] = start` for a row that is a fixed start value, given the values of `Mem`.
    pub fn start_row_text(&self, row: usize, mem: Option<&[f64]>) -> Option<String> {
        let (group, kind) = (self.initial.rows.iter().zip(&self.initial.kinds))
            .find(|(g, _)| (g.first..g.first + g.len).contains(&row))?;
        let InitialRow::Start(var) = kind else {
            return None;
        };
        let name = self.element_name(*var, ValueKind::Value, row - group.first);
        let place = self.start_of.get(var).map(|b| b + row - group.first);
        Some(match mem.zip(place).and_then(|(m, k)| m.get(k)) {
            Some(value) => format!("{name} = {value}"),
            None => format!("{name} = its start value"),
        })
    }

    /// The declaration of component `i` of `x`.
    pub fn unknown_span(&self, i: usize) -> Span {
        let mut first = 0;
        for u in &self.unknowns {
            if i < first + u.len {
                return u.value.map_or(Span::NONE, |q| self.symbols.var(q.0).span);
            }
            first += u.len;
        }
        Span::NONE
    }
}
