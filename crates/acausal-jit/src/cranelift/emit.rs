//! Builds the function for a kernel and a shape.
//!
//! ```text
//! entry:      pointers from records; nodes that are the same in all repetitions; accumulators
//! pairs(i):   repetitions i, i+1 (several pairs if the kernel is short); until fewer are left
//! singles(i): one repetition; until none is left
//! exit:       store accumulators
//! ```
//! The loop `pairs` exists only if the shape allows it and no operation needs a call. If repetitions can be computed
//! twice without harm, it also does the rest, by going back so far that its last round is full; `singles` is then
//! saved. A call with one repetition has the code of one repetition in `entry` and no loop. Loops carry the repetition
//! number and the accumulators: outputs that all repetitions add to (or multiply, ...) and nothing else touches.

use super::body::{Body, Values};
use super::lane::{Lane, has_pair};
use crate::error::KernelError;
use crate::kernel::{Kernel, Op};
use crate::normalise::for_each_operand;
use crate::place::{CallShape, Motion};
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    self, AbiParam, Block, BlockArg, InstBuilder, Signature, UserFuncName, Value, types,
};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

/// Kernels of at most this many nodes get two pairs per round of the loop, which halves its overhead.
const UNROLLED_NODES: usize = 12;

/// Compiles one function per shape, for the target that is chosen by shape and number of nodes.
pub fn functions<'t>(
    target: impl Fn(&CallShape, usize) -> &'t dyn TargetIsa,
    kernels: &[Kernel],
    shapes: &[&CallShape],
) -> Result<Vec<Vec<u8>>, KernelError> {
    let mut context = cranelift_codegen::Context::new();
    let mut builders = FunctionBuilderContext::new();
    let mut plane = ControlPlane::default();
    let mut functions = Vec::with_capacity(shapes.len());
    for shape in shapes {
        let kernel = &kernels[shape.kernel as usize];
        let isa = target(shape, kernel.nodes.len());
        let pointer = AbiParam::new(isa.pointer_type());
        let mut signature = Signature::new(isa.default_call_conv());
        signature.params.extend([pointer; 4]);
        context.clear();
        context.func = ir::Function::with_name_signature(UserFuncName::default(), signature);
        emit(
            isa,
            FunctionBuilder::new(&mut context.func, &mut builders),
            kernel,
            shape,
        );
        let code = context
            .compile(isa, &mut plane)
            .map_err(|e| KernelError::Machine(format!("kernel {}: {:?}", shape.kernel, e.inner)))?;
        if !code.buffer.relocs().is_empty() {
            return Err(KernelError::Machine(format!(
                "kernel {} needs a linker",
                shape.kernel
            )));
        }
        functions.push(code.code_buffer().to_vec());
    }
    Ok(functions)
}

fn emit(isa: &dyn TargetIsa, mut builder: FunctionBuilder<'_>, kernel: &Kernel, shape: &CallShape) {
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let [context, count, slots, outputs] = *builder.block_params(entry) else {
        unreachable!("the signature has four parameters")
    };
    let lane = Lane::new(builder, isa, most_arguments(kernel));
    let mut body = Body::new(lane, kernel, shape, context, [slots, outputs]);
    let zero = body.lane.builder.ins().iconst(isa.pointer_type(), 0);

    let mut values = Values::new(kernel.nodes.len());
    if shape.single {
        body.nodes(&mut values, zero, |_| true);
        body.stores(&mut values, zero, &mut vec![None; shape.outputs.len()]);
    } else {
        let uniform = uniform_nodes(kernel, shape);
        body.open_all();
        body.nodes(&mut values, zero, |ix| uniform[ix]);
        Loops {
            body: &mut body,
            uniform,
            values,
            count,
            zero,
        }
        .emit();
    }
    let mut builder = body.lane.builder;
    builder.ins().return_(&[]);
    builder.seal_all_blocks();
    builder.finalize(isa.frontend_config());
}

fn most_arguments(kernel: &Kernel) -> usize {
    let arguments = |op: &Op| {
        if let Op::Apply { args, .. } = op {
            args.len()
        } else {
            0
        }
    };
    kernel.nodes.iter().map(arguments).max().unwrap_or(0)
}

/// Nodes with the same value in all repetitions.
fn uniform_nodes(kernel: &Kernel, shape: &CallShape) -> Vec<bool> {
    let mut uniform = vec![false; kernel.nodes.len()];
    for (ix, op) in kernel.nodes.iter().enumerate() {
        let mut all = true;
        for_each_operand(op, |operand| all &= uniform[operand as usize]);
        uniform[ix] = match op {
            Op::Slot(slot) => shape.slots[*slot as usize] == Motion::Uniform,
            _ => all,
        };
    }
    uniform
}

/// The state that loops carry: the repetition number, then one value per accumulator.
type State = Vec<Value>;

struct Loops<'s, 'a, 'b> {
    body: &'s mut Body<'a, 'b>,
    uniform: Vec<bool>,
    /// Of the uniform nodes.
    values: Values,
    count: Value,
    zero: Value,
}

impl Loops<'_, '_, '_> {
    fn emit(mut self) {
        let (kernel, shape) = (self.body.kernel, self.body.shape);
        let mut nodes = kernel.nodes.iter().zip(&self.uniform);
        let paired = shape.wide && nodes.all(|(op, uniform)| *uniform || has_pair(op));
        if paired && shape.repeatable() {
            self.pairs_only();
            return;
        }
        let mut start = vec![self.zero];
        for (ix, output) in shape.outputs.iter().enumerate() {
            if output.private && output.motion == Motion::Uniform {
                let place = self.body.output(ix);
                start.push(place.load(&mut self.body.lane, self.zero, 0));
            }
        }
        let (singles, exit) = (self.block(start.len()), self.block(start.len()));
        if paired {
            self.pairs(&start, singles, exit);
        } else {
            self.jump(singles, &start);
        }

        let state = self.switch(singles);
        let next = self.repetition(&state);
        let next = self.advance(next, 1);
        self.branch(&next, self.count, singles, exit);

        let state = self.switch(exit);
        for (ix, accumulator) in self.accumulators(&state).into_iter().enumerate() {
            if let Some(value) = accumulator {
                let place = self.body.output(ix);
                place.store(&mut self.body.lane, self.zero, 0, value);
            }
        }
    }

    /// All repetitions in pairs; the last round starts so early that it is full.
    fn pairs_only(&mut self) {
        let width = 2 * self.unroll();
        let last = self.body.lane.builder.ins().iadd_imm_s(self.count, -width);
        let (pairs, exit) = (self.block(1), self.block(1));
        let narrow = self.widen();
        self.jump(pairs, &[self.zero]);

        let first = self.switch(pairs);
        let state = self.round(&first);
        let builder = &mut self.body.lane.builder;
        let next = builder.ins().umin(state[0], last);
        let more = builder.ins().icmp(IntCC::UnsignedLessThan, first[0], last);
        let args = arguments(&[next]);
        builder.ins().brif(more, pairs, &args, exit, &args);
        self.narrow(narrow);
        self.switch(exit);
    }

    /// As many full rounds as there are; leaves the rest to `singles`.
    fn pairs(&mut self, start: &[Value], singles: Block, exit: Block) {
        let width = 2 * self.unroll();
        let end = self.body.lane.builder.ins().band_imm_s(self.count, -width);
        let (pairs, rest) = (self.block(start.len()), self.block(start.len()));
        let narrow = self.widen();
        let args = arguments(start);
        self.body
            .lane
            .builder
            .ins()
            .brif(end, pairs, &args, rest, &args);

        let state = self.switch(pairs);
        let state = self.round(&state);
        self.branch(&state, end, pairs, rest);
        self.narrow(narrow);

        let state = self.switch(rest);
        self.branch(&state, self.count, singles, exit);
    }

    /// Number of pairs per round.
    fn unroll(&self) -> i64 {
        if self.body.kernel.nodes.len() <= UNROLLED_NODES {
            2
        } else {
            1
        }
    }

    /// One round of a loop over pairs.
    fn round(&mut self, state: &State) -> State {
        let mut state = state.clone();
        for _ in 0..self.unroll() {
            state = self.repetition(&state);
            state = self.advance(state, 2);
        }
        state
    }

    /// Continues with pairs; gives the values for single numbers, for [`Self::narrow`].
    fn widen(&mut self) -> Values {
        // Masks always have two lanes, which are equal for a uniform node.
        let mut wide = self.values.clone();
        wide.numbers.fill(None);
        let builder = &mut self.body.lane.builder;
        for (ix, value) in self.values.numbers.iter().enumerate() {
            // Literals are loaded where they are used: keeping them in registers would only displace others.
            if let (Some(value), false) =
                (value, matches!(self.body.kernel.nodes[ix], Op::Const(_)))
            {
                wide.numbers[ix] = Some(builder.ins().splat(types::F64X2, *value));
            }
        }
        self.body.lane.wide = true;
        std::mem::replace(&mut self.values, wide)
    }

    /// Continues with single numbers.
    fn narrow(&mut self, values: Values) {
        self.body.lane.wide = false;
        self.values = values;
    }

    /// One repetition, or two if the lane is wide; gives the state with new accumulators.
    fn repetition(&mut self, state: &State) -> State {
        let mut values = self.values.clone();
        let kernel = self.body.kernel;
        let missing: Vec<bool> = (0..kernel.nodes.len())
            .map(|ix| !self.values.has(ix))
            .collect();
        self.body.nodes(&mut values, state[0], |ix| missing[ix]);
        let mut accumulators = self.accumulators(state);
        self.body.stores(&mut values, state[0], &mut accumulators);
        let mut next = vec![state[0]];
        next.extend(accumulators.into_iter().flatten());
        next
    }

    fn accumulators(&self, state: &State) -> Vec<Option<Value>> {
        let mut values = state[1..].iter();
        let outputs = self.body.shape.outputs.iter();
        outputs
            .map(|output| {
                let accumulates = output.private && output.motion == Motion::Uniform;
                if accumulates {
                    values.next().copied()
                } else {
                    None
                }
            })
            .collect()
    }

    fn advance(&mut self, mut state: State, step: i64) -> State {
        state[0] = self.body.lane.builder.ins().iadd_imm_s(state[0], step);
        state
    }

    fn block(&mut self, parameters: usize) -> Block {
        let builder = &mut self.body.lane.builder;
        let block = builder.create_block();
        builder.append_block_param(block, types::I64);
        (1..parameters).for_each(|_| {
            builder.append_block_param(block, types::F64);
        });
        block
    }

    fn switch(&mut self, block: Block) -> State {
        self.body.lane.builder.switch_to_block(block);
        self.body.lane.builder.block_params(block).to_vec()
    }

    fn jump(&mut self, to: Block, state: &[Value]) {
        self.body.lane.builder.ins().jump(to, &arguments(state));
    }

    /// To `more` while the repetition number is less than `end`.
    fn branch(&mut self, state: &State, end: Value, more: Block, done: Block) {
        let builder = &mut self.body.lane.builder;
        let less = builder.ins().icmp(IntCC::UnsignedLessThan, state[0], end);
        let args = arguments(state);
        builder.ins().brif(less, more, &args, done, &args);
    }
}

fn arguments(state: &[Value]) -> Vec<BlockArg> {
    state.iter().map(|value| BlockArg::from(*value)).collect()
}
