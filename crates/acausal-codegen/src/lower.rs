//! From expressions to kernels.
//!
//! Variable accesses, `time`, iterators and event cells become slots; the rest becomes straight-line operations. The
//! work per item depends on the size of the expression, not on the length of its domain.

use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Access, Builtin, ExprId, IterId, Kind, Node, Range, RelOp, VarId};
use acausal_index1::element::ElementError;
use acausal_jit::kernel::{Address, Bank, Binary, Call, Kernel, KernelId, Op, Store, Unary};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::CodegenError;
use crate::address::{Domain, Locations, domain_len, for_each_point, is_static, locate};
use crate::cells::{CellKey, CellKind, Cells};
use crate::layout::{Layout, Loc, fixed};

/// Arrays up to this length may be indexed by a variable.
const DYNAMIC_INDEX_LIMIT: usize = 1024;

/// Everything that grows while items are lowered.
pub struct Lowering<'a> {
    /// The model; its arena grows with derivatives.
    pub flat: &'a mut FlatModel,
    /// Places.
    pub layout: Layout,
    /// Event cells: relations and integer-valued steps.
    pub cells: Cells,
    /// False while derivatives are lowered: they read the cells that the equations have, and a relation without a cell
    /// stood inside of `noEvent` there.
    pub new_cells: bool,
    /// Parameters that derivatives are taken for: those that are unknown at the start, and what depends on them.
    pub active: FxHashSet<VarId>,
    kernels: IndexMap<Vec<u64>, Kernel, FxBuildHasher>,
    /// Literal tables in `Mem` and their contents.
    pub tables: IndexMap<Vec<u64>, usize, FxBuildHasher>,
}

/// What a slot reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leaf {
    /// An element of a variable.
    Access(Access),
    /// An iterator used as a number.
    Iter(IterId),
    /// A fixed place in `Mem`.
    Fixed(usize),
    /// An event cell group.
    Cell(u32),
    /// A literal table in `Mem`, selected by an integer expression.
    Table(usize, ExprId),
}

/// A kernel with the meaning of its slots.
pub struct Lowered {
    /// The kernel.
    pub kernel: Kernel,
    /// One per slot.
    pub leaves: Vec<Leaf>,
}

impl<'a> Lowering<'a> {
    /// Starts with the given layout.
    pub fn new(flat: &'a mut FlatModel, layout: Layout) -> Lowering<'a> {
        Lowering {
            flat,
            layout,
            cells: Cells::default(),
            new_cells: true,
            active: FxHashSet::default(),
            kernels: IndexMap::default(),
            tables: IndexMap::default(),
        }
    }

    /// The kernels so far.
    pub fn take_kernels(&mut self) -> Vec<Kernel> {
        std::mem::take(&mut self.kernels).into_values().collect()
    }

    /// The number of a kernel; equal kernels have one number.
    pub fn kernel_id(&mut self, kernel: Kernel) -> KernelId {
        let key = encode(&kernel);
        self.kernels.insert_full(key, kernel).0 as KernelId
    }

    /// Compiles expressions over a domain into one kernel with one output each.
    pub fn lower(
        &mut self,
        domain: &Domain,
        roots: &[ExprId],
        origin: OriginId,
    ) -> Result<Lowered, CodegenError> {
        let roots: Vec<ExprId> = roots
            .iter()
            .map(|&r| self.resolve_dynamic(r, origin))
            .collect::<Result<_, _>>()?;
        let mut builder = Builder {
            ctx: self,
            domain,
            origin,
            kernel: Kernel::default(),
            leaves: IndexMap::default(),
            done: FxHashMap::default(),
            constants: FxHashMap::default(),
        };
        let mut outputs = Vec::with_capacity(roots.len());
        for root in roots {
            outputs.push(builder.emit(root)?);
        }
        builder.kernel.outputs = outputs;
        builder.kernel.slots = builder.leaves.len() as u32;
        let leaves = builder.leaves.into_keys().collect();
        Ok(Lowered {
            kernel: builder.kernel,
            leaves,
        })
    }

    /// Writes an access with a subscript that is only known at run time as a selection among its elements.
    pub fn resolve_dynamic(
        &mut self,
        root: ExprId,
        origin: OriginId,
    ) -> Result<ExprId, CodegenError> {
        let dynamic: Vec<(ExprId, Access)> = self
            .flat
            .exprs
            .accesses(root)
            .into_iter()
            .filter(|(_, a)| !is_static(&self.flat.exprs, *a))
            .collect();
        if dynamic.is_empty() {
            return Ok(root);
        }
        let mut replaced: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for (e, access) in dynamic {
            let dims = self.flat.var(access.var).dims.clone();
            if dims.iter().product::<usize>() > DYNAMIC_INDEX_LIMIT {
                return Err(CodegenError::Element {
                    error: ElementError::DynamicIndex { access },
                    origin,
                });
            }
            let x = &mut self.flat.exprs;
            let subs: Vec<ExprId> = x.list(access.subs).to_vec();
            let ty = x.ty(e);
            // From the innermost dimension outwards: select(s1, [select(s2, ..), ..]).
            let mut level: Vec<ExprId> = Vec::new();
            let ranges: Vec<(IterId, Range)> = dims
                .iter()
                .map(|&d| (IterId(u32::MAX), Range::upto(d)))
                .collect();
            for_each_point(&ranges, |point| {
                let fixed: Vec<ExprId> = point.iter().map(|&p| x.int(p)).collect();
                level.push(x.var(access.var, access.kind, &fixed, ty));
            });
            for (s, &d) in subs.iter().zip(&dims).rev() {
                level = level
                    .chunks(d.max(1))
                    .map(|chunk| x.select(*s, chunk))
                    .collect();
            }
            replaced.insert(e, level[0]);
        }
        let new = self
            .flat
            .exprs
            .rewrite(root, |_, e| replaced.get(&e).copied());
        Ok(new)
    }

    /// The locations of a leaf over a domain, unless it is a counter.
    pub fn locate_leaf(
        &mut self,
        leaf: Leaf,
        domain: &Domain,
        origin: OriginId,
    ) -> Result<Option<Locations>, CodegenError> {
        let count = domain_len(domain);
        Ok(match leaf {
            Leaf::Iter(_) => None,
            Leaf::Fixed(base) => Some(Locations::Strided {
                bank: Bank::Mem,
                base,
                stride: 0,
            }),
            Leaf::Access(access) => {
                let place = self
                    .layout
                    .place((access.var, access.kind))
                    .ok_or(CodegenError::Unassigned { access, origin })?;
                Some(locate(self.flat, place, domain, access, origin)?)
            }
            Leaf::Cell(group) => Some(self.cells.locate(group, domain)),
            Leaf::Table(base, index) => {
                let mut list = Vec::with_capacity(count);
                let exprs = &self.flat.exprs;
                for_each_point(domain, |values| {
                    let v = exprs.evaluate(index, |x, e, _| match x.node(e) {
                        Node::Iter(i) => domain
                            .iter()
                            .position(|(j, _)| *j == i)
                            .map(|k| acausal_expr::Value::Int(values[k])),
                        _ => None,
                    });
                    let k = v.ok().and_then(|v| v.as_f64()).unwrap_or(1.0) as usize;
                    list.push(Loc::new(Bank::Mem, base + k.max(1) - 1));
                });
                Some(Locations::List(list))
            }
        })
    }

    /// The calls that run a lowered kernel over its domain. Where an array is split over banks, the domain is cut
    /// into runs that each read one bank per slot.
    pub fn calls(
        &mut self,
        lowered: &Lowered,
        domain: &Domain,
        outputs: &[(Locations, Store)],
        origin: OriginId,
    ) -> Result<Vec<Call>, CodegenError> {
        let count = domain_len(domain);
        let kernel = self.kernel_id(lowered.kernel.clone());
        let mut slots = Vec::new();
        for &leaf in &lowered.leaves {
            slots.push(match self.locate_leaf(leaf, domain, origin)? {
                Some(l) => SlotSource::Memory(l),
                None => {
                    let Leaf::Iter(i) = leaf else {
                        unreachable!("only iterators have no location")
                    };
                    SlotSource::Counter(counter(domain, i))
                }
            });
        }
        let run_ends = runs(&slots, outputs, count);
        let mut calls = Vec::new();
        let mut start = 0;
        for end in run_ends {
            let slots = slots.iter().map(|s| s.address(start, end)).collect();
            let outputs = outputs
                .iter()
                .map(|(l, s)| (memory_address(l, start, end), *s))
                .collect();
            calls.push(Call {
                kernel,
                count: end - start,
                slots,
                outputs,
            });
            start = end;
        }
        Ok(calls)
    }
}

enum SlotSource {
    Memory(Locations),
    Counter(CounterValues),
}

enum CounterValues {
    Linear(f64, f64),
    /// An outer iterator of a nested domain: values by point.
    List(Vec<f64>),
}

impl SlotSource {
    fn address(&self, start: usize, end: usize) -> Address {
        match self {
            SlotSource::Memory(l) => memory_address(l, start, end),
            SlotSource::Counter(CounterValues::Linear(first, step)) => Address::Counter {
                start: first + step * start as f64,
                step: *step,
            },
            SlotSource::Counter(CounterValues::List(v)) => {
                let step = if end > start + 1 {
                    v[start + 1] - v[start]
                } else {
                    0.0
                };
                Address::Counter {
                    start: v[start],
                    step,
                }
            }
        }
    }
}

fn memory_address(l: &Locations, start: usize, end: usize) -> Address {
    match l {
        Locations::Strided { bank, base, stride } => Address::Affine {
            bank: *bank,
            base: (*base as isize + stride * start as isize) as usize,
            stride: *stride,
        },
        Locations::List(list) => {
            let part = &list[start..end];
            crate::address::compress(
                part[0].bank(),
                part.iter().map(|x| x.index() as u32).collect(),
            )
        }
    }
}

/// The values of an iterator over the flattened domain.
fn counter(domain: &Domain, iter: IterId) -> CounterValues {
    let k = domain.iter().position(|(i, _)| *i == iter).unwrap_or(0);
    let range = domain[k].1;
    let others: i64 = domain
        .iter()
        .enumerate()
        .filter(|(j, _)| *j != k)
        .map(|(_, (_, r))| r.count)
        .product();
    if others == 1 {
        return CounterValues::Linear(range.start as f64, range.step as f64);
    }
    let mut values = Vec::with_capacity(domain_len(domain));
    for_each_point(domain, |v| values.push(v[k] as f64));
    CounterValues::List(values)
}

/// Where the domain must be cut: the bank of a slot changes, or a counter is not linear.
fn runs(slots: &[SlotSource], outputs: &[(Locations, Store)], count: usize) -> Vec<usize> {
    let mut lists: Vec<&Vec<Loc>> = Vec::new();
    let mut counters: Vec<&Vec<f64>> = Vec::new();
    for s in slots {
        match s {
            SlotSource::Memory(Locations::List(l)) => lists.push(l),
            SlotSource::Counter(CounterValues::List(v)) => counters.push(v),
            _ => {}
        }
    }
    lists.extend(outputs.iter().filter_map(|(l, _)| match l {
        Locations::List(l) => Some(l),
        _ => None,
    }));
    if count == 0 {
        return Vec::new();
    }
    let mut ends = Vec::new();
    let mut start = 0;
    for j in 1..count {
        let bank_changes = lists.iter().any(|l| l[j].bank() != l[j - 1].bank());
        let bends = counters
            .iter()
            .any(|v| j >= start + 2 && v[j] - v[j - 1] != v[j - 1] - v[j - 2]);
        if bank_changes || bends {
            ends.push(j);
            start = j;
        }
    }
    ends.push(count);
    ends
}

struct Builder<'c, 'a, 'd> {
    ctx: &'c mut Lowering<'a>,
    domain: &'d Domain,
    origin: OriginId,
    kernel: Kernel,
    leaves: IndexMap<Leaf, u32, FxBuildHasher>,
    /// Finished nodes, by expression and whether it stands inside of `noEvent`.
    done: FxHashMap<(ExprId, bool), u32>,
    constants: FxHashMap<u64, u32>,
}

impl Builder<'_, '_, '_> {
    fn push(&mut self, op: Op) -> u32 {
        self.kernel.nodes.push(op);
        self.kernel.nodes.len() as u32 - 1
    }

    fn constant(&mut self, v: f64) -> u32 {
        if let Some(&n) = self.constants.get(&v.to_bits()) {
            return n;
        }
        let n = self.push(Op::Const(v));
        self.constants.insert(v.to_bits(), n);
        n
    }

    fn slot(&mut self, leaf: Leaf) -> u32 {
        let next = self.leaves.len() as u32;
        if let Some(&node) = self.leaves.get(&leaf) {
            return node;
        }
        let node = self.push(Op::Slot(next));
        self.leaves.insert(leaf, node);
        node
    }

    /// Children first, with an explicit stack: expressions may be deep.
    fn emit(&mut self, root: ExprId) -> Result<u32, CodegenError> {
        let mut stack = vec![(root, false, false)];
        while let Some((e, quiet, ready)) = stack.pop() {
            if self.done.contains_key(&(e, quiet)) {
                continue;
            }
            if let Some(node) = self.leaf(e, quiet)? {
                self.done.insert((e, quiet), node);
                continue;
            }
            let inner_quiet = quiet
                || matches!(
                    self.ctx.flat.exprs.node(e),
                    Node::NoEvent(_) | Node::Smooth(..)
                );
            if !ready {
                stack.push((e, quiet, true));
                self.ctx
                    .flat
                    .exprs
                    .for_each_child(e, |c| stack.push((c, inner_quiet, false)));
                continue;
            }
            let node = self.operation(e, inner_quiet)?;
            self.done.insert((e, quiet), node);
        }
        Ok(self.done[&(root, false)])
    }

    fn leaf(&mut self, e: ExprId, quiet: bool) -> Result<Option<u32>, CodegenError> {
        let node = self.ctx.flat.exprs.node(e);
        Ok(Some(match node {
            Node::Real(bits) => self.constant(f64::from_bits(bits)),
            Node::Int(i) => self.constant(i as f64),
            Node::Bool(b) => self.constant(b as u8 as f64),
            Node::Str(_) | Node::Local { .. } | Node::Reduce { .. } => {
                return Err(CodegenError::Expression {
                    expr: e,
                    origin: self.origin,
                });
            }
            Node::Time => self.slot(Leaf::Fixed(fixed::TIME)),
            Node::Iter(i) => self.slot(Leaf::Iter(i)),
            Node::Var(a) => self.slot(Leaf::Access(a)),
            Node::Call(Builtin::Initial, _) => self.slot(Leaf::Fixed(fixed::INITIAL)),
            Node::Call(Builtin::Terminal, _) => self.slot(Leaf::Fixed(fixed::TERMINAL)),
            Node::Select(index, list) => return self.literal_table(index, list),
            _ => {
                let Some(key) = self.ctx.cells.key_of(self.ctx.flat, e, quiet) else {
                    return Ok(None);
                };
                let known =
                    self.ctx.new_cells || self.ctx.cells.contains(self.ctx.flat, key, self.domain);
                if !known && matches!(key.kind, CellKind::Relation(..) | CellKind::Floor(_)) {
                    return Ok(None);
                }
                self.cell(key)
            }
        }))
    }

    fn cell(&mut self, key: CellKey) -> u32 {
        let group = self.ctx.cells.group(
            self.ctx.flat,
            &mut self.ctx.layout,
            key,
            self.domain,
            self.origin,
        );
        self.slot(Leaf::Cell(group))
    }

    /// A selection from literals by an expression of iterators is a table in memory.
    fn literal_table(
        &mut self,
        index: ExprId,
        list: acausal_expr::List,
    ) -> Result<Option<u32>, CodegenError> {
        let x = &self.ctx.flat.exprs;
        let number = |m: ExprId| x.as_f64(m).or(x.as_bool(m).map(|b| b as u8 as f64));
        let values: Option<Vec<f64>> = x.list(list).iter().map(|&m| number(m)).collect();
        let static_index = !x.any(index, |x, e| {
            matches!(x.node(e), Node::Var(_) | Node::Time | Node::Apply { .. })
        });
        let Some(values) = values.filter(|_| static_index) else {
            return Ok(None);
        };
        let bits: Vec<u64> = values.iter().map(|v| v.to_bits()).collect();
        let layout = &mut self.ctx.layout;
        let base = *self
            .ctx
            .tables
            .entry(bits)
            .or_insert_with(|| layout.reserve(values.len()));
        Ok(Some(self.slot(Leaf::Table(base, index))))
    }

    fn operation(&mut self, e: ExprId, quiet: bool) -> Result<u32, CodegenError> {
        let get = |b: &Self, c: ExprId| b.done[&(c, quiet)];
        let node = self.ctx.flat.exprs.node(e);
        Ok(match node {
            Node::Add(l) => {
                let terms = self.ctx.flat.exprs.list(l).to_vec();
                self.sum(&terms, quiet)
            }
            Node::Mul(l) => {
                let factors = self.ctx.flat.exprs.list(l).to_vec();
                let negative = self.ctx.flat.exprs.as_f64(factors[0]) == Some(-1.0);
                let rest = if negative {
                    &factors[1..]
                } else {
                    &factors[..]
                };
                let mut acc = get(self, rest[0]);
                for &f in &rest[1..] {
                    let f = get(self, f);
                    acc = self.push(Op::Binary(Binary::Mul, acc, f));
                }
                if negative {
                    self.push(Op::Unary(Unary::Neg, acc))
                } else {
                    acc
                }
            }
            Node::Div(a, b) => self.binary(Binary::Div, get(self, a), get(self, b)),
            Node::Pow(a, b) => self.binary(Binary::Pow, get(self, a), get(self, b)),
            Node::Rel(op, a, b) => self.binary(relation(op), get(self, a), get(self, b)),
            Node::Not(a) => self.push(Op::Unary(Unary::Not, get(self, a))),
            Node::And(a, b) => self.binary(Binary::And, get(self, a), get(self, b)),
            Node::Or(a, b) => self.binary(Binary::Or, get(self, a), get(self, b)),
            Node::If(c, a, b) => self.push(Op::Select(get(self, c), get(self, a), get(self, b))),
            Node::NoEvent(a) | Node::Smooth(_, a) => get(self, a),
            Node::Select(index, l) => {
                // Outside of 1..n the last member is taken; the front end has checked what can be checked.
                let members = self.ctx.flat.exprs.list(l).to_vec();
                let index = get(self, index);
                let mut acc = get(self, members[members.len() - 1]);
                for (k, &m) in members.iter().enumerate().rev().skip(1) {
                    let number = self.constant(k as f64 + 1.0);
                    let hit = self.push(Op::Binary(Binary::Eq, index, number));
                    acc = self.push(Op::Select(hit, get(self, m), acc));
                }
                acc
            }
            Node::Call(f, l) => {
                let args: Vec<u32> = self
                    .ctx
                    .flat
                    .exprs
                    .list(l)
                    .iter()
                    .map(|&a| get(self, a))
                    .collect();
                self.builtin(e, f, &args)?
            }
            Node::Apply {
                func,
                args,
                output,
                wrt,
            } => {
                let x = &self.ctx.flat.exprs;
                let args = x.list(args).iter().map(|&a| get(self, a)).collect();
                let wrt = x
                    .list(wrt)
                    .iter()
                    .filter_map(|&w| x.as_int(w))
                    .map(|w| w as u32)
                    .collect();
                self.push(Op::Apply {
                    function: func.0,
                    args,
                    output,
                    wrt,
                })
            }
            _ => {
                return Err(CodegenError::Expression {
                    expr: e,
                    origin: self.origin,
                });
            }
        })
    }

    fn binary(&mut self, op: Binary, a: u32, b: u32) -> u32 {
        self.push(Op::Binary(op, a, b))
    }

    /// Terms with the factor -1 are subtracted instead of negated and added.
    fn sum(&mut self, terms: &[ExprId], quiet: bool) -> u32 {
        let mut acc: Option<u32> = None;
        let mut subtracted = Vec::new();
        for &t in terms {
            let x = &self.ctx.flat.exprs;
            if let Node::Mul(l) = x.node(t)
                && x.as_f64(x.list(l)[0]) == Some(-1.0)
                && let Some(Op::Unary(Unary::Neg, inner)) =
                    self.kernel.nodes.get(self.done[&(t, quiet)] as usize)
            {
                subtracted.push(*inner);
                continue;
            }
            let node = self.done[&(t, quiet)];
            acc = Some(match acc {
                None => node,
                Some(a) => self.push(Op::Binary(Binary::Add, a, node)),
            });
        }
        for s in subtracted {
            acc = Some(match acc {
                None => self.push(Op::Unary(Unary::Neg, s)),
                Some(a) => self.push(Op::Binary(Binary::Sub, a, s)),
            });
        }
        acc.unwrap_or(0)
    }

    fn builtin(&mut self, e: ExprId, f: Builtin, a: &[u32]) -> Result<u32, CodegenError> {
        let unary = match f {
            Builtin::Abs => Some(Unary::Abs),
            Builtin::Sign => Some(Unary::Sign),
            Builtin::Sqrt => Some(Unary::Sqrt),
            Builtin::Floor | Builtin::Integer => Some(Unary::Floor),
            Builtin::Ceil => Some(Unary::Ceil),
            Builtin::Sin => Some(Unary::Sin),
            Builtin::Cos => Some(Unary::Cos),
            Builtin::Tan => Some(Unary::Tan),
            Builtin::Asin => Some(Unary::Asin),
            Builtin::Acos => Some(Unary::Acos),
            Builtin::Atan => Some(Unary::Atan),
            Builtin::Sinh => Some(Unary::Sinh),
            Builtin::Cosh => Some(Unary::Cosh),
            Builtin::Tanh => Some(Unary::Tanh),
            Builtin::Exp => Some(Unary::Exp),
            Builtin::Log => Some(Unary::Ln),
            Builtin::Log10 => Some(Unary::Log10),
            _ => None,
        };
        if let Some(u) = unary {
            return Ok(self.push(Op::Unary(u, a[0])));
        }
        Ok(match f {
            Builtin::Min => self.binary(Binary::Min, a[0], a[1]),
            Builtin::Max => self.binary(Binary::Max, a[0], a[1]),
            Builtin::Atan2 => self.binary(Binary::Atan2, a[0], a[1]),
            Builtin::Mod => self.binary(Binary::Mod, a[0], a[1]),
            Builtin::Rem => self.binary(Binary::Rem, a[0], a[1]),
            Builtin::Div => {
                let q = self.binary(Binary::Div, a[0], a[1]);
                self.push(Op::Unary(Unary::Trunc, q))
            }
            Builtin::Homotopy => {
                // simplified + lambda*(actual - simplified), exactly the actual expression at lambda = 1.
                let lambda = self.slot(Leaf::Fixed(fixed::HOMOTOPY));
                let one = self.constant(1.0);
                let at_one = self.binary(Binary::Eq, lambda, one);
                let d = self.binary(Binary::Sub, a[0], a[1]);
                let p = self.binary(Binary::Mul, lambda, d);
                let mixed = self.binary(Binary::Add, a[1], p);
                self.push(Op::Select(at_one, a[0], mixed))
            }
            Builtin::Edge | Builtin::Change => {
                let x = &self.ctx.flat.exprs;
                let Node::Call(_, l) = x.node(e) else {
                    return Err(CodegenError::Expression {
                        expr: e,
                        origin: self.origin,
                    });
                };
                let Node::Var(mut access) = x.node(x.list(l)[0]) else {
                    return Err(CodegenError::Expression {
                        expr: e,
                        origin: self.origin,
                    });
                };
                access.kind = Kind::Pre;
                let before = self.slot(Leaf::Access(access));
                if f == Builtin::Change {
                    self.binary(Binary::Ne, a[0], before)
                } else {
                    let not = self.push(Op::Unary(Unary::Not, before));
                    self.binary(Binary::And, a[0], not)
                }
            }
            _ => {
                return Err(CodegenError::Expression {
                    expr: e,
                    origin: self.origin,
                });
            }
        })
    }
}

fn relation(op: RelOp) -> Binary {
    match op {
        RelOp::Lt => Binary::Lt,
        RelOp::Le => Binary::Le,
        RelOp::Gt => Binary::Gt,
        RelOp::Ge => Binary::Ge,
        RelOp::Eq => Binary::Eq,
        RelOp::Ne => Binary::Ne,
    }
}

/// A kernel as words, for finding equal ones.
fn encode(kernel: &Kernel) -> Vec<u64> {
    let mut w = Vec::with_capacity(kernel.nodes.len() * 2 + 4);
    for op in &kernel.nodes {
        match op {
            Op::Const(c) => w.extend([1, c.to_bits()]),
            Op::Slot(s) => w.extend([2, *s as u64]),
            Op::Unary(u, a) => w.extend([3, *u as u64, *a as u64]),
            Op::Binary(b, x, y) => w.extend([4, *b as u64, *x as u64, *y as u64]),
            Op::Select(c, x, y) => w.extend([5, *c as u64, *x as u64, *y as u64]),
            Op::Apply {
                function,
                args,
                output,
                wrt,
            } => {
                w.extend([
                    6,
                    *function as u64,
                    *output as u64,
                    args.len() as u64,
                    wrt.len() as u64,
                ]);
                w.extend(args.iter().chain(wrt).map(|&a| a as u64));
            }
        }
    }
    w.push(u64::MAX);
    w.push(kernel.slots as u64);
    w.extend(kernel.outputs.iter().map(|&o| o as u64));
    w
}
