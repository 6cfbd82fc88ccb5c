//! Residuals of long arrays in tiles, each evaluated right after the unknowns that it reads were predicted.
//!
//! A step of the integrator predicts all unknowns and then evaluates all residuals. Where the vectors do not stay in a cache, the prediction sends y and y' to
//! memory and the residuals fetch them again. In: a program that writes residuals. Out ([`Tiles`]): for each thread a list
//! of tiles. A tile predicts some ranges of unknowns to a *window*, a piece of memory that stays in the cache, and runs some repetitions of the
//! long calls, whose addresses lead there. What a tile shares with the one before is copied from that one's window. So y and y' as a whole never exist.
//!
//! Invariants, which make the lists free of races and the bits those of the whole program:
//! - every unknown is predicted once; a thread writes elements of `Out` only if it has predicted the unknowns of the same numbers, or
//!   if they were predicted before the threads began (`first`);
//! - a tile writes nothing that another call of the program reads or writes.
//!
//! What does not obey them (tiles of a thread beside those of one before, tiles that need what left the window long ago, short calls, assignments
//! to `Mem` that need unknowns) is left for the end (`rest`) and reads the whole vectors; the tiles save there what it will need.
//! Calls that need no unknown come before everything (`head`). Linear in the number of tiles.
//!
//! Example: `r[i] = y'[i] - (y[i-1] - 2*y[i] + y[i+1])` for i in 1..4095 with tiles of 1024. Thread one: predict 1024..2056, residuals 1025..2049; copy
//! 1024..1026 and predict 0..1024, residuals 1..1025. Thread two would begin with residual 2049, which reads `y[2048]`; the other thread predicts that, so
//! this tile comes at the end, and thread two has the last one: predict 3072..4096, residuals 3073..4095. They save 2048..2056 and 3072..3074 for the end.

mod cover;
mod cut;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Mutex;

use acausal_cpu::{Shared, Team, team};

use cover::Cover;
use cut::{Cut, TilePlan, TileRole, roles};

use crate::error::{KernelError, RunError};
use crate::kernel::{Call, Kernel};
use crate::phases::{BankBases, lock};
use crate::run::{BankLengths, BoundProgram, CallFunctions, Code, NoFunctions, Scratch};

/// A program in tiles.
#[derive(Debug)]
pub struct Tiles {
    head: BoundProgram,
    first: Vec<Range<usize>>,
    /// The tiles of each thread.
    lists: Vec<Vec<Tile>>,
    /// Numbers in a window.
    window: usize,
    rest_blocks: Vec<Range<usize>>,
    rest: BoundProgram,
}

#[derive(Debug)]
struct Tile {
    moves: Vec<WindowMove>,
    program: BoundProgram,
}

/// How unknowns come to a window, and from there.
#[derive(Clone, Debug, PartialEq, Eq)]
enum WindowMove {
    Predict {
        range: Range<usize>,
        to: usize,
    },
    /// From the window before.
    Copy {
        from: usize,
        len: usize,
        to: usize,
    },
    /// From the whole vectors, what was predicted first.
    Load {
        range: Range<usize>,
        to: usize,
    },
    /// To the whole vectors, what the rest will need.
    Save {
        from: usize,
        range: Range<usize>,
    },
}

/// The memory of one run in tiles.
#[derive(Debug)]
pub struct TileMemory<'a> {
    /// [`Bank::Y`](crate::Bank::Y)
    pub y: Shared<'a>,
    /// [`Bank::Yp`](crate::Bank::Yp)
    pub yp: Shared<'a>,
    /// [`Bank::Mem`](crate::Bank::Mem)
    pub mem: &'a mut [f64],
    /// [`Bank::Out`](crate::Bank::Out)
    pub out: Shared<'a>,
}

/// The memory of a thread, kept from run to run.
#[derive(Debug, Default)]
pub struct Workspace {
    scratch: Scratch,
    /// This window and the one before, y and y' each.
    windows: [[Vec<f64>; 2]; 2],
}

/// Predicts a range of unknowns and their derivatives to the places given.
pub type Predict<'a> = dyn Fn(Range<usize>, [&mut [f64]; 2]) + Sync + 'a;

impl Tiles {
    /// Binds a program for so many threads; nothing if most of it cannot be evaluated in tiles.
    pub fn bind(
        code: &dyn Code,
        kernels: &[Kernel],
        program: &[Call],
        lengths: BankLengths,
        threads: usize,
    ) -> Result<Option<Tiles>, KernelError> {
        let Some(roles) = roles(kernels, program, lengths.y) else {
            return Ok(None);
        };
        let of = |role: TileRole| -> Vec<Call> {
            let calls = program.iter().zip(&roles);
            calls
                .filter(|c| *c.1 == role)
                .map(|c| c.0.clone())
                .collect()
        };
        let cut = Cut::new(of(TileRole::Tiled), of(TileRole::Rest), lengths.y, threads);
        let window = cut.window;
        let of_window = BankLengths {
            y: window,
            yp: window,
            ..lengths
        };
        let bind = |plan: TilePlan| -> Result<Tile, KernelError> {
            Ok(Tile {
                moves: plan.moves,
                program: code.bind(&plan.calls, of_window)?,
            })
        };
        let list = |plans: Vec<TilePlan>| plans.into_iter().map(bind).collect();
        let lists = cut.lists.into_iter().map(list).collect::<Result<_, _>>()?;
        let mut all = Cover::default();
        let predicted = cut.covers.into_iter().flat_map(|cover| cover.0);
        predicted.for_each(|range| all.add(range));
        Ok(Some(Tiles {
            head: code.bind(&of(TileRole::Head), lengths)?,
            first: cut.first.0,
            lists,
            window,
            rest_blocks: all.missing(0..lengths.y),
            rest: code.bind(&cut.rest, lengths)?,
        }))
    }

    /// Predicts all unknowns by `predict`, with ranges that have no element in common, and runs the program.
    ///
    /// # Safety
    /// Nobody else uses the vectors meanwhile. `predict` uses only elements of `out` in its range, and none of the others but the places it is given.
    pub unsafe fn run(
        &self,
        team: Option<&mut Team>,
        mut places: TileMemory<'_>,
        functions: &dyn CallFunctions,
        workspaces: &[Mutex<Workspace>],
        predict: &Predict<'_>,
    ) -> Result<(), RunError> {
        let lengths = BankLengths {
            y: places.y.len(),
            yp: places.yp.len(),
            mem: places.mem.len(),
            out: places.out.len(),
        };
        let (y, yp) = (places.y, places.yp);
        let bases = bases(&mut places);
        // SAFETY: no tile runs yet, or none any more.
        let predict_to_whole = |range: &Range<usize>| unsafe {
            predict(
                range.clone(),
                [y.part(range.clone()), yp.part(range.clone())],
            );
        };
        let whole = |program: &BoundProgram| {
            let scratch = &mut lock(&workspaces[0]).scratch;
            // SAFETY: no tile runs yet, or none any more.
            unsafe { program.run_at(bases.0, lengths, functions, scratch) }
        };
        let head = whole(&self.head);
        self.first.iter().for_each(predict_to_whole);
        let failed = Mutex::new(None);
        team::each(team, self.lists.len(), |k| {
            let own = &mut lock(&workspaces[k]);
            // SAFETY: by the invariants of the lists.
            let ran = unsafe { self.run_list(k, (&bases, lengths), [y, yp], own, predict) };
            if let Err(error) = ran {
                lock(&failed).get_or_insert(error);
            }
        });
        self.rest_blocks.iter().for_each(predict_to_whole);
        let rest = whole(&self.rest);
        let failed = lock(&failed).take();
        head.and(failed.map_or(Ok(()), Err)).and(rest)
    }

    /// # Safety
    /// Only the other lists run meanwhile.
    unsafe fn run_list(
        &self,
        k: usize,
        (whole, lengths): (&BankBases, BankLengths),
        vectors: [Shared<'_>; 2],
        own: &mut Workspace,
        predict: &Predict<'_>,
    ) -> Result<(), RunError> {
        let lengths = BankLengths {
            y: self.window,
            yp: self.window,
            ..lengths
        };
        for v in own.windows.iter_mut().flatten() {
            v.resize(self.window, 0.0);
        }
        let mut done = Ok(());
        for tile in &self.lists[k] {
            own.windows.swap(0, 1);
            let [now, before] = &mut own.windows;
            for m in &tile.moves {
                if let WindowMove::Predict { range, to } = m {
                    let at = *to..to + range.len();
                    let [y, yp] = &mut *now;
                    predict(range.clone(), [&mut y[at.clone()], &mut yp[at]]);
                    continue;
                }
                for (v, whole) in vectors.iter().enumerate() {
                    let (now, before) = (&mut now[v], &before[v]);
                    match m {
                        WindowMove::Copy { from, len, to } => {
                            now[*to..to + len].copy_from_slice(&before[*from..from + len]);
                        }
                        // SAFETY: nobody writes what was predicted first.
                        WindowMove::Load { range, to } => unsafe {
                            let all = range.clone().map(|i| whole.get(i));
                            now[*to..].iter_mut().zip(all).for_each(|(v, y)| *v = y);
                        },
                        // SAFETY: this thread has predicted the range, and only the rest will read it.
                        WindowMove::Save { from, range } => unsafe {
                            let saved = &now[*from..from + range.len()];
                            whole.part(range.clone()).copy_from_slice(saved);
                        },
                        WindowMove::Predict { .. } => {}
                    }
                }
            }
            let [y, yp] = &mut *now;
            let bases = [y.as_mut_ptr(), yp.as_mut_ptr(), whole.0[2], whole.0[3]];
            // SAFETY: by the invariants of the lists; tiles apply no user functions (`divisible`).
            let ran =
                unsafe { (tile.program).run_at(bases, lengths, &NoFunctions, &mut own.scratch) };
            done = done.and(ran);
        }
        done
    }
}

fn bases(places: &mut TileMemory<'_>) -> BankBases {
    BankBases([
        places.y.as_mut_ptr(),
        places.yp.as_mut_ptr(),
        places.mem.as_mut_ptr(),
        places.out.as_mut_ptr(),
    ])
}
