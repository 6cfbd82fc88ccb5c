//! Assignment to a part of a variable: `a[i]`, `A[:, 2]`, `r.x`, `r[3].x[2]`.
//!
//! A variable that is written element by element is kept as the list of its elements. A constant index replaces one of
//! them. An index that is not known gives `if k == index then new else old` for every element `k`, as one expression.

use acausal_base::Span;
use acausal_expr::{ExprId, RelOp};
use acausal_syntax::ast::RefPart;

use super::constant::fold;
use super::execute::{Executed, Executor, Write, with_locals};
use super::{Stop, bind};
use crate::lower::{Error, Record, Subscript, Tensor, Value, error};
use acausal_instance::instance::InstId;

/// Longer arrays are not written element by element at compile time.
const LONGEST: usize = 4096;

impl Executor<'_, '_> {
    /// The new value of a variable after the part named by `parts` has been replaced.
    pub(super) fn replaced(
        &mut self,
        variable: InstId,
        parts: &[RefPart],
        value: Value,
        span: Span,
    ) -> Executed<Value> {
        let whole = parts.len() == 1 && parts[0].subscripts.is_empty();
        if whole && self.in_function {
            let what = format!("`{}`", self.ctx.instances.data(variable).name);
            return Ok(bind::fit(
                self.ctx,
                &self.locals,
                variable,
                value,
                span,
                &what,
            )?);
        }
        let old = self
            .locals
            .get(&variable)
            .cloned()
            .unwrap_or(Value::Tuple(Vec::new()));
        let value = match value {
            Value::Tuple(values) => values
                .into_iter()
                .next()
                .unwrap_or(Value::Tuple(Vec::new())),
            other => other,
        };
        let first_write = self.writes.len();
        let new = self.replace_in(old, parts, Vec::new(), value, span)?;
        for write in &mut self.writes[first_write..] {
            write.variable = variable;
        }
        Ok(new)
    }

    /// Walks down the fields; `subs` are the subscripts of the parts before. Recursion is over the length of the
    /// reference, which the nesting of records bounds.
    fn replace_in(
        &mut self,
        old: Value,
        parts: &[RefPart],
        mut subs: Vec<Subscript>,
        value: Value,
        span: Span,
    ) -> Executed<Value> {
        let part = &parts[0];
        let own: Vec<usize> = old.dims().get(subs.len()..).unwrap_or(&[]).to_vec();
        let env = with_locals(&self.base, &self.locals);
        let what = format!("`{}`", part.name);
        let mut written = self
            .ctx
            .subscripts(&env, &own, &part.subscripts, part.span, &what)?;
        written.resize(own.len(), Subscript::All);
        subs.append(&mut written);
        if parts.len() == 1 {
            return self.replace(old, &subs, value, span);
        }
        let Value::Record(mut record) = old else {
            let found = self.ctx.describe(&old);
            let message = format!("{found} has no field `{}`", parts[1].name);
            return Err(error("unknown-field", parts[1].span, message).into());
        };
        let Some(k) = record.fields.iter().position(|f| f.0 == parts[1].name.name) else {
            let found = self.ctx.describe(&Value::Record(record));
            let message = format!("{found} has no field `{}`", parts[1].name);
            return Err(error("unknown-field", parts[1].span, message).into());
        };
        let field = record.fields[k].1.clone();
        self.field_path.push(parts[1].name.name);
        let new = self.replace_in(field, &parts[1..], subs, value, span);
        self.field_path.pop();
        record.fields[k].1 = new?;
        Ok(Value::Record(record))
    }

    fn replace(
        &mut self,
        old: Value,
        subs: &[Subscript],
        value: Value,
        span: Span,
    ) -> Executed<Value> {
        match (old, value) {
            (Value::Tensor(old), value @ (Value::Tensor(_) | Value::Tuple(_))) => {
                let new = self.ctx.as_tensor(value, span)?;
                Ok(Value::Tensor(self.replace_elements(old, subs, new, span)?))
            }
            (Value::Record(old), Value::Record(new)) => {
                let mut fields = Vec::with_capacity(old.fields.len());
                for (name, field) in old.fields {
                    let Some(v) = new.fields.iter().find(|f| f.0 == name) else {
                        let found = self.ctx.describe(&Value::Record(new));
                        let message = format!("the field `{name}` is missing in {found}");
                        return Err(error("type-mismatch", span, message).into());
                    };
                    let mut padded = subs.to_vec();
                    padded.resize(field.dims().len(), Subscript::All);
                    self.field_path.push(name);
                    let new = self.replace(field, &padded, v.1.clone(), span);
                    self.field_path.pop();
                    fields.push((name, new?));
                }
                Ok(Value::Record(Record {
                    class: old.class,
                    dims: old.dims,
                    fields,
                }))
            }
            (old, value) => {
                let (a, b) = (self.ctx.describe(&old), self.ctx.describe(&value));
                let message = format!("{b} cannot be assigned to {a}");
                Err(error("type-mismatch", span, message).into())
            }
        }
    }

    fn replace_elements(
        &mut self,
        old: Tensor,
        subs: &[Subscript],
        new: Tensor,
        span: Span,
    ) -> Executed<Tensor> {
        let subs: Vec<Subscript> = subs
            .iter()
            .map(|s| match s {
                Subscript::Element(e) => Subscript::Element(fold(self.ctx, *e)),
                other => other.clone(),
            })
            .collect();
        // Sizes of the part that is written.
        let open: Vec<usize> = subs
            .iter()
            .zip(&old.dims)
            .filter_map(|(s, &n)| match s {
                Subscript::Element(_) => None,
                Subscript::Vector(v) => Some(v.dims[0]),
                Subscript::All => Some(n),
            })
            .collect();
        let new = bind::convert(self.ctx, new, old.ty, &open, span, "the assigned part")?;
        let all = subs.iter().all(|s| *s == Subscript::All);
        let positions = if all {
            None
        } else {
            self.positions(&old, &subs, span)?
        };
        if !self.in_function {
            self.writes.push(Write {
                variable: InstId::GLOBAL, // set by the caller, who knows it
                path: self.field_path.clone(),
                positions: positions.clone(),
            });
        }
        match positions {
            _ if all => Ok(new),
            Some(positions) => self.write(old, &positions, &new, span),
            None => self.write_unknown(old, &subs, &new, span),
        }
    }

    /// Positions (row by row) of the elements that are written, in order; `None` when an index is not known.
    fn positions(
        &mut self,
        old: &Tensor,
        subs: &[Subscript],
        span: Span,
    ) -> Executed<Option<Vec<usize>>> {
        let mut positions = vec![0usize];
        for (s, &n) in subs.iter().zip(&old.dims) {
            let indices: Vec<i64> = match s {
                Subscript::All => (1..=n as i64).collect(),
                Subscript::Element(e) => match self.ctx.exprs.as_int(*e) {
                    Some(i) => vec![i],
                    None => return Ok(None),
                },
                Subscript::Vector(v) => {
                    let mut list = Vec::with_capacity(v.dims[0]);
                    for e in v.elements(&mut self.ctx.exprs) {
                        let e = fold(self.ctx, e);
                        match self.ctx.exprs.as_int(e) {
                            Some(i) => list.push(i),
                            None => return Ok(None),
                        }
                    }
                    list
                }
            };
            if let Some(bad) = indices.iter().find(|&&i| i < 1 || i > n as i64) {
                let message = format!("index {bad} is outside of 1:{n}");
                return Err(Error::subscript_bounds(span, message).into());
            }
            self.spend((positions.len() * indices.len()) as u64, span)?;
            positions = positions
                .iter()
                .flat_map(|p| indices.iter().map(move |i| p * n + (*i as usize - 1)))
                .collect();
        }
        Ok(Some(positions))
    }

    fn write(
        &mut self,
        old: Tensor,
        positions: &[usize],
        new: &Tensor,
        span: Span,
    ) -> Executed<Tensor> {
        if old.len() > LONGEST {
            return Err(Stop::dynamic(
                span,
                format!("an array of {} elements is written to", old.len()),
            ));
        }
        self.spend(old.len() as u64 / 8, span)?;
        let mut elements = match self.elements.remove(&old.body) {
            Some(known) if known.len() == old.len() => known,
            _ => old.elements(&mut self.ctx.exprs),
        };
        let values = match new.is_scalar() {
            true => vec![new.body],
            false => new.elements(&mut self.ctx.exprs),
        };
        for (&p, &v) in positions.iter().zip(&values) {
            elements[p] = v;
        }
        let out = Tensor::from_elements(&mut self.ctx.exprs, old.ty, &old.dims, &elements);
        self.elements.insert(out.body, elements);
        Ok(out)
    }

    fn write_unknown(
        &mut self,
        old: Tensor,
        subs: &[Subscript],
        new: &Tensor,
        span: Span,
    ) -> Executed<Tensor> {
        let old = old.renewed(&mut self.ctx.exprs);
        let mut hit = self.ctx.exprs.bool(true);
        let mut at: Vec<ExprId> = Vec::new();
        for (s, &iter) in subs.iter().zip(&old.iters) {
            let k = self.ctx.exprs.iter(iter);
            match s {
                Subscript::All => at.push(k),
                Subscript::Element(e) => {
                    let same = self.ctx.exprs.rel(RelOp::Eq, k, *e);
                    hit = self.ctx.exprs.and(hit, same);
                }
                Subscript::Vector(_) => {
                    return Err(Stop::dynamic(
                        span,
                        "a slice with unknown indices is assigned",
                    ));
                }
            }
        }
        let new = new.at(&mut self.ctx.exprs, &at);
        let hit = self.ctx.exprs.no_event(hit);
        let body = self.ctx.exprs.if_(hit, new, old.body);
        Ok(Tensor { body, ..old })
    }
}
