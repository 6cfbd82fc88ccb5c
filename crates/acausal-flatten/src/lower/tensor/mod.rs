//! Array values as comprehensions: a scalar body under one iterator per dimension.
//!
//! `Tensor { dims: [3], iters: [k], body: n[k]*s }` is the vector `n*s`. All array operations of MLS 3.6 chapter 10 are
//! substitutions on the body, so their cost depends on the size of the expression and not on the length of the array:
//!
//! | Modelica | iterators | body |
//! |---|---|---|
//! | `{a, b, c}` | k | `Select(k, [a, b, c])` |
//! | `x[2:5]` | k | `x[k + 1]` |
//! | `transpose(A)` | j, i | `A[i, j]` |
//! | `A*B` | i, j | `Reduce(Sum, k, A[i,k]*B[k,j])` |
//! | `cat(1, x, y)` | k | `if k <= n then x[k] else y[k - n]` |
//!
//! Invariants: iterators of a tensor count from 1; the iterator of a `Reduce` is never the iterator of a tensor, so that
//! substitution cannot capture; a dimension may be zero (then the body has no meaning).

use acausal_expr::{ExprId, Exprs, IterId, Range, ReduceOp, RelOp};
use acausal_symbolic::{Reduce, Substitute};

use super::value::Type;

/// An array of scalars; a scalar when there are no dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Type of the elements.
    pub ty: Type,
    /// Sizes of the dimensions.
    pub dims: Vec<usize>,
    /// One iterator per dimension, from 1.
    pub iters: Vec<IterId>,
    /// The element at the iterators.
    pub body: ExprId,
}

/// One subscript, already lowered.
#[derive(Clone, Debug, PartialEq)]
pub enum Subscript {
    /// A scalar Integer expression: the dimension disappears.
    Element(ExprId),
    /// A vector of Integers: the dimension gets its length.
    Vector(Tensor),
    /// `:`, or no subscript: the dimension stays.
    All,
}

/// Arrays up to this length are written as a selection instead of nested conditions when concatenated.
const SHORT: usize = 8;

impl Tensor {
    /// A scalar.
    pub fn scalar(ty: Type, body: ExprId) -> Tensor {
        Tensor {
            ty,
            dims: Vec::new(),
            iters: Vec::new(),
            body,
        }
    }

    /// An array from its element as a function of the subscripts.
    pub fn build(
        exprs: &mut Exprs,
        ty: Type,
        dims: &[usize],
        element: impl FnOnce(&mut Exprs, &[ExprId]) -> ExprId,
    ) -> Tensor {
        let iters: Vec<IterId> = dims.iter().map(|_| exprs.fresh_iter()).collect();
        let subs: Vec<ExprId> = iters.iter().map(|&i| exprs.iter(i)).collect();
        let body = element(exprs, &subs);
        Tensor {
            ty,
            dims: dims.to_vec(),
            iters,
            body,
        }
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// True without dimensions.
    pub fn is_scalar(&self) -> bool {
        self.dims.is_empty()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// True when a dimension is zero.
    pub fn is_empty(&self) -> bool {
        self.dims.contains(&0)
    }

    /// The element at the given subscripts, one per dimension.
    pub fn at(&self, exprs: &mut Exprs, subs: &[ExprId]) -> ExprId {
        let pairs: Vec<(IterId, ExprId)> = self
            .iters
            .iter()
            .copied()
            .zip(subs.iter().copied())
            .collect();
        exprs.substitute_iters(self.body, &pairs)
    }

    /// The body with other iterators in place of its own.
    pub fn over(&self, exprs: &mut Exprs, iters: &[IterId]) -> ExprId {
        if self.iters == iters {
            return self.body;
        }
        let subs: Vec<ExprId> = iters.iter().map(|&i| exprs.iter(i)).collect();
        self.at(exprs, &subs)
    }

    /// The same array with iterators that nothing else uses.
    pub fn renewed(&self, exprs: &mut Exprs) -> Tensor {
        let iters: Vec<IterId> = self.iters.iter().map(|_| exprs.fresh_iter()).collect();
        let body = self.over(exprs, &iters);
        Tensor {
            ty: self.ty,
            dims: self.dims.clone(),
            iters,
            body,
        }
    }

    /// The element at constant subscripts, from 1.
    pub fn element(&self, exprs: &mut Exprs, subs: &[i64]) -> ExprId {
        let subs: Vec<ExprId> = subs.iter().map(|&s| exprs.int(s)).collect();
        self.at(exprs, &subs)
    }

    /// All elements, row by row. Only for arrays that the run-time needs element by element.
    pub fn elements(&self, exprs: &mut Exprs) -> Vec<ExprId> {
        let mut out = Vec::with_capacity(self.len());
        let mut subs = vec![1i64; self.rank()];
        if self.is_empty() {
            return out;
        }
        loop {
            out.push(self.element(exprs, &subs));
            let Some(d) = (0..self.rank())
                .rev()
                .find(|&d| (subs[d] as usize) < self.dims[d])
            else {
                return out;
            };
            subs[d] += 1;
            subs[d + 1..].fill(1);
        }
    }

    /// An array with the given elements, row by row; the inverse of [`Tensor::elements`].
    pub fn from_elements(
        exprs: &mut Exprs,
        ty: Type,
        dims: &[usize],
        elements: &[ExprId],
    ) -> Tensor {
        if dims.is_empty() {
            return Tensor::scalar(
                ty,
                elements.first().copied().unwrap_or_else(|| zero(exprs, ty)),
            );
        }
        if elements.is_empty() {
            return Tensor::build(exprs, ty, dims, |x, _| zero(x, ty));
        }
        Tensor::build(exprs, ty, dims, |x, subs| {
            // The innermost dimension is selected first: rows become the members of the next selection.
            let mut row: Vec<ExprId> = elements.to_vec();
            for (&n, &k) in dims.iter().zip(subs).rev() {
                row = row.chunks(n.max(1)).map(|c| x.select(k, c)).collect();
            }
            row[0]
        })
    }

    /// Applies a scalar function to each element.
    pub fn map(
        &self,
        exprs: &mut Exprs,
        ty: Type,
        f: impl FnOnce(&mut Exprs, ExprId) -> ExprId,
    ) -> Tensor {
        let body = f(exprs, self.body);
        Tensor {
            ty,
            dims: self.dims.clone(),
            iters: self.iters.clone(),
            body,
        }
    }

    /// Applies a scalar function to pairs of elements. Sizes are equal, or one operand is a scalar.
    pub fn zip(
        &self,
        other: &Tensor,
        exprs: &mut Exprs,
        ty: Type,
        f: impl FnOnce(&mut Exprs, ExprId, ExprId) -> ExprId,
    ) -> Tensor {
        let (shape, b) = match (self.is_scalar(), other.is_scalar()) {
            (true, false) => (other, other.body),
            (_, true) => (self, other.body),
            (false, false) => (self, other.over(exprs, &self.iters)),
        };
        let body = f(exprs, self.body, b);
        Tensor {
            ty,
            dims: shape.dims.clone(),
            iters: shape.iters.clone(),
            body,
        }
    }

    /// The same value for each element of new leading dimensions: `fill(self, dims...)`.
    pub fn fill(&self, exprs: &mut Exprs, dims: &[usize]) -> Tensor {
        let mut iters: Vec<IterId> = dims.iter().map(|_| exprs.fresh_iter()).collect();
        iters.extend_from_slice(&self.iters);
        let dims = dims.iter().chain(&self.dims).copied().collect();
        Tensor {
            ty: self.ty,
            dims,
            iters,
            body: self.body,
        }
    }

    /// `{a, b, c}` with members of equal size: a new leading dimension (MLS 3.6 §10.4).
    pub fn stack(exprs: &mut Exprs, ty: Type, members: &[Tensor]) -> Tensor {
        let Some(first) = members.first() else {
            let body = zero(exprs, ty);
            return Tensor {
                ty,
                dims: vec![0],
                iters: vec![exprs.fresh_iter()],
                body,
            };
        };
        let k = exprs.fresh_iter();
        let bodies: Vec<ExprId> = members
            .iter()
            .map(|m| m.over(exprs, &first.iters))
            .collect();
        let index = exprs.iter(k);
        let body = exprs.select(index, &bodies);
        let mut dims = vec![members.len()];
        dims.extend_from_slice(&first.dims);
        let mut iters = vec![k];
        iters.extend_from_slice(&first.iters);
        Tensor {
            ty,
            dims,
            iters,
            body,
        }
    }

    /// Applies subscripts to the leading dimensions; the others stay.
    pub fn index(&self, exprs: &mut Exprs, subscripts: &[Subscript]) -> Tensor {
        let mut dims = Vec::new();
        let mut iters = Vec::new();
        let mut pairs = Vec::new();
        for (d, &iter) in self.iters.iter().enumerate() {
            match subscripts.get(d) {
                Some(Subscript::Element(e)) => pairs.push((iter, *e)),
                Some(Subscript::Vector(v)) => {
                    let k = exprs.fresh_iter();
                    let map = v.over(exprs, &[k]);
                    pairs.push((iter, map));
                    dims.push(v.dims[0]);
                    iters.push(k);
                }
                Some(Subscript::All) | None => {
                    dims.push(self.dims[d]);
                    iters.push(iter);
                }
            }
        }
        let body = exprs.substitute_iters(self.body, &pairs);
        Tensor {
            ty: self.ty,
            dims,
            iters,
            body,
        }
    }

    /// Exchanges the first two dimensions.
    pub fn transpose(&self) -> Tensor {
        let mut t = self.clone();
        t.dims.swap(0, 1);
        t.iters.swap(0, 1);
        t
    }

    /// `a*b` of vectors and matrices (MLS 3.6 §10.6.4): the last dimension of `a` against the first of `b`.
    pub fn matmul(&self, other: &Tensor, exprs: &mut Exprs, ty: Type) -> Tensor {
        let n = *self.dims.last().unwrap_or(&0);
        let k = exprs.fresh_iter();
        let (left, right) = (self.renewed(exprs), other.renewed(exprs));
        let (rows, columns) = (left.rank() - 1, right.rank() - 1);
        let mut a: Vec<IterId> = left.iters.clone();
        a[rows] = k;
        let mut b: Vec<IterId> = right.iters.clone();
        b[0] = k;
        let x = left.over(exprs, &a);
        let y = right.over(exprs, &b);
        let product = exprs.mul(&[x, y]);
        let body = exprs.reduce(ReduceOp::Sum, k, Range::upto(n), product);
        let dims = self.dims[..rows]
            .iter()
            .chain(&other.dims[1..])
            .copied()
            .collect();
        let iters = left.iters[..rows]
            .iter()
            .chain(&right.iters[1..1 + columns])
            .copied()
            .collect();
        Tensor {
            ty,
            dims,
            iters,
            body,
        }
    }

    /// Reduces all elements to one: `sum(A)`, `max(A)`...
    pub fn reduce(&self, exprs: &mut Exprs, op: ReduceOp) -> Tensor {
        let t = self.renewed(exprs);
        let mut body = t.body;
        for (&iter, &n) in t.iters.iter().zip(&t.dims).rev() {
            body = exprs.reduce(op, iter, Range::upto(n), body);
        }
        Tensor::scalar(self.ty, body)
    }

    /// Concatenation along dimension `d` (from 0) of arrays that agree in the other dimensions (MLS 3.6 §10.4.2).
    pub fn cat(exprs: &mut Exprs, ty: Type, d: usize, parts: &[Tensor]) -> Tensor {
        let parts: Vec<&Tensor> = match parts.iter().filter(|p| p.dims[d] > 0).collect::<Vec<_>>() {
            v if v.is_empty() => parts.iter().take(1).collect(),
            v => v,
        };
        let mut dims = parts[0].dims.clone();
        dims[d] = parts.iter().map(|p| p.dims[d]).sum();
        if parts.len() == 1 {
            return Tensor {
                ty,
                dims,
                ..parts[0].clone()
            };
        }
        let short = dims[d] <= SHORT || parts.iter().all(|p| p.dims[d] == 1);
        Tensor::build(exprs, ty, &dims, |x, subs| {
            let k = subs[d];
            if short {
                let mut members = Vec::new();
                for part in &parts {
                    for i in 1..=part.dims[d] {
                        let mut at = subs.to_vec();
                        at[d] = x.int(i as i64);
                        members.push(part.at(x, &at));
                    }
                }
                return x.select(k, &members);
            }
            let mut offset: i64 = parts.iter().map(|p| p.dims[d] as i64).sum();
            let mut body = None;
            for part in parts.iter().rev() {
                let end = x.int(offset);
                offset -= part.dims[d] as i64;
                let mut at = subs.to_vec();
                let shift = x.int(offset);
                at[d] = x.sub(k, shift);
                let value = part.at(x, &at);
                body = Some(match body {
                    None => value,
                    Some(rest) => {
                        let here = x.rel(RelOp::Le, k, end);
                        x.if_(here, value, rest)
                    }
                });
            }
            body.unwrap_or_else(|| zero(x, ty))
        })
    }

    /// Appends dimensions of size one up to the given rank: `promote(A, n)`.
    pub fn promote(&self, exprs: &mut Exprs, rank: usize) -> Tensor {
        let mut t = self.clone();
        while t.rank() < rank {
            t.dims.push(1);
            t.iters.push(exprs.fresh_iter());
        }
        t
    }

    /// Removes dimensions of size one, all but those that are kept by position.
    pub fn squeeze(&self, exprs: &mut Exprs, keep: impl Fn(usize) -> bool) -> Tensor {
        let one = exprs.int(1);
        let subs: Vec<Subscript> = (0..self.rank())
            .map(|d| {
                if self.dims[d] == 1 && !keep(d) {
                    Subscript::Element(one)
                } else {
                    Subscript::All
                }
            })
            .collect();
        self.index(exprs, &subs)
    }
}

/// The neutral value of a type.
pub fn zero(exprs: &mut Exprs, ty: Type) -> ExprId {
    match ty {
        Type::Real => exprs.real(0.0),
        Type::Integer | Type::Object => exprs.int(0),
        Type::Boolean | Type::Clock => exprs.bool(false),
        Type::String => exprs.str(""),
        Type::Enum(_) => exprs.int(1),
    }
}

#[cfg(test)]
mod tests;
