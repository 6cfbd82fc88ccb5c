//! Functions on arrays by name (MLS 3.6 §10.3, §10.4).
//!
//! | file | functions |
//! |---|---|
//! | `size` | dimensions and sizes (§10.3.1), other numbers of dimensions (§10.3.2) |
//! | `construct` | special constructors (§10.3.3) |
//! | `algebra` | sums and products (§10.3.4), matrices and vectors (§10.3.5), `cat` (§10.4.2) |

mod algebra;
mod construct;
mod size;

use acausal_syntax::ast::Call;

use super::{Context, Env, Error, Result, Tensor, Type, Value, error};

/// What lowers a call of a function.
type Lowering = fn(&mut Context, &Env<'_>, &Call) -> Result<Value>;

/// The functions by name, in the order of `str`.
const FUNCTIONS: &[(&str, Lowering)] = &[
    ("array", |c, env, call| {
        c.array_constructor(env, &call.args, call.span)
    }),
    ("cat", Context::cat),
    ("cross", Context::cross),
    ("diagonal", Context::diagonal_matrix),
    ("fill", Context::fill),
    ("identity", Context::identity_matrix),
    ("linspace", Context::linspace),
    ("matrix", Context::matrix_of_array),
    ("max", |c, env, call| c.extremum(env, "max", call)),
    ("min", |c, env, call| c.extremum(env, "min", call)),
    ("ndims", Context::ndims),
    ("ones", |c, env, call| c.filled_with(env, call, 1)),
    ("outerProduct", Context::outer_product),
    ("product", Context::product_of_array),
    ("promote", Context::promote),
    ("scalar", Context::scalar_of_array),
    ("size", Context::size_call),
    ("skew", Context::skew),
    ("sum", Context::sum_of_array),
    ("symmetric", Context::symmetric),
    ("transpose", Context::transpose),
    ("vector", Context::vector_of_array),
    ("zeros", |c, env, call| c.filled_with(env, call, 0)),
];

impl Context {
    /// A function on arrays; `None` if the name is not one.
    pub(super) fn array_function(
        &mut self,
        env: &Env<'_>,
        name: &str,
        call: &Call,
    ) -> Result<Option<Value>> {
        match FUNCTIONS.binary_search_by_key(&name, |f| f.0) {
            Ok(k) => FUNCTIONS[k].1(self, env, call).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// The only argument of a call, an array.
    pub(super) fn one(&mut self, env: &Env<'_>, call: &Call) -> Result<Tensor> {
        self.expect_count(call, 1, 1)?;
        match call
            .args
            .first()
            .or_else(|| call.named.first().map(|n| &n.value))
        {
            Some(e) => self.tensor(env, e),
            None => Err(error("argument-count", call.span, "an argument is missing")),
        }
    }

    /// An argument that is a vector of numbers.
    fn vector(&mut self, env: &Env<'_>, call: &Call, position: usize) -> Result<Tensor> {
        let Some(e) = call.args.get(position) else {
            return Err(error("argument-count", call.span, "an argument is missing"));
        };
        let t = self.tensor(env, e)?;
        if t.rank() != 1 || !t.ty.is_numeric() {
            return Err(self.shape_error(call, &t, "a vector of numbers"));
        }
        Ok(t)
    }

    fn size_argument(&mut self, env: &Env<'_>, call: &Call, position: usize) -> Result<usize> {
        let Some(e) = call.args.get(position) else {
            return Err(error("argument-count", call.span, "a size is missing"));
        };
        let n = self.scalar(env, e, Type::Integer)?;
        let n = self.constant_int(env, n, e.span, "a size")?;
        usize::try_from(n).map_err(|_| {
            error(
                "negative-size",
                e.span,
                format!("a size cannot be negative, but this is {n}"),
            )
        })
    }

    fn size_arguments(&mut self, env: &Env<'_>, call: &Call, from: usize) -> Result<Vec<usize>> {
        if call.args.len() <= from {
            return Err(error("argument-count", call.span, "sizes are missing"));
        }
        (from..call.args.len())
            .map(|k| self.size_argument(env, call, k))
            .collect()
    }

    pub(super) fn shape_error(&self, call: &Call, t: &Tensor, expected: &str) -> Error {
        let found = self.describe(&Value::Tensor(t.clone()));
        error(
            "argument-shape",
            call.span,
            format!(
                "`{}` takes {expected}, not {found}",
                super::math::callee_name(call)
            ),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::FUNCTIONS;

    #[test]
    fn the_table_is_in_order() {
        assert!(FUNCTIONS.is_sorted_by_key(|f| f.0));
    }
}
