//! The nodes of an expression and the identifiers that they consist of.
//!
//! Every node is *scalar*. An array-valued expression is a scalar body under iterators
//! ([`crate::flat::Comprehension`]): `n*s` with a vector `n` is `n[k]*s` for `k in 1:3`. One mechanism then serves
//! array equations, `for` equations and arrays of components alike, and no pass needs to know array operations.

use serde::{Deserialize, Serialize};

/// An expression: an index into [`crate::Exprs`]. Children always have smaller indices than their parents.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct ExprId(pub(crate) u32);

/// An interned list of expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct List(pub(crate) u32);

/// An interned string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StrId(pub(crate) u32);

/// A loop iterator. Each binding occurrence has an iterator of its own, so substitution never captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IterId(pub u32);

/// A flat variable (scalar or array): an index into [`crate::flat::FlatModel::vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct VarId(pub u32);

/// A user function that could not be inlined: an index into [`crate::flat::FlatModel::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FuncId(pub u32);

impl VarId {
    /// Position in the table of variables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ExprId {
    /// Position in the arena.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The numeric class of an expression. Enumerations are integers (their ordinals, from 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Ty {
    Real,
    Int,
    Bool,
    Str,
}

/// Which value of a variable is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ValueKind {
    /// The value now.
    Value,
    /// The n-th time derivative, n >= 1.
    Der(u8),
    /// The left limit at an event, `pre(v)`.
    Pre,
}

/// One element of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Access {
    /// The variable.
    pub var: VarId,
    /// Value, derivative or left limit.
    pub kind: ValueKind,
    /// One integer expression per dimension, counted from 1. Empty for scalars.
    pub subs: List,
}

/// Relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum RelOp {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

/// Reductions over an iterator (MLS 3.6 §10.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum ReduceOp {
    Sum,
    Product,
    Min,
    Max,
}

impl ReduceOp {
    /// Two values in one.
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            ReduceOp::Sum => a + b,
            ReduceOp::Product => a * b,
            ReduceOp::Min => a.min(b),
            ReduceOp::Max => a.max(b),
        }
    }

    /// The value over an empty range (MLS 3.6 §10.3.4).
    pub fn of_nothing(self) -> f64 {
        match self {
            ReduceOp::Sum => 0.0,
            ReduceOp::Product => 1.0,
            ReduceOp::Min => f64::MAX,
            ReduceOp::Max => f64::MIN,
        }
    }
}

/// The integers `start, start+step, ...`, `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Range {
    /// First value.
    pub start: i64,
    /// Increment, not zero.
    pub step: i64,
    /// How many values.
    pub count: i64,
}

impl Range {
    /// `1:n`.
    pub fn upto(n: usize) -> Range {
        Range {
            start: 1,
            step: 1,
            count: n as i64,
        }
    }

    /// `start:step:stop` with Modelica's meaning: empty when the stop lies on the wrong side.
    pub fn from_to(start: i64, step: i64, stop: i64) -> Range {
        let count = if step == 0 {
            0
        } else {
            ((stop - start) / step + 1).max(0)
        };
        let count = if step > 0 && stop < start || step < 0 && stop > start {
            0
        } else {
            count
        };
        Range { start, step, count }
    }

    /// The k-th value, counted from 0.
    pub fn at(self, k: i64) -> i64 {
        self.start + self.step * k
    }

    /// The last value; meaningful for non-empty ranges.
    pub fn last(self) -> i64 {
        self.at(self.count - 1)
    }

    /// The values in order.
    pub fn values(self) -> impl Iterator<Item = i64> {
        (0..self.count).map(move |k| self.at(k))
    }
}

/// Built-in functions with scalar arguments (MLS 3.6 §3.7). Array functions are expanded by the front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Builtin {
    Abs,
    Sign,
    Sqrt,
    /// Largest integer not above, as a Real.
    Floor,
    Ceil,
    /// Modelica `integer(x)`: floor, of type Integer.
    Integer,
    /// Modelica `div(x, y)`: the algebraic quotient truncated towards zero.
    Div,
    Mod,
    Rem,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Log,
    Log10,
    Min,
    Max,
    /// `initial()`
    Initial,
    /// `terminal()`
    Terminal,
    /// `sample(start, interval)`; both arguments are parameter expressions.
    Sample,
    /// `delay(expr, delayTime, delayMax)`, always with three arguments here.
    Delay,
    /// An output of `spatialDistribution`: which one (0 at `in0`, 1 at `in1`, 2 the distance to the next jump that comes out), `in0`, `in1`, `x`,
    /// `positiveVelocity`, whether a jump has come out (the event), then `initialPoints` and as many `initialValues`.
    Spatial,
    /// `edge(b)` of a Boolean expression: `b and not pre(b)`; the argument is a variable access.
    Edge,
    /// `change(v)`: `v <> pre(v)`; the argument is a variable access.
    Change,
    /// `homotopy(actual, simplified)`
    Homotopy,
    /// `cardinality`-free marker: the start value of a variable access.
    Start,
    /// Strings joined with `+`; see [`crate::Exprs::text`].
    Concat,
    /// `String(value, significantDigits, minimumLength, leftJustified)`, or `String(value, format)`.
    Text,
    /// `Clock()` or `Clock(interval)`; like all that follow it is gone when the flat model is complete.
    Clock,
    /// `Clock(condition, startInterval)`
    EventClock,
    /// `sample(u)` or `sample(u, clock)`: the left limit at a tick.
    ClockedSample,
    /// `hold(u)`
    Hold,
    /// `previous(u)`
    Previous,
    /// `subSample(u, factor)`; the factor 0 is one to be inferred.
    SubSample,
    /// `superSample(u, factor)`; the factor 0 is one to be inferred.
    SuperSample,
    /// `shiftSample(u, shiftCounter, resolution)`
    ShiftSample,
    /// `backSample(u, backCounter, resolution)`
    BackSample,
    /// `noClock(u)`
    NoClock,
    /// `interval(u)` or `interval()`
    Interval,
    /// `firstTick(u)` or `firstTick()`
    FirstTick,
    /// What a variable of a function is before it is assigned: a String that says which variable, and a zero of its type. It is gone when the call
    /// is lowered.
    Unassigned,
}

impl Builtin {
    /// An operator of clocks (MLS 3.6 §16).
    pub fn is_clocked(self) -> bool {
        matches!(
            self,
            Builtin::Clock
                | Builtin::EventClock
                | Builtin::ClockedSample
                | Builtin::Hold
                | Builtin::Previous
                | Builtin::SubSample
                | Builtin::SuperSample
                | Builtin::ShiftSample
                | Builtin::BackSample
                | Builtin::NoClock
                | Builtin::Interval
                | Builtin::FirstTick
        )
    }
}

/// A scalar expression. Equal expressions have equal [`ExprId`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A Real literal by its bits, so that nodes can be hashed (−0.0 and NaN included).
    Real(u64),
    /// An Integer literal or an enumeration ordinal.
    Int(i64),
    /// A Boolean literal.
    Bool(bool),
    /// A String literal.
    Str(StrId),
    /// The built-in variable `time`.
    Time,
    /// The value of an iterator (Integer).
    Iter(IterId),
    /// An element of a variable.
    Var(Access),
    /// A sum of at least two terms, a constant last.
    Add(List),
    /// A product of at least two factors, a constant first.
    Mul(List),
    /// A quotient (always Real).
    Div(ExprId, ExprId),
    /// A power.
    Pow(ExprId, ExprId),
    /// A relation. It triggers an event unless it is inside [`Node::NoEvent`] or between discrete expressions.
    Rel(RelOp, ExprId, ExprId),
    /// Logical negation.
    Not(ExprId),
    /// Conjunction.
    And(ExprId, ExprId),
    /// Disjunction.
    Or(ExprId, ExprId),
    /// `if c then a else b`
    If(ExprId, ExprId, ExprId),
    /// A built-in function.
    Call(Builtin, List),
    /// A reduction of `body` over an iterator.
    Reduce {
        /// Which reduction.
        op: ReduceOp,
        /// The iterator that the body refers to.
        iter: IterId,
        /// Its values.
        range: Range,
        /// The scalar body.
        body: ExprId,
    },
    /// `{e1, e2, ...}[index]`: an array constructor indexed from 1. With an iterator as index this is how an
    /// irregular array is written as a comprehension.
    Select(ExprId, List),
    /// `noEvent(e)`
    NoEvent(ExprId),
    /// `smooth(p, e)`
    Smooth(u8, ExprId),
    /// A scalar output of a user function that is not inlined, for flattened scalar arguments, differentiated with
    /// respect to the arguments in `wrt` (a list of `Int` nodes: positions from 0, sorted; usually empty).
    Apply {
        /// The function.
        func: FuncId,
        /// Its arguments, arrays flattened row by row.
        args: List,
        /// Which scalar of the flattened outputs.
        output: u32,
        /// Differentiation.
        wrt: List,
    },
    /// Inside a function body: the local scalar at `base + offset`, where the offset (from 0) is an integer
    /// expression that must stay below `len`.
    Local {
        /// First scalar of the local array.
        base: u32,
        /// Number of scalars of the local array.
        len: u32,
        /// Which of them.
        offset: ExprId,
    },
}
