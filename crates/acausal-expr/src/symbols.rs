//! What a compiled model keeps of the flat one: names, declarations and where equations stand, so that results have names and messages
//! speak of what the user wrote. The equations themselves are programs by then.
//!
//! In a file, what variables and origins share (names, attributes, paths of components) is written once.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::flat::{
    Attributes, Enumeration, Experiment, FlatModel, Function, Origin, OriginId, Variable,
};
use crate::print::Declarations;
use crate::var_name::StoredNames;
use crate::{Exprs, FuncId, VarId};

/// Names, declarations, origins and the expressions that messages show.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// Full name of the simulated class.
    pub name: String,
    /// Description string of the class.
    pub description: String,
    /// Expressions of equations, conditions and messages.
    pub exprs: Exprs,
    /// Variables, parameters and constants, in order of declaration.
    pub vars: Vec<Variable>,
    /// Functions that are evaluated at run time.
    pub functions: Vec<Function>,
    /// Enumeration types, by [`VarType::Enum`](crate::flat::VarType::Enum).
    pub enums: Vec<Enumeration>,
    /// Where equations and clauses came from.
    pub origins: Vec<Origin>,
    /// Variables whose start value is part of an equation or of the start value of another variable.
    pub inlined_starts: Vec<VarId>,
    /// The `experiment` annotation.
    pub experiment: Experiment,
    /// Tells models apart by their equations, whatever the values of their parameters are.
    pub fingerprint: u64,
}

impl Symbols {
    /// The variable of this id.
    pub fn var(&self, id: VarId) -> &Variable {
        &self.vars[id.index()]
    }

    /// Variables with their ids.
    pub fn var_ids(&self) -> impl Iterator<Item = (VarId, &Variable)> {
        (self.vars.iter().enumerate()).map(|(i, v)| (VarId(i as u32), v))
    }

    /// The origin of an equation or clause.
    pub fn origin(&self, id: OriginId) -> &Origin {
        &self.origins[id.0 as usize]
    }
}

impl From<FlatModel> for Symbols {
    fn from(flat: FlatModel) -> Symbols {
        Symbols {
            name: flat.name,
            description: flat.description,
            exprs: flat.exprs,
            vars: flat.vars,
            functions: flat.functions,
            enums: flat.enums,
            origins: flat.origins,
            inlined_starts: flat.inlined_starts,
            experiment: flat.experiment,
            fingerprint: flat.fingerprint,
        }
    }
}

impl Declarations for Symbols {
    fn exprs(&self) -> &Exprs {
        &self.exprs
    }

    fn variables(&self) -> &[Variable] {
        &self.vars
    }

    fn function_name(&self, id: FuncId) -> Option<&str> {
        self.functions.get(id.0 as usize).map(|f| f.name.as_str())
    }
}

/// What a file holds.
#[derive(Serialize, Deserialize)]
struct Stored<'a> {
    name: Cow<'a, str>,
    description: Cow<'a, str>,
    exprs: Cow<'a, Exprs>,
    vars: Cow<'a, [Variable]>,
    names: StoredNames,
    attributes: Shared<Attributes>,
    functions: Cow<'a, [Function]>,
    enums: Cow<'a, [Enumeration]>,
    origins: Cow<'a, [Origin]>,
    components: Shared<str>,
    inlined_starts: Cow<'a, [VarId]>,
    experiment: Experiment,
    fingerprint: u64,
}

/// Values that many items share.
#[derive(Serialize, Deserialize)]
#[serde(bound(
    serialize = "Arc<T>: Serialize",
    deserialize = "Arc<T>: Deserialize<'de>"
))]
struct Shared<T: ?Sized> {
    values: Vec<Arc<T>>,
    /// Per item: its value plus one; 0 for none.
    of: Vec<u32>,
}

impl<T: ?Sized> Shared<T> {
    /// Values are the same if they lie at the same place.
    fn new<'t>(items: impl Iterator<Item = Option<&'t Arc<T>>>) -> Shared<T>
    where
        T: 't,
    {
        let mut shared = Shared {
            values: Vec::new(),
            of: Vec::new(),
        };
        let mut number: FxHashMap<*const u8, u32> = FxHashMap::default();
        for item in items {
            let Some(value) = item else {
                shared.of.push(0);
                continue;
            };
            let k = number
                .entry(Arc::as_ptr(value).cast::<u8>())
                .or_insert_with(|| {
                    shared.values.push(Arc::clone(value));
                    shared.values.len() as u32
                });
            shared.of.push(*k);
        }
        shared
    }

    /// The value of an item, if it has one; an error for a number without value.
    fn get(&self, item: usize) -> Result<Option<Arc<T>>, &'static str> {
        match self.of.get(item).copied() {
            None => Err("an item without its value"),
            Some(0) => Ok(None),
            Some(k) => match self.values.get(k as usize - 1) {
                Some(value) => Ok(Some(Arc::clone(value))),
                None => Err("a number without its value"),
            },
        }
    }
}

impl Serialize for Symbols {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Stored {
            name: Cow::Borrowed(&self.name),
            description: Cow::Borrowed(&self.description),
            exprs: Cow::Borrowed(&self.exprs),
            vars: Cow::Borrowed(&self.vars),
            names: StoredNames::new(self.vars.iter().map(|v| &v.name)),
            attributes: Shared::new(self.vars.iter().map(|v| v.attributes.as_ref())),
            functions: Cow::Borrowed(&self.functions),
            enums: Cow::Borrowed(&self.enums),
            origins: Cow::Borrowed(&self.origins),
            components: Shared::new(self.origins.iter().map(|o| Some(&o.component))),
            inlined_starts: Cow::Borrowed(&self.inlined_starts),
            experiment: self.experiment,
            fingerprint: self.fingerprint,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Symbols {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Symbols, D::Error> {
        use serde::de::Error;
        let stored = Stored::deserialize(deserializer)?;
        let mut vars = stored.vars.into_owned();
        let names = stored.names.names();
        let names = names.filter(|names| names.len() == vars.len());
        let names = names.ok_or_else(|| D::Error::custom("names that do not fit"))?;
        for (k, (var, name)) in vars.iter_mut().zip(names).enumerate() {
            var.name = name;
            var.attributes = stored.attributes.get(k).map_err(D::Error::custom)?;
        }
        let mut origins = stored.origins.into_owned();
        for (k, origin) in origins.iter_mut().enumerate() {
            let component = stored.components.get(k).map_err(D::Error::custom)?;
            origin.component = component.unwrap_or_default();
        }
        let mut exprs = stored.exprs.into_owned();
        exprs.restore_tables();
        Ok(Symbols {
            name: stored.name.into_owned(),
            description: stored.description.into_owned(),
            exprs,
            vars,
            functions: stored.functions.into_owned(),
            enums: stored.enums.into_owned(),
            origins,
            inlined_starts: stored.inlined_starts.into_owned(),
            experiment: stored.experiment,
            fingerprint: stored.fingerprint,
        })
    }
}
