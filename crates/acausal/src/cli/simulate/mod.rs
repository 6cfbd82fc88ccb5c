//! `acausal simulate`: compile, simulate, show, store.

mod drawing;
mod options;
mod statistics;

use std::path::Path;
use std::time::Instant;

use acausal::{Activity, Checkpoint, Model, Observe, ResultSink};
use acausal_base::visible::visible;

use super::interrupt::Interruption;
use super::pending::PendingFile;
use super::progress::Progress;
use super::summary::Finished;
use super::{
    file_stem, misuse, note, out, out_json, print_diagnostics, report, report_with, usage,
    write_out,
};
use crate::{Format, exit};
use drawing::{elements, picture, promise_plot, render, signal_names, terminal_options};
pub use options::Options;
use options::{check_numbers, settings};
use statistics::statistics;
pub(super) use statistics::statistics_json;

/// Signals drawn when the user names none.
const DEFAULT_CURVES: usize = 4;

/// Runs the verb.
pub fn run(o: &Options, interruption: &Interruption) -> u8 {
    let clock = Instant::now();
    match simulate(o, clock, interruption) {
        Ok(code) | Err(code) => code,
    }
}

/// `Err` is an exit code as well: that of a failure that has been reported.
fn simulate(o: &Options, clock: Instant, interruption: &Interruption) -> Result<u8, u8> {
    o.target.check().map_err(|d| misuse(d, o.format))?;
    check_numbers(o).map_err(|m| usage("settings", m, o.format))?;
    let names = o.plot.as_deref().map(signal_names);
    // Files are opened before the simulation, so that nothing is computed for a file that cannot be written.
    let plot_file = o
        .plot_file
        .as_deref()
        .map(promise_plot)
        .transpose()
        .map_err(|m| usage("output", m, o.format))?;
    let early = o
        .output
        .as_deref()
        .map(|p| open_result(p, o.format))
        .transpose()?;

    let from = o.from.as_deref().map(|p| read_checkpoint(p, o.format));
    let from = from.transpose()?;
    let checkpoint_file = o
        .checkpoint
        .as_deref()
        .map(|p| PendingFile::create(p).map_err(|e| cannot_write(p, &e)))
        .transpose()
        .map_err(|m| usage("output", m, o.format))?;

    let progress = Progress::start(o.format == Format::Human && !o.quiet);
    let model = Model::load(&o.target.target, &o.target.load_with(&o.structure))
        .map_err(|f| report(&f, o.format))?;
    if o.format == Format::Human && !o.quiet {
        print_diagnostics(&model.warnings, &model.sources);
    }
    let curves = match names {
        Some(names) => names.iter().flat_map(|n| elements(&model, n)).collect(),
        None => model.default_signals(DEFAULT_CURVES),
    };
    if let Some(name) = curves.iter().find(|c| *c != "time" && !model.has_signal(c)) {
        let message = format!(
            "there is no signal `{name}` to plot{}",
            model.suggest_signal(name)
        );
        return Err(usage("unknown-signal", message, o.format));
    }
    let observed = observed(o, &model)?;
    let settings = settings(o, &model, from.as_ref());
    if let Some(c) = &from
        && settings.stop < c.t
    {
        let message = format!(
            "the stop time {} lies before the time {} of the checkpoint",
            settings.stop, c.t
        );
        return Err(usage("settings", message, o.format));
    }
    let writer = match early {
        None if !o.no_output => {
            let stem = file_stem(&model.compiled.symbols.name);
            Some(open_result(Path::new(&format!("{stem}.csv")), o.format)?)
        }
        early => early,
    };

    Activity::Starting.begin();
    let span = settings.stop - settings.start;
    let mut sink = ResultSink::new(writer, observed, Observe::patterns(&curves))
        .on_progress(|t| progress.advance((t - settings.start) / span))
        .on_trace(|line| note(&format!("{line}\n")))
        .interrupt_by(interruption.stop.clone());
    if o.format == Format::Human {
        sink = sink.on_print(|text| out(&format!("{text}\n")));
    }
    interruption.listen();
    let compiled = model.compiled.clone();
    let outcome = match &from {
        None => acausal_runtime::simulate(compiled, &settings, &mut sink),
        Some(c) => acausal_runtime::resume(compiled, c, &settings, &mut sink),
    };
    let (writer, plotted) = sink.into_parts();
    drop(progress);
    let failed = |e: &acausal_runtime::SimError| report(&model.failed(e), o.format);
    let summary = match outcome {
        Ok(s) => s,
        Err(e) => return Err(keep_partial(&e, writer, &model, o)),
    };
    let output_error = |m: String| failed(&acausal_runtime::SimError::Output(m));
    let stored = match writer {
        None => None,
        Some(w) if summary.interrupted => {
            let kept = w.finish_incomplete();
            Some(kept.map_err(|e| output_error(e.to_string()))?)
        }
        Some(mut w) => match w.finish() {
            Ok(path) => Some(path),
            Err(e) => {
                let error = acausal_runtime::SimError::Output(e.to_string());
                return Err(keep_partial(&error, Some(w), &model, o));
            }
        },
    };
    let plotted = plotted.map_err(output_error)?;
    // Results have names that can be shown.
    let shown: Vec<String> = curves.iter().map(|c| visible(c).into_owned()).collect();
    let plot = picture(&plotted, &shown).map_err(output_error)?;
    if let (Some(file), Some(path)) = (plot_file, &o.plot_file) {
        let content = render(path, &plot);
        file.write(&content)
            .map_err(|e| output_error(cannot_write(path, &e)))?;
    }
    if let (Some(file), Some(path), Some(c)) = (checkpoint_file, &o.checkpoint, &summary.checkpoint)
    {
        file.write(c.to_text().as_bytes())
            .map_err(|e| output_error(cannot_write(path, &e)))?;
    }
    let finished = Finished {
        model: &model,
        settings: &settings,
        summary: &summary,
        result: stored.as_deref(),
        plot: o.plot_file.as_deref(),
        stats: o.stats,
        clock,
    };
    match o.format {
        Format::Json => out_json(&finished.json()),
        Format::Human if o.quiet => {}
        Format::Human => {
            if !curves.is_empty() {
                // Its colours are ours, and its names were made safe when they were stored.
                write_out(&plot.to_terminal(&terminal_options()));
            }
            out(&finished.human());
            if o.stats {
                out(&statistics(&summary));
            }
        }
    }
    Ok(if summary.interrupted {
        exit::INTERRUPTED
    } else {
        exit::FINE
    })
}

/// Reports a failed run. What was computed helps to find the cause; its name says that it is not complete.
fn keep_partial(
    error: &acausal_runtime::SimError,
    writer: Option<Box<dyn acausal_results::ResultWriter>>,
    model: &Model,
    o: &Options,
) -> u8 {
    let kept = writer.and_then(|w| w.finish_incomplete().ok());
    let mut more = serde_json::Map::new();
    more.insert(
        "model".into(),
        model.compiled.symbols.name.to_string().into(),
    );
    more.insert(
        "partial_result".into(),
        kept.as_ref().map(|p| p.display().to_string()).into(),
    );
    let code = report_with(&model.failed(error), o.format, more);
    if let (Some(path), Format::Human) = (kept, o.format) {
        note(&format!(
            "the result up to this point: {}\n",
            path.display()
        ));
    }
    code
}

/// What `--observe` chooses.
fn observed(o: &Options, model: &Model) -> Result<Observe, u8> {
    let Some(list) = &o.observe else {
        return Ok(Observe::everything());
    };
    let observe = Observe::patterns(signal_names(list));
    match observe.unmatched(&model.compiled) {
        None => Ok(observe),
        Some(pattern) => {
            let message = format!(
                "there is no signal `{pattern}` to store{}",
                model.suggest_signal(pattern)
            );
            Err(usage("unknown-signal", message, o.format))
        }
    }
}

fn open_result(path: &Path, format: Format) -> Result<Box<dyn acausal_results::ResultWriter>, u8> {
    acausal_results::create(path).map_err(|e| usage("output", e.to_string(), format))
}

fn read_checkpoint(path: &Path, format: Format) -> Result<Checkpoint, u8> {
    let complain = |m: String| {
        let message = format!("the checkpoint {} cannot be read: {m}", path.display());
        usage("checkpoint", message, format)
    };
    let text = std::fs::read_to_string(path).map_err(|e| complain(e.to_string()))?;
    Checkpoint::from_text(&text).map_err(complain)
}

fn cannot_write(path: &Path, e: &std::io::Error) -> String {
    format!("{} cannot be written: {e}", path.display())
}
