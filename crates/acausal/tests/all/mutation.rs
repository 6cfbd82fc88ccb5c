//! Mutants of the examples go through the whole pipeline and end in messages or in a result; `fuzz/` does the same for as long as one
//! likes, guided by coverage.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../../acausal-syntax/tests/common/mutate.rs"]
#[allow(dead_code)]
mod mutate;
use std::path::Path;

use crate::common::whole::{Reached, check};
use acausal::Load;
use mutate::{Random, change};

const MUTANTS_PER_SOURCE: usize = 20;
/// Larger examples take longer and have the same statements.
const MOST_BYTES: usize = 4000;

#[test]
fn mutants_of_models_end_in_messages_or_results() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut paths: Vec<_> = ["", "ivp", "seeds"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(examples.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "mo"))
        .collect();
    paths.sort();
    let mut random = Random::new(1);
    let mut continued = 0;
    for path in paths {
        let source = std::fs::read_to_string(&path).unwrap();
        if source.len() > MOST_BYTES {
            continue;
        }
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
