//! Forward and backward substitution through both halves of a band.
//!
//! Each half has a stretch of positions in lanes ([`super::lanes`]), where intermediate results take the place of the right-hand side and no
//! index is read, and before and behind it positions with an index and a place for intermediate results each ([`Singles`]).
//!
//! On one thread the halves are worked on in turns, number by number, so that neither recurrence waits for its last result. On two
//! threads each has a half. The operations are the same.
//!
//! Invariant for the `unsafe` blocks: each half uses the elements of its own rows, and then those of its own unknowns. Rows of halves have no
//! element in common, nor have unknowns. An unknown of one half may have the element of a row of the other one only where both are
//! singles, whose right-hand sides are read in the forward substitution, before any unknown is set.

use super::fused::{SubtractProduct, fused};
use super::half::{Half, Singles};
use super::lanes::{Lane, Lanes, MOST_LANES};
use acausal_cpu::{Shared, Team};
use std::ops::Range;

/// Numbers of successive rows: those before the diagonal, and `1/d`.
pub(super) type Lower<'a, const B: usize> = (&'a [[f64; B]], &'a [f64]);

/// Calls a function with the number of lanes as a constant.
macro_rules! by_lanes {
    ($lanes:expr, $f:ident ( $($arg:expr),* )) => {
        match $lanes.lanes {
            0 | 1 => $f::<B, 1>($($arg),*),
            2 => $f::<B, 2>($($arg),*),
            _ => $f::<B, 3>($($arg),*),
        }
    };
}

/// Forward through both halves; gives the last values of each, the last one first.
pub(super) fn forward<const B: usize>(
    [first, last]: &mut [Half; 2],
    team: Option<&mut Team>,
    v: Shared<'_>,
) -> [[f64; B]; 2] {
    if let Some(team) = team {
        let (p, q) = team.both(|| forward_half(first, v), || forward_half(last, v));
        return [p, q];
    }
    let (a, b) = (first.lanes, last.lanes);
    let (fa, fb) = (&first.factors, &last.factors);
    let mut p = forward_singles(fa.lower(0), &mut first.before, 0..a.start, v, [0.0; B]);
    let mut q = forward_singles(fb.lower(0), &mut last.before, 0..b.start, v, [0.0; B]);
    let (la, lb) = (fa.lower(a.start), fb.lower(b.start));
    match a.lanes == b.lanes {
        true => (p, q) = by_lanes!(a, forward_both(la, lb, &a, &b, v, p, q)),
        false => {
            p = by_lanes!(a, forward_lanes(la, &a, 0..a.turns, v, p));
            q = by_lanes!(b, forward_lanes(lb, &b, 0..b.turns, v, q));
        }
    }
    let (la, lb) = (fa.lower(a.end()), fb.lower(b.end()));
    (p, q) = forward_singles_both(la, lb, &mut first.behind, &mut last.behind, v, p, q);
    [p, q]
}

fn forward_half<const B: usize>(half: &mut Half, v: Shared<'_>) -> [f64; B] {
    let (lanes, factors) = (half.lanes, &half.factors);
    let end = forward_singles(
        factors.lower(0),
        &mut half.before,
        0..lanes.start,
        v,
        [0.0; B],
    );
    let rows = factors.lower(lanes.start);
    let end = by_lanes!(lanes, forward_lanes(rows, &lanes, 0..lanes.turns, v, end));
    let left = 0..half.behind.y.len();
    forward_singles(factors.lower(lanes.end()), &mut half.behind, left, v, end)
}

#[inline(always)]
fn forward_row<F: SubtractProduct, const B: usize>(
    b: f64,
    l: &[f64; B],
    inverse: f64,
    last: &mut [f64; B],
) -> f64 {
    let mut y = b * inverse;
    for j in (0..B).rev() {
        y = F::subtract(y, l[j], last[j]);
    }
    push(last, y);
    y
}

/// The right-hand side of a row.
#[inline(always)]
fn right(v: Shared<'_>, row: u32) -> f64 {
    // SAFETY: a row of this half.
    unsafe { v.get(row as usize) }
}

fused! {
fn forward_singles<const B: usize>(
    rows: Lower<'_, B>,
    singles: &mut Singles,
    which: Range<usize>,
    v: Shared<'_>,
    last: [f64; B],
) -> [f64; B] {
    let (l, inverse) = rows;
    let mut last = last;
    for i in which {
        singles.y[i] = forward_row::<F, B>(right(v, singles.row[i]), &l[i], inverse[i], &mut last);
    }
    last
}
}

fused! {
fn forward_singles_both<const B: usize>(
    rows_a: Lower<'_, B>,
    rows_b: Lower<'_, B>,
    a: &mut Singles,
    b: &mut Singles,
    v: Shared<'_>,
    p: [f64; B],
    q: [f64; B],
) -> ([f64; B], [f64; B]) {
    let (la, ia) = rows_a;
    let (lb, ib) = rows_b;
    let mut p = p;
    let mut q = q;
    let both = a.y.len().min(b.y.len());
    {
        // Slices of one length need no test of their indices.
        let (la, lb, ia, ib) = (&la[..both], &lb[..both], &ia[..both], &ib[..both]);
        let (ra, rb) = (&a.row[..both], &b.row[..both]);
        let (ya, yb) = (&mut a.y[..both], &mut b.y[..both]);
        for i in 0..both {
            ya[i] = forward_row::<F, B>(right(v, ra[i]), &la[i], ia[i], &mut p);
            yb[i] = forward_row::<F, B>(right(v, rb[i]), &lb[i], ib[i], &mut q);
        }
    }
    let (rest_a, rest_b) = (both..a.y.len(), both..b.y.len());
    p = forward_singles((la, ia), a, rest_a, v, p);
    q = forward_singles((lb, ib), b, rest_b, v, q);
    (p, q)
}
}

/// One turn of the lanes.
///
/// # Safety
/// The elements of the turn are inside of the vector.
#[inline(always)]
unsafe fn forward_turn<F: SubtractProduct, const B: usize, const Q: usize>(
    turn: usize,
    row: &[Lane; MOST_LANES],
    l: &[[f64; B]; Q],
    inverse: &[f64; Q],
    v: *mut f64,
    last: &mut [f64; B],
) {
    for c in 0..Q {
        // SAFETY: by the contract.
        unsafe {
            let place = v.offset(row[c].at(turn));
            *place = forward_row::<F, B>(*place, &l[c], inverse[c], last);
        }
    }
}

fused! {
fn forward_lanes<const B: usize, const Q: usize>(
    rows: Lower<'_, B>,
    lanes: &Lanes,
    turns: Range<usize>,
    v: Shared<'_>,
    last: [f64; B],
) -> [f64; B] {
    let (l, inverse) = rows;
    let mut last = last;
    assert!(lanes.are_below(v.len()) && turns.end <= lanes.turns);
    let row = lanes.row;
    let l = &l.as_chunks::<Q>().0[..turns.end];
    let inverse = &inverse.as_chunks::<Q>().0[..turns.end];
    for t in turns {
        // SAFETY: asserted above.
        unsafe { forward_turn::<F, B, Q>(t, &row, &l[t], &inverse[t], v.as_mut_ptr(), &mut last) };
    }
    last
}
}

fused! {
fn forward_both<const B: usize, const Q: usize>(
    rows_a: Lower<'_, B>,
    rows_b: Lower<'_, B>,
    a: &Lanes,
    b: &Lanes,
    v: Shared<'_>,
    p: [f64; B],
    q: [f64; B],
) -> ([f64; B], [f64; B]) {
    let (la, ia) = rows_a;
    let (lb, ib) = rows_b;
    let mut p = p;
    let mut q = q;
    assert!(a.are_below(v.len()) && b.are_below(v.len()));
    let both = a.turns.min(b.turns);
    {
        let (la, ia) = (
            &la.as_chunks::<Q>().0[..both],
            &ia.as_chunks::<Q>().0[..both],
        );
        let (lb, ib) = (
            &lb.as_chunks::<Q>().0[..both],
            &ib.as_chunks::<Q>().0[..both],
        );
        let (ra, rb) = (a.row, b.row);
        for t in 0..both {
            // SAFETY: asserted above.
            unsafe {
                forward_turn::<F, B, Q>(t, &ra, &la[t], &ia[t], v.as_mut_ptr(), &mut p);
                forward_turn::<F, B, Q>(t, &rb, &lb[t], &ib[t], v.as_mut_ptr(), &mut q);
            }
        }
    }
    p = forward_lanes::<B, Q>((la, ia), a, both..a.turns, v, p);
    q = forward_lanes::<B, Q>((lb, ib), b, both..b.turns, v, q);
    (p, q)
}
}

/// Backward through both halves, with the values of the middle as seen from each.
pub(super) fn backward<const B: usize>(
    [first, last]: &[Half; 2],
    team: Option<&mut Team>,
    v: Shared<'_>,
    [mut p, mut q]: [[f64; B]; 2],
) {
    if let Some(team) = team {
        team.both(|| backward_half(first, v, p), || backward_half(last, v, q));
        return;
    }
    let (a, b) = (&first.lanes, &last.lanes);
    let (fa, fb) = (&first.factors, &last.factors);
    let (ua, ub) = (fa.upper(a.end()), fb.upper(b.end()));
    (p, q) = backward_singles_both(ua, ub, &first.behind, &last.behind, v, p, q);
    let (ua, ub) = (fa.upper(a.start), fb.upper(b.start));
    match a.lanes == b.lanes {
        true => (p, q) = by_lanes!(a, backward_both(ua, ub, a, b, v, p, q)),
        false => {
            p = by_lanes!(a, backward_lanes(ua, a, 0..a.turns, v, p));
            q = by_lanes!(b, backward_lanes(ub, b, 0..b.turns, v, q));
        }
    }
    backward_singles(fa.upper(0), &first.before, 0..a.start, v, p);
    backward_singles(fb.upper(0), &last.before, 0..b.start, v, q);
}

fn backward_half<const B: usize>(half: &Half, v: Shared<'_>, last: [f64; B]) {
    let (lanes, factors) = (&half.lanes, &half.factors);
    let left = 0..half.behind.y.len();
    let last = backward_singles(factors.upper(lanes.end()), &half.behind, left, v, last);
    let rows = factors.upper(lanes.start);
    let last = by_lanes!(lanes, backward_lanes(rows, lanes, 0..lanes.turns, v, last));
    backward_singles(factors.upper(0), &half.before, 0..lanes.start, v, last);
}

#[inline(always)]
fn backward_row<F: SubtractProduct, const B: usize>(
    y: f64,
    u: &[f64; B],
    last: &mut [f64; B],
) -> f64 {
    let mut x = y;
    for k in (0..B).rev() {
        x = F::subtract(x, u[k], last[k]);
    }
    push(last, x);
    x
}

/// Puts an unknown to its place.
#[inline(always)]
fn put(v: Shared<'_>, col: u32, x: f64) {
    // SAFETY: an unknown of this half.
    unsafe { v.set(col as usize, x) };
}

fused! {
fn backward_singles<const B: usize>(
    u: &[[f64; B]],
    singles: &Singles,
    which: Range<usize>,
    v: Shared<'_>,
    last: [f64; B],
) -> [f64; B] {
    let mut last = last;
    for i in which.rev() {
        let x = backward_row::<F, B>(singles.y[i], &u[i], &mut last);
        put(v, singles.col[i], x);
    }
    last
}
}

fused! {
fn backward_singles_both<const B: usize>(
    ua: &[[f64; B]],
    ub: &[[f64; B]],
    a: &Singles,
    b: &Singles,
    v: Shared<'_>,
    p: [f64; B],
    q: [f64; B],
) -> ([f64; B], [f64; B]) {
    let mut p = p;
    let mut q = q;
    let both = a.y.len().min(b.y.len());
    p = backward_singles(ua, a, both..a.y.len(), v, p);
    q = backward_singles(ub, b, both..b.y.len(), v, q);
    let (ua, ub, ya, yb) = (&ua[..both], &ub[..both], &a.y[..both], &b.y[..both]);
    let (ca, cb) = (&a.col[..both], &b.col[..both]);
    for i in (0..both).rev() {
        put(v, ca[i], backward_row::<F, B>(ya[i], &ua[i], &mut p));
        put(v, cb[i], backward_row::<F, B>(yb[i], &ub[i], &mut q));
    }
    (p, q)
}
}

/// One turn of the lanes: all of its intermediate results are read before an unknown takes the place of one.
///
/// # Safety
/// The elements of the turn are inside of the vector.
#[inline(always)]
unsafe fn backward_turn<F: SubtractProduct, const B: usize, const Q: usize>(
    turn: usize,
    lanes: &Lanes,
    u: &[[f64; B]; Q],
    v: *mut f64,
    last: &mut [f64; B],
) {
    // SAFETY: by the contract.
    let y: [f64; Q] = std::array::from_fn(|c| unsafe { *v.offset(lanes.row[c].at(turn)) });
    for c in (0..Q).rev() {
        let x = backward_row::<F, B>(y[c], &u[c], last);
        // SAFETY: by the contract; the unknowns of a turn are the elements of its rows.
        unsafe { *v.offset(lanes.col[c].at(turn)) = x };
    }
}

fused! {
fn backward_lanes<const B: usize, const Q: usize>(
    u: &[[f64; B]],
    lanes: &Lanes,
    turns: Range<usize>,
    v: Shared<'_>,
    last: [f64; B],
) -> [f64; B] {
    let mut last = last;
    assert!(lanes.are_below(v.len()) && turns.end <= lanes.turns);
    let (lanes, u) = (*lanes, &u.as_chunks::<Q>().0[..turns.end]);
    for t in turns.rev() {
        // SAFETY: asserted above.
        unsafe { backward_turn::<F, B, Q>(t, &lanes, &u[t], v.as_mut_ptr(), &mut last) };
    }
    last
}
}

fused! {
fn backward_both<const B: usize, const Q: usize>(
    ua: &[[f64; B]],
    ub: &[[f64; B]],
    a: &Lanes,
    b: &Lanes,
    v: Shared<'_>,
    p: [f64; B],
    q: [f64; B],
) -> ([f64; B], [f64; B]) {
    let mut p = p;
    let mut q = q;
    assert!(a.are_below(v.len()) && b.are_below(v.len()));
    let both = a.turns.min(b.turns);
    p = backward_lanes::<B, Q>(ua, a, both..a.turns, v, p);
    q = backward_lanes::<B, Q>(ub, b, both..b.turns, v, q);
    let (a, b) = (*a, *b);
    let (ua, ub) = (
        &ua.as_chunks::<Q>().0[..both],
        &ub.as_chunks::<Q>().0[..both],
    );
    for t in (0..both).rev() {
        // SAFETY: asserted above.
        unsafe {
            backward_turn::<F, B, Q>(t, &a, &ua[t], v.as_mut_ptr(), &mut p);
            backward_turn::<F, B, Q>(t, &b, &ub[t], v.as_mut_ptr(), &mut q);
        }
    }
    (p, q)
}
}

#[inline(always)]
fn push<const B: usize>(last: &mut [f64; B], value: f64) {
    for j in (1..B).rev() {
        last[j] = last[j - 1];
    }
    last[0] = value;
}
