//! Steps: `ceil`, `div`, `mod` and `rem` of continuous Reals by `floor`, whose cell makes their jumps events (MLS 3.6
//! §3.7.2: they trigger events outside of `noEvent`).
//!
//! ```text
//! ceil(x)   = -floor(-x)
//! mod(x, y) = x - y*floor(x/y)
//! div(x, y) = sign(x/y)*floor(abs(x/y))
//! rem(x, y) = x - y*div(x, y)
//! ```
//!
//! One pass takes the outermost ones, so there are as many passes as they are nested.

use acausal_expr::{Builtin, ExprId, Exprs, Node, Ty};
use acausal_symbolic::Substitute;
use rustc_hash::FxHashSet;

use crate::cells::is_continuous;
use crate::lower::Lowering;

impl Lowering<'_> {
    /// The expression with its steps written by `floor`. Inside of `noEvent` and `smooth` they stay.
    pub(crate) fn expand_steps(&mut self, mut root: ExprId) -> ExprId {
        loop {
            let found = self.steps(root);
            if found.is_empty() {
                return root;
            }
            root = self.flat.exprs.rewrite(root, |x, e| match x.node(e) {
                Node::NoEvent(_) | Node::Smooth(..) => Some(e),
                Node::Call(f, l) if found.contains(&e) => {
                    let args = x.list(l).to_vec();
                    Some(by_floor(x, f, &args))
                }
                _ => None,
            });
        }
    }

    /// Steps of continuous Reals outside of `noEvent`.
    fn steps(&self, root: ExprId) -> FxHashSet<ExprId> {
        let x = &self.flat.exprs;
        let mut found = FxHashSet::default();
        let is_step = |n: ExprId| match x.node(n) {
            Node::Call(Builtin::Ceil, _) => true,
            Node::Call(Builtin::Mod | Builtin::Rem | Builtin::Div, _) => x.ty(n) == Ty::Real,
            _ => false,
        };
        if !x.any(root, |_, n| is_step(n)) {
            return found;
        }
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        let mut stack = vec![root];
        while let Some(e) = stack.pop() {
            if !seen.insert(e) || matches!(x.node(e), Node::NoEvent(_) | Node::Smooth(..)) {
                continue;
            }
            if is_step(e) && is_continuous(self.flat, e) {
                found.insert(e);
            }
            x.for_each_child(e, |c| stack.push(c));
        }
        found
    }
}

fn by_floor(x: &mut Exprs, f: Builtin, args: &[ExprId]) -> ExprId {
    let quotient = |x: &mut Exprs| x.div(args[0], args[1]);
    match f {
        Builtin::Ceil => {
            let turned = x.neg(args[0]);
            let floor = x.call(Builtin::Floor, &[turned]);
            x.neg(floor)
        }
        Builtin::Mod => {
            let q = quotient(x);
            let floor = x.call(Builtin::Floor, &[q]);
            rest(x, args, floor)
        }
        _ => {
            let q = quotient(x);
            let size = x.call(Builtin::Abs, &[q]);
            let floor = x.call(Builtin::Floor, &[size]);
            let sign = x.call(Builtin::Sign, &[q]);
            let whole = x.mul(&[sign, floor]);
            match f {
                Builtin::Rem => rest(x, args, whole),
                _ => whole,
            }
        }
    }
}

/// What is left of the first argument when the second is taken out of it so many times.
fn rest(x: &mut Exprs, args: &[ExprId], times: ExprId) -> ExprId {
    let taken = x.mul(&[args[1], times]);
    x.sub(args[0], taken)
}
