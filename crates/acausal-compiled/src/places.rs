//! Where quantities lie: a table by variable for values, which nearly all variables have, and one by key for derivatives and left limits.
//!
//! ```text
//! (v7, value)   ->  seventh entry of the first table: read in order when variables are read in order, no hashing
//! (v7, der 1)   ->  second table
//! ```

use acausal_expr::ValueKind;
use acausal_expr::unknown::Quantity;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::location::Place;

/// The places of all quantities.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Places {
    values: Vec<Option<Place>>,
    #[serde(with = "crate::sorted")]
    others: FxHashMap<Quantity, Place>,
}

impl Places {
    /// Places of so many variables.
    pub(crate) fn new(vars: usize) -> Places {
        Places {
            values: vec![None; vars],
            others: FxHashMap::default(),
        }
    }

    /// Where a quantity lies.
    pub(crate) fn get(&self, q: Quantity) -> Option<&Place> {
        match q.1 {
            ValueKind::Value => self.values.get(q.0.index())?.as_ref(),
            _ => self.others.get(&q),
        }
    }

    /// Gives a quantity a place.
    pub(crate) fn insert(&mut self, q: Quantity, place: Place) {
        match q.1 {
            ValueKind::Value => *self.value_mut(q) = Some(place),
            _ => {
                self.others.insert(q, place);
            }
        }
    }

    /// The place of a quantity, to be changed; a new one if it has none.
    pub(crate) fn get_or_insert_with(
        &mut self,
        q: Quantity,
        new: impl FnOnce() -> Place,
    ) -> &mut Place {
        match q.1 {
            ValueKind::Value => self.value_mut(q).get_or_insert_with(new),
            _ => self.others.entry(q).or_insert_with(new),
        }
    }

    fn value_mut(&mut self, q: Quantity) -> &mut Option<Place> {
        let k = q.0.index();
        if self.values.len() <= k {
            self.values.resize(k + 1, None);
        }
        &mut self.values[k]
    }
}
