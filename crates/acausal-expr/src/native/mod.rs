//! Functions that Modelica code declares as `external` and that are provided here (MLS 3.6 §12.9): tables, strings, random
//! numbers. Behaviour follows that of the C functions of the same names that come with the Modelica Standard Library 4.1.
//!
//! In: the function, its String arguments (part of the program), the sizes of its array arguments and all other arguments
//! as scalars, row by row. Out: the scalar outputs in order of declaration.
//!
//! Everything is written over `Number`, so a table is differentiated like any other function: the piece is chosen by the
//! value and evaluated on numbers that carry derivatives. The derivative functions that libraries declare for their
//! tables give the same values.
//!
//! An *external object* (MLS 3.6 §12.9.7) is a number: its place among the [`Objects`] of a simulation, which every call is given.
//!
//! | what | module |
//! |---|---|
//! | the objects of a simulation | [`Objects`] in `objects` |
//! | curves through points, extrapolation | `curve` |
//! | tables over time with events | `time_table` |
//! | tables of two arguments | `grid` |
//! | tables in text and MAT files | [`file`] |
//! | random numbers | `random` |
//! | strings | [`strings`] |
//! | small linear systems | `linear` |
//! | Fourier transform | `fourier` |

mod curve;
mod file;
mod fourier;
mod grid;
mod linear;
mod objects;
mod random;
pub mod strings;
mod time_table;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::run_function::Number;

use curve::{Curve, Extrapolation, Smoothness};
use grid::Grid;
use objects::Object;
use time_table::TimeTable;

pub use file::{matrix_size, read_matrix};
pub use objects::Objects;

macro_rules! natives {
    ($($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)?) => {
        /// A function that is provided natively.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[allow(missing_docs)]
        pub enum Native { $($(#[$doc])* $variant),* }

        impl Native {
            /// By the name of the C function.
            pub fn from_name(name: &str) -> Option<Native> {
                match name { $($name => Some(Native::$variant),)* _ => None }
            }
        }
    };
}

natives! {
    TimeTable = "ModelicaStandardTables_CombiTimeTable_init3",
    TimeTableValue = "ModelicaStandardTables_CombiTimeTable_getValue",
    TimeTableDer = "ModelicaStandardTables_CombiTimeTable_getDerValue",
    TimeTableDer2 = "ModelicaStandardTables_CombiTimeTable_getDer2Value",
    TimeTableMin = "ModelicaStandardTables_CombiTimeTable_minimumTime",
    TimeTableMax = "ModelicaStandardTables_CombiTimeTable_maximumTime",
    TimeTableEvent = "ModelicaStandardTables_CombiTimeTable_nextTimeEvent",
    Table1D = "ModelicaStandardTables_CombiTable1D_init3",
    Table1DValue = "ModelicaStandardTables_CombiTable1D_getValue",
    Table1DDer = "ModelicaStandardTables_CombiTable1D_getDerValue",
    Table1DDer2 = "ModelicaStandardTables_CombiTable1D_getDer2Value",
    Table1DMin = "ModelicaStandardTables_CombiTable1D_minimumAbscissa",
    Table1DMax = "ModelicaStandardTables_CombiTable1D_maximumAbscissa",
    Table2D = "ModelicaStandardTables_CombiTable2D_init3",
    Table2DValue = "ModelicaStandardTables_CombiTable2D_getValue",
    Table2DDer = "ModelicaStandardTables_CombiTable2D_getDerValue",
    Table2DDer2 = "ModelicaStandardTables_CombiTable2D_getDer2Value",
    Table2DMin = "ModelicaStandardTables_CombiTable2D_minimumAbscissa",
    Table2DMax = "ModelicaStandardTables_CombiTable2D_maximumAbscissa",
    Xorshift64 = "ModelicaRandom_xorshift64star",
    Xorshift128 = "ModelicaRandom_xorshift128plus",
    Xorshift1024 = "ModelicaRandom_xorshift1024star",
    ReadMatrix = "ModelicaIO_readRealMatrix",
    MatrixSizes = "ModelicaIO_readMatrixSizes",
    Solve = "dgesv",
    Factorise = "dgetrf",
    SolveFactorised = "dgetrs",
    Invert = "dgetri",
    LeastSquares = "dgelsy",
    Fourier = "ModelicaFFT_kiss_fftr",
}

impl Native {
    /// The function constructs an external object: what it gives is a number that means something to one simulation only.
    pub fn is_constructor(self) -> bool {
        matches!(self, Native::TimeTable | Native::Table1D | Native::Table2D)
    }

    /// The arguments of the C function name work arrays and overwrite inputs: the function is called with the inputs of its
    /// Modelica declaration instead, and gives the outputs in the order of their declaration.
    pub fn takes_declared_inputs(self) -> bool {
        matches!(
            self,
            Native::Solve
                | Native::Factorise
                | Native::SolveFactorised
                | Native::Invert
                | Native::LeastSquares
                | Native::Fourier
        )
    }
}

/// A native function with what is known of its arguments at compile time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct External {
    /// The function.
    pub native: Native,
    /// String arguments, in order.
    pub texts: Vec<String>,
    /// Sizes of the other arguments, in order; empty for a scalar.
    pub shapes: Vec<Vec<usize>>,
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
        let mut a = self.arguments(values, objects);
        let wrong = || "the external object is of another class".to_string();
        Ok(match self.native {
            Native::TimeTable | Native::Table1D | Native::Table2D => {
                let bits = values.iter().map(|v| v.value().to_bits()).collect();
                let handle = objects.construct(self, bits, || self.build(a))?;
                vec![T::constant(handle)]
            }
            Native::TimeTableValue | Native::TimeTableDer | Native::TimeTableDer2 => {
                let object = a.object()?;
                let Object::Time(table) = &*object else {
                    return Err(wrong());
                };
                let column = a.integer();
                let t = a.scalar();
                let (next, previous) = (a.number(), a.number());
                let y = table.value(column, t, next, previous)?;
                match self.native {
                    Native::TimeTableValue => vec![y],
                    // The derivative functions get the derivatives of their argument as further arguments.
                    Native::TimeTableDer => {
                        let dt = a.scalar();
                        vec![table.slope(column, t, next, previous)? * dt]
                    }
                    _ => {
                        let (dt, ddt) = (a.scalar(), a.scalar());
                        let (d1, d2) = (
                            table.slope(column, t, next, previous)?,
                            table.curvature(column, t, next, previous)?,
                        );
                        vec![d2 * dt * dt + d1 * ddt]
                    }
                }
            }
            Native::TimeTableMin | Native::TimeTableMax | Native::TimeTableEvent => {
                let object = a.object()?;
                let Object::Time(table) = &*object else {
                    return Err(wrong());
                };
                let value = match self.native {
                    Native::TimeTableMin => table.curve.first(),
                    Native::TimeTableMax => table.curve.last(),
                    _ => table.next_event(a.number())?,
                };
                vec![T::constant(value)]
            }
            Native::Table1DValue | Native::Table1DDer | Native::Table1DDer2 => {
                let object = a.object()?;
                let Object::Curve(curve) = &*object else {
                    return Err(wrong());
                };
                let column = a.integer();
                let u = a.scalar();
                match self.native {
                    Native::Table1DValue => vec![curve.value(column, u)?],
                    Native::Table1DDer => {
                        let du = a.scalar();
                        vec![curve.derivative(column, u, 1)? * du]
                    }
                    _ => {
                        let (du, ddu) = (a.scalar(), a.scalar());
                        let d1 = curve.derivative(column, u, 1)?;
                        let d2 = curve.derivative(column, u, 2)?;
                        vec![d2 * du * du + d1 * ddu]
                    }
                }
            }
            Native::Table1DMin | Native::Table1DMax => {
                let object = a.object()?;
                let Object::Curve(curve) = &*object else {
                    return Err(wrong());
                };
                let value = match self.native {
                    Native::Table1DMin => curve.first(),
                    _ => curve.last(),
                };
                vec![T::constant(value)]
            }
            Native::Table2DValue | Native::Table2DDer | Native::Table2DDer2 => {
                let object = a.object()?;
                let Object::Grid(grid) = &*object else {
                    return Err(wrong());
                };
                let (u1, u2) = (a.scalar(), a.scalar());
                match self.native {
                    Native::Table2DValue => vec![grid.value(u1, u2)?],
                    Native::Table2DDer => {
                        let (d1, d2) = (a.scalar(), a.scalar());
                        vec![grid.partial(u1, u2, 1, 0)? * d1 + grid.partial(u1, u2, 0, 1)? * d2]
                    }
                    _ => {
                        let (d1, d2) = (a.scalar(), a.scalar());
                        let (dd1, dd2) = (a.scalar(), a.scalar());
                        let two = T::constant(2.0);
                        let bend = grid.partial(u1, u2, 2, 0)? * d1 * d1
                            + two * grid.partial(u1, u2, 1, 1)? * d1 * d2
                            + grid.partial(u1, u2, 0, 2)? * d2 * d2;
                        vec![
                            bend + grid.partial(u1, u2, 1, 0)? * dd1
                                + grid.partial(u1, u2, 0, 1)? * dd2,
                        ]
                    }
                }
            }
            Native::Table2DMin | Native::Table2DMax => {
                let object = a.object()?;
                let Object::Grid(grid) = &*object else {
                    return Err(wrong());
                };
                let corner = match self.native {
                    Native::Table2DMin => grid.least(),
                    _ => grid.largest(),
                };
                corner.iter().map(|&v| T::constant(v)).collect()
            }
            Native::Xorshift64 | Native::Xorshift128 | Native::Xorshift1024 => {
                let (state, _) = a.numbers();
                let out = match self.native {
                    Native::Xorshift64 => random::xorshift64star(&state),
                    Native::Xorshift128 => random::xorshift128plus(&state),
                    _ => random::xorshift1024star(&state),
                };
                out.into_iter().map(T::constant).collect()
            }
            Native::ReadMatrix => {
                let table = read_matrix(a.text(0), a.text(1))?;
                table.values.into_iter().map(T::constant).collect()
            }
            Native::MatrixSizes => {
                let (rows, columns) = matrix_size(a.text(0), a.text(1))?;
                vec![T::constant(rows as f64), T::constant(columns as f64)]
            }
            Native::Solve => linear::dgesv(a.array(), a.array()),
            Native::Factorise => linear::dgetrf(a.array()),
            Native::SolveFactorised => linear::dgetrs(a.array(), a.array(), Some(a.array())),
            Native::Invert => linear::dgetrs(a.array(), a.array(), None),
            Native::LeastSquares => {
                let (matrix, right) = (a.array(), a.array());
                linear::dgelsy(matrix, right, a.number())
            }
            Native::Fourier => fourier::real_transform(a.array().0),
        })
    }

    fn arguments<'a, T>(&'a self, values: &'a [T], objects: &'a Objects) -> Arguments<'a, T> {
        Arguments {
            external: self,
            objects,
            values,
            next: 0,
            shape: 0,
        }
    }

    /// The object of a constructor.
    fn build<T: Number>(&self, mut a: Arguments<'_, T>) -> Result<Object, String> {
        let values = a.values;
        let (file, name) = (a.text(0), a.text(1));
        let (data, shape) = a.numbers();
        // The sizes of the table follow as arguments; they are known already.
        let _ = (a.integer(), a.integer());
        let mut table = Matrix {
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
        if self.native == Native::Table2D {
            let smoothness = Smoothness::of(a.integer())?;
            let extrapolation = Extrapolation::of(a.integer())?;
            return Ok(Object::Grid(Grid::new(&table, smoothness, extrapolation)?));
        }
        let start = match self.native {
            Native::TimeTable => a.number(),
            _ => 0.0,
        };
        let (columns, _) = a.numbers();
        let columns: Vec<usize> = columns.iter().map(|&c| c as usize).collect();
        let _ = a.integer();
        let smoothness = Smoothness::of(a.integer())?;
        let extrapolation = Extrapolation::of(a.integer())?;
        let repeats = self.native == Native::TimeTable;
        let curve = Curve::new(&table, &columns, smoothness, extrapolation, repeats)?;
        if !repeats {
            return Ok(Object::Curve(curve));
        }
        let shift = a.number();
        let events = a.integer();
        Ok(Object::Time(TimeTable::new(curve, start, shift, events)))
    }
}

/// A matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Elements, row by row.
    pub values: Vec<f64>,
}

impl Matrix {
    /// An element, from zero.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    /// A column, from zero.
    fn column(&self, k: usize) -> Vec<f64> {
        (0..self.rows).map(|i| self.at(i, k)).collect()
    }
}
