//! Singular connection equations, from Modelica text: Otter & Elmqvist 2017, §5, and circuits without ground.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::{at, digits, run_text};
use acausal::{InMemory, Load, Model, Settings, flatten_target};
use acausal_index1::{Options, Report, transform_with};

/// The usual electrical components.
const PARTS: &str = "
connector Pin Real v; flow Real i; end Pin;
partial model OnePort Pin p; Pin n; Real v; Real i;
equation v = p.v - n.v; 0 = p.i + n.i; i = p.i; end OnePort;
model Resistor extends OnePort; parameter Real R = 1; equation v = R*i; end Resistor;
model Capacitor extends OnePort; parameter Real C = 1; equation C*der(v) = i; end Capacitor;
model Inductor extends OnePort; parameter Real L = 1; equation L*der(i) = v; end Inductor;
model Source extends OnePort; parameter Real V = 10; equation v = V; end Source;
model Ground Pin p; equation p.v = 0; end Ground;
";

fn settings(stop: f64, interval: f64) -> Settings {
    Settings {
        stop,
        interval,
        tolerance: 1e-9,
        ..Settings::default()
    }
}

/// The report of the transformation of a model.
fn report(text: &str) -> Report {
    transformed(text).unwrap_or_else(|m| panic!("{m}"))
}

fn transformed(text: &str) -> Result<Report, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("Test.mo");
    std::fs::write(&path, text).unwrap();
    let (flat, _, sources) =
        flatten_target(path.to_str().unwrap(), &Load::default()).unwrap_or_else(|f| panic!("{f}"));
    match transform_with(flat, &Options::default()) {
        Ok((_, report)) => Ok(report),
        Err(d) => Err(d.iter().map(|d| d.render(&sources, false)).collect()),
    }
}

fn counts(r: &Report) -> (usize, usize, usize) {
    let s = &r.regularised;
    (s.removed.len(), s.replaced.len(), s.freed.len())
}

fn circuit(parts: &str, connections: &str) -> String {
    format!("{PARTS} model Circuit {parts} equation {connections} end Circuit;")
}

/// The paper's Figure 1 as one flat model (sheet 3.7).
const FIGURE_1_FLAT: &str = "
model Fig1
  Real L1_v, L1_p_v, L1_n_v, L1_p_i(start = 0.1, fixed = true), L1_n_i;
  Real L2_v, L2_p_v, L2_n_v, L2_p_i, L2_n_i;
  Real R1_v, R1_p_v, R1_n_v, R1_p_i, R1_n_i;
  Real R2_v, R2_p_v, R2_n_v, R2_p_i, R2_n_i;
  Real V_v, V_p_v, V_n_v, V_p_i, V_n_i;
equation
  L1_v = L1_p_v - L1_n_v; 0 = L1_p_i + L1_n_i; 0.1*der(L1_p_i) = L1_v;
  L2_v = L2_p_v - L2_n_v; 0 = L2_p_i + L2_n_i; 0.2*der(L2_p_i) = L2_v;
  R1_v = R1_p_v - R1_n_v; 0 = R1_p_i + R1_n_i; R1_v = 10*R1_p_i;
  R2_v = R2_p_v - R2_n_v; 0 = R2_p_i + R2_n_i; R2_v = 20*R2_p_i;
  V_v = V_p_v - V_n_v; 0 = V_p_i + V_n_i; V_v = 10;
  V_p_v = L1_p_v; 0 = V_p_i + L1_p_i;
  L1_n_v = R1_p_v; L1_n_v = R2_p_v; 0 = L1_n_i + R1_p_i + R2_p_i;
  R1_n_v = L2_p_v; R2_n_v = L2_p_v; 0 = R1_n_i + R2_n_i + L2_p_i;
  L2_n_v = V_n_v; 0 = L2_n_i + V_n_i;
end Fig1;";

fn figure_1() -> String {
    circuit(
        "Source V(V = 10); Inductor L1(L = 0.1, i(start = 0.1, fixed = true)); Inductor L2(L = 0.2);
         Resistor R1(R = 10); Resistor R2(R = 20);",
        "connect(V.p, L1.p); connect(L1.n, R1.p); connect(L1.n, R2.p); connect(R1.n, L2.p);
         connect(R2.n, L2.p); connect(L2.n, V.n);",
    )
}

/// i = 1.5 - 1.4 exp(-t/0.045)
fn figure_1_current(run: &InMemory, names: [&str; 2]) {
    for (t, i) in [
        (0.02, 0.6023474562),
        (0.05, 1.0391298171),
        (0.1, 1.3482847675),
    ] {
        for name in names {
            digits(at(run, name, t), i, 6);
        }
    }
}

#[test]
fn f1_1_figure_1_flat() {
    let r = report(FIGURE_1_FLAT);
    assert_eq!(counts(&r), (1, 1, 1), "{:?}", r.regularised);
    assert_eq!(r.states.len(), 1, "{:?}", r.states);
    let run = run_text(FIGURE_1_FLAT, &settings(0.1, 0.01));
    figure_1_current(&run, ["L1_p_i", "L2_p_i"]);
    for (name, value) in [
        ("L1_v", 1.0241559621),
        ("L2_v", 2.0483119241),
        ("R1_v", 6.9275321138),
        ("R1_p_i", 0.6927532114),
        ("R2_p_i", 0.3463766057),
    ] {
        digits(at(&run, name, 0.05), value, 6);
    }
}

#[test]
fn f1_1_figure_1_from_components() {
    let text = figure_1();
    let r = report(&text);
    assert_eq!(counts(&r), (1, 1, 1), "{:?}", r.regularised);
    assert_eq!(r.states.len(), 1, "{:?}", r.states);
    let warning = &r.regularised.notes[0].message;
    assert!(
        warning.contains(&format!("`{}`", r.regularised.freed[0])) && warning.contains("no ground"),
        "{warning}"
    );
    figure_1_current(&run_text(&text, &settings(0.1, 0.01)), ["L1.i", "L2.i"]);
}

#[test]
fn source_and_resistor_without_ground() {
    let text = circuit(
        "Source V; Resistor R(R = 5);",
        "connect(V.p, R.p); connect(V.n, R.n);",
    );
    let r = report(&text);
    assert_eq!(counts(&r), (1, 0, 1), "{:?}", r.regularised);
    let run = run_text(&text, &settings(0.1, 0.1));
    digits(at(&run, "R.i", 0.1), 2.0, 9);
    digits(at(&run, "V.i", 0.1), -2.0, 9);
}

#[test]
fn parallel_capacitors_with_ground() {
    let text = circuit(
        "Source V; Resistor R(R = 100); Capacitor C1(C = 1e-3, v(start = 0, fixed = true)); Capacitor C2(C = 2e-3);
         Ground g;",
        "connect(V.p, R.p); connect(R.n, C1.p); connect(R.n, C2.p); connect(C1.n, g.p); connect(C2.n, g.p);
         connect(V.n, g.p);",
    );
    let r = report(&text);
    assert_eq!(counts(&r), (0, 1, 0), "{:?}", r.regularised);
    assert_eq!(r.regularised.replaced[0].1, "C1.v = C2.v");
    assert_eq!(r.states.len(), 1);
    let run = run_text(&text, &settings(0.3, 0.1));
    // u = 10 (1 - exp(-t/0.3))
    digits(at(&run, "C1.v", 0.1), 2.8346868943, 6);
    digits(at(&run, "C2.i", 0.1), 0.0477687540, 6);
}

#[test]
fn grounded_circuit_is_left_alone() {
    let text = circuit(
        "Source V; Resistor R; Capacitor C; Ground g;",
        "connect(V.p, R.p); connect(R.n, C.p); connect(C.n, g.p); connect(V.n, g.p);",
    );
    assert_eq!(counts(&report(&text)), (0, 0, 0));
}

/// A closed loop of four vectors whose derivatives occur (sheet 3.8): rk 3, rkx 1.
#[test]
fn four_bar_loop() {
    let text = "model Loop Real R41[3], R12[3], R23[3], R34[3], R1[3], R2[3], R3[3], u[3];
      equation R1 = R41; R2 = R12 + R1; R3 = R23 + R2; zeros(3) = R34 + R3;
      der(R41) = ones(3); der(R12) = 2*ones(3); der(R23) = 3*ones(3); der(R34) = u; end Loop;";
    let r = report(text);
    assert_eq!(counts(&r), (0, 1, 0), "{:?}", r.regularised);
    let constraint = &r.regularised.replaced[0].1;
    for name in ["R12", "R23", "R34", "R41"] {
        assert!(constraint.contains(name), "{constraint}");
    }
    assert!(
        constraint.starts_with("for "),
        "arrays stay whole: {constraint}"
    );
    digits(
        at(&run_text(text, &settings(0.1, 0.1)), "u[2]", 0.1),
        -6.0,
        9,
    );
}

#[test]
fn parallel_sources_contradict_each_other() {
    let text = |a: f64, b: f64| {
        circuit(
            &format!("Source V1(V = {a}); Source V2(V = {b}); Resistor R; Ground g;"),
            "connect(V1.p, V2.p); connect(V1.p, R.p); connect(V1.n, g.p); connect(V2.n, g.p); connect(R.n, g.p);",
        )
    };
    let message = transformed(&text(10.0, 12.0)).err().unwrap();
    for part in ["contradiction", "V1.V = V2.V", "V1", "V2"] {
        assert!(message.contains(part), "{message}");
    }
    // Equal sources share the current in an undetermined way; one of them gives none.
    let r = report(&text(10.0, 10.0));
    assert_eq!(counts(&r), (1, 0, 1), "{:?}", r.regularised);
    let run = run_text(&text(10.0, 10.0), &settings(0.1, 0.1));
    digits(at(&run, "R.i", 0.1), 10.0, 9);
}

#[test]
fn arrays_of_components() {
    // N circuits side by side, none of them grounded: three array equations stay three.
    let many = |n: usize| {
        circuit(
            &format!("Source V[{n}](each V = 10); Resistor R[{n}](each R = 5);"),
            &format!(
                "for k in 1:{n} loop connect(V[k].p, R[k].p); connect(V[k].n, R[k].n); end for;"
            ),
        )
    };
    let r = report(&many(1000));
    assert_eq!(counts(&r), (1, 0, 1), "{:?}", r.regularised);
    let run = run_text(&many(3), &settings(0.1, 0.1));
    digits(at(&run, "R[2].i", 0.1), 2.0, 9);
    // A chain of them: the elements hang together.
    let chain = circuit(
        "Source V; Resistor R[5];",
        "connect(V.p, R[1].p); for k in 1:4 loop connect(R[k].n, R[k+1].p); end for; connect(R[5].n, V.n);",
    );
    let r = report(&chain);
    assert_eq!(counts(&r), (1, 0, 1), "{:?}", r.regularised);
    let run = run_text(&chain, &settings(0.1, 0.1));
    digits(at(&run, "R[3].i", 0.1), 2.0, 9);
}

#[test]
fn long_arrays_are_decided_like_short_ones() {
    // A ring of resistors without ground: one balance is superfluous, one potential is free.
    let ring = |n: usize| {
        circuit(
            &format!("Source V; Resistor R[{n}];"),
            &format!(
                "connect(V.p, R[1].p); for k in 1:{n}-1 loop connect(R[k].n, R[k+1].p); end for;
                 connect(R[{n}].n, V.n);"
            ),
        )
    };
    let short = report(&ring(5));
    for n in [50, 1000, 1_000_000] {
        let r = report(&ring(n));
        assert_eq!(counts(&r), (1, 0, 1), "{:?}", r.regularised);
        assert_eq!(r.regularised.freed, short.regularised.freed);
    }
    // Capacitors side by side: all voltages are one state, whatever their number.
    let bank = |n: usize| {
        circuit(
            &format!("Source V; Resistor R; Ground g; Capacitor C[{n}](v(each start = 0));"),
            &format!(
                "connect(V.p, R.p); connect(R.n, C[1].p); connect(C[1].n, V.n); connect(V.n, g.p);
                 for k in 1:{n}-1 loop connect(C[k].p, C[k+1].p); connect(C[k].n, C[k+1].n); end for;"
            ),
        )
    };
    for n in [4, 30] {
        // V = 10, R = 1, each C = 1: v = 10*(1 - exp(-t/n))
        let run = run_text(&bank(n), &settings(1.0, 0.5));
        assert_eq!(run.summary.states, 1);
        let v = 10.0 * (1.0 - (-1.0 / n as f64).exp());
        digits(at(&run, &format!("C[{n}].v"), 1.0), v, 7);
        digits(at(&run, "C[2].v", 1.0), v, 7);
    }
    for n in [12, 2000] {
        let r = report(&bank(n));
        let [(_, new)] = r.regularised.replaced.as_slice() else {
            panic!("{:?}", r.regularised.replaced)
        };
        assert!(new.contains(&format!("in 2:{n} loop C[1].v = C[")), "{new}");
    }
}

#[test]
fn masses_on_a_rigid_shaft_have_two_states() {
    // N J w' = 1 - 0.1 w, whether the constraints are written forwards or backwards.
    let shaft = |n: usize, constraint: &str| {
        format!(
            "model Shaft
  Real phi[{n}](each start = 0), w[{n}](each start = 0), tau[{n} + 1];
equation
  tau[1] = 1;
  tau[{n} + 1] = 0.1*w[{n}];
  for i in 1:{n} loop der(phi[i]) = w[i]; 2*der(w[i]) = tau[i] - tau[i + 1]; end for;
  for i in 1:{n} - 1 loop {constraint}; end for;
end Shaft;"
        )
    };
    for constraint in [
        "phi[i] = phi[i + 1]",
        "phi[i + 1] = phi[i]",
        "0 = phi[i + 1] - phi[i]",
    ] {
        let r = report(&shaft(1_000_000, constraint));
        assert_eq!(
            (r.form.n, r.states.len()),
            (2, 2),
            "{constraint}: {:?}",
            r.states
        );
        let run = run_text(&shaft(30, constraint), &settings(1.0, 0.5));
        assert_eq!(run.summary.states, 2);
        let w = 10.0 * (1.0 - (-0.1f64 / 60.0).exp());
        for k in [1, 17, 30] {
            digits(at(&run, &format!("w[{k}]"), 1.0), w, 6);
        }
        // Each mass takes its share of the torque that is left.
        let share = (1.0 - 0.1 * w) / 30.0;
        digits(at(&run, "tau[11]", 1.0), 1.0 - 10.0 * share, 6);
    }
}

#[test]
fn nodes_with_many_branches() {
    // The balance of the common node is a sum over the array.
    let text = circuit(
        "Source V; Resistor R[50]; Resistor S;",
        "for k in 1:50 loop connect(V.p, R[k].p); connect(R[k].n, S.p); end for; connect(S.n, V.n);",
    );
    let r = report(&text);
    assert_eq!(counts(&r), (1, 0, 1), "{:?}", r.regularised);
    let run = run_text(&text, &settings(0.1, 0.1));
    digits(at(&run, "S.i", 0.1), 10.0 / 1.02, 9);
}

#[test]
fn the_order_of_the_source_does_not_matter() {
    let shuffled = circuit(
        "Resistor R2(R = 20); Inductor L2(L = 0.2); Resistor R1(R = 10);
         Inductor L1(L = 0.1, i(start = 0.1, fixed = true)); Source V(V = 10);",
        "connect(L2.n, V.n); connect(R2.n, L2.p); connect(R1.n, L2.p); connect(L1.n, R2.p); connect(L1.n, R1.p);
         connect(V.p, L1.p);",
    );
    let (a, b) = (report(&figure_1()), report(&shuffled));
    assert_eq!(a.states, b.states);
    assert_eq!(a.regularised.freed, b.regularised.freed);
}

#[test]
fn missing_equations_are_still_errors() {
    let text = "model M Real x, y, a; equation x = y; a = sin(time); a*a = cos(a); end M;";
    let message = transformed(text).err().unwrap();
    assert!(message.contains("underdetermined"), "{message}");
}

/// Components without variables for voltage and current of the branch: the law says all.
const BARE_PARTS: &str = "
connector Pin Real v; flow Real i; end Pin;
model Source Pin p, n; parameter Real V = 10; equation p.v - n.v = V; p.i + n.i = 0; end Source;
model Alternating Pin p, n; equation p.v - n.v = 10*cos(time); p.i + n.i = 0; end Alternating;
model Resistor Pin p, n; parameter Real R = 5; equation p.v - n.v = R*p.i; p.i + n.i = 0; end Resistor;
model Conductor Pin p, n; parameter Real R = 5; equation R*p.i = (p.v - n.v)*1.5/1.5; p.i + n.i = 0; end Conductor;
model Saturating Pin p, n; parameter Real R = 5; equation p.i = tanh((p.v - n.v)/R); p.i + n.i = 0; end Saturating;
model Transformer Pin p1, n1, p2, n2; parameter Real n = 2;
equation p1.v - n1.v = n*(p2.v - n2.v); n*p1.i + p2.i = 0; p1.i + n1.i = 0; p2.i + n2.i = 0; end Transformer;
model Ground Pin p; equation p.v = 0; end Ground;
";

fn bare(parts: &str, connections: &str) -> String {
    format!("{BARE_PARTS} model Circuit {parts} equation {connections} end Circuit;")
}

#[test]
fn differences_of_potentials_inside_of_equations() {
    let series = "connect(V.p, A.p); connect(A.n, B.p); connect(B.n, V.n);";
    // Two resistors of 5 at 10 V: 5 V and 1 A each. One balance is superfluous, one potential is free, whatever the laws look like.
    for source in ["Source", "Alternating"] {
        for law in ["Resistor", "Conductor", "Saturating"] {
            let parts = format!("{source} V; {law} A; {law} B;");
            let text = bare(&parts, series);
            let r = report(&text);
            assert_eq!(counts(&r), (1, 0, 1), "{law}: {:?}", r.regularised);
            let run = run_text(&text, &settings(0.1, 0.1));
            let share: f64 = if source == "Source" {
                1.0
            } else {
                0.1f64.cos()
            };
            let i = if law == "Saturating" {
                share.tanh()
            } else {
                share
            };
            digits(at(&run, "A.p.i", 0.1), i, 7);
            digits(
                at(&run, "B.p.v", 0.1) - at(&run, "B.n.v", 0.1),
                5.0 * share,
                7,
            );
            // With a ground there is nothing to do.
            let grounded = bare(
                &format!("{parts} Ground g;"),
                &format!("{series} connect(g.p, A.n);"),
            );
            assert_eq!(counts(&report(&grounded)), (0, 0, 0));
            let run = run_text(&grounded, &settings(0.1, 0.1));
            digits(at(&run, "V.p.v", 0.1), 5.0 * share, 7);
        }
    }
}

#[test]
fn transformers_with_floating_secondary() {
    // The secondary's resistor of 5 counts 4*5 = 20 on the primary side: 10/(5 + 20) = 0.4.
    for ground in ["", "connect(g.p, V.n);"] {
        let text = bare(
            &format!(
                "Source V; Resistor A; Resistor B; Transformer T; {}",
                if ground.is_empty() { "" } else { "Ground g;" }
            ),
            &format!(
                "connect(V.p, A.p); connect(A.n, T.p1); connect(T.n1, V.n); connect(T.p2, B.p); connect(T.n2, B.n);
                 {ground}"
            ),
        );
        let parts = if ground.is_empty() { 2 } else { 1 };
        let r = report(&text);
        assert_eq!(counts(&r), (parts, 0, parts), "{:?}", r.regularised);
        let run = run_text(&text, &settings(0.1, 0.1));
        digits(at(&run, "A.p.i", 0.1), 0.4, 9);
        digits(at(&run, "B.p.i", 0.1), 0.8, 9);
    }
}

#[test]
fn differences_of_arrays_of_potentials() {
    let ring = |n: usize| {
        bare(
            &format!("Source V; Resistor R[{n}](each R = 10/{n});"),
            &format!(
                "connect(V.p, R[1].p); for k in 1:{n}-1 loop connect(R[k].n, R[k+1].p); end for;
                 connect(R[{n}].n, V.n);"
            ),
        )
    };
    let run = run_text(&ring(7), &settings(0.1, 0.1));
    digits(at(&run, "R[3].p.i", 0.1), 1.0, 9);
    let short = report(&ring(5));
    for n in [50, 1_000_000] {
        let r = report(&ring(n));
        assert_eq!(counts(&r), (1, 0, 1), "{:?}", r.regularised);
        assert_eq!(r.regularised.freed, short.regularised.freed);
    }
    // Differences inside of a sum over a range: i = sum(g[k]*(u[k] - w[k])).
    let text = "model M parameter Real g[3] = {1, 2, 3}; Real u[3], w[3], i, j;
      equation for k in 1:2 loop u[k] = u[k+1]; w[k] = w[k+1]; end for; u[1] - w[1] = 2; i + j = 0; j + i = 0;
      i = sum(g[k]*(u[k] - w[k]) for k in 1:3); end M;";
    let r = report(text);
    assert_eq!(counts(&r), (1, 0, 1), "{:?}", r.regularised);
    digits(at(&run_text(text, &settings(0.1, 0.1)), "i", 0.1), 12.0, 9);
}

#[test]
fn rational_coefficients_are_integers_after_scaling() {
    // The second law says what the first says; a and b occur in their difference only.
    for law in [
        "1.5*i = 1.5*j + 1.5*k",
        "0.3*i = 0.3*j + 0.3*k",
        "i/3 = j/3 + k/3",
        "0.1*i - 0.1*j = 0.1*k",
    ] {
        let text = format!(
            "model M Real i, j, k, a, b; equation i = j + k; {law}; j = 2*time; k = sin(time)*cos(a - b); a - b = j; end M;"
        );
        let r = report(&text);
        assert_eq!(counts(&r), (1, 0, 1), "{law}: {:?}", r.regularised);
        let run = run_text(&text, &settings(0.1, 0.1));
        digits(at(&run, "i", 0.1), 0.2 + 0.1f64.sin() * 0.2f64.cos(), 9);
    }
}

#[test]
fn cancelled_blocks_are_replaced_by_what_follows_from_them() {
    let parts = format!(
        "{PARTS} model OpAmp Pin p1, n1, p2, n2; equation p1.v = n1.v; p1.i = 0; p1.i + n1.i = 0; p2.i + n2.i = 0; end OpAmp;
         model Alternating extends OnePort; equation v = sin(time); end Alternating;
         model Current extends OnePort; equation i = sin(time); end Current;"
    );
    let model = |parts_of: &str, connections: &str| {
        format!("{parts} model Circuit {parts_of} equation {connections} end Circuit;")
    };
    for (text, name, value) in [
        // A capacitor in parallel to a source, both off the ground: the state is given, i = C*cos(t).
        (
            model(
                "Capacitor C(C = 2); Alternating V; Resistor R; Resistor S; Ground g;",
                "connect(C.p, V.p); connect(C.n, V.n); connect(C.p, R.p); connect(R.n, g.p); connect(S.p, C.p); connect(S.n, C.n);",
            ),
            "C.i",
            2.0 * 0.5f64.cos(),
        ),
        // An inductor in series to a current source, by way of a source and a resistor in parallel: v = L*cos(t).
        (
            model(
                "Inductor L(L = 3); Current I; Alternating V; Resistor S; Ground g;",
                "connect(g.p, I.p); connect(I.n, V.p); connect(V.p, S.p); connect(V.n, S.n); connect(V.n, L.p);
                 connect(L.n, g.p);",
            ),
            "L.v",
            3.0 * 0.5f64.cos(),
        ),
        // What flows into the capacitor comes out of the amplifier: nothing is left for the resistor.
        (
            model(
                "Capacitor C(C = 2, v(start = 0)); OpAmp A; Resistor R(R = 0.1); Ground g;",
                "connect(R.n, A.p1); connect(g.p, R.n); connect(A.p2, C.n); connect(R.p, C.n); connect(A.n1, C.p);
                 connect(A.n2, C.p);",
            ),
            "R.i",
            0.0,
        ),
    ] {
        let run = run_text(&text, &settings(0.5, 0.5));
        digits(at(&run, name, 0.5), value, 6);
    }
    // Dependent and contradictory all the same: a source in parallel to a source.
    let twice = model(
        "Alternating V; Source W; Resistor R; Ground g;",
        "connect(V.p, W.p); connect(V.n, W.n); connect(R.p, V.p); connect(R.n, g.p);",
    );
    let message = transformed(&twice).err().unwrap();
    assert!(message.contains("overdetermined"), "{message}");
}

/// Three bars and a base with four revolute joints in the plane z = 0, in vectors of three components: the closing joint
/// says once more that z = 0, and the force along z in the loop is free.
#[test]
fn planar_four_bar_in_three_components() {
    // The direction as an expression, and as a variable whose third component an equation makes zero.
    for (declared, direction) in [
        ("", "{cos(phi), sin(phi), 0}"),
        (", e[3] = {cos(phi), sin(phi), 0}", "e"),
    ] {
        planar_four_bar(declared, direction);
    }
}

fn planar_four_bar(declared: &str, direction: &str) {
    let text = "
model Bar parameter Real L = 1, m = 1;
  Real phi, w DECLARED, ra[3], rb[3], rc[3], vc[3], fa[3], fb[3];
equation
  der(phi) = w; rb = ra + L*DIRECTION; rc = (ra + rb)/2; der(rc) = vc;
  m*der(vc) = fa + fb + m*{0, -9.81, 0};
  m*L^2/12*der(w) = (ra[1] - rc[1])*fa[2] - (ra[2] - rc[2])*fa[1] + (rb[1] - rc[1])*fb[2] - (rb[2] - rc[2])*fb[1];
end Bar;
model FourBar Bar b1(phi(start = 1, fixed = true), w(start = 0, fixed = true)), b2(L = 3.5, phi(start = 0.6)),
  b3(L = 3, phi(start = 1.8));
equation
  b1.ra = {0, 0, 0}; b2.ra = b1.rb; b2.fa + b1.fb = {0, 0, 0}; b3.ra = {4, 0, 0}; b3.rb = b2.rb;
  b3.fb + b2.fb = {0, 0, 0};
end FourBar;";
    let text = text.replace("DECLARED", declared);
    let text = text.replace("DIRECTION", direction);
    let run = run_text(&text, &settings(1.0, 0.5));
    let energy = |t: f64| -> f64 {
        let bar = |b: &str, l: f64| {
            let x = |name: &str| at(&run, &format!("{b}.{name}"), t);
            let kinetic = x("vc[1]").powi(2) + x("vc[2]").powi(2) + l * l / 12.0 * x("w").powi(2);
            0.5 * kinetic + 9.81 * x("rc[2]")
        };
        bar("b1", 1.0) + bar("b2", 3.5) + bar("b3", 3.0)
    };
    assert!(
        (energy(1.0) - energy(0.0)).abs() < 1e-5,
        "{} {}",
        energy(0.0),
        energy(1.0)
    );
    let x = |name: &str| at(&run, name, 1.0);
    digits(
        x("b1.phi").cos() + 3.5 * x("b2.phi").cos() - 3.0 * x("b3.phi").cos(),
        4.0,
        8,
    );
    digits(x("b2.fb[3]"), 0.0, 9);
}

/// A gyrator whose ports share a node cancels its own factor: `g*v2 - g*v1 = g*u`, so the current of the inductor is `g*u` for every g, a constraint of index two.
#[test]
fn laws_that_cancel_for_every_parameter() {
    let text = "
connector Pin Real v; flow Real i; end Pin;
model Inductor Pin p, n; Real v, i; parameter Real L = 3; equation v = p.v - n.v; 0 = p.i + n.i; i = p.i; L*der(i) = v; end Inductor;
model Voltage Pin p, n; Real v, i; equation v = p.v - n.v; 0 = p.i + n.i; i = p.i; v = sin(time); end Voltage;
model Gyrator Pin p1, n1, p2, n2; Real v1, v2, i1, i2; parameter Real g = 2;
equation v1 = p1.v - n1.v; v2 = p2.v - n2.v; 0 = p1.i + n1.i; 0 = p2.i + n2.i; i1 = p1.i; i2 = p2.i; i1 = g*v2; i2 = -g*v1; end Gyrator;
model Ground Pin p; equation p.v = 0; end Ground;
model M Inductor l; Voltage u; Gyrator y; Ground g;
equation connect(l.p, u.n); connect(u.n, y.n2); connect(l.n, y.p1); connect(y.p1, y.p2); connect(u.p, y.n1); connect(g.p, u.n); end M;";
    let run = run_text(text, &settings(1.0, 0.1));
    digits(at(&run, "l.i", 1.0), 2.0 * 1.0f64.sin(), 6);
    digits(at(&run, "y.p1.v", 1.0), -6.0 * 1.0f64.cos(), 5);
}

/// An op-amp without a ground lets no current through l2, and that of the ring of l3 and l6 is restricted by a constraint that stays: its derivative is
/// one of the equations that determine the potentials, and needs its multiplier all the same.
#[test]
fn an_op_amp_that_lets_no_current_through() {
    let text = circuit(
        "Resistor r1, r7, r8; Inductor l2, l3, l6; Capacitor c4; Source u5; OpAmp a11;",
        "connect(r1.p, r7.p); connect(a11.p1, a11.n2); connect(r1.n, l2.p); connect(l2.n, l3.p); connect(l3.p, l6.p); connect(l3.n, c4.p);
         connect(c4.p, u5.n); connect(c4.n, u5.p); connect(u5.p, l6.n); connect(r7.n, r8.p); connect(r8.p, a11.n1); connect(r8.n, a11.p2);",
    );
    let op_amp = "model OpAmp Pin p1, n1, p2, n2; Real v1, v2, i1, i2;
equation v1 = p1.v - n1.v; v2 = p2.v - n2.v; 0 = p1.i + n1.i; 0 = p2.i + n2.i; i1 = p1.i; i2 = p2.i; v1 = 0; i1 = 0; end OpAmp;";
    let r = run_text(&format!("{op_amp} {text}"), &settings(1.0, 0.5));
    let end = [
        ("l2.i", 0.0),
        ("l3.i", 5.0),
        ("l6.i", -5.0),
        ("c4.v", -10.0),
    ];
    for (name, value) in end {
        let found = at(&r, name, 1.0);
        assert!((found - value).abs() < 1e-6, "{name} = {found}");
    }
}

/// A random connected circuit of resistors and capacitors with a source; the ground sits at node `ground`.
fn random_circuit(seed: u64, ground: Option<usize>) -> (String, Vec<String>) {
    let mut state = seed;
    let mut next = |n: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let nodes = 5;
    let mut parts = "Source V(V = 10); Resistor RV(R = 3);".to_string();
    // Node k is the pin `pins[k]`; the source with its resistor lies between the first and the last node.
    let mut edges = vec![
        ("RV".to_string(), 0, nodes),
        ("V".to_string(), nodes, nodes - 1),
    ];
    let mut names = vec!["RV.v".to_string()];
    for k in 0..nodes - 1 + 4 {
        let (a, b) = if k < nodes - 1 {
            (k, k + 1)
        } else {
            (next(nodes), next(nodes))
        };
        if a == b {
            continue;
        }
        // Capacitors only in the chain: a tree has no loops of them.
        let name = format!("E{k}");
        if k < nodes - 1 && next(2) == 0 {
            parts += &format!(
                "Capacitor {name}(C = {}, v(start = 1, fixed = true));",
                1 + next(3)
            );
        } else {
            parts += &format!("Resistor {name}(R = {});", 1 + next(9));
        }
        names.push(format!("{name}.v"));
        edges.push((name, a, b));
    }
    let mut first: Vec<Option<String>> = vec![None; nodes + 1];
    let mut connections = String::new();
    for (name, a, b) in edges {
        for (pin, node) in [("p", a), ("n", b)] {
            let pin = format!("{name}.{pin}");
            match &first[node] {
                None => first[node] = Some(pin),
                Some(other) => connections += &format!("connect({other}, {pin});"),
            }
        }
    }
    if let Some(g) = ground {
        parts += "Ground g;";
        connections += &format!("connect(g.p, {});", first[g].as_ref().unwrap());
    }
    (circuit(&parts, &connections), names)
}

#[test]
fn moving_the_ground_keeps_all_voltages() {
    for seed in 1..=25 {
        let run = |ground| {
            let (text, names) = random_circuit(seed, ground);
            let model = Model::from_text("Test.mo", &text, &Load::default())
                .unwrap_or_else(|f| panic!("seed {seed}: {f}"));
            let run = model
                .simulate_in_memory(&settings(2.0, 0.5))
                .unwrap_or_else(|f| panic!("seed {seed}: {f}"));
            names.iter().map(|n| at(&run, n, 2.0)).collect::<Vec<f64>>()
        };
        let expected = run(Some(0));
        for ground in [Some(2), Some(4), None] {
            for (a, b) in expected.iter().zip(run(ground)) {
                assert!(
                    (a - b).abs() < 1e-6,
                    "seed {seed}, ground {ground:?}: {a} {b}"
                );
            }
        }
    }
}
