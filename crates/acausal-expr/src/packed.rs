//! A node in sixteen bytes, as the arena keeps it.
//!
//! [`Node`] is what passes match on; its largest variants are rare. Here they keep a number instead: reductions that of their
//! range, calls of functions that of the function with its output and derivatives. A model of a million equations has ten million
//! nodes, and most of the time of a pass is that of reading them.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use crate::table::{HashKey, Mix};
use crate::{Access, Builtin, ExprId, FuncId, IterId, List, Node, Range, ReduceOp, ValueKind};
use crate::{RelOp, StrId, VarId};

/// A node; see [`Node`] for what the variants mean. 64-bit numbers are in two halves, so that four bytes are all the alignment needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Packed {
    Real([u32; 2]),
    Int([u32; 2]),
    Bool(bool),
    Str(StrId),
    Time,
    Iter(IterId),
    Var(ValueKind, VarId, List),
    Add(List),
    Mul(List),
    Div(ExprId, ExprId),
    Pow(ExprId, ExprId),
    Rel(RelOp, ExprId, ExprId),
    Not(ExprId),
    And(ExprId, ExprId),
    Or(ExprId, ExprId),
    If(ExprId, ExprId, ExprId),
    Call(Builtin, List),
    Reduce(ReduceOp, IterId, u32, ExprId),
    Select(ExprId, List),
    NoEvent(ExprId),
    Smooth(u8, ExprId),
    Apply(u32, List),
    Local(u32, u32, ExprId),
}

/// What packed nodes keep a number of.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PackedParts {
    ranges: IndexSet<Range, FxBuildHasher>,
    /// Function, output, derivatives.
    functions: IndexSet<(FuncId, u32, List), FxBuildHasher>,
}

fn halves(v: u64) -> [u32; 2] {
    [v as u32, (v >> 32) as u32]
}

fn whole([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | (u64::from(high) << 32)
}

impl PackedParts {
    /// Whether there is no reduction.
    pub(crate) fn no_ranges(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(crate) fn pack(&mut self, node: Node) -> Packed {
        match node {
            Node::Real(v) => Packed::Real(halves(v)),
            Node::Int(v) => Packed::Int(halves(v as u64)),
            Node::Bool(b) => Packed::Bool(b),
            Node::Str(s) => Packed::Str(s),
            Node::Time => Packed::Time,
            Node::Iter(i) => Packed::Iter(i),
            Node::Var(Access { var, kind, subs }) => Packed::Var(kind, var, subs),
            Node::Add(l) => Packed::Add(l),
            Node::Mul(l) => Packed::Mul(l),
            Node::Div(a, b) => Packed::Div(a, b),
            Node::Pow(a, b) => Packed::Pow(a, b),
            Node::Rel(op, a, b) => Packed::Rel(op, a, b),
            Node::Not(a) => Packed::Not(a),
            Node::And(a, b) => Packed::And(a, b),
            Node::Or(a, b) => Packed::Or(a, b),
            Node::If(c, a, b) => Packed::If(c, a, b),
            Node::Call(f, l) => Packed::Call(f, l),
            Node::Reduce {
                op,
                iter,
                range,
                body,
            } => Packed::Reduce(op, iter, self.ranges.insert_full(range).0 as u32, body),
            Node::Select(i, l) => Packed::Select(i, l),
            Node::NoEvent(a) => Packed::NoEvent(a),
            Node::Smooth(p, a) => Packed::Smooth(p, a),
            Node::Apply {
                func,
                args,
                output,
                wrt,
            } => {
                let called = self.functions.insert_full((func, output, wrt)).0;
                Packed::Apply(called as u32, args)
            }
            Node::Local { base, len, offset } => Packed::Local(base, len, offset),
        }
    }

    #[inline]
    pub(crate) fn unpack(&self, packed: Packed) -> Node {
        match packed {
            Packed::Real(v) => Node::Real(whole(v)),
            Packed::Int(v) => Node::Int(whole(v) as i64),
            Packed::Bool(b) => Node::Bool(b),
            Packed::Str(s) => Node::Str(s),
            Packed::Time => Node::Time,
            Packed::Iter(i) => Node::Iter(i),
            Packed::Var(kind, var, subs) => Node::Var(Access { var, kind, subs }),
            Packed::Add(l) => Node::Add(l),
            Packed::Mul(l) => Node::Mul(l),
            Packed::Div(a, b) => Node::Div(a, b),
            Packed::Pow(a, b) => Node::Pow(a, b),
            Packed::Rel(op, a, b) => Node::Rel(op, a, b),
            Packed::Not(a) => Node::Not(a),
            Packed::And(a, b) => Node::And(a, b),
            Packed::Or(a, b) => Node::Or(a, b),
            Packed::If(c, a, b) => Node::If(c, a, b),
            Packed::Call(f, l) => Node::Call(f, l),
            Packed::Reduce(op, iter, range, body) => Node::Reduce {
                op,
                iter,
                range: self.ranges[range as usize],
                body,
            },
            Packed::Select(i, l) => Node::Select(i, l),
            Packed::NoEvent(a) => Node::NoEvent(a),
            Packed::Smooth(p, a) => Node::Smooth(p, a),
            Packed::Apply(called, args) => {
                let (func, output, wrt) = self.functions[called as usize];
                Node::Apply {
                    func,
                    args,
                    output,
                    wrt,
                }
            }
            Packed::Local(base, len, offset) => Node::Local { base, len, offset },
        }
    }
}

/// Variables and lists are fewer than nodes: their numbers are spread, so that all parts of the table are used.
const SPREAD: usize = 5;

impl Packed {
    /// Where the node is looked for: near its newest child, list or variable.
    pub(crate) fn home(self) -> HashKey {
        let list = |l: List| Some(SPREAD * l.0 as usize);
        let node = |e: ExprId| Some(2 * e.index());
        let (tag, words, near): (u64, [u32; 3], Option<usize>) = match self {
            Packed::Real([a, b]) => (0, [a, b, 0], None),
            Packed::Int([a, b]) => (1, [a, b, 0], None),
            Packed::Bool(b) => (2, [u32::from(b), 0, 0], None),
            Packed::Str(s) => (3, [s.0, 0, 0], None),
            Packed::Time => (4, [0; 3], None),
            Packed::Iter(i) => (5, [i.0, 0, 0], None),
            Packed::Var(kind, var, subs) => {
                let kind = match kind {
                    ValueKind::Value => 0,
                    ValueKind::Pre => 1,
                    ValueKind::Der(n) => 2 + u32::from(n),
                };
                let near = Some(SPREAD * var.index().wrapping_add(subs.0 as usize));
                (6, [kind, var.0, subs.0], near)
            }
            Packed::Add(l) => (7, [l.0, 0, 0], list(l)),
            Packed::Mul(l) => (8, [l.0, 0, 0], list(l)),
            Packed::Div(a, b) => (9, [a.0, b.0, 0], node(a.max(b))),
            Packed::Pow(a, b) => (10, [a.0, b.0, 0], node(a.max(b))),
            Packed::Rel(op, a, b) => (11, [op as u32, a.0, b.0], node(a.max(b))),
            Packed::Not(a) => (12, [a.0, 0, 0], node(a)),
            Packed::And(a, b) => (13, [a.0, b.0, 0], node(a.max(b))),
            Packed::Or(a, b) => (14, [a.0, b.0, 0], node(a.max(b))),
            Packed::If(c, a, b) => (15, [c.0, a.0, b.0], node(a.max(b).max(c))),
            Packed::Call(f, l) => (16, [f as u32, l.0, 0], list(l)),
            Packed::Reduce(op, iter, range, body) => (
                17 + ((op as u64) << 8) + (u64::from(range) << 32),
                [iter.0, body.0, 0],
                node(body),
            ),
            Packed::Select(i, l) => (18, [i.0, l.0, 0], list(l)),
            Packed::NoEvent(a) => (19, [a.0, 0, 0], node(a)),
            Packed::Smooth(p, a) => (20, [u32::from(p), a.0, 0], node(a)),
            Packed::Apply(called, args) => (21, [called, args.0, 0], list(args)),
            Packed::Local(base, len, offset) => (22, [base, len, offset.0], node(offset)),
        };
        let [a, b, c] = words.map(u64::from);
        let hash = Mix::default().add(tag).add(a | b << 32).add(c).finish();
        HashKey { near, hash }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_node_takes_sixteen_bytes_and_comes_back() {
        assert_eq!(std::mem::size_of::<Packed>(), 16);
        let mut rare = PackedParts::default();
        let (e, l) = (ExprId, List);
        let range = Range {
            start: -3,
            step: 2,
            count: 1 << 40,
        };
        let access = |kind| Access {
            var: VarId(7),
            kind,
            subs: l(9),
        };
        for node in [
            Node::Real((-0.0f64).to_bits()),
            Node::Real(f64::NAN.to_bits()),
            Node::Int(i64::MIN + 5),
            Node::Bool(true),
            Node::Str(StrId(4)),
            Node::Time,
            Node::Iter(IterId(8)),
            Node::Var(access(ValueKind::Value)),
            Node::Var(access(ValueKind::Pre)),
            Node::Var(access(ValueKind::Der(3))),
            Node::Add(l(1)),
            Node::Mul(l(1)),
            Node::Div(e(1), e(2)),
            Node::Pow(e(1), e(2)),
            Node::Rel(RelOp::Ge, e(1), e(2)),
            Node::Not(e(1)),
            Node::And(e(1), e(2)),
            Node::Or(e(1), e(2)),
            Node::If(e(1), e(2), e(3)),
            Node::Call(Builtin::Atan2, l(5)),
            Node::Reduce {
                op: ReduceOp::Max,
                iter: IterId(1),
                range,
                body: e(6),
            },
            Node::Select(e(3), l(2)),
            Node::NoEvent(e(4)),
            Node::Smooth(2, e(4)),
            Node::Apply {
                func: FuncId(1),
                args: l(2),
                output: 3,
                wrt: l(4),
            },
            Node::Local {
                base: 1,
                len: 2,
                offset: e(3),
            },
        ] {
            let packed = rare.pack(node);
            assert_eq!(rare.unpack(packed), node);
        }
    }
}
