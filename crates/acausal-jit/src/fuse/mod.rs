//! Long assignments that are cheap to repeat go into the calls that use them.
//!
//! In: a program whose results go to `Out` by way of `Mem`, such as local assignments followed by residuals. Out ([`Fused`]): a program with the
//! same results, bit for bit, that goes through memory fewer times. Connected components assign a voltage to a pin, that to another pin, a
//! current to a pin and its negative to the next; each is a pass over arrays, and a pass costs as much as some ten operations when the
//! arrays are longer than the caches.
//!
//! A call is a *producer* if nothing but it sets its places and it does not read them itself. A slot that reads a producer takes its
//! expression instead, with the producer's addresses at the same element. Calls that read several producers with one slot, or a producer
//! and something else, are cut where they change over; no more than six parts come of one call. An expression is taken if it is
//! cheap (about a nanosecond) or used once. At last calls are dropped that nobody reads.
//!
//! Invariant: every part sets the places of its repetitions to the values that the original call sets them to. Producers come before their
//! readers and no place is set twice, so that what a producer reads is the same when its readers read it.
//! Time: `O(c log c)` for c calls and slots, and the size of the kernels that are made.
//!
//! Example: `a[i] := y[i]; b[i] := -a[i]; out[i] := b[i] + b[i+1]` becomes `out[i] := -y[i] + -y[i+1]`.

mod inline;
mod ranges;
#[cfg(test)]
mod tests;

use crate::kernel::{Address, Bank, Call, Kernel, Program, Store};
use inline::Producers;
use ranges::{Ranges, Sets};

/// Repetitions from which on a call is worth the trouble.
const LEAST_COUNT: usize = 64;

/// Repetitions of calls that must be saved in all: below, everything is in the cache.
const LEAST_SAVED: usize = 10_000;

/// A program and the kernels it needs besides those that were given.
#[derive(Clone, Debug, Default)]
pub struct Fused {
    /// Numbered after the given ones.
    pub kernels: Vec<Kernel>,
    /// The calls that are left.
    pub program: Program,
}

/// Fuses a program; nothing if that would not save much.
pub fn fuse(kernels: &[Kernel], program: &[Call]) -> Option<Fused> {
    fuse_saving(kernels, program, LEAST_SAVED)
}

/// [`fuse`] if it saves so many repetitions.
fn fuse_saving(kernels: &[Kernel], program: &[Call], least: usize) -> Option<Fused> {
    let before: usize = program.iter().map(|c| c.count).sum();
    let promising = |c: &Call| {
        let [(Address::Affine { bank, .. }, Store::Set)] = c.outputs[..] else {
            return false;
        };
        bank == Bank::Mem && c.count >= LEAST_COUNT
    };
    if before < least || !program.iter().any(promising) {
        return None;
    }
    let sets = Sets::new(program);
    let mut producers = Producers::default();
    let mut parts: Vec<CallPart> = Vec::new();
    for (index, call) in program.iter().enumerate() {
        let kernel = &kernels[call.kernel as usize];
        let first = parts.len();
        parts.extend(producers.rewrite(CallPart {
            kernel: kernel.clone(),
            call: call.clone(),
            changed: false,
        }));
        if call.count >= LEAST_COUNT && sets.is_producer(program, index, kernel) {
            for part in &parts[first..] {
                producers.add(part, sets.uses[index]);
            }
        }
    }
    let kept = kept(&parts);
    let left = (parts.iter().zip(&kept)).filter(|(_, kept)| **kept);
    let after: usize = left.map(|(p, _)| p.call.count).sum();
    if before < after + least {
        return None;
    }
    let mut fused = Fused::default();
    for (part, _) in parts.into_iter().zip(kept).filter(|(_, kept)| *kept) {
        let mut call = part.call;
        if part.changed {
            let same = fused.kernels.iter().position(|k| *k == part.kernel);
            let position = same.unwrap_or_else(|| {
                fused.kernels.push(part.kernel);
                fused.kernels.len() - 1
            });
            call.kernel = (kernels.len() + position) as u32;
        }
        fused.program.push(call);
    }
    Some(fused)
}

/// Whether a program may read what another one sets in `Mem`.
pub fn reads(reader: &[Call], writer: &[Call]) -> bool {
    let written = Ranges::new(writer.iter());
    let mut slots = reader
        .iter()
        .flat_map(|c| c.slots.iter().map(|s| (s, c.count)));
    slots.any(|(s, count)| written.setters(s, count).next().is_some())
}

/// A part of a call with its own kernel.
#[derive(Clone, Debug)]
struct CallPart {
    kernel: Kernel,
    call: Call,
    /// The kernel is not the given one.
    changed: bool,
}

/// Which parts lead to other banks than `Mem`. What a part reads is set by parts before it.
fn kept(parts: &[CallPart]) -> Vec<bool> {
    let written = Ranges::new(parts.iter().map(|p| &p.call));
    let mut kept = vec![false; parts.len()];
    for (index, CallPart { call, .. }) in parts.iter().enumerate().rev() {
        let result = |(a, _): &(Address, Store)| a.bank() != Some(Bank::Mem);
        kept[index] |= call.outputs.iter().any(result);
        if kept[index] {
            let setters = call
                .slots
                .iter()
                .flat_map(|s| written.setters(s, call.count));
            setters.filter(|k| *k < index).for_each(|k| kept[k] = true);
        }
    }
    kept
}
