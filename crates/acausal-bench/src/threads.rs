//! Evaluation of long array equations with costly functions on two threads against one.
//!
//! In: classes of `benches/models` with a parameter `N`, of one size. Out: a table with the shortest time (on the wall) of a residual and of a Jacobian with one thread and with
//! two, and the ratio. The shortest of many is least disturbed by other programs. Fails where two threads do not
//! give the bits of one.

use std::sync::Arc;
use std::time::Instant;

use acausal_model::class::Libraries;
use acausal_sim::Machine;
use acausal_solver::Dae;
use acausal_syntax::parse_expression;

/// Evaluations of each kind.
const EVALUATIONS: usize = 60;

/// Prints the table.
pub fn run(classes: &[String], n: usize) -> Result<(), String> {
    println!(
        "| model | N | unknowns | residual, ms | on two threads | gain | Jacobian, ms | on two threads | gain |"
    );
    println!("|---|{}", "---:|".repeat(8));
    for class in classes {
        let model = Arc::new(compiled(class, n)?);
        let (one, first) = times(&model, 1)?;
        let (two, second) = times(&model, 2)?;
        if first != second {
            return Err(format!("{class}: two threads give other bits than one"));
        }
        println!(
            "| {class} | {n} | {} | {:.3} | {:.3} | {:.2} | {:.3} | {:.3} | {:.2} |",
            model.n,
            1e3 * one.0,
            1e3 * two.0,
            one.0 / two.0,
            1e3 * one.1,
            1e3 * two.1,
            one.1 / two.1
        );
    }
    Ok(())
}

fn compiled(class: &str, n: usize) -> Result<acausal_codegen::Compiled, String> {
    let file = class.split('.').next().unwrap_or(class);
    let path = crate::root().join(format!("benches/models/{file}.mo"));
    let failed = |_| format!("{class} is refused");
    let mut libraries = Libraries::new();
    libraries.load_file(&path).map_err(failed)?;
    let file = libraries.sources_mut().add_file("--set", format!("N={n}"));
    let set = [("N".to_string(), parse_expression(file, &format!("  {n}")).0)];
    let (flat, _) =
        acausal_model::flatten::flatten_last(&mut libraries, class, &set).map_err(failed)?;
    let options = acausal_index1::Options::default();
    let (dae, _) = acausal_index1::transform_noted(flat, &options).map_err(failed)?;
    acausal_codegen::compile(dae).map_err(|_| format!("{class} is refused"))
}

/// Shortest seconds of a residual and of a Jacobian, and the bits of both.
fn times(
    model: &Arc<acausal_codegen::Compiled>,
    threads: usize,
) -> Result<((f64, f64), Vec<u64>), String> {
    let backend = acausal_jit::default_backend();
    let mut machine = Machine::with_threads(model.clone(), &*backend, threads)
        .map_err(|_| "the kernels are refused".to_string())?;
    machine.set_parameters();
    let some = |k: usize| 1.0 + ((k * 37) % 101) as f64 / 101.0;
    let y: Vec<f64> = (0..model.n).map(some).collect();
    let yp: Vec<f64> = (0..model.n).map(|k| some(k + 50)).collect();
    let mut r = vec![0.0; model.n];
    let mut values = vec![0.0; machine.pattern().nnz()];
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..EVALUATIONS {
        let clock = Instant::now();
        let residual = machine.residual(0.5, &y, &yp, &mut r);
        best.0 = clock.elapsed().as_secs_f64().min(best.0);
        let clock = Instant::now();
        let jacobian = machine.jacobian_after_residual(0.5, &y, &yp, 100.0, &mut values);
        best.1 = clock.elapsed().as_secs_f64().min(best.1);
        residual
            .and(jacobian)
            .map_err(|_| "an evaluation failed".to_string())?;
    }
    let bits = r.iter().chain(&values).map(|v| v.to_bits()).collect();
    Ok((best, bits))
}
