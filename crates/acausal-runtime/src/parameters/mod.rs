//! Parameters of a compiled model: which there are, and other values for one simulation.
//!
//! A model is compiled once; [`Settings::parameters`](crate::Settings::parameters) gives parameters and start attributes other values for each simulation of it,
//! so that a study of a thousand values compiles nothing. [`parameters`] tells what can be set.
//!
//! In: names and values. Out: places in `Mem` with numbers, or which name or value is wrong and what to do about it ([`SettingError`]). What
//! is computed from a parameter that was set follows it; a parameter that was set is not computed (`given`). What decides about the equations
//! cannot be set: sizes, conditions that choose equations, `final` ones. And the compiler has looked at the values of others, to divide by
//! them or to bound the growth of errors (`assumptions`): where that does not hold for the new values, the simulation is refused
//! instead of being inaccurate. In both cases the model has to be compiled again with the value.
//!
//! | what | module |
//! |---|---|
//! | what the compiler took for granted | `assumptions` |
//! | what is wrong with a name or value | `error` |
//! | computing parameters of which some are given | `given` |
//! | from names to places | `resolve` |
//! | values | `value` |

mod assumptions;
mod error;
mod given;
mod resolve;
mod value;

use acausal_compiled::CompiledModel;
use acausal_expr::flat::{Comprehension, VarType, Variability, Variable};
use acausal_expr::{ExprId, IterId, Node, ScalarValue, Symbols, ValueKind, VarId};

pub use assumptions::BrokenAssumption;
pub(crate) use assumptions::check_assumptions;
pub use error::SettingError;
pub use given::GivenPlace;
pub use resolve::{NameIndex, resolve};
pub use value::{NotAValue, ParameterValue};

/// A parameter of a compiled model, as the user declared it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter<'m> {
    /// Its name, without subscripts.
    pub name: String,
    /// Its type.
    pub ty: VarType,
    /// Its shape; empty for a scalar. The elements of `R` in an array of components `r[3]` are those of `r.R`.
    pub dims: &'m [usize],
    /// Unit.
    pub unit: &'m str,
    /// Unit to show.
    pub display_unit: &'m str,
    /// Description string.
    pub description: &'m str,
    /// The values of its elements that the model gives, in the order of the last subscript; none where they follow from a function that is evaluated later, or from what
    /// is computed at the start. Booleans are 0 and 1, enumerations the number of the literal.
    pub default: Option<Vec<f64>>,
    /// Smallest value, of a scalar or the first element.
    pub min: Option<f64>,
    /// Largest value.
    pub max: Option<f64>,
    /// Whether a simulation may give it another value; if not, the model has to be compiled again.
    pub can_be_set: bool,
}

/// The parameters of a model that are visible from outside, in order of declaration.
pub fn parameters(model: &CompiledModel) -> impl Iterator<Item = Parameter<'_>> {
    let symbols = &model.symbols;
    let computed = resolve::computed_at_start(model);
    visible(symbols).map(move |(id, v)| Parameter {
        name: v.name.plain(),
        ty: v.ty,
        dims: &v.dims,
        unit: &v.unit,
        display_unit: &v.display_unit,
        description: &v.description,
        default: v
            .binding
            .as_ref()
            .or(v.start.as_ref())
            .and_then(|b| elements(symbols, v, b)),
        min: v.min.as_ref().and_then(|c| first(symbols, v, c)),
        max: v.max.as_ref().and_then(|c| first(symbols, v, c)),
        can_be_set: resolve::parameter_base(model, id, &computed).is_ok(),
    })
}

/// Parameters that can be named from outside.
fn visible(symbols: &Symbols) -> impl Iterator<Item = (VarId, &Variable)> {
    let visible = |v: &Variable| {
        let is_parameter = v.variability == Variability::Parameter;
        is_parameter && !v.auxiliary && !v.protected && v.ty != VarType::String
    };
    symbols.var_ids().filter(move |(_, v)| visible(v))
}

/// Parameters that depend on parameters: longer chains are not followed.
const DEEPEST: usize = 100;

/// The values of all elements of an attribute.
fn elements(symbols: &Symbols, v: &Variable, c: &Comprehension) -> Option<Vec<f64>> {
    let element = |k: usize| {
        let subs = acausal_compiled::subscripts(&v.dims, k);
        element(symbols, c, &subs)
    };
    (0..v.len()).map(element).collect()
}

fn first(symbols: &Symbols, v: &Variable, c: &Comprehension) -> Option<f64> {
    element(symbols, c, &vec![1; v.dims.len()])
}

fn element(symbols: &Symbols, c: &Comprehension, subs: &[usize]) -> Option<f64> {
    let subs = subs.iter().map(|&s| s as i64);
    let at: Vec<(IterId, i64)> = c.iters.iter().copied().zip(subs).collect();
    default_value(symbols, c.body, &at, 0)?.as_f64()
}

/// The value of an expression from the bindings of parameters, as far as it is known without running anything.
fn default_value(
    symbols: &Symbols,
    e: ExprId,
    at: &[(IterId, i64)],
    depth: usize,
) -> Option<ScalarValue> {
    if depth > DEEPEST {
        return None;
    }
    let leaf = |x: &acausal_expr::Exprs, leaf: ExprId, subs: &[i64]| match x.node(leaf) {
        Node::Iter(i) => at.iter().find(|a| a.0 == i).map(|a| ScalarValue::Int(a.1)),
        Node::Var(a) if a.kind == ValueKind::Value => {
            let var = symbols.var(a.var);
            let binding = var.binding.as_ref().or(var.start.as_ref())?;
            if !var.is_parameter() || is_free(symbols, a.var) {
                return None;
            }
            let at = binding.iters.iter().copied().zip(subs.iter().copied());
            default_value(symbols, binding.body, &at.collect::<Vec<_>>(), depth + 1)
        }
        _ => None,
    };
    symbols.exprs.evaluate(e, leaf).ok()
}

/// Whether a parameter may be computed at the start: its `fixed` is not the literal `true`.
fn is_free(symbols: &Symbols, id: VarId) -> bool {
    let fixed = symbols.var(id).fixed.as_ref();
    fixed.is_some_and(|f| symbols.exprs.as_bool(f.body) != Some(true))
}
