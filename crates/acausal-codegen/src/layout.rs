//! Where every scalar lives at run time.
//!
//! Unknowns lie in bank `Y`, their derivatives in `Yp`, everything else in `Mem`. An array whose elements lie side by
//! side in one bank is one entry ([`Place::Whole`]); an array that is partly a state and partly something else has one
//! for each part ([`Place::Pieces`]), and only one whose parts are strewn over it needs a table of its elements.
//!
//! **Aliases cost nothing**: a local assignment `x := y` whose right side is an unknown or another local assignment, element
//! by element in the same order, gives `x` the place of `y`. Connections make half of the assignments of a component
//! model of this kind (`cell.d1.p.v := cell.source.p.v`).

use acausal_expr::flat::{FlatModel, VarType};
use acausal_expr::{Kind, Node, VarId};
use acausal_index1::element::{flat_affine, flatten_strides};
use acausal_index1::{Dae, Quantity};
use acausal_jit::kernel::Bank;

use crate::CodegenError;
use crate::address::for_each_element;
use crate::places::Places;

/// Fixed addresses in `Mem`.
pub mod fixed {
    /// `time`
    pub const TIME: usize = 0;
    /// 1 while initial equations hold.
    pub const INITIAL: usize = 1;
    /// 1 at the end of the simulation.
    pub const TERMINAL: usize = 2;
    /// The parameter of `homotopy`: 0 simplified, 1 actual.
    pub const HOMOTOPY: usize = 3;
    /// First free address.
    pub const FREE: usize = 4;
}

/// A bank and an element of it, in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loc(u32);

impl Loc {
    /// Not assigned by anything.
    pub const NONE: Loc = Loc(u32::MAX);

    /// Elements of a bank, at most.
    pub const MOST: usize = 1 << 30;

    /// Element `index` of a bank.
    pub fn new(bank: Bank, index: usize) -> Loc {
        Loc(((bank as u32) << 30) | index as u32)
    }

    /// The bank.
    #[inline]
    pub fn bank(self) -> Bank {
        match self.0 >> 30 {
            0 => Bank::Y,
            1 => Bank::Yp,
            2 => Bank::Mem,
            _ => Bank::Out,
        }
    }

    /// The element.
    #[inline]
    pub fn index(self) -> usize {
        (self.0 & ((1 << 30) - 1)) as usize
    }
}

/// The elements of one quantity. There is one for each variable, and most are whole: the others have their lists elsewhere.
#[derive(Clone, Debug)]
pub enum Place {
    /// Consecutive in one bank.
    Whole(Bank, usize),
    /// Runs of elements, ascending.
    Pieces(Box<Vec<Piece>>),
    /// Element by element.
    Table(Box<Vec<Loc>>),
}

/// Elements `first..first + len` lie side by side from `at` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first element.
    pub first: usize,
    /// Number of elements.
    pub len: usize,
    /// Where the first one lies.
    pub at: Loc,
}

/// Memory of an unknown in the smallest of models, a chain of cells: its history, its row of the Jacobian and of the factors
/// (`docs/scale.md`).
const BYTES_PER_UNKNOWN: u64 = 250;

/// Arrays in more pieces have a table.
const MOST_PIECES: usize = 64;

impl Place {
    /// Where element `k` (from 0) lies.
    pub fn at(&self, k: usize) -> Loc {
        match self {
            Place::Whole(bank, base) => Loc::new(*bank, base + k),
            Place::Pieces(pieces) => {
                let after = pieces.partition_point(|p| p.first <= k);
                match after.checked_sub(1).map(|i| pieces[i]) {
                    Some(p) if k < p.first + p.len => {
                        Loc::new(p.at.bank(), p.at.index() + k - p.first)
                    }
                    _ => Loc::NONE,
                }
            }
            Place::Table(t) => t.get(k).copied().unwrap_or(Loc::NONE),
        }
    }
}

/// All places.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    places: Places,
    /// Length of `Mem`.
    pub mem_len: usize,
    /// Length of `Y`.
    pub n: usize,
    /// Where the values of each local assignment lie in `Mem`: `(first, number)`, in evaluation order; no values for an
    /// alias, which needs no evaluation.
    pub locals: Vec<(usize, usize)>,
    /// Per variable: whether its value is another name for an unknown or a local assignment, with its place.
    aliases: Vec<bool>,
}

impl Layout {
    /// Where a quantity lies, if anything gives it a value.
    pub fn place(&self, q: Quantity) -> Option<&Place> {
        self.places.get(q)
    }

    /// Whether the value of a variable lies where that of another one does.
    pub fn is_alias(&self, var: VarId) -> bool {
        self.aliases.get(var.index()).is_some_and(|alias| *alias)
    }

    /// Reserves scalars in `Mem`.
    pub fn reserve(&mut self, len: usize) -> usize {
        let base = self.mem_len;
        self.mem_len += len;
        base
    }

    /// Gives a quantity a place of its own in `Mem`.
    pub fn add_mem(&mut self, q: Quantity, len: usize) -> usize {
        let base = self.reserve(len);
        self.places.insert(q, Place::Whole(Bank::Mem, base));
        base
    }

    /// The layout of a DAE: parameters, discrete variables with their left limits, unknowns, local assignments.
    pub fn new(dae: &Dae) -> Result<Layout, CodegenError> {
        let mut layout = Layout {
            places: Places::new(dae.flat.vars.len()),
            aliases: vec![false; dae.flat.vars.len()],
            mem_len: fixed::FREE,
            ..Layout::default()
        };
        for (id, var) in dae.flat.var_ids() {
            if var.ty == VarType::String {
                continue;
            }
            if var.is_parameter() {
                layout.add_mem((id, Kind::Value), var.len());
            } else if var.is_discrete() {
                layout.add_mem((id, Kind::Value), var.len());
                layout.add_mem((id, Kind::Pre), var.len());
            }
        }
        for u in &dae.unknowns {
            let base = layout.n;
            for (quantity, bank) in [(u.value, Bank::Y), (u.derivative, Bank::Yp)] {
                let Some(q) = quantity else { continue };
                match &u.elements {
                    None => {
                        layout.places.insert(q, Place::Whole(bank, base));
                    }
                    Some(elements) if elements.is_empty() => {}
                    Some(elements) => {
                        let (first, len) = (elements.at(0), elements.len());
                        let at = Loc::new(bank, base);
                        let piece = Piece { first, len, at };
                        let consecutive = elements.at(len - 1) + 1 == first + len;
                        if consecutive && layout.add_piece(q, piece) {
                            continue;
                        }
                        let table = layout.table(&dae.flat, q);
                        for (k, e) in elements.iter().enumerate() {
                            table[e] = Loc::new(bank, base + k);
                        }
                    }
                }
            }
            layout.n += u.len;
        }
        for local in &dae.locals {
            layout.add_local(dae, local)?;
        }
        layout.check_size(dae)?;
        Ok(layout)
    }

    /// Refuses what is too large before anything is allocated by element: addresses are 30 bits, and memory must suffice for
    /// all scalars and for what the integrator keeps of each unknown.
    fn check_size(&self, dae: &Dae) -> Result<(), CodegenError> {
        let scalars = self.mem_len as u64;
        // Of several the first one.
        let Some((largest, _)) = dae
            .flat
            .var_ids()
            .min_by_key(|(_, v)| std::cmp::Reverse(v.len()))
        else {
            return Ok(());
        };
        if scalars.max(self.n as u64) >= Loc::MOST as u64 {
            return Err(CodegenError::TooMany { largest });
        }
        let bytes = scalars * size_of::<f64>() as u64 + self.n as u64 * BYTES_PER_UNKNOWN;
        if bytes > dae.flat.exprs.limits.memory {
            return Err(CodegenError::TooLarge { bytes, largest });
        }
        Ok(())
    }

    /// Adds a run of elements to a quantity that lies in pieces, or has no place yet; false if it needs a table.
    fn add_piece(&mut self, q: Quantity, piece: Piece) -> bool {
        let new = || Place::Pieces(Box::default());
        let place = self.places.get_or_insert_with(q, new);
        let Place::Pieces(pieces) = place else {
            return false;
        };
        let k = pieces.partition_point(|p| p.first < piece.first);
        let before = k.checked_sub(1).map(|k| pieces[k]);
        let free = before.is_none_or(|p| p.first + p.len <= piece.first)
            && (pieces.get(k)).is_none_or(|p| piece.first + piece.len <= p.first);
        if !free || pieces.len() == MOST_PIECES {
            return false;
        }
        pieces.insert(k, piece);
        true
    }

    fn table(&mut self, flat: &FlatModel, q: Quantity) -> &mut Vec<Loc> {
        let len = flat.var(q.0).len();
        let new = || Place::Table(Box::new(vec![Loc::NONE; len]));
        let place = self.places.get_or_insert_with(q, new);
        if !matches!(place, Place::Table(_)) {
            *place = Place::Table(Box::new((0..len).map(|k| place.at(k)).collect()));
        }
        match place {
            Place::Table(t) => t,
            Place::Whole(..) | Place::Pieces(_) => unreachable!("turned into a table above"),
        }
    }

    fn add_local(&mut self, dae: &Dae, local: &acausal_index1::Local) -> Result<(), CodegenError> {
        let q = (local.target.var, local.target.kind);
        let var = dae.flat.var(q.0);
        let covered: usize = local
            .domain
            .iter()
            .map(|(_, r)| r.count.max(0) as usize)
            .product();
        if covered == var.len() && self.places.get(q).is_none() {
            if let Some(place) = self.alias(dae, local) {
                self.places.insert(q, place);
                self.aliases[q.0.index()] = true;
                self.locals.push((0, 0));
                return Ok(());
            }
            // One assignment covers the array: its elements lie side by side in their natural order.
            let base = self.add_mem(q, var.len());
            self.locals.push((base, covered));
            return Ok(());
        }
        let base = self.reserve(covered);
        self.locals.push((base, covered));
        let along = flat_affine(&dae.flat, &local.domain, local.target)
            .and_then(|index| flatten_strides(&local.domain, &index));
        if let Some((first, stride)) = along
            && (stride == 1 || covered == 1)
        {
            let piece = Piece {
                first: first as usize,
                len: covered,
                at: Loc::new(Bank::Mem, base),
            };
            if self.add_piece(q, piece) {
                return Ok(());
            }
        }
        let mut elements = Vec::with_capacity(covered);
        for_each_element(&dae.flat, &local.domain, local.target, local.origin, |e| {
            elements.push(e);
        })?;
        let table = self.table(&dae.flat, q);
        for (k, e) in elements.into_iter().enumerate() {
            table[e] = Loc::new(Bank::Mem, base + k);
        }
        Ok(())
    }

    /// The place of the right side, where the assignment is another name for it.
    fn alias(&self, dae: &Dae, local: &acausal_index1::Local) -> Option<Place> {
        let Node::Var(source) = dae.flat.exprs.node(local.value) else {
            return None;
        };
        let var = dae.flat.var(source.var);
        if local.target.kind != Kind::Value || source.kind != Kind::Value || var.is_discrete() {
            return None;
        }
        let (bank, base) = match self.place((source.var, source.kind))? {
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
}
