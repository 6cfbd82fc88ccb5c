//! Who sets and who reads which places of `Mem`.

use crate::dependence::extent;
use crate::kernel::{Address, Bank, Call, Kernel, Op, Store};

/// Ranges of places of `Mem` that are set, and by whom.
pub(super) struct Ranges {
    /// Lowest and highest place and a number, ascending.
    list: Vec<(usize, usize, usize)>,
    /// Highest place of all ranges up to each.
    reach: Vec<usize>,
}

impl Ranges {
    pub fn new<'a>(calls: impl Iterator<Item = &'a Call>) -> Ranges {
        let mut list = Vec::new();
        for (number, call) in calls.enumerate() {
            for (output, _) in &call.outputs {
                if let Some(e) = extent(output, call.count).filter(|e| e.bank == Bank::Mem) {
                    list.push((e.low, e.high, number));
                }
            }
        }
        list.sort_unstable();
        let highest = |reach: &mut usize, r: &(usize, usize, usize)| {
            *reach = r.1.max(*reach);
            Some(*reach)
        };
        let reach = list.iter().scan(0, highest).collect();
        Ranges { list, reach }
    }

    /// Who sets places that an address means.
    pub fn setters(
        &self,
        address: &Address,
        count: usize,
    ) -> impl Iterator<Item = usize> + use<'_> {
        let read = extent(address, count).filter(|e| e.bank == Bank::Mem);
        read.into_iter().flat_map(|e| {
            let first = self.reach.partition_point(|&r| r < e.low);
            let inside = self.list[first..].iter().take_while(move |r| r.0 <= e.high);
            inside.filter(move |r| r.1 >= e.low).map(|r| r.2)
        })
    }
}

/// Who sets and who reads the places of `Mem`.
pub(super) struct Sets {
    written: Ranges,
    /// Per call: repetitions that read its places, for each of its own.
    pub uses: Vec<f64>,
}

impl Sets {
    pub fn new(program: &[Call]) -> Sets {
        let written = Ranges::new(program.iter());
        let mut uses = vec![0.0; program.len()];
        for call in program {
            for slot in &call.slots {
                for index in written.setters(slot, call.count) {
                    uses[index] += call.count as f64 / program[index].count.max(1) as f64;
                }
            }
        }
        Sets { written, uses }
    }

    /// Whether the readers of a call may compute its values themselves.
    pub fn is_producer(&self, program: &[Call], index: usize, kernel: &Kernel) -> bool {
        let call = &program[index];
        let simple = |a: &Address| !matches!(a, Address::Table { .. }) && a.counts_exactly();
        let output = |(a, store): &(Address, Store)| {
            matches!(a, Address::Affine { bank: Bank::Mem, stride, .. } if *stride != 0)
                && *store == Store::Set
        };
        // What it reads is set before, by others, and what it sets by nobody else.
        let (written, count) = (&self.written, call.count);
        let earlier = |slot: &Address| written.setters(slot, count).all(|k| k < index);
        let alone = |(a, _): &(Address, Store)| written.setters(a, count).all(|k| k == index);
        let applies = |op: &Op| matches!(op, Op::Apply { .. });
        !kernel.nodes.iter().any(applies)
            && call.outputs.len() == 1
            && call.outputs.iter().all(output)
            && call.outputs.iter().all(alone)
            && call.slots.iter().all(simple)
            && call.slots.iter().all(earlier)
    }
}
