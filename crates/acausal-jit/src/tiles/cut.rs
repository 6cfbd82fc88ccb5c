//! How a program is cut into tiles: which calls, which window each tile has, and how that is filled.

use std::ops::Range;

use acausal_cpu::team;

use super::WindowMove;
use super::cover::Cover;
use crate::dependence::extent;
use crate::kernel::{Address, Bank, Call, Kernel};
use crate::phases::{divisible, meets, points};

/// Repetitions of a call in a tile. Shorter ones make the processor begin anew with fetching ahead; the windows of longer ones do not stay in a cache.
const TILE: usize = 4096;

/// Numbers in a line of a cache, where ranges of unknowns end.
const LINE: usize = 8;

/// Repetitions that make a call worth being cut.
const LEAST: usize = 8192;

/// Calls of a program that has few long ones; others are not looked at, since all pairs of calls are.
const MOST_CALLS: usize = 200;

/// A program in tiles before its calls are bound.
pub(super) struct Cut {
    long: Vec<Call>,
    /// What is left for the end.
    pub rest: Vec<Call>,
    n: usize,
    /// What all repetitions read.
    pub first: Cover,
    /// What each thread has predicted, with that.
    pub covers: Vec<Cover>,
    /// The tiles of each thread.
    pub lists: Vec<Vec<TilePlan>>,
    /// Numbers in the largest window.
    pub window: usize,
}

/// A tile.
pub(super) struct TilePlan {
    /// The unknowns in its window, one range after the other.
    window: Vec<Range<usize>>,
    pub moves: Vec<WindowMove>,
    /// With addresses that lead to the window.
    pub calls: Vec<Call>,
}

impl Cut {
    /// Cuts the long calls for so many threads; tiles that a thread alone cannot evaluate go to the rest.
    pub fn new(long: Vec<Call>, rest: Vec<Call>, n: usize, threads: usize) -> Cut {
        let mut first = Cover::default();
        for call in &long {
            let fixed = |a: &&Address| matches!(a, Address::Affine { stride: 0, .. });
            let slots = call.slots.iter().filter(fixed);
            slots.filter_map(unknowns(call)).for_each(|r| first.add(r));
        }
        let tiles = long.iter().map(|c| c.count).max().unwrap_or(0);
        let tiles = tiles.div_ceil(TILE);
        let mut cut = Cut {
            long,
            rest,
            n,
            covers: vec![first.clone(); threads],
            first,
            lists: (0..threads).map(|_| Vec::new()).collect(),
            window: 0,
        };
        // From the middle to the ends: eliminations of bands, which follow, begin there and find the last residuals in a cache.
        for thread in 0..threads {
            let own = team::part(tiles, threads, 1, thread);
            match 2 * thread + 1 < threads {
                true => own.rev().for_each(|k| cut.tile(thread, k, tiles)),
                false => own.for_each(|k| cut.tile(thread, k, tiles)),
            }
        }
        cut.save();
        cut
    }

    /// The k-th tile, to the list of a thread or to the rest.
    fn tile(&mut self, thread: usize, k: usize, tiles: usize) {
        let part = |c: &Call| {
            let at = |k: usize| (c.count * k / tiles).next_multiple_of(LINE).min(c.count);
            points(c, at(k), if k + 1 == tiles { c.count } else { at(k + 1) })
        };
        let calls = self.long.iter().map(part).filter(|c| c.count > 0);
        let calls: Vec<Call> = calls.collect();
        let mut needed = Cover::default();
        for call in &calls {
            let rows = call.outputs.iter().filter_map(|o| range(&o.0, call.count));
            let slots = call.slots.iter().filter_map(unknowns(call));
            slots.chain(rows).for_each(|r| needed.add(r));
        }
        let Some(plan) = self.plan(thread, needed) else {
            self.rest.extend(calls);
            return;
        };
        let in_window: Option<Vec<Call>> =
            (calls.iter()).map(|c| to_window(c, &plan.window)).collect();
        let calls = in_window.unwrap_or_else(|| {
            self.rest.extend(calls);
            Vec::new()
        });
        self.lists[thread].push(TilePlan { calls, ..plan });
    }

    /// The window of a tile and how it is filled; nothing if a thread alone cannot.
    fn plan(&mut self, thread: usize, mut window: Cover) -> Option<TilePlan> {
        let (first, covers) = (&self.first, &self.covers);
        let others = |r: &Range<usize>| {
            let beyond = first.missing(r.clone());
            let theirs = covers.iter().enumerate().filter(|(k, _)| *k != thread);
            let mut met = theirs.flat_map(|(_, cover)| beyond.iter().map(|r| cover.meets(r)));
            met.any(|met| met)
        };
        if window.0.iter().any(others) {
            return None;
        }
        let free = |r: Range<usize>| -> Vec<Range<usize>> {
            covers.iter().fold(vec![r], |free, cover| {
                let left = free.into_iter().flat_map(|r| cover.missing(r));
                left.collect()
            })
        };
        let mut new = Cover::default();
        for range in window.0.iter().flat_map(|r| free(r.clone())) {
            let lines = range.start / LINE * LINE..range.end.next_multiple_of(LINE).min(self.n);
            free(lines).into_iter().for_each(|r| new.add(r));
        }
        new.0.iter().for_each(|r| window.add(r.clone()));
        let before = self.lists[thread].last().map_or(&[][..], |p| &p.window);
        let (mut moves, mut size) = (Vec::new(), 0);
        for range in &window.0 {
            let place = |i: usize| size + i - range.start;
            for old in new.missing(range.clone()) {
                let common =
                    |r: &Range<usize>| first.0.iter().any(|f| f.start <= r.start && r.end <= f.end);
                moves.push(match placed(before, &old) {
                    Some((start, at)) => WindowMove::Copy {
                        from: at + old.start - start,
                        len: old.len(),
                        to: place(old.start),
                    },
                    None if common(&old) => WindowMove::Load {
                        to: place(old.start),
                        range: old,
                    },
                    None => return None,
                });
            }
            let inside = |r: &&Range<usize>| r.start < range.end && range.start < r.end;
            for range in new.0.iter().filter(inside) {
                moves.push(WindowMove::Predict {
                    range: range.clone(),
                    to: place(range.start),
                });
            }
            size += range.len().next_multiple_of(LINE);
        }
        let own = &mut self.covers[thread];
        new.0.into_iter().for_each(|r| own.add(r));
        self.window = self.window.max(size);
        Some(TilePlan {
            window: window.0,
            moves,
            calls: Vec::new(),
        })
    }

    /// Saves what the rest reads, now that it is known.
    fn save(&mut self) {
        let mut read = Cover::default();
        for call in &self.rest {
            for slot in &call.slots {
                match slot {
                    Address::Table {
                        bank: Bank::Y | Bank::Yp,
                        table,
                    } => {
                        table
                            .iter()
                            .for_each(|&i| read.add(i as usize..i as usize + 1));
                    }
                    _ => unknowns(call)(slot).into_iter().for_each(|r| read.add(r)),
                }
            }
        }
        for plan in self.lists.iter_mut().flatten() {
            for k in 0..plan.moves.len() {
                let WindowMove::Predict { range, to } = plan.moves[k].clone() else {
                    continue;
                };
                let unread = Cover(read.missing(range.clone()));
                let saved = unread.missing(range.clone()).into_iter();
                plan.moves.extend(saved.map(|r| WindowMove::Save {
                    from: to + r.start - range.start,
                    range: r,
                }));
            }
        }
    }
}

/// A call whose unknowns are in a window; nothing if the window lacks one.
fn to_window(call: &Call, window: &[Range<usize>]) -> Option<Call> {
    let mut call = call.clone();
    for slot in &mut call.slots {
        let range = range(slot, call.count);
        if let Address::Affine {
            bank: Bank::Y | Bank::Yp,
            base,
            ..
        } = slot
        {
            let (own, at) = placed(window, &range?)?;
            *base = *base - own + at;
        }
    }
    Some(call)
}

/// The range of a window that holds another one: where it begins, and at which place.
fn placed(window: &[Range<usize>], range: &Range<usize>) -> Option<(usize, usize)> {
    let mut at = 0;
    for own in window {
        if own.start <= range.start && range.end <= own.end {
            return Some((own.start, at));
        }
        at += own.len().next_multiple_of(LINE);
    }
    None
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TileRole {
    Head,
    Tiled,
    Rest,
}

/// What becomes of each call; nothing if less than half of the residuals would be evaluated in tiles.
pub(super) fn roles(kernels: &[Kernel], program: &[Call], n: usize) -> Option<Vec<TileRole>> {
    if program.len() > MOST_CALLS {
        return None;
    }
    let mut roles: Vec<TileRole> = Vec::with_capacity(program.len());
    for (k, call) in program.iter().enumerate() {
        let needs = |bank| call.slots.iter().any(|a| a.bank() == Some(bank));
        let before: Vec<&Call> = (0..k)
            .filter(|&i| roles[i] != TileRole::Head)
            .map(|i| &program[i])
            .collect();
        let kernel = &kernels[call.kernel as usize];
        let residuals = call.outputs.iter().all(|o| o.0.bank() == Some(Bank::Out));
        let straight = |a: &Address| !matches!(a, Address::Table { .. });
        roles.push(
            if !needs(Bank::Y) && !needs(Bank::Yp) && !meets(&before, call) {
                TileRole::Head
            } else if call.count >= LEAST
                && residuals
                && call.slots.iter().all(straight)
                && divisible(kernel, call)
            {
                TileRole::Tiled
            } else {
                TileRole::Rest
            },
        );
    }
    // A call that has to do with another one waits for the end, like that one.
    for k in 0..program.len() {
        let others = (0..program.len()).filter(|&i| i != k && roles[i] != TileRole::Head);
        let others: Vec<Call> = others.flat_map(|i| one_by_one(&program[i])).collect();
        if roles[k] == TileRole::Tiled && meets(&others.iter().collect::<Vec<_>>(), &program[k]) {
            roles[k] = TileRole::Rest;
        }
    }
    let calls = program.iter().zip(&roles);
    let tiled: usize = (calls.filter(|c| *c.1 == TileRole::Tiled))
        .map(|c| c.0.count)
        .sum();
    (2 * tiled >= n && tiled > 0).then_some(roles)
}

/// Repetitions of a call with tables that are looked at one by one: rows at both ends of an array are far apart.
const SINGLE: usize = 64;

/// A short call with tables as one call for each repetition, so that its extents are exact.
fn one_by_one(call: &Call) -> Vec<Call> {
    let table = |a: &Address| matches!(a, Address::Table { .. });
    let tables = call.slots.iter().any(table) || call.outputs.iter().any(|o| table(&o.0));
    match tables && call.count <= SINGLE {
        true => (0..call.count).map(|k| points(call, k, k + 1)).collect(),
        false => vec![call.clone()],
    }
}

/// The unknowns that an address of a call means.
fn unknowns(call: &Call) -> impl Fn(&Address) -> Option<Range<usize>> {
    let count = call.count;
    move |address| match address.bank() {
        Some(Bank::Y | Bank::Yp) => range(address, count),
        _ => None,
    }
}

/// The elements that an address means.
fn range(address: &Address, count: usize) -> Option<Range<usize>> {
    let extent = extent(address, count)?;
    Some(extent.low..extent.high + 1)
}
