//! What the transformation did, for people and programs.
//!
//! In: the pieces, blocks and selected states of the transformation, and the DAE that came out. Out: the same facts as
//! texts in Modelica notation, with the user's names. Nothing here decides anything.

mod final_form;

use acausal_base::Diagnostic;
use acausal_expr::flat::{Equation, FlatModel};
use acausal_expr::{Exprs, Printer};
use acausal_structure::blt::Blocks;
use acausal_structure::segments::size_of;
use acausal_structure::state_selection::Selection;
use acausal_structure::{EqId, VarId as NodeId};
use acausal_symbolic::elements::domain_len;
use rustc_hash::FxHashSet;

use crate::Regularised;
use crate::aliases::Reduced;
use crate::segments::nodes::{Nodes, VariableNode};
use crate::state_selection::Structure;
pub use final_form::FinalForm;
use final_form::without_single;

/// Facts about the transformation.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Scalar equations and unknowns before.
    pub equations: u64,
    /// Scalar unknowns before.
    pub unknowns: u64,
    /// Scalar variables that equal others up to the sign and were taken out first, each with an equation: what follows is about the rest.
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
        let aliases = reduced.locals.iter().map(|l| domain_len(&l.domain) as u64);
        let aliases: u64 = aliases.sum();
        let texts = Texts::new(flat, nodes);
        let d = &nodes.differentiated;
        let length = |v: &NodeId| d.graph.vlen[v.index()];
        let differentiated_arrays = texts.differentiated_arrays();
        let most = differentiated_arrays.iter().map(|p| p.1).max().unwrap_or(0);
        let states: u64 = form.xd.iter().map(length).sum();
        let algebraic = form.unknowns() > states || !selection.explicit.is_empty();
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
            differentiated: texts.differentiated(),
            differentiated_arrays,
            steps: texts.steps(),
            blocks: texts.blocks(blocks, selection),
            states: selection.states.iter().map(|v| texts.name(*v)).collect(),
            form: FormReport {
                n: form.unknowns(),
                fd: form.fd,
                fc: form.fc,
                lambda: form.lambda.iter().map(length).sum(),
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

/// The texts of all equations and names.
struct Texts<'a> {
    flat: &'a FlatModel,
    nodes: &'a Nodes,
    equations: Vec<String>,
    integral: Vec<Option<EqId>>,
    /// Equations of one value of an iterator need a larger arena.
    grown: Option<Exprs>,
}

impl Texts<'_> {
    fn new<'a>(flat: &'a FlatModel, nodes: &'a Nodes) -> Texts<'a> {
        let mut grown = None;
        let equations = nodes.equations.iter();
        Texts {
            equations: equations
                .map(|e| equation_text(flat, &mut grown, &e.piece))
                .collect(),
            integral: nodes.differentiated.eq_integral(),
            flat,
            nodes,
            grown,
        }
    }

    fn name(&self, v: NodeId) -> String {
        node_name(self.flat, &self.nodes.variables[v.index()])
    }

    /// An equation of the differentiated system.
    fn equation(&self, e: EqId) -> String {
        let (mut root, mut times) = (e, 0);
        while let Some(i) = self.integral[root.index()] {
            root = i;
            times += 1;
        }
        let text = &self.equations[root.index()];
        match times {
            0 => text.clone(),
            n => format!("{text} (differentiated {})", count(n)),
        }
    }

    /// Differentiated pieces with how often.
    fn differentiated(&self) -> Vec<(String, usize)> {
        let d = &self.nodes.differentiated;
        let pieces = self.equations.iter().enumerate();
        pieces
            .map(|(k, text)| (text, d.differentiations(EqId::new(k))))
            .filter(|(_, n)| *n > 0)
            .map(|(text, n)| (text.clone(), n))
            .collect()
    }

    /// The same with pieces of one array equation taken together where they form a box.
    fn differentiated_arrays(&self) -> Vec<(String, usize)> {
        let mut pieces: Vec<(Equation, usize)> = Vec::new();
        for (k, e) in self.nodes.equations.iter().enumerate() {
            let times = self.nodes.differentiated.differentiations(EqId::new(k));
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
        let mut grown = self.grown.clone();
        let texts = pieces.iter();
        texts
            .map(|(e, n)| (equation_text(self.flat, &mut grown, e), *n))
            .collect()
    }

    fn steps(&self) -> Vec<StepReport> {
        let d = &self.nodes.differentiated;
        let steps = d.steps.iter().map(|s| StepReport {
            equations: s.equations.iter().map(|e| self.equation(*e)).collect(),
            size: s.equations.iter().map(|e| d.graph.elen[e.index()]).sum(),
            unknowns: s.variables.iter().map(|v| self.name(*v)).collect(),
            unknowns_size: s.variables.iter().map(|v| d.graph.vlen[v.index()]).sum(),
        });
        steps.collect()
    }

    fn blocks(&self, blocks: &Blocks, selection: &Selection) -> Vec<BlockReport> {
        let graph = &self.nodes.differentiated.graph;
        let in_sets = selection.linear.iter().flat_map(|l| &l.unknowns);
        let explicit: FxHashSet<NodeId> = (selection.explicit.iter().map(|p| &p.1))
            .chain(in_sets)
            .copied()
            .collect();
        let mut given_up = selection.given_up.clone();
        given_up.sort_by_key(|g| (g.variable, g.equation));
        given_up.dedup_by_key(|g| g.variable);
        let reasons = |unknowns: &[NodeId]| {
            let own = given_up.iter().filter(|g| unknowns.contains(&g.variable));
            own.map(|g| kept(&self.name(g.variable), &self.equation(g.equation), g.growth))
                .collect()
        };
        let report = |(equations, unknowns): (&[EqId], &[NodeId])| {
            let iterated = unknowns.iter().filter(|v| !explicit.contains(v));
            BlockReport {
                kept: reasons(unknowns),
                size: equations.iter().map(|e| graph.elen[e.index()]).sum(),
                unknowns: unknowns.iter().map(|v| self.name(*v)).collect(),
                torn: match equations.len() {
                    0 | 1 => Vec::new(),
                    _ => iterated.map(|v| self.name(*v)).collect(),
                },
                equations: equations.iter().map(|e| self.equation(*e)).collect(),
            }
        };
        blocks.iter().map(report).collect()
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
