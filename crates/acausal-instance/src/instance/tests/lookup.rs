//! Name lookup.

use super::*;

fn found(source: &str, class: &str, name: &str) -> String {
    let (mut instances, root) = tree(source, class);
    let names: Vec<_> = name
        .split('.')
        .map(|part| acausal_syntax::ast::Ident::new(Name::new(part), Span::NONE))
        .collect();
    let path = acausal_syntax::ast::Path {
        global: false,
        parts: names,
        span: Span::NONE,
    };
    match instances.find_path(Scope::of(root), &path) {
        Found::Component(inst) => format!("component {}", instances.display_name(inst)),
        Found::Class(inst) => format!("class {}", instances.class_name(inst)),
        Found::EnumLiteral(id, number) => format!("{}#{number}", instances.enum_type(id).name),
        Found::BuiltinFunction(name) => format!("builtin {name}"),
        Found::Time => "time".to_string(),
        Found::NotFound(error) => error.message,
    }
}

const LIBRARY: &str = "
    package P
      constant Real pi = 3.14;
      type E = enumeration(one, two);
      package Q extends R; function f input Real u; output Real y; end f; constant Real c = pi; end Q;
      package R constant Real inherited = 1; function g end g; end R;
      model M
        import P.Q.f; import h = P.R.g; import P.R.*; import P.{E, Q};
        Real x;
        model Inner Real z; end Inner;
        Inner i;
      end M;
      encapsulated model Alone Real x; end Alone;
    end P;";

#[test]
fn names_are_found_in_members_imports_enclosing_classes_and_predefined_ones() {
    for (name, meaning) in [
        ("x", "component x"),
        ("i.z", "component i.z"),
        ("f", "class P.Q.f"),
        ("h", "class P.R.g"),
        ("inherited", "component P.R.inherited"),
        ("Q.inherited", "component P.Q.inherited"),
        ("Q.g", "class P.R.g"),
        ("E.two", "P.E#2"),
        ("pi", "component P.pi"),
        ("P.pi", "component P.pi"),
        ("sin", "builtin sin"),
        ("time", "time"),
        ("StateSelect.prefer", "StateSelect#4"),
        ("Real", "class Real"),
        ("Connections.branch", "builtin Connections.branch"),
        ("R.nothing", "`P.R` has no element `nothing`"),
    ] {
        assert_eq!(found(LIBRARY, "P.M", name), meaning, "{name}");
    }
    assert_eq!(
        found(LIBRARY, "P.Alone", "pi"),
        "`pi` is not declared in `P.Alone`"
    );
    assert_eq!(found(LIBRARY, "P.Alone", "sin"), "builtin sin");
}

#[test]
fn inherited_text_does_not_see_what_the_derived_class_adds() {
    let source = "
        package P constant Real k = 1; model A parameter Real a = k; end A; end P;
        model M extends P.A; parameter Real k = 2; parameter Real m = k; end M;";
    let (mut instances, root) = tree(source, "M");
    let mut meaning = |path: &str| {
        let inst = member(&mut instances, root, path);
        let scope = instances.binding(inst).unwrap().scope;
        match instances.find(scope, Name::new("k"), Span::NONE) {
            Found::Component(found) => instances.display_name(found),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(meaning("a"), "P.k");
    assert_eq!(meaning("m"), "k");
}

#[test]
fn outer_stands_for_the_nearest_inner_around_it() {
    // The example of MLS 3.6 §5.4.
    let source = "
        class A outer Real TI; class B Real TI; class C Real TI; class D outer Real TI; end D; D d; end C; C c; end B; B b; end A;
        class E inner Real TI; class F inner Real TI; class G Real TI; class H A a; end H; H h; end G; G g; end F; F f; end E;
        class I inner Real TI; E e; A a; end I;";
    let (mut instances, root) = tree(source, "I");
    for (outer, inner) in [
        ("e.f.g.h.a.TI", "e.f.TI"),
        ("e.f.g.h.a.b.c.d.TI", "e.f.TI"),
        ("a.TI", "TI"),
        ("a.b.c.d.TI", "TI"),
        ("e.TI", "e.TI"),
    ] {
        let found = member(&mut instances, root, outer);
        assert_eq!(instances.display_name(found), inner, "{outer}");
    }
    assert!(instances.take_diagnostics().is_empty());
}

#[test]
fn inner_outer_is_both() {
    let source = "
        model Leaf outer Boolean on; end Leaf;
        model Sub inner outer Boolean on = on; Leaf leaf; end Sub;
        model M Sub sub; inner Boolean on = true; end M;";
    assert_eq!(
        dump(source, "M"),
        [
            "sub: Sub",
            "sub.on: Boolean = on",
            "sub.leaf: Leaf",
            "on: Boolean = true"
        ]
    );
    let (mut instances, root) = tree(source, "M");
    let sub = member(&mut instances, root, "sub");
    let leaf = member(&mut instances, sub, "leaf.on");
    assert_eq!(instances.display_name(leaf), "sub.on");
    match instances.find(Scope::of(sub), Name::new("on"), Span::NONE) {
        Found::Component(found) => assert_eq!(instances.display_name(found), "on"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_missing_inner_is_added_to_the_model() {
    let source = r#"
        model World parameter Real g = 9.81; annotation(missingInnerMessage = "no world"); end World;
        model Body outer World world; Real x; end Body;
        model M Body b; Body c; end M;"#;
    let (mut instances, root) = tree(source, "M");
    let names: Vec<String> = walk(&mut instances, root)
        .iter()
        .map(|&inst| instances.display_name(inst))
        .collect();
    assert_eq!(names, ["b", "b.x", "c", "c.x", "world", "world.g"]);
    let b = member(&mut instances, root, "b.world.g");
    assert_eq!(instances.display_name(b), "world.g");
    let c = member(&mut instances, root, "c.world.g");
    assert_eq!(b, c);
    let warnings = instances.take_diagnostics();
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].notes, ["no world"]);
}

#[test]
fn connections_can_add_members_to_expandable_connectors() {
    let source = "
        connector Out = output Real(unit = \"V\"); expandable connector Bus Real known; end Bus;
        model M Bus bus; Out y[3]; end M;";
    let (mut instances, root) = tree(source, "M");
    let bus = member(&mut instances, root, "bus");
    let y = member(&mut instances, root, "y");
    let known = member(&mut instances, bus, "known");
    assert!(
        instances.is_connector(known),
        "as are all members of an expandable connector"
    );
    let dims = instances.dims(y);
    let added = instances.augment(bus, Name::new("speed"), y, dims);
    assert_eq!(
        instances.augment(bus, Name::new("speed"), known, Vec::new()),
        added
    );
    assert_eq!(instances.components(bus), [known, added]);
    assert_eq!(instances.display_name(added), "bus.speed");
    assert_eq!(member(&mut instances, root, "bus.speed"), added);
    assert_eq!(line(&mut instances, added), "bus.speed: Out[3] unit:\"V\"");
    assert_eq!(instances.data(added).prefixes.causality, None);
}
