//! Numbers that carry derivatives: `f64`, and duals over any number.
//!
//! [`Dual<T>`] is `re + du*ε` with `ε² = 0`. A dual over duals has several independent `ε`s, so derivatives of any order
//! come from nesting: the coefficient of `ε1*ε2` of `f(x + ε1 + ε2)` is the second derivative (Griewank & Walther,
//! *Evaluating Derivatives*, 2008, §13). Each rule is written once, in terms of the numbers below.

use std::ops::{Add, Mul, Neg, Sub};

use crate::{Builtin, apply_builtin};

/// A number with or without derivatives.
pub(crate) trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    /// Number of coefficients, a power of two.
    const COEFFICIENTS: usize;
    /// A constant.
    fn constant(v: f64) -> Self;
    /// The value without derivatives.
    fn value(self) -> f64;
    /// Value and derivatives are all zero.
    fn is_zero(self) -> bool;
    /// `self / other`
    fn div(self, other: Self) -> Self;
    /// `self ^ other`
    fn pow(self, other: Self) -> Self;
    /// A mathematical function of one argument; `None` for those that are not.
    fn unary(self, f: Builtin) -> Option<Self>;
    /// `atan2(self, x)`
    fn atan2(self, x: Self) -> Self;
    /// Appends the coefficients: those without the outermost `ε` first.
    fn coefficients(self, out: &mut Vec<f64>);
    /// The inverse of [`Number::coefficients`]; missing ones are zero.
    fn from_coefficients(c: &[f64]) -> Self;
}

impl Number for f64 {
    const COEFFICIENTS: usize = 1;
    fn constant(v: f64) -> f64 {
        v
    }
    fn value(self) -> f64 {
        self
    }
    fn is_zero(self) -> bool {
        self == 0.0
    }
    fn div(self, other: f64) -> f64 {
        self / other
    }
    fn pow(self, other: f64) -> f64 {
        self.powf(other)
    }
    fn unary(self, f: Builtin) -> Option<f64> {
        apply_builtin(f, &[self])
    }
    fn atan2(self, x: f64) -> f64 {
        f64::atan2(self, x)
    }
    fn coefficients(self, out: &mut Vec<f64>) {
        out.push(self);
    }
    fn from_coefficients(c: &[f64]) -> f64 {
        c.first().copied().unwrap_or(0.0)
    }
}

/// `re + du*ε`
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dual<T> {
    re: T,
    du: T,
}

impl<T: Number> Add for Dual<T> {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Dual {
            re: self.re + o.re,
            du: self.du + o.du,
        }
    }
}

impl<T: Number> Sub for Dual<T> {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Dual {
            re: self.re - o.re,
            du: self.du - o.du,
        }
    }
}

impl<T: Number> Mul for Dual<T> {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Dual {
            re: self.re * o.re,
            du: self.re * o.du + self.du * o.re,
        }
    }
}

impl<T: Number> Neg for Dual<T> {
    type Output = Self;
    fn neg(self) -> Self {
        Dual {
            re: -self.re,
            du: -self.du,
        }
    }
}

impl<T: Number> Dual<T> {
    /// `f(self)` from `f(re)` and `f'(re)`. A zero derivative part stays zero even where `f'` is infinite.
    fn chain(self, value: T, slope: T) -> Self {
        let du = if self.du.is_zero() {
            T::constant(0.0)
        } else {
            slope * self.du
        };
        Dual { re: value, du }
    }
}

impl<T: Number> Number for Dual<T> {
    const COEFFICIENTS: usize = 2 * T::COEFFICIENTS;

    fn constant(v: f64) -> Self {
        Dual {
            re: T::constant(v),
            du: T::constant(0.0),
        }
    }

    fn value(self) -> f64 {
        self.re.value()
    }

    fn is_zero(self) -> bool {
        self.re.is_zero() && self.du.is_zero()
    }

    fn div(self, o: Self) -> Self {
        let re = self.re.div(o.re);
        Dual {
            re,
            du: (self.du - re * o.du).div(o.re),
        }
    }

    fn pow(self, o: Self) -> Self {
        let re = self.re.pow(o.re);
        let mut du = T::constant(0.0);
        // Zero exponents and constant exponents are taken out, so that 0^0 and log(0) do not spoil a finite result.
        if !o.re.is_zero() && !self.du.is_zero() {
            du = du + o.re * self.re.pow(o.re - T::constant(1.0)) * self.du;
        }
        if !o.du.is_zero()
            && let Some(log) = self.re.unary(Builtin::Log)
        {
            du = du + re * log * o.du;
        }
        Dual { re, du }
    }

    fn unary(self, f: Builtin) -> Option<Self> {
        let one = T::constant(1.0);
        let x = self.re;
        let y = x.unary(f)?;
        let slope = match f {
            Builtin::Abs => T::constant(if x.value() >= 0.0 { 1.0 } else { -1.0 }),
            Builtin::Sqrt => T::constant(0.5).div(y),
            Builtin::Sin => x.unary(Builtin::Cos)?,
            Builtin::Cos => -x.unary(Builtin::Sin)?,
            Builtin::Tan => one + y * y,
            Builtin::Asin => one.div((one - x * x).unary(Builtin::Sqrt)?),
            Builtin::Acos => -one.div((one - x * x).unary(Builtin::Sqrt)?),
            Builtin::Atan => one.div(one + x * x),
            Builtin::Sinh => x.unary(Builtin::Cosh)?,
            Builtin::Cosh => x.unary(Builtin::Sinh)?,
            Builtin::Tanh => one - y * y,
            Builtin::Exp => y,
            Builtin::Log => one.div(x),
            Builtin::Log10 => one.div(x * T::constant(std::f64::consts::LN_10)),
            // Piecewise constant.
            Builtin::Sign | Builtin::Floor | Builtin::Ceil | Builtin::Integer => T::constant(0.0),
            _ => return None,
        };
        Some(self.chain(y, slope))
    }

    fn atan2(self, o: Self) -> Self {
        let r2 = self.re * self.re + o.re * o.re;
        let du = (o.re * self.du - self.re * o.du).div(r2);
        Dual {
            re: self.re.atan2(o.re),
            du,
        }
    }

    fn coefficients(self, out: &mut Vec<f64>) {
        self.re.coefficients(out);
        self.du.coefficients(out);
    }

    fn from_coefficients(c: &[f64]) -> Self {
        let (re, du) = c.split_at(c.len().min(T::COEFFICIENTS));
        Dual {
            re: T::from_coefficients(re),
            du: T::from_coefficients(du),
        }
    }
}
