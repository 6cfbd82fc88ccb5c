//! Values of the attributes `start`, `fixed` and `nominal` before the start.

use acausal_compiled::CompiledModel;
use acausal_expr::ValueKind;
use acausal_expr::unknown::UnknownRole;
use acausal_jit::kernel::Bank;

use crate::SimError;
use crate::machine::Machine;

/// What is known about each component of `x`, its derivative and each free parameter before the start.
pub(crate) struct StartData {
    /// Start values.
    pub y: Vec<f64>,
    /// Guesses for the derivatives.
    pub yp: Vec<f64>,
    /// Nominal values, not zero.
    pub nominal: Vec<f64>,
    /// `fixed = true`, and the condition is not a row of the initial system.
    pub fixed: Vec<bool>,
    /// A start value is written in the model.
    pub given: Vec<bool>,
    /// How much the component is preferred as a state, by its `stateSelect`.
    pub preference: Vec<u8>,
    /// Places of the free parameters in `Mem`.
    pub free: Vec<usize>,
    /// Which of them are unknown: `fixed = false`.
    pub unknown: Vec<bool>,
}

/// Collects start, nominal and fixed attributes by component of `x`.
pub(crate) fn start_data(machine: &Machine) -> Result<StartData, SimError> {
    let model = &machine.model;
    let n = model.n;
    let mut data = StartData {
        y: vec![0.0; n],
        yp: vec![0.0; n],
        nominal: vec![1.0; n],
        fixed: vec![false; n],
        given: vec![false; n],
        preference: vec![0; n],
        free: Vec::new(),
        unknown: Vec::new(),
    };
    let mut i = 0;
    for u in &model.unknowns {
        if let Some((var, ValueKind::Value)) = u.value {
            let pick = |base: Option<&usize>, k: usize| base.map(|b| machine.mem[b + k]);
            let by_row = model.has_start_rows(var);
            let preference = model.symbols.var(var).state_select as u8;
            for j in 0..u.len {
                let k = u.elements.as_ref().map_or(j, |e| e.at(j));
                if let Some(v) = pick(model.start_of.get(&var), k) {
                    if !v.is_finite() {
                        let span = model.symbols.var(var).span;
                        return Err(SimError::StartNotFinite {
                            name: model.unknown_name(i + j),
                            span,
                        });
                    }
                    data.y[i + j] = v;
                    data.given[i + j] = true;
                }
                if let Some(v) = pick(model.nominal_of.get(&var), k)
                    && v.is_finite()
                    && v != 0.0
                {
                    data.nominal[i + j] = v.abs();
                }
                let fixed = pick(model.fixed_of.get(&var), k).is_some_and(|v| v != 0.0);
                data.fixed[i + j] = fixed && !by_row;
                data.preference[i + j] = preference;
            }
        }
        // A multiplier is the derivative of its integral: its start value is a guess there.
        if let Some((var, ValueKind::Value)) = u.derivative
            && let Some(&base) = model.start_of.get(&var)
        {
            for j in 0..u.len {
                let k = u.elements.as_ref().map_or(j, |e| e.at(j));
                let guess = machine.mem[base + k];
                if guess.is_finite() {
                    data.yp[i + j] = guess;
                }
            }
        }
        i += u.len;
    }
    aliases(machine, &mut data);
    for f in &model.initial.free {
        let fixed = model.fixed_of.get(&f.var);
        for k in 0..f.len {
            data.free.push(f.base + k);
            let value = fixed.map_or(1.0, |b| machine.mem[b + k]);
            data.unknown.push(value == 0.0);
        }
    }
    Ok(data)
}

/// Start values written for another name of an unknown are guesses where it has none of its own.
fn aliases(machine: &Machine, data: &mut StartData) {
    let model = &machine.model;
    let mut slopes = vec![false; model.n];
    for alias in &model.initial.aliases {
        let Some(&base) = model.start_of.get(&alias.var) else {
            continue;
        };
        let sign = if alias.negative { -1.0 } else { 1.0 };
        for (&e, &place) in alias.elements.iter().zip(&alias.places) {
            let v = sign * machine.mem[base + e as usize];
            let (values, given) = match place.bank() {
                Bank::Y => (&mut data.y, &mut data.given),
                _ => (&mut data.yp, &mut slopes),
            };
            let k = place.index();
            if v.is_finite() && !given[k] {
                values[k] = v;
                given[k] = true;
            }
        }
    }
}

/// The role of each component of `x`.
pub(crate) fn roles(model: &CompiledModel) -> Vec<UnknownRole> {
    let mut roles = Vec::with_capacity(model.n);
    for u in &model.unknowns {
        roles.extend(std::iter::repeat_n(u.role, u.len));
    }
    roles
}
