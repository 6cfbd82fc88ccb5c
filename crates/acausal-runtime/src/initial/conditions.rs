//! Equations and conditions of the start, matched with unknowns in the order of their rank.
//!
//! In: the pattern of the initial Jacobian and the attributes. Out ([`StartSystem`]): a structurally regular square system, the
//! start values that it needs although they are not fixed, and the conditions that it has no room for.
//!
//! Sets of rows that can be matched with columns are the independent sets of a (transversal) matroid. Taking rows one by
//! one, each if the matching can grow by it, gives the set of highest rank (Edmonds 1971): first the equations of the
//! model, then initial equations, then fixed starts, then starts that are not fixed, those with a written value and a
//! higher `stateSelect` first, at last guesses of parameters. A row that finds no augmenting path never finds one later, and what
//! its search saw is never looked at again; so all failures together walk the pattern once.
//!
//! Example: `x = y; x(start = 1, fixed = true); y(start = 1, fixed = true); der(x) = 1`. Columns x, y, der(x); the rows of
//! the model take y and der(x), the start of x takes x, the start of y finds nothing: redundant.

use acausal_compiled::InitialRow;
use acausal_expr::unknown::UnknownRole;
use acausal_graph::{Rows, VarId, matching::maximum_matching};

use super::{StartData, has_slope, roles};
use crate::SimError;
use crate::error::{InitialFailure, InitialKind};
use crate::machine::Machine;

/// A row of the initial system, or one that needs no code because it has one unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartCondition {
    /// A row with code.
    Row(u32),
    /// `x[c] = start`
    Start(u32),
    /// `x'[c] = 0`
    Slope(u32),
    /// Free parameter `k` keeps its start value.
    Guess(u32),
}

/// A row, or the only column of a condition without code.
enum About {
    Row(usize),
    Column(usize),
}

impl StartCondition {
    /// The condition as a user would write it.
    pub fn text(self, machine: &Machine, data: &StartData) -> String {
        let model = &machine.model;
        match self {
            StartCondition::Row(row) => (model.start_row_text(row as usize, Some(&machine.mem)))
                .unwrap_or_else(|| crate::error::equation_text(model, row as usize)),
            StartCondition::Start(c) => format!(
                "{} = {}",
                crate::error::unknown_text(model, c as usize),
                data.y[c as usize]
            ),
            StartCondition::Slope(c) => {
                format!("{} = 0", crate::error::derivative_text(model, c as usize))
            }
            StartCondition::Guess(k) => format!(
                "{} = {}",
                model.free_name(k as usize),
                machine.mem[data.free[k as usize]]
            ),
        }
    }

    /// The only column of a condition without code.
    pub fn column(self, n: usize) -> Option<usize> {
        match self.about(n) {
            About::Row(_) => None,
            About::Column(column) => Some(column),
        }
    }

    /// What it is about, in a system of `n` unknowns.
    fn about(self, n: usize) -> About {
        match self {
            StartCondition::Row(row) => About::Row(row as usize),
            StartCondition::Start(c) => About::Column(c as usize),
            StartCondition::Slope(c) => About::Column(n + c as usize),
            StartCondition::Guess(k) => About::Column(2 * n + k as usize),
        }
    }
}

/// The square system of the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct StartSystem {
    /// Unknown columns.
    pub columns: Vec<u32>,
    /// Rows with code.
    pub rows: Vec<u32>,
    /// Conditions of the model without room.
    pub dropped: Vec<StartCondition>,
    /// Start values that are used although they are not fixed.
    pub held: Vec<StartCondition>,
    /// Start values that are not fixed and not used.
    pub released: Vec<StartCondition>,
}

/// The conditions of the model beyond its equations, by rank: required, then optional.
struct Ranked {
    required: Vec<StartCondition>,
    optional: Vec<StartCondition>,
}

/// Chooses the conditions of the start.
pub(crate) fn choose(
    machine: &Machine,
    data: &StartData,
    steady: bool,
) -> Result<StartSystem, SimError> {
    let role = roles(&machine.model);
    let ranked = rank(machine, data, &role, steady);
    choose_among(machine, data, ranked)
}

fn choose_among(
    machine: &Machine,
    data: &StartData,
    ranked: Ranked,
) -> Result<StartSystem, SimError> {
    let model = &machine.model;
    let n = model.n;
    let role = roles(model);
    let equations = n + model.initial.hidden_len;
    let eligible = |c: usize| {
        if c < n {
            matches!(role[c], UnknownRole::State | UnknownRole::Algebraic)
        } else if c < 2 * n {
            has_slope(role[c - n])
        } else {
            data.unknown[c - 2 * n]
        }
    };
    let basic = |c: usize| {
        if c < n {
            role[c] == UnknownRole::Algebraic
        } else {
            c < 2 * n && has_slope(role[c - n])
        }
    };
    let cols = 2 * n + data.free.len();
    if data.free.is_empty()
        && (0..cols).filter(|&c| basic(c)).count() == equations
        && let Some(state) = states_by_row(machine, &role, eligible, &ranked.required)
    {
        return Ok(explicit(cols, basic, equations, state, ranked));
    }
    let graph = Graph::new(machine, cols, eligible);
    let mut matching = graph.equations(equations, basic);
    for row in 0..equations {
        if matching.col_of[row].is_none() && !matching.augment(&graph, graph.row(row), row) {
            // The index reduction has made these equations regular, so this is a defect of the pattern.
            let mut failure = InitialFailure::new(InitialKind::Overdetermined, 0.0);
            failure.rows.push((row, 0.0));
            return Err(SimError::Initialisation(Box::new(failure)));
        }
    }
    let mut kept = StartSystem {
        rows: (0..equations as u32).collect(),
        ..StartSystem::default()
    };
    let mut known = vec![false; cols];
    for (list, optional) in [(ranked.required, false), (ranked.optional, true)] {
        for condition in list {
            let taken = match condition.about(n) {
                About::Row(row) => matching.augment(&graph, graph.row(row), row),
                About::Column(column) => {
                    let id = matching.virtual_row();
                    matching.augment(&graph, &[VarId::new(column)], id)
                }
            };
            match (taken, optional) {
                (true, _) => {
                    match condition.about(n) {
                        About::Row(row) => kept.rows.push(row as u32),
                        About::Column(column) => known[column] = true,
                    }
                    if optional {
                        kept.held.push(condition);
                    }
                }
                (false, true) => kept.released.push(condition),
                (false, false) => kept.dropped.push(condition),
            }
        }
    }
    let missing: Vec<usize> = (0..cols)
        .filter(|&c| eligible(c) && matching.row_of[c].is_none())
        .collect();
    if !missing.is_empty() {
        let mut failure = InitialFailure::new(InitialKind::Underdetermined, 0.0);
        failure.unknowns = missing
            .iter()
            .map(|&c| (machine.column_text(c), 0.0))
            .collect();
        return Err(SimError::Initialisation(Box::new(failure)));
    }
    kept.rows.sort_unstable();
    kept.columns = (0..cols)
        .filter(|&c| eligible(c) && !known[c])
        .map(|c| c as u32)
        .collect();
    Ok(kept)
}

/// For an ordinary differential system whose conditions each fix one state: the states that rows fix, by row. Nothing if a
/// condition is of another kind or two of them fix the same state.
fn states_by_row(
    machine: &Machine,
    role: &[UnknownRole],
    eligible: impl Fn(usize) -> bool,
    required: &[StartCondition],
) -> Option<Vec<(u32, u32)>> {
    let s = machine.model.initial.jacobian.sparsity();
    let has_rows = required.iter().any(|c| matches!(c, StartCondition::Row(_)));
    // Per row the number of its columns, and their exclusive or: the column, where there is one.
    let mut columns = vec![(0u32, 0u32); if has_rows { s.rows } else { 0 }];
    if has_rows {
        for c in (0..s.cols).filter(|&c| eligible(c)) {
            for k in s.entries(c) {
                let (count, column) = &mut columns[s.row_idx[k] as usize];
                *count += 1;
                *column ^= c as u32;
            }
        }
    }
    let mut fixed = vec![false; role.len()];
    let mut rows = Vec::new();
    for condition in required {
        let state = match *condition {
            StartCondition::Start(c) => c,
            StartCondition::Row(row) => {
                let (count, column) = columns[row as usize];
                if count != 1 {
                    return None;
                }
                rows.push((row, column));
                column
            }
            StartCondition::Slope(_) | StartCondition::Guess(_) => return None,
        };
        let is_state = role.get(state as usize) == Some(&UnknownRole::State);
        if !is_state || std::mem::replace(&mut fixed[state as usize], true) {
            return None;
        }
    }
    Some(rows)
}

/// The system of [`states_by_row`]: nothing is to be searched.
fn explicit(
    cols: usize,
    basic: impl Fn(usize) -> bool,
    equations: usize,
    states: Vec<(u32, u32)>,
    ranked: Ranked,
) -> StartSystem {
    let mut by_row = vec![false; cols];
    for &(_, state) in &states {
        by_row[state as usize] = true;
    }
    let unknown = |&c: &usize| basic(c) || by_row[c];
    let mut rows: Vec<u32> = (0..equations as u32).collect();
    rows.extend(states.iter().map(|&(row, _)| row));
    rows.sort_unstable();
    let needed = |c: &StartCondition| matches!(c, StartCondition::Start(c) if !by_row[*c as usize]);
    let (held, released) = ranked.optional.iter().partition(|c| needed(c));
    StartSystem {
        columns: (0..cols).filter(unknown).map(|c| c as u32).collect(),
        rows,
        held,
        released,
        ..StartSystem::default()
    }
}

fn rank(machine: &Machine, data: &StartData, role: &[UnknownRole], steady: bool) -> Ranked {
    let model = &machine.model;
    let n = model.n;
    let is_state = |c: u32| role[c as usize] == UnknownRole::State;
    let all = || 0..n as u32;
    let mut required = Vec::new();
    for (g, kind) in model.initial.rows.iter().zip(&model.initial.kinds) {
        if *kind == InitialRow::Equation {
            required.extend((g.first..g.first + g.len).map(|r| StartCondition::Row(r as u32)));
        }
    }
    if steady {
        required.extend(all().filter(|&c| is_state(c)).map(StartCondition::Slope));
    }
    let fixed = |c: &u32| data.fixed[*c as usize];
    required.extend(
        all()
            .filter(fixed)
            .filter(|&c| is_state(c))
            .map(StartCondition::Start),
    );
    for (g, kind) in model.initial.rows.iter().zip(&model.initial.kinds) {
        let InitialRow::Start(var) = kind else {
            continue;
        };
        let attribute = model.fixed_of.get(var);
        let counts = |k: &usize| attribute.is_some_and(|b| machine.mem[b + k] != 0.0);
        let rows = (0..g.len).filter(counts).map(|k| (g.first + k) as u32);
        required.extend(rows.map(StartCondition::Row));
    }
    required.extend(
        all()
            .filter(fixed)
            .filter(|&c| !is_state(c))
            .map(StartCondition::Start),
    );
    let mut states: Vec<u32> = all()
        .filter(|&c| is_state(c) && !data.fixed[c as usize])
        .collect();
    by_rank(&mut states, data);
    let mut optional: Vec<StartCondition> = states.into_iter().map(StartCondition::Start).collect();
    let unknown = (0..data.free.len()).filter(|&k| data.unknown[k]);
    optional.extend(unknown.map(|k| StartCondition::Guess(k as u32)));
    Ranked { required, optional }
}

/// Puts states in the order in which their start values are kept: written ones first, then by `stateSelect`.
pub(super) fn by_rank(states: &mut [u32], data: &StartData) {
    states.sort_by_key(|&c| {
        let c = c as usize;
        std::cmp::Reverse((data.given[c], data.preference[c]))
    });
}

/// The pattern by rows, with the columns that may be unknown.
struct Graph {
    rows: Rows<VarId>,
    columns: usize,
}

impl Graph {
    fn new(machine: &Machine, columns: usize, eligible: impl Fn(usize) -> bool) -> Graph {
        let s = machine.model.initial.jacobian.sparsity();
        let mut row_ptr = vec![0u32; s.rows + 1];
        let entries = |c: usize| s.entries(c);
        for c in (0..columns).filter(|&c| eligible(c)) {
            for k in entries(c) {
                row_ptr[s.row_idx[k] as usize + 1] += 1;
            }
        }
        for r in 0..s.rows {
            row_ptr[r + 1] += row_ptr[r];
        }
        let mut next = row_ptr.clone();
        let mut cols = vec![VarId(0); row_ptr[s.rows] as usize];
        for c in (0..columns).filter(|&c| eligible(c)) {
            for k in entries(c) {
                let at = &mut next[s.row_idx[k] as usize];
                cols[*at as usize] = VarId(c as u32);
                *at += 1;
            }
        }
        Graph {
            rows: Rows::from_parts(row_ptr, cols),
            columns,
        }
    }

    fn row(&self, row: usize) -> &[VarId] {
        self.rows.row(row)
    }

    /// The equations of the model, with derivatives and algebraic unknowns as far as possible.
    fn equations(&self, equations: usize, basic: impl Fn(usize) -> bool) -> Matching {
        let own = self.rows.first(equations);
        let found = maximum_matching(&own, self.columns, |v| basic(v.index()));
        let mut col_of: Vec<Option<u32>> = found.var_of_eq.iter().map(|v| v.map(|v| v.0)).collect();
        col_of.resize(self.rows.len(), None);
        Matching {
            row_of: found.eq_of_var.iter().map(|e| e.map(|e| e.0)).collect(),
            col_of,
            mark: vec![0; self.columns],
            from: vec![0; self.columns],
            round: 0,
            rows_of_graph: self.rows.len(),
        }
    }
}

/// A matching that grows row by row.
struct Matching {
    row_of: Vec<Option<u32>>,
    col_of: Vec<Option<u32>>,
    /// Per column: the search that saw it last; [`DEAD`] when no search from it can succeed any more.
    mark: Vec<u32>,
    /// Per column: the row it was reached from.
    from: Vec<u32>,
    round: u32,
    rows_of_graph: usize,
}

const DEAD: u32 = u32::MAX;

impl Matching {
    /// A row that is not in the graph, for a condition with one column.
    fn virtual_row(&mut self) -> usize {
        self.col_of.push(None);
        self.col_of.len() - 1
    }

    /// Looks for an alternating path from an unmatched row to an unmatched column, breadth first.
    fn augment(&mut self, graph: &Graph, first: &[VarId], row: usize) -> bool {
        self.round += 1;
        let mut seen = Vec::new();
        let mut queue = std::collections::VecDeque::from([row]);
        while let Some(r) = queue.pop_front() {
            let cols = if r == row {
                first
            } else if r < self.rows_of_graph {
                graph.row(r)
            } else {
                // A virtual row is matched with its only column.
                continue;
            };
            for &c in cols {
                let k = c.index();
                if self.mark[k] == self.round || self.mark[k] == DEAD {
                    continue;
                }
                self.mark[k] = self.round;
                self.from[k] = r as u32;
                seen.push(k);
                match self.row_of[k] {
                    None => {
                        self.flip(k, row);
                        return true;
                    }
                    Some(other) => queue.push_back(other as usize),
                }
            }
        }
        for k in seen {
            self.mark[k] = DEAD;
        }
        false
    }

    /// Reassigns along the path that ends in column `end`.
    fn flip(&mut self, end: usize, start: usize) {
        let mut column = end;
        loop {
            let r = self.from[column] as usize;
            let previous = self.col_of[r];
            self.col_of[r] = Some(column as u32);
            self.row_of[column] = Some(r as u32);
            match previous {
                Some(p) if r != start => column = p as usize,
                _ => return,
            }
        }
    }
}
