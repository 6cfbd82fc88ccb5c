//! The history of the solution: an accepted correction goes in, the next prediction and interpolated values come out.

use super::{Correction, whole};
use crate::bdf::coefficients::LEN;
use crate::bdf::difference_rows::{
    DifferenceRow, DifferenceRows, DifferenceRowsMut, FIRST_NARROW, RowBehind, SharedSet,
};
use crate::bdf::simd::{F64x4, LANES, vectorised};
use crate::bdf::vector::Vector;
use crate::parallel::in_parts;
use acausal_cpu::{Shared, Team};
use std::ops::Range;

/// Work on a range of unknowns, with the places for y and y' of that range.
pub type PredictPart<'a> = dyn Fn(Range<usize>, [&mut [f64]; 2]) + Sync + 'a;

/// A pass over all unknowns that can be made in parts and in any order.
pub struct Pass<'a> {
    /// The number of unknowns, and of vectors that are read or written.
    size: (usize, usize),
    pub part: &'a PredictPart<'a>,
}

impl Pass<'_> {
    /// All of it at once, y and y' to the given vectors.
    pub fn run(self, team: Option<&mut Team>, predicted: [Shared<'_>; 2]) {
        in_parts(team, self.size, |range| {
            // SAFETY: ranges are apart.
            let places = predicted.map(|v| unsafe { v.part(range.clone()) });
            (self.part)(range, places);
        });
    }
}

/// How the history is rescaled and added up in a prediction.
#[derive(Clone, Copy)]
pub struct Prediction {
    /// Its order.
    pub k: usize,
    /// `phi[j] *= scale[j]` for `j >= first_scaled`.
    pub first_scaled: usize,
    pub scale: [f64; LEN],
    pub gamma: [f64; LEN],
}

impl Prediction {
    /// The factors of the first N1 rows, those of the history and of the slope.
    #[inline(always)]
    fn factors<const N1: usize>(&self) -> ([f64; N1], [f64; N1]) {
        let (mut c, mut g) = ([1.0; N1], [0.0; N1]);
        if self.first_scaled < N1 {
            c[self.first_scaled..].copy_from_slice(&self.scale[self.first_scaled..N1]);
        }
        g[1..].copy_from_slice(&self.gamma[1..N1]);
        (c, g)
    }
}

/// DifferenceRows before the first narrow one where none is narrow.
const ALL: usize = 6;

/// Predicts `y = sum phi[j]`, `yp = sum gamma[j] phi[j]` (j = 0..=k) after rescaling the history, as `then` makes the pass.
///
/// The contract of a pass: no unknown is passed twice, and nobody else uses the rows of its range meanwhile.
pub fn predict<R>(
    phi: &mut DifferenceRows,
    how: Prediction,
    then: impl FnOnce(Pass<'_>) -> R,
) -> R {
    macro_rules! order {
        ($k1:literal) => {{
            let (n, narrow) = (phi[0].len(), phi.are_narrow());
            let set = phi.first::<$k1>().0;
            let part = |range: Range<usize>, [y, yp]: [&mut [f64]; 2]| {
                // SAFETY: by the contract of the pass.
                let p = unsafe { set.part(range) };
                match narrow {
                    false => predict_order::<$k1, ALL>(p, how, y, yp),
                    true => predict_order::<$k1, FIRST_NARROW>(p, how, y, yp),
                }
            };
            then(Pass {
                size: (n, 2 * $k1 + 2),
                part: &part,
            })
        }};
    }
    match how.k {
        1 => order!(2),
        2 => order!(3),
        3 => order!(4),
        4 => order!(5),
        _ => order!(6),
    }
}

vectorised! {
fn predict_order<const K1: usize, const W: usize>(
    p: DifferenceRowsMut<'_, K1>,
    how: Prediction,
    y: &mut [f64],
    yp: &mut [f64],
) {
    let mut p = p;
    let n = y.len();
    assert!(yp.len() == n && p.is_complete::<W>(n));
    let scaled = how.first_scaled < K1;
    let (c, g) = how.factors::<K1>();
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let mut row: [Q; K1] = p.load::<Q, W>(i);
            let mut value = row[0];
            let mut slope = Q::all(0.0);
            for j in 1..K1 {
                if scaled {
                    row[j] = as_stored::<Q, W>(j, Q::all(c[j]) * row[j]);
                }
                value = value + row[j];
                slope = slope + Q::all(g[j]) * row[j];
            }
            if scaled {
                for (j, row) in row.into_iter().enumerate().skip(1) {
                    p.store::<Q, W>(j, i, row);
                }
            }
            value.store(y, i);
            slope.store(yp, i);
        }
        i += LANES;
    }
    for i in end..n {
        let mut value = p.at::<W>(0, i);
        let mut slope = 0.0;
        for j in 1..K1 {
            let row = p.set::<W>(j, i, c[j] * p.at::<W>(j, i));
            value += row;
            slope += g[j] * row;
        }
        y[i] = value;
        yp[i] = slope;
    }
}
}

/// A prediction adds up what is stored of a row.
#[inline(always)]
fn as_stored<Q: F64x4, const W: usize>(j: usize, row: Q) -> Q {
    if j < W { row } else { row.rounded() }
}

/// How an accepted correction e is taken into the history: `phi[j] += phi[j+1] + .. + e` from k down to 0.
#[derive(Clone, Copy)]
pub struct Update<'a> {
    /// Order of the step.
    pub k: usize,
    /// The parts of the correction, as in [`Correction`]; the last vector is given apart.
    pub earlier: Option<&'a [f64]>,
    pub scale: f64,
    /// The correction itself becomes `phi[k+1]`; what was given is then of no use.
    pub keep: bool,
}

/// Where the correction goes that becomes a row of the history.
enum Kept<'a> {
    Nowhere,
    /// It stays where it is, since the vectors were exchanged.
    There,
    Narrow(&'a mut [f32]),
}

/// The vectors of an update.
struct Parts<'a, const K1: usize> {
    /// The rows of the order of the step.
    set: SharedSet<'a, K1>,
    /// The last part of the correction ...
    e: Shared<'a>,
    /// ... and the vector that had it before.
    last: Shared<'a>,
    /// The row that the correction becomes, if it is narrow, or whether it has become one.
    narrow: Option<Shared<'a, f32>>,
    exchanged: bool,
}

impl Update<'_> {
    fn parts<'a, const K1: usize>(
        self,
        phi: &'a mut DifferenceRows,
        correction: &'a mut Vector,
    ) -> Parts<'a, K1> {
        let exchanged = self.keep && phi.exchange(K1, correction);
        let last = Shared::new(correction);
        let (set, behind) = phi.first();
        let (e, narrow) = match behind {
            RowBehind::Wide(row) if exchanged => (Shared::new(row), None),
            RowBehind::Narrow(row) if self.keep => (last, Some(Shared::new(row))),
            _ => (last, None),
        };
        Parts {
            set,
            e,
            last,
            narrow,
            exchanged,
        }
    }
}

/// Takes the accepted correction into the history.
pub fn update(phi: &mut DifferenceRows, last: &mut Vector, update: Update<'_>) {
    let all = |pass: Pass<'_>, _: Shared<'_>| pass.run(None, [Shared::new(&mut []); 2]);
    match update.k {
        1 => advance::<2, 1, ()>(phi, last, update, None, all),
        2 => advance::<3, 1, ()>(phi, last, update, None, all),
        3 => advance::<4, 1, ()>(phi, last, update, None, all),
        4 => advance::<5, 1, ()>(phi, last, update, None, all),
        _ => advance::<6, 1, ()>(phi, last, update, None, all),
    }
}

/// [`update`] and [`predict`], in one pass if the orders differ by at most one, as they do but for an order that is held down. `then` also gets the vector that
/// held the last correction, which is of no use any more for unknowns that were passed.
pub fn update_and_predict<R>(
    phi: &mut DifferenceRows,
    last: &mut Vector,
    update: Update<'_>,
    how: Prediction,
    then: impl FnOnce(Pass<'_>, Shared<'_>) -> R,
) -> R {
    macro_rules! in_one_pass {
        ($k:literal, $next:literal) => {
            advance::<{ $k + 1 }, { $next + 1 }, R>(phi, last, update, Some(how), then)
        };
    }
    match (update.k, how.k) {
        (1, 1) => in_one_pass!(1, 1),
        (1, 2) if update.keep => in_one_pass!(1, 2),
        (2, 1) => in_one_pass!(2, 1),
        (2, 2) => in_one_pass!(2, 2),
        (2, 3) if update.keep => in_one_pass!(2, 3),
        (3, 2) => in_one_pass!(3, 2),
        (3, 3) => in_one_pass!(3, 3),
        (3, 4) if update.keep => in_one_pass!(3, 4),
        (4, 3) => in_one_pass!(4, 3),
        (4, 4) => in_one_pass!(4, 4),
        (4, 5) if update.keep => in_one_pass!(4, 5),
        (5, 4) => in_one_pass!(5, 4),
        (5, 5) => in_one_pass!(5, 5),
        _ => {
            self::update(phi, last, update);
            let last = Shared::new(last);
            predict(phi, how, |pass| then(pass, last))
        }
    }
}

/// How to predict, and where y and y' go.
type Next<'a> = (Prediction, [&'a mut [f64]; 2]);

/// Updates K1 rows, and with `next` predicts from N1 of the new ones.
fn advance<const K1: usize, const N1: usize, R>(
    phi: &mut DifferenceRows,
    last: &mut Vector,
    update: Update<'_>,
    next: Option<Prediction>,
    then: impl FnOnce(Pass<'_>, Shared<'_>) -> R,
) -> R {
    let are_narrow = phi.are_narrow();
    let Parts {
        set,
        e,
        last,
        narrow,
        exchanged,
    } = update.parts::<K1>(phi, last);
    let part = |range: Range<usize>, predicted: [&mut [f64]; 2]| {
        // SAFETY: by the contract of the pass.
        let (p, e, row) = unsafe {
            (
                set.part(range.clone()),
                e.part(range.clone()),
                narrow.map(|row| row.part(range.clone())),
            )
        };
        let next = next.map(|how| (how, predicted));
        let kept = match row {
            Some(row) => Kept::Narrow(row),
            None if exchanged => Kept::There,
            None => Kept::Nowhere,
        };
        let earlier = update.earlier.map(|e| &e[range]);
        let update = Update { earlier, ..update };
        match are_narrow {
            false => advance_order::<K1, N1, ALL>(p, e, kept, update, next),
            true => advance_order::<K1, N1, FIRST_NARROW>(p, e, kept, update, next),
        }
    };
    let size = (e.len(), 2 * K1 + 4);
    then(Pass { size, part: &part }, last)
}

vectorised! {
fn advance_order<const K1: usize, const N1: usize, const W: usize>(
    p: DifferenceRowsMut<'_, K1>,
    e: &mut [f64],
    kept: Kept<'_>,
    update: Update<'_>,
    next: Option<Next<'_>>,
) {
    let (mut p, mut kept) = (p, kept);
    let n = e.len();
    let Update { earlier, scale, .. } = update;
    assert!(p.is_complete::<W>(n) && earlier.is_none_or(|e| e.len() == n));
    assert!(!matches!(&kept, Kept::Narrow(row) if row.len() != n));
    let (c, g) = next.as_ref().map_or(([1.0; N1], [0.0; N1]), |next| next.0.factors());
    let mut predicted = next.map(|(_, predicted)| predicted);
    assert!(predicted.as_ref().is_none_or(|p| p.iter().all(|p| p.len() == n)));
    let scales = Q::all(scale);
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let mut row: [Q; K1] = p.load::<Q, W>(i);
            let mut whole = scales * Q::load(e, i);
            if let Some(earlier) = earlier {
                whole = Q::load(earlier, i) + whole;
            }
            let mut v = whole;
            // Rounded before and after the scaling, as by an update and a prediction one after the other.
            for j in (0..K1).rev() {
                v = v + row[j];
                row[j] = as_stored::<Q, W>(j, v);
            }
            if N1 > K1 {
                whole = as_stored::<Q, W>(K1, whole);
            }
            let mut value = row[0];
            let mut slope = Q::all(0.0);
            for j in 1..N1 {
                let row = if j < K1 { &mut row[j] } else { &mut whole };
                *row = as_stored::<Q, W>(j, Q::all(c[j]) * *row);
                value = value + *row;
                slope = slope + Q::all(g[j]) * *row;
            }
            for (j, row) in row.into_iter().enumerate() {
                p.store::<Q, W>(j, i, row);
            }
            match &mut kept {
                Kept::Nowhere => {}
                Kept::There => whole.store(e, i),
                Kept::Narrow(place) => whole.store_narrow(place, i),
            }
            if let Some([y, yp]) = &mut predicted {
                value.store(y, i);
                slope.store(yp, i);
            }
        }
        i += LANES;
    }
    for i in end..n {
        let last = scale * e[i];
        let mut whole = earlier.map_or(last, |e| e[i] + last);
        let mut v = whole;
        let mut row = [0.0; K1];
        for j in (0..K1).rev() {
            v += p.at::<W>(j, i);
            row[j] = v;
        }
        for (j, row) in row.iter_mut().enumerate() {
            let factor = c.get(j).copied().unwrap_or(1.0);
            let updated = p.set::<W>(j, i, *row);
            *row = p.set::<W>(j, i, factor * updated);
        }
        let factor = c.get(K1).copied().unwrap_or(1.0);
        match &mut kept {
            Kept::Nowhere => {}
            Kept::There => {
                whole *= factor;
                e[i] = whole;
            }
            Kept::Narrow(place) => {
                place[i] = (factor * f64::from(whole as f32)) as f32;
                whole = f64::from(place[i]);
            }
        }
        if let Some([y, yp]) = &mut predicted {
            (y[i], yp[i]) = (row[0], 0.0);
            for (j, g) in g.iter().enumerate().skip(1) {
                let row = row.get(j).copied().unwrap_or(whole);
                y[i] += row;
                yp[i] += g * row;
            }
        }
    }
}
}

/// The interpolant and its slope: `y = sum value[j] phi[j]`, `yp = sum slope[j] phi[j]` for j = 0..=k, with a correction counting
/// like the last row.
pub fn interpolate(
    phi: &DifferenceRows,
    k: usize,
    factors: (&[f64], &[f64]),
    correction: Option<Correction<'_>>,
    y: &mut [f64],
    yp: &mut [f64],
) {
    match k {
        1 => interpolate_order::<2>(phi, factors, correction, y, yp),
        2 => interpolate_order::<3>(phi, factors, correction, y, yp),
        3 => interpolate_order::<4>(phi, factors, correction, y, yp),
        4 => interpolate_order::<5>(phi, factors, correction, y, yp),
        _ => interpolate_order::<6>(phi, factors, correction, y, yp),
    }
}

vectorised! {
fn interpolate_order<const K1: usize>(
    phi: &DifferenceRows,
    factors: (&[f64], &[f64]),
    correction: Option<Correction<'_>>,
    y: &mut [f64],
    yp: &mut [f64],
) {
    let n = y.len();
    let p: [DifferenceRow<'_>; K1] = std::array::from_fn(|j| phi.row(j));
    assert!(yp.len() == n && p.iter().all(|p| p.len() == n));
    assert!(correction.is_none_or(|c| c.last.len() == n && c.earlier.is_none_or(|e| e.len() == n)));
    let (mut c, mut g) = ([0.0; K1], [0.0; K1]);
    c.copy_from_slice(&factors.0[..K1]);
    g.copy_from_slice(&factors.1[..K1]);
    let end = whole(n);
    let mut i = 0;
    while i < end {
        // SAFETY: i + 4 <= n, the length of every slice (asserted above).
        unsafe {
            let first: Q = p[0].load(i);
            let (mut sum, mut slopes) = (Q::all(c[0]) * first, Q::all(g[0]) * first);
            for j in 1..K1 {
                let mut v: Q = p[j].load(i);
                if let Some(e) = correction && j == K1 - 1 {
                    v = v + e.load(i);
                }
                sum = sum + Q::all(c[j]) * v;
                slopes = slopes + Q::all(g[j]) * v;
            }
            sum.store(y, i);
            slopes.store(yp, i);
        }
        i += LANES;
    }
    for i in end..n {
        let (mut sum, mut slopes) = (c[0] * p[0].at(i), g[0] * p[0].at(i));
        for j in 1..K1 {
            let mut v = p[j].at(i);
            if let Some(e) = correction && j == K1 - 1 {
                v += e.at(i);
            }
            sum += c[j] * v;
            slopes += g[j] * v;
        }
        y[i] = sum;
        yp[i] = slopes;
    }
}
}
