//! Names of flat variables, such as `r[3].p.v`.
//!
//! A model has as many names as variables, and those of one component begin alike. So the names of a model are a tree: a name is the node of
//! its last part, and a node knows its parent. `r1.p.v`, `r1.p.i` and `r1.R` are five nodes of sixteen bytes; as lists of parts they are
//! three pieces of memory with eight parts.
//!
//! ```
//! use acausal_expr::flat::{NameTree, VarName};
//! use acausal_base::Name;
//! let mut tree = NameTree::default();
//! let r = tree.add(None, Name::new("r"), 1);
//! let v = tree.add(Some(r), Name::new("v"), 0);
//! let names: Vec<VarName> = tree.names(vec![v]).collect();
//! assert_eq!(names[0].plain(), "r.v");
//! assert_eq!(names[0].element(&[3]), "r[3].v");
//! assert_eq!(names[0], VarName::new(&[(Name::new("r"), 1), (Name::new("v"), 0)]));
//! ```

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use acausal_base::Name;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A name such as `r[3].p.v`: each part with the number of array dimensions declared at it.
///
/// The dimensions of a flat variable are those of all parts in order; `r.p.v` with `r[N]` has shape `[N]` and element
/// 3 is printed `r[3].p.v`.
#[derive(Clone, Default)]
pub struct VarName {
    /// The tree and the node of the last part; nothing for the name without parts.
    tree: Option<Arc<NameTree>>,
    at: u32,
}

/// The names of many variables.
#[derive(Clone, Debug, Default)]
pub struct NameTree {
    nodes: Vec<Node>,
}

/// A part of names.
#[derive(Clone, Copy, Debug)]
struct Node {
    name: Name,
    /// The part before it, plus one; 0 at the first part.
    parent: u32,
    dims: u8,
}

impl NameTree {
    /// Adds a part behind another one and gives its number.
    pub fn add(&mut self, parent: Option<u32>, name: Name, dims: u8) -> u32 {
        self.nodes.push(Node {
            name,
            parent: parent.map_or(0, |p| p + 1),
            dims,
        });
        self.nodes.len() as u32 - 1
    }

    /// The names that end with these parts.
    pub fn names(mut self, ends: Vec<u32>) -> impl Iterator<Item = VarName> {
        self.nodes.shrink_to_fit();
        let tree = Arc::new(self);
        ends.into_iter().map(move |at| VarName {
            tree: Some(Arc::clone(&tree)),
            at,
        })
    }
}

/// The names of all variables of a model for a file: one tree, whose parts name their texts by number.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoredNames {
    texts: Vec<Name>,
    /// Per part: its text, the part before it plus one or 0, its dimensions.
    parts: Vec<(u32, u32, u8)>,
    /// Per variable: its last part plus one; 0 for the name without parts.
    ends: Vec<u32>,
}

impl StoredNames {
    /// Takes trees over as they are, one behind the other: names of one component share their parts.
    pub(crate) fn new<'n>(names: impl Iterator<Item = &'n VarName>) -> StoredNames {
        let mut stored = StoredNames::default();
        let mut number: FxHashMap<Name, u32> = FxHashMap::default();
        let mut first: FxHashMap<*const NameTree, u32> = FxHashMap::default();
        for name in names {
            let Some(tree) = &name.tree else {
                stored.ends.push(0);
                continue;
            };
            let base = *first.entry(Arc::as_ptr(tree)).or_insert_with(|| {
                let base = stored.parts.len() as u32;
                for node in &tree.nodes {
                    let text = *number.entry(node.name).or_insert_with(|| {
                        stored.texts.push(node.name);
                        stored.texts.len() as u32 - 1
                    });
                    let parent = if node.parent == 0 {
                        0
                    } else {
                        node.parent + base
                    };
                    stored.parts.push((text, parent, node.dims));
                }
                base
            });
            stored.ends.push(base + name.at + 1);
        }
        stored
    }

    /// The names, in order; nothing if the numbers do not fit together.
    pub(crate) fn names(self) -> Option<Vec<VarName>> {
        let mut nodes = Vec::with_capacity(self.parts.len());
        for (k, (text, parent, dims)) in self.parts.into_iter().enumerate() {
            // A part stands behind the one before it, so that no name is endless.
            if parent as usize > k {
                return None;
            }
            let name = *self.texts.get(text as usize)?;
            nodes.push(Node { name, parent, dims });
        }
        let tree = Arc::new(NameTree { nodes });
        let name = |end: u32| match end {
            0 => Some(VarName::default()),
            end if end as usize <= tree.nodes.len() => Some(VarName {
                tree: Some(Arc::clone(&tree)),
                at: end - 1,
            }),
            _ => None,
        };
        self.ends.into_iter().map(name).collect()
    }
}

impl VarName {
    /// The name with these parts.
    pub fn new(parts: &[(Name, u8)]) -> VarName {
        let mut tree = NameTree::default();
        let mut last = None;
        for &(name, dims) in parts {
            last = Some(tree.add(last, name, dims));
        }
        VarName {
            tree: last.map(|_| Arc::new(tree)),
            at: last.unwrap_or(0),
        }
    }

    /// The nodes of the tree on the way to the name, the last part first. Names are compared while a large model is analysed, so that this needs no
    /// memory of its own.
    fn path(&self) -> Path<'_> {
        let nodes = self.tree.as_ref().map_or(&[][..], |tree| &tree.nodes);
        let mut path = Path {
            nodes,
            inline: [0; INLINE_PARTS],
            len: 0,
            many: Vec::new(),
        };
        let mut at = match nodes.is_empty() {
            true => 0,
            false => self.at + 1,
        };
        while at > 0 {
            match path.inline.get_mut(path.len) {
                Some(slot) => *slot = at - 1,
                None => path.many.push(at - 1),
            }
            path.len += 1;
            at = nodes[at as usize - 1].parent;
        }
        path
    }

    /// `(identifier, number of dimensions)`, first part first.
    pub fn parts(&self) -> Vec<(Name, u8)> {
        let Some(tree) = &self.tree else {
            return Vec::new();
        };
        let mut parts = Vec::with_capacity(4);
        let mut at = self.at + 1;
        while at > 0 {
            let node = tree.nodes[at as usize - 1];
            parts.push((node.name, node.dims));
            at = node.parent;
        }
        parts.reverse();
        parts
    }

    /// The name without its last part: the component that a variable belongs to.
    pub fn around(&self) -> VarName {
        let mut parts = self.parts();
        parts.pop();
        VarName::new(&parts)
    }

    /// The name without subscripts.
    pub fn plain(&self) -> String {
        let parts: Vec<&str> = self.parts().iter().map(|(n, _)| n.as_str()).collect();
        parts.join(".")
    }

    /// The name with one subscript text per dimension, put where each dimension belongs.
    pub fn with_subscripts(&self, subs: &[String]) -> String {
        let mut out = String::new();
        let mut next = 0;
        for (k, (name, dims)) in self.parts().into_iter().enumerate() {
            if k > 0 {
                out.push('.');
            }
            out.push_str(&name);
            let end = (next + dims as usize).min(subs.len());
            if next < end {
                out.push('[');
                out.push_str(&subs[next..end].join(","));
                out.push(']');
            }
            next = end;
        }
        out
    }

    /// The name of one element, by its subscripts from 1.
    pub fn element(&self, subs: &[usize]) -> String {
        let texts: Vec<String> = subs.iter().map(|s| s.to_string()).collect();
        self.with_subscripts(&texts)
    }
}

/// Names with more parts are rare.
const INLINE_PARTS: usize = 12;

/// The parts of a name.
struct Path<'t> {
    nodes: &'t [Node],
    inline: [u32; INLINE_PARTS],
    len: usize,
    many: Vec<u32>,
}

impl Path<'_> {
    /// Number of a node, and its part; counted from the first part.
    fn part(&self, k: usize) -> (u32, (Name, u8)) {
        let from_last = self.len - 1 - k;
        let at = match self.inline.get(from_last) {
            Some(&at) => at,
            None => self.many[from_last - INLINE_PARTS],
        };
        let node = &self.nodes[at as usize];
        (at, (node.name, node.dims))
    }
}

impl PartialEq for VarName {
    fn eq(&self, other: &VarName) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for VarName {}

impl Hash for VarName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

/// By the texts of the parts, the first one first.
impl Ord for VarName {
    fn cmp(&self, other: &VarName) -> Ordering {
        let (a, b) = (self.path(), other.path());
        let same_tree = std::ptr::eq(a.nodes, b.nodes);
        for k in 0..a.len.min(b.len) {
            let ((m, x), (n, y)) = (a.part(k), b.part(k));
            // One node is one part, whose text need not be looked at.
            if same_tree && m == n {
                continue;
            }
            let order = x.cmp(&y);
            if order != Ordering::Equal {
                return order;
            }
        }
        a.len.cmp(&b.len)
    }
}

impl PartialOrd for VarName {
    fn partial_cmp(&self, other: &VarName) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for VarName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts().fmt(f)
    }
}
