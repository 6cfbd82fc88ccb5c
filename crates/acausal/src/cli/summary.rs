//! What a simulation did, for people and for programs.

use std::path::Path;
use std::time::Instant;

use acausal::{Model, Settings, Summary};

use super::{count, json_diagnostics};

/// A finished simulation.
pub struct Finished<'a> {
    /// The model.
    pub model: &'a Model,
    /// What was asked for.
    pub settings: &'a Settings,
    /// What was done.
    pub summary: &'a Summary,
    /// The result file.
    pub result: Option<&'a Path>,
    /// The plot file.
    pub plot: Option<&'a Path>,
    /// `--stats` was given.
    pub stats: bool,
    /// Start of the program.
    pub clock: Instant,
}

impl Finished<'_> {
    /// Some lines for people.
    pub fn human(&self) -> String {
        let s = self.summary;
        let mut text = String::new();
        let mut line = |l: String| {
            text.push_str(&l);
            text.push('\n');
        };
        for n in &s.notes {
            line(format!("note: {}", n.text));
        }
        for w in &s.warnings {
            line(format!("warning: {w}"));
        }
        line(format!(
            "{}: {}, {}; {}, {}, {}, {}",
            self.model.compiled.symbols.name,
            count(s.unknowns as u64, "unknown"),
            count(s.states as u64, "state"),
            count(s.steps, "step"),
            count(s.residual_evaluations, "residual evaluation"),
            count(s.jacobian_evaluations, "Jacobian evaluation"),
            count(s.events, "event"),
        ));
        let phases: Vec<String> = self
            .phases()
            .iter()
            .map(|(name, t)| format!("{name} {t:.4}"))
            .collect();
        line(format!("seconds: {}", phases.join(", ")));
        if let Some(m) = &s.terminated {
            line(format!(
                "the model ended the simulation at time = {}: {m}",
                s.reached
            ));
        }
        if s.interrupted {
            line(format!(
                "interrupted at time = {}; the result is complete up to there",
                s.reached
            ));
        }
        if let Some(path) = self.result {
            line(format!("result: {}", path.display()));
        }
        if let Some(path) = self.plot {
            line(format!("plot: {}", path.display()));
        }
        text
    }

    /// One object for programs.
    pub fn json(&self) -> serde_json::Value {
        let s = self.summary;
        let seconds: serde_json::Map<String, serde_json::Value> = self
            .phases()
            .into_iter()
            .map(|(name, t)| (name.to_string(), t.into()))
            .collect();
        serde_json::json!({
            "ok": !s.interrupted,
            "model": self.model.compiled.symbols.name,
            "unknowns": s.unknowns,
            "states": s.states,
            "start": self.settings.start,
            "stop": self.settings.stop,
            "interval": self.settings.interval,
            "tolerance": self.settings.tolerance,
            "reached": s.reached,
            "steps": s.steps,
            "residual_evaluations": s.residual_evaluations,
            "jacobian_evaluations": s.jacobian_evaluations,
            "factorisations": s.factorisations,
            "error_test_failures": s.error_test_failures,
            "convergence_failures": s.convergence_failures,
            "events": s.events,
            "seconds": seconds,
            "peak_memory_bytes": peak_memory_bytes(),
            "terminated": s.terminated,
            "interrupted": s.interrupted,
            "notes": s.notes.iter().map(|n| n.text.clone()).collect::<Vec<_>>(),
            "warnings": s.warnings,
            "printed": s.printed,
            "diagnostics": json_diagnostics(&self.model.warnings, &self.model.sources),
            "result": self.result.map(|p| p.display().to_string()),
            "plot": self.plot.map(|p| p.display().to_string()),
            "statistics": self.stats.then(|| super::simulate::statistics_json(s)),
        })
    }

    /// Wall-clock seconds by phase; the total includes start and output.
    fn phases(&self) -> [(&'static str, f64); 7] {
        let (p, s) = (&self.model.phases, &self.summary.seconds);
        [
            ("parse", p.parse),
            ("flatten", p.flatten),
            ("structure", p.structure),
            ("codegen", p.codegen + s.codegen),
            ("initialise", s.initialise),
            ("integrate", s.integrate),
            ("total", self.clock.elapsed().as_secs_f64()),
        ]
    }
}

/// The largest resident set so far; `None` where the system does not tell.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
