//! Run-time functions: the interpreter of [`flat::Function`](crate::flat::Function), with derivatives of any order.
//!
//! In: scalar arguments (arrays flattened row by row), which output, and by which arguments to differentiate (as in
//! [`Node::Apply`](crate::Node::Apply)). Out: a number.
//!
//! A body is compiled once to straight code over registers ([`Functions::new`]) and executed on numbers that carry as many
//! derivatives as are asked for (forward mode, nested dual numbers). Branches are decided by values, so the derivative
//! is that of the branch taken. Loops are bounded by [`Limits::evaluation_steps`](crate::Limits::evaluation_steps).
//!
//! Example: `y := 1; for i in 1:3 loop y := y*x; end for` at x = 2 gives 8; with `wrt = [0]` 3x² = 12, with
//! `wrt = [0, 0]` 6x = 12.
//!
//! Cost: `2^order` times the plain evaluation.

mod compile;
mod number;
mod program;
mod unassigned;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex};

use compile::compile;
use number::Dual;
pub(crate) use number::Number;
use program::{Instr, Program};
pub use unassigned::NOT_ASSIGNED;
use unassigned::{UNASSIGNED, is_unassigned};

use crate::evaluate::compare;
use crate::flat::{AssertionLevel, FlatModel, Function};
use crate::native::Objects;
use crate::{Builtin, Exprs, FuncId, Limits, ReduceOp, apply_builtin};

/// Depth of calls. A recursion of this depth fits into the smallest stack that threads usually have.
const DEPTH_LIMIT: u32 = 200;
/// Order of differentiation.
const ORDER_LIMIT: usize = 5;

/// Why a function has no value.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum FunctionError {
    /// An index outside of a local array; from 1.
    Index {
        function: String,
        index: i64,
        size: u32,
    },
    /// Integer arithmetic beyond the numbers that are exact.
    Overflow { function: String, value: f64 },
    /// An assertion failed.
    Assertion { function: String, message: String },
    /// A variable is used that the way taken did not assign.
    Unassigned { message: String },
    /// A loop that does not seem to end.
    Endless { function: String, steps: u64 },
    /// A recursion that does not seem to end.
    TooDeep { function: String },
    /// Its variables do not fit into memory.
    TooLarge { function: String, bytes: u64 },
    /// Differentiated more often than provided for.
    Order { order: usize },
    /// A native function refuses its arguments.
    Native { function: String, message: String },
    /// Something that cannot be executed.
    Unsupported { function: String, what: String },
}

impl std::fmt::Display for FunctionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FunctionError::Index {
                function,
                index,
                size,
            } => {
                write!(
                    f,
                    "index {index} is outside of 1:{size} in function {function}"
                )
            }
            FunctionError::Overflow { function, value } => {
                write!(
                    f,
                    "Integer arithmetic in function {function} gives {value:e}: Integers are exact up to 2^53"
                )
            }
            FunctionError::Assertion { function, message } => {
                write!(f, "assertion in function {function}: {message}")
            }
            FunctionError::Unassigned { message } => f.write_str(message),
            FunctionError::Endless { function, steps } => {
                write!(f, "function {function} does not end within {steps} steps")
            }
            FunctionError::TooDeep { function } => {
                write!(
                    f,
                    "function {function} calls itself without end: more than {DEPTH_LIMIT} calls inside of each other"
                )
            }
            FunctionError::TooLarge { function, bytes } => {
                let size = crate::limits::bytes_text(*bytes as f64);
                write!(
                    f,
                    "the variables of function {function} need {size}, more than the memory limit"
                )
            }
            FunctionError::Order { order } => {
                write!(
                    f,
                    "derivatives of order {order} of functions are not supported, at most {ORDER_LIMIT}"
                )
            }
            FunctionError::Native { function, message } => {
                write!(f, "function {function}: {message}")
            }
            FunctionError::Unsupported { function, what } => {
                write!(f, "{what} cannot be executed in function {function}")
            }
        }
    }
}

impl std::error::Error for FunctionError {}

/// One scalar output of a run-time function, differentiated by the arguments in `wrt`. Compiles every function of the
/// model first; to evaluate repeatedly, keep a [`Functions`].
pub fn run_function(
    model: &FlatModel,
    func: FuncId,
    args: &[f64],
    output: u32,
    wrt: &[u32],
) -> Result<f64, FunctionError> {
    let functions = Functions::new(model)?;
    let outputs = functions.run(func, args, wrt)?;
    let value = outputs.get(output as usize).copied();
    functions.expect_assigned(func, output, value.unwrap_or(0.0))?;
    value.ok_or_else(|| FunctionError::Unsupported {
        function: model.function(func).name.clone(),
        what: format!("output {}", output + 1),
    })
}

/// The compiled functions of a model.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    programs: Vec<Program>,
    limits: Limits,
    /// Assertions of level warning that failed since [`Functions::take_warnings`]; clones share them.
    warnings: Arc<Mutex<Vec<String>>>,
    /// The external objects of the simulation that these functions belong to; clones share them.
    objects: Objects,
}

impl Functions {
    /// Compiles all functions of a model, for one simulation: what they construct is seen by them and their clones only.
    pub fn new(model: &FlatModel) -> Result<Functions, FunctionError> {
        Functions::compile(&model.exprs, &model.functions)
    }

    /// Compiles functions over an arena; [`FuncId`]s are positions in the list.
    pub fn compile(exprs: &Exprs, functions: &[Function]) -> Result<Functions, FunctionError> {
        let programs: Result<_, _> = functions
            .iter()
            .map(|f| compile(exprs, f, functions))
            .collect();
        Ok(Functions {
            programs: programs?,
            limits: exprs.limits,
            warnings: Arc::default(),
            objects: Objects::default(),
        })
    }

    /// The same functions on objects that others share.
    pub fn with_objects(self, objects: Objects) -> Functions {
        Functions { objects, ..self }
    }

    /// Whether a function has an assertion of level warning.
    pub fn can_warn(&self) -> bool {
        let warns = |i: &Instr| matches!(i, Instr::Assert(.., AssertionLevel::Warning));
        self.programs.iter().any(|p| p.code.iter().any(warns))
    }

    /// Whether a function has an assertion of level error.
    pub fn can_fail(&self) -> bool {
        let fails = |i: &Instr| match i {
            Instr::Assert(.., level) => *level != AssertionLevel::Warning,
            Instr::LoadAssigned { .. } | Instr::Expect(..) => true,
            _ => false,
        };
        let may_lack = |p: &Program| p.outputs.iter().any(|&slot| p.unassigned(slot).is_some());
        self.programs
            .iter()
            .any(|p| may_lack(p) || p.code.iter().any(fails))
    }

    /// The warnings since this was asked last, each once.
    pub fn take_warnings(&self) -> Vec<String> {
        (self.warnings.lock()).map_or_else(|_| Vec::new(), |mut w| std::mem::take(&mut *w))
    }

    fn warn(&self, error: &FunctionError) {
        if let Ok(mut warnings) = self.warnings.lock() {
            let text = error.to_string();
            if !warnings.contains(&text) {
                warnings.push(text);
            }
        }
    }

    /// All scalar outputs, differentiated by the arguments in `wrt` (positions from 0, repeated for higher orders).
    pub fn run(&self, func: FuncId, args: &[f64], wrt: &[u32]) -> Result<Vec<f64>, FunctionError> {
        let size = 1usize << wrt.len().min(ORDER_LIMIT + 1);
        let mut coefficients = vec![0.0; args.len() * size];
        for (k, &a) in args.iter().enumerate() {
            coefficients[k * size] = a;
        }
        let mut steps = 0;
        self.dispatch(func, &mut coefficients, 0, wrt, &mut steps, 0)
    }

    /// Runs on arguments of the given order, plus the derivatives of `wrt`. `args` has `2^(order + wrt.len())`
    /// coefficients per argument; those of the new `ε`s are set here. The result has `2^order` coefficients per output.
    fn dispatch(
        &self,
        func: FuncId,
        args: &mut [f64],
        order: usize,
        wrt: &[u32],
        steps: &mut u64,
        depth: u32,
    ) -> Result<Vec<f64>, FunctionError> {
        let total = order + wrt.len();
        if total > ORDER_LIMIT {
            return Err(FunctionError::Order { order: total });
        }
        let size = 1 << total;
        for (j, &k) in wrt.iter().enumerate() {
            if let Some(seed) = args.get_mut(k as usize * size + (1 << (order + j))) {
                *seed = 1.0;
            }
        }
        type D1 = Dual<f64>;
        type D2 = Dual<D1>;
        type D3 = Dual<D2>;
        type D4 = Dual<D3>;
        type D5 = Dual<D4>;
        let all = match total {
            0 => self.execute::<f64>(func, args, steps, depth),
            1 => self.execute::<D1>(func, args, steps, depth),
            2 => self.execute::<D2>(func, args, steps, depth),
            3 => self.execute::<D3>(func, args, steps, depth),
            4 => self.execute::<D4>(func, args, steps, depth),
            _ => self.execute::<D5>(func, args, steps, depth),
        }?;
        // The wanted derivative: all new ε together, which are the upper bits of the position.
        let keep = 1 << order;
        Ok(all
            .chunks(size)
            .flat_map(|c| c[size - keep..].iter().copied())
            .collect())
    }

    fn execute<T: Number>(
        &self,
        func: FuncId,
        args: &[f64],
        steps: &mut u64,
        depth: u32,
    ) -> Result<Vec<f64>, FunctionError> {
        let Some(program) = self.programs.get(func.0 as usize) else {
            let what = format!("function number {}", func.0);
            return Err(FunctionError::Unsupported {
                function: String::new(),
                what,
            });
        };
        if depth > DEPTH_LIMIT {
            return Err(FunctionError::TooDeep {
                function: program.name.clone(),
            });
        }
        if let Some(external) = &program.external {
            let inputs: Vec<T> = args
                .chunks(T::COEFFICIENTS)
                .map(T::from_coefficients)
                .collect();
            let outputs =
                external
                    .call(&inputs, &self.objects)
                    .map_err(|message| FunctionError::Native {
                        function: program.name.clone(),
                        message,
                    })?;
            let mut out = Vec::with_capacity(outputs.len() * T::COEFFICIENTS);
            outputs.into_iter().for_each(|v| v.coefficients(&mut out));
            return Ok(out);
        }
        let bytes = (program.frame as u64).saturating_mul(size_of::<T>() as u64);
        if bytes > self.limits.memory {
            return Err(FunctionError::TooLarge {
                function: program.name.clone(),
                bytes,
            });
        }
        let mut frame = vec![T::constant(0.0); program.frame];
        for u in &program.unassigned {
            // Derivatives of what has no value have none either.
            let none = T::from_coefficients(&vec![UNASSIGNED; T::COEFFICIENTS]);
            frame[u.base as usize..(u.base + u.len) as usize].fill(none);
        }
        let inputs = args.chunks(T::COEFFICIENTS).take(program.inputs);
        for (slot, c) in frame.iter_mut().zip(inputs) {
            *slot = T::from_coefficients(c);
        }
        let mut machine = Machine {
            functions: self,
            program,
            frame,
            registers: Vec::new(),
            depth,
        };
        machine
            .registers
            .resize(program.registers, T::constant(0.0));
        machine.run(steps)?;
        let mut out = Vec::with_capacity(program.outputs.len() * T::COEFFICIENTS);
        for &slot in &program.outputs {
            machine.frame[slot as usize].coefficients(&mut out);
        }
        Ok(out)
    }
}

struct Machine<'a, T> {
    functions: &'a Functions,
    program: &'a Program,
    frame: Vec<T>,
    registers: Vec<T>,
    depth: u32,
}

impl<T: Number> Machine<'_, T> {
    fn run(&mut self, steps: &mut u64) -> Result<(), FunctionError> {
        let program = self.program;
        let most = self.functions.limits.evaluation_steps;
        let mut at = 0;
        loop {
            *steps += 1;
            if *steps > most {
                return Err(FunctionError::Endless {
                    function: program.name.clone(),
                    steps: most,
                });
            }
            let Some(instr) = program.code.get(at) else {
                return Ok(());
            };
            at += 1;
            let r = |k: u32| self.registers[k as usize];
            let (to, value) = match instr {
                Instr::Const(to, v) => (*to, T::constant(*v)),
                Instr::Copy(to, a) => (*to, r(*a)),
                Instr::Load {
                    to,
                    base,
                    len,
                    offset,
                } => (*to, self.frame[self.slot(*base, *len, *offset)?]),
                Instr::LoadAssigned {
                    to,
                    base,
                    len,
                    offset,
                } => {
                    let slot = self.slot(*base, *len, *offset)?;
                    if is_unassigned(self.frame[slot].value()) {
                        return Err(program.lacks(slot as u32));
                    }
                    (*to, self.frame[slot])
                }
                Instr::Store {
                    base,
                    len,
                    offset,
                    from,
                } => {
                    let slot = self.slot(*base, *len, *offset)?;
                    self.frame[slot] = r(*from);
                    continue;
                }
                Instr::Add(to, l) => (*to, l.iter().skip(1).fold(r(l[0]), |acc, &k| acc + r(k))),
                Instr::Mul(to, l) => (*to, l.iter().skip(1).fold(r(l[0]), |acc, &k| acc * r(k))),
                Instr::Div(to, a, b) => (*to, r(*a).div(r(*b))),
                Instr::Pow(to, a, b) => (*to, r(*a).pow(r(*b))),
                Instr::Rel(to, op, a, b) => {
                    let holds = compare(*op, r(*a).value(), r(*b).value());
                    (*to, T::constant(holds as u8 as f64))
                }
                Instr::Not(to, a) => (*to, T::constant((r(*a).value() == 0.0) as u8 as f64)),
                Instr::Builtin(to, f, l) => (*to, self.builtin(*f, l)?),
                Instr::Pick(to, index, l) => {
                    let k = self.index(*index, l.len() as u32, 1)?;
                    (*to, r(l[k]))
                }
                Instr::Call {
                    to,
                    func,
                    args,
                    wrt,
                } => {
                    self.call(*to, *func, args, wrt, steps)?;
                    continue;
                }
                Instr::Jump(target) => {
                    at = *target;
                    continue;
                }
                Instr::JumpUnless(c, target) => {
                    if r(*c).value() == 0.0 {
                        at = *target;
                    }
                    continue;
                }
                Instr::Within {
                    value,
                    step,
                    stop,
                    exit,
                } => {
                    let [value, step, stop] = [value, step, stop].map(|k| r(*k).value());
                    if !is_within(value, step, stop) {
                        at = *exit;
                    }
                    continue;
                }
                Instr::Reduce(acc, op, v) => (*acc, accumulated(*op, r(*acc), r(*v))),
                Instr::Return => return Ok(()),
                Instr::Whole(v) => {
                    self.expect_exact(r(*v).value())?;
                    continue;
                }
                Instr::Expect(v, func, output) => {
                    self.functions
                        .expect_assigned(*func, *output, r(*v).value())?;
                    continue;
                }
                Instr::Assert(c, message, level) => {
                    if r(*c).value() == 0.0 {
                        self.fails(message, *level)?;
                    }
                    continue;
                }
            };
            self.registers[to as usize] = value;
        }
    }

    /// Integer arithmetic is exact up to a limit.
    fn expect_exact(&self, value: f64) -> Result<(), FunctionError> {
        if value.abs() > crate::LARGEST_INTEGER {
            let function = self.program.name.clone();
            return Err(FunctionError::Overflow { function, value });
        }
        Ok(())
    }

    /// An assertion fails.
    fn fails(&self, message: &str, level: AssertionLevel) -> Result<(), FunctionError> {
        let (function, message) = (self.program.name.clone(), message.to_string());
        let error = match level {
            AssertionLevel::Unassigned => FunctionError::Unassigned { message },
            _ => FunctionError::Assertion { function, message },
        };
        if level != AssertionLevel::Warning {
            return Err(error);
        }
        self.functions.warn(&error);
        Ok(())
    }

    /// The position in the frame of an element by its offset from 0.
    fn slot(&self, base: u32, len: u32, offset: u32) -> Result<usize, FunctionError> {
        Ok(base as usize + self.index(offset, len, 0)?)
    }

    /// A checked index; `first` is what the first element is called.
    fn index(&self, register: u32, len: u32, first: i64) -> Result<usize, FunctionError> {
        let index = self.registers[register as usize].value().round() as i64 - first;
        if index >= 0 && index < len as i64 {
            return Ok(index as usize);
        }
        let function = self.program.name.clone();
        Err(FunctionError::Index {
            function,
            index: index + 1,
            size: len,
        })
    }

    fn builtin(&self, f: Builtin, l: &[u32]) -> Result<T, FunctionError> {
        let arg = |k: usize| l.get(k).map(|&r| self.registers[r as usize]);
        let value = match (f, arg(0), arg(1)) {
            (Builtin::Min, Some(a), Some(b)) => Some(if a.value() <= b.value() { a } else { b }),
            (Builtin::Max, Some(a), Some(b)) => Some(if a.value() >= b.value() { a } else { b }),
            (Builtin::Atan2, Some(y), Some(x)) => Some(y.atan2(x)),
            // x - q*y with the quotient piecewise constant.
            (Builtin::Mod, Some(x), Some(y)) => {
                Some(x - T::constant((x.value() / y.value()).floor()) * y)
            }
            (Builtin::Rem, Some(x), Some(y)) => {
                Some(x - T::constant((x.value() / y.value()).trunc()) * y)
            }
            (Builtin::Div, Some(x), Some(y)) => {
                apply_builtin(f, &[x.value(), y.value()]).map(T::constant)
            }
            (Builtin::Homotopy, Some(actual), _) => Some(actual),
            (_, Some(x), None) => x.unary(f),
            _ => None,
        };
        value.ok_or_else(|| FunctionError::Unsupported {
            function: self.program.name.clone(),
            what: format!("`{f:?}`"),
        })
    }

    fn call(
        &mut self,
        to: u32,
        func: FuncId,
        args: &[u32],
        wrt: &[u32],
        steps: &mut u64,
    ) -> Result<(), FunctionError> {
        let size = T::COEFFICIENTS << wrt.len().min(ORDER_LIMIT + 1);
        let mut coefficients = Vec::with_capacity(args.len() * size);
        for (k, &a) in args.iter().enumerate() {
            self.registers[a as usize].coefficients(&mut coefficients);
            coefficients.resize((k + 1) * size, 0.0);
        }
        let order = T::COEFFICIENTS.trailing_zeros() as usize;
        let out =
            self.functions
                .dispatch(func, &mut coefficients, order, wrt, steps, self.depth + 1)?;
        for (k, c) in out.chunks(T::COEFFICIENTS).enumerate() {
            if let Some(register) = self.registers.get_mut(to as usize + k) {
                *register = T::from_coefficients(c);
            }
        }
        Ok(())
    }
}

/// Whether the value of an iterator is in its range. A Real range ends where its last value is meant to be, rounding aside.
fn is_within(value: f64, step: f64, stop: f64) -> bool {
    let slack = 1e-9 * step.abs();
    step > 0.0 && value <= stop + slack || step < 0.0 && value >= stop - slack
}

/// One more value of a reduction. Of equal values the first one counts, with its derivatives.
fn accumulated<T: Number>(op: ReduceOp, acc: T, v: T) -> T {
    match op {
        ReduceOp::Sum => acc + v,
        ReduceOp::Product => acc * v,
        ReduceOp::Min if v.value() < acc.value() => v,
        ReduceOp::Max if v.value() > acc.value() => v,
        ReduceOp::Min | ReduceOp::Max => acc,
    }
}
