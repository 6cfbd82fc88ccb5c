//! Time of the structural passes: over the length of arrays, on which it must not depend, and over the number of
//! components of networks that are written out, in which it must be linear.
//!
//! Each model is flattened once per size and transformed several times; of each pass the fastest run counts. Sizes take
//! turns, so that all of them meet the same machine.

use std::path::Path;

use acausal::{Load, flatten_target};
use acausal_expr::flat::FlatModel;
use acausal_index1::{Options as Transform, transform_with};
use acausal_instance::class::Libraries;

use crate::scale::written;

/// What to measure.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Lengths.
    #[arg(long, value_delimiter = ',', default_values_t = [10usize, 1000, 1_000_000])]
    lengths: Vec<usize>,
    /// Numbers of components of written-out networks.
    #[arg(long, value_delimiter = ',', default_values_t = [1000usize, 10_000, 100_000])]
    components: Vec<usize>,
    /// Runs of each length; the fastest of each pass counts.
    #[arg(long, default_value_t = 200)]
    repeats: usize,
    /// Fail when a ratio exceeds this.
    #[arg(long, default_value_t = f64::INFINITY)]
    limit: f64,
}

/// Name, and file below the root of the workspace.
const FAMILIES: [(&str, &str); 7] = [
    (
        "sliding mass in N dimensions",
        "benches/models/structure/SlidingMass.mo",
    ),
    ("heat equation, direct", "examples/HeatedRod.mo"),
    ("heat equation, fluxes", "examples/HeatedRodFlux.mo"),
    (
        "N masses on a rigid shaft",
        "benches/models/structure/TiedMasses.mo",
    ),
    (
        "slices x[1:N-1] = x[2:N]",
        "benches/models/structure/Slices.mo",
    ),
    ("RC ladder of components", "examples/RCLadder.mo"),
    ("N pendulums (index 3)", "benches/models/Pendulums.mo"),
];

/// Passes and the seconds of each.
type Passes = Vec<(&'static str, f64)>;

/// Prints the time of each pass for each family and size. Fails when a ratio exceeds the limit.
pub fn run(options: &Options) -> Result<(), String> {
    let mut worst: (f64, &str) = (0.0, "");
    for (name, file) in FAMILIES {
        println!("{name} ({file}), microseconds:");
        let path = crate::root().join(file);
        let models: Result<Vec<FlatModel>, String> =
            options.lengths.iter().map(|&n| sized(&path, n)).collect();
        let times = fastest(&models?, options.repeats)?;
        for (_, ratio) in table("N", &options.lengths, &times, 1e6) {
            if ratio > worst.0 {
                worst = (ratio, name);
            }
        }
    }
    println!("worst ratio to the shortest: {:.2} ({})", worst.0, worst.1);
    if !options.components.is_empty() {
        println!("RC ladder written out, milliseconds:");
        let models: Result<Vec<FlatModel>, String> =
            options.components.iter().map(|&n| ladder(n)).collect();
        let times = fastest(&models?, 3)?;
        for (step, _) in table("parts", &options.components, &times, 1e3) {
            println!("growth {step:.1}");
        }
    }
    if worst.0 > options.limit {
        return Err(format!(
            "the ratio {:.2} exceeds {}",
            worst.0, options.limit
        ));
    }
    Ok(())
}

/// Prints the passes of each size; gives the ratios of the totals to the size before and to the first.
fn table(head: &str, sizes: &[usize], times: &[Passes], unit: f64) -> Vec<(f64, f64)> {
    let total = |p: &Passes| p.iter().map(|p| p.1).sum::<f64>();
    let heads: Vec<String> = times[0].iter().map(|p| format!("{:>16}", p.0)).collect();
    println!("{head:>9} {} {:>9} {:>6}", heads.join(""), "total", "ratio");
    let mut ratios = Vec::new();
    for (k, (n, passes)) in sizes.iter().zip(times).enumerate() {
        let cells: Vec<String> = passes
            .iter()
            .map(|p| format!("{:>16.1}", unit * p.1))
            .collect();
        let ratio = total(passes) / total(&times[0]);
        println!(
            "{n:>9} {} {:>9.1} {ratio:>6.2}",
            cells.join(""),
            unit * total(passes)
        );
        if k > 0 {
            ratios.push((total(passes) / total(&times[k - 1]), ratio));
        }
    }
    ratios
}

fn sized(path: &Path, n: usize) -> Result<FlatModel, String> {
    let load = Load {
        set: vec![format!("N={n}")],
        ..Load::default()
    };
    let flat = flatten_target(&path.to_string_lossy(), &load);
    flat.map(|(flat, _, _)| flat).map_err(|f| f.to_string())
}

fn ladder(components: usize) -> Result<FlatModel, String> {
    let mut libraries = Libraries::new();
    let text = written::ladder(components);
    let classes = libraries.load_text("RCLadderWritten.mo", &text);
    let class = classes.ok().and_then(|c| c.last().cloned());
    let class = class.ok_or("the written-out ladder cannot be read")?;
    let flat = acausal_flatten::flatten(&mut libraries, &class, &[]);
    flat.map(|(flat, _)| flat)
        .map_err(|d| format!("the written-out ladder cannot be flattened: {d:?}"))
}

/// For each model the passes with the fastest time of each. The report is text for a person, no structural pass.
fn fastest(models: &[FlatModel], repeats: usize) -> Result<Vec<Passes>, String> {
    let mut best: Vec<Passes> = vec![Passes::new(); models.len()];
    for _ in 0..repeats.max(1) {
        for (flat, best) in models.iter().zip(&mut best) {
            let (_, report) = transform_with(flat.clone(), &Transform::default())
                .map_err(|d| format!("the transformation failed: {d:?}"))?;
            let passes = report.passes.into_iter().filter(|p| p.0 != "report");
            if best.is_empty() {
                best.extend(passes);
                continue;
            }
            for (b, p) in best.iter_mut().zip(passes) {
                b.1 = b.1.min(p.1);
            }
        }
    }
    Ok(best)
}
