//! Affine integer expressions of iterators: `c0 + c1*i1 + c2*i2 + ...`.
//!
//! Subscripts of this form keep arrays whole: the access is an address with constant strides.

use crate::{ExprId, Exprs, IterId, Node};

/// `constant + sum(coefficient * iterator)`; iterators ascending, coefficients not zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Affine {
    /// The constant part.
    pub constant: i64,
    /// Iterators and their coefficients.
    pub terms: Vec<(IterId, i64)>,
}

impl Affine {
    fn add(mut self, other: &Affine, factor: i64) -> Affine {
        self.constant += factor * other.constant;
        for &(i, c) in &other.terms {
            match self.terms.binary_search_by_key(&i, |t| t.0) {
                Ok(k) => {
                    self.terms[k].1 += factor * c;
                    if self.terms[k].1 == 0 {
                        self.terms.remove(k);
                    }
                }
                Err(k) => self.terms.insert(k, (i, factor * c)),
            }
        }
        self.terms.retain(|t| t.1 != 0);
        self
    }

    /// The coefficient of an iterator.
    pub fn coefficient(&self, i: IterId) -> i64 {
        self.terms.iter().find(|t| t.0 == i).map_or(0, |t| t.1)
    }
}

impl Exprs {
    /// The affine form of an integer expression, if it has one.
    pub fn affine(&self, e: ExprId) -> Option<Affine> {
        match self.node(e) {
            Node::Int(c) => Some(Affine {
                constant: c,
                terms: vec![],
            }),
            Node::Real(r) if f64::from_bits(r).fract() == 0.0 => Some(Affine {
                constant: f64::from_bits(r) as i64,
                terms: vec![],
            }),
            Node::Iter(i) => Some(Affine {
                constant: 0,
                terms: vec![(i, 1)],
            }),
            Node::Add(l) => self.list(l).iter().try_fold(Affine::default(), |acc, &t| {
                Some(acc.add(&self.affine(t)?, 1))
            }),
            Node::Mul(l) => {
                let members = self.list(l);
                let (&first, rest) = members.split_first()?;
                let factor = self.as_int(first)?;
                match rest {
                    [only] => Some(Affine::default().add(&self.affine(*only)?, factor)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
