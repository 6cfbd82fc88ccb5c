//! How the time of one integration step and the memory grow with the size of a model.
//!
//! In: three families of `benches/models` (a rod and a line as equations, a ladder as connected components) with 10^2 to
//! 10^6 cells, each size in a process of its own. Out: a table with the CPU time per step, its factor per decade of scalar
//! unknowns, and the peak of memory per scalar unknown with and without the factors of the matrix. Fails where a factor
//! exceeds the limit.

use crate::scale;
use crate::scale::case::Measured;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// Numbers of cells.
    pub sizes: Vec<usize>,
    /// Rounds over all sizes; the fastest run of each counts.
    pub repeats: usize,
    /// Largest factor per decade.
    pub limit: f64,
    /// Seconds after which a size is ended.
    pub time: f64,
}

/// Bytes of an entry of a factor: its number and its row.
const FACTOR_ENTRY: f64 = 12.0;

/// A few hundred steps show what one costs; the ladder would take more to its own stop time.
fn stop(family: &str) -> Option<f64> {
    (family == "RCLadder").then_some(0.2)
}

/// Prints the table.
pub fn run(options: &Options) -> Result<(), String> {
    println!(
        "| model | N | scalar unknowns | of the integrator | steps | ms per step | factor per decade | peak MB | bytes per unknown | without factors |"
    );
    println!("|---|{}", "---:|".repeat(9));
    let mut worst: f64 = 0.0;
    for family in ["HeatEquations", "LineEquations", "RCLadder"] {
        let how = scale::Options {
            families: Vec::new(),
            sizes: Vec::new(),
            largest: usize::MAX,
            limit: options.time,
            stop: stop(family),
            repeats: 1,
        };
        // In turns: a machine that is slow for a while is so for all sizes.
        let measure = |&n: &usize| scale::measure(family, n, &how);
        let all = |_| options.sizes.iter().map(measure).collect();
        let rounds = (0..options.repeats.max(1)).map(all);
        let rounds = rounds.collect::<Result<Vec<Vec<Measured>>, String>>()?;
        let mut before: Option<Measured> = None;
        for (k, &n) in options.sizes.iter().enumerate() {
            let first = rounds[0][k].clone();
            let m = rounds.iter().fold(first, |m, round| m.fastest(&round[k]));
            let growth = before.as_ref().map(|b| {
                let decades = (m.equations as f64 / b.equations as f64).log10();
                (m.per_step() / b.per_step()).powf(1.0 / decades)
            });
            worst = worst.max(growth.unwrap_or(0.0));
            let unknowns = m.equations as f64;
            println!(
                "| {family} | {n} | {} | {} | {} | {:.4} | {} | {:.1} | {:.0} | {:.0} |",
                m.equations,
                m.unknowns,
                m.steps,
                1e3 * m.per_step(),
                growth.map_or(String::new(), |g| format!("{g:.1}")),
                m.peak / 1e6,
                m.peak / unknowns,
                (m.peak - FACTOR_ENTRY * m.factor_entries as f64) / unknowns,
            );
            before = Some(m);
        }
    }
    if worst > options.limit {
        return Err(format!(
            "a factor of {worst:.1} per decade exceeds {}",
            options.limit
        ));
    }
    Ok(())
}
