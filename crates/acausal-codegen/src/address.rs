//! Addresses of array accesses over an iteration domain.
//!
//! An access whose subscripts are affine in the iterators and whose array lies in one piece is an address with constant
//! strides, computed without looking at elements. Anything else becomes a list of addresses, compressed to a stride
//! where that is possible.

use std::sync::Arc;

use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Access, Exprs, Node};
use acausal_jit::kernel::{Address, Bank};

pub use acausal_index1::element::{Domain, domain_len, for_each_point};
use acausal_index1::element::{flat_affine, flatten_strides};

use crate::CodegenError;
use crate::layout::{Loc, Place};

/// Calls `f` with the flattened element (from 0) that the access means at each point of the domain.
pub fn for_each_element(
    flat: &FlatModel,
    domain: &Domain,
    access: Access,
    origin: OriginId,
    f: impl FnMut(usize),
) -> Result<(), CodegenError> {
    acausal_index1::element::for_each_element(flat, domain, access, f)
        .map_err(|error| CodegenError::Element { error, origin })
}

/// True when every subscript follows from the iterators.
pub fn is_static(exprs: &Exprs, access: Access) -> bool {
    exprs.list(access.subs).iter().all(|&s| {
        !exprs.any(s, |x, e| {
            matches!(
                x.node(e),
                Node::Var(_) | Node::Time | Node::Apply { .. } | Node::Local { .. }
            )
        })
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
    },
    /// Point by point.
    List(Vec<Loc>),
}

impl Locations {
    /// The location at point `j`.
    pub fn at(&self, j: usize) -> Loc {
        match self {
            Locations::Strided { bank, base, stride } => {
                Loc::new(*bank, (*base as isize + stride * j as isize) as usize)
            }
            Locations::List(l) => l[j],
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
    let regular = list
        .iter()
        .enumerate()
        .all(|(k, &a)| a as i64 == base as i64 + stride * k as i64);
    if regular {
        Address::Affine {
            bank,
            base,
            stride: stride as isize,
        }
    } else {
        Address::Table {
            bank,
            table: Arc::from(list),
        }
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
        return Ok(Locations::Strided {
            bank: *bank,
            base: (*base as i64 + start) as usize,
            stride: stride as isize,
        });
    }
    let mut list = Vec::with_capacity(count);
    for_each_element(flat, domain, access, origin, |e| list.push(place.at(e)))?;
    if list.contains(&Loc::NONE) {
        return Err(CodegenError::Unassigned { access, origin });
    }
    Ok(Locations::List(list))
}
