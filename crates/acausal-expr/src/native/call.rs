//! Calls of native functions: arguments taken apart by their sizes, outputs in order of declaration.
//!
//! The C functions of a table that give derivatives get the derivatives of their arguments as further arguments: with `y = f(u)` the first
//! derivative is `f'(u)*du`, the second `f''(u)*du^2 + f'(u)*ddu`.

use std::sync::Arc;

use super::curve::{Curve, Extrapolation, Smoothness};
use super::grid::Grid;
use super::objects::{Object, Objects};
use super::time_table::TimeTable;
use super::{
    External, Native, NativeMatrix, file, fourier, linear, matrix_size, random, read_matrix,
};
use crate::run_function::Number;

impl External {
    /// Runs the function on numbers.
    pub fn evaluate(&self, values: &[f64], objects: &Objects) -> Result<Vec<f64>, String> {
        self.call(values, objects)
    }

    /// Runs the function.
    pub(crate) fn call<T: Number>(
        &self,
        values: &[T],
        objects: &Objects,
    ) -> Result<Vec<T>, String> {
        use Native::*;
        let mut a = Arguments {
            external: self,
            objects,
            values,
            next: 0,
            shape: 0,
        };
        Ok(match self.native {
            TimeTable | Table1D | Table2D => {
                let bits = values.iter().map(|v| v.value().to_bits()).collect();
                let handle = objects.construct(self, bits, || construct(self.native, a))?;
                vec![T::constant(handle)]
            }
            TimeTableValue | TimeTableDer | TimeTableDer2 | TimeTableMin | TimeTableMax
            | TimeTableEvent => vec![of_time_table(self.native, a)?],
            Table1DValue | Table1DDer | Table1DDer2 | Table1DMin | Table1DMax => {
                vec![of_curve(self.native, a)?]
            }
            Table2DValue | Table2DDer | Table2DDer2 | Table2DMin | Table2DMax => {
                of_grid(self.native, a)?
            }
            Xorshift64 => constants(random::xorshift64star(&a.numbers().0)),
            Xorshift128 => constants(random::xorshift128plus(&a.numbers().0)),
            Xorshift1024 => constants(random::xorshift1024star(&a.numbers().0)),
            ReadMatrix => constants(read_matrix(a.text(0), a.text(1))?.values),
            MatrixSizes => {
                let (rows, columns) = matrix_size(a.text(0), a.text(1))?;
                constants([rows as f64, columns as f64])
            }
            Solve => linear::dgesv(a.array(), a.array()),
            Factorise => linear::dgetrf(a.array()),
            SolveFactorised => linear::dgetrs(a.array(), a.array(), Some(a.array())),
            Invert => linear::dgetrs(a.array(), a.array(), None),
            LeastSquares => linear::dgelsy(a.array(), a.array(), a.number()),
            Fourier => fourier::real_transform(a.array().0),
        })
    }
}

fn constants<T: Number>(values: impl IntoIterator<Item = f64>) -> Vec<T> {
    values.into_iter().map(T::constant).collect()
}

/// What a table over time gives.
fn of_time_table<T: Number>(native: Native, mut a: Arguments<'_, T>) -> Result<T, String> {
    let object = a.object()?;
    let Object::Time(table) = &*object else {
        return Err(wrong_class());
    };
    match native {
        Native::TimeTableMin => return Ok(T::constant(table.curve.first())),
        Native::TimeTableMax => return Ok(T::constant(table.curve.last())),
        Native::TimeTableEvent => return Ok(T::constant(table.next_event(a.number())?)),
        _ => {}
    }
    let column = a.integer();
    let t = a.scalar();
    let (next, previous) = (a.number(), a.number());
    Ok(match native {
        Native::TimeTableDer => {
            let dt = a.scalar();
            table.slope(column, t, next, previous)? * dt
        }
        Native::TimeTableDer2 => {
            let (dt, ddt) = (a.scalar(), a.scalar());
            let d1 = table.slope(column, t, next, previous)?;
            let d2 = table.curvature(column, t, next, previous)?;
            d2 * dt * dt + d1 * ddt
        }
        _ => table.value(column, t, next, previous)?,
    })
}

/// What a table of one argument gives.
fn of_curve<T: Number>(native: Native, mut a: Arguments<'_, T>) -> Result<T, String> {
    let object = a.object()?;
    let Object::Curve(curve) = &*object else {
        return Err(wrong_class());
    };
    match native {
        Native::Table1DMin => return Ok(T::constant(curve.first())),
        Native::Table1DMax => return Ok(T::constant(curve.last())),
        _ => {}
    }
    let column = a.integer();
    let u = a.scalar();
    Ok(match native {
        Native::Table1DDer => {
            let du = a.scalar();
            curve.derivative(column, u, 1)? * du
        }
        Native::Table1DDer2 => {
            let (du, ddu) = (a.scalar(), a.scalar());
            let d1 = curve.derivative(column, u, 1)?;
            let d2 = curve.derivative(column, u, 2)?;
            d2 * du * du + d1 * ddu
        }
        _ => curve.value(column, u)?,
    })
}

/// What a table of two arguments gives.
fn of_grid<T: Number>(native: Native, mut a: Arguments<'_, T>) -> Result<Vec<T>, String> {
    let object = a.object()?;
    let Object::Grid(grid) = &*object else {
        return Err(wrong_class());
    };
    match native {
        Native::Table2DMin => return Ok(constants(grid.least())),
        Native::Table2DMax => return Ok(constants(grid.largest())),
        _ => {}
    }
    let (u1, u2) = (a.scalar(), a.scalar());
    Ok(vec![match native {
        Native::Table2DDer => {
            let (d1, d2) = (a.scalar(), a.scalar());
            grid.partial(u1, u2, 1, 0)? * d1 + grid.partial(u1, u2, 0, 1)? * d2
        }
        Native::Table2DDer2 => {
            let (d1, d2) = (a.scalar(), a.scalar());
            let (dd1, dd2) = (a.scalar(), a.scalar());
            let two = T::constant(2.0);
            let bend = grid.partial(u1, u2, 2, 0)? * d1 * d1
                + two * grid.partial(u1, u2, 1, 1)? * d1 * d2
                + grid.partial(u1, u2, 0, 2)? * d2 * d2;
            bend + grid.partial(u1, u2, 1, 0)? * dd1 + grid.partial(u1, u2, 0, 1)? * dd2
        }
        _ => grid.value(u1, u2)?,
    }])
}

fn wrong_class() -> String {
    "the external object is of another class".to_string()
}

/// The object of a constructor.
fn construct<T: Number>(native: Native, mut a: Arguments<'_, T>) -> Result<Object, String> {
    let values = a.values;
    let (file, name) = (a.text(0), a.text(1));
    let (data, shape) = a.numbers();
    // The sizes of the table follow as arguments; they are known already.
    let _ = (a.integer(), a.integer());
    let mut table = NativeMatrix {
        rows: shape.first().copied().unwrap_or(0),
        columns: shape.get(1).copied().unwrap_or(0),
        values: data,
    };
    // The table is that of the file unless one of the names says that there is none, as in the C functions.
    let given = |s: &str| !s.trim().is_empty() && s != "NoName";
    if given(file) && file::is_csv(file) {
        let lines = values.last().map_or(0.0, |v| v.value());
        table = file::read_csv(file, a.text(2), lines as usize)?;
    } else if given(file) {
        table = read_matrix(file, name)?;
    } else if given(name) {
        return Err(format!(
            "the table `{name}` of a user function is not supported"
        ));
    }
    if table.rows == 0 || table.columns == 0 {
        return Err("the table is empty".to_string());
    }
    if native == Native::Table2D {
        let smoothness = Smoothness::of(a.integer())?;
        let extrapolation = Extrapolation::of(a.integer())?;
        return Ok(Object::Grid(Grid::new(&table, smoothness, extrapolation)?));
    }
    let start = match native {
        Native::TimeTable => a.number(),
        _ => 0.0,
    };
    let (columns, _) = a.numbers();
    let columns: Vec<usize> = columns.iter().map(|&c| c as usize).collect();
    let _ = a.integer();
    let smoothness = Smoothness::of(a.integer())?;
    let extrapolation = Extrapolation::of(a.integer())?;
    let repeats = native == Native::TimeTable;
    let curve = Curve::new(&table, &columns, smoothness, extrapolation, repeats)?;
    if !repeats {
        return Ok(Object::Curve(curve));
    }
    let shift = a.number();
    let events = a.integer();
    Ok(Object::Time(TimeTable::new(curve, start, shift, events)))
}

/// Arguments taken apart by their sizes.
struct Arguments<'a, T> {
    external: &'a External,
    objects: &'a Objects,
    values: &'a [T],
    next: usize,
    shape: usize,
}

impl<'a, T: Number> Arguments<'a, T> {
    /// The next argument, row by row, with its sizes.
    fn array(&mut self) -> (&'a [T], &'a [usize]) {
        let shape: &[usize] = self.external.shapes.get(self.shape).map_or(&[], |s| s);
        self.shape += 1;
        let end = (self.next + shape.iter().product::<usize>()).min(self.values.len());
        let values = &self.values[self.next..end];
        self.next = end;
        (values, shape)
    }

    fn scalar(&mut self) -> T {
        self.array()
            .0
            .first()
            .copied()
            .unwrap_or_else(|| T::constant(f64::NAN))
    }

    fn number(&mut self) -> f64 {
        self.scalar().value()
    }

    fn integer(&mut self) -> i64 {
        self.number() as i64
    }

    /// Numbers of an array.
    fn numbers(&mut self) -> (Vec<f64>, &'a [usize]) {
        let (values, shape) = self.array();
        (values.iter().map(|v| v.value()).collect(), shape)
    }

    fn text(&self, k: usize) -> &'a str {
        self.external.texts.get(k).map_or("", |s| s)
    }

    fn object(&mut self) -> Result<Arc<Object>, String> {
        let handle = self.number();
        self.objects.get(handle)
    }
}
