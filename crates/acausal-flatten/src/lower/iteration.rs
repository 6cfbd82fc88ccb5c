//! What iterators of `for`, comprehensions and reductions run over (MLS 3.6 §11.2.2).

use acausal_expr::{ExprId, Node, Range};
use acausal_syntax::ast::{ComponentRef, Expr, ExprKind, ForIndex, Statement, StatementKind};

use super::{Context, Env, Result, Tensor, Type, Value, error};
use acausal_instance::instance::{Found, InstanceKind, Primitive};

/// What an iterator runs over.
#[derive(Clone, Debug)]
pub enum IterationRange {
    /// A range with constant bounds: the iterator itself takes these values.
    Range(Type, Range),
    /// Any vector: position `k` has the value of its `k`-th element.
    Vector(Tensor),
}

impl IterationRange {
    /// Number of values.
    pub fn count(&self) -> usize {
        match self {
            IterationRange::Range(_, r) => r.count.max(0) as usize,
            IterationRange::Vector(v) => v.dims[0],
        }
    }
}

impl Context {
    /// What an iterator runs over. Without a range it follows from its use as a subscript in `bodies` (MLS 3.6 §11.2.2.1).
    pub fn iteration(
        &mut self,
        env: &Env<'_>,
        index: &ForIndex,
        bodies: &[&Expr],
    ) -> Result<IterationRange> {
        let Some(range) = &index.range else {
            for body in bodies {
                if let Some(iteration) = self.implied(env, index.name.name, body)? {
                    return Ok(iteration);
                }
            }
            return Err(error(
                "iterator-range",
                index.span,
                format!("the range of `{}` does not follow from its use", index.name),
            )
            .hint(format!("write `{} in 1:n`", index.name)));
        };
        if let Some(iteration) = self.class_iteration(env, range)? {
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
            .hint("write `1:n` for the numbers up to n"));
        }
        if let (ExprKind::Range { .. }, Type::Integer) = (&range.kind, vector.ty) {
            // `n:-1:1` begins at a parameter, which has a value here.
            let ends = [1, 2].map(|p| vector.element(&mut self.exprs, &[p]));
            let what = "the start of a range";
            let values = ends.map(|e| self.constant_int(env, e, range.span, what).ok());
            if let [Some(start), Some(next)] = values {
                return Ok(IterationRange::Range(
                    vector.ty,
                    Range {
                        start,
                        step: next - start,
                        count: vector.dims[0] as i64,
                    },
                ));
            }
        }
        Ok(self.regular(vector))
    }

    /// The value of an iterator at position `k` (from 1).
    pub fn iteration_value(
        &mut self,
        iteration: &IterationRange,
        k: acausal_expr::IterId,
    ) -> Value {
        let position = self.exprs.iter(k);
        match iteration {
            IterationRange::Vector(v) => Value::scalar(v.ty, v.at(&mut self.exprs, &[position])),
            IterationRange::Range(ty, r) => {
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

    /// A vector of constant integers with equal steps is a range.
    fn regular(&mut self, vector: Tensor) -> IterationRange {
        let n = vector.dims[0];
        if vector.ty == Type::Real || vector.ty == Type::String || vector.ty == Type::Boolean {
            return IterationRange::Vector(vector);
        }
        if n == 0 {
            return IterationRange::Range(
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
                return IterationRange::Range(
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
                return IterationRange::Range(
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
                return IterationRange::Range(
                    vector.ty,
                    Range {
                        start: v[0],
                        step: v[1] - v[0],
                        count: n as i64,
                    },
                );
            }
        }
        IterationRange::Vector(vector)
    }

    /// All values of a type: `for e in EnumType`, `for b in Boolean`, `Real x[EnumType]`. `None` if it is not the name of one.
    pub(super) fn class_iteration(
        &mut self,
        env: &Env<'_>,
        e: &Expr,
    ) -> Result<Option<IterationRange>> {
        let ExprKind::Ref(r) = &e.kind else {
            return Ok(None);
        };
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
        Ok(match self.instances.kind(class) {
            InstanceKind::Primitive(Primitive::Enum(id)) => Some(self.values_of(Type::Enum(id))),
            InstanceKind::Primitive(Primitive::Boolean) => Some(self.values_of(Type::Boolean)),
            _ => None,
        })
    }

    /// The values of an enumeration or Boolean, in order.
    fn values_of(&mut self, ty: Type) -> IterationRange {
        match ty {
            Type::Enum(id) => {
                let n = self.instances.enum_type(id).literals.len();
                IterationRange::Range(ty, Range::upto(n))
            }
            _ => {
                let members = [self.exprs.bool(false), self.exprs.bool(true)];
                IterationRange::Vector(Tensor::from_elements(
                    &mut self.exprs,
                    Type::Boolean,
                    &[2],
                    &members,
                ))
            }
        }
    }

    /// The values of the dimension that `name` subscripts somewhere in an expression.
    fn implied(
        &mut self,
        env: &Env<'_>,
        name: acausal_base::Name,
        body: &Expr,
    ) -> Result<Option<IterationRange>> {
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
                            q.subscripts = acausal_base::ThinVec::default();
                        }
                        let dims = self.reference_dims(env, &prefix)?;
                        if dims.len() < rank {
                            continue;
                        }
                        let last = self
                            .component_chain(env, &prefix)
                            .ok()
                            .and_then(|c| c.last().copied());
                        let ty = last.map_or(Type::Integer, |i| self.index_type(i, d));
                        return Ok(Some(match ty {
                            Type::Integer => {
                                let n = dims[dims.len() - rank + d];
                                IterationRange::Range(Type::Integer, Range::upto(n))
                            }
                            ty => self.values_of(ty),
                        }));
                    }
                }
            }
            children(e, &mut stack);
        }
        Ok(None)
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

/// All expressions directly in statements, targets included, for iterators whose range follows from their use.
pub fn statement_expressions(body: &[Statement]) -> Vec<Expr> {
    let mut out = Vec::new();
    let mut todo: Vec<&Statement> = body.iter().collect();
    let target = |r: &ComponentRef| Expr::new(ExprKind::Ref(r.clone()), r.span);
    while let Some(s) = todo.pop() {
        match &s.kind {
            StatementKind::Assign { target: t, value } => out.extend([target(t), value.clone()]),
            StatementKind::AssignCall { targets, call } => {
                out.extend(targets.iter().flatten().map(target));
                out.extend(call.args.iter().cloned());
            }
            StatementKind::Call(call) => out.extend(call.args.iter().cloned()),
            StatementKind::If {
                branches,
                otherwise,
            } => {
                out.extend(branches.iter().map(|b| b.0.clone()));
                todo.extend(branches.iter().flat_map(|b| &b.1).chain(otherwise));
            }
            StatementKind::For { body, .. } => todo.extend(body),
            StatementKind::While { condition, body } => {
                out.push(condition.clone());
                todo.extend(body);
            }
            StatementKind::When { branches } => {
                out.extend(branches.iter().map(|b| b.0.clone()));
                todo.extend(branches.iter().flat_map(|b| &b.1));
            }
            StatementKind::Break | StatementKind::Return => {}
        }
    }
    out
}
