//! Mutants of valid sources neither break the parser nor the printer; the target `parse` of `fuzz/` runs the
//! same for as long as one likes, guided by coverage.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::mutate::{Random, check, mutant};

const MUTANTS_PER_SOURCE: usize = 400;
/// Longest time for one mutant of some kilobytes; a linear parser needs a few milliseconds, but the
/// machine may be busy.
const MAX_TIME: Duration = Duration::from_secs(10);

#[test]
fn mutants_are_survived() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut paths: Vec<_> = ["sources", "slips"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(tests.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut random = Random::new(1);
    for path in paths {
        let source = std::fs::read_to_string(&path).unwrap();
        for number in 0..MUTANTS_PER_SOURCE {
            let text = mutant(&source, &mut random);
            let start = Instant::now();
            if let Err(reason) = check(&text) {
                panic!("mutant {number} of {}: {reason}\n{text}", path.display());
            }
            let took = start.elapsed();
            assert!(
                took < MAX_TIME,
                "mutant {number} of {} took {took:?}\n{text}",
                path.display()
            );
        }
    }
}
