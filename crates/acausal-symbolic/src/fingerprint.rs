//! A number that tells models apart by their equations.
//!
//! What is stored for a model (a checkpoint) must not be used for another one. Names and sizes of variables are not enough:
//! `der(x) = -x` and `der(x) = x` have the same. The fingerprint depends on the structure of all equations, `when` clauses and
//! functions, and on the literals in them; it does not depend on the values of parameters, on the order in which
//! expressions were made, nor on the numbers of the compiler's own iterators.
//!
//! Each expression has the hash of its kind and of those of its children, which come before it in the arena: one pass,
//! linear in the number of expressions. The hash ([`Fnv`]) is the same on every machine and in every build.

use std::hash::{Hash, Hasher};

use acausal_base::Fnv;
use acausal_expr::flat::{Action, FlatModel, Statement};
use acausal_expr::{Access, ExprId, Exprs, IterId, List, Node, Range};

/// The fingerprint of a model, as it is when it has been flattened.
pub fn fingerprint(model: &FlatModel) -> u64 {
    let exprs = Hashes::new(model);
    let mut hash = Fnv::default();
    for (kind, equations) in [&model.equations, &model.initial_equations]
        .iter()
        .enumerate()
    {
        (kind, equations.len()).hash(&mut hash);
        for e in equations.iter() {
            exprs.domain(&e.domain, &mut hash);
            (exprs.of(e.lhs), exprs.of(e.rhs)).hash(&mut hash);
        }
    }
    for when in &model.whens {
        exprs.domain(&when.domain, &mut hash);
        for branch in &when.branches {
            for &c in &branch.conditions {
                exprs.of(c).hash(&mut hash);
            }
            for action in &branch.actions {
                match action {
                    Action::Assign {
                        domain,
                        target,
                        value,
                    } => exprs.set(1, domain, *target, *value, &mut hash),
                    Action::Reinit {
                        domain,
                        target,
                        value,
                    } => exprs.set(2, domain, *target, *value, &mut hash),
                    // What is checked and said does not change what comes out.
                    Action::Assert(_) | Action::Print { .. } => {}
                    Action::Terminate { .. } => 3.hash(&mut hash),
                }
            }
        }
    }
    hash.finish()
}

/// Where each iterator runs: its place in the domain of its equation, or how many sums, products and the like its own one holds. This tells the compiler's own
/// iterators of an equation apart, `x[i, j]` from `x[j, i]`, whatever their numbers are.
fn places(model: &FlatModel) -> Vec<u32> {
    let x = &model.exprs;
    let mut places = vec![0; x.iter_names().count()];
    let mut put = |i: IterId, place: usize| {
        let known: &mut u32 = &mut places[i.0 as usize];
        *known = (*known).max(place as u32);
    };
    let mut heights: Vec<usize> = Vec::with_capacity(x.len());
    for e in x.ids() {
        let mut height = 0;
        x.for_each_child(e, |c| height = height.max(heights[c.index()]));
        if let Node::Reduce { iter, .. } = x.node(e) {
            height += 1;
            put(iter, 2 * height + 1);
        }
        heights.push(height);
    }
    let equations = model.equations.iter().chain(&model.initial_equations);
    let mut domains: Vec<&[(IterId, Range)]> = equations.map(|e| &*e.domain).collect();
    for when in &model.whens {
        domains.push(&when.domain);
        for action in when.branches.iter().flat_map(|b| &b.actions) {
            if let Action::Assign { domain, .. } | Action::Reinit { domain, .. } = action {
                domains.push(domain);
            }
        }
    }
    for domain in domains {
        for (place, (i, _)) in domain.iter().enumerate() {
            put(*i, 2 * place);
        }
    }
    places
}

/// The hashes of all expressions.
struct Hashes<'m> {
    exprs: &'m Exprs,
    /// Per iterator: see [`places`].
    places: Vec<u32>,
    hashes: Vec<u64>,
}

impl<'m> Hashes<'m> {
    fn new(model: &'m FlatModel) -> Hashes<'m> {
        let exprs = &model.exprs;
        let mut all = Hashes {
            exprs,
            places: places(model),
            hashes: Vec::with_capacity(exprs.len()),
        };
        // Bodies of functions consist of expressions without calls or with calls of other functions, by name.
        for e in exprs.ids() {
            let hash = all.node(exprs.node(e), model);
            all.hashes.push(hash);
        }
        // What a function does is known once all expressions are; calls of it are told apart by its body from here on.
        let bodies: Vec<u64> = model.functions.iter().map(|f| all.body(&f.body)).collect();
        if bodies.is_empty() {
            return all;
        }
        let mut next = Hashes {
            exprs,
            places: all.places,
            hashes: Vec::with_capacity(exprs.len()),
        };
        for e in exprs.ids() {
            let mut hash = Fnv::default();
            next.node(exprs.node(e), model).hash(&mut hash);
            if let Node::Apply { func, .. } = exprs.node(e) {
                bodies.get(func.0 as usize).hash(&mut hash);
            }
            next.hashes.push(hash.finish());
        }
        next
    }

    fn of(&self, e: ExprId) -> u64 {
        // Children come first.
        self.hashes[e.index()]
    }

    fn list(&self, l: List, hash: &mut Fnv) {
        let members = self.exprs.list(l);
        members.len().hash(hash);
        members.iter().for_each(|&m| self.of(m).hash(hash));
    }

    fn access(&self, a: Access, hash: &mut Fnv) {
        (a.var, a.kind).hash(hash);
        self.list(a.subs, hash);
    }

    /// Iterators of the compiler's own are numbered as they are made, which other values of parameters may change: it is their place that counts.
    fn iter(&self, i: IterId, hash: &mut Fnv) {
        match self.exprs.is_fresh_iter(i) {
            true => self.places[i.0 as usize].hash(hash),
            false => self.exprs.iter_name(i).as_str().hash(hash),
        }
    }

    fn domain(&self, domain: &[(IterId, Range)], hash: &mut Fnv) {
        domain.len().hash(hash);
        for (i, range) in domain {
            self.iter(*i, hash);
            range.hash(hash);
        }
    }

    fn set(
        &self,
        kind: u8,
        domain: &[(IterId, Range)],
        target: Access,
        value: ExprId,
        hash: &mut Fnv,
    ) {
        kind.hash(hash);
        self.domain(domain, hash);
        self.access(target, hash);
        self.of(value).hash(hash);
    }

    fn node(&self, node: Node, model: &FlatModel) -> u64 {
        let mut hash = Fnv::default();
        let h = &mut hash;
        std::mem::discriminant(&node).hash(h);
        match node {
            Node::Real(bits) => bits.hash(h),
            Node::Int(i) => i.hash(h),
            Node::Bool(b) => b.hash(h),
            Node::Str(s) => self.exprs.string(s).hash(h),
            Node::Time => {}
            Node::Iter(i) => self.iter(i, h),
            Node::Var(a) => self.access(a, h),
            Node::Add(l) | Node::Mul(l) => {
                // Sums and products are kept in the order of their making, which is not the model's.
                let members = self.exprs.list(l);
                let sum = members.iter().map(|&m| self.of(m));
                (members.len(), sum.fold(0u64, u64::wrapping_add)).hash(h);
            }
            Node::Div(a, b) | Node::Pow(a, b) | Node::And(a, b) | Node::Or(a, b) => {
                (self.of(a), self.of(b)).hash(h);
            }
            Node::Rel(op, a, b) => (op, self.of(a), self.of(b)).hash(h),
            Node::Not(a) | Node::NoEvent(a) => self.of(a).hash(h),
            Node::Smooth(p, a) => (p, self.of(a)).hash(h),
            Node::If(c, a, b) => (self.of(c), self.of(a), self.of(b)).hash(h),
            Node::Call(f, l) => {
                f.hash(h);
                self.list(l, h);
            }
            Node::Reduce {
                op,
                iter,
                range,
                body,
            } => {
                (op, range, self.of(body)).hash(h);
                self.iter(iter, h);
            }
            Node::Select(i, l) => {
                self.of(i).hash(h);
                self.list(l, h);
            }
            Node::Apply {
                func,
                args,
                output,
                wrt,
            } => {
                let name = model.functions.get(func.0 as usize).map(|f| &f.name);
                (name, output).hash(h);
                self.list(args, h);
                self.list(wrt, h);
            }
            Node::Local { base, len, offset } => (base, len, self.of(offset)).hash(h),
        }
        hash.finish()
    }

    fn body(&self, statements: &[Statement]) -> u64 {
        let mut hash = Fnv::default();
        let h = &mut hash;
        // The nesting is that of the text, which the parser bounds; an explicit stack keeps the order.
        let mut todo: Vec<&Statement> = statements.iter().rev().collect();
        while let Some(s) = todo.pop() {
            std::mem::discriminant(s).hash(h);
            match s {
                Statement::Assign { target, value } => (self.of(*target), self.of(*value)).hash(h),
                Statement::If {
                    branches,
                    otherwise,
                } => {
                    for (c, body) in branches {
                        (self.of(*c), body.len()).hash(h);
                    }
                    todo.extend(otherwise.iter().rev());
                    todo.extend(branches.iter().rev().flat_map(|b| b.1.iter().rev()));
                }
                Statement::While { condition, body } => {
                    (self.of(*condition), body.len()).hash(h);
                    todo.extend(body.iter().rev());
                }
                Statement::For {
                    iterator,
                    start,
                    step,
                    stop,
                    body,
                } => {
                    (iterator, self.of(*start), self.of(*step), self.of(*stop)).hash(h);
                    todo.extend(body.iter().rev());
                }
                Statement::Break | Statement::Return | Statement::Assert { .. } => {}
            }
        }
        hash.finish()
    }
}
