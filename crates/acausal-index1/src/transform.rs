//! The passes in order: pieces, index reduction, state selection, sorting, emission.

use acausal_base::{Diagnostic, Span};
use acausal_expr::flat::{Action, Equation, FlatModel, OriginKind, StateSelect};
use acausal_expr::{Kind, Printer, VarId, memory};
use acausal_structure::blt::{Blocks, highest_blocks};
use acausal_structure::pantelides::Differentiated;
use acausal_structure::segments::{Error, analyse};
use acausal_structure::state_selection::{
    Form, Knowledge, Selection, Sorted, select_knowing, sort,
};

use crate::Dae;
use crate::index_reduction::singular;
use crate::report::Report;
use crate::segments::incidence::{Incidence, incidence, is_unknown};
use crate::segments::nodes::{Nodes, nodes, scalar_nodes};
use crate::segments::recut::{disentangled, ignored_wishes, is_entangled, taken_apart};
use crate::singularities::zero_products::remove_vanishing;
use crate::state_selection::distances::Distances;
use crate::state_selection::preferences::preferences;
use crate::state_selection::solvable::{Scope, Solvable};

/// Choices of the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Work on single elements instead of arrays: the oracle for the array passes.
    pub scalarise: bool,
    /// Keep all constraints and stabilise them: the full form (17).
    pub no_state_selection: bool,
    /// Leave every loop of algebraic unknowns to the solver as it is: the oracle for tearing.
    pub no_tearing: bool,
    /// In the full form: a name for a derivative (`v = der(x)`) is no unknown of its own. With state selection it never
    /// is.
    pub derivative_names: bool,
    /// Variables that shall be states if possible, by name.
    pub prefer_states: Vec<String>,
    /// Variables that equal others are taken out before the analysis if there are at least this many scalar equations;
    /// `None` chooses a number.
    pub aliases_from: Option<usize>,
}

/// Transforms a flat model into the index-one DAE.
pub fn transform(flat: FlatModel) -> Result<Dae, Vec<Diagnostic>> {
    run(flat, &Options::default(), false).map(|(dae, _)| dae)
}

/// The same with options, and with warnings and remarks for the user.
pub fn transform_noted(
    flat: FlatModel,
    options: &Options,
) -> Result<(Dae, Vec<Diagnostic>), Vec<Diagnostic>> {
    run(flat, options, false).map(|(dae, report)| (dae, report.notes))
}

/// The same with options, and a report of what was done.
pub fn transform_with(
    flat: FlatModel,
    options: &Options,
) -> Result<(Dae, Report), Vec<Diagnostic>> {
    run(flat, options, true)
}

/// Times passes.
struct Stopwatch {
    passes: Vec<(&'static str, f64)>,
    last: std::time::Instant,
}

impl Stopwatch {
    fn lap(&mut self, pass: &'static str) {
        let now = std::time::Instant::now();
        let seconds = (now - self.last).as_secs_f64();
        self.last = now;
        // A pass that runs twice counts twice.
        match self.passes.iter_mut().find(|p| p.0 == pass) {
            Some(p) => p.1 += seconds,
            None => self.passes.push((pass, seconds)),
        }
    }
}

/// The passes. Only with `describe` the report has more than notes and times: it is text about every equation.
fn run(
    mut flat: FlatModel,
    options: &Options,
    describe: bool,
) -> Result<(Dae, Report), Vec<Diagnostic>> {
    let mut watch = Stopwatch {
        passes: Vec::new(),
        last: std::time::Instant::now(),
    };
    let (mut equations, discrete) = crate::discrete::separate(&mut flat);
    unknown_wishes(&flat, options)?;
    reinitialised_states(&mut flat);
    let wanted = crate::discrete::initial_derivatives::wanted(&flat, &equations);
    if !wanted.is_empty() {
        let missing = missing_slopes(&flat, &equations, wanted);
        crate::discrete::initial_derivatives::name_slopes(&mut flat, &mut equations, &missing);
    }
    equations = crate::singularities::zero_coefficients::cut_at_zeros(&mut flat, equations);
    if options.scalarise {
        equations = crate::segments::scalarise::scalarise(&mut flat, equations);
    }
    watch.lap("discrete");
    if let Some(imbalance) = flat.imbalance.take() {
        // The numbers alone say that something is wrong; the analysis says what.
        let mut messages = vec![imbalance];
        messages.extend(
            pieces(&mut flat, &mut equations)
                .err()
                .into_iter()
                .flatten(),
        );
        return Err(messages);
    }
    // Whether wishes were fulfilled is told by the names of the states.
    let describe = describe || !options.prefer_states.is_empty();
    let total: usize = equations.iter().map(Equation::len).sum();
    // A report tells of all equations, and so does the full form.
    let whole = describe || options.no_state_selection;
    let reduced = if total < options.aliases_from.unwrap_or(MANY) || whole {
        None
    } else {
        crate::aliases::reduce(&mut flat, &equations)
    };
    watch.lap("aliases");
    let (mut aliases, mut places) = (Vec::new(), Vec::new());
    let mut found = None;
    if let Some(mut reduced) = reduced {
        let analysed = Analysed::new(&mut flat, &mut reduced.equations, options, &mut watch);
        match analysed.ok().filter(Analysed::is_plain) {
            Some(analysed) => {
                aliases = reduced.locals;
                places = reduced.places;
                equations = Vec::new();
                found = Some(analysed);
            }
            // Whatever there is to say is said about the equations as they were written.
            None => reduced.undo(&mut flat),
        }
    }
    let Analysed {
        regularised,
        empty,
        plan,
        branches,
    } = match found {
        Some(analysed) => analysed,
        None => Analysed::new(&mut flat, &mut equations, options, &mut watch)?,
    };
    drop(equations);
    let Plan {
        pieces,
        solvable,
        blocks,
        selection,
        sorted,
        form,
    } = plan;
    let mut report = if empty || !describe {
        Report::default()
    } else {
        Report::new(&flat, &pieces, &blocks, &selection, &sorted, &form)
    };
    drop(blocks);
    report.notes = regularised.notes.clone();
    report.regularised = regularised;
    report.notes.extend(wishes(&flat, options, &report));
    watch.lap("report");
    let branching = !branches.is_empty();
    report.notes.extend(branches);
    // Emission makes the equations of the DAE beside all that has been found out: the largest part of the analysis.
    if flat.vars.len() >= memory::LARGE {
        memory::give_back();
    }
    let (mut dae, back) = crate::emission::emit(
        flat, &pieces, &solvable, &selection, &sorted, &form, discrete, &places,
    )?;
    drop((pieces, solvable, selection, sorted, form));
    if dae.flat.vars.len() >= memory::LARGE {
        memory::give_back();
    }
    dae.branching = branching;
    dae.locals.extend(aliases);
    crate::emission::starts::carry_starts(&mut dae);
    report.form.add(back.counts);
    watch.lap("emission");
    report.passes = watch.passes;
    Ok((dae, report))
}

/// From this many scalar equations on aliases are taken out first.
const MANY: usize = 2_000;

/// What is found out about the equations.
struct Analysed {
    regularised: crate::Regularised,
    /// There are no equations.
    empty: bool,
    plan: Plan,
    /// Warnings about derivatives that are not determined uniquely.
    branches: Vec<Diagnostic>,
}

impl Analysed {
    fn new(
        flat: &mut FlatModel,
        equations: &mut Vec<Equation>,
        options: &Options,
        watch: &mut Stopwatch,
    ) -> Result<Analysed, Vec<Diagnostic>> {
        let mut regularised = crate::singularities::regularise(flat, equations)?;
        watch.lap("singularities");
        let empty = add_dummy(flat, equations);
        let first = match pieces(flat, equations) {
            Ok(first) => first,
            // What is zero by an equation may hide a redundant equation from the elimination; the messages are those about the equations as they were written.
            Err(messages) => {
                if !remove_vanishing(flat, equations, &mut regularised) {
                    return Err(messages);
                }
                let again = crate::singularities::regularise(flat, equations)
                    .and_then(|more| pieces(flat, equations).map(|first| (more, first)));
                let Ok((more, first)) = again else {
                    return Err(messages);
                };
                regularised.extend(more);
                first
            }
        };
        let mut plan = Plan::new(flat, first, options, watch)?;
        let replaced = &mut regularised;
        while crate::singularities::expose(flat, equations, &plan.pieces, &plan.blocks, replaced) {
            let again = pieces(flat, equations)?;
            plan = Plan::new(flat, again, options, watch)?;
        }
        let ignored = ignored_wishes(&plan, flat, options);
        if (ignored > 0 || is_entangled(&plan))
            && let Some(finer) = disentangled(flat, equations, options)
        {
            let other = Plan::new(flat, finer, options, watch)?;
            let unknowns = other.form.unknowns();
            let kept = unknowns == plan.form.unknowns();
            if unknowns < plan.form.unknowns()
                || kept && ignored_wishes(&other, flat, options) < ignored
            {
                plan = other;
            }
        }
        if let Some(mut apart) = taken_apart(&plan, flat, equations) {
            let elements = pieces(flat, &mut apart)?;
            let other = Plan::new(flat, elements, options, watch)?;
            if other.form.unknowns() < plan.form.unknowns() {
                plan = other;
            }
        }
        let branches = crate::index_reduction::branches::warnings(flat, &plan.pieces, &plan.blocks);
        watch.lap("branches");
        Ok(Analysed {
            regularised,
            empty,
            plan,
            branches,
        })
    }

    /// There is nothing to say about the equations.
    fn is_plain(&self) -> bool {
        let r = &self.regularised;
        let untouched = r.removed.is_empty() && r.replaced.is_empty() && r.freed.is_empty();
        untouched && r.notes.is_empty() && self.branches.is_empty() && !self.empty
    }
}

/// The derivatives of initial equations that index reduction does not introduce by itself.
fn missing_slopes(
    flat: &FlatModel,
    equations: &[Equation],
    mut wanted: Vec<(VarId, u8)>,
) -> Vec<(VarId, u8)> {
    let (mut flat, mut equations) = (flat.clone(), equations.to_vec());
    // A model that cannot be reduced is refused later, with its message.
    let reduced = crate::singularities::regularise(&mut flat, &mut equations)
        .and_then(|_| pieces(&mut flat, &mut equations));
    if let Ok(nodes) = reduced {
        let is_node = |var, order| {
            let mut all = nodes.variables.iter();
            all.any(|v| v.var == var && v.order >= order)
        };
        wanted.retain(|&(var, order)| !is_node(var, order));
    }
    wanted
}

/// What the structural passes decide.
pub(crate) struct Plan {
    pub pieces: Nodes,
    pub solvable: Solvable,
    pub blocks: Blocks,
    pub selection: Selection,
    sorted: Sorted,
    form: Form,
}

impl Plan {
    fn new(
        flat: &mut FlatModel,
        pieces: Nodes,
        options: &Options,
        watch: &mut Stopwatch,
    ) -> Result<Plan, Vec<Diagnostic>> {
        watch.lap("index reduction");
        let scope = if options.no_state_selection {
            Scope::Given {
                names: options.derivative_names,
            }
        } else {
            Scope::All
        };
        let d = &pieces.differentiated;
        let blocks = highest_blocks(d).map_err(|e| internal(&format!("sorting failed: {e:?}")))?;
        watch.lap("blocks");
        let in_loop = equations_of_loops(d, &blocks);
        let solvable = Solvable::new(flat, &pieces, scope, |e| in_loop[e.index()]);
        watch.lap("pivots");
        let preferences = preferences(flat, &pieces, &blocks, options);
        let pivot = |e, v| solvable.pivot(e, v);
        let linear = |e| solvable.is_constant_linear(e);
        let terms = |e| solvable.terms(&pieces, e);
        let mut knowledge = Knowledge {
            terms: Some(&terms),
            tearing: !options.no_tearing,
            ..Knowledge::default()
        };
        let selection = if pieces.directions.is_empty() {
            select_knowing(d, &blocks, &preferences, pivot, linear, knowledge)
        } else {
            let distances = Distances::new(&pieces, &solvable);
            let gaps = |e, v, w| distances.gaps(e, v, w);
            let hints = solvable.hints(&pieces);
            knowledge.gaps = Some(&gaps);
            knowledge.hints = &hints;
            select_knowing(d, &blocks, &preferences, pivot, linear, knowledge)
        };
        watch.lap("state selection");
        let sorted =
            sort(d, &selection).map_err(|e| internal(&format!("sorting failed: {e:?}")))?;
        let form = selection.form(d, &sorted);
        watch.lap("sorting");
        Ok(Plan {
            pieces,
            solvable,
            blocks,
            selection,
            sorted,
            form,
        })
    }
}

/// Per original equation: whether it, or a derivative of it, is solved together with others.
fn equations_of_loops(d: &Differentiated, blocks: &Blocks) -> Vec<bool> {
    let integral = d.eq_integral();
    let mut out = vec![false; d.original_equations];
    for (equations, _) in blocks.iter().filter(|b| b.0.len() > 1) {
        for &e in equations {
            let root = std::iter::successors(Some(e), |e| integral[e.index()]).last();
            out[root.unwrap_or(e).index()] = true;
        }
    }
    out
}

/// A wish for a state that does not exist is a mistake of the user.
/// What `reinit` gives a value must be a state (MLS 3.6 §8.3.6).
fn reinitialised_states(flat: &mut FlatModel) {
    let branches = flat.whens.iter().flat_map(|w| &w.branches);
    for action in branches.flat_map(|b| &b.actions) {
        if let Action::Reinit { target, .. } = action {
            flat.vars[target.var.index()].state_select = StateSelect::Always;
        }
    }
}

fn unknown_wishes(flat: &FlatModel, options: &Options) -> Result<(), Vec<Diagnostic>> {
    let errors: Vec<Diagnostic> = options
        .prefer_states
        .iter()
        .filter(|wish| {
            !flat
                .var_ids()
                .any(|(id, v)| is_unknown(flat, id) && v.name.plain() == **wish)
        })
        .map(|wish| {
            let message = format!("there is no continuous variable `{wish}` that could be a state");
            Diagnostic::error("wrong-setting", Span::NONE, message)
                .hint("name variables without subscripts, as `acausal flatten` shows them")
        })
        .collect();
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// Wishes for states that could not be fulfilled.
fn wishes(flat: &FlatModel, options: &Options, report: &Report) -> Vec<Diagnostic> {
    if options.prefer_states.is_empty() {
        return Vec::new();
    }
    let is = |state: &String, name: &str| {
        state
            .strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
    };
    let variables = flat.var_ids().map(|(_, v)| v);
    variables
        .filter(|v| options.prefer_states.contains(&v.name.plain()))
        .filter(|v| !report.states.iter().any(|s| is(s, &v.name.plain())))
        .map(|v| {
            let message = format!("`{}` could not be made a state", v.name.plain());
            Diagnostic::remark("not-a-state", v.span, message)
        })
        .collect()
}

pub(crate) fn internal(message: &str) -> Vec<Diagnostic> {
    let d = Diagnostic::error("internal", Span::NONE, message.to_string());
    vec![d.hint("this is a defect of acausal; please report it with the model")]
}

/// A model without continuous unknowns gets one that never changes, so that there is something to integrate.
/// Says whether it did.
fn add_dummy(flat: &mut FlatModel, equations: &mut Vec<Equation>) -> bool {
    if !equations.is_empty() || flat.var_ids().any(|(id, _)| is_unknown(flat, id)) {
        return false;
    }
    let access = crate::auxiliary(flat, &[], acausal_expr::flat::Variability::Continuous);
    let lhs = flat
        .exprs
        .scalar_var(access.var, Kind::Der(1), acausal_expr::Ty::Real);
    let rhs = flat.exprs.real(0.0);
    flat.origins.push(acausal_expr::flat::Origin {
        span: Span::NONE,
        component: "".into(),
        kind: OriginKind::Auxiliary,
    });
    let origin = acausal_expr::flat::OriginId(flat.origins.len() as u32 - 1);
    equations.push(Equation {
        domain: Vec::new().into(),
        lhs,
        rhs,
        origin,
    });
    true
}

/// Analyses the arrays and cuts them into pieces; falls back to single elements where pieces do not suffice.
fn pieces(flat: &mut FlatModel, equations: &mut Vec<Equation>) -> Result<Nodes, Vec<Diagnostic>> {
    for attempt in 0..2 {
        if let Some(n) = scalar_nodes(flat, equations) {
            return Ok(n);
        }
        let inc = incidence(flat, equations);
        let analysis = match analyse(&inc.model) {
            Ok(a) => a,
            Err(e) => return Err(structural_error(flat, equations, &inc, &e)),
        };
        if let Some(n) = nodes(equations, &inc, &analysis) {
            return Ok(n);
        }
        if attempt == 0 {
            *equations = crate::segments::scalarise::scalarise(flat, std::mem::take(equations));
        }
    }
    Err(internal(
        "index reduction on array pieces does not agree with the element-wise analysis",
    ))
}

fn structural_error(
    flat: &FlatModel,
    equations: &[Equation],
    inc: &Incidence,
    e: &Error,
) -> Vec<Diagnostic> {
    match e {
        Error::Singular { over, under, .. } => {
            singular::diagnostics(flat, equations, inc, over, under)
        }
        Error::BadAccess(b) => {
            let eq = &equations[b.equation.index()];
            let node = inc.access_nodes.row(b.equation.index())[b.access];
            let text = Printer::new(flat).expr(node);
            vec![Diagnostic::error(
                "index-range",
                flat.origin(eq.origin).span,
                format!("a subscript of `{text}` leaves its array"),
            )]
        }
        Error::TooLarge { incidences } => vec![Diagnostic::error(
            "too-large",
            Span::NONE,
            format!(
                "the equations touch each other in {incidences} ways, more than can be analysed"
            ),
        )],
    }
}
