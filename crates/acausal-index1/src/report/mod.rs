//! What the transformation did, for people and programs.
//!
//! In: the pieces, blocks and selected states of the transformation, and the DAE that came out. Out: the same facts as
//! texts in Modelica notation, with the user's names. Nothing here decides anything.

use acausal_expr::flat::{Equation, FlatModel, VarName};
use acausal_expr::{ExprId, Exprs, IterId, Kind, Printer, Range, Ty};
use acausal_structure::segments::size_of;
use acausal_structure::{EqId, VarId as NodeId};
use acausal_symbolic::Substitute;

use acausal_base::Diagnostic;

use crate::aliases::Reduced;
use crate::segments::nodes::VariableNode;
use crate::state_selection::Structure;
use crate::{Dae, Regularised};
use acausal_expr::unknown::{Role, RowKind, Unknown};

/// Facts about the transformation.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Scalar equations and unknowns before.
    pub equations: u64,
    /// Scalar unknowns before.
    pub unknowns: u64,
    /// Scalar variables that equal others up to the sign and were taken out first, each with an equation: what follows is about the rest. Small
    /// models are analysed with them.
    pub aliases: u64,
    /// Singularities of connection equations that were removed.
    pub regularised: Regularised,
    /// Warnings and remarks for the user.
    pub notes: Vec<Diagnostic>,
    /// Differentiated pieces of equations, as written, with how often.
    pub differentiated: Vec<(String, usize)>,
    /// The same with pieces of one array equation taken together where they form a box.
    pub differentiated_arrays: Vec<(String, usize)>,
    /// Why: every set of equations that was differentiated once, in order.
    pub steps: Vec<StepReport>,
    /// Blocks of the highest derivatives, in solving order.
    pub blocks: Vec<BlockReport>,
    /// Selected states.
    pub states: Vec<String>,
    /// The parts of the index-one form.
    pub form: FormReport,
    /// One more than the largest number of differentiations, or 0 for an ODE.
    pub structural_index: usize,
    /// The passes in order with the seconds that each took.
    pub passes: Vec<(&'static str, f64)>,
}

/// An over-determined set of equations: they hold fewer unknown highest derivatives than they are.
#[derive(Clone, Debug, Default)]
pub struct StepReport {
    /// The equations, differentiated once by this step.
    pub equations: Vec<String>,
    /// Number of scalar equations.
    pub size: u64,
    /// The highest derivatives in them.
    pub unknowns: Vec<String>,
    /// Number of scalar unknowns.
    pub unknowns_size: u64,
}

/// A block.
#[derive(Clone, Debug, Default)]
pub struct BlockReport {
    /// Number of scalar equations.
    pub size: u64,
    /// Its unknowns.
    pub unknowns: Vec<String>,
    /// Unknowns that are iterated on.
    pub torn: Vec<String>,
    /// Its equations.
    pub equations: Vec<String>,
    /// Why unknowns that an equation could be solved for are iterated on all the same.
    pub kept: Vec<String>,
}

/// Counts of the special index-one form (17).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct FormReport {
    pub n: u64,
    pub fd: u64,
    pub fc: u64,
    pub lambda: u64,
    pub mu: u64,
}

impl FormReport {
    /// Adds the counts of unknowns and equations that come on top.
    pub(crate) fn add(&mut self, more: FormReport) {
        self.n += more.n;
        self.fd += more.fd;
        self.fc += more.fc;
        self.lambda += more.lambda;
        self.mu += more.mu;
    }
}

/// The DAE that the integrator gets, in Modelica notation.
#[derive(Clone, Debug, Default)]
pub struct FinalForm {
    /// Unknowns of the integrator, with what they are to it.
    pub unknowns: Vec<(Role, String)>,
    /// Local assignments, in evaluation order.
    pub locals: Vec<String>,
    /// Residuals, with their part of the form.
    pub residuals: Vec<(RowKind, String)>,
}

impl FinalForm {
    /// Writes a DAE down.
    pub fn of(dae: &Dae) -> FinalForm {
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
fn readable(dae: &Dae) -> FlatModel {
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
        .filter(|u| u.role == Role::Mu)
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
fn without_single<const N: usize>(
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

/// An equation, for which the arena may have to grow.
fn equation_text(flat: &FlatModel, grown: &mut Option<Exprs>, eq: &Equation) -> String {
    if eq.domain.iter().all(|(_, r)| r.count != 1) {
        return Printer::new(flat).equation(eq);
    }
    let exprs = grown.get_or_insert_with(|| flat.exprs.clone());
    let (domain, [lhs, rhs]) = without_single(exprs, &eq.domain, [eq.lhs, eq.rhs]);
    let origin = eq.origin;
    Printer::with_exprs(flat, exprs).equation(&Equation {
        domain: domain.into(),
        lhs,
        rhs,
        origin,
    })
}

/// Extends a piece of an equation by the next piece of the same equation, if that gives a box.
fn join(a: &mut Equation, b: &Equation) -> bool {
    if (a.lhs, a.rhs, a.origin) != (b.lhs, b.rhs, b.origin) || a.domain.len() != b.domain.len() {
        return false;
    }
    let differs = |k: &usize| a.domain[*k] != b.domain[*k];
    let dimensions: Vec<usize> = (0..a.domain.len()).filter(differs).collect();
    let &[k] = dimensions.as_slice() else {
        return false;
    };
    let ((i, x), (j, y)) = (a.domain[k], b.domain[k]);
    let adjacent = i == j && x.at(x.count) == y.start && (y.count == 1 || x.step == y.step);
    if adjacent {
        a.domain[k].1.count += y.count;
    }
    adjacent
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
            Kind::Der(k) => k as usize,
            Kind::Value | Kind::Pre => 0,
        };
        format!("{}{name}{}", "der(".repeat(order), ")".repeat(order))
    };
    match (u.value, u.derivative) {
        (Some(q), _) => quantity(q),
        (None, Some(q)) => format!("integral of {}", quantity(q)),
        (None, None) => "integral of a multiplier".to_string(),
    }
}

/// `once`, `twice`, `3 times`.
fn count(times: usize) -> String {
    match times {
        1 => "once".to_string(),
        2 => "twice".to_string(),
        n => format!("{n} times"),
    }
}

/// The name of a piece of a variable.
pub fn node_name(flat: &FlatModel, v: &VariableNode) -> String {
    let texts: Vec<String> = v
        .spans
        .iter()
        .zip(&flat.var(v.var).dims)
        .map(|(s, &d)| {
            if s.size() == 1 {
                s.lo.to_string()
            } else if s.lo == 1 && s.hi == d as i64 {
                ":".to_string()
            } else {
                format!("{}:{}", s.lo, s.hi)
            }
        })
        .collect();
    let whole = texts.iter().all(|t| t == ":");
    let name = flat
        .var(v.var)
        .name
        .with_subscripts(if whole { &[] } else { &texts });
    format!(
        "{}{name}{}",
        "der(".repeat(v.order as usize),
        ")".repeat(v.order as usize)
    )
}

impl Report {
    pub(crate) fn new(flat: &FlatModel, structure: &Structure, reduced: &Reduced) -> Report {
        let Structure {
            nodes,
            blocks,
            selection,
            form,
            ..
        } = structure;
        let aliases = reduced.locals.len() as u64;
        let d = &nodes.differentiated;
        let name = |v: NodeId| node_name(flat, &nodes.variables[v.index()]);
        let mut grown = None;
        let texts: Vec<String> = nodes
            .equations
            .iter()
            .map(|e| equation_text(flat, &mut grown, &e.piece))
            .collect();
        let mut pieces: Vec<(Equation, usize)> = Vec::new();
        for (k, e) in nodes.equations.iter().enumerate() {
            let times = d.differentiations(EqId::new(k));
            if times == 0 {
                continue;
            }
            let joined = pieces
                .last_mut()
                .is_some_and(|(last, n)| *n == times && join(last, &e.piece));
            if !joined {
                pieces.push((e.piece.clone(), times));
            }
        }
        let most = pieces.iter().map(|p| p.1).max().unwrap_or(0);
        let differentiated_arrays = pieces
            .iter()
            .map(|(e, n)| (equation_text(flat, &mut grown, e), *n))
            .collect();
        let differentiated = texts
            .iter()
            .enumerate()
            .map(|(k, text)| (text, d.differentiations(EqId::new(k))))
            .filter(|(_, n)| *n > 0)
            .map(|(text, n)| (text.clone(), n))
            .collect();
        let integral = d.eq_integral();
        let text = |e: EqId| {
            let (mut root, mut times) = (e, 0);
            while let Some(i) = integral[root.index()] {
                root = i;
                times += 1;
            }
            match times {
                0 => texts[root.index()].clone(),
                n => format!("{} (differentiated {})", texts[root.index()], count(n)),
            }
        };
        let steps = d
            .steps
            .iter()
            .map(|s| StepReport {
                equations: s.equations.iter().map(|e| text(*e)).collect(),
                size: s.equations.iter().map(|e| d.graph.elen[e.index()]).sum(),
                unknowns: s.variables.iter().map(|v| name(*v)).collect(),
                unknowns_size: s.variables.iter().map(|v| d.graph.vlen[v.index()]).sum(),
            })
            .collect();
        let explicit: rustc_hash::FxHashSet<NodeId> = selection
            .explicit
            .iter()
            .map(|p| p.1)
            .chain(selection.linear.iter().flat_map(|l| l.unknowns.clone()))
            .collect();
        let mut given_up = selection.given_up.clone();
        given_up.sort_by_key(|g| (g.variable, g.equation));
        given_up.dedup_by_key(|g| g.variable);
        let reasons = |unknowns: &[NodeId]| {
            let own = given_up.iter().filter(|g| unknowns.contains(&g.variable));
            own.map(|g| kept(&name(g.variable), &text(g.equation), g.growth))
                .collect()
        };
        let block_reports = blocks
            .iter()
            .map(|(equations, unknowns)| BlockReport {
                kept: reasons(unknowns),
                size: equations.iter().map(|e| d.graph.elen[e.index()]).sum(),
                unknowns: unknowns.iter().map(|v| name(*v)).collect(),
                torn: if equations.len() > 1 {
                    unknowns
                        .iter()
                        .filter(|v| !explicit.contains(v))
                        .map(|v| name(*v))
                        .collect()
                } else {
                    Vec::new()
                },
                equations: equations.iter().map(|e| text(*e)).collect(),
            })
            .collect();
        let algebraic = form.unknowns()
            > form.xd.iter().map(|v| d.graph.vlen[v.index()]).sum::<u64>()
            || !selection.explicit.is_empty();
        Report {
            equations: aliases
                + (0..d.original_equations)
                    .map(|e| d.graph.elen[e])
                    .sum::<u64>(),
            aliases,
            unknowns: aliases
                + (nodes.variables.iter())
                    .filter(|v| v.order == 0)
                    .map(|v| size_of(&v.spans))
                    .sum::<u64>(),
            regularised: Regularised::default(),
            notes: Vec::new(),
            differentiated,
            differentiated_arrays,
            steps,
            blocks: block_reports,
            states: selection.states.iter().map(|v| name(*v)).collect(),
            form: FormReport {
                n: form.unknowns(),
                fd: form.fd,
                fc: form.fc,
                lambda: form.lambda.iter().map(|v| d.graph.vlen[v.index()]).sum(),
                mu: form.mu,
            },
            passes: Vec::new(),
            structural_index: if most > 0 {
                most + 1
            } else {
                usize::from(algebraic)
            },
        }
    }
}

/// Why a variable is not computed from an equation of its loop.
fn kept(variable: &str, equation: &str, growth: Option<f64>) -> String {
    let why = match growth {
        Some(g) if g.is_finite() => format!("could make errors {g:.0} times larger"),
        Some(_) => "would make errors grow along the array".to_string(),
        None => "could amplify errors by factors that are not known before the run".to_string(),
    };
    format!("{variable} stays an unknown: to solve `{equation}` for it {why}")
}
