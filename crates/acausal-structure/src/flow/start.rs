//! A start for the flow that leaves little to augment (Karp & Sipser 1981).
//!
//! An equation with one variable left must take it, and a variable with one equation left may be given to it, without
//! losing anything; only when neither exists, the next equation takes the first variable with room. On bands, trees and
//! chains in any order this is nearly or exactly maximal, where a plain greedy start leaves long augmenting paths.

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
    queue: Vec<Node>,
}

#[derive(Clone, Copy)]
enum Node {
    Equation(u32),
    Variable(u32),
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
        let mut next: Vec<usize> = Vec::with_capacity(variables);
        let mut total = 0;
        for &d in &var_degree {
            next.push(total);
            total += d as usize;
        }
        let mut items = vec![0u32; total];
        for (k, e) in active.iter().enumerate() {
            for v in graph.row(*e).iter().filter(|v| open(v.index())) {
                items[next[v.index()]] = k as u32;
                next[v.index()] += 1;
            }
        }
        let users = Rows::from_parts(std::iter::once(0).chain(next).collect(), items);
        let single_v = (0..variables)
            .rev()
            .filter(|&v| var_degree[v] == 1)
            .map(|v| Node::Variable(v as u32));
        let single_e = (0..active.len())
            .rev()
            .filter(|&k| eq_degree[k] == 1)
            .map(|k| Node::Equation(k as u32));
        let queue = single_v.chain(single_e).collect();
        KarpSipser {
            graph,
            visible,
            users,
            eq_degree,
            var_degree,
            queue,
        }
    }

    fn run(&mut self, flow: &mut Flow, active: &[EqId]) {
        for k in 0..active.len() {
            // what must be, first
            while let Some(node) = self.queue.pop() {
                match node {
                    Node::Equation(k) if self.eq_degree[k as usize] > 0 => {
                        self.take_first(flow, active, k as usize);
                    }
                    Node::Variable(v) if self.var_degree[v as usize] == 1 => {
                        let users = self.users.row(v as usize).iter();
                        let user = users
                            .copied()
                            .find(|&k| flow.need[active[k as usize].index()] > 0);
                        if let Some(k) = user {
                            self.take(flow, active, k as usize, v as usize);
                        }
                    }
                    _ => {}
                }
            }
            while flow.need[active[k].index()] > 0 && self.eq_degree[k] > 0 {
                self.take_first(flow, active, k);
            }
        }
    }

    /// Equation `k` takes what it can of its first variable with room.
    fn take_first(&mut self, flow: &mut Flow, active: &[EqId], k: usize) {
        let row = self.graph.row(active[k]).iter().map(|v| v.index());
        let open = |&v: &usize| self.visible[v] && flow.used[v] < self.graph.vlen[v];
        match row.into_iter().find(open) {
            Some(v) if flow.need[active[k].index()] > 0 => self.take(flow, active, k, v),
            _ => self.eq_degree[k] = 0,
        }
    }

    fn take(&mut self, flow: &mut Flow, active: &[EqId], k: usize, v: usize) {
        let e = active[k].index();
        let room = self.graph.vlen[v] - flow.used[v];
        let row = self.graph.incidence.slots(e);
        let Some(slot) = row
            .clone()
            .find(|&s| self.graph.incidence.items()[s].index() == v)
        else {
            return;
        };
        let f = room.min(flow.need[e]);
        if f == 0 {
            return;
        }
        flow.put(self.graph, slot, f);
        if flow.used[v] == self.graph.vlen[v] {
            for &user in self.users.row(v) {
                let degree = &mut self.eq_degree[user as usize];
                *degree = degree.saturating_sub(1);
                if *degree == 1 {
                    self.queue.push(Node::Equation(user));
                }
            }
        }
        if flow.need[e] == 0 {
            for s in row {
                let w = self.graph.incidence.items()[s].index();
                let degree = &mut self.var_degree[w];
                *degree = degree.saturating_sub(1);
                if *degree == 1 && self.visible[w] && flow.used[w] < self.graph.vlen[w] {
                    self.queue.push(Node::Variable(w as u32));
                }
            }
        }
    }
}
