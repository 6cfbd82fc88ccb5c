//! The interpreter: what the functions compute.

use super::{Condition, Function, Functions, Integer, Real, Statement};

/// Variables of a call, as in [`Real`]: x, y, r1, r2; n, m, j1, j2; v, w.
#[derive(Clone, Debug)]
struct Frame {
    reals: [f64; 4],
    integers: [i64; 4],
    vectors: [[f64; 3]; 2],
    iterators: Vec<i64>,
}

/// How a statement ends.
#[derive(PartialEq)]
enum Flow {
    On,
    Break,
    Return,
}

/// More calls than this are not worth simulating.
const CALLS: usize = 20_000;

impl Functions {
    /// All outputs of all calls at a time: y, w and the value inside an expression. Nothing if there are too many calls.
    pub(super) fn answer(&self, t: f64) -> Option<Vec<f64>> {
        let mut calls = 0;
        let mut all = Vec::new();
        for (f, x, n, v) in &self.calls {
            let mut run = Run {
                functions: &self.functions,
                t,
                calls: &mut calls,
            };
            let outside = Frame {
                reals: [0.0; 4],
                integers: [0; 4],
                vectors: [[0.0; 3]; 2],
                iterators: Vec::new(),
            };
            let x = run.real(&outside, x)?;
            let v = [
                run.real(&outside, &v[0])?,
                run.real(&outside, &v[1])?,
                run.real(&outside, &v[2])?,
            ];
            let out = run.call(*f, x, *n, v)?;
            all.push(out.reals[1]);
            all.extend(out.vectors[1]);
            all.push(2.0 * out.reals[1] + 1.0);
        }
        Some(all)
    }
}

struct Run<'c> {
    functions: &'c [Function],
    t: f64,
    calls: &'c mut usize,
}

impl Run<'_> {
    fn call(&mut self, f: usize, x: f64, n: i64, v: [f64; 3]) -> Option<Frame> {
        *self.calls += 1;
        if *self.calls > CALLS {
            return None;
        }
        let mut frame = Frame {
            reals: [x, x, 0.5, -0.25],
            integers: [n, 0, 2, 5],
            vectors: [v, v],
            iterators: Vec::new(),
        };
        let function = &self.functions[f];
        if function.recursive && n > 0 {
            // (r1, j1) := f(0.5*x + 0.1, n - 1, v)
            let inner = self.call(f, 0.5 * x + 0.1, n - 1, v)?;
            frame.reals[2] = inner.reals[1];
            frame.integers[2] = inner.integers[1];
        }
        self.block(&mut frame, &function.body)?;
        Some(frame)
    }

    fn block(&mut self, frame: &mut Frame, body: &[Statement]) -> Option<Flow> {
        for s in body {
            match self.statement(frame, s)? {
                Flow::On => {}
                other => return Some(other),
            }
        }
        Some(Flow::On)
    }

    fn statement(&mut self, frame: &mut Frame, s: &Statement) -> Option<Flow> {
        match s {
            Statement::Real(k, e) => frame.reals[*k] = self.real(frame, e)?,
            Statement::Integer(k, e) => frame.integers[*k] = self.integer(frame, e)?.rem_euclid(97),
            Statement::Element(i, e) => {
                let i = self.place(frame, i)?;
                frame.vectors[1][i] = self.real(frame, e)?;
            }
            Statement::Vector(a, b) => {
                for i in 0..3 {
                    frame.vectors[1][i] = frame.vectors[1][i] * a + b * frame.vectors[0][i];
                }
            }
            Statement::If(branches, other) => {
                for (c, body) in branches {
                    if self.condition(frame, c)? {
                        return self.block(frame, body);
                    }
                }
                return self.block(frame, other);
            }
            Statement::For(_, n, body) => {
                return self.iterate(frame, (1..=*n as i64).collect(), body);
            }
            Statement::ForIn(_, list, body) => return self.iterate(frame, list.clone(), body),
            Statement::While(_, n, c, body) => {
                let mut count = 0;
                while count < *n && self.condition(frame, c)? {
                    count += 1;
                    match self.block(frame, body)? {
                        Flow::On => {}
                        Flow::Break => break,
                        Flow::Return => return Some(Flow::Return),
                    }
                }
            }
            Statement::Break(c) => {
                if self.condition(frame, c)? {
                    return Some(Flow::Break);
                }
            }
            Statement::Return(c) => {
                if self.condition(frame, c)? {
                    return Some(Flow::Return);
                }
            }
            Statement::Outputs(f, r, j, x, n) => {
                let x = self.real(frame, x)?;
                let n = self.integer(frame, n)?.rem_euclid(4);
                let out = self.call(*f, x, n, frame.vectors[0])?;
                frame.reals[*r] = out.reals[1];
                frame.integers[*j] = out.integers[1];
                frame.vectors[1] = out.vectors[1];
            }
        }
        Some(Flow::On)
    }

    fn iterate(&mut self, frame: &mut Frame, list: Vec<i64>, body: &[Statement]) -> Option<Flow> {
        for i in list {
            frame.iterators.push(i);
            let flow = self.block(frame, body);
            frame.iterators.pop();
            match flow? {
                Flow::On => {}
                Flow::Break => break,
                Flow::Return => return Some(Flow::Return),
            }
        }
        Some(Flow::On)
    }

    /// A subscript from 0: `mod(i, 3)`.
    fn place(&mut self, frame: &Frame, i: &Integer) -> Option<usize> {
        Some(self.integer(frame, i)?.rem_euclid(3) as usize)
    }

    fn real(&mut self, frame: &Frame, e: &Real) -> Option<f64> {
        Some(match e {
            Real::Literal(x) => *x,
            Real::Variable(k) => frame.reals[*k],
            Real::Element(k, i) => {
                let i = self.place(frame, i)?;
                frame.vectors[*k][i]
            }
            Real::Time => self.t,
            Real::Binary(op, ab) => {
                let (a, b) = (self.real(frame, &ab[0])?, self.real(frame, &ab[1])?);
                match *op {
                    "+" => a + b,
                    "-" => a - b,
                    _ => a * b,
                }
            }
            Real::Quotient(ab) => {
                let (a, b) = (self.real(frame, &ab[0])?, self.real(frame, &ab[1])?);
                a / (1.0 + b * b)
            }
            Real::Call(f, a) => {
                let a = self.real(frame, a)?;
                match *f {
                    "sin" => a.sin(),
                    "cos" => a.cos(),
                    "tanh" => a.tanh(),
                    "abs" => a.abs(),
                    _ => a.abs().sqrt(),
                }
            }
            Real::Call2(f, ab) => {
                let (a, b) = (self.real(frame, &ab[0])?, self.real(frame, &ab[1])?);
                if *f == "min" { a.min(b) } else { a.max(b) }
            }
            Real::If(c, ab) => {
                let k = if self.condition(frame, c)? { 0 } else { 1 };
                self.real(frame, &ab[k])?
            }
            Real::Whole(i) => self.integer(frame, i)? as f64,
            Real::Function(f, x, n) => {
                let x = self.real(frame, x)?;
                let n = self.integer(frame, n)?.rem_euclid(4);
                self.call(*f, x, n, frame.vectors[0])?.reals[1]
            }
            Real::Sum(k) => frame.vectors[*k].iter().sum(),
        })
    }

    fn integer(&mut self, frame: &Frame, e: &Integer) -> Option<i64> {
        Some(match e {
            Integer::Literal(x) => *x,
            Integer::Variable(k) => frame.integers[*k],
            Integer::Iterator(k) => *frame.iterators.get(*k)?,
            Integer::Binary(op, ab) => {
                let (a, b) = (self.integer(frame, &ab[0])?, self.integer(frame, &ab[1])?);
                match *op {
                    "+" => a + b,
                    "-" => a - b,
                    _ => a * b,
                }
            }
            Integer::Divide(f, a, by) => {
                let a = self.integer(frame, a)?;
                match *f {
                    "mod" => a.rem_euclid(*by),
                    "div" => a / by,
                    _ => a % by,
                }
            }
            Integer::Floor(e) => {
                let x = self.real(frame, e)?;
                // Too close to a whole number to be sure in any order of evaluation, or too large.
                if (x - x.round()).abs() < 1e-9 || x.abs() > 1e6 {
                    return None;
                }
                x.floor() as i64
            }
        })
    }

    fn condition(&mut self, frame: &Frame, c: &Condition) -> Option<bool> {
        Some(match c {
            Condition::Reals(op, ab) => {
                let (a, b) = (self.real(frame, &ab[0])?, self.real(frame, &ab[1])?);
                // Equal up to rounding: nobody can say.
                if (a - b).abs() < 1e-9 {
                    return None;
                }
                compared(op, a.partial_cmp(&b)?)
            }
            Condition::Integers(op, ab) => {
                let (a, b) = (self.integer(frame, &ab[0])?, self.integer(frame, &ab[1])?);
                compared(op, a.cmp(&b))
            }
            Condition::Logical(op, ab) => {
                let (a, b) = (
                    self.condition(frame, &ab[0])?,
                    self.condition(frame, &ab[1])?,
                );
                if *op == "and" { a && b } else { a || b }
            }
            Condition::Not(c) => !self.condition(frame, c)?,
        })
    }
}

fn compared(op: &str, order: std::cmp::Ordering) -> bool {
    match op {
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        ">=" => order.is_ge(),
        "==" => order.is_eq(),
        _ => order.is_ne(),
    }
}
