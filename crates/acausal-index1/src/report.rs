//! What the transformation did, for people and programs.
//!
//! In: the pieces, blocks and selected states of the transformation, and the DAE that came out. Out: the same facts as
//! texts in Modelica notation, with the user's names. Nothing here decides anything.

use acausal_expr::flat::FlatModel;
use acausal_expr::{IterId, Kind, Range};
use acausal_structure::blt::Blocks;
use acausal_structure::segments::size_of;
use acausal_structure::state_selection::{Form, Selection, Sorted};
use acausal_structure::{EqId, VarId as NodeId};

use crate::nodes::{Nodes, VariableNode};
use crate::{Dae, Regularised, Role, RowKind, Unknown};

/// Facts about the transformation.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Scalar equations and unknowns before.
    pub equations: u64,
    /// Scalar unknowns before.
    pub unknowns: u64,
    /// Singularities of connection equations that were removed.
    pub regularised: Regularised,
    /// Differentiated equations, as written, with how often.
    pub differentiated: Vec<(String, usize)>,
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
        let flat = &dae.flat;
        let printer = acausal_expr::Printer::new(flat);
        FinalForm {
            unknowns: dae
                .unknowns
                .iter()
                .map(|u| (u.role, unknown_name(flat, u)))
                .collect(),
            locals: dae
                .locals
                .iter()
                .map(|l| {
                    let text = format!("{} := {}", printer.access(l.target), printer.expr(l.value));
                    looped(flat, &l.domain, text)
                })
                .collect(),
            residuals: dae
                .residuals
                .iter()
                .map(|r| {
                    (
                        r.kind,
                        looped(flat, &r.domain, format!("0 = {}", printer.expr(r.value))),
                    )
                })
                .collect(),
        }
    }
}

/// A text under its iterators.
fn looped(flat: &FlatModel, domain: &[(IterId, Range)], text: String) -> String {
    if domain.is_empty() {
        return text;
    }
    let heads: Vec<String> = domain
        .iter()
        .map(|(i, r)| {
            let middle = if r.step == 1 {
                String::new()
            } else {
                format!("{}:", r.step)
            };
            format!(
                "{} in {}:{middle}{}",
                flat.exprs.iter_name(*i),
                r.start,
                r.last()
            )
        })
        .collect();
    format!("for {} loop {text}; end for", heads.join(", "))
}

/// What a component of `x` is; the integrals of multipliers are called after what they integrate.
fn unknown_name(flat: &FlatModel, u: &Unknown) -> String {
    let quantity = |(var, kind): crate::Quantity| {
        let v = flat.var(var);
        let name = match (&u.elements, v.dims.len()) {
            (Some(list), _) if list.len() == 1 => {
                let mut rest = list[0] as usize;
                let mut subs = vec![0; v.dims.len()];
                for (s, &d) in subs.iter_mut().zip(&v.dims).rev() {
                    *s = rest % d + 1;
                    rest /= d;
                }
                v.name.element(&subs)
            }
            (Some(list), 1) if list.windows(2).all(|w| w[1] == w[0] + 1) => {
                let (first, last) = (list[0] + 1, list[list.len() - 1] + 1);
                v.name.with_subscripts(&[format!("{first}:{last}")])
            }
            (Some(list), _) => format!("{} ({} elements)", v.name.plain(), list.len()),
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
    pub(crate) fn new(
        flat: &FlatModel,
        nodes: &Nodes,
        blocks: &Blocks,
        selection: &Selection,
        sorted: &Sorted,
        form: &Form,
    ) -> Report {
        let d = &nodes.differentiated;
        let printer = acausal_expr::Printer::new(flat);
        let name = |v: NodeId| node_name(flat, &nodes.variables[v.index()]);
        let mut differentiated = Vec::new();
        let mut most = 0;
        for (k, e) in nodes.equations.iter().enumerate() {
            let times = d.differentiations(EqId::new(k));
            if times > 0 {
                most = most.max(times);
                differentiated.push((printer.equation(&e.piece), times));
            }
        }
        let integral = d.eq_integral();
        let text = |e: EqId| {
            let (mut root, mut times) = (e, 0);
            while let Some(i) = integral[root.index()] {
                root = i;
                times += 1;
            }
            let mut t = printer.equation(&nodes.equations[root.index()].piece);
            if times > 0 {
                t = format!("{t} (differentiated {})", count(times));
            }
            t
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
        let block_reports = blocks
            .iter()
            .map(|(equations, unknowns)| BlockReport {
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
        let _ = sorted;
        let algebraic = form.unknowns()
            > form.xd.iter().map(|v| d.graph.vlen[v.index()]).sum::<u64>()
            || !selection.explicit.is_empty();
        Report {
            equations: (0..d.original_equations).map(|e| d.graph.elen[e]).sum(),
            unknowns: nodes
                .variables
                .iter()
                .filter(|v| v.order == 0)
                .map(|v| size_of(&v.spans))
                .sum(),
            regularised: Regularised::default(),
            differentiated,
            steps,
            blocks: block_reports,
            states: selection.states.iter().map(|v| name(*v)).collect(),
            form: FormReport {
                n: form.unknowns(),
                // Slopes that are given by an equation are relations too; the form counts those between states.
                fd: form.fd
                    + crate::emit::slope_relations(nodes, selection)
                        .iter()
                        .filter(|r| !form.der_relations.contains(r))
                        .map(|(v, _)| d.graph.vlen[v.index()])
                        .sum::<u64>(),
                fc: form.fc,
                lambda: form.lambda.iter().map(|v| d.graph.vlen[v.index()]).sum(),
                mu: form.mu,
            },
            structural_index: if most > 0 {
                most + 1
            } else {
                usize::from(algebraic)
            },
        }
    }
}
