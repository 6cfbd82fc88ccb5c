//! Arrays of which `when` clauses assign a part: that part is discrete, the rest is not (MLS 3.6 §3.8.3 speaks of elements).
//!
//! What `when` assigns moves to a discrete variable of its own with the shape of the array, and an equation over the part says that both are
//! equal. The array stays whole and is continuous again; who reads or asks for the left limit of elements that are all discrete gets them from
//! the discrete variable.
//!
//! ```text
//! when time > 1 then v[1] = 3; end when;      when time > 1 then $when.v[1] = 3; end when;
//! v[2] = sin(time);                           v[2] = sin(time);  v[1] = $when.v[1];
//! ```
//!
//! In: the complete flat model and the Real variables that are discrete because of `when` only. Out: the model without arrays of both kinds. Parts are
//! boxes of subscripts ([`acausal_expr::subscripts`]), so that the cost follows the number of clauses and equations. An array of whose
//! elements a subscript says nothing at compile time stays discrete as a whole.

use acausal_base::{Diagnostic, Name};
use acausal_expr::flat::{
    Action, Comprehension, Equation, FlatModel, Origin, OriginId, OriginKind, VarName, Variability,
};
use acausal_expr::subscripts::{ElementBox, box_len, difference_all};
use acausal_expr::{Access, ExprId, IterId, Node, Range, RelOp, Ty, ValueKind, VarId};
use acausal_symbolic::{Assigned, AssignedPart, Substitute};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

type Domain = Vec<(IterId, Range)>;

/// The discrete part of an array.
struct Part {
    /// The variable that `when` clauses assign from now on.
    held: VarId,
    /// Which elements, in boxes without common elements.
    boxes: Vec<ElementBox>,
    /// The first clause.
    origin: OriginId,
}

/// What happened.
#[derive(Default)]
pub(super) struct Separated {
    /// Scalars of the new variables that nothing assigns.
    pub unassigned: usize,
    /// Left limits of continuous elements.
    pub messages: Vec<Diagnostic>,
}

/// Separates the discrete parts of these variables.
pub(super) fn separate(model: &mut FlatModel, by_when: &[VarId]) -> Separated {
    let mut parts: IndexMap<VarId, Part, FxBuildHasher> = IndexMap::default();
    let mut done = Separated::default();
    let arrays = by_when.iter().filter(|v| !model.var(**v).dims.is_empty());
    let arrays: Vec<VarId> = arrays.copied().collect();
    if arrays.is_empty() {
        return done;
    }
    let assigned = Assigned::new(model);
    for var in arrays {
        let Some(AssignedPart {
            boxes: Some(boxes),
            origin,
        }) = assigned.part(var)
        else {
            continue;
        };
        let count: usize = boxes.iter().map(|b| box_len(b)).sum();
        let len = model.var(var).len();
        if count < len {
            let held = held_variable(model, var);
            done.unassigned += len - count;
            let part = Part {
                held,
                boxes: boxes.clone(),
                origin: *origin,
            };
            parts.insert(var, part);
        }
    }
    if parts.is_empty() {
        return done;
    }
    redirect(model, &parts);
    left_limits(model, &parts, &mut done.messages);
    for (&var, part) in &parts {
        unfix(model, var, part);
        equalities(model, var, part);
    }
    done
}

/// A discrete variable like the array, which becomes continuous.
fn held_variable(model: &mut FlatModel, var: VarId) -> VarId {
    let array = &mut model.vars[var.index()];
    array.variability = Variability::Continuous;
    let mut held = array.clone();
    held.variability = Variability::Discrete;
    held.auxiliary = true;
    held.protected = true;
    held.flow = false;
    held.causality = acausal_expr::flat::Causality::Local;
    held.binding = None;
    let mut parts = held.name.parts();
    if let Some(first) = parts.first_mut() {
        first.0 = Name::new(&format!("$when.{}", first.0.as_str()));
    }
    held.name = VarName::new(&parts);
    model.vars.push(held);
    VarId(model.vars.len() as u32 - 1)
}

/// Reads and writes discrete elements where they are now.
fn redirect(model: &mut FlatModel, parts: &IndexMap<VarId, Part, FxBuildHasher>) {
    let x = &mut model.exprs;
    let mut new = |e: &mut ExprId, domain: &[(IterId, Range)]| {
        let mut all = domain.to_vec();
        for n in x.reachable(&[*e]) {
            if let Node::Reduce { iter, range, .. } = x.node(n) {
                all.push((iter, range));
            }
        }
        *e = x.rewrite(*e, |x, n| {
            let Node::Var(a) = x.node(n) else {
                return None;
            };
            let part = parts.get(&a.var)?;
            let (elements, _) = x.box_of(a, &all)?;
            if matches!(a.kind, ValueKind::Der(_))
                || !difference_all(&elements, &part.boxes).is_empty()
            {
                return None;
            }
            let var = part.held;
            Some(x.access(Access { var, ..a }, Ty::Real))
        });
    };
    let equations = (model.equations.iter_mut()).chain(&mut model.initial_equations);
    for eq in equations {
        new(&mut eq.lhs, &eq.domain);
        new(&mut eq.rhs, &eq.domain);
    }
    for a in &mut model.asserts {
        new(&mut a.condition, &a.domain);
        new(&mut a.message, &a.domain);
    }
    for p in &mut model.prints {
        new(&mut p.message, &p.domain);
    }
    for when in &mut model.whens {
        for branch in &mut when.branches {
            for c in &mut branch.conditions {
                new(c, &when.domain);
            }
            for action in &mut branch.actions {
                let mut with = when.domain.clone();
                match action {
                    Action::Assign {
                        domain,
                        target,
                        value,
                    } => {
                        with.extend(domain.iter());
                        new(value, &with);
                        if let Some(part) = parts.get(&target.var) {
                            target.var = part.held;
                        }
                    }
                    Action::Reinit { domain, value, .. } => {
                        with.extend(domain.iter());
                        new(value, &with);
                    }
                    Action::Assert(a) => {
                        with.extend(&a.domain);
                        new(&mut a.condition, &with);
                        new(&mut a.message, &with);
                    }
                    Action::Print { message, .. } | Action::Terminate { message, .. } => {
                        new(message, &with);
                    }
                }
            }
        }
    }
}

/// Outside of `when` a continuous element has no left limit.
fn left_limits(
    model: &FlatModel,
    parts: &IndexMap<VarId, Part, FxBuildHasher>,
    messages: &mut Vec<Diagnostic>,
) {
    let sides = (model.equations.iter()).map(|eq| ([eq.lhs, eq.rhs], eq.origin));
    let asserts = (model.asserts.iter()).map(|a| ([a.condition, a.message], a.origin));
    for (roots, origin) in sides.chain(asserts) {
        let mut found = None;
        model.exprs.for_each_access(&roots, |_, a| {
            if a.kind == ValueKind::Pre && parts.contains_key(&a.var) {
                found = found.max(Some(a.var));
            }
        });
        if let Some(var) = found {
            let name = model.var(var).name.plain();
            let message = format!(
                "some elements of `{name}` are continuous: they have no left limit outside of `when`"
            );
            let span = model.origin(origin).span;
            messages.push(
                Diagnostic::error("pre-of-continuous", span, message)
                    .note("`pre`, `edge` and `change` take discrete variables (MLS 3.6 §3.7.5)"),
            );
        }
    }
}

/// At the start discrete elements are what their clauses and start values say, so that `fixed` is about the others.
fn unfix(model: &mut FlatModel, var: VarId, part: &Part) {
    let Some(fixed) = model.var(var).fixed.clone() else {
        return;
    };
    let x = &mut model.exprs;
    let dims = model.vars[var.index()].dims.len();
    let iters: Vec<IterId> = match fixed.iters.len() == dims {
        true => fixed.iters.to_vec(),
        false => (0..dims).map(|_| x.fresh_iter()).collect(),
    };
    let (no, mut body) = (x.bool(false), fixed.body);
    for elements in &part.boxes {
        let mut inside = x.bool(true);
        for (&iter, range) in iters.iter().zip(elements) {
            let (i, low, high) = (x.iter(iter), x.int(range.start), x.int(range.last()));
            let conditions = [x.rel(RelOp::Ge, i, low), x.rel(RelOp::Le, i, high)];
            for c in conditions {
                inside = x.and(inside, c);
            }
            if range.step > 1 {
                let (gap, step, zero) = (x.sub(i, low), x.int(range.step), x.int(0));
                let rest = x.call(acausal_expr::Builtin::Mod, &[gap, step]);
                let met = x.rel(RelOp::Eq, rest, zero);
                inside = x.and(inside, met);
            }
        }
        body = x.if_(inside, no, body);
    }
    model.vars[var.index()].attributes_mut().fixed = Some(Comprehension {
        iters: iters.into(),
        body,
    });
}

/// `v[..] = $when.v[..]` over the discrete part.
fn equalities(model: &mut FlatModel, var: VarId, part: &Part) {
    let Origin {
        span, component, ..
    } = model.origin(part.origin).clone();
    model.origins.push(Origin {
        span,
        component,
        kind: OriginKind::Auxiliary,
    });
    let origin = OriginId(model.origins.len() as u32 - 1);
    for elements in &part.boxes {
        let x = &mut model.exprs;
        let mut domain = Domain::new();
        let mut subs = Vec::new();
        for &range in elements {
            if range.count == 1 {
                subs.push(x.int(range.start));
            } else {
                let iter = x.fresh_iter();
                domain.push((iter, range));
                subs.push(x.iter(iter));
            }
        }
        let lhs = x.var(var, ValueKind::Value, &subs, Ty::Real);
        let rhs = x.var(part.held, ValueKind::Value, &subs, Ty::Real);
        model.equations.push(Equation {
            domain: domain.into(),
            lhs,
            rhs,
            origin,
        });
    }
}
