//! What is known before simulation: sizes of components, values of constants and structural parameters, bindings.
//!
//! Values are kept per component over *all* its dimensions, those of enclosing arrays of components in front. They are
//! computed on demand by lowering the binding with [`Env::evaluate`]; a dependency that comes back to itself is an error that
//! names the cycle.

use std::sync::Arc;

use acausal_base::{Diagnostic, Span};
use acausal_expr::{ExprId, IterId, Node, Range};
use acausal_symbolic::Substitute;
use acausal_syntax::ast::{ExprKind, VariabilityPrefix};
use rustc_hash::FxHashMap;

use super::component::names_below;
use super::{Context, Env, Error, Result, Tensor, Value, error};
use acausal_instance::instance::{InstId, Role, Scope};

/// A lowered binding, with the iterators over the elements of the arrays of components that it is written inside of.
pub(super) type Spanned = (Value, Vec<(InstId, IterId)>);

/// Memory of what has been computed.
#[derive(Debug, Default)]
pub(super) struct Known {
    dims: FxHashMap<InstId, Vec<usize>>,
    /// Dimensions that are subscripted by an enumeration or Boolean.
    index_types: FxHashMap<(InstId, usize), super::Type>,
    /// Constants whose binding is being evaluated: it cannot use parameters.
    constants: u32,
    values: FxHashMap<InstId, Tensor>,
    /// Lowered bindings of records, by component and [`Env::evaluate`]: many fields take theirs from one, which is
    /// shared and not copied, or a record would cost the square of its size.
    pub(super) records: FxHashMap<(InstId, bool), Arc<Spanned>>,
    /// Components whose value (or size: true) is being computed, outermost first.
    pending: Vec<(InstId, bool)>,
}

/// Nesting of values that depend on each other, far above what a model needs and far below the stack.
const MAX_DEPENDENCIES: usize = 400;

/// An environment with the iterators that it introduces for enclosing arrays of components.
#[derive(Clone, Debug)]
pub struct FramedEnv<'a> {
    /// The environment.
    pub env: Env<'a>,
    /// Iterators over the elements of the enclosing arrays, outermost first.
    pub domain: Vec<(IterId, Range)>,
}

impl FramedEnv<'_> {
    /// The iterators, each with the array over whose elements it runs.
    pub fn iterators(&self) -> Vec<(InstId, IterId)> {
        let arrays = self.env.arrays.iter();
        let arrays = arrays.flat_map(|(array, subs)| subs.iter().map(|_| *array));
        arrays
            .zip(&self.domain)
            .map(|(array, d)| (array, d.0))
            .collect()
    }
}

impl Context {
    /// The environment of text written in a scope: inside of arrays of components it stands for every element.
    pub fn frame(&mut self, scope: Scope) -> Result<FramedEnv<'static>> {
        let mut framed = FramedEnv {
            env: Env::new(scope),
            domain: Vec::new(),
        };
        let mut arrays = self.enclosing_arrays(scope.inst);
        let data = self.instances.data(scope.inst);
        if data.role == Role::Component && data.rank > 0 {
            arrays.push(scope.inst);
        }
        for array in arrays {
            let mut subs = Vec::new();
            for n in self.dims(array)? {
                let k = self.iterator(None, Range::upto(n));
                framed.domain.push((k, Range::upto(n)));
                subs.push(self.exprs.iter(k));
            }
            framed.env.arrays.push((array, subs));
        }
        Ok(framed)
    }

    /// Sizes of a component itself (without those of enclosing arrays).
    pub fn dims(&mut self, inst: InstId) -> Result<Vec<usize>> {
        if self.instances.data(inst).rank == 0 {
            return Ok(Vec::new());
        }
        if let Some(dims) = self.known.dims.get(&inst) {
            return Ok(dims.clone());
        }
        self.enter(inst, true)?;
        let constants = std::mem::take(&mut self.known.constants);
        let dims = self.compute_dims(inst);
        self.known.constants = constants;
        self.known.pending.pop();
        let dims = dims?;
        self.known.dims.insert(inst, dims.clone());
        Ok(dims)
    }

    /// Sizes of a variable of a function that is being executed; `:` counts as unknown.
    pub fn function_dims(&mut self, env: &Env<'_>, inst: InstId) -> Result<Vec<Option<usize>>> {
        let mut out = Vec::new();
        for dim in self.instances.dims(inst) {
            if matches!(dim.expr.kind, ExprKind::Colon) {
                out.push(None);
            } else {
                let env = Env {
                    scope: dim.scope,
                    ..env.clone()
                };
                out.push(Some(self.size_of(&env, &dim.expr, &[])?));
            }
        }
        Ok(out)
    }

    fn compute_dims(&mut self, inst: InstId) -> Result<Vec<usize>> {
        let dims = self.instances.dims(inst);
        let mut from_binding: Option<Vec<usize>> = None;
        let mut out = Vec::with_capacity(dims.len());
        for (d, dim) in dims.iter().enumerate() {
            if matches!(dim.expr.kind, ExprKind::Colon) {
                if from_binding.is_none() {
                    from_binding = Some(self.dims_of_binding(inst, dims.len(), dim.expr.span)?);
                }
                out.push(from_binding.as_ref().map_or(0, |b| b[d]));
                continue;
            }
            let framed = self.frame(dim.scope)?;
            let env = framed.env.evaluating();
            if let Some(iteration) = self.class_iteration(&env, &dim.expr)? {
                let ty = match &iteration {
                    super::IterationRange::Range(ty, _) => *ty,
                    super::IterationRange::Vector(v) => v.ty,
                };
                self.known.index_types.insert((inst, d), ty);
                out.push(iteration.count());
                continue;
            }
            out.push(self.size_of(&env, &dim.expr, &framed.domain)?);
        }
        Ok(out)
    }

    /// Sizes that `:` takes from the binding.
    fn dims_of_binding(&mut self, inst: InstId, rank: usize, span: Span) -> Result<Vec<usize>> {
        let Some((holder, binding)) = self.instances.binding_in_records(inst) else {
            let name = self.instances.display_name(inst);
            return Err(error(
                "unknown-size",
                span,
                format!("the size of `{name}` does not follow from a binding"),
            )
            .hint("give the size, or a value with `=`"));
        };
        // Only the shape matters, so variables may occur.
        let framed = self.frame(binding.scope)?;
        let value = self.shape_value(&framed.env, &binding.expr)?;
        let names = names_below(&self.instances, inst, holder);
        let field = names.iter().try_fold(&value, |v, n| v.field(*n));
        match field.map(|v| v.dims()) {
            Some(dims) if dims.len() >= rank => Ok(dims[dims.len() - rank..].to_vec()),
            _ => {
                let name = self.instances.display_name(inst);
                let found = self.describe(&value);
                Err(error(
                    "size-mismatch",
                    binding.span,
                    format!("`{name}` has {rank} dimensions, but this is {found}"),
                ))
            }
        }
    }

    /// An expression of which only type and sizes matter.
    pub(super) fn shape_value(
        &mut self,
        env: &Env<'_>,
        e: &acausal_syntax::ast::Expr,
    ) -> Result<Value> {
        self.for_shape(env, &mut |this, env| this.expr(env, e))
    }

    /// What `lower` gives where only type and sizes matter: nothing is evaluated, so nothing in it can fail or be asserted, and the body of
    /// the result has no meaning.
    pub fn for_shape(
        &mut self,
        env: &Env<'_>,
        lower: &mut dyn FnMut(&mut Context, &Env<'_>) -> Result<Value>,
    ) -> Result<Value> {
        let (asserts, warnings) = (self.function_state.asserts.len(), self.warnings.len());
        self.function_state.conditional += 1;
        let value = lower(self, &env.for_shape());
        self.function_state.conditional -= 1;
        self.function_state.asserts.truncate(asserts);
        self.warnings.truncate(warnings);
        value
    }

    /// A size: a natural number, or the number of values of a type.
    fn size_of(
        &mut self,
        env: &Env<'_>,
        e: &acausal_syntax::ast::Expr,
        domain: &[(IterId, Range)],
    ) -> Result<usize> {
        if let Some(iteration) = self.class_iteration(env, e)? {
            return Ok(iteration.count());
        }
        let t = self.tensor(env, e)?;
        let body = self.expect_scalar(&t, super::Type::Integer, e.span)?;
        let body = self
            .constant(env, body, e.span, "a size")
            .or_else(|m| self.uniform(body, domain).ok_or(m))?;
        match self.exprs.as_int(body) {
            Some(n) if n >= 0 => Ok(n as usize),
            Some(n) => Err(error(
                "negative-size",
                e.span,
                format!("a size cannot be negative, but this is {n}"),
            )),
            None => Err(Error::not_constant(
                e.span,
                "a size must be a constant or parameter expression",
            )),
        }
    }

    /// The type that subscripts a dimension: Integer unless the size was given by a type.
    pub fn index_type(&self, inst: InstId, d: usize) -> super::Type {
        let known = self.known.index_types.get(&(inst, d));
        known.copied().unwrap_or(super::Type::Integer)
    }

    /// The one value that an expression has for all elements of a domain, if it is one and the domain is not too long.
    pub fn uniform(&mut self, e: ExprId, domain: &[(IterId, Range)]) -> Option<ExprId> {
        const LONGEST: i64 = 100_000;
        if domain.iter().map(|d| d.1.count).product::<i64>() > LONGEST {
            return None;
        }
        let mut values = vec![e];
        for (iter, range) in domain {
            let mut next = Vec::new();
            for v in values {
                if !self.exprs.depends_on_iter(v, *iter) {
                    next.push(v);
                    continue;
                }
                for k in range.values() {
                    let k = self.exprs.int(k);
                    next.push(self.exprs.substitute_iter(v, *iter, k));
                }
            }
            next.dedup();
            values = next;
        }
        match values.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    fn enter(&mut self, inst: InstId, size: bool) -> Result<()> {
        if let Some(k) = self.known.pending.iter().position(|&p| p == (inst, size)) {
            let mut cycle: Vec<String> = self.known.pending[k..]
                .iter()
                .map(|&(p, _)| format!("`{}`", self.instances.display_name(p)))
                .collect();
            cycle.push(format!("`{}`", self.instances.display_name(inst)));
            cycle.dedup();
            let span = self.instances.data(inst).span;
            return Err(error(
                "cyclic-value",
                span,
                format!(
                    "the {} of {} depends on itself",
                    if size { "size" } else { "value" },
                    cycle[0]
                ),
            )
            .note(format!("the dependency is {}", cycle.join(" -> "))));
        }
        if self.known.pending.len() > MAX_DEPENDENCIES {
            let span = self.instances.data(inst).span;
            return Err(error(
                "too-deep",
                span,
                format!("more than {MAX_DEPENDENCIES} values depend on each other in a row"),
            ));
        }
        self.known.pending.push((inst, size));
        Ok(())
    }

    /// The value of a constant or parameter of predefined type, over all its dimensions. Parameters become structural.
    pub fn value(&mut self, inst: InstId, span: Span) -> Result<Tensor> {
        let data = self.instances.data(inst);
        let constant = data.prefixes.variability == Some(VariabilityPrefix::Constant);
        if !constant && self.known.constants > 0 {
            let name = self.instances.display_name(inst);
            return Err(Error::not_constant(
                span,
                format!("`{name}` is a parameter, but a constant is needed here"),
            ));
        }
        if let Some(t) = self.known.values.get(&inst) {
            return Ok(t.clone());
        }
        self.enter(inst, false)?;
        self.known.constants += u32::from(constant);
        let value = self.compute_value(inst, span);
        self.known.constants -= u32::from(constant);
        self.known.pending.pop();
        let value = value?;
        self.known.values.insert(inst, value.clone());
        self.structural.insert(inst);
        Ok(value)
    }

    fn compute_value(&mut self, inst: InstId, span: Span) -> Result<Tensor> {
        if let Some((holder, binding)) = self.instances.binding_in_records(inst) {
            return self.bound(inst, holder, &binding, true);
        }
        let name = self.instances.display_name(inst);
        let at = self.instances.data(inst).span;
        if let Some(start) = self.instances.attribute(inst, "start") {
            let value = self.attribute_value(inst, &start, None, true)?;
            self.warnings.push(Diagnostic::warning(
                "parameter-without-value",
                at,
                format!("`{name}` has no value; its start value is used"),
            ));
            return Ok(value);
        }
        Err(error(
            "parameter-without-value",
            span,
            format!("the value of `{name}` is needed here, but it has none"),
        )
        .label(at, "declared here")
        .hint(format!("give it a value: `{name} = ...`")))
    }

    /// Replaces accesses to parameters and constants by their values; these parameters become structural.
    pub fn with_known_parameters(&mut self, e: ExprId) -> Result<ExprId> {
        let mut e = e;
        loop {
            let mut values: FxHashMap<acausal_expr::VarId, Tensor> = FxHashMap::default();
            for (_, access) in self.exprs.accesses(e) {
                let Some(&inst) = self.var_insts.get(access.var.index()) else {
                    continue;
                };
                let data = self.instances.data(inst);
                if data
                    .prefixes
                    .variability
                    .is_some_and(|v| v <= VariabilityPrefix::Parameter)
                {
                    let span = data.span;
                    values.insert(access.var, self.value(inst, span)?);
                }
            }
            if values.is_empty() {
                return Ok(e);
            }
            // An access inside of a subscript is replaced in the next round: values contain no accesses themselves.
            e = self.exprs.rewrite(e, |x, node| match x.node(node) {
                Node::Var(access) => {
                    let t = values.get(&access.var)?;
                    let subs = x.list(access.subs).to_vec();
                    Some(t.at(x, &subs))
                }
                _ => None,
            });
        }
    }

    /// A literal, or the value of a parameter expression. `what` begins the message: "the length of a range".
    pub fn constant(
        &mut self,
        _env: &Env<'_>,
        e: ExprId,
        span: Span,
        what: &str,
    ) -> Result<ExprId> {
        let literal = |x: &acausal_expr::Exprs, e| {
            matches!(
                x.node(e),
                Node::Int(_) | Node::Real(_) | Node::Bool(_) | Node::Str(_)
            )
        };
        if literal(&self.exprs, e) {
            return Ok(e);
        }
        // Also when evaluating: the arguments of a function that is being executed may be accesses.
        let value = self.with_known_parameters(e)?;
        if literal(&self.exprs, value) {
            return Ok(value);
        }
        // What remains is to be named: a variable, an iterator, time.
        let mut message = Error::not_constant(
            span,
            format!("{what} must be a constant or parameter expression"),
        );
        for n in self.exprs.reachable(&[value]) {
            let name = match self.exprs.node(n) {
                Node::Var(a) => self
                    .var_insts
                    .get(a.var.index())
                    .map(|&i| self.instances.display_name(i)),
                Node::Iter(i) => Some(self.exprs.iter_name(i).to_string()),
                Node::Time => Some("time".to_string()),
                _ => None,
            };
            if let Some(name) = name {
                message = message.note(format!("it depends on `{name}`"));
                break;
            }
        }
        Err(message)
    }

    /// An Integer literal, or the value of an Integer parameter expression.
    pub fn constant_int(
        &mut self,
        env: &Env<'_>,
        e: ExprId,
        span: Span,
        what: &str,
    ) -> Result<i64> {
        let value = self.constant(env, e, span, what)?;
        self.exprs
            .as_int(value)
            .ok_or_else(|| error("type-mismatch", span, format!("{what} must be an Integer")))
    }

    /// The value of a condition if it is a literal or depends on structural parameters only.
    pub fn decided(&mut self, env: &Env<'_>, c: ExprId) -> Option<bool> {
        if let Some(b) = self.exprs.as_bool(c) {
            return Some(b);
        }
        if env.evaluate {
            return None;
        }
        let mut any = false;
        for n in self.exprs.reachable(&[c]) {
            match self.exprs.node(n) {
                Node::Var(a) => {
                    any = true;
                    if !self
                        .var_insts
                        .get(a.var.index())
                        .is_some_and(|i| self.structural.contains(i))
                    {
                        return None;
                    }
                }
                Node::Iter(_) | Node::Time | Node::Call(..) | Node::Apply { .. } => return None,
                _ => {}
            }
        }
        if !any {
            return None;
        }
        let value = self.with_known_parameters(c).ok()?;
        self.exprs.as_bool(value)
    }
}
