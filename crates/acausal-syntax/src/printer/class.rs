//! Classes, elements, modifications, descriptions.

use super::Printer;
use crate::ast::{
    Annotation, Argument, ArgumentKind, BindingValue, CausalityPrefix, ClassBody, ClassDef,
    Component, ComponentClause, Composition, Description, Element, ElementKind, EnumLiteral,
    FlowPrefix, Import, ImportKind, Modification, Prefixes, Section, SectionKind, Text, TypePrefix,
    VariabilityPrefix, Visibility,
};

impl Printer {
    /// A class without its `;`.
    pub(super) fn class(&mut self, class: &ClassDef) {
        if class.encapsulated {
            self.push("encapsulated ");
        }
        if class.partial {
            self.push("partial ");
        }
        self.push(class.kind.keyword());
        self.push(" ");
        match &class.body {
            ClassBody::Long(composition) => {
                self.push(class.name.as_str());
                self.long_class(class, composition);
            }
            ClassBody::ClassExtends {
                modification,
                composition,
            } => {
                self.push("extends ");
                self.push(class.name.as_str());
                self.class_modification(modification);
                self.long_class(class, composition);
            }
            ClassBody::Short(short) => {
                self.push(class.name.as_str());
                self.push(" = ");
                self.causality(short.causality);
                self.display(&short.base);
                self.subscripts(&short.subscripts);
                self.class_modification(&short.modification);
                self.description(&class.description);
            }
            ClassBody::Enumeration(literals) => {
                self.push(class.name.as_str());
                self.push(" = enumeration");
                match literals {
                    Some(literals) => self.arguments(literals, Printer::enum_literal),
                    None => self.push("(:)"),
                }
                self.description(&class.description);
            }
            ClassBody::Der {
                function,
                variables,
            } => {
                self.push(class.name.as_str());
                self.push(" = der(");
                self.display(function);
                for variable in variables {
                    self.push(", ");
                    self.push(variable.as_str());
                }
                self.push(")");
                self.description(&class.description);
            }
        }
    }

    fn enum_literal(&mut self, literal: &EnumLiteral) {
        self.push(literal.name.as_str());
        self.description(&literal.description);
    }

    /// Everything behind the name of a class in long form.
    fn long_class(&mut self, class: &ClassDef, composition: &Composition) {
        self.optional_text(class.description.text.as_ref());
        for (position, section) in composition.sections.iter().enumerate() {
            self.section(section, position == 0);
        }
        self.level += 1;
        if let Some(external) = &composition.external {
            self.level -= 1;
            self.new_line();
            self.level += 1;
            self.push("external");
            self.optional_text(external.language.as_ref());
            if let Some(call) = &external.call {
                self.push(" ");
                if let Some(output) = &call.output {
                    self.component_ref(output);
                    self.push(" = ");
                }
                self.push(call.function.as_str());
                self.push("(");
                self.list(&call.args, ", ", Printer::expr);
                self.push(")");
            }
            if let Some(annotation) = &external.annotation {
                self.new_line();
                self.annotation(annotation);
            }
            self.push(";");
        }
        if let Some(annotation) = &class.description.annotation {
            self.new_line();
            self.annotation(annotation);
            self.push(";");
        }
        self.level -= 1;
        self.new_line();
        self.push("end ");
        self.push(class.name.as_str());
    }

    fn section(&mut self, section: &Section, first: bool) {
        match &section.kind {
            SectionKind::Elements {
                visibility,
                elements,
            } => {
                match visibility {
                    Visibility::Public if first => {}
                    Visibility::Public => self.heading(false, "public"),
                    Visibility::Protected => self.heading(false, "protected"),
                }
                self.lines(elements, |printer, element| {
                    printer.element(element, element.prefixes);
                    printer.push(";");
                });
            }
            SectionKind::Equations { initial, equations } => {
                self.heading(*initial, "equation");
                self.lines(equations, Printer::equation);
            }
            SectionKind::Algorithm {
                initial,
                statements,
            } => {
                self.heading(*initial, "algorithm");
                self.lines(statements, Printer::statement);
            }
        }
    }

    fn heading(&mut self, initial: bool, keyword: &str) {
        self.new_line();
        if initial {
            self.push("initial ");
        }
        self.push(keyword);
    }

    fn lines<T>(&mut self, items: &[T], print: impl Fn(&mut Printer, &T)) {
        self.level += 1;
        for item in items {
            self.new_line();
            print(self, item);
        }
        self.level -= 1;
    }

    /// An element without its `;`.
    fn element(&mut self, element: &Element, prefixes: Prefixes) {
        for (present, word) in [
            (prefixes.redeclare, "redeclare "),
            (prefixes.is_final, "final "),
            (prefixes.inner, "inner "),
            (prefixes.outer, "outer "),
            (prefixes.replaceable, "replaceable "),
        ] {
            if present {
                self.push(word);
            }
        }
        match &element.kind {
            ElementKind::Import(import) => self.import(import),
            ElementKind::Extends(extends) => {
                self.push("extends ");
                self.display(&extends.base);
                self.class_modification(&extends.modification);
                if let Some(annotation) = &extends.annotation {
                    self.push(" ");
                    self.annotation(annotation);
                }
            }
            ElementKind::Class(class) => self.class(class),
            ElementKind::Components(clause) => self.component_clause(clause),
        }
        if let Some(constraining) = &element.constraining {
            self.push(" constrainedby ");
            self.display(&constraining.base);
            self.class_modification(&constraining.modification);
            self.description(&constraining.description);
        }
    }

    fn import(&mut self, import: &Import) {
        self.push("import ");
        if let ImportKind::Renamed(alias) = &import.kind {
            self.push(alias.as_str());
            self.push(" = ");
        }
        self.display(&import.path);
        match &import.kind {
            ImportKind::Qualified | ImportKind::Renamed(_) => {}
            ImportKind::All => self.push(".*"),
            ImportKind::List(names) => {
                self.push(".{");
                self.list(names, ", ", |printer, name| printer.push(name.as_str()));
                self.push("}");
            }
        }
        self.description(&import.description);
    }

    fn causality(&mut self, causality: Option<CausalityPrefix>) {
        match causality {
            Some(CausalityPrefix::Input) => self.push("input "),
            Some(CausalityPrefix::Output) => self.push("output "),
            None => {}
        }
    }

    fn type_prefix(&mut self, prefix: &TypePrefix) {
        match prefix.flow {
            Some(FlowPrefix::Flow) => self.push("flow "),
            Some(FlowPrefix::Stream) => self.push("stream "),
            None => {}
        }
        match prefix.variability {
            Some(VariabilityPrefix::Constant) => self.push("constant "),
            Some(VariabilityPrefix::Parameter) => self.push("parameter "),
            Some(VariabilityPrefix::Discrete) => self.push("discrete "),
            None => {}
        }
        self.causality(prefix.causality);
    }

    fn component_clause(&mut self, clause: &ComponentClause) {
        self.type_prefix(&clause.prefix);
        self.display(&clause.type_name);
        self.subscripts(&clause.subscripts);
        self.push(" ");
        self.list(&clause.components, ", ", Printer::component);
    }

    fn component(&mut self, component: &Component) {
        self.push(component.name.as_str());
        self.subscripts(&component.subscripts);
        if let Some(modification) = &component.modification {
            self.modification(modification);
        }
        if let Some(condition) = &component.condition {
            self.push(" if ");
            self.expr(condition);
        }
        self.optional_description(component.description.as_deref());
    }

    pub(super) fn modification(&mut self, modification: &Modification) {
        if !modification.arguments.is_empty() || modification.binding.is_none() {
            self.arguments(&modification.arguments, Printer::argument);
        }
        if let Some(binding) = &modification.binding {
            self.push(if binding.assign { " := " } else { " = " });
            match &binding.value {
                BindingValue::Expr(expr) => self.expr(expr),
                BindingValue::Break => self.push("break"),
            }
        }
    }

    /// `(...)`, or nothing for an empty list.
    fn class_modification(&mut self, arguments: &[Argument]) {
        if !arguments.is_empty() {
            self.arguments(arguments, Printer::argument);
        }
    }

    fn argument(&mut self, argument: &Argument) {
        // The grammar wants `redeclare each final replaceable`.
        let redeclared = match &argument.kind {
            ArgumentKind::Redeclare(element) => Some(element),
            _ => None,
        };
        if redeclared.is_some_and(|element| element.prefixes.redeclare) {
            self.push("redeclare ");
        }
        if argument.each {
            self.push("each ");
        }
        if argument.is_final {
            self.push("final ");
        }
        match &argument.kind {
            ArgumentKind::Modify {
                name,
                modification,
                description,
            } => {
                self.display(name);
                if let Some(modification) = modification {
                    self.modification(modification);
                }
                self.optional_text(description.as_ref());
            }
            ArgumentKind::Redeclare(element) => {
                let prefixes = Prefixes {
                    redeclare: false,
                    ..element.prefixes
                };
                self.element(element, prefixes);
            }
            ArgumentKind::BreakComponent(name) => {
                self.push("break ");
                self.push(name.as_str());
            }
            ArgumentKind::BreakConnect(a, b) => {
                self.push("break connect(");
                self.component_ref(a);
                self.push(", ");
                self.component_ref(b);
                self.push(")");
            }
        }
    }

    fn optional_text(&mut self, text: Option<&Text>) {
        if let Some(text) = text {
            self.push(" ");
            self.string(&text.value);
        }
    }

    pub(super) fn optional_description(&mut self, description: Option<&Description>) {
        if let Some(description) = description {
            self.description(description);
        }
    }

    pub(super) fn description(&mut self, description: &Description) {
        self.optional_text(description.text.as_ref());
        if let Some(annotation) = &description.annotation {
            if self.flat || self.column() + ANNOTATION_ROOM < super::LINE_WIDTH {
                self.push(" ");
                self.annotation(annotation);
            } else {
                self.level += 1;
                self.new_line();
                self.annotation(annotation);
                self.level -= 1;
            }
        }
    }

    fn annotation(&mut self, annotation: &Annotation) {
        let before = std::mem::replace(&mut self.in_annotation, true);
        self.push("annotation");
        self.arguments(&annotation.arguments, Printer::argument);
        self.in_annotation = before;
    }
}

/// Columns that should be free on the line for an annotation to begin there.
const ANNOTATION_ROOM: usize = 40;
