//! Language that libraries use: buses, conditions on iterators, assertions under conditions, redeclared values.
#![allow(clippy::unwrap_used)]

#[path = "library/defects.rs"]
mod defects;

use crate::common::{last, near, run_text};
use acausal::{InMemory, Load, Model, Settings};

fn simulated(text: &str) -> InMemory {
    run_text(text, &Settings::default())
}

const BUS: &str = "
package B
  connector RealInput = input Real;
  connector RealOutput = output Real;
  expandable connector Bus end Bus;
  expandable connector Declared Real speed; Real unused; end Declared;
  block Source RealOutput y; parameter Real k = 1; equation y = k*time; end Source;
  block Sink RealInput u; Real x(start = 0, fixed = true); equation der(x) = u; end Sink;
  model Part Bus bus; Sink sink; equation connect(bus.speed, sink.u); end Part;
end B;
";

#[test]
fn a_bus_carries_what_is_connected_with_it() {
    let run = simulated(&format!(
        "{BUS} model M B.Bus bus; B.Source a(k = 2); B.Sink b; B.Part part; equation connect(a.y, bus.speed); \
         connect(bus.speed, b.u); connect(bus, part.bus); end M;"
    ));
    near(last(&run, "b.x"), 1.0, 1e-5);
    near(last(&run, "part.sink.x"), 1.0, 1e-5);
    near(last(&run, "part.bus.speed"), 2.0, 1e-9);
}

#[test]
fn a_bus_in_a_bus_and_declared_members() {
    let run = simulated(&format!(
        "{BUS} model M B.Bus bus; B.Declared sub; B.Source a(k = 3); B.Sink b; equation connect(bus.sub, sub); \
         connect(a.y, sub.speed); connect(bus.sub.speed, b.u); end M;"
    ));
    near(last(&run, "b.x"), 1.5, 1e-5);
    assert!(run.result.values("sub.unused").is_none());
}

#[test]
fn elements_of_a_bus_signal() {
    let run = simulated(&format!(
        "{BUS} model M B.Bus bus; B.Source a[2](k = {{1, 5}}); B.Sink b; equation for i in 1:2 loop \
         connect(a[i].y, bus.v[i]); end for; connect(bus.v[2], b.u); end M;"
    ));
    near(last(&run, "b.x"), 2.5, 1e-5);
}

#[test]
fn a_condition_on_the_iterator_guards_a_subscript() {
    for n in [1, 2, 5] {
        let run = simulated(&format!(
            "model M Real x[{n}]; equation for i in 1:{n} loop x[i] = if i == 1 then time else x[i-1] + 1; end for; end M;"
        ));
        near(last(&run, &format!("x[{n}]")), n as f64, 1e-9);
    }
    let run = simulated(
        "model M Real x[4]; equation for i in 1:4 loop x[i] = if i < 4 then x[i+1] + 1 else time; end for; end M;",
    );
    near(last(&run, "x[1]"), 4.0, 1e-9);
}

#[test]
fn an_unguarded_subscript_is_still_an_error() {
    let text = "model M Real x[3]; equation for i in 1:3 loop x[i] = if i == 2 then time else x[i-1]; end for; end M;";
    let failed = Model::from_text("Test.mo", text, &Load::default());
    let message = failed.map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("subscript 0"), "{message}");
}

#[test]
fn a_function_that_fails_may_be_called_where_it_is_not_reached() {
    let text = |limit: f64| {
        format!(
            "model M function fail input String s; algorithm assert(false, s); end fail; \
             function f input Real x; output Real y; algorithm if x < {limit} then y := 2*x; else fail(\"too large\"); end if; end f; \
             Real y = f(time); end M;"
        )
    };
    near(last(&simulated(&text(2.0)), "y"), 2.0, 1e-9);
    let model = Model::from_text("Test.mo", &text(0.5), &Load::default()).unwrap();
    let failed = model.simulate_in_memory(&Settings::default());
    let message = failed.map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("too large"), "{message}");
}

#[test]
fn branches_of_an_if_with_rows_and_loops() {
    let run = simulated(
        "model M Real r[1, 3]; equation if time > 0.5 then r = [1, 2, 3]; else for i in 1:3 loop r[1, i] = 10*i; end for; end if; end M;",
    );
    near(last(&run, "r[1,2]"), 2.0, 1e-9);
    near(run.result.values("r[1,2]").unwrap()[0], 20.0, 1e-9);
}

#[test]
fn a_redeclared_component_keeps_size_and_value() {
    let run = simulated(
        "model M record D parameter Real a = 1; end D; record E extends D; parameter Real b = 7; end E; \
         record Base parameter Integer n = 2; parameter D one(a = 4); replaceable parameter D d[n] = fill(one, n); end Base; \
         record Derived extends Base(redeclare D d); end Derived; \
         parameter Derived r(n = 3); Real y = r.d[3].a*time; end M;",
    );
    near(last(&run, "y"), 4.0, 1e-9);
}

#[test]
fn a_large_table_of_parameters_is_indexed_by_a_variable() {
    let run = simulated(
        "model M parameter Integer t[12, 12] = {{10*i + j for j in 1:12} for i in 1:12}; Integer k(start = 1, fixed = true); \
         Integer v; equation when sample(0.1, 0.1) then k = pre(k) + 1; end when; v = t[k, k]; end M;",
    );
    near(last(&run, "v"), 11.0 * last(&run, "k"), 1e-9);
}

#[test]
fn cardinality_counts_for_every_element() {
    let run = simulated(
        "model M connector C Real e; flow Real f; end C; model A parameter Integer n; C c[n]; Real k[n]; \
         equation for i in 1:n loop k[i] = cardinality(c[i]); if cardinality(c[i]) == 0 then c[i].e = 5; else c[i].f = c[i].e - i; end if; end for; end A; \
         model B C c; equation c.e = 3; end B; A a(n = 3); B b; B d; \
         equation connect(a.c[1], b.c); connect(a.c[3], d.c); end M;",
    );
    let k: Vec<f64> = (1..=3).map(|i| last(&run, &format!("a.k[{i}]"))).collect();
    assert_eq!(k, [1.0, 0.0, 1.0]);
    near(last(&run, "a.c[2].e"), 5.0, 1e-9);
    near(last(&run, "d.c.f"), 0.0, 1e-9);
}

const STREAMS: &str = "
package S
  connector Port Real p; flow Real m; stream Real h; end Port;
  model Source Port port; parameter Real m = 1; parameter Real h = 1; equation port.m = -m; port.h = h; end Source;
  model Sink Port port; Real h = inStream(port.h); Real H = port.m*actualStream(port.h); equation port.p = 1; port.h = 7; end Sink;
  model Pass Port a, b; equation connect(a, b); end Pass;
end S;
";

#[test]
fn streams_mix_by_what_flows() {
    // 1*10 + 3*20 arrive through two levels, nothing of the 100: the mean is 70/4. What flows back sees 7.
    let run = simulated(&format!(
        "{STREAMS} model M S.Source a(m = 1, h = 10), b(m = 3, h = 20), c(m = 0, h = 100); S.Sink k; S.Pass q; equation \
         connect(a.port, q.a); connect(b.port, q.a); connect(q.b, k.port); connect(c.port, q.b); end M;"
    ));
    near(last(&run, "k.h"), 17.5, 1e-6);
    near(last(&run, "k.H"), 70.0, 1e-5);
    near(last(&run, "q.b.h"), 17.5, 1e-6);
}

#[test]
fn streams_of_two_ports_and_of_none() {
    // Two connected ports see each other whatever flows; a port alone sees itself. Families of ports stay families.
    let run = simulated(&format!(
        "{STREAMS} model M S.Source a[3](m = {{1, -1, 0}}, h = {{4, 5, 6}}); S.Sink k[3]; S.Sink alone; equation \
         connect(a.port, k.port); end M;"
    ));
    for (i, (h, flow)) in [(4.0, 4.0), (5.0, -7.0), (6.0, 0.0)]
        .into_iter()
        .enumerate()
    {
        near(last(&run, &format!("k[{}].h", i + 1)), h, 1e-9);
        near(last(&run, &format!("k[{}].H", i + 1)), flow, 1e-9);
    }
    near(last(&run, "alone.h"), 7.0, 1e-9);
}

#[test]
fn a_flow_that_cannot_reverse_does_not_mix() {
    // b can only take: what k sees is a alone, exactly, without a weight.
    let run = simulated(&format!(
        "{STREAMS} model M S.Source a(m = 2, h = 10); S.Source b(m = -1, h = 50, port(m(min = 0))); S.Sink k; equation \
         connect(a.port, k.port); connect(b.port, k.port); end M;"
    ));
    assert_eq!(last(&run, "k.h"), 10.0);
}

#[test]
fn in_stream_of_something_else_is_refused() {
    for (text, said) in [
        ("Real y = inStream(s.port.p);", "prefix `stream`"),
        ("Real y = inStream(2*s.port.h);", "an expression"),
    ] {
        let text = format!("{STREAMS} model M S.Source s; {text} end M;");
        let failed = Model::from_text("Test.mo", &text, &Load::default());
        let messages = failed.map(|_| ()).unwrap_err().to_string();
        assert!(messages.contains(said), "{messages}");
    }
}

#[test]
fn values_that_only_seem_to_depend_on_themselves() {
    let model = |condition: &str| {
        format!(
            "model M parameter Boolean use_t = {condition}; parameter Real t = if use_t then 20 else h/4; \
             parameter Real h = if use_t then 4*t else 100; Real y = t + h; end M;"
        )
    };
    near(last(&simulated(&model("true")), "y"), 100.0, 1e-12);
    near(last(&simulated(&model("false")), "y"), 125.0, 1e-12);
    let failed = Model::from_text(
        "Test.mo",
        "model M parameter Real a = b + 1; parameter Real b = if a > 1 then a else 0; Real y = a; end M;",
        &Load::default(),
    );
    let messages = failed.map(|_| ()).unwrap_err().to_string();
    assert!(messages.contains("depends on itself"), "{messages}");
}

#[test]
fn a_constant_record_replaces_the_defaults_of_its_class() {
    let run = simulated(
        "package G record C String n; Boolean has = false; Real d = -1; end C; \
         package Data constant C a(n = \"a\", has = true, d = 2); constant C b(n = \"b\", has = true, d = 3); end Data; \
         partial package P constant Integer n = 1; constant C c[n]; \
         function f input Integer i; output Real y; algorithm assert(c[i].has, \"none for \" + c[i].n); y := c[i].d; end f; end P; \
         package Q extends P(n = 2, c = {Data.a, Data.b}); end Q; end G; \
         model M Real y = G.Q.f(2)*time; end M;",
    );
    near(last(&run, "y"), 3.0, 1e-9);
}
