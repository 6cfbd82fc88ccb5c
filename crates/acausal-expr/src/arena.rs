//! The hash-consed arena.
//!
//! Invariants: a node's children have smaller indices; two nodes are never equal. So "reachable, in ascending order" is
//! an evaluation order, and a pass costs time linear in the number of distinct subexpressions.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use crate::packed::{Packed, PackedParts};
use crate::table::{HashKey, Mix, Table};
use crate::{Access, ExprId, IterId, Limits, List, Node, StrId, Ty};

/// All expressions of one model. Read from a file it needs `restore_tables`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Exprs {
    nodes: Vec<Packed>,
    types: Vec<Ty>,
    rare: PackedParts,
    #[serde(skip)]
    node_table: Table,
    /// The members of all lists, one list after the other.
    members: Vec<ExprId>,
    /// Where the members of each list end. The first list is the empty one, which is in no table.
    ends: Vec<u32>,
    #[serde(skip)]
    list_table: Table,
    strings: IndexSet<Box<str>, FxBuildHasher>,
    /// Names of iterators; those of the compiler's own have none.
    iterators: Vec<acausal_base::Name>,
    /// What the model may cost.
    #[serde(skip)]
    pub limits: Limits,
}

impl Default for Exprs {
    fn default() -> Self {
        Exprs {
            nodes: Vec::new(),
            types: Vec::new(),
            rare: PackedParts::default(),
            node_table: Table::default(),
            members: Vec::new(),
            ends: vec![0],
            list_table: Table::default(),
            strings: IndexSet::default(),
            iterators: Vec::new(),
            limits: Limits::default(),
        }
    }
}

impl Exprs {
    /// The node of an expression.
    #[inline]
    pub fn node(&self, e: ExprId) -> Node {
        self.rare.unpack(self.nodes[e.index()])
    }

    /// The numeric class of an expression.
    #[inline]
    pub fn ty(&self, e: ExprId) -> Ty {
        self.types[e.index()]
    }

    /// Whether there is a sum, product or the like over an iterator at all.
    pub fn has_reductions(&self) -> bool {
        !self.rare.no_ranges()
    }

    /// The members of a list.
    #[inline]
    pub fn list(&self, l: List) -> &[ExprId] {
        members(&self.members, &self.ends, l.0)
    }

    /// The text of a string.
    pub fn string(&self, s: StrId) -> &str {
        &self.strings[s.0 as usize]
    }

    /// What a file does not hold of an arena: where expressions are found that are built again.
    pub(crate) fn restore_tables(&mut self) {
        self.node_table = Table::later(self.nodes.len());
        self.list_table = Table::later(self.ends.len().saturating_sub(1));
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
    pub fn new_iter(&mut self, name: impl Into<acausal_base::Name>) -> IterId {
        self.iterators.push(name.into());
        IterId(self.iterators.len() as u32 - 1)
    }

    /// A new iterator of the compiler's own: it has no name, and is printed as `i` and its number, so that loops are told apart.
    pub fn fresh_iter(&mut self) -> IterId {
        self.new_iter("")
    }

    /// Whether an iterator is the compiler's own.
    pub fn is_fresh_iter(&self, i: IterId) -> bool {
        self.iterators[i.0 as usize].as_str().is_empty()
    }

    /// What all iterators are called.
    pub fn iter_names(&self) -> impl Iterator<Item = acausal_base::Name> {
        (0..self.iterators.len() as u32).map(|i| self.iter_name(IterId(i)))
    }

    /// What an iterator is called: a user may well have another one of the name of one of the compiler's own.
    pub fn iter_name(&self, i: IterId) -> acausal_base::Name {
        match self.iterators[i.0 as usize] {
            name if name.as_str().is_empty() => acausal_base::Name::new(&format!("i{}", i.0)),
            name => name,
        }
    }

    /// Interns a list.
    pub fn make_list(&mut self, list: &[ExprId]) -> List {
        if list.is_empty() {
            return List(0);
        }
        let (all, ends) = (&self.members, &self.ends);
        let (number, new) = self.list_table.number(
            list_home(list),
            |n| members(all, ends, n + 1) == list,
            |n| list_home(members(all, ends, n + 1)),
        );
        if new {
            self.members.extend_from_slice(list);
            self.ends.push(self.members.len() as u32);
        }
        List(number + 1)
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
        let packed = self.rare.pack(node);
        let nodes = &self.nodes;
        let (number, new) = self.node_table.number(
            packed.home(),
            |n| nodes[n as usize] == packed,
            |n| nodes[n as usize].home(),
        );
        if new {
            self.nodes.push(packed);
            self.types.push(ty);
        }
        ExprId(number)
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

fn members<'a>(all: &'a [ExprId], ends: &[u32], list: u32) -> &'a [ExprId] {
    let start = list
        .checked_sub(1)
        .map_or(0, |before| ends[before as usize]);
    &all[start as usize..ends[list as usize] as usize]
}

/// A list is looked for near its newest member.
fn list_home(list: &[ExprId]) -> HashKey {
    let newest = list.iter().map(|e| e.index()).max();
    let mix = list
        .iter()
        .fold(Mix::default(), |m, e| m.add(u64::from(e.0)));
    HashKey {
        near: newest.map(|e| 2 * e),
        hash: mix.finish(),
    }
}
