//! The hash-consed arena.
//!
//! Invariants: a node's children have smaller indices; two nodes are never equal. So "reachable, in ascending order" is
//! an evaluation order, and a pass costs time linear in the number of distinct subexpressions.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::{Access, ExprId, IterId, List, Node, StrId, Ty};

/// All expressions of one model.
#[derive(Clone, Debug, Default)]
pub struct Exprs {
    nodes: IndexSet<Node, FxBuildHasher>,
    types: Vec<Ty>,
    lists: IndexSet<Box<[ExprId]>, FxBuildHasher>,
    strings: IndexSet<Box<str>, FxBuildHasher>,
    iterators: Vec<acausal_syntax::Name>,
}

impl Exprs {
    /// The node of an expression.
    pub fn node(&self, e: ExprId) -> Node {
        self.nodes[e.index()]
    }

    /// The numeric class of an expression.
    pub fn ty(&self, e: ExprId) -> Ty {
        self.types[e.index()]
    }

    /// The members of a list.
    pub fn list(&self, l: List) -> &[ExprId] {
        &self.lists[l.0 as usize]
    }

    /// The text of a string.
    pub fn string(&self, s: StrId) -> &str {
        &self.strings[s.0 as usize]
    }

    /// Number of distinct expressions so far.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All expressions, in order of creation.
    pub fn ids(&self) -> impl Iterator<Item = ExprId> + use<> {
        (0..self.nodes.len() as u32).map(ExprId)
    }

    /// True when nothing was built yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A new iterator. The name is for printing only.
    pub fn new_iter(&mut self, name: impl Into<acausal_syntax::Name>) -> IterId {
        self.iterators.push(name.into());
        IterId(self.iterators.len() as u32 - 1)
    }

    /// A new iterator of the compiler's own, named `i` and a number, so that printed loops are told apart.
    pub fn fresh_iter(&mut self) -> IterId {
        self.new_iter(format!("i{}", self.iterators.len()).as_str())
    }

    /// The name that an iterator was given.
    pub fn iter_name(&self, i: IterId) -> acausal_syntax::Name {
        self.iterators[i.0 as usize]
    }

    /// Interns a list.
    pub fn make_list(&mut self, members: &[ExprId]) -> List {
        if let Some(i) = self.lists.get_index_of(members) {
            return List(i as u32);
        }
        List(self.lists.insert_full(members.into()).0 as u32)
    }

    /// Interns a string.
    pub fn make_str(&mut self, text: &str) -> StrId {
        if let Some(i) = self.strings.get_index_of(text) {
            return StrId(i as u32);
        }
        StrId(self.strings.insert_full(text.into()).0 as u32)
    }

    /// Interns a node as it is. Use the constructors in `build` instead: they simplify.
    pub(crate) fn intern(&mut self, node: Node, ty: Ty) -> ExprId {
        let (index, new) = self.nodes.insert_full(node);
        if new {
            self.types.push(ty);
        }
        ExprId(index as u32)
    }

    /// Calls `f` for each direct child.
    pub fn for_each_child(&self, e: ExprId, mut f: impl FnMut(ExprId)) {
        match self.node(e) {
            Node::Real(_)
            | Node::Int(_)
            | Node::Bool(_)
            | Node::Str(_)
            | Node::Time
            | Node::Iter(_) => {}
            Node::Var(Access { subs: l, .. }) | Node::Add(l) | Node::Mul(l) | Node::Call(_, l) => {
                self.list(l).iter().copied().for_each(f)
            }
            Node::Div(a, b)
            | Node::Pow(a, b)
            | Node::Rel(_, a, b)
            | Node::And(a, b)
            | Node::Or(a, b) => {
                f(a);
                f(b);
            }
            Node::Not(a) | Node::NoEvent(a) | Node::Smooth(_, a) => f(a),
            Node::If(c, a, b) => {
                f(c);
                f(a);
                f(b);
            }
            Node::Reduce { body, .. } => f(body),
            Node::Select(i, l) => {
                f(i);
                self.list(l).iter().copied().for_each(f);
            }
            Node::Apply { args, .. } => self.list(args).iter().copied().for_each(f),
            Node::Local { offset, .. } => f(offset),
        }
    }

    /// The variable accesses in an expression (subscripts of accesses included), ascending, each once.
    pub fn accesses(&self, root: ExprId) -> Vec<(ExprId, Access)> {
        self.reachable(&[root])
            .into_iter()
            .filter_map(|e| match self.node(e) {
                Node::Var(a) => Some((e, a)),
                _ => None,
            })
            .collect()
    }
}
