//! Mutants of the examples go through the whole pipeline, and some of what else comes from outside through its reader, and end in messages or in a
//! result; `fuzz/` does the same for as long as one likes, guided by coverage.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../../acausal-syntax/tests/common/mutate.rs"]
#[allow(dead_code)]
mod mutate;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::common::fuzzed::{self, Continued, ENDINGS};
use crate::common::tables::Tables;
use crate::common::whole::{self, Reached, check};
use acausal::{Limits, Load, Model};
use mutate::{Random, change, change_bytes};

const MUTANTS_PER_SOURCE: usize = 20;
/// Larger examples take longer and have the same statements.
const MOST_BYTES: usize = 4000;

fn sources() -> Vec<(PathBuf, String)> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut paths: Vec<_> = ["", "ivp", "seeds"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(examples.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "mo"))
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text)
    };
    let all = paths.into_iter().map(read);
    all.filter(|(_, text)| text.len() <= MOST_BYTES).collect()
}

#[test]
fn mutants_of_models_end_in_messages_or_results() {
    let mut random = Random::new(1);
    let mut continued = 0;
    for (path, source) in sources() {
        for number in 0..MUTANTS_PER_SOURCE {
            // More than one change hardly ever leaves a model.
            let mut text = source.clone();
            change(&mut text, &mut random);
            let place = random.below(1 << 30);
            match check(&text, &Load::default(), place) {
                Ok(reached) => continued += usize::from(reached == Reached::Continued),
                Err(reason) => panic!("mutant {number} of {}: {reason}\n{text}", path.display()),
            }
        }
    }
    // Otherwise the mutants would test little but the parser.
    assert!(continued > 50, "{continued} mutants were continued");
}

#[test]
fn mutants_are_flattened_and_printed() {
    let mut random = Random::new(2);
    let mut printed = 0;
    for (path, source) in sources() {
        for number in 0..8 {
            let mut text = source.clone();
            change(&mut text, &mut random);
            match fuzzed::flat(&text, Limits::default()) {
                Ok(classes) => printed += classes,
                Err(reason) => panic!("mutant {number} of {}: {reason}\n{text}", path.display()),
            }
        }
    }
    assert!(printed > 50, "{printed} classes were printed");
}

#[test]
fn mutants_of_settings_end_in_messages_or_results() {
    let settings = [
        "p=2\nq={3, 4, 5}",
        "q[2]=4\nm[1,2]=7",
        "n=3\nb=false",
        "s=\"a b\"\ne=E.two",
        "r.a=3\nr.n=1",
        "part[1].g=5\nm=[1, 2; 4, 5]",
        "p=2*sin(1)+n",
    ];
    let mut random = Random::new(3);
    let mut simulated = 0;
    for number in 0..20 * settings.len() {
        let mut lines = settings[number % settings.len()].to_string();
        // The first ones as they are.
        if number >= settings.len() {
            change(&mut lines, &mut random);
        }
        match fuzzed::set(&lines, Limits::default()) {
            Ok(done) => simulated += usize::from(done),
            Err(reason) => panic!("setting {number}: {reason}\n{lines}"),
        }
    }
    assert!(simulated > 10, "{simulated} settings were simulated");
}

#[test]
fn mutants_of_result_files_end_in_messages_or_results() {
    let folder = tempfile::tempdir().unwrap();
    let text = "model M Real x(start = 1, fixed = true), y; Boolean b; parameter Real k = 2;
        equation der(x) = -k*x; y = -x; b = x > 0.5; end M;";
    let model = Model::from_text("M.mo", text, &Load::default()).unwrap();
    let run = model.simulate_in_memory(&whole::settings()).unwrap();
    let mut random = Random::new(4);
    for ending in ENDINGS {
        let whole = folder
            .path()
            .join(format!("whole.{}", ending.trim_end_matches(".gz")));
        let mut writer = acausal_results::create(&whole).unwrap();
        run.result.write_to(writer.as_mut()).unwrap();
        writer.finish().unwrap();
        let mut source = std::fs::read(&whole).unwrap();
        if ending.ends_with(".gz") {
            source = compressed(&source);
        }
        let mut used = 0;
        for number in 0..100 {
            let mut bytes = source.clone();
            for _ in 0..number.min(3) {
                change_bytes(&mut bytes, &mut random);
            }
            let file = folder.path().join(format!("mutant.{ending}"));
            std::fs::write(&file, &bytes).unwrap();
            match fuzzed::result(&file) {
                Ok(read) => used += usize::from(read),
                Err(reason) => panic!("mutant {number} of {ending}: {reason}"),
            }
        }
        assert!(
            used > 0 && used < 100,
            "{used} mutants of {ending} were read"
        );
    }
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn mutants_of_checkpoints_end_in_messages_or_results() {
    let continued = Continued::new(Limits::default()).unwrap();
    let mut random = Random::new(5);
    for kind in ['0', '1'] {
        let source = continued.seed(kind);
        let mut done = 0;
        for number in 0..100 {
            let mut text = source.clone();
            if number > 0 {
                change(&mut text, &mut random);
            }
            match continued.check(&text) {
                Ok(went_on) => done += usize::from(went_on),
                Err(reason) => panic!("mutant {number} of {kind}: {reason}\n{text}"),
            }
        }
        assert!(
            done > 0 && done < 100,
            "{done} mutants of {kind} were continued"
        );
    }
}

/// A matrix of 3 times 3 in MAT format, level 4.
fn level_4() -> Vec<u8> {
    let head = [0i32, 3, 3, 0, 2].iter().flat_map(|n| n.to_le_bytes());
    let values = [0.0f64, 1.0, 2.0, 1.0, 2.0, 3.0, 2.0, 5.0, 8.0];
    let values = values.iter().flat_map(|v| v.to_le_bytes());
    head.chain(*b"T\0").chain(values).collect()
}

#[test]
fn mutants_of_tables_end_in_messages_or_results() {
    let folder = tempfile::tempdir().unwrap();
    let tables = Tables::new(folder.path(), Limits::default()).unwrap();
    let text = b"#1\ndouble T(3,3) # three\n0 1 2\n1, 2 5\n2\t3 8\n".to_vec();
    let sources = [text, b"0,1,2\n1,2,5\n2,3,8\n".to_vec(), level_4()];
    let mut random = Random::new(6);
    for first in 0..9 {
        let source = &sources[usize::from(first) % sources.len()];
        let mut done = 0;
        for number in 0..40 {
            let mut bytes = source.clone();
            if number > 0 {
                change_bytes(&mut bytes, &mut random);
            }
            bytes.insert(0, first);
            match tables.check(&bytes) {
                Ok(simulated) => done += usize::from(simulated),
                Err(reason) => panic!("mutant {number} of {first}: {reason}\n{bytes:?}"),
            }
        }
        assert!(
            done > 0 && done < 40,
            "{done} mutants of {first} were simulated"
        );
    }
}
