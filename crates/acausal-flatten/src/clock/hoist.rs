//! A variable for what an operator of clocks has to remember.
//!
//! `hold(u)`, `superSample(u, ..)`, `shiftSample(u, ..)` and `backSample(u, ..)` give, at later instants, the value that `u` had at the last tick of its own
//! clock. A variable keeps it; another operator as `u` would be evaluated at the later instant. In: a
//! model with `shiftSample(previous(x), 1, 2)`. Out: `s = previous(x)` and `shiftSample(s, 1, 2)`.

use acausal_base::Diagnostic;
use acausal_expr::flat::{Comprehension, Equation, FlatModel, VarType, Variability, Variable};
use acausal_expr::{Builtin, ExprId, Exprs, IterId, Node, Range, Ty, ValueKind, VarId};
use acausal_symbolic::Substitute;

use super::Clocks;

/// Gives such arguments variables of their own. Gives errors.
pub(super) fn hoist(model: &mut FlatModel, clocks: &mut Clocks) -> Vec<Diagnostic> {
    let mut messages = Vec::new();
    let mut added: Vec<Equation> = Vec::new();
    for k in 0..model.equations.len() {
        let eq = model.equations[k].clone();
        let first = added.len();
        for (side, is_left) in [(eq.lhs, true), (eq.rhs, false)] {
            let new = rewrite(model, side, &eq, &mut added);
            if new == side {
                continue;
            }
            if eq.domain.iter().any(|d| d.1.step != 1) {
                messages.push(Diagnostic::error(
                    "unsupported",
                    model.origin(eq.origin).span,
                    "nested operators of clocks in a loop with a step are not supported yet",
                ));
            }
            match is_left {
                true => model.equations[k].lhs = new,
                false => model.equations[k].rhs = new,
            }
            for clause in &mut clocks.clauses {
                if let Some(place) = clause.sides.iter().position(|&s| s == side) {
                    clause.sides[place] = new;
                    let sides = added[first..].iter().flat_map(|a| [a.lhs, a.rhs]);
                    clause.sides.extend(sides);
                }
            }
        }
    }
    model.equations.append(&mut added);
    messages
}

/// The expression with variables in the place of such arguments, innermost first.
fn rewrite(model: &mut FlatModel, e: ExprId, eq: &Equation, added: &mut Vec<Equation>) -> ExprId {
    let mut variables: Vec<(VarType, ExprId)> = Vec::new();
    let first = model.vars.len();
    let domain: Vec<(IterId, Range)> = eq.domain.to_vec();
    let new = model.exprs.rewrite_upwards(e, |x, node| {
        use Builtin::{BackSample, Hold, ShiftSample, SuperSample};
        let Node::Call(f @ (Hold | SuperSample | ShiftSample | BackSample), args) = x.node(node)
        else {
            return None;
        };
        let mut args = x.list(args).to_vec();
        let is_operator =
            |x: &Exprs, n: ExprId| matches!(x.node(n), Node::Call(f, _) if f.is_clocked());
        if !x.any(args[0], is_operator) {
            return None;
        }
        let ty = x.ty(args[0]);
        let kind = match ty {
            Ty::Real => VarType::Real,
            Ty::Int => VarType::Integer,
            Ty::Bool => VarType::Boolean,
            Ty::Str => return None,
        };
        let subs = subscripts(x, &domain);
        let var = VarId((first + variables.len()) as u32);
        variables.push((kind, args[0]));
        args[0] = x.var(var, ValueKind::Value, &subs, ty);
        Some(x.call(f, &args))
    });
    for (k, (ty, value)) in variables.into_iter().enumerate() {
        let dims: Vec<usize> = domain.iter().map(|d| d.1.count as usize).collect();
        let name = format!("remembered value {}", first + k + 1);
        let mut variable = Variable {
            protected: true,
            auxiliary: true,
            ..Variable::new(&name, dims, ty, Variability::Discrete)
        };
        // Before its first tick a clocked variable has its start value.
        let x = &mut model.exprs;
        let start = match ty {
            VarType::Integer | VarType::Enum(_) => x.int(0),
            VarType::Boolean => x.bool(false),
            _ => x.real(0.0),
        };
        let iters = domain.iter().map(|_| x.fresh_iter()).collect();
        variable.attributes_mut().start = Some(Comprehension { iters, body: start });
        model.vars.push(variable);
        let x = &mut model.exprs;
        let subs = subscripts(x, &domain);
        let ty = x.ty(value);
        let lhs = x.var(VarId((first + k) as u32), ValueKind::Value, &subs, ty);
        added.push(Equation {
            lhs,
            rhs: value,
            ..eq.clone()
        });
    }
    new
}

/// The place of each iterator in its range.
fn subscripts(x: &mut Exprs, domain: &[(IterId, Range)]) -> Vec<ExprId> {
    let mut subs = Vec::with_capacity(domain.len());
    for (iter, range) in domain {
        let (value, shift) = (x.iter(*iter), x.int(1 - range.start));
        subs.push(x.add(&[value, shift]));
    }
    subs
}
