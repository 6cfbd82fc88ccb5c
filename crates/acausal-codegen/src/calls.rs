//! From lowered kernels to calls: where the slots and outputs move through memory.
//!
//! An access that is affine in the iterators is an address with a stride; anything else is a table. A domain is cut where
//! a slot changes its bank, and where an iterator that is used as a number is not linear.

use acausal_expr::flat::OriginId;
use acausal_expr::{IterId, Node};
use acausal_jit::kernel::{Address, Bank, Call, Store};

use crate::CodegenError;
use crate::address::{Domain, check_table, domain_len, for_each_point, locate};
use crate::lower::{Leaf, Lowered, Lowering};
use acausal_compiled::Loc;
use acausal_compiled::Locations;

impl Lowering<'_> {
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
                check_table(self.flat, count, origin)?;
                let mut list = Vec::with_capacity(count);
                let mut all_known = true;
                let exprs = &self.flat.exprs;
                for_each_point(domain, |values| {
                    let v = exprs.evaluate(index, |x, e, _| match x.node(e) {
                        Node::Iter(i) => domain
                            .iter()
                            .position(|(j, _)| *j == i)
                            .map(|k| acausal_expr::ScalarValue::Int(values[k])),
                        _ => None,
                    });
                    let k = v.ok().and_then(|v| v.as_f64());
                    all_known &= k.is_some();
                    // A branch that is not taken may have a subscript of 0.
                    let k = k.map_or(0, |k| (k as usize).saturating_sub(1));
                    list.push(Loc::new(Bank::Mem, base + k));
                });
                if !all_known {
                    let what = "a subscript of a table of literals has no value";
                    return Err(CodegenError::Internal { what, origin });
                }
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
                    let Some(values) = counter(domain, i) else {
                        let what = "an iterator is not one of its equation";
                        return Err(CodegenError::Internal { what, origin });
                    };
                    SlotSource::Counter(values)
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
        // The domain is cut where a run ends.
        Locations::Runs(runs) => {
            let run = runs[runs.partition_point(|r| r.first <= start) - 1];
            Address::Affine {
                bank: run.bank,
                base: run.at(start).index(),
                stride: run.stride,
            }
        }
        Locations::List(list) => {
            let part = &list[start..end];
            crate::address::compress(
                part[0].bank(),
                part.iter().map(|x| x.index() as u32).collect(),
            )
        }
    }
}

/// The values of an iterator over the flattened domain, if it belongs to it.
fn counter(domain: &Domain, iter: IterId) -> Option<CounterValues> {
    let k = domain.iter().position(|(i, _)| *i == iter)?;
    let range = domain[k].1;
    let others: i64 = domain
        .iter()
        .enumerate()
        .filter(|(j, _)| *j != k)
        .map(|(_, (_, r))| r.count)
        .product();
    if others == 1 {
        let (start, step) = (range.start as f64, range.step as f64);
        return Some(CounterValues::Linear(start, step));
    }
    let mut values = Vec::with_capacity(domain_len(domain));
    for_each_point(domain, |v| values.push(v[k] as f64));
    Some(CounterValues::List(values))
}

/// Where the domain must be cut: the bank or the stride of a slot changes, or a counter is not linear.
fn runs(slots: &[SlotSource], outputs: &[(Locations, Store)], count: usize) -> Vec<usize> {
    let mut lists: Vec<&Vec<Loc>> = Vec::new();
    let mut counters: Vec<&Vec<f64>> = Vec::new();
    let mut ends = Vec::new();
    let slots = slots.iter().map(|s| match s {
        SlotSource::Memory(l) => Ok(l),
        SlotSource::Counter(c) => Err(c),
    });
    for s in slots.chain(outputs.iter().map(|(l, _)| Ok(l))) {
        match s {
            Ok(Locations::List(l)) => lists.push(l),
            Ok(Locations::Runs(r)) => ends.extend(r.iter().map(|r| r.first + r.count)),
            Err(CounterValues::List(v)) => counters.push(v),
            Ok(Locations::Strided { .. }) | Err(CounterValues::Linear(..)) => {}
        }
    }
    if count == 0 {
        return Vec::new();
    }
    ends.push(count);
    ends.sort_unstable();
    ends.dedup();
    if lists.is_empty() && counters.is_empty() {
        return ends;
    }
    let mut cuts = ends.iter().copied().peekable();
    let mut more = Vec::new();
    let mut start = 0;
    for j in 1..count {
        if cuts.next_if_eq(&j).is_some() {
            start = j;
            continue;
        }
        let bank_changes = lists.iter().any(|l| l[j].bank() != l[j - 1].bank());
        let bends = counters
            .iter()
            .any(|v| j >= start + 2 && v[j] - v[j - 1] != v[j - 1] - v[j - 2]);
        if bank_changes || bends {
            more.push(j);
            start = j;
        }
    }
    ends.extend(more);
    ends.sort_unstable();
    ends
}
