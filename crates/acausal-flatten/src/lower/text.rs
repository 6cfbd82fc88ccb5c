//! `String(...)` and joining of strings (MLS 3.6 §3.7.1.1, §3.5 table 3.5).
//!
//! Constant strings are formatted at once; others become a [`Builtin::Text`] or [`Builtin::Concat`] that is evaluated when the
//! message is shown.

use acausal_base::Span;
use acausal_expr::limits::bytes_text;
use acausal_expr::{Builtin, ExprId, Exprs, Node, ScalarValue, format_number, format_printf};
use acausal_syntax::ast::Call;

use super::{Context, Env, Result, Tensor, Type, Value, error};

impl Context {
    /// `a + b` of strings.
    pub(super) fn concat(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Result<Tensor> {
        if a.dims != b.dims {
            let (p, q) = (
                self.describe(&Value::Tensor(a.clone())),
                self.describe(&Value::Tensor(b.clone())),
            );
            return Err(error(
                "operator-mismatch",
                span,
                format!("`+` cannot be applied to {p} and {q}"),
            ));
        }
        if let (Node::Str(p), Node::Str(q)) = (self.exprs.node(a.body), self.exprs.node(b.body)) {
            let length = self.exprs.string(p).len() as u64 + self.exprs.string(q).len() as u64;
            self.check_text_length(length, span)?;
        }
        Ok(a.zip(b, &mut self.exprs, Type::String, join))
    }

    /// Refuses a text before it is made.
    fn check_text_length(&self, length: u64, span: Span) -> Result<()> {
        let limits = &self.exprs.limits;
        if length <= limits.text_length() {
            return Ok(());
        }
        Err(error(
            "too-large",
            span,
            format!(
                "a text of {} is more than the memory limit of {} allows",
                bytes_text(length as f64),
                bytes_text(limits.memory as f64)
            ),
        )
        .hint("does a loop double a String? Otherwise raise `--memory-limit`"))
    }

    pub(super) fn string_call(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let Some(e) = call
            .args
            .first()
            .or_else(|| call.named.first().map(|n| &n.value))
        else {
            return Err(error("argument-count", call.span, "`String` takes a value"));
        };
        let value = self.expr(env, e)?;
        if matches!(value, Value::Record(_)) {
            return self.record_operator("String", vec![value], call.span);
        }
        let t = self.as_tensor(value, e.span)?;
        if !t.is_scalar() {
            let found = self.describe(&Value::Tensor(t));
            return Err(error(
                "type-mismatch",
                e.span,
                format!("`String` takes a scalar, not {found}"),
            ));
        }
        let format = call
            .named
            .iter()
            .find(|n| n.name.as_str() == "format")
            .map(|n| &n.value);
        if let Some(format) = format {
            let f = self.scalar(env, format, Type::String)?;
            let body = self.text_node(&[t.body, f]);
            return body.map(|b| Value::scalar(Type::String, b)).ok_or_else(|| {
                error(
                    "string-format",
                    format.span,
                    "the format must be like `%8.3f`, with one of d, i, e, f, g at the end",
                )
            });
        }
        let text = match t.ty {
            Type::String => t.body,
            Type::Boolean => {
                let (yes, no) = (self.exprs.str("true"), self.exprs.str("false"));
                self.exprs.if_(t.body, yes, no)
            }
            Type::Enum(id) => {
                let names: Vec<String> = self
                    .instances
                    .enum_type(id)
                    .literals
                    .iter()
                    .map(|l| l.to_string())
                    .collect();
                let texts: Vec<ExprId> = names.iter().map(|n| self.exprs.str(n)).collect();
                self.exprs.select(t.body, &texts)
            }
            Type::Object | Type::Clock => {
                let message = "`String` does not take external objects or clocks";
                return Err(error("type-mismatch", e.span, message));
            }
            Type::Real | Type::Integer => return self.number_as_text(env, call, t.body, t.ty),
        };
        Ok(Value::scalar(Type::String, text))
    }

    /// `String(r, significantDigits, minimumLength, leftJustified)`, and the same of an Integer without digits.
    fn number_as_text(
        &mut self,
        env: &Env<'_>,
        call: &Call,
        number: ExprId,
        ty: Type,
    ) -> Result<Value> {
        // Positions differ by type: String(r, significantDigits, minimumLength, leftJustified), String(i, minimumLength, leftJustified).
        let real = ty == Type::Real;
        let offset = usize::from(real);
        let setting = |ctx: &mut Context,
                       position: Option<usize>,
                       name: &str,
                       default: ExprId,
                       ty: Type|
         -> Result<ExprId> {
            let given = position.and_then(|p| call.args.get(p)).or_else(|| {
                call.named
                    .iter()
                    .find(|n| n.name.as_str() == name)
                    .map(|n| &n.value)
            });
            match given {
                Some(e) => ctx.scalar(env, e, ty),
                None => Ok(default),
            }
        };
        let (six, none, yes) = (self.exprs.int(6), self.exprs.int(0), self.exprs.bool(true));
        let digits = setting(
            self,
            real.then_some(1),
            "significantDigits",
            six,
            Type::Integer,
        )?;
        let minimum = setting(self, Some(1 + offset), "minimumLength", none, Type::Integer)?;
        let left = setting(self, Some(2 + offset), "leftJustified", yes, Type::Boolean)?;
        if let Some(length) = self.exprs.as_int(minimum) {
            self.check_text_length(length.max(0) as u64, call.span)?;
        }
        match self.text_node(&[number, digits, minimum, left]) {
            Some(b) => Ok(Value::scalar(Type::String, b)),
            None => Err(error(
                "string-format",
                call.span,
                "the value cannot be written as text",
            )),
        }
    }

    /// A literal when everything is constant, otherwise the call.
    fn text_node(&mut self, args: &[ExprId]) -> Option<ExprId> {
        let scalar = |x: &Exprs, e: ExprId| match x.node(e) {
            Node::Real(b) => Some(ScalarValue::Real(f64::from_bits(b))),
            Node::Int(i) => Some(ScalarValue::Int(i)),
            Node::Bool(b) => Some(ScalarValue::Bool(b)),
            Node::Str(s) => Some(ScalarValue::Str(s)),
            _ => None,
        };
        let known: Option<Vec<ScalarValue>> =
            args.iter().map(|&a| scalar(&self.exprs, a)).collect();
        let text = match known.as_deref() {
            None => return Some(self.exprs.call(Builtin::Text, args)),
            Some([v, ScalarValue::Str(f)]) => format_printf(self.exprs.string(*f), *v)?,
            Some(
                [
                    v,
                    ScalarValue::Int(digits),
                    ScalarValue::Int(minimum),
                    ScalarValue::Bool(left),
                ],
            ) => format_number(
                *v,
                (*digits).max(0) as usize,
                (*minimum).max(0) as usize,
                *left,
            ),
            _ => return None,
        };
        Some(self.exprs.str(&text))
    }
}

/// Joins two strings, literals at once.
fn join(x: &mut Exprs, a: ExprId, b: ExprId) -> ExprId {
    if let (Node::Str(p), Node::Str(q)) = (x.node(a), x.node(b)) {
        let joined = format!("{}{}", x.string(p), x.string(q));
        return x.str(&joined);
    }
    let mut parts = Vec::new();
    for e in [a, b] {
        match x.node(e) {
            Node::Call(Builtin::Concat, l) => parts.extend_from_slice(x.list(l)),
            _ => parts.push(e),
        }
    }
    x.call(Builtin::Concat, &parts)
}
