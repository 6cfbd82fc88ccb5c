//! Array constructors, ranges, iterators and subscripts (MLS 3.6 §10.4, §10.5).

use acausal_expr::{ExprId, Node, Range};
use acausal_syntax::Span;
use acausal_syntax::ast::{Expr, ExprKind, ForIndex};

use super::{Context, Env, Record, Result, Subscript, Tensor, Type, Value, error};
use crate::instance::{Found, Kind, Primitive};

/// What an iterator runs over.
#[derive(Clone, Debug)]
pub enum Iteration {
    /// A range with constant bounds: the iterator itself takes these values.
    Range(Type, Range),
    /// Any vector: position `k` has the value of its `k`-th element.
    Vector(Tensor),
}

impl Iteration {
    /// Number of values.
    pub fn count(&self) -> usize {
        match self {
            Iteration::Range(_, r) => r.count.max(0) as usize,
            Iteration::Vector(v) => v.dims[0],
        }
    }
}

impl Context {
    /// `{a, b, c}`
    pub(super) fn array_constructor(
        &mut self,
        env: &Env<'_>,
        members: &[Expr],
        span: Span,
    ) -> Result<Value> {
        if members.is_empty() {
            return Err(error(
                "empty-array",
                span,
                "`{}` has no type: an array constructor needs at least one element",
            )
            .hint("write `fill(0.0, 0)` or `zeros(0)` for an empty array")
            .into());
        }
        let mut values = Vec::with_capacity(members.len());
        for m in members {
            values.push(self.expr(env, m)?);
        }
        if let Some(v) = Value::stack(&mut self.exprs, &values) {
            return Ok(v);
        }
        let first = self.describe(&values[0]);
        let k = values
            .iter()
            .position(|v| Value::stack(&mut self.exprs, &[values[0].clone(), v.clone()]).is_none());
        let k = k.unwrap_or(0);
        let other = self.describe(&values[k]);
        Err(error(
            "array-members",
            members[k].span,
            format!(
                "the elements of an array must be alike: this is {other}, the first is {first}"
            ),
        )
        .label(members[0].span, format!("this is {first}"))
        .into())
    }

    /// `{e for i in r, j in s}`: the last iterator becomes the first dimension (MLS 3.6 §10.4.1.1).
    pub(super) fn array_comprehension(
        &mut self,
        env: &Env<'_>,
        body: &Expr,
        indices: &[ForIndex],
    ) -> Result<Value> {
        let mut inner = env.clone();
        let mut counts = Vec::new();
        for index in indices.iter().rev() {
            let iteration = self.iteration(&inner, index, &[body])?;
            let n = iteration.count();
            let k = self.iterator(None, Range::upto(n));
            let value = self.iteration_value(&iteration, k);
            inner.loops.push((index.name.name, value));
            counts.push((k, n));
        }
        let mut value = self.expr(&inner, body)?;
        for &(k, n) in counts.iter().rev() {
            value = prepend(&value, k, n);
        }
        Ok(value)
    }

    /// The value of an iterator at position `k` (from 1).
    pub fn iteration_value(&mut self, iteration: &Iteration, k: acausal_expr::IterId) -> Value {
        let position = self.exprs.iter(k);
        match iteration {
            Iteration::Vector(v) => Value::scalar(v.ty, v.at(&mut self.exprs, &[position])),
            Iteration::Range(ty, r) => {
                let body = self.position_in(*r, position);
                Value::scalar(*ty, body)
            }
        }
    }

    /// `start + step*(position - 1)`
    pub fn position_in(&mut self, r: Range, position: ExprId) -> ExprId {
        let step = self.exprs.int(r.step);
        let scaled = self.exprs.mul(&[step, position]);
        let offset = self.exprs.int(r.start - r.step);
        self.exprs.add(&[scaled, offset])
    }

    /// `[a, b; c, d]` (MLS 3.6 §10.4.2.1): everything is promoted to the highest rank, at least 2.
    pub(super) fn matrix(&mut self, env: &Env<'_>, rows: &[Vec<Expr>]) -> Result<Value> {
        let mut lowered: Vec<Vec<(Tensor, Span)>> = Vec::new();
        for row in rows {
            let mut cells = Vec::new();
            for e in row {
                cells.push((self.tensor(env, e)?, e.span));
            }
            lowered.push(cells);
        }
        let rank = lowered
            .iter()
            .flatten()
            .map(|(t, _)| t.rank())
            .max()
            .unwrap_or(0)
            .max(2);
        let mut bands = Vec::new();
        for cells in lowered {
            let mut promoted = Vec::new();
            let mut span: Option<Span> = None;
            for (t, s) in cells {
                span = Some(span.map_or(s, |o| o.to(s)));
                promoted.push((t.promote(&mut self.exprs, rank), s));
            }
            bands.push((self.concatenate(1, promoted)?, span.unwrap_or(Span::NONE)));
        }
        Ok(Value::Tensor(self.concatenate(0, bands)?))
    }

    /// Concatenation along a dimension (from 0) with size and type checks.
    pub(super) fn concatenate(&mut self, d: usize, parts: Vec<(Tensor, Span)>) -> Result<Tensor> {
        let (first, first_span) = (parts[0].0.clone(), parts[0].1);
        let mut ty = first.ty;
        for (t, span) in &parts {
            let fits = t.rank() == first.rank()
                && (0..t.rank()).all(|k| k == d || t.dims[k] == first.dims[k]);
            match ty.join(t.ty) {
                Some(joined) if fits => ty = joined,
                _ => {
                    let (a, b) = (
                        self.describe(&Value::Tensor(first)),
                        self.describe(&Value::Tensor(t.clone())),
                    );
                    return Err(error(
                        "array-members",
                        *span,
                        format!("{b} cannot be put beside {a}"),
                    )
                    .label(first_span, format!("this is {a}"))
                    .into());
                }
            }
        }
        let tensors: Vec<Tensor> = parts.into_iter().map(|p| p.0).collect();
        Ok(Tensor::cat(&mut self.exprs, ty, d, &tensors))
    }

    /// `start : step : stop` as a vector.
    pub(super) fn range_expr(
        &mut self,
        env: &Env<'_>,
        start: &Expr,
        step: Option<&Expr>,
        stop: &Expr,
    ) -> Result<Tensor> {
        let span = start.span.to(stop.span);
        let first = self.tensor(env, start)?;
        let last = self.tensor(env, stop)?;
        let ty = match first.ty.join(last.ty) {
            Some(ty) if first.is_scalar() && last.is_scalar() && ty != Type::String => ty,
            _ => {
                let (a, b) = (
                    self.describe(&Value::Tensor(first)),
                    self.describe(&Value::Tensor(last)),
                );
                return Err(error(
                    "type-mismatch",
                    span,
                    format!("a range cannot go from {a} to {b}"),
                ));
            }
        };
        let (mut increment, ty) = match step {
            None => (self.exprs.int(1), ty),
            Some(s) => {
                let t = self.tensor(env, s)?;
                let real = if t.ty == Type::Real { Type::Real } else { ty };
                (self.expect_scalar(&t, real, s.span)?, real)
            }
        };
        if ty == Type::Boolean {
            // Booleans run from false (1) to true (2); only `false:true` and the like occur.
            let index = |x: &mut acausal_expr::Exprs, e| {
                let (one, two) = (x.int(1), x.int(2));
                x.if_(e, two, one)
            };
            let (a, b) = (
                index(&mut self.exprs, first.body),
                index(&mut self.exprs, last.body),
            );
            let n = self.exprs.sub(b, a);
            let n = self.constant_int(env, n, span, "the length of a range")?;
            let start = self.constant_int(env, a, span, "the start of a range")?;
            let members: Vec<ExprId> = (0..=n).map(|k| self.exprs.bool(start + k == 2)).collect();
            return Ok(Tensor::from_elements(
                &mut self.exprs,
                ty,
                &[members.len()],
                &members,
            ));
        }
        increment = self.constant(env, increment, span, "the increment of a range")?;
        let difference = self.exprs.sub(last.body, first.body);
        let difference = self.constant(env, difference, span, "the length of a range")?;
        let (length, by) = match (self.exprs.as_f64(difference), self.exprs.as_f64(increment)) {
            (Some(length), Some(by)) if by != 0.0 => (length, by),
            _ => {
                return Err(error(
                    "range-step",
                    span,
                    "the increment of a range must not be zero",
                ));
            }
        };
        // MLS 3.6 §10.4.3: floor((stop - start)/step) + 1 values; the tolerance keeps 0:0.1:1 at eleven.
        let count = if ty == Type::Real {
            (length / by * (1.0 + 4.0 * f64::EPSILON)).floor()
        } else {
            (length / by).floor()
        };
        let n = (count + 1.0).max(0.0) as usize;
        Ok(Tensor::build(&mut self.exprs, ty, &[n], |x, s| {
            let one = x.int(1);
            let k = x.sub(s[0], one);
            let shift = x.mul(&[increment, k]);
            x.add(&[first.body, shift])
        }))
    }

    /// What an iterator runs over. Without a range it follows from its use as a subscript in `bodies` (MLS 3.6 §11.2.2.1).
    pub fn iteration(
        &mut self,
        env: &Env<'_>,
        index: &ForIndex,
        bodies: &[&Expr],
    ) -> Result<Iteration> {
        let Some(range) = &index.range else {
            for body in bodies {
                if let Some(n) = self.implied_size(env, index.name.name, body)? {
                    return Ok(Iteration::Range(Type::Integer, Range::upto(n)));
                }
            }
            return Err(error(
                "iterator-range",
                index.span,
                format!("the range of `{}` does not follow from its use", index.name),
            )
            .hint(format!("write `{} in 1:n`", index.name))
            .into());
        };
        if let ExprKind::Ref(r) = &range.kind
            && let Some(iteration) = self.type_iteration(env, r)?
        {
            return Ok(iteration);
        }
        let vector = self.tensor(env, range)?;
        if vector.rank() != 1 {
            let found = self.describe(&Value::Tensor(vector));
            return Err(error(
                "iterator-range",
                range.span,
                format!("an iterator runs over a vector, not over {found}"),
            )
            .hint("write `1:n` for the numbers up to n")
            .into());
        }
        Ok(self.regular(vector))
    }

    /// A vector of constant integers with equal steps is a range.
    fn regular(&mut self, vector: Tensor) -> Iteration {
        let n = vector.dims[0];
        if vector.ty == Type::Real || vector.ty == Type::String || vector.ty == Type::Boolean {
            return Iteration::Vector(vector);
        }
        if n == 0 {
            return Iteration::Range(
                vector.ty,
                Range {
                    start: 1,
                    step: 1,
                    count: 0,
                },
            );
        }
        if let Some(affine) = self.exprs.affine(vector.body) {
            let own = affine.coefficient(vector.iters[0]);
            if affine.terms.iter().all(|t| t.0 == vector.iters[0]) && own != 0 {
                return Iteration::Range(
                    vector.ty,
                    Range {
                        start: affine.constant + own,
                        step: own,
                        count: n as i64,
                    },
                );
            }
        }
        if let Some(v) = self.exprs.as_int(vector.body) {
            if n == 1 {
                return Iteration::Range(
                    vector.ty,
                    Range {
                        start: v,
                        step: 1,
                        count: 1,
                    },
                );
            }
        } else if let Node::Select(_, l) = self.exprs.node(vector.body) {
            let values: Option<Vec<i64>> = self
                .exprs
                .list(l)
                .iter()
                .map(|&m| self.exprs.as_int(m))
                .collect();
            if let Some(v) = values.filter(|v| v.len() == n && n > 1)
                && v[1] != v[0]
                && v.windows(2).all(|w| w[1] - w[0] == v[1] - v[0])
            {
                return Iteration::Range(
                    vector.ty,
                    Range {
                        start: v[0],
                        step: v[1] - v[0],
                        count: n as i64,
                    },
                );
            }
        }
        Iteration::Vector(vector)
    }

    /// `for e in EnumType` and `for b in Boolean`.
    fn type_iteration(
        &mut self,
        env: &Env<'_>,
        r: &acausal_syntax::ast::ComponentRef,
    ) -> Result<Option<Iteration>> {
        if r.parts.iter().any(|p| !p.subscripts.is_empty())
            || env.loops.iter().any(|l| l.0 == r.parts[0].name.name)
        {
            return Ok(None);
        }
        let path = acausal_syntax::ast::Path {
            global: r.global,
            parts: r.parts.iter().map(|p| p.name.clone()).collect(),
            span: r.span,
        };
        let Found::Class(class) = self.instances.find_path(env.scope, &path) else {
            return Ok(None);
        };
        match self.instances.kind(class) {
            Kind::Primitive(Primitive::Enum(id)) => {
                let n = self.instances.enum_type(id).literals.len();
                Ok(Some(Iteration::Range(Type::Enum(id), Range::upto(n))))
            }
            Kind::Primitive(Primitive::Boolean) => {
                let members = [self.exprs.bool(false), self.exprs.bool(true)];
                Ok(Some(Iteration::Vector(Tensor::from_elements(
                    &mut self.exprs,
                    Type::Boolean,
                    &[2],
                    &members,
                ))))
            }
            _ => Ok(None),
        }
    }

    /// Lowers subscripts of an array with the given sizes. `what` names the array in messages.
    pub fn subscripts(
        &mut self,
        env: &Env<'_>,
        dims: &[usize],
        subs: &[Expr],
        span: Span,
        what: &str,
    ) -> Result<Vec<Subscript>> {
        if subs.len() > dims.len() {
            let rank = match dims.len() {
                0 => "is a scalar".to_string(),
                1 => "has one dimension".to_string(),
                n => format!("has {n} dimensions"),
            };
            return Err(error(
                "too-many-subscripts",
                span,
                match subs.len() {
                    1 => format!("{what} {rank}, but a subscript is given"),
                    n => format!("{what} {rank}, but {n} subscripts are given"),
                },
            ));
        }
        let mut out = Vec::with_capacity(subs.len());
        for (e, &n) in subs.iter().zip(dims) {
            if matches!(e.kind, ExprKind::Colon) {
                out.push(Subscript::All);
                continue;
            }
            let mut inner = env.clone();
            let end = self.exprs.int(n as i64);
            inner.ends.push(end);
            let t = self.tensor(&inner, e)?;
            out.push(self.subscript(&inner, t, n, e.span, what)?);
        }
        Ok(out)
    }

    fn subscript(
        &mut self,
        env: &Env<'_>,
        t: Tensor,
        n: usize,
        span: Span,
        what: &str,
    ) -> Result<Subscript> {
        let t = match t.ty {
            Type::Integer | Type::Enum(_) => t,
            Type::Boolean => t.map(&mut self.exprs, Type::Integer, |x, e| {
                let (one, two) = (x.int(1), x.int(2));
                x.if_(e, two, one)
            }),
            _ => {
                let found = self.describe(&Value::Tensor(t));
                return Err(error(
                    "subscript-type",
                    span,
                    format!("a subscript must be an Integer, not {found}"),
                ));
            }
        };
        match t.rank() {
            0 => {
                let body = self.regular_index(env, t.body);
                if let Some((low, high)) = self.bounds(body) {
                    self.check_bounds(low, high, n, span, what)?;
                }
                Ok(Subscript::Element(body))
            }
            1 => {
                let body = self.regular_index(env, t.body);
                let t = Tensor { body, ..t };
                if t.dims[0] > 0 {
                    for k in [1, t.dims[0] as i64] {
                        let e = t.element(&mut self.exprs, &[k]);
                        if let Some((low, high)) = self.bounds(e) {
                            self.check_bounds(low, high, n, span, what)?;
                        }
                    }
                }
                Ok(Subscript::Vector(t))
            }
            _ => {
                let found = self.describe(&Value::Tensor(t));
                Err(error(
                    "subscript-type",
                    span,
                    format!("a subscript is a scalar or a vector, not {found}"),
                ))
            }
        }
    }

    /// Parameters in subscripts decide the structure, so they are replaced by their values.
    fn regular_index(&mut self, env: &Env<'_>, e: ExprId) -> ExprId {
        if self.exprs.affine(e).is_some() || env.evaluate {
            return e;
        }
        match self.with_known_parameters(e) {
            Ok(known) => known,
            Err(_) => e,
        }
    }

    /// Smallest and largest value of an affine expression of iterators with known ranges.
    pub fn bounds(&self, e: ExprId) -> Option<(i64, i64)> {
        let affine = self.exprs.affine(e)?;
        let (mut low, mut high) = (affine.constant, affine.constant);
        for &(iter, c) in &affine.terms {
            let r = self.ranges.get(&iter)?;
            if r.count <= 0 {
                return None;
            }
            let (a, b) = (c * r.start, c * r.last());
            low += a.min(b);
            high += a.max(b);
        }
        Some((low, high))
    }

    fn check_bounds(
        &mut self,
        low: i64,
        high: i64,
        n: usize,
        span: Span,
        what: &str,
    ) -> Result<()> {
        if low >= 1 && high <= n as i64 {
            return Ok(());
        }
        let value = if low < 1 { low } else { high };
        let label = if low == high {
            format!("this is {value}")
        } else {
            format!("this reaches {value}")
        };
        Err(error(
            "subscript-bounds",
            span,
            format!("subscript {value} is outside of 1:{n}, the size of this dimension of {what}"),
        )
        .label(span, label)
        .into())
    }

    /// The size of the dimension that `name` subscripts somewhere in an expression.
    fn implied_size(
        &mut self,
        env: &Env<'_>,
        name: acausal_syntax::Name,
        body: &Expr,
    ) -> Result<Option<usize>> {
        let mut stack = vec![body];
        while let Some(e) = stack.pop() {
            if let ExprKind::Ref(r) = &e.kind {
                for (p, part) in r.parts.iter().enumerate() {
                    let used = part.subscripts.iter().position(|s| {
                        s.as_component_ref()
                            .and_then(|c| c.as_ident())
                            .is_some_and(|i| i.name == name)
                    });
                    if let Some(d) = used {
                        // The array without its subscripts, up to the part that is subscripted.
                        let mut prefix = r.clone();
                        prefix.parts.truncate(p + 1);
                        let rank = prefix.parts[p].subscripts.len();
                        for q in &mut prefix.parts {
                            q.subscripts.clear();
                        }
                        let value = self.reference_dims(env, &prefix)?;
                        if value.len() >= rank {
                            return Ok(Some(value[value.len() - rank + d]));
                        }
                    }
                }
            }
            children(e, &mut stack);
        }
        Ok(None)
    }
}

/// A value that depends on `k` in `1:n` with that dimension in front.
pub fn prepend(value: &Value, k: acausal_expr::IterId, n: usize) -> Value {
    match value {
        Value::Tensor(t) => {
            let mut t = t.clone();
            t.dims.insert(0, n);
            t.iters.insert(0, k);
            Value::Tensor(t)
        }
        Value::Record(r) => {
            let mut dims = r.dims.clone();
            dims.insert(0, n);
            let fields = r
                .fields
                .iter()
                .map(|(name, v)| (*name, prepend(v, k, n)))
                .collect();
            Value::Record(Record {
                class: r.class,
                dims,
                fields,
            })
        }
        Value::Tuple(vs) => Value::Tuple(vs.iter().map(|v| prepend(v, k, n)).collect()),
        Value::Function(f) => Value::Function(f.clone()),
    }
}

/// Pushes the direct subexpressions.
pub fn children<'e>(e: &'e Expr, out: &mut Vec<&'e Expr>) {
    match &e.kind {
        ExprKind::Ref(r) => out.extend(r.parts.iter().flat_map(|p| &p.subscripts)),
        ExprKind::Chain(first, rest) => {
            out.push(first);
            out.extend(rest.iter().map(|r| &r.1));
        }
        ExprKind::Binary(_, a, b) => out.extend([&**a, &**b]),
        ExprKind::Unary(_, a) => out.push(a),
        ExprKind::If {
            branches,
            otherwise,
        } => {
            out.extend(branches.iter().flat_map(|(c, v)| [c, v]));
            out.push(otherwise);
        }
        ExprKind::Call(call) => {
            out.extend(&call.args);
            out.extend(call.named.iter().map(|n| &n.value));
            out.extend(call.indices.iter().filter_map(|i| i.range.as_ref()));
        }
        ExprKind::PartialApplication(p) => out.extend(p.named.iter().map(|n| &n.value)),
        ExprKind::Array(members) => out.extend(members),
        ExprKind::ArrayFor { body, indices } => {
            out.push(body);
            out.extend(indices.iter().filter_map(|i| i.range.as_ref()));
        }
        ExprKind::Matrix(rows) => out.extend(rows.iter().flatten()),
        ExprKind::Range { start, step, stop } => {
            out.extend([&**start, &**stop]);
            out.extend(step.as_deref());
        }
        ExprKind::Tuple(members) => out.extend(members.iter().flatten()),
        ExprKind::Index(a, subs) => {
            out.push(a);
            out.extend(subs);
        }
        ExprKind::Field(a, _) => out.push(a),
        ExprKind::Real(_)
        | ExprKind::Integer(_)
        | ExprKind::Str(_)
        | ExprKind::Bool(_)
        | ExprKind::End
        | ExprKind::Colon
        | ExprKind::Error => {}
    }
}
