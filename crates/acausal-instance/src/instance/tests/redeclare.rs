//! Replaceable elements and redeclaration.

use super::*;

#[test]
fn a_redeclared_component_keeps_the_modifiers_of_the_constraining_type() {
    // MLS 3.6 §7.3.2.
    let source = "
        class A parameter Real x; end A;
        class B parameter Real x = 3.14, y; end B;
        class C replaceable A a(x = 1); end C;
        class D extends C(redeclare B a(y = 2)); end D;
        class E C c(redeclare B a(y = 3), a.x = 4); end E;";
    assert_eq!(
        dump(source, "D"),
        ["a: B", "a.x: Real = 1", "a.y: Real = 2"]
    );
    assert_eq!(
        dump(source, "E"),
        ["c: C", "c.a: B", "c.a.x: Real = 4", "c.a.y: Real = 3"]
    );
}

#[test]
fn a_redeclared_class_keeps_the_modifiers_of_the_constraining_type() {
    // Circuit2 and Circuit3 of MLS 3.6 §7.3.2.
    let source = "
        model Resistor parameter Real R = 1; end Resistor;
        model ThermoResistor parameter Real R = 2; parameter Real T0 = 3; end ThermoResistor;
        model Circuit replaceable model N = Resistor(R = 100); N n; end Circuit;
        model Circuit2 extends Circuit(redeclare replaceable model N = ThermoResistor(T0 = 300)); end Circuit2;
        model Circuit3 extends Circuit2(redeclare replaceable model N = Resistor(R = 200)); end Circuit3;
        model Circuit4 extends Circuit2(redeclare replaceable model N = ThermoResistor); end Circuit4;";
    assert_eq!(dump(source, "Circuit"), ["n: Circuit.N", "n.R: Real = 100"]);
    assert_eq!(
        dump(source, "Circuit2"),
        ["n: Circuit2.N", "n.R: Real = 100", "n.T0: Real = 300"]
    );
    assert_eq!(
        dump(source, "Circuit3"),
        ["n: Circuit3.N", "n.R: Real = 200"]
    );
    assert_eq!(
        dump(source, "Circuit4"),
        ["n: Circuit4.N", "n.R: Real = 100", "n.T0: Real = 3"]
    );
}

#[test]
fn a_package_given_to_components_reaches_their_inside() {
    let source = "
        partial package Medium constant Integer n = 1;
          replaceable partial model Properties Real X[n]; end Properties;
          replaceable function f input Real u; output Real y; end f;
        end Medium;
        package Air extends Medium(n = 2);
          redeclare model extends Properties(X(start = {1, 2})) Real h; end Properties;
          redeclare function extends f protected Real w; end f;
        end Air;
        model Pipe replaceable package Medium = Air constrainedby Medium; Medium.Properties p; parameter Integer n = Medium.n; end Pipe;
        package Steam extends Medium(n = 3); redeclare model extends Properties Real s; end Properties; end Steam;
        model M package Medium = Steam; Pipe a; Pipe b(redeclare package Medium = Medium); end M;";
    assert_eq!(
        dump(source, "M"),
        [
            "a: Pipe",
            "a.p: Air.Properties",
            "a.p.X: Real[n] start:{1, 2}/1",
            "a.p.h: Real",
            "a.n: Integer = Medium.n",
            "b: Pipe",
            "b.p: Steam.Properties",
            "b.p.X: Real[n]",
            "b.p.s: Real",
            "b.n: Integer = Medium.n",
        ]
    );
    let (mut instances, root) = tree(source, "M");
    let mut size = |path: &str| {
        let x = member(&mut instances, root, path);
        let dim = instances.dims(x).remove(0);
        let Found::Component(n) = instances.find(dim.scope, Name::new("n"), Span::NONE) else {
            panic!()
        };
        let value = instances.binding(n).unwrap();
        print(&instances, &value.expr)
    };
    assert_eq!(
        size("a.p.X"),
        "2",
        "the constant of the package that the model is in"
    );
    assert_eq!(size("b.p.X"), "3");
}

#[test]
fn redeclare_as_element_replaces_and_keeps_its_place() {
    let source = "
        model A replaceable Real x[2] = {1, 2}; Real y; end A;
        type Length = Real(unit = \"m\");
        model M extends A; redeclare Length x(start = {3, 4}); end M;";
    assert_eq!(
        dump(source, "M"),
        ["x: Length[2] start:{3, 4}/1 unit:\"m\" = {1, 2}", "y: Real"]
    );
}

#[test]
fn prefixes_and_conditions_of_the_original_stay() {
    use acausal_syntax::ast::{CausalityPrefix, VariabilityPrefix};
    let source = "
        record G end G; record H extends G; Real l = 1; end H;
        model X parameter Boolean on = true; replaceable parameter G g if on; replaceable input Real u[2]; end X;
        model M X x(redeclare replaceable H g, redeclare Real u); end M;";
    let (mut instances, root) = tree(source, "M");
    let g = member(&mut instances, root, "x.g");
    assert_eq!(
        instances.data(g).prefixes.variability,
        Some(VariabilityPrefix::Parameter)
    );
    let condition = instances.condition(g).unwrap();
    assert_eq!(instances.display_name(condition.scope.inst), "x");
    let u = member(&mut instances, root, "x.u");
    assert_eq!(
        instances.data(u).prefixes.causality,
        Some(CausalityPrefix::Input)
    );
    assert_eq!(instances.data(u).rank, 1);
    assert_eq!(instances.dims(u).len(), 1);
}

#[test]
fn components_share_nested_classes_unless_their_modifiers_reach_them() {
    let source = "
        model A parameter Real p; replaceable function f = g; function g input Real u; output Real y; end g; end A;
        function h input Real u; output Real y; end h;
        model M A a(p = 1); A b(p = 2); A c(redeclare function f = h); end M;";
    let (mut instances, root) = tree(source, "M");
    let mut function = |path| member(&mut instances, root, path);
    let (a, b, c) = (function("a.f"), function("b.f"), function("c.f"));
    assert_eq!(a, b);
    assert_ne!(a, c);
    assert_eq!(instances.components(c).len(), 2);
}

#[test]
fn settings_are_outermost() {
    let mut libraries = Libraries::new();
    libraries.load_text("a.mo", "model A parameter Real p = 1; Real x(start = 2); constant Real c = 1; final parameter Real f = 1; end A; model M A a(p = 3); end M;").unwrap();
    let mut instances = Instances::new(libraries);
    let set = [
        ("a.p".to_string(), expression("7")),
        ("a.x.start".to_string(), expression("8")),
    ];
    let root = instances.instantiate_root("M", &set).unwrap();
    let p = member(&mut instances, root, "a.p");
    let value = instances.binding(p).unwrap();
    assert_eq!(
        (value.expr.kind.clone(), value.origin),
        (expression("7").kind, BindingOrigin::Setting)
    );
    let x = member(&mut instances, root, "a.x");
    assert_eq!(
        instances.attribute(x, "start").unwrap().expr.kind,
        expression("8").kind
    );
    for (name, message) in [
        ("a.q", "`a` of class `A` has no element `q`"),
        ("a.c", "`a.c` is a constant and cannot be set"),
        ("a.x.strat", "`a.x` has no attribute `strat`"),
    ] {
        let error = instances
            .instantiate_root("M", &[(name.to_string(), expression("1"))])
            .unwrap_err();
        assert_eq!(error.message, message);
    }
    let root = instances
        .instantiate_root("M", &[("a.f".to_string(), expression("1"))])
        .unwrap();
    walk(&mut instances, root);
    assert_eq!(
        instances.take_diagnostics()[0].message,
        "`f` is final and cannot be set"
    );
}

#[test]
fn short_classes_that_use_variables_of_the_component_are_not_shared() {
    let source = "
        model Conductor parameter Real G = 1; end Conductor;
        model Wall parameter Real k = 1; parameter Integer n = 1;
          replaceable model Layer = Conductor(G = k); type Field = Real[n];
          function f input Real u; output Real y; end f;
          Layer layer; Field field;
        end Wall;
        model M Wall a(k = 5, n = 2); Wall b(k = 7); end M;";
    let (mut instances, root) = tree(source, "M");
    for (path, name, meaning) in [("a.layer.G", "k", "a.k"), ("b.layer.G", "k", "b.k")] {
        let inst = member(&mut instances, root, path);
        let scope = instances.binding(inst).unwrap().scope;
        let Found::Component(found) = instances.find(scope, Name::new(name), Span::NONE) else {
            panic!()
        };
        assert_eq!(instances.display_name(found), meaning);
    }
    let field = member(&mut instances, root, "a.field");
    let scope = instances.dims(field)[0].scope;
    let Found::Component(n) = instances.find(scope, Name::new("n"), Span::NONE) else {
        panic!()
    };
    assert_eq!(instances.display_name(n), "a.n");
    let (f, g) = (
        member(&mut instances, root, "a.f"),
        member(&mut instances, root, "b.f"),
    );
    assert_eq!(f, g, "functions are shared all the same");
}
