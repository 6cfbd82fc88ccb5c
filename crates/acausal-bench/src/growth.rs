//! How the time of one integration step and the memory grow with the size of a model.
//!
//! In: three families of `benches/models` (a rod and a line as equations, a ladder as connected components) with 10^2 to
//! 10^6 cells, each size in a process of its own. Out: a table with the time that passes per step, its factor per decade of scalar
//! unknowns, and the peak of memory per scalar unknown with and without the factors of the matrix. Fails where a factor
//! exceeds the limit.
//!
//! Other guests of a machine make single runs slower by half, and which ones is chance. All sizes are measured in turns, several times over. Within a
//! round the sizes follow each other in seconds; the factor of a decade is the median of those of all rounds. (Quotients of
//! the fastest of three runs, which were used before, differed by 30 % from call to call on such a machine; with quiet sizes in a cache against others in memory they also
//! compare the luckiest moment of one with an average one of the other.) The fastest run of each size is shown beside it.
//!
//! Where the memory of a step grows out of a cache the factor is above ten: then memory sets the pace, and the better the loops
//! use the cache, the larger is the step. The rod written by hand in C for IDA, measured in the same run, shows what the machine does.

use std::path::Path;

use crate::programs::Programs;
use crate::scale;
use crate::scale::case::Measured;
use crate::speed;

/// What to measure.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Numbers of cells.
    #[arg(long, value_delimiter = ',', default_values_t = [100usize, 1000, 10_000, 100_000, 1_000_000])]
    sizes: Vec<usize>,
    /// Rounds over all sizes; the median counts. A round takes a quarter of a minute.
    #[arg(long, default_value_t = 23)]
    repeats: usize,
    /// Fail when a factor per decade exceeds this.
    #[arg(long, default_value_t = 12.0)]
    limit: f64,
    /// Seconds after which a size is ended.
    #[arg(long, default_value_t = 600.0)]
    time: f64,
    /// Threads of the integration; one for each core if not given, at most two.
    #[arg(long)]
    threads: Option<usize>,
    /// Show the growth of the rod as a C program too.
    #[arg(long)]
    yardstick: bool,
    #[command(flatten)]
    programs: Programs,
}

/// Bytes of an entry of a factor: its number and its row.
const FACTOR_ENTRY: f64 = 12.0;

/// Stop times for which all sizes take a few hundred steps: in a few dozen the order of elimination, which is found once, and the first
/// touch of memory would count for a quarter.
fn stop(family: &str) -> Option<f64> {
    match family {
        "HeatEquations" => Some(1.0),
        "LineEquations" => Some(60.0),
        _ => Some(0.2),
    }
}

/// The middle one of some numbers, or the mean of the two in the middle.
fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = numbers.collect();
    all.sort_by(f64::total_cmp);
    match all.len() {
        0 => f64::NAN,
        n => 0.5 * (all[(n - 1) / 2] + all[n / 2]),
    }
}

/// Prints the growth of the rod as a C program, over the same time.
fn by_hand(options: &Options, program: &Path) -> Result<(), String> {
    println!("\n| by hand in C | N | steps | ms per step | factor per decade |");
    println!("|---|{}", "---:|".repeat(4));
    let measure = |&n: &usize| speed::run_c(program, &format!("{n} 0 1e-6 1 1"));
    let all = |_| options.sizes.iter().map(measure).collect();
    let rounds = (0..options.repeats.max(1)).map(all);
    let rounds = rounds.collect::<Result<Vec<Vec<speed::SpeedSide>>, String>>()?;
    let per_step = |s: &speed::SpeedSide| s.seconds / s.steps.max(1) as f64;
    for (k, &n) in options.sizes.iter().enumerate() {
        let growth = k.checked_sub(1).map_or(String::new(), |b| {
            let decades = (n as f64 / options.sizes[b] as f64).log10();
            let factor = median(rounds.iter().map(|r| per_step(&r[k]) / per_step(&r[b])));
            format!("{:.1}", factor.powf(1.0 / decades))
        });
        let ms = 1e3 * median(rounds.iter().map(|r| per_step(&r[k])));
        let steps = rounds[0][k].steps;
        println!("| HeatEquations | {n} | {steps} | {ms:.4} | {growth} |");
    }
    Ok(())
}

/// Prints the table.
pub fn run(options: &Options) -> Result<(), String> {
    println!(
        "| model | N | scalar unknowns | of the integrator | steps | ms per step | factor per decade | fastest | peak MB | bytes per unknown | without factors |"
    );
    println!("|---|{}", "---:|".repeat(10));
    let mut worst: f64 = 0.0;
    for family in ["HeatEquations", "LineEquations", "RCLadder"] {
        let how = scale::Options {
            families: Vec::new(),
            sizes: Vec::new(),
            largest: usize::MAX,
            limit: options.time,
            stop: stop(family),
            threads: options.threads,
            repeats: 1,
            check: false,
        };
        // In turns: a machine that is slow for a while is so for all sizes.
        let measure = |&n: &usize| scale::measure(family, n, &how);
        let all = |_| options.sizes.iter().map(measure).collect();
        let rounds = (0..options.repeats.max(1)).map(all);
        let rounds = rounds.collect::<Result<Vec<Vec<Measured>>, String>>()?;
        for (k, &n) in options.sizes.iter().enumerate() {
            let first = rounds[0][k].clone();
            let fastest = rounds.iter().fold(first, |m, round| m.fastest(&round[k]));
            let per_step = median(rounds.iter().map(|round| round[k].per_step()));
            let growth = k.checked_sub(1).map(|b| {
                median(rounds.iter().map(|round| {
                    let (small, large) = (&round[b], &round[k]);
                    let decades = (large.equations as f64 / small.equations as f64).log10();
                    (large.per_step() / small.per_step()).powf(1.0 / decades)
                }))
            });
            worst = worst.max(growth.unwrap_or(0.0));
            let (m, unknowns) = (&fastest, fastest.equations as f64);
            println!(
                "| {family} | {n} | {} | {} | {} | {:.4} | {} | {:.4} | {:.1} | {:.0} | {:.0} |",
                m.equations,
                m.unknowns,
                m.steps,
                1e3 * per_step,
                growth.map_or(String::new(), |g| format!("{g:.1}")),
                1e3 * m.per_step(),
                m.peak / 1e6,
                m.peak / unknowns,
                (m.peak - FACTOR_ENTRY * m.factor_entries as f64) / unknowns,
            );
        }
    }
    if options.yardstick {
        speed::build(&options.programs)?;
        by_hand(options, &options.programs.build.join("heat"))?;
    }
    if worst > options.limit {
        return Err(format!(
            "a factor of {worst:.1} per decade exceeds {}",
            options.limit
        ));
    }
    Ok(())
}
