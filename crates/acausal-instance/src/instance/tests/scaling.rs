//! Written-out models: the cost per component must not depend on their number.

use std::fmt::Write;

use super::*;

#[test]
fn many_components_share_the_work_on_their_class() {
    let mut source = String::from(
        "package L type V = Real(unit = \"V\"); connector Pin V v; flow Real i; end Pin;
         partial model TwoPin Pin p; Pin n; V v; end TwoPin;
         model R extends TwoPin; parameter Real R = 1; equation v = R * p.i; end R; end L; model M ",
    );
    let count = 2000;
    for k in 0..count {
        writeln!(source, "L.R r{k}(R = {k});").unwrap();
    }
    source.push_str("end M;");
    let (mut instances, root) = tree(&source, "M");
    let before = instances.count();
    let found = walk(&mut instances, root);
    // r, p, p.v, p.i, n, n.v, n.i, v, R
    assert_eq!(found.len(), 9 * count);
    assert!(
        instances.count() - before <= 9 * count + 10,
        "classes are instantiated once, not per component"
    );
    // Each resistor is declared once; the eight members are declared once for all of them.
    assert!(
        instances.facts.len() <= count + before + 20,
        "{} declarations",
        instances.facts.len()
    );
    let (first, other) = (
        member(&mut instances, root, "r0.p.i"),
        member(&mut instances, root, "r7.p.i"),
    );
    assert!(std::ptr::eq(instances.data(first), instances.data(other)));
    assert_eq!(instances.display_name(first), "r0.p.i");
    assert_eq!(instances.display_name(other), "r7.p.i");
    let last = member(&mut instances, root, "r1999.R");
    let value = instances.binding(last).unwrap();
    assert_eq!(print(&instances, &value.expr), "1999");
}

/// The same member of one class differs where a component around it says something else.
#[test]
fn members_share_only_what_is_the_same() {
    let source = "record Pair Real a; Real b; end Pair;
         model Part Pair pair; end Part;
         model M Part x; parameter Pair p(a = 1, b = 2); Pair q; Part y(pair(a(fixed = true))); end M;";
    let (mut instances, root) = tree(source, "M");
    walk(&mut instances, root);
    let mut variability = |path: &str| {
        let inst = member(&mut instances, root, path);
        instances.data(inst).prefixes.variability
    };
    let parameter = Some(acausal_syntax::ast::VariabilityPrefix::Parameter);
    assert_eq!(variability("p.a"), parameter);
    assert_eq!(variability("q.a"), None);
    assert_eq!(variability("x.pair.a"), None);
    let (x, y) = (
        member(&mut instances, root, "x.pair.a"),
        member(&mut instances, root, "y.pair.a"),
    );
    assert!(!instances.has_attributes(x) && instances.has_attributes(y));
    assert_eq!(
        instances.parent(y),
        Some(member(&mut instances, root, "y.pair"))
    );
}

#[test]
fn long_chains_are_errors_or_work_but_never_overflow_the_stack() {
    let mut deep = String::from("model A0 Real x; end A0;");
    for k in 1..5000 {
        writeln!(deep, "model A{k} extends A{}; end A{k};", k - 1).unwrap();
    }
    assert_eq!(dump(&deep, "A90"), ["x: Real"]);
    let found = messages(&deep, "A4999");
    assert_eq!(
        found,
        ["error[inheritance-depth]: more than 100 classes that each extend the next"]
    );

    // Components in components, and types that are looked up through components.
    let mut nested = String::from("model C0 Real x; end C0;");
    for k in 1..3000 {
        writeln!(nested, "model C{k} C{} c; end C{k};", k - 1).unwrap();
    }
    assert_eq!(dump(&nested, "C2999").len(), 3000);
    let mut chain = String::from("model M ");
    for k in 0..3000 {
        writeln!(chain, "x{}.T x{k};", k + 1).unwrap();
    }
    chain.push_str("Real x3000; end M;");
    let found = messages(&chain, "M");
    assert_eq!(found.len(), 3000);
}
