//! Initial equations that only say what an unknown is: `x[k] = 20`, `v = v0*k`.
//!
//! In: the rows of the start that are initial equations. Out: for those with an unknown alone on one side and something that is known
//! before the start on the other (literals, parameters, iterators, `time`), where the unknowns lie and what their values are. A
//! large system takes them over as they are; no equation has to be solved for them. All others are left to the solution
//! of the start, and so are these where another condition is about the same unknown.
//!
//! By runs of unknowns, not by elements; what is evaluated fills one place in `Mem` for each element.

use acausal_compiled::{GivenStart, GivenValues};
use acausal_expr::flat::Equation;
use acausal_expr::{Access, Builtin, ExprId, Node, ValueKind};
use acausal_jit::kernel::Bank;

use crate::CodegenError;
use crate::address::{domain_len, locate};
use crate::items::{Item, ItemTarget};
use crate::lower::Lowering;
use acausal_compiled::InitialCode;
use acausal_compiled::StridedRun;

impl Lowering<'_> {
    /// Adds the given values of an initial equation whose rows are the next group, if it is of this kind.
    pub(crate) fn add_given(
        &mut self,
        eq: &Equation,
        code: &mut InitialCode,
        items: &mut Vec<Item>,
    ) -> Result<(), CodegenError> {
        let sides = [(eq.lhs, eq.rhs), (eq.rhs, eq.lhs)];
        let found = sides.into_iter().find_map(|(unknown, value)| {
            let Node::Var(access) = self.flat.exprs.node(unknown) else {
                return None;
            };
            (access.kind == ValueKind::Value && self.is_known(value)).then_some((access, value))
        });
        let Some((access, value)) = found else {
            return Ok(());
        };
        let Some(runs) = self.unknown_runs(eq, access)? else {
            return Ok(());
        };
        let values = match self.flat.exprs.as_f64(value) {
            Some(v) => GivenValues::Literal(v),
            None => {
                let base = self.layout.reserve(domain_len(&eq.domain));
                items.push(Item {
                    domain: eq.domain.clone().into(),
                    value,
                    target: ItemTarget::Consecutive(Bank::Mem, base),
                    origin: eq.origin,
                });
                GivenValues::Mem(base)
            }
        };
        code.given.push(GivenStart {
            group: code.rows.len(),
            places: runs.iter().map(|r| (r.base, r.count, r.stride)).collect(),
            values,
        });
        Ok(())
    }

    /// The runs in `Y` of the left side of an equation, if they are all there and few.
    fn unknown_runs(
        &self,
        eq: &Equation,
        access: Access,
    ) -> Result<Option<Vec<StridedRun>>, CodegenError> {
        if !crate::address::is_static(&self.flat.exprs, access) {
            return Ok(None);
        }
        let Some(place) = self.layout.place((access.var, ValueKind::Value)) else {
            return Ok(None);
        };
        let locations = locate(self.flat, place, &eq.domain, access, eq.origin)?;
        let runs = locations.runs(domain_len(&eq.domain));
        Ok(runs.filter(|r| r.iter().all(|r| r.bank == Bank::Y)))
    }

    /// Whether a value is known before the start.
    fn is_known(&self, value: ExprId) -> bool {
        let x = &self.flat.exprs;
        let mathematical = |f: Builtin| {
            use Builtin::*;
            matches!(
                f,
                Sqrt | Sin
                    | Cos
                    | Tan
                    | Asin
                    | Acos
                    | Atan
                    | Atan2
                    | Sinh
                    | Cosh
                    | Tanh
                    | Exp
                    | Log
                    | Log10
            )
        };
        x.reachable(&[value]).iter().all(|&e| match x.node(e) {
            Node::Real(_) | Node::Int(_) | Node::Time | Node::Iter(_) => true,
            Node::Add(_) | Node::Mul(_) | Node::Div(..) | Node::Pow(..) => true,
            Node::Call(f, _) => mathematical(f),
            Node::Var(a) => {
                self.flat.var(a.var).is_parameter()
                    && !self.active.contains(&a.var)
                    && crate::address::is_static(x, a)
            }
            _ => false,
        })
    }
}
