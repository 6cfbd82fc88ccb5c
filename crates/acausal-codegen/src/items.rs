//! Items: one expression over a domain with the place of its value; and the calls they become.

use acausal_expr::flat::OriginId;
use acausal_expr::{Access, ExprId, IterId, Node, Range, ReduceOp};
use acausal_jit::kernel::{Address, Bank, Call, Program, Store};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::CodegenError;
use crate::address::{compress, domain_len, locate};
use crate::lower::{Lowered, Lowering};
use acausal_compiled::Locations;
use acausal_compiled::Place;

/// Where the value of an item goes.
#[derive(Clone, Copy, Debug)]
pub enum ItemTarget {
    /// An element of a variable.
    Access(Access),
    /// Consecutive places of a bank, one per point of the domain.
    Consecutive(Bank, usize),
    /// Consecutive places of a bank, one per element of a variable; those of the accessed elements.
    Elements(Bank, usize, Access),
}

/// `target := value` over a domain.
#[derive(Clone, Debug)]
pub struct Item {
    /// Iterators.
    pub domain: Vec<(IterId, Range)>,
    /// The value.
    pub value: ExprId,
    /// Its place.
    pub target: ItemTarget,
    /// Where it came from.
    pub origin: OriginId,
}

/// An item whose reduction, if its value is one, is written as a longer domain.
pub struct Expanded {
    /// The domain, with the iterator of the reduction last.
    pub domain: Vec<(IterId, Range)>,
    /// The scalar body.
    pub body: ExprId,
    /// How the values are put together.
    pub store: Store,
    /// What the place holds before the first value is added.
    pub neutral: Option<f64>,
}

impl Lowering<'_> {
    /// Where the values of an item go, over its expanded domain.
    pub fn locate_target(
        &self,
        target: ItemTarget,
        domain: &[(IterId, Range)],
        origin: OriginId,
    ) -> Result<Locations, CodegenError> {
        match target {
            ItemTarget::Access(access) => {
                let place = self
                    .layout
                    .place((access.var, access.kind))
                    .ok_or(CodegenError::Unassigned { access, origin })?;
                locate(self.flat, place, domain, access, origin)
            }
            ItemTarget::Consecutive(bank, base) => Ok(Locations::Strided {
                bank,
                base,
                stride: 1,
            }),
            ItemTarget::Elements(bank, base, access) => {
                locate(self.flat, &Place::Whole(bank, base), domain, access, origin)
            }
        }
    }

    /// Writes a reduction at the root as repeated stores.
    pub fn expand(&self, item: &Item) -> Expanded {
        let mut domain = item.domain.clone();
        match self.flat.exprs.node(item.value) {
            Node::Reduce {
                op,
                iter,
                range,
                body,
            } => {
                domain.push((iter, range));
                let (store, neutral) = match op {
                    ReduceOp::Sum => (Store::Add, 0.0),
                    ReduceOp::Product => (Store::Mul, 1.0),
                    ReduceOp::Min => (Store::Min, f64::MAX),
                    ReduceOp::Max => (Store::Max, f64::MIN),
                };
                Expanded {
                    domain,
                    body,
                    store,
                    neutral: Some(neutral),
                }
            }
            _ => Expanded {
                domain,
                body: item.value,
                store: Store::Set,
                neutral: None,
            },
        }
    }

    /// The calls of an item.
    pub fn item_calls(&mut self, item: &Item) -> Result<Vec<Call>, CodegenError> {
        if domain_len(&item.domain) == 0 {
            return Ok(Vec::new());
        }
        let x = self.expand(item);
        let mut calls = Vec::new();
        if let Some(neutral) = x.neutral {
            let value = self.flat.exprs.real(neutral);
            let lowered = self.lower(&item.domain, &[value], item.origin)?;
            let out = self.locate_target(item.target, &item.domain, item.origin)?;
            calls.extend(self.calls(&lowered, &item.domain, &[(out, Store::Set)], item.origin)?);
        }
        let lowered = self.lower(&x.domain, &[x.body], item.origin)?;
        let out = match item.target {
            ItemTarget::Consecutive(bank, base) if x.neutral.is_some() => {
                let inner = x.domain.last().map_or(1, |(_, r)| r.count as usize);
                let list = (0..domain_len(&x.domain))
                    .map(|k| acausal_compiled::Loc::new(bank, base + k / inner))
                    .collect();
                Locations::List(list)
            }
            target => self.locate_target(target, &x.domain, item.origin)?,
        };
        calls.extend(self.calls(&lowered, &x.domain, &[(out, x.store)], item.origin)?);
        Ok(calls)
    }

    /// A program whose calls keep their order.
    pub fn ordered_program(&mut self, items: &[Item]) -> Result<Program, CodegenError> {
        let mut program = Vec::new();
        for item in items {
            program.extend(self.item_calls(item)?);
        }
        Ok(program)
    }

    /// Calls for several outputs of one lowered kernel.
    pub fn outputs_calls(
        &mut self,
        lowered: &Lowered,
        domain: &[(IterId, Range)],
        outputs: Vec<Locations>,
        origin: OriginId,
    ) -> Result<Vec<Call>, CodegenError> {
        let outputs: Vec<(Locations, Store)> =
            outputs.into_iter().map(|l| (l, Store::Set)).collect();
        self.calls(lowered, domain, &outputs, origin)
    }
}

/// Joins calls of the same kernel into one each. Only for programs whose calls do not read what others write.
pub fn merge(program: Program) -> Program {
    let mut groups: IndexMap<u32, Vec<Call>, FxBuildHasher> = IndexMap::default();
    for call in program {
        groups.entry(call.kernel).or_default().push(call);
    }
    let mut merged = Vec::new();
    for (_, calls) in groups {
        merge_group(calls, &mut merged);
    }
    merged
}

/// Long calls stay as they are; short ones become one call with address tables.
fn merge_group(calls: Vec<Call>, out: &mut Program) {
    const LONG: usize = 64;
    let (long, short): (Vec<Call>, Vec<Call>) = calls.into_iter().partition(|c| c.count >= LONG);
    out.extend(long);
    // Slots must agree in bank, counters cannot be tabulated, and accumulating stores keep their own call.
    let mut classes: IndexMap<Vec<u8>, Vec<Call>, FxBuildHasher> = IndexMap::default();
    for call in short {
        let mut key: Vec<u8> = call
            .slots
            .iter()
            .chain(call.outputs.iter().map(|o| &o.0))
            .map(bank_code)
            .collect();
        if key.contains(&u8::MAX) || call.outputs.iter().any(|o| o.1 != Store::Set) {
            out.push(call);
            continue;
        }
        key.push(0);
        classes.entry(key).or_default().push(call);
    }
    for (_, calls) in classes {
        if calls.len() == 1 {
            out.extend(calls);
            continue;
        }
        let first = &calls[0];
        let column = |pick: &dyn Fn(&Call) -> Address| {
            let mut list = Vec::new();
            let mut bank = Bank::Mem;
            for c in &calls {
                bank = append(&pick(c), c.count, &mut list);
            }
            compress(bank, list)
        };
        let slots = (0..first.slots.len())
            .map(|s| column(&|c: &Call| c.slots[s].clone()))
            .collect();
        let outputs = (0..first.outputs.len())
            .map(|o| (column(&|c: &Call| c.outputs[o].0.clone()), Store::Set))
            .collect();
        out.push(Call {
            kernel: first.kernel,
            count: calls.iter().map(|c| c.count).sum(),
            slots,
            outputs,
        });
    }
}

fn bank_code(a: &Address) -> u8 {
    match a {
        Address::Affine { bank, .. } | Address::Table { bank, .. } => *bank as u8,
        Address::Counter { .. } => u8::MAX,
    }
}

fn append(a: &Address, count: usize, list: &mut Vec<u32>) -> Bank {
    match a {
        Address::Affine { bank, base, stride } => {
            list.extend((0..count).map(|j| (*base as isize + stride * j as isize) as u32));
            *bank
        }
        Address::Table { bank, table } => {
            list.extend_from_slice(&table[..count]);
            *bank
        }
        Address::Counter { .. } => Bank::Mem,
    }
}
