//! One text through the whole pipeline: compile, some steps, a checkpoint, a restart. For mutants of `tests/all/mutation.rs` and the
//! target `pipeline` of `fuzz/`.
//!
//! Whatever the text is, the answer is messages or a result: a panic, a row with a value that is no finite number (also before a failure), a changed
//! checkpoint that is read, and a checkpoint that does not read back, are wrong.

use acausal::{Checkpoint, Failure, Load, Model, Observe, ResultSink, Settings};

/// The end of the simulation; the restart goes on to twice of it.
const STOP: f64 = 0.01;

/// How far a text came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// Messages of the compiler.
    Nothing,
    /// Messages of the simulation.
    Compiled,
    /// Messages of the restart.
    Simulated,
    /// The end.
    Continued,
}

/// Settings that bound what a model can ask for.
pub fn settings() -> Settings {
    Settings {
        start: 0.0,
        stop: STOP,
        interval: STOP / 4.0,
        max_steps: 1000,
        max_events: 100,
        max_rows: 1000,
        checkpoint: true,
        threads: Some(1),
        ..Settings::default()
    }
}

/// Takes the text through the pipeline; `place` says which bit of the checkpoint is changed. The caller catches panics.
pub fn check(text: &str, load: &Load, place: usize) -> Result<Reached, String> {
    // Messages are rendered, for they point into the text.
    let told = |failure: Failure, reached: Reached| {
        drop(failure.to_string());
        Ok(reached)
    };
    let model = match Model::from_text("mutant.mo", text, load) {
        Ok(model) => model,
        Err(failure) => return told(failure, Reached::Nothing),
    };
    let settings = settings();
    let mut sink = ResultSink::new(None, Observe::nothing(), Observe::everything());
    let done = acausal_runtime::simulate(model.compiled.clone(), &settings, &mut sink);
    finite(sink)?;
    let summary = match done {
        Ok(summary) => summary,
        Err(error) => return told(model.failed(&error), Reached::Compiled),
    };
    let Some(checkpoint) = summary.checkpoint else {
        return Ok(Reached::Simulated);
    };
    let text = checkpoint.to_text();
    refuses_another(&text, place)?;
    let read = Checkpoint::from_text(&text)?;
    if read.to_text() != text {
        return Err("a checkpoint reads back as another".to_string());
    }
    let later = Settings {
        stop: 2.0 * STOP,
        ..settings
    };
    let mut sink = ResultSink::new(None, Observe::nothing(), Observe::everything());
    let done = acausal_runtime::resume(model.compiled.clone(), &read, &later, &mut sink);
    finite(sink)?;
    match done {
        Ok(_) => Ok(Reached::Continued),
        Err(error) => told(model.failed(&error), Reached::Simulated),
    }
}

/// What was stored is a number. A simulation that fails before its first row has stored nothing.
pub fn finite(sink: ResultSink) -> Result<(), String> {
    let Ok(result) = sink.into_parts().1 else {
        return Ok(());
    };
    for signal in result.signals() {
        let values = result.values_of(signal);
        if let Some(value) = values.iter().find(|v| !v.is_finite()) {
            return Err(format!("{} = {value} is stored", signal.name));
        }
    }
    Ok(())
}

fn refuses_another(checkpoint: &str, place: usize) -> Result<(), String> {
    let mut bytes = checkpoint.as_bytes().to_vec();
    let at = place % bytes.len();
    bytes[at] ^= 1 << (place / bytes.len() % 7);
    match String::from_utf8(bytes) {
        Ok(changed) if Checkpoint::from_text(&changed).is_ok() => {
            Err(format!("a checkpoint with another byte at {at} was read"))
        }
        _ => Ok(()),
    }
}
