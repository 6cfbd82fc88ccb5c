//! The stages in order, each a function from one data structure to the next.
//!
//! ```text
//! flat model ─► discrete parts ─► singularities ─► aliases ─► index reduction ─► state selection ─► emission ─► DAE
//!                                 equations as written        pieces, graph       solved for what
//! ```
//!
//! Singularities come before aliases: what they say, they say about the equations that the user wrote, and they find the cycles of
//! aliases, which are redundant or contradict each other.

use acausal_base::{Diagnostic, Span};
use acausal_expr::flat::FlatModel;
use acausal_expr::memory;

use crate::aliases::Reduced;
use crate::discrete::initial_derivatives;
use crate::passes::Stopwatch;
use crate::report::Report;
use crate::state_selection::{Structure, preferences};
use crate::{IndexOneDae, Options, Regularised};
use crate::{
    aliases, discrete, emission, index_reduction, products, segments, singularities,
    state_selection,
};

/// Transforms a flat model into the index-one DAE.
pub fn transform(flat: FlatModel) -> Result<IndexOneDae, Vec<Diagnostic>> {
    run(flat, &Options::default(), false).map(|(dae, _)| dae)
}

/// The same with options, and with warnings and remarks for the user.
pub fn transform_noted(
    flat: FlatModel,
    options: &Options,
) -> Result<(IndexOneDae, Vec<Diagnostic>), Vec<Diagnostic>> {
    run(flat, options, false).map(|(dae, report)| (dae, report.notes))
}

/// The same with options, and a report of what was done.
pub fn transform_with(
    flat: FlatModel,
    options: &Options,
) -> Result<(IndexOneDae, Report), Vec<Diagnostic>> {
    run(flat, options, true)
}

/// The stages. Only with `describe` the report has more than notes and times: it is text about every equation.
fn run(
    mut flat: FlatModel,
    options: &Options,
    describe: bool,
) -> Result<(IndexOneDae, Report), Vec<Diagnostic>> {
    let mut watch = Stopwatch::start();
    // Whether preferred states became states is told by their names.
    let describe = describe || !options.prefer_states.is_empty();
    preferences::expect_unknowns(&flat, options)?;
    let (mut equations, discrete) = discrete::separate(&mut flat);
    preferences::prefer_reinitialised(&mut flat);
    products::cut(&mut flat, &mut equations);
    equations = singularities::zero_coefficients::cut_at_zeros(&mut flat, equations);
    if options.scalarise {
        equations = segments::scalarise::scalarise(&mut flat, equations);
    }
    watch.lap("discrete");
    if let Some(imbalance) = flat.imbalance.take() {
        // The numbers alone say that something is wrong; the analysis says what.
        let more = index_reduction::reduce(&mut flat, &mut equations).err();
        return Err([vec![imbalance], more.unwrap_or_default()].concat());
    }
    let mut regularised = singularities::regularise(&mut flat, &mut equations)?;
    if initial_derivatives::introduce(&mut flat, &mut equations) {
        if options.scalarise {
            equations = segments::scalarise::scalarise(&mut flat, equations);
        }
        regularised.extend(singularities::regularise(&mut flat, &mut equations)?);
    }
    let empty = discrete::add_constant_state(&mut flat, &mut equations);
    watch.lap("singularities");
    let mut reduced = aliases::remove(&mut flat, equations, options);
    watch.lap("aliases");
    let structure = analyse(
        &mut flat,
        &mut reduced,
        &mut regularised,
        options,
        &mut watch,
    )?;
    let branches = index_reduction::branches::warnings(&mut flat, &structure, &reduced);
    watch.lap("branches");
    let mut report = match describe && !empty {
        true => Report::new(&flat, &structure, &reduced),
        false => Report::default(),
    };
    let mut assumptions = state_selection::assumptions(&mut flat, &structure);
    assumptions.redundant = std::mem::take(&mut regularised.assumed);
    report.notes = regularised.notes.clone();
    report
        .notes
        .extend(preferences::unfulfilled(&flat, options, &report.states));
    report.regularised = regularised;
    let branching = !branches.is_empty();
    report.notes.extend(branches);
    watch.lap("report");
    let removed = reduced.without_equations();
    // Emission makes the equations of the DAE beside all that has been found out: the largest part of the analysis.
    give_back(&flat);
    let (mut dae, added) =
        emission::emit(flat, &structure, discrete, &removed.numbers, &options.scale)?;
    drop(structure);
    give_back(&dae.flat);
    dae.branching = branching;
    dae.assumptions = assumptions;
    dae.locals.extend(removed.locals);
    emission::starts::carry_starts(&mut dae);
    discrete::start::prepare(&mut dae);
    report.form.add(added);
    watch.lap("emission");
    report.passes = watch.passes;
    Ok((dae, report))
}

/// Index reduction and state selection. If the structure is singular, products that vanish are removed, which may hide a redundant
/// equation; if that is no help, the messages are about the equations as they were written.
fn analyse(
    flat: &mut FlatModel,
    reduced: &mut Reduced,
    regularised: &mut Regularised,
    options: &Options,
    watch: &mut Stopwatch,
) -> Result<Structure, Vec<Diagnostic>> {
    let nodes = match index_reduction::reduce(flat, &mut reduced.equations) {
        Ok(nodes) => nodes,
        Err(messages) => {
            let without = singularities::reduce_without_zero_products;
            match without(flat, &mut reduced.equations, regularised) {
                Some(nodes) => nodes,
                None => return Err(reduced.messages_as_written(flat, messages)),
            }
        }
    };
    let mut structure = Structure::new(flat, nodes, options, watch)?;
    while singularities::expose(flat, &mut reduced.equations, &structure, regularised) {
        let nodes = index_reduction::reduce(flat, &mut reduced.equations)
            .map_err(|messages| reduced.messages_as_written(flat, messages))?;
        structure = Structure::new(flat, nodes, options, watch)?;
    }
    state_selection::refined(structure, flat, &reduced.equations, options, watch)
}

fn give_back(flat: &FlatModel) {
    if flat.vars.len() >= memory::LARGE {
        memory::give_back();
    }
}

/// A defect of the compiler.
pub(crate) fn internal(message: &str) -> Vec<Diagnostic> {
    let d = Diagnostic::error("internal", Span::NONE, message.to_string());
    vec![d.hint("this is a defect of acausal; please report it with the model")]
}
