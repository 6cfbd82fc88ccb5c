//! Tables of two arguments.
//!
//! In: a matrix whose first column and first row (without the corner) ascend. Inside of a cell the value is a sum over its
//! corners: `y = Σ w1[a]*w2[b]*D[a][b]`, where `a` runs over value and slope at both ends of the first direction, `b` likewise
//! over the second, and `D` holds the values, slopes and mixed slopes. The weights of one direction depend on its
//! argument only: lines, steps, cubics, and everything beyond the ends are choices of weights.
//!
//! Slopes at the grid points are those of Akima, *Comm. ACM* 17 (1974) 18, with two rows and columns more at each side.
//!
//! Example: the grid 0, 1 by 0, 1 with the values 0, 1, 2, 3 gives 1.5 in the middle.

use super::NativeMatrix;
use super::curve::{Extrapolation, Smoothness, periodic, slopes};
use crate::run_function::Number;

/// A table over a grid.
#[derive(Debug)]
pub(super) struct Grid {
    x: [Vec<f64>; 2],
    /// Value, slope in the first direction, slope in the second, mixed slope; row by row.
    data: Vec<[f64; 4]>,
    smoothness: Smoothness,
    extrapolation: Extrapolation,
}

/// Where an argument lies.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Inside,
    Below,
    Above,
}

impl Grid {
    pub(super) fn new(
        table: &NativeMatrix,
        smoothness: Smoothness,
        extrapolation: Extrapolation,
    ) -> Result<Grid, String> {
        if table.rows < 2 || table.columns < 2 {
            return Err(
                "a table of two arguments needs at least two rows and two columns".to_string(),
            );
        }
        let rows: Vec<f64> = (1..table.rows).map(|i| table.at(i, 0)).collect();
        let columns: Vec<f64> = (1..table.columns).map(|j| table.at(0, j)).collect();
        for (what, x) in [("column", &rows), ("row", &columns)] {
            if let Some(w) = x.windows(2).find(|w| w[1] <= w[0]) {
                return Err(format!(
                    "the first {what} of a table must ascend strictly, but {} follows {}",
                    w[1], w[0]
                ));
            }
        }
        let smoothness = match smoothness {
            Smoothness::Akima if rows.len() <= 2 && columns.len() <= 2 => Smoothness::Linear,
            Smoothness::Linear | Smoothness::Constant | Smoothness::Akima => smoothness,
            _ => {
                return Err(
                    "tables of two arguments are linear, constant or Akima splines".to_string(),
                );
            }
        };
        let values = NativeMatrix {
            rows: rows.len(),
            columns: columns.len(),
            values: (1..table.rows)
                .flat_map(|i| (1..table.columns).map(move |j| table.at(i, j)))
                .collect(),
        };
        let data = match smoothness {
            Smoothness::Akima => akima(&rows, &columns, &values),
            _ => values.values.iter().map(|&v| [v, 0.0, 0.0, 0.0]).collect(),
        };
        Ok(Grid {
            x: [rows, columns],
            data,
            smoothness,
            extrapolation,
        })
    }

    pub(super) fn least(&self) -> [f64; 2] {
        [self.x[0][0], self.x[1][0]]
    }

    pub(super) fn largest(&self) -> [f64; 2] {
        [
            self.x[0][self.x[0].len() - 1],
            self.x[1][self.x[1].len() - 1],
        ]
    }

    /// The value.
    pub(super) fn value<T: Number>(&self, u1: T, u2: T) -> Result<T, String> {
        self.partial(u1, u2, 0, 0)
    }

    /// A partial derivative.
    pub(super) fn partial<T: Number>(
        &self,
        u1: T,
        u2: T,
        order1: u32,
        order2: u32,
    ) -> Result<T, String> {
        let (u1, side1) = self.enter(0, u1)?;
        let (u2, side2) = self.enter(1, u2)?;
        // Steps beyond the ends continue by lines, in both directions.
        let lines = self.smoothness == Smoothness::Constant
            && self.extrapolation == Extrapolation::LastTwoPoints
            && (side1 != Side::Inside || side2 != Side::Inside);
        let (i, w1) = self.weights(0, u1, side1, lines, order1);
        let (j, w2) = self.weights(1, u2, side2, lines, order2);
        let columns = self.x[1].len();
        let mut sum = T::constant(0.0);
        for (a, &p) in w1.iter().enumerate() {
            for (b, &q) in w2.iter().enumerate() {
                let (row, column) = (i + a / 2, j + b / 2);
                if row >= self.x[0].len() || column >= columns {
                    continue;
                }
                let d = self.data[row * columns + column][a % 2 + 2 * (b % 2)];
                if d != 0.0 {
                    sum = sum + p * q * T::constant(d);
                }
            }
        }
        Ok(sum)
    }

    /// The argument as it counts, and where it lies.
    fn enter<T: Number>(&self, direction: usize, u: T) -> Result<(T, Side), String> {
        let x = &self.x[direction];
        let (first, last) = (x[0], x[x.len() - 1]);
        if x.len() == 1 {
            return Ok((T::constant(first), Side::Inside));
        }
        let side = match u.value() {
            v if v < first => Side::Below,
            v if v > last => Side::Above,
            _ => return Ok((u, Side::Inside)),
        };
        match self.extrapolation {
            Extrapolation::Periodic => Ok((periodic(u, first, last), Side::Inside)),
            Extrapolation::LastTwoPoints => Ok((u, side)),
            Extrapolation::Hold => {
                let end = if side == Side::Below { first } else { last };
                Ok((T::constant(end), Side::Inside))
            }
            Extrapolation::None => Err(format!(
                "the argument {} = {} lies outside of {first} .. {last} of a table without extrapolation",
                direction + 1,
                u.value()
            )),
        }
    }

    /// The cell, and the weights of value and slope at its lower and its upper end.
    fn weights<T: Number>(
        &self,
        direction: usize,
        u: T,
        side: Side,
        lines: bool,
        order: u32,
    ) -> (usize, [T; 4]) {
        let x = &self.x[direction];
        let c = T::constant;
        let zero = c(0.0);
        let one = c(if order == 0 { 1.0 } else { 0.0 });
        if x.len() == 1 {
            return (0, [one, zero, zero, zero]);
        }
        let cell = match side {
            Side::Below => 0,
            Side::Above => x.len() - 2,
            Side::Inside => x[1..x.len() - 1].partition_point(|&p| p <= u.value()),
        };
        let h = x[cell + 1] - x[cell];
        let v = u - c(x[cell]);
        let weights = match self.smoothness {
            Smoothness::Constant if !lines => match v.value() >= h {
                true => [zero, zero, one, zero],
                false => [one, zero, zero, zero],
            },
            Smoothness::Akima => match side {
                Side::Below => [one, line(v, order), zero, zero],
                Side::Above => [zero, zero, one, line(u - c(x[cell + 1]), order)],
                Side::Inside => hermite(v, h, order),
            },
            _ => {
                let s = match order {
                    0 => v.div(c(h)),
                    1 => c(1.0 / h),
                    _ => zero,
                };
                [one - s, zero, s, zero]
            }
        };
        (cell, weights)
    }
}

/// `v` or a derivative of it.
fn line<T: Number>(v: T, order: u32) -> T {
    match order {
        0 => v,
        1 => T::constant(1.0),
        _ => T::constant(0.0),
    }
}

/// Weights of value and slope at both ends of an interval of length `h`, by the distance from its beginning.
fn hermite<T: Number>(v: T, h: f64, order: u32) -> [T; 4] {
    let c = T::constant;
    // Polynomials in v: 1 - 3s² + 2s³, v(1 - s)², 3s² - 2s³, -v s(1 - s), with s = v/h.
    let (h2, h3) = (h * h, h * h * h);
    let coefficients = [
        [1.0, 0.0, -3.0 / h2, 2.0 / h3],
        [0.0, 1.0, -2.0 / h, 1.0 / h2],
        [0.0, 0.0, 3.0 / h2, -2.0 / h3],
        [0.0, 0.0, -1.0 / h, 1.0 / h2],
    ];
    coefficients.map(|[a, b, q, k]| match order {
        0 => ((c(k) * v + c(q)) * v + c(b)) * v + c(a),
        1 => (c(3.0 * k) * v + c(2.0 * q)) * v + c(b),
        2 => c(6.0 * k) * v + c(2.0 * q),
        _ => c(0.0),
    })
}

/// Values and slopes at the grid points.
fn akima(x: &[f64], y: &[f64], z: &NativeMatrix) -> Vec<[f64; 4]> {
    let (n, m) = (x.len(), y.len());
    if n == 1 || m == 1 {
        // One direction only: a curve.
        let (x, along) = if n == 1 { (y, 2) } else { (x, 1) };
        let secants: Vec<f64> = (0..x.len() - 1)
            .map(|i| (z.values[i + 1] - z.values[i]) / (x[i + 1] - x[i]))
            .collect();
        let slopes = slopes(x, &secants, Smoothness::Akima);
        return z
            .values
            .iter()
            .zip(slopes)
            .map(|(&v, s)| {
                let mut d = [v, 0.0, 0.0, 0.0];
                d[along] = s;
                d
            })
            .collect();
    }
    let (xe, ye) = (extended_abscissae(x), extended_abscissae(y));
    let e = extended_values(&xe, &ye, z);
    let w = m + 4;
    let at = |i: usize, j: usize| e[i * w + j];
    let mut data = Vec::with_capacity(n * m);
    for i in 2..n + 2 {
        for j in 2..m + 2 {
            let along_x = |k: usize| (at(k + 1, j) - at(k, j)) / (xe[k + 1] - xe[k]);
            let along_y =
                |row: usize, k: usize| (at(row, k + 1) - at(row, k)) / (ye[k + 1] - ye[k]);
            let (zx, wx) = bent([along_x(i - 2), along_x(i - 1), along_x(i), along_x(i + 1)]);
            let (zy, wy) = bent([
                along_y(i, j - 2),
                along_y(i, j - 1),
                along_y(i, j),
                along_y(i, j + 1),
            ]);
            // Mixed slopes of the four cells around the point.
            let cell = |row: usize, k: usize| {
                (along_y(row + 1, k) - along_y(row, k)) / (xe[row + 1] - xe[row])
            };
            let mixed = (wx.0 * (wy.0 * cell(i - 1, j - 1) + wy.1 * cell(i - 1, j))
                + wx.1 * (wy.0 * cell(i, j - 1) + wy.1 * cell(i, j)))
                / ((wx.0 + wx.1) * (wy.0 + wy.1));
            data.push([at(i, j), zx, zy, mixed]);
        }
    }
    data
}

/// Akima's slope between four lines, and the weights of the lines at the left and at the right.
fn bent([a, b, c, d]: [f64; 4]) -> (f64, (f64, f64)) {
    if a == b && c == d {
        return (0.5 * b + 0.5 * c, (1.0, 1.0));
    }
    let (left, right) = ((d - c).abs(), (b - a).abs());
    ((left * b + right * c) / (left + right), (left, right))
}

/// Two abscissae more at each side, as far apart as the first and last three (of two: as these).
fn extended_abscissae(x: &[f64]) -> Vec<f64> {
    let n = x.len();
    let mut out = Vec::with_capacity(n + 4);
    if n == 2 {
        let h = x[1] - x[0];
        out.extend([
            x[0] - 2.0 * h,
            x[0] - h,
            x[0],
            x[1],
            x[1] + h,
            x[1] + 2.0 * h,
        ]);
        return out;
    }
    out.extend([2.0 * x[0] - x[2], x[0] + x[1] - x[2]]);
    out.extend_from_slice(x);
    out.extend([x[n - 1] + x[n - 2] - x[n - 3], 2.0 * x[n - 1] - x[n - 3]]);
    out
}

/// The values with two rows and columns more at each side.
fn extended_values(xe: &[f64], ye: &[f64], z: &NativeMatrix) -> Vec<f64> {
    let (n, m) = (z.rows, z.columns);
    let w = m + 4;
    let mut e = vec![0.0; (n + 4) * w];
    for i in 0..n {
        let row: Vec<f64> = (0..m).map(|j| z.at(i, j)).collect();
        for (j, v) in extended_line(ye, &row).into_iter().enumerate() {
            e[(i + 2) * w + j] = v;
        }
    }
    for j in 0..w {
        let column: Vec<f64> = (0..n).map(|i| e[(i + 2) * w + j]).collect();
        for (i, v) in extended_line(xe, &column).into_iter().enumerate() {
            e[i * w + j] = v;
        }
    }
    e
}

/// Two values more at each side: of two values by the line, of more by the parabola through the last three.
fn extended_line(xe: &[f64], y: &[f64]) -> Vec<f64> {
    let n = y.len();
    if n == 2 {
        let h = y[1] - y[0];
        return vec![
            y[0] - 2.0 * h,
            y[0] - h,
            y[0],
            y[1],
            y[1] + h,
            y[1] + 2.0 * h,
        ];
    }
    // From the three last points inwards: the slope changes by the same amount from line to line.
    let beyond = |x: [f64; 5], y: [f64; 3]| {
        let (a, b, c, d) = (x[1] - x[0], x[2] - x[1], x[3] - x[2], x[4] - x[3]);
        let (e, f) = (y[1] - y[0], y[2] - y[1]);
        let near = c * (2.0 * f / b - e / a) + y[2];
        let far = near + d * ((near - y[2]) / c + f / b - e / a);
        (near, far)
    };
    let (near0, far0) = beyond([xe[4], xe[3], xe[2], xe[1], xe[0]], [y[2], y[1], y[0]]);
    let k = xe.len();
    let (near1, far1) = beyond(
        [xe[k - 5], xe[k - 4], xe[k - 3], xe[k - 2], xe[k - 1]],
        [y[n - 3], y[n - 2], y[n - 1]],
    );
    let mut out = Vec::with_capacity(n + 4);
    out.extend([far0, near0]);
    out.extend_from_slice(y);
    out.extend([near1, far1]);
    out
}
