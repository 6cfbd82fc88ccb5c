//! Walks the instance tree: decides which conditional components exist, and gives every primitive component its flat
//! variable, in order of declaration.
//!
//! Names must be resolvable to variables before the first equation is lowered, so this pass looks at structure only: sizes
//! and conditions (evaluated), types and prefixes.

use acausal_base::Diagnostic;
use acausal_expr::VarId;
use acausal_expr::flat::{
    Causality, Enumeration, NameTree, VarName, VarType, Variability, Variable,
};
use acausal_expr::limits::bytes_text;
use acausal_syntax::ast;

use super::Flattener;
use crate::lower::{Result, Type, error};
use acausal_instance::instance::{EnumId, InstId, InstanceKind};

impl Flattener {
    pub(super) fn expand(&mut self) {
        self.walk(self.root);
        loop {
            let added = self.ctx.instances.take_added_inners();
            if added.is_empty() {
                break;
            }
            for inst in added {
                self.visit(inst);
            }
        }
        self.model.vars.shrink_to_fit();
        self.name_leaves(0);
    }

    /// Names the variables from this one on. Those of a model share a tree of names.
    pub(super) fn name_leaves(&mut self, first: usize) {
        let instances = &self.ctx.instances;
        let mut tree = NameTree::default();
        // Per component: its node, plus one.
        let mut nodes = vec![0; instances.count()];
        let mut ends = Vec::with_capacity(self.leaves.len() - first);
        let mut path = Vec::new();
        for &leaf in &self.leaves[first..] {
            let mut end = 0u32;
            for at in instances.path_up(leaf) {
                end = nodes[at.0 as usize];
                if end > 0 {
                    break;
                }
                path.push(at);
            }
            while let Some(at) = path.pop() {
                let data = instances.data(at);
                end = 1 + tree.add(end.checked_sub(1), data.name, data.rank);
                nodes[at.0 as usize] = end;
            }
            ends.push(end - 1);
        }
        for (v, name) in self.model.vars[first..].iter_mut().zip(tree.names(ends)) {
            v.name = name;
        }
    }

    /// The members of a component. The recursion is over the nesting of components.
    fn walk(&mut self, inst: InstId) {
        self.composites.push(inst);
        for child in self.ctx.instances.components(inst) {
            self.visit(child);
        }
    }

    pub(super) fn visit(&mut self, inst: InstId) {
        if self.too_many_components(inst) {
            return;
        }
        match self.exists(inst) {
            Ok(true) => {}
            Ok(false) => {
                self.ctx.absent.insert(inst);
                return;
            }
            Err(e) => {
                self.ctx.errors.push(e.into());
                return;
            }
        }
        self.check_prefixes(inst);
        let span = self.ctx.instances.data(inst).span;
        match self.ctx.instances.kind(inst) {
            InstanceKind::Primitive(_) | InstanceKind::ExternalObject => {
                let result = self.leaf(inst);
                self.ctx.keep(result);
            }
            InstanceKind::Connector { expandable: true } => {
                let result = self.ctx.dims(inst);
                if self.ctx.keep(result).is_some() {
                    self.composites.push(inst);
                    self.expandables.push(inst);
                }
            }
            InstanceKind::Record { .. }
            | InstanceKind::Connector { .. }
            | InstanceKind::Model
            | InstanceKind::Block => {
                let result = self.ctx.dims(inst);
                if self.ctx.keep(result).is_some() {
                    self.walk(inst);
                }
            }
            InstanceKind::Error => {}
            InstanceKind::Package | InstanceKind::Function | InstanceKind::Operator => {
                let class = self.ctx.instances.class_name(inst);
                self.ctx.errors.push(Diagnostic::error(
                    "not-instantiable",
                    span,
                    format!("`{class}` cannot be the class of a component"),
                ));
            }
        }
    }

    /// Whether the model has more components than it may; said once.
    fn too_many_components(&mut self, inst: InstId) -> bool {
        let most = self.ctx.exprs.limits.instances;
        if self.ctx.instances.count() as u64 <= most {
            return false;
        }
        if !self.said_too_many {
            self.said_too_many = true;
            let span = self.ctx.instances.data(inst).span;
            let name = self.ctx.instances.display_name(inst);
            let message = Diagnostic::error(
                "too-many-components",
                span,
                format!("the model has more than {most} components; this is as far as `{name}`"),
            )
            .hint("classes that contain each other double the number at each level; use arrays of components, or raise `--max-components`");
            self.ctx.errors.push(message);
        }
        true
    }

    /// The condition of a conditional component (MLS 3.6 §4.4.5).
    fn exists(&mut self, inst: InstId) -> Result<bool> {
        let Some(condition) = self.ctx.instances.condition(inst) else {
            return Ok(true);
        };
        let framed = self.ctx.frame(condition.scope)?;
        let env = framed.env.evaluating();
        let c = self.ctx.scalar(&env, &condition.expr, Type::Boolean)?;
        let c = self.ctx.uniform(c, &framed.domain).unwrap_or(c);
        match self.ctx.exprs.as_bool(c) {
            Some(b) => Ok(b),
            None => {
                let name = self.ctx.instances.display_name(inst);
                Err(error("condition-differs", condition.expr.span, format!("the condition of `{name}` is not the same for all elements of the array around it"))
                    .hint("declare the elements as separate components"))
            }
        }
    }

    fn leaf(&mut self, inst: InstId) -> Result<()> {
        let mut dims = Vec::new();
        let mut total: usize = 1;
        for array in self.ctx.enclosing_arrays(inst).into_iter().chain([inst]) {
            dims.extend(self.ctx.dims(array)?);
        }
        for &n in &dims {
            total = match total.checked_mul(n).filter(|&t| t <= i32::MAX as usize) {
                Some(t) => t,
                None => {
                    let span = self.ctx.instances.data(inst).span;
                    let name = self.ctx.instances.display_name(inst);
                    return Err(error(
                        "too-large",
                        span,
                        format!("`{name}` has more than {} elements", i32::MAX),
                    ));
                }
            };
        }
        let limits = self.ctx.exprs.limits;
        let before = self.elements;
        self.elements += total as u64;
        let fits = |n: u64| limits.allows(n, size_of::<f64>() as u64);
        // Of variables that fit by themselves only the one that is too much is named.
        if fits(total as u64) && fits(before) && !fits(self.elements) {
            let span = self.ctx.instances.data(inst).span;
            let name = self.ctx.instances.display_name(inst);
            let message = Diagnostic::error(
                "too-large",
                span,
                format!(
                    "the {total} elements of `{name}` and {before} of variables before it need at least {} of memory, the limit is {}",
                    bytes_text(self.elements as f64 * size_of::<f64>() as f64),
                    bytes_text(limits.memory as f64)
                ),
            )
            .hint("make the arrays smaller, or raise `--memory-limit`");
            self.ctx.errors.push(message);
        }
        if !fits(total as u64) {
            let span = self.ctx.instances.data(inst).span;
            let name = self.ctx.instances.display_name(inst);
            let bytes = total as f64 * size_of::<f64>() as f64;
            // The variable is declared all the same, so that its uses are no errors as well.
            let message = Diagnostic::error(
                "too-large",
                span,
                format!(
                    "the {total} elements of `{name}` need at least {} of memory, the limit is {}",
                    bytes_text(bytes),
                    bytes_text(limits.memory as f64)
                ),
            )
            .hint("make the array smaller, or raise `--memory-limit`");
            self.ctx.errors.push(message);
        }
        let object = self.ctx.instances.kind(inst) == InstanceKind::ExternalObject;
        let ty = match self.ctx.primitive_type(inst) {
            Some(Type::Real) => VarType::Real,
            Some(Type::Integer | Type::Object) => VarType::Integer,
            Some(Type::Boolean | Type::Clock) => VarType::Boolean,
            Some(Type::String) => VarType::String,
            Some(Type::Enum(id)) => VarType::Enum(self.enum_index(id)),
            None => return Ok(()),
        };
        let causality = self.causality(inst);
        let data = self.ctx.instances.data(inst);
        let variability = match data.prefixes.variability {
            Some(ast::VariabilityPrefix::Constant) => Variability::Constant,
            Some(ast::VariabilityPrefix::Parameter) => Variability::Parameter,
            Some(ast::VariabilityPrefix::Discrete) => Variability::Discrete,
            // An object is made once, whatever its declaration says.
            None if object => Variability::Parameter,
            None if ty == VarType::Real => Variability::Continuous,
            None => Variability::Discrete,
        };
        let variable = Variable {
            causality,
            flow: data.prefixes.flow == Some(ast::FlowPrefix::Flow),
            protected: self.is_protected(inst),
            auxiliary: object,
            span: data.span,
            ..Variable::named(VarName::default(), dims, ty, variability)
        };
        let id = VarId(self.model.vars.len() as u32);
        if self.ctx.primitive_type(inst) == Some(Type::Clock) {
            self.clocks.variables.insert(id);
        }
        self.model.vars.push(variable);
        self.leaves.push(inst);
        self.ctx.vars.insert(inst, id);
        self.ctx.var_insts.push(inst);
        Ok(())
    }

    fn enum_index(&mut self, id: EnumId) -> u32 {
        let next = self.enums.len() as u32;
        if let Some(&k) = self.enums.get(&id) {
            return k;
        }
        let ty = self.ctx.instances.enum_type(id);
        self.model.enums.push(Enumeration {
            name: ty.name.clone(),
            literals: ty.literals.clone(),
        });
        self.enums.insert(id, next);
        next
    }

    /// Inputs and outputs of the model itself: components of the model, or members of its connectors.
    fn causality(&mut self, inst: InstId) -> Causality {
        let causality = match self.ctx.instances.data(inst).prefixes.causality {
            Some(ast::CausalityPrefix::Input) => Causality::Input,
            Some(ast::CausalityPrefix::Output) => Causality::Output,
            None => return Causality::Local,
        };
        let mut at = self.ctx.instances.parent(inst);
        while let Some(p) = at {
            if p == self.root {
                return causality;
            }
            if !matches!(
                self.ctx.instances.kind(p),
                InstanceKind::Connector { .. } | InstanceKind::Record { .. }
            ) {
                break;
            }
            at = self.ctx.instances.parent(p);
        }
        Causality::Local
    }

    fn is_protected(&self, inst: InstId) -> bool {
        let mut at = Some(inst);
        while let Some(i) = at.filter(|&i| i != self.root) {
            if self.ctx.instances.data(i).visibility == ast::Visibility::Protected {
                return true;
            }
            at = self.ctx.instances.parent(i);
        }
        false
    }
}
