//! The whole compilation, and what it gives.

use acausal_base::Diagnostic;
use acausal_compiled::{CompiledModel, EventCode, JacobianColumns, Layout, Output, RowGroup};
use acausal_expr::flat::{Assert, Causality, FlatModel, OriginId, VarType, When};
use acausal_expr::unknown::RowKind;
use acausal_expr::{ValueKind, VarId, memory};
use acausal_index1::{IndexOneDae, Residual};
use acausal_jit::kernel::{Bank, Program};
use rustc_hash::FxHashMap;

use crate::CodegenError;
use crate::initial::Parts;
use crate::items::{Item, ItemTarget, merge};
use crate::layout::check_size;
use crate::lower::Lowering;
use crate::needed::split_locals;
use crate::plan::GroupOrder;
use crate::reinit::{expect_single, expect_states};

/// Compiles a DAE. The error is the message for the user.
pub fn compile(mut dae: IndexOneDae) -> Result<CompiledModel, Box<Diagnostic>> {
    let layout = crate::layout::lay_out(&dae);
    let mut flat = std::mem::take(&mut dae.flat);
    let compiled = layout.and_then(|layout| compile_dae(dae, &mut flat, layout));
    compiled.map_err(|e| Box::new(e.diagnostic(&flat)))
}

fn compile_dae(
    dae: IndexOneDae,
    flat: &mut FlatModel,
    layout: Layout,
) -> Result<CompiledModel, CodegenError> {
    let n = layout.n;
    let whens = flat.whens.clone();
    let asserts = flat.asserts.clone();
    let initial_equations = std::mem::take(&mut flat.initial_equations);
    let mut low = Lowering::new(flat, layout);
    inputs(&mut low);
    let continuous_pre = left_limits(&mut low);

    let parameter_items = low.parameter_items(NO_ORIGIN)?;
    let parameter_plan = low.plan(&parameter_items, GroupOrder::Dependent)?;
    let parameters = low.program(&parameter_plan)?;
    let attributes = Attributes::new(&mut low)?;
    let rows = ResidualRows::new(&dae.residuals);
    let (core, rest) = split_locals(low.flat, &low.layout, &dae.locals, &rows.items);
    let local_plan = low.plan(&core, GroupOrder::Dependent)?;
    let locals = low.program(&local_plan)?;
    let residual_plan = low.plan(&rows.items, GroupOrder::Free)?;
    let residuals = merge(low.program(&residual_plan)?);
    let columns = JacobianColumns::Combined;
    let jacobian = low.jacobian(&[&local_plan], &[&residual_plan], rows.len, columns)?;
    let rest_plan = low.plan(&rest, GroupOrder::Dependent)?;
    let other_locals = low.program(&rest_plan)?;
    let evaluated: Vec<Item> = core.into_iter().chain(rest).collect();

    let mut initial = low.initial_code(
        Parts {
            parameters: &parameter_items,
            locals: &evaluated,
            aliases: &dae.locals,
            residuals: &rows.items,
            jacobian: (&jacobian, &rest_plan),
            hidden: &dae.hidden,
            equations: &initial_equations,
            discrete: &dae.discrete_start,
            free_parameters: &dae.free_parameters,
            start_of: &attributes.start_of,
        },
        rows.len,
    )?;
    initial.branching = dae.branching;
    low.parameters_wait = initial.parameters_wait();
    // What is made of them is in the programs now. The rest takes about as much memory again.
    drop((parameter_items, parameter_plan, evaluated));
    drop((rows.items, local_plan, residual_plan, rest_plan));
    if low.flat.vars.len() >= memory::LARGE {
        memory::give_back();
    }

    let mut events = event_code(&mut low, &dae, &whens, &asserts, &attributes.nominal_of)?;
    crate::algebraic::mark_relations(
        low.flat,
        &dae.unknowns,
        &dae.locals,
        &initial.jacobian,
        &mut events,
    );
    let (local_values, amplified) = values_of_locals(&low, &dae, &attributes.nominal_of);
    let (outputs, derivatives) = (outputs(&low), derivatives(&low));
    let kernels = low.take_kernels();
    let tables: Vec<(usize, Vec<f64>)> = low
        .tables
        .iter()
        .map(|(bits, base)| (*base, bits.iter().map(|b| f64::from_bits(*b)).collect()))
        .collect();
    let literals = std::mem::take(&mut low.literals);
    // Attributes and cells have got places since it was looked at first.
    check_size(&low.layout, low.flat)?;
    let mem_len = low.layout.mem_len;
    let layout = std::mem::take(&mut low.layout);
    events.prints = std::mem::take(&mut low.flat.prints);
    let symbols = std::mem::take(low.flat).into();
    let mut compiled = CompiledModel {
        symbols,
        assumptions: dae.assumptions,
        unknowns: dae.unknowns,
        layout,
        n,
        mem_len,
        out_len: 0,
        kernels,
        tables,
        literals,
        parameters,
        starts: attributes.program,
        start_of: attributes.start_of,
        nominal_of: attributes.nominal_of,
        fixed_of: attributes.fixed_of,
        locals,
        other_locals,
        residuals,
        local_values,
        amplified,
        row_kinds: rows.kinds,
        rows: rows.groups,
        jacobian,
        initial,
        left_limits: continuous_pre,
        events,
        outputs,
        derivatives,
    };
    crate::timetable::take_out(&mut compiled);
    compiled.out_len = compiled.longest_out();
    Ok(compiled)
}

/// What parameters and attributes are said to come from.
const NO_ORIGIN: OriginId = OriginId(0);

/// The attributes `start`, `nominal` and `fixed`: where their values lie, and the program that computes them.
struct Attributes {
    program: Program,
    start_of: FxHashMap<VarId, usize>,
    nominal_of: FxHashMap<VarId, usize>,
    fixed_of: FxHashMap<VarId, usize>,
}

impl Attributes {
    fn new(low: &mut Lowering<'_>) -> Result<Attributes, CodegenError> {
        let (starts, start_of) =
            low.attribute_program(|v| v.start.clone(), |v| !v.is_parameter(), NO_ORIGIN)?;
        let (nominals, nominal_of) = low.attribute_program(
            |v| v.nominal.clone(),
            |v| !v.is_parameter() && !v.is_discrete(),
            NO_ORIGIN,
        )?;
        let (fixeds, fixed_of) = low.attribute_program(|v| v.fixed.clone(), |_| true, NO_ORIGIN)?;
        Ok(Attributes {
            program: starts.into_iter().chain(nominals).chain(fixeds).collect(),
            start_of,
            nominal_of,
            fixed_of,
        })
    }
}

/// The rows of the residuals, one after the other.
#[derive(Default)]
struct ResidualRows {
    groups: Vec<RowGroup>,
    kinds: Vec<RowKind>,
    items: Vec<Item>,
    len: usize,
}

impl ResidualRows {
    fn new(residuals: &[Residual]) -> ResidualRows {
        let mut rows = ResidualRows::default();
        for r in residuals {
            let (first, len) = (rows.len, r.len());
            rows.groups.push(RowGroup {
                first,
                len,
                origin: r.origin,
                domain: r.domain.clone(),
                value: r.value,
            });
            rows.kinds.extend(std::iter::repeat_n(r.kind, len));
            rows.items.push(Item {
                domain: r.domain.clone(),
                value: r.value,
                target: ItemTarget::Consecutive(Bank::Out, first),
                origin: r.origin,
            });
            rows.len += len;
        }
        rows
    }
}

/// What happens at events.
fn event_code(
    low: &mut Lowering<'_>,
    dae: &IndexOneDae,
    whens: &[When],
    asserts: &[Assert],
    nominal_of: &FxHashMap<VarId, usize>,
) -> Result<EventCode, CodegenError> {
    let mut events = EventCode::default();
    let discrete_items: Vec<Item> = dae
        .discrete
        .iter()
        .map(|d| Item {
            domain: d.domain.clone(),
            value: d.value,
            target: ItemTarget::Access(d.target),
            origin: d.origin,
        })
        .collect();
    low.watches = true;
    let discrete = low.ordered_program(&discrete_items);
    low.watches = false;
    events.discrete = discrete?;
    events.determined = (dae.discrete.iter())
        .map(|d| (d.target.var, d.origin))
        .collect();
    low.when_code(whens, &mut events)?;
    expect_states(&dae.unknowns, &events)?;
    expect_single(&events)?;
    for a in asserts {
        let code = low.assert_code(a, &a.domain, false)?;
        events.asserts.push(code);
    }
    low.continuity_code(&dae.continuous, nominal_of, &mut events)?;
    low.index_code(&mut events)?;
    low.cell_code(&mut events)?;
    Ok(events)
}

/// First place, number of values and equation of each local assignment.
type LocalValues = Vec<(usize, usize, OriginId)>;

/// The same with the place of the nominal value, of those in which errors are larger than in the unknowns.
type Amplified = Vec<(usize, usize, Option<usize>)>;

fn values_of_locals(
    low: &Lowering<'_>,
    dae: &IndexOneDae,
    nominal_of: &FxHashMap<VarId, usize>,
) -> (LocalValues, Amplified) {
    let values = (low.layout.locals.iter().zip(&dae.locals))
        .map(|(&(first, count), l)| (first, count, l.origin))
        .collect();
    let amplified = (dae.amplified.iter())
        .map(|&k| {
            let (first, count) = low.layout.locals[k];
            let nominal = nominal_of.get(&dae.locals[k].target.var);
            (first, count, nominal.copied())
        })
        .filter(|a| a.1 > 0)
        .collect();
    (values, amplified)
}

/// Inputs of the model keep the value they are given from outside.
fn inputs(low: &mut Lowering<'_>) {
    let ids: Vec<(VarId, usize)> = low
        .flat
        .var_ids()
        .filter(|(_, v)| v.causality == Causality::Input && !v.is_discrete())
        .map(|(id, v)| (id, v.len()))
        .collect();
    for (id, len) in ids {
        if low.layout.place((id, ValueKind::Value)).is_none() {
            low.layout.add_mem((id, ValueKind::Value), len);
        }
    }
}

/// Places for `pre(v)` of continuous variables: the value just before an event.
fn left_limits(low: &mut Lowering<'_>) -> Vec<(VarId, usize)> {
    let mut vars: Vec<VarId> = low
        .flat
        .exprs
        .ids()
        .filter_map(|e| match low.flat.exprs.node(e) {
            acausal_expr::Node::Var(a)
                if a.kind == ValueKind::Pre && !low.flat.var(a.var).is_discrete() =>
            {
                Some(a.var)
            }
            _ => None,
        })
        .collect();
    vars.sort_unstable();
    vars.dedup();
    let mut bases = Vec::new();
    for v in vars {
        let len = low.flat.var(v).len();
        bases.push((v, low.layout.add_mem((v, ValueKind::Pre), len)));
    }
    bases
}

fn outputs(low: &Lowering<'_>) -> Vec<Output> {
    low.flat
        .var_ids()
        .filter(|(_, v)| !v.auxiliary && v.ty != VarType::String)
        .filter_map(|(var, _)| {
            Some(Output {
                var,
                kind: ValueKind::Value,
                place: low.layout.place((var, ValueKind::Value))?.clone(),
            })
        })
        .collect()
}

/// Derivatives of what the user declared, up to the highest order that has a place.
fn derivatives(low: &Lowering<'_>) -> Vec<Output> {
    let mut found = Vec::new();
    for (var, v) in low.flat.var_ids() {
        if v.auxiliary || v.is_parameter() || v.ty != VarType::Real {
            continue;
        }
        let kinds = (1..=u8::MAX).map(ValueKind::Der);
        let places = kinds.map_while(|kind| Some((kind, low.layout.place((var, kind))?)));
        found.extend(places.map(|(kind, place)| Output {
            var,
            kind,
            place: place.clone(),
        }));
    }
    found
}
