//! Addresses of array accesses over an iteration domain.
//!
//! An access whose subscripts are affine in the iterators and whose array lies in one piece is an address with constant
//! strides, computed without looking at elements; where the array lies in several pieces, one for each of them. Anything
//! else becomes a list of addresses, compressed to a stride where that is possible.
//!
//! Example: `v[1]` is a local assignment, `v[2:100]` are unknowns. `v[k]` for `k in 1:99` is one point in `Mem`, then 98
//! points in `Y`.

use std::sync::Arc;

use acausal_compiled::{Loc, Locations, Place, PlacePiece, StridedRun};
use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Access, Exprs, Node};
use acausal_jit::kernel::{Address, Bank};

pub use acausal_symbolic::elements::{Domain, domain_len, for_each_point};
use acausal_symbolic::elements::{flat_affine, flatten_strides};

use crate::CodegenError;

/// Calls `f` with the flattened element (from 0) that the access means at each point of the domain.
pub fn for_each_element(
    flat: &FlatModel,
    domain: &Domain,
    access: Access,
    origin: OriginId,
    f: impl FnMut(usize),
) -> Result<(), CodegenError> {
    acausal_symbolic::elements::for_each_element(flat, domain, access, f)
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

/// Runs with fewer points on average are written as a list.
const FEW_POINTS: usize = 16;

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
    let along = flat_affine(flat, domain, access).and_then(|a| flatten_strides(domain, &a));
    match (place, along) {
        (Place::Whole(bank, base), Some((start, stride))) => {
            return Ok(Locations::Strided {
                bank: *bank,
                base: (*base as i64 + start) as usize,
                stride: stride as isize,
            });
        }
        (Place::Pieces(pieces), Some((start, stride))) => {
            let runs = through(pieces, start, stride, count);
            if let Some(runs) = runs {
                return Ok(runs);
            }
        }
        _ => {}
    }
    check_table(flat, count, origin)?;
    let mut list = Vec::with_capacity(count);
    for_each_element(flat, domain, access, origin, |e| list.push(place.at(e)))?;
    if list.contains(&Loc::NONE) {
        return Err(CodegenError::Unassigned { access, origin });
    }
    Ok(Locations::List(list))
}

/// Refuses a table of places before it is made. A sum over all elements for each element has as many as a full matrix.
pub(crate) fn check_table(
    flat: &FlatModel,
    count: usize,
    origin: OriginId,
) -> Result<(), CodegenError> {
    let points = count as u64;
    match flat.exprs.limits.allows(points, size_of::<Loc>() as u64) {
        true => Ok(()),
        false => Err(CodegenError::TooDense { points, origin }),
    }
}

/// The runs of the elements `start + j*stride` of an array in pieces; nothing where an element lies in none of them, or where
/// the runs are short.
fn through(pieces: &[PlacePiece], start: i64, stride: i64, count: usize) -> Option<Locations> {
    let mut runs = Vec::new();
    let mut j = 0;
    while j < count {
        let element = usize::try_from(start + stride * j as i64).ok()?;
        let after = pieces.partition_point(|p| p.first <= element);
        let p = pieces[after.checked_sub(1)?];
        if element >= p.first + p.len {
            return None;
        }
        // Points until the element leaves the piece.
        let left = match stride {
            0 => count,
            s if s > 0 => (p.first + p.len - 1 - element) / s as usize + 1,
            s => (element - p.first) / s.unsigned_abs() as usize + 1,
        };
        let points = left.min(count - j);
        runs.push(StridedRun {
            first: j,
            count: points,
            bank: p.at.bank(),
            base: p.at.index() + element - p.first,
            stride: stride as isize,
        });
        j += points;
    }
    match runs[..] {
        [] => None,
        [
            StridedRun {
                bank, base, stride, ..
            },
        ] => Some(Locations::Strided { bank, base, stride }),
        _ if runs.len() * FEW_POINTS > count => None,
        _ => Some(Locations::Runs(runs)),
    }
}
