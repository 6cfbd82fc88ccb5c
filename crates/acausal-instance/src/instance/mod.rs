//! Instances of classes with their modifications (MLS 3.6 §5.6, §7). Pure structure: nothing is evaluated.
//!
//! [`Instances`] is an arena of instances of *any* class: the model, its components (an array of components is one
//! instance), but also packages, functions and types, so that `Modelica.Constants.pi` is the member `pi` of an instance of the
//! package and the inputs of a function are the components of an instance of it. Everything is made on first use.
//!
//! | file | idea |
//! |---|---|
//! | `types` | what questions return |
//! | `lookup` | what a name means: members, imports, enclosing classes |
//! | `inherit`, `merge`, `shape` | the flattened class, shared by all its instances |
//! | `environment` | which modifiers reach a member |
//! | `member`, `component`, `nested` | making members; redeclaration |
//! | `sharing` | which nested classes mean the same for all components |
//! | `outer` | `inner` and `outer` |
//! | `expandable` | members that connections add |
//! | `value`, `section` | values, attributes, dimensions, equations |
//! | `root` | the model, settings, names for people |
//! | `check`, `check_class`, `constrain`, `unknown` | what can be wrong, and how it is said |
//!
//! Errors are collected ([`Instances::take_diagnostics`]); what could not be found has [`InstanceKind::Error`], about which nothing more
//! should be said. The same mistake is reported once, however many instances share it.

mod check;
mod check_class;
mod component;
mod constrain;
mod environment;
mod expandable;
mod inherit;
mod lookup;
mod member;
mod merge;
mod nested;
mod node;
mod outer;
mod root;
mod section;
mod setting;
mod shape;
mod sharing;
#[cfg(test)]
mod tests;
mod types;
mod unknown;
mod value;

use std::sync::Arc;

use acausal_base::{Diagnostic, Name, Span};
use acausal_syntax::ast::{ClassBody, Visibility};
use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use self::lookup::Target;
use self::node::{AppliedModifier, Decl, InstanceNode, ModifierRange, NO_SLOTS};
pub use self::setting::ElementSetting;
use self::shape::{ClassShape, ShapeElement};
pub use self::types::*;
use crate::class::table::ElementTable;
use crate::class::{ClassId, Libraries};

/// The instance tree with the libraries it draws from.
///
/// ```
/// use acausal_instance::class::Libraries;
/// use acausal_instance::instance::{Instances, InstanceKind, Primitive};
/// use acausal_base::Name;
///
/// let mut libraries = Libraries::new();
/// libraries.load_text("a.mo", "model A parameter Real R = 1; end A; model M A a(R = 2); end M;").unwrap();
/// let mut instances = Instances::new(libraries);
/// let model = instances.instantiate_root("M", &[]).unwrap();
/// let a = instances.member(model, Name::new("a")).unwrap();
/// let r = instances.member(a, Name::new("R")).unwrap();
/// assert_eq!(instances.kind(r), InstanceKind::Primitive(Primitive::Real));
/// assert_eq!(instances.display_name(r), "a.R");
/// assert!(instances.binding(r).is_some());
/// ```
#[derive(Debug)]
pub struct Instances {
    /// Values set from outside for some elements of arrays.
    pub element_settings: Vec<ElementSetting>,
    libraries: Libraries,
    nodes: Vec<InstanceNode>,
    /// What instances of one declaration have in common.
    facts: Vec<Instance>,
    /// By class and component, the facts of the last one that was made.
    alike: FxHashMap<(InstId, Name), u32>,
    /// The modifiers of all instances.
    all_pieces: Vec<AppliedModifier>,
    /// The members of all components.
    slots: Vec<InstId>,
    root: Option<InstId>,
    /// Members of classes that have been made.
    class_members: FxHashMap<(InstId, Name), InstId>,
    /// Types of components that are the same for all instances of a class, by class and component. The flag says that the type is
    /// nested in the class, so that modifiers of an instance may change it.
    types: FxHashMap<(InstId, Name), (InstId, bool)>,
    /// What import clauses gave.
    imported: FxHashMap<(ClassId, Name), Target>,
    /// For redeclared components the declaration they replaced.
    originals: FxHashMap<InstId, component::Placed>,
    /// Modifiers of the constraining type of a short class.
    constraints: FxHashMap<InstId, Box<[AppliedModifier]>>,
    /// Redeclared classes that have not been compared with their constraining type yet.
    obligations: FxHashMap<InstId, constrain::Obligation>,
    /// The `extends` clauses that are being followed, outermost first.
    extending: Vec<(InstId, Span)>,
    /// What `class extends` builds on.
    inherited: FxHashMap<InstId, Arc<ShapeElement>>,
    /// The `inner` of an `outer`.
    inners: FxHashMap<InstId, InstId>,
    automatic_inners: FxHashMap<Name, InstId>,
    added_inners: Vec<InstId>,
    /// Members that connections gave to expandable connectors, and their dimensions.
    augmented: FxHashMap<InstId, IndexMap<Name, InstId>>,
    augmented_dims: FxHashMap<InstId, Vec<Dim>>,
    /// Number of classes that are being flattened because one extends the next.
    depth: u16,
    /// Components whose type is being looked up.
    making: Vec<(InstId, Name)>,
    enums: Vec<EnumType>,
    enum_of_class: FxHashMap<ClassId, EnumId>,
    predefined_names: FxHashSet<Name>,
    diagnostics: Vec<Diagnostic>,
    reported: FxHashSet<(&'static str, Span, String)>,
}

impl Instances {
    /// An empty tree over these libraries.
    pub fn new(libraries: Libraries) -> Instances {
        let mut instances = Instances {
            predefined_names: libraries.predefined_names().collect(),
            libraries,
            nodes: Vec::new(),
            facts: Vec::new(),
            alike: FxHashMap::default(),
            all_pieces: Vec::new(),
            slots: Vec::new(),
            root: None,
            element_settings: Vec::new(),
            class_members: FxHashMap::default(),
            types: FxHashMap::default(),
            imported: FxHashMap::default(),
            originals: FxHashMap::default(),
            constraints: FxHashMap::default(),
            obligations: FxHashMap::default(),
            extending: Vec::new(),
            inherited: FxHashMap::default(),
            inners: FxHashMap::default(),
            automatic_inners: FxHashMap::default(),
            added_inners: Vec::new(),
            augmented: FxHashMap::default(),
            augmented_dims: FxHashMap::default(),
            depth: 0,
            making: Vec::new(),
            enums: Vec::new(),
            enum_of_class: FxHashMap::default(),
            diagnostics: Vec::new(),
            reported: FxHashSet::default(),
        };
        instances.add_fixed(InstId::GLOBAL, "", InstanceKind::Package);
        instances.add_fixed(InstId::ERROR, "<unknown>", InstanceKind::Error);
        instances
    }

    /// The libraries.
    pub fn libraries(&self) -> &Libraries {
        &self.libraries
    }

    /// The libraries, to load more or add texts for messages.
    pub fn libraries_mut(&mut self) -> &mut Libraries {
        &mut self.libraries
    }

    /// Gives the libraries back, with all that has been loaded.
    pub fn into_libraries(self) -> Libraries {
        self.libraries
    }

    /// Errors and warnings found since the last call, those of loading included.
    pub fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        let mut diagnostics = self.libraries.take_diagnostics();
        diagnostics.append(&mut self.diagnostics);
        diagnostics
    }

    /// What is known of the instance by its declaration.
    pub fn data(&self, inst: InstId) -> &Instance {
        &self.facts[self.node(inst).facts as usize]
    }

    /// The instance it belongs to: the enclosing component, or the enclosing class for [`Role::Class`].
    pub fn parent(&self, inst: InstId) -> Option<InstId> {
        Some(self.node(inst).parent).filter(|&p| p != InstId::NONE)
    }

    /// Where the names in its declaration are looked up.
    fn scope_of(&self, inst: InstId) -> Scope {
        Scope {
            inst: self.node(inst).place,
            layer: self.data(inst).layer,
        }
    }

    fn node(&self, inst: InstId) -> &InstanceNode {
        &self.nodes[inst.0 as usize]
    }

    /// Number of instances made so far.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The modifiers of an instance, outermost first.
    fn pieces(&self, inst: InstId) -> &[AppliedModifier] {
        let ModifierRange { start, end } = self.node(inst).env;
        &self.all_pieces[start as usize..end as usize]
    }

    /// Makes these the modifiers of an instance.
    fn keep_pieces(&mut self, pieces: Vec<AppliedModifier>) -> ModifierRange {
        let start = self.all_pieces.len() as u32;
        self.all_pieces.extend(pieces);
        ModifierRange {
            start,
            end: self.all_pieces.len() as u32,
        }
    }

    /// What the instance is an instance of.
    pub fn kind(&mut self, inst: InstId) -> InstanceKind {
        match &self.data(inst).shape {
            Some(shape) => shape.kind,
            None => self.shape(inst).kind,
        }
    }

    /// True for instances of a `connector` class, also one of a predefined type (`connector RealInput = input Real`), and
    /// for all components of an expandable connector (MLS 3.6 §9.1.3).
    pub fn is_connector(&mut self, inst: InstId) -> bool {
        if self.shape(inst).is_connector {
            return true;
        }
        match self.parent(inst) {
            Some(parent) if self.data(parent).role == Role::Component => {
                self.kind(parent) == InstanceKind::Connector { expandable: true }
            }
            _ => false,
        }
    }

    /// True for instances of a partial class.
    pub fn is_partial(&mut self, inst: InstId) -> bool {
        self.shape(inst).partial
    }

    /// The enumeration type.
    pub fn enum_type(&self, id: EnumId) -> &EnumType {
        &self.enums[id.0 as usize]
    }

    /// The predefined enumeration with this name (`StateSelect`, `AssertionLevel`).
    pub fn predefined_enum(&mut self, name: &str) -> Option<EnumId> {
        let name = Name::new(name);
        let class = self
            .predefined_names
            .contains(&name)
            .then(|| self.libraries.top_level(name))??;
        matches!(
            self.libraries.class(class).def.body,
            ClassBody::Enumeration(_)
        )
        .then(|| self.enumeration(class))
    }

    /// Reports a diagnostic once.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        let key = (
            diagnostic.code,
            diagnostic.span(),
            diagnostic.message.clone(),
        );
        if self.reported.insert(key) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// The element table of a class; tells what is wrong with it the first time.
    fn element_table(&mut self, class: ClassId) -> Arc<ElementTable> {
        let table = self.libraries.table(class);
        for diagnostic in &table.diagnostics {
            self.report(diagnostic.clone());
        }
        table
    }

    fn node_mut(&mut self, inst: InstId) -> &mut InstanceNode {
        &mut self.nodes[inst.0 as usize]
    }

    /// For classes and the root, which share nothing.
    fn data_mut(&mut self, inst: InstId) -> &mut Instance {
        let facts = self.node(inst).facts;
        &mut self.facts[facts as usize]
    }

    /// The enumeration that a class defines.
    fn enumeration(&mut self, class: ClassId) -> EnumId {
        if let Some(&known) = self.enum_of_class.get(&class) {
            return known;
        }
        let def = &self.libraries.class(class).def;
        let literals = match &def.body {
            ClassBody::Enumeration(Some(literals)) => &literals[..],
            _ => &[],
        };
        let text = |literal: &acausal_syntax::ast::EnumLiteral| match &literal.description.text {
            Some(text) => Arc::clone(&text.value),
            None => Arc::from(""),
        };
        let id = EnumId(self.enums.len() as u32);
        let found = EnumType {
            name: self.libraries.qualified_name(class),
            literals: literals.iter().map(|literal| literal.name.name).collect(),
            descriptions: literals.iter().map(text).collect(),
        };
        self.enums.push(found);
        self.enum_of_class.insert(class, id);
        id
    }

    /// Adds an instance that is declared in a layer of `place`.
    fn add(
        &mut self,
        facts: Instance,
        parent: Option<InstId>,
        place: InstId,
        env: ModifierRange,
    ) -> InstId {
        self.facts.push(facts);
        self.add_node(self.facts.len() as u32 - 1, parent, place, env)
    }

    /// The same for a component, which shares what it has in common with the last one of its class and name.
    fn add_component(
        &mut self,
        facts: Instance,
        parent: InstId,
        place: InstId,
        env: ModifierRange,
    ) -> InstId {
        // Of the model itself there is one instance.
        if self.data(parent).role != Role::Component {
            return self.add(facts, Some(parent), place, env);
        }
        let key = (self.data(parent).class, facts.name);
        let known = self.alike.get(&key).copied();
        let known = known.filter(|&k| self.facts[k as usize].is_same(&facts));
        let number = known.unwrap_or_else(|| {
            self.facts.push(facts);
            self.facts.len() as u32 - 1
        });
        self.alike.insert(key, number);
        self.add_node(number, Some(parent), place, env)
    }

    fn add_node(
        &mut self,
        facts: u32,
        parent: Option<InstId>,
        place: InstId,
        env: ModifierRange,
    ) -> InstId {
        self.nodes.push(InstanceNode {
            parent: parent.unwrap_or(InstId::NONE),
            place,
            facts,
            env,
            slots: NO_SLOTS,
            building: false,
            neutral: None,
            checked: false,
        });
        InstId(self.nodes.len() as u32 - 1)
    }

    /// Adds the instances that always exist.
    fn add_fixed(&mut self, id: InstId, name: &str, kind: InstanceKind) {
        let facts = Instance {
            name: Name::new(name),
            role: Role::Class,
            class: id,
            prefixes: InstPrefixes::default(),
            visibility: Visibility::Public,
            span: Span::NONE,
            rank: 0,
            layer: 0,
            decl: Decl::Nothing,
            shape: Some(Arc::new(ClassShape::empty(kind, id))),
        };
        self.add(facts, None, InstId::GLOBAL, ModifierRange::default());
    }
}
