//! `acausal explain`: what the compiler makes of a model, for people and programs.
//!
//! The order is that of the passes: what was read, which equations were superfluous, which were differentiated and why,
//! the blocks, the states, and the DAE that the integrator gets.

use std::fmt::Write;

use acausal::{Activity, Failure, flatten_target};
use acausal_base::{Diagnostic, SourceMap};
use acausal_expr::flat::FlatModel;
use acausal_expr::unknown::{RowKind, UnknownRole};
use acausal_index1::{FinalForm, Regularised, Report, transform_with};
use clap::Args;
use serde_json::json;

use super::progress::Progress;
use super::{
    Structure, Target, count, json_diagnostics, misuse, out, out_json, print_diagnostics, report,
};
use crate::command::{MessageFormat, exit};

/// Options of `explain`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    structure: Structure,
    /// For whom the output is
    #[arg(long, value_enum, default_value_t = MessageFormat::Human, hide_possible_values = true, value_name = "human|json")]
    format: MessageFormat,
}

/// What the compiler makes of a model.
pub struct Explanation {
    name: String,
    description: String,
    facts: Report,
    form: FinalForm,
    warnings: Vec<Diagnostic>,
    sources: SourceMap,
}

impl Explanation {
    /// Of a flat model with the warnings so far.
    pub fn of(
        (flat, mut warnings, sources): (FlatModel, Vec<Diagnostic>, SourceMap),
        structure: &acausal_index1::Options,
    ) -> Result<Explanation, Failure> {
        let (dae, facts) = match transform_with(flat, structure) {
            Ok(parts) => parts,
            Err(diagnostics) => {
                return Err(Failure {
                    diagnostics,
                    sources,
                });
            }
        };
        warnings.extend(facts.notes.iter().cloned());
        Ok(Explanation {
            form: FinalForm::of(&dae),
            name: dae.flat.name.clone(),
            description: dae.flat.description.clone(),
            facts,
            warnings,
            sources,
        })
    }

    /// For people.
    fn text(&self) -> String {
        let mut text = self.name.clone();
        if !self.description.is_empty() {
            let _ = write!(text, " \"{}\"", self.description);
        }
        text.push('\n');
        write_facts(&mut text, &self.facts);
        write_form(&mut text, &self.facts, &self.form);
        text
    }

    /// For programs.
    pub fn json(&self) -> serde_json::Value {
        let mut object = json_facts(&self.facts, &self.form);
        object["model"] = self.name.clone().into();
        object["diagnostics"] = json_diagnostics(&self.warnings, &self.sources);
        object
    }
}

/// Blocks with one equation are counted, not listed, beyond this number of blocks.
const MOST_BLOCKS: usize = 20;
/// Longest list of equations for people; programs get everything.
const MOST_LINES: usize = 60;

/// Runs the verb.
pub fn run(options: &Options) -> u8 {
    if let Err(d) = (options.target.check()).and_then(|()| options.target.expect_text()) {
        return misuse(d, options.format);
    }
    let progress = Progress::start(options.format == MessageFormat::Human);
    let flattened = flatten_target(&options.target.target, &options.target.load());
    let flattened = match flattened {
        Ok(parts) => parts,
        Err(f) => {
            drop(progress);
            return report(&f, options.format);
        }
    };
    Activity::Structure.begin();
    let explanation = Explanation::of(flattened, &options.structure.options());
    drop(progress);
    let explanation = match explanation {
        Ok(e) => e,
        Err(f) => return report(&f, options.format),
    };
    match options.format {
        MessageFormat::Human => {
            print_diagnostics(&explanation.warnings, &explanation.sources);
            out(&explanation.text());
        }
        MessageFormat::Json => out_json(&explanation.json()),
    }
    exit::FINE
}

fn heading(text: &mut String, title: &str) {
    let _ = write!(text, "\n{title}\n{}\n", "-".repeat(title.chars().count()));
}

/// Lines with an indent; a long list is cut.
fn lines(text: &mut String, indent: &str, items: &[String]) {
    for item in items.iter().take(MOST_LINES) {
        let _ = writeln!(text, "{indent}{item}");
    }
    if items.len() > MOST_LINES {
        let more = items.len() - MOST_LINES;
        let _ = writeln!(
            text,
            "{indent}... and {more} more (all of them with --format json)"
        );
    }
}

/// `once`, `twice`, `3 times`.
fn times(n: usize) -> String {
    match n {
        1 => "once".to_string(),
        2 => "twice".to_string(),
        n => format!("{n} times"),
    }
}

fn write_facts(text: &mut String, facts: &Report) {
    heading(text, "What was read");
    let _ = writeln!(
        text,
        "{} for {}.",
        count(facts.equations, "scalar equation"),
        count(facts.unknowns, "unknown")
    );
    write_singularities(text, &facts.regularised);
    if facts.aliases > 0 {
        heading(text, "Aliases");
        let _ = writeln!(
            text,
            "Taken out, because they equal others up to the sign: {}. What follows is about the rest.",
            count(facts.aliases, "scalar variable")
        );
    }
    write_differentiated(text, facts);
    write_blocks(text, facts);
    heading(text, "States");
    match facts.states.as_slice() {
        [] => text.push_str("None: nothing is left to choose at the start.\n"),
        states => {
            let _ = writeln!(text, "  {}", states.join(", "));
        }
    }
}

fn write_singularities(text: &mut String, done: &Regularised) {
    heading(text, "Singularities of connection equations");
    if done.removed.is_empty() && done.replaced.is_empty() && done.freed.is_empty() {
        text.push_str("None: the equations were left as they are.\n");
    }
    if !done.removed.is_empty() {
        text.push_str("Removed, because they follow from the others:\n");
        lines(text, "  ", &done.removed);
    }
    if !done.replaced.is_empty() {
        text.push_str("Replaced by the relation between states that they amount to:\n");
        for (old, new) in done.replaced.iter().take(MOST_LINES) {
            let _ = writeln!(text, "  {old}\n    -> {new}");
        }
    }
    if !done.freed.is_empty() {
        text.push_str("Set to 0, because nothing determines them:\n");
        lines(text, "  ", &done.freed);
    }
}

fn write_differentiated(text: &mut String, facts: &Report) {
    heading(text, "Differentiated equations");
    if facts.differentiated.is_empty() {
        text.push_str(
            "None: every equation determines a highest derivative or an algebraic unknown.\n",
        );
    } else {
        let list: Vec<String> = facts
            .differentiated_arrays
            .iter()
            .map(|(e, n)| format!("{:<8} {e}", times(*n)))
            .collect();
        lines(text, "  ", &list);
        text.push_str("Why, step by step:\n");
        for (k, s) in facts.steps.iter().enumerate().take(MOST_LINES) {
            let what = if s.unknowns.is_empty() {
                format!(
                    "{} with no unknown highest derivative",
                    count(s.size, "scalar equation")
                )
            } else {
                format!(
                    "{} for only {}: {}",
                    count(s.size, "scalar equation"),
                    count(s.unknowns_size, "unknown"),
                    s.unknowns.join(", ")
                )
            };
            let _ = writeln!(text, "  {}. {what}", k + 1);
            lines(text, "       ", &s.equations);
        }
    }
    let _ = writeln!(text, "Structural index: {}.", facts.structural_index);
}

fn write_blocks(text: &mut String, facts: &Report) {
    heading(text, "Blocks, in the order of solution");
    if facts.blocks.is_empty() {
        text.push_str("None: there are no continuous unknowns.\n");
    }
    let short = facts.blocks.len() > MOST_BLOCKS;
    let mut singles = 0u64;
    for (k, b) in facts.blocks.iter().enumerate() {
        if short && b.equations.len() == 1 {
            singles += 1;
            continue;
        }
        let _ = write!(
            text,
            "  {:>3}. {} for {}",
            k + 1,
            count(b.size, "scalar equation"),
            b.unknowns.join(", ")
        );
        if !b.torn.is_empty() {
            let _ = write!(text, "; iterates on {}", b.torn.join(", "));
        }
        text.push('\n');
        lines(text, "         ", &b.equations);
        lines(text, "       - ", &b.kept);
    }
    if singles > 0 {
        let _ = writeln!(
            text,
            "  and {} of a single equation.",
            count(singles, "block")
        );
    }
}

fn write_form(text: &mut String, facts: &Report, form: &FinalForm) {
    heading(text, "The index-one DAE");
    let f = facts.form;
    let size = facts.form.n;
    let _ = writeln!(
        text,
        "{} (fd {}, fc {}; lambda {}, mu {}).",
        count(size, "unknown"),
        f.fd,
        f.fc,
        f.lambda,
        f.mu
    );
    for (role, what) in [
        (UnknownRole::State, "states"),
        (UnknownRole::Algebraic, "algebraic"),
        (UnknownRole::Lambda, "lambda"),
        (UnknownRole::Mu, "mu"),
    ] {
        let names: Vec<&str> = form
            .unknowns
            .iter()
            .filter(|u| u.0 == role)
            .map(|u| u.1.as_str())
            .collect();
        if !names.is_empty() {
            let _ = writeln!(text, "  {what}: {}", names.join(", "));
        }
    }
    if !form.locals.is_empty() {
        text.push_str("Local assignments, in this order:\n");
        lines(text, "  ", &form.locals);
    }
    if form.residuals.is_empty() {
        text.push_str("No residuals: nothing is left for the integrator.\n");
        return;
    }
    text.push_str("Residuals:\n");
    let residuals: Vec<String> = form
        .residuals
        .iter()
        .map(|(kind, r)| format!("{r}    // {}", kind_name(*kind)))
        .collect();
    lines(text, "  ", &residuals);
    if residuals.iter().any(|r| r.contains("slope.")) {
        text.push_str(
            "slope.x is the derivative of x that the integrator approximates; der(x) is what the equations give.\n",
        );
    }
}

fn kind_name(kind: RowKind) -> &'static str {
    match kind {
        RowKind::Dynamic => "dynamic",
        RowKind::Algebraic => "algebraic",
        RowKind::Constraint { .. } => "constraint",
    }
}

fn role_name(role: UnknownRole) -> &'static str {
    match role {
        UnknownRole::State => "state",
        UnknownRole::Algebraic => "algebraic",
        UnknownRole::Lambda => "lambda",
        UnknownRole::Mu => "mu",
    }
}

fn json_facts(facts: &Report, form: &FinalForm) -> serde_json::Value {
    let done = &facts.regularised;
    let f = facts.form;
    json!({
        "ok": true,
        "equations": facts.equations,
        "unknowns": facts.unknowns,
        "aliases": facts.aliases,
        "removed": done.removed,
        "replaced": done.replaced.iter().map(|(a, b)| json!({"equation": a, "by": b})).collect::<Vec<_>>(),
        "freed": done.freed,
        "differentiated": facts.differentiated_arrays.iter()
            .map(|(e, n)| json!({"equation": e, "times": n})).collect::<Vec<_>>(),
        "steps": facts.steps.iter()
            .map(|s| json!({"equations": s.equations, "unknowns": s.unknowns})).collect::<Vec<_>>(),
        "blocks": facts.blocks.iter()
            .map(|b| json!({"size": b.size, "unknowns": b.unknowns, "torn": b.torn, "kept": b.kept, "equations": b.equations}))
            .collect::<Vec<_>>(),
        "states": facts.states,
        "index_one": {
            "n": f.n, "fd": f.fd, "fc": f.fc, "lambda": f.lambda, "mu": f.mu,
            "unknowns": form.unknowns.iter()
                .map(|(role, name)| json!({"name": name, "role": role_name(*role)})).collect::<Vec<_>>(),
            "locals": form.locals,
            "residuals": form.residuals.iter()
                .map(|(kind, r)| json!({"residual": r, "kind": kind_name(*kind)})).collect::<Vec<_>>(),
        },
        "structural_index": facts.structural_index,
    })
}
