//! Shapes of scalar equations: what two equations share when they differ only in the variables they name.
//!
//! A network that is written out has thousands of equations `p.v - n.v = R*p.i`. They have one *shape*; it is lowered and
//! differentiated once, and each equation only contributes where its variables lie. In: a scalar expression. Out: its
//! shape as words and the variables in it, in the order of their first appearance.
//!
//! Example: `r1.p.v - r1.n.v - r1.R*r1.p.i` and the same of `r2` both give `(0 - 1) - 2*0'…` with the leaves numbered
//! 0, 1, 2, 3. Whether a leaf can have a derivative belongs to the shape; where it lies does not.
//!
//! Only ordinary arithmetic has a shape here: relations, conditions and user functions have state or cells of their own and
//! take the general way. Complexity: linear in the expression written as a tree, which is bounded by [`MOST_WORDS`].

use acausal_expr::{Access, Builtin, ExprId, Exprs, Node, ValueKind, VarId};

/// Longer expressions take the general way; they are rare, and their subexpressions may be shared.
const MOST_WORDS: usize = 400;

/// A variable in a scalar expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShapeLeaf {
    /// `time`
    Time,
    /// A scalar variable or an element with literal subscripts.
    Access(Access),
}

/// The shape of an expression, and what it names.
#[derive(Clone, Debug, Default)]
pub struct Shaped {
    /// The shape.
    pub words: Vec<u64>,
    /// What it names.
    pub leaves: Vec<ShapeLeaf>,
    stack: Vec<ExprId>,
}

impl Shaped {
    /// Finds the shape of `root`; false when it has none. `varies` says which variables can have derivatives. The buffers are used
    /// again.
    pub fn read(&mut self, x: &Exprs, varies: impl Fn(VarId) -> bool, root: ExprId) -> bool {
        self.words.clear();
        self.leaves.clear();
        self.stack.clear();
        self.stack.push(root);
        while let Some(e) = self.stack.pop() {
            if self.words.len() > MOST_WORDS {
                return false;
            }
            match x.node(e) {
                Node::Real(bits) => self.words.extend([1, bits]),
                Node::Int(i) => self.words.extend([2, i as u64]),
                Node::Time => self.leaf(ShapeLeaf::Time, false),
                Node::Var(a) => {
                    if x.list(a.subs).iter().any(|&s| x.as_int(s).is_none()) {
                        return false;
                    }
                    let active = a.kind != ValueKind::Pre && varies(a.var);
                    self.leaf(ShapeLeaf::Access(a), active);
                }
                Node::Add(l) => self.list(5, 0, x.list(l)),
                Node::Mul(l) => self.list(6, 0, x.list(l)),
                Node::Div(a, b) => self.list(7, 0, &[a, b]),
                Node::Pow(a, b) => self.list(8, 0, &[a, b]),
                Node::Call(f, l) if is_plain(f) => self.list(9, f as u64, x.list(l)),
                _ => return false,
            }
        }
        true
    }

    fn leaf(&mut self, leaf: ShapeLeaf, active: bool) {
        let number = self.leaves.iter().position(|l| *l == leaf);
        let number = number.unwrap_or_else(|| {
            self.leaves.push(leaf);
            self.leaves.len() - 1
        });
        self.words.extend([3, (number as u64) << 1 | active as u64]);
    }

    fn list(&mut self, tag: u64, which: u64, members: &[ExprId]) {
        self.words
            .push(tag | which << 8 | (members.len() as u64) << 32);
        self.stack.extend(members.iter().rev());
    }
}

/// Functions without events.
fn is_plain(f: Builtin) -> bool {
    matches!(
        f,
        Builtin::Sqrt
            | Builtin::Sin
            | Builtin::Cos
            | Builtin::Tan
            | Builtin::Asin
            | Builtin::Acos
            | Builtin::Atan
            | Builtin::Atan2
            | Builtin::Sinh
            | Builtin::Cosh
            | Builtin::Tanh
            | Builtin::Exp
            | Builtin::Log
            | Builtin::Log10
    )
}
