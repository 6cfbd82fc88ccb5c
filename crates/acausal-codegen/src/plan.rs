//! The order of items, with scalar items of one shape taken together.
//!
//! In: items (assignments or residuals). Out: a [`Plan`], work in an order in which every item comes after those whose
//! results it reads. Scalar items of the same shape ([`crate::shape`]) become one [`ShapeGroup`]: a kernel and a table of
//! places, so that ten thousand resistors written one by one cost one call.
//!
//! Assignments depend on each other. Between two array items, each scalar assignment has a *level*: one more than the
//! largest level among the assignments it reads. Those of one level and shape do not depend on each other and form a
//! batch; levels are run in order.
//!
//! Example: `a1 = 2*x1; a2 = 2*x2; b1 = 2*a1` has the levels 1, 1, 2 and becomes the batches `{a1, a2}` and `{b1}`.
//!
//! Complexity: linear in the sizes of the expressions.

use acausal_expr::ExprId;
use acausal_expr::flat::OriginId;
use acausal_jit::kernel::{Bank, Call, KernelId, Program, Store};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::CodegenError;
use crate::address::compress;
use crate::items::{Item, ItemTarget};
use crate::lower::{Leaf, Lowering};
use crate::shape::{ShapeLeaf, Shaped};
use acausal_compiled::{Loc, fixed};

/// Work in order.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The parts.
    pub works: Vec<Work>,
}

/// A part of a plan.
#[derive(Clone, Debug)]
pub enum Work {
    /// An item by itself.
    One(Item),
    /// Scalar items of one shape.
    Batch(ShapeGroup),
}

/// Scalar items of one shape whose leaves lie in the same banks.
#[derive(Clone, Debug)]
pub struct ShapeGroup {
    /// Number of the shape in [`Shapes`].
    pub shape: usize,
    /// Per leaf of the shape: its place in every item.
    pub leaves: Vec<Vec<Loc>>,
    /// Where the value of every item goes.
    pub targets: Vec<Loc>,
}

/// Whether the items of a plan read each other's results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupOrder {
    /// They do; the given order is one in which they can be evaluated.
    Dependent,
    /// They do not.
    Free,
}

/// The shapes met so far.
#[derive(Default)]
pub struct Shapes {
    codes: IndexMap<Vec<u64>, ShapeCode, FxBuildHasher>,
}

/// What one shape became.
pub struct ShapeCode {
    /// The value.
    kernel: KernelId,
    /// Per slot of the kernel: the leaf of the shape.
    slots: Vec<u32>,
    /// An item of this shape.
    example: (ExprId, OriginId),
    /// The partial derivatives, when they have been asked for.
    partials: Option<ShapePartials>,
}

/// The partial derivatives of a shape.
#[derive(Clone, Debug, Default)]
pub struct ShapePartials {
    /// Leaf and, if it is a literal, the value of the derivative with respect to it.
    pub entries: Vec<(u32, Option<f64>)>,
    /// Kernel of those that are no literals, in order, and the leaves of its slots.
    pub kernel: Option<(KernelId, Vec<u32>)>,
}

/// Batches that are being filled: level, shape and banks of leaves and target.
type Open = IndexMap<(u32, usize, Vec<u8>), ShapeGroup, FxBuildHasher>;

impl Lowering<'_> {
    /// Puts items in order.
    pub fn plan(&mut self, items: &[Item], order: GroupOrder) -> Result<Plan, CodegenError> {
        let mut plan = Plan::default();
        let mut shaped = Shaped::default();
        let mut open = Open::default();
        let mut levels = Levels::default();
        let mut places = Vec::new();
        for item in items {
            let varies = |v| self.varies(v);
            if !item.domain.is_empty() || !shaped.read(&self.flat.exprs, varies, item.value) {
                if order == GroupOrder::Dependent {
                    close(&mut open, &mut plan);
                    levels.clear();
                }
                plan.works.push(Work::One(item.clone()));
                continue;
            }
            let shape = self.shape_number(&shaped, item)?;
            places.clear();
            for &leaf in &shaped.leaves {
                places.push(self.scalar_place(leaf, item.origin)?);
            }
            let target = self.locate_target(item.target, &[], item.origin)?.at(0);
            let mut level = 0;
            if order == GroupOrder::Dependent {
                let read = places.iter().filter(|l| l.bank() == Bank::Mem);
                level = read.map(|l| levels.above(l.index())).max().unwrap_or(0);
                levels.set(target.index(), level);
            }
            let mut banks: Vec<u8> = places.iter().map(|l| l.bank() as u8).collect();
            banks.push(target.bank() as u8);
            let batch = open
                .entry((level, shape, banks))
                .or_insert_with(|| ShapeGroup {
                    shape,
                    leaves: vec![Vec::new(); shaped.leaves.len()],
                    targets: Vec::new(),
                });
            for (column, &place) in batch.leaves.iter_mut().zip(&places) {
                column.push(place);
            }
            batch.targets.push(target);
        }
        close(&mut open, &mut plan);
        Ok(plan)
    }

    /// A program that runs a plan.
    pub fn program(&mut self, plan: &Plan) -> Result<Program, CodegenError> {
        let mut program = Vec::new();
        for work in &plan.works {
            match work {
                Work::One(item) => program.extend(self.item_calls(item)?),
                Work::Batch(batch) => {
                    let code = &self.shapes.codes[batch.shape];
                    program.push(Call {
                        kernel: code.kernel,
                        count: batch.targets.len(),
                        slots: (code.slots.iter())
                            .map(|&s| table(&batch.leaves[s as usize]))
                            .collect(),
                        outputs: vec![(table(&batch.targets), Store::Set)],
                    });
                }
            }
        }
        Ok(program)
    }

    /// Where a scalar lies.
    fn scalar_place(&self, leaf: ShapeLeaf, origin: OriginId) -> Result<Loc, CodegenError> {
        let access = match leaf {
            ShapeLeaf::Time => return Ok(Loc::new(Bank::Mem, fixed::TIME)),
            ShapeLeaf::Access(access) => access,
        };
        let place = self
            .layout
            .place((access.var, access.kind))
            .ok_or(CodegenError::Unassigned { access, origin })?;
        Ok(crate::address::locate(self.flat, place, &[], access, origin)?.at(0))
    }

    /// The number of the shape of an item; a new one is lowered.
    fn shape_number(&mut self, shaped: &Shaped, item: &Item) -> Result<usize, CodegenError> {
        if let Some(k) = self.shapes.codes.get_index_of(&shaped.words) {
            return Ok(k);
        }
        let lowered = self.lower(&[], &[item.value], item.origin)?;
        let slots = numbers(&lowered.leaves, &shaped.leaves, item)?;
        let code = ShapeCode {
            kernel: self.kernel_id(lowered.kernel),
            slots,
            example: (item.value, item.origin),
            partials: None,
        };
        Ok(self.shapes.codes.insert_full(shaped.words.clone(), code).0)
    }

    /// The partial derivatives of a shape.
    pub fn shape_partials(&mut self, shape: usize) -> Result<ShapePartials, CodegenError> {
        let code = &self.shapes.codes[shape];
        if let Some(p) = &code.partials {
            return Ok(p.clone());
        }
        let (value, origin) = code.example;
        let item = Item {
            domain: Vec::new(),
            value,
            target: ItemTarget::Consecutive(Bank::Out, 0),
            origin,
        };
        let mut shaped = Shaped::default();
        shaped.read(&self.flat.exprs, |v| self.varies(v), value);
        let expanded = self.expand(&item);
        let mut partials = ShapePartials::default();
        let mut outputs = Vec::new();
        for (access, partial) in self.active_gradient(&item, &expanded)? {
            let leaf = numbers(&[Leaf::Access(access)], &shaped.leaves, &item)?[0];
            let literal = self.flat.exprs.as_f64(partial);
            if literal.is_none() {
                outputs.push(partial);
            }
            partials.entries.push((leaf, literal));
        }
        if !outputs.is_empty() {
            let lowered = self.lower(&[], &outputs, origin)?;
            let slots = numbers(&lowered.leaves, &shaped.leaves, &item)?;
            partials.kernel = Some((self.kernel_id(lowered.kernel), slots));
        }
        self.shapes.codes[shape].partials = Some(partials.clone());
        Ok(partials)
    }
}

impl ShapeGroup {
    /// Slots that read the given leaves.
    pub fn slots(&self, leaves: &[u32]) -> Vec<acausal_jit::kernel::Address> {
        leaves
            .iter()
            .map(|&l| table(&self.leaves[l as usize]))
            .collect()
    }
}

/// Levels of the scalar assignments since the last array item, by their place in `Mem`.
#[derive(Default)]
struct Levels {
    /// One more than the level; 0 for a place that nothing was assigned to. As long as the last place that was.
    above: Vec<u32>,
    /// The places with a level, so that the others need not be looked at to forget them.
    assigned: Vec<usize>,
}

impl Levels {
    /// The least level of what reads a place.
    fn above(&self, place: usize) -> u32 {
        self.above.get(place).copied().unwrap_or(0)
    }

    fn set(&mut self, place: usize, level: u32) {
        if self.above.len() <= place {
            self.above.resize(place + 1, 0);
        }
        self.above[place] = level + 1;
        self.assigned.push(place);
    }

    fn clear(&mut self) {
        for place in self.assigned.drain(..) {
            self.above[place] = 0;
        }
    }
}

fn close(open: &mut Open, plan: &mut Plan) {
    let mut batches: Vec<(u32, ShapeGroup)> = open.drain(..).map(|(key, b)| (key.0, b)).collect();
    // Stable: batches of one level stay in the order of their first items.
    batches.sort_by_key(|(level, _)| *level);
    plan.works
        .extend(batches.into_iter().map(|(_, b)| Work::Batch(b)));
}

/// The numbers of kernel leaves among the leaves of a shape.
fn numbers(leaves: &[Leaf], shape: &[ShapeLeaf], item: &Item) -> Result<Vec<u32>, CodegenError> {
    let number = |leaf: &Leaf| {
        let wanted = match *leaf {
            Leaf::Access(a) => ShapeLeaf::Access(a),
            Leaf::Fixed(fixed::TIME) => ShapeLeaf::Time,
            _ => return None,
        };
        shape.iter().position(|l| *l == wanted).map(|k| k as u32)
    };
    let all: Option<Vec<u32>> = leaves.iter().map(number).collect();
    all.ok_or(CodegenError::Expression {
        expr: item.value,
        origin: item.origin,
    })
}

/// The address of places in one bank.
fn table(places: &[Loc]) -> acausal_jit::kernel::Address {
    let bank = places.first().map_or(Bank::Mem, |l| l.bank());
    compress(bank, places.iter().map(|l| l.index() as u32).collect())
}
