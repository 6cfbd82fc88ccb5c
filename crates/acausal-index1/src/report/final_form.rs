//! The index-one DAE in Modelica notation.

use acausal_expr::flat::{FlatModel, VarName};
use acausal_expr::unknown::{RowKind, Unknown, UnknownRole};
use acausal_expr::{ExprId, Exprs, IterId, Printer, Range, Ty, ValueKind};
use acausal_symbolic::Substitute;

use crate::IndexOneDae;

/// The DAE that the integrator gets, in Modelica notation.
#[derive(Clone, Debug, Default)]
pub struct FinalForm {
    /// Unknowns of the integrator, with what they are to it.
    pub unknowns: Vec<(UnknownRole, String)>,
    /// Local assignments, in evaluation order.
    pub locals: Vec<String>,
    /// Residuals, with their part of the form.
    pub residuals: Vec<(RowKind, String)>,
}

impl FinalForm {
    /// Writes a DAE down.
    pub fn of(dae: &IndexOneDae) -> FinalForm {
        let flat = &readable(dae);
        let mut exprs = flat.exprs.clone();
        let mut locals = Vec::new();
        for l in &dae.locals {
            let target = exprs.access(l.target, Ty::Real);
            let (domain, [target, value]) =
                without_single(&mut exprs, &l.domain, [target, l.value]);
            let printer = Printer::with_exprs(flat, &exprs);
            let text = format!("{} := {}", printer.expr(target), printer.expr(value));
            locals.push(looped(&exprs, &domain, text));
        }
        let mut residuals = Vec::new();
        for r in &dae.residuals {
            if dae.unknowns.iter().all(|u| is_dummy(flat, u)) {
                continue;
            }
            let (domain, [value]) = without_single(&mut exprs, &r.domain, [r.value]);
            let text = format!("0 = {}", Printer::with_exprs(flat, &exprs).expr(value));
            residuals.push((r.kind, looped(&exprs, &domain, text)));
        }
        FinalForm {
            unknowns: dae
                .unknowns
                .iter()
                .filter(|u| !is_dummy(flat, u))
                .map(|u| (u.role, unknown_name(flat, u)))
                .collect(),
            locals,
            residuals,
        }
    }
}

/// The unknown that stands in for those of a model without any.
fn is_dummy(flat: &FlatModel, u: &Unknown) -> bool {
    u.value.is_some_and(|(v, _)| flat.var(v).auxiliary)
}

/// The model with names for people: multipliers are `mu1`, `mu2`, ...; sums that are computed apart are `sum1`, ...; the
/// derivative of `x` that the integrator approximates is `slope.x`, elements of `x` that `when` assigns are `when.x`. A name that the user has taken gets a line below it.
fn readable(dae: &IndexOneDae) -> FlatModel {
    let mut flat = dae.flat.clone();
    let taken: rustc_hash::FxHashSet<String> = flat
        .vars
        .iter()
        .filter(|v| !v.auxiliary)
        .filter_map(|v| v.name.parts().first().map(|p| p.0.to_string()))
        .collect();
    let multipliers: rustc_hash::FxHashSet<acausal_expr::VarId> = dae
        .unknowns
        .iter()
        .filter(|u| u.role == UnknownRole::Mu)
        .filter_map(|u| u.derivative.map(|q| q.0))
        .collect();
    let mut counts = [0, 0];
    for (k, v) in flat.vars.iter_mut().enumerate() {
        let mut parts = v.name.parts();
        let Some((first, _)) = parts.first_mut().filter(|_| v.auxiliary) else {
            continue;
        };
        let named = |prefix: &str| first.strip_prefix('$').filter(|n| n.starts_with(prefix));
        let mut name = match named("slope.").or_else(|| named("when.")) {
            Some(name) => name.to_string(),
            None => {
                let is_mu = multipliers.contains(&acausal_expr::VarId(k as u32));
                let number = &mut counts[usize::from(is_mu)];
                *number += 1;
                format!("{}{number}", if is_mu { "mu" } else { "sum" })
            }
        };
        while taken.contains(&name) {
            name.push('_');
        }
        *first = acausal_base::Name::new(&name);
        v.name = VarName::new(&parts);
    }
    flat
}

type Domain = [(IterId, Range)];

/// Iterators with one value are that value: `r[2] = n[2]*s` instead of a loop over `2:2`.
pub(super) fn without_single<const N: usize>(
    exprs: &mut Exprs,
    domain: &Domain,
    sides: [ExprId; N],
) -> (Vec<(IterId, Range)>, [ExprId; N]) {
    let mut values = Vec::new();
    let mut rest = Vec::new();
    for &(i, r) in domain {
        if r.count == 1 {
            values.push((i, exprs.int(r.start)));
        } else {
            rest.push((i, r));
        }
    }
    if values.is_empty() {
        return (rest, sides);
    }
    (rest, sides.map(|s| exprs.substitute_iters(s, &values)))
}

/// A text under its iterators.
fn looped(exprs: &Exprs, domain: &Domain, text: String) -> String {
    if domain.is_empty() {
        return text;
    }
    let heads: Vec<String> = domain
        .iter()
        .map(|(i, r)| {
            let middle = match r.step {
                1 => String::new(),
                step => format!("{step}:"),
            };
            format!(
                "{} in {}:{middle}{}",
                exprs.iter_name(*i),
                r.start,
                r.last()
            )
        })
        .collect();
    format!("for {} loop {text}; end for", heads.join(", "))
}

/// What a component of `x` is; the integrals of multipliers are called after what they integrate.
fn unknown_name(flat: &FlatModel, u: &Unknown) -> String {
    let quantity = |(var, kind): acausal_expr::unknown::Quantity| {
        let v = flat.var(var);
        let name = match (&u.elements, v.dims.len()) {
            (Some(part), _) if part.len() == 1 => {
                let mut rest = part.at(0);
                let mut subs = vec![0; v.dims.len()];
                for (s, &d) in subs.iter_mut().zip(&v.dims).rev() {
                    *s = rest % d + 1;
                    rest /= d;
                }
                v.name.element(&subs)
            }
            (Some(part), 1) => {
                let (first, last) = (part.at(0) + 1, part.at(part.len() - 1) + 1);
                v.name.with_subscripts(&[format!("{first}:{last}")])
            }
            (Some(part), _) => format!("{} ({} elements)", v.name.plain(), part.len()),
            (None, _) => v.name.plain(),
        };
        let order = match kind {
            ValueKind::Der(k) => k as usize,
            ValueKind::Value | ValueKind::Pre => 0,
        };
        format!("{}{name}{}", "der(".repeat(order), ")".repeat(order))
    };
    match (u.value, u.derivative) {
        (Some(q), _) => quantity(q),
        (None, Some(q)) => format!("integral of {}", quantity(q)),
        (None, None) => "integral of a multiplier".to_string(),
    }
}
