//! The external objects of one simulation (MLS 3.6 §12.9.7).
//!
//! For a model an object is a number: its place in this store, from 1, in order of construction. Objects are immutable and equal
//! arguments give the same object, so constructing one again costs a look into a hash table that is keyed by what the
//! object is made from.
//!
//! A number means nothing outside of its store. So it lives in the parameter memory of a simulation and is never part of a compiled model:
//! constructors are no constants, and each simulation calls them when it computes its parameters. The compiler has a store of its own for
//! constants that are read from tables. A store and its objects go with the last [`Functions`](crate::Functions) that share it.

use std::sync::{Arc, Mutex};

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::External;
use super::curve::Curve;
use super::grid::Grid;
use super::time_table::TimeTable;

/// An external object.
#[derive(Debug)]
pub(super) enum Object {
    Curve(Curve),
    Time(TimeTable),
    Grid(Grid),
}

/// What an object is made from: equal keys mean the same object. Numbers by their bits.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key(External, Vec<u64>);

/// See the module. Clones are the same store.
#[derive(Clone, Debug, Default)]
pub struct Objects(Arc<Mutex<IndexMap<Key, Arc<Object>, FxBuildHasher>>>);

/// A thread ended while it made an object.
const BROKEN: &str = "the list of objects is broken";

impl Objects {
    /// The number of the object that a constructor makes from numbers; `build` makes it unless there is one already.
    pub(super) fn construct(
        &self,
        constructor: &External,
        numbers: Vec<u64>,
        build: impl FnOnce() -> Result<Object, String>,
    ) -> Result<f64, String> {
        let key = Key(constructor.clone(), numbers);
        let mut objects = self.0.lock().map_err(|_| BROKEN)?;
        if let Some(place) = objects.get_index_of(&key) {
            return Ok((place + 1) as f64);
        }
        objects.insert(key, Arc::new(build()?));
        Ok(objects.len() as f64)
    }

    /// The object of a number.
    pub(super) fn get(&self, handle: f64) -> Result<Arc<Object>, String> {
        let objects = self.0.lock().map_err(|_| BROKEN)?;
        let place = (handle as usize).wrapping_sub(1);
        match objects.get_index(place) {
            Some((_, object)) if handle >= 1.0 => Ok(object.clone()),
            _ => Err("the external object does not exist (yet)".to_string()),
        }
    }
}
