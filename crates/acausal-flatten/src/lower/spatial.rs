//! `spatialDistribution(in0, in1, x, positiveVelocity, initialPoints, initialValues)` (MLS 3.6 §3.7.4.2).
//!
//! Where fluid enters, the output is the input; where it leaves, a call whose value the simulator computes. A third call is the distance to the next jump or bend that will come out; that
//! it is negative is a relation among the arguments of the outputs, so that the model has the event.

use acausal_expr::{Builtin, ExprId, Exprs, RelOp};
use acausal_symbolic::Substitute;
use acausal_syntax::ast::Call;

use super::{Context, Env, Result, Tensor, Type, Value, error};

impl Context {
    /// Both outputs. Inputs may be arrays of one shape; the profile of the start then has the dimensions of the inputs and one more, or is the same
    /// for all elements.
    pub(super) fn spatial_distribution(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        self.expect_count(call, 4, 6)?;
        let names = ["in0", "in1", "x", "positiveVelocity"];
        let mut given = Vec::new();
        for (k, name) in names.iter().enumerate() {
            let Some(e) = self.argument(call, k, name) else {
                let message = format!("`spatialDistribution` needs its argument `{name}`");
                return Err(error("argument-count", call.span, message));
            };
            given.push(e);
        }
        let (left, right) = (self.tensor(env, given[0])?, self.tensor(env, given[1])?);
        if left.dims != right.dims || !left.ty.is_numeric() || !right.ty.is_numeric() {
            let (p, q) = (
                self.describe(&Value::Tensor(left)),
                self.describe(&Value::Tensor(right)),
            );
            let message = format!("`in0` is {p}, but `in1` is {q}; they must be alike and Real");
            return Err(error("size-mismatch", call.span, message));
        }
        let x = self.scalar(env, given[2], Type::Real)?;
        let forward = self.scalar(env, given[3], Type::Boolean)?;
        let points = self.profile(env, call, 4, "initialPoints", &left, [0.0, 1.0])?;
        let values = self.profile(env, call, 5, "initialValues", &left, [0.0, 0.0])?;
        if points.len() != values.len() || points.is_empty() {
            let message = format!(
                "`initialPoints` has {} elements, but `initialValues` has {}",
                points.len(),
                values.len()
            );
            return Err(error("size-mismatch", call.span, message));
        }
        let literals: Option<Vec<f64>> = points.iter().map(|&p| self.exprs.as_f64(p)).collect();
        if let Some(literals) = literals
            && (!literals.is_sorted() || literals.iter().any(|p| !(0.0..=1.0).contains(p)))
        {
            let message = "`initialPoints` must ascend from 0 to 1";
            return Err(error("initial-points", call.span, message));
        }
        let no = self.exprs.bool(false);
        let output = |exprs: &mut Exprs, which_end: i64, passed: ExprId| {
            left.zip(&right, exprs, Type::Real, |exprs, l, r| {
                let which = exprs.int(which_end);
                let mut args = vec![which, l, r, x, forward, passed];
                args.extend(points.iter().chain(&values));
                let carried = exprs.call(Builtin::Spatial, &args);
                match which_end {
                    0 => exprs.if_(forward, l, carried),
                    1 => exprs.if_(forward, carried, r),
                    _ => carried,
                }
            })
        };
        let distance = output(&mut self.exprs, 2, no).body;
        let zero = self.exprs.real(0.0);
        let passed = self.exprs.rel(RelOp::Lt, distance, zero);
        let outputs = [0, 1].map(|which| Value::Tensor(output(&mut self.exprs, which, passed)));
        Ok(Value::Tuple(outputs.into()))
    }

    /// The elements of `initialPoints` or `initialValues` for the element of the inputs at their iterators.
    fn profile(
        &mut self,
        env: &Env<'_>,
        call: &Call,
        place: usize,
        name: &str,
        inputs: &Tensor,
        default: [f64; 2],
    ) -> Result<Vec<ExprId>> {
        let Some(e) = self.argument(call, place, name) else {
            return Ok(default.map(|v| self.exprs.real(v)).to_vec());
        };
        let t = self.tensor(env, e)?;
        self.expect_parameter(t.body, e, &format!("`{name}`"))?;
        let own = t.rank() == inputs.rank() + 1 && t.dims[..inputs.rank()] == inputs.dims;
        if !t.ty.is_numeric() || !(own || t.rank() == 1) {
            let found = self.describe(&Value::Tensor(t));
            let message = format!("`{name}` must be a vector of Reals, not {found}");
            return Err(error("type-mismatch", e.span, message));
        }
        let count = t.dims.last().copied().unwrap_or(0);
        let mut elements = Vec::with_capacity(count);
        for k in 1..=count {
            let mut at: Vec<_> = Vec::new();
            if own {
                for (&iter, &outer) in t.iters.iter().zip(&inputs.iters) {
                    at.push((iter, self.exprs.iter(outer)));
                }
            }
            if let Some(&last) = t.iters.last() {
                at.push((last, self.exprs.int(k as i64)));
            }
            elements.push(self.exprs.substitute_iters(t.body, &at));
        }
        Ok(elements)
    }
}
