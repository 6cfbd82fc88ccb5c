//! Function bodies to straight code with jumps over registers.
//!
//! A scalar expression becomes instructions in evaluation order; a subexpression that occurs twice in one statement is
//! computed once, as long as the first occurrence is certain to have been executed (branches of `if`, the right sides of
//! `and`/`or` and bodies of reductions forget on exit what they computed). Statements become jumps. Expressions are
//! walked with an explicit stack: their depth is not bounded where calls were inlined.

use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

use super::FunctionError;
use super::program::{Instr, Program, Reg};
use crate::flat::{AssertionLevel, Function, Statement};
use crate::{ExprId, Exprs, FuncId, IterId, List, Node, Range, ReduceOp, Ty};

/// Compiles one function.
pub(super) fn compile(
    exprs: &Exprs,
    f: &Function,
    functions: &[Function],
) -> Result<Program, FunctionError> {
    let mut c = Compiler {
        exprs,
        name: &f.name,
        function: f,
        functions,
        assigned: BTreeSet::new(),
        code: Vec::new(),
        registers: 0,
        memo: FxHashMap::default(),
        calls: FxHashMap::default(),
        used: Vec::new(),
        scopes: Vec::new(),
        iters: FxHashMap::default(),
        loops: Vec::new(),
    };
    c.body(&f.body)?;
    c.code.push(Instr::Return);
    Ok(Program {
        name: f.name.clone(),
        inputs: f.inputs as usize,
        outputs: f.outputs.clone(),
        frame: f.frame as usize,
        unassigned: f.unassigned.clone(),
        registers: c.registers as usize,
        code: c.code,
        external: f.external.clone(),
    })
}

/// A step in the walk over an expression.
enum Task {
    Visit(ExprId),
    Build(ExprId),
    /// The condition is there: branch on it.
    Branch(ExprId),
    /// The first branch is there: store it, begin the second.
    Second(ExprId, usize),
    /// The second branch is there: store it.
    Join(ExprId, usize, Reg),
    /// The body of a reduction is there: accumulate and repeat.
    Repeat(ExprId, Loop),
}

/// A reduction under construction.
#[derive(Clone, Copy)]
struct Loop {
    head: usize,
    acc: Reg,
    value: Reg,
    step: Reg,
}

/// A call: function, arguments, differentiation. Its outputs are computed together.
type CallKey = (FuncId, List, List);

struct Compiler<'a> {
    exprs: &'a Exprs,
    name: &'a str,
    function: &'a Function,
    functions: &'a [Function],
    /// Scalars of the frame that have a value by now, whatever way was taken.
    assigned: BTreeSet<u32>,
    code: Vec<Instr>,
    registers: Reg,
    memo: FxHashMap<ExprId, Reg>,
    calls: FxHashMap<CallKey, Reg>,
    /// The calls that occur in the present statement.
    used: Vec<CallKey>,
    /// What was computed in each open branch, to be forgotten at its end.
    scopes: Vec<(Vec<ExprId>, Vec<CallKey>)>,
    /// Registers of iterators of reductions.
    iters: FxHashMap<IterId, Reg>,
    /// Jumps out of the loops around, to be filled in.
    loops: Vec<Vec<usize>>,
}

impl Compiler<'_> {
    fn register(&mut self) -> Reg {
        self.registers += 1;
        self.registers - 1
    }

    fn known(&mut self, e: ExprId, r: Reg) {
        self.memo.insert(e, r);
        if let Some(scope) = self.scopes.last_mut() {
            scope.0.push(e);
        }
    }

    fn open(&mut self) {
        self.scopes.push(Default::default());
    }

    fn close(&mut self) {
        if let Some((expressions, calls)) = self.scopes.pop() {
            for e in expressions {
                self.memo.remove(&e);
            }
            for c in calls {
                self.calls.remove(&c);
            }
        }
    }

    /// Points the jump at `at` to the next instruction.
    fn patch(&mut self, at: usize) {
        let here = self.code.len();
        match &mut self.code[at] {
            Instr::Jump(t) | Instr::JumpUnless(_, t) | Instr::Within { exit: t, .. } => *t = here,
            _ => {}
        }
    }

    fn body(&mut self, statements: &[Statement]) -> Result<(), FunctionError> {
        let mut after_assignment = false;
        for s in statements {
            // Locals change between statements, so that only calls are reused, see `keep_calls`.
            self.memo.clear();
            if !after_assignment {
                self.calls.clear();
            }
            self.used.clear();
            self.statement(s)?;
            after_assignment = matches!(s, Statement::Assign { .. });
            if let Statement::Assign { target, .. } = s {
                self.keep_calls(*target);
            }
        }
        Ok(())
    }

    /// Keeps the calls of an assignment whose arguments do not read its target. `y := f(x)` with an array is one assignment per element: without
    /// this a function that calls itself would be executed n times at each level, n^depth times in all.
    fn keep_calls(&mut self, target: ExprId) {
        let exprs = self.exprs;
        let reads = |e: ExprId| exprs.any(e, |x, n| x.locals_meet(n, target));
        let mut kept = FxHashMap::default();
        for key in self.used.drain(..) {
            if let Some(&base) = self.calls.get(&key)
                && !exprs.list(key.1).iter().any(|&a| reads(a))
            {
                kept.insert(key, base);
            }
        }
        self.calls = kept;
    }

    fn statement(&mut self, s: &Statement) -> Result<(), FunctionError> {
        match s {
            Statement::Assign { target, value } => {
                let Node::Local { base, len, offset } = self.exprs.node(*target) else {
                    return Err(
                        self.unsupported("an assignment to something that is no local variable")
                    );
                };
                let from = self.value(*value)?;
                let offset = self.value(offset)?;
                self.code.push(Instr::Store {
                    base,
                    len,
                    offset,
                    from,
                });
                if len == 1 {
                    self.assigned.insert(base);
                }
            }
            Statement::If {
                branches,
                otherwise,
            } => {
                self.branches(branches, otherwise)?;
            }
            Statement::While { condition, body } => {
                let head = self.code.len();
                let c = self.value(*condition)?;
                let exit = self.code.len();
                self.code.push(Instr::JumpUnless(c, 0));
                self.repeated(body, head, exit)?;
            }
            Statement::For {
                iterator,
                start,
                step,
                stop,
                body,
            } => {
                self.for_loop(*iterator, [*start, *step, *stop], body)?;
            }
            Statement::Break => {
                let at = self.code.len();
                self.code.push(Instr::Jump(0));
                match self.loops.last_mut() {
                    Some(exits) => exits.push(at),
                    None => return Err(self.unsupported("`break` outside of a loop")),
                }
            }
            Statement::Return => self.code.push(Instr::Return),
            Statement::Assert {
                condition,
                message,
                level,
            } => {
                let c = match self.value(*condition) {
                    Ok(c) => c,
                    // What only warns must not keep a function from being run.
                    Err(_) if *level == AssertionLevel::Warning => return Ok(()),
                    Err(e) => return Err(e),
                };
                let message = message.as_str().into();
                self.code.push(Instr::Assert(c, message, *level));
            }
        }
        Ok(())
    }

    fn branches(
        &mut self,
        branches: &[(ExprId, Vec<Statement>)],
        otherwise: &[Statement],
    ) -> Result<(), FunctionError> {
        let mut ends = Vec::new();
        let before = self.assigned.clone();
        let mut by_all: Option<BTreeSet<u32>> = None;
        let mut join = |after: BTreeSet<u32>| {
            by_all = Some(match by_all.take() {
                Some(all) => all.intersection(&after).copied().collect(),
                None => after,
            });
        };
        for (condition, body) in branches {
            self.memo.clear();
            self.calls.clear();
            let c = self.value(*condition)?;
            let skip = self.code.len();
            self.code.push(Instr::JumpUnless(c, 0));
            self.body(body)?;
            join(std::mem::replace(&mut self.assigned, before.clone()));
            ends.push(self.code.len());
            self.code.push(Instr::Jump(0));
            self.patch(skip);
        }
        self.body(otherwise)?;
        join(std::mem::take(&mut self.assigned));
        self.assigned = by_all.unwrap_or_default();
        for end in ends {
            self.patch(end);
        }
        Ok(())
    }

    fn for_loop(
        &mut self,
        iterator: u32,
        [start, step, stop]: [ExprId; 3],
        body: &[Statement],
    ) -> Result<(), FunctionError> {
        let (start, step, stop) = (self.value(start)?, self.value(step)?, self.value(stop)?);
        // The loop keeps its own copies: the body may change what the bounds were computed from.
        let value = self.register();
        self.code.push(Instr::Copy(value, start));
        let zero = self.register();
        self.code.push(Instr::Const(zero, 0.0));
        let first = self.code.len();
        self.code.push(Instr::Jump(0));
        let head = self.code.len();
        self.code.push(Instr::Add(value, Box::new([value, step])));
        self.patch(first);
        let exit = self.code.len();
        self.code.push(Instr::Within {
            value,
            step,
            stop,
            exit: 0,
        });
        self.code.push(Instr::Store {
            base: iterator,
            len: 1,
            offset: zero,
            from: value,
        });
        self.repeated(body, head, exit)
    }

    fn repeated(
        &mut self,
        body: &[Statement],
        head: usize,
        exit: usize,
    ) -> Result<(), FunctionError> {
        self.loops.push(Vec::new());
        let before = self.assigned.clone();
        self.body(body)?;
        // There may be no round.
        self.assigned = before;
        self.code.push(Instr::Jump(head));
        self.patch(exit);
        for at in self.loops.pop().unwrap_or_default() {
            self.patch(at);
        }
        self.memo.clear();
        self.calls.clear();
        Ok(())
    }

    fn unsupported(&self, what: &str) -> FunctionError {
        FunctionError::Unsupported {
            function: self.name.to_string(),
            what: what.to_string(),
        }
    }

    /// Code for an expression; the register that holds it.
    fn value(&mut self, root: ExprId) -> Result<Reg, FunctionError> {
        let mut tasks = vec![Task::Visit(root)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Visit(e) if self.memo.contains_key(&e) => {}
                Task::Visit(e) => match self.exprs.node(e) {
                    Node::If(c, ..) | Node::And(c, _) | Node::Or(c, _) => {
                        tasks.extend([Task::Branch(e), Task::Visit(c)]);
                    }
                    Node::Reduce {
                        op,
                        iter,
                        range,
                        body,
                    } => self.begin_reduce(e, op, iter, range, body, &mut tasks),
                    _ => {
                        tasks.push(Task::Build(e));
                        let mut children = Vec::new();
                        self.exprs
                            .for_each_child(e, |c| children.push(Task::Visit(c)));
                        tasks.extend(children.into_iter().rev());
                    }
                },
                Task::Build(e) if self.memo.contains_key(&e) => {}
                Task::Build(e) => self.build(e)?,
                Task::Branch(e) => self.branch(e, &mut tasks),
                Task::Second(e, skip) => {
                    let Node::If(_, a, b) = self.exprs.node(e) else {
                        continue;
                    };
                    let to = self.register();
                    self.code.push(Instr::Copy(to, self.memo[&a]));
                    let end = self.code.len();
                    self.code.push(Instr::Jump(0));
                    self.close();
                    self.patch(skip);
                    self.open();
                    tasks.extend([Task::Join(e, end, to), Task::Visit(b)]);
                }
                Task::Join(e, end, to) => {
                    let last = match self.exprs.node(e) {
                        Node::If(_, _, b) | Node::And(_, b) | Node::Or(_, b) => b,
                        _ => continue,
                    };
                    self.code.push(Instr::Copy(to, self.memo[&last]));
                    self.close();
                    self.patch(end);
                    self.known(e, to);
                }
                Task::Repeat(e, l) => {
                    let Node::Reduce { op, body, .. } = self.exprs.node(e) else {
                        continue;
                    };
                    self.code.push(Instr::Reduce(l.acc, op, self.memo[&body]));
                    self.code
                        .push(Instr::Add(l.value, Box::new([l.value, l.step])));
                    self.code.push(Instr::Jump(l.head));
                    self.close();
                    self.patch(l.head);
                    self.known(e, l.acc);
                }
            }
        }
        Ok(self.memo[&root])
    }

    fn branch(&mut self, e: ExprId, tasks: &mut Vec<Task>) {
        match self.exprs.node(e) {
            Node::If(c, a, _) => {
                let skip = self.code.len();
                self.code.push(Instr::JumpUnless(self.memo[&c], 0));
                self.open();
                tasks.extend([Task::Second(e, skip), Task::Visit(a)]);
            }
            // The result is the first operand unless the second decides.
            Node::And(a, b) | Node::Or(a, b) => {
                let to = self.register();
                let first = self.memo[&a];
                self.code.push(Instr::Copy(to, first));
                let mut test = first;
                if matches!(self.exprs.node(e), Node::Or(..)) {
                    test = self.register();
                    self.code.push(Instr::Not(test, first));
                }
                let skip = self.code.len();
                self.code.push(Instr::JumpUnless(test, 0));
                self.open();
                tasks.extend([Task::Join(e, skip, to), Task::Visit(b)]);
            }
            _ => {}
        }
    }

    fn begin_reduce(
        &mut self,
        e: ExprId,
        op: ReduceOp,
        iter: IterId,
        range: Range,
        body: ExprId,
        tasks: &mut Vec<Task>,
    ) {
        let (acc, value, step, stop) = (
            self.register(),
            self.register(),
            self.register(),
            self.register(),
        );
        self.code.push(Instr::Const(acc, op.of_nothing()));
        self.code.push(Instr::Const(value, range.start as f64));
        self.code.push(Instr::Const(step, range.step as f64));
        // One step beyond makes an empty range out of a count of zero.
        self.code.push(Instr::Const(stop, range.last() as f64));
        let head = self.code.len();
        self.code.push(Instr::Within {
            value,
            step,
            stop,
            exit: 0,
        });
        self.open();
        self.iters.insert(iter, value);
        tasks.extend([
            Task::Repeat(
                e,
                Loop {
                    head,
                    acc,
                    value,
                    step,
                },
            ),
            Task::Visit(body),
        ]);
    }

    fn registers_of(&self, l: List) -> Box<[Reg]> {
        self.exprs.list(l).iter().map(|c| self.memo[c]).collect()
    }

    /// The first of the registers that get the outputs of a call, which has at least the output that is asked for.
    fn call(&mut self, key: CallKey, output: u32) -> Reg {
        self.used.push(key);
        if let Some(&base) = self.calls.get(&key) {
            return base;
        }
        let (func, args, wrt) = key;
        let base = self.registers;
        let outputs = (self.functions.get(func.0 as usize)).map_or(0, |f| f.outputs.len());
        let count = outputs.max(output as usize + 1);
        self.registers += count as Reg;
        let wrt = self
            .exprs
            .list(wrt)
            .iter()
            .filter_map(|&w| self.exprs.as_int(w));
        let wrt = wrt.map(|w| w as u32).collect();
        self.code.push(Instr::Call {
            to: base,
            func,
            args: self.registers_of(args),
            wrt,
        });
        self.calls.insert(key, base);
        if let Some(scope) = self.scopes.last_mut() {
            scope.1.push(key);
        }
        base
    }

    /// The instruction for a node whose children are there.
    fn build(&mut self, e: ExprId) -> Result<(), FunctionError> {
        let node = self.exprs.node(e);
        if let Node::Apply {
            func,
            args,
            output,
            wrt,
        } = node
        {
            let base = self.call((func, args, wrt), output);
            let called = self.functions.get(func.0 as usize);
            if called.is_some_and(|f| f.unassigned_output(output).is_some()) {
                self.code.push(Instr::Expect(base + output, func, output));
            }
            self.known(e, base + output);
            return Ok(());
        }
        if let Node::Iter(i) = node
            && let Some(&r) = self.iters.get(&i)
        {
            self.known(e, r);
            return Ok(());
        }
        let m = |c: ExprId| self.memo[&c];
        if let Node::NoEvent(a) | Node::Smooth(_, a) = node {
            let r = m(a);
            self.known(e, r);
            return Ok(());
        }
        let to = self.registers;
        let instr = match node {
            Node::Real(bits) => Instr::Const(to, f64::from_bits(bits)),
            Node::Int(i) => Instr::Const(to, i as f64),
            Node::Bool(b) => Instr::Const(to, b as u8 as f64),
            Node::Add(l) => Instr::Add(to, self.registers_of(l)),
            Node::Mul(l) => Instr::Mul(to, self.registers_of(l)),
            Node::Div(a, b) => Instr::Div(to, m(a), m(b)),
            Node::Pow(a, b) => Instr::Pow(to, m(a), m(b)),
            Node::Rel(op, a, b) if self.exprs.ty(a) != Ty::Str => Instr::Rel(to, op, m(a), m(b)),
            Node::Not(a) => Instr::Not(to, m(a)),
            Node::Call(f, l) => Instr::Builtin(to, f, self.registers_of(l)),
            Node::Select(i, l) => Instr::Pick(to, m(i), self.registers_of(l)),
            Node::Local { base, len, offset }
                if !self.assigned.contains(&base) && self.function.begins_unassigned(base) =>
            {
                Instr::LoadAssigned {
                    to,
                    base,
                    len,
                    offset: m(offset),
                }
            }
            Node::Local { base, len, offset } => Instr::Load {
                to,
                base,
                len,
                offset: m(offset),
            },
            Node::Time => return Err(self.unsupported("`time`")),
            Node::Var(_) => return Err(self.unsupported("a variable of the model")),
            Node::Iter(_) => return Err(self.unsupported("an iterator without a loop")),
            Node::Str(_) | Node::Rel(..) => return Err(self.unsupported("a String at run time")),
            // Handled by the walk.
            Node::If(..) | Node::And(..) | Node::Or(..) | Node::Reduce { .. } => return Ok(()),
            Node::Apply { .. } | Node::NoEvent(_) | Node::Smooth(..) => return Ok(()),
        };
        self.registers += 1;
        self.code.push(instr);
        if self.exprs.may_overflow(e) {
            self.code.push(Instr::Whole(to));
        }
        self.known(e, to);
        Ok(())
    }
}
