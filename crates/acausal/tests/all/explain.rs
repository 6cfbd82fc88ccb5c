//! `acausal explain` for people and programs.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::command::Place;

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
    assert_eq!(sizes + j["aliases"].as_u64().unwrap(), 24);
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

/// All seeds, with the class where the file holds more than one.
fn seeds() -> Vec<(std::path::PathBuf, Option<String>)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/seeds");
    let mut files: Vec<std::path::PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "mo"))
        .collect();
    files.sort();
    let class = |p: &std::path::Path| {
        let name = match p.file_stem().unwrap().to_str().unwrap() {
            "OE_3_5_Tree" => "OE_3_5_Tree.Tree",
            "OE_3_7_Figure1Components" => "OE_3_7_Figure1Components.Figure1",
            _ => return None,
        };
        Some(name.to_string())
    };
    files.into_iter().map(|p| (p.clone(), class(&p))).collect()
}

#[test]
fn every_seed_is_explained_in_the_users_names() {
    let place = Place::new();
    for (path, class) in seeds() {
        for more in [&[] as &[&str], &["--no-state-selection"]] {
            let mut arguments = vec!["explain", path.to_str().unwrap()];
            arguments.extend(class.iter().flat_map(|c| ["--model", c.as_str()]));
            arguments.extend(more);
            let said = place.acausal(&arguments).code(0);
            assert!(
                !said.out.contains('$') && !said.err.contains('$'),
                "{path:?}: {}{}",
                said.out,
                said.err
            );
            // What is counted is what is listed.
            arguments.extend(["--format", "json"]);
            let j = place.acausal(&arguments).code(0).json();
            let list = |v: &serde_json::Value| v.as_array().unwrap().len();
            let f = &j["index_one"];
            let count = |name: &str| f[name].as_u64().unwrap();
            assert_eq!(count("n"), count("fd") + count("fc"), "{path:?}");
            assert!(list(&f["unknowns"]) as u64 <= count("n"), "{path:?}");
            let sizes = j["blocks"].as_array().unwrap().iter();
            let sizes: u64 = sizes.map(|b| b["size"].as_u64().unwrap()).sum();
            let aliases = j["aliases"].as_u64().unwrap();
            assert_eq!(
                sizes + aliases,
                j["equations"].as_u64().unwrap(),
                "{path:?}"
            );
        }
    }
}

#[test]
fn json_has_its_schema() {
    let place = Place::with("Circuit.mo", UNGROUNDED);
    let j = place
        .acausal(&["explain", "Circuit.mo", "--format", "json"])
        .code(0)
        .json();
    for name in ["equations", "unknowns", "structural_index"] {
        assert!(j[name].is_u64(), "{name}: {j}");
    }
    for name in ["removed", "freed", "states"] {
        assert!(
            j[name].as_array().unwrap().iter().all(|v| v.is_string()),
            "{name}: {j}"
        );
    }
    for r in j["replaced"].as_array().unwrap() {
        assert!(r["equation"].is_string() && r["by"].is_string(), "{r}");
    }
    for d in j["differentiated"].as_array().unwrap() {
        assert!(d["equation"].is_string() && d["times"].is_u64(), "{d}");
    }
    for b in j["blocks"].as_array().unwrap() {
        assert!(b["size"].is_u64(), "{b}");
        for name in ["unknowns", "torn", "equations"] {
            assert!(
                b[name].as_array().unwrap().iter().all(|v| v.is_string()),
                "{b}"
            );
        }
    }
    for name in ["n", "fd", "fc", "lambda", "mu"] {
        assert!(j["index_one"][name].is_u64(), "{name}: {j}");
    }
}

const SLIDE: &str = "model Slide Real s(start = 1, fixed = true), r[3], v[3], f[3]; parameter Real n[3] = {0.6, 0, 0.8};
initial equation der(s) = 0;
equation r = n*s; v = der(r); der(v) = f - 2*r; 0 = n*f; end Slide;";

#[test]
fn simulate_and_check_take_the_same_options() {
    let place = Place::with("Slide.mo", SLIDE);
    let unknowns = |verb: &str, more: &[&str]| {
        let mut arguments = vec![verb, "Slide.mo", "--format", "json"];
        if verb == "simulate" {
            arguments.push("--no-output");
        }
        arguments.extend(more);
        let j = place.acausal(&arguments).code(0).json();
        match verb {
            "explain" => j["index_one"]["n"].as_u64(),
            _ => j["unknowns"].as_u64(),
        }
        .unwrap_or_else(|| panic!("{verb}: {j}"))
    };
    for (more, n) in [
        (&[] as &[&str], 2),
        (&["--scalarise"], 2),
        (&["--no-state-selection"], 17),
        (&["--no-state-selection", "--derivative-names"], 14),
    ] {
        for verb in ["explain", "check", "simulate"] {
            assert_eq!(unknowns(verb, more), n, "{verb} {more:?}");
        }
    }
}

#[test]
fn wishes_for_states() {
    let place = Place::with(
        "Gear.mo",
        "model Gear parameter Real ratio = 3; Real a(start = 1), b(start = 1), ta, tb;
         equation a = ratio*b; der(a) = ta; der(b) = tb - a; ta*ratio = -tb; end Gear;",
    );
    for wish in ["a", "b"] {
        let arguments = [
            "explain",
            "Gear.mo",
            "--prefer-state",
            wish,
            "--format",
            "json",
        ];
        let j = place.acausal(&arguments).code(0).json();
        assert_eq!(j["states"], serde_json::json!([wish]));
    }
    // What is no state and what does not exist.
    let said = place
        .acausal(&["explain", "Gear.mo", "--prefer-state", "ta"])
        .code(0);
    assert!(
        said.err.contains("`ta` could not be made a state"),
        "{}",
        said.err
    );
    let said = place
        .acausal(&["simulate", "Gear.mo", "--prefer-state", "gamma"])
        .code(2);
    assert!(
        said.err.contains("no continuous variable `gamma`"),
        "{}",
        said.err
    );
}
