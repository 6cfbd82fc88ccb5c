//! Exact integers of growing width behind one interface: the elimination runs with `i64`, and again with `i128` or
//! [`BigInt`] if an intermediate value does not fit.

use num_bigint::BigInt;

/// An intermediate value did not fit; try the next wider type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

/// What elimination needs of an integer type. Overflow is an error, never a wrong value.
pub trait Scalar: Clone + Ord + std::fmt::Debug {
    /// From input.
    fn from_i64(x: i64) -> Self;
    /// For output.
    fn to_big(&self) -> BigInt;
    /// Whether it is 0.
    fn is_zero(&self) -> bool;
    /// Whether it is 1 or -1.
    fn is_unit(&self) -> bool;
    /// Whether it is less than 0.
    fn is_negative(&self) -> bool;
    /// -x.
    fn neg(&self) -> Result<Self, Overflow>;
    /// x * y.
    fn mul(&self, y: &Self) -> Result<Self, Overflow>;
    /// x - y.
    fn sub(&self, y: &Self) -> Result<Self, Overflow>;
    /// x / y, where y is not zero and divides x.
    fn div_exact(&self, y: &Self) -> Self;
    /// The remainder of x / y, y not zero.
    fn rem(&self, y: &Self) -> Self;

    /// Greatest common divisor, not negative.
    fn gcd(&self, y: &Self) -> Result<Self, Overflow> {
        let (mut a, mut b) = (self.clone(), y.clone());
        while !b.is_zero() {
            (a, b) = (b.clone(), a.rem(&b));
        }
        if a.is_negative() { a.neg() } else { Ok(a) }
    }
}

macro_rules! machine {
    ($t:ty) => {
        impl Scalar for $t {
            fn from_i64(x: i64) -> Self {
                <$t>::from(x)
            }
            fn to_big(&self) -> BigInt {
                BigInt::from(*self)
            }
            fn is_zero(&self) -> bool {
                *self == 0
            }
            fn is_unit(&self) -> bool {
                *self == 1 || *self == -1
            }
            fn is_negative(&self) -> bool {
                *self < 0
            }
            fn neg(&self) -> Result<Self, Overflow> {
                self.checked_neg().ok_or(Overflow)
            }
            fn mul(&self, y: &Self) -> Result<Self, Overflow> {
                self.checked_mul(*y).ok_or(Overflow)
            }
            fn sub(&self, y: &Self) -> Result<Self, Overflow> {
                self.checked_sub(*y).ok_or(Overflow)
            }
            fn div_exact(&self, y: &Self) -> Self {
                self.wrapping_div(*y)
            }
            fn rem(&self, y: &Self) -> Self {
                self.wrapping_rem(*y)
            }
        }
    };
}

machine!(i64);
machine!(i128);

impl Scalar for BigInt {
    fn from_i64(x: i64) -> Self {
        BigInt::from(x)
    }
    fn to_big(&self) -> BigInt {
        self.clone()
    }
    fn is_zero(&self) -> bool {
        *self == BigInt::ZERO
    }
    fn is_unit(&self) -> bool {
        self.magnitude() == &num_bigint::BigUint::from(1u8)
    }
    fn is_negative(&self) -> bool {
        *self < BigInt::ZERO
    }
    fn neg(&self) -> Result<Self, Overflow> {
        Ok(-self)
    }
    fn mul(&self, y: &Self) -> Result<Self, Overflow> {
        Ok(self * y)
    }
    fn sub(&self, y: &Self) -> Result<Self, Overflow> {
        Ok(self - y)
    }
    fn div_exact(&self, y: &Self) -> Self {
        self / y
    }
    fn rem(&self, y: &Self) -> Self {
        self % y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflow_is_reported() {
        assert_eq!(i64::MAX.mul(&2), Err(Overflow));
        assert_eq!(i64::MIN.neg(), Err(Overflow));
        assert_eq!(i64::MIN.gcd(&0), Err(Overflow));
        assert_eq!(12i64.gcd(&-18), Ok(6));
        assert_eq!(
            BigInt::from(i64::MIN).gcd(&BigInt::ZERO),
            Ok(-BigInt::from(i64::MIN))
        );
    }
}
