//! Elements of array accesses over an iteration domain.
//!
//! An access whose subscripts are affine in the iterators has a flattened index with constant coefficients, known
//! without looking at elements; other static subscripts are evaluated point by point.

use acausal_base::Diagnostic;
use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::subscripts::intersection;
use acausal_expr::{Access, ExprId, Exprs, IterId, Node, Printer, Range, ScalarValue};

/// Why the elements of an access are not known.
#[derive(Clone, Debug)]
pub enum ElementError {
    /// A subscript outside of its array.
    IndexRange {
        /// The access.
        access: Access,
        /// The subscript.
        index: i64,
        /// Size of the dimension.
        size: usize,
    },
    /// A subscript that changes during the simulation.
    DynamicIndex {
        /// The access.
        access: Access,
    },
}

impl ElementError {
    /// The message for the user.
    pub fn diagnostic(&self, flat: &FlatModel, origin: OriginId) -> Diagnostic {
        let printer = Printer::new(flat);
        let span = flat.origin(origin).span;
        match self {
            ElementError::IndexRange { access, index, size } => Diagnostic::error(
                "index-range",
                span,
                format!("the subscript {index} of `{}` is outside of its dimension 1:{size}", printer.access(*access)),
            ),
            ElementError::DynamicIndex { access } => Diagnostic::error(
                "dynamic-index",
                span,
                format!("the subscript of `{}` changes during the simulation", printer.access(*access)),
            )
            .hint("only arrays of at most 1024 elements can be indexed by a variable; use an if-expression instead"),
        }
    }
}

/// Iterators and their values, the last one varying fastest.
pub type Domain = [(IterId, Range)];

/// Number of points of a domain.
pub fn domain_len(domain: &Domain) -> usize {
    domain
        .iter()
        .map(|(_, r)| r.count.max(0) as usize)
        .product()
}

/// Calls `f` with the iterator values of every point, in order.
pub fn for_each_point(domain: &Domain, mut f: impl FnMut(&[i64])) {
    if domain.iter().any(|(_, r)| r.count <= 0) {
        return;
    }
    let mut index = vec![0i64; domain.len()];
    let mut values: Vec<i64> = domain.iter().map(|(_, r)| r.start).collect();
    loop {
        f(&values);
        let mut k = domain.len();
        loop {
            if k == 0 {
                return;
            }
            k -= 1;
            index[k] += 1;
            if index[k] < domain[k].1.count {
                values[k] = domain[k].1.at(index[k]);
                break;
            }
            index[k] = 0;
            values[k] = domain[k].1.start;
        }
    }
}

/// A flattened subscript: `constant + sum(coefficient * iterator value)`, from 0.
pub struct FlatIndex {
    /// The constant part.
    pub constant: i64,
    /// One per iterator of the domain.
    pub coefficients: Vec<i64>,
}

/// The flattened affine index of an access, if its subscripts are affine and stay inside of the array.
pub fn flat_affine(flat: &FlatModel, domain: &Domain, access: Access) -> Option<FlatIndex> {
    let exprs = &flat.exprs;
    let subs = exprs.list(access.subs);
    let mut out = FlatIndex {
        constant: 0,
        coefficients: vec![0; domain.len()],
    };
    if subs.is_empty() {
        return Some(out);
    }
    let dims = &flat.var(access.var).dims;
    let mut weight = dims.iter().product::<usize>() as i64;
    for (&s, &d) in subs.iter().zip(dims) {
        weight /= d.max(1) as i64;
        let a = exprs.affine(s)?;
        let (mut low, mut high) = (a.constant, a.constant);
        out.constant += weight * (a.constant - 1);
        for (iter, c) in a.terms {
            let k = domain.iter().position(|(i, _)| *i == iter)?;
            out.coefficients[k] += weight * c;
            let (x, y) = (c * domain[k].1.start, c * domain[k].1.last());
            low += x.min(y);
            high += x.max(y);
        }
        if low < 1 || high > d as i64 {
            return None;
        }
    }
    Some(out)
}

/// Calls `f` with the flattened element (from 0) that the access means at each point of the domain.
pub fn for_each_element(
    flat: &FlatModel,
    domain: &Domain,
    access: Access,
    mut f: impl FnMut(usize),
) -> Result<(), ElementError> {
    if let Some(a) = flat_affine(flat, domain, access) {
        for_each_point(domain, |v| {
            let index: i64 = a.constant
                + v.iter()
                    .zip(&a.coefficients)
                    .map(|(x, c)| x * c)
                    .sum::<i64>();
            f(index as usize);
        });
        return Ok(());
    }
    let exprs = &flat.exprs;
    let dims = &flat.var(access.var).dims;
    let mut failure = None;
    for_each_point(domain, |values| {
        let mut index = 0;
        for (&s, &d) in exprs.list(access.subs).iter().zip(dims) {
            match subscript(exprs, s, domain, values) {
                Some(k) if k >= 1 && k as usize <= d => index = index * d + (k as usize - 1),
                Some(k) => {
                    failure.get_or_insert(ElementError::IndexRange {
                        access,
                        index: k,
                        size: d,
                    });
                }
                None => {
                    failure.get_or_insert(ElementError::DynamicIndex { access });
                }
            }
        }
        if failure.is_none() {
            f(index);
        }
    });
    failure.map_or(Ok(()), Err)
}

fn subscript(exprs: &Exprs, s: ExprId, domain: &Domain, values: &[i64]) -> Option<i64> {
    let v = exprs.evaluate(s, |x, e, _| match x.node(e) {
        Node::Iter(i) => domain
            .iter()
            .position(|(j, _)| *j == i)
            .map(|k| ScalarValue::Int(values[k])),
        _ => None,
    });
    match v {
        Ok(ScalarValue::Int(k)) => Some(k),
        Ok(ScalarValue::Real(r)) if r.fract() == 0.0 => Some(r as i64),
        _ => None,
    }
}

/// Whether two accesses of one variable can be the same element.
pub fn overlap(flat: &FlatModel, a: (Access, &Domain), b: (Access, &Domain)) -> bool {
    let elements = |(access, domain): (Access, &Domain)| flat.exprs.box_of(access, domain);
    match (elements(a), elements(b)) {
        (Some((a, _)), Some((b, _))) => intersection(&a, &b).is_some(),
        _ => true,
    }
}

/// One stride over the flattened domain, if the strides of the dimensions fit together.
pub fn flatten_strides(domain: &Domain, a: &FlatIndex) -> Option<(i64, i64)> {
    let start = a.constant
        + domain
            .iter()
            .zip(&a.coefficients)
            .map(|((_, r), c)| r.start * c)
            .sum::<i64>();
    let mut stride = None;
    let mut inner = 1i64;
    for ((_, range), c) in domain.iter().zip(&a.coefficients).rev() {
        if range.count == 1 {
            continue;
        }
        let step = c * range.step;
        match stride {
            None => stride = Some(step),
            Some(s) if step == s * inner => {}
            Some(_) => return None,
        }
        inner *= range.count;
    }
    Some((start, stride.unwrap_or(0)))
}
