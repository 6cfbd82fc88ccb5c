//! Which variables share a clock, and how the clocks are related.
//!
//! In: the equations. Out: classes of variables (union-find), which of them are clocked, and [`Relation`]s between them. Variables of
//! type `Clock` are classes as well: `connect` of clocks unites them. Arrays are one variable: their elements have one clock.
//!
//! What an operator separates from the equation it stands in: the arguments of `sample` are continuous; those of `hold`, `subSample`
//! and the like have a clock of their own. Everything else in an equation belongs together.
//!
//! Cost: linear in the size of the equations.

use acausal_base::Diagnostic;
use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Builtin, ExprId, Node, ValueKind, VarId};

use super::Clocks;
use super::infer::Fraction;

/// What is known of the clock of a class.
#[derive(Clone, Debug)]
pub(super) enum Relation {
    /// `Clock(interval)` or `Clock(condition, startInterval)`: the call.
    Base {
        of: usize,
        clock: ExprId,
        origin: OriginId,
    },
    /// The clock of `of` is that of `from`, slower by `slower` (unless it is to be inferred), then shifted by so many of
    /// its own intervals.
    Derived {
        of: usize,
        from: usize,
        slower: Option<Fraction>,
        shift: Fraction,
        origin: OriginId,
    },
}

/// Classes of variables.
pub(super) struct Partitions {
    parent: Vec<usize>,
    /// By root: has a clock.
    clocked: Vec<bool>,
    /// By root: where that is said.
    origin: Vec<Option<OriginId>>,
    /// Relations between classes (roots).
    pub relations: Vec<Relation>,
    /// The class of each equation: a root, if it has any variable.
    pub equations: Vec<Option<usize>>,
}

impl Partitions {
    fn root(&self, mut k: usize) -> usize {
        while self.parent[k] != k {
            k = self.parent[k];
        }
        k
    }

    /// The class of a variable.
    pub fn of(&self, var: VarId) -> usize {
        self.root(var.index())
    }

    /// Whether the class has a clock.
    pub fn is_clocked(&self, class: usize) -> bool {
        self.clocked[self.root(class)]
    }

    /// The clocked classes, in order, with a place in the source.
    pub fn clocked(&self) -> impl Iterator<Item = (usize, Option<OriginId>)> {
        (0..self.parent.len())
            .filter(|&k| self.parent[k] == k && self.clocked[k])
            .map(|k| (k, self.origin[k]))
    }

    fn unite(&mut self, a: usize, b: usize) -> usize {
        let (a, b) = (self.root(a), self.root(b));
        let (low, high) = (a.min(b), a.max(b));
        self.parent[high] = low;
        self.clocked[low] |= self.clocked[high];
        if self.origin[low].is_none() {
            self.origin[low] = self.origin[high];
        }
        low
    }

    /// A class without variables: the clock of an expression such as `Clock(2)`.
    fn anonymous(&mut self) -> usize {
        self.parent.push(self.parent.len());
        self.clocked.push(true);
        self.origin.push(None);
        self.parent.len() - 1
    }

    fn mark(&mut self, class: usize, origin: OriginId) {
        let root = self.root(class);
        self.clocked[root] = true;
        self.origin[root].get_or_insert(origin);
    }
}

/// What an expression brings into the class of its equation.
#[derive(Default)]
struct Found {
    /// The class, once there is a variable.
    class: Option<usize>,
    /// Something in it makes the class clocked.
    clocked: bool,
    /// Something in it makes the class continuous.
    continuous: bool,
    /// There is a derivative in it.
    derivative: bool,
    /// Relations whose `of` is this class.
    pending: Vec<Relation>,
}

/// An equation that cannot be clocked.
struct Continuous {
    class: usize,
    origin: OriginId,
    derivative: bool,
}

/// Stands for the class of the equation in relations that are pending.
const HERE: usize = usize::MAX;

struct Walk<'m> {
    model: &'m FlatModel,
    classes: Partitions,
    origin: OriginId,
}

pub(super) fn partition(model: &FlatModel, clocks: &Clocks) -> Result<Partitions, Vec<Diagnostic>> {
    let n = model.vars.len();
    let mut walk = Walk {
        model,
        classes: Partitions {
            parent: (0..n).collect(),
            clocked: vec![false; n],
            origin: vec![None; n],
            relations: Vec::new(),
            equations: Vec::new(),
        },
        origin: OriginId(0),
    };
    for &var in &sorted(clocks) {
        walk.classes.clocked[var.index()] = true;
    }
    let mut continuous = Vec::new();
    for eq in &model.equations {
        walk.origin = eq.origin;
        let class = walk.together(&[eq.lhs, eq.rhs], &mut continuous);
        walk.classes.equations.push(class);
    }
    for clause in &clocks.clauses {
        walk.origin = clause.origin;
        let mut none = Vec::new();
        let class = walk.together(&clause.sides, &mut none);
        let clock = walk.together(&[clause.clock], &mut none);
        if let Some(class) = class {
            walk.classes.mark(class, clause.origin);
            if let Some(clock) = clock {
                walk.classes.unite(class, clock);
            }
        }
    }
    let mut classes = walk.classes;
    // Roots may have changed since a class was noted.
    let roots: Vec<Option<usize>> = classes
        .equations
        .iter()
        .map(|c| c.map(|c| classes.root(c)))
        .collect();
    classes.equations = roots;
    let mut relations = std::mem::take(&mut classes.relations);
    for r in &mut relations {
        match r {
            Relation::Base { of, .. } => *of = classes.root(*of),
            Relation::Derived { of, from, .. } => {
                *of = classes.root(*of);
                *from = classes.root(*from);
            }
        }
    }
    classes.relations = relations;
    let messages: Vec<Diagnostic> = continuous
        .into_iter()
        .filter(|c| classes.is_clocked(c.class))
        .map(|c| {
            let span = model.origin(c.origin).span;
            if c.derivative {
                let message = "derivatives in clocked equations are not supported yet";
                return Diagnostic::error("unsupported", span, message);
            }
            let message = "this equation is both clocked and continuous";
            Diagnostic::error("clock-mixed", span, message)
                .hint("put `sample` and `hold` between continuous and clocked variables")
        })
        .collect();
    match messages.is_empty() {
        true => Ok(classes),
        false => Err(messages),
    }
}

fn sorted(clocks: &Clocks) -> Vec<VarId> {
    let mut vars: Vec<VarId> = clocks.variables.iter().copied().collect();
    vars.sort();
    vars
}

impl Walk<'_> {
    /// Expressions that stand in one equation. Their class, if they have one.
    fn together(&mut self, parts: &[ExprId], continuous: &mut Vec<Continuous>) -> Option<usize> {
        let mut found = Found::default();
        for &e in parts {
            self.walk(e, &mut found, continuous);
        }
        if found.class.is_none() && (found.clocked || !found.pending.is_empty()) {
            found.class = Some(self.classes.anonymous());
        }
        let class = found.class?;
        if found.clocked || !found.pending.is_empty() {
            self.classes.mark(class, self.origin);
        }
        if found.continuous || found.derivative {
            continuous.push(Continuous {
                class,
                origin: self.origin,
                derivative: found.derivative,
            });
        }
        for mut r in found.pending {
            let (Relation::Base { of, .. } | Relation::Derived { of, .. }) = &mut r;
            *of = class;
            self.classes.relations.push(r);
        }
        Some(class)
    }

    fn walk(&mut self, e: ExprId, found: &mut Found, continuous: &mut Vec<Continuous>) {
        // Depth of nesting is bounded by the parser; shared parts are met once.
        let mut seen = rustc_hash::FxHashSet::default();
        let mut todo = vec![e];
        while let Some(e) = todo.pop() {
            if !seen.insert(e) {
                continue;
            }
            let x = &self.model.exprs;
            match x.node(e) {
                Node::Var(a) => {
                    todo.extend(x.list(a.subs));
                    if self.model.var(a.var).is_parameter() {
                        continue;
                    }
                    found.derivative |= matches!(a.kind, ValueKind::Der(_));
                    found.class = Some(match found.class {
                        Some(class) => self.classes.unite(class, a.var.index()),
                        None => self.classes.root(a.var.index()),
                    });
                }
                Node::Call(f, args) if f.is_clocked() => {
                    let args = x.list(args).to_vec();
                    self.operator(e, f, &args, found, &mut todo, continuous);
                }
                _ => x.for_each_child(e, |c| todo.push(c)),
            }
        }
    }

    fn operator(
        &mut self,
        e: ExprId,
        f: Builtin,
        args: &[ExprId],
        found: &mut Found,
        todo: &mut Vec<ExprId>,
        continuous: &mut Vec<Continuous>,
    ) {
        let origin = self.origin;
        let x = &self.model.exprs;
        let number = |k: usize| args.get(k).and_then(|&a| x.as_int(a)).unwrap_or(0);
        let none = Fraction::whole(0);
        let (slower, shift) = match f {
            // The factor 0 is one to be inferred.
            Builtin::SubSample if number(1) != 0 => (Some(Fraction::whole(number(1))), none),
            Builtin::SuperSample if number(1) != 0 => (Some(Fraction::new(1, number(1))), none),
            Builtin::ShiftSample => (
                Some(Fraction::whole(1)),
                Fraction::new(number(1), number(2)),
            ),
            Builtin::BackSample => (
                Some(Fraction::whole(1)),
                Fraction::new(-number(1), number(2)),
            ),
            _ => (None, none),
        };
        match f {
            Builtin::Clock if args.is_empty() => found.clocked = true,
            Builtin::Clock | Builtin::EventClock => {
                found.pending.push(Relation::Base {
                    of: HERE,
                    clock: e,
                    origin,
                });
                // The condition of an event clock is continuous.
                if f == Builtin::EventClock {
                    self.together(&args[..1], continuous);
                }
            }
            Builtin::ClockedSample => {
                found.clocked = true;
                self.together(&args[..1], continuous);
                if let Some(&clock) = args.get(1) {
                    todo.push(clock);
                }
            }
            Builtin::Hold | Builtin::NoClock => {
                found.clocked |= f == Builtin::NoClock;
                found.continuous |= f == Builtin::Hold;
                if let Some(inner) = self.together(&args[..1], continuous) {
                    self.classes.mark(inner, origin);
                }
            }
            Builtin::Previous | Builtin::Interval | Builtin::FirstTick => {
                found.clocked = true;
                todo.extend(args);
            }
            _ => {
                let from = self.together(&args[..1], continuous);
                let Some(from) = from else {
                    found.clocked = true;
                    return;
                };
                self.classes.mark(from, origin);
                found.pending.push(Relation::Derived {
                    of: HERE,
                    from,
                    slower,
                    shift,
                    origin,
                });
            }
        }
    }
}
