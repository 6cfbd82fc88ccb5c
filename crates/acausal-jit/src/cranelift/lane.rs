//! The operations of [`crate::math`] as instructions, for one number or for a pair.
//!
//! Truths are masks: two 64-bit lanes of all ones or all zeros, also where only one number is wanted. So relations,
//! logic and choices are bitwise instructions without branches, and a relation that only steers a choice never becomes
//! a number.

use crate::kernel::{Binary, Op, Store, Unary};
use crate::{math, run};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::types::{F64, F64X2, I64X2};
use cranelift_codegen::ir::{
    AbiParam, ConstantData, InstBuilder, MemFlagsData, SigRef, Signature, StackSlot, StackSlotData,
    StackSlotKind, Type, Value,
};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::FunctionBuilder;

/// Builds instructions for one number, or for a pair if `wide`.
pub struct Lane<'a, 'b> {
    /// Where instructions are added.
    pub builder: FunctionBuilder<'b>,
    /// Whether values are pairs.
    pub wide: bool,
    isa: &'a dyn TargetIsa,
    /// Signatures of functions of one and two numbers and of user functions, once used.
    signatures: [Option<SigRef>; 3],
    arguments: Option<StackSlot>,
    most_arguments: usize,
}

/// Whether an operation that is not the same in all repetitions can be done for a pair.
pub fn has_pair(op: &Op) -> bool {
    match op {
        Op::Const(_) | Op::Slot(_) | Op::Select(..) => true,
        Op::Unary(f, _) => match f {
            Unary::Neg | Unary::Not | Unary::Abs | Unary::Sign | Unary::Sqrt => true,
            Unary::Floor | Unary::Ceil | Unary::Trunc => rounds(),
            _ => false,
        },
        Op::Binary(f, ..) => match f {
            Binary::Pow | Binary::Atan2 => false,
            Binary::Mod | Binary::Rem => rounds(),
            _ => true,
        },
        Op::Apply { .. } => false,
    }
}

/// Whether the machine has instructions that round to an integer; Cranelift would call a library otherwise.
fn rounds() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("sse4.1");
    #[cfg(not(target_arch = "x86_64"))]
    return true;
}

/// The comparison that a relation is. NaN makes all of them false but `Ne`.
pub fn relation(f: Binary) -> Option<FloatCC> {
    Some(match f {
        Binary::Lt => FloatCC::LessThan,
        Binary::Le => FloatCC::LessThanOrEqual,
        Binary::Gt => FloatCC::GreaterThan,
        Binary::Ge => FloatCC::GreaterThanOrEqual,
        Binary::Eq => FloatCC::Equal,
        Binary::Ne => FloatCC::NotEqual,
        _ => return None,
    })
}

impl<'a, 'b> Lane<'a, 'b> {
    /// `most_arguments` is the largest number of arguments of a user function.
    pub fn new(
        builder: FunctionBuilder<'b>,
        isa: &'a dyn TargetIsa,
        most_arguments: usize,
    ) -> Self {
        Self {
            builder,
            wide: false,
            isa,
            signatures: [None; 3],
            arguments: None,
            most_arguments,
        }
    }

    /// The type of addresses and counts.
    pub fn pointer(&self) -> Type {
        self.isa.pointer_type()
    }

    /// A literal.
    pub fn literal(&mut self, value: f64) -> Value {
        if self.wide {
            self.vector(value, F64X2)
        } else {
            self.builder.ins().f64const(value)
        }
    }

    /// A function of one argument other than `not`.
    pub fn unary(&mut self, f: Unary, x: Value) -> Value {
        match f {
            Unary::Neg => self.builder.ins().fneg(x),
            Unary::Not => {
                let truth = self.truth(x);
                let falsehood = self.not(truth);
                self.number(falsehood)
            }
            Unary::Abs => self.builder.ins().fabs(x),
            Unary::Sign => {
                let zero = self.literal(0.0);
                let positive = self.compare(FloatCC::GreaterThan, x, zero);
                let negative = self.compare(FloatCC::LessThan, x, zero);
                let (positive, negative) = (self.number(positive), self.number(negative));
                self.builder.ins().fsub(positive, negative)
            }
            Unary::Sqrt => self.builder.ins().sqrt(x),
            Unary::Floor if rounds() => self.builder.ins().floor(x),
            Unary::Ceil if rounds() => self.builder.ins().ceil(x),
            Unary::Trunc if rounds() => self.builder.ins().trunc(x),
            Unary::Floor => self.call(math::floor as *const (), &[x]),
            Unary::Ceil => self.call(math::ceil as *const (), &[x]),
            Unary::Trunc => self.call(math::trunc as *const (), &[x]),
            Unary::Sin => self.call(math::sin as *const (), &[x]),
            Unary::Cos => self.call(math::cos as *const (), &[x]),
            Unary::Tan => self.call(math::tan as *const (), &[x]),
            Unary::Asin => self.call(math::asin as *const (), &[x]),
            Unary::Acos => self.call(math::acos as *const (), &[x]),
            Unary::Atan => self.call(math::atan as *const (), &[x]),
            Unary::Sinh => self.call(math::sinh as *const (), &[x]),
            Unary::Cosh => self.call(math::cosh as *const (), &[x]),
            Unary::Tanh => self.call(math::tanh as *const (), &[x]),
            Unary::Exp => self.call(math::exp as *const (), &[x]),
            Unary::Ln => self.call(math::ln as *const (), &[x]),
            Unary::Log10 => self.call(math::log10 as *const (), &[x]),
        }
    }

    /// A function of two arguments.
    pub fn binary(&mut self, f: Binary, a: Value, b: Value) -> Value {
        match f {
            Binary::Add => self.builder.ins().fadd(a, b),
            Binary::Sub => self.builder.ins().fsub(a, b),
            Binary::Mul => self.builder.ins().fmul(a, b),
            Binary::Div => self.builder.ins().fdiv(a, b),
            Binary::Pow => self.call(math::pow as *const (), &[a, b]),
            Binary::Atan2 => self.call(math::atan2 as *const (), &[a, b]),
            Binary::Min => self.extreme(FloatCC::LessThan, a, b),
            Binary::Max => self.extreme(FloatCC::GreaterThan, a, b),
            Binary::Mod | Binary::Rem => {
                let quotient = self.builder.ins().fdiv(a, b);
                let whole = self.unary(
                    if f == Binary::Mod {
                        Unary::Floor
                    } else {
                        Unary::Trunc
                    },
                    quotient,
                );
                let part = self.builder.ins().fmul(whole, b);
                self.builder.ins().fsub(a, part)
            }
            Binary::And | Binary::Or => {
                let (a, b) = (self.truth(a), self.truth(b));
                let mask = self.logic(f, a, b);
                self.number(mask)
            }
            Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Eq | Binary::Ne => {
                let mask = self.compare(relation(f).unwrap_or(FloatCC::Equal), a, b);
                self.number(mask)
            }
        }
    }

    /// The new content of an output.
    pub fn combine(&mut self, store: Store, old: Value, value: Value) -> Value {
        match store {
            Store::Set => value,
            Store::Add => self.builder.ins().fadd(old, value),
            Store::Mul => self.builder.ins().fmul(old, value),
            Store::Min => self.binary(Binary::Min, old, value),
            Store::Max => self.binary(Binary::Max, old, value),
        }
    }

    /// The mask of a comparison.
    pub fn compare(&mut self, relation: FloatCC, a: Value, b: Value) -> Value {
        let (a, b) = (self.pair(a), self.pair(b));
        self.builder.ins().fcmp(relation, a, b)
    }

    /// The mask of a number as a truth.
    pub fn truth(&mut self, x: Value) -> Value {
        let zero = self.literal(0.0);
        self.compare(FloatCC::NotEqual, x, zero)
    }

    /// The opposite mask.
    pub fn not(&mut self, mask: Value) -> Value {
        self.builder.ins().bnot(mask)
    }

    /// `And` or `Or` of masks.
    pub fn logic(&mut self, f: Binary, a: Value, b: Value) -> Value {
        if f == Binary::And {
            self.builder.ins().band(a, b)
        } else {
            self.builder.ins().bor(a, b)
        }
    }

    /// A mask as 0 or 1.
    pub fn number(&mut self, mask: Value) -> Value {
        let one = self.vector(1.0, I64X2);
        let bits = self.builder.ins().band(mask, one);
        let pair = self.builder.ins().bitcast(F64X2, little_endian(), bits);
        self.narrow(pair)
    }

    /// `a` where the mask is set, `b` elsewhere.
    pub fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        let (a, b) = (self.pair(a), self.pair(b));
        let mask = self.builder.ins().bitcast(F64X2, little_endian(), mask);
        let pair = self.builder.ins().bitselect(mask, a, b);
        self.narrow(pair)
    }

    /// Calls a user function.
    pub fn apply(&mut self, context: Value, op: &Op, args: &[Value]) -> Value {
        let size = 8 * self.most_arguments.max(1) as u32;
        let builder = &mut self.builder;
        let slot = *self.arguments.get_or_insert_with(|| {
            builder.create_sized_stack_slot(StackSlotData::new(
                StackSlotKind::ExplicitSlot,
                size,
                3,
            ))
        });
        let pointer = self.isa.pointer_type();
        for (k, arg) in args.iter().enumerate() {
            self.builder
                .ins()
                .stack_store(pointer, *arg, slot, 8 * k as i32);
        }
        let op = self
            .builder
            .ins()
            .iconst(pointer, std::ptr::from_ref(op).expose_provenance() as i64);
        let args = self.builder.ins().stack_addr(pointer, slot, 0);
        let signature = self.signature(2);
        self.call_at(run::apply as *const (), signature, &[context, op, args])
    }

    fn extreme(&mut self, relation: FloatCC, a: Value, b: Value) -> Value {
        let better = self.compare(relation, a, b);
        let missing = self.compare(FloatCC::Unordered, b, b);
        let mask = self.builder.ins().bor(better, missing);
        self.select(mask, a, b)
    }

    fn call(&mut self, function: *const (), args: &[Value]) -> Value {
        let signature = self.signature(args.len() - 1);
        self.call_at(function, signature, args)
    }

    fn call_at(&mut self, function: *const (), signature: SigRef, args: &[Value]) -> Value {
        let address = self
            .builder
            .ins()
            .iconst(self.isa.pointer_type(), function.expose_provenance() as i64);
        let call = self.builder.ins().call_indirect(signature, address, args);
        self.builder.inst_results(call)[0]
    }

    /// 0 and 1: functions of one and two numbers; 2: the application of user functions.
    fn signature(&mut self, which: usize) -> SigRef {
        if let Some(signature) = self.signatures[which] {
            return signature;
        }
        let mut signature = Signature::new(self.isa.default_call_conv());
        let parameter = AbiParam::new(if which == 2 {
            self.isa.pointer_type()
        } else {
            F64
        });
        signature
            .params
            .extend(std::iter::repeat_n(parameter, which + 1));
        signature.returns.push(AbiParam::new(F64));
        *self.signatures[which].insert(self.builder.import_signature(signature))
    }

    /// The same number in both lanes, as a constant.
    fn vector(&mut self, value: f64, ty: Type) -> Value {
        let bytes = value.to_bits().to_le_bytes();
        let constant = self
            .builder
            .func
            .dfg
            .constants
            .insert(ConstantData::from([bytes, bytes].as_flattened()));
        self.builder.ins().vconst(ty, constant)
    }

    fn pair(&mut self, value: Value) -> Value {
        if self.wide {
            value
        } else {
            self.builder.ins().splat(F64X2, value)
        }
    }

    fn narrow(&mut self, pair: Value) -> Value {
        if self.wide {
            pair
        } else {
            self.builder.ins().extractlane(pair, 0u8)
        }
    }
}

fn little_endian() -> MemFlagsData {
    MemFlagsData::new().with_endianness(cranelift_codegen::ir::Endianness::Little)
}
