//! Output rows with few signals of a large model.
//!
//! A row of a model with a million cells costs as much as a step if all its variables are computed, and most of them are not asked
//! for: `--observe` and plots choose a few. Here a row computes what they depend on: some elements of the interpolated unknowns and some
//! repetitions of the local assignments ([`acausal_jit::demand()`]).
//!
//! Where some of them are algebraic unknowns or depend on derivatives, a whole row in the middle of the step decides whether the interpolated ones will do ([`crate::output`]).
//!
//! Only where nobody else looks at the variables between two steps (nothing discrete, no assertions). What is not computed is not watched
//! for values that are not finite either, before the last row, in which everything is computed.

use acausal_compiled::Loc;
use acausal_expr::unknown::UnknownRole;
use acausal_jit::kernel::Bank;
use acausal_jit::{BoundProgram, demand};
use acausal_solver::Integrator;

use crate::SimError;
use crate::initial::roles;
use crate::machine::Machine;

/// Rows that need more than one of so many unknowns, or repetitions, are computed as a whole.
const LARGEST_SHARE: usize = 20;

/// What a row with few signals needs.
pub(crate) struct SelectedSignals {
    wanted: Vec<Loc>,
    /// The unknowns, ascending.
    unknowns: Vec<usize>,
    /// Some of them are not states.
    pub algebraic: bool,
    /// Some of them are derivatives, or depend on such.
    pub slopes: bool,
    locals: BoundProgram,
}

impl SelectedSignals {
    /// For the places that a sink wants; nothing if they need too much.
    pub fn new(machine: &Machine, wanted: Vec<Loc>) -> Result<Option<SelectedSignals>, SimError> {
        let model = &machine.model;
        let most = model.n / LARGEST_SHARE;
        if model.n < machine.scale.selected_rows_from || wanted.len() > most {
            return Ok(None);
        }
        let program = [&model.locals[..], &model.other_locals[..]].concat();
        let of = |bank: Bank| wanted.iter().filter(move |l| l.bank() == bank);
        let places: Vec<usize> = of(Bank::Mem).map(|l| l.index()).collect();
        let Some(part) = demand(&program, &places, most) else {
            return Ok(None);
        };
        let slopes = !part.yp.is_empty() || of(Bank::Yp).next().is_some();
        let direct = of(Bank::Y).chain(of(Bank::Yp)).map(|l| l.index());
        let mut unknowns: Vec<usize> = direct.chain(part.y).chain(part.yp).collect();
        unknowns.sort_unstable();
        unknowns.dedup();
        let locals = machine.bind_locals(&part.program)?;
        let roles = roles(model);
        Ok((unknowns.len() <= most).then_some(SelectedSignals {
            algebraic: unknowns.iter().any(|&k| roles[k] != UnknownRole::State),
            slopes,
            wanted,
            unknowns,
            locals,
        }))
    }

    /// Computes what a row at time `t` needs, in the buffers and in the memory of the machine; false if something is not finite.
    pub fn compute(
        &self,
        machine: &mut Machine,
        bdf: &dyn Integrator,
        t: f64,
        (y, yp): (&mut [f64], &mut [f64]),
    ) -> bool {
        bdf.interpolate_some(t, &self.unknowns, y, yp);
        machine.update_part(t, &self.locals, y, yp);
        let finite = |&l: &Loc| machine.value(l, y, yp).is_finite();
        self.wanted.iter().all(finite)
    }
}
