//! What happens at events, as programs and tables.

use acausal_expr::flat::{AssertionLevel, OriginId, Print};
use acausal_expr::{Access, ExprId, IterId, Range, RelOp, VarId};
use acausal_jit::kernel::Program;
use serde::{Deserialize, Serialize};

use crate::location::Loc;

/// Programs and tables for events.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EventCode {
    /// Relations and steps; their cells are numbered through all groups in this order.
    pub relations: Vec<RelationCode>,
    /// Number of cells of relations and steps.
    pub cells: usize,
    /// Computes what each cell should hold now, into `Out`.
    pub values: Program,
    /// Computes the event indicators, into `Out`; a change of sign is an event.
    pub indicators: Program,
    /// Computes the next instant of each time event, into `Out` (see [`TimeEventCode`]).
    pub times: Program,
    /// Relations of `time` with something that is constant between events and may change at them.
    pub time_events: Vec<TimeEventCode>,
    /// Relations of `time` whose instants are known before the start, and what follows from them alone. They are not among `relations`.
    pub timetable: TimetableCode,
    /// `sample`
    pub samples: Vec<SampleCode>,
    /// `delay`
    pub delays: Vec<DelayCode>,
    /// `spatialDistribution`
    pub spatials: Vec<SpatialCode>,
    /// Equations of discrete variables outside of `when`.
    pub discrete: Program,
    /// The variables that they determine, and where each equation came from.
    pub determined: Vec<(VarId, OriginId)>,
    /// Computes the conditions of all `when` clauses, into `Out`.
    pub conditions: Program,
    /// Number of conditions.
    pub conditions_len: usize,
    /// `when` clauses in order.
    pub whens: Vec<WhenCode>,
    /// Assertions that hold always.
    pub asserts: Vec<AssertCode>,
    /// Subscripts that are known at run time only; evaluated to explain a value that is not a number.
    pub indexed: Vec<IndexCode>,
    /// Equations that were differentiated and must not jump.
    pub continuous: Vec<ContinuityCode>,
    /// What is printed outside of `when`.
    pub prints: Vec<Print>,
    /// `terminal()` occurs somewhere.
    pub uses_terminal: bool,
}

/// An equation that was differentiated although it has parts that change at events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ContinuityCode {
    /// Computes left sides, then right sides, into `Out`.
    pub sides: Program,
    /// Number of points.
    pub len: usize,
    /// Where the nominal value lies of what the equation says, if it has one.
    pub nominal: Option<usize>,
    /// The equation.
    pub origin: OriginId,
}

/// A subscript that is known at run time only, over its points.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IndexCode {
    /// Computes the subscripts, into `Out`.
    pub values: Program,
    /// Number of points.
    pub len: usize,
    /// The largest subscript allowed.
    pub size: usize,
    /// What is subscripted, as the user wrote it.
    pub array: String,
    /// An equation that it occurs in.
    pub origin: OriginId,
}

/// A group of relations or steps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RelationCode {
    /// First cell in `Mem`.
    pub base: usize,
    /// Number of cells.
    pub len: usize,
    /// First number among all cells.
    pub first: usize,
    /// The relation; `None` for a step (`floor`) and for a watched value.
    pub op: Option<RelOp>,
    /// The expression.
    pub expr: ExprId,
    /// True when a time event replaces the indicators.
    pub by_time: bool,
    /// True for a watched value: [`EventCode::indicators`] computes the value itself, and the event is that it differs from
    /// the cell.
    pub by_value: bool,
    /// True when algebraic unknowns or derivatives enter the gap: between events it is then known as exactly as the
    /// corrector solves for them, not better.
    pub algebraic: bool,
    /// True when derivatives enter the gap, or algebraic unknowns that are solved for together with them.
    pub slopes: bool,
    /// An equation that it occurs in.
    pub origin: OriginId,
}

/// Event instants of a group of relations of `time`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct TimeEventCode {
    /// First instant in the output of [`EventCode::times`].
    pub out: usize,
    /// Number of instants.
    pub len: usize,
}

/// A group of `sample(start, interval)`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SampleCode {
    /// First cell in `Mem`.
    pub base: usize,
    /// Number of cells.
    pub len: usize,
    /// Computes starts, then intervals, into `Out`.
    pub arguments: Program,
    /// An equation that it occurs in.
    pub origin: OriginId,
}

/// A group of `delay(x, time, longest)`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DelayCode {
    /// First cell in `Mem`.
    pub base: usize,
    /// Number of cells.
    pub len: usize,
    /// Computes values, then delay times, then longest delay times, into `Out`.
    pub arguments: Program,
    /// The delay time changes between events.
    pub variable: bool,
    /// The expression is the derivative of one that is constant before the start: it is zero there.
    pub slope: bool,
    /// An equation that it occurs in.
    pub origin: OriginId,
}

/// A group of one output of `spatialDistribution`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SpatialCode {
    /// First cell in `Mem`.
    pub base: usize,
    /// Number of cells.
    pub len: usize,
    /// Which output.
    pub output: SpatialOutput,
    /// Number of points of the profile at the start.
    pub points: usize,
    /// Computes `in0`, `in1`, `x`, `positiveVelocity`, whether a jump has come out (for the sake of its event), then points and values of the profile
    /// at the start, into `Out`.
    pub arguments: Program,
    /// An equation that it occurs in.
    pub origin: OriginId,
}

impl SpatialCode {
    /// Which of the arguments is the first point of the profile at the start.
    pub const POINTS: usize = 5;

    /// Number of values that the arguments are.
    pub fn arguments_len(&self) -> usize {
        (SpatialCode::POINTS + 2 * self.points) * self.len
    }
}

/// What a cell of `spatialDistribution` holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SpatialOutput {
    /// The value at the end of `in0`.
    Left,
    /// The value at the end of `in1`.
    Right,
    /// The distance to the next jump that comes out.
    Distance,
}

/// A `when` clause over its points.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WhenCode {
    /// Number of points of its domain; each has its own conditions.
    pub points: usize,
    /// Branches in order of priority.
    pub branches: Vec<BranchCode>,
    /// Where it came from.
    pub origin: OriginId,
}

/// A branch of a `when` clause.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BranchCode {
    /// Per condition: number of its first point in the output of [`EventCode::conditions`].
    pub conditions: Vec<usize>,
    /// True per condition when it contains `initial()`: only then is the branch active at the start.
    pub at_start: bool,
    /// What happens.
    pub actions: Vec<ActionCode>,
}

/// An action of a `when` clause.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum ActionCode {
    /// New values for discrete variables (`Mem`) or states (`Y`).
    Set {
        /// Computes the values for all points, into `Out`.
        values: Program,
        /// Where they go; those of point `p` are `p*inner .. (p+1)*inner`.
        targets: Vec<Loc>,
        /// Number of values per point.
        inner: usize,
        /// True for `reinit`.
        reinit: bool,
        /// The variable.
        target: Access,
    },
    /// `assert`
    Assert(AssertCode),
    /// `Modelica.Utilities.Streams.print(message)`
    Print {
        /// The message: a String expression that may contain values.
        message: ExprId,
        /// The iterators that the clause stands under.
        domain: DomainVec,
    },
    /// `terminate(message)`
    Terminate {
        /// The message: a String expression that may contain values.
        message: ExprId,
        /// The iterators that the clause stands under.
        domain: DomainVec,
        /// Where it stands.
        origin: OriginId,
    },
}

/// An assertion over its points.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AssertCode {
    /// Computes the conditions, into `Out`.
    pub conditions: Program,
    /// Number of conditions.
    pub len: usize,
    /// The condition.
    pub condition: ExprId,
    /// It asks for `initial()`: it is looked at when the start has been solved, too.
    pub initial: bool,
    /// The message: a String expression that may contain values.
    pub message: ExprId,
    /// The iterators it stands under.
    pub domain: Vec<(IterId, Range)>,
    /// What its failure means.
    pub level: AssertionLevel,
    /// Where it stands.
    pub origin: OriginId,
}

type DomainVec = Vec<(IterId, Range)>;

/// Relations of `time` with what is known before the start, and what follows from them alone: step functions of time that take no part in
/// the event iteration.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TimetableCode {
    /// The relations; their cells are numbered in this order, apart from those of [`EventCode::relations`].
    pub relations: Vec<RelationCode>,
    /// Number of their cells.
    pub cells: usize,
    /// Computes what each cell holds at the time in `Mem`, into `Out`; no piece is longer than a few repetitions.
    pub values: Program,
    /// Computes the instant of each cell, into `Out`.
    pub instants: Program,
    /// What follows from the cells, in an order in which it can be evaluated; pieces of a few repetitions each.
    pub assignments: Program,
    /// Local assignments among them: first place in `Mem`, number of values, and the equation.
    pub local_values: Vec<(usize, usize, OriginId)>,
}
