//! The whole compilation, and what it gives.

use acausal_expr::flat::{Causality, Equation, FlatModel, OriginId, VarType};
use acausal_expr::{ExprId, IterId, Kind, Range, VarId, memory};
use acausal_index1::{Dae, Role, RowKind, Unknown};
use acausal_jit::kernel::{Address, Bank, Kernel, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::CodegenError;
use crate::events::{ActionCode, EventCode};
use crate::given_parameters::bind_given;
use crate::initial::{InitialCode, Parts};
use crate::items::{Item, Target, merge};
use crate::jacobian::{Columns, Jacobian};
use crate::layout::{Layout, Loc, Place};
use crate::lower::Lowering;
use crate::needed::split_locals;
use crate::plan::Order;
use crate::schedule::Schedule;

/// A compiled model: programs, layout and sparsity.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The model, for names and messages.
    pub flat: FlatModel,
    /// Groups of unknowns; `x` is their concatenation.
    pub unknowns: Vec<Unknown>,
    /// Where every scalar lives.
    pub layout: Layout,
    /// Number of unknowns.
    pub n: usize,
    /// Length of `Mem`.
    pub mem_len: usize,
    /// Length of `Out` that every program below fits into.
    pub out_len: usize,
    /// All kernels.
    pub kernels: Vec<Kernel>,
    /// Literal tables: first place in `Mem` and contents.
    pub tables: Vec<(usize, Vec<f64>)>,
    /// Places of `Mem` that hold a literal from the beginning: first, number, value.
    pub literals: Vec<(usize, usize, f64)>,
    /// Assigns parameters and constants.
    pub parameters: Program,
    /// Evaluates start and nominal attributes; runs after `parameters`.
    pub starts: Program,
    /// Where the start values of a variable lie in `Mem`, one after the other.
    pub start_of: FxHashMap<VarId, usize>,
    /// Where the nominal values lie.
    pub nominal_of: FxHashMap<VarId, usize>,
    /// Where the `fixed` attributes lie.
    pub fixed_of: FxHashMap<VarId, usize>,
    /// Local assignments that the residuals need.
    pub locals: Program,
    /// The other local assignments; they run after `locals`.
    pub other_locals: Program,
    /// Residuals, into `Out`.
    pub residuals: Program,
    /// Per local assignment: first place in `Mem`, number of values, and the equation it came from.
    pub local_values: Vec<(usize, usize, OriginId)>,
    /// Values of local assignments in loops in which errors of the unknowns are larger than in the unknowns: first place in `Mem`, number of values, and
    /// the place of the nominal value of the first one, if it has one.
    pub amplified: Vec<(usize, usize, Option<usize>)>,
    /// Per residual row: its part of the form.
    pub row_kinds: Vec<RowKind>,
    /// Per residual item: first row, number of rows, origin, domain and residual.
    pub rows: Vec<RowGroup>,
    /// `dF/dx + cj*dF/dx'`.
    pub jacobian: Jacobian,
    /// What holds at the start only.
    pub initial: InitialCode,
    /// Continuous variables whose left limit is used, with its place in `Mem`.
    pub left_limits: Vec<(VarId, usize)>,
    /// Events.
    pub events: EventCode,
    /// Where each variable's value lies.
    pub outputs: Vec<Output>,
    /// Where the derivatives lie that the model has, of states and of others.
    pub derivatives: Vec<Output>,
}

/// A group of rows that came from one equation.
#[derive(Clone, Debug)]
pub struct RowGroup {
    /// First row.
    pub first: usize,
    /// Number of rows.
    pub len: usize,
    /// Where the equation came from.
    pub origin: OriginId,
    /// Its iterators.
    pub domain: Vec<(IterId, Range)>,
    /// The residual.
    pub value: ExprId,
}

/// A variable and the places of its elements.
#[derive(Clone, Debug)]
pub struct Output {
    /// The variable.
    pub var: VarId,
    /// Its value, or a derivative of it.
    pub kind: Kind,
    /// The places of its elements.
    pub place: Place,
}

/// Compiles a DAE.
pub fn compile(dae: Dae) -> Result<Compiled, Box<(FlatModel, CodegenError)>> {
    let mut flat = FlatModel::default();
    match compile_dae(dae, &mut flat) {
        Ok(c) => Ok(c),
        Err(e) => Err(Box::new((flat, e))),
    }
}

/// What `reinit` sets must be states (MLS 3.6 §8.3.6): anything else is computed anew right after it.
fn expect_states(unknowns: &[Unknown], events: &EventCode) -> Result<(), CodegenError> {
    let mut ends = Vec::with_capacity(unknowns.len());
    let mut end = 0;
    for u in unknowns {
        end += u.len;
        ends.push(end);
    }
    let is_state = |place: &Loc| {
        place.bank() == Bank::Y
            && unknowns
                .get(ends.partition_point(|&e| e <= place.index()))
                .is_some_and(|u| u.role == Role::State)
    };
    for when in &events.whens {
        for action in when.branches.iter().flat_map(|b| &b.actions) {
            if let ActionCode::Set {
                targets,
                reinit: true,
                target,
                ..
            } = action
                && !targets.iter().all(is_state)
            {
                return Err(CodegenError::NotAState {
                    access: *target,
                    origin: when.origin,
                });
            }
        }
    }
    Ok(())
}

/// Initial equations that say the same word for word count once: two components that start alike and are connected write them. The structure of the start would let each of
/// them determine an unknown of its own. Expressions are hash-consed and names are replaced by what they stand for, so equal sides are equal numbers.
fn without_repeats(equations: &[Equation]) -> Vec<Equation> {
    let mut seen = FxHashSet::default();
    let first = |e: &&Equation| !e.domain.is_empty() || seen.insert((e.lhs, e.rhs));
    equations.iter().filter(first).cloned().collect()
}

fn compile_dae(mut dae: Dae, keep: &mut FlatModel) -> Result<Compiled, CodegenError> {
    let layout = Layout::new(&dae);
    *keep = std::mem::take(&mut dae.flat);
    let layout = layout?;
    let flat = keep;
    let origin = OriginId(0);
    let n = layout.n;
    bind_given(flat);
    let whens = flat.whens.clone();
    let asserts = flat.asserts.clone();
    let initial_equations = without_repeats(&flat.initial_equations);
    let mut low = Lowering::new(flat, layout);
    inputs(&mut low);
    let continuous_pre = left_limits(&mut low);

    let parameter_items = low.parameter_items(origin)?;
    let parameter_plan = low.plan(&parameter_items, Order::Dependent)?;
    let parameters = low.program(&parameter_plan)?;
    let (starts, start_of) =
        low.attribute_program(|v| v.start.clone(), |v| !v.is_parameter(), origin)?;
    let (nominals, nominal_of) = low.attribute_program(
        |v| v.nominal.clone(),
        |v| !v.is_parameter() && !v.is_discrete(),
        origin,
    )?;
    let (fixeds, fixed_of) = low.attribute_program(|v| v.fixed.clone(), |_| true, origin)?;

    let mut rows = Vec::new();
    let mut row_kinds = Vec::with_capacity(n);
    let mut residual_items = Vec::new();
    let mut next = 0;
    for r in &dae.residuals {
        let len = r.len();
        rows.push(RowGroup {
            first: next,
            len,
            origin: r.origin,
            domain: r.domain.clone(),
            value: r.value,
        });
        row_kinds.extend(std::iter::repeat_n(r.kind, len));
        residual_items.push(Item {
            domain: r.domain.clone(),
            value: r.value,
            target: Target::Consecutive(Bank::Out, next),
            origin: r.origin,
        });
        next += len;
    }
    let (core, rest) = split_locals(low.flat, &low.layout, &dae.locals, &residual_items);
    let local_plan = low.plan(&core, Order::Dependent)?;
    let locals = low.program(&local_plan)?;
    let residual_plan = low.plan(&residual_items, Order::Free)?;
    let residuals = merge(low.program(&residual_plan)?);
    let jacobian = low.jacobian(&[&local_plan], &[&residual_plan], next, Columns::Combined)?;
    let rest_plan = low.plan(&rest, Order::Dependent)?;
    let other_locals = low.program(&rest_plan)?;
    let evaluated: Vec<Item> = core.into_iter().chain(rest).collect();

    let mut initial = low.initial_code(
        Parts {
            parameters: &parameter_items,
            locals: &evaluated,
            aliases: &dae.locals,
            residuals: &residual_items,
            jacobian: (&jacobian, &rest_plan),
            hidden: &dae.hidden,
            equations: &initial_equations,
            discrete: &dae.discrete,
        },
        next,
    )?;
    initial.branching = dae.branching;
    low.parameters_wait = initial.parameters_wait();
    // What is made of them is in the programs now. The rest takes about as much memory again.
    drop((parameter_items, parameter_plan, evaluated));
    drop((residual_items, local_plan, residual_plan, rest_plan));
    if low.flat.vars.len() >= memory::LARGE {
        memory::give_back();
    }

    let mut events = EventCode::default();
    let discrete_items: Vec<Item> = dae
        .discrete
        .iter()
        .map(|d| Item {
            domain: d.domain.clone(),
            value: d.value,
            target: Target::Access(d.target),
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
    low.when_code(&whens, &mut events)?;
    expect_states(&dae.unknowns, &events)?;
    for a in &asserts {
        let code = low.assert_code(a, &a.domain, false)?;
        events.asserts.push(code);
    }
    low.continuity_code(&dae.continuous, &mut events)?;
    low.index_code(&mut events)?;
    low.cell_code(&mut events)?;
    crate::algebraic::mark_relations(
        low.flat,
        &dae.unknowns,
        &dae.locals,
        &initial.jacobian,
        &mut events,
    );

    let outputs = outputs(&low);
    let derivatives = derivatives(&low);
    let kernels = low.take_kernels();
    let tables: Vec<(usize, Vec<f64>)> = low
        .tables
        .iter()
        .map(|(bits, base)| (*base, bits.iter().map(|b| f64::from_bits(*b)).collect()))
        .collect();
    let literals = std::mem::take(&mut low.literals);
    let local_values = (low.layout.locals.iter().zip(&dae.locals))
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
    let mem_len = low.layout.mem_len;
    let layout = std::mem::take(&mut low.layout);
    let flat = std::mem::take(low.flat);
    let mut compiled = Compiled {
        flat,
        unknowns: dae.unknowns,
        layout,
        n,
        mem_len,
        out_len: 0,
        kernels,
        tables,
        literals,
        parameters,
        starts: starts.into_iter().chain(nominals).chain(fixeds).collect(),
        start_of,
        nominal_of,
        fixed_of,
        locals,
        other_locals,
        residuals,
        local_values,
        amplified,
        row_kinds,
        rows,
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

/// Inputs of the model keep the value they are given from outside.
fn inputs(low: &mut Lowering<'_>) {
    let ids: Vec<(VarId, usize)> = low
        .flat
        .var_ids()
        .filter(|(_, v)| v.causality == Causality::Input && !v.is_discrete())
        .map(|(id, v)| (id, v.len()))
        .collect();
    for (id, len) in ids {
        if low.layout.place((id, Kind::Value)).is_none() {
            low.layout.add_mem((id, Kind::Value), len);
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
                if a.kind == Kind::Pre && !low.flat.var(a.var).is_discrete() =>
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
        bases.push((v, low.layout.add_mem((v, Kind::Pre), len)));
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
                kind: Kind::Value,
                place: low.layout.place((var, Kind::Value))?.clone(),
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
        let kinds = (1..=u8::MAX).map(Kind::Der);
        let places = kinds.map_while(|kind| Some((kind, low.layout.place((var, kind))?)));
        found.extend(places.map(|(kind, place)| Output {
            var,
            kind,
            place: place.clone(),
        }));
    }
    found
}

impl Compiled {
    fn longest_out(&self) -> usize {
        let e = &self.events;
        let mut len = (self.n + self.initial.len)
            .max(e.cells)
            .max(e.timetable.cells)
            .max(e.conditions_len);
        len = len.max(
            e.time_events
                .iter()
                .map(|t| t.out + t.len)
                .max()
                .unwrap_or(0),
        );
        len = len.max(e.samples.iter().map(|s| 2 * s.len).max().unwrap_or(0));
        len = len.max(e.delays.iter().map(|d| 3 * d.len).max().unwrap_or(0));
        len = len.max(
            e.spatials
                .iter()
                .map(|s| s.arguments_len())
                .max()
                .unwrap_or(0),
        );
        len = len.max(e.asserts.iter().map(|a| a.len).max().unwrap_or(0));
        len = len.max(e.continuous.iter().map(|c| 2 * c.len).max().unwrap_or(0));
        len = len.max(e.indexed.iter().map(|i| i.len).max().unwrap_or(0));
        for when in &e.whens {
            for branch in &when.branches {
                for action in &branch.actions {
                    len = len.max(match action {
                        crate::ActionCode::Set { targets, .. } => targets.len(),
                        crate::ActionCode::Assert(a) => a.len,
                        crate::ActionCode::Terminate { .. } | crate::ActionCode::Print { .. } => 0,
                    });
                }
            }
        }
        len
    }

    /// Name of component `i` of `x`, as the user wrote it.
    pub fn unknown_name(&self, i: usize) -> String {
        let mut first = 0;
        for u in &self.unknowns {
            if i < first + u.len {
                let k = i - first;
                let (quantity, prefix) = match (u.value, u.derivative) {
                    (Some(q), _) => (q, ""),
                    (None, Some(q)) => (q, "integral of "),
                    (None, None) => return format!("x[{}]", i + 1),
                };
                let element = u.elements.as_ref().map_or(k, |e| e.at(k));
                return format!(
                    "{prefix}{}",
                    self.element_name(quantity.0, quantity.1, element)
                );
            }
            first += u.len;
        }
        format!("x[{}]", i + 1)
    }

    /// Name of the derivative of component `i` of `x`.
    pub fn derivative_name(&self, i: usize) -> String {
        let mut first = 0;
        for u in &self.unknowns {
            if i < first + u.len {
                let k = i - first;
                let element = u.elements.as_ref().map_or(k, |e| e.at(k));
                return match u.derivative {
                    Some((var, kind)) => self.element_name(var, kind, element),
                    None => format!("der({})", self.unknown_name(i)),
                };
            }
            first += u.len;
        }
        format!("der(x[{}])", i + 1)
    }

    /// The first place in `Mem` of a quantity that lies there in one piece.
    pub fn region(&self, var: VarId, kind: Kind) -> Option<usize> {
        match self.layout.place((var, kind)) {
            Some(Place::Whole(Bank::Mem, base)) => Some(*base),
            _ => None,
        }
    }

    /// The name of what lies at a location, for messages.
    pub fn name_of(&self, loc: Loc) -> String {
        for output in &self.outputs {
            let len = self.flat.var(output.var).len();
            if let Some(k) = (0..len).find(|&k| output.place.at(k) == loc) {
                return self.element_name(output.var, Kind::Value, k);
            }
        }
        format!("{loc:?}")
    }

    /// Name of one element of a variable or its derivative.
    pub fn element_name(&self, var: VarId, kind: Kind, element: usize) -> String {
        let v = self.flat.var(var);
        let name = v.name.element(&subscripts(&v.dims, element));
        match kind {
            Kind::Value => name,
            Kind::Pre => format!("pre({name})"),
            Kind::Der(order) => format!(
                "{}{name}{}",
                "der(".repeat(order as usize),
                ")".repeat(order as usize)
            ),
        }
    }

    /// How the matrix of consistent values is made of the partial derivatives of [`Compiled::jacobian`]: the states are known,
    /// column `k` is that of `x'[k]` for those and of `x[k]` for the others.
    pub fn consistent(&self) -> Schedule {
        let mut known: Vec<(usize, usize)> = Vec::new();
        let mut first = 0;
        for u in self.unknowns.iter().filter(|u| u.len > 0) {
            let end = first + u.len;
            if u.role != Role::Algebraic {
                match known.last_mut() {
                    Some(last) if last.1 == first => last.1 = end,
                    _ => known.push((first, end)),
                }
            }
            first = end;
        }
        self.jacobian.schedule_of(&Columns::Consistent { known })
    }

    /// The group of a residual or initial row, and the number of the row in it.
    pub fn row_group(&self, row: usize) -> Option<(&RowGroup, usize)> {
        self.rows
            .iter()
            .chain(&self.initial.rows)
            .find(|g| row >= g.first && row < g.first + g.len)
            .map(|g| (g, row - g.first))
    }

    /// True when a local assignment or an output reads a derivative of an unknown.
    pub fn uses_slopes(&self) -> bool {
        let reads = |a: &Address| {
            matches!(
                a,
                Address::Affine { bank: Bank::Yp, .. } | Address::Table { bank: Bank::Yp, .. }
            )
        };
        let mut locals = self.locals.iter().chain(&self.other_locals);
        locals.any(|c| c.slots.iter().any(reads))
            || self.outputs.iter().any(|o| match &o.place {
                Place::Whole(bank, _) => *bank == Bank::Yp,
                Place::Pieces(p) => p.iter().any(|p| p.at.bank() == Bank::Yp),
                Place::Table(t) => t.iter().any(|l| *l != Loc::NONE && l.bank() == Bank::Yp),
            })
    }

    /// Which components of `x` were introduced by the compiler.
    pub fn auxiliaries(&self) -> Vec<bool> {
        let mut all = Vec::with_capacity(self.n);
        for u in &self.unknowns {
            let auxiliary = u.value.is_none_or(|q| self.flat.var(q.0).auxiliary);
            all.extend(std::iter::repeat_n(auxiliary, u.len));
        }
        all
    }

    /// The role of component `i` of `x`.
    pub fn role(&self, i: usize) -> Option<Role> {
        let mut first = 0;
        for u in &self.unknowns {
            if i < first + u.len {
                return Some(u.role);
            }
            first += u.len;
        }
        None
    }

    /// The location of a scalar of a variable.
    pub fn location(&self, output: &Output, element: usize) -> Loc {
        output.place.at(element)
    }
}

/// Subscripts from 1 of a flattened element.
pub fn subscripts(dims: &[usize], element: usize) -> Vec<usize> {
    let mut rest = element;
    let mut subs = vec![0; dims.len()];
    for (k, &d) in dims.iter().enumerate().rev() {
        subs[k] = rest % d.max(1) + 1;
        rest /= d.max(1);
    }
    subs
}
