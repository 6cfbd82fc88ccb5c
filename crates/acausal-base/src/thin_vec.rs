//! A list that is empty in most places: a pointer instead of a vector's three words.
//!
//! References have no subscripts, scalars no dimensions, their equations no iterators and their accesses no subscripts, and a network that is written out has
//! hundreds of thousands of each. Reading is that of a slice.
//!
//! ```
//! use acausal_base::ThinVec;
//! let none: ThinVec<u32> = ThinVec::default();
//! assert!(none.is_empty());
//! assert_eq!(size_of_val(&none), size_of::<usize>());
//! let some: ThinVec<u32> = vec![3, 4].into();
//! assert_eq!(some.iter().sum::<u32>(), 7);
//! ```

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

/// A list that is empty in most places.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(clippy::box_collection)] // one word is the point
pub struct ThinVec<T>(Option<Box<Vec<T>>>);

impl<T> Default for ThinVec<T> {
    fn default() -> ThinVec<T> {
        ThinVec(None)
    }
}

impl<T> Deref for ThinVec<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Some(all) => all,
            None => &[],
        }
    }
}

impl<T> DerefMut for ThinVec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Some(all) => all,
            None => &mut [],
        }
    }
}

impl<T> ThinVec<T> {
    /// Takes an item out; those behind it move up. Panics if there is none, as [`Vec::remove`] does.
    pub fn remove(&mut self, position: usize) -> T {
        let mut all = self.0.take().unwrap_or_default();
        let item = all.remove(position);
        *self = ThinVec((!all.is_empty()).then_some(all));
        item
    }
}

impl<T> From<ThinVec<T>> for Vec<T> {
    fn from(list: ThinVec<T>) -> Vec<T> {
        list.0.map_or_else(Vec::new, |all| *all)
    }
}

impl<T> From<Vec<T>> for ThinVec<T> {
    fn from(all: Vec<T>) -> ThinVec<T> {
        ThinVec((!all.is_empty()).then(|| Box::new(all)))
    }
}

impl<T: Clone> From<&[T]> for ThinVec<T> {
    fn from(all: &[T]) -> ThinVec<T> {
        ThinVec((!all.is_empty()).then(|| Box::new(all.to_vec())))
    }
}

impl<T> FromIterator<T> for ThinVec<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> ThinVec<T> {
        Vec::from_iter(all).into()
    }
}

impl<'a, T> IntoIterator for &'a ThinVec<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
