//! Operators on records: the functions of an `operator record` (MLS 3.6 §14).

use acausal_base::{Name, Span};

use super::{Arguments, Context, Env, Result, Subscript, Type, Value, error};
use acausal_instance::instance::{InstId, InstanceKind};

impl Context {
    /// An operator on records: the function of an `operator record` (MLS 3.6 §14).
    pub(super) fn record_operator(
        &mut self,
        symbol: &str,
        operands: Vec<Value>,
        span: Span,
    ) -> Result<Value> {
        let name = Name::new(&format!("'{symbol}'"));
        for operand in &operands {
            let Value::Record(r) = operand else { continue };
            let Some(class) = self.instances.member(r.class, name) else {
                continue;
            };
            let arguments = Arguments {
                positional: operands.iter().map(|o| (o.clone(), span)).collect(),
                named: Vec::new(),
            };
            let env = Env::new(acausal_instance::instance::Scope::of(r.class));
            // A scalar beside a record is converted by the constructor (MLS 3.6 §14.4).
            if let Some(v) = self.overloaded(&env, class, arguments.clone(), span)? {
                return Ok(v);
            }
            let mut converted = arguments;
            for p in &mut converted.positional {
                if matches!(p.0, Value::Tensor(_)) {
                    let single = Arguments {
                        positional: vec![p.clone()],
                        named: Vec::new(),
                    };
                    if let Some(v) = self.operator_constructor(&env, r.class, &single, span)? {
                        p.0 = v;
                    }
                }
            }
            if let Some(v) = self.overloaded(&env, class, converted, span)? {
                return Ok(v);
            }
        }
        if let Some(v) = self.elementwise_operator(symbol, &operands, span)? {
            return Ok(v);
        }
        if let ("*", [a, b]) = (symbol, operands.as_slice())
            && let Some(v) = self.record_matrix_product(a, b, span)?
        {
            return Ok(v);
        }
        let what: Vec<String> = operands.iter().map(|o| self.describe(o)).collect();
        Err(error(
            "operator-mismatch",
            span,
            format!("`{symbol}` cannot be applied to {}", what.join(" and ")),
        ))
    }

    /// An operator on arrays of records, element by element where MLS 3.6 §10.6 defines it so.
    fn elementwise_operator(
        &mut self,
        symbol: &str,
        operands: &[Value],
        span: Span,
    ) -> Result<Option<Value>> {
        let arrays: Vec<&[usize]> = operands
            .iter()
            .map(Value::dims)
            .filter(|d| !d.is_empty())
            .collect();
        let Some(&dims) = arrays.first() else {
            return Ok(None);
        };
        let all = arrays.len() == operands.len();
        let fits = match symbol {
            "+" | "-" => all,
            "*" => !all,
            "/" => !all && operands.last().is_some_and(|o| o.dims().is_empty()),
            ".+" | ".-" | ".*" | "./" | ".^" => true,
            _ => false,
        };
        if !fits || arrays.iter().any(|d| *d != dims) {
            return Ok(None);
        }
        let dims = dims.to_vec();
        let iters: Vec<_> = dims
            .iter()
            .map(|&n| self.iterator(None, acausal_expr::Range::upto(n)))
            .collect();
        let subs: Vec<Subscript> = iters
            .iter()
            .map(|&i| Subscript::Element(self.exprs.iter(i)))
            .collect();
        let elements = operands
            .iter()
            .map(|o| {
                if o.dims().is_empty() {
                    o.clone()
                } else {
                    o.index(&mut self.exprs, &subs)
                }
            })
            .collect();
        let mut value = self.record_operator(symbol.trim_start_matches('.'), elements, span)?;
        for (&k, &n) in iters.iter().zip(&dims).rev() {
            value = super::prepend(&value, k, n);
        }
        Ok(Some(value))
    }

    pub(super) fn operator_constructor(
        &mut self,
        env: &Env<'_>,
        class: InstId,
        arguments: &Arguments,
        span: Span,
    ) -> Result<Option<Value>> {
        match self.instances.member(class, Name::new("'constructor'")) {
            Some(op) => self.overloaded(env, op, arguments.clone(), span),
            None => Ok(None),
        }
    }

    /// The first function of an `operator` (or the operator function itself) that takes these arguments.
    pub(super) fn overloaded(
        &mut self,
        env: &Env<'_>,
        operator: InstId,
        arguments: Arguments,
        span: Span,
    ) -> Result<Option<Value>> {
        if self.instances.kind(operator) == InstanceKind::Function {
            if !self.accepts(operator, &arguments) {
                return Ok(None);
            }
            return Ok(Some(crate::function::call(
                self, env, operator, arguments, span,
            )?));
        }
        let mut functions = Vec::new();
        for part in self.instances.class_parts(operator) {
            for (_, element) in part.class.elements() {
                if let acausal_syntax::ast::ElementKind::Class(def) = &element.kind {
                    functions.extend(self.instances.member(operator, def.name.name));
                }
            }
        }
        for function in functions {
            if self.instances.kind(function) == InstanceKind::Function
                && self.accepts(function, &arguments)
            {
                return Ok(Some(crate::function::call(
                    self, env, function, arguments, span,
                )?));
            }
        }
        Ok(None)
    }

    /// Whether a function has inputs of the kinds of these arguments: records for records, numbers for numbers.
    fn accepts(&mut self, function: InstId, arguments: &Arguments) -> bool {
        let mut inputs: Vec<InstId> = self.instances.components(function);
        inputs.retain(|&i| {
            self.instances.data(i).prefixes.causality
                == Some(acausal_syntax::ast::CausalityPrefix::Input)
        });
        let mut given: Vec<Option<&Value>> = inputs.iter().map(|_| None).collect();
        if arguments.positional.len() > inputs.len() {
            return false;
        }
        for (slot, (v, _)) in given.iter_mut().zip(&arguments.positional) {
            *slot = Some(v);
        }
        for (name, v, _) in &arguments.named {
            match inputs
                .iter()
                .position(|&i| self.instances.data(i).name == *name)
            {
                Some(k) => given[k] = Some(v),
                None => return false,
            }
        }
        for (&input, value) in inputs.iter().zip(given) {
            let rank = self.instances.data(input).rank as usize;
            let fits = match value {
                None => self.instances.binding(input).is_some(),
                Some(Value::Record(r)) => {
                    // By members, not by name: `ComplexInput` is a `Complex` (MLS 3.6 §6.5).
                    let members = self.instances.components(input);
                    let names: Vec<Name> = members
                        .iter()
                        .map(|&m| self.instances.data(m).name)
                        .collect();
                    r.dims.len() == rank
                        && names.len() == r.fields.len()
                        && r.fields.iter().all(|f| names.contains(&f.0))
                }
                Some(Value::Tensor(t)) => {
                    self.primitive_type(input)
                        .is_some_and(|ty| ty == t.ty || ty == Type::Real && t.ty == Type::Integer)
                        && t.rank() == rank
                }
                Some(_) => false,
            };
            if !fits {
                return false;
            }
        }
        true
    }
}
