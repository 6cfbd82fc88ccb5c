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
//! | arguments, calls, constructors | `call` |
//! | the objects of a simulation | [`Objects`] in `objects` |
//! | curves through points, extrapolation | `curve` |
//! | tables over time with events | `time_table` |
//! | tables of two arguments | `grid` |
//! | tables in text and MAT files | [`file`] |
//! | random numbers | `random` |
//! | strings | [`strings`] |
//! | small linear systems | `linear` |
//! | Fourier transform | `fourier` |

mod call;
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

use serde::{Deserialize, Serialize};

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

/// A matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct NativeMatrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Elements, row by row.
    pub values: Vec<f64>,
}

impl NativeMatrix {
    /// An element, from zero.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    /// A column, from zero.
    fn column(&self, k: usize) -> Vec<f64> {
        (0..self.rows).map(|i| self.at(i, k)).collect()
    }
}
