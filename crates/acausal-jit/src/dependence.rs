//! How many repetitions of a call may run at once.
//!
//! Repetition `j` must see the stores of all repetitions before it. If slot `s` in repetition `j` reads what an output
//! wrote in repetition `i < j`, there is a *flow dependence* of distance `j - i`; any number of successive repetitions
//! up to the smallest distance can be loaded together before the first of them is stored (Allen & Kennedy, *Optimizing
//! Compilers for Modern Architectures*, ch. 2). Reading what a *later* repetition overwrites is no obstacle, because
//! loads come first.
//!
//! Example: `mem[j+3] = f(mem[j])` has distance 3, so 3 repetitions may run together; `mem[j] = f(mem[j+3])` and
//! `mem[j] = f(mem[j])` have none, so all may.
//!
//! Affine addresses with equal strides are solved in closed form; other pairs, which only get here if their ranges
//! overlap, are enumerated in `O(count log count)`.

use crate::kernel::{Address, Bank};

/// A range of elements of one bank, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankRange {
    /// Which bank.
    pub bank: Bank,
    /// Smallest element.
    pub low: usize,
    /// Largest element.
    pub high: usize,
}

/// The elements that an address means.
pub(crate) fn extent(address: &Address, count: usize) -> Option<BankRange> {
    match address {
        Address::Affine { bank, base, stride } => {
            let last = base.wrapping_add_signed(stride * (count.max(1) - 1) as isize);
            Some(BankRange {
                bank: *bank,
                low: last.min(*base),
                high: last.max(*base),
            })
        }
        Address::Table { bank, table } => Some(BankRange {
            bank: *bank,
            low: table.iter().copied().min().unwrap_or(0) as usize,
            high: table.iter().copied().max().unwrap_or(0) as usize,
        }),
        Address::Counter { .. } => None,
    }
}

/// Whether two ranges have a common element; `None` is no memory at all.
pub fn may_meet(a: Option<BankRange>, b: Option<BankRange>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a.bank == b.bank && a.low <= b.high && b.low <= a.high)
}

/// Smallest `j - i > 0` such that repetition `j` reads through `slot` what repetition `i` wrote through `output`;
/// `usize::MAX` if there is none. Both must be in the same bank.
pub fn distance(slot: &Address, output: &Address, count: usize) -> usize {
    if let (
        Address::Affine {
            base: read,
            stride: s,
            ..
        },
        Address::Affine {
            base: written,
            stride: t,
            ..
        },
    ) = (slot, output)
        && s == t
    {
        return affine_distance(*read as i128, *written as i128, *s as i128, count);
    }
    enumerated_distance(slot, output, count)
}

/// Solves `read + s*j = written + s*i` for `j - i`.
fn affine_distance(read: i128, written: i128, s: i128, count: usize) -> usize {
    let apart = written - read;
    if s == 0 {
        return if apart == 0 && count > 1 {
            1
        } else {
            usize::MAX
        };
    }
    if apart % s != 0 {
        return usize::MAX;
    }
    match apart / s {
        d if d > 0 && d < count as i128 => d as usize,
        _ => usize::MAX,
    }
}

fn enumerated_distance(slot: &Address, output: &Address, count: usize) -> usize {
    let Some(mut writes) = (0..count)
        .map(|i| Some((element(output, i)?, i)))
        .collect::<Option<Vec<_>>>()
    else {
        return usize::MAX;
    };
    writes.sort_unstable();
    let mut nearest = usize::MAX;
    for j in 0..count {
        let Some(read) = element(slot, j) else {
            return usize::MAX;
        };
        let before = writes.partition_point(|write| *write < (read, j));
        if let Some(&(written, i)) = before.checked_sub(1).and_then(|last| writes.get(last))
            && written == read
        {
            nearest = nearest.min(j - i);
        }
    }
    nearest
}

/// The element of repetition `j`; addresses have been checked, so the arithmetic cannot overflow.
pub(crate) fn element(address: &Address, j: usize) -> Option<usize> {
    match address {
        Address::Affine { base, stride, .. } => {
            base.checked_add_signed(stride.checked_mul(j as isize)?)
        }
        Address::Table { table, .. } => table.get(j).map(|&element| element as usize),
        Address::Counter { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn affine(base: usize, stride: isize) -> Address {
        Address::Affine {
            bank: Bank::Mem,
            base,
            stride,
        }
    }

    #[test]
    fn closed_form_agrees_with_enumeration() {
        for read in 0..7 {
            for written in 0..7 {
                for stride in -2..=3 {
                    for count in 1..6 {
                        // Shifted by 20 so that no address is negative.
                        let (slot, output) =
                            (affine(20 + read, stride), affine(20 + written, stride));
                        assert_eq!(
                            distance(&slot, &output, count),
                            enumerated_distance(&slot, &output, count),
                            "{read} {written} {stride} {count}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn examples() {
        assert_eq!(distance(&affine(0, 1), &affine(3, 1), 10), 3);
        assert_eq!(distance(&affine(3, 1), &affine(0, 1), 10), usize::MAX);
        assert_eq!(distance(&affine(0, 1), &affine(0, 1), 10), usize::MAX);
        // A scalar that repetition 2 writes is seen by repetition 3.
        assert_eq!(distance(&affine(2, 0), &affine(0, 1), 10), 1);
        let table = Address::Table {
            bank: Bank::Mem,
            table: [5, 0, 1, 0].into(),
        };
        assert_eq!(distance(&table, &affine(0, 1), 4), 1);
        // Elements 0 and 1 are read before the table writes them.
        assert_eq!(distance(&affine(0, 1), &table, 4), usize::MAX);
    }
}
