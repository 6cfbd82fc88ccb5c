//! The history of the solution: an accepted correction goes in, the next prediction and interpolated values come out.

use super::{Correction, whole};
use crate::bdf::quad::{LANES, Quad, vectorised};
use crate::bdf::rows::{Behind, FIRST_NARROW, Row, Rows, Set};
use crate::bdf::vector::Vector;
use crate::two::{Halve, in_halves};
use acausal_cpu::Pair;

/// How the history is rescaled and added up in a prediction.
#[derive(Clone, Copy)]
pub struct Prediction<'a> {
    /// Its order.
    pub k: usize,
    /// `phi[j] *= scale[j]` for `j >= first_scaled`.
    pub first_scaled: usize,
    pub scale: &'a [f64],
    pub gamma: &'a [f64],
}

impl Prediction<'_> {
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

/// Rows before the first narrow one where none is narrow.
const ALL: usize = 6;

/// Predicts `y = sum phi[j]`, `yp = sum gamma[j] phi[j]` (j = 0..=k) after rescaling the history.
pub fn predict(
    pair: Option<&mut Pair>,
    phi: &mut Rows,
    how: Prediction<'_>,
    predicted: [&mut [f64]; 2],
) {
    macro_rules! order {
        ($k1:literal) => {{
            let (n, narrow) = (predicted[0].len(), phi.are_narrow());
            let all = (phi.first::<$k1>().0, predicted);
            in_halves(pair, (n, 2 * $k1 + 2), all, |(p, [y, yp])| match narrow {
                false => predict_order::<$k1, ALL>(p, how, y, yp),
                true => predict_order::<$k1, FIRST_NARROW>(p, how, y, yp),
            });
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
    p: Set<'_, K1>,
    how: Prediction<'_>,
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
fn as_stored<Q: Quad, const W: usize>(j: usize, row: Q) -> Q {
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

impl Halve for Kept<'_> {
    fn halve(self, middle: usize) -> (Self, Self) {
        match self {
            Kept::Nowhere => (Kept::Nowhere, Kept::Nowhere),
            Kept::There => (Kept::There, Kept::There),
            Kept::Narrow(row) => {
                let (row, end) = row.halve(middle);
                (Kept::Narrow(row), Kept::Narrow(end))
            }
        }
    }
}

impl Update<'_> {
    /// The rows of the order of the step, the last part of the correction, and where all of it is kept.
    fn parts<'a, const K1: usize>(
        self,
        phi: &'a mut Rows,
        correction: &'a mut Vector,
    ) -> (Set<'a, K1>, &'a mut [f64], Kept<'a>) {
        let exchanged = self.keep && phi.exchange(K1, correction);
        let (set, behind) = phi.first();
        match behind {
            Behind::Wide(row) if exchanged => (set, row, Kept::There),
            Behind::Narrow(row) if self.keep => (set, correction, Kept::Narrow(row)),
            _ => (set, correction, Kept::Nowhere),
        }
    }
}

/// Takes the accepted correction into the history.
pub fn update(phi: &mut Rows, last: &mut Vector, update: Update<'_>) {
    match update.k {
        1 => advance::<2, 1>(None, phi, last, update, None),
        2 => advance::<3, 1>(None, phi, last, update, None),
        3 => advance::<4, 1>(None, phi, last, update, None),
        4 => advance::<5, 1>(None, phi, last, update, None),
        _ => advance::<6, 1>(None, phi, last, update, None),
    }
}

/// [`update`] and [`predict`], in one pass if the orders differ by at most one, as they do but for an order that is held down.
pub fn update_and_predict(
    pair: Option<&mut Pair>,
    phi: &mut Rows,
    last: &mut Vector,
    update: Update<'_>,
    how: Prediction<'_>,
    predicted: [&mut [f64]; 2],
) {
    macro_rules! in_one_pass {
        ($k:literal, $next:literal) => {
            advance::<{ $k + 1 }, { $next + 1 }>(pair, phi, last, update, Some((how, predicted)))
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
            predict(pair, phi, how, predicted);
        }
    }
}

/// How to predict, and where y and y' go.
type Next<'a> = (Prediction<'a>, [&'a mut [f64]; 2]);

/// Updates K1 rows, and with `next` predicts from N1 of the new ones.
fn advance<const K1: usize, const N1: usize>(
    pair: Option<&mut Pair>,
    phi: &mut Rows,
    last: &mut Vector,
    update: Update<'_>,
    next: Option<Next<'_>>,
) {
    let narrow = phi.are_narrow();
    let (set, e, kept) = update.parts::<K1>(phi, last);
    let (how, predicted) = next.unzip();
    let (n, all) = (e.len(), ((set, e), (kept, (update.earlier, predicted))));
    in_halves(
        pair,
        (n, 2 * K1 + 4),
        all,
        |((p, e), (kept, (earlier, predicted)))| {
            let update = Update { earlier, ..update };
            let next = how.zip(predicted);
            match narrow {
                false => advance_order::<K1, N1, ALL>(p, e, kept, update, next),
                true => advance_order::<K1, N1, FIRST_NARROW>(p, e, kept, update, next),
            }
        },
    );
}

vectorised! {
fn advance_order<const K1: usize, const N1: usize, const W: usize>(
    p: Set<'_, K1>,
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
    phi: &Rows,
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
    phi: &Rows,
    factors: (&[f64], &[f64]),
    correction: Option<Correction<'_>>,
    y: &mut [f64],
    yp: &mut [f64],
) {
    let n = y.len();
    let p: [Row<'_>; K1] = std::array::from_fn(|j| phi.row(j));
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
