//! `parse(print(tree)) == tree`, on sources with every production of the grammar, on random trees, and
//! on a library (set `ACAUSAL_MSL` to the folder of the Modelica Standard Library).

mod common;

use std::path::{Path, PathBuf};

use acausal_base::{FileId, Span};
use acausal_syntax::ast::{Expr, StoredDefinition};
use acausal_syntax::printer::{print, print_expr};
use acausal_syntax::{parse, parse_expression};
use common::trees;
use proptest::prelude::*;

fn sources() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn parse_ok(text: &str) -> StoredDefinition {
    let parsed = parse(FileId(0), text);
    assert!(!parsed.has_errors(), "{:#?}\n{text}", parsed.diagnostics);
    parsed.tree
}

#[test]
fn sources_survive() {
    let sources = sources();
    assert!(sources.len() >= 3);
    for path in sources {
        let text = std::fs::read_to_string(&path).unwrap();
        let tree = parse_ok(&text);
        let printed = print(&tree);
        let again = parse_ok(&printed);
        assert_eq!(tree, again, "{}\n{printed}", path.display());
        assert_eq!(printed, print(&again), "printing is stable");
    }
}

#[test]
fn equality_ignores_places_but_not_contents() {
    let one = parse_ok("model A Real x; end A;");
    let two = parse_ok("// moved\nmodel A\n  Real x; // here\nend A;");
    assert_eq!(one, two);
    assert_ne!(one.classes[0].span, two.classes[0].span);
    for other in [
        "model A Real y; end A;",
        "model B Real x; end B;",
        "class A Real x; end A;",
        "model A Real x \"\"; end A;",
        "model A Real x(); end A;",
        "model A input Real x; end A;",
        "within; model A Real x; end A;",
    ] {
        assert_ne!(one, parse_ok(other), "{other}");
    }
}

#[test]
fn library_survives() {
    let Ok(root) = std::env::var("ACAUSAL_MSL") else {
        return;
    };
    let mut open = vec![PathBuf::from(root)];
    let mut count = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "mo") {
            let tree = parse_ok(&std::fs::read_to_string(&path).unwrap());
            assert_eq!(tree, parse_ok(&print(&tree)), "{}", path.display());
            count += 1;
        }
    }
    assert!(count > 0, "no Modelica files below ACAUSAL_MSL");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_expressions_survive(expr in trees::expr()) {
        let text = print_expr(&expr);
        let (again, diagnostics) = parse_expression(FileId(0), &text);
        prop_assert!(diagnostics.is_empty(), "{text}\n{diagnostics:?}");
        prop_assert_eq!(&expr, &again, "{}", text);
        check_spans(&again)?;
    }

    #[test]
    fn random_classes_survive(tree in trees::stored_definition()) {
        let text = print(&tree);
        let parsed = parse(FileId(0), &text);
        prop_assert!(parsed.diagnostics.is_empty(), "{text}\n{:?}", parsed.diagnostics);
        prop_assert_eq!(tree, parsed.tree, "{}", text);
    }
}

/// The whole expression lies in one place of the file.
fn check_spans(expr: &Expr) -> Result<(), TestCaseError> {
    prop_assert!(expr.span != Span::NONE && expr.span.start < expr.span.end);
    Ok(())
}
