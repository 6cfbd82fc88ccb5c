//! Matching of array equations with array variables as a flow (Otter & Elmqvist 2017, §4.2, in capacity form).
//!
//! An array equation of length `elen` supplies that many scalar equations, an array variable of length `vlen` takes at
//! most that many, and an incidence is an arc without limit (every element of the equation is taken to contain every
//! element of the variable). A maximum flow is a maximum matching of the elements, yet its cost depends on the number
//! of arrays only.
//!
//! In: a [`Graph`] and which variables are unknown. Out: a [`Flow`]: how many elements of which variable each equation
//! determines. Method: Karp–Sipser start, then Dinic's phases (breadth-first levels, blocking flow along them) with explicit
//! stacks; with all lengths one this is Hopcroft–Karp, O(E sqrt(n)).
//!
//! Worked example: `a[3]: r, s`, `b[1]: r` with lengths r 3, s 1. b has only r,
//! so it takes one element of it; a gets the other two and s.
//! ```
//! use acausal_structure::{EqId, VarId, flow::{Flow, Graph}};
//! let g = Graph::new(&[3, 1], &[3, 1], &[&[0, 1], &[0]]);
//! let f = Flow::maximum(&g, |_| true);
//! assert_eq!(f.total(), 4);
//! assert_eq!(f.assigned(&g, EqId(0)).collect::<Vec<_>>(), [(VarId(0), 2), (VarId(1), 1)]);
//! assert_eq!(f.assigned(&g, EqId(1)).collect::<Vec<_>>(), [(VarId(0), 1)]);
//! ```

pub use crate::graph::{Graph, Reached};

mod start;

use crate::graph::Marks;
use crate::{EqId, VarId};

const END: u32 = u32::MAX;

/// An assignment of equation elements to variable elements, counted per incidence.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    amount: Vec<u64>, // per incidence slot
    need: Vec<u64>,   // per equation: elements not yet assigned
    used: Vec<u64>,   // per variable: elements taken
    // The slots with flow into each variable as a linked list; emptied slots are unlinked when a search meets them.
    head: Vec<u32>,
    next: Vec<u32>,
    linked: Vec<bool>,
    equation: Vec<u32>, // of each slot
    search: Search,
}

impl Flow {
    /// A maximum flow into the variables for which `unknown` holds.
    pub fn maximum(graph: &Graph, unknown: impl Fn(VarId) -> bool) -> Flow {
        let visible: Vec<bool> = (0..graph.vlen.len())
            .map(|v| unknown(VarId::new(v)))
            .collect();
        let mut flow = Flow::default();
        flow.grow(graph);
        let all: Vec<EqId> = (0..graph.elen.len()).map(EqId::new).collect();
        flow.maximise(graph, &visible, &all);
        flow
    }

    /// Like [`Flow::maximum`], but starting with the first variable with room for each equation in turn: on repetitive
    /// systems the result is more regular.
    pub(crate) fn maximum_in_order(graph: &Graph) -> Flow {
        let visible = vec![true; graph.vlen.len()];
        let mut flow = Flow::default();
        flow.grow(graph);
        let all: Vec<EqId> = (0..graph.elen.len()).map(EqId::new).collect();
        flow.start_in_order(graph, &visible, &all);
        flow.augment_all(graph, &visible, &all);
        flow
    }

    /// Number of assigned elements.
    pub fn total(&self) -> u64 {
        self.used.iter().sum()
    }

    /// Elements of equation `e` that have no variable.
    pub fn missing(&self, e: EqId) -> u64 {
        self.need[e.index()]
    }

    /// Elements of variable `v` that no equation determines.
    pub fn spare(&self, graph: &Graph, v: VarId) -> u64 {
        graph.vlen[v.index()] - self.used[v.index()]
    }

    /// How many elements of each variable equation `e` determines.
    pub fn assigned<'a>(
        &'a self,
        graph: &'a Graph,
        e: EqId,
    ) -> impl Iterator<Item = (VarId, u64)> + 'a {
        let slots = graph.incidence.slots(e.index());
        slots
            .map(|s| (graph.incidence.items()[s], self.amount[s]))
            .filter(|&(_, f)| f > 0)
    }

    /// The equations that determine elements of variable `v`, and how many each.
    pub fn owners(&self, v: VarId) -> impl Iterator<Item = (EqId, u64)> + '_ {
        let mut slot = self.head[v.index()];
        std::iter::from_fn(move || {
            while slot != END {
                let s = slot as usize;
                slot = self.next[s];
                if self.amount[s] > 0 {
                    return Some((EqId(self.equation[s]), self.amount[s]));
                }
            }
            None
        })
    }

    /// The flow on each incidence of equation `e`, in the order of its row.
    pub(crate) fn amounts<'a>(&'a self, graph: &Graph, e: EqId) -> impl Iterator<Item = u64> + 'a {
        self.amount[graph.incidence.slots(e.index())]
            .iter()
            .copied()
    }

    /// The numbers of the equations that determine `v`.
    pub(crate) fn owner_slots(&self, v: VarId) -> impl Iterator<Item = usize> + '_ {
        self.owners(v).map(|(e, _)| e.index())
    }

    /// Makes room for equations and variables that were appended to the graph; new equations are unassigned.
    pub(crate) fn grow(&mut self, graph: &Graph) {
        for e in self.need.len()..graph.elen.len() {
            self.need.push(graph.elen[e]);
            self.equation
                .extend(graph.incidence.slots(e).map(|_| e as u32));
        }
        let slots = graph.incidence.items().len();
        self.amount.resize(slots, 0);
        self.next.resize(slots, END);
        self.linked.resize(slots, false);
        self.used.resize(graph.vlen.len(), 0);
        self.head.resize(graph.vlen.len(), END);
        self.search.grow(graph.elen.len(), graph.vlen.len());
    }

    /// Makes room for more equations, variables and incidences, which are then added one by one.
    pub(crate) fn reserve(&mut self, equations: usize, variables: usize, slots: usize) {
        self.need.reserve(equations);
        self.equation.reserve(slots);
        self.amount.reserve(slots);
        self.next.reserve(slots);
        self.linked.reserve(slots);
        self.used.reserve(variables);
        self.head.reserve(variables);
        self.search.elevel.reserve(equations);
        self.search.ecursor.reserve(equations);
        self.search.vlevel.reserve(variables);
        self.search.vcursor.reserve(variables);
    }

    /// Puts `f` more elements on the incidence at `slot` (which belongs to a variable with that much room).
    pub(crate) fn put(&mut self, graph: &Graph, slot: usize, f: u64) {
        let v = graph.incidence.items()[slot].index();
        self.push_on(slot, v, f);
        self.used[v] += f;
        self.need[self.equation[slot] as usize] -= f;
    }

    /// Takes away all flow of the incidence at `slot` and returns how much it was.
    pub(crate) fn take(&mut self, graph: &Graph, slot: usize) -> u64 {
        let f = std::mem::take(&mut self.amount[slot]);
        self.used[graph.incidence.items()[slot].index()] -= f;
        self.need[self.equation[slot] as usize] += f;
        f
    }

    /// Declares that equation `e` need not be assigned any more.
    pub(crate) fn retire(&mut self, e: EqId) {
        self.need[e.index()] = 0;
    }

    fn push_on(&mut self, slot: usize, v: usize, f: u64) {
        self.amount[slot] += f;
        if !self.linked[slot] {
            self.linked[slot] = true;
            self.next[slot] = self.head[v];
            self.head[v] = slot as u32;
        }
    }

    /// Assigns as many elements of the equations `active` as possible without freeing any assigned equation.
    pub(crate) fn maximise(&mut self, graph: &Graph, visible: &[bool], active: &[EqId]) {
        self.start(graph, visible, active);
        self.augment_all(graph, visible, active);
    }

    fn augment_all(&mut self, graph: &Graph, visible: &[bool], active: &[EqId]) {
        let mut open: Vec<EqId> = active
            .iter()
            .copied()
            .filter(|e| self.need[e.index()] > 0)
            .collect();
        while self.layer(graph, visible, &open) {
            for &e in &open {
                while self.need[e.index()] > 0 && self.augment(graph, visible, e) {}
            }
            open.retain(|e| self.need[e.index()] > 0);
        }
    }

    /// All equations and variables that alternating paths from `roots` reach, skipping what is marked already; marks
    /// what it finds. If the flow is maximal, the new equations and variables are structurally over-determined.
    pub(crate) fn reach(
        &self,
        graph: &Graph,
        visible: &[bool],
        roots: &[EqId],
        marks: &mut Marks,
    ) -> Reached {
        let mut out = Reached::default();
        for &e in roots {
            if marks.equation(e) {
                out.equations.push(e);
            }
        }
        let mut head = 0;
        while head < out.equations.len() {
            let e = out.equations[head];
            head += 1;
            for &v in graph.row(e) {
                if visible[v.index()] && marks.variable(v) {
                    out.variables.push(v);
                    out.equations.extend(
                        self.owners(v)
                            .map(|(owner, _)| owner)
                            .filter(|&owner| marks.equation(owner)),
                    );
                }
            }
        }
        out
    }

    /// Visits the owners of `v`, unlinking the slots whose flow has gone.
    fn for_owners(&mut self, v: usize, mut visit: impl FnMut(u32)) {
        let (mut previous, mut slot) = (END, self.head[v]);
        while slot != END {
            let s = slot as usize;
            let after = self.next[s];
            if self.amount[s] > 0 {
                visit(self.equation[s]);
                previous = slot;
            } else {
                self.linked[s] = false;
                match previous {
                    END => self.head[v] = after,
                    p => self.next[p as usize] = after,
                }
            }
            slot = after;
        }
    }

    /// Breadth-first levels from the open equations; true if a variable with room can be reached.
    fn layer(&mut self, graph: &Graph, visible: &[bool], open: &[EqId]) -> bool {
        let mut search = std::mem::take(&mut self.search);
        search.epoch += 1;
        search.queue.clear();
        for e in open {
            search.level_equation(e.0, 0, graph);
        }
        let mut found = u32::MAX;
        let mut head = 0;
        while head < search.queue.len() {
            let e = search.queue[head] as usize;
            head += 1;
            let level = search.elevel[e].1;
            if level > found {
                break;
            }
            for v in graph.row(EqId(e as u32)) {
                let v = v.index();
                if !visible[v] || search.vlevel[v].0 == search.epoch {
                    continue;
                }
                search.vlevel[v] = (search.epoch, level);
                if self.used[v] < graph.vlen[v] {
                    found = level;
                } else if level < found {
                    self.for_owners(v, |owner| search.level_equation(owner, level + 1, graph));
                }
                search.vcursor[v] = self.head[v];
            }
        }
        self.search = search;
        found != u32::MAX
    }

    /// One augmenting path along increasing levels from `root`; true if elements were assigned.
    fn augment(&mut self, graph: &Graph, visible: &[bool], root: EqId) -> bool {
        let mut search = std::mem::take(&mut self.search);
        let done = self.augment_with(&mut search, graph, visible, root);
        self.search = search;
        done
    }

    fn augment_with(
        &mut self,
        search: &mut Search,
        graph: &Graph,
        visible: &[bool],
        root: EqId,
    ) -> bool {
        // The path so far: forward slot taken by an equation, then the slot of the next equation's flow it pushes back.
        let mut path: Vec<(usize, u32)> = Vec::new();
        let mut e = root.index();
        let items = graph.incidence.items();
        loop {
            // Advance from equation e to an admissible variable.
            let end = graph.incidence.slots(e).end as u32;
            let level = search.elevel[e];
            while search.ecursor[e] < end {
                let v = items[search.ecursor[e] as usize].index();
                if level.0 == search.epoch && visible[v] && search.vlevel[v] == level {
                    break;
                }
                search.ecursor[e] += 1;
            }
            if search.ecursor[e] == end || level.0 != search.epoch {
                search.elevel[e].0 = 0; // exhausted in this phase
                let Some((slot, back)) = path.pop() else {
                    return false;
                };
                search.vcursor[items[slot].index()] = self.next[back as usize];
                e = self.equation[slot] as usize;
                continue;
            }
            let slot = search.ecursor[e] as usize;
            let v = items[slot].index();
            let room = graph.vlen[v] - self.used[v];
            if room > 0 {
                let f = path
                    .iter()
                    .map(|&(_, back)| self.amount[back as usize])
                    .fold(room, u64::min);
                let f = f.min(self.need[root.index()]);
                for &(forward, back) in &path {
                    self.push_on(forward, items[forward].index(), f);
                    self.amount[back as usize] -= f;
                }
                self.push_on(slot, v, f);
                self.used[v] += f;
                self.need[root.index()] -= f;
                return true;
            }
            // Advance from variable v to an equation whose flow can be pushed back.
            let mut back = search.vcursor[v];
            while back != END {
                let owner = self.equation[back as usize] as usize;
                if self.amount[back as usize] > 0
                    && search.elevel[owner] == (search.epoch, level.1 + 1)
                {
                    break;
                }
                back = self.next[back as usize];
            }
            search.vcursor[v] = back;
            if back == END {
                search.ecursor[e] += 1;
            } else {
                path.push((slot, back));
                e = self.equation[back as usize] as usize;
            }
        }
    }
}

/// Working arrays of the phases; entries are valid if they carry the current epoch (so no clearing is needed).
#[derive(Clone, Debug, Default)]
struct Search {
    epoch: u32,
    elevel: Vec<(u32, u32)>,
    vlevel: Vec<(u32, u32)>,
    ecursor: Vec<u32>,
    vcursor: Vec<u32>,
    queue: Vec<u32>,
}

impl Search {
    fn grow(&mut self, equations: usize, variables: usize) {
        self.elevel.resize(equations, (0, 0));
        self.ecursor.resize(equations, 0);
        self.vlevel.resize(variables, (0, 0));
        self.vcursor.resize(variables, END);
    }

    fn level_equation(&mut self, e: u32, level: u32, graph: &Graph) {
        let i = e as usize;
        if self.elevel[i].0 != self.epoch {
            self.elevel[i] = (self.epoch, level);
            self.ecursor[i] = graph.incidence.slots(i).start as u32;
            self.queue.push(e);
        }
    }
}
