//! Assertions (MLS 3.6 §8.3.7): they hold at every instant.
//!
//! Relations in the condition of an assertion are relations like all others: cells with event indicators. The integrator
//! stops where one changes, and the assertion is looked at when the event iteration has settled, so that a failure is
//! reported at its own instant and not at the next step. Conditions without relations that could be watched (`noEvent`,
//! assertions of functions) are looked at after every step and in every row.
//!
//! A failure ends the run; one of level `warning` is told once, when the condition becomes false. Assertions that ask for
//! `initial()` are looked at when the start has been solved as well; those of initial equations hold only there.

use acausal_compiled::{AssertCode, CompiledModel};
use acausal_expr::flat::{AssertionLevel, VarType};
use acausal_expr::{ExprId, Exprs, IterId, Node, Printer, Range, ScalarValue, ValueKind};

use super::{EventOutcome, EventState};
use crate::SimError;
use crate::machine::{Machine, ProgramId};

/// Variables whose values are told.
const SHOWN: usize = 6;

impl EventState {
    /// Checks the assertions that hold always; at the start only those that ask for it.
    pub fn check_asserts(
        &mut self,
        machine: &mut Machine,
        (t, y, yp): (f64, &[f64], &[f64]),
        initial: bool,
        outcome: &mut EventOutcome,
    ) -> Result<(), SimError> {
        let model = machine.model.clone();
        let mut first = 0;
        for (k, code) in model.events.asserts.iter().enumerate() {
            let known = first..first + code.len;
            first = known.end;
            // What is not assigned is no value at the start either.
            if initial && !code.initial && code.level != AssertionLevel::Unassigned {
                continue;
            }
            machine.run(ProgramId::Assert(k), y, yp);
            let holds: Vec<bool> = machine.out[..code.len].iter().map(|v| *v != 0.0).collect();
            let failing = &mut self.failing[known];
            let new = (0..code.len).find(|&p| !holds[p] && !failing[p]);
            for (failing, holds) in failing.iter_mut().zip(&holds) {
                *failing = !holds;
            }
            if let Some(point) = new {
                report(machine, code, point, (t, y, yp), outcome)?;
            }
        }
        Ok(())
    }
}

/// Number of scalar assertions.
pub(super) fn count(model: &CompiledModel) -> usize {
    model.events.asserts.iter().map(|a| a.len).sum()
}

/// A failed assertion is an error, or a warning if the model says so. `point` is the first one at which it fails.
pub(super) fn report(
    machine: &mut Machine,
    code: &AssertCode,
    point: usize,
    (t, y, yp): (f64, &[f64], &[f64]),
    outcome: &mut EventOutcome,
) -> Result<(), SimError> {
    machine.update_all(t, y, yp);
    let at = At::new(machine, &code.domain, point, (t, y, yp));
    let message = at.text(code.message);
    if code.level == AssertionLevel::Warning {
        outcome.warnings.push(format!("at time = {t}: {message}"));
        return Ok(());
    }
    Err(SimError::Assertion {
        t,
        unassigned: code.level == AssertionLevel::Unassigned,
        message,
        values: at.values(code),
        origin: code.origin,
    })
}

/// The text of a message with the values that it has now.
pub(crate) fn message_text(
    machine: &Machine,
    message: ExprId,
    domain: &[(IterId, Range)],
    point: usize,
    now: (f64, &[f64], &[f64]),
) -> String {
    At::new(machine, domain, point, now).text(message)
}

/// The values at one point of an assertion.
struct At<'a> {
    machine: &'a Machine,
    iterators: Vec<(IterId, i64)>,
    t: f64,
    y: &'a [f64],
    yp: &'a [f64],
}

impl<'a> At<'a> {
    fn new(
        machine: &'a Machine,
        domain: &[(IterId, Range)],
        point: usize,
        (t, y, yp): (f64, &'a [f64], &'a [f64]),
    ) -> At<'a> {
        let mut rest = point as i64;
        let mut iterators: Vec<(IterId, i64)> = Vec::new();
        for (iter, range) in domain.iter().rev() {
            iterators.push((*iter, range.at(rest % range.count)));
            rest /= range.count;
        }
        At {
            machine,
            iterators,
            t,
            y,
            yp,
        }
    }

    fn leaf(&self, x: &Exprs, e: ExprId, subs: &[i64]) -> Option<ScalarValue> {
        let model = &self.machine.model;
        match x.node(e) {
            Node::Time => Some(ScalarValue::Real(self.t)),
            Node::Iter(i) => (self.iterators.iter())
                .find(|a| a.0 == i)
                .map(|a| ScalarValue::Int(a.1)),
            Node::Var(a) if a.kind == ValueKind::Value => {
                let var = model.symbols.var(a.var);
                let k = element(&var.dims, subs)?;
                let output = model.outputs.iter().find(|o| o.var == a.var)?;
                let v = self.machine.value(output.place.at(k), self.y, self.yp);
                Some(match var.ty {
                    VarType::Integer | VarType::Enum(_) => ScalarValue::Int(v as i64),
                    VarType::Boolean => ScalarValue::Bool(v != 0.0),
                    _ => ScalarValue::Real(v),
                })
            }
            _ => None,
        }
    }

    /// The text of a message with the values that it has now. What cannot be evaluated is shown as it is written.
    fn text(&self, message: ExprId) -> String {
        let flat = &self.machine.model.symbols;
        flat.exprs
            .text(message, &mut |x, e, subs| self.leaf(x, e, subs))
            .unwrap_or_else(|_| Printer::new(flat).expr(message))
    }

    /// The variables of the condition with their values.
    fn values(&self, code: &AssertCode) -> Vec<(String, ScalarValue)> {
        let model = &self.machine.model;
        let exprs = &model.symbols.exprs;
        let mut shown: Vec<(String, ScalarValue)> = Vec::new();
        for (e, access) in exprs.accesses(code.condition) {
            if shown.len() == SHOWN {
                break;
            }
            let mut found = None;
            let mut leaf = |x: &Exprs, n: ExprId, subs: &[i64]| {
                let value = self.leaf(x, n, subs);
                if n == e {
                    let var = model.symbols.var(access.var);
                    found = element(&var.dims, subs).zip(value);
                }
                value
            };
            let evaluated = exprs.evaluate(e, &mut leaf).is_ok();
            let name = |k| model.element_name(access.var, access.kind, k);
            if let (true, Some((k, value))) = (evaluated, found) {
                let shows = matches!(
                    value,
                    ScalarValue::Real(_) | ScalarValue::Int(_) | ScalarValue::Bool(_)
                );
                let named = (name(k), value);
                if shows && !named.0.contains('$') && !shown.contains(&named) {
                    shown.push(named);
                }
            }
        }
        shown
    }
}

/// The position of an element by its subscripts.
fn element(dims: &[usize], subs: &[i64]) -> Option<usize> {
    let mut k = 0;
    for (&s, &d) in subs.iter().zip(dims) {
        k = k * d + usize::try_from(s - 1).ok().filter(|s| *s < d)?;
    }
    Some(k)
}
