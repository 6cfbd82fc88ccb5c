//! Calls: built-in functions, record constructors, type conversions, user functions (MLS 3.6 §12.4).

use acausal_base::{Name, Span};
use acausal_syntax::ast::{Call, Callee, ComponentRef, Expr, PartialApplication};

use super::reference::text;
use super::{Context, Env, FunctionValue, Record, Result, Type, Value, error};
use acausal_instance::instance::{Found, InstId, InstanceKind, Primitive};

/// The arguments of a call, lowered.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// By position.
    pub positional: Vec<(Value, Span)>,
    /// By name.
    pub named: Vec<(Name, Value, Span)>,
}

impl Context {
    pub(super) fn call(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        match &call.function {
            Callee::Der => self.der_call(env, call),
            Callee::Initial => Ok(Value::scalar(
                Type::Boolean,
                self.exprs.call(acausal_expr::Builtin::Initial, &[]),
            )),
            Callee::Pure => match call.args.as_slice() {
                [only] => self.expr(env, only),
                _ => Err(error("argument-count", call.span, "`pure` takes one call")),
            },
            Callee::Ref(r) => match self.callee(env, r)? {
                Found::BuiltinFunction(name) => self.builtin(env, name, call),
                Found::Class(class) => self.call_class(env, class, r, call),
                Found::Component(inst) => match env.locals.and_then(|l| l.get(&inst)).cloned() {
                    Some(Value::Function(f)) => {
                        let mut arguments = self.arguments(env, call)?;
                        arguments
                            .named
                            .extend(f.bound.into_iter().map(|(n, v)| (n, v, call.span)));
                        crate::function::call(self, env, f.function, arguments, call.span)
                    }
                    _ => Err(error(
                        "not-a-function",
                        r.span,
                        format!("`{}` is not a function", text(r)),
                    )),
                },
                Found::NotFound(message) => Err(message.into()),
                Found::EnumLiteral(..) | Found::Time => Err(error(
                    "not-a-function",
                    r.span,
                    format!("`{}` is not a function", text(r)),
                )),
            },
        }
    }

    fn callee(&mut self, env: &Env<'_>, r: &ComponentRef) -> Result<Found> {
        if let Some(p) = r.parts.iter().find(|p| !p.subscripts.is_empty()) {
            return Err(error(
                "not-a-function",
                p.span,
                "a function cannot have subscripts",
            ));
        }
        let first = &r.parts[0].name;
        if let [package, operator] = r.parts.as_slice()
            && package.name.as_str() == "Connections"
        {
            let name = format!("Connections.{}", operator.name);
            return Ok(Found::BuiltinFunction(Name::new(&name)));
        }
        let mut found = if r.global {
            self.instances.find_global(first.name, first.span)
        } else {
            self.instances.find(env.scope, first.name, first.span)
        };
        for part in &r.parts[1..] {
            let owner = match found {
                Found::Component(inst) | Found::Class(inst) => inst,
                other => return Ok(other),
            };
            found = self
                .instances
                .find_member(owner, part.name.name, part.name.span);
        }
        Ok(found)
    }

    fn call_class(
        &mut self,
        env: &Env<'_>,
        class: InstId,
        r: &ComponentRef,
        call: &Call,
    ) -> Result<Value> {
        match self.instances.kind(class) {
            InstanceKind::Function => {
                if !call.indices.is_empty() {
                    return Err(error(
                        "reduction",
                        call.span,
                        format!("`{}` is not a reduction", text(r)),
                    ));
                }
                let arguments = self.arguments(env, call)?;
                self.call_function(env, class, arguments, call.span)
            }
            InstanceKind::Record { operator } => {
                let arguments = self.arguments(env, call)?;
                if operator
                    && let Some(v) = self.operator_constructor(env, class, &arguments, call.span)?
                {
                    return Ok(v);
                }
                self.record_constructor(class, arguments, call.span)
            }
            InstanceKind::Operator => {
                let arguments = self.arguments(env, call)?;
                self.overloaded(env, class, arguments, call.span)?
                    .ok_or_else(|| {
                        error(
                            "no-operator",
                            call.span,
                            format!("no function of `{}` takes these arguments", text(r)),
                        )
                    })
            }
            InstanceKind::Primitive(Primitive::Integer) => {
                self.builtin(env, Name::new("Integer"), call)
            }
            InstanceKind::Primitive(Primitive::String) => {
                self.builtin(env, Name::new("String"), call)
            }
            InstanceKind::Primitive(Primitive::Clock) => self.clock_constructor(env, call),
            InstanceKind::Primitive(Primitive::Real) => {
                let [only] = call.args.as_slice() else {
                    return Err(error(
                        "argument-count",
                        call.span,
                        "`Real` takes one argument",
                    ));
                };
                let t = self.tensor(env, only)?;
                Ok(Value::Tensor(super::Tensor {
                    ty: Type::Real,
                    ..t
                }))
            }
            InstanceKind::Primitive(Primitive::Enum(id)) => {
                let [only] = call.args.as_slice() else {
                    return Err(error(
                        "argument-count",
                        call.span,
                        format!("`{}` takes one Integer", text(r)),
                    ));
                };
                let e = self.scalar(env, only, Type::Integer)?;
                Ok(Value::scalar(Type::Enum(id), e))
            }
            InstanceKind::Error => Err(error(
                "not-a-function",
                r.span,
                format!("`{}` is not known", text(r)),
            )),
            InstanceKind::ExternalObject => {
                let constructor = self.instances.member(class, Name::new("constructor"));
                let Some(constructor) = constructor else {
                    let message = format!("`{}` has no function `constructor`", text(r));
                    return Err(error("not-a-function", call.span, message));
                };
                let arguments = self.arguments(env, call)?;
                self.call_function(env, constructor, arguments, call.span)
            }
            _ => Err(error(
                "not-a-function",
                r.span,
                format!("`{}` is not a function", text(r)),
            )),
        }
    }

    /// Calls a user function. If sizes or loops in it need Integer (or Boolean) arguments that are parameters, these become
    /// structural.
    fn call_function(
        &mut self,
        env: &Env<'_>,
        function: InstId,
        arguments: Arguments,
        span: Span,
    ) -> Result<Value> {
        let pending = self.function_state.asserts.len();
        let printed = self.function_state.prints.len();
        let message = match crate::function::call(self, env, function, arguments.clone(), span) {
            Err(message) if !env.evaluate => message,
            result => return result,
        };
        self.function_state.asserts.truncate(pending);
        self.function_state.prints.truncate(printed);
        let mut known = arguments.clone();
        let values = known.positional.iter_mut().map(|p| &mut p.0);
        for value in values.chain(known.named.iter_mut().map(|n| &mut n.1)) {
            if let Value::Tensor(t) = value
                && !matches!(t.ty, Type::Real)
            {
                match self.with_known_parameters(t.body) {
                    Ok(body) => t.body = body,
                    // Why the call failed says more than why its argument has no value.
                    Err(_) => return Err(message),
                }
            }
        }
        let unchanged = known
            .positional
            .iter()
            .zip(&arguments.positional)
            .all(|(a, b)| a.0 == b.0)
            && known
                .named
                .iter()
                .zip(&arguments.named)
                .all(|(a, b)| a.1 == b.1);
        if unchanged {
            return Err(message);
        }
        crate::function::call(self, env, function, known, span)
    }

    /// Lowers the arguments of a call in the order written.
    pub fn arguments(&mut self, env: &Env<'_>, call: &Call) -> Result<Arguments> {
        let mut out = Arguments::default();
        for a in &call.args {
            out.positional.push((self.expr(env, a)?, a.span));
        }
        for n in &call.named {
            out.named
                .push((n.name.name, self.expr(env, &n.value)?, n.value.span));
        }
        Ok(out)
    }

    /// `R(a, b, c = 1)`: fields by position and name, defaults from the declaration (MLS 3.6 §12.6).
    pub fn record_constructor(
        &mut self,
        class: InstId,
        arguments: Arguments,
        span: Span,
    ) -> Result<Value> {
        self.construct(class, arguments, super::Locals::default(), span)
    }

    /// The same for a record inside of another one, whose fields so far are `locals`.
    fn construct(
        &mut self,
        class: InstId,
        arguments: Arguments,
        mut locals: super::Locals,
        span: Span,
    ) -> Result<Value> {
        let components = self.instances.components(class);
        let mut positional = arguments.positional.into_iter();
        let mut named = arguments.named;
        let mut given = Vec::with_capacity(components.len());
        for &inst in &components {
            let name = self.instances.data(inst).name;
            let value = match named.iter().position(|n| n.0 == name) {
                Some(k) => Some((named[k].1.clone(), named.remove(k).2)),
                None => positional.next(),
            };
            if let Some((value, _)) = &value {
                locals.insert(inst, value.clone());
            }
            given.push((inst, value));
        }
        // Defaults and sizes of fields may refer to any other field, before or after it.
        in_dependency_order(given, |(inst, given)| {
            let value = match given {
                Some((value, at)) => self.field_value(*inst, value.clone(), *at, &locals)?,
                None => self.default_field(class, *inst, &locals, span)?,
            };
            locals.insert(*inst, value);
            Ok(())
        })?;
        let mut fields: Vec<(Name, Value)> = Vec::with_capacity(components.len());
        for inst in components {
            let name = self.instances.data(inst).name;
            fields.extend(locals.get(&inst).map(|value| (name, value.clone())));
        }
        if let Some((_, at)) = positional.next() {
            let record = self.instances.class_name(class);
            return Err(error(
                "argument-count",
                at,
                format!("{record} has only {} fields", fields.len()),
            ));
        }
        if let Some((name, _, at)) = named.first() {
            let record = self.instances.class_name(class);
            return Err(error(
                "unknown-field",
                *at,
                format!("{record} has no field `{name}`"),
            ));
        }
        let class = self.instances.data(class).class;
        Ok(Value::Record(Record {
            class,
            dims: Vec::new(),
            fields,
        }))
    }

    /// The value of a field that a record constructor is not given: its default, or a record of the defaults of its fields.
    fn default_field(
        &mut self,
        class: InstId,
        inst: InstId,
        locals: &super::Locals,
        span: Span,
    ) -> Result<Value> {
        if let Some(binding) = self.instances.binding(inst) {
            let env = Env::function(binding.scope, locals, false);
            return self.expr(&env, &binding.expr);
        }
        if self.instances.data(inst).rank == 0
            && matches!(self.instances.kind(inst), InstanceKind::Record { .. })
        {
            return self.construct(inst, Arguments::default(), locals.clone(), span);
        }
        let record = self.instances.class_name(class);
        let name = self.instances.data(inst).name;
        Err(error(
            "missing-argument",
            span,
            format!("`{name}` of {record} is not given and has no default"),
        ))
    }

    /// Checks a field of a record constructor.
    fn field_value(
        &mut self,
        inst: InstId,
        value: Value,
        span: Span,
        locals: &super::Locals,
    ) -> Result<Value> {
        let Some(ty) = self.primitive_type(inst) else {
            return Ok(value);
        };
        let t = self.as_tensor(value, span)?;
        let mut dims = Vec::new();
        let scope = acausal_instance::instance::Scope::of(
            self.instances.parent(inst).unwrap_or(InstId::GLOBAL),
        );
        let env = Env::function(scope, locals, true);
        for (d, n) in self.function_dims(&env, inst)?.into_iter().enumerate() {
            dims.push(n.or(t.dims.get(d).copied()).unwrap_or(0));
        }
        let name = self.instances.data(inst).name;
        Ok(Value::Tensor(self.expect(
            t,
            ty,
            &dims,
            span,
            &format!("field `{name}`"),
        )?))
    }

    pub(super) fn partial_application(
        &mut self,
        env: &Env<'_>,
        p: &PartialApplication,
    ) -> Result<Value> {
        match self.instances.find_path(env.scope, &p.function) {
            Found::Class(function) if self.instances.kind(function) == InstanceKind::Function => {
                let mut bound = Vec::new();
                for n in &p.named {
                    bound.push((n.name.name, self.expr(env, &n.value)?));
                }
                Ok(Value::Function(FunctionValue { function, bound }))
            }
            Found::NotFound(message) => Err(message.into()),
            _ => Err(error(
                "not-a-function",
                p.function.span,
                format!("`{}` is not a function", p.function),
            )),
        }
    }

    /// The argument at a position or with a name.
    pub(super) fn argument<'c>(
        &self,
        call: &'c Call,
        position: usize,
        name: &str,
    ) -> Option<&'c Expr> {
        call.args.get(position).or_else(|| {
            call.named
                .iter()
                .find(|n| n.name.as_str() == name)
                .map(|n| &n.value)
        })
    }
}

/// Does something with each item, where one may need what another one gives: those that fail are tried again after the others. Fails if
/// nothing is left that succeeds, with the first message.
pub fn in_dependency_order<T>(items: Vec<T>, mut act: impl FnMut(&T) -> Result<()>) -> Result<()> {
    let mut pending = items;
    while !pending.is_empty() {
        let before = pending.len();
        let mut first = None;
        pending.retain(|item| match act(item) {
            Ok(()) => false,
            Err(message) => {
                first.get_or_insert(message);
                true
            }
        });
        if pending.len() == before
            && let Some(message) = first
        {
            return Err(message);
        }
    }
    Ok(())
}
