//! The arena of class definitions. Knows who is nested in whom; looks nothing up beyond that.

use std::sync::Arc;

use acausal_base::Name;
use acausal_syntax::ast::ClassDef;
use rustc_hash::FxHashMap;

use super::directory::Directory;
use super::table::ElementTable;

/// Index of a class definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(pub u32);

/// A class definition in its place.
#[derive(Debug)]
pub struct Class {
    /// Its simple name.
    pub name: Name,
    /// The class it is written in; none at top level.
    pub parent: Option<ClassId>,
    /// What was written.
    pub def: Arc<ClassDef>,
    /// Nested classes that have files of their own.
    pub(super) directory: Option<Directory>,
    /// Nested classes that have been given an index, wherever they are stored.
    pub(super) nested: FxHashMap<Name, ClassId>,
    /// Made on first use.
    pub(super) table: Option<Arc<ElementTable>>,
}

/// All classes known so far.
#[derive(Debug, Default)]
pub(super) struct Arena {
    classes: Vec<Class>,
}

impl Arena {
    /// Gives a class an index. It becomes reachable when its parent's `nested` or the top level names it.
    pub fn add(&mut self, def: Arc<ClassDef>, parent: Option<ClassId>) -> ClassId {
        let id = ClassId(self.classes.len() as u32);
        self.classes.push(Class {
            name: def.name.name,
            parent,
            def,
            directory: None,
            nested: FxHashMap::default(),
            table: None,
        });
        id
    }

    pub fn get(&self, id: ClassId) -> &Class {
        &self.classes[id.0 as usize]
    }

    pub fn get_mut(&mut self, id: ClassId) -> &mut Class {
        &mut self.classes[id.0 as usize]
    }

    /// The name with all enclosing classes: `A.B.C`.
    pub fn qualified_name(&self, id: ClassId) -> String {
        let mut names = Vec::new();
        let mut next = Some(id);
        while let Some(id) = next {
            let class = self.get(id);
            names.push(class.name.as_str());
            next = class.parent;
        }
        names.reverse();
        names.join(".")
    }
}
