//! The compiled model.

use acausal_expr::Symbols;
use acausal_expr::assumption::Assumptions;
use acausal_expr::flat::OriginId;
use acausal_expr::unknown::{RowKind, Unknown, UnknownRole};
use acausal_expr::{ExprId, IterId, Range, ValueKind, VarId};
use acausal_jit::kernel::{Address, Bank, Kernel, Program};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::events::EventCode;
use crate::initial::InitialCode;
use crate::jacobian::{Jacobian, JacobianColumns};
use crate::layout::Layout;
use crate::location::{Loc, Place};
use crate::schedule::Schedule;

/// A compiled model: programs, layout and sparsity.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompiledModel {
    /// Names, declarations and origins.
    pub symbols: Symbols,
    /// What was taken for granted about the values of parameters.
    pub assumptions: Assumptions,
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
    #[serde(with = "crate::sorted")]
    pub start_of: FxHashMap<VarId, usize>,
    /// Where the nominal values lie.
    #[serde(with = "crate::sorted")]
    pub nominal_of: FxHashMap<VarId, usize>,
    /// Where the `fixed` attributes lie.
    #[serde(with = "crate::sorted")]
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
#[derive(Clone, Debug, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Output {
    /// The variable.
    pub var: VarId,
    /// Its value, or a derivative of it.
    pub kind: ValueKind,
    /// The places of its elements.
    pub place: Place,
}

impl CompiledModel {
    /// Length of `Out` that every program fits into.
    pub fn longest_out(&self) -> usize {
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
    pub fn region(&self, var: VarId, kind: ValueKind) -> Option<usize> {
        match self.layout.place((var, kind)) {
            Some(Place::Whole(Bank::Mem, base)) => Some(*base),
            _ => None,
        }
    }

    /// The name of what lies at a location, for messages.
    pub fn name_of(&self, loc: Loc) -> String {
        for output in &self.outputs {
            let len = self.symbols.var(output.var).len();
            if let Some(k) = (0..len).find(|&k| output.place.at(k) == loc) {
                return self.element_name(output.var, ValueKind::Value, k);
            }
        }
        format!("{loc:?}")
    }

    /// Name of one element of a variable or its derivative.
    pub fn element_name(&self, var: VarId, kind: ValueKind, element: usize) -> String {
        let v = self.symbols.var(var);
        let name = v.name.element(&subscripts(&v.dims, element));
        match kind {
            ValueKind::Value => name,
            ValueKind::Pre => format!("pre({name})"),
            ValueKind::Der(order) => format!(
                "{}{name}{}",
                "der(".repeat(order as usize),
                ")".repeat(order as usize)
            ),
        }
    }

    /// How the matrix of consistent values is made of the partial derivatives of [`CompiledModel::jacobian`]: the states are known,
    /// column `k` is that of `x'[k]` for those and of `x[k]` for the others.
    pub fn consistent(&self) -> Schedule {
        let mut known: Vec<(usize, usize)> = Vec::new();
        let mut first = 0;
        for u in self.unknowns.iter().filter(|u| u.len > 0) {
            let end = first + u.len;
            if u.role != UnknownRole::Algebraic {
                match known.last_mut() {
                    Some(last) if last.1 == first => last.1 = end,
                    _ => known.push((first, end)),
                }
            }
            first = end;
        }
        self.jacobian
            .schedule_of(&JacobianColumns::Consistent { known })
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
            let auxiliary = u.value.is_none_or(|q| self.symbols.var(q.0).auxiliary);
            all.extend(std::iter::repeat_n(auxiliary, u.len));
        }
        all
    }

    /// The role of component `i` of `x`.
    pub fn role(&self, i: usize) -> Option<UnknownRole> {
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
