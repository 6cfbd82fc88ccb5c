//! Texts that mean the same: in another order, with other names.

use std::sync::Arc;

use acausal_syntax::ast::{
    ClassBody, ClassDef, ClassKind, ElementKind, EquationKind, SectionKind, StoredDefinition,
};

use crate::random::draw::Draw;

/// Equations, declarations and connects in another order. Functions, records, connectors and types keep theirs, because their
/// members have positions; algorithms have an order by nature.
pub(super) fn shuffled(text: &str, seed: u64) -> String {
    let mut sources = acausal_base::SourceMap::default();
    let file = sources.add_file("Random.mo", text.to_string());
    let mut tree: StoredDefinition = acausal_syntax::parse(file, text).tree;
    let mut draw = Draw::new(seed, 0);
    for c in &mut tree.classes {
        class(&mut draw, &mut c.class);
    }
    acausal_syntax::printer::print(&tree)
}

fn class(draw: &mut Draw, class_def: &mut Arc<ClassDef>) {
    let class_def = Arc::make_mut(class_def);
    let free = matches!(
        class_def.kind,
        ClassKind::Class | ClassKind::Model | ClassKind::Block | ClassKind::Package
    );
    let ClassBody::Long(composition) = &mut class_def.body else {
        return;
    };
    for section in &mut composition.sections {
        match &mut section.kind {
            SectionKind::Elements { elements, .. } => {
                for e in elements.iter_mut() {
                    match &mut e.kind {
                        ElementKind::Class(c) => class(draw, c),
                        ElementKind::Components(c) if free => draw.shuffle(&mut c.components),
                        _ => {}
                    }
                }
                if free {
                    draw.shuffle(elements);
                }
            }
            SectionKind::Equations { equations, .. } => {
                draw.shuffle(equations);
                for e in equations {
                    if let EquationKind::Connect(a, b) = &mut e.kind
                        && draw.chance(50)
                    {
                        std::mem::swap(a, b);
                    }
                }
            }
            SectionKind::Algorithm { .. } => {}
        }
    }
}

/// The last class, which must be `model M`, with other names for its components.
pub(super) fn renamed(text: &str, seed: u64) -> String {
    // The printer of a shuffled text and the generators both begin it on a line of its own.
    let begin = match text.starts_with("model M") {
        true => 0,
        false => text.find("\nmodel M").map_or(text.len(), |p| p + 1),
    };
    let (before, model) = text.split_at(begin);
    let names = declared(text);
    let mut out = before.to_string();
    let mut rest = model;
    let mut last = ' ';
    while let Some(c) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        if !c.is_ascii_alphabetic() {
            let length = match c.is_ascii_digit() {
                // A number with its exponent.
                true => rest.find(|c: char| !word(c)).unwrap_or(rest.len()),
                false => c.len_utf8(),
            };
            out.push_str(&rest[..length]);
            last = c;
            rest = &rest[length..];
            continue;
        }
        let length = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        let name = &rest[..length];
        // Members of components and arguments of modifications keep their names.
        let argument = rest[length..].trim_start().starts_with('=')
            && !rest[length..].trim_start().starts_with("==")
            && matches!(last, '(' | ',');
        match last != '.' && !argument && names.iter().any(|n| n == name) {
            true => out.push_str(&new_name(name, seed)),
            false => out.push_str(name),
        }
        last = 'a';
        rest = &rest[length..];
        if let Some(c) = rest.chars().next()
            && c == ' '
        {
            out.push(' ');
            rest = &rest[1..];
        }
    }
    out
}

/// Another name, or that of a member or element of what is renamed. It begins with another letter, so that names sort in
/// another order.
pub(super) fn new_name(name: &str, seed: u64) -> String {
    let own = name.find(['.', '[']).unwrap_or(name.len());
    let key = name[..own].bytes().fold(seed, |h, b| {
        (h ^ u64::from(b))
            .wrapping_mul(0x0100_0000_01b3)
            .rotate_left(23)
    });
    let letter = (b'a' + (key % 26) as u8) as char;
    format!("{letter}q_{name}")
}

/// Components of the last class.
fn declared(text: &str) -> Vec<String> {
    let mut sources = acausal_base::SourceMap::default();
    let file = sources.add_file("Random.mo", text.to_string());
    let tree = acausal_syntax::parse(file, text).tree;
    let mut names = Vec::new();
    if let Some(c) = tree.classes.last()
        && let ClassBody::Long(composition) = &c.class.body
    {
        for section in &composition.sections {
            if let SectionKind::Elements { elements, .. } = &section.kind {
                for e in elements {
                    if let ElementKind::Components(c) = &e.kind {
                        names.extend(c.components.iter().map(|c| c.name.to_string()));
                    }
                }
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_where_they_are_names() {
        let text = "model A Real x; equation x = 1; end A;\nmodel M\n  A a(x = x), b; Real x = 1e3;\nequation\n  a.x = b.x + x; \nend M;\n";
        let out = renamed(text, 1);
        let [a, b, x] = ["a", "b", "x"].map(|n| new_name(n, 1));
        assert_eq!(
            out,
            format!(
                "model A Real x; equation x = 1; end A;\nmodel M\n  A {a}(x = {x}), {b}; Real {x} = 1e3;\nequation\n  \
                 {a}.x = {b}.x + {x}; \nend M;\n"
            )
        );
    }
}
