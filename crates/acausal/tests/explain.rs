//! `acausal explain` for people and programs.
#![allow(clippy::unwrap_used)]

#[path = "common/command.rs"]
mod command;

use command::Place;

const UNGROUNDED: &str = "
connector Pin Real v; flow Real i; end Pin;
partial model OnePort Pin p; Pin n; Real v; Real i;
equation v = p.v - n.v; 0 = p.i + n.i; i = p.i; end OnePort;
model Inductor extends OnePort; parameter Real L = 1; equation L*der(i) = v; end Inductor;
model Source extends OnePort; parameter Real V = 10; equation v = V; end Source;
model Resistor extends OnePort; parameter Real R = 1; equation v = R*i; end Resistor;
model Circuit \"Two inductors in series, without ground\"
  Source V; Inductor L1(i(start = 0.1, fixed = true)); Inductor L2; Resistor R;
equation connect(V.p, L1.p); connect(L1.n, R.p); connect(R.n, L2.p); connect(L2.n, V.n);
end Circuit;
";

#[test]
fn json_holds_the_facts() {
    let place = Place::with("Circuit.mo", UNGROUNDED);
    let j = place
        .acausal(&["explain", "Circuit.mo", "--format", "json"])
        .code(0)
        .json();
    assert_eq!(j["equations"], 24);
    assert_eq!(j["unknowns"], 24);
    for (member, length) in [("removed", 1), ("replaced", 1), ("freed", 1), ("states", 1)] {
        assert_eq!(j[member].as_array().unwrap().len(), length, "{member}: {j}");
    }
    assert_eq!(j["replaced"][0]["by"], "L1.i = L2.i");
    assert_eq!(j["differentiated"][0]["equation"], "L1.i = L2.i");
    assert_eq!(j["differentiated"][0]["times"], 1);
    let sizes: u64 = j["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b["size"].as_u64().unwrap())
        .sum();
    assert_eq!(sizes, 24);
    assert!(j["blocks"][0]["unknowns"].is_array() && j["blocks"][0]["torn"].is_array());
    for member in ["n", "fd", "fc", "lambda", "mu"] {
        assert!(j["index_one"][member].is_u64(), "{member}: {j}");
    }
    assert_eq!(j["structural_index"], 2);
    let message = j["diagnostics"][0]["message"].as_str().unwrap();
    assert!(
        message.contains(j["freed"][0].as_str().unwrap()),
        "{message}"
    );
}

#[test]
fn text_follows_the_passes() {
    let place = Place::with("Circuit.mo", UNGROUNDED);
    let said = place.acausal(&["explain", "Circuit.mo"]).code(0);
    let mut rest = said.out.as_str();
    for part in [
        "Circuit \"Two inductors in series, without ground\"",
        "24 scalar equations for 24 unknowns",
        "Removed",
        "-> L1.i = L2.i",
        "Set to 0",
        "once     L1.i = L2.i",
        "Blocks",
        "States",
        "The index-one DAE",
        "Residuals",
    ] {
        let (_, after) = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("no {part:?} in {}", said.out));
        rest = after;
    }
    assert!(said.err.contains("no ground"), "{}", said.err);
}

#[test]
fn options_change_the_outcome() {
    let place = Place::with(
        "Slide.mo",
        "model Slide Real s(start = 1), r[3], v[3], f[3]; parameter Real n[3] = {0.6, 0, 0.8};
         equation r = n*s; v = der(r); der(v) = f - 2*r; 0 = n*f; end Slide;",
    );
    let n = |more: &[&str]| {
        let mut arguments = vec!["explain", "Slide.mo", "--format", "json"];
        arguments.extend(more);
        place.acausal(&arguments).code(0).json()["index_one"]["n"].clone()
    };
    assert_eq!(n(&[]), 2);
    assert_eq!(n(&["--scalarise"]), 2);
    // s, der s, r, der r, v, f as lambda and three mu: the full form.
    assert_eq!(n(&["--no-state-selection"]), 17);
    let j = place
        .acausal(&[
            "explain",
            "Slide.mo",
            "--prefer-state",
            "s,v",
            "--format",
            "json",
        ])
        .code(0)
        .json();
    assert_eq!(j["states"].as_array().unwrap().len(), 2);
}
