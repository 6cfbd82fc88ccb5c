//! Segments as nodes: the differentiated system that the array analysis found, as a graph of array pieces.
//!
//! The analysis of `acausal_structure::segments` cuts equations and variables into boxes that behave alike. Each box of
//! an equation and each box of a variable that one of them determines becomes a node with a length; Pantelides, blocks,
//! state selection and sorting then run on these few nodes whatever the array lengths are.

use acausal_expr::flat::{Equation, FlatModel};
use acausal_expr::{ExprId, Range, ThinVec, VarId};
use acausal_structure::flow::Graph;
use acausal_structure::pantelides::{Differentiated, NodeDae, pantelides};
use acausal_structure::segments::{Analysis, Cut, Directions, Index, Span, size_of};
use acausal_structure::{EqId, Rows, VarId as NodeId};
use rustc_hash::FxHashMap;

use crate::aliases::breadth_first::LEAST;
use crate::segments::incidence::{Incidence, is_unknown, order_of};

/// A piece of a variable: a box of its elements at one derivative order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableNode {
    /// The flat variable.
    pub var: VarId,
    /// Derivative order.
    pub order: u8,
    /// Its elements, per dimension, from 1.
    pub spans: ThinVec<Span>,
}

/// A piece of an equation.
#[derive(Clone, Debug)]
pub struct EquationNode {
    /// Number of the equation it is a piece of.
    pub source: usize,
    /// The equation restricted to the piece.
    pub piece: Equation,
    /// The box of its iterators, counted from 0.
    pub spans: ThinVec<Span>,
    /// Per access of the flat equation: the box of elements that the piece touches and the access itself.
    pub touched: Box<[Touched]>,
}

/// The elements that a piece of an equation touches through one access.
#[derive(Clone, Debug)]
pub struct Touched {
    /// Chain (order 0) variable.
    pub var: VarId,
    /// Derivative order.
    pub order: u8,
    /// Box of elements.
    pub spans: ThinVec<Span>,
    /// Its index expressions over the iterators.
    pub index: ThinVec<Index>,
    /// The access in the flat equation.
    pub node: ExprId,
    /// True when each element of the piece touches one element, and different ones touch different elements.
    pub elementwise: bool,
}

/// The graph of pieces after index reduction.
#[derive(Debug)]
pub struct Nodes {
    /// Pieces of variables, by node of the differentiated graph.
    pub variables: Vec<VariableNode>,
    /// Pieces of equations, by original node.
    pub equations: Vec<EquationNode>,
    /// The differentiated graph.
    pub differentiated: Differentiated,
    /// The pieces of each variable at each derivative order, ascending.
    pub by_quantity: Quantities,
    /// Per variable and dimension: direction, sign and shift of its coordinate ([`Directions`]). Empty without arrays.
    pub directions: FxHashMap<VarId, Vec<(usize, i64, i64)>>,
    /// What the pieces were cut for: number of a piece of an equation, and of the access that it is to be solved for.
    pub pairs: Vec<(usize, usize)>,
}

/// The pieces of each variable at each derivative order.
#[derive(Debug, Default)]
pub struct Quantities {
    /// Pieces by variable, order and number.
    sorted: Vec<(VarId, u8, NodeId)>,
    nodes: Vec<NodeId>,
    starts: Starts,
}

impl Quantities {
    fn new(variables: &[VariableNode]) -> Quantities {
        let numbered = variables.iter().enumerate();
        let mut sorted: Vec<(VarId, u8, NodeId)> = numbered
            .map(|(k, v)| (v.var, v.order, NodeId::new(k)))
            .collect();
        sorted.sort_unstable();
        let nodes = sorted.iter().map(|s| s.2).collect();
        let starts = Starts::new(sorted.iter().map(|s| s.0));
        Quantities {
            sorted,
            nodes,
            starts,
        }
    }

    /// The pieces of a variable at an order, ascending.
    pub fn get(&self, var: VarId, order: u8) -> &[NodeId] {
        if self.sorted.is_empty() {
            return &[];
        }
        let range = self.starts.range(var);
        let own = &self.sorted[range.clone()];
        let from = range.start + own.partition_point(|s| s.1 < order);
        let more = self.sorted[from..range.end].iter();
        let count = more.take_while(|s| (s.0, s.1) == (var, order)).count();
        &self.nodes[from..from + count]
    }
}

/// Makes the nodes. `None` when index reduction on the pieces does not agree with the analysis; the caller then
/// repeats with scalars.
pub fn nodes(equations: &[Equation], inc: &Incidence, analysis: &Analysis) -> Option<Nodes> {
    let segments: Vec<(usize, &[Span])> = analysis
        .segments
        .iter()
        .map(|s| (s.equation.index(), &s.spans[..]))
        .collect();
    let out = build(equations, inc, &segments, &variable_boxes(analysis))?;
    let d = &out.differentiated;
    let agrees = analysis
        .segments
        .iter()
        .enumerate()
        .all(|(k, s)| d.differentiations(EqId::new(k)) as u32 == s.differentiations);
    agrees.then_some(out)
}

/// The nodes of a cut by state selection, under the same condition.
pub fn cut_nodes(equations: &[Equation], inc: &Incidence, cut: &Cut) -> Option<Nodes> {
    let segments: Vec<(usize, &[Span])> = (cut.equations.iter())
        .map(|(e, spans, _)| (e.index(), &spans[..]))
        .collect();
    let boxes: Vec<(usize, Vec<Span>)> = (cut.variables.iter())
        .map(|(v, spans)| (v.index(), spans.clone()))
        .collect();
    let mut out = build(equations, inc, &segments, &boxes)?;
    out.pairs.clone_from(&cut.pairs);
    let d = &out.differentiated;
    let mut all = cut.equations.iter().enumerate();
    let agrees = all.all(|(k, e)| d.differentiations(EqId::new(k)) as u32 == e.2);
    agrees.then_some(out)
}

/// The same for a model without arrays, which has nothing to cut, so that no analysis is needed. `None` if there are arrays, or if
/// the model is singular. One walk over the equations finds what they touch.
pub fn scalar_nodes(flat: &FlatModel, equations: &[Equation]) -> Option<Nodes> {
    if equations.iter().any(|eq| !eq.domain.is_empty()) {
        return None;
    }
    let unknown: Vec<bool> = flat.var_ids().map(|(id, _)| is_unknown(flat, id)).collect();
    let mut all = unknown.iter().zip(&flat.vars);
    if all.any(|(unknown, v)| *unknown && !v.dims.is_empty()) {
        return None;
    }
    let x = &flat.exprs;
    let mut highest = vec![0u8; flat.vars.len()];
    let mut touched: Vec<Touched> = Vec::new();
    let touches = |(source, eq): (usize, &Equation)| {
        touched.clear();
        x.for_each_access(&[eq.lhs, eq.rhs], |node, a| {
            if let Some(order) = order_of(a.kind).filter(|_| unknown[a.var.index()]) {
                let most = &mut highest[a.var.index()];
                *most = order.max(*most);
                touched.push(Touched {
                    var: a.var,
                    order,
                    spans: ThinVec::default(),
                    index: ThinVec::default(),
                    node,
                    elementwise: true,
                });
            }
        });
        touched.sort_unstable_by_key(|t| t.node);
        EquationNode {
            source,
            piece: eq.clone(),
            spans: ThinVec::default(),
            touched: touched.drain(..).collect(),
        }
    };
    let equation_nodes: Vec<EquationNode> = equations.iter().enumerate().map(touches).collect();
    const NONE: u32 = u32::MAX;
    let mut first = vec![NONE; flat.vars.len()];
    let mut variables = Vec::new();
    let mut derivative = Vec::new();
    // If there are many, in the order in which the equations name them, so that a pass along the equations goes along the unknowns too; then those
    // in no equation.
    let many = equation_nodes.len() >= LEAST;
    let named = equation_nodes.iter().filter(|_| many);
    let named = named.flat_map(|e| e.touched.iter().map(|t| t.var.index()));
    for var in named.chain((0..flat.vars.len()).filter(|&v| unknown[v])) {
        if first[var] != NONE {
            continue;
        }
        first[var] = variables.len() as u32;
        for order in 0..=highest[var] {
            variables.push(VariableNode {
                var: VarId(var as u32),
                order,
                spans: ThinVec::default(),
            });
            derivative.push((order < highest[var]).then(|| NodeId::new(variables.len())));
        }
    }
    let mut incidence: Rows<NodeId> = Rows::new();
    let mut row: Vec<NodeId> = Vec::new();
    for node in &equation_nodes {
        let number = |t: &Touched| NodeId(first[t.var.index()] + u32::from(t.order));
        row.extend(node.touched.iter().map(number));
        row.sort_unstable();
        incidence.push(row.drain(..));
    }
    let graph = Graph {
        elen: vec![1; equations.len()],
        vlen: vec![1; variables.len()],
        incidence,
    };
    let differentiated = pantelides(&NodeDae { graph, derivative }).ok()?;
    let variables = with_derivatives(variables, &differentiated);
    Some(Nodes {
        pairs: Vec::new(),
        directions: FxHashMap::default(),
        by_quantity: Quantities::new(&variables),
        variables,
        equations: equation_nodes,
        differentiated,
    })
}

/// The nodes of variables with those of the derivatives that index reduction introduced.
fn with_derivatives(variables: Vec<VariableNode>, d: &Differentiated) -> Vec<VariableNode> {
    let mut all = variables;
    all.resize_with(d.graph.vlen.len(), || VariableNode {
        var: VarId(0),
        order: 0,
        spans: ThinVec::default(),
    });
    for v in 0..d.graph.vlen.len() {
        if let Some(d) = d.var_derivative[v] {
            let mut next = all[v].clone();
            next.order += 1;
            all[d.index()] = next;
        }
    }
    all
}

/// The nodes of pieces of equations, by number and box, and of pieces of variables.
fn build(
    equations: &[Equation],
    inc: &Incidence,
    segments: &[(usize, &[Span])],
    boxes: &[(usize, Vec<Span>)],
) -> Option<Nodes> {
    let occurring = Boxes::of(derivative_images(inc, segments));
    let highest = inc.quantity.iter().map(|q| q.1).max().unwrap_or(0);
    let mut variables = Vec::new();
    let mut derivative = Vec::new();
    let mut vlen = Vec::new();
    for (root, spans) in boxes {
        let (var, _) = inc.quantity[*root];
        let mut k = 0;
        loop {
            variables.push(VariableNode {
                var,
                order: k,
                spans: spans[..].into(),
            });
            vlen.push(size_of(spans));
            // A derivative is a node of its own where some equation contains it (or a higher one) for these elements.
            let more =
                (k + 1..=highest).any(|order| occurring.meet((var, order), spans).next().is_some());
            derivative.push(more.then(|| NodeId::new(variables.len())));
            if !more {
                break;
            }
            k += 1;
        }
    }
    let pieces = variables.iter().enumerate();
    let lookup = Boxes::of(pieces.map(|(i, v)| ((v.var, v.order), v.spans.to_vec(), i)));
    let mut equation_nodes = Vec::new();
    let mut elen = Vec::new();
    let mut incidence: Rows<NodeId> = Rows::new();
    for &(e, segment) in segments {
        let node = equation_node(equations, inc, e, segment);
        let mut row: Vec<NodeId> = Vec::new();
        for t in &node.touched {
            row.extend(lookup.meet((t.var, t.order), &t.spans).map(NodeId::new));
        }
        row.sort_unstable();
        row.dedup();
        incidence.push(row);
        elen.push(size_of(segment));
        equation_nodes.push(node);
    }
    let graph = Graph {
        elen,
        vlen,
        incidence,
    };
    let differentiated = pantelides(&NodeDae { graph, derivative }).ok()?;
    let all = with_derivatives(variables, &differentiated);
    let arrays = inc.model.variables.iter().any(|v| !v.shape.is_empty());
    let directions = arrays.then(|| Directions::new(&inc.model));
    Some(Nodes {
        pairs: Vec::new(),
        directions: directions.map_or_else(FxHashMap::default, |d| directions_of(inc, &d)),
        by_quantity: Quantities::new(&all),
        variables: all,
        equations: equation_nodes,
        differentiated,
    })
}

/// A box of an equation with what it touches.
pub fn equation_node(
    equations: &[Equation],
    inc: &Incidence,
    e: usize,
    segment: &[Span],
) -> EquationNode {
    let accesses = inc.model.equations[e].accesses.iter().enumerate();
    let touched = accesses.map(|(a, access)| {
        let (var, order) = inc.quantity[access.variable.index()];
        Touched {
            var,
            order,
            spans: access.index.iter().map(|i| image(*i, segment)).collect(),
            index: access.index[..].into(),
            node: inc.access_nodes.row(e)[a],
            elementwise: is_elementwise(&access.index, segment),
        }
    });
    EquationNode {
        source: e,
        piece: restrict(&equations[e], segment),
        spans: segment.into(),
        touched: touched.collect(),
    }
}

/// The directions of the dimensions of every variable.
fn directions_of(
    inc: &Incidence,
    directions: &Directions,
) -> FxHashMap<VarId, Vec<(usize, i64, i64)>> {
    let of = |(k, &(var, order)): (usize, &(VarId, u8))| {
        let dims = inc.model.variables[k].shape.len();
        let along = |d| directions.of_variable(NodeId::new(k), d);
        (order == 0).then(|| (var, (0..dims).map(along).collect()))
    };
    inc.quantity.iter().enumerate().filter_map(of).collect()
}

/// The boxes of each order-0 variable: what single segments determine, or whole variable segments where that is open.
fn variable_boxes(analysis: &Analysis) -> Vec<(usize, Vec<Span>)> {
    let mut boxes: Vec<(usize, Vec<Span>)> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for s in &analysis.segments {
        for d in &s.determines {
            if d.elements == size_of(&d.spans) {
                boxes.push((d.variable.index(), d.spans.clone()));
            } else {
                open.push(d.variable.index());
            }
        }
    }
    // Where whole ranges share a variable, its segments are not cut further.
    open.sort_unstable();
    open.dedup();
    boxes.retain(|b| open.binary_search(&b.0).is_err());
    for v in &analysis.variables {
        if open.binary_search(&v.variable.index()).is_ok() {
            boxes.push((v.variable.index(), v.spans.clone()));
        }
    }
    boxes.sort();
    boxes.dedup();
    boxes
}

/// Boxes of elements by quantity, found by what they meet.
///
/// Invariant: the boxes are sorted by quantity and by where they begin along the first dimension, and `reach` is the largest end of
/// the boxes of a quantity up to each of them, so those that meet a box lie between two binary searches among the boxes of one variable:
/// O(log n + found) for boxes that do not overlap along the first dimension, as pieces of vectors do; O(1) for scalars.
struct Boxes {
    boxes: Vec<((VarId, u8), Vec<Span>, usize)>,
    reach: Vec<i64>,
    starts: Starts,
}

/// Where the items of each variable begin in a list that is sorted by variables.
#[derive(Debug, Default)]
struct Starts(Vec<u32>);

impl Starts {
    fn new(vars: impl Iterator<Item = VarId>) -> Starts {
        let mut starts = Vec::new();
        let mut count = 0u32;
        for var in vars {
            if starts.len() <= var.index() {
                starts.resize(var.index() + 1, count);
            }
            count += 1;
        }
        starts.push(count);
        Starts(starts)
    }

    fn range(&self, var: VarId) -> std::ops::Range<usize> {
        let all = self.0.len() - 1;
        let at = |k: usize| self.0[k.min(all)] as usize;
        at(var.index())..at(var.index() + 1)
    }
}

impl Boxes {
    fn of(all: impl IntoIterator<Item = ((VarId, u8), Vec<Span>, usize)>) -> Self {
        let mut boxes: Vec<_> = all.into_iter().collect();
        boxes.sort_unstable();
        boxes.dedup();
        let mut reach = Vec::with_capacity(boxes.len());
        let mut last = None;
        let mut farthest = i64::MIN;
        for (quantity, spans, _) in &boxes {
            if last.replace(*quantity) != Some(*quantity) {
                farthest = i64::MIN;
            }
            farthest = farthest.max(first(spans).hi);
            reach.push(farthest);
        }
        let starts = Starts::new(boxes.iter().map(|b| b.0.0));
        Boxes {
            boxes,
            reach,
            starts,
        }
    }

    /// Numbers of the boxes of a quantity that share an element with `spans`.
    fn meet<'a>(
        &'a self,
        quantity: (VarId, u8),
        spans: &'a [Span],
    ) -> impl Iterator<Item = usize> + 'a {
        let wanted = first(spans);
        let range = self.starts.range(quantity.0);
        let from = range.start + self.boxes[range.clone()].partition_point(|b| b.0 < quantity);
        let own = &self.boxes[from..range.end];
        let end = own.partition_point(|b| b.0 == quantity && first(&b.1).lo <= wanted.hi);
        let begin = self.reach[from..from + end].partition_point(|&r| r < wanted.lo);
        let meeting = own[begin..end].iter().filter(|b| overlap(&b.1, spans));
        meeting.map(|b| b.2)
    }
}

/// The span along the first dimension; a scalar has one element.
fn first(spans: &[Span]) -> Span {
    spans.first().copied().unwrap_or(Span::new(1, 1))
}

/// The boxes of elements whose derivatives occur in equations.
fn derivative_images(
    inc: &Incidence,
    segments: &[(usize, &[Span])],
) -> Vec<((VarId, u8), Vec<Span>, usize)> {
    let mut images = Vec::new();
    for (equation, segment) in segments {
        for access in &inc.model.equations[*equation].accesses {
            let quantity = inc.quantity[access.variable.index()];
            if quantity.1 > 0 {
                let spans = access.index.iter();
                images.push((quantity, spans.map(|i| image(*i, segment)).collect(), 0));
            }
        }
    }
    images
}

fn image(index: Index, spans: &[Span]) -> Span {
    match index {
        Index::Fixed(i) => Span::new(i, i),
        Index::All(s) => s,
        Index::Affine {
            iterator,
            coefficient,
            offset,
        } => {
            let s = spans[iterator];
            let (a, b) = (coefficient * s.lo + offset, coefficient * s.hi + offset);
            Span::new(a.min(b), a.max(b))
        }
    }
}

fn overlap(a: &[Span], b: &[Span]) -> bool {
    a.iter().zip(b).all(|(x, y)| x.lo <= y.hi && y.lo <= x.hi)
}

/// Every iterator with more than one value moves its own subscript by one, and nothing touches a range.
fn is_elementwise(index: &[Index], spans: &[Span]) -> bool {
    let mut used = vec![false; spans.len()];
    for i in index {
        match i {
            Index::Fixed(_) => {}
            Index::All(s) if s.size() == 1 => {}
            Index::All(_) => return false,
            Index::Affine {
                iterator,
                coefficient,
                ..
            } => {
                if coefficient.abs() != 1 && spans[*iterator].size() > 1 {
                    return false;
                }
                used[*iterator] = true;
            }
        }
    }
    spans.iter().zip(used).all(|(s, u)| u || s.size() == 1)
}

/// The part of an equation over a box of its iterators (counted from 0).
fn restrict(eq: &Equation, spans: &[Span]) -> Equation {
    let mut piece = eq.clone();
    for (d, s) in piece.domain.iter_mut().zip(spans) {
        d.1 = Range {
            start: d.1.at(s.lo),
            step: d.1.step,
            count: s.size() as i64,
        };
    }
    piece
}
