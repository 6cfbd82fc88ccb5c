//! Sparse elimination with integer rows that are kept small by dividing by their greatest common divisor.
//!
//! The pivot column is the one with fewest entries in the remaining rows (so that networks fill little), columns with an
//! entry ±1 before all others (so that nothing has to be scaled); in it, the row with ±1 and fewest entries. A row is
//! only changed by adding multiples of pivot rows to a multiple of itself, so each row keeps its identity: what is left
//! of a row is equivalent to the original row as long as the pivot rows stay in the system.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::scalar::{Overflow, Scalar};

/// Rows under elimination.
pub(super) struct Sparse<T> {
    rows: Vec<BTreeMap<u32, T>>,
    /// Which phase has used the row as pivot row, if any.
    pub(super) pivot_column: Vec<Option<u32>>,
    column_rows: Vec<Vec<u32>>, // may name rows that have lost the entry
    count: Vec<u32>,            // entries in rows that are not pivot rows
    active: Vec<bool>,          // the column belongs to the running phase
    heap: BinaryHeap<Reverse<(bool, u32, u32)>>,
}

impl<T: Scalar> Sparse<T> {
    /// Rows of (column, coefficient); repeated columns are added.
    pub(super) fn new(rows: &[Vec<(usize, i64)>], columns: usize) -> Result<Self, Overflow> {
        let mut s = Sparse {
            rows: Vec::with_capacity(rows.len()),
            pivot_column: vec![None; rows.len()],
            column_rows: vec![Vec::new(); columns],
            count: vec![0; columns],
            active: vec![false; columns],
            heap: BinaryHeap::new(),
        };
        for (i, row) in rows.iter().enumerate() {
            let mut entries: BTreeMap<u32, T> = BTreeMap::new();
            for &(c, x) in row {
                let minus = T::from_i64(x).neg()?;
                let sum = entries
                    .get(&(c as u32))
                    .unwrap_or(&T::from_i64(0))
                    .sub(&minus)?;
                entries.insert(c as u32, sum);
            }
            entries.retain(|_, x| !x.is_zero());
            for &c in entries.keys() {
                s.column_rows[c as usize].push(i as u32);
                s.count[c as usize] += 1;
            }
            s.rows.push(entries);
        }
        Ok(s)
    }

    /// What is left of row `i`.
    pub(super) fn row(&self, i: usize) -> &BTreeMap<u32, T> {
        &self.rows[i]
    }

    /// Eliminates with pivots in these columns as far as possible; returns the columns that got no pivot.
    pub(super) fn eliminate(&mut self, columns: &[u32]) -> Result<Vec<u32>, Overflow> {
        self.heap.clear();
        for &c in columns {
            self.active[c as usize] = true;
            self.heap.push(Reverse((false, self.count[c as usize], c)));
        }
        let mut without = Vec::new();
        while let Some(Reverse((deferred, count, c))) = self.heap.pop() {
            let column = c as usize;
            if !self.active[column] || count != self.count[column] {
                continue; // an outdated entry of the queue
            }
            if count == 0 {
                self.active[column] = false;
                without.push(c);
                continue;
            }
            let (row, unit) = self.pivot_row(c);
            if !unit && !deferred {
                self.heap.push(Reverse((true, count, c)));
                continue;
            }
            self.active[column] = false;
            self.use_pivot(row, c)?;
        }
        without.sort_unstable();
        Ok(without)
    }

    /// The best row of a column with entries: ±1 first, then the shortest, then the first. Cleans the column's list.
    fn pivot_row(&mut self, c: u32) -> (usize, bool) {
        let mut list = std::mem::take(&mut self.column_rows[c as usize]);
        list.sort_unstable();
        list.dedup();
        list.retain(|&i| {
            self.pivot_column[i as usize].is_none() && self.rows[i as usize].contains_key(&c)
        });
        let key = |&i: &u32| {
            let row = &self.rows[i as usize];
            (!row[&c].is_unit(), row.len(), i)
        };
        let best = list.iter().map(key).min();
        self.column_rows[c as usize] = list;
        best.map_or((0, false), |(not_unit, _, i)| (i as usize, !not_unit))
    }

    fn use_pivot(&mut self, pivot: usize, c: u32) -> Result<(), Overflow> {
        self.pivot_column[pivot] = Some(c);
        let pivot_row = std::mem::take(&mut self.rows[pivot]);
        for &k in pivot_row.keys() {
            self.change_count(k, false);
        }
        let p = pivot_row[&c].clone();
        for i in std::mem::take(&mut self.column_rows[c as usize]) {
            if i as usize != pivot {
                self.subtract(i as usize, c, &p, &pivot_row)?;
            }
        }
        self.rows[pivot] = pivot_row;
        Ok(())
    }

    /// row := (p/g) row - (a/g) pivot_row with a the row's entry in column c and g = gcd(p, a).
    fn subtract(
        &mut self,
        i: usize,
        c: u32,
        p: &T,
        pivot_row: &BTreeMap<u32, T>,
    ) -> Result<(), Overflow> {
        let mut row = std::mem::take(&mut self.rows[i]);
        let Some(a) = row.get(&c).cloned() else {
            return Ok(());
        };
        let g = p.gcd(&a)?;
        let (mut scale, mut factor) = (p.div_exact(&g), a.div_exact(&g));
        if scale.is_negative() {
            (scale, factor) = (scale.neg()?, factor.neg()?);
        }
        let scaled = !scale.is_unit();
        if scaled {
            for x in row.values_mut() {
                *x = x.mul(&scale)?;
            }
        }
        for (&k, b) in pivot_row {
            let minus = factor.mul(b)?;
            match row.get_mut(&k) {
                Some(x) => {
                    *x = x.sub(&minus)?;
                    if x.is_zero() {
                        row.remove(&k);
                        self.change_count(k, false);
                    } else if self.active[k as usize] {
                        // The entry may have become ±1: look at the column again.
                        self.heap.push(Reverse((false, self.count[k as usize], k)));
                    }
                }
                None => {
                    row.insert(k, minus.neg()?);
                    self.column_rows[k as usize].push(i as u32);
                    self.change_count(k, true);
                }
            }
        }
        if scaled {
            // Only a scaled row can have grown by a common factor; the others need no look at all their entries.
            let mut g = T::from_i64(0);
            for x in row.values() {
                g = g.gcd(x)?;
                if g.is_unit() {
                    break;
                }
            }
            if !g.is_zero() && !g.is_unit() {
                for x in row.values_mut() {
                    *x = x.div_exact(&g);
                }
            }
        }
        self.rows[i] = row;
        Ok(())
    }

    fn change_count(&mut self, c: u32, up: bool) {
        let column = c as usize;
        self.count[column] = if up {
            self.count[column] + 1
        } else {
            self.count[column] - 1
        };
        if self.active[column] {
            self.heap.push(Reverse((false, self.count[column], c)));
        }
    }
}
