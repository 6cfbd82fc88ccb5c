//! The driver: a class name to a flat model of array equations (MLS 3.6 §5.6).
//!
//! | step | file |
//! |---|---|
//! | walk the instance tree, decide conditions, give out flat variables | `expand` |
//! | what expandable connectors carry | `expandable` |
//! | the connection graph, for `rooted` and `cardinality` | `network`, `graph_operator` |
//! | attributes and bindings | `variable` |
//! | equations, loops, `assert` and the like | `equation`, `loops`, `effect` |
//! | `if` equations: chosen, cut, or merged into one equation | `branch` |
//! | `when` equations, `reinit` in branches | `clause`, `reinit` |
//! | potentials against flows, equations against unknowns | `connectors`, `balance` |
//! | values that depend on themselves | `cycle` |
//! | what may vary when | `variability` |
//! | variables for what flows in through streams | `stream` |
//! | constants that decide structure | `constants` |
//! | Strings in messages | `texts` |
//! | the model as Modelica text | `print` |
//!
//! All errors of a model are reported at once: a failing equation is left out and the next one is lowered.
//!
//! ```
//! use acausal_flatten::flatten::flatten;
//! use acausal_instance::class::Libraries;
//! let mut libraries = Libraries::new();
//! libraries.load_text("decay.mo", "model Decay Real x(start = 1); equation der(x) = -x; end Decay;").unwrap();
//! let (model, warnings) = flatten(&mut libraries, "Decay", &[]).unwrap();
//! assert!(warnings.is_empty());
//! assert_eq!(model.equations.len(), 1);
//! ```

mod balance;
mod branch;
mod clause;
mod connectors;
mod constants;
mod cycle;
mod effect;
mod equation;
mod expand;
mod expandable;
mod graph_operator;
mod loops;
mod network;
mod no_flow;
mod partly_discrete;
mod prefix;
mod print;
pub(crate) mod reinit;
mod stream;
mod texts;
mod variability;
mod variable;

pub use print::print_flat;

use std::sync::Arc;

use acausal_base::{Diagnostic, Span, diagnostic};
use acausal_expr::flat::{Attributes, Equation, FlatModel, Origin, OriginId, OriginKind};
use acausal_expr::{IterId, Range, VarId, memory};
use acausal_syntax::ast::{Expr, SectionKind};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::connect::Connections;
use crate::lower::{Context, Env};
use acausal_instance::class::Libraries;
use acausal_instance::instance::{EnumId, InstId, Instances, SectionRef};

/// Flattens a class. `set` are outermost modifiers by dotted name, such as `("r.R", 10)`.
///
/// Gives the model with warnings, or all errors (with the warnings).
pub fn flatten(
    libraries: &mut Libraries,
    class: &str,
    set: &[(String, Expr)],
) -> Result<(FlatModel, Vec<Diagnostic>), Vec<Diagnostic>> {
    flatten_class(libraries, class, set, false)
}

/// The same if nothing else is taken from the libraries: their trees, which are large for a large model, are let go as soon as they are not
/// needed. The sources stay, for messages.
pub fn flatten_last(
    libraries: &mut Libraries,
    class: &str,
    set: &[(String, Expr)],
) -> Result<(FlatModel, Vec<Diagnostic>), Vec<Diagnostic>> {
    let result = flatten_class(libraries, class, set, true);
    libraries.forget_trees();
    result
}

fn flatten_class(
    libraries: &mut Libraries,
    class: &str,
    set: &[(String, Expr)],
    last: bool,
) -> Result<(FlatModel, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut instances = Instances::new(std::mem::take(libraries));
    let root = match instances.instantiate_root(class, set) {
        Ok(root) => root,
        Err(message) => {
            let mut all = instances.take_diagnostics();
            all.push(*message);
            *libraries = instances.into_libraries();
            return Err(all);
        }
    };
    if last {
        instances.forget_components_of_root();
    }
    let mut flattener = Flattener::new(Context::new(instances), root);
    flattener.last = last;
    flattener.run();
    if flattener.libraries.is_none() {
        flattener.release();
    }
    let Flattener {
        ctx,
        mut model,
        libraries: given_back,
        ..
    } = flattener;
    *libraries = given_back.unwrap_or_default();
    let Context {
        mut errors,
        mut warnings,
        semi_linear,
        ..
    } = ctx;
    dedup(&mut errors);
    dedup(&mut warnings);
    if errors.is_empty() {
        model.fingerprint = acausal_symbolic::fingerprint(&model);
        no_flow::exchange_without_flow(&mut model, &semi_linear);
        constants::put_in_constants(&mut model);
        texts::put_in_texts(&mut model);
        return Ok((model, warnings));
    }
    errors.extend(warnings);
    Err(errors)
}

/// Orders messages by place and drops repetitions: the same text is lowered once per instance of its class.
fn dedup(messages: &mut Vec<Diagnostic>) {
    diagnostic::sort_by_place(messages);
    let mut seen = FxHashSet::default();
    messages.retain(|m| seen.insert((m.code, m.span().start, m.span().file, m.message.clone())));
}

/// The model under construction.
pub(crate) struct Flattener {
    /// What lowering knows.
    pub(crate) ctx: Context,
    /// What has been made so far. Its arena stays empty until the end.
    pub(crate) model: FlatModel,
    root: InstId,
    /// Components with members, the model itself first.
    composites: Vec<InstId>,
    /// Primitive components in order of their variables.
    leaves: Vec<InstId>,
    /// Elements of all variables so far.
    elements: u64,
    /// Expandable connectors whose members are not known yet.
    expandables: Vec<InstId>,
    /// Some equation asks for `cardinality`.
    counts_connections: bool,
    connections: Connections,
    enums: IndexMap<EnumId, u32, FxBuildHasher>,
    /// Variables assigned in `when`.
    discrete: FxHashSet<VarId>,
    /// Those of them that are Real and not declared discrete.
    by_when: Vec<VarId>,
    /// Scalars of auxiliary variables that nothing determines and nobody reads.
    unassigned: usize,
    /// Parameters with the annotation `Evaluate = true`.
    evaluated: FxHashSet<VarId>,
    /// What has been said about variables.
    said: FxHashSet<Arc<Attributes>>,
    /// Clocks, and equations in clocked clauses.
    clocks: crate::clock::Clocks,
    /// The dotted name of the component that was asked for last.
    last_path: Option<(InstId, Arc<str>)>,
    /// Where the class stands.
    span: Span,
    /// What the instances drew from, once they are gone.
    libraries: Option<Libraries>,
    /// The trees of the libraries are not needed any more either.
    last: bool,
    /// There are more components than allowed, and that has been said.
    said_too_many: bool,
}

/// Where an equation stands: its environment and the iterators around it.
#[derive(Clone, Debug)]
pub(crate) struct EquationContext<'a> {
    /// Where names are looked up.
    pub env: Env<'a>,
    /// Iterators of enclosing arrays of components and of `for` loops, outermost first.
    pub domain: Vec<(IterId, Range)>,
    /// The component whose class holds the equation.
    pub component: InstId,
    /// In an `initial` section.
    pub initial: bool,
    /// Inside of `when`.
    pub when: bool,
}

impl Flattener {
    fn new(ctx: Context, root: InstId) -> Flattener {
        Flattener {
            ctx,
            model: FlatModel::default(),
            root,
            composites: Vec::new(),
            leaves: Vec::new(),
            elements: 0,
            expandables: Vec::new(),
            counts_connections: false,
            connections: Connections::default(),
            enums: IndexMap::default(),
            discrete: FxHashSet::default(),
            by_when: Vec::new(),
            unassigned: 0,
            evaluated: FxHashSet::default(),
            said: FxHashSet::default(),
            clocks: crate::clock::Clocks::default(),
            last_path: None,
            span: Span::NONE,
            libraries: None,
            last: false,
            said_too_many: false,
        }
    }

    fn run(&mut self) {
        self.model.name = self.ctx.instances.class_name(self.root);
        self.model.description = self
            .ctx
            .instances
            .description(self.root)
            .map_or_else(String::new, |text| text.to_string());
        self.expand();
        self.expandable();
        self.check_connectors();
        self.network();
        crate::connect::flow_leaves(&self.ctx, &mut self.connections);
        self.variables();
        for k in 0..self.composites.len() {
            let component = self.composites[k];
            for section in self.ctx.instances.sections(component) {
                self.section(component, &section);
            }
            if component == self.root && self.last {
                self.ctx.instances.forget_text_of_root();
                self.give_back();
            }
        }
        self.experiment();
        self.cyclic_parameters();
        self.finish_variables();
        self.check_left_limits();
        self.streams();
        if !self.ctx.errors.is_empty() {
            return;
        }
        self.model.exprs = std::mem::take(&mut self.ctx.exprs);
        self.model.functions = std::mem::take(&mut self.ctx.functions);
        self.release();
        let connections = std::mem::take(&mut self.connections);
        let messages = crate::connect::generate(&mut self.model, &connections);
        self.keep_messages(messages);
        drop(connections);
        if self.ctx.errors.is_empty() {
            let messages = crate::clock::unclock(&mut self.model, &self.clocks);
            self.ctx.errors.extend(messages);
        }
        if self.ctx.errors.is_empty() {
            let by_when = std::mem::take(&mut self.by_when);
            let separated = partly_discrete::separate(&mut self.model, &by_when);
            self.unassigned = separated.unassigned;
            self.ctx.errors.extend(separated.messages);
        }
        if self.ctx.errors.is_empty() {
            let messages = variability::check(&self.model);
            self.ctx.errors.extend(messages);
        }
        if self.ctx.errors.is_empty() {
            self.balance();
        }
    }

    /// Lets the instances go: of a large model they take as much memory as the flat model does, and what follows needs none.
    fn release(&mut self) {
        if !self.leaves.is_empty() {
            self.span = self.ctx.instances.data(self.root).span;
        }
        let empty = Context::new(Instances::new(Libraries::new()));
        let ctx = std::mem::replace(&mut self.ctx, empty);
        let mut instances = ctx.instances;
        self.ctx.errors = ctx.errors;
        self.ctx.warnings = ctx.warnings;
        self.ctx.semi_linear = ctx.semi_linear;
        self.keep_messages(instances.take_diagnostics());
        let mut libraries = instances.into_libraries();
        if self.last {
            libraries.forget_trees();
        }
        self.libraries = Some(libraries);
        (self.composites, self.leaves) = (Vec::new(), Vec::new());
        self.said = FxHashSet::default();
        self.give_back();
    }

    /// What was let go is of use to the passes to come.
    fn give_back(&self) {
        if self.model.vars.len() >= memory::LARGE {
            memory::give_back();
        }
    }

    fn keep_messages(&mut self, messages: Vec<Diagnostic>) {
        for m in messages {
            if m.is_error() {
                self.ctx.errors.push(m)
            } else {
                self.ctx.warnings.push(m)
            }
        }
    }

    fn section(&mut self, component: InstId, section: &SectionRef) {
        let framed = match self.ctx.frame(section.scope) {
            Ok(framed) => framed,
            Err(e) => {
                self.ctx.errors.push(e.into());
                return;
            }
        };
        if framed.domain.iter().any(|d| d.1.count == 0) {
            return;
        }
        let spot = EquationContext {
            env: framed.env,
            domain: framed.domain,
            component,
            initial: false,
            when: false,
        };
        match &section.section().kind {
            SectionKind::Elements { .. } => {}
            SectionKind::Equations { initial, equations } => {
                let spot = EquationContext {
                    initial: *initial,
                    ..spot
                };
                for e in equations {
                    if let acausal_syntax::ast::EquationKind::Connect(a, b) = &e.kind
                        && section
                            .removed_connections
                            .iter()
                            .any(|(x, y)| x == a && y == b || x == b && y == a)
                    {
                        continue;
                    }
                    let mut items = Vec::new();
                    let result = self.equation(&spot, e, &mut items);
                    if self.ctx.keep(result).is_some() {
                        self.emit(&spot, items);
                    }
                }
            }
            SectionKind::Algorithm {
                initial,
                statements,
            } => {
                let component = self.component_path(component);
                let printed = self.ctx.function_state.prints.len();
                let section = crate::algorithm::Section {
                    env: spot.env,
                    domain: spot.domain,
                    component,
                    initial: *initial,
                    statements,
                    span: section.section().span,
                };
                let result = crate::algorithm::lower(&mut self.ctx, &mut self.model, &section);
                if let Some(assigned) = self.ctx.keep(result) {
                    self.discrete.extend(assigned);
                }
                let domain = section.domain;
                self.function_prints(printed, &domain, *initial);
            }
        }
    }

    /// A new origin.
    pub(crate) fn origin(&mut self, span: Span, component: InstId, kind: OriginKind) -> OriginId {
        let component = self.component_path(component);
        self.model.origins.push(Origin {
            span,
            component,
            kind,
        });
        OriginId(self.model.origins.len() as u32 - 1)
    }

    /// The dotted name of a component, empty for the model itself. The equations of a component follow each other and share it.
    fn component_path(&mut self, component: InstId) -> Arc<str> {
        match &self.last_path {
            Some((last, path)) if *last == component => Arc::clone(path),
            _ => {
                let path: Arc<str> = match component == self.root {
                    true => Arc::from(""),
                    false => self.ctx.instances.display_name(component).into(),
                };
                self.last_path = Some((component, Arc::clone(&path)));
                path
            }
        }
    }

    /// Adds an equation, cut where it is irregular.
    pub(crate) fn push(&mut self, initial: bool, equation: Equation) {
        let pieces = acausal_symbolic::split_equation(&mut self.ctx.exprs, equation);
        if initial {
            self.model.initial_equations.extend(pieces);
        } else {
            self.model.equations.extend(pieces);
        }
    }
}
