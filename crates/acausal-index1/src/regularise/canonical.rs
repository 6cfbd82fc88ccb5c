//! Columns and rows of an integer system in an order that depends on names only.
//!
//! In: a system in the order of the source. Out: the same with columns by name (unknowns first, then known expressions)
//! and rows by their columns, equations of components before connections, so that connections are what is removed or
//! replaced where there is a choice. Cost: sorting.
//!
//! Example: `b - a = 0` written before `c - a = 0` or after it: the rows are `a - b`, `a - c` either way.

use acausal_expr::Printer;
use acausal_expr::flat::{Equation, FlatModel, OriginKind};
use acausal_structure::integer_elimination::Class;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::system::{Column, Row, System};

/// Puts columns in the order of names and rows in the order of columns, equations of components before connections.
pub(super) fn canonical(
    flat: &FlatModel,
    equations: &[Equation],
    mut system: System,
    table: IndexMap<Column, Class>,
) -> System {
    let printer = Printer::new(flat);
    let mut names: FxHashMap<(bool, u32), String> = FxHashMap::default();
    for column in table.keys() {
        match column {
            Column::Unknown { var, .. } => names
                .entry((false, var.0))
                .or_insert_with(|| flat.var(*var).name.plain()),
            Column::Known { value, .. } => names
                .entry((true, value.index() as u32))
                .or_insert_with(|| printer.expr(*value)),
        };
    }
    let key = |c: &Column| match c {
        Column::Unknown { var, element } => (
            false,
            names[&(false, var.0)].as_str(),
            element.map_or(0, i64::from),
            Vec::new(),
        ),
        Column::Known { value, at } => {
            let values: Vec<i64> = at.iter().map(|a| a.1).collect();
            (
                true,
                names[&(true, value.index() as u32)].as_str(),
                0,
                values,
            )
        }
    };
    let mut order: Vec<usize> = (0..table.len()).collect();
    let keys: Vec<_> = table.keys().map(key).collect();
    order.sort_by(|&a, &b| keys[a].cmp(&keys[b]));
    let mut place = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new;
    }
    for row in &mut system.rows {
        for t in &mut row.terms {
            t.0 = place[t.0];
        }
        row.terms.sort_unstable();
        row.terms.dedup_by(|b, a| {
            let same = a.0 == b.0;
            if same {
                a.1 += b.1;
            }
            same
        });
        row.terms.retain(|t| t.1 != 0);
        if row.terms.first().is_some_and(|t| t.1 < 0) {
            row.terms.iter_mut().for_each(|t| t.1 = -t.1);
        }
    }
    let connection = |r: &Row| {
        let kind = flat.origin(equations[r.equation].origin).kind;
        matches!(
            kind,
            OriginKind::Potential | OriginKind::Flow | OriginKind::Unconnected
        )
    };
    system
        .rows
        .sort_by(|a, b| (connection(a), &a.terms).cmp(&(connection(b), &b.terms)));
    for old in order {
        if let Some((column, class)) = table.get_index(old) {
            system.columns.push(column.clone());
            system.classes.push(*class);
        }
    }
    system
}
