//! Rows of array items, as progressions instead of elements.
//!
//! In: an item whose target and accesses move through memory in runs with constant strides. Out: its points cut into
//! [`Segment`]s in which nothing changes but by constant steps: each access is then a column that moves by a constant
//! step, or a row of a local assignment whose columns do. A [`BlockOps`] is such a segment with each column once and the
//! multiply-adds that fill it; its size is that of one row, however long the array is.
//!
//! A segment ends where a run ends, where a local assignment is made in another way, where an unknown becomes a known one,
//! and where two columns that move at different speeds meet: `x[i]` and `x[11 - i]` are two entries of a row, but one in
//! row 5 of `x[i] + x[10 - i]`.
//!
//! Complexity: by the number of segments and the square of the entries of one row (at most [`MOST_COLUMNS`]).

use acausal_jit::kernel::Bank;

use super::{ItemRows, JacobianColumns, LocalRows, Row};
use crate::locations::StridedRun;

/// Rows with more entries are walked element by element.
const MOST_COLUMNS: usize = 64;
/// Items with fewer points are not worth a block.
const FEWEST_POINTS: usize = 4;
/// An item with shorter segments on average is walked element by element.
const FEWEST_PER_SEGMENT: usize = 4;

/// A column that moves by a constant step from row to row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progression {
    pub first: i64,
    pub step: i64,
}

impl Progression {
    pub fn at(self, j: usize) -> i64 {
        self.first + self.step * j as i64
    }
}

/// `row[column] += partial * acc[src]` in every row of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    /// Which of the columns of the block.
    pub column: usize,
    /// The first of the row that fills it.
    pub sets: bool,
    pub partial: usize,
    pub partial_step: usize,
    pub src: i64,
    pub src_step: i64,
}

/// Rows that differ by constant steps only.
#[derive(Clone, Debug)]
pub(super) struct BlockOps {
    /// Number of rows.
    pub count: usize,
    /// `Mem` for rows of local assignments, `Out` for those of the matrix.
    pub bank: Bank,
    /// The place of the first value; the others follow it.
    pub first: usize,
    /// First entry of the accumulator, for rows of local assignments.
    pub entry: u32,
    pub columns: Vec<Progression>,
    pub ops: Vec<Op>,
}

/// Points `from..to` of an item.
pub(super) struct Segment {
    pub from: usize,
    pub to: usize,
    /// How its rows are made; nothing if element by element.
    pub block: Option<BlockOps>,
}

/// What an access means at points `from..to`.
struct Part {
    from: usize,
    to: usize,
    source: Source,
}

enum Source {
    /// A column, with its unit.
    Column(Progression, u32),
    /// Row `first + j*step` of the rows of local assignments that begin at a place in `Mem`.
    Local { place: usize, first: i64, step: i64 },
    /// The same row at all points.
    Single(Row),
    /// Nothing that is unknown.
    Known,
    /// Rows that follow no rule.
    Irregular,
}

/// Cuts an item into segments, in the order of its points. All of it is one irregular segment where nothing is gained otherwise.
pub(super) fn segments(
    item: &ItemRows,
    columns: &JacobianColumns,
    locals: &LocalRows,
) -> Vec<Segment> {
    regular(item, columns, locals).unwrap_or_else(|| {
        vec![Segment {
            from: 0,
            to: item.count,
            block: None,
        }]
    })
}

fn regular(item: &ItemRows, columns: &JacobianColumns, locals: &LocalRows) -> Option<Vec<Segment>> {
    let count = item.count;
    if count < FEWEST_POINTS {
        return None;
    }
    let targets = item.target.runs(count)?;
    let mut ends: Vec<usize> = targets.iter().map(|r| r.first + r.count).collect();
    let mut accesses = Vec::with_capacity(item.accesses.len());
    for (locations, _) in &item.accesses {
        let mut parts = Vec::new();
        for run in locations.runs(count)? {
            parts_of(run, columns, locals, &mut parts);
        }
        ends.extend(parts.iter().map(|p| p.to));
        accesses.push(parts);
    }
    ends.sort_unstable();
    ends.dedup();
    if ends.len() * FEWEST_PER_SEGMENT > count {
        return None;
    }
    let mut out: Vec<Segment> = Vec::new();
    let mut from = 0;
    // Which part of the target and of each access the segment lies in.
    let mut target = 0;
    let mut at = vec![0; accesses.len()];
    let mut sources: Vec<&Part> = Vec::with_capacity(accesses.len());
    for to in ends {
        while targets[target].first + targets[target].count <= from {
            target += 1;
        }
        sources.clear();
        for (parts, k) in accesses.iter().zip(&mut at) {
            while parts[*k].to <= from {
                *k += 1;
            }
            sources.push(&parts[*k]);
        }
        let run = &targets[target];
        let in_order = run.stride == 1 && matches!(run.bank, Bank::Mem | Bank::Out);
        let irregular = |p: &&Part| matches!(p.source, Source::Irregular);
        if !in_order || sources.iter().any(irregular) {
            push_irregular(&mut out, from, to);
        } else {
            push_blocks(&mut out, item, run, &sources, locals, from, to);
        }
        from = to;
    }
    Some(out)
}

fn push_irregular(out: &mut Vec<Segment>, from: usize, to: usize) {
    match out.last_mut() {
        Some(last) if last.block.is_none() => last.to = to,
        _ => out.push(Segment {
            from,
            to,
            block: None,
        }),
    }
}

/// Blocks for points `from..to`, cut where columns meet.
fn push_blocks(
    out: &mut Vec<Segment>,
    item: &ItemRows,
    target: &StridedRun,
    sources: &[&Part],
    locals: &LocalRows,
    from: usize,
    to: usize,
) {
    let Some(whole) = block(item, target, sources, locals, from, to) else {
        return push_irregular(out, from, to);
    };
    let cuts = meetings(&whole.columns, whole.count);
    if cuts.is_empty() {
        let block = Some(whole);
        return out.push(Segment { from, to, block });
    }
    let mut start = 0;
    for end in cuts.into_iter().chain([whole.count]) {
        if start < end {
            let (from, to) = (from + start, from + end);
            let block = block(item, target, sources, locals, from, to);
            out.push(Segment { from, to, block });
        }
        start = end;
    }
}

/// Where a row begins in which columns that move differently meet, and the row after it; ascending.
fn meetings(columns: &[Progression], count: usize) -> Vec<usize> {
    let mut cuts = Vec::new();
    for (k, a) in columns.iter().enumerate() {
        for b in &columns[..k] {
            let (speed, distance) = (a.step - b.step, b.first - a.first);
            if speed != 0 && distance % speed == 0 {
                let j = distance / speed;
                if (0..count as i64).contains(&j) && count > 1 {
                    cuts.extend([j as usize, j as usize + 1]);
                }
            }
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts.retain(|&c| c > 0 && c < count);
    cuts
}

/// The block of points `from..to`; nothing if its rows have too many entries.
fn block(
    item: &ItemRows,
    target: &StridedRun,
    sources: &[&Part],
    locals: &LocalRows,
    from: usize,
    to: usize,
) -> Option<BlockOps> {
    let count = to - from;
    let mut block = BlockOps {
        count,
        bank: target.bank,
        first: target.at(from).index(),
        entry: 0,
        columns: Vec::new(),
        ops: Vec::new(),
    };
    for (part, (_, partials)) in sources.iter().zip(&item.accesses) {
        let j = (from - part.from) as i64;
        let partial = (partials.first + from * partials.step, partials.step);
        match &part.source {
            Source::Column(p, unit) => {
                let column = Progression {
                    first: p.first + p.step * j,
                    step: p.step,
                };
                block.add(column, partial, (*unit as i64, 0));
            }
            Source::Local { place, first, step } => {
                let rows = &locals.blocks[place];
                let width = rows.columns.len() as i64;
                let row = first + step * j;
                for (e, p) in rows.columns.iter().enumerate() {
                    let column = Progression {
                        first: p.first + p.step * row,
                        step: p.step * step,
                    };
                    let src = rows.entry as i64 + row * width + e as i64;
                    block.add(column, partial, (src, step * width));
                }
            }
            Source::Single(row) => {
                for k in 0..row.len as usize {
                    let column = Progression {
                        first: locals.columns[row.columns as usize + k] as i64,
                        step: 0,
                    };
                    block.add(column, partial, (row.entry as i64 + k as i64, 0));
                }
            }
            Source::Known | Source::Irregular => {}
        }
        if block.columns.len() > MOST_COLUMNS {
            return None;
        }
    }
    Some(block)
}

impl BlockOps {
    fn add(&mut self, column: Progression, partial: (usize, usize), src: (i64, i64)) {
        let single = self.count == 1;
        let same = |c: &Progression| c.first == column.first && (single || c.step == column.step);
        let known = self.columns.iter().position(same);
        let sets = known.is_none();
        let k = known.unwrap_or_else(|| {
            self.columns.push(column);
            self.columns.len() - 1
        });
        self.ops.push(Op {
            column: k,
            sets,
            partial: partial.0,
            partial_step: partial.1,
            src: src.0,
            src_step: src.1,
        });
    }
}

/// What a run of an access means, part by part.
fn parts_of(run: StridedRun, columns: &JacobianColumns, locals: &LocalRows, parts: &mut Vec<Part>) {
    let end = run.first + run.count;
    match run.bank {
        Bank::Out => parts.push(Part {
            from: run.first,
            to: end,
            source: Source::Known,
        }),
        Bank::Y | Bank::Yp => {
            let mut from = run.first;
            while from < end {
                let (column, range) = columns.of(run.bank, run.at(from).index());
                let to = from + points_inside(run.at(from).index(), run.stride, range, end - from);
                let source = match column {
                    Some((first, unit)) => Source::Column(
                        Progression {
                            first: first as i64,
                            step: run.stride as i64,
                        },
                        unit,
                    ),
                    None => Source::Known,
                };
                parts.push(Part { from, to, source });
                from = to;
            }
        }
        Bank::Mem => local_parts(run, locals, parts),
    }
}

fn local_parts(run: StridedRun, locals: &LocalRows, parts: &mut Vec<Part>) {
    let end = run.first + run.count;
    let mut from = run.first;
    while from < end {
        let place = run.at(from).index();
        let (source, to) = match locals.block_at(place) {
            Some((first, block)) => {
                let range = (first, first + block.count);
                let source = Source::Local {
                    place: first,
                    first: (place - first) as i64,
                    step: run.stride as i64,
                };
                (
                    source,
                    from + points_inside(place, run.stride, range, end - from),
                )
            }
            None if run.stride == 0 => (Source::Single(locals.row_at(place)), end),
            None => {
                let row = locals.row_at(place);
                // As far as there is nothing, or a single row that is no block.
                let nothing = |j: &usize| {
                    let place = run.at(*j).index();
                    locals.row_at(place).len == 0 && locals.block_at(place).is_none()
                };
                if row.len == 0 {
                    let to = (from + 1..end).find(|j| !nothing(j)).unwrap_or(end);
                    (Source::Known, to)
                } else {
                    let something = |j: &usize| locals.row_at(run.at(*j).index()).len > 0;
                    let to = (from + 1..end).find(|j| !something(j)).unwrap_or(end);
                    match to - from {
                        1 => (Source::Single(row), to),
                        _ => (Source::Irregular, to),
                    }
                }
            }
        };
        parts.push(Part { from, to, source });
        from = to;
    }
}

/// How many of at most `most` points from a place on lie in a range of places.
fn points_inside(place: usize, stride: isize, range: (usize, usize), most: usize) -> usize {
    let left = match stride {
        0 => most,
        s if s > 0 => (range.1 - 1 - place) / s as usize + 1,
        s => (place - range.0) / s.unsigned_abs() + 1,
    };
    left.min(most)
}
