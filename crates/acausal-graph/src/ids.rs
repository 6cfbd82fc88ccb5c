//! Indices of equations and variables, and the compact list of lists that holds an incidence.
//!
//! Everything in this crate speaks about equations and variables by number only. [`EqId`] and [`VarId`] keep the two
//! from being confused; [`Rows`] stores one list of items per row in two flat vectors (compressed rows), because a
//! million one-element `Vec`s cost more than the algorithms that walk over them.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The id with number `i` (numbers are at most `u32::MAX`).
            #[inline]
            pub fn new(i: usize) -> Self {
                debug_assert!(i <= u32::MAX as usize);
                $name(i as u32)
            }
            /// The number as an index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }

        impl From<usize> for $name {
            fn from(i: usize) -> Self {
                Self::new(i)
            }
        }
    };
}

id!(
    /// Number of an (array) equation.
    EqId,
    "e"
);
id!(
    /// Number of an (array) variable.
    VarId,
    "v"
);

/// A list of lists in compressed form; rows are appended, never changed.
///
/// ```
/// use acausal_graph::{Rows, VarId};
/// let rows: Rows<VarId> = [[0, 1].as_slice(), &[2]].iter().map(|r| r.iter().map(|&v| VarId::new(v))).collect();
/// assert_eq!(rows.row(0), [VarId(0), VarId(1)]);
/// assert_eq!(rows.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows<T> {
    // 32 bits: half the memory to walk over, and ids are not wider.
    start: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Rows {
            start: vec![0],
            items: Vec::new(),
        }
    }
}

impl<T> Rows<T> {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// From the start of each row (and the end of the last) and all items.
    pub fn from_parts(start: Vec<u32>, items: Vec<T>) -> Self {
        debug_assert!(start.last() == Some(&(items.len() as u32)));
        Rows { start, items }
    }

    /// A copy of the first rows.
    pub fn first(&self, rows: usize) -> Self
    where
        T: Clone,
    {
        let start = self.start[..=rows].to_vec();
        let items = self.items[..start[rows] as usize].to_vec();
        Rows { start, items }
    }

    /// Appends a row and returns its number.
    ///
    /// # Panics
    /// If there are more than `u32::MAX` items.
    pub fn push(&mut self, row: impl IntoIterator<Item = T>) -> usize {
        self.items.extend(row);
        assert!(self.items.len() <= u32::MAX as usize, "too many items");
        self.start.push(self.items.len() as u32);
        self.len() - 1
    }

    /// Makes room for more rows and items.
    pub fn reserve(&mut self, rows: usize, items: usize) {
        self.start.reserve(rows);
        self.items.reserve(items);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.start.len() - 1
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The items of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[T] {
        &self.items[self.slots(i)]
    }

    /// The positions of row `i` in [`Rows::items`].
    #[inline]
    pub fn slots(&self, i: usize) -> std::ops::Range<usize> {
        self.start[i] as usize..self.start[i + 1] as usize
    }

    /// All items, row after row.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// The rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[T]> + '_ {
        (0..self.len()).map(|i| self.row(i))
    }
}

impl<T, R: IntoIterator<Item = T>> FromIterator<R> for Rows<T> {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Self {
        let mut out = Rows::new();
        for r in rows {
            out.push(r);
        }
        out
    }
}

impl Rows<VarId> {
    /// An incidence from plain numbers: `Rows::of(&[&[0, 1], &[1]])`.
    pub fn of(rows: &[&[usize]]) -> Self {
        rows.iter()
            .map(|r| r.iter().map(|&v| VarId::new(v)))
            .collect()
    }

    /// For every variable the equations that contain it, in ascending order. A repeated entry of a row stays repeated.
    pub fn transposed(&self, variables: usize) -> Rows<EqId> {
        let mut start = vec![0u32; variables + 1];
        for v in &self.items {
            start[v.index() + 1] += 1;
        }
        for j in 0..variables {
            start[j + 1] += start[j];
        }
        let mut next = start.clone();
        let mut items = vec![EqId(0); self.items.len()];
        for (i, row) in self.iter().enumerate() {
            for v in row {
                let next = &mut next[v.index()];
                items[*next as usize] = EqId::new(i);
                *next += 1;
            }
        }
        Rows { start, items }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposed_twice_is_the_same_pattern() {
        let g = Rows::of(&[&[2, 0], &[1], &[], &[0, 1]]);
        let t = g.transposed(3);
        assert_eq!(t.row(0), [EqId(0), EqId(3)]);
        assert_eq!(t.row(1), [EqId(1), EqId(3)]);
        assert_eq!(t.row(2), [EqId(0)]);
    }
}
