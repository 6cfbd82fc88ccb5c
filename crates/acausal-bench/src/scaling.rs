//! Compile time over the length of arrays. The baseline is the shortest array of the same run; up to machine code the
//! ratio should stay near one, as no pass looks at elements.

use std::path::Path;

use acausal::{Load, Model};

/// Prints seconds of each phase for each length.
pub fn run(file: &Path, parameter: &str, lengths: &[usize], repeats: usize) -> Result<(), String> {
    println!(
        "{:>9} {:>9} {:>9} {:>9} {:>9} {:>7}",
        parameter, "flatten", "structure", "codegen", "sum", "ratio"
    );
    let mut first = None;
    for &n in lengths {
        let load = Load {
            set: vec![format!("{parameter}={n}")],
            ..Load::default()
        };
        let mut best: Option<[f64; 3]> = None;
        for _ in 0..repeats.max(1) {
            let model = Model::load(&file.to_string_lossy(), &load).map_err(|f| f.to_string())?;
            let p = model.phases;
            let run = [p.flatten, p.structure, p.codegen];
            if best.is_none_or(|b| run.iter().sum::<f64>() < b.iter().sum::<f64>()) {
                best = Some(run);
            }
        }
        let Some([flatten, structure, codegen]) = best else {
            continue;
        };
        let sum = flatten + structure + codegen;
        let base = *first.get_or_insert(sum);
        println!(
            "{n:>9} {flatten:>9.4} {structure:>9.4} {codegen:>9.4} {sum:>9.4} {:>7.1}",
            sum / base
        );
    }
    Ok(())
}
