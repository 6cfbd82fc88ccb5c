//! Whether what the compiler took for granted holds for the values of parameters ([`acausal_expr::assumption`]).
//!
//! Asked once for each simulation that sets parameters, after all parameters have been computed. The growth of errors in a torn loop is bounded as the compiler
//! did it, by the same function with the new coefficients, so what is accepted here is what the compiler would have accepted. Linear in the
//! coefficients; of an array one element is looked at, unless its parameters differ from element to element.

use acausal_base::Diagnostic;
use acausal_compiled::CompiledModel;
use acausal_expr::assumption::{
    CoefficientSize, LoopAssumption, LoopRow, LoopTerm, PivotAssumption, Points,
    RedundantAssumption,
};
use acausal_expr::flat::{OriginId, VarType};
use acausal_expr::{ExprId, Exprs, IterId, Node, ScalarValue, ValueKind, derivative_bound};
use acausal_graph::growth::{Growth, Term};
use acausal_graph::{EqId, VarId};

use crate::machine::Machine;

/// Known quantities are equal up to this share of their size, as for the compiler.
const EQUAL: f64 = 1e-12;

/// Nothing is known about a coefficient.
const UNKNOWN: (f64, f64) = (0.0, f64::INFINITY);

/// What does not hold any more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrokenAssumption {
    /// In which way.
    pub kind: BrokenKind,
    /// The equation.
    pub origin: OriginId,
}

/// Ways in which new values do not fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BrokenKind {
    /// A coefficient that is divided by is zero, or very small, or not finite.
    Pivot(f64),
    /// Errors would grow along the assignments of a loop, by this factor if it is known.
    Growth(Option<f64>),
    /// An equation was left out that does not hold: the difference of its sides.
    Redundant(f64),
}

impl BrokenAssumption {
    /// The message for the user.
    pub fn diagnostic(&self, model: &CompiledModel) -> Diagnostic {
        let message = match self.kind {
            BrokenKind::Pivot(v) => format!(
                "this equation was solved by a division that the parameters now make impossible: its coefficient is {v}"
            ),
            BrokenKind::Growth(Some(g)) if g.is_finite() => format!(
                "with these parameters errors would grow {g:.1e} times in the loop of this equation as the compiler has solved it"
            ),
            BrokenKind::Growth(_) => "with these parameters nothing bounds the errors in the loop of this equation as the compiler has solved it".to_string(),
            BrokenKind::Redundant(v) => format!(
                "this equation held for the parameters of the compiled model and was left out, but now its sides differ by {v}"
            ),
        };
        let origin = model.symbols.origin(self.origin);
        let d = Diagnostic::error("compile-again", origin.span, message);
        let d = match origin.component.is_empty() {
            true => d,
            false => d.note(format!("in component {}", origin.component)),
        };
        d.hint("compile the model again with these values: `acausal compile MODEL.mo --set NAME=VALUE`")
    }
}

/// Looks at everything that was taken for granted.
pub(crate) fn check_assumptions(machine: &Machine) -> Result<(), BrokenAssumption> {
    let all = &machine.model.assumptions;
    let values = Values {
        model: &machine.model,
        mem: &machine.mem,
    };
    all.pivots.iter().try_for_each(|p| values.pivot(p))?;
    all.redundant.iter().try_for_each(|r| values.redundant(r))?;
    all.loops.iter().try_for_each(|l| values.torn_loop(l))
}

/// The values of expressions of parameters.
struct Values<'m> {
    model: &'m CompiledModel,
    mem: &'m [f64],
}

/// Values of iterators.
type Point = [(IterId, i64)];

impl Values<'_> {
    fn pivot(&self, p: &PivotAssumption) -> Result<(), BrokenAssumption> {
        let mut wrong = None;
        self.for_each_point(&p.points, &[p.value], |at| {
            let v = self.number(p.value, at).unwrap_or(f64::NAN);
            let fits = v.is_finite() && v != 0.0 && v.abs() >= p.least;
            if !fits {
                wrong.get_or_insert(v);
            }
        });
        wrong.map_or(Ok(()), |v| {
            Err(BrokenAssumption {
                kind: BrokenKind::Pivot(v),
                origin: p.origin,
            })
        })
    }

    fn redundant(&self, r: &RedundantAssumption) -> Result<(), BrokenAssumption> {
        let x = &self.model.symbols.exprs;
        let terms = match x.node(r.value) {
            Node::Add(l) => x.list(l).to_vec(),
            _ => vec![r.value],
        };
        let mut wrong = None;
        self.for_each_point(&r.points, &terms, |at| {
            let values = terms
                .iter()
                .map(|&t| self.number(t, at).unwrap_or(f64::NAN));
            let (sum, size) = values.fold((0.0, 0.0f64), |(s, m), v| (s + v, m.max(v.abs())));
            // Not a number does not hold either.
            let holds = sum.abs() <= EQUAL * size;
            if !holds {
                wrong.get_or_insert(sum);
            }
        });
        wrong.map_or(Ok(()), |v| {
            Err(BrokenAssumption {
                kind: BrokenKind::Redundant(v),
                origin: r.origin,
            })
        })
    }

    fn torn_loop(&self, l: &LoopAssumption) -> Result<(), BrokenAssumption> {
        let unknowns: Vec<VarId> = (0..l.given.len()).map(VarId::new).collect();
        let equations: Vec<EqId> = (0..l.rows.len()).map(EqId::new).collect();
        let given = |v: VarId| l.given[v.index()];
        let terms = |e: EqId| {
            let row = &l.rows[e.index()];
            row.terms.iter().map(|t| self.term(row, t)).collect()
        };
        let growth = Growth::new(&unknowns, &equations, given, terms);
        let pairs = l.solved.iter().map(|s| (EqId(s.0), VarId(s.1)));
        let pairs: Vec<(EqId, VarId)> = pairs.collect();
        let mut stays = vec![false; l.rows.len()];
        for s in &l.solved {
            stays[s.0 as usize] = s.2;
        }
        let checked = growth.check(&pairs, |e| stays[e.index()]);
        match checked.given_up.first() {
            None => Ok(()),
            Some(g) => Err(BrokenAssumption {
                kind: BrokenKind::Growth(g.growth),
                origin: l.rows[g.equation.index()].origin,
            }),
        }
    }

    fn term(&self, row: &LoopRow, t: &LoopTerm) -> Term {
        let (least, most) = match t.size {
            CoefficientSize::Known(least, most) => (least, most),
            CoefficientSize::Value(value) => self.range(row, &[value], |at| {
                self.number(value, at)
                    .map_or(UNKNOWN, |v| (v.abs(), v.abs()))
            }),
            CoefficientSize::Slope(access) => {
                self.range(row, &row.sides, |at| self.bound(row, access, at))
            }
        };
        Term {
            variables: t.variables.iter().map(|&v| VarId(v)).collect(),
            solves: t.solves.map(VarId),
            least,
            most,
            nonlinear: t.nonlinear,
        }
    }

    /// The smallest and the largest size over the elements of an equation.
    fn range(
        &self,
        row: &LoopRow,
        of: &[ExprId],
        size: impl Fn(&Point) -> (f64, f64),
    ) -> (f64, f64) {
        let mut out = (f64::INFINITY, 0.0f64);
        self.for_each_point(&row.points, of, |at| {
            let (least, most) = size(at);
            out = match most.is_finite() {
                true => (out.0.min(least), out.1.max(most)),
                false => UNKNOWN,
            };
        });
        out
    }

    /// The bound of the slope of an equation in an access.
    fn bound(&self, row: &LoopRow, access: ExprId, at: &Point) -> (f64, f64) {
        let x = &self.model.symbols.exprs;
        let parameter = |p: ExprId| match row.unknown.binary_search(&p) {
            Ok(_) => None,
            Err(_) => self.number(p, at),
        };
        let side = |e: ExprId| derivative_bound(x, e, access, parameter);
        let ((a, b), (c, d)) = (side(row.sides[0]), side(row.sides[1]));
        acausal_expr::magnitude((a - d, b - c)).unwrap_or(UNKNOWN)
    }

    /// The value of an expression of parameters; none if anything else occurs in it.
    fn number(&self, e: ExprId, at: &Point) -> Option<f64> {
        let leaf = |x: &Exprs, leaf: ExprId, subs: &[i64]| match x.node(leaf) {
            Node::Iter(i) => at.iter().find(|a| a.0 == i).map(|a| ScalarValue::Int(a.1)),
            Node::Var(a) if a.kind == ValueKind::Value => self.parameter(a.var, subs),
            _ => None,
        };
        let value = self.model.symbols.exprs.evaluate(e, leaf).ok()?;
        value.as_f64()
    }

    /// The value of an element of a parameter.
    fn parameter(&self, id: acausal_expr::VarId, subs: &[i64]) -> Option<ScalarValue> {
        let var = self.model.symbols.var(id);
        let base = self.model.region(id, ValueKind::Value);
        let base = base.filter(|_| var.is_parameter() && subs.len() == var.dims.len())?;
        let mut pairs = var.dims.iter().zip(subs);
        let place = pairs.try_fold(0, |place, (&d, &s)| {
            let s = usize::try_from(s).ok()?;
            (1..=d).contains(&s).then(|| place * d + s - 1)
        })?;
        let v = *self.mem.get(base + place)?;
        Some(match var.ty {
            VarType::Boolean => ScalarValue::Bool(v != 0.0),
            VarType::Integer | VarType::Enum(_) => ScalarValue::Int(v as i64),
            VarType::Real | VarType::String => ScalarValue::Real(v),
        })
    }

    /// Calls `f` for all points that have to be looked at.
    fn for_each_point(&self, points: &Points, of: &[ExprId], mut f: impl FnMut(&Point)) {
        let mut at: Vec<(IterId, i64)> =
            (points.domain.iter()).map(|(i, r)| (*i, r.start)).collect();
        let all = points.every || !of.iter().all(|&e| self.is_uniform(e));
        loop {
            f(&at);
            // The next point; the last iterator varies fastest.
            let last = points.domain.iter().zip(&mut at).rev();
            let mut advanced = false;
            for ((_, r), (_, v)) in last {
                if *v != r.last() {
                    *v += r.step;
                    advanced = true;
                    break;
                }
                *v = r.start;
            }
            if !advanced || !all {
                return;
            }
        }
    }

    /// Whether the elements of each parameter have one value.
    fn is_uniform(&self, e: ExprId) -> bool {
        let accesses = self.model.symbols.exprs.accesses(e);
        accesses.iter().all(|(_, a)| {
            let var = self.model.symbols.var(a.var);
            let base = self.model.region(a.var, ValueKind::Value);
            match base.filter(|_| var.is_parameter()) {
                Some(base) => {
                    let values = &self.mem[base..base + var.len()];
                    values.windows(2).all(|w| w[0] == w[1])
                }
                None => true,
            }
        })
    }
}
