//! Evaluation of expressions whose leaves have known values: constants, structural parameters, tests.
//!
//! Not the run-time evaluator (that is compiled into kernels); a plain loop over the shared graph.

use rustc_hash::FxHashMap;

use crate::{Builtin, ExprId, Exprs, IterId, Node, RelOp, StrId};

/// A scalar value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum ScalarValue {
    Real(f64),
    Int(i64),
    Bool(bool),
    Str(StrId),
}

impl ScalarValue {
    /// The value as a number; Booleans are 0 and 1, Strings have none.
    pub fn as_f64(self) -> Option<f64> {
        match self {
            ScalarValue::Real(r) => Some(r),
            ScalarValue::Int(i) => Some(i as f64),
            ScalarValue::Bool(b) => Some(b as u8 as f64),
            ScalarValue::Str(_) => None,
        }
    }
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq)]
pub enum EvalError {
    /// A leaf without a value (a variable access, `time`, `initial()`, a run-time function).
    Unknown(ExprId),
    /// An operation that is not defined for its operands, such as an index outside of its array.
    Undefined(ExprId),
    /// More work than [`Limits::evaluation_steps`](crate::Limits::evaluation_steps) allows.
    TooLong(ExprId),
}

/// What looking at one expression costs, in instructions of a compiled function.
const STEP: u64 = 16;

/// Gives leaves their values: the leaf and, for a variable access, its evaluated subscripts.
type Leaf<'a> = dyn FnMut(&Exprs, ExprId, &[i64]) -> Option<ScalarValue> + 'a;

/// Compares numbers.
pub fn compare(op: RelOp, a: f64, b: f64) -> bool {
    match op {
        RelOp::Lt => a < b,
        RelOp::Le => a <= b,
        RelOp::Gt => a > b,
        RelOp::Ge => a >= b,
        RelOp::Eq => a == b,
        RelOp::Ne => a != b,
    }
}

/// The value of a mathematical built-in; `None` for those that are no functions of their arguments (`sample`, ...).
pub fn apply_builtin(f: Builtin, a: &[f64]) -> Option<f64> {
    Some(match (f, a) {
        (Builtin::Abs, [x]) => x.abs(),
        (Builtin::Sign, [x]) => {
            if *x > 0.0 {
                1.0
            } else if *x < 0.0 {
                -1.0
            } else {
                0.0
            }
        }
        (Builtin::Sqrt, [x]) => x.sqrt(),
        (Builtin::Floor | Builtin::Integer, [x]) => x.floor(),
        (Builtin::Ceil, [x]) => x.ceil(),
        (Builtin::Div, [x, y]) => (x / y).trunc(),
        (Builtin::Mod, [x, y]) => x - (x / y).floor() * y,
        (Builtin::Rem, [x, y]) => x - (x / y).trunc() * y,
        (Builtin::Sin, [x]) => x.sin(),
        (Builtin::Cos, [x]) => x.cos(),
        (Builtin::Tan, [x]) => x.tan(),
        (Builtin::Asin, [x]) => x.asin(),
        (Builtin::Acos, [x]) => x.acos(),
        (Builtin::Atan, [x]) => x.atan(),
        (Builtin::Atan2, [y, x]) => y.atan2(*x),
        (Builtin::Sinh, [x]) => x.sinh(),
        (Builtin::Cosh, [x]) => x.cosh(),
        (Builtin::Tanh, [x]) => x.tanh(),
        (Builtin::Exp, [x]) => x.exp(),
        (Builtin::Log, [x]) => x.ln(),
        (Builtin::Log10, [x]) => x.log10(),
        (Builtin::Min, [x, y]) => x.min(*y),
        (Builtin::Max, [x, y]) => x.max(*y),
        _ => return None,
    })
}

impl Exprs {
    /// The value of `root` when `leaf` gives the values of accesses (with their evaluated subscripts), `time` and
    /// other leaves.
    pub fn evaluate(
        &self,
        root: ExprId,
        mut leaf: impl FnMut(&Exprs, ExprId, &[i64]) -> Option<ScalarValue>,
    ) -> Result<ScalarValue, EvalError> {
        let mut left = self.limits.evaluation_steps / STEP;
        self.evaluate_in(root, &mut Vec::new(), &mut leaf, &mut left)
    }

    /// Lazy in the branches of `if` and `and`/`or`, so that guarded divisions and indices are not evaluated. The
    /// recursion is over branches and reductions only, whose nesting the parser bounds.
    fn evaluate_in(
        &self,
        root: ExprId,
        iters: &mut Vec<(IterId, i64)>,
        leaf: &mut Leaf<'_>,
        left: &mut u64,
    ) -> Result<ScalarValue, EvalError> {
        let mut done: FxHashMap<ExprId, ScalarValue> = FxHashMap::default();
        let mut stack = vec![(root, false)];
        while let Some((e, ready)) = stack.pop() {
            *left = left.checked_sub(1).ok_or(EvalError::TooLong(root))?;
            if done.contains_key(&e) {
                continue;
            }
            let node = self.node(e);
            let lazy = matches!(
                node,
                Node::If(..)
                    | Node::And(..)
                    | Node::Or(..)
                    | Node::Reduce { .. }
                    | Node::Select(..)
                    | Node::Var(_)
            );
            if !ready && !lazy {
                stack.push((e, true));
                self.for_each_child(e, |c| stack.push((c, false)));
                continue;
            }
            let value = match lazy {
                true => self.evaluate_lazy(e, node, iters, leaf, left)?,
                false => self.evaluate_strict(e, node, &done, iters, leaf)?,
            };
            done.insert(e, value);
        }
        Ok(done[&root])
    }

    /// A node that decides which of its children count, and for which values of an iterator.
    fn evaluate_lazy(
        &self,
        e: ExprId,
        node: Node,
        iters: &mut Vec<(IterId, i64)>,
        leaf: &mut Leaf<'_>,
        left: &mut u64,
    ) -> Result<ScalarValue, EvalError> {
        let truth = |v| as_truth(v, e);
        Ok(match node {
            Node::Var(access) => {
                let mut subs = Vec::new();
                for &s in self.list(access.subs) {
                    match self.evaluate_in(s, iters, leaf, left)? {
                        ScalarValue::Int(k) => subs.push(k),
                        _ => return Err(EvalError::Undefined(s)),
                    }
                }
                leaf(self, e, &subs).ok_or(EvalError::Unknown(e))?
            }
            Node::And(a, b) => {
                let first = truth(self.evaluate_in(a, iters, leaf, left)?)?;
                ScalarValue::Bool(first && truth(self.evaluate_in(b, iters, leaf, left)?)?)
            }
            Node::Or(a, b) => {
                let first = truth(self.evaluate_in(a, iters, leaf, left)?)?;
                ScalarValue::Bool(first || truth(self.evaluate_in(b, iters, leaf, left)?)?)
            }
            Node::If(c, a, b) => {
                let branch = if truth(self.evaluate_in(c, iters, leaf, left)?)? {
                    a
                } else {
                    b
                };
                self.evaluate_in(branch, iters, leaf, left)?
            }
            Node::Reduce {
                op,
                iter,
                range,
                body,
            } => {
                let (mut acc, mut int) = (None, true);
                for k in range.values() {
                    iters.push((iter, k));
                    let v = self.evaluate_in(body, iters, leaf, left);
                    iters.pop();
                    let v = v?;
                    int &= matches!(v, ScalarValue::Int(_));
                    let v = v.as_f64().ok_or(EvalError::Undefined(body))?;
                    acc = Some(acc.map_or(v, |a| op.apply(a, v)));
                }
                match acc {
                    Some(v) if int => ScalarValue::Int(v as i64),
                    other => ScalarValue::Real(other.unwrap_or(op.of_nothing())),
                }
            }
            Node::Select(i, l) => match self.evaluate_in(i, iters, leaf, left)? {
                ScalarValue::Int(k) if k >= 1 && k as usize <= self.list(l).len() => {
                    self.evaluate_in(self.list(l)[k as usize - 1], iters, leaf, left)?
                }
                _ => return Err(EvalError::Undefined(e)),
            },
            _ => return Err(EvalError::Undefined(e)),
        })
    }

    /// A node whose children are done.
    fn evaluate_strict(
        &self,
        e: ExprId,
        node: Node,
        done: &FxHashMap<ExprId, ScalarValue>,
        iters: &[(IterId, i64)],
        leaf: &mut Leaf<'_>,
    ) -> Result<ScalarValue, EvalError> {
        let num = |c: ExprId| {
            done.get(&c)
                .and_then(|v| v.as_f64())
                .ok_or(EvalError::Undefined(c))
        };
        Ok(match node {
            Node::Real(bits) => ScalarValue::Real(f64::from_bits(bits)),
            Node::Int(i) => ScalarValue::Int(i),
            Node::Bool(b) => ScalarValue::Bool(b),
            Node::Str(s) => ScalarValue::Str(s),
            Node::Iter(i) => match iters.iter().rev().find(|(j, _)| *j == i) {
                Some((_, v)) => ScalarValue::Int(*v),
                None => leaf(self, e, &[]).ok_or(EvalError::Unknown(e))?,
            },
            Node::Time | Node::Apply { .. } | Node::Local { .. } => {
                leaf(self, e, &[]).ok_or(EvalError::Unknown(e))?
            }
            Node::Add(l) | Node::Mul(l) => {
                folded(matches!(node, Node::Add(_)), self.list(l), done)?
            }
            Node::Div(a, b) => {
                let b = num(b)?;
                if b == 0.0 {
                    return Err(EvalError::Undefined(e));
                }
                ScalarValue::Real(num(a)? / b)
            }
            Node::Pow(a, b) => ScalarValue::Real(num(a)?.powf(num(b)?)),
            Node::Rel(op, a, b) => match (done[&a], done[&b]) {
                (ScalarValue::Str(x), ScalarValue::Str(y)) => ScalarValue::Bool(compare(
                    op,
                    self.string(x).cmp(self.string(y)) as i8 as f64,
                    0.0,
                )),
                _ => ScalarValue::Bool(compare(op, num(a)?, num(b)?)),
            },
            Node::Not(a) => ScalarValue::Bool(!as_truth(done[&a], e)?),
            Node::Call(f, l) => {
                let args: Result<Vec<f64>, EvalError> =
                    self.list(l).iter().map(|&c| num(c)).collect();
                match apply_builtin(f, &args?) {
                    Some(v) if self.ty(e) == crate::Ty::Int => ScalarValue::Int(v as i64),
                    Some(v) => ScalarValue::Real(v),
                    None => leaf(self, e, &[]).ok_or(EvalError::Unknown(e))?,
                }
            }
            Node::NoEvent(a) | Node::Smooth(_, a) => done[&a],
            // These are lazy.
            Node::Var(_) | Node::And(..) | Node::Or(..) | Node::If(..) => {
                return Err(EvalError::Undefined(e));
            }
            Node::Reduce { .. } | Node::Select(..) => return Err(EvalError::Undefined(e)),
        })
    }
}

/// The truth of an operand of `e`.
fn as_truth(value: ScalarValue, e: ExprId) -> Result<bool, EvalError> {
    match value {
        ScalarValue::Bool(b) => Ok(b),
        _ => Err(EvalError::Undefined(e)),
    }
}

/// A sum or product of what is done: an Integer as long as all operands are and it fits.
fn folded(
    sum: bool,
    operands: &[ExprId],
    done: &FxHashMap<ExprId, ScalarValue>,
) -> Result<ScalarValue, EvalError> {
    let mut int = Some(if sum { 0i64 } else { 1 });
    let mut real = if sum { 0.0 } else { 1.0 };
    for c in operands {
        let value = done.get(c).ok_or(EvalError::Undefined(*c))?;
        let v = value.as_f64().ok_or(EvalError::Undefined(*c))?;
        int = match *value {
            ScalarValue::Int(i) if sum => int.and_then(|a| a.checked_add(i)),
            ScalarValue::Int(i) => int.and_then(|a| a.checked_mul(i)),
            _ => None,
        };
        real = if sum { real + v } else { real * v };
    }
    Ok(int.map_or(ScalarValue::Real(real), ScalarValue::Int))
}
