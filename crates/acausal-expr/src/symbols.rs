//! What a compiled model keeps of the flat one: names, declarations and where equations stand, so that results have names and messages
//! speak of what the user wrote. The equations themselves are programs by then.

use crate::flat::{Enumeration, Experiment, FlatModel, Function, Origin, OriginId, Variable};
use crate::print::Scope;
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
            experiment: flat.experiment,
            fingerprint: flat.fingerprint,
        }
    }
}

impl Scope for Symbols {
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
