//! Types and sizes: how they are named in messages, and whether a value fits where it is put.

use acausal_base::Span;

use super::{Context, Result, Tensor, Type, Value, error};
use acausal_instance::instance::{InstId, InstanceKind, Primitive};

/// `[2, 3]`, as written behind a type; nothing for scalars.
pub fn dims_text(dims: &[usize]) -> String {
    if dims.is_empty() {
        return String::new();
    }
    let sizes: Vec<String> = dims.iter().map(|d| d.to_string()).collect();
    format!("[{}]", sizes.join(", "))
}

impl Context {
    /// The Modelica name of a scalar type.
    pub fn type_name(&self, ty: Type) -> String {
        match ty {
            Type::Real => "Real".into(),
            Type::Integer => "Integer".into(),
            Type::Boolean => "Boolean".into(),
            Type::String => "String".into(),
            Type::Enum(id) => self.instances.enum_type(id).name.clone(),
            Type::Object => "external object".into(),
            Type::Clock => "Clock".into(),
        }
    }

    /// A value for messages: `Real[3]`, `record Frame`, `a function`.
    pub fn describe(&self, value: &Value) -> String {
        match value {
            Value::Tensor(t) => format!("{}{}", self.type_name(t.ty), dims_text(&t.dims)),
            Value::Record(r) => format!(
                "record {}{}",
                self.instances.class_name(r.class),
                dims_text(&r.dims)
            ),
            Value::Function(f) => format!("function {}", self.instances.class_name(f.function)),
            Value::Tuple(vs) if vs.is_empty() => {
                "no value (an output that the function does not assign)".into()
            }
            Value::Tuple(vs) => format!("{} values", vs.len()),
        }
    }

    /// The scalar type of a component of predefined type.
    pub fn primitive_type(&mut self, inst: InstId) -> Option<Type> {
        match self.instances.kind(inst) {
            InstanceKind::Primitive(Primitive::Real) => Some(Type::Real),
            InstanceKind::Primitive(Primitive::Integer) => Some(Type::Integer),
            InstanceKind::Primitive(Primitive::Boolean) => Some(Type::Boolean),
            InstanceKind::Primitive(Primitive::String) => Some(Type::String),
            InstanceKind::Primitive(Primitive::Enum(id)) => Some(Type::Enum(id)),
            InstanceKind::Primitive(Primitive::Clock) => Some(Type::Clock),
            InstanceKind::ExternalObject => Some(Type::Object),
            _ => None,
        }
    }

    /// Checks that an array can be given to a variable of this type and size; `what` names the variable.
    pub fn expect(
        &mut self,
        t: Tensor,
        ty: Type,
        dims: &[usize],
        span: Span,
        what: &str,
    ) -> Result<Tensor> {
        let type_fits = t.ty == ty || ty == Type::Real && t.ty == Type::Integer;
        if type_fits && t.dims == dims {
            self.expect_no_overflow(&t, span, what)?;
            return Ok(Tensor { ty, ..t });
        }
        let expected = format!("{}{}", self.type_name(ty), dims_text(dims));
        let found = self.describe(&Value::Tensor(t.clone()));
        let code = if type_fits {
            "size-mismatch"
        } else {
            "type-mismatch"
        };
        let mut message = error(
            code,
            span,
            format!("{what} is {expected}, but this is {found}"),
        );
        message = message.label(span, format!("this is {found}"));
        if type_fits && t.is_scalar() && !dims.is_empty() {
            let sizes: Vec<String> = dims.iter().map(|d| d.to_string()).collect();
            message = message.hint(format!(
                "write `fill(..., {})`, or `each` in a modifier",
                sizes.join(", ")
            ));
        }
        Err(message)
    }

    /// Integer arithmetic that leaves its range goes on with Reals (`acausal_expr::build`): such a value is no Integer.
    fn expect_no_overflow(&self, t: &Tensor, span: Span, what: &str) -> Result<()> {
        const LIMIT: f64 = i64::MAX as f64;
        let value = self.exprs.as_f64(t.body).unwrap_or(0.0);
        if t.ty != Type::Integer || value.abs() < LIMIT || self.exprs.as_int(t.body).is_some() {
            return Ok(());
        }
        Err(error(
            "integer-overflow",
            span,
            format!("{what} is Integer, but its value {value} is outside of the range of Integers"),
        ))
    }
}
