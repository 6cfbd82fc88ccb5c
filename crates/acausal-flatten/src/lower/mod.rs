//! Expressions of the syntax tree to scalar bodies under iterators (MLS 3.6 §3, §10).
//!
//! In: an expression and the [`Env`] it stands in. Out: a [`Value`], type- and size-checked, whose scalar parts live in
//! the arena [`Context::exprs`]. An [`Error`] stands at the place that is wrong.
//!
//! | file | does |
//! |---|---|
//! | `tensor`, `value` | arrays as comprehensions, records of arrays |
//! | `expression` | the syntax tree, case by case |
//! | `operator` | arithmetic, relations, logic |
//! | `array`, `iteration`, `comprehension`, `subscript` | constructors, ranges, iterators, values under iterators, subscripts |
//! | `narrow`, `irregular` | ranges under conditions, what has to be written out |
//! | `reference`, `component` | names to variables, constants, iterators |
//! | `known`, `binding` | sizes, values of constants and parameters, bindings over all dimensions |
//! | `call`, `overload`, `record_array` | calls, record constructors, operators on records |
//! | `math`, `array_function`, `reduction`, `event_function`, `text` | built-in functions |
//! | `stream` | `inStream` and `actualStream` |
//! | `clock` | operators of clocks |
//! | `graph` | the connection graph of overdetermined connectors |
//! | `error` | why there is no value: the kind that may be decided on, the message that people read |
//! | `check` | types and sizes in messages |
//!
//! Two modes of lowering share all code: in a *model* a parameter is an access to its variable, so that it can be
//! changed after compilation; with [`Env::evaluate`] it is replaced by its value and marked as structural.

mod array;
mod array_function;
mod binding;
mod call;
mod check;
mod clock;
mod component;
mod comprehension;
mod error;
mod event_function;
mod expression;
pub mod graph;
mod irregular;
mod iteration;
mod known;
mod math;
mod narrow;
mod operator;
mod overload;
mod record_array;
mod reduction;
mod reference;
mod spatial;
pub mod stream;
mod subscript;
pub mod tensor;
mod text;
pub mod value;

pub use call::{Arguments, in_dependency_order};
pub use component::is_inside;
pub use comprehension::prepend;
pub use error::{Error, ErrorKind, Result, error};
pub use irregular::UNROLL;
pub use iteration::{IterationRange, children, statement_expressions};
pub use known::FramedEnv;
pub use reference::ComponentRange;
pub use tensor::{Subscript, Tensor};
pub use value::{FunctionValue, Record, Type, Value};

use acausal_base::{Diagnostic, Name, Span};
use acausal_expr::flat;
use acausal_expr::{ExprId, Exprs, IterId, Range, VarId};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use acausal_instance::instance::{InstId, Instances, Scope};

/// Everything that is known while a model is lowered.
#[derive(Debug)]
pub struct Context {
    /// The instance tree.
    pub instances: Instances,
    /// The arena of the model under construction.
    pub exprs: Exprs,
    /// Errors so far. Lowering functions return theirs; whoever calls them adds them here and goes on.
    pub errors: Vec<Diagnostic>,
    /// Warnings so far.
    pub warnings: Vec<Diagnostic>,
    /// Functions evaluated at run time.
    pub functions: Vec<flat::Function>,
    /// Flat variables of primitive components, given out before equations are lowered.
    pub vars: VarTable,
    /// The primitive component of each flat variable; the inverse of `vars`.
    pub var_insts: Vec<InstId>,
    /// Parameters whose value was needed to know the structure.
    pub structural: FxHashSet<InstId>,
    /// Components that do not exist because their condition is false, or that are inside of one.
    pub absent: FxHashSet<InstId>,
    /// Values that iterators can take, for bounds checks.
    pub ranges: FxHashMap<IterId, Range>,
    /// How connectors hang together, for `cardinality` and `Connections.rooted`.
    pub graph: graph::ConnectionGraph,
    /// What flows in, for each `stream` variable that is asked for it; these variables follow those of `var_insts`.
    pub streams: IndexMap<VarId, stream::InStream, FxBuildHasher>,
    /// Values of `semiLinear`, which say what a flow carries, with their slopes in both directions.
    pub semi_linear: FxHashMap<ExprId, (ExprId, ExprId)>,
    /// Real variables whose left limits are asked for outside of `when`: they must turn out to be discrete (MLS 3.6 §3.7.5).
    pub left_limits: Vec<(VarId, Span)>,
    /// What lasts between calls of user functions.
    pub function_state: crate::function::State,
    known: known::Known,
}

/// The flat variable of each primitive component, plus one; 0 where there is none. Components are numbered in the order in which they are made, so a list by
/// number is short and neighbours are together.
#[derive(Debug, Default)]
pub struct VarTable(Vec<u32>);

impl VarTable {
    /// The variable of a component.
    pub fn get(&self, inst: InstId) -> Option<VarId> {
        let number = self.0.get(inst.0 as usize)?;
        number.checked_sub(1).map(VarId)
    }

    /// Gives a component its variable.
    pub fn insert(&mut self, inst: InstId, var: VarId) {
        let k = inst.0 as usize;
        if self.0.len() <= k {
            self.0.resize(k + 1, 0);
        }
        self.0[k] = var.0 + 1;
    }
}

/// Values of variables by component: the frame of a function that is being executed.
pub type Locals = FxHashMap<InstId, Value>;

/// Where an expression stands.
#[derive(Clone, Debug)]
pub struct Env<'a> {
    /// Where names are looked up.
    pub scope: Scope,
    /// Components around the scope (and the scope itself) that are arrays, with the subscripts of the element that we are
    /// in. References to anything inside of them use these subscripts.
    pub arrays: Vec<(InstId, Vec<ExprId>)>,
    /// Iterators of `for`, comprehensions and reductions by name, innermost last.
    pub loops: Vec<(Name, Value)>,
    /// Values of function variables; they hide the components themselves.
    pub locals: Option<&'a Locals>,
    /// Inside of a `when` clause.
    pub when: bool,
    /// Parameters are replaced by their values; anything that varies is an error.
    pub evaluate: bool,
    /// Only the shape of the result matters: variables may occur and have no meaning.
    shape: bool,
    /// What `end` means, innermost last.
    ends: Vec<ExprId>,
}

impl<'a> Env<'a> {
    /// The environment of text in a scope that is in no array of components.
    pub fn new(scope: Scope) -> Env<'a> {
        Env {
            scope,
            arrays: Vec::new(),
            loops: Vec::new(),
            locals: None,
            when: false,
            evaluate: false,
            shape: false,
            ends: Vec::new(),
        }
    }

    /// The environment of a function body with the given values of its variables.
    pub fn function(scope: Scope, locals: &'a Locals, evaluate: bool) -> Env<'a> {
        Env {
            locals: Some(locals),
            evaluate,
            ..Env::new(scope)
        }
    }

    /// The same with parameters replaced by their values.
    pub fn evaluating(&self) -> Env<'a> {
        Env {
            evaluate: true,
            ..self.clone()
        }
    }

    /// The same for an expression of which only type and sizes matter.
    pub fn for_shape(&self) -> Env<'a> {
        Env {
            evaluate: true,
            shape: true,
            ..self.clone()
        }
    }

    /// The same with one more iterator.
    pub fn with_loop(&self, name: Name, value: Value) -> Env<'a> {
        let mut env = self.clone();
        env.loops.push((name, value));
        env
    }
}

impl Context {
    /// A context over an instance tree.
    pub fn new(instances: Instances) -> Context {
        let mut exprs = Exprs::default();
        exprs.limits = instances.libraries().limits;
        Context {
            instances,
            exprs,
            errors: Vec::new(),
            warnings: Vec::new(),
            functions: Vec::new(),
            vars: VarTable::default(),
            var_insts: Vec::new(),
            structural: FxHashSet::default(),
            absent: FxHashSet::default(),
            ranges: FxHashMap::default(),
            graph: graph::ConnectionGraph::default(),
            streams: IndexMap::default(),
            semi_linear: FxHashMap::default(),
            left_limits: Vec::new(),
            function_state: crate::function::State::default(),
            known: known::Known::default(),
        }
    }

    /// Keeps the error of a result and gives the value.
    pub fn keep<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(v) => Some(v),
            Err(e) => {
                self.errors.push(e.into());
                None
            }
        }
    }

    /// A new iterator over a range.
    pub fn iterator(&mut self, name: Option<Name>, range: Range) -> IterId {
        let iter = match name {
            Some(name) => self.exprs.new_iter(name),
            None => self.exprs.fresh_iter(),
        };
        self.ranges.insert(iter, range);
        iter
    }
}
