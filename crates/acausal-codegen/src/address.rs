//! Addresses of array accesses over an iteration domain.
//!
//! An access whose subscripts are affine in the iterators and whose array lies in one piece is an address with constant
//! strides, computed without looking at elements. Anything else becomes a list of addresses, compressed to a stride
//! where that is possible.

use std::sync::Arc;

use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Access, ExprId, Exprs, IterId, Node, Range, Value};
use acausal_jit::kernel::{Address, Bank};

use crate::CodegenError;
use crate::layout::{Loc, Place};

/// Iterators and their values, the last one varying fastest.
pub type Domain = [(IterId, Range)];

/// Number of points of a domain.
pub fn domain_len(domain: &Domain) -> usize {
    domain.iter().map(|(_, r)| r.count.max(0) as usize).product()
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
struct Flat {
    constant: i64,
    coefficients: Vec<i64>,
}

/// The flattened affine index of an access, if its subscripts are affine and stay inside of the array.
fn flat_affine(flat: &FlatModel, domain: &Domain, access: Access) -> Option<Flat> {
    let exprs = &flat.exprs;
    let dims = &flat.var(access.var).dims;
    let subs = exprs.list(access.subs);
    let mut out = Flat { constant: 0, coefficients: vec![0; domain.len()] };
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
    origin: OriginId,
    mut f: impl FnMut(usize),
) -> Result<(), CodegenError> {
    if let Some(a) = flat_affine(flat, domain, access) {
        for_each_point(domain, |v| {
            let index: i64 = a.constant + v.iter().zip(&a.coefficients).map(|(x, c)| x * c).sum::<i64>();
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
                    failure.get_or_insert(CodegenError::IndexRange { access, origin, index: k, size: d });
                }
                None => {
                    failure.get_or_insert(CodegenError::DynamicIndex { access, origin });
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
        Node::Iter(i) => domain.iter().position(|(j, _)| *j == i).map(|k| Value::Int(values[k])),
        _ => None,
    });
    match v {
        Ok(Value::Int(k)) => Some(k),
        Ok(Value::Real(r)) if r.fract() == 0.0 => Some(r as i64),
        _ => None,
    }
}

/// True when every subscript follows from the iterators.
pub fn is_static(exprs: &Exprs, access: Access) -> bool {
    exprs.list(access.subs).iter().all(|&s| {
        !exprs.any(s, |x, e| matches!(x.node(e), Node::Var(_) | Node::Time | Node::Apply { .. } | Node::Local { .. }))
    })
}

/// The locations that an access means over a domain.
pub enum Locations {
    /// One bank, constant stride over the flattened domain.
    Strided {
        /// Bank.
        bank: Bank,
        /// Location at the first point.
        base: usize,
        /// Distance between points.
        stride: isize,
        /// Number of points.
        count: usize,
    },
    /// Point by point.
    List(Vec<Loc>),
}

impl Locations {
    /// The location at point `j`.
    pub fn at(&self, j: usize) -> Loc {
        match self {
            Locations::Strided { bank, base, stride, .. } => {
                Loc::new(*bank, (*base as isize + stride * j as isize) as usize)
            }
            Locations::List(l) => l[j],
        }
    }

    /// Addresses for a kernel call, if all points lie in one bank.
    pub fn address(&self) -> Option<Address> {
        match self {
            Locations::Strided { bank, base, stride, .. } => {
                Some(Address::Affine { bank: *bank, base: *base, stride: *stride })
            }
            Locations::List(l) => {
                let bank = l.first()?.bank();
                if l.iter().any(|x| x.bank() != bank) {
                    return None;
                }
                Some(compress(bank, l.iter().map(|x| x.index() as u32).collect()))
            }
        }
    }
}

/// A strided address if the list is an arithmetic progression, else the table.
pub fn compress(bank: Bank, list: Vec<u32>) -> Address {
    let base = list.first().copied().unwrap_or(0) as usize;
    let stride = match list.get(1) {
        Some(&second) => second as i64 - base as i64,
        None => 0,
    };
    let regular = list.iter().enumerate().all(|(k, &a)| a as i64 == base as i64 + stride * k as i64);
    if regular {
        Address::Affine { bank, base, stride: stride as isize }
    } else {
        Address::Table { bank, table: Arc::from(list) }
    }
}

/// Where an access lies at every point of a domain.
pub fn locate(
    flat: &FlatModel,
    place: &Place,
    domain: &Domain,
    access: Access,
    origin: OriginId,
) -> Result<Locations, CodegenError> {
    let count = domain_len(domain);
    if let (Place::Whole(bank, base), Some(a)) = (place, flat_affine(flat, domain, access))
        && let Some((start, stride)) = flatten_strides(domain, &a)
    {
        return Ok(Locations::Strided { bank: *bank, base: (*base as i64 + start) as usize, stride: stride as isize, count });
    }
    let mut list = Vec::with_capacity(count);
    for_each_element(flat, domain, access, origin, |e| list.push(place.at(e)))?;
    if list.contains(&Loc::NONE) {
        return Err(CodegenError::Unassigned { access, origin });
    }
    Ok(Locations::List(list))
}

/// One stride over the flattened domain, if the strides of the dimensions fit together.
fn flatten_strides(domain: &Domain, a: &Flat) -> Option<(i64, i64)> {
    let start = a.constant + domain.iter().zip(&a.coefficients).map(|((_, r), c)| r.start * c).sum::<i64>();
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
