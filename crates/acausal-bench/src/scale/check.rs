//! Working on arrays against working on their elements, for the families of models that [`super::run`] measures.
//!
//! In: a family and a size. Out: the worst deviation between the trajectories of both, or what differs. The structure must be
//! the same too: as many equations and states, and up to 64 elements as many unknowns and the same index. The
//! DAE that is integrated may be of another size, because what is substituted differs; both sizes are printed. Every
//! comparison is a process of its own with a limit of time.
//!
//! Both simulations run at a relative tolerance of `TOLERANCE` with `ROWS` output intervals; every signal may deviate by
//! `ALLOWED` of the largest value of its array: the fluxes of a fine grid are differences of neighbouring states, so that one
//! that is near zero carries the error of much larger ones.

use std::collections::HashMap;
use std::sync::Arc;

use acausal::{Failure, InMemory, Load, Model, PhaseSeconds};
use acausal_index1::Options as Structure;

use super::family::{self, Family, Input};
use super::{Failed, Options, process};

/// Sizes at which every family is compared, and one large one: short arrays, such as are just longer than what is kept
/// of a long one, and longer ones.
const SIZES: [usize; 3] = [8, 16, 64];
/// Largest size at which the report of the structure, text about every equation, is made and compared.
const DESCRIBED: usize = 64;
/// Relative tolerance of both simulations. The flux between two of a thousand cells is a thousand times the difference of
/// their states, so it carries a thousand times their error.
const TOLERANCE: f64 = 1e-10;
/// Deviation that is allowed, relative to the largest value of an array.
const ALLOWED: f64 = 1e-5;
/// Number of output intervals.
const ROWS: f64 = 20.0;

/// Compares every family at both sizes and prints a table. An error where something differs.
pub fn run(options: &Options) -> Result<(), String> {
    let mut failures = 0;
    println!(
        "{:<16} {:>6} {:>10} {:>8} {:>18}  deviation of trajectories",
        "family", "N", "equations", "states", "unknowns of DAE"
    );
    for family in family::all() {
        let named = |f: &String| family.name.to_lowercase().contains(&f.to_lowercase());
        let wanted = options.families.is_empty() || options.families.iter().any(named);
        if !wanted || matches!(family.source, family::ModelSource::Text(_)) {
            continue;
        }
        let sizes = match options.sizes.is_empty() {
            true => {
                let large = large(&family);
                let below = SIZES.into_iter().filter(|n| *n < large);
                below.chain([large]).collect()
            }
            false => options.sizes.clone(),
        };
        for n in sizes {
            let arguments = ["scale-check".to_string(), family.name.into(), n.to_string()];
            match process(&arguments, options.limit) {
                Ok(text) => print!("{:<16} {n:>6} {text}", family.name),
                Err(Failed::Case(text)) => {
                    println!("{:<16} {n:>6} {}", family.name, text.trim());
                    failures += 1;
                }
                Err(Failed::TooLong) => {
                    println!("{:<16} {n:>6} ended after {} s", family.name, options.limit);
                    failures += 1;
                }
                Err(Failed::Start(text)) => return Err(text),
            }
        }
    }
    match failures {
        0 => Ok(()),
        n => Err(format!("{n} comparisons failed or were ended")),
    }
}

/// About a thousand elements: plates and grids have the square of their size, plants that are all linked likewise. Along a
/// string of bodies every body acts on every other; as single elements a thousand of them would not fit into memory.
fn large(family: &Family) -> usize {
    match family.name {
        "Heat2D" | "DCGrid" | "PowerSystemFull" => 32,
        "Bodies" => 64,
        _ => 1000,
    }
}

/// Compares a family at one size: a line of the table, or what differs.
pub fn compare(name: &str, n: usize) -> Result<String, String> {
    let family = family::by_name(name).ok_or_else(|| format!("there is no family `{name}`"))?;
    let described = n <= DESCRIBED;
    let [a, b] = [false, true].map(|scalarise| simulate(&family, n, scalarise, described));
    let ((sizes, a), (others, b)) = (a?, b?);
    if sizes != others {
        return Err(format!(
            "(equations, unknowns, index) {sizes:?} and as elements {others:?}"
        ));
    }
    let (x, y) = (a.summary.states, b.summary.states);
    if x != y {
        return Err(format!("{x} states, and {y} as elements"));
    }
    let (worst, signal) = deviation(&a, &b)?;
    if worst > ALLOWED {
        return Err(format!("{signal} deviates by {worst:.1e}"));
    }
    let unknowns = match (a.summary.unknowns, b.summary.unknowns) {
        (u, v) if u == v => u.to_string(),
        (u, v) => format!("{u} ({v})"),
    };
    Ok(format!(
        "{:>10} {x:>8} {unknowns:>18}  {worst:.1e} of {signal}",
        sizes.0
    ))
}

/// Numbers of equations and unknowns, and the structural index.
type Sizes = (u64, u64, Option<usize>);

fn simulate(
    family: &Family,
    n: usize,
    scalarise: bool,
    describe: bool,
) -> Result<(Sizes, InMemory), String> {
    let Input::File(path) = family.model(n) else {
        return Err("a text has no arrays".into());
    };
    let load = Load {
        set: vec![format!("N={n}")],
        ..Load::default()
    };
    let target = path.to_str().ok_or("the path is no text")?;
    let (flat, _, sources) = acausal::flatten_target(target, &load).map_err(|f| f.to_string())?;
    let mut settings = acausal::experiment_settings(&flat.experiment);
    settings.tolerance = TOLERANCE;
    settings.max_steps = 1_000_000;
    settings.interval = (settings.stop - settings.start) / ROWS;
    let equations: u64 = flat.equations.iter().map(|e| e.len() as u64).sum();
    let options = Structure {
        scalarise,
        ..Structure::default()
    };
    // The report is text about every equation; only small models get one.
    let done = match describe {
        true => acausal_index1::transform_with(flat, &options).map(|(dae, report)| {
            let index = Some(report.structural_index);
            (dae, (report.equations, report.unknowns, index))
        }),
        false => acausal_index1::transform_noted(flat, &options)
            .map(|(dae, _)| (dae, (equations, equations, None))),
    };
    let (dae, sizes) = match done {
        Ok(done) => done,
        Err(diagnostics) => {
            let failure = Failure {
                diagnostics,
                sources,
            };
            return Err(failure.to_string());
        }
    };
    let compiled = acausal_codegen::compile(dae).map_err(|e| format!("{e:?}"))?;
    let model = Model {
        compiled: Arc::new(compiled),
        sources,
        warnings: Vec::new(),
        phases: PhaseSeconds::default(),
        set: Vec::new(),
    };
    let run = model.simulate_in_memory(&settings);
    run.map(|r| (sizes, r)).map_err(|f| f.to_string())
}

/// The largest deviation relative to the largest value of the array that a signal belongs to, and the signal.
fn deviation(a: &InMemory, b: &InMemory) -> Result<(f64, String), String> {
    let mut worst = (0.0, String::from("all"));
    let mut scales: HashMap<String, f64> = HashMap::new();
    for signal in a.result.signals() {
        let scale = scales.entry(array(&signal.name)).or_insert(1e-3);
        for v in a.result.values_of(signal).iter() {
            *scale = scale.max(v.abs());
        }
    }
    for signal in a.result.signals() {
        let name = &signal.name;
        let x = a.result.values_of(signal);
        let Some(y) = b.result.values(name) else {
            return Err(format!("{name} is missing as elements"));
        };
        if x.len() != y.len() {
            return Err(format!("{} rows, and {} as elements", x.len(), y.len()));
        }
        let scale = scales.get(&array(name)).copied().unwrap_or(1e-3);
        for (x, y) in x.iter().zip(y.iter()) {
            let d = (x - y).abs() / scale;
            // A value that is no number is as far away as can be.
            if d.is_nan() || d > worst.0 {
                worst = (if d.is_nan() { f64::INFINITY } else { d }, name.clone());
            }
        }
    }
    Ok(worst)
}

/// The name of a signal without subscripts.
fn array(name: &str) -> String {
    let mut depth = 0;
    let outside = name.chars().filter(|c| {
        depth += i32::from(*c == '[');
        let keep = depth == 0;
        depth -= i32::from(*c == ']');
        keep
    });
    outside.collect()
}
