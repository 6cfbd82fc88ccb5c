//! Constants that decide the structure of a model are put in where they are used.
//!
//! In: the flat model. Out: the same model, in which evaluated parameters (`final`, protected, Strings, `Evaluate = true`,
//! those that the compiler needed; MLS 3.6 §18.3) and variables that an equation sets to a constant are replaced in the other equations, if that can
//! change which unknowns an equation has: zeros and ones, Booleans, Integers, Strings, derivatives of constants, and relations
//! between constants. Other numbers stay accesses, so that equations that differ in a number only share their code.
//! Every variable and its own equation stay in the model.
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
//! Invariants: an array equation is cut along an iterator only where zeros in a short table make its elements differ; an
//! equation that would lose all its variables stays as it is, so that contradictions are diagnosed in the user's own terms.
//! Cost: every equation is rewritten at most once for each variable in it that becomes known.

use std::collections::VecDeque;

use acausal_expr::flat::{Action, Assert, Causality, Equation, FlatModel, VarType};
use acausal_expr::{Access, Builtin, ExprId, Exprs, IterId, Kind, Node, Range, VarId};
use rustc_hash::FxHashMap;

/// Tables up to this length are cut where they have zeros.
const SHORT: i64 = 16;

/// Constants with more parts than this stay where they are.
const SMALL: usize = 64;

/// Puts in constants.
pub(super) fn put_in_constants(model: &mut FlatModel) {
    let mut pass = Pass::new(model);
    pass.run();
    pass.finish();
}

/// A part of a variable that is constant.
struct Piece {
    subs: Vec<Sub>,
    body: ExprId,
}

/// A subscript of a piece.
#[derive(Clone, Copy, PartialEq)]
enum Sub {
    /// One element.
    At(i64),
    /// All of them; the body uses this iterator.
    All(IterId),
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
    users: FxHashMap<VarId, Vec<Item>>,
    queue: VecDeque<Item>,
    queued: rustc_hash::FxHashSet<Item>,
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
            users: FxHashMap::default(),
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
            if let Some(binding) = v.binding.as_ref().filter(|_| evaluated && fixed) {
                let body = binding.body;
                pass.add(Item::Parameter(VarId(k as u32)), &[body]);
            }
        }
        for k in 0..pass.entries.len() {
            let e = &pass.entries[k].equation;
            let sides = [e.lhs, e.rhs];
            pass.add(Item::Equation(k), &sides);
        }
        pass
    }

    /// `if p then der(x) else 0` with a parameter `p`: whether `x` is a state depends on `p`, so it has to be evaluated.
    fn decide_derivatives(&mut self) {
        let x = &self.model.exprs;
        let mut todo: Vec<ExprId> = Vec::new();
        for entry in &self.entries {
            for n in x.reachable(&[entry.equation.lhs, entry.equation.rhs]) {
                let Node::If(c, a, b) = x.node(n) else {
                    continue;
                };
                let derivative =
                    |x: &Exprs, n| matches!(x.node(n), Node::Var(a) if a.kind != Kind::Value);
                let fixed = |x: &Exprs, n| match x.node(n) {
                    Node::Var(a) => !self.model.var(a.var).is_parameter(),
                    _ => varies(x, n),
                };
                if (x.any(a, derivative) || x.any(b, derivative)) && !x.any(c, fixed) {
                    todo.push(c);
                }
            }
        }
        while let Some(e) = todo.pop() {
            for (_, a) in self.model.exprs.accesses(e) {
                let v = &mut self.model.vars[a.var.index()];
                if !std::mem::replace(&mut v.structural, true) {
                    todo.extend(v.binding.as_ref().map(|b| b.body));
                }
            }
        }
    }

    fn add(&mut self, item: Item, bodies: &[ExprId]) {
        let mut last = None;
        for e in self.model.exprs.reachable(bodies) {
            if let Node::Var(a) = self.model.exprs.node(e)
                && last.replace(a.var) != Some(a.var)
            {
                self.users.entry(a.var).or_default().push(item);
            }
        }
        self.enqueue(item);
    }

    fn enqueue(&mut self, item: Item) {
        if self.queued.insert(item) {
            self.queue.push_back(item);
        }
    }

    fn run(&mut self) {
        while let Some(item) = self.queue.pop_front() {
            self.queued.remove(&item);
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
            let subs = binding.iters.into_iter().map(Sub::All).collect();
            self.learn(id, Piece { subs, body });
        }
    }

    fn learn(&mut self, id: VarId, mut piece: Piece) {
        piece.body = self.tabulated(id, &piece);
        let merged = self.merged(id, &piece);
        let pieces = self.known.entry(id).or_default();
        pieces.push(piece);
        pieces.extend(merged);
        for item in self.users.get(&id).cloned().unwrap_or_default() {
            self.enqueue(item);
        }
    }

    /// A short piece as a table of literals: `n[i]/sqrt(n*n)` becomes `{1, 0, 0}[i]`.
    fn tabulated(&mut self, id: VarId, piece: &Piece) -> ExprId {
        let dims = &self.model.var(id).dims;
        let all: Vec<(IterId, usize)> = (piece.subs.iter().zip(dims))
            .filter_map(|(s, &n)| match s {
                Sub::All(i) => Some((*i, n)),
                Sub::At(_) => None,
            })
            .collect();
        let total: usize = all.iter().map(|a| a.1).product();
        if all.is_empty() || total > SMALL {
            return piece.body;
        }
        let x = &mut self.model.exprs;
        let mut rows = vec![piece.body];
        for &(iter, n) in &all {
            rows = rows
                .into_iter()
                .flat_map(|r| (1..=n as i64).map(move |v| (r, v)))
                .map(|(r, v)| {
                    let v = x.int(v);
                    x.substitute_iter(r, iter, v)
                })
                .collect();
        }
        for &(iter, n) in all.iter().rev() {
            let k = x.iter(iter);
            rows = rows
                .chunks(n)
                .map(|row| match row.iter().all(|e| *e == row[0]) {
                    true => row[0],
                    false => x.select(k, row),
                })
                .collect();
        }
        rows.first().copied().unwrap_or(piece.body)
    }

    /// Single rows that together are a whole dimension, as one piece.
    fn merged(&mut self, id: VarId, piece: &Piece) -> Option<Piece> {
        for (d, n) in self.model.var(id).dims.clone().into_iter().enumerate() {
            if !matches!(piece.subs[d], Sub::At(_)) || n as i64 > SHORT {
                continue;
            }
            let empty = Vec::new();
            let others = self.known.get(&id).unwrap_or(&empty);
            // The same piece but for this dimension, at every index.
            let same = |p: &Piece| {
                p.subs.iter().zip(&piece.subs).enumerate().all(|(k, pair)| {
                    k == d || matches!(pair, (Sub::All(_), Sub::All(_))) || pair.0 == pair.1
                })
            };
            let mut rows: Vec<Option<ExprId>> = vec![None; n];
            for p in others.iter().filter(|p| same(p)).chain([piece]) {
                let Sub::At(at) = p.subs[d] else { continue };
                let x = &mut self.model.exprs;
                let mut values = Vec::new();
                for pair in p.subs.iter().zip(&piece.subs) {
                    if let (Sub::All(from), Sub::All(to)) = pair {
                        values.push((*from, x.iter(*to)));
                    }
                }
                if let Some(row) = rows.get_mut((at - 1).max(0) as usize) {
                    *row = Some(x.substitute_iters(p.body, &values));
                }
            }
            let Some(rows) = rows.into_iter().collect::<Option<Vec<ExprId>>>() else {
                continue;
            };
            let x = &mut self.model.exprs;
            let iter = x.fresh_iter();
            let mut subs = piece.subs.clone();
            subs[d] = Sub::All(iter);
            let k = x.iter(iter);
            let body = match rows.iter().all(|r| *r == rows[0]) {
                true => rows[0],
                false => x.select(k, &rows),
            };
            let piece = Piece { subs, body };
            let body = self.tabulated(id, &piece);
            return Some(Piece { body, ..piece });
        }
        None
    }

    fn equation(&mut self, k: usize) {
        if self.entries[k].defines || self.entries[k].gone {
            return;
        }
        let e = self.entries[k].equation.clone();
        if self.define(k, &e) {
            return;
        }
        let uses_known = [e.lhs, e.rhs].into_iter().any(|side| {
            self.model.exprs.any(
                side,
                |x, n| matches!(x.node(n), Node::Var(a) if self.known.contains_key(&a.var)),
            )
        });
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
        } else {
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
            let v = self.model.var(a.var);
            if a.kind != Kind::Value || v.is_parameter() || v.causality == Causality::Input {
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
            let entry = &mut self.entries[k];
            entry.defines = true;
            if body != other {
                (entry.equation.lhs, entry.equation.rhs) = (side, body);
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

    /// The value of an access, if the variable is known there.
    fn known(&mut self, a: Access) -> Option<ExprId> {
        let exprs = &mut self.model.exprs;
        let subs: Vec<ExprId> = exprs.list(a.subs).to_vec();
        'pieces: for piece in self.known.get(&a.var)? {
            let mut values = Vec::new();
            for (&s, &p) in subs.iter().zip(&piece.subs) {
                match p {
                    Sub::At(i) if exprs.as_int(s) == Some(i) => {}
                    Sub::At(_) => continue 'pieces,
                    Sub::All(iter) => values.push((iter, s)),
                }
            }
            return Some(exprs.substitute_iters(piece.body, &values));
        }
        None
    }

    /// The expression with all known values, if then nothing varies in it.
    fn constant(&mut self, e: ExprId) -> Option<ExprId> {
        let nodes = self.model.exprs.reachable(&[e]);
        if nodes.len() > 16 * SMALL || nodes.iter().any(|&n| varies(&self.model.exprs, n)) {
            return None;
        }
        let mut values: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for n in nodes {
            if let Node::Var(a) = self.model.exprs.node(n) {
                if a.kind != Kind::Value {
                    return None;
                }
                let value = self.known(a)?;
                values.insert(n, value);
            }
        }
        let out = self.model.exprs.rewrite(e, |_, n| values.get(&n).copied());
        (self.model.exprs.reachable(&[out]).len() <= SMALL).then_some(out)
    }

    /// The expression with those constants that can decide structure.
    fn put_in(&mut self, e: ExprId) -> ExprId {
        let mut values: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for n in self.model.exprs.reachable(&[e]) {
            match self.model.exprs.node(n) {
                Node::Var(a) => match a.kind {
                    Kind::Value => {
                        let real = self.model.var(a.var).ty == VarType::Real;
                        if let Some(v) = self.known(a)
                            && decides(&self.model.exprs, v, real)
                        {
                            values.insert(n, v);
                        }
                    }
                    Kind::Der(_) => {
                        let value = Access {
                            kind: Kind::Value,
                            ..a
                        };
                        if self.known(value).is_some() {
                            values.insert(n, self.model.exprs.real(0.0));
                        }
                    }
                    Kind::Pre => {}
                },
                Node::Rel(..) => {
                    if let Some(v) = self.constant(n)
                        && self.model.exprs.as_bool(v).is_some()
                    {
                        values.insert(n, v);
                    }
                }
                _ => {}
            }
        }
        if values.is_empty() {
            return e;
        }
        self.model.exprs.rewrite(e, |_, n| values.get(&n).copied())
    }

    fn has_unknown(&self, e: ExprId) -> bool {
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

    /// The rest of the model, and the equations in their order.
    fn finish(mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.retain(|e| !e.gone);
        entries.sort_by_key(|e| e.order);
        for entry in entries {
            let changed = (entry.equation.lhs, entry.equation.rhs) != entry.original;
            if changed {
                let pieces = acausal_expr::split_equation(&mut self.model.exprs, entry.equation);
                self.model.equations.extend(pieces);
            } else {
                self.model.equations.push(entry.equation);
            }
        }
        for k in 0..self.model.vars.len() {
            let v = &mut self.model.vars[k];
            let mut slots = [
                v.binding.take(),
                v.start.take(),
                v.fixed.take(),
                v.min.take(),
                v.max.take(),
                v.nominal.take(),
            ];
            for c in slots.iter_mut().flatten() {
                c.body = self.put_in(c.body);
            }
            let v = &mut self.model.vars[k];
            [v.binding, v.start, v.fixed, v.min, v.max, v.nominal] = slots;
        }
        for k in 0..self.model.initial_equations.len() {
            let e = &self.model.initial_equations[k];
            let (l, r) = (e.lhs, e.rhs);
            let (lhs, rhs) = (self.put_in(l), self.put_in(r));
            if self.has_unknown(lhs) || self.has_unknown(rhs) {
                let e = &mut self.model.initial_equations[k];
                (e.lhs, e.rhs) = (lhs, rhs);
            }
        }
        let mut whens = std::mem::take(&mut self.model.whens);
        for branch in whens.iter_mut().flat_map(|w| &mut w.branches) {
            for c in &mut branch.conditions {
                *c = self.put_in(*c);
            }
            for action in &mut branch.actions {
                match action {
                    Action::Assign { value, .. } | Action::Reinit { value, .. } => {
                        *value = self.put_in(*value);
                    }
                    Action::Assert(a) => self.assertion(a),
                    Action::Terminate { .. } => {}
                }
            }
        }
        self.model.whens = whens;
        let mut asserts = std::mem::take(&mut self.model.asserts);
        for a in &mut asserts {
            self.assertion(a);
        }
        asserts.retain(|a| self.model.exprs.as_bool(a.condition) != Some(true));
        self.model.asserts = asserts;
    }

    /// An assertion that fails for all times stays as it was: its message tells more.
    fn assertion(&mut self, a: &mut Assert) {
        let condition = self.put_in(a.condition);
        if self.model.exprs.as_bool(condition) != Some(false) {
            a.condition = condition;
        }
    }
}

/// True for what has no value at compile time, whatever its arguments are.
fn varies(x: &Exprs, e: ExprId) -> bool {
    match x.node(e) {
        Node::Time | Node::Apply { .. } | Node::Local { .. } => true,
        Node::Call(f, _) => matches!(
            f,
            Builtin::Initial
                | Builtin::Terminal
                | Builtin::Sample
                | Builtin::Delay
                | Builtin::Edge
                | Builtin::Change
                | Builtin::Homotopy
                | Builtin::Start
        ),
        _ => false,
    }
}

/// Constants that can change which unknowns an equation has.
fn decides(x: &Exprs, e: ExprId, real: bool) -> bool {
    if !real {
        return true;
    }
    match x.as_f64(e) {
        Some(v) => v == 0.0 || v.abs() == 1.0,
        None => x.reachable(&[e]).into_iter().any(|n| x.is_zero(n)),
    }
}
