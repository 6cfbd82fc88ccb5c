//! What an expression lowers to: arrays, records of arrays, functions, tuples.
//!
//! Records are kept apart by field, and an array of records is a record of arrays: every field has the dimensions of
//! the record array in front of its own. Nothing else in the crate then has to know arrays of structures.

use acausal_base::Name;
use acausal_expr::{Exprs, Ty};

use super::tensor::{Subscript, Tensor};
use acausal_instance::instance::{EnumId, InstId};

/// Type of a scalar (MLS 3.6 §4.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Type {
    Real,
    Integer,
    Boolean,
    String,
    Enum(EnumId),
    /// An external object: the number under which it is kept (MLS 3.6 §12.9.7).
    Object,
    /// A clock (MLS 3.6 §16.2.1): true while it ticks.
    Clock,
}

impl Type {
    /// The numeric class in the expression arena.
    pub fn ty(self) -> Ty {
        match self {
            Type::Real => Ty::Real,
            Type::Integer | Type::Enum(_) | Type::Object => Ty::Int,
            Type::Boolean | Type::Clock => Ty::Bool,
            Type::String => Ty::Str,
        }
    }

    /// Real or Integer.
    pub fn is_numeric(self) -> bool {
        matches!(self, Type::Real | Type::Integer)
    }

    /// The type that both can be used as: equal types, or Real for Real and Integer (MLS 3.6 §6.7).
    pub fn join(self, other: Type) -> Option<Type> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (a, b) if a.is_numeric() && b.is_numeric() => Some(Type::Real),
            _ => None,
        }
    }
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A scalar or array of a built-in type.
    Tensor(Tensor),
    /// A record (or connector used as one), or an array of them.
    Record(Record),
    /// A function used as a value: an argument of function type.
    Function(FunctionValue),
    /// The outputs of a call with several of them.
    Tuple(Vec<Value>),
}

/// A record or an array of records.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The class it is an instance of, for messages and for record constructors.
    pub class: InstId,
    /// Dimensions of the array of records; empty for one record.
    pub dims: Vec<usize>,
    /// The fields in order of declaration; each has `dims` in front of its own dimensions.
    pub fields: Vec<(Name, Value)>,
}

/// A function and the inputs that are already bound (MLS 3.6 §12.4.2.1).
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionValue {
    /// The function.
    pub function: InstId,
    /// Inputs bound by `function f(a = 1)`.
    pub bound: Vec<(Name, Value)>,
}

impl Value {
    /// A scalar.
    pub fn scalar(ty: Type, body: acausal_expr::ExprId) -> Value {
        Value::Tensor(Tensor::scalar(ty, body))
    }

    /// Dimensions; none for functions and tuples.
    pub fn dims(&self) -> &[usize] {
        match self {
            Value::Tensor(t) => &t.dims,
            Value::Record(r) => &r.dims,
            Value::Function(_) | Value::Tuple(_) => &[],
        }
    }

    /// The array, unless it is a record or function.
    pub fn as_tensor(&self) -> Option<&Tensor> {
        match self {
            Value::Tensor(t) => Some(t),
            _ => None,
        }
    }

    /// The field of a record.
    pub fn field(&self, name: Name) -> Option<&Value> {
        match self {
            Value::Record(r) => r.fields.iter().find(|f| f.0 == name).map(|f| &f.1),
            _ => None,
        }
    }

    /// Applies subscripts to the leading dimensions.
    pub fn index(&self, exprs: &mut Exprs, subscripts: &[Subscript]) -> Value {
        match self {
            Value::Tensor(t) => Value::Tensor(t.index(exprs, subscripts)),
            Value::Record(r) => {
                let mut dims = Vec::new();
                for (d, &n) in r.dims.iter().enumerate() {
                    match subscripts.get(d) {
                        Some(Subscript::Element(_)) => {}
                        Some(Subscript::Vector(v)) => dims.push(v.dims[0]),
                        Some(Subscript::All) | None => dims.push(n),
                    }
                }
                let fields = r
                    .fields
                    .iter()
                    .map(|(n, v)| (*n, v.index(exprs, subscripts)))
                    .collect();
                Value::Record(Record {
                    class: r.class,
                    dims,
                    fields,
                })
            }
            other => other.clone(),
        }
    }

    /// Calls `f` for each array in the value with its path of field names below `prefix`.
    pub fn for_each_leaf<'v>(
        &'v self,
        prefix: &mut Vec<Name>,
        f: &mut impl FnMut(&[Name], &'v Tensor),
    ) {
        match self {
            Value::Tensor(t) => f(prefix, t),
            Value::Record(r) => {
                for (name, v) in &r.fields {
                    prefix.push(*name);
                    v.for_each_leaf(prefix, f);
                    prefix.pop();
                }
            }
            Value::Function(_) | Value::Tuple(_) => {}
        }
    }

    /// Rebuilds the value with each array replaced.
    pub fn map_leaves(&self, f: &mut impl FnMut(&Tensor) -> Tensor) -> Value {
        match self {
            Value::Tensor(t) => Value::Tensor(f(t)),
            Value::Record(r) => Value::Record(Record {
                class: r.class,
                dims: r.dims.clone(),
                fields: r
                    .fields
                    .iter()
                    .map(|(n, v)| (*n, v.map_leaves(f)))
                    .collect(),
            }),
            Value::Function(g) => Value::Function(g.clone()),
            Value::Tuple(vs) => Value::Tuple(vs.iter().map(|v| v.map_leaves(f)).collect()),
        }
    }

    /// `{a, b, ...}`: members of equal shape become a new leading dimension. `None` when the shapes differ.
    pub fn stack(exprs: &mut Exprs, members: &[Value]) -> Option<Value> {
        match members.first()? {
            Value::Tensor(first) => {
                let mut ty = first.ty;
                let mut tensors = Vec::with_capacity(members.len());
                for m in members {
                    let t = m.as_tensor()?;
                    ty = ty.join(t.ty)?;
                    if t.dims != first.dims {
                        return None;
                    }
                    tensors.push(t.clone());
                }
                Some(Value::Tensor(Tensor::stack(exprs, ty, &tensors)))
            }
            Value::Record(first) => {
                let mut fields = Vec::new();
                for (name, _) in &first.fields {
                    let column: Option<Vec<Value>> =
                        members.iter().map(|m| m.field(*name).cloned()).collect();
                    fields.push((*name, Value::stack(exprs, &column?)?));
                }
                let mut dims = vec![members.len()];
                dims.extend_from_slice(&first.dims);
                Some(Value::Record(Record {
                    class: first.class,
                    dims,
                    fields,
                }))
            }
            _ => None,
        }
    }
}
