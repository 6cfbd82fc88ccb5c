//! From expressions to kernels.
//!
//! In: expressions over a domain. Out: a [`Kernel`] and the meaning of each of its slots ([`Lowered`]). Variable
//! accesses, `time`, iterators and event cells become slots; the rest becomes straight-line operations ([`crate::body`]).
//! The work depends on the size of the expression, not on the length of its domain. Which memory the slots mean is
//! decided in [`crate::calls`].
//!
//! Example: `T[i] - T[i+1]` over `1:9` has the slots `T[i]` and `T[i+1]` and the operation `Sub(0, 1)`.

use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Access, ExprId, IterId, Node, Range, VarId};
use acausal_jit::kernel::{Kernel, KernelId, Op};
use acausal_symbolic::elements::ElementError;
use acausal_symbolic::{Substitute, checked_integers};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::CodegenError;
use crate::address::{Domain, for_each_point, is_static};
use crate::body::Builder;
use crate::cells::Cells;
use crate::plan::Shapes;
use acausal_compiled::Layout;

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
    /// The expression whose cell is being defined: it is evaluated, not read. What stands inside of it reads its cells.
    pub defined: Option<ExprId>,
    /// Equations of discrete variables are lowered: what changes in them without a relation has a cell as well.
    pub watches: bool,
    /// Some parameters are known only when the start has been solved.
    pub parameters_wait: bool,
    /// Parameters that derivatives are taken for: those that are unknown at the start, and what depends on them.
    pub active: FxHashSet<VarId>,
    /// Per variable of the model: whether it is discrete. Variables are large, and shapes ask for those of an equation in any order.
    discrete: Vec<bool>,
    /// Shapes of scalar items.
    pub shapes: Shapes,
    kernels: IndexMap<Vec<u64>, Kernel, FxBuildHasher>,
    /// Places of `Mem` that hold a literal from the beginning: first, number, value.
    pub literals: Vec<(usize, usize, f64)>,
    /// Literal tables in `Mem` and their contents.
    pub tables: IndexMap<Vec<u64>, usize, FxBuildHasher>,
    /// Subscripts that are known at run time only, with the size they must not exceed and their domain.
    pub indexed: IndexMap<RunTimeSubscript, OriginId, FxBuildHasher>,
    /// The arrays that such subscripts belong to.
    pub index_names: FxHashMap<(ExprId, usize), VarId>,
}

/// A subscript that is known at run time only, the size it must not exceed, and the domain it stands under.
pub type RunTimeSubscript = (ExprId, usize, Vec<(IterId, Range)>);

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
        let discrete = flat.vars.iter().map(|v| v.is_discrete()).collect();
        Lowering {
            flat,
            layout,
            discrete,
            cells: Cells::default(),
            new_cells: true,
            defined: None,
            watches: false,
            parameters_wait: false,
            active: FxHashSet::default(),
            shapes: Shapes::default(),
            kernels: IndexMap::default(),
            literals: Vec::new(),
            tables: IndexMap::default(),
            indexed: IndexMap::default(),
            index_names: FxHashMap::default(),
        }
    }

    /// Whether derivatives are taken for a variable: a continuous one, or an active parameter.
    pub(crate) fn varies(&self, var: VarId) -> bool {
        let known = self.discrete.get(var.index()).copied();
        let discrete = known.unwrap_or_else(|| self.flat.var(var).is_discrete());
        !discrete || self.active.contains(&var)
    }

    /// Notes selections whose subscript is known at run time only, to explain it when one is out of range.
    fn note_indexed(&mut self, domain: &Domain, roots: &[ExprId], origin: OriginId) {
        let mut found = Vec::new();
        for &root in roots {
            self.flat.exprs.any(root, |x, e| {
                if let Node::Select(index, list) = x.node(e) {
                    found.push((index, x.list(list).len()));
                }
                false
            });
        }
        for (index, size) in found {
            let dynamic = self.flat.exprs.any(index, |x, e| {
                matches!(x.node(e), Node::Var(_) | Node::Time | Node::Apply { .. })
            });
            if dynamic {
                let key = (index, size, domain.to_vec());
                self.indexed.entry(key).or_insert(origin);
            }
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
            .map(|&r| {
                let r = self.expand_steps(r);
                let r = self.resolve_dynamic(r, origin)?;
                Ok(checked_integers(&mut self.flat.exprs, r))
            })
            .collect::<Result<_, _>>()?;
        self.note_indexed(domain, &roots, origin);
        Builder::new(self, domain, origin).finish(&roots)
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
            for (&s, &d) in subs.iter().zip(&dims) {
                self.index_names.insert((s, d), access.var);
            }
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
