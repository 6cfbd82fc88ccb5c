//! Models found with libraries in wide use, one mechanism each in its smallest form. The value that is right follows from the section of
//! the specification that is named.

use acausal::{Load, Model, Observe, Settings};

use crate::common::{last, near, run_text};

/// Simulates each model for one second and compares the last value of a signal.
fn table(rows: &[(&str, &str, &str, f64)]) {
    for (what, text, signal, expected) in rows {
        let text = format!("{text} annotation(experiment(StopTime = 1)); end M;");
        let run = run_text(&text, &Settings::default());
        let found = last(&run, signal);
        assert!(
            (found - expected).abs() <= 1e-6,
            "{what}: {signal} is {found}, not {expected}"
        );
    }
}

/// Codes of the messages, each with the text that it points at.
fn messages(text: &str) -> Vec<(String, String)> {
    let diagnostics = match Model::from_text("Test.mo", text, &Load::default()) {
        Ok(model) => model.warnings,
        Err(failure) => failure.diagnostics,
    };
    let at = |d: &acausal_base::Diagnostic| {
        let span = d.span();
        text[span.start as usize..span.end as usize].to_string()
    };
    diagnostics
        .iter()
        .map(|d| (d.code.to_string(), at(d)))
        .collect()
}

const RECORDS: &str = "
record Curve parameter Real V = 1; parameter Real d = 2; end Curve;
record Generic parameter Curve c(V = 10, d = 20); end Generic;
model Pump parameter Generic g; Real x = g.c.V*time; Real z = g.c.d*time; end Pump;
model Fixed extends Pump(g(c(V = 100))); end Fixed;
record Short = Generic(c(V = 1000));
";

/// Outer modifiers override inner ones (MLS 3.6 §7.2.4), also between the value of a record and those of its fields.
#[test]
fn the_outer_one_of_a_record_value_and_field_values_wins() {
    let with = |rest: &str| format!("{RECORDS} model M parameter Curve k(V = 3, d = 4); {rest}");
    let rows = [
        (
            "a record over defaults inside",
            "Pump p(g(c = k));",
            "p.x",
            3.0,
        ),
        ("and all of its fields", "Pump p(g(c = k));", "p.z", 4.0),
        ("over an extends clause", "Fixed p(g(c = k));", "p.x", 3.0),
        (
            "the outer record",
            "parameter Generic h(c = k); Pump p(g = h);",
            "p.x",
            3.0,
        ),
        (
            "over a short class",
            "parameter Generic h(c = k); parameter Short s = h; Real x = s.c.V*time;",
            "x",
            3.0,
        ),
        (
            "a field in the same modification",
            "Pump p(g(c(V = 5) = k));",
            "p.x",
            5.0,
        ),
        (
            "its neighbour keeps the record's",
            "Pump p(g(c(V = 5) = k));",
            "p.z",
            4.0,
        ),
        (
            "a field outside of the record's value",
            "model Q Pump p(g(c = k)); parameter Curve k(V = 3); end Q; Q q(p(g(c(V = 6))));",
            "q.p.x",
            6.0,
        ),
    ];
    for (what, rest, signal, expected) in rows {
        table(&[(what, &with(rest), signal, expected)]);
    }
}

/// Modifiers of every constraining clause hold for the element in force (MLS 3.6 §7.3.2).
#[test]
fn modifiers_of_all_constraining_clauses_are_merged() {
    let classes = "
        model Port parameter Real n = 0; parameter Real m = 0; end Port;
        model Res extends Port; Real y = (10*n + m)*time; end Res;
        model Lin extends Res; end Lin;
        model Base parameter Real k = 5; replaceable Port r constrainedby Port(n = k); end Base;
        model Mid extends Base(redeclare replaceable Res r constrainedby Res(m = 7)); end Mid;
        model Nested replaceable model R = Port constrainedby Port(n = 5); end Nested;
        model NestedMid extends Nested(redeclare replaceable model R = Res constrainedby Res(m = 7)); end NestedMid;
        model M ";
    let with = |rest: &str| format!("{classes} {rest}");
    table(&[
        (
            "a component",
            &with("extends Mid(redeclare Lin r);"),
            "r.y",
            57.0,
        ),
        (
            "the outer clause wins",
            &with("extends Mid(redeclare replaceable Lin r constrainedby Lin(n = 6));"),
            "r.y",
            67.0,
        ),
        (
            "a class",
            &with("extends NestedMid(redeclare model R = Lin); R r;"),
            "r.y",
            57.0,
        ),
    ]);
}

/// A partial function has no value (MLS 3.6 §12.2).
#[test]
fn a_partial_function_cannot_be_called() {
    let text = "
        package Media replaceable partial function density input Real p; output Real d; end density; end Media;
        package Water extends Media; redeclare function extends density algorithm d := 995; end density; end Water;
        model Res replaceable package Medium = Media; Real y = Medium.density(1e5)*time; end Res;
        model M Res a(redeclare package Medium = Water); ";
    table(&[("a function that is given", text, "a.y", 995.0)]);
    let found = messages(&format!("{text} Res b; end M;"));
    assert_eq!(
        found,
        [("partial-function".into(), "Medium.density(1e5)".into())]
    );
}

/// What a body needs of its iterator is known value by value: Strings, sizes, ranges.
#[test]
fn a_body_may_need_the_value_of_its_iterator() {
    let equal = "function equal input String a; input String b; output Boolean r; protected Integer c; algorithm c := compare(a, b, false); r := c == 2; end equal;
        function compare input String a; input String b; input Boolean s; output Integer r; external \"C\" r = ModelicaStrings_compare(a, b, s); end compare;
        model Part parameter String name; parameter Real s = if equal(name, \"Air\") then 1 else 0; Real y = s*time; end Part;
        function upto input Real d[:]; input Integer k; output Real z; algorithm z := 1 + sum(d[i] for i in 1:k); end upto;
        function below input Real d[:]; input Integer k; output Real z; algorithm z := sum(d[2:k]) + max(d[1:k]); end below;
        model M ";
    let with = |rest: &str| format!("{equal} {rest}");
    table(&[
        (
            "a String of an external function",
            &with(
                "constant String n[2] = {\"water\", \"air\"}; parameter Real s[2] = {if equal(n[i], \"Air\") then 1 else 0 for i in 1:2}; Real x = s[2]*time - 5*s[1];",
            ),
            "x",
            1.0,
        ),
        (
            "a String in an array of components",
            &with("Part p[3](name = {\"water\", \"air\", \"\"});"),
            "p[2].y",
            1.0,
        ),
        (
            "a slice in a comprehension",
            &with("Real d[3] = {1, 2, 4}*time; Real z[3] = {sum(d[1:i]) for i in 1:3};"),
            "z[3]",
            7.0,
        ),
        (
            "a range of an inner reduction",
            &with("Real d[3] = {1, 2, 4}*time; Real z = sum(sum(d[j] for j in 1:i) for i in 1:3);"),
            "z",
            11.0,
        ),
        (
            "two iterators",
            &with(
                "Real d[3] = {1, 2, 4}*time; Real z[2, 3] = {sum(d[j:i]) for i in 1:3, j in 1:2};",
            ),
            "z[2, 3]",
            6.0,
        ),
        (
            "a reduction up to an input that varies",
            &with("Real d[3] = {1, 2, 4}*time; Real z = upto(d, if time > 0.5 then 3 else 2);"),
            "z",
            8.0,
        ),
        (
            "a slice up to an input that varies",
            &with("Real d[3] = {1, 2, 4}*time; Real z = below(d, if time > 0.5 then 3 else 2);"),
            "z",
            10.0,
        ),
    ]);
}

/// A reduction over nothing has a value without its body (MLS 3.6 §10.3.4).
#[test]
fn the_body_of_an_empty_reduction_is_not_evaluated() {
    let with = |rest: &str| {
        format!(
            "function f input Real x; output Real y; protected constant Integer n = 0; constant Real s[n, 2] = fill(0.0, n, 2);
             algorithm y := x + sum(s[i, 1]*log(abs(sinh(s[i, 2]*x))) for i in 1:n) + product(1/s[i, 1] for i in 1:n); end f; model M {rest}"
        )
    };
    table(&[
        ("in a function", &with("Real y = f(1 + time);"), "y", 3.0),
        (
            "in an equation",
            &with(
                "constant Integer n = 0; constant Real s[n] = fill(0.0, n); Real y = time + sum(log(s[i]) for i in 1:n);",
            ),
            "y",
            1.0,
        ),
        (
            "in a comprehension",
            &with(
                "constant Real s[0] = fill(0.0, 0); Real v[:] = {log(s[i]) for i in 1:0}; Real y = time + sum(v);",
            ),
            "y",
            1.0,
        ),
    ]);
}

/// An array is one node of the connection graph if `equalityConstraint` takes arrays (MLS 3.6 §9.4).
#[test]
fn an_array_as_overdetermined_node() {
    let text = "
        type Ref extends Real;
          function equalityConstraint input Ref a[:]; input Ref b[:]; output Real r[0]; algorithm
            for i in 1:size(a, 1) loop assert(abs(a[i] - b[i]) < 1e-6, \"not equal\"); end for; end equalityConstraint;
        end Ref;
        connector Pin Real v; flow Real i; Ref theta[2]; end Pin;
        model Source parameter Real v0 = 1; Pin p; Pin q; equation Connections.potentialRoot(p.theta); Connections.branch(p.theta, q.theta); q.theta = p.theta;
          if Connections.isRoot(p.theta) then p.theta = {time, 2*time}; end if; p.v = v0; q.i = q.v - v0; end Source;
        model Load Pin p; Real y = p.theta[2] + (if Connections.isRoot(p.theta) then 10 else 0); equation p.i = p.v; end Load;
        model M Source s, t; Load l[2]; equation connect(s.p, t.q); connect(s.q, t.p); connect(s.p, l[1].p); connect(t.q, l[2].p); ";
    table(&[("a ring of two sources", text, "l[2].y", 2.0)]);
}

/// Modifications merge, the outer one is in force (MLS 3.6 §7.2.4); that an inner redeclaration is not replaceable is said.
#[test]
fn an_outer_redeclaration_overrides_an_inner_one() {
    let classes = "
        package A constant Integer n = 1; end A; package B extends A(n = 2); end B;
        model Pump replaceable package Medium = A; Real x = Medium.n*time; end Pump;
        model Pump2 extends Pump; end Pump2;
        model PumpA extends Pump(redeclare package Medium = A); end PumpA;
        model Base package Medium = A; replaceable Pump p(redeclare package Medium = Medium); end Base;
        model M ";
    for rest in [
        "extends Base(redeclare Pump2 p(redeclare package Medium = B));",
        "extends Base(p(redeclare package Medium = B));",
        "PumpA p(redeclare package Medium = B);",
    ] {
        let text = format!("{classes} {rest}");
        table(&[(rest, &text, "p.x", 2.0)]);
        let found = messages(&format!("{text} end M;"));
        assert_eq!(found, [("not-replaceable".into(), "Medium".into())]);
    }
    // An element of a class that redeclares is a declaration, and says what it says.
    let found = messages(&format!(
        "{classes} model Q extends Pump; redeclare package Medium = A; end Q; Q q(redeclare package Medium = B); end M;"
    ));
    assert_eq!(found[0].0, "not-replaceable");
}

/// Elements inherited twice are the same if they mean the same (MLS 3.6 §7.1).
#[test]
fn elements_inherited_twice_are_compared_by_meaning() {
    let classes = "
        package A constant Integer n = 1; end A; package B extends A(n = 2); end B;
        model Port replaceable package Medium = A; Real p = Medium.n*time; end Port;
        model Index replaceable package Medium = B; parameter Real i = Medium.n; end Index;
        package L model Sys parameter Real g = 9; end Sys; model Base outer Sys sys; Real y = sys.g*time; end Base; end L;
        model Derived extends L.Base; outer L.Sys sys; end Derived;
        model M ";
    let with = |rest: &str| format!("{classes} {rest}");
    table(&[
        (
            "redeclared by the other one",
            &with(
                "extends Port; extends Index(redeclare package Medium = Medium); Real y = (p + i)*time;",
            ),
            "y",
            2.0,
        ),
        (
            "redeclared to be equal",
            &with(
                "extends Port(redeclare replaceable package Medium = B); extends Index; Real y = (p + i)*time;",
            ),
            "y",
            4.0,
        ),
        (
            "two names of a type",
            &with("inner L.Sys sys; Derived d;"),
            "d.y",
            9.0,
        ),
    ]);
    let found = messages(&with("extends Port; extends Index; end M;"));
    assert_eq!(found, [("conflicting-elements".into(), "Medium".into())]);
}

/// Defaults of a record constructor refer to any other field (MLS 3.6 §12.6).
#[test]
fn defaults_of_records_in_any_order() {
    let classes = "
        record Mat parameter Real x = 0.1; parameter Integer n = integer(ceil(R)); parameter Real R = 3*x; end Mat;
        record Part parameter Real k = 2; parameter Mat m(x = k); end Part;
        function made input Real x; output Real y; protected Mat m(x = x); algorithm y := m.n; end made;
        record Loop parameter Real a = b; parameter Real b = a; end Loop;
        model M ";
    let with = |rest: &str| format!("{classes} {rest}");
    table(&[
        (
            "a later field",
            &with("parameter Mat m = Mat(x = 2); Real y = m.n*time;"),
            "y",
            6.0,
        ),
        (
            "fields of a field",
            &with("parameter Part p = Part(k = 3); Real y = p.m.n*time;"),
            "y",
            9.0,
        ),
        ("in a function", &with("Real y = made(2)*time;"), "y", 6.0),
    ]);
    let found = messages(&with("parameter Loop l = Loop(); Real y = l.a; end M;"));
    assert!(!found.is_empty());
}

/// What is connected with a bus is there, whatever condition it has been declared under (MLS 3.6 §9.1.3).
#[test]
fn a_conditional_connector_on_a_bus() {
    let text = "
        connector RIn = input Real; connector ROut = output Real; expandable connector Bus end Bus;
        model Machine parameter Boolean useBus = false; RIn ySet if not useBus; Bus bus; Sink sink; equation connect(ySet, bus.ySet); connect(bus.ySet, sink.u); end Machine;
        block Sink RIn u; end Sink; block Src ROut y = 3*time; end Src;
        model M Machine m; Src s; equation connect(s.y, m.ySet); ";
    table(&[("present", text, "m.sink.u", 3.0)]);
}

/// Frames that are switched off are no nodes, also inside of connectors that are there.
#[test]
fn absent_parts_of_connectors_need_no_root() {
    let text = "
        record R Real T; function equalityConstraint input R a; input R b; output Real r; algorithm r := a.T - b.T; end equalityConstraint; end R;
        connector Frame R R; Real f; flow Real g; end Frame;
        connector Flange parameter Boolean with3D = false; Real phi; flow Real tau; Frame frame if with3D; end Flange;
        model End Flange flange; parameter Real k = 1; equation flange.tau = k*(flange.phi - 2*time); end End;
        model M End a, b(k = 3); equation connect(a.flange, b.flange); ";
    table(&[("no frames", text, "a.flange.phi", 2.0)]);
}

/// A function applied element by element, with an assertion and a String among its outputs.
#[test]
fn a_vectorised_function_with_assertion_and_string() {
    let text = "
        record Cable parameter Real amp = 10; parameter String size = \"s\"; end Cable;
        function choose input Real p; output Cable c; protected Cable small(amp = 10, size = \"small\"); Cable big(amp = 100, size = \"big\"); algorithm
          assert(p < 60, \"more than 60: \" + String(p), level = AssertionLevel.warning);
          if p < small.amp then c := small; else c := big; end if; end choose;
        model M parameter Real p[:] = {5, 50}; parameter Cable cab[:] = choose(p); Real y = cab[2].amp*time; ";
    table(&[("sizes from the call", text, "y", 100.0)]);
}

/// Where one slope is an array, the result is one.
#[test]
fn semi_linear_of_a_scalar_and_an_array() {
    table(&[(
        "the slope for negative values",
        "model M Real y[2] = semiLinear(-time, 3, {1, 2});",
        "y[2]",
        -2.0,
    )]);
    let found = messages("model M Real y = semiLinear(time, 3, 1:3); end M;");
    assert_eq!(found.len(), 1, "{found:?}");
}

/// `edge(u)` is `u and not pre(u)` (MLS 3.6 §3.7.5), also of what does not change.
#[test]
fn edges_of_constants() {
    let block = "
        block Edge input Boolean u; output Boolean y; Integer n(start = 0, fixed = true); initial equation pre(u) = false;
        equation y = edge(u); when y then n = pre(n) + 1; end when; end Edge;
        model M ";
    let with = |rest: &str| format!("{block} {rest}");
    table(&[
        (
            "false",
            &with("Edge e(u = false); Real x = time;"),
            "e.y",
            0.0,
        ),
        (
            "by an equation",
            &with("Edge e; Boolean c = false; Real x = time; equation e.u = c;"),
            "e.y",
            0.0,
        ),
        (
            "true only at the start",
            &with("Edge e(u = true); Real x = time;"),
            "e.y",
            0.0,
        ),
    ]);
}

/// Every derivative that the model has can be asked for, of states and of others; nobody who asks for all signals gets them.
#[test]
fn derivatives_as_signals() {
    let text = "model M Real x(start = 1, fixed = true); Real y[2] = {2, 3}*x; Real z = sum(der(y)); equation der(x) = -x; end M;";
    let model =
        Model::from_text("Test.mo", text, &Load::default()).unwrap_or_else(|f| panic!("{f}"));
    let settings = Settings {
        tolerance: 1e-8,
        ..Settings::default()
    };
    let slope = -f64::exp(-1.0);
    for (pattern, signals) in [
        ("der(x)", &[("der(x)", slope)][..]),
        (
            "der(y)",
            &[("der(y[1])", 2.0 * slope), ("der(y[2])", 3.0 * slope)],
        ),
        ("der(y[2])", &[("der(y[2])", 3.0 * slope)]),
    ] {
        let observe = Observe::patterns([pattern]);
        assert_eq!(observe.unmatched(&model.compiled), None);
        let run = model.simulate_observing(&settings, observe);
        let run = run.unwrap_or_else(|f| panic!("{f}"));
        assert_eq!(run.result.signals().len(), signals.len(), "{pattern}");
        for (name, expected) in signals {
            near(last(&run, name), *expected, 1e-6);
        }
    }
    assert!(model.has_signal("der(x)") && !model.has_signal("der(z)"));
    let all = run_text(text, &settings);
    assert!(all.result.values("der(x)").is_none());
}
