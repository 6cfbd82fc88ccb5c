//! Where every scalar of a model lies.

use acausal_expr::VarId;
use acausal_expr::unknown::Quantity;
use acausal_jit::kernel::Bank;
use serde::{Deserialize, Serialize};

use crate::location::{Loc, Place, PlacePiece, fixed};
use crate::places::Places;

/// Arrays in more pieces have a table.
const MOST_PIECES: usize = 64;

/// All places.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
    /// A layout of so many variables that have no places yet.
    pub fn new(vars: usize) -> Layout {
        Layout {
            places: Places::new(vars),
            aliases: vec![false; vars],
            mem_len: fixed::FREE,
            ..Layout::default()
        }
    }

    /// Gives a quantity a place.
    pub fn set(&mut self, q: Quantity, place: Place) {
        self.places.insert(q, place);
    }

    /// Gives a quantity the place of another one.
    pub fn set_alias(&mut self, q: Quantity, place: Place) {
        self.places.insert(q, place);
        self.aliases[q.0.index()] = true;
    }

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

    /// Adds a run of elements to a quantity that lies in pieces, or has no place yet; false if it needs a table.
    pub fn add_piece(&mut self, q: Quantity, piece: PlacePiece) -> bool {
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

    /// The table of a quantity with so many elements; what lies in pieces is turned into one.
    pub fn table(&mut self, q: Quantity, len: usize) -> &mut Vec<Loc> {
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
}
