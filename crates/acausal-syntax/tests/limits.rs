//! Long and deep input: length costs no stack, depth is bounded, time is linear.

use std::time::{Duration, Instant};

use acausal_base::FileId;
use acausal_syntax::ast::{EquationKind, ExprKind, SectionKind};
use acausal_syntax::parser::MAX_NESTING;
use acausal_syntax::printer::print;
use acausal_syntax::{Parsed, parse, parse_expression};

/// The stack that Rust gives a thread by default; parsing, printing, comparing, cloning and dropping
/// of any tree must fit.
const STACK: usize = 2 << 20;

/// Parses, prints, compares and drops on a stack of [`STACK`] bytes; gives codes of the errors.
fn through_everything(text: String) -> Vec<&'static str> {
    let work = move || {
        let Parsed { tree, diagnostics } = parse(FileId(0), &text);
        let printed = print(&tree);
        if diagnostics.is_empty() {
            assert_eq!(parse(FileId(0), &printed).tree, tree.clone());
        }
        let _ = format!("{tree:?}");
        diagnostics.iter().map(|d| d.code).collect()
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work);
    thread.unwrap().join().unwrap()
}

fn model(equation: &str) -> String {
    format!("model A Real x; equation {equation}; end A;")
}

#[test]
fn long_chains_are_flat() {
    let terms = 100_000;
    for operator in ["+", "*", "and", "or", ".-"] {
        let text = format!("a{}", format!(" {operator} a").repeat(terms));
        let (expr, diagnostics) = parse_expression(FileId(0), &text);
        assert!(diagnostics.is_empty());
        let ExprKind::Chain(_, rest) = expr.kind else {
            panic!("not a chain");
        };
        assert_eq!(rest.len(), terms);
    }
    let ladder = "if c then 1 else ".repeat(terms) + "2";
    let (expr, diagnostics) = parse_expression(FileId(0), &ladder);
    assert!(diagnostics.is_empty());
    assert!(matches!(expr.kind, ExprKind::If { branches, .. } if branches.len() == terms));
}

#[test]
fn long_lists_need_no_stack() {
    let n = 20_000;
    let sum = model(&format!("x = 1{}", " + x * 2".repeat(n)));
    let array = model(&format!("x = {{1{}}}", ", 2".repeat(n)));
    let equations = model(&format!("{}x = 1", "x = 1;".repeat(n)));
    let ladder = format!("x = if c then 1 {} else 2", "elseif d then 3 ".repeat(n));
    let branches = format!("if c then {} end if", "elseif d then x = 1; ".repeat(n));
    let reference = model(&format!("x{} = 1", ".x".repeat(n)));
    for text in [
        sum,
        array,
        equations,
        model(&ladder),
        model(&branches),
        reference,
    ] {
        assert_eq!(through_everything(text), [""; 0]);
    }
}

#[test]
fn nesting_up_to_the_limit_is_accepted() {
    // The class is not in the way: it counts one, the equation one.
    let n = MAX_NESTING - 4;
    let parens = format!("x = {}1{}", "f(".repeat(n), ")".repeat(n));
    let (classes, ends): (String, String) = (0..n)
        .map(|i| (format!("model A{i} "), format!("end A{};", n - 1 - i)))
        .unzip();
    for text in [model(&parens), classes + &ends] {
        assert_eq!(through_everything(text), [""; 0]);
    }
}

#[test]
fn nesting_beyond_the_limit_is_one_error() {
    let n = 100_000;
    let bodies = [
        format!("x = {}1{}", "(".repeat(n), ")".repeat(n)),
        format!("x = {}1{}", "{".repeat(n), "}".repeat(n)),
        format!("x = {}1{}", "[".repeat(n), "]".repeat(n)),
        format!("x = {}1{}", "a[".repeat(n), "]".repeat(n)),
        format!("x = {}1{}", "f(a = ".repeat(n), ")".repeat(n)),
        format!("x = {}1", "2 ^ (-a * b + ".repeat(n)) + &")".repeat(n),
    ];
    let element = |piece: &str| format!("model A B b{}{}; end A;", piece.repeat(n), ")".repeat(n));
    for piece in ["(c", "(redeclare C c", "(redeclare model C = D"] {
        assert_eq!(
            through_everything(element(piece)),
            ["syntax-nesting"],
            "{piece}"
        );
    }
    for body in bodies {
        let codes = through_everything(model(&body));
        assert_eq!(codes, ["syntax-nesting"], "{}", &body[..20]);
    }
}

#[test]
fn hostile_nesting_neither_overflows_nor_hangs() {
    let n = 10_000;
    let start = Instant::now();
    for piece in [
        "(",
        "[",
        "{",
        "f(",
        "a[",
        "{{,",
        "[;",
        "(,",
        "not ",
        "- ",
        "-(",
        "if ",
        "if a then ",
        "x = if a then ",
        "model A ",
        "model A equation ",
        "equation if a then ",
        "when a then ",
        "when ",
        "when\n",
        "for ",
        "for i loop ",
        "for i in ",
        "while ",
        "algorithm while a loop ",
        "extends A(",
        "extends A(b(",
        "A a(redeclare model B = C(",
        "A a(redeclare B b(",
        "annotation(",
        "end ",
        "end A; ",
        "end if; ",
        "else ",
        "a = [1 2; ",
        "a^",
        "a<",
        "a:",
        "a.",
        ".",
        "1 ",
        "\"",
        "\"\n",
        "\\\"",
        "/*",
        "'",
        "'\n",
        "$ ",
        "a b\n",
        "a = b\n",
        "package P\n",
        "within ",
        "function f(",
        "f(function g(",
        "import A.{",
        "type E = enumeration(",
        "external \"C\" f(",
        "function f = der(",
        "pure ",
        "partial ",
        "redeclare ",
        "each ",
        "class extends A(",
        "\u{e4}",
        "\u{feff}",
    ] {
        for prefix in [
            "",
            "model M ",
            "model M equation ",
            "model M algorithm ",
            "model M equation x = ",
            "model M A a(",
        ] {
            through_everything(format!("{prefix}{}", piece.repeat(n)));
        }
    }
    // Some 400 inputs of up to 300 kB; exponential or cubic work on one of them would not end.
    assert!(
        start.elapsed() < Duration::from_secs(120),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn number_of_messages_is_bounded() {
    let parsed = parse(FileId(0), &model(&"x = ;".repeat(10_000)));
    assert!(parsed.diagnostics.len() <= acausal_syntax::parser::MAX_DIAGNOSTICS + 1);
    assert_eq!(parsed.diagnostics.last().unwrap().code, "syntax-too-many");
    let class = &parsed.tree.classes[0].class;
    assert_eq!(class.name.as_str(), "A");
}

#[test]
fn what_is_understood_is_kept() {
    let text = "model A Real x; Real 1 y; Real z; equation x = ; z = 1; end A;";
    let parsed = parse(FileId(0), text);
    assert_eq!(parsed.diagnostics.len(), 2);
    let class = &parsed.tree.classes[0].class;
    assert_eq!(class.elements().count(), 2);
    let sections = &class.composition().unwrap().sections;
    let SectionKind::Equations { equations, .. } = &sections[1].kind else {
        panic!("no equations");
    };
    assert_eq!(equations.len(), 1);
    assert!(matches!(equations[0].kind, EquationKind::Equal(..)));
}
