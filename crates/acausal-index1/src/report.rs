//! What the transformation did, for people and programs.

use acausal_expr::flat::FlatModel;
use acausal_structure::blt::Blocks;
use acausal_structure::segments::size_of;
use acausal_structure::state_selection::{Form, Selection, Sorted};
use acausal_structure::{EqId, VarId as NodeId};

use crate::Regularised;
use crate::nodes::{Nodes, VariableNode};

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
    /// Blocks of the highest derivatives, in solving order.
    pub blocks: Vec<BlockReport>,
    /// Selected states.
    pub states: Vec<String>,
    /// The parts of the index-one form.
    pub form: FormReport,
    /// One more than the largest number of differentiations, or 0 for an ODE.
    pub structural_index: usize,
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
    let name = flat.var(v.var).name.with_subscripts(if whole { &[] } else { &texts });
    format!("{}{name}{}", "der(".repeat(v.order as usize), ")".repeat(v.order as usize))
}

impl Report {
    pub(crate) fn new(flat: &FlatModel, nodes: &Nodes, blocks: &Blocks, selection: &Selection, sorted: &Sorted, form: &Form) -> Report {
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
                t = format!("{t} (differentiated {times} times)");
            }
            t
        };
        let explicit: rustc_hash::FxHashSet<NodeId> =
            selection.explicit.iter().map(|p| p.1).chain(selection.linear.iter().flat_map(|l| l.unknowns.clone())).collect();
        let block_reports = blocks
            .iter()
            .map(|(equations, unknowns)| BlockReport {
                size: equations.iter().map(|e| d.graph.elen[e.index()]).sum(),
                unknowns: unknowns.iter().map(|v| name(*v)).collect(),
                torn: if equations.len() > 1 {
                    unknowns.iter().filter(|v| !explicit.contains(v)).map(|v| name(*v)).collect()
                } else {
                    Vec::new()
                },
                equations: equations.iter().map(|e| text(*e)).collect(),
            })
            .collect();
        let _ = sorted;
        let algebraic = form.unknowns() > form.xd.iter().map(|v| d.graph.vlen[v.index()]).sum::<u64>() || !selection.explicit.is_empty();
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
            structural_index: if most > 0 { most + 1 } else { usize::from(algebraic) },
        }
    }
}
