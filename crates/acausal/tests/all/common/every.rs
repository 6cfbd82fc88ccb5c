//! Every model of `examples/`, small enough for a test, compiled and simulated under given options.

use acausal::{Failure, InMemory, Load};
use acausal_index1::{Options, Report};

use crate::common::example_path;

/// A model of the examples.
#[derive(Clone, Debug)]
pub struct Example {
    /// The file below `examples/`.
    pub file: String,
    /// Settings and class.
    pub load: Load,
    /// Simulated up to here at most: trajectories that part exponentially cannot be compared for long.
    pub stop: f64,
}

/// All files of `examples/` and `examples/seeds/`, by name. Long arrays are shortened.
pub fn examples() -> Vec<Example> {
    let mut out = Vec::new();
    for folder in ["", "seeds/"] {
        let mut files: Vec<String> = std::fs::read_dir(example_path(folder))
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .filter(|f| f.ends_with(".mo"))
            .collect();
        files.sort();
        for f in files {
            let (set, class, stop): (&[&str], _, f64) = match f.as_str() {
                "HeatedRod.mo" | "HeatedRodFlux.mo" => (&["N=20"], None, f64::INFINITY),
                "RCLadder.mo" => (&["N=10"], None, f64::INFINITY),
                "Lorenz.mo" => (&[], None, 3.0),
                "OE_3_7_Figure1Components.mo" => {
                    (&[], Some("OE_3_7_Figure1Components.Figure1"), f64::INFINITY)
                }
                "OE_3_5_Tree.mo" => (&[], Some("OE_3_5_Tree.Tree"), 0.5),
                _ => (&[], None, f64::INFINITY),
            };
            out.push(Example {
                file: format!("{folder}{f}"),
                load: Load {
                    class: class.map(str::to_string),
                    set: set.iter().map(|s| s.to_string()).collect(),
                    ..Load::default()
                },
                stop,
            });
        }
    }
    assert!(out.len() > 50);
    out
}

impl Example {
    /// The source.
    pub fn text(&self) -> String {
        std::fs::read_to_string(example_path(&self.file)).unwrap()
    }

    /// Flattens a text, which is this example or a rewritten one.
    pub fn flatten(&self, text: &str) -> (acausal_expr::flat::FlatModel, acausal_base::SourceMap) {
        let mut libraries = acausal_instance::class::Libraries::new();
        let classes = libraries
            .load_text("Test.mo", text)
            .unwrap_or_else(|d| panic!("{}: {d:?}\n{text}", self.file));
        let class = self.load.class.as_ref().or(classes.last()).unwrap().clone();
        let set: Vec<(String, acausal_syntax::ast::Expr)> = self
            .load
            .set
            .iter()
            .map(|s| {
                let (name, value) = s.split_once('=').unwrap();
                let file = libraries.sources_mut().add_file("--set", s.clone());
                let (expr, _) = acausal_syntax::parse_expression(file, value);
                (name.to_string(), expr)
            })
            .collect();
        let (flat, _) = acausal_flatten::flatten(&mut libraries, &class, &set)
            .unwrap_or_else(|d| panic!("{}: {d:?}\n{text}", self.file));
        (flat, std::mem::take(libraries.sources_mut()))
    }

    /// Compiles and simulates; without trajectories where the simulation is refused.
    pub fn run(&self, text: &str, options: &Options) -> (Report, Result<InMemory, Failure>) {
        let (flat, sources) = self.flatten(text);
        let mut settings = acausal::experiment_settings(&flat.experiment);
        settings.tolerance = 1e-9;
        settings.max_steps = 200_000;
        settings.stop = settings.stop.min(settings.start + self.stop);
        // Instants that events at round times do not meet.
        settings.interval = (settings.stop - settings.start) / 19.37;
        let (report, model) = crate::common::compiled(&self.file, flat, sources, options);
        (report, model.simulate_in_memory(&settings))
    }
}

/// Asserts that two runs end alike, and agree in all signals at the output instants, relative to the size of each signal.
#[track_caller]
pub fn same(
    what: &str,
    a: &Result<InMemory, Failure>,
    b: &Result<InMemory, Failure>,
    tolerance: f64,
) {
    let (a, b) = match (a, b) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(a), Err(b)) => {
            let codes = |f: &Failure| f.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>();
            return assert_eq!(codes(a), codes(b), "{what}");
        }
        (Ok(_), Err(f)) | (Err(f), Ok(_)) => panic!("{what}: only one of two runs fails: {f}"),
    };
    let times = a.result.time();
    let (first, last) = (times[0], times[times.len() - 1]);
    let mut compared = 0;
    for signal in a.result.signals() {
        let name = &signal.name;
        let scale = crate::common::values(a, name)
            .iter()
            .fold(1e-3f64, |m, v| m.max(v.abs()));
        for k in 0..=19 {
            let t = first + (last - first) * k as f64 / 19.37;
            let (x, y) = (crate::common::at(a, name, t), crate::common::at(b, name, t));
            assert!(
                (x - y).abs() <= tolerance * scale || x.is_nan() && y.is_nan(),
                "{what}: {name} at {t}: {x} and {y}"
            );
        }
        compared += 1;
    }
    assert!(compared > 0, "{what}: nothing to compare");
}
