//! The rows of items in files: those that the two Jacobians of a model share are written once.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::CompiledModel;
use crate::jacobian::ItemRows;

/// All rows, and which of them each Jacobian consists of.
#[derive(Serialize, Deserialize)]
pub(crate) struct SharedRows {
    rows: Vec<Arc<ItemRows>>,
    /// Per Jacobian: numbers of rows.
    of: [Vec<u32>; 2],
}

impl SharedRows {
    /// Rows are the same if they lie at the same place.
    pub(crate) fn new(model: &CompiledModel) -> SharedRows {
        let mut rows: Vec<Arc<ItemRows>> = Vec::new();
        let mut number: FxHashMap<*const ItemRows, u32> = FxHashMap::default();
        let of = [&model.jacobian, &model.initial.jacobian].map(|jacobian| {
            let numbers = jacobian.items.iter().map(|item| {
                *number.entry(Arc::as_ptr(item)).or_insert_with(|| {
                    rows.push(Arc::clone(item));
                    rows.len() as u32 - 1
                })
            });
            numbers.collect()
        });
        SharedRows { rows, of }
    }

    /// Gives the Jacobians their rows; an error for a number without rows.
    pub(crate) fn restore(self, model: &mut CompiledModel) -> Result<(), &'static str> {
        let jacobians = [&mut model.jacobian, &mut model.initial.jacobian];
        for (jacobian, numbers) in jacobians.into_iter().zip(&self.of) {
            let items = numbers.iter().map(|&k| self.rows.get(k as usize).cloned());
            let items: Option<Vec<_>> = items.collect();
            jacobian.items = items.ok_or("a number without its rows")?;
        }
        Ok(())
    }
}
