//! Relations of `time` whose instants are known before the start, at run time.
//!
//! The instants are sorted once. At an event those relations are evaluated whose instant has come, and of the assignments that follow from
//! relations of the timetable ([`acausal_compiled::TimetableCode`]) those that read something that has changed, in the order
//! in which they depend on each other: each at most once. With n relations the instants of a run cost O(n log n) together, and an
//! event costs what depends on its relations, however many others there are.
//!
//! Invariant, from the start on: the cells before `next` hold what is true after their instant, the others what is true before it
//! (at the start time itself, what is true at it); every assignment holds for these cells. So nothing of the timetable changes between
//! two calls of [`Machine::advance_timetable`], and the event iteration takes it as given, as it takes parameters. An instant that is equal to the
//! present one up to the rounding of its computation has come ([`Machine::is_now`]).
//!
//! Example: `b1 = time > 1; b2 = time > 2; any = b1 or b2` at t = 1: the relation of `b1` is evaluated, then `b1`, then `any`.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use acausal_compiled::{CompiledModel, fixed};
use acausal_expr::flat::{OriginId, VarType};
use acausal_expr::{LARGEST_INTEGER, ValueKind};
use acausal_jit::kernel::{Bank, Call};
use acausal_jit::{Banks, BoundProgram};

use super::Machine;
use crate::SimError;

/// How much later relations of time are evaluated to see what holds after the present instant.
pub(crate) const LATER: f64 = 1e-6;

/// See the module.
#[derive(Default)]
pub(crate) struct Timetable {
    bound: Option<Bound>,
    /// Instants with the numbers of their relations, in ascending order. Those that are no number never come.
    instants: Vec<(f64, u32)>,
    /// How many of them have been handled.
    next: usize,
    /// Per relation: the call that evaluates it.
    value_calls: Vec<u32>,
    /// Places that single repetitions read, with the assignment; sorted.
    readers: Vec<(u32, u32)>,
    /// Per assignment: the places it writes.
    targets: Vec<Vec<u32>>,
    /// Discrete variables: place of the first value, of its left limit, number of values, whether they are Integers. Sorted.
    variables: Vec<(usize, usize, usize, bool)>,
    /// Places whose value is no finite number, or no exact Integer.
    invalid: BTreeSet<usize>,
    /// What the last advance has changed: places with the values before.
    changes: Vec<(usize, f64)>,
    /// Assignments that wait to be evaluated, and whether each one does.
    waiting: BinaryHeap<Reverse<u32>>,
    waits: Vec<bool>,
    /// Relations and assignments that were evaluated.
    pub evaluations: u64,
}

struct Bound {
    values: BoundProgram,
    instants: BoundProgram,
    assignments: BoundProgram,
}

/// What an advance has done.
#[derive(Default)]
pub(crate) struct Advanced {
    /// Relations that changed, by number in the timetable.
    pub relations: Vec<usize>,
    /// A discrete variable has changed.
    pub discrete: bool,
}

impl Timetable {
    /// Prepares the timetable of a model.
    pub fn new(
        model: &CompiledModel,
        bind: &dyn Fn(&[Call]) -> Result<BoundProgram, SimError>,
    ) -> Result<Timetable, SimError> {
        let code = &model.events.timetable;
        if code.relations.is_empty() {
            return Ok(Timetable::default());
        }
        let mut value_calls = vec![0; code.cells];
        for (k, call) in code.values.iter().enumerate() {
            for number in outputs(call) {
                value_calls[number] = k as u32;
            }
        }
        let targets: Vec<Vec<u32>> = (code.assignments.iter())
            .map(|call| outputs(call).map(|p| p as u32).collect())
            .collect();
        let mut readers = Vec::new();
        for (k, call) in code.assignments.iter().enumerate() {
            for slot in call.slots.iter().filter(|a| a.bank() == Some(Bank::Mem)) {
                let places = (0..call.count).filter_map(|j| slot.element(j));
                readers.extend(places.map(|p| (p as u32, k as u32)));
            }
        }
        readers.sort_unstable();
        readers.dedup();
        Ok(Timetable {
            bound: Some(Bound {
                values: bind(&code.values)?,
                instants: bind(&code.instants)?,
                assignments: bind(&code.assignments)?,
            }),
            value_calls,
            readers,
            variables: variables(model, &targets),
            waits: vec![false; targets.len()],
            targets,
            ..Timetable::default()
        })
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.bound.is_none()
    }

    /// Whether the discrete variable whose first value lies here is computed by the timetable.
    pub fn has_variable(&self, value: usize) -> bool {
        self.variables.binary_search_by_key(&value, |v| v.0).is_ok()
    }

    /// What the last advance has changed: places with the values before.
    pub fn changes(&self) -> &[(usize, f64)] {
        &self.changes
    }

    /// The first place whose value is no finite number, or no exact Integer.
    pub fn invalid(&self) -> Option<usize> {
        self.invalid.first().copied()
    }

    /// The variable that a place belongs to.
    fn variable(&self, place: usize) -> Option<&(usize, usize, usize, bool)> {
        let k = self.variables.partition_point(|v| v.0 <= place);
        let v = &self.variables[k.checked_sub(1)?];
        (place < v.0 + v.2).then_some(v)
    }

    /// Keeps the book of values that are no numbers.
    fn note(&mut self, place: usize, value: f64) {
        let integer = self.variable(place).is_some_and(|v| v.3);
        if !value.is_finite() || integer && value.abs() > LARGEST_INTEGER {
            self.invalid.insert(place);
        } else if !self.invalid.is_empty() {
            self.invalid.remove(&place);
        }
    }

    /// Lets the assignments wait that read a place.
    fn wake(&mut self, place: usize) {
        let first = self.readers.partition_point(|r| (r.0 as usize) < place);
        for &(_, k) in (self.readers[first..].iter()).take_while(|r| r.0 as usize == place) {
            if !std::mem::replace(&mut self.waits[k as usize], true) {
                self.waiting.push(Reverse(k));
            }
        }
    }
}

/// The places that a call writes, per output and repetition.
fn outputs(call: &Call) -> impl Iterator<Item = usize> {
    let places = |a: &'_ acausal_jit::kernel::Address| -> Vec<usize> {
        (0..call.count).filter_map(|j| a.element(j)).collect()
    };
    let all: Vec<usize> = call.outputs.iter().flat_map(|o| places(&o.0)).collect();
    all.into_iter()
}

/// The discrete variables all of whose values are assigned here.
fn variables(model: &CompiledModel, targets: &[Vec<u32>]) -> Vec<(usize, usize, usize, bool)> {
    let mut written: Vec<u32> = targets.iter().flatten().copied().collect();
    written.sort_unstable();
    let mut found = Vec::new();
    for (id, var) in model.symbols.var_ids() {
        if var.is_parameter() || !var.is_discrete() || var.is_empty() {
            continue;
        }
        let (Some(value), Some(pre)) = (
            model.region(id, ValueKind::Value),
            model.region(id, ValueKind::Pre),
        ) else {
            continue;
        };
        let first = written.partition_point(|p| (*p as usize) < value);
        let end = written.partition_point(|p| (*p as usize) < value + var.len());
        if end - first == var.len() {
            found.push((value, pre, var.len(), var.ty == VarType::Integer));
        }
    }
    found.sort_unstable();
    found
}

impl Machine {
    /// Evaluates the whole timetable as it is at time `t`. Instants that are equal to it are still to come.
    pub(crate) fn start_timetable(&mut self, t: f64) {
        let mut table = std::mem::take(&mut self.timetable);
        if let Some(bound) = &table.bound {
            let before = std::mem::replace(&mut self.mem[fixed::TIME], t);
            self.run_known(&bound.instants, None);
            let instants = self.out[..table.value_calls.len()].iter().copied();
            let numbered = instants.zip(0u32..).filter(|i| i.0.is_finite());
            table.instants = numbered.collect();
            table.instants.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.run_known(&bound.values, None);
            let model = self.model.clone();
            for r in &model.events.timetable.relations {
                let values = &self.out[r.first..r.first + r.len];
                self.mem[r.base..r.base + r.len].copy_from_slice(values);
            }
            self.run_known(&bound.assignments, None);
            self.mem[fixed::TIME] = before;
            for k in 0..table.variables.len() {
                let (value, pre, len, _) = table.variables[k];
                self.mem.copy_within(value..value + len, pre);
            }
            table.changes.clear();
        }
        self.timetable = table;
        self.pass_timetable(t);
    }

    /// Takes the instants before `t` as handled; the cells and what follows from them are as they should be.
    pub(crate) fn pass_timetable(&mut self, t: f64) {
        let targets = std::mem::take(&mut self.timetable.targets);
        for place in targets.iter().flatten().map(|&p| p as usize) {
            self.timetable.note(place, self.mem[place]);
        }
        self.timetable.targets = targets;
        let over = |i: &(f64, u32)| i.0 < t && !self.is_now(i.0, t);
        self.timetable.next = self.timetable.instants.partition_point(over);
    }

    /// The next instant after `t`.
    pub(crate) fn next_of_timetable(&self, t: f64) -> f64 {
        let table = &self.timetable;
        let later = table.instants[table.next..].iter().map(|i| i.0);
        // What is due now has been handled now.
        let mut later = later.skip_while(|&i| i <= t || self.is_now(i, t));
        later.next().unwrap_or(f64::INFINITY)
    }

    /// Whether an instant that was not handled yet has come.
    pub(crate) fn timetable_is_due(&self, t: f64) -> bool {
        let next = self.timetable.instants.get(self.timetable.next);
        next.is_some_and(|i| i.0 <= t || self.is_now(i.0, t))
    }

    /// Handles the instants up to `t`: their relations are as they will be right after it.
    pub(crate) fn advance_timetable(&mut self, t: f64) -> Advanced {
        let mut advanced = Advanced::default();
        let mut table = std::mem::take(&mut self.timetable);
        table.changes.clear();
        let has_come = |i: &(f64, u32)| i.0 <= t || self.is_now(i.0, t);
        let due = table.instants[table.next..]
            .iter()
            .take_while(|i| has_come(i));
        let mut due: Vec<u32> = due.map(|i| i.1).collect();
        table.next += due.len();
        due.sort_unstable();
        if let (Some(bound), false) = (&table.bound, due.is_empty()) {
            // Such relations are linear in time, so any later instant will do.
            let later = t + LATER * t.abs().max(1.0);
            let before = std::mem::replace(&mut self.mem[fixed::TIME], later);
            let mut calls: Vec<u32> = due.iter().map(|&n| table.value_calls[n as usize]).collect();
            calls.sort_unstable();
            calls.dedup();
            for &k in &calls {
                self.run_known(&bound.values, Some(k));
                table.evaluations += self.model.events.timetable.values[k as usize].count as u64;
            }
            self.mem[fixed::TIME] = before;
        }
        let model = self.model.clone();
        for number in due.into_iter().map(|n| n as usize) {
            let relations = &model.events.timetable.relations;
            let Some(r) = crate::event::numbered(relations, number) else {
                continue;
            };
            let place = r.base + number - r.first;
            let old = std::mem::replace(&mut self.mem[place], self.out[number]);
            if old.to_bits() != self.mem[place].to_bits() {
                advanced.relations.push(number);
                table.changes.push((place, old));
                table.wake(place);
            }
        }
        while let Some(Reverse(k)) = table.waiting.pop() {
            let places = &table.targets[k as usize];
            let old: Vec<f64> = places.iter().map(|&p| self.mem[p as usize]).collect();
            if let Some(bound) = &table.bound {
                self.run_known(&bound.assignments, Some(k));
            }
            table.evaluations += places.len() as u64;
            for (j, old) in old.into_iter().enumerate() {
                let place = table.targets[k as usize][j] as usize;
                let new = self.mem[place];
                if old.to_bits() == new.to_bits() {
                    continue;
                }
                table.changes.push((place, old));
                table.note(place, new);
                if let Some(&(value, pre, ..)) = table.variable(place) {
                    self.mem[pre + place - value] = new;
                    advanced.discrete = true;
                }
                table.wake(place);
            }
            // Not before: a piece that reads what it has written itself does not wait for itself.
            table.waits[k as usize] = false;
        }
        self.timetable = table;
        advanced
    }

    /// What determines a place of the timetable whose value is no number.
    pub(crate) fn timetable_origin(&self, place: usize) -> Option<OriginId> {
        let values = &self.model.events.timetable.local_values;
        let found = values.iter().find(|v| (v.0..v.0 + v.1).contains(&place));
        found.map(|v| v.2)
    }

    /// Runs a program of the timetable, or one call of it. It reads no unknowns.
    fn run_known(&mut self, program: &BoundProgram, call: Option<u32>) {
        let banks = Banks {
            y: &[],
            yp: &[],
            mem: &mut self.mem,
            out: &mut self.out,
        };
        let (functions, scratch) = (&self.functions, &mut self.scratch);
        let done = match call {
            None => program.run(banks, functions, scratch),
            Some(k) => program.run_call(k as usize, banks, functions, scratch),
        };
        if let Err(e) = done {
            self.fault.get_or_insert(e);
        }
    }
}
