//! Random functions.

use super::{Condition, Function, Functions, Integer, Real, Statement};
use crate::random::draw::Draw;

/// One model.
pub(super) fn make(draw: &mut Draw) -> Functions {
    let number = draw.size(1, 4);
    let functions: Vec<Function> = (0..number)
        .map(|k| {
            let mut maker = Maker {
                earlier: k,
                iterators: 0,
                whiles: 0,
                in_loop: false,
            };
            let length = draw.range(1, 6);
            Function {
                body: maker.block(draw, length, 2),
                recursive: draw.chance(25),
            }
        })
        .collect();
    let argument = |draw: &mut Draw| match draw.below(3) {
        0 => Real::Literal(draw.signed(0.1, 2.0)),
        1 => Real::Time,
        _ => Real::Binary(
            "+",
            Box::new([
                Real::Literal(draw.signed(0.1, 2.0)),
                Real::Call("sin", Box::new(Real::Time)),
            ]),
        ),
    };
    let calls = (0..draw.range(1, 2))
        .map(|_| {
            let f = number - 1 - draw.below(number.min(2));
            let x = argument(draw);
            let v = [argument(draw), argument(draw), argument(draw)];
            (f, x, draw.below(5) as i64, v)
        })
        .collect();
    Functions { functions, calls }
}

struct Maker {
    /// Functions that may be called.
    earlier: usize,
    /// Iterators around.
    iterators: usize,
    whiles: usize,
    in_loop: bool,
}

const RELATIONS: [&str; 6] = ["<", "<=", ">", ">=", "==", "<>"];

impl Maker {
    fn block(&mut self, draw: &mut Draw, length: usize, depth: usize) -> Vec<Statement> {
        (0..length).map(|_| self.statement(draw, depth)).collect()
    }

    fn statement(&mut self, draw: &mut Draw, depth: usize) -> Statement {
        let nested = depth > 0;
        let length = draw.range(1, 3);
        match draw.below(14) {
            0..=3 => Statement::Real(draw.range(1, 3), self.real(draw, 2)),
            4 | 5 => Statement::Integer(draw.range(1, 3), self.integer(draw, 2)),
            6 => Statement::Element(self.integer(draw, 1), self.real(draw, 2)),
            7 => Statement::Vector(draw.signed(0.1, 0.9), draw.signed(0.1, 0.9)),
            8 | 9 if nested => {
                let branches = (0..draw.range(1, 2))
                    .map(|_| (self.condition(draw, 1), self.block(draw, length, depth - 1)))
                    .collect();
                let other = if draw.chance(60) { length } else { 0 };
                Statement::If(branches, self.block(draw, other, depth - 1))
            }
            10 if nested => {
                let n = draw.range(0, 4);
                let body = self.looped(draw, length, depth, true);
                Statement::For(self.iterators, n, body)
            }
            11 if nested => {
                let list = (0..draw.range(1, 4))
                    .map(|_| draw.below(9) as i64 - 3)
                    .collect();
                let body = self.looped(draw, length, depth, true);
                Statement::ForIn(self.iterators, list, body)
            }
            12 if nested => {
                let counter = self.whiles;
                self.whiles += 1;
                let condition = self.condition(draw, 1);
                let body = self.looped(draw, length, depth, false);
                Statement::While(counter, draw.range(1, 5) as i64, condition, body)
            }
            13 if self.earlier > 0 => {
                let f = draw.below(self.earlier);
                let (x, n) = (self.real(draw, 1), self.integer(draw, 1));
                Statement::Outputs(f, draw.range(1, 3), draw.range(1, 3), x, n)
            }
            _ if self.in_loop && draw.chance(50) => Statement::Break(self.condition(draw, 1)),
            _ if draw.chance(20) => Statement::Return(self.condition(draw, 1)),
            _ => Statement::Real(draw.range(1, 3), self.real(draw, 2)),
        }
    }

    fn looped(
        &mut self,
        draw: &mut Draw,
        length: usize,
        depth: usize,
        iterator: bool,
    ) -> Vec<Statement> {
        let before = std::mem::replace(&mut self.in_loop, true);
        self.iterators += usize::from(iterator);
        let body = self.block(draw, length, depth - 1);
        self.iterators -= usize::from(iterator);
        self.in_loop = before;
        body
    }

    fn real(&mut self, draw: &mut Draw, depth: usize) -> Real {
        if depth == 0 || draw.chance(15) {
            return match draw.below(5) {
                0 => Real::Literal(draw.signed(0.1, 2.0)),
                1..=3 => Real::Variable(draw.below(4)),
                _ => Real::Sum(draw.below(2)),
            };
        }
        let mut pair = |m: &mut Maker| Box::new([m.real(draw, depth - 1), m.real(draw, depth - 1)]);
        let ab = pair(self);
        match draw.below(12) {
            0..=3 => Real::Binary(draw.word(&["+", "-", "*"]), ab),
            4 => Real::Quotient(ab),
            5 | 6 => {
                let [a, _] = *ab;
                Real::Call(
                    draw.word(&["sin", "cos", "tanh", "abs", "sqrt"]),
                    Box::new(a),
                )
            }
            7 => Real::Call2(draw.word(&["min", "max"]), ab),
            8 => Real::If(Box::new(self.condition(draw, 1)), ab),
            9 => Real::Whole(Box::new(self.integer(draw, 1))),
            10 if self.earlier > 0 => {
                let [x, _] = *ab;
                let n = Box::new(self.integer(draw, 1));
                Real::Function(draw.below(self.earlier), Box::new(x), n)
            }
            _ => Real::Element(draw.below(2), Box::new(self.integer(draw, 1))),
        }
    }

    fn integer(&mut self, draw: &mut Draw, depth: usize) -> Integer {
        if depth == 0 {
            return match draw.below(3) {
                0 => Integer::Literal(draw.below(7) as i64 - 2),
                1 if self.iterators > 0 => Integer::Iterator(draw.below(self.iterators)),
                _ => Integer::Variable(draw.below(4)),
            };
        }
        let a = self.integer(draw, depth - 1);
        match draw.below(6) {
            0..=2 => {
                let b = self.integer(draw, depth - 1);
                Integer::Binary(draw.word(&["+", "-", "*"]), Box::new([a, b]))
            }
            3 | 4 => {
                let by = draw.range(2, 7) as i64;
                Integer::Divide(draw.word(&["mod", "div", "rem"]), Box::new(a), by)
            }
            _ => Integer::Floor(Box::new(self.real(draw, 1))),
        }
    }

    fn condition(&mut self, draw: &mut Draw, depth: usize) -> Condition {
        match draw.below(6) {
            0 if depth > 0 => {
                let ab = [
                    self.condition(draw, depth - 1),
                    self.condition(draw, depth - 1),
                ];
                Condition::Logical(draw.word(&["and", "or"]), Box::new(ab))
            }
            1 if depth > 0 => Condition::Not(Box::new(self.condition(draw, depth - 1))),
            2 | 3 => {
                let ab = [self.integer(draw, 1), self.integer(draw, 1)];
                Condition::Integers(draw.word(&RELATIONS), Box::new(ab))
            }
            _ => {
                let ab = [self.real(draw, 1), self.real(draw, 1)];
                Condition::Reals(draw.word(&RELATIONS[..4]), Box::new(ab))
            }
        }
    }
}
