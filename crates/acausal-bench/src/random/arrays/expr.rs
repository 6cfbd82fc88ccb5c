//! Array expressions: their values and their text.

use super::{Arrays, name, nested};
use crate::random::draw::number;

/// An array of any rank, the last subscript fastest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    pub(super) dims: Vec<usize>,
    pub(super) data: Vec<f64>,
}

/// A subscript, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Sub {
    One(usize),
    /// `end - k`.
    End(usize),
    /// An iterator plus a number.
    Iterator(usize, isize),
    All,
    Range(usize, usize),
    /// First, step, last.
    Stepped(usize, isize, usize),
    Vector(Vec<usize>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    /// An array by number, with subscripts.
    Name(usize, Vec<Sub>),
    Literal(Vec<usize>, Vec<f64>),
    Iterator(usize),
    Time,
    /// `+`, `-`, `.*` of equal shapes.
    Elementwise(&'static str, Box<[Expr; 2]>),
    /// A scalar times an array.
    Scaled(Box<[Expr; 2]>),
    Divided(Box<Expr>, f64),
    Negated(Box<Expr>),
    /// `*` of vectors and matrices.
    Product(Box<[Expr; 2]>),
    Transpose(Box<Expr>),
    /// `{a, b, ...}`.
    Array(Vec<Expr>),
    /// `cat(dimension, ...)`.
    Cat(usize, Vec<Expr>),
    /// `[a, b]` (2) or `[a; b]` (1) of matrices.
    Brackets(usize, Vec<Expr>),
    /// `{body for i in 1:n}`, with the number of the iterator.
    Comprehension(usize, usize, Box<Expr>),
    /// `sum`, `product`, `max`, `min` of an array.
    Reduction(&'static str, Box<Expr>),
    /// The same of `(body for i in 1:n)`.
    Over(&'static str, usize, usize, Box<Expr>),
    /// A function of each element.
    Mapped(&'static str, Box<Expr>),
    Fill(Box<Expr>, Vec<usize>),
    Identity(usize),
    Linspace(f64, f64, usize),
    Diagonal(Box<Expr>),
    Outer(Box<[Expr; 2]>),
    Cross(Box<[Expr; 2]>),
    Skew(Box<Expr>),
    Symmetric(Box<Expr>),
    /// `vector` of a matrix with one column.
    Vector(Box<Expr>),
    /// `matrix` of a vector.
    Matrix(Box<Expr>),
    /// `if time > t then a else b`.
    If(f64, Box<[Expr; 2]>),
}

use Expr::{
    Array, Brackets, Cat, Comprehension, Cross, Diagonal, Divided, Elementwise, Fill, Identity, If,
    Iterator, Linspace, Literal, Mapped, Matrix, Name, Negated, Outer, Over, Product, Reduction,
    Scaled, Skew, Symmetric, Time, Transpose, Vector,
};

fn scalar(x: f64) -> Value {
    Value {
        dims: vec![],
        data: vec![x],
    }
}

impl Value {
    fn map(mut self, f: impl Fn(f64) -> f64) -> Value {
        self.data.iter_mut().for_each(|x| *x = f(*x));
        self
    }

    /// Rows, columns.
    fn size(&self) -> (usize, usize) {
        (self.dims[0], self.dims[1])
    }

    fn matrix(rows: usize, columns: usize, f: impl Fn(usize, usize) -> f64) -> Value {
        let data = (0..rows * columns)
            .map(|k| f(k / columns, k % columns))
            .collect();
        Value {
            dims: vec![rows, columns],
            data,
        }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.dims[1] + j]
    }

    fn subscripted(&self, subs: &[Sub], iterators: &[usize]) -> Value {
        let mut dims = Vec::new();
        let mut lists: Vec<Vec<usize>> = Vec::new();
        for (sub, n) in subs.iter().zip(&self.dims) {
            let list = sub.places(*n, iterators);
            if !matches!(sub, Sub::One(_) | Sub::End(_) | Sub::Iterator(..)) {
                dims.push(list.len());
            }
            lists.push(list);
        }
        let mut places = vec![0];
        for (list, n) in lists.iter().zip(&self.dims) {
            places = places
                .iter()
                .flat_map(|p| list.iter().map(move |i| p * n + (i - 1)))
                .collect();
        }
        Value {
            dims,
            data: places.into_iter().map(|p| self.data[p]).collect(),
        }
    }
}

impl Sub {
    fn places(&self, n: usize, iterators: &[usize]) -> Vec<usize> {
        match self {
            Sub::One(i) => vec![*i],
            Sub::End(k) => vec![n - k],
            Sub::Iterator(k, d) => vec![(iterators[*k] as isize + d) as usize],
            Sub::All => (1..=n).collect(),
            Sub::Range(a, b) => (*a..=*b).collect(),
            Sub::Stepped(a, s, b) => {
                let (mut i, mut all) = (*a as isize, Vec::new());
                while (*s > 0 && i <= *b as isize) || (*s < 0 && i >= *b as isize) {
                    all.push(i as usize);
                    i += s;
                }
                all
            }
            Sub::Vector(v) => v.clone(),
        }
    }

    fn text(&self) -> String {
        match self {
            Sub::One(i) => i.to_string(),
            Sub::End(0) => "end".to_string(),
            Sub::End(k) => format!("end - {k}"),
            Sub::Iterator(k, 0) => format!("i{k}"),
            Sub::Iterator(k, d) if *d > 0 => format!("i{k} + {d}"),
            Sub::Iterator(k, d) => format!("i{k} - {}", -d),
            Sub::All => ":".to_string(),
            Sub::Range(a, b) => format!("{a}:{b}"),
            Sub::Stepped(a, s, b) => format!("{a}:{s}:{b}"),
            Sub::Vector(v) => {
                let all: Vec<String> = v.iter().map(usize::to_string).collect();
                format!("{{{}}}", all.join(", "))
            }
        }
    }
}

fn fold(op: &str, values: impl std::iter::Iterator<Item = f64>) -> f64 {
    match op {
        "sum" => values.sum(),
        "product" => values.product(),
        "max" => values.fold(f64::NEG_INFINITY, f64::max),
        _ => values.fold(f64::INFINITY, f64::min),
    }
}

impl Expr {
    /// The value; the largest magnitude met on the way is noted.
    pub(super) fn value(
        &self,
        all: &[Value],
        t: f64,
        iterators: &[usize],
        largest: &mut f64,
    ) -> Value {
        let mut of = |e: &Expr| e.value(all, t, iterators, largest);
        let value = match self {
            Name(k, subs) if subs.is_empty() => all[*k].clone(),
            Name(k, subs) => all[*k].subscripted(subs, iterators),
            Literal(dims, data) => Value {
                dims: dims.clone(),
                data: data.clone(),
            },
            Iterator(k) => scalar(iterators[*k] as f64),
            Time => scalar(t),
            Comprehension(_, n, body) => {
                let mut data = Vec::new();
                let mut dims = vec![*n];
                for i in 1..=*n {
                    let inner = [iterators, &[i]].concat();
                    let v = body.value(all, t, &inner, largest);
                    if i == 1 {
                        dims.extend(&v.dims);
                    }
                    data.extend(v.data);
                }
                Value { dims, data }
            }
            Over(op, _, n, body) => {
                let mut values = Vec::new();
                for i in 1..=*n {
                    let inner = [iterators, &[i]].concat();
                    values.extend(body.value(all, t, &inner, largest).data);
                }
                scalar(fold(op, values.into_iter()))
            }
            If(at, ab) => of(if t > *at { &ab[0] } else { &ab[1] }),
            operation => operation.apply(&mut of),
        };
        *largest = value.data.iter().fold(*largest, |m, x| m.max(x.abs()));
        if value.data.iter().any(|x| x.is_nan()) {
            *largest = f64::INFINITY;
        }
        value
    }

    /// The value of an operation from those of its operands, which `of` gives.
    fn apply(&self, of: &mut dyn FnMut(&Expr) -> Value) -> Value {
        match self {
            Elementwise(op, ab) => {
                let (mut a, b) = (of(&ab[0]), of(&ab[1]));
                for (x, y) in a.data.iter_mut().zip(&b.data) {
                    match *op {
                        "+" => *x += y,
                        "-" => *x -= y,
                        _ => *x *= y,
                    }
                }
                a
            }
            Scaled(ab) => {
                let factor = of(&ab[0]).data[0];
                of(&ab[1]).map(|x| factor * x)
            }
            Divided(a, by) => of(a).map(|x| x / by),
            Negated(a) => of(a).map(|x| -x),
            Product(ab) => product(&of(&ab[0]), &of(&ab[1])),
            Transpose(a) => {
                let a = of(a);
                Value::matrix(a.dims[1], a.dims[0], |i, j| a.at(j, i))
            }
            Array(parts) => {
                let parts: Vec<Value> = parts.iter().map(&mut *of).collect();
                let mut dims = vec![parts.len()];
                dims.extend(&parts[0].dims);
                Value {
                    dims,
                    data: parts.into_iter().flat_map(|p| p.data).collect(),
                }
            }
            Cat(dimension, parts) | Brackets(dimension, parts) => {
                cat(*dimension, parts.iter().map(&mut *of).collect())
            }
            Reduction(op, a) => scalar(fold(op, of(a).data.into_iter())),
            Mapped(f, a) => of(a).map(|x| match *f {
                "sin" => x.sin(),
                "cos" => x.cos(),
                "tanh" => x.tanh(),
                "atan" => x.atan(),
                _ => x.abs(),
            }),
            Fill(a, dims) => {
                let x = of(a).data[0];
                Value {
                    dims: dims.clone(),
                    data: vec![x; dims.iter().product()],
                }
            }
            Identity(n) => Value::matrix(*n, *n, |i, j| f64::from(i == j)),
            Linspace(a, b, n) => Value {
                dims: vec![*n],
                data: (0..*n)
                    .map(|k| a + (b - a) * k as f64 / (n - 1) as f64)
                    .collect(),
            },
            Diagonal(a) => {
                let a = of(a).data;
                Value::matrix(a.len(), a.len(), |i, j| if i == j { a[i] } else { 0.0 })
            }
            Outer(ab) => {
                let (a, b) = (of(&ab[0]).data, of(&ab[1]).data);
                Value::matrix(a.len(), b.len(), |i, j| a[i] * b[j])
            }
            Cross(ab) => {
                let (a, b) = (of(&ab[0]).data, of(&ab[1]).data);
                let part = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
                Value {
                    dims: vec![3],
                    data: vec![part(1, 2), part(2, 0), part(0, 1)],
                }
            }
            Skew(a) => {
                let a = of(a).data;
                let m = [[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]];
                Value::matrix(3, 3, |i, j| m[i][j])
            }
            Symmetric(a) => {
                let a = of(a);
                Value::matrix(a.dims[0], a.dims[0], |i, j| a.at(i.min(j), i.max(j)))
            }
            Vector(a) => {
                let mut a = of(a);
                a.dims = vec![a.data.len()];
                a
            }
            Matrix(a) => {
                let mut a = of(a);
                a.dims = vec![a.data.len(), 1];
                a
            }
            Name(..) | Literal(..) | Iterator(_) | Time | Comprehension(..) | Over(..) | If(..) => {
                unreachable!("these need the variables, the time or the iterators")
            }
        }
    }

    /// As Modelica text.
    pub(super) fn text(&self, case: &Arrays) -> String {
        let of = |e: &Expr| e.text(case);
        let list = |parts: &[Expr], with: &str| {
            let all: Vec<String> = parts.iter().map(of).collect();
            all.join(with)
        };
        match self {
            Name(k, subs) => {
                let name = name(case.bases.len(), *k);
                let subs: Vec<String> = subs.iter().map(Sub::text).collect();
                match subs.is_empty() {
                    true => name,
                    false => format!("{name}[{}]", subs.join(", ")),
                }
            }
            Literal(dims, data) => {
                let data: Vec<String> = data.iter().map(|x| number(*x)).collect();
                nested(dims, &data)
            }
            Iterator(k) => format!("i{k}"),
            Time => "time".to_string(),
            Elementwise(op, ab) => format!("({} {op} {})", of(&ab[0]), of(&ab[1])),
            Scaled(ab) | Product(ab) => format!("(({})*({}))", of(&ab[0]), of(&ab[1])),
            Divided(a, by) => format!("({})/{}", of(a), number(*by)),
            Negated(a) => format!("(-{})", of(a)),
            Transpose(a) => format!("transpose({})", of(a)),
            Array(parts) => format!("{{{}}}", list(parts, ", ")),
            Cat(d, parts) => format!("cat({d}, {})", list(parts, ", ")),
            Brackets(d, parts) => format!("[{}]", list(parts, if *d == 1 { "; " } else { ", " })),
            Comprehension(k, n, body) => {
                format!("{{{} for i{k} in 1:{}}}", of(body), case.size(*n))
            }
            Reduction(op, a) => format!("{op}({})", of(a)),
            Over(op, k, n, body) => format!("{op}({} for i{k} in 1:{})", of(body), case.size(*n)),
            Mapped(f, a) => format!("{f}({})", of(a)),
            Fill(a, dims) => {
                let dims: Vec<String> = dims.iter().map(|d| case.size(*d)).collect();
                match **a {
                    Literal(_, ref x) if x[0] == 0.0 => format!("zeros({})", dims.join(", ")),
                    Literal(_, ref x) if x[0] == 1.0 => format!("ones({})", dims.join(", ")),
                    _ => format!("fill({}, {})", of(a), dims.join(", ")),
                }
            }
            Identity(n) => format!("identity({})", case.size(*n)),
            Linspace(a, b, n) => format!("linspace({a:?}, {b:?}, {})", case.size(*n)),
            Diagonal(a) => format!("diagonal({})", of(a)),
            Outer(ab) => format!("outerProduct({}, {})", of(&ab[0]), of(&ab[1])),
            Cross(ab) => format!("cross({}, {})", of(&ab[0]), of(&ab[1])),
            Skew(a) => format!("skew({})", of(a)),
            Symmetric(a) => format!("symmetric({})", of(a)),
            Vector(a) => format!("vector({})", of(a)),
            Matrix(a) => format!("matrix({})", of(a)),
            If(at, ab) => format!("(if time > {at:?} then {} else {})", of(&ab[0]), of(&ab[1])),
        }
    }

    /// The parts.
    pub(super) fn parts(&self) -> Vec<&Expr> {
        match self {
            Name(..) | Literal(..) | Iterator(_) | Time | Identity(_) | Linspace(..) => vec![],
            Elementwise(_, ab) | If(_, ab) => vec![&ab[0], &ab[1]],
            Scaled(ab) | Product(ab) | Outer(ab) | Cross(ab) => vec![&ab[0], &ab[1]],
            Divided(a, _) | Fill(a, _) | Comprehension(_, _, a) | Over(_, _, _, a) => vec![a],
            Negated(a) | Transpose(a) | Diagonal(a) | Skew(a) | Symmetric(a) => vec![a],
            Vector(a) | Matrix(a) | Reduction(_, a) | Mapped(_, a) => vec![a],
            Array(parts) | Cat(_, parts) | Brackets(_, parts) => parts.iter().collect(),
        }
    }

    fn parts_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Name(..) | Literal(..) | Iterator(_) | Time | Identity(_) | Linspace(..) => vec![],
            Elementwise(_, ab) | If(_, ab) => ab.iter_mut().collect(),
            Scaled(ab) | Product(ab) | Outer(ab) | Cross(ab) => ab.iter_mut().collect(),
            Divided(a, _) | Fill(a, _) | Comprehension(_, _, a) | Over(_, _, _, a) => vec![a],
            Negated(a) | Transpose(a) | Diagonal(a) | Skew(a) | Symmetric(a) => vec![a],
            Vector(a) | Matrix(a) | Reduction(_, a) | Mapped(_, a) => vec![a],
            Array(parts) | Cat(_, parts) | Brackets(_, parts) => parts.iter_mut().collect(),
        }
    }

    /// Whether an array is read.
    pub(super) fn reads(&self, array: usize) -> bool {
        matches!(self, Name(k, _) if *k == array) || self.parts().iter().any(|p| p.reads(array))
    }

    /// An array is gone: those after it move up.
    pub(super) fn renumber(&mut self, gone: usize) {
        if let Name(k, _) = self
            && *k > gone
        {
            *k -= 1;
        }
        self.parts_mut().into_iter().for_each(|p| p.renumber(gone));
    }

    fn has_iterator(&self) -> bool {
        match self {
            Iterator(_) => true,
            Name(_, subs) if subs.iter().any(|s| matches!(s, Sub::Iterator(..))) => true,
            _ => self.parts().iter().any(|p| p.has_iterator()),
        }
    }

    /// Simpler expressions with their shapes: parts in the place of the whole, literals in the place of parts.
    pub(super) fn smaller(&self, case: &Arrays) -> Vec<(Vec<usize>, Expr)> {
        let Some(all) = case.evaluate(0.25) else {
            return Vec::new();
        };
        let shape = |e: &Expr| e.value(&all, 0.25, &[1; 4], &mut 0.0).dims;
        let mut found: Vec<(Vec<usize>, Expr)> = Vec::new();
        let whole = shape(self);
        for p in self.parts() {
            if !p.has_iterator() {
                found.push((shape(p), p.clone()));
            }
        }
        for k in 0..self.parts().len() {
            let part = self.parts()[k];
            let dims = shape(part);
            let mut simple = vec![Literal(dims.clone(), vec![1.0; dims.iter().product()])];
            let inner = part.smaller(case).into_iter();
            simple.extend(inner.filter(|(d, _)| *d == dims).map(|(_, e)| e));
            for s in simple {
                if s != *part {
                    let mut other = self.clone();
                    *other.parts_mut()[k] = s;
                    found.push((whole.clone(), other));
                }
            }
        }
        if let Cat(d, parts) = self {
            for parts in super::fewer(parts) {
                let e = Cat(*d, parts);
                found.push((shape(&e), e));
            }
        }
        found
    }
}

fn product(a: &Value, b: &Value) -> Value {
    match (a.dims.len(), b.dims.len()) {
        (1, 1) => scalar(a.data.iter().zip(&b.data).map(|(x, y)| x * y).sum()),
        (2, 1) => {
            let (n, m) = a.size();
            let row = |i: usize| (0..m).map(|k| a.at(i, k) * b.data[k]).sum();
            Value {
                dims: vec![n],
                data: (0..n).map(row).collect(),
            }
        }
        (1, _) => {
            let (n, m) = b.size();
            let column = |j: usize| (0..n).map(|k| a.data[k] * b.at(k, j)).sum();
            Value {
                dims: vec![m],
                data: (0..m).map(column).collect(),
            }
        }
        _ => {
            let inner = a.dims[1];
            let entry = |i: usize, j: usize| (0..inner).map(|k| a.at(i, k) * b.at(k, j)).sum();
            Value::matrix(a.dims[0], b.dims[1], entry)
        }
    }
}

/// Joins vectors or matrices along a dimension.
fn cat(dimension: usize, parts: Vec<Value>) -> Value {
    let mut dims = parts[0].dims.clone();
    dims[dimension - 1] = parts.iter().map(|p| p.dims[dimension - 1]).sum();
    if dimension == 1 {
        let data = parts.into_iter().flat_map(|p| p.data).collect();
        return Value { dims, data };
    }
    let mut data = Vec::new();
    for i in 0..dims[0] {
        for p in &parts {
            data.extend((0..p.dims[1]).map(|j| p.at(i, j)));
        }
    }
    Value { dims, data }
}
