//! `acausal simulate`: compile, simulate, show, store.

mod drawing;
mod options;
mod statistics;

use std::path::{Path, PathBuf};
use std::time::Instant;

use acausal::{Activity, Checkpoint, Model, Observe, ResultSink, Summary};
use acausal_base::visible::visible;
use acausal_runtime::SimError;

use super::interrupt::Interruption;
use super::pending::PendingFile;
use super::progress::Progress;
use super::summary::Finished;
use super::{
    file_stem, misuse, note, out, out_json, print_diagnostics, report, report_with, usage,
    write_out,
};
use crate::command::{MessageFormat, exit};
pub(super) use drawing::signal_names;
use drawing::{elements, picture, promise_plot, render, terminal_options};
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
    let files = Files::open(o)?;
    let from = o.from.as_deref().map(|p| read_checkpoint(p, o.format));
    let from = from.transpose()?;

    let progress = Progress::start(o.format == MessageFormat::Human && !o.quiet);
    let model = Model::load(&o.target.target, &o.target.load_with(&o.structure))
        .map_err(|f| report(&f, o.format))?;
    if o.format == MessageFormat::Human && !o.quiet {
        print_diagnostics(&model.warnings, &model.sources);
    }
    let curves = curves(names, &model, o.format)?;
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
    let writer = match files.result {
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
    if o.format == MessageFormat::Human {
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
    let summary = match outcome {
        Ok(s) => s,
        Err(e) => return Err(keep_partial(&e, writer, &model, o)),
    };
    let output_error = |m: String| report(&model.failed(&SimError::Output(m)), o.format);
    let stored = finish_result(writer, &summary, &model, o)?;
    let plotted = plotted.map_err(output_error)?;
    // Results have names that can be shown.
    let shown: Vec<String> = curves.iter().map(|c| visible(c).into_owned()).collect();
    let plot = picture(&plotted, &shown).map_err(output_error)?;
    if let (Some(file), Some(path)) = (files.plot, &o.plot_file) {
        let content = render(path, &plot);
        file.write(&content)
            .map_err(|e| output_error(cannot_write(path, &e)))?;
    }
    if let (Some(file), Some(path), Some(c)) =
        (files.checkpoint, &o.checkpoint, &summary.checkpoint)
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
    // Its colours are ours, and its names were made safe when they were stored.
    let drawn = (!curves.is_empty()).then(|| plot.to_terminal(&terminal_options()));
    show(o, &finished, drawn.as_deref());
    Ok(if summary.interrupted {
        exit::INTERRUPTED
    } else {
        exit::FINE
    })
}

/// Files that are opened before the simulation, so that nothing is computed for a file that cannot be written.
struct Files {
    plot: Option<PendingFile>,
    result: Option<Box<dyn acausal_results::ResultWriter>>,
    checkpoint: Option<PendingFile>,
}

impl Files {
    fn open(o: &Options) -> Result<Files, u8> {
        let plot = o.plot_file.as_deref().map(promise_plot).transpose();
        let plot = plot.map_err(|m| usage("output", m, o.format))?;
        let result = o.output.as_deref().map(|p| open_result(p, o.format));
        let result = result.transpose()?;
        let pending = |p: &Path| PendingFile::create(p).map_err(|e| cannot_write(p, &e));
        let checkpoint = o.checkpoint.as_deref().map(pending).transpose();
        Ok(Files {
            plot,
            result,
            checkpoint: checkpoint.map_err(|m| usage("output", m, o.format))?,
        })
    }
}

/// The signals to draw.
fn curves(
    names: Option<Vec<String>>,
    model: &Model,
    format: MessageFormat,
) -> Result<Vec<String>, u8> {
    let curves: Vec<String> = match names {
        Some(names) => names.iter().flat_map(|n| elements(model, n)).collect(),
        None => model.default_signals(DEFAULT_CURVES),
    };
    match curves.iter().find(|c| *c != "time" && !model.has_signal(c)) {
        None => Ok(curves),
        Some(name) => {
            let message = format!(
                "there is no signal `{name}` to plot{}",
                model.suggest_signal(name)
            );
            Err(usage("unknown-signal", message, format))
        }
    }
}

/// Gives the result file its name.
fn finish_result(
    writer: Option<Box<dyn acausal_results::ResultWriter>>,
    summary: &Summary,
    model: &Model,
    o: &Options,
) -> Result<Option<PathBuf>, u8> {
    let Some(mut writer) = writer else {
        return Ok(None);
    };
    if summary.interrupted {
        let kept = writer.finish_incomplete();
        let failed = |m: String| report(&model.failed(&SimError::Output(m)), o.format);
        return kept.map(Some).map_err(|e| failed(e.to_string()));
    }
    match writer.finish() {
        Ok(path) => Ok(Some(path)),
        Err(e) => {
            let error = SimError::Output(e.to_string());
            Err(keep_partial(&error, Some(writer), model, o))
        }
    }
}

/// Tells what was done.
fn show(o: &Options, finished: &Finished<'_>, drawn: Option<&str>) {
    match o.format {
        MessageFormat::Json => out_json(&finished.json()),
        MessageFormat::Human if o.quiet => {}
        MessageFormat::Human => {
            if let Some(drawn) = drawn {
                write_out(drawn);
            }
            out(&finished.human());
            if o.stats {
                out(&statistics(finished.summary));
            }
        }
    }
}

/// Reports a failed run. What was computed helps to find the cause; its name says that it is not complete.
fn keep_partial(
    error: &SimError,
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
    if let (Some(path), MessageFormat::Human) = (kept, o.format) {
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

fn open_result(
    path: &Path,
    format: MessageFormat,
) -> Result<Box<dyn acausal_results::ResultWriter>, u8> {
    acausal_results::create(path).map_err(|e| usage("output", e.to_string(), format))
}

fn read_checkpoint(path: &Path, format: MessageFormat) -> Result<Checkpoint, u8> {
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
