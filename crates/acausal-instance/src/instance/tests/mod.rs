//! Tests on small models: what the instance tree is, written out as text.

mod arrays;
mod diagnostics;
mod inheritance;
mod lookup;
mod redeclare;
mod scaling;

use acausal_base::{Diagnostic, FileId, Name};
use acausal_syntax::ast::Expr;

use super::*;

/// Instantiates `class` of a text.
fn tree(source: &str, class: &str) -> (Instances, InstId) {
    let mut libraries = Libraries::new();
    if let Err(errors) = libraries.load_text("test.mo", source) {
        panic!("{}", rendered(&libraries, &errors));
    }
    let mut instances = Instances::new(libraries);
    match instances.instantiate_root(class, &[]) {
        Ok(root) => (instances, root),
        Err(error) => panic!("{}", error.render(instances.libraries().sources(), false)),
    }
}

/// All components below an instance, made and walked without recursion.
fn walk(instances: &mut Instances, root: InstId) -> Vec<InstId> {
    let mut found = Vec::new();
    let mut open = instances.components(root);
    open.reverse();
    loop {
        while let Some(inst) = open.pop() {
            found.push(inst);
            let mut members = instances.components(inst);
            members.reverse();
            open.extend(members);
        }
        open = instances.take_added_inners();
        if open.is_empty() {
            return found;
        }
    }
}

/// One line per component: `name: class = value`, with `/levels` where the value spans dimensions of enclosing components.
fn dump(source: &str, class: &str) -> Vec<String> {
    let (mut instances, root) = tree(source, class);
    let lines = walk(&mut instances, root)
        .into_iter()
        .map(|inst| line(&mut instances, inst))
        .collect();
    let errors = instances.take_diagnostics();
    assert!(
        errors.is_empty(),
        "{}",
        rendered(instances.libraries(), &errors)
    );
    lines
}

fn line(instances: &mut Instances, inst: InstId) -> String {
    let mut text = format!(
        "{}: {}",
        instances.display_name(inst),
        instances.class_name(inst)
    );
    let dims: Vec<String> = instances
        .dims(inst)
        .iter()
        .map(|dim| print(instances, &dim.expr))
        .collect();
    if !dims.is_empty() {
        text += &format!("[{}]", dims.join(", "));
    }
    for name in ["start", "unit", "min"] {
        if let Some(value) = instances.attribute(inst, name) {
            text += &format!(" {name}:{}", value_text(instances, &value));
        }
    }
    if let Some(value) = instances.binding(inst) {
        text += &format!(" = {}", value_text(instances, &value));
    }
    text
}

fn value_text(instances: &Instances, value: &Binding) -> String {
    let text = print(instances, &value.expr);
    if value.levels == 0 {
        text
    } else {
        format!("{text}/{}", value.levels)
    }
}

fn print(instances: &Instances, expr: &Expr) -> String {
    instances.libraries().sources().text(expr.span).to_string()
}

/// All messages of instantiating and walking a model.
fn messages(source: &str, class: &str) -> Vec<String> {
    let mut libraries = Libraries::new();
    let mut found = Vec::new();
    if let Err(errors) = libraries.load_text("test.mo", source) {
        return errors.iter().map(short).collect();
    }
    let mut instances = Instances::new(libraries);
    match instances.instantiate_root(class, &[]) {
        Ok(root) => {
            walk(&mut instances, root);
        }
        Err(error) => found.push(short(&error)),
    }
    found.extend(instances.take_diagnostics().iter().map(short));
    found
}

fn short(diagnostic: &Diagnostic) -> String {
    let hint = diagnostic
        .hint
        .as_ref()
        .map_or_else(String::new, |hint| format!(" ({hint})"));
    format!(
        "{}[{}]: {}{hint}",
        diagnostic.severity.as_str(),
        diagnostic.code,
        diagnostic.message
    )
}

fn rendered(libraries: &Libraries, errors: &[Diagnostic]) -> String {
    errors
        .iter()
        .map(|error| error.render(libraries.sources(), false))
        .collect()
}

fn member(instances: &mut Instances, root: InstId, path: &str) -> InstId {
    path.split('.').fold(root, |at, name| {
        match instances.member(at, Name::new(name)) {
            Some(found) => found,
            None => panic!("no member {name} of {path}"),
        }
    })
}

fn expression(text: &str) -> Expr {
    acausal_syntax::parser::parse_expression(FileId(0), text).0
}
