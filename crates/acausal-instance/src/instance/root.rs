//! Starting: the model itself and the values set from outside.

use acausal_base::{Diagnostic, Name, Span};
use acausal_expr::memory;
use acausal_syntax::ast::{Expr, Visibility};

use super::Instances;
use super::node::{AppliedModifier, Decl, INSIDE, OwnDims};
use super::setting::{setting, split_outside_quotes};
use super::types::{
    BindingOrigin, Found, InstId, InstPrefixes, Instance, InstanceKind, Role, Scope,
};

impl Instances {
    /// Instantiates a class as the model. `set` are the outermost modifiers: dotted names with values, whose
    /// names are looked up in the model. Names that do not exist, are final or constant are errors.
    pub fn instantiate_root(
        &mut self,
        class: &str,
        set: &[(String, Expr)],
    ) -> Result<InstId, Box<Diagnostic>> {
        let class = self.class_by_name(class)?;
        self.check_root(class)?;
        let id = self.next_id();
        let mut env = Vec::new();
        for (path, value) in set {
            let Some(modifier) = setting(path, value)? else {
                continue;
            };
            env.push(AppliedModifier {
                modifier,
                scope: Scope::of(id),
                levels: 0,
                own: OwnDims::All,
                each: false,
                is_final: false,
                origin: BindingOrigin::Setting,
                source: INSIDE,
                span: value.span,
            });
        }
        let env = self.keep_pieces(env);
        let node = self.data(class);
        let root = Instance {
            name: node.name,
            role: Role::Root,
            class,
            prefixes: InstPrefixes::default(),
            visibility: Visibility::Public,
            span: node.span,
            rank: 0,
            layer: node.layer,
            decl: node.decl.clone(),
            shape: None,
        };
        let place = self.node(class).place;
        self.add(root, None, place, env);
        self.root = Some(id);
        for (path, value) in set {
            self.check_setting(id, path, value)?;
        }
        Ok(id)
    }

    /// Lets the text of the components of the model go: they are in the table of its class.
    pub fn forget_components_of_root(&mut self) {
        let class = self.root.map(|root| self.data(root).class);
        if let Some(Decl::Class(class)) = class.map(|class| &self.data(class).decl) {
            let forgotten = self.libraries.forget_components(*class);
            if forgotten >= memory::LARGE {
                memory::give_back();
            }
        }
    }

    /// Lets the text of the class of the model go, once all its equations have been read and nothing is asked of its annotations.
    pub fn forget_text_of_root(&mut self) {
        let class = self.root.map(|root| self.data(root).class);
        if let Some(Decl::Class(class)) = class.map(|class| &self.data(class).decl) {
            self.libraries.forget_text(*class);
        }
    }

    /// The class with a full name, inherited ones included, as an instance to look into.
    pub fn class_by_name(&mut self, name: &str) -> Result<InstId, Box<Diagnostic>> {
        let mut at = InstId::GLOBAL;
        for part in split_outside_quotes(name.trim_start_matches('.'), '.') {
            match self.find_member(at, Name::new(part), Span::NONE) {
                Found::Class(class) => at = class,
                Found::NotFound(error) => return Err(error),
                _ => {
                    let message = format!("`{name}` is not a class");
                    return Err(Box::new(Diagnostic::error(
                        "not-a-class",
                        Span::NONE,
                        message,
                    )));
                }
            }
        }
        Ok(at)
    }

    /// The model, once it has been instantiated.
    pub fn root(&self) -> Option<InstId> {
        self.root
    }

    fn check_root(&mut self, class: InstId) -> Result<(), Box<Diagnostic>> {
        let shape = self.shape(class);
        let name = self.class_name(class);
        let span = self.data(class).span;
        let error = match shape.kind {
            _ if shape.partial => {
                Diagnostic::error("partial-class", span, format!("`{name}` is partial"))
                    .hint("take a class that extends it")
            }
            InstanceKind::Package
            | InstanceKind::Function
            | InstanceKind::Operator
            | InstanceKind::ExternalObject
            | InstanceKind::Primitive(_) => {
                let kind = match shape.kind {
                    InstanceKind::Package => "package",
                    InstanceKind::Function => "function",
                    InstanceKind::Primitive(_) => "type",
                    _ => "class that is not a model",
                };
                Diagnostic::error(
                    "not-a-model",
                    span,
                    format!("`{name}` is a {kind} and cannot be simulated"),
                )
                .hint(self.what_to_name(&name))
            }
            _ => return Ok(()),
        };
        Err(Box::new(error))
    }

    /// The models of a package that was named by mistake; a user rarely knows them all by heart.
    fn what_to_name(&mut self, package: &str) -> String {
        const SHOWN: usize = 6;
        let libraries = self.libraries_mut();
        let mut models = match libraries.find(package) {
            Some(id) => libraries.models_within(id, SHOWN + 1),
            None => Vec::new(),
        };
        let more = models.len() > SHOWN;
        models.truncate(SHOWN);
        let names: Vec<String> = models.iter().map(|name| format!("`{name}`")).collect();
        match names.as_slice() {
            [] => "name a model or block".to_string(),
            [one] => format!("name its model with `--model`: {one}"),
            several => {
                let end = if more { ", ..." } else { "" };
                let list = several.join(", ");
                format!("name one of its models with `--model`: {list}{end}")
            }
        }
    }
}

impl Instances {
    /// The component and those around it, the root left out. For a class, up to the top level.
    pub fn path_up(&self, inst: InstId) -> impl Iterator<Item = InstId> {
        let up = |at: &InstId| self.parent(*at);
        let inside = |at: &InstId| {
            let root = self.data(*at).role == Role::Root;
            !root && *at != InstId::GLOBAL
        };
        std::iter::successors(Some(inst), up).take_while(inside)
    }

    /// Names from the root to the component, the root itself left out: `a.b.c` is `[a, b, c]`. For a class, from the top level.
    pub fn full_path(&self, inst: InstId) -> Vec<(Name, InstId)> {
        let path = self.path_up(inst).map(|at| (self.data(at).name, at));
        let mut path: Vec<_> = path.collect();
        path.reverse();
        path
    }

    /// The dotted name of a component from the root, or the full name of a class.
    pub fn display_name(&self, inst: InstId) -> String {
        let names: Vec<&str> = self
            .full_path(inst)
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        names.join(".")
    }

    /// What `getInstanceName()` gives (MLS 3.6 §3.7.4): the name of the simulated class without the packages around it, then that
    /// of the component.
    pub fn instance_name(&self, inst: InstId) -> String {
        let Some(root) = self.root else {
            return self.display_name(inst);
        };
        let simulated = self.data(self.data(root).class).name;
        if inst == root {
            return simulated.to_string();
        }
        format!("{simulated}.{}", self.display_name(inst))
    }

    /// Full name of the class that an instance is made from.
    pub fn class_name(&self, inst: InstId) -> String {
        match &self.data(self.data(inst).class).decl {
            Decl::Class(class) => self.libraries.qualified_name(*class),
            _ => self.data(inst).name.to_string(),
        }
    }
}
