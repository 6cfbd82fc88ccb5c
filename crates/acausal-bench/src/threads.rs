//! Residuals of long array equations with costly functions on two threads against one.
//!
//! In: classes of `benches/models` with a parameter `N`, of one size. Out: a table with the shortest time (on the wall) of a residual with
//! one thread and with two, and the ratio. The shortest of many is least disturbed by other programs. Fails where two threads do not
//! give the bits of one.

use std::sync::Arc;
use std::time::Instant;

use acausal_instance::class::Libraries;
use acausal_runtime::Machine;
use acausal_solver::Dae;
use acausal_syntax::parse_expression;

/// Evaluations with each number of threads.
const EVALUATIONS: usize = 60;

/// Prints the table.
pub fn run(classes: &[String], n: usize) -> Result<(), String> {
    println!("| model | N | unknowns | residual, ms | on two threads | gain |");
    println!("|---|{}", "---:|".repeat(5));
    for class in classes {
        let model = Arc::new(compiled(class, n)?);
        let (one, first) = times(&model, 1)?;
        let (two, second) = times(&model, 2)?;
        if first != second {
            return Err(format!("{class}: two threads give other bits than one"));
        }
        println!(
            "| {class} | {n} | {} | {:.3} | {:.3} | {:.2} |",
            model.n,
            1e3 * one,
            1e3 * two,
            one / two
        );
    }
    Ok(())
}

fn compiled(class: &str, n: usize) -> Result<acausal_compiled::CompiledModel, String> {
    let file = class.split('.').next().unwrap_or(class);
    let path = crate::root().join(format!("benches/models/{file}.mo"));
    let failed = |_| format!("{class} is refused");
    let mut libraries = Libraries::new();
    libraries.load_file(&path).map_err(failed)?;
    let file = libraries.sources_mut().add_file("--set", format!("N={n}"));
    let set = [("N".to_string(), parse_expression(file, &format!("  {n}")).0)];
    let (flat, _) = acausal_flatten::flatten_last(&mut libraries, class, &set).map_err(failed)?;
    let options = acausal_index1::Options::default();
    let (dae, _) = acausal_index1::transform_noted(flat, &options).map_err(failed)?;
    acausal_codegen::compile(dae).map_err(|_| format!("{class} is refused"))
}

/// Shortest seconds of a residual, and its bits.
fn times(
    model: &Arc<acausal_compiled::CompiledModel>,
    threads: usize,
) -> Result<(f64, Vec<u64>), String> {
    let backend = acausal_jit::default_backend();
    let mut machine = Machine::with_threads(model.clone(), &*backend, threads, Default::default())
        .map_err(|_| "the kernels are refused".to_string())?;
    machine.set_parameters();
    let some = |k: usize| 1.0 + ((k * 37) % 101) as f64 / 101.0;
    let y: Vec<f64> = (0..model.n).map(some).collect();
    let yp: Vec<f64> = (0..model.n).map(|k| some(k + 50)).collect();
    let mut r = vec![0.0; model.n];
    let mut best = f64::INFINITY;
    for _ in 0..EVALUATIONS {
        let clock = Instant::now();
        let residual = machine.residual(0.5, &y, &yp, &mut r);
        best = clock.elapsed().as_secs_f64().min(best);
        residual.map_err(|_| "an evaluation failed".to_string())?;
    }
    Ok((best, r.iter().map(|v| v.to_bits()).collect()))
}
