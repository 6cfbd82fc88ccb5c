//! What is known to be constant, element by element or for whole arrays.
//!
//! A variable has pieces: all of it, or rows `v[2, :]` that equations determine one by one. Rows that together are a whole
//! dimension are joined to a table, so that an access with an iterator finds them.
//!
//! Example: `T[1, :] = {1, 0}`, `T[2, :] = {0, 1}` give the pieces `T[1, k]`, `T[2, k]` and then `T[i, k]` with the value
//! `{{1, 0}[k], {0, 1}[k]}[i]`.

use acausal_expr::flat::VarType;
use acausal_expr::{Access, Builtin, ExprId, Exprs, IterId, Node, RelOp, Ty, ValueKind, VarId};
use acausal_symbolic::Substitute;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Pass, SHORT, SMALL};

/// A part of a variable that is constant.
pub(super) struct Piece {
    pub(super) subs: Vec<Sub>,
    pub(super) body: ExprId,
}

/// A subscript of a piece.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sub {
    /// One element.
    At(i64),
    /// All of them; the body uses this iterator.
    All(IterId),
}

impl Pass<'_> {
    pub(super) fn learn(&mut self, id: VarId, mut piece: Piece) {
        piece.body = self.tabulated(id, &piece);
        let merged = self.merged(id, &piece);
        let pieces = self.known.entry(id).or_default();
        pieces.push(piece);
        pieces.extend(merged);
        let users = match self.users.take() {
            Some(users) => users,
            None => self.all_users(),
        };
        for item in users.of(id) {
            self.enqueue(item);
        }
        self.users = Some(users);
    }

    /// A short piece as a table of literals: `n[i]/sqrt(n*n)` becomes `{1, 0, 0}[i]`.
    pub(super) fn tabulated(&mut self, id: VarId, piece: &Piece) -> ExprId {
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
    pub(super) fn merged(&mut self, id: VarId, piece: &Piece) -> Option<Piece> {
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

    /// The value of an access, if the variable is known there.
    pub(super) fn known(&mut self, a: Access) -> Option<ExprId> {
        if !self.known.contains_key(&a.var) {
            return None;
        }
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
    pub(super) fn constant(&mut self, e: ExprId) -> Option<ExprId> {
        let is_open = |x: &Exprs, n| match x.node(n) {
            Node::Var(a) => !self.known.contains_key(&a.var),
            _ => varies(x, n),
        };
        if self.model.exprs.any(e, is_open) {
            return None;
        }
        let nodes = self.model.exprs.reachable(&[e]);
        if nodes.len() > 16 * SMALL {
            return None;
        }
        let mut values: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for n in nodes {
            if let Node::Var(a) = self.model.exprs.node(n) {
                if a.kind != ValueKind::Value {
                    return None;
                }
                let value = self.known(a)?;
                values.insert(n, value);
            }
        }
        let out = self.model.exprs.rewrite(e, |_, n| values.get(&n).copied());
        let mut out = out;
        if self.model.exprs.ty(out) == Ty::Str
            && let Ok(text) = self.model.exprs.text(out, &mut |_, _, _| None)
        {
            out = self.model.exprs.str(&text);
        }
        (self.model.exprs.reachable(&[out]).len() <= SMALL).then_some(out)
    }

    /// The expression with those constants that can decide structure.
    pub(super) fn put_in(&mut self, e: ExprId) -> ExprId {
        let may_change = |x: &Exprs, n| match x.node(n) {
            Node::Var(a) => self.known.contains_key(&a.var),
            n => matches!(n, Node::Rel(..)),
        };
        if !self.model.exprs.any(e, may_change) {
            return e;
        }
        let inside = self.inside_of_terms(e);
        let mut values: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for n in self.model.exprs.reachable(&[e]) {
            match self.model.exprs.node(n) {
                Node::Var(a) => match a.kind {
                    ValueKind::Value => {
                        let var = self.model.var(a.var);
                        let real = var.ty == VarType::Real;
                        let term = real && !var.is_parameter() && !inside.contains(&n);
                        if !term
                            && let Some(v) = self.known(a)
                            && decides(&self.model.exprs, v, real)
                        {
                            values.insert(n, v);
                        }
                    }
                    ValueKind::Der(_) => {
                        let value = Access {
                            kind: ValueKind::Value,
                            ..a
                        };
                        if self.known(value).is_some() {
                            values.insert(n, self.model.exprs.real(0.0));
                        }
                    }
                    ValueKind::Pre => {}
                },
                Node::Call(f @ (Builtin::Edge | Builtin::Change), args) => {
                    // The left limit is that of the variable still: what is constant may have begun otherwise.
                    let argument = self.model.exprs.list(args)[0];
                    if let Node::Var(a) = self.model.exprs.node(argument)
                        && a.kind == ValueKind::Value
                        && let Some(now) = self.known(a)
                    {
                        let x = &mut self.model.exprs;
                        let (subs, ty) = (x.list(a.subs).to_vec(), x.ty(argument));
                        let before = x.var(a.var, ValueKind::Pre, &subs, ty);
                        let value = match (f, ty) {
                            (Builtin::Edge, _) => {
                                let not = x.not(before);
                                x.and(now, not)
                            }
                            (_, Ty::Bool) => {
                                let (not_now, not_before) = (x.not(now), x.not(before));
                                let (rise, fall) = (x.and(now, not_before), x.and(not_now, before));
                                x.or(rise, fall)
                            }
                            _ => x.rel(RelOp::Ne, now, before),
                        };
                        values.insert(n, value);
                    }
                }
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
}

impl Pass<'_> {
    /// What is not just a term of a sum, up to a coefficient. A constant variable that is such a term takes no other unknown out
    /// of an equation, and `v1 - v0` says more than `v1`.
    fn inside_of_terms(&self, e: ExprId) -> FxHashSet<ExprId> {
        let x = &self.model.exprs;
        let mut stops = Vec::new();
        let mut todo = vec![e];
        while let Some(n) = todo.pop() {
            match x.node(n) {
                Node::Add(list) => todo.extend(x.list(list)),
                Node::Mul(list) => {
                    let mut unknown = x.list(list).iter().filter(|&&f| self.has_unknown(f));
                    match (unknown.next(), unknown.next()) {
                        (Some(&factor), None) => todo.push(factor),
                        _ => stops.push(n),
                    }
                }
                Node::Div(a, b) if !self.has_unknown(b) => todo.push(a),
                Node::Var(_) => {}
                _ => stops.push(n),
            }
        }
        x.reachable(&stops).into_iter().collect()
    }
}

/// True for what has no value at compile time, whatever its arguments are.
pub(super) fn varies(x: &Exprs, e: ExprId) -> bool {
    match x.node(e) {
        Node::Time | Node::Apply { .. } | Node::Local { .. } => true,
        Node::Call(f, _) => matches!(
            f,
            Builtin::Initial
                | Builtin::Terminal
                | Builtin::Sample
                | Builtin::Delay
                | Builtin::Spatial
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
