//! Compile time over the length of arrays. The baseline is the shortest array of the same run. Flattening and structure
//! do not look at elements, so their ratio should stay near one; the code generator lays out memory and the sparsity
//! pattern, which is linear in the number of unknowns.

use std::path::PathBuf;

use acausal::{Load, Model};

/// What to measure.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// The model.
    #[arg(default_value_os_t = crate::root().join("examples/HeatedRodFlux.mo"))]
    file: PathBuf,
    /// The parameter that sets the length.
    #[arg(long, default_value = "N")]
    parameter: String,
    /// Lengths.
    #[arg(long, value_delimiter = ',', default_values_t = [100usize, 1000, 10_000, 100_000])]
    lengths: Vec<usize>,
    /// Runs of each length; the fastest counts.
    #[arg(long, default_value_t = 3)]
    repeats: usize,
}

/// Prints seconds of each phase for each length.
pub fn run(options: &Options) -> Result<(), String> {
    let parameter = &options.parameter;
    println!(
        "{:>9} {:>9} {:>9} {:>7} {:>9} {:>7}",
        parameter, "flatten", "structure", "ratio", "codegen", "ratio"
    );
    let mut first = None;
    for &n in &options.lengths {
        let load = Load {
            set: vec![format!("{parameter}={n}")],
            ..Load::default()
        };
        // The fastest of each phase.
        let mut best = [f64::INFINITY; 3];
        for _ in 0..options.repeats.max(1) {
            let model =
                Model::load(&options.file.to_string_lossy(), &load).map_err(|f| f.to_string())?;
            let p = model.phases;
            for (b, seconds) in best.iter_mut().zip([p.flatten, p.structure, p.codegen]) {
                *b = b.min(seconds);
            }
        }
        let [flatten, structure, codegen] = best;
        let (front, back) = *first.get_or_insert((flatten + structure, codegen));
        println!(
            "{n:>9} {flatten:>9.4} {structure:>9.4} {:>7.1} {codegen:>9.4} {:>7.1}",
            (flatten + structure) / front,
            codegen / back
        );
    }
    Ok(())
}
