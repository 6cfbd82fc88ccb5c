//! Time of the structural passes over the length of arrays: it must not depend on it.
//!
//! For each family and each length the model is flattened and transformed several times; of each pass the fastest run
//! counts. The baseline of the ratio is the shortest array of the same run.

use std::path::PathBuf;

use acausal::{Load, flatten_target};
use acausal_index1::{Options as Transform, transform_with};

/// What to measure.
#[derive(Clone, Debug)]
pub struct Options {
    /// Lengths of the arrays.
    pub lengths: Vec<usize>,
    /// Runs of each length.
    pub repeats: usize,
    /// Fail when a ratio exceeds this.
    pub limit: f64,
}

/// Name, and file below the root of the workspace.
const FAMILIES: [(&str, &str); 8] = [
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
    ("2-D heat, N by N", "benches/models/Heat2D.mo"),
];

/// Prints microseconds of each pass for each family and length. Fails when a ratio exceeds the limit.
pub fn run(options: &Options) -> Result<(), String> {
    let mut worst: (f64, &str) = (0.0, "");
    for (name, file) in FAMILIES {
        println!("{name} ({file}), microseconds:");
        let path = crate::root().join(file);
        let mut first = None;
        for &n in &options.lengths {
            let passes = fastest(&path, n, options.repeats)?;
            if first.is_none() {
                let heads: Vec<String> = passes.iter().map(|p| format!("{:>16}", p.0)).collect();
                println!(
                    "{:>9} {} {:>9} {:>6}",
                    "N",
                    heads.join(""),
                    "total",
                    "ratio"
                );
            }
            let total: f64 = passes.iter().map(|p| p.1).sum();
            let ratio = total / *first.get_or_insert(total);
            let cells: Vec<String> = passes
                .iter()
                .map(|p| format!("{:>16.1}", 1e6 * p.1))
                .collect();
            println!(
                "{n:>9} {} {:>9.1} {ratio:>6.2}",
                cells.join(""),
                1e6 * total
            );
            if ratio > worst.0 {
                worst = (ratio, name);
            }
        }
    }
    println!("worst ratio: {:.2} ({})", worst.0, worst.1);
    if worst.0 > options.limit {
        return Err(format!(
            "the ratio {:.2} exceeds {}",
            worst.0, options.limit
        ));
    }
    Ok(())
}

/// The passes with the fastest time of each.
fn fastest(path: &PathBuf, n: usize, repeats: usize) -> Result<Vec<(&'static str, f64)>, String> {
    let load = Load {
        set: vec![format!("N={n}")],
        ..Load::default()
    };
    let (flat, _, sources) =
        flatten_target(&path.to_string_lossy(), &load).map_err(|f| f.to_string())?;
    let mut best: Vec<(&'static str, f64)> = Vec::new();
    for _ in 0..repeats.max(1) {
        let (_, report) = transform_with(flat.clone(), &Transform::default()).map_err(|d| {
            let texts = d.iter().map(|d| d.render(&sources, false));
            texts.collect::<String>()
        })?;
        // The report is text for a person, no structural pass.
        let passes = report.passes.into_iter().filter(|p| p.0 != "report");
        if best.is_empty() {
            best.extend(passes);
        } else {
            for (b, p) in best.iter_mut().zip(passes) {
                b.1 = b.1.min(p.1);
            }
        }
    }
    Ok(best)
}
