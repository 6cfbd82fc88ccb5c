//! Output rows: where they stand in time, and what is in them.
//!
//! Rows between steps are interpolated. Algebraic unknowns and derivatives are less accurate than the states then, so a row of a model that has
//! the former, or whose variables depend on the latter, is corrected until it satisfies the equations ([`crate::interior`]). Where the
//! factors of the step do not lead there, the equations are solved from the interpolated values, then from those at the end of the step; a row for which
//! that fails too is written as interpolated, and a note tells so.
//!
//! A large model of which few signals are wanted ([`crate::selected`]) corrects one row per step, in its middle, if some of them are algebraic or depend on derivatives; if that
//! one was consistent before, as exactly as a corrected one is, its other rows in the step are interpolated.

use acausal_compiled::Loc;
use acausal_jit::kernel::Bank;
use acausal_solver::Integrator;

use crate::consistent::Point;
use crate::event::EventOutcome;
use crate::event::asserts::message_text;
use crate::interior::{LEFT, has_hidden_rows, set_states};
use crate::machine::{Machine, ProgramId};
use crate::simulate::{Simulation, absorb};
use crate::{Settings, SimError, Sink, Summary};

impl Simulation {
    /// Output rows between the last step and `t` (exclusive), by interpolation.
    pub(crate) fn outputs_before(
        &mut self,
        bdf: &mut dyn Integrator,
        t: f64,
        buffers: &mut (Vec<f64>, Vec<f64>),
        settings: &Settings,
        sink: &mut dyn Sink,
        summary: &mut Summary,
    ) -> Result<(), SimError> {
        let suffices = self.selected_suffice(bdf, t, buffers, settings);
        loop {
            let at = self.output_time(settings, self.next_output);
            if at > t || at > settings.stop {
                return Ok(());
            }
            let clock = std::time::Instant::now();
            let last = self.output_time(settings, self.next_output + 1) > settings.stop;
            let (y, yp) = (&mut buffers.0[..], &mut buffers.1[..]);
            let done = match &self.selected {
                Some(signals) if suffices && !last => {
                    signals.compute(&mut self.machine, bdf, at, (y, yp))
                }
                _ => false,
            };
            if !done {
                bdf.interpolate(at, y, yp);
                self.correct_row(bdf, at, buffers);
                self.machine.update(at, &buffers.0, &buffers.1);
                // A step may be long; the first row that is not finite tells the time better than its end.
                self.check_finite(at)?;
                // Assertions that are no events (`noEvent`, those of functions) may fail between steps only.
                let mut noted = EventOutcome::default();
                let point = (at, &buffers.0[..], &buffers.1[..]);
                (self.events).check_asserts(&mut self.machine, point, false, &mut noted)?;
                absorb(summary, noted);
            }
            sink.row(at, &self.machine, &buffers.0, &buffers.1)
                .map_err(SimError::Output)?;
            self.seconds.output += clock.elapsed().as_secs_f64();
            self.next_output += 1;
        }
    }

    /// Residuals are watched by the integrator; variables that are assigned explicitly are watched here.
    pub(crate) fn check_finite(&mut self, t: f64) -> Result<(), SimError> {
        let found = self.machine.not_finite();
        let found = found.map(|(place, origin)| (place, Some(origin)));
        let found = found.or_else(|| self.events.not_finite(&self.machine));
        if found.is_some()
            && let Some(fault) = self.subscript_fault(t)
        {
            return Err(fault);
        }
        match found {
            None => Ok(()),
            Some((place, origin)) => Err(SimError::NotFinite {
                t,
                name: self.machine.model.name_of(Loc::new(Bank::Mem, place)),
                value: self.machine.mem[place],
                origin,
            }),
        }
    }

    /// Adds what is printed outside of `when`, each text where it is another one than before.
    pub(crate) fn note_prints(&mut self, summary: &mut Summary) {
        let model = self.machine.model.clone();
        if model.events.prints.is_empty() {
            return;
        }
        self.machine.update_all(self.t, &self.y, &self.yp);
        let begins = self.printed.is_empty();
        let mut place = 0;
        for print in &model.events.prints {
            for point in 0..print
                .domain
                .iter()
                .map(|d| d.1.count.max(0) as usize)
                .product()
            {
                place += 1;
                if print.initial && !begins {
                    continue;
                }
                let now = (self.t, &self.y[..], &self.yp[..]);
                let text = message_text(&self.machine, print.message, &print.domain, point, now);
                self.printed
                    .resize(self.printed.len().max(place), String::new());
                if self.printed[place - 1] != text {
                    summary
                        .printed
                        .extend(Some(text.clone()).filter(|t| !t.is_empty()));
                    self.printed[place - 1] = text;
                }
            }
        }
    }

    /// Adds warnings of functions at the present values, each once in a run.
    pub(crate) fn note_function_warnings(&mut self, summary: &mut Summary) {
        if !self.functions_warn {
            return;
        }
        let said = (self.machine).function_warnings(self.t, &self.y, &self.yp);
        for text in said {
            if !summary.warnings.iter().any(|w| w.ends_with(&text)) {
                let warning = format!("at time = {}: {text}", self.t);
                summary.warnings.push(warning);
            }
        }
    }

    /// A subscript that is out of range at the present values: why something is not a number.
    pub(crate) fn subscript_fault(&mut self, t: f64) -> Option<SimError> {
        let model = self.machine.model.clone();
        for (k, code) in model.events.indexed.iter().enumerate() {
            self.machine.run(ProgramId::Index(k), &self.y, &self.yp);
            let values = &self.machine.out[..code.len];
            let wrong = |v: &&f64| !(1.0..=code.size as f64).contains(*v) || v.fract() != 0.0;
            if let Some(&index) = values.iter().find(wrong) {
                return Some(SimError::Subscript {
                    t,
                    array: code.array.clone(),
                    index,
                    size: code.size,
                    origin: code.origin,
                });
            }
        }
        None
    }

    /// Whether rows up to `t` with few signals may be interpolated.
    fn selected_suffice(
        &mut self,
        bdf: &mut dyn Integrator,
        t: f64,
        (y, yp): &mut (Vec<f64>, Vec<f64>),
        settings: &Settings,
    ) -> bool {
        let Some(selected) = self.selected.as_ref().filter(|f| f.algebraic || f.slopes) else {
            return true;
        };
        let slopes = selected.slopes;
        let first = self.output_time(settings, self.next_output);
        if first > t {
            return true;
        }
        let rows = ((t - first) / settings.interval) as u64;
        let middle = self.output_time(settings, self.next_output + rows / 2);
        bdf.interpolate(middle, y, yp);
        let mut at = Point {
            machine: &mut self.machine,
            t: middle,
            y,
            yp,
            nominal: &self.nominal,
        };
        let (border, interior) = (self.border.as_ref(), &mut self.interior);
        let factors = (bdf.factors()).filter(|_| !slopes || !has_hidden_rows(&at));
        factors.is_some_and(|f| interior.distance(&mut at, border, f, slopes) <= LEFT)
    }

    /// Makes an interpolated row consistent with the equations.
    pub(crate) fn correct_row(
        &mut self,
        bdf: &mut dyn Integrator,
        t: f64,
        (y, yp): &mut (Vec<f64>, Vec<f64>),
    ) {
        if !self.corrects_rows {
            return;
        }
        let mut at = Point {
            machine: &mut self.machine,
            t,
            y,
            yp,
            nominal: &self.nominal,
        };
        let (border, interior) = (self.border.as_ref(), &mut self.interior);
        let corrected = match bdf.factors() {
            Some(mut factors) => interior.correct(&mut at, border, &mut factors, self.slopes),
            None => false,
        };
        let complete = corrected && !(self.slopes && has_hidden_rows(&at));
        if complete || self.restart.refine(&mut at) || corrected {
            return;
        }
        let kept = (at.y.to_vec(), at.yp.to_vec());
        let (y, yp) = bdf.solution();
        at.y.copy_from_slice(y);
        at.yp.copy_from_slice(yp);
        set_states(&mut at, &kept.0);
        if !self.restart.refine(&mut at) {
            at.y.copy_from_slice(&kept.0);
            at.yp.copy_from_slice(&kept.1);
            self.uncorrected.get_or_insert((0, t)).0 += 1;
        }
    }

    /// What to say about rows that do not satisfy the equations.
    pub(crate) fn uncorrected_note(&self) -> Option<crate::Note> {
        self.uncorrected.map(|(rows, t)| crate::Note {
            text: format!(
                "output rows in which no solution of the algebraic equations was found, so that their variables are interpolated between steps: {rows}, the first at time = {t}"
            ),
        })
    }

    pub(crate) fn output_time(&self, settings: &Settings, k: u64) -> f64 {
        let t = self.origin + k as f64 * settings.interval;
        // The last instant is the stop time itself, not a rounding error beside it.
        if (t - settings.stop).abs() < 1e-9 * settings.interval {
            settings.stop
        } else {
            t
        }
    }

    pub(crate) fn row(&mut self, t: f64, sink: &mut dyn Sink) -> Result<(), SimError> {
        let clock = std::time::Instant::now();
        let result = sink
            .row(t, &self.machine, &self.y, &self.yp)
            .map_err(SimError::Output);
        self.seconds.output += clock.elapsed().as_secs_f64();
        result
    }
}

/// The values of all signals, for sinks.
pub fn gather(machine: &Machine, y: &[f64], yp: &[f64], places: &[Loc], values: &mut Vec<f64>) {
    values.clear();
    values.extend(places.iter().map(|&p| match p.bank() {
        Bank::Y => y[p.index()],
        Bank::Yp => yp[p.index()],
        Bank::Mem => machine.mem[p.index()],
        Bank::Out => f64::NAN,
    }));
}
