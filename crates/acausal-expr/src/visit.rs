//! Walking over subexpressions without allocating for small ones.
//!
//! Most equations of a large model are small: a handful of nodes each, but hundreds of thousands of them, and every pass
//! walks over all. So the set of nodes that were seen is an unsorted list in place up to `INLINE` nodes and a hash table
//! from then on, and the nodes that wait are in place too. [`Images`] is a map on nodes in ascending order.
//!
//! Cost: quadratic up to `INLINE` nodes, which is faster than hashing; linear beyond.

use rustc_hash::FxHashSet;

use crate::{Access, ExprId, Exprs, IterId, Node};

/// Up to this many nodes a list is faster than a hash table.
const INLINE: usize = 24;

/// A set of expressions.
#[derive(Default)]
pub struct ExprSet {
    inline: [ExprId; INLINE],
    len: usize,
    many: FxHashSet<ExprId>,
}

impl ExprSet {
    /// Adds an expression; false if it was in the set.
    pub fn insert(&mut self, e: ExprId) -> bool {
        if self.len < INLINE {
            if self.inline[..self.len].contains(&e) {
                return false;
            }
            self.inline[self.len] = e;
            self.len += 1;
            return true;
        }
        if self.many.is_empty() {
            self.many.extend(self.inline);
        }
        self.many.insert(e)
    }
}

/// Expressions that wait for their turn, the last one first.
#[derive(Default)]
pub struct Stack {
    inline: [ExprId; INLINE],
    len: usize,
    many: Vec<ExprId>,
}

impl Stack {
    /// Adds an expression.
    pub fn push(&mut self, e: ExprId) {
        if self.len < INLINE {
            self.inline[self.len] = e;
            self.len += 1;
        } else {
            self.many.push(e);
        }
    }

    /// Takes the expression that was added last.
    pub fn pop(&mut self) -> Option<ExprId> {
        if let Some(e) = self.many.pop() {
            return Some(e);
        }
        self.len = self.len.checked_sub(1)?;
        Some(self.inline[self.len])
    }
}

/// What expressions become: a map whose keys are known beforehand and are filled in ascending order.
pub struct Images {
    keys: Vec<ExprId>,
    values: Vec<ExprId>,
}

impl Images {
    /// For these expressions, which must ascend.
    pub fn new(keys: Vec<ExprId>) -> Images {
        debug_assert!(keys.is_sorted());
        let values = Vec::with_capacity(keys.len());
        Images { keys, values }
    }

    /// The next expression without an image.
    pub fn next(&self) -> Option<ExprId> {
        self.keys.get(self.values.len()).copied()
    }

    /// Gives the next expression its image.
    pub fn push(&mut self, image: ExprId) {
        self.values.push(image);
    }

    /// The image of an expression, if it has one.
    pub fn get(&self, e: ExprId) -> Option<ExprId> {
        let k = self.keys.binary_search(&e).ok()?;
        self.values.get(k).copied()
    }
}

impl std::ops::Index<&ExprId> for Images {
    type Output = ExprId;

    /// # Panics
    /// If the expression has no image: passes ask for children of what they look at, which come first.
    fn index(&self, e: &ExprId) -> &ExprId {
        let k = self.keys.binary_search(e).unwrap_or(usize::MAX);
        &self.values[k]
    }
}

impl Exprs {
    /// Whether two expressions can be the same scalar of a frame.
    pub(crate) fn locals_meet(&self, a: ExprId, b: ExprId) -> bool {
        let region = |e: ExprId| match self.node(e) {
            Node::Local { base, len, offset } => {
                let base = i64::from(base);
                Some(match self.as_int(offset) {
                    Some(k) => (base + k, base + k + 1),
                    None => (base, base + i64::from(len)),
                })
            }
            _ => None,
        };
        match (region(a), region(b)) {
            (Some(a), Some(b)) => a.0 < b.1 && b.0 < a.1,
            _ => false,
        }
    }

    /// All expressions reachable from the roots, children before parents, each once.
    pub fn reachable(&self, roots: &[ExprId]) -> Vec<ExprId> {
        let mut seen = ExprSet::default();
        let mut stack = Stack::default();
        roots.iter().for_each(|&r| stack.push(r));
        let mut order = Vec::with_capacity(8);
        while let Some(e) = stack.pop() {
            if seen.insert(e) {
                order.push(e);
                self.for_each_child(e, |c| stack.push(c));
            }
        }
        order.sort_unstable();
        order
    }

    /// Visits every access that is reachable from the roots once, in no particular order.
    pub fn for_each_access(&self, roots: &[ExprId], mut visit: impl FnMut(ExprId, Access)) {
        let mut seen = ExprSet::default();
        let mut stack = Stack::default();
        roots.iter().for_each(|&r| stack.push(r));
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            if let Node::Var(a) = self.node(e) {
                visit(e, a);
            }
            self.for_each_child(e, |c| stack.push(c));
        }
    }

    /// True when some reachable node satisfies the predicate.
    pub fn any(&self, root: ExprId, mut predicate: impl FnMut(&Exprs, ExprId) -> bool) -> bool {
        let mut seen = ExprSet::default();
        let mut stack = Stack::default();
        stack.push(root);
        while let Some(e) = stack.pop() {
            if seen.insert(e) {
                if predicate(self, e) {
                    return true;
                }
                self.for_each_child(e, |c| stack.push(c));
            }
        }
        false
    }

    /// Those of the nodes from which one that satisfies the predicate is reachable. The nodes are those of [`Exprs::reachable`]: asking
    /// [`Exprs::any`] about each of them would take quadratic time.
    pub fn above(
        &self,
        reachable: &[ExprId],
        predicate: impl Fn(&Exprs, ExprId) -> bool,
    ) -> FxHashSet<ExprId> {
        let mut above = FxHashSet::default();
        for &e in reachable {
            let mut found = predicate(self, e);
            self.for_each_child(e, |c| found |= above.contains(&c));
            if found {
                above.insert(e);
            }
        }
        above
    }

    /// True when the iterator occurs.
    pub fn depends_on_iter(&self, root: ExprId, iter: IterId) -> bool {
        self.any(root, |x, e| x.node(e) == Node::Iter(iter))
    }

    /// True when `part` is a subexpression of `e`.
    pub fn contains(&self, e: ExprId, part: ExprId) -> bool {
        // Children come before their parents, so what is older than the part does not contain it.
        if e <= part {
            return e == part;
        }
        let mut seen = ExprSet::default();
        let mut stack = Stack::default();
        stack.push(e);
        let mut found = false;
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            self.for_each_child(e, |c| {
                found |= c == part;
                if c > part {
                    stack.push(c);
                }
            });
            if found {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use crate::{ExprId, Exprs, Ty, ValueKind, VarId};

    /// Sums of products, small and large, against plain recursion over the definition.
    #[test]
    fn walks_agree_with_the_definition() {
        let mut x = Exprs::default();
        let vars: Vec<ExprId> = (0..60)
            .map(|k| x.scalar_var(VarId(k), ValueKind::Value, Ty::Real))
            .collect();
        for n in [1usize, 2, 5, 20, 60] {
            let terms: Vec<ExprId> = (0..n)
                .map(|k| x.mul(&[vars[k], vars[(7 * k + 1) % 60]]))
                .collect();
            let sum = x.add(&terms);
            let root = x.div(sum, vars[3]);
            fn under(x: &Exprs, e: ExprId, out: &mut Vec<ExprId>) {
                out.push(e);
                x.for_each_child(e, |c| under(x, c, out));
            }
            let mut all = Vec::new();
            under(&x, root, &mut all);
            all.sort_unstable();
            all.dedup();
            assert_eq!(x.reachable(&[root]), all);
            for e in x.ids() {
                assert_eq!(x.contains(root, e), all.contains(&e), "{e:?}");
                assert_eq!(x.any(root, |_, n| n == e), all.contains(&e), "{e:?}");
            }
        }
    }
}
