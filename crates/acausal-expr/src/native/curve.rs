//! Curves through points: the tables of one argument.
//!
//! In: a matrix whose first column ascends, and which of its columns are wanted. Between two points a curve is a cubic in
//! the distance from the left point, `y0 + ((c0*v + c1)*v + c2)*v`; lines and steps are cubics as well. Slopes at the points
//! decide the smooth kinds:
//!
//! | smoothness | slopes |
//! |---|---|
//! | continuous derivative | Akima, *J. ACM* 17 (1970) 589: weighted by how little the neighbours bend |
//! | modified | Akima with weights that also see the size of the slopes, so that plateaus do not overshoot |
//! | monotone 1 | Fritsch & Butland, *SIAM J. Sci. Stat. Comput.* 5 (1984) 300: harmonic mean |
//! | monotone 2 | Steffen, *Astron. Astrophys.* 239 (1990) 443: parabola, limited |
//!
//! Example: the points (0, 0), (1, 1), (2, 4) by lines give 2.5 at 1.5; beyond 2 the last two points give 7 at 3.
//! Finding the piece is a binary search.

use super::NativeMatrix;
use crate::run_function::Number;

/// How values between points follow from them; numbered as in Modelica.Blocks.Types.Smoothness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Smoothness {
    Linear = 1,
    Akima,
    Constant,
    FritschButland,
    Steffen,
    ModifiedAkima,
}

impl Smoothness {
    pub(super) fn of(number: i64) -> Result<Smoothness, String> {
        Ok(match number {
            1 => Smoothness::Linear,
            2 => Smoothness::Akima,
            3 => Smoothness::Constant,
            4 => Smoothness::FritschButland,
            5 => Smoothness::Steffen,
            6 => Smoothness::ModifiedAkima,
            n => return Err(format!("there is no smoothness number {n}")),
        })
    }

    pub(super) fn is_smooth(self) -> bool {
        !matches!(self, Smoothness::Linear | Smoothness::Constant)
    }
}

/// What holds beyond the first and last point; numbered as in Modelica.Blocks.Types.Extrapolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extrapolation {
    Hold = 1,
    LastTwoPoints,
    Periodic,
    None,
}

impl Extrapolation {
    pub(super) fn of(number: i64) -> Result<Extrapolation, String> {
        Ok(match number {
            1 => Extrapolation::Hold,
            2 => Extrapolation::LastTwoPoints,
            3 => Extrapolation::Periodic,
            4 => Extrapolation::None,
            n => return Err(format!("there is no extrapolation number {n}")),
        })
    }
}

/// A cubic by the distance from the left end.
type Piece = [f64; 3];

/// Curves over common abscissae.
#[derive(Debug)]
pub(super) struct Curve {
    pub(super) x: Vec<f64>,
    /// Ordinates per curve.
    y: Vec<Vec<f64>>,
    /// `x.len() - 1` pieces per curve.
    pieces: Vec<Vec<Piece>>,
    pub(super) smoothness: Smoothness,
    pub(super) extrapolation: Extrapolation,
}

impl Curve {
    /// Makes the pieces. `repeats` allows equal abscissae, where the curve jumps.
    pub(super) fn new(
        table: &NativeMatrix,
        columns: &[usize],
        smoothness: Smoothness,
        extrapolation: Extrapolation,
        repeats: bool,
    ) -> Result<Curve, String> {
        let x = table.column(0);
        if let Some(k) = x.iter().position(|v| !v.is_finite()) {
            return Err(format!(
                "the first column of a table has {} in row {}",
                x[k],
                k + 1
            ));
        }
        for (k, w) in x.windows(2).enumerate() {
            if w[1] < w[0] || w[1] == w[0] && !repeats {
                let rule = if repeats { "ascend" } else { "ascend strictly" };
                return Err(format!(
                    "the first column of a table must {rule}, but {} follows {} in row {}",
                    w[1],
                    w[0],
                    k + 2
                ));
            }
        }
        // Two points determine a line only.
        let smoothness = match smoothness {
            s if s.is_smooth() && x.len() <= 2 => Smoothness::Linear,
            s => s,
        };
        let mut y = Vec::with_capacity(columns.len());
        for &c in columns {
            if c < 1 || c > table.columns {
                return Err(format!(
                    "the table has {} columns, there is no column {c}",
                    table.columns
                ));
            }
            y.push(table.column(c - 1));
        }
        let pieces = y.iter().map(|y| pieces(&x, y, smoothness)).collect();
        Ok(Curve {
            x,
            y,
            pieces,
            smoothness,
            extrapolation,
        })
    }

    pub(super) fn first(&self) -> f64 {
        self.x[0]
    }

    pub(super) fn last(&self) -> f64 {
        self.x[self.x.len() - 1]
    }

    /// The value of a curve (counted from 1).
    pub(super) fn value<T: Number>(&self, column: i64, u: T) -> Result<T, String> {
        self.derivative(column, u, 0)
    }

    /// A derivative of a curve.
    pub(super) fn derivative<T: Number>(&self, column: i64, u: T, order: u32) -> Result<T, String> {
        let k = self.column(column)?;
        if self.x.len() == 1 {
            return Ok(constant(self.y[k][0], order));
        }
        let (first, last) = (self.first(), self.last());
        let mut u = u;
        if self.extrapolation == Extrapolation::Periodic {
            u = periodic(u, first, last);
        }
        if u.value() < first || u.value() > last {
            return self.beyond(k, u, order);
        }
        let piece = self.piece(u.value(), 0, self.x.len() - 1);
        Ok(self.on_piece(k, piece, u, order))
    }

    /// The curve of a column number.
    pub(super) fn column(&self, column: i64) -> Result<usize, String> {
        usize::try_from(column - 1)
            .ok()
            .filter(|&k| k < self.y.len())
            .ok_or_else(|| {
                format!(
                    "the table has {} output columns, there is no {column}",
                    self.y.len()
                )
            })
    }

    /// The piece that begins at or before `u`, among those between the points `low` and `high`.
    pub(super) fn piece(&self, u: f64, low: usize, high: usize) -> usize {
        let (mut low, mut high) = (low, high);
        while high > low + 1 {
            let middle = (low + high) / 2;
            if u < self.x[middle] {
                high = middle;
            } else {
                low = middle;
            }
        }
        low
    }

    /// The value of a piece, wherever `u` is.
    pub(super) fn on_piece<T: Number>(&self, k: usize, piece: usize, u: T, order: u32) -> T {
        if self.smoothness == Smoothness::Constant {
            // The last point belongs to its own value.
            let point = piece + usize::from(u.value() >= self.x[piece + 1]);
            return self.step(k, point, order);
        }
        let v = u - T::constant(self.x[piece]);
        cubic(self.y[k][piece], self.pieces[k][piece], v, order)
    }

    /// The value of a point.
    pub(super) fn step<T: Number>(&self, k: usize, point: usize, order: u32) -> T {
        constant(self.y[k][point], order)
    }

    /// The value beyond the first or last point.
    pub(super) fn beyond<T: Number>(&self, k: usize, u: T, order: u32) -> Result<T, String> {
        let n = self.x.len();
        let left = u.value() < self.first();
        let (point, piece) = if left { (0, 0) } else { (n - 1, n - 2) };
        match self.extrapolation {
            Extrapolation::Hold | Extrapolation::Periodic => Ok(constant(self.y[k][point], order)),
            Extrapolation::LastTwoPoints => {
                let width = self.x[piece + 1] - self.x[piece];
                let slope = if self.smoothness.is_smooth() {
                    let v = if left { 0.0 } else { width };
                    cubic::<f64>(self.y[k][piece], self.pieces[k][piece], v, 1)
                } else if width > 0.0 {
                    (self.y[k][piece + 1] - self.y[k][piece]) / width
                } else {
                    0.0
                };
                let v = u - T::constant(self.x[point]);
                Ok(cubic(self.y[k][point], [0.0, 0.0, slope], v, order))
            }
            Extrapolation::None => {
                let (side, bound) = if left {
                    ("less than the smallest", self.first())
                } else {
                    ("greater than the largest", self.last())
                };
                Err(format!(
                    "{} is {side} abscissa {bound} of a table without extrapolation",
                    u.value()
                ))
            }
        }
    }
}

fn constant<T: Number>(v: f64, order: u32) -> T {
    T::constant(if order == 0 { v } else { 0.0 })
}

/// `y0 + ((c0*v + c1)*v + c2)*v` or a derivative of it.
pub(super) fn cubic<T: Number>(y0: f64, [c0, c1, c2]: Piece, v: T, order: u32) -> T {
    let c = T::constant;
    match order {
        0 => c(y0) + ((c(c0) * v + c(c1)) * v + c(c2)) * v,
        1 => (c(3.0 * c0) * v + c(2.0 * c1)) * v + c(c2),
        2 => c(6.0 * c0) * v + c(2.0 * c1),
        3 => c(6.0 * c0),
        _ => c(0.0),
    }
}

/// `u` moved by whole periods into the table.
pub(super) fn periodic<T: Number>(u: T, first: f64, last: f64) -> T {
    let period = last - first;
    if period <= 0.0 || u.value() >= first && u.value() <= last {
        return u;
    }
    // As few periods as needed, so that both ends of the table are reached.
    let count = if u.value() > last {
        ((u.value() - last) / period).ceil()
    } else {
        -((first - u.value()) / period).ceil()
    };
    u - T::constant(count * period)
}

fn pieces(x: &[f64], y: &[f64], smoothness: Smoothness) -> Vec<Piece> {
    let secants: Vec<f64> = x
        .windows(2)
        .zip(y.windows(2))
        .map(|(x, y)| (y[1] - y[0]) / (x[1] - x[0]))
        .collect();
    if smoothness == Smoothness::Constant {
        return vec![[0.0; 3]; secants.len()];
    }
    if smoothness == Smoothness::Linear {
        // Between equal abscissae the curve jumps; that piece has no length.
        let line = |d: f64| [0.0, 0.0, if d.is_finite() { d } else { 0.0 }];
        return secants.into_iter().map(line).collect();
    }
    let slopes = slopes(x, &secants, smoothness);
    let mut pieces = Vec::with_capacity(secants.len());
    for (i, &d) in secants.iter().enumerate() {
        let h = x[i + 1] - x[i];
        let (s0, s1) = (slopes[i], slopes[i + 1]);
        pieces.push([
            (s0 + s1 - 2.0 * d) / (h * h),
            (3.0 * d - 2.0 * s0 - s1) / h,
            s0,
        ]);
    }
    pieces
}

/// The slope at each point, from the slopes of the lines between them (at least two).
pub(super) fn slopes(x: &[f64], d: &[f64], smoothness: Smoothness) -> Vec<f64> {
    let n = x.len();
    match smoothness {
        Smoothness::FritschButland | Smoothness::Steffen => {
            let inner = (0..n - 2).map(|i| {
                let (h, k) = (x[i + 1] - x[i], x[i + 2] - x[i + 1]);
                match smoothness {
                    _ if d[i] * d[i + 1] <= 0.0 => 0.0,
                    Smoothness::Steffen => {
                        let mean = (d[i] * k + d[i + 1] * h) / (h + k);
                        let least = d[i].abs().min(d[i + 1].abs());
                        mean.signum() * mean.abs().min(2.0 * least)
                    }
                    _ => 3.0 * (h + k) / ((h + 2.0 * k) / d[i] + (k + 2.0 * h) / d[i + 1]),
                }
            });
            let ends = (d[0], d[n - 2]);
            std::iter::once(ends.0)
                .chain(inner)
                .chain(std::iter::once(ends.1))
                .collect()
        }
        _ => {
            // Two lines more at each end, continuing the change of slope.
            let (a, b) = (d[0], d[1]);
            let (y, z) = (d[n - 3], d[n - 2]);
            let mut m = vec![3.0 * a - 2.0 * b, 2.0 * a - b];
            m.extend_from_slice(d);
            m.extend([2.0 * z - y, 3.0 * z - 2.0 * y]);
            let modified = smoothness == Smoothness::ModifiedAkima;
            let weight = |p: f64, q: f64| {
                let size = if modified { 0.5 * (p + q).abs() } else { 0.0 };
                (q - p).abs() + size
            };
            (0..n)
                .map(|i| {
                    let (left, right) = (weight(m[i], m[i + 1]), weight(m[i + 2], m[i + 3]));
                    let sum = left + right;
                    match sum > 0.0 {
                        true => (right * m[i + 1] + left * m[i + 2]) / sum,
                        false if modified => 0.0,
                        false => 0.5 * (m[i + 1] + m[i + 2]),
                    }
                })
                .collect()
        }
    }
}
