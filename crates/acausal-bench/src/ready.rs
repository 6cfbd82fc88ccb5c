//! Time from the text to the first step, for large arrays against small ones.
//!
//! In: the families of [`crate::scale::family`] that are sized up to a million elements in one direction, each size in a
//! process of its own. Out: a table with the CPU time of every phase before the integration. What does not look at elements
//! takes the same time for both sizes; the rest fills the memory of states, pattern and start. Fails where the large size takes more
//! than 1.5 times the time of the small one and so many seconds for filling memory.

use crate::scale;
use crate::scale::case::Measured;
use crate::scale::family;

/// What to measure.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Families, by a part of their name [default: all of arrays in one direction]
    families: Vec<String>,
    /// The large size.
    #[arg(long, default_value_t = 1_000_000)]
    n: usize,
    /// Runs of each size; the fastest of each phase counts.
    #[arg(long, default_value_t = 3)]
    repeats: usize,
    /// Fail when it takes so many seconds more than 1.5 times the time of the small size.
    #[arg(long, default_value_t = 2.0)]
    limit: f64,
}

const SMALL: usize = 100;
/// What the same work may cost more at the large size.
const FACTOR: f64 = 1.5;
/// Largest size that a family must have to be measured without being named.
const LARGE: usize = 1_000_000;
/// Seconds after which a case is ended.
const ENDED: f64 = 120.0;
/// All families start at this time; nothing is integrated when they end there.
const START: f64 = 0.0;

/// Seconds from the text to the first step.
fn ready(m: &Measured) -> f64 {
    m.parse + m.flatten + m.structure + m.codegen + m.initialise
}

/// Prints the table.
pub fn run(options: &Options) -> Result<(), String> {
    println!(
        "| model | N | equations | unknowns | parse | flatten | structure | codegen | initialise | ready | N = {SMALL} | peak MB |"
    );
    println!("|---|{}", "---:|".repeat(11));
    let how = scale::Options {
        families: Vec::new(),
        sizes: Vec::new(),
        largest: usize::MAX,
        limit: ENDED,
        stop: Some(START),
        threads: None,
        repeats: options.repeats,
        check: false,
    };
    let mut slow = Vec::new();
    for family in family::all() {
        let named = |f: &String| family.name.to_lowercase().contains(&f.to_lowercase());
        let wanted = match options.families.is_empty() {
            true => family.sizes.last() == Some(&LARGE),
            false => options.families.iter().any(named),
        };
        if !wanted {
            continue;
        }
        let small = scale::measure(family.name, SMALL, &how)?;
        let m = scale::measure(family.name, options.n, &how)?;
        println!(
            "| {} | {} | {} | {} | {:.4} | {:.4} | {:.4} | {:.3} | {:.3} | {:.3} | {:.4} | {:.0} |",
            family.name,
            options.n,
            m.equations,
            m.unknowns,
            m.parse,
            m.flatten,
            m.structure,
            m.codegen,
            m.initialise,
            ready(&m),
            ready(&small),
            m.peak / 1e6,
        );
        if ready(&m) > FACTOR * ready(&small) + options.limit {
            slow.push(family.name);
        }
    }
    match slow.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "more than {FACTOR} times the time of N = {SMALL} and {} s: {}",
            options.limit,
            slow.join(", ")
        )),
    }
}
