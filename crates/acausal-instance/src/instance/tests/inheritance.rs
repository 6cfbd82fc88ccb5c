//! Inheritance and merging of modifications.

use super::*;

#[test]
fn modifications_merge_outer_over_inner() {
    // The example of MLS 3.6 §7.2.3.
    let source = "
        class C1 parameter Real a; end C1;
        class C2 parameter Real b; parameter Real c; end C2;
        class C3
          parameter Real x1; parameter Real x2 = 2; parameter C1 x3; parameter C2 x4(b = 4); parameter C1 x5(a = 5);
          extends C1; extends C2(b = 6, c = 77);
        end C3;
        class C4 extends C3(x2 = 22, x3(a = 33), x4(c = 44), x5 = x3, a = 55, b = 66); end C4;";
    assert_eq!(
        dump(source, "C4"),
        [
            "x1: Real",
            "x2: Real = 22",
            "x3: C1",
            "x3.a: Real = 33",
            "x4: C2",
            "x4.b: Real = 4",
            "x4.c: Real = 44",
            "x5: C1 = x3",
            "x5.a: Real = 5",
            "a: Real = 55",
            "b: Real = 66",
            "c: Real = 77",
        ]
    );
}

#[test]
fn dotted_modifiers_nest_and_the_outermost_wins() {
    let source = r#"
        model A parameter Real p = 1; end A;
        model B extends A(p = 2); end B;
        model C B b(p = 3); end C;
        model M C c(b.p = 4, b.p.unit = "V"); C d; B e; end M;"#;
    assert_eq!(
        dump(source, "M"),
        [
            "c: C",
            "c.b: B",
            "c.b.p: Real unit:\"V\" = 4",
            "d: C",
            "d.b: B",
            "d.b.p: Real = 3",
            "e: B",
            "e.p: Real = 2",
        ]
    );
}

#[test]
fn short_classes_carry_attributes_dimensions_and_causality() {
    let source = r#"
        type Voltage = Real(unit = "V", start = 1);
        type Phases = Voltage[3](each start = 2);
        connector In = input Voltage;
        model M Voltage v(start = 5); Phases p[2]; In u; Phases q(start = {1, 2, 3}); end M;"#;
    assert_eq!(
        dump(source, "M"),
        [
            "v: Voltage[] start:5 unit:\"V\"".replace("[]", ""),
            "p: Phases[2, 3] start:2 unit:\"V\"".to_string(),
            "u: In start:1 unit:\"V\"".to_string(),
            "q: Phases[3] start:{1, 2, 3}/1 unit:\"V\"".to_string(),
        ]
    );
    let (mut instances, root) = tree(source, "M");
    let u = member(&mut instances, root, "u");
    assert_eq!(
        instances.data(u).prefixes.causality,
        Some(acausal_syntax::ast::CausalityPrefix::Input)
    );
    assert!(instances.is_connector(u));
    assert_eq!(instances.kind(u), InstanceKind::Primitive(Primitive::Real));
}

#[test]
fn elements_inherited_twice_are_one_and_equations_too() {
    let source = "
        model A Real x; equation x = 1; end A;
        model B extends A; Real y; equation y = 2; end B;
        model C extends A; Real z; equation z = 3; end C;
        model D extends B; extends C; Real x; equation z = x; end D;";
    assert_eq!(dump(source, "D"), ["x: Real", "y: Real", "z: Real"]);
    let (mut instances, root) = tree(source, "D");
    let sections = instances.sections(root);
    let places: Vec<&str> = sections
        .iter()
        .map(|section| section.class.name.as_str())
        .collect();
    assert_eq!(places, ["A", "B", "C", "D"], "base classes first, A once");
}

#[test]
fn protected_extends_protects_what_is_inherited() {
    let source = "
        model A Real x; end A;
        model M Real y; protected extends A; Real z; end M;";
    let (mut instances, root) = tree(source, "M");
    let visible: Vec<bool> = instances
        .components(root)
        .into_iter()
        .map(|inst| instances.data(inst).visibility == Visibility::Public)
        .collect();
    assert_eq!(visible, [true, false, false], "y, x, z");
}

#[test]
fn prefixes_are_propagated_to_members() {
    use acausal_syntax::ast::{FlowPrefix, VariabilityPrefix};
    let source = "
        record R Real a; constant Real b = 1; end R;
        connector C flow R i; Real v; end C;
        model M parameter R p; C c; discrete Real d; end M;";
    let (mut instances, root) = tree(source, "M");
    let mut prefixes = |path| {
        let inst = member(&mut instances, root, path);
        instances.data(inst).prefixes
    };
    assert_eq!(
        prefixes("p.a").variability,
        Some(VariabilityPrefix::Parameter)
    );
    assert_eq!(
        prefixes("p.b").variability,
        Some(VariabilityPrefix::Constant)
    );
    assert_eq!(prefixes("d").variability, Some(VariabilityPrefix::Discrete));
    assert_eq!(prefixes("c.i.a").flow, Some(FlowPrefix::Flow));
    assert_eq!(prefixes("c.v").flow, None);
}

#[test]
fn break_removes_values_components_and_connections() {
    let source = "
        connector P Real v; flow Real i; end P;
        model A parameter Real p = 1; P a; P b; equation connect(a, b); end A;
        model M extends A(p = break, break connect(a, b)); end M;
        model N extends A(break b); end N;";
    assert_eq!(dump(source, "M")[0], "p: Real");
    assert_eq!(
        dump(source, "N"),
        ["p: Real = 1", "a: P", "a.v: Real", "a.i: Real"]
    );
    let (mut instances, root) = tree(source, "M");
    assert_eq!(instances.sections(root)[0].removed_connections.len(), 1);
}
