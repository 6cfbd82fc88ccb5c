//! `acausal sweep`: cases, what is stored, going on after an interruption.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::ops::ControlFlow;

use acausal::sweep::{Status, Sweep};
use acausal::{Load, Model, Observe, Settings};
use acausal_results::ResultSet;

use crate::common::command::Place;

const DECAY: &str = "model Decay parameter Real k = 2; Real x(start = 1, fixed = true); equation der(x) = -k*x; assert(k < 5, \"too fast\"); end Decay;";

/// The values of `x` at t = 1 by case.
fn last(place: &Place, chunks: usize) -> Vec<(f64, f64)> {
    let mut found = Vec::new();
    for k in 0..chunks {
        let file = place.path(&format!("out/chunk-{k:06}.parquet"));
        let r: ResultSet = acausal_results::read(&file).unwrap();
        let (case, x) = (r.values("case").unwrap(), r.values("x").unwrap());
        let ends = (0..r.time().len()).filter(|&k| r.time()[k] == 1.0);
        found.extend(ends.map(|k| (case[k], x[k])));
    }
    found
}

#[test]
fn a_sweep_is_stored_and_goes_on() {
    let place = Place::with("Decay.mo", DECAY);
    let arguments = [
        "sweep",
        "Decay.mo",
        "--vary",
        "k=1:4:7",
        "--vary",
        "x.start={1, 2}",
        "--stop",
        "1",
        "--interval",
        "0.5",
        "--output",
        "out",
        "--chunk",
        "5",
        "--format",
        "json",
    ];
    let said = place.acausal(&arguments).code(0).json();
    assert_eq!(
        (&said["cases"], &said["done"], &said["failed"]),
        (&14.into(), &14.into(), &0.into())
    );
    let found = last(&place, 3);
    assert_eq!(found.len(), 14);
    for (number, (case, x)) in found.into_iter().enumerate() {
        assert_eq!(case, number as f64);
        let (k, start) = (1.0 + 0.5 * (number / 2) as f64, 1.0 + (number % 2) as f64);
        assert!((x - start * (-k).exp()).abs() < 1e-5, "{number}: {x}");
    }
    let cases = std::fs::read_to_string(place.path("out/cases.csv")).unwrap();
    assert!(
        cases.starts_with("case,\"k\",\"x.start\"\n0,1,1\n1,1,2\n2,1.5,1\n"),
        "{cases}"
    );

    // The last chunk is lost, and the line about it was cut off.
    let manifest = place.path("out/manifest.jsonl");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let cut = text.trim_end().rfind('\n').unwrap() + 10;
    std::fs::write(&manifest, &text[..cut]).unwrap();
    std::fs::remove_file(place.path("out/chunk-000002.parquet")).unwrap();
    let said = place.acausal(&arguments).code(0).json();
    assert_eq!((&said["done"], &said["simulated"]), (&14.into(), &4.into()));
    assert_eq!(std::fs::read_to_string(&manifest).unwrap(), text);
    assert_eq!(last(&place, 3).len(), 14);

    let mut other = arguments;
    other[3] = "k=1:4:8";
    place.acausal(&other).code(2);
}

#[test]
fn cases_that_fail_are_told_and_disturb_no_other() {
    let place = Place::with("Decay.mo", DECAY);
    let said = place
        .acausal(&["sweep", "Decay.mo", "--vary", "k={1, 6, 2}", "-o", "out"])
        .code(1);
    assert!(
        said.err.contains("case 1: error[assertion]"),
        "{}",
        said.err
    );
    let found = last(&place, 1);
    assert!((found[0].1 - (-1.0f64).exp()).abs() < 1e-5 && found[1].1.is_nan());
    let manifest = std::fs::read_to_string(place.path("out/manifest.jsonl")).unwrap();
    assert!(manifest.contains("too fast"), "{manifest}");
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let place = Place::with("Decay.mo", DECAY);
    for (options, message) in [
        (&["--vary", "kk=1:2:3"][..], "no parameter `kk`"),
        (&["--vary", "k=1:2"][..], "is none of"),
        (&["--vary", "k"][..], "needs the form"),
        (&["--vary", "k=1", "--vary", "k=2"][..], "given twice"),
        (&["--sample", "k=normal(1,0.1)"][..], "number of cases"),
        (
            &["--sample", "k=normal(1,-1)", "--n", "3"][..],
            "not negative",
        ),
        (
            &["--sample", "k=uniform(1,2)", "--design", "factorial"][..],
            "no combinations",
        ),
        (&["--vary", "k=1", "--observe", "y"][..], "no signal `y`"),
        (&[][..], "nothing varies"),
    ] {
        let all = [&["sweep", "Decay.mo", "--output", "out"], options].concat();
        place.acausal(&all).code(2).complains(&[message]);
        assert!(!place.path("out/manifest.jsonl").exists());
    }
}

/// Any number of threads, and a simulation of its own.
#[test]
fn a_case_has_the_same_bits_everywhere() {
    let text = "model Ball parameter Real e = 0.5; Real h(start = 1, fixed = true), v(start = 0, fixed = true);
        equation der(h) = v; der(v) = -10; when h <= 0 then reinit(v, -e*pre(v)); end when; end Ball;";
    let model = Model::from_text("Ball.mo", text, &Load::default()).unwrap();
    let settings = Settings {
        interval: 0.1,
        ..model.settings()
    };
    let names = vec!["e".to_string()];
    let sweep = Sweep::new(&model, &settings, &Observe::patterns(["h"]), names).unwrap();
    let cases: Vec<_> = (0..40)
        .map(|k| vec![(0.5 + 0.01 * f64::from(k)).into()])
        .collect();
    let run = |threads| {
        let mut found = vec![Vec::new(); cases.len()];
        let ran = sweep.run(&cases, 0..cases.len(), threads, &Default::default(), |o| {
            assert_eq!(o.status, Status::Finished);
            found[o.case] = o.values.iter().map(|v| v.to_bits()).collect();
            ControlFlow::Continue(())
        });
        ran.unwrap();
        found
    };
    let one: Vec<Vec<u64>> = run(1);
    assert!(one == run(3));
    for (case, found) in cases.iter().zip(&one) {
        let parameters = vec![("e".to_string(), case[0].clone())];
        let alone = Settings {
            parameters,
            ..settings.clone()
        };
        let result = model.simulate_in_memory(&alone).unwrap().result;
        for (k, t) in sweep.grid.times.iter().enumerate() {
            let h = result.value_at("h", *t).unwrap();
            assert_eq!(h.to_bits(), found[k], "at {t}");
        }
    }
}
