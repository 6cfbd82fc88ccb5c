//! What a run may cost: instants that the user or the model asks for are counted before the first of them.
//!
//! `--interval 1e-12` over one second asks for 10^12 rows, `sample(0, 1e-9)` for 10^9 events. Either would be written or handled one by
//! one for hours. And an instant that is nearer to the one before than numbers can tell apart never comes.

use acausal_compiled::CompiledModel;

use crate::event::EventState;
use crate::{Settings, SimError};

/// The smallest time span and interval: smaller numbers count as zero during a simulation.
const SHORTEST: f64 = 1e3 * f64::MIN_POSITIVE;

/// The time span.
pub(crate) fn check_span(s: &Settings) -> Result<(), SimError> {
    let span = s.stop - s.start;
    let what = match span {
        span if span > 0.0 && span < SHORTEST => "short",
        span if !span.is_finite() => "long",
        _ => return Ok(()),
    };
    Err(SimError::Settings(format!(
        "the time from {:e} to {:e} is too {what} for floating-point numbers",
        s.start, s.stop
    )))
}

/// Rows of the output grid.
pub(crate) fn check_rows(s: &Settings) -> Result<(), SimError> {
    let span = s.stop - s.start;
    if span == 0.0 {
        return Ok(());
    }
    let complain = |m: String| Err(SimError::Settings(m));
    if s.interval < SHORTEST || !advances(s.start, s.stop, s.interval) {
        return complain(format!(
            "an output interval of {:e} is too short: times from {} to {} are not that exact",
            s.interval, s.start, s.stop
        ));
    }
    let rows = span / s.interval;
    if rows > s.max_rows as f64 {
        return complain(format!(
            "an output interval of {:e} gives {rows:.3e} rows, more than {}; make it longer or raise --max-rows",
            s.interval, s.max_rows
        ));
    }
    Ok(())
}

/// Whether adding an interval gives another time everywhere in a span.
fn advances(start: f64, stop: f64, interval: f64) -> bool {
    start + interval > start && stop - interval < stop
}

/// Instants of `sample` until the end.
pub(crate) fn check_samples(
    events: &EventState,
    model: &CompiledModel,
    s: &Settings,
) -> Result<(), SimError> {
    for clock in &events.samples {
        let first = clock.next();
        if first > s.stop {
            continue;
        }
        let interval = clock.interval();
        let count = (s.stop - first.max(s.start)) / interval + 1.0;
        let exact = interval >= SHORTEST && advances(s.start.max(first), s.stop, interval);
        if exact && count <= s.max_events as f64 {
            continue;
        }
        let mut codes = model.events.samples.iter();
        let code = codes.find(|c| (c.base..c.base + c.len).contains(&clock.cell));
        let span = code.map_or(acausal_base::Span::NONE, |c| {
            model.symbols.origin(c.origin).span
        });
        return Err(SimError::SampleTooOften {
            interval,
            count: exact.then_some(count),
            stop: s.stop,
            most: s.max_events,
            span,
        });
    }
    Ok(())
}
