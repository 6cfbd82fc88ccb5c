//! A compiled model as bytes: the same numbers as the model it was made from, and a message for whatever is not one.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::command::Place;
use crate::common::every::examples;
use acausal::{InMemory, Load, Model};

/// The bits of all trajectories, with the names.
fn bits(run: &InMemory) -> Vec<(String, Vec<u64>)> {
    (run.result.signals().iter())
        .map(|s| {
            let values = run.result.values_of(s);
            (
                s.name.to_string(),
                values.iter().map(|v| v.to_bits()).collect(),
            )
        })
        .collect()
}

#[test]
fn every_example_travels() {
    let mut simulated = 0;
    for example in examples() {
        let text = example.text();
        let load = || Model::from_text(&example.file, &text, &example.load);
        let model = load().unwrap_or_else(|f| panic!("{}: {f}", example.file));
        let bytes = model.to_bytes().unwrap();
        assert!(
            bytes == load().unwrap().to_bytes().unwrap(),
            "{}: not the same bytes",
            example.file
        );
        let read = Model::from_bytes("Test.acm", &bytes).unwrap();
        assert!(
            bytes == read.to_bytes().unwrap(),
            "{}: changes by reading",
            example.file
        );
        let mut settings = model.settings();
        settings.stop = settings.stop.min(settings.start + example.stop);
        settings.interval = (settings.stop - settings.start) / 20.0;
        match (
            model.simulate_in_memory(&settings),
            read.simulate_in_memory(&settings),
        ) {
            (Ok(a), Ok(b)) => {
                assert!(bits(&a) == bits(&b), "{}: other numbers", example.file);
                simulated += 1;
            }
            // With the excerpt of the source, too.
            (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string(), "{}", example.file),
            (a, b) => panic!("{}: {:?} {:?}", example.file, a.err(), b.err()),
        }
    }
    assert!(simulated > 50, "{simulated}");
}

/// Functions with loops, a table, Strings in messages, enumerations, `when`, `sample` and `delay` in one model.
const MIXED: &str = r#"package P
  type Mode = enumeration(slow, fast);
  function power input Real x; input Integer n; output Real y = 1;
  algorithm for i in 1:n loop y := y*x; end for; end power;
  model Mixed "of all kinds"
    parameter Mode mode = Mode.fast "how";
    parameter Real limit(unit = "m") = 3;
    Real x(start = 1, fixed = true), d = delay(x, 0.1), y = power(x, 3);
    discrete Real held(start = 0, fixed = true);
  equation
    der(x) = if mode == Mode.fast then 2*cos(time) else 0;
    when sample(0, 0.25) then held = x; end when;
    assert(x < limit, "x is " + String(x) + ", beyond " + String(limit));
    annotation(experiment(StopTime = 1));
  end Mixed;
end P;"#;

fn mixed() -> Model {
    let load = Load {
        class: Some("P.Mixed".into()),
        ..Load::default()
    };
    Model::from_text("P.mo", MIXED, &load).unwrap_or_else(|f| panic!("{f}"))
}

#[test]
fn functions_events_and_messages_travel() {
    let model = mixed();
    let read = Model::from_bytes("P.acm", &model.to_bytes().unwrap()).unwrap();
    let settings = model.settings();
    let (a, b) = (
        model.simulate_in_memory(&settings).unwrap(),
        read.simulate_in_memory(&settings).unwrap(),
    );
    assert!(bits(&a) == bits(&b));
    // 1 + 2*sin(t) cubed at the end.
    let y = *b.result.values("y").unwrap().last().unwrap();
    assert!((y - (1.0 + 2.0 * 1f64.sin()).powi(3)).abs() < 1e-3, "{y}");
    // What results and messages show is there, too.
    assert_eq!(read.compiled.symbols.enums.len(), 1);
    assert_eq!(&*read.compiled.symbols.vars[0].description, "how");
}

#[test]
fn altered_files_are_refused() {
    let bytes = mixed().to_bytes().unwrap();
    let refused = |changed: &[u8], part: &str| match Model::from_bytes("P.acm", changed) {
        Ok(_) => panic!("accepted"),
        Err(f) => {
            let text = f.to_string();
            assert!(text.contains(part), "{text}");
        }
    };
    // A generator of Knuth's, so that the places are the same in every run.
    let mut random = 12345u64;
    for _ in 0..1000 {
        random = random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let mut changed = bytes.clone();
        let at = (random >> 33) as usize % changed.len();
        changed[at] ^= 1 << (random >> 29 & 7);
        refused(&changed, "P.acm: ");
    }
    for len in (0..bytes.len()).step_by(97).chain(0..40) {
        refused(
            &bytes[..len],
            if len < 8 {
                "not a compiled model"
            } else {
                "cut off"
            },
        );
    }
    let mut longer = bytes.clone();
    longer.push(0);
    refused(&longer, "was changed");
    let mut newer = bytes.clone();
    newer[8] = 200;
    refused(&newer, "newer version");
    let mut older = bytes;
    older[8] = 0;
    refused(&older, "older version");
}

#[test]
fn compile_and_simulate_elsewhere() {
    let model = "model Fall parameter Real h = 2; Real x(start = h, fixed = true); Real v(start = 0, fixed = true);
equation
  der(x) = v;
  der(v) = -9.81;
  assert(x > 0.5, \"too low\");
  annotation(experiment(StopTime = 0.5));
end Fall;
";
    let place = Place::with("Fall.mo", model);
    let said = place
        .acausal(&["compile", "Fall.mo", "--set", "h=3"])
        .code(0);
    assert!(
        said.out.contains("2 unknowns, stored in Fall.acm"),
        "{}",
        said.out
    );
    place
        .acausal(&["simulate", "Fall.mo", "--set", "h=3", "-o", "a.csv"])
        .code(0);
    place
        .acausal(&["simulate", "Fall.mo", "--set", "h=4", "-o", "d.csv"])
        .code(0);
    std::fs::remove_file(place.path("Fall.mo")).unwrap();
    place
        .acausal(&["simulate", "Fall.acm", "-o", "b.csv"])
        .code(0);
    let read = |name: &str| std::fs::read(place.path(name)).unwrap();
    assert!(read("a.csv") == read("b.csv"));
    // The line of the text, although it is not there any more: 3 - 9.81/2 t^2 = 0.5.
    let late = ["simulate", "Fall.acm", "--stop", "2", "-o", "c.csv"];
    place
        .acausal(&late)
        .code(1)
        .complains(&["too low", "0.7139", "assert(x > 0.5", "Fall.mo:5"]);
    // Parameters are run-time data.
    place
        .acausal(&["simulate", "Fall.acm", "--set", "h=4", "-o", "e.csv"])
        .code(0);
    assert!(read("d.csv") == read("e.csv"));
    place
        .acausal(&["simulate", "Fall.acm", "--scalarise"])
        .complains(&["is compiled"]);
    place
        .acausal(&["flatten", "Fall.acm"])
        .code(2)
        .complains(&["no text any more"]);
    place
        .acausal(&["explain", "Fall.acm"])
        .code(2)
        .complains(&["no text any more"]);
    place
        .acausal(&["compile", "Fall.acm"])
        .code(2)
        .complains(&["no text any more"]);
    place.acausal(&["check", "Fall.acm"]).code(0);
    place
        .acausal(&["simulate", "Fal.acm"])
        .code(2)
        .complains(&["there is no file Fal.acm"]);
    place.write("Bad.acm", "hello");
    place
        .acausal(&["simulate", "Bad.acm"])
        .code(1)
        .complains(&["Bad.acm: this is not a compiled model"]);
    place.write("Fall.mo", model);
    place
        .acausal(&["compile", "Fall.mo", "-o", "Fall.bin"])
        .code(2)
        .complains(&["does not end in .acm"]);
    let said = place
        .acausal(&[
            "compile",
            "Fall.mo",
            "--without-sources",
            "--format",
            "json",
        ])
        .code(0);
    assert_eq!(said.json()["unknowns"], 2);
    place.acausal(&late).code(1).complains(&["too low"]);
    assert!(!read("Fall.acm").windows(14).any(|w| w == b"assert(x > 0.5"));
}
