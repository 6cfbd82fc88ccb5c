//! Linear equations of a block that are dependent for every value of their parameters.
//!
//! In: the equations of a block that are linear in its unknowns, with coefficients of parameters and numbers. Out: for each dependent set one equation and what follows from the
//! set, to stand in its place.
//!
//! Why: a gyrator `i1 = g*v2; i2 = -g*v1` whose ports share a node gives `i1 + i2 = 0`, so `g*(v2 - v1) = 0`: the same g cancels whatever its value. [`super::cancelled`] asks the
//! same question of equations with integer coefficients only, by exact elimination. Here the coefficients are rational functions of parameters. Whether one is zero
//! is decided by its value in the integers modulo the prime 2^61 - 1 at a random point (Schwartz 1980; Zippel 1979): a rational function of degree d that is
//! not zero vanishes there with a probability of d/2^61. Only where a block is dependent are the factors of the combination written down as expressions.
//!
//! Invariant: a row is replaced by a combination of rows with the factor one for itself; its solutions stay where the other factors have values. The block had no regular
//! matrix for any values of its parameters, so nothing that could be solved before is touched. What is no polynomial of parameters (`sqrt(R)`) is one more
//! parameter: some dependences are overlooked, none is invented.
//!
//! Cost: sparse elimination in one word per entry; blocks that fill up ([`WORK_PER_ENTRY`]) are left alone.
//!
//! Example: rows `i - g*v`, `i - g*w`, `v - w + c` in the unknowns i, v, w: the third is `(second - first)/g` but for c, so `c = 0` takes its place.

use std::collections::{BTreeMap, BTreeSet};

use acausal_expr::flat::{Equation, FlatModel, OriginKind};
use acausal_expr::{ExprId, Exprs, Node, ValueKind, VarId};

use super::linear_form::known;
use crate::segments::incidence::order_of;

/// Updates of entries that any block may take: some hundredths of a second.
const LEAST_WORK: usize = 50_000;
/// Updates per entry of a block beyond that. Networks that are nearly trees need few; one that fills up more is given up before it costs more than the rest of the analysis
/// (measured: a grid of 60 by 60 nodes).
const WORK_PER_ENTRY: usize = 10;
/// Equations of a combination, at most: its factors are written out.
const MOST_ROWS: usize = 64;
/// Quotients of integers up to this, with denominators up to the next, are written as numbers.
const LARGEST: u64 = 1_000;
/// See [`LARGEST`].
const LARGEST_DENOMINATOR: u64 = 12;
/// The prime 2^61 - 1.
const P: u64 = (1 << 61) - 1;

/// A coefficient: its value modulo [`P`], and the expression where it is asked for.
#[derive(Clone, Copy)]
struct Coefficient {
    value: u64,
    expr: Option<ExprId>,
}

/// An equation that is linear in the unknowns of a block.
pub(super) struct Row {
    equation: usize,
    /// Rather replaced than others.
    late: bool,
    inside: BTreeMap<VarId, Coefficient>,
    /// All else, with factors.
    rest: Vec<(Coefficient, ExprId)>,
}

/// The equation as a row, if the unknowns of the block (those with an order) are linear in it with coefficients of parameters.
pub(super) fn row(
    flat: &mut FlatModel,
    eq: &Equation,
    equation: usize,
    times: u8,
    order: &[Option<u8>],
) -> Option<Row> {
    if !eq.domain.is_empty() {
        return None;
    }
    let belongs = |v: VarId, kind: ValueKind| {
        order_of(kind).is_some_and(|k| order[v.index()] == Some(k.saturating_add(times)))
    };
    let kind = flat.origin(eq.origin).kind;
    let mut row = Row {
        equation,
        late: matches!(
            kind,
            OriginKind::Potential | OriginKind::Flow | OriginKind::Unconnected
        ),
        inside: BTreeMap::new(),
        rest: Vec::new(),
    };
    let signs = [flat.exprs.int(-1), flat.exprs.int(1)];
    let mut todo = vec![(eq.rhs, signs[0]), (eq.lhs, signs[1])];
    while let Some((e, factor)) = todo.pop() {
        match flat.exprs.node(e) {
            _ if flat.exprs.is_zero(e) => {}
            Node::Add(l) => todo.extend(flat.exprs.list(l).iter().map(|&t| (t, factor))),
            Node::Var(a) if flat.exprs.list(a.subs).is_empty() && belongs(a.var, a.kind) => {
                let new = coefficient(&flat.exprs, factor);
                let sum = match row.inside.get(&a.var) {
                    Some(old) => Field(Some(&mut flat.exprs)).add(*old, new),
                    None => new,
                };
                row.inside.insert(a.var, sum);
            }
            Node::Mul(l) => {
                let factors = flat.exprs.list(l).to_vec();
                let (mut numbers, others): (Vec<ExprId>, Vec<ExprId>) =
                    factors.into_iter().partition(|&f| known(flat, f).is_some());
                match others[..] {
                    [other] if !numbers.is_empty() => {
                        numbers.push(factor);
                        todo.push((other, flat.exprs.mul(&numbers)));
                    }
                    _ => row.keep(flat, e, factor, &belongs)?,
                }
            }
            Node::Div(above, below) if known(flat, below).is_some() => {
                todo.push((above, flat.exprs.div(factor, below)));
            }
            _ => row.keep(flat, e, factor, &belongs)?,
        }
    }
    row.inside.retain(|_, c| c.value != 0);
    (!row.inside.is_empty()).then_some(row)
}

impl Row {
    /// Takes a term that holds no unknown of the block.
    fn keep(
        &mut self,
        flat: &FlatModel,
        e: ExprId,
        factor: ExprId,
        belongs: &impl Fn(VarId, ValueKind) -> bool,
    ) -> Option<()> {
        let mut taken = false;
        flat.exprs
            .for_each_access(&[e], |_, a| taken |= belongs(a.var, a.kind));
        if taken {
            return None;
        }
        self.rest.push((coefficient(&flat.exprs, factor), e));
        Some(())
    }
}

/// What follows from rows that are dependent in the unknowns of their block, each in the place of a row.
pub(super) fn dependent(
    flat: &mut FlatModel,
    equations: &[Equation],
    mut rows: Vec<Row>,
    new: &mut Vec<(usize, Equation)>,
) {
    // The order of names decides, not that of the source.
    let name = |v: &VarId| flat.var(*v).name.plain();
    rows.sort_by_cached_key(|r| (r.late, r.inside.keys().map(name).collect::<Vec<_>>()));
    let all: Vec<usize> = (0..rows.len()).collect();
    let Some(found) = eliminate(&mut Field(None), &rows, &all) else {
        return;
    };
    for combination in found {
        let members: Vec<usize> = combination.into_keys().collect();
        if members.len() > MOST_ROWS {
            continue;
        }
        let again = eliminate(&mut Field(Some(&mut flat.exprs)), &rows, &members);
        // The members but for the last are independent.
        let Some(factors) = again.and_then(|mut found| found.pop()) else {
            continue;
        };
        let Some((&last, _)) = factors.last_key_value() else {
            continue;
        };
        let mut terms: BTreeMap<ExprId, Coefficient> = BTreeMap::new();
        let mut field = Field(Some(&mut flat.exprs));
        for (k, factor) in &factors {
            for (own, e) in &rows[*k].rest {
                let product = field.mul(*factor, *own);
                let sum = match terms.get(e) {
                    Some(old) => field.add(*old, product),
                    None => product,
                };
                terms.insert(*e, sum);
            }
        }
        let x = &mut flat.exprs;
        let terms: Vec<ExprId> = (terms.into_iter())
            .filter(|(_, c)| c.value != 0)
            .filter_map(|(e, c)| c.expr.map(|c| x.mul(&[c, e])))
            .collect();
        // Equations that say nothing new are a matter of the structural analysis.
        if terms.is_empty() {
            continue;
        }
        let equation = rows[last].equation;
        new.push((
            equation,
            Equation {
                lhs: x.add(&terms),
                rhs: x.int(0),
                ..equations[equation].clone()
            },
        ));
    }
}

/// The combinations of rows that hold no unknown, each with the factor one for its last row; nothing if that is too much work.
fn eliminate(
    field: &mut Field<'_>,
    rows: &[Row],
    members: &[usize],
) -> Option<Vec<BTreeMap<usize, Coefficient>>> {
    let mut occurs: BTreeMap<VarId, u32> = BTreeMap::new();
    for &k in members {
        for v in rows[k].inside.keys() {
            *occurs.entry(*v).or_default() += 1;
        }
    }
    // Reduced rows with the combinations they are, and the pivots.
    type Reduced = (
        VarId,
        BTreeMap<VarId, Coefficient>,
        BTreeMap<usize, Coefficient>,
    );
    let mut done: Vec<Reduced> = Vec::new();
    let mut row_of: BTreeMap<VarId, usize> = BTreeMap::new();
    let entries: u32 = occurs.values().sum();
    let most_work = LEAST_WORK + WORK_PER_ENTRY * entries as usize;
    let (mut found, mut work) = (Vec::new(), 0);
    for &k in members {
        let mut row: BTreeMap<VarId, Coefficient> = (rows[k].inside.iter())
            .map(|(v, c)| (*v, field.take(*c)))
            .collect();
        let mut combination = BTreeMap::from([(k, field.one())]);
        let mut todo: BTreeSet<usize> = row.keys().filter_map(|v| row_of.get(v).copied()).collect();
        // A reduced row holds no pivot of an earlier one, so those that it brings in come later.
        while let Some(r) = todo.pop_first() {
            let (pivot, known, of) = &done[r];
            let Some(value) = row.remove(pivot) else {
                continue;
            };
            let factor = field.quotient(value, known[pivot]);
            work += known.len() + of.len();
            if work > most_work {
                return None;
            }
            for (v, c) in known.iter().filter(|(v, _)| *v != pivot) {
                field.subtract(&mut row, *v, factor, *c);
                todo.extend(row_of.get(v).filter(|_| row.contains_key(v)));
            }
            for (k, c) in of {
                field.subtract(&mut combination, *k, factor, *c);
            }
        }
        // The unknown that is in the fewest rows fills least.
        match row.keys().min_by_key(|v| (occurs[v], **v)).copied() {
            Some(pivot) => {
                row_of.insert(pivot, done.len());
                done.push((pivot, row, combination));
            }
            None => found.push(combination),
        }
    }
    Some(found)
}

/// Arithmetic modulo [`P`], beside expressions where there is an arena for them.
struct Field<'a>(Option<&'a mut Exprs>);

impl Field<'_> {
    fn one(&mut self) -> Coefficient {
        self.number(1, 1.0)
    }

    fn number(&mut self, value: u64, number: f64) -> Coefficient {
        Coefficient {
            value,
            expr: self.0.as_mut().map(|x| x.real(number)),
        }
    }

    /// A coefficient of a row, without its expression where there is no arena.
    fn take(&self, c: Coefficient) -> Coefficient {
        Coefficient {
            expr: c.expr.filter(|_| self.0.is_some()),
            ..c
        }
    }

    fn both(
        &mut self,
        value: u64,
        (a, b): (Coefficient, Coefficient),
        join: impl Fn(&mut Exprs, ExprId, ExprId) -> ExprId,
    ) -> Coefficient {
        let x = self.0.as_mut().zip(a.expr.zip(b.expr));
        Coefficient {
            value,
            expr: x.map(|(x, (a, b))| join(x, a, b)),
        }
    }

    fn add(&mut self, a: Coefficient, b: Coefficient) -> Coefficient {
        let value = (a.value + b.value) % P;
        self.both(value, (a, b), |x, a, b| x.add(&[a, b]))
    }

    fn mul(&mut self, a: Coefficient, b: Coefficient) -> Coefficient {
        let value = product(a.value, b.value);
        self.both(value, (a, b), |x, a, b| x.mul(&[a, b]))
    }

    /// `a/b`, as a number where it is a ratio of small integers.
    fn quotient(&mut self, a: Coefficient, b: Coefficient) -> Coefficient {
        let value = product(a.value, inverse(b.value));
        for below in 1..=LARGEST_DENOMINATOR {
            let above = product(value, below);
            let size = above.min(P - above);
            if size <= LARGEST {
                let sign = if above <= LARGEST { 1.0 } else { -1.0 };
                return self.number(value, sign * size as f64 / below as f64);
            }
        }
        self.both(value, (a, b), |x, a, b| x.div(a, b))
    }

    /// `row[k] -= factor*c`
    fn subtract<K: Ord>(
        &mut self,
        row: &mut BTreeMap<K, Coefficient>,
        k: K,
        factor: Coefficient,
        c: Coefficient,
    ) {
        let product = self.mul(factor, c);
        let negative = Coefficient {
            value: (P - product.value) % P,
            expr: self.0.as_mut().zip(product.expr).map(|(x, e)| x.neg(e)),
        };
        let sum = match row.remove(&k) {
            Some(old) => self.add(old, negative),
            None => negative,
        };
        if sum.value != 0 {
            row.insert(k, sum);
        }
    }
}

/// A coefficient of parameters and numbers.
fn coefficient(x: &Exprs, expr: ExprId) -> Coefficient {
    Coefficient {
        value: value(x, expr),
        expr: Some(expr),
    }
}

/// The value of an expression of parameters at the random point.
fn value(x: &Exprs, e: ExprId) -> u64 {
    if let Some(v) = x.as_f64(e).filter(|v| v.is_finite()) {
        return of_number(v);
    }
    match x.node(e) {
        Node::Add(l) => (x.list(l).iter()).fold(0, |sum, &t| (sum + value(x, t)) % P),
        Node::Mul(l) => (x.list(l).iter()).fold(1, |all, &f| product(all, value(x, f))),
        Node::Div(a, b) if value(x, b) != 0 => product(value(x, a), inverse(value(x, b))),
        _ => random(e),
    }
}

/// A number, which is an integer times a power of two, exactly.
fn of_number(v: f64) -> u64 {
    let (mut whole, mut halvings) = (v.abs(), 0u64);
    while whole.fract() != 0.0 {
        whole *= 2.0;
        halvings += 1;
    }
    let mut doublings = 0u64;
    while whole >= P as f64 {
        whole /= 2.0;
        doublings += 1;
    }
    let size = product(whole as u64 % P, power(2, doublings));
    let size = product(size, inverse(power(2, halvings)));
    if v < 0.0 { (P - size) % P } else { size }
}

/// The value of a parameter, or of what is treated as one: a mix of its number (Steele, Lea & Flood 2014, SplitMix64).
fn random(e: ExprId) -> u64 {
    let mut z = (e.index() as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) % P
}

fn product(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(P)) as u64
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = product(result, base);
        }
        base = product(base, base);
        exponent >>= 1;
    }
    result
}

/// By Fermat's little theorem.
fn inverse(a: u64) -> u64 {
    power(a, P - 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact() {
        for (a, b) in [(0.37, 1.25), (-3.0, 1e-9), (1e30, 0.5), (12.0, -7.5e-3)] {
            // Doubling is exact.
            assert_eq!(of_number(2.0 * a), product(2, of_number(a)));
            assert_eq!((of_number(-b) + of_number(b)) % P, 0);
            assert_eq!(product(of_number(b), inverse(of_number(b))), 1);
        }
        assert_eq!(of_number(0.375), product(3, inverse(8)));
    }
}
