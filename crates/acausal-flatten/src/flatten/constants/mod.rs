//! Constants that decide the structure of a model are put in where they are used.
//!
//! In: the flat model. Out: the same model, in which evaluated parameters (`final`, protected, Strings, `Evaluate = true`,
//! those that the compiler needed; MLS 3.6 §18.3) and variables that an equation sets to a constant are replaced in the other equations, if that can
//! change which unknowns an equation has: zeros and ones, Booleans, Integers, Strings, derivatives of constants, and relations
//! between constants. Other numbers stay accesses, so that equations that differ in a number only share their code; so do
//! constant variables that are plain terms of a sum. Every variable and its own equation stay in the model.
//!
//! Example: the axis `e = {0, 0, 1}` of a revolute joint is a final parameter.
//!
//! ```text
//! T[1, 3] = e[1]*e[3]*(1 - cos(phi)) - e[2]*sin(phi)       becomes   T[1, 3] = 0
//! for i in 1:3 loop w_rel[i] = e[i]*w; end for             becomes   w_rel[1] = 0, w_rel[2] = 0, w_rel[3] = w
//! ```
//!
//! and with `T[1, 3]` a constant, what uses it is looked at again. A joint in the plane is then a joint in the plane for the
//! structural analysis too.
//!
//! Invariants: a short array equation is cut along an iterator where zeros in a table take unknowns out of some elements, or
//! where `b[i] = a[i]` has constant and other elements; longer ones stay whole. An equation that would lose all its variables
//! stays as it is, so that contradictions are diagnosed in the user's own terms.
//! Cost: every equation is rewritten at most once for each variable in it that becomes known.

mod finish;
mod known;
mod start;
mod zero;

use std::collections::VecDeque;

use acausal_expr::flat::{Causality, Equation, FlatModel, VarType};
use acausal_expr::{Access, ExprId, Exprs, IterId, Node, Range, ValueKind, VarId};
use acausal_symbolic::Substitute;
use rustc_hash::FxHashMap;

use known::{Piece, Sub, varies};

/// Tables up to this length are cut where they have zeros.
const SHORT: i64 = 16;

/// Constants with more parts than this stay where they are.
const SMALL: usize = 64;

/// Puts in constants.
pub(super) fn put_in_constants(model: &mut FlatModel) {
    start::resolve_starts(model);
    zero::take_out_zeros(model);
    let mut pass = Pass::new(model);
    pass.run();
    pass.finish();
}

/// An equation on its way.
struct Entry {
    /// Position in the model, and among the parts it was cut into.
    order: (usize, usize),
    equation: Equation,
    /// As it was, for the case that nothing would be left of it.
    original: (ExprId, ExprId),
    /// Sets a variable to a constant.
    defines: bool,
    /// Was cut into others.
    gone: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Item {
    Parameter(VarId),
    Equation(usize),
}

struct Pass<'m> {
    model: &'m mut FlatModel,
    entries: Vec<Entry>,
    known: FxHashMap<VarId, Vec<Piece>>,
    /// Evaluated parameters with a binding, in order.
    parameters: Vec<VarId>,
    /// Made when something becomes known, which in many models nothing does.
    users: Option<Users>,
    queue: VecDeque<Item>,
    queued: [Vec<bool>; 2],
}

/// Per variable: who uses it, as a list through one table, so that a model of many variables needs no list of its own for each.
#[derive(Default)]
struct Users {
    /// Per variable: position of its last user in the table, plus one.
    last: Vec<u32>,
    /// A user, and the position of the one before it, plus one.
    table: Vec<(Item, u32)>,
}

impl Users {
    /// An item that uses the variables in these expressions.
    fn add(&mut self, x: &Exprs, item: Item, bodies: &[ExprId]) {
        let mut last = None;
        for e in x.reachable(bodies) {
            if let Node::Var(a) = x.node(e)
                && last.replace(a.var) != Some(a.var)
            {
                self.push(a.var, item);
            }
        }
    }

    fn push(&mut self, id: VarId, item: Item) {
        if self.last.len() <= id.index() {
            self.last.resize(id.index() + 1, 0);
        }
        let before = self.last[id.index()];
        self.table.push((item, before));
        self.last[id.index()] = self.table.len() as u32;
    }

    /// In the order in which they were added.
    fn of(&self, id: VarId) -> Vec<Item> {
        let mut out = Vec::new();
        let mut at = self.last.get(id.index()).copied().unwrap_or(0);
        while at > 0 {
            let (item, before) = self.table[at as usize - 1];
            out.push(item);
            at = before;
        }
        out.reverse();
        out
    }
}

impl Pass<'_> {
    fn new(model: &mut FlatModel) -> Pass<'_> {
        let entries: Vec<Entry> = std::mem::take(&mut model.equations)
            .into_iter()
            .enumerate()
            .map(|(k, equation)| Entry {
                order: (k, 0),
                original: (equation.lhs, equation.rhs),
                equation,
                defines: false,
                gone: false,
            })
            .collect();
        let mut pass = Pass {
            model,
            entries,
            known: FxHashMap::default(),
            parameters: Vec::new(),
            users: None,
            queue: VecDeque::new(),
            queued: Default::default(),
        };
        pass.decide_derivatives();
        for k in 0..pass.model.vars.len() {
            let v = &pass.model.vars[k];
            let needed = v.structural || v.protected || v.ty == VarType::String;
            let evaluated = needed && v.is_parameter() && !v.is_empty();
            let fixed = v
                .fixed
                .as_ref()
                .is_none_or(|f| pass.model.exprs.as_bool(f.body) == Some(true));
            if v.binding.is_some() && evaluated && fixed {
                let id = VarId(k as u32);
                pass.parameters.push(id);
                pass.enqueue(Item::Parameter(id));
            }
        }
        for k in 0..pass.entries.len() {
            pass.enqueue(Item::Equation(k));
        }
        pass
    }

    /// Who uses what. Nothing has been rewritten before something is known, so the equations are those that waited from the beginning.
    fn all_users(&self) -> Users {
        let mut users = Users::default();
        for &id in &self.parameters {
            if let Some(binding) = &self.model.var(id).binding {
                users.add(&self.model.exprs, Item::Parameter(id), &[binding.body]);
            }
        }
        for (k, entry) in self.entries.iter().enumerate() {
            let sides = [entry.equation.lhs, entry.equation.rhs];
            users.add(&self.model.exprs, Item::Equation(k), &sides);
        }
        users
    }

    /// `if p then der(x) else 0` with a parameter `p`: whether `x` is a state depends on `p`, so it has to be evaluated.
    fn decide_derivatives(&mut self) {
        let x = &self.model.exprs;
        let mut todo: Vec<ExprId> = Vec::new();
        let is_if = |x: &Exprs, n| matches!(x.node(n), Node::If(..));
        if !x.ids().any(|n| is_if(x, n)) {
            return;
        }
        for entry in &self.entries {
            let (lhs, rhs) = (entry.equation.lhs, entry.equation.rhs);
            if !x.any(lhs, is_if) && !x.any(rhs, is_if) {
                continue;
            }
            let nodes = x.reachable(&[lhs, rhs]);
            let derivative = x.above(
                &nodes,
                |x, n| matches!(x.node(n), Node::Var(a) if a.kind != ValueKind::Value),
            );
            if derivative.is_empty() {
                continue;
            }
            let varying = x.above(&nodes, |x, n| match x.node(n) {
                Node::Var(a) => !self.model.var(a.var).is_parameter(),
                _ => varies(x, n),
            });
            for n in nodes {
                if let Node::If(c, a, b) = x.node(n)
                    && (derivative.contains(&a) || derivative.contains(&b))
                    && !varying.contains(&c)
                {
                    todo.push(c);
                }
            }
        }
        // What an evaluated parameter is bound to need not have been evaluated, so marks alone do not end the search.
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(e) = todo.pop() {
            for (_, a) in self.model.exprs.accesses(e) {
                let v = &mut self.model.vars[a.var.index()];
                v.structural = true;
                if seen.insert(a.var) {
                    todo.extend(v.binding.as_ref().map(|b| b.body));
                }
            }
        }
    }

    fn add(&mut self, item: Item, bodies: &[ExprId]) {
        if let Some(users) = &mut self.users {
            users.add(&self.model.exprs, item, bodies);
        }
        self.enqueue(item);
    }

    fn enqueue(&mut self, item: Item) {
        if !std::mem::replace(self.queued(item), true) {
            self.queue.push_back(item);
        }
    }

    /// Whether an item waits in the queue.
    fn queued(&mut self, item: Item) -> &mut bool {
        let (kind, k) = match item {
            Item::Parameter(id) => (0, id.index()),
            Item::Equation(k) => (1, k),
        };
        let flags = &mut self.queued[kind];
        if flags.len() <= k {
            flags.resize(k + 1, false);
        }
        &mut flags[k]
    }

    fn run(&mut self) {
        while let Some(item) = self.queue.pop_front() {
            *self.queued(item) = false;
            match item {
                Item::Parameter(id) => self.parameter(id),
                Item::Equation(k) => self.equation(k),
            }
        }
    }

    fn parameter(&mut self, id: VarId) {
        let Some(binding) = self.model.var(id).binding.clone() else {
            return;
        };
        if self.known.contains_key(&id) {
            return;
        }
        if let Some(body) = self.constant(binding.body) {
            let subs = binding.iters.iter().copied().map(Sub::All).collect();
            self.learn(id, Piece { subs, body });
        }
    }

    fn equation(&mut self, k: usize) {
        if self.entries[k].defines || self.entries[k].gone {
            return;
        }
        let e = self.entries[k].equation.clone();
        if self.define(k, &e) {
            return;
        }
        let is_known =
            |x: &Exprs, n| matches!(x.node(n), Node::Var(a) if self.known.contains_key(&a.var));
        let mut sides = [e.lhs, e.rhs].into_iter();
        let uses_known =
            !self.known.is_empty() && sides.any(|side| self.model.exprs.any(side, is_known));
        if uses_known {
            let (lhs, rhs) = (self.put_in(e.lhs), self.put_in(e.rhs));
            if !self.has_unknown(lhs) && !self.has_unknown(rhs) {
                let (lhs, rhs) = self.entries[k].original;
                self.entries[k].equation = Equation { lhs, rhs, ..e };
                self.entries[k].defines = true; // decided: it stays as it was
                return;
            }
            self.entries[k].equation.lhs = lhs;
            self.entries[k].equation.rhs = rhs;
        }
        if let Some(position) = self.cut(&self.entries[k].equation) {
            self.cut_along(k, position);
        } else if uses_known {
            let e = self.entries[k].equation.clone();
            self.define(k, &e);
        }
    }

    /// `v[...] = constant` makes (a part of) `v` known.
    fn define(&mut self, k: usize, e: &Equation) -> bool {
        for (side, other) in [(e.lhs, e.rhs), (e.rhs, e.lhs)] {
            let Node::Var(a) = self.model.exprs.node(side) else {
                continue;
            };
            // Most equations of a network are between two unknowns.
            if let Node::Var(b) = self.model.exprs.node(other)
                && !self.known.contains_key(&b.var)
            {
                continue;
            }
            let v = self.model.var(a.var);
            if a.kind != ValueKind::Value || v.is_parameter() || v.causality == Causality::Input {
                continue;
            }
            let Some(subs) = self.covered(a, &e.domain) else {
                continue;
            };
            if self.known(a).is_some() {
                continue; // known from another equation: this one is a contradiction or a repetition
            }
            let Some(body) = self.constant(other) else {
                continue;
            };
            // Its own equation stays as it was written, but for derivatives, which would make a constant a state.
            let entry = &mut self.entries[k];
            entry.defines = true;
            let derivative =
                |x: &Exprs, n| matches!(x.node(n), Node::Var(a) if a.kind != ValueKind::Value);
            let (l, r) = entry.original;
            if !self.model.exprs.any(l, derivative) && !self.model.exprs.any(r, derivative) {
                (entry.equation.lhs, entry.equation.rhs) = entry.original;
            }
            self.learn(a.var, Piece { subs, body });
            return true;
        }
        false
    }

    /// The subscripts of an access as those of a piece: constants, and iterators that run over all of a dimension.
    fn covered(&self, a: Access, domain: &[(IterId, Range)]) -> Option<Vec<Sub>> {
        let dims = &self.model.var(a.var).dims;
        let mut out: Vec<Sub> = Vec::with_capacity(dims.len());
        for (&s, &n) in self.model.exprs.list(a.subs).iter().zip(dims) {
            let sub = match self.model.exprs.node(s) {
                Node::Int(i) => Sub::At(i),
                Node::Iter(i) => {
                    let whole = domain.iter().any(|d| *d == (i, Range::upto(n)));
                    if !whole || out.contains(&Sub::All(i)) {
                        return None;
                    }
                    Sub::All(i)
                }
                _ => return None,
            };
            out.push(sub);
        }
        let used = |i: IterId| out.contains(&Sub::All(i));
        domain.iter().all(|d| used(d.0)).then_some(out)
    }

    pub(super) fn has_unknown(&self, e: ExprId) -> bool {
        self.model.exprs.any(
            e,
            |x, n| matches!(x.node(n), Node::Var(a) if !self.model.var(a.var).is_parameter()),
        )
    }

    /// The iterator along which zeros of a short table take unknowns out of a product.
    fn cut(&self, e: &Equation) -> Option<usize> {
        if e.domain.is_empty() {
            return None;
        }
        let x = &self.model.exprs;
        if let (Node::Var(a), Node::Var(b)) = (x.node(e.lhs), x.node(e.rhs))
            && let Some(position) = self.partly_known(a, e).or(self.partly_known(b, e))
        {
            return Some(position);
        }
        for n in x.reachable(&[e.lhs, e.rhs]) {
            let Node::Mul(list) = x.node(n) else { continue };
            for &factor in x.list(list) {
                let Node::Select(index, table) = x.node(factor) else {
                    continue;
                };
                let zeros = x.list(table).iter().filter(|&&m| x.is_zero(m)).count();
                if zeros == 0 {
                    continue;
                }
                let position = e
                    .domain
                    .iter()
                    .position(|d| d.1.count <= SHORT && x.depends_on_iter(index, d.0));
                if position.is_some() {
                    return position;
                }
            }
        }
        None
    }

    /// The iterator of `b[i] = a[i]` that runs over known and unknown elements of one side.
    fn partly_known(&self, a: Access, e: &Equation) -> Option<usize> {
        let x = &self.model.exprs;
        let pieces = self.known.get(&a.var)?;
        let subs = x.list(a.subs);
        // Whether the access meets a piece in dimension k, and along which iterator.
        let meets = |p: &Piece, k: usize| -> Option<Option<usize>> {
            let Sub::At(i) = p.subs[k] else {
                return Some(None);
            };
            if let Some(v) = x.as_int(subs[k]) {
                return (v == i).then_some(None);
            }
            let position = e
                .domain
                .iter()
                .position(|d| x.depends_on_iter(subs[k], d.0))?;
            let (iter, range) = e.domain[position];
            let affine = x.affine(subs[k])?;
            let c = affine.coefficient(iter);
            let hit = range.values().any(|v| affine.constant + c * v == i);
            (range.count <= SHORT && affine.terms.len() == 1 && hit).then_some(Some(position))
        };
        for p in pieces {
            let along: Option<Vec<Option<usize>>> = (0..subs.len()).map(|k| meets(p, k)).collect();
            match along.map(|a| a.into_iter().flatten().next()) {
                Some(Some(position)) => return Some(position),
                Some(None) => return None, // known as a whole
                None => {}
            }
        }
        None
    }

    fn cut_along(&mut self, k: usize, position: usize) {
        self.entries[k].gone = true;
        let (iter, range) = self.entries[k].equation.domain[position];
        for (part, value) in range.values().enumerate() {
            let entry = &self.entries[k];
            let mut equation = entry.equation.clone();
            let (order, mut original) = (entry.order, entry.original);
            let x = &mut self.model.exprs;
            let value = x.int(value);
            equation.domain.remove(position);
            equation.lhs = x.substitute_iter(equation.lhs, iter, value);
            equation.rhs = x.substitute_iter(equation.rhs, iter, value);
            original.0 = x.substitute_iter(original.0, iter, value);
            original.1 = x.substitute_iter(original.1, iter, value);
            let sides = [equation.lhs, equation.rhs];
            let order = (order.0, order.1 * SHORT as usize + part + 1);
            self.entries.push(Entry {
                order,
                equation,
                original,
                defines: false,
                gone: false,
            });
            self.add(Item::Equation(self.entries.len() - 1), &sides);
        }
    }
}
