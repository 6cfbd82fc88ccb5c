//! The flat model: variables and equations as arrays, before any structural treatment.
//!
//! Everything that is repeated stays one item: a variable has a shape, an equation an iteration domain. The equation
//! of class `Resistor` in `Resistor r[N]` is one [`Equation`] over a domain of N; `connect` in a `for` likewise.

use serde::{Deserialize, Serialize};
use std::sync::{Arc, LazyLock};

use acausal_base::{Diagnostic, Name, Span};

pub use crate::var_name::{NameTree, VarName};
use crate::{Access, ExprId, Exprs, FuncId, IterId, Range, ThinVec, VarId};

/// A model after instantiation, modification and connection.
#[derive(Clone, Debug, Default)]
pub struct FlatModel {
    /// Full name of the simulated class.
    pub name: String,
    /// Description string of the class.
    pub description: String,
    /// The arena that every [`ExprId`] below belongs to.
    pub exprs: Exprs,
    /// Variables, parameters and constants, in order of declaration.
    pub vars: Vec<Variable>,
    /// Equations that hold always.
    pub equations: Vec<Equation>,
    /// Equations that hold at the start only.
    pub initial_equations: Vec<Equation>,
    /// `when` clauses, in order.
    pub whens: Vec<When>,
    /// `assert` in equations.
    pub asserts: Vec<Assert>,
    /// What is printed outside of `when`.
    pub prints: Vec<Print>,
    /// Functions that are evaluated at run time.
    pub functions: Vec<Function>,
    /// Enumeration types, by [`VarType::Enum`].
    pub enums: Vec<Enumeration>,
    /// Where equations and clauses came from.
    pub origins: Vec<Origin>,
    /// Variables whose start value is part of an equation or of the start value of another variable.
    pub inlined_starts: Vec<VarId>,
    /// The `experiment` annotation.
    pub experiment: Experiment,
    /// Set when the numbers of equations and unknowns differ. The structural analysis adds which ones do not fit.
    pub imbalance: Option<Diagnostic>,
    /// Tells models apart by their equations, whatever the values of their parameters are; `acausal-symbolic` computes it.
    pub fingerprint: u64,
}

impl FlatModel {
    /// The variable of this id.
    pub fn var(&self, id: VarId) -> &Variable {
        &self.vars[id.index()]
    }

    /// Variables with their ids.
    pub fn var_ids(&self) -> impl Iterator<Item = (VarId, &Variable)> {
        self.vars
            .iter()
            .enumerate()
            .map(|(i, v)| (VarId(i as u32), v))
    }

    /// The origin of an equation or clause.
    pub fn origin(&self, id: OriginId) -> &Origin {
        &self.origins[id.0 as usize]
    }

    /// The function of this id.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id.0 as usize]
    }
}

/// The settings of `annotation(experiment(...))`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Experiment {
    pub start: Option<f64>,
    pub stop: Option<f64>,
    pub tolerance: Option<f64>,
    pub interval: Option<f64>,
}

/// Type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum VarType {
    Real,
    Integer,
    Boolean,
    String,
    /// An enumeration: an index into [`FlatModel::enums`].
    Enum(u32),
}

/// An enumeration type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enumeration {
    /// Full name of the type.
    pub name: String,
    /// Its literals, in order; the first has ordinal 1.
    pub literals: Vec<Name>,
}

/// When a variable may change (MLS 3.6 §3.8). For Real variables `Discrete` means: assigned in a `when`, or declared so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Variability {
    Constant,
    Parameter,
    Discrete,
    Continuous,
}

/// Causality at the top level of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Causality {
    Local,
    Input,
    Output,
}

/// The `stateSelect` attribute, in increasing preference.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[allow(missing_docs)]
pub enum StateSelect {
    Never,
    Avoid,
    #[default]
    Default,
    Prefer,
    Always,
}

/// An array value: element `(i1, .., in)` is `body` with the iterators set to `i1 .. in` (from 1). A scalar has none.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Comprehension {
    /// One iterator per dimension.
    pub iters: ThinVec<IterId>,
    /// The scalar body.
    pub body: ExprId,
}

impl Comprehension {
    /// A scalar.
    pub fn scalar(body: ExprId) -> Comprehension {
        Comprehension {
            iters: ThinVec::default(),
            body,
        }
    }
}

/// A flat variable, parameter or constant.
///
/// A model has as many of them as equations, and every pass reads them: what every variable has lies here, what few have in
/// [`Attributes`], which are read as if they were fields of the variable (`v.start`) and written through
/// [`Variable::attributes_mut`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Variable {
    /// Its name. In a file the names of all variables are one tree (`symbols`).
    #[serde(skip)]
    pub name: VarName,
    /// Its shape; empty for a scalar.
    pub dims: Box<[usize]>,
    /// The binding of a parameter or constant. The binding of a variable is an [`Equation`] instead.
    pub binding: Option<Comprehension>,
    /// What is said about it beyond that; nothing for most. Variables about which the same is said share it.
    #[serde(skip)]
    pub attributes: Option<Arc<Attributes>>,
    /// The declaration.
    pub span: Span,
    /// Its type.
    pub ty: VarType,
    /// When it may change.
    pub variability: Variability,
    /// Whether the world outside sets or reads it.
    pub causality: Causality,
    /// Preference as a state.
    pub state_select: StateSelect,
    /// Declared with `flow`.
    pub flow: bool,
    /// Declared in a protected section.
    pub protected: bool,
    /// A parameter that cannot be changed after compilation: final, constant, or evaluated for structure.
    pub structural: bool,
    /// Introduced by the compiler; not part of the results.
    pub auxiliary: bool,
    /// Computed from another variable, which takes its place in the equations: no unknown of the structural analysis.
    pub alias: bool,
}

/// What is said about some variables only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Attributes {
    /// Start attribute.
    pub start: Option<Comprehension>,
    /// Fixed attribute.
    pub fixed: Option<Comprehension>,
    /// Smallest value.
    pub min: Option<Comprehension>,
    /// Largest value.
    pub max: Option<Comprehension>,
    /// Typical magnitude.
    pub nominal: Option<Comprehension>,
    /// Unit, kept for later checking.
    pub unit: Text,
    /// Unit to show.
    pub display_unit: Text,
    /// Description string, shared with the declaration.
    pub description: Text,
}

/// A text that variables of one declaration share.
pub type Text = Arc<str>;

/// What a variable has about which nothing is said.
static NOTHING: LazyLock<Attributes> = LazyLock::new(Attributes::default);

impl std::ops::Deref for Variable {
    type Target = Attributes;
    fn deref(&self) -> &Attributes {
        self.attributes.as_deref().unwrap_or_else(|| &NOTHING)
    }
}

impl Variable {
    /// A variable of a name and shape of which nothing else is said.
    pub fn new(name: &str, dims: Vec<usize>, ty: VarType, variability: Variability) -> Variable {
        let name = VarName::new(&[(Name::new(name), dims.len() as u8)]);
        Variable::named(name, dims, ty, variability)
    }

    /// The same with a name of several parts.
    pub fn named(
        name: VarName,
        dims: Vec<usize>,
        ty: VarType,
        variability: Variability,
    ) -> Variable {
        Variable {
            name,
            dims: dims.into(),
            binding: None,
            attributes: None,
            span: Span::NONE,
            ty,
            variability,
            causality: Causality::Local,
            state_select: StateSelect::Default,
            flow: false,
            protected: false,
            structural: false,
            auxiliary: false,
            alias: false,
        }
    }

    /// The attributes, to be written. From then on the variable has some: only to be called if something is said.
    pub fn attributes_mut(&mut self) -> &mut Attributes {
        Arc::make_mut(self.attributes.get_or_insert_default())
    }

    /// Number of scalars.
    pub fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// True when a dimension is zero.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Integer, Boolean, String and enumeration variables, and discrete Reals, change at events only.
    pub fn is_discrete(&self) -> bool {
        self.variability <= Variability::Discrete || self.ty != VarType::Real
    }

    /// What the world outside sets, unless an equation of the model does.
    pub fn is_free_input(&self) -> bool {
        self.causality == Causality::Input && !self.is_parameter() && !self.auxiliary
    }

    /// Parameters and constants.
    pub fn is_parameter(&self) -> bool {
        self.variability <= Variability::Parameter
    }
}

/// Index into [`FlatModel::origins`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OriginId(pub u32);

/// Where an equation came from: what the user wrote and in which component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The source text.
    pub span: Span,
    /// Instance path of the component whose class holds it, empty for the model itself.
    #[serde(skip)]
    pub component: Arc<str>,
    /// What it is.
    pub kind: OriginKind,
}

/// Kinds of origins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum OriginKind {
    /// An equation.
    Equation,
    /// The binding of a declaration.
    Binding,
    /// Equality of potentials by `connect`.
    Potential,
    /// Sum of flows by `connect`.
    Flow,
    /// A flow variable that nothing is connected to is zero.
    Unconnected,
    /// An algorithm section.
    Algorithm,
    /// A `when` clause.
    When,
    /// An assertion.
    Assert,
    /// Introduced by the compiler for the given source.
    Auxiliary,
}

/// `lhs = rhs` for all values of the iterators of the domain.
#[derive(Clone, Debug)]
pub struct Equation {
    /// The iterators and their values; the last one varies fastest.
    pub domain: ThinVec<(IterId, Range)>,
    /// Left side.
    pub lhs: ExprId,
    /// Right side.
    pub rhs: ExprId,
    /// Where it came from.
    pub origin: OriginId,
}

impl Equation {
    /// Number of scalar equations.
    pub fn len(&self) -> usize {
        self.domain
            .iter()
            .map(|(_, r)| r.count.max(0) as usize)
            .product()
    }

    /// True when a range is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A `when` clause: the first branch whose condition becomes true is activated.
#[derive(Clone, Debug)]
pub struct When {
    /// Iterators of an enclosing `for` or array of components.
    pub domain: Vec<(IterId, Range)>,
    /// `when` and `elsewhen`, in order of priority.
    pub branches: Vec<WhenBranch>,
    /// Where it came from.
    pub origin: OriginId,
}

/// One branch of a `when` clause.
#[derive(Clone, Debug)]
pub struct WhenBranch {
    /// The branch is activated when one of these becomes true.
    pub conditions: Vec<ExprId>,
    /// What happens, in order.
    pub actions: Vec<Action>,
}

/// What a `when` clause does.
#[derive(Clone, Debug)]
pub enum Action {
    /// `v = value` for a discrete variable, for all values of the domain (iterators of a `for` inside the clause).
    Assign {
        /// Inner iterators.
        domain: Vec<(IterId, Range)>,
        /// The assigned element (always [`crate::ValueKind::Value`]).
        target: Access,
        /// The new value.
        value: ExprId,
    },
    /// `reinit(x, value)`
    Reinit {
        /// Inner iterators.
        domain: Vec<(IterId, Range)>,
        /// The state.
        target: Access,
        /// Its new value.
        value: ExprId,
    },
    /// `assert(condition, message)`
    Assert(Assert),
    /// `Modelica.Utilities.Streams.print(message)`; an empty text is not printed.
    Print {
        /// A String expression.
        message: ExprId,
        /// Where it stands.
        origin: OriginId,
    },
    /// `terminate(message)`
    Terminate {
        /// A String expression, printed at the end.
        message: ExprId,
        /// Where it stands.
        origin: OriginId,
    },
}

/// `Modelica.Utilities.Streams.print(message)` outside of `when`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Print {
    /// Iterators.
    pub domain: Vec<(IterId, Range)>,
    /// A String expression; the empty text is not printed.
    pub message: ExprId,
    /// In an initial section: at the start only.
    pub initial: bool,
}

/// `assert(condition, message, level)`.
#[derive(Clone, Debug)]
pub struct Assert {
    /// Iterators.
    pub domain: Vec<(IterId, Range)>,
    /// Must hold.
    pub condition: ExprId,
    /// A String expression.
    pub message: ExprId,
    /// What its failure means.
    pub level: AssertionLevel,
    /// Where it stands.
    pub origin: OriginId,
}

/// A function evaluated at run time, specialised to the array sizes of its calls.
///
/// Its frame is a row of scalars: the inputs first, then outputs and protected variables. [`crate::Node::Local`]
/// refers to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Full Modelica name.
    pub name: String,
    /// Number of scalar inputs.
    pub inputs: u32,
    /// Where the flattened outputs lie in the frame.
    pub outputs: Vec<u32>,
    /// Number of scalars in the frame.
    pub frame: u32,
    /// Variables that have no value before a statement gives them one, by place.
    pub unassigned: Vec<Unassigned>,
    /// The body.
    pub body: Vec<Statement>,
    /// A native function that is called instead of executing a body.
    pub external: Option<crate::native::External>,
    /// The definition.
    pub span: Span,
}

impl Function {
    /// The variable in whose block a scalar of the frame lies, if it has no value at the beginning.
    fn unassigned_at(&self, slot: u32) -> Option<&Unassigned> {
        let k = self.unassigned.partition_point(|u| u.base <= slot);
        let u = self.unassigned.get(k.checked_sub(1)?)?;
        (slot < u.base + u.len).then_some(u)
    }

    /// Whether a block of the frame has no value at the beginning.
    pub fn begins_unassigned(&self, base: u32) -> bool {
        self.unassigned_at(base).is_some()
    }

    /// What an output is called that has no value at the beginning.
    pub fn unassigned_output(&self, output: u32) -> Option<&str> {
        let slot = *self.outputs.get(output as usize)?;
        Some(&self.unassigned_at(slot)?.name)
    }
}

/// A variable of a run-time function without a first value (MLS 3.6 §12.4.4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unassigned {
    /// What it is called in messages.
    pub name: String,
    /// Its first scalar in the frame.
    pub base: u32,
    /// Number of scalars.
    pub len: u32,
}

/// What a failed assertion means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AssertionLevel {
    /// `AssertionLevel.error`.
    Error,
    /// `AssertionLevel.warning`.
    Warning,
    /// Nobody wrote it: a function has not assigned what is used of it.
    Unassigned,
}

/// A statement of a run-time function. Indices are checked when executed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Statement {
    /// `local := value`; the target is a [`crate::Node::Local`].
    Assign {
        /// Target.
        target: ExprId,
        /// Value.
        value: ExprId,
    },
    /// `if / elseif / else`; a missing else is empty.
    If {
        /// Conditions and bodies.
        branches: Vec<(ExprId, Vec<Statement>)>,
        /// Otherwise.
        otherwise: Vec<Statement>,
    },
    /// `while`
    While {
        /// Condition.
        condition: ExprId,
        /// Body.
        body: Vec<Statement>,
    },
    /// `for`: the iterator is a frame scalar.
    For {
        /// Frame scalar that holds the iterator.
        iterator: u32,
        /// First value.
        start: ExprId,
        /// Increment.
        step: ExprId,
        /// Last value.
        stop: ExprId,
        /// Body.
        body: Vec<Statement>,
    },
    /// `break`
    Break,
    /// `return`
    Return,
    /// `assert(condition, message)`: evaluation fails with the message, or goes on and leaves a warning.
    Assert {
        /// Must hold.
        condition: ExprId,
        /// Message.
        message: String,
        /// What its failure means.
        level: AssertionLevel,
    },
}
