//! Decides where every scalar lives at run time ([`Layout`]).
//!
//! **Aliases cost nothing**: a local assignment `x := y` whose right side is an unknown or another local assignment, element
//! by element in the same order, gives `x` the place of `y`. Connections make half of the assignments of a component
//! model of this kind (`cell.d1.p.v := cell.source.p.v`), those of variables that were taken out of the analysis as aliases included: nobody
//! reads these but results and events, and a shared place is neither computed nor stored for them.

use acausal_compiled::{Layout, Loc, Place, PlacePiece};
use acausal_expr::flat::{FlatModel, VarType};
use acausal_expr::{Node, ValueKind};
use acausal_index1::IndexOneDae;
use acausal_jit::kernel::Bank;
use acausal_symbolic::elements::{flat_affine, flatten_strides};

use crate::CodegenError;
use crate::address::for_each_element;

/// Memory of an unknown in the smallest of models, a chain of cells: its history, its row of the Jacobian and of the factors
/// (`docs/scale.md`).
const BYTES_PER_UNKNOWN: u64 = 250;

/// The layout of a DAE: parameters, discrete variables with their left limits, unknowns, local assignments.
pub fn lay_out(dae: &IndexOneDae) -> Result<Layout, CodegenError> {
    let mut layout = Layout::new(dae.flat.vars.len());
    for (id, var) in dae.flat.var_ids() {
        if var.ty == VarType::String {
            continue;
        }
        if var.is_parameter() {
            layout.add_mem((id, ValueKind::Value), var.len());
        } else if var.is_discrete() {
            layout.add_mem((id, ValueKind::Value), var.len());
            layout.add_mem((id, ValueKind::Pre), var.len());
        }
    }
    for u in &dae.unknowns {
        let base = layout.n;
        for (quantity, bank) in [(u.value, Bank::Y), (u.derivative, Bank::Yp)] {
            let Some(q) = quantity else { continue };
            match &u.elements {
                None => {
                    layout.set(q, Place::Whole(bank, base));
                }
                Some(elements) if elements.is_empty() => {}
                Some(elements) => {
                    let (first, len) = (elements.at(0), elements.len());
                    let at = Loc::new(bank, base);
                    let piece = PlacePiece { first, len, at };
                    let consecutive = elements.at(len - 1) + 1 == first + len;
                    if consecutive && layout.add_piece(q, piece) {
                        continue;
                    }
                    let table = layout.table(q, dae.flat.var(q.0).len());
                    for (k, e) in elements.iter().enumerate() {
                        table[e] = Loc::new(bank, base + k);
                    }
                }
            }
        }
        layout.n += u.len;
    }
    for local in &dae.locals {
        add_local(&mut layout, dae, local)?;
    }
    check_size(&layout, &dae.flat)?;
    Ok(layout)
}

/// Refuses what is too large before anything is allocated by element: addresses are 30 bits, and memory must suffice for
/// all scalars and for what the integrator keeps of each unknown.
pub(crate) fn check_size(layout: &Layout, flat: &FlatModel) -> Result<(), CodegenError> {
    let scalars = layout.mem_len as u64;
    // Of several the first one.
    let Some((largest, _)) = flat
        .var_ids()
        .min_by_key(|(_, v)| std::cmp::Reverse(v.len()))
    else {
        return Ok(());
    };
    if scalars.max(layout.n as u64) >= Loc::MOST as u64 {
        return Err(CodegenError::TooMany { largest });
    }
    let bytes = scalars * size_of::<f64>() as u64 + layout.n as u64 * BYTES_PER_UNKNOWN;
    if bytes > flat.exprs.limits.memory {
        return Err(CodegenError::TooLarge { bytes, largest });
    }
    Ok(())
}

fn add_local(
    layout: &mut Layout,
    dae: &IndexOneDae,
    local: &acausal_index1::Local,
) -> Result<(), CodegenError> {
    let q = (local.target.var, local.target.kind);
    let var = dae.flat.var(q.0);
    let covered: usize = local
        .domain
        .iter()
        .map(|(_, r)| r.count.max(0) as usize)
        .product();
    if covered == var.len() && layout.place(q).is_none() {
        if let Some(place) = alias(layout, dae, local) {
            layout.set_alias(q, place);
            layout.locals.push((0, 0));
            return Ok(());
        }
        // One assignment covers the array: its elements lie side by side in their natural order.
        let base = layout.add_mem(q, var.len());
        layout.locals.push((base, covered));
        return Ok(());
    }
    let base = layout.reserve(covered);
    layout.locals.push((base, covered));
    let along = flat_affine(&dae.flat, &local.domain, local.target)
        .and_then(|index| flatten_strides(&local.domain, &index));
    if let Some((first, stride)) = along
        && (stride == 1 || covered == 1)
    {
        let piece = PlacePiece {
            first: first as usize,
            len: covered,
            at: Loc::new(Bank::Mem, base),
        };
        if layout.add_piece(q, piece) {
            return Ok(());
        }
    }
    let mut elements = Vec::with_capacity(covered);
    for_each_element(&dae.flat, &local.domain, local.target, local.origin, |e| {
        elements.push(e);
    })?;
    let table = layout.table(q, dae.flat.var(q.0).len());
    for (k, e) in elements.into_iter().enumerate() {
        table[e] = Loc::new(Bank::Mem, base + k);
    }
    Ok(())
}

/// The place of the right side, where the assignment is another name for it.
fn alias(layout: &Layout, dae: &IndexOneDae, local: &acausal_index1::Local) -> Option<Place> {
    let Node::Var(source) = dae.flat.exprs.node(local.value) else {
        return None;
    };
    let var = dae.flat.var(source.var);
    if local.target.kind != ValueKind::Value || source.kind != ValueKind::Value || var.is_discrete()
    {
        return None;
    }
    let (bank, base) = match layout.place((source.var, source.kind))? {
        Place::Whole(bank @ (Bank::Y | Bank::Mem), base) => (*bank, *base),
        _ => return None,
    };
    let along = |access| {
        let index = flat_affine(&dae.flat, &local.domain, access)?;
        flatten_strides(&local.domain, &index)
    };
    let (to, to_stride) = along(local.target)?;
    let (from, from_stride) = along(source)?;
    let single = dae.flat.var(local.target.var).len() == 1;
    let in_order = to == 0 && (single || (to_stride == 1 && from_stride == 1));
    in_order.then_some(Place::Whole(bank, base + usize::try_from(from).ok()?))
}
