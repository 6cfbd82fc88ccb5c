//! A start for the flow that leaves little to augment (Karp & Sipser 1981, with the minimum degree rule).
//!
//! An equation with one variable left must take it, and a variable with one equation left may be given to it, without
//! losing anything; only when neither exists, an equation with the fewest variables takes the one with the fewest
//! equations. On bands, trees and chains in any order this is nearly or exactly maximal, where a plain greedy start leaves
//! long augmenting paths. Linear, with buckets of equal degree.

use super::Flow;
use crate::graph::Graph;
use crate::{EqId, Rows};

/// With fewer equations than this, setting up the degrees costs more than it saves.
const WORTH_IT: usize = 32;

impl Flow {
    /// Assigns elements of the equations `active` greedily.
    pub(super) fn start(&mut self, graph: &Graph, visible: &[bool], active: &[EqId]) {
        if active.len() < WORTH_IT {
            self.start_in_order(graph, visible, active);
        } else {
            KarpSipser::new(self, graph, visible, active).run(self, active);
        }
    }

    /// Each equation in turn takes the first variables with room.
    pub(super) fn start_in_order(&mut self, graph: &Graph, visible: &[bool], active: &[EqId]) {
        for e in active {
            for slot in graph.incidence.slots(e.index()) {
                let need = self.need[e.index()];
                if need == 0 {
                    break;
                }
                let v = graph.incidence.items()[slot].index();
                let room = graph.vlen[v] - self.used[v];
                if visible[v] && room > 0 {
                    self.put(graph, slot, need.min(room));
                }
            }
        }
    }
}

struct KarpSipser<'a> {
    graph: &'a Graph,
    visible: &'a [bool],
    /// The active equations that contain each variable, by position in `active`.
    users: Rows<u32>,
    /// Variables with room left per active equation; equations with need left per variable.
    eq_degree: Vec<u32>,
    var_degree: Vec<u32>,
    /// Variables that have come down to one equation.
    single: Vec<u32>,
    /// Equations by degree; an entry is outdated if the degree has changed since.
    buckets: Vec<Vec<u32>>,
    lowest: usize,
}

impl<'a> KarpSipser<'a> {
    fn new(flow: &Flow, graph: &'a Graph, visible: &'a [bool], active: &[EqId]) -> Self {
        let variables = graph.vlen.len();
        let open = |v: usize| visible[v] && flow.used[v] < graph.vlen[v];
        let mut var_degree = vec![0u32; variables];
        let mut eq_degree = vec![0u32; active.len()];
        for (k, e) in active.iter().enumerate() {
            for v in graph.row(*e).iter().filter(|v| open(v.index())) {
                var_degree[v.index()] += 1;
                eq_degree[k] += 1;
            }
        }
        let mut next: Vec<u32> = Vec::with_capacity(variables);
        let mut total = 0;
        for &d in &var_degree {
            next.push(total);
            total += d;
        }
        let mut items = vec![0u32; total as usize];
        for (k, e) in active.iter().enumerate() {
            for v in graph.row(*e).iter().filter(|v| open(v.index())) {
                let next = &mut next[v.index()];
                items[*next as usize] = k as u32;
                *next += 1;
            }
        }
        let users = Rows::from_parts(std::iter::once(0).chain(next).collect(), items);
        let single = (0..variables as u32)
            .rev()
            .filter(|&v| var_degree[v as usize] == 1)
            .collect();
        let most = eq_degree.iter().copied().max().unwrap_or(0) as usize;
        let mut buckets = vec![Vec::new(); most + 1];
        for k in (0..active.len()).rev() {
            buckets[eq_degree[k] as usize].push(k as u32);
        }
        KarpSipser {
            graph,
            visible,
            users,
            eq_degree,
            var_degree,
            single,
            buckets,
            lowest: 1,
        }
    }

    fn run(&mut self, flow: &mut Flow, active: &[EqId]) {
        loop {
            if let Some(v) = self.single.pop() {
                let mut users = self.users.row(v as usize).iter().copied();
                if self.var_degree[v as usize] == 1
                    && let Some(k) = users.find(|&k| flow.need[active[k as usize].index()] > 0)
                {
                    self.take(flow, active, k as usize, v as usize);
                }
                continue;
            }
            let Some(bucket) = self.buckets.get_mut(self.lowest) else {
                return;
            };
            match bucket.pop() {
                None => self.lowest += 1,
                Some(k) if self.eq_degree[k as usize] as usize == self.lowest => {
                    self.take_best(flow, active, k as usize);
                }
                Some(_) => {}
            }
        }
    }

    /// Equation `k` takes what it can of its variable with the fewest other equations.
    fn take_best(&mut self, flow: &mut Flow, active: &[EqId], k: usize) {
        let e = active[k].index();
        let row = self.graph.row(active[k]).iter().map(|v| v.index());
        let open = row.filter(|&v| self.visible[v] && flow.used[v] < self.graph.vlen[v]);
        if let Some(v) = open.min_by_key(|&v| self.var_degree[v])
            && flow.need[e] > 0
        {
            self.take(flow, active, k, v);
        }
    }

    fn take(&mut self, flow: &mut Flow, active: &[EqId], k: usize, v: usize) {
        let e = active[k].index();
        let row = self.graph.incidence.slots(e);
        let items = self.graph.incidence.items();
        let Some(slot) = row.clone().find(|&s| items[s].index() == v) else {
            return;
        };
        let f = (self.graph.vlen[v] - flow.used[v]).min(flow.need[e]);
        if f == 0 {
            return;
        }
        flow.put(self.graph, slot, f);
        if flow.used[v] == self.graph.vlen[v] {
            for &user in self.users.row(v) {
                let degree = &mut self.eq_degree[user as usize];
                *degree = degree.saturating_sub(1);
                if *degree > 0 {
                    self.buckets[*degree as usize].push(user);
                    self.lowest = self.lowest.min(*degree as usize);
                }
            }
        }
        if flow.need[e] == 0 {
            for s in row {
                let w = items[s].index();
                let degree = &mut self.var_degree[w];
                *degree = degree.saturating_sub(1);
                if *degree == 1 && self.visible[w] && flow.used[w] < self.graph.vlen[w] {
                    self.single.push(w as u32);
                }
            }
        }
    }
}
