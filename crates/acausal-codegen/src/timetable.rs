//! What is known before the start: relations of `time` with parameters, and what follows from them alone.
//!
//! The truth of `time > T` with a parameter T changes at an instant that nothing in the model can move. A discrete variable or a
//! local assignment that reads nothing but such relations, parameters and others of its kind is a step function of time
//! that is given from outside, as a table would be. So it needs no part in the event iteration (MLS 3.6 appendix B), in which unknowns
//! wait for each other, and no evaluation at any instant at which none of its relations changes.
//!
//! In: a compiled model whose relations of this kind were set apart when they got their code ([`TimetableCode::relations`]).
//! Out: the assignments that follow from them, taken out of the programs that run at every step and every event. The simulator
//! evaluates those that read what changed.
//!
//! Invariant: an assignment here reads only constant places, cells of relations here, and what assignments before it have written; no
//! other program writes its place; nobody asks for the left limit of its value if it is discrete (`pre`, `edge`, `when`
//! conditions of the iteration see both sides of the event, and for that a variable has to take part in it).
//!
//! Method: Kahn's topological sort (1962) over the repetitions of calls. Each waits for as many places as it reads
//! that are not known yet; one that waits for nothing is taken, and its place is known. Linear in the number of places that the calls
//! read. Calls that read unknowns are not looked at; without a relation here nothing is.
//!
//! Example: `b = time > 1; c = b and on; y = if c then 2 else x`: the cell of `time > 1` is known, so `b` is, and with a parameter `on`
//! also `c`; `y` reads an unknown and stays where it is.

use acausal_compiled::TimetableCode;
use std::collections::VecDeque;

use acausal_expr::flat::OriginId;
use acausal_expr::{Builtin, ExprId, Node, RelOp, ValueKind};
use acausal_jit::kernel::{Address, Bank, Call, Program, Store};
use acausal_jit::points;

use crate::CodegenError;
use crate::cells::CellGroup;
use crate::lower::Lowering;
use acausal_compiled::CompiledModel;
use acausal_compiled::Place;
use acausal_compiled::{ActionCode, RelationCode};

/// Repetitions of an assignment that are evaluated together: where one changes, so many are evaluated. Enough that a piece costs little
/// memory per element (a bound call takes about two hundred bytes), few enough that it costs little time.
const PIECE: usize = 16;

impl Lowering<'_> {
    /// Whether a relation of `time` depends on nothing else than constants and parameters that are known before the start.
    pub(crate) fn is_known_before(&self, relation: ExprId) -> bool {
        let flat = &self.flat;
        !flat.exprs.any(relation, |x, n| match x.node(n) {
            Node::Var(a) => {
                a.kind != ValueKind::Value
                    || !flat.var(a.var).is_parameter()
                    || self.parameters_wait
            }
            // A sum has places of its own that something else would have to fill.
            Node::Reduce { .. } | Node::NoEvent(_) => true,
            Node::Call(
                Builtin::Initial
                | Builtin::Terminal
                | Builtin::Sample
                | Builtin::Delay
                | Builtin::Spatial
                | Builtin::Homotopy,
                _,
            ) => true,
            _ => false,
        })
    }

    /// Code of a group of relations whose instants are known before the start.
    pub(crate) fn timetable_relation(
        &mut self,
        code: &mut TimetableCode,
        g: &CellGroup,
        op: RelOp,
        instant: ExprId,
    ) -> Result<(), CodegenError> {
        let first = code.cells;
        code.cells += g.len;
        let values = self.cell_value(g, first)?;
        code.values.extend(values);
        let instants = self.out_program(&g.domain, instant, first, g.origin)?;
        code.instants.extend(instants);
        code.relations.push(RelationCode {
            base: g.base,
            len: g.len,
            first,
            op: Some(op),
            expr: g.key.expr,
            by_time: true,
            by_value: false,
            algebraic: false,
            slopes: false,
            origin: g.origin,
        });
        Ok(())
    }
}

/// Takes what follows from the timetable out of the programs of a model.
pub(crate) fn take_out(c: &mut CompiledModel) {
    if c.events.timetable.relations.is_empty() {
        return;
    }
    let known = constants(c);
    let taken = taken(c);
    let programs = [
        std::mem::take(&mut c.locals),
        std::mem::take(&mut c.other_locals),
        std::mem::take(&mut c.events.discrete),
    ];
    let sorted = sort(&programs, known, &taken, c.mem_len);
    let mut first = 0;
    let mut rest = programs.into_iter().map(|program| {
        let calls = first..first + program.len();
        first = calls.end;
        let parts = program.iter().zip(calls);
        parts
            .flat_map(|(call, k)| without(call, &sorted.moved[k]))
            .collect()
    });
    let mut next = || rest.next().expect("as many programs as were sorted");
    (c.locals, c.other_locals, c.events.discrete) = (next(), next(), next());
    let values = std::mem::take(&mut c.events.timetable.values);
    c.events.timetable.values = values.iter().flat_map(pieces).collect();
    c.events.timetable.assignments = sorted.assignments;
    let mut written = vec![false; c.mem_len];
    mark(&c.events.timetable.assignments, &mut written, true);
    let all = |&(first, count, _): &(usize, usize, OriginId)| {
        count > 0 && written[first..first + count].iter().all(|w| *w)
    };
    (c.events.timetable.local_values, c.local_values) = std::mem::take(&mut c.local_values)
        .into_iter()
        .partition(all);
}

/// Places that hold the same value from the start to the end, and the cells of the timetable.
fn constants(c: &CompiledModel) -> Vec<bool> {
    let mut known = vec![false; c.mem_len];
    for (base, values) in &c.tables {
        known[*base..base + values.len()].fill(true);
    }
    for &(base, count, _) in &c.literals {
        known[base..base + count].fill(true);
    }
    let before = !c.initial.parameters_wait();
    for (id, var) in c.symbols.var_ids().filter(|(_, v)| v.is_parameter()) {
        if let Some(Place::Whole(Bank::Mem, base)) = c.layout.place((id, ValueKind::Value)) {
            known[*base..base + var.len()].fill(before);
        }
    }
    for program in [
        &c.initial.discrete,
        &c.initial.given_values,
        &c.initial.dependent,
    ] {
        mark(program, &mut known, false);
    }
    for r in &c.events.timetable.relations {
        known[r.base..r.base + r.len].fill(true);
    }
    known
}

/// Places that other programs write as well, and discrete variables whose left limit somebody reads.
fn taken(c: &CompiledModel) -> Vec<bool> {
    let mut taken = vec![false; c.mem_len];
    for program in [
        &c.initial.discrete,
        &c.initial.given_values,
        &c.initial.dependent,
    ] {
        mark(program, &mut taken, true);
    }
    let branches = c.events.whens.iter().flat_map(|w| &w.branches);
    for action in branches.flat_map(|b| &b.actions) {
        if let ActionCode::Set { targets, .. } = action {
            for t in targets.iter().filter(|t| t.bank() == Bank::Mem) {
                taken[t.index()] = true;
            }
        }
    }
    let limits: Vec<(usize, usize, usize)> = (c.symbols.var_ids())
        .filter(|(_, v)| v.is_discrete() && !v.is_parameter() && !v.is_empty())
        .filter_map(|(id, v)| {
            Some((
                c.region(id, ValueKind::Pre)?,
                c.region(id, ValueKind::Value)?,
                v.len(),
            ))
        })
        .collect();
    let low = limits.iter().map(|l| l.0).min().unwrap_or(0);
    let high = limits.iter().map(|l| l.0 + l.2).max().unwrap_or(0);
    // What is read is asked of the code: operators such as `edge` read a left limit that no expression names.
    let mut read = vec![false; high - low];
    for call in programs(c).into_iter().flatten() {
        for slot in call.slots.iter().filter(|a| a.bank() == Some(Bank::Mem)) {
            let last = call.count.saturating_sub(1);
            if let Address::Affine { .. } = slot
                && let (Some(a), Some(b)) = (slot.element(0), slot.element(last))
                && (a.max(b) < low || a.min(b) >= high)
            {
                continue;
            }
            let places = (0..call.count).filter_map(|j| slot.element(j));
            for place in places.filter(|p| (low..high).contains(p)) {
                read[place - low] = true;
            }
        }
    }
    for (pre, value, len) in limits {
        if read[pre - low..pre - low + len].contains(&true) {
            taken[value..value + len].fill(true);
        }
    }
    taken
}

/// All programs that run after the parameters are known.
fn programs(c: &CompiledModel) -> Vec<&Program> {
    let (i, e) = (&c.initial, &c.events);
    let mut all = vec![
        &c.locals,
        &c.other_locals,
        &c.residuals,
        &c.jacobian.partials,
        &i.residuals,
        &i.jacobian.partials,
        &i.dependent,
        &i.given_values,
        &i.discrete,
        &e.values,
        &e.indicators,
        &e.times,
        &e.discrete,
        &e.conditions,
    ];
    all.extend(e.samples.iter().map(|s| &s.arguments));
    all.extend(e.delays.iter().map(|d| &d.arguments));
    all.extend(e.spatials.iter().map(|s| &s.arguments));
    all.extend(e.asserts.iter().map(|a| &a.conditions));
    all.extend(e.indexed.iter().map(|i| &i.values));
    all.extend(e.continuous.iter().map(|c| &c.sides));
    let branches = e.whens.iter().flat_map(|w| &w.branches);
    all.extend(branches.flat_map(|b| &b.actions).filter_map(|a| match a {
        ActionCode::Set { values, .. } => Some(values),
        ActionCode::Assert(a) => Some(&a.conditions),
        ActionCode::Print { .. } | ActionCode::Terminate { .. } => None,
    }));
    all
}

/// Sets marks at all places of `Mem` that a program writes.
fn mark(program: &[Call], marks: &mut [bool], value: bool) {
    for call in program {
        for (address, _) in call
            .outputs
            .iter()
            .filter(|o| o.0.bank() == Some(Bank::Mem))
        {
            for k in (0..call.count).filter_map(|j| address.element(j)) {
                marks[k] = value;
            }
        }
    }
}

/// What was taken out.
struct Sorted {
    assignments: Program,
    /// Per call: which repetitions.
    moved: Vec<Vec<bool>>,
}

/// Kahn's sort, see the module.
fn sort(programs: &[Program; 3], mut known: Vec<bool>, taken: &[bool], mem_len: usize) -> Sorted {
    let calls: Vec<&Call> = programs.iter().flatten().collect();
    let mut writers = vec![0u8; mem_len];
    for call in &calls {
        for (address, _) in call
            .outputs
            .iter()
            .filter(|o| o.0.bank() == Some(Bank::Mem))
        {
            for k in (0..call.count).filter_map(|j| address.element(j)) {
                writers[k] = writers[k].saturating_add(1);
            }
        }
    }
    // Repetitions are numbered through all calls that are looked at.
    let mut numbered: Vec<(usize, usize)> = Vec::new();
    let mut waits: Vec<u32> = Vec::new();
    let mut readers: Vec<(u32, u32)> = Vec::new();
    for (k, call) in calls.iter().enumerate().filter(|(_, c)| may_be_known(c)) {
        for j in 0..call.count {
            let alone = call.outputs.iter().all(|(a, _)| {
                a.element(j)
                    .is_some_and(|p| writers[p] == 1 && !taken[p] && !known[p])
            });
            if !alone {
                continue;
            }
            let number = waits.len() as u32;
            let places = call.slots.iter().filter_map(|a| a.element(j));
            let unknown = places.filter(|&p| !known[p]);
            let before = readers.len();
            readers.extend(unknown.map(|p| (p as u32, number)));
            waits.push((readers.len() - before) as u32);
            numbered.push((k, j));
        }
    }
    readers.sort_unstable();
    let mut ready: VecDeque<u32> = (0..waits.len() as u32)
        .filter(|&n| waits[n as usize] == 0)
        .collect();
    let mut sorted = Sorted {
        assignments: Vec::new(),
        moved: calls.iter().map(|_| Vec::new()).collect(),
    };
    let mut piece: Option<(usize, std::ops::Range<usize>)> = None;
    while let Some(number) = ready.pop_front() {
        let (k, j) = numbered[number as usize];
        match &mut piece {
            Some((call, range)) if *call == k && range.end == j && range.len() < PIECE => {
                range.end += 1;
            }
            _ => {
                let done = piece.replace((k, j..j + 1));
                sorted
                    .assignments
                    .extend(done.map(|(k, r)| points(calls[k], r.start, r.end)));
            }
        }
        sorted.moved[k].resize(calls[k].count, false);
        sorted.moved[k][j] = true;
        for place in calls[k].outputs.iter().filter_map(|(a, _)| a.element(j)) {
            known[place] = true;
            let first = readers.partition_point(|r| (r.0 as usize) < place);
            for &(_, reader) in readers[first..]
                .iter()
                .take_while(|r| r.0 as usize == place)
            {
                waits[reader as usize] -= 1;
                if waits[reader as usize] == 0 {
                    ready.push_back(reader);
                }
            }
        }
    }
    sorted
        .assignments
        .extend(piece.map(|(k, r)| points(calls[k], r.start, r.end)));
    sorted
}

/// Whether a call assigns places of `Mem` by what lies in `Mem`, and may be cut.
fn may_be_known(call: &Call) -> bool {
    let mem = |a: &Address| matches!(a.bank(), Some(Bank::Mem) | None);
    call.slots.iter().all(mem)
        && (call.outputs.iter()).all(|(a, s)| a.bank() == Some(Bank::Mem) && *s == Store::Set)
        && (call.count == 1 || call.slots.iter().all(Address::counts_exactly))
}

/// The repetitions of a call that were not moved.
fn without(call: &Call, moved: &[bool]) -> Vec<Call> {
    if moved.is_empty() {
        return vec![call.clone()];
    }
    let mut parts = Vec::new();
    let mut from = 0;
    while from < call.count {
        let len = moved[from..].iter().take_while(|m| !**m).count();
        if len > 0 {
            parts.push(points(call, from, from + len));
        }
        from += len;
        from += moved[from..].iter().take_while(|m| **m).count();
    }
    parts
}

/// A call in pieces.
fn pieces(call: &Call) -> Vec<Call> {
    if !call.slots.iter().all(Address::counts_exactly) {
        return vec![call.clone()];
    }
    let starts = (0..call.count).step_by(PIECE);
    let piece = |from: usize| points(call, from, (from + PIECE).min(call.count));
    starts.map(piece).collect()
}
