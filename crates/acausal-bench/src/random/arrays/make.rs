//! Random array expressions of a given shape.

use super::expr::{Expr, Sub};
use super::{Arrays, Base, Output};
use crate::random::draw::Draw;

/// One model.
pub(super) fn make(draw: &mut Draw) -> Arrays {
    let mut maker = Maker {
        shapes: Vec::new(),
        iterators: Vec::new(),
    };
    let mut bases = Vec::new();
    for _ in 0..draw.range(2, 5) {
        let dims = shape(draw);
        let n = dims.iter().product();
        let moving = draw.chance(60);
        bases.push(Base {
            constant: (0..n).map(|_| draw.signed(0.1, 3.0)).collect(),
            slope: (0..n)
                .map(|_| if moving { draw.signed(0.1, 2.0) } else { 0.0 })
                .collect(),
            dims: dims.clone(),
        });
        maker.shapes.push(dims);
    }
    let mut outputs = Vec::new();
    for _ in 0..draw.range(1, 5) {
        let dims = shape(draw);
        let depth = draw.range(1, 4);
        let expr = maker.expr(draw, &dims, depth);
        outputs.push(Output {
            dims: dims.clone(),
            expr,
            equation: draw.chance(50),
        });
        maker.shapes.push(dims);
    }
    Arrays {
        bases,
        outputs,
        named_sizes: draw.chance(30),
    }
}

fn shape(draw: &mut Draw) -> Vec<usize> {
    let rank = *draw.one(&[0, 1, 1, 1, 2, 2, 2, 3]);
    (0..rank).map(|_| draw.range(1, 4)).collect()
}

struct Maker {
    shapes: Vec<Vec<usize>>,
    /// Lengths of the iterators around.
    iterators: Vec<usize>,
}

impl Maker {
    fn expr(&mut self, draw: &mut Draw, dims: &[usize], depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf(draw, dims);
        }
        for _ in 0..20 {
            if let Some(e) = self.inner(draw, dims, depth - 1) {
                return e;
            }
        }
        self.leaf(draw, dims)
    }

    fn boxed(&mut self, draw: &mut Draw, dims: &[usize], depth: usize) -> Box<Expr> {
        Box::new(self.expr(draw, dims, depth))
    }

    fn pair(&mut self, draw: &mut Draw, a: &[usize], b: &[usize], depth: usize) -> Box<[Expr; 2]> {
        Box::new([self.expr(draw, a, depth), self.expr(draw, b, depth)])
    }

    /// An array or a part of one, or a literal.
    fn leaf(&mut self, draw: &mut Draw, dims: &[usize]) -> Expr {
        for _ in 0..10 {
            let k = draw.below(self.shapes.len());
            let have = self.shapes[k].clone();
            if have == dims && draw.chance(60) {
                return Expr::Name(k, vec![]);
            }
            if let Some(subs) = self.subscripts(draw, &have, dims) {
                return Expr::Name(k, subs);
            }
        }
        match (dims.is_empty(), self.iterators.len()) {
            (true, n) if n > 0 && draw.chance(50) => Expr::Iterator(draw.below(n)),
            (true, _) if draw.chance(20) => Expr::Time,
            _ => {
                let n = dims.iter().product();
                Expr::Literal(
                    dims.to_vec(),
                    (0..n).map(|_| draw.signed(0.1, 2.0)).collect(),
                )
            }
        }
    }

    /// Subscripts that make one shape of another.
    fn subscripts(&self, draw: &mut Draw, have: &[usize], want: &[usize]) -> Option<Vec<Sub>> {
        if have.is_empty() || have.len() < want.len() {
            return None;
        }
        // Which dimensions stay.
        let mut stay: Vec<usize> = draw.permutation(have.len());
        stay.truncate(want.len());
        stay.sort_unstable();
        let mut subs = Vec::new();
        for (d, &n) in have.iter().enumerate() {
            subs.push(match stay.iter().position(|s| *s == d) {
                Some(w) => self.slice(draw, n, want[w])?,
                None => self.single(draw, n),
            });
        }
        Some(subs)
    }

    fn single(&self, draw: &mut Draw, n: usize) -> Sub {
        if !self.iterators.is_empty() && draw.chance(60) {
            let k = draw.below(self.iterators.len());
            if self.iterators[k] <= n {
                return Sub::Iterator(k, draw.below(n - self.iterators[k] + 1) as isize);
            }
        }
        match draw.chance(25) {
            true => Sub::End(draw.below(n)),
            false => Sub::One(draw.range(1, n)),
        }
    }

    fn slice(&self, draw: &mut Draw, n: usize, want: usize) -> Option<Sub> {
        if want == n && draw.chance(50) {
            return Some(Sub::All);
        }
        match draw.below(3) {
            0 if want <= n => {
                let a = draw.range(1, n - want + 1);
                Some(Sub::Range(a, a + want - 1))
            }
            1 if want <= n && want > 1 => {
                let step = draw.range(1, (n - 1) / (want - 1)) as isize;
                let span = step as usize * (want - 1);
                let a = draw.range(1, n - span);
                Some(match draw.chance(50) {
                    true => Sub::Stepped(a, step, a + span),
                    false => Sub::Stepped(a + span, -step, a),
                })
            }
            _ => Some(Sub::Vector((0..want).map(|_| draw.range(1, n)).collect())),
        }
    }

    fn inner(&mut self, draw: &mut Draw, dims: &[usize], depth: usize) -> Option<Expr> {
        let any = draw.range(1, 4);
        match (draw.below(26), dims) {
            (0..=3, _) => {
                let op = draw.word(&["+", "-", ".*"]);
                Some(Expr::Elementwise(op, self.pair(draw, dims, dims, depth)))
            }
            (4, _) => Some(Expr::Scaled(self.pair(draw, &[], dims, depth))),
            (5, _) => {
                let by = draw.signed(0.5, 3.0);
                Some(Expr::Divided(self.boxed(draw, dims, depth), by))
            }
            (6, _) => Some(Expr::Negated(self.boxed(draw, dims, depth))),
            (7 | 8, []) => Some(Expr::Product(self.pair(draw, &[any], &[any], depth))),
            (7 | 8, [n]) => Some(Expr::Product(match draw.chance(50) {
                true => self.pair(draw, &[*n, any], &[any], depth),
                false => self.pair(draw, &[any], &[any, *n], depth),
            })),
            (7 | 8, [n, m]) => Some(Expr::Product(self.pair(
                draw,
                &[*n, any],
                &[any, *m],
                depth,
            ))),
            (9, [n, m]) => Some(Expr::Transpose(self.boxed(draw, &[*m, *n], depth))),
            (10 | 11, [n, rest @ ..]) => Some(Expr::Array(
                (0..*n).map(|_| self.expr(draw, rest, depth)).collect(),
            )),
            (12 | 13, [n, rest @ ..]) if *n > 1 && rest.len() < 2 => {
                let d = if rest.is_empty() || draw.chance(50) {
                    0
                } else {
                    1
                };
                if dims[d] < 2 {
                    return None;
                }
                let first = draw.range(1, dims[d] - 1);
                let parts = [first, dims[d] - first].map(|length| {
                    let mut part = dims.to_vec();
                    part[d] = length;
                    self.expr(draw, &part, depth)
                });
                Some(match rest.len() == 1 && draw.chance(50) {
                    true => Expr::Brackets(d + 1, parts.to_vec()),
                    false => Expr::Cat(d + 1, parts.to_vec()),
                })
            }
            (14 | 15, [n, rest @ ..]) => {
                self.iterators.push(*n);
                let body = self.boxed(draw, rest, depth);
                self.iterators.pop();
                Some(Expr::Comprehension(self.iterators.len(), *n, body))
            }
            (16 | 17, []) => {
                let op = draw.word(&["sum", "product", "max", "min"]);
                let of = shape(draw);
                (!of.is_empty()).then(|| Expr::Reduction(op, self.boxed(draw, &of, depth)))
            }
            (18 | 19, []) => {
                let op = draw.word(&["sum", "product", "max", "min"]);
                self.iterators.push(any);
                let body = self.boxed(draw, &[], depth);
                self.iterators.pop();
                Some(Expr::Over(op, self.iterators.len(), any, body))
            }
            (20, _) => {
                let f = draw.word(&["sin", "cos", "tanh", "atan", "abs"]);
                Some(Expr::Mapped(f, self.boxed(draw, dims, depth)))
            }
            (21, [_, ..]) => {
                let value = match draw.below(3) {
                    0 => Expr::Literal(vec![], vec![draw.below(2) as f64]),
                    _ => self.expr(draw, &[], depth),
                };
                Some(Expr::Fill(Box::new(value), dims.to_vec()))
            }
            (22, [n]) if *n > 1 => Some(Expr::Linspace(
                draw.real(-1.0, 0.0),
                draw.real(0.5, 2.0),
                *n,
            )),
            (22, [n, m]) if n == m => Some(match draw.below(3) {
                0 => Expr::Identity(*n),
                1 => Expr::Diagonal(self.boxed(draw, &[*n], depth)),
                _ => Expr::Symmetric(self.boxed(draw, &[*n, *n], depth)),
            }),
            (23, [3]) => Some(Expr::Cross(self.pair(draw, &[3], &[3], depth))),
            (23, [3, 3]) => Some(Expr::Skew(self.boxed(draw, &[3], depth))),
            (23, [n, m]) => Some(Expr::Outer(self.pair(draw, &[*n], &[*m], depth))),
            (24, [n]) => Some(Expr::Vector(self.boxed(draw, &[*n, 1], depth))),
            (24, [n, 1]) => Some(Expr::Matrix(self.boxed(draw, &[*n], depth))),
            (25, _) => {
                let at = *draw.one(&[0.1, 0.4, 0.6, 0.9]);
                Some(Expr::If(at, self.pair(draw, dims, dims, depth)))
            }
            _ => None,
        }
    }
}
