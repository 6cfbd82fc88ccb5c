//! Values of parameters before the start: finite, and Integers that are exact.

use acausal_expr::flat::VarType;
use acausal_expr::{LARGEST_INTEGER, ValueKind};

use crate::SimError;
use crate::machine::Machine;

/// Looks at the values of all parameters, once they have been evaluated. What a simulation makes of one that is not a number is arbitrary: a
/// relation with it is false, whatever it says.
pub(crate) fn check_parameters(machine: &Machine) -> Result<(), SimError> {
    let model = &machine.model;
    for (id, var) in model.symbols.var_ids() {
        if !var.is_parameter() || var.auxiliary || var.is_empty() {
            continue;
        }
        let Some(base) = model.region(id, ValueKind::Value) else {
            continue;
        };
        let values = &machine.mem[base..base + var.len()];
        let wrong =
            |v: &f64| !v.is_finite() || var.ty == VarType::Integer && v.abs() > LARGEST_INTEGER;
        if let Some(k) = values.iter().position(wrong) {
            return Err(SimError::Parameter {
                name: model.element_name(id, ValueKind::Value, k),
                value: values[k],
                span: var.span,
            });
        }
    }
    Ok(())
}
